#include "plan/outsiders.h"

#include <stdio.h>
#include <tamis/experimental/amplification.h>

#include "base/memory.h"
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

/* Whether a theorem covers the plan, whatever the numbers are. */
static bool is_covered(tmi_reader *reader, const tmi_value *at, const tamis_plan *plan, const tmi_plan_loss *loss)
{
    const tmi_plan_design *d = &plan->design;
    tamis_error reason = {0};
    char words[80];
    if (d->kind->takes_all || d->kind->only_weights) {
        tmi_complain_key(reader, at, "expected epsilon: %s",
                         d->kind->takes_all ? "in a census nobody is an outsider"
                                            : "only weights are known, not how the sample was drawn");
        return false;
    }
    const tamis_status status = tmi_plan_may_amplify(plan, NULL, &reason);
    if (status == TAMIS_SYSTEM) reader->no_memory = true;
    if (status != TAMIS_OK) {
        tmi_complain_key(reader, at, "expected epsilon: there is no target for outsiders here: %s", reason.message);
    } else if (!d->by) {
        suggest_epsilon(words, sizeof words, plan, loss);
        tmi_complain_key(reader, at,
                         "expected epsilon: a target for outsiders gives every stratum an epsilon of its own, and the design has "
                         "no strata%s",
                         words);
    } else if (d->kind->clusters || d->kind->staged || d->kind->with_replacement) {
        tmi_complain_key(reader, at,
                         "expected epsilon: a target for outsiders is for strata in which units are drawn, one row each, without "
                         "replacement");
    } else if (plan->privacy.rows_per_unit > 1) {
        tmi_complain_key(reader, at,
                         "expected epsilon: rows of one unit may be in several strata, and would spend the epsilon of each; a "
                         "target for outsiders is for units of one row");
    } else if (plan->wave.name) {
        tmi_complain_key(reader, at,
                         "expected epsilon: what outsiders lose in several samples together is not known; a target for outsiders "
                         "is for a survey without waves");
    } else if (d->stratum_count > TMI_MAX_TARGET_STRATA) {
        tmi_complain_key(reader, at, "expected at most %d strata with a target for outsiders", TMI_MAX_TARGET_STRATA);
    } else {
        return true;
    }
    return false;
}

tamis_status tmi_target_epsilons(tamis_number ***epsilons, const tamis_plan *plan, const tamis_number *outsider,
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

static void set_epsilons(tmi_reader *reader, const tmi_value *at, const tamis_plan *plan, tmi_plan_loss *loss)
{
    const tamis_number *most = NULL;
    tamis_error reason = {0};
    tamis_status status;
    TMI_TRY(tmi_target_epsilons(&loss->by_stratum, plan, loss->outsider, loss->insider, &reason));
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
