/* What sampling leaves of an account's losses for an outsider. */
#ifndef TMI_LEDGER_OUTSIDER_H
#define TMI_LEDGER_OUTSIDER_H

#include <stdbool.h>
#include <tamis/experimental/amplification.h>
#include <tamis/ledger.h>

typedef struct tmi_ledger_outsider {
    bool proved;
    tamis_amplified amplified; /* by stratum too, in the order of the strata's names */
    char *reason;              /* why there is none; NULL if the ledger does not say */
} tmi_ledger_outsider;

/* Of everything that the account has charged, amplified once. The caller clears it. A design that this version does not know, or
 * for which there is no theorem, is a reason, not an error. Errors: UNABLE, SYSTEM. */
tamis_status tmi_ledger_outsider_make(tmi_ledger_outsider *outsider, const tamis_ledger *ledger, size_t account,
                                      const tamis_number *at, tamis_error *err);
void tmi_ledger_outsider_clear(tmi_ledger_outsider *outsider);

#endif
