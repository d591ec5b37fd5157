/* The whole distribution function: the variance by brute force over neighbours, the algebra by definition, the noise by its law.
 */
#include "tests/test.h"

#include <string.h>

#include "mech/quantile/prefix.h"
#include "num/number.h"
#include "tests/base/memory_that_fails.h"
#include "tests/rng/with_rng.h"

static tamis_status try_setup(tamis_distribution **d, const char *to, int64_t bins, const char *rho, int add_remove, int64_t rows,
                              int64_t max_weight, tamis_error *err)
{
    tamis_number *x[] = {number("0"), number(to), number("1"), number(rho)};
    const tamis_distribution_setup setup = {.from = x[0],
                                            .to = x[1],
                                            .step = x[2],
                                            .bins = bins,
                                            .rho = x[3],
                                            .add_remove = add_remove,
                                            .rows_per_unit = rows,
                                            .max_weight = max_weight};
    tamis_status status = tamis_distribution_new(d, &setup, err);
    for (size_t i = 0; i < 4; i++) tamis_number_free(x[i]);
    return status;
}

static tamis_distribution *distribution_of(const char *to, int64_t bins, const char *rho, int add_remove, int64_t rows,
                                           int64_t max_weight)
{
    tamis_distribution *d;
    assert_int_equal(try_setup(&d, to, bins, rho, add_remove, rows, max_weight, NULL), TAMIS_OK);
    return d;
}

/* |F (x - x')|^2 in doubles: below 2^53. */
static double distance(const tamis_distribution *d, const int64_t *change)
{
    __int128 y[64];
    double sum = 0;
    tmi_prefix_measure(y, change, d->entries, d->bins);
    for (size_t i = 0; i < d->bins; i++) sum += (double)y[i] * (double)y[i];
    return sum;
}

/* Every unit of two records, replaced by every other or removed: rho is never more than claimed, and nearly that. */
static void no_pair_of_neighbours_loses_more(void **state)
{
    enum { BINS = 7, WEIGHT = 2 };
    (void)state;
    for (int add_remove = 0; add_remove < 2; add_remove++) {
        tamis_distribution *d = distribution_of("69", BINS, "0.5", add_remove, 2, WEIGHT);
        const double variance = tmi_number_nearest(d->variance);
        double most = 0;
        for (int code = 0; code < BINS * BINS * BINS * BINS; code++)
            for (int weights = 0; weights < (WEIGHT + 1) * (WEIGHT + 1); weights++) {
                int64_t change[BINS] = {0};
                change[code % BINS] += weights % (WEIGHT + 1);
                change[code / BINS % BINS] += weights / (WEIGHT + 1);
                if (!add_remove) { /* the others have the largest weight */
                    change[code / (BINS * BINS) % BINS] -= WEIGHT;
                    change[code / (BINS * BINS * BINS)] -= WEIGHT;
                } else if (code >= BINS * BINS) break;
                most = fmax(most, distance(d, change) / (2 * variance));
            }
        assert_true(most <= 0.5 * (1 + 1e-12));
        assert_true(most > (add_remove ? 0.4999999 : 0.3));
        tamis_distribution_free(d);
    }
}

/* Without noise the prefix sums come back. */
static void the_algebra_is_right(void **state)
{
    enum { BINS = 50 };
    tamis_distribution *d = distribution_of("999", BINS, "1", 1, 1, 0);
    int64_t x[BINS];
    __int128 exact[BINS];
    double y[BINS], sums[BINS], sum = 0;
    uint64_t stream = 5;
    (void)state;
    for (size_t i = 0; i < BINS; i++) x[i] = (int64_t)(next_number(&stream) % 1000);
    tmi_prefix_measure(exact, x, d->entries, BINS);
    for (size_t i = 0; i < BINS; i++) y[i] = (double)exact[i];
    tmi_prefix_solve(sums, y, d->entries, BINS);
    for (size_t i = 0; i < BINS; i++) {
        sum += (double)x[i];
        assert_true(fabs(sums[i] - sum) < 1e-6);
    }
    tamis_distribution_free(d);
}

/* The measure of noise that the literature gives for this factorisation: sd sqrt(2 rho) = sum of f_k^2. */
static void the_noise_is_as_small_as_stated(void **state)
{
    static const struct {
        int64_t bins;
        double factor;
    } cases[] = {{128, 2.61}, {256, 2.83}, {1024, 3.27}};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        tamis_distribution *d = distribution_of("9999", cases[i].bins, "1/2", 1, 1, 0);
        assert_true(fabs(d->sd[d->bins - 1] - cases[i].factor) < 0.006);
        for (size_t k = 1; k < d->bins; k++) assert_true(d->sd[k] >= d->sd[k - 1]);
        tamis_distribution_free(d);
    }
}

/* From records to answers: errors are those that `sd` states, and the smoothed function never falls. */
static void answers_have_the_stated_error(void **state)
{
    enum { BINS = 64, RUNS = 300, RECORDS = 5000 };
    static int64_t points[RECORDS];
    tamis_distribution *d = distribution_of("6399", BINS, "1/8", 0, 1, 0);
    double squares = 0, smooth_squares = 0, expected = 0;
    uint64_t stream = 3;
    tamis_number *half = number("1/2");
    (void)state;
    bits_from_seed(9);
    for (size_t i = 0; i < RECORDS; i++) points[i] = i == 7 ? INT64_MIN : (int64_t)(next_number(&stream) % 7000) - 300;
    for (int run = 0; run < RUNS; run++) {
        double before = 0;
        int64_t median;
        assert_int_equal(tamis_distribution_prepare(d, rng, NULL), TAMIS_OK);
        assert_int_equal(tamis_distribution_points(d, points, NULL, RECORDS, NULL), TAMIS_OK);
        for (int64_t bin = 0; bin < BINS; bin++) {
            double smooth, plain, sd, right = 0;
            int64_t last;
            assert_int_equal(tamis_distribution_at(&last, &smooth, &plain, &sd, d, bin, NULL), TAMIS_OK);
            assert_int_equal(last, bin * 100 + 99);
            for (size_t i = 0; run == 0 && i < RECORDS; i++)
                right += points[i] != INT64_MIN && (points[i] <= last || bin + 1 == BINS);
            if (run == 0) assert_true(fabs(plain - right) < 8 * sd);
            assert_true(smooth >= before);
            before = smooth;
            if (bin == BINS / 2) {
                static double truth;
                if (run == 0) truth = right;
                squares += (plain - truth) * (plain - truth);
                smooth_squares += (smooth - truth) * (smooth - truth);
                expected = sd * sd;
            }
        }
        assert_int_equal(tamis_distribution_quantile(&median, d, half, NULL), TAMIS_OK);
        assert_true(median > 2500 && median < 3900);
    }
    /* a chi-squared variable of 300 degrees of freedom: outside of these with probability below 10^-9 */
    assert_true(squares / RUNS / expected > 0.55 && squares / RUNS / expected < 1.6);
    assert_true(smooth_squares <= squares * 1.2);
    tamis_distribution_free(d);
    tamis_number_free(half);
}

/* Against the definition: the largest over starts of the smallest mean over ends. */
static void smoothing_is_isotonic_regression(void **state)
{
    uint64_t stream = 1;
    (void)state;
    for (int run = 0; run < 200; run++) {
        double list[12], smooth[12];
        size_t lengths[12];
        const size_t n = 1 + next_number(&stream) % 12;
        for (size_t i = 0; i < n; i++) list[i] = smooth[i] = (double)(next_number(&stream) % 10);
        tmi_isotonic(smooth, lengths, n);
        for (size_t i = 0; i < n; i++) {
            double best = -INFINITY;
            for (size_t from = 0; from <= i; from++) {
                double least = INFINITY;
                for (size_t to = i; to < n; to++) {
                    double mean = 0;
                    for (size_t k = from; k <= to; k++) mean += list[k] / (double)(to - from + 1);
                    least = fmin(least, mean);
                }
                best = fmax(best, least);
            }
            assert_true(fabs(smooth[i] - best) < 1e-12);
        }
    }
}

static void bins_cover_the_grid(void **state)
{
    (void)state;
    for (int64_t bins = 2; bins <= 11; bins++) {
        tamis_distribution *d = distribution_of("10", bins, "1", 1, 1, 0);
        for (int64_t point = 0; point <= 10; point++) {
            const size_t bin = tmi_bin_of(d, point);
            assert_true(point <= tmi_bin_last(d, bin) && (bin == 0 || point > tmi_bin_last(d, bin - 1)));
        }
        assert_int_equal(tmi_bin_last(d, (size_t)bins - 1), 10);
        tamis_distribution_free(d);
    }
}

static void wrong_calls_are_named(void **state)
{
    tamis_distribution *d;
    const int64_t points[] = {1}, weights[] = {1};
    (void)state;
    assert_int_equal(try_setup(&d, "9", 1, "1", 0, 0, 0, NULL), TAMIS_INVALID);
    assert_int_equal(try_setup(&d, "9", 11, "1", 0, 0, 0, NULL), TAMIS_INVALID);
    assert_int_equal(try_setup(&d, "99999", 5000, "1", 0, 0, 0, NULL), TAMIS_INVALID);
    assert_int_equal(try_setup(&d, "9", 3, "0", 0, 0, 0, NULL), TAMIS_INVALID);
    assert_int_equal(try_setup(&d, "9", 3, "1", 0, -1, 0, NULL), TAMIS_INVALID);
    assert_int_equal(try_setup(&d, "9", 3, "1", 0, 0, INT64_C(1) << 21, NULL), TAMIS_INVALID);
    assert_null(d);
    d = distribution_of("9", 3, "1", 0, 0, 0);
    bits_from_seed(1);
    assert_int_equal(tamis_distribution_points(d, points, NULL, 1, NULL), TAMIS_INVALID); /* not prepared */
    assert_int_equal(tamis_distribution_at(NULL, NULL, NULL, NULL, d, 0, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_distribution_prepare(d, rng, NULL), TAMIS_OK);
    assert_int_equal(tamis_distribution_points(d, points, weights, 1, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_distribution_points(d, points, NULL, 1, NULL), TAMIS_INVALID); /* the noise is gone */
    assert_int_equal(tamis_distribution_prepare(d, rng, NULL), TAMIS_OK);
    assert_int_equal(tamis_distribution_points(d, points, NULL, 1, NULL), TAMIS_OK);
    assert_int_equal(tamis_distribution_at(NULL, NULL, NULL, NULL, d, 3, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_distribution_points(d, points, NULL, 1, NULL), TAMIS_INVALID);
    tamis_distribution_free(d);
}

static tamis_status from_start_to_answer(const tamis_distribution_setup *setup)
{
    static const int64_t points[] = {1, 2, 3};
    tamis_distribution *d = NULL;
    bits_from_seed(1);
    tamis_status status = tamis_distribution_new(&d, setup, NULL);
    if (status == TAMIS_OK) status = tamis_distribution_prepare(d, rng, NULL);
    if (status == TAMIS_OK) status = tamis_distribution_points(d, points, NULL, 3, NULL);
    tamis_distribution_free(d);
    return status;
}

static void allocations_may_fail(void **state)
{
    tamis_number *x[] = {number("0"), number("9"), number("1")};
    const tamis_distribution_setup setup = {.from = x[0], .to = x[1], .step = x[2], .bins = 3, .rho = x[2]};
    (void)state;
    EVERY_ALLOCATION_FAILS(from_start_to_answer(&setup), {});
    for (size_t i = 0; i < 3; i++) tamis_number_free(x[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_pair_of_neighbours_loses_more),
        cmocka_unit_test(the_algebra_is_right),
        cmocka_unit_test(the_noise_is_as_small_as_stated),
        cmocka_unit_test(answers_have_the_stated_error),
        cmocka_unit_test(smoothing_is_isotonic_regression),
        cmocka_unit_test(bins_cover_the_grid),
        cmocka_unit_test(wrong_calls_are_named),
        cmocka_unit_test(allocations_may_fail),
    };
    return cmocka_run_group_tests(tests, make_rng, free_rng);
}
