/* A release and the account of its sample: what is charged, what was released before, what that makes of the promise.
 *
 * The charge is durable before the data are read. A release that was made before, the same tables with the same noise laws
 * from the same account, is returned as it was kept and spends nothing.                                             */
#ifndef TMI_RELEASE_ACCOUNT_H
#define TMI_RELEASE_ACCOUNT_H

#include <tamis/ledger.h>

#include "publish/account.h"
#include "schedule/outsider.h"
#include "schedule/schedule.h"

/* How a release is paid for. */
typedef struct tmi_payment {
    const char *ledger;      /* path */
    bool again;              /* fresh noise although the same was released before */
    const char *new_account; /* why a second account over the same source is opened; NULL: none is */
} tmi_payment;

/* INVALID, with the line to write and why, if the plan has no budget. */
tamis_status tmi_account_need_budget(const tamis_plan *plan, tamis_error *err);

/* The bill of what a schedule spends, and what it points to beside the plan. Not to be copied. */
typedef struct tmi_plan_bill {
    char *measures;
    tmi_value *frozen, *source;
    tmi_wave wave; /* lent */
    tmi_charge_facts facts;
    tamis_number *as_rho;          /* of epsilons, where an account counts in rho */
    tamis_number *mu_squared;      /* of what is not just concentrated, where an account counts in mu^2 */
    tmi_by_stratum amount, budget; /* with a target for outsiders */
    tmi_bill bill;
} tmi_plan_bill;

/* Cleared by the caller, whatever happens. INVALID, SYSTEM. */
tamis_status tmi_plan_bill_make(tmi_plan_bill *b, const tmi_schedule *schedule, const tmi_payment *payment, tamis_error *err);
void tmi_plan_bill_clear(tmi_plan_bill *b);

/* The budget of a plan, of one that has none what it spends; and what a schedule spends, by strata with a target for
 * outsiders. */
tamis_status tmi_plan_budget_coin(tmi_ledger_coin *coin, const tamis_plan *plan, tamis_error *err);
tamis_status tmi_schedule_coin(tmi_ledger_coin *coin, const tmi_schedule *schedule, tamis_error *err);

/* Whether the caps of the strata are those that follow from its target for outsiders; without one they are none. SYSTEM. */
tamis_status tmi_cap_follows(bool *follows, const tamis_plan *plan, const tmi_ledger_coin *cap, tamis_error *err);

/* That a ledger would take the charge of the schedule, as far as names and lengths go; no ledger is opened. INVALID, SYSTEM. */
tamis_status tmi_account_check(const tmi_schedule *schedule, tamis_error *err);

/* After tmi_account_look: REFUSED if this would be the first charge of an account, and is above the budget that the plan gives
 * it. Of an account that exists the ledger says so. */
tamis_status tmi_account_admits(const tmi_account *account, const tmi_schedule *schedule, tamis_error *err);

/* After tmi_account_look: what would be left, and the promise of everything with this release. */
tamis_status tmi_account_foresee(tmi_account *account, tmi_promised *promised, const tmi_schedule *schedule, tamis_error *err);

/* The promise of an account with these losses under this cap: nothing for outsiders across waves, unless all of them have the
 * same sample. Errors: UNABLE, SYSTEM. */
tamis_status tmi_account_promise(tmi_promised *promised, const tmi_schedule *schedule, const tmi_standing *standing,
                                 const tmi_losses *losses, const tmi_ledger_coin *cap, tamis_error *err);

/* The same of a release that no account knows. */
tamis_status tmi_promise_alone(tmi_promised *promised, const tmi_schedule *schedule, tamis_error *err);

/* The wave of a plan as a ledger has it: lent. */
tmi_wave tmi_wave_of(const tamis_plan *plan);

/* The numbers and points that were kept of the same release, into the schedule's order, and its private bounds into the schedule;
 * INVALID if they are not its. */
tamis_status tmi_recall(tmi_int128 *const *noisy, int64_t *const *answers, const char *kept, tmi_schedule *schedule,
                        tamis_error *err);

#endif
