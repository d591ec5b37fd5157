/* Area inclusion: every form of a design, and what is wrong with some. */
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

#include "tests/base/memory_that_fails.h"

#define EXACT(x) "{\"lower\": " x ", \"upper\": " x "}"
#define HALF EXACT("0.5")
#define QUARTER EXACT("0.25")

static tamis_status ask(char **answer, const char *kind, const char *design, tamis_error *err)
{
    char line[1024];
    int length = snprintf(line, sizeof line,
                          "{\"id\": \"x\", \"area\": \"inclusion\", \"kind\": \"%s\", \"in\": {\"design\": %s}}", kind, design);
    assert_true(length > 0 && (size_t)length < sizeof line);
    return tamis_compute_line(answer, line, (size_t)length, err);
}

static void answers(void **state)
{
    static const struct {
        const char *kind, *design, *out;
    } cases[] = {
        {"first", "{\"srs\": {\"population\": 4, \"sample\": 1}}",
         "\"pi\": [" QUARTER ", " QUARTER ", " QUARTER ", " QUARTER "]"},
        {"first", "{\"bernoulli\": {\"rate\": \"1/4\", \"population\": 2}}", "\"pi\": [" QUARTER ", " QUARTER "]"},
        {"first", "{\"poisson\": {\"probabilities\": [\"0.25\", 1]}}", "\"pi\": [" QUARTER ", " EXACT("1") "]"},
        {"first", "{\"census\": {\"population\": 2}}", "\"pi\": [" EXACT("1") ", " EXACT("1") "]"},
        {"joint", "{\"srs\": {\"population\": 2, \"sample\": 1}}",
         "\"pij\": [[" HALF ", " EXACT("0") "], [" EXACT("0") ", " HALF "]]"},
        {"joint", "{\"pps\": {\"method\": \"pivotal\", \"probabilities\": [\"1/2\", \"0.5\"]}}",
         "\"pij\": [[" HALF ", " EXACT("0") "], [" EXACT("0") ", " HALF "]]"},
        {"third", "{\"srs\": {\"population\": 2, \"sample\": 1}}",
         "\"pijk\": [[[" HALF
         ", " EXACT("0") "], [" EXACT("0") ", " EXACT("0") "]], [[" EXACT("0") ", " EXACT("0") "], [" EXACT("0") ", " HALF "]]]"},
        {"third", "{\"poisson\": {\"probabilities\": [\"1/2\", \"1/2\"]}}",
         "\"pijk\": [[[" HALF ", " QUARTER "], [" QUARTER ", " QUARTER "]], [[" QUARTER ", " QUARTER "], [" QUARTER ", " HALF
         "]]]"},
        {"design", "{\"systematic\": {\"population\": 4, \"sample\": 2, \"order\": \"public\"}}",
         "\"samples\": [[[0, 2], " HALF "], [[1, 3], " HALF "]]"},
        {"design", "{\"systematic\": {\"population\": 2, \"sample\": 1, \"order\": \"random\"}}",
         "\"samples\": [[[0], " HALF "], [[1], " HALF "]]"},
        {"design", "{\"srs_with_replacement\": {\"population\": 2, \"sample\": 2}}",
         "\"samples\": [[[0, 0], " QUARTER "], [[0, 1], " HALF "], [[1, 1], " QUARTER "]]"},
        {"design", "{\"cluster\": {\"population\": 2, \"sample\": 1, \"smallest\": 2, \"largest\": 2}}",
         "\"samples\": [[[0, 1], " HALF "], [[2, 3], " HALF "]]"},
        {"design",
         "{\"two_stage\": {\"first\": {\"population\": 2, \"sample\": 1}, \"second\": {\"population\": [2, 1], "
         "\"sample\": [1, 1]}}}",
         "\"samples\": [[[0], " QUARTER "], [[1], " QUARTER "], [[2], " HALF "]]"},
        {"design",
         "{\"two_stage\": {\"first\": {\"population\": 2, \"sample\": 1}, \"second\": {\"population\": [2, 1], "
         "\"sample\": 2}}}",
         "\"samples\": [[[0, 1], " HALF "], [[2], " HALF "]]"},
        {"design",
         "{\"stratified\": {\"within\": \"srs\", \"strata\": [{\"population\": 2, \"sample\": 1}, {\"population\": "
         "2, \"sample\": 2}]}}",
         "\"samples\": [[[0, 2, 3], " HALF "], [[1, 2, 3], " HALF "]]"},
        {"design",
         "{\"stratified\": {\"within\": {\"pps\": {\"method\": \"sampford\"}}, \"strata\": [{\"probabilities\": "
         "[\"1/2\", \"1/2\"]}, {\"probabilities\": [1]}]}}",
         "\"samples\": [[[0, 2], " HALF "], [[1, 2], " HALF "]]"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *answer = NULL, expected[1024];
        tamis_error err = {0};
        if (ask(&answer, cases[i].kind, cases[i].design, &err) != TAMIS_OK) fail_msg("%s: %s", cases[i].design, err.message);
        snprintf(expected, sizeof expected, "{\"id\": \"x\", \"out\": {%s}}", cases[i].out);
        assert_string_equal(answer, expected);
        tamis_free(answer);
    }
}

static void refuses(void **state)
{
    static const struct {
        const char *kind, *design, *message;
    } cases[] = {
        {"first", "3", "design: must be an object with one key"},
        {"first", "{}", "design: must be an object with one key"},
        {"first", "{\"srs\": {\"population\": 4, \"sample\": 1}, \"census\": {\"population\": 4}}", "design: must be"},
        {"first", "{\"simple\": {}}", "design: unknown"},
        {"first", "{\"srs\": 3}", "design: srs: must be an object"},
        {"first", "{\"srs\": {\"population\": 4}}", "design: srs: the field 'sample' is missing"},
        {"first", "{\"srs\": {\"population\": 4, \"sample\": 1, \"rate\": 1}}", "design: srs: 'rate' is not a field of srs"},
        {"first", "{\"srs\": {\"population\": 4, \"sample\": 5}}", "design: srs: sample:"},
        {"first", "{\"srs\": {\"population\": 4, \"sample\": 1.0}}", "design: srs: sample: must be an integer"},
        {"first", "{\"srs\": {\"population\": 0, \"sample\": 1}}", "design: srs: population:"},
        {"first", "{\"srs\": {\"population\": 2000000, \"sample\": 1}}", "design: at most"},
        {"joint", "{\"srs\": {\"population\": 2000000, \"sample\": 1}}", "design: pairs can be listed for at most"},
        {"design", "{\"srs\": {\"population\": 21, \"sample\": 1}}", "design: samples can be listed"},
        {"first", "{\"srs_with_replacement\": {\"population\": 4, \"sample\": 0}}", "design: srs_with_replacement: sample:"},
        {"first", "{\"bernoulli\": {\"rate\": \"0\", \"population\": 5}}", "design: bernoulli: rate:"},
        {"first", "{\"bernoulli\": {\"rate\": 0.5, \"population\": 5}}", "design: bernoulli: rate: write a number"},
        {"first", "{\"poisson\": {\"probabilities\": []}}", "design: poisson: probabilities:"},
        {"first", "{\"poisson\": {\"probabilities\": [\"1/2\", \"2\"]}}", "design: poisson: probabilities: number 1"},
        {"first", "{\"poisson\": {\"probabilities\": \"1/2\"}}", "design: poisson: probabilities: must be a list"},
        {"first", "{\"pps\": {\"method\": \"best\", \"probabilities\": [\"1/2\", \"1/2\"]}}", "design: pps: method:"},
        {"first", "{\"pps\": {\"method\": 3, \"probabilities\": [\"1/2\", \"1/2\"]}}", "design: pps: method: must be a string"},
        {"first", "{\"pps\": {\"method\": \"tille\", \"probabilities\": [\"1/2\", \"1/3\"]}}",
         "design: pps: probabilities: their sum"},
        {"first", "{\"systematic\": {\"population\": 4, \"sample\": 2, \"order\": \"none\"}}", "design: systematic: order:"},
        {"first", "{\"cluster\": {\"population\": 4, \"sample\": 2, \"smallest\": 1, \"largest\": 2}}",
         "design: cluster: largest:"},
        {"first", "{\"cluster\": {\"population\": 4, \"sample\": 2, \"smallest\": 0, \"largest\": 0}}",
         "design: cluster: smallest:"},
        {"first", "{\"cluster\": {\"population\": 9999999, \"sample\": 2, \"smallest\": 1, \"largest\": 1}}",
         "design: cluster: population:"},
        {"first", "{\"two_stage\": {\"first\": 3, \"second\": {}}}", "design: two_stage: first: must be an object"},
        {"first",
         "{\"two_stage\": {\"first\": {\"population\": 2, \"sample\": 1}, \"second\": {\"population\": [2], \"sample\": 1}}}",
         "design: two_stage: population: must have one item"},
        {"first", "{\"two_stage\": {\"first\": {\"population\": 2, \"sample\": 1, \"x\": 1}, \"second\": {}}}",
         "design: two_stage: first: 'x' is not"},
        {"first", "{\"stratified\": {\"within\": \"srs\", \"strata\": []}}", "design: stratified: strata: at least one"},
        {"first", "{\"stratified\": {\"within\": \"srs\", \"strata\": [{\"population\": 0, \"sample\": 0}]}}",
         "design: stratified: strata: number 0: population:"},
        {"first", "{\"stratified\": {\"within\": \"srs\", \"strata\": 3}}", "design: stratified: strata: must be a list"},
        {"first", "{\"stratified\": {\"within\": \"stratified\", \"strata\": []}}", "design: stratified: within:"},
        {"first", "{\"stratified\": {\"within\": 3, \"strata\": []}}", "design: stratified: within:"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *answer = NULL;
        tamis_error err = {0};
        tamis_status status = ask(&answer, cases[i].kind, cases[i].design, &err);
        if (status != TAMIS_INVALID && !strstr(cases[i].design, "2000000")) fail_msg("%s: accepted", cases[i].design);
        if (strncmp(err.message, cases[i].message, strlen(cases[i].message)) != 0)
            fail_msg("%s: %s", cases[i].design, err.message);
        tamis_free(answer);
    }
}

static void survives_missing_memory(void **state)
{
    static const char *const designs[] = {
        "{\"cluster\": {\"population\": 2, \"sample\": 1, \"smallest\": 1, \"largest\": 1}}",
        "{\"two_stage\": {\"first\": {\"population\": 2, \"sample\": 1}, \"second\": {\"population\": 2, \"sample\": 1}}}",
        "{\"stratified\": {\"within\": \"bernoulli\", \"strata\": [{\"population\": 1, \"rate\": \"1/2\"}]}}",
        "{\"pps\": {\"method\": \"pivotal\", \"probabilities\": [\"1/2\", \"1/2\"]}}",
    };
    static const char *const kinds[] = {"first", "joint", "design"};
    (void)state;
    for (size_t i = 0; i < sizeof designs / sizeof *designs; i++)
        for (size_t k = 0; k < 3; k++) {
            char *answer = NULL;
            EVERY_ALLOCATION_FAILS(ask(&answer, kinds[k], designs[i], NULL), {
                tamis_free(answer);
                answer = NULL;
            });
            tamis_free(answer);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers),
        cmocka_unit_test(refuses),
        cmocka_unit_test(survives_missing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
