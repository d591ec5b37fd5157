/* What is particular to files of SPSS, Stata and SAS: labels, missing values, types, files that are none or are cut off. That
 * the integers are those of the other engines is the business of conformance.c.                                      */
#include "tests/test.h"

#include <math.h>

#include "tests/base/memory_that_fails.h"
#include "tests/engine/statistics_files.h"

#define ENDINGS(X) X(".sav") X(".zsav") X(".dta") X(".sas7bdat") X(".xpt")
#define LISTED(ending) ending,
static const char *const endings[] = {ENDINGS(LISTED)};

static tmi_engine *open_file(const char *path, unsigned threads)
{
    const tmi_source source = {.files = &path, .file_count = 1};
    tmi_engine *engine;
    tamis_error err = {0};
    if (tmi_engine_readstat(&engine, &source, threads, &err) != TAMIS_OK) fail_msg("%s", err.message);
    return engine;
}

/* ---- labels ---- */

static const char *const by_labels[] = {"Yes", "No"}, *const by_codes[] = {"1", "2"}, *const mixed[] = {"1", "No", "Refused"},
                         *const crossed[] = {"2", "1"}, *const letters[] = {"Female", "m"};
#define CATEGORY(column, list) \
    { \
        .name = column, .kind = TMI_CATEGORY, .values = list, .value_count = COUNT(list) \
    }
static const tmi_column labelled = CATEGORY("answer", by_labels), coded = CATEGORY("answer", by_codes),
                        both = CATEGORY("answer", mixed), swapped = CATEGORY("trap", crossed), sex = CATEGORY("sex", letters);
static const tmi_column answer = {.name = "answer", .grid = {0, 100, 1, 0, 100}};

/* answer: 1 = Yes, 2 = No, 8 = Refused; in SPSS 9 and 90 to 99 are missing, in Stata .a. trap: 1 is labelled 2 and 2 is
 * labelled 1, and a code that is listed means itself. sex: f = Female, m = Male (Stata has no labels of texts). */
static const char *write_answers(const char *name)
{
    static const double numbers[] = {1, 2, 2, 8, 9, 95, 3};
    const char *path = in_folder(name);
    const bool is_sav = has_ending(name, "sav"), is_dta = has_ending(name, ".dta");
    FILE *file = fopen(path, "wb");
    readstat_writer_t *writer = new_writer(name);
    readstat_variable_t *v[3];
    readstat_label_set_t *sets[3];
    sets[0] = readstat_add_label_set(writer, READSTAT_TYPE_DOUBLE, "answers");
    sets[1] = readstat_add_label_set(writer, READSTAT_TYPE_DOUBLE, "traps");
    for (int i = 0; i < 2; i++) {
        const int32_t key = i + 1;
        const char *const label = i == 0 ? " Yes " : "No";
        if (is_dta) {
            readstat_label_int32_value(sets[0], key, label);
            readstat_label_int32_value(sets[1], key, i == 0 ? "2" : "1");
        } else {
            readstat_label_double_value(sets[0], key, label);
            readstat_label_double_value(sets[1], key, i == 0 ? "2" : "1");
        }
    }
    if (is_dta) readstat_label_int32_value(sets[0], 8, "Refused");
    else readstat_label_double_value(sets[0], 8, "Refused");
    v[0] = readstat_add_variable(writer, "answer", is_dta ? READSTAT_TYPE_INT32 : READSTAT_TYPE_DOUBLE, 0);
    v[1] = readstat_add_variable(writer, "trap", is_dta ? READSTAT_TYPE_INT8 : READSTAT_TYPE_DOUBLE, 0);
    v[2] = readstat_add_variable(writer, "sex", READSTAT_TYPE_STRING, 8);
    readstat_variable_set_label_set(v[0], sets[0]);
    readstat_variable_set_label_set(v[1], sets[1]);
    if (is_sav) {
        sets[2] = readstat_add_label_set(writer, READSTAT_TYPE_STRING, "sexes");
        readstat_label_string_value(sets[2], "f", "Female");
        readstat_label_string_value(sets[2], "m", "Male");
        readstat_variable_set_label_set(v[2], sets[2]);
        expect_written(readstat_variable_add_missing_double_value(v[0], 9));
        expect_written(readstat_variable_add_missing_double_range(v[0], 90, 99));
    }
    begin_writing(writer, name, file, COUNT(numbers));
    for (size_t i = 0; i < COUNT(numbers); i++) {
        expect_written(readstat_begin_row(writer));
        if (is_dta && numbers[i] >= 9)
            expect_written(numbers[i] == 9 ? readstat_insert_tagged_missing_value(writer, v[0], 'a')
                                           : readstat_insert_missing_value(writer, v[0]));
        else if (is_dta) expect_written(readstat_insert_int32_value(writer, v[0], (int32_t)numbers[i]));
        else expect_written(readstat_insert_double_value(writer, v[0], numbers[i]));
        if (is_dta) expect_written(readstat_insert_int8_value(writer, v[1], (int8_t)(1 + (i > 1))));
        else expect_written(readstat_insert_double_value(writer, v[1], 1 + (i > 1)));
        expect_written(readstat_insert_string_value(writer, v[2], i == 0 ? "f" : i == 1 ? " m" : i == 2 ? "Female" : ""));
        expect_written(readstat_end_row(writer));
    }
    expect_written(readstat_end_writing(writer));
    readstat_writer_free(writer);
    assert_int_equal(fclose(file), 0);
    return path;
}

static void expect_codes(tmi_engine *engine, const tmi_column *column, const int64_t *right)
{
    const tmi_column *const by[] = {column};
    const tmi_measure measure = ROWS_WITH(NULL);
    const tmi_table table = {by, 1, &measure, 1};
    const tmi_request request = {.tables = &table, .table_count = 1};
    tmi_int128 got[4], *const places[] = {got};
    assert_int_equal(engine->aggregate(engine, places, &request, NULL, NULL), TAMIS_OK);
    for (size_t i = 0; i < column->value_count; i++)
        if (got[i] != right[i]) fail_msg("%s: value %zu: %lld", column->name, i, (long long)got[i]);
}

static void labels_and_missing_values(void **state)
{
    (void)state;
    static const char *const files[] = {"answers.sav", "answers.zsav", "answers.dta"};
    const tmi_measure measures[] = {SUM_OF(&answer), ROWS_WITH(&answer)};
    const tmi_table table = {NULL, 0, measures, 2};
    const tmi_request request = {.tables = &table, .table_count = 1};
    tmi_int128 got[2], *const places[] = {got};
    for (size_t f = 0; f < COUNT(files); f++) {
        tmi_engine *engine = open_file(write_answers(files[f]), 1);
        expect_codes(engine, &labelled, (int64_t[]){1, 2});
        expect_codes(engine, &coded, (int64_t[]){1, 2});
        expect_codes(engine, &both, (int64_t[]){1, 2, 1});
        expect_codes(engine, &swapped, (int64_t[]){5, 2});
        expect_codes(engine, &sex, f < 2 ? (int64_t[]){2, 1} : (int64_t[]){1, 1});
        assert_int_equal(engine->aggregate(engine, places, &request, NULL, NULL), TAMIS_OK);
        assert_true(got[0] == 1 + 2 + 2 + 8 + 3 && got[1] == 5); /* without 9 and 95 */
        engine->free(engine);
    }
}

/* ---- types ---- */

static void floats_and_small_integers(void **state)
{
    (void)state;
    static const double code[] = {99.9};
    static const char *const texts[] = {"0.1", "7", "-3"};
    const tmi_column real = {.name = "real",
                             .grid = {-10, 200, 0.125, -80, 1600},
                             .missing_codes = code,
                             .missing_code_count = 1};
    const tmi_column as_text = CATEGORY("real", texts), small = CATEGORY("small", texts);
    const char *path = in_folder("types.dta");
    FILE *file = fopen(path, "wb");
    readstat_writer_t *writer = new_writer(path);
    readstat_variable_t *v[] = {readstat_add_variable(writer, "real", READSTAT_TYPE_FLOAT, 0),
                                readstat_add_variable(writer, "small", READSTAT_TYPE_INT16, 0)};
    static const float floats[] = {0.1f, 99.9f, 7, -3};
    begin_writing(writer, path, file, 4);
    for (int i = 0; i < 4; i++) {
        expect_written(readstat_begin_row(writer));
        expect_written(readstat_insert_float_value(writer, v[0], floats[i]));
        expect_written(readstat_insert_int16_value(writer, v[1], (int16_t)(i == 0 ? 7 : -3)));
        expect_written(readstat_end_row(writer));
    }
    expect_written(readstat_end_writing(writer));
    readstat_writer_free(writer);
    assert_int_equal(fclose(file), 0);
    tmi_engine *engine = open_file(path, 1);
    expect_codes(engine, &as_text, (int64_t[]){1, 1, 1});
    expect_codes(engine, &small, (int64_t[]){0, 1, 3});
    const tmi_measure measures[] = {SUM_OF(&real), ROWS_WITH(&real)};
    const tmi_table table = {NULL, 0, measures, 2};
    const tmi_request request = {.tables = &table, .table_count = 1};
    tmi_int128 got[2], *const places[] = {got};
    assert_int_equal(engine->aggregate(engine, places, &request, NULL, NULL), TAMIS_OK);
    assert_true(got[0] == 1 + 56 - 24 && got[1] == 3);
    engine->free(engine);
}

/* ---- files that are none ---- */

static const tmi_column x = {.name = "x", .grid = {0, 100, 1, 0, 100}}, nobody = {.name = "nobody", .kind = TMI_LABEL};

static void expect_invalid(const char *path, const tmi_column *column, const char *words)
{
    const tmi_column *const columns[] = {column};
    tmi_inventory all = {.columns = columns, .column_count = 1, .rows = 7};
    tamis_error err = {0};
    tmi_engine *engine = open_file(path, 1);
    const tamis_status got = engine->describe(engine, &all, NULL, &err);
    if (got != TAMIS_INVALID || !strstr(err.message, words)) fail_msg("%s: %d, %s", path, (int)got, err.message);
    assert_null(strstr(err.message, "SECRET"));
    assert_int_equal(all.rows, 0);
    if (column == &x) {
        const tmi_measure measure = SUM_OF(column);
        const tmi_table table = {NULL, 0, &measure, 1};
        const tmi_request request = {.tables = &table, .table_count = 1};
        tmi_int128 sum = 7, *const places[] = {&sum};
        assert_int_equal(engine->aggregate(engine, places, &request, NULL, NULL), TAMIS_SYSTEM); /* after the charge */
        assert_true(sum == 0);
    }
    engine->free(engine);
}

static void files_that_are_none(void **state)
{
    (void)state;
    row list[40] = {0};
    for (size_t i = 0; i < COUNT(list); i++) {
        strcpy(list[i].text[H], "SECRET");
        list[i].number[X] = (double)i;
    }
    for (size_t e = 0; e < COUNT(endings); e++) {
        char name[64];
        snprintf(name, sizeof name, "whole%s", endings[e]);
        const char *path = write_statistics_file(name, list, COUNT(list));
        expect_invalid(path, &nobody, "there is no column nobody");
        snprintf(name, sizeof name, "text%s", endings[e]);
        expect_invalid(write_text(name, "SECRET,x\nSECRET,2\n"), &x, "file, or");
        snprintf(name, sizeof name, "empty%s", endings[e]);
        expect_invalid(write_text(name, ""), &x, "file, or");
        snprintf(name, sizeof name, "nowhere%s", endings[e]);
        expect_invalid(in_folder(name), &x, "No such file");
        if (e == 4) continue; /* a transport file does not say how long it is */
        static char bytes[1 << 20];
        FILE *file = fopen(path, "rb");
        const size_t length = fread(bytes, 1, sizeof bytes, file);
        assert_int_equal(fclose(file), 0);
        snprintf(name, sizeof name, "cut%s", endings[e]);
        for (size_t part = 1; part < 8; part++) expect_invalid(write_bytes(name, bytes, length * part / 8), &x, "");
    }
    const char *const files[] = {in_folder("whole.sav"), in_folder("table.csv")};
    const tmi_source mixed_files = {.files = files, .file_count = 2}, none = {0};
    tmi_engine *engine;
    tamis_error err;
    assert_int_equal(tmi_engine_readstat(&engine, &mixed_files, 1, &err), TAMIS_INVALID);
    assert_null(engine);
    assert_non_null(strstr(err.message, "table.csv"));
    assert_int_equal(tmi_engine_readstat(&engine, &none, 1, NULL), TAMIS_INVALID);
    assert_true(tmi_is_readstat_file("a.SAV") && tmi_is_readstat_file("a.sas7bdat") && !tmi_is_readstat_file("a.csv") &&
                !tmi_is_readstat_file(".sav"));
}

/* ---- stopping, memory ---- */

static int stop(void *context, double share, int64_t rows)
{
    ++*(int *)context;
    assert_true(share >= 0 && share <= 1 && rows >= 0);
    return 1;
}

static tamis_status take(void *context, const tmi_piece *piece, tamis_error *err)
{
    (void)context;
    (void)piece;
    (void)err;
    return TAMIS_OK;
}

static void stopped_or_without_memory(void **state)
{
    (void)state;
    const char *path = write_answers("answers.sav");
    const tmi_column *const columns[] = {&labelled, &answer};
    const tmi_column *const by[] = {&labelled};
    const tmi_measure measure = SUM_OF(&answer);
    const tmi_table table = {by, 1, &measure, 1};
    const tmi_request request = {.tables = &table, .table_count = 1};
    static const tmi_int128 zero[2];
    tmi_int128 got[2], *const places[] = {got};
    tmi_inventory all = {.columns = columns, .column_count = 2, .stratum = &labelled};
    const tmi_source source = {.files = &path, .file_count = 1};
    tmi_engine *engine;
    int told = 0;
    tamis_error err = {0};
    EVERY_ALLOCATION_FAILS(tmi_engine_readstat(&engine, &source, 1, NULL), assert_null(engine));
    assert_int_equal(engine->aggregate(engine, places, &request, &(tamis_watch){stop, &told}, &err), TAMIS_SYSTEM);
    assert_string_equal(err.message, "cancelled");
    assert_true(told > 0 && got[0] == 0);
    EVERY_ALLOCATION_FAILS(engine->describe(engine, &all, NULL, NULL), assert_int_equal(all.rows, 0));
    EVERY_ALLOCATION_FAILS((memset(got, 1, sizeof got), engine->aggregate(engine, places, &request, NULL, NULL)),
                           assert_memory_equal(got, zero, sizeof got));
    EVERY_ALLOCATION_FAILS(engine->rows(engine, columns, 2, take, NULL, NULL), {});
    engine->free(engine);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(labels_and_missing_values),
        cmocka_unit_test(floats_and_small_integers),
        cmocka_unit_test(files_that_are_none),
        cmocka_unit_test(stopped_or_without_memory),
    };
    return cmocka_run_group_tests(all, make_folder, remove_folder);
}
