/* Where the rows are. An engine answers a request: integers by public group, in one pass over the rows.
 *
 * Only integers leave an engine for a release: numbers of rows and sums of values on public grids. Each record is
 * clamped and put on its grid by itself, so the order of the rows, threads, shards and the kind of engine cannot change
 * a bit. The second call, `rows`, serves estimate alone; release/ may not use it (scripts/arrows checks).
 *
 * Everything in a request is public: it is written from the plan before any row is read.                            */
#ifndef TMI_ENGINE_H
#define TMI_ENGINE_H

#include <stdbool.h>
#include <tamis/base.h>

#include "base/error.h"
#include "base/integer.h"

/* Rows in one pass: 2^40 values below 2^52 on a grid sum to less than 2^92 < 2^127. */
#define TMI_MAX_ROWS (INT64_C(1) << 40)
#define TMI_MAX_GRID (INT64_C(1) << 52) /* a grid point is an integer below this, so it is exact as a double too */
#define TMI_MAX_CELLS (INT64_C(1) << 20) /* cells of one request; memory stays small */

/* Files with the same columns that together are one table. The kind of file follows the name's ending. */
typedef struct tmi_source {
    const char *const *files;
    size_t file_count;
} tmi_source;

/* A column as the plan declares it. A number is clamped to [from, to] and goes to the grid point
 *
 *     k = floor(min(max(v, from), to) / step + 0.5), then clamped to low <= k <= high,
 *
 * three IEEE double operations in this order on every engine; low = ceil(from/step), high = floor(to/step) were computed
 * exactly. NULL, NaN, infinities, text that is no number and the missing codes are missing.
 * A category is the trimmed text of the cell, looked up among `values`; anything else is missing.                    */
typedef enum tmi_column_kind { TMI_NUMBER, TMI_CATEGORY } tmi_column_kind;

typedef struct tmi_column {
    const char *name;
    tmi_column_kind kind;
    double from, to, step;       /* TMI_NUMBER */
    int64_t low, high;           /* TMI_NUMBER: the ends of the grid */
    const double *missing_codes; /* TMI_NUMBER: values that mean "missing" */
    size_t missing_code_count;
    const char *const *values; /* TMI_CATEGORY */
    size_t value_count;
} tmi_column;

/* One integer a cell: TMI_ROWS counts the rows in which `column` is not missing (all rows if column is NULL);
 * TMI_SUM adds the grid points of a number, rows in which it is missing left out. */
typedef enum tmi_measure_kind { TMI_ROWS, TMI_SUM } tmi_measure_kind;

typedef struct tmi_measure {
    tmi_measure_kind kind;
    const tmi_column *column;
} tmi_measure;

/* Cells: every combination of the `by` categories, the last one running fastest; one cell if by_count is 0. A row in
 * which a `by` column is missing is in no cell. */
typedef struct tmi_table {
    const tmi_column *const *by;
    size_t by_count;
    const tmi_measure *measures;
    size_t measure_count;
} tmi_table;

typedef struct tmi_request {
    const tmi_table *tables;
    size_t table_count;
} tmi_request;

/* Cells of a table: the product of its value counts; SIZE_MAX if that is no number. */
size_t tmi_table_cells(const tmi_table *table);

/* Rows of the named columns, in pieces: numbers as doubles as they stand (NaN: missing), categories as the index among
 * `values` (-1: missing). columns[c] points to the piece of column c. A status other than OK stops the reading. */
typedef struct tmi_piece {
    size_t rows;
    const void *const *columns; /* const double * or const int32_t * */
} tmi_piece;
typedef tamis_status tmi_take_rows(void *context, const tmi_piece *piece, tamis_error *err);

typedef struct tmi_engine tmi_engine;

struct tmi_engine {
    const char *name; /* "duckdb" */
    void *state;

    /* What may be read before the charge: that the columns exist, and the number of rows in all. `progress` (may be
     * NULL) is told no share: that of the whole work is not known yet.
     * INVALID names the file or column that is missing or unreadable; no value is quoted. */
    tamis_status (*describe)(tmi_engine *engine, int64_t *rows, const tmi_column *const *columns, size_t column_count,
                             tamis_progress *progress, void *context, tamis_error *err);

    /* One pass. answers[t][cell * measure_count + m] for table t; the caller made room. On failure the answers are all
     * zero and the message tells nothing about a value. */
    tamis_status (*aggregate)(tmi_engine *engine, tmi_int128 *const *answers, const tmi_request *request,
                              tamis_progress *progress, void *context, tamis_error *err);

    tamis_status (*rows)(tmi_engine *engine, const tmi_column *const *columns, size_t column_count, tmi_take_rows *take,
                         void *context, tamis_error *err);

    void (*free)(tmi_engine *engine);
};

/* DuckDB inside this process; the library is loaded here, not before. SYSTEM with what to do if it is not there.
 * threads 0: as many as the machine has. The source is copied. */
tamis_status tmi_engine_duckdb(tmi_engine **engine, const tmi_source *source, unsigned threads, tamis_error *err);

#endif
