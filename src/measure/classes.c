#include "measure/classes.h"

#include <string.h>

#include "base/memory.h"

/* ---- questions ---- */

tmi_question tmi_question_by(const tmi_plan_column *by)
{
    if (by->cut_of) return (tmi_question){.column = by->cut_of, .bins = by};
    return by->recode_of ? (tmi_question){.column = by->recode_of, .recode = by} : (tmi_question){.column = by};
}

tmi_question tmi_question_curve(const tmi_plan_curve *c) { return (tmi_question){.column = c->column, .curve = c}; }

tmi_question tmi_question_if(const tmi_plan_condition *c)
{
    return (tmi_question){.column = c->column->recode_of ? c->column->recode_of : c->column, .condition = c};
}

tmi_question tmi_question_whole(const tmi_plan_column *indicator, bool is_where)
{
    return (tmi_question){.column = indicator, .is_where = is_where};
}

size_t tmi_question_size(const tmi_question *q)
{
    if (q->bins) return q->bins->value_count;
    if (q->curve) return q->curve->cut_count + 1;
    if (q->recode) return q->recode->value_count;
    return q->condition || q->column->conditions ? 2 : q->column->value_count;
}

/* ---- classes ---- */

void tmi_classes_clear(tmi_classes *c)
{
    tmi_free(c->class_of);
    tmi_free(c->code_of);
    tmi_free(c->cuts);
    *c = (tmi_classes){0};
}

bool tmi_classes_make(tmi_classes *c, const tmi_question *q, bool rest)
{
    const bool category = q->column->is_category, indicator = q->column->conditions != NULL;
    *c = (tmi_classes){.column = q->column, .count = 1, .rest = rest, .is_where = q->is_where, .axis = SIZE_MAX};
    if (category) {
        c->class_of = tmi_alloc(q->column->value_count, sizeof *c->class_of);
        c->code_of = tmi_alloc(q->column->value_count, sizeof *c->code_of);
    }
    if (indicator) {
        c->cuts = tmi_alloc(1, sizeof *c->cuts);
        c->count = 2;
        if (c->cuts) c->cuts[0] = 1;
    }
    return (!category || (c->class_of && c->code_of)) && (!indicator || c->cuts);
}

/* Whether a condition holds for a code of the column of the classes, which a recode follows from. */
static bool holds_for(const tmi_plan_condition *c, size_t code)
{
    return tmi_condition_has(c, c->column->recode ? (size_t)c->column->recode[code] : code);
}

/* Codes with the same class and the same answer stay together; classes are numbered in the order of their first codes. */
static bool divide_codes(size_t *count, tmi_classes *c, const tmi_question *q, bool tried)
{
    const size_t codes = c->column->value_count;
    const size_t answers = q->recode ? q->recode->value_count : 2; /* those of a recode, or no and yes */
    int32_t *divided = tmi_alloc(codes, sizeof *divided), *found = tmi_alloc(c->count, answers * sizeof *found);
    const bool room = divided && found;
    *count = 0;
    for (size_t i = 0; room && i < codes; i++) {
        const size_t first = answers * (size_t)c->class_of[i];
        int32_t *place = q->condition ? &found[first + holds_for(q->condition, i)]
                         : q->recode  ? &found[first + (size_t)q->recode->recode[i]]
                                      : &divided[i];
        if (*place == 0) *place = (int32_t)++ * count; /* numbered from 1 */
        divided[i] = *place;
    }
    for (size_t i = codes; room && !tried && i-- > 0;) { /* backwards: the first code of a class remains */
        c->class_of[i] = divided[i] - 1;
        c->code_of[c->class_of[i]] = (int32_t)i;
    }
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
        if (!holds_for(condition, i)) continue;
        for (size_t j = 0; j < c->column->value_count; j++)
            if (c->class_of[j] == c->class_of[i] && !holds_for(condition, j)) return false;
    }
    return true;
}

/* The values of a recode are answered if all codes of a class have the same one. */
static bool has_recode(const tmi_classes *c, const int32_t *recode)
{
    for (size_t i = 0; i < c->column->value_count; i++)
        if (recode[c->code_of[c->class_of[i]]] != recode[i]) return false;
    return true;
}

bool tmi_classes_answer(const tmi_classes *c, const tmi_question *q)
{
    int64_t cut;
    if (c->column != q->column || c->is_where != q->is_where) return false;
    if (c->column->conditions) return true;
    if (c->column->is_category)
        return q->condition ? fills_classes(c, q->condition)
               : q->recode  ? has_recode(c, q->recode->recode)
                            : c->count == c->column->value_count;
    for (size_t i = 0; next_cut(&cut, q, i); i++)
        if (!has_cut(c, cut)) return false;
    return true;
}

/* ---- vectors ---- */

bool tmi_class_has_value(const tmi_classes *c, const tmi_plan_column *by, size_t value, size_t class)
{
    if (by->recode) return (size_t)by->recode[c->code_of[class]] == value;
    if (c->class_of) return (size_t)c->class_of[value] == class;
    const int64_t least = class > 0 ? c->cuts[class - 1] : c->column->grid.low; /* of a number, as the bins are */
    return (value == 0 || by->cuts[value - 1] <= least) && (value + 1 == by->value_count || least < by->cuts[value]);
}

void tmi_classes_of_value(size_t *first, size_t *end, const tmi_classes *c, const tmi_plan_column *by, size_t value)
{
    if (by->recode) { /* those between the first and the last of them */
        for (*first = 0; *first < c->count && !tmi_class_has_value(c, by, value, *first);) ++*first;
        for (*end = c->count; *end > *first && !tmi_class_has_value(c, by, value, *end - 1);) --*end;
        return;
    }
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
        if (holds_for(condition, i)) v[c->class_of[i]] = 1;
    for (size_t i = 0; !c->class_of && i < c->count; i++) {
        const int64_t least = i > 0 ? c->cuts[i - 1] : c->column->grid.low;
        v[i] = least >= condition->least && least <= condition->most ? 1 : 0;
    }
}
