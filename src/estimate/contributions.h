/* What a release would clamp of totals whose contributions are bounded: reported inside the agency only. */
#ifndef TMI_ESTIMATE_CONTRIBUTIONS_H
#define TMI_ESTIMATE_CONTRIBUTIONS_H

#include "estimate/sample.h"
#include "schedule/result.h"

/* Sets the factors by which a release shrinks what large units add to totals of a column, and says in the facts how many there
 * are and how much it takes off. Errors: SYSTEM. */
tamis_status tmi_bound_units(tmi_sample *sample, tmi_column_facts *facts, tamis_error *err);

/* Sets by how much a release would change a total, in the rows of its domain, and how many of them it would clamp. */
void tmi_clamping_of(tmi_result *result, const tmi_sample *sample, const tmi_plan_statistic *statistic, const uint8_t *domain);

#endif
