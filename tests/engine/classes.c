/* The class of a column's type is a declared invariant: a number of the plan that the header of a source calls a text, a date or
 * a boolean is refused before the charge, on every engine that knows types and in every part; so is a category that can meet none
 * of its values. And a column that is not there is named with the one that may be meant. */
#include "tests/test.h"

#include "engine/files/readstat_class.h"
#include "engine/files/source.h"
#include "tests/engine/duckdb_sql.h"
#include "tests/engine/folder.h"
#include "tests/engine/server.h"
#include "tests/engine/statistics_files.h"

static const tmi_column income = {.name = "income", .grid = {0, 100, 1, 0, 100}};
static const tmi_measure sum = SUM_OF(&income);
static const tmi_table table = {NULL, 0, &sum, 1};
static const tmi_request request = {.tables = &table, .table_count = 1};

/* `words` in the message of the check before the charge; NULL: nothing is wrong. After the charge the same is a failure of the
 * system, without a number. */
static void expect(const char *what, tmi_engine *engine, const tmi_column *column, const char *words)
{
    tmi_inventory all = {.columns = &column, .column_count = 1, .rows = 7};
    tamis_error err = {0};
    const tamis_status status = engine->describe(engine, &all, NULL, &err);
    if (status != (words ? TAMIS_INVALID : TAMIS_OK) ||
        (words && (!strstr(err.message, words) || !strstr(err.message, column->name))))
        fail_msg("%s: %d, %s", what, (int)status, err.message);
    if (words) assert_int_equal(all.rows, 0);
    if (column == &income) {
        tmi_int128 got = 7, *const places[] = {&got};
        assert_int_equal(engine->aggregate(engine, places, &request, NULL, NULL), words ? TAMIS_SYSTEM : TAMIS_OK);
        if (words) assert_true(got == 0);
    }
    engine->free(engine);
}

#define TEXTS "by its type it contains texts: list its `values`"
#define DATES "by its type it contains dates or times: make a number from it"
#define BOOLEANS "by its type it contains booleans: declare it with `values: [\"true\", \"false\"]`"
#define OTHERS "by its type it contains something else"

/* ---- databases and Parquet ---- */

static const char *write_parquet(const char *name, const char *select)
{
    const char *path = in_folder(name);
    char sql[1024];
    snprintf(sql, sizeof sql, "COPY (%s) TO '%s' (FORMAT parquet)", select, path);
    run_sql(sql);
    return path;
}

/* A table with a column c0, c1 ... for each case: all that are wrong are named, each with what is wrong. A session of DuckDB
 * takes its time, so that one serves several columns; a message has room for four. */
static void expect_classes(const char *path, const char *const (*cases)[2], size_t count)
{
    for (size_t first = 0; first < count; first += 4) {
        const size_t here = count - first < 4 ? count - first : 4;
        char names[4][8];
        tmi_column columns[4];
        const tmi_column *list[4];
        tamis_error err = {0};
        bool wrong = false;
        for (size_t i = 0; i < here; i++) {
            snprintf(names[i], sizeof names[i], "c%zu", first + i);
            columns[i] = income;
            columns[i].name = names[i];
            list[i] = &columns[i];
            wrong = wrong || cases[first + i][1];
        }
        tmi_inventory all = {.columns = list, .column_count = here, .rows = 7};
        tmi_engine *engine = open_engine(&path, 1, 1);
        assert_int_equal(engine->describe(engine, &all, NULL, &err), wrong ? TAMIS_INVALID : TAMIS_OK);
        for (size_t i = 0; i < here; i++) {
            char words[256];
            const char *right = cases[first + i][1];
            snprintf(words, sizeof words, "column %s: the plan uses it as a number, but %s", names[i], right ? right : "");
            if (!strstr(err.message, words) == (right != NULL)) fail_msg("%s: %s", cases[first + i][0], err.message);
        }
        engine->free(engine);
    }
}

static void duckdb_and_parquet(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"'12'", TEXTS},
        {"'12'::ENUM('12', '13')", TEXTS},
        {"true", BOOLEANS},
        {"DATE '2000-01-31'", DATES},
        {"TIMESTAMP '2000-01-31 10:00:00'", DATES},
        {"TIME '10:00:00'", DATES},
        {"[12]", OTHERS},
        {"uuid()", OTHERS},
        /* what Parquet has ends here */
        {"12::UTINYINT", NULL},
        {"12::DECIMAL(9,2)", NULL},
        {"12::FLOAT", NULL},
        {"12::HUGEINT", NULL},
        {"'12' COLLATE NOCASE", TEXTS},
        {"'12'::JSON", TEXTS},
        {"INTERVAL 3 DAY", DATES},
        {"'12'::BLOB", OTHERS},
    };
    for (int in_parquet = 0; in_parquet < 2; in_parquet++) {
        const char *path = in_folder(in_parquet ? "class.parquet" : "class.duckdb");
        const size_t count = in_parquet ? COUNT(cases) - 4 : COUNT(cases);
        char select[1024] = "SELECT 12 AS income", sql[2048];
        for (size_t i = 0; i < count; i++)
            snprintf(select + strlen(select), sizeof select - strlen(select), ", %s AS c%zu", cases[i][0], i);
        snprintf(sql, sizeof sql, in_parquet ? "COPY (%1$s) TO '%2$s'" : "ATTACH '%2$s' AS a; CREATE TABLE a.t AS %1$s; DETACH a",
                 select, path);
        run_sql(sql);
        expect_classes(path, cases, count);
    }
}

/* CSV holds texts that may be numbers; beside it each other part has to hold numbers. */
static void each_part(void **state)
{
    (void)state;
    const char *const csv = write_text("part.csv", "income\n12\n many\n"),
                      *const numbers = write_parquet("numbers.parquet", "SELECT 12 AS income"),
                      *const texts = write_parquet("texts.parquet", "SELECT '12' AS income");
    const char *const fine[] = {csv, numbers}, *const not [] = {csv, numbers, texts};
    tmi_engine *memory;
    assert_int_equal(tmi_engine_memory(&memory, &(tmi_source){.files = &csv, .file_count = 1}, 1, NULL), TAMIS_OK);
    expect("CSV", memory, &income, NULL);
    expect("CSV and Parquet", open_engine(fine, 2, 1), &income, NULL);
    expect("three parts", open_engine(not, 3, 1), &income,
           "texts.parquet: column income: the plan uses it as a number, but " TEXTS);
    char connection[2][512];
    const char *const two[] = {connection[0], connection[1]};
    server_run("CREATE SCHEMA p0; CREATE SCHEMA p1; CREATE TABLE p0.t (income numeric); CREATE TABLE p1.t (income text)");
    for (size_t p = 0; p < 2; p++)
        snprintf(connection[p], sizeof connection[p], "%s options=-csearch_path=p%zu", server_text(), p);
    expect("two servers", open_server(two, 2, "t", false, 1), &income,
           "PostgreSQL, connection 2: column income: the plan uses it as a number");
}

static void postgres(void **state)
{
    (void)state;
    static const struct {
        const char *type, *words;
    } cases[] = {
        {"text", TEXTS},        {"varchar(9)", TEXTS}, {"char(3)", TEXTS},   {"name", TEXTS},        {"colours", TEXTS},
        {"of_text", TEXTS},     {"date", DATES},       {"timestamp", DATES}, {"timestamptz", DATES}, {"time", DATES},
        {"interval", DATES},    {"boolean", BOOLEANS}, {"uuid", OTHERS},     {"money", OTHERS},      {"int4[]", OTHERS},
        {"bytea", OTHERS},      {"jsonb", OTHERS},     {"oid", OTHERS},      {"int2", NULL},         {"int8", NULL},
        {"numeric(9,2)", NULL}, {"float4", NULL},      {"float8", NULL},     {"of_numeric", NULL},
    };
    const char *const text = server_text();
    server_run(
        "CREATE TYPE colours AS ENUM ('1', '2'); CREATE DOMAIN of_text AS text; CREATE DOMAIN of_numeric AS numeric(9, 2)");
    for (size_t i = 0; i < COUNT(cases); i++) {
        char sql[512];
        snprintf(sql, sizeof sql,
                 "SET client_min_messages = error; DROP TABLE IF EXISTS classes; CREATE TABLE classes (income %s); INSERT INTO "
                 "classes VALUES (NULL)",
                 cases[i].type);
        server_run(sql);
        expect(cases[i].type, open_server(&text, 1, "classes", false, 1), &income, cases[i].words);
    }
}

/* ---- memory ---- */

static void arrays(void **state)
{
    (void)state;
    static const int32_t starts[] = {0, 1, 2};
    static const int64_t numbers[] = {1, 0};
    static const struct {
        const char *format, *words, *of; /* of a dictionary */
    } cases[] = {
        {"u", TEXTS, NULL},    {"U", TEXTS, NULL},       {"c", TEXTS, "u"},    {"c", NULL, "l"},     {"b", BOOLEANS, NULL},
        {"tdD", DATES, NULL},  {"tsu:UTC", DATES, NULL}, {"ttm", DATES, NULL}, {"tDs", DATES, NULL}, {"z", OTHERS, NULL},
        {"d:9,2", NULL, NULL}, {"n", NULL, NULL},        {"i", NULL, NULL},    {"L", NULL, NULL},    {"f", NULL, NULL},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct ArrowSchema words = {.format = cases[i].of}, field = {.format = cases[i].format, .name = "income"},
                           *fields[] = {&field};
        const struct ArrowSchema schema = {.format = "+s", .n_children = 1, .children = fields};
        const bool is_text = strcmp(cases[i].format, "u") == 0;
        const void *buffers[] = {NULL, is_text ? (const void *)starts : (const void *)numbers, "12"},
                   *of[] = {NULL, starts, "12"};
        struct ArrowArray dictionary = {.length = 1, .n_buffers = 3, .buffers = of},
                          array = {.length = 1, .n_buffers = cases[i].format[0] == 'n' ? 0 : 3, .buffers = buffers},
                          *columns[] = {&array};
        const struct ArrowArray batch = {.length = 1, .n_children = 1, .children = columns}, *const batches[] = {&batch};
        tamis_source *source;
        tmi_engine *engine;
        if (cases[i].of) {
            field.dictionary = &words;
            array.dictionary = &dictionary;
        }
        assert_int_equal(tamis_source_arrow(&source, &schema, batches, 1, NULL), TAMIS_OK);
        assert_int_equal(tmi_engine_of_source(&engine, source, 1, NULL), TAMIS_OK);
        expect(cases[i].format, engine, &income, cases[i].words);
        if (cases[i].words && strcmp(cases[i].words, OTHERS) == 0) { /* as a category its cells would all be missing */
            static const char *const one[] = {"1"};
            static const tmi_column category = {.name = "income", .kind = TMI_CATEGORY, .values = one, .value_count = 1};
            assert_int_equal(tmi_engine_of_source(&engine, source, 1, NULL), TAMIS_OK);
            expect(cases[i].format, engine, &category, "without one form for equal values");
        }
        tamis_source_free(source);
    }
    static const char *const texts[] = {"12"};
    tamis_source *source;
    tmi_engine *engine;
    assert_int_equal(tamis_source_new(&source, 1, NULL), TAMIS_OK);
    assert_int_equal(tamis_source_texts(source, "income", texts, NULL), TAMIS_OK);
    assert_int_equal(tmi_engine_of_source(&engine, source, 1, NULL), TAMIS_OK);
    expect("texts", engine, &income, TEXTS);
    tamis_source_free(source);
}

/* ---- SPSS, Stata, SAS ---- */

static const char *write_one(const char *name, readstat_type_t type, const char *format)
{
    const char *path = in_folder(name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    readstat_writer_t *writer = new_writer(name);
    readstat_variable_t *variable = readstat_add_variable(writer, "income", type, type == READSTAT_TYPE_STRING ? 8 : 0);
    if (format) readstat_variable_set_format(variable, format);
    readstat_label_set_t *labels = has_ending(name, ".dta") ? readstat_add_label_set(writer, READSTAT_TYPE_INT32, "set") : NULL;
    if (labels) readstat_label_int32_value(labels, 1, "one");
    if (labels && type == READSTAT_TYPE_INT32) readstat_variable_set_label_set(variable, labels);
    begin_writing(writer, name, file, 1);
    expect_written(readstat_begin_row(writer));
    expect_written(type == READSTAT_TYPE_STRING  ? readstat_insert_string_value(writer, variable, "12")
                   : type == READSTAT_TYPE_INT32 ? readstat_insert_int32_value(writer, variable, 12)
                                                 : readstat_insert_double_value(writer, variable, 12));
    expect_written(readstat_end_row(writer));
    expect_written(readstat_end_writing(writer));
    readstat_writer_free(writer);
    assert_int_equal(fclose(file), 0);
    return path;
}

static tmi_engine *open_statistics(const char *const *files, size_t count)
{
    tmi_engine *engine;
    assert_int_equal(tmi_engine_readstat(&engine, &(tmi_source){.files = files, .file_count = count}, 1, NULL), TAMIS_OK);
    return engine;
}

static void statistics_files(void **state)
{
    (void)state;
    static const struct {
        const char *name, *format, *words;
        readstat_type_t type;
    } cases[] = {
        {"t.sav", NULL, TEXTS, READSTAT_TYPE_STRING},
        {"t.zsav", NULL, TEXTS, READSTAT_TYPE_STRING},
        {"t.dta", NULL, TEXTS, READSTAT_TYPE_STRING},
        {"t.sas7bdat", NULL, TEXTS, READSTAT_TYPE_STRING},
        {"t.xpt", NULL, TEXTS, READSTAT_TYPE_STRING},
        {"d.sav", "DATE11", DATES, READSTAT_TYPE_DOUBLE},
        {"d.zsav", "DATETIME20", DATES, READSTAT_TYPE_DOUBLE},
        {"d.dta", "%td", DATES, READSTAT_TYPE_INT32},
        {"d.sas7bdat", "MMDDYY10", DATES, READSTAT_TYPE_DOUBLE},
        {"d.xpt", "DATE9", DATES, READSTAT_TYPE_DOUBLE},
        {"n.sav", "F8.2", NULL, READSTAT_TYPE_DOUBLE},
        {"n.zsav", "DOLLAR10.2", NULL, READSTAT_TYPE_DOUBLE},
        {"n.dta", "%ty", NULL, READSTAT_TYPE_INT32},
        {"n.sas7bdat", "BEST12", NULL, READSTAT_TYPE_DOUBLE},
        {"n.xpt", NULL, NULL, READSTAT_TYPE_DOUBLE},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *path = write_one(cases[i].name, cases[i].type, cases[i].format);
        expect(cases[i].name, open_statistics(&path, 1), &income, cases[i].words);
    }
    const char *const parts[] = {write_one("a.sav", READSTAT_TYPE_DOUBLE, NULL), write_one("b.dta", READSTAT_TYPE_STRING, NULL)};
    expect("parts", open_statistics(parts, 2), &income, "b.dta: column income: the plan uses it as a number");
    static const tmi_column date = {.name = "income", .kind = TMI_LABEL}; /* as a label it is the number that the file holds */
    const char *path = write_one("d.sav", READSTAT_TYPE_DOUBLE, "DATE11");
    expect("a date as a label", open_statistics(&path, 1), &date, NULL);
}

static void formats(void **state)
{
    (void)state;
    static const struct {
        tmi_format_of program;
        const char *format;
        bool is_date;
    } cases[] = {
        {TMI_SPSS_FORMAT, "ADATE10", true},
        {TMI_SPSS_FORMAT, "EDATE8", true},
        {TMI_SPSS_FORMAT, "SDATE10", true},
        {TMI_SPSS_FORMAT, "JDATE7", true},
        {TMI_SPSS_FORMAT, "MOYR8", true},
        {TMI_SPSS_FORMAT, "QYR6", true},
        {TMI_SPSS_FORMAT, "WKYR10", true},
        {TMI_SPSS_FORMAT, "TIME11.2", true},
        {TMI_SPSS_FORMAT, "DTIME13", true},
        {TMI_SPSS_FORMAT, "YMDHMS20", true},
        {TMI_SPSS_FORMAT, "MONTH9", false},
        {TMI_SPSS_FORMAT, "WKDAY9", false},
        {TMI_SPSS_FORMAT, "F8.2", false},
        {TMI_SPSS_FORMAT, "E8", false},
        {TMI_SPSS_FORMAT, "", false},
        {TMI_SPSS_FORMAT, NULL, false},
        {TMI_SPSS_FORMAT, "DOT8", false},
        {TMI_STATA_FORMAT, "%td", true},
        {TMI_STATA_FORMAT, "%tdDD/NN/CCYY", true},
        {TMI_STATA_FORMAT, "%tc", true},
        {TMI_STATA_FORMAT, "%-tC", true},
        {TMI_STATA_FORMAT, "%d", true},
        {TMI_STATA_FORMAT, "%dD_m_Y", true},
        {TMI_STATA_FORMAT, "%tm", true},
        {TMI_STATA_FORMAT, "%tq", true},
        {TMI_STATA_FORMAT, "%tw", true},
        {TMI_STATA_FORMAT, "%ty", false},
        {TMI_STATA_FORMAT, "%tg", false},
        {TMI_STATA_FORMAT, "%9.0g", false},
        {TMI_STATA_FORMAT, "%-9.2f", false},
        {TMI_STATA_FORMAT, "%21x", false},
        {TMI_STATA_FORMAT, "", false},
        {TMI_SAS_FORMAT, "DATE9", true},
        {TMI_SAS_FORMAT, "date9.", true},
        {TMI_SAS_FORMAT, "DATETIME22.3", true},
        {TMI_SAS_FORMAT, "YYMMDDN8", true},
        {TMI_SAS_FORMAT, "E8601DA10", true},
        {TMI_SAS_FORMAT, "IS8601DT", true},
        {TMI_SAS_FORMAT, "NLDATE20", true},
        {TMI_SAS_FORMAT, "YEAR4", true},
        {TMI_SAS_FORMAT, "MONYY7", true},
        {TMI_SAS_FORMAT, "HHMM5", true},
        {TMI_SAS_FORMAT, "BEST12", false},
        {TMI_SAS_FORMAT, "COMMA10.2", false},
        {TMI_SAS_FORMAT, "E12", false},
        {TMI_SAS_FORMAT, "DATEFMT", false},
        {TMI_SAS_FORMAT, NULL, false},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        if (tmi_is_date_format(cases[i].program, cases[i].format) != cases[i].is_date)
            fail_msg("case %zu: %s", i, cases[i].format);
}

/* Value labels of a Stata file come after its rows. Before the charge nothing reads them: what they hold, and that they are
 * broken, is not seen. */
static void labels_are_not_read(void **state)
{
    (void)state;
    const char *path = write_one("labels.dta", READSTAT_TYPE_INT32, NULL);
    static char bytes[1 << 16];
    FILE *file = fopen(path, "rb");
    const size_t length = fread(bytes, 1, sizeof bytes, file);
    assert_int_equal(fclose(file), 0);
    char *labels = memmem(bytes, length, "<lbl>", 5);
    assert_non_null(labels);
    memset(labels + 5, 0xff, 4); /* the length of the set */
    const tmi_column *const columns[] = {&income};
    static const char *const values[] = {"one"};
    static const tmi_column category = {.name = "income", .kind = TMI_CATEGORY, .values = values, .value_count = 1};
    const tmi_measure rows = ROWS_WITH(&category);
    const tmi_table of_category = {NULL, 0, &rows, 1};
    const tmi_request asked = {.tables = &of_category, .table_count = 1};
    tmi_int128 got, *const places[] = {&got};
    path = write_bytes("broken.dta", bytes, length);
    tmi_engine *engine = open_statistics(&path, 1);
    tmi_inventory all = {.columns = columns, .column_count = 1};
    tamis_error err = {0};
    if (engine->describe(engine, &all, NULL, &err) != TAMIS_OK) fail_msg("%s", err.message);
    assert_int_equal(all.rows, 1);
    assert_int_equal(engine->aggregate(engine, places, &asked, NULL, NULL), TAMIS_SYSTEM); /* the test would see a reader */
    engine->free(engine);
}

/* ---- categories ---- */

#define NONE ", and none of the values"

static void categories(void **state)
{
    (void)state;
    static const char *const letters[] = {"E", " M "}, *const mixed[] = {"E", "12"}, *const booleans[] = {"true", "perhaps"},
                             *const yes[] = {"yes", "no"}, *const dates[] = {"2000-01-31"};
    static const struct {
        const char *type, *in_postgres, *words;
        const char *const *values;
        size_t count;
    } cases[] = {
        {"INTEGER", "int4", "numbers" NONE, letters, 2}, {"DOUBLE", "float8", "numbers" NONE, yes, 2},
        {"BOOLEAN", "boolean", "booleans" NONE, yes, 2}, {"DATE", "date", "dates" NONE, letters, 2},
        {"UUID", "uuid", "UUIDs" NONE, letters, 2},      {"INTEGER", "int4", NULL, mixed, 2},
        {"BOOLEAN", "boolean", NULL, booleans, 2},       {"DATE", "date", NULL, dates, 1},
        {"VARCHAR", "text", NULL, letters, 2},           {"VARCHAR", "text", NULL, mixed, 2},
    };
    const char *const text = server_text(), *path = in_folder("region.duckdb");
    char sql[2][512] = {"(", "("}, create[1200];
    tmi_column all[COUNT(cases)];
    const tmi_column *right[COUNT(cases)];
    char names[COUNT(cases)][16];
    size_t right_count = 0;
    for (size_t i = 0; i < COUNT(cases); i++) {
        snprintf(names[i], sizeof names[i], "region%zu", i);
        all[i] = (tmi_column){.name = names[i], .kind = TMI_CATEGORY, .values = cases[i].values, .value_count = cases[i].count};
        if (!cases[i].words) right[right_count++] = &all[i];
        for (int in_postgres = 0; in_postgres < 2; in_postgres++)
            snprintf(sql[in_postgres] + strlen(sql[in_postgres]), 512 - strlen(sql[in_postgres]), "%s%s %s", i > 0 ? ", " : "",
                     names[i], in_postgres ? cases[i].in_postgres : cases[i].type);
    }
    snprintf(create, sizeof create, "ATTACH '%s' AS a; CREATE TABLE a.t %s); DETACH a", path, sql[0]);
    run_sql(create);
    snprintf(create, sizeof create, "CREATE TABLE regions %s)", sql[1]);
    server_run(create);
    for (int in_postgres = 0; in_postgres < 2; in_postgres++) {
        tmi_engine *engine = in_postgres ? open_server(&text, 1, "regions", false, 1) : open_engine(&path, 1, 1);
        tmi_inventory inventory = {.columns = right, .column_count = right_count};
        tamis_error err = {0};
        if (engine->describe(engine, &inventory, NULL, &err) != TAMIS_OK) fail_msg("%s", err.message);
        engine->free(engine);
        for (size_t i = 0; i < COUNT(cases); i++)
            if (cases[i].words)
                expect(cases[i].type, in_postgres ? open_server(&text, 1, "regions", false, 1) : open_engine(&path, 1, 1),
                       &all[i], cases[i].words);
    }
    static const int64_t numbers[] = {1};
    const tmi_column category = {.name = "region", .kind = TMI_CATEGORY, .values = letters, .value_count = 2};
    tamis_source *source;
    tmi_engine *engine;
    assert_int_equal(tamis_source_new(&source, 1, NULL), TAMIS_OK);
    assert_int_equal(tamis_source_integers(source, "region", numbers, NULL), TAMIS_OK);
    assert_int_equal(tmi_engine_of_source(&engine, source, 1, NULL), TAMIS_OK);
    expect("integers", engine, &category, "column region: by its type it contains numbers");
    tamis_source_free(source);
    /* A code of SPSS may have the label E: that is not looked up. */
    const tmi_column labelled = {.name = "income", .kind = TMI_CATEGORY, .values = letters, .value_count = 2};
    path = write_one("n.sav", READSTAT_TYPE_DOUBLE, NULL);
    expect("codes", open_statistics(&path, 1), &labelled, NULL);
}

/* ---- columns that are not there ---- */

static void nearest_columns(void **state)
{
    (void)state;
    static const tmi_column wrong = {.name = "incmoe", .grid = {0, 100, 1, 0, 100}},
                            capitals = {.name = "INCOME", .kind = TMI_LABEL}, brief = {.name = "ID", .kind = TMI_LABEL},
                            far = {.name = "salary", .kind = TMI_LABEL};
    static const char words[] = "there is no column incmoe; did you mean income?";
    static const double numbers[] = {1};
    const char *const text = server_text(), *csv = write_text("near.csv", "id,income\n1,2\n"),
                      *const parquet = write_parquet("near.parquet", "SELECT 1 AS id, 12 AS income");
    server_run("CREATE TABLE near (dropped int, id int, income int); ALTER TABLE near DROP COLUMN dropped");
    tmi_engine *engine;
    assert_int_equal(tmi_engine_memory(&engine, &(tmi_source){.files = &csv, .file_count = 1}, 1, NULL), TAMIS_OK);
    expect("memory", engine, &wrong, words);
    expect("CSV", open_engine(&csv, 1, 1), &wrong, words);
    expect("Parquet", open_engine(&parquet, 1, 1), &wrong, words);
    expect("PostgreSQL", open_server(&text, 1, "near", false, 1), &wrong, words);
    expect("capitals", open_server(&text, 1, "near", false, 1), &capitals, "no column INCOME; did you mean income?");
    expect("capitals of a short name", open_engine(&csv, 1, 1), &brief, "no column ID; did you mean id?");
    static const char *const files[] = {"s.sav", "s.zsav", "s.dta", "s.sas7bdat", "s.xpt"};
    for (size_t i = 0; i < COUNT(files); i++) {
        const char *path = write_one(files[i], READSTAT_TYPE_DOUBLE, NULL);
        expect(files[i], open_statistics(&path, 1), &wrong, words);
    }
    tamis_source *source;
    assert_int_equal(tamis_source_new(&source, 1, NULL), TAMIS_OK);
    assert_int_equal(tamis_source_numbers(source, "income", numbers, NULL), TAMIS_OK);
    assert_int_equal(tmi_engine_of_source(&engine, source, 1, NULL), TAMIS_OK);
    expect("arrays", engine, &wrong, words);
    assert_int_equal(tmi_engine_of_source(&engine, source, 1, NULL), TAMIS_OK);
    const tmi_column *const columns[] = {&far};
    tmi_inventory all = {.columns = columns, .column_count = 1};
    tamis_error err = {0};
    assert_int_equal(engine->describe(engine, &all, NULL, &err), TAMIS_INVALID);
    assert_string_equal(err.message, "there is no column salary");
    engine->free(engine);
    tamis_source_free(source);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(duckdb_and_parquet),
        cmocka_unit_test(each_part),
        cmocka_unit_test(postgres),
        cmocka_unit_test(arrays),
        cmocka_unit_test(statistics_files),
        cmocka_unit_test(formats),
        cmocka_unit_test(labels_are_not_read),
        cmocka_unit_test(categories),
        cmocka_unit_test(nearest_columns),
    };
    return cmocka_run_group_tests(all, make_folder, remove_folder);
}
