/* The errors of a plan: the smallest epsilon for them, and their simulation. */
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tamis/experimental/study.h>

#include "study/expected.h"
#include "tests/base/memory_that_fails.h"
#include "tests/num/enclosure.h"

#define ERROR(text) \
    &(tamis_study_errors) { .size = sizeof(tamis_study_errors), .list = text, .count = 1 }
#define SHARE(number) \
    &(tamis_study_errors) { .size = sizeof(tamis_study_errors), .share = number }
#define SEED \
    &(tamis_study_options) { .size = sizeof(tamis_study_options), .seed = 1 }

#define SRS "srs: {population: 1000, sample: 100}"
#define GUESS ", typical: {mean: 30, sd: 20}"

static tamis_plan *plan_of(const char *design, const char *privacy, const char *guess)
{
    char text[1000];
    tamis_plan *plan;
    tamis_error err = {0};
    snprintf(text, sizeof text,
             "tamis: 1\nsurvey: s\nsource: {file: a.csv}\ndesign: {%s}\nprivacy: {%s}\n"
             "columns: {x: {from: 0, to: 100, step: 1%s}, g: {values: [a, b], typical: {a: 0.3}}, c: {values: [u, v]}}\n"
             "statistics: [{mean: x}, {total: x, by: g}, {count: units}]\n%s",
             design, privacy, guess, strstr(privacy, "rho") ? "" : "budget: {epsilon: 70}\n");
    if (tamis_plan_read_text(&plan, "p.yaml", text, strlen(text), &err) != TAMIS_OK) fail_msg("%s", err.message);
    return plan;
}

static double number_after(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    if (!at) fail_msg("no %s in %s", key, text);
    return strtod(at + strlen(key), NULL);
}

static double error_at(const tamis_plan *plan, double eps)
{
    tmi_expected e;
    assert_int_equal(tmi_expected_at(&e, plan, eps, NULL), TAMIS_OK);
    assert_string_equal(e.rows[0].statistic, "mean x");
    const double error = e.rows[0].both;
    tmi_expected_clear(&e);
    return error;
}

/* The answer reaches the error, and a hundredth less does not. */
static void the_smallest_epsilon_is_the_smallest(void **state)
{
    static const char *const errors[] = {"mean x=3", "mean x=12"};
    tamis_plan *plan = plan_of(SRS, "epsilon: 1", GUESS);
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        tamis_study *study;
        tamis_error err;
        if (tamis_study_epsilon(&study, plan, ERROR(&errors[i]), NULL, &err) != TAMIS_OK) fail_msg("%s", err.message);
        const double eps = number_after(tamis_study_as(study, TAMIS_STUDY_JSON), "\"epsilon\": "), allowed = i ? 12 : 3;
        assert_true(error_at(plan, eps) <= allowed && error_at(plan, 0.985 * eps) > allowed);
        assert_non_null(strstr(tamis_study_as(study, TAMIS_STUDY_TEXT), "total x by g: a"));
        tamis_study_free(study);
    }
    tamis_plan_free(plan);
}

static void rho_and_shares_are_understood(void **state)
{
    tamis_plan *plan = plan_of(SRS, "rho: 1/2", GUESS);
    tamis_number *half = number("1/2");
    tamis_study *study;
    tamis_error err;
    (void)state;
    if (tamis_study_epsilon(&study, plan, SHARE(half), NULL, &err) != TAMIS_OK) fail_msg("%s", err.message);
    const char *json = tamis_study_as(study, TAMIS_STUDY_JSON), *mean = strstr(json, "\"mean x\"");
    assert_true(number_after(json, "\"rho\": ") > 0);
    assert_non_null(mean);
    assert_true(fabs(number_after(mean, "\"allowed\": ") - 15) < 1e-9); /* half of the guess */
    tamis_study_free(study);
    tamis_number_free(half);
    tamis_plan_free(plan);
}

static void bad_errors_are_named(void **state)
{
    static const struct {
        const char *error;
        tamis_status status;
        const char *message;
    } cases[] = {
        {"mean y=3", TAMIS_INVALID, "no such statistic"}, {"mean x", TAMIS_INVALID, "STATISTIC=ERROR"},
        {"mean x=0", TAMIS_INVALID, "positive"},          {"mean x=-1", TAMIS_INVALID, "positive"},
        {"mean x=many", TAMIS_INVALID, "positive"},       {"mean x=0.01", TAMIS_UNABLE, "larger sample"},
    };
    tamis_plan *plan = plan_of(SRS, "epsilon: 1", GUESS);
    tamis_number *zero = number("0");
    tamis_study *study;
    tamis_error err;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(tamis_study_epsilon(&study, plan, ERROR(&cases[i].error), NULL, &err), cases[i].status);
        assert_null(study);
        if (!strstr(err.message, cases[i].message)) fail_msg("%s", err.message);
    }
    assert_int_equal(tamis_study_epsilon(&study, plan, NULL, NULL, &err), TAMIS_INVALID);
    assert_int_equal(tamis_study_epsilon(&study, plan, SHARE(zero), NULL, &err), TAMIS_INVALID);
    assert_int_equal(tamis_study_epsilon(&study, NULL, SHARE(zero), NULL, &err), TAMIS_INVALID);
    assert_int_equal(tamis_study_epsilon(NULL, plan, SHARE(zero), NULL, &err), TAMIS_INVALID);
    assert_int_equal(tamis_study_plan(&study, NULL, NULL, NULL, &err), TAMIS_INVALID);
    assert_int_equal(tamis_study_plan(NULL, plan, NULL, NULL, &err), TAMIS_INVALID);
    tamis_number_free(zero);
    tamis_plan_free(plan);
}

/* Formulas if there are any; else a population is made up, and releases of its samples are about as wrong as the formula would
 * say. Forty releases: six of the Monte Carlo errors are exceeded once in 10^9 times. */
static void numbers_without_a_formula_are_simulated(void **state)
{
    tamis_plan *plan = plan_of(SRS, "epsilon: 2", GUESS), *bare = plan_of(SRS, "epsilon: 2", "");
    const tamis_study_options o = {.size = sizeof(tamis_study_options), .seed = 1, .runs = 40, .threads = 1};
    tamis_study *study;
    tamis_error err;
    (void)state;
    assert_int_equal(tamis_study_plan(&study, plan, NULL, SEED, &err), TAMIS_OK);
    assert_non_null(strstr(tamis_study_as(study, TAMIS_STUDY_JSON), "\"population\": null"));
    assert_non_null(strstr(tamis_study_as(study, TAMIS_STUDY_JSON), "\"simulated\": null"));
    tamis_study_free(study);
    if (tamis_study_plan(&study, bare, NULL, &o, &err) != TAMIS_OK) fail_msg("%s", err.message);
    const char *json = tamis_study_as(study, TAMIS_STUDY_JSON);
    assert_non_null(strstr(json, "\"population\": \"made up\""));
    const double truth = number_after(json, "\"true_value\": "), simulated = number_after(json, "\"simulated\": ");
    const double error = number_after(json, "\"simulated_error\": "), noise = number_after(json, "\"noise\": ");
    assert_true(truth > 40 && truth < 60); /* uniform from 0 to 100 */
    assert_true(simulated + 6 * error > 0.7 * noise && simulated - 6 * error < 3 * noise);
    tamis_study_free(study);
    tamis_plan_free(bare);
    tamis_plan_free(plan);
    plan = plan_of("cluster: {by: k, smallest: 1, largest: 30, population: 50, sample: 5}, typical: {cluster: 20}", "epsilon: 2",
                   GUESS);
    assert_int_equal(tamis_study_plan(&study, plan, NULL, &o, &err), TAMIS_REFUSED);
    if (!strstr(err.message, "public")) fail_msg("%s", err.message);
    tamis_plan_free(plan);
}

static void strata_are_made_up(void **state)
{
    tamis_plan *plan = plan_of("stratified: {by: c, within: srs, strata: {u: {population: 300, sample: 30}, v: {population: 70, "
                               "sample: 20}}}",
                               "epsilon: 20", GUESS);
    const tamis_study_options o = {.size = sizeof(tamis_study_options), .seed = 1, .runs = 5, .threads = 1};
    tamis_study *study;
    tamis_error err;
    (void)state;
    if (tamis_study_plan(&study, plan, NULL, &o, &err) != TAMIS_OK) fail_msg("%s", err.message);
    assert_true(fabs(number_after(tamis_study_as(study, TAMIS_STUDY_JSON), "\"true_value\": ") - 30) < 10);
    tamis_study_free(study);
    tamis_plan_free(plan);
}

static void without_memory_it_fails(void **state)
{
    static const char *const error = "mean x=12";
    tamis_plan *plan = plan_of(SRS, "epsilon: 1", GUESS);
    tamis_study *study;
    tamis_error err;
    (void)state;
    ALLOCATIONS_FAIL(k_ + k_ / 2 + 1, tamis_study_epsilon(&study, plan, ERROR(&error), NULL, &err), { assert_null(study); });
    tamis_study_free(study);
    ALLOCATIONS_FAIL(k_ + k_ / 6 + 1, tamis_study_plan(&study, plan, NULL, SEED, &err), { assert_null(study); });
    tamis_study_free(study);
    tamis_plan_free(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_smallest_epsilon_is_the_smallest),
        cmocka_unit_test(rho_and_shares_are_understood),
        cmocka_unit_test(bad_errors_are_named),
        cmocka_unit_test(numbers_without_a_formula_are_simulated),
        cmocka_unit_test(strata_are_made_up),
        cmocka_unit_test(without_memory_it_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
