/* The sum in long double, and why its error is known.
 *
 * Let u = 2^-63. Where LDBL_EPSILON is at most u (x86: equal; arm64: 2^-112; elsewhere the sum is done in balls), u bounds the
 * relative error of one operation in every rounding mode. The integers a-j, b-j, c+j, d+j are below 2^42, hence exact; factor
 * has 64 digits whatever the format, and is within u of the truth. A term costs four more roundings (two
 * products, a quotient, a product; the factor's own error takes the place of the second product where there is no
 * second pair), so the computed t_j is within (1+u)^{4j} of the true one. Terms are added in blocks of BLOCK, and the
 * blocks to a total: a term passes at most BLOCK + (number of blocks) additions. With J terms, sum S and first moment
 * M = sum of j t_j,
 *
 *     |error| <= 1.01 u (4 M + (BLOCK + J/BLOCK + 2) S)
 *
 * where 1.01 covers the powers of 1+u (J <= 2^32, so 4 J u <= 2^-29) and the rounding of M and S
 * themselves. M is bounded from above by the index at the end of each block. The ratios fall, so the terms left
 * out after t_J are at most t_J r/(1-r), r being the next ratio; r is trusted only below 1 - 2^-40, where 1-r has
 * an error of a millionth. A term that underflows is below 2^-16000 while S >= 1:
 * the 2^-100 S that is added to the bound is more than all of them.
 *
 * A debugger or a host program may run long double with fewer bits than the format has; one addition shows it, and then
 * the sum is done in balls.                                                                                          */
#include "num/ratio.h"

#include <float.h>
#include <math.h>

#include "num/ball_arb.h"

#define UNIT 0x1p-63L /* u */
#define BLOCK 512
#define ENOUGH 0x1p-64L               /* a rest of this size relative to the sum is below every width that is asked for */
#define TERMS_FAST (INT64_C(1) << 32) /* no law of 2^40 units comes near */

int64_t tmi_ratios_length(const tmi_ratios *r) { return r->single || r->a < r->b ? r->a : r->b; }

void tmi_ratios_factor(tmi_ball *factor, const tmi_ratios *r, long bits)
{
    if (!r->odds) {
        tmi_ball_set_int(factor, 1);
        return;
    }
    tmi_ball_set_number(factor, r->odds, bits);
    if (r->inverse) arb_inv(tmi_arb(factor), tmi_arb(factor), bits);
}

void tmi_ratios_step(tmi_ball *term, const tmi_ratios *r, const tmi_ball *factor, int64_t j, long bits)
{
    if (r->odds) tmi_ball_mul(term, term, factor, bits);
    tmi_ball_mul_int(term, term, r->a - j, bits);
    if (!r->single) tmi_ball_mul_int(term, term, r->b - j, bits);
    tmi_ball_div_int(term, term, r->c + j, bits);
    if (!r->single) tmi_ball_div_int(term, term, r->d + j, bits);
}

void tmi_ratios_rest(tmi_ball *rest, const tmi_ball *term, const tmi_ratios *r, const tmi_ball *factor, int64_t j, long bits)
{
    tmi_ball ratio, below;
    tmi_ball_inits(&ratio, &below, NULL);
    if (j >= tmi_ratios_length(r)) {
        tmi_ball_set_int(rest, 0);
    } else {
        tmi_ball_set_int(&ratio, 1);
        tmi_ratios_step(&ratio, r, factor, j, bits);
        tmi_ball_set_int(&below, 1);
        tmi_ball_sub(&below, &below, &ratio, bits);
        if (tmi_ball_is_positive(&below)) {
            tmi_ball_mul(&ratio, &ratio, term, bits);
            tmi_ball_div(&ratio, &ratio, &below, bits);
            tmi_ball_set_int(&below, 0);
            tmi_ball_union(rest, &ratio, &below, bits);
        } else {
            tmi_ball_set_unknown(rest);
        }
    }
    tmi_ball_clears(&ratio, &below, NULL);
}

static void sum_in_balls(tmi_ball *sum, const tmi_ratios *r, long bits)
{
    tmi_ball term, factor, rest, enough;
    int64_t length = tmi_ratios_length(r), j = 0;
    tmi_ball_inits(&term, &factor, &rest, &enough, NULL);
    tmi_ratios_factor(&factor, r, bits);
    tmi_ball_set_int(&term, 1);
    tmi_ball_set_int(sum, 1);
    arb_mul_2exp_si(tmi_arb(&enough), tmi_arb(sum), -bits);
    for (; j < length; j++) {
        if (j % 16 == 0) { /* looking costs more than adding */
            tmi_ratios_rest(&rest, &term, r, &factor, j, bits);
            if (tmi_ball_is_less(&rest, &enough)) break;
        }
        tmi_ratios_step(&term, r, &factor, j, bits);
        tmi_ball_add(sum, sum, &term, bits);
    }
    if (j < length) tmi_ball_add(sum, sum, &rest, bits);
    tmi_ball_clears(&term, &factor, &rest, &enough, NULL);
}

static bool long_double_is_whole(void)
{
    volatile long double one = 1, u = LDBL_EPSILON;
    volatile long double sum = one + u;
    return sum - one == u && sum != one;
}

/* Within UNIT, relatively, of the ball's every number; false if that is beyond the format. */
static bool to_long_double(long double *z, const tmi_ball *x)
{
    arf_t rounded;
    fmpz_t mantissa, exponent;
    bool fits = false;
    if (arb_rel_accuracy_bits(tmi_arb_const(x)) < 80) return false;
    arf_init(rounded);
    fmpz_init(mantissa);
    fmpz_init(exponent);
    arf_set_round(rounded, arb_midref(tmi_arb_const(x)), 64, ARF_RND_NEAR);
    arf_get_fmpz_2exp(mantissa, exponent, rounded);
    if (fmpz_cmp_si(exponent, -10000) > 0 && fmpz_cmp_si(exponent, 10000) < 0) {
        *z = ldexpl((long double)fmpz_get_ui(mantissa), (int)fmpz_get_si(exponent));
        fits = true;
    }
    arf_clear(rounded);
    fmpz_clear(mantissa);
    fmpz_clear(exponent);
    return fits;
}

typedef struct running {
    long double term, a, b, c, d, factor;
} running;

static inline long double next_ratio(const running *x, bool single)
{
    return single ? x->a * x->factor / x->c : (x->a * x->b) / (x->c * x->d);
}

static inline long double add_block(running *x, int64_t length, bool single)
{
    running y = *x;
    long double block = 0;
    for (int64_t i = 0; i < length; i++) {
        y.term *= next_ratio(&y, single);
        block += y.term;
        y.a -= 1;
        y.c += 1;
        if (!single) {
            y.b -= 1;
            y.d += 1;
        }
    }
    *x = y;
    return block;
}

static bool sum_fast(tmi_ball *sum, const tmi_ratios *r)
{
    running x = {1, (long double)r->a, (long double)r->b, (long double)r->c, (long double)r->d, 1};
    long double total = 1, moment = 0, rest = 0;
    int64_t length = tmi_ratios_length(r), done = 0;
    if (LDBL_EPSILON > UNIT || !long_double_is_whole() || (r->odds && !r->single)) return false;
    if (r->odds) {
        tmi_ball factor;
        tmi_ball_init(&factor);
        tmi_ratios_factor(&factor, r, 128);
        bool fits = to_long_double(&x.factor, &factor);
        tmi_ball_clear(&factor);
        if (!fits) return false;
    }
    while (done < length) {
        int64_t step = length - done < BLOCK ? length - done : BLOCK;
        long double block = r->single ? add_block(&x, step, true) : add_block(&x, step, false);
        done += step;
        total += block;
        moment += (long double)done * block;
        if (done == length) break;
        long double ratio = next_ratio(&x, r->single);
        if (ratio < 1 - 0x1p-40L) {
            rest = 1.01L * x.term * ratio / (1 - ratio);
            if (rest < ENOUGH * total) break;
        }
        if (done > TERMS_FAST) return false;
    }
    if (done == length) rest = 0;
    long double additions = BLOCK + 2 + (long double)(done / BLOCK);
    double radius = (double)(1.01L * (UNIT * (4 * moment + additions * total) + rest + 0x1p-100L * total));
    double high = (double)total, low = (double)(total - (long double)high);
    arf_t part;
    arf_init(part);
    arf_set_d(part, high);
    arb_set_arf(tmi_arb(sum), part);
    arf_set_d(part, low);
    arb_add_arf(tmi_arb(sum), tmi_arb(sum), part, 128);
    arf_set_d(part, 1.01 * radius);
    arb_add_error_arf(tmi_arb(sum), part);
    arf_clear(part);
    return true;
}

void tmi_ratios_sum(tmi_ball *sum, const tmi_ratios *ratios, long bits)
{
    if (bits > TMI_BITS_FAST || !sum_fast(sum, ratios)) sum_in_balls(sum, ratios, bits < 128 ? 128 : bits);
}
