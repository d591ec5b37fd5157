/* Regressions on categories (inference/model_results.c): their noise is that of the integers that they are read from, saturated
 * models are differences of means, intercepts have the intervals of means, and what noise leaves nothing of is not determined. */
#include "tests/test.h"

#include <math.h>
#include <string.h>

#include "inference/contrast_noise.h"
#include "inference/error_term.h"
#include "num/law/noise.h"
#include "schedule/standard_errors.h"
#include "tests/base/memory_that_fails.h"
#include "tests/inference/survey_file.h"

#define MODELS \
    "  - {regression: {of: x, on: [g, h]}}\n  - {regression: {of: x, on: [g, {y: [3]}], interactions: [[g, y]]}, by: s}\n" \
    "  - {regression: {of: {x: {from: 18}}, on: [h, g], family: logistic}, baseline: {g: b}}\n" \
    "  - {regression: {of: y, on: [g], family: poisson}, where: {x: {from: 10}}}\n"

static const char *const designs[] = {
    "srs: {population: 600, sample: 120}",
    "stratified: {by: s, within: srs, strata: {p: {population: 400, sample: 48}, q: {population: 150, sample: 72}}}",
    "cluster: {by: c, population: 100, sample: 20, smallest: 6, largest: 6}",
    "weights: {population: 600}, weight: w, max_weight: 9",
};

#define MOST_COEFFICIENTS 8

/* The coefficients of a group, from the integers as they are now. Gives how many there are. */
static size_t read_coefficients(double values[MOST_COEFFICIENTS], const scene *c, size_t statistic, size_t group)
{
    tmi_inference inference;
    tmi_contrast_sums sums;
    assert_int_equal(tmi_inference_make(&inference, &c->s, c->noisy, NULL), TAMIS_OK);
    assert_int_equal(tmi_contrast_sums_make(&sums, &inference, statistic, NULL), TAMIS_OK);
    const size_t terms = sums.coefficients;
    assert_true(terms > 0 && terms <= MOST_COEFFICIENTS);
    tmi_contrast_take_group(&sums, group * terms);
    assert_true(tmi_contrast_is_fitted(&sums));
    for (size_t k = 0; k < terms; k++) values[k] = tmi_contrast_coefficient(&sums, k);
    tmi_contrast_sums_clear(&sums);
    tmi_inference_clear(&inference);
    return terms;
}

/* Compares the stated noise of the coefficients of the last group with their actual noise: each noisy integer is moved by itself,
 * and the squared effect on a coefficient is multiplied by the variance of that integer's noise. */
static void compare_noise(scene *c, size_t i, const char *name)
{
    double up[MOST_COEFFICIENTS], down[MOST_COEFFICIENTS], variance[MOST_COEFFICIENTS] = {0};
    const size_t cells = (size_t)tmi_statistic_cells(&c->plan->statistics[i]), terms = c->plan->statistics[i].model->term_count,
                 group = cells / terms - 1;
    for (size_t m = 0; m < c->s.measurement_count; m++) {
        const tmi_measurement *measurement = &c->s.measurements[m];
        if (tmi_method_of(measurement->marginal.weighting)) continue;
        for (size_t k = 0; k < measurement->numbers; k++) {
            const size_t stratum = k / (measurement->numbers / measurement->strata);
            const double sd = tmi_noise_sd(tmi_law_in_stratum(measurement, stratum)->scale, c->s.gaussian);
            const tmi_int128 before = c->noisy[m][k];
            const int64_t step = (int64_t)fmax(sd / 64, 1);
            c->noisy[m][k] = before + step;
            assert_true(read_coefficients(up, c, i, group) == terms);
            c->noisy[m][k] = before - step;
            read_coefficients(down, c, i, group);
            c->noisy[m][k] = before;
            for (size_t j = 0; j < terms; j++) variance[j] += pow((up[j] - down[j]) / (2 * (double)step) * sd, 2);
        }
    }
    for (size_t j = 0; j < terms; j++) {
        const double found = scene_result(c, i, group * terms + j)->noise_sd, wanted = sqrt(variance[j]);
        if (!(fabs(found - wanted) <= 5e-3 * wanted))
            fail_msg("%s, statistic %zu, term %zu: %.9g, not %.9g", name, i, j, found, wanted);
    }
}

/* Of the models each design has every other one, in turn, or all of them. */
static void their_noise_is_that_of_the_integers(void **state)
{
    (void)state;
    for (size_t d = 0; d < sizeof designs / sizeof *designs; d++) {
        scene c;
        scene_begin(&c, survey_plan(designs[d], "epsilon: 500", SURVEY_X, MODELS));
        survey_count(&c);
        scene_read(&c);
        for (size_t i = 0; i < c.plan->asked_count; i++) {
            if (test_size(1, 0) && (d + i) % 2 == 1) continue;
            compare_noise(&c, i, designs[d]);
        }
        scene_end(&c);
    }
}

/* Sums of products that two tables have in part, and tables of all levels beside them: what an effect takes from each, and what
 * effects of one table share. */
static void noise_of_numbers_in_several_tables(void **state)
{
    (void)state;
    size_t products = 0, levels = 0;
    scene c;
    scene_begin(&c, survey_plan(designs[0], "rho: 500", SURVEY_X_AND_COMPLETE,
                                "  - {regression: {of: q, on: [r, t, s]}}\n  - {regression: {of: t, on: [q, r]}}\n"
                                "  - {regression: {of: q, on: [z, r, t]}}\n  - {mean: q, by: h}\n"));
    survey_count(&c);
    scene_read(&c);
    for (size_t m = 0; m < c.s.measurement_count; m++) {
        const tmi_marginal *marginal = &c.s.measurements[m].marginal;
        products += tmi_is_gram(marginal->form);
        levels += marginal->form == TMI_FULL && !tmi_method_of(marginal->weighting);
    }
    if (!(products == 2 && levels > 0)) fail_msg("%zu tables of products, %zu of levels", products, levels);
    for (size_t i = 0; i < 3; i++) compare_noise(&c, i, "numbers");
    scene_end(&c);
}

/* A linear model with all combinations of its categories is a difference of means, whatever the noise. */
static void saturated_models_are_differences(void **state)
{
    (void)state;
    for (size_t d = 0; d < sizeof designs / sizeof *designs; d++) {
        scene c;
        scene_begin(&c, survey_plan(designs[d], "epsilon: 200", SURVEY_X,
                                    "  - {regression: {of: x, on: [g]}}\n  - {difference: {mean: x, between: {g: [b, a]}}}\n"
                                    "  - {regression: {of: x, on: [g]}, by: h, baseline: {g: b}}\n"
                                    "  - {difference: {mean: x, between: {g: [a, b]}}, by: h}\n  - {mean: x, by: g}\n"));
        survey_count(&c);
        scene_read(&c);
        for (size_t i = 0; i < 4; i += 2) {
            for (size_t g = 0; g < (size_t)tmi_statistic_cells(&c.plan->statistics[i + 1]); g++) {
                const tmi_result *a = scene_result(&c, i, 2 * g + 1), *b = scene_result(&c, i + 1, g);
                assert_true(fabs(a->estimate - b->estimate) <= 1e-9 * fabs(b->estimate) + 1e-9);
                assert_true(fabs(a->noise_sd - b->noise_sd) <= 1e-9 * b->noise_sd);
                const bool measured = tmi_errors_measured(&c.s, i) != NULL; /* once each */
                if (!(fabs(a->sampling_se / b->sampling_se - 1) <= (measured ? 0.3 : 1e-9)))
                    fail_msg("%s: %.9g and %.9g", designs[d], a->sampling_se, b->sampling_se);
            }
        }
        /* and its intercept the mean of the baseline, up to the degrees of freedom that the other coefficient takes */
        const tmi_result *a = scene_result(&c, 0, 0), *b = scene_result(&c, 4, 0);
        assert_true(fabs(a->estimate - b->estimate) <= 1e-9 * fabs(b->estimate));
        assert_true(fabs(a->noise_sd / b->noise_sd - 1) <= 1e-9);
        scene_end(&c);
    }
}

/* With much noise in the rows that a mean is divided by, its interval is skewed; so is that of an intercept. */
static void intercepts_have_the_intervals_of_means(void **state)
{
    (void)state;
    scene c;
    scene_begin(&c,
                survey_plan(designs[0], "epsilon: 8", SURVEY_X, "  - {regression: {of: z, on: [h]}}\n  - {mean: z, by: h}\n"));
    survey_count(&c);
    scene_read(&c);
    const tmi_result *a = scene_result(&c, 0, 0), *b = scene_result(&c, 1, 0);
    assert_true(fabs(a->estimate - b->estimate) <= 1e-9 * fabs(b->estimate));
    const double below = (a->estimate - a->lower) / (b->estimate - b->lower),
                 above = (a->upper - a->estimate) / (b->upper - b->estimate);
    if (!(fabs(below - 1) < 0.05 && fabs(above - 1) < 0.05)) fail_msg("%.6g and %.6g", below, above);
    const double skew = (a->upper - a->estimate) / (a->estimate - a->lower),
                 other = (b->upper - b->estimate) / (b->estimate - b->lower);
    if (!((skew > 1) == (other > 1) && fabs(log(skew)) > 0.3 * fabs(log(other)))) fail_msg("%.6g and %.6g", skew, other);
    scene_end(&c);
}

/* An empty category, and tables of which noise leaves nothing: an answer with its reason, and never a failure. */
static void what_noise_leaves_nothing_of_is_not_determined(void **state)
{
    (void)state;
    for (size_t d = 0; d < sizeof designs / sizeof *designs; d++) {
        scene c;
        scene_begin(&c, survey_plan(designs[d], "epsilon: 1", SURVEY_X, MODELS));
        scene_read(&c); /* all integers are 0 */
        for (size_t i = 0; i < c.results.count; i++) {
            const tmi_result *r = &c.results.list[i];
            assert_true(isnan(r->lower) && isnan(r->p) && r->reason && strncmp(r->reason, "not determined", 14) == 0);
        }
        scene_end(&c);
    }
    /* of much noise the sum of squares may be nothing but noise */
    scene c;
    scene_begin(&c, survey_plan(designs[0], "epsilon: 1/50", SURVEY_X, "  - {regression: {of: x, on: [g]}}\n"));
    survey_count(&c);
    scene_read(&c);
    const tmi_result *r = scene_result(&c, 0, 1);
    assert_true(isnan(r->estimate) && isnan(r->lower) && strstr(r->reason, "as large as the sum of squares"));
    scene_end(&c);
}

/* The p of a coefficient is the confidence with which its interval would just reach 0. */
static void tests_agree_with_intervals(void **state)
{
    (void)state;
    for (size_t d = 0; d < sizeof designs / sizeof *designs; d++) {
        scene c;
        scene_begin(&c, survey_plan(designs[d], "epsilon: 60", SURVEY_X, MODELS));
        survey_count(&c);
        scene_read(&c);
        for (size_t i = 0; i < c.results.count; i++) {
            const tmi_result *r = &c.results.list[i];
            if (isnan(r->p)) continue;
            const bool apart = r->lower > 0 || r->upper < 0;
            if (r->p < 0.045) assert_true(apart);
            if (r->p > 0.055) assert_true(!apart);
        }
        scene_end(&c);
    }
}

static void memory_may_be_short(void **state)
{
    (void)state;
    for (size_t d = 0; d < sizeof designs / sizeof *designs; d++) {
        scene c;
        tmi_error_source source;
        tmi_schedule schedule;
        scene_begin(&c, survey_plan(designs[d], "epsilon: 30", SURVEY_X, "  - {regression: {of: x, on: [g]}}\n"));
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
        EVERY_ALLOCATION_FAILS(tmi_schedule_make(&schedule, c.plan, NULL, NULL), {});
        tmi_schedule_clear(&schedule);
        scene_end(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(their_noise_is_that_of_the_integers),
        cmocka_unit_test(noise_of_numbers_in_several_tables),
        cmocka_unit_test(saturated_models_are_differences),
        cmocka_unit_test(intercepts_have_the_intervals_of_means),
        cmocka_unit_test(what_noise_leaves_nothing_of_is_not_determined),
        cmocka_unit_test(tests_agree_with_intervals),
        cmocka_unit_test(memory_may_be_short),
    };
    return cmocka_run_group_tests(tests, survey_begin, survey_end);
}
