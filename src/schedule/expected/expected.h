/* What is expected of the numbers of a plan, and what would be enough where their noise is too large. */
#ifndef TMI_SCHEDULE_EXPECTED_EXPECTED_H
#define TMI_SCHEDULE_EXPECTED_EXPECTED_H

#include "schedule/typical_group.h"

/* What is expected of a statistic's numbers. */
typedef struct tmi_expected_statistic {
    tmi_expected_group *groups; /* one for each group, or a single one for all */
    size_t count;
    double loss, sample; /* each would be enough by itself, if the noise is too large (tmi_expected_statistics_advise) */
} tmi_expected_statistic;

/* Makes a list with one entry per statistic. Needs a budget that is split. Errors: SYSTEM; the list is then NULL. */
tamis_status tmi_expected_statistics_make(tmi_expected_statistic **list, const tmi_schedule *schedule, tamis_error *err);
void tmi_expected_statistics_free(tmi_expected_statistic *list, size_t count);

/* Sets `loss`, an epsilon or rho for the whole plan, and `sample`, its size, with which the noise of a statistic would be at most
 * a third of its size: in two digits, rounded up, each tried with the plan. NaN where the noise is not too large, or where none
 * was found.
 *
 * Errors   SYSTEM. */
tamis_status tmi_expected_statistics_advise(tmi_expected_statistic *list, const tmi_schedule *schedule, tamis_error *err);

/* The errors as they are shown: that of a mean, share or variance is never above the width of its range. */
double tmi_expected_group_noise(const tmi_expected_group *expected_group);
/* The sampling error, and below it the whole error: NaN where it cannot be foreseen. */
double tmi_expected_group_sampling(const tmi_expected_group *expected_group);
double tmi_expected_group_error(const tmi_expected_group *expected_group); /* both together */

/* The geometric mean of one of these over the groups, which differ in size by factors. Those that cannot exist, and have no
 * error, do not count. */
double tmi_expected_middle(const tmi_expected_statistic *expected_statistic, double (*of)(const tmi_expected_group *));

/* An estimate whose error is above a third of its size is not published by most agencies: in how many groups the noise alone is
 * that large. */
size_t tmi_expected_drowned(const tmi_expected_statistic *expected_statistic);

#endif
