/* Several quantiles by group, found jointly or by splitting: their privacy by enumeration.
 *
 * The plan says what the mechanism of a group is made with. Groups are found independently, so that a unit which leaves one and
 * enters another loses the sum of what it loses in both; and the other records of two groups are any, so the largest sum is that
 * of the largest losses. All small data sets of a group are compared with all that have a unit's rows more, or others. */
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

#include "num/number.h"
#include "schedule/schedule.h"
#include "tests/mech/quantile/several_laws.h"

#define SRS "srs: {population: 20, sample: 3}"
#define BERNOULLI "bernoulli: {rate: 1/10, population: 20}"
#define WEIGHTED "weights: {population: 100}, weight: w, max_weight: 4, weight_step: 1"
#define STRATIFIED "stratified: {by: s, within: srs, strata: {p: {population: 20, sample: 2}, q: {population: 30, sample: 3}}}"

enum { MOST_RECORDS = 8, MOST_SETS = 256 };

/* ---- data sets of one group ---- */

typedef struct set {
    int64_t keys[MOST_RECORDS], weights[MOST_RECORDS];
    size_t count;
} set;

/* All sets of `count` records, in any order of which one is taken; none is in the gap. */
static size_t sets_of(set *list, size_t count, const int64_t *weights, size_t weight_count)
{
    const size_t kinds = KEYS * weight_count;
    size_t found = 0, at[MOST_RECORDS] = {0};
    for (bool more = true; more;) {
        set *s = &list[found];
        bool inside = true;
        s->count = count;
        for (size_t i = 0; i < count; i++) {
            s->keys[i] = (int64_t)(at[i] % KEYS);
            s->weights[i] = weights[at[i] / KEYS];
            inside = inside && s->keys[i] != several_gap;
        }
        found += inside;
        assert_true(found < MOST_SETS);
        size_t i = count; /* the next list of kinds that do not descend */
        while (i > 0 && at[i - 1] + 1 == kinds) i--;
        more = i > 0;
        if (more) at[i - 1]++;
        for (; more && i < count; i++) at[i] = at[i - 1];
    }
    return found;
}

static void law_with(double *law, law_function *function, const tamis_quantile *q, const set *others, const set *own)
{
    set all = *others;
    for (size_t i = 0; own && i < own->count; i++) {
        all.keys[all.count] = own->keys[i];
        all.weights[all.count++] = own->weights[i];
    }
    assert_true(tmi_sort_points(all.keys, all.weights, all.count));
    const tmi_keys list = {
        .keys = all.keys, .weights = q->weighted ? all.weights : NULL, .count = all.count, .places = 1, .end = KEYS};
    function(law, q, &list);
}

/* ---- losses ---- */

static double pure_loss(const double *p, const double *q)
{
    double most = 0;
    for (size_t t = 0; t < TUPLES; t++)
        if (p[t] > 0 || q[t] > 0) most = fmax(most, log(p[t] / q[t]));
    return most;
}

/* The largest Renyi divergence over its order. */
static double concentrated_loss(const double *p, const double *q)
{
    static const double orders[] = {1.001, 1.5, 2, 4, 10, 50};
    double most = 0;
    for (size_t a = 0; a < sizeof orders / sizeof *orders; a++) {
        double moment = 0;
        for (size_t t = 0; t < TUPLES; t++)
            if (q[t] > 0) moment += q[t] * pow(p[t] / q[t], orders[a]);
        most = fmax(most, log(moment) / (orders[a] - 1) / orders[a]);
    }
    return most;
}

/* The largest losses if `rows` rows leave a group, enter it, or are others inside. */
typedef struct losses {
    double leave, enter, change;
} losses;

static losses losses_of(const tamis_quantile *q, law_function *function, bool rho, size_t other_count, size_t rows)
{
    static const int64_t plain[] = {1}, some[] = {0, 1, 4}, few[] = {1, 4};
    static set others[MOST_SETS], own[MOST_SETS];
    static double laws[MOST_SETS][TUPLES], without[TUPLES];
    double (*const loss)(const double *, const double *) = rho ? concentrated_loss : pure_loss;
    const size_t all = sets_of(others, other_count, q->weighted ? few : plain, q->weighted ? 2 : 1);
    const size_t mine = sets_of(own, rows, q->weighted ? some : plain, q->weighted ? 3 : 1);
    losses most = {0};
    for (size_t o = 0; o < all; o++) {
        law_with(without, function, q, &others[o], NULL);
        for (size_t i = 0; i < mine; i++) {
            law_with(laws[i], function, q, &others[o], &own[i]);
            most.leave = fmax(most.leave, loss(laws[i], without));
            most.enter = fmax(most.enter, loss(without, laws[i]));
            for (size_t j = 0; j < i; j++) most.change = fmax(most.change, fmax(loss(laws[i], laws[j]), loss(laws[j], laws[i])));
        }
    }
    return most;
}

/* The largest loss of a unit, in units of the claim, is between `least` and 1. */
static void check(const char *design, const char *privacy, const char *statistic, size_t rows, double least)
{
    char text[2048];
    tamis_plan *plan;
    tmi_schedule s;
    tamis_quantile *q;
    tamis_error err = {0};
    snprintf(text, sizeof text,
             "tamis: 1\nsurvey: s\nsource: {file: a.csv}\ndesign: {%s}\nprivacy: {unit: person, %s}\n"
             "columns: {x: {from: 0, to: 200, step: 1}, g: {values: [a, b]}}\nstatistics:\n  - {%s}\n",
             design, privacy, statistic);
    if (tamis_plan_read_text(&plan, "p.yaml", text, strlen(text), &err) != TAMIS_OK) fail_msg("%s\n%s", text, err.message);
    if (tmi_schedule_make(&s, plan, NULL, &err) != TAMIS_OK) fail_msg("%s\n%s", text, err.message);
    assert_int_equal(s.quantile_task_count, 1);
    const tmi_quantile_task *c = &s.quantile_tasks[0];
    const tamis_quantile_setup setup = tmi_quantile_task_setup(c, plan, 0);
    assert_int_equal(tamis_quantile_new(&q, &setup, NULL), TAMIS_OK);
    const bool joint = q->method == TAMIS_QUANTILE_JOINT;
    assert_true(joint || q->method == TAMIS_QUANTILE_SPLIT);
    double largest = 0;
    for (several_gap = -1; several_gap < (joint ? KEYS : 0); several_gap++)
        for (size_t others = 0; others <= (q->weighted ? 2 : 4); others++) {
            const losses one = losses_of(q, joint ? joint_law : split_law, s.gaussian, others, 1),
                         all = rows > 1 ? losses_of(q, joint ? joint_law : split_law, s.gaussian, others, rows) : one;
            largest = fmax(largest, all.change);
            if (!c->add_remove) continue; /* one group, or groups that no record can leave */
            largest = fmax(largest, all.leave + all.enter);
            if (rows > 1) largest = fmax(largest, 2 * one.change);
        }
    largest /= tmi_number_nearest(c->part);
    if (largest > 1 + 1e-9 || largest < least) fail_msg("%s, %s: a loss of %.6f of the claim", design, statistic, largest);
    several_gap = -1;
    tamis_quantile_free(q);
    tmi_schedule_clear(&s);
    tamis_plan_free(plan);
}

#define THREE(more) "quantile: x, at: [0.25, 0.5, 0.9], " more
#define MEDIAN(more) "quantile: x, at: [0.5], " more

static void groups_between_which_records_move(void **state)
{
    (void)state;
    static const char *const designs[] = {SRS, BERNOULLI};
    for (size_t i = 0; i < 2; i++) {
        check(designs[i], "epsilon: 2", THREE("by: g, method: joint"), 1, 0.7);
        check(designs[i], "epsilon: 2", THREE("by: g, method: split"), 1, 0.69);
        check(designs[i], "epsilon: 2", MEDIAN("by: g, method: joint"), 1, 0.99);
    }
}

static void public_strata(void **state)
{
    (void)state;
    check(STRATIFIED, "epsilon: 2", THREE("by: s, method: joint"), 1, 0.99);
    check(STRATIFIED, "epsilon: 2", THREE("by: s, method: split"), 1, 0.61);
}

static void weights(void **state)
{
    (void)state;
    check(WEIGHTED, "epsilon: 2", THREE("by: g, method: joint"), 1, 0.59);
    check(WEIGHTED, "epsilon: 2", THREE("by: g, method: split"), 1, 0.61);
    check(WEIGHTED, "epsilon: 2", MEDIAN("by: g, method: joint"), 1, 0.99);
}

static void units_of_two_rows(void **state)
{
    (void)state;
    check(SRS, "id: u, rows_per_unit: 2, epsilon: 2", THREE("by: g, method: joint"), 2, 0.59);
    check(SRS, "id: u, rows_per_unit: 2, epsilon: 2", THREE("by: g, method: split"), 2, 0.65);
    check(SRS, "id: u, rows_per_unit: 2, epsilon: 2", MEDIAN("by: g, method: joint"), 2, 0.99);
}

static void zero_concentrated(void **state)
{
    (void)state;
    check(SRS, "rho: 1/2", THREE("by: g, method: joint"), 1, 0.2);
    check(SRS, "rho: 1/2", THREE("by: g, method: split"), 1, 0.48);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_between_which_records_move),
        cmocka_unit_test(public_strata),
        cmocka_unit_test(weights),
        cmocka_unit_test(units_of_two_rows),
        cmocka_unit_test(zero_concentrated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
