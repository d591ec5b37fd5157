/* Columns made from others: indicators and cuts. A statistic may name them wherever it may name a column, and what works
 * with a plan need not know the difference. The same one asked twice is one column.
 *
 * Both look at grid points, so that every engine agrees and the bounds of a number hold: a value beyond `to` counts as
 * `to`.                                                                                                              */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "plan/sections.h"

/* ---- numbers as texts ---- */

#define DECIMALS 12

/* 0.25, or 1/3 where no short decimal is exact. */
static void put_number(tmi_text *text, const tamis_number *number)
{
    tamis_number *ten = NULL, *left = NULL, *product = NULL;
    char *digits = NULL;
    size_t places = 0;
    bool failed = tmi_number_ratio(&ten, 10, 1, NULL) != TAMIS_OK || tmi_number_copy(&left, number, NULL) != TAMIS_OK;
    while (!failed && places < DECIMALS && !tmi_number_is_integer(left)) {
        failed = tmi_number_mul(&product, left, ten, NULL) != TAMIS_OK;
        tamis_number_free(left);
        left = product;
        product = NULL;
        places++;
    }
    bool exact = !failed && tmi_number_is_integer(left);
    failed = failed || tamis_number_write(&digits, exact ? left : number, NULL) != TAMIS_OK;
    if (failed) {
        text->failed = true;
    } else if (!exact || places == 0) {
        tmi_text_put(text, digits);
    } else {
        const char *first = digits + (digits[0] == '-');
        size_t length = strlen(first);
        if (first > digits) tmi_text_put(text, "-");
        if (length > places) tmi_text_add(text, first, length - places);
        else tmi_text_put(text, "0");
        tmi_text_put(text, ".");
        for (size_t zeros = length; zeros < places; zeros++) tmi_text_put(text, "0");
        tmi_text_put(text, length > places ? first + length - places : first);
    }
    tamis_free(digits);
    tmi_number_frees(&ten, &left, NULL);
}

/* The number that a grid point stands for. */
static void put_point(tmi_text *text, const tmi_plan_column *column, int64_t point)
{
    tamis_number *k = NULL, *value = NULL;
    if (tmi_number_ratio(&k, point, 1, NULL) == TAMIS_OK && tmi_number_mul(&value, k, column->step, NULL) == TAMIS_OK)
        put_number(text, value);
    else text->failed = true;
    tmi_number_frees(&k, &value, NULL);
}

/* ---- grid points ---- */

/* The first point at or above the number, the last one at or below it; false beyond 64 bits or without memory. */
static bool point_of(tmi_reader *reader, int64_t *point, const tmi_plan_column *column, const tamis_number *number, bool above)
{
    tamis_number *steps = NULL;
    if (tmi_number_div(&steps, number, column->step, NULL) != TAMIS_OK) {
        reader->no_memory = true;
        return false;
    }
    bool fits = above ? tmi_number_ceil(point, steps) : tmi_number_floor(point, steps);
    tamis_number_free(steps);
    return fits;
}

/* Whether the number can be looked at by its grid points; a column that was complained about already cannot. */
static bool has_points(tmi_reader *reader, const tmi_value *value, const tamis_plan *plan, const tmi_plan_column *column)
{
    if (column->is_category || column->grid.low >= column->grid.high) return false;
    for (size_t h = 0; column->by_stratum && h < plan->design.stratum_count; h++) {
        if (tmi_number_compare(column->by_stratum[h].step, column->step) == 0) continue;
        tmi_complain(reader, value, "expected a column with one step: the steps of %s differ by stratum", column->name);
        return false;
    }
    return true;
}

/* ---- conditions ---- */

static int by_code(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return x < y ? -1 : x > y;
}

static bool read_codes(tmi_reader *reader, const tmi_value *value, tmi_plan_condition *c)
{
    bool list = value->kind == TMI_VALUE_LIST;
    if (value->kind == TMI_VALUE_MAP || (list && value->count == 0)) {
        tmi_complain(reader, value, "expected a value of %s or a list of them, e.g. %s", c->column->name,
                     c->column->value_count > 0 ? c->column->values[0] : "[a, b]");
        return false;
    }
    c->codes = tmi_alloc(list ? value->count : 1, sizeof *c->codes);
    if (!c->codes) {
        reader->no_memory = true;
        return false;
    }
    bool right = true;
    for (const tmi_value *item = list ? tmi_value_first(value) : value; item; item = list ? tmi_value_next(item) : NULL) {
        int32_t code = tmi_read_code(reader, item, c->column);
        for (size_t i = 0; i < c->code_count; i++) {
            if (c->codes[i] != code || code < 0) continue;
            tmi_complain(reader, item, "duplicate in the list");
            code = -1;
        }
        right = right && code >= 0;
        c->codes[c->code_count++] = code;
    }
    if (right) qsort(c->codes, c->code_count, sizeof *c->codes, by_code);
    return right;
}

typedef struct interval {
    tamis_number *from, *to;
} interval;

static const tmi_plan_key interval_keys[] = {
    {.name = "from", .plain = tmi_plain_exact, .field = offsetof(interval, from), .example = "16"},
    {.name = "to", .plain = tmi_plain_exact, .field = offsetof(interval, to), .example = "64"},
};

/* {from, to}, either of them alone, or one number. */
static bool read_interval(tmi_reader *reader, const tmi_value *value, const tamis_plan *plan, tmi_plan_condition *c)
{
    static const char example[] = "{from: 16, to: 64}";
    const tmi_plan_column *column = c->column;
    interval i = {0};
    size_t before = reader->count;
    c->least = column->grid.low;
    c->most = column->grid.high;
    bool one = value->kind == TMI_VALUE_TEXT;
    if (one) tmi_read_exact(reader, value, &i.from, "18");
    else tmi_read_map(reader, value, interval_keys, 2, example, &i);
    if (reader->count == before && !one && value->count == 0)
        tmi_complain(reader, value, "expected from or to, e.g. %s", example);
    bool right = reader->count == before && has_points(reader, value, plan, column);
    if (right) {
        const tamis_number *to = one ? i.from : i.to;
        bool inside = (!i.from || tmi_number_compare(i.from, column->to) <= 0) &&
                      (!to || tmi_number_compare(to, column->from) >= 0);
        if (inside && i.from && tmi_number_compare(i.from, column->from) > 0)
            inside = point_of(reader, &c->least, column, i.from, true);
        if (inside && to && tmi_number_compare(to, column->to) < 0) inside = point_of(reader, &c->most, column, to, false);
        right = inside && c->least <= c->most && c->least <= column->grid.high && c->most >= column->grid.low;
        if (!right && !reader->no_memory)
            tmi_complain(reader, value, "expected a condition that is true for a grid point between from and to of %s",
                         column->name);
    }
    tmi_number_frees(&i.from, &i.to, NULL);
    return right;
}

static bool read_condition(tmi_reader *reader, const tmi_value *value, const tamis_plan *plan, tmi_plan_condition *c)
{
    c->column = tmi_plan_find_column(plan, tmi_value_key(value));
    if (!c->column) {
        tmi_complain_column(reader, value, plan, tmi_value_key(value), false);
        return false;
    }
    if (c->column->is_number && c->column->is_category) return false; /* complained about already */
    return c->column->is_category ? read_codes(reader, value, c) : read_interval(reader, value, plan, c);
}

/* ---- indicators ---- */

/* By name: the plan in a certificate has its columns in another order, and the names of indicators must be the same there. */
static int by_column(const void *a, const void *b)
{
    const tmi_plan_condition *x = a, *y = b;
    return strcmp(x->column->name, y->column->name);
}

static bool same_conditions(const tmi_plan_column *column, const tmi_plan_condition *list, size_t count)
{
    if (column->condition_count != count) return false;
    for (size_t i = 0; i < count; i++) {
        const tmi_plan_condition *x = &column->conditions[i], *y = &list[i];
        if (x->column != y->column || x->least != y->least || x->most != y->most || x->code_count != y->code_count) return false;
        if (x->code_count > 0 && memcmp(x->codes, y->codes, x->code_count * sizeof *x->codes) != 0) return false;
    }
    return true;
}

/* awards=Yes & age=16..64: the ends as grid points, an end that is the column's own left open. */
static void put_conditions(tmi_text *text, const tmi_plan_condition *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const tmi_plan_condition *c = &list[i];
        tmi_text_format(text, i ? " & %s=" : "%s=", c->column->name);
        for (size_t j = 0; j < c->code_count; j++) {
            if (j > 0) tmi_text_put(text, "|");
            tmi_text_put(text, c->column->values[c->codes[j]]);
        }
        if (c->code_count > 0) continue;
        if (c->least > c->column->grid.low || c->least == c->most) put_point(text, c->column, c->least);
        if (c->least == c->most) continue;
        tmi_text_put(text, "..");
        if (c->most < c->column->grid.high) put_point(text, c->column, c->most);
    }
}

static tmi_plan_column *new_column(tmi_reader *reader, tamis_plan *plan)
{
    if (plan->column_count < plan->column_room) return &plan->columns[plan->column_count++];
    reader->no_memory = true;
    return NULL;
}

/* Takes the conditions. */
static const tmi_plan_column *add_indicator(tmi_reader *reader, tamis_plan *plan, tmi_plan_condition *list, size_t count)
{
    tmi_text name;
    tmi_plan_column *column = new_column(reader, plan);
    if (!column) return NULL;
    tmi_text_init(&name);
    put_conditions(&name, list, count);
    column->is_number = true;
    column->conditions = list;
    column->condition_count = count;
    bool right = tmi_text_take(&column->name, &name, NULL) == TAMIS_OK &&
                 tmi_number_ratio(&column->from, 0, 1, NULL) == TAMIS_OK &&
                 tmi_number_ratio(&column->to, 1, 1, NULL) == TAMIS_OK &&
                 tmi_number_ratio(&column->step, 1, 1, NULL) == TAMIS_OK &&
                 tmi_grid_set(&column->grid, column->from, column->to, column->step, NULL) == TAMIS_OK;
    if (!right) reader->no_memory = true;
    return right ? column : NULL;
}

static void free_conditions(tmi_plan_condition *list, size_t count)
{
    for (size_t i = 0; i < count; i++) tmi_free(list[i].codes);
    tmi_free(list);
}

/* Whether there is a stratum in which all conditions on what follows from the strata hold. */
static bool is_met(const tmi_plan_design *design, const tmi_plan_condition *list, size_t count)
{
    for (size_t h = 0; h < design->stratum_count; h++) {
        bool all = true;
        for (size_t i = 0; i < count && all; i++)
            if (tmi_is_of_strata(design, list[i].column))
                all = tmi_condition_has(&list[i], tmi_code_in_stratum(list[i].column, h));
        if (all) return true;
    }
    return design->stratum_count == 0;
}

const tmi_plan_column *tmi_read_indicator(tmi_reader *reader, const tmi_value *value, tamis_plan *plan)
{
    if (value->kind != TMI_VALUE_MAP || value->count == 0 || value->count > TMI_MAX_CONDITIONS) {
        tmi_complain(reader, value, "expected an indicator, a map of 1 to %d columns, e.g. {awards: \"Yes\"}",
                     TMI_MAX_CONDITIONS);
        return NULL;
    }
    tmi_plan_condition *list = tmi_alloc(value->count, sizeof *list);
    if (!list) {
        reader->no_memory = true;
        return NULL;
    }
    size_t count = 0;
    bool right = true;
    for (const tmi_value *item = tmi_value_first(value); item; item = tmi_value_next(item)) {
        bool first = tmi_value_get(value, tmi_value_key(item)) == item; /* a duplicate was complained about already */
        right = first && read_condition(reader, item, plan, &list[count]) && right;
        count++;
    }
    if (right && !reader->no_memory && !is_met(&plan->design, list, count)) {
        tmi_complain(reader, value, "expected conditions that some stratum meets: no stratum has this combination");
        right = false;
    }
    if (right && !reader->no_memory) {
        qsort(list, count, sizeof *list, by_column);
        for (size_t i = plan->declared_count; i < plan->column_count; i++) {
            if (!same_conditions(&plan->columns[i], list, count)) continue;
            free_conditions(list, count);
            return &plan->columns[i];
        }
        if (plan->column_count < plan->column_room) return add_indicator(reader, plan, list, count);
    }
    free_conditions(list, count);
    return NULL;
}

const tmi_plan_column *tmi_add_below(tmi_reader *reader, tamis_plan *plan, const tmi_plan_column *number, int64_t cut)
{
    const tmi_plan_condition below = {.column = number, .least = number->grid.low, .most = cut - 1};
    for (size_t i = plan->declared_count; i < plan->column_count; i++)
        if (same_conditions(&plan->columns[i], &below, 1)) return &plan->columns[i];
    tmi_plan_condition *list = tmi_alloc(1, sizeof *list);
    if (!list) {
        reader->no_memory = true;
        return NULL;
    }
    *list = below;
    if (plan->column_count < plan->column_room) return add_indicator(reader, plan, list, 1);
    tmi_free(list);
    return NULL;
}

/* ---- cuts ---- */

/* The cuts inside the range, as points and numbers; a cut at an end of the range says nothing and is left out. */
static bool read_points(tmi_reader *reader, const tmi_value *list, const tmi_plan_column *number, int64_t *cuts,
                        tamis_number **ends, size_t *count)
{
    const tmi_value *last = NULL;
    int64_t below = number->grid.low;
    const tamis_number *before = NULL;
    tamis_number *cut = NULL;
    for (const tmi_value *item = tmi_value_first(list); item; item = tmi_value_next(item)) {
        tamis_number_free(cut);
        cut = NULL;
        if (!tmi_read_exact(reader, item, &cut, "16")) return false;
        const char *wrong = tmi_number_compare(cut, number->from) < 0 || tmi_number_compare(cut, number->to) > 0
                                ? "expected a cut between from and to of the column"
                            : before && tmi_number_compare(cut, before) <= 0 ? "expected cuts in ascending order, e.g. [16, 65]"
                                                                             : NULL;
        bool end = !wrong && (tmi_number_compare(cut, number->from) == 0 || tmi_number_compare(cut, number->to) == 0);
        if (!wrong && !end) {
            if (!point_of(reader, &cuts[*count], number, cut, true)) break;
            if (cuts[*count] <= below || cuts[*count] > number->grid.high)
                wrong = "expected cuts with a grid point of the column between them: a bin would always be empty";
        }
        if (wrong) {
            tmi_complain(reader, item, "%s", wrong);
            tamis_number_free(cut);
            return false;
        }
        last = item;
        if (end && tmi_number_compare(cut, number->to) == 0 && tmi_value_next(item)) {
            tmi_complain(reader, tmi_value_next(item), "expected cuts in ascending order, e.g. [16, 65]");
            tamis_number_free(cut);
            return false;
        }
        if (end) continue;
        below = cuts[*count];
        before = ends[++*count] = cut;
        cut = NULL;
    }
    tamis_number_free(cut);
    return last && !reader->no_memory;
}

static const tmi_plan_column *find_cuts(const tamis_plan *plan, const tmi_plan_column *number, const int64_t *cuts, size_t count)
{
    for (size_t i = plan->declared_count; i < plan->column_count; i++) {
        const tmi_plan_column *c = &plan->columns[i];
        if (c->cut_of == number && c->value_count == count + 1 &&
            (count == 0 || memcmp(c->cuts, cuts, count * sizeof *cuts) == 0))
            return c;
    }
    return NULL;
}

/* Takes cuts and ends, and makes the labels. */
static const tmi_plan_column *add_cuts(tmi_reader *reader, tamis_plan *plan, const tmi_plan_column *number, int64_t *cuts,
                                       tamis_number **ends, size_t count)
{
    tmi_plan_column *column = new_column(reader, plan);
    if (!column) return NULL;
    column->is_category = true;
    column->cut_of = number;
    column->cuts = cuts;
    column->ends = ends;
    column->name = tmi_copy_text(number->name, strlen(number->name));
    column->values = tmi_alloc(count + 1, sizeof *column->values);
    column->value_count = count + 1;
    bool right = column->name && column->values;
    for (size_t i = 0; right && i <= count; i++) {
        tmi_text label;
        tmi_text_init(&label);
        tmi_text_put(&label, "[");
        put_number(&label, ends[i]);
        tmi_text_put(&label, ",");
        put_number(&label, ends[i + 1]);
        tmi_text_put(&label, i < count ? ")" : "]");
        right = tmi_text_take(&column->values[i], &label, NULL) == TAMIS_OK;
    }
    if (!right) reader->no_memory = true;
    return right ? column : NULL;
}

const tmi_plan_column *tmi_read_cuts(tmi_reader *reader, const tmi_value *list, tamis_plan *plan, const tmi_plan_column *number)
{
    if (!number->is_number) {
        tmi_complain(reader, list, "expected a number to cut; %s is a category", number->name);
        return NULL;
    }
    if (list->kind != TMI_VALUE_LIST || list->count == 0 || list->count > TMI_MAX_CUTS) {
        tmi_complain(reader, list, "expected a list of 1 to %d cuts, e.g. [16, 65]", TMI_MAX_CUTS);
        return NULL;
    }
    if (!has_points(reader, list, plan, number)) return NULL;
    size_t count = 0;
    const tmi_plan_column *found = NULL;
    int64_t *cuts = tmi_alloc(list->count, sizeof *cuts);
    tamis_number **ends = tmi_alloc(list->count + 2, sizeof *ends);
    bool right = cuts && ends && tmi_number_copy(&ends[0], number->from, NULL) == TAMIS_OK;
    if (!right) reader->no_memory = true;
    right = right && read_points(reader, list, number, cuts, ends, &count);
    if (right) found = find_cuts(plan, number, cuts, count);
    if (right && !found) {
        if (tmi_number_copy(&ends[count + 1], number->to, NULL) != TAMIS_OK) reader->no_memory = true;
        else if (plan->column_count < plan->column_room) return add_cuts(reader, plan, number, cuts, ends, count);
    }
    for (size_t i = 0; ends && i < list->count + 2; i++) tamis_number_free(ends[i]);
    tmi_free(ends);
    tmi_free(cuts);
    return found;
}
