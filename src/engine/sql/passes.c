#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "engine/sql/sql.h"

/* Groups of a pass that serves several tables: a server sums by this many without effort. */
#define MANY_GROUPS (1 << 16)

/* Groups of any pass: a key is below 2^62. */
#define MOST_GROUPS 0x1p62

#define MANY_SUMS TMI_SQL_ENTRIES

/* What one row of a count adds: floor(2^-shift + 1/2), clamped. */
static int64_t worth(const tmi_measure *measure)
{
    if (measure->factor_count > 0) return 1;
    const int64_t one = measure->shift <= 1;
    return one < measure->low ? measure->low : one > measure->high ? measure->high : one;
}

/* ---- passes ---- */

static bool has_key(const tmi_sql_pass *pass, size_t column)
{
    for (size_t k = 0; k < pass->key_count; k++)
        if (pass->keys[k] == column) return true;
    return false;
}

/* Groups of the pass if this table joined it, including the code for missing. */
static double groups_with(const tmi_sql_pass *pass, const tmi_table *table)
{
    double groups = 1;
    for (size_t k = 0; k < pass->key_count; k++) groups *= (double)pass->layout->columns[pass->keys[k]]->value_count + 1;
    for (size_t b = 0; b < table->by_count; b++)
        if (!has_key(pass, tmi_layout_index(pass->layout, table->by[b]))) groups *= (double)table->by[b]->value_count + 1;
    return groups;
}

/* Room for `count` elements of `size` bytes; false if memory runs out. */
static bool make_room(void *list, size_t count, size_t size)
{
    void *old, *new;
    memcpy(&old, list, sizeof old);
    new = tmi_realloc(old, count, size);
    if (new) memcpy(list, &new, sizeof new);
    return new;
}

static tamis_status add_sum(size_t *place, tmi_sql_pass *pass, const tmi_measure *measure, tamis_error *err)
{
    tmi_text sql;
    char *text;
    tmi_text_init(&sql);
    tmi_sql_sum(&sql, pass->dialect, pass->layout, pass->trees, measure, pass->rows);
    tamis_status status = tmi_text_take(&text, &sql, err);
    if (status != TAMIS_OK) return status;
    for (*place = 0; *place < pass->sum_count; ++*place)
        if (strcmp(pass->sums[*place], text) == 0) {
            tmi_free(text);
            return TAMIS_OK;
        }
    if (!make_room(&pass->sums, pass->sum_count + 1, sizeof *pass->sums)) {
        tmi_free(text);
        return tmi_fail_memory(err);
    }
    pass->sums[pass->sum_count++] = text;
    return TAMIS_OK;
}

static tamis_status add_table(tmi_sql_pass *pass, size_t t, tamis_error *err)
{
    const tmi_table *table = &pass->layout->request->tables[t];
    tamis_status status = TAMIS_OK;
    if (!make_room(&pass->tables, pass->table_count + 1, sizeof *pass->tables) ||
        !make_room(&pass->places, pass->table_count + 1, sizeof *pass->places) ||
        !make_room(&pass->keys, pass->key_count + table->by_count + 1, sizeof *pass->keys))
        return tmi_fail_memory(err);
    size_t *places = tmi_alloc(table->measure_count, sizeof *places);
    if (!places) return tmi_fail_memory(err);
    pass->places[pass->table_count] = places;
    pass->tables[pass->table_count++] = t;
    for (size_t b = 0; b < table->by_count; b++) {
        const size_t column = tmi_layout_index(pass->layout, table->by[b]);
        if (!has_key(pass, column)) pass->keys[pass->key_count++] = column;
    }
    for (size_t m = 0; m < table->measure_count; m++) TMI_TRY(add_sum(&places[m], pass, &table->measures[m], err));
    if (pass->sum_count > MANY_SUMS)
        status = tmi_fail(err, TAMIS_INVALID, "a table of the request has more than %d measures", MANY_SUMS);
done:
    return status;
}

tamis_status tmi_sql_passes_init(tmi_sql_passes *passes, const tmi_dialect *dialect, const tmi_layout *layout, int64_t rows,
                                 tamis_error *err)
{
    const tmi_request *request = layout->request;
    tamis_status status = TAMIS_OK;
    *passes = (tmi_sql_passes){.list = tmi_alloc(request->table_count, sizeof *passes->list)};
    if (!passes->list) return tmi_fail_memory(err);
    TMI_TRY(tmi_sql_share(&passes->trees, dialect, layout, err));
    for (size_t t = 0; t < request->table_count; t++) {
        const tmi_table *table = &request->tables[t];
        size_t p = 0;
        if (groups_with(&(tmi_sql_pass){.layout = layout}, table) > MOST_GROUPS)
            TMI_TRY(tmi_fail(err, TAMIS_INVALID, "a table of the request has too many columns under `by`"));
        while (p < passes->count && (groups_with(&passes->list[p], table) > MANY_GROUPS ||
                                     passes->list[p].sum_count + table->measure_count > MANY_SUMS))
            p++;
        if (p == passes->count)
            passes->list[passes->count++] = (tmi_sql_pass){.dialect = dialect,
                                                           .layout = layout,
                                                           .rows = rows,
                                                           .trees = &passes->trees};
        TMI_TRY(add_table(&passes->list[p], t, err));
    }
done:
    if (status != TAMIS_OK) tmi_sql_passes_clear(passes);
    return status;
}

void tmi_sql_passes_clear(tmi_sql_passes *passes)
{
    for (size_t p = 0; p < passes->count; p++) {
        tmi_sql_pass *pass = &passes->list[p];
        for (size_t i = 0; i < pass->sum_count; i++) tmi_free(pass->sums[i]);
        for (size_t i = 0; i < pass->table_count; i++) tmi_free(pass->places[i]);
        tmi_free(pass->sums);
        tmi_free(pass->places);
        tmi_free(pass->tables);
        tmi_free(pass->keys);
    }
    tmi_free(passes->list);
    tmi_factor_trees_clear(&passes->trees);
    *passes = (tmi_sql_passes){0};
}

/* A key is a number with one digit per column. Its base is the number of codes plus one for "missing", and the last column's
 * digit is worth 1. This returns what the digit of key k is worth. */
static int64_t worth_of_key(const tmi_sql_pass *pass, size_t k)
{
    int64_t product = 1;
    while (++k < pass->key_count) product *= (int64_t)pass->layout->columns[pass->keys[k]]->value_count + 1;
    return product;
}

/* How often the sums of a pass use the value with this name: v of a column, p or d of what is shared. */
static size_t uses_in_sums(const tmi_sql_pass *pass, char letter, size_t c)
{
    char name[32];
    size_t uses = 0;
    snprintf(name, sizeof name, "%c%zu", letter, c);
    for (size_t i = 0; i < pass->sum_count; i++)
        for (const char *at = pass->sums[i]; (at = strstr(at, name)); at += strlen(name))
            uses += at[strlen(name)] < '0' || at[strlen(name)] > '9';
    return uses;
}

static bool is_made_of(const tmi_column *column, const tmi_column *part)
{
    for (size_t i = 0; tmi_column_part(column, i); i++)
        if (tmi_column_part(column, i) == part) return true;
    return false;
}

static bool has_made(const tmi_layout *layout, size_t c)
{
    for (size_t other = 0; other < layout->column_count; other++)
        if (is_made_of(layout->columns[other], layout->columns[c])) return true;
    return false;
}

/* Classes of a category that are only grouped by. */
static bool is_key_class(const tmi_sql_pass *pass, size_t c)
{
    const tmi_column *column = pass->layout->columns[c];
    return column->kind == TMI_CLASSES && column->of->kind == TMI_CATEGORY && has_key(pass, c) && !has_made(pass->layout, c) &&
           uses_in_sums(pass, 'v', c) == 0;
}

/* Categories that are only grouped by, they or their classes: the server groups by their texts, and looks up the code once per
 * group instead of once per row. */
static bool is_late_category(const tmi_sql_pass *pass, size_t c)
{
    const tmi_layout *layout = pass->layout;
    bool grouped = has_key(pass, c);
    if (layout->columns[c]->kind != TMI_CATEGORY || uses_in_sums(pass, 'v', c) > 0) return false;
    for (size_t other = 0; other < layout->column_count; other++) {
        if (!is_made_of(layout->columns[other], layout->columns[c])) continue;
        if (!pass->dialect->inlines || !is_key_class(pass, other)) return false;
        grouped = true;
    }
    return grouped;
}

/* What is computed after the rows were grouped: such categories, and their classes; or inside the sums: numbers that only they
 * use. Where rows of units are chosen, all that is given is computed first. */
static void find_late(bool *late, const tmi_sql_pass *pass, const tmi_sql_source *source)
{
    const tmi_layout *layout = pass->layout;
    for (size_t c = 0; c < layout->column_count; c++) {
        const tmi_column *column = layout->columns[c];
        late[c] = (!layout->request->unit || source->units_fit) &&
                  (is_late_category(pass, c) || (pass->dialect->inlines && column->kind == TMI_NUMBER && !column->by &&
                                                 column->most_of_unit == 0 && !has_made(layout, c)));
    }
    for (size_t c = 0; c < layout->column_count; c++)
        if (pass->dialect->inlines && is_key_class(pass, c)) late[c] = late[tmi_layout_index(layout, layout->columns[c]->of)];
}

/* A sum, with the points of late numbers in place of their names. */
static void put_sum(tmi_text *sql, const tmi_sql_pass *pass, const tmi_sql_source *source, const bool *late, size_t i)
{
    const char *at = pass->sums[i];
    for (const char *name; (name = strchr(at, 'v'));) {
        char *end;
        const bool is_name = name[1] >= '0' && name[1] <= '9';
        const size_t c = is_name ? (size_t)strtoul(name + 1, &end, 10) : 0;
        const bool is_late = is_name && late[c];
        tmi_text_add(sql, at, (size_t)(name - at) + !is_late);
        at = is_late ? end : name + 1;
        if (!is_late) continue;
        tmi_text_put(sql, "(");
        tmi_sql_point_value(sql, source, c);
        tmi_text_put(sql, ")");
    }
    tmi_text_put(sql, at);
}

/* Whether the query uses the value of a column more than once. */
static bool uses_twice(const tmi_sql_pass *pass, const bool *late)
{
    for (size_t c = 0; c < pass->layout->column_count; c++)
        if (uses_in_sums(pass, 'v', c) + (has_key(pass, c) && !late[c]) > 1) return true;
    return false;
}

/* Adds to a step what the sums share, or only finds out whether they share something (sql NULL). */
static bool put_shared(tmi_text *sql, const tmi_sql_pass *pass)
{
    const tmi_factor_trees *trees = pass->trees;
    bool some = false;
    for (size_t i = 0; i < trees->factor_count; i++) {
        if (!tmi_is_shared_factor(trees, i) || uses_in_sums(pass, 'd', i) == 0) continue;
        some = true;
        if (sql) tmi_sql_shared(sql, pass->dialect, pass->layout, trees, 'd', i);
    }
    for (size_t i = 0; i < trees->node_count; i++) {
        if (!tmi_is_shared_node(trees, i) || uses_in_sums(pass, 'p', i) == 0) continue;
        some = true;
        if (sql) tmi_sql_shared(sql, pass->dialect, pass->layout, trees, 'p', i);
    }
    return some;
}

static void put_key(tmi_text *sql, const tmi_sql_pass *pass)
{
    tmi_text_put(sql, " SELECT ");
    tmi_sql_before(sql, pass->dialect->answer);
    if (pass->key_count == 0) tmi_text_put(sql, "0");
    for (size_t k = 0; k < pass->key_count; k++) {
        tmi_text_format(sql, "%scoalesce(v%zu, %zu)", k > 0 ? " + " : "", pass->keys[k],
                        pass->layout->columns[pass->keys[k]]->value_count);
        if (worth_of_key(pass, k) == 1) continue;
        tmi_text_put(sql, " * ");
        tmi_sql_integer(sql, pass->dialect, worth_of_key(pass, k));
    }
    tmi_sql_after(sql, pass->dialect->answer);
}

/* Groups by texts and codes, then by codes. */
static tamis_status put_late_groups(tmi_text *sql, const tmi_sql_pass *pass, const tmi_sql_source *source, const bool *late,
                                    size_t step, tamis_error *err)
{
    tmi_text_put(sql, ", texts AS (SELECT ");
    size_t grouped = 0;
    bool classes = false;
    for (size_t k = 0; k < pass->key_count; k++) {
        const size_t c = pass->keys[k];
        const bool is_class = late[c] && pass->layout->columns[c]->kind == TMI_CLASSES;
        classes = classes || is_class;
        if (is_class) continue;
        tmi_text_format(sql, "%c%zu, ", late[c] ? 'c' : 'v', c);
        grouped++;
    }
    for (size_t c = 0; c < pass->layout->column_count; c++) {
        if (!late[c] || pass->layout->columns[c]->kind != TMI_CATEGORY || has_key(pass, c)) continue;
        tmi_text_format(sql, "c%zu, ", c);
        grouped++;
    }
    tmi_text_put(sql, "count(*) AS n");
    for (size_t i = 0; i < pass->sum_count; i++) {
        tmi_text_put(sql, ", ");
        put_sum(sql, pass, source, late, i);
        tmi_text_format(sql, " AS a%zu", i);
    }
    tmi_text_format(sql, " FROM s%zu GROUP BY", step);
    for (size_t k = 0; k < grouped; k++) tmi_text_format(sql, "%s %zu", k > 0 ? "," : "", k + 1);
    tmi_text_put(sql, "), codes AS (SELECT texts.*");
    tamis_status status = tmi_sql_late_codes(sql, source, late, err);
    tmi_text_put(sql, " FROM texts)");
    if (classes) {
        tmi_text_put(sql, ", classes AS (SELECT codes.*");
        tmi_sql_late_classes(sql, source, late);
        tmi_text_put(sql, " FROM codes)");
    }
    put_key(sql, pass);
    tmi_text_put(sql, ", ");
    tmi_sql_word(sql, pass->dialect->answer, "sum(n)");
    for (size_t i = 0; i < pass->sum_count; i++) {
        char sum[32];
        snprintf(sum, sizeof sum, "sum(a%zu)", i);
        tmi_text_put(sql, ", ");
        tmi_sql_word(sql, pass->dialect->answer, sum);
    }
    tmi_text_put(sql, classes ? " FROM classes GROUP BY 1" : " FROM codes GROUP BY 1");
    return status;
}

tamis_status tmi_sql_pass_write(tmi_text *sql, const tmi_sql_pass *pass, const tmi_sql_source *source, tamis_error *err)
{
    size_t step;
    bool some_late = false, *late = tmi_alloc(pass->layout->column_count, sizeof *late);
    tamis_status status;
    if (!late) return tmi_fail_memory(err);
    find_late(late, pass, source);
    for (size_t c = 0; c < pass->layout->column_count; c++)
        some_late = some_late || (late[c] && pass->layout->columns[c]->kind != TMI_NUMBER);
    const bool shares = put_shared(NULL, pass);
    TMI_TRY(tmi_sql_values(&step, sql, source, shares || uses_twice(pass, late), late, err));
    if (shares) {
        tmi_text_format(sql, ", s%zu AS (SELECT s%zu.*", step + 1, step);
        put_shared(sql, pass);
        tmi_text_format(sql, " FROM s%zu%s)", step, pass->dialect->barrier);
        step++;
    }
    if (some_late) {
        TMI_TRY(put_late_groups(sql, pass, source, late, step, err));
    } else {
        put_key(sql, pass);
        tmi_text_put(sql, ", ");
        tmi_sql_word(sql, pass->dialect->answer, "count(*)");
        for (size_t i = 0; i < pass->sum_count; i++) {
            tmi_text_put(sql, ", ");
            tmi_sql_before(sql, pass->dialect->answer);
            put_sum(sql, pass, source, late, i);
            tmi_sql_after(sql, pass->dialect->answer);
        }
        tmi_text_format(sql, " FROM s%zu%s", step, pass->key_count > 0 ? " GROUP BY 1" : "");
    }
    if (sql->failed) status = tmi_fail_memory(err);
done:
    tmi_free(late);
    return status;
}

bool tmi_sql_pass_add(tmi_int128 *const *answers, const tmi_sql_pass *pass, int64_t key, const tmi_int128 *sums)
{
    const tmi_layout *layout = pass->layout;
    for (size_t i = 0; i < pass->table_count; i++) {
        const tmi_table *table = &layout->request->tables[pass->tables[i]];
        size_t cell = 0, unit = 1;
        bool inside = true;
        for (size_t b = table->by_count; b-- > 0;) {
            const size_t codes = table->by[b]->value_count, column = tmi_layout_index(layout, table->by[b]);
            size_t k = 0;
            while (pass->keys[k] != column) k++;
            const size_t code = (size_t)(key / worth_of_key(pass, k)) % (codes + 1);
            inside = inside && code < codes;
            cell += code * unit;
            unit *= codes;
        }
        for (size_t m = 0; inside && m < table->measure_count; m++) {
            tmi_int128 *answer = &answers[pass->tables[i]][cell * table->measure_count + m], term;
            if (!tmi_mul_int128(&term, sums[pass->places[i][m]], worth(&table->measures[m])) ||
                !tmi_add_int128(answer, *answer, term))
                return false;
        }
    }
    return true;
}
