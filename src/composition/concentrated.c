#include "composition/concentrated.h"

#include <math.h>

#include "num/ball.h"
#include "num/exact.h"

#define WIDTH 1e-12
#define DIGITS 10 /* of a rho that is written down */

static tamis_status certified_up(tamis_number **rho, tmi_formula *formula, const void *context, tamis_error *err)
{
    tamis_bound bound;
    char decimal[TAMIS_DECIMAL];
    tamis_status status = tmi_certify(&bound, WIDTH, formula, context, err);
    if (status != TAMIS_OK) return status;
    if (isinf(bound.upper)) return tmi_fail(err, TAMIS_UNABLE, "rho: beyond all doubles");
    tamis_decimal_up(decimal, bound.upper, DIGITS);
    return tamis_number_read(rho, decimal, err);
}

/* ---- any mechanism ---- */

/* epsilon tanh(epsilon/2) = epsilon u / (u + 2) with u = e^epsilon - 1 */
static tamis_status pure(tmi_ball *value, const void *context, long bits, tamis_error *err)
{
    tmi_ball eps, u;
    (void)err;
    tmi_ball_inits(&eps, &u, NULL);
    tmi_ball_set_number(&eps, context, bits);
    tmi_ball_expm1(&u, &eps, bits);
    tmi_ball_mul(value, &eps, &u, bits);
    tmi_ball_add_int(&u, &u, 2, bits);
    tmi_ball_div(value, value, &u, bits);
    tmi_ball_clears(&eps, &u, NULL);
    return TAMIS_OK;
}

tamis_status tmi_rho_of_pure_up(tamis_number **rho, const tamis_number *epsilon, tamis_error *err)
{
    *rho = NULL;
    if (tmi_number_sign(epsilon) == 0) return tmi_number_ratio(rho, 0, 1, err);
    tamis_number *found = NULL;
    tamis_status status = certified_up(&found, pure, epsilon, err);
    if (status == TAMIS_OK) status = tmi_number_copy(rho, tmi_smaller(found, epsilon), err); /* tanh is below 1 */
    tamis_number_free(found);
    return status;
}

/* ---- selections ---- */

typedef struct selections {
    const tamis_number *epsilon;
    int64_t count;
} selections;

/* count 4 ln cosh(x), x = epsilon / (4 count); ln cosh(x) = x - ln 2 + ln(1 + e^-2x) = x + ln(1 + (e^-2x - 1)/2) */
static tamis_status range(tmi_ball *value, const void *context, long bits, tamis_error *err)
{
    const selections *s = context;
    tmi_ball x, y;
    (void)err;
    tmi_ball_inits(&x, &y, NULL);
    tmi_ball_set_number(&x, s->epsilon, bits);
    tmi_ball_div_int(&x, &x, s->count, bits);
    tmi_ball_shift(&x, &x, -2);
    tmi_ball_mul_int(&y, &x, -2, bits);
    tmi_ball_expm1(&y, &y, bits);
    tmi_ball_shift(&y, &y, -1);
    tmi_ball_log1p(&y, &y, bits);
    tmi_ball_add(&y, &y, &x, bits);
    tmi_ball_mul_int(&y, &y, s->count, bits);
    tmi_ball_shift(value, &y, 2);
    tmi_ball_clears(&x, &y, NULL);
    return TAMIS_OK;
}

tamis_status tmi_rho_of_selections_up(tamis_number **rho, const tamis_number *epsilon, int64_t count, tamis_error *err)
{
    const selections s = {epsilon, count};
    *rho = NULL;
    if (tmi_number_sign(epsilon) == 0) return tmi_number_ratio(rho, 0, 1, err);
    return certified_up(rho, range, &s, err);
}

/* ---- noise ---- */

typedef struct moves {
    tmi_term scale, h, times; /* times = A/h */
} moves;

/* times kl(h), kl(h) = lam (h - (1 - e^(-lam h)) / sinh(lam)); 2 sinh(lam) = u + u/(1+u) with u = e^lam - 1 */
static tamis_status moved(tmi_ball *value, const void *context, long bits, tamis_error *err)
{
    const moves *m = context;
    tmi_ball lam, h, u, x;
    (void)err;
    tmi_ball_inits(&lam, &h, &u, &x, NULL);
    tmi_ball_set_number(&x, m->scale, bits);
    tmi_ball_set_int(&lam, 1);
    tmi_ball_div(&lam, &lam, &x, bits);
    tmi_ball_set_number(&h, m->h, bits);
    tmi_ball_expm1(&u, &lam, bits);
    tmi_ball_add_int(&x, &u, 1, bits);
    tmi_ball_div(&x, &u, &x, bits);
    tmi_ball_add(&u, &u, &x, bits);
    tmi_ball_mul(&x, &lam, &h, bits);
    tmi_ball_neg(&x, &x);
    tmi_ball_expm1(&x, &x, bits);
    tmi_ball_shift(&x, &x, 1);
    tmi_ball_div(&x, &x, &u, bits);
    tmi_ball_add(&x, &x, &h, bits);
    tmi_ball_mul(&x, &x, &lam, bits);
    tmi_ball_set_number(&h, m->times, bits);
    tmi_ball_mul(value, &x, &h, bits);
    tmi_ball_clears(&lam, &h, &u, &x, NULL);
    return TAMIS_OK;
}

tamis_status tmi_rho_of_discrete_laplace_up(tamis_number **rho, const tamis_number *scale, int64_t l1,
                                            const tamis_number *l2_squared, tamis_error *err)
{
    tmi_exact e = TMI_EXACT(err);
    tamis_status status;
    *rho = NULL;
    if (l1 == 0 || tmi_number_sign(l2_squared) == 0) return tmi_number_ratio(rho, 0, 1, err);
    tmi_term A = tmi_int(&e, l1), most = tmi_mul(&e, A, A);
    TMI_TRY(e.status);
    tmi_term B = tmi_smaller(l2_squared, most);
    A = tmi_smaller(A, B); /* of integers no L1 is above the sum of squares */
    moves m = {.scale = scale, .h = tmi_div(&e, B, A)};
    m.times = tmi_div(&e, A, m.h);
    TMI_TRY(e.status);
    status = certified_up(rho, moved, &m, err);

done:
    tmi_exact_clear(&e);
    return status;
}
