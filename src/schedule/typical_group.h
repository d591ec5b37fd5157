/* What can be expected of a statistic before any row is read: from the design, the ranges and the plan's typical values
 * alone. It shapes the split of the budget and the preview; no promise hangs on it.                                  */
#ifndef TMI_SCHEDULE_TYPICAL_GROUP_H
#define TMI_SCHEDULE_TYPICAL_GROUP_H

#include "measure/moments.h"
#include "schedule/schedule.h"
#include "variance/limit.h"

typedef struct tmi_typical_group {
    double estimate[TMI_MOMENTS];  /* the derivative of the statistic by the estimated moments of its group */
    double uncertain[TMI_MOMENTS]; /* standard deviation of `estimate` over plausible means of the group */
    double spread[TMI_MOMENTS];    /* that of its estimated sampling variance, by moments that are weighed for variances */
    size_t denominator;            /* the moment that it is divided by; TMI_MOMENTS: none */
    double divisor;                /* and its size */
    double size;                   /* what a relative error is relative to; above 0 */
    double expected;               /* a public guess of its size; NaN if there is none */
    double range;                  /* width of the interval that certainly contains the statistic */
    double sampling_sd;            /* NaN where nothing is known */
    double simple;                 /* the variance in a simple random sample with the same mean weight; 0: not guessed */
    double explained;              /* by calibration: what an estimated unit of the population counts for */
} tmi_typical_group;

/* For one of its groups, as if they were of equal size and nothing missing. */
void tmi_typical_group_make(tmi_typical_group *typical, const tmi_schedule *schedule, size_t statistic);

/* The same of one group, without what serves the split of the budget. */
typedef struct tmi_expected_group {
    double noise_sd, sampling_sd, expected, range;
    double limit;             /* no error of it is larger: the range of a mean, share or variance, else infinite */
    double units;             /* of the population, in the group; 0: the statistic has no denominator */
    double relative;          /* the variance of the noise of that denominator, relative to its square; 0 without one */
    double turn;              /* of a coefficient: z^2 N2 (inference/model_results.c); else 0 */
    tmi_measured_error error; /* of its sampling error; its `scale` is 0 where that is not measured */
} tmi_expected_group;

/* Where standard errors are measured, `sampling_sd` is the expected one, not yet the limit that an interval uses: that depends on
 * all numbers of a plan (expected.c).
 *
 * One for each group, if their sizes are declared or guessed and differ; else a single one for all. The caller frees the list.
 *
 * Needs    a budget that is split.
 * Errors   SYSTEM; the list is then NULL.                                                                            */
tamis_status tmi_expected_groups_make(tmi_expected_group **list, size_t *count, const tmi_schedule *schedule, size_t statistic,
                                      tamis_error *err);

#endif
