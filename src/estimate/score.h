/* The score interval of a quantile, as R's svyquantile has it (survey 4.1-1, after Francisco and Fuller 1991).
 *
 * A value is in the interval unless a test of the share of rows above it rejects it as the quantile p: the share minus 1 - p,
 * divided by its standard error, is beyond t. The statistic descends in steps from value to value, so that it jumps across t
 * rather than reaching it. R looks for its roots with uniroot, and this does the same:
 *
 *  - between the least value and the largest, each moved inwards by a hundredth of the interquartile range;
 *  - to a tolerance of 1/(100 sqrt(rows)), in the unit of the variable, whatever that unit is;
 *  - the root is beside the jump, on the side where the statistic is nearer to t;
 *  - the end of the interval is the quantile, by weights, whose share is the part of rows, without weights, up to the root.
 *
 * The last step gives another value than the root where weights differ, and where they are alike it depends on how sums of
 * weights are rounded: so it is done in R's arithmetic, row by row. The promise is R's interval, not the one that inverts the
 * test exactly; docs/plan.md says how they differ. */
#ifndef TMI_ESTIMATE_SCORE_H
#define TMI_ESTIMATE_SCORE_H

#include "estimate/work.h"
#include "schedule/result.h"

/* Needs    the distribution of the group at hand, which has rows; 0 < p < 1; a finite t.
 * Gives    lower and upper of the result; or the reason why there are none: R then stops with an error.
 * Cost     O(rows log rows), and about 30 variances.
 * Errors   INVALID, SYSTEM.                                                                                          */
tamis_status tmi_score_interval(tmi_result *result, tmi_estimate_work *work, const tmi_plan_statistic *statistic, double p,
                                double t, tamis_error *err);

#endif
