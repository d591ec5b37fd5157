/* Discrete Laplace noise X, P(X = k) proportional to p^|k| with p = exp(-1/scale): its spread and its tails. */
#ifndef TMI_NOISE_LAW_H
#define TMI_NOISE_LAW_H

#include <stdint.h>
#include <tamis/num.h>

#include "base/integer.h"

/* A true number t with |t| <= B < 2^61, B public, plus noise X that the sampler cut at M = 2^62, clamped to the limit
 * M - B. Without the clamp the sum would end at t + M, which tells t. With it the result is clamp(t + X) for the uncut X,
 * post-processing of exact noise: where X was cut, t + X and t + cut(X) both lie beyond the limit, on the same side. A
 * truth beyond B, which a file of more rows than declared may hold where rows are not counted, is first clamped to B: that
 * moves two neighbours no farther apart. */
tmi_int128 tmi_add_noise(tmi_int128 truth, int64_t noise, int64_t limit);

/* The standard deviation, sqrt(2 p) / (1 - p). */
double tmi_noise_sd(const tamis_number *scale);

/* P(X = 0) = (1 - p) / (1 + p), to a few units of the last digit. */
double tmi_noise_zero(const tamis_number *scale);

/* A k with P(|X| > k) <= alpha, the smallest one unless the deciding comparison is closer than 1e-12.
 *
 * P(|X| > k) = 2 p^(k+1) / (1 + p) <= alpha  if and only if  k + 1 >= scale * log(2 / ((1 + p) alpha)). The right side
 * is enclosed, and its upper end is used.
 *
 * Needs    scale in the range of tamis_noise_laplace_new, 10^-9 <= alpha < 1, so that k < 2^55 * 22 < 2^60.
 * Errors   UNABLE, SYSTEM; *k is then INT64_MAX.                                                                     */
tamis_status tmi_noise_reach(int64_t *k, const tamis_number *scale, const tamis_number *alpha, tamis_error *err);

#endif
