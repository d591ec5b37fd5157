/* Lists of sampled clusters that are wrong, and strata with one cluster. */
#include "tests/test.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "num/number.h"
#include "schedule/schedule.h"

static tamis_plan *plan_with(const char *design, const char *statistics)
{
    char text[1500];
    tamis_plan *plan = NULL;
    snprintf(text, sizeof text,
             "tamis: 1\nsurvey: s\nsource: {file: a.csv}\ndesign: {%s}\nprivacy: {unit: person, epsilon: 1}\ncolumns:\n"
             "  x: {from: 10, to: 30, step: 0.5}\n  y: {from: 0, to: 3, step: 1}\n  g: {values: [a, b]}\nstatistics:\n%s",
             design, statistics);
    assert_int_equal(tamis_plan_read_text(&plan, "p.yaml", text, strlen(text), NULL), TAMIS_OK);
    return plan;
}

static void write_list(char *file, size_t size, const char *lines)
{
    snprintf(file, size, "/tmp/tamis-clusters-%d.csv", (int)getpid());
    FILE *out = fopen(file, "w");
    assert_non_null(out);
    fputs(lines, out);
    assert_int_equal(fclose(out), 0);
}

/* From a stratum with one cluster no variance is read: groups get next to nothing of the budget. A stratum that is its only
 * cluster has no sampling error. */
static void single_clusters_cost_nothing(void **state)
{
    (void)state;
    static const struct {
        const char *lines, *strata;
        bool lonely;
    } cases[] = {{"s,c\np,1\np,2\nq,1\nq,2\n", NULL, false},
                 {"s,c\np,1\np,2\nq,1\n", NULL, true},
                 {"s,c\np,1\nq,1\n", NULL, true},
                 {NULL, "p: {population: 9, sample: 4}, q: {population: 9, sample: 1}", true},
                 {NULL, "p: {population: 9, sample: 4}, q: {population: 1, sample: 1}", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char file[64] = "", design[300];
        tmi_schedule s;
        double parts = 0;
        if (cases[i].lines) {
            write_list(file, sizeof file, cases[i].lines);
            snprintf(design, sizeof design, "weights: {strata: s, cluster: c, psus: '%s'}, weight: w, max_weight: 50", file);
        } else {
            snprintf(design, sizeof design,
                     "stratified: {by: s, within: {cluster: {by: c, smallest: 1, largest: 4}}, strata: {%s}}", cases[i].strata);
        }
        tamis_plan *plan = plan_with(design, "  - {total: x}\n  - {mean: y, by: g}\n");
        assert_int_equal(tmi_schedule_make(&s, plan, NULL, NULL), TAMIS_OK);
        for (size_t k = 0; k < s.measurement_count; k++)
            if (s.measurements[k].shape.family == TMI_GROUPED) parts += tmi_number_nearest(s.measurements[k].part);
        assert_true(s.sampling.lonely == cases[i].lonely);
        if (cases[i].lonely ? parts > 0.01 : cases[i].lines && parts < 0.05)
            fail_msg("%s: %.3g of the budget for groups", design, parts);
        tmi_schedule_clear(&s);
        tamis_plan_free(plan);
        if (cases[i].lines) assert_int_equal(unlink(file), 0);
    }
}

static void lists_that_are_wrong_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *lines, *message;
    } cases[] = {{"s,d\np,1\n", "no column c"},
                 {"s,c\np,1\np,1\n", "duplicate cluster"},
                 {"s,c\np,\n", "column c, row 1: expected a label"},
                 {"s,c\n", "expected 1 to 65536 clusters"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char file[64], design[200];
        tmi_schedule s;
        tamis_error err = {0};
        write_list(file, sizeof file, cases[i].lines);
        snprintf(design, sizeof design, "weights: {strata: s, cluster: c, psus: '%s'}, weight: w, max_weight: 50", file);
        tamis_plan *plan = plan_with(design, "  - {total: x}\n");
        assert_int_equal(tmi_schedule_make(&s, plan, NULL, &err), TAMIS_INVALID);
        if (!strstr(err.message, cases[i].message)) fail_msg("%s", err.message);
        tamis_plan_free(plan);
        assert_int_equal(unlink(file), 0);
    }
}

int main(void)
{
    const struct CMUnitTest group[] = {
        cmocka_unit_test(single_clusters_cost_nothing),
        cmocka_unit_test(lists_that_are_wrong_are_refused),
    };
    return cmocka_run_group_tests(group, NULL, NULL);
}
