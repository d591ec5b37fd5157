#include "composition/mu.h"

#include <math.h>
#include <tamis/experimental/bound.h>

#include "num/ball.h"
#include "num/exact.h"
#include "num/law/laws.h"

#define WIDTH 1e-12
#define DIGITS 10 /* of a mu^2 that is written down */
#define BITS 256  /* of balls that are compared, not published: what they leave open counts as no */
#define NARROW 1e-13

static tamis_status written_up(tamis_number **number, double x, tamis_error *err)
{
    char decimal[TAMIS_DECIMAL];
    if (!isfinite(x)) return tmi_fail(err, TAMIS_UNABLE, "mu^2: beyond all doubles");
    tamis_decimal_up(decimal, x, DIGITS);
    return tamis_number_read(number, decimal, err);
}

/* ---- squares ---- */

/* (pi/2) squares / scale^2 */
typedef struct moves {
    tmi_term scale, squares;
} moves;

static tamis_status moved(tmi_ball *value, const void *context, long bits, tamis_error *err)
{
    const moves *m = context;
    tmi_ball x;
    (void)err;
    tmi_ball_init(&x);
    tmi_ball_set_number(value, m->squares, bits);
    tmi_ball_set_number(&x, m->scale, bits);
    tmi_ball_div(value, value, &x, bits);
    tmi_ball_div(value, value, &x, bits);
    tmi_ball_pi(&x, bits);
    tmi_ball_mul(value, value, &x, bits);
    tmi_ball_shift(value, value, -1);
    tmi_ball_clear(&x);
    return TAMIS_OK;
}

static tamis_status of_moves(tamis_number **mu_squared, const moves *m, tamis_error *err)
{
    tamis_bound bound;
    const tamis_status status = tmi_certify(&bound, WIDTH, moved, m, err);
    return status == TAMIS_OK ? written_up(mu_squared, bound.upper, err) : status;
}

/* ---- any mechanism ---- */

/* Whether certainly P(Z >= mu/2) <= 1 / (1 + e^epsilon). */
static bool covers(double mu, const tamis_number *epsilon)
{
    tmi_ball eps, x, y;
    tmi_ball_inits(&eps, &x, &y, NULL);
    tmi_ball_set_double(&x, mu / 2);
    tmi_normal_at_least(&y, &x, BITS);
    tmi_ball_set_number(&eps, epsilon, BITS);
    tmi_ball_exp(&x, &eps, BITS);
    tmi_ball_add_int(&x, &x, 1, BITS);
    tmi_ball_mul(&x, &x, &y, BITS);
    tmi_ball_set_int(&y, 1);
    const bool yes = tmi_ball_is_at_most(&x, &y);
    tmi_ball_clears(&eps, &x, &y, NULL);
    return yes;
}

/* (pi/2) epsilon^2: for epsilons below 1e-5 too large by less than a hundredth of the last digit. */
static tamis_status small(tamis_number **mu_squared, const tamis_number *epsilon, tamis_error *err)
{
    tmi_exact e = TMI_EXACT(err);
    const moves m = {tmi_int(&e, 1), tmi_mul(&e, epsilon, epsilon)};
    tamis_status status = e.status;
    if (status == TAMIS_OK) status = of_moves(mu_squared, &m, err);
    tmi_exact_clear(&e);
    return status;
}

tamis_status tmi_mu_squared_of_pure_up(tamis_number **mu_squared, const tamis_number *epsilon, tamis_error *err)
{
    const double eps = tmi_number_up(epsilon);
    *mu_squared = NULL;
    if (tmi_number_sign(epsilon) == 0) return tmi_number_ratio(mu_squared, 0, 1, err);
    if (eps < 1e-5) return small(mu_squared, epsilon, err);
    /* sqrt(pi/2) epsilon is enough; so is sqrt(8 epsilon), since P(Z >= x) <= e^(-x^2/2) / 2. A few units of the last digit
     * more. */
    double low = 0, high = fmin(1.2533141373155003 * eps, sqrt(8 * eps)) * (1 + 1e-12);
    if (!covers(high, epsilon)) return tmi_fail(err, TAMIS_UNABLE, "mu^2: not certified");
    while (high - low > NARROW * high) {
        const double middle = low + (high - low) / 2;
        *(covers(middle, epsilon) ? &high : &low) = middle;
    }
    return written_up(mu_squared, nextafter(high * high, INFINITY), err);
}

/* ---- noise ---- */

tamis_status tmi_mu_squared_of_discrete_laplace_up(tamis_number **mu_squared, const tamis_number *scale, int64_t l1,
                                                   const tamis_number *l2_squared, tamis_error *err)
{
    tmi_exact e = TMI_EXACT(err);
    tamis_status status;
    *mu_squared = NULL;
    if (l1 == 0 || tmi_number_sign(l2_squared) == 0) return tmi_number_ratio(mu_squared, 0, 1, err);
    tmi_term most = tmi_mul(&e, tmi_int(&e, l1), tmi_int(&e, l1));
    TMI_TRY(e.status);
    const moves m = {scale, tmi_smaller(l2_squared, most)};
    TMI_TRY(of_moves(mu_squared, &m, err));

done:
    tmi_exact_clear(&e);
    return status;
}
