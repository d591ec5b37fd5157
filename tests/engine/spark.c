/* The requests of the conformance test and the lists of points on Spark, through a Connect server (tests/engine/with_spark): the
 * integers must be those of reference.h, bit for bit. One request in `make test`, where starting Spark takes most of the time;
 * all of them, and what is counted before a charge, in `make test-long`. Rows travel as Parquet, written by DuckDB. */
#include "tests/test.h"

#include "engine/core/cells.h"
#include "engine/files/source.h"
#include "tests/engine/conformance_requests.h"
#include "tests/engine/points_requests.h"
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

static void ask_spark(spark *s, const char *table)
{
    tamis_error err = {0};
    const tamis_sql how = {sizeof how, "spark", table, spark_run_sql, &s->door, "the test's"};
    if (tamis_source_sql(&s->source, &how, &err) != TAMIS_OK || tmi_engine_of_source(&s->engine, s->source, 1, &err) != TAMIS_OK)
        fail_msg("%s", err.message);
}

/* The rows as a view that selects these columns. */
static void open_spark_as(spark *s, int door, const row *list, size_t n, const char *columns)
{
    char sql[1024];
    *s = (spark){.door = door};
    snprintf(sql, sizeof sql, "CREATE OR REPLACE TEMPORARY VIEW t AS SELECT %s FROM parquet.`%s`", columns,
             write_parquet("spark.parquet", list, n));
    spark_do(door, sql);
    ask_spark(s, "t");
}

static void open_spark(spark *s, int door, const row *list, size_t n) { open_spark_as(s, door, list, n, "*"); }

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

static void units_that_are_bounded(void **state)
{
    (void)state;
    if (!getenv("TAMIS_TEST_SPARK")) SKIP(NO_SPARK);
    if (!getenv("TAMIS_TEST_LONG")) SKIP("only in make test-long");
    const size_t n = 200;
    const int door = spark_open();
    row *list = random_rows(n, n / 6 + 1, 9);
    const rows all = {.list = list, .count = n};
    spark on;
    open_spark(&on, door, list, n);
    for (int64_t most = 2; most <= 40; most += 38) {
        const tmi_request request = {
            .tables = bounded_tables, .table_count = COUNT(bounded_tables), .unit = &unit, .rows_per_unit = most, .key = key};
        expect(&on, "bounded units", &request, &all);
        print_message("# bounded units, %d rows of each\n", (int)most);
    }
    close_spark(&on);
    close(door);
    free(list);
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

static void lists_of_points(void **state)
{
    (void)state;
    if (!getenv("TAMIS_TEST_SPARK")) SKIP(NO_SPARK);
    if (!getenv("TAMIS_TEST_LONG")) SKIP("only in make test-long");
    const size_t n = 211;
    const int door = spark_open();
    row *list = random_rows(n, n / 3 + 1, 9);
    entry *right = calloc(n, sizeof *right);
    spark on;
    open_spark(&on, door, list, n);
    for (size_t q = 0; q < COUNT(lists); q++) {
        const tmi_points_request *asked = &lists[q].request;
        ask("spark", lists[q].name, on.engine, asked, right, expected_entries(right, asked, list, n));
        print_message("# %s\n", lists[q].name);
    }
    close_spark(&on);
    close(door);
    free(right);
    free(list);
}

/* Strings of Spark are bytes: texts that are not UTF-8 count as they do in memory, and a blank after half a character is a
 * blank. They travel as hexadecimal digits, since no other engine would write them. */
static void texts_that_are_not_utf8(void **state)
{
    (void)state;
    if (!getenv("TAMIS_TEST_SPARK")) SKIP(NO_SPARK);
    if (!getenv("TAMIS_TEST_LONG")) SKIP("only in make test-long");
    static const char *const texts[] = {"caf\xc3",  "caf\xc3 ",    " caf\xc3\t",   "\xff",     "\xfe",
                                        "\xe2\x82", "\xe2\x82 ",   "\xed\xa0\x80", "\xc0\xaf", "E",
                                        "north",    "caf\xc3\xa9", "\xf0\x9f ",    ""};
    static const size_t columns[] = {ID, G, H, S, C};
    const size_t n = 211;
    const int door = spark_open();
    row *list = random_rows(n, n / 3 + 1, 9), *digits = calloc(n, sizeof *digits);
    const rows all = {.list = list, .count = n};
    spark on;
    for (size_t i = 0; i < n; i++) {
        for (size_t c = 0; c < COUNT(columns); c++)
            if (random64() % 2) strcpy(list[i].text[columns[c]], texts[random64() % COUNT(texts)]);
        digits[i] = list[i];
        for (size_t c = 0; c < COUNT(columns); c++) {
            char *to = digits[i].text[columns[c]];
            for (const char *at = list[i].text[columns[c]]; *at; at++) to += sprintf(to, "%02X", (unsigned)(unsigned char)*at);
            *to = '\0';
        }
    }
    open_spark_as(&on, door, digits, n,
                  "CAST(unhex(id) AS STRING) AS id, x, y, p, CAST(unhex(g) AS STRING) AS g, CAST(unhex(h) AS STRING) AS h, "
                  "CAST(unhex(s) AS STRING) AS s, CAST(unhex(`c \"1\"`) AS STRING) AS `c \"1\"`");
    for (size_t q = 0; q < COUNT(requests); q += 2) {
        if (n > requests[q].most_rows) continue;
        expect(&on, requests[q].name, &requests[q].request, &all);
        print_message("# %s\n", requests[q].name);
    }
    close_spark(&on);
    close(door);
    free(digits);
    free(list);
}

/* Spark itself finds X where x is asked for, and does not know which one where there are both. */
static void names_to_the_letter(void **state)
{
    (void)state;
    if (!getenv("TAMIS_TEST_SPARK")) SKIP(NO_SPARK);
    if (!getenv("TAMIS_TEST_LONG")) SKIP("only in make test-long");
    static const struct {
        const char *columns, *word; /* word NULL: that is right */
    } cases[] = {{"x, g", NULL},
                 {"g, x, named_struct('X', 1, 'a', 2) AS deep, 1 AS `,X:`", NULL},
                 {"x AS X, g", "there is no column x, only one whose name has other capital and small letters"},
                 {"x, g, x + 1 AS X", "column x cannot be read from the table, is not there, or is there twice"},
                 {"g, y", "column x cannot be read"}};
    static const tmi_column *const columns[] = {&x, &g};
    const int door = spark_open();
    row *list = random_rows(9, 3, 3);
    for (size_t i = 0; i < COUNT(cases); i++) {
        tmi_inventory asked = {.columns = columns, .column_count = COUNT(columns)};
        tamis_error err = {0};
        char table[256];
        spark on;
        open_spark(&on, door, list, 9);
        close_spark(&on);
        snprintf(table, sizeof table, "(SELECT %s FROM t) q", cases[i].columns); /* no view may have x and X */
        ask_spark(&on, table);
        const tamis_status status = on.engine->describe(on.engine, &asked, NULL, &err);
        if (status != (cases[i].word ? TAMIS_INVALID : TAMIS_OK) || (cases[i].word && !strstr(err.message, cases[i].word)))
            fail_msg("%s: %d, %s", cases[i].columns, (int)status, err.message);
        close_spark(&on);
    }
    close(door);
    free(list);
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
        cmocka_unit_test(one_request),         cmocka_unit_test(every_request),   cmocka_unit_test(units_that_are_bounded),
        cmocka_unit_test(other_sizes),         cmocka_unit_test(lists_of_points), cmocka_unit_test(texts_that_are_not_utf8),
        cmocka_unit_test(names_to_the_letter), cmocka_unit_test(inventory),
    };
    return cmocka_run_group_tests(all, make_folder, remove_folder);
}
