/* What a measurement is, as JSON: everything that its sensitivity and its noise follow from, without its numbers. */
#include <math.h>

#include "base/memory.h"
#include "plan/json.h"
#include "plan/json_fields.h"
#include "report/promise.h"
#include "schedule/standard_errors.h"

static const char *const weighings[] = {
    [TMI_UNWEIGHTED] = "none", [TMI_WEIGHTED] = "weight",        [TMI_CONTRIBUTED] = "contribution",
    [TMI_SPREAD] = "spread",   [TMI_CLAMPED] = "clamped spread", [TMI_OF_UNITS] = "unit contribution",
};
static const char *const forms[] = {[TMI_FULL] = "full",
                                    [TMI_RAW] = "raw",
                                    [TMI_CENTRED] = "centred",
                                    [TMI_GRAM_SUMS] = "gram sums",
                                    [TMI_GRAM_SQUARES] = "gram squares"};

static void put_grid(tmi_json_out *out, const tmi_plan_range *range)
{
    const struct {
        const char *key;
        const tamis_number *value;
    } ends[] = {{"from", range->from}, {"to", range->to}, {"step", range->step}};
    tmi_json_open(out, '{');
    for (size_t i = 0; i < 3; i++) { tmi_add_exact(out, ends[i].key, ends[i].value); }
    tmi_json_close(out, '}');
}

/* The classes of a column: of a category the values of each, of a number the points at which they begin; and rows without any. */
static void put_classes(tmi_json_out *out, const tmi_schedule *s, const tmi_classes *c)
{
    tmi_json_open(out, '{');
    tmi_json_key(out, "column");
    tmi_put_column(out, s->plan, c->column);
    if (c->class_of) {
        tmi_json_add_open(out, "classes", '[');
        for (size_t k = 0; k < c->count; k++) {
            tmi_json_open(out, '[');
            for (size_t code = 0; code < c->column->value_count; code++)
                if ((size_t)c->class_of[code] == k) tmi_json_put_string(out, c->column->values[code]);
            tmi_json_close(out, ']');
        }
        tmi_json_close(out, ']');
    } else {
        tmi_json_add_integers(out, "begin", c->cuts, c->count - 1);
    }
    tmi_json_add_boolean(out, "rest", c->rest);
    if (c->is_where) tmi_json_add_boolean(out, "missing_is_no", true);
    tmi_json_close(out, '}');
}

/* What a step of a contribution is worth. */
static void put_step(tmi_json_out *out, double step)
{
    tamis_number *exact = NULL;
    if (tmi_number_double(&exact, step, NULL) == TAMIS_OK) tmi_put_exact_value(out, exact);
    else out->text->failed = true;
    tamis_number_free(exact);
}

/* The points of a contribution, how they are made, and what a step is worth: of units that are not certain, and of certain ones.
 */
static void put_contribution(tmi_json_out *out, const tmi_schedule *s, const tmi_origin *o)
{
    tmi_json_add_open(out, "contribution", '{');
    tmi_json_add_integer(out, "low", o->grids[0].low);
    tmi_json_add_integer(out, "high", o->grids[0].high);
    tmi_json_add_integer(out, "shift", o->shift);
    tmi_json_add_open(out, "step", '[');
    for (size_t part = 0; part < s->sampling.parts; part++) put_step(out, o->grids[part].step);
    tmi_json_close(out, ']');
    tmi_json_close(out, '}');
}

/* What rows add to totals of a number: the points of a row, how they are made, what those of a unit add up to at most, and what
 * a step is worth. */
static void put_unit_contribution(tmi_json_out *out, const tmi_schedule *s, const tmi_domain *d)
{
    tmi_json_add_open(out, "unit_contribution", '{');
    tmi_json_key(out, "column");
    tmi_put_column(out, s->plan, d->number);
    tmi_json_add_integer(out, "low", d->grid.low);
    tmi_json_add_integer(out, "high", d->grid.high);
    tmi_json_add_integer(out, "shift", d->shift);
    tmi_json_add_integer(out, "largest_sum_of_unit", d->most_of_unit);
    tmi_json_key(out, "step");
    put_step(out, d->grid.step);
    tmi_json_close(out, '}');
}

static void put_grids(tmi_json_out *out, const tmi_schedule *s, const tmi_plan_column *column)
{
    const tmi_private_bound *bound = tmi_private_bound_of(s->plan, column);
    if (bound && !bound->found) column = bound->declared; /* a guess says nothing: the same is asked whatever it is */
    tmi_json_key(out, "grid");
    if (!column->by_stratum) put_grid(out, &(tmi_plan_range){column->from, column->to, column->step, column->grid});
    else tmi_json_open(out, '[');
    for (size_t h = 0; column->by_stratum && h < s->sampling.strata; h++) put_grid(out, &column->by_stratum[h]);
    if (column->by_stratum) tmi_json_close(out, ']');
}

static void put_number(tmi_json_out *out, const tmi_schedule *s, size_t axis)
{
    const tmi_origin *o = &s->workload.origins[axis];
    const tmi_plan_column *column = o->number;
    tmi_json_add_open(out, "number", '{');
    tmi_json_key(out, "column");
    tmi_put_column(out, s->plan, column);
    if (o->contributed) put_contribution(out, s, o);
    else put_grids(out, s, column);
    tmi_json_add_integer(out, "degree", s->workload.axes[axis].degree);
    tmi_json_add_string(out, "missing", s->workload.axes[axis].missing ? "level" : o->zero ? "zero" : NULL);
    tmi_json_close(out, '}');
}

static void put_axis(tmi_json_out *out, const tmi_schedule *s, size_t axis)
{
    const tmi_origin *o = &s->workload.origins[axis];
    tmi_json_open(out, '{');
    if (o->number) {
        put_number(out, s, axis);
    } else {
        tmi_json_add_open(out, "crossed", '[');
        for (size_t k = 0; k < o->classes_count; k++) put_classes(out, s, &s->workload.classes[o->classes[k]]);
        tmi_json_close(out, ']');
    }
    tmi_json_add_integer(out, "levels", (int64_t)s->workload.axes[axis].levels);
    tmi_json_close(out, '}');
}

static void put_law(tmi_json_out *out, const tmi_schedule *s, const tmi_measurement *m, size_t h)
{
    const tmi_noise_law *law = &m->laws[h];
    tmi_json_open(out, '{');
    if (m->strata > 1 && m->marginal.weighting == TMI_CONTRIBUTED) tmi_json_add_string(out, "units", h == 1 ? "certain" : "open");
    else if (m->strata > 1) tmi_json_add_string(out, "stratum", s->plan->design.strata[h].name);
    tmi_add_exact(out, "row_adds_at_most", law->most);
    tmi_json_add_integer(out, "sensitivity", law->l1);
    tmi_add_exact(out, "sensitivity_l2_squared", law->l2_squared);
    tmi_json_add_string(out, "law", tmi_noise_name(s->gaussian));
    tmi_add_exact(out, "scale", law->scale);
    tmi_json_close(out, '}');
}

/* What the second stage follows from beside the noisy tables: what its table of secret totals moves by, from one place to another
 * and within one, in how many numbers a row is, and the public guesses that decide on blocks. */
static void put_errors(tmi_json_out *out, const tmi_schedule *s, const tmi_measurement *m)
{
    const tmi_cluster_guess g = tmi_cluster_guess_of(s);
    tmi_json_add_open(out, "of", '{'); /* names leave out cuts and methods, and may be those of two */
    tmi_put_asked(out, &s->plan->statistics[m->marginal.statistic]);
    tmi_json_close(out, '}');
    tmi_json_add_integer(out, "table_moves", m->moved);
    if (!tmi_method_of(m->marginal.weighting)->slots) tmi_json_add_integer(out, "moves_within", m->within);
    tmi_json_add_integer(out, "overlap", tmi_errors_overlap(s, m->marginal.statistic));
    if (m->numbers > 1 && tmi_subtracts_explained(s, m->marginal.statistic)) tmi_json_add_boolean(out, "together", true);
    tmi_json_key(out, "mean_weight");
    put_step(out, tmi_mean_weight(s));
    tmi_json_key(out, "rows_of_psu");
    put_step(out, g.rows);
    tmi_json_key(out, "cv_of_psus");
    put_step(out, g.cv);
}

void tmi_put_measurement(tmi_json_out *out, const tmi_schedule *s, const tmi_measurement *m)
{
    tmi_text text;
    tmi_text_init(&text);
    tmi_json_open(out, '{');
    tmi_measurement_name(&text, m, &s->workload);
    tmi_json_add_taken(out, "name", &text);
    const tmi_error_method *method = tmi_method_of(m->marginal.weighting);
    tmi_json_add_string(out, "weighed_by", method ? method->weighed : weighings[m->marginal.weighting]);
    if (method) put_errors(out, s, m);
    if (s->workload.domains[m->marginal.domain].where) {
        tmi_json_key(out, "where");
        tmi_put_column(out, s->plan, s->workload.domains[m->marginal.domain].where);
    }
    if (s->workload.domains[m->marginal.domain].number) put_unit_contribution(out, s, &s->workload.domains[m->marginal.domain]);
    tmi_json_add_open(out, "axes", '[');
    for (size_t i = 0; i < m->marginal.axis_count; i++) put_axis(out, s, m->marginal.axes[i]);
    tmi_json_close(out, ']');
    tmi_json_add_string(out, "form", forms[m->marginal.form]);
    tmi_json_add_integer(out, "strata", (int64_t)m->strata);
    tmi_json_add_integer(out, "slots", (int64_t)m->slots);
    tmi_json_add_integer(out, "cells", (int64_t)m->cells);
    tmi_json_add_integer(out, "levels", (int64_t)m->levels);
    tmi_json_add_integer(out, "shift", m->shift);
    tmi_json_add_boolean(out, "rounded", m->rounded);
    tmi_json_add_integer(out, "clamp", m->high);
    tmi_json_add_open(out, "noise", '[');
    for (size_t h = 0; h < m->strata; h++) put_law(out, s, m, h);
    tmi_json_close(out, ']');
    tmi_measurement_inequality(&text, m, &s->workload);
    tmi_json_add_taken(out, "inequality", &text);
    tmi_add_exact(out, s->gaussian ? "rho" : "epsilon", m->part);
}

void tmi_put_psu_layout(tmi_json_out *out, const tmi_psu_layout *layout)
{
    if (layout->count == 0) return;
    tmi_json_add_open(out, "psu_strata", '[');
    for (size_t h = 0; h < layout->count; h++) {
        tmi_json_open(out, '{');
        tmi_json_add_integer(out, "psus", layout->strata[h].psus);
        tmi_json_add_integer(out, "slots", layout->strata[h].slots);
        if (layout->strata[h].population > 0) tmi_json_add_integer(out, "population", layout->strata[h].population);
        tmi_json_close(out, '}');
    }
    tmi_json_close(out, ']');
}

/* ---- the design ---- */

static void put_sizes(tmi_json_out *out, int64_t population, int64_t sample, const tamis_number *rate)
{
    if (population > 0) tmi_json_add_integer(out, "population", population);
    if (sample > 0) tmi_json_add_integer(out, "sample", sample);
    if (!rate) return;
    tmi_add_exact(out, "rate", rate);
}

void tmi_put_design(tmi_json_out *out, const tmi_schedule *s)
{
    const tmi_plan_design *d = &s->plan->design;
    tmi_plan_design within = *d;
    within.by = NULL;
    tmi_json_open(out, '{');
    tmi_json_add_open(out, tmi_design_name(d), '{');
    if (d->by) {
        tmi_json_add_string(out, "by", d->by->name);
        tmi_json_add_string(out, "within", tmi_design_name(&within));
        tmi_json_add_open(out, "strata", '{');
        for (size_t h = 0; h < d->stratum_count; h++) {
            tmi_json_add_open(out, d->strata[h].name, '{');
            put_sizes(out, d->strata[h].population, d->strata[h].sample, d->strata[h].rate);
            tmi_json_close(out, '}');
        }
        tmi_json_close(out, '}');
    } else {
        put_sizes(out, d->population, d->sample, d->strata[0].rate);
    }
    tmi_json_close(out, '}');
    tmi_json_close(out, '}');
}
