/* Columns made from others, the statistics that use them, and the sections around them. */
#include "tests/test.h"

#include <stdio.h>
#include <unistd.h>

#include "base/memory.h"
#include "plan/json.h"
#include "tests/base/memory_that_fails.h"
#include "tests/plan/reader.h"

#define COLUMNS \
    "columns:\n" \
    "  age: {from: 0, to: 120, step: 1, missing_codes: [999]}\n" \
    "  pay: {from: -0.25, to: 3, step: 0.25, missing: 0}\n" \
    "  status: {values: [employed, unemployed, other], missing: category, missing_codes: [9, \"refused\"]}\n" \
    "  awards: {values: [\"No\", \"Yes\"], missing: \"No\"}\n"
#define HEAD \
    "tamis: 1\nsurvey: s\nsource: {file: a.csv}\ndesign: {srs: {population: 100, sample: 10}}\n" \
    "privacy: {epsilon: 1, delta: 1e-6}\n" COLUMNS "statistics:\n"

static void missing_values_are_as_the_plan_says(void **state)
{
    (void)state;
    tamis_plan *p = read_good(HEAD "  - count: units\n");
    assert_int_equal(p->columns[0].missing, TMI_LEAVE_OUT);
    assert_int_equal(p->columns[1].missing, TMI_AS_VALUE);
    assert_int_equal(p->columns[1].instead, 0);
    const tmi_plan_column *status = &p->columns[2];
    assert_int_equal(status->missing, TMI_AS_CATEGORY);
    assert_int_equal(status->value_count, 4);
    assert_string_equal(status->values[3], "missing");
    assert_int_equal(status->missing_text_count, 2);
    assert_string_equal(status->missing_texts[1], "refused");
    assert_int_equal(p->columns[3].missing, TMI_AS_VALUE);
    assert_int_equal(p->columns[3].instead, 0);
    assert_number(p->privacy.loss.delta, "1/1000000");
    assert_false(tmi_has_budget(p));
    assert_string_equal(p->ledger, "folder/tamis.ledger");
    tamis_plan_free(p);
}

/* Declared complete: what counts in the place of a value is the middle of the range that all strata have, or the first value. */
static void complete_columns(void **state)
{
    (void)state;
    static const char text[] =
        "tamis: 1\nsurvey: s\nsource: {file: a.csv}\nprivacy: {epsilon: 1}\n"
        "design: {stratified: {by: g, within: srs, strata: {a: {population: 50, sample: 5}, b: {population: 60, sample: 5}}}}\n"
        "columns:\n"
        "  x: {from: 10, to: 21, step: 1, missing: none}\n"
        "  y: {from: {a: 0, b: 4}, to: {a: 10, b: 20}, step: 1, missing: none}\n"
        "  awards: {values: [\"No\", \"Yes\"], missing: none}\n"
        "statistics: [{mean: x}]\n";
    tamis_plan *p = read_good(text), *again = NULL;
    tmi_value *tree = NULL;
    char *json = NULL;
    for (int round = 0; round < 2; round++) {
        const tamis_plan *read = round == 0 ? p : again;
        for (size_t i = 0; i < 4; i++) { /* JSON has them in alphabetical order */
            const tmi_plan_column *c = &read->columns[i];
            if (strcmp(c->name, "g") == 0) continue;
            assert_int_equal(c->missing, TMI_NEVER);
            assert_int_equal(c->instead, strcmp(c->name, "x") == 0 ? 15 : strcmp(c->name, "y") == 0 ? 7 : 0);
        }
        if (round > 0) break;
        assert_int_equal(tmi_plan_json(&tree, p, NULL), TAMIS_OK);
        assert_int_equal(tmi_json_canonical_text(&json, tree, NULL), TAMIS_OK);
        again = read_good(json);
    }
    tmi_value_free(tree);
    tmi_free(json);
    tamis_plan_free(p);
    tamis_plan_free(again);
}

static void indicators_are_columns(void **state)
{
    (void)state;
    tamis_plan *p = read_good(HEAD
                              "  - share: {awards: \"Yes\"}\n"
                              "  - total: {status: [unemployed, employed]}\n"
                              "  - mean: {age: {from: 15.5, to: 64.9}, awards: \"Yes\"}\n"
                              "  - mean: pay\n    where: {awards: \"Yes\", age: {from: 16, to: 64}}\n"
                              "  - {ratio: {of: {status: unemployed}, to: {status: [employed, unemployed]}}, where: {age: 18}}\n"
                              "  - {variance: {pay: {to: 0.5}}, where: {age: {from: 65}}}\n"
                              "  - {count: units, where: {status: missing}}\n");
    static const char *const names[] = {"awards=Yes",
                                        "status=employed|unemployed",
                                        "age=16..64 & awards=Yes",
                                        "status=unemployed",
                                        "age=18",
                                        "pay=..0.5",
                                        "age=65..",
                                        "status=missing"};
    assert_int_equal(p->declared_count, 4);
    assert_int_equal(p->column_count, 4 + 8);
    for (size_t i = 0; i < 8; i++) {
        const tmi_plan_column *c = &p->columns[4 + i];
        bool found = false;
        for (size_t j = 0; j < 8; j++) found = found || strcmp(names[j], c->name) == 0;
        if (!found) fail_msg("%s", c->name);
        assert_true(c->is_number && !c->is_category && c->condition_count > 0);
        assert_true(c->grid.low == 0 && c->grid.high == 1);
    }
    const tmi_plan_statistic *s = p->statistics;
    assert_int_equal(s[0].kind, TMI_SHARE);
    assert_string_equal(s[0].column->name, "awards=Yes");
    assert_ptr_equal(s[3].where, s[2].column); /* the same conditions in another order */
    const tmi_plan_condition *age = &s[2].column->conditions[0];
    assert_ptr_equal(age->column, &p->columns[0]);
    assert_true(age->least == 16 && age->most == 64);
    assert_int_equal(s[4].kind, TMI_RATIO);
    assert_ptr_equal(s[4].second, s[1].column);
    assert_true(s[4].where->conditions[0].least == 18 && s[4].where->conditions[0].most == 18);
    const tmi_plan_condition *pay = &s[5].column->conditions[0];
    assert_true(pay->least == -1 && pay->most == 2);
    assert_int_equal(s[6].where->conditions[0].codes[0], 3);
    assert_int_equal(s[1].column->conditions[0].code_count, 2);
    assert_int_equal(s[1].column->conditions[0].codes[1], 1);
    tamis_plan_free(p);
}

static void cuts_are_categories(void **state)
{
    (void)state;
    tamis_plan *p = read_good(HEAD "  - {count: units, by: {age: [0, 16, 65]}}\n"
                                   "  - {total: pay, by: [{age: [16, 65, 120]}, awards]}\n"
                                   "  - {histogram: pay, cuts: [0, 0.3, 1], by: awards}\n"
                                   "  - {table: [status, {age: [18]}], by: awards}\n"
                                   "  - {mean: pay, by: {age: [0]}}\n");
    const tmi_plan_statistic *s = p->statistics;
    const tmi_plan_column *age = s[0].by[0];
    assert_string_equal(age->name, "age");
    assert_ptr_equal(age->cut_of, &p->columns[0]);
    assert_true(age->is_category && !age->is_number);
    assert_int_equal(age->value_count, 3);
    assert_string_equal(age->values[0], "[0,16)");
    assert_string_equal(age->values[1], "[16,65)");
    assert_string_equal(age->values[2], "[65,120]");
    assert_true(age->cuts[0] == 16 && age->cuts[1] == 65);
    assert_number(age->ends[3], "120");
    assert_ptr_equal(s[1].by[0], age); /* ends of the range say nothing */
    assert_int_equal(s[2].kind, TMI_HISTOGRAM);
    assert_int_equal(s[2].by_count, 2);
    const tmi_plan_column *bins = s[2].by[1];
    assert_int_equal(bins->value_count, 4);
    assert_string_equal(bins->values[0], "[-0.25,0)");
    assert_string_equal(bins->values[1], "[0,0.3)");
    assert_true(bins->cuts[0] == 0 && bins->cuts[1] == 2 && bins->cuts[2] == 4); /* 0.3 is below the point 0.5 */
    assert_int_equal(s[3].kind, TMI_TABLE);
    assert_int_equal(s[3].by_count, 3);
    assert_ptr_equal(s[3].by[2], &p->columns[3]);
    assert_int_equal(tmi_statistic_cells(&s[3]), 4 * 2 * 2);
    assert_int_equal(s[4].by[0]->value_count, 1);
    assert_string_equal(s[4].by[0]->values[0], "[0,120]");
    tamis_plan_free(p);
}

static void quantiles_have_positions(void **state)
{
    (void)state;
    tamis_plan *p = read_good(
        HEAD "  - {quantile: pay, at: [0.25, 1/3, 0.75], by: awards}\n  - {median: pay, where: {awards: \"Yes\"}}\n"
             "  - {quantile: age, at: 0.9}\n  - {mean: pay, method: known_size}\n");
    const tmi_plan_statistic *s = p->statistics;
    assert_int_equal(s[0].kind, TMI_QUANTILE);
    assert_int_equal(s[0].at_count, 3);
    assert_number(s[0].at[1], "1/3");
    assert_int_equal(tmi_statistic_cells(&s[0]), 6);
    assert_int_equal(s[1].kind, TMI_MEDIAN);
    assert_number(s[1].at[0], "1/2");
    assert_int_equal(tmi_statistic_cells(&s[1]), 1);
    assert_number(s[2].at[0], "9/10");
    assert_string_equal(s[3].method, "known_size");
    assert_int_equal(s[1].line, 13);
    tamis_plan_free(p);
}

/* Statistics of one distribution function share it; the shares below its cuts follow those that were asked for. */
static void distribution_functions_are_shares(void **state)
{
    (void)state;
    tamis_plan *p = read_good(HEAD "  - {quantile: age, at: 0.9, cuts: [30, 60], method: mechanism}\n  - {gini: age}\n"
                                   "  - {share_below: age, line: 17.5}\n  - {share_below: age, line: 18, by: awards}\n"
                                   "  - {median: age, by: awards, method: histogram, confidence: 0.9}\n");
    const tmi_plan_statistic *s = p->statistics;
    assert_int_equal(p->asked_count, 5);
    assert_int_equal(p->curve_count, 3);
    assert_int_equal(s[0].curve, 0);
    assert_int_equal(s[1].curve, 0);
    assert_int_equal(s[2].curve, 0);
    assert_int_equal(s[3].curve, 1);
    assert_int_equal(s[4].curve, 2);
    const int64_t cuts[] = {18, 30, 60};
    assert_int_equal(p->curves[0].cut_count, 3);
    assert_memory_equal(p->curves[0].cuts, cuts, sizeof cuts);
    assert_int_equal(p->curves[1].cut_count, 1);
    assert_int_equal(p->curves[2].cut_count, 25); /* whole years, one of several cuts that fall on the same */
    assert_int_equal(p->statistic_count, 5 + 3 + 1 + 25);
    for (size_t k = 0; k < 3; k++) {
        const tmi_plan_statistic *share = &s[p->curves[0].first + k];
        assert_int_equal(share->kind, TMI_SHARE);
        assert_int_equal(share->column->conditions[0].most, cuts[k] - 1);
        assert_number(share->share, "5/6"); /* half of the quantile's, all of the others', in three parts */
    }
    assert_int_equal(s[p->curves[2].first].by[0] == s[4].by[0], 1);
    assert_number(s[p->curves[2].first].confidence, "9/10");
    assert_number(s[p->curves[2].first].share, "1/25");
    for (size_t k = 1; k < 25; k++) assert_true(p->curves[2].cuts[k] > p->curves[2].cuts[k - 1]);
    tamis_plan_free(p);
}

/* More rows per group, as far as the noise lets them count, have more cuts; many functions share them out. */
static void large_samples_have_more_cuts(void **state)
{
    (void)state;
    static const struct {
        int sample;
        const char *privacy, *by;
        size_t functions, cuts;
    } cases[] = {
        {4999, "epsilon: 1", "", 1, 31},         {5000, "epsilon: 1", "", 1, 63},    {49999, "epsilon: 4", "", 1, 63},
        {50000, "epsilon: 4", "", 1, 127},       {50000, "epsilon: 0.5", "", 1, 63}, {50000, "epsilon: 0.3", "", 1, 31},
        {50000, "rho: 0.125", "", 1, 63},        {50000, "rho: 0.5", "", 1, 127},    {9999, "epsilon: 1", ", by: g", 1, 31},
        {10000, "epsilon: 1", ", by: g", 1, 63}, {50000, "epsilon: 1", "", 4, 127},  {50000, "epsilon: 1", "", 5, 63},
        {50000, "epsilon: 1", "", 9, 31},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[2000];
        int length = snprintf(
            text, sizeof text,
            "tamis: 1\nsurvey: s\nsource: {file: a.csv}\ndesign: {srs: {population: 100000, sample: %d}}\n"
            "privacy: {unit: person, %s}\ncolumns:\n  x: {from: 0, to: 1000000, step: 1}\n  g: {values: [a, b]}\n"
            "statistics:\n",
            cases[i].sample, cases[i].privacy);
        for (size_t k = 0; k < cases[i].functions; k++) /* each confidence has its own */
            length += snprintf(text + length, sizeof text - (size_t)length,
                               "  - {quantile: x, at: 0.%zu, confidence: 0.9%zu%s}\n", k + 1, k + 1, cases[i].by);
        tamis_plan *p = read_good(text);
        assert_int_equal(p->curve_count, cases[i].functions);
        for (size_t k = 0; k < p->curve_count; k++) {
            assert_int_equal(p->curves[k].cut_count, cases[i].cuts);
            assert_int_equal(p->curves[k].cuts[cases[i].cuts / 2], 90499); /* 10000 (sqrt(101) - 1), whatever their number */
        }
        tamis_plan_free(p);
    }
}

#define AROUND \
    "tamis: 1\nsurvey: s\ndesign: {srs: {population: 100, sample: 10}}\n" COLUMNS \
    "source: {postgres: {connections: [service=a, host=b], table: public.t}, sharded_by: hid}\n" \
    "privacy: {unit: household, id: hid, rows_per_unit: 9, rho: 0.5}\n" \
    "ledger: books/s.ledger\nbudget: {epsilon: 4, delta: 1e-9}\n" \
    "postprocess: {nonnegative: yes, consistent: true, suppress: {cv_above: 0.3, units_below: 10}}\n" \
    "calibrate:\n  method: raking\n  to:\n" \
    "    - {count: units, by: [awards, {age: [18]}], totals: {\"Yes\": [1, 2], \"No\": {\"[0,18)\": 3, \"[18,120]\": 4}}}\n" \
    "    - {total: {awards: \"Yes\"}, totals: 50}\n" \
    "    - {total: pay, totals: -2.5}\n" \
    "statistics: [{mean: pay}]\n"

static void the_other_sections_are_kept(void **state)
{
    (void)state;
    tamis_plan *p = read_good(AROUND);
    assert_int_equal(p->source.connection_count, 2);
    assert_string_equal(p->source.connections[1], "host=b");
    assert_string_equal(p->source.table, "public.t");
    assert_true(p->source.sharded_by_unit);
    assert_string_equal(p->privacy.id, "hid");
    assert_int_equal(p->privacy.rows_per_unit, 9);
    assert_number(p->privacy.loss.rho, "1/2");
    assert_true(p->privacy.loss.epsilon == NULL && p->privacy.loss.delta == NULL);
    assert_string_equal(p->ledger, "folder/books/s.ledger");
    assert_number(p->budget.delta, "1/1000000000");
    assert_true(p->postprocess.nonnegative && p->postprocess.consistent);
    assert_number(p->postprocess.rules[TMI_SUPPRESS].cv_above, "3/10");
    assert_int_equal(p->postprocess.rules[TMI_SUPPRESS].units_below, 10);
    assert_true(p->raking);
    assert_int_equal(p->control_count, 3);
    const tmi_plan_control *c = p->controls;
    static const char *const totals[] = {"3", "4", "1", "2"};
    assert_true(c[0].column == NULL && c[0].by_count == 2);
    assert_int_equal(c[0].total_count, 4);
    for (size_t i = 0; i < 4; i++) assert_number(c[0].totals[i], totals[i]);
    assert_string_equal(c[1].column->name, "awards=Yes");
    assert_number(c[2].totals[0], "-5/2");
    tamis_plan_free(p);
}

/* Totals in a file of their own; what is wrong there is told with its own place. */
static void totals_may_stand_in_a_file(void **state)
{
    (void)state;
    char file[64], text[1024], expected[256];
    snprintf(file, sizeof file, "/tmp/tamis-totals-%ld.yaml", (long)getpid());
    snprintf(text, sizeof text, HEAD "  - mean: pay\ncalibrate: {to: %s}\n", file);
    static const char *const contents[] = {"- {total: pay, totals: 5}\n", "- {total: pya, totals: 5}\n", "- {total: [\n"};
    for (size_t i = 0; i < 3; i++) {
        tamis_plan *plan;
        tamis_error err = {0};
        FILE *f = fopen(file, "w");
        assert_non_null(f);
        fputs(contents[i], f);
        fclose(f);
        tamis_status status = tamis_plan_read_text(&plan, "p.yaml", text, strlen(text), &err);
        assert_int_equal(status, i == 0 ? TAMIS_OK : TAMIS_INVALID);
        if (i == 0) assert_number(plan->controls[0].totals[0], "5");
        snprintf(expected, sizeof expected, "%s:1:11: [1].total: pya is not declared under `columns`; did you mean pay?", file);
        if (i == 1) assert_string_equal(err.message, expected);
        if (i == 2) assert_non_null(strstr(err.message, "calibrate.to: /tmp/tamis-totals-"));
        tamis_plan_free(plan);
    }
    unlink(file);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static const char *const texts[] = {
        HEAD "  - {share: {awards: \"Yes\"}, by: {age: [16, 65]}, where: {age: {from: 15.5}, status: [other, employed]}}\n"
             "  - {histogram: pay, cuts: [0, 0.3, 1], where: {awards: \"Yes\"}}\n  - {quantile: pay, at: [0.25, 1/3]}\n",
        HEAD "  - {difference: {mean: pay, between: {status: [other, employed]}}, by: awards}\n"
             "  - {difference: {share: {awards: \"Yes\"}, minus: {share: {status: other}}}, where: {age: {from: 15.5}}}\n"
             "  - {contrast: {total: pay, by: {age: [16, 65]}, weights: [1, -1/2, -1/2]}}\n",
        HEAD
        "  - {correlation: [pay, age]}\n"
        "  - {regression: {of: pay, on: [{age: [16, 65]}, awards], interactions: [[age, awards]]}, baseline: {awards: \"Yes\"},\n"
        "     typical: {vif: 2, r2: 0.5}}\n",
        AROUND,
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
        cmocka_unit_test(missing_values_are_as_the_plan_says),
        cmocka_unit_test(complete_columns),
        cmocka_unit_test(indicators_are_columns),
        cmocka_unit_test(cuts_are_categories),
        cmocka_unit_test(quantiles_have_positions),
        cmocka_unit_test(distribution_functions_are_shares),
        cmocka_unit_test(large_samples_have_more_cuts),
        cmocka_unit_test(the_other_sections_are_kept),
        cmocka_unit_test(totals_may_stand_in_a_file),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(group, NULL, NULL);
}
