/* How far an answer is from the quantile, before any data is read.
 *
 * The points at a distance of at least t have together at most the measure m of the whole grid times exp(-rate t); the points at
 * distance 0 have at least the measure m_0 of one point, or of as many as the caller knows to be within one step. So
 *
 *     P(distance >= t) <= (m / m_0) exp(-rate t),      t = log(m / (m_0 beta)) / rate. */
#include <math.h>

#include "mech/quantile/quantile.h"

typedef struct question {
    const tamis_quantile *quantile;
    const tmi_target *target;
    const tamis_number *confidence;
    int64_t points;
} question;

/* In units of the largest weight: the rate is per 1/d of a weight unit. */
static tamis_status formula(tmi_ball *z, const void *context, long bits, tamis_error *err)
{
    const question *k = context;
    const tamis_quantile *q = k->quantile;
    const int64_t all = q->grid.high - q->grid.low + 1, points = k->points < all ? k->points : all;
    tmi_ball x, y;
    (void)err;
    tmi_ball_inits(&x, &y, NULL);
    if (q->log_unit) { /* the points with the least measure are the last ones */
        tmi_ball_set_number(&y, q->log_unit, bits);
        tmi_ball_set_int(&x, all);
        tmi_ball_div(&x, &x, &y, bits);
        tmi_ball_log1p(z, &x, bits);
        tmi_ball_add_int(&y, &y, all - points, bits);
        tmi_ball_set_int(&x, points);
        tmi_ball_div(&x, &x, &y, bits);
        tmi_ball_log1p(&x, &x, bits);
        tmi_ball_div(z, z, &x, bits);
    } else {
        tmi_ball_set_int(z, all);
        tmi_ball_div_int(z, z, points, bits);
    }
    tmi_ball_set_number(&x, k->confidence, bits);
    tmi_ball_neg(&x, &x);
    tmi_ball_add_int(&x, &x, 1, bits);
    tmi_ball_div(z, z, &x, bits);
    tmi_ball_log(z, z, bits);
    tmi_ball_set_number(&x, k->target->rate, bits);
    tmi_ball_div(z, z, &x, bits);
    tmi_ball_div_int(z, z, k->target->rank.d, bits);
    tmi_ball_div_int(z, z, q->most_weight, bits);
    if (k->points > 1) tmi_ball_add_int(z, z, 1, bits); /* those points are up to one step away */
    tmi_ball_clears(&x, &y, NULL);
    return TAMIS_OK;
}

tamis_status tamis_quantile_error(double *rank_error, const tamis_quantile *quantile, size_t number,
                                  const tamis_number *confidence, int64_t points, tamis_error *err)
{
    tamis_bound bound;
    if (!rank_error) return tmi_fail(err, TAMIS_INVALID, "rank_error: NULL");
    *rank_error = INFINITY;
    if (!quantile) return tmi_fail(err, TAMIS_INVALID, "quantile: NULL");
    if (number >= quantile->count) return tmi_fail(err, TAMIS_INVALID, "number: there are fewer quantiles");
    if (quantile->method != TAMIS_QUANTILE_INVERSE)
        return tmi_fail(err, TAMIS_UNABLE, "method: no bound of the error of one quantile is known for this one");
    if (!confidence) return tmi_fail(err, TAMIS_INVALID, "confidence: NULL");
    if (tmi_number_sign(confidence) <= 0 || tmi_number_compare_int(confidence, 1) >= 0)
        return tmi_fail(err, TAMIS_INVALID, "confidence must be above 0 and below 1");
    if (points < 1) return tmi_fail(err, TAMIS_INVALID, "points must be at least 1");
    const question k = {quantile, &quantile->targets[number], confidence, points};
    tamis_status status = tmi_certify(&bound, TAMIS_WIDTH, formula, &k, err);
    if (status == TAMIS_OK) *rank_error = bound.upper;
    return status;
}
