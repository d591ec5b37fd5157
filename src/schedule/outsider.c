#include "schedule/outsider.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <tamis/experimental/amplification.h>

#include "amplification/apart.h"
#include "base/check.h"
#include "base/memory.h"
#include "num/number.h"
#include "plan/law.h"

static void clear(tmi_outsider *o)
{
    tmi_free(o->parts);
    *o = (tmi_outsider){.epsilon = {0, INFINITY}, .delta = {0, 1}};
}

/* Gives the reason why nothing is claimed, whatever the losses are; returns false if something may be claimed. */
static bool excluded(tmi_outsider *o, const tamis_plan *plan)
{
    const tmi_plan_privacy *privacy = &plan->privacy;
    const tmi_plan_design *d = &plan->design;
    tamis_error reason;
    if (d->kind->takes_all)
        snprintf(o->reason, sizeof o->reason, "a census includes every %.100s, so nobody in the population is an outsider",
                 privacy->unit);
    else if (tamis_setting_outsider(privacy->setting, privacy->secret_sample, privacy->design_protected, &reason) != TAMIS_OK)
        snprintf(o->reason, sizeof o->reason, "%.500s", reason.message);
    else if (d->kind->only_weights)
        snprintf(o->reason, sizeof o->reason, "only the weights of the survey are known, not how its sample was drawn");
    else if (d->weights_final)
        snprintf(o->reason, sizeof o->reason, "final weights depend on who was sampled, so the sample is not secret");
    return o->reason[0] != '\0';
}

/* The theorem behind the law that is used in place of the plan's (plan/law.h). */
static const char *theorem_of(const tmi_plan_design *d, const char *found)
{
    if (d->by) return found;
    return tmi_hides_within_clusters(d) ? "within_clusters" : d->kind->theorem ? d->kind->theorem : found;
}

static tamis_status take(tmi_outsider *o, const tamis_amplified *found, tamis_error *err)
{
    o->parts = tmi_alloc(found->count, sizeof *o->parts);
    if (!o->parts) return tmi_fail_memory(err);
    for (size_t i = 0; i < found->count; i++) {
        const tamis_amplified_part *p = &found->parts[i];
        o->parts[i] = (tmi_outsider_part){(size_t)p->stratum, p->take_all != 0, p->eps, p->delta, NULL};
    }
    o->part_count = found->count;
    o->epsilon = found->eps;
    o->delta = found->delta;
    return TAMIS_OK;
}

/* The tables' sensitivity is that of a record replaced. Where the number of records is random it is also that of one added or
 * removed, since a record may always add nothing there; where it is fixed no two samples compare that differ in it. */
static tamis_status amplify(tmi_outsider *o, const tamis_plan *plan, const tmi_frame_facts *frame, const tamis_number *eps,
                            const tamis_number *delta, const tmi_loss_parts *parts, tamis_number *const *by_stratum,
                            tamis_error *err)
{
    const tamis_sample_promise promise = {.eps = eps,
                                          .delta = delta,
                                          .neighbours = TAMIS_REPLACE,
                                          .mechanism = TAMIS_ANY_ONE,
                                          .pure = parts->pure,
                                          .mu_squared = parts->mu_squared,
                                          .rho = parts->rho};
    tamis_design *design = NULL;
    tamis_amplified found = {0};
    tamis_status status;
    TMI_TRY(tmi_plan_may_amplify(plan, frame, err));
    TMI_TRY(tmi_plan_law(&design, plan, frame, err));
    TMI_TRY(by_stratum ? tmi_amplify_apart(&found, design, by_stratum, err)
                       : tamis_amplify_design(&found, design, &promise, err));
    TMI_TRY(take(o, &found, err));
    for (size_t i = 0; by_stratum && i < o->part_count; i++) o->parts[i].sampled = by_stratum[o->parts[i].stratum];
    o->theorem = theorem_of(&plan->design, found.theorem);
    o->by_profile = found.by_profile;

done:
    tamis_amplified_clear(&found);
    tamis_design_free(design);
    return status;
}

static tamis_status make(tmi_outsider *o, const tamis_plan *plan, const tmi_frame_facts *frame, const tamis_number *eps,
                         const tamis_number *delta, const tmi_loss_parts *parts, tamis_number *const *by_stratum,
                         tamis_error *err)
{
    tamis_error reason = {0};
    tamis_status status;
    *o = (tmi_outsider){.epsilon = {0, INFINITY}, .delta = {0, 1}};
    if (excluded(o, plan)) return TAMIS_OK;
    status = amplify(o, plan, frame, eps, delta, parts, by_stratum, &reason);
    o->proved = status == TAMIS_OK;
    if (status == TAMIS_OK) return TAMIS_OK;
    clear(o);
    if (status != TAMIS_REFUSED && status != TAMIS_INVALID) return tmi_fail_as(err, &reason);
    snprintf(o->reason, sizeof o->reason, "%.500s", reason.message);
    return TAMIS_OK;
}

static tamis_status invert(tamis_bound *eps, tamis_bound *delta, const tamis_plan *plan, const tmi_frame_facts *frame,
                           tamis_error *err)
{
    const tmi_plan_loss *loss = &plan->privacy.loss;
    tamis_sample_promise target = {.eps = loss->epsilon, .neighbours = TAMIS_REPLACE, .mechanism = TAMIS_ANY_ONE};
    tamis_number *zero = NULL;
    tamis_design *design = NULL;
    tamis_status status;
    TMI_TRY(tamis_number_read(&zero, "0", err));
    target.delta = loss->delta ? loss->delta : zero;
    TMI_TRY(tmi_plan_may_amplify(plan, frame, err));
    TMI_TRY(tmi_plan_law(&design, plan, frame, err));
    TMI_TRY(tamis_amplify_design_inverse(eps, delta, design, &target, err));

done:
    tamis_design_free(design);
    tamis_number_free(zero);
    return status;
}

tamis_status tmi_outsider_budget(tamis_bound *eps, tamis_bound *delta, const tamis_setting **setting, const tamis_plan *plan,
                                 const tmi_frame_facts *frame, tamis_error *err)
{
    static const size_t all = offsetof(
        tamis_plan, name); /* all of a plan is copied but the number of its holders, which other threads may change meanwhile */
    const tmi_plan_privacy *privacy = &plan->privacy;
    tamis_plan secret = {.holders = 1};
    tmi_outsider o = {0};
    tamis_error reason = {0};
    *eps = *delta = (tamis_bound){0, 0};
    *setting = privacy->setting->may_amplify ? privacy->setting : tamis_setting_of(TAMIS_FRAME, TAMIS_POPULATION);
    if (!privacy->loss.epsilon || privacy->design_protected) return TAMIS_OK;
    if (privacy->secret_sample && privacy->setting->may_amplify) return TAMIS_OK;
    memcpy((char *)&secret + all, (const char *)plan + all, sizeof secret - all);
    secret.privacy.setting = *setting;
    secret.privacy.secret_sample = true;
    if (excluded(&o, &secret)) return TAMIS_OK;
    const tamis_status status = invert(eps, delta, &secret, frame, &reason);
    if (status == TAMIS_OK) return TAMIS_OK;
    *eps = *delta = (tamis_bound){0, 0};
    return status == TAMIS_REFUSED || status == TAMIS_INVALID ? TAMIS_OK : tmi_fail_as(err, &reason);
}

void tmi_outsider_drop(tmi_outsider *o, const char *reason)
{
    clear(o);
    snprintf(o->reason, sizeof o->reason, "%s", reason);
}

void tmi_promised_clear(tmi_promised *p)
{
    tmi_number_frees(&p->epsilon, &p->delta, NULL);
    tmi_loss_parts_clear(&p->parts);
    clear(&p->outsider);
    for (size_t h = 0; p->by_stratum && h < p->strata; h++) tamis_number_free(p->by_stratum[h]);
    tmi_free(p->by_stratum);
    *p = (tmi_promised){0};
}

bool tmi_promised_is_sound(const tmi_promised *p)
{
    const tmi_outsider *o = &p->outsider;
    return p->epsilon && p->delta && o->epsilon.lower <= o->epsilon.upper && o->delta.lower <= o->delta.upper &&
           (o->proved ? o->theorem != NULL && !p->apart : o->reason[0] != '\0');
}

static bool same_by_stratum(const tmi_promised *p, tamis_number *const *by_stratum)
{
    bool same = !p->by_stratum == !by_stratum;
    for (size_t h = 0; same && by_stratum && h < p->strata; h++) same = tmi_number_compare(p->by_stratum[h], by_stratum[h]) == 0;
    return same;
}

static tamis_status copy_by_stratum(tmi_promised *p, tamis_number *const *by_stratum, size_t strata, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    if (!by_stratum) return TAMIS_OK;
    if (!(p->by_stratum = tmi_alloc(strata, sizeof *p->by_stratum))) return tmi_fail_memory(err);
    p->strata = strata;
    for (size_t h = 0; h < strata; h++) TMI_TRY(tmi_number_copy(&p->by_stratum[h], by_stratum[h], err));

done:
    return status;
}

static bool same_number(const tamis_number *x, const tamis_number *y)
{
    return !x == !y && (!x || tmi_number_compare(x, y) == 0);
}

static bool same_parts(const tmi_loss_parts *x, const tmi_loss_parts *y)
{
    return same_number(x->pure, y->pure) && same_number(x->mu_squared, y->mu_squared) && same_number(x->rho, y->rho);
}

tamis_status tmi_promised_make(tmi_promised *p, const tamis_plan *plan, const tmi_frame_facts *frame, const tamis_number *eps,
                               const tamis_number *delta, tmi_loss_parts *parts, tamis_number *const *by_stratum,
                               const char *apart, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    const bool one_point = p->one_point;
    tmi_loss_parts none = {0};
    if (!parts) parts = &none;
    if (one_point) tmi_loss_parts_clear(parts);
    const bool same = p->epsilon && p->apart == apart && same_by_stratum(p, by_stratum) &&
                      tmi_number_compare(p->epsilon, eps) == 0 && tmi_number_compare(p->delta, delta) == 0 &&
                      same_parts(&p->parts, parts);
    if (same) {
        tmi_loss_parts_clear(parts);
        return TAMIS_OK;
    }
    tmi_promised_clear(p);
    p->one_point = one_point;
    p->parts = *parts;
    *parts = (tmi_loss_parts){0};
    TMI_TRY(copy_by_stratum(p, by_stratum, plan->design.stratum_count, err));
    TMI_TRY(make(&p->outsider, plan, frame, eps, delta, &p->parts, p->by_stratum, err));
    if (p->outsider.proved && apart) tmi_outsider_drop(&p->outsider, apart);
    p->apart = apart;
    TMI_TRY(tmi_number_copy(&p->delta, delta, err));
    TMI_TRY(tmi_number_copy(&p->epsilon, eps, err));
    TMI_CHECK(tmi_promised_is_sound(p));

done:
    if (status != TAMIS_OK) tmi_promised_clear(p);
    return status;
}
