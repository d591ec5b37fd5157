/* Products below 2^52 are formed as integers: every step of the doubles in engine.h is exact for them, so the results
 * are the same.
 *   p = product, |p| <= 2^52.  p * 2^-s is exact. With s = 0 the sum p + 1/2 needs 53 bits and its floor is p. With s > 0,
 *   s <= 52, p * 2^-s + 1/2 = (p + 2^(s-1)) / 2^s with a numerator of at most 2^52 + 2^51 < 2^53: exact, and the floor is
 *   the arithmetic shift.
 *
 * The others are products of doubles from left to right, and a product of the first factors is the same in every measure that
 * begins with them. So the nodes that are shared are kept for the block, and the shared factors as doubles. */
#include "engine/core/products.h"

#include <math.h>

#include "base/memory.h"

/* ---- trees of factors ---- */

static bool same_factor(const tmi_factor *a, const tmi_factor *b) { return a->column == b->column && a->minus == b->minus; }

/* The place of a factor; TMI_NO_NODE if memory runs out. */
static size_t add_factor(tmi_factor_trees *trees, const tmi_factor *factor)
{
    for (size_t i = 0; i < trees->factor_count; i++)
        if (same_factor(&trees->factors[i], factor)) return i;
    tmi_factor *factors = tmi_realloc(trees->factors, trees->factor_count + 1, sizeof *factors);
    if (factors) trees->factors = factors;
    size_t *uses = tmi_realloc(trees->uses, trees->factor_count + 1, sizeof *uses);
    if (uses) trees->uses = uses;
    if (!factors || !uses) return TMI_NO_NODE;
    factors[trees->factor_count] = *factor;
    uses[trees->factor_count] = 0;
    return trees->factor_count++;
}

/* A node of one factor is that factor, so its uses are the factor's. */
static void use_node(tmi_factor_trees *trees, size_t node)
{
    trees->nodes[node].uses++;
    if (trees->nodes[node].before == TMI_NO_NODE) trees->uses[trees->nodes[node].factor]++;
}

size_t tmi_factor_node_after(const tmi_factor_trees *trees, size_t before, const tmi_factor *factor)
{
    for (size_t i = 0; i < trees->node_count; i++)
        if (trees->nodes[i].before == before && same_factor(&trees->factors[trees->nodes[i].factor], factor)) return i;
    return TMI_NO_NODE;
}

static size_t add_node(tmi_factor_trees *trees, size_t before, const tmi_factor *added)
{
    const size_t known = tmi_factor_node_after(trees, before, added);
    if (known != TMI_NO_NODE) return known;
    const size_t factor = add_factor(trees, added);
    if (factor == TMI_NO_NODE) return TMI_NO_NODE;
    tmi_factor_node *nodes = tmi_realloc(trees->nodes, trees->node_count + 1, sizeof *nodes);
    if (!nodes) return TMI_NO_NODE;
    trees->nodes = nodes;
    nodes[trees->node_count] = (tmi_factor_node){.before = before, .factor = factor};
    if (before != TMI_NO_NODE) {
        use_node(trees, before);
        trees->uses[factor]++;
    }
    return trees->node_count++;
}

bool tmi_factor_trees_add(size_t *node, tmi_factor_trees *trees, const tmi_measure *measure)
{
    *node = TMI_NO_NODE;
    for (size_t f = 0; f < measure->factor_count; f++) {
        *node = add_node(trees, *node, &measure->factors[f]);
        if (*node == TMI_NO_NODE) return false;
    }
    use_node(trees, *node);
    return true;
}

void tmi_factor_trees_clear(tmi_factor_trees *trees)
{
    tmi_free(trees->factors);
    tmi_free(trees->uses);
    tmi_free(trees->nodes);
    *trees = (tmi_factor_trees){0};
}

bool tmi_same_measure(const tmi_measure *a, const tmi_measure *b)
{
    if (a->factor_count != b->factor_count || a->where != b->where || a->shift != b->shift || a->low != b->low ||
        a->high != b->high)
        return false;
    for (size_t p = 0; p < TMI_MAX_PRESENT; p++)
        if (a->present[p] != b->present[p]) return false;
    for (size_t f = 0; f < a->factor_count; f++)
        if (!same_factor(&a->factors[f], &b->factors[f])) return false;
    return true;
}

/* ---- what is shared in a block ---- */

typedef struct kept {
    double *room; /* NULL: not shared */
    bool done;    /* for this block */
} kept;

struct tmi_products {
    tmi_factor_trees trees;
    kept *factors, *nodes; /* as those of the trees */
};

tmi_products *tmi_products_new(void) { return tmi_alloc(1, sizeof(tmi_products)); }

static void free_kept(kept *list, size_t count)
{
    for (size_t i = 0; list && i < count; i++) {
        if (list[i].room) tmi_wipe(list[i].room, TMI_BLOCK * sizeof *list[i].room);
        tmi_free(list[i].room);
    }
    tmi_free(list);
}

void tmi_products_free(tmi_products *products)
{
    if (!products) return;
    free_kept(products->factors, products->trees.factor_count);
    free_kept(products->nodes, products->trees.node_count);
    tmi_factor_trees_clear(&products->trees);
    tmi_free(products);
}

static kept *make_kept(const tmi_factor_trees *trees, size_t count, bool is_shared(const tmi_factor_trees *trees, size_t i))
{
    kept *list = tmi_alloc(count, sizeof *list);
    bool made = list;
    for (size_t i = 0; made && i < count; i++) {
        if (!is_shared(trees, i)) continue;
        list[i].room = tmi_alloc(TMI_BLOCK, sizeof *list[i].room);
        made = list[i].room;
    }
    if (made) return list;
    free_kept(list, count);
    return NULL;
}

bool tmi_products_share(tmi_products *products)
{
    const tmi_factor_trees *trees = &products->trees;
    products->factors = make_kept(trees, trees->factor_count, tmi_is_shared_factor);
    products->nodes = make_kept(trees, trees->node_count, tmi_is_shared_node);
    return products->factors && products->nodes;
}

void tmi_products_begin(tmi_products *products)
{
    for (size_t i = 0; i < products->trees.factor_count; i++) products->factors[i].done = false;
    for (size_t i = 0; i < products->trees.node_count; i++) products->nodes[i].done = false;
}

/* ---- how a measure is computed ---- */

static int64_t clamp(int64_t x, int64_t low, int64_t high)
{
    x = x < low ? low : x;
    return x > high ? high : x;
}

static int64_t size_of(int64_t x) { return x < 0 ? -x : x; }

bool tmi_product_plan(tmi_product *product, const tmi_measure *measure, const tmi_blocks *blocks)
{
    tmi_product made = {.measure = measure, .node = TMI_NO_NODE};
    double bound = 1, least = 1, most = 1;
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
        made.columns[f] = tmi_layout_index(blocks->layout, factor->column);
    }
    /* A bound of at most 2^52 was computed exactly, and so were the smaller products before it. */
    made.is_integer = bound <= (double)TMI_MAX_GRID && measure->shift <= 52;
    made.must_clamp = !made.is_integer || floor(ldexp(least, -measure->shift) + 0.5) < (double)measure->low ||
                      floor(ldexp(most, -measure->shift) + 0.5) > (double)measure->high;
    const double largest = made.is_integer ? ldexp(bound, -measure->shift) + 1 : (double)TMI_MAX_GRID;
    const int64_t low = size_of(measure->low), high = size_of(measure->high);
    made.largest = low > high ? low : high;
    if (!made.must_clamp && largest < (double)made.largest) made.largest = (int64_t)largest;
    *product = made;
    return made.is_integer || tmi_factor_trees_add(&product->node, &blocks->products->trees, measure);
}

/* ---- blocks ---- */

/* The sum of `minus` and the point has less than 53 bits; see the top for the rest. */
static void multiply_integers(int64_t *restrict to, const tmi_product *product, const tmi_block *blocks, size_t n)
{
    const tmi_measure *measure = product->measure;
    const int64_t *first = blocks[product->columns[0]].points, minus = measure->factors[0].minus;
    for (size_t i = 0; i < n; i++) to[i] = first[i] - minus;
    for (size_t f = 1; f < measure->factor_count; f++) {
        const int64_t *next = blocks[product->columns[f]].points, off = measure->factors[f].minus;
        for (size_t i = 0; i < n; i++) to[i] *= next[i] - off;
    }
    if (measure->shift > 0) {
        const int64_t half = INT64_C(1) << (measure->shift - 1);
        for (size_t i = 0; i < n; i++) to[i] = (to[i] + half) >> measure->shift;
    }
    for (size_t i = 0; product->must_clamp && i < n; i++) to[i] = clamp(to[i], measure->low, measure->high);
}

/* A factor as doubles, kept or in `room`. */
static const double *doubles_of(const tmi_blocks *blocks, size_t at, double *room, size_t n)
{
    const tmi_factor *factor = &blocks->products->trees.factors[at];
    kept *kept = &blocks->products->factors[at];
    if (kept->done) return kept->room;
    const int64_t *points = blocks->list[tmi_layout_index(blocks->layout, factor->column)].points, minus = factor->minus;
    double *to = kept->room ? kept->room : room;
    for (size_t i = 0; i < n; i++) to[i] = (double)(points[i] - minus);
    kept->done = kept->room;
    return to;
}

/* The product of a node, kept or in `room`. What comes before it may have the same room. */
static const double *product_of(const tmi_blocks *blocks, size_t at, double *room, size_t n)
{
    const tmi_factor_node *node = &blocks->products->trees.nodes[at];
    const tmi_factor *factor = &blocks->products->trees.factors[node->factor];
    kept *kept = &blocks->products->nodes[at];
    if (kept->done) return kept->room;
    if (node->before == TMI_NO_NODE) return doubles_of(blocks, node->factor, room, n);
    double *to = kept->room ? kept->room : room;
    const double *before = product_of(blocks, node->before, to, n);
    if (blocks->products->factors[node->factor].room) {
        const double *next = doubles_of(blocks, node->factor, NULL, n);
        for (size_t i = 0; i < n; i++) to[i] = before[i] * next[i];
    } else {
        const int64_t *points = blocks->list[tmi_layout_index(blocks->layout, factor->column)].points, minus = factor->minus;
        for (size_t i = 0; i < n; i++) to[i] = before[i] * (double)(points[i] - minus);
    }
    kept->done = kept->room;
    return to;
}

/* low and high are integers, so clamping may come before the floor. */
static void multiply_doubles(int64_t *restrict to, const tmi_product *product, const tmi_blocks *blocks, size_t n)
{
    const tmi_measure *measure = product->measure;
    const double scale = ldexp(1, -measure->shift), low = (double)measure->low, high = (double)measure->high;
    double room[TMI_BLOCK];
    const double *all = product_of(blocks, product->node, room, n);
    for (size_t i = 0; i < n; i++) {
        double term = all[i] * scale + 0.5;
        term = term > low ? term : low;
        term = term < high ? term : high;
        const int64_t k = (int64_t)term;
        to[i] = k - ((double)k > term);
    }
    if (all == room) tmi_wipe(room, n * sizeof *room);
}

void tmi_product_terms(int64_t *to, const tmi_product *product, const tmi_blocks *blocks, size_t n)
{
    if (product->is_integer) multiply_integers(to, product, blocks->list, n);
    else multiply_doubles(to, product, blocks, n);
}
