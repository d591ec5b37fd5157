/* delta of a list by an integral in the complex plane; for lists with a Gaussian whose losses all have a closed generating
 * function. The proof of its error bound is here, the code in contour.c.
 *
 * Let L be the loss of the whole list under P, without the mass at infinity that claims may have, and M(z) = E e^(zL) the
 * product of the M of its releases. (1 - e^(eps-L))+ is the integral of e^(z(L-eps)) / (z(z+1)) along any vertical line
 * Re z = s > 0, divided by 2 pi i: for L > eps by the residues at 0 and -1, otherwise 0. Taking expectations,
 *
 *     delta(eps) = integral over t of f(t),   f(t) = M(z) e^(-z eps) / (2 pi z (z+1)),   z = s + it.
 *
 * Taken is the sum h f(kh) over |k| <= K; f(-t) is the conjugate of f(t). Two errors, for any 0 < a < s:
 *
 * Steps.  f is analytic in the strip |Im t| <= a, where Re z >= s - a > 0, and |M(z)| <= M(Re z) because |e^(zL)| is
 *   e^(L Re z). The trapezoidal rule is then off by at most (N(s-a) + N(s+a)) / (e^(2 pi a/h) - 1), where N(r) is the
 *   integral of |f| along Re z = r (the integrals of f(t) / (1 - e^(-+2 pi i t/h)) along both edges of the strip differ from
 *   rule and integral by just these terms; Trefethen and Weideman 2014, section 5). |z(z+1)| >= |z|^2 gives
 *   N(r) <= M(r) e^(-r eps) / (2 pi) times the integral of 1/(r^2 + t^2) = M(r) e^(-r eps) / (2r).
 *
 * Tail.  A Gaussian release has |M(s+it)| = M(s) e^(-m t^2/2), m its squared shift; the others at most M(s). So the terms
 *   with |k| > K are together at most h/pi M(s) e^(-s eps) / (s(s+1)) times the sum of e^(-c k^2) over k > K, c = m h^2/2,
 *   which is at most e^(-c K^2) / (2 c K).
 *
 * Everything, the bounds included, is computed in balls. On the line through the saddle point nothing cancels, so some
 * tens of nodes give all digits of doubles. s, a, h and K are chosen in doubles: they may be bad, not wrong.
 *
 * With z the generating functions are, per release (lambda = sensitivity/scale, w = e^(-(2z+1) lambda)):
 *     randomized response   e^(z lambda) (1 + w) / (1 + e^-lambda)
 *     Laplace               e^(z lambda) (z (1 + w) + 1) / (2z + 1)
 *     Gaussian              e^(m z(z+1)/2)
 *     discrete Laplace      e^(z D/b) (1 + r^D + (1-p)(r - r^D)/(1-r)) / (1+p),   p = e^(-1/b), r = e^(-(2z+1)/b)
 *     discrete Gaussian     e^(D^2 z(z+1)/(2v)) theta(zD)/theta(0),  theta(w) = sum over k of e^(-(k+w)^2/(2v)) */
#ifndef TMI_COMPOSITION_CONTOUR_H
#define TMI_COMPOSITION_CONTOUR_H

#include "composition/profile.h"

/* Opens the evaluator; UNABLE if the list has no Gaussian, has a release without a generating function, or needs too many
 * nodes. Everything but the mass at infinity. */
tamis_status tmi_contour_open(tmi_evaluator *evaluator, const tamis_profile *profile, tamis_error *err);

#endif
