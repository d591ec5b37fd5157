/* From noisy standard errors to the sampling variances that intervals use: borrow the centre, never the certainty.
 *
 * The design effect of a number, d = V/V0, is its sampling variance relative to V0, what a simple random sample of the same mean
 * weight would have, which is known from the estimates' own tables. Design effects of a statistic's numbers are alike: ln d is
 * normal about the statistic's centre with one of two widths, but for one number in twenty, which may be anything that clusters
 * of equal rows can do. Centres of statistics of one family (totals and counts; means, shares and ratios) are alike too: normal
 * about the family's, which is unknown. Each number has a measured standard error, or its square has been measured, with the
 * known law of its noise about a value with the law of chi, or of chi squared, with the design's degrees of freedom; the noise is
 * integrated over that law exactly, so that the limit has no steps where noise is small. The posterior of d follows for each
 * number, on a grid of ln d, with centres and widths integrated out.
 *
 * A number's half-width h has the confidence as its posterior predictive probability,
 *
 *     sum over d of P(d | all) P(|sampling + noise| <= h | V(d)) = confidence,
 *
 * and the sampling variance of the interval is the one whose normal law has that half-width, (h/z)^2 less the variance of the
 * noise. The sampling variance is raised by the square of Student's quantile over the normal one, and a standard error that is
 * measured to within half of itself is a floor: shrinking serves numbers on average, and each interval is to cover. Of one that
 * is known less well the floor is a part, which falls to nothing, so that noise by itself is never taken for a standard error.
 *
 * Two stages. With a fraction f of the PSUs drawn without replacement, V(d) is (1 - f) d V0 + f min(d, d_u) V0: the variance
 * within PSUs, at most that of units drawn one by one, counts in full, that between PSUs only by 1 - f. */
#ifndef TMI_VARIANCE_LIMIT_H
#define TMI_VARIANCE_LIMIT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

typedef enum tmi_effect_family { TMI_EFFECTS_OF_TOTALS, TMI_EFFECTS_OF_MEANS, TMI_EFFECT_FAMILIES } tmi_effect_family;

/* A published number, and what was measured of its sampling error. */
typedef struct tmi_measured_error {
    tmi_effect_family family;
    int power;        /* 1: its standard error was measured; 2: its variance */
    size_t statistic; /* numbers of one statistic follow each other */
    double squares;   /* V0, above 0 */
    double noise;     /* variance of the noise of the estimate */
    double measured;  /* its noisy standard error, or variance */
    double scale;     /* the noise in it has the law exp(-|x|/scale), or exp(-x^2/(2 scale^2)) if it is Gaussian */
    bool gaussian;
    double degrees;    /* the degrees of freedom that the design has, at least 1 */
    double rows;       /* of the sample that it is about: its variance is a sum over so many terms, and has no more degrees of
                          freedom; of clusters with the design effect d they count for rows/d terms; infinite: not known */
    double confidence; /* of the interval */
} tmi_measured_error;

/* What is public about clusters. */
typedef struct tmi_cluster_guess {
    double rows, cv; /* sampled rows of a PSU: their mean, and the coefficient of variation of PSUs' sizes */
    double drawn;    /* the fraction of PSUs that was drawn in the first of two stages, where they are drawn without replacement;
                        else 0 */
    double within;   /* d_u: the design effect that drawing units within PSUs has at most */
    double narrower; /* logarithms of design effects vary less than those of clusters by this factor; 1 for these */
    double smaller;  /* all design effects that are looked at are smaller by this factor than those of clusters; 1 for these */
} tmi_cluster_guess;

typedef struct tmi_error_limit {
    double variance; /* the sampling variance that the interval uses */
    double effect;   /* posterior mean of d */
} tmi_error_limit;

/* The design effect that a family is expected to have. */
double tmi_expected_design_effect(tmi_effect_family family, const tmi_cluster_guess *guess);

/* Gives one limit for each number, from what was measured of all of them. Errors: SYSTEM. */
tamis_status tmi_error_limits(tmi_error_limit *limits, const tmi_measured_error *numbers, size_t count,
                              const tmi_cluster_guess *guess, tamis_error *err);

/* The variances that intervals are expected to use, where `measured` is what is expected of each number: geometric means over
 * what noise can do to it, which is written to `measured`. Errors: SYSTEM. */
tamis_status tmi_expected_error_limits(double *variances, tmi_measured_error *numbers, size_t count,
                                       const tmi_cluster_guess *guess, tamis_error *err);

#endif
