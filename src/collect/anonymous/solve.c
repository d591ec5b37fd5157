/* Solving for eps: a secant on the logarithm of delta (Illinois), between ends whose sides are known. */
#include <math.h>

#include "collect/anonymous/reports.h"

#define ROUNDS 100

tamis_status tmi_solve_epsilon(tamis_bound *eps, tmi_delta_at *delta_at, const void *self, const tamis_number *goal, double most,
                               double width, tamis_error *err)
{
    double down = tmi_number_down(goal), target = log(down), low = 0, high = most, f_low = NAN, f_high = NAN, delta;
    tamis_number *x = NULL;
    tamis_status status = TAMIS_OK;
    int side = 0;
    for (int round = 0; round < ROUNDS && high > 0 && high - low > width * high; round++) {
        double at = low + (high - low) / (isnan(f_high) ? 6 : 2);
        if (!isnan(f_low) && !isnan(f_high)) at = low + (high - low) * f_low / (f_low - f_high);
        double margin = fmin(0.01 * (high - low), 0.4 * width * high); /* step over the end that is nearly reached */
        at = round == 0 ? 0 : fmin(fmax(at, low + margin), high - margin);
        tamis_number_free(x);
        x = NULL;
        TMI_TRY(tmi_number_double(&x, at, err));
        TMI_TRY(delta_at(&delta, self, x, err));
        double f = delta > 1e-300 ? log(delta) - target : NAN;
        if (delta <= down) {
            high = at;
            f_high = isnan(f) ? NAN : fmin(f, -1e-9);
            if (side == -1 && !isnan(f_low)) f_low /= 2; /* the end that stays loses weight */
            side = -1;
        } else {
            low = at;
            f_low = f;
            if (side == 1 && !isnan(f_high)) f_high /= 2;
            side = 1;
        }
    }
    *eps = (tamis_bound){low, high};
done:
    tamis_number_free(x);
    return status;
}
