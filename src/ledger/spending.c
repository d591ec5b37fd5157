/* What an account has spent and has left, and what that is for a sampled person. */
#include <math.h>

#include "ledger/ledger.h"
#include "privacy/profile.h"

/* INVALID if there is no such account. */
static tamis_status find(const tmi_ledger_account **a, const tamis_ledger *ledger, size_t account, tamis_error *err)
{
    if (!ledger) return tmi_fail(err, TAMIS_INVALID, "ledger: NULL");
    if (account >= ledger->book.account_count)
        return tmi_fail(err, TAMIS_INVALID, "account: %zu, and the ledger has %zu", account, ledger->book.account_count);
    *a = &ledger->book.accounts[account];
    return TAMIS_OK;
}

tamis_status tamis_ledger_spending(tamis_spending *budget, tamis_spending *spent, tamis_spending *left, const tamis_ledger *ledger,
                                   size_t account, tamis_error *err)
{
    const tamis_spending unknown = {.epsilon = {0, INFINITY}, .delta = {0, 1}, .rho = {0, INFINITY}};
    const tmi_ledger_account *a = NULL;
    tamis_spending b = unknown, s = unknown, l = unknown;
    tamis_status status = find(&a, ledger, account, err);
    if (status == TAMIS_OK) status = tmi_sums_spending(&s, &l, &a->sums, &a->budget, err);
    if (status == TAMIS_OK) status = tmi_coin_spending(&b, &a->budget, false, err);
    if (status != TAMIS_OK) b = s = l = unknown;
    if (budget) *budget = b;
    if (spent) *spent = s;
    if (left) *left = l;
    return status;
}

tamis_status tamis_ledger_sample(tamis_number **eps, tamis_number **delta, const tamis_ledger *ledger, size_t account,
                                 const tamis_number *at, tamis_error *err)
{
    const tmi_ledger_account *a = NULL;
    tamis_status status = TAMIS_OK;
    if (!eps || !delta) return tmi_fail(err, TAMIS_INVALID, "%s: NULL", eps ? "delta" : "eps");
    *eps = *delta = NULL;
    TMI_TRY(find(&a, ledger, account, err));
    if (at) TMI_TRY(tmi_check_delta(at, err));
    TMI_TRY(tmi_sums_sample(eps, delta, &a->sums, &a->budget, at, err));
done:
    if (status != TAMIS_OK) {
        tamis_number_free(*eps);
        tamis_number_free(*delta);
        *eps = *delta = NULL;
    }
    return status;
}

tamis_status tmi_ledger_cap(tmi_coin *cap, const tamis_ledger *ledger, const char *survey, tamis_error *err)
{
    const tmi_ledger_account *a = tmi_book_account(&ledger->book, survey);
    *cap = (tmi_coin){0};
    if (!a) return tmi_fail(err, TAMIS_INVALID, "survey: it has no account in the ledger");
    return tmi_coin_make(cap, &(tamis_coin){a->budget.eps, a->budget.delta, a->budget.rho}, "budget", err);
}

tamis_status tmi_ledger_sums(tmi_sums *before, tmi_sums *now, const tamis_ledger *ledger, const char *survey, int64_t entry,
                             tamis_error *err)
{
    const tmi_ledger_account *a = tmi_book_account(&ledger->book, survey);
    tamis_status status = TAMIS_OK;
    *before = *now = (tmi_sums){0};
    if (!a) return tmi_fail(err, TAMIS_INVALID, "survey: it has no account in the ledger");
    TMI_TRY(tmi_sums_begin(before, &a->budget, err));
    TMI_TRY(tmi_sums_begin(now, &a->budget, err));
    for (size_t i = 0; i < ledger->book.charge_count; i++) {
        const tmi_ledger_charge *c = &ledger->book.charges[i];
        if (&ledger->book.accounts[c->account] != a) continue;
        if (c->number < entry) TMI_TRY(tmi_count_charge(before, &a->budget, c, INT64_MAX, err));
        TMI_TRY(tmi_count_charge(now, &a->budget, c, INT64_MAX, err));
    }
done:
    if (status != TAMIS_OK) {
        tmi_sums_clear(before);
        tmi_sums_clear(now);
    }
    return status;
}
