#include "num/law/law.h"

#include "base/check.h"
#include "base/memory.h"
#include "num/ball_arb.h"

#if __has_include(<flint/arb_poly.h>)
#include <flint/arb_poly.h>
#else
#include <arb_poly.h>
#endif

/* The point after the last stored one. */
static int64_t law_end(const tmi_law *law) { return law->first + (int64_t)law->count; }

/* z = [0, upper end of x] for x >= 0. */
static void from_zero_to(tmi_ball *z, const tmi_ball *x, long bits)
{
    tmi_ball zero;
    tmi_ball_init(&zero);
    tmi_ball_union(z, x, &zero, bits);
    tmi_ball_clear(&zero);
}

void tmi_law_init(tmi_law *law)
{
    tmi_ball one;
    *law = (tmi_law){0};
    tmi_ball_inits(&one, &law->below, &law->above, NULL);
    tmi_ball_set_int(&one, 1);
    from_zero_to(&law->below, &one, 64);
    from_zero_to(&law->above, &one, 64);
    tmi_ball_clear(&one);
}

void tmi_law_clear(tmi_law *law)
{
    if (!law) return;
    for (size_t i = 0; i < law->count; i++) tmi_ball_clear(&law->mass[i]);
    tmi_free(law->mass);
    tmi_ball_clears(&law->below, &law->above, NULL);
    tmi_law_init(law);
}

bool tmi_law_is_sound(const tmi_law *law)
{
    if (law->count > (size_t)TMI_LAW_POINTS || !law->mass != (law->count == 0)) return false;
    if (law->first < -TMI_LAW_END || law->first > TMI_LAW_END - (int64_t)law->count) return false;
    for (size_t i = 0; i < law->count; i++)
        if (tmi_ball_is_negative(&law->mass[i])) return false;
    return !tmi_ball_is_negative(&law->below) && !tmi_ball_is_negative(&law->above);
}

tamis_status tmi_law_new(tmi_law *law, int64_t first, size_t count, tamis_error *err)
{
    tmi_law_init(law);
    if (count > TMI_LAW_POINTS)
        return tmi_fail(err, TAMIS_UNABLE, "a distribution with more than %lld points", (long long)TMI_LAW_POINTS);
    if (first < -TMI_LAW_END || first > TMI_LAW_END - (int64_t)count)
        return tmi_fail(err, TAMIS_UNABLE, "a distribution that reaches beyond 2^62");
    if (!(law->mass = tmi_alloc(count, sizeof *law->mass))) return tmi_fail_memory(err);
    law->first = first;
    law->count = count;
    for (size_t i = 0; i < count; i++) tmi_ball_init(&law->mass[i]);
    tmi_ball_set_int(&law->below, 0);
    tmi_ball_set_int(&law->above, 0);
    return TAMIS_OK;
}

tamis_status tmi_law_point(tmi_law *law, int64_t k, tamis_error *err)
{
    tamis_status status = tmi_law_new(law, k, 1, err);
    if (status == TAMIS_OK) tmi_ball_set_int(&law->mass[0], 1);
    return status;
}

tamis_status tmi_law_shift(tmi_law *law, int64_t by, tamis_error *err)
{
    int64_t first;
    if (!tmi_add_int64(&first, law->first, by) || first < -TMI_LAW_END || first > TMI_LAW_END - (int64_t)law->count)
        return tmi_fail(err, TAMIS_UNABLE, "a distribution that reaches beyond 2^62");
    law->first = first;
    TMI_CHECK(tmi_law_is_sound(law));
    return TAMIS_OK;
}

/* ---- asking ---- */

void tmi_law_mass(tmi_ball *z, const tmi_law *law, int64_t k, long bits)
{
    if (k < law->first) from_zero_to(z, &law->below, bits);
    else if (k >= law_end(law)) from_zero_to(z, &law->above, bits);
    else tmi_ball_set(z, &law->mass[k - law->first]);
}

/* ---- convolution ---- */

/* P(X + Y = k) is the convolution of what is stored, plus at most the probability that X or Y lies outside; and X + Y
 * is below the window only if X or Y is below its own.                                                               */
tamis_status tmi_law_convolve(tmi_law *law, const tmi_law *x, const tmi_law *y, long bits, tamis_error *err)
{
    tmi_law_init(law);
    if (x->count == 0 || y->count == 0) return tmi_fail(err, TAMIS_INVALID, "a convolution with a distribution without masses");
    tamis_status status = tmi_law_new(law, 0, x->count + y->count - 1, err); /* counts are at most 2^20 */
    if (status == TAMIS_OK && (status = tmi_law_shift(law, x->first + y->first, err)) != TAMIS_OK) tmi_law_clear(law);
    if (status != TAMIS_OK) return status;
    if (x->count < y->count) {
        const tmi_law *shorter = x;
        x = y;
        y = shorter;
    }
    _arb_poly_mul(tmi_arb(law->mass), tmi_arb_const(x->mass), (slong)x->count, tmi_arb_const(y->mass), (slong)y->count, bits);
    tmi_ball outside;
    tmi_ball_init(&outside);
    tmi_ball_add(&law->below, &x->below, &y->below, bits);
    from_zero_to(&law->below, &law->below, bits);
    tmi_ball_add(&law->above, &x->above, &y->above, bits);
    from_zero_to(&law->above, &law->above, bits);
    tmi_ball_add(&outside, &law->below, &law->above, bits);
    from_zero_to(&outside, &outside, bits);
    if (!tmi_ball_is_zero(&outside))
        for (size_t i = 0; i < law->count; i++) tmi_ball_add(&law->mass[i], &law->mass[i], &outside, bits);
    tmi_ball_clear(&outside);
    TMI_CHECK(tmi_law_is_sound(law));
    return TAMIS_OK;
}
