/* Signed groups of clusters, from which the sampling variance of clustered designs is estimated.
 *
 * Clusters of a stratum are paired at random; in each pair one counts positively, the other negatively, and pairs fall at random
 * into G groups. With q_g the signed total of group g, the sum of q_g^2 has the expectation of the sum over pairs of squared
 * differences: the variance of a total, as if clusters were drawn with replacement. Only q_g is measured, with noise whose
 * variance is taken off.
 *
 * Which cluster goes where is drawn before a row is read. That is what keeps the sensitivity: clusters are known by the rank of
 * their labels, and a cluster that takes the place of another shifts the ranks of many. But all assignments are equally likely,
 * so that for each one of the first sample there is one of the second in which every other cluster stays where it was: a mixture
 * over the same cells, in which one record leaves one cell and enters another.
 *
 * Where the number of clusters is not public (a weights-only design), a keyed hash of the labels of stratum and cluster decides
 * on group and sign. The key is drawn before a row is read, and for every key the place of a row depends on this row alone. So
 * privacy does not rest on the hash or on the secrecy of its key; that clusters are spread evenly and independently does. There
 * are no pairs then: the variance contains the differences between strata, and of totals the size of the clusters. */
#ifndef TMI_SCHEDULE_REQUEST_VARIANCE_GROUPS_H
#define TMI_SCHEDULE_REQUEST_VARIANCE_GROUPS_H

#include <tamis/rng.h>

#include "engine/core/engine.h"
#include "schedule/sampling.h"

typedef struct tmi_variance_groups {
    size_t groups;           /* 0: none */
    size_t codes;            /* of the engine's column: two per group, the positive one first, and one for those left over */
    size_t strata;           /* of the design */
    int64_t *cluster_counts; /* one per stratum: the length of its list */
    int32_t **cell_of;       /* one list per stratum: the code of the cluster of each rank */
    bool scattered;          /* by a hash; then there are no lists, and nothing is left over */
    unsigned char key[TMI_KEY_BYTES];
} tmi_variance_groups;

/* Everything but who goes where: all lists, or the key, are 0. Empty if there are no groups. */
tamis_status tmi_variance_groups_make(tmi_variance_groups *groups, const tmi_sampling *sampling, size_t count, tamis_error *err);
void tmi_variance_groups_clear(tmi_variance_groups *groups);

/* A key of an engine's hashes. */
tamis_status tmi_draw_key(unsigned char key[TMI_KEY_BYTES], tamis_rng *rng, tamis_error *err);

tamis_status tmi_variance_groups_draw(tmi_variance_groups *groups, tamis_rng *rng, tamis_error *err);

#endif
