/* Quantiles, shares below a line and inequality measures, from the released shares of their distribution functions. */
#ifndef TMI_INFERENCE_DISTRIBUTION_H
#define TMI_INFERENCE_DISTRIBUTION_H

#include "inference/estimates.h"

/* Fills the results of all statistics that are of a distribution; those of the shares are read. Errors: UNABLE, SYSTEM. */
tamis_status tmi_read_distributions(tmi_results *results, const tmi_inference *reading, tamis_error *err);

#endif
