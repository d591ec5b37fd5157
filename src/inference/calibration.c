#include "inference/calibration.h"

#include <math.h>
#include <string.h>
#include <tamis/estimate.h>

#include "base/memory.h"
#include "schedule/noise_law.h"
#include "survey/normal.h"

/* Rows of a public count below so many standard deviations of their noise make no factor: the ratio's bias, of the order of the square
 * of one over it, would then be no small part of its error. */
#define LEAST_CERTAIN 4

/* Control cells, all columns crossed: with TAMIS_MAX_AUXILIARY counts their variables hold 32 MB. */
#define MAX_CELLS 4096

#define MAX_ROUNDS 100
#define CLOSE 1e-12 /* of the largest total */

/* ---- before the data ---- */

static size_t place_of(const tmi_plan_column *c, const tmi_plan_column *const *by, size_t count)
{
    size_t i = 0;
    while (i < count && by[i] != c) i++;
    return i;
}

static size_t cells_of(const tmi_plan_column *const *by, size_t count)
{
    size_t cells = 1;
    for (size_t i = 0; i < count && cells <= MAX_CELLS; i++) cells *= by[i]->value_count;
    return cells;
}

bool tmi_calibration_cross(const tmi_plan_column **by, size_t *by_count, const tmi_schedule *s)
{
    size_t own = 0;
    for (size_t i = 0; i < *by_count; i++) own += place_of(by[i], s->controls, s->control_count) < s->control_count;
    if (own == *by_count) *by_count = 0; /* one order for all of these: so they find the same table */
    for (size_t i = 0; i < s->control_count; i++) {
        if (place_of(s->controls[i], by, *by_count) < *by_count) continue;
        if (*by_count == TMI_MAX_BY) return false;
        by[(*by_count)++] = s->controls[i];
    }
    return true;
}

/* The design fixes what this entry says: the population, or the strata. */
static bool is_declared(const tmi_schedule *s, const tmi_plan_control *c)
{
    const tmi_sampling *sampling = &s->sampling;
    bool fixed = sampling->rows_fixed && sampling->weights != TMI_ROWS && !sampling->clustered && s->plan->design.population > 0;
    return fixed && (c->by_count == 0 || (c->by_count == 1 && sampling->stays && c->by[0] == s->plan->design.by));
}

static bool agrees(const tmi_plan_control *c, const tmi_plan_design *d)
{
    for (size_t i = 0; i < c->total_count; i++) {
        int64_t declared = c->by_count == 0 ? d->population : d->strata[i].population, total;
        if (!tmi_number_floor(&total, c->totals[i]) || total != declared || tmi_number_nearest(c->totals[i]) != (double)declared) return false;
    }
    return true;
}

static size_t totals_of(const tamis_plan *plan)
{
    size_t totals = 0;
    for (size_t i = 0; i < plan->control_count; i++) totals += plan->controls[i].total_count;
    return totals;
}

/* A cell's codes in the order of `by`, to its number in the order of `coarse`. */
static size_t regroup(const tmi_plan_column *const *coarse, size_t coarse_count, const tmi_plan_column *const *by, size_t by_count,
                      size_t cell)
{
    size_t codes[TMI_MAX_BY + 1], found = 0;
    for (size_t i = by_count; i-- > 0; cell /= by[i]->value_count) codes[i] = cell % by[i]->value_count;
    for (size_t i = 0; i < coarse_count; i++) found = found * coarse[i]->value_count + codes[place_of(coarse[i], by, by_count)];
    return found;
}

const tamis_number *tmi_public_count(const tamis_plan *plan, size_t statistic, size_t group)
{
    const tmi_plan_statistic *t = &plan->statistics[statistic];
    if ((t->kind != TMI_COUNT && t->kind != TMI_TABLE) || t->where) return NULL;
    for (size_t i = 0; i < plan->control_count; i++) {
        const tmi_plan_control *c = &plan->controls[i];
        size_t own = 0;
        for (size_t j = 0; j < c->by_count; j++) own += place_of(c->by[j], t->by, t->by_count) < t->by_count;
        if (!c->column && own == c->by_count && own == t->by_count) return c->totals[regroup(c->by, own, t->by, own, group)];
    }
    return NULL;
}

size_t tmi_group_in(const tmi_schedule *s, size_t statistic, const tmi_measurement *m, size_t cell)
{
    const tmi_plan_statistic *t = &s->plan->statistics[statistic];
    return regroup(t->by, t->by_count, m->by, m->by_count, cell / m->units);
}

size_t tmi_control_cell(const tmi_schedule *s, const tmi_measurement *m, size_t cell)
{
    return regroup(s->controls, s->control_count, m->by, m->by_count, cell / m->units);
}

/* Which cell is part of which public count, and these counts. */
static void fill_variables(double *variables, double *totals, const tmi_schedule *s, size_t cells, size_t count)
{
    size_t first = 0;
    for (size_t i = 0; i < s->plan->control_count; i++) {
        const tmi_plan_control *c = &s->plan->controls[i];
        for (size_t cell = 0; cell < cells; cell++)
            variables[cell * count + first + regroup(c->by, c->by_count, s->controls, s->control_count, cell)] = 1;
        for (size_t j = 0; j < c->total_count; j++) totals[first + j] = tmi_number_nearest(c->totals[j]);
        first += c->total_count;
    }
}

/* ---- factors ---- */

void tmi_calibration_clear(tmi_calibration *c)
{
    tmi_free(c->factors);
    tmi_free(c->variables);
    tmi_free(c->normal);
    tmi_free(c->slopes);
    *c = (tmi_calibration){0};
}

static tamis_status make_room(tmi_calibration *c, const tmi_schedule *s, tamis_error *err)
{
    *c = (tmi_calibration){.cells = cells_of(s->controls, s->control_count), .totals = totals_of(s->plan), .raking = s->plan->raking,
                           .watch = s->watch};
    c->factors = tmi_alloc(c->cells, sizeof *c->factors);
    c->variables = tmi_alloc(c->cells * c->totals, sizeof *c->variables);
    c->normal = tmi_alloc(c->totals * c->totals, sizeof *c->normal);
    c->slopes = tmi_alloc(c->totals, sizeof *c->slopes);
    return c->factors && c->variables && c->normal && c->slopes ? TAMIS_OK : tmi_fail_memory(err);
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

/* What the calibrated counts lack; the largest part of it relative to the totals. */
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
static tamis_status solve(bool *met, tmi_calibration *c, const double *counts, const double *totals, tamis_error *err)
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

/* Counts of 1 in every cell can be moved onto the public counts, unless those contradict each other. */
static tamis_status check_totals(const tmi_schedule *s, tamis_error *err)
{
    tmi_calibration c;
    double *ones = NULL, *totals = NULL;
    bool met;
    tamis_status status;
    TMI_TRY(make_room(&c, s, err));
    ones = tmi_alloc(c.cells, sizeof *ones);
    totals = tmi_alloc(c.totals, sizeof *totals);
    if (!ones || !totals) TMI_TRY(tmi_fail_memory(err));
    fill_variables(c.variables, totals, s, c.cells, c.totals);
    for (size_t i = 0; i < c.cells; i++) ones[i] = 1;
    TMI_TRY(solve(&met, &c, ones, totals, err));
    if (!met)
        status = tmi_fail_file(err, TAMIS_INVALID, s->plan->name, 0,
                               "calibrate: no table has all of these counts; do the classifications add up to the same "
                               "number?");

done:
    tmi_calibration_clear(&c);
    tmi_free(ones);
    tmi_free(totals);
    return status;
}

static tamis_status add_columns(tmi_schedule *s, const tmi_plan_control *c, tamis_error *err)
{
    for (size_t j = 0; j < c->by_count; j++) {
        if (place_of(c->by[j], s->controls, s->control_count) < s->control_count) continue;
        if (s->control_count == TMI_MAX_BY)
            return tmi_fail_file(err, TAMIS_INVALID, s->plan->name, 0, "calibrate: expected at most %d columns in all",
                                 TMI_MAX_BY);
        s->controls[s->control_count++] = c->by[j];
    }
    return TAMIS_OK;
}

tamis_status tmi_calibration_columns(tmi_schedule *s, tamis_error *err)
{
    const tamis_plan *plan = s->plan;
    tamis_status status = TAMIS_OK;
    bool needed = false;
    for (size_t i = 0; i < plan->control_count; i++) {
        const tmi_plan_control *c = &plan->controls[i];
        if (c->column)
            TMI_TRY(tmi_fail_file(err, TAMIS_REFUSED, plan->name, 0,
                                  "calibrate: a release is calibrated to counts, not to the total of a number: that "
                                  "would take the products of %s with everything that is measured; nearest that works: counts of "
                                  "its ranges, {count: units, by: {%s: [...]}, totals: [...]}", c->column->name,
                                  c->column->name));
        if (plan->design.regularise)
            TMI_TRY(tmi_fail_file(err, TAMIS_REFUSED, plan->name, 0,
                                  "calibrate: weights that `regularise` moves are not calibrated: the bound of their bias "
                                  "would not hold; nearest setting that works: without `regularise`"));
        if (!is_declared(s, c)) needed = true;
        else if (!agrees(c, &plan->design))
            TMI_TRY(tmi_fail_file(err, TAMIS_INVALID, plan->name, 0,
                                  "calibrate: the counts are not those that `design` declares"));
        TMI_TRY(add_columns(s, c, err));
    }
    s->calibrated = needed;
    if (!needed) s->control_count = 0;
    if (!needed) return status;
    if (totals_of(plan) > TAMIS_MAX_AUXILIARY || cells_of(s->controls, s->control_count) > MAX_CELLS)
        TMI_TRY(tmi_fail_file(err, TAMIS_INVALID, plan->name, 0,
                              "calibrate: expected at most %d counts, and %d cells of all columns crossed", TAMIS_MAX_AUXILIARY,
                              MAX_CELLS));
    TMI_TRY(check_totals(s, err));

done:
    return status;
}

/* ---- after the noise ---- */

/* The weighted counts of the control cells, and the variances of their noise. */
static void add_counts(double *counts, double *variances, const tmi_schedule *s, size_t table, tmi_int128 *const *noisy)
{
    const tmi_measurement *m = &s->measurements[table];
    const tmi_sampling *sampling = &s->sampling;
    for (size_t cell = 0; cell < m->cells; cell++) {
        size_t h = tmi_cell_stratum(m, cell), c = tmi_control_cell(s, m, cell);
        double unit = tmi_measurement_unit(m, sampling, h);
        if (m->quantity.weighing == TMI_UNWEIGHED) unit *= tmi_number_nearest(sampling->weight[h]);
        double sd = unit * tmi_noise_sd(tmi_cell_law(m, cell)->scale, s->gaussian);
        counts[c] += unit * (double)noisy[table][cell];
        variances[c] += sd * sd;
    }
}

/* Whether every count that is to be moved onto a public one stands out of its noise. */
static bool are_certain(const tmi_calibration *c, const double *counts, const double *variances)
{
    for (size_t j = 0; j < c->totals; j++) {
        double count = 0, variance = 0;
        for (size_t i = 0; i < c->cells; i++) {
            count += c->variables[i * c->totals + j] * counts[i];
            variance += c->variables[i * c->totals + j] * variances[i];
        }
        if (!(count > LEAST_CERTAIN * sqrt(variance))) return false;
    }
    return true;
}

tamis_status tmi_calibration_make(tmi_calibration *c, const tmi_schedule *s, tmi_int128 *const *noisy, tamis_error *err)
{
    size_t table = TMI_NO_TABLE;
    double *totals = NULL, *counts = NULL, *variances = NULL;
    tamis_status status = TAMIS_OK;
    *c = (tmi_calibration){0};
    for (size_t i = 0; i < s->plan->statistic_count; i++) {
        if (tmi_is_calibrated(s, i)) table = s->uses[i].table[TMI_K];
    }
    if (table == TMI_NO_TABLE) return TAMIS_OK;
    TMI_TRY(make_room(c, s, err));
    totals = tmi_alloc(c->totals, sizeof *totals);
    counts = tmi_alloc(c->cells, sizeof *counts);
    variances = tmi_alloc(c->cells, sizeof *variances);
    if (!totals || !counts || !variances) TMI_TRY(tmi_fail_memory(err));
    fill_variables(c->variables, totals, s, c->cells, c->totals);
    add_counts(counts, variances, s, table, noisy);
    if (are_certain(c, counts, variances)) TMI_TRY(solve(&c->met, c, counts, totals, err));
    for (size_t i = 0; i < c->cells && !c->met; i++) c->factors[i] = 1;

done:
    tmi_free(totals);
    tmi_free(counts);
    tmi_free(variances);
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
