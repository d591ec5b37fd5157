/* What we read ourselves in a CSV file. Before DuckDB reads it: its first line and its encoding. (Given explicit columns,
 * DuckDB does not compare the names in the first line with ours, and it reports invalid UTF-8 only when it reaches the bytes,
 * in the pass that is already charged.) For the engine without DuckDB: its rows.
 *
 * The dialect: commas, double quotes, doubled inside quotes, one kind of line end, UTF-8 with or without a byte order mark.
 * Blanks around a name in the first line are ignored. */
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

/* A longer first line is rejected: DuckDB too reads lines up to 2 MB. */
#define TMI_CSV_MAX_HEADER (1 << 20)
#define TMI_CSV_MAX_COLUMNS (1 << 14) /* names are compared pair by pair */

/* INVALID: no such file, a folder, not readable, empty, a first line that is not a list of names, or a duplicate name (its
 * positions are reported, not the name: in a file without a header it would be data). */
tamis_status tmi_csv_header_read(tmi_csv_header *header, const char *path, tamis_error *err);
void tmi_csv_header_clear(tmi_csv_header *header);

/* INVALID, with the line, if the file is not valid UTF-8. `watch` (may be NULL) is asked now and then; SYSTEM if it asks
 * to stop. */
tamis_status tmi_csv_check_encoding(const char *path, const tamis_watch *watch, tamis_error *err);

/* The rows after the first line, in pieces. */
#define TMI_CSV_ROWS 2048

typedef struct tmi_csv_rows tmi_csv_rows;

/* wanted[c] for each of the `columns` columns of the file: the position of column c among the wanted_count that are handed
 * out; SIZE_MAX: it is not wanted. Path and list outlive the rows. */
tamis_status tmi_csv_rows_open(tmi_csv_rows **rows, const char *path, size_t columns, const size_t *wanted, size_t wanted_count,
                               tamis_error *err);
void tmi_csv_rows_free(tmi_csv_rows *rows); /* wipes */

/* The next *n <= TMI_CSV_ROWS rows, 0 at the end; row i of the column at position w is (*cells)[w * TMI_CSV_ROWS + i], valid
 * until the next call. `share`: how much of the file was read. INVALID reports the line that breaks the dialect, and none of
 * its content. */
tamis_status tmi_csv_rows_next(size_t *n, const tmi_cell **cells, double *share, tmi_csv_rows *rows, tamis_error *err);

/* The line of the file, from 1, at which row i of that piece begins. */
int64_t tmi_csv_rows_line(const tmi_csv_rows *rows, size_t row);

#endif
