/* Calibration (Deville and Sarndal 1992): weights d become d F(x' lambda), with F(0) = F'(0) = 1, and Newton's method
 * finds the lambda for which the new weights reproduce the known totals of x. The search is a convex problem: a step
 * that makes the distance to the totals larger is halved until it does not. At the end a few more steps are taken: they
 * cost little and leave only rounding. The variables are scaled to one length, so that their units do not matter.      */
#include <string.h>

#include "base/hypotenuse.h"
#include "base/memory.h"
#include "survey/estimator.h"
#include "survey/normal.h"

#define ITERATIONS 100
#define HALVINGS 40
#define REACHED 1e-10 /* of the totals */

typedef struct problem {
    tamis_calibration method;
    double lower, upper;
    const double *weights, *x, *totals;
    size_t count, variables;
    double *scale, *size, *lambda, *trial, *missing, *step, *matrix;
    tmi_sum *sums;
} problem;

static void clear(problem *p)
{
    tmi_free(p->scale);
    tmi_free(p->matrix);
    tmi_free(p->sums);
}

/* Room for the search, and the lengths of the variables. */
static tamis_status prepare(problem *p, tamis_error *err)
{
    size_t k = p->variables;
    p->scale = tmi_alloc(6 * k, sizeof *p->scale);
    p->matrix = tmi_alloc(k * k, sizeof *p->matrix);
    p->sums = tmi_alloc(k, sizeof *p->sums);
    if (!p->scale || !p->matrix || !p->sums) return tmi_fail_memory(err);
    p->size = p->scale + k;
    p->lambda = p->size + k;
    p->trial = p->lambda + k;
    p->missing = p->trial + k;
    p->step = p->missing + k;
    for (size_t i = 0; i < p->count; i++)
        for (size_t j = 0; j < k; j++) {
            p->scale[j] = tmi_hypotenuse(p->scale[j], sqrt(p->weights[i]) * p->x[i * k + j]);
            p->size[j] += p->weights[i] * fabs(p->x[i * k + j]);
        }
    for (size_t j = 0; j < k; j++) {
        if (!isfinite(p->scale[j]) || !isfinite(p->size[j]))
            return tmi_fail(err, TAMIS_INVALID, "auxiliary: values are too large");
        if (p->scale[j] == 0) p->scale[j] = 1; /* a variable of zeros */
    }
    return TAMIS_OK;
}

/* F and its derivative. */
static double factor_of(double *slope, const problem *p, double u)
{
    double L = p->lower, U = p->upper;
    switch (p->method) {
    case TAMIS_CALIBRATION_LINEAR: *slope = 1; return 1 + u;
    case TAMIS_CALIBRATION_RAKING: return *slope = exp(u);
    default:
        u *= (U - L) / ((1 - L) * (U - 1));
        double e = exp(-fabs(u)), low = (U - 1) * (u > 0 ? e : 1), high = (1 - L) * (u > 0 ? 1 : e);
        double g = (L * low + U * high) / (low + high);
        *slope = (g - L) * (U - g) / ((1 - L) * (U - 1));
        return g;
    }
}

static double along(const problem *p, const double *lambda, size_t i)
{
    double u = 0;
    for (size_t j = 0; j < p->variables; j++) u += lambda[j] * (p->x[i * p->variables + j] / p->scale[j]);
    return u;
}

/* What is missing to the totals (scaled); the largest part of it, relative to the total, is returned. */
static double missing_at(const problem *p, const double *lambda)
{
    size_t k = p->variables;
    double worst = 0, slope;
    memset(p->sums, 0, k * sizeof *p->sums);
    for (size_t i = 0; i < p->count; i++) {
        double w = p->weights[i] * factor_of(&slope, p, along(p, lambda, i));
        for (size_t j = 0; j < k; j++) tmi_sum_add(&p->sums[j], w * p->x[i * k + j]);
    }
    for (size_t j = 0; j < k; j++) {
        tmi_sum_add(&p->sums[j], -p->totals[j]);
        double over = tmi_sum_value(p->sums[j]), size = fabs(p->totals[j]) + p->size[j];
        p->missing[j] = -over / p->scale[j];
        if (!isfinite(over)) return INFINITY;
        if (size > 0) worst = fmax(worst, fabs(over) / size);
    }
    return worst;
}

static void newton_step(const problem *p)
{
    size_t k = p->variables;
    double slope;
    memset(p->matrix, 0, k * k * sizeof *p->matrix);
    for (size_t i = 0; i < p->count; i++) {
        const double *x = &p->x[i * k];
        factor_of(&slope, p, along(p, p->lambda, i));
        slope *= p->weights[i];
        for (size_t j = 0; j < k; j++)
            for (size_t l = 0; l <= j; l++) p->matrix[j * k + l] += slope * (x[j] / p->scale[j]) * (x[l] / p->scale[l]);
    }
    memcpy(p->step, p->missing, k * sizeof *p->step);
    (void)tmi_normal_factor(p->matrix, k, NULL, NULL); /* nobody watches, so it does not fail */
    tmi_normal_solve(p->step, p->matrix, k);
}

/* Moves lambda along Newton's step as far as the distance to the totals shrinks; false if it never does. */
static bool move(const problem *p, double *distance)
{
    double length = 1;
    for (int i = 0; i < HALVINGS; i++, length /= 2) {
        for (size_t j = 0; j < p->variables; j++) p->trial[j] = p->lambda[j] + length * p->step[j];
        double reached = missing_at(p, p->trial);
        if (reached < *distance) {
            memcpy(p->lambda, p->trial, p->variables * sizeof *p->lambda);
            *distance = reached;
            return true;
        }
    }
    return false;
}

static tamis_status search(const problem *p, tamis_error *err)
{
    double distance = missing_at(p, p->lambda);
    int polish = 3;
    for (int i = 0; i < ITERATIONS && distance > 0 && polish > 0; i++) {
        newton_step(p);
        if (!move(p, &distance)) break;
        polish -= distance <= REACHED;
    }
    if (distance <= REACHED) return TAMIS_OK;
    return tmi_fail(err, TAMIS_UNABLE, "totals: no weights of this method meet them; check the totals, or widen the bounds");
}

/* ---- the two functions ---- */

/* So that count * variables does not overflow; no memory holds more. */
#define MAX_COUNT (SIZE_MAX / sizeof(double) / TAMIS_MAX_AUXILIARY)

static tamis_status check_sample(const double *weights, const double *auxiliary, size_t count, size_t variables, tamis_error *err)
{
    tamis_status status;
    if (variables < 1 || variables > TAMIS_MAX_AUXILIARY)
        TMI_TRY(tmi_fail(err, TAMIS_INVALID, "variables: must be between 1 and %d", TAMIS_MAX_AUXILIARY));
    TMI_TRY(tmi_check_finite("weights", weights, count, err));
    for (size_t i = 0; i < count; i++)
        if (!(weights[i] > 0)) TMI_TRY(tmi_fail(err, TAMIS_INVALID, "weights: number %zu is not positive", i));
    TMI_TRY(tmi_check_finite("auxiliary", auxiliary, count * variables, err));

done:
    return status;
}

static tamis_status check_method(const problem *p, tamis_error *err)
{
    if ((unsigned)p->method > TAMIS_CALIBRATION_LOGIT)
        return tmi_fail(err, TAMIS_INVALID, "method: must be one of tamis_calibration");
    if (p->method != TAMIS_CALIBRATION_LOGIT) return TAMIS_OK;
    if (!(p->lower >= 0 && p->lower < 1)) return tmi_fail(err, TAMIS_INVALID, "lower: must be at least 0 and below 1");
    if (!(p->upper > 1 && isfinite(p->upper))) return tmi_fail(err, TAMIS_INVALID, "upper: must be above 1 and finite");
    return TAMIS_OK;
}

tamis_status tamis_calibrate(double *calibrated, tamis_calibration method, double lower, double upper, const double *weights,
                             const double *auxiliary, const double *totals, size_t count, size_t variables, tamis_error *err)
{
    problem p = {.method = method,
                 .lower = lower,
                 .upper = upper,
                 .weights = weights,
                 .x = auxiliary,
                 .totals = totals,
                 .count = count,
                 .variables = variables};
    tamis_status status;
    double slope;
    tmi_error_reset(err);
    if (!calibrated) return tmi_fail(err, TAMIS_INVALID, "calibrated: NULL");
    if (count > MAX_COUNT) return tmi_fail(err, TAMIS_INVALID, "count: too large");
    TMI_TRY(check_method(&p, err));
    TMI_TRY(check_sample(weights, auxiliary, count, variables, err));
    TMI_TRY(tmi_check_finite("totals", totals, variables, err));
    TMI_TRY(prepare(&p, err));
    TMI_TRY(search(&p, err));
    for (size_t i = 0; i < count; i++) calibrated[i] = weights[i] * factor_of(&slope, &p, along(&p, p.lambda, i));

done:
    for (size_t i = 0; status != TAMIS_OK && i < count; i++) calibrated[i] = NAN;
    clear(&p);
    return status;
}

/* Least squares twice, the second time on what the first left: that takes back the rounding of the first. */
tamis_status tamis_calibration_residuals(double *residuals, const double *linear, const double *weights, const double *auxiliary,
                                         size_t count, size_t variables, tamis_error *err)
{
    problem p = {.method = TAMIS_CALIBRATION_LINEAR, .weights = weights, .x = auxiliary, .count = count, .variables = variables};
    tamis_status status;
    tmi_error_reset(err);
    if (!residuals) return tmi_fail(err, TAMIS_INVALID, "residuals: NULL");
    if (count > MAX_COUNT) return tmi_fail(err, TAMIS_INVALID, "count: too large");
    TMI_TRY(check_sample(weights, auxiliary, count, variables, err));
    TMI_TRY(tmi_check_finite("linear", linear, count, err));
    TMI_TRY(prepare(&p, err));
    memmove(residuals, linear, count * sizeof *residuals);
    for (int round = 0; round < 2; round++) {
        memset(p.sums, 0, variables * sizeof *p.sums);
        for (size_t i = 0; i < count; i++)
            for (size_t j = 0; j < variables; j++)
                tmi_sum_add(&p.sums[j], weights[i] * residuals[i] * (auxiliary[i * variables + j] / p.scale[j]));
        for (size_t j = 0; j < variables; j++) p.missing[j] = tmi_sum_value(p.sums[j]);
        newton_step(&p);
        for (size_t i = 0; i < count; i++) residuals[i] -= along(&p, p.step, i);
    }
    for (size_t i = 0; i < count; i++)
        if (!isfinite(residuals[i])) TMI_TRY(tmi_fail(err, TAMIS_INVALID, "linear: values are too large"));

done:
    for (size_t i = 0; status != TAMIS_OK && i < count; i++) residuals[i] = NAN;
    clear(&p);
    return status;
}
