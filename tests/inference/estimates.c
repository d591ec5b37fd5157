/* Noise may fall anywhere: whatever integers come out, reading them is no failure, and each number is told with an interval in
 * its range or with the reason why there is none.                                                                        */
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/inference/scene.h"

#define SUMS \
    "  - {count: units, by: g}\n  - {total: x}\n  - {total: x, by: [g, h]}\n  - {table: [g, h]}\n  - {histogram: x, cuts: " \
    "[20]}\n"
#define QUOTIENTS \
    "  - {mean: x}\n  - {mean: x, by: g}\n  - {share: {g: a}}\n  - {share: {g: a}, by: h}\n  - {ratio: {of: {g: a}, to: {h: " \
    "u}}}\n" \
    "  - {ratio: {of: x, to: {g: a}}, by: h}\n  - {ratio: {of: {g: b}, to: x}}\n  - {variance: x}\n  - {variance: x, by: g}\n"

static const char *const designs[] = {
    "srs: {population: 80, sample: 8}",
    "srs: {population: 80, sample: 1}",
    "srs: {population: 8, sample: 8}",
    "srs: {population: 80, sample: 8}, nonresponse: yes",
    "srs: {population: 80, sample: 1}, nonresponse: yes",
    "systematic: {population: 80, sample: 8, order: public}",
    "bernoulli: {rate: 1/10}",
    "bernoulli: {rate: 1/10, population: 80}",
    "weights: {}, weight: w, max_weight: 20",
    "weights: {population: 80}, weight: w, max_weight: 20",
    "poisson: {probability: p}, max_weight: 20",
    "pps: {method: sampford, probability: p, sample: 8}, max_weight: 20",
    "census: {population: 8}",
    "cluster: {by: c, population: 20, sample: 4, smallest: 1, largest: 4}",
    "cluster: {by: c, population: 20, sample: 1, smallest: 1, largest: 4}",
    "cluster: {by: c, population: 400, sample: 50, smallest: 1, largest: 4}",
    "two_stage: {first: {by: c, population: 20, sample: 4}, second: {population: N, sample: n}}, max_weight: 50",
    "stratified: {by: g, within: srs, strata: {a: {population: 70, sample: 5}, b: {population: 3, sample: 3}}}",
    "stratified: {by: g, within: srs, strata: {a: {population: 70, sample: 1}, b: {population: 30, sample: 3}}}",
    "stratified: {by: g, within: bernoulli, strata: {a: {rate: 1/2}, b: {rate: 1/3}}}",
};

/* ---- integers that nobody would expect ---- */

enum { ZERO, ONE, MOST, LEAST, MIXED, FILLINGS = 6 };

static uint64_t word = 1;

static uint64_t next(void) { return next_number(&word); }

static tmi_int128 filled(int filling, tmi_int128 limit)
{
    const tmi_int128 far = limit > 0 ? limit : 1, some[] = {0, 1, -1, 8, far, -far, 1000, -1000, (tmi_int128)(next() % 64) - 32};
    switch (filling) {
    case ZERO: return 0;
    case ONE: return 1;
    case MOST: return far;
    case LEAST: return -far;
    default: return some[next() % (filling % 2 ? 4 : 9)];
    }
}

/* An interval of no width beside an error. A noise that is nearly always 0 leaves whole numbers as they were: a scale of 1/4
 * moves them once in 28 times. */
static bool is_point(const tmi_result *r)
{
    return r->lower == r->upper && !r->known && r->se > 0.2 && r->se > 1e-9 * fabs(r->estimate);
}

static void assert_told(const tmi_result *r, const char *design, int filling)
{
    bool null = isnan(r->estimate), none = isnan(r->lower);
    bool fine = (null || isfinite(r->estimate)) && none == isnan(r->upper) && (!null || none) &&
                (!none || r->reason || r->known) && (isnan(r->se) || (r->se >= 0 && isfinite(r->se))) &&
                (isnan(r->noise_sd) || (r->noise_sd >= 0 && isfinite(r->noise_sd))) && (none || r->lower <= r->upper) &&
                (none || isnan(r->least) || (r->lower >= r->least && r->upper <= r->most)) &&
                (none || r->outside_range || (r->lower <= r->estimate && r->estimate <= r->upper)) && (none || !is_point(r));
    if (!fine)
        fail_msg("%s, filling %d, statistic %zu, cell %zu: %g, se %g, noise %g, %g to %g of %g to %g, %s", design, filling,
                 r->statistic, r->cell, r->estimate, r->se, r->noise_sd, r->lower, r->upper, r->least, r->most,
                 r->reason ? r->reason : "no reason");
}

static void assert_read(scene *c, const char *design, int filling)
{
    char *csv;
    tmi_text table;
    scene_read(c);
    scene_postprocess(c);
    for (size_t i = 0; i < c->results.count; i++) assert_told(&c->results.list[i], design, filling);
    assert_int_equal(tmi_results_csv(&csv, &c->results, NULL), TAMIS_OK);
    tamis_free(csv);
    tmi_text_init(&table);
    tmi_results_table(&table, &c->results);
    assert_false(table.failed);
    tmi_text_clear(&table);
}

static void read_all(const char *design, const char *epsilon, const char *statistics)
{
    scene c;
    scene_begin(&c, plan_of(design, epsilon, statistics));
    static int turn; /* thinly: every other filling, those in between two plans later: every second plan has another epsilon */
    const int step = test_size(2, 1);
    for (int filling = turn++ / 2 % step; filling < FILLINGS; filling += step) {
        for (size_t i = 0; i < c.s.measurement_count; i++)
            for (size_t k = 0; k < c.s.measurements[i].numbers; k++) c.noisy[i][k] = filled(filling, c.s.measurements[i].limit);
        assert_read(&c, design, filling);
    }
    scene_end(&c);
}

static void counts_and_totals(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof designs / sizeof *designs; i++) {
        if (strstr(designs[i], "nonresponse")) continue; /* totals need calibration there */
        read_all(designs[i], i % 2 ? "1/100" : "20", SUMS);
        if (i % (size_t)test_size(3, 1) == 0)
            read_all(designs[i], i % 2 ? "1" : "20", SUMS "postprocess: {consistent: yes, nonnegative: yes}\n");
    }
}

static void means_shares_ratios_and_variances(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof designs / sizeof *designs; i++) read_all(designs[i], i % 2 ? "1000" : "1/10", QUOTIENTS);
}

static void calibrated(void **state)
{
    (void)state;
    static const char statistics[] =
        "  - {count: units, by: h}\n  - {table: [g, h]}\n  - {total: x, by: g}\n  - {mean: x}\n  - {share: {g: a}}\n"
        "  - {ratio: {of: x, to: {g: a}}}\n  - {variance: x}\npostprocess: {consistent: yes}\n";
    static const char one[] = "calibrate: {to: [{count: units, by: h, totals: [20, 30, 30]}]}\n";
    static const char two[] = "calibrate: {method: raking, to: [{count: units, by: h, totals: [20, 30, 30]}, {count: units, by: "
                              "g, totals: [50, 30]}]}\n";
    for (size_t i = 0; i < sizeof designs / sizeof *designs; i += 3) {
        bool strata = strstr(designs[i], "stratified") != NULL; /* their sizes are not those of `two` */
        char text[1024];
        snprintf(text, sizeof text, "%s%s", statistics, i % 2 && !strata ? two : one);
        read_all(designs[i], "30", text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_and_totals),
        cmocka_unit_test(means_shares_ratios_and_variances),
        cmocka_unit_test(calibrated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
