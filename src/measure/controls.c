#include "measure/controls.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tamis/experimental/estimator.h>

#include "base/memory.h"
#include "measure/factors.h"
#include "num/number.h"

/* Control cells, all columns crossed: with TAMIS_MAX_AUXILIARY counts their variables hold 32 MB. */
#define MAX_CELLS 4096

static size_t place_of(const tmi_plan_column *c, const tmi_plan_column *const *by, size_t count)
{
    size_t i = 0;
    while (i < count && by[i] != c) i++;
    return i;
}

size_t tmi_cells_crossed(const tmi_plan_column *const *by, size_t count)
{
    size_t cells = 1;
    for (size_t i = 0; i < count && cells <= MAX_CELLS; i++) cells *= by[i]->value_count;
    return cells;
}

/* The design fixes what this entry says: the population, that of the strata, or of a recode of them. */
static bool is_declared(const tmi_schedule *s, const tmi_plan_control *c)
{
    const tmi_sampling *sampling = &s->sampling;
    bool fixed = sampling->rows_fixed && sampling->weights != TMI_ROWS && !sampling->clustered && s->plan->design.population > 0;
    return fixed && !c->column &&
           (c->by_count == 0 || (c->by_count == 1 && sampling->public_strata && tmi_is_of_strata(&s->plan->design, c->by[0])));
}

static bool agrees(const tmi_plan_control *c, const tmi_plan_design *d)
{
    for (size_t i = 0; i < c->total_count; i++) {
        int64_t declared = 0, total;
        for (size_t h = 0; h < d->stratum_count; h++)
            if (c->by_count == 0 || tmi_code_in_stratum(c->by[0], h) == i) declared += d->strata[h].population;
        if (!tmi_number_floor(&total, c->totals[i]) || total != declared || tmi_number_nearest(c->totals[i]) != (double)declared)
            return false;
    }
    return true;
}

double tmi_control_scale(const tmi_plan_column *x)
{
    return x->grid.step * (double)(llabs(x->grid.low) > llabs(x->grid.high) ? llabs(x->grid.low) : llabs(x->grid.high));
}

size_t tmi_public_counts(const tamis_plan *plan)
{
    size_t totals = 0;
    for (size_t i = 0; i < plan->control_count; i++) totals += plan->controls[i].total_count;
    return totals;
}

/* A cell's codes in the order of `by`, to its number in the order of `coarse`. */
size_t tmi_regroup(const tmi_plan_column *const *coarse, size_t coarse_count, const tmi_plan_column *const *by, size_t by_count,
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
        if (!c->column && own == c->by_count && own == t->by_count) return c->totals[tmi_regroup(c->by, own, t->by, own, group)];
    }
    return NULL;
}

bool tmi_is_in_strata(const tmi_schedule *s, size_t statistic)
{
    const tmi_plan_statistic *t = &s->plan->statistics[statistic];
    bool in = tmi_find_strata(t->by, t->by_count, &s->plan->design) < t->by_count;
    for (size_t k = 0; t->where && k < t->where->condition_count; k++)
        in = in || tmi_is_of_strata(&s->plan->design, t->where->conditions[k].column);
    return in && s->sampling.public_strata;
}

bool tmi_group_has_stratum(const tmi_schedule *s, size_t statistic, size_t group, size_t stratum)
{
    const tmi_plan_statistic *t = &s->plan->statistics[statistic];
    const tmi_plan_design *d = &s->plan->design;
    if (!s->sampling.public_strata) return true;
    for (size_t k = 0; t->where && k < t->where->condition_count; k++) {
        const tmi_plan_condition *c = &t->where->conditions[k];
        if (tmi_is_of_strata(d, c->column) && !tmi_condition_has(c, tmi_code_in_stratum(c->column, stratum))) return false;
    }
    for (size_t k = t->by_count; group != SIZE_MAX && k-- > 0; group /= t->by[k]->value_count)
        if (tmi_is_of_strata(d, t->by[k]) && tmi_code_in_stratum(t->by[k], stratum) != group % t->by[k]->value_count)
            return false;
    return true;
}

tmi_strata_counts tmi_count_strata(const tmi_schedule *s, size_t statistic)
{
    const tmi_plan_statistic *t = &s->plan->statistics[statistic];
    tmi_strata_counts n = {.groups = 1};
    for (size_t h = 0; h < s->sampling.strata; h++) n.strata += tmi_group_has_stratum(s, statistic, SIZE_MAX, h);
    for (size_t k = 0; s->sampling.public_strata && k < t->by_count; k++) {
        if (!tmi_is_of_strata(&s->plan->design, t->by[k])) continue;
        n.groups *= t->by[k]->value_count;
        n.each_in_one = n.each_in_one || t->by[k]->value_count == s->sampling.strata;
    }
    if (n.groups > n.strata) n.groups = n.strata;
    n.each_in_one = n.each_in_one || (n.strata <= 1 && tmi_is_in_strata(s, statistic));
    return n;
}

size_t tmi_group_stratum(const tmi_schedule *s, size_t statistic, size_t group)
{
    const tmi_plan_statistic *t = &s->plan->statistics[statistic];
    size_t found = SIZE_MAX;
    if (!tmi_is_in_strata(s, statistic)) return SIZE_MAX;
    for (size_t k = 0; k < t->by_count; k++) {
        if (t->by[k] != s->plan->design.by) continue;
        const size_t own = tmi_group_code(t, group, k);
        return tmi_group_has_stratum(s, statistic, group, own) ? own : SIZE_MAX;
    }
    for (size_t h = 0; h < s->sampling.strata; h++) {
        if (!tmi_group_has_stratum(s, statistic, group, h)) continue;
        if (found != SIZE_MAX) return SIZE_MAX;
        found = h;
    }
    return found;
}

/* Counts of 1 in every cell, and values with the mean 0 and the variance 1, can be moved onto the public counts and totals,
 * unless those contradict each other. */
static tamis_status check_totals(const tmi_schedule *s, tamis_error *err)
{
    tmi_calibration c;
    double *ones = NULL, *totals = NULL;
    bool met;
    tamis_status status;
    TMI_TRY(tmi_calibration_room(&c, &totals, s, err));
    ones = tmi_alloc(c.cells * TMI_CONTROL_POWERS, sizeof *ones);
    if (!ones) TMI_TRY(tmi_fail_memory(err));
    for (size_t i = 0; i < c.cells; i++) ones[i] = ones[2 * c.cells + i] = 1;
    TMI_TRY(tmi_calibration_solve(&met, &c, ones, totals, err));
    if (!met)
        status = tmi_fail_file(err, TAMIS_INVALID, s->plan->name, 0,
                               "calibrate: no table has all of these counts and totals; do the classifications add up to the "
                               "same number?");

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
            return tmi_fail_file(err, TAMIS_INVALID, s->plan->name, 0, "calibrate: must have at most %d columns in all",
                                 TMI_MAX_BY);
        s->controls[s->control_count++] = c->by[j];
    }
    return TAMIS_OK;
}

/* A number has its products with everything that is measured in the tables: one of them, with the same grid everywhere. */
static tamis_status add_number(tmi_schedule *s, const tmi_plan_column *x, tamis_error *err)
{
    const tamis_plan *plan = s->plan;
    if (s->control_number && s->control_number != x)
        return tmi_fail_file(err, TAMIS_REFUSED, plan->name, 0,
                             "calibrate: a release is calibrated to totals of one number, and here are those of %s and %s, whose "
                             "products would have to be in every table; nearest that works: counts of ranges of one of them, "
                             "{count: units, by: {%s: [...]}, totals: [...]}",
                             s->control_number->name, x->name, x->name);
    if (x->conditions)
        return tmi_fail_file(
            err, TAMIS_REFUSED, plan->name, 0,
            "calibrate: the total of %s is a count; nearest setting that works: write it as one, by the category or "
            "the ranges that it is made from, {count: units, by: ..., totals: ...}",
            x->name);
    if (plan->raking)
        return tmi_fail_file(err, TAMIS_REFUSED, plan->name, 0,
                             "calibrate: raking to the total of %s multiplies weights by a function of each row's value, which "
                             "does not follow from sums; nearest setting that works: `method: linear`, or counts of ranges, "
                             "{count: units, by: {%s: [...]}, totals: [...]}",
                             x->name, x->name);
    if (x->by_stratum || x->contribution || x->unit_contribution || x->times)
        return tmi_fail_file(err, TAMIS_REFUSED, plan->name, 0,
                             "calibrate: total of %s: values with %s are not the same number in all tables; nearest setting that "
                             "works: one range, `from`, `to` and `step`, for all rows",
                             x->name,
                             x->by_stratum     ? "ranges by stratum"
                             : x->contribution ? "`contribution`"
                             : x->times        ? "bounds that follow from a size"
                                               : "`unit_contribution`");
    s->control_number = x;
    return TAMIS_OK;
}

tamis_status tmi_calibration_columns(tmi_schedule *s, tamis_error *err)
{
    const tamis_plan *plan = s->plan;
    tamis_status status = TAMIS_OK;
    bool needed = false;
    for (size_t i = 0; i < plan->control_count; i++) {
        const tmi_plan_control *c = &plan->controls[i];
        if (c->column) TMI_TRY(add_number(s, c->column, err));
        if (plan->design.regularise)
            TMI_TRY(tmi_fail_file(err, TAMIS_REFUSED, plan->name, 0,
                                  "calibrate: cannot be combined with `regularise`, because the bound of its bias would not "
                                  "hold; nearest setting that works: without `regularise`"));
        if (!is_declared(s, c)) needed = true;
        else if (!agrees(c, &plan->design))
            TMI_TRY(
                tmi_fail_file(err, TAMIS_INVALID, plan->name, 0,
                              "calibrate: the counts of entry %zu of `to` differ from those that `design` declares; write the "
                              "same, or leave the entry out",
                              i + 1));
        TMI_TRY(add_columns(s, c, err));
    }
    s->calibrated = needed;
    if (!needed) s->control_count = 0;
    if (!needed) return status;
    if (tmi_public_counts(plan) > TAMIS_MAX_AUXILIARY || tmi_cells_crossed(s->controls, s->control_count) > MAX_CELLS)
        TMI_TRY(tmi_fail_file(err, TAMIS_INVALID, plan->name, 0,
                              "calibrate: must have at most %d counts, and %d cells of all columns crossed", TAMIS_MAX_AUXILIARY,
                              MAX_CELLS));
    TMI_TRY(check_totals(s, err));

done:
    return status;
}

/* By how much factors differ, relative to their mean: by chance, or because some respond less; and what calibration explains. */
#define BY_CHANCE 0.1
#define BY_RESPONSE 0.3
#define EXPLAINED 0.5

/* Whether a level of the axis of calibration is of rows that lack a value of one of its columns: they are in no control cell. */
static bool lacks_value(const tmi_workload *w, size_t level)
{
    const tmi_origin *o = &w->origins[w->control_axis];
    for (size_t k = o->classes_count; k-- > 0;) {
        const tmi_classes *c = &w->classes[o->classes[k]];
        if (level % tmi_classes_levels(c) == c->count) return true;
        level /= tmi_classes_levels(c);
    }
    return false;
}

/* 1 less and 1 more than that, in turn, and 0 of levels in no control cell; 1 where there is one level only. */
static tamis_status make_turns(double **vector, const tmi_schedule *s, size_t statistic, double differ, tamis_error *err)
{
    const size_t levels = tmi_control_levels(&s->workload), powers = tmi_product_powers(&s->workload);
    *vector = NULL;
    if (!tmi_is_calibrated(s, statistic)) return TAMIS_OK;
    *vector = tmi_alloc(levels * powers, sizeof **vector);
    if (!*vector) return tmi_fail_memory(err);
    for (size_t l = 0; l < levels; l++)
        (*vector)[l] = levels == 1 ? 1 : lacks_value(&s->workload, l) ? 0 : l % 2 == 0 ? 1 - differ : 1 + differ;
    for (size_t l = 0; powers > 1 && l < levels; l++) {
        (*vector)[levels + l] = differ * (*vector)[l];
        (*vector)[2 * levels + l] = BY_CHANCE * differ * (*vector)[l];
    }
    return TAMIS_OK;
}

#define SAMPLE_ASSUMED 400 /* where nobody says how large the sample is */

/* The factor of a row with v is about 1 + slope (v - centre): by chance the mean of v is off by its standard deviation over the
 * root of the sample, which the slope makes up for. */
static double expected_slope(double *centre, const tmi_schedule *s, double differ)
{
    const tmi_plan_column *x = s->workload.control_number;
    const tmi_plan_design *d = &s->plan->design;
    const double scale = s->workload.control_scale, low = x->grid.step * (double)x->grid.low / scale,
                 high = x->grid.step * (double)x->grid.high / scale,
                 sd = x->typical_sd ? tmi_number_nearest(x->typical_sd) / scale : (high - low) / 4;
    const double sample = d->sample > 0       ? (double)d->sample
                          : d->typical.sample ? tmi_number_nearest(d->typical.sample)
                                              : SAMPLE_ASSUMED;
    *centre = x->typical ? tmi_number_nearest(x->typical) / scale : (low + high) / 2;
    return fmin(fmax(1 / sqrt(sample), differ * sd) / (sd > 0 ? sd : 1), 1);
}

tamis_status tmi_expected_factors(double **factors, const tmi_schedule *s, size_t statistic, tamis_error *err)
{
    const double differ = s->plan->design.nonresponse ? BY_RESPONSE : BY_CHANCE;
    const size_t levels = tmi_control_levels(&s->workload);
    const tamis_status status = make_turns(factors, s, statistic, differ, err);
    if (status != TAMIS_OK || !*factors || !s->workload.control_number) return status;
    double centre, slope = expected_slope(&centre, s, differ);
    for (size_t l = 0; l < levels; l++) {
        (*factors)[levels + l] = slope * (*factors)[l];
        (*factors)[l] *= 1 - slope * centre;
    }
    return TAMIS_OK;
}

tmi_combination tmi_control_rows_of(const tmi_schedule *s, size_t weighting, const double *factors)
{
    const tmi_workload *w = &s->workload;
    const size_t levels = tmi_control_levels(w);
    tmi_combination rows = {.weighting = weighting, .term_count = tmi_product_powers(w)};
    if (w->control_axis != SIZE_MAX) rows.axes[rows.axis_count++] = w->control_axis;
    if (w->number_axis != SIZE_MAX) rows.axes[rows.axis_count++] = w->number_axis;
    for (size_t p = 0; p < rows.term_count; p++) {
        const double *own = factors ? factors + p * levels : NULL;
        rows.scale[p] = w->control_axis != SIZE_MAX ? 1 : own ? own[0] : 0;
        if (w->control_axis != SIZE_MAX) rows.vectors[0][p] = own;
        if (w->number_axis != SIZE_MAX) rows.vectors[rows.axis_count - 1][p] = w->control_powers[p];
    }
    return rows;
}

tamis_status tmi_expected_controls(tmi_combination *controls, double **vector, const tmi_schedule *s, size_t statistic,
                                   tamis_error *err)
{
    tamis_status status = make_turns(vector, s, statistic, EXPLAINED, err);
    *controls = tmi_control_rows_of(s, tmi_main_weighting(s), *vector);
    return status;
}
