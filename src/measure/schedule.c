#include "measure/schedule.h"

#include <math.h>

#include "measure/controls.h"
#include "num/law/noise.h"
#include "num/number.h"

const tmi_frame_facts *tmi_frame_of(const tmi_schedule *s) { return s->frame.facts.count > 0 ? &s->frame.facts : NULL; }

const tmi_psu_facts *tmi_psus_of(const tmi_schedule *s) { return s->psus.facts.strata > 0 ? &s->psus.facts : NULL; }

tamis_status tmi_schedule_set_bound(tmi_schedule *s, size_t k, int halvings, tamis_error *err)
{
    return tmi_plan_set_bound(s->bounded, s->bound_tasks[k].bound, halvings, true, err);
}

bool tmi_groups_are_declared(const tmi_schedule *s, const tmi_plan_statistic *statistic)
{
    const tmi_plan_design *d = &s->plan->design;
    const tmi_plan_column *where = statistic->where;
    if (d->kind->clusters || d->population == 0 || tmi_counts_rows(s->plan)) return false;
    for (size_t k = 0; k < statistic->by_count; k++)
        if (!tmi_is_of_strata(d, statistic->by[k])) return false;
    for (size_t k = 0; where && k < where->condition_count; k++)
        if (!tmi_is_of_strata(d, where->conditions[k].column)) return false;
    return (statistic->by_count == 0 && !where) || s->sampling.public_strata;
}

int64_t tmi_public_rows(const tmi_schedule *s, size_t statistic, size_t group)
{
    const tmi_plan_statistic *t = &s->plan->statistics[statistic];
    const tmi_plan_design *d = &s->plan->design;
    if (!s->sampling.rows_fixed || !tmi_groups_are_declared(s, t)) return 0;
    int64_t rows = 0;
    for (size_t h = 0; h < d->stratum_count; h++)
        if (tmi_group_has_stratum(s, statistic, group, h)) rows += d->strata[h].sample;
    return rows;
}

size_t tmi_find_strata(const tmi_plan_column *const *by, size_t count, const tmi_plan_design *d)
{
    size_t i = 0;
    while (i < count && !tmi_is_of_strata(d, by[i])) i++;
    return i;
}

bool tmi_has_ranges_by_stratum(const tmi_plan_statistic *s)
{
    return (s->column && s->column->by_stratum) || (s->second && s->second->by_stratum);
}

bool tmi_strata_differ(const tmi_schedule *s, size_t statistic)
{
    return tmi_has_ranges_by_stratum(&s->plan->statistics[statistic]) ||
           (s->workload.separate_strata && s->plan->privacy.loss.by_stratum);
}

/* ---- weightings ---- */

tmi_weighting tmi_main_weighting(const tmi_schedule *s)
{
    return s->workload.separate_strata || s->sampling.weights == TMI_ALIKE ? TMI_UNWEIGHTED : TMI_WEIGHTED;
}

void tmi_known_rows(bool *known, const tmi_schedule *s)
{
    const tmi_sampling *p = &s->sampling;
    const bool fixed = p->rows_fixed && !tmi_counts_rows(s->plan) && !s->plan->design.kind->clusters;
    for (size_t weighting = 0; weighting < TMI_WEIGHTINGS; weighting++)
        for (size_t domain = 0; domain < s->workload.domain_count; domain++)
            known[weighting * s->workload.domain_count + domain] = fixed && domain == 0 &&
                                                                   (weighting == TMI_UNWEIGHTED || weighting == TMI_CONTRIBUTED ||
                                                                    (weighting <= TMI_SPREAD && p->weights != TMI_ROWS));
}

tmi_variance_source tmi_variance_source_of(const tmi_schedule *s)
{
    if (s->plan->design.kind->takes_all) return TMI_NO_VARIANCE;
    if (s->sampling.clustered) return TMI_MEASURED_ERRORS;
    if (s->plan->design.deff) return TMI_PUBLIC_EFFECT;
    return tmi_main_weighting(s) == TMI_UNWEIGHTED || s->sampling.ratio > 0 ? TMI_OWN_SQUARES : TMI_MEASURED_ERRORS;
}

/* Noise that is next to never there still leaves a table a finite weight beside the others. */
#define LEAST_SD 1e-3

double tmi_variance_in_stratum(const tmi_schedule *s, size_t stratum)
{
    if (!s->workload.separate_strata) return 1;
    const double ratio = tmi_noise_of_stratum(s->plan, stratum) / tmi_noise_of_stratum(s->plan, 0);
    return ratio * ratio;
}

double tmi_measurement_precision(const tmi_schedule *s, const tmi_measurement *m)
{
    const double sd = fmax(tmi_noise_sd(m->laws[0].scale, s->gaussian), LEAST_SD) * tmi_measurement_unit(m, &s->workload, 0);
    return 1 / (sd * sd);
}
