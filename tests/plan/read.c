/* Good plans: what is in the file is in the plan, exactly. */
#include "tests/test.h"

#include <stdio.h>

#include "tests/base/memory_that_fails.h"
#include "tests/plan/reader.h"

static const char text[] =
    "# a comment\n"
    "tamis: 1\n"
    "statistics:                       # before the columns: the order does not matter\n"
    "  - count: units\n"
    "    by: [stype, awards]\n"
    "  - total: enroll\n"
    "    by: stype\n"
    "    budget_share: 1/3\n"
    "  - {mean: api00, confidence: 0.9}\n"
    "survey: \"schools: 2000\"\n"
    "source: {files: [north.csv, /data/south.parquet]}\n"
    "design: {srs: {population: 6194, sample: 2e2}}\n"
    "privacy: {unit: school, protect: sample, given: frame, epsilon: 0.1, secret_sample: No, design_variables: public}\n"
    "columns:\n"
    "  enroll: {from: 0, to: 4000, step: 1, typical: 600, missing_codes: [-9, 9.9], missing: leave_out}\n"
    "  api00:  {from: -0.05, to: 1e3, step: 0.1}\n"
    "  awards: {values: [No, \"Yes\"]}\n"
    "  stype:  {values: [E, M, ' H ']}\n";

/* Marks of other scripts that belong to their spelling, and the mark that some editors put before the first letter. */
static void names_are_in_any_script(void **state)
{
    (void)state;
    tamis_plan *p = read_good(
        "\ufefftamis: 1\nsurvey: \u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 # \u05d1\u05d9\u05ea\nsource: {file: a.csv}\n"
        "design: {srs: {population: 9, sample: 3}}\nprivacy: {unit: caf\u00e9, epsilon: 1}\n"
        "columns: {c: {values: [\"\u0915\u094d\u200d\u0937\", cafe\u0301, a\u00a0b]}}\nstatistics: [{count: units, by: c}]\n");
    assert_string_equal(p->survey, "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645");
    assert_int_equal(p->columns[0].value_count, 3);
    tamis_plan_free(p);
}

static void everything_is_read(void **state)
{
    (void)state;
    tamis_plan *p = read_good(text);
    assert_string_equal(p->survey, "schools: 2000");
    assert_int_equal(p->source.file_count, 2);
    assert_string_equal(p->source.files[0], "folder/north.csv");
    assert_string_equal(p->source.files[1], "/data/south.parquet");
    assert_ptr_equal(p->design.kind, &tmi_plan_kind_srs);
    assert_int_equal(p->design.population, 6194);
    assert_int_equal(p->design.sample, 200);
    assert_string_equal(p->privacy.unit, "school");
    assert_ptr_equal(p->privacy.setting, tamis_setting_named("sample given frame"));
    assert_false(p->privacy.secret_sample);
    assert_number(p->privacy.loss.epsilon, "1/10"); /* never through a double */

    assert_int_equal(p->column_count, 4);
    const tmi_plan_column *enroll = &p->columns[0], *api = &p->columns[1], *awards = &p->columns[2], *stype = &p->columns[3];
    assert_true(enroll->is_number && !enroll->is_category);
    assert_int_equal(enroll->grid.low, 0);
    assert_int_equal(enroll->grid.high, 4000);
    assert_number(enroll->typical, "600");
    assert_int_equal(enroll->missing_code_count, 3); /* 9.9 lies between two doubles */
    assert_true(enroll->missing_codes[0] == -9.0);
    assert_true(enroll->missing_codes[1] == 9.9 || enroll->missing_codes[2] == 9.9);
    assert_int_equal(api->grid.low, 0); /* ceil(-0.5) */
    assert_int_equal(api->grid.high, 10000);
    assert_number(api->step, "1/10");
    assert_true(awards->is_category && !awards->is_number);
    assert_string_equal(awards->values[0], "No");
    assert_string_equal(stype->values[2], "H");

    assert_int_equal(p->statistic_count, 3);
    assert_int_equal(p->statistics[0].kind, TMI_COUNT);
    assert_int_equal(p->statistics[0].by_count, 2);
    assert_ptr_equal(p->statistics[0].by[1], awards);
    assert_int_equal(tmi_statistic_cells(&p->statistics[0]), 6);
    assert_number(p->statistics[0].share, "1");
    assert_number(p->statistics[0].confidence, "19/20");
    assert_int_equal(p->statistics[1].kind, TMI_TOTAL);
    assert_ptr_equal(p->statistics[1].column, enroll);
    assert_number(p->statistics[1].share, "1/3");
    assert_int_equal(p->statistics[2].kind, TMI_MEAN);
    assert_number(p->statistics[2].confidence, "9/10");

    char *folder;
    assert_int_equal(tamis_plan_release_folder(&folder, p, NULL), TAMIS_OK);
    assert_string_equal(folder, "schools-release");
    tamis_free(folder);
    tamis_plan_free(p);
}

static void a_small_plan_has_defaults(void **state)
{
    (void)state;
    tamis_plan *p = read_good("{\"tamis\": 1, \"survey\": \"s\", \"source\": {\"file\": \"a.csv\"}, \"design\": {\"census\": "
                              "{\"population\": 7}}, \"privacy\": {\"epsilon\": 2}, \"statistics\": [{\"count\": "
                              "\"units\"}]}"); /* JSON is YAML */
    assert_ptr_equal(p->design.kind, &tmi_plan_kind_census);
    assert_int_equal(p->design.sample, 7);
    assert_string_equal(p->privacy.unit, "unit");
    assert_ptr_equal(p->privacy.setting, tamis_setting_named("sample given frame"));
    tamis_plan_free(p);
}

static void booleans_have_four_words(void **state)
{
    (void)state;
    static const struct {
        const char *word;
        bool yes;
    } words[] = {{"yes", true}, {"true", true}, {"no", false}, {"false", false}, {"YES", true}, {"False", false}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char plan[512];
        snprintf(plan, sizeof plan,
                 "tamis: 1\nsurvey: s\nsource: {file: a.csv}\ndesign: {census: {population: 7}}\n"
                 "privacy: {epsilon: 2, secret_sample: %s}\nstatistics: [{count: units}]\n",
                 words[i].word);
        tamis_plan *p = read_good(plan);
        assert_int_equal(p->privacy.secret_sample, words[i].yes);
        tamis_plan_free(p);
    }
}

static void other_line_ends_and_a_byte_order_mark(void **state)
{
    (void)state;
    tamis_plan *p = read_good("\xef\xbb\xbftamis: 1\r\nsurvey: s\r\nsource:\r\n  file: a.csv\r\ndesign:\r\n  census: "
                              "{population: 7}\r\nprivacy:\r\n  epsilon: 2\r\nstatistics:\r\n- count: units\r\n");
    assert_string_equal(p->survey, "s");
    assert_string_equal(p->source.files[0], "folder/a.csv");
    tamis_plan_free(p);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    tamis_plan *plan = NULL;
    tamis_error err = {0};
    EVERY_ALLOCATION_FAILS(tamis_plan_read_text(&plan, "p.yaml", text, strlen(text), &err), assert_null(plan));
    tamis_plan_free(plan);

    /* also while complaining */
    static const char bad[] = "tamis: 2\nsurvye: x\nfruit: y\nstatistics: [{total: a}]\ncolumns: {b: {from: x}}\n";
    for (long k = 1;; k++) {
        fail_allocation(k);
        tamis_status status = tamis_plan_read_text(&plan, "p.yaml", bad, strlen(bad), &err);
        assert_null(plan);
        if (!allocation_failed()) {
            assert_int_equal(status, TAMIS_INVALID);
            break;
        }
        assert_int_equal(status, TAMIS_SYSTEM);
    }
}

int main(void)
{
    const struct CMUnitTest group[] = {
        cmocka_unit_test(everything_is_read),
        cmocka_unit_test(names_are_in_any_script),
        cmocka_unit_test(a_small_plan_has_defaults),
        cmocka_unit_test(booleans_have_four_words),
        cmocka_unit_test(other_line_ends_and_a_byte_order_mark),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(group, NULL, NULL);
}
