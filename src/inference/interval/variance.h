/* Sampling variances that were estimated from noisy numbers.
 *
 * A variance that was estimated from noisy numbers misses the usual estimate by a noise whose standard deviation is known.
 * What intervals use is an upper limit of it, never more than the public range allows. No privacy hangs on these functions. */
#ifndef TMI_INFERENCE_INTERVAL_VARIANCE_H
#define TMI_INFERENCE_INTERVAL_VARIANCE_H

#include <stdbool.h>

typedef struct tmi_variance {
    double value;
    bool from_range; /* value is the bound, or nothing else is known */
} tmi_variance;

/* ---- the noise in an estimated variance ---- */

/* max(estimate, 0) + margin, at most the bound; bound >= 0 or infinite. */
tmi_variance tmi_variance_limit(double estimate, double margin, double bound);

/* The variance of the noise in a form a^2 xx - 2 a b xy + b^2 yy, for every a and b: a polynomial of degree 4, as each noise
 * enters with a quadratic factor of its own, independently of the others. */
typedef struct tmi_form_noise {
    double c[5]; /* of a^4, a^3 b, ..., b^4 */
} tmi_form_noise;

/* A noise of the given variance whose factor is aa a^2 + ab a b + bb b^2. */
void tmi_form_noise_add(tmi_form_noise *noise, double aa, double ab, double bb, double variance);
double tmi_form_noise_sd(const tmi_form_noise *noise, double a, double b);

/* ---- squares and products of noisy numbers ---- */

/* Unbiased for the square of the number under the noise. For discrete Laplace noise this is the second-difference
 * correction g - p/(1-p)^2 D2 g at g(k) = k^2, whose D2 is 2; it holds for any noise of mean 0. */
static inline double tmi_unbiased_square(double noisy, double noise_variance) { return noisy * noisy - noise_variance; }

/* ---- V(x - r y) for every r ---- */

/* The quadratic form of the variances of two totals X and Y: V(X - r Y) = xx - 2 r xy + r^2 yy. */
typedef struct tmi_quadratic {
    double xx, xy, yy;
} tmi_quadratic;

static inline double tmi_quadratic_at(tmi_quadratic q, double r) { return q.xx - 2 * r * q.xy + r * r * q.yy; }

#endif
