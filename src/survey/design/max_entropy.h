/* The coins of conditional Poisson sampling: odds w_k such that, given n heads, unit k is a head with probability
 * exactly pi_k. They exist, and are unique up to a common factor, for pi_k in (0, 1) whose sum is n.
 *
 * How they are found. From w = pi / (1 - pi) on, w_k is multiplied by about (wanted odds / odds given n heads); each
 * round gains a factor of about the variance of a Poisson sample's size. The first rounds are made in doubles
 * (max_entropy_guess.c): what they give is a guess and nothing else, which the balls go on from.
 *
 * How they are certified. Let w be any guess, pi_k + r_k its probabilities given n heads (enclosed by tree.h), and
 * let lambda(t) be the logarithms of odds that give pi + (1-t) r, from the guess at t = 0 to the solution at t = 1:
 * all of these lie in (0, 1) and sum to n, so there are such odds, and they move smoothly. Then C d lambda / dt = -r,
 * where C is the covariance matrix of the indicators: off the diagonal -c_kl <= 0, and rows sum to 0, the sample size
 * being fixed. With R_j the elementary symmetric functions of the odds of the other N - 2 units,
 *     c_kl = P(k, not l) P(l, not k) - P(k, l) P(neither) = w_k w_l (R_{n-1}^2 - R_n R_{n-2}) / (sum)^2
 *          >= kappa P(k, not l) P(l, not k) >= kappa a_k a_l,
 *     kappa = (N - 1) / (n (N - n)),  a_k = pi_k(t) (1 - pi_k(t)),
 * by Newton's inequality and because indicators of different units are negatively correlated. Where d lambda / dt is
 * largest, at k say, sum over l of c_kl (difference to l) = -r_k, so its distance to the mean weighted by a is at
 * most |r_k| / (kappa a_k S), S = sum of a; likewise where it is smallest. Integrated over t, and the integral of the
 * weighted mean being the same for all units: up to a common factor, every log w_k is within
 *     epsilon = max over k of |r_k| / (kappa a_k S)
 * of the solution, a_k being the smaller of its values at t = 0 and t = 1 (it is concave in between).                */
#ifndef TMI_SURVEY_DESIGN_MAX_ENTROPY_H
#define TMI_SURVEY_DESIGN_MAX_ENTROPY_H

#include "base/watch.h"
#include "survey/design/pps.h"

/* Sets odds[k], k an open unit, to a ball around w_k of relative radius below 2^-bits. `watch` may be NULL.
 *
 * Errors   SYSTEM, UNABLE.                                                                                           */
tamis_status tmi_max_entropy(tmi_ball *odds, const tmi_pps *pps, long bits, const tmi_watch *watch, tamis_error *err);

/* Corrects w[k], which begins as wanted[k] = pi / (1 - pi), in doubles until it is as accurate as doubles allow. Gives the
 * largest relative error of the odds given n heads, infinite if nothing came of it. step[k] is the share of a correction
 * that is made.
 *
 * Errors   SYSTEM (cancelled).                                                                                       */
tamis_status tmi_max_entropy_guess(double *error, double *w, const double *wanted, const double *step, size_t count, int64_t n,
                                   const tmi_watch *watch, tamis_error *err);

#endif
