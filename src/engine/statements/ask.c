#include <string.h>

#include "base/memory.h"
#include "base/value/json.h"
#include "base/words.h"
#include "engine/statements/command.h"
#include "engine/statements/statements.h"

tamis_status tmi_sql_ask(tmi_value **rows, const tmi_sql_road *road, const char *sql, const char *what, tamis_error *err)
{
    tamis_reply reply = {0};
    tamis_error own = {0};
    tamis_status status;
    *rows = NULL;
    if (road->run(road->context, &reply, sql, &own) != TAMIS_OK) {
        if (road->client && tmi_client_was_stopped(road->client)) TMI_TRY(tmi_fail_cancelled(err));
        if (road->client)
            TMI_TRY(tmi_fail(err, TAMIS_UNABLE, "%s: the command failed when it was asked for %s: %s", road->dialect->name, what,
                             own.message));
        TMI_TRY(
            tmi_fail(err, TAMIS_UNABLE,
                     "%s: the engine failed when it was asked for %s; its own words are withheld, since they may contain data",
                     road->dialect->name, what));
    }
    if (reply.failed) TMI_TRY(tmi_fail_memory(err));
    status = reply.text ? tmi_json_read(rows, reply.text, strlen(reply.text), &own) : TAMIS_INVALID;
    bool fits = status == TAMIS_OK && tmi_value_kind_of(*rows) == TMI_VALUE_LIST;
    for (const tmi_value *row = tmi_value_first(fits ? *rows : NULL); row; row = tmi_value_next(row))
        fits = fits && tmi_value_kind_of(row) == TMI_VALUE_LIST;
    if (status == TAMIS_INVALID || (status == TAMIS_OK && !fits))
        TMI_TRY(tmi_fail(err, TAMIS_UNABLE, "%s: the answer for %s is not a JSON list of lists", road->dialect->name, what));
    if (status != TAMIS_OK) tmi_fail(err, status, "%s", own.message);
done:
    if (reply.text) tmi_wipe(reply.text, strlen(reply.text));
    tmi_free(reply.text);
    if (status != TAMIS_OK) {
        tmi_value_free(*rows);
        *rows = NULL;
    }
    return status;
}

/* ---- columns ---- */

const tmi_known *tmi_known_find(const tmi_known_columns *known, const char *name)
{
    for (size_t i = 0; i < known->count; i++)
        if (strcmp(known->list[i].name, name) == 0) return &known->list[i];
    return NULL;
}

tamis_status tmi_known_add(tmi_known_columns *known, const char *name, const char *word, tmi_sql_type type, tamis_error *err)
{
    tmi_known *list = tmi_realloc(known->list, known->count + 1, sizeof *list);
    if (!list) return tmi_fail_memory(err);
    known->list = list;
    tmi_known *column = &list[known->count++];
    *column = (tmi_known){.type = type};
    column->name = tmi_copy_text(name, strlen(name));
    column->word = tmi_copy_text(word, strlen(word));
    return column->name && column->word ? TAMIS_OK : tmi_fail_memory(err);
}

void tmi_known_clear(tmi_known_columns *known)
{
    for (size_t i = 0; i < known->count; i++) {
        tmi_free(known->list[i].name);
        tmi_free(known->list[i].word);
    }
    tmi_free(known->list);
    tmi_free(known->version);
    *known = (tmi_known_columns){0};
}

/* Whether a column has this name to the letter: 1 or 0. Spark and DuckDB also find Age where age is asked for. */
static void put_has_name(tmi_text *sql, const tmi_dialect *dialect, const char *name)
{
    tmi_text_format(sql, ", CAST(CASE WHEN");
    for (int quoted = 0; quoted < 2; quoted++) {
        tmi_text item;
        tmi_text_init(&item);
        tmi_text_put(&item, dialect->name_begins);
        if (quoted) tmi_sql_quote(&item, dialect, name);
        else tmi_text_put(&item, name);
        tmi_text_put(&item, dialect->name_ends);
        tmi_text_format(sql, "%s contains(%s, ", quoted ? " OR" : "", dialect->names);
        if (item.failed) sql->failed = true;
        else dialect->text(sql, item.bytes);
        tmi_text_put(sql, ")");
        tmi_text_clear(&item);
    }
    tmi_text_format(sql, " THEN 1 ELSE 0 END AS %s)", dialect->text_type);
}

/* One row of words, whether the table has rows or not: the engine's version; of each column its type, and whether its name is
 * right. */
static tamis_status write_types(char **statement, const tmi_sql_road *road, const char *const *names, size_t count,
                                tamis_error *err)
{
    tmi_text sql, column;
    tmi_text_init(&sql);
    tmi_text_format(&sql, "SELECT CAST(%s AS %s)", road->dialect->version, road->dialect->text_type);
    for (size_t i = 0; i < count && !sql.failed; i++) {
        tmi_text_init(&column);
        tmi_text_put(&column, "tamis_t.");
        tmi_sql_quote(&column, road->dialect, names[i]);
        tmi_text_put(&sql, ", ");
        if (column.failed) sql.failed = true;
        else tmi_sql_word(&sql, road->dialect->type_of, column.bytes);
        tmi_text_clear(&column);
        if (road->dialect->names) put_has_name(&sql, road->dialect, names[i]);
    }
    tmi_text_format(&sql, " FROM (SELECT 1 AS one) o LEFT JOIN (SELECT * FROM %s WHERE 1 = 0) tamis_t ON 1 = 1", road->table);
    return tmi_text_take(statement, &sql, err);
}

/* A type is a word of the engine, which is written into statements again: nothing but what types are made of. */
static bool is_type(const char *word)
{
    return strlen(word) < 64 && word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_(), ")] == '\0';
}

/* Printing characters of ASCII, as many as a certificate has room for. */
#define LONGEST_VERSION 200

static const char *word_of(const tmi_value *cell)
{
    return tmi_value_kind_of(cell) == TMI_VALUE_TEXT ? tmi_value_string(cell) : "";
}

static bool is_one(const tmi_value *cell)
{
    return tmi_value_kind_of(cell) == TMI_VALUE_INTEGER ? tmi_value_integer(cell) == 1 : strcmp(word_of(cell), "1") == 0;
}

static tamis_status keep_version(tmi_known_columns *known, const tmi_value *cell, tamis_error *err)
{
    const char *said = word_of(cell);
    const size_t length = strlen(said);
    known->version = tmi_copy_text(said, length < LONGEST_VERSION ? length : LONGEST_VERSION);
    for (char *c = known->version; c && *c; c++)
        if (*c < ' ' || *c > '~') *c = '?';
    return known->version ? TAMIS_OK : tmi_fail_memory(err);
}

static tamis_status ask_types(tmi_known_columns *known, const tmi_sql_road *road, const char *const *names, size_t count,
                              tamis_error *err)
{
    char *statement = NULL;
    tmi_value *rows = NULL;
    tamis_status status, wrong = TAMIS_OK;
    TMI_TRY(write_types(&statement, road, names, count, err));
    TMI_TRY(tmi_sql_ask(&rows, road, statement, count > 0 ? "the types of columns" : "the table", err));
    const tmi_value *row = tmi_value_first(rows);
    const size_t width = road->dialect->names ? 2 : 1;
    if (!row || tmi_value_next(row) || tmi_value_size(row) != count * width + 1)
        TMI_TRY(tmi_fail(err, TAMIS_UNABLE, "%s: the answer for the types of columns cannot be right", road->dialect->name));
    if (!known->version) TMI_TRY(keep_version(known, tmi_value_at(row, 0), err));
    for (size_t i = 0; i < count; i++) {
        const char *word = word_of(tmi_value_at(row, width * i + 1));
        const tmi_sql_type type = road->dialect->type(word);
        if (width == 2 && !is_one(tmi_value_at(row, width * i + 2)))
            wrong = tmi_fail_more(
                err, TAMIS_INVALID,
                "%s: there is no column %s, only one whose name has other capital and small letters: write it as the "
                "table does",
                road->dialect->name, names[i]);
        else TMI_TRY(tmi_known_add(known, names[i], is_type(word) ? word : "", type, err));
    }
    status = wrong;
done:
    tmi_value_free(rows);
    tmi_free(statement);
    return status;
}

/* Whether the table can be read at all. If not, no column is to blame: the table is not there, or the engine does not answer. */
static tamis_status ask_table(const tmi_sql_road *road, tamis_error *err)
{
    tmi_known_columns none = {0};
    tamis_error own = {0};
    tamis_status status = ask_types(&none, road, NULL, 0, &own);
    tmi_known_clear(&none);
    if (status == TAMIS_OK || status == TAMIS_SYSTEM) return status == TAMIS_OK ? TAMIS_OK : tmi_fail_as(err, &own);
    return tmi_fail(err, TAMIS_INVALID, "%s", own.message);
}

/* In one statement; if that fails, one by one, to find the column that cannot be read. */
static tamis_status learn_types(tmi_known_columns *known, const tmi_sql_road *road, const char *const *names, size_t count,
                                tamis_error *err)
{
    const size_t before = known->count;
    tamis_status status = ask_types(known, road, names, count, err);
    bool some = false;
    if (status == TAMIS_UNABLE) {
        tamis_status table = ask_table(road, err);
        if (table != TAMIS_OK) return table;
    }
    for (size_t i = 0; status == TAMIS_UNABLE && known->count == before && i < count; i++) {
        tmi_known_columns one = {0};
        tamis_error own = {0};
        const tamis_status alone = ask_types(&one, road, &names[i], 1, &own);
        if (alone == TAMIS_SYSTEM) {
            tmi_known_clear(&one);
            return tmi_fail_as(err, &own);
        }
        if (alone != TAMIS_OK) {
            if (!some) tmi_error_reset(err);
            some = true;
            tmi_fail_more(err, TAMIS_INVALID, "%s: column %s cannot be read from the table, is not there, or is there twice",
                          road->dialect->name, names[i]);
        }
        tmi_known_clear(&one);
    }
    return some ? TAMIS_INVALID : status;
}

/* Spark replaces ${...} wherever it is, also in names. */
static tamis_status check_name(const char *name, tamis_error *err)
{
    if (!strstr(name, "${")) return TAMIS_OK;
    return tmi_fail_more(err, TAMIS_INVALID,
                         "column %s: a name with ${ cannot be asked for in SQL: rename it, for example in a view", name);
}

static tamis_status check_column(const tmi_known *known, const tmi_dialect *dialect, const tmi_column *column, tamis_error *err)
{
    const tmi_source_part here = {0};
    const tmi_form form = tmi_sql_form(known->type);
    if (column->kind == TMI_NUMBER) return tmi_class_check(tmi_sql_class(known->type), &here, column->name, err);
    if (form == TMI_FORM_NONE) return tmi_fail_more(err, TAMIS_INVALID, "column %s " TMI_NO_FORM, column->name);
    if (column->kind == TMI_CATEGORY)
        return tmi_values_check(column->values, column->value_count, form, &here, column->name, err);
    if (!dialect->has_real_texts && (form == TMI_FORM_DOUBLE || form == TMI_FORM_FLOAT))
        return tmi_fail_more(
            err, TAMIS_INVALID,
            "column %s: ids, strata and clusters cannot be floating-point numbers in %s, which has no exact text "
            "for them: convert it to an integer or a text, for example in a view",
            column->name, dialect->name);
    return TAMIS_OK;
}

tamis_status tmi_known_learn(tmi_known_columns *known, const tmi_sql_road *road, const tmi_layout *layout, tamis_error *err)
{
    size_t count = 0;
    tamis_status status = TAMIS_OK;
    const char **names = tmi_alloc(layout->column_count, sizeof *names);
    if (!names) return tmi_fail_memory(err);
    tmi_error_reset(err);
    for (size_t c = 0; c < layout->column_count; c++) {
        const char *name = layout->columns[c]->name;
        size_t i = 0;
        if (!tmi_is_read(layout->columns[c]) || tmi_known_find(known, name)) continue;
        if (check_name(name, err) != TAMIS_OK) status = TAMIS_INVALID;
        while (i < count && strcmp(names[i], name) != 0) i++;
        if (i == count) names[count++] = name;
    }
    if (status == TAMIS_OK && count > 0) status = learn_types(known, road, names, count, err);
    for (size_t c = 0; c < layout->column_count && (status == TAMIS_OK || status == TAMIS_INVALID); c++) {
        const tmi_known *column = tmi_is_read(layout->columns[c]) ? tmi_known_find(known, layout->columns[c]->name) : NULL;
        if (!column) continue;
        const tamis_status one = check_column(column, road->dialect, layout->columns[c], err);
        if (one != TAMIS_OK) status = one;
    }
    tmi_free(names);
    return status;
}
