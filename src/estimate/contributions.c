#include "estimate/contributions.h"

#include <math.h>

#include "measure/contributions.h"
#include "num/number.h"

/* Weight times value as it is, and as a release counts it. */
static double clamped_contribution(const tmi_sample *s, const tmi_plan_column *x, double value, size_t row)
{
    const tmi_plan_design *d = &s->plan->design;
    const double weight = d->max_weight ? fmin(s->weights[row], tmi_number_nearest(d->max_weight)) : s->weights[row];
    if (x->times) {
        const tmi_grid grid = tmi_unit_grid(&s->frame, x, (size_t)s->frame_units[row]);
        return weight * fmin(fmax(value, grid.from), grid.to);
    }
    const double most = tmi_number_nearest(x->contribution), inside = fmin(fmax(value, x->grid.from), x->grid.to);
    return fmin(fmax(weight * inside, -most), most);
}

void tmi_clamping_of(tmi_result *result, const tmi_sample *s, const tmi_plan_statistic *t, const uint8_t *domain)
{
    if (!tmi_is_contributed(t) || (t->column->times && !s->plan->design.frame)) return;
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
