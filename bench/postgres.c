/* Sums inside PostgreSQL.
 *
 *     tests/engine/with_postgres bench-postgres [ROWS]
 *
 * 20 grouped weighted totals, sum of weight * value by a group of 20, both clamped: tamis' exact integers beside the server's
 * own sum of doubles, without parallel workers and with one, in turns. */
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>

#include "timing.h"
#include "weighted.h"

static const char make[] =
    "CREATE UNLOGGED TABLE weighted AS SELECT 'group ' || lpad((hashint8(i) & 1048575) %% 20 || '', 2, '0') AS g, 1 + "
    "(hashint8(i + 1) & "
    "1048575) / 23e3::float8 AS w, (hashint8(i + 2) & 1048575) / 6e3::float8 AS v FROM generate_series(1, %lld::bigint) i";
static const char plain[] = "SELECT g, sum(least(greatest(w, '1'::float8), '40'::float8) * least(greatest(v, '0'::float8), "
                            "'150'::float8)) FROM weighted GROUP "
                            "BY g";

_Noreturn static void stop(const char *why)
{
    fprintf(stderr, "%s\n", why);
    exit(1);
}

static void run_sql(PGconn *connection, const char *sql)
{
    PGresult *result = PQexec(connection, sql);
    if (PQresultStatus(result) != PGRES_COMMAND_OK && PQresultStatus(result) != PGRES_TUPLES_OK) stop(PQerrorMessage(connection));
    PQclear(result);
}

static void ask_tamis(const char *connection, unsigned threads)
{
    const tmi_source source = {.connections = &connection, .connection_count = 1, .table = "weighted"};
    tmi_engine *engine;
    tamis_error err = {0};
    if (tmi_engine_postgres(&engine, &source, threads, &err) != TAMIS_OK || ask_weighted(engine, &err) != TAMIS_OK)
        stop(err.message);
    engine->free(engine);
}

int main(int argc, char **argv)
{
    const char *text = getenv("TAMIS_TEST_POSTGRES");
    const long long rows = argc > 1 ? atoll(argv[1]) : 5000000;
    char sql[1024];
    if (!text) stop("there is no PostgreSQL: run this by tests/engine/with_postgres");
    PGconn *connection = PQconnectdb(text);
    snprintf(sql, sizeof sql, make, rows);
    run_sql(connection, sql);
    run_sql(connection, "VACUUM ANALYZE weighted");
    for (unsigned threads = 1; threads <= 2; threads++) {
        static timing t[2];
        for (int which = 0; which < 2; which++) timing_begin(&t[which], 0);
        snprintf(sql, sizeof sql, "SET max_parallel_workers_per_gather = %u", threads - 1);
        run_sql(connection, sql);
        while (timing_goes_on(&t[0])) /* in turns */
            for (int which = 0; which < 2; which++) {
                const double start = now();
                if (which == 0) ask_tamis(text, threads);
                else run_sql(connection, plain);
                timing_add(&t[which], now() - start);
            }
        for (int which = 0; which < 2; which++)
            printf("{\"what\": \"postgres totals %s, threads %u\", \"n\": %lld, \"seconds\": %.4f}\n",
                   which == 0 ? "tamis" : "plain", threads, rows, timing_median(&t[which]));
    }
    PQfinish(connection);
    return 0;
}
