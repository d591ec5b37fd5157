/* The engine inside this process. Each call opens DuckDB, asks, and closes it: only integers outlive a call, or the rows that
 * `rows` was asked for. */
#include <string.h>

#include "base/memory.h"
#include "base/sha256.h"
#include "base/watch.h"
#include "engine/core/engine.h"
#include "engine/duckdb/functions.h"
#include "engine/duckdb/inventory.h"
#include "engine/duckdb/source.h"

typedef struct engine_state {
    tmi_engine engine;
    tmi_duckdb_source source;
    unsigned threads;
    bool sharded_by_unit;
} engine_state;

/* ---- before the charge ---- */

static tamis_status describe(tmi_engine *engine, tmi_inventory *inventory, const tamis_watch *watch, tamis_error *err)
{
    engine_state *state = engine->state;
    tmi_duckdb_session session = {0};
    tmi_duckdb_functions functions = {0};
    tamis_status status;
    tmi_inventory_clear(inventory);
    TMI_TRY(tmi_duckdb_functions_init_inventory(&functions, inventory, err));
    state->source.may_spill = inventory->unit || inventory->cluster;
    TMI_TRY(tmi_duckdb_source_open(&session, &state->source, state->threads, err));
    TMI_TRY(tmi_duckdb_source_distinct(&state->source, err));
    TMI_TRY(tmi_duckdb_functions_register(&functions, &session, err));
    tmi_text sql; /* not run: being able to write it is the answer */
    tmi_text_init(&sql);
    status = tmi_duckdb_write_source(&sql, &state->source, 0, SIZE_MAX, &session, &functions, err);
    tmi_text_clear(&sql);
    if (status != TAMIS_OK) goto done;
    TMI_TRY(tmi_duckdb_count_rows(&inventory->rows, &state->source, &session, watch, err));
    TMI_TRY(tmi_duckdb_take_inventory(inventory, &state->source, &functions, &session, watch, err));
done:
    if (status != TAMIS_OK) tmi_inventory_clear(inventory);
    tmi_duckdb_close(&session);
    tmi_duckdb_functions_clear(&functions);
    return status;
}

/* ---- the one pass ---- */

/* After the charge, a source that cannot be read is no longer the caller's mistake. */
static tamis_status after_charge(tamis_status status, tamis_error *err)
{
    if (status != TAMIS_INVALID) return status;
    if (err) err->status = TAMIS_SYSTEM;
    return TAMIS_SYSTEM;
}

static void write_values(tmi_text *sql, const tmi_layout *layout, bool with_names)
{
    const char *comma = "";
    for (size_t c = 0; c < layout->column_count; c++) {
        if (!tmi_is_given(layout->columns[c])) continue;
        tmi_text_put(sql, comma);
        comma = ", ";
        tmi_duckdb_write_call(sql, layout, c);
        if (with_names) tmi_text_format(sql, " AS v%zu", c);
    }
}

/* The place of a row among those of its unit; a unit with no more rows than may count needs none. Here a missing point is the
 * smallest integer, and a missing code one more than the largest. concat() takes any number of arguments; a chain of || would
 * be as deep as it is long, and DuckDB allows a depth of 1000. */
static void write_place(tmi_text *sql, const tmi_layout *layout)
{
    const tmi_request *request = layout->request;
    char key[2 * TMI_KEY_BYTES + 1];
    tmi_hex(key, request->key, TMI_KEY_BYTES);
    tmi_text_format(sql, "CASE WHEN n > %lld THEN sha256(concat('%s', sha256(u)", (long long)request->rows_per_unit, key);
    tmi_wipe(key, sizeof key);
    for (size_t c = 0; c < layout->column_count; c++) {
        const tmi_column *column = layout->columns[c];
        if (!tmi_is_given(column)) continue;
        const long long missing = tmi_has_points(column) ? -INT64_MAX : (long long)column->value_count;
        tmi_text_format(sql, ", ',', CASE WHEN v%zu %s %lld THEN '' ELSE v%zu::VARCHAR END", c,
                        tmi_has_points(column) ? "<" : "=", missing, c);
    }
    tmi_text_put(sql, ", ',', copy)) END");
}

/* The rows of a unit that count; see tmi_request. */
static void write_kept_rows(tmi_text *sql, const tmi_layout *layout, const tmi_text *source)
{
    tmi_text_put(sql, "SELECT * FROM (SELECT *, count(*) OVER (PARTITION BY u) AS n, row_number() OVER (PARTITION BY u");
    for (size_t c = 0; c < layout->column_count; c++)
        if (tmi_is_given(layout->columns[c])) tmi_text_format(sql, ", v%zu", c);
    tmi_text_put(sql, ") AS copy FROM (SELECT ");
    tmi_duckdb_write_label(sql, tmi_layout_index(layout, layout->request->unit));
    tmi_text_put(sql, " AS u, ");
    write_values(sql, layout, true);
    tmi_text_put(sql, " FROM (");
    tmi_text_put(sql, source->bytes);
    tmi_text_put(sql, ")) WHERE u <> '') QUALIFY row_number() OVER (PARTITION BY u ORDER BY ");
    write_place(sql, layout);
    tmi_text_format(sql, ") <= %lld", (long long)layout->request->rows_per_unit);
}

static void write_query(tmi_text *sql, const tmi_duckdb_functions *functions, const tmi_text *source)
{
    const tmi_layout *layout = &functions->layout;
    tmi_text_put(sql, functions->points ? "SELECT tamis_points(" : "SELECT tamis_cells(");
    if (!layout->request->unit) {
        write_values(sql, layout, false);
        tmi_text_put(sql, ") FROM (");
        tmi_text_put(sql, source->bytes);
        tmi_text_put(sql, ")");
        return;
    }
    const char *comma = "";
    for (size_t c = 0; c < layout->column_count; c++) {
        if (!tmi_is_given(layout->columns[c])) continue;
        tmi_text_format(sql, "%sv%zu", comma, c);
        comma = ", ";
    }
    tmi_text_put(sql, ") FROM (");
    write_kept_rows(sql, layout, source);
    tmi_text_put(sql, ")");
}

/* Where the answers of the queries of a pass are added up: sums or points. */
typedef struct taking {
    tmi_int128 *const *answers;
    tmi_tally *tally;
} taking;

static void add_answers(tmi_int128 *const *answers, const tmi_request *request, duckdb_vector list, const tmi_duckdb_api *api)
{
    duckdb_hugeint *answer = api->vector_get_data(api->list_vector_get_child(list));
    answer += ((const duckdb_list_entry *)api->vector_get_data(list))->offset;
    for (size_t t = 0; t < request->table_count; t++) {
        const size_t count = tmi_table_cells(&request->tables[t]) * request->tables[t].measure_count;
        for (size_t i = 0; i < count; i++)
            answers[t][i] += (tmi_int128)((unsigned __int128)(uint64_t)answer[i].upper << 64 | answer[i].lower);
        tmi_wipe(answer, count * sizeof *answer); /* the copy of DuckDB's that we can reach */
        answer += count;
    }
}

static tamis_status take_result(const taking *to, tmi_duckdb_functions *functions, duckdb_result *result,
                                const tmi_duckdb_api *api, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    duckdb_data_chunk chunk = api->fetch_chunk(*result);
    if (!chunk) return tmi_fail_memory(err);
    duckdb_vector vector = api->data_chunk_get_vector(chunk, 0);
    if (to->tally) status = tmi_duckdb_take_points(to->tally, functions, *(const int64_t *)api->vector_get_data(vector), err);
    else add_answers(to->answers, functions->layout.request, vector, api);
    api->destroy_data_chunk(&chunk);
    return status;
}

/* Progress over all files while one query reads some of them. */
typedef struct files_watch {
    const tamis_watch *whole;
    size_t before, now, all; /* files */
} files_watch;

static int tell(void *context, double share, int64_t rows)
{
    const files_watch *w = context;
    if (share >= 0) share = ((double)w->before + share * (double)w->now) / (double)w->all;
    return tmi_stopped(w->whole, share, rows);
}

static tamis_status read_files(const taking *to, const engine_state *state, tmi_duckdb_functions *functions,
                               tmi_duckdb_session *session, const files_watch *watch, tamis_error *err)
{
    duckdb_result result = {0};
    tmi_text source, sql;
    tamis_status status;
    tmi_text_init(&source);
    tmi_text_init(&sql);
    TMI_TRY(
        after_charge(tmi_duckdb_write_source(&source, &state->source, watch->before, watch->now, session, functions, err), err));
    write_query(&sql, functions, &source);
    TMI_TRY(tmi_duckdb_run(&result, session, &sql, &(tamis_watch){tell, (void *)(uintptr_t)watch}, err));
    TMI_TRY(take_result(to, functions, &result, session->api, err));
done:
    session->api->destroy_result(&result);
    tmi_duckdb_functions_forget(functions);
    tmi_text_clear(&source);
    tmi_text_clear(&sql);
    return status;
}

/* Plans the query over the first files without running it. The queries over the others differ only in the file names. */
static tamis_status plan(engine_state *state, tmi_duckdb_functions *functions, tamis_error *err)
{
    tmi_duckdb_session session = {0};
    tmi_text source, sql;
    const size_t files = state->source.file_count;
    tamis_status status;
    tmi_text_init(&source);
    tmi_text_init(&sql);
    state->source.may_spill = false;
    TMI_TRY(tmi_duckdb_source_open(&session, &state->source, state->threads, err));
    TMI_TRY(tmi_duckdb_functions_register(functions, &session, err));
    TMI_TRY(tmi_duckdb_write_source(&source, &state->source, 0, files < TMI_DUCKDB_FILES ? files : TMI_DUCKDB_FILES, &session,
                                    functions, err));
    if (source.failed) TMI_TRY(tmi_fail_memory(err));
    write_query(&sql, functions, &source);
    TMI_TRY(tmi_duckdb_plan(&session, &sql, err));
done:
    tmi_duckdb_close(&session);
    tmi_text_clear(&source);
    tmi_text_clear(&sql);
    return status;
}

static tamis_status check(tmi_engine *engine, const tmi_request *request, const tamis_watch *watch, tamis_error *err)
{
    tmi_duckdb_functions functions;
    (void)watch;
    tamis_status status = tmi_duckdb_functions_init(&functions, request, err);
    if (status != TAMIS_OK) return status;
    status = plan(engine->state, &functions, err);
    tmi_duckdb_functions_clear(&functions);
    return status;
}

static tamis_status check_points(tmi_engine *engine, const tmi_points_request *request, const tamis_watch *watch,
                                 tamis_error *err)
{
    tmi_duckdb_functions functions;
    tmi_points_plan points;
    tamis_status status = tmi_points_plan_make(&points, request, err);
    (void)watch;
    if (status == TAMIS_OK) status = tmi_duckdb_functions_init_points(&functions, &points, err);
    if (status != TAMIS_OK) return status;
    status = plan(engine->state, &functions, err);
    tmi_duckdb_functions_clear(&functions);
    return status;
}

static tamis_status pass(const taking *to, engine_state *state, tmi_duckdb_functions *functions, const tamis_watch *watch,
                         tamis_error *err)
{
    const tmi_request *request = functions->layout.request;
    tmi_duckdb_session session = {0};
    const size_t files = state->source.file_count;
    tamis_status status;
    /* A unit may have rows in all files, unless the plan rules it out. */
    const size_t step = request->unit && !state->sharded_by_unit ? files : TMI_DUCKDB_FILES;
    state->source.may_spill = request->unit != NULL;
    for (size_t c = 0; c < functions->layout.column_count; c++)
        state->source.may_spill = state->source.may_spill || functions->columns[c].clusters;
    TMI_TRY(after_charge(tmi_duckdb_source_open(&session, &state->source, state->threads, err), err));
    TMI_TRY(tmi_duckdb_functions_register(functions, &session, err));
    TMI_TRY(after_charge(tmi_duckdb_see_clusters(functions, &state->source, &session, watch, err), err));
    for (size_t f = 0; f < files; f += step) {
        const files_watch some = {watch, f, files - f < step ? files - f : step, files};
        TMI_TRY(read_files(to, state, functions, &session, &some, err));
    }
done:
    tmi_duckdb_close(&session);
    return status;
}

static tamis_status aggregate(tmi_engine *engine, tmi_int128 *const *answers, const tmi_request *request,
                              const tamis_watch *watch, tamis_error *err)
{
    tmi_duckdb_functions functions;
    tmi_answers_clear(answers, request);
    tamis_status status = tmi_duckdb_functions_init(&functions, request, err);
    if (status != TAMIS_OK) return status;
    status = pass(&(taking){.answers = answers}, engine->state, &functions, watch, err);
    if (status != TAMIS_OK) tmi_answers_clear(answers, request);
    tmi_duckdb_functions_clear(&functions);
    return status;
}

static tamis_status points(tmi_engine *engine, tmi_point_list *list, const tmi_points_request *request, const tamis_watch *watch,
                           tamis_error *err)
{
    tmi_duckdb_functions functions = {0};
    tmi_points_plan made;
    tmi_tally *tally = NULL;
    tamis_status status;
    TMI_TRY(tmi_points_plan_make(&made, request, err));
    TMI_TRY(tmi_duckdb_functions_init_points(&functions, &made, err));
    if (!(tally = tmi_tally_new(&made, &functions.layout))) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(pass(&(taking){.tally = tally}, engine->state, &functions, watch, err));
    TMI_TRY(tmi_tally_take_list(list, tally, err));
done:
    tmi_tally_free(tally);
    tmi_duckdb_functions_clear(&functions);
    return status;
}

/* ---- the engine ---- */

static tamis_status read_rows(tmi_engine *engine, const tmi_column *const *columns, size_t column_count, tmi_take_rows *take,
                              void *context, tamis_error *err)
{
    engine_state *state = engine->state;
    state->source.may_spill = false;
    return tmi_duckdb_read_rows(&state->source, state->threads, columns, column_count, take, context, err);
}

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
    state->sharded_by_unit = source->sharded_by_unit;
    state->engine = (tmi_engine){.name = "duckdb",
                                 .state = state,
                                 .describe = describe,
                                 .check = check,
                                 .aggregate = aggregate,
                                 .check_points = check_points,
                                 .points = points,
                                 .rows = read_rows,
                                 .free = free_engine};
    *engine = &state->engine;
    return TAMIS_OK;
}
