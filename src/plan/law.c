#include "plan/law.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "plan/design/fields.h"
#include "plan/json_fields.h"

tamis_status tmi_plan_knows_law(const tamis_plan *plan, const tmi_frame_facts *frame, tamis_error *err)
{
    const tmi_plan_design *d = &plan->design;
    return d->kind->knows_law ? d->kind->knows_law(d, frame, err) : TAMIS_OK;
}

static tamis_status check_weights(const tmi_plan_design *design, tamis_error *err)
{
    if (!design->weights_final) return TAMIS_OK;
    return tmi_fail(err, TAMIS_REFUSED, "design.weights_are: final weights depend on all units, and no theorem covers that");
}

tamis_status tmi_plan_may_amplify(const tamis_plan *plan, const tmi_frame_facts *frame, tamis_error *err)
{
    const tmi_plan_privacy *p = &plan->privacy;
    tamis_status status = tamis_setting_outsider(p->setting, p->secret_sample, p->design_protected, err);
    if (status == TAMIS_OK) status = check_weights(&plan->design, err);
    return status == TAMIS_OK ? tmi_plan_knows_law(plan, frame, err) : status;
}

/* ---- as JSON ---- */

static void put_probabilities(tmi_json_out *out, const tmi_frame_stratum *f)
{
    tmi_json_key(out, "probabilities");
    tmi_json_open(out, '[');
    if (f->largest) tmi_put_exact_value(out, f->largest);
    if (f->certain > 0) tmi_json_put_string(out, "1");
    tmi_json_close(out, ']');
}

static void put_stratum(tmi_json_out *out, const tmi_plan_design *d, const tmi_plan_stratum *s, const tmi_frame_stratum *f)
{
    if (f) put_probabilities(out, f);
    else d->kind->write_law(out, d, s);
}

static int by_name(const void *a, const void *b)
{
    const tmi_plan_stratum *x = *(const tmi_plan_stratum *const *)a, *y = *(const tmi_plan_stratum *const *)b;
    return strcmp(x->name, y->name);
}

void tmi_put_law(tmi_json_out *out, const tamis_plan *plan, const tmi_frame_facts *frame)
{
    const tmi_plan_design *d = &plan->design;
    const char *name = d->kind->law_kind ? d->kind->law_kind->name : d->kind->name;
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

static tamis_status stratum_design(tamis_design **design, const tmi_plan_design *d, const tmi_plan_stratum *s,
                                   const tmi_frame_stratum *f, tamis_error *err)
{
    if (f) return unequal_design(design, f, err);
    return d->kind->make_law(design, d, s, tmi_law_population(s), err);
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
    for (size_t h = 0; h < count; h++)
        TMI_TRY(stratum_design(&strata[h], d, &d->strata[h], frame ? &frame->strata[h] : NULL, err));
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
    *facts = (tamis_sampling_facts){.known = !p->secret_sample || !p->setting->may_amplify, .looked_at = p->design_protected};
    *eps = p->loss.epsilon;
    *delta = p->loss.delta;
    tamis_status status = check_weights(&plan->design, err);
    if (status == TAMIS_OK) status = tmi_plan_knows_law(plan, NULL, err);
    return status == TAMIS_OK ? tmi_plan_law(design, plan, NULL, err) : status;
}
