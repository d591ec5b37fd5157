/* What the estimators share: the checks of their lists. */
#ifndef TMI_SURVEY_ESTIMATOR_H
#define TMI_SURVEY_ESTIMATOR_H

#include <stdbool.h>
#include <tamis/experimental/estimator.h>

#include "base/error.h"
#include "num/sum.h"

/* One finite number for each of count >= 1 units; `name` is the parameter. */
tamis_status tmi_check_finite(const char *name, const double *list, size_t count, tamis_error *err);

/* Numbers in (0, 1]. */
tamis_status tmi_check_probabilities(const char *name, const double *list, size_t count, tamis_error *err);

/* Stores a variance; INVALID, and infinity, if it overflowed. */
tamis_status tmi_set_variance(double *variance, double value, tamis_error *err);

/* tamis_variance_stages with `probabilities`, of the cluster of each unit, where the first stage drew clusters with unequal
 * probabilities; NULL: it did not. */
tamis_status tmi_variance_stages(double *variance, int64_t *degrees, const double *linear, const double *weights, size_t count,
                                 const tamis_stage *stages, size_t stage_count, const double *probabilities, tamis_lonely lonely,
                                 tamis_error *err);

#endif
