/* The canonical text of a column, and its code as a search tree in SQL. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "engine/core/sql.h"
#include "engine/postgres/sql.h"

/* ---- canonical texts ---- */

tmi_form tmi_sql_form(tmi_sql_type type)
{
    switch (type) {
    case TMI_SQL_DOUBLE: return TMI_FORM_DOUBLE;
    case TMI_SQL_FLOAT: return TMI_FORM_FLOAT;
    case TMI_SQL_INTEGER:
    case TMI_SQL_NUMERIC: return TMI_FORM_EXACT;
    case TMI_SQL_BOOLEAN: return TMI_FORM_BOOLEAN;
    case TMI_SQL_DATE: return TMI_FORM_DATE;
    case TMI_SQL_UUID: return TMI_FORM_UUID;
    case TMI_SQL_TEXT: return TMI_FORM_TEXT;
    case TMI_SQL_OTHER_TEXT:
    case TMI_SQL_TIME:
    case TMI_SQL_OTHER: break;
    }
    return TMI_FORM_NONE;
}

tmi_class tmi_sql_class(tmi_sql_type type)
{
    return type == TMI_SQL_OTHER_TEXT ? TMI_CLASS_TEXT : type == TMI_SQL_TIME ? TMI_CLASS_DATE : tmi_class_of(tmi_sql_form(type));
}

/* Drops trailing zeros of a fraction. NaN and infinities, which have no scale, become NULL. */
static void put_numeric(tmi_text *sql, const char *x)
{
    tmi_text_format(sql, "CASE WHEN scale(%s) = 0 THEN %s::text WHEN scale(%s) > 0 THEN rtrim(rtrim(%s::text, '0'), '.') END", x,
                    x, x, x);
}

/* Most are integers below 2^63. For others, x = m * 2^(e - 1075) with the bits of m and e: beyond 2^63 that is an integer,
 * below it x = m * 5^k / 10^k with k = 1075 - e (e = 0 counts as 1, without the hidden bit of m). Integer powers of integers
 * are exact in numeric. */
static void put_double(tmi_text *sql, const char *x)
{
    tmi_text e, m; /* the exponent and mantissa in SQL */
    tmi_text_init(&e);
    tmi_text_init(&m);
    tmi_text_format(&e, "(('x' || encode(float8send(%s), 'hex'))::bit(64)::bigint >> 52 & 2047)::int", x);
    tmi_text_format(&m,
                    "((('x' || encode(float8send(%s), 'hex'))::bit(64)::bigint & 4503599627370495) + CASE WHEN %s > 0 THEN "
                    "4503599627370496 ELSE 0 END)::numeric",
                    x, e.failed ? "" : e.bytes);
    sql->failed = sql->failed || e.failed || m.failed;
    if (!sql->failed) {
        tmi_text_format(sql,
                        "CASE WHEN %s = trunc(%s) AND abs(%s) < '9223372036854775808'::float8 THEN %s::bigint::text WHEN "
                        "abs(%s) <= '1.7976931348623157e308'::float8 THEN CASE WHEN %s < 0 THEN '-' ELSE '' END || "
                        "CASE WHEN abs(%s) >= '9223372036854775808'::float8 THEN ",
                        x, x, x, x, x, x, x);
        tmi_text_format(sql, "split_part((%s * '2'::numeric ^ (%s - 1075)::numeric)::text, '.', 1) ELSE ", m.bytes, e.bytes);
        tmi_text_format(sql,
                        "rtrim(rtrim(((%s * '5'::numeric ^ (1075 - greatest(%s, 1))::numeric)::text || 'e-' || (1075 - "
                        "greatest(%s, 1)))::numeric::text, '0'), '.') END END",
                        m.bytes, e.bytes, e.bytes);
    }
    tmi_text_clear(&e);
    tmi_text_clear(&m);
}

void tmi_sql_canonical(tmi_text *sql, const char *name, tmi_sql_type type)
{
    tmi_text quoted;
    tmi_text_init(&quoted);
    tmi_sql_name(&quoted, name);
    if (type == TMI_SQL_FLOAT || type == TMI_SQL_DOUBLE) tmi_text_put(&quoted, "::float8");
    tmi_text_put(sql, "(");
    if (quoted.failed) sql->failed = true;
    else if (type == TMI_SQL_NUMERIC) put_numeric(sql, quoted.bytes);
    else if (type == TMI_SQL_FLOAT || type == TMI_SQL_DOUBLE) put_double(sql, quoted.bytes);
    else tmi_text_format(sql, "%s::text", quoted.bytes);
    tmi_text_put(sql, ")");
    tmi_text_clear(&quoted);
}

/* ---- codes ---- */

typedef struct entry {
    char *text;
    size_t order; /* of two equal texts the first counts */
    int64_t code; /* -1: none */
} entry;

static int compare_entries(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    const int sign = strcmp(x->text, y->text);
    return sign != 0 ? sign : (x->order > y->order) - (x->order < y->order);
}

/* A search tree: the texts in byte order, halved until few are left. */
#define FEW 3

static void put_tree(tmi_text *sql, const char *text, const entry *list, size_t count)
{
    if (count > FEW) {
        tmi_text_format(sql, "CASE WHEN %s < ", text);
        tmi_sql_text(sql, list[count / 2].text);
        tmi_text_put(sql, " THEN ");
        put_tree(sql, text, list, count / 2);
        tmi_text_put(sql, " ELSE ");
        put_tree(sql, text, list + count / 2, count - count / 2);
        tmi_text_put(sql, " END");
        return;
    }
    tmi_text_format(sql, "CASE %s", text);
    for (size_t i = 0; i < count; i++) {
        tmi_text_put(sql, " WHEN ");
        tmi_sql_text(sql, list[i].text);
        if (list[i].code < 0) tmi_text_put(sql, " THEN NULL");
        else tmi_text_format(sql, " THEN %lld", (long long)list[i].code);
    }
    tmi_text_put(sql, " END");
}

/* An entry of the list as it appears in a column of this form. An entry that is not a number never appears in a column of
 * numbers. */
static bool add_entry(entry *list, size_t *count, const char *text, tmi_form form, int64_t code)
{
    tmi_cell cell = tmi_trimmed(text, strlen(text));
    char number[TMI_NUMBER_TEXT];
    if (tmi_form_is_number(form) && cell.length > 0) {
        cell = (tmi_cell){number, tmi_value_text(number, cell, form)};
        if (cell.length == 0) return true;
    }
    list[*count] = (entry){tmi_copy_text(cell.bytes, cell.length), *count, code};
    return list[(*count)++].text != NULL;
}

static void put_code(tmi_text *sql, const entry *list, size_t count, bool trims, int64_t missing, size_t c)
{
    char text[32], trimmed[64];
    snprintf(text, sizeof text, "c%zu", c);
    snprintf(trimmed, sizeof trimmed, "btrim(c%zu, " TMI_SQL_BLANKS ")", c);
    tmi_text_put(sql, ", ");
    if (missing >= 0) tmi_text_format(sql, "CASE WHEN c%zu IS NULL THEN %lld ELSE ", c, (long long)missing);
    if (trims) tmi_text_put(sql, "coalesce(");
    put_tree(sql, text, list, count);
    if (trims) { /* trimming is slow, and few texts have blanks around them, so it is tried last */
        tmi_text_format(sql, ", CASE WHEN c%zu <> %s THEN ", c, trimmed);
        put_tree(sql, trimmed, list, count);
        tmi_text_put(sql, " END)");
    }
    tmi_text_format(sql, "%s AS v%zu", missing >= 0 ? " END" : "", c);
}

tamis_status tmi_sql_code(tmi_text *sql, const tmi_column *column, tmi_form form, size_t c, tamis_error *err)
{
    size_t count = 0, kept = 0;
    const int64_t missing = column->has_instead ? column->instead : -1;
    tamis_status status = TAMIS_OK;
    entry *list = tmi_alloc(column->value_count + column->missing_text_count + 1, sizeof *list);
    bool made = list;
    for (size_t i = 0; made && i < column->missing_text_count; i++)
        made = add_entry(list, &count, column->missing_texts[i], form, missing);
    for (size_t v = 0; made && v < column->value_count; v++) made = add_entry(list, &count, column->values[v], form, (int64_t)v);
    if (!made || !add_entry(list, &count, "", form, missing)) TMI_TRY(tmi_fail_memory(err));
    qsort(list, count, sizeof *list, compare_entries);
    for (size_t i = 0; i < count; i++) {
        const bool again = kept > 0 && strcmp(list[i].text, list[kept - 1].text) == 0;
        if (again && tmi_form_is_number(form)) TMI_TRY(tmi_fail_same_number(column->name, err));
        if (again) continue;
        const entry swapped = list[kept];
        list[kept++] = list[i];
        list[i] = swapped; /* so that each text is freed once */
    }
    put_code(sql, list, kept, form == TMI_FORM_TEXT, missing, c);
done:
    for (size_t i = 0; list && i < count; i++) tmi_free(list[i].text);
    tmi_free(list);
    return status;
}
