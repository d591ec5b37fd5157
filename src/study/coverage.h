/* What a study of coverage has counted, for its runs and for its texts. */
#ifndef TMI_STUDY_COVERAGE_H
#define TMI_STUDY_COVERAGE_H

#include <tamis/experimental/study.h>

#include "base/text.h"
#include "report/results.h"

/* What became of one interval. */
typedef struct tmi_tally {
    int64_t covers, given;
    double width; /* sum */
} tmi_tally;

/* A geometric mean over the runs: a ratio whose denominator comes near 0 in one of them has errors without end. */
typedef struct tmi_middle {
    double logs; /* sum */
    int64_t count;
} tmi_middle;

typedef struct tmi_coverage_cell {
    double truth, unclamped;             /* of the population, clamped to the plan's bounds; as it is */
    tmi_tally own, bare;                 /* the release's, the unprotected one */
    int64_t own_only, bare_only;         /* samples of which only that one of the two intervals holds the truth */
    double se;                           /* sum of the released standard errors, over `own.given` */
    tmi_middle error, noise, bare_error; /* the released se and noise_sd, the unprotected se */
    double squares, fourths;             /* sums of (released estimate - truth)^2 and ^4, over `estimates` */
    int64_t estimates;
    int64_t withheld;   /* samples without a released interval */
    const char *reason; /* why the last of them had none; NULL: all had one */
    double part;        /* sum over `parts` runs of the sampling error's part in the whole error, 1 without noise */
    int64_t parts;
    int64_t limited;   /* releases whose sampling variance is an upper limit of a noisy one */
    int64_t outside;   /* releases whose estimate is outside the possible range */
    bool known, exact; /* exact: the interval is that of a test of a count, inverted */
} tmi_coverage_cell;

typedef struct tmi_coverage {
    const tamis_plan *plan;
    int64_t population, runs;
    tmi_coverage_cell *cells;
    tmi_results places; /* statistic and cell of each; the numbers in it are not used */
    double *bounded;    /* with a private bound, for each candidate the truths of values that it clamps; NULL: there is none */
    bool weighed;       /* sums hold weights: their variance formula takes no stratum's mean off */
} tmi_coverage;

/* Draws, releases, estimates and counts, as tamis_study_coverage. The plan must outlive what it gives; NULL on failure. */
tamis_status tmi_coverage_new(tmi_coverage **study, const tamis_plan *plan, const tamis_study_samples *samples,
                              const tamis_study_options *options, tamis_error *err);
void tmi_coverage_free(tmi_coverage *study);

/* Share of the intervals that cover the true value, and its Monte Carlo error; NaN if there is none. */
double tmi_tally_share(const tmi_tally *tally);
double tmi_tally_error(const tmi_tally *tally);

/* Root of the mean squared error of the released estimates, and its Monte Carlo error; NaN if there is none. */
double tmi_coverage_rmse(const tmi_coverage_cell *cell);
double tmi_coverage_rmse_error(const tmi_coverage_cell *cell);

/* NaN if there is none. */
double tmi_middle_of(const tmi_middle *middle);

/* Whether a cell is reported: something was released, and the truth is a number. */
bool tmi_coverage_counts(const tmi_coverage_cell *cell);

/* Whether there was never an interval to count, though the number is not public and the population has it. */
bool tmi_coverage_is_absent(const tmi_coverage_cell *cell);

/* Which number it is: "mean income by region", "region=north". */
void tmi_coverage_names(tmi_text *statistic, tmi_text *group, const tmi_coverage *study, size_t i);
size_t tmi_coverage_count(const tmi_coverage *study);

/* P(X <= hits), X binomial. */
double tmi_binomial_at_most(int64_t hits, int64_t trials, double p);

#endif
