/* What an outsider is promised: somebody of the frame or of the population, as long as nobody outside knows who was
 * sampled. The number is claimed only where the setting allows it, the plan says that the sample is secret, and a
 * theorem covers the design; otherwise there is the reason. It belongs to everything that is released from one sample
 * together, so it is computed once, from all that a plan spends.                                                     */
#ifndef TMI_OUTSIDER_H
#define TMI_OUTSIDER_H

#include "plan/plan.h"
#include "release/design.h"

typedef struct tmi_outsider {
    bool proved;
    tamis_bound epsilon, delta; /* {0, inf} and {0, 1} if not proved */
    char reason[512];           /* why not; a clause, without a full stop */
} tmi_outsider;

/* `spent`: what a sampled unit loses. Errors: UNABLE, SYSTEM. */
tamis_status tmi_outsider_make(tmi_outsider *outsider, const tamis_plan *plan, const tmi_design *design,
                               const tamis_number *spent, tamis_error *err);

#endif
