/* What a study refuses, and that threads and lack of memory do it no harm. That its numbers are right is tests/cli/study.py's
 * subject. */
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tamis/experimental/study.h>
#include <unistd.h>

#include "tests/base/memory_that_fails.h"

typedef struct asked {
    tamis_study_samples samples;
    tamis_study_options options;
} asked;

#define SAMPLES(...) .samples = {.size = sizeof(tamis_study_samples), .population = __VA_ARGS__}
#define HOW(...) .options = {.size = sizeof(tamis_study_options), __VA_ARGS__}

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

static void refused_of(const char *design, const char *unit, const asked *a, tamis_status expected, const char *message)
{
    tamis_plan *plan = plan_of(design, unit);
    tamis_study *study = (tamis_study *)folder;
    tamis_error err = {0};
    assert_int_equal(tamis_study_coverage(&study, plan, a ? &a->samples : NULL, a ? &a->options : NULL, &err), expected);
    assert_null(study);
    if (!strstr(err.message, message)) fail_msg("%s", err.message);
    tamis_plan_free(plan);
}

static void refused(const char *design, const asked *a, tamis_status expected, const char *message)
{
    refused_of(design, "", a, expected, message);
}

#define SRS "srs: {population: 30, sample: 10}"

static void bad_arguments_are_named(void **state)
{
    (void)state;
    const asked good = {SAMPLES(file), HOW(.runs = 1)}, far = {SAMPLES(file), HOW(.runs = 1000001)},
                none = {SAMPLES(NULL), HOW(.runs = 1)}, negative = {SAMPLES(file), HOW(.runs = -1)},
                absent = {SAMPLES("/no/such/file.csv"), HOW(.runs = 1)};
    tamis_study *study;
    tamis_error err = {0};
    assert_int_equal(tamis_study_coverage(NULL, NULL, &good.samples, &good.options, &err), TAMIS_INVALID);
    assert_int_equal(tamis_study_coverage(&study, NULL, &good.samples, &good.options, &err), TAMIS_INVALID);
    refused(SRS, NULL, TAMIS_INVALID, "population");
    refused(SRS, &none, TAMIS_INVALID, "population");
    refused(SRS, &far, TAMIS_INVALID, "runs");
    refused(SRS, &negative, TAMIS_INVALID, "runs");
    refused(SRS, &absent, TAMIS_INVALID, "file.csv");
    refused(SRS, &(asked){.samples = {.population = file}}, TAMIS_INVALID, "samples: set `size`");
    refused(SRS, &(asked){SAMPLES(file), .options = {.runs = 1}}, TAMIS_INVALID, "options: set `size`");
    tamis_study_free(NULL);
}

/* A plan with nonresponse needs a column of probabilities, and only such a plan takes one. */
static void refused_nonresponse(void)
{
    const char *const design =
        "srs: {population: 30, sample: 10}, nonresponse: yes}\ncalibrate: {to: [{count: units, by: g, totals: [20, 10]}]";
    const asked one = {SAMPLES(file), HOW(.runs = 1)}, some = {SAMPLES(file, .response = "s"), HOW(.runs = 1)},
                none = {SAMPLES(file, .response = "z"), HOW(.runs = 1)},
                declared = {SAMPLES(file, .response = "x"), HOW(.runs = 1)};
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
    const asked one = {SAMPLES(file), HOW(.runs = 1)}, sized = {SAMPLES(file, .sizes = "s"), HOW(.runs = 1)},
                other = {SAMPLES(file, .sizes = "z"), HOW(.runs = 1)}, declared = {SAMPLES(file, .sizes = "x"), HOW(.runs = 1)};
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
    tamis_study *study;
    assert_int_equal(tamis_study_coverage(&study, plan, &sized.samples, &sized.options, NULL), TAMIS_OK);
    tamis_study_free(study);
    tamis_plan_free(plan);
}

/* Clusters of five, each as likely as the others, by unequal probabilities as by simple random sampling: the number of units is
 * no accident. With sizes that differ it is one. */
static void clusters_by_unequal_probabilities(void **state)
{
    (void)state;
    static const char *const first[] = {"pps: {method: sampford, probability: p, sample: 3}",
                                        "pps: {method: tille, probability: p, sample: 3, population: 6}",
                                        "systematic: {population: 6, sample: 3, order: random}"};
    static const char *const second[] = {"sample: 2", "sample: 2, method: systematic"};
    const asked plain = {SAMPLES(file), HOW(.runs = 40)}, sized = {SAMPLES(file, .sizes = "s"), HOW(.runs = 40)};
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 2; j++)
            for (size_t k = 0; k < (i < 2 ? 2u : 1u); k++) {
                char design[300];
                tamis_study *study;
                tamis_error err = {0};
                const asked *options = k == 0 ? &plain : &sized;
                snprintf(
                    design, sizeof design,
                    "two_stage: {first: {by: c, %s}, second: {population: n, %s}}, max_weight: 60, variance: with_replacement",
                    first[i], second[j]);
                tamis_plan *plan = plan_by(design);
                if (tamis_study_coverage(&study, plan, &options->samples, &options->options, &err) != TAMIS_OK)
                    fail_msg("%s: %s", design, err.message);
                const char *json = tamis_study_as(study, TAMIS_STUDY_JSON), *count = strstr(json, "\"count\"");
                if (!count) fail_msg("%s", json);
                assert_int_equal(number_after(count, "\"truth\": "), 30);
                const double se = number_after(strstr(count, "\"unprotected\""), "\"se\": ");
                assert_true(k == 0 ? se < 1e-6 : se > 1);
                tamis_study_free(study);
                tamis_plan_free(plan);
            }
    for (size_t i = 0; i < 3; i++) { /* each unit by itself, at a rate: the number of units is an accident */
        char design[300];
        tamis_study *study;
        tamis_error err = {0};
        snprintf(design, sizeof design, "two_stage: {first: {by: c, %s}, second: {method: bernoulli, rate: 2/5}}%s", first[i],
                 i < 2 ? ", max_weight: 60" : "");
        tamis_plan *plan = plan_by(design);
        if (tamis_study_coverage(&study, plan, &plain.samples, &plain.options, &err) != TAMIS_OK)
            fail_msg("%s: %s", design, err.message);
        const char *count = strstr(tamis_study_as(study, TAMIS_STUDY_JSON), "\"count\"");
        assert_int_equal(number_after(count, "\"truth\": "), 30);
        assert_true(number_after(strstr(count, "\"unprotected\""), "\"se\": ") > 1);
        tamis_study_free(study);
        tamis_plan_free(plan);
    }
    refused("two_stage: {first: {by: c, pps: {method: tille, probability: p, sample: 3, population: 7}}, second: {population: n, "
            "sample: 2}}, max_weight: 9",
            &plain, TAMIS_INVALID, "6 clusters");
}

/* Six units of five rows each: how many rows a sample of three units has is no accident, so that the unprotected count has no
 * sampling error and is right each time. */
static void units_of_several_rows_are_drawn_together(void **state)
{
    (void)state;
    const asked options = {SAMPLES(file), HOW(.runs = 50)};
    tamis_plan *plan = plan_of("srs: {population: 6, sample: 3}", "id: c, rows_per_unit: 5, ");
    tamis_study *study;
    tamis_error err = {0};
    if (tamis_study_coverage(&study, plan, &options.samples, &options.options, &err) != TAMIS_OK) fail_msg("%s", err.message);
    const char *json = tamis_study_as(study, TAMIS_STUDY_JSON);
    const char *total = strstr(json, "\"total\""), *count = strstr(json, "\"count\"");
    assert_non_null(strstr(json, "\"population\": 6"));
    if (!total || !count) fail_msg("%s", json);
    assert_int_equal(number_after(total, "\"truth\": "), 390); /* 0 + 1 + ... + 19, and ten times 20 */
    assert_int_equal(number_after(count, "\"truth\": "), 30);
    assert_int_equal(number_after(strstr(count, "\"unprotected\""), "\"coverage\": "), 1);
    assert_true(number_after(strstr(total, "\"unprotected\""), "\"se\": ") > 0);
    tamis_study_free(study);
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
    const asked options = {SAMPLES(file), HOW(.runs = 100, .watch = {stop, &calls})};
    refused(SRS, &options, TAMIS_SYSTEM, "cancelled");
    assert_int_equal(calls, 3);
}

static tamis_study *study_of(const char *design, unsigned threads, int64_t runs)
{
    const asked options = {SAMPLES(file), HOW(.runs = runs, .threads = threads)};
    tamis_plan *plan = plan_by(design);
    tamis_study *study;
    tamis_error err = {0};
    if (tamis_study_coverage(&study, plan, &options.samples, &options.options, &err) != TAMIS_OK) fail_msg("%s", err.message);
    char wanted[40];
    snprintf(wanted, sizeof wanted, "\"intervals\": %d", (int)runs);
    assert_non_null(strstr(tamis_study_as(study, TAMIS_STUDY_JSON), wanted));
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
    const asked options = {SAMPLES(file), HOW(.runs = 3)};
    tamis_study *study;
    tamis_error err = {0};
    if (tamis_study_coverage(&study, plan, &options.samples, &options.options, &err) != TAMIS_OK) fail_msg("%s", err.message);
    const char *json = tamis_study_as(study, TAMIS_STUDY_JSON), *text = tamis_study_as(study, TAMIS_STUDY_TEXT);
    const char *absent = strstr(json, "\"without_interval\"");
    assert_non_null(absent);
    assert_non_null(strstr(absent, "\"statistic\": \"total\""));
    assert_non_null(strstr(absent, reason));
    assert_null(strstr(absent, "\"count\"")); /* public: the sizes of the strata are */
    assert_non_null(strstr(text, "total of x: no interval in any sample: a stratum has only one sampled"));
    assert_null(tamis_study_as(study, TAMIS_STUDY_SVG)); /* nothing to draw */
    tamis_study_free(study);
    tamis_plan_free(plan);
}

static void threads_share_the_runs(void **state)
{
    (void)state;
    static const unsigned threads[] = {1, 2, 7};
    for (size_t i = 0; i < 3; i++) tamis_study_free(study_of(SRS, threads[i], 5));
    tamis_study_free(study_of(STAGES("2"), 2, 3));
    tamis_study_free(study_of(STAGES("s"), 1, 2)); /* a column of the population: as many as its first unit says */
}

static void without_memory_it_fails_and_leaves_nothing(void **state)
{
    (void)state;
    const asked options = {SAMPLES(file), HOW(.runs = 1, .threads = 1)};
    tamis_plan *plan = plan_by(STAGES("2"));
    tamis_study *study;
    tamis_error err;
    ALLOCATIONS_FAIL(k_ + k_ / 6 + 1, tamis_study_coverage(&study, plan, &options.samples, &options.options, &err),
                     { assert_null(study); });
    for (tamis_study_form form = 0; form < TAMIS_STUDY_FORMS; form++) assert_non_null(tamis_study_as(study, form));
    assert_non_null(strstr(tamis_study_as(study, TAMIS_STUDY_SVG), "<svg"));
    assert_int_equal(number_after(strstr(tamis_study_as(study, TAMIS_STUDY_CSV), "\ntotal x,"), ",,"), 390);
    tamis_study_free(study);
    tamis_plan_free(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_arguments_are_named),
        cmocka_unit_test(a_population_that_contradicts_the_plan),
        cmocka_unit_test(clusters_by_unequal_probabilities),
        cmocka_unit_test(units_of_several_rows_are_drawn_together),
        cmocka_unit_test(a_study_can_be_stopped),
        cmocka_unit_test(a_number_that_never_has_an_interval_is_named_with_the_reason),
        cmocka_unit_test(threads_share_the_runs),
        cmocka_unit_test(without_memory_it_fails_and_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
