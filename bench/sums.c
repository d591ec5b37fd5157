/* Sums on large data.
 *
 *     bench-sums FOLDER [ROWS]     the folder keeps Parquet files (10^7 rows, and ROWS: 1.7 GB for 10^8) for the next run
 *
 * First 20 grouped weighted totals: sum of weight * value by a group of 20, both clamped. tamis' exact integers beside
 * DuckDB's own sum of doubles, clamped and as they stand, on one thread and on two, in turns; on one thread by the time of the
 * processor. Peak memory of each. Then the clamped sum and number of doubles in memory, beside one pass that reads them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/duckdb/api.h"
#include "engine/files/source.h"
#include "timing.h"
#include "weighted.h"

static const char make[] =
    "COPY (SELECT 'group ' || lpad((hash(i) %% 20)::VARCHAR, 2, '0') AS g, 1 + hash(i + 1)::DOUBLE / 4e17 AS w, "
    "hash(i + 2)::DOUBLE / 1e17 AS v FROM range(%lld) t(i)) TO '%s' (FORMAT parquet)";
/* Of the ways to clamp in SQL this one is the fastest: least() and greatest() take twice the time. */
#define CLAMPED(x, from, to) "CASE WHEN " x " < " from " THEN " from " WHEN " x " > " to " THEN " to " ELSE " x " END"
static const char *const queries[] = {
    NULL, /* tamis */
    "SELECT g, sum(" CLAMPED("w", "1e0", "4e1") " * " CLAMPED("v", "0e0", "1.5e2") ") FROM '%s' GROUP BY g",
    "SELECT g, sum(w * v) FROM '%s' GROUP BY g",
};
static const char *const names[] = {"tamis", "duckdb", "duckdb unclamped"};
#define WAYS 3

_Noreturn static void stop(const char *why)
{
    fprintf(stderr, "%s\n", why);
    exit(1);
}

static void run_sql(const char *sql, unsigned threads)
{
    const tmi_duckdb_api *api = tmi_duckdb_load(NULL);
    duckdb_database database;
    duckdb_connection connection;
    duckdb_result result;
    char set[64];
    snprintf(set, sizeof set, "SET threads=%u; SET preserve_insertion_order=false", threads);
    if (api->open_ext(NULL, &database, NULL, NULL) == DuckDBError || api->connect(database, &connection) == DuckDBError ||
        api->query(connection, set, NULL) == DuckDBError || api->query(connection, sql, &result) == DuckDBError)
        stop("DuckDB failed");
    api->destroy_result(&result);
    api->disconnect(&connection);
    api->close(&database);
}

static void ask_tamis(const char *file, unsigned threads)
{
    const tmi_source source = {.files = &file, .file_count = 1};
    tmi_engine *engine;
    tamis_error err = {0};
    if (tmi_engine_duckdb(&engine, &source, threads, &err) != TAMIS_OK || ask_weighted(engine, &err) != TAMIS_OK)
        stop(err.message);
    engine->free(engine);
}

/* Each in a process of its own, so that its memory is its own. */
static double apart(int which, const char *file, unsigned threads, long *peak)
{
    int pipes[2];
    double took = 0;
    struct rusage usage;
    if (pipe(pipes) != 0) stop("no pipe");
    const pid_t child = fork();
    if (child == 0) {
        char sql[5000];
        if (queries[which]) snprintf(sql, sizeof sql, queries[which], file);
        const double start = now();
        if (!queries[which]) ask_tamis(file, threads);
        else run_sql(sql, threads);
        took = now() - start;
        _exit(write(pipes[1], &took, sizeof took) == (ssize_t)sizeof took ? 0 : 1);
    }
    int status;
    if (wait4(child, &status, 0, &usage) != child || status != 0 || read(pipes[0], &took, sizeof took) != (ssize_t)sizeof took)
        stop("a process failed");
    close(pipes[0]);
    close(pipes[1]);
    if (usage.ru_maxrss > *peak) *peak = usage.ru_maxrss;
    if (threads > 1) return took;
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static void grouped(const char *folder, long long rows)
{
    char file[4096], part[4200], sql[9000];
    snprintf(file, sizeof file, "%s/weighted-%lld.parquet", folder, rows);
    snprintf(part, sizeof part, "%s.part", file);
    if (access(file, R_OK) != 0) {
        snprintf(sql, sizeof sql, make, rows, part);
        run_sql(sql, 2);
        if (rename(part, file) != 0) stop("the file could not be written");
    }
    for (unsigned threads = 1; threads <= 2; threads++) {
        static timing t[WAYS];
        long peak[WAYS] = {0};
        for (int which = 0; which < WAYS; which++) timing_begin(&t[which], 0);
        while (timing_goes_on(&t[0]))
            for (int which = 0; which < WAYS; which++) timing_add(&t[which], apart(which, file, threads, &peak[which]));
        for (int which = 0; which < WAYS; which++)
            printf("{\"what\": \"weighted totals %s %lld, threads %u\", \"n\": %lld, \"seconds\": %.4f, \"bytes\": %ld}\n",
                   names[which], rows, threads, rows, timing_median(&t[which]), peak[which] * 1024);
        fflush(stdout);
    }
}

/* ---- in memory ---- */

static void in_memory(int64_t n)
{
    double *values = malloc((size_t)n * sizeof *values);
    static timing summing, reading;
    if (!values) stop("no memory");
    uint64_t seed = 1;
    for (int64_t i = 0; i < n; i++) {
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
        values[i] = (double)(seed >> 11) * 0x1p-53 * 120 - 10;
    }
    const tmi_column x = {.name = "x", .grid = {0, 100, 0x1p-20, 0, INT64_C(100) << 20}};
    const tmi_measure measures[] = {tmi_sum_of(&x), tmi_rows_with(&x)};
    const tmi_table table = {NULL, 0, measures, 2};
    const tmi_request request = {.tables = &table, .table_count = 1};
    timing_begin(&summing, 0.5);
    timing_begin(&reading, 0.5);
    while (timing_goes_on(&summing)) {
        double start = now_by(CLOCK_PROCESS_CPUTIME_ID);
        tamis_source *source;
        tmi_engine *engine;
        tmi_int128 answers[2], *const places[] = {answers};
        if (tamis_source_new(&source, n, NULL) != TAMIS_OK || tamis_source_numbers(source, "x", values, NULL) != TAMIS_OK ||
            tmi_engine_of_source(&engine, source, 1, NULL) != TAMIS_OK ||
            engine->aggregate(engine, places, &request, NULL, NULL) != TAMIS_OK)
            stop("the memory engine failed");
        engine->free(engine);
        tamis_source_free(source);
        timing_add(&summing, now_by(CLOCK_PROCESS_CPUTIME_ID) - start);
        start = now_by(CLOCK_PROCESS_CPUTIME_ID);
        double sums[8] = {0};
        for (int64_t i = 0; i + 8 <= n; i += 8)
            for (int j = 0; j < 8; j++) sums[j] += values[i + j];
        volatile double sink = sums[0] + sums[1] + sums[2] + sums[3] + sums[4] + sums[5] + sums[6] + sums[7];
        (void)sink;
        timing_add(&reading, now_by(CLOCK_PROCESS_CPUTIME_ID) - start);
    }
    printf("{\"what\": \"clamped mean tamis %lld\", \"n\": %lld, \"seconds\": %.6f}\n", (long long)n, (long long)n,
           timing_median(&summing));
    printf("{\"what\": \"clamped mean reading %lld\", \"n\": %lld, \"seconds\": %.6f}\n", (long long)n, (long long)n,
           timing_median(&reading));
    fflush(stdout);
    free(values);
}

int main(int argc, char **argv)
{
    tamis_error err = {0};
    const long long rows = argc > 2 ? atoll(argv[2]) : 100000000;
    if (argc < 2 || strchr(argv[1], '\'') || rows < 1) {
        fprintf(stderr, "usage: bench-sums FOLDER [ROWS]\n");
        return 2;
    }
    if (!tmi_duckdb_load(&err)) stop(err.message);
    for (int64_t n = 1000000; n <= 100000000 && n <= rows; n *= 10) in_memory(n);
    if (rows > 10000000) grouped(argv[1], 10000000); /* beside others, bench/grouped_peers.py */
    grouped(argv[1], rows);
    return 0;
}
