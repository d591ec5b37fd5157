#include "tests/test.h"

#include "tests/rng/gaussian_blocks.h"

#include <stdlib.h>

#include "num/number.h"
#include "tests/rng/law.h"

static void weight(tmi_ball *w, const tamis_number *variance, size_t k, unsigned m)
{
    tmi_ball t;
    tmi_ball_init(&t);
    tmi_ball_set_int(w, (int64_t)(k * k));
    for (unsigned i = 0; i < m; i++) tmi_ball_mul_int(w, w, 4, BITS);
    tmi_ball_set_number(&t, variance, BITS);
    tmi_ball_mul_int(&t, &t, -2, BITS);
    tmi_ball_div(w, w, &t, BITS);
    tmi_ball_exp(w, w, BITS);
    if (k == 0 && m == 0) tmi_ball_div_int(w, w, 2, BITS);
    tmi_ball_clear(&t);
}

/* Weights are summed until they are below 10^-75; the rest is then below 10^-70. */
blocks blocks_of(const char *text)
{
    tamis_number *variance = number(text);
    blocks b = {0, 0, calloc(4096, sizeof *b.cdf)};
    for (double v = tmi_number_down(variance) / 1024; v >= 4; v /= 4) b.m++; /* no test is close to an edge */
    tmi_ball sum, rest, zero;
    tmi_ball_init(&sum);
    tmi_ball_init(&rest);
    tmi_ball_init(&zero);
    tmi_ball_set_number(&rest, variance, BITS);
    do {
        tmi_ball *w = &b.cdf[b.count];
        tmi_ball_init(w);
        weight(w, variance, b.count, b.m);
        tmi_ball_set(&rest, w);
        tmi_ball_add(&sum, &sum, w, BITS);
        tmi_ball_set(w, &sum);
        b.count++;
    } while (tmi_ball_bound(&rest).upper > 1e-75);
    /* Widen the sum by what was left out: at most 10^5 times the last weight, as the ratio is below 1 - 10^-5. */
    tmi_ball_mul_int(&rest, &rest, 100000, BITS);
    tmi_ball_union(&rest, &rest, &zero, BITS);
    tmi_ball_add(&sum, &sum, &rest, BITS);
    for (size_t k = 0; k < b.count; k++) tmi_ball_div(&b.cdf[k], &b.cdf[k], &sum, BITS);
    tmi_ball_clear(&sum);
    tmi_ball_clear(&rest);
    tmi_ball_clear(&zero);
    tamis_number_free(variance);
    return b;
}

void blocks_free(blocks *b)
{
    for (size_t k = 0; k < b->count; k++) tmi_ball_clear(&b->cdf[k]);
    free(b->cdf);
}

void fraction(tmi_ball *z, uint64_t high, uint64_t low)
{
    uint32_t parts[4] = {(uint32_t)low, (uint32_t)(low >> 32), (uint32_t)high, (uint32_t)(high >> 32)};
    tmi_ball_set_int(z, 0);
    for (int i = 0; i < 4; i++) {
        tmi_ball_add_int(z, z, parts[i], BITS);
        tmi_ball_div_int(z, z, INT64_C(1) << 32, BITS);
    }
}

bool may_be_at_most(const tmi_ball *x, const tmi_ball *y) { return !tmi_ball_is_less(y, x); }
