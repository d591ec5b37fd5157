#include "tests/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/base/memory_that_fails.h"
#include "tests/composition/profiles.h"
#include "tests/num/enclosure.h"

static const struct {
    const char *name;
    release list[4];
    const char *eps, *delta;
} values[] = {
#include "tests/composition/compose_values.h"
};

static bool holds(tamis_bound b, double x, double slack) { return b.lower <= x * (1 + slack) && b.upper >= x * (1 - slack); }

/* Every evaluator against the definition: the expectation over all combinations of atoms, integrated where a loss is
 * continuous. */
static void compositions_have_their_delta(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        tamis_profile *p = compose_list(values[i].list, 4);
        tamis_bound b = delta_at(p, values[i].eps);
        double expected = strtod(values[i].delta, NULL);
        if (!(b.upper - b.lower <= fmax(1e-9 * b.upper, 1e-299)) || !(expected < 1e-299 || holds(b, expected, 1e-15)))
            fail_msg("%s at %s: [%.17g, %.17g], expected %s", values[i].name, values[i].eps, b.lower, b.upper, values[i].delta);
        tamis_profile_free(p);
    }
}

/* Several numbers with discrete Gaussian noise lose more than one that changes by the root of the sum of squares: they have to
 * be composed, or told as concentrated. Laplace noise takes the sum of the changes. */
static void several_numbers_are_not_always_one(void **state)
{
    static const struct {
        release four[2], one[2];
        bool is_worse;
    } cases[] = {
        {{{"discrete_gaussian", "1", "1", 4}}, {{"discrete_gaussian", "1", "2", 1}}, true},
        {{{"gaussian", "1", "1", 4}}, {{"gaussian", "1", "2", 1}}, false},
        {{{"laplace", "1", "1", 4}}, {{"laplace", "1", "4", 1}}, false},
        {{{"discrete_laplace", "1", "1", 4}}, {{"discrete_laplace", "1", "4", 1}}, false},
        {{{"discrete_gaussian", "1", "1", 4}}, {{"zcdp", "2", "0", 1}}, false},
    };
    static const char *const eps[] = {"0", "1/2", "2", "3", "4"};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis_profile *four = compose_list(cases[i].four, 2), *one = compose_list(cases[i].one, 2);
        bool worse = false;
        for (size_t k = 0; k < sizeof eps / sizeof *eps; k++)
            worse |= delta_at(four, eps[k]).lower > delta_at(one, eps[k]).upper * (1 + 1e-12);
        assert_int_equal(worse, cases[i].is_worse);
        tamis_profile_free(four);
        tamis_profile_free(one);
    }
}

/* No eps is enough for less than what is told with certainty, beside whatever else. */
static void leaks_have_no_eps(void **state)
{
    static const release lists[][4] = {
        {{"claim", "1", "1/10", 1}, {"gaussian", "1/6", "7/38", 3}, {"discrete_laplace", "17/320", "4", 1}},
        {{"claim", "1", "1/10", 1}, {"laplace", "2", "1", 2}},
        {{"claim", "1", "1/20", 2}, {"rr", "1", "0", 1}}, /* 39/400 */
    };
    (void)state;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        tamis_profile *p = compose_list(lists[i], 4);
        assert_true(epsilon_at(p, "0.09").lower == INFINITY && isfinite(epsilon_at(p, "0.2").upper));
        tamis_profile_free(p);
    }
}

/* Far beyond the losses, and losses far below everything that is asked. */
static void far_away_is_known_too(void **state)
{
    static const struct {
        release list[4];
        const char *eps, *delta, *least, *most;
    } cases[] = {
        {{{"discrete_gaussian", "19/10", "1", 1}, {"rr", "8/29", "0", 1}}, "60", NULL, "0", "1e-299"},
        {{{"rr", "1e-300", "0", 3}}, "1", NULL, "0", "0"},
        {{{"rr", "1e-30", "0", 3}}, NULL, "1e-31", "1e-31", "3e-30"},
        {{{"discrete_laplace", "1e30", "1", 1}}, "1", NULL, "0", "0"},
        {{{"discrete_laplace", "1e30", "1", 1}}, NULL, "1e-31", "1e-31", "1e-30"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis_profile *p = compose_list(cases[i].list, 4);
        tamis_bound b = cases[i].eps ? delta_at(p, cases[i].eps) : epsilon_at(p, cases[i].delta);
        if (b.lower < strtod(cases[i].least, NULL) || b.upper > strtod(cases[i].most, NULL) * (1 + 1e-15))
            fail_msg("case %zu: [%.17g, %.17g]", i, b.lower, b.upper);
        tamis_profile_free(p);
    }
}

/* eps at a delta inverts delta at an eps, down to 1e-30. */
static void eps_inverts_delta(void **state)
{
    static const char *const deltas[] = {"0.1", "1e-6", "1e-18", "1e-30"};
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i += 4) {
        tamis_profile *p = compose_list(values[i].list, 4);
        for (size_t k = 0; k < sizeof deltas / sizeof *deltas; k++) {
            tamis_bound eps = epsilon_at(p, deltas[k]);
            tamis_number *target = number(deltas[k]);
            if (!(eps.upper - eps.lower <= 1e-10 * eps.upper))
                fail_msg("%s at %s: [%.17g, %.17g]", values[i].name, deltas[k], eps.lower, eps.upper);
            assert_true(delta_at_double(p, eps.upper).upper <= tmi_number_up(target));
            assert_true(delta_at_double(p, eps.lower).lower >= tmi_number_down(target));
            tamis_number_free(target);
        }
        tamis_profile_free(p);
    }
}

/* Compositions of compositions, in any grouping and order, are the composition of all. */
static void composition_is_associative(void **state)
{
    (void)state;
    tamis_profile *a = make_profile("rr", "0.3", "0"), *b = make_profile("laplace", "4", "1"), *ab = NULL, *aab = NULL,
                  *once = NULL, *nothing = NULL;
    const tamis_profile *first[] = {a, b}, *second[] = {ab, a}, *both[] = {b, a};
    int64_t times[] = {1, 2}, none[] = {0, 0};
    assert_int_equal(tamis_profile_compose(&ab, first, NULL, 2, NULL), TAMIS_OK);
    second[0] = ab;
    assert_int_equal(tamis_profile_compose(&aab, second, NULL, 2, NULL), TAMIS_OK);
    assert_int_equal(tamis_profile_compose(&once, both, times, 2, NULL), TAMIS_OK);
    tamis_bound x = delta_at(aab, "0.2"), y = delta_at(once, "0.2");
    assert_true(x.lower == y.lower && x.upper == y.upper && x.lower > 0);
    assert_int_equal(tamis_profile_compose(&nothing, both, none, 2, NULL), TAMIS_OK);
    assert_true(delta_at(nothing, "0").upper == 0 && epsilon_at(nothing, "0").upper == 0);
    tamis_profile *all[] = {a, b, ab, aab, once, nothing};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tamis_profile_free(all[i]);
}

/* Claims with a delta: 1 - (1 - delta)^k stays at every eps, and the pure part composes as randomized response does. */
static void claims_leave_mass_at_infinity(void **state)
{
    static const release claims[] = {{"claim", "0.5", "1e-3", 3}, {NULL, NULL, NULL, 0}};
    static const release pure[] = {{"rr", "0.5", "0", 3}, {NULL, NULL, NULL, 0}};
    (void)state;
    tamis_profile *p = compose_list(claims, 2), *q = compose_list(pure, 2);
    double mass = 1 - 0.999 * 0.999 * 0.999;
    for (double eps = 0; eps < 2; eps += 0.3) {
        double rest = delta_at_double(q, eps).upper;
        assert_true(holds(delta_at_double(p, eps), mass + (1 - mass) * rest, 1e-13));
    }
    assert_true(epsilon_at(p, "1e-4").lower == INFINITY);
    assert_true(epsilon_at(p, "0.0031").upper < 1.5);
    static const release no_eps[] = {{"claim", "0", "1e-3", 3}, {NULL, NULL, NULL, 0}}; /* a delta alone counts too */
    tamis_profile *only = compose_list(no_eps, 2);
    assert_true(holds(delta_at_double(only, 1), mass, 1e-13));
    tamis_profile_free(only);
    tamis_profile_free(p);
    tamis_profile_free(q);
}

static void wrong_inputs_are_named(void **state)
{
    tamis_error err;
    tamis_profile *p = make_profile("rr", "1", "0"), *z = NULL;
    const tamis_profile *one[] = {p}, *null[] = {NULL};
    int64_t negative[] = {-1}, large[] = {TAMIS_MAX_TIMES}, larger[] = {TAMIS_MAX_TIMES + 1};
    (void)state;
    assert_int_equal(tamis_profile_compose(NULL, one, NULL, 1, &err), TAMIS_INVALID);
    assert_int_equal(tamis_profile_compose(&z, NULL, NULL, 1, &err), TAMIS_INVALID);
    assert_string_equal(err.message, "profiles: NULL");
    assert_int_equal(tamis_profile_compose(&z, null, NULL, 1, &err), TAMIS_INVALID);
    assert_string_equal(err.message, "profiles[0]: NULL");
    assert_int_equal(tamis_profile_compose(&z, one, negative, 1, &err), TAMIS_INVALID);
    assert_int_equal(tamis_profile_compose(&z, one, larger, 1, &err), TAMIS_INVALID);
    assert_int_equal(tamis_profile_compose(&z, one, large, 1, &err), TAMIS_OK);
    const tamis_profile *more[] = {z, p};
    tamis_profile *sum = NULL;
    assert_int_equal(tamis_profile_compose(&sum, more, NULL, 2, &err), TAMIS_INVALID);
    assert_null(sum);
    tamis_profile_free(p);
    tamis_profile_free(z);
}

/* A profile keeps what it has built: each failure is met by a new one. */
static tamis_status ask_anew(tamis_bound *b, const tamis_profile *p, const tamis_number *eps, tamis_error *err)
{
    tamis_profile *anew = NULL;
    *b = (tamis_bound){0, 1};
    tamis_status status = tamis_profile_compose(&anew, &p, NULL, 1, err);
    if (status == TAMIS_OK) status = tamis_profile_delta(b, anew, eps, err);
    tamis_profile_free(anew);
    return status;
}

static void memory_may_fail(void **state)
{
    static const char *const names[] = {"two lattices", "discrete mixture", "Laplace and atoms", "Gaussian and discrete"};
    tamis_number *eps = number("1.25");
    tamis_bound b;
    tamis_error err;
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i += 4)
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            if (strcmp(values[i].name, names[k]) != 0) continue;
            tamis_profile *p = compose_list(values[i].list, 4), *twice = NULL;
            const tamis_profile *list[] = {p, p};
            EVERY_ALLOCATION_FAILS(ask_anew(&b, p, eps, &err), assert_true(b.lower == 0 && b.upper == 1));
            EVERY_ALLOCATION_FAILS(tamis_profile_compose(&twice, list, NULL, 2, &err), assert_null(twice));
            tamis_profile_free(twice);
            tamis_profile_free(p);
        }
    tamis_number_free(eps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compositions_have_their_delta),
        cmocka_unit_test(several_numbers_are_not_always_one),
        cmocka_unit_test(leaks_have_no_eps),
        cmocka_unit_test(far_away_is_known_too),
        cmocka_unit_test(eps_inverts_delta),
        cmocka_unit_test(composition_is_associative),
        cmocka_unit_test(claims_leave_mass_at_infinity),
        cmocka_unit_test(wrong_inputs_are_named),
        cmocka_unit_test(memory_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
