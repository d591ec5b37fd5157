/* Ratios of two noisy totals: means, shares with noisy denominators, A/B. */
#ifndef TMI_INFERENCE_INTERVAL_RATIO_H
#define TMI_INFERENCE_INTERVAL_RATIO_H

#include "inference/interval/interval.h"
#include "inference/interval/variance.h"

/* A noise, and its factors in the numerator and in the denominator. */
typedef struct tmi_ratio_part {
    double numerator, denominator, scale;
    tmi_gaussian gaussian;
    double count;
} tmi_ratio_part;

typedef struct tmi_ratio {
    double numerator, denominator; /* noisy estimates of the two totals A and B */
    tmi_quadratic sampling;        /* estimated sampling variance of A - r B, for every r */
    tmi_form_noise margin;         /* square of what is added to it against the noise in it */
    double ones, all;              /* a share: its sums of a over the ones and over all rows; all = 0: no share */
    double largest;                /* what that variance cannot exceed for an r in the range; infinite: nobody knows */
    int64_t df;                    /* TMI_NORMAL: the variances are known */
    const tmi_ratio_part *parts;
    size_t count;
} tmi_ratio;

typedef struct tmi_ratio_result {
    double estimate, sampling_se, noise_sd; /* standard errors of first order; NaN if the denominator is 0 */
    tmi_interval interval;                  /* clipped also if the denominator may be 0: then it is the whole range */
    bool from_range;                        /* the sampling variance at the estimate is `largest` */
    bool may_be_zero;                       /* the denominator, within its error */
} tmi_ratio_result;

/* Fieller's interval with the exact noise: r is in it if 0 is plausible for A - r B, whose error is Student's times the
 * sampling standard error at r, plus the noises with the factors that they have in A - r B. For a share the standard error
 * is the one that a share of r would have (Wilson's interval): that of the sample is 0 if nobody in it has the property.
 *
 * Needs    finite numbers, least < most finite, largest >= 0 or infinite, 0 < confidence <= 1 - 10^-9.
 * Cost     some 20 evaluations of the law: a few ms.
 * Errors   INVALID, SYSTEM; the interval is then the range.                                                          */
tamis_status tmi_interval_ratio(tmi_ratio_result *result, const tmi_ratio *ratio, double confidence, double least, double most,
                                tamis_error *err);

#endif
