/* What the columns of a plan mean to an engine, where tables ask for the same thing in different ways. */
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "measure/request/request.h"
#include "schedule/schedule.h"
#include "tests/release/array_engine.h"

static const array_row rows[] = {{.x = 1, .g = "a", .h = "u"},     {.x = 2, .g = "b", .h = "u"},
                                 {.x = 3, .g = "other", .h = "v"}, {.x = 4, .g = "other", .h = "u"},
                                 {.x = 5, .g = NULL, .h = "u"},    {.x = NAN, .g = "b", .h = "v"}};

/* An integer of the only table, which has `numbers` of them. */
static int64_t counted_in(const char *g, const char *statistic, size_t numbers, size_t at)
{
    char text[1000];
    tamis_plan *plan;
    tmi_schedule s;
    tmi_query query;
    tamis_error err = {0};
    array_engine engine = array_engine_of(rows, sizeof rows / sizeof *rows);
    snprintf(text, sizeof text,
             "tamis: 1\nsurvey: s\nsource: {file: a.csv}\ndesign: {srs: {population: 12, sample: 6}}\n"
             "privacy: {unit: person, epsilon: 1}\ncolumns:\n  x: {from: 0, to: 9, step: 1}\n  g: %s\n"
             "  h: {values: [u, v], missing: none}\nstatistics:\n  - %s\n",
             g, statistic);
    if (tamis_plan_read_text(&plan, "p.yaml", text, strlen(text), &err) != TAMIS_OK ||
        tmi_schedule_make(&s, plan, NULL, &err) != TAMIS_OK)
        fail_msg("%s\n%s", text, err.message);
    assert_int_equal(s.measurement_count, 1);
    assert_int_equal(s.measurements[0].numbers, numbers);
    assert_int_equal(tmi_query_make(&query, &s, NULL), TAMIS_OK);
    assert_int_equal(tmi_query_make_room(&query, NULL), TAMIS_OK);
    assert_int_equal(engine.engine.aggregate(&engine.engine, query.answers, &query.request, NULL, NULL), TAMIS_OK);
    const int64_t count = (int64_t)tmi_query_truth(&query, &s, 0, at);
    tmi_query_clear(&query);
    tmi_schedule_clear(&s);
    tamis_plan_free(plan);
    return count;
}

static int64_t counted(const char *g, const char *statistic) { return counted_in(g, statistic, 1, 0); }

/* In a column that is declared complete a text that is not listed is the first value, in conditions too. */
static void conditions_know_what_is_complete(void **state)
{
    (void)state;
    static const char complete[] = "{values: [a, b], missing: none}", open[] = "{values: [a, b]}";
    assert_int_equal(counted(complete, "{count: units, where: {g: a}}"), 4);
    assert_int_equal(counted(complete, "{count: units, where: {g: b}}"), 2);
    assert_int_equal(counted(complete, "{count: units, where: {g: [a, b]}}"), 6);
    assert_int_equal(counted(complete, "{count: units, where: {g: a, h: u}}"), 3);
    /* as it is measured: the second group less the first */
    assert_int_equal(counted_in(complete, "{count: units, by: g}", 2, 0), 2 - 4);
    assert_int_equal(counted(open, "{count: units, where: {g: a}}"), 1);
    assert_int_equal(counted(open, "{count: units, where: {g: [a, b], h: v}}"), 1);
}

int main(void)
{
    const struct CMUnitTest group[] = {cmocka_unit_test(conditions_know_what_is_complete)};
    return cmocka_run_group_tests(group, NULL, NULL);
}
