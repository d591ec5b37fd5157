/* Grid points in SQL. */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "engine/sql/sql.h"

#define LARGEST "1.7976931348623157e308"

/* A quotient below this, 2^-60, vanishes when 1/2 is added to it. */
#define NOTHING 0x1p-60

/* The grid point of the number `x`, which is not NULL. Numbers between -2^-60 and 2^-60 steps have the point 0 (or the nearest
 * one on the grid) whatever their exact value, so they may be replaced: this avoids quotients on which PostgreSQL would raise
 * an error. */
static void put_point(tmi_text *sql, const tmi_dialect *dialect, const char *x, const tmi_grid *grid)
{
    const double small = grid->step * NOTHING;
    double from = grid->from, to = grid->to;
    if (grid->low == grid->high) {
        tmi_sql_integer(sql, dialect, grid->low);
        return;
    }
    const bool below = floor(from / grid->step + 0.5) < (double)grid->low;
    const bool above = floor(to / grid->step + 0.5) > (double)grid->high;
    const bool around = from < 0 && to > 0 && grid->step != 1;
    if (fabs(from) < small) from = from < 0 ? -small : small;
    if (fabs(to) < small) to = to > 0 ? small : -small;
    if (above) tmi_text_put(sql, "least(");
    if (below) tmi_text_put(sql, "greatest(");
    tmi_sql_before(sql, dialect->as_integer);
    tmi_text_put(sql, "floor(");
    if (around) {
        tmi_text_format(sql, "CASE WHEN abs(%s) < ", x);
        tmi_sql_real(sql, dialect, small);
        tmi_text_put(sql, " THEN ");
        tmi_sql_real(sql, dialect, 0);
        tmi_text_put(sql, " ELSE ");
    }
    tmi_text_format(sql, "least(greatest(%s, ", x);
    tmi_sql_real(sql, dialect, from);
    tmi_text_put(sql, "), ");
    tmi_sql_real(sql, dialect, to);
    tmi_text_put(sql, ")");
    if (grid->step != 1) {
        tmi_text_put(sql, " / ");
        tmi_sql_real(sql, dialect, grid->step);
    }
    tmi_text_put(sql, around ? " END + " : " + ");
    tmi_sql_real(sql, dialect, 0.5);
    tmi_text_put(sql, ")");
    tmi_sql_after(sql, dialect->as_integer);
    if (below) {
        tmi_text_put(sql, ", ");
        tmi_sql_integer(sql, dialect, grid->low);
        tmi_text_put(sql, ")");
    }
    if (above) {
        tmi_text_put(sql, ", ");
        tmi_sql_integer(sql, dialect, grid->high);
        tmi_text_put(sql, ")");
    }
}

/* Grids by the code of a category, as a tree of halves like the texts. */
static void put_points_by(tmi_text *sql, const tmi_dialect *dialect, const char *x, const tmi_column *column, size_t by,
                          size_t first, size_t count)
{
    if (count == 1) {
        put_point(sql, dialect, x, &column->grids[first]);
        return;
    }
    tmi_text_format(sql, "CASE WHEN v%zu < %zu THEN ", by, first + count / 2);
    put_points_by(sql, dialect, x, column, by, first, count / 2);
    tmi_text_put(sql, " ELSE ");
    put_points_by(sql, dialect, x, column, by, first + count / 2, count - count / 2);
    tmi_text_put(sql, " END");
}

void tmi_sql_point(tmi_text *sql, const tmi_sql_source *source, size_t c)
{
    tmi_text_put(sql, ", ");
    tmi_sql_point_value(sql, source, c);
    tmi_text_format(sql, " AS v%zu", c);
}

void tmi_sql_point_value(tmi_text *sql, const tmi_sql_source *source, size_t c)
{
    const tmi_dialect *dialect = source->dialect;
    const tmi_column *column = source->layout->columns[c];
    const tmi_sql_type type = source->types[c];
    const size_t by = column->by ? tmi_layout_index(source->layout, column->by) : 0;
    char number[32];
    tmi_text x;
    tmi_text_init(&x);
    snprintf(number, sizeof number, "f%zu", c);
    tmi_sql_word(&x, column->reciprocal ? dialect->reciprocal : "$", number);
    if (x.failed) {
        sql->failed = true;
        tmi_text_clear(&x);
        return;
    }
    tmi_text_put(sql, "CASE WHEN ");
    if (column->by) tmi_text_format(sql, "v%zu IS NULL THEN NULL WHEN ", by);
    if (column->reciprocal) {
        tmi_text_format(sql, "f%zu >= ", c);
        tmi_sql_real(sql, dialect, DBL_MIN);
        tmi_text_format(sql, " AND f%zu <= ", c);
        tmi_sql_word(sql, dialect->real, LARGEST);
    } else if (type == TMI_SQL_DOUBLE || type == TMI_SQL_FLOAT) {
        tmi_text_format(sql, "abs(f%zu) <= ", c);
        tmi_sql_word(sql, dialect->real, LARGEST);
    } else {
        tmi_text_format(sql, "f%zu IS NOT NULL", c);
    }
    for (size_t i = 0; i < column->missing_code_count; i++) {
        if (!(fabs(column->missing_codes[i]) <= DBL_MAX)) continue;
        tmi_text_format(sql, " AND f%zu <> ", c);
        tmi_sql_real(sql, dialect, column->missing_codes[i]);
    }
    tmi_text_put(sql, " THEN ");
    if (column->by) put_points_by(sql, dialect, x.bytes, column, by, 0, column->by->value_count);
    else put_point(sql, dialect, x.bytes, &column->grid);
    if (column->has_instead) {
        tmi_text_put(sql, " ELSE ");
        tmi_sql_integer(sql, dialect, column->instead);
    }
    tmi_text_put(sql, " END");
    tmi_text_clear(&x);
}
