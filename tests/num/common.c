/* Fractions over a common denominator, integers of several words, and uniform draws of them. */
#include "tests/test.h"

#include "num/common.h"
#include "rng/uniform.h"
#include "tests/base/memory_that_fails.h"
#include "tests/rng/scripted_bits.h"

static void goes_there_and_back(void **state)
{
    static const char *const texts[] = {"1/3", "0.25", "1", "0", "7/11", "1e-40", "123456789012345678901234567890/7"};
    enum { COUNT = sizeof texts / sizeof *texts };
    tamis_number *x[COUNT], *back;
    tmi_common c;
    (void)state;
    for (size_t i = 0; i < COUNT; i++) assert_int_equal(tamis_number_read(&x[i], texts[i], NULL), TAMIS_OK);
    EVERY_ALLOCATION_FAILS(tmi_common_init(&c, (const tamis_number *const *)x, COUNT, NULL), assert_null(c.numerators));
    assert_true(c.words > 1);
    for (size_t i = 0; i < COUNT; i++) {
        uint64_t many[TMI_COMMON_WORDS];
        tmi_ball ball;
        assert_int_equal(tmi_number_wide(&back, tmi_common_at(&c, i), c.denominator, c.words, NULL), TAMIS_OK);
        assert_int_equal(tmi_number_compare(back, x[i]), 0);
        assert_false(tmi_wide_mul(many, tmi_common_at(&c, i), COUNT + 1, c.words)); /* as promised, it fits */
        tmi_ball_init(&ball);
        tmi_ball_set_wide(&ball, tmi_common_at(&c, i), c.denominator, c.words, 100);
        tamis_bound bound = tmi_ball_bound(&ball);
        assert_true(bound.lower <= tmi_number_up(x[i]) && tmi_number_down(x[i]) <= bound.upper);
        tmi_ball_clear(&ball);
        tamis_number_free(back);
    }
    assert_false(tmi_wide_mul(c.numerators, c.denominator, COUNT + 1, c.words));
    tmi_common_clear(&c);
    for (size_t i = 0; i < COUNT; i++) tamis_number_free(x[i]);
}

/* 600 different primes below: their product is too long. */
static void refuses_endless_denominators(void **state)
{
    enum { COUNT = 600 };
    tamis_number *x[COUNT];
    size_t count = 0;
    tmi_common c;
    (void)state;
    for (int64_t p = 2; count < COUNT; p++) {
        bool prime = true;
        for (int64_t d = 2; d * d <= p && prime; d++) prime = p % d != 0;
        if (prime) assert_int_equal(tmi_number_ratio(&x[count++], 1, p, NULL), TAMIS_OK);
    }
    assert_int_equal(tmi_common_init(&c, (const tamis_number *const *)x, COUNT, NULL), TAMIS_UNABLE);
    assert_null(c.numerators);
    for (size_t i = 0; i < COUNT; i++) tamis_number_free(x[i]);
}

static void carries_and_borrows(void **state)
{
    uint64_t x[] = {UINT64_MAX, UINT64_MAX, 1}, y[] = {1, 0, 0}, z[3];
    (void)state;
    assert_false(tmi_wide_add(z, x, y, 3));
    assert_true(z[0] == 0 && z[1] == 0 && z[2] == 2);
    assert_false(tmi_wide_sub(z, z, y, 3));
    assert_int_equal(tmi_wide_compare(z, x, 3), 0);
    assert_int_equal(tmi_wide_compare(y, x, 3), -1);
    assert_int_equal(tmi_wide_compare(x, y, 3), 1);
    assert_true(tmi_wide_add(z, x, y, 2)); /* beyond two words */
    assert_true(tmi_wide_is_zero(z, 2));
    assert_true(tmi_wide_sub(z, y, x, 3));
    assert_false(tmi_wide_mul(z, x, 3, 3));
    assert_true(z[0] == UINT64_MAX - 2 && z[1] == UINT64_MAX && z[2] == 5);
    assert_true(tmi_wide_mul(z, x, UINT64_MAX, 3));
}

/* Below 2^64 + 2: values of two words are kept or thrown back, those of one word go the short way. */
static void draws_wide_integers(void **state)
{
    const uint64_t n[] = {2, 1, 0}, small[] = {4, 0, 0};
    uint64_t value[3];
    tamis_rng *rng;
    static const uint64_t script[] = {2, 1, /* = n: again */ 1, 0xfffffffffffffff1, /* masked to 1: = n - 1 */ 5, 0, 3};
    (void)state;
    assert_int_equal(tamis_rng_new(&rng, NULL), TAMIS_OK);
    bits_from_bytes(script, sizeof script);
    assert_true(tmi_uniform_wide(value, n, 3, rng));
    assert_true(value[0] == 1 && value[1] == 1 && value[2] == 0);
    assert_true(tmi_uniform_wide(value, n, 3, rng));
    assert_true(value[0] == 5 && value[1] == 0 && value[2] == 0);
    assert_true(tmi_uniform_wide(value, small, 3, rng));
    assert_true(value[0] == 3 && value[1] == 0 && value[2] == 0);
    bits_from_bytes(script, 8);
    assert_false(tmi_uniform_wide(value, n, 3, rng));
    bits_from_seed(1);
    tamis_rng_free(rng);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goes_there_and_back),
        cmocka_unit_test(refuses_endless_denominators),
        cmocka_unit_test(carries_and_borrows),
        cmocka_unit_test(draws_wide_integers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
