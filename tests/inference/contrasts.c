/* Differences, quotients and contrasts (inference/contrast.h): their noise is that of the integers that they are read from, their
 * intervals scale with their weights, and are the usual ones where denominators are known. */
#include "tests/test.h"

#include <math.h>

#include "inference/contrast_noise.h"
#include "inference/error_term.h"
#include "inference/waves.h"
#include "num/law/noise.h"
#include "schedule/standard_errors.h"
#include "tests/base/memory_that_fails.h"
#include "tests/inference/survey_file.h"

#define STATISTICS \
    "  - {difference: {mean: x, between: {g: [a, b]}}}\n  - {difference: {total: z, between: {g: [a, b]}}, by: h}\n" \
    "  - {difference: {count: units, between: {g: [a, b]}}}\n  - {quotient: {mean: x, between: {g: [b, a]}}}\n" \
    "  - {contrast: {mean: y, by: {x: [15, 22]}, weights: [-1, 2, -1]}}\n" \
    "  - {difference: {share: {x: {to: 17}}, minus: {share: {x: {from: 22}}}}}\n  - {difference: {mean: x, minus: {mean: y}}}\n" \
    "  - {difference: {mean: y, between: {s: [p, q]}}}\n  - {mean: x}\n  - {count: units, by: h}\n"

static const char *const designs[] = {
    "srs: {population: 600, sample: 120}",
    "stratified: {by: s, within: srs, strata: {p: {population: 400, sample: 48}, q: {population: 150, sample: 72}}}",
    "cluster: {by: c, population: 100, sample: 20, smallest: 6, largest: 6}",
    "weights: {population: 600}, weight: w, max_weight: 9",
};

/* The value of a contrast's group, from the integers as they are now. */
static double value_of(const scene *c, size_t statistic, size_t group)
{
    tmi_inference inference;
    tmi_contrast_sums sums;
    double value = 0;
    assert_int_equal(tmi_inference_make(&inference, &c->s, c->noisy, NULL), TAMIS_OK);
    assert_int_equal(tmi_contrast_sums_make(&sums, &inference, statistic, NULL), TAMIS_OK);
    tmi_contrast_take_group(&sums, group);
    for (size_t k = 0; k < sums.term_count; k++) value += sums.terms[k].weight * sums.terms[k].value;
    if (c->plan->statistics[statistic].kind == TMI_CONTRAST_QUOTIENT) value = sums.terms[0].value / sums.terms[1].value;
    tmi_contrast_sums_clear(&sums);
    tmi_inference_clear(&inference);
    return value;
}

/* Each integer is moved by itself: what that does to the contrast, squared, times the variance of its noise. */
static void their_noise_is_that_of_the_integers(void **state)
{
    (void)state;
    for (size_t d = 0; d < sizeof designs / sizeof *designs; d++) {
        scene c;
        scene_begin(&c, survey_plan(designs[d], "epsilon: 30", SURVEY_X, STATISTICS));
        survey_count(&c);
        scene_read(&c);
        for (size_t i = 0; i < c.plan->asked_count; i++) {
            const size_t group = (size_t)tmi_statistic_cells(&c.plan->statistics[i]) - 1;
            double variance = 0;
            if (!c.plan->statistics[i].contrast) continue;
            for (size_t m = 0; m < c.s.measurement_count; m++) {
                const tmi_measurement *measurement = &c.s.measurements[m];
                if (tmi_method_of(measurement->marginal.weighting)) continue;
                for (size_t k = 0; k < measurement->numbers; k++) {
                    const size_t stratum = k / (measurement->numbers / measurement->strata);
                    const double sd = tmi_noise_sd(tmi_law_in_stratum(measurement, stratum)->scale, c.s.gaussian);
                    const int64_t step = (int64_t)fmax(sd / 64, 1);
                    c.noisy[m][k] += step;
                    const double up = value_of(&c, i, group);
                    c.noisy[m][k] -= 2 * step;
                    const double down = value_of(&c, i, group);
                    c.noisy[m][k] += step;
                    variance += pow((up - down) / (2 * (double)step) * sd, 2);
                }
            }
            const double found = scene_result(&c, i, group)->noise_sd, wanted = sqrt(variance);
            if (!(fabs(found - wanted) <= 2e-3 * wanted))
                fail_msg("%s, statistic %zu: %.9g, not %.9g", designs[d], i, found, wanted);
        }
        scene_end(&c);
    }
}

/* Of two columns of the same rows the noise of the sampling variance is that of all integers that their squares and products
 * are made of: each is moved by itself, as above. Both are complete, so that their mean and the rows are where the variance is
 * flat. */
static void the_noise_of_their_squares_is_that_of_the_integers(void **state)
{
    (void)state;
    scene c;
    tmi_contrast_sums sums;
    double found, variance = 0, before;
    scene_begin(&c, survey_plan(designs[0], "epsilon: 3000", SURVEY_X,
                                "  - {difference: {mean: z, minus: {share: {h: u}}}}\n  - {mean: z, by: h}\n"));
    survey_count(&c);
    scene_read(&c);
    before = scene_result(&c, 0, 0)->sampling_se;
    for (size_t m = 0; m < c.s.measurement_count; m++)
        for (size_t k = 0; k < c.s.measurements[m].numbers; k++) {
            const double sd = tmi_noise_sd(c.s.measurements[m].laws[0].scale, c.s.gaussian);
            const int64_t step = (int64_t)fmax(sd, 1);
            double se[2];
            for (int side = 0; side < 2; side++) {
                c.noisy[m][k] += side == 0 ? step : -2 * step;
                scene_read(&c);
                se[side] = scene_result(&c, 0, 0)->sampling_se;
            }
            c.noisy[m][k] += step;
            variance += pow((se[0] * se[0] - se[1] * se[1]) / (2 * (double)step) * sd, 2);
        }
    scene_read(&c);
    assert_int_equal(tmi_contrast_sums_make(&sums, &c.inference, 0, NULL), TAMIS_OK);
    tmi_contrast_take_group(&sums, 0);
    assert_int_equal(tmi_contrast_squares_noise(&found, &sums, 0, 0, tmi_group_part(&c.s, 0, 0), true, 0, 1, NULL), TAMIS_OK);
    if (!(fabs(sqrt(found / variance) - 1) < 0.02) || !(sqrt(found) < 0.1 * before * before))
        fail_msg("%.9g, not %.9g; standard error %.9g", sqrt(found), sqrt(variance), before);
    tmi_contrast_sums_clear(&sums);
    scene_end(&c);
}

/* Two simple random samples of 120 of 600 that share 60 units: the earlier values are those of x, which are 4 or missing here. */
static void an_overlap_takes_the_covariance_off(void **state)
{
    (void)state;
    scene c;
    tmi_wave_number then = {
        .estimate = -4, .sampling_se = 0.2, .lower = -4.4, .upper = -3.6, .least = -4, .most = 4, .bias = NAN};
    tmi_earlier own = {.statistic = 1, .sample = 120, .population = 600, .numbers = &then, .count = 1};
    tmi_earlier_list list = {&own, 1};
    double sum = 0, mean = 0;
    then.rows = 600;
    scene_begin(&c, survey_plan(designs[0], "epsilon: 1000000", "{from: -4, to: 4, step: 1}",
                                "  - {mean: z}\n  - {change: {mean: z}, since: w1, overlap: {size: 60, before: x}}\n"));
    survey_count(&c);
    scene_read(&c);
    c.s.earlier = &list;
    assert_int_equal(tmi_read_changes(&c.results, &c.inference, NULL), TAMIS_OK);
    for (int i = 0; i < SURVEY_ROWS; i++) mean += survey_z[i] / SURVEY_ROWS;
    for (int i = 0; i < SURVEY_ROWS; i++) sum += survey_x[i] ? (survey_z[i] - mean) * (4 - then.estimate) : 0;
    const tmi_result *r = scene_result(&c, 1, 0), *now = scene_result(&c, 0, 0);
    const double both = now->sampling_se * now->sampling_se + 0.04, together = (60 / 14400.0 - 1 / 600.0) / 60 * sum,
                 wanted = sqrt(both - 2 * together);
    assert_true(fabs(2 * together) > 0.05 * both);
    if (!(fabs(r->sampling_se - wanted) < 2e-3 * wanted))
        fail_msg("%.9g, not %.9g; both %.9g", r->sampling_se, wanted, sqrt(both));
    c.s.earlier = NULL;
    scene_end(&c);
}

/* A contrast with the weights of a difference is that difference, and one with three times these has three times its interval. */
static void weights_scale_everything(void **state)
{
    (void)state;
    for (size_t d = 0; d < sizeof designs / sizeof *designs; d++) {
        scene c;
        scene_begin(&c, survey_plan(designs[d], "epsilon: 100", SURVEY_X,
                                    "  - {difference: {mean: x, between: {g: [b, a]}}, by: h}\n"
                                    "  - {contrast: {mean: x, by: g, weights: [-3, 3]}, by: h}\n"
                                    "  - {difference: {total: y, between: {g: [b, a]}}}\n"
                                    "  - {contrast: {total: y, by: g, weights: [-1, 1]}}\n"));
        survey_count(&c);
        scene_read(&c);
        for (size_t i = 0; i < 4; i += 2) {
            const double times = i == 0 ? 3 : 1;
            for (size_t g = 0; g < (size_t)tmi_statistic_cells(&c.plan->statistics[i]); g++) {
                const tmi_result *a = scene_result(&c, i, g), *b = scene_result(&c, i + 1, g);
                const double first[] = {a->estimate, a->noise_sd}, second[] = {b->estimate, b->noise_sd};
                for (size_t k = 0; k < 2; k++)
                    if (!(fabs(times * first[k] - second[k]) <= 1e-9 * fabs(second[k])))
                        fail_msg("%s, statistic %zu, group %zu: %.12g and %.12g", designs[d], i, g, first[k], second[k]);
                const bool measured = tmi_errors_measured(&c.s, i) != NULL; /* once each, so that limits may differ */
                const double ends = (b->upper - b->lower) / (times * (a->upper - a->lower)), near = measured ? 0.3 : 1e-6;
                if (!(fabs(ends - 1) <= near)) fail_msg("%s, statistic %zu, group %zu: %.9g", designs[d], i, g, ends);
            }
        }
        scene_end(&c);
    }
}

/* With next to no noise the interval of a difference of means is d -+ t se, a little more where the sizes of groups of some
 * 50 rows are left to chance too, and that of a quotient is skewed upwards. */
static void intervals_without_noise_are_the_usual_ones(void **state)
{
    (void)state;
    scene c;
    scene_begin(&c, survey_plan(designs[0], "epsilon: 100000", SURVEY_X, STATISTICS));
    survey_count(&c);
    scene_read(&c);
    for (size_t i = 0; i < c.plan->asked_count; i++) {
        const tmi_result *r = scene_result(&c, i, 0);
        const tmi_plan_statistic *t = &c.plan->statistics[i];
        if (!t->contrast || t->contrast->compared[0].kind == TMI_SHARE) continue; /* shares have Wilson's ends */
        assert_true(r->df == 119 && r->noise_sd < 1e-2 * r->se);
        const double reach = 1.9801 * r->se, low = (r->estimate - r->lower) / reach, high = (r->upper - r->estimate) / reach;
        const double skewed = t->kind == TMI_CONTRAST_QUOTIENT ? 0.15 : 0.06;
        if (!(fabs(low - 1) < skewed && fabs(high - 1) < skewed)) fail_msg("statistic %zu: %.6g and %.6g", i, low, high);
        if (t->kind == TMI_CONTRAST_QUOTIENT && !(high > low)) fail_msg("%.6g and %.6g", low, high);
    }
    scene_end(&c);
}

/* A quotient whose denominator may be 0 has no interval, and one below 0 no estimate; the reasons are there. */
static void quotients_need_a_denominator(void **state)
{
    (void)state;
    scene c;
    scene_begin(&c, survey_plan(designs[0], "epsilon: 1/1000", SURVEY_X, "  - {quotient: {total: y, between: {g: [a, b]}}}\n"));
    survey_count(&c);
    scene_read(&c);
    const tmi_result *r = scene_result(&c, 0, 0);
    assert_true(!isnan(r->estimate) && isnan(r->lower) && isnan(r->upper) && r->reason);
    for (size_t m = 0; m < c.s.measurement_count; m++)
        for (size_t k = 0; k < c.s.measurements[m].numbers; k++) c.noisy[m][k] = -1000;
    scene_read(&c);
    assert_true(isnan(scene_result(&c, 0, 0)->lower) && scene_result(&c, 0, 0)->reason);
    scene_end(&c);
}

/* Any allocation may fail: the plan, its schedule, the results. */
static void memory_may_be_short(void **state)
{
    (void)state;
    static const char statistics[] = "  - {difference: {mean: x, between: {g: [a, b]}}}\n"
                                     "  - {difference: {share: {x: {to: 17}}, minus: {share: {x: {from: 22}}}}, by: g}\n"
                                     "  - {quotient: {total: y, between: {g: [a, b]}}}\n"
                                     "  - {difference: {mean: x, minus: {mean: y}}}\n";
    for (size_t d = 0; d < sizeof designs / sizeof *designs; d++) {
        scene c;
        tmi_error_source source;
        scene_begin(&c, survey_plan(designs[d], "epsilon: 30", SURVEY_X, statistics));
        survey_count(&c);
        scene_read(&c);
        EVERY_ALLOCATION_FAILS(tmi_read_contrasts(&c.results, &c.inference, NULL), {});
        for (size_t m = 0; m < c.s.measurement_count; m++) {
            tmi_error_term term;
            if (!tmi_method_of(c.s.measurements[m].marginal.weighting)) continue;
            EVERY_ALLOCATION_FAILS(tmi_error_source_make(&source, &c.inference, &c.s.measurements[m], NULL), {});
            EVERY_ALLOCATION_FAILS(tmi_error_term_make(&term, &source, 0, NULL), {});
            tmi_error_term_clear(&term);
            tmi_error_source_clear(&source);
        }
        scene_end(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(their_noise_is_that_of_the_integers),
        cmocka_unit_test(the_noise_of_their_squares_is_that_of_the_integers),
        cmocka_unit_test(an_overlap_takes_the_covariance_off),
        cmocka_unit_test(weights_scale_everything),
        cmocka_unit_test(intervals_without_noise_are_the_usual_ones),
        cmocka_unit_test(quotients_need_a_denominator),
        cmocka_unit_test(memory_may_be_short),
    };
    return cmocka_run_group_tests(tests, survey_begin, survey_end);
}
