/* The privacy blanket (Balle, Bell, Gascon, Nissim 2019) for a finite randomizer; for categories see categories.h. */
#ifndef TMI_COLLECT_ANONYMOUS_BLANKET_H
#define TMI_COLLECT_ANONYMOUS_BLANKET_H

#include "collect/anonymous/randomizer.h"

/* An upper bound of delta, for all answers of the others and all pairs of the randomizer; 1 if there is none here. With
 * a goal above 0 less is done: it is 1 if it would be more than the goal. */
tamis_status tmi_blanket_delta(double *delta, const tmi_randomizer *r, int64_t n, const tmi_loss_at *at, double goal,
                               tamis_error *err);

#endif
