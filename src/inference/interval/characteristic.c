/* The characteristic function of E = se T + sum f_j X_j at equidistant nodes. */
#include "inference/interval/characteristic.h"

#include <math.h>

/* ---- Student's ---- */

/* At s = |t| >= 0: q_mu(z) = z^mu K_mu(z) / (2^(mu-1) Gamma(mu)) at mu = df/2, z = sqrt(df) s. The recurrence
 * q_(mu+1) = q_mu + z^2 / (4 mu (mu-1)) q_(mu-1) follows from that of the Bessel functions; its terms are positive. */
/* K_0 and K_1 by the trapezoidal rule on exp(-z cosh u) cosh(n u). The first bound of the step makes it exact to 1e-14, as
 * the integrand has no singularity within pi/2 of the line, the second to 1e-17 where it is a bell of width 1/sqrt(z). */
static void bessel(double *k0, double *k1, double z)
{
    double step = fmin(0.29, 0.7 / sqrt(z));
    *k0 = *k1 = exp(-z) / 2;
    for (int i = 1;; i++) {
        double c = cosh(step * i), e = exp(-z * c);
        *k0 += e;
        *k1 += e * c;
        if (z * c > 45 + z || e * c == 0) break;
    }
    *k0 *= step;
    *k1 *= step;
}

static double student_small(double z, int64_t df)
{
    double before, q, mu;
    if (z == 0) return 1;
    if (df % 2) {
        before = exp(-z); /* mu = 1/2 */
        if (df == 1) return before;
        q = (1 + z) * before;
        mu = 1.5;
    } else {
        double k0, k1;
        bessel(&k0, &k1, z);
        before = z * k1; /* mu = 1 */
        if (df == 2) return before;
        q = z * z * k0 / 2 + before;
        mu = 2;
    }
    for (; 2 * mu < (double)df - 0.25; mu += 1) {
        double next = q + z * z / (4 * mu * (mu - 1)) * before;
        before = q;
        q = next;
    }
    return q;
}

/* For many degrees of freedom: exp(-s^2 / (2 G)) averaged over G = Gamma(df/2) / (df/2) at the nodes of the trapezoidal rule
 * in log G, whose width is sqrt(2/df). */
#define NODES TMI_STUDENT_NODES
#define TERMS TMI_STUDENT_TERMS

/* With a = s^2/2 the average is exp(-a) times that of exp(-a u), u = 1/G - 1, whose power series needs one exponential instead of
 * 31. Its moments M_j follow from the integral of the derivative of w^2 (w-1)^j times the density of w = 1/G, which is 0:
 *
 *     (df/2 - 1 - j) M_(j+1) = (2j + 1) M_j + j M_(j-1).
 *
 * The spread of u is about sqrt(2/df) = d; the term of order 20 is about (a d)^20 / (2^10 10!), below 1e-14 up to this a d. */
#define SERIES 0.6

/* With so many degrees of freedom that the series is good up to here, the factor is below 1e-12 there and falls. As (1 + s)^2 is
 * then above 70, no term of the sum is so far out. */
#define DEEP 28.0

static bool needs_nodes(int64_t df) { return SERIES * sqrt((double)df / 2) < DEEP; }

void tmi_student_nodes(tmi_spectrum *v)
{
    double nu = (double)v->df, step = sqrt(2 / nu) * 0.5, total = 0, before = 0, moment = 1, over = 1;
    for (int j = 0; j < TERMS; over *= -(double)++j) {
        const double next = ((2 * j + 1) * moment + j * before) / (nu / 2 - 1 - j);
        v->term[j] = moment / over;
        before = moment;
        moment = next;
    }
    if (!needs_nodes(v->df)) return;
    for (int i = 0; i < NODES; i++) {
        double u = step * (i - NODES / 2);
        v->node[i] = exp(-u);
        v->weight[i] = exp(nu / 2 * (u - expm1(u)));
        total += v->weight[i];
    }
    for (int i = 0; i < NODES; i++) v->weight[i] /= total;
}

double tmi_student_factor(const tmi_spectrum *v, double s)
{
    if (v->df == TMI_NORMAL) return exp(-s * s / 2);
    if (v->df <= TMI_LARGE_DF) return student_small(sqrt((double)v->df) * s, v->df);
    double a = s * s / 2, sum = 0;
    if (a * sqrt(2 / (double)v->df) <= SERIES) {
        for (int j = TERMS; j-- > 0;) sum = sum * a + v->term[j];
        return exp(-a) * sum;
    }
    if (!needs_nodes(v->df)) return 0;
    for (int i = 0; i < NODES; i++) sum += v->weight[i] * exp(-a * v->node[i]);
    return sum;
}

/* ---- noises ---- */

/* The discrete Gaussian: a theta series in one of its two forms, whichever is short. */
static double discrete_gaussian(double variance, double t)
{
    double r = remainder(t, 2 * M_PI), top = 0, bottom = 0;
    if (variance >= 4 && variance * 2 * M_PI * (M_PI - fabs(r)) > 40)
        return exp(-variance * r * r / 2); /* the other terms of the theta series are far below the first */
    int images = variance >= 4 ? 1 : 8;    /* terms farther out are below exp(-4 (3 pi)^2 / 2) */
    for (int m = -images; m <= images; m++) {
        double far = 2 * M_PI * m;
        if (variance >= 0.5) {
            top += exp(-variance * (r + far) * (r + far) / 2);
            bottom += exp(-variance * far * far / 2);
        } else {
            double e = exp(-(double)(m * m) / (2 * variance));
            top += e * cos(m * r);
            bottom += e;
        }
    }
    return top / bottom;
}

/* Rounded normal noise, by Poisson's formula: the sum over all s = t + 2 pi m of exp(-variance s^2 / 2) sin(s/2) / (s/2); or, for
 * small variances, by its masses. */
static double rounded_normal(double variance, double t)
{
    const double r = remainder(t, 2 * M_PI);
    double sum = 0;
    if (variance < 0.5) {
        const double unit = 1 / sqrt(2 * variance);
        double before = erf(0.5 * unit);
        sum = before;
        for (int k = 1; k <= 8; k++) {
            const double next = erf((k + 0.5) * unit);
            sum += (next - before) * cos(k * r);
            before = next;
        }
        return sum;
    }
    const int images = variance >= 4 ? 1 : 8;
    for (int m = -images; m <= images; m++) {
        const double s = r + 2 * M_PI * m;
        sum += exp(-variance * s * s / 2) * (s == 0 ? 1 : sin(s / 2) / (s / 2));
    }
    return sum;
}

/* x^n for x >= 1 and n >= 1: counts are whole numbers, most of them small, for which squaring takes less time than pow. */
static double power(double x, double n)
{
    if (n == 1) return x;
    if (n > 0x1p20 || n != floor(n)) return pow(x, n);
    double all = 1;
    for (unsigned left = (unsigned)n; left > 0; left >>= 1, x *= x)
        if (left & 1) all *= x;
    return all;
}

/* Laplace: 1 / (1 + spread s^2) with s = sin(u/2), u = factor t, where the noise is discrete: by rotation, begun anew with
 * each run. */
static void multiply_laplace(tmi_noise_run *r, const tmi_smooth_part *part, double step)
{
    if (!part->discrete) {
        const double spread = part->spread * part->factor * part->factor;
        for (int j = 0; j < r->count; j++) {
            double below = power(1 + spread * r->t[j] * r->t[j], part->count);
            r->below[j] *= below;
            r->below_envelope[j] *= below;
        }
        return;
    }
    const double first = part->factor * r->t[0] / 2, turn = part->factor * step / 2, c = cos(turn), s = sin(turn);
    double re = cos(first), im = sin(first);
    for (int j = 0; j < r->count; j++) {
        r->below[j] *= power(1 + part->spread * im * im, part->count);
        const double turned = re * c - im * s;
        im = re * s + im * c;
        re = turned;
    }
}

static void multiply_gaussian(tmi_noise_run *r, const tmi_smooth_part *part)
{
    for (int j = 0; j < r->count; j++) {
        const double t = part->factor * r->t[j];
        const double one = part->gaussian == TMI_ROUNDED_NORMAL ? rounded_normal(part->spread, t)
                                                                : discrete_gaussian(part->spread, t);
        r->value[j] *= part->count == 1 ? one : pow(one, part->count);
    }
}

/* Denominators may overflow: the value is then 0, as it should be. */
void tmi_spectrum_run(tmi_noise_run *r, const tmi_spectrum *v, double t, double step, int count)
{
    r->count = count;
    for (int j = 0; j < r->count; j++) {
        r->t[j] = t + step * j;
        r->value[j] = r->envelope[j] = (v->se > 0 ? tmi_student_factor(v, v->se * r->t[j]) : 1) *
                                       (v->normal > 0 ? exp(-v->normal * r->t[j] * r->t[j] / 2) : 1);
        r->below[j] = r->below_envelope[j] = 1;
    }
    for (size_t i = 0; i < v->count; i++) {
        if (v->parts[i].gaussian) multiply_gaussian(r, &v->parts[i]);
        else multiply_laplace(r, &v->parts[i], step);
    }
    for (int j = 0; j < r->count; j++) {
        r->value[j] /= r->below[j];
        r->envelope[j] /= r->below_envelope[j];
    }
}
