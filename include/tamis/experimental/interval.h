/* Intervals of what is true of a population, from a number that contains sampling error and noise.
 *
 * A sample of n of N units contains k ones; k + X is released, X being integer noise of a known law. Which numbers K of ones
 * in the population are plausible? Those that a test does not reject: K is in the interval if a number as small as the
 * released one, or smaller, has more than half of 1 - confidence as its probability under K, and the same for large ones.
 * The probabilities are those of the hypergeometric law plus the noise, without approximation: the interval covers the
 * truth with at least the stated probability, whatever K, n and the noise are.
 *
 * Experimental: this header may change in any version, and programs that use it are compiled again with each. */
#ifndef TAMIS_EXPERIMENTAL_INTERVAL_H
#define TAMIS_EXPERIMENTAL_INTERVAL_H

#include <tamis/experimental/bound.h>

TAMIS_BEGIN

/* The exact interval of the number of ones in the population. The ends are certified: which of two neighbouring K the test
 * rejects is decided by enclosures.
 *
 * Needs    1 <= sample <= population <= TAMIS_MAX_UNITS; `noisy`, the number of ones in the sample plus discrete Laplace
 *          noise of this scale, between -2^62 and 2^62; scale > 0; 0 < confidence <= 1 - 10^-9.
 * Gives    0 <= lower <= upper <= population. A noisy number that every K makes implausible gives 0 or the population.
 * Cost     O(standard deviation of the sample's number) for each of some dozens of K: below a millisecond for small
 *          samples, two seconds for half of 10^9 units.
 * Errors   INVALID, UNABLE (undecided at 16384 bits, or a law too wide), SYSTEM; the ends are then 0 and the population
 *          if that is a possible one, else 0 and 0.                                                                    */
TAMIS_USE tamis_status tamis_interval_count(int64_t *lower, int64_t *upper, int64_t population, int64_t sample, int64_t noisy,
                                            const tamis_number *scale, const tamis_number *confidence, tamis_error *err);

TAMIS_END

#endif
