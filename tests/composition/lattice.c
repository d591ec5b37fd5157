/* The lattice evaluator beside the others, which share nothing with it but the list; and what only it can do. */
#include "tests/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "composition/lattice.h"
#include "tests/composition/profiles.h"
#include "tests/num/enclosure.h"

static const struct {
    const char *name;
    release list[4];
    const char *eps, *delta;
} values[] = {
#include "tests/composition/compose_values.h"
};

static tamis_bound on_the_lattice(const tamis_profile *p, const char *eps)
{
    tmi_evaluator evaluator;
    tamis_error err;
    tamis_bound b;
    tamis_number *x = number(eps);
    if (tmi_lattice_open(&evaluator, p, &err) != TAMIS_OK) fail_msg("%s", err.message);
    if (tmi_evaluator_delta(&b, &evaluator, x, &err) != TAMIS_OK) fail_msg("%s", err.message);
    tmi_evaluator_close(&evaluator);
    tamis_number_free(x);
    return b;
}

static void the_lattice_agrees_with_the_other_roads(void **state)
{
    (void)state;
    for (size_t i = 1; i < sizeof values / sizeof *values; i += 12) {
        tamis_profile *p = compose_list(values[i].list, 4);
        tamis_bound b = on_the_lattice(p, values[i].eps);
        double expected = strtod(values[i].delta, NULL);
        if (!(b.lower <= expected * (1 + 1e-14) && b.upper >= expected * (1 - 1e-14) &&
              b.upper - b.lower <= 2e-3 * b.upper + 1e-30))
            fail_msg("%s at %s: [%.17g, %.17g], expected %s", values[i].name, values[i].eps, b.lower, b.upper, values[i].delta);
        tamis_profile_free(p);
    }
}

/* Releases amplified by independent samples. In the composition the orders of the pairs may alternate: with the rate 0.1,
 * odds 10 and e^eps = 1.65 that has delta 0.0329, while the same order twice has 0.0293. */
static void independent_samples(void **state)
{
    tamis_number *rate = number("0.1"), *eps = number("0.50077528791248922"), *odds = number("2.3025850929940457");
    tamis_profile *rr = NULL;
    tamis_outsider *one = NULL, *both = NULL;
    tamis_bound b;
    (void)state;
    assert_int_equal(tamis_profile_randomized_response(&rr, odds, NULL), TAMIS_OK);
    assert_int_equal(tamis_outsider_new(&one, rr, rate, NULL), TAMIS_OK);
    const tamis_outsider *twice[] = {one, one};
    assert_int_equal(tamis_outsider_independent(&both, twice, 2, NULL), TAMIS_OK);
    assert_int_equal(tamis_outsider_delta(&b, both, eps, NULL), TAMIS_OK);

    /* The four combinations by hand: the law of a sampled answer is (10, 1)/11, of another one (1, 10)/11, and a person is
     * sampled with probability 0.1. x tells 10/11, y 1/11, the mixture with the rate m. */
    double f = 0.1, x = 10. / 11, y = 1. / 11, m = f * x + (1 - f) * y, w = f * y + (1 - f) * x, E = 1.65;
    double same = 0, alternating = 0;
    double P[2][2] = {{m, 1 - m}, {x, 1 - x}}, Q[2][2] = {{y, 1 - y}, {w, 1 - w}};
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++) {
            same += fmax(P[0][i] * P[0][k] - E * Q[0][i] * Q[0][k], 0);
            alternating += fmax(P[0][i] * P[1][k] - E * Q[0][i] * Q[1][k], 0);
        }
    assert_true(fabs(same - 0.0293) < 5e-5 && fabs(alternating - 0.0329) < 5e-5);
    assert_true(b.upper >= alternating && b.lower > same && b.upper < 0.05 && b.upper - b.lower < 1e-3 * b.upper);
    tamis_outsider_free(one);
    tamis_outsider_free(both);
    tamis_profile_free(rr);
    tamis_number_free(rate);
    tamis_number_free(eps);
    tamis_number_free(odds);
}

/* One sample: composed first, amplified once. Ten releases of eps = 1 at the rate 0.01 have 5.3993; there is no function
 * that adds up amplified ones of one sample, 0.1704. */
static void one_sample(void **state)
{
    static const release ten[] = {{"rr", "1", "0", 10}, {NULL, NULL, NULL, 0}};
    tamis_number *rate = number("0.01"), *zero = number("0"), *small = number("1e-6");
    tamis_profile *p = compose_list(ten, 2);
    tamis_outsider *o = NULL;
    tamis_bound eps;
    (void)state;
    assert_int_equal(tamis_outsider_new(&o, p, rate, NULL), TAMIS_OK);
    assert_int_equal(tamis_outsider_epsilon(&eps, o, zero, NULL), TAMIS_OK);
    double expected = log1p(0.01 * expm1(10));
    assert_true(eps.lower <= expected * (1 + 1e-14) && eps.upper >= expected * (1 - 1e-14) && eps.upper < 5.39934);
    assert_true(eps.upper - eps.lower < 1e-12);
    /* delta of the outsider at eps' is the rate times delta of the sampled at eps */
    assert_int_equal(tamis_outsider_epsilon(&eps, o, small, NULL), TAMIS_OK);
    tamis_bound sampled = epsilon_at(p, "1e-4");
    double other = log1p(0.01 * expm1(sampled.upper));
    assert_true(fabs(eps.upper - other) < 1e-12);
    tamis_outsider_free(o);
    tamis_profile_free(p);
    tamis_number_free(rate);
    tamis_number_free(zero);
    tamis_number_free(small);
}

/* Disjoint samples: N = 4, one each, odds 10 and 1.1. */
static void coordinated_samples(void **state)
{
    tamis_number *quarter = number("1/4"), *a = number("2.302585092994045684017991454684364207601"),
                 *b = number("0.09531017980432486004395212328076509222061"), *half = number("1/2");
    const tamis_number *p[] = {quarter, quarter}, *loss[] = {b, a}, *halves[] = {half, half}, *none[] = {quarter, NULL};
    tamis_bound eps;
    tamis_error err;
    (void)state;
    assert_int_equal(tamis_coordinated_epsilon(&eps, p, loss, 2, &err), TAMIS_OK);
    assert_true(fabs(exp(eps.upper) - 143. / 43) < 1e-12 && exp(eps.lower) > 131. / 40 && eps.upper - eps.lower < 1e-12);
    assert_int_equal(tamis_coordinated_epsilon(&eps, halves, loss, 2, &err), TAMIS_OK);
    assert_true(fabs(eps.upper - log(10)) < 1e-12);
    assert_int_equal(tamis_coordinated_epsilon(NULL, p, loss, 2, &err), TAMIS_INVALID);
    assert_int_equal(tamis_coordinated_epsilon(&eps, p, loss, 0, &err), TAMIS_INVALID);
    assert_int_equal(tamis_coordinated_epsilon(&eps, NULL, loss, 2, &err), TAMIS_INVALID);
    assert_int_equal(tamis_coordinated_epsilon(&eps, p, NULL, 2, &err), TAMIS_INVALID);
    assert_int_equal(tamis_coordinated_epsilon(&eps, none, loss, 2, &err), TAMIS_INVALID);
    assert_string_equal(err.message, "probability[1]: must be positive");
    assert_int_equal(tamis_coordinated_epsilon(&eps, p, none, 2, &err), TAMIS_INVALID);
    assert_true(eps.lower == 0 && eps.upper == INFINITY);
    const tamis_number *many[] = {half, half, half};
    assert_int_equal(tamis_coordinated_epsilon(&eps, many, many, 3, &err), TAMIS_INVALID);
    tamis_number *all[] = {quarter, a, b, half};
    for (size_t i = 0; i < 4; i++) tamis_number_free(all[i]);
}

/* Pairs given mass by mass. */
static void curves(void **state)
{
    tamis_profile *pair = NULL, *all = NULL, *lap = make_profile("laplace", "1", "1");
    (void)state;
    /* odds 3 to 1, and an answer that only one law gives */
    tamis_number *p3[] = {number("3/4"), number("1/8"), number("1/8")}, *q3[] = {number("1/4"), number("3/4"), number("0")};
    assert_int_equal(tamis_profile_pair(&pair, (const tamis_number *const *)p3, (const tamis_number *const *)q3, 3, NULL),
                     TAMIS_OK);
    for (double E = 1; E < 8; E += 0.7) {
        double there = fmax(0.75 - E * 0.25, 0) + 0.125, back = fmax(0.75 - E * 0.125, 0);
        tamis_bound b = delta_at_double(pair, log(E));
        assert_true(fabs(b.upper - fmax(there, back)) < 1e-14 && fabs(b.lower - fmax(there, back)) < 1e-14);
    }
    /* with other noise, on the lattice */
    const tamis_profile *two[] = {pair, lap};
    assert_int_equal(tamis_profile_compose(&all, two, NULL, 2, NULL), TAMIS_OK);
    tamis_bound b = delta_at(all, "2");
    assert_true(b.upper - b.lower < 0.6 * b.upper && b.lower > delta_at(pair, "2").upper);
    tamis_profile *made[] = {pair, all, lap};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) tamis_profile_free(made[i]);
    for (size_t i = 0; i < 3; i++) tamis_number_free(p3[i]), tamis_number_free(q3[i]);
}

/* Basic composition and concentrated privacy are never below the tight number. */
static void cheap_bounds_are_above(void **state)
{
    static const release tight[] = {{"gaussian", "4", "1", 5}, {"laplace", "5", "1", 5}, {NULL, NULL, NULL, 0}};
    static const release rho[] = {{"zcdp", "0.03125", "0", 5}, {"zcdp", "0.02", "0", 5}, {NULL, NULL, NULL, 0}};
    static const release basic[] = {{"claim", "1.2", "1e-7", 5}, {"claim", "0.2", "0", 5}, {NULL, NULL, NULL, 0}};
    (void)state;
    tamis_profile *t = compose_list(tight, 3), *r = compose_list(rho, 3), *b = compose_list(basic, 3);
    tamis_profile *g = make_profile("gaussian", "4", "1");
    assert_true(delta_at(g, "1.2").upper < 1e-7);
    for (double eps = 0.1; eps < 7; eps += 0.7) {
        assert_true(delta_at_double(r, eps).upper >= delta_at_double(t, eps).upper);
        assert_true(delta_at_double(b, eps).upper >= delta_at_double(t, eps).upper);
    }
    tamis_profile *all[] = {t, r, b, g};
    for (size_t i = 0; i < 4; i++) tamis_profile_free(all[i]);
}

/* Losses that are places of the lattice are not rounded to places. */
static void discrete_losses_are_exact(void **state)
{
    static const release list[] = {{"rr", "0.25", "0", 5}, {"discrete_laplace", "8", "3", 7}, {NULL, NULL, NULL, 0}};
    tamis_profile *p = compose_list(list, 3);
    (void)state;
    for (double eps = 0.125; eps < 3; eps += 0.6) {
        char text[32];
        snprintf(text, sizeof text, "%.3f", eps);
        tamis_bound b = on_the_lattice(p, text), exact = delta_at(p, text);
        assert_true(b.lower <= exact.upper && b.upper >= exact.lower && b.upper - b.lower < 1e-12 * b.upper);
    }
    tamis_profile_free(p);
}

/* Where an integral would need too many nodes, the lattice answers: a little Gaussian noise beside much else. */
static void lists_that_no_integral_can_do(void **state)
{
    static const release with[] = {{"gaussian", "1e9", "1", 1},
                                   {"laplace", "10", "1", 4},
                                   {"rr", "0.1", "0", 4},
                                   {NULL, NULL, NULL, 0}};
    static const release without[] = {{"laplace", "10", "1", 4}, {"rr", "0.1", "0", 4}, {NULL, NULL, NULL, 0}};
    tamis_profile *p = compose_list(with, 4), *q = compose_list(without, 3);
    (void)state;
    tamis_bound b = delta_at(p, "0.5"), exact = delta_at(q, "0.5");
    assert_true(b.upper >= exact.lower && b.lower <= exact.upper * (1 + 1e-6) && b.upper - b.lower < 1e-2 * b.upper);
    tamis_profile_free(p);
    tamis_profile_free(q);
}

static void wrong_inputs_are_named(void **state)
{
    tamis_error err;
    tamis_profile *p = make_profile("rr", "1", "0"), *z = NULL;
    tamis_outsider *o = NULL;
    tamis_number *zero = number("0"), *half = number("1/2"), *two = number("2");
    const tamis_number *masses[] = {half, two}, *fine[] = {half, half};
    const tamis_outsider *nobody[] = {NULL};
    tamis_bound b;
    (void)state;
    assert_int_equal(tamis_profile_pair(&z, masses, fine, 2, &err), TAMIS_INVALID);
    assert_string_equal(err.message, "p: the sum of the masses is not 1");
    assert_int_equal(tamis_profile_pair(&z, fine, NULL, 2, &err), TAMIS_INVALID);
    assert_int_equal(tamis_profile_pair(&z, fine, fine, 0, &err), TAMIS_INVALID);
    assert_null(z);
    assert_int_equal(tamis_outsider_new(&o, p, zero, &err), TAMIS_INVALID);
    assert_string_equal(err.message, "rate: must be above 0 and at most 1");
    assert_int_equal(tamis_outsider_new(&o, p, two, &err), TAMIS_INVALID);
    assert_int_equal(tamis_outsider_new(&o, NULL, half, &err), TAMIS_INVALID);
    assert_int_equal(tamis_outsider_independent(&o, nobody, 1, &err), TAMIS_INVALID);
    assert_int_equal(tamis_outsider_independent(&o, nobody, 0, &err), TAMIS_INVALID);
    assert_int_equal(tamis_outsider_delta(&b, NULL, half, &err), TAMIS_INVALID);
    assert_int_equal(tamis_outsider_epsilon(&b, NULL, half, &err), TAMIS_INVALID);
    assert_null(o);
    tamis_profile_free(p);
    tamis_number_free(zero);
    tamis_number_free(half);
    tamis_number_free(two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_lattice_agrees_with_the_other_roads),
        cmocka_unit_test(independent_samples),
        cmocka_unit_test(one_sample),
        cmocka_unit_test(coordinated_samples),
        cmocka_unit_test(curves),
        cmocka_unit_test(cheap_bounds_are_above),
        cmocka_unit_test(discrete_losses_are_exact),
        cmocka_unit_test(lists_that_no_integral_can_do),
        cmocka_unit_test(wrong_inputs_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
