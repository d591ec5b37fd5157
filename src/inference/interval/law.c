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

#include "base/error.h"
#include "base/memory.h"
#include "survey/estimator.h"

#define MOST_TERMS ((size_t)1 << 18)
#define SMALL 1e-11
#define LARGEST_SCALE 1e100 /* its square is still a double */
#define FAR 30.0            /* beyond this many standard deviations the tail of the sum is Student's */
#define HEAVY 20            /* with this many degrees of freedom or more nothing is left at 19 standard deviations */
#define VISIBLE 1e-3        /* where the first harmonic of a lattice is damped below this, the law counts as smooth */
#define TINY 1e-4  /* noises that together have no more than this part of the fourth cumulant count as one normal error */
#define MANY 32    /* small noises are added up where there are more than this many */
#define WIDE 300.0 /* a noise of this scale or more counts as continuous: that is 1 / (24 * 300^2) of its width */

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
            return tmi_fail(err, TAMIS_INVALID, "parts: the scale of number %zu must be above 0 and at most 1e100", i);
        if (!(part->count >= 1 && isfinite(part->count)))
            return tmi_fail(err, TAMIS_INVALID, "parts: the count of number %zu must be at least 1", i);
    }
    return TAMIS_OK;
}

/* A noise of the law: its place there, and its variances, in the unit of the law. */
typedef struct candidate {
    double raw, one, all; /* variances of X, of f X, and of all `count` of them */
    size_t place;
} candidate;

/* The variances of all noises, and their sum. The noises of one table follow one another and have the same scale. */
static double weigh(candidate *list, const tmi_error_law *law)
{
    tmi_sum sum = {0};
    for (size_t i = 0; i < law->count; i++) {
        const tmi_noise_part *part = &law->parts[i], *before = i > 0 ? part - 1 : NULL;
        const bool same = before && before->scale == part->scale && before->gaussian == part->gaussian;
        candidate *c = &list[i];
        c->place = i;
        c->raw = same ? list[i - 1].raw : tmi_noise_part_variance((tmi_noise_part){1, part->scale, part->gaussian, 1});
        c->one = part->factor * part->factor * c->raw;
        c->all = part->count * c->one;
        tmi_sum_add(&sum, c->all);
    }
    return tmi_sum_value(sum);
}

static bool is_smaller(const candidate *a, const candidate *b)
{
    return a->one < b->one || (a->one == b->one && a->place < b->place);
}

/* Discrete Laplace noise of variance v has the fourth cumulant 3 v^2 + v: noise that is nearly always 0 has more than its
 * variance shows. */
static double fourth_cumulant(const candidate *c, const tmi_noise_part *part)
{
    return 3 * c->all * c->one + c->all * part->factor * part->factor;
}

/* Many small noises together are a normal error, to a part of TINY/8 of any probability, and become one. Returns how many there
 * are; they are moved to the beginning of the list. It is divided at one of its noises again and again, as a search for the
 * median does: sorting all would take longer than what follows. */
static size_t find_small(candidate *list, const tmi_error_law *law, double total)
{
    size_t low = 0, high = law->count; /* those before `low` are among them, those from `high` on are not */
    double room = TINY * total * total;
    if (law->count <= MANY || total == 0) return 0;
    while (low < high) {
        double fourth = 0;
        size_t smaller = low;
        candidate middle = list[low + (high - low) / 2];
        list[low + (high - low) / 2] = list[high - 1];
        list[high - 1] = middle;
        for (size_t i = low; i < high; i++) {
            const candidate c = list[i];
            if (is_smaller(&middle, &c)) continue;
            fourth += fourth_cumulant(&c, &law->parts[c.place]);
            list[i] = list[smaller];
            list[smaller++] = c; /* the last one is the middle */
        }
        if (fourth <= room) low = smaller, room -= fourth;
        else high = smaller - 1;
    }
    return low;
}

static void add_part(tmi_spectrum *v, const tmi_noise_part *part, double raw)
{
    const double factor = fabs(part->factor) / v->unit;
    if (factor == 0) return;
    v->noise_variance += part->count * factor * factor * raw;
    const bool smooth = v->se > 0 && tmi_student_factor(v, 2 * M_PI * v->se / factor) <= VISIBLE,
               discrete = smooth && part->scale < WIDE;
    double spread = raw + (smooth ? 0 : fmin(1. / 12, 4 * raw)); /* a noise that is nearly always 0 widens nothing */
    if (part->gaussian && !discrete) {
        v->normal += part->count * factor * factor * spread;
        return;
    }
    if (part->gaussian) spread = part->scale * part->scale;
    else spread = discrete ? 2 * raw : spread / 2;
    v->parts[v->count++] = (tmi_smooth_part){factor, spread, part->count, discrete, part->gaussian};
    if (!part->gaussian) v->longest = fmax(v->longest, factor * (discrete ? fmax(part->scale, 0.25) : sqrt(spread)));
}

/* Scaled so that the standard deviation of everything (of T: of the normal with the same se) is 1. */
static tamis_status set_parts(tmi_spectrum *v, const tmi_error_law *law, tamis_error *err)
{
    candidate *list = tmi_alloc(law->count, sizeof *list);
    v->parts = tmi_alloc(law->count, sizeof *v->parts);
    if (!list || !v->parts) {
        tmi_free(list);
        return tmi_fail_memory(err);
    }
    const double variance = law->se * law->se + weigh(list, law);
    v->unit = sqrt(variance);
    if (v->unit == 0) v->unit = 1;
    v->se = law->se / v->unit;
    v->third = law->third / (v->unit * v->unit * v->unit);
    tamis_status status = isfinite(v->unit) ? TAMIS_OK : tmi_fail(err, TAMIS_INVALID, "parts: too large");
    const size_t small = status == TAMIS_OK ? find_small(list, law, variance) : 0;
    for (size_t i = 0; i < small; i++) v->normal += list[i].all / variance;
    v->noise_variance = v->normal;
    for (size_t i = small; status == TAMIS_OK && i < law->count; i++) add_part(v, &law->parts[list[i].place], list[i].raw);
    tmi_free(list);
    return status;
}

/* Tails: those of Laplace noise end like exp(-x / longest), the others within a few standard deviations. */
tamis_status tmi_spectrum_make(tmi_spectrum *v, const tmi_error_law *law, tamis_error *err)
{
    *v = (tmi_spectrum){0};
    tamis_status status;
    TMI_TRY(tmi_error_law_check(law, err));
    v->df = law->df >= 100000000 ? TMI_NORMAL : law->df;
    if (v->df > TMI_LARGE_DF) tmi_student_nodes(v);
    TMI_TRY(set_parts(v, law, err));
    v->alternate = v->df != TMI_NORMAL && v->df < HEAVY && v->se > 0;
    v->length = 2 * (9 + 30 * v->longest + (v->alternate ? FAR : v->df != TMI_NORMAL ? 10 : 0));
    if (v->se == 0 && v->normal == 0 && v->count == 0) goto done; /* the error is 0 */
    const double step = 2 * M_PI / v->length;
    size_t room = 4 * TMI_RUN;
    tmi_noise_run r;
    v->values = tmi_alloc(room, sizeof *v->values);
    if (!v->values) TMI_TRY(tmi_fail_memory(err));
    for (bool more = true; more && v->terms < MOST_TERMS;) {
        if (v->terms + TMI_RUN > room) {
            double *longer = tmi_realloc(v->values, 2 * room, sizeof *v->values);
            if (!longer) TMI_TRY(tmi_fail_memory(err));
            v->values = longer;
            room *= 2;
        }
        tmi_spectrum_run(&r, v, step * ((double)v->terms + 0.5), step, TMI_RUN);
        for (int j = 0; more && j < TMI_RUN; j++) {
            v->values[v->terms] = r.value[j] / ((double)v->terms + 0.5);
            v->terms++;
            more = r.envelope[j] / ((1 + r.t[j]) * (1 + r.t[j])) >= SMALL;
        }
    }
    tmi_spectrum_run(&r, v, step * (double)v->terms, step, 1);
    v->end = r.value[0];

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

/* The sum of sin((k + 1/2) turn) values[k]: the sines by a rotation, which is begun anew before its rounding errors grow. The
 * sums of single runs are short; what is lost when they are added up is kept. */
static double waves(const tmi_spectrum *v, double turn)
{
    const double c = cos(turn), s = sin(turn);
    tmi_sum sum = {0};
    for (size_t first = 0; first < v->terms; first += 64) {
        const size_t after = v->terms - first < 64 ? v->terms : first + 64;
        double re = cos(((double)first + 0.5) * turn), im = sin(((double)first + 0.5) * turn), part = 0;
        for (size_t k = first; k < after; k++) {
            part += im * v->values[k];
            const double turned = re * c - im * s;
            im = re * s + im * c;
            re = turned;
        }
        tmi_sum_add(&sum, part);
    }
    return tmi_sum_value(sum);
}

static double skewed_waves(const tmi_spectrum *v, double step, double y)
{
    tmi_sum sum = {0};
    for (size_t k = 0; k < v->terms; k++) {
        const double t = step * ((double)k + 0.5);
        tmi_sum_add(&sum, sin(t * y + v->third * t * t * t / 6) * v->values[k]);
    }
    return tmi_sum_value(sum);
}

double tmi_spectrum_beyond(const tmi_spectrum *v, double x)
{
    if (v->terms == 0) return x < 0 ? 1 : 0;
    double y = x / v->unit;
    if (v->alternate && fabs(y) > v->length / 2) return y > 0 ? far_tail(v, y) : 1 - far_tail(v, -y);
    if (fabs(y) > v->length / 2) return y > 0 ? 0 : 1;
    const double step = 2 * M_PI / v->length, turn = step * y, end = (double)v->terms;
    double sum = v->third == 0 ? waves(v, turn) : skewed_waves(v, step, y);
    if (v->third == 0 && fabs(end * turn) > 10) sum += cos(end * turn) * v->end / (end * 2 * sin(turn / 2));
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
