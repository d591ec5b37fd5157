/* Sampling variances from released numbers alone: from noisy counts, from noisy moments, from noisy totals of variance
 * units; and, before there are any numbers, from public ranges.
 *
 * A variance that was estimated from noisy numbers misses the usual estimate by a noise whose standard deviation is known.
 * What intervals use is an upper limit of it, never more than the public range allows. No privacy hangs on these functions. */
#ifndef TMI_INFERENCE_VARIANCE_H
#define TMI_INFERENCE_VARIANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tamis/base.h>

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

/* first-stage units - strata of the whole design; less than 1: no interval. */
static inline int64_t tmi_degrees(int64_t first_stage_units, int64_t strata) { return first_stage_units - strata; }

/* ---- squares and products of noisy numbers ---- */

/* Unbiased for the square of the number under the noise. For discrete Laplace noise this is the second-difference
 * correction g - p/(1-p)^2 D2 g at g(k) = k^2, whose D2 is 2; it holds for any noise of mean 0. */
static inline double tmi_unbiased_square(double noisy, double noise_variance) { return noisy * noisy - noise_variance; }

/* ---- simple random sampling of `sample` from `population` units, within a stratum or in all ---- */

/* Variance of the total N/n * (sum of x) from the sum of squares about the mean, S^2 = squares / (n - 1). */
double tmi_variance_srs(double population, double sample, double squares);

/* The largest possible variance of N/n * (sum of x) for x in [from, to]: N values have S^2 <= N/(N-1) (to - from)^2 / 4
 * (Popoviciu). For previews, and where an estimate is negative. 0 for a census. */
double tmi_variance_range(double population, double sample, double from, double to);

/* ---- moments: V(x - r y) for every r ---- */

/* The quadratic form of the variances of two totals X and Y: V(X - r Y) = xx - 2 r xy + r^2 yy. */
typedef struct tmi_quadratic {
    double xx, xy, yy;
} tmi_quadratic;

static inline double tmi_quadratic_at(tmi_quadratic q, double r) { return q.xx - 2 * r * q.xy + r * r * q.yy; }

/* What was measured of a stratum whose mean is to be subtracted: a is the public factor a = (1 - pi) w^2 n / (n - 1) of
 * its units, x and y its noisy sums of values. */
typedef struct tmi_stratum_sums {
    double a, sample;
    double x, y, x_noise_variance, y_noise_variance, noise_covariance;
} tmi_stratum_sums;

/* The moments sum a x^2, sum a x y, sum a y^2 less a/n (sum x)^2, ... of each measured stratum, without the bias that
 * squares and products of noisy sums have. */
tmi_quadratic tmi_variance_moments(tmi_quadratic moments, const tmi_stratum_sums *strata, size_t count);

/* ---- variance units ---- */

/* Sum over strata of m/(m-1) * sum of squares about the stratum's mean, of the noisy totals x (and y, or NULL) of the
 * variance units: the with-replacement formula. The statistic being the sum of these totals, it holds the sampling error
 * and the noise together.
 *
 * Needs    units >= 1; stratum[i] < units, strata of 2 or more units, finite totals.
 * Gives    the form, and df = units - strata.
 * Errors   INVALID (a stratum of one unit, no number), SYSTEM; the form is then infinite and df 0.                   */
tamis_status tmi_variance_units(tmi_quadratic *form, int64_t *df, const double *x, const double *y, const size_t *stratum,
                                size_t units, tamis_error *err);

#endif
