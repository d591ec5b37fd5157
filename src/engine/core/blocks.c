#include "engine/core/blocks.h"

#include <string.h>

#include "base/memory.h"
#include "engine/core/products.h"

/* Of a TMI_PRODUCT column. */
struct tmi_factors {
    tmi_measure measure;
    tmi_product product;
};

/* ---- making ---- */

static bool make_numbers(tmi_block *made, const tmi_column *column)
{
    const size_t count = column->of->value_count;
    made->numbers = tmi_alloc(count + 1, sizeof *made->numbers);
    if (!made->numbers) return false;
    memcpy(made->numbers, column->numbers, count * sizeof *made->numbers);
    made->numbers[count] = TMI_NO_POINT;
    return true;
}

static bool make_listed(tmi_block *made, const tmi_column *column)
{
    size_t list = 0, at = 0;
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

static bool make_class_list(tmi_block *made, const tmi_column *column)
{
    const size_t count = tmi_class_count(column);
    const int32_t none = (int32_t)column->value_count;
    made->classes = tmi_alloc(count + 1, sizeof *made->classes);
    if (!made->classes) return false;
    for (size_t v = 0; v < count; v++) made->classes[v] = column->classes[v] < 0 ? none : column->classes[v];
    made->classes[count] = column->has_instead ? (int32_t)column->instead : none;
    return true;
}

static bool make_factors(tmi_blocks *blocks, tmi_block *made, const tmi_column *column)
{
    made->factors = tmi_alloc(1, sizeof *made->factors);
    if (!made->factors) return false;
    made->factors->measure = tmi_product_measure(column);
    return tmi_product_plan(&made->factors->product, &made->factors->measure, blocks) &&
           tmi_block_prepare(blocks, made->factors->product.columns[0]) &&
           tmi_block_prepare(blocks, made->factors->product.columns[1]);
}

static bool make_column(tmi_blocks *blocks, size_t c)
{
    const tmi_column *column = blocks->layout->columns[c];
    tmi_block *made = &blocks->list[c];
    if (tmi_is_given(column) || column->kind == TMI_LABEL) return true;
    made->room = tmi_alloc(TMI_BLOCK, sizeof(int64_t));
    if (!made->room) return false;
    if (column->kind == TMI_LOOKUP) return make_numbers(made, column);
    if (column->kind == TMI_INDICATOR) return make_listed(made, column);
    if (column->kind == TMI_CLASSES) return make_class_list(made, column);
    if (column->kind == TMI_PRODUCT) return make_factors(blocks, made, column);
    return true;
}

bool tmi_blocks_make(tmi_blocks *blocks, const tmi_layout *layout)
{
    *blocks = (tmi_blocks){.layout = layout, .list = tmi_alloc(layout->column_count, sizeof *blocks->list)};
    blocks->products = tmi_products_new();
    bool made = blocks->list && blocks->products;
    for (size_t c = 0; made && c < layout->column_count; c++) made = make_column(blocks, c);
    return made;
}

bool tmi_block_prepare(tmi_blocks *blocks, size_t c)
{
    tmi_block *b = &blocks->list[c];
    if (!b->filled) b->filled = tmi_alloc(TMI_BLOCK, sizeof *b->filled);
    if (!b->missing) b->missing = tmi_alloc(TMI_BLOCK, sizeof *b->missing);
    return b->filled && b->missing;
}

static void wipe_and_free(void *room, size_t size)
{
    if (room) tmi_wipe(room, size);
    tmi_free(room);
}

void tmi_blocks_clear(tmi_blocks *blocks)
{
    for (size_t c = 0; blocks->list && c < blocks->layout->column_count; c++) {
        tmi_block *b = &blocks->list[c];
        wipe_and_free(b->room, TMI_BLOCK * sizeof(int64_t));
        wipe_and_free(b->filled, TMI_BLOCK * sizeof *b->filled);
        wipe_and_free(b->missing, TMI_BLOCK * sizeof *b->missing);
        tmi_free(b->listed);
        tmi_free(b->numbers);
        tmi_free(b->classes);
        tmi_free(b->factors);
    }
    tmi_free(blocks->list);
    tmi_products_free(blocks->products);
    *blocks = (tmi_blocks){0};
}

/* ---- made columns ---- */

static const void *values_of(const tmi_blocks *blocks, const tmi_column *column)
{
    return blocks->list[tmi_layout_index(blocks->layout, column)].values;
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

static void make_indicator(int64_t *points, const tmi_blocks *blocks, const tmi_column *column, const bool *listed, size_t n)
{
    for (size_t i = 0; i < n; i++) points[i] = 1;
    for (size_t c = 0; c < column->condition_count; c++) {
        const tmi_condition *condition = &column->conditions[c];
        const size_t count = condition->column->value_count;
        const void *values = values_of(blocks, condition->column);
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

static void make_lookup(int64_t *points, const int64_t *numbers, const int32_t *codes, size_t n)
{
    for (size_t i = 0; i < n; i++) points[i] = numbers[codes[i]];
}

static void make_classes(int32_t *codes, const tmi_column *of, const int32_t *classes, const void *values, size_t n)
{
    const int64_t *points = values;
    const int32_t *old = values;
    if (tmi_has_points(of))
        for (size_t i = 0; i < n; i++) codes[i] = classes[points[i] == TMI_NO_POINT];
    else
        for (size_t i = 0; i < n; i++) codes[i] = classes[old[i]];
}

static void make_product(tmi_blocks *blocks, const tmi_block *made, const tmi_column *column, size_t n)
{
    const tmi_product *product = &made->factors->product;
    const int64_t instead = column->has_instead ? column->instead : TMI_NO_POINT;
    int64_t *points = made->room;
    for (size_t f = 0; f < 2; f++) tmi_block_look(blocks, product->columns[f], n);
    tmi_product_terms(points, product, blocks, n);
    for (size_t f = 0; f < 2; f++) {
        const tmi_block *b = &blocks->list[product->columns[f]];
        for (size_t i = 0; b->some_missing && i < n; i++) points[i] = b->missing[i] ? instead : points[i];
    }
}

static void make_difference(int64_t *points, const int64_t *of, const int64_t *second, size_t n)
{
    for (size_t i = 0; i < n; i++)
        points[i] = of[i] == TMI_NO_POINT || second[i] == TMI_NO_POINT ? TMI_NO_POINT : of[i] - second[i];
}

static void make_values(tmi_blocks *blocks, size_t c, size_t n)
{
    const tmi_column *column = blocks->layout->columns[c];
    tmi_block *made = &blocks->list[c];
    made->values = made->room;
    if (column->kind == TMI_CUTS) make_cuts(made->room, column, values_of(blocks, column->of), n);
    else if (column->kind == TMI_INDICATOR) make_indicator(made->room, blocks, column, made->listed, n);
    else if (column->kind == TMI_CLASSES) make_classes(made->room, column->of, made->classes, values_of(blocks, column->of), n);
    else if (column->kind == TMI_PRODUCT) make_product(blocks, made, column, n);
    else if (column->kind == TMI_DIFFERENCE)
        make_difference(made->room, values_of(blocks, column->of), values_of(blocks, column->second), n);
    else make_lookup(made->room, made->numbers, values_of(blocks, column->of), n);
}

void tmi_blocks_set(tmi_blocks *blocks, const void *const *columns, size_t n)
{
    const tmi_layout *layout = blocks->layout;
    tmi_products_begin(blocks->products);
    for (size_t c = 0; c < layout->column_count; c++) {
        blocks->list[c].looked = false;
        const bool bounded = tmi_is_made_and_bounded(layout->columns[c]) && columns[c];
        if (tmi_is_given(layout->columns[c]) || bounded) blocks->list[c].values = columns[c];
        else if (layout->columns[c]->kind != TMI_LABEL) make_values(blocks, c, n);
    }
}

/* ---- missing rows ---- */

void tmi_block_look(tmi_blocks *blocks, size_t c, size_t n)
{
    const tmi_column *column = blocks->layout->columns[c];
    tmi_block *b = &blocks->list[c];
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
