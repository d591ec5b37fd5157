#include "num/normal_digits.h"

#include "num/ball_arb.h"

/* z = [0.words, 0.words + 2^-(64 count)], exactly. */
static void set_interval(arb_t z, const uint64_t *words, size_t count)
{
    const slong digits = 64 * (slong)count;
    arb_t rest;
    arf_t word;
    arb_init(rest);
    arf_init(word);
    arb_zero(z);
    for (size_t i = 0; i < count; i++) {
        arf_set_ui(word, words[i]);
        arf_mul_2exp_si(word, word, -64 * (slong)(i + 1));
        arb_add_arf(z, z, word, ARF_PREC_EXACT);
    }
    arb_one(rest);
    arb_mul_2exp_si(rest, rest, -digits);
    arb_add(rest, rest, z, ARF_PREC_EXACT);
    arb_union(z, z, rest, digits + 64); /* may round outwards, which costs a digit */
    arb_clear(rest);
    arf_clear(word);
}

/* Whether the coin is certainly below exp(-x (2 k + x) / 2048), or certainly not. */
static bool decide_coin(bool *keep, const arb_t x, const arb_t coin, size_t k, slong bits)
{
    arb_t p;
    arb_init(p);
    arb_add_ui(p, x, k, bits);
    arb_add_ui(p, p, k, bits);
    arb_mul(p, p, x, bits);
    arb_mul_2exp_si(p, p, -11);
    arb_neg(p, p);
    arb_exp(p, p, bits);
    *keep = arb_lt(coin, p) != 0;
    const bool decided = *keep || arb_ge(coin, p) != 0;
    arb_clear(p);
    return decided;
}

static bool decide_whole(int64_t *whole, const arb_t x, size_t k, const tamis_number *scale, slong bits)
{
    tmi_ball s;
    arb_t y;
    fmpz_t n;
    tmi_ball_init(&s);
    arb_init(y);
    fmpz_init(n);
    tmi_ball_set_number(&s, scale, bits);
    arb_add_ui(y, x, k, bits);
    arb_mul(y, y, tmi_arb(&s), bits);
    arb_mul_2exp_si(y, y, -4);
    arb_add_ui(y, y, 1, bits);
    arb_mul_2exp_si(y, y, -1); /* scale (k + x) / 32 + 1/2 */
    arb_floor(y, y, bits);
    const bool decided = arb_get_unique_fmpz(n, y) != 0;
    *whole = fmpz_fits_si(n) ? fmpz_get_si(n) : INT64_MAX;
    tmi_ball_clear(&s);
    arb_clear(y);
    fmpz_clear(n);
    return decided;
}

void tmi_normal_find(bool *decided, bool *keep, int64_t *whole, const tmi_normal_digits *digits, const tamis_number *scale)
{
    const slong bits = 64 * (slong)digits->count + 128; /* 128: the integer part of the largest noise, and some for rounding */
    arb_t x, coin;
    *whole = 0;
    arb_init(x);
    arb_init(coin);
    set_interval(x, digits->x, digits->count);
    set_interval(coin, digits->coin, digits->count);
    *decided = decide_coin(keep, x, coin, digits->k, bits);
    if (*decided && *keep) *decided = decide_whole(whole, x, digits->k, scale, bits);
    arb_clear(x);
    arb_clear(coin);
}
