/* What a preview takes for granted where a plan does not say it: guesses that follow from what it does say. */
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "schedule/expected/expected.h"
#include "schedule/guesses.h"

/* Sizes of a plan with this design, and the prospect of the mean of a column with this declaration. */
static tmi_expected_group foreseen(tmi_sizes *sizes, const char *design, const char *column)
{
    char text[1000];
    tamis_plan *plan;
    tmi_schedule s;
    tmi_expected_statistic *list = NULL;
    tamis_error err = {0};
    snprintf(text, sizeof text,
             "tamis: 1\nsurvey: s\nsource: {file: a.csv}\ndesign: {%s}\nprivacy: {unit: person, epsilon: 1}\n"
             "columns:\n  x: {from: 0, to: 100, step: 1%s}\nstatistics: [{mean: x}]\n",
             design, column);
    if (tamis_plan_read_text(&plan, "p.yaml", text, strlen(text), &err) != TAMIS_OK ||
        tmi_schedule_make(&s, plan, NULL, &err) != TAMIS_OK || tmi_expected_statistics_make(&list, &s, &err) != TAMIS_OK)
        fail_msg("%s\n%s", text, err.message);
    tmi_sizes_make(sizes, &s);
    const tmi_expected_group expected_group = list[0].groups[0];
    tmi_expected_statistics_free(list, plan->statistic_count);
    tmi_schedule_clear(&s);
    tamis_plan_free(plan);
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

int main(void)
{
    const struct CMUnitTest group[] = {cmocka_unit_test(the_largest_weight_bounds_the_sample),
                                       cmocka_unit_test(a_list_of_clusters_says_how_large_they_are),
                                       cmocka_unit_test(a_question_that_is_not_asked_of_everybody)};
    return cmocka_run_group_tests(group, NULL, NULL);
}
