/* Deciles by group of 10^8 rows of Parquet on two threads: private ones, on a grid of 10^6 + 1 points, beside DuckDB's own.
 *
 *     bench-quantile_parquet FOLDER       the folder keeps the Parquet file (about 1 GB) for the next run
 *
 * Incomes are lognormal(10.5, 0.8) and all different; there are 20 regions. Each question has a process of its own, which gives
 * its time, from start to end by the clock, and the most memory that it used at once; the three take turns. The time of tamis
 * is that of reading the points, and of all nine quantiles in each of the regions by splitting, with epsilon 1 for each
 * region. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <tamis/experimental/quantile.h>
#include <unistd.h>

#include "engine/core/points.h"
#include "engine/duckdb/api.h"
#include "timing.h"

#define ROWS 100000000
#define REGIONS 20
#define DECILES 9

static const char make[] =
    "COPY (SELECT 'region ' || (hash(i + 2) %% 20) AS region, exp(10.5 + 0.8 * sqrt(-2 * ln((hash(i) + 1) / "
    "18446744073709551616.0)) "
    "* cos(2 * pi() * (hash(i + 1) / 18446744073709551616.0))) AS income FROM range(%d) t(i)) TO '%s' (FORMAT parquet)";
static const char exact[] =
    "SELECT region, quantile_cont(income, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]) FROM '%s' GROUP BY region";
static const char rough[] =
    "SELECT region, approx_quantile(income, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]) FROM '%s' GROUP BY region";

static void check(tamis_status status, const tamis_error *err)
{
    if (status == TAMIS_OK) return;
    fprintf(stderr, "%s\n", err->message);
    exit(1);
}

static void run(const char *sql, const char *more)
{
    tamis_error err = {0};
    duckdb_database database;
    duckdb_connection connection;
    duckdb_result result;
    const tmi_duckdb_api *api = tmi_duckdb_load(&err);
    char text[9000];
    if (!api) check(TAMIS_SYSTEM, &err);
    if (api->open_ext(NULL, &database, NULL, NULL) == DuckDBError || api->connect(database, &connection) == DuckDBError) exit(1);
    if (api->query(connection, "SET threads=2", NULL) == DuckDBError) exit(1);
    if (sql == make) snprintf(text, sizeof text, make, ROWS, more);
    else snprintf(text, sizeof text, sql == exact ? exact : rough, more);
    if (api->query(connection, text, &result) == DuckDBError) {
        fprintf(stderr, "%s\n", api->result_error(&result));
        exit(1);
    }
    api->destroy_result(&result);
    api->disconnect(&connection);
    api->close(&database);
}

/* ---- tamis ---- */

static tamis_number *number(const char *text)
{
    tamis_number *made;
    tamis_error err = {0};
    check(tamis_number_read(&made, text, &err), &err);
    return made;
}

static void find_deciles(const int64_t *records, size_t count, tamis_rng *rng)
{
    static const char *const texts[] = {"0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9"};
    tamis_number *at[DECILES], *from = number("0"), *to = number("1000000"), *step = number("1");
    const tamis_number *list[DECILES];
    tamis_quantile *quantile;
    tamis_error err = {0};
    int64_t points[DECILES];
    for (size_t i = 0; i < DECILES; i++) list[i] = at[i] = number(texts[i]);
    const tamis_quantile_setup setup = {.from = from,
                                        .to = to,
                                        .step = step,
                                        .at = list,
                                        .at_count = DECILES,
                                        .epsilon = step,
                                        .method = TAMIS_QUANTILE_SPLIT,
                                        .rows_per_unit = 1};
    check(tamis_quantile_new(&quantile, &setup, &err), &err);
    check(tamis_quantile_prepare(quantile, rng, &err), &err);
    check(tamis_quantile_points(points, quantile, records, NULL, count, rng, &err), &err);
    /* exp(10.5) = 36,316; of some 5,000,000 incomes the median is within 0.1 % of it */
    if (points[4] < 36000 || points[4] > 36600) {
        fprintf(stderr, "a median is far off\n");
        exit(1);
    }
    tamis_quantile_free(quantile);
    for (size_t i = 0; i < DECILES; i++) tamis_number_free(at[i]);
    tamis_number_free(from);
    tamis_number_free(to);
    tamis_number_free(step);
}

static void ask_tamis(const char *file)
{
    static char texts[REGIONS][32];
    const char *values[REGIONS];
    for (int v = 0; v < REGIONS; v++) {
        snprintf(texts[v], sizeof texts[v], "region %d", v);
        values[v] = texts[v];
    }
    const tmi_column income = {.name = "income", .kind = TMI_NUMBER, .grid = {.to = 1e6, .step = 1, .high = 1000000}};
    const tmi_column region = {.name = "region", .kind = TMI_CATEGORY, .values = values, .value_count = REGIONS};
    const tmi_column *const by[] = {&region};
    const tmi_points_request request = {.value = &income, .by = by, .by_count = 1};
    const tmi_source source = {.files = &file, .file_count = 1};
    tmi_engine *engine;
    tmi_point_list list;
    tamis_rng *rng;
    tamis_error err = {0};
    check(tmi_engine_duckdb(&engine, &source, 2, &err), &err);
    check(tmi_engine_points(&list, engine, &request, NULL, &err), &err);
    engine->free(engine);
    check(tamis_rng_new(&rng, &err), &err);
    for (size_t i = 0, first = 0; first < list.count; first = i) {
        size_t count = 0, k = 0;
        for (i = first; i < list.count && list.cells[i] == list.cells[first]; i++) count += (size_t)list.counts[i];
        int64_t *records = malloc(count * sizeof *records);
        if (!records) exit(1);
        for (size_t j = first; j < i; j++)
            for (int64_t c = 0; c < list.counts[j]; c++) records[k++] = list.points[j];
        find_deciles(records, count, rng);
        free(records);
    }
    tamis_rng_free(rng);
    tmi_point_list_clear(&list);
}

#define RUNS 3

static int compare(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return a < b ? -1 : a > b;
}

typedef struct road {
    const char *what, *sql; /* sql NULL: tamis */
    double seconds[RUNS], cpu[RUNS];
    long kilobytes;
} road;

/* In a process of its own. */
static void measure(road *r, size_t number, const char *file)
{
    const double start = now();
    struct rusage used;
    int status;
    const pid_t child = fork();
    if (child == 0) {
        if (r->sql) run(r->sql, file);
        else ask_tamis(file);
        exit(0);
    }
    if (child < 0 || wait4(child, &status, 0, &used) != child || status != 0) exit(1);
    r->seconds[number] = now() - start;
    r->cpu[number] = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                     1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
    if (used.ru_maxrss > r->kilobytes) r->kilobytes = used.ru_maxrss;
}

int main(int argc, char **argv)
{
    char file[4096], part[4200];
    if (argc != 2 || strchr(argv[1], '\'')) {
        fprintf(stderr, "usage: bench-quantile_parquet FOLDER\n");
        return 2;
    }
    snprintf(file, sizeof file, "%s/incomes-%d.parquet", argv[1], ROWS);
    snprintf(part, sizeof part, "%s.part", file);
    if (access(file, R_OK) != 0) {
        measure(&(road){.sql = make}, 0, part);
        if (rename(part, file) != 0) return 1;
    }
    road roads[] = {{.what = "tamis"}, {.what = "quantile_cont", .sql = exact}, {.what = "approx_quantile", .sql = rough}};
    for (size_t i = 0; i < RUNS; i++) /* they take turns */
        for (size_t r = 0; r < 3; r++) measure(&roads[r], i, file);
    for (size_t r = 0; r < 3; r++) {
        qsort(roads[r].seconds, RUNS, sizeof(double), compare);
        qsort(roads[r].cpu, RUNS, sizeof(double), compare);
        printf("{\"what\": \"quantile parquet %s\", \"n\": %d, \"seconds\": %.3f, \"cpu\": %.3f, \"bytes\": %lld}\n",
               roads[r].what, ROWS, roads[r].seconds[RUNS / 2], roads[r].cpu[RUNS / 2], (long long)roads[r].kilobytes * 1024);
    }
    return 0;
}
