/* Factorised prefix sums.
 *
 * F is lower triangular and the same along its diagonals: entries a_0, a_1, ..., a_(B-1), with a_k = 2^14 f_k rounded, f_0 = 1,
 * f_k = f_(k-1) (1 - 1/(2k)). For the rounded integers F F is only nearly 2^28 times the matrix of prefix sums, which does no
 * harm: prefix sums are estimated by A F^-1 y, whatever F is.
 *
 * Privacy. y = F x + z with independent discrete Gaussians z of variance v is rho-zCDP if |F (x - x')|^2 <= 2 rho v for all
 * neighbours (Canonne, Kamath and Steinke 2020). The columns of F have length at most that of the first, D^2 = sum of a_k^2. A
 * unit of g records of weight at most W adds a vector u to F x with |u| <= g W D; replacing it changes F x by u - u', and |u -
 * u'|^2 <= |u|^2 + |u'|^2, because no entry is negative. So v = c (g W D)^2 / (2 rho), c = 1 if units are added or removed, c =
 * 2 if they are replaced: an exact fraction. */
#ifndef TMI_MECH_QUANTILE_PREFIX_H
#define TMI_MECH_QUANTILE_PREFIX_H

#include "mech/quantile/distribution.h"

/* The noise and standard deviations of a distribution whose bins and weights are set. Errors: SYSTEM, INVALID. */
tamis_status tmi_prefix_set(tamis_distribution *distribution, const tamis_distribution_setup *setup, tamis_error *err);

/* distribution->plain from the weights of the bins and the noise at hand. Errors: SYSTEM. */
tamis_status tmi_prefix_estimate(tamis_distribution *distribution, const int64_t *x, tamis_error *err);

/* F x, exactly. */
void tmi_prefix_measure(__int128 *y, const int64_t *x, const int64_t *entries, size_t bins);

/* A F^-1 y. */
void tmi_prefix_solve(double *sums, const double *y, const int64_t *entries, size_t bins);

#endif
