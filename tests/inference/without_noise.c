/* A release without noise is the unprotected estimate: the true tables of a survey, through reconstruction and reading, against
 * `tamis estimate`. The budget is so large that nothing is added to a variance because it could be noisy. */
#include "tests/test.h"

#include <math.h>

#include "inference/error_term.h"
#include "measure/controls.h"
#include "tests/inference/survey_file.h"

#define SUMS \
    "  - {count: units, by: g}\n  - {count: units, by: [g, h]}\n  - {count: units, where: {x: {from: 20}}}\n  - {total: x}\n" \
    "  - {total: z, by: g}\n  - {total: x, by: [h, g], where: {y: {from: 3}}}\n  - {table: [g, s]}\n  - {histogram: x, cuts: " \
    "[15, 22]}\n" \
    "  - {total: {g: a}, by: s}\n"
#define QUOTIENTS \
    "  - {mean: x}\n  - {mean: x, by: g}\n  - {mean: z, by: [g, s]}\n  - {share: {g: a}}\n  - {share: {x: {from: 20}}, by: h}\n" \
    "  - {ratio: {of: x, to: y}}\n  - {ratio: {of: z, to: y}, by: g}\n  - {ratio: {of: x, to: {g: a}}, by: h}\n" \
    "  - {mean: y, where: {g: a}}\n  - {variance: z}\n  - {variance: z, by: s}\n"

/* Differences, quotients and contrasts: of groups, of two shares that exclude each other and of which one contains the other, in
 * domains, and between strata. */
#define CONTRASTS \
    "  - {difference: {mean: x, between: {g: [a, b]}}}\n  - {difference: {mean: z, between: {g: [b, a]}}, by: h}\n" \
    "  - {difference: {total: z, between: {g: [a, b]}}}\n  - {difference: {count: units, between: {g: [a, b]}}, by: h}\n" \
    "  - {difference: {ratio: {of: x, to: y}, between: {g: [a, b]}}}\n  - {quotient: {mean: x, between: {g: [a, b]}}}\n" \
    "  - {quotient: {total: y, between: {g: [b, a]}}, by: h}\n  - {contrast: {mean: z, by: {x: [15, 22]}, weights: [-1, 2, " \
    "-1]}}\n" \
    "  - {difference: {mean: y, between: {g: [a, b]}}, where: {x: {from: 20}}}\n" \
    "  - {difference: {mean: z, between: {s: [p, q]}}}\n  - {difference: {total: z, between: {s: [p, q]}}, by: g}\n" \
    "  - {difference: {share: {x: {to: 17}}, minus: {share: {x: {from: 22}}}}}\n" \
    "  - {difference: {share: {x: {from: 15}}, minus: {share: {x: {from: 22}}}}, by: g}\n" \
    "  - {difference: {total: {g: a}, minus: {total: {g: b}}}}\n  - {contrast: {total: y, by: g, weights: [1, 3]}}\n"

/* Two numbers of the same rows, whose products are in a table for that: of values that are missing in different rows, in groups
 * and domains, of indicators of two columns and of one that overlap, of a number and its own indicator, beside a count. */
#define PAIRS \
    "  - {difference: {mean: x, minus: {mean: y}}}\n  - {difference: {mean: z, minus: {mean: y}}, by: h}\n" \
    "  - {difference: {share: {g: a}, minus: {share: {h: u}}}}\n  - {difference: {share: {h: [u, v]}, minus: {share: {h: [v, " \
    "w]}}}}\n" \
    "  - {difference: {mean: y, minus: {share: {y: {to: 2}}}}}\n  - {difference: {total: z, minus: {total: y}}, by: g}\n" \
    "  - {difference: {mean: x, minus: {mean: z}}, where: {y: {from: 3}}}\n  - {difference: {count: units, minus: {total: z}}, " \
    "by: g}\n" \
    "  - {difference: {total: {g: a}, minus: {count: units}}, by: s}\n"

/* Which sampling errors are the unprotected ones. */
typedef enum errors { SAME, NOT_THE_SAME } errors;

static void compare(const char *design, const char *privacy, const char *x, const char *statistics, errors errors)
{
    scene c;
    tmi_results truth;
    const bool plain = strstr(design, "srs: {population") == design && !strstr(statistics, "calibrate"); /* n is then known */
    scene_begin(&c, survey_plan(design, privacy, x, statistics));
    survey_count(&c);
    scene_read(&c);
    survey_estimate(&truth, c.plan);
    assert_int_equal(truth.count, c.results.count);
    for (size_t i = 0; i < truth.count; i++) {
        const tmi_result *r = &c.results.list[i], *t = &truth.list[i];
        const bool variance = c.plan->statistics[r->statistic].kind ==
                              TMI_VARIANCE; /* whose sampling error is the largest possible */
        const double near = 1e-6 * fabs(t->estimate) + 1e-6;
        if (!(fabs(r->estimate - t->estimate) <= (variance && !plain ? 0.025 * t->estimate : near)))
            fail_msg("%s, statistic %zu, cell %zu: %.12g, not %.12g", design, r->statistic, r->cell, r->estimate, t->estimate);
        if (errors == SAME && !variance && !r->known && !(fabs(r->sampling_se - t->se) <= 2e-3 * t->se + 1e-6))
            fail_msg("%s, statistic %zu, cell %zu: standard error %.9g, not %.9g", design, r->statistic, r->cell, r->sampling_se,
                     t->se);
    }
    tmi_results_clear(&truth);
    scene_end(&c);
}

#define MUCH "epsilon: 100000"
#define MUCH_RHO "rho: 100000"
#define SRS "srs: {population: 600, sample: 120}"
#define STRATA "stratified: {by: s, within: srs, strata: {p: {population: 400, sample: 48}, q: {population: 150, sample: 72}}}"
#define EQUAL "stratified: {by: s, within: srs, strata: {p: {population: 480, sample: 48}, q: {population: 720, sample: 72}}}"

static void simple_random_samples(void **state)
{
    (void)state;
    compare(SRS, MUCH, SURVEY_X, SUMS, SAME);
    compare(SRS, MUCH, SURVEY_X, QUOTIENTS, SAME);
    compare(SRS, MUCH, SURVEY_X, CONTRASTS, SAME);
    compare(SRS, MUCH_RHO, SURVEY_X, CONTRASTS, SAME);
    compare(SRS, MUCH, SURVEY_X, PAIRS, SAME);
    compare(SRS, MUCH_RHO, SURVEY_X, SUMS, SAME);
    compare(SRS, MUCH_RHO, SURVEY_X, QUOTIENTS, SAME);
    compare("bernoulli: {rate: 1/5}", MUCH, SURVEY_X, SUMS, SAME);
    compare("bernoulli: {rate: 1/5, population: 600}", MUCH, SURVEY_X, QUOTIENTS, SAME);
    compare("bernoulli: {rate: 1/5, population: 600}", MUCH, SURVEY_X, CONTRASTS PAIRS, SAME);
    compare("census: {population: 120}", MUCH, SURVEY_X, SUMS QUOTIENTS CONTRASTS, SAME);
    compare("srs_with_replacement: {population: 600, sample: 120}", MUCH ", id: u, rows_per_unit: 2", SURVEY_X, SUMS, SAME);
}

/* Measured apart, strata are what they are; together, their variance is that of plain weighted squares. */
static void strata(void **state)
{
    (void)state;
    static const char *const designs[] = {STRATA, EQUAL};
    static const char *const statistics[] = {QUOTIENTS, SUMS, CONTRASTS, PAIRS};
    for (size_t i = 0; i < 2; i++)
        for (int k = 0; k < 4; k++) {
            scene c;
            scene_begin(&c, survey_plan(designs[i], MUCH, SURVEY_X, statistics[k]));
            const bool separate_strata = c.s.workload.separate_strata;
            scene_end(&c);
            compare(designs[i], MUCH, SURVEY_X, statistics[k], separate_strata ? SAME : NOT_THE_SAME);
        }
    compare(STRATA, MUCH, "{from: {p: 10, q: 5}, to: {p: 30, q: 42}, step: 0.5}",
            "  - {total: x}\n  - {mean: x, by: g}\n  - {total: x, by: s}\n", SAME);
}

static void weights_and_clusters(void **state)
{
    (void)state;
    static const char *const designs[] = {
        "weights: {}, weight: w, max_weight: 9",
        "weights: {population: 600}, weight: w, max_weight: 9",
        "weights: {strata: s, cluster: c}, weight: w, max_weight: 9",
        "poisson: {probability: p}, max_weight: 9",
        "poisson: {probability: p, frame: frame.csv}",
        "pps: {method: sampford, probability: p, sample: 120, frame: frame.csv}",
        "cluster: {by: c, population: 100, sample: 20, smallest: 6, largest: 6}",
        ("stratified: {by: s, within: {cluster: {by: c, smallest: 6, largest: 6}}, strata: {p: {population: 40, sample: 8}, q: "
         "{population: 30, sample: 12}}}"),
    };
    for (size_t i = 0; i < sizeof designs / sizeof *designs; i++) {
        const char *privacy = strstr(designs[i], "frame") ? MUCH ", id: u, given: frame" : MUCH;
        for (size_t k = (size_t)test_size(1, 0) * (i % 2); k < 2; k += (size_t)test_size(2, 1)) /* in turn, or both */
            compare(designs[i], privacy, SURVEY_X, k == 0 ? SUMS : QUOTIENTS, NOT_THE_SAME);
    }
}

/* What the second stage says of a number of a statistic: the standard error of x - r y, or its square, not yet divided by y. */
static double measured_error(const scene *c, size_t statistic, size_t group)
{
    const tmi_measurement *m = tmi_errors_measured(&c->s, statistic);
    tmi_error_source source;
    tmi_error_term term;
    assert_non_null(m);
    assert_int_equal(tmi_error_source_make(&source, &c->inference, m, NULL), TAMIS_OK);
    assert_int_equal(tmi_error_term_make(&term, &source, group, NULL), TAMIS_OK);
    const double found = term.step * (double)c->noisy[m - c->s.measurements][group];
    tmi_error_term_clear(&term);
    tmi_error_source_clear(&source);
    return found;
}

/* Where weights are in the tables, the variance is the sum of a e^2, e the residuals: a = w (w - 1) n/(n-1) of rows with
 * weights of their own, w^2 where only these are declared, and of strata that are together (N/n)^2 (1 - n/N) n/(n-1). */
static void plain_weighted_squares(void **state)
{
    (void)state;
    static const char statistics[] = "  - {total: z}\n  - {total: z, by: g}\n  - {mean: z, by: g}\n  - {count: units, by: g}\n";
    static const char *const designs[] = {"weights: {}, weight: w, max_weight: 9", "poisson: {probability: p}, max_weight: 9"};
    for (size_t i = 0; i < sizeof designs / sizeof *designs; i++) {
        scene c;
        double total = 0, of_a = 0, rows = 0, mean = 0, sum = 0;
        scene_begin(&c, survey_plan(designs[i], MUCH, SURVEY_X, statistics));
        assert_int_equal(tmi_variance_source_of(&c.s), TMI_MEASURED_ERRORS);
        survey_count(&c);
        scene_read(&c);
        const double more = c.s.sampling.correction;
        for (int k = 0; k < SURVEY_ROWS; k++) {
            const double w = survey_weight(k), a = more * w * (w - (double)i), z = survey_z[k];
            total += a * z * z;
            if (survey_a[k]) of_a += a * z * z, rows += a, sum += w, mean += w * z;
        }
        mean /= sum;
        double residuals = 0;
        for (int k = 0; k < SURVEY_ROWS; k++) {
            const double w = survey_weight(k), e = survey_z[k] - mean;
            if (survey_a[k]) residuals += more * w * (w - (double)i) * e * e / (sum * sum);
        }
        const double variances[] = {total, of_a, residuals, rows};
        for (size_t t = 0; t < 4; t++) {
            const double own = measured_error(&c, t, 0), limit = scene_result(&c, t, 0)->sampling_se, se = sqrt(variances[t]);
            if (!(fabs(sqrt(own) - (t == 2 ? sum * se : se)) <= 2e-3 * sqrt(own)))
                fail_msg("%s, %zu: %.9g, not %.9g", designs[i], t, sqrt(own), se);
            /* on a grid, and of a group of few rows wider: its variance is known so well as they allow */
            if (!(limit >= (1 - 2e-3) * se && limit <= 1.5 * se)) fail_msg("%s, %zu: %.9g, not %.9g", designs[i], t, limit, se);
        }
        scene_end(&c);
    }
}

#define ONE "calibrate: {to: [{count: units, by: h, totals: [190, 210, 200]}]}\n"
#define TWO "calibrate: {to: [{count: units, by: h, totals: [190, 210, 200]}, {count: units, by: s, totals: [230, 370]}]}\n"
#define RAKED \
    "calibrate: {method: raking, to: [{count: units, by: h, totals: [190, 210, 200]}, {count: units, by: s, totals: [230, " \
    "370]}]}\n"

/* The second stage measures the unprotected standard errors of quotients, whose residuals add up to 0: a share, whose residuals
 * are below 1, and numbers that a calibration explains in part. */
static void measured_errors_of_quotients(void **state)
{
    (void)state;
    static const char statistics[] = "  - {share: {g: a}}\n  - {share: {x: {from: 20}}, by: h}\n  - {mean: z}\n"
                                     "  - {ratio: {of: z, to: y}, by: g}\n  - {mean: x, by: g}\n";
    for (int calibrated = 0; calibrated < 2; calibrated++) {
        char text[500];
        scene c;
        tmi_results truth;
        snprintf(text, sizeof text, "%s%s", statistics, calibrated ? ONE : "");
        scene_begin(&c, survey_plan("weights: {}, weight: w, max_weight: 9", MUCH, SURVEY_X, text));
        survey_count(&c);
        scene_read(&c);
        survey_estimate(&truth, c.plan);
        for (size_t i = 0; i < (calibrated ? 3 : c.plan->asked_count); i++) { /* not of groups: their weights change too */
            const tmi_form_moments f = tmi_form_moments_of(&c.plan->statistics[i]);
            const double own = sqrt(measured_error(&c, i, 0)), se = truth.list[scene_first(&c, i)].se;
            tmi_statistic_sums z;
            assert_int_equal(tmi_statistic_sums_make(&z, &c.inference, i, NULL), TAMIS_OK);
            const double found = own * sqrt(SURVEY_ROWS / (SURVEY_ROWS - 1.0)) / z.groups[0].value[f.y];
            if (!(fabs(found - se) <= 2e-3 * se)) fail_msg("%zu, calibrated %d: %.9g, not %.9g", i, calibrated, found, se);
            tmi_statistic_sums_clear(&z);
        }
        tmi_results_clear(&truth);
        scene_end(&c);
    }
}

/* And those of contrasts, whose linearised variable is measured as a whole: two numbers of the same rows, groups, domains. */
static void measured_errors_of_contrasts(void **state)
{
    (void)state;
    static const char statistics[] = CONTRASTS "  - {difference: {mean: z, minus: {mean: y}}, by: g}\n"
                                               "  - {difference: {share: {g: a}, minus: {share: {h: u}}}}\n"
                                               "  - {difference: {ratio: {of: x, to: y}, minus: {mean: y}}}\n";
    static const char *const designs[] = {"weights: {}, weight: w, max_weight: 9",
                                          "cluster: {by: c, population: 100, sample: 20, smallest: 6, largest: 6}",
                                          "weights: {strata: s, cluster: c}, weight: w, max_weight: 9"};
    for (size_t k = 0; k < sizeof designs / sizeof *designs; k++) {
        scene c;
        tmi_results truth;
        size_t measured = 0;
        scene_begin(&c, survey_plan(designs[k], MUCH, SURVEY_X, statistics));
        survey_count(&c);
        scene_read(&c);
        survey_estimate(&truth, c.plan);
        for (size_t i = 0; i < truth.count; i++) {
            const tmi_result *t = &truth.list[i];
            if (!tmi_errors_measured(&c.s, t->statistic) || k == 2) continue; /* of slots that a hash has dealt */
            const double own = measured_error(&c, t->statistic, t->cell),
                         se = k == 0 ? sqrt(own * SURVEY_ROWS / (SURVEY_ROWS - 1.0)) : own;
            measured++;
            if (k == 0 && tmi_effect_family_of(&c.plan->statistics[t->statistic]) == TMI_EFFECTS_OF_TOTALS && se > t->se)
                continue; /* squares of rows are not centred */
            if (!(fabs(se - t->se) <= 3e-3 * t->se + 1e-6))
                fail_msg("%s, statistic %zu, cell %zu: standard error %.9g, not %.9g", designs[k], t->statistic, t->cell, se,
                         t->se);
        }
        if (measured < 20 && k != 2) fail_msg("%s: only %zu are measured", designs[k], measured);
        tmi_results_clear(&truth);
        scene_end(&c);
        compare(designs[k], MUCH, SURVEY_X, statistics, NOT_THE_SAME);
    }
}

/* Models with numbers: the line, and the standard errors that are measured, of rows and of clusters; where strata are together
 * they are not centred, and never too small. */
static void lines(void **state)
{
    (void)state;
    static const char statistics[] = "  - {regression: {of: y, on: [x]}}\n  - {regression: {of: z, on: [x, y]}}\n"
                                     "  - {regression: {of: z, on: [g, x, h], interactions: [[g, h]]}}\n"
                                     "  - {regression: {of: {g: a}, on: [z]}, by: h}\n"
                                     "  - {regression: {of: x, on: [y]}, where: {g: a}}\n"
                                     "  - {correlation: [x, y]}\n  - {correlation: [z, x], by: g}\n"
                                     "  - {regression: {of: y, on: [x, s]}}\n  - {regression: {of: y, on: [x]}, by: s}\n"
                                     "  - {regression: {of: z, on: [x, y]}, where: {s: q}}\n  - {correlation: [x, y], by: s}\n";
    static const char of_products[] = "  - {regression: {of: q, on: [r, t, s]}}\n  - {regression: {of: t, on: [q, r]}, by: h}\n"
                                      "  - {regression: {of: q, on: [z, r, t]}}\n  - {mean: q, by: h}\n"; /* two tables of them */
    static const struct {
        const char *design;
        double factor; /* of variances: what svyglm has beside the sum of squares */
        bool centred;
        const char *privacy, *columns, *statistics;
    } cases[] = {
        {SRS, 1, true, MUCH, SURVEY_X, statistics},
        {STRATA, 1, false, MUCH, SURVEY_X, statistics},
        {EQUAL, 1, false, MUCH, SURVEY_X, statistics},
        {"weights: {}, weight: w, max_weight: 9", SURVEY_ROWS / (SURVEY_ROWS - 1.0), true, MUCH, SURVEY_X, statistics},
        {"cluster: {by: c, population: 100, sample: 20, smallest: 6, largest: 6}", 1, true, MUCH, SURVEY_X, statistics},
        {SRS, 1, true, MUCH_RHO, SURVEY_X_AND_COMPLETE, of_products},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        scene c;
        tmi_results truth;
        scene_begin(&c, survey_plan(cases[k].design, cases[k].privacy, cases[k].columns, cases[k].statistics));
        survey_count(&c);
        scene_read(&c);
        survey_estimate(&truth, c.plan);
        assert_true(truth.count > 15);
        size_t products = 0;
        for (size_t m = 0; m < c.s.measurement_count; m++) products += tmi_is_gram(c.s.measurements[m].marginal.form);
        assert_true(products == (cases[k].statistics == of_products ? 2 : 0));
        for (size_t i = 0; i < truth.count; i++) {
            const tmi_result *t = &truth.list[i];
            if (!c.plan->statistics[t->statistic].contrast) continue;
            const double own = measured_error(&c, t->statistic, t->cell), se = k == 4 ? own : sqrt(own * cases[k].factor);
            const bool apart = tmi_count_strata(&c.s, t->statistic).each_in_one; /* whose residuals add up to 0 in the stratum */
            if (!(se >= t->se * (1 - 3e-3)) || !(se <= t->se * (cases[k].centred ? 1 + 3e-3 : apart ? 1 + 5e-3 : 1.2)))
                fail_msg("%s, statistic %zu, cell %zu: standard error %.9g, not %.9g", cases[k].design, t->statistic, t->cell, se,
                         t->se);
        }
        tmi_results_clear(&truth);
        scene_end(&c);
        compare(cases[k].design, cases[k].privacy, cases[k].columns, cases[k].statistics, NOT_THE_SAME);
    }
    compare("census: {population: 120}", MUCH, SURVEY_X, statistics, SAME);
}

/* A public design effect multiplies the variance, whatever is known about it: nothing of it is pooled away. */
static void public_design_effects(void **state)
{
    (void)state;
    static const char *const privacy[] = {MUCH, "epsilon: 1/2"};
    for (size_t i = 0; i < 2; i++) {
        scene c;
        scene_begin(&c, survey_plan("weights: {deff: 1}, weight: w, max_weight: 9", privacy[i], SURVEY_X, /* one number twice */
                                    "  - {total: {g: a}}\n  - {count: units, where: {g: a}, deff: 4}\n  - {total: z}\n"));
        survey_count(&c);
        scene_read(&c);
        const double one = scene_result(&c, 0, 0)->sampling_se, other = scene_result(&c, 1, 0)->sampling_se;
        if (!(fabs(other / one - 2) < 1e-6)) fail_msg("%s: %g and %g", privacy[i], one, other);
        scene_end(&c);
    }
}

static void calibrated(void **state)
{
    (void)state;
    compare(SRS, MUCH, SURVEY_X, SUMS ONE, SAME);
    compare(SRS, MUCH, SURVEY_X, QUOTIENTS TWO, SAME);
    compare(SRS ", nonresponse: yes", MUCH, SURVEY_X, QUOTIENTS RAKED, NOT_THE_SAME);
    compare("weights: {}, weight: w, max_weight: 9", MUCH, SURVEY_X, SUMS RAKED, NOT_THE_SAME);
    compare("cluster: {by: c, population: 100, sample: 20, smallest: 6, largest: 6}", MUCH, SURVEY_X, QUOTIENTS ONE,
            NOT_THE_SAME);
}

/* What calibration explains is subtracted in every group, as `tamis estimate` does. */
static void calibrated_groups(void **state)
{
    (void)state;
    static const char *const designs[] = {"weights: {population: 600}, weight: w, max_weight: 9, typical: {sample: 120}",
                                          "cluster: {by: c, population: 100, sample: 20, smallest: 6, largest: 6}"};
    static const char *const controls[] = {ONE, TWO};
    for (size_t k = 0; k < 4; k++) {
        char statistics[600];
        scene c;
        tmi_results truth;
        snprintf(statistics, sizeof statistics, "  - {count: units, by: g}\n  - {total: z, by: g}\n  - {table: [g, s]}\n%s",
                 controls[k % 2]);
        scene_begin(&c, survey_plan(designs[k / 2], MUCH, SURVEY_X, statistics));
        survey_count(&c);
        scene_read(&c);
        survey_estimate(&truth, c.plan);
        for (size_t i = 0; i < truth.count; i++) {
            const tmi_result *t = &truth.list[i];
            const double own = measured_error(&c, t->statistic, t->cell), se = k < 2 ? sqrt(fmax(own, 0)) : own;
            if (!(fabs(se - t->se) <= 5e-3 * t->se + 1e-6)) /* n/(n-1) is not in it */
                fail_msg("%s, %zu, statistic %zu, cell %zu: standard error %.9g, not %.9g", designs[k / 2], k % 2, t->statistic,
                         t->cell, se, t->se);
        }
        tmi_results_clear(&truth);
        scene_end(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(simple_random_samples),        cmocka_unit_test(strata),
        cmocka_unit_test(weights_and_clusters),         cmocka_unit_test(plain_weighted_squares),
        cmocka_unit_test(public_design_effects),        cmocka_unit_test(calibrated),
        cmocka_unit_test(measured_errors_of_quotients), cmocka_unit_test(calibrated_groups),
        cmocka_unit_test(measured_errors_of_contrasts), cmocka_unit_test(lines),
    };
    return cmocka_run_group_tests(tests, survey_begin, survey_end);
}
