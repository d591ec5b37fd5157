/* The aggregate tamis_points: a tally for each state, so for each thread. DuckDB combines the states at the end of a query;
 * they only have the number of their rows, and the tallies, which are large, are moved together afterwards, one at a time. */
#include <stdatomic.h>

#include "base/memory.h"
#include "engine/duckdb/functions.h"

struct tmi_duckdb_tally {
    tmi_tally *tally;
    const void **columns; /* of the chunk at hand, one per column of the layout */
    struct tmi_duckdb_tally *next;
};

typedef struct points_state {
    struct tmi_duckdb_tally *owned; /* NULL if memory runs out */
    int64_t rows;                   /* also those of states that were combined with this one */
} points_state;

static points_state *state_of(duckdb_aggregate_state state) { return (points_state *)(void *)state; }

static void fail(duckdb_function_info info) { tmi_duckdb()->aggregate_function_set_error(info, "out of memory"); }

static idx_t state_size(duckdb_function_info info)
{
    (void)info;
    return sizeof(points_state);
}

static void free_owned(struct tmi_duckdb_tally *owned)
{
    if (!owned) return;
    tmi_tally_free(owned->tally);
    tmi_free(owned->columns);
    tmi_free(owned);
}

static void state_init(duckdb_function_info info, duckdb_aggregate_state state)
{
    tmi_duckdb_functions *functions = tmi_duckdb()->aggregate_function_get_extra_info(info);
    struct tmi_duckdb_tally *owned = tmi_alloc(1, sizeof *owned);
    if (owned) {
        owned->tally = tmi_tally_new(functions->points, &functions->layout);
        owned->columns = tmi_alloc(functions->layout.column_count, sizeof *owned->columns);
    }
    const bool made = owned && owned->tally && owned->columns;
    *state_of(state) = (points_state){.owned = made ? owned : NULL};
    if (!made) {
        free_owned(owned);
        fail(info);
        return;
    }
    owned->next = atomic_load(&functions->tallies);
    while (!atomic_compare_exchange_weak(&functions->tallies, &owned->next, owned)) continue;
}

/* There is no GROUP BY, so all rows of a chunk have the same state. */
static void state_update(duckdb_function_info info, duckdb_data_chunk input, duckdb_aggregate_state *states)
{
    const tmi_duckdb_api *api = tmi_duckdb();
    const tmi_duckdb_functions *functions = api->aggregate_function_get_extra_info(info);
    const size_t n = api->data_chunk_get_size(input);
    if (n == 0) return;
    points_state *state = state_of(states[0]);
    struct tmi_duckdb_tally *owned = state->owned;
    for (size_t c = 0, argument = 0; owned && c < functions->layout.column_count; c++)
        if (tmi_is_given(functions->layout.columns[c]))
            owned->columns[c] = api->vector_get_data(api->data_chunk_get_vector(input, argument++));
    atomic_fetch_add_explicit(functions->rows, (int64_t)n, memory_order_relaxed);
    state->rows += (int64_t)n;
    if (!owned || tmi_tally_add(owned->tally, owned->columns, n, NULL) != TAMIS_OK) fail(info);
}

static void state_combine(duckdb_function_info info, duckdb_aggregate_state *sources, duckdb_aggregate_state *targets,
                          idx_t count)
{
    (void)info;
    for (idx_t i = 0; i < count; i++) state_of(targets[i])->rows += state_of(sources[i])->rows;
}

static void state_finish(duckdb_function_info info, duckdb_aggregate_state *states, duckdb_vector result, idx_t count,
                         idx_t offset)
{
    int64_t *rows = tmi_duckdb()->vector_get_data(result);
    (void)info;
    for (idx_t i = 0; i < count; i++) rows[offset + i] = state_of(states[i])->rows;
}

bool tmi_duckdb_register_points(tmi_duckdb_functions *functions, duckdb_connection connection)
{
    const tmi_duckdb_api *api = tmi_duckdb();
    duckdb_aggregate_function function = api->create_aggregate_function();
    duckdb_logical_type point = api->create_logical_type(DUCKDB_TYPE_BIGINT);
    duckdb_logical_type code = api->create_logical_type(DUCKDB_TYPE_INTEGER);
    api->aggregate_function_set_name(function, "tamis_points");
    for (size_t c = 0; c < functions->layout.column_count; c++) {
        const tmi_column *column = functions->layout.columns[c];
        if (tmi_is_given(column)) api->aggregate_function_add_parameter(function, column->kind == TMI_NUMBER ? point : code);
    }
    api->aggregate_function_set_return_type(function, point);
    api->aggregate_function_set_functions(function, state_size, state_init, state_update, state_combine, state_finish);
    api->aggregate_function_set_special_handling(function);
    api->aggregate_function_set_extra_info(function, functions, NULL);
    const bool done = api->register_aggregate_function(connection, function) == DuckDBSuccess;
    api->destroy_logical_type(&point);
    api->destroy_logical_type(&code);
    api->destroy_aggregate_function(&function);
    return done;
}

void tmi_duckdb_forget_points(tmi_duckdb_functions *functions)
{
    struct tmi_duckdb_tally *owned = functions->tallies;
    functions->tallies = NULL;
    while (owned) {
        struct tmi_duckdb_tally *next = owned->next;
        free_owned(owned);
        owned = next;
    }
}

tamis_status tmi_duckdb_take_points(tmi_tally *all, tmi_duckdb_functions *functions, int64_t rows, tamis_error *err)
{
    const int64_t before = tmi_tally_rows(all);
    for (struct tmi_duckdb_tally *owned = functions->tallies; owned; owned = owned->next) {
        const tamis_status status = tmi_tally_take(all, owned->tally, err);
        if (status != TAMIS_OK) return status;
    }
    if (tmi_tally_rows(all) - before == rows) return TAMIS_OK;
    return tmi_fail(err, TAMIS_SYSTEM, "DuckDB counted other rows than it handed out");
}
