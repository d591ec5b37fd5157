/* Intervals of quantiles where shares are known exactly at cuts and not at all between them: what is left is the allowance for
 * the shape of the distribution function within a bin. Nothing here is random. */
#include "tests/test.h"

#include <math.h>

#include "survey/curve.h"

#define POINTS 100000 /* of the grid */
#define CUTS 31

/* Distribution functions on the grid, by the part x of the range. */
static double rising(double x) { return x * x; }
static double falling(double x) { return 1 - (1 - x) * (1 - x); }
static double tent(double x) { return x < 0.5 ? 2 * x * x : 1 - 2 * (1 - x) * (1 - x); }
static double valley(double x) { return x < 0.5 ? 2 * x * (1 - x) : 1 - 2 * x * (1 - x); }
static double bell(double x) { return erfc((0.45 - x) / 0.15 / sqrt(2)) / 2; }
static double incomes(double x) { return x > 0 ? erfc(-log(x / 0.1) / 0.6 / sqrt(2)) / 2 : 0; }
static double even(double x) { return x; }

/* Evenly spaced cuts, or evenly over the logarithm, as plans without a guess have them. */
static void begin(tmi_cdf *c, double (*below)(double), size_t cuts, bool of_log)
{
    assert_int_equal(tmi_cdf_make(c, cuts, 0, POINTS - 1, 1, NULL), TAMIS_OK);
    for (size_t k = 1; k <= cuts; k++) {
        const double part = (double)k / (double)(cuts + 1);
        const double place = floor(POINTS * (of_log ? expm1(part * log1p(100)) / 100 : part) + 0.5),
                     share = below(place / POINTS);
        c->points[k] = (tmi_cdf_point){.place = place, .share = share, .lower = share, .upper = share};
    }
}

static double quantile(double (*below)(double), double q)
{
    double low = 0, high = 1;
    for (int i = 0; i < 60; i++) *(below((low + high) / 2) < q ? &low : &high) = (low + high) / 2;
    return POINTS * high;
}

/* How many levels of a thousand an interval of their quantile leaves out. */
static int missed(const tmi_cdf *c, double (*below)(double), void (*interval)(double *, double *, const tmi_cdf *, double),
                  double *width)
{
    int count = 0;
    *width = 0;
    for (int i = 1; i < 1000; i++) {
        double lower, upper;
        const double q = i / 1000.0, at = quantile(below, q);
        interval(&lower, &upper, c, q);
        assert_true(lower <= upper + 1e-6);
        count += at < lower - 1e-6 || at > upper + 1e-6;
        if (q > 0.07 && q < 0.93) *width = fmax(*width, upper - lower);
    }
    return count;
}

static void smooth_densities(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double (*below)(double);
        bool of_log;
        double width; /* of all, less than this */
    } cases[] = {
        {"rising", rising, false, 100}, {"falling", falling, false, 100}, {"tent", tent, false, 200},
        {"bell", bell, false, 200},     {"incomes", incomes, true, 500},  {"valley", valley, false, 4500},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tmi_cdf c;
        double width;
        begin(&c, cases[i].below, CUTS, cases[i].of_log);
        assert_true(missed(&c, cases[i].below, tmi_cdf_invert, &width) > 800); /* what the allowance is for */
        const int count = missed(&c, cases[i].below, tmi_cdf_interval, &width);
        if (count > 0) fail_msg("%s: %d of 999 quantiles are left out", cases[i].name, count);
        if (!(width <= cases[i].width)) fail_msg("%s: an interval is %g wide", cases[i].name, width);
        tmi_cdf_clear(&c);
    }
}

/* Where bins are alike there is nothing to allow for. */
static void even_densities(void **state)
{
    (void)state;
    tmi_cdf c;
    begin(&c, even, CUTS, false);
    for (int i = 50; i < 950; i++) {
        double lower, upper;
        tmi_cdf_interval(&lower, &upper, &c, i / 1000.0);
        assert_true(fabs(lower - i * POINTS / 1000.0) < 1e-3 && fabs(upper - i * POINTS / 1000.0) < 1e-3);
    }
    tmi_cdf_clear(&c);
}

/* Three tenths of the rows have one value, anywhere in a bin. */
static double pile = 0;
static double piled(double x) { return 0.7 * tent(x) + (x > pile ? 0.3 : 0); }

static void one_pile(void **state)
{
    (void)state;
    for (int place = 40000; place < 47000; place += 100) {
        tmi_cdf c;
        double lower, upper;
        pile = ((double)place + 0.5) / POINTS;
        begin(&c, piled, CUTS, false);
        for (int i = 1; i < 10; i++) {
            tmi_cdf_interval(&lower, &upper, &c, 0.7 * tent(pile) + 0.3 * i / 10);
            if (!(lower <= place + 1 && place <= upper)) fail_msg("%d, %d tenths: %g to %g", place, i, lower, upper);
        }
        tmi_cdf_clear(&c);
    }
}

/* All rows have round numbers, of which there are one, two or three in a bin. */
static double rounded(double x) { return incomes(floor(x * 100 + 0.5) / 100); }

static void round_numbers(void **state)
{
    (void)state;
    tmi_cdf c;
    double width;
    begin(&c, rounded, 2 * CUTS + 1, true);
    const int count = missed(&c, rounded, tmi_cdf_interval, &width);
    if (count > 30) fail_msg("%d of 999 quantiles are left out", count);
    tmi_cdf_clear(&c);
}

/* Sampling makes bins differ: what it explains is no pile. */
static void sampling_errors(void **state)
{
    (void)state;
    double widths[2];
    for (int known = 0; known < 2; known++) {
        tmi_cdf c;
        double lower, upper;
        begin(&c, even, CUTS, false);
        for (size_t k = 1; k <= CUTS; k++) {
            tmi_cdf_point *p = &c.points[k];
            p->lower = p->upper = p->share += k % 2 ? 0.0015 : -0.0015;
            p->sampling = known ? p->share * (1 - p->share) / 1000 : 0; /* the mass of a bin has a deviation of 0.0056 */
        }
        tmi_cdf_interval(&lower, &upper, &c, 0.52);
        widths[known] = upper - lower;
        tmi_cdf_clear(&c);
    }
    assert_true(widths[1] < 200 && widths[0] > 1500);
}

/* Too few bins to say anything of: the ends are cuts. A bin of one point has nothing inside. */
static void few_bins(void **state)
{
    (void)state;
    tmi_cdf c;
    double lower, upper;
    begin(&c, even, 3, false);
    tmi_cdf_interval(&lower, &upper, &c, 0.4);
    assert_true(tmi_cdf_value(&c, lower) == 25000 && tmi_cdf_value(&c, upper) == 49999);
    tmi_cdf_clear(&c);
    assert_int_equal(tmi_cdf_make(&c, 3, 0, 3, 1, NULL), TAMIS_OK);
    for (size_t k = 1; k <= 3; k++)
        c.points[k] = (tmi_cdf_point){(double)k, 0.25 * (double)k, 0.25 * (double)k, 0.25 * (double)k, 0, 0};
    tmi_cdf_interval(&lower, &upper, &c, 0.4);
    assert_true(tmi_cdf_value(&c, lower) == 1 && tmi_cdf_value(&c, upper) == 1);
    tmi_cdf_clear(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(smooth_densities), cmocka_unit_test(even_densities),  cmocka_unit_test(one_pile),
        cmocka_unit_test(round_numbers),    cmocka_unit_test(sampling_errors), cmocka_unit_test(few_bins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
