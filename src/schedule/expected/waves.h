/* What totals of groups of clusters are expected to bring to changes between waves, before there is a second wave. */
#ifndef TMI_SCHEDULE_EXPECTED_WAVES_H
#define TMI_SCHEDULE_EXPECTED_WAVES_H

#include "schedule/expected/expected.h"

/* Of one statistic: the standard error of its change to a wave like this one, if half of the sampling variance of either wave is
 * common to both; the geometric mean over its groups. */
typedef struct tmi_expected_wave {
    double part;    /* of the budget, for totals of groups; 0: it has none */
    double with;    /* the standard error with them */
    double without; /* and of the plan without any, which has more budget for the rest; NaN: it could not be released */
} tmi_expected_wave;

/* They do not pay unless they lower the standard error by this part. */
#define TMI_LEAST_GAIN 0.02

static inline bool tmi_wave_pays(const tmi_expected_wave *w) { return !(w->with > (1 - TMI_LEAST_GAIN) * w->without); }

/* Makes a list with one entry per statistic that was asked for; NULL, without an error, if none is for changes. Errors: SYSTEM.
 * */
tamis_status tmi_expected_waves_make(tmi_expected_wave **list, const tmi_schedule *schedule,
                                     const tmi_expected_statistic *expected, tamis_error *err);

#endif
