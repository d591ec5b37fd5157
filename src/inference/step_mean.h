/* The mean of a function that is constant in each bin of a distribution function, of one group: read from the same tables as the
 * shares below its cuts, with all of its errors, as if the plan had asked for it. */
#ifndef TMI_INFERENCE_STEP_MEAN_H
#define TMI_INFERENCE_STEP_MEAN_H

#include "inference/estimates.h"

typedef struct tmi_step_means tmi_step_means;

/* For a curve of the plan. Errors: SYSTEM. */
tamis_status tmi_step_means_make(tmi_step_means **means, const tmi_inference *inference, size_t curve, tamis_error *err);
void tmi_step_means_free(tmi_step_means *means);

/* `values`: one per bin, all of them in [0, 1]; `group` SIZE_MAX: of all rows that the condition of the curve holds for, whatever
 * group they are in. The interval is normal. Errors: as tmi_read_statistic. */
tamis_status tmi_step_mean_read(tmi_result *result, tmi_step_means *means, const double *values, size_t group, tamis_error *err);

#endif
