/* The lists of points that the servers count (tmi_sql_points), added up here. */
#include "base/memory.h"
#include "engine/core/tally.h"
#include "engine/postgres/parts.h"

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
            status = tmi_sql_points(&sql, plan, &parts.sources[p], err);
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
