/* Which noise goes with smooth sensitivity: the sup over z of a |phi'(z)| + g |z phi'(z) - 1|, family by family, z >= 0 by
 * symmetry.
 *
 * Student, d degrees: phi' = (d+1) z/(d + z^2), so the sum is (a (d+1) z + g d |z^2 - 1|)/(d + z^2). Where z > 1 it rises up to
 * z = (g d + s)/a, s = sqrt(g^2 d^2 + a^2 d), and falls beyond; where z < 1 the same with z = a d/(g d + s). The sup is its
 * largest value at these two points, at 0 (g), at 1 (a) and at infinity (g d); a point outside of its piece does no harm.
 *
 * 1/(1 + z^c): with t = z^c/(1 + z^c) the sum is a c t^(1-1/c) (1-t)^(1/c) + g |c t - 1|, the larger of two concave
 * functions of t, one for each sign of the second term. The maximum of each is bracketed by the sign of its slope. A concave
 * function lies below its tangents, which bounds it from above.
 *
 * PolyPlace, shape p: phi' = (p-1)/(1-z) up to 1/p, (p+1)/(1+z) beyond. Both pieces are quotients of linear functions,
 * monotone: the sup is the largest of a (p-1) + g at 0, a p at 1/p and g p at infinity. */
#include <math.h>
#include <tamis/experimental/smooth.h>

#include "num/ball.h"
#include "num/bound.h"
#include "num/exact.h"

typedef struct sum {
    const tamis_number *shape, *a, *g;
} sum;

static tamis_status student(tmi_ball *value, const void *context, long bits, tamis_error *err)
{
    const sum *c = context;
    tmi_ball d, a, gd, s, z, x, y;
    (void)err;
    tmi_ball_inits(&d, &a, &gd, &s, &z, &x, &y, NULL);
    tmi_ball_set_number(&d, c->shape, bits);
    tmi_ball_set_number(&a, c->a, bits);
    tmi_ball_set_number(&x, c->g, bits);
    tmi_ball_mul(&gd, &x, &d, bits);
    tmi_ball_max(value, &x, &gd, bits);
    tmi_ball_max(value, value, &a, bits);
    tmi_ball_mul(&s, &a, &a, bits);
    tmi_ball_mul(&s, &s, &d, bits);
    tmi_ball_mul(&x, &gd, &gd, bits);
    tmi_ball_add(&s, &s, &x, bits);
    tmi_ball_sqrt(&s, &s, bits);
    tmi_ball_add(&s, &s, &gd, bits); /* g d + s */
    for (int outer = 0; outer < 2; outer++) {
        if (outer) {
            tmi_ball_div(&z, &s, &a, bits);
        } else {
            tmi_ball_mul(&z, &a, &d, bits);
            tmi_ball_div(&z, &z, &s, bits);
        }
        tmi_ball_mul(&x, &z, &z, bits);
        tmi_ball_add_int(&y, &x, -1, bits);
        tmi_ball_abs(&y, &y);
        tmi_ball_mul(&y, &y, &gd, bits);
        tmi_ball_add(&x, &x, &d, bits);
        tmi_ball_mul(&z, &z, &a, bits);
        tmi_ball_add(&y, &y, &z, bits);
        tmi_ball_mul(&z, &z, &d, bits);
        tmi_ball_add(&y, &y, &z, bits);
        tmi_ball_div(&y, &y, &x, bits);
        tmi_ball_max(value, value, &y, bits);
    }
    tmi_ball_clears(&d, &a, &gd, &s, &z, &x, &y, NULL);
    return TAMIS_OK;
}

/* A point of a concave function. */
typedef struct point {
    tmi_ball t, height, slope;
} point;

/* a c t^(1-1/c) (1-t)^(1/c) + sign g (c t - 1) and its slope, at 0 < t < 1. */
static void evaluate(point *p, const sum *s, int sign, long bits)
{
    tmi_ball c, inverse, rest, x, y;
    tmi_ball_inits(&c, &inverse, &rest, &x, &y, NULL);
    tmi_ball_set_number(&c, s->shape, bits);
    tmi_ball_set_int(&x, 1);
    tmi_ball_div(&inverse, &x, &c, bits);
    tmi_ball_sub(&rest, &x, &p->t, bits);

    tmi_ball_log(&x, &rest, bits);
    tmi_ball_log(&y, &p->t, bits);
    tmi_ball_sub(&x, &x, &y, bits);
    tmi_ball_mul(&x, &x, &inverse, bits);
    tmi_ball_exp(&x, &x, bits); /* ((1-t)/t)^(1/c) */
    tmi_ball_set_number(&y, s->a, bits);
    tmi_ball_mul(&x, &x, &y, bits);
    tmi_ball_mul(&x, &x, &c, bits);
    tmi_ball_mul(&p->height, &x, &p->t, bits);
    tmi_ball_sub(&y, &rest, &inverse, bits); /* 1 - 1/c - t */
    tmi_ball_mul(&p->slope, &x, &y, bits);
    tmi_ball_div(&p->slope, &p->slope, &rest, bits);

    tmi_ball_set_number(&y, s->g, bits);
    tmi_ball_mul_int(&y, &y, sign, bits);
    tmi_ball_mul(&x, &y, &c, bits);
    tmi_ball_add(&p->slope, &p->slope, &x, bits);
    tmi_ball_mul(&x, &x, &p->t, bits);
    tmi_ball_sub(&x, &x, &y, bits);
    tmi_ball_add(&p->height, &p->height, &x, bits);
    tmi_ball_clears(&c, &inverse, &rest, &x, &y, NULL);
}

/* The maximum over 0 < t < 1: it rises at first and falls in the end. */
static void top_of(tmi_ball *top, const sum *s, int sign, long bits)
{
    point p;
    tmi_ball left, right, above, x;
    tmi_ball_inits(&p.t, &p.height, &p.slope, &left, &right, &above, &x, NULL);
    tmi_ball_set_int(&right, 1);
    tmi_ball_set_unknown(&above);
    for (long k = 0; k < bits; k++) {
        tmi_ball_add(&p.t, &left, &right, bits + k);
        tmi_ball_shift(&p.t, &p.t, -1);
        tmi_ball_middle(&p.t, &p.t);
        evaluate(&p, s, sign, bits);
        tmi_ball_sub(&x, &right, &left, bits);
        tmi_ball_abs(&above, &p.slope);
        tmi_ball_mul(&x, &x, &above, bits);
        tmi_ball_add(&above, &p.height, &x, bits); /* the tangent at t, over the whole bracket */
        if (tmi_ball_is_positive(&p.slope)) tmi_ball_set(&left, &p.t);
        else if (tmi_ball_is_negative(&p.slope)) tmi_ball_set(&right, &p.t);
        else break;
    }
    tmi_ball_union(top, &p.height, &above, bits);
    tmi_ball_clears(&p.t, &p.height, &p.slope, &left, &right, &above, &x, NULL);
}

static tamis_status cauchy(tmi_ball *value, const void *context, long bits, tamis_error *err)
{
    const sum *s = context;
    tmi_ball x;
    (void)err;
    tmi_ball_init(&x);
    tmi_ball_set_number(value, s->g, bits); /* t = 0 */
    top_of(&x, s, 1, bits);
    tmi_ball_max(value, value, &x, bits);
    top_of(&x, s, -1, bits);
    tmi_ball_max(value, value, &x, bits);
    tmi_ball_clear(&x); /* t = 1 is the limit of the first function */
    return TAMIS_OK;
}

static tamis_status polyplace(tamis_bound *eps, const sum *s, tamis_error *err)
{
    tmi_exact e = TMI_EXACT(err);
    tmi_term inner = tmi_mul(&e, s->a, s->shape), first = tmi_add(&e, tmi_sub(&e, inner, s->a), s->g);
    tmi_term most = tmi_larger(tmi_larger(inner, first), tmi_mul(&e, s->g, s->shape));
    const tamis_status status = e.status;
    if (status == TAMIS_OK) *eps = tmi_number_bound(most);
    tmi_exact_clear(&e);
    return status;
}

tamis_status tamis_smooth_loss(tamis_bound *eps, tamis_smooth_noise noise, const tamis_number *shape, const tamis_number *a,
                               const tamis_number *beta, tamis_error *err)
{
    const sum s = {shape, a, beta};
    const bool shaped = noise != TAMIS_SMOOTH_LAPLACE && noise != TAMIS_SMOOTH_GAUSSIAN;
    tamis_status status = TAMIS_OK;
    tamis_bound bound = {INFINITY, INFINITY};
    if (!eps) return tmi_fail(err, TAMIS_INVALID, "eps: NULL");
    *eps = (tamis_bound){0, INFINITY};
    if (!a) return tmi_fail(err, TAMIS_INVALID, "a: NULL");
    if (!beta) return tmi_fail(err, TAMIS_INVALID, "beta: NULL");
    if (tmi_number_sign(a) <= 0) return tmi_fail(err, TAMIS_INVALID, "a: must be positive");
    if (tmi_number_sign(beta) < 0) return tmi_fail(err, TAMIS_INVALID, "beta: must not be negative");
    if (shaped && !shape) return tmi_fail(err, TAMIS_INVALID, "shape: NULL");
    if (shaped && tmi_number_compare_int(shape, noise == TAMIS_SMOOTH_STUDENT ? 0 : 1) <= 0)
        return tmi_fail(err, TAMIS_INVALID, "shape: too small for this noise");
    switch (noise) {
    case TAMIS_SMOOTH_LAPLACE:
        if (tmi_number_sign(beta) == 0) bound = tmi_number_bound(a);
        break;
    case TAMIS_SMOOTH_GAUSSIAN: break;
    case TAMIS_SMOOTH_STUDENT: status = tmi_certify(&bound, TAMIS_WIDTH, student, &s, err); break;
    case TAMIS_SMOOTH_CAUCHY: status = tmi_certify(&bound, TAMIS_WIDTH, cauchy, &s, err); break;
    case TAMIS_SMOOTH_POLYPLACE: status = polyplace(&bound, &s, err); break;
    default: return tmi_fail(err, TAMIS_INVALID, "noise: not one of the families");
    }
    if (status == TAMIS_OK) *eps = (tamis_bound){fmax(bound.lower, 0), bound.upper};
    return status;
}
