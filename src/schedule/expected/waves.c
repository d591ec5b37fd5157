#include "schedule/expected/waves.h"

#include <math.h>

#include "base/memory.h"
#include "num/number.h"
#include "schedule/expected/change.h"
#include "schedule/standard_errors.h"

/* The geometric mean over the groups of a statistic of the standard error of the change; `sd` is that of the noise of a group of
 * clusters, 0: both variances are added. */
static double middle_of(const tmi_expected_statistic *f, double sd, bool gaussian, double confidence)
{
    double sum = 0;
    for (size_t k = 0; k < f->count; k++) {
        const tmi_expected_group *p = &f->groups[k];
        const double apart = 2 * p->sampling_sd * p->sampling_sd, noise = 2 * p->noise_sd * p->noise_sd, sds[2] = {sd, sd};
        const double sampling = sd > 0 && apart > 0 ? tmi_expected_wave_change(apart, noise, sds, gaussian, confidence) : apart;
        sum += log(sampling + noise) / 2;
    }
    return exp(sum / (double)f->count);
}

tamis_status tmi_expected_waves_make(tmi_expected_wave **list, const tmi_schedule *s, const tmi_expected_statistic *expected,
                                     tamis_error *err)
{
    const tmi_change without = {.without_groups = true};
    tmi_expected_statistic *other = NULL;
    tamis_status status = TAMIS_OK;
    *list = NULL;
    if (!tmi_measures_groups(s)) return TAMIS_OK;
    *list = tmi_alloc(s->plan->asked_count, sizeof **list);
    if (!*list) return tmi_fail_memory(err);
    TMI_TRY(tmi_change_expected(&other, s, &without, err));
    for (size_t i = 0; i < s->plan->asked_count; i++) {
        const tmi_measurement *m = tmi_groups_measured(s, i);
        const double confidence = tmi_number_nearest(s->plan->statistics[i].confidence);
        double sd;
        if (!m) continue;
        TMI_TRY(tmi_expected_group_sd(&sd, s, i, err));
        (*list)[i] = (tmi_expected_wave){.part = tmi_number_nearest(m->part) / tmi_number_nearest(s->spent),
                                         .with = middle_of(&expected[i], sd, s->gaussian, confidence),
                                         .without = other ? middle_of(&other[i], 0, s->gaussian, confidence) : NAN};
    }

done:
    tmi_expected_statistics_free(other, s->plan->statistic_count);
    if (status != TAMIS_OK) {
        tmi_free(*list);
        *list = NULL;
    }
    return status;
}
