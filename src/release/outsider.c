#include "release/outsider.h"

#include <math.h>
#include <stdio.h>
#include <tamis/privacy.h>

#include "base/memory.h"
#include "num/number.h"

void tmi_outsider_clear(tmi_outsider *o)
{
    tmi_free(o->parts);
    *o = (tmi_outsider){.epsilon = {0, INFINITY}, .delta = {0, 1}};
}

/* Why nothing is claimed, whatever the numbers; false if something may be. */
static bool excluded(tmi_outsider *o, const tamis_plan *plan)
{
    const tmi_plan_privacy *privacy = &plan->privacy;
    const tmi_plan_design *d = &plan->design;
    tamis_error reason;
    if (d->kind == TMI_DESIGN_CENSUS)
        snprintf(o->reason, sizeof o->reason, "a census holds every %.100s, so that nobody of the population is an outsider",
                 privacy->unit);
    else if (tamis_setting_outsider(privacy->setting, privacy->secret_sample, privacy->design_protected, &reason) != TAMIS_OK)
        snprintf(o->reason, sizeof o->reason, "%.500s", reason.message);
    else if (d->kind == TMI_DESIGN_WEIGHTS)
        snprintf(o->reason, sizeof o->reason, "only the weights of the survey are known, not how its sample was drawn");
    else if (d->weights_final)
        snprintf(o->reason, sizeof o->reason, "final weights depend on who was sampled, so that the sample is not secret");
    return o->reason[0] != '\0';
}

/* Every unit comes and goes by itself. The tables' sensitivity is that of a record replaced, and also that of a record added
 * or removed, since a record may always add nothing: both losses are the same. */
static tamis_status amplify_bernoulli(tmi_outsider *o, const tamis_plan *plan, const tamis_number *eps, const tamis_number *delta,
                                      tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    o->epsilon = o->delta = (tamis_bound){0, 0};
    for (size_t h = 0; h < plan->design.stratum_count && status == TAMIS_OK; h++) {
        tamis_amplification a = {plan->design.strata[h].rate, eps, delta, eps, delta};
        tmi_outsider_part *part = &o->parts[h];
        *part = (tmi_outsider_part){.stratum = h};
        status = tamis_amplify(&part->epsilon, &part->delta, &a, err);
        if (part->epsilon.upper > o->epsilon.upper) o->epsilon = part->epsilon;
        if (part->delta.upper > o->delta.upper) o->delta = part->delta;
    }
    o->part_count = plan->design.stratum_count;
    o->theorem = "poisson";
    return status;
}

static tamis_status take(tmi_outsider *o, const tamis_amplified *found, tamis_error *err)
{
    o->parts = tmi_alloc(found->count, sizeof *o->parts);
    if (!o->parts) return tmi_fail_memory(err);
    for (size_t i = 0; i < found->count; i++) {
        const tamis_amplified_part *p = &found->parts[i];
        o->parts[i] = (tmi_outsider_part){(size_t)p->stratum, p->take_all != 0, p->eps, p->delta};
    }
    o->part_count = found->count;
    o->epsilon = found->eps;
    o->delta = found->delta;
    o->theorem = found->theorem;
    return TAMIS_OK;
}

static tamis_status amplify(tmi_outsider *o, const tamis_plan *plan, const tamis_number *eps, const tamis_number *delta,
                            tamis_error *err)
{
    tamis_design *design = NULL;
    tamis_sampling_facts facts;
    const tamis_number *unused;
    tamis_amplified found = {0};
    tamis_status status;
    TMI_TRY(tamis_plan_sampling(&design, &facts, &unused, &unused, plan, err));
    TMI_TRY(tamis_sampling_facts_check(&facts, design, err));
    bool alone = plan->design.kind == TMI_DESIGN_POISSON;
    tamis_sample_promise promise = {.eps = eps, .delta = delta, .neighbours = TAMIS_REPLACE,
                                    .mechanism = alone ? TAMIS_ADD_REMOVE : TAMIS_REPLACE};
    TMI_TRY(tamis_amplify_design(&found, design, &promise, err));
    TMI_TRY(take(o, &found, err));

done:
    tamis_amplified_clear(&found);
    tamis_design_free(design);
    return status;
}

tamis_status tmi_outsider_make(tmi_outsider *o, const tamis_plan *plan, const tamis_number *eps, const tamis_number *delta,
                               tamis_error *err)
{
    tamis_error reason = {0};
    tamis_status status;
    *o = (tmi_outsider){.epsilon = {0, INFINITY}, .delta = {0, 1}};
    if (excluded(o, plan)) return TAMIS_OK;
    if (plan->design.kind == TMI_DESIGN_BERNOULLI) {
        o->parts = tmi_alloc(plan->design.stratum_count, sizeof *o->parts);
        if (!o->parts) return tmi_fail_memory(err);
        status = amplify_bernoulli(o, plan, eps, delta, err);
    } else {
        status = amplify(o, plan, eps, delta, &reason);
    }
    o->proved = status == TAMIS_OK;
    if (status == TAMIS_OK) return TAMIS_OK;
    tmi_outsider_clear(o);
    if (status != TAMIS_REFUSED && status != TAMIS_INVALID) return tmi_fail(err, status, "%s", reason.message);
    snprintf(o->reason, sizeof o->reason, "%.500s", reason.message);
    return TAMIS_OK;
}
