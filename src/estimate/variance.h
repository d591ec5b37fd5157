/* The variance of a weighted total of linear values, by the plan's design: made ready once, then asked for each number.
 *
 *     srs, systematic, census      strata of units drawn without replacement
 *     cluster, two_stage           the same of clusters, and of units within them; clusters with unequal probabilities by
 *                                  Brewer's approximation
 *     srs_with_replacement, weights   first-stage units as if drawn with replacement
 *     bernoulli, poisson           units drawn independently
 *     pps                          by joint probabilities where the frame gives them, else by an approximation
 *
 * `variance:` in the plan chooses another formula. Calibrated weights: the variance is that of the residuals.         */
#ifndef TMI_ESTIMATE_VARIANCE_H
#define TMI_ESTIMATE_VARIANCE_H

#include "estimate/sample.h"
#include "survey/estimator.h"

typedef struct tmi_sample_variance {
    const tmi_sample *sample;
    tmi_variance_method method;
    tamis_stage stages[2];
    size_t stage_count; /* 0: by probabilities */
    tmi_stage_facts facts;
    int64_t *strata, *within;
    double *populations, *drawn;
    double *pi;             /* inclusion probabilities of the rows, if there are no stages */
    double **joint;         /* of each stratum, over its rows in their order; NULL: not known */
    double *frame_squares;  /* of each stratum, 0: not known */
    size_t *order, *starts; /* rows by stratum: order[starts[h] .. starts[h + 1]) */
    size_t *first;          /* of the rows of the same unit; NULL: each row is a unit */
    size_t *places;         /* of first rows, among the units of their stratum */
    bool several;           /* some unit has several rows */
    double *some, *others;  /* room for the rows of one stratum */
    double *calibrated;     /* weights; NULL: not calibrated */
    double *auxiliary;
    size_t auxiliary_count;
    double *residuals;
    size_t replicate_count;  /* sets of replicate weights (replicates.h); 0: variances follow from the design */
    const double *replicate; /* the set that estimates use at the moment; NULL: the sample's own weights */
    double scale, *rscales;
    int64_t df;
    const char *note; /* which approximation was taken; NULL: none */
} tmi_sample_variance;

/* Errors   INVALID, UNABLE (weights cannot be calibrated), SYSTEM. */
tamis_status tmi_sample_variance_make(tmi_sample_variance *variance, const tmi_sample *sample, tamis_error *err);
void tmi_sample_variance_clear(tmi_sample_variance *variance);

/* The weights that estimates use: calibrated ones, or the sample's; or a set of replicate weights. */
const double *tmi_sample_variance_weights(const tmi_sample_variance *variance);

/* The same of a row, to the last bit as R has them: it keeps probabilities, and weights are one divided by them. */
double tmi_rounded_weight(const tmi_sample_variance *variance, size_t row);

/* The public design effect of a statistic over that of the design's weights; 1 with replicate weights. */
double tmi_sample_relative_deff(const tmi_sample_variance *variance, const tmi_plan_statistic *statistic);

/* Degrees of freedom of a domain: first-stage units minus strata, of those that have rows of it with a weight, as R's degf of a
 * subset. Errors: SYSTEM. */
tamis_status tmi_sample_degrees(int64_t *df, const tmi_sample_variance *variance, const uint8_t *domain, tamis_error *err);

/* The variance of the sum of weight * linear, linear being 0 outside the domain. NaN with a reason where the sample cannot tell.
 * A stratum without rows of the domain adds nothing, also if one unit of it was sampled: as R's subset has it, where strata
 * without rows are no strata; but of calibrated weights all rows count. Errors: SYSTEM. */
tamis_status tmi_sample_variance_of(double *value, const char **reason, tmi_sample_variance *variance, const double *linear,
                                    const uint8_t *domain, tamis_error *err);

#endif
