/* What an outsider is promised: somebody of the frame or of the population, as long as nobody outside knows who was
 * sampled. The number is claimed only where the setting allows it, the plan says that the sample is secret, and a
 * theorem covers the design; otherwise there is the reason. It belongs to everything that is released from one sample
 * together, so it is no part of a schedule: it is computed once, from the losses of the whole account.               */
#ifndef TMI_SCHEDULE_OUTSIDER_H
#define TMI_SCHEDULE_OUTSIDER_H

#include "ledger/losses.h"
#include "plan/frame_facts.h"
#include "plan/plan.h"

/* The units of one stratum; those that are in every sample are a part of their own. */
typedef struct tmi_outsider_part {
    size_t stratum;
    bool take_all;
    tamis_bound epsilon, delta;
    const tamis_number *sampled; /* what a sampled unit of it has lost, where strata lose different epsilons; lent, else NULL */
} tmi_outsider_part;

typedef struct tmi_outsider {
    bool proved;
    tamis_bound epsilon, delta; /* {0, inf} and {0, 1} if not proved */
    const char *theorem;        /* the theorem that proves it */
    bool by_profile;            /* epsilon follows from the parts of the loss (amplification/split.c) */
    tmi_outsider_part *parts;   /* one per stratum, if there are several */
    size_t part_count;
    char reason[512]; /* why nothing is proved: a clause, without a full stop */
} tmi_outsider;

/* The promise of a whole account: everything that was released from a sample, or would be with the release at hand. */
typedef struct tmi_promised {
    tamis_number *epsilon, *delta; /* what a sampled unit has lost */
    tamis_number **by_stratum;     /* with a target for outsiders, that of each stratum: none is above epsilon; else NULL */
    size_t strata;
    tmi_loss_parts parts;  /* what epsilon and delta are made of; empty if that is not known */
    bool one_point;        /* an older certificate: the parts do not count */
    const char *apart;     /* why sampling is not counted across the waves of the account, a static text; NULL if it is */
    tmi_outsider outsider; /* what sampling makes of these */
} tmi_promised;

/* The invariants of a promise (base/check.h): bounds are ordered, a proved number has its theorem, any other its reason. */
bool tmi_promised_is_sound(const tmi_promised *promised);

/* Makes the promise for these losses of a sampled unit (`by_stratum`: of each stratum, NULL: the same in all); a promise that was
 * made for the same losses is kept as it is. `frame`: what the plan's frame says, NULL without one. `promised` is empty at first
 * but for `one_point`, takes the parts (NULL: not known), and is cleared by the caller. Errors: UNABLE, SYSTEM. */
tamis_status tmi_promised_make(tmi_promised *promised, const tamis_plan *plan, const tmi_frame_facts *frame,
                               const tamis_number *epsilon, const tamis_number *delta, tmi_loss_parts *parts,
                               tamis_number *const *by_stratum, const char *apart, tamis_error *err);
void tmi_promised_clear(tmi_promised *promised);

/* What a sampled unit may lose so that somebody else of the frame loses no more than the plan's epsilon and delta, if the sample
 * were secret: lower ends, 0 if nothing would be proved, or if the plan's sample is secret already. *setting is the one in which
 * that is so. Errors: UNABLE, SYSTEM. */
tamis_status tmi_outsider_budget(tamis_bound *epsilon, tamis_bound *delta, const tamis_setting **setting, const tamis_plan *plan,
                                 const tmi_frame_facts *frame, tamis_error *err);

/* Claims nothing for outsiders any more, for this reason. */
void tmi_outsider_drop(tmi_outsider *outsider, const char *reason);

#endif
