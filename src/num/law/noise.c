#include "num/law/noise.h"

#include <math.h>
#include <string.h>

#include "num/number.h"
#include "num/sum.h"

static const char *const names[] = {
    [TMI_NOT_GAUSSIAN] = "discrete_laplace",
    [TMI_DISCRETE_GAUSSIAN] = "discrete_gaussian",
    [TMI_ROUNDED_NORMAL] = "rounded_normal",
};

static const char *const words[] = {
    [TMI_NOT_GAUSSIAN] = "discrete Laplace",
    [TMI_DISCRETE_GAUSSIAN] = "discrete Gaussian",
    [TMI_ROUNDED_NORMAL] = "rounded normal",
};

const char *tmi_noise_words(tmi_gaussian gaussian) { return words[gaussian]; }

const char *tmi_noise_name(tmi_gaussian gaussian) { return names[gaussian]; }

bool tmi_noise_of_name(tmi_gaussian *gaussian, const char *name)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i]) != 0) continue;
        *gaussian = (tmi_gaussian)i;
        return true;
    }
    return false;
}

double tmi_noise_sd(const tamis_number *scale, tmi_gaussian gaussian)
{
    return sqrt(tmi_noise_part_variance((tmi_noise_part){1, tmi_number_up(scale), gaussian, 1}));
}

/* Laplace: (1 - p) / (1 + p) = tanh(1 / (2 scale)). Gaussian: one over the sum of exp(-k^2 / (2 scale^2)), which beyond
 * scale 2 is scale sqrt(2 pi) to 1e-17. */
double tmi_noise_zero(const tamis_number *scale, tmi_gaussian gaussian)
{
    double s = tmi_number_nearest(scale), sum = 1;
    if (gaussian == TMI_ROUNDED_NORMAL) return erf(0.5 * M_SQRT1_2 / s);
    if (!gaussian) return tanh(0.5 / s);
    if (s > 2) return 1 / (s * sqrt(2 * M_PI));
    for (int k = 1; k <= 20; k++) sum += 2 * exp(-k * k / (2 * s * s));
    return 1 / sum;
}

/* P(X >= k) of a rounded normal number, k >= 1. */
static double rounded_at_least(double scale, double k) { return erfc((k - 0.5) / scale * M_SQRT1_2) / 2; }

/* v + 1/12 + 4 sum_m (-1)^m exp(-2 pi^2 m^2 v) (v + 1 / (2 pi m)^2), by Poisson's formula from the characteristic function
 * exp(-v t^2 / 2) sin(t/2) / (t/2); the third term of the sum is below 1e-38 from v = 1/2 on. For small v the sum itself. */
static double rounded_variance(double scale)
{
    const double v = scale * scale;
    double sum = 0;
    if (v >= 0.5) {
        for (int m = 1; m <= 2; m++) {
            const double s = 2 * M_PI * m;
            sum += (m % 2 ? -4 : 4) * exp(-s * s * v / 2) * (v + 1 / (s * s));
        }
        return v + 1. / 12 + sum;
    }
    for (int k = 1; k <= 9; k++) sum += 2 * (2 * k - 1) * rounded_at_least(scale, k);
    return sum;
}

/* Laplace: 2 p / (1 - p)^2 with p = exp(-1/scale). Gaussian: twice v^2 times the derivative by v of the logarithm of
 * sum_k exp(-k^2 / (2 v)), which is sqrt(2 pi v) (1 + 2 exp(-2 pi^2 v) + ...); for small v the sum itself. */
double tmi_noise_part_variance(tmi_noise_part part)
{
    double v = part.scale * part.scale, square = part.count * part.factor * part.factor;
    if (!part.gaussian) return square / (2 * pow(sinh(0.5 / part.scale), 2));
    if (part.gaussian == TMI_ROUNDED_NORMAL) return square * rounded_variance(part.scale);
    double top = 0, bottom = 1;
    for (int k = 1; k <= 9; k++) {
        double e = 2 * exp(v >= 0.5 ? -2 * M_PI * M_PI * v * k * k : -(double)(k * k) / (2 * v));
        top += k * k * e;
        bottom += e;
    }
    return square * (v >= 0.5 ? v - 4 * M_PI * M_PI * v * v * top / bottom : top / bottom);
}

/* The noises of one table follow one another and have the same scale, whose variance is computed once. */
double tmi_noise_variance(const tmi_noise_part *parts, size_t count)
{
    tmi_sum sum = {0};
    double raw = 0;
    for (size_t i = 0; i < count; i++) {
        const tmi_noise_part *part = &parts[i];
        if (i == 0 || part->scale != parts[i - 1].scale || part->gaussian != parts[i - 1].gaussian)
            raw = tmi_noise_part_variance((tmi_noise_part){1, part->scale, part->gaussian, 1});
        tmi_sum_add(&sum, part->count * part->factor * part->factor * raw);
    }
    return tmi_sum_value(sum);
}

/* Beyond a scale of 10 the Gaussian sum is an integral from k - 1/2 on and one correction (Euler and
 * Maclaurin's midpoint form), to 1e-6 of itself near the middle and 1e-4 five scales out. */
double tmi_noise_at_least(tmi_noise_part part, double k)
{
    if (!part.gaussian) return exp(-k / part.scale) / (1 + exp(-1 / part.scale));
    if (part.gaussian == TMI_ROUNDED_NORMAL) return rounded_at_least(part.scale, k);
    double s = part.scale;
    if (s >= 10) {
        double a = (k - 0.5) / s;
        return erfc(a * M_SQRT1_2) / 2 - a * exp(-a * a / 2) / sqrt(2 * M_PI) / (24 * s * s);
    }
    double inside = 1, beyond = 0;
    for (int j = 1; j < 1 + 40 * fmax(s, 1); j++) {
        double e = exp(-(double)j * j / (2 * s * s));
        inside += 2 * e;
        beyond += j >= k ? e : 0;
    }
    return beyond / inside;
}

/* ---- the noise in an estimated variance ---- */
double tmi_normal_margin(double confidence)
{
    double low = 0, high = 10; /* erfc(10 / sqrt 2) is below 1e-22 */
    for (int i = 0; i < 60; i++) {
        double z = (low + high) / 2;
        if (erfc(z * M_SQRT1_2) > 1 - confidence) low = z;
        else high = z;
    }
    return low;
}

double tmi_variance_margin(double confidence) { return tmi_normal_margin(confidence) / 3; }
