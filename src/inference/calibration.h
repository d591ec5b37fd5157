/* Calibration to public counts, after the noise (`calibrate`).
 *
 * The public counts are those of categories: of one classification (post-strata), of several, of their cross tables. All columns
 * that they use, crossed, make the control cells. Every table of the plan is measured by control cell, which takes no more
 * budget, for a row adds to one cell; and one more table counts the rows of each control cell. From these counts follows a
 * factor for every control cell, by least squares or raking, exactly as R's survey calibrates weights; every sum is then the sum
 * over control cells of factor times measured sum. All results so have the same weights.
 *
 * Errors. With K_c the counts, A_c the sums and g_c the factors, the calibrated sum moves, to first order, as
 *
 *     sum over c of g_c (A_c - gamma_c K_c),
 *
 * gamma_c being the value in cell c of the regression of A on the public counts (the mean of the cell, for post-strata). The
 * sampling error is so that of the residuals in the cells, and the noise of the counts has a known factor (calibrated_sums.c). */
#ifndef TMI_CALIBRATION_H
#define TMI_CALIBRATION_H

#include "inference/estimates.h"

/* The control columns of a schedule whose sampling is set; none where the design already meets the public counts.
 *
 * Errors   REFUSED (public totals of a number), INVALID (public counts that contradict each other or the design, too many
 *          columns or counts), SYSTEM.                                                                               */
tamis_status tmi_calibration_columns(tmi_schedule *schedule, tamis_error *err);

/* The public count that a statistic asks for, if it is one of them; NULL if not. */
const tamis_number *tmi_public_count(const tamis_plan *plan, size_t statistic, size_t group);

/* The columns of a table: those of the statistic and then those of the controls that it lacks, or the controls alone if they hold
 * those of the statistic; false if there are too many. */
bool tmi_calibration_cross(const tmi_plan_column **by, size_t *by_count, const tmi_schedule *schedule);

typedef struct tmi_calibration {
    size_t cells, totals; /* control cells; public counts */
    tmi_watch *watch;     /* of the schedule */
    bool met;             /* else all factors are 1: a group has too few rows beside its noise */
    double *factors;      /* g, one a cell */
    double *variables;    /* totals numbers a cell: whether it is part of each */
    double *normal;       /* of the regression on them: its factor (survey/normal.h) */
    double *slopes;       /* room for its solution */
    bool raking;
} tmi_calibration;

/* From the noisy counts. Empty if the schedule has no controls. Errors: SYSTEM. */
tamis_status tmi_calibration_make(tmi_calibration *calibration, const tmi_schedule *schedule, tmi_int128 *const *noisy, tamis_error *err);
void tmi_calibration_clear(tmi_calibration *calibration);

/* gamma, one a cell, of sums by cell; 0 if the totals are not met. May be in place. */
void tmi_calibration_regress(double *gamma, const tmi_calibration *calibration, const double *sums);

/* The control cell of a table's cell, and the group of the statistic that it is part of (in any table that has its columns). */
size_t tmi_group_in(const tmi_schedule *schedule, size_t statistic, const tmi_measurement *m, size_t cell);
size_t tmi_control_cell(const tmi_schedule *schedule, const tmi_measurement *m, size_t cell);

#endif
