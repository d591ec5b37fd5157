/* Chooses the reader of a frame. Also the reader without DuckDB: CSV files, in pieces. */
#include "engine/files/frame.h"

#include "base/memory.h"
#include "base/watch.h"
#include "engine/files/csv.h"
#include "engine/files/files.h"

tamis_status tmi_frame_open(tmi_frame **frame, const char *path, const tamis_watch *watch, tamis_error *err)
{
    return tmi_ends_in(path, ".csv") && !tmi_duckdb_is_there() ? tmi_frame_csv(frame, path, watch, err)
                                                               : tmi_frame_duckdb(frame, path, watch, err);
}

tamis_status tmi_frame_read(tmi_frame *frame, const size_t *columns, const bool *labels, size_t count, tmi_take_cells *take,
                            void *context, const tmi_watch *watch, tamis_error *err)
{
    for (size_t c = 0; labels && c < count; c++)
        if (labels[c] && frame->forms[columns[c]] == TMI_FORM_NONE)
            return tmi_fail(err, TAMIS_INVALID, "column %s " TMI_NO_FORM, frame->names[columns[c]]);
    return frame->read(frame, columns, labels, count, take, context, watch, err);
}

void tmi_frame_free(tmi_frame *frame)
{
    if (frame) frame->free(frame);
}

/* ---- CSV files ---- */

typedef struct csv_frame {
    tmi_frame frame;
    tmi_file file;
    tmi_csv_header header;
} csv_frame;

static void free_csv(tmi_frame *frame)
{
    csv_frame *f = frame->state;
    tmi_free(frame->forms);
    tmi_csv_header_clear(&f->header);
    tmi_file_clear(&f->file);
    tmi_free(f);
}

static tamis_status changed(const csv_frame *f, tamis_error *err)
{
    return tmi_fail_file(err, TAMIS_SYSTEM, f->file.given, 0, "could not be read to its end, or changed while it was read");
}

/* wanted[c] for each column of the file (tmi_csv_rows_open). A column that is requested twice is read once: place[i] is where
 * the cells of columns[i] are. */
static size_t places(size_t *wanted, size_t *place, const csv_frame *f, const size_t *columns, size_t count)
{
    size_t used = 0;
    for (size_t c = 0; c < f->header.count; c++) wanted[c] = SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        if (wanted[columns[i]] == SIZE_MAX) wanted[columns[i]] = used++;
        place[i] = wanted[columns[i]];
    }
    return used;
}

static tamis_status read_csv(tmi_frame *frame, const size_t *columns, const bool *labels, size_t count, tmi_take_cells *take,
                             void *context, const tmi_watch *watch, tamis_error *err)
{
    (void)labels; /* all are texts */
    csv_frame *f = frame->state;
    tmi_watch told = watch ? *watch : (tmi_watch){0};
    size_t *wanted = tmi_alloc(f->header.count, sizeof *wanted), *place = tmi_alloc(count, sizeof *place), n;
    tmi_cell **cells = tmi_alloc(count, sizeof *cells), *found;
    tmi_csv_rows *rows = NULL;
    int64_t first = 0;
    double share;
    tamis_status status = TAMIS_OK;
    if (!wanted || !place || !cells) TMI_TRY(tmi_fail_memory(err));
    const size_t used = places(wanted, place, f, columns, count);
    TMI_TRY(tmi_csv_rows_open(&rows, f->file.given, f->header.count, wanted, used, err));
    for (;; first += (int64_t)n) {
        TMI_TRY(tmi_csv_rows_next(&n, (const tmi_cell **)&found, &share, rows, err));
        if (n == 0 || (int64_t)n > frame->rows - first) break;
        for (size_t i = 0; i < count; i++) cells[i] = found + place[i] * TMI_CSV_ROWS;
        TMI_TRY(take(context, first, n, cells, err));
        told.rows += (int64_t)n;
        TMI_TRY(tmi_watch_tell(&told, (double)(first + (int64_t)n) / (double)frame->rows, err));
    }
    if (n > 0 || first != frame->rows) status = changed(f, err);
done:
    tmi_csv_rows_free(rows);
    tmi_free(wanted);
    tmi_free(place);
    tmi_free(cells);
    return status;
}

/* Reads the whole file, so that a line that breaks the dialect is reported before anything is drawn. */
static tamis_status count_rows(int64_t *count, const csv_frame *f, const tamis_watch *watch, tamis_error *err)
{
    const size_t first_column = 0;
    size_t *wanted = tmi_alloc(f->header.count, sizeof *wanted), place, n;
    tmi_csv_rows *rows = NULL;
    const tmi_cell *cells;
    double share;
    tamis_status status = TAMIS_OK;
    *count = 0;
    if (!wanted) TMI_TRY(tmi_fail_memory(err));
    places(wanted, &place, f, &first_column, 1);
    TMI_TRY(tmi_csv_rows_open(&rows, f->file.given, f->header.count, wanted, 1, err));
    do {
        TMI_TRY(tmi_csv_rows_next(&n, &cells, &share, rows, err));
        *count += (int64_t)n;
        if (tmi_stopped(watch, -1, *count)) TMI_TRY(tmi_fail_cancelled(err));
    } while (n > 0);
done:
    tmi_csv_rows_free(rows);
    tmi_free(wanted);
    return status;
}

tamis_status tmi_frame_csv(tmi_frame **frame, const char *path, const tamis_watch *watch, tamis_error *err)
{
    *frame = NULL;
    csv_frame *f = tmi_alloc(1, sizeof *f);
    if (!f) return tmi_fail_memory(err);
    tamis_status status;
    f->frame = (tmi_frame){.state = f, .read = read_csv, .free = free_csv};
    TMI_TRY(tmi_file_init(&f->file, path, err));
    TMI_TRY(tmi_file_find(&f->file, err));
    TMI_TRY(tmi_csv_header_read(&f->header, path, err));
    TMI_TRY(tmi_csv_check_encoding(path, watch, err));
    TMI_TRY(count_rows(&f->frame.rows, f, watch, err));
    f->frame.forms = tmi_alloc(f->header.count, sizeof *f->frame.forms); /* zeros: TMI_FORM_TEXT */
    if (!f->frame.forms) TMI_TRY(tmi_fail_memory(err));
    f->frame.names = f->header.names;
    f->frame.column_count = f->header.count;
    *frame = &f->frame;
done:
    if (status != TAMIS_OK) free_csv(&f->frame);
    return status;
}
