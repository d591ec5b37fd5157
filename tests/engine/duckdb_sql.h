/* DuckDB itself, to write Parquet with; for tests that are left out of a build without it. */
#ifndef TESTS_ENGINE_DUCKDB_SQL_H
#define TESTS_ENGINE_DUCKDB_SQL_H

#include "engine/duckdb/api.h"

/* Runs SQL in a DuckDB of its own, without any of our restrictions. */
static inline void run_sql(const char *sql)
{
    const tmi_duckdb_api *api = tmi_duckdb_load(NULL);
    duckdb_database database;
    duckdb_connection connection;
    duckdb_result result;
    assert_non_null(api);
    assert_int_equal(api->open_ext(NULL, &database, NULL, NULL), DuckDBSuccess);
    assert_int_equal(api->connect(database, &connection), DuckDBSuccess);
    if (api->query(connection, sql, &result) == DuckDBError) fail_msg("%s", api->result_error(&result));
    api->destroy_result(&result);
    api->disconnect(&connection);
    api->close(&database);
}

#endif
