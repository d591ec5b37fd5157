/* The columns of a table in PostgreSQL, as its catalogue describes them; comments on columns are their labels. */
#include <string.h>

#include "base/memory.h"
#include "engine/core/header.h"
#include "engine/core/sql.h"
#include "engine/postgres/session.h"

/* By the category that the server gives a type. */
static tmi_header_type type_of(char category)
{
    switch (category) {
    case 'N': return TMI_HEADER_NUMBER;
    case 'S': /* texts */
    case 'E': /* enumerations */
    case 'B': return TMI_HEADER_TEXT;
    case 'D': return TMI_HEADER_DATE;
    default: return TMI_HEADER_OTHER;
    }
}

static tamis_status take_column(void *context, size_t p, PGresult *result, int row, tamis_error *err)
{
    (void)p;
    return tmi_header_add(context, tmi_pq()->getvalue(result, row, 0), tmi_pq()->getvalue(result, row, 1),
                          type_of(tmi_pq()->getvalue(result, row, 2)[0]), err);
}

tamis_status tmi_header_postgres(tmi_header *header, const char *connection, const char *table, tamis_error *err)
{
    const tmi_source source = {.connections = &connection, .connection_count = 1, .table = table};
    tmi_postgres session;
    tmi_text sql;
    char *query = NULL;
    *header = (tmi_header){0};
    tamis_status status = tmi_postgres_init(&session, &source, 1, err);
    if (status != TAMIS_OK) return status;
    tmi_text_init(&sql);
    TMI_TRY(tmi_postgres_open(&session, NULL, err));
    tmi_text_put(&sql, "SELECT a.attname, coalesce(col_description(a.attrelid, a.attnum), ''), t.typcategory FROM pg_attribute "
                       "a JOIN pg_type t "
                       "ON t.oid = a.atttypid WHERE a.attnum > 0 AND NOT a.attisdropped AND a.attrelid = ");
    tmi_sql_text(&sql, session.parts[0].table);
    tmi_text_put(&sql, "::regclass ORDER BY a.attnum");
    TMI_TRY(tmi_text_take(&query, &sql, err));
    TMI_TRY(tmi_postgres_ask(&session, 0, 1, &query, false, take_column, header, NULL, err));
    if (header->count == 0) TMI_TRY(tmi_fail(err, TAMIS_INVALID, "table: %s has no columns", table));

done:
    tmi_free(query);
    tmi_text_clear(&sql);
    tmi_postgres_clear(&session);
    if (status != TAMIS_OK) tmi_header_clear(header);
    return status;
}
