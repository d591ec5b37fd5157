/* Where the rows are. An engine answers a request: integers by public group, in one pass over the rows.
 *
 * Only integers leave an engine for a release. Each record is clamped and put on its grid by itself, so the order of the rows,
 * threads, shards and the kind of engine cannot change a bit. Mechanisms that choose a value ask for `points`. The call `rows` is
 * for estimate/ only; release/ may not use it (scripts/arrows checks this).
 *
 * Everything in a request is public: it is written from the plan before any row is read. */
#ifndef TMI_ENGINE_CORE_ENGINE_H
#define TMI_ENGINE_CORE_ENGINE_H

#include <stdbool.h>
#include <tamis/engine.h>

#include "base/error.h"
#include "base/integer.h"
#include "num/grid.h"

/* Rows in one pass: 2^40 terms of at most 2^52 sum to at most 2^92 < 2^127. */
#define TMI_MAX_ROWS (INT64_C(1) << 40)
#define TMI_MAX_GRID (INT64_C(1) << 52)  /* a grid point is an integer below this, so it is exact as a double too */
#define TMI_MAX_CELLS (INT64_C(1) << 22) /* integers in one request: 64 MB, and 25 bytes of each worker for each of them */

/* Files that together form one table (the file type follows from the name's ending), or connections to PostgreSQL, each with a
 * part of the same table. */
typedef struct tmi_source {
    const char *const *files;
    size_t file_count;
    const char *table;              /* in DuckDB files and in PostgreSQL: "name" or "schema.name"; NULL: the only one */
    const char *const *connections; /* libpq connection texts */
    size_t connection_count;
    bool sharded_by_unit; /* all rows of a unit are in one part */
} tmi_source;

/* ---- columns ----
 *
 * A column of the source, or one made from others, row by row. Numbers have grid points, categories have codes. Several
 * columns of a request may read the same column of the source, with different grids or values.
 *
 * TMI_NUMBER     k = floor(min(max(v, from), to) / step + 0.5), then clamped to low <= k <= high: IEEE double operations in
 *                this order on every engine. NULL, NaN, infinities, text of a CSV file that is not a number and the missing codes
 *                are missing. `reciprocal`: the grid point of 1/v, a column of probabilities read as weights; v < 2^-1022 is
 *                missing. With `by` the grid is grids[code of by], and a row without a code is missing whatever `instead`
 *                says. With `most_of_unit`, here, in LOOKUP and PRODUCT, a unit's points are bounded together: see tmi_request.
 * TMI_CATEGORY   the canonical text (engine/core/canonical.h), looked up among `values`, which are numbers in a number column;
 *                a label of .sav or .dta counts as its code does. Anything else is missing.
 *                Both: with `has_instead` a missing cell (of a category: NULL, empty, or one of missing_texts, not a text
 *                outside `values`) counts as the grid point or code `instead`.
 * TMI_LABEL      any canonical text; compared by its bytes. NULL and empty: missing.
 * TMI_CUTS       category: how many of `cuts` are <= the grid point of `of`; missing where `of` is.
 *                value_count = number of cuts + 1.
 * TMI_INDICATOR  number 0 or 1: 0 if a condition is false; else missing if one is missing; else 1.
 * TMI_LOOKUP     number: numbers[code of `of`]; missing where `of` is.
 * TMI_GROUPS     category: cell_of[stratum][r], r the rank of the row's label `of`, in the order of the bytes, among the
 *                distinct labels of its stratum in the whole source. A row without label or stratum is missing, and one
 *                whose rank is not below cluster_counts[stratum].
 * TMI_SCATTER    category, never missing: a keyed hash of the row's label `of` in its `stratum`, a label here. H is SHA-256,
 *                the code the first byte of H(key, H(stratum), H(of)), without H(stratum) if there is no stratum, modulo
 *                value_count; a missing label is the empty text. It depends on the row alone.
 * TMI_CLASSES    category: classes[code of `of`], or classes[0] if `of` is a number; -1 is missing, whatever `instead` says. A
 *                row in which `of` is missing (of a category: also a text outside `values`) has the code `instead`, with
 *                `has_instead`, or is missing.
 * TMI_JOINT      category: classes[code of `of` * value_count of `second` + code of `second`], both CATEGORY or JOINT; -1 is
 *                missing.
 *                Missing where one of the two is. Strata by several columns: codes are joined, not texts, so that no two pairs
 *                of cells can have one key.
 * TMI_PRODUCT    number: k = floor(point of `of` * point of `second` * 2^-shift + 1/2), then clamped to low <= k <= high of
 *                `grid`, which is otherwise unused: IEEE double operations in this order, as in a measure. A row in which one
 *                of the two is missing has the point `instead`, with `has_instead`, or is missing.
 * TMI_DIFFERENCE number: point of `of` less point of `second`, neither of them a difference; missing where one of them is. */
#define TMI_KEY_BYTES 32 /* of a SCATTER column, and of a request with a unit */

typedef enum tmi_column_kind {
    TMI_NUMBER,
    TMI_CATEGORY,
    TMI_LABEL,
    TMI_CUTS,
    TMI_INDICATOR,
    TMI_LOOKUP,
    TMI_GROUPS,
    TMI_SCATTER,
    TMI_CLASSES,
    TMI_PRODUCT,
    TMI_DIFFERENCE,
    TMI_JOINT
} tmi_column_kind;

typedef struct tmi_column tmi_column;

/* A column with grid points: least <= point <= most. A column with codes: one of `codes`. */
typedef struct tmi_condition {
    const tmi_column *column;
    int64_t least, most;
    const int32_t *codes;
    size_t code_count;
} tmi_condition;

struct tmi_column {
    const char *name; /* in the source; of made columns, for messages */
    tmi_column_kind kind;

    tmi_grid grid;               /* NUMBER, PRODUCT */
    const tmi_column *by;        /* NUMBER: the CATEGORY or JOINT that chooses the grid; NULL: `grid` */
    const tmi_grid *grids;       /* NUMBER with `by`: one per value */
    bool reciprocal;             /* NUMBER */
    int64_t most_of_unit;        /* NUMBER, LOOKUP, PRODUCT: what the sizes of a unit's points add up to at most; 0: no bound */
    const double *missing_codes; /* NUMBER: values that mean "missing" */
    size_t missing_code_count;

    const char *const *values; /* CATEGORY */
    size_t value_count;        /* CATEGORY, CUTS, GROUPS, CLASSES, JOINT: codes are below it; SCATTER: a power of 2 up to 256 */
    const char *const *missing_texts; /* CATEGORY: texts that mean "missing" */
    size_t missing_text_count;

    bool has_instead; /* NUMBER, CATEGORY, CLASSES, PRODUCT */
    int64_t instead;

    /* GROUPS, SCATTER: a LABEL; LOOKUP: a category; CLASSES: either, or a number; JOINT: a CATEGORY or JOINT; others: a number */
    const tmi_column *of;
    const int64_t *cuts;             /* CUTS: ascending grid points, value_count - 1 of them */
    const tmi_condition *conditions; /* INDICATOR: all must hold */
    size_t condition_count;
    const int64_t *numbers;        /* LOOKUP: one per code of `of` */
    const tmi_column *stratum;     /* GROUPS: a CATEGORY or JOINT; SCATTER: a LABEL; NULL: one stratum */
    const int32_t *const *cell_of; /* GROUPS: one list per stratum, of codes below value_count */
    const int64_t *cluster_counts; /* GROUPS: the length of each list */
    const unsigned char *key;      /* SCATTER: TMI_KEY_BYTES bytes */
    const int32_t *classes;        /* CLASSES: one per code of `of`; if `of` is a number, one. JOINT: one per pair of codes */
    const tmi_column *second;      /* PRODUCT, DIFFERENCE: a number; JOINT: a CATEGORY or JOINT */
    int shift;                     /* PRODUCT: 0 <= shift <= TMI_ENGINE_MAX_SHIFT */
};

static inline bool tmi_has_points(const tmi_column *column)
{
    return column->kind == TMI_NUMBER || column->kind == TMI_INDICATOR || column->kind == TMI_LOOKUP ||
           column->kind == TMI_PRODUCT || column->kind == TMI_DIFFERENCE;
}

static inline bool tmi_has_codes(const tmi_column *column)
{
    return column->kind == TMI_CATEGORY || column->kind == TMI_CUTS || column->kind == TMI_GROUPS ||
           column->kind == TMI_SCATTER || column->kind == TMI_CLASSES || column->kind == TMI_JOINT;
}

/* A category that may choose grids and be a stratum: read from the source, or joined from such. */
static inline bool tmi_may_choose(const tmi_column *column) { return column->kind == TMI_CATEGORY || column->kind == TMI_JOINT; }

/* ---- requests ---- */

/* One integer per cell: the sum over its rows of floor(product * 2^-shift + 1/2), clamped to [low, high]. The product is that of
 * (double)(grid point - minus) over the factors, from left to right in doubles; 1 without factors. A row adds nothing
 * where a factor or a `present` column is missing, or where `where`, an indicator, is not 1.
 *
 * Needs    |minus| < 2^52, 0 <= shift <= 640, -2^52 <= low <= high <= 2^52.
 * Rounding of doubles does no harm here: whatever the product is, the clamp bounds what a row adds. */
/* The square of a weight, two sizes of a cluster, two more such as lookups; and of each number of a table up to four. */
#define TMI_MAX_FACTORS 40
#define TMI_MAX_PRESENT 3 /* two columns of a statistic, and one that selects rows */
#define TMI_ENGINE_MAX_SHIFT 640
#define TMI_MAX_PRODUCT_BITS 1000 /* 40 factors below 2^53 may reach 2^2120, beyond doubles: the layout refuses such measures */

typedef struct tmi_factor {
    const tmi_column *column; /* with grid points */
    int64_t minus;
} tmi_factor;

typedef struct tmi_measure {
    tmi_factor factors[TMI_MAX_FACTORS];
    size_t factor_count;
    const tmi_column *present[TMI_MAX_PRESENT]; /* with grid points or codes; NULL: none */
    const tmi_column *where;                    /* NULL: all rows */
    int shift;
    int64_t low, high;
} tmi_measure;

/* The number of rows in which `present` (NULL: no condition) is not missing. */
static inline tmi_measure tmi_rows_with(const tmi_column *present)
{
    return (tmi_measure){.present = {present}, .low = 0, .high = 1};
}

/* The sum of the grid points of a NUMBER with one grid, of a product or of an indicator. */
static inline tmi_measure tmi_sum_of(const tmi_column *column)
{
    const bool has_grid = column && (column->kind == TMI_NUMBER || column->kind == TMI_PRODUCT);
    return (tmi_measure){.factors = {{column, 0}},
                         .factor_count = 1,
                         .low = has_grid ? column->grid.low : 0,
                         .high = has_grid ? column->grid.high : 1};
}

/* Cells: every combination of the `by` columns, which have codes, the last one running fastest; one cell if by_count is
 * 0. A row in which a `by` column is missing is in no cell. */
typedef struct tmi_table {
    const tmi_column *const *by;
    size_t by_count;
    const tmi_measure *measures;
    size_t measure_count;
} tmi_table;

/* With `unit`, a label, at most rows_per_unit rows per unit count, and rows without a unit do not. If a unit has more rows,
 * those that come first count, in the order of SHA-256 of the text
 *
 *     KEY UNIT,value,...,value,copy
 *
 * (without the blank): the key and the SHA-256 of the unit's canonical text in lower-case hexadecimal digits; the points and
 * codes of the row, those of tmi_is_given in the order of tmi_layout (engine/core/cells.h), in decimal digits, a missing one
 * empty; and 1 for the first of the unit's rows that agree in all of these, 2 for the second and so on. Such rows add the
 * same to every sum, so it does not matter which of them is the first.
 *
 * For any key, the rows that a unit keeps depend only on the key and on that unit's rows: changing, adding or removing
 * another unit does not affect them. So a unit adds at most rows_per_unit rows to every sum, and sensitivities are those of
 * rows_per_unit rows. The key is drawn before any row is read, so a guarantee that holds for every key holds. Without a key
 * the order would favour some contents; with it each row of a unit has the same chance. All engines keep the same rows.
 *
 * A column may have `most_of_unit` = M. Where the sizes |k| of the points k of the rows of a unit that count add up to T > M,
 * missing ones as 0, each of them becomes k M / T, rounded towards 0, exactly. So those of a unit add up to at most M, and none
 * becomes larger, whatever the grid allows. The order above is that of the points before; columns that are made of
 * bounded ones are made of the points after. An engine that cannot do this says so in `check` (tmi_refuse_bounded_units). */
typedef struct tmi_request {
    const tmi_table *tables;
    size_t table_count;
    const tmi_column *unit; /* NULL: every row counts */
    int64_t rows_per_unit;
    const unsigned char *key; /* TMI_KEY_BYTES of them, with `unit` */
} tmi_request;

/* Cells of a table: the product of its value counts; SIZE_MAX if that overflows. */
size_t tmi_table_cells(const tmi_table *table);

/* Rejects what no engine could answer: more than TMI_MAX_CELLS integers, columns that are made of themselves or in more
 * than 16 steps, and whatever else engine.h rules out. No source is needed. INVALID, SYSTEM. */
tamis_status tmi_request_check(const tmi_request *request, tamis_error *err);

/* ---- what may be read before the charge ---- */

/* What is checked and counted before the charge: that the columns exist, and the numbers that the design fixes (rows in all,
 * distinct units, and both by stratum). Rows in no stratum count in `rows` and `units` only; rows without a unit or cluster
 * label count as no unit or cluster. */
typedef struct tmi_inventory {
    const tmi_column *const *columns; /* must be there */
    size_t column_count;
    const tmi_column *unit, *cluster;             /* labels; NULL: not needed */
    const tmi_column *stratum;                    /* CATEGORY or JOINT; NULL: all rows are one stratum */
    int64_t rows, units;                          /* the answers */
    int64_t *rows_in, *units_in, *clusters_in;    /* one per stratum, allocated by the caller; NULL: not needed */
    bool rows_fixed, units_fixed, clusters_fixed; /* which of these are the same for all neighbours */
} tmi_inventory;

/* ---- rows ---- */

/* Rows of columns of the source, in pieces: numbers as unchanged doubles, neither clamped nor inverted (NaN: missing),
 * categories as codes (-1: missing), labels as numbers in the order of their first appearance (-1: missing). columns[c] points
 * to the piece of column c. A status other than OK stops the reading. */
typedef struct tmi_piece {
    size_t rows;
    const void *const *columns; /* const double *, const int32_t * or const int64_t * */
} tmi_piece;
typedef tamis_status tmi_take_rows(void *context, const tmi_piece *piece, tamis_error *err);

/* ---- engines ---- */

typedef struct tmi_engine tmi_engine;
struct tmi_value;
struct tmi_points_request; /* engine/core/points.h */
typedef struct tmi_point_list tmi_point_list;

struct tmi_engine {
    const char *name; /* "duckdb" */
    void *state;
    uint64_t memory; /* bytes that it may use, set before the first call; 0: what the machine allows (engine/core/machine.h) */

    /* Fills the inventory; all zero on failure. `watch` (may be NULL) gets no share, since the whole amount of work is not
     * known yet. INVALID names the file or column that is missing or unreadable, the number whose type has another class
     * (tmi_class_check), the category that cannot contain any of its values, or the label or category without a canonical form
     * or without the same kind in all parts. The types decide this, never a value, and no value is quoted. */
    tamis_status (*describe)(tmi_engine *engine, tmi_inventory *inventory, const tamis_watch *watch, tamis_error *err);

    /* Checks that the request can be answered, as far as the request, the column types and the engine show without any value.
     * Called after `describe` and before the charge, so whatever the answer needs is tried here, with rows that are made up:
     * memory above all. The keys of the request need not be drawn. NULL: only tmi_request_check. INVALID names the limit. */
    tamis_status (*check)(tmi_engine *engine, const tmi_request *request, const tamis_watch *watch, tamis_error *err);

    /* answers[t][cell * measure_count + m] for table t; the caller allocates them. On failure the answers are all zero and the
     * message reveals no value. */
    tamis_status (*aggregate)(tmi_engine *engine, tmi_int128 *const *answers, const tmi_request *request,
                              const tamis_watch *watch, tamis_error *err);

    /* The same two for a list of points (engine/core/points.h), which are called through the functions there: these check the
     * request, give an empty list and clear it after a failure. points NULL: it is made from sums. */
    tamis_status (*check_points)(tmi_engine *engine, const struct tmi_points_request *request, const tamis_watch *watch,
                                 tamis_error *err);
    tamis_status (*points)(tmi_engine *engine, tmi_point_list *list, const struct tmi_points_request *request,
                           const tamis_watch *watch, tamis_error *err);

    tamis_status (*rows)(tmi_engine *engine, const tmi_column *const *columns, size_t column_count, tmi_take_rows *take,
                         void *context, tamis_error *err);

    /* What a certificate says of the engine, which the caller frees: a map; NULL: nothing. SYSTEM. The function may be NULL. */
    tamis_status (*facts)(tmi_engine *engine, struct tmi_value **facts, tamis_error *err);

    void (*free)(tmi_engine *engine);
};

/* The engine that fits a source. Of those that read CSV files that is DuckDB, and memory where DuckDB is not installed. */
tamis_engine tmi_engine_fitting(const tmi_source *source);

/* An engine of this kind. INVALID if it does not read such sources. */
tamis_status tmi_engine_open(tmi_engine **engine, tamis_engine kind, const tmi_source *source, unsigned threads,
                             tamis_error *err);

/* DuckDB inside this process; the library is loaded here, not before. If it is not installed: SYSTEM, with what to do. threads
 * 0: as many as the machine has. The source is copied. */
tamis_status tmi_engine_duckdb(tmi_engine **engine, const tmi_source *source, unsigned threads, tamis_error *err);
bool tmi_duckdb_is_there(void); /* looks for it once, and loads it */

/* The engine that needs no database, for CSV files. */
tamis_status tmi_engine_memory(tmi_engine **engine, const tmi_source *source, unsigned threads, tamis_error *err);

/* The engine for files of SPSS (.sav, .zsav), Stata (.dta) and SAS (.sas7bdat, .xpt), and whether a name is one of them. */
tamis_status tmi_engine_readstat(tmi_engine **engine, const tmi_source *source, unsigned threads, tamis_error *err);
bool tmi_is_readstat_file(const char *name);

/* PostgreSQL servers, which compute the sums themselves. The engine connects on first use and sees one state of the table from
 * then on. threads 0: as many workers as the server chooses. describe and aggregate return REFUSED for several connections
 * with a unit, unless sharded_by_unit, and for several connections with clusters that are counted or ranked. Progress has no
 * share. */
tamis_status tmi_engine_postgres(tmi_engine **engine, const tmi_source *source, unsigned threads, tamis_error *err);

#endif
