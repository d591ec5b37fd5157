/* The demo's question on 10^7 rows of Parquet, one thread: tamis' exact integers beside DuckDB's own sums of doubles.
 *
 *     bench-engine FOLDER       the folder keeps the Parquet files (about 0.3 GB) for the next run
 *
 * The question: number of schools, sums of two columns and how many values they have, in all and by school type. DuckDB
 * is asked for the same sums by school type, clamped to the same bounds and as they stand; it need not add up the types.
 * Two files: values of the kind surveys have (some thousand different ones, which Parquet stores as a dictionary), and
 * values that are all different. Time is that of the processor; the three take turns. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "engine/core/engine.h"
#include "engine/duckdb/api.h"
#include "timing.h"

#define ROWS 10000000

static const char make_coded[] =
    "COPY (SELECT (hash(i) %% 4001)::DOUBLE AS enroll, 200 + (hash(i + 1) %% 801)::DOUBLE AS api00, "
    "['E','E','E','E','E','E','E','E','E','E','E','E','E','E','M','M','M','H','H','H'][1 + (hash(i + 2) %% 20)::INT] "
    "AS stype FROM range(%d) t(i)) TO '%s' (FORMAT parquet)";
static const char make_distinct[] =
    "COPY (SELECT hash(i)::DOUBLE / 4e15 AS enroll, 150 + hash(i + 1)::DOUBLE / 2e16 AS api00, "
    "['E','E','E','E','E','E','E','E','E','E','E','E','E','E','M','M','M','H','H','H'][1 + (hash(i + 2) %% 20)::INT] "
    "AS stype FROM range(%d) t(i)) TO '%s' (FORMAT parquet)";

static const char clamped[] = "SELECT stype, count(*), sum(least(greatest(enroll, 0e0), 4e3)), count(enroll), "
                              "sum(least(greatest(api00, 2e2), 1e3)), count(api00) FROM '%s' GROUP BY stype";
static const char plain[] =
    "SELECT stype, count(*), sum(enroll), count(enroll), sum(api00), count(api00) FROM '%s' GROUP BY stype";

static double seconds(void) { return now_by(CLOCK_PROCESS_CPUTIME_ID); }

static void run(const tmi_duckdb_api *api, duckdb_connection connection, const char *sql)
{
    duckdb_result result;
    if (api->query(connection, sql, &result) == DuckDBError) {
        fprintf(stderr, "%s\n", api->result_error(&result));
        exit(1);
    }
    api->destroy_result(&result);
}

static void ask_tamis(const char *file)
{
    static const char *const types[] = {"E", "M", "H"};
    static const tmi_column enroll = {.name = "enroll", .kind = TMI_NUMBER, .grid = {.to = 4000, .step = 1, .high = 4000}};
    static const tmi_column api00 = {.name = "api00",
                                     .kind = TMI_NUMBER,
                                     .grid = {.from = 200, .to = 1000, .step = 1, .low = 200, .high = 1000}};
    static const tmi_column stype = {.name = "stype", .kind = TMI_CATEGORY, .values = types, .value_count = 3};
    static const tmi_column *const by[] = {&stype};
    const tmi_measure measures[] = {tmi_rows_with(NULL), tmi_sum_of(&enroll), tmi_rows_with(&enroll), tmi_sum_of(&api00),
                                    tmi_rows_with(&api00)};
    const tmi_table tables[] = {{NULL, 0, measures, 5}, {by, 1, measures, 5}};
    const tmi_request request = {.tables = tables, .table_count = 2};
    tmi_int128 in_all[5], by_type[15], *const answers[] = {in_all, by_type};
    const tmi_source source = {.files = &file, .file_count = 1};
    tmi_engine *engine;
    tamis_error err = {0};
    if (tmi_engine_duckdb(&engine, &source, 1, &err) != TAMIS_OK ||
        engine->aggregate(engine, answers, &request, NULL, &err) != TAMIS_OK) {
        fprintf(stderr, "%s\n", err.message);
        exit(1);
    }
    engine->free(engine);
    if (in_all[0] != ROWS || by_type[0] + by_type[5] + by_type[10] != ROWS) {
        fprintf(stderr, "the answers do not add up\n");
        exit(1);
    }
}

static void measure(const tmi_duckdb_api *api, duckdb_connection connection, const char *kind, const char *make,
                    const char *folder)
{
    char file[4096], part[4200], sql[9000], sql_plain[9000];
    static timing tamis, duckdb_clamped, duckdb_plain;
    snprintf(file, sizeof file, "%s/schools-%s.parquet", folder, kind);
    snprintf(part, sizeof part, "%s.part", file);
    if (access(file, R_OK) != 0) {
        snprintf(sql, sizeof sql, make, ROWS, part);
        run(api, connection, sql);
        if (rename(part, file) != 0) exit(1);
    }
    snprintf(sql, sizeof sql, clamped, file);
    snprintf(sql_plain, sizeof sql_plain, plain, file);
    timing_begin(&tamis, 0);
    timing_begin(&duckdb_clamped, 0);
    timing_begin(&duckdb_plain, 0);
    while (timing_goes_on(&tamis)) {
        double start = seconds();
        ask_tamis(file);
        timing_add(&tamis, seconds() - start);
        start = seconds();
        run(api, connection, sql);
        timing_add(&duckdb_clamped, seconds() - start);
        start = seconds();
        run(api, connection, sql_plain);
        timing_add(&duckdb_plain, seconds() - start);
    }
    printf("{\"what\": \"engine %s tamis\", \"n\": %d, \"seconds\": %.4f}\n", kind, ROWS, timing_median(&tamis));
    printf("{\"what\": \"engine %s duckdb clamped\", \"n\": %d, \"seconds\": %.4f}\n", kind, ROWS,
           timing_median(&duckdb_clamped));
    printf("{\"what\": \"engine %s duckdb plain\", \"n\": %d, \"seconds\": %.4f}\n", kind, ROWS, timing_median(&duckdb_plain));
    fflush(stdout);
}

int main(int argc, char **argv)
{
    tamis_error err = {0};
    duckdb_database database;
    duckdb_connection connection;
    const tmi_duckdb_api *api = tmi_duckdb_load(&err);
    if (argc != 2 || !api || strchr(argv[1], '\'')) {
        fprintf(stderr, "%s\n", api ? "usage: bench-engine FOLDER" : err.message);
        return 2;
    }
    if (api->open_ext(NULL, &database, NULL, NULL) == DuckDBError || api->connect(database, &connection) == DuckDBError) return 1;
    run(api, connection, "SET threads=1");
    measure(api, connection, "coded", make_coded, argv[1]);
    measure(api, connection, "distinct", make_distinct, argv[1]);
    api->disconnect(&connection);
    api->close(&database);
    return 0;
}
