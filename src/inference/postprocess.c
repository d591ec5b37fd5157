#include "inference/postprocess.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "inference/adjust.h"
#include "inference/adjusted.h"
#include "inference/calibration.h"
#include "num/number.h"

static const char not_met[] = "the margins could not be met, so the number is left as measured";

static bool is_sum(const tmi_plan_statistic *s)
{
    return s->kind == TMI_COUNT || s->kind == TMI_TABLE || s->kind == TMI_HISTOGRAM || s->kind == TMI_TOTAL;
}

/* The position of column c in `by`; count if it is not there. */
static size_t place_of(const tmi_plan_column *c, const tmi_plan_column *const *by, size_t count)
{
    size_t i = 0;
    while (i < count && by[i] != c) i++;
    return i;
}

static bool within(const tmi_plan_column *const *coarse, size_t coarse_count, const tmi_plan_column *const *fine,
                   size_t fine_count)
{
    for (size_t i = 0; i < coarse_count; i++)
        if (place_of(coarse[i], fine, fine_count) == fine_count) return false;
    return true;
}

/* The coarse cell that a fine cell is part of. */
static size_t coarse_cell(const tmi_plan_column *const *coarse, size_t coarse_count, const tmi_plan_column *const *fine,
                          size_t fine_count, size_t cell)
{
    size_t codes[TMI_MAX_BY], found = 0;
    for (size_t i = fine_count; i-- > 0; cell /= fine[i]->value_count) codes[i] = cell % fine[i]->value_count;
    for (size_t i = 0; i < coarse_count; i++)
        found = found * coarse[i]->value_count + codes[place_of(coarse[i], fine, fine_count)];
    return found;
}

/* ---- a family ---- */

typedef struct family {
    tmi_results *results;
    const tmi_inference *reading;
    size_t *first; /* of each statistic: its cells among the numbers; SIZE_MAX: not of the family */
    size_t count, rows;
    double *t, *covariance, *projection, *constraints, *totals;
    tmi_result **members;
    tmi_family_noise noise;
} family;

static void family_clear(family *f)
{
    tmi_free(f->first);
    tmi_free(f->t);
    tmi_free(f->covariance);
    tmi_free(f->projection);
    tmi_free(f->members);
    tmi_family_noise_clear(&f->noise);
    tmi_free(f->constraints);
    tmi_free(f->totals);
}

static bool is_related(const tmi_plan_statistic *s, const tmi_plan_statistic *t)
{
    return is_sum(s) && is_sum(t) && s->column == t->column && s->where == t->where;
}

static double *row_of(family *f, size_t row) { return f->constraints + row * f->count; }

/* Rows that a pair of statistics needs: a margin is the sum of its parts. */
static size_t margin_rows(const tamis_plan *plan, size_t i, size_t j)
{
    const tmi_plan_statistic *s = &plan->statistics[i], *t = &plan->statistics[j];
    bool margin = plan->postprocess.consistent && i != j && s->by_count <= t->by_count &&
                  within(s->by, s->by_count, t->by, t->by_count) && (s->by_count < t->by_count || i < j);
    return margin ? (size_t)tmi_statistic_cells(s) : 0;
}

static void add_margins(family *f, size_t i, size_t j)
{
    const tmi_plan_statistic *s = &f->results->plan->statistics[i], *t = &f->results->plan->statistics[j];
    size_t margins = margin_rows(f->results->plan, i, j);
    for (size_t cell = 0; cell < margins; cell++) row_of(f, f->rows + cell)[f->first[i] + cell] = 1;
    for (size_t cell = 0; margins > 0 && cell < (size_t)tmi_statistic_cells(t); cell++)
        row_of(f, f->rows + coarse_cell(s->by, s->by_count, t->by, t->by_count, cell))[f->first[j] + cell] = -1;
    f->rows += margins;
}

/* Members, sizes; false if nothing is to be done with the statistics related to `leader`, or an earlier one leads. */
static bool family_find(family *f, size_t leader, size_t *rows)
{
    const tamis_plan *plan = f->results->plan;
    *rows = f->count = 0;
    for (size_t j = 0; j < plan->statistic_count; j++) {
        f->first[j] = SIZE_MAX;
        if (!is_related(&plan->statistics[leader], &plan->statistics[j])) continue;
        if (j < leader) return false;
        f->first[j] = f->count;
        f->count += (size_t)tmi_statistic_cells(&plan->statistics[j]);
    }
    for (size_t i = 0; i < plan->statistic_count; i++) {
        for (size_t j = 0; f->first[i] != SIZE_MAX && j < plan->statistic_count; j++)
            if (f->first[j] != SIZE_MAX) *rows += margin_rows(plan, i, j);
    }
    return *rows > 0;
}

static tamis_status family_fill(family *f, size_t rows, tamis_error *err)
{
    const tamis_plan *plan = f->results->plan;
    f->t = tmi_alloc(f->count, sizeof *f->t);
    f->covariance = tmi_alloc(f->count * f->count, sizeof *f->covariance);
    f->constraints = tmi_alloc(rows * f->count, sizeof *f->constraints);
    f->totals = tmi_alloc(rows, sizeof *f->totals);
    f->projection = tmi_alloc(f->count * f->count, sizeof *f->projection);
    f->members = tmi_alloc(f->count, sizeof *f->members);
    if (!f->t || !f->covariance || !f->projection || !f->constraints || !f->totals || !f->members) return tmi_fail_memory(err);
    for (size_t i = 0; i < f->results->count; i++) {
        tmi_result *result = &f->results->list[i];
        if (f->first[result->statistic] != SIZE_MAX) f->members[f->first[result->statistic] + result->cell] = result;
    }
    for (size_t i = 0; i < plan->statistic_count; i++) {
        for (size_t j = 0; f->first[i] != SIZE_MAX && j < plan->statistic_count; j++)
            if (f->first[j] != SIZE_MAX) add_margins(f, i, j);
    }
    return TAMIS_OK;
}

static void note(tmi_result *result, const char *words)
{
    if (result->note_count < TMI_NOTES) result->notes[result->note_count++] = words;
}

/* The noise that two numbers have in common: that of the cells of one table which both add up. Such cells stand together, and
 * those of one number are all among those of the other, or none is. */
static double common_noise(const family *f, const tmi_result *a, const tmi_result *b)
{
    const tmi_schedule *s = f->results->schedule;
    const tamis_plan *plan = f->results->plan;
    double own_a = fmax(a->noise_sd * a->noise_sd - a->shared_noise, 0),
           own_b = fmax(b->noise_sd * b->noise_sd - b->shared_noise, 0);
    if (a == b) return own_a;
    const tmi_measurement *table = tmi_table_of(s, a->statistic, TMI_NUMERATOR);
    if (!table || table != tmi_table_of(s, b->statistic, TMI_NUMERATOR) || a->known || b->known) return 0;
    size_t each = table->cells / (size_t)tmi_statistic_cells(&plan->statistics[a->statistic]);
    size_t other = table->cells / (size_t)tmi_statistic_cells(&plan->statistics[b->statistic]);
    size_t low = a->cell * each > b->cell * other ? a->cell * each : b->cell * other;
    size_t end = (a->cell + 1) * each < (b->cell + 1) * other ? (a->cell + 1) * each : (b->cell + 1) * other;
    return low < end ? fmin(own_a, own_b) : 0;
}

/* Numbers of one sample add up except for the noise, so only the noise is adjusted: what does not add up is shared out by the
 * variances of the noise, and each number keeps the sampling error that it had. The noise of calibration's counts adds up as
 * the sample does. */
static void set_covariance(family *f)
{
    for (size_t i = 0; i < f->count; i++)
        for (size_t j = 0; j < f->count; j++) f->covariance[i * f->count + j] = common_noise(f, f->members[i], f->members[j]);
}

static tamis_status family_give(family *f, tamis_error *err)
{
    tamis_status status;
    TMI_TRY(tmi_family_noise_make(&f->noise, f->reading, (const tmi_result *const *)f->members, f->count, err));
    for (size_t k = 0; k < f->count; k++) {
        if (f->members[k]->known) continue;
        TMI_TRY(tmi_watch_beat(f->results->schedule->watch, err));
        note(f->members[k], tmi_adjustment_text(TMI_CONSISTENT));
        TMI_TRY(tmi_result_adjust(f->members[k], &f->noise, f->t[k], f->projection + k * f->count, err));
    }

done:
    return status;
}

static bool is_finite(const family *f)
{
    for (size_t k = 0; k < f->count; k++)
        if (!isfinite(f->members[k]->estimate) || !isfinite(f->members[k]->noise_sd)) return false;
    return true;
}

/* What cannot be met leaves the family as it was. */
static void tell_not_met(const family *f)
{
    for (size_t i = 0; i < f->results->count; i++) {
        tmi_result *result = &f->results->list[i];
        if (f->first[result->statistic] != SIZE_MAX && !result->known) note(result, not_met);
    }
}

static tamis_status adjust_family(family *f, size_t leader, tamis_error *err)
{
    size_t rows;
    tamis_error ignored = {0};
    tamis_status status = TAMIS_INVALID;
    if (!family_find(f, leader, &rows)) return TAMIS_OK;
    bool small = f->count <= TMI_MAX_ADJUSTED && rows <= f->count;
    if (small && (status = family_fill(f, rows, err)) != TAMIS_OK) return status;
    if (small && is_finite(f)) {
        set_covariance(f);
        for (size_t k = 0; k < f->count; k++) f->t[k] = f->members[k]->estimate;
        const tmi_controls controls = {f->count, f->rows, f->constraints, f->totals, f->results->schedule->watch};
        status = tmi_adjust_totals(f->t, f->covariance, f->projection, &controls, &ignored);
        if (status == TAMIS_OK) return family_give(f, err);
        if (status == TAMIS_SYSTEM) return tmi_fail(err, status, "%s", ignored.message);
    }
    tell_not_met(f);
    return TAMIS_OK;
}

/* ---- cells ---- */

/* The interval is that of the cells as they were; it is extended to a possible estimate that is outside it. */
static void extend(tmi_result *result)
{
    if (isnan(result->lower) || result->outside_range) return;
    result->lower = fmin(result->lower, result->estimate);
    result->upper = fmax(result->upper, result->estimate);
}

/* The cells of one statistic, with the sum that they have. */
static tamis_status cut_negative(tmi_result *list, size_t cells, tamis_error *err)
{
    double *t = tmi_alloc(cells, sizeof *t), *variances = tmi_alloc(cells, sizeof *variances), total = 0;
    bool fine = t && variances, negative = false;
    size_t cut;
    for (size_t i = 0; fine && i < cells; i++) {
        t[i] = list[i].estimate;
        variances[i] = list[i].se * list[i].se;
        total += t[i];
        negative = negative || t[i] < 0;
    }
    tamis_status status = fine ? TAMIS_OK : tmi_fail_memory(err);
    tamis_error ignored;
    if (fine && negative && tmi_adjust_non_negative(t, &cut, variances, cells, fmax(total, 0), &ignored) == TAMIS_OK) {
        for (size_t i = 0; i < cells; i++) {
            list[i].estimate = t[i];
            list[i].outside_range = t[i] < list[i].least || t[i] > list[i].most;
            extend(&list[i]);
            note(&list[i], tmi_adjustment_text(TMI_NON_NEGATIVE));
        }
    }
    tmi_free(t);
    tmi_free(variances);
    return status;
}

static bool is_not_negative(const tmi_plan_statistic *s)
{
    return is_sum(s) && (!s->column || s->column->conditions || s->column->grid.low >= 0);
}

/* ---- suppression ---- */

/* The sampled rows of every group of a statistic, with noise unless they are public; NaN: nobody counts those of the whole
 * sample. A group's cells are those of one table. */
static void count_units(double *units, const tmi_inference *r, size_t statistic, size_t groups)
{
    const tmi_schedule *s = r->schedule;
    const tmi_measurement *m = tmi_table_of(s, statistic, TMI_GROUP_UNITS);
    for (size_t group = 0; group < groups; group++) {
        int64_t rows = m ? 0 : tmi_public_rows(s, statistic, group);
        units[group] = m || rows > 0 ? (double)rows : TMI_NULL;
    }
    for (size_t cell = 0; m && cell < m->cells; cell++)
        units[tmi_group_in(s, statistic, m, cell)] += (double)r->noisy[s->uses[statistic].table[TMI_GROUP_UNITS]][cell];
}

static void withhold(tmi_result *result, tmi_adjustment rule)
{
    result->estimate = result->se = result->sampling_se = result->noise_sd = TMI_NULL;
    result->lower = result->upper = result->bias = TMI_NULL;
    result->df = -1;
    result->note_count = 0;
    result->reason = tmi_adjustment_text(rule);
    result->outside_range = false;
}

/* The numbers of one statistic. What is public stays. */
static tamis_status suppress(tmi_result *list, size_t cells, const tmi_inference *r, tamis_error *err)
{
    const tmi_plan_postprocess *p = &r->schedule->plan->postprocess;
    const tmi_suppression rules = {p->cv_above ? tmi_number_nearest(p->cv_above) : TMI_NULL,
                                   p->units_below > 0 ? (double)p->units_below : TMI_NULL};
    double *units = tmi_alloc(cells, sizeof *units);
    if (!units) return tmi_fail_memory(err);
    if (p->units_below > 0 && !list->known) count_units(units, r, list->statistic, cells);
    for (size_t i = 0; i < cells; i++) {
        tmi_adjustment rule;
        if (list[i].known || isnan(list[i].estimate)) continue;
        if (tmi_suppress(&rule, rules, list[i].estimate, list[i].se, units[i])) withhold(&list[i], rule);
    }
    tmi_free(units);
    return TAMIS_OK;
}

tamis_status tmi_postprocess(tmi_results *r, const tmi_inference *reading, tamis_error *err)
{
    const tamis_plan *plan = r->plan;
    tamis_status status = TAMIS_OK;
    if (plan->postprocess.consistent) {
        for (size_t leader = 0; leader < plan->statistic_count && status == TAMIS_OK; leader++) {
            family f = {.results = r, .reading = reading, .first = tmi_alloc(plan->statistic_count, sizeof *f.first)};
            status = f.first ? adjust_family(&f, leader, err) : tmi_fail_memory(err);
            family_clear(&f);
        }
    }
    tmi_result *list = r->list;
    for (size_t i = 0; plan->postprocess.nonnegative && i < plan->statistic_count && status == TAMIS_OK; i++) {
        size_t cells = (size_t)tmi_statistic_cells(&plan->statistics[i]);
        if (is_not_negative(&plan->statistics[i]) && !list->known) status = cut_negative(list, cells, err);
        list += cells;
    }
    bool rules = plan->postprocess.cv_above || plan->postprocess.units_below > 0;
    list = r->list;
    for (size_t i = 0; rules && i < plan->statistic_count && status == TAMIS_OK; i++) {
        size_t cells = (size_t)tmi_statistic_cells(&plan->statistics[i]);
        status = suppress(list, cells, reading, err);
        list += cells;
    }
    return status;
}
