#include "release/standing.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "ledger/book.h"
#include "num/number.h"
#include "release/account.h"
#include "report/promise.h"

/* ---- writing ---- */

static void put_sums(tmi_json_out *out, const char *key, const tmi_sums *sums)
{
    tmi_json_add_open(out, key, '{');
    tmi_add_exact(out, "epsilon", sums->eps);
    tmi_add_exact(out, "delta", sums->delta);
    tmi_add_exact(out, "rho", sums->rho);
    if (sums->mu_squared) tmi_add_exact(out, "mu_squared", sums->mu_squared);
    tmi_json_close(out, '}');
}

static void put_coin(tmi_json_out *out, const char *key, const tmi_ledger_coin *coin)
{
    tmi_json_key(out, key);
    if (tmi_coin_put(out, coin, NULL) != TAMIS_OK) out->text->failed = true;
}

static void put_raise(tmi_json_out *out, const tmi_raise *raise)
{
    tmi_json_open(out, '{');
    tmi_json_add_integer(out, "entry", raise->number);
    tmi_json_add_string(out, "time", raise->time);
    put_coin(out, "from", &raise->from);
    put_coin(out, "to", &raise->to);
    tmi_json_add_string(out, "reason", raise->reason);
    tmi_json_close(out, '}');
}

void tmi_put_standing(tmi_json_out *out, const tmi_standing *s)
{
    tmi_text words;
    put_sums(out, "before", &s->before.base);
    put_sums(out, "after", &s->after.base);
    if (s->after.count > 0) {
        tmi_json_add_open(out, "groups", '[');
        for (size_t i = 0; i < s->after.count; i++) {
            tmi_json_open(out, '{');
            tmi_json_add_string(out, "group", s->after.groups[i].name);
            put_sums(out, "before", &s->before.groups[i].sums);
            put_sums(out, "after", &s->after.groups[i].sums);
            tmi_json_close(out, '}');
        }
        tmi_json_close(out, ']');
    }
    if (s->as_rho) tmi_add_exact(out, "counted_as_rho", s->as_rho);
    if (s->as_mu) tmi_add_exact(out, "counted_as_mu_squared", s->as_mu);
    put_coin(out, "cap", &s->cap);
    if (s->raise_count > 0) {
        tmi_json_add_open(out, "raised", '[');
        for (size_t i = 0; i < s->raise_count; i++) put_raise(out, &s->raises[i]);
        tmi_json_close(out, ']');
    }
    if (s->wave_count > 1 || s->waves[0].name) {
        tmi_json_add_open(out, "waves", '[');
        for (size_t i = 0; i < s->wave_count; i++) tmi_wave_put(out, &s->waves[i]);
        tmi_json_close(out, ']');
    }
    tmi_text_init(&words);
    tmi_cap_words(&words, s);
    tmi_json_add_taken(out, "statement", &words);
}

/* A name in JSON, and four fractions of an amount, with their keys and the indentation. */
#define NAME_BYTES (6 * (size_t)TAMIS_LEDGER_NAME + 64)
#define COIN_BYTES (4 * (2 * (size_t)TAMIS_NUMBER_DIGITS + 64))

size_t tmi_standing_bytes(const tmi_standing *s, const tamis_plan *plan)
{
    const size_t strata = plan->budget.by_stratum && s->after.count == 0 ? plan->design.stratum_count : 0;
    size_t groups = s->after.count + plan->wave.group_count + strata, names = 2 * groups;
    for (size_t i = 0; i < s->wave_count; i++) names += 1 + s->waves[i].group_count;
    if (plan->wave.name) names += 1 + plan->wave.group_count;
    return names * NAME_BYTES + groups * 3 * COIN_BYTES + s->raise_count * (NAME_BYTES + 2 * COIN_BYTES + 128);
}

/* ---- reading ---- */

tamis_status tmi_exact_field(tamis_number **number, const tmi_value *object, const char *key, tamis_error *err)
{
    *number = NULL;
    if (!tmi_value_field(object, key, TMI_VALUE_TEXT)) return TAMIS_OK;
    return tamis_number_read(number, tmi_value_field_text(object, key), NULL) == TAMIS_SYSTEM ? tmi_fail_memory(err) : TAMIS_OK;
}

static tamis_status read_sums(tmi_sums *sums, bool *whole, const tmi_value *object, bool in_rho, tamis_error *err)
{
    tamis_status status;
    TMI_TRY(tmi_exact_field(&sums->eps, object, "epsilon", err));
    TMI_TRY(tmi_exact_field(&sums->delta, object, "delta", err));
    TMI_TRY(tmi_exact_field(&sums->rho, object, "rho", err));
    TMI_TRY(tmi_exact_field(&sums->mu_squared, object, "mu_squared", err));
    sums->concentrated = in_rho || sums->mu_squared || (sums->rho && tmi_number_sign(sums->rho) > 0);
    *whole = *whole && (!sums->mu_squared ||
                        (!in_rho && tmi_number_sign(sums->mu_squared) >= 0 && sums->rho && tmi_number_sign(sums->rho) == 0));
    *whole = *whole && sums->eps && sums->delta && sums->rho && tmi_number_sign(sums->eps) >= 0 &&
             tmi_number_sign(sums->delta) >= 0 && tmi_number_sign(sums->rho) >= 0;

done:
    return status;
}

static tamis_status read_coin(tmi_ledger_coin *coin, bool *whole, const tmi_value *value, tamis_error *err)
{
    tamis_status status = tmi_coin_read(coin, value, "budget", NULL);
    if (status == TAMIS_SYSTEM) return tmi_fail_memory(err);
    *whole = *whole && status == TAMIS_OK;
    return TAMIS_OK;
}

static tamis_status copy_name(char **name, bool *whole, const tmi_value *object, const char *key, tamis_error *err)
{
    const char *text = tmi_value_field_text(object, key);
    *whole = *whole && *text;
    return tmi_copy_string(name, text, err);
}

static tamis_status read_groups(tmi_standing *s, bool *whole, const tmi_value *list, bool in_rho, tamis_error *err)
{
    const size_t count = list ? tmi_value_size(list) : 0;
    tamis_status status = TAMIS_OK;
    s->before.groups = tmi_alloc(count, sizeof *s->before.groups);
    s->after.groups = tmi_alloc(count, sizeof *s->after.groups);
    if (!s->before.groups || !s->after.groups) TMI_TRY(tmi_fail_memory(err));
    s->before.count = s->after.count = count;
    for (size_t i = 0; i < count; i++) {
        const tmi_value *group = tmi_value_at(list, i);
        TMI_TRY(copy_name(&s->before.groups[i].name, whole, group, "group", err));
        TMI_TRY(copy_name(&s->after.groups[i].name, whole, group, "group", err));
        TMI_TRY(read_sums(&s->before.groups[i].sums, whole, tmi_value_field(group, "before", TMI_VALUE_MAP), in_rho, err));
        TMI_TRY(read_sums(&s->after.groups[i].sums, whole, tmi_value_field(group, "after", TMI_VALUE_MAP), in_rho, err));
    }

done:
    return status;
}

static tamis_status read_raises(tmi_standing *s, bool *whole, const tmi_value *list, tamis_error *err)
{
    const size_t count = list ? tmi_value_size(list) : 0;
    tamis_status status = TAMIS_OK;
    s->raises = tmi_alloc(count, sizeof *s->raises);
    if (!s->raises) TMI_TRY(tmi_fail_memory(err));
    s->raise_count = count;
    for (size_t i = 0; i < count; i++) {
        const tmi_value *raise = tmi_value_at(list, i);
        s->raises[i].number = tmi_value_whole(raise, "entry");
        snprintf(s->raises[i].time, sizeof s->raises[i].time, "%s", tmi_value_field_text(raise, "time"));
        TMI_TRY(copy_name(&s->raises[i].reason, whole, raise, "reason", err));
        TMI_TRY(read_coin(&s->raises[i].from, whole, tmi_value_field(raise, "from", TMI_VALUE_MAP), err));
        TMI_TRY(read_coin(&s->raises[i].to, whole, tmi_value_field(raise, "to", TMI_VALUE_MAP), err));
    }

done:
    return status;
}

static tamis_status read_waves(tmi_standing *s, bool *whole, const tmi_value *list, tamis_error *err)
{
    const size_t count = list ? tmi_value_size(list) : 1; /* releases that name no wave */
    tamis_status status = TAMIS_OK;
    s->waves = tmi_alloc(count, sizeof *s->waves);
    if (!s->waves) TMI_TRY(tmi_fail_memory(err));
    s->wave_count = count;
    *whole = *whole && count > 0;
    for (size_t i = 0; list && i < count; i++) {
        const tmi_value *wave = tmi_value_at(list, i);
        status = tmi_wave_read(&s->waves[i], tmi_value_kind_of(wave) == TMI_VALUE_NULL ? NULL : wave, NULL);
        if (status == TAMIS_SYSTEM) TMI_TRY(tmi_fail_memory(err));
        *whole = *whole && status == TAMIS_OK;
        status = TAMIS_OK;
    }

done:
    return status;
}

tamis_status tmi_standing_read(tmi_standing *s, bool *whole, const tmi_value *account, tamis_error *err)
{
    tamis_status status;
    *s = (tmi_standing){0};
    *whole = account != NULL;
    TMI_TRY(read_coin(&s->cap, whole, tmi_value_field(account, "cap", TMI_VALUE_MAP), err));
    const bool in_rho = s->cap.rho != NULL;
    TMI_TRY(read_sums(&s->before.base, whole, tmi_value_field(account, "before", TMI_VALUE_MAP), in_rho, err));
    TMI_TRY(read_sums(&s->after.base, whole, tmi_value_field(account, "after", TMI_VALUE_MAP), in_rho, err));
    TMI_TRY(read_groups(s, whole, tmi_value_field(account, "groups", TMI_VALUE_LIST), in_rho, err));
    TMI_TRY(tmi_exact_field(&s->as_rho, account, "counted_as_rho", err));
    TMI_TRY(tmi_exact_field(&s->as_mu, account, "counted_as_mu_squared", err));
    *whole = *whole && (!s->as_rho || tmi_number_sign(s->as_rho) >= 0) && (!s->as_mu || tmi_number_sign(s->as_mu) >= 0);
    TMI_TRY(read_raises(s, whole, tmi_value_field(account, "raised", TMI_VALUE_LIST), err));
    TMI_TRY(read_waves(s, whole, tmi_value_field(account, "waves", TMI_VALUE_LIST), err));

done:
    return status;
}

/* ---- what follows ---- */

static bool covers(const tmi_sums *x, const tmi_sums *y)
{
    return tmi_number_compare(x->eps, y->eps) >= 0 && tmi_number_compare(x->delta, y->delta) >= 0 &&
           tmi_number_compare(x->rho, y->rho) >= 0 &&
           (!y->mu_squared || (x->mu_squared && tmi_number_compare(x->mu_squared, y->mu_squared) >= 0));
}

/* Later charges may have named groups too: they come after the others. */
static bool all_covered(const tmi_losses *x, const tmi_losses *y)
{
    bool right = covers(&x->base, &y->base) && x->count >= y->count;
    for (size_t i = 0; right && i < y->count; i++)
        right = strcmp(x->groups[i].name, y->groups[i].name) == 0 && covers(&x->groups[i].sums, &y->groups[i].sums);
    return right;
}

/* Whether `after` has what was charged before and this release, and perhaps more. An epsilon may have been charged when the
 * account counted in rho, and the rhos before it be voided since. */
static tamis_status check_later(bool *right, const tmi_standing *s, const tmi_losses *sum, const tmi_ledger_coin *amount,
                                tamis_error *err)
{
    tmi_sums in_rho = {0};
    const tmi_sums *b = &s->before.base;
    *right = all_covered(&s->after, sum);
    const bool in_mu = s->after.base.mu_squared && tmi_number_sign(s->after.base.mu_squared) > 0;
    if (*right || s->after.count > 0 || (tmi_number_sign(s->after.base.rho) == 0 && !in_mu)) return TAMIS_OK;
    tamis_number *none = NULL;
    tamis_status status = tmi_number_ratio(&none, 0, 1, err);
    if (status != TAMIS_OK) return status;
    const tmi_sums before = {.eps = b->eps,
                             .delta = b->delta,
                             .rho = b->rho,
                             .mu_squared = !in_mu          ? NULL
                                           : b->mu_squared ? b->mu_squared
                                                           : none,
                             .concentrated = true};
    status = tmi_sums_add(&in_rho, &before, &s->cap, amount, err);
    if (status == TAMIS_OK) *right = covers(&s->after.base, &in_rho);
    if (status == TAMIS_REFUSED) status = TAMIS_OK; /* it cannot have been charged so */
    tmi_sums_clear(&in_rho);
    tamis_number_free(none);
    return status;
}

static void check_raises(const tmi_standing *s, int64_t entry, bool repeated, tmi_checking *check)
{
    int64_t last = 1;
    for (size_t i = 0; i < s->raise_count; i++) {
        const tmi_raise *r = &s->raises[i];
        const bool linked = i + 1 < s->raise_count ? tmi_coin_equal(&r->to, &s->raises[i + 1].from)
                                                   : tmi_coin_equal(&r->to, &s->cap);
        if (tmi_check_raise(&r->from, &r->to, NULL) != TAMIS_OK || !linked)
            tmi_check_note(check, "account.raised", "does not lead from each budget to the next, and to the cap");
        if (!tmi_is_time(r->time) || r->number <= last || (!repeated && r->number >= entry))
            tmi_check_note(check, "account.raised", "is not a list of entries before this one");
        last = r->number;
    }
}

static bool has_group(const tmi_wave *wave, const char *name)
{
    for (size_t i = 0; i < wave->group_count; i++)
        if (strcmp(wave->groups[i], name) == 0) return true;
    return false;
}

/* The plan's wave is one of them, each has a name of its own, and every group is in one. That none is left out only the ledger
 * knows. */
static void check_waves(const tmi_standing *s, const tmi_wave *own, tmi_checking *check)
{
    bool found = false, twice = false;
    for (size_t i = 0; i < s->wave_count; i++) {
        found = found || tmi_wave_equal(&s->waves[i], own);
        for (size_t j = 0; j < i; j++) twice = twice || tmi_wave_named(&s->waves[i], s->waves[j].name);
    }
    if (!found) tmi_check_note(check, "account.waves", "the wave of the plan is not among them");
    if (twice) tmi_check_note(check, "account.waves", "a wave is named twice");
    for (size_t i = 0; i < s->after.count && s->cap.strata.count == 0; i++) {
        bool in = false;
        for (size_t j = 0; j < s->wave_count && !in; j++) in = has_group(&s->waves[j], s->after.groups[i].name);
        if (!in) tmi_check_note(check, "account.groups", "a group is in none of the waves");
    }
}

/* Caps of strata follow from their target, as the caps of the plan do from its own. */
static bool is_within(const tmi_ledger_coin *budget, const tmi_ledger_coin *cap)
{
    const tmi_by_stratum *own = &budget->strata, *all = &cap->strata;
    if (!own->outsider || !all->outsider) return tmi_coin_within(budget, cap);
    return tmi_number_compare(own->outsider, all->outsider) <= 0 && tmi_number_compare(own->insider, all->insider) <= 0;
}

static tamis_status check_budgets(const tmi_standing *s, const tamis_plan *plan, bool repeated, tmi_checking *check,
                                  tamis_error *err)
{
    tmi_ledger_coin budget = {0};
    bool fit;
    tamis_status status;
    TMI_TRY(tmi_plan_budget_coin(&budget, plan, err));
    TMI_TRY(tmi_cap_follows(&fit, plan, &s->cap, err));
    if (!fit) tmi_check_note(check, "account.cap", "is not what follows from its target for outsiders");
    if (!is_within(&budget, &s->cap)) tmi_check_note(check, "plan.budget", "is above the cap of the account");
    TMI_TRY(tmi_losses_fit(&fit, &s->after, &s->cap, err));
    if (!repeated && fit && !tmi_coin_equal(&budget, &s->cap)) TMI_TRY(tmi_losses_fit(&fit, &s->after, &budget, err));
    if (!fit) tmi_check_note(check, "account.after", "exceeds the budget");

done:
    tmi_coin_clear(&budget);
    return status;
}

tamis_status tmi_standing_check(const tmi_standing *s, const tamis_plan *plan, const tmi_ledger_coin *amount, int64_t entry,
                                bool repeated, tmi_checking *check, tamis_error *err)
{
    const tmi_wave own = tmi_wave_of(plan);
    tmi_losses sum = {0};
    tamis_error reason = {0};
    bool right = true;
    tamis_status status = tmi_losses_add(&sum, &s->before, &s->cap, amount, own.groups, own.group_count, &reason);
    if (status == TAMIS_SYSTEM) TMI_TRY(tmi_fail_memory(err));
    if (status != TAMIS_OK) tmi_check_note(check, "account", "this release cannot be charged to it");
    else if (!repeated && !tmi_losses_equal(&sum, &s->after))
        tmi_check_note(check, "account.after", "is not the sum of earlier charges and this release");
    else if (repeated) TMI_TRY(check_later(&right, s, &sum, amount, err));
    if (!right) tmi_check_note(check, "account.after", "is less than the sum of earlier charges and this release");
    if (s->cap.rho && (tmi_number_sign(s->before.base.eps) != 0 || tmi_number_sign(s->before.base.delta) != 0))
        tmi_check_note(check, "account.before", "an account of rho adds up rhos only");
    check_raises(s, entry, repeated, check);
    check_waves(s, &own, check);
    /* a wave is opened together with its first charge */
    if (!repeated && entry < 2 * (int64_t)s->wave_count + (int64_t)s->raise_count)
        tmi_check_note(check, "account.waves",
                       "there are more waves and raises than the entries before this one can have opened");
    TMI_TRY(check_budgets(s, plan, repeated, check, err));

done:
    tmi_losses_clear(&sum);
    return status;
}
