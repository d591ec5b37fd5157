/* Regression from cells: the coefficients that make the score 0.
 *
 * Rows with the same values of all predictors are one cell c with a row X_c of the design matrix. Only its number of rows N_c
 * and the sum Y_c of what is explained are known, both weighted and noisy. The score of a linear, logistic or Poisson model with
 * its canonical link is linear in them:
 *
 *     S(beta) = sum over cells of X_c (Y_c - mu(X_c beta) N_c),      mu = eta, 1/(1 + e^-eta), e^eta.
 *
 * Its root is that of R's svyglm on the same rows. With J = -dS/dbeta = sum of N_c mu'_c X_c X_c', to first order the error of a
 * coefficient is that of the sum over rows of f_c (y - mu_c), f_c = row of J^-1 times X_c: its linearised variable. */
#ifndef TMI_INFERENCE_MODEL_FIT_H
#define TMI_INFERENCE_MODEL_FIT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "plan/plan.h"

typedef struct tmi_model_fit {
    const tmi_plan_model *model;
    size_t cells, terms;
    double *design;       /* X, cell by cell */
    double *rows, *sums;  /* N and Y of the cells: what a fit is made of */
    double *coefficients; /* beta */
    double *inverse;      /* J^-1, symmetric */
    double *mean, *slope; /* mu and mu' of the cells */
    double *room;
    bool determined; /* there is one root, and J is positive definite there */
} tmi_model_fit;

/* Room for the cells of all combinations of a model's categories. Errors: SYSTEM. */
tamis_status tmi_model_fit_make(tmi_model_fit *fit, const tmi_plan_model *model, tamis_error *err);
void tmi_model_fit_clear(tmi_model_fit *fit);

/* Finds the root for the fit's `rows` and `sums`. Where noise leaves none, or more than doubles can tell, it is not determined,
 * and all coefficients are 0. */
void tmi_model_fit_find(tmi_model_fit *fit);

/* f_c of a coefficient; and, divided by its own element of J^-1, how far a linear predictor moves with it if the other
 * coefficients are fitted again. */
double tmi_model_factor(const tmi_model_fit *fit, size_t term, size_t cell);
double tmi_model_turn(const tmi_model_fit *fit, size_t term, size_t cell);

#endif
