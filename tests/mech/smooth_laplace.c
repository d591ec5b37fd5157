#include "tests/test.h"

#include <string.h>

#include "num/number.h"
#include "tests/base/memory_that_fails.h"

static tamis_bound loss(const char *eps, const char *alpha, const char *beta)
{
    tamis_number *x[] = {number(eps), number(alpha), number(beta)};
    tamis_bound delta;
    assert_int_equal(tamis_smooth_laplace_delta(&delta, x[0], x[1], x[2], NULL), TAMIS_OK);
    for (size_t i = 0; i < 3; i++) tamis_number_free(x[i]);
    assert_true(0 <= delta.lower && delta.lower <= delta.upper && delta.upper <= 1);
    return delta;
}

/* The pair in question, by the general function: scales e^l / alpha and 1 / alpha, centres min(1, e^l) apart or less. */
static double pair(const tamis_number *eps, double alpha, double l, double part)
{
    const double three[] = {fmin(1, exp(l)) * part, exp(l) / alpha, 1 / alpha};
    tamis_number *x[3];
    tamis_bound delta;
    for (size_t i = 0; i < 3; i++) assert_int_equal(tmi_number_double(&x[i], three[i], NULL), TAMIS_OK);
    assert_int_equal(tamis_laplace_pair_delta(&delta, eps, x[0], x[1], x[2], NULL), TAMIS_OK);
    for (size_t i = 0; i < 3; i++) tamis_number_free(x[i]);
    return delta.upper;
}

static void no_pair_is_worse(void **state)
{
    static const char *const cases[][3] = {{"1", "0.5", "0.0345"},     {"1", "0.7", "0.0337"}, {"0.1", "0.08", "0.00633"},
                                           {"2.43", "1.944", "0.211"}, {"0.5", "0.5", "0.3"},  {"0.2", "0.15", "0.4"},
                                           {"3", "1", "1.5"},          {"0.05", "0.04", "2"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const tamis_bound delta = loss(cases[i][0], cases[i][1], cases[i][2]);
        const double alpha = strtod(cases[i][1], NULL), beta = strtod(cases[i][2], NULL);
        tamis_number *eps = number(cases[i][0]);
        double most = 0;
        for (int l = -10; l <= 10; l++)
            for (int part = 0; part <= 4; part++) most = fmax(most, pair(eps, alpha, beta * l / 10, part / 4.0));
        assert_true(most <= delta.upper * (1 + 1e-9));
        assert_true(most >= delta.lower * (1 - 1e-9)); /* the last pair attains it */
        tamis_number_free(eps);
    }
}

static void published_noise_is_larger_than_needed(void **state)
{
    static const struct {
        const char *eps, *delta;
        double exact;
    } cases[] = {{"1", "1e-6", 4.0637e-9}, {"0.1", "5e-5", 2.2247e-8}, {"2.43", "0.005", 1.67e-4}};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        tamis_number *eps = number(cases[i].eps), *delta = number(cases[i].delta);
        tamis_smooth_choice theirs, ours, same;
        assert_int_equal(tamis_smooth_published(&theirs, eps, delta, NULL), TAMIS_OK);
        assert_true(fabs(theirs.delta.upper / cases[i].exact - 1) < 0.02);
        assert_int_equal(tamis_smooth_choose(&ours, eps, delta, NULL, 0, 0, 0, 0, NULL), TAMIS_OK);
        assert_true(ours.delta.upper <= strtod(cases[i].delta, NULL) && ours.delta.lower > 0.999 * strtod(cases[i].delta, NULL));
        assert_true(ours.alpha > theirs.alpha && ours.beta > theirs.beta);
        /* Nearly the same smoothness, and less noise. */
        assert_int_equal(tamis_smooth_beta(&same, eps, delta, 1.4 * theirs.alpha, NULL), TAMIS_OK);
        assert_true(same.beta > 0.97 * theirs.beta);
        tamis_number_free(eps);
        tamis_number_free(delta);
    }
}

/* With a large eps the published calibration promises too much: e^beta - 1 is then far above beta. */
static void published_calibration_fails_for_large_eps(void **state)
{
    tamis_number *eps = number("20"), *delta = number("1e-6");
    tamis_smooth_choice theirs;
    (void)state;
    assert_int_equal(tamis_smooth_published(&theirs, eps, delta, NULL), TAMIS_OK);
    assert_true(theirs.delta.lower > 5e-6);
    tamis_number *alpha = number("10");
    assert_true(pair(eps, 10, theirs.beta, 1) > 5e-6);
    tamis_number_free(alpha);
    tamis_number_free(eps);
    tamis_number_free(delta);
}

static void beta_is_the_largest(void **state)
{
    static const char *const eps[] = {"0.01", "0.5", "4"}, *const deltas[] = {"1e-12", "1e-5", "0.05"};
    (void)state;
    for (size_t i = 0; i < 9; i++) {
        tamis_number *e = number(eps[i % 3]), *d = number(deltas[i / 3]), *alpha, *more;
        tamis_smooth_choice choice;
        tamis_bound beyond;
        const double a = 0.6 * tmi_number_down(e);
        assert_int_equal(tamis_smooth_beta(&choice, e, d, a, NULL), TAMIS_OK);
        assert_true(choice.delta.upper <= tmi_number_up(d) && choice.alpha == a);
        assert_int_equal(tmi_number_double(&alpha, a, NULL), TAMIS_OK);
        assert_int_equal(tmi_number_double(&more, choice.beta * (1 + 1e-11), NULL), TAMIS_OK);
        assert_int_equal(tamis_smooth_laplace_delta(&beyond, e, alpha, more, NULL), TAMIS_OK);
        assert_true(beyond.lower > tmi_number_down(d));
        tamis_number *all[] = {e, d, alpha, more};
        for (size_t k = 0; k < 4; k++) tamis_number_free(all[k]);
    }
}

/* Public data decide between alpha and beta. */
static void public_data_are_used(void **state)
{
    enum { N = 1001 };
    double even[N], heaped[N];
    tamis_number *eps = number("1"), *delta = number("1e-6");
    tamis_smooth_choice a, b, c;
    (void)state;
    for (int i = 0; i < N; i++) {
        even[i] = (i + 0.5) / N;
        heaped[i] = i < 20 ? 0 : i < N - 20 ? 0.5 : 1;
    }
    assert_int_equal(tamis_smooth_choose(&a, eps, delta, even, N, 501, 0, 1, NULL), TAMIS_OK);
    assert_int_equal(tamis_smooth_choose(&b, eps, delta, heaped, N, 501, 0, 1, NULL), TAMIS_OK);
    assert_int_equal(tamis_smooth_choose(&c, eps, delta, NULL, 0, 0, 0, 0, NULL), TAMIS_OK);
    assert_true(a.beta == c.beta && a.alpha == c.alpha); /* even values, far from the ends */
    assert_true(b.beta > a.beta && b.alpha < a.alpha);   /* smoothness pays where a heap is far away */
    tamis_number_free(eps);
    tamis_number_free(delta);
}

/* Numbers that nobody means end quickly: a true answer, or none. */
static void stands_absurd_numbers(void **state)
{
    static const char *const sizes[] = {"1e-299", "1e-9", "1", "700", "1e6", "1e300"}, *const deltas[] = {"1e-299", "1e-9", "0.5",
                                                                                                          "0.999999"};
    (void)state;
    for (size_t i = 0; i < 24; i++) {
        tamis_number *eps = number(sizes[i % 6]), *delta = number(deltas[i / 6]);
        tamis_smooth_choice choice;
        tamis_status status = tamis_smooth_choose(&choice, eps, delta, NULL, 0, 0, 0, 0, NULL);
        assert_true(status == TAMIS_OK || status == TAMIS_UNABLE);
        if (status == TAMIS_OK) assert_true(choice.beta > 0 && choice.delta.upper <= tmi_number_up(delta));
        status = tamis_smooth_published(&choice, eps, delta, NULL);
        assert_true(status == TAMIS_OK || status == TAMIS_UNABLE);
        tamis_number_free(eps);
        tamis_number_free(delta);
    }
}

static void refuses_bad_input(void **state)
{
    tamis_number *zero = number("0"), *half = number("1/2"), *one = number("1"), *two = number("2"), *less = number("-1");
    tamis_smooth_choice choice;
    tamis_bound delta;
    tamis_error err;
    (void)state;
    assert_true(loss("1", "1", "0").upper == 0);
    assert_int_equal(tamis_smooth_laplace_delta(&delta, one, two, half, &err), TAMIS_INVALID);
    assert_int_equal(strncmp(err.message, "alpha:", 6), 0);
    assert_true(delta.upper == 1);
    assert_int_equal(tamis_smooth_laplace_delta(&delta, one, zero, half, &err), TAMIS_INVALID);
    assert_int_equal(tamis_smooth_laplace_delta(&delta, one, half, less, &err), TAMIS_INVALID);
    assert_int_equal(tamis_smooth_laplace_delta(&delta, NULL, half, half, &err), TAMIS_INVALID);
    assert_int_equal(tamis_smooth_laplace_delta(NULL, one, half, half, &err), TAMIS_INVALID);
    tamis_number *tiny = number("1e-9"), *smaller = number("1e-10"), *huge = number("1000");
    assert_int_equal(tamis_smooth_laplace_delta(&delta, tiny, smaller, two, &err), TAMIS_UNABLE);
    assert_int_equal(tamis_smooth_laplace_delta(&delta, tiny, smaller, huge, &err), TAMIS_UNABLE);
    assert_true(delta.upper == 1);
    assert_int_equal(tamis_smooth_beta(&choice, one, one, 0.5, &err), TAMIS_INVALID);
    assert_int_equal(tamis_smooth_beta(&choice, one, zero, 0.5, &err), TAMIS_INVALID);
    assert_int_equal(tamis_smooth_beta(&choice, one, half, 1.5, &err), TAMIS_INVALID);
    assert_int_equal(tamis_smooth_beta(&choice, one, half, NAN, &err), TAMIS_INVALID);
    assert_int_equal(tamis_smooth_published(&choice, zero, half, &err), TAMIS_INVALID);
    assert_int_equal(tamis_smooth_choose(&choice, one, half, NULL, 0, 0, 0, 0, NULL), TAMIS_OK);
    const double x[] = {1};
    assert_int_equal(tamis_smooth_choose(&choice, one, half, x, 1, 2, 0, 1, &err), TAMIS_INVALID);
    assert_true(choice.beta == 0 && choice.delta.upper == 1);
    EVERY_ALLOCATION_FAILS(tamis_smooth_laplace_delta(&delta, one, half, half, NULL), assert_true(delta.upper == 1));
    EVERY_ALLOCATION_FAILS(tamis_smooth_beta(&choice, one, half, 0.25, NULL), assert_true(choice.beta == 0));
    tamis_number *all[] = {zero, half, one, two, less, tiny, smaller, huge};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tamis_number_free(all[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_pair_is_worse),
        cmocka_unit_test(published_noise_is_larger_than_needed),
        cmocka_unit_test(published_calibration_fails_for_large_eps),
        cmocka_unit_test(beta_is_the_largest),
        cmocka_unit_test(public_data_are_used),
        cmocka_unit_test(stands_absurd_numbers),
        cmocka_unit_test(refuses_bad_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
