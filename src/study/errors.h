/* How wrong a protected mean, total or median of a sample is: sampling error and noise together, for several mechanisms.
 *
 * Exact formulas where there are some. The mean and the total need no simulation at all. The median of a simple random sample
 * of n of N is the value of rank k with probability C(k-1, m-1) C(N-k, n-m) / C(N, n), m being its rank in the sample; noise
 * that does not look at the data adds its variance. Mechanisms that look at the data are simulated, and of each simulated
 * sample the mean squared error over the noise is computed instead of drawn, except for the histogram.               */
#ifndef TMI_STUDY_ERRORS_H
#define TMI_STUDY_ERRORS_H

#include "base/watch.h"
#include "study/values.h"

/* Mechanisms, in the order of the tables. */
typedef enum tmi_way {
    TMI_WAY_LAPLACE,      /* noise for the global sensitivity */
    TMI_WAY_GAUSSIAN,     /* the same, discrete Gaussian on a fine grid: needs a delta */
    TMI_WAY_INVERSE,      /* the inverse sensitivity mechanism */
    TMI_WAY_SMOOTH_PAPER, /* smooth sensitivity, scale 2S/eps, beta = eps/(2 log(2/delta)): needs a delta */
    TMI_WAY_SMOOTH,       /* smooth sensitivity, the calibration that the exact pair of laws allows: needs a delta */
    TMI_WAY_HISTOGRAM,    /* noisy counts of TMI_BINS equal intervals */
    TMI_WAYS
} tmi_way;

#define TMI_BINS 100
#define TMI_REACH 1e-4 /* of the range: how far around a value the inverse sensitivity mechanism counts it as hit */

const char *tmi_way_name(tmi_way way); /* "Laplace" */
const char *tmi_way_key(tmi_way way);  /* "laplace", as options name it */

/* What may be spent on the sample. */
typedef struct tmi_spending {
    double eps, delta;
} tmi_spending;

/* What a sample of n of N may spend if everybody of the frame is promised eps and delta and the sample is secret. */
tmi_spending tmi_spending_amplified(double eps, double delta, double population, double sample);

typedef struct tmi_wrong {
    double mse;       /* mean squared error; NaN: the mechanism does not apply */
    double mse_error; /* Monte Carlo standard error of that; 0: exact */
    double sampling;  /* the part of the mse that the sample has without noise */
} tmi_wrong;

typedef struct tmi_simulation {
    const tmi_values *population;
    tamis_study_statistic statistic;
    unsigned ways;           /* 1 << way for each that is wanted */
    const uint32_t *samples; /* sizes, each from 1 to the population's */
    size_t sample_count;
    const tmi_spending *spendings; /* spending_count for each size */
    size_t spending_count;
    int64_t runs; /* simulated samples of each size */
    uint64_t seed;
    unsigned threads;
    const tmi_watch *watch;
} tmi_simulation;

/* errors[(size * spending_count + spending) * TMI_WAYS + way]. Errors: INVALID (eps <= 0), SYSTEM, UNABLE. */
tamis_status tmi_simulate(tmi_wrong *errors, const tmi_simulation *simulation, tamis_error *err);

/* ---- one sample ---- */

/* n values in order, the rank of the median in it, and the range. */
typedef struct tmi_ordered {
    const double *x;
    uint32_t n, rank;
    double from, to;
} tmi_ordered;

/* Mean squared distance of the mechanism's answer from `truth`. */
double tmi_inverse_error(const tmi_ordered *sample, double eps, double truth);

/* Mean squared error of the sample median of n of the population, exactly. */
double tmi_median_error(const tmi_values *population, uint32_t n);

/* Calibration of the noise S/alpha, neighbours' S within a factor e^beta. */
typedef struct tmi_smooth_calibration {
    double alpha, beta;
} tmi_smooth_calibration;

#endif
