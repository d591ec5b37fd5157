#include "tests/test.h"

#include <stdio.h>
#include <string.h>

#include "tests/base/memory_that_fails.h"
#include "tests/mech/laplace_pair_values.h"
#include "tests/num/enclosure.h"

static tamis_status ask(tamis_bound *delta, const char *eps, const char *shift, const char *b1, const char *b2, tamis_error *err)
{
    tamis_number *x[] = {number(eps), number(shift), number(b1), number(b2)};
    tamis_status status = tamis_laplace_pair_delta(delta, x[0], x[1], x[2], x[3], err);
    for (size_t i = 0; i < 4; i++) tamis_number_free(x[i]);
    return status;
}

static tamis_bound delta_of(const char *eps, const char *shift, const char *b1, const char *b2)
{
    tamis_bound delta;
    assert_int_equal(ask(&delta, eps, shift, b1, b2, NULL), TAMIS_OK);
    assert_true(0 <= delta.lower && delta.lower <= delta.upper && delta.upper <= 1);
    assert_true(delta.upper - delta.lower <= 1e-9 * delta.upper + 1e-30);
    return delta;
}

static void agrees_with_bisection(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        tamis_number *exact = number(values[i].delta);
        assert_encloses(delta_of(values[i].eps, values[i].shift, values[i].b1, values[i].b2), exact->value, 1e-29);
        tamis_number_free(exact);
    }
}

/* No interval tells the two laws apart better than delta says, and the best of many comes close. */
static double tail(double x, double centre, double b)
{
    return x > centre ? exp(-(x - centre) / b) / 2 : 1 - exp(-(centre - x) / b) / 2;
}

static void no_interval_does_better(void **state)
{
    static const double eps[] = {0, 0.3, 1.5}, shifts[] = {0, 0.4, 2}, scales[] = {0.5, 0.9, 1, 1.3, 3};
    enum { POINTS = 601 };
    (void)state;
    for (size_t i = 0; i < 3 * 3 * 5; i++) {
        double e = eps[i % 3], s = shifts[i / 3 % 3], b = scales[i / 9], gain[POINTS], inside = 0, outside = 0;
        char text[3][32];
        snprintf(text[0], 32, "%g", e);
        snprintf(text[1], 32, "%g", s);
        snprintf(text[2], 32, "%g", b);
        tamis_bound delta = delta_of(text[0], text[1], text[2], "1");
        /* gain[k] = P(X > x_k) - e^eps Q(X > x_k); an interval gains the difference of two of them, the complement of an
         * interval the rest; x_0 and x_last are as good as infinite. */
        for (int k = 0; k < POINTS; k++) {
            double x = k == 0 ? -1e6 : k == POINTS - 1 ? 1e6 : (k - 300) / 15.0;
            gain[k] = tail(x, s, b) - exp(e) * tail(x, 0, 1);
        }
        for (int j = 0; j < POINTS; j++)
            for (int k = j; k < POINTS; k++) {
                inside = fmax(inside, gain[j] - gain[k]);
                outside = fmax(outside, gain[0] - gain[j] + gain[k]);
            }
        assert_true(fmax(inside, outside) <= delta.upper + 1e-12);
        assert_true(fmax(inside, outside) >= delta.lower - 2e-3);
    }
}

static void smaller_epsilon_or_larger_shift_tells_more(void **state)
{
    static const char *const eps[] = {"0", "1e-12", "0.1", "0.5", "1", "3", "20"};
    static const char *const shifts[] = {"0", "1e-9", "0.1", "1", "2", "30", "1e6"};
    static const char *const scales[] = {"0.2", "0.999", "1", "1.001", "5"};
    (void)state;
    for (size_t b = 0; b < 5; b++) {
        for (size_t i = 0; i < 7; i++) {
            for (size_t j = 0; j < 7; j++) {
                tamis_bound here = delta_of(eps[i], shifts[j], scales[b], "1");
                if (i > 0) assert_true(here.lower <= delta_of(eps[i - 1], shifts[j], scales[b], "1").upper);
                if (j > 0) assert_true(here.upper >= delta_of(eps[i], shifts[j - 1], scales[b], "1").lower);
            }
        }
    }
}

static void the_sign_of_the_shift_does_not_matter(void **state)
{
    (void)state;
    tamis_bound right = delta_of("0.7", "1.3", "1.1", "0.9"), left = delta_of("0.7", "-1.3", "1.1", "0.9");
    assert_true(right.lower == left.lower && right.upper == left.upper);
    tamis_bound scaled = delta_of("0.7", "13", "11", "9"); /* nor does the unit */
    assert_true(right.lower == scaled.lower && right.upper == scaled.upper);
}

static void is_exactly_zero_where_it_is_zero(void **state)
{
    static const char *const cases[][4] = {
        {"0", "0", "1", "1"},      {"1", "2", "2", "2"},          {"1", "-2", "2", "2"},
        {"0.1", "1/10", "1", "1"}, {"2", "0", "1", "3"},          {"5", "1", "0.4", "0.41"},
        {"1e1000", "1", "1", "2"}, {"1e1000", "1e999", "1", "1"}, {"1/3", "1/9", "1/3", "1/3"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis_bound delta = delta_of(cases[i][0], cases[i][1], cases[i][2], cases[i][3]);
        assert_true(delta.lower == 0 && delta.upper == 0);
    }
}

/* Numbers that nobody means end quickly, with a true answer. */
static void stands_absurd_numbers(void **state)
{
    static const char *const sizes[] = {"1e-1000", "1e-300", "1", "1e300", "1e1000", "1e1000/1e-1000"};
    (void)state;
    for (size_t i = 0; i < 6 * 6 * 6 * 6; i++) delta_of(sizes[i % 6], sizes[i / 6 % 6], sizes[i / 36 % 6], sizes[i / 216]);
    tamis_bound sure = delta_of("1e300", "1e1000", "1", "1");
    assert_true(sure.upper == 1 && sure.lower > 0.999999);
}

static void refuses_bad_input(void **state)
{
    static const struct {
        const char *eps, *shift, *b1, *b2, *names;
    } cases[] = {
        {"-1", "1", "1", "1", "eps"}, {"-1e-1000", "1", "1", "1", "eps"}, {"1", "1", "0", "1", "b1"},
        {"1", "1", "-1", "1", "b1"},  {"1", "1", "1", "0", "b2"},         {"1", "1", "1", "-1e300", "b2"},
    };
    (void)state;
    tamis_bound delta;
    tamis_error err;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        delta = (tamis_bound){7, 7};
        assert_int_equal(ask(&delta, cases[i].eps, cases[i].shift, cases[i].b1, cases[i].b2, &err), TAMIS_INVALID);
        assert_int_equal(strncmp(err.message, cases[i].names, strlen(cases[i].names)), 0);
        assert_true(delta.lower == 0 && delta.upper == 1);
    }
    static const char *const names[] = {"eps", "shift", "b1", "b2"};
    tamis_number *one = number("1");
    for (size_t i = 0; i < 4; i++) {
        const tamis_number *x[] = {one, one, one, one};
        x[i] = NULL;
        assert_int_equal(tamis_laplace_pair_delta(&delta, x[0], x[1], x[2], x[3], &err), TAMIS_INVALID);
        assert_int_equal(strncmp(err.message, names[i], strlen(names[i])), 0);
    }
    assert_int_equal(tamis_laplace_pair_delta(NULL, one, one, one, one, NULL), TAMIS_INVALID);
    tamis_number_free(one);
}

static void survives_missing_memory(void **state)
{
    tamis_number *one = number("1"), *two = number("2");
    tamis_bound delta;
    (void)state;
    EVERY_ALLOCATION_FAILS(tamis_laplace_pair_delta(&delta, one, two, one, two, NULL),
                           assert_true(delta.lower == 0 && delta.upper == 1));
    tamis_number_free(one);
    tamis_number_free(two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_bisection),
        cmocka_unit_test(no_interval_does_better),
        cmocka_unit_test(smaller_epsilon_or_larger_shift_tells_more),
        cmocka_unit_test(the_sign_of_the_shift_does_not_matter),
        cmocka_unit_test(is_exactly_zero_where_it_is_zero),
        cmocka_unit_test(stands_absurd_numbers),
        cmocka_unit_test(refuses_bad_input),
        cmocka_unit_test(survives_missing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
