#include "tests/test.h"

#include <string.h>

#include "num/number.h"
#include "tests/base/memory_that_fails.h"

/* ---- the definition: all pairs, in doubles ---- */

static int by_size(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return a < b ? -1 : a > b;
}

static double brute(const double *values, size_t n, size_t m, double lo, double hi, double beta)
{
    double *x = calloc(n + 2, sizeof *x), best = 0;
    x[0] = lo;
    x[n + 1] = hi;
    for (size_t i = 0; i < n; i++) x[i + 1] = fmin(fmax(values[i], lo), hi);
    qsort(x, n + 2, sizeof *x, by_size);
    for (size_t i = 0; i <= m; i++)
        for (size_t j = m; j <= n + 1; j++)
            if (i < j) best = fmax(best, (x[j] - x[i]) * exp(-beta * (double)(j - i - 1)));
    free(x);
    return best;
}

static tamis_bound certified(const double *values, size_t n, size_t m, double lo, double hi, double beta)
{
    tamis_number **list = calloc(n, sizeof *list), *ends[3];
    tamis_bound s = {0, 0};
    for (size_t i = 0; i < n; i++) assert_int_equal(tmi_number_double(&list[i], values[i], NULL), TAMIS_OK);
    const double three[] = {lo, hi, beta};
    for (size_t i = 0; i < 3; i++) assert_int_equal(tmi_number_double(&ends[i], three[i], NULL), TAMIS_OK);
    assert_int_equal(tamis_smooth_sensitivity(&s, (const tamis_number *const *)list, n, (int64_t)m, ends[0], ends[1], ends[2],
                                              NULL),
                     TAMIS_OK);
    for (size_t i = 0; i < n; i++) tamis_number_free(list[i]);
    for (size_t i = 0; i < 3; i++) tamis_number_free(ends[i]);
    free(list);
    return s;
}

static double fast(const double *values, size_t n, size_t m, double lo, double hi, double beta)
{
    double s = 0;
    assert_int_equal(tamis_smooth_sensitivity_up(&s, values, n, (int64_t)m, lo, hi, beta, NULL), TAMIS_OK);
    return s;
}

static double uniform(uint64_t *stream) { return (double)(next_word(stream) >> 11) * 0x1p-53; }

/* Kinds of data: spread out, heaped, at the ends, skewed, all equal. */
static double draw_value(uint64_t *stream, int kind)
{
    const double u = uniform(stream);
    switch (kind) {
    case 0: return 1000 * u;
    case 1: return 100 * floor(4 * u);
    case 2: return u < 0.5 ? 0 : 1000;
    case 3: return fmin(-20 * log(1 - u), 1000);
    default: return 500;
    }
}

static void three_roads_agree(void **state)
{
    static const size_t sizes[] = {1, 2, 3, 7, 20, 53, 120};
    static const double betas[] = {0, 1e-6, 0.004718, 0.0345, 0.2, 1.5, 40};
    uint64_t stream = 15;
    (void)state;
    for (size_t i = 0; i < 7 * 7 * 5; i++) {
        double values[120];
        const size_t n = sizes[i % 7], m = 1 + next_word(&stream) % n;
        const double beta = betas[i / 7 % 7];
        for (size_t k = 0; k < n; k++) values[k] = draw_value(&stream, (int)(i / 49));
        const double expected = brute(values, n, m, 0, 1000, beta);
        const tamis_bound s = certified(values, n, m, 0, 1000, beta);
        assert_true(s.lower <= expected * (1 + 1e-13) && expected * (1 - 1e-13) <= s.upper);
        assert_true(s.upper - s.lower <= 1e-12 * s.upper + 1e-300);
        const double above = fast(values, n, m, 0, 1000, beta);
        assert_true(above >= s.lower);
        assert_true(above <= s.upper * (1 + 1e-12) + 1000e-16);
    }
}

/* Large data take other paths: pivots, values that many records share, a reach that grows. Only the order statistics near the
 * rank matter: those within W of it, taken as data of their own, differ by at most 1000 e^(-beta W) = 4e-15. */
static void large_data_agree(void **state)
{
    enum { N = 100000, W = 800 };
    static const size_t ranks[] = {1, 5000, N / 2, N * 3 / 4, N};
    double *values = calloc(N, sizeof *values), *sorted = calloc(N, sizeof *sorted);
    uint64_t stream = 16;
    (void)state;
    for (int kind = 0; kind < 5; kind++) {
        for (size_t k = 0; k < N; k++) values[k] = draw_value(&stream, kind);
        memcpy(sorted, values, N * sizeof *values);
        qsort(sorted, N, sizeof *sorted, by_size);
        for (size_t r = 0; r < 5; r++) {
            const size_t m = ranks[r], first = m > W ? m - W : 1, last = m + W < N ? m + W : N;
            const double s = fast(values, N, m, 0, 1000, 0.05);
            const double expected = brute(sorted + first - 1, last + 1 - first, m + 1 - first, 0, 1000, 0.05);
            assert_true(s >= expected * (1 - 1e-13) - 5e-15);
            assert_true(s <= expected * (1 + 1e-12) + 1e-13);
            assert_true(fast(values, N, m, 0, 1000, 1e-3) == fast(sorted, N, m, 0, 1000, 1e-3));
        }
    }
    free(values);
    free(sorted);
}

/* S is smooth: neighbours differ by a factor e^beta at most, and their answers by S at most. */
static void neighbours_are_close(void **state)
{
    static const double grid[] = {0, 1, 2.5, 7, 8};
    const double beta = 0.35;
    (void)state;
    for (size_t m = 1; m <= 3; m++)
        for (size_t i = 0; i < 125; i++) {
            double x[3] = {grid[i % 5], grid[i / 5 % 5], grid[i / 25]}, sorted[3], others[3];
            memcpy(sorted, x, sizeof x);
            qsort(sorted, 3, sizeof *sorted, by_size);
            const tamis_bound s = certified(x, 3, m, 0, 8, beta);
            for (size_t k = 0; k < 5; k++) {
                double y[3] = {grid[k], x[1], x[2]};
                memcpy(others, y, sizeof y);
                qsort(others, 3, sizeof *others, by_size);
                const tamis_bound t = certified(y, 3, m, 0, 8, beta);
                assert_true(t.lower <= exp(beta) * s.upper * (1 + 1e-15) && s.lower <= exp(beta) * t.upper * (1 + 1e-15));
                assert_true(fabs(sorted[m - 1] - others[m - 1]) <= fmin(s.upper, t.upper));
            }
        }
}

/* The printed formula leaves out order statistics that do not exist: (0, 0, 0) then needs no noise, its neighbour some. */
static void the_ends_of_the_range_count(void **state)
{
    const double zeros[] = {0, 0, 0}, one[] = {10, 0, 0};
    (void)state;
    const tamis_bound s = certified(zeros, 3, 2, 0, 10, 0.1), t = certified(one, 3, 2, 0, 10, 0.1);
    assert_true(s.lower > 9 && t.lower > 9 && s.lower >= t.lower * exp(-0.1));
    assert_true(fast(zeros, 3, 2, 0, 10, 0.1) >= s.lower);
}

static void values_outside_count_as_the_ends(void **state)
{
    const double wild[] = {-INFINITY, 3, NAN, 1e300}, tame[] = {0, 3, 10, 10};
    (void)state;
    for (size_t m = 1; m <= 4; m++) assert_true(fast(wild, 4, m, 0, 10, 0.2) == fast(tame, 4, m, 0, 10, 0.2));
    const double same[] = {5, 5};
    assert_true(fast(same, 2, 1, 5, 5, 0.2) == 0);
    const tamis_bound none = certified(same, 2, 1, 5, 5, 0.2);
    assert_true(none.lower == 0 && none.upper == 0);
}

static void local_sensitivity_is_the_larger_gap(void **state)
{
    tamis_number *x[] = {number("7"), number("1"), number("3")}, *lo = number("0"), *hi = number("10");
    static const double expected[] = {2, 4, 4};
    tamis_bound s;
    (void)state;
    for (int64_t m = 1; m <= 3; m++) {
        assert_int_equal(tamis_local_sensitivity(&s, (const tamis_number *const *)x, 3, m, lo, hi, NULL), TAMIS_OK);
        assert_true(s.lower == expected[m - 1] && s.upper == expected[m - 1]);
    }
    for (size_t i = 0; i < 3; i++) tamis_number_free(x[i]);
    tamis_number_free(lo);
    tamis_number_free(hi);
}

static void refuses_bad_input(void **state)
{
    const double x[] = {1, 2};
    tamis_error err;
    double s;
    (void)state;
    static const struct {
        size_t n;
        int64_t rank;
        double lo, hi, beta;
        const char *names;
    } cases[] = {
        {0, 1, 0, 1, 1, "n:"},           {2, 0, 0, 1, 1, "rank:"},       {2, 3, 0, 1, 1, "rank:"},
        {2, -1, 0, 1, 1, "rank:"},       {2, 1, -INFINITY, 1, 1, "lo:"}, {2, 1, 0, INFINITY, 1, "hi:"},
        {2, 1, 0, NAN, 1, "hi:"},        {2, 1, NAN, 1, 1, "lo:"},       {2, 1, 1, 0, 1, "hi:"},
        {2, 1, -1e308, 1e308, 1, "hi:"}, {2, 1, 0, 1, -1e-9, "beta:"},   {2, 1, 0, 1, INFINITY, "beta:"},
        {2, 1, 0, 1, NAN, "beta:"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        s = 7;
        assert_int_equal(tamis_smooth_sensitivity_up(&s, x, cases[i].n, cases[i].rank, cases[i].lo, cases[i].hi, cases[i].beta,
                                                     &err),
                         TAMIS_INVALID);
        assert_int_equal(strncmp(err.message, cases[i].names, strlen(cases[i].names)), 0);
        assert_true(isinf(s));
    }
    assert_int_equal(tamis_smooth_sensitivity_up(&s, NULL, 2, 1, 0, 1, 1, &err), TAMIS_INVALID);
    assert_int_equal(tamis_smooth_sensitivity_up(NULL, x, 2, 1, 0, 1, 1, &err), TAMIS_INVALID);

    tamis_number *one = number("1"), *two = number("2"), *less = number("-1");
    const tamis_number *list[] = {one, two};
    tamis_bound b;
    assert_int_equal(tamis_smooth_sensitivity(&b, list, 2, 1, one, one, one, &err), TAMIS_INVALID); /* 2 is outside */
    assert_true(b.lower == 0 && isinf(b.upper));
    assert_int_equal(tamis_smooth_sensitivity(&b, list, 2, 1, two, one, one, &err), TAMIS_INVALID);
    assert_int_equal(tamis_smooth_sensitivity(&b, list, 2, 1, one, two, less, &err), TAMIS_INVALID);
    assert_int_equal(tamis_smooth_sensitivity(&b, list, 2, 3, one, two, one, &err), TAMIS_INVALID);
    assert_int_equal(tamis_smooth_sensitivity(&b, list, 0, 1, one, two, one, &err), TAMIS_INVALID);
    assert_int_equal(tamis_smooth_sensitivity(&b, list, 2, 1, NULL, two, one, &err), TAMIS_INVALID);
    assert_int_equal(tamis_smooth_sensitivity(&b, list, 2, 1, one, two, NULL, &err), TAMIS_INVALID);
    assert_int_equal(tamis_local_sensitivity(&b, NULL, 2, 1, one, two, &err), TAMIS_INVALID);
    tamis_number_free(one);
    tamis_number_free(two);
    tamis_number_free(less);
}

static void survives_missing_memory(void **state)
{
    tamis_number *one = number("1"), *two = number("2");
    const tamis_number *list[] = {one, two};
    const double x[] = {1, 2};
    tamis_bound b;
    double s;
    (void)state;
    EVERY_ALLOCATION_FAILS(tamis_smooth_sensitivity(&b, list, 2, 1, one, two, one, NULL), assert_true(isinf(b.upper)));
    EVERY_ALLOCATION_FAILS(tamis_smooth_sensitivity_up(&s, x, 2, 1, 1, 2, 1, NULL), assert_true(isinf(s)));
    tamis_number_free(one);
    tamis_number_free(two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_roads_agree),
        cmocka_unit_test(large_data_agree),
        cmocka_unit_test(neighbours_are_close),
        cmocka_unit_test(the_ends_of_the_range_count),
        cmocka_unit_test(values_outside_count_as_the_ends),
        cmocka_unit_test(local_sensitivity_is_the_larger_gap),
        cmocka_unit_test(refuses_bad_input),
        cmocka_unit_test(survives_missing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
