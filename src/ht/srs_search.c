/* The worst total, without looking at every one.
 *
 * Write D(t) = sup_z g(t; z), E = e^eps, r_t = h_{t+1}/h_t and p_t for the density (or mass) of Y_t + W. For log-concave
 * noise, and without noise, h_t(z) and p_t(z) are log-concave in t (the proof is in docs/papers.md#ht-worst), and their
 * ratios of neighbours rise in z, since the hypergeometric laws and the noise have monotone likelihood ratios. So r_t
 * falls in t and rises in z, and the point z*(t) where p_{t+1}/p_t crosses 1/E, at which g(t; .) is largest, never falls
 * as t rises.
 *
 * A block first < last. From g(s+1; z) - g(s; z) = f h_s(z) (E r_s(z) - 1) and f h_s = F_s - F_{s+1}, for first <= t <= last
 * and every z <= Z with Z >= z*(last),
 *
 *     g(t; z) <= g(first; z) + (E r_first(Z) - 1)+ (F_first(z) - F_last(z)),                                       (1)
 *
 * and downwards, for every z >= z0 with z0 <= z*(first),
 *
 *     g(t; z) <= g(last; z) + (1 - E r_last(z0))+ (F_first(z) - F_last(z)).                                        (2)
 *
 * D(t) is attained in z0..Z, so D is at most the smaller of D(first) + ..., D(last) + ... . The last factor is at most
 * F_first(Z); at most (last - first) f max h; and at most F_first(Z) - F_last(Z) if p_last(Z) <= p_first(Z), because it
 * rises in z as long as that holds. Near the best total the first factor is 0: D falls. Elsewhere both factors are
 * proportional to the length, so the bound exceeds the truth by its square. A search walks from both ends of the window
 * towards the middle, in blocks as long as their bound stays below the best value.
 *
 * Far from the ends one bound takes all the rest. Y', the hypergeometric variable behind h, is a sum of independent
 * indicators (its generating function has real zeros), so with its variance v its characteristic function is at most
 * e^(-v (1 - cos x)) in modulus, and by inversion
 *
 *     max h <= M = 1/sqrt(2 pi v) (1 + 0.2072/v) + e^-v/2,
 *     max |h(z) - h(z-1)| <= S = (2/pi) (1/(2v) + 0.2072/v^2 + sqrt 2 e^-v).
 *
 * (Put u = sin^2(x/2); 1/sqrt(1-u) <= 1 + 0.8285 u up to u = 1/2.) Noise does not raise them. As Y_t is at most Y' + 1 in
 * law, F_t(z) >= h_t(z-1) + h_t(z-2) + ... >= (y - S)^2/(2 S) with y = h_t(z) > S, so that
 *
 *     D <= sup over y <= M of E f y - (E-1) ((y - S)+)^2 / (2 S).                                                  (3)
 *
 * v is concave in t: its least value in a range of totals is at an end.
 *
 * And where e^eps is far above what the likelihood ratio usually is, Hoeffding's bound does it. Noise only lowers D, and
 * without noise the ratio crosses at y <= q(t) = (t+1) (n - (E-1) (N-t-n)) / (N - t + E (t+1)), which rises with t; so with
 * p = first/N and q = q(last)/n < p, for all totals of the block
 *
 *     D <= P(Y_first <= q n) <= exp(-n (p - q)^2 / (2 max of x (1-x) over q..p)).                                  (4) */
#include <float.h>
#include <math.h>

#include "ht/srs_total.h"

/* A block is excluded when its bound is at most this much above the best: ties need not be distinguished. */
#define SLACK 1e-11

/* Relative width that is good enough for the value of one total in long double; balls do the others. */
#define GOOD 1e-11

/* Beyond this e^eps long double loses too many digits: bounds are taken at it, values come from balls. */
#define LARGE 1e12L

/* Masses in long double (some seconds), and in balls. */
#define MAX_WORK 4e8
#define MAX_MASSES 2e6

typedef struct search {
    const tmi_ht_srs *s;
    tmi_ht_factors e;
    tmi_ht_rows rows;
    bool has_rows; /* or else every total is looked at, in balls */
    bool is_large; /* e^eps is beyond LARGE: long double gives upper bounds only */
    double negligible;
    tamis_bound target; /* values up to its lower end need not be distinguished; one above its upper end ends the search */
    double best;        /* the largest upper end of the totals whose value is known closely */
    double known;       /* the best value is at least this */
    double rest;        /* the largest bound of all that was excluded */
    double work, masses;
    int64_t worst, excluded;
    tmi_ht_total here, there, end;
    bool stands; /* here is where the walk is */
} search;

static tamis_status too_many(tamis_error *err)
{
    return tmi_fail(err, TAMIS_UNABLE, "too many totals would have to be checked one by one: bring low and high closer together");
}

static double limit(const search *a) { return fmax(fmax(a->known * (1 + SLACK), a->target.lower), TMI_HT_TINY); }

/* ---- moments, for guesses ---- */

static double mean_of(const tmi_ht_srs *s, int64_t t) { return (double)s->n * ((double)t / (double)s->N); }

static double variance_of(const search *a, int64_t t)
{
    const tmi_ht_srs *s = a->s;
    double N = (double)s->N, p = (double)t / N, v = (double)s->n * p * (1 - p) * (N - (double)s->n) / fmax(N - 1, 1);
    bool laplace = s->noise == TAMIS_NOISE_LAPLACE || s->noise == TAMIS_NOISE_DISCRETE_LAPLACE;
    return v + (s->scale ? (laplace ? 2 : 1) * a->rows.scale * a->rows.scale : 0);
}

static double power_of_2(double x) { return ldexp(1, ilogb(x)); }

/* ---- one total ---- */

static tmi_ht_aim aim_at(const search *a, int64_t t, double guess, double grain)
{
    double spread = sqrt(variance_of(a, t)), size = fmax(fabs(guess), (double)a->s->n);
    guess = fmin(guess, mean_of(a->s, t) + 1); /* roughly where the crossing is for eps = 0: signs can be determined there */
    guess = fmax(guess, mean_of(a->s, t) - 40 * spread - 2);
    if (tmi_ht_is_lattice(a->s->noise)) {
        grain = 1;
    } else {
        grain = power_of_2(fmin(grain, fmin(spread, a->rows.scale) / 8));
        grain = fmax(grain, power_of_2(size) * 0x1p-49);
    }
    double stride = fmax(grain, power_of_2(fmax(spread, 1e-9) / 2)), step = grain;
    if (a->s->scale && a->rows.scale < 0.25) { /* between two integers there may be nothing to tell a sign from */
        step = 1;
        stride = fmax(stride, 1);
    }
    guess = step * floor(guess / step);
    double least = fmax(limit(a) / 1024, a->negligible * 0x1p40);
    return (tmi_ht_aim){guess, grain, step, stride, least, a->negligible};
}

static tamis_status look(tmi_ht_total *x, search *a, int64_t t, double guess, double grain, tamis_error *err)
{
    tamis_status status = tmi_ht_total_set(x, &a->rows, &a->e, t, aim_at(a, t, guess, grain), err);
    if (status != TAMIS_OK) return status;
    a->work += (double)x->column.count + 64;
    if (a->work > MAX_WORK) return tmi_fail(err, TAMIS_UNABLE, "the worst total could not be found in time");
    if (a->is_large) x->delta.lower = 0;
    if (x->delta.lower > (long double)a->known || a->worst < 0) {
        a->known = fmax(a->known, (double)x->delta.lower * (1 - DBL_EPSILON));
        a->worst = t;
    }
    return TAMIS_OK;
}

static double upper_of(tmi_ht_range x) { return fmin(1, (double)x.upper * (1 + DBL_EPSILON)); }

/* About as many as the law of Y_t has in balls. */
static double masses_of(const tmi_ht_srs *s, int64_t t)
{
    double p = (double)t / (double)s->N, n = (double)s->n;
    return fmin(n, 50 + 32 * sqrt(n * p * (1 - p)));
}

static tamis_status try_pair(tmi_ht_range *value, search *a, int64_t t, tamis_error *err)
{
    tamis_bound delta;
    a->masses += masses_of(a->s, t);
    if (a->masses > MAX_MASSES) return too_many(err);
    tamis_status status = tmi_ht_pair_delta(&delta, a->s, t, TAMIS_WIDTH, err);
    if (status != TAMIS_OK) return status;
    if (delta.lower > a->known || a->worst < 0) {
        a->worst = t;
        a->known = fmax(a->known, delta.lower);
    }
    a->best = fmax(a->best, delta.upper);
    *value = (tmi_ht_range){(long double)delta.lower, (long double)delta.upper};
    return TAMIS_OK;
}

static bool is_close(const search *a, const tmi_ht_total *x)
{
    double upper = upper_of(x->delta);
    return upper <= limit(a) || upper - (double)x->delta.lower <= GOOD * upper || a->known > a->target.upper;
}

/* The value of a total, closely: finer and finer brackets first, then balls. */
static tamis_status settle(tmi_ht_total *x, search *a, int64_t t, double guess, tamis_error *err)
{
    static const double shares[] = {0x1p-4, 0x1p-13, 0x1p-26};
    tamis_status status = TAMIS_OK;
    for (int i = 0; i < 3 && a->has_rows; i++) {
        status = look(x, a, t, guess, shares[i] * sqrt(variance_of(a, t)), err);
        if (status == TAMIS_UNABLE) a->has_rows = false;
        else if (status != TAMIS_OK) return status;
        else if (is_close(a, x)) break;
        guess = x->guess;
    }
    if (!a->has_rows || !is_close(a, x)) return try_pair(&x->delta, a, t, err);
    a->best = fmax(a->best, upper_of(x->delta));
    return TAMIS_OK;
}

/* ---- the bounds ---- */

/* (3), for totals between first and last; without eps if `mass_only`: then max h. */
static long double far_bound(const search *a, int64_t first, int64_t last, bool mass_only)
{
    long double N = (long double)a->s->N, n = (long double)a->s->n, f = n / N;
    if (a->s->N < 3 || a->s->n < 2) return mass_only ? 1 : f * (1 + 4 * LDBL_EPSILON);
    long double one = (long double)first / (N - 1) * (1 - (long double)first / (N - 1));
    long double other = (long double)last / (N - 1) * (1 - (long double)last / (N - 1));
    long double v = (n - 1) * fminl(one, other) * ((N - n) / (N - 2)) * (1 - 32 * LDBL_EPSILON);
    long double M = 1, S = 1;
    if (v > 1) {
        long double tail = 24 / (v * v * v * v); /* e^-v v^4 < 24 */
        M = fminl(1, sqrtl(0.1591549431L / v) * (1 + 0.2072L / v) + tail / 2);
        S = fminl(1, 0.636619773L * (0.5L / v + 0.2072L / (v * v) + 1.4142136L * tail));
        M *= 1 + 32 * LDBL_EPSILON;
        S *= 1 + 32 * LDBL_EPSILON;
    }
    if (mass_only) return M;
    long double reward = a->e.E.upper * f, price = a->e.excess.lower;
    long double y = price > 0 ? fminl(M, S + S * reward / price) : M, over = fmaxl(y - S, 0);
    long double bound = reward * y - price * (over * over / (2 * S)) + 64 * LDBL_EPSILON * reward * y;
    return fminl(bound, f * M * (1 + 4 * LDBL_EPSILON)); /* and D is at most what it is at eps = 0 */
}

static void exclude(search *a, long double bound)
{
    a->excluded++;
    a->rest = fmax(a->rest, fmin(1, (double)bound * (1 + DBL_EPSILON)));
}

/* (4); a power of 2 */
static long double tail_bound(const search *a, int64_t first, int64_t last)
{
    long double N = (long double)a->s->N, n = (long double)a->s->n, t = (long double)last, E = a->e.E.lower;
    long double q = (t + 1) * (n - a->e.excess.lower * (N - t - n)) / (N - t + E * (t + 1)) + 0.01L; /* for rounding */
    long double p = (long double)first / N;
    if (q < 0) return 0;
    q /= n;
    if (q >= p) return 1;
    long double x = p <= 0.5L ? p : q >= 0.5L ? q : 0.5L;
    long double depth = n * (p - q) * (p - q) / (2 * x * (1 - x));
    return ldexpl(1, -(int)fminl(floorl(1.4426L * depth * (1 - 64 * LDBL_EPSILON)), 2000));
}

/* The longest block from `from` towards `to`, but of at least `least` totals, that (3) or (4) excludes; 0 if none. */
static int64_t skip(search *a, int64_t from, int64_t to, int64_t least)
{
    int way = to > from ? 1 : -1;
    for (int64_t size = way * (to - from); size >= least; size = size > least && size / 2 < least ? least : size / 2) {
        int64_t first = way > 0 ? from : from - size, last = way > 0 ? from + size : from;
        long double bound = fminl(far_bound(a, first, last, false), tail_bound(a, first, last));
        if (bound <= (long double)limit(a)) {
            exclude(a, bound);
            return size;
        }
        if (size == least) break;
    }
    return 0;
}

/* (1) and (2), for x.t < y.t. */
static tamis_status block_bound(long double *bound, search *a, const tmi_ht_total *x, const tmi_ht_total *y, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tmi_ht_value v, w;
    tmi_ht_slope s;
    long double f = (long double)a->s->n / (long double)a->s->N;
    TMI_TRY(tmi_ht_value_at(&v, &x->column, &a->rows, &a->e, y->top, err));
    TMI_TRY(tmi_ht_slope_at(&s, &x->column, &a->rows, &a->e, y->top, err));
    TMI_TRY(tmi_ht_value_at(&w, &y->column, &a->rows, &a->e, x->low, err));
    long double moved = (long double)(y->column.t - x->column.t) * f * far_bound(a, x->column.t, y->column.t, true);
    moved = fminl(v.cdf.upper, moved * (1 + 8 * LDBL_EPSILON));
    if (s.density.lower >= y->density_top.upper) moved = fminl(moved, fmaxl(v.cdf.upper - y->cdf_top.lower, 0));
    long double up = v.rise.upper <= 0 ? 0 : v.moved.lower > 0 ? v.rise.upper / v.moved.lower : (long double)INFINITY;
    long double down = w.rise.lower >= 0 ? 0 : w.moved.lower > 0 ? fminl(1, -w.rise.lower / w.moved.lower) : 1;
    if (y->column.t + 1 >= a->s->N) down = 1; /* there is no r_t */
    up = moved > 0 && up > 0 ? up * moved * (1 + 8 * LDBL_EPSILON) : 0;
    down = down * moved * (1 + 8 * LDBL_EPSILON);
    *bound = x->delta.upper + up;
    long double other = y->delta.upper + down;
    if (x->open) other = fmaxl(other, x->under);
    *bound = fminl(*bound, other) * (1 + 8 * LDBL_EPSILON);
done:
    return status;
}

/* ---- the walk ---- */

/* The factor by which the length of a block should change: near the best total its excess grows like the square. */
static double change(double allowed, double excess)
{
    if (!(excess > 0)) return 3;
    return 0.8 * sqrt(fmax(allowed, 0) / excess);
}

/* From `from`, where a->here is, to `to`; in balls where there are no rows. */
static tamis_status walk(search *a, int64_t from, int64_t to, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    int way = to > from ? 1 : -1;
    double f = (double)a->s->n / (double)a->s->N, length = fmax(1, 0.25 / f), slope = f, good = 0, growth = 3;
    while (from != to && a->known <= a->target.upper) {
        int64_t size = (int64_t)fmin(fmax(floor(length), 1), fabs((double)to - (double)from)), t;
        int64_t skipped = skip(a, from, to, a->has_rows ? size : 1);
        if (skipped > 0) {
            from += way * skipped;
            a->stands = false;
            continue;
        }
        t = from + way * (a->has_rows ? size : 1);
        if (!a->has_rows) {
            TMI_TRY(try_pair(&a->there.delta, a, t, err));
            from = t;
            continue;
        }
        double z = a->here.guess + (double)(t - a->here.column.t) * slope, grain = f * (double)size / 4;
        if (!a->stands) TMI_TRY(look(&a->here, a, from, a->here.guess + (double)(from - a->here.column.t) * slope, grain, err));
        a->stands = true;
        TMI_TRY(look(&a->there, a, t, z, grain, err));
        if (upper_of(a->there.delta) > limit(a)) TMI_TRY(settle(&a->there, a, t, a->there.guess, err));
        if (!a->has_rows) continue;
        long double bound;
        if (way > 0) TMI_TRY(block_bound(&bound, a, &a->here, &a->there, err));
        else TMI_TRY(block_bound(&bound, a, &a->there, &a->here, err));
        double base = fmin(upper_of(a->here.delta), upper_of(a->there.delta));
        double factor = change(limit(a) - base, (double)bound - base);
        if (size > 1 && !(bound <= (long double)limit(a))) {
            length = (double)size > 1.3 * good && good > 0 ? good : (double)size * fmin(0.7, fmax(factor, 1.0 / 64));
            good = 0;
            growth = 1.2;
            continue;
        }
        if (size > 1) exclude(a, bound);
        else a->rest = fmax(a->rest, upper_of(a->there.delta));
        slope = (a->there.guess - a->here.guess) / (double)(way * size);
        tmi_ht_total x = a->here;
        a->here = a->there;
        a->there = x;
        from = t;
        good = (double)size;
        length = good * fmin(growth, fmax(factor, 0.5));
        growth = fmin(3, 1.3 * growth);
    }
done:
    return status;
}

/* ---- the search ---- */

static tamis_status begin(search *a, double negligible, tamis_error *err)
{
    tmi_ht_rows_clear(&a->rows);
    a->negligible = negligible;
    tamis_status status = tmi_ht_rows_set(&a->rows, a->s, negligible, err);
    a->has_rows = status == TAMIS_OK;
    return status == TAMIS_UNABLE ? TAMIS_OK : status;
}

static double first_guess(const search *a, int64_t t)
{
    double v = variance_of(a, t), f = (double)a->s->n / (double)a->s->N;
    return mean_of(a->s, t) - fmin((double)a->e.excess.upper / f * v, 8 * sqrt(v));
}

/* Both ends, with as little left out as their values ask for. */
static tamis_status ends(search *a, int64_t low, int64_t high, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    for (double negligible = 0x1p-120;; negligible *= negligible) {
        TMI_TRY(begin(a, negligible, err));
        if (a->has_rows && negligible > 0x1p-900) {
            double grain = sqrt(variance_of(a, low)) / 8;
            status = look(&a->end, a, high, first_guess(a, high), grain, err);
            if (status == TAMIS_OK) status = look(&a->here, a, low, first_guess(a, low), grain, err);
            if (status == TAMIS_UNABLE || (status == TAMIS_OK && limit(a) * 0x1p-60 < negligible)) continue;
            TMI_TRY(status);
        }
        TMI_TRY(settle(&a->end, a, high, first_guess(a, high), err));
        if (high > low) TMI_TRY(settle(&a->here, a, low, first_guess(a, low), err));
        break;
    }
done:
    return status;
}

static void set_factors(search *a)
{
    tmi_ball E, excess;
    tmi_ball_inits(&E, &excess, NULL);
    tmi_ht_factor(&E, &excess, a->s, TMI_BITS_FIRST);
    tamis_bound factor = tmi_ball_bound(&E), less = tmi_ball_bound(&excess);
    a->e = (tmi_ht_factors){{(long double)factor.lower, (long double)factor.upper},
                            {(long double)less.lower, (long double)less.upper}};
    a->is_large = !(a->e.E.upper < LARGE);
    if (a->is_large) a->e = (tmi_ht_factors){{LARGE, LARGE}, {LARGE - 1, LARGE - 1}};
    tmi_ball_clears(&E, &excess, NULL);
}

tamis_status tmi_ht_search(tamis_bound *delta, int64_t *worst, int64_t *blocks, const tmi_ht_srs *s, int64_t low, int64_t high,
                           tamis_bound target, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    search a = {.s = s, .worst = -1, .target = target};
    int64_t middle = low + (high - low) / 2;
    tmi_law_init(&a.rows.law.law);
    set_factors(&a);
    *delta = (tamis_bound){0, 1};
    if (s->n == s->N) high = middle = low; /* a census: every total is like every other */
    TMI_TRY(ends(&a, low, high, err));
    if (high > low) {
        a.stands = true;
        TMI_TRY(walk(&a, low, middle, err));
        tmi_ht_total x = a.here;
        a.here = a.end;
        a.end = x;
        a.stands = true;
        TMI_TRY(walk(&a, high, middle, err));
    }
done:
    *delta = (tamis_bound){a.known, fmin(1, fmax(a.best, a.rest))};
    if (status != TAMIS_OK || a.known > target.upper) /* not all totals were looked at */
        *delta = (tamis_bound){a.known, fmin(1, (double)far_bound(&a, low, high, false) * (1 + DBL_EPSILON))};
    *worst = a.best > 0 ? a.worst : -1;
    *blocks = a.excluded;
    tmi_ht_total_clear(&a.here);
    tmi_ht_total_clear(&a.there);
    tmi_ht_total_clear(&a.end);
    tmi_ht_rows_clear(&a.rows);
    return status;
}
