#include "inference/fay_herriot.h"

#include <math.h>

/* ---- the adjusted likelihood ---- */

static double log_likelihood(const double *y, const double *v, size_t count, double mean, double between)
{
    double logs = 0, squares = 0, shrunk = 0;
    for (size_t i = 0; i < count; i++) {
        logs += log(between + v[i]);
        squares += (y[i] - mean) * (y[i] - mean) / (between + v[i]);
        shrunk += between / (between + v[i]);
    }
    return log(atan(shrunk)) / (double)count - logs / 2 - squares / 2;
}

/* ---- its maximum ---- */

#define PER_DECADE 8
#define BEYOND 100.0 /* times what A can be expected to be at most and at least */
#define LEAST 1e-8   /* of the differences, where there are no errors */

/* Where A is looked for. Errors far above the differences leave it at about twice their variance over the square of the number of
 * groups, differences far above the errors at their mean square. */
static void find_ends(double *low, double *high, const double *y, const double *v, size_t count, double mean)
{
    double squares = 0, least = INFINITY;
    for (size_t i = 0; i < count; i++) {
        squares += (y[i] - mean) * (y[i] - mean) / (double)count;
        if (v[i] > 0) least = fmin(least, v[i]);
    }
    *high = log10(BEYOND * fmax(squares, isinf(least) ? 0 : least));
    *low = isinf(least) ? log10(LEAST * squares) : log10(least / BEYOND) - 2 * log10((double)count);
}

/* The likelihood may have two maxima: the best of a grid in log A, then golden sections between its neighbours. */
static double maximise(const double *y, const double *v, size_t count, double mean)
{
    const double part = (sqrt(5) - 1) / 2;
    double from, to, best = 0, highest = -INFINITY;
    find_ends(&from, &to, y, v, count, mean);
    for (double at = from; at <= to; at += 1.0 / PER_DECADE) {
        const double value = log_likelihood(y, v, count, mean, pow(10, at));
        if (!(value > highest)) continue;
        highest = value;
        best = at;
    }
    double low = best - 1.0 / PER_DECADE, high = best + 1.0 / PER_DECADE;
    for (int round = 0; round < 50; round++) {
        const double left = high - part * (high - low), right = low + part * (high - low);
        if (log_likelihood(y, v, count, mean, pow(10, left)) > log_likelihood(y, v, count, mean, pow(10, right))) high = right;
        else low = left;
    }
    return pow(10, (low + high) / 2);
}

tmi_fay_herriot tmi_fay_herriot_fit(const double *y, const double *v, size_t count, double mean, double mean_variance)
{
    double weights = 0;
    tmi_fay_herriot fit = {.mean = mean, .mean_variance = mean_variance};
    fit.between = maximise(y, v, count, mean);
    for (size_t i = 0; i < count; i++) weights += 1 / ((fit.between + v[i]) * (fit.between + v[i]));
    fit.between_variance = 2 / weights;
    return fit;
}

/* ---- a group ---- */

double tmi_fay_herriot_weight(const tmi_fay_herriot *fit, double v) { return isinf(v) ? 0 : fit->between / (fit->between + v); }

double tmi_fay_herriot_mse(const tmi_fay_herriot *fit, double v)
{
    if (isinf(v)) return fit->between + fit->mean_variance;
    const double g = tmi_fay_herriot_weight(fit, v), all = fit->between + v;
    return g * v + (1 - g) * (1 - g) * fit->mean_variance + 2 * v * v / (all * all * all) * fit->between_variance;
}
