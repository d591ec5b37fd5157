/* Exact intervals of counts against sums over everything, for all K of small populations. */
#include "tests/test.h"

#include <math.h>
#include <stdlib.h>

#include "inference/interval/count.h"
#include "num/number.h"
#include "tests/base/memory_that_fails.h"

static double choose(int n, int k)
{
    double c = k < 0 || k > n ? 0 : 1;
    for (int i = 0; i < k && c > 0; i++) c = c * (n - i) / (i + 1);
    return c;
}

/* The law of the sample's count, written down. */
static double count_mass(const tmi_count_case *c, int ones, int k)
{
    int N = (int)c->population, n = (int)c->sample;
    double p = c->law == TMI_COUNT_RATE ? tmi_number_nearest(c->rate) : (double)ones / N;
    if (c->law == TMI_COUNT_SRS) return choose(ones, k) * choose(N - ones, n - k) / choose(N, n);
    if (c->law == TMI_COUNT_RATE) n = ones;
    return k > n ? 0 : choose(n, k) * pow(p, k) * pow(1 - p, n - k);
}

static void noise_masses(double masses[401], const tmi_count_case *c)
{
    double scale = c->scale ? tmi_number_nearest(c->scale) : 0, v = c->variance ? tmi_number_nearest(c->variance) : 0;
    const double unit = c->sd ? M_SQRT1_2 / tmi_number_nearest(c->sd) : 0; /* of a rounded normal number */
    double total = 0;
    for (int i = -200; i <= 200 && c->sd; i++)
        masses[i + 200] = i == 0 ? erf(0.5 * unit) : (erfc((abs(i) - 0.5) * unit) - erfc((abs(i) + 0.5) * unit)) / 2;
    if (c->sd) return;
    for (int i = -200; i <= 200; i++) total += masses[i + 200] = c->scale ? exp(-abs(i) / scale) : exp(-i * i / (2 * v));
    for (int i = 0; i <= 400; i++) masses[i] /= total;
}

/* The plausible K, one by one. */
static void brute(int64_t *lower, int64_t *upper, const tmi_count_case *c, int noisy)
{
    double half = (1 - tmi_number_nearest(c->confidence)) / 2, noise[401];
    int N = (int)c->population, most = c->law == TMI_COUNT_SRS || c->law == TMI_COUNT_REPLACED ? (int)c->sample : N;
    noise_masses(noise, c);
    *lower = N, *upper = 0;
    for (int K = 0; K <= N; K++) {
        double low = 0, high = 0;
        for (int k = 0; k <= most; k++) {
            double mass = count_mass(c, K, k);
            for (int i = -200; i <= 200; i++) {
                if (k + i <= noisy) low += mass * noise[i + 200];
                if (k + i >= noisy) high += mass * noise[i + 200];
            }
        }
        assert_true(fabs(low - half) > 1e-12 && fabs(high - half) > 1e-12);
        if (low > half && K > *upper) *upper = K;
        if (high > half && K < *lower) *lower = K;
    }
}

static void try_all(tmi_count_case c, int from, int to)
{
    for (int noisy = from; noisy <= to; noisy++)
        for (int certified = 0; certified < 2; certified++) {
            int64_t lower, upper, low, high;
            c.certified = certified;
            brute(&lower, &upper, &c, noisy);
            assert_int_equal(tmi_interval_count(&low, &high, &c, noisy, NULL), TAMIS_OK);
            assert_int_equal(low, lower);
            assert_int_equal(high, upper);
        }
}

static void small_populations_against_everything(void **state)
{
    (void)state;
    tamis_number *scales[] = {number("1/5"), number("1"), number("10/3"), number("7")};
    tamis_number *levels[] = {number("0.95"), number("0.5"), number("0.999")};
    static const int sizes[][2] = {{1, 1}, {7, 3}, {12, 12}, {20, 1}, {23, 9}};
    for (size_t s = 0; s < 4; s++)
        for (size_t l = 0; l < 3; l++)
            for (size_t i = 0; i < 5; i++)
                try_all((tmi_count_case){.law = TMI_COUNT_SRS,
                                         .population = sizes[i][0],
                                         .sample = sizes[i][1],
                                         .scale = scales[s],
                                         .confidence = levels[l]},
                        i == 4 ? -12 : -3, i == 4 ? 21 : sizes[i][1] + 3);
    for (size_t s = 0; s < 4; s++) tamis_number_free(scales[s]);
    for (size_t l = 0; l < 3; l++) tamis_number_free(levels[l]);
}

static void other_designs_and_gaussian_noise(void **state)
{
    (void)state;
    tamis_number *level = number("0.9"), *scale = number("3/2"), *rate = number("3/8"), *one = number("1");
    tamis_number *variances[] = {number("1/4"), number("7"), number("150")};
    try_all((tmi_count_case){.law = TMI_COUNT_RATE, .population = 30, .rate = rate, .scale = scale, .confidence = level}, -5, 15);
    try_all((tmi_count_case){.law = TMI_COUNT_RATE, .population = 9, .rate = one, .scale = scale, .confidence = level}, -3, 12);
    try_all((tmi_count_case){.law = TMI_COUNT_REPLACED, .population = 15, .sample = 20, .scale = scale, .confidence = level}, -4,
            25);
    for (size_t i = 0; i < 3; i++) {
        tmi_count_case c = {.law = TMI_COUNT_SRS, .population = 18, .sample = 7, .variance = variances[i], .confidence = level};
        try_all(c, -9, 16);
        c.law = TMI_COUNT_REPLACED;
        try_all(c, 2, 4);
        tamis_number_free(variances[i]);
    }
    tamis_number *sds[] = {number("1/3"), number("1"), number("5/2"), number("13")};
    for (size_t i = 0; i < 4; i++) {
        tmi_count_case c = {.law = TMI_COUNT_SRS, .population = 18, .sample = 7, .sd = sds[i], .confidence = level};
        try_all(c, -9, 16);
        c.law = TMI_COUNT_REPLACED;
        try_all(c, 2, 4);
        tamis_number_free(sds[i]);
    }
    tamis_number_free(level);
    tamis_number_free(scale);
    tamis_number_free(rate);
    tamis_number_free(one);
}

/* How often the interval covers, summed over all outcomes: for every K of a small population, and the table of
 * docs/intervals.md with the plain interval beside it. */
static double coverage(double *plain, int N, int n, const char *scale_text, int ones)
{
    tamis_number *level = number("0.95"), *scale = number(scale_text);
    tmi_count_case c = {.law = TMI_COUNT_SRS, .population = N, .sample = n, .scale = scale, .confidence = level};
    double b = tmi_number_nearest(scale), p = exp(-1 / b), covered = 0, w = (double)N / n;
    int far = (int)(12 * b) + 3;
    *plain = 0;
    for (int noisy = -far; noisy <= n + far; noisy++) {
        double chance = 0;
        for (int k = 0; k <= n; k++) chance += count_mass(&c, ones, k) * pow(p, abs(noisy - k)) * (1 - p) / (1 + p);
        int64_t low, high;
        assert_int_equal(tmi_interval_count(&low, &high, &c, noisy, NULL), TAMIS_OK);
        if (low <= ones && ones <= high) covered += chance;
        double share = fmin(fmax((double)noisy / n, 0), 1), counts = share * (1 - share) * n * n / (n - 1) * (N - n) / (N - 1);
        if (fabs(w * noisy - ones) <= 1.96 * w * sqrt(counts + 2 * p / ((1 - p) * (1 - p)))) *plain += chance;
    }
    tamis_number_free(level);
    tamis_number_free(scale);
    return covered;
}

static void the_stated_coverage_is_kept(void **state)
{
    (void)state;
    static const struct {
        int n;
        const char *scale;
        double exact[3], plain[3];
    } table[] = {{50, "5", {0.954, 0.951, 0.954}, {0.943, 0.940, 0.932}},
                 {50, "1", {0.958, 0.960, 0.964}, {0.946, 0.931, 0.932}},
                 {100, "2", {0.955, 0.968, 0.957}, {0.949, 0.942, 0.957}}};
    static const int ones[] = {8, 40, 200};
    double plain;
    for (int K = 0; K <= 40; K++) assert_true(coverage(&plain, 40, 12, "2", K) >= 0.95 - 1e-4); /* 1e-4 lies beyond `far` */
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 3; j++) {
            assert_true(fabs(coverage(&plain, 400, table[i].n, table[i].scale, ones[j]) - table[i].exact[j]) <= 0.00051);
            assert_true(fabs(plain - table[i].plain[j]) <= 0.00051);
        }
}

/* Both ends are where a certified tail of each side crosses, also where nothing can be listed. */
static void large_populations(void **state)
{
    (void)state;
    tamis_number *level = number("0.95"), *scale = number("2"), *wide = number("1e6");
    int64_t low, high, less, more;
    assert_int_equal(tamis_interval_count(&low, &high, 1000000000, 1000, 300, scale, level, NULL), TAMIS_OK);
    assert_true(low > 270000000 && low < 275000000 && high > 325000000 && high < 331000000);
    tmi_count_case c = {.law = TMI_COUNT_SRS, .population = 1000000000, .sample = 1000, .scale = scale, .confidence = level};
    assert_int_equal(tmi_interval_count(&less, &more, &c, 300, NULL), TAMIS_OK);
    assert_true(less == low && more == high);
    /* the noise alone: z = b log(1 / (2 * 0.025)) = 2995732 */
    assert_int_equal(tamis_interval_count(&low, &high, INT64_C(1) << 40, INT64_C(1) << 40, INT64_C(1) << 39, wide, level, NULL),
                     TAMIS_OK);
    assert_true(llabs((INT64_C(1) << 39) - low - 2995732) <= 1 && llabs(high - (INT64_C(1) << 39) - 2995732) <= 1);
    /* far outside of what is possible */
    assert_int_equal(tamis_interval_count(&low, &high, 1000, 10, -(INT64_C(1) << 62), scale, level, NULL), TAMIS_OK);
    assert_true(low == 0 && high == 0);
    assert_int_equal(tamis_interval_count(&low, &high, 1000, 10, INT64_C(1) << 62, scale, level, NULL), TAMIS_OK);
    assert_true(low == 1000 && high == 1000);
    tamis_number_free(level);
    tamis_number_free(scale);
    tamis_number_free(wide);
}

static void bad_questions_are_refused(void **state)
{
    (void)state;
    tamis_number *level = number("0.95"), *scale = number("2"), *zero = number("0"), *minus = number("-1"), *one = number("1");
    int64_t low = 5, high = 5;
    static const int64_t sizes[][2] = {{0, 1}, {-1, 1}, {10, 0}, {10, 11}, {10, -1}, {(INT64_C(1) << 40) + 1, 1}, {INT64_MAX, 1}};
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(tamis_interval_count(&low, &high, sizes[i][0], sizes[i][1], 1, scale, level, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_interval_count(&low, &high, 10, 5, INT64_MIN, scale, level, NULL), TAMIS_INVALID);
    assert_true(low == 0 && high == 10);
    assert_int_equal(tamis_interval_count(&low, &high, 10, 5, 1, zero, level, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_interval_count(&low, &high, 10, 5, 1, minus, level, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_interval_count(&low, &high, 10, 5, 1, NULL, level, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_interval_count(&low, &high, 10, 5, 1, scale, zero, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_interval_count(&low, &high, 10, 5, 1, scale, one, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_interval_count(&low, &high, 10, 5, 1, scale, NULL, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_interval_count(NULL, &high, 10, 5, 1, scale, level, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_interval_count(&low, NULL, 10, 5, 1, scale, level, NULL), TAMIS_INVALID);
    tmi_count_case c = {.law = TMI_COUNT_RATE, .population = 10, .rate = zero, .scale = scale, .confidence = level};
    assert_int_equal(tmi_interval_count(&low, &high, &c, 1, NULL), TAMIS_INVALID);
    tamis_error err;
    EVERY_ALLOCATION_FAILS(tamis_interval_count(&low, &high, 10, 5, 1, scale, level, &err),
                           { assert_true(low == 0 && high == 10); });
    c = (tmi_count_case){
        .law = TMI_COUNT_REPLACED, .population = 10, .sample = 4, .variance = scale, .confidence = level, .certified = true};
    EVERY_ALLOCATION_FAILS(tmi_interval_count(&low, &high, &c, 1, &err), { assert_true(low == 0 && high == 10); });
    tamis_number_free(level);
    tamis_number_free(scale);
    tamis_number_free(zero);
    tamis_number_free(minus);
    tamis_number_free(one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_populations_against_everything),
        cmocka_unit_test(other_designs_and_gaussian_noise),
        cmocka_unit_test(the_stated_coverage_is_kept),
        cmocka_unit_test(large_populations),
        cmocka_unit_test(bad_questions_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
