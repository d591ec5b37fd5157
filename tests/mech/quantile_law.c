#include "tests/test.h"

#include <string.h>

#include "num/number.h"
#include "tests/base/memory_that_fails.h"
#include "tests/mech/quantile_law_values.h"

#define MOST 24

/* ---- AboveThreshold ---- */

static void law_of(tamis_bound *p, const int *y, size_t count, const char *threshold, tamis_threshold_noise noise,
                   const char *eps)
{
    tamis_number *t = number(threshold), *e = number(eps), *scale_T, *scale_q, *queries[MOST];
    for (size_t i = 0; i < count; i++) assert_int_equal(tmi_number_ratio(&queries[i], y[i], 1, NULL), TAMIS_OK);
    assert_int_equal(tamis_threshold_scales(&scale_T, &scale_q, noise, e, NULL), TAMIS_OK);
    assert_int_equal(tamis_threshold_law(p, (const tamis_number *const *)queries, count, t, scale_T, scale_q, NULL), TAMIS_OK);
    double low = 0, high = 0;
    for (size_t i = 0; i <= count; i++) {
        assert_true(0 <= p[i].lower && p[i].lower <= p[i].upper && p[i].upper <= 1);
        low += p[i].lower;
        high += p[i].upper;
    }
    assert_true(low <= 1 + 1e-14 && high >= 1 - 1e-14);
    for (size_t i = 0; i < count; i++) tamis_number_free(queries[i]);
    tamis_number *all[] = {t, e, scale_T, scale_q};
    for (size_t i = 0; i < 4; i++) tamis_number_free(all[i]);
}

static double loss_between(const tamis_bound *p, const tamis_bound *q, size_t count)
{
    double loss = 0;
    for (size_t i = 0; i < count; i++) loss = fmax(loss, fmax(log(p[i].upper / q[i].lower), log(q[i].upper / p[i].lower)));
    return loss;
}

static double cdf(double x, double scale) { return x < 0 ? exp(x / scale) / 2 : 1 - exp(-x / scale) / 2; }

/* The integral by the trapezoidal rule. */
static void agrees_with_quadrature(void **state)
{
    static const int y[] = {3, -2, 7, 3, 0};
    tamis_bound p[6];
    (void)state;
    for (int noise = 0; noise < 2; noise++) {
        const double scale_T = 2 / 0.7, scale_q = noise ? 2 / 0.7 : 4 / 0.7, step = 1e-3;
        double sums[6] = {0};
        law_of(p, y, 5, "5/2", (tamis_threshold_noise)noise, "0.7");
        for (double t = -90; t < 95; t += step) {
            double passed = exp(-fabs(t - 2.5) / scale_T) / (2 * scale_T) * step;
            for (size_t i = 0; i < 5; i++) {
                const double f = cdf(t - y[i], scale_q);
                sums[i] += passed * (1 - f);
                passed *= f;
            }
            sums[5] += passed;
        }
        for (size_t i = 0; i < 6; i++) assert_true(fabs(sums[i] - p[i].upper) < 1e-6);
    }
}

static void agrees_with_reference_pairs(void **state)
{
    tamis_bound p[MOST], q[MOST];
    (void)state;
    for (size_t i = 0; i < sizeof pair_values / sizeof *pair_values; i++) {
        const tamis_threshold_noise noise = pair_values[i].monotone ? TAMIS_THRESHOLD_MONOTONE : TAMIS_THRESHOLD_CLASSIC;
        law_of(p, pair_values[i].y, pair_values[i].count, "0", noise, pair_values[i].eps);
        law_of(q, pair_values[i].y_prime, pair_values[i].count, "0", noise, pair_values[i].eps);
        const double loss = loss_between(p, q, pair_values[i].count + 1);
        assert_true(fabs(loss - pair_values[i].loss) <= 1e-11 * (1 + pair_values[i].loss));
        assert_true(loss <= strtod(pair_values[i].eps, NULL) * (1 + 1e-12));
    }
}

/* All neighbours of three queries with values -1, 0, 1: each may move by one in any direction. */
static void no_neighbour_loses_more_than_eps(void **state)
{
    enum { K = 3, VALUES = 5, ALL = VALUES * VALUES * VALUES };
    static tamis_bound laws[2][ALL][K + 1];
    const double eps = 1;
    double worst[2] = {0, 0}, wrong = 0;
    (void)state;
    for (int noise = 0; noise < 2; noise++)
        for (int i = 0; i < ALL; i++) {
            const int y[K] = {i % VALUES - 2, i / VALUES % VALUES - 2, i / (VALUES * VALUES) - 2};
            law_of(laws[noise][i], y, K, "0", (tamis_threshold_noise)noise, "1");
        }
    for (int i = 0; i < ALL; i++)
        for (int j = 0; j < i; j++) {
            const int move[K] = {i % VALUES - j % VALUES, i / VALUES % VALUES - j / VALUES % VALUES,
                                 i / (VALUES * VALUES) - j / (VALUES * VALUES)};
            int most = 0, up = 0, down = 0;
            for (int k = 0; k < K; k++) {
                most = abs(move[k]) > most ? abs(move[k]) : most;
                up += move[k] > 0;
                down += move[k] < 0;
            }
            if (most > 1) continue;
            worst[0] = fmax(worst[0], loss_between(laws[0][i], laws[0][j], K + 1));
            const double monotone = loss_between(laws[1][i], laws[1][j], K + 1);
            if (up == 0 || down == 0) worst[1] = fmax(worst[1], monotone);
            else wrong = fmax(wrong, monotone);
        }
    assert_true(worst[0] <= eps && worst[1] <= eps);
    assert_true(worst[0] > 0.4 && worst[1] > 0.4);
    assert_true(wrong > worst[1]);
}

/* Many queries that rise by one, and a last one far below that falls by one: the whole of eps is used. With the monotone
 * noise such queries lose eps/2 more; where all move the same way eps is enough, and needed. */
static void twenty_queries_use_all_of_eps(void **state)
{
    enum { K = 20 };
    int y[K] = {0}, other[K], same[K];
    tamis_bound p[K + 1], q[K + 1];
    (void)state;
    y[K - 1] = -30;
    for (int i = 0; i < K; i++) other[i] = same[i] = y[i] + 1;
    other[K - 1] = -31;
    law_of(p, y, K, "0", TAMIS_THRESHOLD_CLASSIC, "1");
    law_of(q, other, K, "0", TAMIS_THRESHOLD_CLASSIC, "1");
    const double classic = loss_between(p, q, K + 1);
    assert_true(classic <= 1 && classic > 0.99);
    law_of(p, y, K, "0", TAMIS_THRESHOLD_MONOTONE, "1");
    law_of(q, other, K, "0", TAMIS_THRESHOLD_MONOTONE, "1");
    assert_true(loss_between(p, q, K + 1) > 1.45);
    same[K - 1] = y[K - 1];
    law_of(q, same, K, "0", TAMIS_THRESHOLD_MONOTONE, "1");
    const double monotone = loss_between(p, q, K + 1);
    assert_true(monotone <= 1 && monotone > 0.99);
}

/* ---- HistogramMethod ---- */

static void histogram_of(tamis_bound *p, int64_t *counts, const int *x, size_t n, const char *from, const char *to, int64_t steps,
                         const char *quantile, tamis_threshold_noise noise, const char *eps)
{
    tamis_number *list[MOST], *all[] = {number(from), number(to), number(quantile), number(eps)};
    for (size_t i = 0; i < n; i++) assert_int_equal(tmi_number_ratio(&list[i], x[i], 1, NULL), TAMIS_OK);
    assert_int_equal(tamis_histogram_law(p, counts, (const tamis_number *const *)list, n, all[0], all[1], steps, all[2], noise,
                                         all[3], NULL),
                     TAMIS_OK);
    for (size_t i = 0; i < n; i++) tamis_number_free(list[i]);
    for (size_t i = 0; i < 4; i++) tamis_number_free(all[i]);
}

/* All data of three records on the points 0, ..., 4, all their neighbours, three deciles, both noises. */
static void histogram_loses_at_most_eps(void **state)
{
    enum { N = 3, POINTS = 5, ALL = POINTS * POINTS * POINTS, STEPS = 4 };
    static tamis_bound laws[ALL][STEPS + 1];
    static const char *const quantiles[] = {"1/10", "1/2", "9/10"};
    (void)state;
    for (int c = 0; c < 6; c++) {
        double worst = 0;
        for (int i = 0; i < ALL; i++) {
            const int x[N] = {i % POINTS, i / POINTS % POINTS, i / (POINTS * POINTS)};
            histogram_of(laws[i], NULL, x, N, "0", "4", STEPS, quantiles[c % 3], (tamis_threshold_noise)(c / 3), "2");
        }
        for (int i = 0; i < ALL; i++)
            for (int j = i - i % POINTS; j < i; j++)
                worst = fmax(worst, loss_between(laws[i], laws[j], STEPS + 1)); /* first record */
        assert_true(worst <= 2 && worst > 0.8);
    }
}

static void histogram_counts_below_the_cuts(void **state)
{
    static const int x[] = {10, 12, 15, 20, 9, 25};
    int64_t counts[5];
    tamis_bound p[6];
    (void)state;
    histogram_of(p, counts, x, 6, "10", "20", 5, "1/2", TAMIS_THRESHOLD_CLASSIC, "1");
    const int64_t expected[] = {2, 3, 4, 4, 4}; /* below 12, 14, 16, 18, 20 */
    assert_memory_equal(counts, expected, sizeof expected);
}

/* ---- inverse sensitivity ---- */

static void grid_law(tamis_bound *p, int64_t *lengths, const int64_t *x, size_t n, int64_t rank, int64_t hi, const char *eps)
{
    tamis_number *e = number(eps);
    assert_int_equal(tamis_inverse_grid_law(p, lengths, x, n, rank, 0, hi, e, NULL), TAMIS_OK);
    tamis_number_free(e);
}

static int64_t power_of(int64_t base, size_t n) { return n == 0 ? 1 : base * power_of(base, n - 1); }

static void digits_of(int64_t *x, int64_t code, int64_t base, size_t n)
{
    for (size_t i = 0; i < n; i++, code /= base) x[i] = code % base;
}

static int by_size(const void *x, const void *y)
{
    const int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
    return a < b ? -1 : a > b;
}

/* The definition: the fewest records in which some data with that order statistic differ. */
static void lengths_are_those_of_the_definition(void **state)
{
    enum { N = 3, POINTS = 4 };
    (void)state;
    for (int64_t code = 0; code < power_of(POINTS, N); code++) {
        int64_t x[N], y[N], sorted[N], lengths[POINTS];
        tamis_bound p[POINTS];
        digits_of(x, code, POINTS, N);
        for (int64_t rank = 1; rank <= N; rank++) {
            int64_t least[POINTS] = {99, 99, 99, 99};
            for (int64_t other = 0; other < power_of(POINTS, N); other++) {
                int64_t distance = 0;
                digits_of(y, other, POINTS, N);
                for (int i = 0; i < N; i++) distance += x[i] != y[i];
                memcpy(sorted, y, sizeof y);
                qsort(sorted, N, sizeof *sorted, by_size);
                int64_t *here = &least[sorted[rank - 1]];
                *here = distance < *here ? distance : *here;
            }
            grid_law(p, lengths, x, N, rank, POINTS - 1, "1");
            assert_memory_equal(lengths, least, sizeof lengths);
        }
    }
}

static void inverse_sensitivity_loses_at_most_eps(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof grid_values / sizeof *grid_values; c++) {
        const size_t n = grid_values[c].n;
        const int64_t points = grid_values[c].points, all = power_of(points, n);
        tamis_bound(*laws)[8] = calloc((size_t)all, sizeof *laws);
        double worst = 0;
        for (int64_t code = 0; code < all; code++) {
            int64_t x[8], lengths[8];
            digits_of(x, code, points, n);
            grid_law(laws[code], lengths, x, n, grid_values[c].rank, points - 1, grid_values[c].eps);
        }
        for (int64_t code = 0; code < all; code++)
            for (int64_t other = code - code % points; other < code; other++)
                worst = fmax(worst, loss_between(laws[code], laws[other], (size_t)points));
        assert_true(fabs(worst - grid_values[c].loss) <= 1e-11);
        assert_true(worst <= strtod(grid_values[c].eps, NULL));
        free(laws);
    }
}

/* One record leaves the left end for the right: the few points on the left become longer, the many on the right shorter. */
static void inverse_sensitivity_comes_near_eps(void **state)
{
    enum { HI = 20000 };
    const int64_t x[] = {0, 10, 10}, y[] = {HI, 10, 10};
    tamis_bound *p = calloc(HI + 1, sizeof *p), *q = calloc(HI + 1, sizeof *q);
    int64_t *lengths = calloc(HI + 1, sizeof *lengths);
    (void)state;
    grid_law(p, lengths, x, 3, 2, HI, "1");
    grid_law(q, lengths, y, 3, 2, HI, "1");
    const double loss = loss_between(p, q, HI + 1);
    assert_true(loss <= 1 && loss > 0.99);
    free(p);
    free(q);
    free(lengths);
}

/* The interval: neighbours' constants differ by a factor e^(eps/2) at most, and so do the unnormalised densities. */
static void the_smooth_form_loses_at_most_eps(void **state)
{
    static const char *const grid[] = {"0", "1/3", "2", "5", "6"};
    tamis_number *values[5], *lo = number("0"), *hi = number("6"), *eps = number("3/2"), *at[25];
    static const char *const radii[] = {"0", "1/10", "1"};
    (void)state;
    for (size_t i = 0; i < 5; i++) values[i] = number(grid[i]);
    for (int i = 0; i < 25; i++) assert_int_equal(tmi_number_ratio(&at[i], i, 4, NULL), TAMIS_OK);
    for (size_t r = 0; r < 3; r++) {
        tamis_number *rho = number(radii[r]);
        static tamis_bound cdfs[125][25];
        double worst = 0;
        for (int i = 0; i < 125; i++) {
            const tamis_number *x[] = {values[i % 5], values[i / 5 % 5], values[i / 25]};
            tamis_inverse_moments moments;
            assert_int_equal(tamis_inverse_law(&moments, cdfs[i], x, 3, 2, lo, hi, rho, eps, (const tamis_number *const *)at, 25,
                                               NULL),
                             TAMIS_OK);
            assert_true(moments.mean.lower >= 0 && moments.mean.upper <= 6 + 1e-12);
            assert_true(moments.second_moment.upper >= moments.mean.lower * moments.mean.lower);
        }
        for (int i = 0; i < 125; i++)
            for (int j = i - i % 5; j < i; j++)
                for (int k = 1; k < 25; k++) {
                    const double a = cdfs[i][k].upper - cdfs[i][k - 1].lower, b = cdfs[j][k].upper - cdfs[j][k - 1].lower;
                    worst = fmax(worst, fabs(log(a / b)));
                }
        assert_true(worst <= 1.5 * (1 + 1e-12) && worst > 0.7);
        tamis_number_free(rho);
    }
    for (size_t i = 0; i < 5; i++) tamis_number_free(values[i]);
    for (int i = 0; i < 25; i++) tamis_number_free(at[i]);
    tamis_number_free(lo);
    tamis_number_free(hi);
    tamis_number_free(eps);
}

/* ---- bad input ---- */

#define INVALID(call) assert_int_equal((call), TAMIS_INVALID)

static void refuses_bad_input(void **state)
{
    tamis_number *zero = number("0"), *half = number("1/2"), *one = number("1"), *two = number("2"), *less = number("-1"), *a, *b;
    const tamis_number *list[] = {one, half}, *hole[] = {one, NULL};
    const int64_t integers[] = {1, 2};
    tamis_bound p[4];
    tamis_inverse_moments m;
    int64_t lengths[4], n;
    double eps;
    tamis_error err;
    (void)state;
    INVALID(tamis_threshold_law(NULL, list, 2, zero, one, one, &err));
    INVALID(tamis_threshold_law(p, list, 0, zero, one, one, &err));
    INVALID(tamis_threshold_law(p, hole, 2, zero, one, one, &err));
    INVALID(tamis_threshold_law(p, list, 2, NULL, one, one, &err));
    INVALID(tamis_threshold_law(p, list, 2, zero, zero, one, &err));
    INVALID(tamis_threshold_law(p, list, 2, zero, one, less, &err));
    assert_true(p[2].lower == 0 && p[2].upper == 1);
    INVALID(tamis_threshold_law(p, list, TAMIS_MAX_QUERIES + 1, zero, one, one, &err));
    INVALID(tamis_threshold_scales(&a, &b, TAMIS_THRESHOLD_CLASSIC, zero, &err));
    INVALID(tamis_histogram_law(p, NULL, list, 0, zero, one, 2, half, TAMIS_THRESHOLD_CLASSIC, one, &err));
    INVALID(tamis_histogram_law(p, NULL, list, 2, one, one, 2, half, TAMIS_THRESHOLD_CLASSIC, one, &err));
    INVALID(tamis_histogram_law(p, NULL, list, 2, zero, one, 0, half, TAMIS_THRESHOLD_CLASSIC, one, &err));
    INVALID(tamis_histogram_law(p, NULL, list, 2, zero, one, 2, one, TAMIS_THRESHOLD_CLASSIC, one, &err));
    INVALID(tamis_histogram_law(p, NULL, list, 2, zero, one, 2, half, TAMIS_THRESHOLD_CLASSIC, NULL, &err));
    INVALID(tamis_threshold_accuracy(p, 0, half, TAMIS_THRESHOLD_CLASSIC, one, &err));
    INVALID(tamis_threshold_accuracy(p, 2, one, TAMIS_THRESHOLD_CLASSIC, one, &err));
    INVALID(tamis_inverse_law(&m, NULL, list, 2, 1, one, one, zero, one, NULL, 0, &err));
    INVALID(tamis_inverse_law(&m, NULL, list, 2, 3, zero, one, zero, one, NULL, 0, &err));
    INVALID(tamis_inverse_law(&m, NULL, list, 2, 1, zero, half, zero, one, NULL, 0, &err));
    INVALID(tamis_inverse_law(&m, NULL, list, 2, 1, zero, one, less, one, NULL, 0, &err));
    INVALID(tamis_inverse_law(&m, NULL, list, 2, 1, zero, one, zero, less, NULL, 0, &err));
    assert_true(isinf(m.mean.upper));
    INVALID(tamis_inverse_law(&m, NULL, list, 2, 1, zero, one, zero, one, list, 2, &err));
    INVALID(tamis_inverse_grid_law(p, lengths, integers, 2, 1, 0, 1, one, &err)); /* 2 is outside */
    INVALID(tamis_inverse_grid_law(p, lengths, integers, 2, 0, 0, 3, one, &err));
    INVALID(tamis_inverse_grid_law(p, lengths, integers, 2, 1, 3, 0, one, &err));
    INVALID(tamis_inverse_grid_law(p, lengths, integers, 2, 1, INT64_MIN, INT64_MAX, one, &err));
    INVALID(tamis_inverse_grid_law(p, lengths, integers, 0, 1, 0, 3, one, &err));

    tamis_histogram_setup h = {
        .n = 100, .steps = 10, .from = zero, .to = one, .quantile = half, .eps = one, .beta = half, .gamma = two};
    INVALID(tamis_histogram_accuracy_uniform(p, &h, &err)); /* gamma beyond the range */
    INVALID(tamis_histogram_accuracy_normal(p, &h, &err));
    h.gamma = zero;
    INVALID(tamis_histogram_accuracy_uniform(p, &h, &err));
    h.gamma = NULL;
    INVALID(tamis_histogram_accuracy_uniform(p, &h, &err));
    tamis_inverse_setup s = {.n = 10, .eps = one, .rho = one, .u = one, .gamma = one, .length = one, .p_min = one};
    INVALID(tamis_inverse_accuracy(p, &s, &err)); /* u above gamma/4 */
    s.u = NULL;
    INVALID(tamis_inverse_accuracy_n(&n, &s, half, &err));
    INVALID(tamis_inverse_accuracy_eps(&eps, &s, half, &err));
    assert_true(n == INT64_MAX && isinf(eps));
    tamis_number *all[] = {zero, half, one, two, less};
    for (size_t i = 0; i < 5; i++) tamis_number_free(all[i]);
}

static void survives_missing_memory(void **state)
{
    tamis_number *zero = number("0"), *half = number("1/2"), *one = number("1");
    const tamis_number *list[] = {one, half};
    const int64_t integers[] = {1, 2};
    tamis_bound p[4];
    tamis_inverse_moments m;
    int64_t lengths[4];
    (void)state;
    EVERY_ALLOCATION_FAILS(tamis_threshold_law(p, list, 2, zero, one, half, NULL),
                           assert_true(p[0].lower == 0 && p[0].upper == 1));
    EVERY_ALLOCATION_FAILS(tamis_histogram_law(p, lengths, list, 2, zero, one, 2, half, TAMIS_THRESHOLD_MONOTONE, one, NULL),
                           assert_true(p[0].upper == 1 && lengths[1] == 0));
    EVERY_ALLOCATION_FAILS(tamis_inverse_law(&m, p, list, 2, 1, zero, one, zero, one, list, 2, NULL),
                           assert_true(p[1].upper == 1));
    EVERY_ALLOCATION_FAILS(tamis_inverse_grid_law(p, lengths, integers, 2, 1, 0, 3, one, NULL), assert_true(p[3].upper == 1));
    tamis_number_free(zero);
    tamis_number_free(half);
    tamis_number_free(one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_quadrature),
        cmocka_unit_test(agrees_with_reference_pairs),
        cmocka_unit_test(no_neighbour_loses_more_than_eps),
        cmocka_unit_test(twenty_queries_use_all_of_eps),
        cmocka_unit_test(histogram_loses_at_most_eps),
        cmocka_unit_test(histogram_counts_below_the_cuts),
        cmocka_unit_test(lengths_are_those_of_the_definition),
        cmocka_unit_test(inverse_sensitivity_loses_at_most_eps),
        cmocka_unit_test(inverse_sensitivity_comes_near_eps),
        cmocka_unit_test(the_smooth_form_loses_at_most_eps),
        cmocka_unit_test(refuses_bad_input),
        cmocka_unit_test(survives_missing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
