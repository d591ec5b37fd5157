/* How wrong a protected mean, total, median or list of quantiles of a sample is: sampling error and noise together, for several
 * mechanisms.
 *
 * Exact formulas where there are some. The mean and the total need no simulation at all. The median of a simple random sample
 * of n of N is the value of rank k with probability C(k-1, m-1) C(N-k, n-m) / C(N, n), m being its rank in the sample; noise
 * that does not look at the data adds its variance. Mechanisms that look at the data are simulated, and of each simulated
 * sample the mean squared error over the noise is computed instead of drawn, except for noisy counts and for the mechanisms of a
 * release, which answer each sample once.
 *
 * Several quantiles share eps and delta equally, and their squared errors are averaged. Groups between which a row may move are
 * looked at one by one: noise for a sensitivity, and the mechanisms of a release, then have half of eps for rows that leave or
 * enter (measure/quantile_tasks.h has the argument). */
#ifndef TMI_STUDY_ERRORS_H
#define TMI_STUDY_ERRORS_H

#include "base/watch.h"
#include "study/values.h"

/* Mechanisms, in the order of the tables. */
typedef enum tmi_study_mechanism {
    TMI_MECHANISM_LAPLACE,      /* noise for the global sensitivity */
    TMI_MECHANISM_GAUSSIAN,     /* the same, discrete Gaussian on a fine grid: needs a delta */
    TMI_MECHANISM_INVERSE,      /* the inverse sensitivity mechanism */
    TMI_MECHANISM_SMOOTH_PAPER, /* smooth sensitivity, scale 2S/eps, beta = eps/(2 log(2/delta)): needs a delta */
    TMI_MECHANISM_SMOOTH,       /* smooth sensitivity, the calibration that the exact pair of laws allows: needs a delta */
    TMI_MECHANISM_HISTOGRAM,    /* noisy counts of TMI_BINS equal intervals */
    TMI_MECHANISM_POLYPLACE,    /* from here on the mechanisms of a release, on a grid: smooth sensitivity without a delta */
    TMI_MECHANISM_THRESHOLD,    /* AboveThreshold */
    TMI_MECHANISM_JOINT,        /* several quantiles at once */
    TMI_MECHANISM_SPLIT,        /* several, the middle one first */
    TMI_MECHANISM_TREE,         /* a distribution function of noisy sums */
    TMI_MECHANISM_PREFIX,       /* the same of prefix sums, with the rho that eps and delta allow: needs a delta */
    TMI_STUDY_MECHANISMS
} tmi_study_mechanism;

#define TMI_RELEASE_MECHANISMS (((1u << TMI_STUDY_MECHANISMS) - 1) & ~((1u << TMI_MECHANISM_POLYPLACE) - 1))
#define TMI_RELEASE_RUNS 100 /* simulated samples for these, at most */

#define TMI_BINS 100
#define TMI_REACH 1e-4 /* of the range: how far around a value the inverse sensitivity mechanism counts it as hit */

const char *tmi_study_mechanism_name(tmi_study_mechanism mechanism); /* "Laplace" */
const char *tmi_study_mechanism_key(tmi_study_mechanism mechanism);  /* "laplace", as options name it */

/* What may be spent on the sample. */
typedef struct tmi_spending {
    double eps, delta;
} tmi_spending;

/* What a sample of n of N may spend if everybody of the frame is promised eps and delta and the sample is secret. */
tmi_spending tmi_spending_amplified(double eps, double delta, double population, double sample);

typedef struct tmi_squared_error {
    double mse;       /* mean squared error; NaN: the mechanism does not apply */
    double mse_error; /* Monte Carlo standard error of that; 0: exact */
    double sampling;  /* the part of the mse that the sample has without noise */
} tmi_squared_error;

#define TMI_STUDY_LEVELS 16 /* quantiles of one question, at most */

/* Quantiles, and the grid of a release's mechanisms. */
typedef struct tmi_levels {
    const tamis_number *const *at; /* ascending */
    size_t count;
    const tamis_number *from, *to, *step;
    bool moved; /* the population is one of several groups between which a row may move */
} tmi_levels;

typedef struct tmi_simulation {
    const tmi_values *population;
    tamis_study_statistic statistic;
    const tmi_levels *levels; /* NULL: the median alone, without the mechanisms of a release */
    unsigned mechanisms;      /* 1 << way for each that is wanted */
    const uint32_t *samples;  /* sizes, each from 1 to the population's */
    size_t sample_count;
    const tmi_spending *spendings; /* spending_count for each size */
    size_t spending_count;
    int64_t runs; /* simulated samples of each size */
    uint64_t seed;
    unsigned threads;
    const tmi_watch *watch;
} tmi_simulation;

/* errors[(size * spending_count + spending) * TMI_STUDY_MECHANISMS + way]. Errors: INVALID (eps <= 0), SYSTEM, UNABLE. */
tamis_status tmi_simulate(tmi_squared_error *errors, const tmi_simulation *simulation, tamis_error *err);

/* ---- one sample ---- */

/* n values in order, the rank of the quantile in it, the range, and the level of the quantile. */
typedef struct tmi_ordered {
    const double *x;
    uint32_t n, rank;
    double from, to, at;
} tmi_ordered;

/* Mean squared distance of the mechanism's answer from `truth`. */
double tmi_inverse_error(const tmi_ordered *sample, double eps, double truth);

/* The rank of a quantile among n: at n, rounded up. */
uint32_t tmi_level_rank(double at, uint32_t n);

/* Mean squared error of a sample quantile of n of the population, exactly; of the median. */
double tmi_level_error(const tmi_values *population, uint32_t n, double at);
static inline double tmi_median_error(const tmi_values *population, uint32_t n) { return tmi_level_error(population, n, 0.5); }

/* Calibration of the noise S/alpha, neighbours' S within a factor e^beta. */
typedef struct tmi_smooth_calibration {
    double alpha, beta;
} tmi_smooth_calibration;

#endif
