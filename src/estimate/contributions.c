#include "estimate/contributions.h"

#include <math.h>

#include "base/memory.h"
#include "measure/contributions.h"
#include "num/number.h"

/* Weight times value with both inside their bounds. */
static double bounded_product(const tmi_sample *s, const tmi_plan_column *x, double value, size_t row)
{
    const tmi_plan_design *d = &s->plan->design;
    const double weight = d->max_weight ? fmin(s->weights[row], tmi_number_nearest(d->max_weight)) : s->weights[row];
    return weight * fmin(fmax(value, x->grid.from), x->grid.to);
}

/* ---- units ---- */

static tamis_status bound_column(tmi_sample *s, tmi_column_facts *facts, const tmi_plan_column *x, tamis_error *err)
{
    const double *values = tmi_sample_numbers(s, x), most = tmi_number_nearest(x->unit_contribution);
    double *sums = tmi_alloc(s->count, sizeof *sums), *factors = tmi_alloc(s->count, sizeof *factors), all = 0, beyond = 0;
    s->unit_factors[x - s->plan->columns] = factors;
    if (sums && factors) {
        for (size_t row = 0; row < s->count; row++) /* labels are numbered from 0 */
            if (!isnan(values[row])) sums[s->units[row]] += fabs(bounded_product(s, x, values[row], row));
        for (size_t unit = 0; unit < s->count; unit++) {
            all += sums[unit];
            beyond += fmax(sums[unit] - most, 0);
            facts->units_above += sums[unit] > most;
        }
        for (size_t row = 0; row < s->count; row++) factors[row] = fmin(1, most / sums[s->units[row]]);
        facts->beyond = all > 0 ? beyond / all : 0;
    }
    tmi_free(sums);
    return factors && sums ? TAMIS_OK : tmi_fail_memory(err);
}

tamis_status tmi_bound_units(tmi_sample *s, tmi_column_facts *facts, tamis_error *err)
{
    const tamis_plan *plan = s->plan;
    tamis_status status = TAMIS_OK;
    s->unit_factors = tmi_alloc(plan->column_count, sizeof *s->unit_factors);
    if (!s->unit_factors) return tmi_fail_memory(err);
    for (size_t i = 0; i < plan->column_count && status == TAMIS_OK; i++)
        if (plan->columns[i].unit_contribution && s->units && tmi_sample_numbers(s, &plan->columns[i]))
            status = bound_column(s, &facts[i], &plan->columns[i], err);
    return status;
}

/* ---- rows ---- */

/* Weight times value as a release counts it. */
static double clamped_contribution(const tmi_sample *s, const tmi_plan_column *x, double value, size_t row)
{
    const tmi_plan_design *d = &s->plan->design;
    const double weight = d->max_weight ? fmin(s->weights[row], tmi_number_nearest(d->max_weight)) : s->weights[row];
    if (x->unit_contribution) return bounded_product(s, x, value, row) * s->unit_factors[x - s->plan->columns][row];
    if (x->times) {
        const tmi_grid grid = tmi_unit_grid(&s->frame, x, (size_t)s->frame_units[row]);
        return weight * fmin(fmax(value, grid.from), grid.to);
    }
    const double most = tmi_number_nearest(x->contribution);
    return fmin(fmax(bounded_product(s, x, value, row), -most), most);
}

void tmi_clamping_of(tmi_result *result, const tmi_sample *s, const tmi_plan_statistic *t, const uint8_t *domain)
{
    const bool by_unit = tmi_is_bounded_by_unit(t) && s->unit_factors[t->column - s->plan->columns];
    if (!(tmi_is_contributed(t) || by_unit) || (t->column->times && !s->plan->design.frame)) return;
    const double *values = tmi_sample_numbers(s, t->column), N = tmi_by_size(t) ? (double)s->plan->design.population : 1;
    result->clamped = 0;
    for (size_t row = 0; row < s->count; row++) {
        if (!domain[row] || isnan(values[row])) continue;
        const double plain = s->weights[row] * values[row], less = clamped_contribution(s, t->column, values[row], row) - plain;
        if (fabs(less) <= 1e-9 * fabs(plain)) continue;
        result->clamped += less / N;
        result->clamped_rows++;
    }
}
