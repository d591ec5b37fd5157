#include "inference/variance.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "survey/estimator.h"

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

/* ---- simple random sampling ---- */

double tmi_variance_srs(double population, double sample, double squares)
{
    return population / sample * (population - sample) * (squares / (sample - 1));
}

double tmi_variance_range(double population, double sample, double from, double to)
{
    if (population <= 1 || sample >= population) return 0;
    double range = to - from;
    return population / sample * (population - sample) * (population / (population - 1)) * (range / 2) * (range / 2);
}

/* ---- moments ---- */

tmi_quadratic tmi_variance_moments(tmi_quadratic moments, const tmi_stratum_sums *strata, size_t count)
{
    tmi_sum xx = {moments.xx, 0}, xy = {moments.xy, 0}, yy = {moments.yy, 0};
    for (size_t i = 0; i < count; i++) {
        const tmi_stratum_sums *s = &strata[i];
        double each = s->a / s->sample;
        tmi_sum_add(&xx, -each * tmi_unbiased_square(s->x, s->x_noise_variance));
        tmi_sum_add(&xy, -each * (s->x * s->y - s->noise_covariance));
        tmi_sum_add(&yy, -each * tmi_unbiased_square(s->y, s->y_noise_variance));
    }
    return (tmi_quadratic){tmi_sum_value(xx), tmi_sum_value(xy), tmi_sum_value(yy)};
}

/* ---- variance units ---- */

typedef struct stratum_mean {
    tmi_sum x, y;
    size_t units;
} stratum_mean;

/* Two passes: means, then squares about them. */
static tamis_status about_means(tmi_quadratic *form, int64_t *df, stratum_mean *means, const double *x, const double *y,
                                const size_t *stratum, size_t units, tamis_error *err)
{
    tmi_sum xx = {0}, xy = {0}, yy = {0};
    int64_t strata = 0;
    for (size_t i = 0; i < units; i++) {
        if (stratum[i] >= units) return tmi_fail(err, TAMIS_INVALID, "stratum: number %zu is not below the number of units", i);
        if (!isfinite(x[i]) || (y && !isfinite(y[i]))) return tmi_fail(err, TAMIS_INVALID, "totals: number %zu is not finite", i);
        stratum_mean *m = &means[stratum[i]];
        tmi_sum_add(&m->x, x[i]);
        if (y) tmi_sum_add(&m->y, y[i]);
        strata += m->units++ == 0;
    }
    for (size_t i = 0; i < units; i++) {
        const stratum_mean *m = &means[stratum[i]];
        double size = (double)m->units;
        if (m->units < 2) return tmi_fail(err, TAMIS_INVALID, "stratum: a stratum with a single unit has no variance");
        double from_x = x[i] - tmi_sum_value(m->x) / size, from_y = y ? y[i] - tmi_sum_value(m->y) / size : 0;
        double each = size / (size - 1);
        tmi_sum_add(&xx, each * from_x * from_x);
        tmi_sum_add(&xy, each * from_x * from_y);
        tmi_sum_add(&yy, each * from_y * from_y);
    }
    *form = (tmi_quadratic){tmi_sum_value(xx), tmi_sum_value(xy), tmi_sum_value(yy)};
    *df = tmi_degrees((int64_t)units, strata);
    return TAMIS_OK;
}

tamis_status tmi_variance_units(tmi_quadratic *form, int64_t *df, const double *x, const double *y, const size_t *stratum,
                                size_t units, tamis_error *err)
{
    *form = (tmi_quadratic){INFINITY, 0, INFINITY};
    *df = 0;
    if (!x) return tmi_fail(err, TAMIS_INVALID, "x: NULL");
    if (!stratum) return tmi_fail(err, TAMIS_INVALID, "stratum: NULL");
    if (units < 1) return tmi_fail(err, TAMIS_INVALID, "units: must be at least 1");
    stratum_mean *means = tmi_alloc(units, sizeof *means);
    if (!means) return tmi_fail_memory(err);
    tamis_status status = about_means(form, df, means, x, y, stratum, units, err);
    tmi_free(means);
    return status;
}
