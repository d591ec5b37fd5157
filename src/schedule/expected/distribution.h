/* What can be expected of quantiles and inequality measures before any row is read: the expected errors of the shares of their
 * distribution function, and the public guess of the column's distribution, which says how steep that function is. Without a
 * guess of mean and standard deviation values are taken as uniform over the range. */
#ifndef TMI_SCHEDULE_EXPECTED_DISTRIBUTION_H
#define TMI_SCHEDULE_EXPECTED_DISTRIBUTION_H

#include "schedule/expected/expected.h"
#include "survey/curve_inequality.h"

/* Which measure a statistic is: iqr, poverty, gini, s80s20. */
tmi_measure_kind tmi_measure_of(tmi_statistic_kind kind);

/* Sets what is expected of statistic i, from what is expected of its shares: one entry for each of its cells, or, where groups
 * are alike, one for each of its levels `at`. Errors: SYSTEM. */
tamis_status tmi_expected_distribution(tmi_expected_statistic *list, const tmi_schedule *schedule, size_t statistic,
                                       tamis_error *err);

#endif
