#include "survey/distribution.h"

#include <stdlib.h>

#include "base/memory.h"
#include "survey/estimator.h"

#define TIED 1e-12 /* of the total: a thousand times what compensated sums of doubles lose */

typedef struct row_of {
    double value, weight;
} row_of;

static int by_value(const void *a, const void *b)
{
    const double x = ((const row_of *)a)->value, y = ((const row_of *)b)->value;
    return x < y ? -1 : x > y;
}

tamis_status tmi_distribution_make(tmi_distribution *d, const double *values, const double *weights, const uint8_t *domain,
                                   size_t rows, tamis_error *err)
{
    size_t n = 0;
    tmi_sum all = {0}, tied = {0};
    *d = (tmi_distribution){0};
    for (size_t i = 0; i < rows; i++) n += (!domain || domain[i]) && weights[i] != 0;
    row_of *list = tmi_alloc(n + 1, sizeof *list);
    d->values = tmi_alloc(n + 1, sizeof *d->values);
    d->weights = tmi_alloc(n + 1, sizeof *d->weights);
    d->sums = tmi_alloc(n + 1, sizeof *d->sums);
    if (!list || !d->values || !d->weights || !d->sums) {
        tmi_free(list);
        tmi_distribution_clear(d);
        return tmi_fail_memory(err);
    }
    n = 0;
    for (size_t i = 0; i < rows; i++)
        if ((!domain || domain[i]) && weights[i] != 0) list[n++] = (row_of){.value = values[i], .weight = weights[i]};
    qsort(list, n, sizeof *list, by_value);
    for (size_t i = 0; i < n; i++) {
        tmi_sum_add(&all, list[i].weight);
        tmi_sum_add(&tied, list[i].weight);
        if (i + 1 < n && list[i + 1].value == list[i].value) continue;
        d->values[d->count] = list[i].value;
        d->weights[d->count] = tmi_sum_value(tied);
        d->sums[d->count++] = tmi_sum_value(all);
        tied = (tmi_sum){0};
    }
    d->total = tmi_sum_value(all);
    tmi_free(list);
    return TAMIS_OK;
}

void tmi_distribution_clear(tmi_distribution *d)
{
    tmi_free(d->values);
    tmi_free(d->weights);
    tmi_free(d->sums);
    *d = (tmi_distribution){0};
}

/* Behind the last value up to which there is less: calibrated weights may be negative, and sums then fall in between. */
static size_t place_of(const tmi_distribution *d, double p)
{
    const double enough = p * d->total - TIED * d->total;
    size_t i = d->count - 1;
    while (i > 0 && d->sums[i - 1] >= enough) i--;
    return i;
}

double tmi_quantile_of(const tmi_distribution *d, double p) { return d->values[place_of(d, p)]; }

double tmi_middle_quantile_of(const tmi_distribution *d, double p)
{
    const size_t i = place_of(d, p);
    const bool tied = fabs(d->sums[i] - p * d->total) <= TIED * d->total;
    return tied && i + 1 < d->count ? (d->values[i] + d->values[i + 1]) / 2 : d->values[i];
}

double tmi_share_below(const tmi_distribution *d, double x)
{
    size_t low = 0, high = d->count; /* values[low - 1] < x <= values[high] */
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (d->values[middle] < x) low = middle + 1;
        else high = middle;
    }
    return low > 0 ? d->sums[low - 1] / d->total : 0;
}
