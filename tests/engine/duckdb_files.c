/* DuckDB files, memory, and what DuckDB says when it fails. */
#include "tests/test.h"

#include "engine/duckdb/session.h"
#include "tests/engine/duckdb_sql.h"
#include "tests/engine/folder.h"

static const tmi_column a = {.name = "a", .grid = {0, 100, 1, 0, 100}}, unit = {.name = "u", .kind = TMI_LABEL};
static const tmi_column *const columns[] = {&a};
static const tmi_measure sum[] = {SUM_OF(&a)};
static const tmi_table table = {NULL, 0, sum, 1};
static const tmi_request request = {.tables = &table, .table_count = 1};

static tamis_status ask(int64_t *rows, const char *path, const char *name, tamis_error *err)
{
    const tmi_source source = {.files = &path, .file_count = 1, .table = name};
    tmi_int128 answer = 1, *const places[] = {&answer};
    tmi_engine *engine;
    assert_int_equal(tmi_engine_duckdb(&engine, &source, 1, NULL), TAMIS_OK);
    tamis_status status = count_rows(engine, rows, columns, 1, NULL, err);
    if (status != TAMIS_OK) {
        assert_int_equal(engine->aggregate(engine, places, &request, NULL, NULL), TAMIS_SYSTEM);
        assert_true(answer == 0);
    } else {
        assert_int_equal(engine->aggregate(engine, places, &request, NULL, NULL), TAMIS_OK);
        *rows = (int64_t)answer;
    }
    engine->free(engine);
    return status;
}

static void tables(void **state)
{
    (void)state;
    const char *path = in_folder("several.duckdb"), *one = in_folder("one.db"), *none = in_folder("none.duckdb");
    char sql[4096];
    snprintf(
        sql, sizeof sql,
        "ATTACH '%s' AS f; CREATE TABLE f.t AS SELECT 1 AS a; CREATE SCHEMA f.s; CREATE TABLE f.s.t AS SELECT 2 AS a; "
        "CREATE TABLE f.\"'; DROP TABLE t; --\" AS SELECT 3 AS a; CREATE TABLE f.s.\"x\"\".t\" AS SELECT 4 AS a; "
        "CREATE TABLE f.wrong AS SELECT 5 AS b; CREATE TABLE f.\"s.u\" AS SELECT 6 AS a; CREATE TABLE f.s.u AS SELECT 7 AS a; "
        "DETACH f; ATTACH '%s' AS f; CREATE TABLE f.only AS SELECT 8 AS a; DETACH f; ATTACH '%s' AS f; DETACH f",
        path, one, none);
    run_sql(sql);
    static const struct {
        const char *name;
        int answer; /* 0: refused */
        const char *says;
    } cases[] = {
        {"t", 1, NULL},
        {"main.t", 1, NULL},
        {"s.t", 2, NULL},
        {"'; DROP TABLE t; --", 3, NULL},
        {"s.x\".t", 4, NULL},
        {"t", 1, NULL},
        {"absent", 0, "there is no table absent"},
        {"wrong", 0, "there is no column a"},
        {"s.u", 0, "more than one table s.u"},
        {"t\" UNION SELECT 9 --", 0, "there is no table"},
        {NULL, 0, "it has several tables"},
        {"", 0, "there is no table"},
    };
    int64_t answer;
    tamis_error err = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis_status status = ask(&answer, path, cases[i].name, &err);
        if (status != (cases[i].answer ? TAMIS_OK : TAMIS_INVALID)) fail_msg("case %zu: %s", i, err.message);
        assert_int_equal(answer, cases[i].answer);
        if (cases[i].says && !strstr(err.message, cases[i].says)) fail_msg("case %zu: %s", i, err.message);
    }
    assert_int_equal(ask(&answer, one, NULL, &err), TAMIS_OK);
    assert_int_equal(answer, 8);
    assert_int_equal(ask(&answer, none, NULL, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "it has no table"));
    assert_int_equal(ask(&answer, write_text("text.duckdb", "a\n1\nsecret\n"), NULL, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "text.duckdb: not a DuckDB file"));
    assert_null(strstr(err.message, "secret"));
}

/* A unit's rows are bounded without a folder for temporary files, and in little memory: nothing is ever written. */
static void nothing_is_written(void **state)
{
    (void)state;
    char sql[1024], place[512];
    const char *path = in_folder("units.parquet");
    snprintf(sql, sizeof sql,
             "COPY (SELECT i %% 90 AS a, 'unit ' || (hash(i) %% 100000)::VARCHAR AS u FROM range(500000) t(i)) TO '%s' "
             "(FORMAT parquet)",
             path);
    run_sql(sql);
    snprintf(place, sizeof place, "%s/nowhere", folder);
    assert_int_equal(setenv("TMPDIR", place, 1), 0);
    static const unsigned char key[TMI_KEY_BYTES] = {1};
    const tmi_request bounded = {.tables = &table, .table_count = 1, .unit = &unit, .rows_per_unit = 1, .key = key};
    tmi_int128 answers[2] = {0};
    for (int little = 0; little < 2; little++) {
        tmi_int128 *const places[] = {&answers[little]};
        tmi_engine *engine = open_engine(&path, 1, 2);
        if (little) engine->memory = UINT64_C(360) << 20;
        tmi_inventory all = {.unit = &unit};
        assert_int_equal(engine->describe(engine, &all, NULL, NULL), TAMIS_OK);
        assert_true(all.rows == 500000 && all.units > 99000 && all.units <= 100000);
        assert_int_equal(engine->check(engine, &bounded, NULL, NULL), TAMIS_OK);
        assert_int_equal(engine->aggregate(engine, places, &bounded, NULL, NULL), TAMIS_OK);
        engine->free(engine);
    }
    assert_true(answers[0] > 0 && answers[0] == answers[1]);
    unsetenv("TMPDIR");
}

/* What does not fit is refused before the charge, in words that say what to do. */
static void too_little_memory(void **state)
{
    (void)state;
    tamis_error err = {0};
    const char *path = write_text("few.csv", "a,u\n1,x\n2,y\n");
    tmi_engine *engine = open_engine(&path, 1, 1);
    engine->memory = UINT64_C(100) << 20;
    tmi_inventory all = {.unit = &unit};
    assert_int_equal(engine->describe(engine, &all, NULL, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "memory: DuckDB needs at least 256 MB"));
    assert_int_equal(engine->check(engine, &request, NULL, &err), TAMIS_INVALID);
    engine->free(engine);
}

/* The query is planned over the files, but everything else is tried on rows that are made up: no row of a file is read. */
static void trying_reads_nothing(void **state)
{
    (void)state;
    tmi_int128 answer = 0, *const places[] = {&answer};
    const char *path = write_text("few.csv", "a,u\n1,x\n2,y\n");
    static const unsigned char key[TMI_KEY_BYTES] = {1};
    const tmi_request bounded = {.tables = &table, .table_count = 1, .unit = &unit, .rows_per_unit = 1, .key = key};
    tmi_engine *engine = open_engine(&path, 1, 1);
    assert_int_equal(engine->check(engine, &bounded, NULL, NULL), TAMIS_OK);
    assert_int_equal(engine->aggregate(engine, places, &bounded, NULL, NULL), TAMIS_OK);
    const tmi_int128 before = answer;
    assert_int_equal(engine->check(engine, &bounded, NULL, NULL), TAMIS_OK); /* leaves nothing behind */
    assert_int_equal(engine->aggregate(engine, places, &bounded, NULL, NULL), TAMIS_OK);
    assert_true(answer == before);
    engine->free(engine);
}

/* DuckDB's own messages, which quote data, and what is made of them. */
static void errors_in_words(void **state)
{
    (void)state;
    static const struct {
        const char *message, *words;
        tmi_duckdb_trouble trouble;
    } cases[] = {
        {"Out of Memory Error: failed to pin block of size 256.0 KiB (canary 4711)", "out of memory", TMI_DUCKDB_MEMORY},
        {"Invalid Input Error: out of memory", "out of memory", TMI_DUCKDB_MEMORY},
        {"IO Error: Could not read from file \"/data/canary 4711.csv\": Input/output error", "disk", TMI_DUCKDB_DISK},
        {"Invalid Input Error: CSV Error on Line: 17\nOriginal Line: canary,4711\nExpected Number of Columns: 2", "damaged",
         TMI_DUCKDB_FIELDS},
        {"Invalid Input Error: Snappy decompression failure canary 4711", "damaged", TMI_DUCKDB_FORMAT},
        {"Conversion Error: Could not convert string 'canary 4711' to INT32", "damaged", TMI_DUCKDB_FORMAT},
        {"Invalid Input Error: source changed", "changed", TMI_DUCKDB_CHANGED},
        {"INTERNAL Error: canary 4711: Out of Memory Error", "could not read", TMI_DUCKDB_OTHER},
        {NULL, "could not read", TMI_DUCKDB_OTHER},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tmi_duckdb_session session = {.memory = UINT64_C(300) << 20};
        tamis_error err = {0};
        assert_int_equal(tmi_duckdb_note_trouble(&session, cases[i].message, &err), TAMIS_SYSTEM);
        if (session.trouble != cases[i].trouble) fail_msg("case %zu: %d", i, (int)session.trouble);
        if (!strstr(err.message, cases[i].words)) fail_msg("case %zu: %s", i, err.message);
        assert_null(strstr(err.message, "canary"));
        assert_null(strstr(err.message, "4711"));
    }
}

int main(void)
{
    const struct CMUnitTest all[] = {cmocka_unit_test(tables), cmocka_unit_test(nothing_is_written),
                                     cmocka_unit_test(too_little_memory), cmocka_unit_test(trying_reads_nothing),
                                     cmocka_unit_test(errors_in_words)};
    return cmocka_run_group_tests(all, make_folder, remove_folder);
}
