/* Unprotected estimates against R's package survey (estimate_reference.R), through the whole path with DuckDB. */
#include "tests/test.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/base/memory_that_fails.h"

#define API TESTS_FOLDER "/../examples/api/plan.yaml"

static const char columns[] = "columns:\n"
                              "  api00: {from: 200, to: 1000, step: 1}\n"
                              "  enroll: {from: 300, to: 1000, step: 1}\n" /* narrower than the data: no clamping here */
                              "  acs.k3: {from: 0, to: 100, step: 1}\n"
                              "  acs.core: {from: 0, to: 100, step: 1}\n"
                              "  avg.ed: {from: 1, to: 5, step: 1}\n" /* coarser than the data: no grid here */
                              "  stype: {values: [E, M, H]}\n"
                              "  awards: {values: [No, Yes]}\n"
                              "  yr.rnd: {values: [No, Yes]}\n"
                              "  both: {values: [Yes]}\n";

typedef tamis_status write_estimate(char **text, const tamis_estimate *estimate, tamis_error *err);

static char *estimate_as(write_estimate *write, const char *design, const char *statistics)
{
    char plan_text[4096];
    tamis_plan *plan;
    tamis_estimate *estimate = NULL;
    tamis_error err = {0};
    char *text;
    snprintf(plan_text, sizeof plan_text,
             "tamis: 1\nsurvey: s\nsource: {file: apisrs.csv}\ndesign: {%s}\n"
             "privacy: {epsilon: 1}\n%sstatistics:\n%s",
             design, columns, statistics);
    tamis_status status = tamis_plan_read_text(&plan, API, plan_text, strlen(plan_text), &err);
    if (status == TAMIS_OK) status = tamis_estimate_new(&estimate, plan, NULL, &err);
    if (status != TAMIS_OK) fail_msg("%s", err.message);
    tamis_plan_free(plan);
    assert_int_equal(write(&text, estimate, NULL), TAMIS_OK);
    tamis_estimate_free(estimate);
    return text;
}

static void assert_near(const char *field, double expected, const char *line)
{
    double x = strtod(field, NULL);
    if (!(fabs(x - expected) <= 1e-9 * fabs(expected))) fail_msg("%.17g expected in %s", expected, line);
}

/* The line of the result: "mean,api00,E,,..." with empty groups elsewhere; fields[i] points behind the i-th comma. */
static bool find(const char *csv, const char *start, const char *fields[16], char line[1024])
{
    for (const char *at = csv; at && *at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL) {
        if (strncmp(at, start, strlen(start)) != 0) continue;
        snprintf(line, 1024, "%.*s", (int)strcspn(at, "\n"), at);
        size_t n = 0;
        fields[n++] = line;
        for (char *c = line; *c && n < 16; c++) {
            if (*c == ',') fields[n++] = c + 1;
        }
        return true;
    }
    return false;
}

static void agrees_with_r(void **state)
{
    (void)state;
    static const struct {
        const char *statistic, *column, *by, *group;
        double estimate, se, lower, upper;
    } reference[] = {
#include "tests/estimate/estimate_reference.inc"
    };
    char statistics[4096] = "  - {mean: api00, by: [stype, awards]}\n";
    static const char *const by[] = {"", ", by: stype", ", by: yr.rnd"};
    static const char *const names[] = {"api00", "enroll", "acs.k3", "acs.core", "avg.ed"};
    for (size_t b = 0; b < 3; b++) {
        snprintf(statistics + strlen(statistics), 100, "  - {count: units%s}\n", by[b]);
        for (size_t i = 0; i < 5; i++) {
            snprintf(statistics + strlen(statistics), 200, "  - {mean: %s%s}\n  - {total: %s%s}\n", names[i], by[b], names[i],
                     by[b]);
        }
    }
    char *csv = estimate_as(tamis_estimate_csv, "srs: {population: 6194, sample: 200}", statistics);
    for (size_t i = 0; i < sizeof reference / sizeof *reference; i++) {
        char start[200], line[1024];
        const char *fields[16];
        const char *group = reference[i].group, *dot = strchr(group, '.');
        bool both = strcmp(reference[i].by, "stype.awards") == 0, round = strcmp(reference[i].by, "yr.rnd") == 0;
        if (both) snprintf(start, sizeof start, "mean,api00,,%.*s,%s,,", (int)(dot - group), group, dot + 1);
        else
            snprintf(start, sizeof start, "%s,%s,,%s,,%s,", reference[i].statistic, reference[i].column, round ? "" : group,
                     round ? group : "");
        if (!find(csv, start, fields, line)) fail_msg("no result %s", start);
        assert_near(fields[6], reference[i].estimate, line);
        assert_near(fields[7], reference[i].se, line);
        assert_near(fields[12], reference[i].lower, line);
        assert_near(fields[13], reference[i].upper, line);
    }
    char line[1024];
    const char *fields[16];
    assert_true(find(csv, "count,,,,,,6194,0,0,0,0,199,6194,6194,", fields, line)); /* known: no error */
    assert_true(find(csv, "mean,acs.k3,,H,", fields, line));                        /* no high school has this value: null */
    assert_string_equal(line, "mean,acs.k3,,H,,,,,,0,,199,,,,,no row of this group has a value,,");
    assert_true(find(csv, "total,acs.k3,,H,,,0,0,", fields, line));
    tamis_free(csv);
}

/* R: sum(enroll < 300 | enroll > 1000) */
static void records_outside_the_bounds_are_told(void **state)
{
    (void)state;
    static const char srs[] = "srs: {population: 6194, sample: 200}",
                      statistics[] = "  - mean: enroll\n  - mean: acs.k3\n    by: both\n";
    char *text = estimate_as(tamis_estimate_json, srs, statistics);
    assert_non_null(strstr(text, "\"enroll\": {\n      \"missing\": 0,\n      \"outside_bounds\": 61\n    }"));
    assert_non_null(strstr(text, "\"acs.k3\": {\n      \"missing\": 60,\n      \"outside_bounds\": 0\n    }"));
    assert_non_null(strstr(text, "\"both\": {\n      \"missing_or_not_listed\": 69\n    }"));
    assert_null(strstr(text, "\"awards\"")); /* not read */
    tamis_free(text);
    text = estimate_as(tamis_estimate_text, srs, statistics);
    assert_non_null(strstr(text, "enroll: 61 records are outside the bounds of the plan"));
    assert_non_null(strstr(text, "acs.k3: 60 values are missing and left out"));
    assert_non_null(strstr(text, "both: 69 values are missing or not in the list of the plan"));
    assert_null(strstr(text, "enroll: 0"));
    assert_non_null(strstr(text, "584.6100")); /* as many digits as R prints */
    assert_non_null(strstr(text, "27.36837"));
    tamis_free(text);
}

static void a_census_has_no_sampling_error(void **state)
{
    (void)state;
    char *csv = estimate_as(tamis_estimate_csv, "census: {population: 200}",
                            "  - {mean: api00}\n  - {total: enroll, by: stype}\n");
    char line[1024];
    const char *fields[16];
    assert_true(find(csv, "mean,api00,,,656.58", fields, line));
    assert_true(strtod(fields[5], NULL) == 0.0);
    assert_true(find(csv, "total,enroll,,E,59732,0,", fields, line)); /* 1849900.04 / 30.97 */
    tamis_free(csv);
}

/* One column says which quantile, one which line; without such statistics neither is there. */
static void tables_have_positions_and_lines(void **state)
{
    (void)state;
    static const char srs[] = "srs: {population: 6194, sample: 200}";
    char *csv = estimate_as(
        tamis_estimate_csv, srs,
        "  - {quantile: api00, at: [0.25, 0.5], by: stype}\n  - {share_below: api00, line: 600.5}\n  - mean: api00\n");
    char line[1024];
    const char *fields[16];
    static const char head[] = "statistic,column,where,stype,at,line,estimate,se,";
    assert_memory_equal(csv, head, sizeof head - 1);
    assert_true(find(csv, "quantile,api00,,E,0.25,,", fields, line));
    assert_true(find(csv, "quantile,api00,,E,0.5,,", fields, line));
    assert_true(find(csv, "quantile,api00,,H,0.5,,", fields, line));
    assert_true(find(csv, "share_below,api00,,,,600.5,", fields, line));
    assert_true(find(csv, "mean,api00,,,,,656.58", fields, line));
    tamis_free(csv);
    csv = estimate_as(tamis_estimate_csv, srs, "  - {mean: api00, by: stype}\n");
    assert_memory_equal(csv, "statistic,column,where,stype,estimate,", 38);
    tamis_free(csv);
}

static void json_tells_that_nothing_is_protected(void **state)
{
    (void)state;
    tamis_plan *plan;
    tamis_estimate *estimate;
    tamis_error err = {0};
    char *text;
    assert_int_equal(tamis_plan_read(&plan, API, &err), TAMIS_OK);
    assert_int_equal(tamis_estimate_new(&estimate, plan, NULL, &err), TAMIS_OK);
    assert_int_equal(tamis_estimate_json(&text, estimate, &err), TAMIS_OK);
    assert_non_null(strstr(text, "\"protected\": false"));
    assert_non_null(strstr(text, "\"guarantee\": null"));
    assert_non_null(strstr(text, "\"missing_or_not_listed\": 0"));
    tamis_free(text);
    assert_int_equal(tamis_estimate_text(&text, estimate, &err), TAMIS_OK);
    assert_non_null(strstr(text, "NOT PROTECTED"));
    tamis_free(text);
    tamis_estimate_free(estimate);
    tamis_plan_free(plan);
}

static void models_without_memory(void **state)
{
    (void)state;
    char text[2048];
    tamis_plan *plan;
    tamis_estimate *estimate = NULL;
    const tamis_estimate_options how = {.size = sizeof how, .engine = TAMIS_ENGINE_MEMORY};
    snprintf(text, sizeof text,
             "tamis: 1\nsurvey: s\nsource: {file: apisrs.csv}\ndesign: {srs: {population: 6194, sample: 200}}\n"
             "privacy: {epsilon: 1}\n%sstatistics:\n  - {correlation: [api00, enroll]}\n"
             "  - {regression: {of: api00, on: [enroll, stype, awards], interactions: [[stype, awards]]}}\n",
             columns);
    assert_int_equal(tamis_plan_read_text(&plan, API, text, strlen(text), NULL), TAMIS_OK);
    ALLOCATIONS_FAIL(k_ + 1 + k_ / 8, tamis_estimate_new(&estimate, plan, &how, NULL), { assert_null(estimate); });
    assert_non_null(estimate);
    tamis_estimate_free(estimate);
    tamis_plan_free(plan);
}

static void bad_arguments_are_named(void **state)
{
    (void)state;
    tamis_estimate *estimate;
    tamis_error err = {0};
    char *text = NULL;
    assert_int_equal(tamis_estimate_new(NULL, NULL, NULL, &err), TAMIS_INVALID);
    assert_int_equal(tamis_estimate_new(&estimate, NULL, NULL, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "plan"));
    assert_int_equal(tamis_estimate_json(NULL, NULL, &err), TAMIS_INVALID);
    assert_int_equal(tamis_estimate_json(&text, NULL, &err), TAMIS_INVALID);
    assert_int_equal(tamis_estimate_csv(&text, NULL, &err), TAMIS_INVALID);
    assert_int_equal(tamis_estimate_text(&text, NULL, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "estimate"));
    tamis_estimate_free(NULL);
}

int main(void)
{
    const struct CMUnitTest group[] = {
        cmocka_unit_test(agrees_with_r),
        cmocka_unit_test(records_outside_the_bounds_are_told),
        cmocka_unit_test(a_census_has_no_sampling_error),
        cmocka_unit_test(tables_have_positions_and_lines),
        cmocka_unit_test(json_tells_that_nothing_is_protected),
        cmocka_unit_test(models_without_memory),
        cmocka_unit_test(bad_arguments_are_named),
    };
    return cmocka_run_group_tests(group, NULL, NULL);
}
