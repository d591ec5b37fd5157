/* Exact randomness: every draw has exactly the stated law, for any rational parameter.
 *
 * Random bits come from the operating system through one generator (AES-256 in counter mode, keyed by getrandom(2),
 * reseeded, wiped, safe to fork). There is no seed: a draw cannot be repeated, which is the point. The samplers use
 * integers only; probabilities such as exp(-1/3) are known by certified binary digits, and more of these are computed
 * when the first ones do not decide. The top of each file in src/rng/ explains how its sampler works
 * and why it is exact.
 *
 * The time a draw takes may depend on what is drawn. Draw noise before data are read, as tamis release does: then time
 * says nothing about the data.
 *
 * On failure every output is zero. These zeros are not noise: a program that goes on with them publishes the truth, so
 * look at the status.
 *
 * Experimental: this header may change in any version, and programs that use it are compiled again with each. */
#ifndef TAMIS_EXPERIMENTAL_RNG_H
#define TAMIS_EXPERIMENTAL_RNG_H

#include <tamis/experimental/bound.h>

TAMIS_BEGIN

/* ---- the generator ---- */

/* A source of random bits. One thread at a time may use it; make one for each thread. After fork, the child may go on
 * using its copy: it gets bits of its own. (A signal handler that interrupts a draw must not fork and let the child
 * return into that draw.)                                                                                           */
typedef struct tamis_rng tamis_rng;

/* Gives    a generator that the caller frees; NULL on failure.
 * Cost     64 KiB of memory, microseconds (a millisecond or two for the first one, while libcrypto starts).
 * Errors   INVALID (NULL), SYSTEM (memory, no random bits from the operating system, Linux older than 4.14). A
 *          generator that failed once fails for ever: there are no second-best bits.                                 */
TAMIS_USE tamis_status tamis_rng_new(tamis_rng **rng, tamis_error *err);

/* Wipes and frees; NULL is fine. */
TAMIS_API void tamis_rng_free(tamis_rng *rng);

/* ---- integer noise ---- */

/* A law of integer noise, prepared: tables are computed once and serve any number of draws, in any number of threads
 * (each with a generator of its own).                                                                               */
typedef struct tamis_noise tamis_noise;

/* Larger noise would leave 64-bit integers; smaller scales give 0 but for exp(-10^6). */
#define TAMIS_SCALE_MIN "1/1000000"
#define TAMIS_LAPLACE_SCALE_MAX "36028797018963968"  /* 2^55 */
#define TAMIS_GAUSSIAN_SCALE_MAX "10000000000000000" /* 10^16 */

/* The discrete Laplace law, P(k) proportional to exp(-|k| / scale), k an integer.
 *
 * Needs    TAMIS_SCALE_MIN <= scale <= TAMIS_LAPLACE_SCALE_MAX.
 * Gives    a law that the caller frees with tamis_noise_free; NULL on failure.
 * Cost     well below a millisecond.
 * Errors   INVALID, SYSTEM (memory).                                                                                */
TAMIS_USE tamis_status tamis_noise_laplace_new(tamis_noise **noise, const tamis_number *scale, tamis_error *err);

/* The discrete Gaussian law, P(k) proportional to exp(-k^2 / (2 scale^2)), k an integer.
 *
 * Needs    TAMIS_SCALE_MIN <= scale <= TAMIS_GAUSSIAN_SCALE_MAX.
 * Gives    a law that the caller frees with tamis_noise_free; NULL on failure.
 * Cost     about a millisecond.
 * Errors   INVALID, SYSTEM (memory).                                                                                */
TAMIS_USE tamis_status tamis_noise_gaussian_new(tamis_noise **noise, const tamis_number *scale, tamis_error *err);

/* The normal law with this standard deviation, rounded to the nearest integer: P(k) = Phi((k + 1/2) / scale) - Phi((k - 1/2) /
 * scale), k an integer, exactly. Its variance is scale^2 and about 1/12 more. Added to an integer it is post-processing of the
 * continuous normal mechanism, so that its privacy, tamis_profile_gaussian, is known exactly also for many numbers at once:
 * that of the discrete Gaussian is not.
 *
 * Needs    TAMIS_SCALE_MIN <= scale <= TAMIS_GAUSSIAN_SCALE_MAX.
 * Gives    a law that the caller frees with tamis_noise_free; NULL on failure.
 * Cost     about a millisecond.
 * Errors   INVALID, SYSTEM (memory).                                                                                */
TAMIS_USE tamis_status tamis_noise_normal_new(tamis_noise **noise, const tamis_number *scale, tamis_error *err);

TAMIS_API void tamis_noise_free(tamis_noise *noise);

/* Beyond this, noise is cut: a draw of +-2^62 means "at least that far"; at the largest scale that happens with
 * probability exp(-128). A number t plus cut noise would end at t + 2^62, which reveals t: so if |t| <= B is public, clamp
 * the sum to +-(2^62 - B). Then it is clamp(t + X) with the uncut noise X, which is post-processing and costs nothing.
 * tamis release does so. */
#define TAMIS_NOISE_MAX (INT64_C(1) << 62)

/* Draws `count` independent values. Draw as often as you like; a stream may be drawn in pieces of any size (pieces of
 * a few hundred or more are fastest).
 *
 * Needs    room for `count` values in out; count = 0 is fine.
 * Gives    values between -TAMIS_NOISE_MAX and TAMIS_NOISE_MAX; all zero on failure.
 * Cost     a few nanoseconds each.
 * Errors   INVALID, SYSTEM (no random bits, memory).                                                                */
TAMIS_USE tamis_status tamis_noise_draw(int64_t *out, size_t count, const tamis_noise *noise, tamis_rng *rng, tamis_error *err);

/* ---- coins and choices ---- */

/* A uniform integer from 0 to bound - 1.
 *
 * Needs    bound >= 1.
 * Errors   INVALID, SYSTEM (no random bits); *value is then 0.                                                      */
TAMIS_USE tamis_status tamis_uniform(uint64_t *value, uint64_t bound, tamis_rng *rng, tamis_error *err);

/* 1 with probability p, else 0.
 *
 * Needs    0 <= p <= 1.
 * Errors   INVALID, SYSTEM; *yes is then 0.                                                                         */
TAMIS_USE tamis_status tamis_bernoulli(int *yes, const tamis_number *p, tamis_rng *rng, tamis_error *err);

/* 1 with probability exp(-x), else 0.
 *
 * Needs    x >= 0.
 * Errors   INVALID, SYSTEM; *yes is then 0.                                                                         */
TAMIS_USE tamis_status tamis_bernoulli_exp(int *yes, const tamis_number *x, tamis_rng *rng, tamis_error *err);

/* A choice among `count` alternatives, prepared: thresholds are computed once and serve any number of draws. */
typedef struct tamis_choice tamis_choice;

/* Alternative j is chosen with probability weights[j] / (sum of all weights).
 *
 * Needs    1 <= count <= 2^22, weights >= 0, one of them positive. They are copied.
 * Gives    a choice that the caller frees with tamis_choice_free; NULL on failure.
 * Cost     microseconds for each weight.
 * Errors   INVALID, SYSTEM (memory).                                                                                */
TAMIS_USE tamis_status tamis_choice_new(tamis_choice **choice, const tamis_number *const *weights, size_t count,
                                        tamis_error *err);
TAMIS_API void tamis_choice_free(tamis_choice *choice);

/* Errors   INVALID, SYSTEM; *index is then 0.                                                                       */
TAMIS_USE tamis_status tamis_choice_draw(size_t *index, const tamis_choice *choice, tamis_rng *rng, tamis_error *err);

/* ---- orders and samples ---- */

/* The numbers 0 to count-1 in random order, each order equally likely.
 *
 * Needs    room for `count` values; count = 0 is fine.
 * Errors   INVALID, SYSTEM (no random bits); all values are then 0.                                                 */
TAMIS_USE tamis_status tamis_permutation(uint64_t *order, size_t count, tamis_rng *rng, tamis_error *err);

/* A simple random sample without replacement of `sample` of the units 0 to population-1, in ascending order; all sets of
 * that size are equally likely.
 *
 * Needs    sample <= population <= TAMIS_MAX_UNITS, room for `sample` units; sample = 0 is fine.
 * Cost     O(sample) time and memory (at most 32 bytes per sampled unit besides the result), whatever the population.
 * Errors   INVALID, SYSTEM (memory, no random bits); all units are then 0.                                          */
TAMIS_USE tamis_status tamis_sample(uint64_t *units, uint64_t population, uint64_t sample, tamis_rng *rng, tamis_error *err);

TAMIS_END

#endif
