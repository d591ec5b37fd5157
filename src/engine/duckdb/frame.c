/* A frame read by DuckDB. One session is used for all passes. */
#include "engine/files/frame.h"

#include "base/memory.h"
#include "engine/duckdb/source.h"

typedef struct frame_state {
    tmi_frame frame;
    tmi_duckdb_source source;
    tmi_duckdb_session session;
} frame_state;

static void free_frame(tmi_frame *frame)
{
    frame_state *state = frame->state;
    for (size_t c = 0; c < frame->column_count; c++) tmi_free(frame->names[c]);
    tmi_free(frame->names);
    tmi_free(frame->forms);
    tmi_duckdb_close(&state->session);
    tmi_duckdb_source_clear(&state->source);
    tmi_free(state);
}

/* ---- reading ---- */

typedef struct cell_room {
    tmi_cell **cells; /* of each column, for one chunk */
    size_t count, rows;
} cell_room;

static tamis_status take_chunk(cell_room *room, duckdb_data_chunk chunk, const tmi_duckdb_api *api, int64_t first,
                               tmi_take_cells *take, void *context, tamis_error *err)
{
    const size_t n = api->data_chunk_get_size(chunk);
    for (size_t c = 0; c < room->count; c++) {
        if (n > room->rows) {
            tmi_cell *more = tmi_realloc(room->cells[c], n, sizeof *more);
            if (!more) return tmi_fail_memory(err);
            room->cells[c] = more;
        }
        duckdb_vector vector = api->data_chunk_get_vector(chunk, c);
        const uint64_t *validity = api->vector_get_validity(vector);
        const duckdb_string_t *texts = api->vector_get_data(vector);
        for (size_t i = 0; i < n; i++)
            room->cells[c][i] = tmi_duckdb_is_null(validity, i) ? (tmi_cell){0} : tmi_duckdb_cell(&texts[i]);
    }
    if (n > room->rows) room->rows = n;
    return take(context, first, n, room->cells, err);
}

static tamis_status take_all(cell_room *room, frame_state *state, const tmi_text *sql, tmi_take_cells *take, void *context,
                             const tmi_watch *watch, tamis_error *err)
{
    tmi_watch told = watch ? *watch : (tmi_watch){0};
    const tmi_duckdb_api *api = state->session.api;
    duckdb_result result = {0};
    duckdb_data_chunk chunk = NULL;
    int64_t first = 0;
    tamis_status status;
    TMI_TRY(tmi_duckdb_stream(&result, &state->session, sql, err));
    while ((chunk = api->fetch_chunk(result))) {
        const int64_t rows = (int64_t)api->data_chunk_get_size(chunk);
        if (rows > state->frame.rows - first) break;
        TMI_TRY(take_chunk(room, chunk, api, first, take, context, err));
        first += rows;
        told.rows += rows;
        TMI_TRY(tmi_watch_tell(&told, (double)first / (double)state->frame.rows, err));
        api->destroy_data_chunk(&chunk);
    }
    if (chunk || first != state->frame.rows)
        status = tmi_fail_file(err, TAMIS_SYSTEM, state->source.files[0].file.given, 0,
                               "could not be read to its end, or changed while it was read");
done:
    api->destroy_data_chunk(&chunk);
    api->destroy_result(&result);
    return status;
}

static tamis_status read_frame(tmi_frame *frame, const size_t *columns, const bool *labels, size_t count, tmi_take_cells *take,
                               void *context, const tmi_watch *watch, tamis_error *err)
{
    frame_state *state = frame->state;
    cell_room room = {.cells = tmi_alloc(count, sizeof *room.cells), .count = count};
    tamis_status status = TAMIS_OK;
    tmi_text sql;
    tmi_text_init(&sql);
    if (!room.cells) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(tmi_duckdb_write_texts(&sql, &state->source, 0, &state->session, columns, labels, count, err));
    TMI_TRY(take_all(&room, state, &sql, take, context, watch, err));
done:
    for (size_t c = 0; room.cells && c < count; c++) tmi_free(room.cells[c]);
    tmi_free(room.cells);
    tmi_text_clear(&sql);
    return status;
}

tamis_status tmi_frame_duckdb(tmi_frame **frame, const char *path, const tamis_watch *watch, tamis_error *err)
{
    *frame = NULL;
    if (!tmi_duckdb_load(err)) return TAMIS_SYSTEM;
    frame_state *state = tmi_alloc(1, sizeof *state);
    if (!state) return tmi_fail_memory(err);
    tmi_frame *made = &state->frame;
    tamis_status status;
    *made = (tmi_frame){.state = state, .read = read_frame, .free = free_frame};
    TMI_TRY(tmi_duckdb_source_init(&state->source, &(tmi_source){.files = &path, .file_count = 1}, err));
    state->source.in_order = true;
    TMI_TRY(tmi_duckdb_source_open(&state->session, &state->source, 0, err));
    TMI_TRY(tmi_duckdb_source_names(&made->names, &made->forms, &made->column_count, &state->source, 0, &state->session, err));
    TMI_TRY(tmi_duckdb_count_rows(&made->rows, &state->source, &state->session, watch, err));
    *frame = made;
done:
    if (status != TAMIS_OK) free_frame(made);
    return status;
}
