/* The same integers in plain SQL that DuckDB, PostgreSQL and Spark all understand: what an engine without functions of
 * ours asks for. Finite test first (NULL and NaN would be clamped), clamp, divide, floor of + 0.5, cast, clamp again.
 * Classes and products are a CASE each. */
#include "tests/test.h"

#include "tests/engine/duckdb_sql.h"
#include "tests/engine/folder.h"

static const char *const g_values[] = {"E", "M", "H"};
static const tmi_column x = {.name = "x",
                             .kind = TMI_NUMBER,
                             .grid = {.from = -10, .to = 100, .step = 0.3, .low = -33, .high = 333}};
static const tmi_column y = {.name = "y",
                             .kind = TMI_NUMBER,
                             .grid = {.from = -1e6, .to = 1e6, .step = 0.25, .low = -4000000, .high = 4000000}};
static const tmi_column g = {.name = "g", .kind = TMI_CATEGORY, .values = g_values, .value_count = 3};
static const int32_t classes[] = {1, 2, -1};
static const tmi_column xy = {.name = "xy",
                              .kind = TMI_PRODUCT,
                              .of = &x,
                              .second = &y,
                              .shift = 10,
                              .grid = {.low = -100000, .high = 1000000},
                              .has_instead = true,
                              .instead = -7};
static const tmi_column g_class = {
    .name = "g class", .kind = TMI_CLASSES, .of = &g, .classes = classes, .value_count = 3, .has_instead = true};
static const tmi_column *const by[] = {&g_class};
#define MEASURES 6
static const tmi_measure measures[MEASURES] = {ROWS_WITH(NULL), SUM_OF(&x),    ROWS_WITH(&x),
                                               SUM_OF(&y),      ROWS_WITH(&y), SUM_OF(&xy)};
static const tmi_table table = {by, 1, measures, MEASURES};
static const tmi_request request = {.tables = &table, .table_count = 1};

static void write_point(char *sql, size_t size, const tmi_column *column)
{
    snprintf(sql, size,
             "CASE WHEN abs(%s) <= 1.7976931348623157e308 THEN least(greatest(CAST(floor("
             "least(greatest(%s, %.16e), %.16e) / %.16e + 5e-1) AS BIGINT), %lld), %lld) END",
             column->name, column->name, column->grid.from, column->grid.to, column->grid.step, (long long)column->grid.low,
             (long long)column->grid.high);
}

static void same_integers(void **state)
{
    (void)state;
    const char *path = in_folder("portable.parquet");
    char sql[4096], point_x[512], point_y[512];
    snprintf(sql, sizeof sql,
             "COPY (SELECT CASE WHEN i %% 50 = 0 THEN NULL WHEN i %% 50 = 1 THEN 'nan'::DOUBLE WHEN i %% 50 = 2 THEN "
             "'inf'::DOUBLE WHEN i %% 50 = 3 THEN '-inf'::DOUBLE WHEN i %% 50 = 4 THEN 1e308 WHEN i %% 50 = 5 THEN -1e308 "
             "WHEN i %% 50 = 6 THEN 1e-310 WHEN i %% 50 = 7 THEN -0e0 WHEN i %% 50 < 20 THEN (hash(i) %% 4000)::DOUBLE / "
             "8 - 50 ELSE (hash(i) %% 1000000)::DOUBLE / 7e3 END AS x, (hash(i + 1) %% 17000000)::DOUBLE / 8 - 1050000 "
             "AS y, ['E', 'M', 'H', ' E ', 'e', '', NULL][1 + (hash(i + 2) %% 7)::INT] AS g FROM range(100000) t(i)) TO "
             "'%s' (FORMAT parquet)",
             path);
    run_sql(sql);
    write_point(point_x, sizeof point_x, &x);
    write_point(point_y, sizeof point_y, &y);
    snprintf(
        sql, sizeof sql,
        "SELECT CAST(g AS INTEGER), count(*), CAST(sum(x) AS HUGEINT), count(x), CAST(sum(y) AS HUGEINT), count(y), "
        "CAST(sum(CASE WHEN x IS NULL OR y IS NULL THEN -7 ELSE CAST(least(greatest(floor(CAST(x AS DOUBLE) * CAST(y AS "
        "DOUBLE) * 9.765625e-4 + 5e-1), -1e5), 1e6) AS BIGINT) END) AS HUGEINT) FROM (SELECT CASE trim(g) WHEN 'E' THEN 1 "
        "WHEN 'M' THEN 2 WHEN 'H' THEN NULL ELSE 0 END AS g, %s AS x, %s AS y FROM '%s') AS points WHERE g IS NOT NULL GROUP "
        "BY g ORDER BY g",
        point_x, point_y, path);

    tmi_int128 got[3 * MEASURES], *const places[] = {got};
    tmi_engine *engine = open_engine(&path, 1, 2);
    assert_int_equal(engine->aggregate(engine, places, &request, NULL, NULL), TAMIS_OK);
    engine->free(engine);

    const tmi_duckdb_api *api = tmi_duckdb_load(NULL);
    duckdb_database database;
    duckdb_connection connection;
    duckdb_result result;
    assert_int_equal(api->open_ext(NULL, &database, NULL, NULL), DuckDBSuccess);
    assert_int_equal(api->connect(database, &connection), DuckDBSuccess);
    if (api->query(connection, sql, &result) == DuckDBError) fail_msg("%s", api->result_error(&result));
    duckdb_data_chunk chunk = api->fetch_chunk(result);
    assert_int_equal(api->data_chunk_get_size(chunk), 3);
    for (size_t m = 0; m < MEASURES; m++) {
        const void *data = api->vector_get_data(api->data_chunk_get_vector(chunk, m + 1));
        for (size_t c = 0; c < 3; c++) {
            tmi_int128 right;
            if (measures[m].factor_count == 1) memcpy(&right, (const duckdb_hugeint *)data + c, sizeof right);
            else right = ((const int64_t *)data)[c];
            assert_true(right != 0);
            assert_true(got[c * MEASURES + m] == right);
        }
    }
    api->destroy_data_chunk(&chunk);
    api->destroy_result(&result);
    api->disconnect(&connection);
    api->close(&database);
}

int main(void)
{
    const struct CMUnitTest all[] = {cmocka_unit_test(same_integers)};
    return cmocka_run_group_tests(all, make_folder, remove_folder);
}
