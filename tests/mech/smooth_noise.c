#include "tests/test.h"

#include <string.h>

#include "mech/smooth_polyplace.h"
#include "num/number.h"
#include "tests/base/memory_that_fails.h"

typedef tamis_status three_numbers(tamis_bound *, const tamis_number *, const tamis_number *, const tamis_number *,
                                   tamis_error *);

static tamis_bound ask(three_numbers *f, const char *eps, const char *beta, const char *x)
{
    tamis_number *all[] = {number(eps), number(beta), number(x)};
    tamis_bound b;
    assert_int_equal(f(&b, all[0], all[1], all[2], NULL), TAMIS_OK);
    for (size_t i = 0; i < 3; i++) tamis_number_free(all[i]);
    assert_true(b.lower <= b.upper && b.upper - b.lower <= 1e-9 * fmax(fabs(b.lower), fabs(b.upper)) + 1e-30);
    return b;
}

static tamis_bound loss(tamis_smooth_noise noise, const char *shape, const char *a, const char *beta)
{
    tamis_number *all[] = {shape ? number(shape) : NULL, number(a), number(beta)};
    tamis_bound b;
    assert_int_equal(tamis_smooth_loss(&b, noise, all[0], all[1], all[2], NULL), TAMIS_OK);
    for (size_t i = 0; i < 3; i++) tamis_number_free(all[i]);
    assert_true(b.lower <= b.upper);
    return b;
}

/* phi' of each family in doubles */
static double slope(tamis_smooth_noise noise, double shape, double z)
{
    switch (noise) {
    case TAMIS_SMOOTH_STUDENT: return (shape + 1) * z / (shape + z * z);
    case TAMIS_SMOOTH_CAUCHY: return shape * pow(z, shape - 1) / (1 + pow(z, shape));
    case TAMIS_SMOOTH_POLYPLACE: return z <= 1 / shape ? (shape - 1) / (1 - z) : (shape + 1) / (1 + z);
    default: return 0;
    }
}

static void the_loss_is_the_largest_sum(void **state)
{
    static const struct {
        tamis_smooth_noise noise;
        const char *shape, *a, *beta;
    } cases[] = {
        {TAMIS_SMOOTH_STUDENT, "3", "0.5", "0.1"},   {TAMIS_SMOOTH_STUDENT, "5", "0.9", "0.01"},
        {TAMIS_SMOOTH_STUDENT, "0.5", "1", "2"},     {TAMIS_SMOOTH_STUDENT, "10", "0.01", "1"},
        {TAMIS_SMOOTH_CAUCHY, "2", "0.3", "0.2"},    {TAMIS_SMOOTH_CAUCHY, "4", "0.1", "0.05"},
        {TAMIS_SMOOTH_CAUCHY, "1.5", "1", "0.3"},    {TAMIS_SMOOTH_CAUCHY, "3", "1", "0"},
        {TAMIS_SMOOTH_CAUCHY, "3", "0.001", "1"},    {TAMIS_SMOOTH_POLYPLACE, "20", "1/20", "1/20"},
        {TAMIS_SMOOTH_POLYPLACE, "3", "0.1", "0.4"}, {TAMIS_SMOOTH_POLYPLACE, "1.5", "1", "0.1"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const tamis_bound b = loss(cases[i].noise, cases[i].shape, cases[i].a, cases[i].beta);
        const double shape = strtod(cases[i].shape, NULL), a = strtod(cases[i].a, NULL), g = strtod(cases[i].beta, NULL);
        const double first = cases[i].noise == TAMIS_SMOOTH_POLYPLACE && shape == 20 ? 0.05 : a;
        const double second = cases[i].noise == TAMIS_SMOOTH_POLYPLACE && shape == 20 ? 0.05 : g;
        double most = 0;
        for (int k = -20000; k <= 20000; k++) {
            const double z = exp(k / 1000.0), s = slope(cases[i].noise, shape, z);
            most = fmax(most, first * fabs(s) + second * fabs(z * s - 1));
        }
        assert_true(most <= b.upper * (1 + 1e-12));
        assert_true(most >= b.lower * (1 - 1e-3));
        assert_true(b.upper - b.lower <= 1e-11 * b.upper);
    }
    assert_true(loss(TAMIS_SMOOTH_POLYPLACE, "20", "1/20", "1/20").upper == 1);
    assert_true(loss(TAMIS_SMOOTH_LAPLACE, NULL, "1/2", "0").upper == 0.5);
    assert_true(isinf(loss(TAMIS_SMOOTH_LAPLACE, NULL, "1/2", "1e-9").lower));
    assert_true(isinf(loss(TAMIS_SMOOTH_GAUSSIAN, NULL, "1/2", "0").lower));
}

/* sd in units of S for eps = 1; Student with about its best number of degrees. */
static void standard_deviations_are_those_of_the_table(void **state)
{
    static const struct {
        const char *beta, *degrees;
        double polyplace, student;
    } rows[] = {{"0.01", "5", 1.438, 1.768},  {"0.05", "4", 1.539, 1.929},  {"0.1", "4", 1.687, 2.176},
                {"0.2", "3.2", 2.092, 2.917}, {"0.3", "2.5", 2.771, 4.341}, {"0.4", "2.25", 4.281, 8.686}};
    tamis_number *one = number("1");
    (void)state;
    for (size_t i = 0; i < 6; i++) {
        tamis_number *beta = number(rows[i].beta);
        tamis_bound sd;
        assert_int_equal(tamis_polyplace_sd(&sd, one, beta, NULL), TAMIS_OK);
        assert_true(fabs(sd.upper - rows[i].polyplace) <= 6e-4 && sd.upper - sd.lower <= 1e-11 * sd.upper);
        const tamis_bound t = ask(tamis_student_sd, "1", rows[i].beta, rows[i].degrees);
        assert_true(fabs(t.upper - rows[i].student) <= 6e-4 && t.lower > sd.upper);
        tamis_number_free(beta);
    }
    /* The mean size, from a numerical integral of the quantile function. */
    tamis_number *fifth = number("1/5");
    tamis_bound mean;
    assert_int_equal(tmi_polyplace_mean_size(&mean, one, fifth, NULL), TAMIS_OK);
    assert_true(mean.upper - mean.lower <= 1e-11 && fabs(mean.upper - 5 * 0.26051691) < 1e-7);
    tamis_number_free(fifth);
    tamis_number *half = number("1/2");
    tamis_bound none;
    assert_int_equal(tamis_polyplace_sd(&none, one, half, NULL), TAMIS_OK);
    assert_true(isinf(none.lower)); /* two moments need eps > 2 beta */
    tamis_number_free(one);
    tamis_number_free(half);
}

/* The a of tamis_student_sd is admissible, and no larger one is. */
static void student_noise_uses_all_of_eps(void **state)
{
    static const struct {
        const char *beta, *degrees;
    } cases[] = {{"0.05", "4"}, {"0.2", "3"}, {"0.3", "2.5"}};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        const double d = strtod(cases[i].degrees, NULL);
        const double sd = ask(tamis_student_sd, "1", cases[i].beta, cases[i].degrees).upper, a = sqrt(d / (d - 2)) / sd;
        char text[32];
        snprintf(text, sizeof text, "%.12f", a * (1 - 1e-10));
        assert_true(loss(TAMIS_SMOOTH_STUDENT, cases[i].degrees, text, cases[i].beta).upper <= 1);
        snprintf(text, sizeof text, "%.12f", a * (1 + 1e-6));
        assert_true(loss(TAMIS_SMOOTH_STUDENT, cases[i].degrees, text, cases[i].beta).lower > 1);
    }
}

static void polyplace_functions_belong_together(void **state)
{
    static const char *const levels[] = {"0.5", "0.6", "0.75", "0.9", "0.99", "0.999999", "0.01"};
    (void)state;
    for (size_t i = 0; i < 7; i++) {
        const tamis_bound x = ask(tamis_polyplace_quantile, "1", "0.1", levels[i]);
        char text[32];
        snprintf(text, sizeof text, "%.15g", x.lower);
        const tamis_bound p = ask(tamis_polyplace_at_least, "1", "0.1", text);
        assert_true(fabs(1 - p.upper - strtod(levels[i], NULL)) < 1e-12);
        /* the density is the slope of the tail */
        char next[32];
        snprintf(next, sizeof next, "%.15g", x.lower + 1e-5);
        const double difference = (p.upper - ask(tamis_polyplace_at_least, "1", "0.1", next).upper) / 1e-5;
        assert_true(fabs(difference / ask(tamis_polyplace_density, "1", "0.1", text).upper - 1) < 1e-4);
    }
    /* both sides of the corner at 1/eps; symmetry; the whole mass */
    assert_true(fabs(ask(tamis_polyplace_density, "1", "0.1", "1").upper -
                     ask(tamis_polyplace_density, "1", "0.1", "1.0000000001").upper) < 1e-9);
    assert_true(ask(tamis_polyplace_density, "2", "0.3", "-3").upper == ask(tamis_polyplace_density, "2", "0.3", "3").upper);
    assert_true(fabs(ask(tamis_polyplace_at_least, "2", "0.3", "0").upper - 0.5) < 1e-14);
    assert_true(ask(tamis_polyplace_at_least, "2", "0.3", "-1e9").lower > 0.999999);
    assert_true(ask(tamis_polyplace_quantile, "2", "0.3", "1/2").upper == 0);
}

/* Densities of neighbours: centres one S apart, scales a factor e^beta apart. */
static void polyplace_noise_loses_eps_and_no_more(void **state)
{
    static const double eps = 1, beta = 0.1;
    double most = 0;
    (void)state;
    for (int sign = -1; sign <= 1; sign += 2) {
        const double scale = exp(sign * beta), shift = fmin(1, scale), p = eps / beta;
        for (int k = -4000; k <= 4000; k++) {
            const double x = 40 * sinh(k / 700.0);
            double log_f[2];
            for (int j = 0; j < 2; j++) {
                const double z = beta * fabs(j ? (x - shift) / scale : x);
                log_f[j] = z <= 1 / p ? (p - 1) * log1p(-z)
                                      : (p - 1) * log1p(-1 / p) + (p + 1) * log1p(1 / p) - (p + 1) * log1p(z);
                if (j) log_f[j] -= log(scale);
            }
            most = fmax(most, fabs(log_f[0] - log_f[1]));
        }
    }
    assert_true(most <= eps * (1 + 1e-12) && most > 0.99 * eps);
}

static void refuses_bad_input(void **state)
{
    tamis_number *zero = number("0"), *one = number("1"), *two = number("2"), *three = number("3"), *less = number("-1");
    tamis_number *third = number("1/3");
    tamis_bound b;
    tamis_error err;
    (void)state;
    assert_int_equal(tamis_polyplace_sd(&b, one, one, &err), TAMIS_INVALID);
    assert_true(isinf(b.upper));
    assert_int_equal(tamis_polyplace_sd(&b, one, zero, &err), TAMIS_INVALID);
    assert_int_equal(tamis_polyplace_quantile(&b, two, one, one, &err), TAMIS_INVALID);
    assert_int_equal(tamis_polyplace_quantile(&b, two, one, zero, &err), TAMIS_INVALID);
    assert_int_equal(tamis_polyplace_density(&b, two, one, NULL, &err), TAMIS_INVALID);
    assert_int_equal(tamis_polyplace_at_least(NULL, two, one, one, &err), TAMIS_INVALID);
    assert_int_equal(tamis_student_sd(&b, two, one, two, &err), TAMIS_INVALID);
    assert_int_equal(tamis_student_sd(&b, two, one, three, &err), TAMIS_INVALID);
    assert_int_equal(tamis_smooth_loss(&b, TAMIS_SMOOTH_STUDENT, NULL, one, one, &err), TAMIS_INVALID);
    assert_int_equal(tamis_smooth_loss(&b, TAMIS_SMOOTH_CAUCHY, one, one, one, &err), TAMIS_INVALID);
    assert_int_equal(tamis_smooth_loss(&b, TAMIS_SMOOTH_POLYPLACE, one, one, one, &err), TAMIS_INVALID);
    assert_int_equal(tamis_smooth_loss(&b, TAMIS_SMOOTH_STUDENT, one, zero, one, &err), TAMIS_INVALID);
    assert_int_equal(tamis_smooth_loss(&b, TAMIS_SMOOTH_STUDENT, one, one, less, &err), TAMIS_INVALID);
    assert_int_equal(tamis_smooth_loss(&b, (tamis_smooth_noise)9, one, one, one, &err), TAMIS_INVALID);
    EVERY_ALLOCATION_FAILS(tamis_polyplace_sd(&b, three, one, NULL), assert_true(isinf(b.upper)));
    EVERY_ALLOCATION_FAILS(tamis_polyplace_quantile(&b, three, one, third, NULL), assert_true(isinf(b.upper)));
    EVERY_ALLOCATION_FAILS(tamis_smooth_loss(&b, TAMIS_SMOOTH_POLYPLACE, three, one, one, NULL), assert_true(isinf(b.upper)));
    tamis_number *all[] = {zero, one, two, three, less, third};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tamis_number_free(all[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_loss_is_the_largest_sum),           cmocka_unit_test(standard_deviations_are_those_of_the_table),
        cmocka_unit_test(student_noise_uses_all_of_eps),         cmocka_unit_test(polyplace_functions_belong_together),
        cmocka_unit_test(polyplace_noise_loses_eps_and_no_more), cmocka_unit_test(refuses_bad_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
