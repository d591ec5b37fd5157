/* A measurement: one noisy table. Each row adds one integer to one of its cells; how far a record can move the table
 * decides the noise.
 *
 * What a row adds is a product, weight times x times y, put on a grid of its own:
 *
 *     floor(product 2^-shift + 1/2), clamped to [low, high],
 *
 * every factor an integer, the product in doubles in one order on every engine. Rounding and multiplication are monotone,
 * so that the ends follow from the ends of the factors; and the clamp holds whatever a file contains. The sensitivity
 * rests on these integers alone.
 *
 * Where strata are public and a dimension of the table, a record stays in the cells of its stratum, and each stratum gets
 * the noise that its own range needs.                                                                               */
#ifndef TMI_SCHEDULE_MEASUREMENT_H
#define TMI_SCHEDULE_MEASUREMENT_H

#include "base/text.h"
#include "schedule/sampling.h"

/* How rows are weighed in a table: not at all (the weight comes after the noise), by w, or by the a of variances. */
typedef enum tmi_weighing { TMI_UNWEIGHED, TMI_WEIGHED, TMI_SPREAD } tmi_weighing;

/* What a row adds. */
typedef struct tmi_quantity {
    const tmi_plan_column *x, *y;   /* NULL: 1; y = x: a square */
    int64_t centre_x, centre_y;     /* grid points taken off */
    const tmi_plan_column *present; /* must not be missing either; NULL: nothing else */
    const tmi_plan_column *present_too;
    const tmi_plan_column *where; /* an indicator; NULL: all rows */
    tmi_weighing weighing;
} tmi_quantity;

/* The noise of one stratum's cells, or of all. */
typedef struct tmi_noise_law {
    int64_t low, high; /* what a row adds */
    int64_t l1;        /* sensitivity */
    tamis_number *l2_squared;
    tamis_number *scale; /* of the noise; NULL before the budget is split */
} tmi_noise_law;

typedef struct tmi_measurement {
    tmi_quantity quantity;
    const tmi_plan_column *by[TMI_MAX_BY + 1];
    size_t by_count;
    size_t stratum_at;     /* which of them are the strata, if a record stays in its stratum; by_count: none */
    size_t units;          /* variance units: a further dimension, the fastest; 1: none */
    size_t cells, movable; /* in all; those that a record could be in */
    int shift;
    int64_t low, high;   /* the clamp */
    tmi_noise_law *laws; /* one, or one per stratum */
    size_t law_count;
    int64_t limit;      /* noisy numbers are clamped to [-limit, limit]; tmi_add_noise says why */
    double brought;     /* what the statistics give it of the budget, relative to the others */
    tamis_number *part; /* of the budget: epsilon or rho */
} tmi_measurement;

/* Ranges, shift, clamp, sensitivities of a measurement whose quantity and dimensions are set; refused with the nearest
 * setting that works. The laws are freed by tmi_measurement_clear.
 *
 * Errors   REFUSED, INVALID, SYSTEM.                                                                                 */
tamis_status tmi_measurement_prepare(tmi_measurement *m, const tmi_sampling *sampling, const tmi_plan_privacy *privacy,
                                     tamis_error *err);
void tmi_measurement_clear(tmi_measurement *m);

/* Whether every record adds to some cell, whatever it holds. */
bool tmi_never_left_out(const tmi_measurement *m, const tmi_sampling *sampling);

/* The grid of x (or y) in a stratum, and what one point is worth. An indicator has the points 0 and 1. */
tmi_grid tmi_grid_in(const tmi_plan_column *column, size_t stratum);

/* What one step of the noisy integers is worth in a stratum: the steps of the grids, 2^shift, and the weight where it is
 * in the table. */
double tmi_measurement_unit(const tmi_measurement *m, const tmi_sampling *sampling, size_t stratum);

/* The stratum that a cell belongs to; 0 if the table has none. */
size_t tmi_cell_stratum(const tmi_measurement *m, size_t cell);
const tmi_noise_law *tmi_cell_law(const tmi_measurement *m, size_t cell);

/* "sum of enroll by stype": names a measurement in the outputs, different for each. */
void tmi_measurement_name(tmi_text *text, const tmi_measurement *m);

/* The inequality behind its sensitivity, in words. */
void tmi_measurement_inequality(tmi_text *text, const tmi_measurement *m, const tmi_plan_privacy *privacy);

/* The category of cell number `cell` in the i-th `by` column; the last column runs fastest. */
const char *tmi_cell_value(const tmi_plan_column *const *by, size_t by_count, size_t cell, size_t i);

#endif
