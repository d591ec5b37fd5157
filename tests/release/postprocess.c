/* What is done to results after the noise, with the noisy integers set by the test. */
#include "test.h"

#include <math.h>
#include <stdlib.h>

#include "release/calibration.h"
#include "release/plans.h"
#include "release/postprocess.h"

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

static tmi_reading reading_of(const scene *c)
{
    return (tmi_reading){&c->s, &c->groups, c->noisy, &c->calibration};
}

static void read_results(scene *c)
{
    const tmi_reading reading = reading_of(c);
    tmi_calibration_clear(&c->calibration);
    assert_int_equal(tmi_calibration_make(&c->calibration, &c->s, c->noisy, NULL), TAMIS_OK);
    for (size_t i = 0; i < c->results.count; i++) assert_int_equal(tmi_read_result(&c->results.list[i], &reading, NULL), TAMIS_OK);
}

static void postprocess(scene *c)
{
    const tmi_reading reading = reading_of(c);
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

static double square(double x)
{
    return x * x;
}

/* A margin of two cells each: the noise is that of least squares, by hand, and the sampling error is not touched. */
static void consistent_changes_the_noise_alone(void **state)
{
    (void)state;
    scene c;
    set_up(&c, "srs: {population: 1000, sample: 100}",
           "  - {count: units, by: g}\n  - {table: [g, h]}\npostprocess: {consistent: yes}\n");
    for (size_t i = 0; i < 2; i++) c.noisy[c.s.uses[0].table[TMI_A]][i] = i ? 37 : 66;
    for (size_t i = 0; i < 6; i++) c.noisy[c.s.uses[1].table[TMI_A]][i] = 10 + 5 * (tmi_int128)i;
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
        double moved = i < 2 ? -gap * margin / all : gap * cell / all, noise = i < 2 ? margin * 3 * cell / all : cell * (margin + 2 * cell) / all;
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
    assert_int_equal(c.s.uses[0].table[TMI_A], c.s.uses[1].table[TMI_A]);
    for (size_t i = 0; i < 6; i++) c.noisy[0][i] = 12 + (tmi_int128)i;
    read_results(&c);
    double before[15];
    for (size_t i = 0; i < 15; i++) before[i] = c.results.list[i].noise_sd;
    postprocess(&c);
    for (size_t i = 0; i < 15; i++) assert_near(c.results.list[i].noise_sd, before[i], 1e-9 * before[i]);
    tear_down(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(consistent_changes_the_noise_alone),
        cmocka_unit_test(numbers_of_one_table_share_their_noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
