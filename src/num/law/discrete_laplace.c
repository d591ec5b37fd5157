/* P(k) = (1-q)/(1+q) q^|k| with q = exp(-1/scale): all in closed form. 1-q is taken by expm1, so a wide law keeps its
 * accuracy. */
#include <tamis/experimental/bound.h>

#include "num/ball_arb.h"
#include "num/law/certify.h"
#include "num/law/laws.h"

/* z = q^m / (1+q), the tail P(X >= m) for m >= 1. */
static void upper_tail(arb_t z, const arb_t rate, const fmpz_t m, slong bits)
{
    arb_t q;
    arb_init(q);
    arb_neg(q, rate);
    arb_exp(q, q, bits);
    arb_add_si(q, q, 1, bits);
    arb_mul_fmpz(z, rate, m, bits);
    arb_neg(z, z);
    arb_exp(z, z, bits);
    arb_div(z, z, q, bits);
    arb_clear(q);
}

void tmi_discrete_laplace_part(tmi_ball *z, const tamis_number *scale, tmi_law_part part, int64_t k, long bits)
{
    slong more = bits < 128 ? 128 : bits;
    tmi_ball rate;
    arb_t high;
    fmpz_t m;
    tmi_ball_init(&rate);
    arb_init(high);
    fmpz_init(m);
    tmi_ball_set_number(&rate, scale, more);
    arb_inv(tmi_arb(&rate), tmi_arb(&rate), more);
    fmpz_set_si(m, k);
    if (part == TMI_MASS) { /* (1-q) times the tail at |k| */
        fmpz_abs(m, m);
        arb_neg(high, tmi_arb(&rate));
        arb_expm1(high, high, more);
        upper_tail(tmi_arb(z), tmi_arb(&rate), m, more);
        arb_mul(tmi_arb(z), tmi_arb(z), high, more);
        arb_neg(tmi_arb(z), tmi_arb(z));
    } else {
        if (part == TMI_AT_MOST) fmpz_neg(m, m);
        if (fmpz_sgn(m) > 0) {
            upper_tail(tmi_arb(z), tmi_arb(&rate), m, more);
        } else { /* P(X >= m) = 1 - P(X >= 1-m) */
            fmpz_neg(m, m);
            fmpz_add_ui(m, m, 1);
            upper_tail(high, tmi_arb(&rate), m, more);
            arb_sub_si(high, high, 1, more);
            arb_neg(tmi_arb(z), high);
        }
    }
    tmi_ball_clear(&rate);
    arb_clear(high);
    fmpz_clear(m);
}

/* ---- public ---- */

static tamis_status part_of(tmi_ball *z, const void *scale, tmi_law_part part, int64_t k, long bits, tamis_error *err)
{
    (void)err;
    tmi_discrete_laplace_part(z, scale, part, k, bits);
    return TAMIS_OK;
}

static tamis_status certified(tamis_bound *bound, const tamis_number *scale, tmi_law_part part, int64_t k, tamis_error *err)
{
    tamis_status status = tmi_begin_probability(bound, err);
    if (status == TAMIS_OK) status = tmi_check_scale(scale, err);
    return status == TAMIS_OK ? tmi_certify_part(bound, part_of, scale, part, k, err) : status;
}

tamis_status tamis_discrete_laplace_mass(tamis_bound *p, const tamis_number *scale, int64_t k, tamis_error *err)
{
    return certified(p, scale, TMI_MASS, k, err);
}

tamis_status tamis_discrete_laplace_at_least(tamis_bound *p, const tamis_number *scale, int64_t k, tamis_error *err)
{
    return certified(p, scale, TMI_AT_LEAST, k, err);
}
