/* Intervals of counts whose law is known: the test of the count is inverted, so that no estimated variance is in them. That is
 * possible where a count is read from one noisy integer, or from one per stratum, of a design that fixes the law of the
 * sampled count. */
#ifndef TMI_INFERENCE_INVERTED_COUNTS_H
#define TMI_INFERENCE_INVERTED_COUNTS_H

#include "inference/estimates.h"
#include "inference/group_sums.h"

/* Whether the interval of a result is made so. */
bool tmi_is_inverted(const tmi_result *result, const tmi_inference *inference);

/* Sets the interval, in units of `over`. UNABLE, SYSTEM. */
tamis_status tmi_invert_count(tmi_result *result, const tmi_inference *inference, double over, tamis_error *err);

#endif
