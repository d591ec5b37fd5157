/* Linear regression on numbers that are not cut, from sums, squares and products.
 *
 * In a cell, a combination of the model's categories, a row has u = (u1, ..., up), its numbers moved and scaled such that their
 * ranges are [-1, 1], and v, what is explained, likewise. Each term of the model is 0 or 1 in a cell, or one of the u. The score
 *
 *     S(b) = sum over rows of w X (v - X'b)
 *
 * is linear in the weighted sums of 1, u, v, and of their squares and products, in each cell: `moments`, pair of numbers by pair,
 * from which both a release and its preview are made. Its root is that of R's svyglm on the same rows. With J = sum of w X X' and
 * A the linear map from b to coefficients in the units of the data, the error of coefficient k is to first order the sum of
 *
 *     e = (g'X) (v - X'b),    g' = row k of A J^-1,
 *
 * its linearised variable; if coefficient k moves by 1 and the others are fitted again, that sum moves by the sum of
 * (g'X)^2 / (A J^-1 A')_kk. Both are quadratic in the numbers of a row, so that they are sums of moments. */
#ifndef TMI_MEASURE_LINE_FIT_H
#define TMI_MEASURE_LINE_FIT_H

#include "measure/moments.h"

typedef struct tmi_line_fit {
    const tmi_plan_model *model;
    size_t cells, terms;
    size_t numbers, pairs;                                 /* numbers: the predictors, then what is explained */
    double middle[TMI_MAX_NUMBERS], half[TMI_MAX_NUMBERS]; /* of their ranges */
    double (*moments)[TMI_MOMENTS];                        /* of each pair, then each cell; all of weighted rows */
    double *coefficients;                                  /* in the units of the data */
    double *inverse;                                       /* A J^-1 A', symmetric */
    double residual;                                       /* the mean square of v less what the model gives it; below 0: noise */
    double total;                                          /* that of v less its mean */
    bool determined;                                       /* J is positive definite */
    double *design;                                        /* of each cell, then each term: 0 or 1, and 0 for numbers */
    size_t *number_of;  /* the number of a term, SIZE_MAX for others; and the term of a number */
    double *b, *scores; /* in scaled units; A J^-1 */
    double *room;
} tmi_line_fit;

/* Whether a model has numbers that are not cut. */
static inline bool tmi_is_line(const tmi_plan_statistic *statistic)
{
    return statistic->model && statistic->contrast && statistic->contrast->compared[0].kind == TMI_PRODUCTS;
}

/* Room for the cells of a statistic that is such a model. Errors: SYSTEM. */
tamis_status tmi_line_fit_make(tmi_line_fit *fit, const tmi_plan_statistic *statistic, tamis_error *err);
void tmi_line_fit_clear(tmi_line_fit *fit);

/* The root for the fit's `moments`. */
void tmi_line_fit_find(tmi_line_fit *fit);

/* The linearised variable of a coefficient in a cell, by moments of all pairs; and how it moves with the coefficient. */
void tmi_line_fit_variable(double own[TMI_MAX_PAIRS][TMI_MOMENTS], double turn[TMI_MAX_PAIRS][TMI_MOMENTS],
                           const tmi_line_fit *fit, size_t term, size_t cell);

/* What the linearised variable of a coefficient is at most, of any row. */
double tmi_line_fit_largest(const tmi_line_fit *fit, size_t term);

#endif
