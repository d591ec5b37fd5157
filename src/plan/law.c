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

/* Whether a method has a proved coupling is asked of the smallest sample that it can draw. */
static tamis_status check_method(const char *method, tamis_error *err)
{
    tamis_design *design = NULL;
    tamis_exposure *list = NULL;
    tamis_number *half = NULL;
    size_t count = 0;
    tamis_status status;
    TMI_TRY(tmi_number_ratio(&half, 1, 2, err));
    TMI_TRY(tamis_design_pps(&design, method, (const tamis_number *const[]){half, half}, 2, err));
    TMI_TRY(tamis_design_exposures(&list, &count, design, err));
    if (!list[0].theorem) status = tmi_fail(err, TAMIS_REFUSED, "design.pps: %s; an outsider is promised no more than a sampled person", list[0].reason);

done:
    tmi_free(list);
    tamis_design_free(design);
    tamis_number_free(half);
    return status;
}

tamis_status tmi_plan_knows_law(const tamis_plan *plan, const tmi_frame_facts *frame, tamis_error *err)
{
    const tmi_plan_design *d = &plan->design;
    switch (d->kind) {
    case TMI_DESIGN_POISSON:
    case TMI_DESIGN_PPS:
        if (frame) return d->kind == TMI_DESIGN_PPS ? check_method(d->method, err) : TAMIS_OK;
        return tmi_fail(err, TAMIS_REFUSED, "design.%s: the probabilities of units that were not drawn are not in the plan; %s",
                        tmi_design_kind_name(d->kind), d->frame ? "`tamis check` reads them from the frame"
                        : "give the design a frame, or describe it with a list of all of them, as JSON");
    case TMI_DESIGN_TWO_STAGE:
        if (d->second_take > 0) return TAMIS_OK;
        return tmi_fail(err, TAMIS_REFUSED, "design.two_stage: how many units are drawn in a cluster stands in a column, and in the plan "
                        "there is no bound; `second: {sample: NUMBER}` is one");
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

tamis_status tmi_plan_may_amplify(const tamis_plan *plan, const tmi_frame_facts *frame, tamis_error *err)
{
    const tmi_plan_privacy *p = &plan->privacy;
    tamis_status status = tamis_setting_outsider(p->setting, p->secret_sample, p->design_protected, err);
    if (status == TAMIS_OK) status = check_weights(&plan->design, err);
    return status == TAMIS_OK ? tmi_plan_knows_law(plan, frame, err) : status;
}

/* ---- as JSON ---- */

static void whole(tmi_json_out *out, const char *key, int64_t value)
{
    tmi_json_key(out, key);
    tmi_json_put_integer(out, value);
}

static void exact(tmi_json_out *out, const tamis_number *number)
{
    char *text = NULL;
    if (tamis_number_write(&text, number, NULL) != TAMIS_OK) out->text->failed = true;
    else tmi_json_put_string(out, text);
    tamis_free(text);
}

/* The name of the design that stands for the plan's. */
static const char *law_name(tmi_design_kind kind)
{
    return tmi_design_kind_name(kind == TMI_DESIGN_PPS ? TMI_DESIGN_POISSON : kind == TMI_DESIGN_TWO_STAGE ? TMI_DESIGN_CLUSTER : kind);
}

/* Units in a cluster, at most, that come and go together. */
static int64_t cluster_size(const tmi_plan_design *d)
{
    return d->kind == TMI_DESIGN_TWO_STAGE ? d->second_take : d->largest;
}

static void put_probabilities(tmi_json_out *out, const tmi_frame_stratum *f)
{
    tmi_json_key(out, "probabilities");
    tmi_json_open(out, '[');
    if (f->largest) exact(out, f->largest);
    if (f->certain > 0) tmi_json_put_string(out, "1");
    tmi_json_close(out, ']');
}

static void put_stratum(tmi_json_out *out, const tmi_plan_design *d, const tmi_plan_stratum *s, const tmi_frame_stratum *f)
{
    if (f) {
        put_probabilities(out, f);
        return;
    }
    whole(out, "population", population_of(s));
    if (d->kind == TMI_DESIGN_BERNOULLI) {
        tmi_json_key(out, "rate");
        exact(out, s->rate);
    } else if (d->kind != TMI_DESIGN_CENSUS) {
        whole(out, "sample", s->sample);
    }
    if (d->kind == TMI_DESIGN_SYSTEMATIC) {
        tmi_json_key(out, "order");
        tmi_json_put_string(out, d->random_order ? "random" : "public");
    } else if (d->kind == TMI_DESIGN_CLUSTER || d->kind == TMI_DESIGN_TWO_STAGE) {
        whole(out, "smallest", cluster_size(d));
        whole(out, "largest", cluster_size(d));
    }
}

static int by_name(const void *a, const void *b)
{
    const tmi_plan_stratum *x = *(const tmi_plan_stratum *const *)a, *y = *(const tmi_plan_stratum *const *)b;
    return strcmp(x->name, y->name);
}

void tmi_put_law(tmi_json_out *out, const tamis_plan *plan, const tmi_frame_facts *frame)
{
    const tmi_plan_design *d = &plan->design;
    const char *name = law_name(d->kind);
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
        put_stratum(out, d, sorted[h], frame ? &frame->strata[sorted[h] - d->strata] : NULL);
        if (d->by) tmi_json_close(out, '}');
    }
    if (d->by) tmi_json_close(out, ']');
    tmi_json_close(out, '}');
    tmi_json_close(out, '}');
    tmi_free(sorted);
}

/* ---- as a design ---- */

static tamis_status unequal_design(tamis_design **design, const tmi_frame_stratum *f, tamis_error *err)
{
    const tamis_number *list[2];
    tamis_number *one = NULL;
    size_t count = 0;
    tamis_status status = tmi_number_ratio(&one, 1, 1, err);
    if (f->largest) list[count++] = f->largest;
    if (f->certain > 0) list[count++] = one;
    if (status == TAMIS_OK) status = tamis_design_poisson(design, list, count, err);
    tamis_number_free(one);
    return status;
}

static tamis_status stratum_design(tamis_design **design, const tmi_plan_design *d, const tmi_plan_stratum *s, const tmi_frame_stratum *f,
                                   tamis_error *err)
{
    if (f) return unequal_design(design, f, err);
    switch (d->kind) {
    case TMI_DESIGN_SRS: return tamis_design_srs(design, s->population, s->sample, err);
    case TMI_DESIGN_CENSUS: return tamis_design_census(design, s->population, err);
    case TMI_DESIGN_SRS_WITH_REPLACEMENT: return tamis_design_srs_with_replacement(design, s->population, s->sample, err);
    case TMI_DESIGN_BERNOULLI: return tamis_design_bernoulli(design, population_of(s), s->rate, err);
    case TMI_DESIGN_SYSTEMATIC: return tamis_design_systematic(design, s->population, s->sample, d->random_order, err);
    default: return tamis_design_clusters(design, s->population, s->sample, cluster_size(d), cluster_size(d), err);
    }
}

tamis_status tmi_plan_law(tamis_design **design, const tamis_plan *plan, const tmi_frame_facts *frame, tamis_error *err)
{
    const tmi_plan_design *d = &plan->design;
    tamis_status status = TAMIS_OK;
    *design = NULL;
    if (!d->by) return stratum_design(design, d, &d->strata[0], frame ? &frame->strata[0] : NULL, err);
    size_t count = d->stratum_count;
    tamis_design **strata = tmi_alloc(count, sizeof *strata);
    if (!strata) return tmi_fail_memory(err);
    for (size_t h = 0; h < count; h++) TMI_TRY(stratum_design(&strata[h], d, &d->strata[h], frame ? &frame->strata[h] : NULL, err));
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
    if (status == TAMIS_OK) status = tmi_plan_knows_law(plan, NULL, err);
    return status == TAMIS_OK ? tmi_plan_law(design, plan, NULL, err) : status;
}
