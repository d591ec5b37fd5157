#include "engine/postgres/rows.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "engine/core/labels.h"

#define PIECE 2048 /* rows */

typedef struct row_room {
    const tmi_layout *layout;
    tmi_labels **labels; /* of the columns that are one */
    void **columns;
    size_t rows;
    tmi_take_rows *take;
    void *context;
} row_room;

static void clear_room(row_room *room)
{
    for (size_t c = 0; c < room->layout->column_count; c++) {
        if (room->labels) tmi_labels_free(room->labels[c]);
        if (!room->columns || !room->columns[c]) continue;
        tmi_wipe(room->columns[c], PIECE * sizeof(int64_t));
        tmi_free(room->columns[c]);
    }
    tmi_free(room->labels);
    tmi_free(room->columns);
}

static tamis_status make_room(row_room *room, tamis_error *err)
{
    const size_t count = room->layout->column_count;
    room->labels = tmi_alloc(count, sizeof *room->labels);
    room->columns = tmi_alloc(count, sizeof *room->columns);
    bool made = room->labels && room->columns;
    for (size_t c = 0; made && c < count; c++) {
        room->columns[c] = tmi_alloc(PIECE, sizeof(int64_t));
        if (room->layout->columns[c]->kind == TMI_LABEL) room->labels[c] = tmi_labels_new();
        made = room->columns[c] && (room->layout->columns[c]->kind != TMI_LABEL || room->labels[c]);
    }
    return made ? TAMIS_OK : tmi_fail_memory(err);
}

static tamis_status hand_out(row_room *room, tamis_error *err)
{
    const tmi_piece piece = {.rows = room->rows, .columns = (const void *const *)room->columns};
    room->rows = 0;
    return piece.rows > 0 ? room->take(room->context, &piece, err) : TAMIS_OK;
}

/* Numbers arrive in network byte order. */
static uint64_t bits_of(const char *bytes, int length)
{
    uint64_t bits = 0;
    for (int i = 0; i < length; i++) bits = bits << 8 | (unsigned char)bytes[i];
    return bits;
}

static tamis_status take_row(void *context, size_t p, PGresult *result, int row, tamis_error *err)
{
    row_room *room = context;
    (void)p;
    for (size_t c = 0; c < room->layout->column_count; c++) {
        const tmi_column *column = room->layout->columns[c];
        const bool is_null = tmi_pq()->getisnull(result, row, (int)c);
        const char *bytes = tmi_pq()->getvalue(result, row, (int)c);
        const int length = tmi_pq()->getlength(result, row, (int)c);
        if (column->kind == TMI_LABEL) {
            const tmi_cell cell = is_null ? (tmi_cell){0} : tmi_trimmed(bytes, (size_t)length);
            tamis_status status = tmi_labels_add((int64_t *)room->columns[c] + room->rows, room->labels[c], 0, cell, err);
            if (status != TAMIS_OK) return status;
        } else if (column->kind == TMI_CATEGORY) {
            ((int32_t *)room->columns[c])[room->rows] = is_null ? -1 : (int32_t)bits_of(bytes, length);
        } else {
            const uint64_t bits = bits_of(bytes, length);
            double value = (double)NAN;
            if (!is_null) memcpy(&value, &bits, sizeof value);
            ((double *)room->columns[c])[room->rows] = tmi_is_missing(value, column) ? (double)NAN : value;
        }
    }
    return ++room->rows == PIECE ? hand_out(room, err) : TAMIS_OK;
}

static tamis_status write_rows(char **query, const tmi_sql_source *source, tamis_error *err)
{
    const tmi_layout *layout = source->layout;
    tmi_text sql;
    size_t step;
    *query = NULL;
    tmi_text_init(&sql);
    tamis_status status = tmi_sql_codes(&step, &sql, source, err);
    for (size_t c = 0; c < layout->column_count; c++) {
        const tmi_column_kind kind = layout->columns[c]->kind;
        tmi_text_format(&sql, "%s %c%zu", c > 0 ? "," : " SELECT", kind == TMI_NUMBER ? 'f' : kind == TMI_LABEL ? 't' : 'v', c);
    }
    tmi_text_format(&sql, " FROM s%zu", step);
    if (status == TAMIS_OK) return tmi_text_take(query, &sql, err);
    tmi_text_clear(&sql);
    return status;
}

tamis_status tmi_postgres_rows(tmi_postgres *session, const tmi_sql_source *sources, tmi_take_rows *take, void *context,
                               tamis_error *err)
{
    row_room room = {.layout = sources[0].layout, .take = take, .context = context};
    tamis_status status;
    TMI_TRY(make_room(&room, err));
    for (size_t p = 0; p < session->count; p++) {
        char *query;
        TMI_TRY(write_rows(&query, &sources[p], err));
        status = tmi_postgres_ask(session, p, 1, &query, true, take_row, &room, NULL, err);
        tmi_free(query);
        if (status != TAMIS_OK) goto done;
    }
    TMI_TRY(hand_out(&room, err));
done:
    clear_room(&room);
    return status;
}
