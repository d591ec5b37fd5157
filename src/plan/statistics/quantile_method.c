/* What `method: auto` of a quantile means: distribution or mechanism, decided from public numbers as the plan is read.
 *
 * A mechanism that chooses the answer has half of the statistic's share, and errs by a few times 2 / epsilon ranks. The rank of
 * a quantile in a sample of n rows has a sampling error of sqrt(n) / 2. The distribution function has noise too, with the whole
 * share, and interpolates between cuts. So what counts is epsilon * sqrt(n). Where it is 16, a mechanism's errors are 0.96 to
 * 1.35 times as large, and its intervals a third wider; where it is 32, errors are 0.84 to 1.10 times as large and intervals an
 * eighth wider; where it is 64, intervals are as wide (docs/quantiles.md has the numbers).
 *
 * The answer becomes the statistic's method, and the plan that a certificate repeats names it: a certificate does not depend
 * on this rule. */
#include "num/exact.h"
#include "plan/sections.h"

#define LEAST 32

/* Units in a cluster of the sample; one at least. */
static tmi_term units_of_cluster(tmi_exact *e, const tmi_plan_design *d)
{
    const tmi_plan_typical *t = &d->typical;
    if (d->second_rate) return tmi_mul(e, t->cluster ? t->cluster : tmi_int(e, 1), d->second_rate);
    if (d->kind->staged && d->second_take > 0) return tmi_int(e, d->second_take);
    if (d->kind->staged) return t->taken ? t->taken : tmi_int(e, 1);
    if (t->cluster) return t->cluster;
    return tmi_int(e, d->smallest > 1 ? d->smallest : 1);
}

/* Units in the sample as far as is public; NULL: nothing is. */
static tmi_term sampled_units(tmi_exact *e, const tmi_plan_design *d)
{
    tmi_term units = NULL;
    if (d->sample > 0) units = tmi_int(e, d->sample);
    else if (d->typical.sample) units = d->typical.sample;
    else if (d->kind->rate && d->population > 0) {
        units = tmi_int(e, 0);
        for (size_t h = 0; h < d->stratum_count; h++)
            units = tmi_add(e, units, tmi_mul(e, tmi_int(e, d->strata[h].population), d->strata[h].rate));
    }
    if (units && d->sample > 0 && d->kind->clusters) units = tmi_mul(e, units, units_of_cluster(e, d));
    if (units && d->typical.response) units = tmi_mul(e, units, d->typical.response);
    return units;
}

/* epsilon^2 of the mechanism: a part of rho gives one with epsilon = sqrt(8 rho) (measure/quantile_tasks.h). */
static tmi_term squared_epsilon(tmi_exact *e, const tmi_plan_loss *loss, tmi_term part)
{
    if (loss->rho) return tmi_mul(e, tmi_int(e, 8), tmi_mul(e, loss->rho, part));
    tmi_term epsilon = tmi_mul(e, loss->epsilon, part);
    return tmi_mul(e, epsilon, epsilon);
}

static bool suits_a_mechanism(tmi_exact *e, const tamis_plan *plan, const tmi_plan_statistic *s, tmi_term all_shares)
{
    tmi_term units = sampled_units(e, &plan->design);
    if (!units) return false;
    int64_t groups = tmi_statistic_cells(s) / (int64_t)s->at_count;
    if (s->where) groups *= 2; /* as previews assume, a condition holds for half of the units */
    tmi_term part = tmi_div(e, s->share, tmi_mul(e, tmi_int(e, 2), all_shares));
    tmi_term square = tmi_mul(e, squared_epsilon(e, &plan->privacy.loss, part), tmi_div(e, units, tmi_int(e, groups)));
    return e->status == TAMIS_OK && tmi_number_compare_int(square, LEAST * LEAST) >= 0;
}

void tmi_choose_quantile_methods(tmi_reader *reader, tamis_plan *plan)
{
    const tmi_plan_loss *loss = &plan->privacy.loss;
    tmi_exact e = TMI_EXACT(NULL);
    tmi_term shares = tmi_int(&e, 0);
    if (loss->epsilon || loss->rho) {
        for (size_t i = 0; i < plan->asked_count; i++) shares = tmi_add(&e, shares, plan->statistics[i].share);
        for (size_t i = 0; i < plan->asked_count && e.status == TAMIS_OK; i++) {
            tmi_plan_statistic *s = &plan->statistics[i];
            if ((s->kind != TMI_QUANTILE && s->kind != TMI_MEDIAN) || s->method) continue;
            s->method = suits_a_mechanism(&e, plan, s, shares) ? "mechanism" : "distribution";
        }
    }
    if (e.status != TAMIS_OK) reader->no_memory = true;
    tmi_exact_clear(&e);
}
