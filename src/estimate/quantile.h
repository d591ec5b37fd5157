/* Quantiles with the intervals of R's svyquantile.
 *
 * The share of rows up to the estimate has a variance, like every share, and therefore an interval; the quantiles at its two
 * ends are the interval of the quantile (Woodruff 1952). The plan's `interval` says how the share's interval is made: mean, the
 * share plus or minus t standard errors; xlogit and asin, the same after a transformation; beta, Clopper and Pearson's with an
 * effective sample size (Korn and Graubard 1998). With score (Francisco and Fuller 1991) the interval contains the values that a
 * test of the share up to them does not reject, as R finds them (score.h). The standard error is the width of the interval
 * divided by 2 t. */
#ifndef TMI_ESTIMATE_QUANTILE_H
#define TMI_ESTIMATE_QUANTILE_H

#include "estimate/work.h"
#include "schedule/result.h"

/* Needs    the distribution and the degrees of freedom of the group, which has rows.
 * Gives    estimate, se and interval of the quantile p; or the reason why there is no interval.
 * Errors   INVALID, SYSTEM.                                                                                          */
tamis_status tmi_estimate_quantile(tmi_result *result, tmi_estimate_work *work, const tmi_plan_statistic *statistic, double p,
                                   tamis_error *err);

/* The share of rows of the group up to x, and its variance; NaN with a reason where the design gives none. Errors: SYSTEM. */
tamis_status tmi_share_up_to(double *share, double *variance, const char **reason, tmi_estimate_work *work,
                             const tmi_plan_statistic *statistic, double x, tamis_error *err);

/* Whether R's subset of the design has all rows, those outside without a weight: of calibrated designs and those of unequal
 * probabilities. */
bool tmi_keeps_all_rows(const tmi_estimate_work *work);

#endif
