/* One pair of neighbours: populations with t and with t+1 ones. delta = sup_z g(t; z), and g rises up to the single point
 * where the likelihood ratio crosses e^eps, and falls after it.
 *
 * Doubles guess where the crossing is; balls decide. Between a point where the slope of g is certainly positive and one
 * where it is certainly negative lies the maximum, and it exceeds g there by at most the slope times the distance. On a
 * lattice all points between the two are tried. Below some `bottom` no slope need be known: there 0 <= sup g <=
 * F_t(bottom). The masses that the stored law leaves out are carried along, so a poor guess costs width, never truth. */
#include <math.h>

#include "base/memory.h"
#include "ht/srs.h"

/* Points whose slope has no certain sign that are tried one by one, before more bits are asked for. */
#define TRIES 256

typedef struct pair {
    const tmi_ht_srs *s;
    int64_t t;
    size_t count; /* of the law of Y_t */
    tmi_law ones;
    tmi_ball *lost;  /* P_t(y) (n-y)/(N-t): the part of P_t(y) that moves to y + 1 */
    tmi_ball *noise; /* count + 1 values of the noise */
    double *p, *q;   /* guesses of P_t(y) and `lost` */
    double scale, factor;
    tmi_ht_noise law;
    tmi_ball E, excess, rest;
    long bits;
} pair;

static void pair_clear(pair *a)
{
    for (size_t i = 0; a->lost && i < a->count; i++) tmi_ball_clear(&a->lost[i]);
    for (size_t i = 0; a->noise && i <= a->count; i++) tmi_ball_clear(&a->noise[i]);
    tmi_free(a->lost);
    tmi_free(a->noise);
    tmi_free(a->p);
    tmi_free(a->q);
    tmi_law_clear(&a->ones);
    tmi_ht_noise_clear(&a->law);
    tmi_ball_clears(&a->E, &a->excess, &a->rest, NULL);
}

static tamis_status pair_set(pair *a, const tmi_ht_srs *s, int64_t t, long bits, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tmi_window window = {bits < 900 ? ldexp(1, -(int)bits - 64) : 0x1p-1000, bits};
    tmi_ball zero;
    *a = (pair){.s = s, .t = t, .scale = s->scale ? tmi_number_nearest(s->scale) : 0, .bits = bits};
    tmi_ball_inits(&a->E, &a->excess, &a->rest, &zero, NULL);
    tmi_law_init(&a->ones);
    tmi_ht_factor(&a->E, &a->excess, s, bits);
    a->factor = tmi_ball_bound(&a->E).lower;
    TMI_TRY(tmi_law_hypergeometric(&a->ones, &(tmi_hypergeometric){s->N, t, s->n}, window, err));
    TMI_TRY(tmi_ht_noise_set(&a->law, s, bits, err));
    a->count = a->ones.count;
    a->lost = tmi_alloc(a->count, sizeof *a->lost);
    a->noise = tmi_alloc(a->count + 1, sizeof *a->noise);
    a->p = tmi_alloc(a->count, sizeof *a->p);
    a->q = tmi_alloc(a->count, sizeof *a->q);
    if (!a->lost || !a->noise || !a->p || !a->q) TMI_TRY(tmi_fail_memory(err));
    for (size_t i = 0; i <= a->count; i++) tmi_ball_init(&a->noise[i]);
    for (size_t i = 0; i < a->count; i++) {
        tmi_ball_init(&a->lost[i]);
        tmi_ball_mul_int(&a->lost[i], &a->ones.mass[i], s->n - a->ones.first - (int64_t)i, bits);
        tmi_ball_div_int(&a->lost[i], &a->lost[i], s->N - t, bits);
        a->p[i] = tmi_ball_bound(&a->ones.mass[i]).upper;
        a->q[i] = tmi_ball_bound(&a->lost[i]).upper;
    }
    tmi_ball_add(&a->rest, &a->ones.below, &a->ones.above, bits);
    tmi_ball_union(&a->rest, &a->rest, &zero, bits);
done:
    tmi_ball_clear(&zero);
    return status;
}

/* E sum lost_i (v_i - v_{i+1}) - (E-1) sum P_i v_i, for the values v of the noise. */
static void weigh(tmi_ball *z, const pair *a)
{
    tmi_ball moved, stayed, x;
    tmi_ball_inits(&moved, &stayed, &x, NULL);
    for (size_t i = 0; i < a->count; i++) {
        if (tmi_ball_is_zero(&a->noise[i]) && tmi_ball_is_zero(&a->noise[i + 1])) continue;
        tmi_ball_sub(&x, &a->noise[i], &a->noise[i + 1], a->bits);
        tmi_ball_mul(&x, &x, &a->lost[i], a->bits);
        tmi_ball_add(&moved, &moved, &x, a->bits);
        tmi_ball_mul(&x, &a->noise[i], &a->ones.mass[i], a->bits);
        tmi_ball_add(&stayed, &stayed, &x, a->bits);
    }
    tmi_ball_mul(z, &moved, &a->E, a->bits);
    tmi_ball_mul(&x, &stayed, &a->excess, a->bits);
    tmi_ball_sub(z, z, &x, a->bits);
    tmi_ball_clears(&moved, &stayed, &x, NULL);
}

/* z += [-2, 2] times E rest, over the scale for a density: what the stored law leaves out can move each sum by half of
 * that, since lost_i <= P_i. */
static void widen(tmi_ball *z, const pair *a, bool density)
{
    tmi_ball x, y;
    tmi_ball_inits(&x, &y, NULL);
    tmi_ball_mul(&x, &a->E, &a->rest, a->bits);
    tmi_ball_mul_int(&x, &x, 2, a->bits);
    if (density) {
        tmi_ball_set_number(&y, a->s->scale, a->bits);
        tmi_ball_div(&x, &x, &y, a->bits);
    }
    tmi_ball_neg(&y, &x);
    tmi_ball_union(&x, &x, &y, a->bits);
    tmi_ball_add(z, z, &x, a->bits);
    tmi_ball_clears(&x, &y, NULL);
}

static void gain(tmi_ball *g, pair *a, const tmi_ball *z, int64_t k)
{
    tmi_ht_noise_cdf(a->noise, a->count + 1, &a->law, z, k, a->ones.first, a->bits);
    weigh(g, a);
    widen(g, a, false);
}

/* The derivative of g, or g(k) - g(k-1). */
static void slope(tmi_ball *d, pair *a, const tmi_ball *z, int64_t k)
{
    tmi_ht_noise_density(a->noise, a->count + 1, &a->law, z, k, a->ones.first, a->bits);
    weigh(d, a);
    widen(d, a, !tmi_ht_is_lattice(a->s->noise));
}

/* [0, F_t(z)]: what sup g can be below z. */
static void below(tmi_ball *g, pair *a, const tmi_ball *z, int64_t k)
{
    tmi_ball x;
    tmi_ball_init(&x);
    tmi_ht_noise_cdf(a->noise, a->count + 1, &a->law, z, k, a->ones.first, a->bits);
    tmi_ball_set(g, &a->rest);
    for (size_t i = 0; i < a->count; i++) {
        tmi_ball_mul(&x, &a->noise[i], &a->ones.mass[i], a->bits);
        tmi_ball_add(g, g, &x, a->bits);
    }
    tmi_ball_set_int(&x, 0);
    tmi_ball_union(g, g, &x, a->bits);
    tmi_ball_clear(&x);
}

/* ---- guessing ---- */

/* -log of the density at v, up to a constant. */
static double depth(const pair *a, double v)
{
    switch (a->s->noise) {
    case TAMIS_NOISE_NONE: return v == 0 ? 0 : INFINITY;
    case TAMIS_NOISE_LAPLACE:
    case TAMIS_NOISE_DISCRETE_LAPLACE: return fabs(v) / a->scale;
    case TAMIS_NOISE_GAUSSIAN:
    case TAMIS_NOISE_DISCRETE_GAUSSIAN: break;
    }
    return v * v / (2 * a->scale * a->scale);
}

static bool seems_to_rise(const pair *a, double z)
{
    double first = (double)a->ones.first, last = first + (double)a->count;
    double nearest = fmin(fmax(round(z), first), last), least = depth(a, z - nearest), total = 0;
    if (!(least < INFINITY)) return z < first;
    double here = exp(least - depth(a, z - first));
    for (size_t i = 0; i < a->count; i++) {
        double next = exp(least - depth(a, z - first - (double)i - 1));
        total += (a->q[i] - a->p[i]) * here - a->q[i] * next + a->p[i] * here / a->factor; /* over E, which may be huge */
        here = next;
    }
    return total > 0;
}

/* How far below the support of Y_t nothing is left to win: e^-800 < 1e-300. */
static double reach(const pair *a)
{
    bool gaussian = a->s->noise == TAMIS_NOISE_GAUSSIAN || a->s->noise == TAMIS_NOISE_DISCRETE_GAUSSIAN;
    return a->s->noise == TAMIS_NOISE_NONE ? 1 : 1 + a->scale * (gaussian ? 40 : 800);
}

static double guess(const pair *a, double low, double high)
{
    bool lattice = tmi_ht_is_lattice(a->s->noise);
    for (int i = 0; i < 200; i++) {
        double middle = lattice ? floor((low + high) / 2) : (low + high) / 2;
        if (middle <= low || middle >= high) break;
        if (seems_to_rise(a, middle)) low = middle;
        else high = middle;
    }
    return low;
}

/* ---- deciding ---- */

static void best_of_lattice(tmi_ball *value, pair *a)
{
    double bottom = floor((double)a->ones.first - reach(a)), top = (double)a->ones.first + (double)a->count + reach(a);
    int64_t low = (int64_t)guess(a, bottom, ceil(top)), floor_at = (int64_t)bottom;
    tmi_ball x;
    tmi_ball_init(&x);
    int tries = TRIES;
    for (;; low--) {
        if (low <= floor_at || tries-- == 0) break;
        slope(&x, a, NULL, low);
        if (tmi_ball_is_positive(&x)) break;
    }
    if (low > floor_at && tries > 0) gain(value, a, NULL, low);
    else below(value, a, NULL, low);
    for (int64_t k = low + 1; tries > 0; k++, tries--) {
        slope(&x, a, NULL, k);
        if (tmi_ball_is_negative(&x)) break;
        gain(&x, a, NULL, k);
        tmi_ball_max(value, value, &x, a->bits);
    }
    if (tries <= 0) tmi_ball_set_unknown(value);
    tmi_ball_clear(&x);
}

/* The bracket low < high in balls; false if the bottom had to be taken. */
static bool bracket(tmi_ball *low, tmi_ball *high, pair *a)
{
    double bottom = (double)a->ones.first - reach(a), top = (double)a->ones.first + (double)a->count + reach(a);
    double middle = guess(a, bottom, top), r = ldexp(a->scale, -36);
    bool rises = false, falls = false;
    tmi_ball d;
    tmi_ball_init(&d);
    for (; !rises && middle - r > bottom; r *= 16) {
        tmi_ball_set_double(low, middle - r);
        slope(&d, a, low, 0);
        rises = tmi_ball_is_positive(&d);
    }
    if (!rises) tmi_ball_set_double(low, bottom);
    for (r = ldexp(a->scale, -36); !falls && middle + r < top; r *= 16) {
        tmi_ball_set_double(high, middle + r);
        slope(&d, a, high, 0);
        falls = tmi_ball_is_negative(&d);
    }
    if (!falls) tmi_ball_set_unknown(high);
    tmi_ball_clear(&d);
    return rises;
}

/* Halves until the bracket is 2^(-bits/4) of the scale, or the sign at the middle is not certain. */
static void narrow(tmi_ball *low, tmi_ball *high, pair *a)
{
    double enough = ldexp(a->scale, -(int)(a->bits / 4));
    tmi_ball x, d;
    tmi_ball_inits(&x, &d, NULL);
    for (;;) {
        tmi_ball_sub(&d, high, low, a->bits);
        if (!(tmi_ball_bound(&d).upper > enough)) break;
        tmi_ball_add(&x, low, high, a->bits);
        tmi_ball_div_int(&x, &x, 2, a->bits);
        slope(&d, a, &x, 0);
        if (tmi_ball_is_positive(&d)) tmi_ball_set(low, &x);
        else if (tmi_ball_is_negative(&d)) tmi_ball_set(high, &x);
        else break;
    }
    tmi_ball_clears(&x, &d, NULL);
}

static void best_of_line(tmi_ball *value, pair *a)
{
    tmi_ball low, high, x, d;
    tmi_ball_inits(&low, &high, &x, &d, NULL);
    bool rises = bracket(&low, &high, a);
    if (!tmi_ball_is_finite(&high)) {
        tmi_ball_set_unknown(value);
    } else {
        if (rises) narrow(&low, &high, a);
        tmi_ball_union(&x, &low, &high, a->bits);
        slope(&d, a, &x, 0);
        tmi_ball_sub(&x, &high, &low, a->bits);
        tmi_ball_mul(&d, &d, &x, a->bits);
        tmi_ball_set_int(&x, 0);
        tmi_ball_max(&d, &d, &x, a->bits);
        tmi_ball_union(&d, &d, &x, a->bits); /* [0, the most that g gains between low and the maximum] */
        if (rises) gain(value, a, &low, 0);
        else below(value, a, &low, 0);
        tmi_ball_add(value, value, &d, a->bits);
    }
    tmi_ball_clears(&low, &high, &x, &d, NULL);
}

typedef struct question {
    const tmi_ht_srs *s;
    int64_t t;
} question;

static tamis_status formula(tmi_ball *value, const void *context, long bits, tamis_error *err)
{
    const question *q = context;
    pair a;
    tamis_status status = pair_set(&a, q->s, q->t, bits, err);
    if (status == TAMIS_OK && tmi_ht_is_lattice(q->s->noise)) best_of_lattice(value, &a);
    else if (status == TAMIS_OK) best_of_line(value, &a);
    pair_clear(&a);
    return status;
}

tamis_status tmi_ht_pair_delta(tamis_bound *delta, const tmi_ht_srs *s, int64_t t, double width, tamis_error *err)
{
    tamis_bound bound;
    tamis_status status = tmi_certify(&bound, width, formula, &(question){s, t}, err);
    *delta = status == TAMIS_OK ? (tamis_bound){fmax(bound.lower, 0), fmin(bound.upper, 1)} : (tamis_bound){0, 1};
    return status;
}
