#include "inference/range.h"

#include <math.h>

#include "measure/contributions.h"
#include "measure/controls.h"

tmi_range tmi_range_of(const tmi_plan_column *column)
{
    if (column->conditions) return (tmi_range){0, 1};
    return (tmi_range){column->grid.step * (double)column->grid.low, column->grid.step * (double)column->grid.high};
}

tmi_range tmi_summed_range(const tmi_schedule *s, size_t i)
{
    const tmi_statistic_map *r = &s->workload.maps[i];
    if (!r->contributed) return tmi_range_of(s->plan->statistics[i].column);
    const tmi_grid grid = tmi_axis_grid(&s->workload, r->x.axis, 0);
    return (tmi_range){grid.from, grid.to};
}

/* Of a total whose bounds are relative to sizes: what the units of a sample contribute at most. */
static tmi_range contributed_range(const tmi_schedule *s, const tmi_result *result)
{
    const tmi_statistic_map *r = &s->workload.maps[result->statistic];
    tmi_range sum = {0, 0};
    for (size_t part = 0; part < s->sampling.parts; part++) {
        const tmi_grid grid = tmi_axis_grid(&s->workload, r->x.axis, part);
        const int64_t rows = tmi_contribution_rows(&s->sampling, part);
        sum.low += grid.low < 0 ? grid.from * (rows > 0 ? (double)rows : INFINITY) : 0;
        sum.high += grid.to * (rows > 0 ? (double)rows : INFINITY);
    }
    return sum;
}

tmi_range tmi_range_with_zero(tmi_range e) { return (tmi_range){fmin(e.low, 0), fmax(e.high, 0)}; }

/* Units of a group at most: of its strata, of the population; infinite where nobody knows. */
double tmi_units_at_most(const tmi_schedule *s, const tmi_result *result)
{
    const tmi_plan_design *d = &s->plan->design;
    int64_t N = tmi_is_in_strata(s, result->statistic) ? 0 : d->population, units = d->kind->clusters ? d->largest : 1;
    bool public = d->population > 0 && units > 0; /* two stages do not declare how large clusters are */
    for (size_t h = 0; tmi_is_in_strata(s, result->statistic) && h < d->stratum_count; h++) {
        if (!tmi_group_has_stratum(s, result->statistic, result->cell, h)) continue;
        N += d->strata[h].population;
        public = public && d->strata[h].population > 0;
    }
    double rows = tmi_counts_rows(s->plan) ? (double)s->plan->privacy.rows_per_unit : 1;
    return public ? rows * (double)N * (double)units : INFINITY;
}

static tmi_range times(tmi_range e, double n) { return (tmi_range){e.low < 0 ? e.low * n : 0, e.high > 0 ? e.high * n : 0}; }

/* Where A/B about the centre lies; infinite if a denominator may be 0. */
tmi_range tmi_ratio_range(const tmi_plan_statistic *t, double centre)
{
    tmi_range x = tmi_range_of(t->column);
    if (!t->second) return (tmi_range){x.low - centre, x.high - centre};
    tmi_range y = tmi_range_of(t->second);
    if (y.low <= 0) return (tmi_range){-INFINITY, INFINITY};
    return (tmi_range){fmin(x.low / y.low, x.low / y.high), fmax(x.high / y.low, x.high / y.high)};
}

/* Where the statistic certainly lies. */
tmi_range tmi_result_range(const tmi_schedule *s, const tmi_result *result)
{
    const tmi_plan_statistic *t = &s->plan->statistics[result->statistic];
    double N = tmi_units_at_most(s, result);
    if (t->column && t->column->times) { /* totals, and totals over N */
        const tmi_range all = contributed_range(s, result);
        return tmi_by_size(t) ? (tmi_range){all.low / N, all.high / N} : all;
    }
    switch (t->kind) {
    case TMI_TOTAL: return times(tmi_range_with_zero(tmi_range_of(t->column)), N);
    case TMI_MEAN:
    case TMI_SHARE: return tmi_by_size(t) ? tmi_range_with_zero(tmi_range_of(t->column)) : tmi_range_of(t->column);
    case TMI_RATIO: {
        tmi_range x = tmi_range_of(t->column), y = tmi_range_of(t->second);
        return y.low > 0 ? tmi_ratio_range(t, 0) : (tmi_range){x.low >= 0 && y.low >= 0 ? 0 : -INFINITY, INFINITY};
    }
    case TMI_VARIANCE: {
        tmi_range x = tmi_range_of(t->column);
        double n = N > 1 && isfinite(N) ? N / (N - 1) : 1;
        return (tmi_range){0, n * (x.high - x.low) * (x.high - x.low) / 4};
    }
    default: return (tmi_range){0, N};
    }
}
