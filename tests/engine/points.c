/* Lists of points on every road: each engine, one file and several, one thread and two, databases in parts. They must be those
 * of a direct reading of points.h over the values of reference.h, entry for entry. */
#include "tests/test.h"

#include "engine/core/points.h"
#include "tests/base/memory_that_fails.h"
#include "tests/engine/conformance_requests.h"
#include "tests/engine/points_requests.h"
#include "tests/engine/random_rows.h"
#include "tests/engine/roads.h"

/* DuckDB's many allocations take most of the time of this test under the sanitizers. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "malloc_context_size=4:quarantine_size_mb=16:max_malloc_fill_size=0"; }

/* ---- all roads ---- */

/* Each session of DuckDB takes its time: every road takes each list with one number of threads, or two lists of three,
 * and half of them with many rows. */
static bool is_due(size_t n, size_t list, size_t road, unsigned threads)
{
    if (n <= 1) return (list + road) % 5 == 0;
    return (list + road + threads) % (size_t)(n > 300 ? 4 : test_size(3, 2)) == 0;
}

/* The same engine as one that only has sums. */
static void ask_sums(const char *road, const char *name, tmi_engine *engine, const tmi_points_request *asked, const entry *right,
                     size_t count, int *answered)
{
    tmi_engine sums = *engine;
    tmi_point_list got = {.count = 1};
    tamis_error err = {0};
    sums.points = NULL;
    if (tmi_engine_points_check(&sums, asked, NULL, &err) == TAMIS_OK) {
        ask(road, name, &sums, asked, right, count);
        ++*answered;
        return;
    }
    assert_int_equal(err.status, TAMIS_REFUSED);
    assert_non_null(strstr(err.message, "more than 4194304"));
    assert_int_equal(tmi_engine_points(&got, &sums, asked, NULL, &err), TAMIS_REFUSED);
    assert_true(got.count == 0 && !got.points);
}

static void all_roads(size_t n)
{
    row *list = random_rows(n, n / 3 + 1, 9);
    entry *right[COUNT(lists)];
    size_t counts[COUNT(lists)];
    int answered = 0, full = 0;
    for (size_t q = 0; q < COUNT(lists); q++) {
        right[q] = calloc(n + 1, sizeof **right);
        counts[q] = n <= lists[q].most_rows ? expected_entries(right[q], &lists[q].request, list, n) : 0;
        full += counts[q] > 3;
    }
    for (size_t r = 0; r < COUNT(roads); r++)
        for (unsigned threads = 1; threads <= (n > 1 ? 2 : 1); threads++) {
            tmi_engine *engine = roads[r].open(list, n, threads);
            for (size_t q = 0; q < COUNT(lists); q++) {
                const tmi_points_request *asked = &lists[q].request;
                tmi_point_list none;
                if (n > lists[q].most_rows || !is_due(n, q, r, threads)) continue;
                if (roads[r].is_parted && ranks_clusters(asked)) {
                    assert_int_equal(tmi_engine_points_check(engine, asked, NULL, NULL), TAMIS_REFUSED);
                    assert_int_equal(tmi_engine_points(&none, engine, asked, NULL, NULL), TAMIS_REFUSED);
                    assert_null(none.points);
                    continue;
                }
                ask(roads[r].name, lists[q].name, engine, asked, right[q], counts[q]);
                if (roads[r].open == arrays_by_memory)
                    ask_sums("sums", lists[q].name, engine, asked, right[q], counts[q], &answered);
            }
            engine->free(engine);
            shuffle(list, n);
        }
    assert_true(n <= 1 || (answered >= (n > 300 ? 1 : 3) && full >= (n > 300 ? 6 : 12)));
    for (size_t q = 0; q < COUNT(lists); q++) free(right[q]);
    forget_rows_in_memory();
    free(list);
}

static void no_row(void **state)
{
    (void)state;
    all_roads(0);
}

static void one_row(void **state)
{
    (void)state;
    all_roads(1);
}

static void units_and_groups(void **state)
{
    (void)state;
    all_roads(211);
}

static void many_rows(void **state)
{
    (void)state;
    all_roads(9001); /* several row groups, several pieces of every reader */
}

/* ---- requests that no engine answers ---- */

static void bad_requests(void **state)
{
    (void)state;
    static const tmi_column *const by_numbers[] = {&x}, *const by_nothing[] = {NULL},
                                   *const by_many[] = {&scattered_in_all, &scattered_in_all, &scattered_in_all, &scattered_in_all,
                                                       &scattered_in_all};
    static const tmi_column bad_grid = {.name = "x", .grid = {5, 1, 1, 0, 9}};
    static const struct {
        tmi_points_request request;
        const char *word;
    } bad[] = {
        {{.value = NULL}, "no name"},
        {{.value = &g}, "column g is not a number"},
        {{.value = &label}, "not a number"},
        {{.value = &bad_grid}, "column x"},
        {{.value = &x, .weight = &h, .max_weight = 5}, "column h is not a number"},
        {{.value = &x, .weight = &y, .max_weight = 0}, "column y: the largest weight"},
        {{.value = &x, .weight = &y, .max_weight = -1}, "largest weight"},
        {{.value = &x, .weight = &y, .max_weight = TMI_MAX_GRID}, "largest weight"},
        {{.value = &x, .where = &g}, "column g is not an indicator"},
        {{.value = &x, .where = &y}, "not an indicator"},
        {{.value = &x, BY(by_numbers)}, "column x is not a category"},
        {{.value = &x, BY(by_nothing)}, "no name"},
        {{.value = &x, BY(by_many)}, "cells"},
        {{.value = &x, .unit = &g, .rows_per_unit = 1, .key = key}, "unit"},
        {{.value = &x, .unit = &unit, .rows_per_unit = 0, .key = key}, "rows_per_unit"},
        {{.value = &x, .unit = &unit, .rows_per_unit = 1}, "key"},
    };
    row *list = random_rows(5, 2, 2);
    for (size_t r = 0; r < COUNT(roads); r++) {
        if (roads[r].open != duckdb_by_duckdb && roads[r].open != csv_by_memory && roads[r].open != parts_by_postgres) continue;
        tmi_engine *engine = roads[r].open(list, 5, 1);
        for (size_t i = 0; i < COUNT(bad); i++) {
            tmi_point_list got = {.count = 7};
            tamis_error err = {0};
            assert_int_equal(tmi_engine_points_check(engine, &bad[i].request, NULL, &err), TAMIS_INVALID);
            if (!strstr(err.message, bad[i].word)) fail_msg("%zu: %s", i, err.message);
            assert_int_equal(tmi_engine_points(&got, engine, &bad[i].request, NULL, &err), TAMIS_INVALID);
            if (!strstr(err.message, bad[i].word)) fail_msg("%zu: %s", i, err.message);
            assert_true(got.count == 0 && !got.points && !got.counts);
        }
        engine->free(engine);
    }
    free(list);
}

/* Before the charge a column that is missing is the caller's mistake, afterwards it is not. */
static void a_source_that_changes(void **state)
{
    (void)state;
    static const tmi_column absent = {.name = "absent", .grid = {0, 9, 1, 0, 9}};
    const tmi_points_request asked = {.value = &absent};
    row *list = random_rows(5, 2, 2);
    for (size_t r = 0; r < COUNT(roads); r++) {
        tmi_engine *engine = roads[r].open(list, 5, 1);
        const tmi_inventory all = {.columns = &(const tmi_column *){&absent}, .column_count = 1};
        tmi_inventory copy = all;
        tmi_point_list got;
        tamis_error err = {0};
        assert_int_equal(engine->describe(engine, &copy, NULL, NULL), TAMIS_INVALID);
        const tamis_status status = tmi_engine_points(&got, engine, &asked, NULL, &err);
        if (status != TAMIS_SYSTEM || err.status != TAMIS_SYSTEM) fail_msg("%s: %d, %s", roads[r].name, (int)status, err.message);
        assert_null(got.points);
        engine->free(engine);
    }
    const char *files[] = {write_csv("gone.csv", list, 5)};
    for (int kind = 0; kind < 2; kind++) {
        tmi_engine *engine = open_files(kind == 0 ? tmi_engine_duckdb : tmi_engine_memory, files, 1, 1);
        tmi_point_list got;
        write_csv("gone.csv", list, 5);
        assert_int_equal(tmi_engine_points(&got, engine, &lists[0].request, NULL, NULL), TAMIS_OK);
        tmi_point_list_clear(&got);
        assert_int_equal(remove(files[0]), 0);
        assert_int_equal(tmi_engine_points(&got, engine, &lists[0].request, NULL, NULL), TAMIS_SYSTEM);
        assert_null(got.points);
        engine->free(engine);
    }
    forget_rows_in_memory();
    free(list);
}

/* ---- databases in parts ---- */

static void units_in_several_databases_are_refused(void **state)
{
    (void)state;
    row *list = random_rows(9, 3, 2);
    write_table("plain", "refused", false, list, 9, 0, 1);
    const char *const texts[] = {server_text(), server_text()};
    tmi_engine *engine = open_server(texts, 2, "plain.refused", false, 1);
    const tmi_points_request asked = {.value = &x, UNITS(1)};
    tmi_point_list got;
    assert_int_equal(tmi_engine_points_check(engine, &asked, NULL, NULL), TAMIS_REFUSED);
    assert_int_equal(tmi_engine_points(&got, engine, &asked, NULL, NULL), TAMIS_REFUSED);
    engine->free(engine);
    free(list);
}

/* ---- stopping, memory ---- */

static int stop(void *context, double share, int64_t rows)
{
    assert_true(share <= 1 && rows >= 0);
    ++*(int *)context;
    return 1;
}

/* A server may have answered before it is asked. DuckDB forgets memory when it is interrupted, so it is left out. */
static void every_road_can_be_stopped(void **state)
{
    (void)state;
    const size_t n = 9000;
    row *list = random_rows(n, 50, 9);
    for (size_t r = 0; r < COUNT(roads); r++) {
        int calls = 0;
        tmi_point_list got;
        tamis_error err = {0};
        if (strncmp(roads[r].name, "duckdb", 6) == 0) continue;
        tmi_engine *engine = roads[r].open(list, n, 2);
        const tamis_status status = tmi_engine_points(&got, engine, &lists[3].request, &(tamis_watch){stop, &calls}, &err);
        if (status == TAMIS_OK && calls == 0) tmi_point_list_clear(&got);
        else if (status != TAMIS_SYSTEM || strcmp(err.message, "cancelled") != 0)
            fail_msg("%s: %d, %s", roads[r].name, (int)status, err.message);
        assert_null(got.points);
        engine->free(engine);
    }
    forget_rows_in_memory();
    free(list);
}

static void memory_may_fail(void **state)
{
    (void)state;
    row *list = random_rows(10, 3, 2);
    tmi_engine *engines[] = {duckdb_by_duckdb(list, 10, 1), parts_by_memory(list, 10, 1), parts_by_memory(list, 10, 1)};
    const size_t asked[] = {0, 10}; /* each session of DuckDB takes its time: there, a small request */
    tmi_point_list got;
    engines[2]->points = NULL;
    for (size_t i = 0; i < COUNT(engines); i++) {
        const tmi_points_request small = {.value = &x_plain, .weight = &is_both, .max_weight = 1, BY(by_g)};
        const tmi_points_request *request = i < 2 ? &lists[asked[i]].request : &small;
        EVERY_ALLOCATION_FAILS(tmi_engine_points_check(engines[i], request, NULL, NULL), {});
        EVERY_ALLOCATION_FAILS(tmi_engine_points(&got, engines[i], request, NULL, NULL),
                               assert_true(got.count == 0 && !got.points && !got.cells && !got.weights && !got.counts));
        tmi_point_list_clear(&got);
        engines[i]->free(engines[i]);
    }
    free(list);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(no_row),
        cmocka_unit_test(one_row),
        cmocka_unit_test(units_and_groups),
        cmocka_unit_test(many_rows),
        cmocka_unit_test(bad_requests),
        cmocka_unit_test(a_source_that_changes),
        cmocka_unit_test(units_in_several_databases_are_refused),
        cmocka_unit_test(every_road_can_be_stopped),
        cmocka_unit_test(memory_may_fail),
    };
    return cmocka_run_group_tests(all, make_folder, remove_folder);
}
