/* What tests of laws share: exact rationals beside enclosures. */
#ifndef TESTS_NUM_ENCLOSURE_H
#define TESTS_NUM_ENCLOSURE_H

#include <gmp.h>
#include <math.h>
#include <stdbool.h>

#include "num/bound.h"
#include "num/number_gmp.h"

static inline bool is_narrow(tamis_bound b)
{
    double gap = b.upper - b.lower;
    return gap <= TAMIS_WIDTH * fmax(fabs(b.lower), fabs(b.upper)) || gap <= 1e-300;
}

/* The enclosure holds x and is as narrow as promised; a relative error of `slack` in x is forgiven. */
static inline void assert_encloses(tamis_bound b, mpq_srcptr x, double slack)
{
    mpq_t end, room;
    mpq_inits(end, room, NULL);
    mpq_set_d(room, slack);
    mpq_mul(room, room, x);
    mpq_abs(room, room);
    mpq_set_d(end, b.lower);
    mpq_sub(end, end, room);
    assert_true(mpq_cmp(end, x) <= 0);
    mpq_set_d(end, b.upper);
    mpq_add(end, end, room);
    assert_true(mpq_cmp(end, x) >= 0);
    assert_true(is_narrow(b));
    mpq_clears(end, room, NULL);
}

/* x as a decimal with 40 digits. */
static inline void assert_encloses_decimal(tamis_bound b, const char *decimal)
{
    tamis_number *x = number(decimal);
    assert_encloses(b, x->value, 1e-39);
    tamis_number_free(x);
}

/* n choose k. */
static inline void choose(mpz_t z, int64_t n, int64_t k)
{
    if (k < 0 || k > n) mpz_set_ui(z, 0);
    else mpz_bin_uiui(z, (unsigned long)n, (unsigned long)k);
}

#endif
