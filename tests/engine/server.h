/* The PostgreSQL server of a test (tests/engine/with_postgres), and tables in it. */
#ifndef TESTS_ENGINE_SERVER_H
#define TESTS_ENGINE_SERVER_H

#include <libpq-fe.h>
#include <stdlib.h>
#include <string.h>

#include "engine/core/engine.h"

static inline const char *server_text(void)
{
    const char *text = getenv("TAMIS_TEST_POSTGRES");
    if (!text) fail_msg("there is no PostgreSQL: run this test by tests/engine/with_postgres");
    return text;
}

static inline PGconn *server_connect(void)
{
    PGconn *connection = PQconnectdb(server_text());
    if (PQstatus(connection) != CONNECTION_OK) fail_msg("%s", PQerrorMessage(connection));
    return connection;
}

static inline void server_do(PGconn *connection, const char *sql)
{
    PGresult *result = PQexec(connection, sql);
    const ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK && status != PGRES_COPY_IN)
        fail_msg("%s", PQerrorMessage(connection));
    PQclear(result);
}

static inline void server_run(const char *sql)
{
    PGconn *connection = server_connect();
    server_do(connection, sql);
    PQfinish(connection);
}

static inline void server_end_copy(PGconn *connection)
{
    assert_int_equal(PQputCopyEnd(connection, NULL), 1);
    for (PGresult *result; (result = PQgetResult(connection)); PQclear(result))
        if (PQresultStatus(result) != PGRES_COMMAND_OK) fail_msg("%s", PQerrorMessage(connection));
}

static inline tmi_engine *open_server(const char *const *texts, size_t count, const char *table, bool sharded_by_unit,
                                      unsigned threads)
{
    const tmi_source source = {.connections = texts,
                               .connection_count = count,
                               .table = table,
                               .sharded_by_unit = sharded_by_unit};
    tmi_engine *engine;
    tamis_error err = {0};
    if (tmi_engine_postgres(&engine, &source, threads, &err) != TAMIS_OK) fail_msg("%s", err.message);
    return engine;
}

#endif
