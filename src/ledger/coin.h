/* Amounts, and how they add up in an account. */
#ifndef TMI_LEDGER_COIN_H
#define TMI_LEDGER_COIN_H

#include <stdbool.h>
#include <tamis/experimental/charge.h>

#include "ledger/by_stratum.h"

/* Epsilon and delta, which is 0 for a pure one; or rho, and then the others are NULL. An amount without a delta may have a
 * rho beside its epsilon: what it counts as where rhos are added up. With a target for outsiders a pure epsilon is that of the
 * stratum that loses most, and `strata` has all of them. An amount that is Gaussian has its mu^2 beside its rho or its epsilon:
 * what it counts as where mu^2 is added up. Owned. */
typedef struct tmi_ledger_coin {
    tamis_number *eps, *delta, *rho, *mu_squared;
    tmi_by_stratum strata;
} tmi_ledger_coin;

/* Whether it is a rho and nothing else. */
static inline bool tmi_coin_in_rho(const tmi_ledger_coin *coin) { return coin->rho && !coin->eps; }

/* Copies what a caller gave. `name`, "amount" or "budget", opens the messages; a budget must not be 0. */
tamis_status tmi_coin_make(tmi_ledger_coin *coin, const tamis_coin *given, const char *name, tamis_error *err);

/* Gives an amount its mu^2; NULL: it has none. */
tamis_status tmi_coin_set_mu(tmi_ledger_coin *coin, const tamis_number *mu_squared, const char *name, tamis_error *err);

/* {"epsilon": "1"}, {"epsilon": "1", "delta": "1/1000000"}, {"rho": "1/2"} or, of an amount, {"epsilon": "1", "rho": "1/4"},
 * {"epsilon": "1", "mu_squared": "2"}, {"rho": "1/2", "mu_squared": "1"} and {"epsilon": "4", "strata": ...} (by_stratum.h):
 * numbers in lowest terms. `value` may be NULL. */
tamis_status tmi_coin_read(tmi_ledger_coin *coin, const tmi_value *value, const char *name, tamis_error *err);
tamis_status tmi_coin_put(tmi_json_out *out, const tmi_ledger_coin *coin, tamis_error *err);

/* INVALID if it would be written with more digits than are read: sums of many fractions may be. */
tamis_status tmi_coin_reads_back(const tmi_ledger_coin *coin, const char *name, tamis_error *err);

/* A rho beside an epsilon and a mu^2 are not compared: they are how the amount was booked. */
bool tmi_coin_equal(const tmi_ledger_coin *x, const tmi_ledger_coin *y);
tamis_status tmi_coin_copy(tmi_ledger_coin *copy, const tmi_ledger_coin *coin, tamis_error *err); /* empty on failure */

/* Whether x is rho as y is, and no number of x is larger than that of y. */
bool tmi_coin_within(const tmi_ledger_coin *x, const tmi_ledger_coin *y);

/* "epsilon 0.1 and delta 1e-06": for messages; in decimals rounded up, or down, where neither the exact one nor the fraction
 * is short. */
void tmi_coin_words(tmi_text *text, const tmi_ledger_coin *coin, bool up);

/* `up`: how its words are rounded. SYSTEM (memory). */
tamis_status tmi_coin_spending(tamis_spending *spending, const tmi_ledger_coin *coin, bool up, tamis_error *err);

/* Words of a spending: an exact amount, or an end of an enclosure, after what is there already. An amount of 0 is left out
 * if it is `optional`. SYSTEM (memory). */
tamis_status tmi_say_exactly(tamis_spending *spending, const char *name, const tamis_number *amount, bool optional, bool up,
                             tamis_error *err);
void tmi_say_end(tamis_spending *spending, const char *name, double end, bool up);
/* "--epsilon 4 --delta 1e-06": as options of a command, rounded up where the exact fraction is long. */
void tmi_coin_options(tmi_text *text, const tmi_ledger_coin *coin);


void tmi_coin_clear(tmi_ledger_coin *coin);

/* What the charges of an account come to. In an account of rho: rho alone. In the others eps and delta are added up until
 * the first rho comes; from then on they stay, and everything goes into rho, or into mu^2 if that first one was Gaussian. */
typedef struct tmi_sums {
    tamis_number *eps, *delta, *rho;
    tamis_number *mu_squared; /* NULL: not what it counts in */
    bool concentrated;        /* a rho has come, or the account counts in rho */
} tmi_sums;

/* Sums without a charge, for an account with this budget. */
tamis_status tmi_sums_begin(tmi_sums *sums, const tmi_ledger_coin *budget, tamis_error *err);

/* more = sums + amount. REFUSED if no theorem adds this kind of amount. *more is empty on failure. */
tamis_status tmi_sums_add(tmi_sums *more, const tmi_sums *sums, const tmi_ledger_coin *budget, const tmi_ledger_coin *amount,
                          tamis_error *err);

/* Whether they stay within the budget: exactly, or certified where rhos are converted. */
tamis_status tmi_sums_fit(bool *fit, const tmi_sums *sums, const tmi_ledger_coin *budget, tamis_error *err);

/* What was charged as one epsilon and delta, or as rho, enclosed; and what is left of the budget. */
tamis_status tmi_sums_spending(tamis_spending *spent, tamis_spending *left, const tmi_sums *sums, const tmi_ledger_coin *budget,
                               tamis_error *err);

/* As tamis_ledger_sample. */
tamis_status tmi_sums_sample(tamis_number **eps, tamis_number **delta, const tmi_sums *sums, const tmi_ledger_coin *budget,
                             const tamis_number *at, tamis_error *err);

tamis_status tmi_sums_copy(tmi_sums *copy, const tmi_sums *sums, tamis_error *err); /* empty on failure */
bool tmi_sums_equal(const tmi_sums *x, const tmi_sums *y);                          /* the numbers */
void tmi_sums_clear(tmi_sums *sums);

#endif
