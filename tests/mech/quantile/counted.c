/* Records that are counted: with the same random bits the answer is that of the records one by one. */
#include "tests/mech/quantile/kit.h"

#include "tests/rng/scripted_bits.h"

enum { ENTRIES = 40, MOST = ENTRIES * 30 };

static const char *const at_texts[] = {"1/10", "1/3", "1/2", "9/10"};

static tamis_quantile *quantile_of(tamis_quantile_method method, size_t at_count, int64_t max_weight)
{
    tamis_number *from = number("-50"), *to = number("1000"), *step = number("1"), *epsilon = number("1/2"), *at[4];
    tamis_quantile *quantile;
    tamis_error err = {0};
    for (size_t i = 0; i < 4; i++) at[i] = number(at_texts[i]);
    const tamis_quantile_setup setup = {.from = from,
                                        .to = to,
                                        .step = step,
                                        .at = (const tamis_number *const *)at,
                                        .at_count = at_count,
                                        .epsilon = epsilon,
                                        .method = method,
                                        .max_weight = max_weight};
    if (tamis_quantile_new(&quantile, &setup, &err) != TAMIS_OK) fail_msg("%s", err.message);
    for (size_t i = 0; i < 4; i++) tamis_number_free(at[i]);
    tamis_number_free(from);
    tamis_number_free(to);
    tamis_number_free(step);
    tamis_number_free(epsilon);
    return quantile;
}

typedef struct records {
    int64_t points[ENTRIES], weights[ENTRIES], counts[ENTRIES];
    int64_t each[MOST], each_weight[MOST];
    size_t count;
} records;

/* Points may repeat, as they do with different weights. */
static void fill(records *r, uint64_t seed)
{
    r->count = 0;
    for (size_t i = 0; i < ENTRIES; i++) {
        seed = seed * 6364136223846793005 + 1442695040888963407;
        r->points[i] = (int64_t)(i * i / 2) - 30;
        r->weights[i] = (int64_t)(seed >> 40) % 9;
        r->counts[i] = 1 + (int64_t)(seed >> 50) % 29;
        for (int64_t k = 0; k < r->counts[i]; k++) {
            r->each[r->count] = r->points[i];
            r->each_weight[r->count++] = r->weights[i];
        }
    }
}

static void same_answers(tamis_quantile_method method, size_t at_count, bool weighted)
{
    tamis_quantile *q = quantile_of(method, at_count, weighted ? 7 : 0); /* some weights are above it */
    records r;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        int64_t counted[4], one_by_one[4];
        tamis_rng *rng;
        fill(&r, seed);
        bits_from_seed(seed);
        assert_int_equal(tamis_rng_new(&rng, NULL), TAMIS_OK);
        assert_int_equal(tamis_quantile_prepare(q, rng, NULL), TAMIS_OK);
        assert_int_equal(tamis_quantile_points(one_by_one, q, r.each, weighted ? r.each_weight : NULL, r.count, rng, NULL),
                         TAMIS_OK);
        tamis_rng_free(rng);
        bits_from_seed(seed);
        assert_int_equal(tamis_rng_new(&rng, NULL), TAMIS_OK);
        assert_int_equal(tamis_quantile_prepare(q, rng, NULL), TAMIS_OK);
        const tmi_counted_records e = {r.points, weighted ? r.weights : NULL, r.counts, ENTRIES};
        assert_int_equal(tmi_quantile_counted(counted, q, &e, rng, NULL), TAMIS_OK);
        tamis_rng_free(rng);
        for (size_t i = 0; i < at_count; i++) assert_int_equal(counted[i], one_by_one[i]);
    }
    tamis_quantile_free(q);
}

static void counted_records_are_the_same(void **state)
{
    (void)state;
    for (tamis_quantile_method method = TAMIS_QUANTILE_INVERSE; method <= TAMIS_QUANTILE_THRESHOLD; method++)
        for (int weighted = 0; weighted < 2; weighted++) {
            same_answers(method, 1, weighted);
            same_answers(method, 4, weighted);
        }
}

/* More records of one point than weights can add up to are no failure while all of them together fit. */
static void large_counts(void **state)
{
    (void)state;
    tamis_quantile *q = quantile_of(TAMIS_QUANTILE_INVERSE, 1, 0);
    const int64_t points[] = {3, 7}, counts[] = {1, INT64_C(1) << 50};
    tamis_rng *rng;
    int64_t found;
    bits_from_seed(1);
    assert_int_equal(tamis_rng_new(&rng, NULL), TAMIS_OK);
    assert_int_equal(tamis_quantile_prepare(q, rng, NULL), TAMIS_OK);
    assert_int_equal(tmi_quantile_counted(&found, q, &(tmi_counted_records){points, NULL, counts, 2}, rng, NULL), TAMIS_OK);
    assert_int_equal(found, 7);
    tamis_rng_free(rng);
    tamis_quantile_free(q);
}

static void bits_serve_one_answer(void **state)
{
    (void)state;
    const int64_t points[] = {3}, counts[] = {2}, weights[] = {1};
    for (int weighted = 0; weighted < 2; weighted++) {
        tamis_quantile *q = quantile_of(TAMIS_QUANTILE_INVERSE, 1, weighted);
        const tmi_counted_records e = {points, weighted ? weights : NULL, counts, 1};
        tamis_rng *rng;
        int64_t found = 5;
        bits_from_seed(1);
        assert_int_equal(tamis_rng_new(&rng, NULL), TAMIS_OK);
        assert_int_equal(tamis_quantile_prepare(q, rng, NULL), TAMIS_OK);
        assert_int_equal(tmi_quantile_counted(&found, q, &e, rng, NULL), TAMIS_OK);
        assert_int_equal(tmi_quantile_counted(&found, q, &e, rng, NULL), TAMIS_INVALID);
        assert_int_equal(found, 0);
        tamis_rng_free(rng);
        tamis_quantile_free(q);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counted_records_are_the_same),
        cmocka_unit_test(large_counts),
        cmocka_unit_test(bits_serve_one_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
