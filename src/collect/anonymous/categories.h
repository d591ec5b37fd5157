/* Anonymised reports of one of k >= 3 categories, each the true one or any other with the same probability. */
#ifndef TMI_COLLECT_ANONYMOUS_CATEGORIES_H
#define TMI_COLLECT_ANONYMOUS_CATEGORIES_H

#include "collect/anonymous/shift.h"

/* The ends of an interval that are wanted; the other one says nothing. A lower end alone costs little. */
typedef enum tmi_ends { TMI_ENDS_BOTH, TMI_ENDS_LOWER, TMI_ENDS_UPPER } tmi_ends;

/* delta: `upper` is the blanket, for all answers of the others; `lower` is what others who all have a third category reveal.
 * Needs n >= 1 and lie < 1 - 1/k. {0, 1} on failure.
 *
 * Errors   SYSTEM (memory), UNABLE.                                                                                  */
tamis_status tmi_categories_delta(tamis_bound *delta, int64_t k, const tamis_number *lie, int64_t n, const tmi_loss_at *at,
                                  tmi_ends ends, tamis_error *err);

#endif
