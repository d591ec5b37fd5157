/* The roads of conformance.c: the same rows as files of each kind, tables and arrays, and the engine that reads them. */
#ifndef TESTS_ENGINE_ROADS_H
#define TESTS_ENGINE_ROADS_H

#include "tests/engine/arrow_rows.h"
#include "tests/engine/duckdb_sql.h"
#include "tests/engine/folder.h"
#include "tests/engine/server_rows.h"
#include "tests/engine/sql_roads.h"
#include "tests/engine/statistics_files.h"

static void write_cell(FILE *file, const char *text, char end)
{
    const bool quoted = strpbrk(text, ",\"\n");
    if (quoted) putc('"', file);
    for (; *text; text++) {
        if (*text == '"') putc('"', file);
        putc(*text, file);
    }
    if (quoted) putc('"', file);
    putc(end, file);
}

static const char *write_csv(const char *name, const row *list, size_t n)
{
    const char *path = in_folder(name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    for (size_t c = 0; c < COLUMNS; c++) write_cell(file, column_names[c], ',');
    fputs(" X \n", file); /* X and x are two columns */
    for (size_t i = 0; i < n; i++) {
        for (size_t c = 0; c < COLUMNS; c++) write_cell(file, list[i].text[c], ',');
        fputs("12\n", file);
    }
    assert_int_equal(fclose(file), 0);
    return path;
}

/* The table of a CSV file in SQL, with x, y and p as doubles. */
static void select_csv(char *sql, size_t size, const char *csv)
{
    snprintf(sql, size,
             "SELECT id, TRY_CAST(x AS DOUBLE) AS x, TRY_CAST(y AS DOUBLE) AS y, TRY_CAST(p AS DOUBLE) AS p, g, h, s, "
             "\"c \"\"1\"\"\" FROM read_csv('%s', auto_detect=false, header=true, delim=',', quote='\"', escape='\"', columns={"
             "'id': 'VARCHAR', 'x': 'VARCHAR', 'y': 'VARCHAR', 'p': "
             "'VARCHAR', 'g': 'VARCHAR', 'h': 'VARCHAR', 's': 'VARCHAR', 'c \"1\"': 'VARCHAR', 'other': 'VARCHAR'})",
             csv);
}

/* A small row group, so that there are several. */
static const char *write_parquet(const char *name, const row *list, size_t n)
{
    const char *path = in_folder(name);
    char select[1024], sql[2048];
    select_csv(select, sizeof select, write_csv("parquet.csv.tmp", list, n));
    snprintf(sql, sizeof sql, "COPY (%s) TO '%s' (FORMAT parquet, ROW_GROUP_SIZE 4096)", select, path);
    run_sql(sql);
    return path;
}

static const char *write_duckdb(const char *name, const row *list, size_t n)
{
    const char *path = in_folder(name);
    char select[1024], sql[2048];
    remove(path);
    select_csv(select, sizeof select, write_csv("duckdb.csv.tmp", list, n));
    snprintf(sql, sizeof sql,
             "ATTACH '%s' AS a; CREATE TABLE a.\"it's; a \"\"table\"\"\" AS %s; CREATE TABLE a.other AS SELECT 1 AS x; "
             "DETACH a",
             path, select);
    run_sql(sql);
    return path;
}

typedef tmi_engine *open_road(const row *list, size_t n, unsigned threads);

static tmi_engine *open_files(tamis_status (*engine_of)(tmi_engine **, const tmi_source *, unsigned, tamis_error *),
                              const char *const *files, size_t count, unsigned threads)
{
    const tmi_source source = {.files = files, .file_count = count, .table = "it's; a \"table\""};
    tamis_error err = {0};
    tmi_engine *engine;
    if (engine_of(&engine, &source, threads, &err) != TAMIS_OK) fail_msg("%s", err.message);
    return engine;
}

static tmi_engine *csv_by_duckdb(const row *list, size_t n, unsigned threads)
{
    const char *file = write_csv("all.csv", list, n);
    return open_files(tmi_engine_duckdb, &file, 1, threads);
}

static tmi_engine *parquet_by_duckdb(const row *list, size_t n, unsigned threads)
{
    const char *file = write_parquet("all.parquet", list, n);
    return open_files(tmi_engine_duckdb, &file, 1, threads);
}

static tmi_engine *duckdb_by_duckdb(const row *list, size_t n, unsigned threads)
{
    const char *file = write_duckdb("all.duckdb", list, n);
    return open_files(tmi_engine_duckdb, &file, 1, threads);
}

static tmi_engine *parts_by_duckdb(const row *list, size_t n, unsigned threads)
{
    const size_t a = n / 3, b = n / 2;
    write_csv("a1xx.csv", list, a); /* would match if the name were a pattern */
    const char *second = in_folder("it's \"b\"; -- .PARQUET");
    const char *const files[] = {write_csv("a[1]*?.csv", list, a), second, write_duckdb("c.db", list + b, n - b)};
    assert_int_equal(rename(write_parquet("b.parquet", list + a, b - a), second), 0);
    return open_files(tmi_engine_duckdb, files, 3, threads);
}

static tmi_engine *csv_by_memory(const row *list, size_t n, unsigned threads)
{
    const char *file = write_csv("all.csv", list, n);
    return open_files(tmi_engine_memory, &file, 1, threads);
}

static tmi_engine *parts_by_memory(const row *list, size_t n, unsigned threads)
{
    const size_t a = n / 3, b = n / 2;
    const char *const files[] = {write_csv("a.csv", list, a), write_csv("b.csv", list + a, b - a),
                                 write_csv("c.csv", list + b, n - b)};
    return open_files(tmi_engine_memory, files, 3, threads);
}

static tmi_engine *open_source(const tamis_source *source, unsigned threads)
{
    tamis_error err = {0};
    tmi_engine *engine;
    if (tmi_engine_of_source(&engine, source, threads, &err) != TAMIS_OK) fail_msg("%s", err.message);
    return engine;
}

static tmi_engine *arrays_by_memory(const row *list, size_t n, unsigned threads)
{
    return open_source(rows_as_arrays(list, n), threads);
}

static tmi_engine *arrow_by_memory(const row *list, size_t n, unsigned threads)
{
    return open_source(rows_as_arrow(list, n, false), threads);
}

static tmi_engine *stream_by_memory(const row *list, size_t n, unsigned threads)
{
    return open_source(rows_as_arrow(list, n, true), threads);
}

#define ODD_TABLE "it's; a \"table\""

static tmi_engine *table_by_postgres(const row *list, size_t n, unsigned threads)
{
    const char *const text = server_text();
    write_table("plain", "\"it's; a \"\"table\"\"\"", false, list, n, 0, 1);
    return open_server(&text, 1, "plain." ODD_TABLE, false, threads);
}

static tmi_engine *other_types_by_postgres(const row *list, size_t n, unsigned threads)
{
    const char *const text = server_text();
    write_table("others", "a", true, list, n, 0, 1);
    return open_server(&text, 1, "others.a", false, threads);
}

/* The table's name in both parts is the same, but the schemas that are looked into are not. */
static tmi_engine *parts_by_postgres(const row *list, size_t n, unsigned threads)
{
    char texts[2][512];
    const char *const connections[] = {texts[0], texts[1]};
    for (size_t part = 0; part < 2; part++) {
        write_table(part == 0 ? "one" : "two", "a", part == 1, list, n, part, 2);
        snprintf(texts[part], sizeof texts[part], "%s options=-csearch_path=%s", server_text(), part == 0 ? "one" : "two");
    }
    return open_server(connections, 2, "a", true, threads);
}

static tmi_engine *duckdb_by_sql(const row *list, size_t n, unsigned threads)
{
    char select[1024], sql[2048];
    (void)threads;
    select_csv(select, sizeof select, write_csv("sql.csv.tmp", list, n));
    snprintf(sql, sizeof sql, "CREATE TABLE \"it's; a \"\"table\"\"\" AS %s", select);
    return open_sql_duckdb(sql, "\"it's; a \"\"table\"\"\"");
}

static tmi_engine *postgres_by_sql(const row *list, size_t n, unsigned threads)
{
    write_table("others", "b", threads > 1, list, n, 0, 1);
    return open_sql_postgres("others.b");
}

static tmi_engine *open_statistics_file(const char *name, const row *list, size_t n, unsigned threads)
{
    const char *const file = write_statistics_file(name, list, n);
    return open_files(tmi_engine_readstat, &file, 1, threads);
}

static tmi_engine *sav_by_readstat(const row *list, size_t n, unsigned threads)
{
    return open_statistics_file("all.sav", list, n, threads);
}

static tmi_engine *zsav_by_readstat(const row *list, size_t n, unsigned threads)
{
    return open_statistics_file("all.zsav", list, n, threads);
}

static tmi_engine *dta_by_readstat(const row *list, size_t n, unsigned threads)
{
    return open_statistics_file("all.dta", list, n, threads);
}

static tmi_engine *sas_by_readstat(const row *list, size_t n, unsigned threads)
{
    return open_statistics_file("all.sas7bdat", list, n, threads);
}

static tmi_engine *xpt_by_readstat(const row *list, size_t n, unsigned threads)
{
    return open_statistics_file("all.xpt", list, n, threads);
}

static tmi_engine *parts_by_readstat(const row *list, size_t n, unsigned threads)
{
    const size_t a = n / 3, b = n / 2;
    const char *const files[] = {write_statistics_file("a.sav", list, a), write_statistics_file("b.dta", list + a, b - a),
                                 write_statistics_file("c.XPT.xpt", list + b, n - b)};
    return open_files(tmi_engine_readstat, files, 3, threads);
}

static const struct {
    const char *name;
    open_road *open;
    bool is_parted; /* over databases: has no clusters */
} roads[] = {
    {"duckdb: csv", csv_by_duckdb, false},
    {"duckdb: parquet", parquet_by_duckdb, false},
    {"duckdb: duckdb", duckdb_by_duckdb, false},
    {"duckdb: parts", parts_by_duckdb, false},
    {"memory: csv", csv_by_memory, false},
    {"memory: parts", parts_by_memory, false},
    {"memory: arrays", arrays_by_memory, false},
    {"memory: arrow", arrow_by_memory, false},
    {"memory: arrow stream", stream_by_memory, false},
    {"postgres: table", table_by_postgres, false},
    {"postgres: other types", other_types_by_postgres, false},
    {"postgres: parts", parts_by_postgres, true},
    {"sql: duckdb", duckdb_by_sql, false},
    {"sql: postgres", postgres_by_sql, false},
    {"readstat: sav", sav_by_readstat, false},
    {"readstat: zsav", zsav_by_readstat, false},
    {"readstat: dta", dta_by_readstat, false},
    {"readstat: sas7bdat", sas_by_readstat, false},
    {"readstat: xpt", xpt_by_readstat, false},
    {"readstat: parts", parts_by_readstat, false},
};

#endif
