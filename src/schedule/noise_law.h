/* Integer noise X: how it is added, and its spread. */
#ifndef TMI_NOISE_LAW_H
#define TMI_NOISE_LAW_H

#include <stdbool.h>
#include <stdint.h>
#include <tamis/num.h>

#include "base/integer.h"

/* A true number t with |t| <= B < 2^61, B public, plus noise X that the sampler cut at M = 2^62, clamped to the limit
 * M - B. Without the clamp the sum would end at t + M, which tells t. With it the result is clamp(t + X) for the uncut X,
 * post-processing of exact noise: where X was cut, t + X and t + cut(X) both lie beyond the limit, on the same side. A
 * truth beyond B, which a file of more rows than declared may hold where rows are not counted, is first clamped to B: that
 * moves two neighbours no farther apart. */
tmi_int128 tmi_add_noise(tmi_int128 truth, int64_t noise, int64_t limit);

/* The standard deviation of the law with this scale. */
double tmi_noise_sd(const tamis_number *scale, bool gaussian);

/* P(X = 0), to a few units of the last digit. */
double tmi_noise_zero(const tamis_number *scale, bool gaussian);

#endif
