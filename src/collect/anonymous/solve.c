/* Solving for eps: a secant on the logarithm of delta (Illinois), between ends whose sides are known. With a guess, the first
 * two ends are sought around it. */
#include <math.h>

#include "collect/anonymous/reports.h"

#define ROUNDS 100

#define FIRST_STEP 4 /* widths beside the guess, then four times as far each time */

/* Where to look next while one end is still unknown. */
static double around(double guess, double most, double low, double f_low, double high, double f_high, double width, int round)
{
    const double step = guess * width * FIRST_STEP * pow(4, round - 1);
    if (round == 0) return guess;
    if (isnan(f_low) && low == 0) return fmax(0, high - step); /* all values so far were at most the goal */
    return isnan(f_high) && high == most ? fmin(most, low + step) : NAN;
}

tamis_status tmi_solve_epsilon(tamis_bound *eps, tmi_delta_at *delta_at, const void *self, const tamis_number *goal, double most,
                               double guess, double width, tamis_error *err)
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
        if (guess > 0 && guess < most) {
            const double near = around(guess, most, low, f_low, high, f_high, width, round);
            if (!isnan(near) && near > low && near < high) at = near;
        }
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

/* The mechanism's delta at eps if its loss were that of a Gaussian with this ratio of shift to deviation. */
static double gaussian_delta(double mu, double eps)
{
    return erfc((eps / mu - mu / 2) / M_SQRT2) / 2 - exp(eps) * erfc((eps / mu + mu / 2) / M_SQRT2) / 2;
}

double tmi_guess_epsilon(double delta_at_zero, double goal)
{
    double low = 0, high = 20, mu;
    if (!(goal < delta_at_zero && delta_at_zero < 0.999)) return NAN;
    for (int i = 0; i < 60; i++) { /* delta at 0 is erf(mu / sqrt 8) */
        mu = (low + high) / 2;
        if (erf(mu / sqrt(8)) < delta_at_zero) low = mu;
        else high = mu;
    }
    mu = high;
    low = 0;
    high = 40 * mu + mu * mu;
    for (int i = 0; i < 60; i++) {
        const double eps = (low + high) / 2;
        if (gaussian_delta(mu, eps) > goal) low = eps;
        else high = eps;
    }
    return high;
}
