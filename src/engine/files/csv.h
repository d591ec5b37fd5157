/* What we look at ourselves in a CSV file before DuckDB reads it: its first line and its encoding (given explicit columns
 * DuckDB does not compare the names in the first line with ours, and it says that a file is no UTF-8 only when it comes
 * across the bytes, in the pass that is already charged), and its rows, for the engine that needs no DuckDB.
 *
 * The dialect: commas, double quotes, doubled inside quotes, one kind of line end, UTF-8 with or without a byte order
 * mark. Blanks around a name in the first line do not count.                                                          */
#ifndef TMI_ENGINE_FILES_CSV_H
#define TMI_ENGINE_FILES_CSV_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "engine/core/text.h"

typedef struct tmi_csv_header {
    char **names;
    size_t count;
} tmi_csv_header;

/* A first line longer than this is none: DuckDB too reads lines up to 2 MB. */
#define TMI_CSV_MAX_HEADER (1 << 20)
#define TMI_CSV_MAX_COLUMNS (1 << 14) /* names are compared pair by pair */

/* INVALID: no such file, a folder, not readable, empty, a first line that is no list of names, a name twice (its places
 * are told, not the name: a file without a first line would show data). */
tamis_status tmi_csv_header_read(tmi_csv_header *header, const char *path, tamis_error *err);
void tmi_csv_header_clear(tmi_csv_header *header);

/* INVALID, with the line, if some bytes of the file are no UTF-8. `progress` (may be NULL) is asked now and then whether to
 * go on; SYSTEM if not. */
tamis_status tmi_csv_check_encoding(const char *path, tamis_progress *progress, void *context, tamis_error *err);

/* The rows after the first line, in pieces. */
#define TMI_CSV_ROWS 2048

typedef struct tmi_csv_rows tmi_csv_rows;

/* wanted[c] of the `columns` columns of the file: the place of column c among the wanted_count that are handed out,
 * SIZE_MAX: none. Path and list outlive the rows. */
tamis_status tmi_csv_rows_open(tmi_csv_rows **rows, const char *path, size_t columns, const size_t *wanted,
                               size_t wanted_count, tamis_error *err);
void tmi_csv_rows_free(tmi_csv_rows *rows); /* wipes */

/* The next *n <= TMI_CSV_ROWS rows, 0 at the end; row i of the column at place w is (*cells)[w * TMI_CSV_ROWS + i], good until
 * the next call. `share`: what was read of the file. INVALID tells the line that breaks the dialect, and nothing of it. */
tamis_status tmi_csv_rows_next(size_t *n, const tmi_cell **cells, double *share, tmi_csv_rows *rows, tamis_error *err);

#endif
