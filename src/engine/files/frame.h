/* A sampling frame: one file whose rows are the units, read as texts, in the order of the file. For frames alone: the
 * cells leave the engine as they stand, or in their canonical form.                                                  */
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
    void *state; /* of what reads it */
    tamis_status (*read)(tmi_frame *frame, const size_t *columns, const bool *labels, size_t count, tmi_take_cells *take,
                         void *context, const tmi_watch *watch, tamis_error *err);
    void (*free)(tmi_frame *frame);
};

/* Opens a .csv or .parquet file, counts its rows and sees that it holds together; `progress` (may be NULL) is asked now
 * and then whether to stop. The caller frees it with tmi_frame_free; NULL on failure. INVALID tells what is wrong with the
 * file. */
tamis_status tmi_frame_open(tmi_frame **frame, const char *path, tamis_progress *progress, void *progress_context,
                            tamis_error *err);

/* The columns of these numbers: those that are `labels` (NULL: none) as canonical texts, of texts with the blanks around them,
 * others as they stand. INVALID: a label has no canonical form. SYSTEM if the file has another number of rows than when it was
 * opened. The rows are added to those that the watch has. */
tamis_status tmi_frame_read(tmi_frame *frame, const size_t *columns, const bool *labels, size_t count, tmi_take_cells *take,
                            void *context, const tmi_watch *watch, tamis_error *err);

void tmi_frame_free(tmi_frame *frame); /* NULL is fine */

/* What tmi_frame_open chooses from: DuckDB, or, where it is not there, our own reader of CSV files. Both hand out the same
 * cells. */
tamis_status tmi_frame_duckdb(tmi_frame **frame, const char *path, tamis_progress *progress, void *progress_context,
                              tamis_error *err);
tamis_status tmi_frame_csv(tmi_frame **frame, const char *path, tamis_progress *progress, void *progress_context,
                           tamis_error *err);

#endif
