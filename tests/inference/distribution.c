/* Statistics of a distribution without noise. With a cut before every point of the grid the distribution function is known
 * exactly, and what is read from it is the unprotected estimate of the same file (estimate/quantile.c, which has other code). */
#include "tests/test.h"

#include <math.h>

#include "tests/inference/survey_file.h"

#define MUCH "epsilon: 100000"
#define SRS "srs: {population: 600, sample: 120}"
/* The last bin is closed, so that it has two points: none of the rows is there. */
#define X "{from: 10, to: 31, step: 0.5}"
#define Y_CUTS "cuts: [1, 2, 3, 4, 5, 6]"
#define Z_CUTS "cuts: [-3, -2, -1, 0, 1, 2, 3, 4]"
#define X_CUTS \
    "cuts: [10.5, 11, 11.5, 12, 12.5, 13, 13.5, 14, 14.5, 15, 15.5, 16, 16.5, 17, 17.5, 18, 18.5, 19, 19.5, 20, 20.5, 21, " \
    "21.5, 22, 22.5, 23, 23.5, 24, 24.5, 25, 25.5, 26, 26.5, 27, 27.5, 28, 28.5, 29, 29.5, 30, 30.5]"
#define STATISTICS \
    "  - {quantile: x, at: [0.03], method: distribution, " X_CUTS "}\n" \
    "  - {quantile: z, at: [0.2, 0.9], by: s, method: distribution, " Z_CUTS "}\n" \
    "  - {median: y, where: {g: a}, method: distribution, " Y_CUTS "}\n" \
    "  - {share_below: x, line: 19.75, by: h}\n" \
    "  - {poverty: y, line: 0.7, " Y_CUTS "}\n" \
    "  - {poverty: x, line: 0.8, by: h, " X_CUTS "}\n" \
    "  - {gini: x, " X_CUTS "}\n" \
    "  - {gini: x, by: s, " X_CUTS "}\n" \
    "  - {iqr: x, " X_CUTS "}\n" \
    "  - {iqr: z, by: s, where: {g: a}, " Z_CUTS "}\n"
#define STRATA "stratified: {by: s, within: srs, strata: {p: {population: 400, sample: 48}, q: {population: 150, sample: 72}}}"
#define ONE "calibrate: {to: [{count: units, by: h, totals: [190, 210, 200]}]}\n"
#define RAKED \
    "calibrate: {method: raking, to: [{count: units, by: h, totals: [190, 210, 200]}, {count: units, by: s, totals: [230, " \
    "370]}]}\n"

/* `errors`: of Gini and shares, relative; 0: not compared. Exact intervals of shares, which take nearly all of the time, are
 * made for one design: what is compared does not depend on them. */
static void compare(const char *design, const char *privacy, const char *statistics, double errors)
{
    scene c;
    tmi_results truth;
    scene_begin(&c, survey_plan(design, privacy, X, statistics));
    c.plain = strcmp(design, STRATA) != 0 && test_size(1, 0);
    survey_count(&c);
    scene_read(&c);
    survey_estimate(&truth, c.plan);
    for (size_t i = 0; i < truth.count; i++) {
        const tmi_result *r = &c.results.list[i], *t = &truth.list[i];
        const tmi_plan_statistic *s = &c.plan->statistics[r->statistic];
        if (!(fabs(r->estimate - t->estimate) <= 1e-9 * (1 + fabs(t->estimate))))
            fail_msg("%s, statistic %zu, cell %zu: %.12g, not %.12g", design, r->statistic, r->cell, r->estimate, t->estimate);
        if (!(r->lower <= r->estimate && r->estimate <= r->upper && r->se >= 0))
            fail_msg("%s, statistic %zu, cell %zu: %g to %g", design, r->statistic, r->cell, r->lower, r->upper);
        if (!(r->noise_sd <= 0.01 * (r->se + 1)))
            fail_msg("%s, statistic %zu, cell %zu: noise %g", design, r->statistic, r->cell, r->noise_sd);
        const bool same = errors > 0 && (s->kind == TMI_GINI || s->kind == TMI_SHARE_BELOW);
        if (same && !(fabs(r->sampling_se / t->se - 1) <= errors))
            fail_msg("%s, statistic %zu, cell %zu: standard error %.9g, not %.9g", design, r->statistic, r->cell, r->sampling_se,
                     t->se);
    }
    tmi_results_clear(&truth);
    scene_end(&c);
}

static void simple_random_samples(void **state)
{
    (void)state;
    compare(SRS, MUCH, STATISTICS, 0.02);
    compare("census: {population: 120}", "rho: 100000", STATISTICS, 0);
    if (test_size(0, 1)) compare("bernoulli: {rate: 1/5, population: 600}", MUCH, STATISTICS, 0.02);
    compare("srs_with_replacement: {population: 600, sample: 120}", MUCH ", id: u, rows_per_unit: 2", STATISTICS, 0.02);
}

static void strata(void **state)
{
    (void)state;
    compare(STRATA, MUCH, STATISTICS, 0);
}

static void weights_and_clusters(void **state)
{
    (void)state;
    static const char *const designs[] = {
        "weights: {strata: s, cluster: c}, weight: w, max_weight: 9",
        "weights: {}, weight: w, max_weight: 9",
        "pps: {method: sampford, probability: p, sample: 120, frame: frame.csv}",
        "cluster: {by: c, population: 100, sample: 20, smallest: 6, largest: 6}",
        ("stratified: {by: s, within: {cluster: {by: c, smallest: 6, largest: 6}}, strata: {p: {population: 40, sample: 8}, q: "
         "{population: 30, sample: 12}}}"),
    };
    for (size_t i = 0; i < sizeof designs / sizeof *designs; i += (size_t)test_size(2, 1))
        compare(designs[i], strstr(designs[i], "frame") ? MUCH ", id: u, given: frame" : MUCH, STATISTICS, 0);
}

static void calibrated(void **state)
{
    (void)state;
    compare(SRS, MUCH, STATISTICS ONE, 0.02);
    compare(SRS ", nonresponse: yes", MUCH, STATISTICS RAKED, 0);
    if (test_size(0, 1)) compare("weights: {}, weight: w, max_weight: 9", MUCH, STATISTICS RAKED, 0);
}

/* Chosen points with little and with much noise of their mechanism: estimate, standard error and interval tell one story. The
 * interval contains what the function says, and the estimate with the usual multiple of its standard error. */
static void chosen_points(void **state)
{
    static const char *const losses[] = {"epsilon: 1000", "epsilon: 2"};
    (void)state;
    for (size_t l = 0; l < 2; l++) {
        scene c;
        int64_t points[9];
        const int64_t *const answers[2] = {NULL, points};
        tmi_result own[9];
        size_t noisier = 0;
        scene_begin(&c, survey_plan(SRS, losses[l], SURVEY_X,
                                    "  - {mean: z}\n"
                                    "  - {quantile: x, at: [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9], method: inverse}\n"));
        survey_count(&c);
        scene_read(&c); /* without what was chosen: the function alone */
        for (size_t k = 0; k < 9; k++) {
            own[k] = *scene_result(&c, 1, k);
            points[k] = 21 + 4 * (int64_t)k; /* steps of 0.5 */
            c.results.list[scene_first(&c, 1) + k] = TMI_NO_RESULT;
            c.results.list[scene_first(&c, 1) + k].statistic = 1;
            c.results.list[scene_first(&c, 1) + k].cell = k;
        }
        c.inference.answers = answers;
        assert_int_equal(tmi_read_distributions(&c.results, &c.inference, NULL), TAMIS_OK);
        for (size_t k = 0; k < 9; k++) {
            const tmi_result *r = scene_result(&c, 1, k);
            const double value = 0.5 * (double)points[k], reach = 1.97 * r->se; /* Student's t, 119 degrees of freedom: 1.980 */
            assert_true(r->estimate == value && r->lower <= own[k].lower && r->upper >= own[k].upper);
            assert_true(r->lower <= fmax(value - reach, r->least) && r->upper >= fmin(value + reach, r->most));
            assert_true(fabs(r->se - hypot(r->sampling_se, r->noise_sd)) <= 1e-12 * r->se);
            noisier += r->note_count > 0 && strstr(r->notes[r->note_count - 1], "`method: distribution` would be more precise");
        }
        assert_true(l == 0 ? noisier == 0 : noisier >= 3); /* a ninth of a small epsilon for each */
        scene_end(&c);
    }
}

/* Suppressed like all other numbers: by the rows of their group, and by their coefficient of variation. */
static void suppressed(void **state)
{
    (void)state;
    scene c;
    tmi_results truth;
    static const char statistics[] =
        "  - {quantile: x, at: [0.25, 0.75], by: [h, g], method: distribution}\n  - {count: units, by: [h, g]}\n"
        "postprocess: {suppress: {units_below: 18}}\n";
    size_t kept = 0;
    scene_begin(&c, survey_plan(SRS, MUCH, SURVEY_X, statistics));
    survey_count(&c);
    scene_read(&c);
    scene_postprocess(&c);
    survey_estimate(&truth, c.plan);
    for (size_t g = 0; g < 6; g++) {
        const double rows = truth.list[scene_first(&c, 1) + g].estimate / 5; /* each row counts for five units */
        for (size_t k = 0; k < 2; k++) assert_true(isnan(scene_result(&c, 0, 2 * g + k)->estimate) == (rows < 18));
        kept += rows >= 18;
    }
    assert_true(kept > 0 && kept < 6);
    tmi_results_clear(&truth);
    scene_end(&c);
}

/* The interval of an interquartile range from those of the quartiles: each end from the ends of both that widen it, less what
 * their sampling errors have in common, a correlation of 1/3 (Zou and Donner 2008). */
static void a_range_of_quartiles_has_the_interval_of_both(void **state)
{
    (void)state;
    scene c;
    scene_begin(&c,
                survey_plan(SRS, MUCH, X,
                            "  - {quantile: x, at: [0.25, 0.75], method: distribution, " X_CUTS "}\n  - {iqr: x, " X_CUTS "}\n"));
    survey_count(&c);
    scene_read(&c);
    const tmi_result *low = scene_result(&c, 0, 0), *high = scene_result(&c, 0, 1), *r = scene_result(&c, 1, 0);
    const double up[] = {low->upper - low->estimate, high->upper - high->estimate},
                 down[] = {low->estimate - low->lower, high->estimate - high->lower};
    const double less = sqrt(down[1] * down[1] + up[0] * up[0] - 2. / 3 * down[1] * up[0]),
                 more = sqrt(up[1] * up[1] + down[0] * down[0] - 2. / 3 * up[1] * down[0]);
    assert_true(up[1] > 1.1 || up[1] < 0.9); /* else a factor would be no factor */
    if (!(fabs(r->estimate - r->lower - less) < 0.02 * less) || !(fabs(r->upper - r->estimate - more) < 0.02 * more))
        fail_msg("%g, %g to %g, expected %g less and %g more", r->estimate, r->lower, r->upper, less, more);
    scene_end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(simple_random_samples),
        cmocka_unit_test(strata),
        cmocka_unit_test(weights_and_clusters),
        cmocka_unit_test(calibrated),
        cmocka_unit_test(chosen_points),
        cmocka_unit_test(suppressed),
        cmocka_unit_test(a_range_of_quartiles_has_the_interval_of_both),
    };
    return cmocka_run_group_tests(tests, survey_begin, survey_end);
}
