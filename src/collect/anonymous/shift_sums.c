/* delta of a shift by direct sums in doubles, with a bound on their rounding: a hundred times faster than the contours of shift.c
 * where the counts of the others spread over some thousand places or fewer, and about as exact as a double.
 *
 * The others are one or two groups of equal trials. The masses w of a group are made relative to that of its mode, by the ratio
 * of neighbours, (n-k)/(k+1) times the odds: each step multiplies the relative error by at most (1+u)^7, u = 2^-53, since the
 * odds are known to 4 u and three roundings follow. Sums of products of positive numbers then have
 *
 *     |computed - true| <= (7 (steps of both groups) + 2 (places) + 24) u times the true one,
 *
 * to first order; 1 % more covers the rest, as the factor is at most 10^-10. Masses below 1e-45 of the mode are left out: ratios
 * fall away from the mode, so the first one left out, m, and all beyond it are at most m/(1 - ratio). What they could add to a
 * count or to a tail is added to its upper end. */
#include <math.h>
#include <tamis/experimental/bound.h>

#include "base/memory.h"
#include "collect/anonymous/shift.h"

#define PLACES 20000 /* of a group: sums take some ten microseconds */
#define LEAST 1e-45  /* relative to the mode */
#define NEAR 64      /* places looked at around the guess */
#define U 0x1p-53

/* Masses of one group relative to its mode, from `first` on. */
typedef struct group {
    double *mass, *above; /* above[i]: the sum of mass[i] and all after it */
    int64_t first, count, steps;
    double total, left_out;
} group;

typedef struct sums {
    group g[2];
    double total, left_out, error; /* of both: the sum of all products; what is left out of it; relative error */
    tmi_shift_line line;
} sums;

static void group_clear(group *g)
{
    tmi_free(g->mass);
    tmi_free(g->above);
}

/* p/(1-p), to 4 u; 0 where that is not found. */
static double odds_of(const tamis_number *p)
{
    tmi_ball x, y;
    tmi_ball_inits(&x, &y, NULL);
    tmi_ball_set_number(&x, p, TMI_BITS_FIRST);
    tmi_ball_neg(&y, &x);
    tmi_ball_add_int(&y, &y, 1, TMI_BITS_FIRST);
    tamis_bound odds = {0, 0};
    if (tmi_ball_is_positive(&x) && tmi_ball_is_positive(&y)) {
        tmi_ball_div(&x, &x, &y, TMI_BITS_FIRST);
        odds = tmi_ball_bound(&x);
    }
    tmi_ball_clears(&x, &y, NULL);
    return odds.lower > 1e-6 && odds.upper < 1e6 && odds.upper - odds.lower <= 4 * U * odds.lower ? odds.lower : 0;
}

/* The masses from the mode on in one direction, until they are small or end; what is beyond them. */
static double walk(double *mass, int64_t room, int64_t n, int64_t mode, int direction, double odds, int64_t *taken)
{
    double w = 1;
    *taken = 0;
    for (int64_t k = mode;; k += direction) {
        if (direction > 0 ? k == n : k == 0) return 0;
        double ratio = direction > 0 ? (double)(n - k) * odds / (double)(k + 1) : (double)k / ((double)(n - k + 1) * odds);
        w *= ratio;
        if (w < LEAST && ratio < 0.9999) return 2 * w / (1 - ratio);
        if (*taken == room) return INFINITY;
        mass[direction * ++*taken] = w;
    }
}

/* *done = false: too many places, or odds that are none. */
static tamis_status group_new(group *g, bool *done, const tamis_trials *trials, tamis_error *err)
{
    *g = (group){.count = 1, .total = 1};
    int64_t n = trials ? trials->count : 0, down = 0, up = 0;
    double odds = n > 0 ? odds_of(trials->probability) : 1, p = odds / (1 + odds), place = floor(((double)n + 1) * p);
    double reach = ceil(16 * sqrt((double)n * p * (1 - p)) + 60);
    *done = n == 0 || (odds > 0 && 2 * reach < PLACES);
    if (!*done) return TAMIS_OK;
    int64_t mode = (int64_t)fmin(place, (double)n), room = n == 0 ? 0 : (int64_t)reach;
    double *made = tmi_alloc((size_t)(2 * room + 1), sizeof *made);
    if (!made) return tmi_fail_memory(err);
    double *middle = made + room;
    *middle = 1;
    g->left_out = walk(middle, room, n, mode, 1, odds, &up) + walk(middle, room, n, mode, -1, odds, &down);
    *done = g->left_out < 1e-30;
    g->count = up + down + 1;
    g->first = mode - down;
    g->steps = up > down ? up : down;
    g->mass = tmi_alloc((size_t)g->count, sizeof *g->mass);
    g->above = tmi_alloc((size_t)g->count, sizeof *g->above);
    if (g->mass && g->above) {
        double sum = 0;
        for (int64_t i = g->count; i-- > 0;) {
            g->mass[i] = middle[i - down];
            g->above[i] = sum += g->mass[i];
        }
        g->total = sum;
    }
    tmi_free(made);
    return g->mass && g->above ? TAMIS_OK : tmi_fail_memory(err);
}

/* The mass at k, or with `tail` from k on, of both groups together; relative to s->total. */
static tamis_bound part(const sums *s, int64_t k, bool tail)
{
    const group *x = &s->g[0], *y = &s->g[1];
    int64_t low = k - y->first - y->count + 1, high = k - y->first; /* the ones of x for which y has a mass at the rest */
    int64_t from = low > x->first ? low : x->first, to = high < x->first + x->count - 1 ? high : x->first + x->count - 1;
    const double *other = tail ? y->above : y->mass;
    double four[4] = {0, 0, 0, 0}; /* sums, so that none waits for the one before it */
    for (int64_t i = from; i <= to; i++) four[i & 3] += x->mass[i - x->first] * other[k - i - y->first];
    double sum = four[0] + four[1] + (four[2] + four[3]);
    int64_t beyond = high + 1 > x->first ? high + 1 : x->first; /* with so many of x all of y are in the tail */
    if (tail && beyond < x->first + x->count) sum += x->above[beyond - x->first] * y->total;
    return (tamis_bound){sum * (1 - s->error), sum * (1 + s->error) + s->left_out};
}

/* gain(t) of shift.h: 1 or -1 where its sign is certain. */
static int gain_sign(const sums *s, tamis_bound before, tamis_bound at)
{
    const tmi_shift_line *l = &s->line;
    if (l->a.lower * before.lower * (1 - 4 * U) > l->b.upper * at.upper * (1 + 4 * U)) return 1;
    return l->a.upper * before.upper * (1 + 4 * U) < l->b.lower * at.lower * (1 - 4 * U) ? -1 : 0;
}

/* The largest of A c(t-1) - (E-1) G(t), sought around the guess; delta is left alone if it is not found there. */
static void largest(tamis_bound *delta, const sums *s, int64_t others)
{
    const tmi_shift_line *l = &s->line;
    int64_t low = !(l->guess >= 1) ? 1 : l->guess >= (double)others + 1 ? others + 1 : (int64_t)l->guess, high, steps = 0;
    tamis_bound best = {0, 0}, before, at = part(s, low - 1, false);
    for (; low > 1; low--, at = before) {
        before = part(s, low - 2, false);
        if (gain_sign(s, before, at) < 0) break;
        if (steps++ > NEAR) return;
    }
    for (high = low; high <= others; high++) {
        before = at;
        at = part(s, high, false);
        int sign = gain_sign(s, before, at);
        if (sign > 0) break;
        if (sign < 0) low = high + 1;
        if (steps++ > NEAR) return;
    }
    for (int64_t t = low; t <= high; t++) {
        tamis_bound c = part(s, t - 1, false), tail = part(s, t, true);
        double lower = l->a.lower * c.lower * (1 - 4 * U) - l->excess.upper * tail.upper * (1 + 4 * U);
        double upper = l->a.upper * c.upper * (1 + 4 * U) - l->excess.lower * tail.lower * (1 - 4 * U);
        best.lower = fmax(best.lower, lower);
        best.upper = fmax(best.upper, upper);
    }
    delta->lower = best.lower / (s->total * (1 + s->error) + s->left_out) * (1 - 8 * U);
    delta->upper = fmin(1, best.upper / (s->total * (1 - s->error)) * (1 + 8 * U));
}

tamis_status tmi_shift_sums(tamis_bound *delta, const tmi_shift *shift, const tmi_loss_at *at, tamis_error *err)
{
    sums s = {0};
    tamis_status status = TAMIS_OK;
    int64_t others = 0, steps = 0;
    tmi_shift_line line;
    tmi_shift_line_at(&line, shift, at);
    *delta = (tamis_bound){0, line.a.upper <= 0 ? 0 : 1};
    bool done = line.a.lower > 0 && line.excess.lower >= 0;
    for (size_t i = 0; i < 2 && done; i++) {
        const tamis_trials *trials = i < shift->count ? &shift->others[i] : NULL;
        TMI_TRY(group_new(&s.g[i], &done, trials, err));
        others += trials ? trials->count : 0;
        steps += s.g[i].steps;
    }
    if (!done) goto done;
    s.line = line;
    s.error = 1.01 * (7 * (double)steps + 2 * (double)(s.g[0].count + s.g[1].count) + 24) * U;
    s.total = s.g[0].total * s.g[1].total;
    s.left_out = 2 * (s.g[0].total * s.g[1].left_out + s.g[1].total * s.g[0].left_out + s.g[0].left_out * s.g[1].left_out);
    largest(delta, &s, others);
done:
    for (size_t i = 0; i < 2; i++) group_clear(&s.g[i]);
    return status;
}
