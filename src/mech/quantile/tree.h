/* The distribution function from a tree of noisy sums, with pure epsilon.
 *
 * The bins are the leaves of a tree in which every node has up to b children. The weight of the records below each node, the root
 * excepted, is measured with discrete Laplace noise. A prefix sum is the sum of a few nodes of each level instead of up to B
 * bins.
 *
 * Privacy. A record adds its weight to one node of each level. So a unit of g records of weight at most W changes the sums of a
 * level by at most c g W together: c = 1 if it is added or removed, c = 2 if it is replaced, because its records may leave one
 * node and enter another. Integer noise with P(k) proportional to exp(-|k| / s) on numbers that change by D together loses at
 * most D / s. Level l gets a part e_l of epsilon and the scale
 *
 *     s_l = c g W / e_l,        sum of all e_l = epsilon,
 *
 * so all levels together lose at most epsilon: exactly that, if the unit's records have the largest weight and move between
 * children of the root. The branching and the parts are the best that were found for the mean variance of prefix sums; that
 * search looks at public numbers only, and the parts are exact fractions.
 *
 * Consistency (Hay, Rastogi, Miklau and Suciu 2010). A node's sum is that of its children, so the measurements contradict each
 * other. Generalised least squares in two passes: from the leaves up, each node gets the best combination z of its own
 * measurement and its children's z, with variance v; from the root down, what a node's final value differs from the sum of its
 * children's z is shared out to them in proportion to their v.
 *
 * Deviations. Within the tree below a node, let p be the estimate of a prefix sum from the measurements below that node alone.
 * Then p = beta z + rest, the rest uncorrelated with z, and knowing the node's sum better changes nothing but z. With children
 * c_1, c_2 ... and a prefix that ends within c_j, A = v of c_1 ... c_(j-1) together and V of all children:
 *
 *     beta' = (A + beta v_j) / V,      R' = A + beta^2 v_j + R - (A + beta v_j)^2 / V,
 *
 * R the variance of the rest; beta = 1, R = 0 at a leaf. At the root the variance is R + beta^2 V. */
#ifndef TMI_MECH_QUANTILE_TREE_H
#define TMI_MECH_QUANTILE_TREE_H

#include "mech/quantile/distribution.h"

#define TMI_TREE_LEVELS 12 /* 2^12 bins with two children each */
#define TMI_TREE_PARTS 64  /* of epsilon, that levels share */

/* Nodes are numbered level by level, the children of the root first, the bins last; within a level in the order of the bins. */
typedef struct tmi_bin_tree {
    size_t bins, branching, levels;
    size_t first[TMI_TREE_LEVELS + 1]; /* node at which each level begins; the last: their number */
    int64_t parts[TMI_TREE_LEVELS];
    tamis_number *scales[TMI_TREE_LEVELS];
    tamis_noise *noises[TMI_TREE_LEVELS];
    double noise_variance[TMI_TREE_LEVELS];
    double *variance; /* by node: of z */
} tmi_bin_tree;

/* The tree and the standard deviations of a distribution whose bins and weights are set. Errors: SYSTEM, INVALID. */
tamis_status tmi_bin_tree_set(tamis_distribution *distribution, const tamis_distribution_setup *setup, tamis_error *err);
void tmi_bin_tree_free(tmi_bin_tree *tree); /* NULL is fine */

/* Noise for every node. Errors: SYSTEM. */
tamis_status tmi_bin_tree_draw(int64_t *noise, const tmi_bin_tree *tree, tamis_rng *rng, tamis_error *err);

/* distribution->plain from the weights of the bins and the noise at hand. Errors: SYSTEM. */
tamis_status tmi_bin_tree_estimate(tamis_distribution *distribution, const int64_t *x, tamis_error *err);

/* ---- parts ---- */

/* The sums of all nodes from the weights of the bins, exactly. */
void tmi_bin_tree_measure(int64_t *sums, const tmi_bin_tree *tree, const int64_t *x);

/* Measurements of all nodes become their least-squares estimates. */
void tmi_bin_tree_consistent(double *nodes, const tmi_bin_tree *tree);

/* The variance of the prefix sum up to a bin. */
double tmi_bin_tree_prefix_variance(const tmi_bin_tree *tree, size_t bin);

#endif
