/* What the charges of a survey come to, rotation group by rotation group.
 *
 * A person belongs to one group in all waves, or to none. A charge to a wave that names its groups is a loss of the people in
 * these groups alone; any other charge is a loss of everybody. So there is one sum for each group that was ever named, and one,
 * `base`, of the charges that count for everybody: it is where a group begins that is named for the first time. Each of the sums
 * follows the rules of sums.c by itself and must stay within the budget. What is stated for a survey is the worst of them.
 *
 * In an account whose budget is a target for outsiders the groups are the strata, all of them from the beginning, each with a cap
 * of its own, and nobody is in `base`. A person's stratum is public and fixed, so that the argument is the same: a charge with
 * epsilons by stratum is an adaptive sequence in each of them, and pure epsilons add up, however later ones were chosen. A
 * charge without such epsilons is a loss of everybody. */
#ifndef TMI_LEDGER_LOSSES_H
#define TMI_LEDGER_LOSSES_H

#include "ledger/coin.h"

typedef struct tmi_ledger_group {
    char *name;
    tmi_sums sums;
} tmi_ledger_group;

typedef struct tmi_losses {
    tmi_sums base;
    tmi_ledger_group *groups;
    size_t count;
} tmi_losses;

/* Without a charge, for an account with this budget. */
tamis_status tmi_losses_begin(tmi_losses *losses, const tmi_ledger_coin *budget, tamis_error *err);

/* more = losses + amount, for the people in the groups; for everybody if there are none. REFUSED as tmi_sums_add; *more is
 * empty then. */
tamis_status tmi_losses_add(tmi_losses *more, const tmi_losses *losses, const tmi_ledger_coin *budget,
                            const tmi_ledger_coin *amount, char *const *groups, size_t count, tamis_error *err);

/* The same, in place; on failure the losses are as they were. */
tamis_status tmi_losses_charge(tmi_losses *losses, const tmi_ledger_coin *budget, const tmi_ledger_coin *amount,
                               char *const *groups, size_t count, tamis_error *err);

/* A group that has no sum yet gets that of everybody. */
tamis_status tmi_losses_name(tmi_losses *losses, const char *group, tamis_error *err);

/* Of the people in some groups alone: the worst of these, as nobody has lost less than `base`. Empty on failure. */
tamis_status tmi_losses_of(tmi_losses *own, const tmi_losses *losses, char *const *groups, size_t count, tamis_error *err);

tamis_status tmi_losses_copy(tmi_losses *copy, const tmi_losses *losses, tamis_error *err);
bool tmi_losses_equal(const tmi_losses *x, const tmi_losses *y); /* the groups in the same order */
bool tmi_losses_zero(const tmi_losses *losses);
bool tmi_losses_concentrated(const tmi_losses *losses); /* some sum counts in rho or in mu^2 */
bool tmi_losses_in_rho(const tmi_losses *losses);
bool tmi_losses_in_mu(const tmi_losses *losses);
void tmi_losses_clear(tmi_losses *losses);

/* Of all sums: whether each stays within the budget; the largest of what was spent and the smallest of what is left, each number
 * by itself; and the largest epsilon and delta of a sampled unit. */
tamis_status tmi_losses_fit(bool *fit, const tmi_losses *losses, const tmi_ledger_coin *budget, tamis_error *err);
tamis_status tmi_losses_spending(tamis_spending *spent, tamis_spending *left, const tmi_losses *losses,
                                 const tmi_ledger_coin *budget, tamis_error *err);
tamis_status tmi_losses_sample(tamis_number **eps, tamis_number **delta, const tmi_losses *losses, const tmi_ledger_coin *budget,
                               const tamis_number *at, tamis_error *err);

/* What a sampled unit has lost at most, part by part, as tamis_sample_promise has it: pure epsilons, and after them mu^2, or rho.
 * Empty if nothing counts in mu^2 or rho, or if a delta was charged, of which no more is known. The caller clears it. */
typedef struct tmi_loss_parts {
    tamis_number *pure, *mu_squared, *rho;
} tmi_loss_parts;

tamis_status tmi_losses_parts(tmi_loss_parts *parts, const tmi_losses *losses, tamis_error *err);
void tmi_loss_parts_clear(tmi_loss_parts *parts);

/* What was spent of one group, or stratum, and what is left. */
tamis_status tmi_losses_spending_of(tamis_spending *spent, tamis_spending *left, const tmi_losses *losses,
                                    const tmi_ledger_coin *budget, size_t group, tamis_error *err);

#endif
