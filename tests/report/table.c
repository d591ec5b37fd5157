/* Results for people: how a number is rounded, from results made by hand. */
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

#include "report/report_words.h"
#include "report/results.h"
#include "tests/release/plans.h"

/* The table of one result that was made by hand. */
static void assert_line(const tmi_schedule *s, tmi_result result, const char *line)
{
    tmi_results results = {.plan = s->plan, .schedule = s, .list = &result, .count = 1};
    tmi_text text;
    tmi_text_init(&text);
    result.cell = 1; /* no title above it */
    tmi_results_table(&text, &results);
    if (!strstr(text.bytes, line)) fail_msg("%s is not in\n%s", line, text.bytes);
    tmi_text_clear(&text);
}

static void numbers_are_rounded_to_what_they_tell(void **state)
{
    (void)state;
    tamis_plan *plan = plan_of("srs: {population: 25000, sample: 100}", "20", "  - {count: units, by: g}\n  - {total: x}");
    tmi_schedule s;
    assert_int_equal(tmi_schedule_make(&s, plan, NULL, NULL), TAMIS_OK);
    tmi_result r = TMI_NO_RESULT;
    r.estimate = 12345, r.se = 1e-200, r.lower = r.upper = 12345, r.least = 0, r.most = 25000;
    assert_line(&s, r, "12,345      < 0.01  12,345 to 12,345"); /* not 201 decimals */
    r.se = 0.4, r.lower = 12095, r.upper = 12595;
    assert_line(&s, r, "12,345        0.40  12,095 to 12,595");
    r.se = 140000, r.lower = 0; /* rounded outwards, but not to 30,000 of 25,000 */
    assert_line(&s, r, "10,000     140,000  0 to 20,000");
    r.upper = 24000;
    assert_line(&s, r, "10,000     140,000  0 to 25,000");
    r.se = 1400, r.lower = 681.34, r.upper = 20001;
    assert_line(&s, r, "12,300       1,400  600 to 20,100");
    r.statistic = 1, r.se = 0.001, r.estimate = 1.5, r.lower = 1.25, r.upper = 1.5, r.most = 750000;
    assert_line(&s, r, "1.5      < 0.01  1.2 to 1.5");
    tmi_schedule_clear(&s);
    tamis_plan_free(plan);
}

/* A null error is no 0, and what doubles leave of 0 is. */
static void errors_that_are_none_or_nothing(void **state)
{
    (void)state;
    tamis_plan *plan = plan_of("srs: {population: 25000, sample: 100}", "20", "  - {total: x}");
    tmi_result r = TMI_NO_RESULT;
    tmi_results results = {.plan = plan, .list = &r, .count = 1};
    static const struct {
        double estimate, se;
        const char *line;
    } cases[] = {{6194, TMI_NULL, "total of x     6,194        none  none\n"},
                 {TMI_NULL, TMI_NULL, "total of x      none              none\n"},
                 {6194, 2e-11, "total of x     6,194           0  6,194 to 6,194\n"},
                 {0, 0, "total of x         0           0  0 to 0\n"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tmi_text text;
        tmi_text_init(&text);
        r.estimate = cases[i].estimate, r.se = cases[i].se, r.noise_sd = 0;
        r.lower = r.upper = r.se >= 0 ? r.estimate : TMI_NULL;
        tmi_results_table(&text, &results);
        if (!strstr(text.bytes, cases[i].line)) fail_msg("%s is not in\n%s", cases[i].line, text.bytes);
        tmi_text_clear(&text);
    }
    tamis_plan_free(plan);
}

/* Rows are what is counted where a unit has several. */
static void rows_of_units_are_called_rows(void **state)
{
    (void)state;
    static const char *const privacy[] = {"epsilon: 1, id: h", "epsilon: 1, id: h, rows_per_unit: 3"};
    static const char *const titles[] = {"count of units", "count of rows"};
    for (size_t i = 0; i < 2; i++) {
        char text[1024];
        tamis_plan *plan;
        tmi_text title;
        tmi_schedule s;
        snprintf(text, sizeof text,
                 "tamis: 1\nsurvey: s\nsource: {file: a.csv}\ndesign: {srs: {population: 100, sample: 20}}\n"
                 "privacy: {%s}\ncolumns: {g: {values: [a]}}\nstatistics: [{count: units}]\n",
                 privacy[i]);
        assert_int_equal(tamis_plan_read_text(&plan, "p.yaml", text, strlen(text), NULL), TAMIS_OK);
        assert_int_equal(tmi_schedule_make(&s, plan, NULL, NULL), TAMIS_OK);
        assert_int_equal(s.workload.maps[0].known, i == 0); /* the number of rows does not follow from that of units */
        tmi_text_init(&title);
        tmi_statistic_title(&title, plan, 0);
        assert_string_equal(title.bytes, titles[i]);
        tmi_text_clear(&title);
        tmi_schedule_clear(&s);
        tamis_plan_free(plan);
    }
}

/* Why a number has no interval stands below the table, once: no noise widens it. */
static void reasons_stand_below(void **state)
{
    (void)state;
    tamis_plan *plan = plan_of("srs: {population: 25000, sample: 100}", "20", "  - {mean: x, by: g}");
    tmi_schedule s;
    assert_int_equal(tmi_schedule_make(&s, plan, NULL, NULL), TAMIS_OK);
    tmi_result list[] = {TMI_NO_RESULT, TMI_NO_RESULT};
    list[1].cell = 1;
    list[0]
        .reason = "a reason of many words, so that with the columns before it no line of eighty letters would hold it any more";
    list[1].reason = "another";
    const tmi_results results = {.plan = plan, .schedule = &s, .list = list, .count = 2};
    for (int i = 0; i < 2; i++) {
        tmi_text text;
        tmi_text_init(&text);
        tmi_results_table(&text, &results);
        assert_non_null(strstr(text.bytes, "  none (1)\n"));
        assert_non_null(strstr(text.bytes, "\n(1) a reason of many words"));
        assert_int_equal(strstr(text.bytes, "none (2)") != NULL, i == 0);
        assert_int_equal(strstr(text.bytes, "\n(2) another\n") != NULL, i == 0);
        for (const char *line = text.bytes; *line; line += strcspn(line, "\n") + 1)
            if ((unsigned char)*line < 128)
                assert_true(strcspn(line, "\n") <= 80); /* the rule is wider in bytes than in letters */
        tmi_text_clear(&text);
        list[1].reason = list[0].reason;
    }
    tmi_schedule_clear(&s);
    tamis_plan_free(plan);
}

/* An interval that is the whole range says nothing, and an estimate outside its own interval is not to be relied on. */
static void quality_flags(void **state)
{
    (void)state;
    const tmi_plan_column number = {.name = (char *)"x", .is_number = true};
    tmi_plan_statistic mean = {.kind = TMI_MEAN, .column = &number};
    tamis_plan plan = {.statistics = &mean};
    tmi_result x = {.estimate = 50, .se = 1, .lower = 48, .upper = 52, .least = 0, .most = 100};
    assert_int_equal(tmi_quality(&plan, &x), '\0');
    x.lower = 0;
    x.upper = 100;
    assert_int_equal(tmi_quality(&plan, &x), 'F');
    x.upper = 99;
    assert_int_equal(tmi_quality(&plan, &x), '\0');
    x.lower = 51;
    assert_int_equal(tmi_quality(&plan, &x), 'F');
    x.lower = x.upper = 50; /* exact */
    assert_int_equal(tmi_quality(&plan, &x), '\0');
    x.least = x.most = NAN;
    x.lower = -INFINITY, x.upper = INFINITY;
    assert_int_equal(tmi_quality(&plan, &x), '\0');
}

static tamis_number *number_of(const char *text)
{
    tamis_error err;
    tamis_number *number;
    assert_int_equal(tamis_number_read(&number, text, &err), TAMIS_OK);
    return number;
}

static void assert_quality_words(const tamis_plan *plan, const char *expected)
{
    tmi_text words;
    tmi_text_init(&words);
    tmi_quality_words(&words, plan, "", "");
    assert_string_equal(words.bytes, expected);
    tmi_text_clear(&words);
}

/* A limit of the plan takes the place of the usual one, of shares too; the usual limit for the other letter stays. */
static void quality_by_the_rules_of_a_plan(void **state)
{
    (void)state;
    const tmi_plan_column number = {.name = (char *)"x", .is_number = true};
    const tmi_plan_column yes = {.name = (char *)"a=yes", .conditions = (tmi_plan_condition *)&number, .condition_count = 1};
    tmi_plan_statistic list[] = {{.kind = TMI_MEAN, .column = &number}, {.kind = TMI_SHARE, .column = &yes}};
    tamis_plan plan = {.statistics = list};
    static const struct {
        double estimate, se;
        const char *caution, *unreliable; /* cv_above; NULL: the usual limits */
        char few, of_mean, of_share;
    } cases[] = {
        {50, 5, NULL, NULL, '\0', '\0', 'F'},      {50, 10, NULL, NULL, '\0', 'E', 'F'},
        {50, 5, "1/20", NULL, '\0', 'E', 'F'},     {50, 5, "1/20", "9/100", '\0', 'F', 'F'},
        {50, 5, "1/20", "2/10", '\0', 'E', 'E'},   {50, 20, "1/2", NULL, '\0', 'F', 'F'},
        {50, 20, NULL, "1/2", '\0', 'E', 'E'},     {50, 1, NULL, "1/2", 'E', 'E', 'E'},
        {50, 20, NULL, NULL, 'E', 'F', 'F'},       {50, 1, "1/2", "1/2", 'F', 'F', 'F'},
        {0.5, 0.01, NULL, NULL, '\0', '\0', '\0'}, {0.5, 0.01, "1/100", NULL, '\0', 'E', 'E'},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tmi_plan_rule *rules = plan.postprocess.rules;
        const tmi_result mean = {
            .estimate = cases[i].estimate, .se = cases[i].se, .lower = NAN, .least = NAN, .few_units = cases[i].few};
        tmi_result share = mean;
        share.statistic = 1;
        rules[TMI_CAUTION].cv_above = cases[i].caution ? number_of(cases[i].caution) : NULL;
        rules[TMI_UNRELIABLE].cv_above = cases[i].unreliable ? number_of(cases[i].unreliable) : NULL;
        if (tmi_quality(&plan, &mean) != cases[i].of_mean) fail_msg("%zu: mean", i);
        if (tmi_quality(&plan, &share) != cases[i].of_share) fail_msg("%zu: share", i);
        tamis_number_free(rules[TMI_CAUTION].cv_above);
        tamis_number_free(rules[TMI_UNRELIABLE].cv_above);
        rules[TMI_CAUTION].cv_above = rules[TMI_UNRELIABLE].cv_above = NULL;
    }
    assert_quality_words(&plan,
                         "Quality: E use with caution: the coefficient of variation is above 16.5 %; F too unreliable to publish "
                         "by itself: it is above 33.3 %. A share is judged by the width of its 95 % interval: F from 30 "
                         "percentage points or 1.3 times the share, E from half of that, no flag up to 5 points.");
    plan.postprocess.rules[TMI_CAUTION].cv_above = number_of("7/100");
    plan.postprocess.rules[TMI_CAUTION].units_below = 30;
    plan.postprocess.rules[TMI_UNRELIABLE].cv_above = number_of("1/4");
    assert_quality_words(&plan,
                         "Quality: E use with caution: the coefficient of variation is above 7 %, or the group may have fewer "
                         "than 30 sampled units; F too unreliable to publish by itself: the coefficient of variation is above "
                         "25 %.");
    tamis_number_free(plan.postprocess.rules[TMI_CAUTION].cv_above);
    tamis_number_free(plan.postprocess.rules[TMI_UNRELIABLE].cv_above);
}

int main(void)
{
    const struct CMUnitTest group[] = {
        cmocka_unit_test(numbers_are_rounded_to_what_they_tell),
        cmocka_unit_test(errors_that_are_none_or_nothing),
        cmocka_unit_test(rows_of_units_are_called_rows),
        cmocka_unit_test(reasons_stand_below),
        cmocka_unit_test(quality_flags),
        cmocka_unit_test(quality_by_the_rules_of_a_plan),
    };
    return cmocka_run_group_tests(group, NULL, NULL);
}
