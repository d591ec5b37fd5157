#include "num/digits.h"

#include <string.h>

#include "num/ball_arb.h"
#include "num/number_gmp.h"

tamis_status tmi_digits_check(const uint64_t *words, uint64_t first, size_t word_count, tamis_error *err)
{
    if (!words) return tmi_fail(err, TAMIS_INVALID, "words: NULL");
    if (word_count == 0 || word_count > TMI_MAX_DIGITS / 64 || first > TMI_MAX_DIGITS - 64 * word_count)
        return tmi_fail(err, TAMIS_INVALID, "at most %llu digits can be computed", (unsigned long long)TMI_MAX_DIGITS);
    return TAMIS_OK;
}

/* floor(2^m p) if every p in [0, 1] of the ball has the same one, with 2^m itself written as 2^m - 1. */
static bool digits_floor(fmpz_t floor, const arb_t p, uint64_t m)
{
    bool certain = false;
    arf_t lower, upper;
    fmpz_t high, last;
    arf_init(lower);
    arf_init(upper);
    fmpz_init(high);
    fmpz_init(last);
    if (!arb_is_finite(p)) goto done;
    arb_get_interval_arf(lower, upper, p, (slong)m + 64); /* outwards; exact ends may be absurdly long */
    /* Clamped before they become integers: a bound far outside [0, 1] would be a very long one. */
    if (arf_sgn(lower) < 0) arf_zero(lower);
    if (arf_cmp_si(upper, 1) > 0) arf_one(upper);
    if (arf_cmp(lower, upper) > 0) goto done;
    arf_mul_2exp_si(lower, lower, (slong)m);
    arf_mul_2exp_si(upper, upper, (slong)m);
    arf_floor(lower, lower);
    arf_floor(upper, upper);
    arf_get_fmpz(floor, lower, ARF_RND_FLOOR);
    arf_get_fmpz(high, upper, ARF_RND_FLOOR);
    fmpz_one(last);
    fmpz_mul_2exp(last, last, m);
    fmpz_sub_ui(last, last, 1);
    if (fmpz_cmp(floor, last) > 0) fmpz_set(floor, last);
    if (fmpz_cmp(high, last) > 0) fmpz_set(high, last);
    certain = fmpz_equal(floor, high) != 0;
done:
    arf_clear(lower);
    arf_clear(upper);
    fmpz_clear(high);
    fmpz_clear(last);
    return certain;
}

/* The last 64 * word_count bits of x >= 0. */
static void digits_words(uint64_t *words, const fmpz_t x, size_t word_count)
{
    mpz_t bits;
    fmpz_t rest;
    uint64_t swap;
    size_t written = 0;
    mpz_init(bits);
    fmpz_init(rest);
    memset(words, 0, word_count * sizeof *words);
    fmpz_fdiv_r_2exp(rest, x, 64 * word_count);
    fmpz_get_mpz(bits, rest);
    mpz_export(words, &written, -1, sizeof *words, 0, 0, bits); /* least significant word first, at most word_count */
    for (size_t i = 0; i < word_count / 2; i++) {
        swap = words[i];
        words[i] = words[word_count - 1 - i];
        words[word_count - 1 - i] = swap;
    }
    fmpz_clear(rest);
    mpz_clear(bits);
}

static void rational_floor(fmpz_t floor, const tamis_number *x, uint64_t m)
{
    mpz_t scaled;
    mpz_init(scaled);
    mpz_mul_2exp(scaled, mpq_numref(x->value), m);
    mpz_fdiv_q(scaled, scaled, mpq_denref(x->value));
    fmpz_set_mpz(floor, scaled);
    if (mpz_cmp(mpq_numref(x->value), mpq_denref(x->value)) == 0) fmpz_sub_ui(floor, floor, 1); /* 1 = 0.111... */
    mpz_clear(scaled);
}

/* The absolute error of exp(-x) is x exp(-x) 2^-bits < 2^-bits, so m + 64 bits nearly always decide at once. */
static void source_ball(arb_t p, const tmi_digit_source *source, slong bits)
{
    arb_t one_more;
    tmi_ball x;
    tmi_ball_init(&x);
    tmi_ball_set_number(&x, source->x, bits);
    if (source->kind == TMI_DIGITS_LOGISTIC) arb_mul_2exp_si(tmi_arb(&x), tmi_arb(&x), (slong)source->i);
    arb_neg(tmi_arb(&x), tmi_arb(&x));
    arb_exp(p, tmi_arb(&x), bits);
    if (source->kind == TMI_DIGITS_LOGISTIC) { /* exp(-y) / (1 + exp(-y)): nothing overflows */
        arb_init(one_more);
        arb_add_si(one_more, p, 1, bits);
        arb_div(p, p, one_more, bits);
        arb_clear(one_more);
    }
    tmi_ball_clear(&x);
}

static tamis_status check_source(const tmi_digit_source *p, tamis_error *err)
{
    if (!p || !p->x) return tmi_fail(err, TAMIS_INVALID, "digit source: NULL");
    int sign = tmi_number_sign(p->x);
    switch (p->kind) {
    case TMI_DIGITS_RATIONAL:
        if (sign < 0 || tmi_number_compare_int(p->x, 1) > 0)
            return tmi_fail(err, TAMIS_INVALID, "a probability must be in [0, 1]");
        return TAMIS_OK;
    case TMI_DIGITS_EXP:
        if (sign < 0) return tmi_fail(err, TAMIS_INVALID, "exp(-x) is a probability only for x >= 0");
        return TAMIS_OK;
    case TMI_DIGITS_LOGISTIC:
        if (sign <= 0) return tmi_fail(err, TAMIS_INVALID, "1/(1+exp(x)) is available only for x > 0");
        if (p->i > TMI_MAX_SHIFT)
            return tmi_fail(err, TAMIS_INVALID, "bit %u of a geometric variable: at most %d", p->i, TMI_MAX_SHIFT);
        return TAMIS_OK;
    }
    return tmi_fail(err, TAMIS_INVALID, "digit source: unknown kind");
}

tamis_status tmi_digits(uint64_t *words, const tmi_digit_source *p, uint64_t first, size_t word_count, tamis_error *err)
{
    tamis_status status = tmi_digits_check(words, first, word_count, err);
    if (status != TAMIS_OK) return status;
    memset(words, 0, word_count * sizeof *words);
    status = check_source(p, err);
    if (status != TAMIS_OK) return status;

    uint64_t m = first + 64 * word_count;
    fmpz_t floor;
    fmpz_init(floor);
    if (p->kind == TMI_DIGITS_RATIONAL) {
        rational_floor(floor, p->x, m);
    } else {
        arb_t ball;
        arb_init(ball);
        slong bits = (slong)m + 64;
        source_ball(ball, p, bits);
        while (!digits_floor(floor, ball, m)) source_ball(ball, p, bits += bits / 2);
        arb_clear(ball);
    }
    digits_words(words, floor, word_count);
    fmpz_clear(floor);
    return TAMIS_OK;
}
