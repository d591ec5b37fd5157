/* The privacy blanket (Balle, Bell, Gascon, Nissim 2019) for a finite randomizer, and for k categories. */
#ifndef TMI_COLLECT_ANONYMOUS_BLANKET_H
#define TMI_COLLECT_ANONYMOUS_BLANKET_H

#include "collect/anonymous/randomizer.h"

/* An upper bound of delta, for all answers of the others and all pairs of the randomizer; 1 if there is none here. */
tamis_status tmi_blanket_delta(double *delta, const tmi_randomizer *r, int64_t n, const tmi_loss_at *at, tamis_error *err);

/* The same for k categories, with truth and other = (1 - truth)/(k - 1), however many. */
tamis_status tmi_blanket_categories(double *delta, int64_t k, const tamis_number *lie, int64_t n, const tmi_loss_at *at,
                                    tamis_error *err);

#endif
