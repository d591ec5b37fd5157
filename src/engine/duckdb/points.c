/* The aggregate tamis_points: a tally for each state, so for each thread. DuckDB combines the states at the end of a query;
 * they only have the number of their rows, and the tallies, which are large, are moved together afterwards, one at a time. */
#include <stdatomic.h>

#include "base/memory.h"
#include "engine/duckdb/functions.h"

struct tmi_duckdb_tally {
    tmi_tally *tally;
    tmi_duckdb_chunk chunk;
    struct tmi_duckdb_tally *next;
};

typedef struct points_state {
    struct tmi_duckdb_tally *owned; /* NULL if memory runs out */
    int64_t rows;                   /* that were added, also by states that were combined with this one */
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
    tmi_duckdb_chunk_clear(&owned->chunk);
    tmi_free(owned);
}

static void state_init(duckdb_function_info info, duckdb_aggregate_state state)
{
    tmi_duckdb_functions *functions = tmi_duckdb()->aggregate_function_get_extra_info(info);
    struct tmi_duckdb_tally *owned = tmi_alloc(1, sizeof *owned);
    if (owned) owned->tally = tmi_tally_new(functions->points, &functions->layout);
    const bool made = owned && tmi_duckdb_chunk_make(&owned->chunk, functions) && owned->tally;
    *state_of(state) = (points_state){.owned = made ? owned : NULL};
    if (!made) {
        free_owned(owned);
        fail(info);
        return;
    }
    owned->next = atomic_load(&functions->tallies);
    while (!atomic_compare_exchange_weak(&functions->tallies, &owned->next, owned)) continue;
}

static tamis_status add_rows(void *state, const void *const *columns, size_t n, tamis_error *err)
{
    points_state *to = state;
    to->rows += (int64_t)n;
    return tmi_tally_add(to->owned->tally, columns, n, err);
}

/* There is no GROUP BY, so all rows of a chunk have the same state. */
static void state_update(duckdb_function_info info, duckdb_data_chunk input, duckdb_aggregate_state *states)
{
    const tmi_duckdb_api *api = tmi_duckdb();
    if (api->data_chunk_get_size(input) == 0) return;
    points_state *state = state_of(states[0]);
    if (!state->owned) fail(info);
    else tmi_duckdb_chunk_take(&state->owned->chunk, api->aggregate_function_get_extra_info(info), input, add_rows, state, info);
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
    api->aggregate_function_set_name(function, "tamis_points");
    tmi_duckdb_add_parameters(function, &functions->layout);
    api->aggregate_function_set_return_type(function, point);
    api->aggregate_function_set_functions(function, state_size, state_init, state_update, state_combine, state_finish);
    api->aggregate_function_set_special_handling(function);
    api->aggregate_function_set_extra_info(function, functions, NULL);
    const bool done = api->register_aggregate_function(connection, function) == DuckDBSuccess;
    api->destroy_logical_type(&point);
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
