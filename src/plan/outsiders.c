#include "plan/outsiders.h"

#include <math.h>
#include <stdio.h>
#include <tamis/experimental/amplification.h>

#include "amplification/apart.h"
#include "base/memory.h"
#include "num/exact.h"
#include "num/number.h"
#include "plan/law.h"

static const tmi_value *target_of(const tmi_value *root, const char *section)
{
    const tmi_value *map = tmi_value_get(root, section);
    return map && map->kind == TMI_VALUE_MAP ? tmi_value_get(map, "outsider") : NULL;
}

/* Without strata one epsilon is all there is, and a plan can state it. */
static void suggest_epsilon(char *words, size_t room, const tamis_plan *plan, const tmi_plan_loss *loss)
{
    tamis_design *design = NULL;
    tamis_stratum_budget *list = NULL;
    size_t count = 0;
    char *epsilon = NULL;
    words[0] = '\0';
    if (tmi_plan_law(&design, plan, NULL, NULL) == TAMIS_OK &&
        tamis_strata_budgets(&list, &count, design, loss->outsider, loss->insider, NULL) == TAMIS_OK && count == 1 &&
        tamis_number_write(&epsilon, list[0].epsilon, NULL) == TAMIS_OK)
        snprintf(words, room, "; with %.40s it meets this target", epsilon);
    tamis_free(epsilon);
    tamis_strata_budgets_free(list, count);
    tamis_design_free(design);
}

/* Whether outsiders have a law at all. */
static tamis_status check_law(const tamis_plan *plan, tamis_error *err)
{
    tamis_error reason = {0};
    if (plan->design.kind->takes_all) return tmi_fail(err, TAMIS_REFUSED, "in a census nobody is an outsider");
    if (plan->design.kind->only_weights)
        return tmi_fail(err, TAMIS_REFUSED, "only weights are known, not how the sample was drawn");
    const tamis_status status = tmi_plan_may_amplify(plan, NULL, &reason);
    if (status == TAMIS_OK) return status;
    return status == TAMIS_SYSTEM ? tmi_fail_as(err, &reason)
                                  : tmi_fail(err, status, "there is no target for outsiders here: %s", reason.message);
}

/* Whether a theorem covers the plan, whatever the numbers are; REFUSED with the reason. */
static tamis_status check_covered(const tamis_plan *plan, tamis_error *err)
{
    const tmi_plan_design *d = &plan->design;
    const tamis_status status = check_law(plan, err);
    if (status != TAMIS_OK) return status;
    if (!d->by)
        return tmi_fail(err, TAMIS_REFUSED,
                        "a target for outsiders gives every stratum an epsilon of its own, and the design has no strata");
    if (d->kind->clusters || d->kind->staged || d->kind->with_replacement)
        return tmi_fail(err, TAMIS_REFUSED,
                        "a target for outsiders is for strata in which units are drawn, one row each, without replacement");
    if (plan->privacy.rows_per_unit > 1)
        return tmi_fail(err, TAMIS_REFUSED,
                        "rows of one unit may be in several strata, and would spend the epsilon of each; a target for outsiders "
                        "is for units of one row");
    if (plan->wave.name)
        return tmi_fail(err, TAMIS_REFUSED,
                        "what outsiders lose in several samples together is not known; a target for outsiders is for a survey "
                        "without waves");
    return TAMIS_OK;
}

static bool is_covered(tmi_reader *reader, const tmi_value *at, const tamis_plan *plan, const tmi_plan_loss *loss)
{
    tamis_error reason = {0};
    char words[80] = "";
    const tamis_status status = check_covered(plan, &reason);
    if (status == TAMIS_SYSTEM) {
        reader->no_memory = true;
    } else if (status != TAMIS_OK) {
        if (!plan->design.by && check_law(plan, NULL) == TAMIS_OK) suggest_epsilon(words, sizeof words, plan, loss);
        tmi_complain_key(reader, at, "expected epsilon: %s%s", reason.message, words);
    } else if (plan->design.stratum_count > TMI_MAX_TARGET_STRATA) {
        tmi_complain_key(reader, at, "expected at most %d strata with a target for outsiders", TMI_MAX_TARGET_STRATA);
    } else {
        return true;
    }
    return false;
}

/* The epsilons of the strata that follow from a target, in their order; the caller frees the list and its numbers. The plan is
 * covered, as the law has to be known. On failure *epsilons is NULL. */
static tamis_status target_epsilons(tamis_number ***epsilons, const tamis_plan *plan, const tamis_number *outsider,
                                    const tamis_number *insider, tamis_error *err)
{
    tamis_design *design = NULL;
    tamis_stratum_budget *list = NULL;
    size_t count = 0;
    tamis_status status;
    *epsilons = NULL;
    TMI_TRY(tmi_plan_law(&design, plan, NULL, err));
    TMI_TRY(tamis_strata_budgets(&list, &count, design, outsider, insider, err));
    if (!(*epsilons = tmi_alloc(count, sizeof **epsilons))) TMI_TRY(tmi_fail_memory(err));
    for (size_t h = 0; h < count; h++) {
        (*epsilons)[h] = list[h].epsilon;
        list[h].epsilon = NULL;
    }

done:
    tamis_strata_budgets_free(list, count);
    tamis_design_free(design);
    return status;
}

/* Whether x is the largest epsilon but for a billionth of it, which is about its last digit. */
static tamis_status is_near(bool *near, const tamis_number *x, const tamis_number *largest, tamis_error *err)
{
    tmi_exact e = TMI_EXACT(err);
    tmi_term off = tmi_mul(&e, tmi_abs(&e, tmi_sub(&e, x, largest)), tmi_int(&e, 1000000000));
    *near = e.status == TAMIS_OK && tmi_number_compare(off, largest) <= 0;
    const tamis_status status = e.status;
    tmi_exact_clear(&e);
    return status;
}

/* Whether outsiders of each stratum lose no more than the target, one double aside. */
static tamis_status meet_target(bool *meet, const tamis_plan *plan, tamis_number *const *epsilons, const tamis_number *outsider,
                                tamis_error *err)
{
    tamis_design *design = NULL;
    tamis_amplified a = {0};
    tamis_status status;
    TMI_TRY(tmi_plan_law(&design, plan, NULL, err));
    TMI_TRY(tmi_amplify_apart(&a, design, epsilons, err));
    *meet = a.eps.upper <= nextafter(tmi_number_up(outsider), INFINITY);

done:
    tamis_amplified_clear(&a);
    tamis_design_free(design);
    return status;
}

tamis_status tmi_target_follows(bool *follows, const tamis_plan *plan, tamis_number *const *epsilons,
                                const tamis_number *outsider, const tamis_number *insider, tamis_error *err)
{
    tamis_number **largest = NULL;
    tamis_status status;
    *follows = false;
    if (plan->design.stratum_count > TMI_MAX_TARGET_STRATA) return TAMIS_OK;
    TMI_TRY(check_covered(plan, err));
    TMI_TRY(target_epsilons(&largest, plan, outsider, insider, err));
    bool right = true, above = false;
    for (size_t h = 0; right && h < plan->design.stratum_count; h++) {
        TMI_TRY(is_near(&right, epsilons[h], largest[h], err));
        right = right && tmi_number_compare(epsilons[h], insider) <= 0;
        above = above || tmi_number_compare(epsilons[h], largest[h]) > 0;
    }
    if (right && above) TMI_TRY(meet_target(&right, plan, epsilons, outsider, err));
    *follows = right;

done:
    for (size_t h = 0; largest && h < plan->design.stratum_count; h++) tamis_number_free(largest[h]);
    tmi_free(largest);
    if (status != TAMIS_INVALID && status != TAMIS_REFUSED && status != TAMIS_UNABLE) return status;
    return TAMIS_OK; /* there is no such target */
}

static void set_epsilons(tmi_reader *reader, const tmi_value *at, const tamis_plan *plan, tmi_plan_loss *loss)
{
    const tamis_number *most = NULL;
    tamis_error reason = {0};
    tamis_status status;
    TMI_TRY(target_epsilons(&loss->by_stratum, plan, loss->outsider, loss->insider, &reason));
    for (size_t h = 0; h < plan->design.stratum_count; h++)
        if (!most || tmi_number_compare(loss->by_stratum[h], most) > 0) most = loss->by_stratum[h];
    TMI_TRY(tmi_number_copy(&loss->epsilon, most, &reason));

done:
    if (status == TAMIS_SYSTEM) reader->no_memory = true;
    else if (status != TAMIS_OK)
        tmi_complain_key(reader, at, "expected epsilon: there is no target for outsiders here: %s", reason.message);
}

void tmi_read_targets(tmi_reader *reader, const tmi_value *root, tamis_plan *plan)
{
    const tmi_value *loss = target_of(root, "privacy"), *budget = target_of(root, "budget");
    if (reader->count > 0 || reader->no_memory || (!loss && !budget)) return;
    if (!is_covered(reader, loss ? loss : budget, plan, loss ? &plan->privacy.loss : &plan->budget)) return;
    if (loss) set_epsilons(reader, loss, plan, &plan->privacy.loss);
    if (budget) set_epsilons(reader, budget, plan, &plan->budget);
}

void tmi_check_targets(tmi_reader *reader, const tmi_value *root, const tamis_plan *plan)
{
    const tmi_value *loss = target_of(root, "privacy"), *budget = target_of(root, "budget"),
                    *list = tmi_value_get(root, "statistics"), *item = list ? tmi_value_first(list) : NULL;
    if (loss && tmi_value_get(root, "budget") && !budget)
        tmi_complain_key(reader, tmi_value_get(root, "budget"),
                         "expected a budget with a target for outsiders, as the plan has one, e.g. {outsider: 1, insider: 8}");
    if (budget && !loss && (plan->privacy.loss.rho || plan->privacy.loss.delta))
        tmi_complain_key(reader, budget,
                         "expected a budget to which %s can be charged: one with a target for outsiders is in pure epsilon",
                         plan->privacy.loss.rho ? "rho" : "a delta");
    for (size_t i = 0; loss && i < plan->asked_count && item; i++, item = tmi_value_next(item))
        if (tmi_has_mechanism(&plan->statistics[i]))
            tmi_complain(
                reader, item,
                "expected `method: distribution`: a mechanism that chooses a quantile has one epsilon for all strata, and "
                "with a target for outsiders each has its own");
}
