#include "variance/predictive.h"

#include <math.h>

/* The probability that an error is within h, which is above 0, and its derivative. */
static double covered(double *slope, double h, const double *posterior, const double *deviations, size_t count)
{
    double sum = 0;
    *slope = 0;
    for (size_t i = 0; i < count; i++) {
        const double x = deviations[i] > 0 ? h / (sqrt(2) * deviations[i]) : INFINITY;
        sum += posterior[i] * erf(x);
        if (deviations[i] > 0) *slope += posterior[i] * exp(-x * x) * (2 / sqrt(acos(-1))) * x / h;
    }
    return sum;
}

double tmi_predictive_z(double confidence)
{
    double low = 0, high = 40;
    for (int i = 0; i < 80; i++) {
        const double middle = (low + high) / 2;
        if (erf(middle / sqrt(2)) < confidence) low = middle;
        else high = middle;
    }
    return high;
}

/* Between those of the least and of the largest variance: by Newton's steps, and by halves where these leave what is known to
 * contain it. */
double tmi_predictive_half_width(const double *posterior, const double *deviations, size_t count, double z, double confidence)
{
    double low = z * deviations[0], high = z * deviations[count - 1], h = (low + high) / 2;
    for (int i = 0; i < 100 && high - low > 1e-14 * high; i++) {
        double slope;
        const double off = covered(&slope, h, posterior, deviations, count) - confidence;
        *(off < 0 ? &low : &high) = h;
        const double next = slope > 0 ? h - off / slope : low; /* far out the slope is 0 in doubles */
        if (fabs(next - h) <= 1e-13 * h) return next;
        h = next > low && next < high ? next : (low + high) / 2;
    }
    return h;
}
