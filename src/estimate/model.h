/* Correlations and models without protection: the numbers of R's svyglm, and of a correlation from svyvar.
 *
 * The coefficients b of a survey-weighted model are where the sum of w x (y - mu) is 0, mu = x b, 1 / (1 + exp(-x b)) or
 * exp(x b). To first order they are a total of G^-1 x (y - mu), G the sum of w v x x', v the derivative of mu by x b: these are
 * the linear values of the rows. Rows with a missing value of the model are left out. Intervals and tests are Student's, with
 * the design's degrees of freedom in the domain, plus 1, less the number of coefficients, as svyglm has it.
 *
 * Columns are centred and scaled before anything is solved, so that doubles suffice to some twelve digits. A term that is a
 * combination of those before it in these rows has no coefficient, and the others are as if it were not in the model: as R
 * does. */
#ifndef TMI_ESTIMATE_MODEL_H
#define TMI_ESTIMATE_MODEL_H

#include "estimate/work.h"

/* Of values and bases, in the domain; and its linear values. Errors: INVALID (one of them does not vary). */
tamis_status tmi_estimate_correlation(double *estimate, tmi_estimate_work *work, tamis_error *err);

/* Marks rows that lack a value of the model. */
void tmi_model_missing(tmi_estimate_work *work, const tmi_plan_model *model);

/* All terms of one group, whose rows with a value are the domain. Errors: SYSTEM. */
tamis_status tmi_estimate_model(tmi_result *terms, tmi_estimate_work *work, const tmi_plan_statistic *statistic,
                                tamis_error *err);

#endif
