/* What a schedule refuses, before anything is chosen or measured: with the place in the plan and the nearest setting that
 * works. */
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

#include "schedule/schedule.h"

#define STRATA "strata: {p: {population: 40, sample: 3}, q: {population: 7, sample: 3}}"
#define BY_STRATUM "{from: 10, to: {p: 30, q: 14}, step: 0.5}"

static tamis_plan *plan_with(const char *design, const char *x, const char *statistic)
{
    char text[2000];
    tamis_plan *plan;
    tamis_error err = {0};
    snprintf(text, sizeof text,
             "tamis: 1\nsurvey: s\nsource: {file: a.csv}\ndesign: {stratified: {by: s, within: %s\nprivacy: {unit: person, "
             "epsilon: 1}\ncolumns:\n  x: %s\n  y: {from: 0, to: 9, step: 1}\nstatistics:\n  - %s\n",
             design, x, statistic);
    if (tamis_plan_read_text(&plan, "p.yaml", text, strlen(text), &err) != TAMIS_OK) fail_msg("%s\n%s", text, err.message);
    return plan;
}

/* Ranges by stratum are measured apart, each stratum with its weight after the noise; rows with weights of their own have
 * none. */
static const char *const weighed[] = {
    "srs, " STRATA "}, weight: w, max_weight: 39}",
    "{two_stage: {first: {by: c}, second: {population: size, sample: 4}}}, " STRATA "}, max_weight: 39}",
    "{two_stage: {first: {by: c}, second: {population: size, sample: taken}}}, " STRATA "}, max_weight: 39}",
    "{two_stage: {first: {by: c, pps: {method: sampford, probability: pi}}, second: {population: size, sample: 4}}}, " STRATA
    "}, max_weight: 39}",
    "{pps: {method: sampford, probability: pi}}, " STRATA "}, max_weight: 39}",
    "{poisson: {probability: pi}}, strata: {p: {population: 40}, q: {population: 7}}}, max_weight: 39}"};

static void ranges_by_stratum_need_weights_of_strata(void **state)
{
    (void)state;
    static const char *const statistics[] = {"total: x", "mean: x", "{ratio: {of: y, to: x}}", "{variance: x}"};
    tmi_schedule s;
    tamis_plan *plan;
    for (size_t i = 0; i < sizeof weighed / sizeof *weighed; i++)
        for (size_t k = 0; k < sizeof statistics / sizeof *statistics; k++) {
            tamis_error err = {0};
            plan = plan_with(weighed[i], BY_STRATUM, statistics[k]);
            assert_int_equal(tmi_schedule_make(&s, plan, NULL, &err), TAMIS_REFUSED);
            assert_non_null(strstr(err.message, "p.yaml:10:5: ranges by stratum"));
            tamis_plan_free(plan);
        }
    plan = plan_with("srs, " STRATA "}}", BY_STRATUM, "total: x");
    assert_int_equal(tmi_schedule_make(&s, plan, NULL, NULL), TAMIS_OK);
    assert_true(s.workload.separate_strata);
    tmi_schedule_clear(&s);
    tamis_plan_free(plan);
}

/* Nor may a certificate say so. */
static void a_certificate_cannot_part_weighed_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof weighed / sizeof *weighed; i++) {
        tamis_plan *plan = plan_with(weighed[i], "{from: 10, to: 30, step: 0.5}", "total: x");
        tmi_schedule s, again;
        tamis_error err = {0};
        assert_int_equal(tmi_schedule_make(&s, plan, NULL, NULL), TAMIS_OK);
        tmi_marginal marginal = s.measurements[0].marginal;
        const tmi_certified_tables certified = {
            .separate_strata = true, .shared_classes = true, .marginals = &marginal, .parts = &s.spent, .count = 1};
        assert_int_equal(tmi_schedule_make(&again, plan, &certified, &err), TAMIS_INVALID);
        assert_non_null(strstr(err.message, "weights of their own"));
        tmi_schedule_clear(&s);
        tamis_plan_free(plan);
    }
}

int main(void)
{
    const struct CMUnitTest group[] = {
        cmocka_unit_test(ranges_by_stratum_need_weights_of_strata),
        cmocka_unit_test(a_certificate_cannot_part_weighed_rows),
    };
    return cmocka_run_group_tests(group, NULL, NULL);
}
