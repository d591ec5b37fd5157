/* What a plan's statistics would have for noise if each were measured by itself: its own table with a share of the budget, and
 * nothing read from the others. It is what the chosen tables are compared with, and held to. */
#ifndef TMI_SCHEDULE_BASELINE_H
#define TMI_SCHEDULE_BASELINE_H

#include "schedule/targets.h"

/* Tables that give each statistic at most that noise, one per needed marginal: each in the form that serves its statistics
 * best. */
typedef struct tmi_baseline_tables {
    tmi_marginal *marginals;
    double *parts; /* parts of the budget, which add up to 1 */
    size_t count;
} tmi_baseline_tables;

void tmi_baseline_tables_clear(tmi_baseline_tables *tables);

/* Gives the variance of the noise of each target, NaN for targets of no statistic. Each statistic has its `budget_share` of the
 * budget, of which a fifth is kept for sampling variances where these need squares. `tables` may be NULL. Errors: SYSTEM;
 * there are no tables then. */
tamis_status tmi_baseline_noise(double *variances, tmi_baseline_tables *tables, const tmi_schedule *schedule,
                                tmi_problem *problem, const tmi_targets *targets, tamis_error *err);

/* The problem that the search solves for these targets. */
tmi_problem tmi_problem_of(tmi_targets *targets, bool gaussian, double budget);

/* For each statistic, the standard deviation of that noise over the one that the schedule's tables give; NaN where nothing is
 * measured for it. Errors: SYSTEM. */
tamis_status tmi_baseline_ratios(double *ratios, const tmi_schedule *schedule, tamis_error *err);

#endif
