/* delta of a list by exact sums; for lists without a continuous Gaussian.
 *
 * Atoms only. The terms (composition/loss_atoms.h) are kept in two lists A and B whose product they are. With P(x) the mass of B
 * above the place x and Q(x) the mass there weighted with e^-loss,
 *     delta(eps) = sum over a in A of  weight_a (P(t - a) - e^(eps - loss_a) Q(t - a)),   t = the last place <= eps,
 * so that n terms need about 2 sqrt n stored ones and one search each.
 *
 * With K Laplace releases. Each has the generating function ((z+1) e^(z a) + z e^(-a) e^(-z a)) / (2z+1) (a = sensitivity
 * over scale), so the product is a sum of terms weight z^J (z+1)^(K-J) e^(z x) / (2z+1)^K, and delta(eps) the sum over the
 * terms of  weight R_J(x - eps),  R_J(y) being the integral of z^(J-1) (z+1)^(K-J-1) e^(zy) / (2z+1)^K along Re z > 0,
 * divided by 2 pi i. For y <= 0 it is 0 (close the contour on the right); for y > 0 it is the sum of the residues: at -1/2,
 * with z = w - 1/2,
 *     2^-K e^(-y/2) times the coefficient of w^(K-1) in (w + 1/2)^(K-J-1) (w - 1/2)^(J-1) e^(wy),
 * and 1 at 0 if J = 0, and -e^-y at -1 if J = K.                                                                      */
#ifndef TMI_COMPOSITION_SUMS_H
#define TMI_COMPOSITION_SUMS_H

#include "composition/profile.h"

/* Opens the evaluator; UNABLE if there are too many terms, or a release that is not of these kinds. Everything but the mass at
 * infinity. */
tamis_status tmi_sums_open(tmi_evaluator *evaluator, const tamis_profile *profile, tamis_error *err);

#endif
