#include "num/ball.h"

#include <flint/fmpq.h>
#include <float.h>
#include <math.h>
#include <stdarg.h>

#include "base/memory.h"
#include "num/ball_arb.h"
#include "num/number_gmp.h"

_Static_assert(sizeof(arb_struct) == sizeof(tmi_ball), "a ball is an arb_struct");

void tamis_thread_done(void) { flint_cleanup(); }

void tmi_ball_init(tmi_ball *x) { arb_init(tmi_arb(x)); }
void tmi_ball_clear(tmi_ball *x) { arb_clear(tmi_arb(x)); }

void tmi_ball_inits(tmi_ball *x, ...)
{
    va_list more;
    va_start(more, x);
    for (; x; x = va_arg(more, tmi_ball *)) tmi_ball_init(x);
    va_end(more);
}

void tmi_ball_clears(tmi_ball *x, ...)
{
    va_list more;
    va_start(more, x);
    for (; x; x = va_arg(more, tmi_ball *)) tmi_ball_clear(x);
    va_end(more);
}

tmi_ball *tmi_balls_new(size_t count)
{
    tmi_ball *balls = tmi_alloc(count, sizeof *balls);
    for (size_t i = 0; balls && i < count; i++) tmi_ball_init(&balls[i]);
    return balls;
}

void tmi_balls_free(tmi_ball *balls, size_t count)
{
    for (size_t i = 0; balls && i < count; i++) tmi_ball_clear(&balls[i]);
    tmi_free(balls);
}

void tmi_ball_set(tmi_ball *z, const tmi_ball *x) { arb_set(tmi_arb(z), tmi_arb_const(x)); }
void tmi_ball_set_int(tmi_ball *z, int64_t x) { arb_set_si(tmi_arb(z), x); }
void tmi_ball_set_unknown(tmi_ball *z) { arb_zero_pm_inf(tmi_arb(z)); }
void tmi_ball_pi(tmi_ball *z, long bits) { arb_const_pi(tmi_arb(z), bits); }

void tmi_ball_set_double(tmi_ball *z, double x) { arb_set_d(tmi_arb(z), x); }

void tmi_ball_set_number(tmi_ball *z, const tamis_number *x, long bits)
{
    fmpq_t q;
    fmpq_init(q);
    fmpq_set_mpq(q, x->value);
    arb_set_fmpq(tmi_arb(z), q, bits);
    fmpq_clear(q);
}

#define BINARY(name) \
    void tmi_ball_##name(tmi_ball *z, const tmi_ball *x, const tmi_ball *y, long bits) \
    { \
        arb_##name(tmi_arb(z), tmi_arb_const(x), tmi_arb_const(y), bits); \
    }
#define WITH_INT(name, arb_name) \
    void tmi_ball_##name(tmi_ball *z, const tmi_ball *x, int64_t y, long bits) \
    { \
        arb_##arb_name(tmi_arb(z), tmi_arb_const(x), y, bits); \
    }
#define UNARY(name) \
    void tmi_ball_##name(tmi_ball *z, const tmi_ball *x, long bits) { arb_##name(tmi_arb(z), tmi_arb_const(x), bits); }

void tmi_ball_dot(tmi_ball *z, const tmi_ball *x, long xstep, const tmi_ball *y, long ystep, size_t count, long bits)
{
    arb_dot(tmi_arb(z), NULL, 0, tmi_arb_const(x), xstep, tmi_arb_const(y), ystep, (slong)count, bits);
}

void tmi_ball_middle(tmi_ball *z, const tmi_ball *x) { arb_get_mid_arb(tmi_arb(z), tmi_arb_const(x)); }
void tmi_ball_lower(tmi_ball *z, const tmi_ball *x, long bits)
{
    arf_t end;
    arf_init(end);
    arb_get_lbound_arf(end, tmi_arb_const(x), bits);
    arb_set_arf(tmi_arb(z), end);
    arf_clear(end);
}

void tmi_ball_widen(tmi_ball *z, const tmi_ball *radius) { arb_add_error(tmi_arb(z), tmi_arb_const(radius)); }
void tmi_ball_abs(tmi_ball *z, const tmi_ball *x) { arb_abs(tmi_arb(z), tmi_arb_const(x)); }
void tmi_ball_shift(tmi_ball *z, const tmi_ball *x, long exponent) { arb_mul_2exp_si(tmi_arb(z), tmi_arb_const(x), exponent); }

BINARY(add)
BINARY(sub)
BINARY(mul)
BINARY(div)
BINARY(max)
BINARY(min)
BINARY(union)
WITH_INT(add_int, add_si)
WITH_INT(mul_int, mul_si)
WITH_INT(div_int, div_si)
UNARY(sqrt)
UNARY(exp)
UNARY(expm1)
UNARY(log)
UNARY(log1p)

void tmi_ball_neg(tmi_ball *z, const tmi_ball *x) { arb_neg(tmi_arb(z), tmi_arb_const(x)); }

bool tmi_ball_is_zero(const tmi_ball *x) { return arb_is_zero(tmi_arb_const(x)) != 0; }
bool tmi_ball_is_positive(const tmi_ball *x) { return arb_is_positive(tmi_arb_const(x)) != 0; }
bool tmi_ball_is_negative(const tmi_ball *x) { return arb_is_negative(tmi_arb_const(x)) != 0; }
bool tmi_ball_is_finite(const tmi_ball *x) { return arb_is_finite(tmi_arb_const(x)) != 0; }

bool tmi_ball_is_at_most(const tmi_ball *x, const tmi_ball *y) { return arb_le(tmi_arb_const(x), tmi_arb_const(y)) != 0; }

bool tmi_ball_is_less(const tmi_ball *x, const tmi_ball *y) { return arb_lt(tmi_arb_const(x), tmi_arb_const(y)) != 0; }

/* The ends are rounded outwards twice, to 64 bits and to doubles. The first rounding is there for a ball such as
 * 1 +- exp(-1e300): its exact ends have more digits than any memory holds, and FLINT aborts. */
tamis_bound tmi_ball_bound(const tmi_ball *x)
{
    tamis_bound unknown = {-INFINITY, INFINITY}, bound;
    arf_t lower, upper;
    if (arf_is_nan(arb_midref(tmi_arb_const(x))) || mag_is_inf(arb_radref(tmi_arb_const(x)))) return unknown;
    arf_init(lower);
    arf_init(upper);
    arb_get_interval_arf(lower, upper, tmi_arb_const(x), 64);
    bound.lower = arf_get_d(lower, ARF_RND_FLOOR);
    bound.upper = arf_get_d(upper, ARF_RND_CEIL);
    arf_clear(lower);
    arf_clear(upper);
    return bound;
}

/* Beyond the doubles nothing narrower than {largest double, inf} can be said. */
static bool is_narrow(tamis_bound b, double width)
{
    if (isinf(b.lower) || isinf(b.upper)) return b.lower >= DBL_MAX || b.upper <= -DBL_MAX;
    double gap = b.upper - b.lower;
    return gap <= width * fmax(fabs(b.lower), fabs(b.upper)) || gap <= 1e-300;
}

tamis_status tmi_certify(tamis_bound *bound, double width, tmi_formula *formula, const void *context, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tmi_ball value;
    *bound = (tamis_bound){-INFINITY, INFINITY};
    tmi_ball_init(&value);
    for (long bits = TMI_BITS_FIRST; bits <= TMI_BITS_LAST; bits *= 2) {
        TMI_TRY(formula(&value, context, bits, err));
        tamis_bound b = tmi_ball_bound(&value);
        if (is_narrow(b, width)) {
            *bound = b;
            goto done;
        }
    }
    status = tmi_fail(err, TAMIS_UNABLE, "the enclosure is still too wide with %d bits", TMI_BITS_LAST);
done:
    tmi_ball_clear(&value);
    return status;
}

tamis_status tmi_certify_list(tamis_bound *bounds, size_t count, double width, tmi_formulas *formulas, const void *context,
                              tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tmi_ball *values = tmi_balls_new(count);
    for (size_t i = 0; i < count; i++) bounds[i] = (tamis_bound){-INFINITY, INFINITY};
    if (!values) return tmi_fail_memory(err);
    for (long bits = TMI_BITS_FIRST; bits <= TMI_BITS_LAST; bits *= 2) {
        size_t narrow = 0;
        TMI_TRY(formulas(values, context, bits, err));
        while (narrow < count && is_narrow(tmi_ball_bound(&values[narrow]), width)) narrow++;
        if (narrow < count) continue;
        for (size_t i = 0; i < count; i++) bounds[i] = tmi_ball_bound(&values[i]);
        goto done;
    }
    status = tmi_fail(err, TAMIS_UNABLE, "the enclosures are still too wide with %d bits", TMI_BITS_LAST);
done:
    tmi_balls_free(values, count);
    return status;
}
