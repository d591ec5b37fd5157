/* An engine that is asked in SQL: DuckDB by a function of the test. All requests and lists of points have the integers of the
 * reference, wrong engines are refused before the charge, and nothing but integers is believed. */
#include "tests/test.h"

#include "engine/core/points.h"
#include "engine/files/source.h"
#include "engine/statements/probe.h"
#include "tests/base/memory_that_fails.h"
#include "tests/engine/conformance_requests.h"
#include "tests/engine/duckdb_run.h"
#include "tests/engine/random_rows.h"
#include "tests/engine/roads.h"

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
            if (engine->check(engine, request, NULL, &err) != TAMIS_OK)
                fail_msg("%s: %s\n%s", requests[q].name, err.message, on.last);
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
    const tmi_sql_road road = {&tmi_dialect_duckdb, "t", NULL, duckdb_run_sql, &on, NULL};
    if (tmi_probe_engine(&road, &err) != TAMIS_OK) fail_msg("%s", err.message);
    duckdb_run_close(&on);
}

/* ---- wrong engines ---- */

static const tmi_column *const asked_columns[] = {&x, &g, &unit};
static const tmi_inventory plain_inventory = {.columns = asked_columns, .column_count = COUNT(asked_columns)};

/* DuckDB made wrong, by other words in its statements. Its answers are never those of the table. */
static void wrong_engines_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *what, *from, *to;
    } wrong[] = {
        {"ANSI off: decimals with exponents", "CAST(\"d\" AS VARCHAR)", "CAST(CAST(\"d\" AS DOUBLE) AS VARCHAR)"},
        {"ANSI off: sums that wrap", "sum(", "wrapped_sum("},
        {"a collation without capitals", " COLLATE \"C\"", " COLLATE NOCASE"},
        {"sums of doubles", "sum(", "double_sum("},
        {"sums of floats", "sum(", "float_sum("},
        {"NULL left out when texts are joined", " AS VARCHAR), ''), ',', ", " AS VARCHAR) || ',', ''), "},
        {"blanks alone trimmed", "20090a0b0c0d", "20"},
        {"no-break spaces trimmed", "20090a0b0c0d", "c2a020090a0b0c0d"},
        {"towards zero", "floor(", "trunc("},
        {"another hash", "sha256(", "md5("},
        {"rounding to even", "floor(", "round_even(-0.5 + "},
    };
    static const char macros[] =
        "CREATE MACRO wrapped_sum(a) AS ((sum(a) + 9223372036854775808) % 18446744073709551616) - 9223372036854775808; "
        "CREATE MACRO double_sum(a) AS CAST(sum(CAST(a AS DOUBLE)) AS HUGEINT); "
        "CREATE MACRO float_sum(a) AS CAST(sum(CAST(a AS FLOAT)) AS HUGEINT)";
    row *list = random_rows(20, 5, 3);
    for (size_t i = 0; i < COUNT(wrong); i++) {
        duckdb_run on;
        tamis_source *source;
        tamis_error err = {0};
        tmi_inventory all = plain_inventory;
        duckdb_run_open(&on);
        fill(&on, list, 20);
        duckdb_run_do(&on, macros);
        on.from[0] = wrong[i].from;
        on.to[0] = wrong[i].to;
        tmi_engine *engine = engine_on(&source, &on, "t", NULL);
        const tamis_status status = engine->describe(engine, &all, NULL, &err);
        if (status != TAMIS_REFUSED) fail_msg("%s: %d, %s", wrong[i].what, (int)status, err.message);
        if (!strstr(err.message, "rows that tamis made up")) fail_msg("%s: %s", wrong[i].what, err.message);
        assert_int_equal(all.rows, 0);
        engine->free(engine);
        tamis_source_free(source);
        duckdb_run_close(&on);
    }
    free(list);
}

/* What is wrong only in the request of a release is found by its own rows. */
static void wrong_answers_to_a_request(void **state)
{
    (void)state;
    static const tmi_column *const by_cut[] = {&x_cut};
    static const tmi_measure sums[] = {SUM_OF(&x)};
    static const tmi_table table[] = {{by_cut, 1, sums, 1}};
    static const tmi_request request = {.tables = table, .table_count = 1};
    static const tmi_points_request list_of = {.value = &x, .by = by_cut, .by_count = 1};
    row *list = random_rows(20, 5, 3);
    duckdb_run on;
    tamis_source *source;
    tamis_error err = {0};
    tmi_inventory all = {.columns = asked_columns, .column_count = 1, .stratum = &s, .rows_in = (int64_t[2]){0}};
    duckdb_run_open(&on);
    fill(&on, list, 20);
    tmi_engine *engine = engine_on(&source, &on, "t", "a version");
    assert_int_equal(engine->describe(engine, &all, NULL, &err), TAMIS_OK);
    on.from[0] = "CAST(399 AS BIGINT)"; /* a cut */
    on.to[0] = "CAST(398 AS BIGINT)";
    assert_int_equal(engine->check(engine, &request, NULL, &err), TAMIS_REFUSED);
    assert_non_null(strstr(err.message, "the engine's sums differ"));
    assert_int_equal(tmi_engine_points_check(engine, &list_of, NULL, &err), TAMIS_REFUSED);
    assert_non_null(strstr(err.message, "the engine's points differ"));
    on.from[0] = "6e6f727468"; /* north */
    on.to[0] = "4e6f727468";
    assert_int_equal(engine->describe(engine, &all, NULL, &err), TAMIS_REFUSED);
    assert_non_null(strstr(err.message, "numbers of rows, units and clusters differ"));
    on.from[0] = NULL;
    assert_int_equal(engine->check(engine, &request, NULL, &err), TAMIS_OK);
    assert_int_equal(tmi_engine_points_check(engine, &list_of, NULL, &err), TAMIS_OK);
    engine->free(engine);
    tamis_source_free(source);
    duckdb_run_close(&on);
    free(list);
}

/* ---- one state of the table ---- */

static const tmi_measure one_count[] = {ROWS_WITH(NULL)};
static const tmi_table count_table[] = {{NULL, 0, one_count, 1}};
static const tmi_request count_request = {.tables = count_table, .table_count = 1};

/* Numbers that are fixed are counted again with the sums; others may change. */
static void a_table_that_changes(void **state)
{
    (void)state;
    static const struct {
        bool rows, units, clusters;
        const char *change;
        bool seen;
    } cases[] = {
        {true, false, false, "INSERT INTO t SELECT * FROM t LIMIT 1", true},
        {true, false, false, "UPDATE t SET x = 5", false},
        {true, false, false, "UPDATE t SET s = 'south' WHERE s = 'north'", true},
        {false, true, false, "INSERT INTO t SELECT * FROM t WHERE id <> '' LIMIT 1", false},
        {false, true, false, "UPDATE t SET id = 'another' WHERE id = (SELECT min(id) FROM t WHERE trim(id) <> '')", false},
        {false, true, false, "UPDATE t SET id = 'the only one'", true},
        {false, false, true, "UPDATE t SET \"c \"\"1\"\"\" = 'the only one'", true},
        {false, false, true, "DELETE FROM t WHERE trim(\"c \"\"1\"\"\") = ''", false},
        {false, false, false, "DELETE FROM t", false},
    };
    row *list = random_rows(60, 9, 4);
    for (size_t i = 0; i < COUNT(cases); i++) {
        int64_t counts[3][2];
        tmi_int128 answer = 7, *const answers[] = {&answer};
        duckdb_run on;
        tamis_source *source;
        tamis_error err = {0};
        tmi_inventory all = {.columns = asked_columns,
                             .column_count = 1,
                             .unit = &unit,
                             .cluster = &label,
                             .stratum = &s,
                             .rows_in = counts[0],
                             .units_in = counts[1],
                             .clusters_in = counts[2],
                             .rows_fixed = cases[i].rows,
                             .units_fixed = cases[i].units,
                             .clusters_fixed = cases[i].clusters};
        duckdb_run_open(&on);
        fill(&on, list, 60);
        tmi_engine *engine = engine_on(&source, &on, "t", NULL);
        assert_int_equal(engine->describe(engine, &all, NULL, &err), TAMIS_OK);
        assert_int_equal(engine->check(engine, &count_request, NULL, &err), TAMIS_OK);
        duckdb_run_do(&on, cases[i].change);
        const size_t before = on.statements;
        const tamis_status status = engine->aggregate(engine, answers, &count_request, NULL, &err);
        assert_int_equal(on.statements, before + 1); /* all of it in one */
        if (status != (cases[i].seen ? TAMIS_SYSTEM : TAMIS_OK))
            fail_msg("%s: %d, %s", cases[i].change, (int)status, err.message);
        if (cases[i].seen) assert_non_null(strstr(err.message, "the table has changed"));
        if (cases[i].seen) assert_true(answer == 0);
        engine->free(engine);
        tamis_source_free(source);
        duckdb_run_close(&on);
    }
    free(list);
}

static void several_statements_need_a_version(void **state)
{
    (void)state;
    static const tmi_points_request list_of = {.value = &x};
    row *list = random_rows(9, 5, 3);
    for (int named = 0; named < 2; named++) {
        duckdb_run on;
        tamis_source *source;
        tamis_error err = {0};
        tmi_inventory all = plain_inventory;
        duckdb_run_open(&on);
        fill(&on, list, 9);
        tmi_engine *engine = engine_on(&source, &on, "t", named ? "delta@12" : NULL);
        assert_int_equal(engine->describe(engine, &all, NULL, &err), TAMIS_OK);
        assert_int_equal(all.rows, 9);
        assert_int_equal(engine->check(engine, &count_request, NULL, &err), TAMIS_OK);
        assert_int_equal(tmi_engine_points_check(engine, &list_of, NULL, &err), named ? TAMIS_OK : TAMIS_REFUSED);
        if (!named) assert_non_null(strstr(err.message, "rows_version"));
        engine->free(engine);
        tamis_source_free(source);
        duckdb_run_close(&on);
    }
    free(list);
}

static void tables_that_are_drawn_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *table;
        bool refused;
    } cases[] = {
        {"(SELECT * FROM t LIMIT 5) q", true},
        {"(SELECT * FROM t USING SAMPLE 50 PERCENT (bernoulli)) q", true},
        {"(SELECT * REPLACE (x + random() AS x) FROM t) q", true},
        {"(SELECT * REPLACE (CAST(uuid() AS VARCHAR) AS id) FROM t) q", true},
        {"(SELECT * FROM t ORDER BY x LIMIT 5) q", true},
        {"(SELECT * FROM t WHERE x > 1) q", false},
        {"t", false},
    };
    row *list = random_rows(9, 5, 3);
    for (size_t i = 0; i < COUNT(cases); i++) {
        duckdb_run on;
        tamis_source *source;
        tamis_error err = {0};
        tmi_inventory all = plain_inventory;
        duckdb_run_open(&on);
        fill(&on, list, 9);
        tmi_engine *engine = engine_on(&source, &on, cases[i].table, NULL);
        const tamis_status status = engine->describe(engine, &all, NULL, &err);
        if (status != (cases[i].refused ? TAMIS_REFUSED : TAMIS_OK))
            fail_msg("%s: %d, %s", cases[i].table, (int)status, err.message);
        if (cases[i].refused) assert_non_null(strstr(err.message, "two readings"));
        engine->free(engine);
        tamis_source_free(source);
        duckdb_run_close(&on);
    }
    free(list);
}

/* ---- answers ---- */

/* Says what it is told to. */
typedef struct scripted {
    const char *reply;
    tamis_status status;
} scripted;

static tamis_status say(void *context, tamis_reply *reply, const char *sql, tamis_error *err)
{
    const scripted *script = context;
    assert_non_null(sql);
    tamis_reply_set(reply, script->reply);
    if (script->status != TAMIS_OK && err) strcpy(err->message, "secret");
    return script->status;
}

static void only_integers_are_believed(void **state)
{
    (void)state;
    static const struct {
        const char *reply;
        tamis_status status;
        const char *word;
    } cases[] = {
        {"[[\"0\", \"0\", \"5\", \"5\"]]", TAMIS_OK, NULL},
        {"[[0, 0, 5, 5]]", TAMIS_OK, NULL},
        {"[[\"0\", \"0\", null, null]]", TAMIS_OK, NULL},
        {"[]", TAMIS_UNABLE, "cannot be right"}, /* without groups there is one row */
        {"[[\"0\", \"0\", \"5\", \"5\"], [\"0\", \"0\", \"5\", \"5\"]]", TAMIS_UNABLE, "cannot be right"},
        {"[[null, \"0\", \"5\", \"5\"]]", TAMIS_UNABLE, "cannot be right"},
        {"[[\"18446744073709551616\", \"0\", \"5\", \"5\"]]", TAMIS_UNABLE, "cannot be right"},
        {"[[\"0\", \"0\", \"5\", \"5.0\"]]", TAMIS_UNABLE, "cannot be right"},
        {"[[\"0\", \"0\", \"5\", \"secret\"]]", TAMIS_UNABLE, "cannot be right"},
        {"[[\"0\", \"0\", \"5\", \"\"]]", TAMIS_UNABLE, "cannot be right"},
        {"[[\"0\", \"0\", \"5\", 5.5]]", TAMIS_UNABLE, "cannot be right"},
        {"[[\"0\", \"0\", \"5\", true]]", TAMIS_UNABLE, "cannot be right"},
        {"[[\"0\", \"0\", \"5\"]]", TAMIS_UNABLE, "cannot be right"},
        {"[[\"1\", \"0\", \"5\", \"5\"]]", TAMIS_UNABLE, "cannot be right"},
        {"[[\"-1\", \"0\", \"5\", \"5\"]]", TAMIS_UNABLE, "cannot be right"},
        {"[[\"0\", \"-1\", \"5\", \"5\"]]", TAMIS_UNABLE, "cannot be right"},
        {"[[\"0\", \"0\", \"-5\", \"5\"]]", TAMIS_UNABLE, "cannot be right"},
        {"[[\"0\", \"0\", \"1099511627777\", \"5\"]]", TAMIS_UNABLE, "cannot be right"},
        {"[[\"0\", \"0\", \"5\", \"999999999999999999999999999999999999999999\"]]", TAMIS_UNABLE, "cannot be right"},
        {"{}", TAMIS_UNABLE, "list of lists"},
        {"[{}]", TAMIS_UNABLE, "list of lists"},
        {"[[\"0\"", TAMIS_UNABLE, "list of lists"},
        {NULL, TAMIS_UNABLE, "list of lists"},
    };
    tmi_known_columns none = {0};
    for (size_t i = 0; i < COUNT(cases) + 1; i++) {
        const bool fails = i == COUNT(cases);
        scripted script = {fails ? "[]" : cases[i].reply, fails ? TAMIS_INVALID : TAMIS_OK};
        const tmi_sql_road road = {&tmi_dialect_spark, "t", NULL, say, &script, NULL};
        const tmi_sql_place place = {&road, "t", &none, 0};
        tmi_int128 answer = 0, *const answers[] = {&answer};
        tamis_error err = {0};
        const tamis_status status = tmi_place_sums(answers, &place, &count_request, NULL, &err);
        if (status != (fails ? TAMIS_UNABLE : cases[i].status)) fail_msg("%zu: %d, %s", i, (int)status, err.message);
        if (status != TAMIS_OK && !strstr(err.message, fails ? "withheld" : cases[i].word)) fail_msg("%zu: %s", i, err.message);
        assert_null(strstr(err.message, "secret"));
    }
}

static void columns_are_checked(void **state)
{
    (void)state;
    static const tmi_column absent = {.name = "absent", .grid = {0, 9, 1, 0, 9}},
                            number_h = {.name = "h", .grid = {0, 9, 1, 0, 9}}, dollar = {.name = "${x}", .kind = TMI_LABEL},
                            time = {.name = "time", .kind = TMI_LABEL}, capital = {.name = "X", .grid = {0, 9, 1, 0, 9}},
                            words_x = {.name = "x", .kind = TMI_CATEGORY, .values = g_values, .value_count = 3};
    static const struct {
        const tmi_column *column;
        const char *word;
    } cases[] = {{&absent, "column absent cannot be read"},
                 {&number_h, "column h"},
                 {&dollar, "${"},
                 {&time, "column time has a type or collation without one form"},
                 {&capital, "there is no column X, only one whose name has other capital and small letters"},
                 {&words_x, "column x"}};
    row *list = random_rows(9, 5, 3);
    duckdb_run on;
    duckdb_run_open(&on);
    fill(&on, list, 9);
    duckdb_run_do(&on, "ALTER TABLE t ADD COLUMN time TIMESTAMP");
    for (size_t i = 0; i < COUNT(cases); i++) {
        tamis_source *source;
        tamis_error err = {0};
        const tmi_column *const columns[] = {cases[i].column, &g};
        tmi_inventory all = {.columns = columns, .column_count = 2};
        tmi_engine *engine = engine_on(&source, &on, "t", NULL);
        const tamis_status status = engine->describe(engine, &all, NULL, &err);
        if (status != TAMIS_INVALID || !strstr(err.message, cases[i].word)) fail_msg("%zu: %d, %s", i, (int)status, err.message);
        engine->free(engine);
        tamis_source_free(source);
    }
    duckdb_run_close(&on);
    free(list);
}

/* Spark has no exact text of doubles: they may be categories, not ids. */
static void doubles_of_spark(void **state)
{
    (void)state;
    static const char *const halves[] = {"0.5", "1", "-2"};
    static const tmi_column id = {.name = "id", .kind = TMI_LABEL},
                            half = {.name = "id", .kind = TMI_CATEGORY, .values = halves, .value_count = 3};
    for (int label_ = 0; label_ < 2; label_++) {
        scripted script = {"[[\"4.0\", \"double\", \"1\"]]", TAMIS_OK};
        const tmi_sql_road road = {&tmi_dialect_spark, "t", NULL, say, &script, NULL};
        const tmi_column *const columns[] = {label_ ? &id : &half};
        const tmi_inventory asked = {.columns = columns, .column_count = 1};
        tmi_known_columns known = {0};
        tmi_layout layout;
        tamis_error err = {0};
        assert_int_equal(tmi_layout_of_inventory(&layout, &asked, NULL), TAMIS_OK);
        assert_int_equal(tmi_known_learn(&known, &road, &layout, &err), label_ ? TAMIS_INVALID : TAMIS_OK);
        if (label_) assert_non_null(strstr(err.message, "convert it to an integer"));
        tmi_known_clear(&known);
        tmi_layout_clear(&layout);
    }
}

/* A version that our tests have not run is experimental. */
static void versions_of_spark(void **state)
{
    (void)state;
    static const struct {
        const char *answer;
        bool is_tested;
    } cases[] = {{"[[\"4.3.0 of a day\", \"double\", 1]]", true},
                 {"[[\"3.5.1\", \"double\", 1]]", false},
                 {"[[null, \"double\", 1]]", false}};
    static const tmi_column number = {.name = "x", .grid = {0, 9, 1, 0, 9}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        scripted script = {cases[i].answer, TAMIS_OK};
        const tmi_sql_road road = {&tmi_dialect_spark, "t", NULL, say, &script, NULL};
        const tmi_column *const columns[] = {&number};
        tmi_inventory asked = {.columns = columns, .column_count = 1};
        tmi_engine *engine;
        tmi_value *told;
        assert_int_equal(tmi_engine_sql(&engine, &road, NULL), TAMIS_OK);
        assert_int_not_equal(engine->describe(engine, &asked, NULL, NULL), TAMIS_OK); /* the probe fails, after the version */
        assert_int_equal(engine->facts(engine, &told, NULL), TAMIS_OK);
        assert_int_equal(tmi_value_true(told, "experimental"), !cases[i].is_tested);
        tmi_value_free(told);
        engine->free(engine);
    }
}

static void bad_sources(void **state)
{
    (void)state;
    scripted script = {"[]", TAMIS_OK};
    tamis_source *source = NULL;
    const tamis_sql good = {sizeof good, "spark", "t", say, &script, NULL};
    tamis_sql bad[5] = {good, good, good, good, good};
    bad[0].dialect = NULL;
    bad[1].dialect = "basic";
    bad[2].table = "";
    bad[3].run = NULL;
    bad[4].size = 0;
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_int_equal(tamis_source_sql(&source, &bad[i], NULL), TAMIS_INVALID);
        assert_null(source);
    }
    assert_int_equal(tamis_source_sql(NULL, &good, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_source_sql(&source, NULL, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_source_sql(&source, &good, NULL), TAMIS_OK);
    assert_int_equal(tamis_source_numbers(source, "x", (const double[]){1}, NULL), TAMIS_INVALID);
    tamis_source_free(source);
    EVERY_ALLOCATION_FAILS(tamis_source_sql(&source, &good, NULL), assert_null(source));
    tamis_source_free(source);
}

/* ---- memory ---- */

/* The answers of DuckDB to one call, given again in the same order. */
typedef struct tape {
    duckdb_run *on; /* NULL: it plays */
    char *replies[64];
    size_t count, at;
} tape;

static tamis_status record_or_play(void *context, tamis_reply *reply, const char *sql, tamis_error *err)
{
    tape *t = context;
    if (!t->on) {
        if (t->at == t->count) return TAMIS_SYSTEM;
        tamis_reply_set(reply, t->replies[t->at++]);
        return TAMIS_OK;
    }
    const tamis_status status = duckdb_run_sql(t->on, reply, sql, err);
    if (status == TAMIS_OK) t->replies[t->count++] = strdup(reply->text);
    return status;
}

static tamis_status whole_release(tape *t, const tmi_request *request, tmi_int128 *const *answers)
{
    const tmi_sql_road road = {&tmi_dialect_duckdb, "t", NULL, record_or_play, t, NULL};
    tmi_engine *engine = NULL;
    tmi_inventory all = {.columns = asked_columns, .column_count = COUNT(asked_columns), .rows_fixed = true};
    tamis_status status;
    t->at = 0;
    TMI_TRY(tmi_engine_sql(&engine, &road, NULL));
    TMI_TRY(engine->describe(engine, &all, NULL, NULL));
    TMI_TRY(engine->check(engine, request, NULL, NULL));
    TMI_TRY(engine->aggregate(engine, answers, request, NULL, NULL));
done:
    if (engine) engine->free(engine);
    return status;
}

static void memory_fails(void **state)
{
    (void)state;
    static const tmi_measure sums[] = {SUM_OF(&x)};
    static const tmi_column *const by_g_[] = {&g};
    static const tmi_table table[] = {{by_g_, 1, sums, 1}};
    static const tmi_request request = {.tables = table, .table_count = 1, .unit = &unit, .rows_per_unit = 2, .key = key};
    tmi_int128 answer[3], *const answers[] = {answer};
    row *list = random_rows(9, 5, 3);
    duckdb_run on;
    tape t = {.on = &on};
    duckdb_run_open(&on);
    fill(&on, list, 9);
    assert_int_equal(whole_release(&t, &request, answers), TAMIS_OK);
    t.on = NULL;
    ALLOCATIONS_FAIL(k_ + 1 + k_ / 30, whole_release(&t, &request, answers), (void)0);
    for (size_t i = 0; i < t.count; i++) free(t.replies[i]);
    duckdb_run_close(&on);
    free(list);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(the_probe),
        cmocka_unit_test(every_request),
        cmocka_unit_test(wrong_engines_are_refused),
        cmocka_unit_test(wrong_answers_to_a_request),
        cmocka_unit_test(a_table_that_changes),
        cmocka_unit_test(several_statements_need_a_version),
        cmocka_unit_test(tables_that_are_drawn_are_refused),
        cmocka_unit_test(only_integers_are_believed),
        cmocka_unit_test(columns_are_checked),
        cmocka_unit_test(doubles_of_spark),
        cmocka_unit_test(versions_of_spark),
        cmocka_unit_test(bad_sources),
        cmocka_unit_test(memory_fails),
    };
    return cmocka_run_group_tests(all, make_folder, remove_folder);
}
