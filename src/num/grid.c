#include "num/grid.h"

#include <float.h>
#include <math.h>

#include "num/number_gmp.h"

_Static_assert(FLT_EVAL_METHOD == 0, "double operations are rounded to double one by one");

/* ceil(x/step) and floor(x/step); false beyond the grid. */
static bool in_steps(int64_t *down, int64_t *up, const tamis_number *x, const tamis_number *step)
{
    mpq_t ratio;
    mpz_t whole;
    mpq_init(ratio);
    mpz_init(whole);
    mpq_div(ratio, x->value, step->value);
    mpz_fdiv_q(whole, mpq_numref(ratio), mpq_denref(ratio));
    bool fits = mpz_cmpabs_ui(whole, (unsigned long)TMI_GRID_END - 1) < 0;
    *down = fits ? mpz_get_si(whole) : 0;
    *up = fits ? *down + (mpz_cmp_ui(mpq_denref(ratio), 1) != 0) : 0;
    mpq_clear(ratio);
    mpz_clear(whole);
    return fits;
}

tamis_status tmi_grid_set(tmi_grid *grid, const tamis_number *from, const tamis_number *to, const tamis_number *step,
                          tamis_error *err)
{
    tmi_grid g;
    int64_t unused;
    if (!grid) return tmi_fail(err, TAMIS_INVALID, "grid: NULL");
    *grid = (tmi_grid){0};
    if (!from) return tmi_fail(err, TAMIS_INVALID, "from: NULL");
    if (!to) return tmi_fail(err, TAMIS_INVALID, "to: NULL");
    if (!step) return tmi_fail(err, TAMIS_INVALID, "step: NULL");
    if (tmi_number_compare(from, to) >= 0) return tmi_fail(err, TAMIS_INVALID, "from must be less than to");
    if (tmi_number_sign(step) <= 0) return tmi_fail(err, TAMIS_INVALID, "step must be positive");
    g.from = tmi_number_up(from);
    g.to = tmi_number_down(to);
    g.step = tmi_number_nearest(step);
    if (isinf(tmi_number_down(from)) || isinf(tmi_number_up(from)) || isinf(tmi_number_down(to)) || isinf(tmi_number_up(to)))
        return tmi_fail(err, TAMIS_INVALID, "from and to must be between -1.7e308 and 1.7e308");
    if (g.from > g.to) return tmi_fail(err, TAMIS_INVALID, "from and to have no double between them");
    if (g.step < DBL_MIN || isinf(tmi_number_up(step)))
        return tmi_fail(err, TAMIS_INVALID, "step must be between 2.3e-308 and 1.7e308");
    if (!in_steps(&unused, &g.low, from, step) || !in_steps(&g.high, &unused, to, step))
        return tmi_fail(err, TAMIS_INVALID, "step is too small: from and to must be less than 2^52 steps from zero");
    if (g.low > g.high) return tmi_fail(err, TAMIS_INVALID, "step is too large: no multiple of it is in [from, to]");
    *grid = g;
    return TAMIS_OK;
}

/* The quotient is below 2^52 (1 + 2^-51) in size because step and its double differ by 2^-53 at most, relatively; so
 * the floor is exact as an integer and the conversion is defined. floor() itself would be a call. */
bool tmi_grid_point(int64_t *k, const tmi_grid *grid, double v)
{
    *k = 0;
    if (!isfinite(v)) return false;
    double clamped = v > grid->from ? v : grid->from;
    if (clamped > grid->to) clamped = grid->to;
    const double quotient = clamped / grid->step + 0.5;
    int64_t point = (int64_t)quotient; /* truncated: one more than the floor where that went up */
    point -= (double)point > quotient;
    *k = point < grid->low ? grid->low : point > grid->high ? grid->high : point;
    return true;
}
