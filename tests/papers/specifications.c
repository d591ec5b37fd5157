/* Bailie and Drechsler, section 2: specifications. Lemmas 2.7 and 2.11 on random finite structures, Example 2.3 as it is
 * true, and why 0 times infinity must count as infinity. */
#include "tests/test.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define DATASETS 5
#define OUTPUTS 3
#define UNIVERSES 25 /* a completion may have one for each universe and member */

typedef struct structure {
    double distance[DATASETS][DATASETS]; /* perhaps infinite */
    double law[DATASETS][OUTPUTS];       /* of the mechanism */
} structure;

typedef struct multiverse {
    unsigned universe[UNIVERSES]; /* sets of datasets */
    double budget[UNIVERSES];
    int count;
} multiverse;

static unsigned seed = 2711;

static int below(int n)
{
    seed = seed * 1664525u + 1013904223u;
    return (int)((seed >> 10) % (unsigned)n);
}

/* d_MULT: over all events; the largest ratio is that of a single output. */
static double apart(const structure *s, int i, int j)
{
    double most = 0;
    for (int t = 0; t < OUTPUTS; t++) {
        double p = s->law[i][t], q = s->law[j][t];
        if (p == q) continue;
        if (p == 0 || q == 0) return INFINITY;
        most = fmax(most, fabs(log(p / q)));
    }
    return most;
}

static double product(double budget, double distance, double zero_times_infinity)
{
    return budget == 0 && isinf(distance) ? zero_times_infinity : budget * distance;
}

/* (2.1) for all universes and pairs. */
static bool satisfies(const structure *s, const multiverse *m, double zero_times_infinity)
{
    for (int u = 0; u < m->count; u++)
        for (int i = 0; i < DATASETS; i++)
            for (int j = 0; j < DATASETS; j++) {
                if (!(m->universe[u] >> i & 1) || !(m->universe[u] >> j & 1)) continue;
                if (apart(s, i, j) > product(m->budget[u], s->distance[i][j], zero_times_infinity) * (1 + 1e-12)) return false;
            }
    return true;
}

/* Random laws (zeros among them now and then) and a random metric: shortest paths, some places never reached. */
static structure random_structure(void)
{
    structure s;
    for (int i = 0; i < DATASETS; i++) {
        double sum = 0;
        for (int t = 0; t < OUTPUTS; t++) sum += s.law[i][t] = below(12) == 0 ? 0 : 1 + below(4);
        if (sum == 0) sum = s.law[i][0] = 1;
        for (int t = 0; t < OUTPUTS; t++) s.law[i][t] /= sum;
        if (i > 0 && below(3) == 0)
            for (int t = 0; t < OUTPUTS; t++) s.law[i][t] = s.law[i - 1][t];
    }
    for (int i = 0; i < DATASETS; i++)
        for (int j = 0; j <= i; j++)
            s.distance[i][j] = s.distance[j][i] = i == j ? 0 : below(2) ? (double)INFINITY : 1 + below(3);
    for (int k = 0; k < DATASETS; k++)
        for (int i = 0; i < DATASETS; i++)
            for (int j = 0; j < DATASETS; j++) s.distance[i][j] = fmin(s.distance[i][j], s.distance[i][k] + s.distance[k][j]);
    return s;
}

static multiverse random_multiverse(void)
{
    static const double budgets[] = {0, 0.3, 0.7, 1.5, 3};
    multiverse m = {.count = 1 + below(3)};
    for (int u = 0; u < m.count; u++) {
        m.universe[u] = (unsigned)below(1 << DATASETS);
        m.budget[u] = budgets[below(5)];
    }
    return m;
}

/* The least budget of a universe of `m` that holds the set. */
static double least_budget(const multiverse *m, unsigned set)
{
    double least = INFINITY;
    for (int u = 0; u < m->count; u++)
        if ((set & ~m->universe[u]) == 0) least = fmin(least, m->budget[u]);
    return least;
}

static void finer_universes_ask_less(void **state)
{
    int met = 0, missed = 0, rounds = 20000;
    (void)state;
    for (int round = 0; round < rounds; round++) {
        structure s = random_structure();
        multiverse coarse = random_multiverse(), fine = {.count = 3};
        for (int u = 0; u < fine.count; u++) { /* each inside one of the coarse */
            fine.universe[u] = coarse.universe[below(coarse.count)] & (unsigned)below(1 << DATASETS);
            fine.budget[u] = least_budget(&coarse, fine.universe[u]);
        }
        bool whole = satisfies(&s, &coarse, INFINITY), parts = satisfies(&s, &fine, INFINITY);
        assert_true(!whole || parts);
        met += whole;
        missed += !whole && parts;
    }
    assert_true(met > rounds / 50 && missed > rounds / 50);
}

static multiverse completion(const structure *s, const multiverse *m)
{
    multiverse z = {0};
    for (int u = 0; u < m->count; u++) {
        for (int d = 0; d < DATASETS; d++) {
            if (!(m->universe[u] >> d & 1)) continue;
            unsigned part = 0;
            for (int e = 0; e < DATASETS; e++)
                if (m->universe[u] >> e & 1 && isfinite(s->distance[d][e])) part |= 1u << e;
            z.universe[z.count] = part;
            z.budget[z.count++] = least_budget(m, part);
        }
    }
    return z;
}

static void completion_changes_nothing(void **state)
{
    int met = 0, wrong_with_zero = 0, rounds = 20000;
    (void)state;
    for (int round = 0; round < rounds; round++) {
        structure s = random_structure();
        multiverse m = random_multiverse(), z = completion(&s, &m);
        for (int u = 0; u < z.count; u++) /* it is complete */
            for (int i = 0; i < DATASETS; i++)
                for (int j = 0; j < DATASETS; j++)
                    assert_true(!(z.universe[u] >> i & 1) || !(z.universe[u] >> j & 1) || isfinite(s.distance[i][j]));
        assert_int_equal(satisfies(&s, &m, INFINITY), satisfies(&s, &z, INFINITY));
        met += satisfies(&s, &m, INFINITY);
        wrong_with_zero += satisfies(&s, &m, 0) != satisfies(&s, &z, 0);
    }
    assert_true(met > rounds / 50);
    assert_true(wrong_with_zero > 0); /* with 0 times infinity = 0 the lemma fails */
}

/* Two datasets infinitely far apart, one universe, budget 0: taking 0 times infinity as 0 would forbid what the completion,
 * two universes of one, allows. */
static void zero_times_infinity_is_infinite(void **state)
{
    structure s = {.distance = {{0, INFINITY}, {INFINITY, 0}}, .law = {{1, 0, 0}, {0, 1, 0}}};
    multiverse m = {.universe = {3}, .budget = {0}, .count = 1}, parts = {.universe = {1, 2}, .budget = {0, 0}, .count = 2};
    (void)state;
    assert_true(satisfies(&s, &m, INFINITY) && satisfies(&s, &parts, INFINITY));
    assert_true(!satisfies(&s, &m, 0) && satisfies(&s, &parts, 0));
}

/* ---- Example 2.3 ---- */

/* Datasets are 00, 01, 10, 11, by their bits; Hamming distance. */
static int hamming(int i, int j) { return __builtin_popcount((unsigned)(i ^ j)); }

/* With the invariant "both bits are equal" the universe {00, 11} holds no two neighbours: the definition by neighbours
 * allows everything, the one by the Hamming distance does not. */
static void neighbours_say_nothing_across_an_invariant(void **state)
{
    structure s = {.law = {{1, 0, 0}, {0.5, 0.5, 0}, {0.5, 0.5, 0}, {0, 1, 0}}};
    bool by_neighbours = true, by_distance = true;
    (void)state;
    for (int i = 0; i < 4; i += 3)
        for (int j = 0; j < 4; j += 3) {
            if (hamming(i, j) == 1 && apart(&s, i, j) > 1) by_neighbours = false;
            if (apart(&s, i, j) > hamming(i, j)) by_distance = false;
        }
    assert_true(by_neighbours && !by_distance);
}

/* In a universe that single changes connect along shortest ways the two are the same: here all four, any mechanism. */
static void neighbours_are_enough_where_they_connect(void **state)
{
    int met = 0;
    (void)state;
    for (int round = 0; round < 5000; round++) {
        structure s = random_structure();
        double eps = 0.2 * (1 + below(10));
        bool by_neighbours = true, by_distance = true;
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) {
                if (hamming(i, j) == 1 && apart(&s, i, j) > eps) by_neighbours = false;
                if (apart(&s, i, j) > eps * hamming(i, j) * (1 + 1e-12)) by_distance = false;
            }
        assert_int_equal(by_neighbours, by_distance);
        met += by_neighbours;
    }
    assert_true(met > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finer_universes_ask_less),
        cmocka_unit_test(completion_changes_nothing),
        cmocka_unit_test(zero_times_infinity_is_infinite),
        cmocka_unit_test(neighbours_say_nothing_across_an_invariant),
        cmocka_unit_test(neighbours_are_enough_where_they_connect),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
