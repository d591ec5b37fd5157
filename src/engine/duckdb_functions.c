#include "engine/duckdb_functions.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

/* ---- texts to codes ---- */

/* The same few texts come again and again. Two of DuckDB's strings with equal 16 bytes are equal texts: short ones stand
 * in these bytes, of long ones the address and length do. A chunk therefore remembers the codes of the last strings. */
#define REMEMBERED 64

typedef struct memory {
    uint64_t word[2];
    int32_t code;
    bool filled;
} memory;

_Static_assert(sizeof(duckdb_string_t) == 2 * sizeof(uint64_t), "a string is two words");

static int32_t code_of(const duckdb_string_t *string, const tmi_codes *codes)
{
    const uint32_t length = string->value.inlined.length;
    const char *text = length <= sizeof string->value.inlined.inlined ? string->value.inlined.inlined
                                                                      : string->value.pointer.ptr;
    return tmi_code(codes, text, length);
}

void tmi_duckdb_codes(int32_t *code, const duckdb_string_t *texts, const uint64_t *validity, size_t n,
                      const tmi_codes *codes, int32_t missing)
{
    memory remembered[REMEMBERED] = {0};
    for (size_t i = 0; i < n; i++) {
        if (tmi_duckdb_is_null(validity, i)) {
            code[i] = missing;
            continue;
        }
        uint64_t word[2];
        memcpy(word, &texts[i], sizeof word);
        memory *place = &remembered[((word[0] ^ word[1]) * UINT64_C(0x9e3779b97f4a7c15)) >> 58];
        if (!place->filled || place->word[0] != word[0] || place->word[1] != word[1])
            *place = (memory){{word[0], word[1]}, code_of(&texts[i], codes), true};
        code[i] = place->code;
    }
}

static void codes_of_texts(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output)
{
    const tmi_duckdb_api *api = tmi_duckdb();
    const tmi_duckdb_column *column = api->scalar_function_get_extra_info(info);
    duckdb_vector texts = api->data_chunk_get_vector(input, 0);
    tmi_duckdb_codes(api->vector_get_data(output), api->vector_get_data(texts), api->vector_get_validity(texts),
                     api->data_chunk_get_size(input), column->codes, (int32_t)column->column->value_count);
}

/* ---- numbers to grid points ---- */

static void points_of_numbers(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output)
{
    const tmi_duckdb_api *api = tmi_duckdb();
    const tmi_duckdb_column *column = api->scalar_function_get_extra_info(info);
    duckdb_vector numbers = api->data_chunk_get_vector(input, 0);
    const uint64_t *validity = api->vector_get_validity(numbers);
    const size_t n = api->data_chunk_get_size(input);
    int64_t *points = api->vector_get_data(output);
    tmi_grid_points(points, api->vector_get_data(numbers), n, column->column);
    for (size_t i = 0; validity && i < n; i++)
        if (tmi_duckdb_is_null(validity, i)) points[i] = TMI_NO_POINT;
}

/* ---- the aggregate ---- */

struct tmi_duckdb_cells {
    tmi_cells *cells;
    struct tmi_duckdb_cells *next;
};

typedef struct cells_state {
    tmi_cells *cells; /* NULL without memory */
} cells_state;

static cells_state *state_of(duckdb_aggregate_state state)
{
    return (cells_state *)(void *)state;
}

static void out_of_memory(duckdb_function_info info)
{
    tmi_duckdb()->aggregate_function_set_error(info, "out of memory");
}

static idx_t state_size(duckdb_function_info info)
{
    (void)info;
    return sizeof(cells_state);
}

static void state_init(duckdb_function_info info, duckdb_aggregate_state state)
{
    tmi_duckdb_functions *functions = tmi_duckdb()->aggregate_function_get_extra_info(info);
    struct tmi_duckdb_cells *owned = tmi_alloc(1, sizeof *owned);
    state_of(state)->cells = owned ? tmi_cells_new(&functions->layout) : NULL;
    if (!state_of(state)->cells) {
        tmi_free(owned);
        out_of_memory(info);
        return;
    }
    owned->cells = state_of(state)->cells;
    owned->next = atomic_load(&functions->cells);
    while (!atomic_compare_exchange_weak(&functions->cells, &owned->next, owned)) continue;
}

/* Columns of one request; a plan with more of them in one pass is not for people. */
#define MAX_COLUMNS 1024

/* There is no GROUP BY: all rows of a chunk have the same state. */
static void state_update(duckdb_function_info info, duckdb_data_chunk input, duckdb_aggregate_state *states)
{
    const tmi_duckdb_api *api = tmi_duckdb();
    const tmi_duckdb_functions *functions = api->aggregate_function_get_extra_info(info);
    const void *columns[MAX_COLUMNS];
    const size_t n = api->data_chunk_get_size(input);
    if (n == 0) return;
    for (size_t c = 0; c < functions->layout.column_count; c++)
        columns[c] = api->vector_get_data(api->data_chunk_get_vector(input, c));
    atomic_fetch_add_explicit(functions->rows, (int64_t)n, memory_order_relaxed);
    tmi_cells *cells = state_of(states[0])->cells;
    if (!cells || tmi_cells_add(cells, columns, n, NULL) != TAMIS_OK) out_of_memory(info);
}

static void state_combine(duckdb_function_info info, duckdb_aggregate_state *sources, duckdb_aggregate_state *targets,
                          idx_t count)
{
    for (idx_t i = 0; i < count; i++) {
        if (state_of(targets[i])->cells && state_of(sources[i])->cells)
            tmi_cells_add_cells(state_of(targets[i])->cells, state_of(sources[i])->cells);
        else
            out_of_memory(info);
    }
}

static void state_finish(duckdb_function_info info, duckdb_aggregate_state *states, duckdb_vector result, idx_t count,
                         idx_t offset)
{
    const tmi_duckdb_api *api = tmi_duckdb();
    const tmi_duckdb_functions *functions = api->aggregate_function_get_extra_info(info);
    const size_t answer_count = functions->layout.answer_count;
    duckdb_list_entry *entries = api->vector_get_data(result);
    tmi_int128 *answers = tmi_alloc(answer_count, sizeof *answers);
    if (!answers || count != 1 || api->list_vector_reserve(result, answer_count) == DuckDBError ||
        api->list_vector_set_size(result, answer_count) == DuckDBError) {
        out_of_memory(info);
    } else {
        entries[offset] = (duckdb_list_entry){.offset = 0, .length = answer_count};
        duckdb_hugeint *list = api->vector_get_data(api->list_vector_get_child(result));
        tmi_cells_answers(answers, state_of(states[0])->cells);
        for (size_t i = 0; i < answer_count; i++)
            list[i] = (duckdb_hugeint){.lower = (uint64_t)answers[i], .upper = (int64_t)(answers[i] >> 64)};
    }
    if (answers) tmi_wipe(answers, answer_count * sizeof *answers);
    tmi_free(answers);
}

/* ---- making them known ---- */

static bool register_column(const tmi_duckdb_column *column, size_t number, duckdb_connection connection)
{
    const tmi_duckdb_api *api = tmi_duckdb();
    const bool is_number = column->column->kind == TMI_NUMBER;
    char name[64];
    snprintf(name, sizeof name, is_number ? "tamis_point_%zu" : "tamis_code_%zu", number);
    duckdb_scalar_function function = api->create_scalar_function();
    duckdb_logical_type from = api->create_logical_type(is_number ? DUCKDB_TYPE_DOUBLE : DUCKDB_TYPE_VARCHAR);
    duckdb_logical_type to = api->create_logical_type(is_number ? DUCKDB_TYPE_BIGINT : DUCKDB_TYPE_INTEGER);
    api->scalar_function_set_name(function, name);
    api->scalar_function_add_parameter(function, from);
    api->scalar_function_set_return_type(function, to);
    api->scalar_function_set_special_handling(function); /* NULL reaches us */
    api->scalar_function_set_extra_info(function, (void *)(uintptr_t)column, NULL);
    api->scalar_function_set_function(function, is_number ? points_of_numbers : codes_of_texts);
    bool done = api->register_scalar_function(connection, function) == DuckDBSuccess;
    api->destroy_logical_type(&from);
    api->destroy_logical_type(&to);
    api->destroy_scalar_function(&function);
    return done;
}

static bool register_cells(tmi_duckdb_functions *functions, duckdb_connection connection)
{
    const tmi_duckdb_api *api = tmi_duckdb();
    duckdb_aggregate_function function = api->create_aggregate_function();
    duckdb_logical_type point = api->create_logical_type(DUCKDB_TYPE_BIGINT);
    duckdb_logical_type code = api->create_logical_type(DUCKDB_TYPE_INTEGER);
    duckdb_logical_type answer = api->create_logical_type(DUCKDB_TYPE_HUGEINT);
    duckdb_logical_type answers = api->create_list_type(answer);
    api->aggregate_function_set_name(function, "tamis_cells");
    for (size_t c = 0; c < functions->layout.column_count; c++)
        api->aggregate_function_add_parameter(function,
                                              functions->layout.columns[c]->kind == TMI_NUMBER ? point : code);
    api->aggregate_function_set_return_type(function, answers);
    api->aggregate_function_set_functions(function, state_size, state_init, state_update, state_combine, state_finish);
    api->aggregate_function_set_special_handling(function);
    api->aggregate_function_set_extra_info(function, functions, NULL);
    bool done = api->register_aggregate_function(connection, function) == DuckDBSuccess;
    api->destroy_logical_type(&point);
    api->destroy_logical_type(&code);
    api->destroy_logical_type(&answers);
    api->destroy_logical_type(&answer);
    api->destroy_aggregate_function(&function);
    return done;
}

tamis_status tmi_duckdb_functions_register(tmi_duckdb_functions *functions, tmi_duckdb_session *session,
                                           tamis_error *err)
{
    functions->rows = &session->rows;
    bool done = register_cells(functions, session->connection);
    for (size_t c = 0; done && c < functions->layout.column_count; c++)
        done = register_column(&functions->columns[c], c, session->connection);
    return done ? TAMIS_OK : tmi_fail(err, TAMIS_SYSTEM, "DuckDB did not take the functions of tamis");
}

tamis_status tmi_duckdb_functions_init(tmi_duckdb_functions *functions, const tmi_request *request, tamis_error *err)
{
    tamis_status status;
    *functions = (tmi_duckdb_functions){0};
    TMI_TRY(tmi_layout_init(&functions->layout, request, err));
    const size_t count = functions->layout.column_count;
    if (count > MAX_COLUMNS) {
        status = tmi_fail(err, TAMIS_INVALID, "the request has more than %d columns", MAX_COLUMNS);
        goto done;
    }
    functions->columns = tmi_alloc(count, sizeof *functions->columns);
    if (!functions->columns) {
        status = tmi_fail_memory(err);
        goto done;
    }
    for (size_t c = 0; c < count; c++) {
        tmi_duckdb_column *column = &functions->columns[c];
        column->column = functions->layout.columns[c];
        if (column->column->kind == TMI_CATEGORY) TMI_TRY(tmi_codes_new(&column->codes, column->column, err));
    }
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
        tmi_cells_free(owned->cells);
        tmi_free(owned);
        owned = next;
    }
}

void tmi_duckdb_functions_clear(tmi_duckdb_functions *functions)
{
    for (size_t c = 0; functions->columns && c < functions->layout.column_count; c++)
        tmi_codes_free(functions->columns[c].codes);
    tmi_duckdb_functions_forget(functions);
    tmi_free(functions->columns);
    tmi_layout_clear(&functions->layout);
    *functions = (tmi_duckdb_functions){0};
}
