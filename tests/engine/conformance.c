/* One table of rows, several requests, many roads: each engine, one file and several, one thread and two, rows in order and
 * shuffled. The integers must be those of reference.h, bit for bit. A new engine adds a line to `roads` (roads.h). */
#include "tests/test.h"

#include <math.h>
#include <time.h>

#include "engine/core/cells.h"
#include "engine/sql/sql.h"
#include "tests/base/memory_that_fails.h"
#include "tests/engine/conformance_requests.h"
#include "tests/engine/random_rows.h"
#include "tests/engine/roads.h"

/* DuckDB's many allocations take most of the time of this test under the sanitizers. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "malloc_context_size=4:quarantine_size_mb=16:max_malloc_fill_size=0"; }

#define ANSWERS 2048
typedef struct answers {
    tmi_int128 of[4][ANSWERS];
} answers;

/* ---- all roads ---- */

static void expect(const char *road, tmi_engine *engine, const char *name, const tmi_request *request, const answers *right)
{
    answers got;
    tmi_int128 *const places[] = {got.of[0], got.of[1], got.of[2], got.of[3]};
    tamis_error err = {0};
    memset(&got, 1, sizeof got);
    if (engine->aggregate(engine, places, request, NULL, &err) != TAMIS_OK) fail_msg("%s, %s: %s", road, name, err.message);
    for (size_t t = 0; t < request->table_count; t++) {
        const tmi_table *table = &request->tables[t];
        const size_t count = tmi_table_cells(table) * table->measure_count;
        assert_true(count <= ANSWERS);
        for (size_t i = 0; i < count; i++)
            if (got.of[t][i] != right->of[t][i])
                fail_msg("%s, %s: table %zu, cell %zu, measure %zu: %lld, not %lld", road, name, t, i / table->measure_count,
                         i % table->measure_count, (long long)got.of[t][i], (long long)right->of[t][i]);
    }
}

/* -1: in none. */
static int64_t stratum_of(const tmi_column *strata, const row *row)
{
    int64_t code;
    return value_of(&code, strata, row, &(rows){.list = row, .count = 1}) ? code : -1;
}

/* Distinct labels of column c, of those rows whose stratum is `stratum` (-1: all rows, also those in none). */
static int64_t count_labels(const row *list, size_t n, size_t c, const tmi_column *strata, int64_t stratum)
{
    int64_t count = 0;
    for (size_t i = 0; i < n; i++) {
        char text[CELL], other[CELL];
        trimmed(text, list[i].text[c]);
        bool first = text[0] != '\0' && (stratum < 0 || stratum_of(strata, &list[i]) == stratum);
        for (size_t j = 0; j < i && first; j++) {
            trimmed(other, list[j].text[c]);
            first = strcmp(text, other) != 0 || (stratum >= 0 && stratum_of(strata, &list[j]) != stratum);
        }
        count += first;
    }
    return count;
}

static void expect_inventory(const char *road, tmi_engine *engine, const row *list, size_t n, bool clusters)
{
    const tmi_column *const columns[] = {&x, &y, &g, &h, &y_by, &is_nested, &groups, &class_number, &twice, &low_x};
    static const tmi_column *const strata[] = {&s, &sg, &sgh};
    int64_t rows_in[5], units_in[5], clusters_in[5];
    tmi_inventory all = {.columns = columns, .column_count = COUNT(columns), .rows = 7};
    tamis_error err = {0};
    if (engine->describe(engine, &all, NULL, &err) != TAMIS_OK) fail_msg("%s: %s", road, err.message);
    assert_int_equal(all.rows, n);
    if (n > 300) return;
    for (size_t i = 0; i < COUNT(strata); i++) {
        all = (tmi_inventory){.unit = &unit,
                              .cluster = clusters ? &label : NULL,
                              .stratum = strata[i],
                              .rows_in = rows_in,
                              .units_in = units_in,
                              .clusters_in = clusters_in};
        if (engine->describe(engine, &all, NULL, &err) != TAMIS_OK) fail_msg("%s: %s", road, err.message);
        assert_int_equal(all.rows, n);
        assert_int_equal(all.units, count_labels(list, n, ID, NULL, -1));
        for (int64_t stratum = 0; stratum < (int64_t)strata[i]->value_count; stratum++) {
            int64_t rows_there = 0;
            for (size_t k = 0; k < n; k++) rows_there += stratum_of(strata[i], &list[k]) == stratum;
            assert_int_equal(rows_in[stratum], rows_there);
            assert_int_equal(units_in[stratum], count_labels(list, n, ID, strata[i], stratum));
            if (clusters) assert_int_equal(clusters_in[stratum], count_labels(list, n, C, strata[i], stratum));
        }
    }
    all = (tmi_inventory){.unit = &unit, .cluster = clusters ? &label : NULL, .rows_in = rows_in, .clusters_in = clusters_in};
    if (engine->describe(engine, &all, NULL, &err) != TAMIS_OK) fail_msg("%s: %s", road, err.message);
    assert_true(all.rows == (int64_t)n && rows_in[0] == (int64_t)n);
    assert_int_equal(clusters_in[0], clusters ? count_labels(list, n, C, NULL, -1) : 0);
}

/* Each session of DuckDB takes its time. No row and one row get two requests; of the requests for few rows every road
 * takes each with one number of threads, or two of three, but those whose answers may use what was counted before; of the
 * requests for many rows a database takes each with one number of threads for 2049 rows and with the other for 12000, or with
 * both; and sums straight from doubles are not for databases. */
static bool is_due(size_t n, size_t request, size_t road, unsigned threads)
{
    const bool in_database = strncmp(roads[road].name, "duckdb", 6) == 0 || strncmp(roads[road].name, "postgres", 8) == 0;
    if (in_database && requests[request].request.tables == &moment_table) return false;
    if (n <= 1) return request % 5 == 0;
    if (requests[request].request.tables == unit_tables) return true;
    if (n > 300) return !in_database || test_size(0, 1) || (request + road + threads + (n > 3000)) % 2 == 0;
    return (request + road + threads) % (size_t)test_size(3, 2) == 0;
}

static void all_roads(size_t n)
{
    static answers right[COUNT(requests)];
    row *list = random_rows(n, n / 3 + 1, 9);
    const rows all = {.list = list, .count = n};
    for (size_t q = 0; q < COUNT(requests); q++) {
        tmi_int128 *const places[] = {right[q].of[0], right[q].of[1], right[q].of[2], right[q].of[3]};
        if (n <= requests[q].most_rows) right_answers(places, &requests[q].request, &all);
    }
    for (size_t r = 0; r < COUNT(roads); r++)
        for (unsigned threads = 1; threads <= (n > 1 ? 2 : 1); threads++) {
            tmi_engine *engine = roads[r].open(list, n, threads);
            const bool first = (r + threads) % 2 == 0; /* what it counts then, later requests may use */
            if (first) expect_inventory(roads[r].name, engine, list, n, !roads[r].is_parted);
            for (size_t q = 0; q < COUNT(requests); q++) {
                const bool refused = roads[r].is_parted && has_groups(&requests[q].request);
                if (n <= requests[q].most_rows && !refused && is_due(n, q, r, threads))
                    expect(roads[r].name, engine, requests[q].name, &requests[q].request, &right[q]);
            }
            if (n <= 1 && !first) expect_inventory(roads[r].name, engine, list, n, !roads[r].is_parted);
            engine->free(engine);
            shuffle(list, n);
        }
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

static void some_rows(void **state)
{
    (void)state;
    all_roads(2049);
}

static void many_rows(void **state)
{
    (void)state;
    all_roads(12000); /* several row groups, several pieces of every reader */
}

/* ---- units whose points are bounded together ---- */

static void points_of_units_are_bounded(void **state)
{
    (void)state;
    static answers right;
    tmi_int128 *const places[] = {right.of[0], right.of[1]};
    for (size_t n = 0; n <= 300; n += 100) {
        row *list = random_rows(n, n / 6 + 1, 9);
        const rows all = {.list = list, .count = n};
        for (int64_t most = 2; most <= 40; most += 38) {
            const tmi_request request = {
                .tables = bounded_tables, .table_count = 2, .unit = &unit, .rows_per_unit = most, .key = key};
            right_answers(places, &request, &all);
            for (size_t r = 0; r < COUNT(roads); r++) {
                tmi_engine *engine = roads[r].open(list, n, 1 + (unsigned)r % 2);
                tmi_request asked = request;
                if (roads[r].is_parted) { /* no groups, and so other rows of large units */
                    asked.table_count = 1;
                    right_answers(places, &asked, &all);
                }
                if (r % 2 == 0) expect_inventory(roads[r].name, engine, list, n, !roads[r].is_parted);
                expect(roads[r].name, engine, "bounded units", &asked, &right);
                if (roads[r].is_parted) right_answers(places, &request, &all);
                engine->free(engine);
                shuffle(list, n);
            }
            forget_rows_in_memory();
        }
        free(list);
    }
    const tmi_request one = {.tables = bounded_tables, .table_count = 1, .unit = &unit, .rows_per_unit = 2, .key = key},
                      without = {.tables = bounded_tables, .table_count = 1};
    for (size_t i = 0; i < 2; i++) { /* what an engine says that does not know them */
        tmi_layout layout;
        assert_int_equal(tmi_layout_init(&layout, i == 0 ? &one : &requests[0].request, NULL), TAMIS_OK);
        assert_int_equal(tmi_refuse_bounded_units(&layout, "it", NULL), i == 0 ? TAMIS_REFUSED : TAMIS_OK);
        tmi_layout_clear(&layout);
    }
    assert_int_equal(tmi_request_check(&without, NULL), TAMIS_INVALID);
    tmi_column none = of_unit;
    none.most_of_unit = -1;
    assert_int_equal(tmi_column_check(&none, NULL), TAMIS_INVALID);
}

/* Each row is a unit of its own, and a block of rows is added as it is. */
static void units_that_no_bound_concerns(void **state)
{
    (void)state;
    static answers right;
    tmi_int128 *const places[] = {right.of[0]};
    const size_t n = 100;
    row *list = random_rows(n, n, 9);
    const rows all = {.list = list, .count = n};
    for (size_t i = 0; i < n; i++) snprintf(list[i].text[ID], CELL, "u%zu", i);
    const tmi_request request = {.tables = loose_tables, .table_count = 1, .unit = &unit, .rows_per_unit = 3, .key = key};
    right_answers(places, &request, &all);
    for (size_t r = 0; r < COUNT(roads); r++) {
        tmi_engine *engine = roads[r].open(list, n, 1 + (unsigned)r % 2);
        expect(roads[r].name, engine, "loose bounds", &request, &right);
        engine->free(engine);
    }
    forget_rows_in_memory();
    free(list);
}

/* ---- rows ---- */

typedef struct tally {
    size_t rows, x_missing, g_missing, labels;
    long double x_sum;
    int64_t g_sum;
    size_t stop_at; /* rows */
} tally;

static tamis_status take(void *context, const tmi_piece *piece, tamis_error *err)
{
    (void)err;
    tally *t = context;
    const double *xs = piece->columns[0];
    const int32_t *gs = piece->columns[1];
    const int64_t *units = piece->columns[2];
    for (size_t i = 0; i < piece->rows; i++) {
        t->x_missing += isnan(xs[i]) != 0;
        t->x_sum += isnan(xs[i]) || fabs(xs[i]) > 1e6 ? 0 : (long double)xs[i];
        t->g_missing += gs[i] == -1;
        t->g_sum += gs[i];
        if (units[i] >= (int64_t)t->labels) t->labels = (size_t)units[i] + 1;
    }
    t->rows += piece->rows;
    return t->rows >= t->stop_at ? TAMIS_REFUSED : TAMIS_OK;
}

static void rows_come_as_they_stand(void **state)
{
    (void)state;
    const size_t n = 5000;
    const tmi_column *const columns[] = {&x, &g, &unit}, *const made[] = {&x, &x_cut};
    row *list = random_rows(n, 50, 1);
    tally right = {.labels = 50};
    for (size_t i = 0; i < n; i++) {
        const double v = list[i].number[X] == 97 ? NAN : list[i].number[X];
        right.x_missing += isnan(v) != 0;
        right.x_sum += isnan(v) || fabs(v) > 1e6 ? 0 : (long double)v;
        right.g_missing += code_of_text(&g, list[i].text[G]) == -1;
        right.g_sum += code_of_text(&g, list[i].text[G]);
    }
    for (size_t r = 0; r < COUNT(roads); r++) {
        tmi_engine *engine = roads[r].open(list, n, 2);
        tally got = {.stop_at = SIZE_MAX};
        if (strncmp(roads[r].name, "sql", 3) == 0) { /* these have sums alone */
            assert_int_equal(engine->rows(engine, columns, 3, take, &got, NULL), TAMIS_INVALID);
            engine->free(engine);
            continue;
        }
        assert_int_equal(engine->rows(engine, columns, 3, take, &got, NULL), TAMIS_OK);
        assert_int_equal(got.rows, n);
        assert_int_equal(got.x_missing, right.x_missing);
        assert_int_equal(got.g_missing, right.g_missing);
        assert_int_equal(got.g_sum, right.g_sum);
        assert_int_equal(got.labels, right.labels);
        assert_true(fabsl(got.x_sum - right.x_sum) < 1e-6L);
        got = (tally){.stop_at = 1};
        assert_int_equal(engine->rows(engine, columns, 3, take, &got, NULL), TAMIS_REFUSED);
        assert_true(got.rows < n);
        assert_int_equal(engine->rows(engine, made, 2, take, &got, NULL), TAMIS_INVALID);
        engine->free(engine);
    }
    free(list);
}

/* ---- stopping ---- */

typedef struct stopper {
    int calls;
    struct timespec asked;
} stopper;

static int stop(void *context, double share, int64_t rows)
{
    stopper *s = context;
    assert_true(share <= 1 && rows >= 0);
    if (s->calls++ == 0) clock_gettime(CLOCK_MONOTONIC, &s->asked);
    return 1;
}

static double seconds_since(struct timespec start)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start.tv_sec) + 1e-9 * (double)(now.tv_nsec - start.tv_nsec);
}

/* Who asks to stop is obeyed: within a second on a machine that has time, and the time is printed. A server may have
 * answered before it is asked. DuckDB, which forgets memory when it is interrupted, is stopped in tests/cli/release.py. */
static void every_road_can_be_stopped(void **state)
{
    (void)state;
    const size_t n = 9000;
    row *list = random_rows(n, 50, 9);
    double slowest = 0;
    for (size_t r = 0; r < COUNT(roads); r++) {
        static answers got;
        tmi_int128 *const places[] = {got.of[0], got.of[1], got.of[2], got.of[3]};
        if (strncmp(roads[r].name, "duckdb", 6) == 0) continue;
        tmi_engine *engine = roads[r].open(list, n, 2);
        for (size_t q = 0; q < 2; q++) {
            stopper s = {0};
            tamis_error err = {0};
            memset(&got, 1, sizeof got);
            const tamis_status status = engine->aggregate(engine, places, &requests[q].request, &(tamis_watch){stop, &s}, &err);
            const double took = s.calls > 0 ? seconds_since(s.asked) : 0;
            if (status == TAMIS_OK && s.calls == 0) continue;
            if (status != TAMIS_SYSTEM || strcmp(err.message, "cancelled") != 0)
                fail_msg("%s: %d, %s", roads[r].name, (int)status, err.message);
            assert_true(got.of[0][0] == 0 && got.of[3][0] == 0);
            slowest = took > slowest ? took : slowest;
        }
        engine->free(engine);
    }
    print_message("# stopped within %.3f seconds\n", slowest);
    forget_rows_in_memory();
    free(list);
}

/* ---- memory ---- */

/* The questions to PostgreSQL, without a server. */
static tamis_status write_questions(const tmi_request *request)
{
    tmi_layout layout;
    tmi_sql_passes passes = {0};
    tmi_sql_type types[64];
    tmi_text sql;
    tamis_status status;
    tmi_text_init(&sql);
    TMI_TRY(tmi_layout_init(&layout, request, NULL));
    assert_true(layout.column_count <= COUNT(types));
    for (size_t c = 0; c < layout.column_count; c++)
        types[c] = layout.columns[c]->kind == TMI_NUMBER ? TMI_SQL_DOUBLE : TMI_SQL_TEXT;
    TMI_TRY(tmi_sql_passes_init(&passes, &tmi_dialect_postgres, &layout, 0, NULL));
    for (size_t p = 0; p < passes.count; p++)
        TMI_TRY(tmi_sql_pass_write(
            &sql, &passes.list[p],
            &(tmi_sql_source){.dialect = &tmi_dialect_postgres, .table = "t", .layout = &layout, .types = types}, NULL));
    assert_true(request->tables != crossed_tables || (strstr(sql.bytes, " AS d") && strstr(sql.bytes, " AS p")));
done:
    tmi_text_clear(&sql);
    tmi_sql_passes_clear(&passes);
    tmi_layout_clear(&layout);
    return status;
}

static void memory_may_fail(void **state)
{
    (void)state;
    row *list = random_rows(10, 3, 2);
    const tmi_column *const columns[] = {&x, &g, &unit};
    static const tmi_table small = {by_g, 1, plain, 2}, large[] = {{by_groups, 2, many + 12, 3},
                                                                   {by_products, 2, products + 15, 3},
                                                                   {NULL, 0, crossed, COUNT(crossed)}};
    static const tmi_int128 zero[36];
    tmi_int128 got[3][36], *const places[] = {got[0], got[1], got[2]};
    int64_t rows_in[2], units_in[2], clusters_in[2];
    for (int kind = 0; kind < 2; kind++) { /* each session of DuckDB takes its time: there, a small request */
        tmi_engine *engine = (kind == 0 ? duckdb_by_duckdb : parts_by_memory)(list, 10, 1);
        const tmi_request asked = {.tables = kind == 0 ? &small : large,
                                   .table_count = kind == 0 ? 1 : 3,
                                   .unit = kind == 0 ? NULL : &unit,
                                   .rows_per_unit = 1,
                                   .key = key};
        tally tally = {.stop_at = SIZE_MAX};
        tmi_inventory all = {.columns = columns,
                             .column_count = 3,
                             .stratum = kind == 0 ? NULL : &s,
                             .unit = &unit,
                             .cluster = kind == 0 ? NULL : &label,
                             .rows_in = rows_in,
                             .units_in = units_in,
                             .clusters_in = clusters_in};
        EVERY_ALLOCATION_FAILS(engine->describe(engine, &all, NULL, NULL), {
            assert_true(all.rows == 0 && all.units == 0 && rows_in[0] == 0 && units_in[0] == 0 && clusters_in[0] == 0);
        });
        EVERY_ALLOCATION_FAILS((memset(got, 1, sizeof got), engine->aggregate(engine, places, &asked, NULL, NULL)), {
            assert_memory_equal(got[0], zero, (kind == 0 ? 6 : 36) * sizeof **got);
            assert_memory_equal(got[1], zero, (kind == 0 ? 0 : 30) * sizeof **got);
            assert_memory_equal(got[2], zero, (kind == 0 ? 0 : COUNT(crossed)) * sizeof **got);
        });
        EVERY_ALLOCATION_FAILS(engine->rows(engine, columns, 3, take, &tally, NULL), {});
        engine->free(engine);
    }
    for (size_t q = 0; q < COUNT(requests); q++) EVERY_ALLOCATION_FAILS(write_questions(&requests[q].request), {});
    const char *csv = write_csv("small.csv", list, 10);
    const tmi_source source = {.files = &csv, .file_count = 1, .table = "t"};
    tmi_engine *engine;
    EVERY_ALLOCATION_FAILS(tmi_engine_duckdb(&engine, &source, 1, NULL), assert_null(engine));
    engine->free(engine);
    EVERY_ALLOCATION_FAILS(tmi_engine_memory(&engine, &source, 1, NULL), assert_null(engine));
    engine->free(engine);
    free(list);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(no_row),
        cmocka_unit_test(one_row),
        cmocka_unit_test(units_and_groups),
        cmocka_unit_test(some_rows),
        cmocka_unit_test(many_rows),
        cmocka_unit_test(points_of_units_are_bounded),
        cmocka_unit_test(units_that_no_bound_concerns),
        cmocka_unit_test(rows_come_as_they_stand),
        cmocka_unit_test(every_road_can_be_stopped),
        cmocka_unit_test(memory_may_fail),
    };
    return cmocka_run_group_tests(all, make_folder, remove_folder);
}
