#include "mech/quantile/prefix.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "mech/quantile/quantile.h"
#include "mech/quantile/split.h"
#include "num/exact.h"
#include "rng/noise.h"

#define ENTRY_BITS 20
#define MOST_ROWS (INT64_C(1) << 20)
#define MOST_WEIGHT (INT64_C(1) << 20)
#define MOST_SUM (INT64_C(1) << 40) /* of all weights: F x stays below 2^60 */
#define MOST_RHO 1000

/* The sum of a count and its noise stays within this, so that noise which was cut reveals nothing (<tamis/rng.h>). */
#define LIMIT (TAMIS_NOISE_MAX - (INT64_C(1) << 61))

void tamis_distribution_free(tamis_distribution *d)
{
    if (!d) return;
    if (d->drawn) tmi_wipe(d->drawn, d->bins * sizeof *d->drawn);
    tmi_free(d->drawn);
    tmi_free(d->entries);
    tmi_free(d->plain);
    tmi_free(d->smooth);
    tmi_free(d->sd);
    tamis_number_free(d->variance);
    tamis_noise_free(d->noise);
    tmi_free(d);
}

/* ---- linear algebra ---- */

void tmi_prefix_measure(__int128 *y, const int64_t *x, const int64_t *entries, size_t bins)
{
    for (size_t i = 0; i < bins; i++) {
        y[i] = 0;
        for (size_t k = 0; k <= i; k++) y[i] += (__int128)entries[k] * x[i - k];
    }
}

void tmi_prefix_solve(double *sums, const double *y, const int64_t *entries, size_t bins)
{
    for (size_t i = 0; i < bins; i++) { /* F w = y, from the top */
        double rest = y[i];
        for (size_t k = 1; k <= i; k++) rest -= (double)entries[k] * sums[i - k];
        sums[i] = rest / (double)entries[0];
    }
    for (size_t i = 1; i < bins; i++) sums[i] += sums[i - 1];
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

size_t tmi_bin_of(const tamis_distribution *d, int64_t point)
{
    return (size_t)((__int128)(point - d->grid.low) * (int64_t)d->bins / (d->grid.high - d->grid.low + 1));
}

/* The largest k with k * bins < (bin + 1) * points. */
int64_t tmi_bin_last(const tamis_distribution *d, size_t bin)
{
    const __int128 points = d->grid.high - d->grid.low + 1, bins = (__int128)d->bins;
    return d->grid.low + (int64_t)((((__int128)bin + 1) * points - 1) / bins);
}

/* f_k with 60 binary digits, then rounded to ENTRY_BITS of them. */
static void set_entries(int64_t *entries, size_t bins)
{
    int64_t f = INT64_C(1) << 60;
    for (size_t k = 0; k < bins; k++) {
        if (k > 0) f -= f / (int64_t)(2 * k);
        entries[k] = ((f >> (59 - ENTRY_BITS)) + 1) >> 1;
    }
}

static tamis_status set_noise(tamis_distribution *d, const tamis_distribution_setup *s, tamis_error *err)
{
    tmi_exact e = TMI_EXACT(err);
    const int64_t rows = s->rows_per_unit > 0 ? s->rows_per_unit : 1;
    tmi_term squares = tmi_int(&e, 0), most = tmi_mul(&e, tmi_int(&e, rows), tmi_int(&e, d->most_weight));
    for (size_t k = 0; k < d->bins; k++) squares = tmi_add(&e, squares, tmi_int(&e, d->entries[k] * d->entries[k]));
    tmi_term change = tmi_mul(&e, tmi_mul(&e, most, most), squares);
    if (!s->add_remove) change = tmi_mul(&e, change, tmi_int(&e, 2));
    tamis_status status = tmi_exact_copy(&d->variance, &e, tmi_div(&e, change, tmi_mul(&e, tmi_int(&e, 2), s->rho)));
    tmi_exact_clear(&e);
    return status == TAMIS_OK ? tmi_noise_gaussian_new(&d->noise, d->variance, err) : status;
}

/* Of A F^-1 z: the first column of A F^-1 is that of every later one, moved down. */
static void set_deviations(tamis_distribution *d)
{
    double sum = 0;
    memset(d->plain, 0, d->bins * sizeof *d->plain);
    d->plain[0] = 1;
    tmi_prefix_solve(d->sd, d->plain, d->entries, d->bins);
    for (size_t i = 0; i < d->bins; i++) {
        sum += d->sd[i] * d->sd[i];
        d->sd[i] = sqrt(sum * tmi_number_nearest(d->variance));
    }
}

static tamis_status check(const tamis_distribution_setup *s, const tmi_grid *grid, tamis_error *err)
{
    if (!s->rho) return tmi_fail(err, TAMIS_INVALID, "rho: NULL");
    if (tmi_number_sign(s->rho) <= 0 || tmi_number_compare_int(s->rho, MOST_RHO) > 0)
        return tmi_fail(err, TAMIS_INVALID, "rho must be above 0 and at most %d", MOST_RHO);
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
    d->weighted = s->max_weight > 0;
    d->entries = tmi_alloc(d->bins, sizeof *d->entries);
    d->drawn = tmi_alloc(d->bins, sizeof *d->drawn);
    d->plain = tmi_alloc(d->bins, sizeof *d->plain);
    d->smooth = tmi_alloc(d->bins, sizeof *d->smooth);
    d->sd = tmi_alloc(d->bins, sizeof *d->sd);
    if (!d->entries || !d->drawn || !d->plain || !d->smooth || !d->sd) TMI_TRY(tmi_fail_memory(err));
    set_entries(d->entries, d->bins);
    TMI_TRY(set_noise(d, s, err));
    set_deviations(d);
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
    const tamis_status status = tamis_noise_draw(d->drawn, d->bins, d->noise, rng, err);
    d->prepared = status == TAMIS_OK;
    return status;
}

/* ---- with the data ---- */

static tamis_status check_records(const tamis_distribution *d, const int64_t *points, const int64_t *weights, size_t count,
                                  tamis_error *err)
{
    if (count > 0 && !points) return tmi_fail(err, TAMIS_INVALID, "points: NULL");
    if (count > 0 && d->weighted && !weights) return tmi_fail(err, TAMIS_INVALID, "weights: NULL, and there is a max_weight");
    if (!d->weighted && weights) return tmi_fail(err, TAMIS_INVALID, "max_weight: weights need one");
    if (count > (size_t)(MOST_SUM / d->most_weight))
        return tmi_fail(err, TAMIS_INVALID, "there are more records than weights of this size can be added up for");
    if (!d->prepared) return tmi_fail(err, TAMIS_INVALID, "distribution: call tamis_distribution_prepare before each call");
    return TAMIS_OK;
}

/* y = F x + z, as doubles from here on: what follows uses no data. */
static void add_noise(double *y, const tamis_distribution *d, const __int128 *exact)
{
    for (size_t i = 0; i < d->bins; i++) {
        const __int128 sum = exact[i] + d->drawn[i];
        y[i] = (double)(sum > LIMIT ? LIMIT : sum < -LIMIT ? -LIMIT : sum);
    }
}

tamis_status tamis_distribution_points(tamis_distribution *d, const int64_t *points, const int64_t *weights, size_t count,
                                       tamis_error *err)
{
    if (!d) return tmi_fail(err, TAMIS_INVALID, "distribution: NULL");
    int64_t *x = tmi_alloc(d->bins, sizeof *x);
    __int128 *exact = tmi_alloc(d->bins, sizeof *exact);
    size_t *lengths = tmi_alloc(d->bins, sizeof *lengths);
    tamis_status status;
    d->measured = false;
    TMI_TRY(check_records(d, points, weights, count, err));
    if (!x || !exact || !lengths) TMI_TRY(tmi_fail_memory(err));
    for (size_t i = 0; i < count; i++) {
        const int64_t point = tmi_clamped_point(points[i], &d->grid);
        if (point != TMI_MISSING_POINT) x[tmi_bin_of(d, point)] += weights ? tmi_clamped_weight(weights[i], d->most_weight) : 1;
    }
    tmi_prefix_measure(exact, x, d->entries, d->bins);
    add_noise(d->smooth, d, exact);
    tmi_prefix_solve(d->plain, d->smooth, d->entries, d->bins);
    for (size_t i = 0; i < d->bins; i++) d->smooth[i] = d->plain[i] > 0 ? d->plain[i] : 0;
    tmi_isotonic(d->smooth, lengths, d->bins);
    d->measured = true;
done:
    if (x) tmi_wipe(x, d->bins * sizeof *x);
    if (exact) tmi_wipe(exact, d->bins * sizeof *exact);
    tmi_wipe(d->drawn, d->bins * sizeof *d->drawn); /* one draw, one answer */
    d->prepared = false;
    tmi_free(x);
    tmi_free(exact);
    tmi_free(lengths);
    return status;
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

tamis_status tamis_distribution_quantile(int64_t *point, const tamis_distribution *d, const tamis_number *at, tamis_error *err)
{
    if (!point) return tmi_fail(err, TAMIS_INVALID, "point: NULL");
    *point = 0;
    if (!d || !d->measured) return tmi_fail(err, TAMIS_INVALID, "distribution: nothing was measured");
    if (!at || tmi_number_sign(at) <= 0 || tmi_number_compare_int(at, 1) >= 0)
        return tmi_fail(err, TAMIS_INVALID, "at must be above 0 and below 1");
    const double target = tmi_number_nearest(at) * d->smooth[d->bins - 1];
    size_t bin = 0;
    while (bin + 1 < d->bins && d->smooth[bin] < target) bin++;
    *point = tmi_bin_last(d, bin);
    return TAMIS_OK;
}
