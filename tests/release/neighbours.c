/* The sensitivity of every measurement against its definition: all pairs of neighbours of a tiny survey, through an engine.
 *
 * A record of the survey is replaced by another one that the design could have drawn instead: any answers, any weight that the
 * plan allows, the same stratum, the same cluster; where these are not fixed, in another one too. The distance of the two tables, each cell in units of its own law's
 * sensitivity, is never above 1, and for some pair it is 1. */
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "num/number.h"
#include "release/array_engine.h"
#include "release/request.h"

static const double xs[] = {-100, 10, 19.75, 30, 1e9, NAN};
static const double ys[] = {-5, 0, 3, NAN};
static const char *const gs[] = {"a", "b", NULL}, *const hs[] = {"u", "w", "other"};

#define MOST_RECORDS 4096

/* Where a record may move: few answers, all places. */
static size_t movers(array_row *list, const array_row *row, double weight)
{
    static const char *const strata[] = {"p", "q", NULL}, *const clusters[] = {"1", "2", NULL};
    size_t count = 0;
    for (size_t i = 0; i < sizeof xs / sizeof *xs; i++)
        for (size_t j = 0; j < sizeof ys / sizeof *ys; j++)
            for (size_t g = 0; g < 3; g++)
                for (size_t place = 0; place < 9; place++) {
                    array_row r = *row;
                    r.x = xs[i], r.y = ys[j], r.g = gs[g], r.w = weight, r.s = strata[place / 3], r.c = clusters[place % 3];
                    list[count++] = r;
                }
    return count;
}

/* Every record that could stand in the place of `row`. */
static size_t alternatives(array_row *list, const array_row *row, const double *weights, size_t weight_count, bool moves)
{
    size_t count = 0;
    if (moves) return movers(list, row, weights[0]);
    for (size_t i = 0; i < sizeof xs / sizeof *xs; i++)
        for (size_t j = 0; j < sizeof ys / sizeof *ys; j++)
            for (size_t g = 0; g < 3; g++)
                for (size_t h = 0; h < 3; h++)
                    for (size_t w = 0; w < weight_count; w++) {
                        array_row r = *row;
                        r.x = xs[i], r.y = ys[j], r.g = gs[g], r.h = hs[h], r.w = weights[w];
                        assert_true(count < MOST_RECORDS);
                        list[count++] = r;
                    }
    return count;
}

static tamis_plan *plan_with(const char *design, const char *privacy, const char *x, const char *statistics)
{
    char text[4096];
    tamis_plan *plan;
    tamis_error err = {0};
    snprintf(text, sizeof text, "tamis: 1\nsurvey: s\nsource: {file: a.csv}\ndesign: {%s}\nprivacy: {unit: person, %s}\n"
             "columns:\n  x: %s\n  y: {from: -2, to: 3, step: 1}\n  g: {values: [a, b]}\n  h: {values: [u, v, w]}\n"
             "statistics:\n%s", design, privacy, x, statistics);
    if (tamis_plan_read_text(&plan, "p.yaml", text, strlen(text), &err) != TAMIS_OK) fail_msg("%s\n%s", text, err.message);
    return plan;
}

typedef struct tables {
    tmi_asking *asking;
} tables;

/* What one row adds to all tables, the others being as they are: the tables of a survey in which it stands alone would lose
 * the ranks of clusters, so the whole survey is counted. */
static void count(tables *t, const array_row *rows, size_t row_count)
{
    array_engine engine = array_engine_of(rows, row_count);
    for (size_t i = 0; i < t->asking->table_count; i++)
        memset(t->asking->answers[i], 0, tmi_table_cells(&t->asking->tables[i]) * t->asking->tables[i].measure_count * sizeof(tmi_int128));
    assert_int_equal(engine.engine.aggregate(&engine.engine, t->asking->answers, &t->asking->request, NULL, NULL, NULL), TAMIS_OK);
}

typedef struct worst {
    double l1, l2;
} worst;

/* Many records add the same to a table: each such addition once, at the front. */
static size_t distinct(double *adds, size_t records, size_t cells)
{
    size_t count = 0;
    for (size_t r = 0; r < records; r++) {
        size_t k = 0;
        while (k < count && memcmp(adds + k * cells, adds + r * cells, cells * sizeof *adds) != 0) k++;
        if (k == count) memmove(adds + count++ * cells, adds + r * cells, cells * sizeof *adds);
    }
    return count;
}

/* Each distance is a sum over cells of convex functions of two records' own contributions, so that it is enough to look at
 * all records' contributions once and at all pairs of those. */
static void compare(worst *worst, double *const *adds, size_t all_records, const tmi_schedule *s)
{
    for (size_t i = 0; i < s->measurement_count; i++) {
        const tmi_measurement *m = &s->measurements[i];
        const size_t records = distinct(adds[i], all_records, m->cells);
        double *l1_of = calloc(m->cells, sizeof *l1_of), *l2_of = calloc(m->cells, sizeof *l2_of);
        for (size_t cell = 0; cell < m->cells; cell++) {
            l1_of[cell] = (double)tmi_cell_law(m, cell)->l1;
            l2_of[cell] = tmi_number_nearest(tmi_cell_law(m, cell)->l2_squared);
        }
        for (size_t p = 0; p < records; p++)
            for (size_t q = 0; q < p; q++) {
                double l1 = 0, l2 = 0;
                for (size_t cell = 0; cell < m->cells; cell++) {
                    double change = fabs(adds[i][p * m->cells + cell] - adds[i][q * m->cells + cell]);
                    l1 += change / l1_of[cell];
                    l2 += change * change / l2_of[cell];
                }
                worst[i].l1 = fmax(worst[i].l1, l1);
                worst[i].l2 = fmax(worst[i].l2, l2);
            }
        free(l1_of), free(l2_of);
    }
}

static void check(const char *design, const char *privacy, const char *x, const char *statistics, const array_row *rows, size_t n,
                  const double *weights, size_t weight_count)
{
    tamis_plan *plan = plan_with(design, privacy, x, statistics);
    tmi_schedule s;
    tmi_asking asking;
    tamis_error err = {0};
    tamis_rng *rng;
    if (tmi_schedule_make(&s, plan, NULL, &err) != TAMIS_OK) fail_msg("%s", err.message);
    assert_int_equal(tmi_asking_make(&asking, &s, &err), TAMIS_OK);
    assert_int_equal(tmi_asking_make_room(&asking, &err), TAMIS_OK);
    bits_from_seed(11);
    assert_int_equal(tamis_rng_new(&rng, NULL), TAMIS_OK);
    assert_int_equal(tmi_variance_groups_draw(&asking.groups, rng, NULL), TAMIS_OK);
    tamis_rng_free(rng);

    array_row *list = calloc(MOST_RECORDS, sizeof *list), *survey = calloc(n, sizeof *survey);
    worst *found = calloc(s.measurement_count, sizeof *found);
    double **adds = calloc(s.measurement_count, sizeof *adds);
    tables t = {&asking};
    for (size_t row = 0; row < n; row++) {
        memcpy(survey, rows, n * sizeof *survey);
        size_t records = alternatives(list, &rows[row], weights, weight_count, asking.units && asking.units->kind == TMI_SCATTER);
        for (size_t i = 0; i < s.measurement_count; i++) adds[i] = calloc(records * s.measurements[i].cells, sizeof **adds);
        for (size_t r = 0; r < records; r++) {
            survey[row] = list[r];
            count(&t, survey, n);
            for (size_t i = 0; i < s.measurement_count; i++)
                for (size_t cell = 0; cell < s.measurements[i].cells; cell++)
                    adds[i][r * s.measurements[i].cells + cell] = (double)tmi_asking_truth(&asking, i, cell);
        }
        compare(found, adds, records, &s);
        for (size_t i = 0; i < s.measurement_count; i++) free(adds[i]);
    }
    for (size_t i = 0; i < s.measurement_count; i++) {
        tmi_text name;
        tmi_text_init(&name);
        tmi_measurement_name(&name, &s.measurements[i]);
        if (found[i].l1 > 1 + 1e-12 || found[i].l2 > 1 + 1e-12 || found[i].l1 < 1 - 1e-9 || found[i].l2 < 1 - 1e-9)
            fail_msg("%s: %s: L1 %.15g, L2 squared %.15g of the sensitivity", design, name.bytes, found[i].l1, found[i].l2);
        tmi_text_clear(&name);
    }
    free(list), free(survey), free(found), free(adds);
    tmi_asking_clear(&asking);
    tmi_schedule_clear(&s);
    tamis_plan_free(plan);
}

#define ALL                                                                                                           \
    "  - {count: units, by: g}\n  - total: x\n  - {total: y, by: g}\n  - {mean: x, by: g}\n  - {mean: y}\n"        \
    "  - {ratio: {of: x, to: y}}\n  - {variance: y}\n  - {share: {g: a}}\n  - {total: y, where: {h: [u, w]}}\n"     \
    "  - {table: [g, h]}\n  - {histogram: x, cuts: [20]}\n"
#define X "{from: 10, to: 30, step: 0.5}"

static const double ones[] = {1};
static const array_row four[] = {{.x = 10, .g = "a", .h = "u", .s = "p"}, {.x = 12, .g = "b", .s = "p"},
                                 {.x = 20, .g = "b", .h = "w", .s = "q"}, {.x = 25, .g = "a", .h = "u", .s = "q"}};
static const array_row two[] = {{.x = 10, .g = "a", .h = "u", .s = "p", .c = "1"}, {.x = 20, .g = "b", .h = "w", .s = "q", .c = "2"}};

static void simple_random_samples(void **state)
{
    (void)state;
    check("srs: {population: 20, sample: 2}", "epsilon: 1", X, ALL, two, 2, ones, 1);
    check("bernoulli: {rate: 1/10, population: 20}", "epsilon: 1", X, ALL, two, 2, ones, 1);
}

/* Within its stratum a record costs what its own stratum's range and weight make of it. */
static void strata(void **state)
{
    (void)state;
    static const char far[] = "stratified: {by: s, within: srs, strata: {p: {population: 900, sample: 2}, q: {population: 6, sample: 2}}}";
    static const char near[] = "stratified: {by: s, within: srs, strata: {p: {population: 9, sample: 2}, q: {population: 7, sample: 2}}}";
    static const char ranges[] = "{from: 10, to: {p: 30, q: 14}, step: 0.5}";
    check(far, "epsilon: 1", X, ALL, four, 4, ones, 1);
    check(near, "epsilon: 1", X, ALL, four, 4, ones, 1);
    check(near, "epsilon: 1", X, "  - {total: x, by: s}\n  - {count: units, by: [s, g]}\n", four, 4, ones, 1);
    check(near, "epsilon: 1", ranges, "  - {total: x}\n  - {mean: x, by: g}\n", four, 4, ones, 1);
}

static void weights_of_rows(void **state)
{
    (void)state;
    static const double weights[] = {-1, 0.001, 1, 7.3, 50, 1e6, NAN};
    check("weights: {population: 100}, weight: w, max_weight: 50", "epsilon: 1", X, "  - {total: x}\n  - {mean: y, by: g}\n", two, 2,
          weights, 7);
    static const double probabilities[] = {0, 1e-9, 0.02, 0.3, 1, NAN};
    check("poisson: {probability: w}, max_weight: 50", "epsilon: 1", X, "  - {total: x}\n  - {share: {g: a}}\n", two, 2, probabilities, 6);
}

/* A record stays in its cluster, and so in one variance unit. */
static void clusters(void **state)
{
    (void)state;
    check("cluster: {by: c, population: 9, sample: 2, smallest: 1, largest: 4}", "epsilon: 1", X,
          "  - {total: x}\n  - {mean: y, by: g}\n  - {variance: y}\n", two, 2, ones, 1);
}

/* Nothing is fixed but the weights' bound: a record may come from any cluster of any stratum. */
static void clusters_that_nobody_counted(void **state)
{
    (void)state;
    static const double weight[] = {50};
    check("weights: {strata: s, cluster: c}, weight: w, max_weight: 50", "epsilon: 1", X,
          "  - {total: x}\n  - {mean: y, by: g}\n", two, 2, weight, 1);
    check("weights: {cluster: c}, weight: w, max_weight: 50", "epsilon: 1", X, "  - {total: x}\n", two, 2, weight, 1);
}

/* Rows of a unit are drawn together: where the number of units is not fixed, a hash of their ids spreads them. */
static void rows_of_units_are_variance_units(void **state)
{
    (void)state;
    static const struct {
        const char *design, *privacy;
        bool clustered, scattered;
    } cases[] = {{"bernoulli: {rate: 1/10}", "epsilon: 1, id: u, rows_per_unit: 3", true, true},
                 {"bernoulli: {rate: 1/10}", "epsilon: 1, id: u", false, false},
                 {"weights: {}, weight: w, max_weight: 50", "epsilon: 1, id: u, rows_per_unit: 3", true, true},
                 {"weights: {deff: 2}, weight: w, max_weight: 50", "epsilon: 1, id: u, rows_per_unit: 3", false, false},
                 {"srs: {population: 9, sample: 3}", "epsilon: 1, id: u, rows_per_unit: 3", true, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis_plan *plan = plan_with(cases[i].design, cases[i].privacy, X, "  - {total: x}\n");
        tmi_schedule s;
        tmi_asking asking;
        assert_int_equal(tmi_schedule_make(&s, plan, NULL, NULL), TAMIS_OK);
        assert_int_equal(tmi_asking_make(&asking, &s, NULL), TAMIS_OK);
        assert_true(s.sampling.clustered == cases[i].clustered && s.sampling.scattered == cases[i].scattered);
        assert_int_equal(asking.units != NULL, cases[i].clustered);
        if (asking.units) assert_true(asking.units->of == asking.unit);
        const tmi_measurement *m = &s.measurements[0];
        int64_t far = m->high > -m->low ? m->high : -m->low;
        if (cases[i].scattered) assert_int_equal(m->laws[0].l1, 2 * 3 * far); /* three rows leave a cell, three enter another */
        tmi_asking_clear(&asking);
        tmi_schedule_clear(&s);
        tamis_plan_free(plan);
    }
}

/* Labels that begin again in each stratum are different clusters. Every draw has another key. */
static void labels_count_in_their_stratum(void **state)
{
    (void)state;
    static const char *const designs[] = {"weights: {strata: s, cluster: c}, weight: w, max_weight: 50",
                                          "weights: {cluster: c}, weight: w, max_weight: 50"};
    for (size_t d = 0; d < 2; d++) {
        tamis_plan *plan = plan_with(designs[d], "epsilon: 1", X, "  - total: x\n");
        tmi_schedule s;
        tmi_asking asking;
        tamis_rng *rng;
        array_engine engine = array_engine_of(two, 2);
        unsigned char first[TMI_KEY_BYTES];
        size_t apart = 0;
        assert_int_equal(tmi_schedule_make(&s, plan, NULL, NULL), TAMIS_OK);
        assert_int_equal(tmi_asking_make(&asking, &s, NULL), TAMIS_OK);
        bits_from_seed(12);
        assert_int_equal(tamis_rng_new(&rng, NULL), TAMIS_OK);
        for (size_t i = 0; i < 100; i++) {
            const array_row here = {.s = "p", .c = "1"}, there = {.s = "q", .c = "1"};
            assert_int_equal(tmi_variance_groups_draw(&asking.groups, rng, NULL), TAMIS_OK);
            if (i == 0) memcpy(first, asking.groups.key, sizeof first);
            else assert_true(memcmp(first, asking.groups.key, sizeof first) != 0);
            apart += array_value(&engine, asking.units, &here) != array_value(&engine, asking.units, &there);
        }
        assert_true(d == 0 ? apart > 80 : apart == 0); /* 31/32 of them, on the average */
        tamis_rng_free(rng);
        tmi_asking_clear(&asking);
        tmi_schedule_clear(&s);
        tamis_plan_free(plan);
    }
}

/* Strata that are protected: one record becomes any other one, of any stratum, and the weights of the three others move too. The
 * rows add up by themselves, so each is counted alone. Attained, but where floors of a shift lie between. */
static void strata_that_are_protected(void **state)
{
    (void)state;
    static const double x[] = {10, 30, NAN}, y[] = {-2, 3, NAN};
    array_row list[2 * 3 * 3 * 2 * 2];
    size_t records = 0;
    for (size_t i = 0; i < 9; i++)
        for (size_t g = 0; g < 2; g++)
            for (size_t h = 0; h < 2; h++)
                for (size_t s = 0; s < 2; s++) /* neighbours in the list differ in their stratum alone */
                    list[records++] = (array_row){.x = x[i % 3], .y = y[i / 3], .g = gs[g], .h = hs[h], .s = s ? "q" : "p"};
    tamis_plan *plan = plan_with("stratified: {by: s, within: srs, strata: {p: {population: 9, sample: 2}, q: {population: 7, sample: 2}}}",
                                 "protect: population, given: nothing, design_variables: protected, epsilon: 1", X,
                                 "  - {count: units, by: g}\n  - total: x\n  - {mean: y, by: g}\n  - {ratio: {of: x, to: y}}\n");
    tmi_schedule s;
    tmi_asking asking;
    tamis_error err = {0};
    if (tmi_schedule_make(&s, plan, NULL, &err) != TAMIS_OK) fail_msg("%s", err.message);
    assert_int_equal(tmi_asking_make(&asking, &s, NULL), TAMIS_OK);
    assert_int_equal(tmi_asking_make_room(&asking, NULL), TAMIS_OK);
    for (size_t i = 0; i < s.measurement_count; i++) {
        const tmi_measurement *m = &s.measurements[i];
        double *adds = calloc(records * m->cells, sizeof *adds), l1 = 0, l2 = 0;
        for (size_t r = 0; r < records; r++) {
            count(&(tables){&asking}, &list[r], 1);
            for (size_t cell = 0; cell < m->cells; cell++) adds[r * m->cells + cell] = (double)tmi_asking_truth(&asking, i, cell);
        }
        for (size_t p = 0; p < records; p++)
            for (size_t q = 0; q < records; q++)
                for (size_t other = 0; other < records; other++) { /* three such ones, whose stratum changes */
                    double sum = 0, squares = 0;
                    for (size_t cell = 0; cell < m->cells; cell++) {
                        double change = adds[p * m->cells + cell] - adds[q * m->cells + cell] +
                                        3 * (adds[other * m->cells + cell] - adds[(other ^ 1) * m->cells + cell]);
                        sum += fabs(change);
                        squares += change * change;
                    }
                    l1 = fmax(l1, sum / (double)m->laws[0].l1);
                    l2 = fmax(l2, squares / tmi_number_nearest(m->laws[0].l2_squared));
                }
        if (l1 > 1 + 1e-12 || l2 > 1 + 1e-12 || l1 < 1 - 1e-3 || l2 < 1 - 1e-3)
            fail_msg("measurement %zu: L1 %.15g, L2 squared %.15g of the sensitivity", i, l1, l2);
        free(adds);
    }
    tmi_asking_clear(&asking);
    tmi_schedule_clear(&s);
    tamis_plan_free(plan);
}

/* A unit whose rows are bounded may bring one more, of no stratum: if that is what is kept, the unit adds nothing. */
static void a_unit_may_be_kept_without_its_stratum(void **state)
{
    (void)state;
    static const char *const privacy[] = {"epsilon: 1", "id: u, rows_per_unit: 1, epsilon: 1"};
    for (size_t i = 0; i < 2; i++) {
        tamis_plan *plan = plan_with("stratified: {by: s, within: srs, strata: {p: {population: 9, sample: 2}, q: {population: 7, sample: 2}}}",
                                     privacy[i], "{from: 10, to: 30, step: 1, missing: 10}", "  - total: x\n");
        tmi_schedule s;
        assert_int_equal(tmi_schedule_make(&s, plan, NULL, NULL), TAMIS_OK);
        const tmi_measurement *m = &s.measurements[0];
        assert_true(m->low > 0 && m->quantity.weighing == TMI_WEIGHED);
        assert_int_equal(m->laws[0].l1, i == 0 ? m->high - m->low : m->high);
        tmi_schedule_clear(&s);
        tamis_plan_free(plan);
    }
}

int main(void)
{
    const struct CMUnitTest group[] = {
        cmocka_unit_test(simple_random_samples),
        cmocka_unit_test(strata),
        cmocka_unit_test(weights_of_rows),
        cmocka_unit_test(clusters),
        cmocka_unit_test(clusters_that_nobody_counted),
        cmocka_unit_test(rows_of_units_are_variance_units),
        cmocka_unit_test(labels_count_in_their_stratum),
        cmocka_unit_test(strata_that_are_protected),
        cmocka_unit_test(a_unit_may_be_kept_without_its_stratum),
    };
    return cmocka_run_group_tests(group, NULL, NULL);
}
