#include "release/account.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/value/json.h"
#include "ledger/coin.h"
#include "ledger/ledger.h"
#include "plan/json.h"
#include "plan/json_fields.h"
#include "plan/outsiders.h"
#include "release/bounds.h"
#include "release/identity.h"
#include "release/quantiles/kept.h"
#include "release/source_parts.h"
#include "report/promise.h"

static tamis_coin coin_of(const tmi_plan_loss *loss) { return (tamis_coin){loss->epsilon, loss->delta, loss->rho}; }

/* A plan without a budget is only looked at: for an account that it would open, what it spends is enough. */
static tamis_coin budget_of(const tamis_plan *plan)
{
    return coin_of(tmi_has_budget(plan) ? &plan->budget : &plan->privacy.loss);
}

tamis_status tmi_account_need_budget(const tamis_plan *plan, tamis_error *err)
{
    const tmi_plan_loss *loss = &plan->privacy.loss;
    tmi_text line, spends;
    tamis_status status = TAMIS_OK;
    if (tmi_has_budget(plan)) return TAMIS_OK;
    tmi_text_init(&line);
    tmi_text_init(&spends);
    tmi_budget_line(&line, plan);
    tmi_text_put(&spends, loss->rho ? "rho " : "epsilon ");
    tmi_text_number_up(&spends, loss->rho ? loss->rho : loss->epsilon);
    if (line.failed || spends.failed) status = tmi_fail_memory(err);
    else
        status = tmi_fail_file(
            err, TAMIS_INVALID, plan->name, 0,
            "a release needs the line `%.300s` in the plan, with a number that you choose: what all releases of this survey "
            "together may ever spend. This plan spends %.300s of it; what would exceed it is refused",
            line.bytes, spends.bytes);
    tmi_text_clear(&line);
    tmi_text_clear(&spends);
    return status;
}

/* The epsilons of the plan's strata, as a ledger has them; nothing without a target. `epsilons` NULL: there is none. */
static tamis_status put_strata(tmi_by_stratum *list, const tamis_plan *plan, tamis_number *const *epsilons,
                               const tmi_plan_loss *target, tamis_error *err)
{
    tmi_by_stratum lent = {.count = plan->design.stratum_count, .epsilons = (tamis_number **)(uintptr_t)epsilons};
    tamis_status status = TAMIS_OK;
    *list = (tmi_by_stratum){0};
    if (!epsilons) return TAMIS_OK;
    if (!(lent.names = tmi_alloc(lent.count, sizeof *lent.names))) return tmi_fail_memory(err);
    for (size_t h = 0; h < lent.count; h++) lent.names[h] = plan->design.strata[h].name;
    if (target) {
        lent.outsider = target->outsider;
        lent.insider = target->insider;
    }
    status = tmi_by_stratum_copy(list, &lent, err);
    tmi_free(lent.names);
    return status;
}

tamis_status tmi_plan_budget_coin(tmi_ledger_coin *coin, const tamis_plan *plan, tamis_error *err)
{
    const tmi_plan_loss *budget = tmi_has_budget(plan) ? &plan->budget : &plan->privacy.loss;
    const tamis_coin said = coin_of(budget);
    tamis_status status = tmi_coin_make(coin, &said, "budget", err);
    if (status == TAMIS_OK) status = put_strata(&coin->strata, plan, budget->by_stratum, budget, err);
    if (status != TAMIS_OK) tmi_coin_clear(coin);
    return status;
}

tamis_status tmi_cap_follows(bool *follows, const tamis_plan *plan, const tmi_ledger_coin *cap, tamis_error *err)
{
    const tmi_plan_design *d = &plan->design;
    const tamis_number *most = NULL;
    *follows = cap->strata.count == 0;
    if (*follows || cap->strata.count != d->stratum_count || !d->by || !cap->strata.outsider) return TAMIS_OK;
    tamis_number **lent = tmi_alloc(d->stratum_count, sizeof *lent); /* in the order of the plan */
    if (!lent) return tmi_fail_memory(err);
    bool named = true;
    for (size_t h = 0; named && h < d->stratum_count; h++) {
        const tamis_number *found = tmi_by_stratum_find(&cap->strata, d->strata[h].name);
        named = found != NULL;
        lent[h] = (tamis_number *)(uintptr_t)found;
        if (found && (!most || tmi_number_compare(found, most) > 0)) most = found;
    }
    tamis_status status = TAMIS_OK;
    if (named && tmi_number_compare(cap->eps, most) == 0)
        status = tmi_target_follows(follows, plan, lent, cap->strata.outsider, cap->strata.insider, err);
    tmi_free(lent);
    return status;
}

/* What a schedule spends in each stratum. */
static tamis_status put_losses(tmi_by_stratum *list, const tmi_schedule *s, tamis_error *err)
{
    const size_t strata = s->plan->design.stratum_count;
    tamis_number **losses = NULL;
    tamis_status status;
    *list = (tmi_by_stratum){0};
    if (!s->plan->privacy.loss.by_stratum) return TAMIS_OK;
    TMI_TRY(tmi_losses_by_stratum(&losses, s->measurements, s->measurement_count, &s->workload, err));
    status = put_strata(list, s->plan, losses, NULL, err);

done:
    for (size_t h = 0; losses && h < strata; h++) tamis_number_free(losses[h]);
    tmi_free(losses);
    return status;
}

tamis_status tmi_schedule_coin(tmi_ledger_coin *coin, const tmi_schedule *s, tamis_error *err)
{
    const tamis_coin said = {s->gaussian ? NULL : s->spent, NULL, s->gaussian ? s->spent : NULL};
    tamis_number *mu_squared = NULL;
    tamis_status status = tmi_coin_make(coin, &said, "amount", err);
    if (status == TAMIS_OK && s->gaussian == TMI_ROUNDED_NORMAL) status = tmi_schedule_mu_squared(&mu_squared, s, err);
    if (status == TAMIS_OK) status = tmi_coin_set_mu(coin, mu_squared, "amount", err);
    tamis_number_free(mu_squared);
    if (status == TAMIS_OK) status = put_losses(&coin->strata, s, err);
    if (status != TAMIS_OK) tmi_coin_clear(coin);
    return status;
}

/* What an epsilon counts as, where an account counts in something else. */
static tamis_status set_counts(tmi_ledger_coin *amount, const tmi_schedule *s, tamis_error *err)
{
    tamis_status status = tmi_schedule_rho(&amount->rho, s, err);
    return status == TAMIS_OK ? tmi_schedule_mu_squared(&amount->mu_squared, s, err) : status;
}

/* ---- charging ---- */

void tmi_plan_bill_clear(tmi_plan_bill *b)
{
    tmi_free(b->measures);
    tmi_value_free(b->frozen);
    tmi_value_free(b->source);
    tmi_number_frees(&b->as_rho, &b->mu_squared, NULL);
    tmi_by_stratum_clear(&b->amount);
    tmi_by_stratum_clear(&b->budget);
    *b = (tmi_plan_bill){0};
}

tamis_status tmi_plan_bill_make(tmi_plan_bill *b, const tmi_schedule *s, const tmi_payment *p, tamis_error *err)
{
    const tamis_plan *plan = s->plan;
    tamis_status status;
    *b = (tmi_plan_bill){0};
    TMI_TRY(tmi_release_identity(&b->measures, s, err));
    TMI_TRY(tmi_plan_frozen_json(&b->frozen, plan, tmi_frame_of(s), err));
    TMI_TRY(tmi_source_parts(&b->source, &plan->source, p->ledger, err));
    b->wave = tmi_wave_of(plan);
    const tmi_plan_loss *budget = tmi_has_budget(plan) ? &plan->budget : &plan->privacy.loss;
    TMI_TRY(put_losses(&b->amount, s, err));
    TMI_TRY(put_strata(&b->budget, plan, budget->by_stratum, budget, err));
    b->facts = (tmi_charge_facts){b->frozen, b->source, &b->wave, &b->amount, &b->budget};
    b->bill = (tmi_bill){.ledger = p->ledger,
                         .ledger_exists = plan->ledger_exists,
                         .charge = {.survey = plan->survey,
                                    .release = tmi_last_name(plan->name),
                                    .budget = budget_of(plan),
                                    .measures = b->measures,
                                    .again = p->again,
                                    .new_account = p->new_account,
                                    .leftover = ""},
                         .facts = &b->facts,
                         .opening_budget = !tmi_has_budget(plan)};
    if (!s->gaussian) TMI_TRY(tmi_schedule_rho(&b->as_rho, s, err));
    if (s->gaussian != TMI_DISCRETE_GAUSSIAN) TMI_TRY(tmi_schedule_mu_squared(&b->mu_squared, s, err));
    b->bill.charge.mu_squared = b->mu_squared;
    b->bill.charge.amount = (tamis_coin){s->gaussian ? NULL : s->spent, NULL, s->gaussian ? s->spent : b->as_rho};

done:
    return status;
}

tmi_wave tmi_wave_of(const tamis_plan *plan)
{
    const tmi_plan_wave *w = &plan->wave;
    return (tmi_wave){w->name, w->groups, w->group_count, w->same_sample};
}

/* Why several waves have no outsider number; NULL: they may have one. The plan's wave is one of them. */
static const char *apart(const tmi_standing *standing, const tamis_plan *plan)
{
    const tmi_wave own = tmi_wave_of(plan);
    const char *reason = tmi_waves_apart(standing->waves, sizeof own, standing->wave_count);
    bool known = standing->wave_count == 0;
    for (size_t i = 0; i < standing->wave_count && !known; i++) known = tmi_wave_named(&standing->waves[i], own.name);
    if (reason || known) return reason;
    const tmi_wave both[] = {standing->waves[standing->wave_count - 1], own};
    return tmi_waves_apart(both, sizeof own, 2);
}

/* The losses of each stratum, in the order of the plan; NULL where all strata have lost the same. Lent, but for the list. */
static tamis_status by_stratum(tamis_number ***list, const tamis_plan *plan, const tmi_losses *losses, const tmi_ledger_coin *cap,
                               tamis_error *err)
{
    const size_t count = plan->design.stratum_count;
    *list = NULL;
    if (cap->strata.count == 0) return TAMIS_OK;
    if (!(*list = tmi_alloc(count, sizeof **list))) return tmi_fail_memory(err);
    for (size_t h = 0; h < count; h++) {
        for (size_t i = 0; i < losses->count && !(*list)[h]; i++)
            if (strcmp(losses->groups[i].name, plan->design.strata[h].name) == 0) (*list)[h] = losses->groups[i].sums.eps;
        if (!(*list)[h]) return tmi_fail(err, TAMIS_INVALID, "account: its strata are not those of the plan");
    }
    return TAMIS_OK;
}

tamis_status tmi_account_promise(tmi_promised *promised, const tmi_schedule *s, const tmi_standing *standing,
                                 const tmi_losses *losses, const tmi_ledger_coin *cap, tamis_error *err)
{
    tamis_number *eps = NULL, *delta = NULL, **strata = NULL;
    tmi_loss_parts parts = {0};
    tamis_status status;
    TMI_TRY(tmi_losses_sample(&eps, &delta, losses, cap, s->gaussian ? s->delta : NULL, err));
    TMI_TRY(tmi_losses_parts(&parts, losses, err));
    TMI_TRY(by_stratum(&strata, s->plan, losses, cap, err));
    TMI_TRY(tmi_promised_make(promised, s->plan, tmi_frame_of(s), eps, delta, &parts, strata, apart(standing, s->plan), err));

done:
    tmi_loss_parts_clear(&parts);
    tmi_free(strata);
    tmi_number_frees(&eps, &delta, NULL);
    return status;
}

/* Of a schedule alone. */
static tamis_status parts_of(tmi_loss_parts *parts, const tmi_schedule *s, tamis_error *err)
{
    tamis_status status;
    *parts = (tmi_loss_parts){0};
    if (!s->gaussian) return TAMIS_OK;
    TMI_TRY(tmi_number_ratio(&parts->pure, 0, 1, err));
    TMI_TRY(s->gaussian == TMI_ROUNDED_NORMAL ? tmi_schedule_mu_squared(&parts->mu_squared, s, err)
                                              : tmi_number_copy(&parts->rho, s->spent, err));

done:
    return status;
}

tamis_status tmi_promise_alone(tmi_promised *promised, const tmi_schedule *s, tamis_error *err)
{
    tmi_by_stratum losses = {0};
    tmi_loss_parts parts = {0};
    tamis_status status = put_losses(&losses, s, err);
    if (status == TAMIS_OK) status = parts_of(&parts, s, err);
    if (status == TAMIS_OK)
        status = tmi_promised_make(promised, s->plan, tmi_frame_of(s), s->epsilon, s->delta, &parts, losses.epsilons, NULL, err);
    tmi_loss_parts_clear(&parts);
    tmi_by_stratum_clear(&losses);
    return status;
}

tamis_status tmi_account_check(const tmi_schedule *s, tamis_error *err)
{
    tmi_plan_bill b;
    tamis_status status = tmi_plan_bill_make(&b, s, &(tmi_payment){.ledger = s->plan->ledger}, err);
    if (status == TAMIS_OK) status = tmi_charge_check(&b.bill.charge, &b.facts, err);
    tmi_plan_bill_clear(&b);
    return status;
}

/* What the rotation groups of the plan's wave have left; nothing if it names none. */
static tamis_status look_at_own(tamis_spending *left, const tamis_plan *plan, const tmi_losses *losses,
                                const tmi_ledger_coin *budget, tamis_error *err)
{
    tmi_losses own;
    tamis_spending spent;
    if (plan->wave.group_count == 0) return TAMIS_OK;
    tamis_status status = tmi_losses_of(&own, losses, plan->wave.groups, plan->wave.group_count, err);
    if (status != TAMIS_OK) return status;
    status = tmi_losses_spending(&spent, left, &own, budget, err);
    tmi_losses_clear(&own);
    return status;
}

tamis_status tmi_account_foresee(tmi_account *a, tmi_promised *promised, const tmi_schedule *s, tamis_error *err)
{
    const tmi_wave wave = tmi_wave_of(s->plan);
    tmi_ledger_coin budget = {0}, amount = {0};
    tmi_losses then = {0};
    tamis_spending spent;
    tamis_status status;
    if (s->measurement_count == 0) return tmi_promise_alone(promised, s, err);
    if (a->has_spending) TMI_TRY(tmi_coin_copy(&budget, &a->standing.cap, err));
    else TMI_TRY(tmi_plan_budget_coin(&budget, s->plan, err));
    TMI_TRY(tmi_schedule_coin(&amount, s, err));
    if (!s->gaussian) TMI_TRY(set_counts(&amount, s, err));
    if (a->has_spending) TMI_TRY(tmi_losses_copy(&then, &a->standing.after, err));
    else TMI_TRY(tmi_losses_begin(&then, &budget, err));
    TMI_TRY(look_at_own(&a->own_left, s->plan, &then, &budget, err));
    const bool repeated = a->charged.measurements || a->charged.unpublished; /* counted already */
    if (!repeated) TMI_TRY(tmi_losses_charge(&then, &budget, &amount, wave.groups, wave.group_count, err));
    TMI_TRY(tmi_losses_spending(&spent, &a->then_left, &then, &budget, err));
    TMI_TRY(look_at_own(&a->own_then_left, s->plan, &then, &budget, err));
    TMI_TRY(tmi_account_promise(promised, s, &a->standing, &then, &budget, err));
    a->has_then = a->has_spending || tmi_has_budget(s->plan);

done:
    tmi_coin_clear(&budget);
    tmi_coin_clear(&amount);
    tmi_losses_clear(&then);
    return status;
}

/* Where the plan states its budget. */
static const char *budget_key(const tamis_plan *plan)
{
    return plan->budget.outsider ? "budget.outsider" : plan->budget.rho ? "budget.rho" : "budget.epsilon";
}

tamis_status tmi_account_admits(const tmi_account *a, const tmi_schedule *s, tamis_error *err)
{
    const tamis_plan *plan = s->plan;
    const tmi_wave wave = tmi_wave_of(plan);
    tmi_ledger_coin budget = {0}, amount = {0};
    tmi_losses none = {0}, then = {0};
    tmi_text words;
    tamis_status status = TAMIS_OK;
    bool fits;
    if (a->has_spending || s->measurement_count == 0 || !tmi_has_budget(plan)) return TAMIS_OK;
    tmi_text_init(&words);
    TMI_TRY(tmi_plan_budget_coin(&budget, plan, err));
    TMI_TRY(tmi_schedule_coin(&amount, s, err));
    tmi_coin_words(&words, &amount, true);
    if (words.failed) TMI_TRY(tmi_fail_memory(err));
    if (!s->gaussian) TMI_TRY(set_counts(&amount, s, err));
    TMI_TRY(tmi_losses_begin(&none, &budget, err));
    TMI_TRY(tmi_losses_add(&then, &none, &budget, &amount, wave.groups, wave.group_count, err));
    TMI_TRY(tmi_losses_fit(&fits, &then, &budget, err));
    if (fits) goto done;
    tmi_text_put(&words, " would exceed the budget of ");
    tmi_coin_words(&words, &budget, false);
    if (words.failed) TMI_TRY(tmi_fail_memory(err));
    status = tmi_fail(err, TAMIS_REFUSED,
                      "%s:%d:%d: %s: %s; nothing was spent. Lower what `privacy` spends, or raise the budget: it is what all "
                      "releases of this survey together may ever spend",
                      plan->name, plan->budget.line, plan->budget.column, budget_key(plan), words.bytes);
    tmi_error_key(err, strlen(budget_key(plan)));
    tmi_because(err, "budget", status);

done:
    tmi_text_clear(&words);
    tmi_coin_clear(&budget);
    tmi_coin_clear(&amount);
    tmi_losses_clear(&none);
    tmi_losses_clear(&then);
    return status;
}

/* ---- what was kept ---- */

/* The kept values of the measurement; NULL if there are none. Two of them may have the same name. */
static tamis_status find_kept(const tmi_value **values, const tmi_value *list, const tmi_schedule *s, const tmi_measurement *m,
                              tamis_error *err)
{
    tmi_json_tree tree;
    tmi_value *asked;
    *values = NULL;
    tmi_json_tree_begin(&tree, NULL);
    tmi_put_measurement(&tree.out, s, m);
    tmi_json_close(&tree.out, '}');
    tamis_status status = tmi_json_tree_end(&asked, &tree, err);
    if (status != TAMIS_OK) return status;
    for (size_t i = 0; list && !*values && i < tmi_value_size(list); i++) {
        const tmi_value *kept = tmi_value_at(list, i);
        if (!tmi_value_difference(kept, asked, "values")) *values = tmi_value_get(kept, "values");
    }
    tmi_value_free(asked);
    return TAMIS_OK;
}

static const char damaged[] = "ledger: the numbers kept for this release do not match the plan; --again makes new ones";

static tamis_status recall_quantile_tasks(int64_t *const *answers, const tmi_value *list, const tmi_schedule *s, tamis_error *err)
{
    size_t *places = tmi_alloc(s->quantile_task_count, sizeof *places);
    tamis_status status = TAMIS_OK;
    if (!places) return tmi_fail_memory(err);
    TMI_TRY(tmi_find_quantile_tasks(places, list, s, err));
    for (size_t i = 0; i < s->quantile_task_count; i++)
        if (places[i] == SIZE_MAX || !tmi_take_points(answers[i], s, &s->quantile_tasks[i], tmi_value_at(list, places[i])))
            TMI_TRY(tmi_fail(err, TAMIS_INVALID, "%s", damaged));

done:
    tmi_free(places);
    return status;
}

tamis_status tmi_recall(tmi_int128 *const *noisy, int64_t *const *answers, const char *kept, tmi_schedule *s, tamis_error *err)
{
    tmi_value *json = NULL;
    bool right;
    tamis_status status;
    TMI_TRY(tmi_json_read_watched(&json, kept, strlen(kept), s->watch, err));
    TMI_TRY(tmi_take_bounds(&right, s, tmi_value_get(json, "bounds"), err));
    if (!right) TMI_TRY(tmi_fail(err, TAMIS_INVALID, "%s", damaged));
    const tmi_value *list = tmi_value_get(json, "measurements");
    for (size_t i = 0; i < s->measurement_count; i++) {
        const tmi_measurement *m = &s->measurements[i];
        const tmi_value *values;
        TMI_TRY(tmi_watch_beat(s->watch, err));
        TMI_TRY(find_kept(&values, list, s, m, err));
        if (!values || tmi_value_size(values) != m->numbers) TMI_TRY(tmi_fail(err, TAMIS_INVALID, "%s", damaged));
        for (size_t k = 0; k < m->numbers; k++) {
            const tmi_value *value = tmi_value_at(values, k);
            if (!value || tmi_value_kind_of(value) != TMI_VALUE_INTEGER) TMI_TRY(tmi_fail(err, TAMIS_INVALID, "%s", damaged));
            noisy[i][k] = tmi_value_integer(value);
        }
    }
    TMI_TRY(recall_quantile_tasks(answers, tmi_value_get(json, "choices"), s, err));

done:
    tmi_value_free(json);
    return status;
}
