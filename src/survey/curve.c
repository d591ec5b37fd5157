#include "survey/curve.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"

void tmi_cdf_clear(tmi_cdf *c)
{
    tmi_free(c->points);
    *c = (tmi_cdf){0};
}

/* ---- the function ---- */

#define LEAST_VARIANCE 1e-12 /* of a share, as a weight: nothing is known better */

/* Pools neighbours that descend, each share counting as its precision. The last three are room. */
static void make_ascending(tmi_cdf_point *points, size_t count, double *weights, size_t *sizes, double *means)
{
    size_t blocks = 0;
    for (size_t k = 0; k < count; k++) {
        weights[blocks] = 1 / fmax(points[k].sampling + points[k].noise, LEAST_VARIANCE);
        means[blocks] = points[k].share;
        sizes[blocks++] = 1;
        while (blocks > 1 && means[blocks - 2] > means[blocks - 1]) {
            const size_t b = --blocks - 1;
            const double both = weights[b] + weights[b + 1];
            means[b] += (means[b + 1] - means[b]) * weights[b + 1] / both;
            weights[b] = both;
            sizes[b] += sizes[b + 1];
        }
    }
    for (size_t b = 0, k = 0; b < blocks; b++)
        for (size_t i = 0; i < sizes[b]; i++) points[k++].share = fmin(fmax(means[b], 0), 1);
}

tamis_status tmi_cdf_make(tmi_cdf *c, size_t cuts, double low, double high, double step, tamis_error *err)
{
    *c = (tmi_cdf){.points = tmi_alloc(cuts + 2, sizeof *c->points), .count = cuts + 2, .step = step};
    if (!c->points) return tmi_fail_memory(err);
    c->points[0] = (tmi_cdf_point){.place = low};
    c->points[cuts + 1] = (tmi_cdf_point){.place = high + 1, .share = 1, .lower = 1, .upper = 1};
    return TAMIS_OK;
}

tamis_status tmi_cdf_ascend(tmi_cdf *c, tamis_error *err)
{
    const size_t count = c->count - 2;
    double *weights = tmi_alloc(count, sizeof *weights), *means = tmi_alloc(count, sizeof *means);
    size_t *sizes = tmi_alloc(count, sizeof *sizes);
    const bool room = weights && means && sizes;
    if (room) make_ascending(c->points + 1, count, weights, sizes, means);
    tmi_free(weights);
    tmi_free(means);
    tmi_free(sizes);
    return room ? TAMIS_OK : tmi_fail_memory(err);
}

/* ---- its values ---- */

/* The bin that has a place: [points[i], points[i + 1]). */
static size_t bin_of(const tmi_cdf *c, double place)
{
    size_t i = 0;
    while (i + 2 < c->count && place >= c->points[i + 1].place) i++;
    return i;
}

static double part_of(const tmi_cdf *c, size_t bin, double place)
{
    const double from = c->points[bin].place, to = c->points[bin + 1].place;
    return fmin(fmax((place - from) / (to - from), 0), 1);
}

double tmi_cdf_share(const tmi_cdf *c, double place)
{
    const size_t i = bin_of(c, place);
    return c->points[i].share + part_of(c, i, place) * (c->points[i + 1].share - c->points[i].share);
}

/* Where a line from (x0, y0) to (x1, y1) crosses q, y0 < q <= y1. */
static double crossing(double x0, double y0, double x1, double y1, double q) { return x0 + (q - y0) / (y1 - y0) * (x1 - x0); }

#define SAME 1e-12 /* shares that differ by less are equal: sums of weights are rounded */

double tmi_cdf_inverse(const tmi_cdf *c, double q)
{
    size_t i = 1;
    while (i + 1 < c->count && c->points[i].share < q - SAME) i++;
    const tmi_cdf_point *a = &c->points[i - 1], *b = &c->points[i];
    return fmin(crossing(a->place, a->share, b->place, b->share, q), b->place);
}

void tmi_cdf_errors(double *sampling, double *noise, const tmi_cdf *c, double place)
{
    const size_t i = bin_of(c, place);
    const double part = part_of(c, i, place);
    *sampling = c->points[i].sampling + part * (c->points[i + 1].sampling - c->points[i].sampling);
    *noise = c->points[i].noise + part * (c->points[i + 1].noise - c->points[i].noise);
}

double tmi_cdf_value(const tmi_cdf *c, double place)
{
    const double low = c->points[0].place, high = c->points[c->count - 1].place - 1;
    return c->step * fmin(fmax(ceil(place) - 1, low), high);
}

#define WIDTH 0.05 /* of a window on either side, as a share of the rows, at least */

double tmi_cdf_density(const tmi_cdf *c, double q)
{
    double sampling, noise;
    tmi_cdf_errors(&sampling, &noise, c, tmi_cdf_inverse(c, q));
    const double half = fmax(WIDTH, 2 * sqrt(sampling + noise)), from = fmax(q - half, q / 2), to = fmin(q + half, (1 + q) / 2);
    const double width = tmi_cdf_inverse(c, to) - tmi_cdf_inverse(c, from);
    return width > 0 ? (to - from) / width : INFINITY;
}
