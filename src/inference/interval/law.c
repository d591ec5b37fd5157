/* The tail of E = se T + sum f_j X_j by its characteristic function (Gil-Pelaez 1951; the midpoint rule as in Davies
 * 1973). With phi the real part's factor and step h, and L = 2 pi / h,
 *
 *     1/2 - sum_k sin(t_k x) phi(t_k) / (pi (k + 1/2)),  t_k = (k + 1/2) h,
 *
 * is exactly P(E > x) + sum_{m >= 1} (-1)^(m+1) [P(E > mL - x) - P(E > mL + x)]: the sum over k is the Fourier series of
 * a square wave of half period L, taken in expectation. L is chosen so large that for light tails the second sum is below
 * 1e-12; for Student's tails, which are heavy, it is computed and subtracted: out there E has the tail of se T, and the
 * noise adds half its variance times the second derivative.
 *
 * Where the terms end, at T, phi falls like a power of t at most; what the sum still lacks is, by summation by parts,
 * cos(T x) phi(T) h / (2 pi T sin(h x / 2)) and a rest of the order phi(T) / T^2.                                        */
#include "inference/interval/law.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

#define MOST_TERMS ((size_t)1 << 18)
#define SMALL 1e-11
#define LARGEST_SCALE 1e100 /* its square is still a double */
#define FAR 30.0            /* standard deviations beyond which Student's tail is that of the sum */
#define HEAVY 20            /* with this many degrees of freedom or more nothing is left at 19 standard deviations */
#define VISIBLE 1e-3        /* the first harmonic of a lattice is damped below this: the law is as good as smooth */
#define TINY 1e-4           /* of the fourth cumulant: noises that have no more of it together count as one normal error */
#define MANY 32             /* noises of which the small ones are added up */
#define WIDE 300.0          /* a noise of this scale or more counts as continuous: that is 1 / (24 * 300^2) of its width */

/* ---- characteristic functions ---- */

/* Student's, at s = |t| >= 0: q_mu(z) = z^mu K_mu(z) / (2^(mu-1) Gamma(mu)) at mu = df/2, z = sqrt(df) s. The recurrence
 * q_(mu+1) = q_mu + z^2 / (4 mu (mu-1)) q_(mu-1) follows from that of the Bessel functions; its terms are positive. */
#define LARGE_DF 120

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

/* With a = s^2/2 the average is exp(-a) times that of exp(-a (node - 1)), whose power series needs one exponential instead of 31.
 * The spread of the nodes is about sqrt(2/df) = d; the term of order 20 is about (a d)^20 / (2^10 10!), below 1e-14 up to this
 * a d. */
#define SERIES 0.6

static void student_nodes(tmi_spectrum *v)
{
    double nu = (double)v->df, step = sqrt(2 / nu) * 0.5, total = 0;
    for (int i = 0; i < NODES; i++) {
        double u = step * (i - NODES / 2);
        v->node[i] = exp(-u);
        v->weight[i] = exp(nu / 2 * (u - expm1(u)));
        total += v->weight[i];
    }
    for (int i = 0; i < NODES; i++) {
        double term = v->weight[i] /= total;
        for (int j = 0; j < TERMS; term *= (1 - v->node[i]) / ++j) v->term[j] += term;
    }
}

static double student(const tmi_spectrum *v, double s)
{
    if (v->df == TMI_NORMAL) return exp(-s * s / 2);
    if (v->df <= LARGE_DF) return student_small(sqrt((double)v->df) * s, v->df);
    double a = s * s / 2, sum = 0;
    if (a * sqrt(2 / (double)v->df) <= SERIES) {
        for (int j = TERMS; j-- > 0;) sum = sum * a + v->term[j];
        return exp(-a) * sum;
    }
    for (int i = 0; i < NODES; i++) sum += v->weight[i] * exp(-a * v->node[i]);
    return sum;
}

/* The discrete Gaussian: a theta series in one of its two forms, whichever is short. */
static double discrete_gaussian(double variance, double t)
{
    double r = remainder(t, 2 * M_PI), top = 0, bottom = 0;
    int images = variance >= 4 ? 1 : 8; /* exp(-4 (3 pi)^2 / 2) is nothing */
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

/* A noise as it enters: discrete, or continuous with the given variance. */
static double noise(const tmi_smooth_part *part, double t)
{
    double u = part->factor * t, one;
    if (part->gaussian) {
        one = part->discrete ? discrete_gaussian(part->spread, u) : exp(-part->spread * u * u / 2);
    } else {
        double s = part->discrete ? sin(u / 2) : u; /* spread: 1 / sinh^2(1 / (2 scale)), or half the variance */
        one = 1 / (1 + part->spread * s * s);
    }
    return part->count == 1 ? one : pow(one, part->count);
}

/* ---- preparation ---- */

tamis_status tmi_error_law_check(const tmi_error_law *law, tamis_error *err)
{
    if (!law) return tmi_fail(err, TAMIS_INVALID, "law: NULL");
    if (!(law->se >= 0 && isfinite(law->se))) return tmi_fail(err, TAMIS_INVALID, "se: not a finite number of at least 0");
    if (!isfinite(law->third) || (law->third != 0 && law->df != TMI_NORMAL))
        return tmi_fail(err, TAMIS_INVALID, "third: not a finite number, or given with degrees of freedom");
    if (law->df < 0) return tmi_fail(err, TAMIS_INVALID, "df: negative");
    if (law->count > 0 && !law->parts) return tmi_fail(err, TAMIS_INVALID, "parts: NULL");
    for (size_t i = 0; i < law->count; i++) {
        const tmi_noise_part *part = &law->parts[i];
        if (!isfinite(part->factor)) return tmi_fail(err, TAMIS_INVALID, "parts: the factor of number %zu is not finite", i);
        if (!(part->scale > 0 && part->scale <= LARGEST_SCALE))
            return tmi_fail(err, TAMIS_INVALID, "parts: the scale of number %zu is not above 0 and at most 1e100", i);
        if (!(part->count >= 1 && isfinite(part->count)))
            return tmi_fail(err, TAMIS_INVALID, "parts: the count of number %zu is not at least 1", i);
    }
    return TAMIS_OK;
}

/* By the variance of one noise, the smallest first. */
static int by_variance(const void *x, const void *y)
{
    const tmi_noise_part *a = x, *b = y;
    const double v = tmi_noise_part_variance(*a) / a->count, w = tmi_noise_part_variance(*b) / b->count;
    return (v > w) - (v < w);
}

/* Many small noises are a normal error, to a part of TINY/8 of any probability: they become one. Their number; `parts` is sorted.
 * The fourth cumulant of discrete Laplace noise of variance v is 3 v^2 + v; noise that is nearly always 0 has more than its
 * variance shows. */
static size_t join_small(double *variance, tmi_noise_part *parts, size_t count, double total)
{
    double fourth = 0;
    size_t joined = 0;
    *variance = 0;
    if (count <= MANY) return 0;
    qsort(parts, count, sizeof *parts, by_variance);
    for (; joined < count; joined++) {
        const double all = tmi_noise_part_variance(parts[joined]), factor = parts[joined].factor;
        fourth += 3 * all * all / parts[joined].count + all * factor * factor;
        if (fourth > TINY * total * total) break;
        *variance += all;
    }
    return joined;
}

/* Scaled so that the standard deviation of everything (of T: of the normal with the same se) is 1. */
static tamis_status set_parts(tmi_spectrum *v, const tmi_error_law *law, tamis_error *err)
{
    double variance = law->se * law->se + tmi_noise_variance(law->parts, law->count);
    v->unit = sqrt(variance);
    if (!isfinite(v->unit)) return tmi_fail(err, TAMIS_INVALID, "parts: too large");
    if (v->unit == 0) v->unit = 1;
    v->se = law->se / v->unit;
    v->third = law->third / (v->unit * v->unit * v->unit);
    v->parts = tmi_alloc(law->count + 1, sizeof *v->parts);
    if (!v->parts) return tmi_fail_memory(err);
    tmi_noise_part *sorted = tmi_alloc(law->count, sizeof *sorted);
    if (!sorted) return tmi_fail_memory(err);
    if (law->count > 0) memcpy(sorted, law->parts, law->count * sizeof *sorted);
    double small;
    const size_t joined = join_small(&small, sorted, law->count, variance);
    if (small > 0) {
        v->noise_variance += small / variance;
        v->parts[v->count++] = (tmi_smooth_part){1, small / variance, 1, false, true};
    }
    for (size_t i = joined; i < law->count; i++) {
        tmi_noise_part part = sorted[i];
        double factor = fabs(part.factor) / v->unit,
               raw = tmi_noise_part_variance((tmi_noise_part){1, part.scale, part.gaussian, 1});
        if (factor == 0) continue;
        v->noise_variance += part.count * factor * factor * raw;
        bool smooth = v->se > 0 && student(v, 2 * M_PI * v->se / factor) <= VISIBLE, discrete = smooth && part.scale < WIDE;
        double spread = raw + (smooth ? 0 : fmin(1. / 12, 4 * raw)); /* a noise that is nearly always 0 widens nothing */
        if (part.gaussian && discrete) spread = part.scale * part.scale;
        if (!part.gaussian && discrete) spread = 1 / pow(sinh(0.5 / part.scale), 2);
        if (!part.gaussian && !discrete) spread /= 2;
        v->parts[v->count++] = (tmi_smooth_part){factor, spread, part.count, discrete, part.gaussian};
        if (!part.gaussian) v->longest = fmax(v->longest, factor * (discrete ? fmax(part.scale, 0.25) : sqrt(spread)));
    }
    tmi_free(sorted);
    return TAMIS_OK;
}

/* The function itself, and what it can not exceed from t on: a discrete noise comes back to 1 at each period. */
static double phi(double *envelope, const tmi_spectrum *v, double t)
{
    double value = *envelope = v->se > 0 ? student(v, v->se * t) : 1;
    for (size_t i = 0; i<v->count && * envelope> SMALL * SMALL; i++) {
        double factor = noise(&v->parts[i], t);
        value *= factor;
        if (!v->parts[i].discrete) *envelope *= factor;
    }
    return value;
}

/* Tails: those of Laplace noise end like exp(-x / longest), the others within a few standard deviations. */
tamis_status tmi_spectrum_make(tmi_spectrum *v, const tmi_error_law *law, tamis_error *err)
{
    *v = (tmi_spectrum){0};
    tamis_status status;
    TMI_TRY(tmi_error_law_check(law, err));
    v->df = law->df >= 100000000 ? TMI_NORMAL : law->df;
    if (v->df > LARGE_DF) student_nodes(v);
    TMI_TRY(set_parts(v, law, err));
    v->alternate = v->df != TMI_NORMAL && v->df < HEAVY && v->se > 0;
    v->length = 2 * (9 + 30 * v->longest + (v->alternate ? FAR : v->df != TMI_NORMAL ? 10 : 0));
    double step = 2 * M_PI / v->length;
    size_t room = 256, used = 0;
    v->values = tmi_alloc(room, sizeof *v->values);
    if (!v->values) TMI_TRY(tmi_fail_memory(err));
    while (used < MOST_TERMS) {
        if (used == room) {
            double *more = tmi_realloc(v->values, 2 * room, sizeof *v->values);
            if (!more) TMI_TRY(tmi_fail_memory(err));
            v->values = more;
            room *= 2;
        }
        double t = step * ((double)used + 0.5), envelope;
        v->values[used++] = phi(&envelope, v, t);
        if (envelope / ((1 + t) * (1 + t)) < SMALL) break;
    }
    v->terms = used;

done:
    if (status != TAMIS_OK) tmi_spectrum_clear(v);
    return status;
}

void tmi_spectrum_clear(tmi_spectrum *v)
{
    tmi_free(v->parts);
    tmi_free(v->values);
    *v = (tmi_spectrum){0};
}

/* ---- the tail ---- */

/* P(E > y) for y far out: Student's tail and what the noise's variance adds to it. */
static double far_tail(const tmi_spectrum *v, double y)
{
    double nu = (double)v->df, x = y / v->se; /* the integral of (1 + t^2/nu)^(-(nu+1)/2) from x on is a series in nu / x^2 */
    double c = exp(lgamma((nu + 1) / 2) - lgamma(nu / 2)) / sqrt(nu * M_PI);
    double z = nu / (x * x), term = pow(x * x / nu, -(nu + 1) / 2) * x / nu, sum = 0;
    for (int k = 0; k < 60; k++) {
        sum += term * nu / (nu + 2 * k);
        term *= -z * ((nu + 1) / 2 + k) / (k + 1);
        if (fabs(term) < 1e-17 * fabs(sum)) break;
    }
    double density = c * pow(1 + x * x / nu, -(nu + 1) / 2);
    double slope = density * (nu + 1) * x / (nu + x * x); /* minus the derivative of the density */
    return c * sum + v->noise_variance / (2 * v->se * v->se) * slope;
}

double tmi_spectrum_beyond(const tmi_spectrum *v, double x)
{
    double y = x / v->unit;
    if (v->alternate && fabs(y) > v->length / 2) return y > 0 ? far_tail(v, y) : 1 - far_tail(v, -y);
    if (fabs(y) > v->length / 2) return y > 0 ? 0 : 1;
    double step = 2 * M_PI / v->length, sum = 0, lost = 0;
    double c = cos(step * y), s = sin(step * y), re = cos(step * y / 2), im = sin(step * y / 2);
    for (size_t k = 0; k < v->terms; k++) {
        double half = (double)k + 0.5, wave = im;
        if (v->third != 0) {
            double t = step * half;
            wave = sin(t * y + v->third * t * t * t / 6);
        } else if (k % 64 == 0) { /* the rotation is begun anew before its rounding errors grow */
            re = cos(step * half * y);
            wave = im = sin(step * half * y);
        }
        double add = wave / half * v->values[k] - lost, next = sum + add;
        lost = (next - sum) - add;
        sum = next;
        double turned = re * c - im * s;
        im = re * s + im * c;
        re = turned;
    }
    double end = (double)v->terms, turn = step * y, envelope;
    if (v->third == 0 && fabs(end * turn) > 10)
        sum += cos(end * turn) * phi(&envelope, v, end * step) / (end * 2 * sin(turn / 2));
    double p = 0.5 - sum / M_PI;
    if (v->alternate) { /* an alternating series: its last partial sums are averaged, and their averages again */
        double sign = 1, partial[3] = {0};
        for (int m = 1; m <= 30; m++, sign = -sign) {
            double next = partial[2] + sign * (far_tail(v, m * v->length - y) - far_tail(v, m * v->length + y));
            partial[0] = partial[1], partial[1] = partial[2], partial[2] = next;
        }
        p -= (partial[0] + 2 * partial[1] + partial[2]) / 4;
    }
    return fmin(fmax(p, 0), 1);
}
