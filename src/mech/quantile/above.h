/* One quantile by AboveThreshold with one-sided noise, for tails and for upper bounds that nobody knows.
 *
 * Candidates c_1 < c_2 < ... are looked at one after the other; the answer is the first with
 *
 *     f_j + nu_j >= rho + shift,       f_j = d L(c_j) - target,
 *
 * where L is the weight of x <= c, so that a pile is found at its own place, and nu_j and rho are geometric: P(k) proportional
 * to exp(-k / scale), k = 0, 1, 2 ... Candidates grow by a hundredth of their distance from the lower end, so a thousand of them
 * reach from 1 to 10^6 and the upper end hardly matters. The noise is on integers, so the law is exact.
 *
 * Privacy. Let a unit move every f_j by at most S. In P(answer = k) for the other data set, replace rho by rho + S: the
 * probabilities that earlier candidates stay below do not fall, and that of candidate k to be above falls by at most that of a
 * shift of 2 S. With one-sided noise both shifts go up, where a geometric law loses exactly exp(-S / scale): so
 *
 *     S / scale_rho + 2 S / scale_nu <= epsilon.                                                                   (classic)
 *
 * If a unit moves all f_j in the same direction, one of the two shifts is enough:
 *
 *     S / scale_rho + S / scale_nu <= epsilon.                                                                     (monotone)
 *
 * The target is p T in the classic case, T the weight of all records. It is monotone if the target is public: neighbours have
 * the same number n of rows without weights, the target is p n, and a missing value counts as one above all candidates. The
 * caller asks for that by `complete` and gives n as `rows`: not the number of records at hand, from which missing ones may have
 * been left out already. The promise holds whether or not values are missing, only the quantile would be another one.
 * The g rows of a unit need not move the counts in the same direction; but they can be replaced one after the other, each with
 * S / g, and the losses add up to the same.
 *
 * The noise of each quantile is its own, threshold included.
 *
 * HistogramMethod. The paper's method, as repaired in <tamis/experimental/mech.h>, is the same with equally spaced cuts and
 * two-sided noise: discrete Laplace, P(k) proportional to exp(-|k| / scale), which also loses at most exp(-S / scale) when it
 * is shifted by S, so both conditions are sufficient as they are. It counts x < c, as the paper does, so that a pile at a cut
 * counts at the next one. There is no shift of the threshold, and every quantile has its part of epsilon. */
#ifndef TMI_MECH_QUANTILE_ABOVE_H
#define TMI_MECH_QUANTILE_ABOVE_H

#include "mech/quantile/quantile.h"

/* The candidates of a grid: `list` NULL counts them; and `count` equally spaced cuts, of which the last is the highest point.
 * Needs 1 <= count <= high - low, or count = 1. */
size_t tmi_candidates(int64_t *list, const tmi_grid *grid);
void tmi_cuts(int64_t *list, size_t count, const tmi_grid *grid);

/* Noise of one quantile: rho first, then one nu per candidate. */
typedef struct tmi_above {
    bool monotone, two_sided;
    tamis_number *rho_scale, *nu_scale;
    tamis_noise *rho, *nu;
    int64_t *noise; /* of the next call, candidate_count + 1 of them */
} tmi_above;

/* bins: of HistogramMethod, 0: chosen. Errors: INVALID, SYSTEM. */
tamis_status tmi_above_set(tamis_quantile *quantile, bool complete, int64_t bins, tamis_error *err);
void tmi_above_clear(tamis_quantile *quantile);
tamis_status tmi_above_prepare(tamis_quantile *quantile, tamis_rng *rng, tamis_error *err);

/* The answers with the noise at hand. Errors: SYSTEM, INVALID. */
tamis_status tmi_find_above(int64_t *points, tamis_quantile *quantile, const tmi_records *records, tamis_error *err);

/* The public shift of the threshold for n rows; 0 with two-sided noise. */
int64_t tmi_above_shift(const tmi_above *above, const tmi_rank *rank, int64_t n);

#endif
