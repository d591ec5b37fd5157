/* Squared differences of pairs of clusters: the sampling variance where clusters are many.
 *
 * Clusters of a stratum are paired at random (request/variance_groups.h). With T the signed sums of a table in each pair, and c
 * what a number makes of the table (of a ratio x - r y at its noisy value r), D = c T is the difference of a pair, and the sum of
 * D^2 over all pairs estimates the number's variance. A record may change a square by any amount, so it is Huber's that is
 * measured,
 *
 *     H(D) = D^2 up to a bound B,   2 B |D| - B^2 beyond it,
 *
 * whose slope is at most 2 B. One such sum per number has noise that falls with the root of the number of pairs, beside that of
 * signed groups; these need no bound and are better where pairs are few.
 *
 * c and B follow from the noisy tables of the estimates (inference/pair_term.h): two stages, each with a budget that is fixed
 * before. The scale of the noise is fixed too. Neighbours differ in T by at most `moved`, all entries together, and each entry is
 * in one number at most. So with whole coefficients up to C a sum moves by 2 B C for each step of T, and what is released is
 *
 *     floor(sum of H / g),   g the least integer with 2 B C moved / g <= STEPS - rounding,
 *
 * that is, numbers that move by at most STEPS in all, whatever c, B and g came out as. Rounding is one step for each number
 * that a unit is in, before and after. */
#ifndef TMI_SCHEDULE_CLUSTERS_PAIRED_H
#define TMI_SCHEDULE_CLUSTERS_PAIRED_H

#include "schedule/expected/outlook.h"
#include "schedule/schedule.h"

#define TMI_PAIRED_COEFFICIENT 1024 /* the largest that a coefficient gets */
#define TMI_AFFORDED 0.15           /* of a variance: bounds are as wide as noise of that size allows */
#define TMI_FEWEST_PAIRS 32
#define TMI_MOST_PAIRS (1 << 16)

/* Whether squares of pairs can say anything about a statistic's variance: from the plan alone. */
bool tmi_may_be_paired(const tmi_schedule *schedule, size_t statistic);

/* The measurement of a statistic's squares; NULL: there is none. */
const tmi_measurement *tmi_paired_measurement(const tmi_schedule *schedule, size_t statistic);

/* The table of a statistic's squares. */
tmi_shape tmi_paired_shape(const tmi_schedule *schedule, size_t statistic);

/* What a pair's difference is bounded by: so many times what is typical, where the variance is `variance`, and never less than
 * what two rows add. `row`: what one adds at most. */
double tmi_pair_bound(const tmi_schedule *schedule, size_t statistic, double variance, double row);

/* The ratio of a variance to the weighted squares that is expected: the mean weight and a design effect; NaN: nobody knows. */
double tmi_expected_effect(const tmi_schedule *schedule);

/* What squares of pairs say about the variance of one of a statistic's numbers that is as expected. */
typedef struct tmi_paired_cost {
    double moved; /* by a record, relative to the variance */
    double least; /* the relative variance that is left without noise */
} tmi_paired_cost;

/* Errors: SYSTEM. */
tamis_status tmi_paired_cost_of(tmi_paired_cost *cost, const tmi_schedule *schedule, size_t statistic, const tmi_outlook *outlook,
                                tamis_error *err);

/* The relative variance with which they will be known; infinite: they are not measured. Needs a budget that is split. */
double tmi_squares_relative(const tmi_schedule *schedule, size_t statistic, const tmi_outlook *outlook);

/* By how much bounded weights are expected to lower a variance in groups or pairs of clusters: a factor. */
double tmi_expected_clamping(const tmi_schedule *schedule);

/* The largest weight of a row in signed sums of clusters, that of a pair included, and what comes after the noise. */
double tmi_grouped_worth(const tmi_schedule *schedule);

/* The value of a combination at cell and level of its table: classes make cells, numbers levels, the last axis runs fastest. */
double tmi_combination_at(const tmi_combination *combination, const tmi_workload *workload, size_t cell, size_t level);

#endif
