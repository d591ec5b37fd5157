#include "tests/test.h"

#include "tests/rng/laplace_script.h"

#include <stdlib.h>
#include <string.h>

#include "num/digits.h"
#include "num/number.h"
#include "rng/discrete_laplace.h"
#include "tests/rng/law.h"

uint64_t random_word(void)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

void put(script *s, const void *bytes, size_t n)
{
    if (s->size + n > s->room) {
        s->room = 2 * (s->size + n);
        s->bytes = realloc(s->bytes, s->room);
        assert_non_null(s->bytes);
    }
    memcpy(s->bytes + s->size, bytes, n);
    s->size += n;
}

static unsigned digit(const uint64_t *p, unsigned j)
{
    assert_true(j < 64 * DIGIT_WORDS);
    return p[j / 64] >> (63 - j % 64) & 1;
}

/* The digit at which a coin decides: random and own digit differ there, and are equal before. */
static unsigned decider(const uint64_t *p, bool yes, unsigned tie)
{
    while (digit(p, tie) != yes) tie++;
    return tie;
}

/* The random digit number j of a coin that decides at `at`; later ones are noise. */
static unsigned random_digit(const uint64_t *p, unsigned j, unsigned at)
{
    return j < at ? digit(p, j) : j == at ? 1 - digit(p, j) : (unsigned)random_word() & 1;
}

static void put_bytes(script *s, const uint64_t *p, unsigned at, unsigned first_byte)
{
    for (unsigned b = first_byte; b <= at / 8; b++) {
        uint8_t byte = 0;
        for (unsigned j = 8 * b; j < 8 * b + 8; j++) byte = (uint8_t)((unsigned)byte << 1 | random_digit(p, j, at));
        put(s, &byte, 1);
    }
}

void put_coins(script *s, const uint64_t *p, const bool *yes, const wish *wishes)
{
    unsigned at[TMI_LANES], last = 0;
    for (int lane = 0; lane < TMI_LANES; lane++) {
        at[lane] = decider(p, yes[lane], wishes[lane].tie);
        if (at[lane] > last) last = at[lane];
    }
    for (unsigned j = 0; j <= last && j < TMI_PLANES; j++) {
        uint8_t plane[TMI_LANES / 8] = {0};
        for (int lane = 0; lane < TMI_LANES; lane++)
            plane[lane / 8] = (uint8_t)(plane[lane / 8] | random_digit(p, j, at[lane]) << lane % 8);
        put(s, plane, sizeof plane);
    }
    for (int lane = 0; lane < TMI_LANES; lane++)
        if (at[lane] >= TMI_PLANES) put_bytes(s, p, at[lane], TMI_PLANES / 8);
}

/* 2^levels >= 16 scale. */
static unsigned levels_of(const tamis_number *scale)
{
    unsigned levels = 0;
    tamis_number *sixteen = number("16"), *limit;
    assert_int_equal(tmi_number_mul(&limit, scale, sixteen, NULL), TAMIS_OK);
    while (tmi_number_compare_int(limit, INT64_C(1) << levels) > 0) levels++;
    tamis_number_free(sixteen);
    tamis_number_free(limit);
    return levels;
}

static void digits_of_level(uint64_t *p, const tamis_number *scale, unsigned level, bool high)
{
    tamis_number *one = number("1"), *rate, *power, *high_rate;
    assert_int_equal(tmi_number_div(&rate, one, scale, NULL), TAMIS_OK);
    assert_int_equal(tmi_number_ratio(&power, INT64_C(1) << level, 1, NULL), TAMIS_OK);
    assert_int_equal(tmi_number_mul(&high_rate, rate, power, NULL), TAMIS_OK);
    tmi_digit_source bit = {TMI_DIGITS_LOGISTIC, rate, level}, more = {TMI_DIGITS_EXP, high_rate, 0};
    assert_int_equal(tmi_digits(p, high ? &more : &bit, 0, DIGIT_WORDS, NULL), TAMIS_OK);
    tamis_number_free(one);
    tamis_number_free(rate);
    tamis_number_free(power);
    tamis_number_free(high_rate);
}

void find_digits(coin_digits *d, const tamis_number *scale)
{
    d->levels = levels_of(scale);
    for (unsigned level = 0; level <= d->levels; level++) digits_of_level(d->p[level], scale, level, level == d->levels);
}

void write_script(script *s, const coin_digits *d, const wish *wishes)
{
    bool yes[TMI_LANES];
    s->size = 0;
    for (unsigned level = 0; level <= d->levels; level++)
        for (int side = 0; side < 2; side++) {
            for (int lane = 0; lane < TMI_LANES; lane++)
                yes[lane] = level < d->levels ? wishes[lane].g[side] >> level & 1 : wishes[lane].h[side] > 0;
            put_coins(s, d->p[level], yes, wishes);
        }
    const uint64_t *high = d->p[d->levels];
    for (int lane = 0; lane < TMI_LANES; lane++)
        for (int side = 0; side < 2; side++)
            for (uint64_t h = wishes[lane].h[side]; h > 0; h--) put_bytes(s, high, decider(high, h > 1, wishes[lane].tie), 0);
}
