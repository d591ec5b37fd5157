/* `method: auto` of quantiles: from public numbers alone, once, and named in the plan's JSON. */
#include "tests/test.h"

#include "plan/json.h"

#include <stdio.h>
#include <string.h>

#include "tests/plan/reader.h"

static char text[4096];

static const char *plan_text(const char *design, const char *privacy, const char *statistics)
{
    snprintf(text, sizeof text,
             "tamis: 1\nsurvey: s\nsource: {file: a.csv}\ndesign: {%s}\nprivacy: {unit: person, %s}\n"
             "columns:\n  x: {from: 0, to: 200, step: 1}\n  g: {values: [a, b, c, d]}\nstatistics:\n%s",
             design, privacy, statistics);
    return text;
}

#define SRS "srs: {population: 5000, sample: 1024}" /* sqrt: 32 */
#define MEDIAN "  - {median: x}\n"

/* The mechanism's epsilon times the square root of the rows of a group is at least 32, or not: on both sides of the line. */
static void public_numbers_decide(void **state)
{
    (void)state;
    static const struct {
        const char *design, *privacy, *statistics, *method;
    } cases[] = {
        {SRS, "epsilon: 2", MEDIAN, "mechanism"},
        {SRS, "epsilon: 1.999", MEDIAN, "distribution"},
        {SRS, "epsilon: 2, delta: 1e-6", MEDIAN, "mechanism"},
        {SRS, "rho: 1/4", MEDIAN, "mechanism"}, /* sqrt(8 / 8) */
        {SRS, "rho: 0.2499", MEDIAN, "distribution"},
        {SRS, "epsilon: 4", "  - {median: x, by: g}\n", "mechanism"},
        {SRS, "epsilon: 3.999", "  - {median: x, by: g}\n", "distribution"},
        {SRS, "epsilon: 4", "  - {quantile: x, at: [0.2, 0.4, 0.6, 0.8]}\n  - {mean: x}\n", "mechanism"},
        {SRS, "epsilon: 3.999", "  - {quantile: x, at: [0.2, 0.4, 0.6, 0.8]}\n  - {mean: x}\n", "distribution"},
        {SRS, "epsilon: 3", "  - {median: x, budget_share: 2}\n  - {mean: x}\n", "mechanism"},
        {SRS, "epsilon: 2.8", "  - {median: x, where: {g: a}}\n", "distribution"}, /* half of the rows */
        {SRS, "epsilon: 2.9", "  - {median: x, where: {g: a}}\n", "mechanism"},
        {SRS, "epsilon: 0.001", "  - {median: x, method: mechanism}\n", "mechanism"},
        {SRS, "epsilon: 100", "  - {median: x, method: distribution}\n", "distribution"},
        {"bernoulli: {rate: 1/4, population: 4096}", "epsilon: 2", MEDIAN, "mechanism"},
        {"bernoulli: {rate: 1/4, population: 4095}", "epsilon: 2", MEDIAN, "distribution"},
        {"bernoulli: {rate: 1/4}", "epsilon: 100", MEDIAN, "distribution"}, /* no number is public */
        {"weights: {}, weight: w, max_weight: 4", "epsilon: 100", MEDIAN, "distribution"},
        {"weights: {}, weight: w, max_weight: 4, typical: {sample: 1024}", "epsilon: 2", MEDIAN, "mechanism"},
        {"weights: {}, weight: w, max_weight: 4, typical: {sample: 1023}", "epsilon: 2", MEDIAN, "distribution"},
        {"cluster: {by: d, population: 300, sample: 256, smallest: 1, largest: 9}, typical: {cluster: 4}", "epsilon: 2", MEDIAN,
         "mechanism"},
        {"cluster: {by: d, population: 300, sample: 256, smallest: 4, largest: 9}", "epsilon: 2", MEDIAN, "mechanism"},
        {"cluster: {by: d, population: 300, sample: 256, smallest: 3, largest: 9}", "epsilon: 2", MEDIAN, "distribution"},
        {"srs: {population: 5000, sample: 2048}, nonresponse: yes, typical: {response: 1/2}",
         "protect: respondents, given: frame, epsilon: 2", MEDIAN, "mechanism"},
        {"srs: {population: 5000, sample: 2048}, nonresponse: yes, typical: {response: 0.49}",
         "protect: respondents, given: frame, epsilon: 2", MEDIAN, "distribution"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis_plan *plan = read_good(plan_text(cases[i].design, cases[i].privacy, cases[i].statistics));
        if (strcmp(plan->statistics[0].method, cases[i].method) != 0)
            fail_msg("%s, %s, %s: %s", cases[i].design, cases[i].privacy, cases[i].statistics, plan->statistics[0].method);
        tamis_plan_free(plan);
    }
}

/* What auto was is a statistic like any other: the same one written out is a duplicate, in the plan as in its JSON. */
static void what_was_taken_counts_as_written(void **state)
{
    (void)state;
    tamis_plan *plan;
    tamis_error err = {0};
    static const char *const words[] = {"distribution", "histogram"}; /* the new word and the old one are the same */
    for (size_t i = 0; i < 2; i++) {
        char statistics[100];
        snprintf(statistics, sizeof statistics, MEDIAN "  - {median: x, method: %s}\n", words[i]);
        plan_text(SRS, "epsilon: 1", statistics);
        assert_int_equal(tamis_plan_read_text(&plan, "p.yaml", text, strlen(text), &err), TAMIS_INVALID);
        assert_non_null(strstr(err.message, "duplicate statistic; first given on line 10"));
    }
    tamis_plan_free(read_good(plan_text(SRS, "epsilon: 1", MEDIAN "  - {median: x, method: mechanism}\n")));
}

/* Plans with the old word are read, and written as they are: certificates made of them still follow from them. */
static void the_old_word_is_read(void **state)
{
    (void)state;
    tamis_plan *plan = read_good(plan_text(SRS, "epsilon: 100", "  - {median: x, method: histogram}\n"));
    tmi_value *json;
    assert_false(tmi_has_mechanism(&plan->statistics[0]));
    assert_int_equal(tmi_plan_json(&json, plan, NULL), TAMIS_OK);
    const tmi_value *first = tmi_value_at(tmi_value_get(json, "statistics"), 0);
    assert_string_equal(tmi_value_get(first, "method")->text, "histogram");
    tmi_value_free(json);
    tamis_plan_free(plan);
    plan = read_good(plan_text(SRS, "epsilon: 100", "  - {median: x, method: histogram_method}\n")); /* not the same */
    assert_true(tmi_has_mechanism(&plan->statistics[0]));
    tamis_plan_free(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(public_numbers_decide), cmocka_unit_test(the_old_word_is_read),
                                       cmocka_unit_test(what_was_taken_counts_as_written)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
