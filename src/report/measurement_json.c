/* What a measurement is, as JSON: everything that its sensitivity and its noise follow from, without its numbers. */
#include "base/memory.h"
#include "plan/json.h"
#include "report/promise.h"

static const char *const weighings[] = {
    [TMI_UNWEIGHED] = "none",
    [TMI_WEIGHED] = "weight",
    [TMI_SPREAD] = "spread",
};

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

/* A factor: an indicator is its own grid. */
static void put_factor(tmi_json_out *out, const char *key, const tmi_plan_column *column, int64_t centre, size_t strata)
{
    if (!column) return;
    tmi_json_add_open(out, key, '{');
    tmi_json_add_string(out, "column", column->name);
    tmi_json_add_integer(out, "centre", centre);
    if (!column->conditions) {
        tmi_json_key(out, "grid");
        if (!column->by_stratum) put_grid(out, &(tmi_plan_range){column->from, column->to, column->step, column->grid});
        else tmi_json_open(out, '[');
        for (size_t h = 0; column->by_stratum && h < strata; h++) put_grid(out, &column->by_stratum[h]);
        if (column->by_stratum) tmi_json_close(out, ']');
    }
    tmi_json_close(out, '}');
}

static void put_quantity(tmi_json_out *out, const tmi_schedule *s, const tmi_quantity *q)
{
    tmi_json_open(out, '{');
    tmi_json_add_string(out, "weighed_by", weighings[q->weighing]);
    put_factor(out, "x", q->x, q->centre_x, s->sampling.strata);
    put_factor(out, "y", q->y, q->centre_y, s->sampling.strata);
    if (q->present) tmi_json_add_string(out, "present", q->present->name);
    if (q->present_too) tmi_json_add_string(out, "present_too", q->present_too->name);
    if (q->where) tmi_json_add_string(out, "where", q->where->name);
    tmi_json_close(out, '}');
}

/* What the columns mean that the quantity and the groups only name. */
static void put_columns(tmi_json_out *out, const tmi_schedule *s, const tmi_measurement *m)
{
    const tmi_quantity *q = &m->quantity;
    const tmi_plan_column *const columns[] = {q->x, q->y == q->x ? NULL : q->y, q->present == q->x ? NULL : q->present,
                                              q->present_too, q->where};
    tmi_json_add_open(out, "columns", '[');
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        if (columns[i]) tmi_put_column(out, s->plan, columns[i]);
    }
    for (size_t i = 0; i < m->by_count; i++) tmi_put_column(out, s->plan, m->by[i]);
    tmi_json_close(out, ']');
}

static void put_law(tmi_json_out *out, const tmi_schedule *s, const tmi_measurement *m, size_t h)
{
    const tmi_noise_law *law = &m->laws[h];
    tmi_json_open(out, '{');
    if (m->law_count > 1) tmi_json_add_string(out, "stratum", s->plan->design.strata[h].name);
    tmi_json_add_integer(out, "low", law->low);
    tmi_json_add_integer(out, "high", law->high);
    tmi_json_add_integer(out, "sensitivity", law->l1);
    tmi_add_exact(out, "sensitivity_l2_squared", law->l2_squared);
    tmi_json_add_string(out, "law", s->gaussian ? "discrete_gaussian" : "discrete_laplace");
    tmi_add_exact(out, "scale", law->scale);
    tmi_json_close(out, '}');
}

void tmi_put_measurement(tmi_json_out *out, const tmi_schedule *s, const tmi_measurement *m)
{
    tmi_text text;
    tmi_text_init(&text);
    tmi_json_open(out, '{');
    tmi_measurement_name(&text, m);
    tmi_json_add_taken(out, "name", &text);
    tmi_json_key(out, "row_adds");
    put_quantity(out, s, &m->quantity);
    tmi_json_add_open(out, "by", '[');
    for (size_t i = 0; i < m->by_count; i++) tmi_json_put_string(out, m->by[i]->name);
    tmi_json_close(out, ']');
    put_columns(out, s, m);
    tmi_json_add_integer(out, "variance_units", (int64_t)m->units);
    tmi_json_add_integer(out, "cells", (int64_t)m->cells);
    tmi_json_add_integer(out, "shift", m->shift);
    tmi_json_add_integer(out, "low", m->low);
    tmi_json_add_integer(out, "high", m->high);
    tmi_json_add_open(out, "noise", '[');
    for (size_t h = 0; h < m->law_count; h++) put_law(out, s, m, h);
    tmi_json_close(out, ']');
    tmi_measurement_inequality(&text, m, &s->plan->privacy);
    tmi_json_add_taken(out, "inequality", &text);
    tmi_add_exact(out, s->gaussian ? "rho" : "epsilon", m->part);
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
