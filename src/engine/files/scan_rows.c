/* Unchanged rows, for estimate. */
#include <math.h>

#include "base/memory.h"
#include "engine/files/decoder.h"
#include "engine/files/scan.h"

typedef struct row_context {
    const tmi_decoder *reading;
    tmi_raw_piece piece;
    tmi_labels **labels; /* of each column, if it is one */
    tmi_take_rows *take;
    void *context;
} row_context;

static tamis_status hand_out(void *context, const tmi_raw *raw, size_t n, double share, tamis_error *err)
{
    const row_context *k = context;
    const tmi_decoder *r = k->reading;
    tamis_status status = TAMIS_OK;
    (void)share;
    for (size_t c = 0; c < r->layout.column_count; c++) {
        const tmi_column *column = r->layout.columns[c];
        void *room = k->piece.room[c];
        if (column->kind == TMI_NUMBER) {
            const double *numbers = tmi_raw_numbers(&k->piece, &raw[r->place[c]], n);
            for (size_t i = 0; i < n; i++) ((double *)room)[i] = tmi_is_missing(numbers[i], column) ? (double)NAN : numbers[i];
        } else if (column->kind == TMI_CATEGORY) {
            int32_t *codes = room;
            tmi_raw_codes(codes, r->codes[c], &raw[r->place[c]], n);
            for (size_t i = 0; i < n; i++) codes[i] = codes[i] == (int32_t)column->value_count ? -1 : codes[i];
        } else {
            for (size_t i = 0; i < n; i++)
                TMI_TRY(tmi_labels_add((int64_t *)room + i, k->labels[c], 0, raw[r->place[c]].texts[i], err));
        }
    }
    const tmi_piece piece = {.rows = n, .columns = k->piece.columns};
    if (n > 0) TMI_TRY(k->take(k->context, &piece, err));
done:
    return status;
}

tamis_status tmi_scan_rows(tmi_scanner *scanner, const tmi_column *const *columns, size_t column_count, tmi_take_rows *take,
                           void *context, tamis_error *err)
{
    tmi_decoder r = {0};
    row_context k = {.reading = &r, .take = take, .context = context};
    tamis_status status;
    TMI_TRY(tmi_layout_of_rows(&r.layout, columns, column_count, err));
    TMI_TRY(tmi_decoder_make(&r, err));
    TMI_TRY(tmi_raw_piece_make(&k.piece, &r, err));
    if (!(k.labels = tmi_alloc(column_count, sizeof *k.labels))) TMI_TRY(tmi_fail_memory(err));
    for (size_t c = 0; c < column_count; c++)
        if (columns[c]->kind == TMI_LABEL && !(k.labels[c] = tmi_labels_new())) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(scanner->check(scanner, r.list, r.list_codes, r.count, NULL, err));
    TMI_TRY(scanner->scan(scanner, r.list, r.list_codes, r.count, 0, 1, hand_out, &k, err));
done:
    for (size_t c = 0; k.labels && c < column_count; c++) tmi_labels_free(k.labels[c]);
    tmi_free(k.labels);
    if (k.piece.reading) tmi_raw_piece_clear(&k.piece);
    tmi_decoder_clear(&r);
    return status;
}
