/* Quantiles that a mechanism chooses: what a plan makes of them, and their privacy by enumeration.
 *
 * A tiny survey goes through the request of its plan and an engine; the law of each group's answer is exact
 * (kit_law_of). All data sets of a few rows are compared with all their neighbours: one unit's rows are any others, in any
 * group or in none, with any weight, or gone. Groups are found independently, so their losses add up. */
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/request/request.h"
#include "mech/quantile/quantile.h"
#include "num/number.h"
#include "schedule/schedule.h"
#include "tests/mech/quantile/kit.h"
#include "tests/release/array_engine.h"

#define MOST_STATES 400
#define MOST_ROWS 8
#define END 200 /* grid points of x: 0 ... 200 */

/* Values are 0, 2, 198 and 200, so points between two of them have the same probability: one of each kind, and how many
 * there are. The block in the middle is so large that it dominates a law, which makes losses as large as they can be. */
#define POINTS 7
static const size_t shown[POINTS] = {0, 1, 2, 3, END - 2, END - 1, END};
static const double alike[POINTS] = {1, 1, 1, END - 5, 1, 1, 1};

static tamis_plan *plan_with(const char *design, const char *privacy, const char *statistics)
{
    char text[4096];
    tamis_plan *plan;
    tamis_error err = {0};
    snprintf(
        text, sizeof text,
        "tamis: 1\nsurvey: s\nsource: {file: a.csv}\ndesign: {%s}\nprivacy: {unit: person, %s}\n"
        "columns:\n  x: {from: 0, to: 200, step: 1}\n  y: {from: 0, to: 100000, step: 1, missing: none}\n  g: {values: [a, b]}\n"
        "statistics:\n%s",
        design, privacy, statistics);
    if (tamis_plan_read_text(&plan, "p.yaml", text, strlen(text), &err) != TAMIS_OK) fail_msg("%s\n%s", text, err.message);
    return plan;
}

static void make(tmi_schedule *s, tamis_plan *plan)
{
    tamis_error err = {0};
    if (tmi_schedule_make(s, plan, NULL, &err) != TAMIS_OK) fail_msg("%s", err.message);
}

/* ---- laws ---- */

typedef struct scene {
    tmi_schedule s;
    tmi_query query;
    tamis_quantile *mechanism;
    size_t numbers, groups, at;
} scene;

/* law[(group * at + k) * POINTS + o] */
static void laws_of(double *law, scene *z, const array_row *rows, size_t row_count)
{
    array_engine engine = array_engine_of(rows, row_count);
    tmi_point_list list;
    tamis_error err = {0};
    if (tmi_engine_points(&list, &engine.engine, &z->query.lists[0], NULL, &err) != TAMIS_OK) fail_msg("%s", err.message);
    size_t from = 0;
    for (size_t g = 0; g < z->groups; g++) {
        int64_t weights[MOST_ROWS];
        size_t count = 0;
        while (from + count < list.count && (!list.cells || (size_t)list.cells[from + count] == g)) {
            weights[count] = list.counts[from + count] * (list.weights ? list.weights[from + count] : 1);
            count++;
        }
        const tmi_records records = {.points = list.points + from,
                                     .weights = weights,
                                     .count = count,
                                     .most_weight = INT64_C(1) << 40,
                                     .grid = &z->mechanism->grid};
        for (size_t k = 0; k < z->at; k++) {
            tamis_bound bounds[END + 1];
            kit_law_of(bounds, z->mechanism, k, &records);
            for (size_t o = 0; o < POINTS; o++)
                law[(g * z->at + k) * POINTS + o] = (bounds[shown[o]].lower + bounds[shown[o]].upper) / 2;
        }
        from += count;
    }
    assert_int_equal(from, list.count);
    tmi_point_list_clear(&list);
}

/* The largest logarithm of a ratio over all answers of all groups. */
static double pure_loss(const double *p, const double *q, size_t draws)
{
    double sum = 0;
    for (size_t i = 0; i < draws; i++) {
        double most = -INFINITY;
        for (size_t o = 0; o < POINTS; o++) most = fmax(most, log(p[i * POINTS + o] / q[i * POINTS + o]));
        sum += most;
    }
    return sum;
}

/* The largest Renyi divergence over its order. */
static double concentrated_loss(const double *p, const double *q, size_t draws)
{
    static const double orders[] = {1.001, 1.5, 2, 4, 10, 50};
    double most = 0;
    for (size_t a = 0; a < sizeof orders / sizeof *orders; a++) {
        double sum = 0;
        for (size_t i = 0; i < draws; i++) {
            double moment = 0;
            for (size_t o = 0; o < POINTS; o++) {
                const double x = p[i * POINTS + o], y = q[i * POINTS + o];
                moment += alike[o] * y * pow(x / y, orders[a]);
            }
            sum += log(moment) / (orders[a] - 1);
        }
        most = fmax(most, sum / orders[a]);
    }
    return most;
}

/* ---- data sets ---- */

/* What one row may be, in its stratum or, if it moves, in any: any value, group and weight. */
static size_t states_of(array_row *list, const array_row *like, const double *weights, size_t weight_count, bool moves)
{
    static const double xs[] = {0, 2, END, NAN};
    static const char *const gs[] = {"a", "b", NULL}, *const strata[] = {"p", "q", NULL};
    size_t count = 0;
    for (size_t i = 0; i < 4; i++)
        for (size_t g = 0; g < 3; g++)
            for (size_t w = 0; w < weight_count; w++)
                for (size_t s = 0; s < (moves ? 3 : 1); s++) {
                    list[count] = *like;
                    list[count].x = xs[i], list[count].g = gs[g], list[count].w = weights[w];
                    if (moves) list[count].s = strata[s];
                    count++;
                }
    return count;
}

typedef struct found {
    double largest; /* of the claim */
} found;

/* All data sets of one unit of `own` rows and the others of `rest`, which take all states: the laws for every state of the unit,
 * compared in pairs. */
static void compare_units(found *f, scene *z, const array_row *others, size_t other_count, const array_row *states,
                          size_t state_count, size_t own)
{
    const bool rho = z->s.gaussian;
    const double claim = tmi_number_nearest(z->s.quantile_tasks[0].part);
    const size_t all = own == 1 ? state_count + 1 : (state_count + 1) * (state_count + 1), draws = z->groups * z->at;
    double *laws = calloc(all * draws * POINTS, sizeof *laws);
    for (size_t i = 0; i < all; i++) {
        array_row rows[MOST_ROWS];
        size_t count = 0;
        for (size_t k = 0, left = i; k < own; k++, left /= state_count + 1)
            if (left % (state_count + 1) < state_count) rows[count++] = states[left % (state_count + 1)]; /* else absent */
        memcpy(rows + count, others, other_count * sizeof *rows);
        laws_of(laws + i * draws * POINTS, z, rows, count + other_count);
    }
    for (size_t i = 0; i < all; i++)
        for (size_t j = 0; j < all; j++) {
            const double *p = laws + i * draws * POINTS, *q = laws + j * draws * POINTS;
            f->largest = fmax(f->largest, (rho ? concentrated_loss(p, q, draws) : pure_loss(p, q, draws)) / claim);
        }
    free(laws);
}

static void scene_make(scene *z, tamis_plan *plan)
{
    *z = (scene){0};
    make(&z->s, plan);
    assert_int_equal(z->s.quantile_task_count, 1);
    const tamis_quantile_setup setup = tmi_quantile_task_setup(&z->s.quantile_tasks[0], plan, 0);
    assert_int_equal(tamis_quantile_new(&z->mechanism, &setup, NULL), TAMIS_OK);
    assert_int_equal(tmi_query_make(&z->query, &z->s, NULL), TAMIS_OK);
    z->groups = z->s.quantile_tasks[0].groups;
    z->at = setup.at_count;
}

static void scene_clear(scene *z)
{
    tamis_quantile_free(z->mechanism);
    tmi_query_clear(&z->query);
    tmi_schedule_clear(&z->s);
}

static void judge(const found *f, double least, const char *design, const char *statistic)
{
    if (f->largest > 1 + 1e-9 || f->largest < least) fail_msg("%s%s: a loss of %.6f of the claim", design, statistic, f->largest);
}

/* The largest loss of all neighbours, in units of the claim, is between `least` and 1. */
static void check(const char *design, const char *privacy, const char *statistic, const array_row *like, const double *weights,
                  size_t weight_count, size_t own, double least)
{
    tamis_plan *plan = plan_with(design, privacy, statistic);
    scene z;
    array_row states[MOST_STATES], other_states[2][MOST_STATES], others[2];
    found f = {0};
    scene_make(&z, plan);
    /* of a unit with an id nobody checks that all its rows, of which one is kept, are in one stratum (docs/quantiles.md) */
    const bool moves = plan->privacy.id && plan->design.by;
    const size_t state_count = states_of(states, &like[0], weights, weight_count, moves);
    size_t counts[2];
    for (size_t k = 0; k < 2; k++) counts[k] = states_of(other_states[k], &like[k + 1], weights, weight_count, false);
    const size_t first = own > 1 ? 3 * weight_count : 1, second = 3 * weight_count; /* every value, at least in one group */
    for (size_t i = weight_count - 1; i < counts[0]; i += first)
        for (size_t j = weight_count - 1; j < counts[1]; j += second) {
            others[0] = other_states[0][i], others[1] = other_states[1][j];
            compare_units(&f, &z, others, 2, states, own > 1 ? state_count - 3 : state_count, own);
        }
    judge(&f, least, design, statistic);
    scene_clear(&z);
    tamis_plan_free(plan);
}

/* The same for others that are two in each group, or in each stratum, where leaving one and entering the other are both as bad as
 * can be. The unit may be in any of them: strata are groups of units with an id (docs/quantiles.md). */
static void check_moves(const char *design, const char *privacy, const char *statistic, double least)
{
    static const array_row others[] = {{.x = 0, .g = "a", .s = "p", .u = "1"},
                                       {.x = END - 2, .g = "a", .s = "p", .u = "2"},
                                       {.x = 0, .g = "b", .s = "q", .u = "3"},
                                       {.x = 2, .g = "b", .s = "q", .u = "4"}};
    static const double one[] = {1};
    tamis_plan *plan = plan_with(design, privacy, statistic);
    scene z;
    array_row states[MOST_STATES];
    found f = {0};
    scene_make(&z, plan);
    compare_units(&f, &z, others, 4, states, states_of(states, &(array_row){.u = "5"}, one, 1, true), 1);
    judge(&f, least, design, statistic);
    scene_clear(&z);
    tamis_plan_free(plan);
}

static const double ones[] = {1};
static const array_row loose[] = {{.u = "1"}, {.u = "2"}, {.u = "3"}};
static const array_row in_strata[] = {{.s = "p", .u = "1"}, {.s = "p", .u = "2"}, {.s = "q", .u = "3"}};
static const array_row other_stratum[] = {{.s = "q", .u = "1"}, {.s = "p", .u = "2"}, {.s = "q", .u = "3"}};

#define SRS "srs: {population: 20, sample: 3}"
#define STRATIFIED(p, q) \
    "stratified: {by: s, within: srs, strata: {p: {population: " p ", sample: 2}, q: {population: " q ", sample: 1}}}"

static void one_list(void **state)
{
    (void)state;
    check(SRS, "epsilon: 1", "  - {median: x, method: inverse}\n", loose, ones, 1, 1, 0.98);
    check(SRS, "epsilon: 1", "  - {quantile: x, at: [0.4, 0.6], method: inverse}\n", loose, ones, 1, 1, 0.98);
    check(SRS, "epsilon: 1", "  - {median: x, method: inverse, where: {g: a}}\n", loose, ones, 1, 1, 0.98);
    check("bernoulli: {rate: 1/10, population: 20}", "epsilon: 1", "  - {median: x, method: inverse}\n", loose, ones, 1, 1, 0.98);
}

static void groups_between_which_records_move(void **state)
{
    (void)state;
    check(SRS, "epsilon: 1", "  - {median: x, by: g, method: inverse}\n", loose, ones, 1, 1, 0.98);
    check(SRS, "epsilon: 1", "  - {quantile: x, at: [0.6], by: g, method: inverse}\n", loose, ones, 1, 1, 0.8);
    check(SRS, "epsilon: 6", "  - {quantile: x, at: [0.4, 0.6], by: g, method: inverse}\n", loose, ones, 1, 1, 0.8);
    check("bernoulli: {rate: 1/10, population: 20}", "epsilon: 1", "  - {median: x, by: g, method: inverse}\n", loose, ones, 1, 1,
          0);
}

static void moves_are_as_bad_as_claimed(void **state)
{
    (void)state;
    static const char five[] = "srs: {population: 20, sample: 5}";
    static const char strata[] =
        "stratified: {by: s, within: srs, strata: {p: {population: 20, sample: 3}, q: {population: 30, sample: 2}}}";
    check_moves(five, "epsilon: 1", "  - {quantile: x, at: [0.6], by: g, method: inverse}\n", 0.97);
    check_moves(five, "epsilon: 1", "  - {quantile: x, at: [0.4, 0.6], by: g, method: inverse}\n", 0.69);
    check_moves(five, "rho: 1/8", "  - {quantile: x, at: [0.6], by: g, method: inverse}\n", 0.1);
    check_moves(strata, "id: u, epsilon: 1", "  - {quantile: x, at: [0.6], by: s, method: inverse}\n", 0.97);
    check_moves(strata, "id: u, epsilon: 1", "  - {quantile: x, at: [0.9], by: s, method: inverse}\n", 0.5);
    check_moves(strata, "epsilon: 1", "  - {quantile: x, at: [0.6], by: [s, g], method: inverse}\n", 0.9);
}

static void public_strata(void **state)
{
    (void)state;
    check(STRATIFIED("20", "30"), "epsilon: 1", "  - {median: x, by: s, method: inverse}\n", in_strata, ones, 1, 1, 0.98);
    check(STRATIFIED("20", "30"), "epsilon: 1", "  - {median: x, by: s, method: inverse}\n", other_stratum, ones, 1, 1, 0.98);
    check(STRATIFIED("20", "30"), "id: u, epsilon: 1", "  - {quantile: x, at: [0.6], by: s, method: inverse}\n", in_strata, ones,
          1, 1, 0.65);
    check(STRATIFIED("20", "30"), "epsilon: 1", "  - {median: x, by: [s, g], method: inverse}\n", in_strata, ones, 1, 1, 0.98);
}

static void weights(void **state)
{
    (void)state;
    static const double some[] = {0, 1, 4, 1000};
    check(STRATIFIED("20", "30"), "epsilon: 1", "  - {median: x, method: inverse}\n", other_stratum, ones, 1, 1, 0.98);
    check(STRATIFIED("20", "30"), "epsilon: 1", "  - {median: x, by: g, method: inverse}\n", other_stratum, ones, 1, 1, 0.98);
    check("weights: {population: 100}, weight: w, max_weight: 4, weight_step: 1", "epsilon: 1",
          "  - {median: x, method: inverse}\n", loose, some, 4, 1, 0.98);
    check("weights: {population: 100}, weight: w, max_weight: 4, weight_step: 1", "epsilon: 1",
          "  - {quantile: x, at: [0.6], by: g, method: inverse}\n", loose, some, 4, 1, 0.82);
}

static void units_of_two_rows(void **state)
{
    (void)state;
    static const char privacy[] = "id: u, rows_per_unit: 2, epsilon: 1";
    check("srs: {population: 20, sample: 3}", privacy, "  - {median: x, by: g, method: inverse}\n", loose, ones, 1, 2, 0.98);
    check("srs: {population: 20, sample: 3}", privacy, "  - {median: x, method: inverse}\n", loose, ones, 1, 2, 0.98);
}

static void zero_concentrated(void **state)
{
    (void)state;
    check(SRS, "rho: 1/8", "  - {median: x, method: inverse}\n", loose, ones, 1, 1, 0.38);
    check(SRS, "rho: 1/8", "  - {median: x, by: g, method: inverse}\n", loose, ones, 1, 1, 0.38);
    check(SRS, "rho: 1/8", "  - {quantile: x, at: [0.4, 0.5, 0.6], by: g, method: inverse}\n", loose, ones, 1, 1, 0.25);
}

/* ---- what a plan makes of them ---- */

static void budget_is_split_exactly(void **state)
{
    (void)state;
    static const char *const losses[] = {"epsilon: 3", "rho: 1/3", "epsilon: 3, delta: 1e-6"};
    for (size_t k = 0; k < 3; k++) {
        tamis_plan *plan = plan_with(
            SRS, losses[k],
            "  - {median: x, budget_share: 2, method: mechanism}\n  - {quantile: x, at: [0.1, 0.2], by: g, method: mechanism}\n"
            "  - {median: y, method: histogram}\n  - {mean: y, budget_share: 1/3}\n");
        tmi_schedule s;
        make(&s, plan);
        assert_int_equal(s.quantile_task_count, 2);
        assert_int_equal(s.quantile_tasks[0].statistic, 0);
        assert_int_equal(s.quantile_tasks[1].statistic, 1);
        /* shares 2, 1, 1, 1/3: halves of 2 and 1 of 13/3 */
        static const int64_t parts[] = {3, 13, 3, 26};
        for (size_t i = 0; i < 2; i++) {
            tamis_number *share = NULL, *wanted = NULL;
            assert_int_equal(tmi_number_ratio(&share, parts[2 * i], parts[2 * i + 1], NULL), TAMIS_OK);
            assert_int_equal(tmi_number_mul(&wanted, s.spent, share, NULL), TAMIS_OK);
            assert_int_equal(tmi_number_compare(s.quantile_tasks[i].part, wanted), 0);
            tamis_number_free(share);
            tamis_number_free(wanted);
        }
        if (!s.gaussian) assert_int_equal(tmi_number_compare_int(s.spent, 3), 0);
        tmi_schedule_clear(&s);
        tamis_plan_free(plan);
    }
}

static void what_is_public_decides(void **state)
{
    (void)state;
    static const struct {
        const char *design, *statistic;
        tamis_quantile_method method;
        bool add_remove;
        int64_t max_weight, rows;
        bool skewed;
    } cases[] = {
        {SRS, "  - {median: x, method: mechanism}\n", TAMIS_QUANTILE_INVERSE, false, 0, 0, false},
        {SRS, "  - {median: y, method: mechanism}\n", TAMIS_QUANTILE_INVERSE, false, 0, 3, true},
        {SRS, "  - {quantile: y, at: [0.8], method: mechanism}\n", TAMIS_QUANTILE_THRESHOLD, false, 0, 3, true},
        {SRS, "  - {quantile: y, at: [0.8], where: {g: a}, method: mechanism}\n", TAMIS_QUANTILE_INVERSE, false, 0, 0, true},
        {SRS, "  - {quantile: x, at: [0.1, 0.2], method: mechanism}\n", TAMIS_QUANTILE_JOINT, false, 0, 0, false},
        {SRS, "  - {quantile: x, at: [0.1, 0.2], method: inverse}\n", TAMIS_QUANTILE_INVERSE, false, 0, 0, false},
        {SRS, "  - {quantile: x, at: [0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6], method: mechanism}\n",
         TAMIS_QUANTILE_SPLIT, false, 0, 0, false},
        {SRS, "  - {median: x, by: g, method: mechanism}\n", TAMIS_QUANTILE_INVERSE, true, 0, 0, false},
        {STRATIFIED("20", "30"), "  - {median: x, method: mechanism}\n", TAMIS_QUANTILE_INVERSE, false, 3, 0, false},
        {STRATIFIED("20", "30"), "  - {median: x, by: s, method: mechanism}\n", TAMIS_QUANTILE_INVERSE, false, 0, 0, false},
        {STRATIFIED("20", "30"), "  - {median: x, by: [s, g], method: mechanism}\n", TAMIS_QUANTILE_INVERSE, true, 0, 0, false},
        {STRATIFIED("20", "10"), "  - {median: x, method: mechanism}\n", TAMIS_QUANTILE_INVERSE, false, 0, 0, false},
        {"weights: {population: 100}, weight: w, max_weight: 4, weight_step: 1", "  - {median: x, by: g, method: mechanism}\n",
         TAMIS_QUANTILE_INVERSE, true, 4, 0, false},
        {SRS, "  - {median: y, method: histogram_method}\n", TAMIS_QUANTILE_HISTOGRAM, false, 0, 3, false},
        {SRS, "  - {median: y, by: g, method: histogram_method}\n", TAMIS_QUANTILE_HISTOGRAM, true, 0, 0, false},
        {SRS, "  - {median: y, method: smooth}\n", TAMIS_QUANTILE_SMOOTH, false, 0, 3, false},
        {STRATIFIED("20", "30"), "  - {median: y, by: s, method: smooth}\n", TAMIS_QUANTILE_SMOOTH, false, 0, 0, false},
        {"bernoulli: {rate: 1/10, population: 20}", "  - {quantile: y, at: [0.8], method: mechanism}\n", TAMIS_QUANTILE_INVERSE,
         false, 0, 0, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis_plan *plan = plan_with(cases[i].design, "epsilon: 4", cases[i].statistic);
        tmi_schedule s;
        make(&s, plan);
        const tmi_quantile_task *c = &s.quantile_tasks[0];
        if (s.quantile_task_count != 1 || c->method != cases[i].method || c->add_remove != cases[i].add_remove ||
            c->max_weight != cases[i].max_weight || c->rows != cases[i].rows || (c->log_unit != NULL) != cases[i].skewed)
            fail_msg("%s%s: %s, %d, %lld, %lld", cases[i].design, cases[i].statistic, tamis_quantile_method_name(c->method),
                     (int)c->add_remove, (long long)c->max_weight, (long long)c->rows);
        assert_int_equal(tmi_number_compare_int(c->part, 2), 0);
        assert_int_equal(tmi_number_compare_int(c->epsilon, c->add_remove ? 1 : 2), 0);
        assert_int_equal(c->group_rows != NULL, c->method == TAMIS_QUANTILE_SMOOTH && c->rows == 0);
        for (size_t g = 0; c->group_rows && g < 2; g++) { /* among the rows of its own stratum: two and one */
            const tamis_quantile_setup setup = tmi_quantile_task_setup(c, plan, g);
            assert_int_equal(setup.rows, 2 - (int64_t)g);
            assert_false(setup.add_remove);
        }
        tmi_schedule_clear(&s);
        tamis_plan_free(plan);
    }
}

/* epsilon^2 <= c rho, and nearly so. */
static void rhos_become_epsilons(void **state)
{
    (void)state;
    static const struct {
        const char *statistic;
        double c;
    } cases[] = {{"  - {median: x, method: mechanism}\n", 8},
                 {"  - {quantile: x, at: [0.2, 0.4, 0.6], method: inverse}\n", 24},
                 {"  - {quantile: x, at: [0.2, 0.4, 0.6], method: mechanism}\n", 8},
                 {"  - {quantile: x, at: [0.2, 0.4, 0.6], method: split}\n", 16},
                 {"  - {quantile: x, at: [0.2, 0.4, 0.6], method: threshold}\n", 6},
                 {"  - {quantile: x, at: [0.2, 0.4, 0.6], method: histogram_method}\n", 6},
                 {"  - {quantile: x, at: [0.2, 0.4, 0.6], by: g, method: split}\n", 16}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis_plan *plan = plan_with(SRS, "rho: 1/3", cases[i].statistic);
        tmi_schedule s;
        make(&s, plan);
        const double e = tmi_number_nearest(s.quantile_tasks[0].epsilon) * (s.quantile_tasks[0].add_remove ? 2 : 1),
                     rho = 1.0 / 6;
        assert_true(e * e <= cases[i].c * rho && e * e > cases[i].c * rho * (1 - 4e-6));
        tmi_schedule_clear(&s);
        tamis_plan_free(plan);
    }
}

static void refused(void **state)
{
    (void)state;
    static const struct {
        const char *design, *privacy, *statistic;
        tamis_status status;
        const char *message;
    } cases[] = {
        {SRS, "epsilon: 1", "  - {median: x, method: smooth}\n", TAMIS_REFUSED,
         "p.yaml:11:5: `method: smooth` finds a quantile among a fixed, public number of rows: values may be missing"},
        {SRS, "epsilon: 1", "  - {median: y, by: g, method: smooth}\n", TAMIS_REFUSED,
         "how many rows are in a group is not public"},
        {SRS, "epsilon: 1", "  - {median: y, where: {g: a}, method: smooth}\n", TAMIS_REFUSED,
         "satisfy the condition is not public"},
        {STRATIFIED("20", "30"), "epsilon: 1", "  - {median: y, method: smooth}\n", TAMIS_REFUSED, "different weights"},
        {STRATIFIED("20", "30"), "epsilon: 1", "  - {median: y, by: [s, g], method: smooth}\n", TAMIS_REFUSED,
         "in a group is not public"},
        {STRATIFIED("20", "30"), "id: u, epsilon: 1", "  - {median: y, by: s, method: smooth}\n", TAMIS_REFUSED,
         "in a group is not public"},
        {"bernoulli: {rate: 1/10, population: 20}", "epsilon: 1", "  - {median: y, method: smooth}\n", TAMIS_REFUSED,
         "is not fixed and public under this design"},
        {SRS, "epsilon: 1", "  - {median: x, method: prefix}\n", TAMIS_REFUSED, "needs rho, or epsilon with delta; nearest"},
        {SRS, "rho: 1", "  - {median: x, method: tree}\n", TAMIS_REFUSED, "needs epsilon"},
        {"weights: {population: 100}, weight: w, max_weight: 4, weight_step: 1e-6", "epsilon: 1",
         "  - {median: x, method: tree}\n", TAMIS_REFUSED, "at most 2^20 steps, and times the number of rows at most 2^60"},
        {STRATIFIED("70000001", "30000002"), "rho: 1", "  - {median: x, method: prefix}\n", TAMIS_REFUSED,
         "too fine for this one; nearest"},
        {SRS, "epsilon: 1, delta: 1e-6", "  - {median: x, method: prefix}\n  - {median: y, method: tree}\n", TAMIS_REFUSED,
         "`method: tree` has Laplace noise"},
        {SRS, "epsilon: 3000", "  - {median: x, method: mechanism}\n", TAMIS_INVALID, "epsilon must be above 0 and at most 1000"},
        {SRS, "epsilon: 1", "  - {quantile: x, at: [12345678/1000000007, 1/3], method: mechanism}\n", TAMIS_INVALID,
         "common denominator"},
        {STRATIFIED("20", "30"), "design_variables: protected, protect: frame, given: population, epsilon: 1",
         "  - {median: x, method: mechanism}\n", TAMIS_REFUSED, "{method: distribution}"},
        {"weights: {population: 100}, weight: w, max_weight: 4, weight_step: 1e-12", "epsilon: 1",
         "  - {median: x, method: mechanism}\n", TAMIS_REFUSED, "the grid of weights is too fine"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis_plan *plan = plan_with(cases[i].design, cases[i].privacy, cases[i].statistic);
        tmi_schedule s;
        tamis_error err = {0};
        const tamis_status status = tmi_schedule_make(&s, plan, NULL, &err);
        if (status != cases[i].status || !strstr(err.message, cases[i].message))
            fail_msg("%s: %d %s", cases[i].statistic, (int)status, err.message);
        tamis_plan_free(plan);
    }
}

/* Weights that are too fine are refused with a step that is then accepted, and the step that is twice as fine is not. */
static void suggested_steps_work(void **state)
{
    static const struct {
        const char *design, *privacy, *method;
    } cases[] = {{"weights: {population: 100}, weight: w, max_weight: 4", "epsilon: 1", "tree"},
                 {"weights: {population: 100}, weight: w, max_weight: 4", "rho: 1", "prefix"},
                 {"weights: {population: 1000000000}, weight: w, max_weight: 317.25", "rho: 1", "prefix"},
                 {"weights: {population: 1000000000}, weight: w, max_weight: 1.5", "epsilon: 1", "tree"},
                 {"weights: {population: 4000000000}, weight: w, max_weight: 99999, weight_step: 1e-6", "epsilon: 1", "tree"},
                 {"weights: {population: 100}, weight: w, max_weight: 4, weight_step: 1e-12", "epsilon: 1", "inverse"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char statistic[80], design[200];
        const size_t end = strcspn(strstr(cases[i].design, "max_weight"), ",") +
                           (size_t)(strstr(cases[i].design, "max_weight") - cases[i].design);
        tmi_schedule s;
        double step = 0;
        snprintf(statistic, sizeof statistic, "  - {median: x, method: %s}\n", cases[i].method);
        for (int round = 0; round < 3; round++) { /* as it is, with the suggestion, with half of it */
            tamis_error err = {0};
            snprintf(design, sizeof design, round == 0 ? "%.*s" : "%.*s, weight_step: %.17g",
                     round == 0 ? (int)strlen(cases[i].design) : (int)end, cases[i].design, round == 2 ? step / 2.6 : step);
            tamis_plan *plan = plan_with(design, cases[i].privacy, statistic);
            const tamis_status status = tmi_schedule_make(&s, plan, NULL, &err);
            if (status != (round == 1 ? TAMIS_OK : TAMIS_REFUSED))
                fail_msg("%s, round %d: %d %s", design, round, (int)status, err.message);
            const char *said = strstr(err.message, "works: weight_step: ");
            if (round == 0) assert_non_null(said);
            if (round == 0) assert_int_equal(sscanf(said, "works: weight_step: %lf", &step), 1);
            if (status == TAMIS_OK) tmi_schedule_clear(&s);
            tamis_plan_free(plan);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(suggested_steps_work),
        cmocka_unit_test(one_list),
        cmocka_unit_test(groups_between_which_records_move),
        cmocka_unit_test(public_strata),
        cmocka_unit_test(weights),
        cmocka_unit_test(moves_are_as_bad_as_claimed),
        cmocka_unit_test(budget_is_split_exactly),
        cmocka_unit_test(what_is_public_decides),
        cmocka_unit_test(rhos_become_epsilons),
        cmocka_unit_test(refused),
        cmocka_unit_test(units_of_two_rows),
        cmocka_unit_test(zero_concentrated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
