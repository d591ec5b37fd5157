/* Variance units: which clusters are added up together, so that their totals tell the sampling error.
 *
 * At most 32 clusters are units of their own, in their strata. More of them are combined into 32 units, two in each of 16
 * pseudo-strata: up to 16 strata are divided, more than that are joined, and the clusters of a stratum are spread evenly
 * over its units. Where the number of clusters is not public, each falls into any unit, independently.
 *
 * Which cluster goes where is drawn at random before a row is read. That is what keeps the sensitivity: clusters are known by
 * the rank of their labels, and a cluster that takes the place of another shifts the ranks of many. But all assignments are
 * equally likely, so that for each one of the first sample there is one of the second in which every other cluster stays
 * where it was: a mixture over the same cells, and one cell changes.                                                 */
#ifndef TMI_VARIANCE_GROUPS_H
#define TMI_VARIANCE_GROUPS_H

#include <tamis/rng.h>

#include "release/sampling.h"

/* Clusters at most, where their number is not public. */
#define TMI_CLUSTERS_MOST (INT64_C(1) << 20)

typedef struct tmi_variance_groups {
    size_t count, strata;                          /* units; strata of the design */
    size_t stratum_of[TMI_MAX_VARIANCE_UNITS];     /* of each unit: the stratum or pseudo-stratum */
    int64_t members[TMI_MAX_VARIANCE_UNITS];       /* clusters in each unit; 0 everywhere: not public */
    size_t pseudo_strata;
    int64_t *cluster_counts; /* one a stratum: the length of its list */
    int32_t **cell_of;       /* one list a stratum: the unit of the cluster of each rank */
} tmi_variance_groups;

/* Everything but who goes where: all lists are 0. Empty if the design is not clustered. */
tamis_status tmi_variance_groups_make(tmi_variance_groups *groups, const tmi_sampling *sampling, tamis_error *err);
void tmi_variance_groups_clear(tmi_variance_groups *groups);

tamis_status tmi_variance_groups_draw(tmi_variance_groups *groups, tamis_rng *rng, tamis_error *err);

#endif
