/* The rho of pure losses.
 *
 * A mechanism is rho-zCDP if the Renyi divergence D_alpha of its answers for two neighbours is at most alpha rho for every
 * alpha > 1. Every epsilon has a rho of epsilon^2/2 at most. What is known of the mechanism says more:
 *
 *     any mechanism of epsilon                        epsilon tanh(epsilon/2)
 *     losses within a range of epsilon (selections)   4 ln cosh(epsilon/4)
 *     discrete Laplace noise, one number moved by d   kl(d) = lam (d - (1 - e^(-lam d)) / sinh(lam)),  lam = 1/scale
 *
 * Proof. Put v = (2 alpha - 1)^2, so that alpha (alpha - 1) = (v-1)/4, and M(v) = sum of P^alpha Q^(1-alpha). If ln M is
 * concave in v, then ln M(v) <= (v-1) (ln M)'(1), which says D_alpha <= alpha D_1: the worst rho is the Kullback-Leibler
 * divergence.
 *
 *   Randomized response, which dominates every pair of epsilon: M = cosh(s sqrt v) / cosh(s), s = epsilon/2; the derivative of
 *   ln cosh(s sqrt v) is s tanh(s sqrt v) / (2 sqrt v), which falls. D_1 is epsilon tanh(epsilon/2).
 *   Discrete Laplace, p = e^-lam, z = e^(lam (2 alpha - 1)): M is a constant times z^(-d/2) (1 + c z + ... + c z^(d-1) +
 *   z^d), c = 1-p.
 *   Times z - 1 its zeros solve z^d (z - p) = 1 - p z; |z - p| > |1 - p z| just if |z| > 1, so all have |z| = 1: all zeros
 *   in v are
 *   real and below 0, and M, of order 1/2, is a product of factors 1 + v/lambda: ln M is concave.
 *   A range of epsilon: two values suffice. K(s) = ln E_Q e^(s L) has K(0) = K(1) = 0, and K(alpha) / (alpha (alpha-1)) is
 *   the mean of
 *   K'' = (epsilon^2/4) sech^2(epsilon (s - c) / 2) under a triangle of mass 1/2; both rearranged around one point are largest at
 *   alpha = 1, where they give 4 ln cosh(epsilon/4).
 *
 * Noise of several numbers is independent, so their kl add up. Let the numbers move by d_j with sum |d_j| <= A and sum d_j^2
 * <= B, and h = B/A. There are a, b >= 0 with kl(x) <= a x + b x^2 for all x >= 0 and equality at h, touching there: the
 * difference has the values 0 at 0 and, twice, at h, and its third derivative is positive, so it is x (x-h)^2 times
 * something positive. Therefore
 *
 *     sum kl(d_j) <= a A + b B = (A/h) kl(h) = (A^2/B) kl(B/A).
 *
 * A table of counts in which a record moves from one cell to another, A = B = 2, has 2 kl(1); with L1 alone it would be kl(2).
 *
 * Numbers are rounded up, to ten decimal digits: a ledger keeps them. */
#ifndef TMI_COMPOSITION_CONCENTRATED_H
#define TMI_COMPOSITION_CONCENTRATED_H

#include <tamis/num.h>

#include "base/error.h"

/* Needs    epsilon >= 0.
 * Errors   UNABLE, SYSTEM; *rho is then NULL.                                                                         */
tamis_status tmi_rho_of_pure_up(tamis_number **rho, const tamis_number *epsilon, tamis_error *err);

/* Of `count` selections one after the other, which have the same range and epsilon together. */
tamis_status tmi_rho_of_selections_up(tamis_number **rho, const tamis_number *epsilon, int64_t count, tamis_error *err);

/* Of integers with noise of one scale > 0 that move by at most l1 >= 0 in all and by l2_squared >= 0 in the sum of squares. */
tamis_status tmi_rho_of_discrete_laplace_up(tamis_number **rho, const tamis_number *scale, int64_t l1,
                                            const tamis_number *l2_squared, tamis_error *err);

#endif
