/* From records to answers. */
#include "base/memory.h"
#include "mech/quantile/above.h"
#include "mech/quantile/distribution.h"
#include "mech/quantile/several.h"
#include "mech/quantile/smooth.h"

tamis_status tamis_quantile_prepare(tamis_quantile *quantile, tamis_rng *rng, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    if (!quantile) return tmi_fail(err, TAMIS_INVALID, "quantile: NULL");
    if (!rng) return tmi_fail(err, TAMIS_INVALID, "rng: NULL");
    for (size_t i = 0; i < quantile->bit_count && status == TAMIS_OK; i++)
        status = tmi_uniform_begin(&quantile->bits[i], rng, err);
    if (status == TAMIS_OK && quantile->above) status = tmi_above_prepare(quantile, rng, err);
    if (status == TAMIS_OK && quantile->distribution) status = tamis_distribution_prepare(quantile->distribution, rng, err);
    if (status != TAMIS_OK) tmi_wipe(quantile->bits, quantile->bit_count * sizeof *quantile->bits);
    return status;
}

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

/* ---- each by itself ---- */

/* The blocks of all grid points, from all records or from those around the rank. */
static tamis_status make_blocks(tmi_score_blocks *blocks, const tamis_quantile *q, const tmi_rank *rank,
                                const tmi_records *records, bool all, tamis_error *err)
{
    tmi_rank_window window;
    tamis_status status = tmi_rank_window_make(&window, records, all ? NULL : rank, err);
    if (status != TAMIS_OK) return status;
    status = tmi_score_blocks_make(blocks, &window, q->grid.low, q->grid.high, rank->p, rank->d, err);
    tmi_rank_window_clear(&window);
    return status;
}

static tamis_status find(int64_t *point, tamis_quantile *q, size_t number, const tmi_records *records, tamis_rng *rng,
                         tamis_error *err)
{
    const tmi_target *target = &q->targets[number];
    const tmi_base_measure measure = {q->log_unit, q->grid.low};
    tmi_score_blocks blocks = {0};
    bool beyond;
    tamis_status status;
    TMI_TRY(make_blocks(&blocks, q, &target->rank, records, false, err));
    TMI_TRY(tmi_score_blocks_find(point, &beyond, &blocks, &measure, target->rate, &q->bits[number], rng, err));
    if (beyond) {
        tmi_score_blocks_clear(&blocks);
        TMI_TRY(make_blocks(&blocks, q, &target->rank, records, true, err));
        TMI_TRY(tmi_score_blocks_find(point, &beyond, &blocks, &measure, target->rate, &q->bits[number], rng, err));
    }
done:
    tmi_score_blocks_clear(&blocks);
    return status;
}

/* Quantiles are in order, so answers that are not are put in order: that needs no data. */
static tamis_status find_each(int64_t *points, tamis_quantile *q, const tmi_records *records, tamis_rng *rng, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    for (size_t i = 0; i < q->count && status == TAMIS_OK; i++) status = find(&points[i], q, i, records, rng, err);
    if (status == TAMIS_OK && !tmi_sort_points(points, NULL, q->count)) status = tmi_fail_memory(err);
    return status;
}

/* ---- all ---- */

static tamis_status read_from_distribution(int64_t *points, tamis_quantile *q, const tmi_records *records, tamis_error *err)
{
    tamis_status status = tmi_distribution_records(q->distribution, records, err);
    for (size_t i = 0; i < q->count && status == TAMIS_OK; i++)
        points[i] = tmi_distribution_point(q->distribution, (double)q->targets[i].rank.p / (double)q->targets[i].rank.d);
    return status;
}

tamis_status tmi_quantile_find(int64_t *points, tamis_quantile *q, const tmi_records *records, tamis_rng *rng, tamis_error *err)
{
    switch (q->method) {
    case TAMIS_QUANTILE_JOINT:
    case TAMIS_QUANTILE_SPLIT: return tmi_find_several(points, q, records, rng, err);
    case TAMIS_QUANTILE_THRESHOLD:
    case TAMIS_QUANTILE_HISTOGRAM: return tmi_find_above(points, q, records, err);
    case TAMIS_QUANTILE_SMOOTH: return tmi_find_smooth(points, q, records, rng, err);
    case TAMIS_QUANTILE_TREE:
    case TAMIS_QUANTILE_PREFIX: return read_from_distribution(points, q, records, err);
    default: return find_each(points, q, records, rng, err);
    }
}

static tamis_status find_all(int64_t *points, tamis_quantile *q, const tmi_records *records, tamis_rng *rng, tamis_error *err)
{
    tamis_status status;
    if (q->bits[0].count == 0) TMI_TRY(tmi_fail(err, TAMIS_INVALID, "quantile: call tamis_quantile_prepare before each answer"));
    TMI_TRY(tmi_quantile_find(points, q, records, rng, err));
done:
    tmi_wipe(q->bits, q->bit_count * sizeof *q->bits); /* one draw, one answer */
    for (size_t i = 0; status != TAMIS_OK && i < q->count; i++) points[i] = 0;
    return status;
}

static tamis_status answer(int64_t *points, tamis_quantile *q, const double *values, const int64_t *values_as_points,
                           const int64_t *weights, size_t count, tamis_rng *rng, tamis_error *err)
{
    tmi_records records;
    if (!points) return tmi_fail(err, TAMIS_INVALID, "points: NULL");
    if (!q) return tmi_fail(err, TAMIS_INVALID, "quantile: NULL");
    for (size_t i = 0; i < q->count; i++) points[i] = 0;
    if (!rng) return tmi_fail(err, TAMIS_INVALID, "rng: NULL");
    const tamis_status status = tmi_quantile_records(&records, q, values, values_as_points, weights, count, err);
    if (status == TAMIS_OK) return find_all(points, q, &records, rng, err);
    tmi_wipe(q->bits, q->bit_count * sizeof *q->bits);
    return status;
}

/* ---- records that are counted ---- */

/* Whether records of one point may be taken as one with the weight of all of them: not where each has a place of its own, and not
 * beyond what weights can add up to. */
static bool may_be_one(int64_t *most, const tamis_quantile *q, const tmi_counted_records *e)
{
    *most = 1;
    for (size_t i = 0; i < e->count; i++) *most = e->counts[i] > *most ? e->counts[i] : *most;
    const bool by_point = q->method == TAMIS_QUANTILE_INVERSE || q->above;
    return by_point && !e->weights && e->count <= (size_t)(TMI_WEIGHT_SUM / *most);
}

tamis_status tmi_quantile_counted(int64_t *points, tamis_quantile *q, const tmi_counted_records *e, tamis_rng *rng,
                                  tamis_error *err)
{
    int64_t most, *expanded = NULL, *weights = NULL;
    size_t count = 0;
    tamis_status status = TAMIS_OK;
    for (size_t i = 0; i < q->count; i++) points[i] = 0;
    if (may_be_one(&most, q, e)) {
        const tmi_records records = {
            .points = e->points, .weights = e->counts, .count = e->count, .most_weight = most, .grid = &q->grid};
        return find_all(points, q, &records, rng, err);
    }
    for (size_t i = 0; i < e->count; i++) count += (size_t)e->counts[i];
    expanded = tmi_alloc(count, sizeof *expanded);
    if (e->weights) weights = tmi_alloc(count, sizeof *weights);
    if (!expanded || (e->weights && !weights)) TMI_TRY(tmi_fail_memory(err));
    for (size_t i = 0, at = 0; i < e->count; i++)
        for (int64_t k = 0; k < e->counts[i]; k++, at++) {
            expanded[at] = e->points[i];
            if (weights) weights[at] = e->weights[i];
        }
    status = answer(points, q, NULL, expanded, weights, count, rng, err);
done:
    if (expanded) tmi_wipe(expanded, count * sizeof *expanded);
    if (weights) tmi_wipe(weights, count * sizeof *weights);
    tmi_free(expanded);
    tmi_free(weights);
    return status;
}

tamis_status tamis_quantile_values(int64_t *points, tamis_quantile *quantile, const double *values, const int64_t *weights,
                                   size_t count, tamis_rng *rng, tamis_error *err)
{
    return answer(points, quantile, values, NULL, weights, count, rng, err);
}

tamis_status tamis_quantile_points(int64_t *points, tamis_quantile *quantile, const int64_t *records, const int64_t *weights,
                                   size_t count, tamis_rng *rng, tamis_error *err)
{
    return answer(points, quantile, NULL, records, weights, count, rng, err);
}
