/* Where a tail is short it is summed as it is: the ratio of neighbours falls, so the rest is below a geometric series.
 *
 * Where it is long, a/v is small and f(x) = exp(-x^2 / (2v)) is smooth from one integer to the next, and the
 * Euler-Maclaurin formula gives it in time that does not depend on v: with f^(m)(x) = (-1)^m h_m(x) f(x), where
 * h_0 = 1, h_1 = x/v, h_{m+1} = (x/v) h_m - (m/v) h_{m-1} (Hermite polynomials),
 *
 *     tail = I_0 + f(a)/2 + sum_{j=1..M} B_{2j}/(2j)! h_{2j-1}(a) f(a) + R,   I_i = integral of x^i f(x) from a on,
 *     |R| <= |B_{2M}|/(2M)! integral of |h_{2M}| f  <=  |B_{2M}| sum_{j=0..M} v^{-(2M-j)} I_{2M-2j} / (2^j j! (2M-2j)!)
 *
 * from the coefficients of h_{2M} with all signs made positive; I_0 = sqrt(pi v/2) erfc(a/sqrt(2v)) and
 * I_i = v a^{i-1} f(a) + v (i-1) I_{i-2}, all terms positive. */
#include "num/law/gaussian_tail.h"

#if __has_include(<flint/arb_hypgeom.h>)
#include <flint/arb_hypgeom.h>
#else
#include <arb_hypgeom.h>
#endif

void tmi_gaussian_tail_summed(arb_t z, const fmpz_t a, const arb_t v, slong stop, slong bits)
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
    arb_mul_2exp_si(enough, z, -stop);
    for (;;) { /* ends: the ratio falls by the factor exp(-1/v) at each step */
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
static void integral(arb_t z, const arb_t a, const arb_t v, const arb_t first, slong bits)
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
    arb_div(z, z, first, bits);
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

void tmi_gaussian_tail_smooth(arb_t z, const fmpz_t start, const arb_t v, const arb_t first, ulong order, slong bits)
{
    arb_t a, slope, h, h_last, t, u;
    arb_init(a);
    arb_init(slope);
    arb_init(h);
    arb_init(h_last);
    arb_init(t);
    arb_init(u);
    arb_set_fmpz(a, start);
    integral(z, a, v, first, bits);
    remainder_bound(u, order, a, v, z, bits);
    arb_add_error(z, u);
    arb_set_d(t, 0.5);
    arb_add(z, z, t, bits);
    arb_div(slope, a, v, bits);
    arb_one(h_last);
    arb_set(h, slope);
    for (ulong m = 1; m < 2 * order; m++) { /* h = h_m */
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
