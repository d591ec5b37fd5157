/* Laws of sampling and noise: masses and tails, enclosed.
 *
 * Experimental: this header may change in any version, and programs that use it are compiled again with each. */
#ifndef TAMIS_EXPERIMENTAL_PROBABILITY_H
#define TAMIS_EXPERIMENTAL_PROBABILITY_H

#include <tamis/experimental/bound.h>

TAMIS_BEGIN

/* Each function encloses one probability: a mass P(X = k), or a tail P(X >= k) or P(X <= k). The width is at most
 * TAMIS_WIDTH of the value itself, however small it is (down to 1e-300; below, the enclosure is narrower than that). k
 * may be any integer: outside the support the answer is exactly 0 or 1. Where a law is symmetric about 0 there is only
 * one tail: P(X <= k) = P(X >= -k).
 *
 * Needs    sizes between 0 and TAMIS_MAX_UNITS, parameters as said at each function.
 * Gives    the enclosure; {0, 1} on failure.
 * Cost     does not grow with the population: masses some tens of microseconds, tails nanoseconds for each term, of
 *          which there are about ten standard deviations.
 * Errors   INVALID, SYSTEM (memory), UNABLE (too many different groups).                                             */

/* Hypergeometric: X ones in a simple random sample without replacement from a population with `ones` ones.
 * Needs 0 <= ones <= population, 0 <= sample <= population. */
TAMIS_USE tamis_status tamis_hypergeometric_mass(tamis_bound *p, int64_t population, int64_t ones, int64_t sample, int64_t k,
                                                 tamis_error *err);
TAMIS_USE tamis_status tamis_hypergeometric_at_least(tamis_bound *p, int64_t population, int64_t ones, int64_t sample, int64_t k,
                                                     tamis_error *err);
TAMIS_USE tamis_status tamis_hypergeometric_at_most(tamis_bound *p, int64_t population, int64_t ones, int64_t sample, int64_t k,
                                                    tamis_error *err);

/* Binomial: X ones in independent trials. Needs 0 <= probability <= 1. */
TAMIS_USE tamis_status tamis_binomial_mass(tamis_bound *p, int64_t trials, const tamis_number *probability, int64_t k,
                                           tamis_error *err);
TAMIS_USE tamis_status tamis_binomial_at_least(tamis_bound *p, int64_t trials, const tamis_number *probability, int64_t k,
                                               tamis_error *err);
TAMIS_USE tamis_status tamis_binomial_at_most(tamis_bound *p, int64_t trials, const tamis_number *probability, int64_t k,
                                              tamis_error *err);

/* Poisson-binomial: X ones in independent trials of unequal probabilities, given as groups of equal ones; a plain
 * list of probabilities is a list of groups of one trial. Cost: about 0.2 ms per group, 10 microseconds for groups of
 * one trial, however many trials there are. Needs 0 <= probability <= 1, counts >= 0, at most TAMIS_MAX_UNITS trials
 * in all; more than TAMIS_MAX_GROUPS groups are UNABLE.                                                              */
#define TAMIS_MAX_GROUPS 65536

typedef struct tamis_trials {
    const tamis_number *probability;
    int64_t count;
} tamis_trials;

TAMIS_USE tamis_status tamis_poisson_binomial_mass(tamis_bound *p, const tamis_trials *groups, size_t group_count, int64_t k,
                                                   tamis_error *err);
TAMIS_USE tamis_status tamis_poisson_binomial_at_least(tamis_bound *p, const tamis_trials *groups, size_t group_count, int64_t k,
                                                       tamis_error *err);
TAMIS_USE tamis_status tamis_poisson_binomial_at_most(tamis_bound *p, const tamis_trials *groups, size_t group_count, int64_t k,
                                                      tamis_error *err);

/* Discrete Laplace, P(k) proportional to exp(-|k|/scale), and discrete Gaussian, P(k) proportional to
 * exp(-k^2/(2 scale^2)), on all integers. Symmetric. Need scale > 0. */
TAMIS_USE tamis_status tamis_discrete_laplace_mass(tamis_bound *p, const tamis_number *scale, int64_t k, tamis_error *err);
TAMIS_USE tamis_status tamis_discrete_laplace_at_least(tamis_bound *p, const tamis_number *scale, int64_t k, tamis_error *err);
TAMIS_USE tamis_status tamis_discrete_gaussian_mass(tamis_bound *p, const tamis_number *scale, int64_t k, tamis_error *err);
TAMIS_USE tamis_status tamis_discrete_gaussian_at_least(tamis_bound *p, const tamis_number *scale, int64_t k, tamis_error *err);

/* P(Z >= x) of a standard normal Z. */
TAMIS_USE tamis_status tamis_normal_at_least(tamis_bound *p, const tamis_number *x, tamis_error *err);

TAMIS_END

#endif
