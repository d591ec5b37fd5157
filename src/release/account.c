#include "release/account.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/value/json.h"
#include "ledger/coin.h"
#include "ledger/ledger.h"
#include "plan/json.h"
#include "plan/json_fields.h"
#include "release/choices/kept.h"
#include "release/identity.h"
#include "release/source_parts.h"
#include "report/promise.h"

void tmi_account_clear(tmi_account *a)
{
    tamis_charged_clear(&a->charged);
    tamis_ledger_free(a->ledger);
    tmi_free(a->unpublished);
    tmi_standing_clear(&a->standing);
    *a = (tmi_account){0};
}

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

/* ---- charging ---- */

typedef struct bill {
    char *measures;
    tmi_value *frozen, *source;
    tmi_wave wave; /* lent */
    tamis_charge charge;
    tmi_charge_facts facts;
} bill;

static void bill_clear(bill *b)
{
    tmi_free(b->measures);
    tmi_value_free(b->frozen);
    tmi_value_free(b->source);
}

/* The caller clears it, also after a failure. */
static tamis_status bill_make(bill *b, const tmi_schedule *s, const tmi_payment *p, tamis_error *err)
{
    const tamis_plan *plan = s->plan;
    tamis_status status;
    *b = (bill){0};
    TMI_TRY(tmi_release_identity(&b->measures, s, err));
    TMI_TRY(tmi_plan_frozen_json(&b->frozen, plan, tmi_frame_of(s), err));
    TMI_TRY(tmi_source_parts(&b->source, &plan->source, p->ledger, err));
    b->wave = tmi_wave_of(plan);
    b->facts = (tmi_charge_facts){b->frozen, b->source, &b->wave};
    b->charge = (tamis_charge){.survey = plan->survey,
                               .release = tmi_last_name(plan->name),
                               .budget = budget_of(plan),
                               .measures = b->measures,
                               .again = p->again,
                               .new_account = p->new_account,
                               .leftover = p->leftover};
    if (s->gaussian) b->charge.amount.rho = s->spent;
    else b->charge.amount.epsilon = s->spent;

done:
    return status;
}

/* All but the charge at hand. */
static tamis_status look_for_unpublished(tmi_account *a, const tmi_schedule *s, tamis_error *err)
{
    const int64_t number = tamis_ledger_find(a->ledger, s->plan->survey);
    tmi_text text;
    if (number < 0) return TAMIS_OK;
    tmi_text_init(&text);
    tmi_text_put(&text, "");
    tmi_ledger_unpublished(&text, a->ledger, (size_t)number, a->charged.unpublished ? a->charged.unpublished : a->charged.entry);
    return tmi_text_take(&a->unpublished, &text, err);
}

static tamis_status look_at_spending(tmi_account *a, const tmi_schedule *s, tamis_error *err)
{
    int64_t number = tamis_ledger_find(a->ledger, s->plan->survey);
    if (number < 0) return TAMIS_OK;
    a->has_spending = true;
    tmi_standing_clear(&a->standing);
    tamis_status status = tmi_ledger_standing(&a->standing, a->ledger, s->plan->survey, a->charged.entry, err);
    if (status != TAMIS_OK) return status;
    return tamis_ledger_spending(NULL, &a->spent, &a->left, a->ledger, (size_t)number, err);
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

tamis_status tmi_account_promise(tmi_promised *promised, const tmi_schedule *s, const tmi_standing *standing,
                                 const tmi_losses *losses, const tmi_ledger_coin *cap, tamis_error *err)
{
    tamis_number *eps = NULL, *delta = NULL;
    tamis_status status;
    TMI_TRY(tmi_losses_sample(&eps, &delta, losses, cap, s->gaussian ? s->delta : NULL, err));
    TMI_TRY(tmi_promised_make(promised, s->plan, tmi_frame_of(s), eps, delta, apart(standing, s->plan), err));

done:
    tamis_number_free(eps);
    tamis_number_free(delta);
    return status;
}

tamis_status tmi_promise_alone(tmi_promised *promised, const tmi_schedule *s, tamis_error *err)
{
    return tmi_promised_make(promised, s->plan, tmi_frame_of(s), s->epsilon, s->delta, NULL, err);
}

tamis_status tmi_account_check(const tmi_schedule *s, tamis_error *err)
{
    bill b = {0};
    tamis_status status = bill_make(&b, s, &(tmi_payment){.ledger = s->plan->ledger}, err);
    if (status == TAMIS_OK) status = tmi_charge_check(&b.charge, &b.facts, err);
    bill_clear(&b);
    return status;
}

/* REFUSED if the plan says that there is a ledger and there is none, or one in which nothing was ever charged. */
static tamis_status check_existing(const tmi_account *a, const tmi_schedule *s, const char *path, tamis_error *err)
{
    const bool there = a->ledger ? tamis_ledger_accounts(a->ledger) > 0 : access(path, F_OK) == 0;
    if (there || !s->plan->ledger_exists) return TAMIS_OK;
    return tmi_fail_file(err, TAMIS_REFUSED, path, 0,
                         "%s, and the plan says `existing: yes`, so none is created; nothing was read, nothing was spent. Put "
                         "the survey's ledger back, or, if this is its very first release, write `existing: no`",
                         a->ledger ? "the ledger has no account yet" : "the ledger does not exist");
}

tamis_status tmi_account_charge(tmi_account *a, tmi_promised *promised, const tmi_schedule *s, const tmi_payment *p,
                                tamis_error *err)
{
    bill b = {0};
    tamis_status status;
    *a = (tmi_account){.kept = true};
    TMI_TRY(check_existing(a, s, p->ledger, err));
    TMI_TRY(bill_make(&b, s, p, err));
    TMI_TRY(tamis_ledger_open(&a->ledger, p->ledger, err));
    TMI_TRY(check_existing(a, s, p->ledger, err));
    TMI_TRY(tmi_ledger_charge_facts(&a->charged, a->ledger, &b.charge, &b.facts, true, err));
    TMI_TRY(look_at_spending(a, s, err));
    TMI_TRY(look_for_unpublished(a, s, err));
    TMI_TRY(tmi_account_promise(promised, s, &a->standing, &a->standing.after, &a->standing.cap, err));

done:
    bill_clear(&b);
    if (status != TAMIS_OK && a->charged.entry == 0) tmi_account_clear(a);
    return status;
}

tamis_status tmi_account_look(tmi_account *a, const tmi_schedule *s, const tmi_payment *p, tamis_error *err)
{
    bill b = {0};
    tamis_status status = TAMIS_OK;
    *a = (tmi_account){0};
    if (s->measurement_count == 0) return TAMIS_OK;
    TMI_TRY(check_existing(a, s, p->ledger, err));
    if (access(p->ledger, F_OK) != 0) return TAMIS_OK;
    a->kept = true;
    TMI_TRY(bill_make(&b, s, p, err));
    TMI_TRY(tamis_ledger_look(&a->ledger, p->ledger, err));
    TMI_TRY(check_existing(a, s, p->ledger, err));
    TMI_TRY(look_at_spending(a, s, err));
    if (a->has_spending && !tmi_has_budget(s->plan)) b.charge.budget = (tamis_coin){0};
    TMI_TRY(tmi_ledger_charge_facts(&a->charged, a->ledger, &b.charge, &b.facts, false, err));
    TMI_TRY(look_for_unpublished(a, s, err));

done:
    bill_clear(&b);
    if (status == TAMIS_REFUSED) tamis_charged_clear(&a->charged);
    else if (status != TAMIS_OK) tmi_account_clear(a);
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
    const tamis_coin amount_said = {s->gaussian ? NULL : s->spent, NULL, s->gaussian ? s->spent : NULL},
                     budget_said = budget_of(s->plan);
    const tmi_wave wave = tmi_wave_of(s->plan);
    tmi_ledger_coin budget = {0}, amount = {0};
    tmi_losses then = {0};
    tamis_spending spent;
    tamis_status status;
    if (s->measurement_count == 0) return tmi_promise_alone(promised, s, err);
    if (a->has_spending) TMI_TRY(tmi_coin_copy(&budget, &a->standing.cap, err));
    else TMI_TRY(tmi_coin_make(&budget, &budget_said, "budget", err));
    TMI_TRY(tmi_coin_make(&amount, &amount_said, "amount", err));
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

static tamis_status recall_choices(int64_t *const *chosen, const tmi_value *list, const tmi_schedule *s, tamis_error *err)
{
    size_t *places = tmi_alloc(s->choice_count, sizeof *places);
    tamis_status status = TAMIS_OK;
    if (!places) return tmi_fail_memory(err);
    TMI_TRY(tmi_find_choices(places, list, s, err));
    for (size_t i = 0; i < s->choice_count; i++)
        if (places[i] == SIZE_MAX || !tmi_take_points(chosen[i], s, &s->choices[i], tmi_value_at(list, places[i])))
            TMI_TRY(tmi_fail(err, TAMIS_INVALID, "%s", damaged));

done:
    tmi_free(places);
    return status;
}

tamis_status tmi_account_recall(tmi_int128 *const *noisy, int64_t *const *chosen, const tmi_account *a, const tmi_schedule *s,
                                tamis_error *err)
{
    tmi_value *json = NULL;
    tamis_status status;
    TMI_TRY(tmi_json_read_watched(&json, a->charged.measurements, strlen(a->charged.measurements), s->watch, err));
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
    TMI_TRY(recall_choices(chosen, tmi_value_get(json, "choices"), s, err));

done:
    tmi_value_free(json);
    return status;
}
