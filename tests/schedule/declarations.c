/* What `tamis check` advises to declare: by how much errors would be lower is what the plan with the declaration in it says. */
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "schedule/expected/declarations.h"
#include "tests/base/memory_that_fails.h"

#define NUMBERS \
    "  x: {from: 0, to: 100, step: 1, typical: {mean: 40, sd: 15}}\n  y: {from: 0, to: 10, step: 1, typical: {mean: 4, sd: " \
    "2}}\n" \
    "  g: {values: [a, b], typical: {a: 0.4}}\n"
#define COMPLETE \
    "  x: {from: 0, to: 100, step: 1, typical: {mean: 40, sd: 15}, missing: none}\n" \
    "  y: {from: 0, to: 10, step: 1, typical: {mean: 4, sd: 2}, missing: none}\n" \
    "  g: {values: [a, b], typical: {a: 0.4}, missing: none}\n"
#define STATISTICS "[{mean: x}, {mean: y, by: g}, {total: x}, {share: {g: a}}, {ratio: {of: x, to: y}}]"
#define SRS "srs: {population: 100000, sample: 400}"

typedef struct made {
    tamis_plan *plan;
    tmi_schedule schedule;
    tmi_expected_statistic *now;
    tmi_declaration list[TMI_DECLARATIONS];
    size_t count;
} made;

static void make(made *m, const char *design, const char *columns, const char *statistics)
{
    char text[2000];
    tamis_error err = {0};
    snprintf(text, sizeof text,
             "tamis: 1\nsurvey: s\nsource: {file: a.csv}\ndesign: {%s}\nprivacy: {unit: person, epsilon: 1}\ncolumns:\n%s"
             "statistics: %s\n",
             design, columns, statistics);
    if (tamis_plan_read_text(&m->plan, "p.yaml", text, strlen(text), &err) != TAMIS_OK ||
        tmi_schedule_make(&m->schedule, m->plan, NULL, &err) != TAMIS_OK ||
        tmi_expected_statistics_make(&m->now, &m->schedule, &err) != TAMIS_OK ||
        tmi_declarations_find(m->list, &m->count, &m->schedule, m->now, &err) != TAMIS_OK)
        fail_msg("%s\n%s", text, err.message);
}

static void clear(made *m)
{
    tmi_expected_statistics_free(m->now, m->plan->statistic_count);
    tmi_schedule_clear(&m->schedule);
    tamis_plan_free(m->plan);
}

static const tmi_declaration *find(const made *m, tmi_declaration_kind kind)
{
    for (size_t i = 0; i < m->count; i++)
        if (m->list[i].kind == kind) return &m->list[i];
    return NULL;
}

/* The geometric mean over the statistics whose error another plan changes by more than one per cent. */
static double gain_of(const made *now, const made *then, size_t *concerns)
{
    double sum = 0;
    *concerns = 0;
    for (size_t i = 0; i < now->plan->asked_count; i++) {
        double logs = 0;
        for (size_t k = 0; k < now->now[i].count; k++)
            logs += log(tmi_expected_group_error(&then->now[i].groups[k]) / tmi_expected_group_error(&now->now[i].groups[k]));
        logs /= (double)now->now[i].count;
        if (fabs(logs) <= 0.01) continue;
        sum += logs;
        ++*concerns;
    }
    return 1 - exp(sum / (double)*concerns);
}

static void assert_gain(tmi_declaration_kind kind, const made *now, const made *then)
{
    const tmi_declaration *d = find(now, kind);
    size_t concerns;
    const double gain = gain_of(now, then, &concerns);
    assert_non_null(d);
    if (!(fabs(d->gain - gain) < 1e-6)) fail_msg("advised: %.4f; with the declaration: %.4f", d->gain, gain);
    assert_int_equal(d->concerns, concerns);
    assert_true(gain >= 0.05);
    assert_null(find(then, kind)); /* it is declared now */
}

static void compare(tmi_declaration_kind kind, const char *design, const char *columns, const char *declared_design,
                    const char *declared_columns)
{
    made now, then;
    make(&now, design, columns, STATISTICS);
    make(&then, declared_design, declared_columns, STATISTICS);
    assert_gain(kind, &now, &then);
    clear(&now);
    clear(&then);
}

static void columns_that_are_complete(void **state)
{
    (void)state;
    compare(TMI_DECLARE_COMPLETE, SRS, NUMBERS, SRS, COMPLETE);
}

/* Values that have shares which leave a rest, and numbers that not everybody has, are known to be missing. */
static void columns_that_are_not(void **state)
{
    (void)state;
    made m;
    make(&m, SRS,
         "  x: {from: 0, to: 100, step: 1, typical: {mean: 40, share: 0.5}}\n  g: {values: [a, b], typical: {a: 0.4, b: 0.4}}\n"
         "  h: {values: [a, b], typical: {a: 0.5, b: 0.5}}\n  z: {from: 0, to: 1, step: 1}\n",
         "[{mean: x, by: g}, {count: units, by: h}, {mean: x, where: {h: a}}]");
    static const bool may[] = {false, false, true, false}; /* nobody asks for z */
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(tmi_declaration_is_about(&m.schedule, TMI_DECLARE_COMPLETE, &m.plan->columns[i]), may[i]);
    clear(&m);
}

#define POPULATION ", weight: w, max_weight: 400, typical: {population: 80000, sample: 1200"

/* What clusters differ by is large beside the noise. */
#define LARGE_CLUSTERS ", weight: w, max_weight: 40, typical: {population: 80000, sample: 12000, cluster: 100}"

static void a_list_of_clusters_that_is_public(void **state)
{
    (void)state;
    char file[] = "/tmp/tamis-declarations-XXXXXX.csv", design[300];
    const int descriptor = mkstemps(file, 4);
    assert_true(descriptor >= 0);
    FILE *list = fdopen(descriptor, "w");
    assert_non_null(list);
    fputs("s,c\n", list);
    for (int i = 0; i < 120; i++) fprintf(list, "%d,%d\n", i / 4, i); /* four in each stratum, as is assumed */
    assert_int_equal(fclose(list), 0);
    snprintf(design, sizeof design, "weights: {strata: s, cluster: c, psus: '%s'}" LARGE_CLUSTERS, file);
    compare(TMI_DECLARE_PSUS, "weights: {strata: s, cluster: c}" LARGE_CLUSTERS, NUMBERS, design, NUMBERS);
    unlink(file);
}

static void a_design_effect_that_is_public(void **state)
{
    (void)state;
    made now, then;
    char design[300];
    make(&now, "weights: {strata: s, cluster: c}" POPULATION ", cluster: 10}", NUMBERS, STATISTICS);
    const tmi_declaration *d = find(&now, TMI_DECLARE_DEFF);
    assert_non_null(d);
    assert_true(d->value >= 1 && d->value <= 10);
    snprintf(design, sizeof design, "weights: {deff: %.10g}" POPULATION "}", d->value);
    make(&then, design, NUMBERS, STATISTICS);
    assert_gain(TMI_DECLARE_DEFF, &now, &then);
    clear(&now);
    clear(&then);
}

static void contributions_that_are_bounded(void **state)
{
    (void)state;
    static const char pps[] =
        "pps: {method: sampford, probability: p, sample: 500}, max_weight: 5000, typical: {population: 50000}";
    /* 2.5 times 50000/500 times 40 + 2 * 15, in one digit; of y it would be 2,000 */
    compare(TMI_DECLARE_CONTRIBUTION, pps, NUMBERS, pps,
            "  x: {from: 0, to: 100, step: 1, typical: {mean: 40, sd: 15}, contribution: 20000}\n"
            "  y: {from: 0, to: 10, step: 1, typical: {mean: 4, sd: 2}, contribution: 2000}\n"
            "  g: {values: [a, b], typical: {a: 0.4}}\n");
}

/* What a guess is worth depends on how wrong the assumption is; what is declared is not asked for. */
static void guesses(void **state)
{
    (void)state;
    static const char *const without[] = {"weights: {}, weight: w, max_weight: 5000, typical: {population: 500000}",
                                          "weights: {}, weight: w, max_weight: 5000"},
                             with[] = "weights: {}, weight: w, max_weight: 5000, typical: {population: 500000, sample: 300}";
    made m;
    for (size_t i = 0; i < 2; i++) {
        make(&m, without[i], NUMBERS, STATISTICS);
        const tmi_declaration *d = find(&m, TMI_DECLARE_SAMPLE);
        assert_non_null(d);
        assert_true(d->gain >= 0.05 && d->gain < 1 && d->concerns > 0);
        assert_true(d->value == (i == 0 ? 300 : 0)); /* three times 500000/5000; nothing is known about the second one */
        clear(&m);
    }
    make(&m, with, NUMBERS, STATISTICS);
    assert_null(find(&m, TMI_DECLARE_SAMPLE));
    clear(&m);
}

static void the_best_comes_first_and_little_is_left_out(void **state)
{
    (void)state;
    static const char *const designs[] = {SRS, "weights: {strata: s, cluster: c}" POPULATION "}", "census: {population: 500}",
                                          "weights: {cluster: c}, weight: w, max_weight: 90"};
    for (size_t i = 0; i < sizeof designs / sizeof *designs; i++) {
        made m;
        make(&m, designs[i], NUMBERS, STATISTICS);
        for (size_t k = 0; k < m.count; k++) {
            assert_true(m.list[k].gain >= 0.05 && m.list[k].concerns > 0);
            assert_true(k == 0 || m.list[k].gain <= m.list[k - 1].gain);
        }
        clear(&m);
    }
}

static void without_memory(void **state)
{
    (void)state;
    made m;
    make(&m, "weights: {}, weight: w, max_weight: 90", NUMBERS, "[{total: x}]");
    ALLOCATIONS_FAIL(k_ + 1 + k_ / 20, tmi_declarations_find(m.list, &m.count, &m.schedule, m.now, NULL),
                     assert_int_equal(m.count, 0));
    clear(&m);
    make(&m, SRS, NUMBERS, "[{mean: x, by: g, where: {y: 1}}]");
    ALLOCATIONS_FAIL(k_ + 1 + k_ / 20, tmi_declarations_find(m.list, &m.count, &m.schedule, m.now, NULL),
                     assert_int_equal(m.count, 0));
    clear(&m);
}

int main(void)
{
    const struct CMUnitTest group[] = {cmocka_unit_test(columns_that_are_complete),
                                       cmocka_unit_test(columns_that_are_not),
                                       cmocka_unit_test(a_list_of_clusters_that_is_public),
                                       cmocka_unit_test(a_design_effect_that_is_public),
                                       cmocka_unit_test(contributions_that_are_bounded),
                                       cmocka_unit_test(guesses),
                                       cmocka_unit_test(the_best_comes_first_and_little_is_left_out),
                                       cmocka_unit_test(without_memory)};
    return cmocka_run_group_tests(group, NULL, NULL);
}
