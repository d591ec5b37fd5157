#include "measure/unit_contributions.h"

#include <math.h>

#include "engine/core/engine.h"
#include "num/exact.h"

/* Steps of the bound: finer than any noise, and all rows together stay far below what a release adds up exactly. */
#define BOUND_BITS 24

tamis_status tmi_unit_contributions_make(tmi_domain *d, const tmi_sampling *s, tamis_error *err)
{
    const tmi_plan_column *x = d->number;
    const int64_t far = x->grid.high > -x->grid.low ? x->grid.high : -x->grid.low;
    tmi_exact e = TMI_EXACT(err);
    tamis_number *copy = NULL;
    tmi_term steps = tmi_div(&e, tmi_div(&e, x->unit_contribution, s->step), x->step), two = tmi_int(&e, 2);
    d->shift = 0;
    while (steps && tmi_number_compare_int(steps, INT64_C(1) << BOUND_BITS) > 0) {
        steps = tmi_div(&e, steps, two);
        d->shift++;
    }
    const tamis_status status = tmi_exact_copy(&copy, &e, steps);
    tmi_exact_clear(&e);
    if (status != TAMIS_OK) return status;
    const bool fits = tmi_number_floor(&d->most_of_unit, copy) && d->most_of_unit >= 1;
    tamis_number_free(copy);
    if (!fits)
        return tmi_fail(err, TAMIS_INVALID,
                        "columns.%s.unit_contribution: must be at least one step of the column times one of the weights",
                        x->name);
    /* The product is rounded to the nearest step; a row beyond 2^50 of them counts as so many. */
    const double most = floor(ldexp((double)s->most * (double)far, -d->shift)) + 1,
                 step = ldexp(tmi_number_nearest(s->step) * x->grid.step, d->shift);
    d->grid = (tmi_grid){.step = step, .high = (int64_t)fmin(most, 0x1p50)};
    if (x->grid.low < 0) d->grid.low = -d->grid.high;
    d->grid.from = step * (double)d->grid.low;
    d->grid.to = step * (double)d->grid.high;
    if (d->shift <= TMI_ENGINE_MAX_SHIFT) return TAMIS_OK;
    return tmi_fail(err, TAMIS_INVALID,
                    "columns.%s.unit_contribution: far beyond any weight times value: choose a smaller bound, or a larger `step`",
                    x->name);
}

/* ---- what is refused ---- */

static const char *reason_against(const tmi_schedule *s, const tmi_plan_statistic *t)
{
    if (t->for_change)
        return "totals of groups of clusters are not offered for it; nearest setting that works: without `for_change`";
    if (s->plan->privacy.design_protected)
        return "with `design_variables: protected` one record moves the weights of the others, and with them what these add; "
               "nearest setting that works: {design_variables: public}";
    if (!s->sampling.clustered && !s->plan->design.kind->takes_all)
        return "a public `deff` needs the squares of the values, which are not measured; nearest setting that works: without "
               "`deff`, so that sampling errors are measured";
    if (s->calibrated)
        return "it bounds weights of the design, which `calibrate` changes; nearest setting that works: without `calibrate`";
    for (size_t i = 0; i < s->plan->statistic_count; i++)
        if (tmi_has_ranges_by_stratum(&s->plan->statistics[i]))
            return "it cannot be combined with ranges by stratum of other columns; nearest setting that works: one range for all";
    return NULL;
}

tamis_status tmi_refuse_unit_contributions(const tmi_schedule *s, const tmi_plan_statistic *t, tamis_error *err)
{
    const char *reason = tmi_is_bounded_by_unit(t) ? reason_against(s, t) : NULL;
    if (!reason) return TAMIS_OK;
    return tmi_fail(err, TAMIS_REFUSED, "%s:%d:%d: `unit_contribution` of %s: %s", s->plan->name, t->line, t->place,
                    t->column->name, reason);
}
