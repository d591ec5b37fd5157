/* Sampling variances that are not known well by themselves.
 *
 * Where weights are in the tables and rows do not come in clusters, the sampling variance V of a number is estimated from
 * tables of its own, with noise that may exceed it. What is known well is the weighted sum of squares s of the number's
 * residuals, from the tables that the number itself is read from. Their ratio b = V/s, the mean weight times a design effect,
 * is much alike for numbers of the same kind, totals, shares or means, about the same column. So it is pooled:
 *
 *     b_p   the mean of a pool, each ratio weighted by its precision, and v_p its variance;
 *     b_U   w b + (1-w) b_p and 0.84 standard deviations of that, w = t^2/(t^2 + sd^2), t^2 how much ratios of the pool differ,
 *           between (b_p/2)^2 and b_p^2.
 *
 * Numbers of the same kind about other columns have design effects that may be far from these, as regions have of which each
 * cluster is a part: what they have on average counts as one more ratio, whose variance is what ratios of the kind differ by.
 *
 * b_U s is what intervals use. A number whose V was not measured takes b_p and what ratios differ by. b_U is at most the
 * largest a/w, which is public, and where noise leaves no ratio at all (its denominator is not above 0) it is that. */
#ifndef TMI_INFERENCE_POOL_H
#define TMI_INFERENCE_POOL_H

#include "inference/group_sums.h"

typedef struct tmi_pool_entry {
    double ratio, sd; /* b and its standard deviation; NaN: not measured */
} tmi_pool_entry;

/* One pool: statistics of one kind about one column (tmi_are_pooled). */
typedef struct tmi_pool {
    double mean, variance; /* b_p, v_p */
    double differ;         /* t^2 */
} tmi_pool;

/* What all results share. */
typedef struct tmi_pools {
    tmi_pool *list; /* one per statistic */
    double ceiling; /* the most that public weights allow; infinite: they allow any */
} tmi_pools;

/* Needs    a schedule whose variances are pooled (tmi_is_pooled).                                   Errors: SYSTEM. */
tamis_status tmi_pools_make(tmi_pools *pools, const tmi_inference *inference, tamis_error *err);
void tmi_pools_clear(tmi_pools *pools);

bool tmi_is_pooled(const tmi_schedule *schedule);

/* The ratio of one number of a statistic: V and s at its value r. */
tmi_pool_entry tmi_pool_entry_of(const tmi_group_sums *sums, const tmi_inference *inference, double r);

/* b_U of one number of a statistic. *relative: what was added, relative to the rest. Needs pools. */
double tmi_pool_limit(double *relative, const tmi_group_sums *sums, const tmi_inference *inference, size_t statistic, double r);

#endif
