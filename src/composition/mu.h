/* The mu of pure losses, for accounts that add up mu^2.
 *
 * A release is mu-Gaussian (Dong, Roth and Su 2022) if its laws for two neighbours are no easier to tell apart than N(0, 1) and
 * N(mu, 1), that is, by Blackwell's theorem, if it can be made from a normal number with mean 0 or mu. Integers with rounded
 * normal noise are, with mu^2 the sum of (change / scale)^2: they are made from the integers with normal noise. What is
 * epsilon-private is, too:
 *
 *     any mechanism of epsilon                            mu = 2 Phi^-1(e^epsilon / (1 + e^epsilon))
 *     integers with discrete Laplace noise                mu^2 = (pi/2) (sum of squared changes) / scale^2
 *
 * Proof. Every pair of laws with losses within epsilon is made from randomized response, whose trade-off between the errors
 * of both kinds is a broken line through (0, 1), (a, a) and (1, 0), a = 1 / (1 + e^epsilon). That of the normal pair,
 * Phi(Phi^-1(1 - x) - mu), is convex with the same ends. So it lies below the broken line if it does at a: Phi^-1(1 - a) - mu
 * <= Phi^-1(a).
 *
 * Any such mu is at most epsilon sqrt(pi/2). With z = mu/2 and p = Phi(z) the derivative of z by epsilon is p (1 - p) / phi(z),
 * and this is at most sqrt(2 pi) / 4 because 4 p (1 - p) = 1 - P(|Z| <= z)^2 <= e^(-z^2/2): P(|Z| <= z)^2 is the mass of a
 * square under the normal law of the plane, 1 - e^(-z^2/2) that of the disk inside it. A number that moves by d is
 * d/scale-private, the noise of several numbers is independent, and a list of normal numbers with means 0 or mu_j is one with
 * mu^2 = sum mu_j^2.
 *
 * What adds up. Let mu_1, mu_2, ... be chosen one after the other, each after all answers so far, with the sum of mu_t^2 at most
 * M. Given the answers so far, release t is made from a normal number with mean 0 or mu_t; over all t these numbers are a
 * Brownian motion without or with drift, read at the times mu_1^2, mu_1^2 + mu_2^2, ... which depend on its past, and never
 * beyond M. All answers are made from the path up to M, so they are sqrt(M)-Gaussian, whatever was chosen: delta at epsilon is
 * that of the normal mechanism of mu^2 = M, exactly, not that of a conversion (Smith and Thakurta 2022 in another form).
 *
 * This holds for one currency. A release that is rho-concentrated and no more is not mu-Gaussian for any mu, and a policy that
 * goes on with rho or with mu^2 depending on answers is not covered by the larger of the two caps.
 *
 * Numbers are rounded up, to ten decimal digits: a ledger keeps them. */
#ifndef TMI_COMPOSITION_MU_H
#define TMI_COMPOSITION_MU_H

#include <tamis/num.h>

#include "base/error.h"

/* Needs    epsilon >= 0.
 * Errors   UNABLE, SYSTEM; *mu_squared is then NULL.                                                                  */
tamis_status tmi_mu_squared_of_pure_up(tamis_number **mu_squared, const tamis_number *epsilon, tamis_error *err);

/* Of integers with discrete Laplace noise of one scale > 0 that move by at most l1 >= 0 in all and by l2_squared >= 0 in the
 * sum of squares. */
tamis_status tmi_mu_squared_of_discrete_laplace_up(tamis_number **mu_squared, const tamis_number *scale, int64_t l1,
                                                   const tamis_number *l2_squared, tamis_error *err);

#endif
