/* The writer of SQL in a second dialect, that of DuckDB: what it writes is not PostgreSQL's alone. Every request of the
 * conformance test becomes statements that return texts, and the integers are those of reference.h, bit for bit. */
#include "tests/test.h"

#include "engine/core/cells.h"
#include "engine/sql/sql.h"
#include "tests/engine/conformance_requests.h"
#include "tests/engine/random_rows.h"
#include "tests/engine/roads.h"

/* ---- the answers ---- */

typedef struct session {
    duckdb_database database;
    duckdb_connection connection;
} session;

static tmi_int128 integer_at(const tmi_duckdb_api *api, duckdb_data_chunk chunk, size_t column, size_t row)
{
    duckdb_vector vector = api->data_chunk_get_vector(chunk, column);
    const uint64_t *validity = api->vector_get_validity(vector);
    duckdb_string_t *cells = api->vector_get_data(vector);
    char text[64];
    tmi_int128 value = 0;
    if (validity && !(validity[row / 64] >> row % 64 & 1)) return 0;
    const bool is_short = cells[row].value.inlined.length <= 12;
    snprintf(text, sizeof text, "%.*s", (int)cells[row].value.inlined.length,
             is_short ? cells[row].value.inlined.inlined : cells[row].value.pointer.ptr);
    if (!tmi_int128_read(&value, text)) fail_msg("not an integer: %s", text);
    return value;
}

static void run_pass(tmi_int128 *const *answers, const session *on, const tmi_sql_pass *pass, const char *sql)
{
    const tmi_duckdb_api *api = tmi_duckdb_load(NULL);
    duckdb_result result;
    duckdb_data_chunk chunk;
    tmi_int128 *sums = calloc(pass->sum_count + 1, sizeof *sums);
    if (api->query(on->connection, sql, &result) == DuckDBError) fail_msg("%s\n%s", api->result_error(&result), sql);
    while ((chunk = api->fetch_chunk(result))) {
        for (size_t row = 0; row < api->data_chunk_get_size(chunk); row++) {
            for (size_t i = 0; i < pass->sum_count; i++) sums[i] = integer_at(api, chunk, i + 2, row);
            assert_true(tmi_sql_pass_add(answers, pass, (int64_t)integer_at(api, chunk, 0, row), sums));
        }
        api->destroy_data_chunk(&chunk);
    }
    api->destroy_result(&result);
    free(sums);
}

static void ask(tmi_int128 *const *answers, const session *on, const tmi_dialect *words, const tmi_request *request, size_t rows)
{
    tmi_layout layout;
    tmi_sql_passes passes;
    tmi_sql_type types[64];
    assert_int_equal(tmi_layout_init(&layout, request, NULL), TAMIS_OK);
    assert_true(layout.column_count <= COUNT(types));
    for (size_t c = 0; c < layout.column_count; c++)
        types[c] = layout.columns[c]->kind == TMI_NUMBER ? TMI_SQL_DOUBLE : TMI_SQL_TEXT;
    assert_int_equal(tmi_sql_passes_init(&passes, words, &layout, (int64_t)rows, NULL), TAMIS_OK);
    tmi_answers_clear(answers, request);
    for (size_t p = 0; p < passes.count; p++) {
        tmi_text sql;
        const tmi_sql_source source = {.dialect = words,
                                       .table = "t",
                                       .layout = &layout,
                                       .types = types,
                                       .units_fit = request->rows_per_unit >= (int64_t)rows,
                                       .rows = (int64_t)rows};
        tmi_text_init(&sql);
        assert_int_equal(tmi_sql_pass_write(&sql, &passes.list[p], &source, NULL), TAMIS_OK);
        run_pass(answers, on, &passes.list[p], sql.bytes);
        tmi_text_clear(&sql);
    }
    tmi_sql_passes_clear(&passes);
    tmi_layout_clear(&layout);
}

/* ---- all requests ---- */

#define ANSWERS 2048

static void same_integers(const tmi_dialect *words, size_t n)
{
    static tmi_int128 right[4][ANSWERS], got[4][ANSWERS];
    tmi_int128 *const rights[] = {right[0], right[1], right[2], right[3]}, *const gots[] = {got[0], got[1], got[2], got[3]};
    const tmi_duckdb_api *api = tmi_duckdb_load(NULL);
    session on;
    duckdb_result result;
    row *list = random_rows(n, n / 3 + 1, 9);
    const rows all = {.list = list, .count = n};
    char select[1024], sql[2048];
    shuffle(list, n);
    select_csv(select, sizeof select, write_csv("sql.csv.tmp", list, n));
    snprintf(sql, sizeof sql, "CREATE TABLE t AS %s", select);
    assert_int_equal(api->open_ext(NULL, &on.database, NULL, NULL), DuckDBSuccess);
    assert_int_equal(api->connect(on.database, &on.connection), DuckDBSuccess);
    if (api->query(on.connection, sql, &result) == DuckDBError) fail_msg("%s", api->result_error(&result));
    api->destroy_result(&result);
    for (size_t q = 0; q < COUNT(requests); q++) {
        const tmi_request *request = &requests[q].request;
        if (n > requests[q].most_rows) continue;
        for (size_t t = 0; t < request->table_count; t++)
            assert_true(tmi_table_cells(&request->tables[t]) * request->tables[t].measure_count <= ANSWERS);
        right_answers(rights, request, &all);
        ask(gots, &on, words, request, n);
        for (size_t t = 0; t < request->table_count; t++)
            for (size_t i = 0; i < tmi_table_cells(&request->tables[t]) * request->tables[t].measure_count; i++)
                if (got[t][i] != right[t][i])
                    fail_msg("%s, %zu rows: table %zu, integer %zu: %lld, not %lld", requests[q].name, n, t, i,
                             (long long)got[t][i], (long long)right[t][i]);
    }
    api->disconnect(&on.connection);
    api->close(&on.database);
    free(list);
}

static void every_request(void **state)
{
    (void)state;
    same_integers(&tmi_dialect_duckdb, 0);
    same_integers(&tmi_dialect_duckdb, 1);
    same_integers(&tmi_dialect_duckdb, 211);
}

static void more_rows(void **state)
{
    (void)state;
    same_integers(&tmi_dialect_duckdb, 2049);
}

/* What Spark needs and DuckDB does not, in DuckDB's words: units by windows, no FILTER, points inside sums, wide sums as
 * decimals. */
static void forms_of_spark(void **state)
{
    (void)state;
    tmi_dialect words = tmi_dialect_duckdb;
    words.windows = true;
    words.has_filter = false;
    words.inlines = true;
    words.as_wide = "CAST($ AS DECIMAL(28,0))";
    same_integers(&words, 1);
    same_integers(&words, 211);
}

int main(void)
{
    const struct CMUnitTest all[] = {cmocka_unit_test(every_request), cmocka_unit_test(more_rows),
                                     cmocka_unit_test(forms_of_spark)};
    return cmocka_run_group_tests(all, make_folder, remove_folder);
}
