/* The law that stands for a plan's design promises an outsider as much as the design itself, or less. */
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tamis/experimental/amplification.h>

#include "base/memory.h"
#include "base/value/json.h"
#include "plan/json.h"
#include "plan/law.h"
#include "tests/base/memory_that_fails.h"
#include "tests/plan/reader.h"

#define SECRET "privacy: {epsilon: 1, id: u, protect: frame, given: population, secret_sample: yes}\n"

static tamis_plan *plan_with(const char *design)
{
    char text[1024];
    snprintf(text, sizeof text,
             "tamis: 1\nsurvey: s\nsource: {file: a.csv}\n" SECRET "statistics: [{count: units}]\ndesign: %s\n", design);
    return read_good(text);
}

#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static tamis_status facts_of(tmi_frame_facts *facts, const char *strata, size_t count, tamis_error *err)
{
    char text[1024];
    tmi_value *json;
    snprintf(text, sizeof text, "{\"sha256\": \"" HASH "\", \"strata\": %s}", strata);
    assert_int_equal(tmi_json_read(&json, text, strlen(text), NULL), TAMIS_OK);
    tamis_status status = tmi_frame_facts_read(facts, json, count, err);
    tmi_value_free(json);
    return status;
}

static tamis_amplified amplified(const tamis_design *design, const char *eps, tamis_neighbours mechanism)
{
    tamis_number *e, *zero;
    tamis_amplified a;
    assert_int_equal(tamis_number_read(&e, eps, NULL), TAMIS_OK);
    assert_int_equal(tamis_number_read(&zero, "0", NULL), TAMIS_OK);
    const tamis_sample_promise promise = {.eps = e, .delta = zero, .neighbours = TAMIS_REPLACE, .mechanism = mechanism};
    assert_int_equal(tamis_amplify_design(&a, design, &promise, NULL), TAMIS_OK);
    tamis_number_free(e);
    tamis_number_free(zero);
    return a;
}

static const char *const spent[] = {"1/10", "1", "4"};

/* A frame's units of the largest probability stand for all: the whole frame, listed, loses the same. */
static void a_frame_loses_what_its_likeliest_units_lose(void **state)
{
    (void)state;
    static const struct {
        const char *plan, *facts, *whole;
        tamis_neighbours mechanism;
        size_t parts;
    } cases[] = {
        {"{poisson: {probability: p, frame: f.csv}}",
         "[{\"units\": 4, \"certain\": 0, \"smallest\": \"1/9\", \"largest\": \"2/5\"}]",
         "{\"poisson\": {\"probabilities\": [\"1/9\", \"2/5\", \"1/3\", \"1/9\"]}}", TAMIS_ANY_ONE, 1},
        {"{pps: {method: sampford, probability: p, sample: 2, frame: f.csv}}",
         "[{\"units\": 4, \"certain\": 0, \"smallest\": \"1/5\", \"largest\": \"4/5\"}]",
         "{\"pps\": {\"method\": \"sampford\", \"probabilities\": [\"1/5\", \"2/5\", \"3/5\", \"4/5\"]}}", TAMIS_REPLACE, 1},
        {"{pps: {method: conditional_poisson, probability: p, sample: 3, frame: f.csv}}",
         "[{\"units\": 5, \"certain\": 1, \"smallest\": \"1/5\", \"largest\": \"4/5\"}]",
         "{\"pps\": {\"method\": \"conditional_poisson\", \"probabilities\": [\"1/5\", \"2/5\", \"1\", \"3/5\", \"4/5\"]}}",
         TAMIS_REPLACE, 2},
        {"{stratified: {by: r, within: {poisson: {probability: p, frame: f.csv}}, strata: {b: {}, a: {}}}}",
         "[{\"units\": 2, \"certain\": 0, \"smallest\": \"1/9\", \"largest\": \"2/5\"}, {\"units\": 2, \"certain\": 2, "
         "\"smallest\": \"1\", "
         "\"largest\": null}]",
         "{\"stratified\": {\"within\": \"poisson\", \"strata\": [{\"probabilities\": [\"1/9\", \"2/5\"]}, {\"probabilities\": "
         "[1, 1]}]}}",
         TAMIS_ANY_ONE, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis_plan *plan = plan_with(cases[i].plan);
        tmi_frame_facts facts;
        tamis_design *law, *whole;
        assert_int_equal(facts_of(&facts, cases[i].facts, i == 3 ? 2 : 1, NULL), TAMIS_OK);
        assert_int_equal(tmi_plan_may_amplify(plan, &facts, NULL), TAMIS_OK);
        assert_int_equal(tmi_plan_law(&law, plan, &facts, NULL), TAMIS_OK);
        assert_int_equal(tamis_design_read(&whole, cases[i].whole, NULL), TAMIS_OK);
        for (size_t k = 0; k < 3; k++) {
            tamis_amplified x = amplified(law, spent[k], TAMIS_ANY_ONE), y = amplified(whole, spent[k], cases[i].mechanism);
            assert_true(x.eps.upper >= y.eps.lower && y.eps.upper >= x.eps.lower);
            assert_int_equal(x.count, cases[i].parts);
            assert_int_equal(y.count, x.count);
            for (size_t p = 0; p < x.count; p++) {
                assert_int_equal(x.parts[p].take_all, y.parts[p].take_all);
                assert_true(x.parts[p].eps.upper >= y.parts[p].eps.lower && y.parts[p].eps.upper >= x.parts[p].eps.lower);
            }
            tamis_amplified_clear(&x);
            tamis_amplified_clear(&y);
        }
        tamis_design_free(law);
        tamis_design_free(whole);
        tmi_frame_facts_clear(&facts);
        tamis_plan_free(plan);
    }
}

/* Two stages of any sizes lose no more than clusters of as many units as are drawn in one, and those of one unit a cluster
 * lose exactly that. */
static void two_stages_lose_no_more_than_their_clusters(void **state)
{
    (void)state;
    tamis_plan *plan = plan_with(
        "{two_stage: {first: {by: d, population: 6, sample: 2}, second: {population: m, sample: 3}}, max_weight: 9}");
    tamis_design *law;
    assert_int_equal(tmi_plan_may_amplify(plan, NULL, NULL), TAMIS_OK);
    assert_int_equal(tmi_plan_law(&law, plan, NULL, NULL), TAMIS_OK);
    for (int64_t size = 3; size < 12; size++) { /* three units in each drawn cluster */
        tamis_design *first, *second[6], *whole;
        assert_int_equal(tamis_design_srs(&first, 6, 2, NULL), TAMIS_OK);
        for (int c = 0; c < 6; c++) assert_int_equal(tamis_design_srs(&second[c], size + c % 2, 3, NULL), TAMIS_OK);
        assert_int_equal(tamis_design_take_stages(&whole, first, second, 6, NULL), TAMIS_OK);
        for (size_t k = 0; k < 3; k++) {
            tamis_amplified x = amplified(law, spent[k], TAMIS_ANY_ONE), y = amplified(whole, spent[k], TAMIS_REPLACE);
            assert_true(y.eps.lower <= x.eps.upper);
            if (size == 3) assert_true(x.eps.lower <= y.eps.upper);
            else assert_true(y.eps.upper < x.eps.upper);
            tamis_amplified_clear(&x);
            tamis_amplified_clear(&y);
        }
        tamis_design_free(whole);
    }
    tamis_design_free(law);
    tamis_plan_free(plan);
}

/* With the smallest cluster declared: two stages of clusters that are no smaller lose no more, the smallest exactly that;
 * and far less than the clusters alone. If all of the smallest may be drawn, its units count as whole clusters of what the
 * others give. */
static void two_stages_lose_what_their_smallest_cluster_loses(void **state)
{
    (void)state;
    static const struct {
        const char *plan;
        int64_t sizes[4], taken;
        bool within; /* the second stage counts */
    } cases[] = {
        {"{two_stage: {first: {by: d, population: 4, sample: 2}, second: {population: m, sample: 3, smallest: 9}}, max_weight: "
         "99}",
         {9, 12, 30, 9},
         3,
         true},
        {"{two_stage: {first: {by: d, population: 4, sample: 1}, second: {population: m, sample: 1, smallest: 2}}, max_weight: "
         "99}",
         {2, 2, 5, 3},
         1,
         true},
        {"{two_stage: {first: {by: d, population: 4, sample: 2}, second: {population: m, sample: 3, smallest: 2}}, max_weight: "
         "99}",
         {2, 5, 9, 2},
         3,
         false},
        {"{two_stage: {first: {by: d, population: 4, sample: 2}, second: {population: m, sample: 3, smallest: 3}}, max_weight: "
         "99}",
         {3, 3, 9, 4},
         3,
         false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis_plan *plan = plan_with(cases[i].plan);
        tamis_design *law, *first, *second[4], *whole, *alone;
        assert_int_equal(tmi_plan_law(&law, plan, NULL, NULL), TAMIS_OK);
        assert_int_equal(tamis_design_srs(&first, 4, plan->design.sample, NULL), TAMIS_OK);
        for (int c = 0; c < 4; c++) {
            const int64_t size = cases[i].sizes[c], taken = size < cases[i].taken ? size : cases[i].taken;
            assert_int_equal(tamis_design_srs(&second[c], size, taken, NULL), TAMIS_OK);
        }
        assert_int_equal(tamis_design_take_stages(&whole, first, second, 4, NULL), TAMIS_OK);
        assert_int_equal(tamis_design_clusters(&alone, 4, plan->design.sample, cases[i].taken, cases[i].taken, NULL), TAMIS_OK);
        for (size_t k = 0; k < 3; k++) {
            tamis_amplified x = amplified(law, spent[k], TAMIS_ANY_ONE), y = amplified(whole, spent[k], TAMIS_ANY_ONE),
                            z = amplified(alone, spent[k], TAMIS_ANY_ONE);
            if (!(y.eps.lower <= x.eps.upper)) fail_msg("%zu, %zu: %.12g, %.12g", i, k, x.eps.upper, y.eps.lower);
            if (cases[i].within) assert_true(x.eps.lower <= y.eps.upper && x.eps.upper < z.eps.lower);
            else assert_true(x.eps.lower <= z.eps.upper && z.eps.lower <= x.eps.upper);
            tamis_amplified_clear(&x);
            tamis_amplified_clear(&y);
            tamis_amplified_clear(&z);
        }
        tamis_design_free(law);
        tamis_design_free(whole);
        tamis_design_free(alone);
        tamis_plan_free(plan);
    }
}

/* Units drawn by themselves inside clusters lose log(1 + f (e^eps - 1)), however clusters are drawn: no less than the designs. */
static void bernoulli_inside_clusters_loses_by_its_rate(void **state)
{
    (void)state;
    static const struct {
        const char *plan, *whole;
    } cases[] = {
        {"{two_stage: {first: {by: d, population: 3, sample: 1}, second: {method: bernoulli, rate: 1/4}}}",
         "{\"two_stage\": {\"first\": {\"population\": 3, \"sample\": 1}, \"second\": {\"bernoulli\": {\"population\": 5, "
         "\"rate\": "
         "\"1/4\"}}}}"},
        {"{two_stage: {first: {by: d, systematic: {population: 9, sample: 3, order: public}}, second: {method: bernoulli, rate: "
         "0.25}}}",
         "{\"two_stage\": {\"first\": {\"systematic\": {\"population\": 9, \"sample\": 3, \"order\": \"public\"}}, \"second\": "
         "{\"bernoulli\": {\"population\": 2, \"rate\": \"1/4\"}}}}"},
        {"{two_stage: {first: {by: d, pps: {method: brewer, probability: p, sample: 2}}, second: {method: bernoulli, rate: "
         "1/4}}, "
         "max_weight: 90}",
         "{\"two_stage\": {\"first\": {\"pps\": {\"method\": \"brewer\", \"probabilities\": [\"1/2\", \"3/4\", \"3/4\"]}}, "
         "\"second\": "
         "{\"bernoulli\": {\"population\": 3, \"rate\": \"1/4\"}}}}"},
        {"{stratified: {by: r, within: {two_stage: {first: {by: d}, second: {method: bernoulli, rate: 1/4}}}, strata: {a: "
         "{population: 3, sample: 1}, b: {population: 9, sample: 9}}}}",
         "{\"two_stage\": {\"first\": {\"population\": 9, \"sample\": 9}, \"second\": {\"bernoulli\": {\"population\": 2, "
         "\"rate\": "
         "\"1/4\"}}}}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis_plan *plan = plan_with(cases[i].plan);
        tamis_design *law, *whole;
        assert_int_equal(tmi_plan_may_amplify(plan, NULL, NULL), TAMIS_OK);
        assert_int_equal(tmi_plan_law(&law, plan, NULL, NULL), TAMIS_OK);
        assert_int_equal(tamis_design_read(&whole, cases[i].whole, NULL), TAMIS_OK);
        for (size_t k = 0; k < 3; k++) {
            tamis_amplified x = amplified(law, spent[k], TAMIS_ANY_ONE), y = amplified(whole, spent[k], TAMIS_ANY_ONE);
            const double e = k == 0 ? 0.1 : k == 1 ? 1 : 4;
            assert_true(y.eps.lower <= x.eps.upper);
            assert_true(fabs(x.eps.upper - log1p(expm1(e) / 4)) < 1e-9);
            tamis_amplified_clear(&x);
            tamis_amplified_clear(&y);
        }
        tamis_design_free(law);
        tamis_design_free(whole);
        tamis_plan_free(plan);
    }
}

static void methods_without_a_coupling_are_refused(void **state)
{
    (void)state;
    static const char *const methods[] = {"conditional_poisson", "sampford",          "pivotal", "pivotal_random",
                                          "systematic",          "systematic_random", "brewer",  "tille"};
    tmi_frame_facts facts;
    assert_int_equal(facts_of(&facts, "[{\"units\": 4, \"certain\": 0, \"smallest\": \"1/4\", \"largest\": \"3/4\"}]", 1, NULL),
                     TAMIS_OK);
    for (size_t i = 0; i < 8; i++) {
        char design[256];
        tamis_error err = {0};
        snprintf(design, sizeof design, "{pps: {method: %s, probability: p, sample: 2, frame: f.csv}}", methods[i]);
        tamis_plan *plan = plan_with(design);
        assert_int_equal(tmi_plan_may_amplify(plan, &facts, &err), i < 4 ? TAMIS_OK : TAMIS_REFUSED);
        if (i >= 4) assert_non_null(strstr(err.message, "the guarantee of a sampled person"));
        assert_int_equal(tmi_plan_may_amplify(plan, NULL, &err), TAMIS_REFUSED); /* the frame was not read */
        tamis_plan_free(plan);
    }
    tmi_frame_facts_clear(&facts);
}

static void facts_that_contradict_themselves_are_none(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "[]",
        "[{}]",
        "[3]",
        "7",
        "[{\"units\": 4, \"certain\": 0, \"smallest\": \"1/4\", \"largest\": null}]",
        "[{\"units\": 4, \"certain\": 5, \"smallest\": \"1/4\", \"largest\": \"1/2\"}]",
        "[{\"units\": 4, \"certain\": 4, \"smallest\": \"1/4\", \"largest\": null}]",
        "[{\"units\": 4, \"certain\": 0, \"smallest\": \"3/4\", \"largest\": \"1/2\"}]",
        "[{\"units\": 4, \"certain\": 0, \"smallest\": \"1/4\", \"largest\": \"1\"}]",
        "[{\"units\": 4, \"certain\": 0, \"smallest\": \"0\", \"largest\": \"1/2\"}]",
        "[{\"units\": 4, \"certain\": 0, \"smallest\": \"1/4\", \"largest\": \"3/2\"}]",
        "[{\"units\": 0, \"certain\": 0, \"smallest\": \"1\", \"largest\": null}]",
        "[{\"units\": 4, \"certain\": -1, \"smallest\": \"1/4\", \"largest\": \"1/2\"}]",
        "[{\"units\": 4, \"certain\": 0, \"smallest\": \"x\", \"largest\": \"1/2\"}]",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        tmi_frame_facts facts;
        tamis_error err = {0};
        assert_int_equal(facts_of(&facts, wrong[i], 1, &err), TAMIS_INVALID);
        assert_memory_equal(err.message, "frame: ", 7);
        assert_null(facts.strata);
    }
}

static void the_account_freezes_the_frame(void **state)
{
    (void)state;
    tamis_plan *plan = plan_with(
        "{stratified: {by: r, within: {poisson: {probability: p, frame: f.csv}}, strata: {b: {}, a: {}}}}");
    tmi_frame_facts facts, copy;
    tmi_value *json;
    tmi_text text;
    tamis_error err = {0};
    assert_int_equal(
        facts_of(&facts,
                 "[{\"units\": 2, \"certain\": 0, \"smallest\": \"1/9\", \"largest\": \"2/5\"}, {\"units\": 3, \"certain\": "
                 "2, \"smallest\": \"1/8\", \"largest\": \"1/8\"}]",
                 2, NULL),
        TAMIS_OK);
    assert_int_equal(tmi_frame_facts_copy(&copy, &facts, NULL), TAMIS_OK);
    assert_int_equal(tmi_frame_size(&copy), 5);
    assert_int_equal(tmi_plan_frozen_json(&json, plan, &copy, NULL), TAMIS_OK);
    tmi_text_init(&text);
    assert_int_equal(tmi_json_canonical(&text, json, NULL), TAMIS_OK);
    assert_non_null(strstr(text.bytes, "\"frame\": \"" HASH "\""));
    /* strata in the order of their names */
    assert_non_null(
        strstr(text.bytes,
               "{\"stratified\": {\"strata\": [{\"probabilities\": [\"1/8\", \"1\"]}, {\"probabilities\": [\"2/5\"]}], "
               "\"within\": \"poisson\"}}"));
    tmi_text_clear(&text);
    tmi_value_free(json);
    EVERY_ALLOCATION_FAILS(tmi_plan_frozen_json(&json, plan, &facts, &err), assert_null(json));
    tmi_value_free(json);
    tmi_frame_facts_clear(&copy);
    tmi_frame_facts_clear(&facts);
    tamis_plan_free(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_frame_loses_what_its_likeliest_units_lose),
        cmocka_unit_test(two_stages_lose_no_more_than_their_clusters),
        cmocka_unit_test(two_stages_lose_what_their_smallest_cluster_loses),
        cmocka_unit_test(bernoulli_inside_clusters_loses_by_its_rate),
        cmocka_unit_test(methods_without_a_coupling_are_refused),
        cmocka_unit_test(facts_that_contradict_themselves_are_none),
        cmocka_unit_test(the_account_freezes_the_frame),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
