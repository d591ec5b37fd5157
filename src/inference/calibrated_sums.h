/* The sums of a calibrated statistic: those of its control cells, times their factors (calibration.h). */
#ifndef TMI_INFERENCE_CALIBRATED_SUMS_H
#define TMI_INFERENCE_CALIBRATED_SUMS_H

#include "inference/calibration.h"
#include "inference/group_sums.h"

/* Fills the groups of a statistic that is calibrated, with noise and parts of their own. Errors: SYSTEM. */
tamis_status tmi_calibrated_sums(tmi_statistic_sums *sums, const tmi_inference *inference, size_t statistic, tamis_error *err);

#endif
