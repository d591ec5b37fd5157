#include "engine/duckdb/functions.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/secret.h"

/* ---- texts to codes ---- */

/* The same few texts recur. Two of DuckDB's strings with the same 16 bytes are equal texts: short strings are stored in these
 * bytes, long ones as address and length. So a chunk remembers the codes of the last strings. */
#define REMEMBERED 64

typedef struct memory {
    uint64_t word[2];
    int32_t code;
    bool filled;
} memory;

_Static_assert(sizeof(duckdb_string_t) == 2 * sizeof(uint64_t), "a string is two words");

static void look_up(int32_t *code, const duckdb_string_t *texts, const uint64_t *validity, size_t n, const tmi_duckdb_lookup *l)
{
    const int32_t empty = tmi_code(l->codes, l->form, NULL, 0);
    memory remembered[REMEMBERED] = {0};
    for (size_t i = 0; i < n; i++) {
        if (tmi_duckdb_is_null(validity, i)) {
            code[i] = empty;
            continue;
        }
        uint64_t word[2];
        memcpy(word, &texts[i], sizeof word);
        memory *place = &remembered[((word[0] ^ word[1]) * UINT64_C(0x9e3779b97f4a7c15)) >> 58];
        if (!place->filled || place->word[0] != word[0] || place->word[1] != word[1]) {
            const tmi_cell cell = tmi_duckdb_cell(&texts[i]);
            *place = (memory){{word[0], word[1]}, tmi_code(l->codes, l->form, cell.bytes, cell.length), true};
        }
        code[i] = place->code;
    }
}

static void codes_of_texts(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output)
{
    const tmi_duckdb_api *api = tmi_duckdb();
    duckdb_vector texts = api->data_chunk_get_vector(input, 0);
    look_up(api->vector_get_data(output), api->vector_get_data(texts), api->vector_get_validity(texts),
            api->data_chunk_get_size(input), api->scalar_function_get_extra_info(info));
}

#define PIECE 512

static void see_labels(tmi_cell *cells, duckdb_vector vector, size_t start, size_t n)
{
    const tmi_duckdb_api *api = tmi_duckdb();
    const duckdb_string_t *texts = api->vector_get_data(vector);
    const uint64_t *validity = api->vector_get_validity(vector);
    for (size_t i = 0; i < n; i++)
        cells[i] = tmi_duckdb_is_null(validity, start + i) ? (tmi_cell){0} : tmi_duckdb_cell(&texts[start + i]);
}

static void codes_of_labels(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output)
{
    const tmi_duckdb_api *api = tmi_duckdb();
    const tmi_duckdb_column *column = api->scalar_function_get_extra_info(info);
    const int32_t *strata = column->column->stratum ? api->vector_get_data(api->data_chunk_get_vector(input, 1)) : NULL;
    const size_t rows = api->data_chunk_get_size(input);
    int32_t *codes = api->vector_get_data(output);
    tmi_cell cells[PIECE];
    for (size_t start = 0; start < rows; start += PIECE) {
        const size_t n = rows - start < PIECE ? rows - start : PIECE;
        see_labels(cells, api->data_chunk_get_vector(input, 0), start, n);
        tmi_cluster_codes(codes + start, column->clusters, strata ? strata + start : NULL, cells, n);
    }
}

static void joint_codes(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output)
{
    const tmi_duckdb_api *api = tmi_duckdb();
    const tmi_column *column = ((const tmi_duckdb_column *)api->scalar_function_get_extra_info(info))->column;
    tmi_joint_codes(api->vector_get_data(output), api->vector_get_data(api->data_chunk_get_vector(input, 0)),
                    api->vector_get_data(api->data_chunk_get_vector(input, 1)), api->data_chunk_get_size(input), column);
}

static void scattered_labels(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output)
{
    const tmi_duckdb_api *api = tmi_duckdb();
    const tmi_column *column = ((const tmi_duckdb_column *)api->scalar_function_get_extra_info(info))->column;
    const size_t n = api->data_chunk_get_size(input), arguments = column->stratum ? 2 : 1;
    int32_t *codes = api->vector_get_data(output);
    for (size_t start = 0; start < n; start += PIECE) {
        const size_t count = n - start < PIECE ? n - start : PIECE;
        tmi_cell cells[2][PIECE];
        for (size_t a = 0; a < arguments; a++) see_labels(cells[a], api->data_chunk_get_vector(input, a), start, count);
        tmi_scatter(codes + start, column->stratum ? cells[1] : NULL, cells[0], count, column);
    }
}

/* ---- numbers to grid points ---- */

/* The value under a NULL is arbitrary, and not ours to change. */
static void points_of_numbers(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output)
{
    const tmi_duckdb_api *api = tmi_duckdb();
    const tmi_column *column = ((const tmi_duckdb_column *)api->scalar_function_get_extra_info(info))->column;
    duckdb_vector numbers = api->data_chunk_get_vector(input, 0);
    const uint64_t *validity = api->vector_get_validity(numbers);
    const size_t n = api->data_chunk_get_size(input);
    const int32_t *codes = column->by ? api->vector_get_data(api->data_chunk_get_vector(input, 1)) : NULL;
    int64_t *points = api->vector_get_data(output);
    if (column->by) tmi_grid_points_by(points, api->vector_get_data(numbers), codes, n, column);
    else tmi_grid_points(points, api->vector_get_data(numbers), n, column);
    for (size_t i = 0; validity && i < n; i++)
        if (tmi_duckdb_is_null(validity, i))
            points[i] = column->has_instead && !(codes && codes[i] == (int32_t)column->by->value_count) ? column->instead
                                                                                                        : TMI_NO_POINT;
}

/* ---- the aggregate ---- */

bool tmi_duckdb_chunk_make(tmi_duckdb_chunk *chunk, const tmi_duckdb_functions *functions)
{
    *chunk = (tmi_duckdb_chunk){.columns = tmi_alloc(functions->layout.column_count, sizeof *chunk->columns)};
    if (!functions->units) return chunk->columns;
    chunk->labels = tmi_alloc(TMI_UNITS_ROWS, sizeof *chunk->labels);
    chunk->room = tmi_units_room_new(functions->units);
    return chunk->columns && chunk->labels && chunk->room;
}

void tmi_duckdb_chunk_clear(tmi_duckdb_chunk *chunk)
{
    tmi_free(chunk->columns);
    tmi_free(chunk->labels);
    tmi_units_room_free(chunk->room);
}

static size_t size_of(const tmi_column *column) { return column->kind == TMI_NUMBER ? sizeof(int64_t) : sizeof(int32_t); }

/* These words are known to tmi_duckdb_note_trouble. */
static void tell_failure(duckdb_function_info info, const tamis_error *err)
{
    const bool changed = strstr(err->message, "source changed");
    tmi_duckdb()->aggregate_function_set_error(info, changed ? "source changed" : "out of memory");
}

void tmi_duckdb_chunk_take(tmi_duckdb_chunk *chunk, const tmi_duckdb_functions *functions, duckdb_data_chunk input,
                           tmi_take_block *take, void *context, duckdb_function_info info)
{
    const tmi_duckdb_api *api = tmi_duckdb();
    const tmi_layout *layout = &functions->layout;
    const size_t rows = api->data_chunk_get_size(input);
    tamis_status status = TAMIS_OK;
    tamis_error err = {0};
    for (size_t start = 0, n; start < rows && status == TAMIS_OK; start += n) {
        size_t argument = functions->units ? 1 : 0;
        n = functions->units && rows - start > TMI_UNITS_ROWS ? TMI_UNITS_ROWS : rows - start;
        for (size_t c = 0; c < layout->column_count; c++) {
            if (!tmi_is_given(layout->columns[c])) continue;
            const char *values = api->vector_get_data(api->data_chunk_get_vector(input, argument++));
            chunk->columns[c] = values + start * size_of(layout->columns[c]);
        }
        if (functions->units) {
            see_labels(chunk->labels, api->data_chunk_get_vector(input, 0), start, n);
            status = tmi_units_add(functions->units, chunk->room, chunk->labels, chunk->columns, n, take, context, &err);
        } else {
            status = take(context, chunk->columns, n, &err);
        }
    }
    atomic_fetch_add_explicit(functions->rows, (int64_t)rows, memory_order_relaxed);
    if (status != TAMIS_OK) tell_failure(info, &err);
}

struct tmi_duckdb_cells {
    tmi_cells *cells;
    tmi_duckdb_chunk chunk;
    struct tmi_duckdb_cells *next;
};

typedef struct cells_state {
    struct tmi_duckdb_cells *owned; /* NULL if memory runs out */
} cells_state;

static cells_state *state_of(duckdb_aggregate_state state) { return (cells_state *)(void *)state; }

static void out_of_memory(duckdb_function_info info) { tmi_duckdb()->aggregate_function_set_error(info, "out of memory"); }

static idx_t state_size(duckdb_function_info info)
{
    (void)info;
    return sizeof(cells_state);
}

static void free_owned(struct tmi_duckdb_cells *owned)
{
    if (!owned) return;
    tmi_cells_free(owned->cells);
    tmi_duckdb_chunk_clear(&owned->chunk);
    tmi_free(owned);
}

static void state_init(duckdb_function_info info, duckdb_aggregate_state state)
{
    tmi_duckdb_functions *functions = tmi_duckdb()->aggregate_function_get_extra_info(info);
    struct tmi_duckdb_cells *owned = tmi_alloc(1, sizeof *owned);
    if (owned) owned->cells = tmi_cells_new(&functions->layout);
    const bool made = owned && tmi_duckdb_chunk_make(&owned->chunk, functions) && owned->cells;
    state_of(state)->owned = made ? owned : NULL;
    if (!made) {
        free_owned(owned);
        out_of_memory(info);
        return;
    }
    owned->next = atomic_load(&functions->cells);
    while (!atomic_compare_exchange_weak(&functions->cells, &owned->next, owned)) continue;
}

static tamis_status add_rows(void *cells, const void *const *columns, size_t n, tamis_error *err)
{
    return tmi_cells_add(cells, columns, n, err);
}

/* There is no GROUP BY, so all rows of a chunk have the same state. */
static void state_update(duckdb_function_info info, duckdb_data_chunk input, duckdb_aggregate_state *states)
{
    const tmi_duckdb_api *api = tmi_duckdb();
    if (api->data_chunk_get_size(input) == 0) return;
    struct tmi_duckdb_cells *owned = state_of(states[0])->owned;
    if (!owned) out_of_memory(info);
    else tmi_duckdb_chunk_take(&owned->chunk, api->aggregate_function_get_extra_info(info), input, add_rows, owned->cells, info);
}

static void state_combine(duckdb_function_info info, duckdb_aggregate_state *sources, duckdb_aggregate_state *targets,
                          idx_t count)
{
    for (idx_t i = 0; i < count; i++) {
        if (!state_of(targets[i])->owned || !state_of(sources[i])->owned) out_of_memory(info);
        else if (tmi_cells_add_cells(state_of(targets[i])->owned->cells, state_of(sources[i])->owned->cells, NULL) != TAMIS_OK)
            tmi_duckdb()->aggregate_function_set_error(info, "too many rows");
    }
}

static void state_finish(duckdb_function_info info, duckdb_aggregate_state *states, duckdb_vector result, idx_t count,
                         idx_t offset)
{
    const tmi_duckdb_api *api = tmi_duckdb();
    const tmi_duckdb_functions *functions = api->aggregate_function_get_extra_info(info);
    const size_t answer_count = functions->layout.answer_count;
    duckdb_list_entry *entries = api->vector_get_data(result);
    tmi_int128 *answers = tmi_secret_alloc(answer_count, sizeof *answers);
    if (!answers || count != 1 || !state_of(states[0])->owned || api->list_vector_reserve(result, answer_count) == DuckDBError ||
        api->list_vector_set_size(result, answer_count) == DuckDBError) {
        out_of_memory(info);
    } else {
        entries[offset] = (duckdb_list_entry){.offset = 0, .length = answer_count};
        duckdb_hugeint *list = api->vector_get_data(api->list_vector_get_child(result));
        tmi_cells_answers(answers, state_of(states[0])->owned->cells);
        for (size_t i = 0; i < answer_count; i++)
            list[i] = (duckdb_hugeint){.lower = (uint64_t)answers[i], .upper = (int64_t)(answers[i] >> 64)};
    }
    tmi_secret_free(answers);
}

/* ---- aggregates that see labels first ---- */

static void count_init(duckdb_function_info info, duckdb_aggregate_state state)
{
    (void)info;
    *(int64_t *)(void *)state = 0;
}

static idx_t count_size(duckdb_function_info info)
{
    (void)info;
    return sizeof(int64_t);
}

static void count_update(duckdb_function_info info, duckdb_data_chunk input, duckdb_aggregate_state *states)
{
    const tmi_duckdb_api *api = tmi_duckdb();
    const tmi_duckdb_functions *functions = api->aggregate_function_get_extra_info(info);
    const size_t rows = api->data_chunk_get_size(input);
    tmi_cell cells[PIECE];
    for (size_t start = 0; start < rows; start += PIECE) {
        const size_t n = rows - start < PIECE ? rows - start : PIECE;
        see_labels(cells, api->data_chunk_get_vector(input, 0), start, n);
        tmi_units_count(functions->units, cells, n);
    }
    if (rows > 0) *(int64_t *)(void *)states[0] += (int64_t)rows;
}

static void count_combine(duckdb_function_info info, duckdb_aggregate_state *sources, duckdb_aggregate_state *targets,
                          idx_t count)
{
    (void)info;
    for (idx_t i = 0; i < count; i++) *(int64_t *)(void *)targets[i] += *(int64_t *)(void *)sources[i];
}

static void count_finish(duckdb_function_info info, duckdb_aggregate_state *states, duckdb_vector result, idx_t count,
                         idx_t offset)
{
    int64_t *rows = tmi_duckdb()->vector_get_data(result);
    (void)info;
    for (idx_t i = 0; i < count; i++) rows[offset + i] = *(int64_t *)(void *)states[i];
}

static void labels_update(duckdb_function_info info, duckdb_data_chunk input, duckdb_aggregate_state *states)
{
    const tmi_duckdb_api *api = tmi_duckdb();
    const tmi_duckdb_column *column = api->aggregate_function_get_extra_info(info);
    const int32_t *strata = column->column->stratum ? api->vector_get_data(api->data_chunk_get_vector(input, 1)) : NULL;
    const size_t rows = api->data_chunk_get_size(input);
    tamis_status status = TAMIS_OK;
    tmi_cell cells[PIECE];
    (void)states;
    mtx_lock(column->lock);
    for (size_t start = 0; start < rows && status == TAMIS_OK; start += PIECE) {
        const size_t n = rows - start < PIECE ? rows - start : PIECE;
        see_labels(cells, api->data_chunk_get_vector(input, 0), start, n);
        status = tmi_clusters_see(column->clusters, strata ? strata + start : NULL, cells, n, NULL);
    }
    mtx_unlock(column->lock);
    if (status != TAMIS_OK) out_of_memory(info);
}

static void distinct_update(duckdb_function_info info, duckdb_data_chunk input, duckdb_aggregate_state *states)
{
    const tmi_duckdb_api *api = tmi_duckdb();
    tmi_duckdb_functions *functions = api->aggregate_function_get_extra_info(info);
    const tmi_duckdb_distinct *distinct = &functions->distinct;
    const int32_t *strata = api->vector_get_data(api->data_chunk_get_vector(input, 1));
    const size_t rows = api->data_chunk_get_size(input);
    tamis_status status = TAMIS_OK;
    tmi_cell cells[PIECE];
    (void)states;
    mtx_lock(&functions->lock);
    for (size_t start = 0; start < rows && status == TAMIS_OK; start += PIECE) {
        const size_t n = rows - start < PIECE ? rows - start : PIECE;
        see_labels(cells, api->data_chunk_get_vector(input, 0), start, n);
        for (size_t i = 0; distinct->parts > 1 && i < n; i++) {
            const tmi_cell label = tmi_trimmed(cells[i].bytes, cells[i].bytes ? cells[i].length : 0);
            if (tmi_hash_text(label.bytes, label.length) % distinct->parts != distinct->part) cells[i] = (tmi_cell){0};
        }
        status = tmi_labels_add_all(distinct->labels, strata + start, distinct->strata, cells, n, NULL);
    }
    mtx_unlock(&functions->lock);
    if (status != TAMIS_OK) out_of_memory(info);
}

/* An aggregate of a label and, with `code`, of a code. */
static bool register_first(const char *name, bool code, duckdb_aggregate_update_t update, const void *extra,
                           duckdb_connection connection)
{
    const tmi_duckdb_api *api = tmi_duckdb();
    duckdb_aggregate_function function = api->create_aggregate_function();
    duckdb_logical_type label = api->create_logical_type(DUCKDB_TYPE_VARCHAR);
    duckdb_logical_type stratum = api->create_logical_type(DUCKDB_TYPE_INTEGER);
    duckdb_logical_type rows = api->create_logical_type(DUCKDB_TYPE_BIGINT);
    api->aggregate_function_set_name(function, name);
    api->aggregate_function_add_parameter(function, label);
    if (code) api->aggregate_function_add_parameter(function, stratum);
    api->aggregate_function_set_return_type(function, rows);
    api->aggregate_function_set_functions(function, count_size, count_init, update, count_combine, count_finish);
    api->aggregate_function_set_special_handling(function);
    api->aggregate_function_set_extra_info(function, (void *)(uintptr_t)extra, NULL);
    const bool done = api->register_aggregate_function(connection, function) == DuckDBSuccess;
    api->destroy_logical_type(&label);
    api->destroy_logical_type(&stratum);
    api->destroy_logical_type(&rows);
    api->destroy_aggregate_function(&function);
    return done;
}

/* ---- making them known ---- */

const char *tmi_duckdb_lookup_name(tmi_form form)
{
    return form == TMI_FORM_EXACT    ? "tamis_exact"
           : form == TMI_FORM_DOUBLE ? "tamis_double"
           : form == TMI_FORM_FLOAT  ? "tamis_float"
                                     : "tamis_code";
}

static const char *function_of(const tmi_column *column) { return column->kind == TMI_NUMBER ? "tamis_point" : "tamis_group"; }

/* The column whose code, or label, is the second argument; NULL: there is only one. */
static const tmi_column *second_of(const tmi_column *column)
{
    if (column->kind == TMI_NUMBER) return column->by;
    if (column->kind == TMI_JOINT) return column->second;
    return column->kind == TMI_GROUPS || column->kind == TMI_SCATTER ? column->stratum : NULL;
}

void tmi_duckdb_write_call(tmi_text *sql, const tmi_layout *layout, size_t c)
{
    const tmi_column *column = layout->columns[c], *second = second_of(column);
    if (column->kind == TMI_CATEGORY) {
        tmi_text_format(sql, "c%zu", c);
        return;
    }
    tmi_text_format(sql, "%s_%zu(", function_of(column), c);
    if (column->kind == TMI_JOINT) tmi_duckdb_write_call(sql, layout, tmi_layout_index(layout, column->of));
    else tmi_text_format(sql, "c%zu", column->kind == TMI_NUMBER ? c : tmi_layout_index(layout, column->of));
    if (second && second->kind == TMI_LABEL) {
        tmi_text_format(sql, ", c%zu", tmi_layout_index(layout, second));
    } else if (second) {
        tmi_text_put(sql, ", ");
        tmi_duckdb_write_call(sql, layout, tmi_layout_index(layout, second));
    }
    tmi_text_put(sql, ")");
}

static bool register_column(const tmi_duckdb_column *column, size_t number, duckdb_connection connection)
{
    const tmi_duckdb_api *api = tmi_duckdb();
    const bool is_number = column->column->kind == TMI_NUMBER, is_joint = column->column->kind == TMI_JOINT;
    char name[64];
    snprintf(name, sizeof name, "%s_%zu", function_of(column->column), number);
    duckdb_scalar_function function = api->create_scalar_function();
    duckdb_logical_type from = api->create_logical_type(is_number  ? DUCKDB_TYPE_DOUBLE
                                                        : is_joint ? DUCKDB_TYPE_INTEGER
                                                                   : DUCKDB_TYPE_VARCHAR);
    duckdb_logical_type code = api->create_logical_type(DUCKDB_TYPE_INTEGER);
    duckdb_logical_type point = api->create_logical_type(DUCKDB_TYPE_BIGINT);
    api->scalar_function_set_name(function, name);
    api->scalar_function_add_parameter(function, from);
    const bool is_scatter = column->column->kind == TMI_SCATTER;
    if (second_of(column->column)) api->scalar_function_add_parameter(function, is_scatter ? from : code);
    api->scalar_function_set_return_type(function, is_number ? point : code);
    api->scalar_function_set_special_handling(function); /* NULL reaches us */
    api->scalar_function_set_extra_info(function, (void *)(uintptr_t)column, NULL);
    api->scalar_function_set_function(function, is_number    ? points_of_numbers
                                                : is_joint   ? joint_codes
                                                : is_scatter ? scattered_labels
                                                             : codes_of_labels);
    bool done = api->register_scalar_function(connection, function) == DuckDBSuccess;
    api->destroy_logical_type(&from);
    api->destroy_logical_type(&code);
    api->destroy_logical_type(&point);
    api->destroy_scalar_function(&function);
    return done;
}

static bool register_lookup(const tmi_duckdb_lookup *lookup, size_t number, duckdb_connection connection)
{
    const tmi_duckdb_api *api = tmi_duckdb();
    char name[64];
    snprintf(name, sizeof name, "%s_%zu", tmi_duckdb_lookup_name(lookup->form), number);
    duckdb_scalar_function function = api->create_scalar_function();
    duckdb_logical_type text = api->create_logical_type(DUCKDB_TYPE_VARCHAR);
    duckdb_logical_type code = api->create_logical_type(DUCKDB_TYPE_INTEGER);
    api->scalar_function_set_name(function, name);
    api->scalar_function_add_parameter(function, text);
    api->scalar_function_set_return_type(function, code);
    api->scalar_function_set_special_handling(function); /* NULL reaches us */
    api->scalar_function_set_extra_info(function, (void *)(uintptr_t)lookup, NULL);
    api->scalar_function_set_function(function, codes_of_texts);
    const bool done = api->register_scalar_function(connection, function) == DuckDBSuccess;
    api->destroy_logical_type(&text);
    api->destroy_logical_type(&code);
    api->destroy_scalar_function(&function);
    return done;
}

void tmi_duckdb_add_parameters(duckdb_aggregate_function function, const tmi_layout *layout)
{
    const tmi_duckdb_api *api = tmi_duckdb();
    duckdb_logical_type point = api->create_logical_type(DUCKDB_TYPE_BIGINT);
    duckdb_logical_type code = api->create_logical_type(DUCKDB_TYPE_INTEGER);
    duckdb_logical_type label = api->create_logical_type(DUCKDB_TYPE_VARCHAR);
    if (layout->request->unit) api->aggregate_function_add_parameter(function, label);
    for (size_t c = 0; c < layout->column_count; c++) {
        const tmi_column *column = layout->columns[c];
        if (tmi_is_given(column)) api->aggregate_function_add_parameter(function, column->kind == TMI_NUMBER ? point : code);
    }
    api->destroy_logical_type(&point);
    api->destroy_logical_type(&code);
    api->destroy_logical_type(&label);
}

static bool register_cells(tmi_duckdb_functions *functions, duckdb_connection connection)
{
    const tmi_duckdb_api *api = tmi_duckdb();
    duckdb_aggregate_function function = api->create_aggregate_function();
    duckdb_logical_type answer = api->create_logical_type(DUCKDB_TYPE_HUGEINT);
    duckdb_logical_type answers = api->create_list_type(answer);
    api->aggregate_function_set_name(function, "tamis_cells");
    tmi_duckdb_add_parameters(function, &functions->layout);
    api->aggregate_function_set_return_type(function, answers);
    api->aggregate_function_set_functions(function, state_size, state_init, state_update, state_combine, state_finish);
    api->aggregate_function_set_special_handling(function);
    api->aggregate_function_set_extra_info(function, functions, NULL);
    bool done = api->register_aggregate_function(connection, function) == DuckDBSuccess;
    api->destroy_logical_type(&answers);
    api->destroy_logical_type(&answer);
    api->destroy_aggregate_function(&function);
    return done;
}

tamis_status tmi_duckdb_functions_register(tmi_duckdb_functions *functions, tmi_duckdb_session *session, tamis_error *err)
{
    functions->rows = &session->rows;
    const bool counts_points = functions->points;
    bool done = !functions->layout.request || counts_points || register_cells(functions, session->connection);
    if (counts_points) done = tmi_duckdb_register_points(functions, session->connection);
    if (functions->layout.request && functions->layout.request->unit)
        done = done && register_first("tamis_units", false, count_update, functions, session->connection);
    if (!functions->layout.request)
        done = done && register_first("tamis_distinct", true, distinct_update, functions, session->connection);
    for (size_t c = 0; done && c < functions->layout.column_count; c++) {
        const tmi_duckdb_column *column = &functions->columns[c];
        if (tmi_is_given(column->column) && column->column->kind != TMI_CATEGORY)
            done = register_column(column, c, session->connection);
        if (done && column->clusters) {
            char name[64];
            snprintf(name, sizeof name, "tamis_labels_%zu", c);
            done = register_first(name, column->column->stratum, labels_update, column, session->connection);
        }
        for (size_t i = 0; done && column->codes && i < TMI_DUCKDB_LOOKUPS; i++)
            done = register_lookup(&column->lookups[i], c, session->connection);
    }
    return done ? TAMIS_OK : tmi_fail(err, TAMIS_SYSTEM, "DuckDB did not accept the functions of tamis");
}

/* What the columns of the layout need. */
static tamis_status make_lookups(tmi_duckdb_functions *functions, tamis_error *err)
{
    const size_t count = functions->layout.column_count;
    functions->columns = tmi_alloc(count, sizeof *functions->columns);
    functions->has_lock = mtx_init(&functions->lock, mtx_plain) == thrd_success;
    if (!functions->columns || !functions->has_lock) return tmi_fail_memory(err);
    for (size_t c = 0; c < count; c++) {
        tmi_duckdb_column *column = &functions->columns[c];
        column->column = functions->layout.columns[c];
        column->lock = &functions->lock;
        if (column->column->kind == TMI_CATEGORY) {
            tamis_status status = tmi_codes_new(&column->codes, column->column, err);
            if (status != TAMIS_OK) return status;
            for (size_t i = 0; i < TMI_DUCKDB_LOOKUPS; i++)
                column->lookups[i] = (tmi_duckdb_lookup){column->codes, (tmi_form)(TMI_FORM_TEXT + i)};
        } else if (column->column->kind == TMI_GROUPS && !(column->clusters = tmi_clusters_new(column->column))) {
            return tmi_fail_memory(err);
        }
    }
    return TAMIS_OK;
}

tamis_status tmi_duckdb_functions_init(tmi_duckdb_functions *functions, const tmi_request *request, tamis_error *err)
{
    tamis_status status;
    *functions = (tmi_duckdb_functions){0};
    TMI_TRY(tmi_layout_init(&functions->layout, request, err));
    TMI_TRY(make_lookups(functions, err));
done:
    if (status != TAMIS_OK) tmi_duckdb_functions_clear(functions);
    return status;
}

tamis_status tmi_duckdb_functions_init_points(tmi_duckdb_functions *functions, const tmi_points_plan *plan, tamis_error *err)
{
    tamis_status status = tmi_duckdb_functions_init(functions, &plan->request, err);
    if (status == TAMIS_OK) functions->points = plan;
    return status;
}

tamis_status tmi_duckdb_functions_init_inventory(tmi_duckdb_functions *functions, const tmi_inventory *inventory,
                                                 tamis_error *err)
{
    tamis_status status;
    *functions = (tmi_duckdb_functions){0};
    TMI_TRY(tmi_layout_of_inventory(&functions->layout, inventory, err));
    TMI_TRY(make_lookups(functions, err));
done:
    if (status != TAMIS_OK) tmi_duckdb_functions_clear(functions);
    return status;
}

tamis_status tmi_duckdb_functions_init_rows(tmi_duckdb_functions *functions, const tmi_column *const *columns, size_t count,
                                            tamis_error *err)
{
    tamis_status status;
    *functions = (tmi_duckdb_functions){0};
    TMI_TRY(tmi_layout_of_rows(&functions->layout, columns, count, err));
    TMI_TRY(make_lookups(functions, err));
done:
    if (status != TAMIS_OK) tmi_duckdb_functions_clear(functions);
    return status;
}

void tmi_duckdb_functions_forget(tmi_duckdb_functions *functions)
{
    struct tmi_duckdb_cells *owned = functions->cells;
    functions->cells = NULL;
    while (owned) {
        struct tmi_duckdb_cells *next = owned->next;
        free_owned(owned);
        owned = next;
    }
    tmi_duckdb_forget_points(functions);
}

void tmi_duckdb_functions_clear(tmi_duckdb_functions *functions)
{
    for (size_t c = 0; functions->columns && c < functions->layout.column_count; c++) {
        tmi_codes_free(functions->columns[c].codes);
        tmi_clusters_free(functions->columns[c].clusters);
    }
    tmi_duckdb_functions_forget(functions);
    if (functions->has_lock) mtx_destroy(&functions->lock);
    tmi_free(functions->columns);
    tmi_layout_clear(&functions->layout);
    *functions = (tmi_duckdb_functions){0};
}
