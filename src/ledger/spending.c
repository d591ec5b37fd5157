/* What an account has spent and has left, and what that is for a sampled unit. */
#include <math.h>

#include "base/memory.h"
#include "composition/profile.h"
#include "ledger/ledger.h"
#include "num/number.h"

/* INVALID if there is no such account. */
static tamis_status find(const tmi_ledger_account **a, const tamis_ledger *ledger, size_t account, tamis_error *err)
{
    if (!ledger) return tmi_fail(err, TAMIS_INVALID, "ledger: NULL");
    if (account >= ledger->book.account_count)
        return tmi_fail(err, TAMIS_INVALID, "account: number %zu, but the ledger has only %zu", account,
                        ledger->book.account_count);
    *a = &ledger->book.accounts[account];
    return TAMIS_OK;
}

tamis_status tamis_ledger_spending(tamis_spending *budget, tamis_spending *spent, tamis_spending *left,
                                   const tamis_ledger *ledger, size_t account, tamis_error *err)
{
    const tamis_spending unknown = {.epsilon = {0, INFINITY}, .delta = {0, 1}, .rho = {0, INFINITY}, .mu_squared = {0, INFINITY}};
    const tmi_ledger_account *a = NULL;
    tamis_spending b = unknown, s = unknown, l = unknown;
    tamis_status status = find(&a, ledger, account, err);
    if (status == TAMIS_OK) status = tmi_losses_spending(&s, &l, &a->losses, &a->budget, err);
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
    TMI_TRY(tmi_losses_sample(eps, delta, &a->losses, &a->budget, at, err));
done:
    if (status != TAMIS_OK) {
        tmi_number_frees(&*eps, &*delta, NULL);
        *eps = *delta = NULL;
    }
    return status;
}

/* Whether a group of an account has been charged, so that it has a sum of its own. */
static tamis_status name_groups(tmi_losses *losses, const tmi_losses *of, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    for (size_t i = 0; i < of->count; i++) TMI_TRY(tmi_losses_name(losses, of->groups[i].name, err));
done:
    return status;
}

static tamis_status copy_terms(tmi_standing *s, const tmi_ledger_account *a, tamis_error *err)
{
    tamis_status status;
    s->raises = tmi_alloc(a->raise_count, sizeof *s->raises);
    s->waves = tmi_alloc(a->wave_count, sizeof *s->waves);
    if (!s->raises || !s->waves) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(tmi_coin_copy(&s->cap, &a->budget, err));
    for (size_t i = 0; i < a->raise_count; i++, s->raise_count++) TMI_TRY(tmi_raise_copy(&s->raises[i], &a->raises[i], err));
    for (size_t i = 0; i < a->wave_count; i++, s->wave_count++) TMI_TRY(tmi_wave_copy(&s->waves[i], &a->waves[i].wave, err));
done:
    return status;
}

tamis_status tmi_ledger_standing(tmi_standing *s, const tamis_ledger *ledger, const char *survey, int64_t entry, tamis_error *err)
{
    const tmi_ledger_account *a = tmi_book_account(&ledger->book, survey);
    tamis_status status = TAMIS_OK;
    *s = (tmi_standing){0};
    if (!a) return tmi_fail(err, TAMIS_INVALID, "survey: it has no account in the ledger");
    TMI_TRY(copy_terms(s, a, err));
    TMI_TRY(tmi_losses_begin(&s->before, &a->budget, err));
    for (size_t i = 0; i < ledger->book.charge_count; i++) {
        const tmi_ledger_charge *c = &ledger->book.charges[i];
        if (&ledger->book.accounts[c->account] != a) continue;
        if (c->number < entry) TMI_TRY(tmi_count_charge(&s->before, a, c, INT64_MAX, err));
        if (c->number == entry && c->amount.eps && c->amount.rho) TMI_TRY(tmi_number_copy(&s->as_rho, c->amount.rho, err));
        if (c->number == entry && c->amount.eps && c->amount.mu_squared)
            TMI_TRY(tmi_number_copy(&s->as_mu, c->amount.mu_squared, err));
    }
    TMI_TRY(name_groups(&s->before, &a->losses, err));
    TMI_TRY(tmi_losses_copy(&s->after, &a->losses, err));
done:
    if (status != TAMIS_OK) tmi_standing_clear(s);
    return status;
}
