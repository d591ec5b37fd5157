/* One epsilon per stratum: against all tables whose losses differ from stratum to stratum, and the numbers that follow.
 *
 * Simple random samples in two strata, values 0 and 1. A table with two outcomes gives to every pair of counts (a, b) of
 * ones in the two samples a probability u = 2^k; a step in stratum h changes k by at most c_h, so that E_h = 2^c_h. As in
 * tables.c the worst ratio is attained where the tight conditions connect all states, so with integers k: these are finitely
 * many. */
#include "tests/test.h"

#include <math.h>
#include <string.h>
#include <tamis/experimental/amplification.h>

#include "num/number.h"
#include "tests/amplification/claims.h"
#include "tests/base/memory_that_fails.h"

enum { STATES = 12, MOST = 40 };

typedef struct two_strata {
    int N[2], n[2], c[2];
} two_strata;

static double choose(int n, int k)
{
    double z = k < 0 || k > n ? 0 : 1;
    for (int i = 0; i < k && z > 0; i++) z = z * (n - i) / (i + 1);
    return z;
}

/* The probability of a ones among n of N, t of which are ones. */
static double hypergeometric(int N, int n, int t, int a) { return choose(t, a) * choose(N - t, n - a) / choose(N, n); }

typedef struct search {
    two_strata s;
    int k[STATES];
    double worst[2], moved; /* by a change in each stratum; by a record that changes its stratum */
    long tables;
} search;

static double expected(const search *x, int N1, int t1, int N2, int t2)
{
    double sum = 0;
    for (int a = 0; a <= x->s.n[0]; a++)
        for (int b = 0; b <= x->s.n[1]; b++)
            sum += hypergeometric(N1, x->s.n[0], t1, a) * hypergeometric(N2, x->s.n[1], t2, b) *
                   ldexp(1, x->k[a * (x->s.n[1] + 1) + b]);
    return sum;
}

static double either(double p, double q) { return fmax(p / q, q / p); }

static void judge(search *x)
{
    const int *N = x->s.N;
    x->tables++;
    for (int t = 0; t <= N[0]; t++)
        for (int w = 0; w <= N[1]; w++) {
            const double p = expected(x, N[0], t, N[1], w);
            if (t < N[0]) x->worst[0] = fmax(x->worst[0], either(p, expected(x, N[0], t + 1, N[1], w)));
            if (w < N[1]) x->worst[1] = fmax(x->worst[1], either(p, expected(x, N[0], t, N[1], w + 1)));
            for (int was = 0; was < 2; was++) /* a record of value `was` leaves the first stratum and is `is` in the second */
                for (int is = 0; is < 2; is++)
                    if (t >= was && N[0] - t >= 1 - was && N[0] > x->s.n[0])
                        x->moved = fmax(x->moved, either(p, expected(x, N[0] - 1, t - was, N[1] + 1, w + is)));
        }
}

static void extend(search *x, int i)
{
    const int width = x->s.n[1] + 1, a = i / width, b = i % width;
    int low = -MOST, high = MOST;
    if (i == (x->s.n[0] + 1) * width) {
        judge(x);
        return;
    }
    if (i == 0) low = high = 0;
    if (a > 0) {
        low = x->k[i - width] - x->s.c[0];
        high = x->k[i - width] + x->s.c[0];
    }
    if (b > 0) {
        const int other = x->k[i - 1];
        low = other - x->s.c[1] > low ? other - x->s.c[1] : low;
        high = other + x->s.c[1] < high ? other + x->s.c[1] : high;
    }
    for (x->k[i] = low; x->k[i] <= high; x->k[i]++) extend(x, i + 1);
}

/* What a person of a stratum loses is what the design makes of the stratum's own epsilon, whatever the other one spends:
 * attained. */
static void each_stratum_loses_by_its_own_epsilon(void **state)
{
    static const two_strata cases[] = {{{3, 2}, {1, 1}, {1, 2}}, {{2, 5}, {1, 1}, {3, 1}}, {{4, 3}, {2, 1}, {1, 2}},
                                       {{3, 4}, {1, 2}, {0, 2}}, {{5, 2}, {3, 1}, {1, 1}}, {{2, 2}, {2, 1}, {1, 3}}};
    bool more = false;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        search x = {.s = cases[i], .worst = {1, 1}};
        double claim[2];
        extend(&x, 0);
        assert_true(x.tables > 0);
        for (int h = 0; h < 2; h++) {
            const double f = (double)x.s.n[h] / x.s.N[h];
            claim[h] = 1 + f * (ldexp(1, x.s.c[h]) - 1);
            if (fabs(x.worst[h] / claim[h] - 1) > 1e-12) fail_msg("%zu, %d: %.12g, not %.12g", i, h, x.worst[h], claim[h]);
        }
        more = more || x.moved > 1.2 * fmax(claim[0], claim[1]);
    }
    assert_true(more); /* a record that may change its stratum loses more than either */
}

#define STRATA \
    "{\"stratified\": {\"within\": \"srs\", \"strata\": [{\"population\": 200, \"sample\": 100}, {\"population\": 2000, " \
    "\"sample\": 100}, {\"population\": 20000, \"sample\": 100}, {\"population\": 7, \"sample\": 7}]}}"

static tamis_stratum_budget *budgets(size_t *count, const char *design, const char *outsider, const char *insider)
{
    tamis_number *o = number(outsider), *i = number(insider);
    tamis_stratum_budget *list;
    tamis_design *d;
    tamis_error err = {0};
    assert_int_equal(tamis_design_read(&d, design, NULL), TAMIS_OK);
    if (tamis_strata_budgets(&list, count, d, o, i, &err) != TAMIS_OK) fail_msg("%s", err.message);
    tamis_design_free(d);
    tamis_number_free(o);
    tamis_number_free(i);
    return list;
}

/* B = min(I, ln(1 + (e^o - 1)/f)), rounded down; outsiders lose at most the target, and no more could be spent. */
static void budgets_meet_their_target(void **state)
{
    static const double rates[] = {.5, .05, .005, 1}, weights[] = {2, 20, 200, 1};
    static const char *const insiders[] = {"5", "3", "100", "1/10"};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        size_t count;
        const double cap = i == 3 ? .1 : strtod(insiders[i], NULL);
        tamis_stratum_budget *list = budgets(&count, STRATA, "1/2", insiders[i]);
        assert_int_equal(count, 4);
        for (size_t h = 0; h < 4; h++) {
            const double best = fmin(cap, log1p(expm1(.5) / rates[h])), epsilon = tmi_number_nearest(list[h].epsilon);
            if (!(epsilon <= best * (1 + 1e-15) && epsilon > best * (1 - 1e-8))) fail_msg("%zu, %zu: %.12g", i, h, epsilon);
            assert_true(list[h].outsider.upper <= .5 * (1 + 1e-15) && list[h].sampled.lower <= epsilon);
            assert_true(fabs(list[h].weight.upper - weights[h]) < 1e-12 * weights[h] && list[h].weight.upper >= weights[h]);
        }
        assert_true(list[3].weight.upper == 1);
        tamis_strata_budgets_free(list, count);
    }
}

/* One total over all strata: 41.04 in place of 240.4; 66.7 if sampled people may lose at most 3. */
static void one_scale_crosses_all_strata(void **state)
{
    static const char *const design =
        "{\"stratified\": {\"within\": \"srs\", \"strata\": [{\"population\": 200, \"sample\": 100}, {\"population\": 2000, "
        "\"sample\": 100}, {\"population\": 20000, \"sample\": 100}]}}";
    static const struct {
        const char *insider, *from, *to;
        double crossing, uniform;
    } cases[] = {{"5", "0", "1", 41.04043, 240.4434},
                 {"3", "0", "1", 66.6667, 240.4434},
                 {"5", "-2", "1", 123.12129, 721.3302},
                 {"5", "10", "11", 451.44474, 2644.8775}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t count;
        tamis_number *from = number(cases[i].from), *to = number(cases[i].to);
        tamis_stratum_budget *list = budgets(&count, design, "1/2", cases[i].insider);
        tamis_bound crossing, uniform;
        assert_int_equal(tamis_strata_scale(&crossing, &uniform, list, count, from, to, NULL), TAMIS_OK);
        if (fabs(crossing.upper / cases[i].crossing - 1) > 1e-5 || fabs(uniform.upper / cases[i].uniform - 1) > 1e-5)
            fail_msg("%zu: %.9g, %.9g", i, crossing.upper, uniform.upper);
        /* every stratum stays within its epsilon: weight times range over the scale */
        const double range = fmax(fabs(tmi_number_nearest(from)), fabs(tmi_number_nearest(to)));
        for (size_t h = 0; h < count; h++)
            assert_true(list[h].weight.lower * fmax(range, 1) / crossing.upper <= tmi_number_nearest(list[h].epsilon));
        tamis_number_free(from);
        tamis_number_free(to);
        tamis_strata_budgets_free(list, count);
    }
}

static void what_is_refused(void **state)
{
    tamis_design *good = strata(srs(4, 2), pps("sampford", "0.25 0.75")), *brewer = strata(srs(4, 2), pps("brewer", "0.25 0.75")),
                 *draws = with_replacement(5, 2);
    tamis_number *half = number("1/2"), *five = number("5"), *zero = number("0"), *huge = number("1000001");
    tamis_stratum_budget *list;
    size_t count;
    tamis_bound x, y;
    (void)state;
    assert_int_equal(tamis_strata_budgets(&list, &count, brewer, half, five, NULL), TAMIS_REFUSED);
    assert_int_equal(tamis_strata_budgets(&list, &count, draws, half, five, NULL), TAMIS_REFUSED);
    assert_true(!list && count == 0);
    assert_int_equal(tamis_strata_budgets(&list, &count, good, zero, five, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_strata_budgets(&list, &count, good, half, huge, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_strata_budgets(&list, &count, good, NULL, five, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_strata_budgets(&list, &count, NULL, half, five, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_strata_budgets(NULL, &count, good, half, five, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_strata_budgets(&list, NULL, good, half, five, NULL), TAMIS_INVALID);
    EVERY_ALLOCATION_FAILS(tamis_strata_budgets(&list, &count, good, half, five, NULL), assert_true(!list && count == 0));
    EVERY_ALLOCATION_FAILS(tamis_strata_scale(&x, &y, list, count, zero, half, NULL),
                           assert_true(isinf(x.upper) && isinf(y.upper)));
    assert_int_equal(tamis_strata_scale(&x, &y, list, count, five, half, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_strata_scale(&x, &y, list, 0, zero, half, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_strata_scale(&x, NULL, list, count, zero, half, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_strata_scale(NULL, &y, list, count, zero, half, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_strata_scale(&x, &y, list, count, NULL, half, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_strata_scale(&x, &y, list, count, zero, NULL, NULL), TAMIS_INVALID);
    tamis_strata_budgets_free(list, count);
    tamis_strata_budgets_free(NULL, 0);
    tamis_design *designs[] = {good, brewer, draws};
    for (size_t i = 0; i < 3; i++) tamis_design_free(designs[i]);
    tamis_number *numbers[] = {half, five, zero, huge};
    for (size_t i = 0; i < 4; i++) tamis_number_free(numbers[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_stratum_loses_by_its_own_epsilon),
        cmocka_unit_test(budgets_meet_their_target),
        cmocka_unit_test(one_scale_crosses_all_strata),
        cmocka_unit_test(what_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
