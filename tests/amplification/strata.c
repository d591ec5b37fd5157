/* Strata that one record may change: against all private tables with two outcomes (see amplify_tables.c: it is enough to
 * look at powers of E that differ by at most one exponent from one step to the next). */
#include "tests/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tamis/experimental/amplification.h>

enum { MOST_STATES = 12, MOST_PAIRS = 400 };

static double choose(int n, int k) { return k < 0 || k > n ? 0 : k == 0 ? 1 : choose(n - 1, k - 1) * n / k; }

/* Ones in a sample of n from N of which t are ones. */
static double hypergeometric(int N, int t, int n, int ones) { return choose(t, ones) * choose(N - t, n - ones) / choose(N, n); }

/* ---- tables on a graph of samples ---- */

typedef struct graph {
    int count, k[MOST_STATES];
    int at[MOST_STATES][2];
    bool sizes; /* states are (size, ones), and records are added or removed; else (ones, ones), and replaced */
    double E, P[MOST_PAIRS][2][MOST_STATES], worst;
    int pairs; /* of laws P */
} graph;

static bool one_step(const graph *g, int i, int j)
{
    int x = abs(g->at[i][0] - g->at[j][0]), y = abs(g->at[i][1] - g->at[j][1]);
    int zeros = abs(g->at[i][0] - g->at[i][1] - g->at[j][0] + g->at[j][1]);
    return g->sizes ? y + zeros == 1 : x + y == 1;
}

static void judge(graph *g)
{
    for (int p = 0; p < g->pairs; p++) {
        double sum[2] = {0, 0};
        for (int i = 0; i < g->count; i++)
            for (int side = 0; side < 2; side++) sum[side] += g->P[p][side][i] * pow(g->E, g->k[i]);
        g->worst = fmax(g->worst, fmax(sum[0] / sum[1], sum[1] / sum[0]));
    }
}

static void extend(graph *g, int i)
{
    int low = i ? -9 : 0, high = i ? 9 : 0;
    if (i == g->count) {
        judge(g);
        return;
    }
    for (int j = 0; j < i; j++) {
        if (!one_step(g, i, j)) continue;
        low = g->k[j] - 1 > low ? g->k[j] - 1 : low;
        high = g->k[j] + 1 < high ? g->k[j] + 1 : high;
    }
    for (int k = low; k <= high; k++) {
        g->k[i] = k;
        extend(g, i + 1);
    }
}

/* ---- a record moves ---- */

/* All populations in which a record leaves stratum h for the other one, and in which it stays. */
static void add_moves(graph *g, const int64_t *populations, const int64_t *samples, int h)
{
    int N[2], n[2];
    for (int s = 0; s < 2; s++) {
        N[s] = (int)populations[s];
        n[s] = (int)samples[s];
    }
    for (int own = 0; own <= N[h] - 1; own++)
        for (int other = 0; other <= N[1 - h]; other++)
            for (int change = 0; change < 8; change++) { /* the value before, after, and whether the record moves */
                int before = change & 1, after = change >> 1 & 1, moves = change >> 2;
                for (int i = 0; i < g->count; i++) {
                    const int *o = g->at[i];
                    g->P[g->pairs][0][i] = hypergeometric(N[h], own + before, n[h], o[h]) *
                                           hypergeometric(N[1 - h], other, n[1 - h], o[1 - h]);
                    g->P[g->pairs][1][i] = moves ? hypergeometric(N[h] - 1, own, n[h], o[h]) *
                                                       hypergeometric(N[1 - h] + 1, other + after, n[1 - h], o[1 - h])
                                                 : hypergeometric(N[h], own + after, n[h], o[h]) *
                                                       hypergeometric(N[1 - h], other, n[1 - h], o[1 - h]);
                }
                g->pairs++;
                assert_true(g->pairs < MOST_PAIRS);
            }
}

static void no_move_loses_more(void **state)
{
    static const struct {
        int64_t N[2], n[2];
    } cases[] = {{{3, 2}, {1, 1}}, {{2, 2}, {1, 1}}, {{4, 3}, {2, 1}}, {{4, 2}, {1, 1}}, {{3, 3}, {2, 2}}};
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (int E = 2; E <= 3; E++) {
            graph *g = calloc(1, sizeof *g);
            tamis_number *eps = number(E == 2 ? "0.6931471805599453094172" : "1.0986122886681096914"), *zero = number("0");
            tamis_bound bound, delta;
            g->E = E;
            g->worst = 1;
            for (int x = 0; x <= cases[c].n[0]; x++)
                for (int y = 0; y <= cases[c].n[1]; y++) {
                    g->at[g->count][0] = x;
                    g->at[g->count++][1] = y;
                }
            for (int h = 0; h < 2; h++) add_moves(g, cases[c].N, cases[c].n, h);
            extend(g, 0);
            assert_int_equal(tamis_amplify_moves(&bound, &delta, cases[c].N, cases[c].n, 2, eps, zero, NULL), TAMIS_OK);
            if (fabs(g->worst - exp(bound.upper)) > 1e-10) fail_msg("%zu: %.12g, %.12g", c, g->worst, exp(bound.upper));
            assert_true(delta.upper == 0 && bound.upper - bound.lower <= 1e-9 * bound.upper);
            tamis_number_free(eps);
            tamis_number_free(zero);
            free(g);
        }
}

static void moves_between_many_strata(void **state)
{
    static const int64_t N[] = {100, 50, 1000, 40, 9}, n[] = {10, 20, 10, 4, 1}, whole[] = {10, 50, 10, 4, 1};
    tamis_number *eps = number("1"), *delta = number("1e-6"), *bad = number("-1");
    tamis_bound e, d;
    tamis_error err;
    (void)state;
    double most = 0, slip = 0;
    for (int h = 0; h < 5; h++)
        for (int k = 0; k < 5; k++) {
            double f = (double)n[h] / (double)N[h], g = (double)n[k] / (double)(N[k] + 1);
            if (h == k) continue;
            most = fmax(most, log(1 + f * (M_E - 1)) - log(1 - g * (1 - 1 / M_E)));
            most = fmax(most, log(1 + g * (M_E - 1)) - log(1 - f * (1 - 1 / M_E)));
            /* the delta of arriving, e^(B-1) g, counts e^A times, A and B being the epsilons of leaving and arriving */
            slip = fmax(slip, f + (1 + f * (M_E - 1)) / (1 - g * (1 - 1 / M_E)) / M_E * g);
            slip = fmax(slip, g + (1 + g * (M_E - 1)) / (1 - f * (1 - 1 / M_E)) / M_E * f);
        }
    assert_int_equal(tamis_amplify_moves(&e, &d, N, n, 5, eps, delta, NULL), TAMIS_OK);
    assert_true(fabs(e.upper - most) < 1e-12 && fabs(d.upper - 1e-6 * slip) < 1e-15);
    assert_int_equal(tamis_amplify_moves(&e, &d, N, n, 1, eps, delta, NULL), TAMIS_OK); /* nowhere to go */
    assert_true(fabs(e.upper - log(1 + 0.1 * (M_E - 1))) < 1e-12 && fabs(d.upper - 1e-7) < 1e-18);
    assert_int_equal(tamis_amplify_moves(&e, &d, N, whole, 5, eps, delta, &err), TAMIS_REFUSED);
    assert_non_null(strstr(err.message, "stratum 1 is a take-all stratum"));
    assert_true(e.lower == 0 && isinf(e.upper) && d.upper == 1);
    assert_int_equal(tamis_amplify_moves(&e, &d, N, n, 0, eps, delta, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_amplify_moves(&e, &d, n, N, 5, eps, delta, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_amplify_moves(&e, &d, NULL, n, 5, eps, delta, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_amplify_moves(&e, &d, N, NULL, 5, eps, delta, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_amplify_moves(NULL, &d, N, n, 5, eps, delta, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_amplify_moves(&e, NULL, N, n, 5, eps, delta, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_amplify_moves(&e, &d, N, n, 5, bad, delta, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_amplify_moves(&e, &d, N, n, 5, eps, bad, NULL), TAMIS_INVALID);
    tamis_number_free(eps);
    tamis_number_free(delta);
    tamis_number_free(bad);
}

/* ---- a proportional allocation ---- */

/* The law of size and ones for a stratum of N with t ones, of which r N are drawn, rounded at random or to the nearest. */
static void allocate(const graph *g, double *P, int N, int t, double r, bool random)
{
    int below = (int)floor(r * N + 1e-12);
    double part = r * N - below;
    if (!random) part = part >= 0.5;
    for (int i = 0; i < g->count; i++) {
        int size = g->at[i][0];
        double p = size == below ? 1 - part : size == below + 1 ? part : 0;
        P[i] = p > 0 && size <= N ? p * hypergeometric(N, t, size, g->at[i][1]) : 0;
    }
}

static double worst_allocation(int N, double r, bool random, double E)
{
    graph *g = calloc(1, sizeof *g);
    g->E = E;
    g->worst = 1;
    g->sizes = true;
    for (int size = 0; size <= (int)ceil(r * (N + 1)); size++)
        for (int ones = 0; ones <= size; ones++) {
            assert_true(g->count < MOST_STATES);
            g->at[g->count][0] = size;
            g->at[g->count++][1] = ones;
        }
    for (int t = 0; t <= N; t++)
        for (int value = 0; value < 2; value++) {
            allocate(g, g->P[g->pairs][0], N, t, r, random);
            allocate(g, g->P[g->pairs++][1], N + 1, t + value, r, random);
        }
    extend(g, 0);
    double worst = g->worst;
    free(g);
    return worst;
}

static void rounding_at_random_is_safe(void **state)
{
    static const struct {
        const char *rate;
        double r;
        int N;
    } cases[] = {{"1/2", 0.5, 1}, {"1/2", 0.5, 2}, {"1/3", 1. / 3, 3}, {"1/4", 0.25, 4}, {"1/5", 0.2, 6}, {"2/5", 0.4, 3}};
    tamis_number *eps = number("0.6931471805599453094172");
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis_number *rate = number(cases[i].rate);
        tamis_bound bound;
        assert_int_equal(tamis_amplify_proportional(&bound, rate, cases[i].N, TAMIS_ROUND_AT_RANDOM, eps, NULL), TAMIS_OK);
        double worst = log(worst_allocation(cases[i].N, cases[i].r, true, 2));
        if (worst > bound.upper + 1e-12) fail_msg("%zu: %g is lost, %g claimed", i, worst, bound.upper);
        assert_true(worst > bound.upper / 5);
        tamis_number_free(rate);
    }
    tamis_number_free(eps);
}

/* A rate of 0.34 and two records, one more: the loss is 1.14 where the mechanism on the sample has 1. */
static void a_fixed_rule_is_refused(void **state)
{
    tamis_number *rate = number("0.34"), *eps = number("1"), *bad = number("1.01");
    tamis_bound bound;
    tamis_error err;
    (void)state;
    assert_true(fabs(log(worst_allocation(2, 0.34, false, M_E)) - log(1 + (exp(2) - 1) / 3)) < 1e-12);
    assert_int_equal(tamis_amplify_proportional(&bound, rate, 2, TAMIS_ROUND_TO_NEAREST, eps, &err), TAMIS_REFUSED);
    assert_non_null(strstr(err.message, "round at random"));
    assert_true(bound.lower == 0 && isinf(bound.upper));
    assert_int_equal(tamis_amplify_proportional(&bound, bad, 2, TAMIS_ROUND_AT_RANDOM, eps, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_amplify_proportional(&bound, NULL, 2, TAMIS_ROUND_AT_RANDOM, eps, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_amplify_proportional(&bound, rate, 0, TAMIS_ROUND_AT_RANDOM, eps, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_amplify_proportional(&bound, rate, 2, (tamis_rounding)7, eps, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_amplify_proportional(&bound, rate, 2, TAMIS_ROUND_AT_RANDOM, NULL, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_amplify_proportional(NULL, rate, 2, TAMIS_ROUND_AT_RANDOM, eps, NULL), TAMIS_INVALID);
    tamis_number_free(rate);
    tamis_number_free(eps);
    tamis_number_free(bad);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_move_loses_more),
        cmocka_unit_test(moves_between_many_strata),
        cmocka_unit_test(rounding_at_random_is_safe),
        cmocka_unit_test(a_fixed_rule_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
