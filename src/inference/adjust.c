/* Least squares. With S the covariance and M = S A', the correction is t + M (A M)^-1 (c - A t), and an error e of t becomes P
 * e, P = I - M (A M)^-1 A. */
#include "inference/adjust.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "survey/estimator.h"
#include "survey/normal.h"

const char *tmi_adjustment_text(tmi_adjustment adjustment)
{
    static const char *const texts[] = {
        [TMI_CALIBRATED] = "calibrated to public counts by least squares; its errors are those after calibration, to first order",
        [TMI_RAKED] = "raked to public counts; its errors are those after raking, to first order",
        [TMI_CONSISTENT] =
            "made to add up with the other numbers by least squares: the noise is smaller, the sampling error unchanged",
        [TMI_NON_NEGATIVE] = "made non-negative: small numbers are too large on average, large ones too small",
        [TMI_REGULARISED] = "weights shrunk towards their mean: biased by at most the stated bound",
        [TMI_SUPPRESSED_CV] = "withheld: its coefficient of variation is too large",
        [TMI_SUPPRESSED_SMALL] = "withheld: too few sampled units (noisy count)",
    };
    return texts[adjustment];
}

typedef struct problem {
    const tmi_controls *controls;
    double *moves;  /* M: count x rows */
    double *factor; /* of A M */
    double *gap, *values;
} problem;

static tamis_status check(const double *t, const double *covariance, const tmi_controls *c, tamis_error *err)
{
    tamis_status status;
    if (!t || !covariance || !c || !c->constraints || !c->totals) return tmi_fail(err, TAMIS_INVALID, "t: an input is NULL");
    if (c->count < 1 || c->count > TMI_MAX_ADJUSTED)
        return tmi_fail(err, TAMIS_INVALID, "count: not between 1 and %d", TMI_MAX_ADJUSTED);
    if (c->rows < 1 || c->rows > c->count) return tmi_fail(err, TAMIS_INVALID, "rows: not between 1 and the count");
    TMI_TRY(tmi_check_finite("t", t, c->count, err));
    TMI_TRY(tmi_check_finite("covariance", covariance, c->count * c->count, err));
    TMI_TRY(tmi_check_finite("constraints", c->constraints, c->rows * c->count, err));
    TMI_TRY(tmi_check_finite("totals", c->totals, c->rows, err));
    for (size_t i = 0; i < c->count; i++)
        if (!(covariance[i * c->count + i] >= 0))
            TMI_TRY(tmi_fail(err, TAMIS_INVALID, "covariance: variance %zu is negative", i));

done:
    return status;
}

static tamis_status make(problem *p, const tmi_controls *controls, tamis_error *err)
{
    *p = (problem){.controls = controls};
    p->moves = tmi_alloc(controls->count * controls->rows, sizeof *p->moves);
    p->factor = tmi_alloc(controls->rows * controls->rows, sizeof *p->factor);
    p->gap = tmi_alloc(controls->rows, sizeof *p->gap);
    p->values = tmi_alloc(controls->count, sizeof *p->values);
    return p->moves && p->factor && p->gap && p->values ? TAMIS_OK : tmi_fail_memory(err);
}

static void clear(problem *p)
{
    tmi_free(p->moves);
    tmi_free(p->factor);
    tmi_free(p->gap);
    tmi_free(p->values);
}

/* M = S A', then the factor of A M. */
static tamis_status set_moves(problem *p, const double *covariance, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    size_t k = p->controls->count, m = p->controls->rows;
    const double *A = p->controls->constraints;
    memset(p->moves, 0, k * m * sizeof *p->moves);
    for (size_t i = 0; i < k; i++)
        for (size_t r = 0; r < m; r++) {
            TMI_TRY(tmi_watch_beat(p->controls->watch, err));
            for (size_t j = 0; j < k; j++) p->moves[i * m + r] += covariance[i * k + j] * A[r * k + j];
        }
    for (size_t r = 0; r < m; r++)
        for (size_t q = 0; q < m; q++) {
            TMI_TRY(tmi_watch_beat(p->controls->watch, err));
            tmi_sum sum = {0};
            for (size_t i = 0; i < k; i++) tmi_sum_add(&sum, A[r * k + i] * p->moves[i * m + q]);
            p->factor[r * m + q] = tmi_sum_value(sum);
        }
    TMI_TRY(tmi_normal_factor(p->factor, m, p->controls->watch, err));

done:
    return status;
}

/* c - A t, and the largest part of it relative to what is added up there. */
static double set_gap(problem *p, const double *t)
{
    const tmi_controls *c = p->controls;
    double worst = 0;
    for (size_t r = 0; r < c->rows; r++) {
        tmi_sum sum = {c->totals[r], 0};
        double size = fabs(c->totals[r]);
        for (size_t i = 0; i < c->count; i++) {
            tmi_sum_add(&sum, -c->constraints[r * c->count + i] * t[i]);
            size = fmax(size, fabs(c->constraints[r * c->count + i] * t[i]));
        }
        p->gap[r] = tmi_sum_value(sum);
        if (size > 0) worst = fmax(worst, fabs(p->gap[r]) / size);
    }
    return worst;
}

/* Moves p->values onto the totals; the second and third time take back the rounding of the first. */
static tamis_status meet(problem *p, tamis_error *err)
{
    const tmi_controls *c = p->controls;
    for (int round = 0; round < 3; round++) {
        set_gap(p, p->values);
        tmi_normal_solve(p->gap, p->factor, c->rows);
        for (size_t i = 0; i < c->count; i++)
            for (size_t r = 0; r < c->rows; r++) p->values[i] += p->moves[i * c->rows + r] * p->gap[r];
    }
    if (set_gap(p, p->values) <= 1e-10) return TAMIS_OK;
    return tmi_fail(err, TAMIS_INVALID, "totals: they contradict each other, or nothing here can be changed to meet them");
}

/* P v for a vector of `matrix` that begins at `first` and whose numbers are `step` apart. */
static void project_line(problem *p, double *matrix, size_t first, size_t step)
{
    size_t k = p->controls->count, m = p->controls->rows;
    const double *A = p->controls->constraints;
    for (size_t r = 0; r < m; r++) {
        tmi_sum sum = {0};
        for (size_t i = 0; i < k; i++) tmi_sum_add(&sum, A[r * k + i] * matrix[first + i * step]);
        p->gap[r] = tmi_sum_value(sum);
    }
    tmi_normal_solve(p->gap, p->factor, m);
    for (size_t i = 0; i < k; i++)
        for (size_t r = 0; r < m; r++) matrix[first + i * step] -= p->moves[i * m + r] * p->gap[r];
}

/* S becomes P S P', column by column and then row by row. */
static tamis_status project(problem *p, double *covariance, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    size_t k = p->controls->count;
    for (int side = 0; side < 2; side++)
        for (size_t line = 0; line < k; line++) {
            TMI_TRY(tmi_watch_beat(p->controls->watch, err));
            project_line(p, covariance, side ? line * k : line, side ? 1 : k);
        }
    for (size_t i = 0; i < k; i++) covariance[i * k + i] = fmax(covariance[i * k + i], 0);

done:
    return status;
}

/* P itself: the columns of the identity, projected. */
static tamis_status set_projection(double *projection, problem *p, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    size_t k = p->controls->count;
    memset(projection, 0, k * k * sizeof *projection);
    for (size_t i = 0; i < k; i++) {
        TMI_TRY(tmi_watch_beat(p->controls->watch, err));
        projection[i * k + i] = 1;
        project_line(p, projection, i, k);
    }

done:
    return status;
}

tamis_status tmi_adjust_totals(double *t, double *covariance, double *projection, const tmi_controls *controls, tamis_error *err)
{
    tamis_status status = check(t, covariance, controls, err);
    if (status != TAMIS_OK) return status;
    problem p;
    TMI_TRY(make(&p, controls, err));
    TMI_TRY(set_moves(&p, covariance, err));
    memcpy(p.values, t, controls->count * sizeof *t);
    TMI_TRY(meet(&p, err));
    memcpy(t, p.values, controls->count * sizeof *t);
    TMI_TRY(project(&p, covariance, err));
    if (projection) TMI_TRY(set_projection(projection, &p, err));

done:
    clear(&p);
    return status;
}
