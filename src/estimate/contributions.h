/* What a release would clamp of totals whose contributions are bounded: reported inside the agency only. */
#ifndef TMI_ESTIMATE_CONTRIBUTIONS_H
#define TMI_ESTIMATE_CONTRIBUTIONS_H

#include "estimate/sample.h"
#include "schedule/result.h"

/* Sets by how much a release would change a total, in the rows of its domain, and how many of them it would clamp. */
void tmi_clamping_of(tmi_result *result, const tmi_sample *sample, const tmi_plan_statistic *statistic, const uint8_t *domain);

#endif
