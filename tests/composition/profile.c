#include "tests/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/base/memory_that_fails.h"
#include "tests/composition/profiles.h"
#include "tests/num/enclosure.h"

static const struct {
    const char *law, *a, *b, *eps, *delta;
} values[] = {
#include "tests/composition/profile_values.h"
};

/* The definition, by integration and summation, for every law. */
static void single_releases_have_their_profile(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        tamis_profile *p = make_profile(values[i].law, values[i].a, values[i].b);
        tamis_bound b = delta_at(p, values[i].eps);
        tamis_number *expected = number(values[i].delta);
        if (tmi_number_compare_int(expected, 0) > 0 && tmi_number_up(expected) > 1e-300)
            assert_encloses(b, expected->value, 1e-38);
        else assert_true(b.lower == 0 && b.upper <= 1e-300);
        tamis_number_free(expected);
        tamis_profile_free(p);
    }
}

/* The two questions are inverse to each other, down to delta = 1e-30. */
static void eps_at_delta_inverts_delta_at_eps(void **state)
{
    static const char *const deltas[] = {"0.3", "0.01", "1e-6", "1e-18", "1e-30"};
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        if (strcmp(values[i].eps, "0") != 0) continue;
        tamis_profile *p = make_profile(values[i].law, values[i].a, values[i].b);
        for (size_t k = 0; k < sizeof deltas / sizeof *deltas; k++) {
            tamis_bound eps = epsilon_at(p, deltas[k]);
            assert_true(eps.lower >= 0 && isfinite(eps.upper) && eps.upper - eps.lower <= 1e-11 * eps.upper);
            tamis_number *target = number(deltas[k]);
            tamis_bound at = delta_at_double(p, eps.upper);
            assert_true(at.upper <= tmi_number_up(target));
            if (eps.lower > 0) assert_true(delta_at_double(p, eps.lower).lower >= tmi_number_down(target));
            tamis_number_free(target);
        }
        tamis_profile_free(p);
    }
}

static void the_ends_of_a_profile(void **state)
{
    (void)state;
    tamis_profile *p = make_profile("laplace", "4", "3");
    assert_encloses_decimal(epsilon_at(p, "0"), "0.75");
    assert_true(epsilon_at(p, "1").upper == 0);
    tamis_profile_free(p);
    p = make_profile("discrete_laplace", "4", "3");
    assert_encloses_decimal(epsilon_at(p, "0"), "0.75");
    tamis_profile_free(p);
    p = make_profile("gaussian", "4", "3");
    assert_true(epsilon_at(p, "0").lower == INFINITY);
    tamis_profile_free(p);
    p = make_profile("claim", "2", "1e-6");
    assert_encloses_decimal(epsilon_at(p, "1e-6"), "2");
    assert_true(epsilon_at(p, "0").lower == INFINITY && epsilon_at(p, "0.999e-6").lower == INFINITY);
    assert_encloses_decimal(delta_at(p, "2"), "0.000001");
    assert_encloses_decimal(delta_at(p, "100"), "0.000001");
    tamis_profile_free(p);
    p = make_profile("gaussian", "4", "0");
    assert_true(delta_at(p, "0").upper == 0 && epsilon_at(p, "0").upper == 0);
    tamis_profile_free(p);
}

/* The deltas of claims together, 1 - product of (1 - delta): below it there is no eps, at it the sum of all largest losses. */
static void claims_end_on_an_exact_delta(void **state)
{
    (void)state;
    static const struct {
        release list[3];
        const char *at, *below, *eps; /* eps NULL: none at all */
    } cases[] = {
        {{{"claim", "1", "1/3", 2}}, "5/9", "0.5555555555555555555555", "2"},
        {{{"claim", "1", "1e-6", 2}}, "1.999999e-6", "1.9999989999999999999999e-6", "2"},
        {{{"claim", "1", "1/2", 1}, {"laplace", "1", "1", 3}}, "1/2", "0.4999999999999999999999", "4"},
        {{{"claim", "1", "1/2", 1}, {"gaussian", "1", "1", 1}}, "1/2", "0.4999999999999999999999", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis_profile *p = compose_list(cases[i].list, 2);
        if (cases[i].eps) assert_encloses_decimal(epsilon_at(p, cases[i].at), cases[i].eps);
        else assert_true(epsilon_at(p, cases[i].at).lower == INFINITY);
        assert_true(epsilon_at(p, cases[i].at).lower == epsilon_at(p, cases[i].at).upper);
        assert_true(epsilon_at(p, cases[i].below).lower == INFINITY);
        assert_true(epsilon_at(p, "1").upper == 0);
        tamis_profile_free(p);
    }
    tamis_profile *all = make_profile("claim", "1", "1");
    assert_true(epsilon_at(all, "1").upper == 0 && epsilon_at(all, "0.999").lower == INFINITY);
    tamis_profile_free(all);
}

/* The conversion of Canonne, Kamath and Steinke at the orders 1.01, 1.02, ... 200 is never below ours, and above it
 * by no more than a finer grid would gain (small deltas need higher orders), and the Gaussian mechanism is never above it. */
/* 1/10 is no double: an enclosure alone cannot tell that no loss is above it. */
static void delta_is_0_at_the_largest_loss(void **state)
{
    (void)state;
    static const struct {
        release list[3];
        const char *at, *below;
    } cases[] = {
        {{{"laplace", "10", "1", 1}}, "1/10", "0.0999999999999999999999"},
        {{{"discrete_laplace", "30", "3", 1}}, "1/10", "0.0999999999999999999999"},
        {{{"rr", "1/10", "0", 7}}, "7/10", "0.6999999999999999999999"},
        {{{"laplace", "10", "1", 1}, {"discrete_laplace", "3", "1", 2}}, "23/30", "0.76"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis_profile *p = compose_list(cases[i].list, 2);
        tamis_bound at = delta_at(p, cases[i].at), below = delta_at(p, cases[i].below);
        assert_true(at.lower == 0 && at.upper == 0);
        assert_true(below.upper > 0);
        tamis_profile_free(p);
    }
    tamis_profile *leaks = make_profile("claim", "1/10", "1e-6");
    assert_true(delta_at(leaks, "1").upper > 0);
    tamis_profile_free(leaks);
}

static void concentrated_claims(void **state)
{
    static const double rhos[] = {0.005, 0.1, 0.5, 3};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        char text[32], sigma[32];
        snprintf(text, sizeof text, "%g", rhos[i]);
        tamis_profile *p = make_profile("zcdp", text, "0");
        snprintf(sigma, sizeof sigma, "%.17g", 1 / sqrt(2 * rhos[i]));
        tamis_profile *g = make_profile("gaussian", sigma, "1");
        for (double eps = 0; eps < 8; eps += 0.75) {
            double best = 1;
            for (double a = 1.01; a < 200; a += 0.01)
                best = fmin(best, exp((a - 1) * (a * rhos[i] - eps) + a * log1p(-1 / a)) / (a - 1));
            tamis_bound b = delta_at_double(p, eps), exact = delta_at_double(g, eps);
            if (best > 1e-40) assert_true(b.upper <= best * (1 + 1e-9) && b.upper >= best * 0.999);
            assert_true(exact.upper <= b.upper && fabs(exact.lower - b.lower) <= 1e-12);
        }
        tamis_profile_free(p);
        tamis_profile_free(g);
    }
}

static void begins_with(const char *text, const char *start)
{
    if (strncmp(text, start, strlen(start)) != 0) fail_msg("\"%s\" does not begin with \"%s\"", text, start);
}

#define INVALID(call, what) \
    do { \
        assert_int_equal((call), TAMIS_INVALID); \
        begins_with(err.message, what); \
    } while (0)

static void wrong_inputs_are_named(void **state)
{
    tamis_error err;
    tamis_profile *p = NULL;
    tamis_number *zero = number("0"), *one = number("1"), *negative = number("-1"), *huge = number("1e9"), *tiny = number("1e-9");
    tamis_bound b;
    (void)state;
    INVALID(tamis_profile_claim(NULL, one, one, &err), "profile: NULL");
    INVALID(tamis_profile_claim(&p, NULL, one, &err), "eps: NULL");
    INVALID(tamis_profile_claim(&p, one, NULL, &err), "delta: NULL");
    INVALID(tamis_profile_claim(&p, negative, one, &err), "eps: must not be negative");
    INVALID(tamis_profile_claim(&p, huge, one, &err), "eps: must be at most 1000000");
    INVALID(tamis_profile_claim(&p, one, negative, &err), "delta: must be between");
    INVALID(tamis_profile_claim(&p, one, huge, &err), "delta: must be between");
    INVALID(tamis_profile_randomized_response(&p, NULL, &err), "eps: NULL");
    INVALID(tamis_profile_laplace(&p, NULL, one, &err), "scale: NULL");
    INVALID(tamis_profile_laplace(&p, one, NULL, &err), "sensitivity: NULL");
    INVALID(tamis_profile_laplace(&p, zero, one, &err), "scale: must be positive");
    INVALID(tamis_profile_gaussian(&p, one, negative, &err), "sensitivity: must not be negative");
    INVALID(tamis_profile_gaussian(&p, tiny, one, &err), "scale: less than the sensitivity");
    INVALID(tamis_profile_discrete_laplace(&p, one, -1, &err), "sensitivity: must not be negative");
    INVALID(tamis_profile_discrete_gaussian(&p, one, INT64_MAX, &err), "sensitivity: must be at most 2^30");
    INVALID(tamis_profile_discrete_gaussian(&p, NULL, 1, &err), "scale: NULL");
    INVALID(tamis_profile_zcdp(&p, NULL, &err), "rho: NULL");
    INVALID(tamis_profile_zcdp(&p, negative, &err), "rho: must not be negative");
    INVALID(tamis_profile_zcdp(&p, huge, &err), "rho: must be at most");
    assert_null(p);
    assert_int_equal(tamis_profile_laplace(&p, one, one, NULL), TAMIS_OK);
    INVALID(tamis_profile_delta(NULL, p, one, &err), "delta: NULL");
    INVALID(tamis_profile_delta(&b, NULL, one, &err), "profile: NULL");
    assert_true(b.lower == 0 && b.upper == 1);
    INVALID(tamis_profile_delta(&b, p, NULL, &err), "eps: NULL");
    INVALID(tamis_profile_delta(&b, p, negative, &err), "eps: must not be negative");
    INVALID(tamis_profile_epsilon(NULL, p, one, &err), "eps: NULL");
    INVALID(tamis_profile_epsilon(&b, NULL, one, &err), "profile: NULL");
    assert_true(b.lower == 0 && b.upper == INFINITY);
    INVALID(tamis_profile_epsilon(&b, p, huge, &err), "delta: must be between");
    tamis_profile_free(p);
    tamis_profile_free(NULL);
    tamis_number *all[] = {zero, one, negative, huge, tiny};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tamis_number_free(all[i]);
}

static void memory_may_fail(void **state)
{
    tamis_number *one = number("1"), *small = number("1e-6");
    tamis_profile *p = NULL;
    tamis_bound b;
    tamis_error err;
    (void)state;
    EVERY_ALLOCATION_FAILS(tamis_profile_gaussian(&p, one, one, &err), assert_null(p));
    EVERY_ALLOCATION_FAILS(tamis_profile_epsilon(&b, p, small, &err), assert_true(b.lower == 0 && b.upper == INFINITY));
    tamis_profile_free(p);
    EVERY_ALLOCATION_FAILS(tamis_profile_discrete_laplace(&p, one, 2, &err), assert_null(p));
    tamis_profile_free(p);
    EVERY_ALLOCATION_FAILS(tamis_profile_randomized_response(&p, one, &err), assert_null(p));
    tamis_profile_free(p);
    tamis_number_free(one);
    tamis_number_free(small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_releases_have_their_profile),
        cmocka_unit_test(eps_at_delta_inverts_delta_at_eps),
        cmocka_unit_test(the_ends_of_a_profile),
        cmocka_unit_test(delta_is_0_at_the_largest_loss),
        cmocka_unit_test(claims_end_on_an_exact_delta),
        cmocka_unit_test(concentrated_claims),
        cmocka_unit_test(wrong_inputs_are_named),
        cmocka_unit_test(memory_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
