/* The engine inside this process. Each call opens DuckDB, asks, and closes it again: nothing but integers, or the rows
 * that `rows` was asked for, outlives a call.                                                                         */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "engine/duckdb_functions.h"
#include "engine/duckdb_source.h"
#include "engine/engine.h"

typedef struct engine_state {
    tmi_engine engine;
    tmi_duckdb_source source;
    unsigned threads;
} engine_state;

/* ---- before the charge ---- */

static tamis_status describe(tmi_engine *engine, tmi_inventory *inventory, tamis_progress *progress, void *context,
                             tamis_error *err)
{
    const tmi_column *const *columns = inventory->columns;
    const size_t column_count = inventory->column_count;
    engine_state *state = engine->state;
    tmi_duckdb_session session = {0};
    tamis_status status = TAMIS_OK;
    inventory->rows = inventory->units = 0;
    if (inventory->unit || inventory->cluster || inventory->stratum)
        TMI_TRY(tmi_fail(err, TAMIS_UNABLE, "no engine counts units, clusters and strata yet"));
    for (size_t c = 0; c < column_count; c++) TMI_TRY(tmi_column_check(columns[c], err));
    TMI_TRY(tmi_duckdb_source_open(&session, &state->source, state->threads, err));
    TMI_TRY(tmi_duckdb_source_distinct(&state->source, err));
    for (size_t f = 0; f < state->source.file_count; f += TMI_DUCKDB_FILES) {
        tmi_text sql; /* not run: that it can be written is the answer */
        tmi_text_init(&sql);
        status = tmi_duckdb_write_source(&sql, &state->source, f, &session, columns, column_count, err);
        tmi_text_clear(&sql);
        if (status != TAMIS_OK) goto done;
    }
    TMI_TRY(tmi_duckdb_count_rows(&inventory->rows, &state->source, &session, progress, context, err));
done:
    tmi_duckdb_close(&session);
    return status;
}

/* ---- the one pass ---- */

/* After the charge a source that cannot be read is nobody's wrong call any more. */
static tamis_status after_charge(tamis_status status, tamis_error *err)
{
    if (status != TAMIS_INVALID) return status;
    if (err) err->status = TAMIS_SYSTEM;
    return TAMIS_SYSTEM;
}

static void write_query(tmi_text *sql, const tmi_layout *layout, const tmi_text *source)
{
    tmi_text_put(sql, "SELECT tamis_cells(");
    for (size_t c = 0; c < layout->column_count; c++)
        tmi_text_format(sql, "%stamis_%s_%zu(c%zu)", c > 0 ? ", " : "",
                        layout->columns[c]->kind == TMI_NUMBER ? "point" : "code", c, c);
    tmi_text_put(sql, ") FROM (");
    tmi_text_put(sql, source->bytes);
    tmi_text_put(sql, ")");
}

static tamis_status add_answers(tmi_int128 *const *answers, const tmi_request *request, duckdb_result *result,
                                const tmi_duckdb_api *api, tamis_error *err)
{
    duckdb_data_chunk chunk = api->fetch_chunk(*result);
    if (!chunk) return tmi_fail_memory(err);
    duckdb_vector list = api->data_chunk_get_vector(chunk, 0);
    duckdb_hugeint *answer = api->vector_get_data(api->list_vector_get_child(list));
    answer += ((const duckdb_list_entry *)api->vector_get_data(list))->offset;
    for (size_t t = 0; t < request->table_count; t++) {
        const size_t count = tmi_table_cells(&request->tables[t]) * request->tables[t].measure_count;
        for (size_t i = 0; i < count; i++)
            answers[t][i] += (tmi_int128)((unsigned __int128)(uint64_t)answer[i].upper << 64 | answer[i].lower);
        tmi_wipe(answer, count * sizeof *answer); /* DuckDB's copy that is in reach */
        answer += count;
    }
    api->destroy_data_chunk(&chunk);
    return TAMIS_OK;
}

/* Also of a request that is not checked yet: one with too many cells has no room for them. */
static void clear_answers(tmi_int128 *const *answers, const tmi_request *request)
{
    for (size_t t = 0; t < request->table_count; t++) {
        size_t count = tmi_table_cells(&request->tables[t]);
        if (!__builtin_mul_overflow(count, request->tables[t].measure_count, &count) && count <= (size_t)TMI_MAX_CELLS)
            memset(answers[t], 0, count * sizeof **answers);
    }
}

/* Progress over all files while one query reads some of them. */
typedef struct watch {
    tamis_progress *progress;
    void *context;
    size_t before, all; /* files */
} watch;

static int tell(void *context, double share, int64_t rows)
{
    const watch *w = context;
    const size_t left = w->all - w->before, now = left < TMI_DUCKDB_FILES ? left : TMI_DUCKDB_FILES;
    if (share >= 0) share = ((double)w->before + share * (double)now) / (double)w->all;
    return w->progress(w->context, share, rows);
}

static tamis_status aggregate_files(tmi_int128 *const *answers, const engine_state *state, size_t first,
                                    tmi_duckdb_functions *functions, tmi_duckdb_session *session, watch *watch,
                                    tamis_error *err)
{
    duckdb_result result = {0};
    tmi_text source, sql;
    tamis_status status;
    tmi_text_init(&source);
    tmi_text_init(&sql);
    watch->before = first;
    TMI_TRY(after_charge(tmi_duckdb_write_source(&source, &state->source, first, session, functions->layout.columns,
                                                 functions->layout.column_count, err), err));
    write_query(&sql, &functions->layout, &source);
    TMI_TRY(tmi_duckdb_run(&result, session, &sql, watch->progress ? tell : NULL, watch, err));
    TMI_TRY(add_answers(answers, functions->layout.request, &result, session->api, err));
done:
    session->api->destroy_result(&result);
    tmi_duckdb_functions_forget(functions);
    tmi_text_clear(&source);
    tmi_text_clear(&sql);
    return status;
}

static tamis_status aggregate(tmi_engine *engine, tmi_int128 *const *answers, const tmi_request *request,
                              tamis_progress *progress, void *context, tamis_error *err)
{
    engine_state *state = engine->state;
    tmi_duckdb_functions functions;
    tmi_duckdb_session session = {0};
    watch watch = {progress, context, 0, state->source.file_count};
    clear_answers(answers, request);
    tamis_status status = tmi_duckdb_functions_init(&functions, request, err);
    if (status != TAMIS_OK) return status;
    TMI_TRY(after_charge(tmi_duckdb_source_open(&session, &state->source, state->threads, err), err));
    TMI_TRY(tmi_duckdb_functions_register(&functions, &session, err));
    for (size_t f = 0; f < state->source.file_count; f += TMI_DUCKDB_FILES)
        TMI_TRY(aggregate_files(answers, state, f, &functions, &session, &watch, err));
done:
    if (status != TAMIS_OK) clear_answers(answers, request);
    tmi_duckdb_close(&session);
    tmi_duckdb_functions_clear(&functions);
    return status;
}

/* ---- rows, for estimate ---- */

typedef struct row_columns {
    const tmi_column *const *columns;
    size_t count;
    tmi_codes **codes; /* of the categories */
    void **room;       /* of each column, for one chunk */
    size_t rows_room;
} row_columns;

static void clear_rows(row_columns *rows)
{
    for (size_t c = 0; c < rows->count; c++) {
        if (rows->codes) tmi_codes_free(rows->codes[c]);
        if (rows->room) tmi_free(rows->room[c]);
    }
    tmi_free(rows->codes);
    tmi_free(rows->room);
}

static tamis_status make_rows(row_columns *rows, const tmi_column *const *columns, size_t count, tamis_error *err)
{
    *rows = (row_columns){.columns = columns, .count = count};
    rows->codes = tmi_alloc(count, sizeof *rows->codes);
    rows->room = tmi_alloc(count, sizeof *rows->room);
    if (!rows->codes || !rows->room) return tmi_fail_memory(err);
    for (size_t c = 0; c < count; c++) {
        tamis_status status = tmi_column_check(columns[c], err);
        if (status == TAMIS_OK && columns[c]->kind == TMI_CATEGORY)
            status = tmi_codes_new(&rows->codes[c], columns[c], err);
        if (status != TAMIS_OK) return status;
    }
    return TAMIS_OK;
}

static void take_numbers(double *to, const double *from, const uint64_t *validity, size_t n, const tmi_column *column)
{
    for (size_t i = 0; i < n; i++)
        to[i] = tmi_duckdb_is_null(validity, i) || tmi_is_missing(from[i], column) ? NAN : from[i];
}

static void take_texts(int32_t *to, const duckdb_string_t *from, const uint64_t *validity, size_t n,
                       const tmi_codes *codes, int32_t missing)
{
    tmi_duckdb_codes(to, from, validity, n, codes, missing);
    for (size_t i = 0; i < n; i++)
        if (to[i] == missing) to[i] = -1;
}

static tamis_status take_chunk(row_columns *rows, duckdb_data_chunk chunk, const tmi_duckdb_api *api,
                               tmi_take_rows *take, void *context, tamis_error *err)
{
    const size_t n = api->data_chunk_get_size(chunk);
    for (size_t c = 0; c < rows->count; c++) {
        if (n > rows->rows_room) {
            void *room = tmi_realloc(rows->room[c], n, sizeof(double));
            if (!room) return tmi_fail_memory(err);
            rows->room[c] = room;
        }
        duckdb_vector vector = api->data_chunk_get_vector(chunk, c);
        const uint64_t *validity = api->vector_get_validity(vector);
        if (rows->columns[c]->kind == TMI_NUMBER)
            take_numbers(rows->room[c], api->vector_get_data(vector), validity, n, rows->columns[c]);
        else
            take_texts(rows->room[c], api->vector_get_data(vector), validity, n, rows->codes[c],
                       (int32_t)rows->columns[c]->value_count);
    }
    if (n > rows->rows_room) rows->rows_room = n;
    const tmi_piece piece = {.rows = n, .columns = (const void *const *)rows->room};
    return take(context, &piece, err);
}

static tamis_status take_files(row_columns *rows, const engine_state *state, size_t first, tmi_duckdb_session *session,
                               tmi_take_rows *take, void *context, tamis_error *err)
{
    const tmi_duckdb_api *api = session->api;
    duckdb_result result = {0};
    duckdb_data_chunk chunk = NULL;
    tamis_status status;
    tmi_text sql;
    tmi_text_init(&sql);
    TMI_TRY(tmi_duckdb_write_source(&sql, &state->source, first, session, rows->columns, rows->count, err));
    TMI_TRY(tmi_duckdb_stream(&result, session, &sql, err));
    while ((chunk = api->fetch_chunk(result))) {
        TMI_TRY(take_chunk(rows, chunk, api, take, context, err));
        api->destroy_data_chunk(&chunk);
    }
    if (api->result_error(&result))
        status = tmi_fail(err, TAMIS_SYSTEM, "DuckDB could not read the source to its end");
done:
    api->destroy_data_chunk(&chunk);
    api->destroy_result(&result);
    tmi_text_clear(&sql);
    return status;
}

static tamis_status read_rows(tmi_engine *engine, const tmi_column *const *columns, size_t column_count,
                              tmi_take_rows *take, void *context, tamis_error *err)
{
    engine_state *state = engine->state;
    tmi_duckdb_session session = {0};
    row_columns rows;
    tamis_status status;
    TMI_TRY(make_rows(&rows, columns, column_count, err));
    TMI_TRY(tmi_duckdb_source_open(&session, &state->source, state->threads, err));
    for (size_t f = 0; f < state->source.file_count; f += TMI_DUCKDB_FILES)
        TMI_TRY(take_files(&rows, state, f, &session, take, context, err));
done:
    tmi_duckdb_close(&session);
    clear_rows(&rows);
    return status;
}

/* ---- the engine ---- */

static void free_engine(tmi_engine *engine)
{
    if (!engine) return;
    engine_state *state = engine->state;
    tmi_duckdb_source_clear(&state->source);
    tmi_free(state);
}

tamis_status tmi_engine_duckdb(tmi_engine **engine, const tmi_source *source, unsigned threads, tamis_error *err)
{
    *engine = NULL;
    if (!tmi_duckdb_load(err)) return TAMIS_SYSTEM;
    engine_state *state = tmi_alloc(1, sizeof *state);
    if (!state) return tmi_fail_memory(err);
    tamis_status status = tmi_duckdb_source_init(&state->source, source, err);
    if (status != TAMIS_OK) {
        tmi_free(state);
        return status;
    }
    state->threads = threads;
    state->engine = (tmi_engine){.name = "duckdb", .state = state, .describe = describe, .aggregate = aggregate,
                                 .rows = read_rows, .free = free_engine};
    *engine = &state->engine;
    return TAMIS_OK;
}
