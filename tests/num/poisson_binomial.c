#include "tests/test.h"

#include <string.h>

#include "num/law/ratio_laws.h"
#include "tests/base/memory_that_fails.h"
#include "tests/num/enclosure.h"

#define MAX_TRIALS 12

/* Exact masses by adding one trial after the other. */
static void exact_law(mpq_t *mass, const tamis_trials *groups, size_t count)
{
    int64_t n = 0;
    mpq_t failure, x;
    mpq_inits(failure, x, NULL);
    for (int64_t k = 0; k <= MAX_TRIALS; k++) mpq_set_ui(mass[k], k == 0, 1);
    for (size_t g = 0; g < count; g++) {
        mpq_set_ui(failure, 1, 1);
        mpq_sub(failure, failure, groups[g].probability->value);
        for (int64_t i = 0; i < groups[g].count; i++, n++) {
            for (int64_t k = n + 1; k >= 0; k--) {
                mpq_mul(mass[k], mass[k], failure);
                if (k == 0) continue;
                mpq_mul(x, mass[k - 1], groups[g].probability->value);
                mpq_add(mass[k], mass[k], x);
            }
        }
    }
    mpq_clears(failure, x, NULL);
}

static void agrees_with_exact_fractions(void **state)
{
    static const struct {
        const char *p[5];
        int64_t n[5];
    } cases[] = {
        {{"1/2", "1/3", "1/5", "0.9", "0.01"}, {1, 1, 1, 1, 1}},
        {{"1/2", "1/3", "1", "0", "0.01"}, {3, 2, 2, 4, 0}},
        {{"1e-30", "1e-10", "0.5", "0.9999999999", "0.3"}, {2, 2, 2, 2, 2}},
        {{"1e-400", "0.99999999999999999999999999999999999999", "1e-50", "1e-5", "1/7"}, {3, 3, 1, 1, 1}},
        {{"1", "1", "0", "0", "0"}, {2, 1, 1, 1, 1}},
        {{"1/2", "1/2", "1/2", "1/2", "1/2"}, {1, 2, 3, 2, 1}},
        {{"0.3", "0.3", "0.3", "0.3", "0.3"}, {0, 0, 0, 0, 0}},
        {{"2/3", "1", "0", "1", "0"}, {1, 0, 0, 1, 1}},
    };
    mpq_t mass[MAX_TRIALS + 1], at_least, at_most;
    tamis_number *p[5];
    (void)state;
    for (int k = 0; k <= MAX_TRIALS; k++) mpq_init(mass[k]);
    mpq_inits(at_least, at_most, NULL);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        tamis_trials groups[5];
        int64_t n = 0;
        for (int g = 0; g < 5; g++) {
            p[g] = number(cases[c].p[g]);
            groups[g] = (tamis_trials){p[g], cases[c].n[g]};
            n += groups[g].count;
        }
        exact_law(mass, groups, 5);
        mpq_set_ui(at_least, 1, 1);
        mpq_set_ui(at_most, 0, 1);
        for (int64_t k = 0; k <= n; k++) {
            tamis_bound b;
            mpq_add(at_most, at_most, mass[k]);
            assert_int_equal(tamis_poisson_binomial_mass(&b, groups, 5, k, NULL), TAMIS_OK);
            assert_encloses(b, mass[k], 0);
            assert_int_equal(tamis_poisson_binomial_at_least(&b, groups, 5, k, NULL), TAMIS_OK);
            assert_encloses(b, at_least, 0);
            assert_int_equal(tamis_poisson_binomial_at_most(&b, groups, 5, k, NULL), TAMIS_OK);
            assert_encloses(b, at_most, 0);
            mpq_sub(at_least, at_least, mass[k]);
        }
        for (int g = 0; g < 5; g++) tamis_number_free(p[g]);
    }
    for (int k = 0; k <= MAX_TRIALS; k++) mpq_clear(mass[k]);
    mpq_clears(at_least, at_most, NULL);
}

static tamis_bound summed_binomial(int64_t n, const tamis_number *p, tmi_law_part part, int64_t k)
{
    tmi_odds odds;
    tmi_ball z;
    tmi_ball_init(&z);
    assert_int_equal(tmi_odds_set(&odds, &(tmi_binomial){n, p}, NULL), TAMIS_OK);
    tmi_ratio_law law = tmi_binomial_ratio_law(&odds);
    tmi_ratio_law_part(&z, &law, part, k, TMI_BITS_FAST);
    tamis_bound b = tmi_ball_bound(&z);
    tmi_odds_clear(&odds);
    tmi_ball_clear(&z);
    return b;
}

/* One probability split into groups is binomial: two methods, sums of terms and integrals over a circle. */
static void agrees_with_the_binomial(void **state)
{
    static const struct {
        int64_t n;
        const char *p;
        int64_t k;
    } cases[] = {
        {100, "0.3", 30},
        {100, "0.3", 1},
        {100, "0.3", 99},
        {100, "0.3", 80},
        {100000, "1e-5", 1},
        {100000, "1e-5", 9},
        {1000000, "0.03", 29000},
        {1000000, "0.03", 30000},
        {1000000, "0.03", 36000},
        {1000000000, "1/3", 333333333},
        {1000000000, "0.999", 998999000},
        {1000000000000, "1e-12", 0},
        {1000000000000, "1e-12", 1},
        {1000000000000, "1e-12", 30},
        {1000000000000, "1e-6", 1000500},
        {1000000000000, "0.01", 10000000001},
        {1000000000000, "0.01", 10003000000},
        {1000000000000, "0.01", 20000000000},
        {1000000000000, "0.5", 500001000000},
        {3, "1/2", 2},
        {2, "1e-300", 1},
    };
    typedef tamis_status function(tamis_bound *, const tamis_trials *, size_t, int64_t, tamis_error *);
    function *const functions[] = {tamis_poisson_binomial_mass, tamis_poisson_binomial_at_least, tamis_poisson_binomial_at_most};
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        tamis_number *p = number(cases[c].p);
        int64_t third = cases[c].n / 3;
        tamis_trials groups[] = {{p, third}, {p, cases[c].n - third}};
        for (size_t f = 0; f < 3; f++) {
            tamis_bound split, whole = summed_binomial(cases[c].n, p, (tmi_law_part)f, cases[c].k);
            assert_int_equal(functions[f](&split, groups, 2, cases[c].k, NULL), TAMIS_OK);
            assert_true(split.lower <= whole.upper && whole.lower <= split.upper);
            assert_true(is_narrow(split) && is_narrow(whole));
        }
        tamis_number_free(p);
    }
}

/* A long plain list, mirrored: P(X <= k) of p is P(X >= n-k) of 1-p. */
static void takes_a_plain_list(void **state)
{
    enum { COUNT = 300 };
    tamis_trials list[COUNT], mirror[COUNT];
    tamis_number *p[COUNT], *q[COUNT];
    (void)state;
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(tmi_number_ratio(&p[i], i + 1, COUNT + 7, NULL), TAMIS_OK);
        assert_int_equal(tmi_number_ratio(&q[i], COUNT + 6 - i, COUNT + 7, NULL), TAMIS_OK);
        list[i] = (tamis_trials){p[i], 1};
        mirror[i] = (tamis_trials){q[i], 1};
    }
    static const int64_t points[] = {1, 60, 120, 147, 150, 200, 299};
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        tamis_bound a, b;
        assert_int_equal(tamis_poisson_binomial_at_most(&a, list, COUNT, points[i], NULL), TAMIS_OK);
        assert_int_equal(tamis_poisson_binomial_at_least(&b, mirror, COUNT, COUNT - points[i], NULL), TAMIS_OK);
        assert_true(is_narrow(a) && is_narrow(b) && a.lower <= b.upper && b.lower <= a.upper);
    }
    for (int i = 0; i < COUNT; i++) {
        tamis_number_free(p[i]);
        tamis_number_free(q[i]);
    }
}

static void refuses_bad_input(void **state)
{
    typedef tamis_status function(tamis_bound *, const tamis_trials *, size_t, int64_t, tamis_error *);
    function *const functions[] = {tamis_poisson_binomial_mass, tamis_poisson_binomial_at_least, tamis_poisson_binomial_at_most};
    tamis_number *half = number("1/2"), *minus = number("-1/2"), *above = number("3/2");
    const struct {
        tamis_trials groups[2];
        const char *named;
    } cases[] = {
        {{{half, 1}, {NULL, 1}}, "probability of group 1"},         {{{minus, 1}, {half, 1}}, "probability of group 0"},
        {{{half, 1}, {above, 1}}, "probability of group 1"},        {{{half, -1}, {half, 1}}, "count of group 0"},
        {{{half, TAMIS_MAX_UNITS}, {half, 1}}, "count of group 1"}, {{{half, INT64_MAX}, {half, 1}}, "count of group 0"},
    };
    tamis_error err;
    (void)state;
    for (size_t f = 0; f < 3; f++) {
        tamis_bound b;
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            b = (tamis_bound){5, 5};
            assert_int_equal(functions[f](&b, cases[i].groups, 2, 1, &err), TAMIS_INVALID);
            assert_non_null(strstr(err.message, cases[i].named));
            assert_true(b.lower == 0 && b.upper == 1);
        }
        tamis_trials good = {half, 10};
        assert_int_equal(functions[f](NULL, &good, 1, 1, &err), TAMIS_INVALID);
        assert_int_equal(functions[f](&b, NULL, 1, 1, &err), TAMIS_INVALID);
        assert_int_equal(functions[f](&b, NULL, 0, 0, &err), TAMIS_OK); /* no trials: X = 0 */
        assert_true(b.lower == 1 && b.upper == 1);
        assert_int_equal(functions[f](&b, &good, 1, INT64_MAX, &err), TAMIS_OK);
        assert_true(b.lower == b.upper && b.lower == (f == 2));
        assert_int_equal(functions[f](&b, &good, 1, INT64_MIN, &err), TAMIS_OK);
        assert_true(b.lower == b.upper && b.lower == (f == 1));
    }
    static tamis_trials many[TAMIS_MAX_GROUPS + 1];
    for (size_t i = 0; i <= TAMIS_MAX_GROUPS; i++) many[i] = (tamis_trials){half, 1};
    tamis_bound b;
    assert_int_equal(tamis_poisson_binomial_mass(&b, many, TAMIS_MAX_GROUPS + 1, 1, &err), TAMIS_UNABLE);
    assert_true(b.lower == 0 && b.upper == 1);
    tamis_number_free(half);
    tamis_number_free(minus);
    tamis_number_free(above);
}

static void survives_missing_memory(void **state)
{
    tamis_number *half = number("1/2"), *third = number("1/3");
    tamis_trials groups[] = {{half, 3}, {third, 5}};
    tamis_bound b;
    (void)state;
    EVERY_ALLOCATION_FAILS(tamis_poisson_binomial_at_least(&b, groups, 2, 6, NULL), assert_true(b.lower == 0 && b.upper == 1));
    EVERY_ALLOCATION_FAILS(tamis_poisson_binomial_at_most(&b, groups, 2, 1, NULL), assert_true(b.lower == 0 && b.upper == 1));
    tamis_number_free(half);
    tamis_number_free(third);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_exact_fractions), cmocka_unit_test(agrees_with_the_binomial),
        cmocka_unit_test(takes_a_plain_list),          cmocka_unit_test(refuses_bad_input),
        cmocka_unit_test(survives_missing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
