/* What a certificate says of an account, compared with the book. */
#include <string.h>

#include "ledger/against.h"
#include "num/number.h"

static bool equal_numbers(const tamis_number *x, const tamis_number *y)
{
    return x && y ? tmi_number_compare(x, y) == 0 : !x && !y;
}

tamis_status tmi_coin_says(bool *same, const tmi_ledger_coin *coin, const tmi_value *says, tamis_error *err)
{
    static const char *const keys[] = {"epsilon", "delta", "rho", "mu_squared"};
    const tamis_number *const known[] = {coin->eps, coin->delta, coin->rho, coin->mu_squared};
    tamis_status status = TAMIS_OK;
    *same = says != NULL;
    for (size_t i = 0; *same && i < sizeof known / sizeof *known; i++) {
        tamis_number *number = NULL;
        if (tmi_value_field(says, keys[i], TMI_VALUE_TEXT))
            status = tamis_number_read(&number, tmi_value_field_text(says, keys[i]), NULL);
        if (status == TAMIS_SYSTEM) return tmi_fail_memory(err);
        const bool nothing = !number && (!known[i] || tmi_number_sign(known[i]) == 0); /* a delta of 0 need not be written */
        const bool zero = number && !known[i] && tmi_number_sign(number) == 0;
        *same = status == TAMIS_OK && (nothing || zero || equal_numbers(number, known[i]));
        tamis_number_free(number);
        status = TAMIS_OK;
    }
    if (!*same || (coin->strata.count == 0 && !tmi_value_get(says, "strata"))) return TAMIS_OK;
    tmi_by_stratum strata;
    status = coin->eps ? tmi_by_stratum_read(&strata, says, coin->eps, NULL) : TAMIS_INVALID;
    if (status == TAMIS_SYSTEM) return tmi_fail_memory(err);
    *same = status == TAMIS_OK && tmi_by_stratum_equal(&strata, &coin->strata);
    if (status == TAMIS_OK) tmi_by_stratum_clear(&strata);
    return TAMIS_OK;
}

static tamis_status sums_say(bool *same, const tmi_sums *sums, const tmi_value *says, tamis_error *err)
{
    const tmi_ledger_coin coin = {.eps = sums->eps, .delta = sums->delta, .rho = sums->rho, .mu_squared = sums->mu_squared};
    return tmi_coin_says(same, &coin, says, err);
}

tamis_status tmi_losses_says(bool *same, const tmi_losses *losses, const tmi_value *account, const char *when, tamis_error *err)
{
    const tmi_value *groups = tmi_value_field(account, "groups", TMI_VALUE_LIST);
    const size_t count = groups ? tmi_value_size(groups) : 0;
    tamis_status status;
    TMI_TRY(sums_say(same, &losses->base, tmi_value_field(account, when, TMI_VALUE_MAP), err));
    *same = *same && count >= losses->count;
    for (size_t i = 0; *same && i < count; i++) { /* a group that is not charged yet has what everybody has */
        const tmi_value *group = tmi_value_at(groups, i);
        const bool known = i < losses->count;
        *same = !known || strcmp(tmi_value_field_text(group, "group"), losses->groups[i].name) == 0;
        if (*same)
            TMI_TRY(sums_say(same, known ? &losses->groups[i].sums : &losses->base, tmi_value_field(group, when, TMI_VALUE_MAP),
                             err));
    }
    if (*same && strcmp(when, "after") == 0) *same = count == losses->count;

done:
    return status;
}

static tamis_status raise_says(bool *same, const tmi_raise *raise, const tmi_value *says, tamis_error *err)
{
    const tmi_value *entry = tmi_value_field(says, "entry", TMI_VALUE_INTEGER);
    tamis_status status = TAMIS_OK;
    *same = entry && tmi_value_integer(entry) == raise->number && strcmp(tmi_value_field_text(says, "time"), raise->time) == 0 &&
            strcmp(tmi_value_field_text(says, "reason"), raise->reason) == 0;
    if (*same) TMI_TRY(tmi_coin_says(same, &raise->from, tmi_value_field(says, "from", TMI_VALUE_MAP), err));
    if (*same) TMI_TRY(tmi_coin_says(same, &raise->to, tmi_value_field(says, "to", TMI_VALUE_MAP), err));

done:
    return status;
}

bool tmi_clock_says(const tmi_value *entry, const tmi_value *ledger)
{
    const bool later = tmi_value_true(ledger, "repeated") || tmi_value_field(ledger, "claim", TMI_VALUE_INTEGER);
    return tmi_value_true(ledger, "clock_behind") == (tmi_value_true(entry, "clock_behind") && !later);
}

tmi_span tmi_span_of(const tmi_ledger_charge *charge, const tmi_value *ledger)
{
    const int64_t own = charge->claim ? charge->claim : charge->number;
    if (!tmi_value_true(ledger, "repeated")) return (tmi_span){own, own + 1};
    return (tmi_span){charge->released ? charge->released : own, INT64_MAX};
}

/* Leaves the moments from the entry `begin` to just before the entry `end`; false if there are none. */
static bool narrow(tmi_span *when, int64_t begin, int64_t end)
{
    if (begin > when->from) when->from = begin;
    if (end < when->to) when->to = end;
    return when->from < when->to;
}

/* The same of a plan's target for outsiders, from which the caps of strata follow. */
static tamis_status target_is_within(bool *within, const tmi_value *budget, const tmi_by_stratum *cap, tamis_error *err)
{
    static const char *const keys[] = {"outsider", "insider"};
    const tamis_number *const most[] = {cap->outsider, cap->insider};
    *within = !tmi_value_extra_key(budget, keys, 2);
    for (size_t i = 0; *within && i < 2; i++) {
        tamis_number *number = NULL;
        if (tamis_number_read(&number, tmi_value_field_text(budget, keys[i]), NULL) == TAMIS_SYSTEM) return tmi_fail_memory(err);
        *within = number && most[i] && tmi_number_compare(number, most[i]) <= 0;
        tamis_number_free(number);
    }
    return TAMIS_OK;
}

static tamis_status is_within(bool *within, const tmi_value *budget, const tmi_ledger_coin *cap, tamis_error *err)
{
    tmi_ledger_coin coin;
    if (cap->strata.count > 0) return target_is_within(within, budget, &cap->strata, err);
    const tamis_status status = tmi_coin_read(&coin, budget, "budget", NULL);
    *within = status == TAMIS_OK && tmi_coin_within(&coin, cap);
    tmi_coin_clear(&coin);
    return status == TAMIS_SYSTEM ? tmi_fail_memory(err) : TAMIS_OK;
}

static tamis_status raises_say(const char **wrong, bool *same, tmi_span *when, const tmi_ledger_terms *t,
                               const tmi_value *account, tamis_error *err)
{
    const tmi_ledger_account *a = &t->book->accounts[t->charge->account];
    const tmi_value *list = tmi_value_field(account, "raised", TMI_VALUE_LIST);
    const size_t said = list ? tmi_value_size(list) : 0;
    bool within;
    tamis_status status = TAMIS_OK;
    *same = said <= a->raise_count &&
            narrow(when, said > 0 ? a->raises[said - 1].number : 0, said < a->raise_count ? a->raises[said].number : INT64_MAX);
    for (size_t i = 0; i < said && *same; i++) TMI_TRY(raise_says(same, &a->raises[i], tmi_value_at(list, i), err));
    if (!*same) goto done;
    const tmi_ledger_coin *cap = said < a->raise_count ? &a->raises[said].from : &a->budget;
    const tmi_value *says = tmi_value_field(account, "cap", TMI_VALUE_MAP);
    if (!says) {
        TMI_TRY(tmi_coin_says(same, cap, t->budget, err));
        if (!*same) *wrong = "plan.budget";
        goto done;
    }
    TMI_TRY(tmi_coin_says(same, cap, says, err));
    TMI_TRY(is_within(&within, t->budget, cap, err));
    if (*same && !within) *wrong = "plan.budget";

done:
    return status;
}

/* A wave and its first charge are committed together: nobody has seen the moment between them. */
static tamis_status waves_say(bool *same, tmi_span *when, const tmi_ledger_terms *t, const tmi_value *account, tamis_error *err)
{
    const tmi_ledger_account *a = &t->book->accounts[t->charge->account];
    const tmi_value *list = tmi_value_field(account, "waves", TMI_VALUE_LIST);
    const size_t said = list ? tmi_value_size(list) : 1; /* releases without waves list none */
    *same = said > 0 && said <= a->wave_count && (list || !a->waves[0].wave.name) &&
            narrow(when, a->waves[said - 1].number + 1, said < a->wave_count ? a->waves[said].number : INT64_MAX);
    for (size_t i = 0; list && i < said && *same; i++) {
        const tmi_value *says = tmi_value_at(list, i);
        tmi_wave wave;
        tamis_error reason = {0};
        tamis_status status = tmi_wave_read(&wave, tmi_value_kind_of(says) == TMI_VALUE_NULL ? NULL : says, &reason);
        if (status == TAMIS_SYSTEM) return tmi_fail_memory(err);
        *same = status == TAMIS_OK && tmi_wave_equal(&wave, &a->waves[i].wave);
        tmi_wave_clear(&wave);
    }
    return TAMIS_OK;
}

tamis_status tmi_ledger_terms_differ(const char **field_wrong, tmi_span *when, const tmi_ledger_terms *t,
                                     const tmi_value *account, tamis_error *err)
{
    const int64_t first = tmi_book_first_from(t->book, t->charge);
    const bool created = tmi_value_true(t->ledger, "created");
    bool same;
    tamis_status status = TAMIS_OK;
    *field_wrong = NULL;
    if (!narrow(when, created ? first : 0, created ? INT64_MAX : first)) {
        *field_wrong = "ledger.created";
        return status;
    }
    TMI_TRY(raises_say(field_wrong, &same, when, t, account, err));
    if (!same && !*field_wrong) *field_wrong = "account.cap";
    if (*field_wrong) goto done;
    TMI_TRY(waves_say(&same, when, t, account, err));
    if (!same) *field_wrong = "account.waves";

done:
    return status;
}
