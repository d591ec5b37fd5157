/* What charges count as, now that some of them may be voided.
 *
 * A voided charge has published nothing, so it adds nothing. That may be decided after seeing other answers: at every
 * moment the charges that were published and those that still may be add up to at most the budget, which is all that the
 * filters of sums.c ask for. One amount cannot be given back: what an account of (epsilon, delta) has charged before its
 * first rho, while that rho or a later charge counts. E - e and D - d are then the cap of a filter, which must not be
 * raised while it runs. Once everything that was counted in rho is voided, nothing has run under that cap, and the account
 * adds up epsilons and deltas again.
 *
 * How an epsilon counts, as itself or as a rho, is settled when it is charged. */
#include "ledger/book.h"

bool tmi_charge_is_open(const tmi_ledger_charge *charge)
{
    return !charge->released && !charge->voided;
}

tamis_status tmi_count_charge(tmi_sums *sums, const tmi_coin *budget, const tmi_ledger_charge *charge, int64_t at, tamis_error *err)
{
    tmi_sums more;
    if (charge->voided > 0 && charge->voided <= at) return TAMIS_OK;
    if (charge->as_rho) sums->concentrated = true; /* the rho that began it may be voided since */
    tamis_status status = tmi_sums_add(&more, sums, budget, &charge->amount, err);
    if (status != TAMIS_OK) return status;
    tmi_sums_clear(sums);
    *sums = more;
    return TAMIS_OK;
}

tamis_status tmi_count_account(tmi_sums *sums, const tmi_book *book, size_t account, tamis_error *err)
{
    const tmi_coin *budget = &book->accounts[account].budget;
    tamis_status status;
    TMI_TRY(tmi_sums_begin(sums, budget, err));
    for (size_t i = 0; i < book->charge_count; i++)
        if (book->charges[i].account == account) TMI_TRY(tmi_count_charge(sums, budget, &book->charges[i], INT64_MAX, err));
done:
    if (status != TAMIS_OK) tmi_sums_clear(sums);
    return status;
}

tamis_status tmi_check_returnable(const tmi_book *book, const tmi_ledger_charge *charge, tamis_error *err)
{
    if (charge->as_rho || !book->accounts[charge->account].sums.concentrated) return TAMIS_OK;
    return tmi_fail(err, TAMIS_REFUSED, "entry %lld was charged before the account's first release with rho, for which it has fixed how much rho "
                    "there may be: it cannot be voided any more. The same plan can still claim it", (long long)charge->number);
}
