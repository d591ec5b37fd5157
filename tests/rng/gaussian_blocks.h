/* The blocks of a discrete Gaussian by balls: what the sampler's thresholds are compared with. */
#ifndef TESTS_RNG_GAUSSIAN_BLOCKS_H
#define TESTS_RNG_GAUSSIAN_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "num/ball.h"

#define BITS 320 /* of the balls */

/* cdf[k], k < count: shares of exp(-(k 2^m)^2 / (2 variance)), the one of 0 halved if m = 0. */
typedef struct blocks {
    unsigned m; /* the largest with 1024 * 4^m <= variance, or 0 */
    size_t count;
    tmi_ball *cdf;
} blocks;

blocks blocks_of(const char *variance);
void blocks_free(blocks *b);

/* z = (high + low / 2^64) / 2^64 */
void fraction(tmi_ball *z, uint64_t high, uint64_t low);

/* Neither says more than balls can: false only if x is certainly larger. */
bool may_be_at_most(const tmi_ball *x, const tmi_ball *y);

#endif
