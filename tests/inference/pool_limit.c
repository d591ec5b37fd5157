/* Sampling errors that rest on pooled ratios: noise that leaves a sum of weights at or below 0 does not take them away. */
#include "tests/test.h"

#include <math.h>

#include "tests/inference/scene.h"

static const char *const designs[] = {
    "pps: {method: sampford, probability: p, sample: 8}, max_weight: 20",
    "pps: {method: sampford, probability: p, sample: 8, population: 80}, max_weight: 20",
    "poisson: {probability: p}, max_weight: 20",
    "poisson: {probability: p, population: 80}, max_weight: 20",
    "weights: {}, weight: w, max_weight: 20",
    "weights: {deff: 2}, weight: w, max_weight: 20",
};

#define SUMS "  - {count: units, by: g}\n  - {table: [g, h]}\n  - {total: x}\n  - {total: x, by: h}\n"

/* Every integer is `times` standard deviations of its noise. */
static void fill(scene *c, double times)
{
    for (size_t i = 0; i < c->s.measurement_count; i++) {
        const tmi_measurement *m = &c->s.measurements[i];
        const double sd = 1 / sqrt(tmi_measurement_precision(&c->s, m)) / tmi_measurement_unit(m, &c->s.workload, 0);
        for (size_t k = 0; k < m->numbers; k++) c->noisy[i][k] = (tmi_int128)(times * sd);
    }
}

/* The largest that V/s can be, with the n/(n-1) of eight units and a design effect of 2, and so the largest variance that a noise
 * s of the squares can hide. */
static void sums_have_errors_whatever_the_noise(void **state)
{
    static const double times[] = {-100, -3, -1, -0.01, 0, 0.01, 1};
    (void)state;
    for (size_t d = 0; d < sizeof designs / sizeof *designs; d++)
        for (size_t k = 0; k < sizeof times / sizeof *times; k++) {
            scene c;
            scene_begin(&c, plan_of(designs[d], "1", SUMS));
            fill(&c, times[k]);
            scene_read(&c);
            for (size_t i = 0; i < c.results.count; i++) {
                const tmi_result *r = &c.results.list[i];
                if (r->reason || !(r->sampling_se > 0) || !(r->lower < r->upper))
                    fail_msg("%s, noise %g, statistic %zu, cell %zu: %g to %g, sampling error %g, %s", designs[d], times[k],
                             r->statistic, r->cell, r->lower, r->upper, r->sampling_se, r->reason ? r->reason : "no reason");
            }
            scene_end(&c);
        }
}

/* b_U s is never above the largest a/w times s. */
static void no_ratio_is_above_the_largest_weight(void **state)
{
    static const double most[] = {19 * 8 / 7.0, 19 * 8 / 7.0, 19, 19, 19, 40};
    (void)state;
    for (size_t d = 0; d < sizeof designs / sizeof *designs; d++) {
        scene c;
        scene_begin(&c, plan_of(designs[d], "1", SUMS));
        for (double times = -2; times <= 2; times += 0.25) {
            fill(&c, times);
            scene_prepare(&c);
            for (size_t i = 0; i < c.plan->statistic_count; i++) {
                tmi_statistic_sums z;
                assert_int_equal(tmi_statistic_sums_make(&z, &c.inference, i, NULL), TAMIS_OK);
                for (size_t g = 0; g < z.count; g++) {
                    double relative, b = tmi_pool_limit(&relative, &z.groups[g], &c.inference, i, 0);
                    if (!(b > 0) || !(b <= most[d] * (1 + 1e-6)))
                        fail_msg("%s, noise %g, statistic %zu, cell %zu: %g, above %g", designs[d], times, i, g, b, most[d]);
                }
                tmi_statistic_sums_clear(&z);
            }
        }
        scene_end(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_have_errors_whatever_the_noise),
        cmocka_unit_test(no_ratio_is_above_the_largest_weight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
