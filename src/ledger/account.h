/* What a ledger says about the account of a release. release/ fills it in, report/ writes it. */
#ifndef TMI_LEDGER_ACCOUNT_H
#define TMI_LEDGER_ACCOUNT_H

#include <tamis/experimental/charge.h>
#include <tamis/ledger.h>

#include "ledger/waves.h"

typedef struct tmi_account {
    bool kept; /* there is a ledger; all else is empty if not */
    tamis_ledger *ledger;
    tamis_charged charged;      /* the entry, or the one of the same release before */
    bool has_spending;          /* the account exists */
    tamis_spending spent, left; /* of the account, with this charge; with rotation groups, of the worst of them */
    tmi_standing standing;      /* its budget, waves and sums; empty if it does not exist */
    bool has_then;              /* by tmi_account_foresee */
    tamis_spending then_left;   /* after this release */
    /* the same of the rotation groups of the plan's wave alone, before and after; if it has any */
    tamis_spending own_left, own_then_left;
    char *unpublished; /* what can be done about other charges of the account that were never published, one per line: for
                                   the operator alone */
} tmi_account;

#endif
