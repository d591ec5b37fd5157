/* What a plan's statistics would have for noise if each were measured by itself: its own table with a share of the budget, and
 * nothing read from the others. It is what the chosen tables are compared with, and held to. */
#ifndef TMI_SCHEDULE_BASELINE_H
#define TMI_SCHEDULE_BASELINE_H

#include "schedule/aims.h"

/* The variance of the noise of each aim, NaN for those of no statistic. Budgets are split so that the expected squares of
 * relative errors add up to least, a fifth being kept for sampling variances where these need squares. Errors: SYSTEM. */
tamis_status tmi_baseline_noise(double *variances, const tmi_schedule *schedule, tmi_problem *problem, const tmi_aims *aims,
                                tamis_error *err);

/* For each statistic, the standard deviation of that noise over the one that the schedule's tables give; NaN where nothing is
 * measured for it. Errors: SYSTEM. */
tamis_status tmi_baseline_ratios(double *ratios, const tmi_schedule *schedule, tamis_error *err);

#endif
