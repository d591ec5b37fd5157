/* The servers group by cell, point and weight, so that what travels is distinct records and their numbers. */
#include "base/memory.h"
#include "engine/core/tally.h"
#include "engine/postgres/parts.h"

/* The cell of a row whose codes are all there. */
static void put_cell(tmi_text *sql, const tmi_layout *layout, const tmi_table *table)
{
    int64_t worth = (int64_t)tmi_table_cells(table);
    tmi_text_put(sql, " SELECT '0'::bigint");
    for (size_t b = 0; b < table->by_count; b++) {
        const int64_t codes = (int64_t)table->by[b]->value_count;
        worth /= codes;
        if (codes == 1) continue; /* its code is 0 */
        tmi_text_format(sql, " + v%zu * ", tmi_layout_index(layout, table->by[b]));
        tmi_sql_integer(sql, worth);
    }
}

/* least() and greatest() skip NULL, but no row has one where they are evaluated for the result. */
static void put_weight(tmi_text *sql, const tmi_layout *layout, const tmi_points_request *asked)
{
    tmi_text_put(sql, ", ");
    if (!asked->weight) {
        tmi_sql_integer(sql, 0);
        return;
    }
    tmi_text_format(sql, "least(greatest(v%zu, ", tmi_layout_index(layout, asked->weight));
    tmi_sql_integer(sql, 0);
    tmi_text_put(sql, "), ");
    tmi_sql_integer(sql, asked->max_weight);
    tmi_text_put(sql, ")");
}

static tamis_status write_points(tmi_text *sql, const tmi_points_plan *plan, const tmi_sql_source *source, tamis_error *err)
{
    const tmi_points_request *asked = plan->asked;
    const tmi_layout *layout = source->layout;
    size_t step;
    tamis_status status = tmi_sql_values(&step, sql, source, true, NULL, err);
    if (status != TAMIS_OK) return status;
    put_cell(sql, layout, &plan->table);
    tmi_text_format(sql, ", v%zu::bigint", tmi_layout_index(layout, asked->value));
    put_weight(sql, layout, asked);
    tmi_text_format(sql, ", count(*) FROM s%zu WHERE v%zu IS NOT NULL", step, tmi_layout_index(layout, asked->value));
    if (asked->weight) tmi_text_format(sql, " AND v%zu IS NOT NULL", tmi_layout_index(layout, asked->weight));
    if (asked->where) tmi_text_format(sql, " AND v%zu = 1", tmi_layout_index(layout, asked->where));
    for (size_t b = 0; b < asked->by_count; b++)
        tmi_text_format(sql, " AND v%zu IS NOT NULL", tmi_layout_index(layout, asked->by[b]));
    tmi_text_put(sql, " GROUP BY 1, 2, 3");
    return TAMIS_OK;
}

/* An integer of eight bytes, in network order. */
static bool field_integer(int64_t *value, PGresult *result, int row, int field)
{
    uint64_t bits = 0;
    if (tmi_pq()->getisnull(result, row, field) || tmi_pq()->getlength(result, row, field) != 8) return false;
    const char *bytes = tmi_pq()->getvalue(result, row, field);
    for (int i = 0; i < 8; i++) bits = bits << 8 | (unsigned char)bytes[i];
    *value = (int64_t)bits;
    return true;
}

static tamis_status take_entry(void *tally, size_t p, PGresult *result, int row, tamis_error *err)
{
    int64_t fields[4];
    (void)p;
    for (int i = 0; i < 4; i++)
        if (!field_integer(&fields[i], result, row, i))
            return tmi_fail(err, TAMIS_SYSTEM, "PostgreSQL returned an answer that cannot be right");
    return tmi_tally_add_entry(tally, fields[0], fields[1], fields[2], fields[3], err);
}

tamis_status tmi_postgres_points(tmi_point_list *list, tmi_postgres *session, const tmi_points_plan *plan,
                                 const tmi_layout *layout, const tamis_watch *watch, tamis_error *err)
{
    tmi_postgres_parts parts = {0};
    tmi_tally *tally = NULL;
    char **queries = NULL;
    tamis_status status;
    if (layout->column_count > TMI_SQL_ENTRIES)
        return tmi_fail(err, TAMIS_INVALID,
                        "column %s: its points need %zu columns of the source, and the engine allows %d per query: use fewer "
                        "conditions",
                        plan->asked->value->name, layout->column_count, TMI_SQL_ENTRIES);
    TMI_TRY(tmi_postgres_parts_make(&parts, session, layout, watch, err));
    queries = tmi_alloc(parts.count, sizeof *queries);
    tally = tmi_tally_new(plan, NULL);
    if (!queries || !tally) TMI_TRY(tmi_fail_memory(err));
    if (list) TMI_TRY(tmi_postgres_see_units(&parts, session, layout, watch, err));
    for (int fit = 0; fit < (list || !plan->request.unit ? 1 : 2); fit++) {
        for (size_t p = 0; p < parts.count; p++) {
            tmi_text sql;
            tmi_text_init(&sql);
            tmi_text_put(&sql, list ? "" : TMI_POSTGRES_EXPLAIN);
            if (!list) parts.sources[p].units_fit = fit;
            tmi_free(queries[p]);
            queries[p] = NULL;
            status = write_points(&sql, plan, &parts.sources[p], err);
            TMI_TRY(tmi_postgres_take_query(&queries[p], &sql, status, err));
        }
        TMI_TRY(tmi_postgres_ask(session, 0, parts.count, queries, list != NULL, list ? take_entry : tmi_postgres_take_plan,
                                 tally, watch, err));
    }
    if (list) TMI_TRY(tmi_tally_take_list(list, tally, err));
done:
    tmi_tally_free(tally);
    tmi_postgres_free_queries(queries, parts.count);
    tmi_postgres_parts_clear(&parts);
    return status;
}
