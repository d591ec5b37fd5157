/* Lists of sampled clusters that are wrong, and strata with one cluster. */
#include "tests/test.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "num/number.h"
#include "schedule/standard_errors.h"

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

/* Strata with one cluster are compared with each other, or with another stratum; one that is its only cluster has no sampling
 * error. With only one cluster in all, no standard error is measured. */
static void single_clusters_are_taken_together(void **state)
{
    (void)state;
    static const struct {
        const char *lines, *strata;
        size_t count;
        int64_t slots, population;
    } cases[] = {{"s,c\np,1\np,2\nq,1\nq,2\n", NULL, 2, 4, 0},
                 {"s,c\np,1\np,2\nq,1\n", NULL, 1, 3, 0},
                 {"s,c\np,1\nq,1\n", NULL, 1, 2, 0},
                 {"s,c\no,1\no,2\np,1\nq,1\n", NULL, 2, 4, 0},
                 {"s,c\np,1\n", NULL, 0, 0, 0},
                 {NULL, "p: {population: 9, sample: 4}, q: {population: 9, sample: 1}", 1, 5, 0},
                 {NULL, "p: {population: 9, sample: 4}, q: {population: 1, sample: 1}", 1, 4, 9},
                 {NULL, "p: {population: 4, sample: 4}, q: {population: 1, sample: 1}", 0, 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char file[64] = "", design[300];
        tmi_schedule s;
        size_t errors = 0;
        if (cases[i].lines) {
            write_list(file, sizeof file, cases[i].lines);
            snprintf(design, sizeof design, "weights: {strata: s, cluster: c, psus: '%s'}, weight: w, max_weight: 50", file);
        } else {
            snprintf(design, sizeof design,
                     "stratified: {by: s, within: {cluster: {by: c, smallest: 1, largest: 4}}, strata: {%s}}", cases[i].strata);
        }
        tamis_plan *plan = plan_with(design, "  - {total: x}\n  - {mean: y, by: g}\n");
        assert_int_equal(tmi_schedule_make(&s, plan, NULL, NULL), TAMIS_OK);
        for (size_t k = 0; k < s.measurement_count; k++) errors += s.measurements[k].marginal.weighting == TMI_STANDARD_ERRORS;
        const tmi_psu_layout *l = &s.places.layout;
        if (l->count != cases[i].count || l->slots != cases[i].slots || errors != (cases[i].count > 0 ? 2 : 0))
            fail_msg("case %zu: %zu strata, %lld slots, %zu measured", i, l->count, (long long)l->slots, errors);
        if (l->count > 0) assert_int_equal(l->strata[0].population, cases[i].population);
        assert_int_equal(tmi_psus_are_all_drawn(&s), i == 7);
        assert_int_equal(tmi_psus_are_too_few(&s), i == 4);
        tmi_schedule_clear(&s);
        tamis_plan_free(plan);
        if (cases[i].lines) assert_int_equal(unlink(file), 0);
    }
}

/* Many clusters share slots, evenly, so that an engine has room for all of them. */
static void clusters_share_slots_where_they_are_many(void **state)
{
    (void)state;
    static const tmi_plan_kind kind = {.clusters = true, .fixed_size = true, .staged = true};
    tmi_plan_stratum strata[] = {{.sample = 3}, {.sample = 1000}, {.sample = 40}};
    const tmi_plan_design design = {.kind = &kind, .strata = strata, .stratum_count = 3, .sample = 1043};
    const tmi_sampling sampling = {.design = &design, .strata = 3, .public_strata = true, .clustered = true};
    static const struct {
        int64_t most, slots[3];
        size_t count;
    } cases[] = {{2000, {3, 1000, 40}, 3}, {1042, {3, 981, 40}, 3}, {50, {3, 23, 23}, 3}, {6, {2, 2, 2}, 3}, {5, {5}, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tmi_psu_places p;
        assert_int_equal(tmi_psu_places_make(&p, &sampling, cases[i].most, NULL), TAMIS_OK);
        assert_int_equal(p.layout.count, cases[i].count);
        assert_true(p.layout.slots <= cases[i].most);
        for (size_t h = 0; h < p.layout.count; h++) assert_int_equal(p.layout.strata[h].slots, cases[i].slots[h]);
        tmi_psu_places_clear(&p);
    }
}

static void lists_that_are_wrong_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *lines, *message;
    } cases[] = {{"s,d\np,1\n", "no column c"},
                 {"s,c\np,1\np,1\n", "duplicate cluster"},
                 {"s,c\np,\n", "column c, row 1: must have a label"},
                 {"s,c\n", "must have 1 to 65536 clusters"}};
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
        cmocka_unit_test(single_clusters_are_taken_together),
        cmocka_unit_test(clusters_share_slots_where_they_are_many),
        cmocka_unit_test(lists_that_are_wrong_are_refused),
    };
    return cmocka_run_group_tests(group, NULL, NULL);
}
