/* PolyPlace noise, after Hladik and Tetek: Z with the density f(z) = (1-z)^(p-1)/(2H) for 0 <= z <= 1/p and
 * C (1+z)^-(p+1)/(2H) beyond, p = eps/beta, symmetric. With r = 1 - 1/p and q = 1 + 1/p:
 *
 *     C = r^(p-1) q^(p+1),  inner half mass (1 - r^p)/p,  outer half mass r^(p-1) q/p,  H their sum.
 *
 * The noise is (S/beta) Z: in units of S everything is scaled by 1/beta.                                              */
#include <math.h>
#include <tamis/experimental/smooth.h>

#include "mech/smooth_polyplace.h"
#include "num/exact.h"

typedef struct law {
    const tamis_number *eps, *beta;
    tmi_term p, z; /* p = eps/beta; z >= 0, or the level of a quantile, at least 1/2 */
    bool beyond;   /* z > 1/p */
} law;

typedef struct parts {
    tmi_ball p, r, q, inner, outer, half, c;
} parts;

/* z = x^(n) for x > 0 */
static void power(tmi_ball *z, const tmi_ball *x, const tmi_ball *n, long bits)
{
    tmi_ball y;
    tmi_ball_init(&y);
    tmi_ball_log(&y, x, bits);
    tmi_ball_mul(&y, &y, n, bits);
    tmi_ball_exp(z, &y, bits);
    tmi_ball_clear(&y);
}

static void parts_init(parts *l, const law *w, long bits)
{
    tmi_ball x, y;
    tmi_ball_inits(&l->p, &l->r, &l->q, &l->inner, &l->outer, &l->half, &l->c, &x, &y, NULL);
    tmi_ball_set_number(&l->p, w->p, bits);
    tmi_ball_set_int(&x, 1);
    tmi_ball_div(&y, &x, &l->p, bits);
    tmi_ball_add_int(&l->q, &y, 1, bits);
    tmi_ball_sub(&l->r, &x, &y, bits);
    tmi_ball_add_int(&x, &l->p, -1, bits);
    power(&x, &l->r, &x, bits); /* r^(p-1) */
    tmi_ball_mul(&l->outer, &x, &l->q, bits);
    tmi_ball_mul(&y, &x, &l->r, bits);
    tmi_ball_add_int(&y, &y, -1, bits);
    tmi_ball_neg(&y, &y);
    tmi_ball_div(&l->inner, &y, &l->p, bits);
    tmi_ball_add_int(&y, &l->p, 1, bits);
    power(&y, &l->q, &y, bits);
    tmi_ball_mul(&l->c, &x, &y, bits);
    tmi_ball_div(&l->outer, &l->outer, &l->p, bits);
    tmi_ball_add(&l->half, &l->inner, &l->outer, bits);
    tmi_ball_clears(&x, &y, NULL);
}

static void parts_clear(parts *l) { tmi_ball_clears(&l->p, &l->r, &l->q, &l->inner, &l->outer, &l->half, &l->c, NULL); }

/* The integral of z^2 f over z > 0, times H, is the sum of
 *     [w^p/p - 2 w^(p+1)/(p+1) + w^(p+2)/(p+2)] from r to 1, and C (q^(2-p)/(p-2) - 2 q^(1-p)/(p-1) + q^-p/p).          */
static void bracket(tmi_ball *value, const parts *l, const tmi_ball *w, bool outer, long bits)
{
    static const int weight[] = {1, -2, 1};
    tmi_ball n, x;
    tmi_ball_inits(&n, &x, NULL);
    tmi_ball_set_int(value, 0);
    for (int k = 0; k < 3; k++) {
        if (outer) {
            tmi_ball_neg(&n, &l->p);
            tmi_ball_add_int(&n, &n, 2 - k, bits); /* 2 - p, 1 - p, -p */
        } else {
            tmi_ball_add_int(&n, &l->p, k, bits);
        }
        power(&x, w, &n, bits);
        tmi_ball_div(&x, &x, &n, bits);
        tmi_ball_mul_int(&x, &x, outer ? -weight[k] : weight[k], bits);
        tmi_ball_add(value, value, &x, bits);
    }
    tmi_ball_clears(&n, &x, NULL);
}

static tamis_status sd(tmi_ball *value, const void *context, long bits, tamis_error *err)
{
    const law *w = context;
    parts l;
    tmi_ball x;
    (void)err;
    parts_init(&l, w, bits);
    tmi_ball_init(&x);
    tmi_ball_set_int(&x, 1);
    bracket(value, &l, &x, false, bits);
    bracket(&x, &l, &l.r, false, bits);
    tmi_ball_sub(value, value, &x, bits);
    bracket(&x, &l, &l.q, true, bits);
    tmi_ball_mul(&x, &x, &l.c, bits);
    tmi_ball_add(value, value, &x, bits);
    tmi_ball_div(value, value, &l.half, bits);
    tmi_ball_sqrt(value, value, bits);
    tmi_ball_set_number(&x, w->beta, bits);
    tmi_ball_div(value, value, &x, bits);
    parts_clear(&l);
    tmi_ball_clear(&x);
    return TAMIS_OK;
}

/* The integral of z f over z > 0, times H: by parts -r^p/p^2 + (1 - r^(p+1))/(p (p+1)) inside, and outer (1/p + q/(p-1)) beyond,
 * where the mass above z is outer ((1+z)/q)^-p. */
static tamis_status mean_size(tmi_ball *value, const void *context, long bits, tamis_error *err)
{
    const law *w = context;
    parts l;
    tmi_ball x, y;
    (void)err;
    parts_init(&l, w, bits);
    tmi_ball_inits(&x, &y, NULL);
    power(&x, &l.r, &l.p, bits);
    tmi_ball_mul(&y, &x, &l.r, bits);
    tmi_ball_neg(&y, &y);
    tmi_ball_add_int(&y, &y, 1, bits);
    tmi_ball_add_int(value, &l.p, 1, bits);
    tmi_ball_div(value, &y, value, bits);
    tmi_ball_div(&x, &x, &l.p, bits);
    tmi_ball_sub(value, value, &x, bits);
    tmi_ball_div(value, value, &l.p, bits);
    tmi_ball_add_int(&x, &l.p, -1, bits);
    tmi_ball_div(&x, &l.q, &x, bits);
    tmi_ball_add(&x, &x, &l.q, bits);
    tmi_ball_add_int(&x, &x, -1, bits);
    tmi_ball_mul(&x, &x, &l.outer, bits);
    tmi_ball_add(value, value, &x, bits);
    tmi_ball_div(value, value, &l.half, bits);
    tmi_ball_set_number(&x, w->beta, bits);
    tmi_ball_div(value, value, &x, bits);
    parts_clear(&l);
    tmi_ball_clears(&x, &y, NULL);
    return TAMIS_OK;
}

static tamis_status density(tmi_ball *value, const void *context, long bits, tamis_error *err)
{
    const law *w = context;
    parts l;
    tmi_ball x, n;
    (void)err;
    parts_init(&l, w, bits);
    tmi_ball_inits(&x, &n, NULL);
    tmi_ball_set_number(&x, w->z, bits);
    if (!w->beyond) tmi_ball_neg(&x, &x);
    tmi_ball_add_int(&x, &x, 1, bits);
    tmi_ball_set(&n, &l.p);
    if (w->beyond) tmi_ball_neg(&n, &n);
    tmi_ball_add_int(&n, &n, -1, bits);
    power(value, &x, &n, bits);
    if (w->beyond) tmi_ball_mul(value, value, &l.c, bits);
    tmi_ball_div(value, value, &l.half, bits);
    tmi_ball_set_number(&x, w->beta, bits);
    tmi_ball_mul(value, value, &x, bits);
    tmi_ball_div_int(value, value, 2, bits);
    parts_clear(&l);
    tmi_ball_clears(&x, &n, NULL);
    return TAMIS_OK;
}

/* P(Z > z) for z >= 0 */
static tamis_status tail(tmi_ball *value, const void *context, long bits, tamis_error *err)
{
    const law *w = context;
    parts l;
    tmi_ball x, n;
    (void)err;
    parts_init(&l, w, bits);
    tmi_ball_inits(&x, &n, NULL);
    tmi_ball_set_number(&x, w->z, bits);
    if (w->beyond) {
        tmi_ball_add_int(&x, &x, 1, bits);
        tmi_ball_neg(&n, &l.p);
        power(value, &x, &n, bits);
        tmi_ball_mul(value, value, &l.c, bits);
        tmi_ball_div(value, value, &l.p, bits);
    } else { /* H - (1 - (1-z)^p)/p */
        tmi_ball_neg(&x, &x);
        tmi_ball_add_int(&x, &x, 1, bits);
        power(value, &x, &l.p, bits);
        tmi_ball_add_int(value, value, -1, bits);
        tmi_ball_div(value, value, &l.p, bits);
        tmi_ball_add(value, value, &l.half, bits);
    }
    tmi_ball_div(value, value, &l.half, bits);
    tmi_ball_div_int(value, value, 2, bits);
    parts_clear(&l);
    tmi_ball_clears(&x, &n, NULL);
    return TAMIS_OK;
}

/* |Z| with a share u of all sizes below, rest = 1 - u: z = 1 - (1 - p u H)^(1/p) up to the inner mass, and z = q (rest
 * H/outer)^(-1/p) - 1 beyond. Where the bits do not decide which, both. */
static void size_at(tmi_ball *value, const parts *l, const tmi_ball *u, const tmi_ball *rest, long bits)
{
    tmi_ball below, x, inverse, other;
    tmi_ball_inits(&below, &x, &inverse, &other, NULL);
    tmi_ball_set_int(&x, 1);
    tmi_ball_div(&inverse, &x, &l->p, bits);
    tmi_ball_mul(&below, u, &l->half, bits);
    const bool inside = tmi_ball_is_less(&below, &l->inner), outside = tmi_ball_is_less(&l->inner, &below);
    if (!outside) {
        tmi_ball_mul(&below, &below, &l->p, bits);
        tmi_ball_neg(&below, &below);
        tmi_ball_log1p(value, &below, bits);
        tmi_ball_mul(value, value, &inverse, bits);
        tmi_ball_expm1(value, value, bits);
        tmi_ball_neg(value, value);
    }
    if (!inside) {
        tmi_ball_mul(&x, rest, &l->half, bits);
        tmi_ball_div(&x, &x, &l->outer, bits);
        tmi_ball_neg(&inverse, &inverse);
        power(&other, &x, &inverse, bits);
        tmi_ball_mul(&other, &other, &l->q, bits);
        tmi_ball_add_int(&other, &other, -1, bits);
        if (outside) tmi_ball_set(value, &other);
        else tmi_ball_union(value, value, &other, bits);
    }
    tmi_ball_clears(&below, &x, &inverse, &other, NULL);
}

/* The quantile of a level >= 1/2: a share 2 level - 1 of all sizes is below it. */
static tamis_status quantile(tmi_ball *value, const void *context, long bits, tamis_error *err)
{
    const law *w = context;
    parts l;
    tmi_ball u, rest, beta;
    (void)err;
    parts_init(&l, w, bits);
    tmi_ball_inits(&u, &rest, &beta, NULL);
    tmi_ball_set_number(&u, w->z, bits);
    tmi_ball_mul_int(&u, &u, 2, bits);
    tmi_ball_neg(&rest, &u);
    tmi_ball_add_int(&rest, &rest, 2, bits);
    tmi_ball_add_int(&u, &u, -1, bits);
    size_at(value, &l, &u, &rest, bits);
    tmi_ball_set_number(&beta, w->beta, bits);
    tmi_ball_div(value, value, &beta, bits);
    parts_clear(&l);
    tmi_ball_clears(&u, &rest, &beta, NULL);
    return TAMIS_OK;
}

void tmi_polyplace_size(tmi_ball *z, const tmi_ball *u, const tamis_number *p, long bits)
{
    const law w = {.p = p};
    parts l;
    tmi_ball rest;
    parts_init(&l, &w, bits);
    tmi_ball_init(&rest);
    tmi_ball_neg(&rest, u);
    tmi_ball_add_int(&rest, &rest, 1, bits);
    if (tmi_ball_is_positive(&rest)) size_at(z, &l, u, &rest, bits);
    else tmi_ball_set_unknown(z);
    parts_clear(&l);
    tmi_ball_clear(&rest);
}

static tamis_status student_sd(tmi_ball *value, const void *context, long bits, tamis_error *err)
{
    const tmi_term *c = context; /* degrees + 1, 4 (degrees - 2)(eps - beta degrees)(eps + beta) */
    tmi_ball x;
    (void)err;
    tmi_ball_init(&x);
    tmi_ball_set_number(value, c[0], bits);
    tmi_ball_set_number(&x, c[1], bits);
    tmi_ball_sqrt(&x, &x, bits);
    tmi_ball_div(value, value, &x, bits);
    tmi_ball_clear(&x);
    return TAMIS_OK;
}

static tamis_status check(const tamis_number *eps, const tamis_number *beta, tamis_error *err)
{
    if (!eps) return tmi_fail(err, TAMIS_INVALID, "eps: NULL");
    if (!beta) return tmi_fail(err, TAMIS_INVALID, "beta: NULL");
    if (tmi_number_sign(beta) <= 0) return tmi_fail(err, TAMIS_INVALID, "beta: must be positive");
    if (tmi_number_compare(eps, beta) <= 0) return tmi_fail(err, TAMIS_INVALID, "eps: must be above beta");
    return TAMIS_OK;
}

tamis_status tamis_polyplace_sd(tamis_bound *result, const tamis_number *eps, const tamis_number *beta, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_bound bound;
    tmi_exact e = TMI_EXACT(err);
    if (!result) return tmi_fail(err, TAMIS_INVALID, "sd: NULL");
    *result = (tamis_bound){0, INFINITY};
    TMI_TRY(check(eps, beta, err));
    const law w = {.eps = eps, .beta = beta, .p = tmi_div(&e, eps, beta)};
    TMI_TRY(e.status);
    if (tmi_number_compare_int(w.p, 2) <= 0) {
        *result = (tamis_bound){INFINITY, INFINITY};
        goto done;
    }
    TMI_TRY(tmi_certify(&bound, TAMIS_WIDTH, sd, &w, err));
    *result = (tamis_bound){fmax(bound.lower, 0), bound.upper};
done:
    tmi_exact_clear(&e);
    return status;
}

tamis_status tmi_polyplace_mean_size(tamis_bound *result, const tamis_number *eps, const tamis_number *beta, tamis_error *err)
{
    tmi_exact e = TMI_EXACT(err);
    const law w = {.eps = eps, .beta = beta, .p = tmi_div(&e, eps, beta)};
    tamis_status status = e.status;
    *result = (tamis_bound){0, INFINITY};
    if (status == TAMIS_OK) status = tmi_certify(result, TAMIS_WIDTH, mean_size, &w, err);
    if (status != TAMIS_OK) *result = (tamis_bound){0, INFINITY};
    tmi_exact_clear(&e);
    return status;
}

/* Sets w->z = |x| beta. */
static void place(law *w, tmi_exact *e, const tamis_number *x)
{
    w->p = tmi_div(e, w->eps, w->beta);
    w->z = tmi_mul(e, tmi_abs(e, x), w->beta);
    tmi_term edge = tmi_mul(e, w->z, w->p);
    w->beyond = e->status == TAMIS_OK && tmi_number_compare_int(edge, 1) > 0;
}

tamis_status tamis_polyplace_density(tamis_bound *result, const tamis_number *eps, const tamis_number *beta,
                                     const tamis_number *x, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_bound bound;
    tmi_exact e = TMI_EXACT(err);
    law w = {.eps = eps, .beta = beta};
    if (!result) return tmi_fail(err, TAMIS_INVALID, "density: NULL");
    *result = (tamis_bound){0, INFINITY};
    TMI_TRY(check(eps, beta, err));
    if (!x) return tmi_fail(err, TAMIS_INVALID, "x: NULL");
    place(&w, &e, x);
    TMI_TRY(e.status);
    TMI_TRY(tmi_certify(&bound, TAMIS_WIDTH, density, &w, err));
    *result = (tamis_bound){fmax(bound.lower, 0), bound.upper};
done:
    tmi_exact_clear(&e);
    return status;
}

tamis_status tamis_polyplace_at_least(tamis_bound *p, const tamis_number *eps, const tamis_number *beta, const tamis_number *x,
                                      tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_bound bound;
    tmi_exact e = TMI_EXACT(err);
    law w = {.eps = eps, .beta = beta};
    if (!p) return tmi_fail(err, TAMIS_INVALID, "p: NULL");
    *p = (tamis_bound){0, 1};
    TMI_TRY(check(eps, beta, err));
    if (!x) return tmi_fail(err, TAMIS_INVALID, "x: NULL");
    place(&w, &e, x);
    TMI_TRY(e.status);
    TMI_TRY(tmi_certify(&bound, TAMIS_WIDTH, tail, &w, err));
    if (tmi_number_sign(x) < 0) bound = (tamis_bound){nextafter(1 - bound.upper, 0), nextafter(1 - bound.lower, 2)};
    *p = (tamis_bound){fmax(bound.lower, 0), fmin(bound.upper, 1)};
done:
    tmi_exact_clear(&e);
    return status;
}

tamis_status tamis_polyplace_quantile(tamis_bound *x, const tamis_number *eps, const tamis_number *beta,
                                      const tamis_number *level, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_bound bound;
    tmi_exact e = TMI_EXACT(err);
    law w = {.eps = eps, .beta = beta};
    if (!x) return tmi_fail(err, TAMIS_INVALID, "x: NULL");
    *x = (tamis_bound){-INFINITY, INFINITY};
    TMI_TRY(check(eps, beta, err));
    if (!level) return tmi_fail(err, TAMIS_INVALID, "level: NULL");
    if (tmi_number_sign(level) <= 0 || tmi_number_compare_int(level, 1) >= 0)
        return tmi_fail(err, TAMIS_INVALID, "level: must be between 0 and 1");
    w.p = tmi_div(&e, eps, beta);
    tmi_term other = tmi_sub(&e, tmi_int(&e, 1), level);
    TMI_TRY(e.status);
    const bool negative = tmi_number_compare(level, other) < 0;
    w.z = negative ? other : level;
    TMI_TRY(tmi_certify(&bound, TAMIS_WIDTH, quantile, &w, err));
    *x = negative ? (tamis_bound){-bound.upper, -bound.lower} : bound;
done:
    tmi_exact_clear(&e);
    return status;
}

/* a (d+1) z <= eps (d + z^2) - beta d (z^2 - 1) for all z >= 1 means a (d+1) <= 2 sqrt((eps - beta d) d (eps + beta)), the
 * smallest of (eps - beta d) z + d (eps + beta)/z. For z <= 1 the bound is larger as soon as d >= 1. With sd(T) =
 * sqrt(d/(d-2)). */
tamis_status tamis_student_sd(tamis_bound *result, const tamis_number *eps, const tamis_number *beta, const tamis_number *degrees,
                              tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_bound bound;
    tmi_exact e = TMI_EXACT(err);
    if (!result) return tmi_fail(err, TAMIS_INVALID, "sd: NULL");
    *result = (tamis_bound){0, INFINITY};
    TMI_TRY(check(eps, beta, err));
    if (!degrees) return tmi_fail(err, TAMIS_INVALID, "degrees: NULL");
    if (tmi_number_compare_int(degrees, 2) <= 0) return tmi_fail(err, TAMIS_INVALID, "degrees: must be above 2");
    tmi_term room = tmi_sub(&e, eps, tmi_mul(&e, beta, degrees)), less = tmi_sub(&e, degrees, tmi_int(&e, 2));
    tmi_term under = tmi_mul(&e, tmi_mul(&e, tmi_int(&e, 4), less), tmi_mul(&e, room, tmi_add(&e, eps, beta)));
    tmi_term c[] = {tmi_add(&e, degrees, tmi_int(&e, 1)), under};
    TMI_TRY(e.status);
    if (tmi_number_sign(room) <= 0) TMI_TRY(tmi_fail(err, TAMIS_INVALID, "degrees: must be below eps / beta"));
    TMI_TRY(tmi_certify(&bound, TAMIS_WIDTH, student_sd, c, err));
    *result = (tamis_bound){fmax(bound.lower, 0), bound.upper};
done:
    tmi_exact_clear(&e);
    return status;
}
