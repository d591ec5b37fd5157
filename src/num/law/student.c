/* P(|T| > t) = I_x(df/2, 1/2), x = df / (df + t^2), the incomplete beta function, is enclosed and compared with 1 -
 * confidence while t is bisected down to neighbouring doubles. Beyond LARGE degrees of freedom the normal quantile z,
 * found in the same way from erfc(z / sqrt 2), is corrected by four terms in 1/df (Abramowitz and Stegun 26.7.5); the
 * first term left out is below 1e-16 there for every confidence allowed.                                             */
#include "num/law/student.h"

#include <math.h>

#if __has_include(<flint/arb_hypgeom.h>)
#include <flint/arb_hypgeom.h>
#else
#include <arb_hypgeom.h>
#endif

#include "num/ball_arb.h"
#include "num/number.h"

#define LARGE 100000
#define BITS 128

/* P(|T| > t); df 0 means the normal law. */
static void tail(arb_t p, double t, int64_t df)
{
    arb_t x, a, half;
    arb_init(x);
    arb_init(a);
    arb_init(half);
    arb_set_d(x, t);
    if (df == 0) {
        arb_set_ui(a, 2);
        arb_rsqrt(a, a, BITS);
        arb_mul(x, x, a, BITS);
        arb_hypgeom_erfc(p, x, BITS);
    } else {
        arb_mul(x, x, x, BITS);
        arb_add_si(x, x, df, BITS);
        arb_set_si(a, df);
        arb_div(x, a, x, BITS);
        arb_mul_2exp_si(a, a, -1);
        arb_set_ui(half, 1);
        arb_mul_2exp_si(half, half, -1);
        arb_hypgeom_beta_lower(p, a, half, x, 1, BITS);
    }
    arb_clear(x);
    arb_clear(a);
    arb_clear(half);
}

/* 1 if the tail beyond t is certainly larger than alpha, -1 if smaller, 0 if they cannot be distinguished. */
static int compare(double t, int64_t df, const arb_t alpha)
{
    arb_t p;
    arb_init(p);
    tail(p, t, df);
    int order = arb_gt(p, alpha) ? 1 : arb_lt(p, alpha) ? -1 : 0;
    arb_clear(p);
    return order;
}

static double bisect(int64_t df, const arb_t alpha)
{
    double low = 0, high = 1;
    while (high < 1e12 && compare(high, df, alpha) > 0) low = high, high *= 2; /* df 1 reaches 6.4e8 */
    for (;;) {
        double middle = low + (high - low) / 2;
        if (middle <= low || middle >= high) return middle;
        int order = compare(middle, df, alpha);
        if (order == 0) return middle;
        if (order > 0) low = middle;
        else high = middle;
    }
}

tamis_status tmi_student_quantile(double *t, const tamis_number *confidence, int64_t df, tamis_error *err)
{
    *t = INFINITY;
    if (df < 1) return tmi_fail(err, TAMIS_INVALID, "df: must be at least 1");
    if (tmi_number_sign(confidence) <= 0 || tmi_number_down(confidence) > 1 - 0.99e-9) {
        return tmi_fail(err, TAMIS_INVALID, "confidence: must be above 0 and at most 0.999999999");
    }
    tmi_ball c;
    arb_t alpha;
    tmi_ball_init(&c);
    arb_init(alpha);
    tmi_ball_set_number(&c, confidence, BITS);
    arb_sub_ui(alpha, tmi_arb(&c), 1, BITS);
    arb_neg(alpha, alpha);
    if (df <= LARGE) {
        *t = bisect(df, alpha);
    } else {
        double z = bisect(0, alpha), z2 = z * z, v = (double)df;
        *t = z + z * ((z2 + 1) / (4 * v) + ((5 * z2 + 16) * z2 + 3) / (96 * v * v) +
                      (((3 * z2 + 19) * z2 + 17) * z2 - 15) / (384 * v * v * v));
    }
    arb_clear(alpha);
    tmi_ball_clear(&c);
    return TAMIS_OK;
}
