/* What can be expected of the coefficients of a model before any row is read, from what is expected of the means that it is made
 * of (schedule/model_guess.h). */
#ifndef TMI_SCHEDULE_EXPECTED_MODEL_H
#define TMI_SCHEDULE_EXPECTED_MODEL_H

#include "schedule/expected/expected.h"

/* From here on a coefficient may well be "not determined": in simulations one in ten was at 0.21, and none at 0.08. */
#define TMI_HOPELESS 0.15

/* Sets what is expected of model i: one entry for each coefficient of each group. Errors: SYSTEM. */
tamis_status tmi_expected_model(tmi_expected_statistic *list, const tmi_schedule *schedule, size_t model, tamis_error *err);

/* The same of a correlation, which has one number a group. */
tamis_status tmi_expected_correlation(tmi_expected_statistic *list, const tmi_schedule *schedule, size_t correlation,
                                      tamis_error *err);

#endif
