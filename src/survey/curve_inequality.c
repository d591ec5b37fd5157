#include "survey/curve_inequality.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"

#define PIECES 16 /* of a bin */

/* Rows of a bin that are taken as one value. Pieces ascend. */
typedef struct piece {
    double place, value, mass;
    double influence;
} piece;

typedef struct pieces {
    const tmi_cdf *curve;
    piece *list; /* PIECES of each bin */
    size_t count;
    double mean;
} pieces;

void tmi_inequality_clear(tmi_inequality *m)
{
    tmi_free(m->influence);
    *m = (tmi_inequality){0};
}

/* ---- the last bin ---- */

#define STEEPEST 20.0
#define TAIL 0.02 /* of the rows: where the power is taken from, at least */

/* The integral of t^(-a-1) from x to b. */
static double power_above(double a, double x, double b) { return fabs(a) < 1e-9 ? log(b / x) : (pow(x, -a) - pow(b, -a)) / a; }

/* The a with which the part of the rows above x0 that is above x1 is `part`; -1: uniform. Steeper laws have less there. */
static double power_of_tail(double x0, double x1, double b, double part)
{
    double low = -1, high = STEEPEST;
    if (part >= power_above(low, x1, b) / power_above(low, x0, b)) return low;
    for (int i = 0; i < 60; i++) {
        const double a = (low + high) / 2;
        if (power_above(a, x1, b) / power_above(a, x0, b) > part) low = a;
        else high = a;
    }
    return (low + high) / 2;
}

static void set_tail(piece *list, const tmi_cdf *c)
{
    const size_t last = c->count - 2;
    const double x1 = c->points[last].place, b = c->points[last + 1].place, above = 1 - c->points[last].share;
    size_t k = last;
    while (k > 1 && (k == last || 1 - c->points[k].share < fmax(TAIL, 2 * above))) k--;
    const double x0 = c->points[k].place, all = 1 - c->points[k].share;
    if (!(x0 > 0) || k == last || !(all > 0) || b - x1 <= 1) return; /* they stay uniform, or are one point */
    const double a = power_of_tail(x0, x1, b, above / all);
    for (size_t j = 0; j < PIECES; j++) { /* the middles of parts with equal numbers of rows */
        const double part = ((double)j + 0.5) / PIECES;
        list[j].place = fabs(a) < 1e-9 ? x1 * pow(b / x1, part) : pow(pow(x1, -a) + part * (pow(b, -a) - pow(x1, -a)), -1 / a);
    }
}

/* ---- pieces ---- */

static double secant(const tmi_cdf *c, size_t bin)
{
    const tmi_cdf_point *from = &c->points[bin], *to = from + 1;
    return (to->share - from->share) / (to->place - from->place);
}

/* The slope of the distribution function at a point: the weighted harmonic mean of those of the bins beside it, so that the cubic
 * between two points ascends; at the first point that of its bin. */
static double slope_at(const tmi_cdf *c, size_t point)
{
    if (point == 0) return secant(c, 0);
    const double before = secant(c, point - 1), after = secant(c, point), h = c->points[point].place - c->points[point - 1].place,
                 k = c->points[point + 1].place - c->points[point].place;
    if (!(before > 0) || !(after > 0)) return 0;
    return 3 * (h + k) / ((2 * k + h) / before + (k + 2 * h) / after);
}

/* The part of a bin's rows in the first part u of its width. */
static double part_below(const tmi_cdf *c, size_t bin, double u)
{
    const double width = c->points[bin + 1].place - c->points[bin].place, all = c->points[bin + 1].share - c->points[bin].share;
    if (bin + 2 == c->count || !(all > 0)) return u;
    const double s0 = slope_at(c, bin) * width / all, s1 = slope_at(c, bin + 1) * width / all;
    return u * u * (3 - 2 * u) + s0 * u * (1 - u) * (1 - u) - s1 * u * u * (1 - u);
}

static tamis_status pieces_make(pieces *p, const tmi_cdf *c, tamis_error *err)
{
    *p = (pieces){.curve = c, .count = (c->count - 1) * PIECES};
    p->list = tmi_alloc(p->count, sizeof *p->list);
    if (!p->list) return tmi_fail_memory(err);
    for (size_t i = 0; i < p->count; i++) {
        const tmi_cdf_point *from = &c->points[i / PIECES], *to = from + 1;
        const double part = to->place - from->place > 1 ? ((double)(i % PIECES) + 0.5) / PIECES : 0.5; /* a bin of one point */
        p->list[i].place = from->place + (to->place - from->place) * part;
        p->list[i].mass = (to->share - from->share) * (part_below(c, i / PIECES, (double)(i % PIECES + 1) / PIECES) -
                                                       part_below(c, i / PIECES, (double)(i % PIECES) / PIECES));
    }
    set_tail(p->list + p->count - PIECES, c);
    for (size_t i = 0; i < p->count; i++) { /* point j covers [j, j + 1), with its value in the middle */
        p->list[i].value = c->step * fmax(p->list[i].place - 0.5, c->points[0].place);
        p->mean += p->list[i].mass * p->list[i].value;
    }
    return TAMIS_OK;
}

/* ---- measures ---- */

/* 2/mean times the mean of x F(x), less 1; F(x) counts half of the piece itself. */
static double gini(pieces *p)
{
    double below = 0, product = 0, sum = 0;
    for (size_t i = 0; i < p->count; i++) {
        piece *x = &p->list[i];
        product += x->mass * x->value * (below + x->mass / 2);
        below += x->mass;
    }
    below = 0;
    for (size_t i = 0; i < p->count; i++) {
        piece *x = &p->list[i];
        const double above = p->mean - sum - x->mass * x->value / 2;
        x->influence = 2 / p->mean * (x->value * (below + x->mass / 2) + above - 2 * product) -
                       2 * product / (p->mean * p->mean) * (x->value - p->mean);
        below += x->mass;
        sum += x->mass * x->value;
    }
    return 2 * product / p->mean - 1;
}

/* The sum of the values of the lowest part of the rows, per row of all, and the value at its end. */
static double lowest(double *end, const pieces *p, double part)
{
    double below = 0, sum = 0;
    *end = p->list[0].value;
    for (size_t i = 0; i < p->count && below < part; i++) {
        const double mass = fmin(p->list[i].mass, part - below);
        sum += mass * p->list[i].value;
        if (mass > 0) *end = p->list[i].value;
        below += p->list[i].mass;
    }
    return sum;
}

static double s80s20(pieces *p)
{
    double first, last;
    const double low = lowest(&first, p, 0.2), high = p->mean - lowest(&last, p, 0.8), ratio = high / low;
    for (size_t i = 0; i < p->count; i++) {
        piece *x = &p->list[i];
        const double of_high = fmax(x->value - last, 0) + 0.2 * last - high,
                     of_low = fmin(x->value - first, 0) + 0.2 * first - low;
        x->influence = (of_high - ratio * of_low) / low;
    }
    return ratio;
}

#define FAR 0.005     /* densities are not taken nearer to the ends */
#define ROUNDING 1e-9 /* of a product of grid points: a line on a point is not above it */

/* With more rows below the median, the line is lower. */
tmi_group_poverty tmi_cdf_poverty(const tmi_cdf *group, const tmi_cdf *everybody, double line)
{
    const double median = tmi_cdf_inverse(everybody, 0.5), place = ceil(line * (ceil(median) - 1) - ROUNDING),
                 poor = tmi_cdf_share(group, place);
    const double at_line = tmi_cdf_density(group, fmin(fmax(poor, FAR), 1 - FAR)), at_median = tmi_cdf_density(everybody, 0.5);
    const double slope = isfinite(at_median) && isfinite(at_line) ? line * at_line / at_median : line;
    const double below = tmi_cdf_share(group, fmin(place, median));
    return (tmi_group_poverty){poor, slope, place, below - poor * tmi_cdf_share(group, median)};
}

static double poverty(pieces *p, double line)
{
    const tmi_group_poverty found = tmi_cdf_poverty(p->curve, p->curve, line);
    const double median = tmi_cdf_inverse(p->curve, 0.5);
    for (size_t i = 0; i < p->count; i++) {
        piece *x = &p->list[i];
        x->influence = (x->place < found.place) - found.value - found.slope * ((x->place < median) - 0.5);
    }
    return found.value;
}

/* With more rows below a quartile it is lower, by one over the density there. */
static double iqr(pieces *p)
{
    const tmi_cdf *c = p->curve;
    const double lower = tmi_cdf_inverse(c, 0.25), upper = tmi_cdf_inverse(c, 0.75),
                 at_lower = c->step / tmi_cdf_density(c, 0.25), at_upper = c->step / tmi_cdf_density(c, 0.75);
    for (size_t i = 0; i < p->count; i++) {
        piece *x = &p->list[i];
        x->influence = at_upper * (0.75 - (x->place < upper)) - at_lower * (0.25 - (x->place < lower));
    }
    return tmi_cdf_value(c, upper) - tmi_cdf_value(c, lower);
}

/* ---- influence by bin ---- */

static void set_influence(tmi_inequality *m, const pieces *p)
{
    double all = 0, between = 0, mean = 0;
    for (size_t b = 0; b < p->count / PIECES; b++) {
        const piece *x = &p->list[b * PIECES];
        double mass = 0, sum = 0, plain = 0;
        for (size_t j = 0; j < PIECES; j++) {
            mass += x[j].mass;
            sum += x[j].mass * x[j].influence;
            plain += x[j].influence / PIECES;
            all += x[j].mass * x[j].influence * x[j].influence;
        }
        m->influence[b] = mass > 0 ? sum / mass : plain;
        between += mass * m->influence[b] * m->influence[b];
        mean += mass * m->influence[b];
    }
    all -= mean * mean;
    between -= mean * mean;
    m->within = between > 0 ? fmax(all / between, 1) : 1;
}

tamis_status tmi_inequality_make(tmi_inequality *m, const tmi_cdf *c, tmi_measure_kind kind, double line, tamis_error *err)
{
    pieces p = {0};
    double end;
    tamis_status status;
    *m = (tmi_inequality){.influence = tmi_alloc(c->count - 1, sizeof *m->influence)};
    if (!m->influence) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(pieces_make(&p, c, err));
    if (kind == TMI_MEASURE_GINI && !(p.mean > 0)) m->reason = "the mean is not above 0";
    else if (kind == TMI_MEASURE_S80S20 && !(lowest(&end, &p, 0.2) > 0))
        m->reason = "the total of the lower fifth is not above 0";
    if (m->reason) goto done;
    m->value = kind == TMI_MEASURE_GINI     ? gini(&p)
               : kind == TMI_MEASURE_S80S20 ? s80s20(&p)
               : kind == TMI_MEASURE_IQR    ? iqr(&p)
                                            : poverty(&p, line);
    set_influence(m, &p);

done:
    tmi_free(p.list);
    if (status != TAMIS_OK) tmi_inequality_clear(m);
    return status;
}
