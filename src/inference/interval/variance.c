#include "inference/interval/variance.h"

#include <math.h>

tmi_variance tmi_variance_limit(double estimate, double margin, double bound)
{
    double limit = fmax(estimate, 0) + margin;
    return limit < bound ? (tmi_variance){limit, false} : (tmi_variance){bound, true};
}

void tmi_form_noise_add(tmi_form_noise *noise, double aa, double ab, double bb, double variance)
{
    noise->c[0] += aa * aa * variance;
    noise->c[1] += 2 * aa * ab * variance;
    noise->c[2] += (ab * ab + 2 * aa * bb) * variance;
    noise->c[3] += 2 * ab * bb * variance;
    noise->c[4] += bb * bb * variance;
}

double tmi_form_noise_sd(const tmi_form_noise *noise, double a, double b)
{
    double sum = 0, power = 1;
    if (a == 0) return b * b * sqrt(noise->c[4]);
    for (int i = 0; i < 5; i++, power *= b / a) sum += noise->c[i] * power;
    return a * a * sqrt(fmax(sum, 0));
}
