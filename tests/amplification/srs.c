#include "tests/test.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/base/memory_that_fails.h"
#include "tests/num/enclosure.h"

typedef tamis_status amplify(tamis_bound *, tamis_bound *, int64_t, int64_t, const tamis_number *, const tamis_number *,
                             tamis_error *);

typedef struct pair {
    tamis_bound eps, delta;
} pair;

static pair apply(amplify *f, int64_t N, int64_t n, const char *eps, const char *delta)
{
    tamis_number *e = number(eps), *d = number(delta);
    pair z;
    assert_int_equal(f(&z.eps, &z.delta, N, n, e, d, NULL), TAMIS_OK);
    assert_true(z.eps.lower >= 0 && z.eps.lower <= z.eps.upper);
    assert_true(z.delta.lower >= 0 && z.delta.lower <= z.delta.upper && z.delta.upper <= 1);
    tamis_number_free(e);
    tamis_number_free(d);
    return z;
}

static tamis_bound compose(int64_t N, int64_t n, const char *const *eps, size_t count)
{
    const tamis_number *list[8];
    tamis_bound z;
    for (size_t j = 0; j < count; j++) list[j] = number(eps[j]);
    assert_int_equal(tamis_compose_srs(&z, N, n, list, count, NULL), TAMIS_OK);
    for (size_t j = 0; j < count; j++) tamis_number_free((tamis_number *)(uintptr_t)list[j]);
    return z;
}

/* ---- brute force: all samples of all small 0/1 populations ---- */

enum { MOST = 6 }; /* people */

/* A mechanism on a sample of n answers 0 or 1; table[k] is the probability of 1 when the sample has k ones. */
typedef double table[MOST + 1];

/* P(answer 1) when the first t of N people have a one: every sample is listed. */
static double answer_one(const table mechanism, int N, int n, int t)
{
    double sum = 0, samples = 0;
    for (unsigned sample = 0; sample < 1u << N; sample++) {
        if (__builtin_popcount(sample) != n) continue;
        samples++;
        sum += mechanism[__builtin_popcount(sample & ((1u << t) - 1))];
    }
    return sum / samples;
}

/* The largest ratio, and the largest P - E Q, between neighbours among p[0..last], answers 0 and 1, both orders. */
static double worst_ratio(const double *p, int last)
{
    double worst = 1;
    for (int k = 0; k < last; k++) {
        worst = fmax(worst, fmax(p[k] / p[k + 1], p[k + 1] / p[k]));
        worst = fmax(worst, fmax((1 - p[k]) / (1 - p[k + 1]), (1 - p[k + 1]) / (1 - p[k])));
    }
    return worst;
}

static double worst_delta(const double *p, int last, double E)
{
    double worst = 0;
    for (int k = 0; k < last; k++) {
        worst = fmax(worst, fmax(p[k] - E * p[k + 1], p[k + 1] - E * p[k]));
        worst = fmax(worst, fmax(1 - p[k] - E * (1 - p[k + 1]), 1 - p[k + 1] - E * (1 - p[k])));
    }
    return worst;
}

/* Checks one mechanism against every claim; gives the share of eps_pop that is attained. */
static double check_mechanism(const table mechanism, int N, int n)
{
    double p[MOST + 1];
    char eps[64], delta[64];
    for (int t = 0; t <= N; t++) p[t] = answer_one(mechanism, N, n, t);
    double loss = log(worst_ratio(p, N));
    snprintf(eps, sizeof eps, "%.17g", log(worst_ratio(mechanism, n)) * (1 + 1e-14));
    pair pure = apply(tamis_amplify_srs, N, n, eps, "0");
    assert_true(loss <= pure.eps.upper + 1e-12);
    for (double E = 1; E < 4; E += 0.5) {
        snprintf(eps, sizeof eps, "%.17g", log(E));
        snprintf(delta, sizeof delta, "%.17g", worst_delta(mechanism, n, E));
        pair claim = apply(tamis_amplify_srs, N, n, eps, delta);
        assert_true(worst_delta(p, N, exp(claim.eps.lower)) <= claim.delta.upper + 1e-12);
    }
    return pure.eps.upper > 1e-9 ? loss / pure.eps.upper : 1;
}

static void no_small_mechanism_loses_more(void **state)
{
    (void)state;
    srand(1); /* any mechanisms will do: the claim is for all of them */
    for (int N = 1; N <= MOST; N++) {
        for (int n = 1; n <= N; n++) {
            table mechanism;
            for (int k = 0; k <= n; k++) mechanism[k] = k > 0 ? 0.75 : 0.25; /* randomized response: any ones? */
            assert_true(fabs(check_mechanism(mechanism, N, n) - 1) < 1e-9);  /* attains the bound */
            for (int trial = 0; trial < 20; trial++) {
                for (int k = 0; k <= n; k++) mechanism[k] = (1 + rand() % 98) / 100.0;
                check_mechanism(mechanism, N, n);
            }
        }
    }
}

/* Two randomized responses of one sample, together: the composed bound is attained, the naive sum is exceeded. */
static void composition_is_attained(void **state)
{
    static const char *const eps[] = {"1.0986122886681098", "2.3025850929940457"}; /* log 3, log 10 */
    (void)state;
    for (int N = 2; N <= MOST; N++) {
        for (int n = 1; n < N; n++) {
            double odds[] = {3, 10}, worst = 1, none[MOST + 1];
            table no_ones = {1};
            for (int t = 0; t <= N; t++) none[t] = answer_one(no_ones, N, n, t);
            for (int t = 0; t < N; t++) {
                for (int answers = 0; answers < 4; answers++) {
                    double with = 1, without = 1; /* P(answers | sample with, without a one) */
                    for (int j = 0; j < 2; j++) {
                        double truth = odds[j] / (1 + odds[j]);
                        with *= answers >> j & 1 ? truth : 1 - truth;
                        without *= answers >> j & 1 ? 1 - truth : truth;
                    }
                    double here = none[t] * without + (1 - none[t]) * with;
                    double next = none[t + 1] * without + (1 - none[t + 1]) * with;
                    worst = fmax(worst, fmax(here / next, next / here));
                }
            }
            tamis_bound right = compose(N, n, eps, 2);
            double naive = apply(tamis_amplify_srs, N, n, eps[0], "0").eps.upper +
                           apply(tamis_amplify_srs, N, n, eps[1], "0").eps.upper;
            assert_true(fabs(log(worst) - right.upper) < 1e-12);
            assert_true(log(worst) > naive + 1e-3);
        }
    }
}

/* ---- properties ---- */

static void there_and_back(void **state)
{
    static const struct {
        int64_t N, n;
    } designs[] = {{1, 1},
                   {2, 1},
                   {10, 9},
                   {6194, 200},
                   {1000000000000, 1},
                   {1000000000000, 999999999999},
                   {INT64_MAX, 1},
                   {INT64_MAX, INT64_MAX}};
    static const char *const eps[] = {"1e-300", "1e-12", "0.1", "1", "5", "99.9", "100", "100.1", "700", "1e6", "1e300"};
    (void)state;
    for (size_t i = 0; i < sizeof designs / sizeof *designs; i++) {
        double before = 0;
        for (size_t j = 0; j < sizeof eps / sizeof *eps; j++) {
            char text[TMI_DECIMAL];
            double target = strtod(eps[j], NULL);
            pair back = apply(tamis_amplify_srs_inverse, designs[i].N, designs[i].n, eps[j], "1e-30");
            assert_true(is_narrow(back.eps) && back.eps.upper >= target);
            tmi_decimal_down(text, back.eps.lower);
            pair there = apply(tamis_amplify_srs, designs[i].N, designs[i].n, text, "1e-30");
            assert_true(is_narrow(there.eps) && there.eps.lower <= target);
            assert_true(fabs(there.eps.upper - target) <= 1e-12 * target);
            pair forward = apply(tamis_amplify_srs, designs[i].N, designs[i].n, eps[j], "1e-30");
            assert_true(is_narrow(forward.eps) && forward.eps.lower <= target * (1 + 1e-15));
            assert_true(forward.eps.lower >= before); /* grows with eps */
            before = forward.eps.upper;
        }
    }
}

static void a_larger_sample_is_less_private(void **state)
{
    double before = 0;
    (void)state;
    for (int64_t n = 1; n <= 50; n++) {
        pair z = apply(tamis_amplify_srs, 50, n, "3/2", "1e-5");
        assert_true(z.eps.lower > before);
        before = z.eps.upper;
    }
    assert_true(before == 1.5);
}

static void exact_cases_come_out_exact(void **state)
{
    (void)state;
    pair z = apply(tamis_amplify_srs, 10, 3, "0", "1/4");
    assert_true(z.eps.lower == 0 && z.eps.upper == 0 && z.delta.lower <= 0.075 && z.delta.upper >= 0.075);
    z = apply(tamis_amplify_srs, 8, 8, "3/2", "1/4");
    assert_true(z.eps.lower == 1.5 && z.eps.upper == 1.5 && z.delta.lower == 0.25 && z.delta.upper == 0.25);
    z = apply(tamis_amplify_srs_inverse, 8, 8, "3/2", "1/4");
    assert_true(z.eps.lower == 1.5 && z.eps.upper == 1.5 && z.delta.lower == 0.25 && z.delta.upper == 0.25);
    z = apply(tamis_amplify_srs_inverse, 8, 2, "0", "1/2");
    assert_true(z.eps.lower == 0 && z.eps.upper == 0 && z.delta.lower == 1 && z.delta.upper == 1); /* not 2 */
    z = apply(tamis_amplify_srs_inverse, 8, 2, "0", "1/8");
    assert_true(z.delta.lower == 0.5 && z.delta.upper == 0.5);
    tamis_bound none = compose(8, 2, (const char *const[]){"0", "0"}, 2);
    assert_true(none.lower == 0 && none.upper == 0);
    tamis_bound all = compose(8, 8, (const char *const[]){"1/2", "1/4"}, 2);
    assert_true(all.lower == 0.75 && all.upper == 0.75);
}

/* The formula changes its form at eps = 50; 42 digits from another program on both sides of it. */
static void both_forms_agree_with_digits(void **state)
{
    static const struct {
        const char *eps, *eps_pop;
    } cases[] = {
        {"49.9", "6.23369174693220095596871614712000321428814"},
        {"50", "6.33350500199361924487748150761611758924967"},
        {"50.5", "6.83280603544200370020503826608389087144508"},
        {"60", "16.3317277054879987544391493079470259437902"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_encloses_decimal(apply(tamis_amplify_srs, INT64_MAX, 1, cases[i].eps, "0").eps, cases[i].eps_pop);
}

/* eps + log f, as it must be when e^eps fills more than the memory. */
static void stands_absurd_numbers(void **state)
{
    (void)state;
    pair z = apply(tamis_amplify_srs, 1000000000000, 1, "1e6", "1");
    assert_true(fabs(z.eps.upper - (1e6 - 12 * log(10))) < 1e-9);
    z = apply(tamis_amplify_srs, 10, 1, "1e300", "0");
    assert_true(z.eps.lower <= 1e300 && z.eps.upper >= 1e300);
    z = apply(tamis_amplify_srs, 10, 1, "1e1000", "0");
    assert_true(z.eps.lower == DBL_MAX && z.eps.upper == INFINITY);
    z = apply(tamis_amplify_srs_inverse, 10, 1, "1e1000/1e-1000", "0");
    assert_true(z.eps.lower == DBL_MAX && z.eps.upper == INFINITY);
    z = apply(tamis_amplify_srs, 10, 1, "1e-1000/1e1000", "1e-1000");
    assert_true(z.eps.lower >= 0 && z.eps.upper <= 1e-300 && z.delta.upper <= 1e-300 && z.delta.upper > 0);
    tamis_bound sum = compose(10, 1, (const char *const[]){"1e-1000", "1e1000"}, 2);
    assert_true(sum.upper == INFINITY);
}

/* ---- what is refused ---- */

static void refuses_bad_input(void **state)
{
    static const struct {
        int64_t N, n;
        const char *eps, *delta, *names;
    } cases[] = {
        {0, 0, "1", "0", "population"},     {-1, 1, "1", "0", "population"},    {INT64_MIN, 1, "1", "0", "population"},
        {5, 0, "1", "0", "sample"},         {5, 6, "1", "0", "sample"},         {5, -1, "1", "0", "sample"},
        {5, INT64_MAX, "1", "0", "sample"}, {5, INT64_MIN, "1", "0", "sample"}, {5, 1, "-1", "0", "eps"},
        {5, 1, "-1e-1000", "0", "eps"},     {5, 1, "1", "-1", "delta"},         {5, 1, "1", "1.0001", "delta"},
        {5, 1, "1", "1e1000", "delta"},     {5, 1, NULL, "0", "eps"},           {5, 1, "1", NULL, "delta"},
    };
    amplify *const functions[] = {tamis_amplify_srs, tamis_amplify_srs_inverse};
    tamis_error err;
    tamis_number *one = number("1");
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            tamis_number *eps = cases[i].eps ? number(cases[i].eps) : NULL;
            tamis_number *delta = cases[i].delta ? number(cases[i].delta) : NULL;
            tamis_bound e = {7, 7}, d = {7, 7};
            assert_int_equal(functions[k](&e, &d, cases[i].N, cases[i].n, eps, delta, &err), TAMIS_INVALID);
            size_t length = strlen(cases[i].names);
            assert_int_equal(strncmp(err.message, cases[i].names, length), 0);
            assert_int_equal(err.message[length], ':');
            assert_true(e.lower == 0 && e.upper == INFINITY && d.lower == 0 && d.upper == 1);
            tamis_number_free(eps);
            tamis_number_free(delta);
        }
        tamis_bound z = {7, 7};
        assert_int_equal(functions[k](NULL, &z, 2, 1, one, one, &err), TAMIS_INVALID);
        assert_true(z.lower == 0 && z.upper == 1);
        assert_int_equal(functions[k](&z, NULL, 2, 1, one, one, NULL), TAMIS_INVALID);
        assert_true(z.lower == 0 && z.upper == INFINITY);
    }
    tamis_number_free(one);
}

static void refuses_bad_compositions(void **state)
{
    tamis_number *one = number("1"), *minus = number("-1");
    const tamis_number *good[] = {one, one}, *bad[] = {one, minus}, *hole[] = {one, NULL};
    const struct {
        int64_t N, n;
        const tamis_number *const *eps;
        size_t count;
        const char *names;
    } cases[] = {
        {0, 1, good, 2, "population:"}, {5, 6, good, 2, "sample:"}, {5, 1, good, 0, "count:"},
        {5, 1, NULL, 2, "eps:"},        {5, 1, bad, 2, "eps[1]:"},  {5, 1, hole, 2, "eps[1]:"},
    };
    tamis_error err;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis_bound z = {7, 7};
        assert_int_equal(tamis_compose_srs(&z, cases[i].N, cases[i].n, cases[i].eps, cases[i].count, &err), TAMIS_INVALID);
        assert_int_equal(strncmp(err.message, cases[i].names, strlen(cases[i].names)), 0);
        assert_true(z.lower == 0 && z.upper == INFINITY);
    }
    assert_int_equal(tamis_compose_srs(NULL, 5, 1, good, 2, NULL), TAMIS_INVALID);
    tamis_number_free(one);
    tamis_number_free(minus);
}

static void survives_missing_memory(void **state)
{
    tamis_number *one = number("1");
    tamis_bound eps, delta;
    (void)state;
    EVERY_ALLOCATION_FAILS(tamis_amplify_srs(&eps, &delta, 5, 2, one, one, NULL),
                           assert_true(eps.upper == INFINITY && delta.upper == 1));
    EVERY_ALLOCATION_FAILS(tamis_amplify_srs_inverse(&eps, &delta, 5, 2, one, one, NULL),
                           assert_true(eps.lower == 0 && delta.lower == 0));
    tamis_number_free(one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_small_mechanism_loses_more),
        cmocka_unit_test(composition_is_attained),
        cmocka_unit_test(there_and_back),
        cmocka_unit_test(a_larger_sample_is_less_private),
        cmocka_unit_test(exact_cases_come_out_exact),
        cmocka_unit_test(both_forms_agree_with_digits),
        cmocka_unit_test(stands_absurd_numbers),
        cmocka_unit_test(refuses_bad_input),
        cmocka_unit_test(refuses_bad_compositions),
        cmocka_unit_test(survives_missing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
