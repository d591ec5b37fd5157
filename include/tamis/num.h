/* Numbers that cannot lie.
 *
 * A parameter is a tamis_number: an exact rational read from text, never through a double, so that "0.1" is one tenth.
 * A result is a tamis_bound: two doubles between which the real number certainly lies. The end that is safe to publish
 * is `upper` for a claimed epsilon, delta or noise scale, `lower` for a budget that is left.                         */
#ifndef TAMIS_NUM_H
#define TAMIS_NUM_H

#include <tamis/base.h>

TAMIS_BEGIN

/* Digits in one number, exponent sign and point not counted; and the largest decimal exponent. 1e999999999 would need
 * 400 MB before anything could be said about it; nobody's epsilon does. */
#define TAMIS_NUMBER_DIGITS 1000
#define TAMIS_NUMBER_EXPONENT 1000

typedef struct tamis_number tamis_number;

/* Reads "12", "-0.5", "1e-6", "3/10" (either part a decimal, the lower one not zero). Spaces are not skipped.
 *
 * Gives    a number that the caller frees with tamis_number_free; NULL on failure.
 * Errors   INVALID (NULL, not a number, too long, exponent too large), SYSTEM (memory).                             */
TAMIS_USE tamis_status tamis_number_read(tamis_number **number, const char *text, tamis_error *err);

/* The number as "p/q" in lowest terms, or "p" if it is an integer. The caller frees the text with tamis_free. */
TAMIS_USE tamis_status tamis_number_write(char **text, const tamis_number *number, tamis_error *err);

TAMIS_API void tamis_number_free(tamis_number *number);

/* lower <= value <= upper, and neither is NaN. Unknown is {-inf, inf}. */
typedef struct tamis_bound {
    double lower, upper;
} tamis_bound;

/* An end of an enclosure as decimal text of at most `digits` significant digits (1 to 17; others count as the nearest of
 * these), rounded up or down and never to the nearest: what is printed of an upper end is still an upper bound. "inf" and
 * "-inf" for infinities and, on the safe side, for NaN. `text` has room for TAMIS_DECIMAL bytes.                      */
#define TAMIS_DECIMAL 40
TAMIS_API void tamis_decimal_up(char *text, double x, int digits);
TAMIS_API void tamis_decimal_down(char *text, double x, int digits);

/* The width asked of an enclosure relative to its larger end, unless a function says otherwise. */
#define TAMIS_WIDTH 1e-12

/* ---- laws of sampling and noise ----
 *
 * Each function encloses one probability: a mass P(X = k), or a tail P(X >= k) or P(X <= k). The width is at most
 * TAMIS_WIDTH of the value itself, however small it is (down to 1e-300; below, the enclosure is narrower than that). k
 * may be any integer: outside the support the answer is exactly 0 or 1. Where a law is symmetric about 0 there is only
 * one tail: P(X <= k) = P(X >= -k).
 *
 * Needs    sizes between 0 and TAMIS_MAX_UNITS, parameters as said at each function.
 * Gives    the enclosure; {0, 1} on failure.
 * Cost     does not grow with the population: masses some tens of microseconds, tails nanoseconds for each term, of
 *          which there are about ten standard deviations.
 * Errors   INVALID, SYSTEM (memory), UNABLE (too many different groups).                                             */

/* Units of a population, trials of an experiment. */
#define TAMIS_MAX_UNITS (INT64_C(1) << 40)

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
