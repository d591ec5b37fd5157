#include "engine/files/decoder.h"

#include <string.h>

#include "base/memory.h"

void tmi_decoder_clear(tmi_decoder *r)
{
    for (size_t c = 0; c < r->layout.column_count; c++) {
        if (r->codes) tmi_codes_free(r->codes[c]);
        if (r->clusters) tmi_clusters_free(r->clusters[c]);
    }
    tmi_free(r->codes);
    tmi_free(r->clusters);
    tmi_free(r->list);
    tmi_free(r->list_codes);
    tmi_free(r->place);
    tmi_layout_clear(&r->layout);
}

/* The layout is set already. */
tamis_status tmi_decoder_make(tmi_decoder *r, tamis_error *err)
{
    const size_t count = r->layout.column_count;
    r->list = tmi_alloc(count, sizeof *r->list);
    r->list_codes = tmi_alloc(count, sizeof *r->list_codes);
    r->place = tmi_alloc(count, sizeof *r->place);
    r->codes = tmi_alloc(count, sizeof *r->codes);
    r->clusters = tmi_alloc(count, sizeof *r->clusters);
    if (!r->list || !r->list_codes || !r->place || !r->codes || !r->clusters) return tmi_fail_memory(err);
    for (size_t c = 0; c < count; c++) {
        const tmi_column *column = r->layout.columns[c];
        tamis_status status = TAMIS_OK;
        r->place[c] = r->count;
        if (column->kind == TMI_CATEGORY) status = tmi_codes_new(&r->codes[c], column, err);
        r->list_codes[r->count] = r->codes[c];
        if (tmi_is_read(column)) r->list[r->count++] = column;
        if (column->kind == TMI_GROUPS && !(r->clusters[c] = tmi_clusters_new(column))) status = tmi_fail_memory(err);
        if (status != TAMIS_OK) return status;
    }
    return TAMIS_OK;
}

/* ---- a piece of rows ---- */

void tmi_raw_piece_clear(tmi_raw_piece *p)
{
    for (size_t c = 0; p->room && c < p->reading->layout.column_count; c++) {
        if (p->room[c]) tmi_wipe(p->room[c], TMI_SCAN_ROWS * sizeof(int64_t));
        tmi_free(p->room[c]);
    }
    if (p->numbers) tmi_wipe(p->numbers, TMI_SCAN_ROWS * sizeof *p->numbers);
    tmi_free(p->columns);
    tmi_free(p->room);
    tmi_free(p->numbers);
}

tamis_status tmi_raw_piece_make(tmi_raw_piece *p, const tmi_decoder *reading, tamis_error *err)
{
    const size_t count = reading->layout.column_count;
    *p = (tmi_raw_piece){.reading = reading};
    p->columns = tmi_alloc(count, sizeof *p->columns);
    p->room = tmi_alloc(count, sizeof *p->room);
    p->numbers = tmi_alloc(TMI_SCAN_ROWS, sizeof *p->numbers);
    bool made = p->columns && p->room && p->numbers;
    for (size_t c = 0; made && c < count; c++) {
        if (tmi_is_made_and_bounded(reading->layout.columns[c])) continue; /* an entry would say what its bounded points are */
        p->columns[c] = p->room[c] = tmi_alloc(TMI_SCAN_ROWS, sizeof(int64_t));
        made = p->room[c];
    }
    return made ? TAMIS_OK : tmi_fail_memory(err);
}

const double *tmi_raw_numbers(const tmi_raw_piece *p, const tmi_raw *raw, size_t n)
{
    if (raw->numbers) return raw->numbers;
    for (size_t i = 0; i < n; i++) p->numbers[i] = tmi_number_in(raw->texts[i]);
    return p->numbers;
}

void tmi_raw_codes(int32_t *to, const tmi_codes *codes, const tmi_raw *raw, size_t n)
{
    const tmi_cell *texts = raw->texts;
    if (raw->codes) {
        memcpy(to, raw->codes, n * sizeof *to);
        return;
    }
    for (size_t i = 0; i < n; i++) /* neighbours often point to the same text */
        to[i] = i > 0 && texts[i].bytes == texts[i - 1].bytes && texts[i].length == texts[i - 1].length
                    ? to[i - 1]
                    : tmi_code(codes, raw->form, texts[i].bytes, texts[i].length);
}

/* The points and codes of the columns that are given to the cells. */
void tmi_raw_values(const tmi_raw_piece *p, const tmi_raw *raw, size_t n)
{
    const tmi_decoder *r = p->reading;
    for (size_t c = 0; c < r->layout.column_count; c++) {
        const tmi_column *column = r->layout.columns[c];
        if (column->kind == TMI_NUMBER && column->by) {
            const int32_t *by = p->columns[tmi_layout_index(&r->layout, column->by)];
            tmi_grid_points_by(p->room[c], tmi_raw_numbers(p, &raw[r->place[c]], n), by, n, column);
        } else if (column->kind == TMI_NUMBER) {
            tmi_grid_points(p->room[c], tmi_raw_numbers(p, &raw[r->place[c]], n), n, column);
        } else if (column->kind == TMI_CATEGORY) {
            tmi_raw_codes(p->room[c], r->codes[c], &raw[r->place[c]], n);
        } else if (column->kind == TMI_JOINT) {
            tmi_joint_codes(p->room[c], p->columns[tmi_layout_index(&r->layout, column->of)],
                            p->columns[tmi_layout_index(&r->layout, column->second)], n, column);
        } else if (column->kind == TMI_GROUPS) {
            const tmi_cell *labels = raw[r->place[tmi_layout_index(&r->layout, column->of)]].texts;
            const int32_t *strata = column->stratum ? p->columns[tmi_layout_index(&r->layout, column->stratum)] : NULL;
            tmi_cluster_codes(p->room[c], r->clusters[c], strata, labels, n);
        } else if (column->kind == TMI_SCATTER) {
            const tmi_cell *strata = column->stratum ? raw[r->place[tmi_layout_index(&r->layout, column->stratum)]].texts : NULL;
            tmi_scatter(p->room[c], strata, raw[r->place[tmi_layout_index(&r->layout, column->of)]].texts, n, column);
        }
    }
}
