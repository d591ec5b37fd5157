/* What a design does to a release: how many units a row represents, how far an estimate varies from sample to sample, which
 * numbers are public.
 *
 * Weights. Where all rows weigh the same, rows are added up as they are and the weight comes after the noise. Where strata
 * have weights of their own, a table that has the strata as a dimension is treated the same way; any other table adds up
 * weights times values, the weight a public integer on a grid. Where each row brings its weight, that goes on a public
 * grid too; with a frame the weight is that of the row's unit in the frame, and the frame bounds it.
 *
 * Variance. For a total of z the estimate is the sum over the rows of a z^2, a = (1 - pi) w^2 n/(n-1), less what stratum
 * means explain where a stratum's own sums are known: exactly the usual formula under simple random sampling in strata.
 * Where that cannot be read from the tables of the estimates it is measured (standard_errors.h). */
#ifndef TMI_MEASURE_SAMPLING_H
#define TMI_MEASURE_SAMPLING_H

#include "base/text.h"
#include "measure/frame/psu_file.h"
#include "num/number.h"
#include "plan/frame_facts.h"
#include "plan/plan.h"

/* Weights are integers of at most 30 bits on their grid: finer than any noise. */
#define TMI_WEIGHT_BITS 30
#define TMI_STAGE_BITS 26 /* of one over the units drawn in a cluster, at most */

typedef enum tmi_weight_source { TMI_ALIKE, TMI_STRATA, TMI_ROWS } tmi_weight_source;

typedef struct tmi_sampling {
    const tmi_plan_design *design;
    size_t strata;      /* at least 1 */
    bool public_strata; /* strata are public: a record is replaced within its stratum */
    tmi_weight_source weights;

    tamis_number **weight; /* ALIKE, STRATA: one per stratum, exact */
    /* ALIKE, STRATA: a of each stratum; 0 in a census, NaN where there is one unit, which shows no variance */
    double *variance_factor;
    /* The design draws a public number of units in each stratum, so the variance is about their mean. That follows from the
     * design alone: the number of rows may be protected, if the strata are not. A unit that is not in the file counts as 0. */
    bool subtracts;

    /* The grid of weights: STRATA in tables without strata, ROWS. A weight is points * step. */
    tamis_number *step, *variance_step;
    int64_t *points, *variance_points; /* STRATA: one per stratum; variance_factor = variance_points * variance_step */
    int64_t most;                      /* points at most */
    bool
        of_sizes; /* ROWS: points[h] of the row's stratum, where weights that follow from sizes, or totals, are bounded by unit */
    bool stages; /* ROWS: the product of points[h], or of one over the cluster's probability, and the sizes of the second stage */
    int first_bits, stage_bits; /* stages: one over the probability in steps of 2^-first_bits, one over the units drawn in a
                                   cluster in steps of 2^-stage_bits; 0: not read */
    bool from_frame;            /* ROWS: looked up by unit */
    int64_t most_of_unit;       /* ROWS: what the points of a unit's rows add up to at most; 0: nothing bounds them together */
    double correction;          /* ROWS: n/(n-1) and the design effect, for a = w (w - 1) correction */
    int64_t most_clamped;       /* ROWS: for sampling variances weights count up to so many points; most: all of them */
    double ratio; /* STRATA: the largest a/w, if all of them are so near to it that variances may be bounded by it; else 0 */

    bool clustered;
    const tmi_psu_facts *psus; /* clusters are those of a public list; NULL: there is none */
    bool scattered;            /* the number of clusters is not public, or not checked: a hash of their labels chooses slots */
    int64_t df;                /* first-stage units minus strata; -1: not public */
    int64_t rows;              /* in the file at most, or a guess far above where that is not public */
    bool rows_bounded;         /* no guess */
    bool rows_fixed;           /* the design fixes the number of rows (distinct ids) in each stratum, and all may know it */
    size_t parts; /* of contributions: 2 where units that are certain to be drawn are measured apart (contributions.h) */
    const tmi_frame_facts *frame; /* what the plan's frame says; NULL without one */
    bool of_units;                /* rows are kept by id: the one that is kept may be in no stratum, and then has no weight */
} tmi_sampling;

/* `frame`: what the plan's frame says, `psus`: what its list of clusters says, which must outlive the sampling; NULL without one.
 *
 * Errors   INVALID (a weight without a bound), UNABLE (weights too far apart for a grid), SYSTEM; empty then.           */
tamis_status tmi_sampling_make(tmi_sampling *sampling, const tamis_plan *plan, const tmi_frame_facts *frame,
                               const tmi_psu_facts *psus, tamis_error *err);
void tmi_sampling_clear(tmi_sampling *sampling);

/* ROWS: what is taken off one of the factors of a = w (w - 1), in steps. Nothing where the variance of moved weights is known
 * otherwise, nothing in clustered designs, where sums of w^2 say what a bound of the weights takes off, and nothing where only
 * weights are declared: they may have any unit. */
int64_t tmi_weight_less(const tmi_sampling *sampling);

/* "srs", "stratified", ... */
const char *tmi_design_name(const tmi_plan_design *design);

/* "simple random sample of 200 out of 6,194", for people. */
void tmi_describe_design(tmi_text *text, const tmi_plan_design *design);

/* The same with another name for the column of the strata. */
void tmi_describe_design_by(tmi_text *text, const tmi_plan_design *design, const char *strata);

#endif
