/* Unchanged rows, for estimate. */
#include <math.h>

#include "base/memory.h"
#include "engine/core/labels.h"
#include "engine/duckdb/source.h"

typedef struct row_columns {
    const tmi_column *const *columns;
    size_t count;
    tmi_duckdb_functions functions;
    tmi_labels **labels; /* of the labels */
    void **room;         /* of each column, for one chunk */
    size_t rows_room;
} row_columns;

static void clear_rows(row_columns *rows)
{
    for (size_t c = 0; c < rows->count; c++) {
        if (rows->labels) tmi_labels_free(rows->labels[c]);
        if (rows->room) tmi_free(rows->room[c]);
    }
    tmi_duckdb_functions_clear(&rows->functions);
    tmi_free(rows->labels);
    tmi_free(rows->room);
}

static tamis_status make_rows(row_columns *rows, const tmi_column *const *columns, size_t count, tamis_error *err)
{
    *rows = (row_columns){.columns = columns, .count = count};
    tamis_status status = tmi_duckdb_functions_init_rows(&rows->functions, columns, count, err);
    if (status != TAMIS_OK) return status;
    rows->labels = tmi_alloc(count, sizeof *rows->labels);
    rows->room = tmi_alloc(count, sizeof *rows->room);
    if (!rows->labels || !rows->room) return tmi_fail_memory(err);
    for (size_t c = 0; c < count; c++)
        if (columns[c]->kind == TMI_LABEL && !(rows->labels[c] = tmi_labels_new())) return tmi_fail_memory(err);
    return TAMIS_OK;
}

static void take_numbers(double *to, const double *from, const uint64_t *validity, size_t n, const tmi_column *column)
{
    for (size_t i = 0; i < n; i++) to[i] = tmi_duckdb_is_null(validity, i) || tmi_is_missing(from[i], column) ? NAN : from[i];
}

static void take_codes(int32_t *to, const int32_t *from, size_t n, int32_t missing)
{
    for (size_t i = 0; i < n; i++) to[i] = from[i] == missing ? -1 : from[i];
}

static tamis_status take_labels(int64_t *to, const duckdb_string_t *from, const uint64_t *validity, size_t n, tmi_labels *labels,
                                tamis_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const tmi_cell cell = tmi_duckdb_is_null(validity, i) ? (tmi_cell){0} : tmi_duckdb_cell(&from[i]);
        tamis_status status = tmi_labels_add(&to[i], labels, 0, cell, err);
        if (status != TAMIS_OK) return status;
    }
    return TAMIS_OK;
}

static tamis_status take_chunk(row_columns *rows, duckdb_data_chunk chunk, const tmi_duckdb_api *api, tmi_take_rows *take,
                               void *context, tamis_error *err)
{
    const size_t n = api->data_chunk_get_size(chunk);
    tamis_status status = TAMIS_OK;
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
        else if (rows->columns[c]->kind == TMI_LABEL)
            TMI_TRY(take_labels(rows->room[c], api->vector_get_data(vector), validity, n, rows->labels[c], err));
        else take_codes(rows->room[c], api->vector_get_data(vector), n, (int32_t)rows->columns[c]->value_count);
    }
    if (n > rows->rows_room) rows->rows_room = n;
    const tmi_piece piece = {.rows = n, .columns = (const void *const *)rows->room};
    status = take(context, &piece, err);
done:
    return status;
}

static tamis_status take_files(row_columns *rows, const tmi_duckdb_source *source, size_t first, tmi_duckdb_session *session,
                               tmi_take_rows *take, void *context, tamis_error *err)
{
    const tmi_duckdb_api *api = session->api;
    duckdb_result result = {0};
    duckdb_data_chunk chunk = NULL;
    tamis_status status;
    tmi_text sql;
    tmi_text_init(&sql);
    TMI_TRY(tmi_duckdb_write_source(&sql, source, first, TMI_DUCKDB_FILES, session, &rows->functions, err));
    TMI_TRY(tmi_duckdb_stream(&result, session, &sql, err));
    while ((chunk = api->fetch_chunk(result))) {
        TMI_TRY(take_chunk(rows, chunk, api, take, context, err));
        api->destroy_data_chunk(&chunk);
    }
    if (api->result_error(&result)) status = tmi_duckdb_note_trouble(session, api->result_error(&result), err);
done:
    api->destroy_data_chunk(&chunk);
    api->destroy_result(&result);
    tmi_text_clear(&sql);
    return status;
}

/* Checks that the columns of all files can be compared; the queries below see only some of the files. */
static tamis_status check_files(const row_columns *rows, const tmi_duckdb_source *source, tmi_duckdb_session *session,
                                tamis_error *err)
{
    tmi_text sql;
    tmi_text_init(&sql);
    const tamis_status status = tmi_duckdb_write_source(&sql, source, 0, SIZE_MAX, session, &rows->functions, err);
    tmi_text_clear(&sql);
    return status;
}

tamis_status tmi_duckdb_read_rows(tmi_duckdb_source *source, unsigned threads, const tmi_column *const *columns,
                                  size_t column_count, tmi_take_rows *take, void *context, tamis_error *err)
{
    tmi_duckdb_session session = {0};
    row_columns rows = {0};
    tamis_status status;
    TMI_TRY(make_rows(&rows, columns, column_count, err));
    TMI_TRY(tmi_duckdb_source_open(&session, source, threads, err));
    TMI_TRY(tmi_duckdb_functions_register(&rows.functions, &session, err));
    if (source->file_count > TMI_DUCKDB_FILES) TMI_TRY(check_files(&rows, source, &session, err));
    for (size_t f = 0; f < source->file_count; f += TMI_DUCKDB_FILES)
        TMI_TRY(take_files(&rows, source, f, &session, take, context, err));
done:
    tmi_duckdb_close(&session);
    clear_rows(&rows);
    return status;
}
