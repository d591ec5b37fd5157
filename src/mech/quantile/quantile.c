#include "mech/quantile/quantile.h"

#include <math.h>

#include "base/memory.h"
#include "num/exact.h"

#define MOST_ROWS (INT64_C(1) << 20)
#define MOST_EPSILON 1000
#define LEAST_LOG_UNIT "1/1000000" /* of a step */

/* Where the window ends: its outside weighs less than this share of the grid's points, so that a draw asks for it with probability
 * below 2^-40, whatever the data is. */
static const double window_nats = 48 * 0.69314718055994531;

void tamis_quantile_free(tamis_quantile *q)
{
    if (!q) return;
    tmi_number_frees(&q->rate, &q->log_unit, NULL);
    tmi_uniform_wipe(&q->bits);
    tmi_free(q);
}

tamis_status tmi_quantile_fraction(int64_t *p, int64_t *d, const tamis_number *at, tamis_error *err)
{
    tmi_exact e = TMI_EXACT(err);
    tamis_number *unit = NULL;
    tamis_status status;
    bool fits = false;
    *p = *d = 0;
    if (!at) return tmi_fail(err, TAMIS_INVALID, "at: NULL");
    if (tmi_number_sign(at) <= 0 || tmi_number_compare_int(at, 1) >= 0)
        return tmi_fail(err, TAMIS_INVALID, "at must be above 0 and below 1");
    tmi_term one = tmi_int(&e, 1);
    TMI_TRY(e.status);
    TMI_TRY(tmi_number_gcd(&unit, at, one, err)); /* 1/d */
    tmi_term bottom = tmi_div(&e, one, unit), top = tmi_mul(&e, at, bottom);
    TMI_TRY(e.status);
    fits = tmi_number_floor(d, bottom) && tmi_number_floor(p, top) && *d <= TMI_AT_MOST;
    if (!fits) status = tmi_fail(err, TAMIS_INVALID, "at must be a fraction with a denominator of at most 2^30");
done:
    tamis_number_free(unit);
    tmi_exact_clear(&e);
    if (status != TAMIS_OK) *p = *d = 0;
    return status;
}

static tamis_status check(const tamis_quantile_setup *s, tamis_error *err)
{
    if (!s->epsilon) return tmi_fail(err, TAMIS_INVALID, "epsilon: NULL");
    if (tmi_number_sign(s->epsilon) <= 0 || tmi_number_compare_int(s->epsilon, MOST_EPSILON) > 0)
        return tmi_fail(err, TAMIS_INVALID, "epsilon must be above 0 and at most %d", MOST_EPSILON);
    if (s->rows_per_unit < 0 || s->rows_per_unit > MOST_ROWS)
        return tmi_fail(err, TAMIS_INVALID, "rows_per_unit must be at least 1 and at most 2^20");
    if (s->max_weight < 0 || s->max_weight > TMI_WEIGHT_MOST)
        return tmi_fail(err, TAMIS_INVALID, "max_weight must be at least 1 and at most 2^40");
    return TAMIS_OK;
}

/* rate = epsilon / (2 S), and how far the window reaches. */
static tamis_status set_rate(tamis_quantile *q, const tamis_number *epsilon, tamis_error *err)
{
    const int64_t p = q->rank.p, d = q->rank.d, change = !q->add_remove ? d : p > d - p ? p : d - p;
    tmi_exact e = TMI_EXACT(err);
    tmi_term most = tmi_mul(&e, tmi_mul(&e, tmi_int(&e, change), tmi_int(&e, q->rows_per_unit)), tmi_int(&e, q->most_weight));
    tamis_status status = tmi_exact_copy(&q->rate, &e, tmi_div(&e, epsilon, tmi_mul(&e, tmi_int(&e, 2), most)));
    tmi_exact_clear(&e);
    if (status != TAMIS_OK) return status;
    const double points = (double)(q->grid.high - q->grid.low) + 2;
    const double reach = ceil((3 * log(points) + window_nats) / tmi_number_down(q->rate));
    q->rank.reach = reach < 0x1p120 ? (tmi_int128)reach : (tmi_int128)1 << 120; /* a loss is below 2^92: then all are inside */
    return TAMIS_OK;
}

static tamis_status set_log_unit(tamis_quantile *q, const tamis_number *unit, const tamis_number *step, tamis_error *err)
{
    tamis_number *least = NULL;
    tamis_status status = TAMIS_OK;
    if (!unit) return TAMIS_OK;
    TMI_TRY(tmi_number_div(&q->log_unit, unit, step, err));
    TMI_TRY(tamis_number_read(&least, LEAST_LOG_UNIT, err));
    if (tmi_number_compare(q->log_unit, least) < 0)
        status = tmi_fail(err, TAMIS_INVALID, "log_unit must be at least a millionth of the step");
done:
    tamis_number_free(least);
    return status;
}

tamis_status tamis_quantile_new(tamis_quantile **quantile, const tamis_quantile_setup *s, tamis_error *err)
{
    tamis_quantile *q = NULL;
    tamis_status status;
    if (!quantile) return tmi_fail(err, TAMIS_INVALID, "quantile: NULL");
    *quantile = NULL;
    if (!s) return tmi_fail(err, TAMIS_INVALID, "setup: NULL");
    TMI_TRY(check(s, err));
    if (!(q = tmi_alloc(1, sizeof *q))) TMI_TRY(tmi_fail_memory(err));
    q->add_remove = s->add_remove != 0;
    q->rows_per_unit = s->rows_per_unit > 0 ? s->rows_per_unit : 1;
    q->most_weight = s->max_weight > 0 ? s->max_weight : 1;
    q->weighted = s->max_weight > 0;
    TMI_TRY(tmi_grid_set(&q->grid, s->from, s->to, s->step, err));
    TMI_TRY(tmi_quantile_fraction(&q->rank.p, &q->rank.d, s->at, err));
    TMI_TRY(set_log_unit(q, s->log_unit, s->step, err));
    TMI_TRY(set_rate(q, s->epsilon, err));
    *quantile = q;
    q = NULL;
done:
    tamis_quantile_free(q);
    return status;
}

void tamis_quantile_grid(int64_t *low, int64_t *high, const tamis_quantile *quantile)
{
    if (low) *low = quantile ? quantile->grid.low : 0;
    if (high) *high = quantile ? quantile->grid.high : 0;
}

tamis_status tamis_quantile_prepare(tamis_quantile *quantile, tamis_rng *rng, tamis_error *err)
{
    if (!quantile) return tmi_fail(err, TAMIS_INVALID, "quantile: NULL");
    if (!rng) return tmi_fail(err, TAMIS_INVALID, "rng: NULL");
    return tmi_uniform_begin(&quantile->bits, rng, err);
}

/* ---- with the data ---- */

tamis_status tmi_quantile_records(tmi_records *records, const tamis_quantile *q, const double *values, const int64_t *points,
                                  const int64_t *weights, size_t count, tamis_error *err)
{
    *records = (tmi_records){
        .points = points, .values = values, .weights = weights, .count = count, .most_weight = q->most_weight, .grid = &q->grid};
    if (count > 0 && !values && !points) return tmi_fail(err, TAMIS_INVALID, "values: NULL");
    if (count > 0 && q->weighted && !weights) return tmi_fail(err, TAMIS_INVALID, "weights: NULL, and there is a max_weight");
    if (!q->weighted && weights) return tmi_fail(err, TAMIS_INVALID, "max_weight: weights need one");
    return TAMIS_OK;
}

/* The blocks of all grid points, from all records or from those around the rank. */
static tamis_status make_blocks(tmi_blocks *blocks, const tamis_quantile *q, const tmi_records *records, bool all,
                                tamis_error *err)
{
    tmi_window window;
    tamis_status status = tmi_window_make(&window, records, all ? NULL : &q->rank, err);
    if (status != TAMIS_OK) return status;
    status = tmi_blocks_make(blocks, &window, q->grid.low, q->grid.high, q->rank.p, q->rank.d, err);
    tmi_window_clear(&window);
    return status;
}

tamis_status tmi_quantile_law(tamis_bound *law, const tamis_quantile *q, const tmi_records *records, tamis_error *err)
{
    const tmi_base_measure measure = {q->log_unit, q->grid.low};
    tmi_blocks blocks = {0};
    tamis_status status;
    TMI_TRY(make_blocks(&blocks, q, records, true, err));
    TMI_TRY(tmi_blocks_law(law, &blocks, &measure, q->rate, err));
done:
    tmi_blocks_clear(&blocks);
    return status;
}

static tamis_status answer(int64_t *point, tamis_quantile *q, const double *values, const int64_t *points, const int64_t *weights,
                           size_t count, tamis_rng *rng, tamis_error *err)
{
    tmi_blocks blocks = {0};
    tmi_records records;
    bool beyond;
    tamis_status status;
    if (!point) return tmi_fail(err, TAMIS_INVALID, "point: NULL");
    *point = 0;
    if (!q) return tmi_fail(err, TAMIS_INVALID, "quantile: NULL");
    if (!rng) return tmi_fail(err, TAMIS_INVALID, "rng: NULL");
    TMI_TRY(tmi_quantile_records(&records, q, values, points, weights, count, err));
    if (q->bits.count == 0) TMI_TRY(tmi_fail(err, TAMIS_INVALID, "quantile: call tamis_quantile_prepare before each answer"));
    const tmi_base_measure measure = {q->log_unit, q->grid.low};
    TMI_TRY(make_blocks(&blocks, q, &records, false, err));
    TMI_TRY(tmi_blocks_find(point, &beyond, &blocks, &measure, q->rate, &q->bits, rng, err));
    if (beyond) {
        tmi_blocks_clear(&blocks);
        TMI_TRY(make_blocks(&blocks, q, &records, true, err));
        TMI_TRY(tmi_blocks_find(point, &beyond, &blocks, &measure, q->rate, &q->bits, rng, err));
    }
done:
    tmi_blocks_clear(&blocks);
    tmi_uniform_wipe(&q->bits); /* one draw, one answer */
    if (status != TAMIS_OK) *point = 0;
    return status;
}

tamis_status tamis_quantile_values(int64_t *point, tamis_quantile *quantile, const double *values, const int64_t *weights,
                                   size_t count, tamis_rng *rng, tamis_error *err)
{
    return answer(point, quantile, values, NULL, weights, count, rng, err);
}

tamis_status tamis_quantile_points(int64_t *point, tamis_quantile *quantile, const int64_t *points, const int64_t *weights,
                                   size_t count, tamis_rng *rng, tamis_error *err)
{
    return answer(point, quantile, NULL, points, weights, count, rng, err);
}
