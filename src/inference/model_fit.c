#include "inference/model_fit.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "survey/normal.h"

void tmi_model_fit_clear(tmi_model_fit *f)
{
    tmi_free(f->design);
    tmi_free(f->rows);
    tmi_free(f->sums);
    tmi_free(f->coefficients);
    tmi_free(f->inverse);
    tmi_free(f->mean);
    tmi_free(f->slope);
    tmi_free(f->room);
    *f = (tmi_model_fit){0};
}

tamis_status tmi_model_fit_make(tmi_model_fit *f, const tmi_plan_model *m, tamis_error *err)
{
    const size_t cells = tmi_model_codes(m, 0, NULL), terms = m->term_count;
    *f = (tmi_model_fit){.model = m, .cells = cells, .terms = terms};
    f->design = tmi_alloc(cells * terms, sizeof *f->design);
    f->rows = tmi_alloc(cells, sizeof *f->rows);
    f->sums = tmi_alloc(cells, sizeof *f->sums);
    f->mean = tmi_alloc(cells, sizeof *f->mean);
    f->slope = tmi_alloc(cells, sizeof *f->slope);
    f->coefficients = tmi_alloc(terms, sizeof *f->coefficients);
    f->inverse = tmi_alloc(terms * terms, sizeof *f->inverse);
    f->room = tmi_alloc(terms * (terms + 4), sizeof *f->room);
    if (!f->design || !f->rows || !f->sums || !f->mean || !f->slope || !f->coefficients || !f->inverse || !f->room) {
        tmi_model_fit_clear(f);
        return tmi_fail_memory(err);
    }
    for (size_t c = 0; c < cells; c++) {
        size_t codes[TMI_MAX_PREDICTORS];
        tmi_model_codes(m, c, codes);
        for (size_t k = 0; k < terms; k++) f->design[c * terms + k] = tmi_model_term_value(m, k, codes, NULL);
    }
    return TAMIS_OK;
}

/* ---- the score ---- */

#define FARTHEST 30 /* linear predictors beyond this count as this: e^30 is more than there are people */

static void set_means(tmi_model_fit *f, const double *beta)
{
    for (size_t c = 0; c < f->cells; c++) {
        double eta = 0;
        for (size_t k = 0; k < f->terms; k++) eta += f->design[c * f->terms + k] * beta[k];
        if (f->model->family == TMI_LINEAR) {
            f->mean[c] = eta;
            f->slope[c] = 1;
            continue;
        }
        eta = fmin(fmax(eta, -FARTHEST), FARTHEST);
        f->mean[c] = f->model->family == TMI_POISSON ? exp(eta) : 1 / (1 + exp(-eta));
        f->slope[c] = f->model->family == TMI_POISSON ? f->mean[c] : f->mean[c] * (1 - f->mean[c]);
    }
}

/* Gives the largest part of the score. */
static double set_score(double *score, const tmi_model_fit *f)
{
    double largest = 0;
    memset(score, 0, f->terms * sizeof *score);
    for (size_t c = 0; c < f->cells; c++) {
        const double rest = f->sums[c] - f->mean[c] * f->rows[c];
        for (size_t k = 0; k < f->terms; k++) score[k] += f->design[c * f->terms + k] * rest;
    }
    for (size_t k = 0; k < f->terms; k++) largest = fmax(largest, fabs(score[k]));
    return largest;
}

static void set_information(double *J, const tmi_model_fit *f)
{
    const size_t n = f->terms;
    memset(J, 0, n * n * sizeof *J);
    for (size_t c = 0; c < f->cells; c++) {
        const double *x = f->design + c * n, weight = f->rows[c] * f->slope[c];
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; x[i] != 0 && j <= i; j++) J[i * n + j] += weight * x[i] * x[j];
    }
}

/* ---- the root ---- */

#define MOST_STEPS 100
#define MOST_HALVINGS 30
#define NEAR 1e-10   /* a step that is no larger, beside the coefficients, is the last one */
#define MOST_SIZE 15 /* of a coefficient on the scale of logarithms: beyond it a cell has no cases, or nothing else */

/* Where Newton's method begins: everybody alike. */
static bool begin(double *beta, const tmi_model_fit *f)
{
    double rows = 0, sums = 0;
    memset(beta, 0, f->terms * sizeof *beta);
    for (size_t c = 0; c < f->cells; c++) {
        rows += f->rows[c];
        sums += f->sums[c];
    }
    if (f->model->family == TMI_LINEAR) return true;
    const double rate = rows > 0 ? sums / rows : 0;
    if (!(rate > 0) || (f->model->family == TMI_LOGISTIC && !(rate < 1))) return false;
    beta[0] = f->model->family == TMI_POISSON ? log(rate) : log(rate / (1 - rate));
    return true;
}

/* One step of Newton's method from where `score` is that of beta: halved until the score becomes smaller, with a ridge where J is
 * not positive definite. Sets `close` where no step is needed any more; false: there is no root to be found. */
static bool step_on(bool *close, double *size, tmi_model_fit *f)
{
    const size_t n = f->terms;
    double *beta = f->coefficients, *score = f->room, *next = score + n, *step = next + n, *L = step + n, *J = f->inverse;
    const bool linear = f->model->family == TMI_LINEAR;
    double ridge = 0, largest = 1, longest = 0, reached;
    set_information(J, f);
    while (!tmi_positive_factor(L, J, n, ridge)) {
        ridge = ridge > 0 ? 4 * ridge : 1e-3;
        if (ridge > 1e6 || linear) return false;
    }
    memcpy(step, score, n * sizeof *step);
    tmi_normal_solve(step, L, n);
    for (size_t k = 0; k < n; k++) {
        largest = fmax(largest, fabs(beta[k]));
        longest = fmax(longest, fabs(step[k]));
    }
    *close = linear || (ridge == 0 && longest <= NEAR * largest);
    for (int h = 0; h < MOST_HALVINGS; h++) {
        for (size_t k = 0; k < n; k++) next[k] = beta[k] + step[k] / (double)(INT64_C(1) << h);
        set_means(f, next);
        reached = set_score(score, f);
        if (*close || reached < *size) break;
    }
    if (!*close && !(reached < *size)) return false;
    memcpy(beta, next, n * sizeof *beta);
    *size = reached;
    return linear || largest <= MOST_SIZE;
}

static bool find(tmi_model_fit *f)
{
    bool close = false;
    if (!begin(f->coefficients, f)) return false;
    set_means(f, f->coefficients);
    double size = set_score(f->room, f);
    for (int round = 0; round < MOST_STEPS && !close; round++)
        if (!step_on(&close, &size, f)) return false;
    double *L = f->room + 3 * f->terms;
    set_information(f->inverse, f);
    if (!close || !tmi_positive_factor(L, f->inverse, f->terms, 0)) return false;
    tmi_positive_inverse(f->inverse, L, f->terms);
    return true;
}

void tmi_model_fit_find(tmi_model_fit *f)
{
    f->determined = find(f);
    for (size_t k = 0; f->determined && k < f->terms; k++)
        f->determined = isfinite(f->coefficients[k]) && f->inverse[k * f->terms + k] > 0;
    if (f->determined) return;
    memset(f->coefficients, 0, f->terms * sizeof *f->coefficients);
    memset(f->inverse, 0, f->terms * f->terms * sizeof *f->inverse);
    memset(f->mean, 0, f->cells * sizeof *f->mean);
    memset(f->slope, 0, f->cells * sizeof *f->slope);
}

double tmi_model_factor(const tmi_model_fit *f, size_t term, size_t cell)
{
    double sum = 0;
    for (size_t k = 0; k < f->terms; k++) sum += f->inverse[term * f->terms + k] * f->design[cell * f->terms + k];
    return sum;
}

double tmi_model_turn(const tmi_model_fit *f, size_t term, size_t cell)
{
    const double own = f->inverse[term * f->terms + term];
    return own > 0 ? tmi_model_factor(f, term, cell) / own : 0;
}
