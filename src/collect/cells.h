/* A CSV file of answers, record by record, from any stream; it is read once. Commas, double quotes, doubled inside quotes,
 * line ends of any kind, UTF-8 with or without a byte order mark. Messages name the line, never what is in it. */
#ifndef TMI_COLLECT_CELLS_H
#define TMI_COLLECT_CELLS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

#define TMI_RECORD_BYTES (1 << 22) /* in one record: 65536 columns of 64 bytes */

typedef struct tmi_cells {
    FILE *file;
    const char *path;
    int64_t line;      /* the line in which the record at hand begins, from 1 */
    int64_t next_line; /* where the next one begins */
    uint8_t *bytes;    /* the record: cells, each with a final zero */
    size_t length, room;
    size_t *begins; /* where they begin in `bytes` */
    size_t count, begins_room;
    bool whole; /* a cell was quoted: an empty line has none */
    uint8_t *buffer;
    size_t at, have;
} tmi_cells;

/* File and path are borrowed. */
tamis_status tmi_cells_init(tmi_cells *cells, FILE *file, const char *path, tamis_error *err);
void tmi_cells_clear(tmi_cells *cells); /* wipes */

/* The next record; *more is false at the end of the file. INVALID: a quote that is never closed or in the wrong place, a zero
 * byte, a record that is too long. */
tamis_status tmi_cells_next(bool *more, tmi_cells *cells, tamis_error *err);

/* Cell i of the record. */
static inline const char *tmi_cell_at(const tmi_cells *cells, size_t i) { return (const char *)cells->bytes + cells->begins[i]; }

#endif
