/* DuckDB files and the folder for what does not fit into memory. */
#include "tests/test.h"

#include <sys/stat.h>

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

/* Counts what is in the folder for temporary files while the engine works, and after it. */
typedef struct look {
    char place[512];
    int most;
    bool is_private;
} look;

static int entries(const char *path)
{
    int count = 0;
    DIR *dir = opendir(path);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));) count += entry->d_name[0] != '.';
    closedir(dir);
    return count;
}

static int look_there(void *context, double share, int64_t rows)
{
    look *l = context;
    (void)share;
    (void)rows;
    const int now = entries(l->place);
    if (now > l->most) l->most = now;
    DIR *dir = opendir(l->place);
    for (struct dirent *entry; (entry = readdir(dir));) {
        char path[1024];
        struct stat facts;
        snprintf(path, sizeof path, "%s/%s", l->place, entry->d_name);
        if (entry->d_name[0] != '.' && stat(path, &facts) == 0) l->is_private = (facts.st_mode & 0777) == 0700;
    }
    closedir(dir);
    return 0;
}

static void temporary_folder(void **state)
{
    (void)state;
    look l = {0};
    char sql[1024];
    const char *path = in_folder("units.parquet");
    snprintf(l.place, sizeof l.place, "%s/temporary", folder);
    assert_int_equal(mkdir(l.place, 0700), 0);
    assert_int_equal(setenv("TMPDIR", l.place, 1), 0);
    snprintf(sql, sizeof sql,
             "COPY (SELECT i %% 90 AS a, 'unit ' || (hash(i) %% 100000)::VARCHAR AS u FROM range(500000) t(i)) TO '%s' "
             "(FORMAT parquet)",
             path);
    run_sql(sql);
    tmi_engine *engine = open_engine(&path, 1, 2);
    static const unsigned char key[TMI_KEY_BYTES] = {1};
    const tmi_request bounded = {.tables = &table, .table_count = 1, .unit = &unit, .rows_per_unit = 1, .key = key};
    tmi_int128 answer = 0, *const places[] = {&answer};
    assert_int_equal(engine->aggregate(engine, places, &bounded, &(tamis_watch){look_there, &l}, NULL), TAMIS_OK);
    assert_true(answer > 0);
    assert_true(l.most <= 1);
    if (l.most == 1) assert_true(l.is_private);
    assert_int_equal(entries(l.place), 0);
    assert_int_equal(rmdir(l.place), 0);
    tamis_error err = {0};
    assert_int_equal(engine->aggregate(engine, places, &bounded, NULL, &err), TAMIS_SYSTEM); /* no place */
    assert_non_null(strstr(err.message, "TMPDIR"));
    assert_int_equal(engine->aggregate(engine, places, &request, NULL, &err), TAMIS_OK); /* needs none */
    unsetenv("TMPDIR");
    engine->free(engine);
}

int main(void)
{
    const struct CMUnitTest all[] = {cmocka_unit_test(tables), cmocka_unit_test(temporary_folder)};
    return cmocka_run_group_tests(all, make_folder, remove_folder);
}
