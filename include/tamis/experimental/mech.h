/* Mechanisms: what comes out with which probability, and what an outsider can learn from it, exactly.
 *
 * A mechanism is judged by pairs of laws: the law P of its answer if a person has one value, the law Q if the person
 * has another. It is (eps, delta)-private when P(S) - e^eps Q(S) <= delta for every set S and every such pair, in both
 * orders.
 *
 * Experimental: this header may change in any version, and programs that use it are compiled again with each. */
#ifndef TAMIS_EXPERIMENTAL_MECH_H
#define TAMIS_EXPERIMENTAL_MECH_H

#include <tamis/experimental/bound.h>

TAMIS_BEGIN

/* The smallest delta for one pair of Laplace laws, in this order: P with centre `shift` and scale b1, Q with centre 0
 * and scale b2. The two scales differ when the noise is calibrated with a smooth sensitivity. For privacy take the
 * larger delta of both orders (swap b1 and b2).
 *
 * Needs    eps >= 0, b1 > 0, b2 > 0; shift may have any sign, which does not matter.
 * Gives    an enclosure of sup over sets S of P(S) - e^eps Q(S), within [0, 1]; exactly 0 when b1 = b2 and
 *          |shift| <= b1 eps. `upper` is the number to publish. On failure [0, 1].
 * Cost     O(1).
 * Errors   INVALID, UNABLE, SYSTEM (memory).
 * Paper    gain, smooth sensitivity of the median (docs/papers.md#gain-smooth).                                      */
TAMIS_USE tamis_status tamis_laplace_pair_delta(tamis_bound *delta, const tamis_number *eps, const tamis_number *shift,
                                                const tamis_number *b1, const tamis_number *b2, tamis_error *err);

/* The rest are the laws of the quantile mechanisms of the paper `quantile`. These functions draw nothing and protect
 * nothing: they are for studies, tests and calculators. Neighbours differ in one replaced record.                    */

/* ---- AboveThreshold ----
 *
 * The threshold T gets noise Laplace(scale_T) once; query i is answered by y_i plus its own noise Laplace(scale_q). The
 * index, from 0, of the first answer above the noisy threshold comes out, -1 if there is none. Queries change by at most 1
 * between neighbours:
 *
 *     classic noise    scale_T = 2/eps, scale_q = 4/eps: eps-private;
 *     monotone noise   scale_T = scale_q = 2/eps: eps-private if between neighbours all queries move the same way (or stay),
 *                      as counts below growing cuts do when T is public and one record is replaced.                   */
typedef enum tamis_threshold_noise { TAMIS_THRESHOLD_CLASSIC, TAMIS_THRESHOLD_MONOTONE } tamis_threshold_noise;

/* Queries of one call, at most: the cost is cubic. */
#define TAMIS_MAX_QUERIES 500

/* The law of the output.
 *
 * Needs    1 <= count <= TAMIS_MAX_QUERIES, scales > 0.
 * Gives    probabilities[0], ..., probabilities[count-1] of the indices and probabilities[count] of -1; all [0, 1] on failure.
 * Cost     O(count^3): a hundred queries take some 0.1 s, five hundred some seconds.
 * Errors   INVALID, UNABLE, SYSTEM (memory).
 * Paper    quantile, 2.1 (docs/papers.md#quantile-2-1).                                                              */
TAMIS_USE tamis_status tamis_threshold_law(tamis_bound *probabilities, const tamis_number *const *queries, size_t count,
                                           const tamis_number *threshold, const tamis_number *scale_T,
                                           const tamis_number *scale_q, tamis_error *err);

/* The scales for a noise. *scale_T and *scale_q are new numbers, NULL on failure. Needs eps > 0. INVALID, SYSTEM. */
TAMIS_USE tamis_status tamis_threshold_scales(tamis_number **scale_T, tamis_number **scale_q, tamis_threshold_noise noise,
                                              const tamis_number *eps, tamis_error *err);

/* ---- HistogramMethod ----
 *
 * A quantile q of values in [from, to]: AboveThreshold asks, for the cuts c_i = from + i (to - from)/steps, i = 1, ...,
 * steps, how many values are below, with the threshold q n. Index i stands for c_(i+1), and -1 for `to`. Several quantiles
 * are calls of their own, each with its share of the budget; the nine deciles with eps/9 each are eps-private. The printed
 * code passes on another eps, forgets `from`, keeps the queries of earlier deciles and returns bare indices. */

/* The law for one quantile. A value below the range is below every cut, one at `to` or above it below none.
 *
 * Needs    n >= 1, from < to, 1 <= steps <= TAMIS_MAX_QUERIES, 0 < quantile < 1, eps > 0 for this quantile alone.
 * Gives    counts[0], ..., counts[steps-1] (may be NULL), and probabilities as above, steps + 1 of them.
 * Errors   INVALID, UNABLE, SYSTEM (memory); counts 0 and probabilities [0, 1] on failure.
 * Paper    quantile, 2.2 (docs/papers.md#quantile-code).                                                             */
TAMIS_USE tamis_status tamis_histogram_law(tamis_bound *probabilities, int64_t *counts, const tamis_number *const *values,
                                           size_t n, const tamis_number *from, const tamis_number *to, int64_t steps,
                                           const tamis_number *quantile, tamis_threshold_noise noise, const tamis_number *eps,
                                           tamis_error *err);

/* How far AboveThreshold can be off: with probability at least 1 - beta the noise of the threshold and the largest noise of
 * k queries stay below alpha together, alpha = 8 (log k + log(2/beta))/eps with the classic noise and half of it with the
 * monotone one. Then it stops at a query >= T - alpha, if at all, and passes none > T + alpha.
 *
 * Needs    k >= 1 queries, 0 < beta < 1, eps > 0.
 * Gives    alpha; [0, inf] on failure.
 * Errors   INVALID, UNABLE, SYSTEM (memory).
 * Paper    quantile, Lemma 2.2.1.1 (docs/papers.md#quantile-lem-1).                                                  */
TAMIS_USE tamis_status tamis_threshold_accuracy(tamis_bound *alpha, int64_t k, const tamis_number *beta,
                                                tamis_threshold_noise noise, const tamis_number *eps, tamis_error *err);

/* How likely HistogramMethod misses a quantile of the population that the n values are drawn from independently: the
 * probability that its answer is outside of [d - gamma, d + gamma + (to - from)/steps], d the quantile of the law.
 *
 * Needs    eps for this quantile alone; 0 < beta < 1, the share of the failure that is left to the noise: try several; gamma
 *          > 0. For the uniform law on [from, to]: gamma <= min(q, 1 - q)(to - from). For the standard normal law: from <= d
 *          - gamma and d + gamma <= to.
 * Gives    an upper bound in failure->upper, 1 where nothing is promised, among others if fewer than alpha values are
 *          expected within gamma/2; [0, 1] on failure.
 * Errors   INVALID, UNABLE, SYSTEM (memory).
 * Paper    quantile, Theorems 2.2.3.1 and 2.2.4.1 as corrected (docs/papers.md#quantile-2-2-3-1).                    */
typedef struct tamis_histogram_setup {
    int64_t n, steps;
    const tamis_number *from, *to, *quantile, *eps, *beta, *gamma;
    tamis_threshold_noise noise;
} tamis_histogram_setup;

TAMIS_USE tamis_status tamis_histogram_accuracy_uniform(tamis_bound *failure, const tamis_histogram_setup *setup,
                                                        tamis_error *err);
TAMIS_USE tamis_status tamis_histogram_accuracy_normal(tamis_bound *failure, const tamis_histogram_setup *setup,
                                                       tamis_error *err);

/* ---- inverse sensitivity ----
 *
 * len(t) is the number of records that have to be replaced for the order statistic of rank m to become t. The mechanism
 * returns t with density, or probability on a grid, proportional to e^(-eps len(t)/2): eps-private. Its rho-smooth form
 * takes the smallest len within rho of t. The points with len <= j are those from x_(m-j) to x_(m+j), ends included, with
 * x_(i) the ends of the range beyond the data.                                                                       */

/* The law on the interval [lo, hi].
 *
 * Needs    1 <= n <= 2^20 values within lo < hi, 1 <= rank <= n, rho >= 0, eps >= 0; `at`: points, of which there may be none.
 * Gives    the logarithm of the normalising constant, mean and second moment of the answer, and probabilities[i] of an
 *          answer up to at[i]; unknown ([-inf, inf], probabilities [0, 1]) on failure.
 * Cost     O(n log n) + O(n) for each point.
 * Errors   INVALID, UNABLE, SYSTEM (memory).
 * Paper    quantile, 3.1 (docs/papers.md#quantile-3-1).                                                              */
typedef struct tamis_inverse_moments {
    tamis_bound log_constant, mean, second_moment;
} tamis_inverse_moments;

TAMIS_USE tamis_status tamis_inverse_law(tamis_inverse_moments *moments, tamis_bound *probabilities,
                                         const tamis_number *const *values, size_t n, int64_t rank, const tamis_number *lo,
                                         const tamis_number *hi, const tamis_number *rho, const tamis_number *eps,
                                         const tamis_number *const *at, size_t at_count, tamis_error *err);

/* The law on the integers lo, ..., hi.
 *
 * Needs    n >= 1 values within lo <= hi, hi - lo < TAMIS_MAX_GRID, 1 <= rank <= n, eps >= 0.
 * Gives    lengths[i] and probabilities[i] of lo + i; 0 and [0, 1] on failure.
 * Errors   INVALID, UNABLE, SYSTEM (memory).                                                                        */
#define TAMIS_MAX_GRID 1000000
TAMIS_USE tamis_status tamis_inverse_grid_law(tamis_bound *probabilities, int64_t *lengths, const int64_t *values, size_t n,
                                              int64_t rank, int64_t lo, int64_t hi, const tamis_number *eps, tamis_error *err);

/* How accurate it is for n independent values of a law on an interval of length R whose density is at least p_min within 2
 * gamma of the quantile: the rho-smooth answer is more than 2 u + rho from the quantile of the sample with a probability of
 * at most
 *
 *     R/(2 rho) e^(-n p_min u eps/4) + 4 e^(-n gamma^2 p_min^2/8) + (2 gamma/u) e^(-n p_min u/8).
 *
 * Needs    rho > 0, gamma > 0, 0 < u <= gamma/4, R > 0, p_min > 0, 4 gamma p_min <= 1, eps > 0, 1 <= n <= 2^40.
 * Gives    the bound, 1 where it says nothing; [0, 1] on failure. The second function gives the smallest n that brings it to
 *          `target` or below (setup->n is not looked at), the third the smallest eps, rounded up (setup->eps is not looked
 *          at); 0 < target < 1. On failure INT64_MAX, inf. UNABLE if no n up to 2^40, or no eps up to 10^6, suffices.
 * Errors   INVALID, UNABLE, SYSTEM (memory).
 * Paper    quantile, Theorem 3.2.0.1 (docs/papers.md#quantile-3-2).                                                  */
typedef struct tamis_inverse_setup {
    int64_t n;
    const tamis_number *eps, *rho, *u, *gamma, *length, *p_min; /* length: R */
} tamis_inverse_setup;

TAMIS_USE tamis_status tamis_inverse_accuracy(tamis_bound *failure, const tamis_inverse_setup *setup, tamis_error *err);
TAMIS_USE tamis_status tamis_inverse_accuracy_n(int64_t *n, const tamis_inverse_setup *setup, const tamis_number *target,
                                                tamis_error *err);
TAMIS_USE tamis_status tamis_inverse_accuracy_eps(double *eps, const tamis_inverse_setup *setup, const tamis_number *target,
                                                  tamis_error *err);

TAMIS_END

#endif
