/* Cumulative shares of weights, as balls and then as the integers that random digits are compared with.
 *
 * The weights are added from w_0 on, so that prefix[j] encloses w_0 + ... + w_j. A Gaussian has infinitely many:
 * with q = exp(-4^m / (2 variance)), w_{k+1} = w_k q^{2k+1}, two multiplications a weight. The ratios q^{2k+1} fall, so
 * everything from w_n on is at most w_n / (1 - q^{2n+1}), and n is chosen to make that invisible at the precision.   */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "num/ball_arb.h"
#include "num/digits.h"

typedef struct sums {
    tmi_ball *prefix;
    size_t count;
    tmi_ball total;
} sums;

static void sums_clear(sums *s)
{
    if (s->prefix) {
        for (size_t j = 0; j < s->count; j++) tmi_ball_clear(&s->prefix[j]);
        tmi_free(s->prefix);
        tmi_ball_clear(&s->total);
    }
    *s = (sums){0};
}

static tamis_status sums_new(sums *s, size_t count, tamis_error *err)
{
    *s = (sums){0};
    if (!(s->prefix = tmi_alloc(count, sizeof *s->prefix))) return tmi_fail_memory(err);
    s->count = count;
    for (size_t j = 0; j < count; j++) tmi_ball_init(&s->prefix[j]);
    tmi_ball_init(&s->total);
    return TAMIS_OK;
}

static tamis_status add_given(sums *s, const tmi_weights *w, long bits, tamis_error *err)
{
    tamis_status status = sums_new(s, w->count, err);
    if (status != TAMIS_OK) return status;
    for (size_t j = 0; j < w->count; j++) {
        TMI_TRY(w->weight(&s->prefix[j], w->context, j, bits, err));
        if (tmi_ball_is_negative(&s->prefix[j])) TMI_TRY(tmi_fail(err, TAMIS_INVALID, "weight %zu is negative", j));
        if (j > 0) tmi_ball_add(&s->prefix[j], &s->prefix[j], &s->prefix[j - 1], bits);
    }
    tmi_ball_set(&s->total, &s->prefix[w->count - 1]);
    if (tmi_ball_is_zero(&s->total)) status = tmi_fail(err, TAMIS_INVALID, "weights: all are zero");
done:
    return status;
}

/* How many Gaussian weights exceed 2^-bits: k 2^m <= sqrt(2 variance bits log 2). */
static double gaussian_count(const tmi_weights *w, long bits)
{
    double blocks = ldexp(sqrt(tmi_number_up(w->variance)), -(int)w->m);
    return ceil(blocks * sqrt(1.4 * (double)bits)) + 2;
}

static tamis_status add_gaussian(sums *s, const tmi_weights *w, size_t at_least, long bits, tamis_error *err)
{
    double needed = gaussian_count(w, bits);
    if (!(needed <= (double)TMI_MAX_WEIGHTS))
        return tmi_fail(err, TAMIS_UNABLE, "the blocks are too small: more than %zu of them have weight", TMI_MAX_WEIGHTS);
    size_t count = (size_t)needed > at_least ? (size_t)needed : at_least;
    tamis_status status = sums_new(s, count, err);
    if (status != TAMIS_OK) return status;

    tmi_ball weight, ratio, square, one;
    tmi_ball_inits(&weight, &ratio, &square, &one, NULL);
    tmi_ball_set_number(&ratio, w->variance, bits);
    tmi_ball_set_int(&one, 1);
    arb_mul_2exp_si(tmi_arb(&one), tmi_arb(&one), 2 * (slong)w->m - 1);
    tmi_ball_div(&ratio, &one, &ratio, bits);
    tmi_ball_neg(&ratio, &ratio);
    tmi_ball_exp(&ratio, &ratio, bits); /* q */
    tmi_ball_mul(&square, &ratio, &ratio, bits);
    tmi_ball_set_int(&one, 1);
    tmi_ball_set_int(&weight, 1);
    for (size_t k = 0; k < count; k++) {
        tmi_ball *sum = &s->prefix[k];
        if (k == 0) {
            tmi_ball_set_int(sum, 1);
            if (w->half_zero) arb_mul_2exp_si(tmi_arb(sum), tmi_arb(sum), -1);
        } else {
            tmi_ball_add(sum, &weight, &s->prefix[k - 1], bits);
        }
        tmi_ball_mul(&weight, &weight, &ratio, bits);
        tmi_ball_mul(&ratio, &ratio, &square, bits);
    }
    /* weight is w_count, ratio q^{2 count + 1}: the rest lies in [0, weight / (1 - ratio)]. */
    tmi_ball_sub(&ratio, &one, &ratio, bits);
    tmi_ball_div(&weight, &weight, &ratio, bits);
    tmi_ball_set_int(&ratio, 0);
    tmi_ball_union(&weight, &weight, &ratio, bits);
    tmi_ball_add(&s->total, &s->prefix[count - 1], &weight, bits);
    tmi_ball_clears(&weight, &ratio, &square, &one, NULL);
    return TAMIS_OK;
}

static tamis_status check_weights(const tmi_weights *w, size_t j, tamis_error *err)
{
    if (!w) return tmi_fail(err, TAMIS_INVALID, "weights: NULL");
    if (j >= TMI_MAX_WEIGHTS || w->count > TMI_MAX_WEIGHTS)
        return tmi_fail(err, TAMIS_INVALID, "at most %zu weights", TMI_MAX_WEIGHTS);
    if (w->weight) {
        if (w->count == 0) return tmi_fail(err, TAMIS_INVALID, "weights: at least one is needed");
        if (j >= w->count) return tmi_fail(err, TAMIS_INVALID, "weight %zu: there are only %zu", j, w->count);
    } else {
        if (!w->variance) return tmi_fail(err, TAMIS_INVALID, "variance: NULL");
        if (tmi_number_sign(w->variance) <= 0) return tmi_fail(err, TAMIS_INVALID, "variance must be positive");
        if (w->m > TMI_MAX_SHIFT) return tmi_fail(err, TAMIS_INVALID, "blocks of more than 2^%d", TMI_MAX_SHIFT);
    }
    return TAMIS_OK;
}

static tamis_status add_weights(sums *s, const tmi_weights *w, size_t at_least, long bits, tamis_error *err)
{
    return w->weight ? add_given(s, w, bits, err) : add_gaussian(s, w, at_least, bits, err);
}

/* Precisions to try for m digits: a Gaussian of 2^22 weights loses at most 2 * 22 bits in its products. */
static long first_bits(uint64_t m) { return (long)m + 112; }

static bool more_bits(long *bits, uint64_t m)
{
    *bits += *bits / 2;
    return *bits <= 8 * ((long)m + 1024);
}

static tamis_status undecided(tamis_error *err)
{
    return tmi_fail(err, TAMIS_UNABLE, "the weights are not known precisely enough to distinguish their shares");
}

/* low as tmi_weights_table promises; false if the ball is too wide. */
static bool low_end(uint64_t *low, const tmi_ball *share)
{
    bool narrow = false;
    arf_t lower, upper;
    fmpz_t x, y;
    if (!tmi_ball_is_finite(share)) return false;
    arf_init(lower);
    arf_init(upper);
    fmpz_init(x);
    fmpz_init(y);
    arb_get_interval_arf(lower, upper, tmi_arb_const(share), 128);
    if (arf_sgn(lower) < 0) arf_zero(lower);
    if (arf_cmp_si(upper, 1) > 0) arf_one(upper);
    if (arf_cmp(lower, upper) <= 0) {
        arf_mul_2exp_si(lower, lower, 64);
        arf_mul_2exp_si(upper, upper, 64);
        arf_floor(lower, lower);
        arf_floor(upper, upper);
        arf_get_fmpz(x, lower, ARF_RND_FLOOR);
        arf_get_fmpz(y, upper, ARF_RND_FLOOR);
        *low = fmpz_bits(x) > 64 ? UINT64_MAX : fmpz_get_ui(x);
        fmpz_sub(y, y, x);
        narrow = fmpz_cmp_si(y, 1) <= 0; /* floor(upper) <= x + 1, so upper < x + 2 */
    }
    arf_clear(lower);
    arf_clear(upper);
    fmpz_clear(x);
    fmpz_clear(y);
    return narrow;
}

tamis_status tmi_weights_table(uint64_t *low, const tmi_weights *weights, size_t count, tamis_error *err)
{
    if (!low) return tmi_fail(err, TAMIS_INVALID, "low: NULL");
    if (count == 0 || count > TMI_MAX_WEIGHTS)
        return tmi_fail(err, TAMIS_INVALID, "count must be between 1 and %zu", TMI_MAX_WEIGHTS);
    memset(low, 0, count * sizeof *low);
    tamis_status status = check_weights(weights, count - 1, err);
    if (status != TAMIS_OK) return status;

    long bits = first_bits(64);
    sums s = {0};
    tmi_ball share, one;
    tmi_ball_inits(&share, &one, NULL);
    tmi_ball_set_int(&one, 1);
    do {
        size_t j = 0;
        sums_clear(&s);
        TMI_TRY(add_weights(&s, weights, count, bits, err));
        tmi_ball_div(&s.total, &one, &s.total, bits);
        for (; j < count; j++) {
            tmi_ball_mul(&share, &s.prefix[j], &s.total, bits);
            if (!low_end(&low[j], &share)) break;
            if (j > 0 && low[j] < low[j - 1]) low[j] = low[j - 1]; /* CDF(j) >= CDF(j-1): still a lower end */
        }
        if (j == count) goto done;
    } while (more_bits(&bits, 64));
    status = undecided(err);
done:
    if (status != TAMIS_OK) memset(low, 0, count * sizeof *low);
    sums_clear(&s);
    tmi_ball_clears(&share, &one, NULL);
    return status;
}

tamis_status tmi_weights_find(size_t *j, bool *certain, const tmi_weights *weights, const uint64_t *words, size_t word_count,
                              tamis_error *err)
{
    if (!j || !certain) return tmi_fail(err, TAMIS_INVALID, "outcome: NULL");
    *j = 0;
    *certain = false;
    tamis_status status = tmi_digits_check(words, 0, word_count, err);
    if (status != TAMIS_OK) return status;
    status = check_weights(weights, 0, err);
    if (status != TAMIS_OK) return status;

    long bits = first_bits(64 * word_count);
    sums s = {0};
    tmi_ball low, high;
    tmi_ball_inits(&low, &high, NULL);
    TMI_TRY(add_weights(&s, weights, 1, bits, err));
    for (size_t i = word_count; i-- > 0;) { /* exact */
        arb_mul_2exp_si(tmi_arb(&low), tmi_arb(&low), -64);
        arf_t word;
        arf_init(word);
        arf_set_ui(word, words[i]);
        arf_mul_2exp_si(word, word, -64);
        arb_add_arf(tmi_arb(&low), tmi_arb(&low), word, ARF_PREC_EXACT);
        arf_clear(word);
    }
    tmi_ball_set_int(&high, 1);
    arb_mul_2exp_si(tmi_arb(&high), tmi_arb(&high), -64 * (slong)word_count);
    arb_add(tmi_arb(&high), tmi_arb(&high), tmi_arb(&low), ARF_PREC_EXACT);
    tmi_ball_mul(&low, &low, &s.total, bits);
    tmi_ball_mul(&high, &high, &s.total, bits);
    for (size_t i = 0; i < s.count; i++) {
        if (arb_le(tmi_arb(&s.prefix[i]), tmi_arb(&low))) continue; /* CDF(i) <= U */
        bool last = weights->weight && i == s.count - 1;
        *certain = last || arb_ge(tmi_arb(&s.prefix[i]), tmi_arb(&high)) != 0;
        if (*certain) *j = i;
        break;
    }
done:
    sums_clear(&s);
    tmi_ball_clears(&low, &high, NULL);
    return status;
}
