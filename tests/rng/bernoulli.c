#include "tests/test.h"

#include <math.h>
#include <string.h>

#include "num/bound.h"
#include "num/digits.h"
#include "tests/base/memory_that_fails.h"
#include "tests/rng/law.h"
#include "tests/rng/with_rng.h"

typedef tamis_status toss(int *yes, const tamis_number *x, tamis_rng *rng, tamis_error *err);

typedef struct coin {
    toss *toss;
    tamis_number *x;
} coin;

static tamis_status draw(int64_t *outcome, void *context)
{
    const coin *c = context;
    int yes = 0;
    tamis_status status = c->toss(&yes, c->x, rng, NULL);
    *outcome = yes;
    return status;
}

static tamis_status exp_minus(tmi_ball *z, const void *x, long bits, tamis_error *err)
{
    (void)err;
    tmi_ball_set_number(z, x, bits);
    tmi_ball_neg(z, z);
    tmi_ball_exp(z, z, bits);
    return TAMIS_OK;
}

/* Strings of three bytes: all but one leaf (none if p is 0 or 1) are decided, so P(yes) is pinned to 2^-24. */
static void every_string_agrees(void **state)
{
    static const char *const probabilities[] = {"0",       "1",       "1/2",     "1/3",         "2/3",   "2/7",
                                                "1/256",   "255/256", "1/65536", "65535/65536", "1e-30", "0.999999999999",
                                                "123/1000"};
    static const char *const exponents[] = {"0", "1e-30", "1/1000", "1/3", "1", "7/2", "11", "1000000"};
    (void)state;
    for (size_t i = 0; i < sizeof probabilities / sizeof *probabilities; i++) {
        tree t;
        coin c = {tamis_bernoulli, number(probabilities[i])};
        tree_walk(&t, 24, 0, draw, &c);
        assert_true(t.undecided <= 1 && t.elsewhere == 0);
        if (i < 2) assert_true(t.undecided == 0); /* 0 and 1 need no bits */
        tamis_bound p = tmi_number_bound(c.x);
        tree_check(&t, 1, p);
        tree_check(&t, 0, (tamis_bound){1 - p.upper, 1 - p.lower});
        tamis_number_free(c.x);
    }
    for (size_t i = 0; i < sizeof exponents / sizeof *exponents; i++) {
        tree t;
        tamis_bound p;
        coin c = {tamis_bernoulli_exp, number(exponents[i])};
        tree_walk(&t, 24, 0, draw, &c);
        assert_true(t.undecided <= 1 && t.elsewhere == 0);
        if (i == 0) assert_true(t.undecided == 0);
        assert_int_equal(tmi_certify(&p, 1e-12, exp_minus, c.x, NULL), TAMIS_OK);
        tree_check(&t, 1, p);
        tamis_number_free(c.x);
    }
}

/* Ties of any length: the digits of p as random bits, then one byte that differs by one. 16 bytes are the digits kept,
 * 24 and more need further ones. */
static void ties_are_refined(void **state)
{
    static const struct {
        toss *toss;
        tmi_digit_kind kind;
        const char *x;
    } cases[] = {
        {tamis_bernoulli, TMI_DIGITS_RATIONAL, "1/3"},
        {tamis_bernoulli, TMI_DIGITS_RATIONAL, "5/7"},
        {tamis_bernoulli_exp, TMI_DIGITS_EXP, "1"},
        {tamis_bernoulli_exp, TMI_DIGITS_EXP, "1/10"},
    };
    enum { words = 40 };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t digits[words];
        uint8_t bytes[8 * words];
        tamis_number *x = number(cases[i].x);
        tmi_digit_source p = {cases[i].kind, x, 0};
        assert_int_equal(tmi_digits(digits, &p, 0, words, NULL), TAMIS_OK);
        for (int b = 0; b < 8 * words; b++) bytes[b] = (uint8_t)(digits[b / 8] >> (56 - 8 * (b % 8)));
        for (size_t last = 0; last < sizeof bytes; last++) {
            uint8_t digit = bytes[last];
            int yes = -1;
            if (digit > 0) {
                bytes[last] = (uint8_t)(digit - 1);
                bits_from_bytes(bytes, sizeof bytes);
                assert_int_equal(cases[i].toss(&yes, x, rng, NULL), TAMIS_OK);
                assert_int_equal(yes, 1);
                assert_int_equal(bits_taken(), last + 1);
            }
            if (digit < 255) {
                bytes[last] = (uint8_t)(digit + 1);
                bits_from_bytes(bytes, sizeof bytes);
                assert_int_equal(cases[i].toss(&yes, x, rng, NULL), TAMIS_OK);
                assert_int_equal(yes, 0);
                assert_int_equal(bits_taken(), last + 1);
            }
            bytes[last] = digit;
        }
        tamis_number_free(x);
    }
}

static void shares_are_right(void **state)
{
    enum { n = 200000, seed = 31 };
    static const char *const exponents[] = {"1/1000", "1/3", "1", "5"};
    (void)state;
    print_message("# seed %d\n", seed);
    bits_from_seed(seed);
    for (size_t i = 0; i < sizeof exponents / sizeof *exponents; i++) {
        tamis_number *x = number(exponents[i]);
        tamis_bound p;
        uint64_t count = 0;
        assert_int_equal(tmi_certify(&p, 1e-12, exp_minus, x, NULL), TAMIS_OK);
        for (int k = 0; k < n; k++) {
            int yes;
            assert_int_equal(tamis_bernoulli_exp(&yes, x, rng, NULL), TAMIS_OK);
            count += (uint64_t)yes;
        }
        assert_true(may_be_chance(count, n, p));
        tamis_number_free(x);
    }
}

static void refuses_bad_input(void **state)
{
    static const struct {
        toss *toss;
        const char *x, *word;
    } cases[] = {
        {tamis_bernoulli, "-1/1000", "p:"},
        {tamis_bernoulli, "1001/1000", "p:"},
        {tamis_bernoulli, "1e1000", "p:"},
        {tamis_bernoulli_exp, "-1e-1000", "x:"},
    };
    int yes;
    tamis_error err;
    tamis_number *half = number("1/2");
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis_number *x = number(cases[i].x);
        yes = 7;
        assert_int_equal(cases[i].toss(&yes, x, rng, &err), TAMIS_INVALID);
        assert_int_equal(yes, 0);
        assert_non_null(strstr(err.message, cases[i].word));
        tamis_number_free(x);
    }
    toss *const both[] = {tamis_bernoulli, tamis_bernoulli_exp};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(both[i](NULL, half, rng, &err), TAMIS_INVALID);
        assert_non_null(strstr(err.message, "yes:"));
        assert_int_equal(both[i](&yes, NULL, rng, &err), TAMIS_INVALID);
        assert_non_null(strstr(err.message, "NULL"));
        assert_int_equal(both[i](&yes, half, NULL, &err), TAMIS_INVALID);
        assert_non_null(strstr(err.message, "rng:"));
        yes = 7;
        bits_from_bytes(NULL, 0);
        assert_int_equal(both[i](&yes, half, rng, NULL), TAMIS_SYSTEM);
        assert_int_equal(yes, 0);
        bits_from_seed(1);
        EVERY_ALLOCATION_FAILS(both[i](&yes, half, rng, NULL), assert_int_equal(yes, 0));
    }
    tamis_number_free(half);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_string_agrees),
        cmocka_unit_test(ties_are_refined),
        cmocka_unit_test(shares_are_right),
        cmocka_unit_test(refuses_bad_input),
    };
    return cmocka_run_group_tests(tests, make_rng, free_rng);
}
