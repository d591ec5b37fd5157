#include "tests/test.h"

#include "num/ball_arb.h"
#include "num/ratio.h"
#include "tests/num/enclosure.h"

/* A rest far below the precision is still in the enclosure: 1 + 10 * 1e-250 + ... is not 1. */
static void keeps_the_rest(void **state)
{
    tamis_number *odds = number("1e-250");
    tmi_ratios ratios = {.a = 10, .c = 1, .single = true, .odds = odds};
    tmi_ball sum;
    (void)state;
    tmi_ball_init(&sum);
    tmi_ratios_sum(&sum, &ratios, 128);
    tmi_ball_add_int(&sum, &sum, -1, 2000);
    assert_true(tmi_ball_bound(&sum).upper >= 1e-249);
    tmi_ball_clear(&sum);
    tamis_number_free(odds);
}

/* (a)_j (b)_j / ((c)_j (d)_j) summed exactly, for both precisions. */
static void agrees_with_exact_sums(void **state)
{
    mpq_t term, sum, ratio;
    tmi_ball ball;
    (void)state;
    mpq_inits(term, sum, ratio, NULL);
    tmi_ball_init(&ball);
    for (int64_t a = 0; a < 9; a++) {
        for (int64_t b = 0; b < 9; b++) {
            for (int64_t c = 9; c < 12; c++) {
                tmi_ratios ratios = {.a = a, .b = b, .c = c, .d = 9};
                assert_int_equal(tmi_ratios_length(&ratios), a < b ? a : b);
                mpq_set_ui(term, 1, 1);
                mpq_set_ui(sum, 1, 1);
                for (int64_t j = 0; j < a && j < b; j++) {
                    mpq_set_ui(ratio, (unsigned long)((a - j) * (b - j)), (unsigned long)((c + j) * (9 + j)));
                    mpq_canonicalize(ratio);
                    mpq_mul(term, term, ratio);
                    mpq_add(sum, sum, term);
                }
                for (long bits = 64; bits <= 128; bits += 64) {
                    tmi_ratios_sum(&ball, &ratios, bits);
                    assert_encloses(tmi_ball_bound(&ball), sum, 0);
                }
            }
        }
    }
    mpq_clears(term, sum, ratio, NULL);
    tmi_ball_clear(&ball);
}

/* The proved error of the sum in long double, against balls: it covers, and it is not idly wide. */
static void long_double_stays_within_its_bound(void **state)
{
    static const tmi_ratios cases[] = {
        {.a = 300000000, .b = 1000000, .c = 30000000, .d = 10000000},
        {.a = 5000000, .b = 5000000, .c = 5000001, .d = 5000001},
        {.a = 600, .b = 600, .c = 601, .d = 601},
        {.a = 100000000000, .b = 100000000000, .c = 100000000001, .d = 100000000001},
        {.a = 511, .b = 1000, .c = 1001, .d = 600},
        {.a = 512, .b = 1000, .c = 1001, .d = 600},
        {.a = 513, .b = 1000, .c = 1001, .d = 600},
    };
    tmi_ball fast, slow;
    (void)state;
    tmi_ball_init(&fast);
    tmi_ball_init(&slow);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tmi_ratios_sum(&fast, &cases[i], 64);
        tmi_ratios_sum(&slow, &cases[i], 192);
        assert_true(arb_contains(tmi_arb(&fast), tmi_arb(&slow)));
        assert_true(arb_rel_accuracy_bits(tmi_arb(&fast)) >= 42);
    }
    tmi_ball_clear(&fast);
    tmi_ball_clear(&slow);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_the_rest),
        cmocka_unit_test(agrees_with_exact_sums),
        cmocka_unit_test(long_double_stays_within_its_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
