/* Calibration after the noise: factors that meet the public counts, and the noise that each result has by them, against what
 * happens when one noisy integer moves.                                                                               */
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "num/law/noise.h"
#include "tests/base/memory_that_fails.h"
#include "tests/inference/survey_file.h"

#define STATISTICS \
    "  - {count: units, by: g}\n  - {count: units, where: {x: {from: 20}}}\n  - {total: x}\n  - {mean: x, by: g}\n  - {share: " \
    "{g: a}}\n" \
    "  - {ratio: {of: x, to: {h: [u, v]}}}\n  - {variance: x}\n"
#define ONE "calibrate: {to: [{count: units, by: h, totals: [300, 400, 300]}]}\n"
#define TWO "calibrate: {to: [{count: units, by: h, totals: [300, 400, 300]}, {count: units, by: s, totals: [450, 550]}]}\n"
#define STRATA "calibrate: {to: [{count: units, by: s, totals: [450, 550]}]}\n"
#define NUMBER "calibrate: {to: [{count: units, by: h, totals: [300, 400, 300]}, {total: y, by: h, totals: [950, 1220, 980]}]}\n"
#define ONLY_NUMBER "calibrate: {to: [{total: z, totals: 30}, {count: units, totals: 1000}]}\n"
#define ALL "calibrate: {to: [{count: units, totals: 1000}]}\n"
#define RAKED \
    "calibrate: {method: raking, to: [{count: units, by: h, totals: [300, 400, 300]}, {count: units, by: s, totals: [450, " \
    "550]}]}\n"

static const char *const designs[] = {
    "srs: {population: 1000, sample: 120}",
    "srs: {population: 1000, sample: 120}, nonresponse: yes",
    ("stratified: {by: s, within: srs, strata: {p: {population: 450, sample: 80}, q: {population: 550, sample: 90}}}, "
     "nonresponse: yes"),
    "weights: {}, weight: w, max_weight: 20",
    "cluster: {by: c, population: 160, sample: 20, smallest: 6, largest: 7}",
};

/* Weights so far apart that strata are measured apart. */
static const char unequal[] =
    "stratified: {by: s, within: srs, strata: {p: {population: 100, sample: 80}, q: {population: 900, sample: 90}}}, "
    "nonresponse: yes";
#define UNEQUAL "calibrate: {to: [{count: units, by: s, totals: [100, 900]}]}\n"
#define UNEQUAL_AND_MORE \
    "calibrate: {to: [{count: units, by: s, totals: [100, 900]}, {count: units, by: h, totals: [300, 400, 300]}]}\n"

/* The integers of the survey, as if there were no noise. */
static void set_up(scene *c, const char *design, const char *statistics)
{
    scene_begin(c, survey_plan(design, "epsilon: 1000", SURVEY_X, statistics));
    survey_count(c);
}

static void read_results(scene *c)
{
    scene_read(c);
    assert_true(c->calibration.met);
}

/* The sum over all noisy integers of (what the estimate changes by one step)^2 times the noise variance. */
static void noise_is_what_the_integers_do(const char *design, const char *statistics)
{
    scene c;
    set_up(&c, design, statistics);
    read_results(&c);
    const size_t count = c.results.count;
    tmi_result *before = calloc(count, sizeof *before);
    double *variances = calloc(count, sizeof *variances), *up = calloc(count, sizeof *up);
    assert_true(before && variances && up);
    memcpy(before, c.results.list, count * sizeof *before);
    for (size_t i = 0; i < c.s.measurement_count; i++) {
        const tmi_measurement *m = &c.s.measurements[i];
        if (m->marginal.weighting > TMI_WEIGHTED) continue; /* it says something about variances alone */
        for (size_t k = 0; k < m->numbers; k++) {
            const tmi_int128 there = c.noisy[i][k];
            const double step = fmax(1, round(1e-3 / tmi_measurement_unit(m, &c.s.workload, 0))), /* of a row, or a row */
                sd = tmi_noise_sd(m->laws[k / (m->numbers / m->strata)].scale, c.s.gaussian);
            c.noisy[i][k] = there + (tmi_int128)step;
            read_results(&c);
            for (size_t r = 0; r < count; r++) up[r] = c.results.list[r].estimate;
            c.noisy[i][k] = there - (tmi_int128)step;
            read_results(&c);
            c.noisy[i][k] = there;
            for (size_t r = 0; r < count; r++) {
                const double slope = (up[r] - c.results.list[r].estimate) / (2 * step);
                variances[r] += slope * slope * sd * sd;
            }
        }
    }
    for (size_t r = 0; r < count; r++) {
        const tmi_result *result = &before[r];
        double found = sqrt(variances[r]);
        if (!(fabs(found - result->noise_sd) <= 0.02 * found + 1e-9 * fabs(result->estimate)))
            fail_msg("%s, %s, statistic %zu, cell %zu: noise %g, by steps %g", design, statistics, result->statistic,
                     result->cell, result->noise_sd, found);
    }
    free(before);
    free(variances);
    free(up);
    scene_end(&c);
}

static void every_noise_has_its_factor(void **state)
{
    (void)state;
    noise_is_what_the_integers_do(designs[0], "  - {count: units, by: g}\n" RAKED);
    noise_is_what_the_integers_do(designs[2], "  - {share: {g: a}}\n" ONE);
    noise_is_what_the_integers_do(designs[2], "  - {total: z}\n  - {mean: z, by: s}\n" STRATA);
    noise_is_what_the_integers_do(unequal, "  - {total: z}\n  - {mean: z, by: s}\n" UNEQUAL);
    noise_is_what_the_integers_do(unequal, "  - {share: {g: a}}\n  - {mean: z, by: s}\n" UNEQUAL_AND_MORE);
    noise_is_what_the_integers_do(designs[1], "  - {total: z}\n  - {count: units, by: g}\n" ALL);
    noise_is_what_the_integers_do(designs[3], "  - {count: units, where: {x: {from: 20}}}\n  - {total: z}\n" ONE);
    noise_is_what_the_integers_do(designs[4], "  - {mean: z}\n" ONE);
    noise_is_what_the_integers_do(designs[0], "  - {count: units, by: g}\n  - {total: z}\n  - {total: y, by: g}\n" NUMBER);
    noise_is_what_the_integers_do(designs[3], "  - {ratio: {of: x, to: y}}\n" NUMBER);
    noise_is_what_the_integers_do(designs[4], "  - {mean: x}\n  - {mean: z}\n" ONLY_NUMBER);
    noise_is_what_the_integers_do(unequal, "  - {total: y}\n  - {mean: z, by: s}\n" ONLY_NUMBER);
    if (test_size(0, 1) == 0) return;
    for (size_t i = 0; i < sizeof designs / sizeof *designs; i++) {
        noise_is_what_the_integers_do(designs[i], STATISTICS ONE);
        noise_is_what_the_integers_do(designs[i], STATISTICS RAKED);
        noise_is_what_the_integers_do(designs[i], STATISTICS STRATA);
    }
}

/* By hand: post-strata under simple random sampling. Counts of cells k_hg, factors N_h / (w k_h.); the variance is that of the
 * residuals g - k_hg / k_h., which add up to 0 in each post-stratum. Rows without g are in the post-strata too. */
static void post_strata_by_hand(void **state)
{
    (void)state;
    static const double rows[3][3] = {{10, 20, 2}, {25, 10, 3}, {15, 30, 5}}, N[3] = {300, 400, 300}; /* a, b, none */
    scene c;
    set_up(&c, designs[0], "  - {count: units, by: h}\n  - {count: units, by: g}\n" ONE);
    assert_true(c.s.workload.maps[0].known && !c.s.workload.maps[1].known);
    double estimate = 0, variance = 0;
    for (size_t h = 0; h < 3; h++) {
        const double all = rows[h][0] + rows[h][1] + rows[h][2], part = rows[h][0] / all, w = 1000.0 / 120;
        estimate += N[h] * part;
        variance += w * (w - 1) * 120 / 119 * (N[h] / (w * all)) * (N[h] / (w * all)) * all * part * (1 - part);
    }
    for (size_t i = 0; i < c.s.measurement_count; i++) { /* every table is of these rows, whatever its axes are */
        const tmi_measurement *m = &c.s.measurements[i];
        memset(c.noisy[i], 0, m->numbers * sizeof **c.noisy);
        for (size_t h = 0; h < 3; h++)
            for (size_t g = 0; g < 3; g++) {
                size_t at = 0;
                for (size_t a = 0; a < m->marginal.axis_count; a++) {
                    const tmi_origin *o = &c.s.workload.origins[m->marginal.axes[a]];
                    assert_true(o->classes_count == 1 && !o->number);
                    const tmi_classes *classes = &c.s.workload.classes[o->classes[0]];
                    at = at * tmi_classes_levels(classes) + (strcmp(classes->column->name, "h") == 0 ? h : g);
                }
                c.noisy[i][at] += (tmi_int128)rows[h][g];
            }
    }
    read_results(&c);
    for (size_t h = 0; h < 3; h++) {
        const tmi_result *r = &c.results.list[h];
        assert_true(r->estimate == N[h] && r->se == 0 && r->lower == N[h] && r->upper == N[h]);
    }
    assert_true(fabs(c.results.list[3].estimate - estimate) < 1e-9);
    /* what is added against its noise is less */
    assert_true(fabs(c.results.list[3].sampling_se - sqrt(variance)) < 2e-3 * sqrt(variance));
    scene_end(&c);
}

/* A number that follows from the public counts has no error. */
static void margins_of_the_control_cells_are_public(void **state)
{
    (void)state;
    static const char *const all[] = {ONE, TWO, RAKED};
    for (size_t i = 0; i < 3; i++)
        for (size_t d = 1; d < sizeof designs / sizeof *designs; d++) {
            char text[1024];
            scene c;
            snprintf(text, sizeof text, "  - {count: units}\n  - {table: [g, h]}\n  - {count: units, by: h}\n%s", all[i]);
            set_up(&c, designs[d], text);
            read_results(&c);
            for (size_t k = 0; k < 4; k++) {
                const tmi_result *r = k == 0 ? scene_result(&c, 0, 0) : scene_result(&c, 2, k - 1);
                const double truth = k == 0 ? 1000 : k == 2 ? 400 : 300;
                if (!(fabs(r->estimate - truth) < 1e-6 && r->se < 1e-4 && fabs(r->lower - truth) < 1e-3 &&
                      fabs(r->upper - truth) < 1e-3))
                    fail_msg("%s: %.17g, se %g, %.17g to %.17g", designs[d], r->estimate, r->se, r->lower, r->upper);
            }
            scene_end(&c);
        }
}

/* The sampling error of the calibrated total of x against that of the residuals, from the rows: what calibration explains is
 * taken off in every design, and nothing more. */
static void residuals_have_the_sampling_error(void **state)
{
    (void)state;
    for (size_t d = 0; d < sizeof designs / sizeof *designs; d++) {
        scene c;
        tmi_results truth;
        if (d == 2) continue; /* its strata are short of rows */
        set_up(&c, designs[d], "  - {mean: z}\n  - {share: {g: a}}\n  - {mean: y, by: g}\n" ONE);
        read_results(&c);
        survey_estimate(&truth, c.plan);
        for (size_t i = 0; i < truth.count; i++) { /* clusters: a few groups of them, as if drawn with replacement */
            const double ratio = c.results.list[i].sampling_se / truth.list[i].se;
            if (!(d == 4 ? ratio > 0.6 && ratio < 3 : ratio > 0.9 && ratio < 1.2))
                fail_msg("%s, %zu: %g of the unprotected error", designs[d], i, ratio);
        }
        tmi_results_clear(&truth);
        scene_end(&c);
    }
}

/* Strata that are measured apart are control cells as they are: no table crosses them with themselves, and what is measured is no
 * more than without calibration, but for the rows of each stratum. */
static void strata_are_not_crossed_with_themselves(void **state)
{
    (void)state;
    scene c;
    set_up(&c, unequal, "  - {total: z}\n  - {mean: z, by: s}\n  - {share: {g: a}}\n" UNEQUAL);
    assert_true(c.s.calibrated && c.s.workload.separate_strata && c.s.workload.control_axis == SIZE_MAX);
    for (size_t i = 0; i < c.s.workload.classes_count; i++) assert_true(c.s.workload.classes[i].column != c.plan->design.by);
    read_results(&c);
    tmi_results truth;
    survey_estimate(&truth, c.plan);
    for (size_t i = 0; i < truth.count; i++)
        if (!(fabs(c.results.list[i].estimate / truth.list[i].estimate - 1) < 0.02))
            fail_msg("%zu: %g, not %g", i, c.results.list[i].estimate, truth.list[i].estimate);
    tmi_results_clear(&truth);
    scene_end(&c);
}

/* The rows of the second level of the axis of calibration move to the first. */
static void empty_level(scene *c)
{
    for (size_t i = 0; i < c->s.measurement_count; i++) {
        const tmi_marginal *marginal = &c->s.measurements[i].marginal;
        size_t stride = 1, a = marginal->axis_count;
        while (a-- > 0 && marginal->axes[a] != c->s.workload.control_axis) stride *= c->s.workload.axes[marginal->axes[a]].levels;
        for (size_t k = 0; k < c->s.measurements[i].numbers; k++) {
            if (k / stride % tmi_control_levels(&c->s.workload) != 1) continue;
            c->noisy[i][k - stride] += c->noisy[i][k];
            c->noisy[i][k] = 0;
        }
    }
}

/* Too few rows beside the noise: numbers as they were measured, with a note; of respondents alone, none. */
static void what_is_not_met_is_told(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        scene c;
        set_up(&c, designs[i], "  - {total: x}\n  - {mean: x}\n" ONE);
        empty_level(&c);
        scene_read(&c);
        assert_false(c.calibration.met);
        const tmi_result *total = scene_result(&c, 0, 0), *mean = scene_result(&c, 1, 0);
        assert_int_equal(isnan(total->estimate), i == 1);
        assert_int_equal(total->reason != NULL, i == 1);
        assert_true(isfinite(mean->estimate) && mean->note_count > 0 && strstr(mean->notes[0], "not calibrated"));
        scene_end(&c);
    }
}

static void assert_refused(const char *design, const char *calibrate, tamis_status status, const char *word)
{
    char text[1024];
    tmi_schedule s;
    tamis_error err = {0};
    snprintf(text, sizeof text, "  - {total: x}\n%s", calibrate);
    tamis_plan *plan = survey_plan(design, "epsilon: 1", SURVEY_X, text);
    assert_int_equal(tmi_schedule_make(&s, plan, NULL, &err), status);
    if (!strstr(err.message, word)) fail_msg("%s", err.message);
    tamis_plan_free(plan);
}

static void what_cannot_be_met_is_refused_before_anything(void **state)
{
    (void)state;
    static const char strata[] =
        "stratified: {by: s, within: srs, strata: {p: {population: 450, sample: 48}, q: {population: 550, sample: 72}}}";
    assert_refused(designs[0], "calibrate: {to: [{total: x, totals: 2000}, {total: z, totals: 30}]}\n", TAMIS_REFUSED,
                   "totals of one number, and here are those of x and z");
    assert_refused(designs[0], "calibrate: {method: raking, to: [{total: x, totals: 2000}]}\n", TAMIS_REFUSED, "method: linear");
    assert_refused(designs[0], "calibrate: {to: [{total: y, by: h, totals: [1, 2, 3]}, {total: y, by: g, totals: [4, 4]}]}\n",
                   TAMIS_INVALID, "same number");
    assert_refused(designs[0],
                   "calibrate: {to: [{count: units, by: h, totals: [1, 2, 3]}, {count: units, by: g, totals: [4, 4]}]}\n",
                   TAMIS_INVALID, "same number");
    assert_refused(strata, "calibrate: {to: [{count: units, by: s, totals: [450, 551]}]}\n", TAMIS_INVALID, "declares");
    assert_refused(designs[0], "calibrate: {to: [{count: units, totals: 999}]}\n", TAMIS_INVALID, "declares");
    assert_refused("stratified: {by: s, within: srs, strata: {p: {population: 450, sample: 48}, q: {population: 550, sample: "
                   "72}}}, regularise: 1/4",
                   ONE, TAMIS_REFUSED, "regularise");
    scene c; /* what the design declares already is met without a table */
    set_up(&c, strata, "  - {total: x}\ncalibrate: {to: [{count: units, by: s, totals: [450, 550]}]}\n");
    assert_false(c.s.calibrated);
    scene_end(&c);
}

static void memory_is_not_there(void **state)
{
    (void)state;
    scene c;
    tmi_calibration calibration;
    tmi_result result = TMI_NO_RESULT;
    tamis_error err;
    static const char *const controls[] = {"  - {share: {g: a}}\n" ONE, "  - {share: {g: a}}\n" ONLY_NUMBER};
    for (size_t i = 0; i < 2; i++) {
        set_up(&c, designs[4], controls[i]);
        scene_prepare(&c);
        EVERY_ALLOCATION_FAILS(tmi_calibration_make(&calibration, &c.inference, &err), { assert_null(calibration.factors); });
        tmi_calibration_clear(&calibration);
        EVERY_ALLOCATION_FAILS(tmi_read_statistic(&result, &c.inference, 0, &err), {});
        scene_end(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_noise_has_its_factor),
        cmocka_unit_test(post_strata_by_hand),
        cmocka_unit_test(margins_of_the_control_cells_are_public),
        cmocka_unit_test(residuals_have_the_sampling_error),
        cmocka_unit_test(strata_are_not_crossed_with_themselves),
        cmocka_unit_test(what_is_not_met_is_told),
        cmocka_unit_test(what_cannot_be_met_is_refused_before_anything),
        cmocka_unit_test(memory_is_not_there),
    };
    return cmocka_run_group_tests(tests, survey_begin, survey_end);
}
