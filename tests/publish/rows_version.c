/* The same release for rows in memory: the numbers that were kept, with a remark that the rows were not read; or a refusal, if
 * the caller names another version of them than the one that was released. */
#include "tests/test.h"

#include <stdio.h>
#include <string.h>
#include <tamis/engine.h>
#include <tamis/ledger.h>
#include <tamis/plan.h>
#include <tamis/release.h>

#include "tests/ledger/kit.h"

static const char text[] = "tamis: 1\nsurvey: s\nsource: {file: rows.csv}\ndesign: {srs: {population: 80, sample: 4}}\n"
                           "privacy: {unit: person, epsilon: 1}\nbudget: {epsilon: 4}\nledger: a.ledger\n"
                           "columns:\n  x: {from: 0, to: 10, step: 1}\nstatistics:\n  - {total: x}\n";

/* What a release of these values says; the status. `numbers` and `remarks` have room for LONGEST bytes. */
#define LONGEST 4000
static tamis_status release_rows(char *numbers, char *remarks, double value, const char *version, tamis_repeat repeat,
                                 tamis_error *err)
{
    const double values[] = {value, value, value, value};
    tamis_plan *plan = NULL;
    tamis_source *source = NULL;
    tamis_release *release = NULL;
    char *said = NULL;
    *err = (tamis_error){0};
    numbers[0] = remarks[0] = '\0';
    if (tamis_plan_read_text(&plan, "plan.yaml", text, sizeof text - 1, err) != TAMIS_OK) fail_msg("%s", err->message);
    assert_int_equal(tamis_source_new(&source, 4, NULL), TAMIS_OK);
    assert_int_equal(tamis_source_numbers(source, "x", values, NULL), TAMIS_OK);
    const tamis_release_options options = {
        .size = sizeof options, .rows = source, .ledger = path, .rows_version = version, .repeat = repeat};
    const tamis_status status = tamis_release_new(&release, plan, NULL, &options, err);
    assert_int_equal(status == TAMIS_OK, release != NULL);
    if (status == TAMIS_OK) {
        assert_int_equal(tamis_release_measurements_json(&said, release, NULL), TAMIS_OK);
        snprintf(numbers, LONGEST, "%s", said);
        tamis_free(said);
        assert_int_equal(tamis_release_remarks_text(&said, release, NULL), TAMIS_OK);
        snprintf(remarks, LONGEST, "%s", said);
        tamis_free(said);
    }
    tamis_release_free(release);
    tamis_source_free(source);
    tamis_plan_free(plan);
    return status;
}

static size_t charges(void)
{
    tamis_ledger *ledger;
    char *csv, *line;
    size_t count = 0;
    assert_int_equal(tamis_ledger_look(&ledger, path, NULL), TAMIS_OK);
    assert_int_equal(tamis_ledger_csv(&csv, ledger, NULL), TAMIS_OK);
    for (line = csv; (line = strchr(line, '\n')) != NULL; line++) count++;
    tamis_free(csv);
    tamis_ledger_free(ledger);
    return count - 1;
}

static void changed_rows_are_not_silently_given_old_numbers(void **state)
{
    char first[LONGEST], numbers[LONGEST], remarks[LONGEST];
    tamis_error err;
    (void)state;
    assert_int_equal(release_rows(first, remarks, 1, NULL, TAMIS_REPEAT_IF_SAME_VERSION, &err), TAMIS_OK);
    assert_string_equal(remarks, "");
    assert_int_equal(release_rows(numbers, remarks, 9, NULL, TAMIS_REPEAT_IF_SAME_VERSION, &err), TAMIS_OK);
    assert_string_equal(numbers, first);
    if (!strstr(remarks, "the rows in memory were not read") || !strstr(remarks, "TAMIS_REPEAT_PAID")) fail_msg("%s", remarks);
    assert_int_equal(charges(), 1);
    /* a version is not the one that was not named */
    assert_int_equal(release_rows(numbers, remarks, 9, "b", TAMIS_REPEAT_IF_SAME_VERSION, &err), TAMIS_REFUSED);
    assert_int_equal(charges(), 1);
    assert_int_equal(release_rows(numbers, remarks, 9, "b", TAMIS_REPEAT_PAID, &err), TAMIS_OK);
    assert_string_not_equal(numbers, first);
    assert_int_equal(charges(), 2);
}

static void another_version_is_refused_with_both_ways_on(void **state)
{
    char first[LONGEST], numbers[LONGEST], remarks[LONGEST];
    tamis_error err;
    (void)state;
    assert_int_equal(release_rows(first, remarks, 1, "delta@12", TAMIS_REPEAT_IF_SAME_VERSION, &err), TAMIS_OK);
    assert_int_equal(release_rows(numbers, remarks, 1, "delta@12", TAMIS_REPEAT_IF_SAME_VERSION, &err), TAMIS_OK);
    assert_string_equal(numbers, first);
    assert_int_equal(release_rows(numbers, remarks, 9, "delta@13", TAMIS_REPEAT_IF_SAME_VERSION, &err), TAMIS_REFUSED);
    for (size_t i = 0; i < 5; i++) {
        static const char *const words[] = {"'delta@12'", "'delta@13'", "nothing was spent", "TAMIS_REPEAT_KEPT",
                                            "TAMIS_REPEAT_PAID"};
        if (!strstr(err.message, words[i])) fail_msg("%s", err.message);
    }
    assert_int_equal(charges(), 1);
    assert_int_equal(release_rows(numbers, remarks, 9, "delta@13", TAMIS_REPEAT_KEPT, &err), TAMIS_OK);
    assert_string_equal(numbers, first);
    if (!strstr(remarks, "from the version 'delta@12'; the rows in memory were not read")) fail_msg("%s", remarks);
    assert_int_equal(release_rows(numbers, remarks, 9, NULL, TAMIS_REPEAT_IF_SAME_VERSION, &err), TAMIS_OK);
    assert_string_equal(numbers, first);
    assert_int_equal(charges(), 1);
    assert_int_equal(release_rows(numbers, remarks, 9, "delta@13", TAMIS_REPEAT_PAID, &err), TAMIS_OK);
    assert_string_not_equal(numbers, first);
    assert_int_equal(charges(), 2);
    /* what counts is the last release */
    assert_int_equal(release_rows(first, remarks, 1, "delta@13", TAMIS_REPEAT_IF_SAME_VERSION, &err), TAMIS_OK);
    assert_string_equal(numbers, first);
    assert_int_equal(release_rows(first, remarks, 1, "delta@12", TAMIS_REPEAT_IF_SAME_VERSION, &err), TAMIS_REFUSED);
    int ok = 0;
    char *problems = NULL;
    assert_int_equal(tamis_ledger_verify_text(&ok, &problems, path, NULL, 0, &err), TAMIS_OK);
    assert_true(ok);
    tamis_free(problems);
}

/* A version is for people too, and checked before anything is charged. */
static void a_version_has_words(void **state)
{
    static const char *const wrong[] = {"", "  ", "\xff"};
    char numbers[LONGEST], remarks[LONGEST];
    tamis_error err;
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(release_rows(numbers, remarks, 1, wrong[i], TAMIS_REPEAT_IF_SAME_VERSION, &err), TAMIS_INVALID);
        assert_non_null(strstr(err.message, "rows_version"));
        assert_int_not_equal(access(path, F_OK), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {IN_A_FOLDER(changed_rows_are_not_silently_given_old_numbers),
                                       IN_A_FOLDER(another_version_is_refused_with_both_ways_on),
                                       IN_A_FOLDER(a_version_has_words)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
