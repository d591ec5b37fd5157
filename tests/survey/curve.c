/* Distribution functions at cuts, against other ways to compute the same: the min-max formula of isotonic regression,
 * intervals of single cuts, measures of the values themselves, and derivatives of measures by finite differences. */
#include "tests/test.h"

#include <math.h>
#include <stdlib.h>

#include "survey/curve_inequality.h"

/* A fixed sequence (Knuth's MMIX constants): the same on every machine, so that nothing here can fail by chance. */
static uint64_t seed = 17;

static double uniform(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return ((double)(seed >> 11) + 0.5) * 0x1p-53;
}

/* A grid from 0 to `points` - 1 with cuts, ascending. */
static void begin(tmi_cdf *c, const int *cuts, size_t count, int points)
{
    assert_int_equal(tmi_cdf_make(c, count, 0, points - 1, 1, NULL), TAMIS_OK);
    for (size_t k = 0; k < count; k++) c->points[k + 1] = (tmi_cdf_point){.place = cuts[k]};
}

#define CUTS 9

static void shares_ascend(void **state)
{
    (void)state;
    static const int cuts[CUTS] = {5, 9, 14, 20, 31, 40, 52, 70, 90};
    for (int round = 0; round < 200; round++) {
        tmi_cdf c;
        double y[CUTS], w[CUTS];
        begin(&c, cuts, CUTS, 100);
        for (size_t k = 0; k < CUTS; k++) {
            y[k] = c.points[k + 1].share = fmin(fmax((double)k / CUTS + 0.5 * (uniform() - 0.5), 0), 1);
            c.points[k + 1].sampling = 0.01 * uniform() + 1e-4;
            c.points[k + 1].noise = 0.01 * uniform();
            w[k] = 1 / (c.points[k + 1].sampling + c.points[k + 1].noise);
        }
        assert_int_equal(tmi_cdf_ascend(&c, NULL), TAMIS_OK);
        for (size_t k = 0; k < CUTS; k++) { /* the largest over a <= k of the least mean from a to b >= k */
            double best = -1;
            for (size_t a = 0; a <= k; a++) {
                double least = 2, sum = 0, all = 0;
                for (size_t b = a; b < CUTS; b++) {
                    sum += w[b] * y[b];
                    all += w[b];
                    if (b >= k) least = fmin(least, sum / all);
                }
                best = fmax(best, least);
            }
            if (!(fabs(c.points[k + 1].share - best) < 1e-12)) fail_msg("%zu: %g, not %g", k, c.points[k + 1].share, best);
        }
        tmi_cdf_clear(&c);
    }
}

static void inverses_and_intervals(void **state)
{
    (void)state;
    static const int cuts[CUTS] = {5, 9, 14, 20, 31, 40, 52, 70, 90};
    for (int round = 0; round < 50; round++) {
        tmi_cdf c;
        begin(&c, cuts, CUTS, 100);
        double share = 0;
        for (size_t k = 1; k <= CUTS; k++) {
            tmi_cdf_point *p = &c.points[k];
            share += 0.9 * (1 - share) * uniform() * 0.4;
            p->share = share;
            p->lower = fmax(share - 0.2 * uniform(), 0);
            p->upper = fmin(share + 0.2 * uniform(), 1);
        }
        for (int i = 1; i < 20; i++) {
            const double q = i / 20.0, place = tmi_cdf_inverse(&c, q);
            double lower, upper;
            assert_true(fabs(tmi_cdf_share(&c, place) - q) < 1e-9);
            tmi_cdf_invert(&lower, &upper, &c, q);
            assert_true(lower <= place && place <= upper);
            for (size_t k = 1; k <= CUTS; k++) { /* no cut outside the interval has q in its interval */
                const tmi_cdf_point *p = &c.points[k];
                if (p->lower <= q && q <= p->upper) assert_true(lower <= p->place && p->place <= upper);
            }
            if (c.points[1].upper >= q) assert_true(lower == 0);
            if (c.points[CUTS].lower <= q) assert_true(upper == 100);
            assert_true(tmi_cdf_value(&c, place) == fmin(ceil(place) - 1, 99));
        }
        tmi_cdf_clear(&c);
    }
}

/* ---- measures of values ---- */

#define POINTS 60

static double gini_of(const double *mass)
{
    double differences = 0, mean = 0, all = 0;
    for (int i = 0; i < POINTS; i++) {
        mean += mass[i] * i;
        all += mass[i];
        for (int j = 0; j < POINTS; j++) differences += mass[i] * mass[j] * abs(i - j);
    }
    return differences / (2 * mean * all);
}

static double s80s20_of(const double *mass)
{
    double below = 0, low = 0, high = 0, all = 0;
    for (int i = 0; i < POINTS; i++) all += mass[i];
    for (int i = 0; i < POINTS; i++) {
        const double from = below, to = below += mass[i] / all;
        low += i * fmax(fmin(to, 0.2) - fmin(from, 0.2), 0);
        high += i * fmax(fmax(to, 0.8) - fmax(from, 0.8), 0);
    }
    return high / low;
}

static void set_masses(tmi_cdf *c, const double *mass)
{
    double sum = 0, all = 0;
    for (int i = 0; i < POINTS; i++) all += mass[i];
    for (int i = 0; i + 1 < POINTS; i++) c->points[i + 1].share = (sum += mass[i]) / all;
}

/* With a cut before every point, measures are those of the points, and their influence is the derivative when one of the points
 * has more rows. */
static void measures_of_points(void **state)
{
    (void)state;
    int cuts[POINTS - 1];
    double mass[POINTS];
    tmi_cdf c;
    for (int i = 0; i + 1 < POINTS; i++) cuts[i] = i + 1;
    for (int i = 0; i < POINTS; i++) mass[i] = (i == 0 ? 0 : pow(i / 12.0, 2) * exp(-i / 6.0)) * (0.7 + 0.6 * uniform());
    double all = 0;
    for (int i = 0; i < POINTS; i++) all += mass[i];
    for (int i = 0; i < POINTS; i++) mass[i] /= all;
    begin(&c, cuts, POINTS - 1, POINTS);
    set_masses(&c, mass);
    double (*const measures[])(const double *) = {gini_of, s80s20_of};
    for (size_t m = 0; m < 2; m++) {
        tmi_inequality found;
        assert_int_equal(tmi_inequality_make(&found, &c, m == 0 ? TMI_MEASURE_GINI : TMI_MEASURE_S80S20, 0, NULL), TAMIS_OK);
        const double value = measures[m](mass);
        if (!(fabs(found.value - value) < 1e-9 * value)) fail_msg("%zu: %.12g, not %.12g", m, found.value, value);
        for (int i = 1; i < POINTS; i++) {
            const double more = 1e-6, before = mass[i];
            mass[i] += more;
            const double slope = (measures[m](mass) - value) * (1 + more) / more;
            mass[i] = before;
            if (!(fabs(found.influence[i] - slope) < 0.01 * (fabs(slope) + 0.1)))
                fail_msg("%zu, point %d: %g, not %g", m, i, found.influence[i], slope);
        }
        assert_true(fabs(found.within - 1) < 0.01);
        tmi_inequality_clear(&found);
    }
    tmi_cdf_clear(&c);
}

/* Of an even distribution on 0 ... 999 with cuts at every tenth point: the quartiles, and the slope of their difference as rows
 * are added to a bin. */
static void the_interquartile_range(void **state)
{
    (void)state;
    int cuts[99];
    tmi_cdf c;
    tmi_inequality found;
    for (int i = 0; i < 99; i++) cuts[i] = 10 * (i + 1);
    begin(&c, cuts, 99, 1000);
    for (int i = 1; i < 100; i++) c.points[i].share = i / 100.0;
    assert_int_equal(tmi_inequality_make(&found, &c, TMI_MEASURE_IQR, 0, NULL), TAMIS_OK);
    assert_true(found.value == 749 - 249);
    for (size_t b = 0; b < 100; b++) {
        const double slope = 1000 * ((0.75 - (b < 75)) - (0.25 - (b < 25)));
        if (!(fabs(found.influence[b] - slope) <= 1e-6)) fail_msg("bin %zu: %g, not %g", b, found.influence[b], slope);
    }
    tmi_inequality_clear(&found);
    tmi_cdf_clear(&c);
}

#define ROWS 20000

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Lognormal incomes with a Pareto end, on a fine grid, with 31 cuts: what bins hide is small beside the sampling error. */
static void measures_of_bins(void **state)
{
    (void)state;
    static double x[ROWS];
    double sum = 0, ranks = 0, low = 0, high = 0, poor = 0;
    for (int i = 0; i < ROWS; i++) {
        const double u = uniform(), v = uniform(), z = sqrt(-2 * log(u)) * cos(2 * 3.14159265358979 * v);
        x[i] = floor(fmin(uniform() < 0.02 ? 45000 * pow(uniform(), -1 / 3.0) : 18000 * exp(0.45 * z), 199999));
    }
    qsort(x, ROWS, sizeof *x, by_size);
    for (int i = 0; i < ROWS; i++) {
        sum += x[i];
        ranks += (2 * i + 1 - ROWS) * x[i];
        low += i < ROWS / 5 ? x[i] : 0;
        high += i >= ROWS - ROWS / 5 ? x[i] : 0;
        poor += x[i] < 0.6 * x[ROWS / 2 - 1];
    }
    const double truths[] = {poor / ROWS, ranks / ROWS / sum, high / low};
    const double near[] = {0.003, 0.0015, 0.03}; /* about half of the standard errors of 4000 rows */
    int cuts[31];
    tmi_cdf c;
    for (int k = 0; k < 31; k++) {
        const double s = (k - 15) / 15.0, z = 3 * (0.45 * s + 0.55 * s * s * s);
        cuts[k] = (int)(18000 * exp(0.5 * z));
    }
    begin(&c, cuts, 31, 200000);
    for (int k = 0; k < 31; k++) {
        int below = 0;
        while (below < ROWS && x[below] < cuts[k]) below++;
        c.points[k + 1].share = (double)below / ROWS;
    }
    for (int kind = 0; kind < 3; kind++) {
        tmi_inequality found;
        double mean = 0;
        assert_int_equal(tmi_inequality_make(&found, &c, (tmi_measure_kind)kind, 0.6, NULL), TAMIS_OK);
        if (!(fabs(found.value - truths[kind]) < near[kind])) fail_msg("%d: %g, not %g", kind, found.value, truths[kind]);
        for (size_t b = 0; b < 32; b++) mean += (c.points[b + 1].share - c.points[b].share) * found.influence[b];
        assert_true(fabs(mean) < 0.01 && found.within >= 1 && found.within < 1.3);
        tmi_inequality_clear(&found);
    }
    tmi_cdf_clear(&c);
}

static void nothing_to_divide_by(void **state)
{
    (void)state;
    static const int cuts[1] = {1};
    tmi_cdf c;
    tmi_inequality found;
    begin(&c, cuts, 1, 10);
    c.points[1].share = 1; /* all have 0 */
    for (int kind = TMI_MEASURE_GINI; kind <= TMI_MEASURE_S80S20; kind++) {
        assert_int_equal(tmi_inequality_make(&found, &c, (tmi_measure_kind)kind, 0, NULL), TAMIS_OK);
        assert_non_null(found.reason);
        tmi_inequality_clear(&found);
    }
    tmi_cdf_clear(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_ascend),      cmocka_unit_test(inverses_and_intervals),
        cmocka_unit_test(measures_of_points), cmocka_unit_test(the_interquartile_range),
        cmocka_unit_test(measures_of_bins),   cmocka_unit_test(nothing_to_divide_by),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
