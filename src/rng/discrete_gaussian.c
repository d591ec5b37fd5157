/* Discrete Gaussian noise of any rational variance.
 *
 * |X| is cut into blocks of T = 2^m: |X| = k T + u with 0 <= u < T. With v the variance,
 *
 *     exp(-|X|^2 / 2v) = exp(-(k T)^2 / 2v) * exp(-x),      x = u (2 k T + u) / 2v >= 0.
 *
 * T = 1 (v < 64^2): u = 0. Choose |X| = k by inversion with weights exp(-k^2 / 2v), the zero counted half,
 *       then a fair sign: both signs together give every k != 0 its weight and 0 one weight. Nothing is rejected.
 * T > 1 (T the largest power of two with T <= sqrt(v) / 32): choose k with weights exp(-(k T)^2 / 2v), a fair sign and
 *       u uniform; keep them with probability exp(-x), otherwise start again. A kept (sign, k, u) then has probability
 *       proportional to exp(-|X|^2 / 2v). Zero could come with either sign: the one with minus is not kept.
 *
 * Blocks are chosen by inversion.c, exactly. Keeping is a coin of probability exp(-x), tossed with a random number
 * A + (rest) in units of 2^-32, A the first 32 digits, 0 <= rest < 1. Most coins are decided by integers alone:
 *
 *     exp(-x) >= 1 - x                keep if         A + 1 <= 2^32 (1 - x)
 *     exp(-x) <= 1 - x + x^2/2        do not keep if  A >= 2^32 (1 - x + x^2/2)
 *
 * with X <= 2^32 x < X + 2 from two multiplications. What is left between the two (about 1 in 6000) is decided by
 * certified digits of exp(-x), as in bernoulli.c.
 *
 * Bounds (T > 1). c = T^2 / 2v, so 2^-13 < c <= 2^-11; f = u / T; x = c f (2k + f); in the table
 * k < sqrt(45 / c) + 1 < 2^10.
 *   F = 2^64 f exactly. g = floor(F (2k 2^32 + floor(F / 2^32)) / 2^64), the product below 2^64 * 2^43:
 *       g <= 2^32 f (2k + f) < g + 2.
 *   C = floor(2^64 c) <= 2^53.  X = floor(g C / 2^64), the product below 2^43 * 2^53:
 *       2^32 x < (g + 2)(C + 1) / 2^64 < g C / 2^64 + 2^-21 + 2^-9 < X + 2, and x < 2 sqrt(45 c) + 3 c < 1.
 *   X^2 / 2^33 rounded up is at least 2^32 (X / 2^32)^2 / 2; 1 - x + x^2/2 decreases for x < 1, so X stands for x. */
#include "base/memory.h"
#include "rng/bernoulli.h"
#include "rng/inversion.h"
#include "rng/noise.h"

#define VARIANCE_MIN "1/1000000000000"                   /* TAMIS_SCALE_MIN squared */
#define VARIANCE_MAX "100000000000000000000000000000000" /* TAMIS_GAUSSIAN_SCALE_MAX squared */

typedef struct gaussian {
    tamis_noise noise;
    tamis_number *variance;
    tamis_number *spread; /* T^2 / (2 variance): c above */
    unsigned m;           /* T = 2^m */
    uint64_t c;           /* C above */
    tmi_inversion blocks;
} gaussian;

static inline int64_t with_sign(uint64_t magnitude, uint64_t minus) { return (int64_t)((magnitude ^ -minus) + minus); }

/* |X| = k 2^m + u, cut. */
static uint64_t magnitude(size_t k, unsigned m, uint64_t u)
{
    return (uint64_t)tmi_noise_cut((__int128)k * ((__int128)1 << m) + u);
}

/* T = 1. */
static tamis_status draw_narrow(int64_t *out, size_t count, const tamis_noise *noise, tamis_rng *rng, tamis_error *err)
{
    const gaussian *g = (const gaussian *)noise;
    for (size_t i = 0; i < count; i++) {
        size_t k;
        const uint8_t *random = tmi_bits_take(rng, 9);
        if (!random) return tmi_bits_failed(err);
        uint64_t u = tmi_load64(random), minus = random[8] & 1;
        if (!tmi_inversion_quick(&k, &g->blocks, u)) {
            tamis_status status = tmi_inversion_find(&k, &g->blocks, u, rng, err);
            if (status != TAMIS_OK) return status;
        }
        out[i] = with_sign(magnitude(k, 0, 0), minus);
    }
    return TAMIS_OK;
}

/* The coin of probability exp(-x) whose first 32 digits are `first`, by certified digits. */
static __attribute__((noinline)) tamis_status keep_exactly(bool *keep, const gaussian *g, size_t k, uint64_t u, uint32_t first,
                                                           tamis_rng *rng, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *f = NULL, *twice_k = NULL, *sum = NULL, *product = NULL, *x = NULL;
    tmi_rng_coin coin;
    *keep = false;
    if (k > INT64_MAX / 2) TMI_TRY(tmi_fail(err, TAMIS_SYSTEM, "impossible random bits: the generator is broken"));
    TMI_TRY(tmi_number_ratio(&f, (int64_t)u, INT64_C(1) << g->m, err));
    TMI_TRY(tmi_number_ratio(&twice_k, 2 * (int64_t)k, 1, err));
    TMI_TRY(tmi_number_add(&sum, twice_k, f, err));
    TMI_TRY(tmi_number_mul(&product, f, sum, err));
    TMI_TRY(tmi_number_mul(&x, product, g->spread, err));
    TMI_TRY(tmi_coin_init(&coin, &(tmi_digit_source){TMI_DIGITS_EXP, x, 0}, err));
    uint32_t digits = (uint32_t)(coin.digits[0] >> 32);
    if (coin.certain == 1 || first != digits) *keep = coin.certain == 1 || first < digits;
    else status = tmi_coin_toss(keep, &coin, sizeof first, rng, err);
done:
    tmi_number_wipe(f);
    tmi_number_wipe(twice_k);
    tmi_number_wipe(sum);
    tmi_number_wipe(product);
    tmi_number_wipe(x);
    tmi_wipe(&coin, sizeof coin);
    return status;
}

/* T > 1. Random bytes: 8 for k, 8 for u (its top m bits) and the sign (the lowest bit), 4 for keeping. */
static tamis_status draw_wide(int64_t *out, size_t count, const tamis_noise *noise, tamis_rng *rng, tamis_error *err)
{
    const gaussian *g = (const gaussian *)noise;
    for (size_t i = 0; i < count;) {
        size_t k;
        uint32_t a;
        bool keep;
        const uint8_t *random = tmi_bits_take(rng, 20);
        if (!random) return tmi_bits_failed(err);
        uint64_t word = tmi_load64(random), second = tmi_load64(random + 8);
        __builtin_memcpy(&a, random + 16, sizeof a);
        uint64_t u = second >> (64 - g->m), f = u << (64 - g->m), minus = second & 1;
        bool quick = tmi_inversion_quick(&k, &g->blocks, word);
        if (!quick) {
            tamis_status status = tmi_inversion_find(&k, &g->blocks, word, rng, err);
            if (status != TAMIS_OK) return status;
        }
        uint64_t sum = ((uint64_t)k << 33) + (f >> 32);
        uint64_t product = (uint64_t)((unsigned __int128)f * sum >> 64);
        uint64_t x = (uint64_t)((unsigned __int128)product * g->c >> 64);
        uint64_t one = UINT64_C(1) << 32;
        if (quick && a + x + 3 <= one) keep = true;
        else if (quick && a + x >= one + ((x * x + (one << 1) - 1) >> 33)) keep = false;
        else {
            tamis_status status = keep_exactly(&keep, g, k, u, a, rng, err);
            if (status != TAMIS_OK) return status;
        }
        uint64_t size = quick ? ((uint64_t)k << g->m) + u : magnitude(k, g->m, u);
        out[i] = with_sign(size, minus);
        i += keep && (size | (minus ^ 1)) != 0;
    }
    return TAMIS_OK;
}

static void clear(tamis_noise *noise)
{
    gaussian *g = (gaussian *)noise;
    tmi_inversion_clear(&g->blocks);
    tmi_number_frees(&g->variance, &g->spread, NULL);
}

/* z = x p / q, or p / (q x). */
static tamis_status scaled(tamis_number **z, const tamis_number *x, int64_t p, int64_t q, bool inverse, tamis_error *err)
{
    tamis_number *factor;
    *z = NULL;
    tamis_status status = tmi_number_ratio(&factor, p, q, err);
    if (status == TAMIS_OK) status = inverse ? tmi_number_div(z, factor, x, err) : tmi_number_mul(z, x, factor, err);
    tamis_number_free(factor);
    return status;
}

/* m, c and C; and the number of blocks that are worth a table entry: those beyond have less than exp(-45) < 2^-64. */
static tamis_status choose_blocks(gaussian *g, size_t *count, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *rest = NULL, *quarter = NULL, *digits = NULL, *reach = NULL;
    int64_t whole;
    TMI_TRY(scaled(&rest, g->variance, 1, 1024, false, err));
    while (tmi_number_compare_int(rest, 4) >= 0) {
        TMI_TRY(scaled(&quarter, rest, 1, 4, false, err));
        tamis_number_free(rest);
        rest = quarter;
        quarter = NULL;
        g->m++;
    }
    /* Now rest = v / (1024 T^2) < 4, and rest >= 1 if T > 1; c = 1 / (2048 rest). */
    TMI_TRY(scaled(&g->spread, rest, 1, 2048, true, err));
    TMI_TRY(scaled(&digits, rest, INT64_C(1) << 53, 1, true, err));
    if (g->m > 0 && tmi_number_floor(&whole, digits)) g->c = (uint64_t)whole;
    TMI_TRY(scaled(&reach, rest, 45 * 2048, 1, false, err));    /* c k^2 >= 45 */
    if (!tmi_number_ceil(&whole, reach)) whole = 45 * 2048 * 4; /* cannot happen */
    for (*count = 1; *count * *count < (size_t)whole;) ++*count;
done:
    tmi_number_frees(&rest, &quarter, &digits, &reach, NULL);
    return status;
}

tamis_status tmi_noise_gaussian_new(tamis_noise **noise, const tamis_number *variance, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    size_t count;
    gaussian *g = NULL;
    *noise = NULL;
    TMI_TRY(tmi_noise_check(variance, "variance", VARIANCE_MIN, VARIANCE_MAX, err));
    if (!(g = tmi_alloc(1, sizeof *g))) TMI_TRY(tmi_fail_memory(err));
    g->noise = (tamis_noise){draw_narrow, clear};
    TMI_TRY(tmi_number_copy(&g->variance, variance, err));
    TMI_TRY(choose_blocks(g, &count, err));
    if (g->m > 0) g->noise.draw = draw_wide;
    tmi_weights weights = {.variance = g->variance, .m = g->m, .half_zero = g->m == 0};
    TMI_TRY(tmi_inversion_init(&g->blocks, &weights, count, err));
    *noise = &g->noise;
    g = NULL;
done:
    if (g) tamis_noise_free(&g->noise);
    return status;
}

tamis_status tamis_noise_gaussian_new(tamis_noise **noise, const tamis_number *scale, tamis_error *err)
{
    tamis_number *variance = NULL;
    if (!noise) return tmi_fail(err, TAMIS_INVALID, "noise: NULL");
    *noise = NULL;
    tamis_status status = tmi_noise_check(scale, "scale", TAMIS_SCALE_MIN, TAMIS_GAUSSIAN_SCALE_MAX, err);
    if (status == TAMIS_OK) status = tmi_number_mul(&variance, scale, scale, err);
    if (status == TAMIS_OK) status = tmi_noise_gaussian_new(noise, variance, err);
    tamis_number_free(variance);
    return status;
}
