/* The law of the sample that a plan describes, as far as an outsider's promise needs it. A plan says it where sizes and rates
 * are enough; what a frame says of the probabilities of units that were not drawn is the caller's to bring (NULL: it was
 * not read). The law is that of a design that promises no more than the plan's own and is shorter to write; each kind of design
 * (plan/design/) says which, and why.                                                                                */
#ifndef TMI_PLAN_LAW_H
#define TMI_PLAN_LAW_H

#include "base/value/json.h"
#include "plan/frame_facts.h"
#include "plan/plan.h"

/* OK if the plan says the law.
 *
 * Errors   REFUSED with the reason. */
tamis_status tmi_plan_knows_law(const tamis_plan *plan, const tmi_frame_facts *frame, tamis_error *err);

/* OK if that law may be counted for an outsider: also the setting, a secret sample, weights that are the design's.
 *
 * Errors   REFUSED with the reason. */
tamis_status tmi_plan_may_amplify(const tamis_plan *plan, const tmi_frame_facts *frame, tamis_error *err);

/* The law as tamis_design_read takes it, strata in the order of their names. Needs a plan that says it. */
void tmi_put_law(tmi_json_out *out, const tamis_plan *plan, const tmi_frame_facts *frame);

/* The same as a design, strata in the order of the plan; the caller frees it.
 *
 * Errors   INVALID, SYSTEM (memory). */
tamis_status tmi_plan_law(tamis_design **design, const tamis_plan *plan, const tmi_frame_facts *frame, tamis_error *err);

/* The law in one stratum, if it has `population` units or clusters, of a kind that takes no frame. */
tamis_status tmi_plan_stratum_law(tamis_design **design, const tmi_plan_design *d, const tmi_plan_stratum *stratum,
                                  int64_t population, tamis_error *err);

#endif
