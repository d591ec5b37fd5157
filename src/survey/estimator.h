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

#endif
