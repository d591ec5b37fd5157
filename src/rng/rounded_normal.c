/* Normal noise of any rational standard deviation, rounded to the nearest integer: exactly.
 *
 * The magnitude of a standard normal number is cut into blocks of 1/32: |Z| = (k + x) / 32 with 0 <= x < 1,
 *
 *     exp(-|Z|^2 / 2) = exp(-k^2 / 2048) * exp(-e),      e = x (2 k + x) / 2048 >= 0.
 *
 * Choose k with weights exp(-k^2 / 2048) by inversion.c, x by its binary digits, and keep them with probability exp(-e),
 * otherwise start again: a kept (k, x) has the density of |Z|. With a fair sign, the noise is scale |Z| rounded to the
 * nearest integer. As many digits of x are drawn as decide that integer and the coin, no more; mostly the first 64 do, by
 * integers alone, as in discrete_gaussian.c. What they leave open is decided by balls (num/normal_digits.h). The law is
 * therefore that of the real number, rounded: no digit of it is ever dropped. A half-integer has probability 0, and zero may
 * come with either sign, as the normal law is symmetric.
 *
 * Whoever adds this noise to an integer t publishes t + round(scale Z) = round(t + scale Z): post-processing of the continuous
 * normal mechanism, whose privacy is known exactly and adds up exactly. The discrete Gaussian has no such bound.
 *
 * Bounds. F = floor(2^64 x), f = floor(2^32 x), s = k 2^33 + f <= 2^32 (2 k + x) < s + 1; k < 2^9 in the table.
 *   g = floor(F s / 2^64), the product below 2^64 * 2^43: g <= 2^32 x (2 k + x) < g + 3. X = floor(g / 2^11):
 *       X <= 2^32 e < X + 2, and e < 1. The coin is that of discrete_gaussian.c.
 *   S = floor(scale 2^j) < 2^64, K = floor(2^48 (k + x)) < 2^57, the product below 2^121:
 *       K S <= 2^(j+53) scale |Z| < (K + 1)(S + 1) = K S + K + S + 1.
 *       With a half = 2^(j+52) both ends, shifted by j + 53, give the integer where they agree. j is at most 70, so that the
 *       half stays below 2^122. */
#include "base/memory.h"
#include "num/normal_digits.h"
#include "rng/inversion.h"
#include "rng/noise.h"

#define BLOCKS 304           /* k^2 / 2048 >= 45 beyond: less than 2^-64 */
#define BLOCK_SQUARES "1024" /* 32^2 */
#define MOST_SHIFT 70

typedef struct normal {
    tamis_noise noise;
    tamis_number *scale, *squares;
    uint64_t s; /* S above */
    unsigned j;
    tmi_inversion blocks;
} normal;

static inline int64_t with_sign(uint64_t magnitude, uint64_t minus) { return (int64_t)((magnitude ^ -minus) + minus); }

/* ---- what 64 digits leave open ---- */

/* One more word for each of the two lists; old words are wiped. */
static tamis_status lengthen(uint64_t **x, uint64_t **coin, size_t count, tamis_rng *rng, tamis_error *err)
{
    uint64_t *longer[2] = {tmi_alloc(count + 1, sizeof **x), tmi_alloc(count + 1, sizeof **x)}, **old[2] = {x, coin};
    const uint8_t *random = longer[0] && longer[1] ? tmi_bits_take(rng, 2 * sizeof **x) : NULL;
    if (!random) {
        const bool memory = !longer[0] || !longer[1];
        tmi_free(longer[0]);
        tmi_free(longer[1]);
        return memory ? tmi_fail_memory(err) : tmi_bits_failed(err);
    }
    for (int i = 0; i < 2; i++) {
        for (size_t n = 0; n < count; n++) longer[i][n] = (*old[i])[n];
        longer[i][count] = tmi_load64(random + 8 * i);
        if (*old[i]) tmi_wipe(*old[i], count * sizeof **x);
        tmi_free(*old[i]);
        *old[i] = longer[i];
    }
    return TAMIS_OK;
}

/* The candidate in block k with the first digits `first` of x and `a` (32 of them) of the coin. */
static __attribute__((noinline)) tamis_status find_exactly(bool *keep, uint64_t *magnitude, const normal *n, size_t k,
                                                           uint64_t first, uint32_t a, tamis_rng *rng, tamis_error *err)
{
    uint64_t *x = tmi_alloc(1, sizeof *x), *coin = tmi_alloc(1, sizeof *coin);
    size_t count = 1;
    bool decided = false;
    int64_t whole = 0;
    tamis_status status = TAMIS_OK;
    *keep = false;
    *magnitude = 0;
    if (!x || !coin) TMI_TRY(tmi_fail_memory(err));
    const uint8_t *random = tmi_bits_take(rng, sizeof a);
    if (!random) TMI_TRY(tmi_bits_failed(err));
    uint32_t rest;
    __builtin_memcpy(&rest, random, sizeof rest);
    x[0] = first;
    coin[0] = (uint64_t)a << 32 | rest;
    for (;;) {
        tmi_normal_find(&decided, keep, &whole, &(tmi_normal_digits){k, x, coin, count}, n->scale);
        if (decided) break;
        TMI_TRY(lengthen(&x, &coin, count, rng, err));
        count++;
    }
    *magnitude = (uint64_t)tmi_noise_cut(whole);

done:
    if (x) tmi_wipe(x, count * sizeof *x);
    if (coin) tmi_wipe(coin, count * sizeof *coin);
    tmi_free(x);
    tmi_free(coin);
    return status;
}

/* ---- drawing ---- */

/* Whether integers alone decide the coin, and how. */
static inline bool quick_coin(bool *keep, size_t k, uint64_t digits, uint32_t a)
{
    const uint64_t s = ((uint64_t)k << 33) + (digits >> 32), one = UINT64_C(1) << 32;
    const uint64_t e = (uint64_t)((unsigned __int128)digits * s >> 64) >> 11;
    *keep = a + e + 3 <= one;
    return *keep || a + e >= one + ((e * e + (one << 1) - 1) >> 33);
}

/* Whether integers alone decide the magnitude. */
static inline bool quick_whole(uint64_t *magnitude, const normal *n, size_t k, uint64_t digits)
{
    const uint64_t block = ((uint64_t)k << 48) + (digits >> 16);
    const unsigned __int128 low = (unsigned __int128)block * n->s + ((unsigned __int128)1 << (n->j + 52));
    const unsigned shift = n->j + 53;
    *magnitude = (uint64_t)(low >> shift);
    return *magnitude == (uint64_t)((low + block + n->s) >> shift);
}

/* Random bytes: 8 for k, 8 for x, 4 for the coin, 1 for the sign. */
static tamis_status draw(int64_t *out, size_t count, const tamis_noise *noise, tamis_rng *rng, tamis_error *err)
{
    const normal *n = (const normal *)noise;
    for (size_t i = 0; i < count;) {
        size_t k;
        uint32_t a;
        uint64_t magnitude = 0;
        bool keep = false;
        const uint8_t *random = tmi_bits_take(rng, 21);
        if (!random) return tmi_bits_failed(err);
        const uint64_t word = tmi_load64(random), digits = tmi_load64(random + 8), minus = random[20] & 1;
        __builtin_memcpy(&a, random + 16, sizeof a);
        bool quick = tmi_inversion_quick(&k, &n->blocks, word);
        if (!quick) {
            tamis_status status = tmi_inversion_find(&k, &n->blocks, word, rng, err);
            if (status != TAMIS_OK) return status;
        }
        quick = quick && quick_coin(&keep, k, digits, a) && (!keep || quick_whole(&magnitude, n, k, digits));
        if (!quick) {
            tamis_status status = find_exactly(&keep, &magnitude, n, k, digits, a, rng, err);
            if (status != TAMIS_OK) return status;
        }
        out[i] = with_sign(magnitude, minus);
        i += keep;
    }
    return TAMIS_OK;
}

static void clear(tamis_noise *noise)
{
    normal *n = (normal *)noise;
    tmi_inversion_clear(&n->blocks);
    tmi_number_frees(&n->scale, &n->squares, NULL);
}

/* S and j: the largest j with S below 2^63, or MOST_SHIFT. */
static tamis_status set_fixed(normal *n, tamis_error *err)
{
    tamis_number *power = NULL, *scaled = NULL;
    int64_t whole = 0, next;
    tamis_status status = TAMIS_OK;
    for (unsigned j = 0; j <= MOST_SHIFT; j++) {
        tamis_number_free(scaled);
        scaled = NULL;
        if (!power) TMI_TRY(tmi_number_copy(&power, n->scale, err));
        else {
            TMI_TRY(tmi_number_add(&scaled, power, power, err));
            tamis_number_free(power);
            power = scaled;
            scaled = NULL;
        }
        if (!tmi_number_floor(&next, power)) break;
        whole = next;
        n->j = j;
    }
    n->s = (uint64_t)whole;

done:
    tmi_number_frees(&power, &scaled, NULL);
    return status;
}

tamis_status tamis_noise_normal_new(tamis_noise **noise, const tamis_number *scale, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    normal *n = NULL;
    if (!noise) return tmi_fail(err, TAMIS_INVALID, "noise: NULL");
    *noise = NULL;
    TMI_TRY(tmi_noise_check(scale, "scale", TAMIS_SCALE_MIN, TAMIS_GAUSSIAN_SCALE_MAX, err));
    if (!(n = tmi_alloc(1, sizeof *n))) TMI_TRY(tmi_fail_memory(err));
    n->noise = (tamis_noise){draw, clear};
    TMI_TRY(tmi_number_copy(&n->scale, scale, err));
    TMI_TRY(tamis_number_read(&n->squares, BLOCK_SQUARES, err));
    TMI_TRY(set_fixed(n, err));
    TMI_TRY(tmi_inversion_init(&n->blocks, &(tmi_weights){.variance = n->squares}, BLOCKS, err));
    *noise = &n->noise;
    n = NULL;
done:
    if (n) tamis_noise_free(&n->noise);
    return status;
}
