/* The numbers of a release or of an estimate, with their errors. NaN means null. */
#ifndef TMI_SCHEDULE_RESULT_H
#define TMI_SCHEDULE_RESULT_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ledger/account.h"
#include "schedule/outsider.h"
#include "schedule/schedule.h"
#include "survey/curve.h"

#define TMI_NOTES 4

/* What a group was before it was shrunk towards the mean of its groups. */
typedef struct tmi_shrunk {
    double direct, direct_se; /* the estimate of the group alone and its error; NaN if there was none */
    double weight;            /* of the direct estimate; NaN if the number was not shrunk */
    double towards;           /* the mean of the groups */
    double bias;              /* a standard deviation over groups like these of the bias that shrinkage brings */
} tmi_shrunk;

#define TMI_NOT_SHRUNK ((tmi_shrunk){TMI_NULL, TMI_NULL, TMI_NULL, TMI_NULL, TMI_NULL})

typedef struct tmi_result {
    size_t statistic, cell;
    double estimate;
    double se, sampling_se, noise_sd;
    /* The variance of the noise that calibration gives to all numbers alike: in a sum of groups it does not average out. */
    double shared_noise;
    double lower, upper; /* the interval */
    double least, most;  /* bounds that certainly contain the true value; NaN: none are known */
    double bias;         /* the largest bias that bounded or moved weights bring; NaN if they bring none */
    tmi_shrunk shrunk;
    double clamped; /* in an estimate: by how much the bounds of contributions of a release would change it; NaN without bounds */
    int64_t clamped_rows; /* in how many rows they would */
    int64_t df;           /* degrees of freedom; -1 is written as null */
    /* Of a term of a model: the probability of an estimate as far from 0 if the coefficient were 0; of its category as a whole,
     * where that has several terms; the share of the variance that the model explains, with the first term alone. NaN: none */
    double p, joint_p, r2;
    const char *reason;           /* why the estimate or the interval is null; NULL if they are not */
    const char *notes[TMI_NOTES]; /* what was done to the number, in words */
    size_t note_count;
    bool exact;         /* the interval is that of a test of a count, inverted */
    bool limited;       /* the sampling variance is an upper limit of a noisy one */
    bool known;         /* the number is public, and nothing was measured for it */
    bool withheld;      /* by a rule of the plan */
    char few_units;     /* the flag that a rule of the plan gives because of few units, 'E' or 'F'; '\0': none */
    bool outside_range; /* no population could have this value */
} tmi_result;

/* Whether the interval leaves out its own estimate, by more than the dust of doubles; and whether it says nothing. */
static inline bool tmi_is_outside_interval(const tmi_result *x)
{
    const double dust = 1e-9 * (fabs(x->lower) + fabs(x->upper));
    return x->estimate < x->lower - dust || x->estimate > x->upper + dust;
}

static inline bool tmi_is_whole_range(const tmi_result *x) { return x->lower <= x->least && x->upper >= x->most; }

#define TMI_NULL (__builtin_nan(""))
#define TMI_NO_RESULT \
    ((tmi_result){.estimate = TMI_NULL, \
                  .se = TMI_NULL, \
                  .sampling_se = TMI_NULL, \
                  .noise_sd = TMI_NULL, \
                  .lower = TMI_NULL, \
                  .upper = TMI_NULL, \
                  .least = TMI_NULL, \
                  .most = TMI_NULL, \
                  .bias = TMI_NULL, \
                  .shrunk = TMI_NOT_SHRUNK, \
                  .clamped = TMI_NULL, \
                  .p = TMI_NULL, \
                  .joint_p = TMI_NULL, \
                  .r2 = TMI_NULL, \
                  .df = -1})

/* Rows in which a column is not what the plan says; reported inside the agency only. */
typedef struct tmi_column_facts {
    bool used;       /* whether a statistic needs it; other columns are not read */
    int64_t missing; /* rows without a value; of a category also those whose value is not declared */
    int64_t outside_bounds;
    int64_t contradicting; /* of a recode of the strata: not the value of the row's stratum */
    int64_t units_above;   /* units that add more to totals than unit_contribution, */
    double beyond;         /* and the share of all that units add that a release takes off */
} tmi_column_facts;

/* Clusters of two stages that contradict the plan: another number of sampled units than `second` says, fewer units in the frame
 * than `smallest`, or rows that differ in the cluster's size, sample or probability. */
typedef struct tmi_stage_misfits {
    bool compared;
    int64_t other_sample, small, mixed;
} tmi_stage_misfits;

/* How rows and the public list of sampled clusters differ; inside the agency only. */
typedef struct tmi_psu_misfits {
    bool listed;      /* the plan has such a list */
    int64_t rows;     /* rows whose cluster is not in the list */
    int64_t clusters; /* clusters of the list that have no rows */
} tmi_psu_misfits;

typedef struct tmi_results {
    const tamis_plan *plan;
    const tmi_schedule *schedule; /* NULL if the numbers are not protected */
    const tmi_account *account;   /* the account of a release */
    const tmi_promised *promised; /* what is promised by all releases of that account */
    tmi_result *list;             /* statistic by statistic, cell by cell */
    size_t count, all; /* those that were asked for; and with the shares that distribution functions are made of, after them */
    tmi_column_facts *facts;            /* estimate only: one per column of the plan */
    int64_t rows_beyond, weights_above; /* estimate only: what a release would leave out or clamp */
    int64_t units_above;                /* the same: units with more weight than max_unit_weight, */
    double weight_beyond;               /* and the share of all weights that is taken off them */
    tmi_psu_misfits psus;               /* estimate only */
    tmi_stage_misfits stages;           /* the same */
} tmi_results;

/* Makes room for every cell of every statistic. */
tamis_status tmi_results_make(tmi_results *results, const tamis_plan *plan, const tmi_schedule *schedule, tamis_error *err);
void tmi_results_clear(tmi_results *results);

/* The first result of every statistic of the plan, hidden ones included; the caller frees the list. NULL: no memory. */
tmi_result **tmi_results_first(const tmi_results *results);

/* An infinite estimate or end becomes null, with the reason. */
void tmi_result_bound(tmi_result *result);

/* The distribution function of one group, from the results of the shares that it is made of: `shares` has the groups of the first
 * cut, then those of the second, and so on. *reason says why there is no function, or is NULL. Clear it unless that failed.
 * Errors: SYSTEM. */
tamis_status tmi_cdf_of_results(tmi_cdf *curve, const char **reason, const tmi_plan_curve *cuts, const tmi_result *shares,
                                size_t groups, size_t group, tamis_error *err);

#endif
