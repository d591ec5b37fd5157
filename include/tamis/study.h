/* Accuracy before the fact: what sampling costs and gains when the noise must protect the whole population.
 *
 * A census adds Laplace noise of scale R/(eps N) to a mean of values in a range of length R. A simple random sample of
 * n of the N people may spend more, eps_n = log(1 + N/n (e^eps - 1)), but one person weighs more in it, R/n, and the
 * sample itself errs. These functions say exactly how the two compare.                                              */
#ifndef TAMIS_STUDY_H
#define TAMIS_STUDY_H

#include <tamis/num.h>
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

/* ---- how often intervals are right ---- */

/* Coverage: samples are drawn again and again from a population that is public, by the design of a plan; each is
 * released, with noise, by the code that makes every release, and estimated without protection. How often each interval
 * covers the value of the clamped population is counted. Nothing is published and no ledger is charged.                */
typedef struct tamis_coverage tamis_coverage;

typedef struct tamis_coverage_options {
    const char *population; /* a .csv or .parquet file with one row per unit, and the columns of the plan */
    const char *size;       /* pps: the column of sizes that probabilities are proportional to; else NULL */
    unsigned threads;       /* 0: as many as the machine has, 64 at most */
    int64_t runs;           /* 0: 2000, and 10 000 if a coverage that low has a chance below 0.01 by itself */
    tamis_watch watch;
    const char *response;       /* nonresponse: the column of the probabilities that a sampled unit responds; else NULL */
    const tamis_plan *drawn_by; /* the plan whose design draws the samples; NULL: `plan`. A weight column of `plan` then holds
                                   one over the inclusion probability */
} tamis_coverage_options;

/* Besides coverage the study reports the bias of clamping, which a release cannot: the value of the clamped population less
 * that of the population as it is.
 *
 * Needs    a plan without id; drawn by srs, systematic, bernoulli, pps, cluster or two_stage, with or without strata;
 *          0 <= runs <= 10^6.
 * Gives    a study that the caller frees with tamis_coverage_free; NULL on failure. The plan must outlive it.
 * Cost     runs * (one release + one estimate).
 * Errors   INVALID (the population contradicts the plan), REFUSED (another design), SYSTEM (cancelled), UNABLE.        */
TAMIS_USE tamis_status tamis_coverage_new(tamis_coverage **study, const tamis_plan *plan, const tamis_coverage_options *options,
                                          tamis_error *err);
TAMIS_API void tamis_coverage_free(tamis_coverage *study);

/* Texts, and a picture of the shares with their errors; the caller frees each with tamis_free. On failure it is NULL. */
TAMIS_USE tamis_status tamis_coverage_svg(char **svg, const tamis_coverage *study, tamis_error *err);
TAMIS_USE tamis_status tamis_coverage_json(char **text, const tamis_coverage *study, tamis_error *err);
TAMIS_USE tamis_status tamis_coverage_text(char **text, const tamis_coverage *study, tamis_error *err);

/* ---- which range a number should have ---- */

/* A narrower range costs less noise and clamps more values. The noise follows from a plan with that range, the bias from a
 * population that is public: never from the sample or the frame that a release is to protect. Nothing is published.   */
typedef struct tamis_bounds_study tamis_bounds_study;

typedef struct tamis_bounds_options {
    const char *population; /* a .csv or .parquet file with one row per unit, and the columns of the plan */
    const char *column;     /* the number to study; NULL: all that statistics of the plan add up */
    tamis_watch watch;
} tamis_bounds_options;

/* Tries ranges from a tenth of the plan's width to twice that.
 *
 * Needs    a plan without id; the population has its columns, and any number of rows: totals are scaled to the plan's population.
 * Gives    a study that the caller frees with tamis_bounds_study_free; NULL on failure. It may outlive the plan.
 * Cost     for each column some 20 schedules of the plan and as many estimates of the population.
 * Errors   INVALID (a column is missing; no number is added up), REFUSED, UNABLE, SYSTEM (cancelled).                 */
TAMIS_USE tamis_status tamis_bounds_study_new(tamis_bounds_study **study, const tamis_plan *plan,
                                              const tamis_bounds_options *options, tamis_error *err);
TAMIS_API void tamis_bounds_study_free(tamis_bounds_study *study); /* NULL is fine */

/* Texts, and a picture of the errors against the width of the range; the caller frees each with tamis_free. On failure it is
 * NULL. */
TAMIS_USE tamis_status tamis_bounds_study_svg(char **svg, const tamis_bounds_study *study, tamis_error *err);
TAMIS_USE tamis_status tamis_bounds_study_json(char **text, const tamis_bounds_study *study, tamis_error *err);
TAMIS_USE tamis_status tamis_bounds_study_text(char **text, const tamis_bounds_study *study, tamis_error *err);

TAMIS_END

#endif
