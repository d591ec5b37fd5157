/* Every design of the format, with and without strata: what is in the file is in the plan. */
#include "tests/test.h"

#include <stdio.h>
#include <tamis/experimental/outline.h>

#include "tests/base/memory_that_fails.h"
#include "tests/plan/reader.h"

#define REST \
    "tamis: 1\nsurvey: s\nsource: {file: a.csv}\nprivacy: {epsilon: 1, id: hid, rows_per_unit: 3}\n" \
    "columns: {x: {from: 0, to: 10, step: 1}, g: {values: [b, a]}}\nstatistics: [{mean: x}]\n"

static tamis_plan *read_design(const char *design)
{
    char text[2048];
    snprintf(text, sizeof text, REST "design: %s\n", design);
    return read_good(text);
}

static void each_design_has_its_row(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const tmi_plan_kind *kind;
        int64_t population, sample;
    } cases[] = {
        {"{srs: {population: 10, sample: 2}}", &tmi_plan_kind_srs, 10, 2},
        {"{census: {population: 10}}", &tmi_plan_kind_census, 10, 10},
        {"{srs_with_replacement: {population: 10, sample: 20}}", &tmi_plan_kind_srs_with_replacement, 10, 20},
        {"{bernoulli: {rate: 0.1}}", &tmi_plan_kind_bernoulli, 0, 0},
        {"{bernoulli: {rate: 1/10, population: 500}}", &tmi_plan_kind_bernoulli, 500, 0},
        {"{poisson: {probability: pi}, max_weight: 20}", &tmi_plan_kind_poisson, 0, 0},
        {"{pps: {method: sampford, probability: pi, sample: 50}, max_weight: 20}", &tmi_plan_kind_pps, 0, 50},
        {"{systematic: {population: 10, sample: 3, order: random}}", &tmi_plan_kind_systematic, 10, 3},
        {"{cluster: {by: d, population: 10, sample: 3, smallest: 1, largest: 4}}", &tmi_plan_kind_cluster, 10, 3},
        {"{two_stage: {first: {by: d, population: 10, sample: 3}, second: {population: m, sample: 5}}, max_weight: 9}",
         &tmi_plan_kind_two_stage, 10, 3},
        {"{weights: {strata: st, cluster: psu}, weight: w, max_weight: 9}", &tmi_plan_kind_weights, 0, 0},
        {"{weights: {deff: 1.5, population: 99}, weight: w, max_weight: 9}", &tmi_plan_kind_weights, 99, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis_plan *p = read_design(cases[i].text);
        const tmi_plan_design *d = &p->design;
        assert_ptr_equal(d->kind, cases[i].kind);
        assert_int_equal(d->population, cases[i].population);
        assert_int_equal(d->sample, cases[i].sample);
        assert_int_equal(d->stratum_count, 1);
        assert_int_equal(d->strata[0].population, cases[i].population);
        assert_int_equal(d->strata[0].sample, cases[i].sample);
        assert_true(d->strata[0].name == NULL && d->by == NULL);
        assert_int_equal(d->strata[0].rate != NULL, d->kind->rate);
        assert_int_equal(p->column_count, 2);
        tamis_plan_free(p);
    }
}

static void what_describes_a_design_is_kept(void **state)
{
    (void)state;
    tamis_plan *p = read_design("{poisson: {probability: pi, frame: f.csv}}");
    assert_string_equal(p->design.probability, "pi");
    assert_string_equal(p->design.frame, "folder/f.csv");
    assert_true(p->design.max_weight == NULL && p->design.weight_step == NULL && p->design.weight == NULL);
    tamis_plan_free(p);

    p = read_design("{pps: {method: tille, probability: pi, sample: 50}, max_weight: 20}");
    assert_int_equal(p->design.method, TAMIS_METHOD_TILLE);
    assert_number(p->design.max_weight, "20");
    assert_number(p->design.weight_step, "1/67108864"); /* 2^-26: nearest to 20 * 2^-30 = 2^-25.68 */
    tamis_plan_free(p);

    p = read_design(
        "{cluster: {by: d, population: 10, sample: 3, smallest: 2, largest: 4}, weight: w, max_weight: 9, weight_step: "
        "0.5, weights_are: final, nonresponse: yes, variance: hartley_rao}");
    assert_string_equal(p->design.cluster, "d");
    assert_true(p->design.smallest == 2 && p->design.largest == 4);
    assert_string_equal(p->design.weight, "w");
    assert_number(p->design.weight_step, "1/2");
    assert_true(p->design.weights_final && p->design.nonresponse);
    assert_int_equal(p->design.variance, TMI_VARIANCE_HARTLEY_RAO);
    tamis_plan_free(p);

    p = read_design(
        "{two_stage: {first: {by: d, population: 10, sample: 3}, second: {population: m, sample: k}}, max_weight: 9}");
    assert_string_equal(p->design.cluster, "d");
    assert_string_equal(p->design.second_population, "m");
    assert_string_equal(p->design.second_sample, "k");
    assert_int_equal(p->design.second_take, 0);
    assert_int_equal(p->design.variance, TMI_VARIANCE_BEST);
    tamis_plan_free(p);

    p = read_design(
        "{two_stage: {first: {by: d, population: 10, sample: 3}, second: {population: m, sample: 5}}, max_weight: 9}");
    assert_true(p->design.second_take == 5 && p->design.second_sample == NULL);
    assert_ptr_equal(p->design.first, &tmi_plan_kind_srs);
    tamis_plan_free(p);

    p = read_design("{two_stage: {first: {by: d, pps: {method: tille, probability: pi, sample: 3, population: 9}}, second: "
                    "{population: m, sample: 5, method: systematic}}, max_weight: 9}");
    assert_ptr_equal(p->design.first, &tmi_plan_kind_pps);
    assert_int_equal(p->design.method, TAMIS_METHOD_TILLE);
    assert_string_equal(p->design.probability, "pi");
    assert_true(p->design.sample == 3 && p->design.population == 9 && p->design.second == TMI_SECOND_SYSTEMATIC);
    tamis_plan_free(p);

    p = read_design("{two_stage: {first: {by: d, systematic: {order: random, population: 9, sample: 3}}, second: {population: m, "
                    "sample: 5}}, max_weight: 9}");
    assert_ptr_equal(p->design.first, &tmi_plan_kind_systematic);
    assert_true(p->design.random_order && p->design.sample == 3 && p->design.second == TMI_SECOND_SRS);
    tamis_plan_free(p);

    p = read_design("{two_stage: {first: {by: d, population: 9, sample: 3}, second: {rate: 0.2, method: bernoulli}}}");
    assert_number(p->design.second_rate, "1/5");
    assert_true(p->design.second == TMI_SECOND_BERNOULLI && !p->design.second_population && p->design.second_take == 0);
    assert_null(p->design.max_weight);
    tamis_plan_free(p);

    p = read_design("{weights: {strata: st, cluster: psu}, weight: w, max_weight: 9}");
    assert_string_equal(p->design.strata_label, "st");
    assert_string_equal(p->design.cluster, "psu");
    assert_null(p->design.deff);
    tamis_plan_free(p);
}

/* A declared category keeps its order, and the strata follow it. */
static void strata_are_the_values_of_a_category(void **state)
{
    (void)state;
    tamis_plan *p = read_design(
        "{stratified: {by: g, within: srs, strata: {a: {population: 7, sample: 2}, b: {population: 9, sample: 4}}}}");
    const tmi_plan_design *d = &p->design;
    assert_ptr_equal(d->kind, &tmi_plan_kind_srs);
    assert_ptr_equal(d->by, &p->columns[1]);
    assert_int_equal(d->stratum_count, 2);
    assert_string_equal(d->strata[0].name, "b");
    assert_string_equal(d->strata[1].name, "a");
    assert_string_equal(tamis_plan_stratum(p, 1), "a");
    assert_null(tamis_plan_stratum(p, 2));
    assert_int_equal(d->strata[1].population, 7);
    assert_int_equal(d->population, 16);
    assert_int_equal(d->sample, 6);
    tamis_plan_free(p);

    p = read_design(
        "{stratified: {by: region, within: {systematic: {order: public}}, strata: {\" south\": {population: 7, sample: 2}, "
        "north: {population: 9, sample: 4}}}}");
    d = &p->design;
    assert_ptr_equal(d->kind, &tmi_plan_kind_systematic);
    assert_int_equal(p->declared_count, 3); /* made from the names */
    assert_ptr_equal(d->by, &p->columns[2]);
    assert_string_equal(d->by->name, "region");
    assert_int_equal(d->by->value_count, 2);
    assert_string_equal(d->by->values[0], "south");
    assert_string_equal(d->strata[0].name, "south");
    tamis_plan_free(p);
}

static void every_design_may_stand_within_strata(void **state)
{
    (void)state;
    tamis_plan *p = read_design(
        "{stratified: {by: r, within: {bernoulli: {rate: 0.1}}, strata: {n: {rate: 0.5, population: 8}, s: {}}}}");
    assert_number(p->design.strata[0].rate, "1/2");
    assert_number(p->design.strata[1].rate, "1/10");
    assert_int_equal(p->design.population, 0); /* one of them is not public */
    tamis_plan_free(p);

    p = read_design("{stratified: {by: r, within: census, strata: {n: {population: 8}, s: {population: 5}}}}");
    assert_int_equal(p->design.sample, 13);
    tamis_plan_free(p);

    p = read_design(
        "{stratified: {by: r, within: {cluster: {by: d, smallest: 1, largest: 4}}, strata: {n: {population: 8, sample: 2}, s: "
        "{population: 5, sample: 2}}}}");
    assert_ptr_equal(p->design.kind, &tmi_plan_kind_cluster);
    assert_int_equal(p->design.largest, 4);
    tamis_plan_free(p);

    p = read_design("{stratified: {by: r, within: {two_stage: {first: {by: d}, second: {population: m, sample: 2}}}, strata: {n: "
                    "{population: 8, sample: 2}}}, max_weight: 9}");
    assert_ptr_equal(p->design.kind, &tmi_plan_kind_two_stage);
    assert_string_equal(p->design.cluster, "d");
    assert_int_equal(p->design.sample, 2);
    tamis_plan_free(p);

    p = read_design(
        "{stratified: {by: r, within: {pps: {method: brewer, probability: pi}}, strata: {n: {sample: 2}}}, max_weight: 5}");
    assert_ptr_equal(p->design.kind, &tmi_plan_kind_pps);
    assert_int_equal(p->design.sample, 2);
    tamis_plan_free(p);
}

static void bounds_may_differ_by_stratum(void **state)
{
    (void)state;
    tamis_plan *p = read_good("tamis: 1\nsurvey: s\nsource: {file: a.csv}\nprivacy: {epsilon: 1}\nstatistics: [{total: x}]\n"
                              "design: {stratified: {by: size, within: srs, strata: {small: {population: 7, sample: 2}, large: "
                              "{population: 9, sample: 4}}}}\n"
                              "columns: {x: {from: 0, to: {large: 1e10, small: 2e6}, step: {small: 1, large: 100}},\n"
                              "          y: {from: {small: -5, large: 3}, to: 9, step: 0.5, missing: 4}}\n");
    const tmi_plan_column *x = &p->columns[0], *y = &p->columns[1];
    assert_number(x->to, "10000000000");
    assert_number(x->step, "1");
    assert_number(x->by_stratum[0].to, "2000000");
    assert_number(x->by_stratum[1].step, "100");
    assert_int_equal(x->by_stratum[1].grid.high, 100000000);
    assert_int_equal(x->grid.high, 10000000000);
    assert_number(y->from, "-5");
    assert_int_equal(y->by_stratum[1].grid.low, 6);
    assert_int_equal(y->missing, TMI_AS_VALUE);
    assert_int_equal(y->instead, 8);
    tamis_plan_free(p);
}

static void steps_that_differ_have_no_common_points(void **state)
{
    (void)state;
    static const char text[] = "tamis: 1\nsurvey: s\nsource: {file: a.csv}\nprivacy: {epsilon: 1}\n"
                               "design: {stratified: {by: size, within: srs, strata: {small: {population: 7, sample: 2}, large: "
                               "{population: 9, sample: 4}}}}\n"
                               "columns: {x: {from: 0, to: 1000, step: {small: 1, large: 100}}}\n"
                               "statistics: [{total: {x: {from: 5}}}, {total: x, by: {x: [500]}}]\n";
    tamis_plan *plan;
    tamis_error err = {0};
    assert_int_equal(tamis_plan_read_text(&plan, "p.yaml", text, strlen(text), &err), TAMIS_INVALID);
    assert_string_equal(err.message,
                        "p.yaml:7:26: statistics[1].total.x: expected a column with one step: the steps of x differ by stratum\n"
                        "p.yaml:7:58: statistics[2].by.x: expected a column with one step: the steps of x differ by stratum");
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static const char *const texts[] = {
        REST "design: {stratified: {by: g, within: {bernoulli: {rate: 0.1}}, strata: {a: {}, b: {rate: 1/2}}}}\n",
        REST "design: {stratified: {by: r, within: {pps: {method: brewer, probability: pi, frame: f.csv}}, strata: {n: {sample: "
             "2}}}, weight: "
             "w, max_weight: 5}\n",
        REST
        "design: {two_stage: {first: {by: d, population: 10, sample: 3}, second: {population: m, sample: k}}, max_weight: 9}\n",
        "tamis: 1\nsurvey: s\nsource: {file: a.csv}\nprivacy: {epsilon: 1}\nstatistics: [{total: x}]\n"
        "design: {stratified: {by: size, within: srs, strata: {small: {population: 7, sample: 2}, large: {population: 9, sample: "
        "4}}}}\n"
        "columns: {x: {from: 0, to: {large: 1e10, small: 2e6}, step: {small: 1, large: 100}}}\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        tamis_plan *plan = NULL;
        tamis_error err = {0};
        EVERY_ALLOCATION_FAILS(tamis_plan_read_text(&plan, "p.yaml", texts[i], strlen(texts[i]), &err), assert_null(plan));
        tamis_plan_free(plan);
    }
}

int main(void)
{
    const struct CMUnitTest group[] = {
        cmocka_unit_test(each_design_has_its_row),
        cmocka_unit_test(what_describes_a_design_is_kept),
        cmocka_unit_test(strata_are_the_values_of_a_category),
        cmocka_unit_test(every_design_may_stand_within_strata),
        cmocka_unit_test(bounds_may_differ_by_stratum),
        cmocka_unit_test(steps_that_differ_have_no_common_points),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(group, NULL, NULL);
}
