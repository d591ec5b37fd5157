#include "engine/postgres/parts.h"

#include <string.h>

#include "base/memory.h"

void tmi_postgres_free_queries(char **queries, size_t count)
{
    for (size_t p = 0; queries && p < count; p++) tmi_free(queries[p]);
    tmi_free(queries);
}

void tmi_postgres_parts_clear(tmi_postgres_parts *made)
{
    tmi_free(made->sources);
    tmi_free(made->types);
}

/* Checks that the labels and categories of part p can be compared with those of the parts before it. */
static bool join_forms(tmi_form *seen, const tmi_sql_type *types, size_t p, const tmi_layout *layout, tamis_error *err)
{
    char part[TMI_POSTGRES_PART];
    bool joined = true;
    tmi_postgres_part_name(part, p);
    const tmi_source_part here = {.name = part};
    for (size_t c = 0; c < layout->column_count; c++) {
        const tmi_column *column = layout->columns[c];
        if (!tmi_is_read(column) || column->kind == TMI_NUMBER) continue;
        joined = tmi_form_join(&seen[c], tmi_sql_form(types[c]), &here, column->name, err) == TAMIS_OK && joined;
    }
    return joined;
}

tamis_status tmi_postgres_parts_make(tmi_postgres_parts *made, tmi_postgres *session, const tmi_layout *layout,
                                     const tamis_watch *watch, tamis_error *err)
{
    tamis_status status;
    tmi_form *seen = tmi_alloc(layout->column_count, sizeof *seen);
    *made = (tmi_postgres_parts){.count = session->count};
    if (!seen) return tmi_fail_memory(err);
    for (size_t c = 0; c < layout->column_count; c++) seen[c] = TMI_FORM_ANY;
    TMI_TRY(tmi_postgres_open(session, watch, err));
    made->sources = tmi_alloc(session->count, sizeof *made->sources);
    made->types = tmi_alloc(session->count * (layout->column_count + 1), sizeof *made->types);
    if (!made->sources || !made->types) TMI_TRY(tmi_fail_memory(err));
    tmi_error_reset(err);
    for (size_t p = 0; p < session->count; p++) {
        tmi_sql_type *types = made->types + p * layout->column_count;
        const tamis_status one = tmi_postgres_types(types, session, p, layout, err);
        if (one != TAMIS_OK) status = one;
        if (one == TAMIS_SYSTEM) goto done;
        if (one == TAMIS_OK && !join_forms(seen, types, p, layout, err)) status = TAMIS_INVALID;
        made->sources[p] = (tmi_sql_source){&tmi_dialect_postgres, session->parts[p].table, layout, types, false, session->rows};
    }
done:
    tmi_free(seen);
    if (status == TAMIS_SYSTEM) tmi_postgres_close(session);
    return status;
}

tamis_status tmi_postgres_parts_narrow(tmi_postgres_parts *made, const tmi_postgres_parts *all, const tmi_layout *whole,
                                       const tmi_layout *layout, tamis_error *err)
{
    *made = (tmi_postgres_parts){.count = all->count};
    made->sources = tmi_alloc(all->count, sizeof *made->sources);
    made->types = tmi_alloc(all->count * (layout->column_count + 1), sizeof *made->types);
    if (!made->sources || !made->types) return tmi_fail_memory(err);
    for (size_t p = 0; p < all->count; p++) {
        tmi_sql_type *types = made->types + p * layout->column_count;
        for (size_t c = 0; c < layout->column_count; c++)
            types[c] = all->sources[p].types[tmi_layout_index(whole, layout->columns[c])];
        made->sources[p] = (tmi_sql_source){&tmi_dialect_postgres,     all->sources[p].table, layout, types,
                                            all->sources[p].units_fit, all->sources[p].rows};
    }
    return TAMIS_OK;
}

static tamis_status take_units(void *context, size_t p, PGresult *result, int row, tamis_error *err)
{
    tmi_unit_counts *counts = context;
    tmi_int128 found[3] = {0};
    (void)p;
    for (int i = 0; i < 3; i++)
        if ((!tmi_pq()->getisnull(result, row, i) && !tmi_int128_read(&found[i], tmi_pq()->getvalue(result, row, i))) ||
            found[i] < 0)
            return tmi_fail(err, TAMIS_SYSTEM, "PostgreSQL returned an answer that cannot be right");
    if (found[0] > TMI_MAX_ROWS - counts->rows) return tmi_fail(err, TAMIS_INVALID, "the source has more than 2^40 rows");
    counts->rows += (int64_t)found[0];
    counts->units += (int64_t)found[1];
    counts->largest = found[2] > counts->largest ? (int64_t)found[2] : counts->largest;
    return TAMIS_OK;
}

tamis_status tmi_postgres_count_units(tmi_unit_counts *counts, const tmi_postgres_parts *parts, const tmi_column *unit,
                                      tmi_postgres *session, const tamis_watch *watch, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    char **queries = tmi_alloc(parts->count, sizeof *queries);
    *counts = (tmi_unit_counts){0};
    if (!queries) return tmi_fail_memory(err);
    for (size_t p = 0; p < parts->count && status == TAMIS_OK; p++) {
        tmi_text sql;
        tmi_text_init(&sql);
        tmi_sql_units(&sql, &parts->sources[p], unit);
        status = tmi_postgres_take_query(&queries[p], &sql, status, err);
    }
    if (status == TAMIS_OK) status = tmi_postgres_ask(session, 0, parts->count, queries, false, take_units, counts, watch, err);
    if (status == TAMIS_OK) {
        tmi_free(session->unit);
        session->unit = tmi_copy_text(unit->name, strlen(unit->name));
        session->largest = counts->largest;
        if (!session->unit) status = tmi_fail_memory(err);
    }
    tmi_postgres_free_queries(queries, parts->count);
    return status;
}

tamis_status tmi_postgres_see_units(tmi_postgres_parts *parts, tmi_postgres *session, const tmi_layout *layout,
                                    const tamis_watch *watch, tamis_error *err)
{
    const tmi_column *unit = layout->request->unit;
    tmi_unit_counts counts;
    tamis_status status = TAMIS_OK;
    if (!unit) return TAMIS_OK;
    if (!session->unit || strcmp(session->unit, unit->name) != 0)
        status = tmi_postgres_count_units(&counts, parts, unit, session, watch, err);
    for (size_t p = 0; p < parts->count && status == TAMIS_OK; p++)
        parts->sources[p].units_fit = session->largest <= layout->request->rows_per_unit;
    return status;
}

/* A server reads at most 1 GB in one query; a longer one ends the connection. */
#define LONGEST_QUESTION (((size_t)1 << 30) - 64)

tamis_status tmi_postgres_take_query(char **query, tmi_text *sql, tamis_status status, tamis_error *err)
{
    if (status == TAMIS_OK && sql->length > LONGEST_QUESTION)
        status = tmi_fail(err, TAMIS_INVALID,
                          "PostgreSQL: the values of the columns make the query longer than 1 GB: use "
                          "fewer or shorter values");
    const tamis_status written = tmi_text_take(query, sql, status == TAMIS_OK ? err : NULL);
    return status == TAMIS_OK ? written : status;
}

tamis_status tmi_postgres_take_plan(void *context, size_t p, PGresult *result, int row, tamis_error *err)
{
    (void)context;
    (void)p;
    (void)result;
    (void)row;
    (void)err;
    return TAMIS_OK;
}
