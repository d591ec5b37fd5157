/* A measurement: one noisy table. It has the cells of its classes, in each cell the levels of its numbers (strategy/axis.h), and
 * each row adds its weight to one cell, spread over the levels; or it is a number by itself, RAW or CENTRED.
 *
 * What a row adds to a level is a product, weight times one factor per level: a number x between low and high, m = high - low
 * grid steps, has the levels (high-x)^2, 2 (x-low)(high-x), (x-low)^2, which add up to m^2, and m^2 if it is missing; or high-x,
 * x-low, m. Each is put on a grid of its own,
 *
 *     floor(product 2^-shift + 1/2),
 *
 * every factor an integer, the product in doubles from left to right on every engine. A product of doubles is within a few units
 * of its last place, so that a level is within 1/2 and a little of what it would be, whatever a file contains; a row adds at most
 * the largest weight times the product of the m^d, all levels together, and where anything is rounded 1 more per level, 2 for the
 * one in the middle. That is what the sensitivity rests on: a replaced record leaves one place and enters another.
 *
 * Where strata are public and measured apart, a record stays in the cells of its stratum, and each stratum has the noise that its
 * own range needs.                                                                                                  */
#ifndef TMI_MEASURE_MEASUREMENT_H
#define TMI_MEASURE_MEASUREMENT_H

#include "base/text.h"
#include "measure/moments.h"
#include "variance/method.h"

/* The noise of one stratum's numbers, or of all. */
typedef struct tmi_noise_law {
    tamis_number *most; /* what a row adds, all levels together, before the grid */
    int64_t l1;         /* the sensitivity of all numbers together; l2_squared is the square of that in the Euclidean norm */
    tamis_number *l2_squared;
    /* With a target for outsiders: the largest, over the strata that the law is for, of the sensitivity in the stratum times the
     * plan's epsilon over that of the stratum. Laplace noise of scale charged / part then costs a stratum no more than its share
     * of the part. NULL without such a target: it is l1. */
    tamis_number *charged;
    tamis_number *scale; /* the scale of the noise; NULL before the budget is split */
} tmi_noise_law;

typedef struct tmi_measurement {
    tmi_marginal marginal; /* its axes and form, and how rows are weighed */
    size_t strata;         /* strata that are measured apart; 1 if none are */
    size_t slots;          /* slots of PSUs (standard_errors.h); 1 if there are none */
    size_t cells;          /* cells of classes, in a slot of a stratum */
    size_t levels;         /* numbers in a cell */
    size_t numbers;        /* all: by stratum, cell and level; of standard errors one per group of the statistic, of
                              totals of groups of clusters TMI_CHANGE_GROUPS */
    size_t added;          /* levels that the engine adds up in a cell; those of a form are made from them */
    int shift;
    bool rounded;        /* whether products are rounded; if not, they are exact */
    int64_t high;        /* the clamp: no row adds more to a level */
    tmi_noise_law *laws; /* one per stratum that is measured apart */
    int64_t moved;       /* in the second stage, the sensitivity of the table of secret totals; else 0 */
    int64_t within;      /* the same if a record stays in its place */
    int64_t limit;       /* noisy numbers are clamped to [-limit, limit]; tmi_add_noise says why */
    tamis_number *part;  /* its part of the budget, an epsilon or rho */
} tmi_measurement;

/* The method by which sampling variances are measured from tables of a weighting; NULL for tables of the first stage. */
static inline const tmi_error_method *tmi_method_of(size_t weighting)
{
    return weighting == TMI_STANDARD_ERRORS ? &tmi_psu_errors
           : weighting == TMI_UNIT_SQUARES  ? &tmi_unit_squares
           : weighting == TMI_GROUP_TOTALS  ? &tmi_group_totals
                                            : NULL;
}

/* Whether tables of two measurements of the second stage are one table of secret totals, from which both are made. */
static inline bool tmi_is_one_table(const tmi_marginal *a, const tmi_marginal *b)
{
    const tmi_error_method *x = tmi_method_of(a->weighting), *y = tmi_method_of(b->weighting);
    bool one = x && y && x->slots == y->slots && x->power == y->power && a->domain == b->domain && a->axis_count == b->axis_count;
    for (size_t k = 0; one && k < a->axis_count; k++) one = a->axes[k] == b->axes[k];
    return one;
}

/* Sets sizes, shift, clamp and sensitivities of a measurement whose marginal and slots are set. A refusal names the nearest
 * setting that works. The laws are freed by tmi_measurement_clear.
 *
 * Errors   REFUSED, INVALID, SYSTEM.                                                                                 */
tamis_status tmi_measurement_prepare(tmi_measurement *m, const tmi_workload *workload, tamis_error *err);
void tmi_measurement_clear(tmi_measurement *m);

/* With a target for outsiders: what the scale of noise in a stratum is to what it would be if all had the plan's epsilon, which
 * is the largest of theirs; 1 without one. */
double tmi_noise_of_stratum(const tamis_plan *plan, size_t stratum);

/* With a target for outsiders: what a sampled unit of each stratum loses by all measurements, in the order of the strata, rounded
 * up to ten digits and never above the stratum's epsilon. The caller frees the list and its numbers. SYSTEM, UNABLE. */
tamis_status tmi_losses_by_stratum(tamis_number ***losses, const tmi_measurement *measurements, size_t count,
                                   const tmi_workload *workload, tamis_error *err);

/* What one step of the noisy integers is worth, in rows or weights of a level. */
double tmi_measurement_unit(const tmi_measurement *m, const tmi_workload *workload, size_t stratum);

/* Whether rows count by the square of their weight, as sampling variances need it, instead of by the weight. */
bool tmi_weighs_squares(size_t weighting);

/* The law of the numbers of a stratum. */
static inline const tmi_noise_law *tmi_law_in_stratum(const tmi_measurement *m, size_t stratum)
{
    return &m->laws[m->strata > 1 ? stratum : 0];
}

/* What the rows of a unit add to tables of a weighting at most, all together, in rows of the largest weight: rows_per_unit, or
 * less where a unit's weights, or what they add to totals of the domain's number, are bounded together. */
double tmi_largest_rows_of_unit(const tmi_workload *workload, size_t weighting, size_t domain);

/* By how much the weights of all other records together may move with a replaced record, where weights are protected; in units of
 * what a record adds. */
double tmi_moved_by_weights(const tmi_workload *workload, tmi_weighting weighting);

/* "rows, sums and squares of enroll by stype": names a measurement in the outputs, different for each. */
void tmi_measurement_name(tmi_text *text, const tmi_measurement *m, const tmi_workload *workload);

/* The inequality behind its sensitivity, in words. */
void tmi_measurement_inequality(tmi_text *text, const tmi_measurement *m, const tmi_workload *workload);

#endif
