#include "inference/stratum_form.h"

/* Sums about 0 from sums about a centre c: x^2 = (x-c)^2 + 2 c x - c^2, and so on. */
static tmi_quadratic moments_of(const tmi_stratum_form *s)
{
    const tmi_square *xx = &s->xx, *xy = &s->xy, *yy = &s->yy;
    double a = xx->centre_x, b = yy->centre_x;
    return (tmi_quadratic){xx->measured ? xx->value + 2 * a * s->x - a * a * s->n : s->x,
                           xy->measured
                               ? xy->value + xy->centre_x * s->y + xy->centre_y * s->x - xy->centre_x * xy->centre_y * s->n
                           : s->mean ? s->x
                                     : 0,
                           yy->measured ? yy->value + 2 * b * s->y - b * b * s->n : s->y};
}

/* What k's noise adds to the sums of the residuals. */
static double of_k(bool is_k, double beta) { return (is_k ? 1 : 0) - beta; }

void tmi_stratum_form_add(tmi_quadratic *moments, tmi_stratum_sums *stratum, const tmi_stratum_form *s)
{
    tmi_quadratic m = moments_of(s);
    double p = s->beta_x, q = s->beta_y, scale = s->a * s->g * s->g, g2 = s->g * s->g, kx = of_k(s->x_is_k, p),
           ky = of_k(s->y_is_k, q);
    moments->xx += scale * (m.xx - 2 * p * s->x + p * p * s->k);
    moments->xy += scale * (m.xy - p * s->y - q * s->x + p * q * s->k);
    moments->yy += scale * (m.yy - 2 * q * s->y + q * q * s->k);
    stratum->x += s->g * (s->x - p * s->k);
    stratum->y += s->g * (s->y - q * s->k);
    stratum->x_noise_variance += g2 * ((s->x_is_k ? 0 : s->vx) + kx * kx * s->vk + s->centre_x * s->centre_x * s->vn);
    stratum->y_noise_variance += g2 * ((s->y_is_k ? 0 : s->vy) + ky * ky * s->vk + s->centre_y * s->centre_y * s->vn);
    stratum->noise_covariance += g2 * (kx * ky * s->vk + s->centre_x * s->centre_y * s->vn);
}

typedef struct slope {
    double aa, ab, bb;
} slope;

static slope plus(slope s, slope t, double factor)
{
    return (slope){s.aa + factor * t.aa, s.ab + factor * t.ab, s.bb + factor * t.bb};
}

static void add(tmi_form_noise *noise, slope s, double variance) { tmi_form_noise_add(noise, s.aa, s.ab, s.bb, variance); }

void tmi_stratum_form_noise(tmi_form_noise *noise, const tmi_stratum_form *s, const tmi_stratum_sums *stratum)
{
    const tmi_square *xx = &s->xx, *xy = &s->xy, *yy = &s->yy;
    double a = s->a * s->g * s->g, c = s->each * s->g, p = s->beta_x, q = s->beta_y;
    double cx = xy->centre_x, cy = xy->centre_y, product = xy->measured ? 0 : s->mean ? 1 : 0;
    if (xx->measured) tmi_form_noise_add(noise, a, 0, 0, xx->noise);
    if (xy->measured) tmi_form_noise_add(noise, 0, -2 * a, 0, xy->noise);
    if (yy->measured) tmi_form_noise_add(noise, 0, 0, a, yy->noise);
    const slope sum_x = {-2 * c * stratum->x, 2 * c * stratum->y, 0}, sum_y = {0, 2 * c * stratum->x, -2 * c * stratum->y};
    const slope by_x = plus((slope){a * ((xx->measured ? 2 * xx->centre_x : 1) - 2 * p), -2 * a * (cy + product - q), 0}, sum_x,
                            1);
    const slope by_y = plus((slope){0, -2 * a * (cx - p), a * ((yy->measured ? 2 * yy->centre_x : 1) - 2 * q)}, sum_y, 1);
    const slope by_n = {-a * xx->centre_x * xx->centre_x, 2 * a * cx * cy, -a * yy->centre_x * yy->centre_x};
    slope by_k = plus(plus((slope){a * p * p, -2 * a * p * q, a * q * q}, sum_x, -p), sum_y, -q);
    if (s->x_is_k) by_k = plus(by_k, by_x, 1);
    else add(noise, by_x, s->vx);
    if (s->y_is_k) by_k = plus(by_k, by_y, 1);
    else add(noise, by_y, s->vy);
    add(noise, plus(plus(by_n, by_x, s->centre_x), by_y, s->centre_y), s->vn); /* x = x' + centre n */
    add(noise, by_k, s->vk);
}

/* Variance of X^2 for noise X of variance v: the fourth moment is 6 v^2 or 3 v^2. */
static double square_noise(double v, bool gaussian) { return (gaussian ? 2 : 5) * v * v; }

void tmi_stratum_mean_noise(tmi_form_noise *noise, const tmi_stratum_sums *s, double each, bool gaussian)
{
    tmi_form_noise_add(noise, each, 0, 0, square_noise(s->x_noise_variance, gaussian));
    tmi_form_noise_add(noise, 0, 2 * each, 0, s->x_noise_variance * s->y_noise_variance);
    tmi_form_noise_add(noise, 0, 0, each, square_noise(s->y_noise_variance, gaussian));
}
