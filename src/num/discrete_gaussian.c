/* P(k) = f(k) / (sum of f over all integers), f(x) = exp(-x^2 / (2v)).
 *
 * The total is a theta function. For v < 1 it is summed as it stands; for larger v Poisson's formula
 * sum f = sqrt(2 pi v) (1 + 2 sum_{j>=1} exp(-2 pi^2 v j^2)) needs even fewer terms.
 *
 * The tail f(a) + f(a+1) + ..., a >= 1, is summed as it stands where it is short: the ratio of neighbours falls, so the
 * rest is below a geometric series. Where it is long, a/v is small and f is smooth from one integer to the next, and the
 * Euler-Maclaurin formula gives it in time that does not depend on v: with f^(m)(x) = (-1)^m h_m(x) f(x), where
 * h_0 = 1, h_1 = x/v, h_{m+1} = (x/v) h_m - (m/v) h_{m-1} (Hermite polynomials),
 *
 *     tail = I_0 + f(a)/2 + sum_{j=1..M} B_{2j}/(2j)! h_{2j-1}(a) f(a) + R,   I_i = integral of x^i f(x) from a on,
 *     |R| <= |B_{2M}|/(2M)! integral of |h_{2M}| f  <=  |B_{2M}| sum_{j=0..M} v^{-(2M-j)} I_{2M-2j} / (2^j j! (2M-2j)!)
 *
 * from the coefficients of h_{2M} with all signs made positive; I_0 = sqrt(pi v/2) erfc(a/sqrt(2v)) and
 * I_i = v a^{i-1} f(a) + v (i-1) I_{i-2}, all terms positive.                                                        */
#include <math.h>
#include <tamis/num.h>

#include "num/ball_arb.h"
#include "num/certify.h"
#include "num/laws.h"

#if __has_include(<flint/arb_hypgeom.h>)
#include <flint/arb_hypgeom.h>
#else
#include <arb_hypgeom.h>
#endif

#define SHORT 200 /* terms; beyond, Euler-Maclaurin is quicker and converges well */

/* z = sum_{j>=1} exp(-x j^2), x > 0: w_{j+1} = w_j q^{2j+1}, and the rest after w_j is at most w_j q^{2j+1}/(1-q^{2j+1}). */
static void half_theta(arb_t z, const arb_t x, slong bits)
{
    arb_t term, ratio, square, rest, one, enough;
    arb_init(term);
    arb_init(ratio);
    arb_init(square);
    arb_init(rest);
    arb_init(one);
    arb_init(enough);
    arb_neg(term, x);
    arb_exp(term, term, bits); /* q = w_1 */
    arb_mul(square, term, term, bits);
    arb_mul(ratio, term, square, bits);
    arb_one(one);
    arb_mul_2exp_si(enough, one, -bits);
    arb_zero(z);
    for (;;) {
        arb_add(z, z, term, bits);
        arb_mul(rest, term, ratio, bits);
        arb_sub(term, one, ratio, bits);
        arb_div(term, rest, term, bits); /* what is left at most; `rest` is the next term */
        if (arb_lt(term, enough) || !arb_is_finite(term)) break;
        arb_swap(term, rest);
        arb_mul(ratio, ratio, square, bits);
    }
    arb_zero(rest);
    arb_union(term, term, rest, bits);
    arb_add(z, z, term, bits);
    arb_clear(term);
    arb_clear(ratio);
    arb_clear(square);
    arb_clear(rest);
    arb_clear(one);
    arb_clear(enough);
}

void tmi_discrete_gaussian_total(tmi_ball *z, const tamis_number *variance, long bits)
{
    tmi_ball v;
    arb_t x;
    tmi_ball_init(&v);
    arb_init(x);
    tmi_ball_set_number(&v, variance, bits);
    bool narrow = tmi_number_compare_int(variance, 1) < 0;
    arb_const_pi(x, bits);
    if (narrow) {
        arb_mul_2exp_si(x, tmi_arb(&v), 1);
        arb_inv(x, x, bits);
    } else {
        arb_mul(x, x, x, bits);
        arb_mul(x, x, tmi_arb(&v), bits);
        arb_mul_2exp_si(x, x, 1);
    }
    half_theta(tmi_arb(z), x, bits);
    arb_mul_2exp_si(tmi_arb(z), tmi_arb(z), 1);
    arb_add_si(tmi_arb(z), tmi_arb(z), 1, bits);
    if (!narrow) {
        arb_const_pi(x, bits);
        arb_mul(x, x, tmi_arb(&v), bits);
        arb_mul_2exp_si(x, x, 1);
        arb_sqrt(x, x, bits);
        arb_mul(tmi_arb(z), tmi_arb(z), x, bits);
    }
    tmi_ball_clear(&v);
    arb_clear(x);
}

/* z = exp(-k^2 / (2v)) */
static void weight(arb_t z, const fmpz_t k, const arb_t v, slong bits)
{
    fmpz_t square;
    fmpz_init(square);
    fmpz_mul(square, k, k);
    arb_set_fmpz(z, square);
    arb_div(z, z, v, bits);
    arb_mul_2exp_si(z, z, -1);
    arb_neg(z, z);
    arb_exp(z, z, bits);
    fmpz_clear(square);
}

/* f(a) + f(a+1) + ... in units of f(a), one by one. */
static void add_terms(arb_t z, const fmpz_t a, const arb_t v, slong bits)
{
    arb_t term, ratio, step, rest, enough;
    fmpz_t odd;
    arb_init(term);
    arb_init(ratio);
    arb_init(step);
    arb_init(rest);
    arb_init(enough);
    fmpz_init(odd);
    arb_inv(step, v, bits);
    arb_neg(step, step);
    fmpz_mul_2exp(odd, a, 1);
    fmpz_add_ui(odd, odd, 1);
    arb_mul_fmpz(ratio, step, odd, bits);
    arb_mul_2exp_si(ratio, ratio, -1);
    arb_exp(ratio, ratio, bits); /* f(a+1)/f(a) */
    arb_exp(step, step, bits);
    arb_one(term);
    arb_one(z);
    arb_mul_2exp_si(enough, z, -bits);
    for (;;) { /* ends: the ratio falls by the factor exp(-1/v) at each step, and there are about SHORT of them */
        arb_sub_si(rest, ratio, 1, bits);
        arb_neg(rest, rest);
        arb_mul(term, term, ratio, bits);
        arb_div(rest, term, rest, bits);
        if (arb_lt(rest, enough) || !arb_is_finite(rest)) break;
        arb_add(z, z, term, bits);
        arb_mul(ratio, ratio, step, bits);
    }
    arb_zero(term);
    arb_union(rest, rest, term, bits);
    arb_add(z, z, rest, bits);
    arb_clear(term);
    arb_clear(ratio);
    arb_clear(step);
    arb_clear(rest);
    arb_clear(enough);
    fmpz_clear(odd);
}

/* I_0 in units of f(a). */
static void integral(arb_t z, const arb_t a, const arb_t v, const arb_t weight_a, slong bits)
{
    arb_t x;
    arb_init(x);
    arb_mul_2exp_si(x, v, 1);
    arb_sqrt(x, x, bits);
    arb_div(x, a, x, bits);
    arb_hypgeom_erfc(z, x, bits);
    arb_const_pi(x, bits);
    arb_mul(x, x, v, bits);
    arb_mul_2exp_si(x, x, -1);
    arb_sqrt(x, x, bits);
    arb_mul(z, z, x, bits);
    arb_div(z, z, weight_a, bits);
    arb_clear(x);
}

/* The bound of |R| in units of f(a), given I_0 in these units. */
static void remainder_bound(arb_t z, ulong M, const arb_t a, const arb_t v, const arb_t integral_0, slong bits)
{
    arb_t moment, power, t, u;
    arb_init(moment);
    arb_init(power);
    arb_init(t);
    arb_init(u);
    arb_set(moment, integral_0);
    arb_inv(power, a, bits); /* a^{i-1} for i = 0 */
    arb_zero(z);
    for (ulong i = 0; i <= M; i++) { /* I_{2i}, j = M - i, v^{-(2M-j)} = v^{-(M+i)} */
        if (i > 0) {
            arb_mul(power, power, a, bits);
            arb_mul(power, power, a, bits);
            arb_mul_ui(moment, moment, 2 * i - 1, bits);
            arb_add(moment, moment, power, bits);
            arb_mul(moment, moment, v, bits);
        }
        arb_pow_ui(t, v, M + i, bits);
        arb_div(t, moment, t, bits);
        arb_fac_ui(u, M - i, bits);
        arb_div(t, t, u, bits);
        arb_fac_ui(u, 2 * i, bits);
        arb_div(t, t, u, bits);
        arb_mul_2exp_si(t, t, -(slong)(M - i));
        arb_add(z, z, t, bits);
    }
    arb_bernoulli_ui(t, 2 * M, bits);
    arb_abs(t, t);
    arb_mul(z, z, t, bits);
    arb_clear(moment);
    arb_clear(power);
    arb_clear(t);
    arb_clear(u);
}

/* The tail in units of f(a) by Euler-Maclaurin. */
static void add_smooth(arb_t z, const fmpz_t start, const arb_t v, const arb_t weight_a, slong bits)
{
    ulong M = (ulong)bits / 7 + 4;
    arb_t a, slope, h, h_last, t, u;
    arb_init(a);
    arb_init(slope);
    arb_init(h);
    arb_init(h_last);
    arb_init(t);
    arb_init(u);
    arb_set_fmpz(a, start);
    integral(z, a, v, weight_a, bits);
    remainder_bound(u, M, a, v, z, bits);
    arb_add_error(z, u);
    arb_set_d(t, 0.5);
    arb_add(z, z, t, bits);
    arb_div(slope, a, v, bits);
    arb_one(h_last);
    arb_set(h, slope);
    for (ulong m = 1; m < 2 * M; m++) { /* h = h_m */
        if (m % 2 == 1) {
            arb_bernoulli_ui(t, m + 1, bits);
            arb_fac_ui(u, m + 1, bits);
            arb_div(t, t, u, bits);
            arb_addmul(z, t, h, bits);
        }
        arb_mul_ui(t, h_last, m, bits);
        arb_div(t, t, v, bits);
        arb_mul(u, slope, h, bits);
        arb_swap(h_last, h);
        arb_sub(h, u, t, bits);
    }
    arb_clear(a);
    arb_clear(slope);
    arb_clear(h);
    arb_clear(h_last);
    arb_clear(t);
    arb_clear(u);
}

/* z = f(a) + f(a+1) + ..., a >= 1. */
static void tail(arb_t z, const fmpz_t a, const tamis_number *variance, slong bits)
{
    tmi_ball v;
    arb_t weight_a;
    double start = fmpz_get_d(a), twice = 2 * tmi_number_up(variance) * (double)bits * 0.7;
    double terms = twice / (start + sqrt(start * start + twice)); /* j with (a+j)^2 - a^2 = 2 v bits log 2 */
    tmi_ball_init(&v);
    arb_init(weight_a);
    tmi_ball_set_number(&v, variance, bits);
    weight(weight_a, a, tmi_arb(&v), bits);
    if (terms < SHORT) add_terms(z, a, tmi_arb(&v), bits);
    else add_smooth(z, a, tmi_arb(&v), weight_a, bits);
    arb_mul(z, z, weight_a, bits);
    tmi_ball_clear(&v);
    arb_clear(weight_a);
}

void tmi_discrete_gaussian_part(tmi_ball *z, const tamis_number *variance, tmi_part part, int64_t k, long bits)
{
    slong more = bits < 128 ? 128 : bits;
    tmi_ball total;
    fmpz_t m;
    tmi_ball_init(&total);
    fmpz_init(m);
    tmi_discrete_gaussian_total(&total, variance, more);
    fmpz_set_si(m, k);
    if (part == TMI_AT_MOST) fmpz_neg(m, m);
    if (part == TMI_MASS) {
        tmi_ball v;
        tmi_ball_init(&v);
        tmi_ball_set_number(&v, variance, more);
        weight(tmi_arb(z), m, tmi_arb(&v), more);
        arb_div(tmi_arb(z), tmi_arb(z), tmi_arb(&total), more);
        tmi_ball_clear(&v);
    } else if (fmpz_sgn(m) > 0) {
        tail(tmi_arb(z), m, variance, more);
        arb_div(tmi_arb(z), tmi_arb(z), tmi_arb(&total), more);
    } else { /* P(X >= m) = 1 - P(X >= 1-m) */
        fmpz_neg(m, m);
        fmpz_add_ui(m, m, 1);
        tail(tmi_arb(z), m, variance, more);
        arb_div(tmi_arb(z), tmi_arb(z), tmi_arb(&total), more);
        arb_sub_si(tmi_arb(z), tmi_arb(z), 1, more);
        arb_neg(tmi_arb(z), tmi_arb(z));
    }
    tmi_ball_clear(&total);
    fmpz_clear(m);
}

/* ---- public ---- */

tamis_status tmi_check_scale(const tamis_number *scale, tamis_error *err)
{
    if (!scale) return tmi_fail(err, TAMIS_INVALID, "scale: NULL");
    if (tmi_number_sign(scale) <= 0) return tmi_fail(err, TAMIS_INVALID, "scale must be positive");
    return TAMIS_OK;
}

typedef struct question {
    const tamis_number *variance;
    tmi_part part;
    int64_t k;
} question;

static tamis_status answer(tmi_ball *z, const void *context, long bits, tamis_error *err)
{
    const question *q = context;
    (void)err;
    tmi_discrete_gaussian_part(z, q->variance, q->part, q->k, bits);
    return TAMIS_OK;
}

static tamis_status certified(tamis_bound *bound, const tamis_number *scale, tmi_part part, int64_t k, tamis_error *err)
{
    tamis_number *variance = NULL;
    tamis_status status = tmi_begin_probability(bound, err);
    if (status == TAMIS_OK) status = tmi_check_scale(scale, err);
    if (status == TAMIS_OK) status = tmi_number_mul(&variance, scale, scale, err);
    if (status == TAMIS_OK) status = tmi_certify_probability(bound, answer, &(question){variance, part, k}, err);
    tamis_number_free(variance);
    return status;
}

tamis_status tamis_discrete_gaussian_mass(tamis_bound *p, const tamis_number *scale, int64_t k, tamis_error *err)
{
    return certified(p, scale, TMI_MASS, k, err);
}

tamis_status tamis_discrete_gaussian_at_least(tamis_bound *p, const tamis_number *scale, int64_t k, tamis_error *err)
{
    return certified(p, scale, TMI_AT_LEAST, k, err);
}
