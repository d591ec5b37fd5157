/* The smallest eps with delta = 0 for two atomic laws with Gaussian noise: the logarithm of the largest ratio of the two
 * densities. In units of the standard deviation it is, at y,
 *
 *     R(y) = sum_j h_j e^(y z_j - z_j^2/2) / sum_j t_j e^(y z_j - z_j^2/2),
 *
 * h_j and t_j the masses under x and under x'. As y grows R tends to the ratio of the last masses, and from y = B on it is
 * at most (h_last + what the other h add at B) / t_last, since their shares fall; so with the first masses at the other
 * end. The caller has seen that t_first and t_last are not 0 (otherwise the ratio is unbounded). Between, intervals are
 * halved and dropped once they cannot hold more than the best value found. The derivative of log R is the mean of z under
 * the tilted h less that under the tilted t.
 *
 * With discrete Gaussian noise the same holds at the integers k, y = k/s.                                           */
#include <math.h>

#include "base/memory.h"
#include "ht/pair.h"
#include "survey/design/design.h"

#define MAX_INTERVALS 40000
#define DEPTH 4096

typedef struct tilt {
    size_t count;
    tmi_ball *h, *t, *z;
    double *at;    /* z_j, about */
    tmi_ball unit; /* y = unit * u; u is an integer if lattice */
    bool lattice;
    long bits;
} tilt;

static void tilt_clear(tilt *w)
{
    tmi_balls_free(w->h, w->count);
    tmi_balls_free(w->t, w->count);
    tmi_balls_free(w->z, w->count);
    tmi_free(w->at);
    tmi_ball_clear(&w->unit);
}

static tamis_status tilt_set(tilt *w, const tmi_atoms *atoms, long bits, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *gap = NULL, *z = NULL;
    *w = (tilt){.count = atoms->count,
                .h = tmi_balls_new(atoms->count),
                .t = tmi_balls_new(atoms->count),
                .z = tmi_balls_new(atoms->count),
                .at = tmi_alloc(atoms->count, sizeof *w->at),
                .lattice = atoms->noise == TAMIS_NOISE_DISCRETE_GAUSSIAN,
                .bits = bits};
    tmi_ball_init(&w->unit);
    if (!w->h || !w->t || !w->z || !w->at) TMI_TRY(tmi_fail_memory(err));
    for (size_t j = 0; j < atoms->count; j++) {
        tmi_atoms_mass(&w->h[j], atoms, j, false, bits);
        tmi_atoms_mass(&w->t[j], atoms, j, true, bits);
        TMI_TRY(tmi_number_sub(&gap, atoms->list[j].at, atoms->list[0].at, err));
        TMI_TRY(tmi_number_div(&z, gap, atoms->scale, err));
        tmi_ball_set_number(&w->z[j], z, bits);
        w->at[j] = tmi_number_nearest(z);
        tamis_number_free(gap);
        tamis_number_free(z);
        gap = z = NULL;
    }
    tmi_ball_set_int(&w->unit, 1);
    if (w->lattice) {
        tmi_ball s;
        tmi_ball_init(&s);
        tmi_ball_set_number(&s, atoms->variance, bits);
        tmi_ball_sqrt(&s, &s, bits);
        tmi_ball_div(&w->unit, &w->unit, &s, bits);
        tmi_ball_clear(&s);
    }
done:
    tamis_number_free(gap);
    tamis_number_free(z);
    return status;
}

/* e^(y (z_j - z_c) - (z_j^2 - z_c^2)/2) = e^((z_j - z_c) (y - (z_j + z_c)/2)) */
static void factor(tmi_ball *x, const tilt *w, size_t j, size_t c, const tmi_ball *y)
{
    tmi_ball half;
    tmi_ball_init(&half);
    tmi_ball_add(&half, &w->z[j], &w->z[c], w->bits);
    tmi_ball_div_int(&half, &half, 2, w->bits);
    tmi_ball_sub(&half, y, &half, w->bits);
    tmi_ball_sub(x, &w->z[j], &w->z[c], w->bits);
    tmi_ball_mul(x, x, &half, w->bits);
    tmi_ball_exp(x, x, w->bits);
    tmi_ball_clear(&half);
}

/* The sums of h and t over all j, and those with the factor z_j. */
typedef struct sums {
    tmi_ball h, t, hz, tz;
} sums;

static void sums_init(sums *s) { tmi_ball_inits(&s->h, &s->t, &s->hz, &s->tz, NULL); }

static void sums_clear(sums *s) { tmi_ball_clears(&s->h, &s->t, &s->hz, &s->tz, NULL); }

static void add_up(sums *s, const tilt *w, const tmi_ball *y, double about)
{
    size_t c = 0;
    tmi_ball e, x;
    for (size_t j = 1; j < w->count; j++)
        if (fabs(w->at[j] - about) < fabs(w->at[c] - about)) c = j;
    tmi_ball_inits(&e, &x, NULL);
    tmi_ball_set_int(&s->h, 0);
    tmi_ball_set_int(&s->t, 0);
    tmi_ball_set_int(&s->hz, 0);
    tmi_ball_set_int(&s->tz, 0);
    for (size_t j = 0; j < w->count; j++) {
        factor(&e, w, j, c, y);
        for (int law = 0; law < 2; law++) {
            tmi_ball *sum = law == 0 ? &s->h : &s->t, *moment = law == 0 ? &s->hz : &s->tz;
            tmi_ball_mul(&x, law == 0 ? &w->h[j] : &w->t[j], &e, w->bits);
            tmi_ball_add(sum, sum, &x, w->bits);
            tmi_ball_mul(&x, &x, &w->z[j], w->bits);
            tmi_ball_add(moment, moment, &x, w->bits);
        }
    }
    tmi_ball_clears(&e, &x, NULL);
}

static void log_ratio(tmi_ball *value, const tilt *w, double u)
{
    sums s;
    tmi_ball y;
    sums_init(&s);
    tmi_ball_init(&y);
    tmi_ball_set_double(&y, u);
    tmi_ball_mul(&y, &y, &w->unit, w->bits);
    add_up(&s, w, &y, tmi_ball_bound(&y).upper);
    tmi_ball_div(value, &s.h, &s.t, w->bits);
    tmi_ball_log(value, value, w->bits);
    sums_clear(&s);
    tmi_ball_clear(&y);
}

/* Tilted mean: a quotient, which never leaves the points. */
static void mean(tmi_ball *z, const tmi_ball *moment, const tmi_ball *sum, const tilt *w)
{
    tmi_ball all;
    tmi_ball_init(&all);
    tmi_ball_union(&all, &w->z[0], &w->z[w->count - 1], w->bits);
    tmi_ball_div(z, moment, sum, w->bits);
    if (!tmi_ball_is_finite(z)) tmi_ball_set(z, &all);
    tmi_ball_max(z, z, &w->z[0], w->bits);
    tmi_ball_min(z, z, &w->z[w->count - 1], w->bits);
    tmi_ball_clear(&all);
}

/* log R on low..high, by the mean value form around the middle. */
static void log_ratio_on(tmi_ball *value, const tilt *w, double low, double high)
{
    double middle = (low + high) / 2;
    sums s;
    tmi_ball y, x, slope;
    sums_init(&s);
    tmi_ball_inits(&y, &x, &slope, NULL);
    log_ratio(value, w, middle);
    tmi_ball_set_double(&x, low);
    tmi_ball_set_double(&y, high);
    tmi_ball_union(&x, &x, &y, w->bits);
    tmi_ball_mul(&y, &x, &w->unit, w->bits);
    add_up(&s, w, &y, middle * tmi_ball_bound(&w->unit).upper);
    mean(&slope, &s.hz, &s.h, w);
    mean(&y, &s.tz, &s.t, w);
    tmi_ball_sub(&slope, &slope, &y, w->bits);
    tmi_ball_set_double(&y, middle); /* rounded: the ends may be further from it than half of the length */
    tmi_ball_sub(&x, &x, &y, w->bits);
    tmi_ball_mul(&x, &x, &w->unit, w->bits);
    tmi_ball_mul(&slope, &slope, &x, w->bits);
    tmi_ball_add(value, value, &slope, w->bits);
    sums_clear(&s);
    tmi_ball_clears(&y, &x, &slope, NULL);
}

/* From u on (up to u) R is at most e^most: the limit, and a share of it or of 1 that is below 2^-bits. */
static bool tail(tmi_ball *most, tmi_ball *limit, double *u, const tilt *w, bool left)
{
    size_t m = left ? 0 : w->count - 1;
    double unit = tmi_ball_bound(&w->unit).upper, start = w->at[m] / unit;
    tmi_ball others, x, y, enough;
    bool found = false;
    tmi_ball_inits(&others, &x, &y, &enough, NULL);
    bool none = tmi_ball_is_zero(&w->h[m]);
    tmi_ball_set(&enough, none ? &w->t[m] : &w->h[m]);
    tmi_ball_set_double(&x, none ? 0.5 : ldexp(1, -(int)(w->bits < 900 ? w->bits : 900)));
    tmi_ball_mul(&enough, &enough, &x, w->bits);
    for (double step = 1 / unit; !found && step < 1e15; step *= 1.5) {
        *u = left ? start - step : start + step;
        if (w->lattice) *u = left ? floor(*u) : ceil(*u);
        tmi_ball_set_double(&y, *u);
        tmi_ball_mul(&y, &y, &w->unit, w->bits);
        tmi_ball_set_int(&others, 0);
        for (size_t j = 0; j < w->count; j++) {
            if (j == m) continue;
            factor(&x, w, j, m, &y);
            tmi_ball_mul(&x, &x, &w->h[j], w->bits);
            tmi_ball_add(&others, &others, &x, w->bits);
        }
        found = tmi_ball_is_less(&others, &enough);
    }
    tmi_ball_add(most, &w->h[m], &others, w->bits);
    tmi_ball_div(most, most, &w->t[m], w->bits);
    tmi_ball_log(most, most, w->bits);
    if (!none) {
        tmi_ball_div(limit, &w->h[m], &w->t[m], w->bits);
        tmi_ball_log(limit, limit, w->bits);
    }
    tmi_ball_clears(&others, &x, &y, &enough, NULL);
    return found;
}

typedef struct interval {
    double low, high;
} interval;

/* best: the largest value seen; rest: the most that what was not looked at more closely can hold. */
static tamis_status search(tmi_ball *best, tmi_ball *rest, const tilt *w, interval whole, tamis_error *err)
{
    interval *stack = tmi_alloc(DEPTH, sizeof *stack);
    double shortest = ldexp(1, -(int)(w->bits / 3));
    tamis_status status = TAMIS_OK;
    size_t depth = 1;
    tmi_ball x, enough;
    tmi_ball_inits(&x, &enough, NULL);
    if (!stack) TMI_TRY(tmi_fail_memory(err));
    stack[0] = whole;
    for (int i = 0; depth > 0; i++) {
        interval now = stack[--depth];
        double middle = (now.low + now.high) / 2, next;
        if (w->lattice) middle = floor(middle);
        next = w->lattice ? middle + 1 : middle;
        if (i == MAX_INTERVALS || depth + 2 > DEPTH)
            TMI_TRY(tmi_fail(err, TAMIS_UNABLE, "the largest ratio of the two densities could not be found in time"));
        log_ratio(&x, w, middle);
        tmi_ball_max(best, best, &x, w->bits);
        if (now.low >= now.high) continue;
        tmi_ball_shift(&enough, best, -44);
        tmi_ball_add(&enough, &enough, best, w->bits);
        log_ratio_on(&x, w, now.low, now.high);
        if (tmi_ball_is_less(&x, &enough)) continue;
        if (!w->lattice && (now.high - now.low < shortest || middle <= now.low || middle >= now.high)) {
            tmi_ball_max(rest, rest, &x, w->bits);
            continue;
        }
        stack[depth++] = (interval){next, now.high};
        stack[depth++] = (interval){now.low, middle};
    }
done:
    tmi_free(stack);
    tmi_ball_clears(&x, &enough, NULL);
    return status;
}

tamis_status tmi_atoms_pure_gaussian(tmi_ball *value, const void *context, long bits, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    interval whole;
    tilt w;
    tmi_ball best, rest, most, limit;
    tmi_ball_inits(&best, &rest, &most, &limit, NULL);
    tmi_ball_set_int(&best, 0); /* densities cannot all be smaller */
    tmi_ball_set_int(&rest, 0);
    TMI_TRY(tilt_set(&w, context, bits, err));
    for (int left = 0; left < 2; left++) {
        tmi_ball_set_int(&limit, 0);
        if (!tail(&most, &limit, left ? &whole.low : &whole.high, &w, left)) tmi_ball_set_unknown(&most);
        tmi_ball_max(&rest, &rest, &most, bits);
        tmi_ball_max(&best, &best, &limit, bits);
    }
    TMI_TRY(search(&best, &rest, &w, whole, err));
    tmi_ball_shift(&most, &best, -44);
    tmi_ball_add(&most, &most, &best, bits);
    tmi_ball_max(&rest, &rest, &most, bits);
    tmi_ball_union(value, &best, &rest, bits);
done:
    tilt_clear(&w);
    tmi_ball_clears(&best, &rest, &most, &limit, NULL);
    return status;
}
