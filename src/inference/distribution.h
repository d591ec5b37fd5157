/* Quantiles, shares below a line and inequality measures, from the released shares of their distribution functions. */
#ifndef TMI_INFERENCE_DISTRIBUTION_H
#define TMI_INFERENCE_DISTRIBUTION_H

#include "inference/estimates.h"

/* Fills the results of all statistics that are of a distribution; those of the shares are read. Errors: UNABLE, SYSTEM. */
tamis_status tmi_read_distributions(tmi_results *results, const tmi_inference *inference, tamis_error *err);

/* Whether the interval of a share of a distribution function is needed: it is that of a line, or the share may be that of a level
 * of a quantile. Others are only drawn, and intervals take most of the time of a release. Needs estimate and se. */
bool tmi_decides_quantile(const tamis_plan *plan, const tmi_result *share);

#endif
