#include "publish/account.h"

#include <unistd.h>

#include "base/memory.h"

void tmi_account_clear(tmi_account *a)
{
    tamis_charged_clear(&a->charged);
    tamis_ledger_free(a->ledger);
    tmi_free(a->unpublished);
    tmi_standing_clear(&a->standing);
    *a = (tmi_account){0};
}

/* REFUSED if there is declared to be a ledger and there is none, or one in which nothing was ever charged. */
static tamis_status check_existing(const tmi_account *a, const tmi_bill *b, tamis_error *err)
{
    const bool there = a->ledger ? tamis_ledger_accounts(a->ledger) > 0 : access(b->ledger, F_OK) == 0;
    if (there || !b->ledger_exists) return TAMIS_OK;
    tmi_fail_file(err, TAMIS_REFUSED, b->ledger, 0,
                  "%s, and the plan says `existing: yes`, so none is created; nothing was read, nothing was spent. Put "
                  "the survey's ledger back, or, if this is its very first release, write `existing: no`",
                  a->ledger ? "the ledger has no account yet" : "the ledger does not exist");
    return tmi_because(err, "no_ledger", TAMIS_REFUSED);
}

static tamis_status look_at_spending(tmi_account *a, const tmi_bill *b, tamis_error *err)
{
    const int64_t number = tamis_ledger_find(a->ledger, b->charge.survey);
    if (number < 0) return TAMIS_OK;
    a->has_spending = true;
    tmi_standing_clear(&a->standing);
    tamis_status status = tmi_ledger_standing(&a->standing, a->ledger, b->charge.survey, a->charged.entry, err);
    if (status != TAMIS_OK) return status;
    return tamis_ledger_spending(NULL, &a->spent, &a->left, a->ledger, (size_t)number, err);
}

/* All but the charge at hand. */
static tamis_status look_for_unpublished(tmi_account *a, const tmi_bill *b, tamis_error *err)
{
    const int64_t number = tamis_ledger_find(a->ledger, b->charge.survey);
    tmi_text text;
    if (number < 0) return TAMIS_OK;
    tmi_text_init(&text);
    tmi_text_put(&text, "");
    tmi_ledger_unpublished(&text, a->ledger, (size_t)number, a->charged.unpublished ? a->charged.unpublished : a->charged.entry);
    return tmi_text_take(&a->unpublished, &text, err);
}

static tamis_status ask(tmi_account *a, const tmi_bill *b, bool writing, tamis_error *err)
{
    tamis_charge charge = b->charge;
    if (b->opening_budget && tamis_ledger_find(a->ledger, charge.survey) >= 0) charge.budget = (tamis_coin){0};
    return tmi_ledger_charge_facts(&a->charged, a->ledger, &charge, b->facts, writing, err);
}

tamis_status tmi_account_look(tmi_account *a, const tmi_bill *b, tamis_error *err)
{
    tamis_status status;
    *a = (tmi_account){0};
    TMI_TRY(check_existing(a, b, err));
    if (access(b->ledger, F_OK) != 0) return TAMIS_OK;
    a->kept = true;
    TMI_TRY(tamis_ledger_look(&a->ledger, b->ledger, err));
    TMI_TRY(check_existing(a, b, err));
    TMI_TRY(look_at_spending(a, b, err));
    TMI_TRY(ask(a, b, false, err));
    TMI_TRY(look_for_unpublished(a, b, err));

done:
    if (status == TAMIS_REFUSED) tamis_charged_clear(&a->charged);
    else if (status != TAMIS_OK) tmi_account_clear(a);
    return status;
}

tamis_status tmi_account_charge(tmi_account *a, const tmi_bill *b, tamis_error *err)
{
    tamis_status status;
    *a = (tmi_account){.kept = true};
    TMI_TRY(check_existing(a, b, err));
    TMI_TRY(tamis_ledger_open(&a->ledger, b->ledger, err));
    TMI_TRY(check_existing(a, b, err));
    TMI_TRY(ask(a, b, true, err));
    if (a->charged.unfinished) tmi_ledger_resume(a->ledger, &a->charged, b->charge.leftover);
    TMI_TRY(look_at_spending(a, b, err));
    TMI_TRY(look_for_unpublished(a, b, err));

done:
    if (status != TAMIS_OK && a->charged.entry == 0) tmi_account_clear(a);
    return status;
}
