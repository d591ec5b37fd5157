#include "schedule/noise_law.h"

#include <math.h>
#include <tamis/rng.h>

#include "num/number.h"
#include "inference/interval.h"

tmi_int128 tmi_add_noise(tmi_int128 truth, int64_t noise, int64_t limit)
{
    const tmi_int128 bound = (tmi_int128)TAMIS_NOISE_MAX - limit;
    tmi_int128 inside = truth > bound ? bound : truth < -bound ? -bound : truth, sum = inside + noise;
    return sum > limit ? limit : sum < -limit ? -limit : sum;
}

double tmi_noise_sd(const tamis_number *scale, bool gaussian)
{
    return sqrt(tmi_noise_part_variance((tmi_noise_part){1, tmi_number_up(scale), gaussian}));
}

/* Laplace: (1 - p) / (1 + p) = tanh(1 / (2 scale)). Gaussian: one over the sum of exp(-k^2 / (2 scale^2)), which beyond
 * scale 2 is scale sqrt(2 pi) to 1e-17. */
double tmi_noise_zero(const tamis_number *scale, bool gaussian)
{
    double s = tmi_number_nearest(scale), sum = 1;
    if (!gaussian) return tanh(0.5 / s);
    if (s > 2) return 1 / (s * sqrt(2 * M_PI));
    for (int k = 1; k <= 20; k++) sum += 2 * exp(-k * k / (2 * s * s));
    return 1 / sum;
}
