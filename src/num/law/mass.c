#include "num/law/mass.h"

#include "base/memory.h"
#include "num/ball_arb.h"

#if __has_include(<flint/fmpz_poly.h>)
#include <flint/fmpz_poly.h>
#else
#include <fmpz_poly.h>
#endif

tamis_status tmi_masses_new(tmi_masses *x, int64_t first, size_t count, tamis_error *err)
{
    fmpz_poly_struct *p = tmi_alloc(1, sizeof *p);
    *x = (tmi_masses){0};
    if (!p) return tmi_fail_memory(err);
    fmpz_poly_init2(p, (slong)count);
    *x = (tmi_masses){p, first, count};
    return TAMIS_OK;
}

void tmi_masses_clear(tmi_masses *x)
{
    if (x->polynomial) fmpz_poly_clear(x->polynomial);
    tmi_free(x->polynomial);
    *x = (tmi_masses){0};
}

void tmi_masses_set(tmi_masses *x, size_t i, const tmi_ball *mass, bool up)
{
    arf_t lower, upper;
    fmpz_t n;
    arf_init(lower);
    arf_init(upper);
    fmpz_init(n);
    arb_get_interval_arf(lower, upper, tmi_arb_const(mass), 2 * TMI_MASS_BITS);
    arf_mul_2exp_si(up ? upper : lower, up ? upper : lower, TMI_MASS_BITS);
    arf_get_fmpz(n, up ? upper : lower, up ? ARF_RND_CEIL : ARF_RND_FLOOR);
    if (fmpz_sgn(n) < 0) fmpz_zero(n);
    fmpz_poly_set_coeff_fmpz(x->polynomial, (slong)i, n);
    arf_clear(lower);
    arf_clear(upper);
    fmpz_clear(n);
}

void tmi_masses_get(tmi_ball *mass, const tmi_masses *x, size_t i)
{
    fmpz_t n;
    fmpz_init(n);
    fmpz_poly_get_coeff_fmpz(n, x->polynomial, (slong)i);
    arb_set_fmpz(tmi_arb(mass), n);
    arb_mul_2exp_si(tmi_arb(mass), tmi_arb(mass), -TMI_MASS_BITS);
    fmpz_clear(n);
}

/* n / 2^TMI_MASS_BITS, rounded. */
static void scale(fmpz_t n, bool up)
{
    if (up) fmpz_cdiv_q_2exp(n, n, TMI_MASS_BITS);
    else fmpz_fdiv_q_2exp(n, n, TMI_MASS_BITS);
}

tamis_status tmi_masses_convolve(tmi_masses *z, tmi_ball *above, const tmi_masses *x, const tmi_masses *y, int64_t lowest,
                                 int64_t highest, bool up, tamis_error *err)
{
    fmpz_poly_t product;
    fmpz_t below, beyond;
    int64_t first = x->first + y->first, end = first + (int64_t)(x->count + y->count) - 1;
    if (lowest < first) lowest = first;
    if (lowest > end - 1) lowest = end - 1;
    if (highest > end) highest = end;
    if (highest <= lowest) highest = lowest + 1;
    tamis_status status = tmi_masses_new(z, lowest, (size_t)(highest - lowest), err);
    if (status != TAMIS_OK) return status;
    fmpz_poly_init(product);
    fmpz_init(below);
    fmpz_init(beyond);
    fmpz_poly_mul(product, x->polynomial, y->polynomial);
    for (slong i = 0; i < fmpz_poly_length(product); i++) {
        int64_t k = first + i;
        fmpz *n = fmpz_poly_get_coeff_ptr(product, i);
        if (k < lowest || (k == lowest && up)) fmpz_add(below, below, n);
        else if (k >= highest) fmpz_add(beyond, beyond, n);
        else {
            scale(n, up);
            fmpz_poly_set_coeff_fmpz(z->polynomial, (slong)(k - lowest), n);
        }
    }
    scale(below, up);
    if (up) fmpz_poly_set_coeff_fmpz(z->polynomial, 0, below);
    scale(beyond, up);
    arb_t mass;
    arb_init(mass);
    arb_set_fmpz(mass, beyond);
    arb_mul_2exp_si(mass, mass, -TMI_MASS_BITS);
    arb_add(tmi_arb(above), tmi_arb(above), mass, 2 * TMI_MASS_BITS);
    arb_clear(mass);
    fmpz_poly_clear(product);
    fmpz_clear(below);
    fmpz_clear(beyond);
    return TAMIS_OK;
}
