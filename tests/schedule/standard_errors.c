/* Standard errors that a plan has measured: the places of its PSUs, which statistics share one, and what is expected. */
#include "schedule/standard_errors.h"
#include "schedule/expected/expected.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "measure/request/request.h"
#include "tests/test.h"

static tamis_plan *plan;
static tmi_schedule s;

static void open_private_plan(const char *design, const char *privacy, const char *statistics)
{
    char text[2000];
    tamis_error err = {0};
    snprintf(text, sizeof text,
             "tamis: 1\nsurvey: s\nsource: {file: a.csv}\ndesign: {%s}\nprivacy: {unit: person, epsilon: 4%s}\ncolumns:\n"
             "  x: {from: 0, to: 10, step: 1}\n  g: {values: [a, b]}\n  h: {values: [u, v]}\n  s: {values: [p, q, r]}\n"
             "statistics:\n%s",
             design, privacy, statistics);
    if (tamis_plan_read_text(&plan, "p.yaml", text, strlen(text), &err) != TAMIS_OK ||
        tmi_schedule_make(&s, plan, NULL, &err) != TAMIS_OK)
        fail_msg("%s\n%s", text, err.message);
}

static void open_plan(const char *design, const char *statistics) { open_private_plan(design, "", statistics); }

static void close_plan(void)
{
    tmi_schedule_clear(&s);
    tamis_plan_free(plan);
}

/* ---- places ---- */

#define STRATUM(population, sample) "{population: " #population ", sample: " #sample "}"
#define STRATA(p, q, r) \
    "stratified: {by: s, within: {cluster: {by: c, smallest: 1, largest: 4}}, strata: {p: " p ", q: " q ", r: " r "}}"

static const struct {
    const char *design;
    size_t count;
    int64_t psus[3], population[3]; /* of the layout, where there is room for all */
    size_t into[3];                 /* SIZE_MAX: nothing varies */
} designs[] = {
    {"cluster: {by: c, population: 90, sample: 30, smallest: 1, largest: 4}", 1, {30}, {90}, {0}},
    {STRATA(STRATUM(40, 8), STRATUM(20, 5), STRATUM(9, 3)), 3, {8, 5, 3}, {40, 20, 9}, {0, 1, 2}},
    {STRATA(STRATUM(40, 8), STRATUM(5, 5), STRATUM(9, 3)), 2, {8, 3}, {40, 9}, {0, SIZE_MAX, 1}},
    {STRATA(STRATUM(40, 8), STRATUM(20, 1), STRATUM(9, 1)), 2, {8, 2}, {40, 0}, {0, 1, 1}},
    {STRATA(STRATUM(40, 8), STRATUM(20, 1), STRATUM(9, 3)), 2, {8, 4}, {40, 0}, {0, 1, 1}},
    {STRATA(STRATUM(4, 4), STRATUM(20, 1), STRATUM(1, 1)), 0, {0}, {0}, {SIZE_MAX, 0, SIZE_MAX}},
};

/* Every PSU that was left to chance has a place; strata keep to themselves unless they have one PSU. */
static void every_psu_has_a_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof designs / sizeof *designs; i++) {
        open_plan(designs[i].design, "  - {mean: x}\n");
        tmi_psu_places p;
        assert_int_equal(tmi_psu_places_make(&p, &s.sampling, TMI_MOST_SLOTS, NULL), TAMIS_OK);
        assert_int_equal(p.layout.count, designs[i].count);
        assert_int_equal(p.strata, i == 0 ? 1 : 3);
        for (size_t h = 0; h < p.layout.count; h++) {
            assert_int_equal(p.layout.strata[h].psus, designs[i].psus[h]);
            assert_int_equal(p.layout.strata[h].slots, designs[i].psus[h]);
            assert_int_equal(p.layout.strata[h].population, designs[i].population[h]);
        }
        for (size_t h = 0; h < p.strata; h++) assert_true(p.into[h] == designs[i].into[h]);
        for (size_t h = 0; h < p.strata; h++) /* places of strata that share one do not overlap */
            for (size_t k = 0; k < h; k++)
                if (p.into[h] == p.into[k] && p.into[h] != SIZE_MAX)
                    assert_true(p.first[h] >= p.first[k] + p.psus[k] || p.first[k] >= p.first[h] + p.psus[h]);
        tmi_psu_places_clear(&p);
        close_plan();
    }
}

/* With less room slots are as many as there is room for, in no stratum fewer than two; with less room than that all strata are
 * one. */
static void slots_fill_the_room(void **state)
{
    (void)state;
    open_plan(designs[1].design, "  - {mean: x}\n");
    for (int64_t most = 2; most <= 20; most++) {
        tmi_psu_places p;
        int64_t sum = 0, more = 0;
        assert_int_equal(tmi_psu_places_make(&p, &s.sampling, most, NULL), TAMIS_OK);
        assert_int_equal(p.layout.count, most < 6 ? 1 : 3);
        for (size_t h = 0; h < p.layout.count; h++) {
            const tmi_psu_stratum *own = &p.layout.strata[h];
            assert_true(own->slots >= 2 && own->slots <= own->psus);
            sum += own->slots;
            more += own->slots < own->psus; /* one more in each of these would be too many */
        }
        assert_int_equal(sum, p.layout.slots);
        assert_true(sum <= most && (more == 0 || sum + more > most));
        if (most < 6) assert_true(p.layout.strata[0].psus == 16 && p.layout.strata[0].population == 0);
        for (size_t h = 0; most < 6 && h < 3; h++) assert_true(p.into[h] == 0 && p.first[h] == (h == 0 ? 0 : h == 1 ? 8 : 13));
        tmi_psu_places_clear(&p);
    }
    close_plan();
}

/* Beyond 2^16 PSUs slots are shared, and then a thousand of them are enough. */
static void slots_that_are_shared_are_few(void **state)
{
    static const struct {
        const char *design;
        int64_t slots[3];
    } cases[] = {{"srs: {population: 900000, sample: 65536}", {65536}},
                 {"srs: {population: 900000, sample: 65537}", {1024}},
                 {"stratified: {by: s, within: srs, strata: {p: " STRATUM(400000, 100000) ", q: " STRATUM(20, 5) ", r: " STRATUM(
                      9000, 3000) "}}",
                  {509, 5, 509}}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        open_private_plan(cases[i].design, ", id: i, rows_per_unit: 3", "  - {mean: x}\n");
        for (size_t h = 0; h < s.places.layout.count; h++) assert_int_equal(s.places.layout.strata[h].slots, cases[i].slots[h]);
        close_plan();
    }
}

/* Where a file may have more labels of clusters than the design declares, since nobody checks it, a label's rank is no place: one
 * more label would push the last cluster out. */
static void labels_that_are_not_counted_are_hashed(void **state)
{
    static const char cluster[] = "cluster: {by: c, population: 90, sample: 30, smallest: 1, largest: 4}",
                      silent[] = "cluster: {by: c, population: 90, sample: 30, smallest: 1, largest: 4}, nonresponse: yes",
                      units[] = "srs: {population: 90, sample: 30}";
    static const struct {
        const char *design, *privacy;
        bool hashed;
    } cases[] = {{cluster, "", false},
                 {silent, "", true},
                 {cluster, ", protect: respondents, given: frame", true},
                 {cluster, ", protect: sample, given: population, design_variables: protected", true},
                 {units, ", id: i, rows_per_unit: 3", false},
                 {units, ", id: i, rows_per_unit: 3, protect: respondents, given: frame", true}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        open_private_plan(cases[i].design, cases[i].privacy, "  - {mean: x}\n");
        if (s.places.hashed != cases[i].hashed) fail_msg("%s%s", cases[i].design, cases[i].privacy);
        tmi_query query; /* a hash is always one of the slots; a cluster that is not left to chance has a code beside them */
        assert_int_equal(tmi_query_make(&query, &s, NULL), TAMIS_OK);
        assert_int_equal(query.units->value_count, s.places.layout.slots + (cases[i].hashed ? 0 : 1));
        tmi_query_clear(&query);
        close_plan();
    }
}

/* ---- what is measured ---- */

static void what_differs_is_measured_apart(void **state)
{
    (void)state;
    open_plan(designs[1].design, "  - {mean: x, by: g}\n  - {mean: x, by: h}\n  - {total: x, by: g}\n  - {mean: x, by: [g, h]}\n"
                                 "  - {mean: x, where: {g: a}}\n");
    for (size_t i = 0; i < plan->statistic_count; i++) assert_true(tmi_errors_from(&s, i) == i);
    close_plan();
}

/* Of a stratum whose PSUs are part of those that there are less is left to chance. */
static void corrections_are_those_of_one_stage(void **state)
{
    (void)state;
    open_plan(designs[1].design, "  - {mean: x}\n");
    assert_true(close_to(tmi_first_stage_correction(&s.sampling, 0), 0.8) &&
                close_to(tmi_first_stage_correction(&s.sampling, 1), 0.75));
    close_plan();
    open_plan("weights: {cluster: c}, weight: w, max_weight: 50", "  - {mean: x}\n"); /* nobody knows how many there are */
    assert_true(s.sampling.scattered && tmi_first_stage_correction(&s.sampling, 0) == 1);
    close_plan();
}

/* ---- what is expected ---- */

static double sampling_sd(size_t statistic)
{
    tmi_expected_statistic *list;
    assert_int_equal(tmi_expected_statistics_make(&list, &s, NULL), TAMIS_OK);
    const double sd = list[statistic].groups[0].sampling_sd;
    tmi_expected_statistics_free(list, s.plan->statistic_count);
    return sd;
}

/* A limit is above the standard error that is expected; without a measurement nothing is known of one. */
static void limits_are_above_the_variance(void **state)
{
    (void)state;
    tmi_typical_group o;
    open_plan(designs[0].design, "  - {mean: x}\n");
    tmi_typical_group_make(&o, &s, 0);
    assert_non_null(tmi_errors_measured(&s, 0));
    const tmi_measured_error e = tmi_expected_error(&s, 0, &o, 0);
    assert_true(e.scale > 0 && e.measured == o.sampling_sd);
    const double limit = sampling_sd(0);
    if (!(limit > 1.01 * o.sampling_sd && limit < 10 * o.sampling_sd)) fail_msg("%g, expected above %g", limit, o.sampling_sd);
    close_plan();
    open_plan("srs: {population: 900, sample: 100}", "  - {mean: x}\n");
    tmi_typical_group_make(&o, &s, 0);
    assert_true(o.sampling_sd > 0);
    assert_true(tmi_expected_error(&s, 0, &o, 0).scale == 0);
    close_plan();
}

/* Numbers whose standard errors are measured say something about each other, as in a release: beside the others of its
 * statistic, a number that is known badly has a narrower limit than by itself. */
static void limits_come_from_all_numbers(void **state)
{
    (void)state;
    tmi_typical_group o;
    tmi_error_limit alone;
    open_plan(designs[0].design, "  - {mean: x, by: s}\n");
    tmi_typical_group_make(&o, &s, 0);
    const tmi_measured_error e = tmi_expected_error(&s, 0, &o, 0);
    const tmi_cluster_guess guess = tmi_cluster_guess_of(&s);
    assert_int_equal(tmi_error_limits(&alone, &e, 1, &guess, NULL), TAMIS_OK);
    assert_true(e.scale > e.measured / 2);
    if (!(sampling_sd(0) < sqrt(alone.variance))) fail_msg("%g, expected below %g", sampling_sd(0), sqrt(alone.variance));
    close_plan();
}

/* The part of the budget that sampling errors get. */
static double part_of_errors(int rows_per_unit)
{
    char privacy[60];
    double part = 0, all = 0;
    snprintf(privacy, sizeof privacy, ", id: u, rows_per_unit: %d", rows_per_unit);
    open_private_plan("weights: {population: 4000000, cluster: c}, weight: w, max_weight: 30, typical: {sample: 200000, "
                      "cluster: 3000, icc: 0.001, rows: 2}",
                      privacy, "  - {mean: x, by: g}\n  - {total: x}\n");
    for (size_t k = 0; k < s.measurement_count; k++) {
        const tmi_measurement *m = &s.measurements[k];
        const double own = tmi_number_nearest(m->part);
        all += own;
        if (tmi_method_of(m->marginal.weighting)) part += own;
    }
    close_plan();
    return part / all;
}

/* Where a unit may have many rows, noise is what matters, and it is worth less to know the sampling error well: the noise of
 * estimates is expected with all rows of a unit, as that of sampling errors is. */
static void expected_noise_is_that_of_all_rows(void **state)
{
    (void)state;
    const double few = part_of_errors(20), many = part_of_errors(2000);
    if (!(many < 0.75 * few)) fail_msg("%g of the budget with 20 rows per unit, %g with 2000", few, many);
}

int main(void)
{
    const struct CMUnitTest group[] = {cmocka_unit_test(every_psu_has_a_place),
                                       cmocka_unit_test(slots_fill_the_room),
                                       cmocka_unit_test(slots_that_are_shared_are_few),
                                       cmocka_unit_test(labels_that_are_not_counted_are_hashed),
                                       cmocka_unit_test(what_differs_is_measured_apart),
                                       cmocka_unit_test(corrections_are_those_of_one_stage),
                                       cmocka_unit_test(limits_are_above_the_variance),
                                       cmocka_unit_test(limits_come_from_all_numbers),
                                       cmocka_unit_test(expected_noise_is_that_of_all_rows)};
    return cmocka_run_group_tests(group, NULL, NULL);
}
