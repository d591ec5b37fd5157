/* The code of a text: a search tree in SQL. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "engine/postgres_sql.h"
#include "engine/sql.h"

typedef struct entry {
    tmi_cell text;
    size_t order; /* of two equal texts the first counts */
    int64_t code; /* -1: none */
} entry;

static int compare_texts(tmi_cell a, tmi_cell b)
{
    const int sign = memcmp(a.bytes, b.bytes, a.length < b.length ? a.length : b.length);
    return sign != 0 ? sign : (a.length > b.length) - (a.length < b.length);
}

static int compare_entries(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    const int sign = compare_texts(x->text, y->text);
    return sign != 0 ? sign : (x->order > y->order) - (x->order < y->order);
}

static void put_entry_text(tmi_text *sql, const entry *e)
{
    char *copy = tmi_copy_text(e->text.bytes, e->text.length);
    if (copy) tmi_sql_text(sql, copy);
    sql->failed = sql->failed || !copy;
    tmi_free(copy);
}

/* A search tree: the texts in the order of their bytes, halved until few are left. */
#define FEW 3

static void put_tree(tmi_text *sql, const char *text, const entry *list, size_t count)
{
    if (count > FEW) {
        tmi_text_format(sql, "CASE WHEN %s < ", text);
        put_entry_text(sql, &list[count / 2]);
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
        put_entry_text(sql, &list[i]);
        if (list[i].code < 0)
            tmi_text_put(sql, " THEN NULL");
        else
            tmi_text_format(sql, " THEN %lld", (long long)list[i].code);
    }
    tmi_text_put(sql, " END");
}

tamis_status tmi_sql_code(tmi_text *sql, const tmi_column *column, size_t c, tamis_error *err)
{
    size_t count = 0, kept = 0;
    const int64_t missing = column->has_instead ? column->instead : -1;
    entry *list = tmi_alloc(column->value_count + column->missing_text_count + 1, sizeof *list);
    if (!list) return tmi_fail_memory(err);
    for (size_t i = 0; i < column->missing_text_count; i++, count++)
        list[count] = (entry){tmi_trimmed(column->missing_texts[i], strlen(column->missing_texts[i])), count, missing};
    for (size_t v = 0; v < column->value_count; v++, count++)
        list[count] = (entry){tmi_trimmed(column->values[v], strlen(column->values[v])), count, (int64_t)v};
    list[count] = (entry){{"", 0}, count, missing};
    count++;
    qsort(list, count, sizeof *list, compare_entries);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || compare_texts(list[i].text, list[kept - 1].text) != 0) list[kept++] = list[i];
    tmi_text_put(sql, ", ");
    if (missing >= 0) tmi_text_format(sql, "CASE WHEN c%zu IS NULL THEN %lld ELSE ", c, (long long)missing);
    /* Trimming is slow, and few texts have blanks around them: it is tried last. */
    char text[32], trimmed[64];
    snprintf(text, sizeof text, "c%zu", c);
    snprintf(trimmed, sizeof trimmed, "btrim(c%zu, " TMI_SQL_BLANKS ")", c);
    tmi_text_put(sql, "coalesce(");
    put_tree(sql, text, list, kept);
    tmi_text_format(sql, ", CASE WHEN c%zu <> %s THEN ", c, trimmed);
    put_tree(sql, trimmed, list, kept);
    tmi_text_put(sql, missing >= 0 ? " END) END" : " END)");
    tmi_text_format(sql, " AS v%zu", c);
    tmi_free(list);
    return TAMIS_OK;
}
