/* What a study refuses, and that threads and lack of memory do it no harm. That its numbers are right is tests/cli/study.py's
 * subject. */
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tamis/experimental/study.h>
#include <unistd.h>

#include "tests/base/memory_that_fails.h"

static char folder[64], file[100];

static int make_file(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/tamis-test-XXXXXX");
    if (!mkdtemp(folder)) return -1;
    snprintf(file, sizeof file, "%s/population.csv", folder);
    FILE *out = fopen(file, "w");
    if (!out) return -1;
    fputs("x,g,c,s\n", out);
    for (int i = 0; i < 30; i++) fprintf(out, "%d,%s,%d,%d\n", i, i % 3 ? "a" : "b", i / 5, i + 1);
    return fclose(out);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(file) || rmdir(folder);
}

static tamis_plan *plan_of(const char *design, const char *unit)
{
    char text[1000];
    tamis_plan *plan;
    tamis_error err = {0};
    snprintf(text, sizeof text,
             "tamis: 1\nsurvey: s\nsource: {file: a.csv}\ndesign: {%s}\nprivacy: {%sepsilon: 1000}\n"
             "columns: {x: {from: 0, to: 20, step: 1}, g: {values: [a, b]}}\nstatistics: [{total: x}, {count: units}]\n",
             design, unit);
    if (tamis_plan_read_text(&plan, "p.yaml", text, strlen(text), &err) != TAMIS_OK) fail_msg("%s", err.message);
    return plan;
}

static double number_after(const char *json, const char *key)
{
    const char *at = json ? strstr(json, key) : NULL;
    if (!at) fail_msg("%s is not in %s", key, json ? json : "nothing");
    return at ? strtod(at + strlen(key), NULL) : 0;
}

static tamis_plan *plan_by(const char *design) { return plan_of(design, ""); }

static void refused_of(const char *design, const char *unit, const tamis_coverage_options *options, tamis_status expected,
                       const char *message)
{
    tamis_plan *plan = plan_of(design, unit);
    tamis_coverage *study = (tamis_coverage *)folder;
    tamis_error err = {0};
    assert_int_equal(tamis_coverage_new(&study, plan, options, &err), expected);
    assert_null(study);
    if (!strstr(err.message, message)) fail_msg("%s", err.message);
    tamis_plan_free(plan);
}

static void refused(const char *design, const tamis_coverage_options *options, tamis_status expected, const char *message)
{
    refused_of(design, "", options, expected, message);
}

#define SRS "srs: {population: 30, sample: 10}"

static void bad_arguments_are_named(void **state)
{
    (void)state;
    const tamis_coverage_options good = {.population = file, .runs = 1}, far = {.population = file, .runs = 1000001},
                                 none = {.runs = 1}, negative = {.population = file, .runs = -1},
                                 absent = {.population = "/no/such/file.csv", .runs = 1};
    tamis_coverage *study;
    tamis_error err = {0};
    char *text;
    assert_int_equal(tamis_coverage_new(NULL, NULL, &good, &err), TAMIS_INVALID);
    assert_int_equal(tamis_coverage_new(&study, NULL, &good, &err), TAMIS_INVALID);
    refused(SRS, NULL, TAMIS_INVALID, "population");
    refused(SRS, &none, TAMIS_INVALID, "population");
    refused(SRS, &far, TAMIS_INVALID, "runs");
    refused(SRS, &negative, TAMIS_INVALID, "runs");
    refused(SRS, &absent, TAMIS_INVALID, "file.csv");
    assert_int_equal(tamis_coverage_json(&text, NULL, NULL), TAMIS_INVALID);
    assert_null(text);
    assert_int_equal(tamis_coverage_text(&text, NULL, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_coverage_text(NULL, NULL, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_coverage_svg(&text, NULL, NULL), TAMIS_INVALID);
    assert_null(text);
    assert_int_equal(tamis_coverage_svg(NULL, NULL, NULL), TAMIS_INVALID);
    tamis_coverage_free(NULL);
}

/* A plan with nonresponse needs a column of probabilities, and only such a plan takes one. */
static void refused_nonresponse(void)
{
    const char *const design =
        "srs: {population: 30, sample: 10}, nonresponse: yes}\ncalibrate: {to: [{count: units, by: g, totals: [20, 10]}]";
    const tamis_coverage_options one = {.population = file, .runs = 1}, some = {.population = file, .runs = 1, .response = "s"},
                                 none = {.population = file, .runs = 1, .response = "z"},
                                 declared = {.population = file, .runs = 1, .response = "x"};
    refused(SRS, &some, TAMIS_INVALID, "nonresponse: yes");
    refused(design, &one, TAMIS_REFUSED, "--response");
    refused(design, &some, TAMIS_INVALID, "not between 0 and 1");
    refused(design, &none, TAMIS_INVALID, "no column z");
    refused(design, &declared, TAMIS_INVALID, "response: x is declared");
}

#define STAGES(take) \
    "two_stage: {first: {by: c, population: 6, sample: 3}, second: {population: n, sample: " take "}}, max_weight: 9"

static void a_population_that_contradicts_the_plan(void **state)
{
    (void)state;
    const tamis_coverage_options one = {.population = file, .runs = 1}, sized = {.population = file, .runs = 1, .size = "s"},
                                 other = {.population = file, .runs = 1, .size = "z"},
                                 declared = {.population = file, .runs = 1, .size = "x"};
    const char *const pps = "pps: {method: sampford, probability: p, sample: 5, population: 30}, max_weight: 99";
    refused("srs: {population: 31, sample: 10}", &one, TAMIS_INVALID, "30 units, but the plan declares 31");
    refused("cluster: {by: c, population: 7, sample: 2, smallest: 5, largest: 5}", &one, TAMIS_INVALID, "6 clusters");
    refused("cluster: {by: k, population: 6, sample: 2, smallest: 5, largest: 5}", &one, TAMIS_INVALID, "no column k");
    refused("stratified: {by: g, within: srs, strata: {a: {population: 10, sample: 2}, b: {population: 20, sample: 2}}}", &one,
            TAMIS_INVALID, "20 units in stratum a");
    refused("stratified: {by: c, within: srs, strata: {'0': {population: 5, sample: 2}}}", &one, TAMIS_INVALID, "no stratum");
    refused("stratified: {by: c, within: {bernoulli: {rate: 1/2}}, "
            "strata: {'0': {}, '1': {}, '2': {}, '3': {}, '4': {}, '5': {}, '9': {}}}",
            &one, TAMIS_INVALID, "at least one unit");
    refused(pps, &one, TAMIS_INVALID, "size");
    refused(pps, &other, TAMIS_INVALID, "no column z");
    refused(pps, &declared, TAMIS_INVALID, "size: x is declared");
    refused("census: {population: 30}", &one, TAMIS_REFUSED, "a study draws samples by");
    refused("weights: {population: 30}, weight: w, max_weight: 9", &one, TAMIS_REFUSED, "--drawn-by");
    refused_nonresponse();
    refused(STAGES("k"), &one, TAMIS_INVALID, "no column k for the units to draw");
    refused(STAGES("g"), &one, TAMIS_INVALID, "column g has values that are not whole numbers");
    tamis_plan *plan = plan_by(pps);
    tamis_coverage *study;
    assert_int_equal(tamis_coverage_new(&study, plan, &sized, NULL), TAMIS_OK);
    tamis_coverage_free(study);
    tamis_plan_free(plan);
}

/* Six units of five rows each: how many rows a sample of three units has is no accident, so that the unprotected count has no
 * sampling error and is right each time. */
static void units_of_several_rows_are_drawn_together(void **state)
{
    (void)state;
    const tamis_coverage_options options = {.population = file, .runs = 50};
    tamis_plan *plan = plan_of("srs: {population: 6, sample: 3}", "id: c, rows_per_unit: 5, ");
    tamis_coverage *study;
    tamis_error err = {0};
    char *json;
    if (tamis_coverage_new(&study, plan, &options, &err) != TAMIS_OK) fail_msg("%s", err.message);
    assert_int_equal(tamis_coverage_json(&json, study, NULL), TAMIS_OK);
    const char *total = strstr(json, "\"total\""), *count = strstr(json, "\"count\"");
    assert_non_null(strstr(json, "\"population\": 6"));
    if (!total || !count) fail_msg("%s", json);
    assert_int_equal(number_after(total, "\"truth\": "), 390); /* 0 + 1 + ... + 19, and ten times 20 */
    assert_int_equal(number_after(count, "\"truth\": "), 30);
    assert_int_equal(number_after(strstr(count, "\"unprotected\""), "\"coverage\": "), 1);
    assert_true(number_after(strstr(total, "\"unprotected\""), "\"se\": ") > 0);
    tamis_free(json);
    tamis_coverage_free(study);
    tamis_plan_free(plan);

    refused_of("srs: {population: 6, sample: 3}", "id: c, rows_per_unit: 4, ", &options, TAMIS_INVALID, "more than 4 rows");
    refused_of("srs: {population: 30, sample: 3}", "id: c, rows_per_unit: 5, ", &options, TAMIS_INVALID, "6 units");
    refused_of("stratified: {by: g, within: srs, strata: {a: {population: 4, sample: 2}, b: {population: 2, sample: 2}}}",
               "id: c, rows_per_unit: 5, ", &options, TAMIS_INVALID, "rows in two strata or clusters");
    refused_of("cluster: {by: s, population: 30, sample: 2, smallest: 1, largest: 5}", "id: c, rows_per_unit: 5, ", &options,
               TAMIS_INVALID, "rows in two strata or clusters");
    refused_of("srs: {population: 6, sample: 3}", "id: k, rows_per_unit: 5, ", &options, TAMIS_INVALID,
               "no column k for the ids");
}

static int stop(void *context, double share, int64_t rows)
{
    int *calls = context;
    assert_true(share >= 0 && share < 1 && rows == 0);
    return ++*calls == 3;
}

static void a_study_can_be_stopped(void **state)
{
    (void)state;
    int calls = 0;
    const tamis_coverage_options options = {.population = file, .runs = 100, .watch = {stop, &calls}};
    refused(SRS, &options, TAMIS_SYSTEM, "cancelled");
    assert_int_equal(calls, 3);
}

static tamis_coverage *study_of(const char *design, unsigned threads, int64_t runs)
{
    const tamis_coverage_options options = {.population = file, .runs = runs, .threads = threads};
    tamis_plan *plan = plan_by(design);
    tamis_coverage *study;
    tamis_error err = {0};
    if (tamis_coverage_new(&study, plan, &options, &err) != TAMIS_OK) fail_msg("%s", err.message);
    char *text;
    assert_int_equal(tamis_coverage_json(&text, study, NULL), TAMIS_OK);
    char wanted[40];
    snprintf(wanted, sizeof wanted, "\"intervals\": %d", (int)runs);
    assert_non_null(strstr(text, wanted));
    tamis_free(text);
    tamis_plan_free(plan);
    return study;
}

/* Each run is counted once, whoever makes it; also if there are more threads than runs. */
static void a_number_that_never_has_an_interval_is_named_with_the_reason(void **state)
{
    (void)state;
    const char *reason = "a stratum has only one sampled unit";
    tamis_plan *plan = plan_by(
        "stratified: {by: g, within: srs, strata: {a: {population: 20, sample: 8}, b: {population: 10, sample: 1}}}");
    const tamis_coverage_options options = {.population = file, .runs = 3};
    tamis_coverage *study;
    tamis_error err = {0};
    char *json, *text;
    if (tamis_coverage_new(&study, plan, &options, &err) != TAMIS_OK) fail_msg("%s", err.message);
    assert_int_equal(tamis_coverage_json(&json, study, &err), TAMIS_OK);
    const char *absent = strstr(json, "\"without_interval\"");
    assert_non_null(absent);
    assert_non_null(strstr(absent, "\"statistic\": \"total\""));
    assert_non_null(strstr(absent, reason));
    assert_null(strstr(absent, "\"count\"")); /* public: the sizes of the strata are */
    assert_int_equal(tamis_coverage_text(&text, study, &err), TAMIS_OK);
    assert_non_null(strstr(text, "total of x: no interval in any sample: a stratum has only one sampled"));
    tamis_free(json);
    tamis_free(text);
    tamis_coverage_free(study);
    tamis_plan_free(plan);
}

static void threads_share_the_runs(void **state)
{
    (void)state;
    static const unsigned threads[] = {1, 2, 7};
    for (size_t i = 0; i < 3; i++) tamis_coverage_free(study_of(SRS, threads[i], 5));
    tamis_coverage_free(study_of(STAGES("2"), 2, 3));
    tamis_coverage_free(study_of(STAGES("s"), 1, 2)); /* a column of the population: as many as its first unit says */
}

static void without_memory_it_fails_and_leaves_nothing(void **state)
{
    (void)state;
    const tamis_coverage_options options = {.population = file, .runs = 1, .threads = 1};
    tamis_plan *plan = plan_by(STAGES("2"));
    tamis_coverage *study;
    tamis_error err;
    ALLOCATIONS_FAIL(k_ + k_ / 6 + 1, tamis_coverage_new(&study, plan, &options, &err), { assert_null(study); });
    char *text;
    EVERY_ALLOCATION_FAILS(tamis_coverage_svg(&text, study, &err), { assert_null(text); });
    assert_non_null(strstr(text, "<svg"));
    tamis_free(text);
    EVERY_ALLOCATION_FAILS(tamis_coverage_text(&text, study, &err), { assert_null(text); });
    tamis_free(text);
    EVERY_ALLOCATION_FAILS(tamis_coverage_json(&text, study, &err), { assert_null(text); });
    tamis_free(text);
    tamis_coverage_free(study);
    tamis_plan_free(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_arguments_are_named),
        cmocka_unit_test(a_population_that_contradicts_the_plan),
        cmocka_unit_test(units_of_several_rows_are_drawn_together),
        cmocka_unit_test(a_study_can_be_stopped),
        cmocka_unit_test(a_number_that_never_has_an_interval_is_named_with_the_reason),
        cmocka_unit_test(threads_share_the_runs),
        cmocka_unit_test(without_memory_it_fails_and_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
