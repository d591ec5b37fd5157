/* What a preview takes for granted where a plan does not say it: guesses that follow from what it does say. */
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "schedule/expected/expected.h"
#include "schedule/guesses.h"

/* What is expected of all statistics of a plan. */
typedef struct expectation {
    tamis_plan *plan;
    tmi_schedule schedule;
    tmi_expected_statistic *list;
} expectation;

static void expect(expectation *e, const char *text)
{
    tamis_error err = {0};
    e->list = NULL;
    if (tamis_plan_read_text(&e->plan, "p.yaml", text, strlen(text), &err) != TAMIS_OK ||
        tmi_schedule_make(&e->schedule, e->plan, NULL, &err) != TAMIS_OK ||
        tmi_expected_statistics_make(&e->list, &e->schedule, &err) != TAMIS_OK)
        fail_msg("%s\n%s", text, err.message);
}

static void expectation_clear(expectation *e)
{
    tmi_expected_statistics_free(e->list, e->plan->statistic_count);
    tmi_schedule_clear(&e->schedule);
    tamis_plan_free(e->plan);
}

/* Sizes of a plan with this design, and what is expected of the mean of a column with this declaration. */
static tmi_expected_group foreseen(tmi_sizes *sizes, const char *design, const char *column)
{
    char text[1000];
    expectation e;
    snprintf(text, sizeof text,
             "tamis: 1\nsurvey: s\nsource: {file: a.csv}\ndesign: {%s}\nprivacy: {unit: person, epsilon: 1}\n"
             "columns:\n  x: {from: 0, to: 100, step: 1%s}\nstatistics: [{mean: x}]\n",
             design, column);
    expect(&e, text);
    tmi_sizes_make(sizes, &e.schedule);
    const tmi_expected_group expected_group = e.list[0].groups[0];
    expectation_clear(&e);
    return expected_group;
}

static double sample_of(const char *design)
{
    tmi_sizes sizes;
    (void)foreseen(&sizes, design, "");
    return sizes.sample;
}

static void the_largest_weight_bounds_the_sample(void **state)
{
    (void)state;
    assert_true(sample_of("weights: {population: 50000}, weight: w, max_weight: 500") == 300);
    assert_true(sample_of("weights: {}, weight: w, max_weight: 500, typical: {population: 50000}") == 300);
    assert_true(sample_of("poisson: {probability: p}, max_weight: 500, typical: {population: 50000}") == 300);
    assert_true(sample_of("weights: {population: 50000}, weight: w, max_weight: 2") == 50000); /* no more than there are */
    assert_true(sample_of("weights: {population: 50000}, weight: w, max_weight: 500, typical: {sample: 2000}") == 2000);
    assert_true(isnan(sample_of("weights: {}, weight: w, max_weight: 500"))); /* nothing follows from an assumption */
}

static void a_list_of_clusters_says_how_large_they_are(void **state)
{
    (void)state;
    char file[] = "/tmp/tamis-guesses-XXXXXX.csv", design[200];
    const int descriptor = mkstemps(file, 4);
    assert_true(descriptor >= 0);
    FILE *list = fdopen(descriptor, "w");
    assert_non_null(list);
    fputs("s,c\na,1\na,2\nb,1\nb,2\nb,3\n", list);
    assert_int_equal(fclose(list), 0);
    tmi_sizes sizes;
    snprintf(design, sizeof design, "weights: {strata: s, cluster: c, psus: '%s', population: 50000}, weight: w, max_weight: 500",
             file);
    (void)foreseen(&sizes, design, "");
    assert_true(sizes.cluster == 60); /* 300 units in 5 clusters */
    unlink(file);
}

/* Half the rows: twice the noise of a mean, and 2^(1/2) of its sampling error. */
static void a_question_that_is_not_asked_of_everybody(void **state)
{
    (void)state;
    static const char srs[] = "srs: {population: 100000, sample: 1000}";
    tmi_sizes sizes;
    const tmi_expected_group all = foreseen(&sizes, srs, ", typical: {mean: 40, sd: 10}"),
                             half = foreseen(&sizes, srs, ", typical: {mean: 40, sd: 10, share: 1/2}");
    assert_true(fabs(half.noise_sd / all.noise_sd / 2 - 1) < 0.05);
    assert_true(fabs(half.sampling_sd / all.sampling_sd / sqrt(2) - 1) < 0.05);
}

/* ---- small changes ---- */

#define STEP 1.05
#define STEPS 16
#define MOST_CHANGED \
    1.4 /* of an error, where guesses change by a step: other tables may be chosen, and trade one error for another */

/* Errors of all statistics of a plan whose guesses of the sample, of a mean and of a cluster's size are `factor` times others. */
static size_t errors_of(double *errors, const char *design, const char *statistics, double factor)
{
    char text[2000], own[500];
    expectation e;
    snprintf(own, sizeof own, design, 800 * factor, 10 * factor);
    snprintf(text, sizeof text,
             "tamis: 1\nsurvey: s\nsource: {file: a.csv}\ndesign: {%s}\nprivacy: {unit: person, epsilon: 1}\ncolumns:\n"
             "  x: {from: 0, to: 200, step: 1, typical: {mean: %g, sd: 20}}\n  y: {from: 0, to: 50, step: 1, typical: {mean: %g, "
             "sd: 6}}\n  g: {values: [a, b, c]}\n  h: {values: [u, v], typical: {u: %g}}\nstatistics: %s\n",
             own, 40 * factor, 10 * factor, 0.3 * factor, statistics);
    expect(&e, text);
    const size_t count = e.plan->asked_count;
    for (size_t i = 0; i < count; i++) errors[i] = tmi_expected_group_error(&e.list[i].groups[0]);
    expectation_clear(&e);
    return count;
}

static void small_changes_of_a_guess_change_little(void **state)
{
    (void)state;
    static const char *const designs[] = {"srs: {population: 40000, sample: %.0f}",
                                          "weights: {population: 40000}, weight: w, "
                                          "max_weight: 200, typical: {sample: %.0f}",
                                          "weights: {strata: s, cluster: c, population: 40000}, weight: w, max_weight: "
                                          "200, typical: {sample: %.0f, cluster: %.4g}",
                                          "weights: {deff: 2, population: 40000}, weight: w, max_weight: 200, "
                                          "typical: {sample: %.0f}"};
    static const char *const asked[] = {
        "[{mean: x}, {mean: y, by: g}, {total: x}, {share: {h: u}, by: g}, {ratio: {of: x, to: y}}]",
        "[{table: [g, h]}, {mean: x, where: {h: u}}, {mean: y, where: {h: u}}, {total: y, by: h}]",
        "[{total: x, by: [g, h]}, {mean: x}, {median: y}, {count: units, by: g}]"};
    for (size_t d = 0; d < sizeof designs / sizeof *designs; d++)
        for (size_t a = 0; a < sizeof asked / sizeof *asked; a++) {
            double before[8], now[8];
            for (int k = 0; k <= STEPS; k++) {
                const size_t count = errors_of(now, designs[d], asked[a], pow(STEP, k - STEPS / 2));
                for (size_t i = 0; k > 0 && i < count; i++)
                    if (!(fabs(log(now[i] / before[i])) < log(MOST_CHANGED)))
                        fail_msg("%s, %s: statistic %zu, step %d: %g, then %g", designs[d], asked[a], i + 1, k, before[i],
                                 now[i]);
                memcpy(before, now, sizeof before);
            }
        }
}

/* The expected noise of the first statistic. */
static double noise_of_first(const char *statistics)
{
    char text[1000];
    expectation e;
    snprintf(text, sizeof text,
             "tamis: 1\nsurvey: s\nsource: {file: a.csv}\ndesign: {srs: {population: 9000, sample: 900}}\n"
             "privacy: {unit: person, epsilon: 4}\n"
             "columns: {g: {values: [a, b], typical: {a: 0.3, b: 0.65}}, h: {values: [k, l, m, n, o, p]}}\nstatistics: [%s]\n",
             statistics);
    expect(&e, text);
    const double noise = e.list[0].groups[0].noise_sd;
    expectation_clear(&e);
    return noise;
}

/* A share of all values of a column is 1, whatever is measured: it costs the others nothing. */
static void a_share_that_is_one_takes_no_budget(void **state)
{
    (void)state;
    const double alone = noise_of_first("{table: [g, h]}"), beside = noise_of_first("{table: [g, h]}, {share: {g: [a, b]}}");
    if (beside > 1.02 * alone) fail_msg("%.4g, not %.4g", beside, alone);
}

int main(void)
{
    const struct CMUnitTest group[] = {cmocka_unit_test(the_largest_weight_bounds_the_sample),
                                       cmocka_unit_test(a_list_of_clusters_says_how_large_they_are),
                                       cmocka_unit_test(a_question_that_is_not_asked_of_everybody),
                                       cmocka_unit_test(small_changes_of_a_guess_change_little),
                                       cmocka_unit_test(a_share_that_is_one_takes_no_budget)};
    return cmocka_run_group_tests(group, NULL, NULL);
}
