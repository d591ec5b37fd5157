/* Totals of groups of clusters: their pairs, what they are expected to be, and what a record can do to them. */
#include "variance/group_totals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"
#include "variance/method.h"

#define MOST 400

static void hash_all(tmi_hashed_cluster *clusters, size_t count, uint64_t *stream)
{
    for (size_t k = 0; k < count; k++) clusters[k] = (tmi_hashed_cluster){next_word(stream), k};
}

/* ---- pairs ---- */

static void every_cluster_has_one_other(void **state)
{
    (void)state;
    uint64_t stream = 5;
    for (size_t count = 1; count < MOST; count += count < 20 ? 1 : 37) {
        tmi_hashed_cluster clusters[MOST];
        tmi_slot_sign signs[MOST];
        int64_t pairs[TMI_CHANGE_GROUPS] = {0}, all = 0, sums[TMI_CHANGE_GROUPS] = {0};
        size_t alone = 0, plus = 0, first = 0;
        hash_all(clusters, count, &stream);
        if (count % 3 == 0) /* equal hashes are in pairs too */
            for (size_t k = 0; k < count; k++) clusters[k].hash %= 3;
        tmi_pair_clusters(signs, pairs, clusters, count);
        for (size_t k = 0; k < count; k++) {
            if (signs[k].group < 0) {
                alone++;
                continue;
            }
            assert_true(signs[k].group < TMI_CHANGE_GROUPS);
            assert_int_equal(labs(signs[k].factor), tmi_sign_factor((int64_t)count));
            sums[signs[k].group] += signs[k].factor;
            plus += signs[k].factor > 0;
            first += signs[k].factor > 0 && k % 2 == 0;
        }
        for (size_t g = 0; g < TMI_CHANGE_GROUPS; g++) {
            assert_int_equal(sums[g], 0);
            all += pairs[g];
        }
        assert_int_equal(alone, count % 2);
        assert_int_equal(all, count / 2);
        assert_int_equal(plus, count / 2);
        if (count > 100 && count % 3) assert_true(first > count / 8 && first < 3 * count / 8);
    }
}

/* The factor is the root of m/(m - 1), rounded up, where a cluster is left out. */
static void factors_make_up_for_who_is_left_out(void **state)
{
    (void)state;
    for (int64_t m = 1; m < 3000; m++) {
        const double exact = m % 2 == 1 && m > 1 ? 1024 * sqrt((double)m / (double)(m - 1)) : 1024;
        assert_true((double)tmi_sign_factor(m) >= exact * (1 - 1e-12) && (double)tmi_sign_factor(m) < exact + 1);
    }
}

/* A pair that is in two lists has the same group and signs; few of the others are lost where a cluster comes or goes. */
static void a_pair_of_two_lists_is_the_same_in_both(void **state)
{
    (void)state;
    uint64_t stream = 11;
    int64_t kept = 0, both = 0, odd = 0;
    for (int round = 0; round < 200; round++) {
        tmi_hashed_cluster all[MOST], some[MOST];
        tmi_slot_sign of_all[MOST], of_some[MOST];
        int64_t pairs[TMI_CHANGE_GROUPS] = {0};
        const size_t count = 100 + 2 * (size_t)(round % 20), gone = (size_t)next_number(&stream) % count;
        size_t left = 0;
        hash_all(all, count, &stream);
        for (size_t k = 0; k < count; k++)
            if (k != gone && k + 1 != gone + (gone ? 0 : 2)) some[left++] = all[k]; /* two of them are gone */
        for (size_t k = 0; k < count; k++) of_some[k] = (tmi_slot_sign){.group = -1};
        uint64_t hashes[MOST];
        for (size_t k = 0; k < count; k++) hashes[k] = all[k].hash;
        tmi_pair_clusters(of_all, pairs, all, count);
        tmi_pair_clusters(of_some, pairs, some, left);
        for (size_t i = 0; i < count; i++)
            for (size_t j = 0; j < i; j++) {
                if (of_all[i].group < 0 || of_all[i].group != of_all[j].group || of_all[i].factor + of_all[j].factor != 0)
                    continue;
                if ((hashes[i] + hashes[j]) % TMI_CHANGE_GROUPS != (uint64_t)of_all[i].group) continue; /* of other pairs */
                both++;
                if (of_some[i].group != of_all[i].group || of_some[j].group != of_all[j].group) continue;
                if ((of_some[i].factor > 0) == (of_all[i].factor > 0)) kept++;
                else odd++;
            }
    }
    assert_true(both > 200 * 45); /* groups follow from the hashes of both labels alone */
    assert_true(kept > both * 8 / 10);
    assert_true(odd < both / 20);
}

/* Over hashes, the sum of squares has the textbook's variance as its mean: 20,000 of them, whose mean is off by 0.03 of it with a
 * probability below 10^-9. */
static void their_squares_have_the_variance_as_mean(void **state)
{
    (void)state;
    static const size_t sizes[] = {2, 3, 5, 8, 41};
    uint64_t stream = 23;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const size_t m = sizes[s];
        double totals[MOST], mean = 0, variance = 0, found = 0;
        const int rounds = 20000;
        for (size_t k = 0; k < m; k++) mean += (totals[k] = 3 + (double)(next_number(&stream) % 1000) / 200) / (double)m;
        for (size_t k = 0; k < m; k++) variance += (totals[k] - mean) * (totals[k] - mean) * (double)m / (double)(m - 1);
        for (int round = 0; round < rounds; round++) {
            tmi_hashed_cluster clusters[MOST];
            tmi_slot_sign signs[MOST];
            int64_t pairs[TMI_CHANGE_GROUPS] = {0};
            double d[TMI_CHANGE_GROUPS] = {0};
            hash_all(clusters, m, &stream);
            tmi_pair_clusters(signs, pairs, clusters, m);
            for (size_t k = 0; k < m; k++)
                if (signs[k].group >= 0) d[signs[k].group] += signs[k].factor / 1024.0 * totals[k];
            for (size_t g = 0; g < TMI_CHANGE_GROUPS; g++) found += d[g] * d[g] / rounds;
        }
        if (!(fabs(found / variance - 1) < 0.06)) fail_msg("%zu clusters: %g of the variance", m, found / variance);
    }
}

/* ---- sensitivity ---- */

#define SLOTS 7
#define CELLS 3

/* Coefficients of each number are those of one cell, or of all of them where a row is in several numbers. */
typedef struct setting {
    size_t numbers, overlap;
    bool odd;
} setting;

static double worst_of(const setting *t, uint64_t *stream)
{
    double worst = 0;
    for (int round = 0; round < 3000; round++) {
        tmi_psu_stratum strata[2] = {{t->odd ? 3 : 4, t->odd ? 3 : 4, 0}, {t->odd ? 4 : 3, t->odd ? 4 : 3, 0}};
        const tmi_psu_layout layout = {strata, 2, SLOTS};
        const int64_t largest = INT64_C(1) << (next_number(stream) % 50 + 2);
        const tmi_error_moves moves = {.moved = 2 * largest, .overlap = (int64_t)t->overlap, .touched = 2 * (int64_t)t->overlap};
        int64_t table[2][SLOTS][CELLS];
        tmi_slot_sign signs[SLOTS];
        double sum = 0;
        size_t at = 0;
        for (size_t h = 0; h < 2; h++) {
            tmi_hashed_cluster clusters[SLOTS];
            int64_t pairs[TMI_CHANGE_GROUPS] = {0};
            const size_t count = (size_t)strata[h].slots;
            for (size_t k = 0; k < count; k++) clusters[k] = (tmi_hashed_cluster){next_word(stream), at + k};
            tmi_pair_clusters(signs, pairs, clusters, count);
            at += count;
        }
        for (size_t k = 0; k < SLOTS * CELLS; k++)
            table[0][k / CELLS][k % CELLS] = table[1][k / CELLS][k % CELLS] = (int64_t)next_number(stream) % (8 * largest);
        /* a record leaves one place and enters another */
        table[1][next_number(stream) % SLOTS][next_number(stream) % CELLS] -= largest;
        table[1][next_number(stream) % SLOTS][next_number(stream) % CELLS] += largest;
        for (size_t n = 0; n < t->numbers; n++) {
            double c[CELLS];
            int32_t coefficients[CELLS];
            int64_t values[2][TMI_CHANGE_GROUPS];
            tmi_error_grid g = {0};
            for (size_t k = 0; k < CELLS; k++)
                c[k] = t->overlap == t->numbers || k % t->numbers == n ? (next_number(stream) % 2 ? 0.37 : -0.37) : 0;
            const tmi_linearised e = {.values = {c}, .terms = 1, .cells = CELLS, .levels = 1};
            tmi_group_totals.combine(coefficients, &g.range, &e);
            tmi_group_totals.settle(&g, &moves, &layout);
            for (int side = 0; side < 2; side++) {
                tmi_int128 totals[SLOTS];
                for (size_t slot = 0; slot < SLOTS; slot++) {
                    totals[slot] = 0;
                    for (size_t k = 0; k < CELLS; k++) totals[slot] += coefficients[k] * (tmi_int128)table[side][slot][k];
                }
                tmi_group_totals.values(values[side], totals, signs, &g, &layout);
            }
            for (size_t k = 0; k < TMI_CHANGE_GROUPS; k++) sum += fabs((double)(values[1][k] - values[0][k]));
        }
        worst = fmax(worst, sum / TMI_ERROR_STEPS);
    }
    return worst;
}

static void no_neighbour_moves_them_more(void **state)
{
    (void)state;
    static const setting settings[] = {{1, 1, false}, {1, 1, true}, {3, 1, true}, {2, 2, false}, {3, 3, true}};
    uint64_t stream = 3;
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
        const double worst = worst_of(&settings[k], &stream);
        if (!(worst <= 1) || !(worst > 0.999)) fail_msg("setting %zu: %.9g of the steps", k, worst);
    }
}

/* However large tables are, what a record moves is the steps, and totals beyond the largest count as that. */
static void divisors_fit(void **state)
{
    (void)state;
    tmi_psu_stratum three = {3, 3, 0};
    const tmi_psu_layout layout = {&three, 1, 3};
    for (int64_t moved = 1; moved < INT64_C(1) << 60; moved = 3 * moved + 1)
        for (int all = 0; all < 2; all++) {
            tmi_error_grid g = {.range = 1 << 16};
            const tmi_error_moves moves = {.moved = moved, .overlap = 2, .touched = 10, .all = all};
            tmi_group_totals.settle(&g, &moves, &layout);
            assert_true(g.divisor > 0 && g.blocks == 1 && g.shift >= 0);
            const double steps = (double)(TMI_ERROR_STEPS - (all ? 10 * TMI_CHANGE_GROUPS : 10)),
                         claimed = ldexp((double)g.divisor, g.shift) * steps, true_moves = 2 * (double)moved * 0x1p16 * 1255;
            assert_true(claimed >= true_moves * (1 - 1e-12) && claimed <= true_moves * 1.00001 + steps);
        }
    const tmi_error_grid g = {.divisor = 4, .shift = 1, .blocks = 1};
    const tmi_slot_sign signs[3] = {{0, 1}, {0, -1}, {31, 2}};
    int64_t values[TMI_CHANGE_GROUPS];
    tmi_group_totals.values(values, (tmi_int128[]){6, 7, (tmi_int128)1 << 100}, signs, &g, &layout);
    assert_int_equal(values[0], -1); /* rounded down */
    assert_int_equal(values[1], 0);
    assert_true(values[31] == TMI_LARGEST_ERROR);
    tmi_group_totals.values(values, (tmi_int128[]){0, 0, -((tmi_int128)1 << 100)}, signs, &g, &layout);
    assert_true(values[31] == -TMI_LARGEST_ERROR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cluster_has_one_other),
        cmocka_unit_test(factors_make_up_for_who_is_left_out),
        cmocka_unit_test(a_pair_of_two_lists_is_the_same_in_both),
        cmocka_unit_test(their_squares_have_the_variance_as_mean),
        cmocka_unit_test(no_neighbour_moves_them_more),
        cmocka_unit_test(divisors_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
