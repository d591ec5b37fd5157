/* Amplification of every design: known numbers, the inverse, refusals. That no mechanism loses more is in
 * amplify_tables.c. */
#include "tests/test.h"

#include "tests/amplification/claims.h"
#include "tests/base/memory_that_fails.h"

/* One of `count` clusters of `size` units. */
static tamis_design *equal_clusters(size_t count, int64_t size)
{
    tamis_design *parts[100], *design;
    for (size_t c = 0; c < count; c++) parts[c] = census(size);
    assert_int_equal(tamis_design_take_stages(&design, srs((int64_t)count, 1), parts, count, NULL), TAMIS_OK);
    return design;
}

/* Numbers computed elsewhere, and the tempting formula log(1 + pi (e^eps - 1)) beside them: too small for clusters and
 * systematic samples. */
static void the_catalogue_of_designs(void **state)
{
    struct {
        tamis_design *design;
        const char *eps;
        double pi, loss;
    } cases[] = {
        {srs(7, 3), "1", 3. / 7, 0.55182},
        {pps("sampford", "0.3 0.3 0.7 0.7"), "2", 0.7, 1.69971},
        {pps("pivotal", "0.3 0.7 0.3 0.7"), "2", 0.7, 1.69971},
        {pps("conditional_poisson", "0.152 0.723 0.4 0.725"), "1", 0.725, log(1 + 0.725 * (M_E - 1))},
        {equal_clusters(4, 2), "1", 1. / 4, 0.59708},
        {equal_clusters(2, 4), "1", 1. / 2, 0.96956},
        {systematic(9, 3, 0), "1", 1. / 3, 0.85538},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double eps = strtod(cases[i].eps, NULL), naive = log(1 + cases[i].pi * (exp(eps) - 1));
        double loss = claimed(cases[i].design, cases[i].eps, TAMIS_REPLACE, TAMIS_REPLACE);
        if (fabs(loss - cases[i].loss) > 6e-6) fail_msg("%zu: %.6f, not %.5f", i, loss, cases[i].loss);
        assert_true(i < 4 ? fabs(loss - naive) < 1e-12 : loss > naive * 1.2);
        tamis_design_free(cases[i].design);
    }
}

/* Households of four, one in a hundred drawn. */
static void amplification_of_households(void **state)
{
    static const struct {
        const char *eps;
        double loss;
    } cases[] = {{"0.1", 0.00141}, {"0.5", 0.0277}, {"1", 0.254}, {"2", 1.81}};
    tamis_design *design = equal_clusters(100, 4);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_true(fabs(claimed(design, cases[i].eps, TAMIS_REPLACE, TAMIS_REPLACE) / cases[i].loss - 1) < 5e-3);
    tamis_design_free(design);
}

/* ---- the other way ---- */

static void the_inverse_meets_its_target(const tamis_design *design, const char *name)
{
    static const char *const targets[] = {"0", "1e-9", "0.1", "1", "7", "900"};
    for (int neighbours = 0; neighbours < 2; neighbours++)
        for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
            tamis_number *e, *d;
            tamis_bound eps, delta;
            tamis_amplified a;
            char text[2][40];
            tamis_neighbours kind = neighbours ? TAMIS_ADD_REMOVE : TAMIS_REPLACE;
            assert_int_equal(tamis_number_read(&e, targets[i], NULL), TAMIS_OK);
            assert_int_equal(tamis_number_read(&d, "1e-7", NULL), TAMIS_OK);
            tamis_status status = tamis_amplify_design_inverse(
                &eps, &delta, design, &(tamis_sample_promise){.eps = e, .delta = d, .neighbours = kind, .mechanism = kind}, NULL);
            if (status == TAMIS_OK) {
                double target = tmi_number_up(e);
                snprintf(text[0], sizeof text[0], "%.17g", eps.lower);
                snprintf(text[1], sizeof text[1], "%.17g", delta.lower);
                assert_int_equal(claim(&a, design, text[0], text[1], kind, kind, NULL), TAMIS_OK);
                if (a.eps.upper > target || a.delta.upper > 1e-7 * (1 + 1e-12)) fail_msg("%s: over the target", name);
                if (eps.upper - eps.lower > 1e-10 * eps.upper) fail_msg("%s: a wide answer", name);
                tamis_amplified_clear(&a);
                snprintf(text[0], sizeof text[0], "%.17g", eps.upper * (1 + 1e-9));
                assert_int_equal(claim(&a, design, text[0], "0", kind, kind, NULL), TAMIS_OK);
                if (target > 0 && a.eps.lower < target) fail_msg("%s: more could be spent", name);
                tamis_amplified_clear(&a);
            } else {
                assert_int_equal(status, TAMIS_REFUSED);
                assert_true(eps.lower == 0 && isinf(eps.upper) && delta.upper == 1);
            }
            tamis_number_free(e);
            tamis_number_free(d);
        }
}

static void every_inverse(void **state)
{
    (void)state;
    each_design(the_inverse_meets_its_target);
}

/* ---- refusals ---- */

static void refuse(tamis_design *design, tamis_neighbours neighbours, tamis_neighbours mechanism, const char *words)
{
    tamis_amplified a;
    tamis_error err;
    assert_int_equal(claim(&a, design, "1", "0", neighbours, mechanism, &err), TAMIS_REFUSED);
    if (!strstr(err.message, words)) fail_msg("%s: %s", words, err.message);
    assert_null(a.theorem);
    assert_null(a.parts);
    assert_true(a.eps.lower == 0 && isinf(a.eps.upper) && a.delta.upper == 1);
    tamis_design_free(design);
}

static void what_is_not_proved_is_refused(void **state)
{
    static const char pi[] = "0.3 0.7 0.3 0.7";
    (void)state;
    refuse(pps("brewer", pi), TAMIS_REPLACE, TAMIS_REPLACE, "Brewer's method has no proved coupling");
    refuse(pps("tille", pi), TAMIS_REPLACE, TAMIS_REPLACE, "Tille's elimination has no proved coupling");
    refuse(pps("systematic", pi), TAMIS_REPLACE, TAMIS_REPLACE, "systematic sampling with unequal probabilities has no");
    refuse(pps("systematic_random", pi), TAMIS_REPLACE, TAMIS_REPLACE, "random order has no proved coupling");
    refuse(stages(pps("brewer", "0.25 0.75 1"), census(1), census(1), census(1)), TAMIS_REPLACE, TAMIS_REPLACE, "Brewer");
    refuse(stages(pps("systematic", "0.5 0.25 0.25"), census(1), census(3), census(2)), TAMIS_REPLACE, TAMIS_ANY_ONE,
           "systematic");
    refuse(stages(pps("systematic", "0.5 0.25 0.25"), srs(2, 1), srs(2, 1), srs(2, 1)), TAMIS_ADD_REMOVE, TAMIS_ADD_REMOVE,
           "changes how the others are drawn");
    refuse(stages(pps("sampford", "0.5 0.25 0.25"), srs(2, 1), srs(2, 1), srs(2, 1)), TAMIS_ADD_REMOVE, TAMIS_ADD_REMOVE,
           "changes how the others are drawn");
    refuse(stages(pps("systematic", "0.5 0.25 0.25"), pps("brewer", pi), srs(2, 1), srs(2, 1)), TAMIS_REPLACE, TAMIS_REPLACE,
           "Brewer");
    refuse(strata(srs(4, 1), pps("tille", pi)), TAMIS_REPLACE, TAMIS_REPLACE, "Tille");
    refuse(stages(srs(3, 1), with_replacement(2, 1), srs(2, 1), srs(2, 1)), TAMIS_REPLACE, TAMIS_REPLACE, "with replacement");
    refuse(pps("sampford", pi), TAMIS_ADD_REMOVE, TAMIS_ADD_REMOVE, "changes how the others are drawn");
    refuse(systematic(6, 2, 0), TAMIS_ADD_REMOVE, TAMIS_ADD_REMOVE, "changes how the others are drawn");
    refuse(srs(5, 5), TAMIS_ADD_REMOVE, TAMIS_REPLACE, "changes how the others are drawn");
    refuse(bernoulli(5, "1/3"), TAMIS_ADD_REMOVE, TAMIS_REPLACE, "changes the sample size");
    refuse(census(5), TAMIS_ADD_REMOVE, TAMIS_REPLACE, "changes the sample size");
}

static void facts_are_refused(tamis_sampling_facts facts, tamis_design *design, const char *words)
{
    tamis_error err;
    assert_int_equal(tamis_sampling_facts_check(&facts, design, &err), words ? TAMIS_REFUSED : TAMIS_OK);
    if (words && !strstr(err.message, words)) fail_msg("%s: %s", words, err.message);
    tamis_design_free(design);
}

static void what_claims_too_much_is_refused(void **state)
{
    (void)state;
    facts_are_refused((tamis_sampling_facts){0}, equal_clusters(3, 2), NULL);
    facts_are_refused((tamis_sampling_facts){.known = 1}, srs(9, 3), "it is known who was sampled");
    facts_are_refused((tamis_sampling_facts){.by_response = 1}, srs(9, 3), "nonresponse does not amplify");
    facts_are_refused((tamis_sampling_facts){.looked_at = 1}, srs(9, 3), "depended on protected variables");
    facts_are_refused((tamis_sampling_facts){.one_of_several = 1}, srs(9, 3), "composed first and amplified once");
    facts_are_refused((tamis_sampling_facts){.as_srs = 1}, systematic(9, 3, 0), "differ in 3 records");
    facts_are_refused((tamis_sampling_facts){.as_srs = 1}, equal_clusters(3, 4), "differ in 4 records");
    facts_are_refused((tamis_sampling_facts){.as_srs = 1}, with_replacement(5, 2), "not a simple random sample");
    facts_are_refused((tamis_sampling_facts){.as_srs = 1}, two_of(srs(2, 1), 3, 2), "not a simple random sample");
    facts_are_refused((tamis_sampling_facts){.as_srs = 1}, two_of(pps("brewer", "0.5 0.5"), 3, 1), "is not known");
    facts_are_refused((tamis_sampling_facts){.as_srs = 1}, systematic(9, 3, 1), NULL);
    facts_are_refused((tamis_sampling_facts){.as_srs = 1}, pps("sampford", "0.3 0.7 0.3 0.7"), NULL);
    facts_are_refused((tamis_sampling_facts){.as_srs = 1}, census(4), NULL);
    tamis_design *d = srs(2, 1);
    assert_int_equal(tamis_sampling_facts_check(NULL, d, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_sampling_facts_check(&(tamis_sampling_facts){0}, NULL, NULL), TAMIS_INVALID);
    EVERY_ALLOCATION_FAILS(tamis_sampling_facts_check(&(tamis_sampling_facts){.as_srs = 1}, d, NULL), (void)0);
    tamis_design_free(d);
}

/* ---- the rest ---- */

static void tells_the_parts(void **state)
{
    tamis_design *d = strata(srs(50, 5), pps("sampford", "0.25 1 0.75 1")), *plain = srs(8, 2);
    tamis_amplified a;
    (void)state;
    assert_int_equal(claim(&a, d, "1", "1e-6", TAMIS_REPLACE, TAMIS_REPLACE, NULL), TAMIS_OK);
    assert_string_equal(a.theorem, "stratified");
    assert_int_equal(a.count, 3);
    assert_true(a.parts[0].stratum == 0 && a.parts[0].units == 50 && !a.parts[0].take_all);
    assert_true(fabs(a.parts[0].eps.upper - log(1 + 0.1 * (M_E - 1))) < 1e-14);
    assert_true(a.parts[1].stratum == 1 && a.parts[1].units == 2 && !a.parts[1].take_all && a.parts[1].worst == 52);
    assert_string_equal(a.parts[1].theorem, "strongly_rayleigh");
    assert_true(a.parts[2].stratum == 1 && a.parts[2].units == 2 && a.parts[2].take_all && a.parts[2].worst == 51);
    assert_true(fabs(a.eps.upper - 1) < 1e-14 && fabs(a.delta.upper - 1e-6) < 1e-20 && a.worst == 51);
    tamis_amplified_clear(&a);
    assert_int_equal(claim(&a, plain, "1e6", "1", TAMIS_REPLACE, TAMIS_REPLACE, NULL), TAMIS_OK);
    assert_true(fabs(a.eps.upper - (1e6 + log(0.25))) < 1e-6 && fabs(a.delta.upper - 0.25) < 1e-15);
    tamis_amplified_clear(&a);
    tamis_amplified_clear(NULL);
    tamis_design_free(d);
    tamis_design_free(plain);
}

/* Ten releases of eps = 1 from a sample of one in a hundred: 5.3993 together, not ten times 0.01704. */
static void releases_are_composed_first(void **state)
{
    tamis_design *d = srs(100, 1);
    tamis_number *one, *delta;
    tamis_amplified a;
    tamis_bound eps_n, delta_n;
    (void)state;
    assert_int_equal(tamis_number_read(&one, "1", NULL), TAMIS_OK);
    assert_int_equal(tamis_number_read(&delta, "1e-6", NULL), TAMIS_OK);
    tamis_sample_promise p = {
        .eps = one, .delta = delta, .neighbours = TAMIS_REPLACE, .mechanism = TAMIS_REPLACE, .releases = 10};
    assert_int_equal(tamis_amplify_design(&a, d, &p, NULL), TAMIS_OK);
    assert_true(fabs(a.eps.upper - 5.3993) < 5e-5 && fabs(a.delta.upper - 1e-7) < 1e-20);
    tamis_amplified_clear(&a);
    assert_int_equal(tamis_amplify_design_inverse(&eps_n, &delta_n, d, &p, NULL), TAMIS_OK);
    assert_true(fabs(eps_n.lower - log(1 + 100 * (M_E - 1)) / 10) < 1e-10 && fabs(delta_n.lower - 1e-5) < 1e-15);
    p.releases = -1;
    assert_int_equal(tamis_amplify_design(&a, d, &p, NULL), TAMIS_INVALID);
    tamis_number_free(one);
    tamis_number_free(delta);
    tamis_design_free(d);
}

static void refuses_bad_input(void **state)
{
    tamis_design *d = srs(5, 2);
    tamis_amplified a;
    tamis_bound eps, delta;
    tamis_error err;
    (void)state;
    static const struct {
        const char *eps, *delta;
        int neighbours, mechanism;
        const char *words;
    } cases[] = {
        {"-1", "0", 0, 0, "eps: must not be negative"},
        {"1000001", "0", 0, 0, "eps: must not exceed"},
        {"1", "-1e-9", 0, 0, "delta: must be between"},
        {"1", "1.1", 0, 0, "delta: must be between"},
        {"1", "0", 2, 0, "neighbours:"},
        {"1", "0", 0, -1, "mechanism:"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(claim(&a, d, cases[i].eps, cases[i].delta, (tamis_neighbours)cases[i].neighbours,
                               (tamis_neighbours)cases[i].mechanism, &err),
                         TAMIS_INVALID);
        assert_non_null(strstr(err.message, cases[i].words));
        assert_true(isinf(a.eps.upper) && a.delta.upper == 1 && !a.parts);
    }
    tamis_number *one;
    assert_int_equal(tamis_number_read(&one, "1", NULL), TAMIS_OK);
    tamis_sample_promise good = {.eps = one, .delta = one, .neighbours = TAMIS_REPLACE, .mechanism = TAMIS_REPLACE},
                         no_eps = good, no_delta = good;
    no_eps.eps = NULL;
    no_delta.delta = NULL;
    assert_int_equal(tamis_amplify_design(NULL, d, &good, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_amplify_design(&a, NULL, &good, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_amplify_design(&a, d, NULL, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_amplify_design(&a, d, &no_eps, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_amplify_design(&a, d, &no_delta, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_amplify_design_inverse(NULL, &delta, d, &good, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_amplify_design_inverse(&eps, NULL, d, &good, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_amplify_design_inverse(&eps, &delta, NULL, &good, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_amplify_design_inverse(&eps, &delta, d, NULL, NULL), TAMIS_INVALID);
    EVERY_ALLOCATION_FAILS(tamis_amplify_design(&a, d, &good, NULL), assert_null(a.parts));
    tamis_amplified_clear(&a);
    EVERY_ALLOCATION_FAILS(tamis_amplify_design_inverse(&eps, &delta, d, &good, NULL), assert_true(isinf(eps.upper)));
    tamis_number_free(one);
    tamis_design_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_catalogue_of_designs),
        cmocka_unit_test(amplification_of_households),
        cmocka_unit_test(every_inverse),
        cmocka_unit_test(what_is_not_proved_is_refused),
        cmocka_unit_test(what_claims_too_much_is_refused),
        cmocka_unit_test(tells_the_parts),
        cmocka_unit_test(releases_are_composed_first),
        cmocka_unit_test(refuses_bad_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
