/* Quantiles and measures of inequality by their definitions, and their linear values by the variance of many samples. */
#include "tests/test.h"

#include <math.h>
#include <stdlib.h>

#include "survey/distribution.h"

/* A fixed sequence (Knuth's MMIX constants): the same on every machine, so that nothing here can fail by chance. */
static double next(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*seed >> 11) * 0x1p-53;
}

static void assert_near(double x, double expected, double width)
{
    if (!(fabs(x - expected) <= width * fabs(expected) + 1e-13)) fail_msg("%.17g, expected %.17g", x, expected);
}

static tmi_distribution make(const double *values, const double *weights, const uint8_t *domain, size_t n)
{
    tmi_distribution d;
    assert_int_equal(tmi_distribution_make(&d, values, weights, domain, n, NULL), TAMIS_OK);
    return d;
}

/* R misses some of these ties: its sums of weights are rounded. */
static void ties_are_exact(void **state)
{
    (void)state;
    double values[200], weights[200];
    for (size_t i = 0; i < 200; i++) values[(i * 77) % 200] = (double)i;
    for (size_t i = 0; i < 200; i++) weights[i] = 6194.0 / 200;
    tmi_distribution d = make(values, weights, NULL, 200);
    for (int k = 1; k < 200; k++) {
        const double p = (double)k / 200;
        assert_true(tmi_quantile_of(&d, p) == k - 1);
        assert_true(tmi_middle_quantile_of(&d, p) == k - 0.5);
        assert_true(tmi_quantile_of(&d, p + 1e-9) == k && tmi_middle_quantile_of(&d, p + 1e-9) == k);
        assert_true(tmi_quantile_of(&d, p - 1e-9) == k - 1 && tmi_middle_quantile_of(&d, p - 1e-9) == k - 1);
    }
    assert_true(tmi_quantile_of(&d, 0) == 0 && tmi_quantile_of(&d, 1) == 199 && tmi_middle_quantile_of(&d, 1) == 199);
    tmi_distribution_clear(&d);
}

static void quantiles_are_the_least_values(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int round = 0; round < 300; round++) {
        double values[40], weights[40];
        uint8_t domain[40];
        for (size_t i = 0; i < 40; i++) {
            values[i] = floor(12 * next(&seed)) - 4;
            weights[i] = floor(5 * next(&seed));
            domain[i] = next(&seed) < 0.8;
        }
        domain[0] = 1, weights[0] = 2;
        tmi_distribution d = make(values, weights, domain, 40);
        const double p = next(&seed), x = floor(12 * next(&seed)) - 4;
        double all = 0, below = 0, least = INFINITY;
        for (size_t i = 0; i < 40; i++) all += domain[i] ? weights[i] : 0;
        for (size_t i = 0; i < 40; i++) below += domain[i] && values[i] < x ? weights[i] : 0;
        for (size_t i = 0; i < 40; i++) {
            double up_to = 0;
            for (size_t j = 0; j < 40; j++) up_to += domain[j] && values[j] <= values[i] ? weights[j] : 0;
            if (domain[i] && weights[i] > 0 && up_to >= p * all) least = fmin(least, values[i]);
        }
        assert_true(tmi_quantile_of(&d, p) == least);
        assert_near(tmi_share_below(&d, x), below / all, 1e-12);
        assert_near(d.total, all, 1e-15);
        tmi_distribution_clear(&d);
    }
}

static double gini_by_pairs(const double *values, const double *weights, const uint8_t *domain, size_t n)
{
    double differences = 0, N = 0, Y = 0;
    for (size_t i = 0; i < n; i++) {
        if (!domain[i]) continue;
        N += weights[i];
        Y += weights[i] * values[i];
        for (size_t j = 0; j < n; j++)
            if (domain[j]) differences += weights[i] * weights[j] * fabs(values[i] - values[j]);
    }
    return differences / (2 * N * Y);
}

/* Linear values of the Gini coefficient are its derivatives by the weights. */
static void gini_is_the_mean_difference(void **state)
{
    (void)state;
    uint64_t seed = 2;
    for (int round = 0; round < 50; round++) {
        double values[30], weights[30], linear[30], gini;
        uint8_t domain[30];
        for (size_t i = 0; i < 30; i++) {
            values[i] = floor(9 * next(&seed)) + 1;
            weights[i] = 0.5 + next(&seed);
            domain[i] = next(&seed) < 0.7;
        }
        domain[0] = 1;
        tmi_distribution d = make(values, weights, domain, 30);
        assert_int_equal(tmi_gini(&gini, linear, &d, values, domain, 30, NULL), TAMIS_OK);
        assert_near(gini, gini_by_pairs(values, weights, domain, 30), 1e-13);
        for (size_t i = 0; i < 30; i++) {
            const double kept = weights[i], step = 1e-4;
            weights[i] = kept + step;
            const double up = gini_by_pairs(values, weights, domain, 30);
            weights[i] = kept - step;
            const double down = gini_by_pairs(values, weights, domain, 30);
            weights[i] = kept;
            if (fabs(linear[i] - (up - down) / (2 * step)) > 1e-7) fail_msg("%.12g", linear[i] - (up - down) / (2 * step));
        }
        tmi_distribution_clear(&d);
    }
}

static void small_cases(void **state)
{
    (void)state;
    static const double values[] = {10, 20, 30, 40, 50}, weights[] = {1, 1, 1, 1, 1}, zeros[] = {0, 0, 0, 0, 0};
    double linear[5], x;
    tmi_distribution d = make(values, weights, NULL, 5);
    assert_int_equal(tmi_s80s20(&x, linear, &d, values, NULL, 5, NULL), TAMIS_OK);
    assert_near(x, 5, 1e-15); /* 50 / 10 */
    assert_int_equal(tmi_iqr(&x, linear, &d, values, NULL, 5, NULL), TAMIS_OK);
    assert_near(x, 20, 1e-15); /* 40 - 20 */
    assert_int_equal(tmi_poverty(&x, linear, 0.6, &d, &d, values, NULL, NULL, 5, NULL), TAMIS_OK);
    assert_near(x, 0.2, 1e-15); /* the line is 18 */
    assert_int_equal(tmi_poverty(&x, linear, 2.0 / 3, &d, &d, values, NULL, NULL, 5, NULL), TAMIS_OK);
    assert_near(x, 0.2, 1e-15); /* the line is 20, and 20 is not below it */
    tmi_distribution_clear(&d);
    d = make(values, weights, NULL, 4);
    assert_true(tmi_middle_quantile_of(&d, 0.5) == 25 && tmi_quantile_of(&d, 0.5) == 20);
    tmi_distribution_clear(&d);
    d = make(zeros, weights, NULL, 5);
    assert_int_equal(tmi_gini(&x, linear, &d, zeros, NULL, 5, NULL), TAMIS_INVALID);
    assert_true(isnan(x));
    assert_int_equal(tmi_s80s20(&x, linear, &d, zeros, NULL, 5, NULL), TAMIS_INVALID);
    assert_true(isnan(x));
    assert_int_equal(tmi_poverty(&x, linear, 0.6, &d, &d, zeros, NULL, NULL, 5, NULL), TAMIS_OK);
    assert_true(x == 0 && linear[0] == 0);
    assert_int_equal(tmi_iqr(&x, linear, &d, zeros, NULL, 5, NULL), TAMIS_OK);
    assert_true(x == 0 && linear[0] == 0);
    tmi_distribution_clear(&d);
    d = make(values, zeros, NULL, 5);
    assert_true(d.count == 0 && d.total == 0);
    assert_int_equal(tmi_poverty(&x, linear, 0.6, &d, &d, values, NULL, NULL, 5, NULL), TAMIS_INVALID);
    assert_int_equal(tmi_iqr(&x, linear, &d, values, NULL, 5, NULL), TAMIS_INVALID);
    assert_true(isnan(x));
    tmi_distribution_clear(&d);
}

/* 2000 samples of 800 lognormal values: the variance that linear values give, on average, against the variance of the estimates.
 * The latter has a relative standard error of sqrt(2/2000) = 3.2 %; 20 % are more than six of these. The sequence is fixed. */
static void linear_values_give_the_variance(void **state)
{
    (void)state;
    enum { ROWS = 800, SAMPLES = 2000, KINDS = 5 };
    static double values[ROWS], weights[ROWS], linear[ROWS];
    static uint8_t part[ROWS];
    double mean[KINDS] = {0}, squares[KINDS] = {0}, claimed[KINDS] = {0};
    uint64_t seed = 3;
    for (int sample = 1; sample <= SAMPLES; sample++) {
        for (size_t i = 0; i < ROWS; i++) {
            const double radius = sqrt(-2 * log(1 - next(&seed))), angle = 2 * acos(-1) * next(&seed);
            values[i] = exp(9 + 0.5 * radius * cos(angle));
            weights[i] = 20;
            part[i] = next(&seed) < 0.4;
        }
        tmi_distribution d = make(values, weights, NULL, ROWS), some = make(values, weights, part, ROWS);
        for (int kind = 0; kind < KINDS; kind++) {
            double x = 0, variance = 0;
            tamis_status status = kind == 0   ? tmi_gini(&x, linear, &d, values, NULL, ROWS, NULL)
                                  : kind == 1 ? tmi_s80s20(&x, linear, &d, values, NULL, ROWS, NULL)
                                  : kind == 4 ? tmi_iqr(&x, linear, &d, values, NULL, ROWS, NULL)
                                  : kind == 2 ? tmi_poverty(&x, linear, 0.6, &d, &d, values, NULL, NULL, ROWS, NULL)
                                              : tmi_poverty(&x, linear, 0.6, &some, &d, values, part, NULL, ROWS, NULL);
            assert_int_equal(status, TAMIS_OK);
            double sum = 0;
            for (size_t i = 0; i < ROWS; i++) sum += linear[i];
            for (size_t i = 0; i < ROWS; i++) variance += (linear[i] - sum / ROWS) * (linear[i] - sum / ROWS);
            claimed[kind] += variance * 400 * ROWS / (ROWS - 1) / SAMPLES;
            const double from = x - mean[kind];
            mean[kind] += from / sample;
            squares[kind] += from * (x - mean[kind]);
        }
        tmi_distribution_clear(&d);
        tmi_distribution_clear(&some);
    }
    for (int kind = 0; kind < KINDS; kind++) {
        const double ratio = claimed[kind] / (squares[kind] / (SAMPLES - 1));
        if (!(ratio > 0.8 && ratio < 1.2)) fail_msg("kind %d: %g", kind, ratio);
    }
}

int main(void)
{
    const struct CMUnitTest group[] = {
        cmocka_unit_test(ties_are_exact),
        cmocka_unit_test(quantiles_are_the_least_values),
        cmocka_unit_test(gini_is_the_mean_difference),
        cmocka_unit_test(small_cases),
        cmocka_unit_test(linear_values_give_the_variance),
    };
    return cmocka_run_group_tests(group, NULL, NULL);
}
