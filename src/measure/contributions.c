#include "measure/contributions.h"

#include <math.h>
#include <string.h>

#include "engine/core/engine.h"
#include "measure/controls.h"
#include "measure/regularised.h"
#include "num/exact.h"

/* Steps of a contribution: finer than any noise, and squares of them are exact. */
#define CONTRIBUTION_BITS 24
#define FACTOR_BITS 40 /* of what a step of a value adds, at most */

bool tmi_is_contributed(const tmi_plan_statistic *t) { return tmi_is_sum(t) && tmi_has_contributions(t->column); }

bool tmi_has_contributed(const tmi_schedule *s)
{
    for (size_t i = 0; i < s->plan->statistic_count; i++)
        if (s->workload.maps[i].contributed && !s->workload.maps[i].known) return true;
    return false;
}

/* ---- what is refused ---- */

static const char *reason_against(const tmi_schedule *s, const tmi_plan_statistic *t)
{
    const tamis_plan *plan = s->plan;
    const tmi_sampling *p = &s->sampling;
    if (plan->privacy.design_protected)
        return "with `design_variables: protected` one record moves the weights of the others, and with them their "
               "contributions; "
               "nearest setting that works: {design_variables: public}";
    if (t->column->times && !p->from_frame)
        return "weights come from a column, not from the frame, so that the frame does not bound weight times value; nearest "
               "setting that works: without `weight`, or a number as `to` with `contribution`";
    if (p->weights != TMI_ROWS)
        return "this design has one weight for all units of a stratum: a narrower `to`, by stratum if need be, says the same";
    if (p->clustered)
        return "its sampling variance is not offered for clusters and for several rows per unit; nearest setting that works: "
               "without it, or with a public `deff` in the place of the clusters";
    if (s->calibrated)
        return "it bounds weights of the design, which `calibrate` changes; nearest setting that works: without `calibrate`";
    if (plan->design.regularise) return "`regularise` bounds contributions already; nearest setting that works: one of the two";
    for (size_t i = 0; i < plan->statistic_count; i++)
        if (tmi_has_ranges_by_stratum(&plan->statistics[i]))
            return "it cannot be combined with ranges by stratum of other columns; nearest setting that works: one range for all";
    return NULL;
}

tamis_status tmi_refuse_contributions(const tmi_schedule *s, const tmi_plan_statistic *t, tamis_error *err)
{
    const char *reason = tmi_is_contributed(t) ? reason_against(s, t) : NULL;
    if (!reason) return TAMIS_OK;
    return tmi_fail(err, TAMIS_REFUSED, "%s:%d:%d: %s of %s: %s", s->plan->name, t->line, t->place,
                    t->column->times ? "`to: {times, of}`" : "`contribution`", t->column->name, reason);
}

/* ---- parts ---- */

static int64_t certain_units(const tmi_frame_facts *f)
{
    int64_t certain = 0;
    for (size_t h = 0; f && h < f->count; h++) certain += f->strata[h].certain;
    return certain;
}

/* That certain units are in every file is what keeps a record in its part. */
size_t tmi_contribution_parts(const tamis_plan *plan, const tmi_sampling *s)
{
    bool relative = false;
    for (size_t i = 0; i < plan->statistic_count; i++)
        relative = relative || (tmi_is_contributed(&plan->statistics[i]) && plan->statistics[i].column->times);
    if (!relative || !s->frame || !s->from_frame || !s->rows_fixed || plan->design.max_weight) return 1;
    const int64_t certain = certain_units(s->frame);
    return certain > 0 && certain < plan->design.sample ? 2 : 1;
}

int64_t tmi_contribution_rows(const tmi_sampling *s, size_t part)
{
    if (!s->rows_fixed) return 0;
    if (s->parts == 1) return s->design->sample;
    const int64_t certain = certain_units(s->frame);
    return part == 1 ? certain : s->design->sample - certain;
}

/* The mean of 1 - p over the units of a sample is at most 1 - n/N, of the stratum where that is largest: the p of all units add
 * up to n, and their squares to n^2/N at least. */
static double not_drawn(const tmi_sampling *s)
{
    const tmi_plan_design *d = s->design;
    double most = 0;
    if (d->weight || !d->kind->fixed_size) return 1;
    for (size_t h = 0; h < s->strata; h++) {
        const int64_t certain = s->parts == 2 ? s->frame->strata[h].certain : 0;
        const int64_t population = s->frame ? s->frame->strata[h].units : d->strata[h].population;
        if (population <= certain) return 1;
        most = fmax(most, 1 - (double)(d->strata[h].sample - certain) / (double)(population - certain));
    }
    return most;
}

double tmi_contribution_spread(const tmi_sampling *s, size_t part)
{
    const double rows = (double)tmi_contribution_rows(s, part);
    if (part == 1) return 0;
    const double deff = s->design->deff ? tmi_number_nearest(s->design->deff) : 1;
    return deff * not_drawn(s) * (rows > 1 ? rows / (rows - 1) : 1);
}

/* ---- grids ---- */

/* The largest contribution of a part; of all parts where they are one. */
static tmi_term largest_in(tmi_exact *e, const tmi_sampling *s, const tmi_plan_column *x, size_t part)
{
    if (x->contribution) return x->contribution;
    const tmi_frame_bound *b = tmi_frame_bound_by(s->frame, x->of);
    tmi_term largest = NULL;
    if (b->open && part == 0) largest = b->open;
    if (b->certain && (part == 1 || s->parts == 1)) largest = largest ? tmi_larger(largest, b->certain) : b->certain;
    return tmi_mul(e, x->times, largest);
}

/* Negative values reach as far as the weights let them. */
static tmi_term lowest_in(tmi_exact *e, const tmi_sampling *s, const tmi_plan_column *x, size_t part)
{
    tmi_term weight = part == 1 ? tmi_int(e, 1) : tmi_div(e, tmi_int(e, 1), tmi_frame_smallest(s->frame));
    return tmi_mul(e, tmi_abs(e, x->from), weight);
}

/* With a frame the steps are what they have to be: 2^24 of them up to the bound. */
static tamis_status frame_grids(tmi_origin *o, const tmi_sampling *s, const tmi_plan_column *x, tamis_error *err)
{
    const int64_t high = INT64_C(1) << CONTRIBUTION_BITS;
    double most = 0;
    tmi_exact e = TMI_EXACT(err);
    for (size_t part = 0; part < s->parts; part++) {
        tmi_term largest = largest_in(&e, s, x, part);
        if (largest && x->times && tmi_number_sign(x->from) < 0) largest = tmi_larger(largest, lowest_in(&e, s, x, part));
        if (!largest) break;
        const double bound = tmi_number_nearest(largest), step = bound / (double)high;
        const double weight = part == 1 ? 1 : 1 / tmi_number_nearest(tmi_frame_smallest(s->frame));
        if (!(bound > 0))
            return tmi_exact_clear(&e), tmi_fail(err, TAMIS_INVALID, "design.frame: all sizes in the column %s are 0", x->of);
        o->grids[part] = (tmi_grid){.to = bound, .step = step, .high = high};
        if (tmi_number_sign(x->from) < 0) o->grids[part].from = -bound, o->grids[part].low = -high;
        most = fmax(most, weight * x->grid.step / step);
    }
    const tamis_status status = e.status;
    tmi_exact_clear(&e);
    o->shift = most > 0 ? FACTOR_BITS - ilogb(most) - 1 : 0;
    o->shift = o->shift < 0 ? 0 : o->shift;
    return status;
}

/* Without, the steps are those of weights and values, times a power of two. */
static tamis_status plain_grid(tmi_origin *o, const tmi_sampling *s, const tmi_plan_column *x, tamis_error *err)
{
    tmi_exact e = TMI_EXACT(err);
    tamis_number *copy = NULL;
    int64_t high = 0;
    tmi_term steps = tmi_div(&e, tmi_div(&e, x->contribution, s->step), x->step), two = tmi_int(&e, 2);
    while (steps && tmi_number_compare_int(steps, INT64_C(1) << CONTRIBUTION_BITS) > 0) {
        steps = tmi_div(&e, steps, two);
        o->shift++;
    }
    tamis_status status = tmi_exact_copy(&copy, &e, steps);
    tmi_exact_clear(&e);
    if (status != TAMIS_OK) return status;
    const bool fits = tmi_number_floor(&high, copy) && high >= 1;
    tamis_number_free(copy);
    if (!fits)
        return tmi_fail(err, TAMIS_INVALID,
                        "columns.%s.contribution: must be at least one step of the column times one of the weights", x->name);
    const double step = ldexp(tmi_number_nearest(s->step) * x->grid.step, o->shift);
    o->grids[0] = (tmi_grid){.to = step * (double)high, .step = step, .high = high};
    if (tmi_number_sign(x->from) < 0) o->grids[0].from = -o->grids[0].to, o->grids[0].low = -high;
    return TAMIS_OK;
}

tamis_status tmi_contribution_grids(tmi_origin *o, const tmi_sampling *s, const tmi_plan_column *x, tamis_error *err)
{
    if (x->times && !tmi_frame_bound_by(s->frame, x->of))
        return tmi_fail(err, TAMIS_INVALID, "frame: what it says about the sizes in the column %.200s is missing", x->of);
    const tamis_status status = s->frame && s->from_frame ? frame_grids(o, s, x, err) : plain_grid(o, s, x, err);
    if (status != TAMIS_OK || o->shift <= TMI_ENGINE_MAX_SHIFT) return status;
    return tmi_fail(err, TAMIS_INVALID,
                    "columns.%s.%s: far beyond any weight times value: choose a smaller bound, or a larger `step`", x->name,
                    x->times ? "to" : "contribution");
}

/* ---- units of the frame ---- */

int64_t tmi_contribution_factor(const tmi_schedule *s, const tmi_origin *o, size_t unit)
{
    const size_t part = s->sampling.parts == 2 && tmi_is_certain(s, unit) ? 1 : 0;
    const double most = (double)s->sampling.most * tmi_number_nearest(s->sampling.step);
    const double weight = fmin(1 / s->frame.pi[unit], most);
    return (int64_t)floor(ldexp(weight * o->number->grid.step / o->grids[part].step, o->shift) + 0.5);
}

/* ---- weightings ---- */

tmi_weighting tmi_weighting_of(const tmi_schedule *s, size_t i)
{
    if (tmi_units_of(&s->workload, i)) return TMI_OF_UNITS;
    return s->workload.maps[i].contributed ? TMI_CONTRIBUTED : tmi_main_weighting(s);
}

/* Groups that lie in one stratum have one weight: their squares are in the table of the estimates, weights in it or not. */
static bool lies_in_strata(const tmi_schedule *s, size_t i)
{
    const bool public = tmi_variance_source_of(s) == TMI_MEASURED_ERRORS && s->sampling.weights == TMI_STRATA;
    return public && !s->sampling.clustered && !tmi_is_calibrated(s, i) && tmi_count_strata(s, i).each_in_one;
}

tmi_variance_source tmi_variance_source_for(const tmi_schedule *s, size_t i)
{
    const tmi_plan_contrast *c = s->plan->statistics[i].contrast;
    for (size_t k = 0; c && k < c->compared_count; k++) /* that of the numbers that are compared */
        if (!s->workload.maps[c->compared[k].statistic].known) return tmi_variance_source_for(s, c->compared[k].statistic);
    const tmi_variance_source source = tmi_variance_source_of(s);
    /* fourth moments, which squares of residuals of a line need, are in no table of estimates */
    if (s->plan->statistics[i].kind == TMI_PRODUCTS) return source == TMI_OWN_SQUARES ? TMI_MEASURED_ERRORS : source;
    if (s->workload.maps[i].contributed || lies_in_strata(s, i)) return TMI_OWN_SQUARES;
    return source;
}

bool tmi_reads_products(const tmi_schedule *s, size_t i)
{
    return tmi_has_products(&s->workload, i) && tmi_variance_source_for(s, i) == TMI_OWN_SQUARES;
}
