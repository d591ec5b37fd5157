/* A publication and the account that it is charged to: what the ledger says before, and the charge itself. */
#ifndef TMI_PUBLISH_ACCOUNT_H
#define TMI_PUBLISH_ACCOUNT_H

#include "ledger/account.h"
#include "ledger/ledger.h"

/* What is charged, to which account of which ledger. Lent. */
typedef struct tmi_bill {
    const char *ledger; /* path */
    bool ledger_exists; /* declared: no ledger is created */
    tamis_charge charge;
    const tmi_charge_facts *facts; /* NULL: the charge has them as texts */
    bool opening_budget;           /* its budget is for an account that it opens: one that exists keeps its own */
} tmi_bill;

/* What is there before a publication: nothing if the ledger does not exist.
 *
 * Errors   REFUSED if the charge would be, and then the account is there, as far as it exists; others as
 *          tamis_ledger_charge, and then it is empty.                                                                  */
tamis_status tmi_account_look(tmi_account *account, const tmi_bill *bill, tamis_error *err);

/* Opens the ledger and charges. What was kept of the same publication is given back instead, and gone on with if its process
 * ended before it was published.
 *
 * Errors   as tamis_ledger_charge; empty then, unless the charge is in the ledger already: charged.entry says so.       */
tamis_status tmi_account_charge(tmi_account *account, const tmi_bill *bill, tamis_error *err);

void tmi_account_clear(tmi_account *account);

#endif
