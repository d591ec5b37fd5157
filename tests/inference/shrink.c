/* Groups shrunk towards their margin: the formulas against numbers that were computed another way (a root of the score in
 * decimals of 40 digits), the ends where errors are tiny or huge, how often the intervals of the model cover, and the groups of
 * a plan. */
#include "tests/test.h"

#include <math.h>

#include "inference/fay_herriot.h"
#include "tests/inference/survey_file.h"

/* ---- formulas ---- */

#define MOST 7

typedef struct reference {
    double y[MOST], v[MOST];
    size_t count;
    double mean, mean_variance, between, between_variance;
    double theta[MOST], mse[MOST];
} reference;

static const reference references[] = {
    {{3, 5, 4.5, 7, 1, 6},
     {1, 2, 0.5, 4, 1, 3},
     6,
     4.4,
     0.2,
     2.27990663161,
     4.63893110073,
     {3.42684141875, 4.71962005172, 4.48201378441, 5.34392442275, 2.0366148741, 5.0908930148},
     {0.976648582723, 1.58244869476, 0.524507558273, 2.13272143556, 0.976648582723, 1.92729138578}},
    {{0.31, 0.29, 0.33, 0.30, 0.28, 0.32, 0.30},
     {0.01, 0.02, 0.015, 0.01, 0.03, 0.02, 0.01},
     7,
     0.303,
     0.001,
     0.000552477613658,
     5.4228029042e-05,
     {0.303366486757, 0.302650542912, 0.303959133068, 0.302842934247, 0.302584093137, 0.303456982346, 0.302842934247},
     {0.0106513449681, 0.00648172325811, 0.0079499723426, 0.0106513449681, 0.00492925528848, 0.00648172325811, 0.0106513449681}},
    {{100, 250, 180, 90, 300},
     {1e-6, 2e-6, 1e-6, 1e-6, 3e-6},
     5,
     184,
     1e-7,
     6743.99999776,
     18192614.3966,
     {100.000000012, 249.99999998, 180.000000001, 90.0000000139, 299.999999948},
     {1e-6, 2e-6, 1e-6, 1e-6, 3e-6}},
};

static void assert_near(double found, double wanted, const char *what, size_t i)
{
    if (!(fabs(found - wanted) <= 1e-6 * fabs(wanted))) fail_msg("%s %zu: %.12g, not %.12g", what, i, found, wanted);
}

static void formulas(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof references / sizeof *references; k++) {
        const reference *r = &references[k];
        const tmi_fay_herriot fit = tmi_fay_herriot_fit(r->y, r->v, r->count, r->mean, r->mean_variance);
        assert_near(fit.between, r->between, "A", k);
        assert_near(fit.between_variance, r->between_variance, "variance of A", k);
        for (size_t i = 0; i < r->count; i++) {
            const double g = tmi_fay_herriot_weight(&fit, r->v[i]);
            assert_near(g * r->y[i] + (1 - g) * r->mean, r->theta[i], "group", i);
            assert_near(tmi_fay_herriot_mse(&fit, r->v[i]), r->mse[i], "error", i);
        }
        assert_true(tmi_fay_herriot_weight(&fit, INFINITY) == 0);
        assert_near(tmi_fay_herriot_mse(&fit, INFINITY), fit.between + r->mean_variance, "error without an estimate", k);
    }
}

/* With m groups and errors far above the differences A is at most about 2 V/m^2: the weight of a group is that small. */
static void from_the_direct_estimate_to_the_margin(void **state)
{
    enum { M = 40 };
    double y[M], v[M];
    (void)state;
    for (size_t i = 0; i < M; i++) y[i] = 10 + (i % 2 ? 1 : -1);
    double before = 1;
    for (double error = 1e-12; error < 1e13; error *= 10) {
        for (size_t i = 0; i < M; i++) v[i] = error;
        const tmi_fay_herriot fit = tmi_fay_herriot_fit(y, v, M, 10, error / M);
        const double g = tmi_fay_herriot_weight(&fit, error);
        assert_true(fit.between > 0 && g <= before + 1e-6);
        if (error < 1e-6) assert_true(g > 1 - 1e-5);
        if (error > 1e3) assert_true(g < 4.0 / (M * M));
        before = g;
    }
}

/* ---- coverage ---- */

static double uniform(uint64_t *word) { return ((double)(next_word(word) >> 11) + 0.5) / 9007199254740992.0; }

static double normal(uint64_t *word) { return sqrt(-2 * log(uniform(word))) * cos(2 * M_PI * uniform(word)); }

/* Over samples of 15 groups, the share of the groups whose interval has the true value: its mean over R samples is at least
 * 0.95 - t but for a chance of exp(-2 R t^2) (Hoeffding), if it is 0.95 in truth. R = 4000, t = 0.055: 4e-11. The quantile is
 * that of Student's law with 14 degrees of freedom. */
static void intervals_cover_on_average(void **state)
{
    enum { M = 15, RUNS = 4000 };
    static const double between[] = {0, 0.05, 1, 30};
    (void)state;
    for (size_t k = 0; k < sizeof between / sizeof *between; k++) {
        uint64_t word = 20 + k;
        double covered = 0;
        for (int run = 0; run < RUNS; run++) {
            double y[M], v[M], theta[M], mean = 0;
            for (size_t i = 0; i < M; i++) {
                v[i] = 0.5 + (double)(i % 5);
                theta[i] = 3 + sqrt(between[k]) * normal(&word);
                y[i] = theta[i] + sqrt(v[i]) * normal(&word);
                mean += y[i] / M;
            }
            const tmi_fay_herriot fit = tmi_fay_herriot_fit(y, v, M, mean, (2.5 + between[k]) / M);
            for (size_t i = 0; i < M; i++) {
                const double g = tmi_fay_herriot_weight(&fit, v[i]);
                covered += fabs(g * y[i] + (1 - g) * mean - theta[i]) <= 2.1448 * sqrt(tmi_fay_herriot_mse(&fit, v[i]));
            }
        }
        covered /= (double)M * RUNS;
        if (covered < 0.95 - 0.055) fail_msg("variance %g between groups, seed %zu: %.4f", between[k], 20 + k, covered);
        print_message("variance %g between groups, seed %zu: %.4f\n", between[k], 20 + k, covered);
    }
}

/* ---- plans ---- */

#define GROUPS "by: [g, h]"

static void groups_of_a_plan(void **state)
{
    static const char *const kinds[] = {"mean: x", "share: {x: {from: 20}}", "ratio: {of: z, to: y}"};
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        scene direct, shrunk;
        char text[200];
        snprintf(text, sizeof text, "  - {%s, " GROUPS "}\n", kinds[k]);
        scene_begin(&direct, survey_plan("srs: {population: 600, sample: 120}", "epsilon: 100000", SURVEY_X, text));
        snprintf(text, sizeof text, "  - {%s, " GROUPS ", shrink: yes}\n", kinds[k]);
        scene_begin(&shrunk, survey_plan("srs: {population: 600, sample: 120}", "epsilon: 100000", SURVEY_X, text));
        survey_count(&direct);
        survey_count(&shrunk);
        scene_read(&direct);
        scene_read(&shrunk);
        for (size_t i = 0; i < shrunk.results.count; i++) {
            const tmi_result *a = &direct.results.list[i], *b = &shrunk.results.list[i];
            const tmi_shrunk *s = &b->shrunk;
            assert_true(isnan(a->shrunk.weight) && s->weight > 0 && s->weight < 1);
            assert_true(s->direct == a->estimate && s->direct_se == a->se);
            assert_near(b->estimate, s->weight * s->direct + (1 - s->weight) * s->towards, "estimate", i);
            assert_true(b->lower < b->estimate && b->estimate < b->upper && b->se > 0 && s->bias > 0);
            assert_true(b->note_count == 1 && strstr(b->notes[0], "shrunk"));
            assert_near(b->se, hypot(b->sampling_se, b->noise_sd), "error", i);
        }
        scene_end(&direct);
        scene_end(&shrunk);
    }
}

/* Noise as large as the groups: all of them have a number, in the range but for little, and none is withheld. */
static void groups_in_much_noise(void **state)
{
    scene c;
    uint64_t word = 5;
    size_t shrunk = 0;
    (void)state;
    scene_begin(&c, survey_plan("srs: {population: 600, sample: 120}", "epsilon: 1", SURVEY_X,
                                "  - {mean: x, " GROUPS ", shrink: yes}\n"));
    for (int run = 0; run < 50; run++) {
        survey_count(&c);
        for (size_t i = 0; i < c.s.measurement_count; i++) {
            const tmi_measurement *m = &c.s.measurements[i];
            const double sd = 1 / sqrt(tmi_measurement_precision(&c.s, m)) / tmi_measurement_unit(m, &c.s.workload, 0);
            for (size_t k = 0; k < m->numbers; k++) c.noisy[i][k] += (tmi_int128)(sd * normal(&word));
        }
        scene_read(&c);
        for (size_t i = 0; i < c.results.count; i++) {
            const tmi_result *r = &c.results.list[i];
            if (isnan(r->shrunk.weight)) continue; /* the margin itself is lost in the noise */
            shrunk++;
            assert_true(isfinite(r->estimate) && isfinite(r->se) && r->lower < r->upper && !r->reason);
            assert_true(r->shrunk.weight >= 0 && r->shrunk.weight < 1 && r->lower >= r->least && r->upper <= r->most);
        }
    }
    assert_true(shrunk > 0);
    scene_end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formulas),
        cmocka_unit_test(from_the_direct_estimate_to_the_margin),
        cmocka_unit_test(intervals_cover_on_average),
        cmocka_unit_test(groups_of_a_plan),
        cmocka_unit_test(groups_in_much_noise),
    };
    return cmocka_run_group_tests(tests, survey_begin, survey_end);
}
