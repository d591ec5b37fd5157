/* What a law of noise is to the rest of the room: a function that draws and one that forgets. The law's own tables
 * follow in the same block. */
#ifndef TMI_RNG_NOISE_H
#define TMI_RNG_NOISE_H

#include "base/integer.h"
#include "num/number.h"
#include "rng/bits.h"

struct tamis_noise {
    tamis_status (*draw)(int64_t *out, size_t count, const tamis_noise *noise, tamis_rng *rng, tamis_error *err);
    void (*clear)(tamis_noise *noise); /* frees what the block points to, not the block */
};

/* INVALID unless least <= x <= largest; messages call x by its name. */
tamis_status tmi_noise_check(const tamis_number *x, const char *name, const char *least, const char *largest, tamis_error *err);

/* x, or +-TAMIS_NOISE_MAX if x lies beyond. */
static inline int64_t tmi_noise_cut(__int128 x)
{
    return x >= TAMIS_NOISE_MAX ? TAMIS_NOISE_MAX : x <= -TAMIS_NOISE_MAX ? -TAMIS_NOISE_MAX : (int64_t)x;
}

/* As tamis_noise_gaussian_new, by the variance scale^2, which need not be the square of a rational: P(k) proportional
 * to exp(-k^2 / (2 variance)). */
tamis_status tmi_noise_gaussian_new(tamis_noise **noise, const tamis_number *variance, tamis_error *err);

/* A true number t with |t| <= B < 2^61, B public, plus noise X that the sampler cut at M = 2^62, clamped to the limit
 * M - B. Without the clamp the sum would end at t + M, which reveals t. With it the result is clamp(t + X) for the uncut X,
 * post-processing of exact noise: where X was cut, t + X and t + cut(X) both lie beyond the limit, on the same side. A
 * truth beyond B, which a file of more rows than declared may hold where rows are not counted, is first clamped to B: that
 * moves two neighbours no farther apart. */
tmi_int128 tmi_add_noise(tmi_int128 truth, int64_t noise, int64_t limit);

#endif
