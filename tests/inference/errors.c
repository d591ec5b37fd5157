/* Sampling errors that are measured, or public: noise that leaves a sum of weights at or below 0 does not take them away, and a
 * number that does not vary has none. */
#include "inference/errors.h"

#include <math.h>

#include "tests/test.h"

#include "inference/error_term.h"
#include "schedule/typical_group.h"
#include "tests/inference/survey_file.h"

static const char *const designs[] = {
    "pps: {method: sampford, probability: p, sample: 8}, max_weight: 20",
    "pps: {method: sampford, probability: p, sample: 8, population: 80}, max_weight: 20",
    "poisson: {probability: p}, max_weight: 20",
    "poisson: {probability: p, population: 80}, max_weight: 20",
    "weights: {}, weight: w, max_weight: 20",
    "weights: {population: 80}, weight: w, max_weight: 60, typical: {sample: 20}",
    "weights: {cluster: c}, weight: w, max_weight: 20",
    "weights: {deff: 2}, weight: w, max_weight: 20",
};

#define SUMS "  - {count: units, by: g}\n  - {table: [g, h]}\n  - {total: x}\n  - {total: x, by: h}\n"

/* Every integer is `times` standard deviations of its noise. */
static void fill(scene *c, double times)
{
    for (size_t i = 0; i < c->s.measurement_count; i++) {
        const tmi_measurement *m = &c->s.measurements[i];
        for (size_t k = 0; k < m->numbers; k++)
            c->noisy[i][k] = (tmi_int128)(times * tmi_noise_sd(m->laws[0].scale, c->s.gaussian));
    }
}

static void sums_have_errors_whatever_the_noise(void **state)
{
    static const double times[] = {-100, -3, -1, -0.01, 0.01, 1};
    (void)state;
    for (size_t d = 0; d < sizeof designs / sizeof *designs; d++)
        for (size_t k = 0; k < sizeof times / sizeof *times; k++) {
            scene c;
            scene_begin(&c, plan_of(designs[d], "1", SUMS));
            const bool public = strstr(designs[d], "deff"); /* without weights there is no mean weight */
            fill(&c, times[k]);
            scene_read(&c);
            for (size_t i = 0; i < c.results.count && !(public && times[k] < 0); i++) {
                const tmi_result *r = &c.results.list[i];
                if (r->reason || !(r->sampling_se > 0) || !(r->lower < r->upper))
                    fail_msg("%s, noise %g, statistic %zu, cell %zu: %g to %g, sampling error %g, %s", designs[d], times[k],
                             r->statistic, r->cell, r->lower, r->upper, r->sampling_se, r->reason ? r->reason : "no reason");
            }
            scene_end(&c);
        }
}

/* No weight, no interval, and the reason is that. */
static void no_effect_without_weights(void **state)
{
    (void)state;
    scene c;
    scene_begin(&c, plan_of("weights: {deff: 2}, weight: w, max_weight: 20", "1", "  - {total: x}\n"));
    fill(&c, -3);
    scene_read(&c);
    assert_non_null(c.results.list[0].reason);
    assert_non_null(strstr(c.results.list[0].reason, "weights"));
    scene_end(&c);
}

/* The share of all values of a column is 1 in every sample. */
static void what_cannot_vary_has_no_error(void **state)
{
    (void)state;
    scene c;
    scene_begin(&c, survey_plan("weights: {population: 600}, weight: w, max_weight: 9, typical: {sample: 120}",
                                "epsilon: 1000000", SURVEY_X, "  - {share: {g: [a, b]}}\n  - {share: {g: a}}\n"));
    survey_count(&c);
    scene_read(&c);
    assert_true(scene_result(&c, 0, 0)->sampling_se < 1e-3 * scene_result(&c, 1, 0)->sampling_se);
    scene_end(&c);
}

/* A number whose sampling error is not measured has none, with the reason: also the last one of a plan. */
static void what_is_not_measured_has_no_error(void **state)
{
    (void)state;
    scene c;
    scene_begin(&c, survey_plan("stratified: {by: s, within: {cluster: {by: c, smallest: 6, largest: 6}}, "
                                "strata: {p: {population: 40, sample: 8}, q: {population: 30, sample: 12}}}",
                                "epsilon: 10", "{from: {p: 10, q: 5}, to: {p: 30, q: 42}, step: 0.5}",
                                "  - {count: units, by: h}\n  - {total: x}\n"));
    survey_count(&c);
    scene_read(&c);
    assert_null(scene_result(&c, 0, 0)->reason);
    assert_non_null(scene_result(&c, 1, 0)->reason);
    assert_true(isnan(scene_result(&c, 1, 0)->lower));
    scene_end(&c);
}

/* The noise of a measured standard error is the one that the preview expects: of totals, whose linearised variable is known. */
static void the_preview_expects_their_noise(void **state)
{
    (void)state;
    static const struct {
        const char *design, *privacy;
    } plans[] = {
        {"weights: {}, weight: w, max_weight: 9", "epsilon: 1"},
        {"weights: {population: 600}, weight: w, max_weight: 9", "rho: 1"},
        {"poisson: {probability: p}, max_weight: 9", "epsilon: 1"},
        {"cluster: {by: c, population: 100, sample: 20, smallest: 6, largest: 6}", "epsilon: 1"},
        {"cluster: {by: c, population: 100, sample: 20, smallest: 6, largest: 6}", "epsilon: 1, id: u, rows_per_unit: 3"},
    };
    for (size_t p = 0; p < sizeof plans / sizeof *plans; p++) {
        scene c;
        scene_begin(&c, survey_plan(plans[p].design, plans[p].privacy, SURVEY_X, "  - {total: x}\n  - {total: x, by: h}\n"));
        survey_count(&c);
        scene_read(&c);
        for (size_t i = 0; i < 2; i++) {
            const tmi_measurement *m = tmi_errors_measured(&c.s, i);
            tmi_typical_group o;
            tmi_error_source source;
            tmi_error_term term;
            assert_non_null(m);
            tmi_typical_group_make(&o, &c.s, i);
            if (!(o.sampling_sd > 0)) o.sampling_sd = 1; /* not known without a population; the noise does not depend on it */
            assert_int_equal(tmi_error_source_make(&source, &c.inference, m, NULL), TAMIS_OK);
            assert_int_equal(tmi_error_term_make(&term, &source, 0, NULL), TAMIS_OK);
            const double expected = tmi_expected_error(&c.s, i, &o, term.noise).scale * (c.s.gaussian ? 1 : sqrt(2)),
                         own = term.step * tmi_noise_sd(m->laws[0].scale, c.s.gaussian);
            /* what is expected of large weights and of the two slots of a record is a little more than what happens here */
            if (!(expected >= 0.999 * own && expected <= 1.13 * own))
                fail_msg("%s, %s, statistic %zu: %.6g, not %.6g", plans[p].design, plans[p].privacy, i, expected, own);
            tmi_error_term_clear(&term);
            tmi_error_source_clear(&source);
        }
        scene_end(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_have_errors_whatever_the_noise), cmocka_unit_test(no_effect_without_weights),
        cmocka_unit_test(what_cannot_vary_has_no_error),       cmocka_unit_test(what_is_not_measured_has_no_error),
        cmocka_unit_test(the_preview_expects_their_noise),
    };
    return cmocka_run_group_tests(tests, survey_begin, survey_end);
}
