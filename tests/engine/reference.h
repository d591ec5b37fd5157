/* The integers of a request by brute force: engine.h read aloud, one row at a time, without any of the engine's code but
 * tmi_grid_point and the order of a layout. And the rows that the conformance test asks about.                       */
#ifndef TESTS_ENGINE_REFERENCE_H
#define TESTS_ENGINE_REFERENCE_H

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"
#include "engine/core/cells.h"
#include "num/grid.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Columns of the table, all texts in a CSV file; empty: NULL. Elsewhere x, y and p are numbers. */
enum { ID, X, Y, P, G, H, S, C, COLUMNS };
static const char *const column_names[COLUMNS] = {"id", "x", "y", "p", "g", "h", "s", "c \"1\""};

#define CELL 96 /* bytes of a cell's text */

typedef struct row {
    char text[COLUMNS][CELL];
    double number[COLUMNS]; /* of x, y and p what the text means; NaN: missing */
} row;

static inline bool is_number_column(size_t c) { return c == X || c == Y || c == P; }

static inline size_t column_number(const tmi_column *column)
{
    for (size_t c = 0; c < COLUMNS; c++)
        if (strcmp(column->name, column_names[c]) == 0) return c;
    fail_msg("no column %s", column->name);
    return 0;
}

static inline void trimmed(char *to, const char *text)
{
    static const char blanks[] = " \t\n\v\f\r";
    text += strspn(text, blanks);
    size_t length = strlen(text);
    while (length > 0 && strchr(blanks, text[length - 1])) length--;
    memcpy(to, text, length);
    to[length] = '\0';
}

static inline int code_of_text(const tmi_column *column, const char *cell)
{
    char text[CELL];
    trimmed(text, cell);
    bool missing = text[0] == '\0';
    for (size_t i = 0; i < column->missing_text_count; i++) missing = missing || strcmp(text, column->missing_texts[i]) == 0;
    if (missing) return column->has_instead ? (int)column->instead : -1;
    for (size_t v = 0; v < column->value_count; v++)
        if (strcmp(text, column->values[v]) == 0) return (int)v;
    return -1;
}

/* Values of the columns of a layout that were asked for before: ranks of labels take long. */
typedef struct known_value {
    int64_t value;
    bool asked, there;
} known_value;

typedef struct rows {
    const row *list;
    size_t count;
    const tmi_layout *layout; /* NULL: nothing is remembered */
    known_value *known;       /* one per column and row */
} rows;

static inline bool find_value(int64_t *value, const tmi_column *column, const row *row, const rows *all);

/* The point or code; false if it is missing. */
static inline bool value_of(int64_t *value, const tmi_column *column, const row *row, const rows *all)
{
    const size_t c = all->layout ? tmi_layout_index(all->layout, column) : 0;
    if (!all->layout || c == all->layout->column_count) return find_value(value, column, row, all);
    known_value *known = &all->known[c * all->count + (size_t)(row - all->list)];
    if (!known->asked) {
        known->there = find_value(&known->value, column, row, all);
        known->asked = true;
    }
    *value = known->value;
    return known->there;
}

static inline bool find_value(int64_t *value, const tmi_column *column, const row *row, const rows *all)
{
    int64_t part = 0;
    *value = 0;
    switch (column->kind) {
    case TMI_NUMBER: {
        double v = row->number[column_number(column)];
        const tmi_grid *grid = &column->grid;
        if (column->by) {
            if (!value_of(&part, column->by, row, all)) return false;
            grid = &column->grids[part];
        }
        bool there = isfinite(v);
        for (size_t i = 0; i < column->missing_code_count; i++) there = there && v != column->missing_codes[i];
        if (column->reciprocal) {
            there = there && v >= DBL_MIN;
            v = there ? 1 / v : 0;
        }
        if (there) return tmi_grid_point(value, grid, v);
        *value = column->instead;
        return column->has_instead;
    }
    case TMI_CATEGORY: *value = code_of_text(column, row->text[column_number(column)]); return *value >= 0;
    case TMI_CUTS:
        if (!value_of(&part, column->of, row, all)) return false;
        for (size_t i = 0; i + 1 < column->value_count; i++) *value += column->cuts[i] <= part;
        return true;
    case TMI_INDICATOR: {
        bool missing = false;
        for (size_t i = 0; i < column->condition_count; i++) {
            const tmi_condition *condition = &column->conditions[i];
            bool holds = false;
            if (!value_of(&part, condition->column, row, all)) {
                missing = true;
                continue;
            }
            if (tmi_has_points(condition->column)) holds = condition->least <= part && part <= condition->most;
            for (size_t j = 0; tmi_has_codes(condition->column) && j < condition->code_count; j++)
                holds = holds || condition->codes[j] == part;
            if (!holds) return true; /* 0 */
        }
        *value = 1;
        return !missing;
    }
    case TMI_LOOKUP:
        if (!value_of(&part, column->of, row, all)) return false;
        *value = column->numbers[part];
        return true;
    case TMI_GROUPS: {
        char label[CELL], other[CELL];
        int64_t stratum = 0, rank = 0;
        trimmed(label, row->text[column_number(column->of)]);
        if (label[0] == '\0' || (column->stratum && !value_of(&stratum, column->stratum, row, all))) return false;
        for (size_t i = 0; i < all->count; i++) { /* first rows of the labels before this one */
            int64_t where = 0;
            trimmed(other, all->list[i].text[column_number(column->of)]);
            if (other[0] == '\0' || strcmp(other, label) >= 0) continue;
            if (column->stratum && (!value_of(&where, column->stratum, &all->list[i], all) || where != stratum)) continue;
            bool first = true;
            for (size_t j = 0; j < i && first; j++) {
                char earlier[CELL];
                int64_t there = 0;
                trimmed(earlier, all->list[j].text[column_number(column->of)]);
                if (strcmp(earlier, other) != 0) continue;
                if (column->stratum && (!value_of(&there, column->stratum, &all->list[j], all) || there != stratum)) continue;
                first = false;
            }
            rank += first;
        }
        if (rank >= column->cluster_counts[stratum]) return false;
        *value = column->cell_of[stratum][rank];
        return true;
    }
    case TMI_SCATTER: { /* H(key, H(stratum), H(label)) */
        const tmi_column *const labels[] = {column->stratum, column->of};
        unsigned char parts[3 * 32], hash[32];
        size_t length = 32;
        memcpy(parts, column->key, 32);
        for (size_t i = 0; i < 2; i++) {
            char text[CELL];
            if (!labels[i]) continue;
            trimmed(text, row->text[column_number(labels[i])]);
            tmi_sha256(parts + length, text, strlen(text));
            length += 32;
        }
        tmi_sha256(hash, parts, length);
        *value = hash[0] % (int64_t)column->value_count;
        return true;
    }
    case TMI_CLASSES:
        if (!value_of(&part, column->of, row, all)) {
            *value = column->instead;
            return column->has_instead;
        }
        *value = column->classes[tmi_has_points(column->of) ? 0 : part];
        return *value >= 0;
    case TMI_PRODUCT: {
        int64_t second = 0;
        if (!value_of(&part, column->of, row, all) || !value_of(&second, column->second, row, all)) {
            *value = column->instead;
            return column->has_instead;
        }
        const double k = floor((double)part * (double)second * ldexp(1, -column->shift) + 0.5);
        *value = k < (double)column->grid.low ? column->grid.low : k > (double)column->grid.high ? column->grid.high : (int64_t)k;
        return true;
    }
    case TMI_DIFFERENCE: {
        int64_t second = 0;
        if (!value_of(&part, column->of, row, all) || !value_of(&second, column->second, row, all)) return false;
        *value = part - second;
        return true;
    }
    case TMI_JOINT: {
        int64_t second = 0;
        if (!value_of(&part, column->of, row, all) || !value_of(&second, column->second, row, all)) return false;
        *value = column->classes[part * (int64_t)column->second->value_count + second];
        return *value >= 0;
    }
    case TMI_LABEL: break;
    }
    fail_msg("a label has no value");
    return false;
}

/* What a row adds. */
static inline int64_t term_of(const tmi_measure *measure, const row *row, const rows *all)
{
    double product = 1;
    int64_t value;
    for (size_t f = 0; f < measure->factor_count; f++) {
        if (!value_of(&value, measure->factors[f].column, row, all)) return 0;
        product *= (double)(value - measure->factors[f].minus);
    }
    for (size_t p = 0; p < TMI_MAX_PRESENT; p++)
        if (measure->present[p] && !value_of(&value, measure->present[p], row, all)) return 0;
    if (measure->where && (!value_of(&value, measure->where, row, all) || value != 1)) return 0;
    double term = floor(product * ldexp(1, -measure->shift) + 0.5);
    if (term < (double)measure->low) term = (double)measure->low;
    if (term > (double)measure->high) term = (double)measure->high;
    return (int64_t)term;
}

/* The hash that orders the rows of a unit. */
static inline void order_of(char hash[TMI_SHA256_TEXT], const tmi_layout *layout, const row *of, const rows *all)
{
    char unit[CELL], other[CELL], unit_hash[TMI_SHA256_TEXT], text[2048];
    size_t copy = 1, length = 0;
    trimmed(unit, of->text[column_number(layout->request->unit)]);
    tmi_sha256_text(unit_hash, unit, strlen(unit));
    for (size_t i = 0; i < TMI_KEY_BYTES; i++) length += (size_t)sprintf(text + length, "%02x", layout->request->key[i]);
    length += (size_t)sprintf(text + length, "%s", unit_hash);
    for (size_t c = 0; c < layout->column_count; c++) {
        int64_t value;
        if (!tmi_is_given(layout->columns[c])) continue;
        const bool there = value_of(&value, layout->columns[c], of, all);
        length += (size_t)(there ? sprintf(text + length, ",%lld", (long long)value) : sprintf(text + length, ","));
    }
    for (const row *earlier = all->list; earlier < of; earlier++) { /* alike in all columns */
        trimmed(other, earlier->text[column_number(layout->request->unit)]);
        bool alike = strcmp(unit, other) == 0;
        for (size_t c = 0; alike && c < layout->column_count; c++) {
            int64_t x = 0, y = 0;
            if (!tmi_is_given(layout->columns[c])) continue;
            const bool has_x = value_of(&x, layout->columns[c], of, all), has_y = value_of(&y, layout->columns[c], earlier, all);
            alike = has_x == has_y && (!has_x || x == y);
        }
        copy += alike;
    }
    length += (size_t)sprintf(text + length, ",%zu", copy);
    tmi_sha256_text(hash, text, length);
}

/* Whether a row counts among those of its unit. */
static inline bool is_kept(const tmi_layout *layout, const row *row, const rows *all)
{
    const tmi_request *request = layout->request;
    int64_t before = 0;
    char unit[CELL], other[CELL], hash[TMI_SHA256_TEXT], other_hash[TMI_SHA256_TEXT];
    if (!request->unit) return true;
    trimmed(unit, row->text[column_number(request->unit)]);
    if (unit[0] == '\0') return false;
    order_of(hash, layout, row, all);
    for (size_t i = 0; i < all->count; i++) {
        trimmed(other, all->list[i].text[column_number(request->unit)]);
        if (strcmp(unit, other) != 0) continue;
        order_of(other_hash, layout, &all->list[i], all);
        before += strcmp(other_hash, hash) < 0;
    }
    return before < request->rows_per_unit;
}

/* Bounds the points of units together, once it is known which rows count: columns that are made of these points, which come
 * later, are asked anew. */
static inline void bound_units(const tmi_layout *layout, const bool *kept, const rows *all)
{
    for (size_t c = 0; c < layout->column_count; c++) {
        const tmi_column *column = layout->columns[c];
        int64_t *to = calloc(all->count + 1, sizeof *to);
        for (size_t i = 0; column->most_of_unit > 0 && i < all->count; i++) {
            char unit[CELL], other[CELL];
            __int128 sum = 0;
            int64_t point;
            const bool there = value_of(&to[i], column, &all->list[i], all);
            trimmed(unit, all->list[i].text[column_number(layout->request->unit)]);
            for (size_t j = 0; j < all->count; j++) {
                trimmed(other, all->list[j].text[column_number(layout->request->unit)]);
                if (kept[j] && strcmp(unit, other) == 0 && value_of(&point, column, &all->list[j], all))
                    sum += point < 0 ? -point : point;
            }
            if (there && kept[i] && sum > column->most_of_unit) to[i] = (int64_t)((__int128)to[i] * column->most_of_unit / sum);
        }
        for (size_t i = 0; column->most_of_unit > 0 && i < all->count; i++) all->known[c * all->count + i].value = to[i];
        for (size_t later = c + 1; column->most_of_unit > 0 && later < layout->column_count; later++)
            for (size_t i = 0; !tmi_is_given(layout->columns[later]) && i < all->count; i++)
                all->known[later * all->count + i].asked = false;
        free(to);
    }
}

static inline void right_answers(tmi_int128 *const *answers, const tmi_request *request, const rows *given)
{
    tmi_layout layout;
    assert_int_equal(tmi_layout_init(&layout, request, NULL), TAMIS_OK);
    const rows with_memory = {given->list, given->count, &layout,
                              calloc(layout.column_count * given->count + 1, sizeof(known_value))};
    const rows *all = &with_memory;
    bool *kept = calloc(all->count + 1, sizeof *kept);
    for (size_t i = 0; i < all->count; i++) kept[i] = is_kept(&layout, &all->list[i], all);
    bound_units(&layout, kept, all);
    for (size_t t = 0; t < request->table_count; t++) {
        const tmi_table *table = &request->tables[t];
        memset(answers[t], 0, tmi_table_cells(table) * table->measure_count * sizeof **answers);
        for (size_t i = 0; i < all->count; i++) {
            size_t cell = 0;
            bool inside = true;
            for (size_t b = 0; b < table->by_count; b++) {
                int64_t code;
                inside = value_of(&code, table->by[b], &all->list[i], all) && inside;
                cell = cell * table->by[b]->value_count + (size_t)code;
            }
            if (!inside || !kept[i]) continue;
            for (size_t m = 0; m < table->measure_count; m++)
                answers[t][cell * table->measure_count + m] += term_of(&table->measures[m], &all->list[i], all);
        }
    }
    free(kept);
    free(with_memory.known);
    tmi_layout_clear(&layout);
}

#endif
