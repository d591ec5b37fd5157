/* A request as SQL: the rows of a table become points and codes, then integers by group, inside the server.
 *
 * The query is a chain of steps, WITH s0 AS (...), s1 AS (SELECT ... FROM s0), each with the columns that later ones need: t3
 * is the trimmed text of column 3 of the layout, c3 its untrimmed text, f3 its number, v3 its point or code. Missing values
 * are NULL. A last step may add products that several sums share. Steps are never materialized: one that is used twice reads the
 * table twice. Databases differ in words, which are in a table each (engine/sql/dialect.h).
 *
 * No error may depend on a value. PostgreSQL raises an error where C rounds: on a text that is not a number, on a number
 * outside the range of doubles, and on a quotient or product that is rounded to 0 or to infinity. Each of these is guarded
 * against here. PostgreSQL also skips NULL in least() and greatest(), so a clamp is always inside a test for NULL. */
#ifndef TMI_ENGINE_SQL_SQL_H
#define TMI_ENGINE_SQL_SQL_H

#include "base/text.h"
#include "engine/core/points.h"
#include "engine/core/products.h"
#include "engine/sql/dialect.h"

/* Names that one SELECT may have, both in a step and in the final one; PostgreSQL allows 1664. The rest is for a step's own
 * names: `one`, n, copy, place, and for groups their keys, twice, and their rows. */
#define TMI_SQL_ENTRIES 1600

tmi_form tmi_sql_form(tmi_sql_type type);
tmi_class tmi_sql_class(tmi_sql_type type);

typedef struct tmi_sql_source {
    const tmi_dialect *dialect;
    const char *table; /* quoted, with its schema */
    const tmi_layout *layout;
    const tmi_sql_type *types; /* of the columns of the layout that are read */
    bool units_fit;            /* no unit has more than rows_per_unit rows: then all rows with a unit count */
    int64_t rows;              /* at most; 0: unknown */
} tmi_sql_source;

/* Counts the rows, the units by this label, and the rows of the largest unit: the three columns of one row, NULL for 0. */
void tmi_sql_units(tmi_text *sql, const tmi_sql_source *source, const tmi_column *unit);

/* The steps up to the canonical texts (t of labels), codes (v of categories) and numbers (f) of the columns that are read.
 * *step: the last one. */
tamis_status tmi_sql_codes(size_t *step, tmi_text *sql, const tmi_sql_source *source, tamis_error *err);

/* All steps up to the points and codes (v) of all columns of a request, for the rows that count. `kept`: each is computed only
 * once, which costs a little if each is used only once anyway. Categories that are `late` (one flag per column) keep their
 * texts, late numbers stay numbers (f), and late classes are left out. */
tamis_status tmi_sql_values(size_t *step, tmi_text *sql, const tmi_sql_source *source, bool kept, const bool *late,
                            tamis_error *err);

/* The codes of the late categories from their texts, each with a comma before it; then the late classes of these codes. */
tamis_status tmi_sql_late_codes(tmi_text *sql, const tmi_sql_source *source, const bool *late, tamis_error *err);
void tmi_sql_late_classes(tmi_text *sql, const tmi_sql_source *source, const bool *late);

/* The code of text c of a category as v, with a comma before it. INVALID: two listed values are the same number in a column of
 * this form. */
tamis_status tmi_sql_code(tmi_text *sql, const tmi_dialect *dialect, const tmi_column *column, tmi_form form, size_t c,
                          tamis_error *err);

/* Whether categories of this form are compared as numbers. */
bool tmi_sql_compares_reals(const tmi_dialect *dialect, tmi_form form);

/* The canonical text of a column in SQL. Texts keep their surrounding blanks. */
void tmi_sql_canonical(tmi_text *sql, const tmi_dialect *dialect, const char *name, tmi_sql_type type);

/* The grid point of number c as v, with a comma before it; or without both. */
void tmi_sql_point(tmi_text *sql, const tmi_sql_source *source, size_t c);
void tmi_sql_point_value(tmi_text *sql, const tmi_sql_source *source, size_t c);

/* What the sums of a request share: p7 is the product of node 7, d7 factor 7 as a double. Nothing if there is little to share,
 * or more than a step has room for. Clear the trees after a failure too. */
tamis_status tmi_sql_share(tmi_factor_trees *trees, const tmi_dialect *dialect, const tmi_layout *layout, tamis_error *err);

/* The definition of p or d with this number from the values v of a step, with a comma before it. */
void tmi_sql_shared(tmi_text *sql, const tmi_dialect *dialect, const tmi_layout *layout, const tmi_factor_trees *trees,
                    char letter, size_t i);

/* The sum of a measure, or the number of its rows (of which each is worth what it adds), over the values of a step with at most
 * this many rows; 0: unknown. */
void tmi_sql_sum(tmi_text *sql, const tmi_dialect *dialect, const tmi_layout *layout, const tmi_factor_trees *trees,
                 const tmi_measure *measure, int64_t rows);

/* The point of product c from the values v of its factors. */
void tmi_sql_product(tmi_text *sql, const tmi_dialect *dialect, const tmi_layout *layout, size_t c);

/* A list of points (engine/core/points.h): the rows of each cell, point and weight are counted, so that what travels is distinct
 * records and their numbers. Its rows: cell, point, weight, number. */
tamis_status tmi_sql_points(tmi_text *sql, const tmi_points_plan *plan, const tmi_sql_source *source, tamis_error *err);

/* Rows by stratum, or the distinct labels in it; either may be NULL. Its rows: the code of the stratum, value_count for none, and
 * the number. */
tamis_status tmi_sql_counts(tmi_text *sql, const tmi_sql_source *source, const tmi_column *stratum, const tmi_column *label,
                            tamis_error *err);

/* ---- passes ---- */

/* Tables whose `by` columns together have few cells are summed in one pass by all of these columns; groups that a table does
 * not distinguish are added up here. */
typedef struct tmi_sql_pass {
    const tmi_dialect *dialect;
    const tmi_layout *layout;
    int64_t rows; /* of the source, at most; 0: unknown */
    const tmi_factor_trees *trees;
    size_t *keys; /* columns of the layout */
    size_t key_count;
    size_t *tables; /* of the request */
    size_t table_count;
    char **sums; /* in SQL, all distinct */
    size_t sum_count;
    size_t **places; /* places[i][m]: the sum of measure m of the i-th table of the pass */
} tmi_sql_pass;

typedef struct tmi_sql_passes {
    tmi_sql_pass *list;
    size_t count;
    tmi_factor_trees trees; /* of all passes, which point to it */
} tmi_sql_passes;

tamis_status tmi_sql_passes_init(tmi_sql_passes *passes, const tmi_dialect *dialect, const tmi_layout *layout, int64_t rows,
                                 tamis_error *err);
void tmi_sql_passes_clear(tmi_sql_passes *passes);

/* The query of a pass. Its rows: the key, the number of rows, the sums. */
tamis_status tmi_sql_pass_write(tmi_text *sql, const tmi_sql_pass *pass, const tmi_sql_source *source, tamis_error *err);

/* Adds a row of the answer; false if a sum overflows. */
bool tmi_sql_pass_add(tmi_int128 *const *answers, const tmi_sql_pass *pass, int64_t key, const tmi_int128 *sums);

#endif
