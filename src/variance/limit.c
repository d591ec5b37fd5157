#include "variance/limit.h"

#include <math.h>

#include "base/memory.h"

/* Sizes of the grids: of ln d, of centres, of widths about a centre, and of the nodes of an integral. */
enum { GRID = 64, CENTRES = 22, WIDTHS = 2, NODES = 5 };
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

/* Nodes and weights of Gauss and Hermite, for the mean over a standard normal number. */
static const double nodes[NODES] = {-2.8569700138728056, -1.3556261799742659, 0, 1.3556261799742659, 2.8569700138728056};
static const double masses[NODES] = {0.011257411327720691, 0.22207592200561266, 0.53333333333333333, 0.22207592200561266,
                                     0.011257411327720691};

/* Rows of a cluster that are all alike in about one in twenty, of totals, or in one in fifty, of means. */
static const double alike[TMI_EFFECT_FAMILIES] = {[TMI_EFFECTS_OF_TOTALS] = 0.05, [TMI_EFFECTS_OF_MEANS] = 0.02};

static double size_of(const tmi_cluster_guess *g) { return fmax(g->rows, 1) * (1 + g->cv * g->cv); }

double tmi_expected_design_effect(tmi_effect_family family, const tmi_cluster_guess *g)
{
    return 1.3 * (1 + (size_of(g) - 1) * alike[family]);
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

/* The likelihood over the grid, relative to its largest value, so that some of it is always above 0. */
static void set_likelihoods(double *likelihood, const tmi_measured_error *n, const double effects[GRID])
{
    double least = INFINITY, distances[GRID][NODES];
    for (size_t i = 0; i < GRID; i++) {
        const double terms = n->power == 2 ? n->rows : n->rows / effects[i];
        const double degrees = fmax(fmin(n->degrees, terms), 1);
        for (size_t j = 0; j < NODES; j++) {
            const double s = sqrt(n->squares * effects[i]) * fmax(1 + nodes[j] / sqrt(2 * degrees), 0);
            const double x = fabs(n->measured - (n->power == 2 ? s * s : s)) / n->scale;
            distances[i][j] = n->gaussian ? x * x / 2 : x;
            least = fmin(least, distances[i][j]);
        }
    }
    for (size_t i = 0; i < GRID; i++) {
        likelihood[i] = 0;
        for (size_t j = 0; j < NODES; j++) likelihood[i] += masses[j] * exp(least - distances[i][j]);
    }
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
        const double centre = log(centre_at(k / WIDTHS, g)), width = widths[k % WIDTHS];
        double sum = 0;
        for (size_t i = 0; i < GRID; i++) {
            const double x = (logs[i] - centre) / width;
            sum += p->numbers[k][i] = exp(-x * x / 2);
        }
        for (size_t i = 0; i < GRID; i++)
            p->numbers[k][i] = (1 - OUTLIERS) * p->numbers[k][i] / sum + (outlier[i] ? OUTLIERS / (double)flat : 0);
    }
    for (size_t f = 0; f < CENTRES; f++) {
        const double centre = log(centre_at(f, g)), away = (centre - expected) / CENTRE_SPREAD;
        double sum = 0;
        p->family[f] = -away * away / 2;
        for (size_t k = 0; k < CENTRES; k++) {
            const double x = (log(centre_at(k, g)) - centre) / APART;
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

/* The probability that an error is within h, which is above 0, and its derivative. */
static double covered(double *slope, double h, const double *posterior, const double *deviations)
{
    double sum = 0;
    *slope = 0;
    for (size_t i = 0; i < GRID; i++) {
        const double x = deviations[i] > 0 ? h / (sqrt(2) * deviations[i]) : INFINITY;
        sum += posterior[i] * erf(x);
        if (deviations[i] > 0) *slope += posterior[i] * exp(-x * x) * (2 / sqrt(acos(-1))) * x / h;
    }
    return sum;
}

/* The z with P(|Z| <= z) = confidence. */
static double normal_margin(double confidence)
{
    double low = 0, high = 40;
    for (int i = 0; i < 80; i++) {
        const double middle = (low + high) / 2;
        if (erf(middle / sqrt(2)) < confidence) low = middle;
        else high = middle;
    }
    return high;
}

/* Student's margin over the normal one, by the expansion of Cornish and Fisher: the factor by which every interval of a survey
 * with these degrees of freedom is wider than a normal one. The posterior knows how uncertain a variance is, but not that
 * estimates and their standard errors depend on each other where PSUs are few. */
static double student_factor(double z, double degrees)
{
    const double u = z * z, first = (u + 1) / 4, second = (5 * u * u + 16 * u + 3) / 96;
    return 1 + first / degrees + second / (degrees * degrees);
}

/* A standard error that is measured to within half of itself is not lowered because those of other numbers are smaller. */
static bool is_known(const tmi_measured_error *n) { return n->scale * (n->gaussian ? 1 : sqrt(2)) <= n->power * n->measured / 2; }

/* The half-width, between those of the least and of the largest variance: by Newton's steps, and by halves where these leave
 * what is known to contain it. */
static double half_width(const double *posterior, const double *deviations, double z, double confidence)
{
    double low = z * deviations[0], high = z * deviations[GRID - 1], h = (low + high) / 2;
    for (int i = 0; i < 100 && high - low > 1e-14 * high; i++) {
        double slope;
        const double off = covered(&slope, h, posterior, deviations) - confidence;
        *(off < 0 ? &low : &high) = h;
        const double next = slope > 0 ? h - off / slope : low; /* far out the slope is 0 in doubles */
        if (fabs(next - h) <= 1e-13 * h) return next;
        h = next > low && next < high ? next : (low + high) / 2;
    }
    return h;
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
    const double h = half_width(posterior, deviations, z, n->confidence);
    const double own = is_known(n)
                           ? wider * variance_at((n->power == 2 ? n->measured : n->measured * n->measured) / n->squares, n, g)
                           : 0;
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
            if (i == first || numbers[i].confidence != numbers[i - 1].confidence) z = normal_margin(numbers[i].confidence);
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
