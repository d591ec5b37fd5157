/* Intervals over strata: one stratum against the exact interval, several by their coverage. */
#include "tests/test.h"

#include <math.h>

#include "inference/interval/count.h"
#include "inference/interval/strata.h"
#include "inference/interval/variance.h"
#include "inference/inverted_counts.h"
#include "tests/base/memory_that_fails.h"
#include "tests/inference/interval_coverage.h"

/* Laplace noise of a scale, or Gaussian: its variance. */
static double noise_of(double scale, bool gaussian) { return tmi_noise_part_variance((tmi_noise_part){1, scale, gaussian, 1}); }

/* The interval of strata that each have noise of their own, Laplace or Gaussian with the given scales; the estimate is their
 * sum. */
static tamis_status interval_of(tmi_interval *found, const tmi_stratum_count *strata, size_t count, const double *scales,
                                bool gaussian, tamis_error *err)
{
    tmi_noise_part parts[40];
    tmi_count_estimate estimate = {0, parts, count};
    for (size_t h = 0; h < count; h++) {
        parts[h] = (tmi_noise_part){strata[h].population / strata[h].sample, scales[h], gaussian, 1};
        estimate.value += parts[h].factor * strata[h].noisy;
    }
    return tmi_interval_strata(found, strata, count, &estimate, 0.95, err);
}

static void one_stratum_is_near_the_exact_interval(void **state)
{
    (void)state;
    tamis_number *scale, *level;
    assert_int_equal(tamis_number_read(&scale, "2", NULL), TAMIS_OK);
    assert_int_equal(tamis_number_read(&level, "0.95", NULL), TAMIS_OK);
    for (int noisy = 0; noisy <= 200; noisy += 20) {
        int64_t low, high;
        tmi_interval found;
        tmi_stratum_count stratum = {2000, 200, noisy, noise_of(2, false), TMI_COUNT_SRS};
        assert_int_equal(tamis_interval_count(&low, &high, 2000, 200, noisy, scale, level, NULL), TAMIS_OK);
        assert_int_equal(interval_of(&found, &stratum, 1, &(double){2}, false, NULL), TAMIS_OK);
        assert_true(fabs(found.lower - (double)low) <= 15 && fabs(found.upper - (double)high) <= 15); /* one unit of k is 10 */
    }
    tamis_number_free(scale);
    tamis_number_free(level);
}

/* Of a population without end it does not matter whether units are put back. */
static void replacement_is_the_limit_of_a_large_population(void **state)
{
    (void)state;
    for (int noisy = 3; noisy <= 197; noisy += 97) {
        tmi_interval without, with;
        tmi_stratum_count stratum = {1e10, 200, noisy, noise_of(2, false), TMI_COUNT_SRS};
        assert_int_equal(interval_of(&without, &stratum, 1, &(double){2}, false, NULL), TAMIS_OK);
        stratum.law = TMI_COUNT_REPLACED;
        assert_int_equal(interval_of(&with, &stratum, 1, &(double){2}, false, NULL), TAMIS_OK);
        assert_true(fabs(with.lower - without.lower) < 1e-5 * 1e10 && fabs(with.upper - without.upper) < 1e-5 * 1e10);
    }
}

/* Strata have no order, also where the estimate is not their sum; and nothing is certain. */
static void strata_have_no_order(void **state)
{
    (void)state;
    const tmi_stratum_count a = {4000, 40, 3, noise_of(2, false), TMI_COUNT_SRS},
                            b = {300, 30, 12, noise_of(1, false), TMI_COUNT_SRS},
                            c = {100, 20, 19, noise_of(2, false), TMI_COUNT_SRS};
    const tmi_stratum_count orders[][3] = {{a, b, c}, {b, c, a}, {c, a, b}};
    tmi_noise_part part = {100, 2, false, 1};
    const tmi_count_estimate estimate = {700, &part, 1};
    tmi_interval first, next;
    assert_int_equal(tmi_interval_strata(&first, orders[0], 3, &estimate, 0.95, NULL), TAMIS_OK);
    for (size_t i = 1; i < 3; i++) {
        assert_int_equal(tmi_interval_strata(&next, orders[i], 3, &estimate, 0.95, NULL), TAMIS_OK);
        assert_true(fabs(next.lower - first.lower) <= 1 && fabs(next.upper - first.upper) <= 1);
    }
    assert_int_equal(tmi_interval_strata(&next, orders[0], 3, &estimate, 1, NULL), TAMIS_INVALID);
    assert_int_equal(tmi_interval_strata(&next, orders[0], 3, &estimate, 1 - 1e-10, NULL), TAMIS_INVALID);
    assert_int_equal(tmi_interval_strata(&next, orders[0], 3, &estimate, 0, NULL), TAMIS_INVALID);
}

/* True value covered in how many of `times` samples of 3 strata, of which the shares are given. */
static double coverage(const char *scale, double size, const double shares[3], int times)
{
    static const size_t N[3] = {400, 300, 100}, n[3] = {40, 30, 20};
    draws d = draws_begin(scale);
    size_t units[400];
    int covered = 0;
    double truth = 0;
    for (int h = 0; h < 3; h++) truth += round(shares[h] * (double)N[h]);
    for (int t = 0; t < times; t++) {
        tmi_stratum_count strata[3];
        for (int h = 0; h < 3; h++) {
            double ones = round(shares[h] * (double)N[h]);
            for (size_t i = 0; i < N[h]; i++) units[i] = i;
            draw_sample(units, N[h], n[h], &d);
            strata[h] = (tmi_stratum_count){(double)N[h], (double)n[h], draw_noise(&d), noise_of(size, false), TMI_COUNT_SRS};
            for (size_t i = 0; i < n[h]; i++) strata[h].noisy += (double)units[i] < ones;
        }
        tmi_interval found;
        assert_int_equal(interval_of(&found, strata, 3, (double[]){size, size, size}, false, NULL), TAMIS_OK);
        assert_true(found.lower >= 0 && found.upper <= 800 && found.lower <= found.upper);
        covered += found.lower <= truth && truth <= found.upper;
    }
    draws_end(d);
    return (double)covered / times;
}

/* 200 draws: a true coverage of 0.94 stays above 0.84 but for a chance of 10^-7; the stream is fixed in any case. */
static void several_strata_cover(void **state)
{
    (void)state;
    static const double shares[3][3] = {{0.1, 0.3, 0.5}, {0.02, 0.01, 0}, {0.9, 0.05, 0.5}};
    for (int i = 0; i < 3; i++) {
        assert_true(coverage("5", 5, shares[i], 200) > 0.87);
        assert_true(coverage("1/2", 0.5, shares[i], 200) > 0.87);
    }
}

/* Forty strata of which five units each were sampled: the width is that of the true variance, which the squares of noisy
 * shares of five units would miss by a fifth. */
static void many_small_strata_have_the_right_width(void **state)
{
    (void)state;
    enum { H = 40, N = 100, n = 5, TIMES = 20 };
    draws d = draws_begin("1");
    double width = 0, noise = 400 * noise_of(1, false), scales[H];
    size_t units[N];
    for (int h = 0; h < H; h++) scales[h] = 1;
    for (int t = 0; t < TIMES; t++) {
        tmi_stratum_count strata[H];
        for (int h = 0; h < H; h++) {
            for (size_t i = 0; i < N; i++) units[i] = i;
            draw_sample(units, N, n, &d);
            strata[h] = (tmi_stratum_count){N, n, draw_noise(&d), noise_of(1, false), TMI_COUNT_SRS};
            for (size_t i = 0; i < n; i++) strata[h].noisy += units[i] < N / 2;
        }
        tmi_interval found;
        assert_int_equal(interval_of(&found, strata, H, scales, false, NULL), TAMIS_OK);
        width += (found.upper - found.lower) / TIMES;
    }
    draws_end(d);
    double variance = H * (400. * n / 4 * (N - n) / (N - 1) + noise), student = 1.975 / 1.96;
    assert_true(fabs(width / (2 * 1.96 * student * sqrt(variance)) - 1) < 0.03);
}

/* Ten strata of two units, one of which has the mark: the reach is that of Student's law with ten degrees of freedom, 2.228, of
 * the largest variance that a share can have, 1/4, but for the skewness at the ends. */
static void few_units_have_students_reach(void **state)
{
    (void)state;
    enum { H = 10 };
    tmi_stratum_count strata[H];
    for (int h = 0; h < H; h++) strata[h] = (tmi_stratum_count){1e6, 2, 1, 0, TMI_COUNT_SRS};
    tmi_interval found;
    assert_int_equal(tmi_interval_strata(&found, strata, H, &(tmi_count_estimate){H * 5e5, NULL, 0}, 0.95, NULL), TAMIS_OK);
    const double reach = 2.228 * 5e5 * sqrt(H * 2 / 4.);
    if (!(fabs((found.upper - found.lower) / (2 * reach) - 1) < 0.035)) fail_msg("%g to %g", found.lower, found.upper);
}

/* Each of K units is in the sample with probability 1/2, so that twice their number has the variance K and no skewness: the ends
 * solve (K - estimate)^2 = z^2 (K + noise). */
static void half_of_the_units_is_a_symmetric_sample(void **state)
{
    (void)state;
    const double z = 1.959964, scale = 0.5, noise = noise_of(scale, true);
    for (int noisy = 8; noisy <= 128; noisy *= 2) {
        const tmi_stratum_count stratum = {400, 200, noisy, noise, TMI_COUNT_RATE};
        tmi_interval found;
        assert_int_equal(interval_of(&found, &stratum, 1, &(double){scale}, true, NULL), TAMIS_OK);
        const double middle = 2 * noisy + z * z / 2, reach = z * sqrt(2 * noisy + z * z / 4 + 4 * noise);
        if (fabs(found.lower - (middle - reach)) > 0.05 || fabs(found.upper - (middle + reach)) > 0.05)
            fail_msg("%d: %g to %g, expected %g to %g", noisy, found.lower, found.upper, middle - reach, middle + reach);
    }
}

/* Three strata of very different shares, of which one is near 0 and one near 1: the interval is not much shorter than the
 * plain one with the variance at the estimate. */
static void strata_that_differ_are_not_overconfident(void **state)
{
    (void)state;
    const double small = noise_of(0.25, false), scales[] = {0.25, 0.25, 0.25};
    tmi_stratum_count strata[] = {{400, 30, 2, small, TMI_COUNT_SRS},
                                  {500, 30, 3, small, TMI_COUNT_SRS},
                                  {600, 30, 28, small, TMI_COUNT_SRS}};
    tmi_noise_part parts[3];
    double variance = 0, estimate = 0, reach;
    for (int h = 0; h < 3; h++) {
        parts[h] = (tmi_noise_part){strata[h].population / 30, 0.25, false, 1};
        const double N = (double)strata[h].population, k = (double)strata[h].noisy;
        variance += N / 30 * (N - 30) * (k * (30 - k) / 30 / 29);
        estimate += parts[h].factor * strata[h].noisy;
    }
    tmi_interval found;
    assert_int_equal(tmi_error_reach(&reach, &(tmi_error_law){.se = sqrt(variance), .parts = parts, .count = 3}, 0.95, NULL),
                     TAMIS_OK);
    assert_int_equal(interval_of(&found, strata, 3, scales, false, NULL), TAMIS_OK);
    assert_true(found.upper - estimate > 0.95 * reach && estimate - found.lower > 0.95 * reach);
}

static void the_range_holds(void **state)
{
    (void)state;
    tmi_interval found;
    for (int gaussian = 0; gaussian < 2; gaussian++) {
        const double one = noise_of(1, gaussian), two = noise_of(2, gaussian);
        tmi_stratum_count low[] = {{100, 10, -40, one, TMI_COUNT_SRS}, {50, 5, -30, two, TMI_COUNT_SRS}};
        assert_int_equal(interval_of(&found, low, 2, (double[]){1, 2}, gaussian, NULL), TAMIS_OK);
        assert_true(found.lower == 0 && found.upper > 1 && found.upper < 75 && found.clipped); /* as for 0, not a point */
        tmi_stratum_count high[] = {{100, 10, 60, one, TMI_COUNT_SRS}, {50, 5, 70, two, TMI_COUNT_SRS}};
        assert_int_equal(interval_of(&found, high, 2, (double[]){1, 2}, gaussian, NULL), TAMIS_OK);
        assert_true(found.lower > 75 && found.lower < 149 && found.upper == 150 && found.clipped);
        tmi_stratum_count wide[] = {{100, 10, 5, noise_of(1e6, gaussian), TMI_COUNT_SRS},
                                    {50, 50, 5, noise_of(1e5, gaussian), TMI_COUNT_SRS}}; /* the noise drowns everything */
        assert_int_equal(interval_of(&found, wide, 2, (double[]){1e6, 1e5}, gaussian, NULL), TAMIS_OK);
        assert_true(found.lower == 0 && found.upper == 150 && found.clipped);
        tmi_stratum_count census[] = {{100, 100, 30, noise_of(0.01, gaussian), TMI_COUNT_SRS},
                                      {50, 50, 20, noise_of(0.01, gaussian), TMI_COUNT_SRS}}; /* neither sampling nor noise */
        assert_int_equal(interval_of(&found, census, 2, (double[]){0.01, 0.01}, gaussian, NULL), TAMIS_OK);
        assert_true(fabs(found.lower - 50) < 1 && fabs(found.upper - 50) < 1);
    }
}

static void bad_strata_are_refused(void **state)
{
    (void)state;
    tmi_interval found;
    const tmi_noise_part part = {2, 1, false, 1}, bad_part = {NAN, 1, false, 1};
    const tmi_count_estimate two = {2, &part, 1}, no_number = {NAN, &part, 1}, no_part = {2, &bad_part, 1};
    tmi_stratum_count bad[] = {{10, 0, 1, 1, TMI_COUNT_SRS},  {10, 11, 1, 1, TMI_COUNT_SRS},       {10, 5, NAN, 1, TMI_COUNT_SRS},
                               {10, 5, 1, -1, TMI_COUNT_SRS}, {10, 5, 1, INFINITY, TMI_COUNT_SRS}, {10, 5, 1, NAN, TMI_COUNT_SRS},
                               {NAN, 5, 1, 1, TMI_COUNT_SRS}, {INFINITY, 5, 1, 1, TMI_COUNT_SRS}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(tmi_interval_strata(&found, &bad[i], 1, &two, 0.95, NULL), TAMIS_INVALID);
        assert_true(found.lower == 0 && isinf(found.upper));
    }
    tmi_stratum_count good[] = {{10, 5, 1, 1, TMI_COUNT_SRS}, {10, 5, 1, 1, TMI_COUNT_SRS}};
    assert_int_equal(tmi_interval_strata(&found, NULL, 1, &two, 0.95, NULL), TAMIS_INVALID);
    assert_int_equal(tmi_interval_strata(&found, good, 0, &two, 0.95, NULL), TAMIS_INVALID);
    assert_int_equal(tmi_interval_strata(&found, good, 2, NULL, 0.95, NULL), TAMIS_INVALID);
    assert_int_equal(tmi_interval_strata(&found, good, 2, &no_number, 0.95, NULL), TAMIS_INVALID);
    assert_int_equal(tmi_interval_strata(&found, good, 2, &no_part, 0.95, NULL), TAMIS_INVALID);
    assert_int_equal(tmi_interval_strata(&found, good, 2, &two, 1, NULL), TAMIS_INVALID);
    assert_int_equal(tmi_interval_strata(&found, good, 2, &two, NAN, NULL), TAMIS_INVALID);
    tamis_error err;
    EVERY_ALLOCATION_FAILS(tmi_interval_strata(&found, good, 2, &two, 0.95, &err), { assert_true(found.lower == 0); });
}

/* Other laws of one stratum against the exact interval; an estimate beside the sum over the strata, with less noise, carries its
 * interval along. */
static void estimates_beside_the_strata(void **state)
{
    (void)state;
    tamis_number *scale, *level, *rate;
    assert_int_equal(tamis_number_read(&scale, "2", NULL), TAMIS_OK);
    assert_int_equal(tamis_number_read(&level, "0.95", NULL), TAMIS_OK);
    assert_int_equal(tamis_number_read(&rate, "0.1", NULL), TAMIS_OK);
    for (int law = TMI_COUNT_SRS; law <= TMI_COUNT_RATE; law++)
        for (int noisy = 5; noisy <= 185; noisy += 30) {
            tmi_count_case c = {
                .law = (tmi_count_law)law, .population = 2000, .sample = 200, .rate = rate, .scale = scale, .confidence = level};
            tmi_stratum_count stratum = {2000, 200, noisy, noise_of(2, false), (tmi_count_law)law};
            const tmi_noise_part half = {5, 2, false, 1};
            tmi_interval found, moved;
            int64_t low, high;
            assert_int_equal(tmi_interval_count(&low, &high, &c, noisy, NULL), TAMIS_OK);
            assert_int_equal(interval_of(&found, &stratum, 1, &(double){2}, false, NULL), TAMIS_OK);
            assert_true(fabs(found.lower - (double)low) <= 12 && fabs(found.upper - (double)high) <= 12);
            stratum.noise /= 4;
            assert_int_equal(tmi_interval_strata(&moved, &stratum, 1, &(tmi_count_estimate){10 * noisy + 4, &half, 1}, 0.95,
                                                 NULL),
                             TAMIS_OK);
            assert_true(moved.lower > found.lower && moved.lower < 10 * noisy + 4 && moved.upper > 10 * noisy + 4 &&
                        moved.upper < found.upper + 4.5);
        }
    tmi_stratum_count census = {50, 50, 20, 0, TMI_COUNT_SRS}; /* neither sampling nor noise is left */
    tmi_interval point;
    assert_int_equal(tmi_interval_strata(&point, &census, 1, &(tmi_count_estimate){21, NULL, 0}, 0.95, NULL), TAMIS_OK);
    assert_true(fabs(point.lower - 21) < 1e-3 && fabs(point.upper - 21) < 1e-3);
    tamis_number_free(scale);
    tamis_number_free(level);
    tamis_number_free(rate);
}

/* Of many groups the interval is taken from a grid of estimates: it contains the one that is computed, and is hardly longer. */
static void a_grid_is_hardly_wider(void **state)
{
    (void)state;
    const double weight = 100;
    tmi_count_grid *grid = tmi_count_grid_new();
    assert_non_null(grid);
    double longest = 0;
    for (tmi_gaussian gaussian = TMI_NOT_GAUSSIAN; gaussian <= TMI_DISCRETE_GAUSSIAN; gaussian++) {
        const tmi_noise_part parts[] = {{weight, 8, gaussian, 1}, {weight / 3, 5, gaussian, 4}};
        double noise = 0;
        for (int i = 0; i < 2; i++) noise += tmi_noise_part_variance(parts[i]) / (weight * weight);
        for (int i = 0; i < 400; i++) {
            const double noisy = -30 + 0.317 * i; /* below 0, near it, and above */
            const tmi_stratum_count stratum = {1e6, 1e4, noisy, noise, TMI_COUNT_SRS};
            const tmi_count_estimate estimate = {noisy * weight, parts, 2};
            tmi_interval exact, found;
            tamis_status status;
            assert_int_equal(tmi_interval_strata(&exact, &stratum, 1, &estimate, 0.95, NULL), TAMIS_OK);
            assert_true(tmi_count_grid_interval(&found, &status, grid, &stratum, &estimate, 0.95, weight, NULL));
            assert_int_equal(status, TAMIS_OK);
            assert_true(found.lower <= exact.lower + 1e-6 * weight && found.upper >= exact.upper - 1e-6 * weight);
            longest = fmax(longest, (found.upper - found.lower) - (exact.upper - exact.lower));
        }
        assert_true(longest <= 2 * sqrt(noise) * weight / 64 * 1.1); /* a step of the grid at each end */
    }
    const tmi_stratum_count exact_count = {1e6, 1e4, 5, 0, TMI_COUNT_SRS};
    tmi_interval found;
    tamis_status status;
    assert_false(
        tmi_count_grid_interval(&found, &status, grid, &exact_count, &(tmi_count_estimate){500, NULL, 0}, 0.95, weight, NULL));
    tmi_count_grid_free(grid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_grid_is_hardly_wider),
        cmocka_unit_test(estimates_beside_the_strata),
        cmocka_unit_test(one_stratum_is_near_the_exact_interval),
        cmocka_unit_test(replacement_is_the_limit_of_a_large_population),
        cmocka_unit_test(strata_have_no_order),
        cmocka_unit_test(several_strata_cover),
        cmocka_unit_test(many_small_strata_have_the_right_width),
        cmocka_unit_test(few_units_have_students_reach),
        cmocka_unit_test(half_of_the_units_is_a_symmetric_sample),
        cmocka_unit_test(strata_that_differ_are_not_overconfident),
        cmocka_unit_test(the_range_holds),
        cmocka_unit_test(bad_strata_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
