#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

#include "tests/base/memory_that_fails.h"
#include "tests/rng/law.h"
#include "tests/rng/with_rng.h"

/* Draws with every sequence of `length` bytes below 8: the low bits that uniform integers below 8 look at. Sequences
 * with a rejected byte run out of bits and do not count; the others must give every outcome equally often. */
typedef uint64_t outcome_of(const uint64_t *values, size_t n);
typedef tamis_status drawing(uint64_t *values, size_t n, size_t population);

static void every_outcome_is_equally_likely(size_t n, size_t population, size_t length, drawing *draw, outcome_of *code,
                                            size_t outcomes)
{
    enum { codes = 1 << 15 };
    static uint32_t counts[codes];
    uint64_t values[8];
    size_t different = 0;
    memset(counts, 0, sizeof counts);
    for (uint32_t sequence = 0; sequence >> 3 * length == 0; sequence++) {
        uint8_t bytes[8];
        for (size_t i = 0; i < length; i++) bytes[i] = sequence >> 3 * i & 7;
        bits_from_bytes(bytes, length);
        if (draw(values, n, population) != TAMIS_OK) {
            for (size_t i = 0; i < n; i++) assert_int_equal(values[i], 0);
            continue;
        }
        assert_int_equal(bits_taken(), length);
        counts[code(values, n)]++;
    }
    uint32_t each = 0;
    for (size_t c = 0; c < codes; c++) {
        if (counts[c] == 0) continue;
        if (each == 0) each = counts[c];
        assert_int_equal(counts[c], each);
        different++;
    }
    assert_int_equal(different, outcomes);
    bits_from_seed(1);
}

static tamis_status draw_order(uint64_t *values, size_t n, size_t population)
{
    (void)population;
    return tamis_permutation(values, n, rng, NULL);
}

static uint64_t code_of_order(const uint64_t *values, size_t n)
{
    uint64_t code = 0, seen = 0;
    for (size_t i = 0; i < n; i++) {
        assert_true(values[i] < n && !(seen >> values[i] & 1));
        seen |= UINT64_C(1) << values[i];
        code = 8 * code + values[i];
    }
    return code;
}

static void orders_are_equally_likely(void **state)
{
    (void)state;
    every_outcome_is_equally_likely(2, 0, 1, draw_order, code_of_order, 2);
    every_outcome_is_equally_likely(3, 0, 2, draw_order, code_of_order, 6);
    every_outcome_is_equally_likely(4, 0, 3, draw_order, code_of_order, 24);
    every_outcome_is_equally_likely(5, 0, 4, draw_order, code_of_order, 120);
}

static tamis_status draw_sample(uint64_t *values, size_t n, size_t population)
{
    return tamis_sample(values, population, n, rng, NULL);
}

static uint64_t code_of_sample(const uint64_t *values, size_t n)
{
    uint64_t code = 0;
    for (size_t i = 0; i < n; i++) {
        assert_true(i == 0 || values[i - 1] < values[i]);
        code |= UINT64_C(1) << values[i];
    }
    return code;
}

static void samples_are_equally_likely(void **state)
{
    /* n of N; a turn that has one unit to choose from takes no byte */
    static const size_t cases[][4] = {{1, 5, 1, 5},  {2, 5, 2, 10}, {3, 5, 3, 10}, {4, 5, 4, 5},  {5, 5, 4, 1},
                                      {2, 8, 2, 28}, {3, 8, 3, 56}, {4, 8, 4, 70}, {5, 8, 5, 56}, {3, 6, 3, 20}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        every_outcome_is_equally_likely(cases[i][0], cases[i][1], cases[i][2], draw_sample, code_of_sample, cases[i][3]);
}

/* Populations of any size up to 2^40, sorted, without repetition, within the population. */
static void large_samples_are_samples(void **state)
{
    static const uint64_t cases[][2] = {
        {0, 0},      {0, 7},         {1, 1},           {1, UINT64_C(1) << 40},      {1000, 1000},
        {999, 1000}, {65536, 65536}, {100000, 100001}, {100000, UINT64_C(1) << 40}, {70000, 70256}};
    uint64_t *units = malloc(100000 * sizeof *units);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t n = cases[i][0], population = cases[i][1];
        assert_int_equal(tamis_sample(units, population, n, rng, NULL), TAMIS_OK);
        for (uint64_t j = 0; j < n; j++) assert_true(units[j] < population && (j == 0 || units[j - 1] < units[j]));
    }
    /* the last one covers its range: eighths of 2^40 hold an eighth each */
    assert_int_equal(tamis_sample(units, UINT64_C(1) << 40, 100000, rng, NULL), TAMIS_OK);
    uint64_t eighths[8] = {0};
    for (int j = 0; j < 100000; j++) eighths[units[j] >> 37]++;
    for (int j = 0; j < 8; j++) assert_true(may_be_chance(eighths[j], 100000, (tamis_bound){0.125, 0.125}));
    free(units);
}

static void shares_are_right(void **state)
{
    enum { runs = 100000, N = 30, n = 10, seed = 61 };
    static uint64_t pairs[N][N], at[6][6];
    uint64_t units[n], order[6];
    (void)state;
    print_message("# seed %d\n", seed);
    bits_from_seed(seed);
    for (int run = 0; run < runs; run++) {
        assert_int_equal(tamis_sample(units, N, n, rng, NULL), TAMIS_OK);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) pairs[units[i]][units[j]]++;
        assert_int_equal(tamis_permutation(order, 6, rng, NULL), TAMIS_OK);
        for (int i = 0; i < 6; i++) at[i][order[i]]++;
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double p = i == j ? (double)n / N : (double)n * (n - 1) / (N * (N - 1));
            assert_true(may_be_chance(pairs[i][j], runs, (tamis_bound){p, p}));
        }
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) assert_true(may_be_chance(at[i][j], runs, (tamis_bound){1.0 / 6, 1.0 / 6}));
}

static void refuses_bad_input(void **state)
{
    uint64_t values[4];
    tamis_error err;
    (void)state;
    assert_int_equal(tamis_permutation(NULL, 1, rng, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "order:"));
    assert_int_equal(tamis_permutation(values, 4, NULL, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "rng:"));
    assert_int_equal(tamis_permutation(values, SIZE_MAX, rng, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "count:"));
    assert_int_equal(tamis_permutation(NULL, 0, rng, &err), TAMIS_OK);
    assert_int_equal(tamis_sample(NULL, 2, 1, rng, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "units:"));
    assert_int_equal(tamis_sample(values, 2, 3, rng, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "sample:"));
    assert_int_equal(tamis_sample(values, TAMIS_MAX_UNITS + 1, 1, rng, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "population:"));
    assert_int_equal(tamis_sample(values, UINT64_MAX, 1, rng, &err), TAMIS_INVALID);
    assert_int_equal(tamis_sample(values, 2, 1, NULL, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "rng:"));
    assert_int_equal(tamis_sample(NULL, 2, 0, rng, &err), TAMIS_OK);
    EVERY_ALLOCATION_FAILS(tamis_sample(values, 5, 3, rng, NULL), {
        for (int i = 0; i < 3; i++) assert_int_equal(values[i], 0);
    });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_are_equally_likely), cmocka_unit_test(samples_are_equally_likely),
        cmocka_unit_test(large_samples_are_samples), cmocka_unit_test(shares_are_right),
        cmocka_unit_test(refuses_bad_input),
    };
    return cmocka_run_group_tests(tests, make_rng, free_rng);
}
