/* Between two cuts a distribution function is known to ascend and nothing else. What it may be there is judged by the bins
 * around:
 *
 *  - Its density changes inside the bin at most as fast as between this bin and those beside it. If the density falls at most
 *    by k per point, the function is at most k t (w - t)/2 above the chord, at a distance t from the end of a bin of width w;
 *    if it rises, as much below.
 *  - Where numbers pile up, masses of bins do not follow those of their neighbours. They are compared with the cubic through
 *    the densities of the two bins on either side, which hardly differs from a smooth density; beyond what sampling explains,
 *    twice the root mean square of the differences nearby, or twice that of the bin itself where it is more, is allowed for at
 *    every place of the bin.
 *
 * Nothing leads out of the bin, since the function ascends: where the allowance is large, the ends are the cuts themselves. */
#include "survey/curve.h"

#include <math.h>

#define BESIDE 2      /* bins on either side that a mass is compared with */
#define NEARBY 3      /* bins on either side whose masses are compared */
#define EXCUSED 1.5   /* times the variance that sampling gives to masses, of their mean square */
#define EXCUSED_ONE 4 /* of a single one */
#define ROUGH 2       /* times the root mean square */

static double width_of(const tmi_cdf *c, size_t bin) { return c->points[bin + 1].place - c->points[bin].place; }

static double mass_of(const tmi_cdf *c, size_t bin) { return c->points[bin + 1].share - c->points[bin].share; }

static double middle_of(const tmi_cdf *c, size_t bin) { return (c->points[bin].place + c->points[bin + 1].place) / 2; }

/* By how much the density rises per point from one bin to the next. */
static double rise_after(const tmi_cdf *c, size_t bin)
{
    return (mass_of(c, bin + 1) / width_of(c, bin + 1) - mass_of(c, bin) / width_of(c, bin)) /
           (middle_of(c, bin + 1) - middle_of(c, bin));
}

/* The sampling variance of a mass is this times the mass: 1/n of n rows drawn at random. */
static double variance_per_mass(const tmi_cdf *c, size_t bin)
{
    const tmi_cdf_point *p = &c->points[bin > 0 ? bin : 1];
    const double spread = p->share * (1 - p->share);
    return spread > 0 ? p->sampling / spread : 0;
}

/* The square of what the mass of a bin differs from the cubic, less what sampling explains; in the unit of a single mass. */
static double excess_of(const tmi_cdf *c, size_t bin, double excused)
{
    double difference = mass_of(c, bin), masses = difference, factor = 1;
    for (size_t a = bin - BESIDE; a <= bin + BESIDE; a++) {
        double weight = width_of(c, bin) / width_of(c, a);
        if (a == bin) continue;
        for (size_t b = bin - BESIDE; b <= bin + BESIDE; b++)
            if (b != bin && b != a) weight *= (middle_of(c, bin) - middle_of(c, b)) / (middle_of(c, a) - middle_of(c, b));
        difference -= weight * mass_of(c, a);
        masses += weight * weight * mass_of(c, a);
        factor += weight * weight;
    }
    return (difference * difference - excused * masses) / factor;
}

/* What is allowed for piles in a bin; everything where there are too few bins to tell. */
static double roughness(const tmi_cdf *c, size_t bin)
{
    const size_t bins = c->count - 1, first = bin > BESIDE + NEARBY ? bin - NEARBY : BESIDE;
    const double per_mass = variance_per_mass(c, bin);
    double sum = 0, own = 0;
    size_t count = 0;
    for (size_t b = first; b <= bin + NEARBY && b + BESIDE < bins; b++, count++) {
        sum += excess_of(c, b, EXCUSED * per_mass);
        if (b == bin) own = excess_of(c, b, EXCUSED_ONE * per_mass);
    }
    return count > 0 ? ROUGH * sqrt(fmax(fmax(sum / (double)count, own), 0)) : 1;
}

/* How far the function may be above and below the chord: `up` or `down` times u (1 - u) at the part u of the bin, and
 * `everywhere`. */
typedef struct allowance {
    double up, down, everywhere;
} allowance;

static allowance allow(const tmi_cdf *c, size_t bin)
{
    const double w = width_of(c, bin);
    if (w <= 1) return (allowance){0}; /* one grid point: nothing is between */
    const double before = bin > 0 ? rise_after(c, bin - 1) : 0, after = bin + 2 < c->count ? rise_after(c, bin) : 0;
    return (allowance){.up = w * w / 2 * fmax(-fmin(before, after), 0),
                       .down = w * w / 2 * fmax(fmax(before, after), 0),
                       .everywhere = roughness(c, bin)};
}

/* The first part u of a bin at which rise u + bend u (1 - u) reaches a gap that is at most `rise`. */
static double first_part(double rise, double bend, double gap)
{
    if (gap <= 0) return 0;
    const double slope = rise + bend;
    return fmin(2 * gap / (slope + sqrt(fmax(slope * slope - 4 * bend * gap, 0))), 1);
}

static void invert(double *lower, double *upper, const tmi_cdf *c, double q, bool allowing)
{
    const tmi_cdf_point *p = c->points;
    const size_t last = c->count - 1;
    size_t i = 0, k = last;
    while (i + 1 < last && p[i + 1].upper < q) i++; /* q is rejected at the i-th cut and those before it */
    *lower = p[0].place;
    if (i > 0) {
        const allowance a = allowing ? allow(c, i) : (allowance){0};
        const double part = first_part(p[i + 1].upper - p[i].upper, a.up, q - p[i].upper - a.everywhere);
        *lower = fmax(p[i].place + part * width_of(c, i), nextafter(p[i].place, INFINITY)); /* behind the cut, not at it */
    }
    while (k > 1 && p[k - 1].lower > q) k--; /* and at the k-th and those after it */
    *upper = p[last].place;
    if (k < last) {
        const allowance a = allowing ? allow(c, k - 1) : (allowance){0};
        *upper = p[k].place - first_part(p[k].lower - p[k - 1].lower, a.down, p[k].lower - q - a.everywhere) * width_of(c, k - 1);
    }
}

void tmi_cdf_invert(double *lower, double *upper, const tmi_cdf *c, double q) { invert(lower, upper, c, q, false); }

void tmi_cdf_interval(double *lower, double *upper, const tmi_cdf *c, double q) { invert(lower, upper, c, q, true); }
