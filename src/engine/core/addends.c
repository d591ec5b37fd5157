#include "engine/core/addends.h"

#include <string.h>

#include "base/memory.h"
#include "engine/core/products.h"

typedef struct recipe {
    tmi_addend term;
    const tmi_measure *measure;
    tmi_product product;                                            /* SUM */
    size_t needed[TMI_MAX_FACTORS + TMI_MAX_PRESENT], needed_count; /* distinct columns that must not be missing */
    size_t where;                                                   /* SIZE_MAX: no such column */
    void *room;                                                     /* for the terms or for left_out */
} recipe;

struct tmi_addends {
    tmi_blocks blocks;
    recipe *recipes;
    size_t recipe_count;
};

/* ---- making ---- */

static recipe *find_recipe(const tmi_addends *terms, const tmi_measure *measure)
{
    for (size_t r = 0; r < terms->recipe_count; r++)
        if (tmi_same_measure(terms->recipes[r].measure, measure)) return &terms->recipes[r];
    return NULL;
}

const tmi_addend *tmi_addend_of(const tmi_addends *terms, const tmi_measure *measure)
{
    return &find_recipe(terms, measure)->term;
}

static void need(recipe *recipe, size_t column)
{
    for (size_t i = 0; i < recipe->needed_count; i++)
        if (recipe->needed[i] == column) return;
    recipe->needed[recipe->needed_count++] = column;
}

/* What a row adds without factors: floor(2^-shift + 1/2), clamped. */
static int64_t one_of(const tmi_measure *measure)
{
    const int64_t one = measure->shift <= 1;
    return one < measure->low ? measure->low : one > measure->high ? measure->high : one;
}

static bool plan_recipe(recipe *made, const tmi_measure *measure, const tmi_blocks *blocks)
{
    const tmi_layout *layout = blocks->layout;
    made->measure = measure;
    made->term = (tmi_addend){.kind = TMI_ADD_ONES, .one = one_of(measure), .largest = 1};
    if (measure->factor_count > 0) {
        if (!tmi_product_plan(&made->product, measure, blocks)) return false;
        made->term = (tmi_addend){.kind = TMI_ADD_SUM, .largest = made->product.largest};
    }
    for (size_t f = 0; f < measure->factor_count; f++) need(made, made->product.columns[f]);
    for (size_t p = 0; p < TMI_MAX_PRESENT; p++)
        if (measure->present[p]) need(made, tmi_layout_index(layout, measure->present[p]));
    made->where = measure->where ? tmi_layout_index(layout, measure->where) : SIZE_MAX;
    return true;
}

static bool make_recipe(tmi_addends *terms, const tmi_measure *measure)
{
    if (find_recipe(terms, measure)) return true;
    recipe *made = &terms->recipes[terms->recipe_count];
    if (!plan_recipe(made, measure, &terms->blocks)) return false;
    for (size_t i = 0; i < made->needed_count; i++)
        if (!tmi_block_prepare(&terms->blocks, made->needed[i])) return false;
    made->room = tmi_alloc(TMI_BLOCK, sizeof(int64_t));
    terms->recipe_count++;
    return made->room;
}

tmi_addends *tmi_addends_new(const tmi_layout *layout)
{
    const tmi_request *request = layout->request;
    size_t measures = 0;
    tmi_addends *terms = tmi_alloc(1, sizeof *terms);
    if (!terms) return NULL;
    for (size_t t = 0; t < request->table_count; t++) measures += request->tables[t].measure_count;
    terms->recipes = tmi_alloc(measures, sizeof *terms->recipes);
    bool made = terms->recipes && tmi_blocks_make(&terms->blocks, layout);
    for (size_t t = 0; made && t < request->table_count; t++)
        for (size_t m = 0; made && m < request->tables[t].measure_count; m++)
            made = make_recipe(terms, &request->tables[t].measures[m]);
    if (made && tmi_products_share(terms->blocks.products)) return terms;
    tmi_addends_free(terms);
    return NULL;
}

void tmi_addends_free(tmi_addends *terms)
{
    if (!terms) return;
    tmi_blocks_clear(&terms->blocks);
    for (size_t r = 0; r < terms->recipe_count; r++) {
        void *room = terms->recipes[r].room;
        if (room) tmi_wipe(room, TMI_BLOCK * sizeof(int64_t));
        tmi_free(room);
    }
    tmi_free(terms->recipes);
    tmi_free(terms);
}

/* ---- terms ---- */

static void make_sum(recipe *recipe, const tmi_blocks *all, size_t n)
{
    const tmi_measure *measure = recipe->measure;
    const tmi_block *blocks = all->list;
    const size_t first = recipe->product.columns[0];
    int64_t *to = recipe->room;
    bool all_there = recipe->where == SIZE_MAX;
    for (size_t j = 0; j < recipe->needed_count; j++)
        if (recipe->needed[j] != first) all_there = all_there && !blocks[recipe->needed[j]].some_missing;
    recipe->term.terms = to;
    if (measure->factor_count == 1 && measure->factors[0].minus == 0 && measure->shift == 0 && !recipe->product.must_clamp &&
        all_there) {
        recipe->term.terms = blocks[first].points; /* 0 where it is missing */
        return;
    }
    tmi_product_terms(to, &recipe->product, all, n);
    for (size_t j = 0; j < recipe->needed_count; j++) {
        const tmi_block *b = &blocks[recipe->needed[j]];
        for (size_t i = 0; b->some_missing && i < n; i++) to[i] &= (int64_t)b->missing[i] - 1;
    }
    if (recipe->where == SIZE_MAX) return;
    const int64_t *where = blocks[recipe->where].values;
    for (size_t i = 0; i < n; i++) to[i] &= -(int64_t)(where[i] == 1);
}

static void make_ones(recipe *recipe, const tmi_blocks *all, size_t n)
{
    const tmi_block *blocks = all->list;
    int32_t *to = recipe->room;
    recipe->term.left_out = NULL;
    if (recipe->where != SIZE_MAX) {
        const int64_t *where = blocks[recipe->where].values;
        for (size_t i = 0; i < n; i++) to[i] = where[i] != 1;
        recipe->term.left_out = to;
    }
    for (size_t j = 0; j < recipe->needed_count; j++) {
        const tmi_block *b = &blocks[recipe->needed[j]];
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
    tmi_blocks_set(&terms->blocks, columns, n);
    for (size_t r = 0; r < terms->recipe_count; r++) {
        recipe *recipe = &terms->recipes[r];
        for (size_t j = 0; j < recipe->needed_count; j++) tmi_block_look(&terms->blocks, recipe->needed[j], n);
        (recipe->term.kind == TMI_ADD_SUM ? make_sum : make_ones)(recipe, &terms->blocks, n);
    }
}

const int32_t *tmi_addends_codes(const tmi_addends *terms, size_t c) { return terms->blocks.list[c].values; }
