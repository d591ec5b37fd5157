/* Two Laplace laws, P with centre s >= 0 and scale b1, Q with centre 0 and scale b2.
 *
 * The set where P has the larger density, p > e^eps q, is where |x|/b2 - |x-s|/b1 > c, c = eps + log(b1/b2). The left
 * side is piecewise linear with corners at 0 and s, so the set is bounded by at most two crossings, x- and x+. At a
 * crossing p = e^eps q, and the tail of a Laplace law beyond x on the far side of its centre is scale times density
 * at x; so every probability below is a multiple of p at a crossing. Written in units of b1:
 *
 *     rho = b2/b1,  sigma = s/b1,  tau = s/b2,  g = tau - c   (how far the corner at s rises above the threshold).
 *
 * b1 = b2   delta = 1 - e^(-(sigma - eps)/2), or 0 if sigma <= eps.
 *
 * b1 > b2   P has the heavier tails: the set is x < x- and x > x+, with x- < 0 because c > 0.
 *           left  = (1-rho)/2 e^-(sigma + (c + sigma) rho/(1-rho)),
 *           right = (1-rho)/2 e^(g rho/(1-rho))              if g <= 0 (x+ >= s),
 *                 = (1 - e^-u) + (1-rho)/2 e^-u, u = g rho/(1+rho)   if g > 0 (0 < x+ < s).
 *
 * b1 < b2   the set is x- < x < x+ around s, empty if g <= 0. With v = (x+ - s)/b1 = g rho/(rho-1):
 *           if x- > 0, that is c + sigma > 0, with u = (s - x-)/b1 = g rho/(rho+1):
 *               delta = 1 - (e^-u + e^-v)/2 - rho/2 e^-u (1 - e^-(v-u));
 *           otherwise, with y- = -x-/b2 = -(c + sigma)/(rho-1) and y+ = x+/b2 = tau + g/(rho-1):
 *               delta = 1 - (e^-(sigma + rho y-) + e^-v)/2 - e^eps ((1 - e^-y-) + (1 - e^-y+))/2.
 *
 * rho, sigma, tau are exact rationals. g and c + sigma are rational plus the logarithm of a rational other than 1, which
 * is transcendental: they are never 0, and enough bits tell their signs. As long as the bits do not, the answer is a
 * ball that holds both cases.                                                                                       */
#include <math.h>
#include <tamis/experimental/mech.h>
#include <tamis/experimental/smooth.h>

#include "num/ball.h"
#include "num/number.h"

typedef struct pair {
    const tamis_number *eps;
    tamis_number *rho, *excess; /* excess = rho - 1 */
    tamis_number *sigma, *tau;
} pair;

/* The pair in balls of some precision. */
typedef struct balls {
    tmi_ball eps, rho, excess, sigma, tau;
    tmi_ball g, left; /* left = c + sigma */
    tmi_ball u, v, x, y, half;
} balls;

#define BALLS (sizeof(balls) / sizeof(tmi_ball))

/* z = x e^-y for y >= 0 */
static void times_exp_neg(tmi_ball *z, const tmi_ball *x, const tmi_ball *y, long bits)
{
    tmi_ball e;
    tmi_ball_init(&e);
    tmi_ball_neg(&e, y);
    tmi_ball_exp(&e, &e, bits);
    tmi_ball_mul(z, x, &e, bits);
    tmi_ball_clear(&e);
}

/* z = 1 - e^-y */
static void one_minus_exp_neg(tmi_ball *z, const tmi_ball *y, long bits)
{
    tmi_ball_neg(z, y);
    tmi_ball_expm1(z, z, bits);
    tmi_ball_neg(z, z);
}

static void equal_scales(tmi_ball *value, balls *b, long bits)
{
    tmi_ball_sub(&b->x, &b->sigma, &b->eps, bits);
    tmi_ball_mul(&b->x, &b->x, &b->half, bits);
    one_minus_exp_neg(value, &b->x, bits);
}

static void heavier_tails(tmi_ball *value, balls *b, long bits)
{
    tmi_ball weight, odds, inner, outer;
    tmi_ball_inits(&weight, &odds, &inner, &outer, NULL);
    tmi_ball_neg(&weight, &b->excess);
    tmi_ball_div(&odds, &b->rho, &weight, bits); /* rho/(1-rho) */
    tmi_ball_mul(&weight, &weight, &b->half, bits);

    tmi_ball_mul(&b->x, &b->left, &odds, bits);
    tmi_ball_add(&b->x, &b->x, &b->sigma, bits);
    times_exp_neg(value, &weight, &b->x, bits);

    if (!tmi_ball_is_positive(&b->g)) {
        tmi_ball_mul(&b->x, &b->g, &odds, bits);
        tmi_ball_neg(&b->x, &b->x);
        times_exp_neg(&outer, &weight, &b->x, bits);
    }
    if (!tmi_ball_is_negative(&b->g)) {
        tmi_ball_add_int(&b->y, &b->rho, 1, bits);
        tmi_ball_mul(&b->u, &b->g, &b->rho, bits);
        tmi_ball_div(&b->u, &b->u, &b->y, bits);
        one_minus_exp_neg(&inner, &b->u, bits);
        times_exp_neg(&b->x, &weight, &b->u, bits);
        tmi_ball_add(&inner, &inner, &b->x, bits);
    }
    if (tmi_ball_is_negative(&b->g)) tmi_ball_set(&b->x, &outer);
    else if (tmi_ball_is_positive(&b->g)) tmi_ball_set(&b->x, &inner);
    else tmi_ball_union(&b->x, &inner, &outer, bits);
    tmi_ball_add(value, value, &b->x, bits);

    tmi_ball_clears(&weight, &odds, &inner, &outer, NULL);
}

/* b1 < b2, x- > 0 */
static void both_beyond_zero(tmi_ball *value, balls *b, long bits)
{
    tmi_ball_add_int(&b->y, &b->rho, 1, bits);
    tmi_ball_mul(&b->u, &b->g, &b->rho, bits);
    tmi_ball_div(&b->u, &b->u, &b->y, bits);
    tmi_ball_sub(&b->x, &b->v, &b->u, bits);
    one_minus_exp_neg(&b->x, &b->x, bits);
    tmi_ball_mul(&b->x, &b->x, &b->rho, bits);
    times_exp_neg(value, &b->x, &b->u, bits);
    one_minus_exp_neg(&b->x, &b->u, bits);
    one_minus_exp_neg(&b->y, &b->v, bits);
    tmi_ball_add(&b->x, &b->x, &b->y, bits); /* 2 - e^-u - e^-v */
    tmi_ball_sub(value, &b->x, value, bits);
    tmi_ball_mul(value, value, &b->half, bits);
}

/* b1 < b2, x- <= 0; then e^eps <= rho, which is far from any limit */
static void zero_between(tmi_ball *value, balls *b, long bits)
{
    tmi_ball_div(&b->x, &b->left, &b->excess, bits);
    tmi_ball_neg(&b->x, &b->x); /* y- */
    tmi_ball_div(&b->y, &b->g, &b->excess, bits);
    tmi_ball_add(&b->y, &b->y, &b->tau, bits); /* y+ */
    tmi_ball_mul(&b->u, &b->rho, &b->x, bits);
    tmi_ball_add(&b->u, &b->u, &b->sigma, bits);
    one_minus_exp_neg(&b->x, &b->x, bits);
    one_minus_exp_neg(&b->y, &b->y, bits);
    tmi_ball_add(&b->x, &b->x, &b->y, bits);
    tmi_ball_exp(&b->y, &b->eps, bits);
    tmi_ball_mul(value, &b->x, &b->y, bits);
    one_minus_exp_neg(&b->x, &b->u, bits);
    one_minus_exp_neg(&b->y, &b->v, bits);
    tmi_ball_add(&b->x, &b->x, &b->y, bits);
    tmi_ball_sub(value, &b->x, value, bits);
    tmi_ball_mul(value, value, &b->half, bits);
}

static void lighter_tails(tmi_ball *value, balls *b, long bits)
{
    tmi_ball other;
    if (tmi_ball_is_negative(&b->g)) {
        tmi_ball_set_int(value, 0);
        return;
    }
    tmi_ball_init(&other);
    tmi_ball_mul(&b->v, &b->g, &b->rho, bits);
    tmi_ball_div(&b->v, &b->v, &b->excess, bits);
    if (tmi_ball_is_positive(&b->left)) {
        both_beyond_zero(value, b, bits);
    } else {
        zero_between(value, b, bits);
        if (!tmi_ball_is_negative(&b->left)) {
            both_beyond_zero(&other, b, bits);
            tmi_ball_union(value, value, &other, bits);
        }
    }
    if (!tmi_ball_is_positive(&b->g)) {
        tmi_ball_set_int(&other, 0);
        tmi_ball_union(value, value, &other, bits);
    }
    tmi_ball_clear(&other);
}

static tamis_status formula(tmi_ball *value, const void *context, long bits, tamis_error *err)
{
    const pair *p = context;
    union {
        balls named;
        tmi_ball list[BALLS];
    } all;
    balls *b = &all.named;
    (void)err;
    for (size_t i = 0; i < BALLS; i++) tmi_ball_init(&all.list[i]);
    tmi_ball_set_number(&b->eps, p->eps, bits);
    tmi_ball_set_number(&b->rho, p->rho, bits);
    tmi_ball_set_number(&b->excess, p->excess, bits);
    tmi_ball_set_number(&b->sigma, p->sigma, bits);
    tmi_ball_set_number(&b->tau, p->tau, bits);
    tmi_ball_set_int(&b->half, 1);
    tmi_ball_div_int(&b->half, &b->half, 2, bits);

    tmi_ball_add(&b->x, &b->excess, &b->half, bits);
    if (tmi_ball_is_positive(&b->x)) tmi_ball_log1p(&b->x, &b->excess, bits); /* keeps the digits of rho near 1 */
    else tmi_ball_log(&b->x, &b->rho, bits);                                  /* and those of rho near 0 */
    tmi_ball_sub(&b->x, &b->eps, &b->x, bits);                                /* c */
    tmi_ball_sub(&b->g, &b->tau, &b->x, bits);
    tmi_ball_add(&b->left, &b->x, &b->sigma, bits);
    switch (tmi_number_sign(p->excess)) {
    case 0: equal_scales(value, b, bits); break;
    case 1: lighter_tails(value, b, bits); break;
    default: heavier_tails(value, b, bits);
    }
    for (size_t i = 0; i < BALLS; i++) tmi_ball_clear(&all.list[i]);
    return TAMIS_OK;
}

static tamis_status check(const tamis_number *eps, const tamis_number *shift, const tamis_number *b1, const tamis_number *b2,
                          tamis_error *err)
{
    if (!eps) return tmi_fail(err, TAMIS_INVALID, "eps: NULL");
    if (!shift) return tmi_fail(err, TAMIS_INVALID, "shift: NULL");
    if (!b1) return tmi_fail(err, TAMIS_INVALID, "b1: NULL");
    if (!b2) return tmi_fail(err, TAMIS_INVALID, "b2: NULL");
    if (tmi_number_sign(eps) < 0) return tmi_fail(err, TAMIS_INVALID, "eps: must not be negative");
    if (tmi_number_sign(b1) <= 0) return tmi_fail(err, TAMIS_INVALID, "b1: must be positive");
    if (tmi_number_sign(b2) <= 0) return tmi_fail(err, TAMIS_INVALID, "b2: must be positive");
    return TAMIS_OK;
}

tamis_status tamis_laplace_pair_delta(tamis_bound *delta, const tamis_number *eps, const tamis_number *shift,
                                      const tamis_number *b1, const tamis_number *b2, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *sign = NULL, *size = NULL, *one = NULL;
    tamis_bound bound = {0, 0};
    pair p = {.eps = eps};
    if (!delta) return tmi_fail(err, TAMIS_INVALID, "delta: NULL");
    *delta = (tamis_bound){0, 1};
    TMI_TRY(check(eps, shift, b1, b2, err));
    TMI_TRY(tmi_number_ratio(&one, 1, 1, err));
    TMI_TRY(tmi_number_ratio(&sign, tmi_number_sign(shift), 1, err));
    TMI_TRY(tmi_number_mul(&size, shift, sign, err));
    TMI_TRY(tmi_number_div(&p.rho, b2, b1, err));
    TMI_TRY(tmi_number_sub(&p.excess, p.rho, one, err));
    TMI_TRY(tmi_number_div(&p.sigma, size, b1, err));
    TMI_TRY(tmi_number_div(&p.tau, size, b2, err));
    if (tmi_number_sign(p.excess) != 0 || tmi_number_compare(p.sigma, eps) > 0)
        TMI_TRY(tmi_certify(&bound, TAMIS_WIDTH, formula, &p, err));
    *delta = (tamis_bound){fmax(bound.lower, 0), fmin(bound.upper, 1)};
done:
    tmi_number_frees(&sign, &size, &one, &p.rho, &p.excess, &p.sigma, &p.tau, NULL);
    return status;
}
