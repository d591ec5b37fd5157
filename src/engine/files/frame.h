/* A sampling frame: one file whose rows are the units, read as texts in the order of the file. For frames only: here cells
 * leave the engine, unchanged or in their canonical form. */
#ifndef TMI_ENGINE_FILES_FRAME_H
#define TMI_ENGINE_FILES_FRAME_H

#include "base/watch.h"
#include "engine/core/canonical.h"
#include "engine/core/engine.h"

typedef struct tmi_frame tmi_frame;

/* Rows `first` to first + rows - 1; cells[c][i] is column c of row first + i. A status other than OK stops the reading. */
typedef tamis_status tmi_take_cells(void *context, int64_t first, size_t rows, tmi_cell *const *cells, tamis_error *err);

struct tmi_frame {
    char **names;    /* of the columns, in the file's order */
    tmi_form *forms; /* of the columns */
    size_t column_count;
    int64_t rows;
    void *state; /* of its reader */
    tamis_status (*read)(tmi_frame *frame, const size_t *columns, const bool *labels, size_t count, tmi_take_cells *take,
                         void *context, const tmi_watch *watch, tamis_error *err);
    void (*free)(tmi_frame *frame);
};

/* Opens a .csv or .parquet file, counts its rows and checks that it is intact. `watch` (may be NULL) is asked now and then
 * and can stop the work. The caller frees it with tmi_frame_free; NULL on failure. INVALID reports what is wrong with the
 * file. */
tamis_status tmi_frame_open(tmi_frame **frame, const char *path, const tamis_watch *watch, tamis_error *err);

/* Reads the columns with these numbers: `labels` (NULL: none) as canonical texts, which keep their surrounding blanks, the
 * others unchanged. INVALID: a label has no canonical form. SYSTEM if the number of rows has changed since the file was
 * opened. The rows are added to the watch's count. */
tamis_status tmi_frame_read(tmi_frame *frame, const size_t *columns, const bool *labels, size_t count, tmi_take_cells *take,
                            void *context, const tmi_watch *watch, tamis_error *err);

void tmi_frame_free(tmi_frame *frame); /* NULL is allowed */

/* The readers that tmi_frame_open chooses from: DuckDB or, without it, our own CSV reader. Both hand out the same cells. */
tamis_status tmi_frame_duckdb(tmi_frame **frame, const char *path, const tamis_watch *watch, tamis_error *err);
tamis_status tmi_frame_csv(tmi_frame **frame, const char *path, const tamis_watch *watch, tamis_error *err);

#endif
