#include "measure/factors.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "num/number.h"
#include "survey/normal.h"

#define MAX_ROUNDS 100
#define CLOSE 1e-12 /* counts are met if they differ by less than this, relative to the largest total */

/* Fills in which cell is part of which public count, and these counts. */
static void fill_variables(double *variables, double *totals, const tmi_schedule *s, size_t cells, size_t count)
{
    size_t first = 0;
    for (size_t i = 0; i < s->plan->control_count; i++) {
        const tmi_plan_control *c = &s->plan->controls[i];
        for (size_t cell = 0; cell < cells; cell++)
            variables[cell * count + first + tmi_regroup(c->by, c->by_count, s->controls, s->control_count, cell)] = 1;
        for (size_t j = 0; j < c->total_count; j++) totals[first + j] = tmi_number_nearest(c->totals[j]);
        first += c->total_count;
    }
}

void tmi_calibration_clear(tmi_calibration *c)
{
    tmi_free(c->cell_of);
    tmi_free(c->factors);
    tmi_free(c->variables);
    tmi_free(c->normal);
    tmi_free(c->slopes);
    *c = (tmi_calibration){0};
}

tamis_status tmi_calibration_room(tmi_calibration *c, double **totals, const tmi_schedule *s, tamis_error *err)
{
    *c = (tmi_calibration){.cells = tmi_cells_crossed(s->controls, s->control_count),
                           .totals = tmi_public_counts(s->plan),
                           .raking = s->plan->raking,
                           .watch = s->watch};
    c->factors = tmi_alloc(c->cells, sizeof *c->factors);
    c->variables = tmi_alloc(c->cells * c->totals, sizeof *c->variables);
    c->normal = tmi_alloc(c->totals * c->totals, sizeof *c->normal);
    c->slopes = tmi_alloc(c->totals, sizeof *c->slopes);
    *totals = tmi_alloc(c->totals, sizeof **totals);
    if (!c->factors || !c->variables || !c->normal || !c->slopes || !*totals) return tmi_fail_memory(err);
    fill_variables(c->variables, *totals, s, c->cells, c->totals);
    return TAMIS_OK;
}

/* The matrix of the regression, with weights count (linear) or count times factor (raking). */
static tamis_status set_normal(tmi_calibration *c, const double *counts, tamis_error *err)
{
    memset(c->normal, 0, c->totals * c->totals * sizeof *c->normal);
    for (size_t i = 0; i < c->cells; i++) {
        const double *x = c->variables + i * c->totals;
        double weight = counts[i] * (c->raking ? c->factors[i] : 1);
        for (size_t j = 0; j < c->totals; j++) {
            if (x[j] == 0) continue;
            for (size_t k = 0; k < c->totals; k++) c->normal[j * c->totals + k] += weight * x[k];
        }
    }
    return tmi_normal_factor(c->normal, c->totals, c->watch, err);
}

/* Gives what the calibrated counts lack, and returns the largest of it relative to the totals. */
static double set_gap(double *gap, const tmi_calibration *c, const double *counts, const double *totals)
{
    double worst = 0, size = 0;
    for (size_t j = 0; j < c->totals; j++) {
        gap[j] = totals[j];
        size = fmax(size, fabs(totals[j]));
        for (size_t i = 0; i < c->cells; i++) gap[j] -= c->factors[i] * counts[i] * c->variables[i * c->totals + j];
        worst = fmax(worst, fabs(gap[j]));
    }
    return size > 0 ? worst / size : worst > 0 ? INFINITY : 0;
}

/* Newton's method: one step is all for 1 + x' lambda, but for rounding; some for exp(x' lambda). Unlike weights of rows, counts
 * with noise may be below 0 where a cell is empty. */
tamis_status tmi_calibration_solve(bool *met, tmi_calibration *c, const double *counts, const double *totals, tamis_error *err)
{
    double gap = INFINITY;
    tamis_status status = TAMIS_OK;
    *met = false;
    for (size_t i = 0; i < c->cells; i++) c->factors[i] = 1;
    for (int round = 0; round < MAX_ROUNDS && isfinite(gap = set_gap(c->slopes, c, counts, totals)) && gap > CLOSE; round++) {
        TMI_TRY(tmi_watch_beat(c->watch, err));
        TMI_TRY(set_normal(c, counts, err));
        tmi_normal_solve(c->slopes, c->normal, c->totals);
        for (size_t i = 0; i < c->cells; i++) {
            double step = 0;
            for (size_t j = 0; j < c->totals; j++) step += c->slopes[j] * c->variables[i * c->totals + j];
            c->factors[i] = c->raking ? c->factors[i] * exp(fmin(step, 1)) : c->factors[i] + step;
        }
    }
    TMI_TRY(set_normal(c, counts, err));
    *met = gap <= CLOSE;

done:
    return status;
}
