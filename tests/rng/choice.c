#include "tests/test.h"

#include <string.h>

#include "num/ball.h"
#include "num/number.h"
#include "rng/choice.h"
#include "rng/inversion.h"
#include "tests/base/memory_that_fails.h"
#include "tests/rng/law.h"
#include "tests/rng/with_rng.h"

#define MOST 8

static tamis_choice *choice_of(const char *const *texts, size_t count)
{
    tamis_choice *choice;
    tamis_number *weights[MOST];
    for (size_t j = 0; j < count; j++) weights[j] = number(texts[j]);
    assert_int_equal(tamis_choice_new(&choice, (const tamis_number *const *)weights, count, NULL), TAMIS_OK);
    for (size_t j = 0; j < count; j++) tamis_number_free(weights[j]); /* copies were taken */
    return choice;
}

/* The index for U = 0.words; -1 if more digits are wanted. */
static int draw(const tamis_choice *choice, const uint64_t *words, size_t count)
{
    size_t index;
    bits_from_bytes(words, 8 * count);
    tamis_status status = tamis_choice_draw(&index, choice, rng, NULL);
    if (status != TAMIS_OK) {
        assert_int_equal(status, TAMIS_SYSTEM);
        assert_int_equal(index, 0);
    }
    return status == TAMIS_OK ? (int)index : -1;
}

/* floor(2^64 p / q) and whether it is exact, in integers. */
static uint64_t threshold(uint64_t p, uint64_t q, bool *exact)
{
    unsigned __int128 n = (unsigned __int128)p << 64;
    *exact = n % q == 0;
    return (uint64_t)(n / q);
}

/* Small integers as weights: around every threshold, the index is the one that exact fractions say. */
static void thresholds_are_exact(void **state)
{
    static const struct {
        size_t count;
        uint64_t weights[MOST];
    } cases[] = {
        {1, {5}},
        {2, {1, 1}},
        {3, {1, 2, 3}},
        {3, {1, 1, 1}},
        {5, {0, 1, 0, 1, 0}},
        {4, {1, 0, 0, 2}},
        {8, {1, 2, 4, 8, 16, 32, 64, 128}},
        {2, {1, UINT64_C(1) << 40}},
        {2, {UINT64_C(1) << 40, 1}},
        {3, {7, 0, 4}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis_number *weights[MOST];
        tamis_choice *choice;
        uint64_t total = 0, sum = 0;
        for (size_t j = 0; j < cases[i].count; j++) {
            assert_int_equal(tmi_number_ratio(&weights[j], (int64_t)cases[i].weights[j], 3, NULL), TAMIS_OK);
            total += cases[i].weights[j];
        }
        assert_int_equal(tamis_choice_new(&choice, (const tamis_number *const *)weights, cases[i].count, NULL), TAMIS_OK);
        for (size_t j = 0; j < cases[i].count; j++) {
            if (cases[i].weights[j] == 0) continue;
            bool exact;
            uint64_t first = sum ? threshold(sum, total, &exact) : 0;
            if (sum == 0) exact = true;
            /* the first word at or above the threshold, and one far from it */
            for (uint64_t more = 0; more < 3; more++) {
                uint64_t words[4] = {first + !exact + more, 0, 0, 1}; /* 1/2 itself no ball can tell from below 1/2 */
                assert_int_equal(draw(choice, words, 4), j);
            }
            if (!exact) { /* the word that ties: below if the next digits are 0, not below if they are 1 */
                uint64_t low[4] = {first, 0, 0, 0}, high[4] = {first, UINT64_MAX, UINT64_MAX, UINT64_MAX};
                assert_true(draw(choice, low, 4) < (int)j);
                assert_int_equal(draw(choice, high, 4), j);
            }
            sum += cases[i].weights[j];
            uint64_t last = sum == total ? UINT64_MAX : threshold(sum, total, &exact) - 1;
            uint64_t words[4] = {last, UINT64_MAX, UINT64_MAX, 0};
            assert_int_equal(draw(choice, words, 4), j);
        }
        for (size_t j = 0; j < cases[i].count; j++) tamis_number_free(weights[j]);
        tamis_choice_free(choice);
    }
}

/* Random words are wiped before their memory is given back. */
static void no_fives(const void *block, size_t size)
{
    const uint64_t fives = UINT64_C(0x5555555555555555);
    assert_null(memmem(block, size, &fives, sizeof fives));
}

/* Further digits decide where the first do not: 1/3 = 0.5555...(hexadecimal) to any depth. */
static void ties_are_refined(void **state)
{
    static const char *const thirds[] = {"1/3", "2/3"};
    (void)state;
    tamis_choice *choice = choice_of(thirds, 2);
    for (size_t depth = 1; depth < 9; depth++) {
        uint64_t words[10];
        for (size_t w = 0; w < 10; w++) words[w] = UINT64_C(0x5555555555555555);
        words[depth] = UINT64_C(0x5555555555555550);
        assert_int_equal(draw(choice, words, 10), 0);
        words[depth] = UINT64_C(0x5555555555555558);
        look_at_freed_blocks(no_fives);
        assert_int_equal(draw(choice, words, 10), 1);
        look_at_freed_blocks(NULL);
        words[depth] = UINT64_C(0x5555555555555555);
        assert_int_equal(draw(choice, words, depth), -1);
    }
    tamis_choice_free(choice);
}

static tamis_status halves(tmi_ball *weight, const void *context, size_t j, long bits, tamis_error *err)
{
    (void)context;
    (void)err;
    tmi_ball_set_int(weight, -(int64_t)j);
    tmi_ball_div_int(weight, weight, 2, bits);
    tmi_ball_exp(weight, weight, bits);
    return TAMIS_OK;
}

/* What inversion.h promises of any table that keeps low[j] <= 2^64 CDF(j) < low[j] + 2, also one that is not as good
 * as it could be or shorter than the list of weights: an index that is called certain is right. */
static void tables_may_be_loose(void **state)
{
    enum { weights = 8, count = 3 };
    tmi_inversion table;
    (void)state;
    tmi_weights eight = {.weight = halves, .count = weights};
    assert_int_equal(tmi_inversion_init(&table, &eight, count, NULL), TAMIS_OK);
    for (unsigned loose = 0; loose < 2; loose++) {
        for (size_t j = 0; j < count; j++) {
            size_t index;
            table.low[j] -= loose;
            assert_true(tmi_inversion_quick(&index, &table, table.low[j] - 1) && index == j);
            assert_false(tmi_inversion_quick(&index, &table, table.low[j]));
            assert_false(tmi_inversion_quick(&index, &table, table.low[j] + 1));
            assert_true(tmi_inversion_quick(&index, &table, table.low[j] + 2) == (j + 1 < count));
            if (j + 1 < count) assert_int_equal(index, j + 1);
        }
        size_t index;
        assert_false(tmi_inversion_quick(&index, &table, UINT64_MAX - 1)); /* beyond the table */
        assert_int_equal(tmi_inversion_find(&index, &table, UINT64_MAX - 1, rng, NULL), TAMIS_OK);
        assert_int_equal(index, weights - 1);
    }
    tmi_inversion_clear(&table);
}

typedef struct share_of {
    size_t j, count;
} share_of;

static tamis_status share(tmi_ball *z, const void *context, long bits, tamis_error *err)
{
    const share_of *s = context;
    tmi_ball sum, w;
    (void)err;
    tmi_ball_init(&sum);
    tmi_ball_init(&w);
    for (size_t j = 0; j < s->count; j++) {
        halves(&w, NULL, j, bits, NULL);
        tmi_ball_add(&sum, &sum, &w, bits);
    }
    halves(z, NULL, s->j, bits, NULL);
    tmi_ball_div(z, z, &sum, bits);
    tmi_ball_clear(&sum);
    tmi_ball_clear(&w);
    return TAMIS_OK;
}

static void shares_are_right(void **state)
{
    enum { n = 300000, count = 12, seed = 71 };
    uint64_t counts[count] = {0};
    tamis_choice *choice;
    (void)state;
    print_message("# seed %d\n", seed);
    bits_from_seed(seed);
    assert_int_equal(tmi_choice_new(&choice, halves, NULL, count, NULL), TAMIS_OK);
    for (int i = 0; i < n; i++) {
        size_t index;
        assert_int_equal(tamis_choice_draw(&index, choice, rng, NULL), TAMIS_OK);
        counts[index]++;
    }
    for (size_t j = 0; j < count; j++) {
        tamis_bound p;
        assert_int_equal(tmi_certify(&p, 1e-12, share, &(share_of){j, count}, NULL), TAMIS_OK);
        assert_true(may_be_chance(counts[j], n, p));
    }
    tamis_choice_free(choice);
}

static void refuses_bad_input(void **state)
{
    tamis_error err;
    tamis_choice *choice = (tamis_choice *)&choice;
    size_t index;
    tamis_number *zero = number("0"), *one = number("1"), *less = number("-1");
    const tamis_number *weights[3] = {zero, one, less};
    (void)state;
    assert_int_equal(tamis_choice_new(&choice, weights, 3, &err), TAMIS_INVALID);
    assert_null(choice);
    assert_non_null(strstr(err.message, "weights:"));
    weights[2] = NULL;
    assert_int_equal(tamis_choice_new(&choice, weights, 3, &err), TAMIS_INVALID);
    assert_int_equal(tamis_choice_new(&choice, weights, 1, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "zero"));
    assert_int_equal(tamis_choice_new(&choice, weights, 0, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "count:"));
    assert_int_equal(tamis_choice_new(&choice, weights, SIZE_MAX, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "count:"));
    assert_int_equal(tamis_choice_new(&choice, NULL, 2, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "weights:"));
    assert_int_equal(tamis_choice_new(NULL, weights, 2, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "choice:"));
    weights[2] = one;
    EVERY_ALLOCATION_FAILS(tamis_choice_new(&choice, weights, 3, NULL), assert_null(choice));
    assert_int_equal(tamis_choice_draw(NULL, choice, rng, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "index:"));
    assert_int_equal(tamis_choice_draw(&index, NULL, rng, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "choice:"));
    assert_int_equal(tamis_choice_draw(&index, choice, NULL, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "rng:"));
    uint64_t tie[3] = {UINT64_C(1) << 63, 0, 0}; /* asks num/ for more, which needs memory */
    EVERY_ALLOCATION_FAILS((bits_from_bytes(tie, sizeof tie), tamis_choice_draw(&index, choice, rng, NULL)),
                           assert_int_equal(index, 0));
    tamis_choice_free(choice);
    tamis_choice_free(NULL);
    tamis_number_free(zero);
    tamis_number_free(one);
    tamis_number_free(less);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thresholds_are_exact), cmocka_unit_test(ties_are_refined),  cmocka_unit_test(tables_may_be_loose),
        cmocka_unit_test(shares_are_right),     cmocka_unit_test(refuses_bad_input),
    };
    return cmocka_run_group_tests(tests, make_rng, free_rng);
}
