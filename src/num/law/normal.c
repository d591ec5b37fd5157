/* P(Z >= x) = erfc(x / sqrt 2) / 2. */
#include <tamis/experimental/bound.h>

#include "num/ball_arb.h"
#include "num/law/certify.h"
#include "num/law/laws.h"

#if __has_include(<flint/arb_hypgeom.h>)
#include <flint/arb_hypgeom.h>
#else
#include <arb_hypgeom.h>
#endif

void tmi_normal_at_least(tmi_ball *z, const tmi_ball *x, long bits)
{
    arb_t y;
    arb_init(y);
    arb_set_d(y, 0.5);
    arb_sqrt(y, y, bits);
    arb_mul(y, y, tmi_arb_const(x), bits);
    arb_hypgeom_erfc(tmi_arb(z), y, bits);
    arb_mul_2exp_si(tmi_arb(z), tmi_arb(z), -1);
    arb_clear(y);
}

static tamis_status answer(tmi_ball *z, const void *context, long bits, tamis_error *err)
{
    tmi_ball x;
    (void)err;
    tmi_ball_init(&x);
    tmi_ball_set_number(&x, context, bits < 128 ? 128 : bits);
    tmi_normal_at_least(z, &x, bits < 128 ? 128 : bits);
    tmi_ball_clear(&x);
    return TAMIS_OK;
}

tamis_status tamis_normal_at_least(tamis_bound *p, const tamis_number *x, tamis_error *err)
{
    tamis_status status = tmi_begin_probability(p, err);
    if (status != TAMIS_OK) return status;
    if (!x) return tmi_fail(err, TAMIS_INVALID, "x: NULL");
    /* exp(-x^2/2) is below 1e-300 beyond 40 */
    if (tmi_number_compare_int(x, 40) > 0) *p = (tamis_bound){0, 1e-300};
    else if (tmi_number_compare_int(x, -40) < 0) *p = (tamis_bound){1 - 0x1p-53, 1};
    else status = tmi_certify_probability(p, answer, x, err);
    return status;
}
