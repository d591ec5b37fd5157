#include "tests/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "num/law/laws.h"
#include "num/number.h"
#include "rng/noise.h"
#include "tests/base/memory_that_fails.h"
#include "tests/rng/gaussian_blocks.h"
#include "tests/rng/law.h"
#include "tests/rng/with_rng.h"

static tamis_noise *normal(const char *scale)
{
    tamis_noise *noise;
    tamis_number *x = number(scale);
    assert_int_equal(tamis_noise_normal_new(&noise, x, NULL), TAMIS_OK);
    tamis_number_free(x);
    return noise;
}

/* ---- one draw from given bits ---- */

typedef struct given {
    uint8_t bytes[128];
    size_t size, used, wanted; /* wanted: the take that found none left */
} given;

static bool give(void *context, uint8_t *bytes, size_t n)
{
    given *g = context;
    if (g->used + n > g->size) {
        g->wanted = n;
        return false;
    }
    memcpy(bytes, g->bytes + g->used, n);
    g->used += n;
    return true;
}

static void add(given *g, const void *bytes, size_t n)
{
    assert_true(g->size + n <= sizeof g->bytes);
    memcpy(g->bytes + g->size, bytes, n);
    g->size += n;
}

/* What a draw from these bits did: gave *x, or wanted more bits: the rest of the coin's first 64 digits, a further word of x and
 * of the coin, a word of the block, or, having rejected these, a new draw. */
enum { GAVE = 0, WANTS_COIN = 4, WANTS_BLOCK = 8, WANTS_WORDS = 16, WANTS_DRAW = 21 };

static size_t draw(int64_t *x, const tamis_noise *noise, given *g)
{
    g->used = g->wanted = 0;
    bits_from(give, g);
    tamis_status status = tamis_noise_draw(x, 1, noise, rng, NULL);
    if (status == TAMIS_OK) return GAVE;
    assert_int_equal(status, TAMIS_SYSTEM);
    assert_int_equal(*x, 0);
    return g->wanted;
}

static given bits(uint64_t word, uint64_t digits, uint32_t a, unsigned sign)
{
    given g = {.size = 0};
    add(&g, &word, 8);
    add(&g, &digits, 8);
    add(&g, &a, 4);
    add(&g, &(uint8_t){(uint8_t)(0x5c | sign)}, 1);
    return g;
}

/* ---- blocks ---- */

/* With scale 32, x = 0 and a coin that keeps everything the noise is the block. -1: the word does not decide. */
static int64_t block(const tamis_noise *noise, uint64_t word)
{
    given g = bits(word, 0, 0, 0);
    int64_t x;
    size_t wanted = draw(&x, noise, &g);
    if (wanted == WANTS_COIN) { /* decided by balls, as the rest of the draw then is */
        add(&g, &(uint32_t){0}, 4);
        wanted = draw(&x, noise, &g);
    }
    if (wanted == GAVE) return x;
    assert_int_equal(wanted, WANTS_BLOCK);
    return -1;
}

/* Words below `below` choose block k or less, those from `above` on a later one. */
typedef struct edge {
    uint64_t below, above;
} edge;

static edge find_edge(const tamis_noise *noise, int64_t k)
{
    edge e = {0, 0};
    for (int which = 0; which < 2; which++) {
        uint64_t low = 0, high = UINT64_MAX;
        while (low < high) {
            uint64_t middle = low + (high - low) / 2;
            int64_t got = block(noise, middle);
            if (which == 0 ? got < 0 || got > k : got > k) high = middle;
            else low = middle + 1;
        }
        *(which == 0 ? &e.below : &e.above) = low;
    }
    return e;
}

/* The discrete Gaussian of variance 4096 has blocks of two with the weights exp(-k^2 / 2048) that are wanted here. Every
 * threshold is where balls say it is, to at most 2 parts in 2^64. */
static void blocks_are_exact(void **state)
{
    (void)state;
    tamis_noise *noise = normal("32");
    blocks b = blocks_of("4096");
    tmi_ball z;
    size_t looked = 0;
    tmi_ball_init(&z);
    assert_int_equal(b.m, 1);
    for (size_t k = 0; k < b.count; k++) {
        edge e = find_edge(noise, (int64_t)k);
        if (e.above > UINT64_MAX - 1000) break;
        assert_true(e.below <= e.above && e.above - e.below <= 2);
        fraction(&z, e.below, 0);
        assert_true(may_be_at_most(&z, &b.cdf[k]));
        fraction(&z, e.above, 0);
        assert_true(may_be_at_most(&b.cdf[k], &z));
        looked++;
    }
    assert_true(looked > 200);
    tmi_ball_clear(&z);
    blocks_free(&b);
    tamis_noise_free(noise);
}

/* A word in the middle of block k. */
static uint64_t word_of(const tamis_noise *noise, int64_t k)
{
    const uint64_t from = k > 0 ? find_edge(noise, k - 1).above : 0, to = find_edge(noise, k).below;
    assert_true(to > from + 100);
    return from + (to - from) / 3;
}

/* ---- keeping ---- */

/* exp(-x (2 k + x) / 2048) with x = digits / 2^64, or the next number of 64 digits. */
static void keep_probability(tmi_ball *z, int64_t k, uint64_t digits, bool next)
{
    tmi_ball x;
    tmi_ball_init(&x);
    fraction(&x, digits, 0);
    if (next) {
        fraction(z, 1, 0);
        tmi_ball_add(&x, &x, z, BITS);
    }
    tmi_ball_add_int(z, &x, 2 * k, BITS);
    tmi_ball_mul(z, z, &x, BITS);
    tmi_ball_shift(z, z, -11);
    tmi_ball_neg(z, z);
    tmi_ball_exp(z, z, BITS);
    tmi_ball_clear(&x);
}

typedef enum fate { KEPT, UNDECIDED, REJECTED } fate;

/* Of the coin with these 64 digits. */
static fate fate_of(const tamis_noise *noise, uint64_t word, uint64_t digits, uint64_t coin)
{
    const uint32_t rest = (uint32_t)coin;
    int64_t x;
    given g = bits(word, digits, (uint32_t)(coin >> 32), 0);
    add(&g, &rest, 4);
    const size_t wanted = draw(&x, noise, &g);
    if (wanted == GAVE) return KEPT;
    /* A draw that is rejected at once takes the 4 bytes that are left for the beginning of the next one. */
    if (wanted == WANTS_DRAW) return REJECTED;
    assert_int_equal(wanted, WANTS_WORDS);
    return UNDECIDED;
}

/* All coins below the probability keep, all above it do not, and only those that the digits of x leave open want more. */
static void keeping_is_exact(void **state)
{
    static const int64_t places[] = {0, 1, 2, 7, 31, 64, 100, 150, 200, 250};
    (void)state;
    tamis_noise *noise = normal("32");
    tmi_ball p, z;
    uint64_t random = 1;
    tmi_ball_init(&p);
    tmi_ball_init(&z);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const uint64_t word = word_of(noise, places[i]);
        random = random * 6364136223846793005u + 1442695040888963407u;
        /* no x near a half, where the integer too would want more digits */
        const uint64_t cases[] = {0, 1, UINT64_MAX, UINT64_C(1) << 62, random, ~random, random >> 20};
        for (size_t j = 0; j < sizeof cases / sizeof *cases; j++) {
            uint64_t ends[2]; /* the first that is not kept, the first that is rejected */
            for (int which = 0; which < 2; which++) {
                uint64_t low = 0, high = UINT64_MAX;
                while (low < high) {
                    const uint64_t middle = low + (high - low) / 2;
                    const fate f = fate_of(noise, word, cases[j], middle);
                    if (which == 0 ? f != KEPT : f == REJECTED) high = middle;
                    else low = middle + 1;
                }
                ends[which] = low;
            }
            keep_probability(&p, places[i], cases[j], true);
            fraction(&z, ends[0], 0);
            assert_true(may_be_at_most(&z, &p));
            assert_true(ends[1] - ends[0] <= 4);
            if (ends[1] == UINT64_MAX) continue; /* the largest is open: x may be 0 */
            keep_probability(&p, places[i], cases[j], false);
            fraction(&z, ends[1], 0);
            assert_true(may_be_at_most(&p, &z));
        }
    }
    tmi_ball_clear(&p);
    tmi_ball_clear(&z);
    tamis_noise_free(noise);
}

/* ---- rounding ---- */

/* floor(scale (k + (digits + next) / 2^64) / 32 + 1/2), less than INT64_MAX; and whether it is exactly that number. */
static int64_t rounded(bool *exact, const char *scale, int64_t k, uint64_t digits, bool next)
{
    char text[64];
    tamis_number *s = number(scale), *x = NULL, *y = NULL, *z = NULL, *half = number("1/2");
    int64_t whole;
    const unsigned __int128 sum = ((unsigned __int128)(uint64_t)k << 64) + digits + next; /* in decimals */
    char reversed[48];
    size_t n = 0;
    for (unsigned __int128 rest = sum; n == 0 || rest > 0; rest /= 10) reversed[n++] = (char)('0' + (int)(rest % 10));
    for (size_t i = 0; i < n; i++) text[i] = reversed[n - 1 - i];
    snprintf(text + n, sizeof text - n, "/590295810358705651712"); /* 2^69 */
    x = number(text);
    assert_int_equal(tmi_number_mul(&y, s, x, NULL), TAMIS_OK);
    assert_int_equal(tmi_number_add(&z, y, half, NULL), TAMIS_OK);
    *exact = tmi_number_is_integer(z);
    assert_true(tmi_number_floor(&whole, z));
    tmi_number_frees(&s, &x, &y, &z, &half, NULL);
    return whole;
}

/* The integer is that of the real number, whatever its digits after the given ones; where they matter, more are drawn. */
static void rounding_is_exact(void **state)
{
    static const char *const scales[] = {"1/1000000", "1/3",          "1",   "7/2",  "32",   "33",
                                         "1000",      "1234567/1000", "1e6", "1e12", "1e15", "10000000000000000"};
    static const int64_t places[] = {0, 1, 3, 16, 47, 90, 160, 240};
    (void)state;
    tamis_noise *blocks_32 = normal("32");
    size_t open = 0, ties = 0;
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        tamis_noise *noise = normal(scales[i]);
        uint64_t random = i + 1;
        for (size_t j = 0; j < sizeof places / sizeof *places; j++) {
            const uint64_t word = word_of(blocks_32, places[j]);
            for (int round = 0; round < 60; round++) {
                bool exact;
                random = random * 6364136223846793005u + 1442695040888963407u;
                uint64_t digits = round == 0 ? 0 : round == 1 ? UINT64_MAX : random;
                if (round >= 20) { /* beside a half-integer, if the block has one: the first digits with the next integer */
                    uint64_t low = 0, high = UINT64_MAX;
                    const int64_t first = rounded(&exact, scales[i], places[j], random, false);
                    while (low < high) {
                        const uint64_t middle = low + (high - low) / 2;
                        if (rounded(&exact, scales[i], places[j], middle, false) > first) high = middle;
                        else low = middle + 1;
                    }
                    digits = low + (uint64_t)(round % 3) - 1;
                    ties++;
                }
                const int64_t here = rounded(&exact, scales[i], places[j], digits, false),
                              last = rounded(&exact, scales[i], places[j], digits, true) - exact; /* x stays below it */
                for (unsigned sign = 0; sign < 2; sign++) {
                    int64_t x;
                    given g = bits(word, digits, 0, sign);
                    size_t wanted = draw(&x, noise, &g);
                    if (wanted == WANTS_COIN) {
                        add(&g, &(uint32_t){0}, 4);
                        wanted = draw(&x, noise, &g);
                    }
                    if (here == last && wanted == GAVE) {
                        assert_true(x == (sign ? -here : here));
                        continue;
                    }
                    /* the digits leave it open; or the end of the interval, which has probability 0, does */
                    assert_int_equal(wanted, WANTS_WORDS);
                    open++;
                    for (int end = 0; end < 2; end++) {
                        given more = g;
                        add(&more, &(uint64_t){end ? UINT64_MAX - 1 : 1}, 8);
                        add(&more, &(uint64_t){0}, 8);
                        assert_int_equal(draw(&x, noise, &more), GAVE);
                        assert_true((sign ? -x : x) == (end ? last : here));
                    }
                }
            }
        }
        tamis_noise_free(noise);
    }
    assert_true(open > 100 && ties > 1000);
    tamis_noise_free(blocks_32);
}

/* ---- what it looks like from outside ---- */

/* P(X = k) by balls. */
typedef struct point {
    const tamis_number *scale;
    int64_t k;
} point;

static tamis_status mass_of(tmi_ball *z, const void *context, long precision, tamis_error *err)
{
    const point *p = context;
    tmi_ball x, y;
    (void)err;
    tmi_ball_init(&x);
    tmi_ball_init(&y);
    for (int side = 0; side < 2; side++) {
        tmi_ball *tail = side == 0 ? z : &y;
        tmi_ball_set_int(&x, 2 * p->k - 1 + 2 * side);
        tmi_ball_shift(&x, &x, -1);
        tmi_ball_set_number(tail, p->scale, precision);
        tmi_ball_div(&x, &x, tail, precision);
        tmi_normal_at_least(tail, &x, precision);
    }
    tmi_ball_sub(z, z, &y, precision);
    tmi_ball_clear(&x);
    tmi_ball_clear(&y);
    return TAMIS_OK;
}

static tamis_bound mass(const char *scale, int64_t k)
{
    tamis_bound bound;
    tamis_number *s = number(scale);
    assert_int_equal(tmi_certify(&bound, 1e-12, mass_of, &(point){s, k}, NULL), TAMIS_OK);
    tamis_number_free(s);
    return bound;
}

static void shares_are_right(void **state)
{
    enum { n = 1 << 20, seed = 61, span = 40 };
    static const char *const scales[] = {"1/4", "1/2", "1", "2/3", "3", "10", "25/2", "1000"};
    int64_t *out = malloc(n * sizeof *out);
    (void)state;
    print_message("# seed %d\n", seed);
    bits_from_seed(seed);
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        tamis_noise *noise = normal(scales[i]);
        uint64_t counts[2 * span + 1] = {0}, below = 0, above = 0;
        assert_int_equal(tamis_noise_draw(out, n, noise, rng, NULL), TAMIS_OK);
        for (int k = 0; k < n; k++) {
            if (out[k] >= -span && out[k] <= span) counts[out[k] + span]++;
            below += out[k] < 0;
            above += out[k] > 0;
        }
        for (int64_t k = 0; k <= span; k++) {
            tamis_bound p = mass(scales[i], k);
            assert_true(may_be_chance(counts[span + k], n, p) && may_be_chance(counts[span - k], n, p));
            if (k > 0) continue;
            tamis_bound side = {(1 - p.upper) / 2, (1 - p.lower) / 2};
            assert_true(may_be_chance(below, n, side) && may_be_chance(above, n, side));
        }
        tamis_noise_free(noise);
    }
    free(out);
}

/* Tails, exactly: P(X >= k) is a normal tail at k - 1/2; and low digits are fair where the scale is large. */
static void tails_are_right(void **state)
{
    enum { n = 1 << 20, seed = 62 };
    static const struct {
        const char *scale;
        double sd;
        int draws;
    } cases[] = {{"1000", 1e3, n}, {"1000000", 1e6, n}, {"1000000000", 1e9, n}, {"1e12", 1e12, n}, {"1e16", 1e16, n / 8}};
    int64_t *out = malloc(n * sizeof *out);
    (void)state;
    print_message("# seed %d\n", seed);
    bits_from_seed(seed);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis_noise *noise = normal(cases[i].scale);
        const int draws = cases[i].draws;
        assert_int_equal(tamis_noise_draw(out, (size_t)draws, noise, rng, NULL), TAMIS_OK);
        for (double t = 0.001; t < 6; t *= 1.2) {
            const double k = ceil(t * cases[i].sd), p = erfc((k - 0.5) / cases[i].sd / sqrt(2)) / 2;
            uint64_t left = 0, right = 0;
            for (int j = 0; j < draws; j++) right += (double)out[j] >= k, left += (double)out[j] <= -k;
            tamis_bound bound = {p * (1 - 1e-9), p * (1 + 1e-9)};
            assert_true(may_be_chance(left, (uint64_t)draws, bound) && may_be_chance(right, (uint64_t)draws, bound));
        }
        for (unsigned j = 0; j < 20 && ldexp(1, (int)j) < cases[i].sd / 100; j++) {
            uint64_t ones = 0;
            for (int k = 0; k < draws; k++) ones += (uint64_t)out[k] >> j & 1;
            assert_true(may_be_chance(ones, (uint64_t)draws, (tamis_bound){0.5 - 1e-9, 0.5 + 1e-9}));
        }
        tamis_noise_free(noise);
    }
    free(out);
}

static void refuses_bad_input(void **state)
{
    static const char *const bad[] = {"0", "-1", "1/1000001", "10000000000000001", "1e1000", "1e-1000"};
    static const char *const good[] = {"1/1000000", "1/3", "1000", "10000000000000000"};
    tamis_error err;
    tamis_noise *noise = (tamis_noise *)&noise;
    tamis_number *x;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        x = number(bad[i]);
        assert_int_equal(tamis_noise_normal_new(&noise, x, &err), TAMIS_INVALID);
        assert_null(noise);
        assert_non_null(strstr(err.message, "scale:"));
        tamis_number_free(x);
    }
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        x = number(good[i]);
        EVERY_ALLOCATION_FAILS(tamis_noise_normal_new(&noise, x, NULL), assert_null(noise));
        tamis_noise_free(noise);
        assert_int_equal(tamis_noise_normal_new(NULL, x, &err), TAMIS_INVALID);
        assert_non_null(strstr(err.message, "noise:"));
        tamis_number_free(x);
    }
    assert_int_equal(tamis_noise_normal_new(&noise, NULL, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "scale:"));
    /* digits beside a half-integer: more are drawn, and there is no memory for them */
    given g = bits(1, UINT64_C(1) << 63, 0, 0);
    int64_t value;
    noise = normal("32");
    add(&g, &(uint32_t){0}, 4);
    add(&g, (uint64_t[]){UINT64_MAX, 0, 1, 1}, 32);
    bits_from(give, &g);
    EVERY_ALLOCATION_FAILS((g.used = 0, tamis_noise_draw(&value, 1, noise, rng, NULL)), assert_int_equal(value, 0));
    tamis_noise_free(noise);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_exact), cmocka_unit_test(keeping_is_exact), cmocka_unit_test(rounding_is_exact),
        cmocka_unit_test(shares_are_right), cmocka_unit_test(tails_are_right),  cmocka_unit_test(refuses_bad_input),
    };
    return cmocka_run_group_tests(tests, make_rng, free_rng);
}
