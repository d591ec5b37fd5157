/* Quantiles of a plan that are read from prefix sums or a tree: their loss, exactly.
 *
 * What is measured adds up over records, so the loss of a unit does not depend on the others. All states of a unit, in any
 * group or in none, with any weight, or gone, go through the request of a plan and an engine; what each group measures, without
 * noise, is compared for all pairs of states. Gaussian noise loses |difference|^2 / (2 variance), Laplace noise at most the sum
 * of |difference| / scale, and both are attained. */
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/request/request.h"
#include "mech/quantile/prefix.h"
#include "mech/quantile/quantile.h"
#include "mech/quantile/tree.h"
#include "num/number.h"
#include "schedule/schedule.h"
#include "tests/release/array_engine.h"

#define BINS 16
#define MOST_GROUPS 2
#define MOST_NODES 64
#define MOST_STATES 40

typedef struct scene {
    tamis_plan *plan;
    tmi_schedule s;
    tmi_query query;
    tamis_quantile *mechanism;
} scene;

static void scene_make(scene *z, const char *design, const char *privacy, const char *statistic)
{
    char text[2048];
    tamis_error err = {0};
    *z = (scene){0};
    snprintf(text, sizeof text,
             "tamis: 1\nsurvey: s\nsource: {file: a.csv}\ndesign: {%s}\nprivacy: {unit: person, %s}\n"
             "columns:\n  x: {from: 0, to: 15, step: 1}\n  g: {values: [a, b]}\nstatistics:\n  - {%s}\n",
             design, privacy, statistic);
    if (tamis_plan_read_text(&z->plan, "p.yaml", text, strlen(text), &err) != TAMIS_OK) fail_msg("%s\n%s", text, err.message);
    if (tmi_schedule_make(&z->s, z->plan, NULL, &err) != TAMIS_OK) fail_msg("%s", err.message);
    assert_int_equal(z->s.quantile_task_count, 1);
    const tamis_quantile_setup setup = tmi_quantile_task_setup(&z->s.quantile_tasks[0], z->plan, 0);
    assert_int_equal(tamis_quantile_new(&z->mechanism, &setup, NULL), TAMIS_OK);
    assert_int_equal(z->mechanism->distribution->bins, BINS);
    assert_int_equal(tmi_query_make(&z->query, &z->s, NULL), TAMIS_OK);
}

static void scene_clear(scene *z)
{
    tamis_quantile_free(z->mechanism);
    tmi_query_clear(&z->query);
    tmi_schedule_clear(&z->s);
    tamis_plan_free(z->plan);
}

/* What all groups measure, each number over its scale: standard deviations, or scales of Laplace noise. */
static void measure(double *numbers, const scene *z, const array_row *rows, size_t row_count)
{
    const tamis_distribution *d = z->mechanism->distribution;
    array_engine engine = array_engine_of(rows, row_count);
    tmi_point_list list;
    int64_t x[MOST_GROUPS][BINS] = {{0}};
    assert_int_equal(tmi_engine_points(&list, &engine.engine, &z->query.lists[0], NULL, NULL), TAMIS_OK);
    for (size_t i = 0; i < list.count; i++)
        x[list.cells ? list.cells[i] : 0][list.points[i]] += list.counts[i] * (list.weights ? list.weights[i] : 1);
    tmi_point_list_clear(&list);
    for (size_t g = 0; g < z->s.quantile_tasks[0].groups; g++) {
        double *own = numbers + g * MOST_NODES;
        if (d->tree) {
            int64_t sums[MOST_NODES];
            tmi_bin_tree_measure(sums, d->tree, x[g]);
            for (size_t l = 0; l < d->tree->levels; l++)
                for (size_t v = d->tree->first[l]; v < d->tree->first[l + 1]; v++)
                    own[v] = (double)sums[v] / tmi_number_nearest(d->tree->scales[l]);
        } else {
            __int128 sums[BINS];
            tmi_prefix_measure(sums, x[g], d->entries, BINS);
            for (size_t v = 0; v < BINS; v++) own[v] = (double)sums[v] / sqrt(tmi_number_nearest(d->variance));
        }
    }
}

static double loss(const double *p, const double *q, bool rho)
{
    double sum = 0;
    for (size_t v = 0; v < MOST_GROUPS * MOST_NODES; v++) sum += rho ? (p[v] - q[v]) * (p[v] - q[v]) / 2 : fabs(p[v] - q[v]);
    return sum;
}

static size_t states_of(array_row *list, bool weighs)
{
    static const double xs[] = {0, 7, 15, NAN}, ws[] = {4, 1, 1000};
    static const char *const gs[] = {"a", "b", NULL};
    size_t count = 0;
    for (size_t i = 0; i < 4; i++)
        for (size_t g = 0; g < 3; g++)
            for (size_t w = 0; w < (weighs ? 3 : 1); w++)
                list[count++] = (array_row){.x = xs[i], .g = gs[g], .w = ws[w], .u = "1"};
    return count;
}

/* The largest loss of a unit of `own` rows is between `least` and all of the claim. */
static void check(const char *design, const char *privacy, const char *statistic, size_t own, double least)
{
    scene z;
    array_row states[MOST_STATES];
    double most = 0;
    scene_make(&z, design, privacy, statistic);
    const size_t count = states_of(states, strstr(design, "weight") != NULL) + 1, all = own == 1 ? count : count * count;
    double *numbers = calloc(all, MOST_GROUPS * MOST_NODES * sizeof *numbers);
    for (size_t i = 0; i < all; i++) {
        array_row rows[3] = {{.x = 3, .g = "a", .w = 2, .u = "2"}};
        size_t rows_there = 1;
        for (size_t k = 0, left = i; k < own; k++, left /= count)
            if (left % count < count - 1) rows[rows_there++] = states[left % count]; /* else it is not there */
        measure(numbers + i * MOST_GROUPS * MOST_NODES, &z, rows, rows_there);
    }
    for (size_t i = 0; i < all; i++)
        for (size_t j = 0; j < i; j++)
            most = fmax(most, loss(numbers + i * MOST_GROUPS * MOST_NODES, numbers + j * MOST_GROUPS * MOST_NODES, z.s.gaussian));
    most /= tmi_number_nearest(z.s.quantile_tasks[0].part);
    if (!(most <= 1 + 1e-9 && most >= least))
        fail_msg("%s, %s, %s: a loss of %.6f of the claim", design, privacy, statistic, most);
    free(numbers);
    scene_clear(&z);
}

#define SRS "srs: {population: 20, sample: 3}"
#define WEIGHTS "weights: {population: 100}, weight: w, max_weight: 4, weight_step: 1"
#define PAIRS "id: u, rows_per_unit: 2, "

static void prefix_sums(void **state)
{
    (void)state;
    check(SRS, "rho: 1/8", "median: x, method: prefix", 1, 0.6); /* near the top a column is the shorter, the nearer to the end */
    check(SRS, "rho: 1/8", "median: x, by: g, method: prefix", 1, 0.999);
    check(SRS, "epsilon: 2, delta: 1e-6", "quantile: x, at: [0.1, 0.9], by: g, method: prefix", 1, 0.999);
    check("bernoulli: {rate: 1/10, population: 20}", "rho: 1/8", "median: x, where: {g: a}, method: prefix", 1, 0.6);
    check(WEIGHTS, "rho: 1/8", "median: x, method: prefix", 1, 0.6);
    check(WEIGHTS, "rho: 1/8", "median: x, by: g, method: prefix", 1, 0.999);
    check(SRS, PAIRS "rho: 1/8", "median: x, method: prefix", 2, 0.6);
    check(SRS, PAIRS "rho: 1/8", "median: x, by: g, method: prefix", 2, 0.999);
}

static void trees(void **state)
{
    (void)state;
    check(SRS, "epsilon: 1", "median: x, method: tree", 1, 0.999);
    check(SRS, "epsilon: 1", "quantile: x, at: [0.1, 0.9], by: g, method: tree", 1, 0.999);
    check("bernoulli: {rate: 1/10, population: 20}", "epsilon: 1", "median: x, where: {g: a}, method: tree", 1, 0.999);
    check(WEIGHTS, "epsilon: 1", "median: x, method: tree", 1, 0.999);
    check(WEIGHTS, "epsilon: 1", "median: x, by: g, method: tree", 1, 0.999);
    check(SRS, PAIRS "epsilon: 1", "median: x, method: tree", 2, 0.999);
    check(SRS, PAIRS "epsilon: 1", "median: x, by: g, method: tree", 2, 0.999);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(prefix_sums), cmocka_unit_test(trees)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
