#include "mech/quantile/several.h"

#include "base/memory.h"
#include "num/exact.h"

/* ---- jointly ---- */

static int64_t common_divisor(int64_t x, int64_t y) { return y == 0 ? x : common_divisor(y, x % y); }

static tamis_status set_key_unit(tamis_quantile *q, tamis_error *err)
{
    tmi_exact e = TMI_EXACT(err);
    tamis_status status = TAMIS_OK;
    if (q->log_unit) status = tmi_exact_copy(&q->key_unit, &e, tmi_mul(&e, q->log_unit, tmi_int(&e, tmi_places(&q->grid))));
    tmi_exact_clear(&e);
    return status;
}

/* The common denominator, and the smallest part between two quantiles. */
tamis_status tmi_joint_set(tamis_quantile *q, tamis_error *err)
{
    tmi_exact e = TMI_EXACT(err);
    tamis_status status = TAMIS_OK;
    int64_t d = 1, least, before = 0;
    q->ranks = tmi_alloc(q->count, sizeof *q->ranks);
    if (!q->ranks) TMI_TRY(tmi_fail_memory(err));
    for (size_t i = 0; i < q->count; i++) { /* d and the factor are at most 2^30 */
        d *= q->targets[i].rank.d / common_divisor(d, q->targets[i].rank.d);
        if (d > TMI_AT_MOST) TMI_TRY(tmi_fail(err, TAMIS_INVALID, "at: the common denominator must be at most 2^30"));
    }
    least = d;
    for (size_t i = 0; i <= q->count; i++) {
        const int64_t rank = i < q->count ? d / q->targets[i].rank.d * q->targets[i].rank.p : d;
        if (i < q->count) q->ranks[i] = rank;
        least = rank - before < least ? rank - before : least;
        before = rank;
    }
    q->common = d;
    tmi_term change = tmi_mul(&e, tmi_int(&e, 2), tmi_int(&e, q->add_remove ? d - least : d));
    tmi_term most = tmi_mul(&e, tmi_mul(&e, change, tmi_int(&e, q->rows_per_unit)), tmi_int(&e, q->most_weight));
    TMI_TRY(tmi_exact_copy(&q->joint_rate, &e, tmi_div(&e, q->epsilon, tmi_mul(&e, tmi_int(&e, 2), most))));
    TMI_TRY(set_key_unit(q, err));
done:
    tmi_exact_clear(&e);
    return status;
}

/* ---- by splitting ---- */

size_t tmi_split_levels(size_t count) { return count == 0 ? 0 : 1 + tmi_split_levels(count / 2); }

/* Quantiles from ... to - 1, in the part of the data between the ranks low and high. */
static tamis_status set_part(tamis_quantile *q, const tamis_number *const *at, size_t from, size_t to, const tamis_number *low,
                             const tamis_number *high, const tamis_number *epsilon, tamis_error *err)
{
    const size_t middle = from + (to - from) / 2;
    tmi_exact e = TMI_EXACT(err);
    tamis_status status = TAMIS_OK;
    if (from == to) return TAMIS_OK;
    tmi_term share = tmi_div(&e, tmi_sub(&e, at[middle], low), tmi_sub(&e, high, low));
    TMI_TRY(e.status);
    TMI_TRY(tmi_quantile_fraction(&q->targets[middle].rank.p, &q->targets[middle].rank.d, share, err));
    TMI_TRY(tmi_target_set(&q->targets[middle], q, epsilon, true,
                           (double)(q->grid.high - q->grid.low + 1) * (double)tmi_places(&q->grid), err));
    TMI_TRY(set_part(q, at, from, middle, low, at[middle], epsilon, err));
    TMI_TRY(set_part(q, at, middle + 1, to, at[middle], high, epsilon, err));
done:
    tmi_exact_clear(&e);
    return status;
}

tamis_status tmi_splitting_set(tamis_quantile *q, const tamis_number *const *at, tamis_error *err)
{
    tmi_exact e = TMI_EXACT(err);
    const int64_t parts = (int64_t)tmi_split_levels(q->count) * (q->add_remove ? 1 : 2);
    tmi_term epsilon = tmi_div(&e, q->epsilon, tmi_int(&e, parts)), zero = tmi_int(&e, 0), one = tmi_int(&e, 1);
    tamis_status status = e.status;
    if (status == TAMIS_OK) status = set_part(q, at, 0, q->count, zero, one, epsilon, err);
    if (status == TAMIS_OK) status = set_key_unit(q, err);
    tmi_exact_clear(&e);
    return status;
}

/* The sorted keys from ... to - 1, which lie between first and last; sums[i] is the weight of the keys before i (NULL: i). */
typedef struct part {
    size_t from, to;
    int64_t first, last;
    const int64_t *sums;
} part;

static int64_t weight_at(const tmi_keys *k, size_t i) { return k->weights ? k->weights[i] : 1; }

/* The weight of a part's keys before i. */
static int64_t weight_before(const part *p, size_t i) { return p->sums ? p->sums[i] - p->sums[p->from] : (int64_t)(i - p->from); }

/* The first i of a part with d * (weight before i) >= bound; `to` if there is none. */
static size_t first_at(const part *p, int64_t d, tmi_int128 bound)
{
    size_t low = p->from, high = p->to;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (d * (tmi_int128)weight_before(p, middle) >= bound) high = middle;
        else low = middle + 1;
    }
    return low;
}

/* The window of a part: all of its keys, or those around the rank. Equal keys are inside or outside together. */
static tamis_status window_of(tmi_rank_window *w, const tmi_keys *k, const part *p, const tmi_rank *rank, bool all,
                              tamis_error *err)
{
    size_t begin = p->from, end = p->to;
    *w = (tmi_rank_window){.first = p->first, .last = p->last, .total = weight_before(p, p->to)};
    const tmi_int128 target = (tmi_int128)rank->p * w->total;
    if (!all) {
        begin = first_at(p, rank->d, target - rank->reach);
        end = first_at(p, rank->d, target + rank->reach);
        if (begin > p->from) begin--; /* what is before the one before weighs less */
        while (begin > p->from && (begin == p->to || k->keys[begin] == k->keys[begin - 1])) begin--;
        while (end > p->from && end < p->to && k->keys[end] == k->keys[end - 1]) end++;
        if (begin > p->from) w->first = k->keys[begin];
        if (end < p->to) w->last = k->keys[end] - 1;
        w->below = weight_before(p, begin);
    }
    w->room = end - begin;
    w->points = tmi_alloc(w->room, sizeof *w->points);
    w->weights = tmi_alloc(w->room, sizeof *w->weights);
    if (!w->points || !w->weights) {
        tmi_rank_window_clear(w);
        return tmi_fail_memory(err);
    }
    for (size_t i = begin; i < end; i++) {
        if (w->count > 0 && w->points[w->count - 1] == k->keys[i]) w->weights[w->count - 1] += weight_at(k, i);
        else {
            w->points[w->count] = k->keys[i];
            w->weights[w->count++] = weight_at(k, i);
        }
    }
    return TAMIS_OK;
}

static tamis_status find_in(int64_t *key, tamis_quantile *q, size_t number, const tmi_keys *k, const part *p, tamis_rng *rng,
                            tamis_error *err)
{
    const tmi_target *target = &q->targets[number];
    const tmi_base_measure measure = {.log_unit = q->key_unit};
    tamis_status status = TAMIS_OK;
    bool beyond = true;
    for (int all = 0; all < 2 && beyond && status == TAMIS_OK; all++) {
        tmi_score_blocks blocks = {0};
        tmi_rank_window window = {0};
        status = window_of(&window, k, p, &target->rank, all, err);
        if (status == TAMIS_OK)
            status = tmi_score_blocks_make(&blocks, &window, p->first, p->last, target->rank.p, target->rank.d, err);
        if (status == TAMIS_OK)
            status = tmi_score_blocks_find(key, &beyond, &blocks, &measure, target->rate, &q->bits[number], rng, err);
        tmi_score_blocks_clear(&blocks);
        tmi_rank_window_clear(&window);
    }
    return status;
}

/* Keys below the middle quantile are in the lower part, the others in the upper one. */
static tamis_status split(int64_t *found, tamis_quantile *q, size_t from, size_t to, const tmi_keys *k, const part *p,
                          tamis_rng *rng, tamis_error *err)
{
    const size_t middle = from + (to - from) / 2;
    tamis_status status;
    if (from == to) return TAMIS_OK;
    TMI_TRY(find_in(&found[middle], q, middle, k, p, rng, err));
    part lower = *p, upper = *p;
    lower.last = upper.first = found[middle];
    size_t high = p->to; /* the first key that is not below the cut */
    while (upper.from < high) {
        const size_t half = upper.from + (high - upper.from) / 2;
        if (k->keys[half] < found[middle]) upper.from = half + 1;
        else high = half;
    }
    lower.to = upper.from;
    TMI_TRY(split(found, q, from, middle, k, &lower, rng, err));
    TMI_TRY(split(found, q, middle + 1, to, k, &upper, rng, err));
done:
    return status;
}

tamis_status tmi_split_find(int64_t *cuts, tamis_quantile *q, const tmi_keys *keys, tamis_rng *rng, tamis_error *err)
{
    part whole = {.to = keys->count, .last = keys->end - 1};
    int64_t *sums = keys->weights ? tmi_alloc(keys->count + 1, sizeof *sums) : NULL;
    if (keys->weights && !sums) return tmi_fail_memory(err);
    for (size_t i = 0; sums && i < keys->count; i++) sums[i + 1] = sums[i] + keys->weights[i];
    whole.sums = sums;
    const tamis_status status = split(cuts, q, 0, q->count, keys, &whole, rng, err);
    if (sums) tmi_wipe(sums, (keys->count + 1) * sizeof *sums);
    tmi_free(sums);
    return status;
}

/* ---- both ---- */

tamis_status tmi_find_among_keys(int64_t *points, tamis_quantile *q, const tmi_keys *keys, tamis_rng *rng, tamis_error *err)
{
    const tmi_joint joint = {
        .ranks = q->ranks, .d = q->common, .count = q->count, .rate = q->joint_rate, .measure = {.log_unit = q->key_unit}};
    const tamis_status status = q->method == TAMIS_QUANTILE_JOINT ? tmi_joint_find(points, keys, &joint, q->bits, rng, err)
                                                                  : tmi_split_find(points, q, keys, rng, err);
    for (size_t i = 0; i < q->count; i++) points[i] = q->grid.low + points[i] / keys->places;
    return status;
}

tamis_status tmi_find_several(int64_t *points, tamis_quantile *q, const tmi_records *records, tamis_rng *rng, tamis_error *err)
{
    tmi_keys keys = {0};
    tamis_status status = tmi_keys_make(&keys, records, rng, err);
    if (status == TAMIS_OK) status = tmi_find_among_keys(points, q, &keys, rng, err);
    tmi_keys_clear(&keys);
    return status;
}
