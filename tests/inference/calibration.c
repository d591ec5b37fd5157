/* Calibration after the noise: factors that meet the public counts, and the noise that each result has by them, against what
 * happens when one noisy integer moves.                                                                               */
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "inference/calibration.h"
#include "report/results.h"
#include "schedule/noise_law.h"
#include "tests/base/memory_that_fails.h"
#include "tests/release/plans.h"

#define STATISTICS \
    "  - {count: units, by: g}\n  - {count: units, where: {x: {from: 20}}}\n  - {total: x}\n  - {mean: x, by: g}\n  - {share: " \
    "{g: a}}\n" \
    "  - {ratio: {of: x, to: {h: [u, v]}}}\n  - {variance: x}\n"
#define ONE "calibrate: {to: [{count: units, by: h, totals: [300, 400, 300]}]}\n"
#define TWO "calibrate: {to: [{count: units, by: h, totals: [300, 400, 300]}, {count: units, by: g, totals: [450, 550]}]}\n"
#define RAKED \
    "calibrate: {method: raking, to: [{count: units, by: h, totals: [300, 400, 300]}, {count: units, by: g, totals: [450, " \
    "550]}]}\n"

static const char *const designs[] = {
    "srs: {population: 1000, sample: 100}",
    "srs: {population: 1000, sample: 100}, nonresponse: yes",
    ("stratified: {by: g, within: srs, strata: {a: {population: 450, sample: 80}, b: {population: 550, sample: 60}}}, "
     "nonresponse: yes"),
    "weights: {}, weight: w, max_weight: 20",
};

typedef struct scene {
    tamis_plan *plan;
    tmi_schedule s;
    tmi_variance_groups groups;
    tmi_int128 **noisy;
} scene;

static uint64_t word = 1;

static uint64_t next(void) { return next_number(&word); }

/* Integers that rows could have made: of each cell some, of about the middle of the range. */
static void set_up(scene *c, const char *design, const char *statistics)
{
    tamis_error err = {0};
    c->plan = plan_of(design, "1000", statistics);
    if (tmi_schedule_make(&c->s, c->plan, NULL, &err) != TAMIS_OK) fail_msg("%s", err.message);
    assert_int_equal(tmi_variance_groups_make(&c->groups, &c->s.sampling, NULL), TAMIS_OK);
    c->noisy = calloc(c->s.measurement_count, sizeof *c->noisy);
    assert_non_null(c->noisy);
    for (size_t i = 0; i < c->s.measurement_count; i++) {
        const tmi_measurement *m = &c->s.measurements[i];
        c->noisy[i] = calloc(m->cells, sizeof **c->noisy);
        assert_non_null(c->noisy[i]);
        double most = m->quantity.weighing == TMI_UNWEIGHED ? 1 : 0.5, rows = 300.0 / (double)m->cells;
        double each = (0.3 * (double)m->low + 0.7 * (double)m->high) * most;
        for (size_t cell = 0; cell < m->cells; cell++)
            c->noisy[i][cell] = (tmi_int128)(each * rows * (0.8 + 0.4 * (double)(next() % 1000) / 1000));
    }
}

static void tear_down(scene *c)
{
    for (size_t i = 0; i < c->s.measurement_count; i++) free(c->noisy[i]);
    free(c->noisy);
    tmi_variance_groups_clear(&c->groups);
    tmi_schedule_clear(&c->s);
    tamis_plan_free(c->plan);
}

static void read_results(scene *c, tmi_results *results)
{
    tmi_calibration calibration;
    const tmi_inference reading = {&c->s, &c->groups, c->noisy, &calibration};
    assert_int_equal(tmi_calibration_make(&calibration, &c->s, c->noisy, NULL), TAMIS_OK);
    assert_true(calibration.met);
    assert_int_equal(tmi_results_make(results, c->plan, &c->s, NULL), TAMIS_OK);
    for (size_t i = 0; i < results->count; i++) assert_int_equal(tmi_read_result(&results->list[i], &reading, NULL), TAMIS_OK);
    tmi_calibration_clear(&calibration);
}

/* The sum over all noisy integers of (what the estimate changes by one step)^2 times the noise variance. */
static void noise_is_what_the_integers_do(const char *design, const char *calibrate)
{
    char text[1024];
    scene c;
    tmi_results before;
    snprintf(text, sizeof text, "%s%s", STATISTICS, calibrate);
    set_up(&c, design, text);
    read_results(&c, &before);
    double *variances = calloc(before.count, sizeof *variances);
    assert_non_null(variances);
    for (size_t i = 0; i < c.s.measurement_count; i++) {
        const tmi_measurement *m = &c.s.measurements[i];
        for (size_t cell = 0; cell < m->cells; cell++) {
            const tmi_int128 there = c.noisy[i][cell];
            const double step = fmax(1, round(1e-4 * fabs((double)there))),
                         sd = tmi_noise_sd(tmi_cell_law(m, cell)->scale, c.s.gaussian);
            tmi_results up, down;
            c.noisy[i][cell] = there + (tmi_int128)step;
            read_results(&c, &up);
            c.noisy[i][cell] = there - (tmi_int128)step;
            read_results(&c, &down);
            c.noisy[i][cell] = there;
            for (size_t r = 0; r < before.count; r++) {
                double slope = (up.list[r].estimate - down.list[r].estimate) / (2 * step);
                variances[r] += slope * slope * sd * sd;
            }
            tmi_results_clear(&up);
            tmi_results_clear(&down);
        }
    }
    for (size_t r = 0; r < before.count; r++) {
        const tmi_result *result = &before.list[r];
        double found = sqrt(variances[r]);
        if (!(fabs(found - result->noise_sd) <= 0.02 * found + 1e-9 * fabs(result->estimate)))
            fail_msg("%s, %s, statistic %zu, cell %zu: noise %g, by steps %g", design, calibrate, result->statistic, result->cell,
                     result->noise_sd, found);
    }
    free(variances);
    tmi_results_clear(&before);
    tear_down(&c);
}

static void every_noise_has_its_factor(void **state)
{
    (void)state;
    noise_is_what_the_integers_do(designs[0], RAKED);
    noise_is_what_the_integers_do(designs[2], ONE);
    noise_is_what_the_integers_do(designs[3], TWO);
}

/* By hand: post-strata under simple random sampling. Counts of cells k_hg, factors N_h / (w k_h.); the variance is that of the
 * residuals g - k_hg / k_h., which add up to 0 in each post-stratum. */
static void post_strata_by_hand(void **state)
{
    (void)state;
    static const double rows[3][2] = {{10, 20}, {25, 10}, {15, 20}}, N[3] = {300, 400, 300};
    scene c;
    tmi_results results;
    set_up(&c, designs[0], "  - {count: units, by: h}\n  - {count: units, by: g}\n" ONE);
    assert_true(c.s.measurement_count == 2 && c.s.uses[0].known); /* the control cells, and g by h */
    size_t control = c.s.uses[1].table[TMI_CONTROL_ROWS], crossed = c.s.uses[1].table[TMI_NUMERATOR];
    double estimate = 0, variance = 0;
    for (size_t h = 0; h < 3; h++) {
        double all = rows[h][0] + rows[h][1], part = rows[h][0] / all;
        c.noisy[control][h] = (tmi_int128)all;
        for (size_t g = 0; g < 2; g++) c.noisy[crossed][g * 3 + h] = (tmi_int128)rows[h][g];
        estimate += N[h] * part;
        variance += 10.0 * 9 * 100 / 99 * (N[h] / (10 * all)) * (N[h] / (10 * all)) * all * part * (1 - part);
    }
    read_results(&c, &results);
    for (size_t h = 0; h < 3; h++) {
        const tmi_result *r = &results.list[h];
        assert_true(r->estimate == N[h] && r->se == 0 && r->lower == N[h] && r->upper == N[h]);
    }
    assert_true(fabs(results.list[3].estimate - estimate) < 1e-9);
    /* what is added against its noise is less */
    assert_true(fabs(results.list[3].sampling_se - sqrt(variance)) < 1e-3 * sqrt(variance));
    tmi_results_clear(&results);
    tear_down(&c);
}

/* A number that follows from the public counts, read from the very table of control cells, has no error. */
static void margins_of_the_control_cells_are_public(void **state)
{
    (void)state;
    static const char *const all[] = {ONE, TWO, RAKED};
    for (size_t i = 0; i < 3; i++) {
        char text[1024];
        scene c;
        tmi_results results;
        snprintf(text, sizeof text, "  - {count: units}\n  - {table: [g, h]}\n%s", all[i]);
        set_up(&c, designs[1 + 2 * (i % 2)], text);
        read_results(&c, &results);
        const tmi_result *r = &results.list[0];
        if (!(fabs(r->estimate - 1000) < 1e-9 && r->se < 1e-6 && fabs(r->lower - 1000) < 1e-6 && fabs(r->upper - 1000) < 1e-6))
            fail_msg("%.17g, se %g, %.17g to %.17g", r->estimate, r->se, r->lower, r->upper);
        if (i > 0) assert_int_equal(c.s.uses[1].table[TMI_NUMERATOR], c.s.uses[1].table[TMI_CONTROL_ROWS]);
        tmi_results_clear(&results);
        tear_down(&c);
    }
}

/* Too few rows beside the noise: numbers as they were measured, with a note; of respondents alone, none. */
static void what_is_not_met_is_told(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        scene c;
        tmi_results results;
        tmi_calibration calibration;
        set_up(&c, designs[i], "  - {total: x}\n  - {mean: x}\n" ONE);
        c.noisy[c.s.uses[0].table[TMI_CONTROL_ROWS]][1] = 0;
        assert_int_equal(tmi_calibration_make(&calibration, &c.s, c.noisy, NULL), TAMIS_OK);
        assert_false(calibration.met);
        assert_int_equal(tmi_results_make(&results, c.plan, &c.s, NULL), TAMIS_OK);
        const tmi_inference reading = {&c.s, &c.groups, c.noisy, &calibration};
        for (size_t r = 0; r < 2; r++) assert_int_equal(tmi_read_result(&results.list[r], &reading, NULL), TAMIS_OK);
        assert_int_equal(isnan(results.list[0].estimate), i == 1);
        assert_int_equal(results.list[0].reason != NULL, i == 1);
        assert_true(isfinite(results.list[1].estimate) && results.list[1].note_count > 0 &&
                    strstr(results.list[1].notes[0], "not calibrated"));
        tmi_results_clear(&results);
        tmi_calibration_clear(&calibration);
        tear_down(&c);
    }
}

static void assert_refused(const char *design, const char *calibrate, tamis_status status, const char *word)
{
    char text[1024];
    tmi_schedule s;
    tamis_error err = {0};
    snprintf(text, sizeof text, "  - {total: x}\n%s", calibrate);
    tamis_plan *plan = plan_of(design, "1", text);
    assert_int_equal(tmi_schedule_make(&s, plan, NULL, &err), status);
    if (!strstr(err.message, word)) fail_msg("%s", err.message);
    tamis_plan_free(plan);
}

static void what_cannot_be_met_is_refused_before_anything(void **state)
{
    (void)state;
    static const char strata[] =
        "stratified: {by: g, within: srs, strata: {a: {population: 450, sample: 80}, b: {population: 550, sample: 60}}}";
    assert_refused(designs[0], "calibrate: {to: [{total: x, totals: 2000}]}\n", TAMIS_REFUSED, "ranges");
    assert_refused(designs[0],
                   "calibrate: {to: [{count: units, by: h, totals: [1, 2, 3]}, {count: units, by: g, totals: [4, 4]}]}\n",
                   TAMIS_INVALID, "same number");
    assert_refused(strata, "calibrate: {to: [{count: units, by: g, totals: [450, 551]}]}\n", TAMIS_INVALID, "declares");
    assert_refused(designs[0], "calibrate: {to: [{count: units, totals: 999}]}\n", TAMIS_INVALID, "declares");
    assert_refused("stratified: {by: g, within: srs, strata: {a: {population: 450, sample: 80}, b: {population: 550, sample: "
                   "60}}}, regularise: 1/4",
                   ONE, TAMIS_REFUSED, "regularise");
    scene c; /* what the design declares already is met without a table */
    set_up(&c, strata, "  - {total: x}\ncalibrate: {to: [{count: units, by: g, totals: [450, 550]}]}\n");
    assert_false(c.s.calibrated);
    tear_down(&c);
}

static void memory_is_not_there(void **state)
{
    (void)state;
    scene c;
    tmi_calibration calibration;
    tamis_error err;
    set_up(&c, designs[0], "  - {total: x, by: g}\n" RAKED);
    EVERY_ALLOCATION_FAILS(tmi_calibration_make(&calibration, &c.s, c.noisy, &err), { assert_null(calibration.factors); });
    tmi_calibration_clear(&calibration);
    tear_down(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_noise_has_its_factor),
        cmocka_unit_test(post_strata_by_hand),
        cmocka_unit_test(margins_of_the_control_cells_are_public),
        cmocka_unit_test(what_is_not_met_is_told),
        cmocka_unit_test(what_cannot_be_met_is_refused_before_anything),
        cmocka_unit_test(memory_is_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
