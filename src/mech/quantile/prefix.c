#include "mech/quantile/prefix.h"

#include <math.h>

#include "base/memory.h"
#include "num/exact.h"
#include "rng/noise.h"

#define ENTRY_BITS TMI_PREFIX_ENTRY_BITS

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

tamis_status tmi_prefix_set(tamis_distribution *d, const tamis_distribution_setup *s, tamis_error *err)
{
    d->measures = d->bins;
    d->entries = tmi_alloc(d->bins, sizeof *d->entries);
    if (!d->entries) return tmi_fail_memory(err);
    set_entries(d->entries, d->bins);
    const tamis_status status = set_noise(d, s, err);
    if (status == TAMIS_OK) set_deviations(d);
    return status;
}

tamis_status tmi_prefix_estimate(tamis_distribution *d, const int64_t *x, tamis_error *err)
{
    __int128 *exact = tmi_alloc(d->bins, sizeof *exact);
    if (!exact) return tmi_fail_memory(err);
    tmi_prefix_measure(exact, x, d->entries, d->bins);
    for (size_t i = 0; i < d->bins; i++) d->smooth[i] = tmi_noisy(exact[i], d->drawn[i]);
    tmi_prefix_solve(d->plain, d->smooth, d->entries, d->bins);
    tmi_wipe(exact, d->bins * sizeof *exact);
    tmi_free(exact);
    return TAMIS_OK;
}
