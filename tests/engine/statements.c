/* An engine that is asked in SQL: DuckDB by a function of the test. All requests and lists of points have the integers of the
 * reference, wrong engines are refused before the charge, and nothing but integers is believed. */
#include "tests/test.h"

#include "engine/core/points.h"
#include "engine/files/source.h"
#include "engine/statements/probe.h"
#include "tests/base/memory_that_fails.h"
#include "tests/engine/conformance_requests.h"
#include "tests/engine/random_rows.h"
#include "tests/engine/roads.h"
#include "tests/engine/duckdb_run.h"

#define ANSWERS 2048
static tmi_int128 right[4][ANSWERS], got[4][ANSWERS];
static tmi_int128 *const rights[] = {right[0], right[1], right[2], right[3]}, *const gots[] = {got[0], got[1], got[2], got[3]};

static void fill(duckdb_run *on, const row *list, size_t n)
{
    char select[1024], sql[2048];
    select_csv(select, sizeof select, write_csv("statements.csv.tmp", list, n));
    snprintf(sql, sizeof sql, "CREATE OR REPLACE TABLE t AS %s", select);
    duckdb_run_do(on, sql);
}

static tmi_engine *engine_on(tamis_source **source, duckdb_run *on, const char *table, const char *version)
{
    const tamis_sql how = {sizeof how, "duckdb", table, duckdb_run_sql, on, version};
    tmi_engine *engine;
    assert_int_equal(tamis_source_sql(source, &how, NULL), TAMIS_OK);
    assert_int_equal(tmi_engine_of_source(&engine, *source, 1, NULL), TAMIS_OK);
    return engine;
}

static void same_integers(size_t n)
{
    duckdb_run on;
    tamis_error err;
    row *list = random_rows(n, n / 3 + 1, 9);
    const rows all = {.list = list, .count = n};
    shuffle(list, n);
    duckdb_run_open(&on);
    fill(&on, list, n);
    for (size_t q = 0; q < COUNT(requests); q++) {
        const tmi_request *request = &requests[q].request;
        tamis_source *source;
        tmi_engine *engine = engine_on(&source, &on, "t", NULL);
        if (n <= requests[q].most_rows) {
            right_answers(rights, request, &all);
            if (engine->check(engine, request, NULL, &err) != TAMIS_OK) fail_msg("%s: %s\n%s", requests[q].name, err.message, on.last);
            assert_int_equal(engine->aggregate(engine, gots, request, NULL, &err), TAMIS_OK);
            for (size_t t = 0; t < request->table_count; t++)
                for (size_t i = 0; i < tmi_table_cells(&request->tables[t]) * request->tables[t].measure_count; i++)
                    if (got[t][i] != right[t][i])
                        fail_msg("%s, %zu rows: table %zu, integer %zu: %lld, not %lld", requests[q].name, n, t, i,
                                 (long long)got[t][i], (long long)right[t][i]);
        }
        engine->free(engine);
        tamis_source_free(source);
    }
    duckdb_run_close(&on);
    free(list);
}

static void every_request(void **state)
{
    (void)state;
    same_integers(0);
    same_integers(97);
}

/* ---- before the charge ---- */

static void the_probe(void **state)
{
    (void)state;
    duckdb_run on;
    tamis_error err = {0};
    duckdb_run_open(&on);
    const tmi_sql_road road = {&tmi_dialect_duckdb, "t", NULL, duckdb_run_sql, &on};
    if (tmi_probe_engine(&road, &err) != TAMIS_OK) fail_msg("%s", err.message);
    duckdb_run_close(&on);
}

int main(void)
{
    const struct CMUnitTest all[] = {cmocka_unit_test(the_probe), cmocka_unit_test(every_request)};
    return cmocka_run_group_tests(all, make_folder, remove_folder);
}
