/* Which statistics share a pool, and what a number that cannot vary says in one. */
#include "tests/test.h"

#include <math.h>

#include "tests/inference/survey_file.h"

static const char weights[] = "weights: {population: 600}, weight: w, max_weight: 9, typical: {sample: 120}";

/* Statistics of one kind about one column, by whatever groups; counts by the same groups. */
static void pools_are_of_one_column(void **state)
{
    (void)state;
    scene c;
    scene_begin(&c,
                survey_plan(weights, "epsilon: 2", SURVEY_X,
                            "  - {count: units, by: g}\n  - {table: [g, h]}\n  - {count: units, by: h}\n  - {share: {h: u}}\n"
                            "  - {share: {h: [u, v]}, by: g}\n  - {share: {g: a}, by: h}\n  - {mean: x}\n  - {mean: x, by: g}\n"
                            "  - {mean: z, by: g}\n  - {total: x, by: g}\n  - {count: units, by: g, where: {h: u}}\n"));
    static const int pool[] = {0, 1, 2, 3, 3, 4, 5, 5, 6, 7, 0};
    assert_int_equal(c.plan->statistic_count, sizeof pool / sizeof *pool);
    for (size_t i = 0; i < c.plan->statistic_count; i++)
        for (size_t k = 0; k < c.plan->statistic_count; k++)
            if (tmi_are_pooled(&c.plan->statistics[i], &c.plan->statistics[k]) != (pool[i] == pool[k]))
                fail_msg("statistics %zu and %zu", i, k);
    scene_end(&c);
}

/* The share of all values of a column is 1 in every sample. Its squares are rounding errors, and so is their noise. */
static void what_cannot_vary_says_nothing(void **state)
{
    (void)state;
    scene c;
    tmi_statistic_sums sums;
    scene_begin(&c, survey_plan(weights, "epsilon: 2", SURVEY_X, "  - {share: {g: [a, b]}}\n  - {share: {g: a}}\n"));
    survey_count(&c);
    scene_prepare(&c);
    assert_int_equal(tmi_statistic_sums_make(&sums, &c.inference, 0, NULL), TAMIS_OK);
    assert_true(isnan(tmi_pool_entry_of(&sums.groups[0], &c.inference, 1 + 1e-9).ratio));
    assert_true(!isnan(tmi_pool_entry_of(&sums.groups[0], &c.inference, 0.5).ratio));
    tmi_statistic_sums_clear(&sums);
    assert_int_equal(tmi_statistic_sums_make(&sums, &c.inference, 1, NULL), TAMIS_OK);
    assert_true(!isnan(tmi_pool_entry_of(&sums.groups[0], &c.inference, 0.6).ratio));
    tmi_statistic_sums_clear(&sums);
    scene_end(&c);
}

/* A public design effect times the mean weight, also where that is below 1: 1/2 of weights that are all bounded by 1. */
static void a_public_effect_may_be_below_one(void **state)
{
    (void)state;
    scene c;
    scene_begin(&c, survey_plan("weights: {deff: 1/2}, weight: w, max_weight: 1, typical: {sample: 120}", "epsilon: 1000",
                                SURVEY_X, "  - {count: units, by: g}\n  - {total: z}\n"));
    survey_count(&c);
    scene_prepare(&c);
    for (size_t i = 0; i < 2; i++) {
        const double mean = c.inference.pools->list[i].mean;
        if (!(fabs(mean - 0.5) < 0.01)) fail_msg("%zu: %g", i, mean);
    }
    scene_end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pools_are_of_one_column),
        cmocka_unit_test(what_cannot_vary_says_nothing),
        cmocka_unit_test(a_public_effect_may_be_below_one),
    };
    return cmocka_run_group_tests(tests, survey_begin, survey_end);
}
