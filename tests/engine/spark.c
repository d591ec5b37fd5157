/* The requests of the conformance test on Spark, through a Connect server (tests/engine/with_spark): the integers must be those
 * of reference.h, bit for bit. One request in `make test`, where starting Spark takes most of the time; all of them, and what is
 * counted before a charge, in `make test-long`. Rows travel as Parquet, written by DuckDB. */
#include "tests/test.h"

#include "engine/core/cells.h"
#include "engine/files/source.h"
#include "tests/engine/conformance_requests.h"
#include "tests/engine/random_rows.h"
#include "tests/engine/roads.h"
#include "tests/engine/spark_run.h"

#define ANSWERS 2048
#define NO_SPARK "scripts/setup spark could not fetch pyspark, or there is no Java"

typedef struct spark {
    int door;
    tamis_source *source;
    tmi_engine *engine;
} spark;

static void open_spark(spark *s, int door, const row *list, size_t n)
{
    char sql[1024];
    tamis_error err = {0};
    *s = (spark){.door = door};
    snprintf(sql, sizeof sql, "CREATE OR REPLACE TEMPORARY VIEW t AS SELECT * FROM parquet.`%s`",
             write_parquet("spark.parquet", list, n));
    spark_do(door, sql);
    const tamis_sql how = {sizeof how, "spark", "t", spark_run_sql, &s->door, "the test's"};
    if (tamis_source_sql(&s->source, &how, &err) != TAMIS_OK || tmi_engine_of_source(&s->engine, s->source, 1, &err) != TAMIS_OK)
        fail_msg("%s", err.message);
}

static void close_spark(spark *s)
{
    s->engine->free(s->engine);
    tamis_source_free(s->source);
}

static void expect(const spark *on, const char *name, const tmi_request *request, const rows *all)
{
    static tmi_int128 right[4][ANSWERS], got[4][ANSWERS];
    tmi_int128 *const rights[] = {right[0], right[1], right[2], right[3]}, *const gots[] = {got[0], got[1], got[2], got[3]};
    tamis_error err = {0};
    right_answers(rights, request, all);
    memset(got, 1, sizeof got);
    if (on->engine->aggregate(on->engine, gots, request, NULL, &err) != TAMIS_OK) fail_msg("%s: %s", name, err.message);
    for (size_t t = 0; t < request->table_count; t++) {
        const tmi_table *table = &request->tables[t];
        const size_t count = tmi_table_cells(table) * table->measure_count;
        assert_true(count <= ANSWERS);
        for (size_t i = 0; i < count; i++)
            if (got[t][i] != right[t][i])
                fail_msg("%s, %zu rows: table %zu, cell %zu, measure %zu: %lld, not %lld", name, all->count, t,
                         i / table->measure_count, i % table->measure_count, (long long)got[t][i], (long long)right[t][i]);
    }
}

/* Requests from `first` on, each `step`th. */
static void same_integers(size_t n, size_t first, size_t step)
{
    const int door = spark_open();
    row *list = random_rows(n, n / 3 + 1, 9);
    const rows all = {.list = list, .count = n};
    spark on;
    shuffle(list, n);
    open_spark(&on, door, list, n);
    for (size_t q = first; q < COUNT(requests); q += step) {
        if (n > requests[q].most_rows) continue;
        expect(&on, requests[q].name, &requests[q].request, &all);
        print_message("# %s, %zu rows\n", requests[q].name, n);
    }
    close_spark(&on);
    close(door);
    free(list);
}

static void one_request(void **state)
{
    (void)state;
    if (!getenv("TAMIS_TEST_SPARK")) SKIP(NO_SPARK);
    same_integers(211, 1, COUNT(requests));
}

static void every_request(void **state)
{
    (void)state;
    if (!getenv("TAMIS_TEST_SPARK")) SKIP(NO_SPARK);
    if (!getenv("TAMIS_TEST_LONG")) SKIP("only in make test-long");
    same_integers(211, 0, 1);
}

static void other_sizes(void **state)
{
    (void)state;
    if (!getenv("TAMIS_TEST_SPARK")) SKIP(NO_SPARK);
    if (!getenv("TAMIS_TEST_LONG")) SKIP("only in make test-long");
    same_integers(0, 0, 5);
    same_integers(1, 0, 5);
    same_integers(2049, 0, 3);
}

/* What comes before a charge: the probe of the engine itself, and the counts of a table. */
static void inventory(void **state)
{
    (void)state;
    if (!getenv("TAMIS_TEST_SPARK")) SKIP(NO_SPARK);
    if (!getenv("TAMIS_TEST_LONG")) SKIP("only in make test-long");
    const size_t n = 211;
    const int door = spark_open();
    row *list = random_rows(n, n / 3 + 1, 9);
    const char *const file = write_csv("inventory.csv", list, n);
    int64_t counts[2][6] = {{0}};
    tmi_engine *memory = open_files(tmi_engine_memory, &file, 1, 1);
    spark on;
    open_spark(&on, door, list, n);
    for (int which = 0; which < 2; which++) {
        tmi_engine *engine = which == 0 ? memory : on.engine;
        tmi_inventory all = {.unit = &unit,
                             .cluster = &label,
                             .stratum = &s,
                             .rows_in = counts[which],
                             .units_in = counts[which] + 2,
                             .clusters_in = counts[which] + 4};
        tamis_error err = {0};
        if (engine->describe(engine, &all, NULL, &err) != TAMIS_OK) fail_msg("%s", err.message);
        assert_int_equal(all.rows, n);
    }
    assert_memory_equal(counts[0], counts[1], sizeof counts[0]);
    memory->free(memory);
    close_spark(&on);
    close(door);
    free(list);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(one_request),
        cmocka_unit_test(every_request),
        cmocka_unit_test(other_sizes),
        cmocka_unit_test(inventory),
    };
    return cmocka_run_group_tests(all, make_folder, remove_folder);
}
