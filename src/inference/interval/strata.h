/* Intervals of counts and shares over strata, each measured with noise of its own. */
#ifndef TMI_INFERENCE_INTERVAL_STRATA_H
#define TMI_INFERENCE_INTERVAL_STRATA_H

#include "inference/interval/count.h"

/* A sample of a stratum: its ones, plus noise. */
typedef struct tmi_stratum_count {
    double population, sample; /* TMI_COUNT_RATE: the expected sample */
    double noisy;              /* number of sampled ones + noise */
    double noise;              /* variance of the noise */
    tmi_count_law law;
} tmi_stratum_count;

/* The estimate of the number of ones in all strata, and its noise. */
typedef struct tmi_count_estimate {
    double value;
    const tmi_noise_part *parts;
    size_t count;
} tmi_count_estimate;

/* Interval of the number of ones in all strata together. A total K is in it if the estimate is not too far from K for a
 * population with K ones: the variance and the third cumulant of sampling are those at K, the noise has its exact law
 * (strata.c). For one stratum and one noisy integer take the exact tmi_interval_count. The interval of a share with a known
 * denominator is that of the count over it.
 *
 * Needs    1 <= sample <= population, finite noisy and estimate, noise >= 0, 0 < confidence <= 1 - 10^-9.
 * Gives    an interval within 0 and the sum of the populations.
 * Cost     some 20 evaluations of the law: a few ms.
 * Errors   INVALID, SYSTEM; the interval is then everything.                                                          */
tamis_status tmi_interval_strata(tmi_interval *interval, const tmi_stratum_count *strata, size_t count,
                                 const tmi_count_estimate *estimate, double confidence, tamis_error *err);

#endif
