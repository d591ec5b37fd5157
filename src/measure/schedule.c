#include "measure/schedule.h"

#include <math.h>

#include "num/law/noise.h"
#include "num/number.h"

const tmi_frame_facts *tmi_frame_of(const tmi_schedule *s) { return s->frame.facts.count > 0 ? &s->frame.facts : NULL; }

const tmi_psu_facts *tmi_psus_of(const tmi_schedule *s) { return s->psus.facts.strata > 0 ? &s->psus.facts : NULL; }

bool tmi_groups_are_declared(const tmi_schedule *s, const tmi_plan_statistic *statistic)
{
    const tmi_plan_design *d = &s->plan->design;
    if (statistic->where || d->kind->clusters || d->population == 0 || tmi_counts_rows(s->plan)) return false;
    if (statistic->by_count == 0) return true;
    return statistic->by_count == 1 && d->by && statistic->by[0] == d->by && s->sampling.public_strata;
}

int64_t tmi_public_rows(const tmi_schedule *s, size_t statistic, size_t group)
{
    const tmi_plan_statistic *t = &s->plan->statistics[statistic];
    const tmi_plan_design *d = &s->plan->design;
    if (!s->sampling.rows_fixed || !tmi_groups_are_declared(s, t)) return 0;
    return t->by_count > 0 ? d->strata[group].sample : d->sample;
}

size_t tmi_find_strata(const tmi_plan_column *const *by, size_t count, const tmi_plan_design *d)
{
    size_t i = 0;
    while (i < count && by[i] != d->by) i++;
    return i;
}

bool tmi_has_ranges_by_stratum(const tmi_plan_statistic *s)
{
    return (s->column && s->column->by_stratum) || (s->second && s->second->by_stratum);
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

double tmi_measurement_precision(const tmi_schedule *s, const tmi_measurement *m)
{
    const double sd = fmax(tmi_noise_sd(m->laws[0].scale, s->gaussian), LEAST_SD) * tmi_measurement_unit(m, &s->workload, 0);
    return 1 / (sd * sd);
}
