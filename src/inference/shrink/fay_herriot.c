#include "inference/shrink/fay_herriot.h"

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

#define DECADES 8 /* of A below and above what y and V are like */
#define PER_DECADE 8

/* The likelihood may have two maxima: the best of a grid in log A, then golden sections between its neighbours. */
static double maximise(const double *y, const double *v, size_t count, double mean, double scale)
{
    const double part = (sqrt(5) - 1) / 2;
    int best = 0;
    double highest = -INFINITY;
    for (int k = -DECADES * PER_DECADE; k <= DECADES * PER_DECADE; k++) {
        const double value = log_likelihood(y, v, count, mean, scale * pow(10, (double)k / PER_DECADE));
        if (!(value > highest)) continue;
        highest = value;
        best = k;
    }
    double low = (double)(best - 1) / PER_DECADE, high = (double)(best + 1) / PER_DECADE;
    for (int round = 0; round < 60; round++) {
        const double left = high - part * (high - low), right = low + part * (high - low);
        if (log_likelihood(y, v, count, mean, scale * pow(10, left)) > log_likelihood(y, v, count, mean, scale * pow(10, right)))
            high = right;
        else low = left;
    }
    return scale * pow(10, (low + high) / 2);
}

/* A is looked for around the least of the errors, and around the differences. */
static double scale_of(const double *y, const double *v, size_t count, double mean)
{
    double squares = 0, least = INFINITY;
    for (size_t i = 0; i < count; i++) {
        squares += (y[i] - mean) * (y[i] - mean) / (double)count;
        if (v[i] > 0) least = fmin(least, v[i]);
    }
    return isinf(least) ? squares : squares > 0 ? sqrt(least) * sqrt(fmax(least, fmin(squares, 1e8 * least))) : least;
}

tmi_fay_herriot tmi_fay_herriot_fit(const double *y, const double *v, size_t count, double mean, double mean_variance)
{
    double weights = 0;
    tmi_fay_herriot fit = {.mean = mean, .mean_variance = mean_variance};
    fit.between = maximise(y, v, count, mean, scale_of(y, v, count, mean));
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
