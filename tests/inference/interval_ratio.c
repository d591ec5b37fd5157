/* Fieller's interval: against its closed form without noise, with noise by its coverage. */
#include "tests/test.h"

#include <math.h>

#include "inference/interval/ratio.h"
#include "tests/base/memory_that_fails.h"
#include "tests/inference/interval_coverage.h"

static void without_noise_it_is_fiellers(void **state)
{
    (void)state;
    static const double denominators[] = {50, 9, -30};
    for (int i = 0; i < 3; i++) {
        double a = 20, b = denominators[i], z = 1.959963984540054;
        tmi_quadratic v = {9, 4, 16};
        tmi_ratio ratio = {.numerator = a, .denominator = b, .sampling = v, .largest = 1e9};
        tmi_ratio_result found;
        assert_int_equal(tmi_interval_ratio(&found, &ratio, 0.95, -1000, 1000, NULL), TAMIS_OK);
        /* (a - r b)^2 = z^2 (xx - 2 r xy + r^2 yy) */
        double A = b * b - z * z * v.yy, B = -2 * (a * b - z * z * v.xy), C = a * a - z * z * v.xx;
        double root = sqrt(B * B - 4 * A * C), low = (-B - root) / (2 * A), high = (-B + root) / (2 * A);
        assert_true(fabs(found.interval.lower - low) < 1e-6 * (high - low));
        assert_true(fabs(found.interval.upper - high) < 1e-6 * (high - low));
        assert_true(fabs(found.estimate - a / b) < 1e-15 && !found.interval.clipped && !found.from_range);
        assert_true(fabs(found.sampling_se - sqrt(tmi_quadratic_at(v, a / b)) / fabs(b)) < 1e-12 && found.noise_sd == 0);
        tmi_ratio_result same; /* nobody knows how large the variance can be */
        ratio.largest = INFINITY;
        assert_int_equal(tmi_interval_ratio(&same, &ratio, 0.95, -1000, 1000, NULL), TAMIS_OK);
        assert_true(same.interval.lower == found.interval.lower && same.interval.upper == found.interval.upper &&
                    !same.from_range);
    }
}

/* One noise alone: A - r B = noise only if the denominator has none, and the reach is that of the lattice. */
static void noise_in_the_numerator_alone(void **state)
{
    (void)state;
    tmi_ratio_part part = {2, 0, 3, false, 1};
    tmi_ratio ratio = {.numerator = 100, .denominator = 50, .parts = &part, .count = 1};
    tmi_ratio_result found;
    double reach;
    assert_int_equal(tmi_interval_ratio(&found, &ratio, 0.95, 0, 10, NULL), TAMIS_OK);
    assert_int_equal(tmi_error_reach(&reach, &(tmi_error_law){.parts = &(tmi_noise_part){2, 3, false, 1}, .count = 1}, 0.95,
                                     NULL),
                     TAMIS_OK);
    assert_true(fabs(found.interval.lower - (100 - reach) / 50) < 1e-6 && fabs(found.interval.upper - (100 + reach) / 50) < 1e-6);
    double sd = sqrt(tmi_noise_part_variance((tmi_noise_part){2, 3, false, 1}));
    assert_true(fabs(found.noise_sd - sd / 50) < 1e-12 && found.sampling_se == 0 && found.from_range);
    ratio.largest = 1e4; /* a margin of 2500 b^2, at b = 2 */
    ratio.margin.c[4] = 6.25e6;
    assert_int_equal(tmi_interval_ratio(&found, &ratio, 0.95, 0, 10, NULL), TAMIS_OK);
    assert_true(found.from_range && fabs(found.sampling_se - 2) < 1e-12);
    ratio.margin.c[4] = 6.25e4;
    assert_int_equal(tmi_interval_ratio(&found, &ratio, 0.95, 0, 10, NULL), TAMIS_OK);
    assert_true(!found.from_range && fabs(found.sampling_se - sqrt(1000) / 50) < 1e-12);
}

/* A noise that stands in both, with the ratio's own factors, cancels at r = 2. */
static void a_common_noise_cancels(void **state)
{
    (void)state;
    tmi_ratio_part part = {2, 1, 3, true, 1};
    tmi_ratio ratio = {.numerator = 200, .denominator = 100, .sampling = {4, 0, 0}, .largest = 1e9, .parts = &part, .count = 1};
    tmi_ratio_result found;
    assert_int_equal(tmi_interval_ratio(&found, &ratio, 0.95, 0, 10, NULL), TAMIS_OK);
    assert_true(found.noise_sd == 0);
    assert_true(fabs(found.interval.upper - 2 - 1.96 * 2 / 100) < 1e-3 && fabs(2 - found.interval.lower - 1.96 * 2 / 100) < 1e-3);
}

static void a_denominator_that_may_be_zero_says_nothing(void **state)
{
    (void)state;
    tmi_ratio_part part = {0, 1, 10, false, 1};
    tmi_ratio ratio = {.numerator = 12, .denominator = 20, .sampling = {4, 0, 0}, .largest = 1e9, .parts = &part, .count = 1};
    tmi_ratio_result found;
    assert_int_equal(tmi_interval_ratio(&found, &ratio, 0.95, 0, 5, NULL), TAMIS_OK);
    assert_true(found.interval.lower == 0 && found.interval.upper == 5 && found.interval.clipped && found.may_be_zero &&
                found.estimate == 0.6);
    ratio.denominator = 0;
    assert_int_equal(tmi_interval_ratio(&found, &ratio, 0.95, 0, 5, NULL), TAMIS_OK);
    assert_true(found.interval.upper == 5 && isnan(found.estimate) && isnan(found.noise_sd));
    ratio.denominator = 200, ratio.numerator = 0;
    assert_int_equal(tmi_interval_ratio(&found, &ratio, 0.95, 0, 5, NULL), TAMIS_OK);
    double upper = found.interval.upper;
    ratio.numerator = -3000; /* far below the range: the interval of 0, not a point */
    assert_int_equal(tmi_interval_ratio(&found, &ratio, 0.95, 0, 5, NULL), TAMIS_OK);
    assert_true(found.interval.lower == 0 && fabs(found.interval.upper - upper) < 1e-6 && upper > 0.01 && found.interval.clipped);
    assert_true(found.estimate == -15);
    ratio.numerator = 900; /* one end beyond */
    assert_int_equal(tmi_interval_ratio(&found, &ratio, 0.95, 0, 5, NULL), TAMIS_OK);
    assert_true(found.interval.lower > 3 && found.interval.upper == 5 && found.interval.clipped);
}

/* Mean of a skewed value among a part of the population, both its sums noisy, the moments without noise. 150 draws of a
 * fixed stream: with a true coverage of 0.95 another stream would give less than 0.85 once in 10^6. */
static void means_cover(void **state)
{
    (void)state;
    enum { N = 1000, n = 100 };
    static double x[N], y[N];
    double total = 0, ones = 0, w = (double)N / n, a = (1 - 1 / w) * w * w * n / (n - 1.);
    draws d = draws_begin("8");
    size_t units[N];
    int covered = 0, times = 150;
    for (int i = 0; i < N; i++) {
        y[i] = i % 5 < 2;
        x[i] = y[i] * (double)((i * i) % 97) * (i % 3) / 2;
        total += x[i];
        ones += y[i];
        units[i] = (size_t)i;
    }
    for (int t = 0; t < times; t++) {
        tmi_ratio_part parts[] = {{w * 10, 0, 8, false, 1}, {0, w / 4, 8, false, 1}};
        tmi_ratio ratio = {.largest = (double)N / n * (N - n) * (N / (N - 1.0)) * 96 * 96,
                           .df = n - 1,
                           .parts = parts,
                           .count = 2};
        draw_sample(units, N, n, &d);
        ratio.numerator = w * 10 * draw_noise(&d);
        ratio.denominator = w / 4 * draw_noise(&d);
        for (int i = 0; i < n; i++) {
            size_t u = units[i];
            ratio.numerator += w * x[u];
            ratio.denominator += w * y[u];
            ratio.sampling.xx += a * x[u] * x[u];
            ratio.sampling.xy += a * x[u] * y[u];
            ratio.sampling.yy += a * y[u] * y[u];
        }
        tmi_ratio_result found;
        assert_int_equal(tmi_interval_ratio(&found, &ratio, 0.95, 0, 96, NULL), TAMIS_OK);
        covered += found.interval.lower <= total / ones && total / ones <= found.interval.upper;
    }
    draws_end(d);
    assert_true(covered > 0.9 * times && covered < 0.995 * times);
}

/* A variance that does not depend on r: the first step of the search is the end itself. */
static void both_ends_are_found_whatever_the_first_step(void **state)
{
    (void)state;
    const double z = 1.959963984540054;
    for (int i = 1; i < 200; i++) {
        double b = 20 + 0.37 * i;
        tmi_ratio ratio = {.numerator = 50 + 0.91 * i, .denominator = b, .sampling = {4 + i, 0, 0}, .largest = 1e9};
        tmi_ratio_result found;
        assert_int_equal(tmi_interval_ratio(&found, &ratio, 0.95, -100, 100, NULL), TAMIS_OK);
        double reach = z * sqrt(4 + i) / b;
        assert_true(fabs(found.estimate - found.interval.lower - reach) < 1e-6 * reach);
        assert_true(fabs(found.interval.upper - found.estimate - reach) < 1e-6 * reach);
    }
}

/* One stratum: Wilson's interval, also of nobody and of everybody. Two strata that differ: their difference is taken off. */
static void shares_have_wilsons_interval(void **state)
{
    (void)state;
    const double z = 1.959963984540054, n = 200;
    static const double counts[] = {0, 1, 37, 100, 199, 200};
    for (int i = 0; i < 6; i++) {
        double k = counts[i], middle = (k + z * z / 2) / (n + z * z), half = z / (n + z * z) * sqrt(k * (n - k) / n + z * z / 4);
        tmi_ratio ratio = {.numerator = k, .denominator = n, .sampling = {k, k, n}, .ones = k, .all = n, .largest = 1e9};
        tmi_ratio_result found;
        assert_int_equal(tmi_interval_ratio(&found, &ratio, 0.95, 0, 1, NULL), TAMIS_OK);
        assert_true(fabs(found.interval.lower - fmax(middle - half, 0)) < 1e-6);
        assert_true(fabs(found.interval.upper - fmin(middle + half, 1)) < 1e-6);
    }
    /* 90 of 100 and 10 of 100, means taken off: V(1/2) = 100 - 2 * 40^2 / 100 */
    tmi_ratio ratio = {
        .numerator = 100, .denominator = 200, .sampling = {100 - 82, 100 - 100, 0}, .ones = 100, .all = 200, .largest = 1e9};
    tmi_ratio_result found;
    assert_int_equal(tmi_interval_ratio(&found, &ratio, 0.95, 0, 1, NULL), TAMIS_OK);
    assert_true(fabs(found.sampling_se - sqrt(50 - 32) / 200) < 1e-12);
    double up = found.interval.upper, part = (1 - up) / 0.5, p = 1 - part * 0.1, q = 1 - part * 0.9;
    assert_true(fabs(200 * (up - 0.5) - z * sqrt(100 * (p * (1 - p) + q * (1 - q)))) < 1e-5 && up > 0.54 && up < 0.55);
    assert_true(fabs(up + found.interval.lower - 1) < 1e-6);
}

static void bad_ratios_are_refused(void **state)
{
    (void)state;
    tmi_ratio_part part = {1, 1, 2, false, 1};
    tmi_ratio good = {
        .numerator = 10, .denominator = 20, .sampling = {1, 0, 1}, .largest = 9, .df = 4, .parts = &part, .count = 1};
    tmi_ratio bad[] = {good, good, good, good, good, good, good, good, good, good};
    bad[0].numerator = NAN, bad[1].denominator = INFINITY, bad[2].sampling.xy = NAN, bad[3].largest = -1, bad[4].parts = NULL;
    bad[5].df = -1, bad[6].margin.c[2] = NAN, bad[7].ones = INFINITY, bad[8].all = -1, bad[9].largest = NAN;
    tmi_ratio_result found;
    for (int i = 0; i < 10; i++) {
        assert_int_equal(tmi_interval_ratio(&found, &bad[i], 0.95, 0, 1, NULL), TAMIS_INVALID);
        assert_true(found.interval.lower == 0 && found.interval.upper == 1);
    }
    assert_int_equal(tmi_interval_ratio(&found, NULL, 0.95, 0, 1, NULL), TAMIS_INVALID);
    assert_int_equal(tmi_interval_ratio(&found, &good, 0.95, 1, 1, NULL), TAMIS_INVALID);
    assert_int_equal(tmi_interval_ratio(&found, &good, 0.95, 0, INFINITY, NULL), TAMIS_INVALID);
    assert_int_equal(tmi_interval_ratio(&found, &good, 2, 0, 1, NULL), TAMIS_INVALID);
    tamis_error err;
    EVERY_ALLOCATION_FAILS(tmi_interval_ratio(&found, &good, 0.95, 0, 1, &err), { assert_true(found.interval.upper == 1); });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_noise_it_is_fiellers),
        cmocka_unit_test(noise_in_the_numerator_alone),
        cmocka_unit_test(a_common_noise_cancels),
        cmocka_unit_test(a_denominator_that_may_be_zero_says_nothing),
        cmocka_unit_test(both_ends_are_found_whatever_the_first_step),
        cmocka_unit_test(shares_have_wilsons_interval),
        cmocka_unit_test(means_cover),
        cmocka_unit_test(bad_ratios_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
