/* The plan as JSON: canonical, complete, without secrets; and the law of its sample. */
#include "tests/test.h"

#include <stdio.h>

#include "base/memory.h"
#include "base/value/json.h"
#include "plan/json.h"
#include "tests/base/memory_that_fails.h"
#include "tests/plan/reader.h"

#define COLUMNS \
    "columns:\n" \
    "  age: {from: 0, to: 120, step: 1, missing_codes: [999, 9.9]}\n" \
    "  pay: {from: -0.25, to: 3, step: 0.25, missing: 0.5, typical: 1}\n" \
    "  status: {values: [employed, unemployed], missing: category, missing_codes: [9]}\n" \
    "  awards: {values: [\"No\", \"Yes\"], missing: \"No\"}\n"
#define HEAD \
    "tamis: 1\nsurvey: s\nsource: {files: [/data/b.csv, a.csv]}\nprivacy: {epsilon: 1, id: hid, rows_per_unit: 2}\n" COLUMNS
#define MEAN "statistics: [{mean: pay}]\n"

static const char *const plans[] = {
    HEAD "design: {srs: {population: 100, sample: 10}}\nledger: x.ledger\nbudget: {epsilon: 4, delta: 1/3}\n"
         "postprocess: {nonnegative: yes, consistent: yes, caution: {cv_above: 0.2, units_below: 50}, unreliable: {units_below: "
         "20}, suppress: {cv_above: 0.3, units_below: 10}}\n"
         "calibrate: {method: raking, to: [{count: units, by: [awards, {age: [18]}], totals: [[1, 2], [3, 4]]}, {total: {awards: "
         "\"Yes\"}, "
         "totals: 50}]}\n"
         "statistics:\n"
         "  - count: units\n    by: [status, {age: [0, 16, 65]}]\n"
         "  - {total: pay, where: {age: {from: 15.5}, awards: \"Yes\"}, budget_share: 2, confidence: 0.9}\n"
         "  - {mean: {status: [employed, missing]}, method: ratio}\n"
         "  - {share: {awards: \"Yes\"}, by: {age: [0]}}\n"
         "  - {ratio: {of: pay, to: {age: 18}}}\n"
         "  - {mean: pay, by: {age: [10, 20, 30, 40]}, shrink: yes}\n"
         "  - {table: [status, awards], by: {pay: [0, 0.3]}}\n"
         "  - {histogram: pay, cuts: [0, 1/3], by: awards}\n"
         "  - {quantile: pay, at: [0.25, 0.5]}\n"
         "  - {median: pay}\n"
         "  - {variance: pay}\n",
    HEAD "design: {census: {population: 7}}\n" MEAN,
    HEAD "design: {srs_with_replacement: {population: 10, sample: 20}}\n" MEAN,
    HEAD "design: {bernoulli: {rate: 1/10}}\n"
         "statistics:\n  - {difference: {mean: pay, between: {status: [employed, missing]}}, by: awards, confidence: 0.9}\n"
         "  - {difference: {share: {awards: \"Yes\"}, minus: {ratio: {of: pay, to: {age: 18}}}}, where: {age: {from: 15.5}}}\n"
         "  - {quotient: {count: units, between: {awards: [\"Yes\", \"No\"]}}}\n"
         "  - {contrast: {total: pay, by: {age: [16, 65]}, weights: [1, 0, -1/2]}, label: l}\n"
         "  - {change: {mean: pay}, by: awards, since: w1-release, samples: independent}\n",
    HEAD "design: {poisson: {probability: pi, frame: sub/f.csv}}\n" MEAN,
    HEAD "design: {pps: {method: tille, probability: pi, sample: 50}, max_weight: 20}\n" MEAN,
    HEAD "design: {systematic: {population: 10, sample: 3, order: random}, variance: deville}\n" MEAN,
    HEAD
    "design: {cluster: {by: d, population: 10, sample: 3, smallest: 2, largest: 4}, weight: w, max_weight: 9, weight_step: 0.5, "
    "weights_are: final, nonresponse: yes}\n" MEAN,
    HEAD
    "design: {two_stage: {first: {by: d, population: 10, sample: 3}, second: {population: m, sample: 5}}, max_weight: 9}\n" MEAN,
    HEAD
    "design: {two_stage: {first: {by: d, population: 10, sample: 3}, second: {population: m, sample: k}}, max_weight: 9}\n" MEAN,
    HEAD "design: {two_stage: {first: {by: d, population: 10, sample: 3}, second: {population: m, sample: 5, smallest: 40}}, "
         "max_weight: 9}\n" MEAN,
    HEAD "design: {weights: {strata: st, cluster: psu}, weight: w, max_weight: 9}\n" MEAN,
    HEAD "design: {weights: {deff: 2}, weight: w, max_weight: 9, typical: {population: 1/3e-3, sample: 200, rows: {mean: 1.5, "
         "sd: 1/2}, icc: 0}}\n" MEAN,
    HEAD "design: {two_stage: {first: {by: d, population: 10, sample: 3}, second: {population: m, sample: k}}, max_weight: 9, "
         "nonresponse: yes, "
         "typical: {cluster: {mean: 4, sd: 0.5}, taken: 2, response: 2/3}}\n" MEAN,
    "tamis: 1\nsurvey: s\nsource: {file: a.csv}\nprivacy: {epsilon: 1}\ndesign: {cluster: {by: d, population: 10, sample: 3, "
    "smallest: 1, largest: 9}, "
    "typical: {cluster: 4}}\ncolumns: {x: {from: 0, to: 9, step: 1, typical: {mean: 3, sd: 2, share: 3/4}}, g: {values: [a, b, "
    "c], missing: "
    "category, typical: "
    "{b: 0.2, missing: 1/10}}}\nstatistics: [{total: x, by: g}]\n",
    HEAD "design: {stratified: {by: r, within: {bernoulli: {rate: 0.1}}, strata: {z: {rate: 0.5, population: 8}, a: {}}}}\n" MEAN,
    HEAD "design: {stratified: {by: [b, a, c], within: srs, strata: {y: {q: {u: {population: 9, sample: 2}}}, x: {q: {v: "
         "{population: 8, "
         "sample: 2}}, p: {u: {population: 7, sample: 1}}}}}}\n" MEAN,
    HEAD "design: {stratified: {by: r, within: {two_stage: {first: {by: d}, second: {population: m, sample: 2}}}, strata: {n: "
         "{population: "
         "8, sample: 2}}}, max_weight: 9}\n" MEAN,
    "tamis: 1\nsurvey: s\nsource: {file: a.duckdb, table: t}\nprivacy: {rho: 0.5, protect: frame, given: population, "
    "secret_sample: yes}\n"
    "design: {stratified: {by: size, within: srs, strata: {small: {population: 7, sample: 2}, large: {population: 9, sample: "
    "4}}}}\n"
    "columns: {x: {from: 0, to: {large: 1e10, small: 2e6}, step: {small: 1, large: 100}}}\nstatistics: [{total: x, by: size}]\n",
    HEAD "  region: {strata: {north: [n1, n2], south: s1}, label: part of the country}\n"
         "design: {stratified: {by: r, within: srs, strata: {n1: {population: 8, sample: 2}, s1: {population: 9, sample: 3}, n2: "
         "{population: 7, sample: 2}}}}\nstatistics: [{total: pay, by: region}, {mean: pay, where: {region: north}}]\n",
    "tamis: 1\nsurvey: s\nsource: {file: a.csv}\nprivacy: {epsilon: 1}\ndesign: {srs: {population: 10, sample: 3}}\ncolumns: {d: "
    "{values: [a, b, c], missing: b}, r: {of: d, parts: {s: [a, c], n: b}, label: l}}\nstatistics: [{count: units, by: r}]\n",
    HEAD "design: {two_stage: {first: {by: d, pps: {method: tille, probability: pi, sample: 3}}, second: {population: m, sample: "
         "k}}, max_weight: 9}\n" MEAN,
    HEAD "design: {two_stage: {first: {by: d, systematic: {population: 10, sample: 3, order: random}}, second: {population: m, "
         "sample: 5, method: systematic}}, max_weight: 9}\n" MEAN,
    HEAD "design: {two_stage: {first: {by: d, population: 10, sample: 3}, second: {method: bernoulli, rate: 0.3}}}\n" MEAN,
    HEAD
    "design: {stratified: {by: r, within: {two_stage: {first: {by: d, pps: {method: tille, probability: pi}}, second: {method: "
    "bernoulli, rate: 1/7}}}, strata: {n: {population: 8, sample: 2}, s: {sample: 3}}}, max_weight: 9}\n" MEAN,
    HEAD "design: {stratified: {by: r, within: {two_stage: {first: {by: d, pps: {method: sampford, probability: pi}}, second: "
         "{population: m, sample: 2}}}, strata: {n: {population: 8, sample: 2}, s: {sample: 3}}}, max_weight: 9}\n" MEAN,
    HEAD
    "design: {srs: {population: 100, sample: 10}}\n"
    "statistics:\n  - {correlation: [pay, age], by: awards, confidence: 0.9}\n"
    "  - {regression: {of: pay, on: [age, awards, status], interactions: [[status, awards]]},\n"
    "     baseline: {awards: \"Yes\", status: missing}, typical: {vif: 1.5, r2: 1/3}, where: {age: {from: 15.5}}}\n"
    "  - {regression: {of: {status: employed}, on: [awards, {age: [16, 65]}], family: logistic}, baseline: {age: '[16,65)'}}\n"
    "  - {regression: {of: age, on: [awards], family: poisson}, by: status}\n",
    "tamis: 1\nsurvey: s\nsource: {file: a.csv}\nprivacy: {epsilon: 1}\ncolumns: {pay: {from: 0, to: 9, step: 1}, then: {from: "
    "0, to: 9, "
    "step: 1}}\ndesign: {srs: {population: 100, sample: 10}}\nstatistics:\n  - {change: {mean: pay}, since: w1-release, overlap: "
    "{size: 5, "
    "before: then}}\n",
    HEAD "design: {weights: {cluster: d, psus: psus.csv, population: 100}, weight: w, max_weight: 9}\n"
         "statistics:\n  - {mean: pay, by: awards, for_change: yes}\n  - {count: units, by: awards, for_change: yes}\n",
};
#define PLANS (sizeof plans / sizeof *plans)

/* The canonical text of a tree, which is freed. */
static char *text_of(tmi_value *tree)
{
    char *text;
    tmi_text t;
    tmi_text_init(&t);
    assert_int_equal(tmi_json_canonical(&t, tree, NULL), TAMIS_OK);
    assert_int_equal(tmi_text_take(&text, &t, NULL), TAMIS_OK);
    tmi_value_free(tree);
    return text;
}

static char *json_of(const char *text)
{
    char *json;
    tamis_plan *p = read_good(text);
    assert_int_equal(tamis_plan_json(&json, p, NULL), TAMIS_OK);
    tamis_plan_free(p);
    return json;
}

static void null_is_invalid(void **state)
{
    (void)state;
    char *json = "old";
    tamis_error err = {0};
    assert_int_equal(tamis_plan_json(NULL, NULL, &err), TAMIS_INVALID);
    assert_string_equal(err.message, "json: NULL");
    assert_int_equal(tamis_plan_json(&json, NULL, &err), TAMIS_INVALID);
    assert_string_equal(err.message, "plan: NULL");
    assert_null(json);
}

/* Nothing is lost: the JSON is a plan that has the same JSON. */
static void the_json_of_a_plan_is_a_plan(void **state)
{
    (void)state;
    for (size_t i = 0; i < PLANS; i++) {
        char *first = json_of(plans[i]), *second = json_of(first);
        assert_string_equal(first, second);
        tmi_free(first);
        tmi_free(second);
    }
}

static void a_small_plan_is_written_so(void **state)
{
    (void)state;
    char *json = json_of(plans[1]);
    assert_string_equal(
        json,
        "{\"columns\": {\"age\": {\"from\": \"0\", \"missing_codes\": [\"999\", "
        "\"1393301134717747/140737488355328\", \"5573204538870989/562949953421312\"], \"step\": \"1\", \"to\": \"120\"}, "
        "\"awards\": "
        "{\"missing\": \"No\", \"values\": [\"No\", \"Yes\"]}, \"pay\": {\"from\": \"-1/4\", \"missing\": \"1/2\", \"step\": "
        "\"1/4\", \"to\": \"3\", \"typical\": \"1\"}, \"status\": {\"missing\": \"category\", \"missing_codes\": [\"9\"], "
        "\"values\": [\"employed\", \"unemployed\"]}}, \"design\": {\"census\": {\"population\": 7}}, \"postprocess\": {}, "
        "\"privacy\": {\"design_variables\": \"public\", \"epsilon\": \"1\", \"given\": \"frame\", \"id\": \"hid\", \"protect\": "
        "\"sample\", \"rows_per_unit\": 2, \"secret_sample\": false, \"unit\": \"unit\"}, \"source\": {\"files\": [\"b.csv\", "
        "\"a.csv\"]}, \"statistics\": [{\"budget_share\": \"1\", \"confidence\": \"19/20\", \"mean\": \"pay\"}], \"survey\": "
        "\"s\", \"tamis\": 1}");
    tmi_free(json);
}

static char *frozen_of(const char *text)
{
    tmi_value *json;
    tamis_plan *p = read_good(text);
    assert_int_equal(tmi_plan_frozen_json(&json, p, NULL, NULL), TAMIS_OK);
    tamis_plan_free(p);
    return text_of(json);
}

#define FROZEN(source, strata) \
    "tamis: 1\nsurvey: s\nsource: " source "\nprivacy: {epsilon: 1, id: hid, protect: frame, given: population, secret_sample: " \
    "yes}\ndesign: {stratified: {by: r, within: srs, strata: {" strata "}}}\nstatistics: [{count: units}]\n"
#define A "a: {population: 8, sample: 2}"
#define B "b: {population: 9, sample: 4}"

static void an_account_freezes_what_a_plan_promises(void **state)
{
    (void)state;
    char *first = frozen_of(FROZEN("{file: x/a.csv}", A ", " B));
    assert_string_equal(first, "{\"design\": {\"stratified\": {\"by\": \"r\", \"strata\": {\"a\": {\"population\": 8, "
                               "\"sample\": 2}, \"b\": {\"population\": 9, \"sample\": 4}}, \"within\": {\"srs\": {}}}}, "
                               "\"design_variables\": \"public\", "
                               "\"given\": \"population\", \"id\": \"hid\", \"outsider\": {\"design\": {\"stratified\": "
                               "{\"strata\": [{\"population\": 8, "
                               "\"sample\": 2}, {\"population\": 9, \"sample\": 4}], \"within\": \"srs\"}}}, \"protect\": "
                               "\"frame\", \"rows_per_unit\": 1, "
                               "\"secret_sample\": true, \"source\": {\"files\": [\"x/a.csv\"]}, \"unit\": \"unit\"}");
    char *other = frozen_of(FROZEN("{file: x/a.csv}", B ", " A));
    assert_string_equal(first, other); /* the order of the strata says nothing */
    tmi_free(other);
    other = frozen_of(FROZEN("{file: x/a.csv}", A));
    assert_string_not_equal(first, other);
    tmi_free(other);
    tmi_free(first);

    first = frozen_of(FROZEN("{postgres: {connection: service=secret, table: t}}", A));
    other = frozen_of(FROZEN("{postgres: {connection: service=other, table: t}}", A));
    assert_null(strstr(first, "service"));
    assert_non_null(strstr(first, "{\"connections\": [\"")); /* 64 digits */
    assert_string_not_equal(first, other);
    tmi_free(first);
    tmi_free(other);
    other = json_of(FROZEN("{postgres: {connection: service=secret, table: t}}", A));
    assert_non_null(strstr(other, "\"source\": {\"postgres\": {\"table\": \"t\"}}"));
    tmi_free(other);
}

/* What the account keeps for outsiders is the design that amplification is computed with. */
static void the_law_is_the_same_both_ways(void **state)
{
    (void)state;
    static const struct {
        const char *text, *theorem;
    } designs[] = {
        {"{srs: {population: 100, sample: 10}}", "srs"},
        {"{census: {population: 7}}", "census"},
        {"{srs_with_replacement: {population: 10, sample: 3}}", "srs_with_replacement"},
        {"{bernoulli: {rate: 1/10}}", "poisson"},
        {"{bernoulli: {rate: 1/10, population: 50}}", "poisson"},
        {"{systematic: {population: 10, sample: 3, order: random}}", "srs"},
        {"{systematic: {population: 10, sample: 3, order: public}}", "systematic"},
        {"{cluster: {by: d, population: 10, sample: 3, smallest: 2, largest: 4}}", "cluster"},
        {"{cluster: {by: d, population: 2, sample: 1, smallest: 2, largest: 4}}", "cluster"},
        {"{two_stage: {first: {by: d, population: 10, sample: 3}, second: {population: m, sample: 5}}, max_weight: 9}",
         "cluster"},
        {"{stratified: {by: r, within: {cluster: {by: d, smallest: 1, largest: 3}}, strata: {a: {population: 8, sample: 2}, b: "
         "{population: "
         "4, sample: 3}}}}",
         "stratified"},
        {"{stratified: {by: r, within: {systematic: {order: random}}, strata: {a: {population: 8, sample: 2}, b: {population: 4, "
         "sample: "
         "3}}}}",
         "stratified"},
        {"{stratified: {by: r, within: bernoulli, strata: {a: {rate: 0.1}, b: {rate: 0.2}}}}", "stratified"},
    };
    for (size_t i = 0; i < sizeof designs / sizeof *designs; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "tamis: 1\nsurvey: s\nsource: {file: a.csv}\nprivacy: {epsilon: 1, delta: 1e-9, id: h, rows_per_unit: 3, "
                 "protect: frame, given: population, secret_sample: yes}\nstatistics: [{count: units}]\ndesign: %s\n",
                 designs[i].text);
        tamis_plan *plan = read_good(text);
        tamis_design *own, *read;
        tamis_sampling_facts facts;
        tamis_sample_promise promise = {0};
        tamis_amplified x, y;
        char design[1024] = "";
        assert_int_equal(tamis_plan_sampling(&own, &facts, &promise.eps, &promise.delta, plan, NULL), TAMIS_OK);
        assert_false(facts.known);
        char *frozen = frozen_of(text);
        const char *from = strstr(frozen, "\"outsider\": {\"design\": "), *to = strstr(frozen, ", \"protect\"");
        assert_true(from && to && to > from);
        from += strlen("\"outsider\": {\"design\": ");
        snprintf(design, sizeof design, "%.*s", (int)(to - from - 1), from);
        assert_int_equal(tamis_design_read(&read, design, NULL), TAMIS_OK);
        assert_int_equal(tamis_amplify_design(&x, own, &promise, NULL), TAMIS_OK);
        assert_int_equal(tamis_amplify_design(&y, read, &promise, NULL), TAMIS_OK);
        assert_true(x.eps.upper == y.eps.upper && x.delta.upper == y.delta.upper && x.count == y.count);
        assert_string_equal(x.theorem, designs[i].theorem);
        assert_string_equal(y.theorem, designs[i].theorem);
        tamis_amplified_clear(&x);
        tamis_amplified_clear(&y);
        tamis_design_free(own);
        tamis_design_free(read);
        tmi_free(frozen);
        tamis_plan_free(plan);
    }
}

static void what_the_plan_does_not_tell_is_not_claimed(void **state)
{
    (void)state;
    static const struct {
        const char *design, *reason;
    } cases[] = {
        {"{poisson: {probability: pi}, max_weight: 9}", "design.poisson: the probabilities"},
        {"{pps: {method: brewer, probability: pi, sample: 3}, max_weight: 9}", "design.pps: the probabilities"},
        {"{two_stage: {first: {by: d, population: 10, sample: 3}, second: {population: m, sample: k}}, max_weight: 9}",
         "design.two_stage: the second-stage"},
        {"{two_stage: {first: {by: d, pps: {method: sampford, probability: p, sample: 3}}, second: {population: m, sample: 5}}, "
         "max_weight: 9}",
         "design.two_stage: where clusters are not a simple random sample"},
        {"{two_stage: {first: {by: d, population: 10, sample: 3}, second: {population: m, sample: 5, method: systematic}}, "
         "max_weight: 9}",
         "design.two_stage: no theorem covers a systematic second stage"},
        {"{weights: {}, weight: w, max_weight: 9}", "design.weights: only weights"},
        {"{srs: {population: 10, sample: 3}, weight: w, max_weight: 9, weights_are: final}", "design.weights_are: final weights"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024], start[128];
        snprintf(text, sizeof text,
                 "tamis: 1\nsurvey: s\nsource: {file: a.csv}\nprivacy: {epsilon: 1, protect: frame, given: population, "
                 "secret_sample: yes}\nstatistics: [{count: units}]\ndesign: %s\n",
                 cases[i].design);
        tamis_plan *plan = read_good(text);
        tamis_design *design;
        tamis_sampling_facts facts;
        const tamis_number *eps, *delta;
        tamis_error err = {0};
        assert_int_equal(tamis_plan_sampling(&design, &facts, &eps, &delta, plan, &err), TAMIS_REFUSED);
        assert_null(design);
        assert_memory_equal(err.message, cases[i].reason, strlen(cases[i].reason));
        char *frozen = frozen_of(text);
        snprintf(start, sizeof start, "\"outsider\": \"%s", cases[i].reason);
        assert_non_null(strstr(frozen, start));
        tmi_free(frozen);
        tamis_plan_free(plan);
    }
    char *frozen = frozen_of(plans[0]); /* the sample is not secret */
    assert_non_null(strstr(frozen, "\"outsider\": \""));
    tmi_free(frozen);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static const size_t some[] = {0, 7, 14};
    for (size_t i = 0; i < 3; i++) {
        tamis_plan *plan = read_good(plans[some[i]]);
        tamis_design *design = NULL;
        tamis_sampling_facts facts;
        const tamis_number *eps, *delta;
        char *text = NULL;
        tmi_value *json = NULL;
        tamis_error err = {0};
        EVERY_ALLOCATION_FAILS(tamis_plan_json(&text, plan, &err), assert_null(text));
        tamis_free(text);
        EVERY_ALLOCATION_FAILS(tmi_plan_frozen_json(&json, plan, NULL, &err), assert_null(json));
        tmi_value_free(json);
        if (some[i] == 14)
            EVERY_ALLOCATION_FAILS(tamis_plan_sampling(&design, &facts, &eps, &delta, plan, &err), assert_null(design));
        tamis_design_free(design);
        tamis_plan_free(plan);
    }
}

int main(void)
{
    const struct CMUnitTest group[] = {
        cmocka_unit_test(the_json_of_a_plan_is_a_plan),
        cmocka_unit_test(a_small_plan_is_written_so),
        cmocka_unit_test(null_is_invalid),
        cmocka_unit_test(an_account_freezes_what_a_plan_promises),
        cmocka_unit_test(the_law_is_the_same_both_ways),
        cmocka_unit_test(what_the_plan_does_not_tell_is_not_claimed),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(group, NULL, NULL);
}
