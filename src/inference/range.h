/* Where values and statistics can lie at all, from public bounds. */
#ifndef TMI_INFERENCE_RANGE_H
#define TMI_INFERENCE_RANGE_H

#include "schedule/result.h"

typedef struct tmi_range {
    double low, high;
} tmi_range;

/* Where the values of a column lie. */
tmi_range tmi_range_of(const tmi_plan_column *column);

/* Where the terms of a statistic's sum lie: the values of its column, or their contributions. */
tmi_range tmi_summed_range(const tmi_schedule *schedule, size_t statistic);

/* Where A/B about the centre lies; infinite if a denominator may be 0. */
tmi_range tmi_ratio_range(const tmi_plan_statistic *statistic, double centre);

/* Where a statistic certainly lies. */
tmi_range tmi_result_range(const tmi_schedule *schedule, const tmi_result *result);

tmi_range tmi_range_with_zero(tmi_range e);

/* How many units a group has at most; infinite where that is not known. */
double tmi_units_at_most(const tmi_schedule *schedule, const tmi_result *result);

#endif
