/* Smooth sensitivity of an order statistic, and the noise that goes with it.
 *
 * One record can move the median of most data only a little, and that of some data by the whole range. Noise for the worst
 * data drowns the answer; noise for the data at hand gives away how much they can be moved. The smooth sensitivity S is in
 * between: at least as large as the local sensitivity, and between neighbours different by a factor e^beta at most.
 *
 * Values lie in a declared range [lo, hi], neighbours differ in one replaced record, and x_(1) <= ... <= x_(n) are the values
 * in order. The range is part of the definition: x_(i) is lo for i < 1 and hi for i > n. Without it (order statistics that do
 * not exist left out, or taken from the data) S can be 0 for data that have a neighbour with S > 0, and nothing is private; so
 * no function here goes without a range, and infinite ends are INVALID. Then
 *
 *     S = max over i <= m <= j, i < j of (x_(j) - x_(i)) e^(-beta (j - i - 1)),   0 <= i, j <= n + 1.
 *
 * The rank m of the median is (n + 1) / 2 rounded down, that of a quantile q is q n rounded up.
 *
 * Experimental: this header may change in any version, and programs that use it are compiled again with each. */
#ifndef TAMIS_EXPERIMENTAL_SMOOTH_H
#define TAMIS_EXPERIMENTAL_SMOOTH_H

#include <tamis/experimental/bound.h>

TAMIS_BEGIN

/* The smooth sensitivity of the order statistic of one rank, certified.
 *
 * Needs    n >= 1 exact values within lo <= hi, in any order; 1 <= rank <= n; beta >= 0.
 * Gives    an enclosure; {0, inf} on failure.
 * Cost     O(n log n) operations with exact numbers: for calculators and tests, up to some 100,000 values.
 * Errors   INVALID, UNABLE, SYSTEM (memory).
 * Paper    gain, (4), with the ends that it leaves out (docs/papers.md#gain-4).                                      */
TAMIS_USE tamis_status tamis_smooth_sensitivity(tamis_bound *sensitivity, const tamis_number *const *values, size_t n,
                                                int64_t rank, const tamis_number *lo, const tamis_number *hi,
                                                const tamis_number *beta, tamis_error *err);

/* The same from doubles, fast: an upper bound that is above the true value by a share of 1e-12 at most as long as it is not
 * below (hi - lo) / 10^4; for smaller ones by (hi - lo) 1e-16 more. A value outside of the range counts as its nearer end,
 * a NaN as hi. Integers on a grid are doubles too, exactly so up to 2^53.
 *
 * Needs    as above; lo and hi finite with a finite difference, beta finite.
 * Gives    the bound; inf on failure.
 * Cost     O(n + K log K), K about log((hi - lo) / S) / beta: 10^7 values take some 25 ms. Memory for three copies of the
 *          values is reserved; little of it is used unless K is near n.
 * Errors   INVALID, SYSTEM (memory).                                                                                 */
TAMIS_USE tamis_status tamis_smooth_sensitivity_up(double *sensitivity, const double *values, size_t n, int64_t rank, double lo,
                                                   double hi, double beta, tamis_error *err);

/* The local sensitivity: how far one replaced record can move the order statistic of these data. It is what noise must not be
 * calibrated with. The same needs, errors and failure; exact, so the enclosure is that of a rational.                 */
TAMIS_USE tamis_status tamis_local_sensitivity(tamis_bound *sensitivity, const tamis_number *const *values, size_t n,
                                               int64_t rank, const tamis_number *lo, const tamis_number *hi, tamis_error *err);

/* ---- Laplace noise: (eps, delta)-privacy ----
 *
 * The answer is x_(m) plus Laplace noise of scale S / alpha. Neighbours have answers at most min(S, S') apart and S, S'
 * within a factor e^beta of each other; so the loss is that of the worst such pair of Laplace laws. Choose alpha and beta
 * before the data is seen: a choice made from the data tells about them.                                                     */

/* The smallest delta that holds for all such pairs.
 *
 * Needs    0 < alpha <= eps, beta >= 0.
 * Gives    an enclosure; [0, 1] on failure. The worst pair has S = e^beta S' and answers S' apart: proved for the order in
 *          which the larger scale comes first; the other order is bounded in src/mech/smooth_laplace.c each time.
 * Cost     some pairs of laws, microseconds each.
 * Errors   INVALID, UNABLE (eps far below beta, where delta is beyond any use), SYSTEM (memory).
 * Paper    gain, smooth sensitivity of the median (docs/papers.md#gain-smooth).                                      */
TAMIS_USE tamis_status tamis_smooth_laplace_delta(tamis_bound *delta, const tamis_number *eps, const tamis_number *alpha,
                                                  const tamis_number *beta, tamis_error *err);

/* An (alpha, beta) for Laplace noise. All three are exact as they are: delta belongs to these doubles. */
typedef struct tamis_smooth_choice {
    double alpha, beta;
    tamis_bound delta;
} tamis_smooth_choice;

/* The largest beta that goes with an alpha: as much smoothness as eps and delta allow.
 *
 * Needs    0 < alpha, alpha <= eps, 0 < delta < 1.
 * Gives    choice->beta, with choice->delta.upper <= delta and a beta larger by a share of 1e-11 not allowed; on failure zeros
 *          and delta [0, 1].
 * Errors   INVALID, UNABLE, SYSTEM (memory).                                                                        */
TAMIS_USE tamis_status tamis_smooth_beta(tamis_smooth_choice *choice, const tamis_number *eps, const tamis_number *delta,
                                         double alpha, tamis_error *err);

/* The published calibration: alpha = eps / 2 and beta = eps / (2 log(2 / delta)), rounded down. choice->delta shows how far
 * below the target it stays. Needs, errors and failure as above. */
TAMIS_USE tamis_status tamis_smooth_published(tamis_smooth_choice *choice, const tamis_number *eps, const tamis_number *delta,
                                              tamis_error *err);

/* The alpha, among multiples of eps / 40, that makes the noise S / alpha smallest, with its largest beta.
 *
 * Needs    eps > 0, 0 < delta < 1. `values`, n, rank, lo, hi as in tamis_smooth_sensitivity_up: PUBLIC data that resemble
 *          those to be protected, such as an older wave or a simulation. NULL (n = 0, others not looked at): values that lie
 *          evenly around the quantile, where S is the largest (k + 1) e^(-beta k) gaps.
 * Gives    the choice; failure as above.
 * Cost     one smooth sensitivity of the public data for each of 40 candidates.
 * Errors   INVALID, UNABLE, SYSTEM (memory).                                                                        */
TAMIS_USE tamis_status tamis_smooth_choose(tamis_smooth_choice *choice, const tamis_number *eps, const tamis_number *delta,
                                           const double *values, size_t n, int64_t rank, double lo, double hi, tamis_error *err);

/* ---- noise for pure privacy ----
 *
 * The answer is x_(m) + (S / a) Z with Z of density e^-phi. It is eps-private if
 *
 *     sup over z of a |phi'(z)| + beta |z phi'(z) - 1| <= eps,
 *
 * because on a straight path from one neighbour's (centre, log S) to the other's the centre moves by at most min(S, S'), which
 * is at most the S on the way, and log S by at most beta; the log density changes by at most the sum. The sup is taken of
 * the sum: the sum of two suprema, as in the literature, is larger. */
typedef enum tamis_smooth_noise {
    TAMIS_SMOOTH_LAPLACE,  /* density e^-|z| / 2: never admissible unless beta = 0 */
    TAMIS_SMOOTH_GAUSSIAN, /* never admissible */
    TAMIS_SMOOTH_STUDENT,  /* `shape` > 0 degrees of freedom */
    TAMIS_SMOOTH_CAUCHY,   /* density proportional to 1 / (1 + |z|^shape), shape > 1 */
    TAMIS_SMOOTH_POLYPLACE /* shape > 1: see below */
} tamis_smooth_noise;

/* The sup above: the smallest eps that this argument proves.
 *
 * Needs    a > 0, beta >= 0; shape as said at the family, NULL where there is none.
 * Gives    an enclosure, inf where no eps is proved; [0, inf] on failure.
 * Errors   INVALID, UNABLE, SYSTEM (memory).                                                                        */
TAMIS_USE tamis_status tamis_smooth_loss(tamis_bound *eps, tamis_smooth_noise noise, const tamis_number *shape,
                                         const tamis_number *a, const tamis_number *beta, tamis_error *err);

/* PolyPlace noise for eps and beta: shape p = eps / beta, a = beta, and the density proportional to (1 - |z|)^(p-1) for |z|
 * <= 1/p, to C (1 + |z|)^-(p+1) beyond, C making it continuous. Its loss is exactly eps. All
 * functions speak of the noise in units of S, which is Z / beta.
 *
 * Needs    eps > 0, beta > 0, eps > beta; for sd eps > 2 beta (else there is none: inf); 0 < level < 1.
 * Gives    enclosures: the standard deviation, the density at x, the probability of more than x, and the x that is exceeded
 *          with probability 1 - level. On failure [0, inf], [0, inf], [0, 1], [-inf, inf].
 * Errors   INVALID, UNABLE, SYSTEM (memory).                                                                        */
TAMIS_USE tamis_status tamis_polyplace_sd(tamis_bound *sd, const tamis_number *eps, const tamis_number *beta, tamis_error *err);
TAMIS_USE tamis_status tamis_polyplace_density(tamis_bound *density, const tamis_number *eps, const tamis_number *beta,
                                               const tamis_number *x, tamis_error *err);
TAMIS_USE tamis_status tamis_polyplace_at_least(tamis_bound *p, const tamis_number *eps, const tamis_number *beta,
                                                const tamis_number *x, tamis_error *err);
TAMIS_USE tamis_status tamis_polyplace_quantile(tamis_bound *x, const tamis_number *eps, const tamis_number *beta,
                                                const tamis_number *level, tamis_error *err);

/* Student noise for comparison: the standard deviation of (1 / a) T, in units of S, with T of `degrees` > 2 and the largest
 * a that is admissible. It was above that of PolyPlace in every case tried.
 *
 * Needs    eps > beta degrees, which every a leaves as the loss in the tails; else INVALID.                         */
TAMIS_USE tamis_status tamis_student_sd(tamis_bound *sd, const tamis_number *eps, const tamis_number *beta,
                                        const tamis_number *degrees, tamis_error *err);

TAMIS_END

#endif
