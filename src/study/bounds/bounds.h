/* What other ranges of a plan's numbers would do, for the study and for its texts. */
#ifndef TMI_STUDY_BOUNDS_BOUNDS_H
#define TMI_STUDY_BOUNDS_BOUNDS_H

#include <tamis/experimental/study.h>

#include "plan/plan.h"

#define TMI_MAX_TRIALS 24 /* of a column's ends */

/* A statistic under a pair of ends. Parts are of the error that a group has now, root mean squares over the groups: error is
 * noise, sampling error and bias together. */
typedef struct tmi_bounds_effect {
    double noise_part, bias_part, error_part; /* NaN: nobody is in any group */
    double noise_sd;                          /* the geometric mean over the groups */
    double bias;                              /* the largest of a group, with its sign */
    double share;                             /* the largest of a bias over the standard error beside it */
} tmi_bounds_effect;

typedef struct tmi_bounds_trial {
    double from, to;
    bool possible; /* such a plan can be released */
    bool honest;   /* no bias is above half of the standard error beside it, or above what it is now */
    double noise, bias,
        error; /* the same parts over the statistics of the column, weighed by budget share; error: geometric mean */
    tmi_bounds_effect *effects; /* one per statistic of the column */
} tmi_bounds_trial;

/* A bound of what a unit adds to totals of a column. */
typedef struct tmi_bounds_total {
    double bound;  /* unit_contribution */
    double beyond; /* what it takes off all that the units of the population add, as a share, if weights were alike */
    double noise,
        error;   /* of the totals, relative to those of the plan, as geometric means; the error with that share as a bias */
    bool honest; /* that bias is at most half of the standard error beside it */
} tmi_bounds_total;

#define TMI_MAX_TOTALS 12

typedef struct tmi_bounds_column {
    const tmi_plan_column *column;
    tmi_bounds_total totals[TMI_MAX_TOTALS]; /* where units have several rows, from the smallest bound */
    size_t total_count, total_best;          /* the best one has the smallest error; total_count: there is none */
    size_t *statistics;                      /* that the column is in */
    size_t statistic_count;
    double beyond;                           /* the part of the population's values outside the present range */
    tmi_bounds_trial trials[TMI_MAX_TRIALS]; /* the first one is the plan's own */
    size_t trial_count, best;
} tmi_bounds_column;

/* A bound of the weights of a unit's rows together. */
typedef struct tmi_bounds_unit {
    int64_t rows;  /* of the mean weight, at which a unit attains it */
    double weight; /* max_unit_weight */
    double beyond; /* what it takes off all weights of the population, as a share, if these were alike */
    double noise;  /* of estimates, relative to that of the plan */
} tmi_bounds_unit;

#define TMI_MAX_UNIT_BOUNDS 32

typedef struct tmi_bounds {
    const tamis_plan *plan;
    int64_t population;
    tmi_bounds_unit units[TMI_MAX_UNIT_BOUNDS]; /* where units have several rows that bring their weights */
    size_t unit_count, unit_best; /* the best one is the smallest that takes off little; unit_count: there is none */
    tmi_bounds_column *columns;
    size_t column_count;
} tmi_bounds;

/* Tries ranges, as tamis_study_bounds; NULL on failure. It may outlive the plan. */
tamis_status tmi_bounds_new(tmi_bounds **bounds, const tamis_plan *plan, const tamis_study_ranges *ranges,
                            const tamis_study_options *options, tamis_error *err);
void tmi_bounds_free(tmi_bounds *bounds);

#endif
