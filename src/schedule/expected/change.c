#include "schedule/expected/change.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/memory.h"
#include "num/exact.h"
#include "num/number.h"
#include "schedule/guesses.h"

#define MANY_VALUES 4 /* of a column, that some of them may be taken together */

/* The other plan: a copy that shares with the first one all that is not changed. */
typedef struct changed {
    const tamis_plan *from;
    tamis_plan plan;
    tmi_plan_stratum *strata;
    tmi_plan_statistic *statistics;
    tmi_plan_column *columns;
    size_t column_count;
    tmi_plan_control *controls;
    tmi_plan_curve *curves;
    tamis_number *deff, *sample, *cluster;
} changed;

/* ---- sample ---- */

static tamis_status enlarge(changed *c, double sample, tamis_error *err)
{
    tmi_plan_design *d = &c->plan.design;
    const double times = sample / (double)d->sample;
    c->strata = tmi_alloc(d->stratum_count, sizeof *c->strata);
    if (!c->strata) return tmi_fail_memory(err);
    d->sample = 0;
    for (size_t h = 0; h < d->stratum_count; h++) {
        tmi_plan_stratum *own = &c->strata[h];
        *own = d->strata[h];
        const double larger = floor((double)own->sample * times + 1e-6); /* exact where there is one stratum */
        own->sample = larger < (double)own->population ? (int64_t)larger : own->population;
        d->sample += own->sample;
    }
    d->strata = c->strata;
    return TAMIS_OK;
}

/* ---- numbers ---- */

static bool is_plain_number(const tmi_plan_column *c) { return c && c->is_number && !c->conditions; }

static int64_t half_of(const tmi_grid *grid) { return (grid->high - grid->low) / 2; }

bool tmi_change_cuts(double *end, bool *is_low, const tmi_plan_column *c)
{
    if (!is_plain_number(c) || c->by_stratum || c->private_share || half_of(&c->grid) < 1) return false;
    const tmi_guessed_value v = tmi_value_of(c);
    *is_low = v.typical && v.mean > (v.low + v.high) / 2;
    *end = c->grid.step * (double)(*is_low ? c->grid.high - half_of(&c->grid) : c->grid.low + half_of(&c->grid));
    return true;
}

static void keep_instead(tmi_plan_column *c)
{
    if (c->instead < c->grid.low) c->instead = c->grid.low;
    if (c->instead > c->grid.high) c->instead = c->grid.high;
}

static void cut(tmi_plan_column *c)
{
    double end;
    bool is_low;
    if (!tmi_change_cuts(&end, &is_low, c)) return;
    const int64_t half = half_of(&c->grid);
    if (is_low) {
        c->grid.low = c->grid.high - half;
        c->grid.from = end;
    } else {
        c->grid.high = c->grid.low + half;
        c->grid.to = end;
    }
    keep_instead(c);
}

static tamis_status set_range(tmi_plan_column *c, const tmi_change *change, tamis_error *err)
{
    tamis_status status;
    c->grid.low = change->low;
    c->grid.high = change->high;
    c->grid.from = (double)change->low * c->grid.step;
    c->grid.to = (double)change->high * c->grid.step;
    keep_instead(c);
    c->typical = c->typical_sd = NULL;
    TMI_TRY(tmi_number_double(&c->typical, fmin(fmax(change->mean, c->grid.from), c->grid.to), err));
    TMI_TRY(tmi_number_double(&c->typical_sd, change->sd, err));

done:
    return status;
}

/* ---- groups ---- */

bool tmi_change_joins(const tamis_plan *plan, const tmi_plan_column *by)
{
    bool joins = by->value_count >= MANY_VALUES && !tmi_is_of_strata(&plan->design, by) && !by->recode_of;
    for (size_t i = 0; i < plan->column_count; i++) joins = joins && plan->columns[i].recode_of != by;
    for (size_t i = 0; i < plan->column_count; i++)
        for (size_t k = 0; k < plan->columns[i].condition_count; k++)
            joins = joins && plan->columns[i].conditions[k].column != by;
    for (size_t i = 0; i < plan->control_count; i++)
        for (size_t k = 0; k < plan->controls[i].by_count; k++) joins = joins && plan->controls[i].by[k] != by;
    return joins;
}

static tamis_status join(tmi_plan_column *c, const tmi_plan_column *from, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    c->value_count = (from->value_count + 1) / 2;
    c->instead = from->instead / 2;
    c->shares = NULL;
    c->cuts = NULL;
    if (from->shares) {
        c->shares = tmi_alloc(c->value_count, sizeof *c->shares);
        if (!c->shares) return tmi_fail_memory(err);
        for (size_t k = 0; k < c->value_count; k++) {
            const size_t second = 2 * k + 1;
            const double share = tmi_share_of(from, 2 * k) + (second < from->value_count ? tmi_share_of(from, second) : 0);
            TMI_TRY(tmi_number_double(&c->shares[k], share, err));
        }
    }
    if (from->cuts) {
        c->cuts = tmi_alloc(c->value_count, sizeof *c->cuts);
        if (!c->cuts) return tmi_fail_memory(err);
        for (size_t k = 0; k + 1 < c->value_count; k++) c->cuts[k] = from->cuts[2 * k + 1];
    }

done:
    return status;
}

/* ---- what is declared ---- */

bool tmi_change_completes(const tamis_plan *plan, const tmi_plan_column *c)
{
    double shares = 0;
    if (c->cut_of || c->conditions || c->recode_of || tmi_is_of_strata(&plan->design, c) || c->missing != TMI_LEAVE_OUT ||
        c->by_stratum || c->times)
        return false;
    if (c->is_number) return !c->typical_share;
    size_t silent = c->shares ? 0 : 1;
    for (size_t k = 0; c->shares && k < c->value_count; k++)
        if (c->shares[k]) shares += tmi_number_nearest(c->shares[k]);
        else silent++;
    return silent > 0 || shares >= 1; /* values with shares of their own leave the rest to the missing ones */
}

static double one_digit_up(double x)
{
    const double unit = pow(10, floor(log10(x)));
    return ceil(x / unit * (1 - 1e-9)) * unit;
}

#define BOUND 2.5 /* mean weights that a bound of contributions allows */

bool tmi_change_contribution(double *bound, const tmi_schedule *s, const tmi_plan_column *c)
{
    const tmi_sampling *p = &s->sampling;
    tmi_sizes z;
    if (!is_plain_number(c) || c->by_stratum || tmi_has_contributions(c) || p->weights != TMI_ROWS || p->clustered) return false;
    tmi_sizes_make(&z, s);
    const tmi_guessed_value v = tmi_value_of(c);
    const double far = fmax(fabs(v.low), fabs(v.high)), largest = (double)p->most * tmi_number_nearest(p->step);
    const double most = BOUND * z.units / z.sample * fmin(fabs(v.mean) + 2 * v.sd, far);
    if (!v.typical || !(most > 0)) return false;
    *bound = one_digit_up(most);
    return *bound < largest * far / 2;
}

bool tmi_change_unit_contribution(double *bound, const tmi_schedule *s, const tmi_plan_column *c)
{
    const tmi_sampling *p = &s->sampling;
    tmi_sizes z;
    if (!is_plain_number(c) || c->by_stratum || tmi_has_contributions(c) || c->unit_contribution || !p->clustered ||
        !tmi_counts_rows(s->plan) || s->calibrated || s->plan->privacy.design_protected)
        return false;
    for (size_t i = 0; i < s->plan->statistic_count; i++) { /* how such totals vary together is not known */
        const tmi_plan_contrast *contrast = s->plan->statistics[i].contrast;
        for (size_t k = 0; contrast && k < contrast->compared_count; k++)
            if (contrast->compared[k].kind == TMI_TOTAL && contrast->compared[k].column == c) return false;
    }
    tmi_sizes_make(&z, s);
    const tmi_guessed_value v = tmi_value_of(c);
    const double far = fmax(fabs(v.low), fabs(v.high)), largest = (double)p->most * tmi_number_nearest(p->step);
    const double weight = fmin(BOUND * z.units / z.sample, largest), most = weight * z.rows * fmin(fabs(v.mean) + 2 * v.sd, far),
                 now = tmi_largest_rows_of_unit(&s->workload, TMI_WEIGHTED, 0) * largest * far;
    if (!v.typical || !(most > 0)) return false;
    *bound = one_digit_up(most);
    return *bound < now / 2;
}

/* Its middle, or its first value. */
static void complete(tmi_plan_column *c)
{
    c->missing = TMI_NEVER;
    c->instead = c->is_number ? c->grid.low + half_of(&c->grid) : 0;
}

static tamis_status declare(changed *c, const tmi_change *change, tamis_error *err)
{
    tmi_plan_design *d = &c->plan.design;
    tamis_status status = TAMIS_OK;
    if (change->deff > 0) {
        TMI_TRY(tmi_number_double(&c->deff, change->deff, err));
        d->deff = c->deff;
        d->cluster = d->strata_label = d->psus = NULL;
        d->typical.cluster = d->typical.cluster_sd = NULL;
    }
    if (change->psus) d->psus = d->cluster; /* any text: what the list says is handed over */
    if (change->sample_guess > 0) {
        TMI_TRY(tmi_number_double(&c->sample, change->sample_guess, err));
        d->typical.sample = c->sample;
    }
    if (change->cluster_guess > 0) {
        TMI_TRY(tmi_number_double(&c->cluster, change->cluster_guess, err));
        d->typical.cluster = c->cluster;
    }

done:
    return status;
}

/* ---- columns of statistics ---- */

static void clear(changed *c)
{
    for (size_t i = 0; i < c->column_count; i++) {
        const tmi_plan_column *from = &c->from->columns[i];
        tmi_plan_column *own = &c->columns[i];
        if (own->contribution != from->contribution) tamis_number_free(own->contribution);
        if (own->unit_contribution != from->unit_contribution) tamis_number_free(own->unit_contribution);
        if (own->conditions != from->conditions) tmi_free(own->conditions);
        if (own->typical != from->typical) tamis_number_free(own->typical);
        if (own->typical_sd != from->typical_sd) tamis_number_free(own->typical_sd);
        for (size_t k = 0; own->shares && own->shares != from->shares && k < own->value_count; k++)
            tamis_number_free(own->shares[k]);
        if (own->shares != from->shares) tmi_free(own->shares);
        if (own->cuts != from->cuts) tmi_free(own->cuts);
    }
    tmi_free(c->columns);
    tmi_free(c->statistics);
    tmi_free(c->strata);
    tmi_free(c->controls);
    tmi_free(c->curves);
    tmi_number_frees(&c->deff, &c->sample, &c->cluster, NULL);
}

static const tmi_plan_column *other(const changed *c, const tmi_plan_column *column)
{
    const tmi_private_bound *bound = column ? tmi_private_bound_of(c->from, column) : NULL;
    if (bound && c->plan.bound_count > 0) return column; /* its range is not the plan's */
    if (bound) column = bound->declared;
    return column ? &c->columns[column - c->from->columns] : NULL;
}

/* Numbers that are added up, and columns that results are by, become other columns. Conditions and distribution functions keep
 * theirs. */
static tamis_status change_columns(changed *c, const tmi_schedule *s, const tmi_change *change, tamis_error *err)
{
    const tamis_plan *from = c->from;
    double bound;
    tamis_status status = TAMIS_OK;
    c->columns = tmi_alloc(from->column_count, sizeof *c->columns);
    c->statistics = tmi_alloc(from->statistic_count, sizeof *c->statistics);
    if (!c->columns || !c->statistics) return tmi_fail_memory(err);
    memcpy(c->columns, from->columns, from->column_count * sizeof *c->columns);
    c->column_count = from->column_count;
    for (size_t i = 0; i < from->column_count; i++) {
        const tmi_plan_column *column = &from->columns[i];
        if (change->half_ranges) cut(&c->columns[i]);
        if (change->public_bounds) c->columns[i].private_share = NULL;
        if (change->column == column) TMI_TRY(set_range(&c->columns[i], change, err));
        if (column->is_category && change->half_groups && tmi_change_joins(from, column))
            TMI_TRY(join(&c->columns[i], column, err));
        if (change->complete && tmi_change_completes(from, column)) complete(&c->columns[i]);
        if (change->contributions && tmi_change_contribution(&bound, s, column))
            TMI_TRY(tmi_number_double(&c->columns[i].contribution, bound, err));
        if (change->of_units == column) {
            c->columns[i].unit_contribution = NULL;
            TMI_TRY(tmi_number_double(&c->columns[i].unit_contribution, change->bound, err));
        }
        if (change->unit_contributions && tmi_change_unit_contribution(&bound, s, column))
            TMI_TRY(tmi_number_double(&c->columns[i].unit_contribution, bound, err));
    }
    for (size_t i = 0; i < from->statistic_count; i++) {
        tmi_plan_statistic *t = &c->statistics[i];
        *t = from->statistics[i];
        if (change->without_groups) t->for_change = false;
        if (is_plain_number(t->column)) t->column = other(c, t->column);
        if (is_plain_number(t->second)) t->second = other(c, t->second);
        for (size_t k = 0; k < t->by_count; k++)
            if (change->half_groups && tmi_change_joins(from, t->by[k])) t->by[k] = other(c, t->by[k]);
    }
    c->plan.statistics = c->statistics;

done:
    return status;
}

/* A column that is complete is so everywhere: all that the plan asks is asked about the other columns. */
static tamis_status move_all(changed *c, tamis_error *err)
{
    const tamis_plan *from = c->from;
    c->controls = tmi_alloc(from->control_count, sizeof *c->controls);
    c->curves = tmi_alloc(from->curve_count, sizeof *c->curves);
    if (!c->controls || !c->curves) return tmi_fail_memory(err);
    for (size_t i = 0; i < from->column_count; i++) {
        tmi_plan_column *own = &c->columns[i];
        own->cut_of = other(c, own->cut_of);
        own->recode_of = other(c, own->recode_of);
        own->joint_of = other(c, own->joint_of);
        own->joint_with = other(c, own->joint_with);
        if (!own->conditions) continue;
        tmi_plan_condition *conditions = tmi_alloc(own->condition_count, sizeof *conditions);
        if (!conditions) return tmi_fail_memory(err);
        for (size_t k = 0; k < own->condition_count; k++) {
            conditions[k] = own->conditions[k];
            conditions[k].column = other(c, conditions[k].column);
        }
        own->conditions = conditions;
    }
    for (size_t i = 0; i < from->statistic_count; i++) {
        tmi_plan_statistic *t = &c->statistics[i];
        t->column = other(c, from->statistics[i].column);
        t->second = other(c, from->statistics[i].second);
        t->where = other(c, t->where);
        for (size_t k = 0; k < t->by_count; k++) t->by[k] = other(c, t->by[k]);
    }
    for (size_t i = 0; i < from->control_count; i++) {
        c->controls[i] = from->controls[i];
        c->controls[i].column = other(c, from->controls[i].column);
        for (size_t k = 0; k < c->controls[i].by_count; k++) c->controls[i].by[k] = other(c, from->controls[i].by[k]);
    }
    for (size_t i = 0; i < from->curve_count; i++) {
        c->curves[i] = from->curves[i];
        c->curves[i].column = other(c, from->curves[i].column);
    }
    c->plan.design.by = other(c, from->design.by);
    for (size_t k = 0; k < from->design.part_count; k++) c->plan.design.parts[k] = other(c, from->design.parts[k]);
    c->plan.columns = c->columns;
    c->plan.controls = c->controls;
    c->plan.curves = c->curves;
    return TAMIS_OK;
}

/* ---- together ---- */

static tamis_status make(changed *c, const tmi_schedule *s, const tmi_change *change, tamis_error *err)
{
    static const size_t all = offsetof(tamis_plan, name); /* but the number of its holders, which others may change now */
    tmi_plan_privacy *privacy = &c->plan.privacy;
    tamis_status status = TAMIS_OK;
    memcpy((char *)&c->plan + all, (const char *)c->from + all, sizeof c->plan - all);
    privacy->secret_sample = false; /* nothing is asked about outsiders */
    if (change->public_bounds) c->plan.bound_count = 0;
    if (change->loss.epsilon || change->loss.rho) {
        const tmi_plan_loss place = privacy->loss;
        privacy->loss = change->loss;
        privacy->loss.line = place.line;
        privacy->loss.column = place.column;
        privacy->loss.by_stratum = place.by_stratum; /* lent: each has the same share of the largest epsilon */
    }
    if (change->setting) privacy->setting = change->setting;
    if (change->sample > 0) TMI_TRY(enlarge(c, change->sample, err));
    TMI_TRY(declare(c, change, err));
    if (change->half_ranges || change->half_groups || change->column || change->complete || change->contributions ||
        change->unit_contributions || change->of_units || change->without_groups || change->public_bounds)
        TMI_TRY(change_columns(c, s, change, err));
    if (change->complete) TMI_TRY(move_all(c, err));

done:
    return status;
}

/* ---- the tables as they are ---- */

/* Whether the tables of a plan serve the changed one: it has many statistics, and the same law of noise. */
static bool keeps_tables(const tmi_schedule *s, const tmi_change *change, const tmi_plan_loss *then)
{
    const tmi_plan_loss *now = &s->plan->privacy.loss;
    const bool same = !now->rho == !then->rho && !now->delta == !then->delta;
    return same && (change->same_tables || s->plan->statistic_count > TMI_FEW_STATISTICS) && s->measurement_count > 0;
}

/* What the parts of the changed plan add up to. */
static tamis_status whole_of(tamis_number **whole, const tmi_schedule *s, const tmi_plan_loss *then, tamis_error *err)
{
    double rho;
    if (then->rho) return tmi_number_copy(whole, then->rho, err);
    if (!s->gaussian) return tmi_number_copy(whole, then->epsilon, err);
    tamis_status status = tmi_budget_rho(&rho, then, s->gaussian, err);
    return status == TAMIS_OK ? tmi_number_double(whole, rho, err) : status;
}

/* The same tables with the same shares of the budget. */
static tamis_status keep_tables(tmi_schedule *made, const tmi_schedule *s, const tamis_plan *plan, tamis_error *err)
{
    tmi_certified_tables certified = {.gaussian = s->gaussian,
                                      .separate_strata = s->workload.separate_strata,
                                      .shared_classes = s->workload.shared_classes,
                                      .clamped = s->sampling.most_clamped,
                                      .frame = tmi_frame_of(s),
                                      .psus = tmi_psus_of(s)};
    tmi_exact e = TMI_EXACT(err);
    tamis_number *whole = NULL;
    tamis_status status;
    certified.marginals = tmi_alloc(s->measurement_count, sizeof *certified.marginals);
    certified.parts = tmi_alloc(s->measurement_count, sizeof *certified.parts);
    if (!certified.marginals || !certified.parts) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(whole_of(&whole, s, &plan->privacy.loss, err));
    for (size_t k = 0; k < s->measurement_count; k++) {
        const tmi_measurement *m = &s->measurements[k];
        certified.marginals[k] = m->marginal;
        TMI_TRY(tmi_exact_copy(&certified.parts[k], &e, tmi_div(&e, tmi_mul(&e, m->part, whole), s->spent)));
        certified.count++;
    }
    TMI_TRY(tmi_schedule_make_watched(made, plan, &certified, s->watch, err));

done:
    for (size_t k = 0; k < certified.count; k++) tamis_number_free(certified.parts[k]);
    tmi_free(certified.parts);
    tmi_free(certified.marginals);
    tamis_number_free(whole);
    tmi_exact_clear(&e);
    return status;
}

/* Tables that are chosen for the changed plan; those of the plan where they serve it and there are many statistics. */
static tamis_status schedule_of(tmi_schedule *made, const tmi_schedule *s, const tmi_change *change, const tamis_plan *plan,
                                tamis_error *err)
{
    const tmi_certified_tables list = {.psus = change->psus};
    if (keeps_tables(s, change, &plan->privacy.loss)) {
        const tamis_status status = keep_tables(made, s, plan, err);
        if (status == TAMIS_OK) made->earlier = s->earlier;
        if (status == TAMIS_OK || status == TAMIS_SYSTEM) return status;
    }
    const tamis_status status = tmi_schedule_make_watched(made, plan, change->psus ? &list : NULL, s->watch, err);
    if (status == TAMIS_OK) made->earlier = s->earlier;
    return status;
}

tamis_status tmi_change_expected(tmi_expected_statistic **list, const tmi_schedule *s, const tmi_change *change, tamis_error *err)
{
    changed c = {.from = s->plan, .plan = {.holders = 1}};
    tmi_schedule schedule = {0};
    tamis_error reason = {0};
    tamis_status status;
    *list = NULL;
    TMI_TRY(make(&c, s, change, &reason));
    TMI_TRY(schedule_of(&schedule, s, change, &c.plan, &reason));
    TMI_TRY(tmi_expected_statistics_make(list, &schedule, &reason));

done:
    tmi_schedule_clear(&schedule);
    clear(&c);
    return status == TAMIS_SYSTEM ? tmi_fail_as(err, &reason) : TAMIS_OK;
}
