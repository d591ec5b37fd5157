#include "plan/law.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "plan/names.h"

/* Where the size of the population is not public: each unit is drawn by itself, so any number of them has the same law. */
#define UNKNOWN_POPULATION 1

static int64_t population_of(const tmi_plan_stratum *s)
{
    return s->population > 0 ? s->population : UNKNOWN_POPULATION;
}

tamis_status tmi_plan_knows_law(const tamis_plan *plan, tamis_error *err)
{
    switch (plan->design.kind) {
    case TMI_DESIGN_POISSON:
    case TMI_DESIGN_PPS:
        return tmi_fail(err, TAMIS_REFUSED, "design.%s: the probabilities of units that were not drawn are not in the plan; describe the "
                        "design with a list of all of them, as JSON", tmi_design_kind_name(plan->design.kind));
    case TMI_DESIGN_TWO_STAGE:
        return tmi_fail(err, TAMIS_REFUSED, "design.two_stage: the sizes of clusters that were not drawn are not in the plan; describe the "
                        "design with a list of all of them, as JSON");
    case TMI_DESIGN_WEIGHTS:
        return tmi_fail(err, TAMIS_REFUSED, "design.weights: only weights are known, not how the sample was drawn: no theorem says what "
                        "that adds");
    default: return TAMIS_OK;
    }
}

static tamis_status check_weights(const tmi_plan_design *design, tamis_error *err)
{
    if (!design->weights_final) return TAMIS_OK;
    return tmi_fail(err, TAMIS_REFUSED, "design.weights_are: final weights depend on everybody, and no theorem covers that");
}

tamis_status tmi_plan_may_amplify(const tamis_plan *plan, tamis_error *err)
{
    const tmi_plan_privacy *p = &plan->privacy;
    tamis_status status = tamis_setting_outsider(p->setting, p->secret_sample, p->design_protected, err);
    if (status == TAMIS_OK) status = check_weights(&plan->design, err);
    return status == TAMIS_OK ? tmi_plan_knows_law(plan, err) : status;
}

/* ---- as JSON ---- */

static void whole(tmi_json_out *out, const char *key, int64_t value)
{
    tmi_json_key(out, key);
    tmi_json_put_integer(out, value);
}

static void put_sizes(tmi_json_out *out, const tmi_plan_design *d, const tmi_plan_stratum *s)
{
    whole(out, "population", population_of(s));
    if (d->kind == TMI_DESIGN_BERNOULLI) {
        char *rate = NULL;
        tmi_json_key(out, "rate");
        if (tamis_number_write(&rate, s->rate, NULL) != TAMIS_OK) out->text->failed = true;
        else tmi_json_put_string(out, rate);
        tamis_free(rate);
    } else if (d->kind != TMI_DESIGN_CENSUS) {
        whole(out, "sample", s->sample);
    }
}

static void put_rest(tmi_json_out *out, const tmi_plan_design *d)
{
    if (d->kind == TMI_DESIGN_SYSTEMATIC) {
        tmi_json_key(out, "order");
        tmi_json_put_string(out, d->random_order ? "random" : "public");
    } else if (d->kind == TMI_DESIGN_CLUSTER) {
        whole(out, "smallest", d->smallest);
        whole(out, "largest", d->largest);
    }
}

static int by_name(const void *a, const void *b)
{
    const tmi_plan_stratum *x = *(const tmi_plan_stratum *const *)a, *y = *(const tmi_plan_stratum *const *)b;
    return strcmp(x->name, y->name);
}

void tmi_put_law(tmi_json_out *out, const tamis_plan *plan)
{
    const tmi_plan_design *d = &plan->design;
    const char *name = tmi_design_kind_name(d->kind);
    const tmi_plan_stratum **sorted = tmi_alloc(d->stratum_count, sizeof *sorted);
    if (!sorted) out->text->failed = true;
    for (size_t h = 0; sorted && h < d->stratum_count; h++) sorted[h] = &d->strata[h];
    if (sorted && d->by) qsort(sorted, d->stratum_count, sizeof *sorted, by_name);
    tmi_json_open(out, '{');
    tmi_json_key(out, d->by ? "stratified" : name);
    tmi_json_open(out, '{');
    if (d->by) {
        tmi_json_key(out, "within");
        tmi_json_put_string(out, name);
        tmi_json_key(out, "strata");
        tmi_json_open(out, '[');
    }
    for (size_t h = 0; sorted && h < d->stratum_count; h++) {
        if (d->by) tmi_json_open(out, '{');
        put_sizes(out, d, sorted[h]);
        put_rest(out, d);
        if (d->by) tmi_json_close(out, '}');
    }
    if (d->by) tmi_json_close(out, ']');
    tmi_json_close(out, '}');
    tmi_json_close(out, '}');
    tmi_free(sorted);
}

/* ---- as a design ---- */

static tamis_status stratum_design(tamis_design **design, const tmi_plan_design *d, const tmi_plan_stratum *s, tamis_error *err)
{
    switch (d->kind) {
    case TMI_DESIGN_SRS: return tamis_design_srs(design, s->population, s->sample, err);
    case TMI_DESIGN_CENSUS: return tamis_design_census(design, s->population, err);
    case TMI_DESIGN_SRS_WITH_REPLACEMENT: return tamis_design_srs_with_replacement(design, s->population, s->sample, err);
    case TMI_DESIGN_BERNOULLI: return tamis_design_bernoulli(design, population_of(s), s->rate, err);
    case TMI_DESIGN_SYSTEMATIC: return tamis_design_systematic(design, s->population, s->sample, d->random_order, err);
    default: return tamis_design_clusters(design, s->population, s->sample, d->smallest, d->largest, err);
    }
}

static tamis_status whole_design(tamis_design **design, const tmi_plan_design *d, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    if (!d->by) return stratum_design(design, d, &d->strata[0], err);
    size_t count = d->stratum_count;
    tamis_design **strata = tmi_alloc(count, sizeof *strata);
    if (!strata) return tmi_fail_memory(err);
    for (size_t h = 0; h < count; h++) TMI_TRY(stratum_design(&strata[h], d, &d->strata[h], err));
    TMI_TRY(tamis_design_take_strata(design, strata, count, err));
    count = 0;
done:
    for (size_t h = 0; h < count; h++) tamis_design_free(strata[h]);
    tmi_free(strata);
    return status;
}

tamis_status tamis_plan_sampling(tamis_design **design, tamis_sampling_facts *facts, const tamis_number **eps,
                                 const tamis_number **delta, const tamis_plan *plan, tamis_error *err)
{
    if (design) *design = NULL;
    if (facts) *facts = (tamis_sampling_facts){.known = 1};
    if (eps) *eps = NULL;
    if (delta) *delta = NULL;
    if (!design) return tmi_fail(err, TAMIS_INVALID, "design: NULL");
    if (!facts) return tmi_fail(err, TAMIS_INVALID, "facts: NULL");
    if (!eps) return tmi_fail(err, TAMIS_INVALID, "eps: NULL");
    if (!delta) return tmi_fail(err, TAMIS_INVALID, "delta: NULL");
    if (!plan) return tmi_fail(err, TAMIS_INVALID, "plan: NULL");
    const tmi_plan_privacy *p = &plan->privacy;
    *facts = (tamis_sampling_facts){.known = !p->secret_sample || !p->setting->may_amplify,
                                    .looked_at = p->design_protected};
    *eps = p->loss.epsilon;
    *delta = p->loss.delta;
    tamis_status status = check_weights(&plan->design, err);
    if (status == TAMIS_OK) status = tmi_plan_knows_law(plan, err);
    return status == TAMIS_OK ? whole_design(design, &plan->design, err) : status;
}
