/* The worst total, without looking at every one.
 *
 * For fixed z, g(t+1; z) - g(t; z) = f (E h_{t+1}(z) - h_t(z)) with E = e^eps. h_t is log-concave in t (the proof is in
 * docs/papers.md#ht-worst), so g(.; z) rises to one peak t*(z) and falls; and h_{t+1}/h_t rises with z, so t*(z) never
 * falls as z rises. Hence the best over a window is the best of its two ends, or lies at a peak inside; and the z whose
 * peak lies in first..last are an interval z1..z2. On this box
 *
 *     g(t; z) <= E f max h - (E-1) F_last(z1),
 *     h_t(z) <= h_first(z2) max(1, h_{first+1}(z2)/h_first(z2))^(last-first) max(1, h_first(z2-1)/h_first(z2))^(z2-z1),
 *
 * the first factor by log-concavity in t, the second by log-concavity in z and because the ratio falls as t rises. A
 * block whose bound is below the best value so far is done; another one is halved.
 *
 * The bounds are computed in long double: masses by their ratios from the mode outwards, divided by their sum. Each step
 * is four roundings, so after J steps, and 2 J additions of positive terms, every mass and every sum is right up to a
 * factor 1 +- 9 J u, u = LDBL_EPSILON, as long as J u < 1e-3; what lies beyond the stored masses is at most a geometric
 * series. `upper` and `lower` carry that factor. */
#include <float.h>
#include <math.h>

#include "mech/ht_srs.h"

/* A block is excluded when its bound is at most this much above the best: ties need not be told apart. */
#define SLACK 1e-10

/* Masses below this share of the largest are not summed one by one. */
#define NEGLIGIBLE 1e-25L

typedef struct column {
    long double mass, sum; /* P_t(z), P(Y_t <= z) */
    long double error;     /* relative, of both */
    long double rest;      /* the sum may be larger by this: what was not added up */
} column;

static column column_of(int64_t N, int64_t t, int64_t n, int64_t z)
{
    int64_t low = n + t > N ? n + t - N : 0, high = n < t ? n : t;
    int64_t mode = (int64_t)((tmi_int128)(n + 1) * (t + 1) / (N + 2)), y;
    long double w = 1, total = 1, at_most = mode <= z, at_z = mode == z, r = 0;
    for (y = mode; y < high && (w > NEGLIGIBLE || y < z); y++) {
        r = (long double)(t - y) * (long double)(n - y) / ((long double)(y + 1) * (long double)(N - t - n + y + 1));
        w *= r;
        total += w;
        if (y + 1 <= z) at_most += w;
        if (y + 1 == z) at_z = w;
    }
    int64_t steps = y - mode;
    long double rest = y < high && r < 1 ? w * r / (1 - r) : 0;
    for (y = mode, w = 1; y > low && (w > NEGLIGIBLE || y > z); y--) {
        r = (long double)y * (long double)(N - t - n + y) / ((long double)(t - y + 1) * (long double)(n - y + 1));
        w *= r;
        total += w;
        if (y - 1 <= z) at_most += w;
        if (y - 1 == z) at_z = w;
    }
    if (y > low && r < 1) rest += w * r / (1 - r);
    if (steps < mode - y) steps = mode - y;
    return (column){at_z / total, at_most / total, 9 * (long double)(steps + 4) * LDBL_EPSILON + 2 * rest / total,
                    2 * rest / total};
}

/* The largest real z with E h_{t+1}(z) <= h_t(z); in long double it is wrong by less than 2^44 u < 2^-10. */
static long double crossing(const tmi_ht_srs *s, long double E, int64_t t)
{
    long double others = (long double)(s->N - 1 - t), ones = (long double)(t + 1);
    return ones * (others - E * (long double)(s->N - t - s->n)) / (others + E * ones);
}

#define CROSSING_ERROR 0x1p-10L

/* max(1, ratio)^times, from above: `times` multiplications at most, in any order. */
static long double power_up(long double ratio, int64_t times)
{
    long double z = 1, square = ratio;
    if (ratio <= 1) return 1;
    for (int64_t left = times; left > 0 && z < LDBL_MAX; left /= 2) {
        if (left & 1) z *= square;
        square *= square;
    }
    return z * (1 + 16 * (long double)(times + 1) * LDBL_EPSILON);
}

typedef struct factors {
    tamis_bound E, excess;
} factors;

/* The bound of the block, and for one total a value that is attained. */
static void block(long double *upper, long double *lower, const tmi_ht_srs *s, const factors *e, int64_t first,
                  int64_t last)
{
    int64_t N = s->N, n = s->n;
    long double left = ceill(crossing(s, e->E.upper, first - 1) - CROSSING_ERROR);
    long double right = floorl(crossing(s, e->E.lower, last) + CROSSING_ERROR);
    *lower = 0;
    *upper = 0;
    if (left < 0) left = 0;
    if (right > (long double)(n - 1)) right = (long double)(n - 1);
    if (left > right) return; /* no z has its peak here */
    int64_t z1 = (int64_t)left, z2 = (int64_t)right;
    column far = column_of(N, last, n, z1), near = far;
    if (first != last || z1 != z2) near = column_of(N, first, n, z2);
    long double moved = near.mass * (long double)(n - z2) / (long double)(N - first);
    if (near.error > 1e-3L || far.error > 1e-3L || z2 > first || N - first - n + z2 < 1 || near.mass <= 0) {
        *upper = INFINITY;
        return;
    }
    long double along = (long double)(first + 1) * (long double)(N - first - n + z2) /
                        ((long double)(first + 1 - z2) * (long double)(N - 1 - first));
    long double across = (long double)z2 * (long double)(N - first - n + z2) /
                         ((long double)(first - z2 + 1) * (long double)(n - z2));
    long double most = moved * (1 + near.error) * power_up(along, last - first) * power_up(across, z2 - z1);
    *upper = e->E.upper * most - e->excess.lower * far.sum * (1 - far.error);
    long double rounding = 8 * LDBL_EPSILON * (e->E.upper * most + e->excess.upper * far.sum);
    *upper += rounding;
    if (first == last && z1 == z2)
        *lower = e->E.lower * moved * (1 - near.error) - e->excess.upper * (far.sum * (1 + far.error) + far.rest) -
                 rounding;
}

/* ---- the search ---- */

/* Masses of laws in balls for pairs that are computed exactly, and blocks: some seconds each. */
#define MAX_MASSES 2e6
#define MAX_BLOCKS 200000
#define DEPTH 128

typedef struct search {
    const tmi_ht_srs *s;
    factors e;
    tamis_bound best; /* upper: of the pairs computed in balls */
    double known;     /* the best value is at least this */
    double rest;      /* the largest bound of an excluded block */
    double masses;
    int64_t worst, promising, blocks, excluded;
} search;

static tamis_status too_many(tamis_error *err)
{
    return tmi_fail(err, TAMIS_UNABLE, "too many totals would have to be looked at one by one: narrow mt, Mt");
}

/* About as many as the law of Y_t has. */
static double masses_of(const tmi_ht_srs *s, int64_t t)
{
    double p = (double)t / (double)s->N, n = (double)s->n;
    return fmin(n, 50 + 32 * sqrt(n * p * (1 - p)));
}

static tamis_status try_pair(search *a, int64_t t, tamis_error *err)
{
    tamis_bound delta;
    a->masses += masses_of(a->s, t);
    if (a->masses > MAX_MASSES) return too_many(err);
    tamis_status status = tmi_ht_pair_delta(&delta, a->s, t, TAMIS_WIDTH, err);
    if (status != TAMIS_OK) return status;
    if (delta.lower > a->best.lower || a->worst < 0) {
        a->worst = t;
        a->best.lower = delta.lower;
    }
    a->best.upper = fmax(a->best.upper, delta.upper);
    a->known = fmax(a->known, delta.lower);
    return TAMIS_OK;
}

static tamis_status walk(search *a, int64_t low, int64_t high, tamis_error *err)
{
    struct { int64_t first, last; } stack[DEPTH];
    size_t depth = 0;
    if (low > high) return TAMIS_OK;
    stack[depth].first = low;
    stack[depth++].last = high;
    while (depth > 0) {
        int64_t first = stack[--depth].first, last = stack[depth].last;
        long double upper = INFINITY, lower = 0;
        if (++a->blocks > MAX_BLOCKS) return tmi_fail(err, TAMIS_UNABLE, "the worst total could not be found in time");
        if (a->s->noise == TAMIS_NOISE_NONE) block(&upper, &lower, a->s, &a->e, first, last);
        if (lower > (long double)a->known) {
            a->known = (double)lower * (1 - DBL_EPSILON);
            a->promising = first;
        }
        if (upper <= (long double)a->known * (1 + SLACK)) {
            a->excluded++;
            a->rest = fmax(a->rest, (double)upper * (1 + DBL_EPSILON));
        } else if (first == last) {
            tamis_status status = try_pair(a, first, err);
            if (status != TAMIS_OK) return status;
        } else {
            int64_t middle = first + (last - first) / 2;
            stack[depth].first = middle + 1;
            stack[depth++].last = last;
            stack[depth].first = first;
            stack[depth++].last = middle;
        }
    }
    return TAMIS_OK;
}

tamis_status tmi_ht_search(tamis_bound *delta, int64_t *worst, int64_t *blocks, const tmi_ht_srs *s, int64_t low,
                           int64_t high, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    search a = {.s = s, .worst = -1, .promising = -1};
    tmi_ball E, excess;
    tmi_ball_init(&E);
    tmi_ball_init(&excess);
    tmi_ht_factor(&E, &excess, s, TMI_BITS_FIRST);
    a.e = (factors){tmi_ball_bound(&E), tmi_ball_bound(&excess)};
    *delta = (tamis_bound){0, 1};
    if (s->noise != TAMIS_NOISE_NONE && /* no bound of blocks: every total is tried */
        (double)(high - low) * fmin(masses_of(s, low), masses_of(s, high)) > MAX_MASSES) TMI_TRY(too_many(err));
    TMI_TRY(try_pair(&a, low, err));
    if (high > low) TMI_TRY(try_pair(&a, high, err));
    TMI_TRY(walk(&a, low + 1, high - 1, err));
    if (a.promising >= 0) TMI_TRY(try_pair(&a, a.promising, err));
    *delta = (tamis_bound){fmax(a.best.lower, a.known), fmin(1, fmax(a.best.upper, a.rest))};
done:
    *worst = a.best.upper > 0 ? a.worst : -1;
    *blocks = a.excluded;
    tmi_ball_clear(&E);
    tmi_ball_clear(&excess);
    return status;
}
