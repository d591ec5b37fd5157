/* Estimators of sample surveys, unprotected: totals, means and ratios from the sampled units, and their variances.
 *
 * An estimate is published with its sampling error, and both come in two steps. A point estimator gives the estimate
 * and, for each sampled unit, its linear value u: to first order the estimate varies as the weighted total of u
 * (Taylor linearisation; for a total u is the variable itself). A variance estimator knows the design and takes u of
 * any point estimator, so each of them serves totals, means, ratios and domains alike.
 *
 * No privacy guarantee depends on these numbers: they are doubles, summed with compensation, and agree with R's survey
 * and sampling packages to nine digits or more. What they reveal about the sample is not protected.
 *
 * All lists have one entry for each sampled unit. On failure an estimate is NaN and a variance infinite.
 *
 * Errors   INVALID (the message names the parameter), SYSTEM (memory), for every function.
 *
 * Experimental: this header may change in any version, and programs that use it are compiled again with each. */
#ifndef TAMIS_EXPERIMENTAL_ESTIMATOR_H
#define TAMIS_EXPERIMENTAL_ESTIMATOR_H

#include <tamis/base.h>

TAMIS_BEGIN

/* ---- point estimators ----
 *
 * Needs    finite values and weights (1 / inclusion probability, or calibrated ones, which may be negative).
 *          `domain`, if not NULL, is nonzero for the units that the estimate is about: the others stay in the lists,
 *          because the variance needs them.
 * Gives    the estimate; and, if `linear` is not NULL, the linear value of each unit, 0 outside the domain (all 0 on
 *          failure). `linear` may be the list of values itself.
 * Cost     O(count), no memory.                                                                                      */

/* Horvitz-Thompson: sum of weight * value. */
TAMIS_USE tamis_status tamis_total(double *total, double *linear, const double *values, const double *weights,
                                   const uint8_t *domain, size_t count, tamis_error *err);

/* Hajek mean: the ratio of the estimated total and the estimated number of units. Needs a positive sum of weights. The
 * Hajek total is this mean times the known number of units, and so are its linear values; the Horvitz-Thompson mean is
 * tamis_total divided by that number.                                                                                */
TAMIS_USE tamis_status tamis_mean(double *mean, double *linear, const double *values, const double *weights,
                                  const uint8_t *domain, size_t count, tamis_error *err);

/* The ratio of two totals, of `values` over `bases`. Needs an estimated total of `bases` that is not 0. */
TAMIS_USE tamis_status tamis_ratio(double *ratio, double *linear, const double *values, const double *bases,
                                   const double *weights, const uint8_t *domain, size_t count, tamis_error *err);

/* ---- variances from joint inclusion probabilities ----
 *
 * Needs    finite linear values; joint[k * count + l] in (0, 1], the probability that the sampled units k and l are both
 *          in the sample, symmetric, with the inclusion probabilities on the diagonal (tamis_inclusion_joint).
 * Gives    the estimated variance, which may be negative: neither estimator is sure to be positive.
 * Cost     O(count^2), no memory.                                                                                    */

/* Horvitz and Thompson (1952): for any design. */
TAMIS_USE tamis_status tamis_variance_horvitz_thompson(double *variance, const double *linear, const double *joint, size_t count,
                                                       tamis_error *err);

/* Yates, Grundy and Sen (1953): for designs of fixed size, where it is much more stable. */
TAMIS_USE tamis_status tamis_variance_yates_grundy(double *variance, const double *linear, const double *joint, size_t count,
                                                   tamis_error *err);

/* ---- variances without joint inclusion probabilities ----
 *
 * For one design of unequal probabilities (in strata: the sum of the variances of the strata). They need the sampled
 * units only. Units of probability 1 do not vary: they do not count in Poisson's, Hajek's and Deville's formula, and in the other
 * three they count in n and in means of u / pi, as in R's survey.
 *
 * Needs    finite linear values, inclusion probabilities in (0, 1]; except for Poisson sampling, at least two units (for Hajek's
 *          and Deville's formula: of probability below 1), or none below 1.
 * Cost     O(count), no memory.                                                                                      */

/* Poisson and Bernoulli sampling: unbiased, sum of (1 - pi) (u / pi)^2. */
TAMIS_USE tamis_status tamis_variance_poisson(double *variance, const double *linear, const double *probabilities, size_t count,
                                              tamis_error *err);

/* Hajek (1964), for designs of large entropy and fixed size: squared residuals of u / pi about their mean with weights
 * 1 - pi, times n / (n - 1).                                                                                         */
TAMIS_USE tamis_status tamis_variance_hajek(double *variance, const double *linear, const double *probabilities, size_t count,
                                            tamis_error *err);

/* Deville (1999): as Hajek, with 1 / (1 - sum of a^2), where a = (1 - pi) / (sum of 1 - pi), in place of n / (n - 1). */
TAMIS_USE tamis_status tamis_variance_deville(double *variance, const double *linear, const double *probabilities, size_t count,
                                              tamis_error *err);

/* Brewer (2002, 18.24): as Hajek, about the plain mean of u / pi. */
TAMIS_USE tamis_status tamis_variance_brewer(double *variance, const double *linear, const double *probabilities, size_t count,
                                             tamis_error *err);

/* Overton (1985): Horvitz-Thompson with 1 - pi_k pi_l / pi_kl = -(1 - (pi_k + pi_l) / 2) / (n - 1) for two units, which
 * needs no frame: n / (n - 1) times the sum of (1 - pi) z (z - mean of z), z = u / pi. May be negative.              */
TAMIS_USE tamis_status tamis_variance_overton(double *variance, const double *linear, const double *probabilities, size_t count,
                                              tamis_error *err);

/* Hartley and Rao (1962), for systematic sampling in random order: Horvitz-Thompson with 1 - pi_k pi_l / pi_kl =
 * -(1 - pi_k - pi_l + frame_squares / n) / (n - 1) for two units. May be negative.
 *
 * Needs    and frame_squares, the sum of pi^2 over all units of the frame, at most n; 0: estimated by the
 *          sum of the sampled units' pi.                                                                             */
TAMIS_USE tamis_status tamis_variance_hartley_rao(double *variance, const double *linear, const double *probabilities,
                                                  double frame_squares, size_t count, tamis_error *err);

/* Hansen and Hurwitz (1943), for draws with replacement: n / (n - 1) times the squares of weight * u about their mean,
 * where weight = 1 / (n * probability of the unit at one draw). A unit drawn k times appears k times.
 *
 * Needs    finite linear values and weights, at least two draws.                                                     */
TAMIS_USE tamis_status tamis_variance_hansen_hurwitz(double *variance, const double *linear, const double *weights, size_t count,
                                                     tamis_error *err);

/* ---- strata, clusters, stages ---- */

/* How one stage of a sample was drawn: in each stratum, clusters by simple random sampling. One entry for each sampled
 * unit, as in all lists. Labels of a stage count inside a stratum, and a cluster, of the stage before: they may begin
 * again in the next one.                                                                                             */
typedef struct tamis_stage {
    const int64_t *strata;     /* NULL: one stratum */
    const int64_t *clusters;   /* NULL: each unit by itself */
    const double *populations; /* clusters that the stratum has in the frame; NULL or infinite: with replacement, or so
                                  many that it does not matter; later stages are then not looked at */
} tamis_stage;

#define TAMIS_MAX_STAGES 8

/* What a stratum from which one cluster of several was drawn adds to the variance, which it cannot estimate by itself. These are
 * the options of R's survey. */
typedef enum tamis_lonely {
    TAMIS_LONELY_FAIL,      /* INVALID */
    TAMIS_LONELY_CERTAINTY, /* nothing, as if the cluster had been certain to be drawn (R also calls this "remove") */
    TAMIS_LONELY_ADJUST,    /* the square of its total, as if the mean were 0: conservative */
    TAMIS_LONELY_AVERAGE    /* the mean of the other strata of its stage; INVALID if there is none */
} tamis_lonely;

/* The variance of a sample in stages: {strata, NULL, populations} is stratified sampling, {NULL, clusters, populations}
 * cluster sampling, {strata, clusters, NULL} the ultimate-cluster variance, two entries are two-stage sampling.
 *
 * Needs    finite linear values and weights; populations >= the number of sampled clusters, the same in a whole stratum;
 *          1 to TAMIS_MAX_STAGES stages.
 * Gives    the variance; and, if `degrees` is not NULL, the degrees of freedom: clusters minus strata of the first stage
 *          (0 on failure).
 * Cost     O(count log count) per stage, memory 40 bytes per unit.                                                       */
TAMIS_USE tamis_status tamis_variance_stages(double *variance, int64_t *degrees, const double *linear, const double *weights,
                                             size_t count, const tamis_stage *stages, size_t stage_count, tamis_lonely lonely,
                                             tamis_error *err);

/* ---- calibration ---- */

#define TAMIS_MAX_AUXILIARY 1024

/* How weights may change, x being the auxiliary values of a unit. */
typedef enum tamis_calibration {
    TAMIS_CALIBRATION_LINEAR, /* weight * (1 + x' lambda): generalised regression; weights may become negative */
    TAMIS_CALIBRATION_RAKING, /* weight * exp(x' lambda): weights stay positive */
    TAMIS_CALIBRATION_LOGIT   /* by a factor between `lower` and `upper`, which the other two ignore */
} tamis_calibration;

/* Weights close to the given ones that reproduce known totals of auxiliary variables (Deville and Sarndal 1992). An
 * indicator for each category makes post-strata (one classification) or raked margins (several).
 *
 * Needs    positive weights; auxiliary[i * variables + j], the value of variable j for unit i, and totals[j], finite;
 *          1 <= variables <= TAMIS_MAX_AUXILIARY; 0 <= lower < 1 < upper for the logit. Variables may depend on each
 *          other if their totals agree.
 * Gives    calibrated weights that meet the totals to ten digits or better; NaN on failure.
 * Cost     O(count * variables^2) per step, mostly fewer than ten steps; memory O(variables^2).
 * Errors   and UNABLE: no weights of this method meet the totals, or they were not found in 100 steps.               */
TAMIS_USE tamis_status tamis_calibrate(double *calibrated, tamis_calibration method, double lower, double upper,
                                       const double *weights, const double *auxiliary, const double *totals, size_t count,
                                       size_t variables, tamis_error *err);

/* What calibration leaves of a variable: the residuals of linear values in the regression on the auxiliary variables,
 * with the weights from before calibration. The variance of a calibrated estimate is that of these residuals, with the
 * calibrated weights (where a variance takes weights).
 *
 * Needs    as above. `residuals` may be the list of linear values itself.
 * Gives    one residual for each unit; NaN on failure.                                                               */
TAMIS_USE tamis_status tamis_calibration_residuals(double *residuals, const double *linear, const double *weights,
                                                   const double *auxiliary, size_t count, size_t variables, tamis_error *err);

TAMIS_END

#endif
