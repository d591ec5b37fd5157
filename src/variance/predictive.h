/* Half-widths of intervals where a variance is known by its posterior alone: the error is normal given the variance, and the
 * confidence is the probability over both. */
#ifndef TMI_VARIANCE_PREDICTIVE_H
#define TMI_VARIANCE_PREDICTIVE_H

#include <stddef.h>

/* The z with P(|Z| <= z) = confidence. */
double tmi_predictive_z(double confidence);

/* The h with sum over i of posterior[i] P(|Z| <= h/deviations[i]) = confidence; deviations ascend, the posterior adds up to 1,
 * and z is the normal margin of the confidence. */
double tmi_predictive_half_width(const double *posterior, const double *deviations, size_t count, double z, double confidence);

#endif
