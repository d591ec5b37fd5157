/* The records around a rank: what one pass finds is what sorting all of them finds. */
#include "tests/mech/quantile/kit.h"

#include <string.h>

#include "mech/quantile/split.h"
#include "tests/base/memory_that_fails.h"
#include "tests/rng/with_rng.h"

enum { MOST = 60000 };

static double values[MOST];
static int64_t points[MOST], weights[MOST];

static tmi_grid grid_of(const char *from, const char *to, const char *step)
{
    tmi_grid grid;
    tamis_number *x[] = {number(from), number(to), number(step)};
    assert_int_equal(tmi_grid_set(&grid, x[0], x[1], x[2], NULL), TAMIS_OK);
    for (size_t i = 0; i < 3; i++) tamis_number_free(x[i]);
    return grid;
}

/* Window against all records: the same points and weights in its range, the rest below and above as much as it says. */
static void compare(const tmi_records *records, const tmi_rank *rank)
{
    tmi_rank_window w, all;
    assert_int_equal(tmi_rank_window_make(&w, records, rank, NULL), TAMIS_OK);
    assert_int_equal(tmi_rank_window_make(&all, records, NULL, NULL), TAMIS_OK);
    int64_t below = 0, up_to = 0;
    size_t k = 0;
    assert_int_equal(w.total, all.total);
    for (size_t i = 0; i < all.count; i++) {
        if (i > 0) assert_true(all.points[i] > all.points[i - 1]);
        below += all.points[i] < w.first ? all.weights[i] : 0;
        up_to += all.points[i] <= w.last ? all.weights[i] : 0;
        if (all.points[i] < w.first || all.points[i] > w.last) continue;
        assert_true(k < w.count && w.points[k] == all.points[i] && w.weights[k] == all.weights[i]);
        k++;
    }
    assert_int_equal(k, w.count);
    assert_int_equal(w.below, below);
    const tmi_int128 target = (tmi_int128)rank->p * w.total;
    assert_true(w.first == records->grid->low || rank->d * (tmi_int128)below <= target - rank->reach);
    assert_true(w.last == records->grid->high || rank->d * (tmi_int128)up_to >= target + rank->reach);
    tmi_rank_window_clear(&w);
    tmi_rank_window_clear(&all);
}

static void fill(uint64_t seed, int kind)
{
    for (size_t i = 0; i < MOST; i++) {
        const double u = (double)next_number(&seed) / 0x1p31, v = (double)next_number(&seed) / 0x1p31;
        double x = 1000 * u * v;
        if (kind == 1 && u < 0.3) x = 250;                         /* heaped */
        if (kind == 2) x = i % 7 == 3 ? 1e9 * (v - 0.5) : 500 + u; /* most within a step or two */
        if (kind == 3) x = 20 * floor(u * u * 50);                 /* few values */
        if (v < 0.01) x = v < 0.004 ? (double)NAN : v < 0.007 ? (double)INFINITY : (double)-INFINITY;
        values[i] = x;
        points[i] = isfinite(x) ? (int64_t)x : INT64_MIN;
        weights[i] = (int64_t)(next_number(&seed) % 12) - 1;
    }
}

static void one_pass_finds_what_sorting_finds(void **state)
{
    static const int64_t ranks[][2] = {{1, 2}, {9, 10}, {1, 1000}, {999, 1000}, {1, 3}};
    static const size_t counts[] = {0, 1, 7, 4097, 20000, MOST};
    static const int reaches[] = {0, 10, 3000};
    const tmi_grid fine = grid_of("-100", "1000", "0.01"), coarse = grid_of("0", "1000", "10");
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        fill((uint64_t)kind + 1, kind);
        for (size_t i = 0; i < 6 * 5 * 3; i++) {
            const int64_t p = ranks[i % 5][0], d = ranks[i % 5][1];
            const tmi_rank rank = {p, d, (tmi_int128)d * reaches[i / 5 % 3]};
            const size_t count = counts[i / 15];
            compare(&(tmi_records){.values = values, .count = count, .most_weight = 1, .grid = i % 2 ? &fine : &coarse}, &rank);
            compare(&(tmi_records){.points = points, .count = count, .most_weight = 1, .grid = &coarse}, &rank);
            compare(&(tmi_records){.points = points, .weights = weights, .count = count, .most_weight = 9, .grid = &fine}, &rank);
            if (i % 3 == 0)
                compare(&(tmi_records){.values = values, .weights = weights, .count = count, .most_weight = 9, .grid = &fine},
                        &rank);
        }
    }
}

/* What the first look at the data sees is all beside the point: the guess is wrong, the window is not. */
static void a_wrong_guess_does_no_harm(void **state)
{
    const tmi_grid grid = grid_of("0", "100000", "1");
    const tmi_rank rank = {1, 2, 10};
    (void)state;
    const size_t wanted = MOST / 8 < 8192 ? MOST / 8 : 8192;
    for (size_t i = 0; i < MOST; i++) values[i] = 50000 + (double)(i % 1000);
    for (size_t s = 0; s < wanted; s++) values[(size_t)MOST * (2 * s + 1) / (2 * wanted)] = (double)(s % 100);
    compare(&(tmi_records){.values = values, .count = MOST, .most_weight = 1, .grid = &grid}, &rank);
}

/* A window is a small part of the records if the reach is short. */
static void few_records_are_sorted(void **state)
{
    const tmi_grid grid = grid_of("0", "1000", "0.000001");
    const tmi_rank rank = {1, 2, 20};
    tmi_rank_window w;
    (void)state;
    fill(1, 0);
    const tmi_records records = {.values = values, .count = MOST, .most_weight = 1, .grid = &grid};
    assert_int_equal(tmi_rank_window_make(&w, &records, &rank, NULL), TAMIS_OK);
    assert_true(w.count > 0 && w.count < 5000);
    tmi_rank_window_clear(&w);
}

/* Vectors and the plain loop split alike: blocks of every length, and values at the ends of the range. */
static void all_lengths_are_split_alike(void **state)
{
    const tmi_grid grid = grid_of("0", "1", "1/64");
    int64_t inside[TMI_SPLIT_BLOCK];
    (void)state;
    fill(2, 0);
    for (size_t i = 0; i < 100; i++) values[i] = i % 10 == 9 ? (double)NAN : (double)(i % 65) / 64 + (i % 3 == 0 ? 1 / 128.0 : 0);
    const tmi_records records = {.values = values, .count = 100, .most_weight = 1, .grid = &grid};
    for (size_t n = 0; n <= 70; n++)
        for (int64_t first = 0; first <= 64; first += 16) {
            const tmi_splitter s = tmi_splitter_of(&records, first, first + 20 < 64 ? first + 20 : 64);
            tmi_split_sums sums = {0}, expected = {0};
            const size_t copied = tmi_split_block(inside, NULL, &sums, &s, 3, n);
            size_t k = 0;
            for (size_t i = 3; i < 3 + n; i++) {
                int64_t point;
                if (!tmi_grid_point(&point, &grid, values[i])) continue;
                expected.total++;
                expected.below += point < s.first;
                if (point < s.first || point > s.last) continue;
                assert_true(k < copied && inside[k] == point);
                k++;
            }
            assert_true(k == copied && (int64_t)k == sums.inside);
            assert_true(sums.total == expected.total && sums.below == expected.below);
        }
}

/* Every grid point is in one block, in order; inside the window with the distance that all records give it, outside with a
 * bound. */
static void windows_and_all_records_have_the_same_blocks(void **state)
{
    const tmi_grid grid = grid_of("0", "1000", "0.5");
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        fill((uint64_t)kind + 7, kind);
        const tmi_records records = {.values = values, .count = 20000, .most_weight = 1, .grid = &grid};
        const tmi_rank rank = {1, 4, 40};
        tmi_rank_window w, all;
        tmi_score_blocks some, exact;
        assert_int_equal(tmi_rank_window_make(&w, &records, &rank, NULL), TAMIS_OK);
        assert_int_equal(tmi_rank_window_make(&all, &records, NULL, NULL), TAMIS_OK);
        assert_int_equal(tmi_score_blocks_make(&some, &w, grid.low, grid.high, 1, 4, NULL), TAMIS_OK);
        assert_int_equal(tmi_score_blocks_make(&exact, &all, grid.low, grid.high, 1, 4, NULL), TAMIS_OK);
        int64_t next = grid.low;
        size_t k = 0;
        for (size_t j = 0; j < some.count; j++) {
            const tmi_score_block *b = &some.list[j];
            assert_int_equal(b->first, next);
            next += b->count;
            for (int64_t point = b->first; point < next; point++) {
                while (exact.list[k].first + exact.list[k].count <= point) k++;
                assert_true(b->beyond ? exact.list[k].loss >= b->loss : exact.list[k].loss == b->loss);
                assert_false(exact.list[k].beyond);
            }
        }
        assert_int_equal(next, grid.high + 1);
        assert_int_equal(exact.list[exact.count - 1].first + exact.list[exact.count - 1].count, grid.high + 1);
        tmi_score_blocks_clear(&some);
        tmi_score_blocks_clear(&exact);
        tmi_rank_window_clear(&w);
        tmi_rank_window_clear(&all);
    }
}

/* U near 0 and near 1: the answer is outside of the window, and the records there are sorted after all. */
static void answers_outside_of_the_window_are_found(void **state)
{
    const kit_setup setup = {.from = "0", .to = "99999", .step = "1", .at = "1/2", .epsilon = "1"};
    tamis_quantile *quantile = kit_quantile(&setup);
    const uint64_t near_zero[2] = {0, 1 << 18}, near_one[2] = {UINT64_MAX, UINT64_MAX - (1 << 18)};
    int64_t point;
    (void)state;
    for (size_t i = 0; i < MOST; i++) values[i] = i < MOST / 2 - 140 ? 7 : i < MOST / 2 + 140 ? 10 + (double)i : 99000;
    bits_from_bytes(near_zero, sizeof near_zero);
    assert_int_equal(tamis_quantile_prepare(quantile, rng, NULL), TAMIS_OK);
    assert_int_equal(tamis_quantile_values(&point, quantile, values, NULL, MOST, rng, NULL), TAMIS_OK);
    assert_int_equal(point, 7); /* what is below 7 has a share of exp(-MOST / 4) */
    bits_from_bytes(near_one, sizeof near_one);
    assert_int_equal(tamis_quantile_prepare(quantile, rng, NULL), TAMIS_OK);
    assert_int_equal(tamis_quantile_values(&point, quantile, values, NULL, MOST, rng, NULL), TAMIS_OK);
    assert_int_equal(point, 99000);
    tamis_quantile_free(quantile);
}

static void too_much_weight_is_refused(void **state)
{
    const tmi_grid grid = grid_of("0", "1", "1");
    const tmi_records records = {
        .points = points, .weights = weights, .count = (size_t)1 << 23, .most_weight = TMI_WEIGHT_MOST, .grid = &grid};
    tmi_rank_window w;
    (void)state;
    assert_int_equal(tmi_rank_window_make(&w, &records, NULL, NULL), TAMIS_INVALID);
    assert_null(w.points);
}

static tamis_status make(const tmi_records *records, const tmi_rank *rank)
{
    tmi_rank_window w;
    tamis_status status = tmi_rank_window_make(&w, records, rank, NULL);
    tmi_rank_window_clear(&w);
    return status;
}

static void allocations_may_fail(void **state)
{
    const tmi_grid grid = grid_of("0", "1000", "0.01");
    const tmi_rank rank = {1, 2, 20};
    (void)state;
    fill(1, 0);
    const tmi_records plain = {.values = values, .count = MOST, .most_weight = 1, .grid = &grid};
    const tmi_records weighted = {.points = points, .weights = weights, .count = MOST, .most_weight = 9, .grid = &grid};
    EVERY_ALLOCATION_FAILS(make(&plain, &rank), {});
    EVERY_ALLOCATION_FAILS(make(&weighted, &rank), {});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_pass_finds_what_sorting_finds),
        cmocka_unit_test(a_wrong_guess_does_no_harm),
        cmocka_unit_test(few_records_are_sorted),
        cmocka_unit_test(all_lengths_are_split_alike),
        cmocka_unit_test(windows_and_all_records_have_the_same_blocks),
        cmocka_unit_test(answers_outside_of_the_window_are_found),
        cmocka_unit_test(too_much_weight_is_refused),
        cmocka_unit_test(allocations_may_fail),
    };
    return cmocka_run_group_tests(tests, make_rng, free_rng);
}
