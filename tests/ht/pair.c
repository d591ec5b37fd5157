/* The Horvitz-Thompson total under a listed design: against the other method for simple random samples, which shares no
 * line with this one, and against brute force over sets of totals.                                                 */
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

#include "num/number.h"
#include "tests/base/memory_that_fails.h"
#include "tests/ht/designs.h"

static bool meet(tamis_bound a, tamis_bound b)
{
    return a.lower <= b.upper && b.lower <= a.upper && a.upper - a.lower <= 1e-9 * a.upper + 1e-30;
}

static tamis_bound larger(tamis_bound a, tamis_bound b) { return (tamis_bound){fmax(a.lower, b.lower), fmax(a.upper, b.upper)}; }

static void two_roads_to_simple_random_samples_meet(void **state)
{
    static const char *const eps[] = {"0", "0.3", "2"}, *const scales[] = {"1/2", "2", "7"};
    population p = population_of("1 1 0 0 0 0", "1 1 1 0 0 0");
    (void)state;
    for (int n = 1; n <= 6; n++) {
        tamis_law *law = srs_law(6, n);
        for (int i = 0; i < 45; i++) {
            tamis_noise_kind noise = (tamis_noise_kind)(i % 5);
            char text[32];
            snprintf(text, sizeof text, "%d/%d", 6, n);
            tamis_number *s = noise == TAMIS_NOISE_NONE ? NULL : number(scales[i / 15]), *e = number(eps[i / 5 % 3]);
            tamis_number *step = noise > TAMIS_NOISE_GAUSSIAN ? number(text) : NULL;
            tamis_ht_srs srs = {6, n, 2, 3, noise, s};
            tamis_ht_pair pair = {law, (const tamis_number *const *)p.x, (const tamis_number *const *)p.x_prime, noise, s, step},
                          back = pair;
            tamis_bound delta, reverse, other;
            back.x = pair.x_prime;
            back.x_prime = pair.x;
            assert_int_equal(tamis_ht_pair_delta(&delta, &reverse, &pair, e, NULL), TAMIS_OK);
            assert_int_equal(tamis_ht_srs_delta(&other, NULL, &srs, e, NULL), TAMIS_OK);
            assert_true(meet(larger(delta, reverse), other));
            assert_int_equal(tamis_ht_pair_pure(&delta, &pair, NULL), TAMIS_OK);
            assert_int_equal(tamis_ht_pair_pure(&reverse, &back, NULL), TAMIS_OK);
            assert_int_equal(tamis_ht_srs_pure(&other, &srs, NULL), TAMIS_OK);
            if (other.lower == INFINITY) assert_true(larger(delta, reverse).lower == INFINITY);
            else assert_true(meet(larger(delta, reverse), other));
            tamis_number_free(s);
            tamis_number_free(e);
            tamis_number_free(step);
        }
        tamis_law_free(law);
    }
    population_clear(&p);
}

/* A census: what the others add to every total moves it and tells nothing, however far. */
/* The eps of a delta: delta there is the one that was asked for, or below it at eps = 0. */
static void epsilon_undoes_delta(void **state)
{
    population p = population_of("1 1 0 0 0 0", "1 1 1 0 0 0");
    tamis_law *law = srs_law(6, 3);
    tamis_number *one = number("1"), *step = number("2"), *two = number("2"), *at = NULL;
    static const double targets[] = {1e-3, 0.05, 0.9};
    tamis_bound eps, delta, reverse;
    (void)state;
    for (tamis_noise_kind noise = TAMIS_NOISE_NONE; noise <= TAMIS_NOISE_DISCRETE_GAUSSIAN; noise++)
        for (int i = 0; i < 3; i++) {
            tamis_ht_pair pair = {law,
                                  (const tamis_number *const *)p.x,
                                  (const tamis_number *const *)p.x_prime,
                                  noise,
                                  noise ? one : NULL,
                                  noise > TAMIS_NOISE_GAUSSIAN ? step : NULL};
            tamis_number *target = number((const char *const[]){"0.001", "0.05", "0.9"}[i]);
            assert_int_equal(tamis_ht_pair_epsilon(&eps, &pair, target, NULL), TAMIS_OK);
            assert_true(eps.lower >= 0 && eps.upper - eps.lower <= 1e-9 * eps.upper);
            if (i == 2) assert_true(eps.upper == 0);
            if (isfinite(eps.upper)) {
                assert_int_equal(tmi_number_double(&at, eps.upper, NULL), TAMIS_OK);
                assert_int_equal(tamis_ht_pair_delta(&delta, &reverse, &pair, at, NULL), TAMIS_OK);
                assert_true(delta.lower <= targets[i] * (1 + 1e-12));
                if (eps.upper > 0) assert_true(delta.upper >= targets[i] * (1 - 1e-6));
                tamis_number_free(at);
            }
            assert_int_equal(tamis_ht_pair_epsilon(NULL, &pair, target, NULL), TAMIS_INVALID);
            assert_int_equal(tamis_ht_pair_epsilon(&eps, &pair, NULL, NULL), TAMIS_INVALID);
            assert_true(eps.lower == 0 && eps.upper == INFINITY);
            assert_int_equal(tamis_ht_pair_epsilon(&eps, &pair, two, NULL), TAMIS_INVALID);
            assert_int_equal(tamis_ht_pair_epsilon(&eps, NULL, target, NULL), TAMIS_INVALID);
            tamis_number_free(target);
        }
    tamis_number_free(one);
    tamis_number_free(step);
    tamis_number_free(two);
    tamis_law_free(law);
    population_clear(&p);
}

static void what_is_common_does_not_matter(void **state)
{
    population near = population_of("2 0 0", "1 0 0"), far = population_of("2 1e15 7", "1 1e15 7");
    tamis_law *law = srs_law(3, 3);
    (void)state;
    for (int noise = TAMIS_NOISE_NONE; noise <= TAMIS_NOISE_GAUSSIAN; noise++) {
        const char *scale = noise == TAMIS_NOISE_NONE ? NULL : "1";
        tamis_bound delta[2], reverse[2];
        pair_delta(&delta[0], &reverse[0], law, &near, (tamis_noise_kind)noise, scale, "1/2");
        pair_delta(&delta[1], &reverse[1], law, &far, (tamis_noise_kind)noise, scale, "1/2");
        assert_true(meet(delta[0], delta[1]) && meet(delta[1], delta[0]) && meet(reverse[0], reverse[1]));
    }
    tamis_law_free(law);
    population_clear(&near);
    population_clear(&far);
}

/* Two heaps of totals, 10^9 deviations apart: the densities cross in each of them. */
static void heaps_far_apart(void **state)
{
    population p = population_of("1 0 1e9", "0 0 1e9");
    tamis_law *law = srs_law(3, 2);
    tamis_bound delta, reverse;
    (void)state;
    pair_delta(&delta, &reverse, law, &p, TAMIS_NOISE_GAUSSIAN, "1", "0");
    /* units 1 and 2 are drawn without unit 0 in one of three samples; the other two are shifted by 3/2 */
    double shifted = 2.0 / 3 * erf(0.75 / sqrt(2));
    assert_true(delta.lower <= shifted * (1 + 1e-9) && delta.upper >= shifted * (1 - 1e-9) && meet(delta, reverse));
    tamis_law_free(law);
    population_clear(&p);
}

static void refuses_bad_input(void **state)
{
    population p = population_of("1 1 0", "1 0 0"), two = population_of("1 1 0", "0 0 0");
    tamis_law *law = srs_law(3, 2);
    tamis_number *one = number("1"), *zero = number("0");
    const tamis_number *const *x = (const tamis_number *const *)p.x, *const *y = (const tamis_number *const *)p.x_prime;
    const tamis_number *const *far = (const tamis_number *const *)two.x_prime, *const none[3] = {NULL, NULL, NULL};
    const struct {
        tamis_ht_pair pair;
        const char *word;
    } cases[] = {{{NULL, x, y, TAMIS_NOISE_NONE, NULL, NULL}, "law:"},
                 {{law, NULL, y, TAMIS_NOISE_NONE, NULL, NULL}, "x, x_prime:"},
                 {{law, none, y, TAMIS_NOISE_NONE, NULL, NULL}, "x[0]:"},
                 {{law, x, none, TAMIS_NOISE_NONE, NULL, NULL}, "x_prime[0]:"},
                 {{law, x, far, TAMIS_NOISE_NONE, NULL, NULL}, "x, x_prime:"},
                 {{law, x, y, (tamis_noise_kind)5, one, NULL}, "noise:"},
                 {{law, x, y, TAMIS_NOISE_NONE, one, NULL}, "scale:"},
                 {{law, x, y, TAMIS_NOISE_LAPLACE, NULL, NULL}, "scale:"},
                 {{law, x, y, TAMIS_NOISE_LAPLACE, zero, NULL}, "scale:"},
                 {{law, x, y, TAMIS_NOISE_LAPLACE, one, one}, "step:"},
                 {{law, x, y, TAMIS_NOISE_DISCRETE_LAPLACE, one, NULL}, "step:"},
                 {{law, x, y, TAMIS_NOISE_DISCRETE_LAPLACE, one, zero}, "step:"},
                 {{law, x, y, TAMIS_NOISE_DISCRETE_GAUSSIAN, one, one}, "step:"}}; /* 3/2 is no multiple of 1 */
    tamis_bound a, b;
    tamis_error err;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(tamis_ht_pair_delta(&a, &b, &cases[i].pair, one, &err), TAMIS_INVALID);
        assert_non_null(strstr(err.message, cases[i].word));
        assert_true(a.lower == 0 && a.upper == 1 && b.lower == 0 && b.upper == 1);
        assert_int_equal(tamis_ht_pair_pure(&a, &cases[i].pair, NULL), TAMIS_INVALID);
    }
    tamis_ht_pair good = {law, x, y, TAMIS_NOISE_GAUSSIAN, one, NULL};
    assert_int_equal(tamis_ht_pair_delta(NULL, &b, &good, one, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_ht_pair_delta(&a, NULL, &good, one, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_ht_pair_delta(&a, &b, NULL, one, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_ht_pair_delta(&a, &b, &good, NULL, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_ht_pair_pure(NULL, &good, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_ht_pair_pure(&a, NULL, NULL), TAMIS_INVALID);
    tamis_number_free(one);
    tamis_number_free(zero);
    tamis_law_free(law);
    population_clear(&p);
    population_clear(&two);
}

/* Laws that are none are named, through the calculator. */
static void refuses_laws_that_are_none(void **state)
{
    static const struct {
        const char *design, *word;
    } cases[] = {{"[[[0], \"1/2\"], [[0], \"1/2\"]]", "duplicate sample"},
                 {"[[[0], \"1/2\"], [[1], \"1/3\"]]", "sum"},
                 {"[[[0], \"3/2\"], [[1], \"-1/2\"]]", "(0, 1]"},
                 {"[[[0], \"0\"], [[1], \"1\"]]", "(0, 1]"},
                 {"[[[0], \"1/2\"], [[2], \"1/2\"]]", "design:"},
                 {"[[[0, 0], \"1\"]]", "design:"},
                 {"[[[0], 1, 2]]", "a sample is"},
                 {"[[0, \"1\"]]", "list"},
                 {"[]", "design:"},
                 {"3", "list of samples"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[512], *answer = NULL;
        snprintf(line, sizeof line,
                 "{\"id\": \"1\", \"area\": \"ht_general_enumeration\", \"kind\": \"pair_none\", \"in\": "
                 "{\"design_type\": \"given\", \"design\": %s, \"x\": [1, 0], \"x_prime\": [1, 1], \"noise\": \"none\", "
                 "\"scale\": null, \"eps\": \"1\"}}",
                 cases[i].design);
        assert_int_equal(tamis_compute_line(&answer, line, strlen(line), NULL), TAMIS_INVALID);
        if (!strstr(answer, cases[i].word)) fail_msg("%s: %s", cases[i].design, answer);
        tamis_free(answer);
    }
}

static void survives_missing_memory(void **state)
{
    population p = population_of("1 2 0", "1 1/2 0");
    tamis_law *law = srs_law(3, 2);
    tamis_number *one = number("1"), *step = number("3/4");
    tamis_bound a, b;
    (void)state;
    for (int noise = TAMIS_NOISE_NONE; noise <= TAMIS_NOISE_DISCRETE_GAUSSIAN; noise++) {
        tamis_ht_pair pair = {law,
                              (const tamis_number *const *)p.x,
                              (const tamis_number *const *)p.x_prime,
                              (tamis_noise_kind)noise,
                              noise == TAMIS_NOISE_NONE ? NULL : one,
                              noise > TAMIS_NOISE_GAUSSIAN ? step : NULL};
        EVERY_ALLOCATION_FAILS(tamis_ht_pair_delta(&a, &b, &pair, one, NULL), assert_true(a.upper == 1));
        EVERY_ALLOCATION_FAILS(tamis_ht_pair_pure(&a, &pair, NULL), assert_true(a.upper == INFINITY));
    }
    tamis_number_free(one);
    tamis_number_free(step);
    tamis_law_free(law);
    population_clear(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_roads_to_simple_random_samples_meet),
        cmocka_unit_test(epsilon_undoes_delta),
        cmocka_unit_test(what_is_common_does_not_matter),
        cmocka_unit_test(heaps_far_apart),
        cmocka_unit_test(refuses_bad_input),
        cmocka_unit_test(refuses_laws_that_are_none),
        cmocka_unit_test(survives_missing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
