/* The law of the sample that a plan describes. A plan tells it where sizes and rates are enough; probabilities and sizes of
 * units that were not drawn stand in a frame, which is not read here.                                                */
#ifndef TMI_PLAN_LAW_H
#define TMI_PLAN_LAW_H

#include "base/json.h"
#include "plan/plan.h"

/* OK if the plan tells the law.
 *
 * Errors   REFUSED with the reason. */
tamis_status tmi_plan_knows_law(const tamis_plan *plan, tamis_error *err);

/* OK if that law may be counted for an outsider: also the setting, a secret sample, weights that are the design's.
 *
 * Errors   REFUSED with the reason. */
tamis_status tmi_plan_may_amplify(const tamis_plan *plan, tamis_error *err);

/* The law as tamis_design_read takes it, strata in the order of their names. Needs a plan that tells it. */
void tmi_put_law(tmi_json_out *out, const tamis_plan *plan);

#endif
