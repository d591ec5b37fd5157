#include "inference/calibration.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "measure/classes.h"
#include "num/law/noise.h"
#include "num/number.h"
#include "survey/normal.h"

/* Public counts whose estimates are below this many standard deviations of their noise give no factor: the bias of the ratio,
 * of the order of the square of one over it, would be a considerable part of its error. */
#define LEAST_CERTAIN 4

#define REPEATED 1e-9 /* residuals of a variable below this are rounding: those before it determine it */

/* The control cell of a level in the table of a stratum: the values of the control columns that its classes belong to;
 * SIZE_MAX: a column has none. */
static size_t cell_of_level(const tmi_schedule *s, size_t stratum, size_t level)
{
    const tmi_workload *w = &s->workload;
    static const tmi_origin none;
    const tmi_origin *o = w->control_axis == SIZE_MAX ? &none : &w->origins[w->control_axis];
    size_t own[TMI_MAX_CROSSED], cell = 0;
    for (size_t k = o->classes_count; k-- > 0; level /= tmi_classes_levels(&w->classes[o->classes[k]]))
        own[k] = level % tmi_classes_levels(&w->classes[o->classes[k]]);
    for (size_t i = 0; i < s->control_count; i++) {
        const tmi_plan_column *column = s->controls[i];
        size_t value = 0, k = 0;
        if (tmi_is_separate(w, column)) {
            cell = cell * column->value_count + tmi_code_in_stratum(column, stratum);
            continue;
        }
        const tmi_question q = tmi_question_by(column);
        const size_t classes = tmi_workload_find(w, &q);
        while (k < o->classes_count && o->classes[k] != classes) k++;
        const size_t class = k < o->classes_count ? own[k] : 0; /* a column with a single class has no axis */
        const bool rest = class == w->classes[classes].count;
        while (value < column->value_count && (rest || !tmi_class_has_value(&w->classes[classes], column, value, class))) value++;
        if (value == column->value_count) return SIZE_MAX;
        cell = cell * column->value_count + value;
    }
    return cell;
}

static size_t tables_of(const tmi_schedule *s) { return s->workload.separate_strata ? s->sampling.strata : 1; }

static double weight_of(const tmi_schedule *s, size_t stratum)
{
    return tmi_main_weighting(s) == TMI_UNWEIGHTED ? tmi_number_nearest(s->sampling.weight[stratum]) : 1;
}

/* The weighted counts of the control cells, and sums of v and v^2. */
static tamis_status add_counts(double *counts, const tmi_calibration *c, const tmi_inference *r, tamis_error *err)
{
    const tmi_schedule *s = r->schedule;
    const size_t powers = tmi_product_powers(&s->workload);
    double *rows = tmi_alloc(c->levels * powers, sizeof *rows);
    tamis_status status = TAMIS_OK;
    if (!rows) return tmi_fail_memory(err);
    for (size_t h = 0; h < tables_of(s); h++) {
        TMI_TRY(tmi_reconstruct_rows(rows, &r->main, h, err));
        for (size_t at = 0; at < c->levels * powers; at++) {
            const size_t cell = tmi_control_cell(c, h, at % c->levels);
            if (cell != SIZE_MAX) counts[at / c->levels * c->cells + cell] += weight_of(s, h) * rows[at];
        }
    }

done:
    tmi_free(rows);
    return status;
}

/* The variance of the noise of a sum over control cells, with a coefficient for each power and cell. */
static tamis_status variance_of(double *variance, const tmi_calibration *c, const tmi_schedule *s, const double *coefficients,
                                tamis_error *err)
{
    const size_t count = c->levels * tmi_product_powers(&s->workload);
    double *vector = tmi_alloc(count, sizeof *vector);
    tamis_status status = TAMIS_OK;
    if (!vector) return tmi_fail_memory(err);
    for (size_t h = 0; h < tables_of(s) && status == TAMIS_OK; h++) {
        tmi_parts_of_effects parts = {0};
        for (size_t at = 0; at < count; at++) {
            const size_t cell = tmi_control_cell(c, h, at % c->levels);
            vector[at] = cell == SIZE_MAX ? 0 : coefficients[at / c->levels * c->cells + cell];
        }
        const tmi_combination sum = tmi_control_rows_of(s, tmi_main_weighting(s), vector);
        status = tmi_effects_parts(&parts, &s->effects, &sum, err);
        if (status == TAMIS_OK)
            *variance += pow(weight_of(s, h), 2) * tmi_variance_in_stratum(s, h) * tmi_effects_variance(&s->effects, &parts);
        tmi_parts_of_effects_clear(&parts);
    }
    tmi_free(vector);
    return status;
}

/* Counts come before totals, whatever the order in the plan. */
static bool is_before(const tmi_calibration *c, size_t a, size_t j) { return c->power[a] < c->power[j] || a < j; }

/* The regression of public total j on what comes before it, as the coefficients of the sum of squares of its residuals. `left` is
 * false if that determines it, whatever the sample. */
static tamis_status set_residual(bool *left, double *coefficients, const tmi_calibration *c, const double *counts, size_t j,
                                 tamis_error *err)
{
    double *matrix = tmi_alloc(2 * c->totals + 1, c->totals * sizeof *matrix), *slopes, *own;
    tamis_status status;
    if (!matrix) return tmi_fail_memory(err);
    own = matrix + c->totals * c->totals;
    slopes = own + c->totals * c->totals;
    tmi_calibration_matrix(matrix, c, counts);
    for (size_t a = 0; a < c->totals; a++) {
        slopes[a] = is_before(c, a, j) ? matrix[a * c->totals + j] : 0;
        for (size_t b = 0; b < c->totals; b++) /* a variable of zeros is left out */
            own[a * c->totals + b] = is_before(c, a, j) && is_before(c, b, j) ? matrix[a * c->totals + b] : 0;
    }
    TMI_TRY(tmi_normal_factor(own, c->totals, c->watch, err));
    tmi_normal_solve(slopes, own, c->totals);
    memset(coefficients, 0, TMI_CONTROL_POWERS * c->cells * sizeof *coefficients);
    *left = false;
    for (size_t i = 0; i < c->cells; i++) {
        const double *x = c->variables + i * c->totals;
        double z[2] = {0};
        z[c->power[j]] = x[j];
        for (size_t a = 0; a < c->totals; a++)
            if (is_before(c, a, j)) z[c->power[a]] -= slopes[a] * x[a];
        for (size_t p = 0; p < 4; p++) coefficients[(p / 2 + p % 2) * c->cells + i] += z[p / 2] * z[p % 2];
        *left = *left || fabs(z[0]) > REPEATED || fabs(z[1]) > REPEATED;
    }

done:
    tmi_free(matrix);
    return status;
}

/* Whether a sum is well above its noise. */
static tamis_status is_certain(bool *certain, const tmi_calibration *c, const tmi_schedule *s, const double *counts,
                               const double *coefficients, tamis_error *err)
{
    double sum = 0, variance = 0;
    for (size_t k = 0; k < c->cells * tmi_product_powers(&s->workload); k++) sum += coefficients[k] * counts[k];
    const tamis_status status = variance_of(&variance, c, s, coefficients, err);
    *certain = sum > LEAST_CERTAIN * sqrt(variance);
    return status;
}

/* Whether every count that is to be moved onto a public one is well above its noise; and so is, of every total, the sum of
 * squares that those before it leave, so that the matrix of the regression is far from singular. With the slopes of the noisy
 * matrix it is to first order as certain as with those that would be right, where it is smallest. */
static tamis_status are_certain(bool *certain, const tmi_calibration *c, const tmi_schedule *s, const double *counts,
                                tamis_error *err)
{
    double *coefficients = tmi_alloc(TMI_CONTROL_POWERS * c->cells, sizeof *coefficients);
    tamis_status status = TAMIS_OK;
    if (!coefficients) return tmi_fail_memory(err);
    *certain = true;
    for (size_t j = 0; j < c->totals && *certain; j++) {
        bool left = true;
        memset(coefficients, 0, TMI_CONTROL_POWERS * c->cells * sizeof *coefficients);
        for (size_t i = 0; i < c->cells; i++) coefficients[i] = c->variables[i * c->totals + j];
        if (c->power[j] > 0) TMI_TRY(set_residual(&left, coefficients, c, counts, j, err));
        if (left) TMI_TRY(is_certain(certain, c, s, counts, coefficients, err));
    }

done:
    tmi_free(coefficients);
    return status;
}

tamis_status tmi_calibration_make(tmi_calibration *c, const tmi_inference *r, tamis_error *err)
{
    const tmi_schedule *s = r->schedule;
    double *totals = NULL, *counts = NULL;
    bool certain = false;
    tamis_status status = TAMIS_OK;
    *c = (tmi_calibration){0};
    if (!s->calibrated) return TAMIS_OK;
    TMI_TRY(tmi_calibration_room(c, &totals, s, err));
    counts = tmi_alloc(TMI_CONTROL_POWERS * c->cells, sizeof *counts);
    c->levels = tmi_control_levels(&s->workload);
    c->cell_of = tmi_alloc(tables_of(s) * c->levels, sizeof *c->cell_of);
    if (!counts || !c->cell_of) TMI_TRY(tmi_fail_memory(err));
    for (size_t h = 0; h < tables_of(s); h++)
        for (size_t l = 0; l < c->levels; l++) c->cell_of[h * c->levels + l] = cell_of_level(s, h, l);
    TMI_TRY(add_counts(counts, c, r, err));
    TMI_TRY(are_certain(&certain, c, s, counts, err));
    if (certain) TMI_TRY(tmi_calibration_solve(&c->met, c, counts, totals, err));
    if (!c->met) tmi_calibration_leave(c);

done:
    tmi_free(totals);
    tmi_free(counts);
    if (status != TAMIS_OK) tmi_calibration_clear(c);
    return status;
}

void tmi_calibration_regress(double *gamma, const tmi_calibration *c, const double *sums)
{
    memset(c->slopes, 0, c->totals * sizeof *c->slopes);
    for (size_t i = 0; c->met && i < c->cells; i++)
        for (size_t j = 0; j < c->totals; j++) {
            const double sum = sums[c->power[j] * c->cells + i] * (c->raking ? c->factors[i] : 1);
            c->slopes[j] += sum * c->variables[i * c->totals + j];
        }
    tmi_normal_solve(c->slopes, c->normal, c->totals);
    memset(gamma, 0, c->powers * c->cells * sizeof *gamma);
    for (size_t i = 0; c->met && i < c->cells; i++)
        for (size_t j = 0; j < c->totals; j++)
            gamma[c->power[j] * c->cells + i] += c->slopes[j] * c->variables[i * c->totals + j];
}
