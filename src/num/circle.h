/* Coefficients of a product of linear factors by an integral over a circle; for num/ alone.
 *
 * The law is that of X, the number of ones among independent trials, group i having n_i trials of probability p_i.
 * Its generating function G(z) = prod (1 - p_i + p_i z)^{n_i} is known in closed form, so a coefficient is an integral
 * over the circle |z| = r, and the trapezoid rule with M points gives it up to aliases that can be bounded:
 *
 *     (1/M) sum_m G(z_m) z_m^{-k} = sum over all integers t of P(X = k + tM) r^{tM}.
 *
 * With G(z) / (1 - 1/z) and r > 1 in place of G(z) the coefficients are the tails P(X >= k). Put q_i = p_i r /
 * (1-p_i+p_i r) (the tilted probabilities), phi(theta) = G(r e^{i theta}) / G(r), V = sum n_i q_i (1-q_i). Then
 *
 *   - |phi(theta)| <= exp(-V (1 - cos theta)), since |1 - q + q e^{i theta}|^2 = 1 - 2q(1-q)(1 - cos theta): points far
 *     from theta = 0 are not computed but bounded;
 *   - P(X = j) <= G(y) y^{-j} for y > 0, and P(X >= j) <= G(y) y^{-j} for y >= 1 (Markov): with y = r e^h for the
 *     aliases k + M, k + 2M, ... and y = r e^-h for k - M, k - 2M, ... both are geometric series; in tails h < log r.
 *
 * Whatever r, h, M and the number of computed points are, the enclosure is right; it is narrow if they are well chosen.
 */
#ifndef TMI_NUM_CIRCLE_H
#define TMI_NUM_CIRCLE_H

#include "num/ball_arb.h"

typedef struct tmi_circle_group {
    tmi_ball success, failure; /* p and 1-p, 0 < p < 1 */
    int64_t count;
    double odds_log; /* near log(p/(1-p)): for guesses, not looked at here */
} tmi_circle_group;

typedef struct tmi_circle_law {
    tmi_circle_group *groups;
    size_t count;
    int64_t trials; /* in all groups */
} tmi_circle_law;

typedef struct tmi_circle {
    double tilt;      /* log r; positive for a tail */
    double reach;     /* h > 0; below the tilt for a tail */
    int64_t points;   /* M, odd */
    int64_t computed; /* points m = -computed .. computed are computed, at most (M-1)/2 */
} tmi_circle;

/* P(X = k), or P(X >= k) if tail, for 0 < k < trials. The only error is SYSTEM, for want of memory. */
tamis_status tmi_circle_part(tmi_ball *z, const tmi_circle_law *law, bool tail, int64_t k, const tmi_circle *circle, slong prec,
                             tamis_error *err);

#endif
