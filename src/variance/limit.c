#include "variance/limit.h"

#include <math.h>

#include "base/memory.h"
#include "variance/predictive.h"

/* Sizes of the grids: of ln d, of centres, of widths about a centre, and of the cells of an integral. */
enum { GRID = 64, CENTRES = 22, WIDTHS = 2, CELLS = 12 };
static const double widths[WIDTHS] = {0.8, 1.3}; /* about the centre of a statistic */
#define APART 0.7                                /* the standard deviation of statistics' centres about that of their family */
#define LEAST_EFFECT 0.08
#define MOST_EFFECT 600
#define LEAST_CENTRE 0.3
#define MOST_CENTRE 60
#define CENTRE_SPREAD 1.2
#define OUTLIERS 0.05
#define LEAST_OUTLIER 0.3
#define MOST_OUTLIER 10 /* times what clusters of equal rows can do: no outlier has a larger design effect */

/* Cells of a standard normal number, and how likely each is; the outer ones have the tails. */
static const double edges[CELLS + 1] = {-3, -2.5, -2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2, 2.5, 3};
static const double masses[CELLS] = {0.00620966532577613, 0.01654046656240210, 0.04405706932067886, 0.09184805266259900,
                                     0.14988228479452986, 0.19146246127401311, 0.19146246127401311, 0.14988228479452986,
                                     0.09184805266259900, 0.04405706932067886, 0.01654046656240210, 0.00620966532577613};

#define GRID_DEGREES 600 /* a chi-squared variable with so many degrees of freedom varies as much as d does between two values */
#define FAR 30           /* scales of the noise: what is measured is never farther from what is possible */
#define NARROW 1e-4      /* scales of the noise: its law is straight in a cell that is so narrow */

/* Rows of a cluster that are all alike in about one in twenty, of totals, or in one in fifty, of means. */
static const double alike[TMI_EFFECT_FAMILIES] = {[TMI_EFFECTS_OF_TOTALS] = 0.05, [TMI_EFFECTS_OF_MEANS] = 0.02};

static double size_of(const tmi_cluster_guess *g) { return fmax(g->rows, 1) * (1 + g->cv * g->cv); }

double tmi_expected_design_effect(tmi_effect_family family, const tmi_cluster_guess *g)
{
    return (g->narrower > 1 ? 1 : 1.3) * (1 + (size_of(g) - 1) * alike[family]);
}

static void set_effects(double effects[GRID], const tmi_cluster_guess *g)
{
    for (size_t i = 0; i < GRID; i++)
        effects[i] = LEAST_EFFECT / g->smaller * pow(MOST_EFFECT / LEAST_EFFECT, (double)i / (GRID - 1));
}

static double centre_at(size_t k, const tmi_cluster_guess *g)
{
    return LEAST_CENTRE / g->smaller * pow(MOST_CENTRE / LEAST_CENTRE, (double)k / (CENTRES - 1));
}

/* ---- likelihoods ---- */

/* The law of the noise and its integral from x on, of scale 1, both relative to the law at 0. */
static double noise_law(double x, bool gaussian) { return exp(gaussian ? -x * x / 2 : -fabs(x)); }

static double noise_tail(double x, bool gaussian)
{
    if (gaussian) return sqrt(acos(-1) / 2) * erfc(x / sqrt(2));
    return x >= 0 ? exp(-x) : 2 - exp(x);
}

/* The ends of the cells of what would be measured without noise, where the true value has the design effect d. Its square is a
 * chi-squared variable over its degrees of freedom k, which is about (1 - c + z sqrt(c))^3, c = 2/(9k), of a standard normal
 * number z (Wilson and Hilferty 1931). The values of d on the grid are as far apart as such a variable with GRID_DEGREES varies:
 * that is added to it, since a measurement that is known more precisely would find one value of d, or none. */
static void set_ends(double ends[CELLS + 1], const tmi_measured_error *n, double effect)
{
    const double terms = n->power == 2 ? n->rows : n->rows / effect, degrees = fmax(fmin(n->degrees, terms), 1);
    const double c = 2.0 / 9 * (1 / degrees + 1.0 / GRID_DEGREES), variance = n->squares * effect;
    for (size_t j = 0; j <= CELLS; j++) {
        const double root = fmax(1 - c + edges[j] * sqrt(c), 0), part = root * root * root;
        ends[j] = n->power == 2 ? variance * part : sqrt(variance * part);
    }
}

/* How likely a measurement is if what would be measured without noise is spread evenly within each cell: exact, however narrow
 * the noise is beside a cell. */
static double likelihood_of(double measured, const tmi_measured_error *n, const double ends[CELLS + 1])
{
    const double side = measured > ends[CELLS] ? -1 : 1; /* so that tails far out are small */
    double sum = 0, x = side * (ends[0] - measured) / n->scale, tail = noise_tail(x, n->gaussian);
    for (size_t j = 0; j < CELLS; j++) {
        const double next = side * (ends[j + 1] - measured) / n->scale, next_tail = noise_tail(next, n->gaussian);
        sum += masses[j] * (fabs(next - x) < NARROW ? noise_law((x + next) / 2, n->gaussian) : (tail - next_tail) / (next - x));
        x = next;
        tail = next_tail;
    }
    return sum;
}

/* The likelihood over the grid, relative to its largest value, so that some of it is always above 0. */
static void set_likelihoods(double *likelihood, const tmi_measured_error *n, const double effects[GRID])
{
    double ends[GRID][CELLS + 1], largest = 0;
    for (size_t i = 0; i < GRID; i++) set_ends(ends[i], n, effects[i]);
    const double low = ends[0][0] - FAR * n->scale, high = ends[GRID - 1][CELLS] + FAR * n->scale;
    for (size_t i = 0; i < GRID; i++) {
        likelihood[i] = likelihood_of(fmin(fmax(n->measured, low), high), n, ends[i]);
        largest = fmax(largest, likelihood[i]);
    }
    for (size_t i = 0; i < GRID; i++) likelihood[i] /= largest;
}

/* ---- statistics and families ---- */

/* The grid of d; prior masses on it for each centre and width of a statistic, and of statistics' centres for each of a
 * family's. */
typedef struct priors {
    double effects[GRID];
    double numbers[CENTRES * WIDTHS][GRID];
    double statistics[CENTRES][CENTRES];
    double family[CENTRES]; /* logarithms of the masses of a family's centres */
} priors;

static void set_priors(priors *p, tmi_effect_family which, const tmi_cluster_guess *g)
{
    const double expected = log(tmi_expected_design_effect(which, g)), most = log(MOST_OUTLIER * size_of(g));
    double logs[GRID];
    bool outlier[GRID];
    size_t flat = 0;
    for (size_t i = 0; i < GRID; i++) {
        logs[i] = log(p->effects[i]);
        outlier[i] = p->effects[i] >= LEAST_OUTLIER / g->smaller && logs[i] <= most;
        flat += outlier[i];
    }
    for (size_t k = 0; k < CENTRES * WIDTHS; k++) {
        const double centre = log(centre_at(k / WIDTHS, g)), width = widths[k % WIDTHS] / g->narrower;
        double sum = 0;
        for (size_t i = 0; i < GRID; i++) {
            const double x = (logs[i] - centre) / width;
            sum += p->numbers[k][i] = exp(-x * x / 2);
        }
        for (size_t i = 0; i < GRID; i++)
            p->numbers[k][i] = (1 - OUTLIERS) * p->numbers[k][i] / sum + (outlier[i] ? OUTLIERS / (double)flat : 0);
    }
    for (size_t f = 0; f < CENTRES; f++) {
        const double centre = log(centre_at(f, g)), away = (centre - expected) * g->narrower / CENTRE_SPREAD;
        double sum = 0;
        p->family[f] = -away * away / 2;
        for (size_t k = 0; k < CENTRES; k++) {
            const double x = (log(centre_at(k, g)) - centre) * g->narrower / APART;
            sum += p->statistics[f][k] = exp(-x * x / 2);
        }
        for (size_t k = 0; k < CENTRES; k++) p->statistics[f][k] /= sum;
    }
}

static double evidence(const double *prior, const double *likelihood)
{
    double sum = 0;
    for (size_t i = 0; i < GRID; i++) sum += prior[i] * likelihood[i];
    return sum;
}

/* How likely a statistic's numbers are for each of its centres and widths, relative to the largest. */
static void set_evidence(double *all, const priors *p, const double *likelihoods, size_t count)
{
    double most = -INFINITY;
    for (size_t k = 0; k < CENTRES * WIDTHS; k++) {
        all[k] = 0;
        for (size_t i = 0; i < count; i++) all[k] += log(evidence(p->numbers[k], likelihoods + i * GRID));
        most = fmax(most, all[k]);
    }
    for (size_t k = 0; k < CENTRES * WIDTHS; k++) all[k] = exp(all[k] - most);
}

/* How likely a statistic's numbers are for one centre of its family: the mean over the statistic's own centres and widths. */
static double evidence_given(const double *all, const priors *p, size_t f)
{
    double sum = 0;
    for (size_t k = 0; k < CENTRES * WIDTHS; k++) sum += p->statistics[f][k / WIDTHS] * all[k];
    return sum;
}

static void normalise(double *x, size_t count)
{
    double most = -INFINITY, sum = 0;
    for (size_t i = 0; i < count; i++) most = fmax(most, x[i]);
    for (size_t i = 0; i < count; i++) sum += x[i] = exp(x[i] - most);
    for (size_t i = 0; i < count; i++) x[i] /= sum;
}

/* The posterior of a number's d, where the centres and widths of its statistic have these weights. */
static void set_posterior(double *posterior, const priors *p, const double *weights, const double *likelihood)
{
    for (size_t i = 0; i < GRID; i++) posterior[i] = 0;
    for (size_t k = 0; k < CENTRES * WIDTHS; k++) {
        const double part = weights[k] / evidence(p->numbers[k], likelihood);
        for (size_t i = 0; i < GRID; i++) posterior[i] += part * p->numbers[k][i] * likelihood[i];
    }
}

/* ---- half-widths ---- */

static double variance_at(double effect, const tmi_measured_error *n, const tmi_cluster_guess *g)
{
    return n->squares * ((1 - g->drawn) * effect + g->drawn * fmin(effect, g->within));
}

/* Student's margin over the normal one, by the expansion of Cornish and Fisher: the factor by which every interval of a survey
 * with these degrees of freedom is wider than a normal one. The posterior knows how uncertain a variance is, but not that
 * estimates and their standard errors depend on each other where PSUs are few. */
static double student_factor(double z, double degrees)
{
    const double u = z * z, first = (u + 1) / 4, second = (5 * u * u + 16 * u + 3) / 96;
    return 1 + first / degrees + second / (degrees * degrees);
}

/* A standard error that is measured to within half of itself is not lowered because those of other numbers are smaller; of one
 * that is known less well a part is kept, down to nothing where it may as well be 0. Half of what is judged midway between what
 * was measured and what the posterior takes it for: what was measured may be large because its noise is. */
static double kept(const tmi_measured_error *n, double effect)
{
    const double sd = n->scale * (n->gaussian ? 1 : sqrt(2)), variance = n->squares * effect, measured = fmax(n->measured, 0);
    const double taken = sqrt(measured * (n->power == 2 ? variance : sqrt(variance))) * n->power;
    const double least = sd < taken ? measured * fmin(2 - 2 * sd / taken, 1) : 0;
    return n->power == 2 ? least : least * least;
}

static tmi_error_limit limit_of(const double *posterior, const priors *p, const tmi_measured_error *n, const tmi_cluster_guess *g,
                                double z)
{
    const double wider = pow(student_factor(z, n->degrees), 2);
    double deviations[GRID], effect = 0;
    for (size_t i = 0; i < GRID; i++) {
        deviations[i] = sqrt(wider * variance_at(p->effects[i], n, g) + n->noise);
        effect += posterior[i] * p->effects[i];
    }
    const double h = tmi_predictive_half_width(posterior, deviations, GRID, z, n->confidence);
    const double own = wider * variance_at(kept(n, effect) / n->squares, n, g);
    return (tmi_error_limit){fmax(h * h / (z * z) - n->noise, own), effect};
}

/* The numbers of one statistic follow each other, from `first` on. */
static size_t end_of(const tmi_measured_error *numbers, size_t count, size_t first)
{
    size_t end = first;
    while (end < count && numbers[end].statistic == numbers[first].statistic) end++;
    return end;
}

/* Sets the weights of a family's centres, from all of its statistics. */
static void weigh_family(priors *p, tmi_effect_family which, const tmi_measured_error *numbers, const double *likelihoods,
                         size_t count)
{
    for (size_t first = 0, end; first < count; first = end) {
        double all[CENTRES * WIDTHS];
        end = end_of(numbers, count, first);
        if (numbers[first].family != which) continue;
        set_evidence(all, p, likelihoods + first * GRID, end - first);
        for (size_t f = 0; f < CENTRES; f++) p->family[f] += log(evidence_given(all, p, f));
    }
    normalise(p->family, CENTRES);
}

static void limit_family(tmi_error_limit *limits, const priors *p, tmi_effect_family which, const tmi_measured_error *numbers,
                         const double *likelihoods, size_t count, const tmi_cluster_guess *guess)
{
    for (size_t first = 0, end; first < count; first = end) {
        double all[CENTRES * WIDTHS], weights[CENTRES * WIDTHS] = {0}, posterior[GRID], z = 0;
        end = end_of(numbers, count, first);
        if (numbers[first].family != which) continue;
        set_evidence(all, p, likelihoods + first * GRID, end - first);
        for (size_t f = 0; f < CENTRES; f++) {
            const double part = p->family[f] / evidence_given(all, p, f);
            for (size_t k = 0; k < CENTRES * WIDTHS; k++) weights[k] += part * p->statistics[f][k / WIDTHS] * all[k];
        }
        for (size_t i = first; i < end; i++) {
            set_posterior(posterior, p, weights, likelihoods + i * GRID);
            if (i == first || numbers[i].confidence != numbers[i - 1].confidence) z = tmi_predictive_z(numbers[i].confidence);
            limits[i] = limit_of(posterior, p, &numbers[i], guess, z);
        }
    }
}

tamis_status tmi_error_limits(tmi_error_limit *limits, const tmi_measured_error *numbers, size_t count,
                              const tmi_cluster_guess *guess, tamis_error *err)
{
    double *likelihoods = tmi_alloc(count, GRID * sizeof *likelihoods);
    priors *p = tmi_alloc(1, sizeof *p);
    tamis_status status = TAMIS_OK;
    if (!likelihoods || !p) TMI_TRY(tmi_fail_memory(err));
    set_effects(p->effects, guess);
    for (size_t i = 0; i < count; i++) set_likelihoods(likelihoods + i * GRID, &numbers[i], p->effects);
    for (size_t f = 0; f < TMI_EFFECT_FAMILIES; f++) {
        set_priors(p, (tmi_effect_family)f, guess);
        weigh_family(p, (tmi_effect_family)f, numbers, likelihoods, count);
        limit_family(limits, p, (tmi_effect_family)f, numbers, likelihoods, count, guess);
    }

done:
    tmi_free(likelihoods);
    tmi_free(p);
    return status;
}

/* ---- what is expected ---- */

/* What noise can do to the measured errors: every second one is too large by as much as noise is in the middle, the others too
 * small, or the other way round. */
#define SIDES 2
#define MIDDLE 0.69 /* of the scale: the median of the absolute value, of both laws */

tamis_status tmi_expected_error_limits(double *variances, tmi_measured_error *numbers, size_t count,
                                       const tmi_cluster_guess *guess, tamis_error *err)
{
    tmi_error_limit *found = tmi_alloc(SIDES * count, sizeof *found);
    tamis_status status = TAMIS_OK;
    if (!found) TMI_TRY(tmi_fail_memory(err));
    for (size_t side = 0; side < SIDES; side++) {
        for (size_t k = 0; k < count; k++) {
            const double away = MIDDLE * numbers[k].scale * ((k + side) % 2 == 0 ? 1 : -1);
            numbers[k].measured += side == 0 ? away : 2 * away; /* from the other side */
        }
        TMI_TRY(tmi_error_limits(found + side * count, numbers, count, guess, err));
    }
    for (size_t k = 0; k < count; k++) variances[k] = sqrt(found[k].variance * found[count + k].variance);

done:
    tmi_free(found);
    return status;
}
