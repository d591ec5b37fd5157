/* Variances from released numbers against their definitions, enumerated where that is possible. */
#include "tests/test.h"

#include <math.h>

#include "inference/variance.h"
#include "schedule/noise_law.h"
#include "tests/base/memory_that_fails.h"

static void near(double x, double y) { assert_true(fabs(x - y) <= 1e-12 * fabs(y)); }

/* Over all samples of 3 from 7 and over noise of two values, the mean of the estimates is the variance of the totals. */
static void counts_give_an_unbiased_variance(void **state)
{
    (void)state;
    const double N = 7, n = 3, ones = 3;
    double mean = 0, square = 0, estimates = 0;
    int samples = 0;
    for (unsigned set = 0; set < 128; set++) {
        if (__builtin_popcount(set) != 3) continue;
        int k = __builtin_popcount(set & 7u);
        mean += N / n * k;
        square += N / n * k * (N / n * k);
        for (int noise = -1; noise <= 1; noise += 2) /* unclamped: it is the formula that is unbiased */
            estimates += tmi_variance_srs(N, n, ((k + noise * 0.1) * (n - k - noise * 0.1) + 0.01) / n) / 2;
        samples++;
    }
    near(mean / samples, ones);
    near(estimates / samples, square / samples - ones * ones);
}

/* Half of an even population at each end has the largest variance. */
static void the_range_bounds_the_variance(void **state)
{
    (void)state;
    double mean = 0, square = 0;
    int samples = 0;
    for (unsigned set = 0; set < 256; set++) {
        if (__builtin_popcount(set) != 3) continue;
        double total = 0;
        for (int i = 0; i < 8; i++) total += (set >> i & 1u) ? (i < 4 ? -2 : 5) : 0;
        total *= 8. / 3;
        mean += total;
        square += total * total;
        samples++;
    }
    mean /= samples;
    near(tmi_variance_range(8, 3, -2, 5), square / samples - mean * mean);
    assert_true(tmi_variance_range(8, 8, 0, 1) == 0 && tmi_variance_range(1, 1, 0, 1) == 0);
}

static void a_limit_stays_within_the_range(void **state)
{
    (void)state;
    static const struct {
        double estimate, margin, bound, value;
        bool from_range;
    } cases[] = {{-3, 2, 9, 2, false}, {NAN, 2, 9, 2, false},      {4, 2, 9, 6, false},  {4, 5, 9, 9, true},
                 {40, 0, 9, 9, true},  {4, 0, INFINITY, 4, false}, {-4, 0, 9, 0, false}, {0, 0, 0, 0, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tmi_variance v = tmi_variance_limit(cases[i].estimate, cases[i].margin, cases[i].bound);
        assert_true(v.value == cases[i].value && v.from_range == cases[i].from_range);
    }
}

/* The chance that se Z + noise stays within z sqrt(V_used + N), N the variance of the noise, averaged over the noise of the
 * estimated variance, whose standard deviation is 1: normal, or Laplace. */
static double coverage(double confidence, double V, double N, bool gaussian)
{
    enum { STEPS = 2000 };
    double margin = tmi_variance_margin(confidence), z = 3 * margin, sum = 0, weights = 0;
    for (int i = 0; i < STEPS; i++) {
        double noise = 20 * ((i + 0.5) / STEPS - 0.5), weight = gaussian ? exp(-noise * noise / 2) : exp(-fabs(noise) * M_SQRT2);
        double used = tmi_variance_limit(V + noise, margin, INFINITY).value;
        sum += weight * erf(z * sqrt((used + N) / (V + N)) * M_SQRT1_2);
        weights += weight;
    }
    return sum / weights;
}

static void intervals_cover_whatever_the_variance(void **state)
{
    (void)state;
    static const double confidences[] = {0.5, 0.8, 0.9, 0.95, 0.99}, noises[] = {0, 0.1, 0.5, 1, 3};
    near(3 * tmi_variance_margin(0.95), 1.959963984540054);
    for (int i = 0; i < 50; i++) { /* worst: a deficit of at most 0.0003 */
        double confidence = confidences[i / 10], N = noises[i / 2 % 5], worst = 1;
        for (double V = 0.01; V < 100; V *= 1.2) worst = fmin(worst, coverage(confidence, V, N, i % 2));
        assert_true(worst >= confidence - 0.0003);
    }
    double small = 0, large = 0; /* and without the margin they would not: 0.55 where the variance is a tenth of its noise */
    for (int i = 0; i < 2000; i++) {
        double noise = 20 * ((i + 0.5) / 2000 - 0.5), weight = exp(-fabs(noise) * M_SQRT2);
        small += weight * erf(1.96 * sqrt(tmi_variance_limit(0.1 + noise, 0, INFINITY).value / 0.1) * M_SQRT1_2);
        large += weight;
    }
    assert_true(small / large < 0.6);
}

/* The polynomial is the variance of a^2 X + 2 a b Y - 3 b^2 Y + (a - b)^2 Z. */
static void the_noise_of_a_form_is_a_polynomial(void **state)
{
    (void)state;
    tmi_form_noise noise = {{0}};
    tmi_form_noise_add(&noise, 1, 0, 0, 5);
    tmi_form_noise_add(&noise, 0, 2, -3, 7);
    tmi_form_noise_add(&noise, 1, -2, 1, 11);
    static const double at[][2] = {{1, 0}, {0, 1}, {1, 1}, {2, -3}, {0, 0}, {-0.5, 4}};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        double a = at[i][0], b = at[i][1], y = 2 * a * b - 3 * b * b, z = (a - b) * (a - b);
        assert_true(fabs(tmi_form_noise_sd(&noise, a, b) - sqrt(5 * a * a * a * a + 7 * y * y + 11 * z * z)) <
                    1e-12 * (1 + 99 * b * b));
    }
}

/* Two strata: the moments less the strata's means are the variance of stratified sampling, for x - r y at every r. */
static void moments_less_means_are_the_stratified_variance(void **state)
{
    (void)state;
    static const double x[2][4] = {{1, 5, 2, 9}, {30, 22, 25, 31}}, y[2][4] = {{2, 2, 1, 4}, {9, 8, 9, 12}};
    static const double N[2] = {40, 12}, n = 4;
    tmi_stratum_sums strata[2] = {{0}};
    tmi_quadratic moments = {0, 0, 0};
    for (int h = 0; h < 2; h++) {
        double w = N[h] / n;
        strata[h] = (tmi_stratum_sums){.a = (1 - 1 / w) * w * w * n / (n - 1), .sample = n};
        for (int i = 0; i < 4; i++) {
            strata[h].x += x[h][i];
            strata[h].y += y[h][i];
            moments.xx += strata[h].a * x[h][i] * x[h][i];
            moments.xy += strata[h].a * x[h][i] * y[h][i];
            moments.yy += strata[h].a * y[h][i] * y[h][i];
        }
    }
    tmi_quadratic form = tmi_variance_moments(moments, strata, 2);
    for (double r = -2; r <= 4; r += 0.75) {
        double variance = 0;
        for (int h = 0; h < 2; h++) {
            double mean = (strata[h].x - r * strata[h].y) / n, squares = 0;
            for (int i = 0; i < 4; i++) squares += pow(x[h][i] - r * y[h][i] - mean, 2);
            variance += tmi_variance_srs(N[h], n, squares);
        }
        assert_true(fabs(tmi_quadratic_at(form, r) - variance) <= 1e-10 * variance);
    }
    strata[0].x_noise_variance = 8; /* what the square of a noisy sum has too much is added back */
    near(tmi_variance_moments(moments, strata, 2).xx, form.xx + 8 * strata[0].a / n);
    near(tmi_unbiased_square(7, 4), 45);
}

static void units_give_the_form_with_replacement(void **state)
{
    (void)state;
    static const double x[] = {3, 10, 8, 1, 6}, y[] = {1, 2, 2, 0, 5};
    static const size_t stratum[] = {0, 4, 0, 4, 4};
    tmi_quadratic form;
    int64_t df;
    assert_int_equal(tmi_variance_units(&form, &df, x, y, stratum, 5, NULL), TAMIS_OK);
    assert_int_equal(df, 3);
    double m = 17. / 3, k = 7. / 3;
    near(form.xx, 25 + 1.5 * (pow(10 - m, 2) + pow(1 - m, 2) + pow(6 - m, 2)));
    near(form.yy, 1 + 1.5 * (pow(2 - k, 2) + pow(k, 2) + pow(5 - k, 2)));
    near(form.xy, 5 + 1.5 * ((10 - m) * (2 - k) + (1 - m) * -k + (6 - m) * (5 - k)));
    assert_int_equal(tmi_variance_units(&form, &df, x, NULL, stratum, 5, NULL), TAMIS_OK);
    assert_true(form.yy == 0 && form.xy == 0);
}

static void bad_units_are_refused(void **state)
{
    (void)state;
    double x[] = {1, 2, 3};
    size_t lonely[] = {0, 0, 1}, outside[] = {0, 0, 3}, good[] = {0, 0, 0};
    tmi_quadratic form;
    int64_t df;
    assert_int_equal(tmi_variance_units(&form, &df, x, NULL, lonely, 3, NULL), TAMIS_INVALID);
    assert_true(isinf(form.xx) && df == 0);
    assert_int_equal(tmi_variance_units(&form, &df, x, NULL, outside, 3, NULL), TAMIS_INVALID);
    assert_int_equal(tmi_variance_units(&form, &df, NULL, NULL, good, 3, NULL), TAMIS_INVALID);
    assert_int_equal(tmi_variance_units(&form, &df, x, NULL, NULL, 3, NULL), TAMIS_INVALID);
    assert_int_equal(tmi_variance_units(&form, &df, x, NULL, good, 0, NULL), TAMIS_INVALID);
    tamis_error err;
    EVERY_ALLOCATION_FAILS(tmi_variance_units(&form, &df, x, NULL, good, 3, &err), { assert_true(isinf(form.xx)); });
    x[1] = NAN;
    assert_int_equal(tmi_variance_units(&form, &df, x, NULL, good, 3, NULL), TAMIS_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_give_an_unbiased_variance),     cmocka_unit_test(the_range_bounds_the_variance),
        cmocka_unit_test(a_limit_stays_within_the_range),       cmocka_unit_test(intervals_cover_whatever_the_variance),
        cmocka_unit_test(the_noise_of_a_form_is_a_polynomial),  cmocka_unit_test(moments_less_means_are_the_stratified_variance),
        cmocka_unit_test(units_give_the_form_with_replacement), cmocka_unit_test(bad_units_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
