/* The functions that we add to DuckDB for one request, so that its own loops stay and ours are short:
 *
 *     tamis_point_C(v DOUBLE [, code INTEGER]) -> BIGINT       the grid point of column C, TMI_NO_POINT if v is missing
 *     tamis_code_C(text VARCHAR) -> INTEGER                    the code of column C, value_count if it has none; of texts
 *     tamis_exact_C, tamis_double_C, tamis_float_C             the same of canonical texts of numbers, by their type
 *     tamis_group_C(label VARCHAR [, code INTEGER]) -> INTEGER the same of a TMI_GROUPS column
 *     tamis_group_C(label VARCHAR [, label VARCHAR]) -> INTEGER of a TMI_SCATTER column
 *     tamis_cells([label,] x, …) -> HUGEINT[]                  an aggregate: all answers, from the points and codes
 *     tamis_points([label,] x, …) -> BIGINT                    instead of it, for a list of points: the number of rows
 *     tamis_units(label) -> BIGINT                             before it, if the request has a unit: counts the rows of units
 *     tamis_group_C(code INTEGER, code INTEGER) -> INTEGER     the same of a TMI_JOINT column
 *     tamis_labels_C(label [, code INTEGER]) -> BIGINT         before it: collects the labels of a TMI_GROUPS column
 *
 * With a unit its label is the first argument, and rows that do not count, or not yet (engine/core/units.h), are left out. The
 * answers of the last two are of no interest.
 *
 * All but the aggregates depend only on their arguments, so DuckDB evaluates them once per entry of a Parquet dictionary instead
 * of once per row. An aggregate has one state per thread, and the states are added up. The same can be written in plain SQL
 * (tests/engine/portable_sql.c does: finite test, clamp, division, floor, cast, clamp, sum, group), but each of these steps is
 * a pass over the vector, and each grouping another sum: several times slower. */
#ifndef TMI_ENGINE_DUCKDB_FUNCTIONS_H
#define TMI_ENGINE_DUCKDB_FUNCTIONS_H

#include <threads.h>

#include "engine/core/labels.h"
#include "engine/core/tally.h"
#include "engine/core/units.h"
#include "engine/duckdb/session.h"

/* The codes of a category as they are looked up in columns of this form. */
typedef struct tmi_duckdb_lookup {
    const tmi_codes *codes;
    tmi_form form;
} tmi_duckdb_lookup;

#define TMI_DUCKDB_LOOKUPS 4 /* TMI_FORM_TEXT, EXACT, DOUBLE, FLOAT */

/* Distinct labels, which tamis_distinct collects: those with a hash of this part. */
typedef struct tmi_duckdb_distinct {
    tmi_labels *labels;
    size_t strata, part, parts;
} tmi_duckdb_distinct;

typedef struct tmi_duckdb_column {
    const tmi_column *column;
    tmi_codes *codes;                              /* of a category */
    tmi_duckdb_lookup lookups[TMI_DUCKDB_LOOKUPS]; /* of a category */
    tmi_clusters *clusters;                        /* of TMI_GROUPS */
    bool known;                                    /* the clusters know their labels before a row is read */
    mtx_t *lock;                                   /* of the clusters: that of the functions */
} tmi_duckdb_column;

/* What the functions need; it lives until the connection is closed. It owns the cells and tallies of all states, because DuckDB
 * drops states without calling their destructor when a query fails. */
typedef struct tmi_duckdb_functions {
    tmi_layout layout;
    tmi_duckdb_column *columns;    /* as layout.columns */
    const tmi_points_plan *points; /* NULL: tamis_cells is registered, not tamis_points */
    tmi_units *units;              /* of a request with a unit, while it is answered; the caller's */
    tmi_duckdb_distinct distinct;  /* of an inventory, while labels are counted; the caller's */
    struct tmi_duckdb_cells *_Atomic cells;
    struct tmi_duckdb_tally *_Atomic tallies;
    _Atomic int64_t *rows; /* where rows are counted */
    mtx_t lock;
    bool has_lock;
} tmi_duckdb_functions;

/* The functions of a request, of a list of points, of an inventory, or of columns that are read unchanged. An inventory has the
 * aggregate tamis_distinct(label, code of its stratum). The plan is not copied. */
tamis_status tmi_duckdb_functions_init(tmi_duckdb_functions *functions, const tmi_request *request, tamis_error *err);
tamis_status tmi_duckdb_functions_init_points(tmi_duckdb_functions *functions, const tmi_points_plan *plan, tamis_error *err);
tamis_status tmi_duckdb_functions_init_inventory(tmi_duckdb_functions *functions, const tmi_inventory *inventory,
                                                 tamis_error *err);
tamis_status tmi_duckdb_functions_init_rows(tmi_duckdb_functions *functions, const tmi_column *const *columns, size_t count,
                                            tamis_error *err);
void tmi_duckdb_functions_clear(tmi_duckdb_functions *functions);

/* Frees the cells and tallies of the states. Call only between queries. */
void tmi_duckdb_functions_forget(tmi_duckdb_functions *functions);

/* The chunk at hand of a state of an aggregate. */
typedef struct tmi_duckdb_chunk {
    const void **columns; /* one per column of the layout */
    tmi_cell *labels;     /* of units, with a room of their own */
    tmi_units_room *room;
} tmi_duckdb_chunk;

bool tmi_duckdb_chunk_make(tmi_duckdb_chunk *chunk, const tmi_duckdb_functions *functions); /* false if memory runs out */
void tmi_duckdb_chunk_clear(tmi_duckdb_chunk *chunk);

/* Hands on the rows of a chunk that count. If it fails, DuckDB knows it. */
void tmi_duckdb_chunk_take(tmi_duckdb_chunk *chunk, const tmi_duckdb_functions *functions, duckdb_data_chunk input,
                           tmi_take_block *take, void *context, duckdb_function_info info);

/* The parameters of an aggregate that sees rows. */
void tmi_duckdb_add_parameters(duckdb_aggregate_function function, const tmi_layout *layout);

/* The parts of these two that concern points. */
bool tmi_duckdb_register_points(tmi_duckdb_functions *functions, duckdb_connection connection);
void tmi_duckdb_forget_points(tmi_duckdb_functions *functions);

/* Moves the tallies of a query to `all`. `rows` is what the query returned: SYSTEM if the tallies do not have that many. */
tamis_status tmi_duckdb_take_points(tmi_tally *all, tmi_duckdb_functions *functions, int64_t rows, tamis_error *err);

tamis_status tmi_duckdb_functions_register(tmi_duckdb_functions *functions, tmi_duckdb_session *session, tamis_error *err);

/* The expression for the points or codes of column c of the layout, which must be given (tmi_is_given), from the columns c0,
 * c1 … of the source, which are codes if they are categories. */
void tmi_duckdb_write_call(tmi_text *sql, const tmi_layout *layout, size_t c);

/* The name of the function that looks up the canonical texts of a category in a column of this form. */
const char *tmi_duckdb_lookup_name(tmi_form form);

static inline bool tmi_duckdb_is_null(const uint64_t *validity, size_t row)
{
    return validity && !(validity[row / 64] >> (row % 64) & 1);
}

static inline tmi_cell tmi_duckdb_cell(const duckdb_string_t *text)
{
    const size_t length = text->value.inlined.length;
    const bool is_short = length <= sizeof text->value.inlined.inlined;
    return (tmi_cell){is_short ? text->value.inlined.inlined : text->value.pointer.ptr, length};
}

#endif
