/* Quantiles, shares below a line and inequality measures, from the released shares of their distribution functions. */
#ifndef TMI_INFERENCE_DISTRIBUTION_H
#define TMI_INFERENCE_DISTRIBUTION_H

#include "inference/estimates.h"
#include "survey/curve.h"

/* The distribution function of a group, from the results of the shares of all cuts and groups, the groups of a cut side by side.
 * *reason says why there is none, or is NULL. Clear the curve unless that failed. Errors: SYSTEM. */
tamis_status tmi_read_curve(tmi_curve *curve, const char **reason, const tmi_plan_curve *cuts, const tmi_result *shares,
                            size_t groups, size_t group, tamis_error *err);

/* Fills the results of all statistics that are of a distribution; those of the shares are read. Errors: UNABLE, SYSTEM. */
tamis_status tmi_read_distributions(tmi_results *results, const tmi_inference *reading, tamis_error *err);

#endif
