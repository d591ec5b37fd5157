/* What the estimators share: sums that do not lose digits, and the checks of their lists. */
#ifndef TMI_SURVEY_ESTIMATOR_H
#define TMI_SURVEY_ESTIMATOR_H

#include <math.h>
#include <stdbool.h>
#include <tamis/estimator.h>

#include "base/error.h"

/* A compensated sum (Neumaier 1974): the error of each addition is kept and added at the end, so that the result is
 * rounded about once, however many terms there are and whatever cancels.                                             */
typedef struct tmi_sum {
    double sum, lost;
} tmi_sum;

static inline void tmi_sum_add(tmi_sum *s, double x)
{
    double sum = s->sum + x;
    s->lost += fabs(s->sum) >= fabs(x) ? (s->sum - sum) + x : (x - sum) + s->sum;
    s->sum = sum;
}

static inline double tmi_sum_value(tmi_sum s) { return s.sum + s.lost; }

/* One finite number for each of count >= 1 units; `name` is the parameter. */
tamis_status tmi_check_finite(const char *name, const double *list, size_t count, tamis_error *err);

/* Numbers in (0, 1]. */
tamis_status tmi_check_probabilities(const char *name, const double *list, size_t count, tamis_error *err);

/* Stores a variance; INVALID, and infinity, if it overflowed. */
tamis_status tmi_set_variance(double *variance, double value, tamis_error *err);

#endif
