#include "tests/test.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/base/memory_that_fails.h"

static char path[64];

static const char *file_of(const char *text)
{
    snprintf(path, sizeof path, "/tmp/tamis-outline-%ld.yaml", (long)getpid());
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    return path;
}

static void designs_are_written_as_the_calculator_reads_them(void **state)
{
    (void)state;
    static const struct {
        const char *text, *json, *first;
    } cases[] = {
        {"{\"srs\": {\"population\": 6194, \"sample\": 200}}", "{\"srs\": {\"population\": \"6194\", \"sample\": \"200\"}}",
         NULL},
        {"tamis: 1\ndesign:\n  srs: {population: 9, sample: 2}\n  weight: w\n",
         "{\"srs\": {\"population\": \"9\", \"sample\": \"2\"}}", NULL},
        {"design:\n  stratified:\n    by: stype\n    within: srs\n    strata:\n      E: {population: 4, sample: 1}\n      M: "
         "{population: 3, sample: 2}\n",
         "{\"stratified\": {\"within\": \"srs\", \"strata\": [{\"population\": \"4\", \"sample\": \"1\"}, "
         "{\"population\": \"3\", \"sample\": \"2\"}]}}",
         "E"},
        {"design:\n  stratified:\n    by: r\n    within: {cluster: {by: d, smallest: 1, largest: 2}}\n    strata:\n      n: "
         "{population: 4, "
         "sample: 1}\n  frame: f.csv\n",
         "{\"stratified\": {\"within\": {\"cluster\": {\"smallest\": \"1\", \"largest\": \"2\"}}, \"strata\": [{\"population\": "
         "\"4\", "
         "\"sample\": \"1\"}]}}",
         "n"},
        {"two_stage: {first: {population: 2, sample: 1}, second: {population: [3, 4], sample: 2}}",
         "{\"two_stage\": {\"first\": {\"population\": \"2\", \"sample\": \"1\"}, \"second\": {\"population\": [\"3\", \"4\"], "
         "\"sample\": \"2\"}}}",
         NULL},
        {"poisson: {probabilities: [1/2, 0.25]}", "{\"poisson\": {\"probabilities\": [\"1/2\", \"0.25\"]}}", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis_outline *outline;
        tamis_design *design, *read;
        assert_int_equal(tamis_outline_read(&outline, file_of(cases[i].text), NULL), TAMIS_OK);
        assert_string_equal(tamis_outline_design(outline), cases[i].json);
        EVERY_ALLOCATION_FAILS(tamis_outline_sampling(&design, outline, NULL), assert_null(design));
        assert_int_equal(tamis_design_read(&read, tamis_outline_design(outline), NULL), TAMIS_OK);
        assert_int_equal(tamis_design_population(read), tamis_design_population(design));
        assert_int_equal(tamis_design_sample(read), tamis_design_sample(design));
        tamis_design_free(read);
        if (cases[i].first) assert_string_equal(tamis_outline_stratum(outline, 0), cases[i].first);
        else assert_null(tamis_outline_stratum(outline, 0));
        assert_null(tamis_outline_stratum(outline, 2));
        tamis_design_free(design);
        tamis_outline_free(outline);
    }
    unlink(path);
}

static tamis_number *step; /* of the column that was read last */

static tamis_status read_range(tamis_number **from, tamis_number **to, const char *column, tamis_error *err)
{
    tamis_outline *outline;
    tamis_status status = tamis_outline_read(&outline, path, err);
    *from = *to = NULL;
    tamis_number_free(step);
    step = NULL;
    if (status == TAMIS_OK) status = tamis_outline_range(from, to, &step, outline, column, err);
    tamis_outline_free(outline);
    return status;
}

static void ranges_are_those_of_the_columns(void **state)
{
    (void)state;
    tamis_number *from, *to;
    tamis_error err;
    char *text;
    file_of("design: {census: {population: 3}}\ncolumns:\n  enroll: {from: -1/2, to: 4e3, step: 1}\n  stype: {values: [E, M]}\n"
            "  odd: {from: x, to: 1}\n  open: {from: 1}\n  flat: 3\n  bare: {from: 0, to: 9}\n"
            "  each: {from: 0, to: 9, step: {a: 1, b: 3}}\n");
    assert_int_equal(read_range(&from, &to, "enroll", &err), TAMIS_OK);
    assert_int_equal(tamis_number_write(&text, from, NULL), TAMIS_OK);
    assert_string_equal(text, "-1/2");
    tamis_free(text);
    assert_int_equal(tamis_number_write(&text, to, NULL), TAMIS_OK);
    assert_string_equal(text, "4000");
    tamis_free(text);
    assert_int_equal(tamis_number_write(&text, step, NULL), TAMIS_OK);
    assert_string_equal(text, "1");
    tamis_free(text);
    tamis_number_free(from);
    tamis_number_free(to);
    assert_int_equal(read_range(&from, &to, "stype", &err), TAMIS_OK);
    assert_int_equal(tamis_number_write(&text, to, NULL), TAMIS_OK);
    assert_string_equal(text, "1");
    tamis_free(text);
    tamis_number_free(from);
    tamis_number_free(to);
    assert_non_null(step);
    assert_int_equal(read_range(&from, &to, "bare", &err), TAMIS_OK);
    assert_null(step);
    tamis_number_free(from);
    tamis_number_free(to);
    static const char *const bad[][2] = {{"nobody", "there is no nobody"},
                                         {"each", "columns.each: must have one number for step"},
                                         {"odd", "columns.odd.from"},
                                         {"open", "columns.open"},
                                         {"flat", "columns.flat"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(read_range(&from, &to, bad[i][0], &err), TAMIS_INVALID);
        assert_null(from);
        assert_null(to);
        assert_non_null(strstr(err.message, bad[i][1]));
    }
    EVERY_ALLOCATION_FAILS(read_range(&from, &to, "enroll", NULL), assert_null(from));
    tamis_number_free(from);
    tamis_number_free(to);
    tamis_number_free(step);
    step = NULL;
    unlink(path);
}

static void what_is_no_outline_is_refused(void **state)
{
    (void)state;
    const char *const bad[][2] = {
        {"", "expected a plan or a design"},
        {"- 1", "expected a plan or a design"},
        {"a: [", path},
        {"design: {srs: {population: 9, sample: 2, population: 8}}", "design.srs.population: duplicate key"},
        {"design: {poisson: {probability: p}}", "write probabilities"},
        {"design: {weights: {strata: s}, weight: w}", "only weights are known"},
        {"design: {two_stage: {first: {by: d, population: 4, sample: 2}, second: {population: m, sample: 2}}}", "write a list"},
        {"a: {a: {a: {a: {a: {a: {a: {a: {a: {a: 1}}}}}}}}}", "levels"}};
    tamis_outline *outline = (tamis_outline *)path;
    tamis_number *from, *to;
    tamis_error err;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(tamis_outline_read(&outline, file_of(bad[i][0]), &err), TAMIS_INVALID);
        assert_null(outline);
        assert_non_null(strstr(err.message, bad[i][1]));
    }
    unlink(path);
    assert_int_equal(tamis_outline_read(&outline, path, &err), TAMIS_INVALID);
    assert_int_equal(tamis_outline_read(&outline, NULL, &err), TAMIS_INVALID);
    assert_int_equal(tamis_outline_read(NULL, path, &err), TAMIS_INVALID);
    assert_int_equal(tamis_outline_range(&from, &to, &step, NULL, "x", &err), TAMIS_INVALID);
    assert_int_equal(tamis_outline_range(NULL, &to, &step, NULL, "x", &err), TAMIS_INVALID);
    tamis_design *design = (tamis_design *)path;
    assert_int_equal(tamis_outline_sampling(&design, NULL, &err), TAMIS_INVALID);
    assert_null(design);
    assert_int_equal(tamis_outline_sampling(NULL, NULL, &err), TAMIS_INVALID);
    assert_int_equal(tamis_outline_read(&outline, file_of("design: {srs: {population: 3}}"), &err), TAMIS_OK);
    assert_int_equal(tamis_outline_sampling(&design, outline, &err), TAMIS_INVALID);
    assert_string_equal(err.message, "srs: the field 'sample' is missing");
    tamis_outline_free(outline);
    unlink(path);
    assert_null(tamis_outline_design(NULL));
    assert_null(tamis_outline_stratum(NULL, 0));
    tamis_outline_free(NULL);
}

int main(void)
{
    const struct CMUnitTest group[] = {
        cmocka_unit_test(designs_are_written_as_the_calculator_reads_them),
        cmocka_unit_test(ranges_are_those_of_the_columns),
        cmocka_unit_test(what_is_no_outline_is_refused),
    };
    return cmocka_run_group_tests(group, NULL, NULL);
}
