/* The standard error in integers: against the textbook's formula, and its sensitivities against all neighbours. */
#include "variance/method.h"

#include <math.h>
#include <stdlib.h>

#include "tests/test.h"

#define MOST 64

/* ---- the textbook ---- */

static double textbook(const int64_t *u, const tmi_psu_layout *l)
{
    double sum = 0;
    for (size_t h = 0; h < l->count; u += l->strata[h++].slots) {
        const tmi_psu_stratum *s = &l->strata[h];
        const double m = (double)s->psus, lambda = s->population > 0 ? 1 - m / (double)s->population : 1;
        double total = 0, squares = 0, b2 = 0;
        for (int64_t k = 0; k < s->slots; k++) {
            const double b = (double)tmi_psus_in_slot(s, k);
            total += (double)u[k];
            b2 += b * b;
        }
        for (int64_t k = 0; k < s->slots; k++) {
            const double b = (double)tmi_psus_in_slot(s, k), d = (double)u[k] - b * total / m;
            squares += d * d;
        }
        sum += lambda * m * m / (m * m - b2) * squares;
    }
    return sqrt(sum);
}

static uint64_t seed = 1;

static int64_t below(int64_t n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((seed >> 33) % (uint64_t)n);
}

static tmi_psu_stratum two[] = {{2, 2, 0}, {2, 2, 0}, {3, 3, 0}};
static tmi_psu_stratum part[] = {{4, 4, 10}, {2, 2, 3}};
static tmi_psu_stratum folded[] = {{7, 4, 0}, {9, 3, 20}, {3, 2, 0}};
static tmi_psu_stratum many[] = {{32, 32, 0}, {9, 9, 0}, {3, 3, 0}};

static const tmi_psu_layout layouts[] = {{two, 3, 7}, {part, 2, 6}, {folded, 3, 9}, {many, 3, 44}};

static void it_is_the_textbooks(void **state)
{
    (void)state;
    for (size_t l = 0; l < 4; l++)
        for (int round = 0; round < 200; round++) {
            int64_t u[MOST];
            for (int64_t k = 0; k < layouts[l].slots; k++) u[k] = below(1 << 30) - (1 << 29);
            const double s = textbook(u, &layouts[l]),
                         own = (double)tmi_standard_error(u, &layouts[l], 1) / TMI_STANDARD_ERROR_STEP;
            assert_true(own >= s - (double)tmi_standard_error_rounding(&layouts[l], 1));
            assert_true(own <= s * 1.0002 + (double)tmi_standard_error_rounding(&layouts[l], 1));
        }
}

/* Where nearly all PSUs were drawn the factor is small, and its own rounding must not show. */
static void few_psus_left_out_are_exact(void **state)
{
    static const int64_t sizes[][2] = {{1000, 1001}, {63, 64}, {4000, 4001}};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        tmi_psu_stratum s = {sizes[i][0], sizes[i][0], sizes[i][1]};
        const tmi_psu_layout l = {&s, 1, s.slots};
        int64_t *u = malloc(sizeof *u * (size_t)s.slots);
        assert_non_null(u);
        for (int64_t k = 0; k < s.slots; k++) u[k] = below(1 << 30);
        const double wanted = textbook(u, &l), found = (double)tmi_standard_error(u, &l, 1) / TMI_STANDARD_ERROR_STEP;
        assert_true(found >= wanted - (double)tmi_standard_error_rounding(&l, 1));
        assert_true(found <= wanted * (1 + ldexp((double)s.population, -25)) + 1);
        assert_true(found < 1.0002 * wanted);
        free(u);
    }
}

/* Totals of 0 and 1 have a mean of 1/2, which is rounded: S is off by more than a step, and by no more than is said. */
static void a_mean_is_off_by_a_half(void **state)
{
    tmi_psu_stratum s = {400, 400, 0};
    const tmi_psu_layout l = {&s, 1, s.slots};
    int64_t u[400];
    (void)state;
    for (int k = 0; k < 400; k++) u[k] = k % 2;
    const double off = (double)tmi_standard_error(u, &l, 1) / TMI_STANDARD_ERROR_STEP - textbook(u, &l);
    assert_true(off > 4 && off <= (double)tmi_standard_error_rounding(&l, 1));
}

/* A stratum of nearly 2^40 PSUs of 2^40: nothing overflows. */
static void the_largest_designs_have_factors(void **state)
{
    tmi_psu_stratum s = {(INT64_C(1) << 40) - 1, 1 << 12, INT64_C(1) << 40};
    const tmi_psu_layout l = {&s, 1, s.slots};
    (void)state;
    assert_in_range(tmi_one_slot_gain(&l, 1), 1, 2); /* 2^-20, and a factor of at least 2^-24 */
    s.population = 2 * s.psus;
    assert_in_range(tmi_one_slot_gain(&l, 1), 724, 726); /* sqrt(1/2) */
}

static void equal_totals_do_not_vary(void **state)
{
    int64_t u[MOST];
    (void)state;
    for (int k = 0; k < MOST; k++) u[k] = 1234567;
    assert_int_equal(tmi_standard_error(u, &layouts[0], 1), 0);
    assert_int_equal(tmi_standard_error(u, &layouts[3], 4), 0);
    for (int k = 0; k < MOST; k++) u[k] = -1234567;
    assert_int_equal(tmi_standard_error(u, &layouts[0], 1), 0);
    tmi_psu_stratum all = {5, 5, 5}; /* a census of PSUs */
    for (int k = 0; k < 5; k++) u[k] = 1 << k;
    assert_int_equal(tmi_standard_error(u, &(tmi_psu_layout){&all, 1, 5}, 1), 0);
    assert_int_equal(tmi_one_slot_gain(&(tmi_psu_layout){&all, 1, 5}, 1), 0);
}

/* Of two PSUs S is the difference of their totals: nothing is rounded, and the root is exact. */
static void a_root_that_is_whole_is_exact(void **state)
{
    (void)state;
    tmi_psu_stratum s = {2, 2, 0};
    for (int64_t x = 1; x < TMI_LARGEST_TOTAL; x = 3 * x + 1) {
        const int64_t u[] = {x, -x};
        assert_int_equal(tmi_standard_error(u, &(tmi_psu_layout){&s, 1, 2}, 1), 2 * x * TMI_STANDARD_ERROR_STEP);
    }
}

/* ---- sensitivity ---- */

/* The largest change of S over neighbours, relative to what is claimed; never above 1. `unit` is what a record adds at most. */
static double worst(const tmi_psu_layout *l, int64_t blocks, bool replaced)
{
    const int64_t unit = 1 << 20;
    const double claimed = (double)(replaced && blocks == 1 ? tmi_two_slots_gain(l)
                                                            : (replaced ? 2 : 1) * tmi_one_slot_gain(l, blocks)) /
                               (1 << TMI_GAIN_BITS) * (double)unit +
                           2 * (double)tmi_standard_error_rounding(l, blocks);
    double most = 0;
    for (int round = 0; round < 4000; round++) {
        int64_t u[MOST] = {0};
        const int64_t size = round % 3 == 0 ? 1 : unit << below(8); /* all else 0, or small or large beside a record */
        for (int64_t k = 0; size > 1 && k < l->slots; k++) u[k] = below(size) - size / 2;
        const double before = (double)tmi_standard_error(u, l, blocks);
        const int64_t a = below(l->slots), b = below(l->slots);
        u[a] += below(2) ? unit : -unit;
        if (replaced && a != b) u[b] += below(2) ? unit : -unit;
        const double moved = fabs((double)tmi_standard_error(u, l, blocks) - before) / TMI_STANDARD_ERROR_STEP;
        most = fmax(most, moved / claimed);
    }
    return most;
}

static void no_neighbour_moves_it_more(void **state)
{
    (void)state;
    for (size_t l = 0; l < 4; l++)
        for (int replaced = 0; replaced < 2; replaced++) {
            const double found = worst(&layouts[l], 1, replaced);
            assert_true(found <= 1);
            assert_true(found > 0.995); /* and some move it as much */
        }
    for (int64_t blocks = 2; blocks <= 16; blocks *= 2)
        for (int replaced = 0; replaced < 2; replaced++) {
            const double found = worst(&layouts[3], blocks, replaced);
            assert_true(found <= 1);
            assert_true(found > (replaced ? 0.9 : 0.995));
        }
}

static void gains_are_those_of_the_proofs(void **state)
{
    (void)state;
    assert_in_range(tmi_one_slot_gain(&layouts[0], 1), 1024, 1025);                  /* 1 */
    assert_in_range(tmi_two_slots_gain(&layouts[0]), 2048, 2049);                    /* sqrt(2 m/(m-1)) with m = 2 */
    assert_in_range(tmi_two_slots_gain(&(tmi_psu_layout){many, 1, 32}), 1472, 1473); /* m = 32 */
    assert_in_range(tmi_one_slot_gain(&layouts[1], 1), 793, 794);                    /* sqrt(1 - 4/10) */
}

/* Strata that are too small to be dealt out go to the blocks one after the other: the largest gain may be that of a later
 * block, and even in a large stratum blocks may have different numbers of PSUs. */
static void the_gain_is_that_of_the_worst_block(void **state)
{
    tmi_psu_stratum drawn[] = {{2, 2, 3}, {2, 2, 0}}, last[] = {{3, 3, 4}, {3, 3, 5}, {3, 3, 6}, {3, 3, 0}};
    const tmi_psu_layout two_blocks = {drawn, 2, 4}, four = {last, 4, 12};
    (void)state;
    assert_in_range(tmi_one_slot_gain(&two_blocks, 2), 1024, 1025); /* of the second stratum: 1; of the first sqrt(1/3) */
    assert_in_range(tmi_one_slot_gain(&four, 4), 1024, 1025);       /* of the fourth */
    assert_true(worst(&two_blocks, 2, false) <= 1 && worst(&four, 4, false) <= 1);
}

/* Of one stratum, from its formulas in whole numbers: a gain is the least that is enough. */
static void check_gains(int64_t psus, int64_t slots, int64_t population)
{
    tmi_psu_stratum s = {psus, slots, population};
    const tmi_psu_layout l = {&s, 1, slots};
    const tmi_int128 one = tmi_one_slot_gain(&l, 1), both = tmi_two_slots_gain(&l), m2 = (tmi_int128)psus * psus;
    const int64_t least = psus / slots, larger = psus % slots; /* slots that have one more */
    const tmi_int128 squares = (tmi_int128)larger * (least + 1) * (least + 1) + (tmi_int128)(slots - larger) * least * least;
    const tmi_int128 below = (m2 - squares) * (population > 0 ? population : 1),
                     above = (m2 * (population > 0 ? population - psus : 1)) << TMI_FACTOR_BITS,
                     factor = above / below + (above % below > 0);
    /* squares of gains, in steps of 2^-20, against norms in steps of 2^-24 */
    const tmi_int128 norm = factor * (m2 - 2 * (tmi_int128)least * psus + squares),
                     steps = 1 << (TMI_FACTOR_BITS - 2 * TMI_GAIN_BITS);
    assert_true(one * one * m2 * steps >= norm);
    assert_true((one - 1) * (one - 1) * m2 * steps < norm);
    const tmi_int128 apart = 2 * factor;
    assert_true(both * both * steps >= apart && both * both >= 2 * one * one);
    if (least == 1 && larger == 0 && psus > 5)
        assert_true((both - 1) * (both - 1) * steps < apart || (both - 1) * (both - 1) < 2 * one * one);
}

static void gains_are_no_smaller_than_they_must_be(void **state)
{
    (void)state;
    for (int64_t psus = 2; psus <= 120; psus++)
        for (int64_t more = 0; more <= 60; more++) check_gains(psus, psus, more == 0 ? 0 : psus + more);
    for (int64_t psus = 3; psus <= 60; psus++)
        for (int64_t slots = 2; slots < psus; slots++) check_gains(psus, slots, psus % 2 ? 0 : 3 * psus);
}

/* ---- limits ---- */

static void large_totals_are_clamped(void **state)
{
    tmi_psu_stratum s = {2, 2, 0};
    const tmi_psu_layout l = {&s, 1, 2};
    const int64_t far[] = {INT64_MAX, INT64_MIN}, most[] = {TMI_LARGEST_TOTAL, -TMI_LARGEST_TOTAL};
    (void)state;
    assert_int_equal(tmi_standard_error(far, &l, 1), tmi_standard_error(most, &l, 1));
    tmi_psu_stratum large = {TMI_MOST_SLOTS, TMI_MOST_SLOTS, 0};
    const tmi_psu_layout all = {&large, 1, TMI_MOST_SLOTS};
    int64_t *u = malloc(sizeof *u * (size_t)TMI_MOST_SLOTS);
    assert_non_null(u);
    for (int64_t k = 0; k < TMI_MOST_SLOTS; k++) u[k] = k % 2 ? TMI_LARGEST_TOTAL : -TMI_LARGEST_TOTAL;
    const double wanted = textbook(u, &all) * TMI_STANDARD_ERROR_STEP, found = (double)tmi_standard_error(u, &all, 1);
    assert_true(fabs(found / wanted - 1) < 2e-4);
    free(u);
}

static void blocks_estimate_the_same(void **state)
{
    tmi_psu_stratum s = {512, 512, 0};
    const tmi_psu_layout l = {&s, 1, 512};
    double sum = 0, one = 0;
    (void)state;
    assert_int_equal(tmi_most_blocks(&l, 0), 32);
    assert_int_equal(tmi_most_blocks(&l, 1), 8);
    assert_int_equal(tmi_most_blocks(&layouts[2], 0), 1);
    for (int round = 0; round < 200; round++) {
        int64_t u[512];
        for (int k = 0; k < 512; k++) {
            u[k] = 0;
            for (int j = 0; j < 12; j++) u[k] += below(1 << 20); /* nearly normal: kurtosis 3 - 0.1 */
        }
        sum += (double)tmi_standard_error(u, &l, 16) * tmi_block_factor(&l, 16, 0);
        one += (double)tmi_standard_error(u, &l, 1);
    }
    assert_true(fabs(sum / one - 1) < 0.003);
    /* a kurtosis of 3 (1 + cv^2)^2, and 511/16 degrees of freedom of a block */
    assert_true(close_to(tmi_block_factor(&l, 16, 1), (1 + 11 * 16 / (8 * 511.)) / 4));
    assert_true(close_to(tmi_block_factor(&l, 4, 0.5), (1 + (3 * 1.5625 - 1) * 4 / (8 * 511.)) / 2));
    assert_true(tmi_block_factor(&l, 1, 1) == 1);
}

/* Coefficients are multiples of the largest; their range contains 0, which a row in another group has. Nothing is added up where
 * nothing is known. */
static void coefficients_are_relative_to_the_largest(void **state)
{
    static const struct {
        double values[3], largest, wanted[3], range;
    } cases[] = {
        {{2, -1, 0.5}, 2, {1, -0.5, 0.25}, 1.5}, {{2, NAN, -1}, 2, {1, 0, -0.5}, 1.5}, {{-1, -4, -2}, 4, {-0.25, -1, -0.5}, 1},
        {{1, 3, INFINITY}, 0, {0, 0, 0}, 0},     {{0, 0, 0}, 0, {0, 0, 0}, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const tmi_linearised e = {.values = {cases[i].values}, .terms = 1, .cells = 3, .levels = 1};
        int32_t c[3];
        int64_t range;
        assert_true(tmi_psu_errors.combine(c, &range, &e) == cases[i].largest);
        for (size_t k = 0; k < 3; k++) assert_true(c[k] * tmi_psu_errors.unit == cases[i].wanted[k]);
        assert_true((double)range * tmi_psu_errors.unit == cases[i].range);
    }
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(a_root_that_is_whole_is_exact),
        cmocka_unit_test(it_is_the_textbooks),
        cmocka_unit_test(equal_totals_do_not_vary),
        cmocka_unit_test(no_neighbour_moves_it_more),
        cmocka_unit_test(gains_are_those_of_the_proofs),
        cmocka_unit_test(gains_are_no_smaller_than_they_must_be),
        cmocka_unit_test(the_gain_is_that_of_the_worst_block),
        cmocka_unit_test(few_psus_left_out_are_exact),
        cmocka_unit_test(a_mean_is_off_by_a_half),
        cmocka_unit_test(the_largest_designs_have_factors),
        cmocka_unit_test(large_totals_are_clamped),
        cmocka_unit_test(blocks_estimate_the_same),
        cmocka_unit_test(coefficients_are_relative_to_the_largest),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
