#include "estimate/root.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

/* Where the line through the best point and the one before it crosses zero, or the parabola (of the place as a function of the
 * value) through all three; as a step from the best point. `half` unless this gains more than halving, twice over, would. */
static double next_step(tmi_root_point old, tmi_root_point best, tmi_root_point other, double last, double close, double half)
{
    const double gap = other.place - best.place, to_old = best.value / old.value;
    double over, under; /* the step is over / under, and over is not negative */
    if (old.place == other.place) {
        over = gap * to_old;
        under = 1 - to_old;
    } else {
        const double across = old.value / other.value, to_other = best.value / other.value;
        over = to_old * (gap * across * (across - to_other) - (best.place - old.place) * (to_other - 1));
        under = (across - 1) * (to_other - 1) * (to_old - 1);
    }
    if (over > 0) under = -under;
    else over = -over;
    const bool inside = over < 0.75 * gap * under - fabs(close * under) / 2, shorter = over < fabs(last * under / 2);
    return inside && shorter ? over / under : half;
}

static double within(double value) { return isfinite(value) ? value : value < 0 ? -DBL_MAX : DBL_MAX; }

tamis_status tmi_root(double *root, tmi_root_point low, tmi_root_point high, double tolerance, tmi_root_function *function,
                      void *context, tamis_error *err)
{
    tmi_root_point old = low, best = high, other = low;
    *root = low.place;
    if (low.value == 0) return TAMIS_OK;
    for (int i = 0; i < TMI_ROOT_STEPS && best.value != 0; i++) {
        const double last = best.place - old.place;
        if (fabs(other.value) < fabs(best.value)) {
            old = best;
            best = other;
            other = old;
        }
        const double close = 2 * DBL_EPSILON * fabs(best.place) + tolerance / 2;
        double step = (other.place - best.place) / 2;
        if (fabs(step) <= close) break;
        if (fabs(last) >= close && fabs(old.value) > fabs(best.value)) step = next_step(old, best, other, last, close, step);
        if (fabs(step) < close) step = step > 0 ? close : -close;
        old = best;
        best.place += step;
        tamis_status status = function(&best.value, best.place, context, err);
        if (status != TAMIS_OK) return status;
        best.value = within(best.value);
        if ((best.value > 0 && other.value > 0) || (best.value < 0 && other.value < 0)) other = old;
    }
    *root = best.place;
    return TAMIS_OK;
}
