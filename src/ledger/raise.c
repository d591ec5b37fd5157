/* Raising the budget of an account: a decision of people, on record.
 *
 * What a raise does to the promise is argued in docs/ledger.md. Pure epsilons bound the loss along every course of answers by
 * what was spent on it, whatever the cap; filters with delta or rho have a cap that is fixed before the first answer, so that
 * after a raise they promise what the highest cap would have promised from the beginning. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "ledger/ledger.h"
#include "num/number.h"

tamis_status tmi_check_raise(const tmi_ledger_coin *from, const tmi_ledger_coin *to, tamis_error *err)
{
    const char *kind = from->rho ? "rho" : tmi_number_sign(from->delta) > 0 ? "epsilon and delta" : "epsilon without a delta";
    const bool same = !from->rho == !to->rho &&
                      (from->rho || (tmi_number_sign(from->delta) > 0) == (tmi_number_sign(to->delta) > 0));
    if (from->strata.count > 0)
        return tmi_fail(err, TAMIS_INVALID,
                        "the budget is a target for outsiders, and cannot be raised: the caps of all strata follow from it");
    if (!same) return tmi_fail(err, TAMIS_INVALID, "the budget is in %s, and the new one must be too", kind);
    if (!tmi_coin_within(from, to) || tmi_coin_equal(from, to))
        return tmi_fail(err, TAMIS_INVALID, "the new budget is not above the old one%s",
                        from->rho || tmi_number_sign(from->delta) == 0 ? "" : ", or one of its two numbers is lower");
    return TAMIS_OK;
}

tamis_status tmi_account_raised(tmi_ledger_account *a, int64_t number, const char *time, const tmi_value *budget,
                                const char *reason, tamis_error *err)
{
    tmi_raise raise = {.number = number, .reason = tmi_copy_text(reason, strlen(reason))};
    tmi_ledger_coin cap = {0};
    bool fit;
    tamis_status status;
    if (!raise.reason) TMI_TRY(tmi_fail_memory(err));
    snprintf(raise.time, sizeof raise.time, "%s", time);
    TMI_TRY(tmi_coin_read(&raise.to, budget, "budget", err));
    TMI_TRY(tmi_check_raise(&a->budget, &raise.to, err));
    TMI_TRY(tmi_losses_fit(&fit, &a->losses, &a->budget, err));
    if (!fit) TMI_TRY(tmi_fail(err, TAMIS_INVALID, "the charges before it exceed the budget at the time"));
    TMI_TRY(tmi_coin_copy(&cap, &raise.to, err));
    tmi_raise *raises = tmi_realloc(a->raises, a->raise_count + 1, sizeof *raises);
    if (!raises) TMI_TRY(tmi_fail_memory(err));
    a->raises = raises;
    raise.from = a->budget;
    a->budget = cap;
    a->raises[a->raise_count++] = raise;
    return TAMIS_OK;
done:
    tmi_raise_clear(&raise);
    tmi_coin_clear(&cap);
    return status;
}

/* REFUSED, with what the account has, if the budget cannot become `to`. */
static tamis_status may_raise(const tmi_ledger_account *a, const tmi_ledger_coin *to, tamis_error *err)
{
    tamis_error reason = {0};
    tmi_text has;
    tamis_status status = tmi_check_raise(&a->budget, to, &reason);
    if (status == TAMIS_OK) return TAMIS_OK;
    tmi_text_init(&has);
    tmi_coin_words(&has, &a->budget, false);
    if (has.failed) status = tmi_fail_memory(err);
    else
        status = tmi_fail(err, TAMIS_REFUSED,
                          "%.200s: %.300s; it has %s. Nothing was changed: a budget is never lowered, but a plan's own `budget` "
                          "may be lower",
                          a->survey, reason.message, has.bytes);
    tmi_text_clear(&has);
    return status;
}

tamis_status tamis_ledger_raise(tamis_ledger *ledger, const char *survey, const tamis_coin *budget, const char *reason,
                                tamis_error *err)
{
    tmi_ledger_coin to = {0};
    tmi_entry_head head;
    char time[TAMIS_LEDGER_TIME], *entry = NULL;
    tamis_status status;
    if (tmi_ledger_check_writing(ledger, err) != TAMIS_OK) return TAMIS_INVALID;
    if (!budget) return tmi_fail(err, TAMIS_INVALID, "budget: NULL");
    TMI_TRY(tmi_check_name(survey, "survey", err));
    TMI_TRY(tmi_check_name(reason, "reason", err));
    TMI_TRY(tmi_coin_make(&to, budget, "budget", err));
    TMI_TRY(tmi_coin_reads_back(&to, "budget", err));
    TMI_TRY(tmi_ledger_begin(ledger, true, err));
    const tmi_ledger_account *a = tmi_book_account(&ledger->book, survey);
    if (!a)
        TMI_TRY(tmi_fail(err, TAMIS_REFUSED,
                         "%.200s: the ledger has no such account; its first release opens it, with the budget of its plan",
                         survey));
    TMI_TRY(may_raise(a, &to, err));
    TMI_TRY(tmi_ledger_next(&head, time, ledger, err));
    TMI_TRY(tmi_entry_raised(&entry, &head, survey, &to, reason, err));
    TMI_TRY(tmi_store_need_format(ledger->file, 2, err));
    TMI_TRY(tmi_ledger_add(ledger, &head, entry, err));
    TMI_TRY(tmi_store_commit(ledger->file, err));
    TMI_TRY(tmi_store_catch_up(ledger->file, &ledger->book, NULL, err));
done:
    if (ledger->file) tmi_store_cancel(ledger->file);
    tmi_coin_clear(&to);
    tmi_free(entry);
    return status;
}
