#include "survey/design/tree.h"

#include <string.h>

/* ---- nodes ---- */

static void clear_node(tmi_tree_node *node)
{
    tmi_balls_free(node->a, node->count);
    tmi_balls_free(node->b, node->count);
    tmi_ball_clears(&node->lost_a, &node->lost_b, &node->total_b, NULL);
}

static tamis_status init_node(tmi_tree_node *node, int64_t low, size_t count, bool marked, tamis_error *err)
{
    node->low = low;
    node->count = count;
    node->a = tmi_balls_new(count);
    node->b = marked ? tmi_balls_new(count) : NULL;
    return node->a && (node->b || !marked) ? TAMIS_OK : tmi_fail_memory(err);
}

static int64_t high(const tmi_tree_node *node) { return node->low + (int64_t)node->count - 1; }

/* q = 1 / (1 + w), p = w q. */
static tamis_status set_leaf(tmi_tree_node *node, const tmi_ball *odds, bool marked, long bits, tamis_error *err)
{
    tamis_status status = init_node(node, 0, 2, marked, err);
    if (status != TAMIS_OK) return status;
    tmi_ball_set_int(&node->a[1], 1);
    tmi_ball_add_int(&node->a[0], odds, 1, bits);
    tmi_ball_div(&node->a[0], &node->a[1], &node->a[0], bits);
    tmi_ball_mul(&node->a[1], odds, &node->a[0], bits);
    if (marked) {
        tmi_ball_mul(&node->b[1], &node->a[0], &node->a[1], bits);
        tmi_ball_set(&node->total_b, &node->b[1]);
    }
    return TAMIS_OK;
}

static tamis_status copy_node(tmi_tree_node *node, const tmi_tree_node *from, tamis_error *err)
{
    tamis_status status = init_node(node, from->low, from->count, from->b != NULL, err);
    if (status != TAMIS_OK) return status;
    for (size_t i = 0; i < from->count; i++) {
        tmi_ball_set(&node->a[i], &from->a[i]);
        if (from->b) tmi_ball_set(&node->b[i], &from->b[i]);
    }
    tmi_ball_set(&node->lost_a, &from->lost_a);
    tmi_ball_set(&node->lost_b, &from->lost_b);
    tmi_ball_set(&node->total_b, &from->total_b);
    return TAMIS_OK;
}

/* The sum of x(j) y(m - j) over what both windows hold; `xs` belongs to node x, `ys` to node y. */
static void convolve(tmi_ball *z, const tmi_ball *xs, const tmi_tree_node *x, const tmi_ball *ys, const tmi_tree_node *y,
                     int64_t m, long bits)
{
    int64_t from = x->low > m - high(y) ? x->low : m - high(y), to = high(x) < m - y->low ? high(x) : m - y->low;
    tmi_ball_set_int(z, 0);
    if (from <= to) tmi_ball_dot(z, xs + (from - x->low), 1, ys + (m - from - y->low), -1, (size_t)(to - from + 1), bits);
}

/* What the cut ends of the children could add: to A, lost_left + lost_right; to B, each lost part times the other's
 * total, which is 1 for A. */
static void add_lost(tmi_tree_node *node, const tmi_tree_node *left, const tmi_tree_node *right, long bits)
{
    tmi_ball term;
    tmi_ball_add(&node->lost_a, &left->lost_a, &right->lost_a, bits);
    if (!node->b) return;
    tmi_ball_init(&term);
    tmi_ball_add(&node->total_b, &left->total_b, &right->total_b, bits);
    tmi_ball_add(&node->lost_b, &left->lost_b, &right->lost_b, bits);
    tmi_ball_mul(&term, &left->lost_a, &right->total_b, bits);
    tmi_ball_add(&node->lost_b, &node->lost_b, &term, bits);
    tmi_ball_mul(&term, &right->lost_a, &left->total_b, bits);
    tmi_ball_add(&node->lost_b, &node->lost_b, &term, bits);
    tmi_ball_clear(&term);
}

/* z + [0, lost] */
static void blur(tmi_ball *z, const tmi_ball *lost, long bits)
{
    tmi_ball half;
    if (tmi_ball_is_zero(lost)) return;
    tmi_ball_init(&half);
    tmi_ball_shift(&half, lost, -1);
    tmi_ball_add(z, z, &half, bits);
    tmi_ball_widen(z, &half);
    tmi_ball_clear(&half);
}

/* Counts how many numbers from one end (step 1: the low end, -1: the high end) weigh less than 2^-bits together, of A
 * and relative to its total of B, and adds these limits to what is lost. */
static size_t cut(tmi_tree_node *node, long step, long bits)
{
    tmi_ball sum_a, sum_b, limit_a, limit_b;
    size_t count = 0;
    tmi_ball_inits(&sum_a, &sum_b, &limit_a, &limit_b, NULL);
    tmi_ball_set_int(&limit_a, 1);
    tmi_ball_shift(&limit_a, &limit_a, -bits);
    tmi_ball_shift(&limit_b, &node->total_b, -bits);
    for (; count + 1 < node->count; count++) {
        size_t i = step > 0 ? count : node->count - 1 - count;
        tmi_ball_add(&sum_a, &sum_a, &node->a[i], bits);
        if (node->b) tmi_ball_add(&sum_b, &sum_b, &node->b[i], bits);
        if (!tmi_ball_is_less(&sum_a, &limit_a) || (node->b && !tmi_ball_is_less(&sum_b, &limit_b))) break;
    }
    if (count > 0) { /* the limits bound what was cut */
        tmi_ball_add(&node->lost_a, &node->lost_a, &limit_a, bits);
        if (node->b) tmi_ball_add(&node->lost_b, &node->lost_b, &limit_b, bits);
    }
    tmi_ball_clears(&sum_a, &sum_b, &limit_a, &limit_b, NULL);
    return count;
}

/* Drops numbers at both ends, and gives their memory back. */
static tmi_ball *shorten(tmi_ball *balls, size_t from, size_t kept, size_t count)
{
    if (!balls || kept == count) return balls;
    for (size_t i = 0; i < from; i++) tmi_ball_clear(&balls[i]);
    for (size_t i = from + kept; i < count; i++) tmi_ball_clear(&balls[i]);
    memmove(balls, balls + from, kept * sizeof *balls);
    tmi_ball *less = tmi_realloc(balls, kept, sizeof *balls);
    return less ? less : balls;
}

static tamis_status join(tmi_tree_node *node, const tmi_tree_node *left, const tmi_tree_node *right, bool marked, long bits,
                         tamis_error *err)
{
    size_t full = left->count + right->count - 1;
    tmi_ball term, blur_a, blur_b;
    tamis_status status = init_node(node, left->low + right->low, full, marked, err);
    if (status != TAMIS_OK) return status;
    tmi_ball_inits(&term, &blur_a, &blur_b, NULL);
    for (size_t i = 0; i < full; i++) {
        int64_t m = node->low + (int64_t)i;
        convolve(&node->a[i], left->a, left, right->a, right, m, bits);
        if (!marked) continue;
        convolve(&node->b[i], left->b, left, right->a, right, m, bits);
        convolve(&term, left->a, left, right->b, right, m, bits);
        tmi_ball_add(&node->b[i], &node->b[i], &term, bits);
    }
    add_lost(node, left, right, bits);
    tmi_ball_set(&blur_a, &node->lost_a);
    tmi_ball_set(&blur_b, &node->lost_b);
    size_t from = cut(node, 1, bits), to = cut(node, -1, bits), kept = full - from - to;
    node->a = shorten(node->a, from, kept, full);
    node->b = shorten(node->b, from, kept, full);
    node->low += (int64_t)from;
    node->count = kept;
    for (size_t i = 0; i < kept; i++) {
        blur(&node->a[i], &blur_a, bits);
        if (marked) blur(&node->b[i], &blur_b, bits);
    }
    tmi_ball_clears(&term, &blur_a, &blur_b, NULL);
    return TAMIS_OK;
}

/* ---- the tree ---- */

#define LEVELS 64 /* 2^63 leaves */

static tamis_status add_level(tmi_tree *tree, size_t count, tamis_error *err)
{
    tmi_tree_node *nodes = tmi_alloc(count, sizeof *nodes);
    if (!nodes) return tmi_fail_memory(err);
    for (size_t i = 0; i < count; i++) { tmi_ball_inits(&nodes[i].lost_a, &nodes[i].lost_b, &nodes[i].total_b, NULL); }
    tree->nodes[tree->levels] = nodes;
    tree->counts[tree->levels++] = count;
    return TAMIS_OK;
}

/* Levels above the leaves that are there. */
static tamis_status add_levels(tmi_tree *tree, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    for (size_t l = 0; tree->counts[l] > 1; l++) {
        const tmi_tree_node *below = tree->nodes[l];
        TMI_TRY(add_level(tree, (tree->counts[l] + 1) / 2, err));
        for (size_t i = 0; i < tree->counts[l + 1]; i++) {
            tmi_tree_node *node = &tree->nodes[l + 1][i];
            if (2 * i + 1 < tree->counts[l]) TMI_TRY(join(node, &below[2 * i], &below[2 * i + 1], tree->marked, tree->bits, err));
            else TMI_TRY(copy_node(node, &below[2 * i], err));
        }
    }
done:
    return status;
}

static tamis_status begin(tmi_tree *tree, const tmi_ball *odds, size_t count, size_t block, bool marked, long bits,
                          tamis_error *err)
{
    *tree = (tmi_tree){.odds = odds, .count = count, .block = block, .marked = marked, .bits = bits};
    tree->nodes = tmi_alloc(LEVELS, sizeof *tree->nodes);
    tree->counts = tmi_alloc(LEVELS, sizeof *tree->counts);
    if (!tree->nodes || !tree->counts) return tmi_fail_memory(err);
    return add_level(tree, (count + block - 1) / block, err);
}

tamis_status tmi_tree_block(tmi_tree *below, const tmi_tree *tree, size_t index, tamis_error *err)
{
    const size_t first = index * tree->block, left = tree->count - first, count = left < tree->block ? left : tree->block;
    tamis_status status = TAMIS_OK;
    TMI_TRY(begin(below, tree->odds + first, count, 1, tree->marked, tree->bits, err));
    for (size_t i = 0; i < count; i++) TMI_TRY(set_leaf(&below->nodes[0][i], &below->odds[i], tree->marked, tree->bits, err));
    TMI_TRY(add_levels(below, err));
done:
    if (status != TAMIS_OK) tmi_tree_clear(below);
    return status;
}

#define BLOCKS_A_LOOK 1024 /* between two looks at the watch: some hundredths of a second */

tamis_status tmi_tree_init(tmi_tree *tree, const tmi_ball *odds, size_t count, bool marked, long bits, const tmi_watch *watch,
                           tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    TMI_TRY(begin(tree, odds, count, TMI_TREE_BLOCK, marked, bits, err));
    for (size_t i = 0; i < tree->counts[0]; i++) {
        tmi_tree below;
        if (i % BLOCKS_A_LOOK == 0) TMI_TRY(tmi_watch_tell(watch, (double)i / (double)tree->counts[0], err));
        TMI_TRY(tmi_tree_block(&below, tree, i, err));
        tmi_tree_node *root = &below.nodes[below.levels - 1][0], empty = tree->nodes[0][i];
        tree->nodes[0][i] = *root;
        *root = empty;
        tmi_tree_clear(&below);
    }
    TMI_TRY(add_levels(tree, err));
done:
    if (status != TAMIS_OK) tmi_tree_clear(tree);
    return status;
}

void tmi_tree_clear(tmi_tree *tree)
{
    for (size_t l = 0; l < tree->levels; l++) {
        for (size_t i = 0; i < tree->counts[l]; i++) clear_node(&tree->nodes[l][i]);
        tmi_free(tree->nodes[l]);
    }
    tmi_free(tree->nodes);
    tmi_free(tree->counts);
    tmi_balls_free(tree->own, tree->count);
    *tree = (tmi_tree){0};
}

/* ---- each unit given the sum ---- */

#define SUM_BITS 32 /* of what only widens balls */

/* rest(m) = P(all coins outside the node show n - m heads), for the m of its window: from the parent's by rest(m) =
 * sum over j of sibling(j) rest_parent(m + j). Where m + j lies outside the parent's window, its rest is only known
 * to be a probability.                                                                                               */
static tamis_status rest_of_child(tmi_ball **rest, const tmi_tree_node *child, const tmi_tree_node *sibling,
                                  const tmi_tree_node *parent, const tmi_ball *parents, long bits, tamis_error *err)
{
    size_t count = sibling->count;
    tmi_ball *below = tmi_balls_new(count + 1), *above = tmi_balls_new(count + 1), unknown; /* sums from both ends */
    *rest = tmi_balls_new(child->count);
    tmi_ball_init(&unknown);
    tamis_status status = below && above && *rest ? TAMIS_OK : tmi_fail_memory(err);
    for (size_t j = 0; j < count && status == TAMIS_OK; j++) {
        tmi_ball_add(&below[j + 1], &below[j], &sibling->a[j], SUM_BITS);
        tmi_ball_add(&above[j + 1], &above[j], &sibling->a[count - 1 - j], SUM_BITS);
    }
    for (size_t i = 0; i < child->count && status == TAMIS_OK; i++) {
        int64_t m = child->low + (int64_t)i;
        int64_t from = sibling->low > parent->low - m ? sibling->low : parent->low - m;
        int64_t to = high(sibling) < high(parent) - m ? high(sibling) : high(parent) - m;
        if (from > to) tmi_ball_set_int(&unknown, 1);
        else {
            tmi_ball_dot(&(*rest)[i], sibling->a + (from - sibling->low), 1, parents + (m + from - parent->low), 1,
                         (size_t)(to - from + 1), bits);
            tmi_ball_add(&unknown, &below[from - sibling->low], &above[high(sibling) - to], SUM_BITS);
            tmi_ball_add(&unknown, &unknown, &sibling->lost_a, SUM_BITS);
        }
        blur(&(*rest)[i], &unknown, bits);
    }
    tmi_balls_free(below, count + 1);
    tmi_balls_free(above, count + 1);
    tmi_ball_clear(&unknown);
    return status;
}

static tamis_status rest_copied(tmi_ball **rest, const tmi_ball *from, size_t count, tamis_error *err)
{
    *rest = tmi_balls_new(count);
    if (!*rest) return tmi_fail_memory(err);
    for (size_t i = 0; i < count; i++) tmi_ball_set(&(*rest)[i], &from[i]);
    return TAMIS_OK;
}

static void free_rests(tmi_ball **rests, const tmi_tree *tree, size_t level)
{
    for (size_t i = 0; rests && i < tree->counts[level]; i++) tmi_balls_free(rests[i], tree->nodes[level][i].count);
    tmi_free(rests);
}

static tamis_status rests_below(tmi_ball **below, tmi_ball *const *above, const tmi_tree *tree, size_t level, tamis_error *err)
{
    const tmi_tree_node *nodes = tree->nodes[level];
    tamis_status status = TAMIS_OK;
    for (size_t i = 0; i < tree->counts[level] && status == TAMIS_OK; i++) {
        size_t sibling = i ^ 1;
        if (sibling < tree->counts[level])
            status = rest_of_child(&below[i], &nodes[i], &nodes[sibling], &tree->nodes[level + 1][i / 2], above[i / 2],
                                   tree->bits, err);
        else status = rest_copied(&below[i], above[i / 2], nodes[i].count, err);
    }
    return status;
}

/* The rests of level 0, from that of the root, which is taken. */
static tamis_status rests_of_leaves(tmi_ball ***leaves, const tmi_tree *tree, tmi_ball *root, tamis_error *err)
{
    size_t top = tree->levels - 1;
    tamis_status status = TAMIS_OK;
    tmi_ball **above = tmi_alloc(1, sizeof *above), **below;
    *leaves = NULL;
    if (!above) {
        tmi_balls_free(root, tree->nodes[top][0].count);
        return tmi_fail_memory(err);
    }
    above[0] = root;
    for (size_t level = top; level-- > 0;) {
        if (!(below = tmi_alloc(tree->counts[level], sizeof *below))) TMI_TRY(tmi_fail_memory(err));
        status = rests_below(below, above, tree, level, err);
        free_rests(above, tree, level + 1);
        above = below;
        top = level;
        if (status != TAMIS_OK) goto done;
    }
    *leaves = above;
    return TAMIS_OK;
done:
    free_rests(above, tree, top);
    return status;
}

/* The units of one block; its rest is taken. */
static tamis_status given_in_block(const tmi_tree *tree, size_t index, tmi_ball *rest, tmi_take_odds *take, void *context,
                                   tamis_error *err)
{
    tmi_tree below;
    tmi_ball **leaves, given;
    tamis_status status = tmi_tree_block(&below, tree, index, err);
    if (status != TAMIS_OK) {
        tmi_balls_free(rest, tree->nodes[0][index].count);
        return status;
    }
    tmi_ball_init(&given);
    TMI_TRY(rests_of_leaves(&leaves, &below, rest, err));
    for (size_t k = 0; k < below.count; k++) { /* w P(others: n - 1) / P(others: n) */
        tmi_ball_mul(&given, &below.odds[k], &leaves[k][1], tree->bits);
        tmi_ball_div(&given, &given, &leaves[k][0], tree->bits);
        take(context, index * tree->block + k, &given);
    }
    free_rests(leaves, &below, 0);
done:
    tmi_ball_clear(&given);
    tmi_tree_clear(&below);
    return status;
}

tamis_status tmi_tree_given(const tmi_tree *tree, int64_t n, tmi_take_odds *take, void *context, const tmi_watch *watch,
                            tamis_error *err)
{
    const tmi_tree_node *root = &tree->nodes[tree->levels - 1][0];
    tmi_ball *rest, **blocks = NULL;
    tamis_status status = TAMIS_OK;
    if (n < root->low || n > high(root)) return tmi_fail(err, TAMIS_UNABLE, "the sample size is too far from its expectation");
    if (!(rest = tmi_balls_new(root->count))) TMI_TRY(tmi_fail_memory(err));
    tmi_ball_set_int(&rest[n - root->low], 1);
    TMI_TRY(rests_of_leaves(&blocks, tree, rest, err));
    for (size_t i = 0; i < tree->counts[0]; i++) {
        if (i % BLOCKS_A_LOOK == 0) TMI_TRY(tmi_watch_tell(watch, (double)i / (double)tree->counts[0], err));
        rest = blocks[i];
        blocks[i] = NULL;
        TMI_TRY(given_in_block(tree, i, rest, take, context, err));
    }
done:
    free_rests(blocks, tree, 0);
    return status;
}
