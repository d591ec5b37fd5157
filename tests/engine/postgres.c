/* What is PostgreSQL's own: types, rights, wrong names, servers that stop or go away. That the integers are those of the other
 * engines is the business of conformance.c.                                                                          */
#include "tests/test.h"

#include <math.h>
#include <signal.h>
#include <time.h>

#include "engine/sql/sql.h"
#include "tests/base/memory_that_fails.h"
#include "tests/engine/request.h"
#include "tests/engine/server.h"

static const char *const values[] = {"a", "b"};
static const double codes[] = {99.9};
static const tmi_column x = {.name = "x", .grid = {0, 1000, 0.5, 0, 2000}, .missing_codes = codes, .missing_code_count = 1};
static const tmi_column g = {.name = "g", .kind = TMI_CATEGORY, .values = values, .value_count = 2};
static const tmi_column unit = {.name = "id", .kind = TMI_LABEL};
static const tmi_measure measures[] = {ROWS_WITH(NULL), SUM_OF(&x), ROWS_WITH(&x), ROWS_WITH(&g)};
static const tmi_table table = {NULL, 0, measures, 4};
static const tmi_request request = {.tables = &table, .table_count = 1};

static tamis_status ask(tmi_int128 got[4], tmi_engine *engine, tamis_error *err)
{
    tmi_int128 *const places[] = {got};
    memset(got, 1, 4 * sizeof *got);
    return engine->aggregate(engine, places, &request, NULL, err);
}

static tmi_engine *open_table(const char *name)
{
    const char *const text = server_text();
    return open_server(&text, 1, name, false, 0);
}

/* The sum of x's points (halves), how many there are, and how many g. */
static void expect(const char *types, const char *rows, int64_t sum, int64_t numbers, int64_t texts)
{
    char sql[2048];
    tmi_int128 got[4];
    tamis_error err = {0};
    snprintf(sql, sizeof sql,
             "SET client_min_messages = error; DROP TABLE IF EXISTS typed; CREATE TABLE typed (%s); INSERT INTO "
             "typed VALUES %s",
             types, rows);
    server_run(sql);
    tmi_engine *engine = open_table("typed");
    if (ask(got, engine, &err) != TAMIS_OK) fail_msg("%s: %s", types, err.message);
    if (got[1] != sum || got[2] != numbers || got[3] != texts)
        fail_msg("%s: %lld %lld %lld", types, (long long)got[1], (long long)got[2], (long long)got[3]);
    engine->free(engine);
}

static void every_type(void **state)
{
    (void)state;
    expect("x float8, g text", "(1.5, 'a'), ('nan', ' b\t'), ('inf', 'c'), ('-inf', ''), (NULL, NULL), (99.9, 'A')", 3, 1, 2);
    expect("x float4, g varchar", "(1.5, 'a'), (99.9, 'b'), ('nan', 'c'), (3e38, 'a')", 2003, 2, 3);
    expect("x int2, g name", "(7, 'a'), (NULL, 'b'), (-3, 'c')", 14, 2, 2);
    expect("x int4, g text", "(2147483647, 'a'), (-2147483648, 'b')", 2000, 2, 2);
    expect("x int8, g text", "(9223372036854775807, 'a'), (3, 'b')", 2006, 2, 2);
    expect("x numeric, g text",
           "(1.5, 'a'), (99.9, 'a'), ('NaN', 'a'), ('Infinity', 'a'), ('-Infinity', 'a'), (1e400, 'a'), "
           "(-1e400, 'a'), (1e-400, 'a'), (1e-16000, 'a'), (1.7976931348623158e308, 'a'), (1.8e308, 'a'), (4.9e-324, 'a'), "
           "(2.4e-324, 'a')",
           3 + 2000, 6, 13);
    server_run("CREATE TYPE letter AS ENUM ('a', 'b', 'c'); CREATE DOMAIN dollars AS numeric(9, 2) CHECK (VALUE > -5)");
    expect("x dollars, g letter", "(1.25, 'a'), (NULL, 'b'), (3, 'c')", 3 + 6, 2, 2);
    static const char *const days[] = {"2000-01-31", "1 day"};
    const tmi_column day = {.name = "day", .kind = TMI_CATEGORY, .values = days, .value_count = 2};
    const tmi_measure measure = ROWS_WITH(&day);
    const tmi_table one = {NULL, 0, &measure, 1};
    const tmi_request asked = {.tables = &one, .table_count = 1};
    tmi_int128 got, *const places[] = {&got};
    server_run("DROP TABLE typed; CREATE TABLE typed (day date); INSERT INTO typed VALUES ('2000-01-31'), ('2000-01-30'); "
               "ALTER ROLE tamis SET datestyle = 'German'");
    tmi_engine *engine = open_table("typed");
    assert_int_equal(engine->aggregate(engine, places, &asked, NULL, NULL), TAMIS_OK);
    assert_true(got == 1);
    engine->free(engine);
    server_run("ALTER ROLE tamis RESET datestyle; DROP TABLE typed");
}

/* No point depends on whether a quotient is rounded to 0, on which PostgreSQL would raise. */
static void tiny_quotients(void **state)
{
    (void)state;
    static const tmi_grid grids[] = {{0, 1000, 10, 0, 100},
                                     {-1000, 0, 10, -100, 0},
                                     {-1000, 1000, 10, -100, 100},
                                     {1e-320, 1e11, 1e10, 1, 10},
                                     {-1e-320, 1e11, 1e10, 0, 10},
                                     {-1e11, 1e-320, 1e10, -10, 0},
                                     {0, 1e-300, 1e-310, 0, 10000000000},
                                     {-0.5, 0.5, 3, 0, 0}};
    static const double numbers[] = {4.9e-324, -4.9e-324, 0, 1e-320, -1e-320, 1e-17, -1e-17, 5, -5, 1e308, 4.9e-315};
    server_run("CREATE TABLE tiny (x float8); INSERT INTO tiny VALUES ('4.9e-324'), ('-4.9e-324'), (0), ('1e-320'), ('-1e-320'), "
               "(1e-17), (-1e-17), (5), (-5), (1e308), ('4.9e-315')");
    for (size_t i = 0; i < sizeof grids / sizeof *grids; i++) {
        const tmi_column column = {.name = "x", .grid = grids[i]};
        const tmi_measure measure = SUM_OF(&column);
        const tmi_table one = {NULL, 0, &measure, 1};
        const tmi_request asked = {.tables = &one, .table_count = 1};
        tmi_int128 got, right = 0, *const places[] = {&got};
        tamis_error err = {0};
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
            int64_t point;
            assert_true(tmi_grid_point(&point, &grids[i], numbers[k]));
            right += point;
        }
        tmi_engine *engine = open_table("tiny");
        if (engine->aggregate(engine, places, &asked, NULL, &err) != TAMIS_OK) fail_msg("grid %zu: %s", i, err.message);
        if (got != right) fail_msg("grid %zu: %lld, not %lld", i, (long long)got, (long long)right);
        engine->free(engine);
    }
}

/* ---- what is not there ---- */

static void expect_refusal(const char *connection, const char *name, tamis_status status, const char *words)
{
    const tmi_source source = {.connections = &connection, .connection_count = 1, .table = name};
    const tmi_column *const columns[] = {&x, &g};
    tmi_inventory all = {.columns = columns, .column_count = 2, .rows = 7};
    tmi_engine *engine;
    tamis_error err = {0};
    assert_int_equal(tmi_engine_postgres(&engine, &source, 0, &err), TAMIS_OK);
    const tamis_status got = engine->describe(engine, &all, NULL, &err);
    if (got != status || !strstr(err.message, words)) fail_msg("%s: %d, %s", name, (int)got, err.message);
    assert_int_equal(all.rows, 0);
    tmi_int128 answers[4];
    assert_int_equal(ask(answers, engine, NULL), TAMIS_SYSTEM); /* after the charge */
    assert_true(answers[0] == 0 && answers[3] == 0);
    engine->free(engine);
}

static void wrong_names(void **state)
{
    (void)state;
    char other[512];
    const char *const text = server_text();
    server_run("CREATE TABLE part (x float8); CREATE TABLE lists (x float8[], g bytea); CREATE TABLE secret (x float8, g text); "
               "CREATE TABLE dates (x date, g text); CREATE ROLE poor LOGIN; CREATE SEQUENCE numbers");
    expect_refusal(text, "nowhere", TAMIS_INVALID, "there is no table nowhere");
    expect_refusal(text, "public.nowhere", TAMIS_INVALID, "there is no table");
    expect_refusal(text, "numbers", TAMIS_INVALID, "there is no table");
    expect_refusal(text, "part; DROP TABLE part; --", TAMIS_INVALID, "there is no table");
    expect_refusal(text, "part\"; DROP TABLE part; --", TAMIS_INVALID, "there is no table");
    expect_refusal(text, "part'; DROP TABLE part; --", TAMIS_INVALID, "there is no table");
    expect_refusal(text, ".", TAMIS_INVALID, "there is no table");
    expect_refusal(text, "part", TAMIS_INVALID, "there is no column g");
    expect_refusal(text, "lists", TAMIS_INVALID,
                   "something else: make a column of numbers from it, in a view or a copy\n"
                   "PostgreSQL, connection 1: column g has a type or collation without one form");
    expect_refusal(text, "dates", TAMIS_INVALID, "column x: the plan uses it as a number");
    snprintf(other, sizeof other, "%s user=poor", text);
    expect_refusal(other, "secret", TAMIS_INVALID, "may not read column x");
    snprintf(other, sizeof other, "%s dbname=nowhere", text);
    expect_refusal(other, "part", TAMIS_SYSTEM, "rejected the database or the user");
    expect_refusal("host=/nowhere port=1", "part", TAMIS_SYSTEM, "cannot be reached");
    expect_refusal("service=nowhere", "part", TAMIS_SYSTEM, "not a valid connection string");
    expect_refusal("what='is this", "part", TAMIS_SYSTEM, "not a valid connection string");
    tmi_engine *engine;
    static const tmi_source none = {.table = "part"};
    const tmi_source no_table = {.connections = &text, .connection_count = 1};
    assert_int_equal(tmi_engine_postgres(&engine, &none, 0, NULL), TAMIS_INVALID);
    assert_int_equal(tmi_engine_postgres(&engine, &no_table, 0, NULL), TAMIS_INVALID);
    assert_null(engine);
    server_run("SELECT x FROM part");
}

/* A plan's names and values are names and values, whatever is in them. */
static void nothing_but_names(void **state)
{
    (void)state;
    static const char *const odd[] = {"'; DROP TABLE odd; --", "\\'; DROP TABLE odd; --", "$$", "%s", "E'\\x27'"};
    const tmi_column number = {.name = "\"; DROP TABLE odd; --", .grid = {0, 10, 1, 0, 10}};
    const tmi_column category = {
        .name = "g'", .kind = TMI_CATEGORY, .values = odd, .value_count = 5, .missing_texts = odd, .missing_text_count = 1};
    const tmi_measure both[] = {SUM_OF(&number), ROWS_WITH(&category)};
    const tmi_table one = {NULL, 0, both, 2};
    const tmi_request asked = {.tables = &one, .table_count = 1};
    tmi_int128 got[2], *const places[] = {got};
    server_run(
        "CREATE TABLE odd (\"\"\"; DROP TABLE odd; --\" int, \"g'\" text); INSERT INTO odd VALUES (1, '''; DROP TABLE odd; "
        "--'), (2, '\\''; DROP TABLE odd; --'), (3, '$$'), (4, '%s'), (5, 'E''\\x27''')");
    tmi_engine *engine = open_table("odd");
    assert_int_equal(engine->aggregate(engine, places, &asked, NULL, NULL), TAMIS_OK);
    assert_true(got[0] == 15 && got[1] == 4);
    engine->free(engine);
}

/* ---- units and parts ---- */

static void parts_and_units(void **state)
{
    (void)state;
    const char *const texts[] = {server_text(), server_text()};
    static const unsigned char key[TMI_KEY_BYTES] = {1};
    const tmi_request bounded = {.tables = &table, .table_count = 1, .unit = &unit, .rows_per_unit = 1, .key = key};
    tmi_int128 got[4], *const places[] = {got};
    tamis_error err = {0};
    server_run(
        "CREATE TABLE units (id text, x float8, g text); INSERT INTO units VALUES ('a', 3, 'a'), (' a ', 1, 'b'), ('', 5, 'a')");
    tmi_engine *engine = open_server(texts, 2, "units", false, 2);
    assert_int_equal(engine->aggregate(engine, places, &bounded, NULL, &err), TAMIS_REFUSED);
    assert_non_null(strstr(err.message, "sharded_by"));
    tmi_inventory all = {.unit = &unit};
    assert_int_equal(engine->describe(engine, &all, NULL, NULL), TAMIS_REFUSED);
    all = (tmi_inventory){.cluster = &unit};
    assert_int_equal(engine->describe(engine, &all, NULL, NULL), TAMIS_REFUSED);
    assert_int_equal(ask(got, engine, NULL), TAMIS_OK);
    assert_true(got[0] == 6 && got[1] == 36);
    engine->free(engine);
    engine = open_server(texts, 2, "units", true, 2);
    assert_int_equal(engine->aggregate(engine, places, &bounded, NULL, &err), TAMIS_OK);
    assert_true(got[0] == 2 && got[1] == 4);
    engine->free(engine);
}

/* What was counted is what is summed, also if others write in between; and we write nothing. */
static void one_state(void **state)
{
    (void)state;
    tmi_inventory all = {.rows = 7};
    tmi_int128 got[4];
    server_run("CREATE TABLE moving (x float8, g text); INSERT INTO moving VALUES (1, 'a'), (2, 'b')");
    tmi_engine *engine = open_table("moving");
    assert_int_equal(engine->describe(engine, &all, NULL, NULL), TAMIS_OK);
    server_run("INSERT INTO moving VALUES (3, 'a')");
    assert_int_equal(ask(got, engine, NULL), TAMIS_OK);
    assert_true(all.rows == 2 && got[0] == 2);
    engine->free(engine);
    server_run(
        "CREATE FUNCTION spy(x float8) RETURNS float8 LANGUAGE sql AS 'INSERT INTO moving VALUES ($1, $$spied$$); SELECT x'; "
        "CREATE VIEW watched AS SELECT spy(x) AS x, g FROM moving");
    tamis_error err = {0};
    engine = open_table("watched");
    assert_int_equal(ask(got, engine, &err), TAMIS_SYSTEM);
    assert_null(strstr(err.message, "INSERT"));
    engine->free(engine);
    engine = open_table("moving");
    assert_int_equal(ask(got, engine, NULL), TAMIS_OK);
    assert_true(got[0] == 3);
    engine->free(engine);
}

/* ---- errors ---- */

/* A view that raises shows its value to the server's log, but not to us. */
static void silent_errors(void **state)
{
    (void)state;
    tmi_int128 got[4];
    tamis_error err = {0};
    server_run("CREATE VIEW broken AS SELECT ('secret' || x)::float8 AS x, g FROM moving");
    tmi_engine *engine = open_table("broken");
    assert_int_equal(ask(got, engine, &err), TAMIS_SYSTEM);
    assert_null(strstr(err.message, "secret"));
    assert_non_null(strstr(err.message, "class 22"));
    assert_true(got[0] == 0 && got[1] == 0 && got[2] == 0 && got[3] == 0);
    engine->free(engine);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

typedef struct stopper {
    double start, asked;
    bool kill;   /* the server's process instead of asking */
    bool gently; /* so that other processes of the server live on */
} stopper;

static int stop_soon(void *context, double share, int64_t rows)
{
    stopper *s = context;
    (void)rows;
    assert_true(share < 0);
    if (seconds() - s->start < 0.3 || s->asked > 0) return s->asked > 0 && !s->kill;
    s->asked = seconds();
    if (s->kill) {
        PGconn *connection = server_connect();
        PGresult *result = PQexec(connection,
                                  "SELECT pid FROM pg_stat_activity WHERE application_name = 'tamis' AND state = 'active'");
        assert_int_equal(PQntuples(result), 1);
        assert_int_equal(kill(atoi(PQgetvalue(result, 0, 0)), s->gently ? SIGTERM : SIGKILL), 0);
        PQclear(result);
        PQfinish(connection);
    }
    return !s->kill;
}

static void stopped(bool by_death)
{
    stopper s = {.start = seconds(), .kill = by_death};
    tmi_int128 got[4], *const places[] = {got};
    tamis_error err = {0};
    memset(got, 1, sizeof got);
    tmi_engine *engine = open_table("slow");
    assert_int_equal(engine->aggregate(engine, places, &request, &(tamis_watch){stop_soon, &s}, &err), TAMIS_SYSTEM);
    assert_true(seconds() - s.asked < 60); /* a second, on a machine that has time; the answer would take 100 */
    assert_non_null(strstr(err.message, by_death ? "PostgreSQL, connection 1" : "cancelled"));
    assert_true(got[0] == 0 && got[1] == 0);
    engine->free(engine);
}

/* Stopped or dead, the account stays charged and nothing is known; the server is free again. */
static void stopped_and_dead(void **state)
{
    (void)state;
    server_run("CREATE VIEW slow AS SELECT i::float8 AS x, 'a'::text AS g FROM generate_series(1, 1000) i WHERE pg_sleep(0.1) IS "
               "NOT NULL");
    stopped(false);
    PGconn *connection = server_connect();
    int left = 1;
    for (int i = 0; left && i < 50; i++) {
        PGresult *result = PQexec(connection, "SELECT pid FROM pg_stat_activity WHERE application_name = 'tamis'");
        left = PQntuples(result);
        PQclear(result);
        server_do(connection, "SELECT pg_sleep(0.1)");
    }
    assert_int_equal(left, 0);
    PQfinish(connection);
    stopped(true);
}

/* ---- parts that differ, die, or are slow ---- */

/* Two parts: schema `sound` holds the table, what the other one holds is said by its schema. */
static tmi_engine *open_parts(const char *other, char texts[2][512])
{
    const char *const schemas[] = {"sound", other};
    const char *const connections[] = {texts[0], texts[1]};
    for (size_t p = 0; p < 2; p++) snprintf(texts[p], 512, "%s options=-csearch_path=%s", server_text(), schemas[p]);
    return open_server(connections, 2, "part", false, 1);
}

static void parts_that_differ(void **state)
{
    (void)state;
    static const struct {
        const char *schema, *columns, *words;
    } cases[] = {{"lacks_a_table", NULL, "connection 2: there is no table part"},
                 {"lacks_a_column", "(x float8)", "connection 2: there is no column g"},
                 {"holds_other_kinds", "(x bytea, g text)", "connection 2: column x: the plan uses it as a number"}};
    const tmi_column *const columns[] = {&x, &g};
    char texts[2][512], sql[512];
    tmi_int128 got[4];
    server_run(
        "CREATE SCHEMA sound; CREATE TABLE sound.part (x float8, g text); INSERT INTO sound.part VALUES (3, 'a'), (4, 'b')");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(sql, sizeof sql, "CREATE SCHEMA %s", cases[i].schema);
        server_run(sql);
        snprintf(sql, sizeof sql, "CREATE TABLE %s.part %s", cases[i].schema, cases[i].columns ? cases[i].columns : "");
        if (cases[i].columns) server_run(sql);
        tmi_inventory all = {.columns = columns, .column_count = 2, .rows = 7};
        tamis_error err = {0};
        tmi_engine *engine = open_parts(cases[i].schema, texts);
        assert_int_equal(engine->describe(engine, &all, NULL, &err), TAMIS_INVALID);
        if (!strstr(err.message, cases[i].words)) fail_msg("%s: %s", cases[i].schema, err.message);
        assert_int_equal(all.rows, 0);
        assert_int_equal(ask(got, engine, NULL), TAMIS_SYSTEM); /* after the charge */
        assert_true(got[0] == 0 && got[3] == 0);
        engine->free(engine);
    }
    /* Other types that hold numbers and texts are no difference. */
    server_run("CREATE SCHEMA alike; CREATE TABLE alike.part (g varchar, more int, x numeric); INSERT INTO alike.part VALUES (' "
               "a ', 1, 5)");
    tmi_engine *engine = open_parts("alike", texts);
    assert_int_equal(ask(got, engine, NULL), TAMIS_OK);
    assert_true(got[0] == 3 && got[1] == 24 && got[2] == 3 && got[3] == 3);
    engine->free(engine);
}

/* The sound part has answered long ago; nothing of its answer is given out. */
static void parts_that_are_slow_or_die(void **state)
{
    (void)state;
    char texts[2][512];
    tmi_int128 got[4], *const places[] = {got};
    server_run("CREATE SCHEMA slow_one; CREATE VIEW slow_one.part AS SELECT i::float8 AS x, 'a'::text AS g FROM "
               "generate_series(1, 1000) i "
               "WHERE pg_sleep(0.1) IS NOT NULL");
    for (int by_death = 0; by_death < 2; by_death++) {
        stopper s = {.start = seconds(), .kill = by_death, .gently = true};
        tamis_error err = {0};
        memset(got, 1, sizeof got);
        tmi_engine *engine = open_parts("slow_one", texts);
        assert_int_equal(engine->aggregate(engine, places, &request, &(tamis_watch){stop_soon, &s}, &err), TAMIS_SYSTEM);
        assert_true(seconds() - s.asked < 60); /* a second, on a machine that has time; the answer would take 100 */
        assert_non_null(strstr(err.message, by_death ? "PostgreSQL, connection 2: " : "cancelled"));
        assert_true(got[0] == 0 && got[1] == 0 && got[2] == 0 && got[3] == 0);
        engine->free(engine);
        for (int left = 1; !by_death && left > 0;) { /* until the slow query is gone from the server */
            PGconn *connection = server_connect();
            PGresult *result = PQexec(connection, "SELECT pid FROM pg_stat_activity WHERE application_name = 'tamis'");
            left = PQntuples(result);
            PQclear(result);
            PQfinish(connection);
        }
    }
}

/* ---- memory ---- */

static tamis_status take(void *context, const tmi_piece *piece, tamis_error *err)
{
    (void)context;
    (void)piece;
    (void)err;
    return TAMIS_OK;
}

static void memory_may_fail(void **state)
{
    (void)state;
    const char *const text = server_text();
    const tmi_column *const by[] = {&g}, *const columns[] = {&x, &g, &unit};
    const tmi_table tables[] = {{by, 1, measures, 3}, {NULL, 0, measures, 1}};
    static const unsigned char key[TMI_KEY_BYTES] = {1};
    const tmi_request asked = {.tables = tables, .table_count = 2, .unit = &unit, .rows_per_unit = 1, .key = key};
    const tmi_source source = {.connections = &text, .connection_count = 1, .table = "public.units"};
    tmi_int128 first[6], second[1], *const places[] = {first, second};
    static const tmi_int128 zero[6];
    int64_t rows_in[2];
    tmi_inventory all = {.stratum = &g, .unit = &unit, .rows_in = rows_in};
    tmi_engine *engine;
    EVERY_ALLOCATION_FAILS(tmi_engine_postgres(&engine, &source, 1, NULL), assert_null(engine));
    EVERY_ALLOCATION_FAILS(engine->describe(engine, &all, NULL, NULL), assert_true(all.rows == 0 && rows_in[0] == 0));
    EVERY_ALLOCATION_FAILS((memset(first, 1, sizeof first), engine->aggregate(engine, places, &asked, NULL, NULL)),
                           assert_memory_equal(first, zero, sizeof first));
    EVERY_ALLOCATION_FAILS(engine->rows(engine, columns, 3, take, NULL, NULL), {});
    engine->free(engine);
}

/* ---- units ---- */

static const unsigned char key[TMI_KEY_BYTES] = {5};

static void write_bounded(tmi_text *sql, int64_t most, bool fit)
{
    const tmi_request bounded = {.tables = &table, .table_count = 1, .unit = &unit, .rows_per_unit = most, .key = key};
    tmi_layout layout;
    tmi_sql_passes passes;
    tmi_sql_type types[4];
    tmi_text_init(sql);
    assert_int_equal(tmi_layout_init(&layout, &bounded, NULL), TAMIS_OK);
    for (size_t c = 0; c < layout.column_count; c++)
        types[c] = layout.columns[c]->kind == TMI_NUMBER ? TMI_SQL_DOUBLE : TMI_SQL_TEXT;
    const tmi_sql_source source = {
        .dialect = &tmi_dialect_postgres, .table = "bounded", .layout = &layout, .types = types, .units_fit = fit};
    assert_int_equal(tmi_sql_passes_init(&passes, &tmi_dialect_postgres, &layout, 0, NULL), TAMIS_OK);
    assert_int_equal(tmi_sql_pass_write(sql, &passes.list[0], &source, NULL), TAMIS_OK);
    tmi_sql_passes_clear(&passes);
    tmi_layout_clear(&layout);
}

/* Rows are ordered and hashed only in units that have too many of them, and not at all if there is none. */
static void only_large_units_are_ordered(void **state)
{
    (void)state;
    tmi_text sql;
    write_bounded(&sql, 2, true);
    assert_null(strstr(sql.bytes, "OVER ("));
    assert_null(strstr(sql.bytes, "sha256("));
    tmi_text_clear(&sql);
    write_bounded(&sql, 2, false);
    const char *first = strstr(sql.bytes, "OVER (");
    assert_non_null(first);
    assert_true(strstr(first, " IN (SELECT t") && strstr(sql.bytes, "HAVING count(*) > '2'"));
    tmi_text_clear(&sql);
}

static void units_that_fit_or_not(void **state)
{
    (void)state;
    server_run("SET client_min_messages = error; DROP TABLE IF EXISTS bounded; CREATE TABLE bounded AS SELECT 1.0::float8 AS x, "
               "'a'::text AS g, 'u' || i / 3 AS id FROM generate_series(0, 299) i UNION ALL SELECT 1, 'a', ' ' UNION ALL SELECT "
               "1, 'a', NULL");
    tmi_engine *engine = open_table("bounded");
    tmi_inventory all = {.unit = &unit};
    assert_int_equal(engine->describe(engine, &all, NULL, NULL), TAMIS_OK);
    assert_true(all.rows == 302 && all.units == 100);
    for (int64_t most = 1; most <= 4; most++) {
        const tmi_request bounded = {.tables = &table, .table_count = 1, .unit = &unit, .rows_per_unit = most, .key = key};
        tmi_int128 got[4] = {0}, *const places[] = {got};
        tamis_error err = {0};
        if (engine->check(engine, &bounded, NULL, &err) != TAMIS_OK) fail_msg("%s", err.message);
        if (engine->aggregate(engine, places, &bounded, NULL, &err) != TAMIS_OK) fail_msg("%s", err.message);
        assert_true(got[0] == 100 * (most < 3 ? most : 3) && got[1] == 2 * got[0]);
    }
    engine->free(engine);
}

/* A server that may not write what the worst case needs is refused before the charge. */
static void too_little_disk(void **state)
{
    (void)state;
    tmi_request bounded = {.tables = &table, .table_count = 1, .unit = &unit, .rows_per_unit = 1, .key = key};
    tamis_error err = {0};
    server_run("ALTER SYSTEM SET temp_file_limit = '8kB'");
    server_run("SELECT pg_reload_conf(), pg_sleep(0.5)");
    tmi_engine *engine = open_table("bounded");
    tmi_inventory all = {.unit = &unit};
    assert_int_equal(engine->describe(engine, &all, NULL, NULL), TAMIS_OK);
    assert_int_equal(engine->check(engine, &bounded, NULL, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "temp_file_limit"));
    bounded.unit = NULL;
    assert_int_equal(engine->check(engine, &bounded, NULL, &err), TAMIS_OK);
    engine->free(engine);
    server_run("ALTER SYSTEM RESET temp_file_limit");
    server_run("SELECT pg_reload_conf()");
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(every_type),
        cmocka_unit_test(tiny_quotients),
        cmocka_unit_test(wrong_names),
        cmocka_unit_test(nothing_but_names),
        cmocka_unit_test(parts_and_units),
        cmocka_unit_test(one_state),
        cmocka_unit_test(silent_errors),
        cmocka_unit_test(memory_may_fail),
        cmocka_unit_test(parts_that_differ),
        cmocka_unit_test(parts_that_are_slow_or_die),
        cmocka_unit_test(only_large_units_are_ordered),
        cmocka_unit_test(units_that_fit_or_not),
        cmocka_unit_test(too_little_disk),
        cmocka_unit_test(stopped_and_dead),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
