/* Variances from replicate weights: the estimate is computed again with each set of weights, and its variance is
 *
 *     scale * sum of rscale_r (estimate_r - centre)^2,
 *
 * the centre being the mean of the replicates, or with `mse` the estimate itself: R's svrVar. */
#ifndef TMI_ESTIMATE_REPLICATES_H
#define TMI_ESTIMATE_REPLICATES_H

#include "estimate/variance.h"

/* The names of the columns: the plan's list, or those columns of its files whose names match its pattern, in the order of the
 * file. The caller frees them and the list. Errors: INVALID (there is none; rows of a program with a pattern), SYSTEM. */
tamis_status tmi_replicate_columns(char ***names, size_t *count, const tamis_plan *plan, tamis_error *err);

/* Scale and rscales as the type has them, and one less than the rank of the weights as degrees of freedom. Errors: INVALID (a
 * weight is missing, as many rscales as columns), SYSTEM. */
tamis_status tmi_replicates_make(tmi_sample_variance *variance, tamis_error *err);

/* Degrees of freedom of some rows: one less than the rank of their weights, with R's tolerance. Errors: SYSTEM. */
tamis_status tmi_replicate_degrees(int64_t *df, const tmi_sample_variance *variance, const uint8_t *domain, tamis_error *err);

/* Computes an estimate with the weights that tmi_sample_variance_weights gives now. INVALID: there is none. */
typedef tamis_status tmi_estimator(double *estimate, void *context, tamis_error *err);

/* NaN with a reason if a replicate has no estimate. Errors: SYSTEM. */
tamis_status tmi_replicate_variance(double *value, const char **reason, tmi_sample_variance *variance, double estimate,
                                    tmi_estimator *again, void *context, tamis_error *err);

/* The same from the estimates of the replicates. */
double tmi_variance_of_replicates(const tmi_sample_variance *variance, double estimate, const double *replicates);

#endif
