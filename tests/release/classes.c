/* A column that a plan uses as a number, whatever for, and that the source calls texts: release and estimate refuse it, and
 * nothing is charged. That every engine tells is the business of engine/classes. */
#include "tests/test.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <tamis/engine.h>
#include <tamis/release.h>

#include "tests/engine/folder.h"

#define ROWS 8
#define COUNT(array) (sizeof(array) / sizeof *(array))

static const struct column {
    const char *name;
    double numbers[ROWS];
} numbers[] = {
    {"x", {1, 2, 3, 4, 5, 6, 7, 8}},   {"w", {10, 10, 10, 10, 10, 10, 10, 10}}, {"p", {.1, .1, .2, .2, .1, .1, .2, .2}},
    {"big", {6, 6, 6, 6, 6, 6, 6, 6}}, {"drawn", {2, 2, 2, 2, 2, 2, 2, 2}},
};
static const char *const clusters[] = {"a", "a", "b", "b", "c", "c", "d", "d"}, *const texts[] = {"1", "2", "3", "4",
                                                                                                  "5", "6", "7", "8"};

static tamis_source *source_with(const char *text_column)
{
    tamis_source *source;
    assert_int_equal(tamis_source_new(&source, ROWS, NULL), TAMIS_OK);
    assert_int_equal(tamis_source_texts(source, "c", clusters, NULL), TAMIS_OK);
    for (size_t c = 0; c < COUNT(numbers); c++) {
        const bool is_text = text_column && strcmp(numbers[c].name, text_column) == 0;
        assert_int_equal(is_text ? tamis_source_texts(source, numbers[c].name, texts, NULL)
                                 : tamis_source_numbers(source, numbers[c].name, numbers[c].numbers, NULL),
                         TAMIS_OK);
    }
    return source;
}

/* `column` NULL: both run. */
static void expect(const char *design, const char *column)
{
    const char *ledger = in_folder("account.ledger"), *out = in_folder("out");
    tamis_source *source = source_with(column);
    const tamis_release_options options = {.size = sizeof options, .ledger = ledger, .rows = source, .threads = 1};
    char text[1024], words[256];
    tamis_plan *plan;
    tamis_release *release;
    tamis_estimate *estimate;
    tamis_error err = {0};
    snprintf(text, sizeof text,
             "tamis: 1\nsurvey: s\nsource: {file: a.csv}\ndesign: {%s}\nprivacy: {unit: person, epsilon: 1}\n"
             "budget: {epsilon: 1}\ncolumns:\n  x: {from: 0, to: 10, step: 1}\nstatistics:\n  - {total: x}\n",
             design);
    snprintf(words, sizeof words, "column %s: the plan uses it as a number, but by its type it contains texts",
             column ? column : "");
    if (tamis_plan_read_text(&plan, "p.yaml", text, strlen(text), &err) != TAMIS_OK) fail_msg("%s", err.message);
    const tamis_status wanted = column ? TAMIS_INVALID : TAMIS_OK;
    tamis_status status = tamis_release_new(&release, plan, column ? out : NULL, &options, &err);
    if (status != wanted || (column && !strstr(err.message, words)))
        fail_msg("release, %s: %d, %s", design, (int)status, err.message);
    assert_int_equal(access(ledger, F_OK) != 0, column != NULL);
    if (column) assert_int_not_equal(access(out, F_OK), 0);
    err = (tamis_error){0};
    status = tamis_estimate_new(&estimate, plan,
                                &(tamis_estimate_options){.size = sizeof(tamis_estimate_options), .rows = source, .threads = 1},
                                &err);
    if (status != wanted || (column && !strstr(err.message, words)))
        fail_msg("estimate, %s: %d, %s", design, (int)status, err.message);
    tamis_release_free(release);
    tamis_estimate_free(estimate);
    tamis_plan_free(plan);
    tamis_source_free(source);
    remove(ledger);
}

static void every_number_of_a_plan(void **state)
{
    (void)state;
    static const struct {
        const char *design, *columns[4];
    } cases[] = {
        {"srs: {population: 80, sample: 8}", {"x"}},
        {"srs: {population: 80, sample: 8}, weight: w, max_weight: 20", {"x", "w"}},
        {"weights: {population: 80}, weight: w, max_weight: 20", {"w"}},
        {"poisson: {probability: p}, max_weight: 20", {"p"}},
        {"pps: {method: sampford, probability: p, sample: 8}, max_weight: 20", {"p"}},
        {"two_stage: {first: {by: c, population: 20, sample: 4}, second: {population: big, sample: drawn}}, max_weight: 50",
         {"big", "drawn"}},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        expect(cases[i].design, NULL);
        for (size_t c = 0; cases[i].columns[c]; c++) expect(cases[i].design, cases[i].columns[c]);
    }
}

int main(void)
{
    const struct CMUnitTest all[] = {cmocka_unit_test(every_number_of_a_plan)};
    return cmocka_run_group_tests(all, make_folder, remove_folder);
}
