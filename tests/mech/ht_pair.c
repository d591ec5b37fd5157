/* The Horvitz-Thompson total under a listed design: against the other road for simple random samples, which shares no
 * line with this one, and against brute force over sets of totals.                                                 */
#include "test.h"

#include <stdio.h>
#include <string.h>

#include "base/memory_that_fails.h"
#include "mech/ht_designs.h"

static bool meet(tamis_bound a, tamis_bound b)
{
    return a.lower <= b.upper && b.lower <= a.upper && a.upper - a.lower <= 1e-9 * a.upper + 1e-30;
}

static void two_roads_to_simple_random_samples_meet(void **state)
{
    static const char *const eps[] = {"0", "0.3", "2"}, *const scales[] = {"1/2", "2", "7"};
    static const tamis_noise_kind noises[] = {TAMIS_NOISE_NONE, TAMIS_NOISE_LAPLACE, TAMIS_NOISE_GAUSSIAN};
    population p = population_of("1 1 0 0 0 0", "1 1 1 0 0 0");
    (void)state;
    for (int n = 1; n <= 6; n++) {
        tamis_law *law = srs_law(6, n);
        for (int i = 0; i < 27; i++) {
            tamis_noise_kind noise = noises[i % 3];
            const char *scale = noise == TAMIS_NOISE_NONE ? NULL : scales[i / 9];
            tamis_number *s = scale ? number(scale) : NULL, *e = number(eps[i / 3 % 3]);
            tamis_ht_srs srs = {6, n, 2, 3, noise, s};
            tamis_bound delta, reverse, other;
            pair_delta(&delta, &reverse, law, &p, noise, scale, eps[i / 3 % 3]);
            assert_int_equal(tamis_ht_srs_delta(&other, NULL, &srs, e, NULL), TAMIS_OK);
            assert_true(meet((tamis_bound){fmax(delta.lower, reverse.lower), fmax(delta.upper, reverse.upper)}, other));
            tamis_number_free(s);
            tamis_number_free(e);
        }
        tamis_law_free(law);
    }
    population_clear(&p);
}

static void refuses_bad_input(void **state)
{
    population p = population_of("1 1 0", "1 0 0"), two = population_of("1 1 0", "0 0 0");
    tamis_law *law = srs_law(3, 2);
    tamis_number *one = number("1"), *zero = number("0");
    const tamis_number *const *x = (const tamis_number *const *)p.x, *const *y = (const tamis_number *const *)p.x_prime;
    const tamis_number *const *far = (const tamis_number *const *)two.x_prime, *const none[3] = {NULL, NULL, NULL};
    const struct { tamis_ht_pair pair; const char *word; } cases[] = {
        {{NULL, x, y, TAMIS_NOISE_NONE, NULL}, "law:"},
        {{law, NULL, y, TAMIS_NOISE_NONE, NULL}, "x, x_prime:"},
        {{law, none, y, TAMIS_NOISE_NONE, NULL}, "x[0]:"},
        {{law, x, none, TAMIS_NOISE_NONE, NULL}, "x_prime[0]:"},
        {{law, x, far, TAMIS_NOISE_NONE, NULL}, "x, x_prime:"},
        {{law, x, y, TAMIS_NOISE_DISCRETE_LAPLACE, one}, "noise:"},
        {{law, x, y, TAMIS_NOISE_NONE, one}, "scale:"},
        {{law, x, y, TAMIS_NOISE_LAPLACE, NULL}, "scale:"},
        {{law, x, y, TAMIS_NOISE_LAPLACE, zero}, "scale:"}};
    tamis_bound a, b;
    tamis_error err;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(tamis_ht_pair_delta(&a, &b, &cases[i].pair, one, &err), TAMIS_INVALID);
        assert_non_null(strstr(err.message, cases[i].word));
        assert_true(a.lower == 0 && a.upper == 1 && b.lower == 0 && b.upper == 1);
        assert_int_equal(tamis_ht_pair_pure(&a, &cases[i].pair, NULL), TAMIS_INVALID);
    }
    tamis_ht_pair good = {law, x, y, TAMIS_NOISE_GAUSSIAN, one};
    assert_int_equal(tamis_ht_pair_delta(NULL, &b, &good, one, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_ht_pair_delta(&a, NULL, &good, one, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_ht_pair_delta(&a, &b, NULL, one, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_ht_pair_delta(&a, &b, &good, NULL, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_ht_pair_pure(&a, &good, NULL), TAMIS_INVALID);
    tamis_number_free(one);
    tamis_number_free(zero);
    tamis_law_free(law);
    population_clear(&p);
    population_clear(&two);
}

/* Laws that are none are named, through the calculator. */
static void refuses_laws_that_are_none(void **state)
{
    static const struct { const char *design, *word; } cases[] = {
        {"[[[0], \"1/2\"], [[0], \"1/2\"]]", "twice"},       {"[[[0], \"1/2\"], [[1], \"1/3\"]]", "sum"},
        {"[[[0], \"3/2\"], [[1], \"-1/2\"]]", "(0, 1]"},     {"[[[0], \"0\"], [[1], \"1\"]]", "(0, 1]"},
        {"[[[0], \"1/2\"], [[2], \"1/2\"]]", "design:"},     {"[[[0, 0], \"1\"]]", "design:"},
        {"[[[0], 1, 2]]", "a sample is"},                    {"[[0, \"1\"]]", "list"},
        {"[]", "design:"},                                   {"3", "list of samples"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[512], *answer = NULL;
        snprintf(line, sizeof line, "{\"id\": \"1\", \"area\": \"ht_general_enumeration\", \"kind\": \"pair_none\", \"in\": "
                 "{\"design_type\": \"given\", \"design\": %s, \"x\": [1, 0], \"x_prime\": [1, 1], \"noise\": \"none\", "
                 "\"scale\": null, \"eps\": \"1\"}}", cases[i].design);
        assert_int_equal(tamis_compute_line(&answer, line, strlen(line), NULL), TAMIS_INVALID);
        if (!strstr(answer, cases[i].word)) fail_msg("%s: %s", cases[i].design, answer);
        tamis_free(answer);
    }
}

static void survives_missing_memory(void **state)
{
    population p = population_of("1 2 0", "1 1/2 0");
    tamis_law *law = srs_law(3, 2);
    tamis_number *one = number("1");
    tamis_bound a, b;
    (void)state;
    for (int noise = TAMIS_NOISE_NONE; noise <= TAMIS_NOISE_GAUSSIAN; noise++) {
        tamis_ht_pair pair = {law, (const tamis_number *const *)p.x, (const tamis_number *const *)p.x_prime,
                              (tamis_noise_kind)noise, noise == TAMIS_NOISE_NONE ? NULL : one};
        EVERY_ALLOCATION_FAILS(tamis_ht_pair_delta(&a, &b, &pair, one, NULL), assert_true(a.upper == 1));
        if (noise == TAMIS_NOISE_GAUSSIAN) continue;
        EVERY_ALLOCATION_FAILS(tamis_ht_pair_pure(&a, &pair, NULL), assert_true(a.upper == INFINITY));
    }
    tamis_number_free(one);
    tamis_law_free(law);
    population_clear(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_roads_to_simple_random_samples_meet),
        cmocka_unit_test(refuses_bad_input),
        cmocka_unit_test(refuses_laws_that_are_none),
        cmocka_unit_test(survives_missing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
