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
 * sampling error is so that of the residuals in the cells, and the noise of the counts has a known factor (calibrated_sums.c).
 *
 * Totals of a number v (generalised regression, Sarndal, Swensson and Wretman 1992). A row's factor is g0 + g1 v, and the
 * regression on the public variables has the value gamma0 + gamma1 v. v is an axis of every table too, so that sums of 1, v and
 * v^2 in the control cells, the matrix of the regression, and of y and y v follow from the same noisy tables; all of them are
 * linear in the tables, with the functions of v as coefficients. */
#ifndef TMI_INFERENCE_CALIBRATION_H
#define TMI_INFERENCE_CALIBRATION_H

#include "inference/estimates.h"
#include "measure/factors.h"

/* Calibrates the counts that were reconstructed. Empty if the schedule has no controls. Errors: SYSTEM. */
tamis_status tmi_calibration_make(tmi_calibration *calibration, const tmi_inference *inference, tamis_error *err);

/* Gives gamma, one per power and cell, from the sums of cells, times each power; 0 if the totals are not met. */
void tmi_calibration_regress(double *gamma, const tmi_calibration *calibration, const double *sums);

#endif
