/* Samples of a given size from independent coins, exactly: what conditional Poisson sampling and Sampford's method
 * share.
 *
 * Unit k has a coin of odds w_k = p_k / (1 - p_k). The units are the leaves of a binary tree; each node knows the law
 * of the number of its heads, A(m) = P(m heads), the product (as a polynomial) of its children's. Given that there
 * are n heads in all, the number in the left half has probability proportional to A_left(j) A_right(n - j), and so on
 * down: a sample is drawn from the root to the leaves, never rejected.
 *
 * A tree may be marked: one of the heads then carries a mark, unit l with weight p_l (1 - p_l) in place of p_l, and
 * nodes know also B(m), the weight of m heads with the mark among them: B = B_left A_right + A_left B_right. A marked
 * sample of n heads has weight prod p prod (1 - p) * sum over the sample of (1 - p_l): Sampford's law.
 *
 * Everything is a ball. Ends of a law that together weigh less than 2^-bits are cut off and their weight is
 * remembered as `lost`: it is added, as an interval [0, lost], to whatever they could have contributed to. A node of
 * variance v keeps O(sqrt(bits v)) numbers, so a tree takes O(bits V log N) operations, V being the variance of the
 * number of heads.                                                                                                   */
#ifndef TMI_TREE_H
#define TMI_TREE_H

#include "survey/design.h"

typedef struct tmi_tree_node {
    int64_t low;     /* a[i], b[i] are of low + i heads */
    size_t count;
    tmi_ball *a, *b; /* b is NULL in a tree without mark */
    tmi_ball lost_a, lost_b, total_b;
} tmi_tree_node;

typedef struct tmi_tree {
    tmi_tree_node **nodes; /* nodes[0] are the leaves; node i has children 2i and 2i + 1 (the last one: maybe only 2i) */
    size_t *counts, levels;
    bool marked;
    long bits;
} tmi_tree;

/* Needs    count >= 1 coins of odds > 0. */
tamis_status tmi_tree_init(tmi_tree *tree, const tmi_ball *odds, size_t count, bool marked, long bits,
                           tamis_error *err);
void tmi_tree_clear(tmi_tree *tree);

/* The odds that each unit is a head, given n heads in all: given[k] for odds[k]. */
tamis_status tmi_tree_given(tmi_ball *given, const tmi_tree *tree, const tmi_ball *odds, int64_t n, tamis_error *err);

/* Makes a tree of more bits, for the rare draw that the first one does not decide. */
typedef tamis_status tmi_tree_refine(tmi_tree *finer, const void *context, long bits, tamis_error *err);

/* Draws n heads (one of them marked, if the tree is) and adds units[k] for each head k. */
tamis_status tmi_tree_draw(tamis_drawn *drawn, const tmi_tree *tree, int64_t n, const int64_t *units,
                           tmi_tree_refine *refine, const void *context, tamis_rng *rng, tamis_error *err);

#endif
