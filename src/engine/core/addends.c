/* A block of a column is either given by the caller or made here in `room`. It is checked once before it enters a product: if
 * no row is missing, its points are used in place, otherwise a copy with 0 in the missing rows.
 *
 * Products below 2^52 are formed as integers: every step of the doubles in engine.h is exact for them, so the results
 * are the same.
 *   p = product, |p| <= 2^52.  p * 2^-s is exact. With s = 0 the sum p + 1/2 needs 53 bits and its floor is p. With s > 0,
 *   s <= 52, p * 2^-s + 1/2 = (p + 2^(s-1)) / 2^s with a numerator of at most 2^52 + 2^51 < 2^53: exact, and the floor is
 *   the arithmetic shift. */
#include "engine/core/addends.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

typedef struct block {
    const void *values; /* points or codes */
    void *room;         /* of a made column */
    bool *listed;       /* INDICATOR: for each condition with codes, whether a code is listed */
    int64_t *numbers;   /* LOOKUP: TMI_NO_POINT is the last one */
    bool looked, some_missing;
    const int64_t *points; /* 0 where missing */
    int64_t *filled;       /* room for them */
    int32_t *missing;      /* 1 or 0; not written if there are none */
} block;

typedef struct recipe {
    tmi_addend term;
    const tmi_measure *measure;
    size_t factors[TMI_MAX_FACTORS];                  /* columns in the layout */
    size_t needed[TMI_MAX_FACTORS + 2], needed_count; /* distinct columns that must not be missing */
    size_t where;                                     /* SIZE_MAX: no such column */
    bool is_integer, must_clamp;
    void *room; /* for the terms or for left_out */
} recipe;

struct tmi_addends {
    const tmi_layout *layout;
    block *blocks; /* one per column of the layout */
    recipe *recipes;
    size_t recipe_count;
};

/* ---- making ---- */

static bool same_measure(const tmi_measure *a, const tmi_measure *b)
{
    if (a->factor_count != b->factor_count || a->present[0] != b->present[0] || a->present[1] != b->present[1] ||
        a->where != b->where || a->shift != b->shift || a->low != b->low || a->high != b->high)
        return false;
    for (size_t f = 0; f < a->factor_count; f++)
        if (a->factors[f].column != b->factors[f].column || a->factors[f].minus != b->factors[f].minus) return false;
    return true;
}

static recipe *find_recipe(const tmi_addends *terms, const tmi_measure *measure)
{
    for (size_t r = 0; r < terms->recipe_count; r++)
        if (same_measure(terms->recipes[r].measure, measure)) return &terms->recipes[r];
    return NULL;
}

const tmi_addend *tmi_addend_of(const tmi_addends *terms, const tmi_measure *measure)
{
    return &find_recipe(terms, measure)->term;
}

static int64_t clamp(int64_t x, int64_t low, int64_t high)
{
    x = x < low ? low : x;
    return x > high ? high : x;
}

static int64_t size_of(int64_t x) { return x < 0 ? -x : x; }

static void need(recipe *recipe, size_t column)
{
    for (size_t i = 0; i < recipe->needed_count; i++)
        if (recipe->needed[i] == column) return;
    recipe->needed[recipe->needed_count++] = column;
}

/* How a measure is computed, from the public ranges of its columns. */
static void plan_recipe(recipe *made, const tmi_measure *measure, const tmi_layout *layout)
{
    double bound = 1, least = 1, most = 1;
    made->measure = measure;
    for (size_t f = 0; f < measure->factor_count; f++) {
        const tmi_factor *factor = &measure->factors[f];
        int64_t low, high;
        tmi_point_range(&low, &high, factor->column);
        const double a = (double)(low - factor->minus), b = (double)(high - factor->minus);
        /* A missing point counts as 0 in the product, and no earlier product may be larger in size. */
        bound *= fmax(fmax(fabs(a), fabs(b)), fmax(1, fabs((double)factor->minus)));
        const double ends[] = {least * a, least * b, most * a, most * b};
        least = fmin(fmin(ends[0], ends[1]), fmin(ends[2], ends[3]));
        most = fmax(fmax(ends[0], ends[1]), fmax(ends[2], ends[3]));
        made->factors[f] = tmi_layout_index(layout, factor->column);
        need(made, made->factors[f]);
    }
    for (size_t p = 0; p < 2; p++)
        if (measure->present[p]) need(made, tmi_layout_index(layout, measure->present[p]));
    made->where = measure->where ? tmi_layout_index(layout, measure->where) : SIZE_MAX;
    /* A bound of at most 2^52 was computed exactly, and so were the smaller products before it. */
    made->is_integer = bound <= (double)TMI_MAX_GRID && measure->shift <= 52;
    made->must_clamp = !made->is_integer || floor(ldexp(least, -measure->shift) + 0.5) < (double)measure->low ||
                       floor(ldexp(most, -measure->shift) + 0.5) > (double)measure->high;
    made->term.kind = measure->factor_count == 0 ? TMI_ADD_ONES : TMI_ADD_SUM;
    made->term.one = clamp(measure->shift <= 1, measure->low, measure->high); /* floor(2^-shift + 1/2) */
    const double largest = made->is_integer ? ldexp(bound, -measure->shift) + 1 : (double)TMI_MAX_GRID;
    const int64_t low = size_of(measure->low), high = size_of(measure->high);
    made->term.largest = made->term.kind == TMI_ADD_ONES ? 1 : low > high ? low : high;
    if (!made->must_clamp && largest < (double)made->term.largest) made->term.largest = (int64_t)largest;
}

/* Room for a column that is a factor or must be present. */
static bool make_look(block *made)
{
    if (made->missing) return true;
    made->filled = tmi_alloc(TMI_BLOCK, sizeof *made->filled);
    made->missing = tmi_alloc(TMI_BLOCK, sizeof *made->missing);
    return made->filled && made->missing;
}

static bool make_recipe(tmi_addends *terms, const tmi_measure *measure)
{
    if (find_recipe(terms, measure)) return true;
    recipe *made = &terms->recipes[terms->recipe_count];
    plan_recipe(made, measure, terms->layout);
    for (size_t i = 0; i < made->needed_count; i++)
        if (!make_look(&terms->blocks[made->needed[i]])) return false;
    made->room = tmi_alloc(TMI_BLOCK, sizeof(int64_t));
    terms->recipe_count++;
    return made->room;
}

static bool make_column(block *made, const tmi_column *column)
{
    size_t list = 0, at = 0;
    if (tmi_is_given(column) || column->kind == TMI_LABEL) return true;
    made->room = tmi_alloc(TMI_BLOCK, sizeof(int64_t));
    if (!made->room) return false;
    if (column->kind == TMI_LOOKUP) {
        const size_t count = column->of->value_count;
        made->numbers = tmi_alloc(count + 1, sizeof *made->numbers);
        if (!made->numbers) return false;
        memcpy(made->numbers, column->numbers, count * sizeof *made->numbers);
        made->numbers[count] = TMI_NO_POINT;
    }
    if (column->kind != TMI_INDICATOR) return true;
    for (size_t i = 0; i < column->condition_count; i++) list += column->conditions[i].column->value_count + 1;
    made->listed = tmi_alloc(list, sizeof *made->listed);
    if (!made->listed) return false;
    for (size_t i = 0; i < column->condition_count; i++) {
        const tmi_condition *condition = &column->conditions[i];
        const size_t count = condition->column->value_count;
        for (size_t j = 0; tmi_has_codes(condition->column) && j < condition->code_count; j++)
            if (condition->codes[j] >= 0 && (size_t)condition->codes[j] < count)
                made->listed[at + (size_t)condition->codes[j]] = true;
        at += count + 1;
    }
    return true;
}

tmi_addends *tmi_addends_new(const tmi_layout *layout)
{
    const tmi_request *request = layout->request;
    size_t measures = 0;
    tmi_addends *terms = tmi_alloc(1, sizeof *terms);
    if (!terms) return NULL;
    for (size_t t = 0; t < request->table_count; t++) measures += request->tables[t].measure_count;
    terms->layout = layout;
    terms->blocks = tmi_alloc(layout->column_count, sizeof *terms->blocks);
    terms->recipes = tmi_alloc(measures, sizeof *terms->recipes);
    bool made = terms->blocks && terms->recipes;
    for (size_t c = 0; made && c < layout->column_count; c++) made = make_column(&terms->blocks[c], layout->columns[c]);
    for (size_t t = 0; made && t < request->table_count; t++)
        for (size_t m = 0; made && m < request->tables[t].measure_count; m++)
            made = make_recipe(terms, &request->tables[t].measures[m]);
    if (made) return terms;
    tmi_addends_free(terms);
    return NULL;
}

static void wipe_and_free(void *room, size_t size)
{
    if (room) tmi_wipe(room, size);
    tmi_free(room);
}

void tmi_addends_free(tmi_addends *terms)
{
    if (!terms) return;
    for (size_t c = 0; terms->blocks && c < terms->layout->column_count; c++) {
        block *b = &terms->blocks[c];
        wipe_and_free(b->room, TMI_BLOCK * sizeof(int64_t));
        wipe_and_free(b->filled, TMI_BLOCK * sizeof *b->filled);
        wipe_and_free(b->missing, TMI_BLOCK * sizeof *b->missing);
        tmi_free(b->listed);
        tmi_free(b->numbers);
    }
    for (size_t r = 0; r < terms->recipe_count; r++) wipe_and_free(terms->recipes[r].room, TMI_BLOCK * sizeof(int64_t));
    tmi_free(terms->blocks);
    tmi_free(terms->recipes);
    tmi_free(terms);
}

/* ---- made columns ---- */

static const block *block_of(const tmi_addends *terms, const tmi_column *column)
{
    return &terms->blocks[tmi_layout_index(terms->layout, column)];
}

static void make_cuts(int32_t *codes, const tmi_column *column, const int64_t *points, size_t n)
{
    const size_t cuts = column->value_count - 1;
    for (size_t i = 0; i < n; i++) {
        size_t low = 0, high = cuts; /* cuts[0 .. low) <= point < cuts[high ..) */
        while (low < high) {
            const size_t middle = low + (high - low) / 2;
            if (column->cuts[middle] <= points[i]) low = middle + 1;
            else high = middle;
        }
        codes[i] = points[i] == TMI_NO_POINT ? (int32_t)column->value_count : (int32_t)low;
    }
}

static void make_indicator(int64_t *points, const tmi_addends *terms, const tmi_column *column, const bool *listed, size_t n)
{
    for (size_t i = 0; i < n; i++) points[i] = 1;
    for (size_t c = 0; c < column->condition_count; c++) {
        const tmi_condition *condition = &column->conditions[c];
        const size_t count = condition->column->value_count;
        const void *values = block_of(terms, condition->column)->values;
        for (size_t i = 0; i < n; i++) {
            bool missing, holds;
            if (tmi_has_points(condition->column)) {
                const int64_t k = ((const int64_t *)values)[i];
                missing = k == TMI_NO_POINT;
                holds = condition->least <= k && k <= condition->most;
            } else {
                const int32_t code = ((const int32_t *)values)[i];
                missing = code == (int32_t)count;
                holds = listed[code];
            }
            if (!missing && !holds) points[i] = 0;
            else if (missing && points[i] != 0) points[i] = TMI_NO_POINT;
        }
        listed += count + 1;
    }
}

static void make_values(tmi_addends *terms, size_t c, size_t n)
{
    const tmi_column *column = terms->layout->columns[c];
    block *made = &terms->blocks[c];
    made->values = made->room;
    if (column->kind == TMI_CUTS) {
        make_cuts(made->room, column, block_of(terms, column->of)->values, n);
    } else if (column->kind == TMI_INDICATOR) {
        make_indicator(made->room, terms, column, made->listed, n);
    } else {
        const int32_t *codes = block_of(terms, column->of)->values;
        int64_t *points = made->room;
        for (size_t i = 0; i < n; i++) points[i] = made->numbers[codes[i]];
    }
}

/* ---- terms ---- */

static void look_at(block *b, const tmi_column *column, size_t n)
{
    int some = 0;
    if (b->looked) return;
    b->looked = true;
    if (tmi_has_codes(column)) {
        const int32_t *codes = b->values, none = (int32_t)column->value_count;
        for (size_t i = 0; i < n; i++) some |= codes[i] == none;
        for (size_t i = 0; some && i < n; i++) b->missing[i] = codes[i] == none;
    } else {
        const int64_t *points = b->values;
        uint64_t any = 0; /* |k| < 2^52: only the smallest integer stays negative */
        for (size_t i = 0; i < n; i++) any |= (uint64_t)(points[i] + TMI_MAX_GRID);
        some = any >> 63 != 0;
        b->points = some ? b->filled : points;
        for (size_t i = 0; some && i < n; i++) {
            b->missing[i] = points[i] == TMI_NO_POINT;
            b->filled[i] = points[i] == TMI_NO_POINT ? 0 : points[i];
        }
    }
    b->some_missing = some;
}

/* The sum of `minus` and the point has less than 53 bits; see the top for the rest. */
static void multiply_integers(int64_t *restrict to, const recipe *recipe, const block *blocks, size_t n)
{
    const tmi_measure *measure = recipe->measure;
    const int64_t *first = blocks[recipe->factors[0]].points, minus = measure->factors[0].minus;
    for (size_t i = 0; i < n; i++) to[i] = first[i] - minus;
    for (size_t f = 1; f < measure->factor_count; f++) {
        const int64_t *next = blocks[recipe->factors[f]].points, off = measure->factors[f].minus;
        for (size_t i = 0; i < n; i++) to[i] *= next[i] - off;
    }
    if (measure->shift > 0) {
        const int64_t half = INT64_C(1) << (measure->shift - 1);
        for (size_t i = 0; i < n; i++) to[i] = (to[i] + half) >> measure->shift;
    }
    for (size_t i = 0; recipe->must_clamp && i < n; i++) to[i] = clamp(to[i], measure->low, measure->high);
}

/* low and high are integers, so clamping may come before the floor. */
static void multiply_doubles(int64_t *restrict to, const recipe *recipe, const block *blocks, size_t n)
{
    const tmi_measure *measure = recipe->measure;
    const double scale = ldexp(1, -measure->shift), low = (double)measure->low, high = (double)measure->high;
    double product[TMI_BLOCK];
    for (size_t i = 0; i < n; i++) product[i] = 1;
    for (size_t f = 0; f < measure->factor_count; f++) {
        const int64_t *points = blocks[recipe->factors[f]].points, minus = measure->factors[f].minus;
        for (size_t i = 0; i < n; i++) product[i] *= (double)(points[i] - minus);
    }
    for (size_t i = 0; i < n; i++) {
        double term = product[i] * scale + 0.5;
        term = term > low ? term : low;
        term = term < high ? term : high;
        const int64_t k = (int64_t)term;
        to[i] = k - ((double)k > term);
    }
    tmi_wipe(product, sizeof product);
}

static void make_sum(recipe *recipe, const block *blocks, size_t n)
{
    const tmi_measure *measure = recipe->measure;
    const block *first = &blocks[recipe->factors[0]];
    int64_t *to = recipe->room;
    bool all_there = recipe->where == SIZE_MAX;
    for (size_t j = 0; j < recipe->needed_count; j++)
        if (recipe->needed[j] != recipe->factors[0]) all_there = all_there && !blocks[recipe->needed[j]].some_missing;
    recipe->term.terms = to;
    if (measure->factor_count == 1 && measure->factors[0].minus == 0 && measure->shift == 0 && !recipe->must_clamp && all_there) {
        recipe->term.terms = first->points; /* 0 where it is missing */
        return;
    }
    (recipe->is_integer ? multiply_integers : multiply_doubles)(to, recipe, blocks, n);
    for (size_t j = 0; j < recipe->needed_count; j++) {
        const block *b = &blocks[recipe->needed[j]];
        for (size_t i = 0; b->some_missing && i < n; i++) to[i] &= (int64_t)b->missing[i] - 1;
    }
    if (recipe->where == SIZE_MAX) return;
    const int64_t *where = blocks[recipe->where].values;
    for (size_t i = 0; i < n; i++) to[i] &= -(int64_t)(where[i] == 1);
}

static void make_ones(recipe *recipe, const block *blocks, size_t n)
{
    int32_t *to = recipe->room;
    recipe->term.left_out = NULL;
    if (recipe->where != SIZE_MAX) {
        const int64_t *where = blocks[recipe->where].values;
        for (size_t i = 0; i < n; i++) to[i] = where[i] != 1;
        recipe->term.left_out = to;
    }
    for (size_t j = 0; j < recipe->needed_count; j++) {
        const block *b = &blocks[recipe->needed[j]];
        if (!b->some_missing) continue;
        if (!recipe->term.left_out && recipe->needed_count == 1) {
            recipe->term.left_out = b->missing;
            return;
        }
        if (!recipe->term.left_out) memset(to, 0, n * sizeof *to);
        recipe->term.left_out = to;
        for (size_t i = 0; i < n; i++) to[i] |= b->missing[i];
    }
}

void tmi_addends_make(tmi_addends *terms, const void *const *columns, size_t n)
{
    const tmi_layout *layout = terms->layout;
    for (size_t c = 0; c < layout->column_count; c++) {
        terms->blocks[c].looked = false;
        if (tmi_is_given(layout->columns[c])) terms->blocks[c].values = columns[c];
        else if (layout->columns[c]->kind != TMI_LABEL) make_values(terms, c, n);
    }
    for (size_t r = 0; r < terms->recipe_count; r++) {
        recipe *recipe = &terms->recipes[r];
        for (size_t j = 0; j < recipe->needed_count; j++)
            look_at(&terms->blocks[recipe->needed[j]], layout->columns[recipe->needed[j]], n);
        (recipe->term.kind == TMI_ADD_SUM ? make_sum : make_ones)(recipe, terms->blocks, n);
    }
}

const int32_t *tmi_addends_codes(const tmi_addends *terms, size_t c) { return terms->blocks[c].values; }
