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

/* The weighted counts of the control cells. */
static tamis_status add_counts(double *counts, const tmi_calibration *c, const tmi_inference *r, tamis_error *err)
{
    const tmi_schedule *s = r->schedule;
    double *rows = tmi_alloc(c->levels, sizeof *rows);
    if (!rows) return tmi_fail_memory(err);
    for (size_t h = 0; h < tables_of(s); h++) {
        tmi_reconstruct_rows(rows, &r->main, h, s->workload.control_axis);
        for (size_t l = 0; l < c->levels; l++)
            if (tmi_control_cell(c, h, l) != SIZE_MAX) counts[tmi_control_cell(c, h, l)] += weight_of(s, h) * rows[l];
    }
    tmi_free(rows);
    return TAMIS_OK;
}

/* The variance of the noise of the estimate of a public count. */
static tamis_status variance_of(double *variance, const tmi_calibration *c, const tmi_schedule *s, size_t total, tamis_error *err)
{
    double *vector = tmi_alloc(c->levels, sizeof *vector);
    tamis_status status = TAMIS_OK;
    if (!vector) return tmi_fail_memory(err);
    for (size_t h = 0; h < tables_of(s) && status == TAMIS_OK; h++) {
        tmi_parts_of_effects parts = {0};
        for (size_t l = 0; l < c->levels; l++) {
            const size_t cell = tmi_control_cell(c, h, l);
            vector[l] = cell == SIZE_MAX ? 0 : c->variables[cell * c->totals + total];
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

/* Whether every count that is to be moved onto a public one is well above its noise. */
static tamis_status are_certain(bool *certain, const tmi_calibration *c, const tmi_schedule *s, const double *counts,
                                tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    *certain = true;
    for (size_t j = 0; j < c->totals && *certain; j++) {
        double count = 0, variance = 0;
        for (size_t i = 0; i < c->cells; i++) count += c->variables[i * c->totals + j] * counts[i];
        TMI_TRY(variance_of(&variance, c, s, j, err));
        *certain = count > LEAST_CERTAIN * sqrt(variance);
    }

done:
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
    counts = tmi_alloc(c->cells, sizeof *counts);
    c->levels = tmi_control_levels(&s->workload);
    c->cell_of = tmi_alloc(tables_of(s) * c->levels, sizeof *c->cell_of);
    if (!counts || !c->cell_of) TMI_TRY(tmi_fail_memory(err));
    for (size_t h = 0; h < tables_of(s); h++)
        for (size_t l = 0; l < c->levels; l++) c->cell_of[h * c->levels + l] = cell_of_level(s, h, l);
    TMI_TRY(add_counts(counts, c, r, err));
    TMI_TRY(are_certain(&certain, c, s, counts, err));
    if (certain) TMI_TRY(tmi_calibration_solve(&c->met, c, counts, totals, err));
    for (size_t i = 0; i < c->cells && !c->met; i++) c->factors[i] = 1;

done:
    tmi_free(totals);
    tmi_free(counts);
    if (status != TAMIS_OK) tmi_calibration_clear(c);
    return status;
}

void tmi_calibration_regress(double *gamma, const tmi_calibration *c, const double *sums)
{
    memset(c->slopes, 0, c->totals * sizeof *c->slopes);
    for (size_t i = 0; c->met && i < c->cells; i++) {
        double sum = sums[i] * (c->raking ? c->factors[i] : 1);
        for (size_t j = 0; j < c->totals; j++) c->slopes[j] += sum * c->variables[i * c->totals + j];
    }
    tmi_normal_solve(c->slopes, c->normal, c->totals);
    for (size_t i = 0; i < c->cells; i++) {
        gamma[i] = 0;
        for (size_t j = 0; c->met && j < c->totals; j++) gamma[i] += c->slopes[j] * c->variables[i * c->totals + j];
    }
}
