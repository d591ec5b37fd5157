#include "measure/classes.h"

#include <string.h>

#include "base/memory.h"

/* ---- questions ---- */

tmi_question tmi_question_by(const tmi_plan_column *by)
{
    return by->cut_of ? (tmi_question){.column = by->cut_of, .bins = by} : (tmi_question){.column = by};
}

tmi_question tmi_question_curve(const tmi_plan_curve *c) { return (tmi_question){.column = c->column, .curve = c}; }

tmi_question tmi_question_if(const tmi_plan_condition *c) { return (tmi_question){.column = c->column, .condition = c}; }

tmi_question tmi_question_whole(const tmi_plan_column *indicator, bool is_where)
{
    return (tmi_question){.column = indicator, .is_where = is_where};
}

size_t tmi_question_size(const tmi_question *q)
{
    if (q->bins) return q->bins->value_count;
    if (q->curve) return q->curve->cut_count + 1;
    return q->condition || q->column->conditions ? 2 : q->column->value_count;
}

/* ---- classes ---- */

void tmi_classes_clear(tmi_classes *c)
{
    tmi_free(c->class_of);
    tmi_free(c->cuts);
    *c = (tmi_classes){0};
}

bool tmi_classes_make(tmi_classes *c, const tmi_question *q, bool rest)
{
    const bool category = q->column->is_category, indicator = q->column->conditions != NULL;
    *c = (tmi_classes){.column = q->column, .count = 1, .rest = rest, .is_where = q->is_where, .axis = SIZE_MAX};
    if (category) c->class_of = tmi_alloc(q->column->value_count, sizeof *c->class_of);
    if (indicator) {
        c->cuts = tmi_alloc(1, sizeof *c->cuts);
        c->count = 2;
        if (c->cuts) c->cuts[0] = 1;
    }
    return (!category || c->class_of) && (!indicator || c->cuts);
}

/* Codes ascend. */
static bool has_code(const tmi_plan_condition *c, size_t code)
{
    size_t low = 0, high = c->code_count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if ((size_t)c->codes[middle] < code) low = middle + 1;
        else high = middle;
    }
    return low < c->code_count && (size_t)c->codes[low] == code;
}

/* Codes with the same class and the same answer stay together; classes are numbered in the order of their first codes. */
static bool divide_codes(size_t *count, tmi_classes *c, const tmi_question *q, bool tried)
{
    const size_t codes = c->column->value_count;
    int32_t *divided = tmi_alloc(codes, sizeof *divided), *found = tmi_alloc(2 * c->count, sizeof *found);
    const bool room = divided && found;
    *count = 0;
    for (size_t i = 0; room && i < codes; i++) {
        int32_t *place = q->condition ? &found[2 * c->class_of[i] + has_code(q->condition, i)] : &divided[i];
        if (*place == 0) *place = (int32_t)++ * count; /* numbered from 1 */
        divided[i] = *place;
    }
    for (size_t i = 0; room && !tried && i < codes; i++) c->class_of[i] = divided[i] - 1;
    if (room && !tried) c->count = *count;
    tmi_free(divided);
    tmi_free(found);
    return room;
}

static bool has_cut(const tmi_classes *c, int64_t cut)
{
    for (size_t i = 0; i + 1 < c->count; i++)
        if (c->cuts[i] == cut) return true;
    return false;
}

static bool insert_cut(tmi_classes *c, int64_t cut)
{
    int64_t *cuts = tmi_realloc(c->cuts, c->count, sizeof *cuts);
    if (!cuts) return false;
    size_t i = c->count - 1;
    for (; i > 0 && cuts[i - 1] > cut; i--) cuts[i] = cuts[i - 1];
    cuts[i] = cut;
    c->cuts = cuts;
    c->count++;
    return true;
}

/* The cut before point number i of those that a question about a number names; false if there are no more. */
static bool next_cut(int64_t *cut, const tmi_question *q, size_t i)
{
    const tmi_plan_column *x = q->column;
    if (q->bins) {
        if (i + 1 >= q->bins->value_count) return false;
        *cut = q->bins->cuts[i];
        return true;
    }
    if (q->curve) {
        if (i >= q->curve->cut_count) return false;
        *cut = q->curve->cuts[i];
        return true;
    }
    int64_t ends[2];
    size_t count = 0;
    if (q->condition->least > x->grid.low) ends[count++] = q->condition->least;
    if (q->condition->most < x->grid.high) ends[count++] = q->condition->most + 1;
    if (i >= count) return false;
    *cut = ends[i];
    return true;
}

static bool divide_points(size_t *count, tmi_classes *c, const tmi_question *q, bool tried)
{
    int64_t cut;
    *count = c->count;
    for (size_t i = 0; next_cut(&cut, q, i); i++) {
        if (has_cut(c, cut)) continue;
        (*count)++;
        if (!tried && !insert_cut(c, cut)) return false;
    }
    return true;
}

bool tmi_classes_divide(size_t *count, tmi_classes *c, const tmi_question *q, bool tried)
{
    *count = c->count;
    if (c->column->conditions) return true;
    return c->column->is_category ? divide_codes(count, c, q, tried) : divide_points(count, c, q, tried);
}

/* A condition on codes is answered if no class has codes on both sides: its codes fill their classes. */
static bool fills_classes(const tmi_classes *c, const tmi_plan_condition *condition)
{
    for (size_t i = 0; i < c->column->value_count; i++) {
        if (!has_code(condition, i)) continue;
        for (size_t j = 0; j < c->column->value_count; j++)
            if (c->class_of[j] == c->class_of[i] && !has_code(condition, j)) return false;
    }
    return true;
}

bool tmi_classes_answer(const tmi_classes *c, const tmi_question *q)
{
    int64_t cut;
    if (c->column != q->column || c->is_where != q->is_where) return false;
    if (c->column->conditions) return true;
    if (c->column->is_category) return q->condition ? fills_classes(c, q->condition) : c->count == c->column->value_count;
    for (size_t i = 0; next_cut(&cut, q, i); i++)
        if (!has_cut(c, cut)) return false;
    return true;
}

/* ---- vectors ---- */

void tmi_classes_of_value(size_t *first, size_t *end, const tmi_classes *c, const tmi_plan_column *by, size_t value)
{
    if (c->class_of) {
        *first = (size_t)c->class_of[value];
        *end = *first + 1;
        return;
    }
    *first = 0;
    while (value > 0 && c->cuts[*first] != by->cuts[value - 1]) ++*first;
    *first += value > 0;
    *end = *first + 1;
    while (*end < c->count && (value + 1 == by->value_count || c->cuts[*end - 1] != by->cuts[value])) ++*end;
}

void tmi_condition_vector(double *v, const tmi_classes *c, const tmi_plan_condition *condition)
{
    memset(v, 0, tmi_classes_levels(c) * sizeof *v);
    for (size_t i = 0; c->class_of && i < c->column->value_count; i++)
        if (has_code(condition, i)) v[c->class_of[i]] = 1;
    for (size_t i = 0; !c->class_of && i < c->count; i++) {
        const int64_t least = i > 0 ? c->cuts[i - 1] : c->column->grid.low;
        v[i] = least >= condition->least && least <= condition->most ? 1 : 0;
    }
}
