/* From columns to integers: the inner loops that every engine inside this process shares.
 *
 *     doubles  -> grid points      tmi_grid_points
 *     texts    -> codes            tmi_code
 *     labels   -> codes            tmi_cluster_code (engine/core/labels.h), tmi_scatter
 *     points and codes of some rows, added to the cells of a request     tmi_cells_add
 *
 * Cells of different threads or parts are added up at the end; integers, so the order does not matter.               */
#ifndef TMI_ENGINE_CORE_CELLS_H
#define TMI_ENGINE_CORE_CELLS_H

#include "engine/core/canonical.h"
#include "engine/core/engine.h"

/* No grid point: |k| < 2^52. The code for missing is value_count. */
#define TMI_NO_POINT INT64_MIN

/* k[i] as engine.h defines it for a number column; TMI_NO_POINT where v[i] is missing. The second function is for a column
 * with `by`, whose codes are given. */
void tmi_grid_points(int64_t *k, const double *v, size_t n, const tmi_column *column);
void tmi_grid_points_by(int64_t *k, const double *v, const int32_t *codes, size_t n, const tmi_column *column);

/* Whether v is missing in this number column: not finite, or a missing code. */
bool tmi_is_missing(double v, const tmi_column *column);

/* The values of a category, ready to be looked up. The column outlives it. */
typedef struct tmi_codes tmi_codes;
tamis_status tmi_codes_new(tmi_codes **codes, const tmi_column *column, tamis_error *err);
void tmi_codes_free(tmi_codes *codes);

/* The code of a canonical text (NULL: an empty cell) from a column of this form; value_count if it has none. Surrounding
 * blanks are ignored. A text that is listed twice has the code of its first occurrence; one that is listed as missing is
 * missing. */
int32_t tmi_code(const tmi_codes *codes, tmi_form form, const char *text, size_t length);

/* Whether a canonical text is among the values or the missing texts. */
bool tmi_is_listed(const tmi_codes *codes, tmi_form form, const char *text, size_t length);

/* INVALID, as a further line of the message, if two entries of the list are the same number in a column of this form: the list
 * would be ambiguous. */
tamis_status tmi_codes_check(const tmi_codes *codes, tmi_form form, tamis_error *err);

/* The codes of a TMI_JOINT column from those of its two parts. */
void tmi_joint_codes(int32_t *codes, const int32_t *of, const int32_t *second, size_t n, const tmi_column *column);

/* The codes of a TMI_SCATTER column from n labels and, unless it has none, their strata. */
void tmi_scatter(int32_t *codes, const tmi_cell *strata, const tmi_cell *labels, size_t n, const tmi_column *column);

/* INVALID if a column breaks its contract: no name, no values, an invalid grid. The columns that it is made of are not
 * checked. */
tamis_status tmi_column_check(const tmi_column *column, tamis_error *err);

/* The columns that a column is made of or, if it is read, needs beside it: the i-th, from 0 on; NULL: no more. */
const tmi_column *tmi_column_part(const tmi_column *column, size_t i);

/* The number of classes in the list of a TMI_CLASSES column. */
static inline size_t tmi_class_count(const tmi_column *column) { return tmi_has_codes(column->of) ? column->of->value_count : 1; }

/* The measure to which a row adds the point of a TMI_PRODUCT column. */
static inline tmi_measure tmi_product_measure(const tmi_column *column)
{
    return (tmi_measure){.factors = {{column->of, 0}, {column->second, 0}},
                         .factor_count = 2,
                         .shift = column->shift,
                         .low = column->grid.low,
                         .high = column->grid.high};
}

/* The least and the largest grid point of a column that was checked. */
void tmi_point_range(int64_t *low, int64_t *high, const tmi_column *column);

/* The distinct columns of a request in the order of their first use (table by table: `by`, then the measures' factors,
 * present, where), each after those that it is made of, the unit last. Columns are identified by their addresses.
 *
 * INVALID if the request breaks its contract: see tmi_request in engine.h. */
typedef struct tmi_layout {
    const tmi_request *request; /* NULL: columns alone */
    const tmi_column **columns;
    size_t column_count;
    size_t answer_count; /* integers in all answers, table after table */
} tmi_layout;

tamis_status tmi_layout_init(tmi_layout *layout, const tmi_request *request, tamis_error *err);

/* The columns that an inventory names, with its stratum, unit and cluster last; or columns of the source in the order given. */
tamis_status tmi_layout_of_inventory(tmi_layout *layout, const tmi_inventory *inventory, tamis_error *err);
tamis_status tmi_layout_of_rows(tmi_layout *layout, const tmi_column *const *columns, size_t count, tamis_error *err);
void tmi_layout_clear(tmi_layout *layout);

/* Whether some column of the layout has `most_of_unit`; and REFUSED, for engines that do not know it, if one has. `engine`:
 * for the message. */
bool tmi_bounds_units(const tmi_layout *layout);
tamis_status tmi_refuse_bounded_units(const tmi_layout *layout, const char *engine, tamis_error *err);

/* Zeros, which every engine returns after a failure. Also for a request that was not checked. */
void tmi_answers_clear(tmi_int128 *const *answers, const tmi_request *request);
void tmi_inventory_clear(tmi_inventory *inventory);

/* The place of a column of the layout. */
size_t tmi_layout_index(const tmi_layout *layout, const tmi_column *column);

/* Whether the points or codes of a column are given to tmi_cells_add. The others are made there, or are labels. */
static inline bool tmi_is_given(const tmi_column *column)
{
    return column->kind == TMI_NUMBER || column->kind == TMI_CATEGORY || column->kind == TMI_GROUPS ||
           column->kind == TMI_SCATTER || column->kind == TMI_JOINT;
}

/* Whether a column is read from the source. */
static inline bool tmi_is_read(const tmi_column *column)
{
    return column->kind == TMI_NUMBER || column->kind == TMI_CATEGORY || column->kind == TMI_LABEL;
}

/* The cells of a request while rows are added. NULL if memory runs out. The layout outlives them. */
typedef struct tmi_cells tmi_cells;
tmi_cells *tmi_cells_new(const tmi_layout *layout);
void tmi_cells_free(tmi_cells *cells);

/* How many threads, of `wanted` ones (0: as many as the machine has), add up cells of their own side by side: so many that they
 * have at most 2^23 integers together, of 25 bytes each, and at least one. */
unsigned tmi_cells_threads(const tmi_layout *layout, unsigned wanted);

/* Whether the points of a unit are bounded together in a column that is made here. */
static inline bool tmi_is_made_and_bounded(const tmi_column *column) { return column->most_of_unit > 0 && !tmi_is_given(column); }

/* Adds n rows: columns[c] points to the n grid points (const int64_t *) or codes (const int32_t *) of column c of the layout
 * if it is given, or if it is made and bounded by unit and these are its bounded points (NULL: no bound matters); other entries
 * are ignored. SYSTEM beyond TMI_MAX_ROWS rows, or if memory runs out. */
tamis_status tmi_cells_add(tmi_cells *cells, const void *const *columns, size_t n, tamis_error *err);

/* The same from the doubles of the columns, n <= TMI_SCAN_ROWS of them, if the cells accept doubles: requests with one cell
 * and only counts, sums and sums of squares. */
bool tmi_cells_take_numbers(const tmi_cells *cells);
tamis_status tmi_cells_add_numbers(tmi_cells *cells, const double *const *columns, size_t n, tamis_error *err);

tamis_status tmi_cells_add_cells(tmi_cells *cells, tmi_cells *others, tamis_error *err);

/* The answer_count integers, in the order of engine.h. */
void tmi_cells_answers(tmi_int128 *answers, tmi_cells *cells);

#endif
