/* Discrete Laplace noise, 256 values at a time, one bit of all of them after the other.
 *
 * The law.   X = G - G', two independent geometric variables, P(G = k) = (1 - r) r^k with r = exp(-1/scale). Then
 *            P(X = k) is proportional to r^|k|: no sign is drawn, so no zero can be counted twice; nothing is rejected.
 * The bits.  Write G = sum of 2^i B_i. As r^G is the product of the r^(2^i B_i), the bits are independent, with
 *            P(B_i = 1) = 1 / (1 + exp(2^i / scale)). For any I, G = L + 2^I H, where L has the bits below I and H is
 *            independent of L and geometric with ratio exp(-2^I / scale). I is chosen so that this ratio is at most
 *            exp(-16); one coin decides whether H > 0, and then further coins with the same probability count it.
 * The coins. A coin of probability p compares random binary digits with those of p (see bernoulli.c). p is the same for
 *            all 256 lanes, so 256 coins are tossed at once, digit by digit: a plane is one random digit for each lane,
 *                yes |= open & d & ~u;     open &= ~(u ^ d);
 *            where `open` marks lanes whose digits equal those of p so far: half as many after each plane. Those that
 *            are open after TMI_PLANES of them go on one by one with tmi_coin_toss.
 *
 * Each lane compares digits of its own, so the lanes are independent. L - L' is formed by bitwise subtraction on
 * planes, then planes become integers by transposing. All operations are on integers.
 *
 * Bounds: 2^(I-1) < 16 scale <= 2^59, so I <= 59; |L - L'| < 2^59 needs I + 1 <= 60 planes with the sign. */
#include "rng/discrete_laplace.h"

#include <string.h>

#include "base/memory.h"
#include "rng/bernoulli.h"

#define LEVELS_MAX 59

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "rows of planes are read as integers");

typedef uint64_t lanes __attribute__((vector_size(TMI_LANES / 8), may_alias));

typedef struct laplace {
    tamis_noise noise;
    tamis_number *rate, *high_rate; /* 1 / scale and 2^levels / scale */
    unsigned levels;                /* I above */
    bool vectors;
    tmi_rng_coin coins[LEVELS_MAX + 1];         /* of B_0, ..., B_(I-1), and of H > 0 */
    uint64_t masks[LEVELS_MAX + 1][TMI_PLANES]; /* their first digits, each spread over a word */
} laplace;

/* Whether any bit is set. */
typedef bool any_bit(const lanes *x);

static inline bool any_plain(const lanes *x) { return ((*x)[0] | (*x)[1] | (*x)[2] | (*x)[3]) != 0; }

/* Finishes the coins of the open lanes, whose first TMI_PLANES digits tie. */
static __attribute__((noinline)) tamis_status toss_open(uint64_t *yes, const uint64_t *open, const tmi_rng_coin *coin,
                                                        tamis_rng *rng, tamis_error *err)
{
    for (unsigned word = 0; word < TMI_LANES / 64; word++)
        for (uint64_t left = open[word]; left; left &= left - 1) {
            bool outcome;
            tamis_status status = tmi_coin_toss(&outcome, coin, TMI_PLANES / 8, rng, err);
            if (status != TAMIS_OK) return status;
            if (outcome) yes[word] |= left & -left;
        }
    return TAMIS_OK;
}

static inline __attribute__((always_inline)) tamis_status toss_lanes(lanes *result, const laplace *l, unsigned which,
                                                                     any_bit *any, tamis_rng *rng, tamis_error *err)
{
    lanes open = ~(lanes){0}, yes = {0};
    for (unsigned j = 0; j < TMI_PLANES; j++) {
        const uint8_t *plane = tmi_bits_take(rng, sizeof(lanes));
        if (!plane) return tmi_bits_failed(err);
        uint64_t mask = l->masks[which][j];
        lanes u, d = {mask, mask, mask, mask};
        memcpy(&u, plane, sizeof u);
        u ^= d;
        yes |= open & u & d;
        open &= ~u;
        if (!any(&open)) {
            *result = yes;
            return TAMIS_OK;
        }
    }
    uint64_t yes_words[4], open_words[4];
    memcpy(yes_words, &yes, sizeof yes);
    memcpy(open_words, &open, sizeof open);
    tamis_status status = toss_open(yes_words, open_words, &l->coins[which], rng, err);
    memcpy(result, yes_words, sizeof yes);
    return status;
}

/* In every group of `width` bits (8, 16, 32 or 64) bit b of row r becomes bit r of row b. */
static inline __attribute__((always_inline)) void transpose(lanes *rows, unsigned width)
{
    uint64_t mask = UINT64_MAX; /* after the first line of the loop: the low half of every 2 * half bits */
    for (unsigned size = 64; size > width; size /= 2) mask ^= mask << (size / 2);
    for (unsigned half = width / 2; half > 0; half /= 2) {
        mask ^= mask << half;
        for (unsigned r = 0; r < width; r = (r + half + 1) & ~half) {
            lanes swap = ((rows[r] >> half) ^ rows[r + half]) & mask;
            rows[r + half] ^= swap;
            rows[r] ^= swap << half;
        }
    }
}

/* After transposing, the rows are an array of signed integers of `width` bits. */
#define WIDEN(type) \
    do { \
        typedef type __attribute__((may_alias)) narrow; \
        const narrow *values = (const narrow *)rows; \
        for (unsigned i = 0; i < TMI_LANES; i++) out[i] = values[i]; \
    } while (0)

static inline __attribute__((always_inline)) void widen(int64_t *out, lanes *rows, unsigned width)
{
    if (width == 8) {
        transpose(rows, 8);
        WIDEN(int8_t);
    } else if (width == 16) {
        transpose(rows, 16);
        WIDEN(int16_t);
    } else if (width == 32) {
        transpose(rows, 32);
        WIDEN(int32_t);
    } else {
        transpose(rows, 64);
        WIDEN(int64_t);
    }
}

/* H given that H > 0: 1 plus the number of heads before the first tail. */
static tamis_status draw_high(uint64_t *high, const laplace *l, tamis_rng *rng, tamis_error *err)
{
    bool more = true;
    for (*high = 0; more; ++*high) {
        tamis_status status = tmi_coin_toss(&more, &l->coins[l->levels], 0, rng, err);
        if (status != TAMIS_OK) return status;
    }
    return TAMIS_OK;
}

/* Adds 2^I (H - H') in the lanes where H > 0 (plus) or H' > 0 (minus). */
static __attribute__((noinline)) tamis_status add_high(int64_t *out, const uint64_t *plus, const uint64_t *minus, unsigned width,
                                                       const laplace *l, tamis_rng *rng, tamis_error *err)
{
    for (unsigned word = 0; word < TMI_LANES / 64; word++)
        for (uint64_t left = plus[word] | minus[word]; left; left &= left - 1) {
            unsigned bit = (unsigned)__builtin_ctzll(left);
            uint64_t h = 0, h_minus = 0;
            tamis_status status = TAMIS_OK;
            if (plus[word] >> bit & 1) status = draw_high(&h, l, rng, err);
            if (status == TAMIS_OK && minus[word] >> bit & 1) status = draw_high(&h_minus, l, rng, err);
            if (status != TAMIS_OK) return status;
            int64_t *x = &out[bit % width * (TMI_LANES / width) + word * (64 / width) + bit / width];
            *x = tmi_noise_cut(*x + ((__int128)h - (__int128)h_minus) * ((__int128)1 << l->levels));
        }
    return TAMIS_OK;
}

static inline __attribute__((always_inline)) tamis_status draw_lanes(int64_t *out, lanes *planes, const laplace *l, any_bit *any,
                                                                     tamis_rng *rng, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    lanes a, b, borrow = {0};
    unsigned width = l->levels < 8 ? 8 : l->levels < 16 ? 16 : l->levels < 32 ? 32 : 64;
    for (unsigned i = 0; i < l->levels; i++) {
        TMI_TRY(toss_lanes(&a, l, i, any, rng, err));
        TMI_TRY(toss_lanes(&b, l, i, any, rng, err));
        planes[i] = a ^ b ^ borrow;
        borrow = (~a & b) | (~(a ^ b) & borrow);
    }
    for (unsigned i = l->levels; i < width; i++) planes[i] = borrow; /* the sign */
    TMI_TRY(toss_lanes(&a, l, l->levels, any, rng, err));
    TMI_TRY(toss_lanes(&b, l, l->levels, any, rng, err));
    widen(out, planes, width);
    lanes high = a | b;
    if (any(&high)) {
        uint64_t plus[4], minus[4];
        memcpy(plus, &a, sizeof a);
        memcpy(minus, &b, sizeof b);
        status = add_high(out, plus, minus, width, l, rng, err);
    }
done:
    return status;
}

/* The same text for two kinds of processor. */
#define DRAW(name, target, any) \
    static target tamis_status name(int64_t *out, lanes *planes, const laplace *l, tamis_rng *rng, tamis_error *err) \
    { \
        return draw_lanes(out, planes, l, any, rng, err); \
    }

DRAW(draw_plain, , any_plain)
#if defined(__x86_64__)
#define AVX2 __attribute__((target("avx2")))
static inline AVX2 bool any_avx2(const lanes *x)
{
    typedef long long words __attribute__((vector_size(sizeof(lanes))));
    return !__builtin_ia32_ptestz256((words)*x, (words)*x);
}
DRAW(draw_avx2, AVX2, any_avx2)
static bool has_vectors(void) { return __builtin_cpu_supports("avx2") != 0; }
#else
#define draw_avx2 draw_plain
static bool has_vectors(void) { return false; }
#endif

bool tmi_laplace_use_vectors(tamis_noise *noise, bool vectors)
{
    laplace *l = (laplace *)noise;
    l->vectors = vectors && has_vectors();
    return l->vectors == vectors;
}

static tamis_status draw(int64_t *out, size_t count, const tamis_noise *noise, tamis_rng *rng, tamis_error *err)
{
    const laplace *l = (const laplace *)noise;
    tamis_status status = TAMIS_OK;
    lanes planes[64];
    int64_t rest[TMI_LANES];
    for (size_t done_so_far = 0; done_so_far < count && status == TAMIS_OK;) {
        size_t n = count - done_so_far;
        int64_t *to = n < TMI_LANES ? rest : out + done_so_far;
        status = l->vectors ? draw_avx2(to, planes, l, rng, err) : draw_plain(to, planes, l, rng, err);
        if (n > TMI_LANES) n = TMI_LANES;
        if (to == rest && status == TAMIS_OK) memcpy(out + done_so_far, rest, n * sizeof *out);
        done_so_far += n;
    }
    tmi_wipe(planes, sizeof planes);
    tmi_wipe(rest, sizeof rest);
    return status;
}

static void clear(tamis_noise *noise)
{
    laplace *l = (laplace *)noise;
    tmi_number_frees(&l->rate, &l->high_rate, NULL);
}

static tamis_status prepare_coin(laplace *l, unsigned which, const tmi_digit_source *p, tamis_error *err)
{
    tamis_status status = tmi_coin_init(&l->coins[which], p, err);
    for (unsigned j = 0; j < TMI_PLANES; j++) l->masks[which][j] = -(l->coins[which].digits[0] >> (63 - j) & 1);
    return status;
}

tamis_status tamis_noise_laplace_new(tamis_noise **noise, const tamis_number *scale, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *one = NULL, *power = NULL, *sixteen = NULL, *limit = NULL;
    laplace *l = NULL;
    if (!noise) return tmi_fail(err, TAMIS_INVALID, "noise: NULL");
    *noise = NULL;
    TMI_TRY(tmi_noise_check(scale, "scale", TAMIS_SCALE_MIN, TAMIS_LAPLACE_SCALE_MAX, err));
    if (!(l = tmi_alloc(1, sizeof *l))) TMI_TRY(tmi_fail_memory(err));
    l->noise = (tamis_noise){draw, clear};
    tmi_laplace_use_vectors(&l->noise, true);
    TMI_TRY(tmi_number_ratio(&sixteen, 16, 1, err));
    TMI_TRY(tmi_number_mul(&limit, scale, sixteen, err));
    while (tmi_number_compare_int(limit, INT64_C(1) << l->levels) > 0) l->levels++;
    TMI_TRY(tmi_number_ratio(&one, 1, 1, err));
    TMI_TRY(tmi_number_ratio(&power, INT64_C(1) << l->levels, 1, err));
    TMI_TRY(tmi_number_div(&l->rate, one, scale, err));
    TMI_TRY(tmi_number_div(&l->high_rate, power, scale, err));
    for (unsigned i = 0; i < l->levels; i++)
        TMI_TRY(prepare_coin(l, i, &(tmi_digit_source){TMI_DIGITS_LOGISTIC, l->rate, i}, err));
    TMI_TRY(prepare_coin(l, l->levels, &(tmi_digit_source){TMI_DIGITS_EXP, l->high_rate, 0}, err));
    *noise = &l->noise;
    l = NULL;
done:
    tmi_number_frees(&one, &power, &sixteen, &limit, NULL);
    if (l) tamis_noise_free(&l->noise);
    return status;
}
