/* How good the quantiles of one file are, from what is public and from the estimates themselves.
 *
 * Ranks. With the stated probability all estimates are within their rank errors at once (mech/quantile/error.c). Where the number
 * n of rows is public and no value is missing, estimate i is then a quantile of the file at a level between at_i - t_i / n and
 * at_i + t_i / n.
 *
 * Values. How far apart in value neighbouring ranks are is not known without measuring it, so one estimate has no interval of
 * values. Several bound each other: if at_a + t_a / n <= at_i, fewer than at_i n records are below estimate a, so that the
 * quantile i of the file is not below it; and likewise from above. That costs nothing: it only reads what is released. */
#include <math.h>

#include "release/statistic.h"

/* Room for the rounding of a product and a sum of doubles. */
#define SLACK 1e-12

static void bound_levels(tamis_statistic *s, size_t i)
{
    const double at = tmi_number_nearest(s->at[i]), n = (double)s->rows;
    s->levels[2 * i] = s->levels[2 * i + 1] = NAN;
    if (s->rows <= 0 || s->weight || !isfinite(s->errors[i])) return;
    s->levels[2 * i] = fmax(0, at - s->errors[i] / n - SLACK);
    s->levels[2 * i + 1] = fmin(1, at + s->errors[i] / n + SLACK);
}

/* Levels must be known. */
static void bound_values(tamis_statistic *s, size_t i)
{
    const double at = tmi_number_nearest(s->at[i]);
    int64_t low = s->quantile->grid.low, high = s->quantile->grid.high;
    for (size_t k = 0; k < s->count; k++) {
        if (s->levels[2 * k + 1] <= at) { /* NaN: no */
            const int64_t end = tmi_quantile_cell(s->quantile, s->points[k]);
            low = end > low ? end : low;
        }
        if (s->levels[2 * k] >= at && s->points[k] < high) high = s->points[k];
    }
    s->ends[2 * i] = low;
    s->ends[2 * i + 1] = high;
}

bool tmi_statistic_has_interval(const tamis_statistic *s, size_t i)
{
    return s->ends[2 * i] > s->quantile->grid.low || s->ends[2 * i + 1] < s->quantile->grid.high;
}

tamis_status tmi_statistic_judge(tamis_statistic *s, tamis_error *err)
{
    tamis_number *confidence = NULL;
    tamis_status status = tamis_number_read(&confidence, TMI_STATISTIC_CONFIDENCE, err);
    for (size_t i = 0; i < s->count && status == TAMIS_OK; i++) {
        const tmi_target *target = &s->quantile->targets[i];
        const double p = (double)target->rank.p, d = (double)target->rank.d;
        tamis_error reason = {0};
        status = tamis_quantile_error(&s->errors[i], s->quantile, i, confidence, 1, &reason);
        if (status == TAMIS_UNABLE) {
            s->no_error = reason;
            status = TAMIS_OK;
        } else if (status != TAMIS_OK) status = tmi_fail_as(err, &reason);
        bound_levels(s, i);
        /* No distance is above max(p, d - p) T, so every point has at least this share of its measure. */
        s->priors[i] = NAN;
        if (s->rows >= 0 && s->quantile->method == TAMIS_QUANTILE_INVERSE)
            s->priors[i] = exp(-tmi_number_up(target->rate) * fmax(p, d - p) * (double)s->rows *
                               (double)s->quantile->most_weight);
    }
    for (size_t i = 0; i < s->count && status == TAMIS_OK; i++) bound_values(s, i);
    tamis_number_free(confidence);
    return status;
}
