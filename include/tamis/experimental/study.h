/* Accuracy before the fact: what sampling costs and gains when the noise must protect the whole population.
 *
 * A census adds Laplace noise of scale R/(eps N) to a mean of values in a range of length R. A simple random sample of
 * n of the N people may spend more, eps_n = log(1 + N/n (e^eps - 1)), but one person weighs more in it, R/n, and the
 * sample itself errs. These functions say exactly how the two compare.
 *
 * Experimental: this header may change in any version, and programs that use it are compiled again with each. */
#ifndef TAMIS_EXPERIMENTAL_STUDY_H
#define TAMIS_EXPERIMENTAL_STUDY_H

#include <tamis/experimental/bound.h>
#include <tamis/experimental/quantile.h>
#include <tamis/plan.h>

TAMIS_BEGIN

typedef struct tamis_mean_gain {
    tamis_bound eps_n;           /* the budget on the sample that gives eps on the population */
    tamis_bound r;               /* (n eps_n / (N eps))^2: noise variance of the census over that of the sample */
    tamis_bound one_minus_r;     /* 1 - r with full relative precision; positive whenever n < N */
    tamis_bound q;               /* 1 - (eps/eps_n)^2: variance saved for a statistic whose sensitivity is the same in both */
    tamis_bound census_variance; /* 2 (R/(eps N))^2: variance of the noisy mean of the census */
    tamis_bound sample_variance; /* (1 - n/N) S2/n + 2 (R/(eps_n n))^2: of the sample, sampling error included */
} tamis_mean_gain;

/* The mean of a census beside the mean of a sample, both eps-private for the population. r < 1 whenever n < N: for the
 * mean the noise of the sample is always the larger one.
 *
 * Needs    1 <= sample <= population, the n and N above, eps > 0, R >= 0 (length of the range), S2 >= 0 (variance in
 *          the population, divisor N - 1).
 * Gives    enclosures. On failure r, one_minus_r, q are [0, 1], the others [0, inf].
 * Cost     O(1).
 * Errors   INVALID, UNABLE.
 * Paper    gain, sections on the mean (docs/papers.md#gain-5, #gain-fig-5).                                          */
TAMIS_USE tamis_status tamis_study_mean(tamis_mean_gain *gain, int64_t population, int64_t sample, const tamis_number *eps,
                                        const tamis_number *R, const tamis_number *S2, tamis_error *err);

/* The sampling fraction at which a share q of the noise variance is saved for a statistic whose sensitivity does not
 * depend on the sample size: f = (e^eps - 1)/(e^(eps/sqrt(1-q)) - 1).
 *
 * Needs    eps > 0, 0 <= q < 1.
 * Gives    an enclosure in [0, 1]; on failure [0, 1].
 * Cost     O(1).
 * Errors   INVALID, UNABLE.
 * Paper    gain, the examples 16.77 % and 61.4 % (docs/papers.md#gain-rate).                                         */
TAMIS_USE tamis_status tamis_study_rate(tamis_bound *f, const tamis_number *eps, const tamis_number *q, tamis_error *err);

/* The sampling variance above which sampling no longer pays for a statistic of the given sensitivity, the same for sample
 * and census: 2 D^2 (1/eps^2 - 1/eps_n^2), the noise variance that is saved.
 *
 * Needs    eps > 0, 0 < f <= 1, sensitivity >= 0.
 * Gives    an enclosure; a sampling variance below `lower` gains. On failure [0, inf].
 * Cost     O(1).
 * Errors   INVALID, UNABLE.
 * Paper    gain, inequality (5) (docs/papers.md#gain-5).                                                             */
TAMIS_USE tamis_status tamis_study_max_sampling_variance(tamis_bound *value, const tamis_number *eps, const tamis_number *f,
                                                         const tamis_number *sensitivity, tamis_error *err);

/* ---- studies ---- */

/* A finished study, in several forms of the same numbers. Every study is made in one way: a function tamis_study_NAME takes
 * what is asked (a plan, a struct, or both) and how it is to be worked out, and gives a study. Structs begin with their own
 * size, as in the stable headers. Studies publish nothing and charge no ledger. */
typedef struct tamis_study tamis_study;

typedef enum tamis_study_form {
    TAMIS_STUDY_TEXT, /* for people */
    TAMIS_STUDY_JSON, /* one object */
    TAMIS_STUDY_CSV,  /* a header line and rows */
    TAMIS_STUDY_SVG,  /* a picture */
    TAMIS_STUDY_FORMS
} tamis_study_form;

/* The study in this form; NULL if it has none: a study with nothing to draw has no picture. Lives as long as the study. */
TAMIS_API const char *tamis_study_as(const tamis_study *study, tamis_study_form form);
TAMIS_API void tamis_study_free(tamis_study *study); /* NULL is fine */

/* How a study is worked out. NULL, or zero but for the size: seed 0, the usual number of runs, all cores, nobody watches. Equal
 * seeds give equal results, whatever the number of threads, except where real releases are made: no seed repeats their noise. */
typedef struct tamis_study_options {
    size_t size; /* sizeof(tamis_study_options) */
    uint64_t seed;
    int64_t runs;     /* simulated samples; 0: as many as each function says */
    unsigned threads; /* 0: as many as the machine has, 64 at most */
    tamis_watch watch;
} tamis_study_options;

/* ---- is it worth sampling? ---- */

typedef enum tamis_study_statistic {
    TAMIS_STUDY_MEAN,
    TAMIS_STUDY_TOTAL,
    TAMIS_STUDY_MEDIAN,
    TAMIS_STUDY_QUANTILE /* those of `at` */
} tamis_study_statistic;

/* A public population, or a guess of one. Never the data that a release is to protect. */
typedef struct tamis_study_population {
    const char *values; /* a law: beta:A,B, lognormal:MU,SIGMA, normal:MEAN,SD, uniform, bimodal (the mixture of the paper);
                           quantiles:SHARE=VALUE,...; a .csv or .parquet file; a release.json, of which the shares below values
                           count, or else the mean together with `sd`. NULL: only the mean and the total, by `sd` */
    const char *column; /* of a file, else NULL */
    int64_t size;       /* people; 0: those of the file, or 10001 */
    const tamis_number *from, *to; /* the declared range, to which values are clamped */
    const tamis_number *sd;        /* standard deviation, where there are no values; else NULL */
} tamis_study_population;

/* What is asked. eps and delta are promised to everybody in the population. */
typedef struct tamis_study_question {
    size_t size; /* sizeof(tamis_study_question) */
    tamis_study_population population;
    tamis_study_statistic statistic;
    const tamis_number *eps, *delta; /* delta NULL: 0, which leaves the mechanisms out that need one */
    const char *mechanism;         /* laplace, gaussian, inverse, smooth, smooth-paper, counts, or one of a release: smooth-pure,
                                        threshold, joint, split, tree, prefix; NULL: all */
    const tamis_number *const *at; /* QUANTILE: levels, ascending, at most 16; they share eps and delta, and the error is the root
                                        of the mean of their squared errors */
    size_t at_count;
    int64_t groups;           /* of a median or quantiles: that many groups of the population, equally large and distributed
                                 alike, between which a row may move; the error is that of one. 0 or 1: none */
    const tamis_number *step; /* of the grid of a release's mechanisms; NULL: a ten thousandth of the range */
    const tamis_number *rate; /* of tamis_study_gain: the sampling rate; NULL: a tenth */
} tamis_study_question;

/* Every mechanism in every setting, at one sampling rate: the census, the sample when it is known who is in it (it may
 * spend eps), and the secret sample (which may spend eps_n above). The error is that of the published number: sampling and
 * noise.
 *
 * Needs    eps > 0, 0 <= delta < 1, 0 < rate <= 1.
 * Gives    a study that the caller frees; NULL on failure.
 * Cost     formulas; for the median `runs` (usually 1000) samples for each mechanism that looks at the data.
 * Errors   INVALID (the population, the question), SYSTEM (cancelled, memory), UNABLE.
 * Paper    gain, sections 4.2 and 4.3 (docs/papers.md#gain).                                                         */
TAMIS_USE tamis_status tamis_study_gain(tamis_study **study, const tamis_study_question *question,
                                        const tamis_study_options *options, tamis_error *err);

/* The sampling rate with the smallest error, for the secret sample: the error at rates from 1 % to 100 % with bands of two Monte
 * Carlo standard errors, and a sentence that says what to do. A rate is recommended only if it is better than the census by more
 * than chance. Needs, gives, costs and errors as above; the question's rate is not looked at.                        */
TAMIS_USE tamis_status tamis_study_best_rate(tamis_study **study, const tamis_study_question *question,
                                             const tamis_study_options *options, tamis_error *err);

/* ---- which method for quantiles ---- */

#define TAMIS_STUDY_QUANTILES 100 /* of one study */

/* Quantiles of imagined files. */
typedef struct tamis_study_quantiles {
    size_t size;                       /* sizeof(tamis_study_quantiles) */
    tamis_study_population population; /* files are simple random samples of it; its from, to and sd are not looked at */
    int64_t rows;                      /* of each file; 0: 1000, or all of a population's file */
    tamis_quantile_setup what; /* grid, at, epsilon, delta, bins ...; its method, rho, rows, max_weight are not looked at */
} tamis_study_quantiles;

/* Every method on the same files, all with epsilon together: how far their answers are from the file's quantiles. A method that
 * counts in rho gets epsilon^2 / 2. The answers are made by the code of
 * <tamis/experimental/quantile.h>, with repeatable noise.
 *
 * Needs    what.at of at most TAMIS_STUDY_QUANTILES; from 1 to 10^6 rows, no more than the population has. 200 runs unless the
 *          options say otherwise, 100000 at most. A law is drawn once, as a population of 100,001 people, unless
 *          population.size says otherwise.
 * Gives    a study that the caller frees; NULL on failure. Medians, 95th percentiles and root mean squares of |error|.
 * Cost     runs * (all methods): some milliseconds each; method joint takes longer for a small epsilon.
 * Errors   INVALID (the population, what is asked), SYSTEM (cancelled, memory), UNABLE.                               */
TAMIS_USE tamis_status tamis_study_quantile(tamis_study **study, const tamis_study_quantiles *asked,
                                            const tamis_study_options *options, tamis_error *err);

/* ---- sizes of strata ---- */

typedef struct tamis_study_strata {
    size_t size;      /* sizeof(tamis_study_strata) */
    const char *path; /* a .csv or .parquet file with the columns stratum, population, sd, from, to: public guesses */
    int64_t sample;   /* units of all strata together */
    int64_t least;    /* units of each stratum, or all of it */
    const tamis_number *eps;
} tamis_study_strata;

/* The integers with the smallest error of the mean, sampling and noise, beside Neyman's, which look at sampling alone. Each
 * stratum's mean has Laplace noise; it may spend eps if it is known who was sampled, and more if the sample is secret.
 *
 * Needs    eps > 0; a sample that allows `least` and is at most the population. Nothing of the options matters but their size.
 * Gives    a study that the caller frees; NULL on failure.
 * Cost     O(sample log strata).
 * Errors   INVALID, SYSTEM.                                                                                          */
TAMIS_USE tamis_status tamis_study_allocation(tamis_study **study, const tamis_study_strata *strata,
                                              const tamis_study_options *options, tamis_error *err);

/* ---- the errors of a plan ---- */

/* Standard errors that the statistics of a plan may have: some of them, or the same relative error of all. */
typedef struct tamis_study_errors {
    size_t size;               /* sizeof(tamis_study_errors) */
    const char *const *list;   /* texts such as "mean income=200" or "total enroll by stype=50000" */
    size_t count;              /* of the list */
    const tamis_number *share; /* of every statistic, relative to its expected size; NULL: not stated */
} tamis_study_errors;

/* The smallest epsilon (or rho, where the plan counts that) that reaches stated errors, and what each halving of it costs.
 * Expected errors are those of the plan's preview: formulas, with the plan's guesses. No data are read.
 *
 * Needs    a list or a share.
 * Gives    a study that the caller frees; NULL on failure. The answer is rounded up to three digits and reaches the errors.
 * Cost     some dozens of previews.
 * Errors   INVALID, REFUSED (as a preview), UNABLE (no epsilon up to 1000 does: the sampling error is too large), SYSTEM. */
TAMIS_USE tamis_status tamis_study_epsilon(tamis_study **study, const tamis_plan *plan, const tamis_study_errors *errors,
                                           const tamis_study_options *options, tamis_error *err);

/* Samples that are drawn again and again from a population that is public, by the design of a plan. Each is released, with noise,
 * by the code that makes every release. */
typedef struct tamis_study_samples {
    size_t size;                /* sizeof(tamis_study_samples) */
    const char *population;     /* a .csv or .parquet file with one row per unit (or up to rows_per_unit), and the columns of the
                                   plan */
    const char *sizes;          /* pps: the column of sizes that probabilities are proportional to; else NULL */
    const char *response;       /* nonresponse: the column of the probabilities that a sampled unit responds; else NULL */
    const tamis_plan *drawn_by; /* the plan whose design draws the samples; NULL: that of the study. A weight column of the latter
                                   then holds one over the inclusion probability */
} tamis_study_samples;

/* How wrong every number of a plan will be: by formulas, and by releases of samples. Without a population (samples may be NULL)
 * the formulas alone, unless some number has none, or options->runs asks for a simulation: then the population is made up from
 * the plan's guesses, repeatably for a seed.
 *
 * Needs    as tamis_study_coverage; 300 runs unless the options say otherwise.
 * Gives    a study that the caller frees; NULL on failure.
 * Cost     runs * (one release + one estimate).
 * Errors   as tamis_preview_new and tamis_study_coverage; REFUSED (a population cannot be made up for the design).    */
TAMIS_USE tamis_status tamis_study_plan(tamis_study **study, const tamis_plan *plan, const tamis_study_samples *samples,
                                        const tamis_study_options *options, tamis_error *err);

/* How often each interval covers the value of the clamped population, beside the interval of the same sample without protection.
 * The study also reports the bias of clamping, which a release cannot: the value of the clamped population less that of the
 * population as it is. No seed repeats it.
 *
 * Needs    a plan without id; drawn by srs, systematic, bernoulli, pps, cluster or two_stage, with or without strata; at most
 *          10^6 runs; 0: 2000, and 10 000 if a coverage that low has a chance below 0.01 by itself.
 * Gives    a study that the caller frees; NULL on failure.
 * Cost     runs * (one release + one estimate).
 * Errors   INVALID (the population contradicts the plan), REFUSED (another design), SYSTEM (cancelled), UNABLE.        */
TAMIS_USE tamis_status tamis_study_coverage(tamis_study **study, const tamis_plan *plan, const tamis_study_samples *samples,
                                            const tamis_study_options *options, tamis_error *err);

typedef struct tamis_study_ranges {
    size_t size; /* sizeof(tamis_study_ranges) */
    const char
        *population;    /* a .csv or .parquet file with one row per unit (or up to rows_per_unit), and the columns of the plan */
    const char *column; /* the number to study; NULL: all that statistics of the plan add up */
} tamis_study_ranges;

/* Which range a number should have: a narrower one costs less noise and clamps more values. The noise follows from a plan with
 * that range, the bias from a population that is public: never from the sample or the frame that a release is to protect. Tries
 * ranges from a tenth of the plan's width to twice that.
 *
 * Needs    a plan without id; the population has its columns, and any number of rows: totals are scaled to the plan's population.
 *          Of the options only the watch matters.
 * Gives    a study that the caller frees; NULL on failure.
 * Cost     for each column some 20 schedules of the plan and as many estimates of the population.
 * Errors   INVALID (a column is missing; no number is added up), REFUSED, UNABLE, SYSTEM (cancelled).                 */
TAMIS_USE tamis_status tamis_study_bounds(tamis_study **study, const tamis_plan *plan, const tamis_study_ranges *ranges,
                                          const tamis_study_options *options, tamis_error *err);

/* ---- the paper ---- */

#define TAMIS_STUDY_FIGURES 13

/* A figure of the paper `gain`, drawn anew with the paper's settings and a seed of our own: picture, numbers as CSV, and a
 * remark. Where the paper is wrong the corrected curve is drawn beside the printed one.
 *
 * Needs    1 <= number <= TAMIS_STUDY_FIGURES.
 * Gives    a study that the caller frees; NULL on failure. 1000 runs unless the options say otherwise, 10 at least.
 * Cost     milliseconds, seconds for figures 8 and 13.
 * Errors   INVALID, SYSTEM (cancelled, memory).
 * Paper    gain, Figures 1 to 13 (docs/papers.md#gain).                                                              */
TAMIS_USE tamis_status tamis_study_figure(tamis_study **study, int number, const tamis_study_options *options, tamis_error *err);

/* Table 1: which statistics gain from sampling, at which epsilon. 300 runs unless the options say otherwise; no picture. */
TAMIS_USE tamis_status tamis_study_table(tamis_study **study, const tamis_study_options *options, tamis_error *err);

TAMIS_END

#endif
