#include "engine/sql/sql.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/sha256.h"
#include "engine/core/sql.h"

/* ---- steps ---- */

/* A chain of steps while it is written. Each step names the columns that a later one needs, each in one form: a server accepts
 * at most TMI_SQL_ENTRIES names in one SELECT. */
typedef struct chain {
    tmi_text *sql;
    const tmi_sql_source *source;
    const tmi_dialect *dialect;
    char *form;       /* the letter of each column in the last step; 0: not in it */
    size_t step;      /* the last one */
    const bool *late; /* categories that keep their texts; NULL: none */
    size_t *depths;   /* how many steps of made columns each column needs */
    size_t depth;     /* of the made columns that the step computes */
} chain;

typedef bool changes(const chain *k, size_t c);

static void end_chain(chain *k)
{
    tmi_free(k->form);
    tmi_free(k->depths);
}

/* In the layout a column comes after those that it is made of. */
static tamis_status begin_chain(chain *k, tmi_text *sql, const tmi_sql_source *source, tamis_error *err)
{
    const tmi_layout *layout = source->layout;
    *k = (chain){.sql = sql, .source = source, .dialect = source->dialect};
    k->form = tmi_alloc(layout->column_count, 1);
    k->depths = tmi_alloc(layout->column_count, sizeof *k->depths);
    if (!k->form || !k->depths) return tmi_fail_memory(err);
    for (size_t c = 0; c < layout->column_count; c++) {
        const tmi_column *column = layout->columns[c], *part;
        if (tmi_is_given(column) || tmi_is_read(column)) continue;
        k->depths[c] = 1;
        for (size_t i = 0; (part = tmi_column_part(column, i)); i++) {
            const size_t depth = k->depths[tmi_layout_index(layout, part)] + 1;
            if (depth > k->depths[c]) k->depths[c] = depth;
        }
    }
    return TAMIS_OK;
}

/* Begins a step that gives some columns another form (NULL: none) and passes on all others unchanged. */
static void begin_step(chain *k, changes *changed, char form)
{
    tmi_text_format(k->sql, ", s%zu%sSELECT one", ++k->step, k->dialect->step);
    for (size_t c = 0; c < k->source->layout->column_count; c++) {
        if (changed && changed(k, c)) k->form[c] = form;
        else if (k->form[c]) tmi_text_format(k->sql, ", %c%zu", k->form[c], c);
    }
}

/* Passes on all columns unchanged, after SELECT one. */
static void put_columns(const chain *k)
{
    for (size_t c = 0; c < k->source->layout->column_count; c++)
        if (k->form[c]) tmi_text_format(k->sql, ", %c%zu", k->form[c], c);
}

static void end_step(chain *k) { tmi_text_format(k->sql, " FROM s%zu%s)", k->step - 1, k->dialect->barrier); }

/* ---- cells ---- */

/* A number that is not yet the nearest double. */
static bool is_exact_number(const chain *k, size_t c)
{
    return k->source->layout->columns[c]->kind == TMI_NUMBER && k->source->types[c] == TMI_SQL_NUMERIC;
}

/* A single-precision real is a missing code if it is the code rounded to single precision: 99.9 is 99.90000152..., not the
 * code itself. */
static void put_real(tmi_text *sql, const tmi_dialect *dialect, const char *x, const tmi_column *column)
{
    const char *comma = "";
    tmi_text_put(sql, "CASE WHEN ");
    if (!dialect->has_any) tmi_text_put(sql, "false");
    else tmi_sql_word(sql, dialect->as_real, x);
    if (dialect->has_any) tmi_text_put(sql, " = ANY ");
    if (dialect->has_any) tmi_sql_before(sql, dialect->real_list);
    for (size_t i = 0; i < column->missing_code_count; i++) {
        const double code = column->missing_codes[i];
        if (!(fabs(code) <= (double)FLT_MAX)) continue;
        if (dialect->has_any) {
            tmi_text_format(sql, "%s%.17g", comma, (double)(float)code);
        } else {
            tmi_text_put(sql, " OR ");
            tmi_sql_word(sql, dialect->as_real, x);
            tmi_text_put(sql, " = ");
            tmi_sql_real(sql, dialect, (double)(float)code);
        }
        comma = ",";
    }
    if (dialect->has_any) tmi_sql_after(sql, dialect->real_list);
    tmi_text_put(sql, " THEN NULL ELSE ");
    tmi_sql_word(sql, dialect->as_real, x);
    tmi_text_put(sql, " END");
}

static void put_number(tmi_text *sql, const tmi_dialect *dialect, const tmi_column *column, tmi_sql_type type)
{
    tmi_text x;
    tmi_text_init(&x);
    tmi_sql_quote(&x, dialect, column->name);
    if (x.failed) sql->failed = true;
    else if (type == TMI_SQL_FLOAT) put_real(sql, dialect, x.bytes, column);
    else tmi_sql_word(sql, type == TMI_SQL_INTEGER ? dialect->as_real : "$", x.bytes);
    tmi_text_clear(&x);
}

/* A category of doubles as a double, missing where it is not finite. */
static void put_finite(tmi_text *sql, const tmi_dialect *dialect, const char *name)
{
    tmi_text quoted, x;
    tmi_text_init(&quoted);
    tmi_text_init(&x);
    tmi_sql_quote(&quoted, dialect, name);
    if (!quoted.failed) tmi_sql_word(&x, dialect->as_real, quoted.bytes);
    if (quoted.failed || x.failed) {
        sql->failed = true;
    } else {
        tmi_text_format(sql, "CASE WHEN abs(%s) <= ", x.bytes);
        tmi_sql_real(sql, dialect, DBL_MAX);
        tmi_text_format(sql, " THEN %s END", x.bytes);
    }
    tmi_text_clear(&x);
    tmi_text_clear(&quoted);
}

/* Returns the letter of its form. */
static char put_cell(tmi_text *sql, const tmi_dialect *dialect, const tmi_column *column, tmi_sql_type type, size_t c)
{
    if (column->kind == TMI_NUMBER) {
        const char form = type == TMI_SQL_NUMERIC ? 'n' : 'f';
        put_number(sql, dialect, column, type);
        tmi_text_format(sql, " AS %c%zu, ", form, c);
        return form;
    }
    const bool is_category = column->kind == TMI_CATEGORY, trims = type == TMI_SQL_TEXT && !is_category;
    if (is_category && tmi_sql_compares_reals(dialect, tmi_sql_form(type))) {
        put_finite(sql, dialect, column->name);
        tmi_text_format(sql, " AS c%zu, ", c);
        return 'c';
    }
    const char *trim = dialect->label ? dialect->label : dialect->trim;
    if (trims) tmi_sql_before(sql, trim);
    tmi_sql_canonical(sql, dialect, column->name, type);
    if (trims) tmi_sql_after(sql, trim);
    tmi_text_format(sql, "%s AS %c%zu, ", dialect->binary, is_category ? 'c' : 't', c);
    return is_category ? 'c' : 't';
}

static void put_numerics(chain *k)
{
    begin_step(k, is_exact_number, 'f');
    for (size_t c = 0; c < k->source->layout->column_count; c++) {
        char x[32];
        if (!is_exact_number(k, c)) continue;
        snprintf(x, sizeof x, "n%zu", c);
        tmi_text_put(k->sql, ", ");
        tmi_sql_word(k->sql, k->dialect->numeric_as_real, x);
        tmi_text_format(k->sql, " AS f%zu", c);
    }
    end_step(k);
}

/* The steps up to the texts (t of labels, c of categories) and numbers (f) of the columns that are read. */
static void put_cells(chain *k)
{
    const tmi_layout *layout = k->source->layout;
    bool exact = false, trimmed = false;
    tmi_text_format(k->sql, "WITH s0%sSELECT ", k->dialect->step);
    for (size_t c = 0; c < layout->column_count; c++) {
        if (!tmi_is_read(layout->columns[c])) continue;
        k->form[c] = put_cell(k->sql, k->dialect, layout->columns[c], k->source->types[c], c);
        exact = exact || is_exact_number(k, c);
        trimmed = trimmed || layout->columns[c]->kind == TMI_LABEL;
    }
    tmi_text_format(k->sql, "1 AS one FROM %s%s)", k->source->table, trimmed ? k->dialect->barrier : "");
    if (exact) put_numerics(k);
}

/* ---- codes ---- */

/* For the categories that are `late`, or for those that are not (all, if it is NULL). */
static tamis_status put_codes(tmi_text *sql, const tmi_sql_source *source, const bool *late, bool are_late, tamis_error *err)
{
    const tmi_layout *layout = source->layout;
    tamis_status status = TAMIS_OK;
    for (size_t c = 0; status == TAMIS_OK && c < layout->column_count; c++)
        if (layout->columns[c]->kind == TMI_CATEGORY && (late && late[c]) == are_late)
            status = tmi_sql_code(sql, source->dialect, layout->columns[c], tmi_sql_form(source->types[c]), c, err);
    return status;
}

static bool is_category(const chain *k, size_t c) { return k->source->layout->columns[c]->kind == TMI_CATEGORY; }

/* ---- joint codes ---- */

static size_t joint_depth(const tmi_column *column)
{
    if (column->kind != TMI_JOINT) return 0;
    const size_t of = joint_depth(column->of), second = joint_depth(column->second);
    return 1 + (of > second ? of : second);
}

static bool is_joint_at_depth(const chain *k, size_t c) { return joint_depth(k->source->layout->columns[c]) == k->depth; }

static void put_list(tmi_text *sql, const tmi_dialect *dialect, const void *list, size_t count, bool is_long);

/* -1 is NULL, and so is an element at NULL. */
static void put_joint(tmi_text *sql, const tmi_dialect *dialect, const tmi_layout *layout, size_t c)
{
    const tmi_column *column = layout->columns[c];
    char pair[96];
    snprintf(pair, sizeof pair, "(v%zu * %zu + v%zu)", tmi_layout_index(layout, column->of), column->second->value_count,
             tmi_layout_index(layout, column->second));
    tmi_text_put(sql, ", nullif(");
    tmi_text_put(sql, dialect->element);
    put_list(sql, dialect, column->classes, column->of->value_count * column->second->value_count, false);
    tmi_sql_word(sql, dialect->at_code, pair);
    tmi_text_format(sql, ", -1) AS v%zu", c);
}

/* The steps of joint columns, each after those that they are joined from. */
static void put_joints(chain *k)
{
    const tmi_layout *layout = k->source->layout;
    size_t depth = 0;
    for (size_t c = 0; c < layout->column_count; c++) {
        const size_t own = joint_depth(layout->columns[c]);
        depth = own > depth ? own : depth;
    }
    for (k->depth = 1; k->depth <= depth; k->depth++) {
        begin_step(k, is_joint_at_depth, 'v');
        for (size_t c = 0; c < layout->column_count; c++)
            if (is_joint_at_depth(k, c)) put_joint(k->sql, k->dialect, layout, c);
        end_step(k);
    }
    k->depth = 0;
}

tamis_status tmi_sql_codes(size_t *step, tmi_text *sql, const tmi_sql_source *source, tamis_error *err)
{
    chain k;
    tamis_status status;
    TMI_TRY(begin_chain(&k, sql, source, err));
    put_cells(&k);
    begin_step(&k, is_category, 'v');
    TMI_TRY(put_codes(sql, source, NULL, false, err));
    end_step(&k);
    put_joints(&k);
    *step = k.step;
done:
    end_chain(&k);
    return status;
}

/* ---- groups, units, made columns ---- */

/* One list may have a number for each unit, so its digits are not written by printf. */
static void put_digits(tmi_text *sql, int64_t value)
{
    char digits[24], *at = digits + sizeof digits;
    uint64_t left = value < 0 ? -(uint64_t)value : (uint64_t)value;
    *--at = '\0';
    do *--at = (char)('0' + left % 10);
    while ((left /= 10) > 0);
    if (value < 0) *--at = '-';
    tmi_text_put(sql, at);
}

static void put_numbers(tmi_text *sql, const void *list, size_t count, bool is_long)
{
    for (size_t i = 0; i < count; i++) {
        tmi_text_put(sql, i > 0 ? "," : "");
        put_digits(sql, is_long ? ((const int64_t *)list)[i] : ((const int32_t *)list)[i]);
    }
}

static void put_list(tmi_text *sql, const tmi_dialect *dialect, const void *list, size_t count, bool is_long)
{
    tmi_sql_before(sql, is_long ? dialect->list : dialect->small_list);
    put_numbers(sql, list, count, is_long);
    tmi_sql_after(sql, is_long ? dialect->list : dialect->small_list);
}

/* Whether the ranks of a column's labels come from ordering all rows rather than their distinct labels, which are then joined
 * to the rows. That is faster where few rows share a label; and possible for the labels of units, since a row without one
 * does not count. */
#define FEW_ROWS 8

static bool has_ordered_rows(const tmi_sql_source *source, size_t c)
{
    const tmi_column *column = source->layout->columns[c];
    int64_t labels = 0;
    if (column->kind != TMI_GROUPS || column->of != source->layout->request->unit || source->rows == 0) return false;
    for (size_t s = 0; s < (column->stratum ? column->stratum->value_count : 1); s++) labels += column->cluster_counts[s];
    return labels > source->rows / FEW_ROWS;
}

/* The rows of a step with the ranks r of their labels. */
static void put_ordered_rows(tmi_text *sql, const tmi_sql_source *source, size_t step)
{
    const tmi_layout *layout = source->layout;
    bool some = false;
    for (size_t c = 0; c < layout->column_count; c++) some = some || has_ordered_rows(source, c);
    if (!some) {
        tmi_text_format(sql, " FROM s%zu", step);
        return;
    }
    const size_t unit = tmi_layout_index(layout, layout->request->unit);
    tmi_text_format(sql, " FROM (SELECT s%zu.*", step);
    for (size_t c = 0; c < layout->column_count; c++) {
        if (!has_ordered_rows(source, c)) continue;
        tmi_text_put(sql, ", dense_rank() OVER (");
        if (layout->columns[c]->stratum)
            tmi_text_format(sql, "PARTITION BY v%zu ", tmi_layout_index(layout, layout->columns[c]->stratum));
        tmi_text_format(sql, "ORDER BY t%zu) AS r%zu", unit, c);
    }
    tmi_text_format(sql, " FROM s%zu WHERE t%zu <> '') ordered", step, unit);
}

/* The ranks r of the distinct labels of the strata, for a join: only these are ordered, not the rows. */
static void put_ranks(tmi_text *sql, const tmi_layout *layout, size_t c, size_t step)
{
    const tmi_column *column = layout->columns[c];
    const size_t label = tmi_layout_index(layout, column->of);
    char stratum[32] = "0"; /* of a row in a stratum */
    if (column->stratum) snprintf(stratum, sizeof stratum, "v%zu", tmi_layout_index(layout, column->stratum));
    tmi_text_format(sql, " LEFT JOIN (SELECT l%zu, h%zu, row_number() OVER (PARTITION BY h%zu ORDER BY l%zu) AS r%zu", c, c, c, c,
                    c);
    tmi_text_format(sql, " FROM (SELECT DISTINCT t%zu AS l%zu, %s AS h%zu FROM s%zu WHERE t%zu <> '' AND %s IS NOT NULL) d%zu)",
                    label, c, stratum, c, step, label, stratum, c);
    tmi_text_format(sql, " g%zu ON l%zu = t%zu", c, c, label);
    if (column->stratum) tmi_text_format(sql, " AND h%zu = %s", c, stratum);
}

static void put_groups(tmi_text *sql, const tmi_dialect *dialect, const tmi_layout *layout, size_t c)
{
    const tmi_column *column = layout->columns[c];
    const size_t label = tmi_layout_index(layout, column->of);
    const size_t stratum = column->stratum ? tmi_layout_index(layout, column->stratum) : 0;
    char rank[48];
    snprintf(rank, sizeof rank, "r%zu", c);
    tmi_text_format(sql, ", CASE WHEN t%zu <> '' THEN ", label);
    if (column->stratum) tmi_text_format(sql, "CASE v%zu", stratum);
    for (size_t s = 0; s < (column->stratum ? column->stratum->value_count : 1); s++) {
        if (column->stratum) tmi_text_format(sql, " WHEN %zu THEN ", s);
        tmi_text_put(sql, dialect->element);
        put_list(sql, dialect, column->cell_of[s], column->cluster_counts[s] > 0 ? (size_t)column->cluster_counts[s] : 0, false);
        tmi_sql_word(sql, dialect->at_rank, rank);
    }
    tmi_text_format(sql, "%s END AS v%zu", column->stratum ? " END" : "", c);
}

static void put_digest(tmi_text *sql, const tmi_dialect *dialect, size_t c)
{
    char text[32];
    snprintf(text, sizeof text, "t%zu", c);
    tmi_sql_word(sql, dialect->digest, text);
}

static void put_scatter(tmi_text *sql, const tmi_dialect *dialect, const tmi_layout *layout, size_t c)
{
    const tmi_column *column = layout->columns[c];
    char key[2 * TMI_KEY_BYTES + 1];
    tmi_hex(key, column->key, TMI_KEY_BYTES);
    tmi_text_put(sql, ", ");
    tmi_sql_before(sql, dialect->first_byte);
    tmi_sql_word(sql, dialect->bytes_of_hex, key);
    tmi_text_put(sql, dialect->bytes_and);
    tmi_wipe(key, sizeof key);
    if (column->stratum) {
        put_digest(sql, dialect, tmi_layout_index(layout, column->stratum));
        tmi_text_put(sql, dialect->bytes_and);
    }
    put_digest(sql, dialect, tmi_layout_index(layout, column->of));
    tmi_sql_after(sql, dialect->first_byte);
    tmi_text_format(sql, " %% %zu AS v%zu", column->value_count, c);
}

static void put_condition(tmi_text *sql, const tmi_dialect *dialect, const tmi_layout *layout, const tmi_condition *condition)
{
    const size_t c = tmi_layout_index(layout, condition->column);
    if (tmi_has_points(condition->column)) {
        tmi_text_format(sql, "v%zu BETWEEN ", c);
        tmi_sql_integer(sql, dialect, condition->least);
        tmi_text_put(sql, " AND ");
        tmi_sql_integer(sql, dialect, condition->most);
    } else { /* ANY of an empty list is false even for NULL */
        tmi_text_format(sql, "CASE WHEN v%zu IS NOT NULL THEN ", c);
        if (dialect->has_any) {
            tmi_text_format(sql, "v%zu = ANY ", c);
            put_list(sql, dialect, condition->codes, condition->code_count, false);
        } else if (condition->code_count == 0) {
            tmi_text_put(sql, "false");
        } else {
            tmi_text_format(sql, "v%zu IN (", c);
            put_numbers(sql, condition->codes, condition->code_count, false);
            tmi_text_put(sql, ")");
        }
        tmi_text_put(sql, " END");
    }
}

/* -1 is NULL. An array without NULL is read in constant time, one with NULL from its beginning. */
static void put_class(tmi_text *sql, const tmi_dialect *dialect, const tmi_column *column, size_t of)
{
    const size_t count = tmi_class_count(column);
    bool some_missing = false;
    for (size_t v = 0; v < count; v++) some_missing = some_missing || column->classes[v] < 0;
    tmi_text_format(sql, "CASE WHEN v%zu IS NOT NULL THEN %s", of, some_missing ? "nullif(" : "");
    if (tmi_has_points(column->of)) {
        char class[16];
        snprintf(class, sizeof class, "%d", (int)column->classes[0]);
        tmi_sql_word(sql, dialect->small_integer, class);
    } else {
        char code[32];
        snprintf(code, sizeof code, "v%zu", of);
        tmi_text_put(sql, dialect->element);
        put_list(sql, dialect, column->classes, count, false);
        tmi_sql_word(sql, dialect->at_code, code);
    }
    if (some_missing) tmi_text_put(sql, ", -1)");
    if (column->has_instead) tmi_text_format(sql, " ELSE %lld", (long long)column->instead);
    tmi_text_put(sql, " END");
}

/* How many of the cuts from `first` on are at most v, and `first`: halved until none is left. */
static void put_cut_tree(tmi_text *sql, const tmi_dialect *dialect, const int64_t *cuts, size_t first, size_t count, size_t of)
{
    if (count == 0) {
        tmi_sql_integer(sql, dialect, (int64_t)first);
        return;
    }
    tmi_text_format(sql, "CASE WHEN v%zu < ", of);
    tmi_sql_integer(sql, dialect, cuts[first + count / 2]);
    tmi_text_put(sql, " THEN ");
    put_cut_tree(sql, dialect, cuts, first, count / 2, of);
    tmi_text_put(sql, " ELSE ");
    put_cut_tree(sql, dialect, cuts, first + count / 2 + 1, count - count / 2 - 1, of);
    tmi_text_put(sql, " END");
}

static void put_cuts(tmi_text *sql, const tmi_dialect *dialect, const tmi_column *column, size_t of)
{
    if (!dialect->buckets) {
        tmi_text_format(sql, "CASE WHEN v%zu IS NOT NULL THEN ", of);
        put_cut_tree(sql, dialect, column->cuts, 0, column->value_count - 1, of);
        tmi_text_put(sql, " END");
        return;
    }
    tmi_text_format(sql, "%sv%zu, ", dialect->buckets, of);
    put_list(sql, dialect, column->cuts, column->value_count - 1, true);
    tmi_text_put(sql, ")");
}

static void put_made(tmi_text *sql, const tmi_dialect *dialect, const tmi_layout *layout, size_t c)
{
    const tmi_column *column = layout->columns[c];
    const size_t of = column->of ? tmi_layout_index(layout, column->of) : 0;
    tmi_text_put(sql, ", ");
    if (column->kind == TMI_CUTS) {
        put_cuts(sql, dialect, column, of);
    } else if (column->kind == TMI_LOOKUP) {
        char code[32];
        snprintf(code, sizeof code, "v%zu", of);
        tmi_text_put(sql, dialect->element);
        put_list(sql, dialect, column->numbers, column->of->value_count, true);
        tmi_sql_word(sql, dialect->at_code, code);
    } else if (column->kind == TMI_CLASSES) {
        put_class(sql, dialect, column, of);
    } else if (column->kind == TMI_PRODUCT) {
        tmi_sql_product(sql, dialect, layout, c);
    } else if (column->kind == TMI_DIFFERENCE) {
        tmi_text_format(sql, "v%zu - v%zu", of, tmi_layout_index(layout, column->second));
    } else { /* AND follows the logic of engine.h: false if one is false, else NULL if one is NULL */
        tmi_sql_before(sql, dialect->truth);
        tmi_text_put(sql, "(true");
        for (size_t i = 0; i < column->condition_count; i++) {
            tmi_text_put(sql, " AND (");
            put_condition(sql, dialect, layout, &column->conditions[i]);
            tmi_text_put(sql, ")");
        }
        tmi_text_put(sql, ")");
        tmi_sql_after(sql, dialect->truth);
    }
    tmi_text_format(sql, " AS v%zu", c);
}

/* Groups the rows by the labels of their units; a row without one is in a group of its own. */
static void put_units(tmi_text *sql, const tmi_sql_source *source, const tmi_column *unit, const char *what)
{
    const size_t c = tmi_layout_index(source->layout, unit);
    tmi_text_format(sql, "SELECT t%zu%s FROM (SELECT ", c, what);
    put_cell(sql, source->dialect, unit, source->types[c], c);
    tmi_text_format(sql, "1 AS one FROM %s) ids GROUP BY t%zu", source->table, c);
}

void tmi_sql_units(tmi_text *sql, const tmi_sql_source *source, const tmi_column *unit)
{
    const size_t c = tmi_layout_index(source->layout, unit);
    tmi_text_format(sql,
                    source->dialect->has_filter
                        ? "SELECT sum(n), count(*) FILTER (WHERE t%zu <> ''), max(n) FILTER (WHERE t%zu <> '') FROM ("
                        : "SELECT sum(n), count(CASE WHEN t%zu <> '' THEN 1 END), max(CASE WHEN t%zu <> '' THEN n END) FROM (",
                    c, c);
    put_units(sql, source, unit, ", count(*) AS n");
    tmi_text_put(sql, ") units");
}

/* The hash by which the rows of a unit are ordered. */
static void put_order(const chain *k, size_t unit)
{
    const tmi_layout *layout = k->source->layout;
    char key[2 * TMI_KEY_BYTES + 1];
    tmi_hex(key, layout->request->key, TMI_KEY_BYTES);
    tmi_sql_word(k->sql, k->dialect->order_key, key);
    tmi_wipe(key, sizeof key);
    put_digest(k->sql, k->dialect, unit);
    tmi_text_put(k->sql, k->dialect->order_digest);
    for (size_t c = 0; c < layout->column_count; c++) {
        char value[32];
        if (!tmi_is_given(layout->columns[c])) continue;
        snprintf(value, sizeof value, "v%zu", c);
        tmi_sql_word(k->sql, k->dialect->order_value, value);
    }
    tmi_text_put(k->sql, k->dialect->order_end);
}

static void put_values_order(const chain *k, size_t unit)
{
    tmi_text_format(k->sql, "PARTITION BY t%zu ORDER BY t%zu", unit, unit);
    for (size_t c = 0; c < k->source->layout->column_count; c++)
        if (tmi_is_given(k->source->layout->columns[c])) tmi_text_format(k->sql, ", v%zu", c);
}

/* The same in one reading of the table. The two functions over the rows in the order of their values need one sort;
 * row_number() less rank() tells equal rows apart. Only the rows of units with more than may count are hashed. */
static void put_unit_windows(chain *k, size_t unit)
{
    tmi_text *sql = k->sql;
    const int64_t most = k->source->layout->request->rows_per_unit;
    begin_step(k, NULL, 0);
    tmi_text_format(sql, ", count(*) OVER (PARTITION BY t%zu) AS n, row_number() OVER (", unit);
    put_values_order(k, unit);
    tmi_text_put(sql, ") - rank() OVER (");
    put_values_order(k, unit);
    tmi_text_format(sql, ") + 1 AS copy FROM s%zu WHERE t%zu <> '')", k->step - 1, unit);
    begin_step(k, NULL, 0);
    tmi_text_format(sql, ", row_number() OVER (PARTITION BY t%zu ORDER BY CASE WHEN n > ", unit);
    tmi_sql_integer(sql, k->dialect, most);
    tmi_text_put(sql, " THEN ");
    put_order(k, unit);
    tmi_text_format(sql, " END) AS place FROM s%zu)", k->step - 1);
    begin_step(k, NULL, 0);
    tmi_text_format(sql, " FROM s%zu WHERE place <= ", k->step - 1);
    tmi_sql_integer(sql, k->dialect, most);
    tmi_text_put(sql, ")");
}

/* The rows of units that count; see tmi_request. Only the rows of units with more than may count are ordered. */
static void put_unit(chain *k)
{
    tmi_text *sql = k->sql;
    const tmi_layout *layout = k->source->layout;
    const tmi_dialect *dialect = k->dialect;
    const size_t unit = tmi_layout_index(layout, layout->request->unit), values = k->step;
    if (k->source->units_fit) {
        begin_step(k, NULL, 0);
        tmi_text_format(sql, " FROM s%zu WHERE t%zu <> '')", values, unit);
        return;
    }
    if (dialect->windows) {
        put_unit_windows(k, unit);
        return;
    }
    tmi_text_format(sql, ", large%s", dialect->materialized);
    put_units(sql, k->source, layout->request->unit, "");
    tmi_text_put(sql, " HAVING count(*) > ");
    tmi_sql_integer(sql, dialect, layout->request->rows_per_unit);
    tmi_text_format(sql, " AND t%zu <> '')", unit);
    begin_step(k, NULL, 0);
    tmi_text_format(sql, ", row_number() OVER (PARTITION BY t%zu", unit);
    for (size_t c = 0; c < layout->column_count; c++)
        if (tmi_is_given(layout->columns[c])) tmi_text_format(sql, ", v%zu", c);
    tmi_text_format(sql, ") AS copy FROM s%zu WHERE t%zu IN (SELECT t%zu FROM large))", values, unit, unit);
    begin_step(k, NULL, 0);
    tmi_text_format(sql, ", row_number() OVER (PARTITION BY t%zu ORDER BY ", unit);
    put_order(k, unit);
    tmi_text_format(sql, ") AS place FROM s%zu)", k->step - 1);
    begin_step(k, NULL, 0);
    tmi_text_format(sql,
                    " FROM s%zu WHERE t%zu <> '' AND NOT EXISTS (%s large WHERE large.t%zu = s%zu.t%zu) UNION ALL SELECT one",
                    values, unit, dialect->exists, unit, values, unit);
    put_columns(k);
    tmi_text_format(sql, " FROM s%zu WHERE place <= ", k->step - 1);
    tmi_sql_integer(sql, dialect, layout->request->rows_per_unit);
    tmi_text_put(sql, ")");
}

/* ---- units whose points are bounded together ---- */

static bool is_bounded(const chain *k, size_t c)
{
    const tmi_column *column = k->source->layout->columns[c];
    return column->most_of_unit > 0 && k->depths[c] == k->depth;
}

/* Bounds the points of columns of this depth, 0 of those that are given, by what their sizes are in the rows of their units that
 * count: k becomes k M / T, rounded towards 0, as the quotients of all dialects are. Products stay below 2^52 2^62, and sums
 * below 2^20 2^52. */
static void put_bounds(chain *k)
{
    const tmi_layout *layout = k->source->layout;
    const tmi_dialect *dialect = k->dialect;
    bool some = false;
    for (size_t c = 0; c < layout->column_count; c++) some = some || is_bounded(k, c);
    if (!some || !layout->request->unit) return;
    begin_step(k, is_bounded, 'v');
    for (size_t c = 0; c < layout->column_count; c++) {
        char point[32], size[40], sum[128], most[24];
        int64_t low, high;
        if (!is_bounded(k, c)) continue;
        tmi_point_range(&low, &high, layout->columns[c]);
        snprintf(point, sizeof point, "v%zu", c);
        snprintf(size, sizeof size, low < 0 ? "abs(%s)" : "%s", point);
        snprintf(most, sizeof most, "%lld", (long long)layout->columns[c]->most_of_unit);
        tmi_text of_unit;
        tmi_text_init(&of_unit);
        tmi_text_put(&of_unit, "sum(");
        tmi_sql_word(&of_unit, dialect->as_exact, size);
        snprintf(sum, sizeof sum, ") OVER (PARTITION BY t%zu)", tmi_layout_index(layout, layout->request->unit));
        tmi_text_put(&of_unit, sum);
        if (of_unit.failed) k->sql->failed = true;
        if (of_unit.failed) continue;
        tmi_text_format(k->sql, ", CASE WHEN %s > ", of_unit.bytes);
        tmi_sql_word(k->sql, dialect->as_exact, most);
        tmi_text_format(k->sql, " THEN %s", dialect->whole_part);
        tmi_sql_word(k->sql, dialect->as_exact, point);
        tmi_text_put(k->sql, " * ");
        tmi_sql_word(k->sql, dialect->as_exact, most);
        tmi_text_format(k->sql, "%s%s%s ELSE %s END AS %s", dialect->quotient, of_unit.bytes, dialect->integer_part, point,
                        point);
        tmi_text_clear(&of_unit);
    }
    end_step(k);
}

/* Columns computed from a row's cells alone. */
static bool is_plain(const chain *k, size_t c)
{
    const tmi_column *column = k->source->layout->columns[c];
    if (k->late && k->late[c]) return false;
    return column->kind == TMI_CATEGORY || (column->kind == TMI_NUMBER && !column->by) || column->kind == TMI_SCATTER;
}

static bool is_number_by(const chain *k, size_t c)
{
    return k->source->layout->columns[c]->kind == TMI_NUMBER && k->source->layout->columns[c]->by;
}

static bool is_groups(const chain *k, size_t c) { return k->source->layout->columns[c]->kind == TMI_GROUPS; }

static bool is_late(const chain *k, size_t c) { return k->late && k->late[c]; }

static bool is_at_depth(const chain *k, size_t c) { return k->depths[c] == k->depth && !is_late(k, c); }

tamis_status tmi_sql_values(size_t *step, tmi_text *sql, const tmi_sql_source *source, bool kept, const bool *late,
                            tamis_error *err)
{
    const tmi_layout *layout = source->layout;
    size_t depth = 0;
    bool by = false, groups = false, joint = false;
    chain k;
    tamis_status status;
    TMI_TRY(begin_chain(&k, sql, source, err));
    k.late = late;
    put_cells(&k);
    begin_step(&k, is_plain, 'v');
    TMI_TRY(put_codes(sql, source, late, false, err));
    for (size_t c = 0; c < layout->column_count; c++) {
        const tmi_column *column = layout->columns[c];
        if (column->kind == TMI_NUMBER && is_plain(&k, c)) tmi_sql_point(sql, source, c);
        if (column->kind == TMI_SCATTER) put_scatter(sql, source->dialect, layout, c);
        by = by || (column->kind == TMI_NUMBER && column->by);
        groups = groups || column->kind == TMI_GROUPS;
        joint = joint || column->kind == TMI_JOINT;
        depth = k.depths[c] > depth && !is_late(&k, c) ? k.depths[c] : depth;
    }
    if (kept || by || groups || joint || layout->request->unit || depth > 0) end_step(&k);
    else tmi_text_format(sql, " FROM s%zu)", k.step - 1);
    put_joints(&k);
    if (by) begin_step(&k, is_number_by, 'v');
    for (size_t c = 0; by && c < layout->column_count; c++)
        if (is_number_by(&k, c)) tmi_sql_point(sql, source, c);
    if (by) end_step(&k);
    if (groups) {
        const size_t before = k.step;
        begin_step(&k, is_groups, 'v');
        for (size_t c = 0; c < layout->column_count; c++)
            if (is_groups(&k, c)) put_groups(sql, source->dialect, layout, c);
        put_ordered_rows(sql, source, before);
        for (size_t c = 0; c < layout->column_count; c++)
            if (is_groups(&k, c) && !has_ordered_rows(source, c)) put_ranks(sql, layout, c, before);
        tmi_text_format(sql, "%s)", source->dialect->barrier);
    }
    if (layout->request->unit) put_unit(&k);
    put_bounds(&k);
    for (k.depth = 1; k.depth <= depth; k.depth++) {
        begin_step(&k, is_at_depth, 'v');
        for (size_t c = 0; c < layout->column_count; c++)
            if (is_at_depth(&k, c)) put_made(sql, source->dialect, layout, c);
        end_step(&k);
        put_bounds(&k);
    }
    *step = k.step;
done:
    end_chain(&k);
    return status;
}

tamis_status tmi_sql_late_codes(tmi_text *sql, const tmi_sql_source *source, const bool *late, tamis_error *err)
{
    return put_codes(sql, source, late, true, err);
}

void tmi_sql_late_classes(tmi_text *sql, const tmi_sql_source *source, const bool *late)
{
    for (size_t c = 0; c < source->layout->column_count; c++)
        if (late[c] && source->layout->columns[c]->kind == TMI_CLASSES) put_made(sql, source->dialect, source->layout, c);
}
