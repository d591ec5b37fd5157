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
 * The tree is kept down to blocks of TMI_TREE_BLOCK units; what is below is made again, from the odds, for each block
 * that is entered. A sample of n units enters at most n of them, and a tree of a million units takes megabytes.
 *
 * Everything is a ball. Ends of a law that together weigh less than 2^-bits are cut off and their weight is
 * remembered as `lost`: it is added, as an interval [0, lost], to whatever they could have contributed to. A node of
 * variance v keeps O(sqrt(bits v)) numbers, so a tree takes O(bits V log N) operations, V being the variance of the
 * number of heads.                                                                                                   */
#ifndef TMI_SURVEY_DESIGN_TREE_H
#define TMI_SURVEY_DESIGN_TREE_H

#include "base/watch.h"
#include "survey/design/design.h"

#define TMI_TREE_BLOCK 32

typedef struct tmi_tree_node {
    int64_t low; /* a[i], b[i] are of low + i heads */
    size_t count;
    tmi_ball *a, *b; /* b is NULL in a tree without mark */
    tmi_ball lost_a, lost_b, total_b;
} tmi_tree_node;

typedef struct tmi_tree {
    tmi_tree_node **nodes; /* nodes[0] are the blocks; node i has children 2i and 2i + 1 (the last one: maybe only 2i) */
    size_t *counts, levels;
    const tmi_ball *odds;
    size_t count, block; /* units, and how many of them a node of level 0 has: TMI_TREE_BLOCK, or 1 inside a block */
    tmi_ball *own;       /* the odds again, if they belong to the tree */
    bool marked;
    long bits;
} tmi_tree;

/* Needs    count >= 1 coins of odds > 0, which live as long as the tree. `watch` may be NULL. */
tamis_status tmi_tree_init(tmi_tree *tree, const tmi_ball *odds, size_t count, bool marked, long bits, const tmi_watch *watch,
                           tamis_error *err);
void tmi_tree_clear(tmi_tree *tree);

/* What is below block number `index`: a tree whose leaves are its units. */
tamis_status tmi_tree_block(tmi_tree *below, const tmi_tree *tree, size_t index, tamis_error *err);

/* The odds that each unit is a head, given n heads in all: given one by one, in order. */
typedef void tmi_take_odds(void *context, size_t unit, const tmi_ball *given);
tamis_status tmi_tree_given(const tmi_tree *tree, int64_t n, tmi_take_odds *take, void *context, const tmi_watch *watch,
                            tamis_error *err);

/* ---- designs that are drawn down a tree ---- */

/* Makes the tree of a design; the odds belong to it. */
typedef tamis_status tmi_tree_maker(tmi_tree *tree, const tamis_design *design, long bits, const tmi_watch *watch,
                                    tamis_error *err);

/* Draws n heads (one of them marked, if the tree is) and adds units[k] for each head k. Where the tree does not decide,
 * one of more bits is made. */
tamis_status tmi_tree_draw(tamis_drawn *drawn, const tmi_tree *tree, int64_t n, const int64_t *units, tmi_tree_maker *maker,
                           const tamis_design *design, tamis_rng *rng, const tmi_watch *watch, tamis_error *err);

/* The same as functions of a kind of tmi_pps: its prepare calls the first, with as many bits as shall decide nearly every
 * draw. */
tamis_status tmi_tree_prepare(void **tables, const tamis_design *design, tmi_tree_maker *maker, long bits, const tmi_watch *watch,
                              tamis_error *err);
void tmi_tree_dismiss(void *tables, const tamis_design *design);
tamis_status tmi_tree_draw_design(tamis_drawn *drawn, const tamis_design *design, const void *tables, tamis_rng *rng,
                                  const tmi_watch *watch, tamis_error *err);

#endif
