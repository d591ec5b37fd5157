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
 * The rank m of the median is (n + 1) / 2 rounded down, that of a quantile q is q n rounded up.                       */
#ifndef TAMIS_SMOOTH_H
#define TAMIS_SMOOTH_H

#include <tamis/num.h>

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
 * Cost     O(n + K log K), K about log((hi - lo) / S) / beta: 10^7 values take some 20 ms. Memory for a copy of the values is
 *          reserved; little of it is used unless K is near n.
 * Errors   INVALID, SYSTEM (memory).                                                                                 */
TAMIS_USE tamis_status tamis_smooth_sensitivity_up(double *sensitivity, const double *values, size_t n, int64_t rank, double lo,
                                                   double hi, double beta, tamis_error *err);

/* The local sensitivity: how far one replaced record can move the order statistic of these data. It is what noise must not be
 * calibrated with. The same needs, errors and failure; exact, so the enclosure is that of a rational.                 */
TAMIS_USE tamis_status tamis_local_sensitivity(tamis_bound *sensitivity, const tamis_number *const *values, size_t n,
                                               int64_t rank, const tamis_number *lo, const tamis_number *hi, tamis_error *err);

TAMIS_END

#endif
