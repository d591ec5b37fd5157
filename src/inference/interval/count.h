/* Test inversion for counts: the K that a noisy sample count does not reject, under designs whose count of ones has a
 * law that K orders.                                                                                                 */
#ifndef TMI_INFERENCE_INTERVAL_COUNT_H
#define TMI_INFERENCE_INTERVAL_COUNT_H

#include <tamis/experimental/interval.h>

#include "inference/interval/interval.h"

/* The ones in the sample, if K of the population are ones. */
typedef enum tmi_count_law {
    TMI_COUNT_SRS,      /* hypergeometric: population, K, sample */
    TMI_COUNT_REPLACED, /* binomial: sample draws, probability K / population */
    TMI_COUNT_RATE,     /* binomial: K trials, probability rate (Bernoulli sampling; population: the most there can be) */
} tmi_count_law;

typedef struct tmi_count_case {
    tmi_count_law law;
    int64_t population, sample; /* TMI_COUNT_RATE needs no sample */
    const tamis_number *rate;   /* only with TMI_COUNT_RATE; in (0, 1] */
    const tamis_number *scale;  /* of discrete Laplace noise, or */
    /* of discrete Gaussian noise, P(k) proportional to exp(-k^2 / (2 variance)), or */
    const tamis_number *variance;
    const tamis_number *sd; /* of rounded normal noise; the others are NULL */
    const tamis_number *confidence;
    bool certified; /* else doubles decide what is not closer than 1e-9: some ten times faster, for tables */
} tmi_count_case;

/* As tamis_interval_count. The interval of a share with a known denominator N is that of the count over N. */
tamis_status tmi_interval_count(int64_t *lower, int64_t *upper, const tmi_count_case *c, int64_t noisy, tamis_error *err);

#endif
