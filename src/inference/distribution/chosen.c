#include "inference/distribution/chosen.h"

#include "base/memory.h"
#include "inference/group_sums.h"

void tmi_chosen_noise_clear(tmi_chosen_noise *n)
{
    tamis_quantile_free(n->mechanism);
    tmi_free(n->units);
    tmi_free(n->errors);
    *n = (tmi_chosen_noise){0};
}

tamis_status tmi_chosen_noise_make(tmi_chosen_noise *n, const tmi_inference *r, size_t i, tamis_error *err)
{
    const tmi_schedule *s = r->schedule;
    const tmi_plan_statistic *t = &s->plan->statistics[i];
    tmi_statistic_sums sums = {0};
    tamis_status status = TAMIS_OK;
    *n = (tmi_chosen_noise){.schedule = s, .choice = r->chosen && r->chosen[i] ? tmi_choice_of(s, i) : NULL};
    if (!n->choice) return TAMIS_OK;
    const size_t share = s->plan->curves[t->curve].first, denominator = tmi_form_moments_of(&s->plan->statistics[share]).y;
    n->units = tmi_alloc(n->choice->groups, sizeof *n->units);
    n->errors = tmi_alloc(t->at_count, sizeof *n->errors);
    if (!n->units || !n->errors) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(tmi_statistic_sums_make(&sums, r, share, err));
    for (size_t g = 0; g < n->choice->groups; g++) n->units[g] = sums.groups[g].value[denominator];

done:
    tmi_statistic_sums_clear(&sums);
    return status;
}

tamis_status tmi_chosen_noise_read(tmi_chosen_noise *n, const tmi_cdf *curve, size_t group, tamis_error *err)
{
    const double weight = tmi_choice_weight(n->choice, n->schedule, group, n->units[group], false);
    tamis_status status = TAMIS_OK;
    if (!n->mechanism || n->choice->group_rows) { /* strata differ in their rows */
        const tamis_quantile_setup setup = tmi_choice_setup(n->choice, n->schedule->plan, group);
        tamis_quantile_free(n->mechanism);
        status = tamis_quantile_new(&n->mechanism, &setup, err);
    }
    return status == TAMIS_OK ? tmi_choice_spread(n->errors, n->mechanism, curve, weight, err) : status;
}
