/* Intervals of counts by tests: of a single noisy integer exactly, of a count that is made of several by the variance that each
 * possible total would have. */
#ifndef TMI_INFERENCE_INVERTED_COUNTS_H
#define TMI_INFERENCE_INVERTED_COUNTS_H

#include "inference/group_sums.h"

/* Whether a result is a count, or a share of a public number of units, whose test can be inverted. */
bool tmi_is_inverted(const tmi_result *result, const tmi_inference *reading, const tmi_group_sums *sums);

/* Its interval, divided by `over`. Needs a result that has its estimate, times `over` the count. Errors: as
 * tmi_interval_strata. */
tamis_status tmi_invert_count(tmi_result *result, const tmi_inference *reading, const tmi_group_sums *sums, double over,
                              tamis_error *err);

#endif
