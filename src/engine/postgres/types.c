/* The types of the columns of a table, from the server's catalogue. */
#include <stdio.h>
#include <string.h>

#include "base/words.h"
#include "engine/core/sql.h"
#include "engine/postgres/session.h"

/* The types that every server has; the catalogue is queried for others. */
static bool is_known(tmi_sql_type *type, Oid oid)
{
    static const struct {
        Oid oid;
        tmi_sql_type type;
    } known[] = {
        {16, TMI_SQL_BOOLEAN},      {20, TMI_SQL_INTEGER},   {21, TMI_SQL_INTEGER}, {23, TMI_SQL_INTEGER}, {700, TMI_SQL_FLOAT},
        {701, TMI_SQL_DOUBLE},      {1700, TMI_SQL_NUMERIC}, {18, TMI_SQL_TEXT},    {19, TMI_SQL_TEXT},    {25, TMI_SQL_TEXT},
        {1042, TMI_SQL_OTHER_TEXT}, {1043, TMI_SQL_TEXT},    {1082, TMI_SQL_DATE},  {2950, TMI_SQL_UUID},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].oid == oid) {
            *type = known[i].type;
            return true;
        }
    return false;
}

/* Whether a query about the catalogue returns `true`. */
static tamis_status ask_whether(bool *so, const tmi_postgres *session, size_t p, const tmi_text *sql, tamis_error *err)
{
    *so = false;
    if (sql->failed) return tmi_fail_memory(err);
    PGresult *result = tmi_postgres_query(session, p, sql->bytes);
    const bool answered = PQresultStatus(result) == PGRES_TUPLES_OK;
    tamis_status status = answered ? TAMIS_OK : tmi_postgres_trouble(session, p, result, err);
    *so = answered && PQntuples(result) == 1 && strcmp(PQgetvalue(result, 0, 0), "t") == 0;
    PQclear(result);
    return status;
}

/* A type that not every server has, by its category in the catalogue. Enumerations are compared by name; other texts, such as
 * citext, in their own ways. */
static tamis_status find_category(tmi_sql_type *type, const tmi_postgres *session, size_t p, Oid oid, tamis_error *err)
{
    char sql[96];
    snprintf(sql, sizeof sql, "SELECT typcategory FROM pg_type WHERE oid = %u", oid);
    PGresult *result = tmi_postgres_query(session, p, sql);
    const bool answered = PQresultStatus(result) == PGRES_TUPLES_OK;
    const tamis_status status = answered ? TAMIS_OK : tmi_postgres_trouble(session, p, result, err);
    const char category = answered && PQntuples(result) == 1 ? PQgetvalue(result, 0, 0)[0] : '\0';
    *type = category == 'E'                      ? TMI_SQL_TEXT
            : category == 'S'                    ? TMI_SQL_OTHER_TEXT
            : category == 'D' || category == 'T' ? TMI_SQL_TIME
                                                 : TMI_SQL_OTHER;
    PQclear(result);
    return status;
}

/* Whether two texts of a column are equal only if their bytes are. A column inherits the collation of its domain. */
static tamis_status find_collation(bool *is_deterministic, const tmi_postgres *session, size_t p, const tmi_column *column,
                                   tamis_error *err)
{
    tmi_text sql;
    tmi_text_init(&sql);
    tmi_text_put(&sql, "SELECT coalesce(c.collisdeterministic, true) FROM pg_attribute a LEFT JOIN pg_collation c ON c.oid = "
                       "a.attcollation WHERE a.attrelid = ");
    tmi_sql_text(&sql, session->parts[p].table);
    tmi_text_put(&sql, "::regclass AND a.attname = ");
    tmi_sql_text(&sql, column->name);
    tmi_text_put(&sql, "::name");
    const tamis_status status = ask_whether(is_deterministic, session, p, &sql, err);
    tmi_text_clear(&sql);
    return status;
}

/* The type of a column, from the type that the server reports. */
static tamis_status find_type(tmi_sql_type *type, const tmi_postgres *session, size_t p, Oid oid, const tmi_column *column,
                              tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    bool is_deterministic = true;
    if (!is_known(type, oid)) TMI_TRY(find_category(type, session, p, oid, err));
    if (*type == TMI_SQL_TEXT && column->kind != TMI_NUMBER) TMI_TRY(find_collation(&is_deterministic, session, p, column, err));
    if (!is_deterministic) *type = TMI_SQL_OTHER_TEXT;
done:
    return status;
}

static const char *name_at(const void *names, size_t k) { return PQgetvalue(names, (int)k, 0); }

/* INVALID: there is no such column. The server is asked which there are. */
static tamis_status lacks_column(const tmi_postgres *session, size_t p, const tmi_column *column, tamis_error *err)
{
    char part[TMI_POSTGRES_PART], has[TMI_POSTGRES_PART + 16];
    tmi_text sql;
    tmi_text_init(&sql);
    tmi_text_put(&sql, "SELECT attname FROM pg_attribute WHERE attnum > 0 AND NOT attisdropped AND attrelid = ");
    tmi_sql_text(&sql, session->parts[p].table);
    tmi_text_put(&sql, "::regclass ORDER BY attnum");
    if (sql.failed) {
        tmi_text_clear(&sql);
        return tmi_fail_memory(err);
    }
    PGresult *result = tmi_postgres_query(session, p, sql.bytes);
    const bool answered = PQresultStatus(result) == PGRES_TUPLES_OK;
    tmi_postgres_part_name(part, p);
    snprintf(has, sizeof has, "%s: there is", part);
    const size_t count = answered ? (size_t)PQntuples(result) : 0;
    const tamis_status status = answered ? tmi_fail_column(err, NULL, has, column->name, name_at, result, count)
                                         : tmi_postgres_trouble(session, p, result, err);
    PQclear(result);
    tmi_text_clear(&sql);
    return status;
}

/* Uses a savepoint, because the query fails if the column does not exist. */
static tamis_status type_of(tmi_sql_type *type, const tmi_postgres *session, size_t p, const tmi_column *column, tamis_error *err)
{
    PGresult *result = NULL;
    tamis_status status;
    char part[TMI_POSTGRES_PART];
    tmi_text sql;
    tmi_text_init(&sql);
    tmi_postgres_part_name(part, p);
    const tmi_source_part here = {.name = part};
    TMI_TRY(tmi_postgres_run(session, p, "SAVEPOINT a", err));
    tmi_text_put(&sql, "SELECT t.");
    tmi_sql_name(&sql, column->name);
    tmi_text_format(&sql, " FROM %s t LIMIT 0", session->parts[p].table);
    if (sql.failed) TMI_TRY(tmi_fail_memory(err));
    result = tmi_postgres_query(session, p, sql.bytes);
    const char *code = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const bool answered = PQresultStatus(result) == PGRES_TUPLES_OK;
    TMI_TRY(tmi_postgres_run(session, p, "ROLLBACK TO SAVEPOINT a", err));
    /* The server truncates a name of more than 63 bytes, and then finds another column. */
    if (answered ? strcmp(PQfname(result, 0), column->name) != 0 : code && strcmp(code, "42703") == 0)
        TMI_TRY(lacks_column(session, p, column, err));
    if (!answered && code && strcmp(code, "42501") == 0)
        TMI_TRY(tmi_fail_more(err, TAMIS_INVALID, "%s: this user may not read column %s", part, column->name));
    if (!answered) TMI_TRY(tmi_postgres_trouble(session, p, result, err));
    TMI_TRY(find_type(type, session, p, PQftype(result, 0), column, err)); /* for a domain, its base type */
    if (column->kind == TMI_NUMBER) status = tmi_class_check(tmi_sql_class(*type), &here, column->name, err);
    else if (tmi_sql_form(*type) == TMI_FORM_NONE)
        status = tmi_fail_more(err, TAMIS_INVALID, "%s: column %s " TMI_NO_FORM, part, column->name);
    else if (column->kind == TMI_CATEGORY)
        status = tmi_values_check(column->values, column->value_count, tmi_sql_form(*type), &here, column->name, err);
done:
    PQclear(result);
    tmi_text_clear(&sql);
    return status;
}

tamis_status tmi_postgres_types(tmi_sql_type *types, tmi_postgres *session, size_t p, const tmi_layout *layout, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    for (size_t c = 0; c < layout->column_count; c++) {
        if (!tmi_is_read(layout->columns[c])) continue;
        const tamis_status one = type_of(&types[c], session, p, layout->columns[c], err);
        if (one == TAMIS_SYSTEM) return one;
        if (one != TAMIS_OK) status = one;
    }
    return status;
}
