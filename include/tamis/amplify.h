/* What a sampling design adds to a guarantee.
 *
 * A mechanism is (eps, delta)-private for the people of a sample. Somebody who does not know who was sampled learns
 * less: eps_pop and delta_pop hold for the people of the frame, against that outsider, if membership in the sample is
 * secret and the selection looks at nothing that is protected. How much less depends on the design: on how likely a
 * unit is drawn, and on how different the sample would be without it. Simple random sampling, strata, unequal
 * probabilities with a proved coupling, clusters and stages amplify; a cluster amplifies much less than its sampling
 * rate suggests, because the whole cluster comes and goes together. Where nothing is proved the answer is REFUSED.
 *
 * Several releases from one sample are composed first and amplified once, with the eps and delta of all together.    */
#ifndef TAMIS_AMPLIFY_H
#define TAMIS_AMPLIFY_H

#include <tamis/mech.h>
#include <tamis/survey.h>

TAMIS_BEGIN

/* Which change of the records counts as one step: of the frame, for the result; of the sample, for the mechanism. */
typedef enum tamis_neighbours {
    TAMIS_REPLACE,   /* one record has other values; strata, sizes and probabilities stay */
    TAMIS_ADD_REMOVE /* one record is there or not */
} tamis_neighbours;

/* The promise of a mechanism on the sample, and what it is asked for. */
typedef struct tamis_sample_promise {
    const tamis_number *eps, *delta;
    tamis_neighbours neighbours; /* of the frame */
    tamis_neighbours mechanism;  /* what eps and delta count on the sample; replacing counts as two steps of add and
                                    remove, adding as none of replacing: then only samples of equal size compare */
} tamis_sample_promise;

/* Units of one stratum; those that are in every sample stand apart. */
typedef struct tamis_amplified_part {
    int64_t stratum; /* 0 if there are none */
    int take_all;
    int64_t units;
    int64_t worst; /* a unit for which eps and delta are the largest */
    const char *theorem;
    tamis_bound eps, delta;
} tamis_amplified_part;

typedef struct tamis_amplified {
    tamis_bound eps, delta; /* the largest over all parts */
    int64_t worst;          /* a unit of the part with the largest eps */
    const char *theorem;    /* srs, srs_with_replacement, poisson, strongly_rayleigh, stratified, cluster, two_stage,
                               systematic or census; NULL on failure */
    tamis_amplified_part *parts;
    size_t count;
} tamis_amplified;

/* From the sample to the frame.
 *
 * Needs    eps from 0 to 10^6, 0 <= delta <= 1.
 * Gives    enclosures of relative width 1e-10 of the best numbers that the theorem gives; `upper` is the one to
 *          publish. The caller clears it with tamis_amplified_clear. On failure [0, inf], [0, 1] and no parts.
 * Cost     O(units) for unequal probabilities, else O(1) a stratum and a cluster.
 * Errors   INVALID, SYSTEM (memory), UNABLE, REFUSED (no theorem for the design, or for these neighbours).
 * Paper    settings, Theorem 4.1, and docs/papers.md#settings-designs for the other designs.                         */
TAMIS_API tamis_status tamis_amplify_design(tamis_amplified *amplified, const tamis_design *design,
                                            const tamis_sample_promise *promise, tamis_error *err);
TAMIS_API void tamis_amplified_clear(tamis_amplified *amplified);

/* The other way: the budget on the sample that a target for the frame, the eps and delta of `target`, allows.
 *
 * Needs    as above.
 * Gives    an enclosure of the largest eps_n, of relative width 1e-10, and the largest delta_n beside its lower end;
 *          the lower ends are the budget that may be spent. On failure [0, inf] and [0, 1].
 * Cost     about a hundred times that of tamis_amplify_design at worst.
 * Errors   as above.                                                                                                 */
TAMIS_API tamis_status tamis_amplify_design_inverse(tamis_bound *eps_n, tamis_bound *delta_n,
                                                    const tamis_design *design, const tamis_sample_promise *target,
                                                    tamis_error *err);

TAMIS_END

#endif
