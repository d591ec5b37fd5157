/* Where values and statistics can lie at all, from public bounds. */
#ifndef TMI_INFERENCE_RANGE_H
#define TMI_INFERENCE_RANGE_H

#include "schedule/result.h"

typedef struct tmi_range {
    double low, high;
} tmi_range;

/* Of the values of a column. */
tmi_range tmi_range_of(const tmi_plan_column *column);

/* Of what a statistic adds up: the values of its column, or their contributions. */
tmi_range tmi_summed_range(const tmi_schedule *schedule, size_t statistic);

/* Where A/B about the centre lies; infinite if a denominator may be 0. */
tmi_range tmi_ratio_range(const tmi_plan_statistic *statistic, double centre);

/* Where a statistic certainly lies. */
tmi_range tmi_result_range(const tmi_schedule *schedule, const tmi_result *result);

tmi_range tmi_range_with_zero(tmi_range e);

/* Units of a group at most; infinite where nobody knows. */
double tmi_units_at_most(const tmi_schedule *schedule, const tmi_result *result);

#endif
