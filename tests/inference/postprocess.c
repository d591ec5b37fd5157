/* What is done to results after the noise, with the noisy integers set by the test. */
#include "tests/test.h"

#include <math.h>
#include <stdlib.h>

#include "inference/calibration.h"
#include "inference/postprocess.h"
#include "report/results.h"
#include "tests/release/plans.h"

typedef struct scene {
    tamis_plan *plan;
    tmi_schedule s;
    tmi_variance_groups groups;
    tmi_int128 **noisy;
    tmi_calibration calibration;
    tmi_results results;
} scene;

static void set_up(scene *c, const char *design, const char *statistics)
{
    tamis_error err = {0};
    *c = (scene){0};
    c->plan = plan_of(design, "1", statistics);
    if (tmi_schedule_make(&c->s, c->plan, NULL, &err) != TAMIS_OK) fail_msg("%s", err.message);
    assert_int_equal(tmi_variance_groups_make(&c->groups, &c->s.sampling, NULL), TAMIS_OK);
    c->noisy = calloc(c->s.measurement_count, sizeof *c->noisy);
    assert_non_null(c->noisy);
    for (size_t i = 0; i < c->s.measurement_count; i++) {
        c->noisy[i] = calloc(c->s.measurements[i].cells, sizeof **c->noisy);
        assert_non_null(c->noisy[i]);
    }
    assert_int_equal(tmi_results_make(&c->results, c->plan, &c->s, NULL), TAMIS_OK);
}

static tmi_inference reading_of(const scene *c) { return (tmi_inference){&c->s, &c->groups, c->noisy, &c->calibration}; }

static void read_results(scene *c)
{
    const tmi_inference reading = reading_of(c);
    tmi_calibration_clear(&c->calibration);
    assert_int_equal(tmi_calibration_make(&c->calibration, &c->s, c->noisy, NULL), TAMIS_OK);
    for (size_t i = 0; i < c->results.count; i++)
        assert_int_equal(tmi_read_result(&c->results.list[i], &reading, NULL), TAMIS_OK);
}

static void postprocess(scene *c)
{
    const tmi_inference reading = reading_of(c);
    assert_int_equal(tmi_postprocess(&c->results, &reading, NULL), TAMIS_OK);
}

static void tear_down(scene *c)
{
    for (size_t i = 0; i < c->s.measurement_count; i++) free(c->noisy[i]);
    free(c->noisy);
    tmi_calibration_clear(&c->calibration);
    tmi_results_clear(&c->results);
    tmi_variance_groups_clear(&c->groups);
    tmi_schedule_clear(&c->s);
    tamis_plan_free(c->plan);
}

static void assert_near(double x, double y, double most)
{
    if (!(fabs(x - y) <= most)) fail_msg("%.17g is not within %g of %.17g", x, most, y);
}

static double square(double x) { return x * x; }

/* A margin of two cells each: the noise is that of least squares, by hand, and the sampling error is not touched. */
static void consistent_changes_the_noise_alone(void **state)
{
    (void)state;
    scene c;
    set_up(&c, "srs: {population: 1000, sample: 100}",
           "  - {count: units, by: g}\n  - {table: [g, h]}\npostprocess: {consistent: yes}\n");
    for (size_t i = 0; i < 2; i++) c.noisy[c.s.uses[0].table[TMI_NUMERATOR]][i] = i ? 37 : 66;
    for (size_t i = 0; i < 6; i++) c.noisy[c.s.uses[1].table[TMI_NUMERATOR]][i] = 10 + 5 * (tmi_int128)i;
    read_results(&c);
    tmi_result before[8];
    for (size_t i = 0; i < 8; i++) before[i] = c.results.list[i];
    postprocess(&c);
    const double margin = square(before[0].noise_sd), cell = square(before[2].noise_sd), all = margin + 3 * cell;
    for (size_t i = 0; i < 8; i++) {
        const tmi_result *r = &c.results.list[i];
        size_t g = i < 2 ? i : (i - 2) / 3;
        double gap = before[g].estimate;
        for (size_t h = 0; h < 3; h++) gap -= before[2 + 3 * g + h].estimate;
        double moved = i < 2 ? -gap * margin / all : gap * cell / all,
               noise = i < 2 ? margin * 3 * cell / all : cell * (margin + 2 * cell) / all;
        assert_near(r->estimate, before[i].estimate + moved, 1e-9);
        assert_near(square(r->noise_sd), noise, 1e-9 * noise);
        assert_near(r->sampling_se, before[i].sampling_se, 0);
        assert_near(square(r->se), square(r->sampling_se) + noise, 1e-9 * square(r->se));
    }
    tear_down(&c);
}

/* Two statistics of one table have the same noise: nothing is gained by adding them up. */
static void numbers_of_one_table_share_their_noise(void **state)
{
    (void)state;
    scene c;
    set_up(&c, "stratified: {by: g, within: srs, strata: {a: {population: 500, sample: 50}, b: {population: 400, sample: 20}}}",
           "  - {count: units, by: h}\n  - {table: [h, g]}\n  - {count: units, by: [h, g]}\npostprocess: {consistent: yes}\n");
    assert_int_equal(c.s.uses[0].table[TMI_NUMERATOR], c.s.uses[1].table[TMI_NUMERATOR]);
    for (size_t i = 0; i < 6; i++) c.noisy[0][i] = 12 + (tmi_int128)i;
    read_results(&c);
    double before[15];
    for (size_t i = 0; i < 15; i++) before[i] = c.results.list[i].noise_sd;
    postprocess(&c);
    for (size_t i = 0; i < 15; i++) assert_near(c.results.list[i].noise_sd, before[i], 1e-9 * before[i]);
    tear_down(&c);
}

/* Every statistic of a group with too few rows is withheld, in every output, whether or not the plan asks for a count; other
 * groups are published. Where nothing counts the rows a table is measured for it. */
#define BY_H \
    "  - {mean: x, by: h}\n  - {share: {g: a}, by: h}\n  - {total: x, by: h}\n  - {ratio: {of: x, to: {g: a}}, by: h}\n" \
    "  - {variance: x, by: h}\n  - {table: [h]}\n  - {total: {g: a}, by: h}\n"

static void fill(scene *c, tmi_int128 value)
{
    for (size_t i = 0; i < c->s.measurement_count; i++)
        for (size_t cell = 0; cell < c->s.measurements[i].cells; cell++)
            c->noisy[i][cell] = (tmi_int128)((double)value / tmi_measurement_unit(&c->s.measurements[i], &c->s.sampling, 0));
}

/* Rows of group 0, 1, 2: 9, 10 and 50, all in one of the cells that are added up. */
static void set_rows(scene *c, size_t statistic)
{
    static const int rows[] = {9, 10, 50};
    const tmi_measurement *m = tmi_table_of(&c->s, statistic, TMI_GROUP_UNITS);
    bool seen[3] = {false};
    assert_non_null(m);
    assert_int_equal(m->quantity.weighing, TMI_UNWEIGHED);
    for (size_t cell = 0; cell < m->cells; cell++) {
        size_t group = tmi_group_in(&c->s, statistic, m, cell);
        c->noisy[c->s.uses[statistic].table[TMI_GROUP_UNITS]][cell] = seen[group] ? 0 : rows[group];
        seen[group] = true;
    }
}

static void assert_withheld(const scene *c)
{
    char *csv, *json;
    for (size_t i = 0; i < c->results.count; i++) {
        const tmi_result *r = &c->results.list[i];
        bool few = r->cell == 0;
        if (few != (isnan(r->estimate) && isnan(r->se) && isnan(r->lower) && r->df == -1 && r->reason &&
                    strstr(r->reason, "too few sampled units")))
            fail_msg("statistic %zu, group %zu: %g, %s", r->statistic, r->cell, r->estimate, r->reason ? r->reason : "published");
    }
    assert_int_equal(tmi_results_csv(&csv, &c->results, NULL), TAMIS_OK);
    size_t lines = 0;
    for (const char *line = csv; (line = strstr(line, ",u,,,,,,,,,,,")); line++) lines++;
    assert_int_equal(lines, c->plan->statistic_count);
    tamis_free(csv);
    tmi_account account = {0};
    tmi_promised promised = {0};
    tmi_results results = c->results;
    results.account = &account;
    results.promised = &promised;
    assert_int_equal(tmi_results_json(&json, &results, NULL), TAMIS_OK);
    lines = 0;
    for (const char *at = json; (at = strstr(at, "\"estimate\": null")); at++) lines++;
    assert_int_equal(lines, c->plan->statistic_count);
    tamis_free(json);
}

static void small_groups_are_withheld_whole(void **state)
{
    (void)state;
    static const char *const designs[] = {
        "srs: {population: 10000, sample: 1000}",
        "stratified: {by: g, within: srs, strata: {a: {population: 5000, sample: 500}, b: {population: 4000, sample: 20}}}",
        "stratified: {by: g, within: srs, strata: {a: {population: 5000, sample: 500}, b: {population: 4000, sample: 350}}}",
        "weights: {population: 10000}, weight: w, max_weight: 20",
        "bernoulli: {rate: 1/10, population: 10000}",
        "cluster: {by: c, population: 400, sample: 50, smallest: 1, largest: 40}",
    };
    for (size_t i = 0; i < sizeof designs / sizeof *designs; i++) {
        scene c;
        set_up(&c, designs[i], BY_H "postprocess: {suppress: {units_below: 10}}\n");
        fill(&c, 500);
        for (size_t k = 0; k < c.plan->statistic_count; k++) set_rows(&c, k);
        read_results(&c);
        postprocess(&c);
        assert_withheld(&c);
        tear_down(&c);
    }
}

/* A total alone: the rows of its groups are one more table, and the whole budget is still spent, no more. */
static void rows_that_nothing_counts_are_measured(void **state)
{
    (void)state;
    scene c, without;
    set_up(&c, "srs: {population: 10000, sample: 1000}", "  - {total: x, by: h}\npostprocess: {suppress: {units_below: 10}}\n");
    set_up(&without, "srs: {population: 10000, sample: 1000}", "  - {total: x, by: h}\n");
    assert_int_equal(c.s.measurement_count, without.s.measurement_count + 1);
    assert_int_equal(tmi_number_compare_int(c.s.spent, 1), 0);
    tear_down(&c);
    tear_down(&without);
    /* the whole sample is no small group, and nobody pays for its rows */
    set_up(&c, "weights: {population: 10000}, weight: w, max_weight: 20",
           "  - {total: x}\n  - {count: units, where: {g: a}}\npostprocess: {suppress: {units_below: 10}}\n");
    assert_null(tmi_table_of(&c.s, 0, TMI_GROUP_UNITS));
    assert_non_null(tmi_table_of(&c.s, 1, TMI_GROUP_UNITS));
    read_results(&c);
    postprocess(&c);
    assert_true(isfinite(c.results.list[0].estimate) && isnan(c.results.list[1].estimate) && c.results.list[1].note_count == 0);
    tear_down(&c);
    /* all rows, and those of a stratum, are public: nothing is measured, and the rule still holds */
    set_up(&c, "stratified: {by: g, within: srs, strata: {a: {population: 500, sample: 50}, b: {population: 40, sample: 4}}}",
           "  - {total: x}\n  - {total: x, by: g}\npostprocess: {suppress: {units_below: 10}}\n");
    assert_null(tmi_table_of(&c.s, 0, TMI_GROUP_UNITS));
    assert_null(tmi_table_of(&c.s, 1, TMI_GROUP_UNITS));
    fill(&c, 100);
    read_results(&c);
    postprocess(&c);
    assert_true(isfinite(c.results.list[0].estimate) && isfinite(c.results.list[1].estimate) &&
                isnan(c.results.list[2].estimate));
    tear_down(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_groups_are_withheld_whole),
        cmocka_unit_test(rows_that_nothing_counts_are_measured),
        cmocka_unit_test(consistent_changes_the_noise_alone),
        cmocka_unit_test(numbers_of_one_table_share_their_noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
