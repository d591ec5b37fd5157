#include "num/complex.h"

#include "base/memory.h"
#include "num/ball_arb.h"

#if __has_include(<flint/acb_modular.h>)
#include <flint/acb.h>
#include <flint/acb_modular.h>
#else
#include <acb.h>
#include <acb_modular.h>
#endif

_Static_assert(sizeof(acb_struct) == sizeof(tmi_complex), "a complex ball is an acb_struct");

static acb_ptr acb(tmi_complex *x) { return (acb_ptr)(void *)x; }

static acb_srcptr acb_const(const tmi_complex *x) { return (acb_srcptr)(const void *)x; }

void tmi_complex_init(tmi_complex *x) { acb_init(acb(x)); }
void tmi_complex_clear(tmi_complex *x) { acb_clear(acb(x)); }

tmi_complex *tmi_complex_row(size_t count)
{
    tmi_complex *row = tmi_alloc(count, sizeof *row);
    for (size_t k = 0; row && k < count; k++) tmi_complex_init(&row[k]);
    return row;
}

void tmi_complex_row_free(tmi_complex *row, size_t count)
{
    for (size_t k = 0; row && k < count; k++) tmi_complex_clear(&row[k]);
    tmi_free(row);
}

void tmi_complex_set(tmi_complex *z, const tmi_complex *x) { acb_set(acb(z), acb_const(x)); }
void tmi_complex_set_int(tmi_complex *z, int64_t x) { acb_set_si(acb(z), x); }

#define BINARY(name) \
    void tmi_complex_##name(tmi_complex *z, const tmi_complex *x, const tmi_complex *y, long bits) \
    { \
        acb_##name(acb(z), acb_const(x), acb_const(y), bits); \
    }

BINARY(add)
BINARY(sub)
BINARY(mul)
BINARY(div)

void tmi_complex_add_int(tmi_complex *z, const tmi_complex *x, int64_t y, long bits)
{
    tmi_ball_add_int(&z->re, &x->re, y, bits);
    tmi_ball_set(&z->im, &x->im);
}

void tmi_complex_mul_ball(tmi_complex *z, const tmi_complex *x, const tmi_ball *y, long bits)
{
    acb_mul_arb(acb(z), acb_const(x), tmi_arb_const(y), bits);
}

void tmi_complex_exp(tmi_complex *z, const tmi_complex *x, long bits) { acb_exp(acb(z), acb_const(x), bits); }

void tmi_complex_power(tmi_complex *z, const tmi_complex *x, uint64_t n, long bits) { acb_pow_ui(acb(z), acb_const(x), n, bits); }

/* Poisson's formula: the sum is sqrt(2 pi variance) theta_3(w, tau) with tau = 2 pi i variance. */
void tmi_complex_theta(tmi_complex *z, const tmi_complex *w, const tmi_ball *variance, long bits)
{
    acb_t tau, zero, theta[4];
    acb_init(tau);
    acb_init(zero);
    for (int i = 0; i < 4; i++) acb_init(theta[i]);
    arb_const_pi(acb_imagref(tau), bits);
    arb_mul(acb_imagref(tau), acb_imagref(tau), tmi_arb_const(variance), bits);
    arb_mul_2exp_si(acb_imagref(tau), acb_imagref(tau), 1);
    acb_modular_theta(theta[0], theta[1], theta[2], theta[3], zero, tau, bits);
    acb_set(zero, theta[2]);
    acb_modular_theta(theta[0], theta[1], theta[2], theta[3], acb_const(w), tau, bits);
    acb_div(acb(z), theta[2], zero, bits);
    for (int i = 0; i < 4; i++) acb_clear(theta[i]);
    acb_clear(tau);
    acb_clear(zero);
}
