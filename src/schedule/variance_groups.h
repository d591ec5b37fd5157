/* Variance units: which clusters are added up together, so that the sampling error can be estimated from their totals.
 *
 * At most 32 clusters are units of their own, in their strata. More of them are combined into 32 units, two in each of 16
 * pseudo-strata: up to 16 strata are divided, more than that are joined, and the clusters of a stratum are spread evenly
 * over its units. Which cluster goes where is drawn at random before a row is read. That is what keeps the sensitivity: clusters
 * are known by the rank of their labels, and a cluster that takes the place of another shifts the ranks of many. But all
 * assignments are equally likely, so that for each one of the first sample there is one of the second in which every other
 * cluster stays where it was: a mixture over the same cells, and one cell changes.
 *
 * Where the number of clusters is not public (a weights-only design), each falls into any of 32 units, by a keyed hash
 * of its stratum's and its own label. The key is drawn before a row is read, and for every key the unit of a row depends on
 * this row alone: a record that changes leaves one cell and enters another, which is the sensitivity that such designs are
 * given (tmi_sampling.moves), and the release is a mixture over keys. So privacy does not rest on the hash or on the secrecy
 * of its key; that clusters are spread evenly and independently does.                                               */
#ifndef TMI_SCHEDULE_VARIANCE_GROUPS_H
#define TMI_SCHEDULE_VARIANCE_GROUPS_H

#include <tamis/rng.h>

#include "engine/core/engine.h"
#include "schedule/sampling.h"

typedef struct tmi_variance_groups {
    size_t count, strata;                      /* units; strata of the design */
    size_t stratum_of[TMI_MAX_VARIANCE_UNITS]; /* of each unit: the stratum or pseudo-stratum */
    int64_t members[TMI_MAX_VARIANCE_UNITS];   /* clusters in each unit; 0 everywhere: not public */
    size_t pseudo_strata;
    int64_t *cluster_counts; /* one per stratum: the length of its list */
    int32_t **cell_of;       /* one list per stratum: the unit of the cluster of each rank */
    bool scattered;          /* by a hash; then there are no lists */
    unsigned char key[TMI_KEY_BYTES];
} tmi_variance_groups;

/* Everything but who goes where: all lists, or the key, are 0. Empty if the design is not clustered. */
tamis_status tmi_variance_groups_make(tmi_variance_groups *groups, const tmi_sampling *sampling, tamis_error *err);
void tmi_variance_groups_clear(tmi_variance_groups *groups);

/* A key of an engine's hashes. */
tamis_status tmi_draw_key(unsigned char key[TMI_KEY_BYTES], tamis_rng *rng, tamis_error *err);

tamis_status tmi_variance_groups_draw(tmi_variance_groups *groups, tamis_rng *rng, tamis_error *err);

#endif
