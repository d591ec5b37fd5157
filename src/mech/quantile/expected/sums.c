/* An answer that is read from noisy sums is at most x if the noisy sum up to x is at least q times that of all: with probability
 * Phi((F(x) - q) weight / sd), sd the deviation of the noise of the one less q times the other. It is smaller towards the end of
 * the range, where the two are the same. */
#include <math.h>

#include "base/memory.h"
#include "mech/quantile/distribution.h"
#include "mech/quantile/expected/expected.h"
#include "mech/quantile/tree.h"

/* The noise of a sum less q times that of all. Prefix sums have the noise sum over k of c(i - k) z(k), with the squares of c the
 * differences of their variances; of a tree the covariance of the two follows from the variance of what is behind the bin,
 * which is that of as many bins at the beginning. */
static double deviation(const tamis_distribution *d, size_t bin, double q)
{
    const size_t last = d->bins - 1;
    double sum = 0;
    if (d->tree) {
        const double own = d->sd[bin] * d->sd[bin], all = d->sd[last] * d->sd[last];
        const double behind = bin < last ? d->sd[last - 1 - bin] * d->sd[last - 1 - bin] : 0;
        return sqrt(fmax(own + q * q * all - q * (own + all - behind), 0));
    }
    for (size_t k = 0; k <= last; k++) { /* the noise k places before the last */
        const size_t to = bin + k - last;
        const double c = sqrt(fmax(d->sd[k] * d->sd[k] - (k > 0 ? d->sd[k - 1] * d->sd[k - 1] : 0), 0)),
                     b = bin + k < last ? 0 : sqrt(fmax(d->sd[to] * d->sd[to] - (to > 0 ? d->sd[to - 1] * d->sd[to - 1] : 0), 0));
        sum += (b - q * c) * (b - q * c);
    }
    return sqrt(sum);
}

#define LOOKED_AT 64 /* bins of prefix sums, evenly spread: between them deviations hardly change */

static void set_deviations(double *sd, const tamis_distribution *d, double q)
{
    for (size_t k = 0; !d->tree && k <= LOOKED_AT; k++) sd[k] = deviation(d, (d->bins - 1) * k / LOOKED_AT, q);
}

/* In a tree a sum up to the end of a node has less noise than those between, which cannot be below it once the function ascends:
 * so the nearest such end counts. */
static double deviation_of_tree(const tamis_distribution *d, double q, size_t bin)
{
    const size_t width = d->tree->branching, end = (bin + width / 2) / width * width;
    return deviation(d, end == 0 ? (width < d->bins ? width : d->bins) - 1 : end - 1 < d->bins ? end - 1 : d->bins - 1, q);
}

static double deviation_at(const double *sd, const tamis_distribution *d, double q, double point)
{
    const size_t bin = tmi_bin_of(d, (int64_t)point);
    if (d->tree) return deviation_of_tree(d, q, bin);
    const double place = (double)bin / (double)(d->bins - 1) * LOOKED_AT, k = fmin(floor(place), LOOKED_AT - 1);
    return sd[(size_t)k] + (place - k) * (sd[(size_t)k + 1] - sd[(size_t)k]);
}

/* The mean of (x - centre)^2 for an answer in [from, to], which is the last point of its bin. */
static double square_of(double from, double to, double width, double centre)
{
    const double low = from + (width - 1) / 2 - centre, high = to + (width - 1) / 2 - centre;
    return (high * high + high * low + low * low) / 3 + width * width / 12;
}

static double spread_of(double *places, const tamis_distribution *d, double q, const tmi_known_curve *c)
{
    const double centre = tmi_known_point(c, q), end = c->places[c->count - 1] - 1,
                 width = (end + 1 - c->places[0]) / (double)d->bins;
    double sd[LOOKED_AT + 1], below = 0, squares = 0;
    set_deviations(sd, d, q);
    const double rate = c->weight / fmax(deviation_at(sd, d, q, centre), 1e-9);
    const size_t count = tmi_known_places(places, c, 0, &q, &rate, 1);
    for (size_t i = 0; i + 1 < count; i++) {
        const double from = places[i], to = places[i + 1], z = (tmi_known_share(c, to) - q) * c->weight;
        const double noise = deviation_at(sd, d, q, fmin(to, end)), reached = i + 2 == count ? 1
                                                                              : noise > 0    ? erfc(-z / noise / sqrt(2)) / 2
                                                                                             : z >= 0;
        if (!(reached > below)) continue;
        squares += (reached - below) * square_of(from, to, width, centre);
        below = reached;
    }
    return sqrt(squares);
}

tamis_status tmi_spread_of_sums(double *errors, const tamis_quantile *q, const tmi_known_curve *c, tamis_error *err)
{
    double *places = tmi_alloc(tmi_known_places_room(c, 1), sizeof *places);
    if (!places) return tmi_fail_memory(err);
    for (size_t j = 0; j < q->count; j++)
        errors[j] = spread_of(places, q->distribution, (double)q->targets[j].rank.p / (double)q->targets[j].rank.d, c);
    tmi_free(places);
    return TAMIS_OK;
}
