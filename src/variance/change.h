/* The sampling variance of a change between two waves that have clusters in common, from noisy totals of groups of clusters.
 *
 * Each wave published, for a number, the total d_g of its linearised variable in each of G public groups, with a sign for each
 * cluster that balances within strata (variance/group_totals.h). Over these signs the sum of the squares of the differences D_g
 * = d_g(now) - d_g(then) has the sampling variance V of the change as its expectation, covariance included, and the noise of
 * both waves adds its own variance, which is known. So D_g is taken as normal with the variance V s_g, s_g the group's part of
 * the pairs of clusters, and noise of the exact law of both waves.
 *
 * V is between 1/20 and 39/20 of V1 + V2, the sum of both sampling variances: correlations beyond 0.95 are not believed. Before
 * the groups are looked at it is most likely to be V1 + V2, by a triangle about it: where noise hides everything, intervals are
 * about those of independent samples. The half-width has the confidence as its posterior predictive probability, as in limit.h,
 * and the variance is the one whose normal law has that half-width, less the variance of the noise: few groups make it larger,
 * as Student's law does. */
#ifndef TMI_VARIANCE_CHANGE_H
#define TMI_VARIANCE_CHANGE_H

#include <stdbool.h>
#include <stddef.h>

/* The law of the noise of each group's total in one wave. */
typedef struct tmi_total_noise {
    double scale; /* exp(-|x|/scale), or exp(-x^2/(2 scale^2)) if it is Gaussian; in units of the number */
    bool gaussian;
} tmi_total_noise;

typedef struct tmi_group_change {
    const double *differences; /* D_g, in units of the number */
    const double *shares;      /* s_g; 0: the group has no clusters and says nothing */
    size_t count;
    tmi_total_noise noise[2]; /* of both waves */
    double apart;             /* V1 + V2, above 0 */
    double around;            /* the variance of the noise of the change itself */
    double confidence;
} tmi_group_change;

/* The sampling variance that the interval of the change uses. */
double tmi_change_variance(const tmi_group_change *change);

/* The same if the variance is `variance`, all D_g are as large as expected of it, and groups are alike. */
double tmi_expected_change_variance(const tmi_group_change *change, double variance);

#endif
