/* Post-processing of released numbers. It costs no budget: it sees only what was released, and what is public.
 *
 * Cells are made non-negative; numbers that say too little are withheld. Each result should say which of these was done to it:
 * tmi_adjustment_text.                                                                                               */
#ifndef TMI_INFERENCE_ADJUST_H
#define TMI_INFERENCE_ADJUST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tamis/base.h>

#include "base/watch.h"

typedef enum tmi_adjustment {
    TMI_CALIBRATED,
    TMI_RAKED,
    TMI_NON_NEGATIVE,
    TMI_REGULARISED,
    TMI_SUPPRESSED_CV,
    TMI_SUPPRESSED_SMALL,
} tmi_adjustment;

/* A sentence for the result, with the bias where there is one. */
const char *tmi_adjustment_text(tmi_adjustment adjustment);

/* ---- cells ---- */

/* The nearest non-negative cells with the given sum: x = max(0, t - lambda v), nearest in the sense of their variances. The
 * result is biased: small cells come out too large on average, large ones too small. For display; sums and intervals are
 * taken from the cells as they were.
 *
 * Needs    count >= 1, total >= 0, finite t, finite variances > 0.
 * Gives    the cells in place; *cut: how many became 0.
 * Cost     O(count log count).
 * Errors   INVALID, SYSTEM; t is then unchanged.                                                                     */
tamis_status tmi_adjust_non_negative(double *t, size_t *cut, const double *variances, size_t count, double total,
                                     tamis_error *err);

/* Rules on noisy numbers: withhold if se / |estimate| > largest_cv, or if the lower limit of the number of units is below
 * smallest; a rule that is NaN does not apply. Gives whether to withhold, and the rule. */
typedef struct tmi_suppression {
    double largest_cv, smallest;
} tmi_suppression;

bool tmi_is_few(double least_units, double smallest); /* whether there are, or may be, fewer units than that */
bool tmi_suppress(tmi_adjustment *rule, tmi_suppression rules, double estimate, double se, double least_units);

#endif
