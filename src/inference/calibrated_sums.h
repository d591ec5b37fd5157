/* The sums of a calibrated statistic: those of its control cells, times their factors (calibration.h). */
#ifndef TMI_INFERENCE_CALIBRATED_SUMS_H
#define TMI_INFERENCE_CALIBRATED_SUMS_H

#include "inference/calibration.h"
#include "inference/group_sums.h"

/* What tmi_group_sums_make does, for a calibrated statistic. */
tamis_status tmi_calibrated_sums(tmi_group_sums *sums, const tmi_inference *reading, size_t statistic, size_t group,
                                 tamis_error *err);

/* The totals of the variance units, of the residuals of the combination of the sums with these factors: added to `totals`. */
tamis_status tmi_calibrated_units(double *totals, const tmi_inference *reading, size_t statistic, size_t group,
                                  const double factors[TMI_MAIN_ROLES], tamis_error *err);

#endif
