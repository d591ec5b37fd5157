/* Totals of groups of clusters, as a wave publishes them for the change to a later one (variance/change.h).
 *
 * Pairs. Within each stratum the clusters of the list are paired by a hash of their labels, without a key: everybody can do it,
 * and two waves with the same list do the same. A pair goes to one of TMI_CHANGE_GROUPS groups, and one of its clusters counts
 * with the sign + and the other with -, by the hashes of both labels alone. So a pair that is in two lists is in the same group
 * with the same signs, whatever else the lists contain. In a stratum of m clusters, m odd, one has no pair, and the others count
 * sqrt(m/(m - 1)) times. What is released of group g is d_g = sum of f_i U_i over its clusters, U_i the total of cluster i.
 *
 * Expectation. If hashes are as good as random, every pair of a stratum is equally likely, and signs are independent. Then E sum
 * of d_g^2 = sum over strata of m/(m - 1) sum of (U_i - mean of U)^2 = S^2, the textbook's variance: a pair has the expected
 * square 2 s^2, s^2 the variance of the U_i over m - 1, and there are m/2 of them, or (m - 1)/2 that count m/(m - 1) times. The
 * same holds for the differences of two waves with one list. Where the lists differ, clusters whose pairs are not in both have
 * independent signs in both waves: their variances add up, and their covariance is left out.
 *
 * Sensitivity. A cluster is in one group at most, with a factor of at most f. A record that moves the table of totals by `moved`,
 * all entries together, moves all d_g of a number together by f C moved at most, C the largest coefficient: a linear map whose
 * columns have one entry. So all numbers of a statistic move by f C moved overlap. tests/variance/group_totals.c compares that
 * with all neighbours. */
#ifndef TMI_VARIANCE_GROUP_TOTALS_H
#define TMI_VARIANCE_GROUP_TOTALS_H

#include <stddef.h>
#include <stdint.h>

#define TMI_CHANGE_GROUPS 32 /* fewer leave too few degrees of freedom, more have too much noise together */
#define TMI_MOST_PAIRS (INT64_C(1) << 15)
#define TMI_SIGN_BITS 10 /* of the factors of clusters, which are 2^10 where a stratum has an even number of them */

/* What a slot's total counts for. */
typedef struct tmi_slot_sign {
    int32_t group;  /* -1: for nothing */
    int32_t factor; /* in steps of 2^-10, with its sign */
} tmi_slot_sign;

typedef struct tmi_hashed_cluster {
    uint64_t hash; /* of its label */
    size_t place;  /* in the list of signs */
} tmi_hashed_cluster;

/* Pairs the clusters of one stratum, and sorts them. Sets the signs of all of them, and adds to `pairs` how many each group has.
 * Clusters whose hashes are equal are paired by their places. */
void tmi_pair_clusters(tmi_slot_sign *signs, int64_t pairs[TMI_CHANGE_GROUPS], tmi_hashed_cluster *clusters, size_t count);

/* The factor of the clusters of a stratum that has so many, in steps of 2^-10, rounded up. */
int64_t tmi_sign_factor(int64_t psus);

#endif
