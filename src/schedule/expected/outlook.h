/* What can be expected of a statistic before any row is read: from the design, the ranges and the plan's typical values
 * alone. It shapes the split of the budget and the preview; no promise hangs on it.                                  */
#ifndef TMI_SCHEDULE_EXPECTED_OUTLOOK_H
#define TMI_SCHEDULE_EXPECTED_OUTLOOK_H

#include "schedule/schedule.h"

typedef struct tmi_outlook {
    double factor[TMI_ROLES]; /* how much an error of each sum changes the statistic */
    double square[TMI_ROLES]; /* how much an error of each changes the estimated variance, relative to one another */
    double size;              /* what a relative error is relative to; above 0 */
    double expected;          /* a public guess of its size; NaN if there is none */
    double range;             /* width of the interval that certainly contains the statistic */
    double sampling_sd;       /* NaN where nothing is known */
    double noise_sd;          /* in the statistic's own unit; NaN before the budget is split */
} tmi_outlook;

/* For one of its groups, as if they were of equal size and nothing missing. */
void tmi_outlook_make(tmi_outlook *outlook, const tmi_schedule *schedule, size_t statistic);

/* The same of one group, without what serves the split of the budget. */
typedef struct tmi_prospect {
    double noise_sd, sampling_sd, expected, range;
    double limit; /* no error of it is larger: the range of a mean, share or variance, else infinite */
} tmi_prospect;

/* One for each group, if their sizes are declared or guessed and differ; else a single one for all. The caller frees the list.
 *
 * Needs    a budget that is split.
 * Errors   SYSTEM; the list is then NULL.                                                                            */
tamis_status tmi_prospects_make(tmi_prospect **list, size_t *count, const tmi_schedule *schedule, size_t statistic,
                                tamis_error *err);

/* The variance of a table's noise in the sum for one group, in the unit of the sum: of(law) is that of one integer. The group is
 * in `stratum`, if that is not SIZE_MAX; else it is an average group. */
double tmi_table_variance(const tmi_schedule *schedule, size_t statistic, const tmi_measurement *m, size_t stratum,
                          double (*of)(const tmi_noise_law *law, bool gaussian));

#endif
