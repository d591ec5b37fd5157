#include "measure/factors.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "num/number.h"
#include "survey/normal.h"

#define MAX_ROUNDS 100
#define CLOSE 1e-12 /* counts are met if they differ by less than this, relative to the largest total */

/* Fills in which cell is part of which public count or total, and these, totals in units of `scale`. */
static void fill_variables(double *variables, size_t *power, double *totals, const tmi_schedule *s, size_t cells, size_t count,
                           double scale)
{
    size_t first = 0;
    for (size_t i = 0; i < s->plan->control_count; i++) {
        const tmi_plan_control *c = &s->plan->controls[i];
        for (size_t cell = 0; cell < cells; cell++)
            variables[cell * count + first + tmi_regroup(c->by, c->by_count, s->controls, s->control_count, cell)] = 1;
        for (size_t j = 0; j < c->total_count; j++) {
            totals[first + j] = tmi_number_nearest(c->totals[j]) / (c->column ? scale : 1);
            power[first + j] = c->column ? 1 : 0;
        }
        first += c->total_count;
    }
}

void tmi_calibration_clear(tmi_calibration *c)
{
    tmi_free(c->cell_of);
    tmi_free(c->factors);
    tmi_free(c->squares);
    tmi_free(c->power);
    tmi_free(c->variables);
    tmi_free(c->normal);
    tmi_free(c->slopes);
    *c = (tmi_calibration){0};
}

/* What v can be; in a row that lacks it factors are those of 0. */
static void set_ends(tmi_calibration *c, const tmi_plan_column *x)
{
    const double low = x->grid.step * (double)x->grid.low / c->scale, high = x->grid.step * (double)x->grid.high / c->scale;
    const bool complete = x->missing == TMI_NEVER;
    c->ends[0] = complete ? low : fmin(low, 0);
    c->ends[1] = complete ? high : fmax(high, 0);
}

tamis_status tmi_calibration_room(tmi_calibration *c, double **totals, const tmi_schedule *s, tamis_error *err)
{
    *c = (tmi_calibration){.cells = tmi_cells_crossed(s->controls, s->control_count),
                           .totals = tmi_public_counts(s->plan),
                           .raking = s->plan->raking,
                           .powers = s->control_number ? 2 : 1,
                           .scale = s->control_number ? tmi_control_scale(s->control_number) : 1,
                           .answers_vary = s->plan->design.nonresponse,
                           .watch = s->watch};
    if (s->control_number) set_ends(c, s->control_number);
    c->factors = tmi_alloc(c->cells * c->powers, sizeof *c->factors);
    c->squares = tmi_alloc(c->cells, sizeof *c->squares);
    c->power = tmi_alloc(c->totals, sizeof *c->power);
    c->variables = tmi_alloc(c->cells * c->totals, sizeof *c->variables);
    c->normal = tmi_alloc(c->totals * c->totals, sizeof *c->normal);
    c->slopes = tmi_alloc(c->totals, sizeof *c->slopes);
    *totals = tmi_alloc(c->totals, sizeof **totals);
    if (!c->factors || !c->squares || !c->power || !c->variables || !c->normal || !c->slopes || !*totals)
        return tmi_fail_memory(err);
    fill_variables(c->variables, c->power, *totals, s, c->cells, c->totals, c->scale);
    return TAMIS_OK;
}

void tmi_calibration_matrix(double *matrix, const tmi_calibration *c, const double *counts)
{
    memset(matrix, 0, c->totals * c->totals * sizeof *matrix);
    for (size_t i = 0; i < c->cells; i++) {
        const double *x = c->variables + i * c->totals;
        for (size_t j = 0; j < c->totals; j++) {
            if (x[j] == 0) continue;
            for (size_t k = 0; k < c->totals; k++)
                matrix[j * c->totals + k] += counts[(c->power[j] + c->power[k]) * c->cells + i] *
                                             (c->raking ? c->factors[i] : 1) * x[k];
        }
    }
}

/* The matrix of the regression, with weights count (linear) or count times factor (raking). */
static tamis_status set_normal(tmi_calibration *c, const double *counts, tamis_error *err)
{
    tmi_calibration_matrix(c->normal, c, counts);
    return tmi_normal_factor(c->normal, c->totals, c->watch, err);
}

/* Gives what the calibrated counts lack, and returns the largest of it relative to the totals. */
static double set_gap(double *gap, const tmi_calibration *c, const double *counts, const double *totals)
{
    double worst = 0, size = 0;
    for (size_t j = 0; j < c->totals; j++) {
        gap[j] = totals[j];
        size = fmax(size, fabs(totals[j]));
        for (size_t i = 0; i < c->cells; i++)
            for (size_t p = 0; p < c->powers; p++)
                gap[j] -= c->factors[p * c->cells + i] * counts[(p + c->power[j]) * c->cells + i] *
                          c->variables[i * c->totals + j];
        worst = fmax(worst, fabs(gap[j]));
    }
    return size > 0 ? worst / size : worst > 0 ? INFINITY : 0;
}

void tmi_calibration_leave(tmi_calibration *c)
{
    for (size_t i = 0; i < c->cells * c->powers; i++) c->factors[i] = i < c->cells;
    for (size_t i = 0; i < c->cells; i++) c->squares[i] = 1;
}

/* g^2 is largest at an end of v. */
static double largest_factor_squared(const tmi_calibration *c, size_t cell)
{
    double largest = 0;
    for (size_t k = 0; k < 2; k++) largest = fmax(largest, pow(c->factors[cell] + c->factors[c->cells + cell] * c->ends[k], 2));
    return largest;
}

/* The mean of g^2, at least that of the mean of v in a cell where noise has hidden its rows. It is about that of the rows with
 * large residuals if all answer, for then g is about the same for all rows. If not, g may follow v as far as answers do, and so
 * may the residuals, so that only the largest g^2 is a bound. */
static void set_squares(tmi_calibration *c, const double *counts)
{
    for (size_t i = 0; i < c->cells; i++) {
        const double g = c->factors[i], n = counts[i];
        c->squares[i] = c->powers > 1 && c->answers_vary ? largest_factor_squared(c, i) : g * g;
        if (c->powers == 1 || c->answers_vary || !(n > 0)) continue;
        const double slope = c->factors[c->cells + i], v = fmin(fmax(counts[c->cells + i] / n, -1), 1),
                     square = fmin(fmax(counts[2 * c->cells + i] / n, v * v), 1);
        c->squares[i] += 2 * g * slope * v + slope * slope * square;
    }
}

/* Newton's method: one step is all for 1 + x' lambda, but for rounding; some for exp(x' lambda). Unlike weights of rows, counts
 * with noise may be below 0 where a cell is empty. */
tamis_status tmi_calibration_solve(bool *met, tmi_calibration *c, const double *counts, const double *totals, tamis_error *err)
{
    double gap = INFINITY;
    tamis_status status = TAMIS_OK;
    *met = false;
    tmi_calibration_leave(c);
    for (int round = 0; round < MAX_ROUNDS && isfinite(gap = set_gap(c->slopes, c, counts, totals)) && gap > CLOSE; round++) {
        TMI_TRY(tmi_watch_beat(c->watch, err));
        TMI_TRY(set_normal(c, counts, err));
        tmi_normal_solve(c->slopes, c->normal, c->totals);
        for (size_t i = 0; i < c->cells; i++) {
            double step[2] = {0};
            for (size_t j = 0; j < c->totals; j++) step[c->power[j]] += c->slopes[j] * c->variables[i * c->totals + j];
            c->factors[i] = c->raking ? c->factors[i] * exp(fmin(step[0], 1)) : c->factors[i] + step[0];
            if (c->powers > 1) c->factors[c->cells + i] += step[1];
        }
    }
    TMI_TRY(set_normal(c, counts, err));
    *met = gap <= CLOSE;
    set_squares(c, counts);

done:
    return status;
}
