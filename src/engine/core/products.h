/* What each row of a block adds to a measure with factors, if nothing is missing. */
#ifndef TMI_ENGINE_CORE_PRODUCTS_H
#define TMI_ENGINE_CORE_PRODUCTS_H

#include "engine/core/blocks.h"

/* The factors of measures as trees: a node is the product of the node before it and one more factor, from left to right, so
 * measures that begin with the same factors have nodes in common. What is used more than once is worth keeping. */
#define TMI_NO_NODE SIZE_MAX

typedef struct tmi_factor_node {
    size_t before; /* TMI_NO_NODE: it is the factor alone */
    size_t factor; /* in the list */
    size_t uses;   /* by nodes after it, and by measures that end here */
} tmi_factor_node;

typedef struct tmi_factor_trees {
    tmi_factor *factors; /* distinct ones */
    size_t *uses;        /* of each, as a double */
    size_t factor_count;
    tmi_factor_node *nodes; /* each after the one before it */
    size_t node_count;
} tmi_factor_trees;

/* Adds the factors of a measure, at least one, and sets the node in which they end; false if memory runs out. */
bool tmi_factor_trees_add(size_t *node, tmi_factor_trees *trees, const tmi_measure *measure);
void tmi_factor_trees_clear(tmi_factor_trees *trees);

/* The node that multiplies `before` by one more factor; TMI_NO_NODE if there is none. */
size_t tmi_factor_node_after(const tmi_factor_trees *trees, size_t before, const tmi_factor *factor);

static inline bool tmi_is_shared_factor(const tmi_factor_trees *trees, size_t factor) { return trees->uses[factor] > 1; }

/* A node of one factor is not, for the factor can be. */
static inline bool tmi_is_shared_node(const tmi_factor_trees *trees, size_t node)
{
    return trees->nodes[node].uses > 1 && trees->nodes[node].before != TMI_NO_NODE;
}

/* Whether two measures of one request ask for the same. */
bool tmi_same_measure(const tmi_measure *a, const tmi_measure *b);

/* How a measure is computed, from the public ranges of its columns. */
typedef struct tmi_product {
    const tmi_measure *measure;
    size_t columns[TMI_MAX_FACTORS]; /* of the factors, in the layout */
    bool is_integer, must_clamp;
    size_t node;     /* in which its factors end, if it is not an integer */
    int64_t largest; /* no row adds more in absolute value */
} tmi_product;

/* The products of a block that are no integers; those that are shared are computed once. */
typedef struct tmi_products tmi_products;
tmi_products *tmi_products_new(void); /* NULL if memory runs out */
void tmi_products_free(tmi_products *products);

/* Needs at least one factor. The measure outlives it. False if memory runs out. */
bool tmi_product_plan(tmi_product *product, const tmi_measure *measure, const tmi_blocks *blocks);

/* Room for what is shared, after all products were planned; false if memory runs out. */
bool tmi_products_share(tmi_products *products);

/* Forgets the last block. */
void tmi_products_begin(tmi_products *products);

/* Writes the terms of n rows. The columns of the factors were looked at; their missing rows count as 0 here. */
void tmi_product_terms(int64_t *to, const tmi_product *product, const tmi_blocks *blocks, size_t n);

#endif
