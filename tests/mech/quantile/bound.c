/* A bound from candidates: privacy by enumeration of neighbours, with exact probabilities; the choice by its law. */
#include "tests/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mech/quantile/bound.h"
#include "tests/base/memory_that_fails.h"

enum { BITS = 128, CANDIDATES = 4, WORTH = 2 };

/* ---- privacy ---- */

/* Rows by the last candidate that they are above, 1 ... CANDIDATES - 1, as counts: above candidate j are those beyond it. A row
 * without a value, or below all candidates, is in none. */
typedef struct rows {
    int beyond[CANDIDATES - 1]; /* beyond[k]: above candidates 0 ... k, and no other */
} rows;

static void add_above(int64_t above[CANDIDATES], const rows *r)
{
    for (int j = 0; j < CANDIDATES; j++)
        for (int k = j; k < CANDIDATES - 1; k++) above[j] += r->beyond[k];
}

/* Logarithms of the probabilities, by the formula in bound.h alone. */
static void logs_of(tmi_ball law[CANDIDATES], const int64_t above[CANDIDATES], const tamis_number *rate)
{
    tmi_ball sum, weight, negative;
    tmi_ball_inits(&sum, &weight, &negative, NULL);
    tmi_ball_set_number(&negative, rate, BITS);
    tmi_ball_neg(&negative, &negative);
    for (int j = 0; j < CANDIDATES; j++) {
        tmi_ball_mul_int(&law[j], &negative, above[j] + WORTH * j, BITS);
        tmi_ball_exp(&weight, &law[j], BITS);
        tmi_ball_add(&sum, &sum, &weight, BITS);
    }
    tmi_ball_log(&sum, &sum, BITS);
    for (int j = 0; j < CANDIDATES; j++) tmi_ball_sub(&law[j], &law[j], &sum, BITS);
    tmi_ball_clears(&sum, &weight, &negative, NULL);
}

/* All units of at most K rows. */
static size_t units_of(rows *units, int K)
{
    size_t count = 0;
    for (int a = 0; a <= K; a++)
        for (int b = 0; a + b <= K; b++)
            for (int c = 0; a + b + c <= K; c++) units[count++] = (rows){{a, b, c}};
    return count;
}

/* The largest loss, and the widest range of losses over the candidates, of a unit of up to K rows that is replaced, added or
 * removed, whatever the others are: `others` of them in each place, none, one or many. */
static void worst(double *loss, double *range, int K, const tamis_number *rate)
{
    static const int others[] = {0, 1, 60};
    rows units[64];
    const size_t count = units_of(units, K);
    tmi_ball logs[64][CANDIDATES], difference;
    *loss = *range = 0;
    tmi_ball_init(&difference);
    for (size_t u = 0; u < count; u++)
        for (int j = 0; j < CANDIDATES; j++) tmi_ball_init(&logs[u][j]);
    for (int o = 0; o < 27; o++) {
        const rows rest = {{others[o % 3], others[o / 3 % 3], others[o / 9]}};
        for (size_t u = 0; u < count; u++) {
            int64_t above[CANDIDATES] = {0};
            add_above(above, &rest);
            add_above(above, &units[u]);
            logs_of(logs[u], above, rate);
        }
        for (size_t u = 0; u < count; u++)
            for (size_t v = 0; v < count; v++) {
                double least = INFINITY, most = -INFINITY;
                for (int j = 0; j < CANDIDATES; j++) {
                    tmi_ball_sub(&difference, &logs[u][j], &logs[v][j], BITS);
                    const tamis_bound b = tmi_ball_bound(&difference);
                    least = fmin(least, b.lower);
                    most = fmax(most, b.upper);
                }
                *loss = fmax(*loss, fmax(most, -least));
                *range = fmax(*range, most - least);
            }
    }
    for (size_t u = 0; u < count; u++)
        for (int j = 0; j < CANDIDATES; j++) tmi_ball_clear(&logs[u][j]);
    tmi_ball_clear(&difference);
}

static void no_pair_of_neighbours_loses_more(void **state)
{
    static const char *const eps[] = {"1/8", "1", "3"};
    (void)state;
    for (int K = 1; K <= 4; K++)
        for (size_t i = 0; i < 3; i++) {
            tamis_number *epsilon = number(eps[i]), *units = NULL, *rate = NULL;
            double loss, range;
            assert_int_equal(tmi_number_ratio(&units, K, 1, NULL), TAMIS_OK);
            assert_int_equal(tmi_number_div(&rate, epsilon, units, NULL), TAMIS_OK);
            worst(&loss, &range, K, rate);
            const double claim = tmi_number_nearest(epsilon);
            assert_true(loss <= claim * (1 + 1e-12) && range <= claim * (1 + 1e-12));
            assert_true(range >= claim * (1 - 1e-9)); /* attained */
            assert_true(loss >= 0.9 * claim);
            /* a unit with one row more than the rate allows for does lose more */
            worst(&loss, &range, K + 1, rate);
            assert_true(range > claim * 1.2);
            tamis_number_free(epsilon);
            tamis_number_free(units);
            tamis_number_free(rate);
        }
}

/* ---- the choice ---- */

enum { TRIES = 4096 };

/* Number i + 1/2 of TRIES equal parts of [0, 1) leads to the candidate whose part of the law it is in. */
static void the_choice_follows_the_law(void **state)
{
    static const int64_t files[][CANDIDATES] = {{9, 4, 1, 0}, {0, 0, 0, 0}, {300, 200, 100, 0}, {3, 3, 3, 0}, {1000000, 0, 0, 0}};
    static const char *const rates[] = {"1/8", "1", "1/1000"};
    (void)state;
    for (size_t f = 0; f < sizeof files / sizeof *files; f++)
        for (size_t r = 0; r < 3; r++) {
            tamis_number *rate = number(rates[r]);
            double ends[CANDIDATES], sum = 0, smallest = INFINITY;
            tmi_int128 above[CANDIDATES];
            for (int j = 0; j < CANDIDATES; j++) smallest = fmin(smallest, (double)(files[f][j] + WORTH * j));
            for (int j = 0; j < CANDIDATES; j++) {
                sum += exp(-tmi_number_nearest(rate) * ((double)(files[f][j] + WORTH * j) - smallest));
                ends[j] = sum;
                above[j] = files[f][j];
            }
            for (int i = 0; i < TRIES; i++) {
                tmi_uniform_bits u = {.words = {(2 * (uint64_t)i + 1) << 51, 0}, .count = 2};
                const double x = (i + 0.5) / TRIES * sum;
                size_t found, wanted = 0;
                while (wanted < CANDIDATES - 1 && ends[wanted] <= x) wanted++;
                if (wanted > 0 && x - ends[wanted - 1] < 1e-9) continue; /* doubles do not say which */
                assert_int_equal(tmi_bound_choose(&found, above, CANDIDATES, WORTH, rate, &u, NULL, NULL), TAMIS_OK);
                assert_int_equal(found, wanted);
            }
            tamis_number_free(rate);
        }
}

/* More rows than a file has, and the smallest rate: nothing overflows. */
static void the_largest_numbers_are_no_trouble(void **state)
{
    const tmi_int128 above[] = {(tmi_int128)1 << 40, (tmi_int128)1 << 40, 0};
    tamis_number *rate = number("1/1099511627776");
    tmi_uniform_bits u = {.words = {UINT64_C(1) << 63, 0}, .count = 2};
    size_t found;
    (void)state;
    assert_int_equal(tmi_bound_choose(&found, above, 3, INT64_C(1) << 40, rate, &u, NULL, NULL), TAMIS_OK);
    assert_in_range(found, 0, 2);
    tamis_number_free(rate);
}

static void memory_may_fail(void **state)
{
    const tmi_int128 above[] = {5, 1, 0};
    tamis_number *rate = number("1/2");
    tmi_uniform_bits u = {.words = {UINT64_C(1) << 62, 0}, .count = 2};
    size_t found;
    (void)state;
    EVERY_ALLOCATION_FAILS(tmi_bound_choose(&found, above, 3, 1, rate, &u, NULL, NULL), assert_int_equal(found, 2));
    tamis_number_free(rate);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_pair_of_neighbours_loses_more),
        cmocka_unit_test(the_choice_follows_the_law),
        cmocka_unit_test(the_largest_numbers_are_no_trouble),
        cmocka_unit_test(memory_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
