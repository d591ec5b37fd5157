/* Results about strata: by them, by what the plan declares to follow from them, or with a condition on them. */
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "measure/controls.h"
#include "schedule/expected/expected.h"

#define SIZES(a, b, c, d) \
    "stratified: {by: s, within: srs, strata: {n1: {population: " a ", sample: 100}, n2: {population: " b \
    ", sample: 60}, s1: {population: " c ", sample: 50}, s2: {population: " d ", sample: 40}}}"

static const char *const designs[] = {SIZES("4000", "1000", "800", "300"), SIZES("1000", "600", "500", "400"),
                                      SIZES("4000", "1000", "800", "300") ", nonresponse: yes"};
static const char *const columns[] = {"{values: [n, s]}", "{strata: {n: [n1, n2], s: [s2, s1]}}"};

/* The expected groups of the first statistic of a plan; `room` of them at most. */
static size_t foreseen(tmi_expected_group *groups, size_t room, const char *design, const char *column, const char *missing,
                       const char *statistics)
{
    char text[2000];
    tamis_plan *plan;
    tmi_schedule s;
    tmi_expected_statistic *list = NULL;
    tamis_error err = {0};
    snprintf(
        text, sizeof text,
        "tamis: 1\nsurvey: s\nsource: {file: a.csv}\ndesign: {%s}\nprivacy: {unit: person, epsilon: 1}\n"
        "columns:\n  s: {values: [n1, n2, s1, s2]}\n  region: %s\n  g: {values: [a, b]%s}\n  x: {from: 0, to: 100, step: 1%s}\n"
        "statistics: [%s]\n",
        design, column, missing, missing, statistics);
    if (tamis_plan_read_text(&plan, "p.yaml", text, strlen(text), &err) != TAMIS_OK ||
        tmi_schedule_make(&s, plan, NULL, &err) != TAMIS_OK || tmi_expected_statistics_make(&list, &s, &err) != TAMIS_OK)
        fail_msg("%s\n%s", text, err.message);
    const size_t count = list[0].count;
    for (size_t k = 0; k < count && k < room; k++) groups[k] = list[0].groups[k];
    tmi_expected_statistics_free(list, plan->statistic_count);
    tmi_schedule_clear(&s);
    tamis_plan_free(plan);
    return count;
}

static const char *const kinds[] = {"mean: x", "share: {g: a}", "ratio: {of: x, to: {g: a}}"};
static const char *const incomplete[] = {"", ", missing: none"};

/* A single stratum, by a condition or among all of them: the same tables of the same rows. */
static void a_condition_on_strata_costs_what_results_by_them_cost(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3 * 3 * 2; i++) {
        char by[100], where[100], region[100];
        const char *kind = kinds[i / 6], *design = designs[i / 2 % 3], *missing = incomplete[i % 2];
        tmi_expected_group all[4], one, other;
        snprintf(by, sizeof by, "{%s, by: s}", kind);
        snprintf(where, sizeof where, "{%s, where: {s: n2}}", kind);
        snprintf(region, sizeof region, "{%s, where: {s: n2, region: n}}", kind);
        assert_int_equal(foreseen(all, 4, design, columns[1], missing, by), 4);
        assert_int_equal(foreseen(&one, 1, design, columns[1], missing, where), 1);
        assert_int_equal(foreseen(&other, 1, design, columns[1], missing, region), 1);
        if (fabs(one.noise_sd / all[1].noise_sd - 1) > 0.02 || fabs(one.sampling_sd / all[1].sampling_sd - 1) > 0.02)
            fail_msg("%s, %s: noise %.4g, not %.4g; sampling %.4g, not %.4g", design, where, one.noise_sd, all[1].noise_sd,
                     one.sampling_sd, all[1].sampling_sd);
        assert_true(close_to(other.noise_sd, one.noise_sd) && close_to(other.sampling_sd, one.sampling_sd));
    }
}

/* The total of a region is at most as noisy as the sum of its strata, and less noisy than without the declaration. */
static void what_follows_from_strata_costs_no_more_than_they_do(void **state)
{
    (void)state;
    static const char *const sums[] = {"total: x", "table: [g]"};
    for (size_t i = 0; i < 2 * 2 * 2; i++) {
        char by[100], of_region[100];
        const char *design = designs[i / 2 % 2], *missing = incomplete[i % 2];
        tmi_expected_group strata[8], regions[4], undeclared[4];
        snprintf(by, sizeof by, "{%s, by: s}", sums[i / 4]);
        snprintf(of_region, sizeof of_region, "{%s, by: region}", sums[i / 4]);
        assert_int_equal(foreseen(strata, 8, design, columns[1], missing, by), i / 4 == 0 ? 4 : 8);
        assert_int_equal(foreseen(regions, 4, design, columns[1], missing, of_region), i / 4 == 0 ? 2 : 4);
        (void)foreseen(undeclared, 1, design, columns[0], missing, of_region);
        for (size_t r = 0; r < 2; r++) {
            const double sum = hypot(strata[2 * r].noise_sd, strata[2 * r + 1].noise_sd);
            const bool apart = i / 2 % 2 == 0; /* strata of different weights */
            if (regions[r].noise_sd > 1.02 * sum || (apart && regions[r].noise_sd < 0.98 * sum) ||
                regions[r].noise_sd > 1.001 * undeclared[0].noise_sd)
                fail_msg("%s, %s: %.5g, strata %.5g, undeclared %.5g", design, of_region, regions[r].noise_sd, sum,
                         undeclared[0].noise_sd);
        }
    }
}

/* A stratum crossed with a region that it is not in has no row, no noise and no error, and leaves those that there are as they
 * would be alone. */
static void cells_that_cannot_exist_are_not_measured(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        tmi_expected_group crossed[8], strata[4];
        assert_int_equal(foreseen(crossed, 8, designs[i], columns[1], "", "{total: x, by: [s, region]}"), 8);
        assert_int_equal(foreseen(strata, 4, designs[i], columns[1], "", "{total: x, by: s}"), 4);
        for (size_t k = 0; k < 8; k++) {
            const bool there = (k / 2 < 2) == (k % 2 == 0);
            if (there) assert_true(close_to(crossed[k].noise_sd, strata[k / 2].noise_sd));
            else assert_true(crossed[k].noise_sd == 0 && crossed[k].sampling_sd == 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_condition_on_strata_costs_what_results_by_them_cost),
                                       cmocka_unit_test(what_follows_from_strata_costs_no_more_than_they_do),
                                       cmocka_unit_test(cells_that_cannot_exist_are_not_measured)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
