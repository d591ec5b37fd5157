/* From columns to integers: the inner loops that every engine inside this process shares.
 *
 *     doubles  -> grid points      tmi_grid_points
 *     texts    -> codes            tmi_code
 *     grid points and codes of some rows, added to the cells of a request     tmi_cells_add
 *
 * Cells of different threads or parts are added up at the end; integers, so the order does not matter.               */
#ifndef TMI_CELLS_H
#define TMI_CELLS_H

#include "engine/engine.h"

/* No grid point: |k| <= 2^52. */
#define TMI_NO_POINT INT64_MIN

/* k[i] as engine.h defines it for a number column; TMI_NO_POINT where v[i] is missing. */
void tmi_grid_points(int64_t *k, const double *v, size_t n, const tmi_column *column);

/* Whether v is missing in this number column: not finite, or a missing code. */
bool tmi_is_missing(double v, const tmi_column *column);

/* The values of a category, ready to be looked up. Values and cells are compared without the blanks around them (space,
 * tab, line ends). The column outlives it. */
typedef struct tmi_codes tmi_codes;
tamis_status tmi_codes_new(tmi_codes **codes, const tmi_column *column, tamis_error *err);
void tmi_codes_free(tmi_codes *codes);

/* The index among `values`, the first one if a value stands there twice; value_count if it is not among them. */
int32_t tmi_code(const tmi_codes *codes, const char *text, size_t length);

/* INVALID if a column breaks its contract: no name, no values, a grid that is none. */
tamis_status tmi_column_check(const tmi_column *column, tamis_error *err);

/* The distinct columns of a request in the order of their first use; a column stands for itself by its address.
 * INVALID if the request breaks its contract: see tmi_request in engine.h. */
typedef struct tmi_layout {
    const tmi_request *request;
    const tmi_column **columns;
    size_t column_count;
    size_t answer_count; /* integers in all answers, table after table */
} tmi_layout;

tamis_status tmi_layout_init(tmi_layout *layout, const tmi_request *request, tamis_error *err);
void tmi_layout_clear(tmi_layout *layout);

/* The cells of a request while rows are added. NULL without memory. The layout outlives them. */
typedef struct tmi_cells tmi_cells;
tmi_cells *tmi_cells_new(const tmi_layout *layout);
void tmi_cells_free(tmi_cells *cells);

/* Adds n rows: columns[c] points to the n grid points (const int64_t *) or codes (const int32_t *) of column c of the
 * layout. */
tamis_status tmi_cells_add(tmi_cells *cells, const void *const *columns, size_t n, tamis_error *err);
void tmi_cells_add_cells(tmi_cells *cells, tmi_cells *others);

/* The answer_count integers, in the order of engine.h. */
void tmi_cells_answers(tmi_int128 *answers, tmi_cells *cells);

#endif
