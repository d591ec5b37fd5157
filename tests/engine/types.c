/* Ids, strata, clusters and categories of every type that they may have, on every engine: the integers are those of their
 * canonical texts (engine/core/canonical.h), bit for bit, whatever type holds them and in whatever parts. And what is refused. */
#include "tests/test.h"

#include "engine/duckdb/types.h"
#include "engine/files/frame.h"
#include "tests/engine/folder.h"
#include "tests/engine/spark_run.h"
#include "tests/engine/sql_roads.h"
#include "tests/engine/typed_rows.h"

/* DuckDB's many allocations take most of the time of this test under the sanitizers. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "malloc_context_size=4:quarantine_size_mb=16:max_malloc_fill_size=0"; }

/* ---- the same values in many types ---- */

typedef enum kind { PARQUET, DUCKDB, POSTGRES, ARRAYS, ARROW, STATISTICS, SQL_DUCKDB, SQL_POSTGRES, SQL_SPARK } kind;

static const struct road {
    kind kind;
    const char *types[MOST_PARTS]; /* one per part; of STATISTICS, files */
    readstat_type_t type;
} whole_roads[] =
    {
        {PARQUET, {"BIGINT"}, 0},
        {PARQUET, {"DECIMAL(9,2)"}, 0},
        {PARQUET, {"BIGINT", "DOUBLE", "DECIMAL(5,3)", "FLOAT"}, 0},
        {DUCKDB, {"HUGEINT", "TINYINT"}, 0},
        {POSTGRES, {"int2"}, 0},
        {POSTGRES, {"int4"}, 0},
        {POSTGRES, {"int8"}, 0},
        {POSTGRES, {"numeric"}, 0},
        {POSTGRES, {"float8"}, 0},
        {POSTGRES, {"float4"}, 0},
        {POSTGRES, {"numeric(7,3)"}, 0},
        {POSTGRES, {"int8", "float8", "numeric", "float4"}, 0},
        {ARRAYS, {"g"}, 0},
        {ARROW, {"g"}, 0},
        {ARROW, {"f"}, 0},
        {ARROW, {"l"}, 0},
        {SQL_DUCKDB, {"BIGINT"}, 0},
        {SQL_DUCKDB, {"TINYINT"}, 0},
        {SQL_DUCKDB, {"DECIMAL(9,2)"}, 0},
        {SQL_DUCKDB, {"DOUBLE"}, 0},
        {SQL_DUCKDB, {"FLOAT"}, 0},
        {SQL_DUCKDB, {"HUGEINT"}, 0},
        {SQL_POSTGRES, {"int2"}, 0},
        {SQL_POSTGRES, {"numeric"}, 0},
        {SQL_POSTGRES, {"float4"}, 0},
        {SQL_SPARK, {"BIGINT"}, 0},
        {SQL_SPARK, {"TINYINT"}, 0},
        {SQL_SPARK, {"DECIMAL(9,2)"}, 0},
        {STATISTICS, {"t.sav"}, READSTAT_TYPE_DOUBLE},
        {STATISTICS, {"t.zsav"}, READSTAT_TYPE_DOUBLE},
        {STATISTICS, {"t.xpt"}, READSTAT_TYPE_DOUBLE},
        {STATISTICS, {"t.sas7bdat"}, READSTAT_TYPE_DOUBLE},
        {STATISTICS, {"t.dta"}, READSTAT_TYPE_INT8},
        {STATISTICS, {"t.dta"}, READSTAT_TYPE_FLOAT},
        {STATISTICS, {"a.sav", "b.dta", "c.xpt"}, READSTAT_TYPE_DOUBLE},
},
  half_roads[] =
      {
          {PARQUET, {"DECIMAL(9,3)", "DOUBLE", "FLOAT"}, 0},
          {DUCKDB, {"DECIMAL(38,10)"}, 0},
          {SQL_DUCKDB, {"DECIMAL(38,10)"}, 0},
          {SQL_DUCKDB, {"DOUBLE"}, 0},
          {SQL_POSTGRES, {"numeric"}, 0},
          {SQL_SPARK, {"DECIMAL(38,10)"}, 0},
          {POSTGRES, {"numeric", "float8"}, 0},
          {POSTGRES, {"float4"}, 0},
          {ARROW, {"f"}, 0},
          {STATISTICS, {"t.sav", "t.dta"}, READSTAT_TYPE_DOUBLE},
},
  double_roads[] =
      {
          {PARQUET, {"DOUBLE"}, 0},
          {SQL_DUCKDB, {"DOUBLE"}, 0},
          {SQL_POSTGRES, {"float8"}, 0},
          {POSTGRES, {"float8"}, 0},
          {POSTGRES, {"numeric"}, 0},
          {ARRAYS, {"g"}, 0},
          {STATISTICS, {"t.sav"}, READSTAT_TYPE_DOUBLE},
          {STATISTICS, {"t.dta"}, READSTAT_TYPE_DOUBLE},
},
  float_roads[] =
      {
          {PARQUET, {"FLOAT", "DOUBLE"}, 0},
          {SQL_DUCKDB, {"FLOAT"}, 0},
          {SQL_POSTGRES, {"float4"}, 0},
          {POSTGRES, {"float4"}, 0},
          {POSTGRES, {"float4", "float8", "numeric"}, 0},
          {ARROW, {"f"}, 0},
          {STATISTICS, {"t.dta"}, READSTAT_TYPE_FLOAT},
},
  huge_roads[] =
      {
          {DUCKDB, {"HUGEINT"}, 0},        {SQL_DUCKDB, {"HUGEINT"}, 0}, {SQL_DUCKDB, {"DECIMAL(38,0)"}, 0},
          {PARQUET, {"DECIMAL(38,0)"}, 0}, {POSTGRES, {"numeric"}, 0},   {SQL_SPARK, {"DECIMAL(38,0)"}, 0},
},
  text_roads[] =
      {
          {PARQUET, {"VARCHAR"}, 0},
          {DUCKDB, {"ENUM('a', 'A', '017', '17', '17.0', 'caf\xc3\xa9')", "VARCHAR"}, 0},
          {POSTGRES, {"text"}, 0},
          {POSTGRES, {"letters", "varchar(9)", "name"}, 0},
          {POSTGRES, {"a_domain"}, 0},
          {SQL_DUCKDB, {"VARCHAR"}, 0},
          {SQL_DUCKDB, {"ENUM('a', 'A', '017', '17', '17.0', 'caf\xc3\xa9')"}, 0},
          {SQL_POSTGRES, {"text"}, 0},
          {SQL_POSTGRES, {"varchar(9)"}, 0},
          {SQL_SPARK, {"VARCHAR"}, 0},
},
  boolean_roads[] = {{PARQUET, {"BOOLEAN"}, 0},
                     {POSTGRES, {"boolean"}, 0},
                     {SQL_DUCKDB, {"BOOLEAN"}, 0},
                     {SQL_POSTGRES, {"boolean"}, 0},
                     {SQL_SPARK, {"BOOLEAN"}, 0}},
  date_roads[] = {{PARQUET, {"DATE"}, 0}, {POSTGRES, {"date"}, 0}, {SQL_DUCKDB, {"DATE"}, 0}, {SQL_POSTGRES, {"date"}, 0}},
  day_roads[] = {{PARQUET, {"DATE"}, 0}, {POSTGRES, {"date"}, 0}, {SQL_DUCKDB, {"DATE"}, 0}, {SQL_SPARK, {"DATE"}, 0}},
  uuid_roads[] = {{DUCKDB, {"UUID"}, 0}, {POSTGRES, {"uuid"}, 0}, {SQL_DUCKDB, {"UUID"}, 0}, {SQL_POSTGRES, {"uuid"}, 0}};

static const struct {
    const char *name;
    const char *texts[6]; /* canonical */
    const struct road *roads;
    size_t road_count;
} sets[] = {
    {"whole numbers", {"17", "0", "-3", "1", "2", "99"}, whole_roads, COUNT(whole_roads)},
    {"fractions", {"0.5", "17", "-2.25", "0", "1.75", "1024"}, half_roads, COUNT(half_roads)},
    {"doubles",
     {"0.1000000000000000055511151231257827021181583404541015625", "17", "99999999999999991611392", "0",
      "-0.333333333333333314829616256247390992939472198486328125", "9223372036854775808"},
     double_roads,
     COUNT(double_roads)},
    {"floats", {"0.100000001490116119384765625", "17", "16777216", "0", "-2.5", "123456792"}, float_roads, COUNT(float_roads)},
    {"huge numbers",
     {"99999999999999999999999999999999999999", "-9007199254740993", "9007199254740993", "9007199254740992", "17", "0"},
     huge_roads,
     COUNT(huge_roads)},
    {"texts", {"a", "A", "017", "17", "17.0", "caf\xc3\xa9"}, text_roads, COUNT(text_roads)},
    {"booleans", {"true", "false", "true", "false", "true", "false"}, boolean_roads, COUNT(boolean_roads)},
    {"dates",
     {"2000-01-31", "0044-03-15 BC", "infinity", "12000-12-01", "1969-12-31", "-infinity"},
     date_roads,
     COUNT(date_roads)},
    {"days",
     {"2000-01-31", "0044-03-15 BC", "9999-12-31", "12000-12-01", "1969-12-31", "0001-01-01"},
     day_roads,
     COUNT(day_roads)},
    {"UUIDs",
     {"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff",
      "80000000-0000-0000-0000-000000000001", "7fffffff-ffff-ffff-ffff-ffffffffffff", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a12"},
     uuid_roads,
     COUNT(uuid_roads)},
};

/* The values of g and s are those of the set that is tested. */
static tmi_column x = {.name = "x", .grid = {0, 100, 1, 0, 100}}, g = {.name = "g", .kind = TMI_CATEGORY, .value_count = 4},
                  s = {.name = "s", .kind = TMI_CATEGORY, .value_count = 2};
static const tmi_column unit = {.name = "id", .kind = TMI_LABEL}, label = {.name = "c \"1\"", .kind = TMI_LABEL},
                        stratum_label = {.name = "s", .kind = TMI_LABEL}, h_label = {.name = "h", .kind = TMI_LABEL};
static const int32_t cells_one[] = {3, 0, 0, 1, 2}, cells_two[] = {1, 1, 2};
static const int32_t *const cell_of[] = {cells_one, cells_two};
static const int64_t cluster_counts[] = {5, 3};
static const unsigned char key[TMI_KEY_BYTES] = "a key of thirty-two bytes, no mo";
static const tmi_column
    groups = {.name = "groups",
              .kind = TMI_GROUPS,
              .of = &label,
              .stratum = &s,
              .cell_of = cell_of,
              .cluster_counts = cluster_counts,
              .value_count = 4},
    scattered = {.name = "scattered", .kind = TMI_SCATTER, .of = &label, .stratum = &stratum_label, .key = key, .value_count = 8},
    scattered_in_all = {.name = "all scattered", .kind = TMI_SCATTER, .of = &h_label, .key = key, .value_count = 16};
static const tmi_column *const by_g[] = {&g}, *const by_scattered[] = {&scattered}, *const by_h[] = {&scattered_in_all},
                               *const by_groups[] = {&groups, &s};
static const tmi_measure measures[] = {ROWS_WITH(NULL), {.factors = {{&x, 0}}, .factor_count = 1, .low = 0, .high = 100}};
static const tmi_table tables[] = {{by_g, 1, measures, 2},
                                   {by_scattered, 1, measures, 2},
                                   {by_h, 1, measures, 2},
                                   {by_groups, 2, measures, 2}};
#define TABLES 4
#define ANSWERS 64

/* From a Parquet file. NULL: there is no Spark. */
static tmi_engine *open_typed_spark(const char *type, const row *list, size_t n)
{
    static tamis_source *last;
    static int door = -1;
    char view[700];
    if (!getenv("TAMIS_TEST_SPARK")) return NULL;
    select_typed(typed_select, sizeof typed_select, type, list, n, 0, 1);
    assert_true(snprintf(typed_sql, sizeof typed_sql, "COPY (%s) TO '%s/spark.parquet'", typed_select, folder) <
                (int)sizeof typed_sql);
    run_sql(typed_sql);
    if (door < 0) door = spark_open();
    snprintf(view, sizeof view, "CREATE OR REPLACE TEMPORARY VIEW t AS SELECT * FROM parquet.`%s/spark.parquet`", folder);
    spark_do(door, view);
    return open_sql(&last, "spark", "t", spark_run_sql, &door);
}

static tmi_engine *open_road(const struct road *road, const row *list, size_t n)
{
    static char files[MOST_PARTS][600];
    const char *names[MOST_PARTS];
    size_t parts = 0;
    switch (road->kind) {
    case PARQUET:
    case DUCKDB: return open_typed_files(road->types, road->kind == DUCKDB, list, n);
    case POSTGRES: return open_typed_tables(road->types, list, n);
    case ARRAYS:
    case ARROW: return open_typed_arrays(road->types[0], road->kind == ARROW, list, n);
    case SQL_DUCKDB:
        select_typed(typed_select, sizeof typed_select, road->types[0], list, n, 0, 1);
        assert_true(snprintf(typed_sql, sizeof typed_sql, "CREATE TABLE t AS %s", typed_select) < (int)sizeof typed_sql);
        return open_sql_duckdb(typed_sql, "t");
    case SQL_POSTGRES: {
        tmi_engine *engine = open_typed_tables(road->types, list, n); /* it writes the table */
        engine->free(engine);
        return open_sql_postgres("typed0.t");
    }
    case SQL_SPARK: return open_typed_spark(road->types[0], list, n);
    case STATISTICS: break;
    }
    while (parts < MOST_PARTS && road->types[parts]) parts++;
    for (size_t p = 0; p < parts; p++) {
        strcpy(files[p], write_typed_statistics(road->types[p], road->type, list, n, p, parts));
        names[p] = files[p];
    }
    tmi_engine *engine;
    assert_int_equal(tmi_engine_readstat(&engine, &(tmi_source){.files = names, .file_count = parts}, 1, NULL), TAMIS_OK);
    return engine;
}

static void expect_answers(const char *name, tmi_engine *engine, const tmi_request *request, tmi_int128 right[][ANSWERS])
{
    tmi_int128 got[TABLES][ANSWERS], *const places[] = {got[0], got[1], got[2], got[3]};
    tamis_error err = {0};
    if (engine->aggregate(engine, places, request, NULL, &err) != TAMIS_OK) fail_msg("%s: %s", name, err.message);
    for (size_t t = 0; t < request->table_count; t++)
        for (size_t i = 0; i < tmi_table_cells(&tables[t]) * 2; i++)
            if (got[t][i] != right[t][i])
                fail_msg("%s: table %zu, integer %zu: %lld, not %lld", name, t, i, (long long)got[t][i], (long long)right[t][i]);
}

static void expect_units(const char *name, tmi_engine *engine, const row *list, size_t n)
{
    tmi_inventory all = {.unit = &unit};
    tamis_error err = {0};
    int64_t units = 0;
    for (size_t i = 0; i < n; i++) {
        bool first = list[i].text[ID][0];
        for (size_t j = 0; j < i; j++) first = first && strcmp(list[i].text[ID], list[j].text[ID]) != 0;
        units += first;
    }
    if (engine->describe(engine, &all, NULL, &err) != TAMIS_OK) fail_msg("%s: %s", name, err.message);
    if (all.rows != (int64_t)n || all.units != units)
        fail_msg("%s: %lld units, not %lld", name, (long long)all.units, (long long)units);
}

static void every_type_on_every_engine(void **state)
{
    (void)state;
    enum { N = 60 };
    static row list[N];
    static tmi_int128 right[2][TABLES][ANSWERS]; /* without and with ranks, which servers cannot give over several parts */
    server_run("CREATE TYPE letters AS ENUM ('a', 'A', '017', '17', '17.0', 'caf\xc3\xa9'); CREATE DOMAIN a_domain AS text CHECK "
               "(VALUE <> 'b')");
    for (size_t k = 0; k < COUNT(sets); k++) {
        uint64_t seed = 7 + k;
        for (size_t i = 0; i < N; i++) {
            list[i].number[X] = (double)i;
            for (size_t c = 0; c < COUNT(typed); c++) {
                seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
                const size_t place = seed >> 40;
                strcpy(list[i].text[typed[c]], place % 13 == 0 ? "" : sets[k].texts[place % 6]);
            }
        }
        g.values = s.values = sets[k].texts;
        tmi_request request = {.tables = tables, .unit = &unit, .rows_per_unit = 4, .key = key};
        const rows all = {.list = list, .count = N};
        for (size_t ranks = 0; ranks < 2; ranks++) {
            tmi_int128 *const places[] = {right[ranks][0], right[ranks][1], right[ranks][2], right[ranks][3]};
            request.table_count = TABLES - 1 + ranks;
            right_answers(places, &request, &all);
        }
        for (size_t r = 0; r < sets[k].road_count; r++) {
            const struct road *road = &sets[k].roads[r];
            char name[256];
            snprintf(name, sizeof name, "%s, %s, %s%s", sets[k].name,
                     (const char *const[]){"parquet", "duckdb", "postgres", "arrays", "arrow", "file", "duckdb in SQL",
                                           "postgres in SQL", "spark"}[road->kind],
                     road->types[0], road->types[1] ? " and other parts" : "");
            tmi_engine *engine = open_road(road, list, N);
            if (!engine) continue;
            const bool ranks = !(road->kind == POSTGRES && road->types[1]);
            request.table_count = TABLES - 1 + ranks;
            expect_answers(name, engine, &request, right[ranks]);
            if (r < 5 || road->kind > DUCKDB) expect_units(name, engine, list, N); /* a session of DuckDB takes its time */
            engine->free(engine);
        }
    }
    open_typed_arrays("g", false, NULL, 0);
}

/* ---- one person in many spellings ---- */

static const tmi_measure one_count = ROWS_WITH(NULL);
static const tmi_table one_table = {NULL, 0, &one_count, 1};

/* However a person's id is written, at most rows_per_unit of the rows count. */
static void expect_one_person(const char *what, tmi_engine *engine, int64_t rows)
{
    for (int64_t most = 1; most <= rows; most += rows > 1 ? rows - 1 : 1) {
        const tmi_request request = {.tables = &one_table, .table_count = 1, .unit = &unit, .rows_per_unit = most, .key = key};
        tmi_int128 got = -1, *const places[] = {&got};
        tamis_error err = {0};
        if (engine->aggregate(engine, places, &request, NULL, &err) != TAMIS_OK) fail_msg("%s: %s", what, err.message);
        if (got != (most < rows ? most : rows))
            fail_msg("%s: %lld rows of one person, not %lld", what, (long long)got, (long long)most);
    }
    tmi_inventory all = {.unit = &unit};
    assert_int_equal(engine->describe(engine, &all, NULL, NULL), TAMIS_OK);
    if (all.units != 1) fail_msg("%s: %lld units, not one", what, (long long)all.units);
    engine->free(engine);
}

static void one_person_is_one(void **state)
{
    (void)state;
    static const struct {
        const char *type, *values;
        int64_t rows;
    } tables_of_one[] = {
        {"numeric", "(1), (1.0), (1.00), (1.0000000000)", 4},
        {"numeric", "(0.5), (0.50), (.500)", 3},
        {"numeric", "(1e400), (1e400 * 1.00)", 2},
        {"float8", "(0), ('-0')", 2},
        {"float4", "(0), ('-0')", 2},
        {"float8", "('1e308'), (1e308)", 2},
    };
    const char *const text = server_text();
    for (size_t i = 0; i < COUNT(tables_of_one); i++) {
        char sql[512];
        snprintf(sql, sizeof sql,
                 "SET client_min_messages = error; DROP TABLE IF EXISTS one; CREATE TABLE one (id %s); INSERT INTO one VALUES %s",
                 tables_of_one[i].type, tables_of_one[i].values);
        server_run(sql);
        expect_one_person(tables_of_one[i].values, open_server(&text, 1, "one", false, 1), tables_of_one[i].rows);
    }
    static const char *const parts[][2] = {
        {"SELECT 17::BIGINT AS id", "SELECT unnest([17.0, NULL])::DOUBLE AS id"}, /* what pandas makes of a missing value */
        {"SELECT 17::UTINYINT AS id", "SELECT 17.00::DECIMAL(9,2) AS id"},
        {"SELECT 0::FLOAT AS id", "SELECT '-0'::DOUBLE AS id"},
        {"SELECT 9007199254740992::HUGEINT AS id", "SELECT 9007199254740992::DOUBLE AS id"},
        {"SELECT 0.1::FLOAT AS id", "SELECT 0.1::FLOAT::DOUBLE AS id"},
    };
    for (size_t i = 0; i < COUNT(parts); i++) {
        const char *files[2];
        for (size_t p = 0; p < 2; p++) {
            char sql[1024];
            files[p] = in_folder(p == 0 ? "one.parquet" : "two.parquet");
            snprintf(sql, sizeof sql, "COPY (%s) TO '%s'", parts[i][p], files[p]);
            run_sql(sql);
        }
        expect_one_person(parts[i][0], open_engine(files, 2, 1), 2);
    }
}

/* ---- extreme doubles in PostgreSQL's SQL ---- */

/* The SQL of the exact value agrees with tmi_double_text for doubles of all sizes: as values of a category each is met. */
static void doubles_in_sql(void **state)
{
    (void)state;
    enum { N = 400 };
    static char texts[N][TMI_NUMBER_TEXT], sql[1 << 16];
    const char *values[N];
    uint64_t bits = 5;
    size_t count = 0;
    int at = snprintf(sql, sizeof sql,
                      "CREATE TABLE many (g float8, h numeric); INSERT INTO many (g) VALUES ('5e-324'), "
                      "('1.7976931348623157e308'), ('-2.2250738585072014e-308'), ('4.9406564584124654e-310')");
    const double first[] = {5e-324, 1.7976931348623157e308, -2.2250738585072014e-308, 4.9406564584124654e-310};
    for (size_t i = 0; i < COUNT(first); i++) tmi_double_text(texts[count++], first[i]);
    while (count < N) {
        double v;
        bits = bits * UINT64_C(6364136223846793005) + 1442695040888963407;
        memcpy(&v, &bits, sizeof v);
        if (!isfinite(v)) continue;
        /* of sizes that people use */
        if (count % 2) v = ldexp(v / fabs(v) * (1 + (double)(bits >> 40) / 16777216), (int)(bits % 140) - 70);
        tmi_double_text(texts[count++], v);
        at += snprintf(sql + at, sizeof sql - (size_t)at, ", ('%.17g')", v);
    }
    assert_true(at < (int)sizeof sql);
    server_run(sql);
    for (size_t i = 0; i < N; i++) values[i] = texts[i];
    const tmi_column many = {.name = "g", .kind = TMI_CATEGORY, .values = values, .value_count = N};
    const tmi_column *const by_many[] = {&many};
    const tmi_table table = {by_many, 1, &one_count, 1};
    const tmi_request request = {.tables = &table, .table_count = 1};
    static tmi_int128 got[N];
    tmi_int128 *const places[] = {got};
    tamis_error err = {0};
    const char *const text = server_text();
    tmi_engine *engine = open_server(&text, 1, "many", false, 1);
    if (engine->aggregate(engine, places, &request, NULL, &err) != TAMIS_OK) fail_msg("%s", err.message);
    for (size_t i = 0; i < N; i++)
        if (got[i] != 1) fail_msg("%s is there %d times", values[i], (int)got[i]);
    engine->free(engine);
}

/* ---- values of the plan ---- */

static void values_mean_numbers(void **state)
{
    (void)state;
    static const char *const listed[] = {"1", "2.50", "0.1", "-0", "1e2", "007"};
    static const tmi_column category = {.name = "g", .kind = TMI_CATEGORY, .values = listed, .value_count = 6};
    static const tmi_column *const by[] = {&category};
    static const tmi_table table = {by, 1, &one_count, 1};
    static const tmi_request request = {.tables = &table, .table_count = 1};
    static const struct {
        const char *type, *in_duckdb;
        int of[6]; /* of 1, 2.5, 0.1, 0, 100, 7 and the same as texts */
    } cases[] = {
        {"float8", "DOUBLE", {1, 1, 1, 1, 1, 1}},        {"float4", "FLOAT", {1, 1, 1, 1, 1, 1}},
        {"numeric", "DECIMAL(9,3)", {1, 1, 1, 1, 1, 1}}, {"int4", "BIGINT", {1, 0, 0, 2, 1, 1}},
        {"text", "VARCHAR", {1, 0, 1, 0, 0, 0}},
    };
    static const char *const values[] = {"1", "2.5", "0.1", "0", "100", "7"};
    for (size_t i = 0; i < COUNT(cases); i++)
        for (int in_duckdb = 0; in_duckdb < 2; in_duckdb++) {
            char sql[2048], rows_of[512] = "";
            const bool whole = strcmp(cases[i].type, "int4") == 0;
            for (size_t v = 0; v < 6; v++)
                snprintf(rows_of + strlen(rows_of), sizeof rows_of - strlen(rows_of), "%s('%s')", v > 0 ? ", " : "",
                         whole && v == 1   ? "5"
                         : whole && v == 2 ? "0"
                                           : values[v]);
            const char *path = in_folder("values.parquet"), *const text = server_text();
            if (in_duckdb) {
                snprintf(sql, sizeof sql, "COPY (SELECT v::%s AS g FROM (VALUES %s) t(v)) TO '%s'", cases[i].in_duckdb, rows_of,
                         path);
                run_sql(sql);
            } else {
                snprintf(sql, sizeof sql,
                         "SET client_min_messages = error; DROP TABLE IF EXISTS listed; CREATE TABLE listed (g %s); INSERT "
                         "INTO listed VALUES %s",
                         cases[i].type, rows_of);
                server_run(sql);
            }
            tmi_engine *engine = in_duckdb ? open_engine(&path, 1, 1) : open_server(&text, 1, "listed", false, 1);
            tmi_int128 got[6], *const places[] = {got};
            tamis_error err = {0};
            if (engine->aggregate(engine, places, &request, NULL, &err) != TAMIS_OK)
                fail_msg("%s: %s", cases[i].type, err.message);
            for (size_t v = 0; v < 6; v++)
                if (got[v] != cases[i].of[v])
                    fail_msg("%s, %d: %s is there %d times", cases[i].type, in_duckdb, listed[v], (int)got[v]);
            engine->free(engine);
        }
}

/* ---- what is refused ---- */

/* As a label and as a category, before and after the charge. */
static void expect_refused(const char *what, tmi_engine *engine, const char *words)
{
    static const char *const some[] = {"1", "2"};
    static const tmi_column category = {.name = "id", .kind = TMI_CATEGORY, .values = some, .value_count = 2};
    static const tmi_column *const columns[] = {&unit, &category};
    static const tmi_request request = {.tables = &one_table, .table_count = 1, .unit = &unit, .rows_per_unit = 1, .key = key};
    for (size_t i = 0; i < 2; i++) {
        tmi_inventory one = {.columns = &columns[i], .column_count = 1, .rows = 7};
        tamis_error err = {0};
        const tamis_status status = engine->describe(engine, &one, NULL, &err);
        if (status != TAMIS_INVALID || !strstr(err.message, words)) fail_msg("%s: %d, %s", what, (int)status, err.message);
        assert_int_equal(one.rows, 0);
    }
    tmi_int128 got = 7, *const places[] = {&got};
    assert_int_equal(engine->aggregate(engine, places, &request, NULL, NULL), TAMIS_SYSTEM);
    assert_true(got == 0);
    engine->free(engine);
}

#define NO_FORM "without one form for equal values"

/* One table with a column a0, a1 ... of each type: each of them is named, as a label and as a category. */
static void expect_each_refused(const char *const *types, size_t count, tmi_engine *engine, const char *words)
{
    static const char *const some[] = {"1", "2"};
    const size_t turns = (count + 5) / 6; /* a message has room for six */
    for (size_t turn = 0; turn < 2 * turns; turn++) {
        char names[6][24];
        tmi_column columns[6];
        const tmi_column *list[6];
        const bool category = turn >= turns;
        const size_t first = turn % turns * 6, here = count - first < 6 ? count - first : 6;
        tamis_error err = {0};
        for (size_t i = 0; i < here; i++) {
            snprintf(names[i], sizeof names[0], "a%zu", first + i);
            columns[i] = category ? (tmi_column){.name = names[i], .kind = TMI_CATEGORY, .values = some, .value_count = 2}
                                  : (tmi_column){.name = names[i], .kind = TMI_LABEL};
            list[i] = &columns[i];
        }
        tmi_inventory all = {.columns = list, .column_count = here, .rows = 7};
        assert_int_equal(engine->describe(engine, &all, NULL, &err), TAMIS_INVALID);
        assert_int_equal(all.rows, 0);
        for (size_t i = 0; i < here; i++) {
            char said[200];
            snprintf(said, sizeof said, "column %s %s", names[i], words);
            if (!strstr(err.message, said)) fail_msg("%s: %s", types[first + i], err.message);
        }
    }
    engine->free(engine);
}

static void types_without_a_form(void **state)
{
    (void)state;
    static const char *const in_postgres[] = {"citext",     "of_citext", "text COLLATE no_case",
                                              "of_no_case", "char(5)",   "char(1)",
                                              "of_char",    "bytea",     "json",
                                              "jsonb",      "timestamp", "timestamptz",
                                              "time",       "timetz",    "interval",
                                              "money",      "int4[]",    "inet",
                                              "bit(3)",     "xml",       "oid",
                                              "int4range",  "point"};
    static const char *const in_duckdb[] = {"VARCHAR COLLATE NOCASE",
                                            "VARCHAR COLLATE NOACCENT",
                                            "JSON",
                                            "TIMESTAMP",
                                            "TIMESTAMPTZ",
                                            "TIMESTAMP_NS",
                                            "TIMESTAMP_S",
                                            "TIME",
                                            "TIMETZ",
                                            "INTERVAL",
                                            "BIT",
                                            "BIGNUM"};
    static const char *const unreadable[] = {"BLOB",       "INTEGER[]",       "STRUCT(a INTEGER)", "MAP(INTEGER, INTEGER)",
                                             "INTEGER[2]", "UNION(a INTEGER)"};
    const char *const text = server_text();
    char sql[2048];
    server_run("CREATE EXTENSION citext; CREATE COLLATION no_case (provider = icu, locale = 'und-u-ks-level2', deterministic = "
               "false); CREATE "
               "DOMAIN of_citext AS citext; CREATE DOMAIN of_no_case AS text COLLATE no_case; CREATE DOMAIN of_char AS char(3)");
    int at = snprintf(sql, sizeof sql, "CREATE TABLE odd (id citext");
    for (size_t i = 0; i < COUNT(in_postgres); i++)
        at += snprintf(sql + at, sizeof sql - (size_t)at, ", a%zu %s", i, in_postgres[i]);
    snprintf(sql + at, sizeof sql - (size_t)at, ")");
    server_run(sql);
    expect_each_refused(in_postgres, COUNT(in_postgres), open_server(&text, 1, "odd", false, 1),
                        "has a type or collation " NO_FORM);
    expect_refused("citext", open_server(&text, 1, "odd", false, 1), NO_FORM);
    server_run("CREATE VIEW odd_view AS SELECT 'a'::citext AS id; CREATE VIEW even_view AS SELECT '1'::citext::text AS id");
    expect_refused("a view of citext", open_server(&text, 1, "odd_view", false, 1), NO_FORM);
    expect_one_person("a view of text", open_server(&text, 1, "even_view", false, 1), 1);
    for (int is_unreadable = 0; is_unreadable < 2; is_unreadable++) {
        const char *const *types = is_unreadable ? unreadable : in_duckdb, *path = in_folder("odd.duckdb");
        const size_t count = is_unreadable ? COUNT(unreadable) : COUNT(in_duckdb);
        remove(path);
        at = snprintf(sql, sizeof sql, "ATTACH '%s' AS a; CREATE TABLE a.t (\"other, (\" VARCHAR, id VARCHAR COLLATE NOCASE",
                      path);
        for (size_t i = 0; i < count; i++) at += snprintf(sql + at, sizeof sql - (size_t)at, ", a%zu %s", i, types[i]);
        snprintf(sql + at, sizeof sql - (size_t)at, "); DETACH a");
        run_sql(sql);
        expect_each_refused(types, count, open_engine(&path, 1, 1),
                            is_unreadable ? "contains lists or bytes" : "has a type or collation " NO_FORM);
        if (!is_unreadable) expect_refused("a collation", open_engine(&path, 1, 1), NO_FORM);
    }
}

static void parts_that_cannot_be_compared(void **state)
{
    (void)state;
    static const char *const parts[][2] = {{"SELECT '17' AS id", "SELECT 17 AS id"},
                                           {"SELECT 17.0::DOUBLE AS id", "SELECT '17' AS id"},
                                           {"SELECT true AS id", "SELECT 1 AS id"},
                                           {"SELECT DATE '2000-01-01' AS id", "SELECT '2000-01-01' AS id"},
                                           {"SELECT uuid() AS id", "SELECT 'a' AS id"}};
    for (size_t i = 0; i < COUNT(parts); i++) {
        const char *files[2];
        char sql[1024];
        for (size_t p = 0; p < 2; p++) {
            files[p] = in_folder(p == 0 ? "one.parquet" : "two.parquet");
            snprintf(sql, sizeof sql, "COPY (%s) TO '%s'", parts[i][p], files[p]);
            run_sql(sql);
        }
        expect_refused(parts[i][0], open_engine(files, 2, 1), "in another part of the source");
    }
    const char *mixed[] = {write_text("texts.csv", "id\n17\n"), in_folder("two.parquet")};
    char sql[1024];
    snprintf(sql, sizeof sql, "COPY (SELECT 17 AS id) TO '%s'", mixed[1]);
    run_sql(sql);
    expect_refused("CSV and numbers", open_engine(mixed, 2, 1), "contains numbers here and texts in another part");
    static const char *const numbers_and_texts[] = {"int4", "text", NULL};
    static row list[4];
    for (size_t i = 0; i < 4; i++) sprintf(list[i].text[ID], "%zu", i);
    expect_refused("servers", open_typed_tables(numbers_and_texts, list, 4), "in another part of the source");
    const char *statistics[] = {write_typed_statistics("n.sav", READSTAT_TYPE_DOUBLE, list, 4, 0, 1),
                                write_statistics_file("t.dta", list, 4)};
    tmi_engine *engine;
    assert_int_equal(tmi_engine_readstat(&engine, &(tmi_source){.files = statistics, .file_count = 2}, 1, NULL), TAMIS_OK);
    expect_refused("SPSS and Stata", engine, "in another part of the source");
}

/* Two listed values that are one number: nobody could say which is meant. In a column of texts they are two. */
static void values_listed_twice(void **state)
{
    (void)state;
    static const char *const listed[] = {"1", "1.0"};
    static const tmi_column category = {.name = "id", .kind = TMI_CATEGORY, .values = listed, .value_count = 2};
    static const tmi_column *const columns[] = {&category};
    const char *const text = server_text(), *parquet = in_folder("numbers.parquet"),
                      *csv = write_text("texts.csv", "id\n1\n1.0\n");
    static row list[4];
    char sql[1024];
    snprintf(sql, sizeof sql, "COPY (SELECT 1 AS id) TO '%s'", parquet);
    run_sql(sql);
    server_run("CREATE TABLE twice (id float4); CREATE TABLE texts_twice (id text)");
    tmi_engine *readstat;
    const char *file = write_typed_statistics("n.sav", READSTAT_TYPE_DOUBLE, list, 4, 0, 1);
    assert_int_equal(tmi_engine_readstat(&readstat, &(tmi_source){.files = &file, .file_count = 1}, 1, NULL), TAMIS_OK);
    tmi_engine *const engines[] = {open_engine(&parquet, 1, 1),
                                   open_server(&text, 1, "twice", false, 1),
                                   readstat,
                                   open_typed_arrays("g", false, list, 4),
                                   open_engine(&csv, 1, 1),
                                   open_server(&text, 1, "texts_twice", false, 1)};
    for (size_t i = 0; i < COUNT(engines); i++) {
        tmi_inventory all = {.columns = columns, .column_count = 1};
        tamis_error err = {0};
        const tamis_status status = engines[i]->describe(engines[i], &all, NULL, &err);
        if (status != (i < 4 ? TAMIS_INVALID : TAMIS_OK)) fail_msg("%zu: %d, %s", i, (int)status, err.message);
        if (i < 4) assert_non_null(strstr(err.message, "are equal"));
        engines[i]->free(engines[i]);
    }
    open_typed_arrays("g", false, NULL, 0);
}

/* ---- frames ---- */

static tamis_status take_cells(void *context, int64_t first, size_t rows_there, tmi_cell *const *cells, tamis_error *err)
{
    char *text = context;
    (void)first;
    (void)err;
    for (size_t i = 0; i < rows_there; i++)
        for (size_t c = 0; c < 4; c++)
            text += sprintf(text, "%.*s;", (int)cells[c][i].length, cells[c][i].bytes ? cells[c][i].bytes : "");
    return TAMIS_OK;
}

/* Labels in their canonical form, other cells as they stand. */
static void frames(void **state)
{
    (void)state;
    static const size_t columns[] = {0, 1, 2, 3};
    static const bool labels[] = {true, true, false, false}, odd[] = {false, false, false, true};
    const char *path = in_folder("frame.parquet");
    char sql[1024], text[256];
    tmi_frame *frame;
    tamis_error err = {0};
    snprintf(sql, sizeof sql,
             "COPY (SELECT * FROM (VALUES (17.0::DOUBLE, 1.50::DECIMAL(9,2), 0.1::DOUBLE, TIME '12:00:00'), ('-0'::DOUBLE, "
             "2, 0.25, NULL), ('nan'::DOUBLE, NULL, 1, NULL)) t(id, s, p, t)) TO '%s'",
             path);
    run_sql(sql);
    if (tmi_frame_open(&frame, path, NULL, &err) != TAMIS_OK) fail_msg("%s", err.message);
    assert_true(frame->forms[0] == TMI_FORM_DOUBLE && frame->forms[1] == TMI_FORM_EXACT && frame->forms[3] == TMI_FORM_NONE);
    assert_int_equal(tmi_frame_read(frame, columns, labels, 4, take_cells, text, NULL, &err), TAMIS_OK);
    assert_string_equal(text, "17;1.5;0.1;12:00:00;0;2;0.25;;;;1.0;;");
    assert_int_equal(tmi_frame_read(frame, columns, odd, 4, take_cells, text, NULL, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "column t has a type"));
    tmi_frame_free(frame);
}

/* ---- the statement that made a table ---- */

static void collations(void **state)
{
    (void)state;
    static const struct {
        const char *definition, *column;
        bool collated;
    } cases[] = {
        {"CREATE TABLE t(x VARCHAR COLLATE NOCASE, y VARCHAR);", "x", true},
        {"CREATE TABLE t(x VARCHAR COLLATE NOCASE, y VARCHAR);", "y", false},
        {"CREATE TABLE s.\"t(x COLLATE\"(y VARCHAR, x VARCHAR collate de);", "x", true},
        {"CREATE TABLE t(\"a \"\"b\"\", (\" VARCHAR COLLATE NOCASE, x VARCHAR);", "a \"b\", (", true},
        {"CREATE TABLE t(\"a \"\"b\"\", (\" VARCHAR, x VARCHAR COLLATE NOCASE);", "a \"b\", (", false},
        {"CREATE TABLE t(x ENUM('a COLLATE', 'it''s, COLLATE'), y DECIMAL(9, 2), z VARCHAR COLLATE NOCASE);", "x", false},
        {"CREATE TABLE t(x ENUM('a COLLATE', 'it''s, COLLATE'), y DECIMAL(9, 2), z VARCHAR COLLATE NOCASE);", "y", false},
        {"CREATE TABLE t(x ENUM('a COLLATE', 'it''s, COLLATE'), y DECIMAL(9, 2), z VARCHAR COLLATE NOCASE);", "z", true},
        {"CREATE TABLE t(collate VARCHAR, x VARCHAR DEFAULT('COLLATE'), y VARCHAR COLLATE \"NOCASE\" NOT NULL, CHECK((x > y)));",
         "x", false},
        {"CREATE TABLE t(collate VARCHAR, x VARCHAR DEFAULT('COLLATE'), y VARCHAR COLLATE \"NOCASE\" NOT NULL, CHECK((x > y)));",
         "collate", false},
        {"CREATE TABLE t(collate VARCHAR, x VARCHAR DEFAULT('COLLATE'), y VARCHAR COLLATE \"NOCASE\" NOT NULL, CHECK((x > y)));",
         "y", true},
        {"CREATE TABLE t(x", "x", false},
        {"\"", "x", false},
        {"", "x", false},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        if (tmi_duckdb_is_collated(cases[i].definition, cases[i].column) != cases[i].collated) fail_msg("case %zu", i);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(every_type_on_every_engine),
        cmocka_unit_test(one_person_is_one),
        cmocka_unit_test(doubles_in_sql),
        cmocka_unit_test(values_mean_numbers),
        cmocka_unit_test(types_without_a_form),
        cmocka_unit_test(parts_that_cannot_be_compared),
        cmocka_unit_test(values_listed_twice),
        cmocka_unit_test(frames),
        cmocka_unit_test(collations),
    };
    return cmocka_run_group_tests(all, make_folder, remove_folder);
}
