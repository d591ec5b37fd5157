/* Points and counts: what is asked for besides sums. */
#include <stdio.h>

#include "engine/sql/sql.h"

/* The cell of a row whose codes are all there. */
static void put_cell(tmi_text *sql, const tmi_dialect *dialect, const tmi_layout *layout, const tmi_table *table)
{
    int64_t worth = (int64_t)tmi_table_cells(table);
    tmi_sql_integer(sql, dialect, 0);
    for (size_t b = 0; b < table->by_count; b++) {
        const int64_t codes = (int64_t)table->by[b]->value_count;
        worth /= codes;
        if (codes == 1) continue; /* its code is 0 */
        tmi_text_format(sql, " + v%zu * ", tmi_layout_index(layout, table->by[b]));
        tmi_sql_integer(sql, dialect, worth);
    }
}

/* least() and greatest() skip NULL, but no row has one where they are evaluated for the result. */
static void put_weight(tmi_text *sql, const tmi_dialect *dialect, const tmi_layout *layout, const tmi_points_request *asked)
{
    if (!asked->weight) {
        tmi_sql_integer(sql, dialect, 0);
        return;
    }
    tmi_text_format(sql, "least(greatest(v%zu, ", tmi_layout_index(layout, asked->weight));
    tmi_sql_integer(sql, dialect, 0);
    tmi_text_put(sql, "), ");
    tmi_sql_integer(sql, dialect, asked->max_weight);
    tmi_text_put(sql, ")");
}

tamis_status tmi_sql_points(tmi_text *sql, const tmi_points_plan *plan, const tmi_sql_source *source, tamis_error *err)
{
    const tmi_points_request *asked = plan->asked;
    const tmi_dialect *dialect = source->dialect;
    const tmi_layout *layout = source->layout;
    size_t step;
    char value[32];
    tamis_status status = tmi_sql_values(&step, sql, source, true, NULL, err);
    if (status != TAMIS_OK) return status;
    snprintf(value, sizeof value, "v%zu", tmi_layout_index(layout, asked->value));
    tmi_text_put(sql, " SELECT ");
    tmi_sql_before(sql, dialect->answer);
    put_cell(sql, dialect, layout, &plan->table);
    tmi_sql_after(sql, dialect->answer);
    tmi_text_put(sql, ", ");
    tmi_sql_before(sql, dialect->answer);
    tmi_sql_word(sql, dialect->as_integer, value);
    tmi_sql_after(sql, dialect->answer);
    tmi_text_put(sql, ", ");
    tmi_sql_before(sql, dialect->answer);
    put_weight(sql, dialect, layout, asked);
    tmi_sql_after(sql, dialect->answer);
    tmi_text_put(sql, ", ");
    tmi_sql_word(sql, dialect->answer, "count(*)");
    tmi_text_format(sql, " FROM s%zu WHERE v%zu IS NOT NULL", step, tmi_layout_index(layout, asked->value));
    if (asked->weight) tmi_text_format(sql, " AND v%zu IS NOT NULL", tmi_layout_index(layout, asked->weight));
    if (asked->where) tmi_text_format(sql, " AND v%zu = 1", tmi_layout_index(layout, asked->where));
    for (size_t b = 0; b < asked->by_count; b++)
        tmi_text_format(sql, " AND v%zu IS NOT NULL", tmi_layout_index(layout, asked->by[b]));
    tmi_text_put(sql, " GROUP BY 1, 2, 3");
    return TAMIS_OK;
}

tamis_status tmi_sql_counts(tmi_text *sql, const tmi_sql_source *source, const tmi_column *stratum, const tmi_column *label,
                            tamis_error *err)
{
    const tmi_layout *layout = source->layout;
    size_t step;
    const tamis_status status = tmi_sql_codes(&step, sql, source, err);
    if (status != TAMIS_OK) return status;
    tmi_text_put(sql, " SELECT ");
    tmi_sql_word(sql, source->dialect->answer, "s");
    tmi_text_put(sql, ", ");
    tmi_sql_word(sql, source->dialect->answer, "count(*)");
    tmi_text_put(sql, label ? " FROM (SELECT DISTINCT " : " FROM (SELECT ");
    if (stratum) tmi_text_format(sql, "coalesce(v%zu, %zu) AS s", tmi_layout_index(layout, stratum), stratum->value_count);
    else tmi_text_put(sql, "0 AS s");
    if (label)
        tmi_text_format(sql, ", t%zu AS l FROM s%zu WHERE t%zu <> '') q GROUP BY s", tmi_layout_index(layout, label), step,
                        tmi_layout_index(layout, label));
    else tmi_text_format(sql, " FROM s%zu) q GROUP BY s", step);
    return TAMIS_OK;
}
