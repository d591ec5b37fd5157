#include "inference/answer_noise.h"

#include "base/memory.h"
#include "inference/group_sums.h"

void tmi_answer_noise_clear(tmi_answer_noise *n)
{
    tamis_quantile_free(n->mechanism);
    tmi_free(n->units);
    tmi_free(n->errors);
    *n = (tmi_answer_noise){0};
}

tamis_status tmi_answer_noise_make(tmi_answer_noise *n, const tmi_inference *r, size_t i, tamis_error *err)
{
    const tmi_schedule *s = r->schedule;
    const tmi_plan_statistic *t = &s->plan->statistics[i];
    tmi_statistic_sums sums = {0};
    tamis_status status = TAMIS_OK;
    *n = (tmi_answer_noise){.schedule = s, .task = r->answers && r->answers[i] ? tmi_quantile_task_of(s, i) : NULL};
    if (!n->task) return TAMIS_OK;
    const size_t share = s->plan->curves[t->curve].first, denominator = tmi_form_moments_of(&s->plan->statistics[share]).y;
    n->units = tmi_alloc(n->task->groups, sizeof *n->units);
    n->errors = tmi_alloc(t->at_count, sizeof *n->errors);
    if (!n->units || !n->errors) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(tmi_statistic_sums_make(&sums, r, share, err));
    for (size_t g = 0; g < n->task->groups; g++) n->units[g] = sums.groups[g].value[denominator];

done:
    tmi_statistic_sums_clear(&sums);
    return status;
}

tamis_status tmi_answer_noise_read(tmi_answer_noise *n, const tmi_cdf *curve, size_t group, tamis_error *err)
{
    const double weight = tmi_quantile_task_weight(n->task, n->schedule, group, n->units[group], false);
    tamis_status status = TAMIS_OK;
    if (!n->mechanism || n->task->group_rows) { /* strata differ in their rows */
        const tamis_quantile_setup setup = tmi_quantile_task_setup(n->task, n->schedule->plan, group);
        tamis_quantile_free(n->mechanism);
        status = tamis_quantile_new(&n->mechanism, &setup, err);
    }
    return status == TAMIS_OK ? tmi_quantile_task_error(n->errors, n->mechanism, curve, weight, err) : status;
}
