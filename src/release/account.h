/* A release and the account of its sample: what is charged, what was released before, what that makes of the promise.
 *
 * The charge is durable before the data are read. A release that was made before, the same tables with the same noise laws
 * from the same account, is returned as it was kept and spends nothing.                                             */
#ifndef TMI_RELEASE_ACCOUNT_H
#define TMI_RELEASE_ACCOUNT_H

#include <tamis/ledger.h>

#include "ledger/account.h"
#include "schedule/outsider.h"
#include "schedule/schedule.h"

/* How a release is paid for. */
typedef struct tmi_payment {
    const char *ledger;      /* path */
    bool again;              /* fresh noise although the same was released before */
    const char *new_account; /* why a second account over the same source is opened; NULL: none is */
    const char *leftover;    /* as in tamis_charge */
} tmi_payment;

/* INVALID, with the line to write and why, if the plan has no budget. */
tamis_status tmi_account_need_budget(const tamis_plan *plan, tamis_error *err);

/* Opens the ledger and charges what the schedule spends. `promised` is the promise of the whole account then: it is empty before,
 * or what was foreseen, which is kept where the charge changed nothing about it.
 *
 * Needs    a schedule that measures something.
 * Errors   REFUSED (the budget, a frozen field, a ledger or an account that must not be new), INVALID, UNABLE, SYSTEM;
 *          cleared then, unless the charge is in the ledger already: charged.entry says so.                           */
tamis_status tmi_account_charge(tmi_account *account, tmi_promised *promised, const tmi_schedule *schedule,
                                const tmi_payment *payment, tamis_error *err);

/* That a ledger would take the charge of the schedule, as far as names and lengths go; no ledger is opened. INVALID, SYSTEM. */
tamis_status tmi_account_check(const tmi_schedule *schedule, tamis_error *err);

/* What is there before a release: nothing if the ledger does not exist. Errors: REFUSED if the charge would be, and then the
 * account is there, as far as it exists; others as above, and then it is cleared. */
tamis_status tmi_account_look(tmi_account *account, const tmi_schedule *schedule, const tmi_payment *payment, tamis_error *err);

/* After tmi_account_look: what would be left, and the promise of everything with this release. */
tamis_status tmi_account_foresee(tmi_account *account, tmi_promised *promised, const tmi_schedule *schedule, tamis_error *err);

void tmi_account_clear(tmi_account *account);

/* The promise of an account with these losses under this cap: nothing for outsiders across waves, unless all of them have the
 * same sample. Errors: UNABLE, SYSTEM. */
tamis_status tmi_account_promise(tmi_promised *promised, const tmi_schedule *schedule, const tmi_standing *standing,
                                 const tmi_losses *losses, const tmi_ledger_coin *cap, tamis_error *err);

/* The same of a release that no account knows. */
tamis_status tmi_promise_alone(tmi_promised *promised, const tmi_schedule *schedule, tamis_error *err);

/* The wave of a plan as a ledger has it: lent. */
tmi_wave tmi_wave_of(const tamis_plan *plan);

/* The numbers and points that were kept of the same release, into the schedule's order; INVALID if they are not its. */
tamis_status tmi_account_recall(tmi_int128 *const *noisy, int64_t *const *chosen, const tmi_account *account,
                                const tmi_schedule *schedule, tamis_error *err);

#endif
