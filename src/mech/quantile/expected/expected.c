#include "mech/quantile/expected/expected.h"

#include <math.h>
#include <stdlib.h>

#include "mech/quantile/above.h"
#include "mech/quantile/smooth.h"
#include "mech/smooth_polyplace.h"
#include "num/number.h"

/* ---- the curve ---- */

double tmi_known_share(const tmi_known_curve *c, double place)
{
    size_t i = 1, end = c->count - 1; /* the first point that is not below the place */
    while (i < end) {
        const size_t middle = i + (end - i) / 2;
        if (c->places[middle] < place) i = middle + 1;
        else end = middle;
    }
    const double from = c->places[i - 1], part = (place - from) / (c->places[i] - from);
    return c->shares[i - 1] + fmin(fmax(part, 0), 1) * (c->shares[i] - c->shares[i - 1]);
}

double tmi_known_place(const tmi_known_curve *c, double share)
{
    size_t i = 1, end = c->count - 1;
    while (i < end) {
        const size_t middle = i + (end - i) / 2;
        if (c->shares[middle] < share) i = middle + 1;
        else end = middle;
    }
    const double from = c->shares[i - 1], rise = c->shares[i] - from;
    const double part = rise > 0 ? fmin(fmax((share - from) / rise, 0), 1) : 1;
    return c->places[i - 1] + part * (c->places[i] - c->places[i - 1]);
}

double tmi_known_point(const tmi_known_curve *c, double share) { return fmax(ceil(tmi_known_place(c, share)) - 1, c->places[0]); }

static double at_of(const tamis_quantile *q, size_t j) { return (double)q->targets[j].rank.p / (double)q->targets[j].rank.d; }

/* ---- places to look at ---- */

#define PIECES 8 /* of each part of the curve, of equal measure */

/* Around a quantile, in units of one over the rate. */
static const double around[] = {0.1, 0.25, 0.5, 0.8, 1.2, 1.7, 2.3, 3, 4, 5, 6.5, 8, 10, 13, 17, 22, 30};
#define AROUND (sizeof around / sizeof *around)

size_t tmi_known_places_room(const tmi_known_curve *c, size_t at_count)
{
    return (c->count - 1) * PIECES + 1 + at_count * (2 * AROUND + 1);
}

/* Part k of PIECES of a range of places. */
static double piece_of(double unit, double low, double from, double to, int k)
{
    const double part = (double)k / PIECES, first = from - low + unit;
    return unit > 0 ? low - unit + first * pow((to - low + unit) / first, part) : from + part * (to - from);
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

size_t tmi_known_places(double *places, const tmi_known_curve *c, double unit, const double *at, const double *rates,
                        size_t at_count)
{
    size_t count = 0;
    for (size_t i = 0; i + 1 < c->count; i++)
        for (int k = 0; k < PIECES; k++) places[count++] = piece_of(unit, c->places[0], c->places[i], c->places[i + 1], k);
    places[count++] = c->places[c->count - 1];
    for (size_t j = 0; j < at_count; j++) {
        places[count++] = tmi_known_place(c, at[j]);
        for (size_t k = 0; k < AROUND; k++) {
            const double far = around[k] / rates[j];
            if (at[j] > far) places[count++] = tmi_known_place(c, at[j] - far);
            if (at[j] + far < 1) places[count++] = tmi_known_place(c, at[j] + far);
        }
    }
    qsort(places, count, sizeof *places, by_size);
    return count;
}

/* ---- AboveThreshold ---- */

#define THRESHOLDS 32 /* of equal probability */

/* The place of a variable of Laplace's law, or of the exponential one, below which a share u lies. */
static double noise_at(double u, bool two_sided)
{
    if (!two_sided) return -log1p(-u);
    return u < 0.5 ? log(2 * u) : -log(2 - 2 * u);
}

/* The probability that it is at least x. */
static double noise_above(double x, bool two_sided)
{
    if (!two_sided) return x <= 0 ? 1 : exp(-x);
    return x <= 0 ? 1 - exp(x) / 2 : exp(-x) / 2;
}

/* Given the noisy threshold, the answer is the first candidate whose noise reaches it. HistogramMethod counts what is below. */
static double spread_of_above(const tamis_quantile *quantile, size_t j, const tmi_known_curve *c)
{
    const tmi_above *a = &quantile->above[j];
    const tmi_rank *rank = &quantile->targets[j].rank;
    const double q = at_of(quantile, j), centre = tmi_known_point(c, q), scale = tmi_number_nearest(a->nu_scale),
                 all = (double)rank->d * c->weight,
                 bar = q * (a->monotone ? (double)rank->d * (double)quantile->rows : all) +
                       (double)tmi_above_shift(a, rank, quantile->rows);
    double squares = 0;
    for (int k = 0; k < THRESHOLDS; k++) {
        const double threshold = bar + tmi_number_nearest(a->rho_scale) * noise_at((k + 0.5) / THRESHOLDS, a->two_sided);
        double left = 1;
        for (size_t i = 0; i < quantile->candidate_count && left > 1e-9; i++) {
            const double point = (double)quantile->candidates[i], gap = threshold - all * tmi_known_share(c, point);
            const double stops = i + 1 == quantile->candidate_count ? 1 : noise_above(gap / scale, a->two_sided);
            squares += left * stops * (point - centre) * (point - centre) / THRESHOLDS;
            left *= 1 - stops;
        }
    }
    return sqrt(squares);
}

/* ---- smooth sensitivity ---- */

#define RANKS 48
#define REACH 40.0

#define TAILS 24 /* powers of two of the probability to be larger */
#define PARTS 4  /* of each */
#define BITS 64

/* The root mean square of PolyPlace noise of this scale, which is cut at so far below and above. */
static double noise_within(const tmi_smooth *s, double scale, double below, double above)
{
    double squares = 0;
    tmi_ball u, z;
    tmi_ball_inits(&u, &z, NULL);
    for (int k = 0; k < TAILS * PARTS; k++) {
        const double power = ldexp(1, -(k / PARTS) - 1), larger = power * (1 + (k % PARTS + 0.5) / PARTS);
        tmi_ball_set_double(&u, 1 - larger);
        tmi_polyplace_size(&z, &u, s->shape, BITS);
        const double size = scale * (tmi_ball_bound(&z).lower + tmi_ball_bound(&z).upper) / 2, down = fmin(size, below),
                     up = fmin(size, above);
        squares += power / PARTS * (down * down + up * up) / 2;
    }
    tmi_ball_clears(&u, &z, NULL);
    return sqrt(squares);
}

/* The smooth sensitivity of records that are where the curve has them. Gaps between records vary as exponential variables do:
 * where one or two of them decide, the largest counts, and it is larger than their mean. */
static double spread_of_smooth(const tamis_quantile *quantile, size_t j, const tmi_known_curve *c)
{
    const tmi_smooth *s = &quantile->smooth[j];
    const double q = at_of(quantile, j), beta = tmi_number_nearest(s->beta), n = c->weight;
    double below[RANKS], above[RANKS], ranks[RANKS], most = 0;
    for (size_t k = 0; k < RANKS; k++) {
        ranks[k] = k == 0 ? 0 : k < 4 ? (double)k : 3 * pow(fmax(REACH / (3 * beta), 2), (double)(k - 3) / (RANKS - 4));
        const double down = q - ranks[k] / n, up = q + ranks[k] / n;
        below[k] = down <= 0 ? c->places[0] : tmi_known_place(c, down);
        above[k] = up >= 1 ? c->places[c->count - 1] : tmi_known_place(c, up);
    }
    for (size_t a = 0; a < RANKS; a++)
        for (size_t b = a == 0 ? 1 : 0; b < RANKS; b++)
            most = fmax(most, (above[b] - below[a]) * exp(-beta * (ranks[a] + ranks[b] - 1)));
    most *= (1 + fmin(beta, 1) / 2) / beta;
    return noise_within(s, most, tmi_known_point(c, q) - c->places[0], c->places[c->count - 1] - 1 - tmi_known_point(c, q));
}

tamis_status tmi_quantile_spread(double *errors, const tamis_quantile *q, const tmi_known_curve *c, tamis_error *err)
{
    if (q->method == TAMIS_QUANTILE_INVERSE || q->method == TAMIS_QUANTILE_JOINT || q->method == TAMIS_QUANTILE_SPLIT)
        return tmi_spread_of_draws(errors, q, c, err);
    if (q->distribution) return tmi_spread_of_sums(errors, q, c, err);
    for (size_t j = 0; j < q->count; j++) errors[j] = q->smooth ? spread_of_smooth(q, j, c) : spread_of_above(q, j, c);
    return TAMIS_OK;
}
