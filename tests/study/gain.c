#include "tests/test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/base/memory_that_fails.h"
#include "tests/num/enclosure.h"
#include "tests/study/enumerated.h"

static tamis_mean_gain mean_gain(int64_t N, int64_t n, const char *eps, const char *R, const char *S2)
{
    tamis_number *x[] = {number(eps), number(R), number(S2)};
    tamis_mean_gain gain;
    assert_int_equal(tamis_study_mean(&gain, N, n, x[0], x[1], x[2], NULL), TAMIS_OK);
    for (size_t i = 0; i < 3; i++) tamis_number_free(x[i]);
    return gain;
}

static tamis_bound rate(const char *eps, const char *q)
{
    tamis_number *x[] = {number(eps), number(q)};
    tamis_bound f;
    assert_int_equal(tamis_study_rate(&f, x[0], x[1], NULL), TAMIS_OK);
    for (size_t i = 0; i < 2; i++) tamis_number_free(x[i]);
    assert_true(0 <= f.lower && f.lower <= f.upper && f.upper <= 1);
    return f;
}

static tamis_bound variance(const char *eps, const char *f, const char *sensitivity)
{
    tamis_number *x[] = {number(eps), number(f), number(sensitivity)};
    tamis_bound value;
    assert_int_equal(tamis_study_max_sampling_variance(&value, x[0], x[1], x[2], NULL), TAMIS_OK);
    for (size_t i = 0; i < 3; i++) tamis_number_free(x[i]);
    assert_true(0 <= value.lower && value.lower <= value.upper);
    return value;
}

static bool is_point(tamis_bound b, double x) { return b.lower == x && b.upper == x; }

/* Sampling error and noise of the mean of a small population, by listing every sample. */
static void variance_agrees_with_all_samples(void **state)
{
    static const int x[] = {7, 2, 9, 4, 4, 10, 1};
    enum { N = sizeof x / sizeof *x };
    double total = 0, squares = 0;
    char S2[32];
    (void)state;
    for (int i = 0; i < N; i++) total += x[i];
    for (int i = 0; i < N; i++) squares += (x[i] - total / N) * (x[i] - total / N);
    snprintf(S2, sizeof S2, "%.17g", squares / (N - 1));
    for (int n = 1; n <= N; n++) {
        double samples = 0, sum = 0;
        for (unsigned sample = 0; sample < 1u << N; sample++) {
            if (__builtin_popcount(sample) != n) continue;
            double mean = 0;
            for (int i = 0; i < N; i++) mean += sample >> i & 1 ? (double)x[i] / n : 0;
            sum += (mean - total / N) * (mean - total / N);
            samples++;
        }
        tamis_mean_gain gain = mean_gain(N, n, "0.7", "10", S2);
        double scale = 10 / (gain.eps_n.lower * n);
        assert_true(fabs(gain.sample_variance.upper - (sum / samples + 2 * scale * scale)) < 1e-12 * gain.sample_variance.upper);
        assert_true(fabs(gain.census_variance.upper - 2 * pow(10 / (0.7 * N), 2)) < 1e-14);
    }
}

/* The same for reference values: the sampling variance by listing every sample, in integers, and both whole variances. */
static void variances_agree_with_reference_values(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof enumerated / sizeof *enumerated; i++) {
        const struct enumerated *c = &enumerated[i];
        const int N = c->count, n = c->n;
        int64_t total = 0, squares = 0, sum = 0, samples = 0;
        char S2[64];
        for (int k = 0; k < N; k++) total += c->x[k], squares += c->x[k] * c->x[k];
        for (unsigned set = 0; set < 1u << N; set++) {
            int64_t of_set = 0;
            if (__builtin_popcount(set) != n) continue;
            for (int k = 0; k < N; k++) of_set += set >> k & 1 ? c->x[k] : 0;
            sum += (N * of_set - n * total) * (N * of_set - n * total); /* the error of the mean times 20 N n, squared */
            samples++;
        }
        int64_t p = 0, q = 1;
        const int parts = sscanf(c->sampling, "%" SCNd64 "/%" SCNd64, &p, &q);
        assert_true(parts >= 1 && sum * q == p * 400 * N * N * n * n * samples);
        snprintf(S2, sizeof S2, "%lld/%lld", (long long)(N * squares - total * total), 400LL * N * (N > 1 ? N - 1 : 1));
        const tamis_mean_gain g = mean_gain(N, n, c->eps, c->R, S2);
        const double V_n = strtod(c->V_n, NULL), V_N = strtod(c->V_N, NULL);
        assert_true(is_narrow(g.sample_variance) && fabs(g.sample_variance.lower / V_n - 1) < 1e-14);
        assert_true(is_narrow(g.census_variance) && fabs(g.census_variance.lower / V_N - 1) < 1e-14);
    }
}

/* The fields agree with each other where doubles can tell. */
static void fields_agree(void **state)
{
    static const char *const eps[] = {"0.01", "0.1", "1", "5", "40"};
    (void)state;
    for (size_t i = 0; i < 5; i++) {
        for (int64_t n = 1; n <= 20; n++) {
            double e = strtod(eps[i], NULL), f = (double)n / 20;
            tamis_mean_gain g = mean_gain(20, n, eps[i], "3", "2");
            assert_true(is_narrow(g.eps_n) && is_narrow(g.r) && is_narrow(g.one_minus_r) && is_narrow(g.q) &&
                        is_narrow(g.census_variance) && is_narrow(g.sample_variance));
            assert_true(fabs(g.eps_n.lower - log1p(expm1(e) / f)) < 1e-13 * g.eps_n.lower);
            assert_true(fabs(g.r.lower - pow(f * g.eps_n.lower / e, 2)) < 1e-13);
            assert_true(fabs(g.one_minus_r.lower - (1 - g.r.lower)) < 1e-13);
            assert_true(fabs(g.q.lower - (1 - pow(e / g.eps_n.lower, 2))) < 1e-13);
            /* sampling variance at which the sample is as good as the census, for a sensitivity of 3 */
            char share[32];
            snprintf(share, sizeof share, "%d/20", (int)n);
            assert_true(fabs(variance(eps[i], share, "3").lower - 18 / (e * e) * g.q.lower) < 1e-12 * 18 / (e * e));
            /* and the rate gives back the share that it saves */
            char q[64];
            snprintf(q, sizeof q, "%.17g", g.q.lower);
            assert_true(fabs(rate(eps[i], q).lower - f) < 1e-9);
        }
    }
}

/* A sample is never less noisy than the census for the mean, however small eps is; in doubles the difference drowns. */
static void the_ratio_stays_below_one(void **state)
{
    static const char *const eps[] = {"1e-1000", "1e-250", "1e-30", "1e-12", "1.66e-6", "0.001", "1", "700", "1e6"};
    static const struct {
        int64_t N, n;
    } designs[] = {{2, 1}, {10000, 1}, {1000000000000, 1}, {1000000000000, 999999999999}, {INT64_MAX, INT64_MAX - 1}};
    (void)state;
    for (size_t i = 0; i < sizeof eps / sizeof *eps; i++) {
        for (size_t j = 0; j < sizeof designs / sizeof *designs; j++) {
            tamis_mean_gain g = mean_gain(designs[j].N, designs[j].n, eps[i], "1", "0");
            assert_true(i == 0 || g.one_minus_r.lower > 0); /* 1e-1000 is below all doubles */
            assert_true(g.r.upper <= 1 && g.one_minus_r.upper <= 1 && g.q.upper <= 1 && g.q.lower > 0);
            double odds = (double)(designs[j].N - designs[j].n) / (double)designs[j].n, e = strtod(eps[i], NULL);
            if (e > 0 && e * odds < 1e-9 && e < 1e-9) /* 1 - r is near eps (1/f - 1) */
                assert_true(fabs(g.one_minus_r.lower / (e * odds) - 1) < 1e-8);
        }
    }
}

static void exact_cases_come_out_exact(void **state)
{
    (void)state;
    tamis_mean_gain g = mean_gain(4, 4, "1/2", "2", "9");
    assert_true(is_point(g.eps_n, 0.5) && is_point(g.r, 1) && is_point(g.one_minus_r, 0) && is_point(g.q, 0));
    assert_true(is_point(g.census_variance, 2) && is_point(g.sample_variance, 2));
    g = mean_gain(4, 2, "1/2", "0", "0");
    assert_true(is_point(g.census_variance, 0) && is_point(g.sample_variance, 0));
    assert_true(is_point(rate("3", "0"), 1));
    assert_true(is_point(variance("1/3", "1", "5"), 0) && is_point(variance("1/3", "1/5", "0"), 0));
}

static void grows_as_it_should(void **state)
{
    static const char *const shares[] = {"0", "1e-12", "0.1", "0.5", "0.9", "0.9999", "0.99999"};
    (void)state;
    for (size_t i = 1; i < sizeof shares / sizeof *shares; i++) {
        assert_true(rate("1", shares[i]).upper < rate("1", shares[i - 1]).lower);
        assert_true(rate("0.1", shares[i]).lower >= rate("1", shares[i]).upper);
        if (i > 1) assert_true(variance("1", shares[i], "1").upper <= variance("1", shares[i - 1], "1").lower);
    }
}

static void stands_absurd_numbers(void **state)
{
    static const char *const sizes[] = {"1e-1000/1e1000", "1e-1000", "1e-300", "1", "1e300", "1e1000", "1e1000/1e-1000"};
    static const char *const shares[] = {"1e-1000", "1e-300", "1/2", "0.99999999999999999999999999999999999999999999"};
    (void)state;
    for (size_t i = 0; i < 7; i++) {
        for (size_t j = 0; j < 7; j++) {
            mean_gain(INT64_MAX, 1, sizes[i], sizes[j], sizes[6 - j]);
            mean_gain(3, 2, sizes[i], sizes[j], sizes[j]);
            for (size_t k = 0; k < 4; k++) variance(sizes[i], shares[k], sizes[j]);
        }
        for (size_t k = 0; k < 4; k++) rate(sizes[i], shares[k]);
    }
    tamis_mean_gain g = mean_gain(10, 1, "1e300", "1", "1");
    assert_true(fabs(g.q.upper - 2 * log(10) / 1e300) < 1e-310); /* eps_n = eps + log 10 */
}

static void refuses_bad_means(void **state)
{
    static const struct {
        int64_t N, n;
        const char *eps, *R, *S2, *names;
    } cases[] = {
        {0, 1, "1", "1", "1", "population:"}, {INT64_MIN, 1, "1", "1", "1", "population:"},
        {5, 0, "1", "1", "1", "sample:"},     {5, 6, "1", "1", "1", "sample:"},
        {5, 1, "0", "1", "1", "eps:"},        {5, 1, "-1", "1", "1", "eps:"},
        {5, 1, "1", "-1", "1", "R:"},         {5, 1, "1", "1", "-1e-1000", "S2:"},
        {5, 1, NULL, "1", "1", "eps:"},       {5, 1, "1", NULL, "1", "R:"},
        {5, 1, "1", "1", NULL, "S2:"},
    };
    tamis_error err;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis_number *eps = cases[i].eps ? number(cases[i].eps) : NULL, *R = cases[i].R ? number(cases[i].R) : NULL;
        tamis_number *S2 = cases[i].S2 ? number(cases[i].S2) : NULL;
        tamis_mean_gain g;
        assert_int_equal(tamis_study_mean(&g, cases[i].N, cases[i].n, eps, R, S2, &err), TAMIS_INVALID);
        assert_int_equal(strncmp(err.message, cases[i].names, strlen(cases[i].names)), 0);
        assert_true(g.eps_n.lower == 0 && g.eps_n.upper == INFINITY && g.r.upper == 1 && g.sample_variance.upper == INFINITY);
        assert_int_equal(tamis_study_mean(NULL, cases[i].N, cases[i].n, eps, R, S2, NULL), TAMIS_INVALID);
        tamis_number_free(eps);
        tamis_number_free(R);
        tamis_number_free(S2);
    }
}

static void refuses_bad_rates_and_variances(void **state)
{
    static const char *const bad_rates[][3] = {{"0", "0.5", "eps:"}, {"-1", "0.5", "eps:"}, {"1", "1", "q:"},
                                               {"1", "-0.1", "q:"},  {"1", "1e1000", "q:"}, {NULL, "0", "eps:"},
                                               {"1", NULL, "q:"}};
    static const char *const bad_variances[][4] = {{"0", "1", "1", "eps:"},          {"1", "0", "1", "f:"},
                                                   {"1", "-1", "1", "f:"},           {"1", "1.1", "1", "f:"},
                                                   {"1", "1", "-1", "sensitivity:"}, {NULL, "1", "1", "eps:"},
                                                   {"1", NULL, "1", "f:"},           {"1", "1", NULL, "sensitivity:"}};
    tamis_number *x[3];
    tamis_bound z;
    tamis_error err;
    (void)state;
    for (size_t i = 0; i < sizeof bad_rates / sizeof *bad_rates; i++) {
        for (size_t j = 0; j < 2; j++) x[j] = bad_rates[i][j] ? number(bad_rates[i][j]) : NULL;
        assert_int_equal(tamis_study_rate(&z, x[0], x[1], &err), TAMIS_INVALID);
        assert_int_equal(strncmp(err.message, bad_rates[i][2], strlen(bad_rates[i][2])), 0);
        assert_true(z.lower == 0 && z.upper == 1);
        assert_int_equal(tamis_study_rate(NULL, x[0], x[1], NULL), TAMIS_INVALID);
        for (size_t j = 0; j < 2; j++) tamis_number_free(x[j]);
    }
    for (size_t i = 0; i < sizeof bad_variances / sizeof *bad_variances; i++) {
        for (size_t j = 0; j < 3; j++) x[j] = bad_variances[i][j] ? number(bad_variances[i][j]) : NULL;
        assert_int_equal(tamis_study_max_sampling_variance(&z, x[0], x[1], x[2], &err), TAMIS_INVALID);
        assert_int_equal(strncmp(err.message, bad_variances[i][3], strlen(bad_variances[i][3])), 0);
        assert_true(z.lower == 0 && z.upper == INFINITY);
        assert_int_equal(tamis_study_max_sampling_variance(NULL, x[0], x[1], x[2], NULL), TAMIS_INVALID);
        for (size_t j = 0; j < 3; j++) tamis_number_free(x[j]);
    }
}

static void survives_missing_memory(void **state)
{
    tamis_number *one = number("1"), *half = number("1/2");
    tamis_bound z;
    (void)state;
    EVERY_ALLOCATION_FAILS(tamis_study_rate(&z, one, half, NULL), assert_true(z.lower == 0 && z.upper == 1));
    EVERY_ALLOCATION_FAILS(tamis_study_max_sampling_variance(&z, one, half, one, NULL),
                           assert_true(z.lower == 0 && z.upper == INFINITY));
    tamis_number_free(one);
    tamis_number_free(half);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variance_agrees_with_all_samples),
        cmocka_unit_test(variances_agree_with_reference_values),
        cmocka_unit_test(fields_agree),
        cmocka_unit_test(the_ratio_stays_below_one),
        cmocka_unit_test(exact_cases_come_out_exact),
        cmocka_unit_test(grows_as_it_should),
        cmocka_unit_test(stands_absurd_numbers),
        cmocka_unit_test(refuses_bad_means),
        cmocka_unit_test(refuses_bad_rates_and_variances),
        cmocka_unit_test(survives_missing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
