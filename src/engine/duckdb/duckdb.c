/* The engine inside this process. Each call opens DuckDB, asks, and closes it. Integers outlive a call, the rows that
 * `rows` was asked for, and the labels of units: they are collected before the charge, to count them, together with the
 * rows of each, so that the answer needs no reading of its own to count them. Before the charge nothing but their number
 * leaves the engine. */
#include <string.h>

#include "base/memory.h"
#include "base/secret.h"
#include "base/watch.h"
#include "engine/core/machine.h"
#include "engine/duckdb/functions.h"
#include "engine/duckdb/inventory.h"
#include "engine/duckdb/source.h"

typedef struct engine_state {
    tmi_engine engine;
    tmi_duckdb_source source;
    unsigned threads;
    int64_t rows, units; /* as they were counted before the charge; 0: they were not */
    tmi_labels *labels;  /* of the units, with the rows of each; NULL: they are not known */
    char *unit;          /* the name of their column */
} engine_state;

static void forget_labels(engine_state *state)
{
    tmi_labels_free(state->labels);
    tmi_free(state->unit);
    state->labels = NULL;
    state->unit = NULL;
}

/* What choosing the rows of units takes is not DuckDB's. */
static tamis_status open_source(tmi_duckdb_session *session, engine_state *state, const tmi_layout *layout, tamis_error *err)
{
    const uint64_t memory = state->engine.memory > 0 ? state->engine.memory : tmi_machine_memory();
    state->source.memory = memory - (layout->request && layout->request->unit ? tmi_units_memory(memory) : 0);
    return tmi_duckdb_source_open(session, &state->source, tmi_cells_threads(layout, state->threads), err);
}

/* ---- before the charge ---- */

static tamis_status describe(tmi_engine *engine, tmi_inventory *inventory, const tamis_watch *watch, tamis_error *err)
{
    engine_state *state = engine->state;
    tmi_duckdb_session session = {0};
    tmi_duckdb_functions functions = {0};
    tamis_status status;
    tmi_inventory_clear(inventory);
    TMI_TRY(tmi_duckdb_functions_init_inventory(&functions, inventory, err));
    TMI_TRY(open_source(&session, state, &functions.layout, err));
    TMI_TRY(tmi_duckdb_source_distinct(&state->source, err));
    TMI_TRY(tmi_duckdb_functions_register(&functions, &session, err));
    tmi_text sql; /* not run: being able to write it is the answer */
    tmi_text_init(&sql);
    status = tmi_duckdb_write_source(&sql, &state->source, 0, SIZE_MAX, &session, &functions, err);
    tmi_text_clear(&sql);
    if (status != TAMIS_OK) goto done;
    TMI_TRY(tmi_duckdb_count_rows(&inventory->rows, &state->source, &session, watch, err));
    if (inventory->unit) {
        forget_labels(state);
        if (!(state->unit = tmi_copy_text(inventory->unit->name, strlen(inventory->unit->name)))) TMI_TRY(tmi_fail_memory(err));
    }
    TMI_TRY(tmi_duckdb_take_inventory(inventory, &state->labels, &state->source, &functions, &session, watch, err));
    state->rows = inventory->rows;
    if (inventory->unit) state->units = inventory->units;
done:
    if (status != TAMIS_OK) tmi_inventory_clear(inventory);
    if (status != TAMIS_OK) forget_labels(state);
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

static void write_query(tmi_text *sql, const tmi_duckdb_functions *functions, const tmi_text *source)
{
    const tmi_layout *layout = &functions->layout;
    const char *comma = "";
    tmi_text_put(sql, functions->points ? "SELECT tamis_points(" : "SELECT tamis_cells(");
    if (layout->request->unit) {
        tmi_text_format(sql, "c%zu", tmi_layout_index(layout, layout->request->unit));
        comma = ", ";
    }
    for (size_t c = 0; c < layout->column_count; c++) {
        if (!tmi_is_given(layout->columns[c])) continue;
        tmi_text_put(sql, comma);
        comma = ", ";
        tmi_duckdb_write_call(sql, layout, c);
    }
    tmi_text_put(sql, ") FROM (");
    tmi_text_put(sql, source->bytes);
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

/* What is read: the files of the source, or rows that are made up to try everything before the charge. */
typedef struct reading {
    engine_state *state;
    tmi_duckdb_functions *functions;
    tmi_duckdb_session *session;
    bool made_up;
    const tamis_watch *watch;
} reading;

/* Enough rows for several threads. All have one unit, which has too many of them. */
#define MADE_UP_ROWS 8192

static void write_made_up(tmi_text *sql, const tmi_layout *layout)
{
    tmi_text_put(sql, "SELECT ");
    for (size_t c = 0; c < layout->column_count; c++) {
        const tmi_column *column = layout->columns[c];
        if (!tmi_is_read(column)) continue;
        tmi_text_format(sql, "%s AS c%zu, ",
                        column->kind == TMI_NUMBER     ? "CAST(i AS DOUBLE)"
                        : column->kind == TMI_CATEGORY ? "CAST(0 AS INTEGER)"
                                                       : "'unit'",
                        c);
    }
    tmi_text_format(sql, "1 AS one FROM range(%d) made_up(i)", MADE_UP_ROWS);
}

static tamis_status write_rows(tmi_text *sql, const reading *r, size_t first, size_t count, tamis_error *err)
{
    if (!r->made_up) return tmi_duckdb_write_source(sql, &r->state->source, first, count, r->session, r->functions, err);
    write_made_up(sql, &r->functions->layout);
    return sql->failed ? tmi_fail_memory(err) : TAMIS_OK;
}

static size_t files_of(const reading *r) { return r->made_up ? 1 : r->state->source.file_count; }

/* Files of one query, from the first one on. */
static size_t files_from(const reading *r, size_t first)
{
    const size_t left = files_of(r) - first;
    return left < TMI_DUCKDB_FILES ? left : TMI_DUCKDB_FILES;
}

/* The labels of this column, if they were collected before the charge. */
static const tmi_labels *known_labels(const reading *r, const tmi_column *label)
{
    const engine_state *state = r->state;
    return !r->made_up && label && state->labels && strcmp(label->name, state->unit) == 0 ? state->labels : NULL;
}

/* The query that sees the labels of units and clusters before the rows, where they are not known. */
static void write_labels_query(tmi_text *sql, const reading *r, const tmi_text *source)
{
    const tmi_layout *layout = &r->functions->layout;
    const tmi_column *unit = layout->request->unit;
    tmi_text_put(sql, "SELECT 1");
    if (unit && !known_labels(r, unit)) tmi_text_format(sql, ", tamis_units(c%zu)", tmi_layout_index(layout, unit));
    for (size_t c = 0; c < layout->column_count; c++) {
        const tmi_column *column = layout->columns[c];
        if (column->kind != TMI_GROUPS || r->functions->columns[c].known) continue;
        tmi_text_format(sql, ", tamis_labels_%zu(c%zu", c, tmi_layout_index(layout, column->of));
        tmi_text_put(sql, column->stratum ? ", " : "");
        if (column->stratum) tmi_duckdb_write_call(sql, layout, tmi_layout_index(layout, column->stratum));
        tmi_text_put(sql, ")");
    }
    tmi_text_put(sql, " FROM (");
    tmi_text_put(sql, source->bytes);
    tmi_text_put(sql, ")");
}

/* Reads some of the files; to NULL: only their labels. */
static tamis_status read_files(const taking *to, const reading *r, const files_watch *watch, tamis_error *err)
{
    duckdb_result result = {0};
    tmi_text source, sql;
    tamis_status status;
    tmi_text_init(&source);
    tmi_text_init(&sql);
    TMI_TRY(write_rows(&source, r, watch->before, watch->now, err));
    if (to) write_query(&sql, r->functions, &source);
    else write_labels_query(&sql, r, &source);
    TMI_TRY(tmi_duckdb_run(&result, r->session, &sql, &(tamis_watch){tell, (void *)(uintptr_t)watch}, err));
    if (to) TMI_TRY(take_result(to, r->functions, &result, r->session->api, err));
done:
    r->session->api->destroy_result(&result);
    tmi_duckdb_functions_forget(r->functions);
    tmi_text_clear(&source);
    tmi_text_clear(&sql);
    return status;
}

/* Sees the labels of units and clusters, if the request has any. *rounds: how often the rows must be read then. */
static tamis_status see_labels(size_t *rounds, const reading *r, tamis_error *err)
{
    const tamis_watch inner = {tmi_duckdb_go_on, &(tmi_duckdb_watch){r->watch, 0}};
    const tmi_duckdb_functions *functions = r->functions;
    const tmi_labels *units = known_labels(r, functions->layout.request->unit);
    tamis_status status = TAMIS_OK;
    bool some = functions->units && !units;
    *rounds = 1;
    for (size_t c = 0; c < functions->layout.column_count; c++) {
        tmi_duckdb_column *column = &functions->columns[c];
        if (!column->clusters) continue;
        const tmi_labels *labels = column->column->stratum ? NULL : known_labels(r, column->column->of);
        column->known = labels;
        if (labels) tmi_clusters_know(column->clusters, labels);
        else some = true;
    }
    if (functions->units && units) tmi_units_know(functions->units, units);
    for (size_t f = 0; some && f < files_of(r); f += TMI_DUCKDB_FILES)
        TMI_TRY(read_files(NULL, r, &(files_watch){&inner, f, files_from(r, f), files_of(r)}, err));
    for (size_t c = 0; c < functions->layout.column_count; c++)
        if (functions->columns[c].clusters) TMI_TRY(tmi_clusters_close(functions->columns[c].clusters, err));
    if (functions->units) TMI_TRY(tmi_units_plan(rounds, functions->units, err));
done:
    return status;
}

/* Where the rows go that are only known to count at the end of a round. */
typedef struct late_rows {
    tmi_cells *cells;
    tmi_tally *tally;
} late_rows;

static tamis_status add_late(void *context, const void *const *columns, size_t n, tamis_error *err)
{
    const late_rows *late = context;
    return late->tally ? tmi_tally_add(late->tally, columns, n, err) : tmi_cells_add(late->cells, columns, n, err);
}

static tamis_status add_late_answers(const taking *to, const late_rows *late, const tmi_layout *layout, tamis_error *err)
{
    if (late->tally) return TAMIS_OK;
    tmi_int128 *all = tmi_secret_alloc(layout->answer_count, sizeof *all), *at = all;
    if (!all) return tmi_fail_memory(err);
    tmi_cells_answers(all, late->cells);
    for (size_t t = 0; t < layout->request->table_count; t++) {
        const tmi_table *table = &layout->request->tables[t];
        const size_t count = tmi_table_cells(table) * table->measure_count;
        for (size_t i = 0; i < count; i++) to->answers[t][i] += *at++;
    }
    tmi_secret_free(all);
    return TAMIS_OK;
}

static int64_t expected_units(const engine_state *state) { return state->units > 0 ? state->units : state->rows; }

/* Reads the rows: once, or with a unit twice or more. */
static tamis_status read_all(const taking *to, const reading *r, tamis_error *err)
{
    const tmi_layout *layout = &r->functions->layout;
    const engine_state *state = r->state;
    late_rows late = {.tally = to->tally};
    size_t rounds = 1;
    tamis_status status = TAMIS_OK;
    if (layout->request->unit) {
        const uint64_t memory = tmi_units_memory(state->engine.memory);
        r->functions->units = tmi_units_new(layout, r->made_up ? 1 : expected_units(state), memory);
        if (!to->tally) late.cells = tmi_cells_new(layout);
        if (!r->functions->units || (!late.cells && !late.tally)) TMI_TRY(tmi_fail_memory(err));
    }
    TMI_TRY(see_labels(&rounds, r, err));
    for (size_t round = 0; round < rounds; round++) {
        for (size_t f = 0; f < files_of(r); f += TMI_DUCKDB_FILES)
            TMI_TRY(read_files(to, r, &(files_watch){r->watch, f, files_from(r, f), files_of(r)}, err));
        if (r->functions->units) TMI_TRY(tmi_units_end_round(r->functions->units, add_late, &late, err));
    }
    if (r->functions->units) TMI_TRY(add_late_answers(to, &late, layout, err));
done:
    tmi_cells_free(late.cells);
    tmi_units_free(r->functions->units);
    r->functions->units = NULL;
    return status;
}

/* Plans the query over the first files, without running it; the queries over the others differ only in the file names. Then
 * tries everything that the answer needs on rows that are made up. */
static tamis_status try(const taking *to, engine_state *state, tmi_duckdb_functions *functions, const tamis_watch *watch,
                        tamis_error *err)
{
    tmi_duckdb_session session = {0};
    const tmi_layout *layout = &functions->layout;
    reading r = {.state = state, .functions = functions, .session = &session, .watch = watch};
    tmi_text source, sql;
    tamis_status status;
    tmi_text_init(&source);
    tmi_text_init(&sql);
    if (layout->request->unit)
        TMI_TRY(tmi_units_try(layout, expected_units(state), state->rows, tmi_units_memory(state->engine.memory), err));
    TMI_TRY(open_source(&session, state, layout, err));
    TMI_TRY(tmi_duckdb_functions_register(functions, &session, err));
    TMI_TRY(write_rows(&source, &r, 0, files_from(&r, 0), err));
    if (source.failed) TMI_TRY(tmi_fail_memory(err));
    write_query(&sql, functions, &source);
    TMI_TRY(tmi_duckdb_plan(&session, &sql, err));
    r.made_up = true;
    TMI_TRY(read_all(to, &r, err));
done:
    tmi_duckdb_close(&session);
    tmi_text_clear(&source);
    tmi_text_clear(&sql);
    return status;
}

/* The answers of rows that are made up: nobody reads them. */
static tamis_status try_sums(engine_state *state, tmi_duckdb_functions *functions, const tamis_watch *watch, tamis_error *err)
{
    const tmi_layout *layout = &functions->layout;
    const tmi_request *request = layout->request;
    tmi_int128 *all = tmi_secret_alloc(layout->answer_count, sizeof *all), *at = all;
    tmi_int128 **answers = tmi_alloc(request->table_count, sizeof *answers);
    tamis_status status = all && answers ? TAMIS_OK : tmi_fail_memory(err);
    for (size_t t = 0; status == TAMIS_OK && t < request->table_count; t++) {
        answers[t] = at;
        at += tmi_table_cells(&request->tables[t]) * request->tables[t].measure_count;
    }
    if (status == TAMIS_OK) status = try(&(taking){.answers = answers}, state, functions, watch, err);
    tmi_secret_free(all);
    tmi_free(answers);
    return status;
}

static tamis_status check(tmi_engine *engine, const tmi_request *request, const tamis_watch *watch, tamis_error *err)
{
    tmi_duckdb_functions functions;
    tamis_status status = tmi_duckdb_functions_init(&functions, request, err);
    if (status != TAMIS_OK) return status;
    status = try_sums(engine->state, &functions, watch, err);
    tmi_duckdb_functions_clear(&functions);
    return status;
}

static tamis_status check_points(tmi_engine *engine, const tmi_points_request *request, const tamis_watch *watch,
                                 tamis_error *err)
{
    tmi_duckdb_functions functions = {0};
    tmi_points_plan points;
    tmi_tally *tally = NULL;
    tamis_status status;
    TMI_TRY(tmi_points_plan_make(&points, request, err));
    TMI_TRY(tmi_duckdb_functions_init_points(&functions, &points, err));
    if (!(tally = tmi_tally_new(&points, &functions.layout))) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(try(&(taking){.tally = tally}, engine->state, &functions, watch, err));
done:
    tmi_tally_free(tally);
    tmi_duckdb_functions_clear(&functions);
    return status;
}

static tamis_status pass(const taking *to, engine_state *state, tmi_duckdb_functions *functions, const tamis_watch *watch,
                         tamis_error *err)
{
    tmi_duckdb_session session = {0};
    const reading r = {.state = state, .functions = functions, .session = &session, .watch = watch};
    tamis_status status;
    TMI_TRY(open_source(&session, state, &functions->layout, err));
    TMI_TRY(tmi_duckdb_functions_register(functions, &session, err));
    TMI_TRY(read_all(to, &r, err));
done:
    tmi_duckdb_close(&session);
    return after_charge(status, err);
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
    state->source.memory = engine->memory;
    return tmi_duckdb_read_rows(&state->source, state->threads, columns, column_count, take, context, err);
}

static void free_engine(tmi_engine *engine)
{
    if (!engine) return;
    engine_state *state = engine->state;
    tmi_duckdb_source_clear(&state->source);
    forget_labels(state);
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
