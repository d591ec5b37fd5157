/* One quantile by inverse sensitivity: privacy by enumeration, the law by its definition, the sampler by its law. */
#include "tests/mech/quantile/kit.h"

#include <string.h>

#include "tests/base/memory_that_fails.h"
#include "tests/rng/with_rng.h"

#define SLACK 1e-12

/* ---- privacy, by all neighbours on a small grid ---- */

enum { POINTS = 4, KINDS = 1 + POINTS * 2 }; /* a record: missing, or a point with weight 1 or 2 */

static void record_of(int64_t *point, int64_t *weight, int kind)
{
    *point = kind == 0 ? INT64_MIN : (kind - 1) % POINTS;
    *weight = kind == 0 ? 2 : 1 + (kind - 1) / POINTS;
}

/* All data sets of `count` records as kinds in base KINDS. */
static void law_of(tamis_bound *law, const tamis_quantile *quantile, int code, size_t count, bool weighted)
{
    int64_t points[4], weights[4];
    for (size_t i = 0; i < count; i++, code /= KINDS) record_of(&points[i], &weights[i], code % KINDS);
    kit_law(law, quantile, points, weighted ? weights : NULL, count);
}

static int power(int base, size_t n) { return n == 0 ? 1 : base * power(base, n - 1); }

/* The largest loss over all pairs that differ in the last `moved` of `count` records: replaced, or left out. The law does not
 * see the order of the records, so the last ones stand for all. */
static double worst(const kit_setup *setup, size_t count, size_t moved)
{
    tamis_quantile *quantile = kit_quantile(setup);
    const size_t rest = count - moved;
    double most = 0;
    for (int others = 0; others < power(KINDS, rest); others++) {
        tamis_bound without[POINTS], laws[KINDS * KINDS][POINTS];
        const int kinds = power(KINDS, moved);
        law_of(without, quantile, others, rest, setup->max_weight > 0);
        for (int own = 0; own < kinds; own++)
            law_of(laws[own], quantile, others + own * power(KINDS, rest), count, setup->max_weight > 0);
        for (int own = 0; own < kinds; own++) {
            most = fmax(most, fmax(kit_loss(laws[own], without, POINTS), kit_loss(without, laws[own], POINTS)));
            for (int other = 0; !setup->add_remove && other < kinds; other++)
                most = fmax(most, kit_loss(laws[own], laws[other], POINTS));
        }
    }
    tamis_quantile_free(quantile);
    return most;
}

static void no_pair_of_neighbours_loses_more(void **state)
{
    static const char *const ats[] = {"1/2", "1/4", "9/10"}, *const eps[] = {"0.5", "3"};
    (void)state;
    for (int i = 0; i < 3 * 2 * 2 * 2 * 2; i++) {
        const kit_setup setup = {.from = "0",
                                 .to = "3",
                                 .step = "1",
                                 .at = ats[i % 3],
                                 .epsilon = eps[i / 3 % 2],
                                 .add_remove = i / 6 % 2,
                                 .max_weight = i / 12 % 2 ? 2 : 0,
                                 .log_unit = i / 24 % 2 ? "1/2" : NULL};
        const double claim = atof(setup.epsilon), loss = worst(&setup, 3, 1);
        assert_true(loss <= claim + SLACK);
        assert_true(loss >= 0.3 * claim); /* on a grid of four points; the next case comes close to the claim */
    }
}

/* A unit of two records: the claim covers both. */
static void a_unit_of_two_rows_is_covered(void **state)
{
    (void)state;
    for (int add_remove = 0; add_remove < 2; add_remove++)
        for (int weighted = 0; weighted < 2; weighted++) {
            const kit_setup setup = {.from = "0",
                                     .to = "3",
                                     .step = "1",
                                     .at = "1/4",
                                     .epsilon = "2",
                                     .rows = 2,
                                     .add_remove = add_remove,
                                     .max_weight = weighted ? 2 : 0};
            assert_true(worst(&setup, 3, 2) <= 2 + SLACK);
        }
}

/* Between a wide gap and a single point the claim is reached: all of the probability is in the gap, whose distance falls by one
 * record while that of the point rises by one. */
static void the_claim_is_tight(void **state)
{
    enum { GRID = 4000 };
    static tamis_bound before[GRID], after[GRID];
    (void)state;
    for (int weight = 0; weight <= 3; weight += 3) {
        const kit_setup setup = {.from = "0", .to = "3999", .step = "1", .at = "1/2", .epsilon = "1", .max_weight = weight};
        tamis_quantile *quantile = kit_quantile(&setup);
        int64_t points[] = {0, 0, 0, 1, 1, 1, 1, 3999, 3999, 3999}, weights[10];
        for (size_t i = 0; i < 10; i++) weights[i] = 3;
        kit_law(before, quantile, points, weight ? weights : NULL, 10);
        points[0] = 3999;
        kit_law(after, quantile, points, weight ? weights : NULL, 10);
        const double loss = kit_loss(before, after, GRID);
        assert_true(loss <= 1 + SLACK && loss > 0.99);
        tamis_quantile_free(quantile);
    }
}

/* Two rows that move together lose twice as much: a unit that has two must be declared with two. */
static void rows_of_a_unit_add_up(void **state)
{
    enum { GRID = 4000 };
    static tamis_bound before[GRID], after[GRID];
    (void)state;
    for (int rows = 1; rows <= 2; rows++) {
        const kit_setup setup = {.from = "0", .to = "3999", .step = "1", .at = "1/2", .epsilon = "1", .rows = rows};
        tamis_quantile *quantile = kit_quantile(&setup);
        int64_t points[] = {0, 0, 0, 1, 1, 1, 1, 3999, 3999, 3999};
        kit_law(before, quantile, points, NULL, 10);
        points[0] = points[1] = 3999;
        kit_law(after, quantile, points, NULL, 10);
        const double loss = kit_loss(before, after, GRID);
        assert_true(loss <= 2.0 / rows + SLACK && loss > 1.98 / rows);
        tamis_quantile_free(quantile);
    }
}

/* Adding a record at the end of a grid: the median's distance moves by half a record, so half the noise suffices. */
static void adding_or_removing_is_tight(void **state)
{
    enum { GRID = 4000 };
    static tamis_bound before[GRID], after[GRID];
    const kit_setup setup = {.from = "0", .to = "3999", .step = "1", .at = "1/2", .epsilon = "1", .add_remove = 1};
    tamis_quantile *quantile = kit_quantile(&setup);
    const int64_t points[] = {0, 0, 0, 1, 1, 1, 1, 3999, 3999, 3999};
    (void)state;
    kit_law(before, quantile, points, NULL, 9);
    kit_law(after, quantile, points, NULL, 10);
    const double loss = fmax(kit_loss(before, after, GRID), kit_loss(after, before, GRID));
    assert_true(loss <= 1 + SLACK && loss > 0.98);
    tamis_quantile_free(quantile);
}

/* ---- the law ---- */

/* exp(-rate loss(o)) m(o) in doubles, straight from the definition. */
static void define(double *law, const kit_setup *k, int64_t low, int64_t high, double p, double d, const int64_t *points,
                   const int64_t *weights, size_t count)
{
    const double most = k->max_weight ? (double)k->max_weight : 1, rows = k->rows ? (double)k->rows : 1;
    const double rate = atof(k->epsilon) / (2 * (k->add_remove ? fmax(p, d - p) : d) * most * rows);
    double sum = 0, total = 0;
    for (size_t i = 0; i < count; i++) total += points[i] == INT64_MIN ? 0 : weights ? (double)weights[i] : 1;
    for (int64_t o = low; o <= high; o++) {
        double below = 0, up_to = 0;
        for (size_t i = 0; i < count; i++) {
            const double w = points[i] == INT64_MIN ? 0 : weights ? (double)weights[i] : 1;
            const int64_t x = points[i] < low ? low : points[i] > high ? high : points[i];
            below += x < o ? w : 0;
            up_to += x <= o ? w : 0;
        }
        const double loss = fmax(0, fmax(d * below - p * total, p * total - d * up_to));
        const double unit = k->log_unit ? atof(k->log_unit) : 0, i = (double)(o - low);
        law[o - low] = exp(-rate * loss) * (k->log_unit ? log((unit + i + 1) / (unit + i)) : 1);
        sum += law[o - low];
    }
    for (int64_t o = low; o <= high; o++) law[o - low] /= sum;
}

static void the_law_is_that_of_the_definition(void **state)
{
    uint64_t stream = 3;
    (void)state;
    for (int run = 0; run < 60; run++) {
        const kit_setup setup = {.from = "-7",
                                 .to = "12",
                                 .step = "1",
                                 .at = run % 2 ? "0.3" : "3/4",
                                 .epsilon = run % 3 ? "0.7" : "5",
                                 .add_remove = run / 2 % 2,
                                 .rows = run % 5 == 0 ? 3 : 0,
                                 .max_weight = run / 4 % 2 ? 5 : 0,
                                 .log_unit = run % 7 == 0 ? "2.5" : NULL};
        tamis_quantile *quantile = kit_quantile(&setup);
        int64_t points[30], weights[30];
        const size_t count = next_number(&stream) % 30;
        tamis_bound law[20];
        double expected[20];
        for (size_t i = 0; i < count; i++) {
            points[i] = next_number(&stream) % 9 == 0 ? INT64_MIN : (int64_t)(next_number(&stream) % 26) - 10;
            weights[i] = (int64_t)(next_number(&stream) % 6);
        }
        kit_law(law, quantile, points, setup.max_weight ? weights : NULL, count);
        define(expected, &setup, -7, 12, run % 2 ? 3 : 3, run % 2 ? 10 : 4, points, setup.max_weight ? weights : NULL, count);
        for (size_t i = 0; i < 20; i++) {
            assert_true(law[i].lower <= law[i].upper && law[i].upper - law[i].lower <= 1e-15 * law[i].upper);
            assert_true(close_to(law[i].upper, expected[i]));
        }
        tamis_quantile_free(quantile);
    }
}

/* 30 % of the records at the median: it is returned nearly always, and the law says how often. */
static void heaped_values_are_found(void **state)
{
    const kit_setup setup = {.from = "0", .to = "2000", .step = "1", .at = "1/2", .epsilon = "1"};
    static tamis_bound law[2001];
    int64_t points[1000];
    uint64_t stream = 8;
    tamis_quantile *quantile = kit_quantile(&setup);
    (void)state;
    for (size_t i = 0; i < 1000; i++)
        points[i] = i < 300   ? 1000
                    : i < 650 ? (int64_t)(next_number(&stream) % 1000)
                              : 1001 + (int64_t)(next_number(&stream) % 1000);
    kit_law(law, quantile, points, NULL, 1000);
    assert_true(law[1000].lower > 0.95);
    tamis_quantile_free(quantile);
}

/* ---- the sampler ---- */

static tamis_status answer(int64_t *point, tamis_quantile *quantile, uint64_t first, uint64_t second, const int64_t *points,
                           const int64_t *weights, size_t count)
{
    const uint64_t words[] = {first, second, UINT64_C(0x5555555555555555)};
    bits_from_bytes(words, sizeof words);
    tamis_status status = tamis_quantile_prepare(quantile, rng, NULL);
    return status == TAMIS_OK ? tamis_quantile_points(point, quantile, points, weights, count, rng, NULL) : status;
}

/* U runs through equally spaced numbers: each point comes as often as its probability says, but for one. */
static void answers_have_the_law(void **state)
{
    enum { RUNS = 1000 };
    uint64_t stream = 5;
    (void)state;
    for (int run = 0; run < 8; run++) {
        const kit_setup setup = {.from = "0",
                                 .to = "59",
                                 .step = "1",
                                 .at = run % 2 ? "1/10" : "0.55",
                                 .epsilon = run % 4 < 2 ? "0.4" : "2",
                                 .max_weight = run % 3 ? 4 : 0,
                                 .log_unit = run >= 4 ? "1" : NULL};
        tamis_quantile *quantile = kit_quantile(&setup);
        int64_t points[25], weights[25], point, last = 0;
        tamis_bound law[60];
        int seen[60] = {0};
        const size_t count = run == 7 ? 0 : 25;
        for (size_t i = 0; i < count; i++) {
            points[i] = (int64_t)(next_number(&stream) % 60) / 7 * 7;
            weights[i] = (int64_t)(next_number(&stream) % 5);
        }
        kit_law(law, quantile, points, setup.max_weight ? weights : NULL, count);
        for (uint64_t u = 0; u < RUNS; u++) {
            const uint64_t first = UINT64_MAX / RUNS * u + 12345;
            assert_int_equal(answer(&point, quantile, first, 0, points, setup.max_weight ? weights : NULL, count), TAMIS_OK);
            assert_int_equal(bits_taken(), 16);
            assert_true(point >= last); /* the answer grows with U */
            last = point;
            seen[point]++;
        }
        for (size_t i = 0; i < 60; i++) assert_true(fabs(seen[i] - RUNS * law[i].upper) <= 1.001);
        tamis_quantile_free(quantile);
    }
}

/* 128 bits that end at a threshold: the next word decides, and only then is it drawn. */
static void more_bits_are_drawn_where_they_decide(void **state)
{
    const kit_setup setup = {.from = "0", .to = "1", .step = "1", .at = "1/2", .epsilon = "1"};
    tamis_quantile *quantile = kit_quantile(&setup);
    int64_t point;
    (void)state;
    /* no records: both points have probability 1/2 */
    assert_int_equal(answer(&point, quantile, UINT64_MAX >> 1, UINT64_MAX, NULL, NULL, 0), TAMIS_OK);
    assert_int_equal(bits_taken(), 24);
    assert_int_equal(point, 0);
    assert_int_equal(answer(&point, quantile, UINT64_MAX >> 1, UINT64_MAX - 1, NULL, NULL, 0), TAMIS_OK);
    assert_int_equal(bits_taken(), 16);
    assert_int_equal(point, 0);
    /* a record at each: the same, and each point is a block of its own */
    const int64_t both[] = {0, 1};
    assert_int_equal(answer(&point, quantile, UINT64_MAX >> 1, UINT64_MAX, both, NULL, 2), TAMIS_OK);
    assert_int_equal(bits_taken(), 24);
    assert_int_equal(point, 0);
    assert_int_equal(answer(&point, quantile, UINT64_C(1) << 63, 1, NULL, NULL, 0), TAMIS_OK);
    assert_int_equal(bits_taken(), 16);
    assert_int_equal(point, 1);
    tamis_quantile_free(quantile);
}

/* One draw serves one answer. */
static void bits_are_not_used_twice(void **state)
{
    const kit_setup setup = {.from = "0", .to = "9", .step = "1", .at = "1/2", .epsilon = "1"};
    tamis_quantile *quantile = kit_quantile(&setup);
    const int64_t points[] = {1, 2, 3};
    int64_t point;
    tamis_error err;
    (void)state;
    assert_int_equal(answer(&point, quantile, 5, 5, points, NULL, 3), TAMIS_OK);
    assert_int_equal(tamis_quantile_points(&point, quantile, points, NULL, 3, rng, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "prepare"));
    assert_int_equal(point, 0);
    bits_from_bytes("", 0);
    assert_int_equal(tamis_quantile_prepare(quantile, rng, NULL), TAMIS_SYSTEM);
    assert_int_equal(tamis_quantile_points(&point, quantile, points, NULL, 3, rng, NULL), TAMIS_INVALID);
    tamis_quantile_free(quantile);
}

/* ---- accuracy ---- */

/* The stated error holds for the law of every data set that is tried. */
static void the_stated_error_holds(void **state)
{
    uint64_t stream = 4;
    tamis_number *confidence = number("0.9");
    (void)state;
    for (int run = 0; run < 20; run++) {
        const kit_setup setup = {
            .from = "0", .to = "99", .step = "1", .at = "0.5", .epsilon = run % 2 ? "1" : "4", .log_unit = run % 3 ? NULL : "1"};
        tamis_quantile *quantile = kit_quantile(&setup);
        int64_t points[200];
        tamis_bound law[100];
        double error, far = 0, narrower;
        for (size_t i = 0; i < 200; i++) points[i] = (int64_t)(next_number(&stream) % (run < 10 ? 100 : 10));
        kit_law(law, quantile, points, NULL, 200);
        assert_int_equal(tamis_quantile_error(&error, quantile, 0, confidence, 1, NULL), TAMIS_OK);
        assert_int_equal(tamis_quantile_error(&narrower, quantile, 0, confidence, 10, NULL), TAMIS_OK);
        assert_true(narrower < error + 1);
        for (int64_t o = 0; o < 100; o++) {
            double below = 0, up_to = 0;
            for (size_t i = 0; i < 200; i++) {
                below += points[i] < o;
                up_to += points[i] <= o;
            }
            if (fmax(below - 100, 100 - up_to) >= error) far += law[o].upper;
        }
        assert_true(far <= 0.1);
        tamis_quantile_free(quantile);
    }
    tamis_number_free(confidence);
}

/* ---- wrong calls ---- */

static void wrong_setups_are_named(void **state)
{
    static const struct {
        kit_setup setup;
        const char *word;
    } cases[] = {
        {{"0", "0", "1", "1/2", "1", NULL, 0, 0, 0}, "from must be less than to"},
        {{"5", "0", "1", "1/2", "1", NULL, 0, 0, 0}, "from must be less than to"},
        {{"0", "9", "0", "1/2", "1", NULL, 0, 0, 0}, "step must be positive"},
        {{"1", "9", "10", "1/2", "1", NULL, 0, 0, 0}, "step is too large"},
        {{"0", "9", "1e-20", "1/2", "1", NULL, 0, 0, 0}, "step is too small"},
        {{"0", "9", "1", "0", "1", NULL, 0, 0, 0}, "at must be above 0"},
        {{"0", "9", "1", "1", "1", NULL, 0, 0, 0}, "at must be above 0"},
        {{"0", "9", "1", "0.12345678912345", "1", NULL, 0, 0, 0}, "denominator"},
        {{"0", "9", "1", "1/2", "0", NULL, 0, 0, 0}, "epsilon"},
        {{"0", "9", "1", "1/2", "1001", NULL, 0, 0, 0}, "epsilon"},
        {{"0", "9", "1", "1/2", "1", NULL, 0, -1, 0}, "rows_per_unit"},
        {{"0", "9", "1", "1/2", "1", NULL, 0, 0, -1}, "max_weight"},
        {{"0", "9", "1", "1/2", "1", NULL, 0, 0, INT64_C(1) << 41}, "max_weight"},
        {{"0", "9", "1", "1/2", "1", "0", 0, 0, 0}, "log_unit"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis_quantile *quantile = (tamis_quantile *)1;
        tamis_error err = {0};
        assert_int_equal(kit_try(&quantile, &cases[i].setup, &err), TAMIS_INVALID);
        assert_null(quantile);
        if (!strstr(err.message, cases[i].word)) fail_msg("%s: %s", cases[i].word, err.message);
    }
}

static void weights_need_a_largest_one(void **state)
{
    const kit_setup with = {"0", "9", "1", "1/2", "1", NULL, 0, 0, 3}, without = {"0", "9", "1", "1/2", "1", NULL, 0, 0, 0};
    const int64_t points[] = {1, 2}, weights[] = {1, 1};
    tamis_quantile *weighted = kit_quantile(&with), *plain = kit_quantile(&without);
    int64_t point;
    (void)state;
    assert_int_equal(answer(&point, weighted, 1, 1, points, NULL, 2), TAMIS_INVALID);
    assert_int_equal(answer(&point, plain, 1, 1, points, weights, 2), TAMIS_INVALID);
    tamis_quantile_free(weighted);
    tamis_quantile_free(plain);
}

static tamis_status from_start_to_answer(const tamis_quantile_setup *setup)
{
    static const int64_t points[] = {1, 2, 50, 60, 70, 99}, weights[] = {1, 2, 3, 1, 2, 3};
    static const uint64_t words[] = {1, 2, 3, 4};
    tamis_quantile *quantile;
    int64_t answers[2] = {7, 7};
    bits_from_bytes(words, sizeof words);
    tamis_status status = tamis_quantile_new(&quantile, setup, NULL);
    if (status == TAMIS_OK) status = tamis_quantile_prepare(quantile, rng, NULL);
    if (status == TAMIS_OK) status = tamis_quantile_points(answers, quantile, points, weights, 6, rng, NULL);
    if (status != TAMIS_OK) assert_true(answers[0] == answers[1] && (answers[0] == 0 || answers[0] == 7));
    tamis_quantile_free(quantile);
    return status;
}

static void allocations_may_fail(void **state)
{
    tamis_number *x[] = {number("0"), number("99"), number("1"), number("1/2"), number("2"), number("0.7")};
    const tamis_number *const at[] = {x[3], x[5]};
    const tamis_quantile_setup setup = {.from = x[0],
                                        .to = x[1],
                                        .step = x[2],
                                        .at = at,
                                        .at_count = 2,
                                        .method = TAMIS_QUANTILE_INVERSE,
                                        .epsilon = x[2],
                                        .log_unit = x[4],
                                        .rows_per_unit = 2,
                                        .max_weight = 3};
    (void)state;
    EVERY_ALLOCATION_FAILS(from_start_to_answer(&setup), {});
    for (size_t i = 0; i < sizeof x / sizeof *x; i++) tamis_number_free(x[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_pair_of_neighbours_loses_more),
        cmocka_unit_test(a_unit_of_two_rows_is_covered),
        cmocka_unit_test(the_claim_is_tight),
        cmocka_unit_test(rows_of_a_unit_add_up),
        cmocka_unit_test(adding_or_removing_is_tight),
        cmocka_unit_test(the_law_is_that_of_the_definition),
        cmocka_unit_test(heaped_values_are_found),
        cmocka_unit_test(answers_have_the_law),
        cmocka_unit_test(more_bits_are_drawn_where_they_decide),
        cmocka_unit_test(bits_are_not_used_twice),
        cmocka_unit_test(the_stated_error_holds),
        cmocka_unit_test(wrong_setups_are_named),
        cmocka_unit_test(weights_need_a_largest_one),
        cmocka_unit_test(allocations_may_fail),
    };
    return cmocka_run_group_tests(tests, make_rng, free_rng);
}
