/* A charge that a caller asks for, and whether the ledger takes it. */
#ifndef TMI_LEDGER_REQUEST_H
#define TMI_LEDGER_REQUEST_H

#include <tamis/experimental/charge.h>

#include "ledger/ledger.h"

/* A charge as it is compared and written. */
typedef struct tmi_ledger_request {
    const tamis_charge *charge;
    tmi_ledger_coin amount, budget;
    tamis_number *as_rho;     /* of an epsilon without a delta; else NULL */
    tamis_number *as_mu;      /* mu^2 of the same, and of a Gaussian amount; else NULL */
    bool has_budget;          /* else that of the account */
    tmi_value *frozen, *kept; /* kept: as an entry has it */
    tmi_wave wave;
    tmi_value *parts; /* of the source; NULL: not said */
    char identity[TMI_SHA256_TEXT];
} tmi_ledger_request;

/* `facts` NULL: the charge has them as texts. INVALID, SYSTEM; then there is nothing to clear. */
tamis_status tmi_request_make(tmi_ledger_request *r, const tamis_charge *charge, const tmi_charge_facts *facts, tamis_error *err);

/* An epsilon gets its rho, if some sum of the account counts in rho, and its mu^2, if some counts in mu^2; a Gaussian amount its
 * mu^2 where the budget has a delta: entries of other accounts need none. `a` may be NULL. */
tamis_status tmi_request_settle(tmi_ledger_request *r, const tmi_ledger_account *a, tamis_error *err);
void tmi_request_clear(tmi_ledger_request *r);

/* REFUSED if a field differs from what was frozen, by the survey's first release for all waves, or by that of the wave. */
tamis_status tmi_admit_frozen(const tmi_book *book, const tmi_ledger_account *a, const tmi_ledger_wave *w,
                              const tmi_ledger_request *r, tamis_error *err);

/* REFUSED if a plan's budget is above that of the account, or of another kind. */
tamis_status tmi_admit_budget(const tmi_ledger_account *a, const tmi_ledger_request *r, const char *file, tamis_error *err);

/* Whether the source may be charged to this account, NULL for one that would be opened. REFUSED if another account has it and no
 * reason was given for that. `place`: of the ledger's file. */
tamis_status tmi_admit_source(const tmi_book *book, const tmi_ledger_account *a, const tmi_ledger_request *r, const char *place,
                              tamis_error *err);

/* REFUSED if the source is that of a wave with other groups. */
tamis_status tmi_admit_groups(const tmi_ledger_account *a, const tmi_ledger_request *r, const char *place, tamis_error *err);

/* REFUSED if the account, which has the charge that is claimed already, is beyond the plan's own budget. */
tamis_status tmi_admit_claim(const tmi_ledger_account *a, const tmi_ledger_request *r, const char *file, tamis_error *err);

/* REFUSED if the amount does not fit; `a` is NULL for the first charge. */
tamis_status tmi_admit_amount(const tmi_ledger_account *a, const tmi_ledger_request *r, const char *file, tamis_error *err);

#endif
