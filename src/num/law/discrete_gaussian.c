/* P(k) = f(k) / (sum of f over all integers), f(x) = exp(-x^2 / (2v)).
 *
 * The total is a theta function. For v < 1 it is summed as it is; for larger v Poisson's formula sum f = sqrt(2 pi v) (1 + 2
 * sum_{j>=1} exp(-2 pi^2 v j^2)) needs even fewer terms. Tails are in gaussian_tail.c. */
#include <math.h>
#include <tamis/experimental/bound.h>

#include "num/ball_arb.h"
#include "num/law/certify.h"
#include "num/law/gaussian_tail.h"
#include "num/law/laws.h"

#define SHORT 200 /* terms; beyond, Euler-Maclaurin is quicker and converges well */

/* z = sum_{j>=1} exp(-x j^2), x > 0: with q = exp(-x), w_{j+1} = w_j q^{2j+1}, and the rest after w_j is at most
 * w_j q^{2j+1}/(1 - q^{2j+1}). */
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
    if (terms < SHORT) tmi_gaussian_tail_summed(z, a, tmi_arb(&v), bits, bits);
    else tmi_gaussian_tail_smooth(z, a, tmi_arb(&v), weight_a, (ulong)bits / 7 + 4, bits);
    arb_mul(z, z, weight_a, bits);
    tmi_ball_clear(&v);
    arb_clear(weight_a);
}

void tmi_discrete_gaussian_part(tmi_ball *z, const tamis_number *variance, tmi_law_part part, int64_t k, long bits)
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

static tamis_status part_of(tmi_ball *z, const void *variance, tmi_law_part part, int64_t k, long bits, tamis_error *err)
{
    (void)err;
    tmi_discrete_gaussian_part(z, variance, part, k, bits);
    return TAMIS_OK;
}

static tamis_status certified(tamis_bound *bound, const tamis_number *scale, tmi_law_part part, int64_t k, tamis_error *err)
{
    tamis_number *variance = NULL;
    tamis_status status = tmi_begin_probability(bound, err);
    if (status == TAMIS_OK) status = tmi_check_scale(scale, err);
    if (status == TAMIS_OK) status = tmi_number_mul(&variance, scale, scale, err);
    if (status == TAMIS_OK) status = tmi_certify_part(bound, part_of, variance, part, k, err);
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
