/* Requests at the limits of the engines and one beyond. Where an engine's question has a limit the request is asked in parts: the
 * integers are those of an engine without one, and nothing that a plan can ask for is refused after the charge. */
#include "tests/test.h"

#include "engine/core/cells.h"
#include "engine/core/split.h"
#include "engine/sql/sql.h"
#include "tests/engine/folder.h"
#include "tests/engine/server.h"

/* ---- a wide table ---- */

#define READ 1000 /* columns of a plan at most */
#define MADE 1400 /* indicators: one for each condition of a statistic */
#define MEASURES 3400
#define ROWS 12
#define UNITS 3 /* of four rows each */

static char names[READ][8];
static tmi_column numbers[READ], indicators[MADE];
static tmi_condition conditions[MADE];
static tmi_measure measures[MEASURES];
static const tmi_column unit = {.name = "id", .kind = TMI_LABEL};
static const unsigned char key[TMI_KEY_BYTES] = "which rows of a unit count, here";

static int cell(size_t row, size_t column) { return (int)((row * 37 + column * 11 + row * column) % 101); }

/* Measure i: a conditional sum while there are indicators, then sums, then rows with a value. */
static void make_columns(void)
{
    for (size_t c = 0; c < READ; c++) {
        snprintf(names[c], sizeof names[c], "x%zu", c);
        numbers[c] = (tmi_column){.name = names[c], .kind = TMI_NUMBER, .grid = {0, 100, 1, 0, 100}};
    }
    for (size_t i = 0; i < MADE; i++) {
        conditions[i] = (tmi_condition){.column = &numbers[(7 * i + 1) % READ], .least = (int64_t)(i % 60), .most = 90};
        indicators[i] = (tmi_column){.name = "condition",
                                     .kind = TMI_INDICATOR,
                                     .conditions = &conditions[i],
                                     .condition_count = 1};
    }
    for (size_t i = 0; i < MEASURES; i++) {
        measures[i] = i < MADE + READ ? tmi_sum_of(&numbers[i % READ]) : tmi_rows_with(&numbers[i % READ]);
        if (i < MADE) measures[i].where = &indicators[i];
        measures[i].high = 100 + (int64_t)(i / READ); /* no two alike */
    }
}

static const char *write_wide_csv(void)
{
    const char *path = in_folder("wide.csv");
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs("id", file);
    for (size_t c = 0; c < READ; c++) fprintf(file, ",%s", names[c]);
    for (size_t r = 0; r < ROWS; r++) {
        fprintf(file, "\np%zu", r % UNITS);
        for (size_t c = 0; c < READ; c++) fprintf(file, ",%d", cell(r, c));
    }
    putc('\n', file);
    assert_int_equal(fclose(file), 0);
    return path;
}

/* Every second column numeric: these take more steps than doubles. */
static void write_wide_table(void)
{
    static char sql[1 << 17];
    static const char *const types[] = {"numeric", "float8"};
    size_t n = (size_t)snprintf(sql, sizeof sql,
                                "SET client_min_messages = error; DROP TABLE IF EXISTS wide; CREATE TABLE wide (id text");
    for (size_t c = 0; c < READ; c++) n += (size_t)snprintf(sql + n, sizeof sql - n, ", %s %s", names[c], types[c % 2]);
    n += (size_t)snprintf(sql + n, sizeof sql - n, "); INSERT INTO wide VALUES ");
    for (size_t r = 0; r < ROWS; r++) {
        n += (size_t)snprintf(sql + n, sizeof sql - n, "%s('p%zu'", r > 0 ? ", " : "", r % UNITS);
        for (size_t c = 0; c < READ; c++) n += (size_t)snprintf(sql + n, sizeof sql - n, ", '%d'", cell(r, c));
        n += (size_t)snprintf(sql + n, sizeof sql - n, ")");
    }
    server_run(sql);
}

/* ---- all engines ---- */

static void ask(tmi_int128 *answers, tmi_engine *engine, const tmi_request *request)
{
    tmi_int128 *const places[] = {answers};
    tamis_error err = {0};
    if (engine->check && engine->check(engine, request, NULL, &err) != TAMIS_OK) fail_msg("%s: %s", engine->name, err.message);
    if (engine->aggregate(engine, places, request, NULL, &err) != TAMIS_OK) fail_msg("%s: %s", engine->name, err.message);
}

static tmi_engine *engines[3];

static int open_engines(void **state)
{
    if (make_folder(state) != 0) return 1;
    make_columns();
    const char *const file = write_wide_csv(), *const text = server_text();
    const tmi_source source = {.files = &file, .file_count = 1};
    write_wide_table();
    assert_int_equal(tmi_engine_memory(&engines[0], &source, 1, NULL), TAMIS_OK);
    assert_int_equal(tmi_engine_duckdb(&engines[1], &source, 1, NULL), TAMIS_OK);
    engines[2] = open_server(&text, 1, "wide", false, 1);
    return 0;
}

static int close_engines(void **state)
{
    for (size_t i = 0; i < 3; i++) engines[i]->free(engines[i]);
    return remove_folder(state);
}

static void compare(size_t count, bool with_unit)
{
    static tmi_int128 answers[3][MEASURES];
    const tmi_table table = {.measures = measures, .measure_count = count};
    const tmi_request request = {
        .tables = &table, .table_count = 1, .unit = with_unit ? &unit : NULL, .rows_per_unit = 2, .key = key};
    assert_int_equal(tmi_request_check(&request, NULL), TAMIS_OK);
    for (size_t i = 0; i < 3; i++) ask(answers[i], engines[i], &request);
    for (size_t i = 1; i < 3; i++)
        for (size_t m = 0; m < count; m++)
            if (answers[i][m] != answers[0][m]) fail_msg("%s differs in measure %zu of %zu", engines[i]->name, m, count);
    tmi_int128 sum = 0;
    for (size_t m = 0; m < count; m++) sum += answers[0][m] > 0;
    assert_true(sum > (tmi_int128)count / 2); /* there was something to compare */
}

/* 512 conditional sums have 1,024 columns with their conditions, the next one more; 801 pass TMI_SQL_ENTRIES. */
static void wide_requests_are_answered(void **state)
{
    (void)state;
    static const size_t counts[] = {801, 512, 513, 700, 800, MEASURES};
    for (size_t i = 0; i < (size_t)test_size(1, 6); i++) compare(counts[i], false);
}

/* With a unit every part has all columns that are given: which rows count depends on them. */
static void wide_requests_of_units_are_answered(void **state)
{
    (void)state;
    compare((size_t)test_size(MADE / 2 + 1, MEASURES), true);
}

/* ---- splitting ---- */

static void check_split(const tmi_layout *whole, size_t columns, size_t most, size_t expected)
{
    tmi_split split;
    size_t t = 0, m = 0;
    assert_int_equal(tmi_split_make(&split, whole, columns, most, NULL), TAMIS_OK);
    if (expected > 0) assert_int_equal(split.count, expected);
    for (size_t i = 0; i < split.count; i++) {
        const tmi_request_part *part = &split.list[i];
        size_t last = 0;
        assert_true(part->layout.column_count <= columns && part->request.table_count > 0);
        assert_ptr_equal(part->layout.request, &part->request);
        for (size_t c = 0; c < part->layout.column_count; c++) { /* in the order of the whole */
            const size_t at = tmi_layout_index(whole, part->layout.columns[c]);
            assert_true(at < whole->column_count && (c == 0 || at > last));
            last = at;
        }
        for (size_t k = 0; k < part->request.table_count; k++) {
            const tmi_table *table = &part->request.tables[k];
            if (m == whole->request->tables[t].measure_count) t++, m = 0;
            assert_true(part->tables[k] == t && part->firsts[k] == m && table->measure_count > 0 && table->measure_count <= most);
            assert_ptr_equal(table->measures, whole->request->tables[t].measures + m);
            for (size_t j = 0; j < table->measure_count; j++) {
                const tmi_measure *measure = &table->measures[j];
                assert_true(tmi_layout_index(&part->layout, measure->factors[0].column) < part->layout.column_count);
                if (measure->where)
                    assert_true(tmi_layout_index(&part->layout, measure->where->conditions[0].column) <
                                part->layout.column_count);
            }
            m += table->measure_count;
        }
    }
    assert_true(t + 1 == whole->request->table_count && m == whole->request->tables[t].measure_count);
    tmi_split_clear(&split);
}

static void parts_are_the_whole(void **state)
{
    (void)state;
    const tmi_table tables[] = {{.measures = measures, .measure_count = 10}, {.measures = measures + 10, .measure_count = 23}};
    const tmi_request request = {.tables = tables, .table_count = 2};
    tmi_layout whole;
    assert_int_equal(tmi_layout_init(&whole, &request, NULL), TAMIS_OK);
    const size_t all = whole.column_count;
    check_split(&whole, all, 23, 1);     /* at both limits, */
    check_split(&whole, all - 1, 23, 2); /* and one beyond each */
    check_split(&whole, all, 22, 2);
    for (size_t columns = 3; columns <= all; columns++)
        for (size_t most = 1; most <= 24; most++) check_split(&whole, columns, most, 0);
    tmi_split split;
    tamis_error err = {0};
    assert_int_equal(tmi_split_make(&split, &whole, 2, 23, &err), TAMIS_INVALID); /* a number, a condition and its number */
    assert_non_null(strstr(err.message, "needs 3 columns"));
    tmi_layout_clear(&whole);
}

static void answers_find_their_places(void **state)
{
    (void)state;
    static const char *const values[] = {"a", "b"};
    const tmi_column g = {.name = "g", .kind = TMI_CATEGORY, .values = values, .value_count = 2};
    const tmi_column *const by[] = {&g};
    const tmi_table tables[] = {{by, 1, measures, 3}, {.measures = measures + 3, .measure_count = 2}};
    const tmi_request request = {.tables = tables, .table_count = 2};
    tmi_int128 grouped[6], plain[2], *const answers[] = {grouped, plain}, own[6];
    tmi_layout whole;
    tmi_split split;
    assert_int_equal(tmi_layout_init(&whole, &request, NULL), TAMIS_OK);
    assert_int_equal(tmi_split_make(&split, &whole, whole.column_count, 2, NULL), TAMIS_OK);
    assert_int_equal(split.count, 2);
    for (size_t i = 0; i < split.count; i++) {
        const tmi_request_part *part = &split.list[i];
        tmi_int128 *places[2];
        for (size_t t = 0, used = 0; t < part->request.table_count; t++) {
            const tmi_table *table = &part->request.tables[t];
            places[t] = own + used;
            for (size_t k = 0; k < tmi_table_cells(table); k++)
                for (size_t m = 0; m < table->measure_count; m++)
                    own[used++] = (tmi_int128)(100 * part->tables[t] + 10 * k + part->firsts[t] + m);
        }
        tmi_split_give(answers, &request, part, places);
    }
    for (size_t k = 0; k < 2; k++)
        for (size_t m = 0; m < 3; m++) assert_true(grouped[3 * k + m] == (tmi_int128)(10 * k + m));
    for (size_t m = 0; m < 2; m++) assert_true(plain[m] == (tmi_int128)(100 + m));
    tmi_split_clear(&split);
    tmi_layout_clear(&whole);
}

/* ---- names ---- */

/* A server cuts names at 63 bytes and would then find another column or table. */
static void long_names_are_not_cut(void **state)
{
    (void)state;
    char cut[64], longer[80], sql[400];
    const char *const text = server_text();
    memset(cut, 'n', 63);
    cut[63] = '\0';
    snprintf(longer, sizeof longer, "%s-more", cut);
    snprintf(sql, sizeof sql,
             "SET client_min_messages = error; DROP TABLE IF EXISTS %s; CREATE TABLE %s (%s float8); DROP TABLE IF EXISTS named; "
             "CREATE TABLE named (%s float8)",
             cut, cut, cut, cut);
    server_run(sql);
    const struct {
        const char *table, *column;
        tamis_status status;
    } cases[] = {{cut, cut, TAMIS_OK}, {"named", cut, TAMIS_OK}, {longer, cut, TAMIS_INVALID}, {"named", longer, TAMIS_INVALID}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const tmi_column column = {.name = cases[i].column, .kind = TMI_NUMBER, .grid = {0, 1, 1, 0, 1}}, *const list[] = {
                                                                                                              &column};
        tmi_inventory inventory = {.columns = list, .column_count = 1};
        tmi_engine *engine = open_server(&text, 1, cases[i].table, false, 1);
        assert_int_equal(engine->describe(engine, &inventory, NULL, NULL), cases[i].status);
        engine->free(engine);
    }
}

/* What only the server knows, here a right that is needed to bound the rows of a unit, is asked of it before the charge; no row
 * is read for that. */
static void the_server_plans_before_the_charge(void **state)
{
    (void)state;
    const tmi_column x = {.name = "x", .kind = TMI_NUMBER, .grid = {0, 1, 1, 0, 1}};
    const tmi_measure sum = tmi_sum_of(&x);
    const tmi_table table = {.measures = &sum, .measure_count = 1};
    const tmi_request request = {.tables = &table, .table_count = 1, .unit = &unit, .rows_per_unit = 1, .key = key};
    char connection[600];
    const char *const text = connection;
    tmi_int128 answer, *const answers[] = {&answer};
    server_run(
        "SET client_min_messages = error; DROP VIEW IF EXISTS breaks; DROP ROLE IF EXISTS poor; CREATE ROLE poor LOGIN; "
        "CREATE VIEW breaks AS SELECT id, (1 / (length(id) - 2))::float8 AS x FROM wide; GRANT SELECT ON breaks, wide TO poor; "
        "REVOKE EXECUTE ON FUNCTION sha256(bytea) FROM PUBLIC");
    for (int poor = 0; poor < 2; poor++) {
        snprintf(connection, sizeof connection, "%s%s", server_text(), poor ? " user=poor" : "");
        tmi_engine *engine = open_server(&text, 1, "breaks", false, 1);
        assert_int_equal(engine->check(engine, &request, NULL, NULL), poor ? TAMIS_SYSTEM : TAMIS_OK);
        assert_int_equal(engine->aggregate(engine, answers, &request, NULL, NULL), TAMIS_SYSTEM); /* all rows divide by 0 */
        engine->free(engine);
    }
    server_run("GRANT EXECUTE ON FUNCTION sha256(bytea) TO PUBLIC; DROP OWNED BY poor; DROP ROLE poor; DROP VIEW breaks");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_the_whole),        cmocka_unit_test(answers_find_their_places),
        cmocka_unit_test(long_names_are_not_cut),     cmocka_unit_test(the_server_plans_before_the_charge),
        cmocka_unit_test(wide_requests_are_answered), cmocka_unit_test(wide_requests_of_units_are_answered),
    };
    return cmocka_run_group_tests(tests, open_engines, close_engines);
}
