/* Engines that are asked in SQL, as roads of tests: one of each dialect is open at a time. */
#ifndef TESTS_ENGINE_SQL_ROADS_H
#define TESTS_ENGINE_SQL_ROADS_H

#include "engine/files/source.h"
#include "tests/engine/duckdb_run.h"
#include "tests/engine/postgres_run.h"

/* With run NULL the last source is freed and there is no other. */
static inline tmi_engine *open_sql(tamis_source **last, const char *dialect, const char *table, tamis_run_sql *run, void *context)
{
    const tamis_sql how = {sizeof how, dialect, table, run, context, "the test's"};
    tamis_error err = {0};
    tmi_engine *engine = NULL;
    tamis_source_free(*last);
    *last = NULL;
    if (run && (tamis_source_sql(last, &how, &err) != TAMIS_OK || tmi_engine_of_source(&engine, *last, 1, &err) != TAMIS_OK))
        fail_msg("%s", err.message);
    return engine;
}

/* DuckDB, after it has run `sql`; NULL: the last one is closed. */
static inline tmi_engine *open_sql_duckdb(const char *sql, const char *table)
{
    static tamis_source *last;
    static duckdb_run on;
    if (last) {
        open_sql(&last, NULL, NULL, NULL, NULL);
        duckdb_run_close(&on);
    }
    if (!sql) return NULL;
    duckdb_run_open(&on);
    duckdb_run_do(&on, sql);
    return open_sql(&last, "duckdb", table, duckdb_run_sql, &on);
}

/* The server; table NULL: the last connection is closed. */
static inline tmi_engine *open_sql_postgres(const char *table)
{
    static tamis_source *last;
    static PGconn *connection;
    if (last) {
        open_sql(&last, NULL, NULL, NULL, NULL);
        PQfinish(connection);
    }
    if (!table) return NULL;
    connection = server_connect();
    return open_sql(&last, "postgres", table, postgres_run_sql, connection);
}

static inline void close_sql_roads(void)
{
    open_sql_duckdb(NULL, NULL);
    open_sql_postgres(NULL);
}

#endif
