#include "tests/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "num/number.h"
#include "rng/noise.h"
#include "tests/base/memory_that_fails.h"
#include "tests/rng/gaussian_blocks.h"
#include "tests/rng/law.h"
#include "tests/rng/with_rng.h"

static tamis_noise *gaussian(const char *variance)
{
    tamis_noise *noise;
    tamis_number *x = number(variance);
    assert_int_equal(tmi_noise_gaussian_new(&noise, x, NULL), TAMIS_OK);
    tamis_number_free(x);
    return noise;
}

/* ---- one draw from given bits ---- */

/* First the bytes of the draw itself, then further ones. */
typedef struct given {
    uint8_t bytes[64];
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

/* What a draw from these bits did: gave *x, or wanted more bits. */
enum { GAVE = 0, WANTS_BYTE = 1, WANTS_WORD = 8, WANTS_DRAW_NARROW = 9, WANTS_DRAW_WIDE = 20 };

static size_t draw(int64_t *x, const tamis_noise *noise, given *g)
{
    g->used = g->wanted = 0;
    bits_from(give, g);
    tamis_status status = tamis_noise_draw(x, 1, noise, rng, NULL);
    if (status == TAMIS_OK) {
        assert_int_equal(g->used, g->size);
        return GAVE;
    }
    assert_int_equal(status, TAMIS_SYSTEM);
    assert_int_equal(*x, 0);
    return g->wanted;
}

static given narrow_bits(uint64_t word, unsigned sign)
{
    given g = {.size = 0};
    add(&g, &word, 8);
    add(&g, &(uint8_t){(uint8_t)(0xa6 | sign)}, 1);
    return g;
}

static given wide_bits(uint64_t word, uint64_t u, unsigned m, unsigned sign, uint32_t a)
{
    given g = {.size = 0};
    uint64_t filler = UINT64_C(0x123456789abcdef6) >> m, second = u << (64 - m) | (filler & ~UINT64_C(1)) | sign;
    add(&g, &word, 8);
    add(&g, &second, 8);
    add(&g, &a, 4);
    return g;
}

/* ---- blocks ---- */

/* The block that a word chooses, -1 if it wants more. Further digits: `more` if not NULL. */
static int64_t block(const tamis_noise *noise, unsigned m, uint64_t word, const uint64_t *more)
{
    given g = m ? wide_bits(word, 0, m, 0, 0) : narrow_bits(word, 0);
    int64_t x;
    if (more) add(&g, more, 8);
    size_t wanted = draw(&x, noise, &g);
    if (wanted == GAVE) return x >> m;
    assert_int_equal(wanted, WANTS_WORD);
    return -1;
}

/* Numbers of words: those below `below` choose block k or less, those from `above` on a later one. */
typedef struct edge {
    uint64_t below, above;
} edge;

/* The words are searched through the sampler itself: it must be monotone, which the caller checks. */
static edge find_edge(const tamis_noise *noise, unsigned m, int64_t k, const uint64_t *word)
{
    edge e = {0, 0};
    for (int which = 0; which < 2; which++) {
        uint64_t low = 0, high = UINT64_MAX; /* the first for which it holds is in low..high, or there is none */
        while (low < high) {
            uint64_t middle = low + (high - low) / 2;
            int64_t got = word ? block(noise, m, *word, &middle) : block(noise, m, middle, NULL);
            bool beyond = which == 0 ? got < 0 || got > k : got > k;
            if (beyond) high = middle;
            else low = middle + 1;
        }
        *(which == 0 ? &e.below : &e.above) = low;
    }
    return e;
}

/* Every threshold is where balls say it is, to at most 2 parts in 2^64; where the first word does not decide, the next
 * one does, to at most 2 parts in 2^128 (looked at for a few thresholds). */
static void check_blocks(const char *variance, size_t step)
{
    tamis_noise *noise = gaussian(variance);
    blocks b = blocks_of(variance);
    tmi_ball z;
    edge *edges = calloc(b.count, sizeof *edges);
    size_t count = 0;
    tmi_ball_init(&z);
    for (size_t k = 0; k < b.count; k += step) {
        edge e = edges[count] = find_edge(noise, b.m, (int64_t)k, NULL);
        if (e.above > UINT64_MAX - 1000) break; /* the tail, where thresholds lie close together: see below */
        count++;
        assert_true(e.below <= e.above && e.above - e.below <= 2);
        fraction(&z, e.below, 0);
        assert_true(may_be_at_most(&z, &b.cdf[k]));
        fraction(&z, e.above, 0);
        assert_true(may_be_at_most(&b.cdf[k], &z));
        for (uint64_t word = e.below; word < e.above && (k < 2 || k == 91); word++) {
            edge second = find_edge(noise, b.m, (int64_t)k, &word);
            if (second.below == 0 && second.above == 0) { /* all later */
                fraction(&z, word, 0);
                assert_true(may_be_at_most(&b.cdf[k], &z));
            } else if (second.below == UINT64_MAX) { /* all up to k */
                fraction(&z, word, UINT64_MAX);
                assert_true(may_be_at_most(&z, &b.cdf[k]));
            } else {
                assert_true(second.above - second.below <= 2);
                fraction(&z, word, second.below);
                assert_true(may_be_at_most(&z, &b.cdf[k]));
                fraction(&z, word, second.above);
                assert_true(may_be_at_most(&b.cdf[k], &z));
            }
        }
    }
    /* Monotone: every string of 14 digits, followed by zeros, ones or anything. */
    for (uint64_t top = 0; top < 1 << 14 && step == 1; top++) {
        uint64_t first = top << 50, last = first | (UINT64_MAX >> 14), any = first | (top * 0x9E3779B97F4A7C15u >> 14);
        uint64_t words[3] = {first, last, any};
        for (int i = 0; i < 3; i++) {
            size_t k = 0;
            while (k < count && words[i] >= edges[k].above) k++;
            if (k == count) continue;
            int64_t got = block(noise, b.m, words[i], NULL);
            assert_true(got == (words[i] < edges[k].below ? (int64_t)k : -1));
        }
    }
    /* Beyond the table: U close to 1, its block checked against the balls on either side. */
    for (int i = 0; i < 64; i++) {
        uint64_t word = UINT64_MAX, more = UINT64_MAX << i >> (i % 3);
        int64_t k = block(noise, b.m, word, &more);
        if (k < 0) continue; /* wants a third word: so close to 1 are the balls not known here */
        assert_true((size_t)k < b.count);
        fraction(&z, word, more);
        assert_true(may_be_at_most(&z, &b.cdf[k]));
        if (k > 0) assert_true(may_be_at_most(&b.cdf[k - 1], &z));
    }
    tmi_ball_clear(&z);
    free(edges);
    blocks_free(&b);
    tamis_noise_free(noise);
}

static void blocks_are_exact(void **state)
{
    (void)state;
    check_blocks("1e-12", 1);
    check_blocks("1/4", 1);
    check_blocks("2/3", 1);
    check_blocks("1", 1);
    check_blocks("100", 1);
    check_blocks("12345/7", 3);
    check_blocks("5000", 5);
    check_blocks("1e12", 7);
    check_blocks("1e32", 7);
}

/* ---- the rest of a block ---- */

/* exp(-u (2 k 2^m + u) / (2 variance)) */
static void keep_probability(tmi_ball *z, const tamis_number *variance, uint64_t k, unsigned m, uint64_t u)
{
    tmi_ball t;
    tmi_ball_init(&t);
    tmi_ball_set_int(z, (int64_t)((k << (m + 1)) + u));
    tmi_ball_mul_int(z, z, (int64_t)u, BITS);
    tmi_ball_set_number(&t, variance, BITS);
    tmi_ball_mul_int(&t, &t, -2, BITS);
    tmi_ball_div(z, z, &t, BITS);
    tmi_ball_exp(z, z, BITS);
    tmi_ball_clear(&t);
}

/* The first `a` that does not keep u in the block of `word`; those below all do. At most one a wants a byte more: it is
 * *tie, or 2^32. The caller's digits `more` (1 byte) follow the tie. */
static uint64_t find_keep(uint64_t *tie, const tamis_noise *noise, uint64_t word, uint64_t u, unsigned m, int64_t expected)
{
    uint64_t low = 0, high = UINT64_C(1) << 32;
    *tie = high;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        int64_t x;
        given g = wide_bits(word, u, m, 1, (uint32_t)middle);
        size_t wanted = draw(&x, noise, &g);
        if (wanted == GAVE) {
            assert_true(x == -expected);
            low = middle + 1;
        } else {
            assert_true(wanted == WANTS_BYTE || wanted == WANTS_DRAW_WIDE);
            if (wanted == WANTS_BYTE) *tie = middle;
            high = middle;
        }
    }
    return low;
}

/* For a tie, the first byte that does not keep. */
static unsigned find_byte(const tamis_noise *noise, uint64_t word, uint64_t u, unsigned m, uint64_t tie)
{
    unsigned byte = 0;
    for (; byte < 256; byte++) {
        int64_t x;
        given g = wide_bits(word, u, m, 0, (uint32_t)tie);
        add(&g, &(uint8_t){(uint8_t)byte}, 1);
        if (draw(&x, noise, &g) != GAVE) break;
    }
    return byte;
}

static void check_keeping(const char *text, size_t step)
{
    tamis_noise *noise = gaussian(text);
    tamis_number *variance = number(text);
    blocks b = blocks_of(text);
    uint64_t size = UINT64_C(1) << b.m, random = 1, from = 0;
    tmi_ball p, z;
    tmi_ball_init(&p);
    tmi_ball_init(&z);
    for (size_t k = 0; k < b.count; k += step) {
        edge e = find_edge(noise, b.m, (int64_t)k, NULL);
        if (k > 0) from = find_edge(noise, b.m, (int64_t)k - 1, NULL).above;
        if (e.below <= from) break; /* the tail of the table */
        uint64_t word = from + (e.below - 1 - from) / 3;
        random = random * 6364136223846793005u + 1;
        uint64_t cases[] = {1, size / 2, size - 1, size / 3 + 1, random >> (64 - b.m)};
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            uint64_t u = cases[i] % size, tie;
            if (k == 0 && u == 0) continue; /* the zero: see below */
            uint64_t end = find_keep(&tie, noise, word, u, b.m, (int64_t)(k * size + u));
            keep_probability(&p, variance, k, b.m, u);
            fraction(&z, end << 32, 0);
            assert_true(end == UINT64_C(1) << 32 || may_be_at_most(&z, &p));
            if (end < UINT64_C(1) << 32) {
                assert_true(tie == end); /* exp(-x) has no end among the binary fractions, so one `a` ties */
                unsigned byte = find_byte(noise, word, u, b.m, tie);
                fraction(&z, (end << 32) + ((uint64_t)byte << 24), 0);
                assert_true(may_be_at_most(&z, &p));
                if ((end << 32) + ((uint64_t)(byte + 1) << 24) != 0) {
                    fraction(&z, (end << 32) + ((uint64_t)(byte + 1) << 24), 0);
                    assert_true(may_be_at_most(&p, &z));
                }
            } else assert_int_equal(u, 0);
        }
    }
    tmi_ball_clear(&p);
    tmi_ball_clear(&z);
    blocks_free(&b);
    tamis_number_free(variance);
    tamis_noise_free(noise);
}

static void keeping_is_exact(void **state)
{
    (void)state;
    check_keeping("5000", 5);
    check_keeping("20000", 11);
    check_keeping("123456789/10", 13);
    check_keeping("1e12", 23);
    check_keeping("1e32", 23);
}

/* A scale is the root of its variance: the same bits give the same noise. */
static void the_variance_is_the_square_of_the_scale(void **state)
{
    static const char *const pairs[][2] = {{"1/2", "1/4"}, {"3", "9"}, {"100", "10000"}, {"1234567/10", "1524155677489/100"}};
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        tamis_number *scale = number(pairs[i][0]), *variance = number(pairs[i][1]);
        tamis_noise *by_scale, *by_variance;
        int64_t x[200], y[200];
        assert_int_equal(tamis_noise_gaussian_new(&by_scale, scale, NULL), TAMIS_OK);
        assert_int_equal(tmi_noise_gaussian_new(&by_variance, variance, NULL), TAMIS_OK);
        bits_from_seed(i);
        assert_int_equal(tamis_noise_draw(x, 200, by_scale, rng, NULL), TAMIS_OK);
        bits_from_seed(i);
        assert_int_equal(tamis_noise_draw(y, 200, by_variance, rng, NULL), TAMIS_OK);
        assert_memory_equal(x, y, sizeof x);
        tamis_noise_free(by_scale);
        tamis_noise_free(by_variance);
        tamis_number_free(scale);
        tamis_number_free(variance);
    }
}

/* Zero comes with one sign only; where all signs are free, both come. */
static void zero_is_counted_once(void **state)
{
    int64_t x;
    given g;
    (void)state;
    tamis_noise *noise = gaussian("5000");
    for (uint32_t a = 0; a < 3; a++) {
        uint32_t first[] = {0, UINT32_MAX / 2, UINT32_MAX};
        g = wide_bits(1, 0, 1, 0, first[a]);
        assert_int_equal(draw(&x, noise, &g), GAVE);
        assert_int_equal(x, 0);
        g = wide_bits(1, 0, 1, 1, first[a]);
        assert_int_equal(draw(&x, noise, &g), WANTS_DRAW_WIDE);
    }
    for (unsigned sign = 0; sign < 2; sign++) {
        g = wide_bits(1, 1, 1, sign, 0);
        assert_int_equal(draw(&x, noise, &g), GAVE);
        assert_int_equal(x, sign ? -1 : 1);
    }
    tamis_noise_free(noise);
    noise = gaussian("1"); /* the zero has half the weight here, and both signs give it */
    for (unsigned sign = 0; sign < 2; sign++) {
        g = narrow_bits(1, sign);
        assert_int_equal(draw(&x, noise, &g), GAVE);
        assert_int_equal(x, 0);
        g = narrow_bits(UINT64_C(0xc000000000000000), sign);
        assert_int_equal(draw(&x, noise, &g), GAVE);
        assert_int_equal(x, sign ? -1 : 1);
    }
    tamis_noise_free(noise);
}

/* The same probabilities as tails of a double: chances of words as they were found, against masses of the law. */
static void small_law_is_right(void **state)
{
    static const char *const variances[] = {"1/4", "1", "100"};
    (void)state;
    for (size_t i = 0; i < sizeof variances / sizeof *variances; i++) {
        tamis_noise *noise = gaussian(variances[i]);
        uint64_t from = 0;
        for (int64_t k = 0; k < 30; k++) {
            edge e = find_edge(noise, 0, k, NULL);
            if (e.above == UINT64_MAX) break;
            tamis_bound p = gaussian_mass(variances[i], k);
            double share = ldexp((double)(e.below - from), -64) / (k ? 2 : 1); /* +-k share it */
            assert_true(fabs(share - p.upper) <= 1e-12 * p.upper + ldexp(3, -64));
            from = e.below;
        }
        tamis_noise_free(noise);
    }
}

/* ---- what it looks like from outside ---- */

static void shares_are_right(void **state)
{
    enum { n = 1 << 20, seed = 51, span = 60 };
    static const char *const variances[] = {"1/100", "1/4", "1", "2/3", "100", "4095", "4097", "16385", "30000"};
    int64_t *out = malloc(n * sizeof *out);
    (void)state;
    print_message("# seed %d\n", seed);
    bits_from_seed(seed);
    for (size_t i = 0; i < sizeof variances / sizeof *variances; i++) {
        tamis_noise *noise = gaussian(variances[i]);
        uint64_t counts[2 * span + 1] = {0}, below = 0, above = 0;
        assert_int_equal(tamis_noise_draw(out, n, noise, rng, NULL), TAMIS_OK);
        for (int k = 0; k < n; k++) {
            if (out[k] >= -span && out[k] <= span) counts[out[k] + span]++;
            below += out[k] < 0;
            above += out[k] > 0;
        }
        for (int64_t k = 0; k <= span; k++) {
            tamis_bound p = gaussian_mass(variances[i], k);
            assert_true(may_be_chance(counts[span + k], n, p) && may_be_chance(counts[span - k], n, p));
            if (k > 0) continue;
            tamis_bound side = {(1 - p.upper) / 2, (1 - p.lower) / 2};
            assert_true(may_be_chance(below, n, side) && may_be_chance(above, n, side));
        }
        tamis_noise_free(noise);
    }
    free(out);
}

/* Large sd: sums and integrals of exp(-x^2 / (2 sd^2)) from t on differ by at most its largest term, so P(X >= t) is
 * within 2 / sd of the normal tail; and each binary digit is fair within 2^(j+1) / sd or 2^-j. */
static void tails_are_right(void **state)
{
    enum { n = 1 << 20, seed = 52 };
    static const struct {
        const char *variance;
        double sd;
    } cases[] = {{"1e6", 1e3}, {"1e12", 1e6}, {"1e24", 1e12}, {"1e32", 1e16}};
    int64_t *out = malloc(n * sizeof *out);
    (void)state;
    print_message("# seed %d\n", seed);
    bits_from_seed(seed);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis_noise *noise = gaussian(cases[i].variance);
        assert_int_equal(tamis_noise_draw(out, n, noise, rng, NULL), TAMIS_OK);
        for (double t = 0.001; t < 6; t *= 1.2) {
            uint64_t left = 0, right = 0;
            double p = erfc(t / sqrt(2)) / 2, slack = 2 / cases[i].sd + 1e-12;
            for (int k = 0; k < n; k++) {
                right += (double)out[k] >= t * cases[i].sd;
                left += (double)out[k] <= -t * cases[i].sd;
            }
            tamis_bound bound = {p > slack ? p - slack : 0, p + slack};
            assert_true(may_be_chance(left, n, bound) && may_be_chance(right, n, bound));
        }
        for (unsigned j = 0; j < 54; j++) {
            uint64_t ones = 0;
            for (int k = 0; k < n; k++) ones += (uint64_t)out[k] >> j & 1;
            double q = 2 / (double)(UINT64_C(1) << j), near = 4 * (double)(UINT64_C(1) << j) / cases[i].sd;
            double slack = q < near ? q : near;
            if (slack < 0.2) assert_true(may_be_chance(ones, n, (tamis_bound){0.5 - slack, 0.5 + slack}));
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
        assert_int_equal(tamis_noise_gaussian_new(&noise, x, &err), TAMIS_INVALID);
        assert_null(noise);
        assert_non_null(strstr(err.message, "scale:"));
        if (tmi_number_sign(x) <= 0) {
            assert_int_equal(tmi_noise_gaussian_new(&noise, x, &err), TAMIS_INVALID);
            assert_non_null(strstr(err.message, "variance:"));
        }
        tamis_number_free(x);
    }
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        x = number(good[i]);
        EVERY_ALLOCATION_FAILS(tamis_noise_gaussian_new(&noise, x, NULL), assert_null(noise));
        tamis_noise_free(noise);
        assert_int_equal(tamis_noise_gaussian_new(NULL, x, &err), TAMIS_INVALID);
        assert_non_null(strstr(err.message, "noise:"));
        tamis_number_free(x);
    }
    assert_int_equal(tamis_noise_gaussian_new(&noise, NULL, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "scale:"));
    /* bits that need refinement, and no memory for it */
    given g = wide_bits(1, 1, 1, 0, (uint32_t)(ldexp(1, 32) * exp(-1.0 / 10000)) - 2);
    int64_t value;
    noise = gaussian("5000");
    bits_from(give, &g);
    EVERY_ALLOCATION_FAILS((g.used = 0, tamis_noise_draw(&value, 1, noise, rng, NULL)), assert_int_equal(value, 0));
    tamis_noise_free(noise);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_exact),
        cmocka_unit_test(keeping_is_exact),
        cmocka_unit_test(the_variance_is_the_square_of_the_scale),
        cmocka_unit_test(zero_is_counted_once),
        cmocka_unit_test(small_law_is_right),
        cmocka_unit_test(shares_are_right),
        cmocka_unit_test(tails_are_right),
        cmocka_unit_test(refuses_bad_input),
    };
    return cmocka_run_group_tests(tests, make_rng, free_rng);
}
