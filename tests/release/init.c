/* A plan to fill in: it has what the header of a file says, nothing of its rows, and is a plan once it is filled in. */
#include "tests/test.h"

#include <sys/stat.h>
#include <tamis/experimental/editor.h>
#include <tamis/init.h>
#include <tamis/plan.h>
#include <unistd.h>

#include "base/text.h"
#include "tests/base/memory_that_fails.h"
#include "tests/engine/statistics_files.h"

#define SECRET 73519 /* in every row of every file */
#define SECRET_TEXT "73519"

static char *init_of(const char *path)
{
    const tamis_init init = {.size = sizeof(tamis_init), .file = path, .source = "data file.sav"};
    tamis_error err = {0};
    char *text = NULL;
    if (tamis_init_yaml(&text, &init, &err) != TAMIS_OK) fail_msg("%s: %s", path, err.message);
    return text;
}

static void has(const char *text, const char *words)
{
    if (!strstr(text, words)) fail_msg("not in the plan: %s\n%s", words, text);
}

static void has_not(const char *text, const char *words)
{
    if (strstr(text, words)) fail_msg("in the plan: %s\n%s", words, text);
}

/* The text with each place filled in, in the order of the list. */
static char *filled(const char *text, const char *const *words)
{
    tmi_text out;
    char *whole = NULL;
    tmi_text_init(&out);
    text = strstr(text, "\ntamis: 1") + 1; /* the places, not the words about them */
    for (const char *at; (at = strstr(text, TAMIS_FILL_IN)); text = at + strlen(TAMIS_FILL_IN)) {
        tmi_text_add(&out, text, (size_t)(at - text));
        if (!*words) fail_msg("more places than words: %s", at);
        tmi_text_put(&out, *words++);
    }
    tmi_text_put(&out, text);
    assert_null(*words);
    assert_int_equal(tmi_text_take(&whole, &out, NULL), TAMIS_OK);
    return whole;
}

static void is_plan(const char *text, bool is)
{
    tamis_plan *plan = NULL;
    tamis_error err = {0};
    const tamis_status status = tamis_plan_read_text(&plan, "p.yaml", text, strlen(text), &err);
    if (is && status != TAMIS_OK) fail_msg("%s\n%s", err.message, text);
    if (!is) assert_int_equal(status, TAMIS_INVALID);
    if (!is) has(err.message, "to be filled in: expected");
    tamis_plan_free(plan);
}

/* ---- SPSS, Stata, SAS ---- */

/* A number, a labelled code, a text and a label with what YAML might take for its own. */
static const char *write_labelled(const char *name)
{
    const char *path = in_folder(name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    readstat_writer_t *writer = new_writer(name);
    readstat_writer_set_file_label(writer, "Pay: a survey");
    readstat_label_set_t *set = readstat_add_label_set(writer, READSTAT_TYPE_DOUBLE, "sexes");
    const bool labels = !has_ending(name, ".xpt") && !has_ending(name, ".sas7bdat"); /* of codes: SAS has catalogues */
    if (labels) {
        readstat_label_double_value(set, 1, "woman");
        readstat_label_double_value(set, 2, "man # or\nnot");
    }
    readstat_variable_t *pay = readstat_add_variable(writer, "pay", READSTAT_TYPE_DOUBLE, 0);
    readstat_variable_set_label(pay, "Gross \"pay\": per month");
    readstat_variable_t *sex = readstat_add_variable(writer, "sex", READSTAT_TYPE_DOUBLE, 0);
    readstat_variable_set_label(sex, "Sex");
    if (labels) readstat_variable_set_label_set(sex, set);
    readstat_variable_t *town = readstat_add_variable(writer, "no", READSTAT_TYPE_STRING, 8);
    readstat_variable_set_label(town, "to\xe2\x80\xaewn"); /* a bidirectional control */
    readstat_variable_t *day = readstat_add_variable(writer, "day", READSTAT_TYPE_DOUBLE, 0);
    readstat_variable_set_format(day, has_ending(name, ".dta") ? "%td" : has_ending(name, "sav") ? "DATE11" : "DATE9");
    begin_writing(writer, name, file, 500);
    for (size_t i = 0; i < 500; i++) {
        expect_written(readstat_begin_row(writer));
        expect_written(readstat_insert_double_value(writer, pay, SECRET));
        expect_written(readstat_insert_double_value(writer, sex, SECRET));
        expect_written(readstat_insert_string_value(writer, town, SECRET_TEXT));
        expect_written(readstat_insert_double_value(writer, day, SECRET));
        expect_written(readstat_end_row(writer));
    }
    expect_written(readstat_end_writing(writer));
    readstat_writer_free(writer);
    assert_int_equal(fclose(file), 0);
    return path;
}

static const char *const kinds[] = {"labelled.sav", "labelled.zsav", "labelled.dta", "labelled.sas7bdat", "labelled.xpt"};
#define KINDS (sizeof kinds / sizeof *kinds)

static void labels_are_copied_and_values_are_not(void **state)
{
    static const char *const with_codes[] = {"pay-2026",
                                             "{srs: {population: 900, sample: "
                                             "500}}",
                                             "person",
                                             "1",
                                             "0",
                                             "9000",
                                             "10",
                                             "1, 2",
                                             "a",
                                             "4",
                                             NULL};
    static const char *const without[] = {"pay-2026",
                                          "{srs: {population: 900, sample: "
                                          "500}}",
                                          "person",
                                          "1",
                                          "0",
                                          "9000",
                                          "10",
                                          "0",
                                          "3",
                                          "1",
                                          "a",
                                          "4",
                                          NULL};
    static const char *const without_title[] = {"pay-2026",
                                                "Pay",
                                                "{srs: {population: 900, sample: "
                                                "500}}",
                                                "person",
                                                "1",
                                                "0",
                                                "9000",
                                                "10",
                                                "0",
                                                "3",
                                                "1",
                                                "a",
                                                "4",
                                                NULL};
    (void)state;
    for (size_t k = 0; k < KINDS; k++) {
        char *text = init_of(write_labelled(kinds[k]));
        const bool codes = k < 3, title = strstr(text, "title: \"Pay: a survey\"") != NULL;
        has(text, "  pay:\n    label: \"Gross \\\"pay\\\": per month\"\n    from: FILL_IN\n    to: FILL_IN\n    step: FILL_IN\n");
        has(text, "  sex:\n    label: Sex\n");
        has(text, "file: \"data file.sav\"");
        has(text, "  # day: a date; to use it as a category, declare its values\n");
        has(text, "  \"no\":\n    # the file's label cannot be used in a plan");
        if (codes) has(text, "values: [\"1\", \"2\"]\n    #   1: woman\n    #   2: man # or<U+000A>not\n");
        has_not(text, "or by their labels"); /* one of them cannot be written in a plan */
        if (k < 3) assert_true(title);
        has_not(text, SECRET_TEXT);
        is_plan(text, false);
        char *whole = filled(text, codes ? with_codes : title ? without : without_title);
        is_plan(whole, true);
        tamis_free(whole);
        tamis_free(text);
    }
}

/* A number whose only labels are of missing codes is a number; and a missing code is none of the values. */
static void missing_codes_are_no_values(void **state)
{
    const char *path = in_folder("missing.sav");
    FILE *file = fopen(path, "wb");
    (void)state;
    assert_non_null(file);
    readstat_writer_t *writer = new_writer("missing.sav");
    readstat_label_set_t *refused = readstat_add_label_set(writer, READSTAT_TYPE_DOUBLE, "refused"),
                         *answers = readstat_add_label_set(writer, READSTAT_TYPE_DOUBLE, "answers");
    readstat_label_double_value(refused, 999, "refused");
    readstat_label_double_value(answers, 1, "yes");
    readstat_label_double_value(answers, 2, "no");
    readstat_label_double_value(answers, 97, "left blank");
    readstat_variable_t *age = readstat_add_variable(writer, "age", READSTAT_TYPE_DOUBLE, 0),
                        *works = readstat_add_variable(writer, "works", READSTAT_TYPE_DOUBLE, 0);
    readstat_variable_set_label_set(age, refused);
    readstat_variable_set_label_set(works, answers);
    expect_written(readstat_variable_add_missing_double_value(age, 999));
    expect_written(readstat_variable_add_missing_double_range(works, 90, 99));
    begin_writing(writer, "missing.sav", file, 0);
    expect_written(readstat_end_writing(writer));
    readstat_writer_free(writer);
    assert_int_equal(fclose(file), 0);
    char *text = init_of(path);
    has(text, "  age:\n    from: FILL_IN\n    to: FILL_IN\n    step: FILL_IN\n"
              "    # the file declares these codes missing, and so does a release:\n    #   999: refused\n");
    has(text, "  works:\n    values: [FILL_IN]\n"
              "    # codes with labels in the file; list those that are public: values: [\"1\", \"2\"]\n"
              "    #   1: yes\n    #   2: no\n"
              "    # or by their labels, which results then show: values: [\"yes\", \"no\"]\n"
              "    # the file declares these codes missing, and so does a release:\n    #   97: left blank\n");
    tamis_free(text);
}

/* Half of a file is as good: it is cut in the middle of its rows. */
static void rows_are_not_read(void **state)
{
    (void)state;
    for (size_t k = 0; k < KINDS; k++) {
        struct stat whole;
        const char *path = write_labelled(kinds[k]);
        assert_int_equal(stat(path, &whole), 0);
        assert_int_equal(truncate(path, has_ending(path, ".zsav") ? whole.st_size - 60 : whole.st_size - 4000), 0);
        char *text = init_of(path);
        has(text, "  pay:\n    label: ");
        has_not(text, SECRET_TEXT);
        tamis_free(text);
    }
}

/* ---- CSV ---- */

static void of_a_csv_file_the_first_line_is_read(void **state)
{
    static const char rows[] = "pay,\"the, region\",yes,a\xe2\x80\x8b"
                               "b,\n\"never closed " SECRET_TEXT "\0\xff\xfe,,,,,,";
    static const char *const words[] = {"s",
                                        "t",
                                        "{srs: {population: 900, sample: 500}}",
                                        "person",
                                        "1",
                                        "{from: 0, to: 9, "
                                        "step: 1}",
                                        "{values: "
                                        "[a]}",
                                        "{values: [b]}",
                                        "4",
                                        NULL};
    (void)state;
    char *text = init_of(write_bytes("rows.csv", rows, sizeof rows - 1));
    has(text, "\n  pay: FILL_IN\n  \"the, region\": FILL_IN\n  \"yes\": FILL_IN\n  # a<U+200B>b: a name that a plan cannot have");
    has_not(text, SECRET_TEXT);
    is_plan(text, false);
    char *whole = filled(text, words);
    is_plan(whole, true);
    tamis_free(whole);
    tamis_free(text);
}

/* A name in Latin-1 leaves a plan that can be read. */
static void what_is_no_utf8_is_shown_so(void **state)
{
    (void)state;
    char *text = init_of(write_text("latin.csv", "pay,r\xe9gion\n"));
    has(text, "\n  pay: FILL_IN\n  # r?gion: a name that a plan cannot have");
    is_plan(text, false);
    tamis_free(text);
}

static void what_is_wrong_is_said(void **state)
{
    static const struct wrong {
        const char *name, *text, *table, *message;
    } list[] = {
        {"empty.csv", "", NULL, "the file is empty"},
        {"numbers.csv", "1,2,3\n", NULL, "the first line contains numbers"},
        {"a.xlsx", "x", NULL, "must be a file that ends in .csv"},
        {"no.sav", "not SPSS at all", NULL, "its header cannot be read"},
        {"no.dta", "", NULL, "its header cannot be read"},
        {"a.csv", "a,b\n", "t", "table: needs a DuckDB file"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        const tamis_init init = {.size = sizeof(tamis_init),
                                 .file = write_text(list[i].name, list[i].text),
                                 .table = list[i].table};
        tamis_error err = {0};
        char *text = (char *)"";
        assert_int_equal(tamis_init_yaml(&text, &init, &err), TAMIS_INVALID);
        assert_null(text);
        has(err.message, list[i].message);
    }
    const tamis_init gone = {.size = sizeof(tamis_init), .file = in_folder("nobody.sav")}, none = {.size = sizeof(tamis_init)},
                     old = {.file = in_folder("labelled.sav")};
    char *text;
    assert_int_equal(tamis_init_yaml(&text, &gone, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_init_yaml(&text, &none, NULL), TAMIS_INVALID);
    tamis_error err = {0};
    assert_int_equal(tamis_init_yaml(&text, &old, &err), TAMIS_INVALID); /* a struct without its size */
    has(err.message, "size");
    assert_int_equal(tamis_init_yaml(&text, NULL, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_init_yaml(NULL, &gone, NULL), TAMIS_INVALID);
}

static void the_header_by_itself(void **state)
{
    const tamis_init init = {.size = sizeof(tamis_init), .file = write_labelled("labelled.sav")};
    char *json = NULL;
    (void)state;
    EVERY_ALLOCATION_FAILS(tamis_header_json(&json, &init, NULL), assert_null(json));
    has(json, "{\"label\": \"Pay: a survey\", \"columns\": [{\"name\": \"pay\", \"type\": \"number\", \"label\": "
              "\"Gross \\\"pay\\\": per month\", \"codes\": []}, {\"name\": \"sex\", \"type\": \"number\", \"label\": \"Sex\", "
              "\"codes\": [{\"code\": \"1\", \"label\": \"woman\", \"missing\": false}, {\"code\": \"2\"");
    has(json, "{\"name\": \"no\", \"type\": \"text\", \"label\": \"to<U+202E>wn\", \"codes\": []}");
    has(json, "\"name\": \"day\", \"type\": \"date\"");
    has_not(json, SECRET_TEXT);
    tamis_free(json);
    const tamis_init csv = {.size = sizeof(tamis_init), .file = write_text("a.csv", "a,b\n1,2\n")};
    assert_int_equal(tamis_header_json(&json, &csv, NULL), TAMIS_OK);
    assert_string_equal(json,
                        "{\"label\": null, \"columns\": [{\"name\": \"a\", \"type\": null, \"label\": null, \"codes\": []}, "
                        "{\"name\": \"b\", \"type\": null, \"label\": null, \"codes\": []}]}");
    tamis_free(json);
}

static void memory_may_run_out(void **state)
{
    const tamis_init init = {.size = sizeof(tamis_init), .file = write_labelled("labelled.sav")};
    char *text = NULL;
    (void)state;
    EVERY_ALLOCATION_FAILS(tamis_init_yaml(&text, &init, NULL), assert_null(text));
    tamis_free(text);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(labels_are_copied_and_values_are_not),
        cmocka_unit_test(missing_codes_are_no_values),
        cmocka_unit_test(rows_are_not_read),
        cmocka_unit_test(of_a_csv_file_the_first_line_is_read),
        cmocka_unit_test(what_is_no_utf8_is_shown_so),
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(the_header_by_itself),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(all, make_folder, remove_folder);
}
