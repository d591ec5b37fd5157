/* Factors of control cells: with them the counts of the cells add up to the public counts of `calibrate`, by least squares or
 * raking, exactly as R's survey calibrates weights. With public totals of a number, factors are functions g0 + g1 v of v, the
 * number over its largest size, by least squares: sums of 1, v and v^2 in the cells take the place of counts. Before the data
 * they are only tried, on counts of 1. Lists by power and cell have all cells of power 0 first. */
#ifndef TMI_MEASURE_FACTORS_H
#define TMI_MEASURE_FACTORS_H

#include "measure/controls.h"

typedef struct tmi_calibration {
    size_t cells, totals; /* control cells; public counts and totals */
    size_t powers;        /* of v in factors: 1, or 2 with v */
    tmi_watch *watch;     /* of the schedule */
    bool met;          /* the public counts are met; if not, all factors are 1, since a group has too few rows beside its noise */
    size_t levels;     /* of the axis of calibration */
    size_t *cell_of;   /* the control cell of each level, table by table; SIZE_MAX if it has none */
    double *factors;   /* g, one per power and cell */
    double *squares;   /* g^2 of the rows of each cell: the mean, or with nonresponse the largest there can be */
    double *variables; /* `totals` numbers per cell: whether it is part of each */
    size_t *power;     /* of v in each public total: 0 of a count */
    double scale;      /* of v */
    double ends[2];    /* of v, 0 among them where a row may lack it */
    bool answers_vary; /* not all answer: who does, and so g, may follow v */
    double *normal;    /* the factor of the matrix of the regression on them (survey/normal.h) */
    double *slopes;    /* room for its solution */
    bool raking;
} tmi_calibration;

/* The control cell of a level in the table of a stratum, 0 if strata are not measured apart. */
static inline size_t tmi_control_cell(const tmi_calibration *calibration, size_t stratum, size_t level)
{
    return calibration->cell_of[stratum * calibration->levels + level];
}

/* Makes room for the factors of the schedule's controls, fills in the variables, and gives the public counts, which the caller
 * frees. Clear it in any case. Errors: SYSTEM. */
tamis_status tmi_calibration_room(tmi_calibration *calibration, double **totals, const tmi_schedule *schedule, tamis_error *err);
void tmi_calibration_clear(tmi_calibration *calibration);

/* Factors of 1: results are as they are without calibration. */
void tmi_calibration_leave(tmi_calibration *calibration);

/* The matrix of the regression on the public variables, from counts or sums of each power. */
void tmi_calibration_matrix(double *matrix, const tmi_calibration *calibration, const double *counts);

/* Finds the factors for these counts, or sums of each power up to v^2; `met` says whether the public ones are met. Errors:
 * SYSTEM. */
tamis_status tmi_calibration_solve(bool *met, tmi_calibration *calibration, const double *counts, const double *totals,
                                   tamis_error *err);

#endif
