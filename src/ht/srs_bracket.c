/* One total: where g(t; .) is largest, and how large it is there.
 *
 * The density of Y_t + W is p_t, l = p_{t+1}/p_t rises in z, and g' = p_t (1 - E l): g rises while E l < 1. If it rises at
 * `low` and falls at `top`, then between them g gains at most
 *
 *     int p_t (1 - E l) <= (1 - E l(low)) (F_t(top) - F_t(low)),
 *
 * which is of second order in top - low. On a lattice the same holds with sums. Where the sign at a point z cannot be
 * determined, because E l(z) is nearly 1, g(t; z) itself is close: upwards and downwards it gains at most |1 - E l(z)| times
 * the mass. */
#include <float.h>
#include <math.h>

#include "ht/srs_total.h"

/* Probes for one total, and points of a lattice that are tried one by one where signs cannot be determined. */
#define PROBES 400
#define POINTS 8

typedef struct bracket {
    const tmi_ht_column *c;
    tmi_ht_rows *r;
    const tmi_ht_factors *e;
    tmi_ht_aim aim;
    bool has_low, has_top, open;
    double low, top;            /* g certainly rises at low (or F_t is below the floor), and falls at top */
    long double at_low, at_top; /* slope over density, about */
    double unsure;              /* a point whose sign could not be determined, */
    long double gap;            /* and how far E l can be from 1 there, or 1 */
    int probes;
} bracket;

static tamis_status probe(int *sign, bracket *b, double z, tamis_error *err)
{
    tmi_ht_slope s;
    tamis_status status = TAMIS_OK;
    if (b->probes++ == PROBES || !(fabs(z) < 0x1p60))
        TMI_TRY(tmi_fail(err, TAMIS_UNABLE, "the point where the likelihood ratio crosses e^eps could not be determined"));
    TMI_TRY(tmi_ht_slope_at(&s, b->c, b->r, b->e, z, err));
    *sign = s.slope.lower >= 0 ? 1 : s.slope.upper <= 0 ? -1 : 0;
    long double weight = s.density.lower + s.density.upper;
    long double height = weight > 0 ? (s.slope.lower + s.slope.upper) / weight : 0;
    if (*sign > 0) {
        b->low = z;
        b->at_low = height;
        b->has_low = true;
        b->open = false;
    } else if (*sign < 0) {
        b->top = z;
        b->at_top = height;
        b->has_top = true;
    }
    if (*sign == 0 && s.density.lower > 0) {
        long double gap = fmaxl(-s.slope.lower, s.slope.upper) / s.density.lower;
        if (gap < b->gap) {
            b->unsure = z;
            b->gap = gap;
        }
    }
    if (*sign <= 0 && (!b->has_low || b->open)) {
        tmi_ht_value v;
        TMI_TRY(tmi_ht_value_at(&v, b->c, b->r, b->e, z, err));
        if (v.cdf.upper <= (long double)b->aim.floor) {
            b->low = z;
            b->at_low = 1e-3L;
            b->has_low = b->open = true;
        }
    }
done:
    return status;
}

/* From the guess outwards, in steps that double. Upwards only up to the stride, so as not to jump over the points whose signs
 * can be determined; downwards the floor catches all. */
static tamis_status surround(bracket *b, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    double z = b->aim.guess, step = b->aim.step;
    int sign;
    TMI_TRY(probe(&sign, b, z, err));
    for (double up = z; !b->has_top; step = fmin(2 * step, b->aim.stride)) {
        up += step;
        TMI_TRY(probe(&sign, b, up, err));
    }
    step = b->aim.step;
    for (double down = z; !b->has_low; step *= 2) {
        down -= step;
        TMI_TRY(probe(&sign, b, down, err));
    }
done:
    return status;
}

/* The sign at z, inside the bracket, cannot be determined: finds the nearest points around it where it can. */
static tamis_status step_aside(bracket *b, double z, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    int sign = 0;
    for (double step = b->aim.grain; sign <= 0 && z - step > b->low; step *= 2) TMI_TRY(probe(&sign, b, z - step, err));
    sign = 0;
    for (double step = b->aim.grain; sign >= 0 && z + step < b->top; step *= 2) TMI_TRY(probe(&sign, b, z + step, err));
done:
    return status;
}

/* Where between low and top the secant crosses 0: a share of the way, the middle if it does not tell. */
static double secant(const bracket *b)
{
    long double fall = b->at_low - b->at_top;
    double share = fall > 0 ? (double)(b->at_low / fall) : 0;
    return share > 0 && share < 1 ? share : 0.5;
}

/* Secants, on multiples of the grain: where the secant is right, the next probe is its neighbour. */
static tamis_status narrow(bracket *b, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    double grain = b->aim.grain;
    int sign = 0, same = 0, last = 0;
    while (b->top - b->low > 1.5 * grain) {
        double z = b->low + (b->top - b->low) * (same < 3 ? secant(b) : 0.5);
        z = grain * (last > 0 ? ceil(z / grain) : floor(z / grain));
        if (z <= b->low) z = b->low + grain;
        if (z >= b->top) z = b->top - grain;
        TMI_TRY(probe(&sign, b, z, err));
        if (sign == 0 && b->low != z) {
            TMI_TRY(step_aside(b, z, err));
            break;
        }
        same = sign == last ? same + 1 : 0;
        last = sign;
    }
done:
    return status;
}

static tamis_status measure(tmi_ht_total *x, const bracket *b, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    bool lattice = tmi_ht_is_lattice(b->r->s->noise);
    tmi_ht_slope low, top;
    tmi_ht_value at_low, at_top;
    x->low = b->low;
    x->top = lattice && b->top > b->low ? b->top - 1 : b->top;
    x->open = b->open;
    x->guess = x->low + (x->top - x->low) * secant(b);
    TMI_TRY(tmi_ht_value_at(&at_low, b->c, b->r, b->e, x->low, err));
    TMI_TRY(tmi_ht_slope_at(&low, b->c, b->r, b->e, x->low, err));
    at_top = at_low;
    top = low;
    if (x->top > x->low) {
        TMI_TRY(tmi_ht_value_at(&at_top, b->c, b->r, b->e, x->top, err));
        TMI_TRY(tmi_ht_slope_at(&top, b->c, b->r, b->e, x->top, err));
    }
    x->under = at_low.cdf.upper;
    x->cdf_top = at_top.cdf;
    x->density_top = top.density;
    long double lower = fmaxl(at_low.gain.lower, at_top.gain.lower), upper;
    if (x->open) {
        upper = at_top.cdf.upper;
    } else if (lattice && x->top - x->low < POINTS) {
        upper = fmaxl(at_low.gain.upper, at_top.gain.upper);
        for (double z = x->low + 1; z < x->top; z++) {
            TMI_TRY(tmi_ht_value_at(&at_low, b->c, b->r, b->e, z, err));
            lower = fmaxl(lower, at_low.gain.lower);
            upper = fmaxl(upper, at_low.gain.upper);
        }
    } else {
        long double steep = low.density.lower > 0 ? low.slope.upper / low.density.lower : 1;
        upper = at_low.gain.upper + fminl(fmaxl(steep, 0), 1) * (at_top.cdf.upper - at_low.cdf.lower);
        upper += fabsl(upper) * 8 * LDBL_EPSILON;
    }
    if (!x->open && b->gap < 1) {
        TMI_TRY(tmi_ht_value_at(&at_low, b->c, b->r, b->e, b->unsure, err));
        lower = fmaxl(lower, at_low.gain.lower);
        upper = fminl(upper, at_low.gain.upper + b->gap * (1 + 8 * LDBL_EPSILON));
    }
    x->delta = (tmi_ht_range){fmaxl(lower, 0), fminl(fmaxl(upper, 0), 1)};
done:
    return status;
}

tamis_status tmi_ht_total_set(tmi_ht_total *x, tmi_ht_rows *r, const tmi_ht_factors *e, int64_t t, tmi_ht_aim aim,
                              tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    bracket b = {&x->column, r, e, aim, .gap = 1};
    TMI_TRY(tmi_ht_column_set(&x->column, r->s->N, r->s->n, t, aim.negligible, err));
    if (!(x->column.error < 1e-3L)) TMI_TRY(tmi_fail(err, TAMIS_UNABLE, "too many masses for long double"));
    TMI_TRY(surround(&b, err));
    if (b.top > b.low) TMI_TRY(narrow(&b, err));
    TMI_TRY(measure(x, &b, err));
done:
    return status;
}

void tmi_ht_total_clear(tmi_ht_total *x)
{
    tmi_ht_column_clear(&x->column);
    *x = (tmi_ht_total){0};
}
