#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

#include "num/digits.h"
#include "num/number.h"
#include "rng/discrete_laplace.h"
#include "tests/base/memory_that_fails.h"
#include "tests/rng/laplace_script.h"
#include "tests/rng/law.h"
#include "tests/rng/with_rng.h"

static tamis_noise *laplace(const char *scale)
{
    tamis_noise *noise;
    tamis_number *x = number(scale);
    assert_int_equal(tamis_noise_laplace_new(&noise, x, NULL), TAMIS_OK);
    tamis_number_free(x);
    return noise;
}

/* ---- every string ---- */

static tamis_status draw_same(int64_t *outcome, void *noise)
{
    int64_t out[TMI_LANES];
    tamis_status status = tamis_noise_draw(out, TMI_LANES, noise, rng, NULL);
    if (status == TAMIS_OK)
        for (int i = 1; i < TMI_LANES; i++) assert_true(out[i] == out[0]);
    *outcome = out[0];
    return status;
}

/* All lanes get the same digits, so that a string of digits is one draw. */
static void every_string_agrees(void **state)
{
    static const struct {
        const char *scale;
        unsigned depth;
    } cases[] = {
        {"1/1000000", 14}, {"1/17", 14}, {"1/16", 14}, {"1/8", 16}, {"1/5", 17}, {"1/3", 19}, {"1", 20}, {"5/2", 18},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tree t;
        tamis_noise *noise = laplace(cases[i].scale);
        tree_walk(&t, cases[i].depth, TMI_LANES / 8, draw_same, noise);
        for (int64_t k = -TREE_SPAN; k <= TREE_SPAN; k++) tree_check(&t, k, laplace_mass(cases[i].scale, k));
        tamis_noise_free(noise);
    }
}

/* ---- scripts that make given values ---- */

static void draw_script(int64_t *out, const script *s, const tamis_noise *noise)
{
    bits_from_bytes(s->bytes, s->size);
    assert_int_equal(tamis_noise_draw(out, TMI_LANES, noise, rng, NULL), TAMIS_OK);
    assert_int_equal(bits_taken(), s->size);
}

static int64_t value_of(const wish *w, unsigned levels)
{
    __int128 x = (__int128)w->g[0] - w->g[1] + (((__int128)w->h[0] - w->h[1]) * ((__int128)1 << levels));
    __int128 most = (__int128)1 << 62;
    return (int64_t)(x > most ? most : x < -most ? -most : x);
}

/* Any 256 values can be wished for, each bit of each lane by itself, with ties beyond the planes, beyond the digits
 * kept, with high parts on either side, saturated or not; both forms of the code agree. */
static void lanes_keep_to_themselves(void **state)
{
    static const char *const scales[] = {"1/1000000",        "1/16", "1", "7", "8", "4095/2", "4097/2", "134217728", "134217729",
                                         "36028797018963968"}; /* both sides of each width */
    static const unsigned ties[] = {0, 0, 0, 0, 3, 7, 8, 9, 16, 63, 64, 127, 128, 129, 200, 256};
    script s = {0};
    (void)state;
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        tamis_noise *noise = laplace(scales[i]);
        tamis_number *scale = number(scales[i]);
        coin_digits digits;
        find_digits(&digits, scale);
        unsigned levels = digits.levels, lane_at[TMI_LANES] = {0};
        bool tiny = i == 0; /* exp(-10^6): no script can make H > 0 */
        wish wishes[TMI_LANES];
        int64_t out[TMI_LANES];
        bool seen[TMI_LANES] = {0};
        /* Where is each lane? In run r, the lanes whose number has bit r are 1 (by a high part if there are no bits),
         * the others 0: a place reads the number of its lane. */
        for (int r = 0; r < 8 && !tiny; r++) {
            memset(wishes, 0, sizeof wishes);
            for (unsigned lane = 0; lane < TMI_LANES; lane++) *(levels > 0 ? wishes[lane].g : wishes[lane].h) = lane >> r & 1;
            write_script(&s, &digits, wishes);
            draw_script(out, &s, noise);
            for (int j = 0; j < TMI_LANES; j++) {
                assert_in_range(out[j], 0, 1);
                lane_at[j] |= (unsigned)out[j] << r;
            }
        }
        for (int j = 0; j < TMI_LANES && !tiny; j++) {
            assert_false(seen[lane_at[j]]);
            seen[lane_at[j]] = true;
        }
        for (int round = 0; round < 10; round++) {
            int64_t plain[TMI_LANES];
            uint64_t all = levels ? UINT64_MAX >> (64 - levels) : 0;
            memset(wishes, 0, sizeof wishes);
            for (int lane = 0; lane < TMI_LANES; lane++) {
                wish *w = &wishes[lane];
                for (int side = 0; side < 2; side++) {
                    w->g[side] = (round == side ? all : round < 2 ? 0 : random_word()) & all;
                    if (!tiny && round > 2 && random_word() % 8 == 0) w->h[side] = random_word() % (round > 4 ? 20 : 2);
                }
                if (round > 5) w->tie = ties[random_word() % (sizeof ties / sizeof *ties)];
            }
            write_script(&s, &digits, wishes);
            if (tmi_laplace_use_vectors(noise, true)) draw_script(out, &s, noise);
            assert_true(tmi_laplace_use_vectors(noise, false));
            draw_script(plain, &s, noise);
            if (tmi_laplace_use_vectors(noise, true)) assert_memory_equal(out, plain, sizeof out);
            for (int j = 0; j < TMI_LANES; j++) assert_true(plain[j] == value_of(&wishes[lane_at[j]], levels));
        }
        tamis_number_free(scale);
        tamis_noise_free(noise);
    }
    free(s.bytes);
}

typedef struct level_of {
    const tamis_number *scale;
    unsigned level;
} level_of;

/* 1 / (1 + exp(2^level / scale)) */
static tamis_status logistic(tmi_ball *z, const void *context, long bits, tamis_error *err)
{
    const level_of *c = context;
    tmi_ball t;
    (void)err;
    tmi_ball_init(&t);
    tmi_ball_set_int(z, INT64_C(1) << c->level);
    tmi_ball_set_number(&t, c->scale, bits);
    tmi_ball_div(z, z, &t, bits);
    tmi_ball_exp(z, z, bits);
    tmi_ball_add_int(z, z, 1, bits);
    tmi_ball_set_int(&t, 1);
    tmi_ball_div(z, &t, z, bits);
    tmi_ball_clear(&t);
    return TAMIS_OK;
}

/* The number of strings of 16 digits (of 65536) for which coin c = 2 * level + side says yes; all but one decide. */
static uint64_t count_yes(const script *segments, unsigned coins, unsigned c, uint64_t digits, const tamis_noise *noise)
{
    script s = {0};
    uint64_t lowest = TMI_LANES, highest = 0, at_highest = 0;
    unsigned tie = digits >> 48 & 255;
    int64_t out[TMI_LANES], one = (c % 2 ? -1 : 1) * (INT64_C(1) << c / 2);
    for (unsigned byte = 0; byte < 256; byte++) {
        s.size = 0;
        for (unsigned other = 0; other < c; other++) put(&s, segments[other].bytes, segments[other].size);
        for (unsigned j = 0; j < 8; j++) {
            uint8_t plane[TMI_LANES / 8] = {0};
            for (unsigned lane = 0; lane < TMI_LANES; lane++)
                plane[lane / 8] = (uint8_t)(plane[lane / 8] | (lane >> (7 - j) & 1u) << lane % 8);
            put(&s, plane, sizeof plane);
        }
        put(&s, &(uint8_t){(uint8_t)byte}, 1);
        if (byte == tie) { /* asks for a third byte */
            bits_from_bytes(s.bytes, s.size);
            assert_int_equal(tamis_noise_draw(out, TMI_LANES, noise, rng, NULL), TAMIS_SYSTEM);
            assert_int_equal(bits_taken(), s.size);
            continue;
        }
        for (unsigned other = c + 1; other < coins; other++) put(&s, segments[other].bytes, segments[other].size);
        draw_script(out, &s, noise);
        uint64_t yes = 0;
        for (int lane = 0; lane < TMI_LANES; lane++) {
            assert_true(out[lane] == 0 || out[lane] == one);
            yes += out[lane] == one;
        }
        if (yes > highest) at_highest = 0;
        if (yes >= highest) at_highest++;
        highest = yes > highest ? yes : highest;
        lowest = yes < lowest ? yes : lowest;
    }
    free(s.bytes);
    /* 255 lanes do not tie and are the same in all runs; the one that does says yes in some, in all or in none. */
    if (lowest == highest && tie == 0) return 256 * lowest;
    assert_true(highest - lowest <= 1);
    return 256 * (highest - 1) + at_highest;
}

/* The probability of every coin, from all strings of 16 digits: 8 planes in which the lanes hold all 256 strings (one
 * of them ties), then all 256 bytes for the lane that ties. The other coins say no. */
static void every_coin_is_exact(void **state)
{
    static const char *const scales[] = {"1/3", "1", "10", "1000000", "36028797018963968"};
    static const bool no[TMI_LANES];
    static const wish nothing[TMI_LANES];
    (void)state;
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        tamis_noise *noise = laplace(scales[i]);
        tamis_number *scale = number(scales[i]);
        coin_digits digits;
        script segments[128] = {{0}};
        find_digits(&digits, scale);
        unsigned levels = digits.levels, coins = 2 * levels + 2;
        for (unsigned c = 0; c < coins; c++) put_coins(&segments[c], digits.p[c / 2], no, nothing);
        for (unsigned c = 0; c < 2 * levels; c++) {
            uint64_t yes = count_yes(segments, coins, c, digits.p[c / 2][0], noise);
            tamis_bound p;
            assert_int_equal(tmi_certify(&p, 1e-12, logistic, &(level_of){scale, c / 2}, NULL), TAMIS_OK);
            assert_true((double)yes <= 65536 * p.upper && 65536 * p.lower <= (double)(yes + 1));
        }
        for (unsigned c = 0; c < coins; c++) free(segments[c].bytes);
        tamis_number_free(scale);
        tamis_noise_free(noise);
    }
}

/* ---- what it looks like from outside ---- */

static void shares_are_right(void **state)
{
    enum { n = 1 << 20, seed = 41, span = 40 };
    static const char *const scales[] = {"1/10", "1/2", "1", "10", "1000/3"};
    int64_t *out = malloc(n * sizeof *out);
    (void)state;
    print_message("# seed %d\n", seed);
    bits_from_seed(seed);
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        tamis_noise *noise = laplace(scales[i]);
        uint64_t counts[2 * span + 1] = {0}, below = 0, above = 0;
        assert_int_equal(tamis_noise_draw(out, n, noise, rng, NULL), TAMIS_OK);
        for (int k = 0; k < n; k++) {
            if (out[k] >= -span && out[k] <= span) counts[out[k] + span]++;
            below += out[k] < 0;
            above += out[k] > 0;
        }
        for (int64_t k = -span; k <= span; k++) assert_true(may_be_chance(counts[k + span], n, laplace_mass(scales[i], k)));
        tamis_bound zero = laplace_mass(scales[i], 0), side = {(1 - zero.upper) / 2, (1 - zero.lower) / 2};
        assert_true(may_be_chance(below, n, side) && may_be_chance(above, n, side));
        tamis_noise_free(noise);
    }
    free(out);
}

/* Large scales, where no single mass can be seen: the tails and the binary digits.
 *
 * P(|X| >= t) = 2 r^t / (1 + r), r = exp(-1 / scale). Digit j (two's complement) of -X is the opposite of that of X
 * unless t = 2^j divides X, so it is 1 with a probability within q/2 of 1/2, where q = P(t divides X) =
 * tanh(1 / 2 scale) / tanh(t / 2 scale) <= 1/t + 1 / (2 scale). */
static tamis_status tail(tmi_ball *z, const void *context, long bits, tamis_error *err)
{
    const level_of *c = context;
    tmi_ball t;
    (void)err;
    tmi_ball_init(&t);
    tmi_ball_set_number(&t, c->scale, bits);
    tmi_ball_set_int(z, -(INT64_C(1) << c->level));
    tmi_ball_div(z, z, &t, bits);
    tmi_ball_exp(z, z, bits);
    tmi_ball_mul_int(z, z, 2, bits);
    tmi_ball neg;
    tmi_ball_init(&neg);
    tmi_ball_set_int(&neg, -1);
    tmi_ball_div(&neg, &neg, &t, bits);
    tmi_ball_exp(&neg, &neg, bits);
    tmi_ball_add_int(&neg, &neg, 1, bits);
    tmi_ball_div(z, z, &neg, bits);
    tmi_ball_clear(&neg);
    tmi_ball_clear(&t);
    return TAMIS_OK;
}

static void tails_are_right(void **state)
{
    enum { n = 1 << 20, seed = 42 };
    static const char *const scales[] = {"1000", "1000000", "1099511627776", "36028797018963968"};
    int64_t *out = malloc(n * sizeof *out);
    (void)state;
    print_message("# seed %d\n", seed);
    bits_from_seed(seed);
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        tamis_noise *noise = laplace(scales[i]);
        tamis_number *scale = number(scales[i]);
        assert_int_equal(tamis_noise_draw(out, n, noise, rng, NULL), TAMIS_OK);
        for (unsigned j = 0; j < 62; j++) {
            tamis_bound p;
            uint64_t left = 0, right = 0, ones = 0;
            for (int k = 0; k < n; k++) {
                right += out[k] >= INT64_C(1) << j;
                left += out[k] <= -(INT64_C(1) << j);
                ones += (uint64_t)out[k] >> j & 1;
            }
            assert_int_equal(tmi_certify(&p, 1e-12, tail, &(level_of){scale, j}, NULL), TAMIS_OK);
            p.lower /= 2;
            p.upper /= 2;
            assert_true(may_be_chance(left, n, p) && may_be_chance(right, n, p));
            double q = 1 / (double)(UINT64_C(1) << j) + 1.0 / 2000;
            assert_true(may_be_chance(ones, n, (tamis_bound){0.5 - q / 2, 0.5 + q / 2}));
        }
        tamis_number_free(scale);
        tamis_noise_free(noise);
    }
    free(out);
}

/* Small pieces of a stream: any count, the rest of a batch is not kept. */
static void any_count_is_fine(void **state)
{
    int64_t out[600];
    (void)state;
    tamis_noise *noise = laplace("1000000");
    for (size_t count = 0; count < 600; count += 1 + count / 3) {
        for (size_t i = 0; i < 600; i++) out[i] = INT64_MIN;
        assert_int_equal(tamis_noise_draw(out, count, noise, rng, NULL), TAMIS_OK);
        for (size_t i = 0; i < 600; i++) assert_true((out[i] == INT64_MIN) == (i >= count));
    }
    tamis_noise_free(noise);
}

static void refuses_bad_input(void **state)
{
    static const char *const bad[] = {"0", "-1", "1/1000001", "36028797018963969", "1e1000", "1e-1000", "-1e-6"};
    static const char *const good[] = {"1/1000000", "36028797018963968", "1.23456789e-3"};
    tamis_error err;
    tamis_noise *noise = (tamis_noise *)&noise;
    int64_t out[300];
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tamis_number *x = number(bad[i]);
        assert_int_equal(tamis_noise_laplace_new(&noise, x, &err), TAMIS_INVALID);
        assert_null(noise);
        assert_non_null(strstr(err.message, "scale:"));
        tamis_number_free(x);
    }
    assert_int_equal(tamis_noise_laplace_new(&noise, NULL, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "scale:"));
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        tamis_noise_free(laplace(good[i]));
        tamis_number *x = number(good[i]);
        EVERY_ALLOCATION_FAILS(tamis_noise_laplace_new(&noise, x, NULL), assert_null(noise));
        assert_int_equal(tamis_noise_laplace_new(NULL, x, &err), TAMIS_INVALID);
        assert_non_null(strstr(err.message, "noise:"));
        tamis_noise_free(noise);
        tamis_number_free(x);
    }
    noise = laplace("3");
    assert_int_equal(tamis_noise_draw(NULL, 1, noise, rng, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "out:"));
    assert_int_equal(tamis_noise_draw(NULL, 0, noise, rng, &err), TAMIS_OK);
    assert_int_equal(tamis_noise_draw(out, 1, NULL, rng, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "noise:"));
    assert_int_equal(tamis_noise_draw(out, 1, noise, NULL, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "rng:"));
    assert_int_equal(tamis_noise_draw(out, SIZE_MAX, noise, rng, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "count:"));
    tamis_noise_free(NULL);
    /* bits that end in the middle: an error, and zeros everywhere */
    uint8_t bytes[20000];
    size_t size = 0;
    memset(bytes, 0x5a, sizeof bytes);
    for (tamis_status status = TAMIS_SYSTEM; status != TAMIS_OK; size += 97) {
        for (int i = 0; i < 300; i++) out[i] = 7;
        bits_from_bytes(bytes, size);
        status = tamis_noise_draw(out, 300, noise, rng, NULL);
        assert_true(status == TAMIS_OK || status == TAMIS_SYSTEM);
        for (int i = 0; i < 300 && status != TAMIS_OK; i++) assert_int_equal(out[i], 0);
    }
    assert_true(size > 1000);
    tamis_noise_free(noise);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_string_agrees), cmocka_unit_test(lanes_keep_to_themselves), cmocka_unit_test(every_coin_is_exact),
        cmocka_unit_test(shares_are_right),    cmocka_unit_test(tails_are_right),          cmocka_unit_test(any_count_is_fine),
        cmocka_unit_test(refuses_bad_input),
    };
    return cmocka_run_group_tests(tests, make_rng, free_rng);
}
