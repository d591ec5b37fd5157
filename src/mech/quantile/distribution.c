#include "mech/quantile/distribution.h"

#include <math.h>

#include "base/memory.h"
#include "mech/quantile/prefix.h"
#include "mech/quantile/split.h"
#include "mech/quantile/tree.h"

#define MOST_ROWS (INT64_C(1) << 20)
#define MOST_WEIGHT (INT64_C(1) << TMI_BINS_WEIGHT_BITS)
#define MOST_LOSS 1000 /* rho, or epsilon */

/* The sum of a count and its noise stays within this, so that noise which was cut reveals nothing (<tamis/experimental/rng.h>).
 * */
#define LIMIT (TAMIS_NOISE_MAX - (INT64_C(1) << 61))

void tamis_distribution_free(tamis_distribution *d)
{
    if (!d) return;
    if (d->drawn) tmi_wipe(d->drawn, d->measures * sizeof *d->drawn);
    tmi_free(d->drawn);
    tmi_free(d->ends);
    tmi_free(d->entries);
    tmi_free(d->plain);
    tmi_free(d->smooth);
    tmi_free(d->sd);
    tamis_number_free(d->variance);
    tamis_noise_free(d->noise);
    tmi_bin_tree_free(d->tree);
    tmi_free(d);
}

double tmi_noisy(__int128 exact, int64_t noise)
{
    const __int128 sum = exact + noise;
    return (double)(sum > LIMIT ? LIMIT : sum < -LIMIT ? -LIMIT : sum);
}

void tmi_isotonic(double *list, size_t *lengths, size_t count)
{
    size_t blocks = 0;
    for (size_t i = 0; i < count; i++) { /* list[b] is the mean of block b, which is not above that of block b + 1 */
        double mean = list[i];
        size_t length = 1;
        for (; blocks > 0 && list[blocks - 1] > mean; blocks--) {
            const double own = (double)lengths[blocks - 1], more = (double)length;
            mean = (own * list[blocks - 1] + more * mean) / (own + more);
            length += lengths[blocks - 1];
        }
        list[blocks] = mean;
        lengths[blocks++] = length;
    }
    for (size_t i = count; blocks > 0; blocks--) /* from the back: a block is never behind its place */
        for (size_t length = lengths[blocks - 1]; length > 0; length--) list[--i] = list[blocks - 1];
}

/* ---- what is public ---- */

/* A division of doubles guesses the bin, and comparisons of integers decide. */
size_t tmi_bin_of(const tamis_distribution *d, int64_t point)
{
    const double guess = (double)(point - d->grid.low) * d->bins_per_step;
    size_t bin = guess < (double)(d->bins - 1) ? (size_t)guess : d->bins - 1;
    while (bin > 0 && point <= d->ends[bin - 1]) bin--;
    while (point > d->ends[bin]) bin++;
    return bin;
}

int64_t tmi_bin_last(const tamis_distribution *d, size_t bin) { return d->ends[bin]; }

/* The largest k with k * bins < (bin + 1) * points. */
static tamis_status set_bins(tamis_distribution *d, tamis_error *err)
{
    const __int128 points = d->grid.high - d->grid.low + 1, bins = (__int128)d->bins;
    if (!(d->ends = tmi_alloc(d->bins, sizeof *d->ends))) return tmi_fail_memory(err);
    for (size_t bin = 0; bin < d->bins; bin++) d->ends[bin] = d->grid.low + (int64_t)((((__int128)bin + 1) * points - 1) / bins);
    d->bins_per_step = (double)d->bins / (double)points;
    return TAMIS_OK;
}

static tamis_status check_loss(const tamis_number *loss, const char *name, tamis_error *err)
{
    if (tmi_number_sign(loss) <= 0 || tmi_number_compare_int(loss, MOST_LOSS) > 0)
        return tmi_fail(err, TAMIS_INVALID, "%s must be above 0 and at most %d", name, MOST_LOSS);
    return TAMIS_OK;
}

static tamis_status check(const tamis_distribution_setup *s, const tmi_grid *grid, tamis_error *err)
{
    if (!s->rho && !s->epsilon) return tmi_fail(err, TAMIS_INVALID, "rho: NULL, and epsilon: NULL");
    if (s->rho && s->epsilon) return tmi_fail(err, TAMIS_INVALID, "rho: either rho or epsilon, not both");
    const tamis_status status = s->rho ? check_loss(s->rho, "rho", err) : check_loss(s->epsilon, "epsilon", err);
    if (status != TAMIS_OK) return status;
    if (s->bins < 2 || s->bins > TAMIS_BINS || s->bins > grid->high - grid->low + 1)
        return tmi_fail(err, TAMIS_INVALID, "bins must be at least 2, at most %d, and no more than grid points", TAMIS_BINS);
    if (s->rows_per_unit < 0 || s->rows_per_unit > MOST_ROWS)
        return tmi_fail(err, TAMIS_INVALID, "rows_per_unit must be at least 1 and at most 2^20");
    if (s->max_weight < 0 || s->max_weight > MOST_WEIGHT)
        return tmi_fail(err, TAMIS_INVALID, "max_weight must be at least 1 and at most 2^20");
    return TAMIS_OK;
}

tamis_status tamis_distribution_new(tamis_distribution **distribution, const tamis_distribution_setup *s, tamis_error *err)
{
    tamis_distribution *d = NULL;
    tamis_status status;
    if (!distribution) return tmi_fail(err, TAMIS_INVALID, "distribution: NULL");
    *distribution = NULL;
    if (!s) return tmi_fail(err, TAMIS_INVALID, "setup: NULL");
    if (!(d = tmi_alloc(1, sizeof *d))) return tmi_fail_memory(err);
    TMI_TRY(tmi_grid_set(&d->grid, s->from, s->to, s->step, err));
    TMI_TRY(check(s, &d->grid, err));
    d->bins = (size_t)s->bins;
    d->most_weight = s->max_weight > 0 ? s->max_weight : 1;
    d->most_sum = INT64_C(1) << (s->rho ? TMI_PREFIX_SUM_BITS : TMI_TREE_SUM_BITS);
    d->weighted = s->max_weight > 0;
    d->plain = tmi_alloc(d->bins, sizeof *d->plain);
    d->smooth = tmi_alloc(d->bins, sizeof *d->smooth);
    d->sd = tmi_alloc(d->bins, sizeof *d->sd);
    if (!d->plain || !d->smooth || !d->sd) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(set_bins(d, err));
    TMI_TRY(s->rho ? tmi_prefix_set(d, s, err) : tmi_bin_tree_set(d, s, err));
    if (!(d->drawn = tmi_alloc(d->measures, sizeof *d->drawn))) TMI_TRY(tmi_fail_memory(err));
    *distribution = d;
    d = NULL;
done:
    tamis_distribution_free(d);
    return status;
}

tamis_status tamis_distribution_prepare(tamis_distribution *d, tamis_rng *rng, tamis_error *err)
{
    if (!d) return tmi_fail(err, TAMIS_INVALID, "distribution: NULL");
    d->measured = false;
    const tamis_status status = d->tree ? tmi_bin_tree_draw(d->drawn, d->tree, rng, err)
                                        : tamis_noise_draw(d->drawn, d->measures, d->noise, rng, err);
    d->prepared = status == TAMIS_OK;
    return status;
}

/* ---- with the data ---- */

static tamis_status check_records(const tamis_distribution *d, const tmi_records *r, tamis_error *err)
{
    if (r->count > 0 && !r->points && !r->values) return tmi_fail(err, TAMIS_INVALID, "points: NULL");
    if (r->count > 0 && d->weighted && !r->weights)
        return tmi_fail(err, TAMIS_INVALID, "weights: NULL, and there is a max_weight");
    if (!d->weighted && r->weights) return tmi_fail(err, TAMIS_INVALID, "max_weight: weights need one");
    if (r->count > (size_t)(d->most_sum / d->most_weight))
        return tmi_fail(err, TAMIS_INVALID, "there are more records than weights of this size can be added up for");
    if (!d->prepared) return tmi_fail(err, TAMIS_INVALID, "distribution: call tamis_distribution_prepare before each call");
    return TAMIS_OK;
}

static void count_bins(int64_t *x, const tamis_distribution *d, const tmi_records *r)
{
    for (size_t i = 0; i < r->count; i++) {
        int64_t point = TMI_MISSING_POINT;
        if (r->points) point = tmi_clamped_point(r->points[i], &d->grid);
        else if (!tmi_grid_point(&point, &d->grid, r->values[i])) point = TMI_MISSING_POINT;
        if (point != TMI_MISSING_POINT)
            x[tmi_bin_of(d, point)] += r->weights ? tmi_clamped_weight(r->weights[i], d->most_weight) : 1;
    }
}

tamis_status tmi_distribution_records(tamis_distribution *d, const tmi_records *r, tamis_error *err)
{
    int64_t *x = tmi_alloc(d->bins, sizeof *x);
    size_t *lengths = tmi_alloc(d->bins, sizeof *lengths);
    tamis_status status;
    d->measured = false;
    TMI_TRY(check_records(d, r, err));
    if (!x || !lengths) TMI_TRY(tmi_fail_memory(err));
    count_bins(x, d, r);
    TMI_TRY(d->tree ? tmi_bin_tree_estimate(d, x, err) : tmi_prefix_estimate(d, x, err));
    for (size_t i = 0; i < d->bins; i++) d->smooth[i] = d->plain[i] > 0 ? d->plain[i] : 0;
    tmi_isotonic(d->smooth, lengths, d->bins);
    d->measured = true;
done:
    if (x) tmi_wipe(x, d->bins * sizeof *x);
    tmi_wipe(d->drawn, d->measures * sizeof *d->drawn); /* one draw, one answer */
    d->prepared = false;
    tmi_free(x);
    tmi_free(lengths);
    return status;
}

tamis_status tamis_distribution_points(tamis_distribution *d, const int64_t *points, const int64_t *weights, size_t count,
                                       tamis_error *err)
{
    if (!d) return tmi_fail(err, TAMIS_INVALID, "distribution: NULL");
    const tmi_records records = {
        .points = points, .weights = weights, .count = count, .most_weight = d->most_weight, .grid = &d->grid};
    return tmi_distribution_records(d, &records, err);
}

tamis_status tamis_distribution_at(int64_t *last, double *smooth, double *plain, double *sd, const tamis_distribution *d,
                                   int64_t bin, tamis_error *err)
{
    const bool there = d && d->measured && bin >= 0 && bin < (int64_t)d->bins;
    if (last) *last = there ? tmi_bin_last(d, (size_t)bin) : 0;
    if (smooth) *smooth = there ? d->smooth[bin] : 0;
    if (plain) *plain = there ? d->plain[bin] : 0;
    if (sd) *sd = there ? d->sd[bin] : INFINITY;
    return there ? TAMIS_OK : tmi_fail(err, TAMIS_INVALID, "distribution: nothing was measured, or there is no such bin");
}

int64_t tmi_distribution_point(const tamis_distribution *d, double at)
{
    const double target = at * d->smooth[d->bins - 1];
    size_t bin = 0;
    while (bin + 1 < d->bins && d->smooth[bin] < target) bin++;
    return tmi_bin_last(d, bin);
}

tamis_status tamis_distribution_quantile(int64_t *point, const tamis_distribution *d, const tamis_number *at, tamis_error *err)
{
    if (!point) return tmi_fail(err, TAMIS_INVALID, "point: NULL");
    *point = 0;
    if (!d || !d->measured) return tmi_fail(err, TAMIS_INVALID, "distribution: nothing was measured");
    if (!at || tmi_number_sign(at) <= 0 || tmi_number_compare_int(at, 1) >= 0)
        return tmi_fail(err, TAMIS_INVALID, "at must be above 0 and below 1");
    *point = tmi_distribution_point(d, tmi_number_nearest(at));
    return TAMIS_OK;
}
