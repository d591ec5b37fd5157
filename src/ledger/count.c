/* What charges count as, given that some of them may be voided.
 *
 * A voided charge has published nothing, so it adds nothing. That may be decided after seeing other answers: at every
 * moment the charges that were published and those that still may be add up to at most the budget, which is all that the
 * filters of sums.c ask for. One amount cannot be given back: what an account of (epsilon, delta) has charged before its
 * first rho, or mu^2, while that one or a later charge counts. E - e and D - d are then the cap of a filter, which must not be
 * raised while it runs. Once everything that was counted in it is voided, nothing has run under that cap, and the account
 * adds up epsilons and deltas again.
 *
 * How an epsilon counts, as itself or as a rho, is settled when it is charged. Rotation groups may each have settled it
 * otherwise, so that an account of (epsilon, delta) with groups gives nothing back once one of its sums counts in rho or mu^2. */
#include "ledger/book.h"
#include "num/number.h"

bool tmi_charge_is_open(const tmi_ledger_charge *charge) { return !charge->released && !charge->voided; }

tamis_status tmi_count_charge(tmi_losses *losses, const tmi_ledger_account *account, const tmi_ledger_charge *charge, int64_t at,
                              tamis_error *err)
{
    const tmi_wave *wave = &account->waves[charge->wave].wave;
    if (charge->voided > 0 && charge->voided <= at) return TAMIS_OK;
    if (charge->as_rho) losses->base.concentrated = true; /* the rho that began it may be voided since */
    if (charge->as_mu && !losses->base.mu_squared) {
        const tamis_status status = tmi_number_ratio(&losses->base.mu_squared, 0, 1, err);
        if (status != TAMIS_OK) return status;
    }
    return tmi_losses_charge(losses, &account->budget, &charge->amount, wave->groups, wave->group_count, err);
}

tamis_status tmi_count_account(tmi_losses *losses, const tmi_book *book, size_t account, tamis_error *err)
{
    const tmi_ledger_account *a = &book->accounts[account];
    tamis_status status;
    TMI_TRY(tmi_losses_begin(losses, &a->budget, err));
    for (size_t i = 0; i < book->charge_count; i++)
        if (book->charges[i].account == account) TMI_TRY(tmi_count_charge(losses, a, &book->charges[i], INT64_MAX, err));
done:
    if (status != TAMIS_OK) tmi_losses_clear(losses);
    return status;
}

tamis_status tmi_check_returnable(const tmi_book *book, const tmi_ledger_charge *charge, tamis_error *err)
{
    const tmi_ledger_account *a = &book->accounts[charge->account];
    if (a->budget.rho || !tmi_losses_concentrated(&a->losses) || (a->losses.count == 0 && charge->as_rho)) return TAMIS_OK;
    if (a->losses.count > 0)
        return tmi_fail(err, TAMIS_REFUSED,
                        "entry %lld cannot be voided: the account is in epsilon and delta and has rotation groups, one of which "
                        "counts in rho or mu^2. Running the same plan again can still take it over",
                        (long long)charge->number);
    const bool in_mu = tmi_losses_in_mu(&a->losses);
    return tmi_fail(err, TAMIS_REFUSED,
                    "entry %lld was charged before the account's first release with %s, and that release fixed how much %s may "
                    "be spent: the entry can no longer be voided. Running the same plan again can still take it over",
                    (long long)charge->number, in_mu ? "normal noise" : "rho", in_mu ? "mu^2" : "rho");
}
