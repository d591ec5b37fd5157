/* Several quantiles together: privacy by enumeration of all neighbours, the sampler by the law of its definition. */
#include "tests/test.h"

#include <string.h>

#include "mech/quantile/several.h"
#include "tests/base/memory_that_fails.h"
#include "tests/mech/quantile/several_laws.h"
#include "tests/rng/law.h"
#include "tests/rng/with_rng.h"

#define SLACK 1e-12

static const char *const thirds[] = {"1/4", "1/2", "0.9"};

static tamis_quantile *quantile_of(tamis_quantile_method method, const char *const *at, size_t count, const char *epsilon,
                                   int add_remove, int64_t rows, int64_t max_weight, const char *to, const char *log_unit)
{
    tamis_number *x[] = {number("0"), number(to), number("1"), number(epsilon), log_unit ? number(log_unit) : NULL}, *list[100];
    for (size_t i = 0; i < count; i++) list[i] = number(at[i]);
    const tamis_quantile_setup setup = {.from = x[0],
                                        .to = x[1],
                                        .step = x[2],
                                        .at = (const tamis_number *const *)list,
                                        .at_count = count,
                                        .epsilon = x[3],
                                        .method = method,
                                        .add_remove = add_remove,
                                        .rows_per_unit = rows,
                                        .max_weight = max_weight,
                                        .log_unit = x[4]};
    tamis_quantile *quantile;
    tamis_error err = {0};
    if (tamis_quantile_new(&quantile, &setup, &err) != TAMIS_OK) fail_msg("%s", err.message);
    for (size_t i = 0; i < 5; i++) tamis_number_free(x[i]);
    for (size_t i = 0; i < count; i++) tamis_number_free(list[i]);
    return quantile;
}

/* ---- privacy ---- */

/* A data set of `count` records as a number: key and weight of each. */
static void law_of(double *law, law_function *function, const tamis_quantile *q, int code, size_t count, bool weighted)
{
    int64_t keys[3], weights[3];
    for (size_t i = 0; i < count; i++, code /= KEYS * 3) {
        keys[i] = code % KEYS;
        weights[i] = code / KEYS % 3;
    }
    assert_true(tmi_sort_points(keys, weights, count));
    const tmi_keys list = {.keys = keys, .weights = weighted ? weights : NULL, .count = count, .places = 1, .end = KEYS};
    function(law, q, &list);
}

static double loss_of(const double *p, const double *q)
{
    double most = 0;
    for (size_t t = 0; t < TUPLES; t++)
        if (p[t] > 0 || q[t] > 0) most = fmax(most, fabs(log(p[t] / q[t])));
    return most;
}

static double worst(law_function *function, const tamis_quantile *q, size_t count)
{
    static double laws[KEYS * 3][TUPLES], without[TUPLES];
    const bool weighted = q->weighted;
    double most = 0;
    int others = 1;
    for (size_t i = 1; i < count; i++) others *= KEYS * 3;
    for (int o = 0; o < others; o++) {
        if (!weighted && o / KEYS % 3 != 0) continue;
        law_of(without, function, q, o, count - 1, weighted);
        for (int own = 0; own < KEYS * (weighted ? 3 : 1); own++) {
            law_of(laws[own], function, q, o + own * others, count, weighted);
            most = fmax(most, loss_of(laws[own], without)); /* replaced by a missing value, or removed */
            for (int other = 0; !q->add_remove && other < own; other++) most = fmax(most, loss_of(laws[own], laws[other]));
        }
    }
    return most;
}

static void no_pair_of_neighbours_loses_more(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        const tamis_quantile_method method = i % 2 ? TAMIS_QUANTILE_SPLIT : TAMIS_QUANTILE_JOINT;
        tamis_quantile *q = quantile_of(method, thirds, 3, "2", i / 2 % 2, 1, i / 4 % 2 ? 2 : 0, "9", NULL);
        const double loss = worst(i % 2 ? split_law : joint_law, q, 2);
        assert_true(loss <= 2 + SLACK);
        assert_true(loss > 0.4);
        tamis_quantile_free(q);
    }
}

/* One key beside a wide gap that takes all of the probability: the sum of a tuple there rises by two records, that of the gap
 * falls by two. */
static void the_claim_of_the_joint_law_is_tight(void **state)
{
    static const char *const half[] = {"1/2"};
    tamis_quantile *q = quantile_of(TAMIS_QUANTILE_JOINT, half, 1, "1", 0, 1, 0, "9", NULL);
    const double rate = tmi_number_nearest(q->joint_rate);
    (void)state;
    /* As in inverse.c: ten records, one of three at the lower end moves to the upper end, past the gap. Distances are twice
     * |a|. */
    const double before = exp(-rate * 2 * 2 * 2), after = exp(-rate * 2 * 2 * 3), gap_before = exp(-rate * 2 * 2 * 2),
                 gap_after = exp(-rate * 2 * 2 * 1);
    assert_true(fabs(log(before / gap_before / (after / gap_after)) - 1) < 1e-12);
    tamis_quantile_free(q);
}

/* One level spends its part: m = 1 by splitting is one quantile with epsilon, of which a replaced record may use half twice. */
static void levels_share_epsilon(void **state)
{
    static const char *const seven[] = {"1/8", "1/4", "3/8", "1/2", "5/8", "3/4", "7/8"};
    (void)state;
    for (int add_remove = 0; add_remove < 2; add_remove++) {
        tamis_quantile *q = quantile_of(TAMIS_QUANTILE_SPLIT, seven, 7, "3", add_remove, 1, 0, "9", NULL);
        for (size_t i = 0; i < 7; i++) { /* always the middle of a part: change 1 of 2 */
            assert_int_equal(q->targets[i].rank.p, 1);
            assert_int_equal(q->targets[i].rank.d, 2);
            assert_true(close_to(tmi_number_nearest(q->targets[i].rate), (add_remove ? 1 : 0.5) * 1 / 2));
        }
        tamis_quantile_free(q);
    }
}

/* Found one by one, each has its part. */
static void quantiles_share_epsilon(void **state)
{
    tamis_quantile *q = quantile_of(TAMIS_QUANTILE_INVERSE, thirds, 3, "3", 0, 1, 0, "9", NULL);
    (void)state;
    for (size_t i = 0; i < 3; i++) /* 1 / (2 d) */
        assert_true(close_to(tmi_number_nearest(q->targets[i].rate), 0.5 / (double)q->targets[i].rank.d));
    tamis_quantile_free(q);
}

/* 1/4, 1/2 and 0.9: the smallest part is the last one, 1/10. */
static void the_last_part_counts(void **state)
{
    tamis_quantile *q = quantile_of(TAMIS_QUANTILE_JOINT, thirds, 3, "1", 1, 1, 0, "9", NULL);
    (void)state;
    assert_int_equal(q->common, 20);
    assert_true(close_to(tmi_number_nearest(q->joint_rate), 1 / (2 * 2 * 18.0)));
    tamis_quantile_free(q);
}

/* ---- the samplers ---- */

enum { DRAWS = 3000 };

static void compare_draws(tamis_quantile *q, const tmi_keys *k, law_function *function, int draws)
{
    static double law[TUPLES];
    static uint64_t seen[TUPLES];
    const tmi_joint joint = {q->ranks, q->common, q->count, q->joint_rate, {.log_unit = q->key_unit}};
    function(law, q, k);
    memset(seen, 0, sizeof seen);
    for (int i = 0; i < draws; i++) {
        int64_t cuts[MOST_CUTS];
        size_t code = 0;
        assert_int_equal(tamis_quantile_prepare(q, rng, NULL), TAMIS_OK);
        if (q->method == TAMIS_QUANTILE_JOINT) assert_int_equal(tmi_joint_find(cuts, k, &joint, q->bits, rng, NULL), TAMIS_OK);
        else assert_int_equal(tmi_split_find(cuts, q, k, rng, NULL), TAMIS_OK);
        for (size_t j = q->count; j-- > 0;) {
            assert_true(cuts[j] >= 0 && cuts[j] < KEYS);
            code = code * KEYS + (size_t)cuts[j];
        }
        seen[code]++;
    }
    for (size_t t = 0; t < TUPLES; t++)
        if (!may_be_chance(seen[t], (uint64_t)draws, (tamis_bound){law[t], law[t]}))
            fail_msg("tuple %zu: %llu of %d, probability %g", t, (unsigned long long)seen[t], draws, law[t]);
}

static void draws_have_the_law(void **state)
{
    int64_t keys[] = {0, 1, 1, 1, 3, 4, 4}, weights[] = {1, 2, 0, 1, 2, 2, 1};
    (void)state;
    bits_from_seed(15);
    for (int i = 0; i < 12; i++) {
        const tamis_quantile_method method = i % 2 ? TAMIS_QUANTILE_SPLIT : TAMIS_QUANTILE_JOINT;
        const bool weighted = i / 2 % 2;
        const tmi_keys list = {
            .keys = keys, .weights = weighted ? weights : NULL, .count = i < 10 ? 7 : 0, .places = 1, .end = KEYS};
        tamis_quantile *q = quantile_of(method, thirds, 3, i / 4 % 2 ? "3" : "12", i / 8 % 2, 1, weighted ? 2 : 0, "9",
                                        i >= 8 ? "0.0004" : NULL); /* times 8192 places */
        compare_draws(q, &list, method == TAMIS_QUANTILE_JOINT ? joint_law : split_law, test_size(DRAWS / 2, 10 * DRAWS));
        tamis_quantile_free(q);
    }
}

/* ---- with records ---- */

/* 30 % of the records at the median: all methods return it nearly always. */
static void heaped_values_are_found(void **state)
{
    static const char *const at[] = {"0.25", "0.5", "0.75"};
    enum { RECORDS = 1000, RUNS = 40 };
    int64_t records[RECORDS], found[3];
    uint64_t stream = 3;
    (void)state;
    bits_from_seed(4);
    for (size_t i = 0; i < RECORDS; i++)
        records[i] = i < 300 ? 5000 : (int64_t)(next_number(&stream) % 5000) + (i < 650 ? 0 : 5001);
    for (int method = TAMIS_QUANTILE_INVERSE; method <= TAMIS_QUANTILE_SPLIT; method++) {
        tamis_quantile *q = quantile_of((tamis_quantile_method)method, at, 3, "1", 0, 1, 0, "10001", NULL);
        int exact = 0, near = 0;
        for (int run = 0; run < RUNS; run++) {
            assert_int_equal(tamis_quantile_prepare(q, rng, NULL), TAMIS_OK);
            assert_int_equal(tamis_quantile_points(found, q, records, NULL, RECORDS, rng, NULL), TAMIS_OK);
            assert_true(found[0] <= found[1] && found[1] <= found[2]);
            exact += found[1] == 5000;
            near += llabs(found[0] - 3571) < 1500 && llabs(found[2] - 6430) < 1500;
        }
        assert_true(exact >= 0.95 * RUNS);
        assert_true(near >= 0.8 * RUNS);
        tamis_quantile_free(q);
    }
}

/* The places are drawn before any record is looked at, two bytes each, whatever the records are. */
static void places_do_not_depend_on_records(void **state)
{
    const tmi_grid grid = {.from = 0, .to = 9, .step = 1, .low = 0, .high = 9};
    int64_t points[5] = {3, INT64_MIN, 9, 200, -4};
    const uint8_t bytes[10] = {1, 0, 2, 0, 3, 0, 4, 0, 5, 0};
    const tmi_records records = {.points = points, .count = 5, .most_weight = 1, .grid = &grid};
    tmi_keys keys;
    (void)state;
    bits_from_bytes(bytes, sizeof bytes);
    assert_int_equal(tmi_keys_make(&keys, &records, rng, NULL), TAMIS_OK);
    assert_int_equal(bits_taken(), 10);
    assert_int_equal(keys.count, 4);
    assert_int_equal(keys.places, 8192);
    assert_int_equal(keys.end, 81920);
    assert_int_equal(keys.keys[0], 5);
    assert_int_equal(keys.keys[1], 3 * 8192 + 1);
    assert_int_equal(keys.keys[2], 9 * 8192 + 3);
    assert_int_equal(keys.keys[3], 9 * 8192 + 4);
    tmi_keys_clear(&keys);
}

static void the_rule_looks_at_the_number_alone(void **state)
{
    char texts[11][8];
    const char *at[11];
    (void)state;
    for (size_t i = 0; i < 11; i++) {
        snprintf(texts[i], sizeof texts[i], "%zu/12", i + 1);
        at[i] = texts[i];
    }
    static const struct {
        size_t count;
        const char *name;
    } cases[] = {{1, "inverse"}, {2, "joint"}, {10, "joint"}, {11, "split"}};
    for (size_t i = 0; i < 4; i++) {
        tamis_quantile *q = quantile_of(TAMIS_QUANTILE_AUTO, at, cases[i].count, "1", 0, 0, 0, "100", NULL);
        assert_string_equal(tamis_quantile_method_name(tamis_quantile_method_of(q)), cases[i].name);
        tamis_quantile_free(q);
    }
}

/* One quantile: the threshold only for tails of a public, small number of rows without weights. */
static void the_rule_for_tails(void **state)
{
    static const struct {
        const char *at, *epsilon, *name;
        int complete, add_remove;
        int64_t rows, max_weight;
        bool log;
    } cases[] = {
        {"0.99", "1", "threshold", 1, 0, 1000, 0, true}, {"0.99", "1", "inverse", 0, 0, 1000, 0, true},
        {"0.99", "1", "inverse", 1, 1, 1000, 0, true},   {"0.99", "1", "inverse", 1, 0, 0, 0, true},
        {"0.99", "1", "inverse", 1, 0, 1000, 4, true},   {"0.99", "1", "inverse", 1, 0, 50, 0, true},
        {"0.99", "1", "inverse", 1, 0, 100000, 0, true}, {"0.5", "1", "inverse", 1, 0, 20, 0, true},
        {"0.9", "0.1", "threshold", 1, 0, 100, 0, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis_number *x[] = {number("0"), number("1000"), number("1"), number(cases[i].at), number(cases[i].epsilon)};
        const tamis_number *const list[] = {x[3]};
        const tamis_quantile_setup setup = {.from = x[0],
                                            .to = x[1],
                                            .step = x[2],
                                            .at = list,
                                            .at_count = 1,
                                            .epsilon = x[4],
                                            .complete = cases[i].complete,
                                            .add_remove = cases[i].add_remove,
                                            .rows = cases[i].rows,
                                            .max_weight = cases[i].max_weight};
        tamis_quantile *q;
        assert_int_equal(tamis_quantile_new(&q, &setup, NULL), TAMIS_OK);
        assert_string_equal(tamis_quantile_method_name(tamis_quantile_method_of(q)), cases[i].name);
        assert_true((q->log_unit != NULL) == cases[i].log);
        tamis_quantile_free(q);
        for (size_t k = 0; k < 5; k++) tamis_number_free(x[k]);
    }
}

static tamis_status all_at_once(tamis_quantile_method method)
{
    static const int64_t records[] = {1, 2, 2, 5, 7, 8, 8, 9}, weights[] = {1, 2, 1, 2, 1, 2, 1, 2};
    tamis_number *x[] = {NULL, NULL, NULL, NULL};
    int64_t found[2];
    tamis_quantile *q = NULL;
    bits_from_seed(3);
    tamis_status status = tamis_number_read(&x[0], "0", NULL);
    if (status == TAMIS_OK) status = tamis_number_read(&x[1], "9", NULL);
    if (status == TAMIS_OK) status = tamis_number_read(&x[2], "1", NULL);
    if (status == TAMIS_OK) status = tamis_number_read(&x[3], "1/2", NULL);
    tamis_number *last = NULL;
    if (status == TAMIS_OK) status = tamis_number_read(&last, "3/4", NULL);
    const tamis_number *const at[] = {x[3], last};
    const tamis_quantile_setup setup = {.from = x[0],
                                        .to = x[1],
                                        .step = x[2],
                                        .at = at,
                                        .at_count = 2,
                                        .epsilon = x[2],
                                        .method = method,
                                        .max_weight = 2,
                                        .log_unit = x[2]};
    if (status == TAMIS_OK) status = tamis_quantile_new(&q, &setup, NULL);
    if (status == TAMIS_OK) status = tamis_quantile_prepare(q, rng, NULL);
    if (status == TAMIS_OK) status = tamis_quantile_points(found, q, records, weights, 8, rng, NULL);
    tamis_quantile_free(q);
    for (size_t i = 0; i < 4; i++) tamis_number_free(x[i]);
    tamis_number_free(last);
    return status;
}

static void allocations_may_fail(void **state)
{
    (void)state;
    EVERY_ALLOCATION_FAILS(all_at_once(TAMIS_QUANTILE_JOINT), {});
    EVERY_ALLOCATION_FAILS(all_at_once(TAMIS_QUANTILE_SPLIT), {});
    EVERY_ALLOCATION_FAILS(all_at_once(TAMIS_QUANTILE_INVERSE), {});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_pair_of_neighbours_loses_more),
        cmocka_unit_test(the_claim_of_the_joint_law_is_tight),
        cmocka_unit_test(levels_share_epsilon),
        cmocka_unit_test(quantiles_share_epsilon),
        cmocka_unit_test(the_last_part_counts),
        cmocka_unit_test(draws_have_the_law),
        cmocka_unit_test(heaped_values_are_found),
        cmocka_unit_test(places_do_not_depend_on_records),
        cmocka_unit_test(the_rule_looks_at_the_number_alone),
        cmocka_unit_test(the_rule_for_tails),
        cmocka_unit_test(allocations_may_fail),
    };
    return cmocka_run_group_tests(tests, make_rng, free_rng);
}
