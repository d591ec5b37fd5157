/* Normal equations: the symmetric systems of least squares and of Newton's method. */
#ifndef TMI_SURVEY_NORMAL_H
#define TMI_SURVEY_NORMAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/watch.h"

/* The Cholesky factor of a symmetric non-negative matrix, in its lower half. A variable that the ones before it already
 * tell (its pivot is below 1e-11 of its diagonal) is left out: its row and column count as 0. SYSTEM, "cancelled", if
 * `watch`, which may be NULL, asks to stop.                                                                           */
tamis_status tmi_normal_factor(double *matrix, size_t size, tmi_watch *watch, tamis_error *err);

/* Solves the system in place; variables left out get 0. */
void tmi_normal_solve(double *x, const double *factor, size_t size);

/* The Cholesky factor of a symmetric matrix that noise may have made indefinite, with `ridge` times its diagonal added. False:
 * it is not positive definite beyond what doubles can tell. */
bool tmi_positive_factor(double *factor, const double *matrix, size_t size, double ridge);

/* The inverse of the matrix that a factor is of. */
void tmi_positive_inverse(double *inverse, const double *factor, size_t size);

#endif
