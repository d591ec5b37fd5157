/* Quantiles with the intervals of R's svyquantile.
 *
 * The share of rows up to the estimate has a variance, like every share, and therefore an interval; the quantiles at its two
 * ends are the interval of the quantile (Woodruff 1952). The plan's `interval` says how the share's interval is made: mean, the
 * share plus or minus t standard errors; xlogit and asin, the same after a transformation; beta, Clopper and Pearson's with an
 * effective sample size (Korn and Graubard 1998). With score (Francisco and Fuller 1991) the interval contains the values that a
 * test of the share up to them does not reject. The standard error is the width of the interval divided by 2 t. */
#ifndef TMI_ESTIMATE_QUANTILE_H
#define TMI_ESTIMATE_QUANTILE_H

#include "estimate/work.h"
#include "schedule/result.h"

/* Needs    the distribution and the degrees of freedom of the group, which has rows.
 * Gives    estimate, se and interval of the quantile p; or the reason why there is no interval.
 * Errors   INVALID, SYSTEM.                                                                                          */
tamis_status tmi_estimate_quantile(tmi_result *result, tmi_estimate_work *work, const tmi_plan_statistic *statistic, double p,
                                   tamis_error *err);

#endif
