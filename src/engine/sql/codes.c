/* The canonical text of a column, and its code as a search tree in SQL. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "engine/core/sql.h"
#include "engine/sql/sql.h"

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

void tmi_sql_canonical(tmi_text *sql, const tmi_dialect *dialect, const char *name, tmi_sql_type type)
{
    tmi_text quoted;
    tmi_text_init(&quoted);
    tmi_sql_quote(&quoted, dialect, name);
    tmi_text_put(sql, "(");
    if (quoted.failed) sql->failed = true;
    else dialect->canonical(sql, quoted.bytes, type);
    tmi_text_put(sql, ")");
    tmi_text_clear(&quoted);
}

/* ---- codes ---- */

typedef struct entry {
    char *text;
    double number; /* of the text, where numbers are compared; otherwise 0 */
    size_t order;  /* of two equal texts the first counts */
    int64_t code;  /* -1: none */
} entry;

bool tmi_sql_compares_reals(const tmi_dialect *dialect, tmi_form form)
{
    return dialect->compares_reals && (form == TMI_FORM_DOUBLE || form == TMI_FORM_FLOAT);
}

static int compare_entries(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    const int sign = x->number == y->number ? strcmp(x->text, y->text) : x->number < y->number ? -1 : 1;
    return sign != 0 ? sign : (x->order > y->order) - (x->order < y->order);
}

static void put_entry(tmi_text *sql, const tmi_dialect *dialect, const entry *e, bool reals)
{
    if (reals) tmi_sql_real(sql, dialect, e->number);
    else dialect->text(sql, e->text);
}

/* A search tree: the texts in byte order, or the numbers, halved until few are left. */
#define FEW 3

static void put_tree(tmi_text *sql, const tmi_dialect *dialect, const char *text, const entry *list, size_t count, bool reals)
{
    if (count == 0) {
        tmi_text_put(sql, "NULL");
        return;
    }
    if (count > FEW) {
        tmi_text_format(sql, "CASE WHEN %s < ", text);
        put_entry(sql, dialect, &list[count / 2], reals);
        tmi_text_put(sql, " THEN ");
        put_tree(sql, dialect, text, list, count / 2, reals);
        tmi_text_put(sql, " ELSE ");
        put_tree(sql, dialect, text, list + count / 2, count - count / 2, reals);
        tmi_text_put(sql, " END");
        return;
    }
    tmi_text_format(sql, "CASE %s", text);
    for (size_t i = 0; i < count; i++) {
        tmi_text_put(sql, " WHEN ");
        put_entry(sql, dialect, &list[i], reals);
        if (list[i].code < 0) tmi_text_put(sql, " THEN NULL");
        else tmi_text_format(sql, " THEN %lld", (long long)list[i].code);
    }
    tmi_text_put(sql, " END");
}

/* An entry of the list as it appears in a column of this form. An entry that is not a number never appears in a column of
 * numbers. */
static bool add_entry(entry *list, size_t *count, const char *text, tmi_form form, bool reals, int64_t code)
{
    tmi_cell cell = tmi_trimmed(text, strlen(text));
    char number[TMI_NUMBER_TEXT];
    if (tmi_form_is_number(form) && cell.length > 0) {
        cell = (tmi_cell){number, tmi_value_text(number, cell, form)};
        if (cell.length == 0) return true;
    }
    if (reals && cell.length == 0) return true; /* an empty cell is NULL there */
    list[*count] = (entry){tmi_copy_text(cell.bytes, cell.length), 0, *count, code};
    if (reals && list[*count].text) list[*count].number = tmi_number_in(cell);
    return list[(*count)++].text != NULL;
}

static void put_code(tmi_text *sql, const tmi_dialect *dialect, const entry *list, size_t count, bool trims, bool reals,
                     int64_t missing, size_t c)
{
    char text[32];
    tmi_text trimmed;
    snprintf(text, sizeof text, "c%zu", c);
    tmi_text_init(&trimmed);
    tmi_sql_word(&trimmed, dialect->trim, text);
    tmi_text_put(sql, ", ");
    if (missing >= 0) tmi_text_format(sql, "CASE WHEN c%zu IS NULL THEN %lld ELSE ", c, (long long)missing);
    if (trims) tmi_text_put(sql, "coalesce(");
    put_tree(sql, dialect, text, list, count, reals);
    sql->failed = sql->failed || trimmed.failed;
    if (trims && !sql->failed) { /* trimming is slow, and few texts have blanks around them, so it is tried last */
        tmi_text_format(sql, ", CASE WHEN c%zu <> %s THEN ", c, trimmed.bytes);
        put_tree(sql, dialect, trimmed.bytes, list, count, false);
        tmi_text_put(sql, " END)");
    }
    tmi_text_format(sql, "%s AS v%zu", missing >= 0 ? " END" : "", c);
    tmi_text_clear(&trimmed);
}

tamis_status tmi_sql_code(tmi_text *sql, const tmi_dialect *dialect, const tmi_column *column, tmi_form form, size_t c,
                          tamis_error *err)
{
    size_t count = 0, kept = 0;
    const int64_t missing = column->has_instead ? column->instead : -1;
    const bool reals = tmi_sql_compares_reals(dialect, form);
    tamis_status status = TAMIS_OK;
    entry *list = tmi_alloc(column->value_count + column->missing_text_count + 1, sizeof *list);
    bool made = list;
    for (size_t i = 0; made && i < column->missing_text_count; i++)
        made = add_entry(list, &count, column->missing_texts[i], form, reals, missing);
    for (size_t v = 0; made && v < column->value_count; v++)
        made = add_entry(list, &count, column->values[v], form, reals, (int64_t)v);
    if (!made || !add_entry(list, &count, "", form, reals, missing)) TMI_TRY(tmi_fail_memory(err));
    qsort(list, count, sizeof *list, compare_entries);
    for (size_t i = 0; i < count; i++) {
        const bool again = kept > 0 && strcmp(list[i].text, list[kept - 1].text) == 0;
        if (again && tmi_form_is_number(form)) TMI_TRY(tmi_fail_same_number(column->name, err));
        if (again) continue;
        const entry swapped = list[kept];
        list[kept++] = list[i];
        list[i] = swapped; /* so that each text is freed once */
    }
    put_code(sql, dialect, list, kept, form == TMI_FORM_TEXT, reals, missing, c);
done:
    for (size_t i = 0; list && i < count; i++) tmi_free(list[i].text);
    tmi_free(list);
    return status;
}
