#include "tests/test.h"

#include <stdbool.h>
#include <string.h>

#include "num/digits.h"
#include "tests/base/memory_that_fails.h"
#include "tests/num/digits_vectors.h"

/* A number that is given by its digits, plus one in the last place or minus one. */
static void step(uint64_t *words, size_t count, bool up)
{
    for (size_t i = count; i-- > 0;) {
        words[i] += up ? 1 : UINT64_MAX;
        if (words[i] != (up ? 0 : UINT64_MAX)) return; /* nothing is carried on */
    }
}

/* The share of the weights up to j begins with these digits: a random number just below them gives j at most, one just above them
 * another weight, and about one that begins with them nothing is certain. */
static void begins_with(const tmi_weights *w, size_t j, const uint64_t *digits, size_t count)
{
    uint64_t words[5];
    size_t found;
    bool certain;
    memcpy(words, digits, count * sizeof *words);
    assert_int_equal(tmi_weights_find(&found, &certain, w, words, count, NULL), TAMIS_OK);
    assert_false(certain);
    step(words, count, false);
    assert_int_equal(tmi_weights_find(&found, &certain, w, words, count, NULL), TAMIS_OK);
    assert_true(certain && found == j);
    step(words, count, true);
    step(words, count, true);
    if (words[0] == 0) return; /* the share is 1 as far as the digits go */
    assert_int_equal(tmi_weights_find(&found, &certain, w, words, count, NULL), TAMIS_OK);
    assert_true(certain && found == j + 1);
}

static void agrees_with_mpmath(void **state)
{
    (void)state;
    for (size_t v = 0; v < sizeof source_vectors / sizeof *source_vectors; v++) {
        tamis_number *x = number(source_vectors[v].x);
        tmi_digit_source p = {(tmi_digit_kind)source_vectors[v].kind, x, source_vectors[v].i};
        uint64_t words[3];
        assert_int_equal(tmi_digits(words, &p, source_vectors[v].first, 3, NULL), TAMIS_OK);
        assert_memory_equal(words, source_vectors[v].words, sizeof words);
        tamis_number_free(x);
    }
    for (size_t v = 0; v < sizeof share_vectors / sizeof *share_vectors; v++) {
        tamis_number *x = number(share_vectors[v].variance);
        tmi_weights w = {.variance = x, .m = share_vectors[v].m, .half_zero = share_vectors[v].half};
        begins_with(&w, share_vectors[v].j, share_vectors[v].words, 5);
        tamis_number_free(x);
    }
}

/* Long division by hand, bit by bit, for every p/q with small q. */
static void divides_exactly(void **state)
{
    (void)state;
    for (int q = 1; q <= 40; q++) {
        for (int p = 0; p <= q; p++) {
            tamis_number *x;
            assert_int_equal(tmi_number_ratio(&x, p, q, NULL), TAMIS_OK);
            tmi_digit_source source = {TMI_DIGITS_RATIONAL, x, 0};
            uint64_t words[2], later;
            assert_int_equal(tmi_digits(words, &source, 0, 2, NULL), TAMIS_OK);
            assert_int_equal(tmi_digits(&later, &source, 37, 1, NULL), TAMIS_OK);
            assert_true(later == (words[0] << 37 | words[1] >> 27));
            for (int d = 0, rest = p; d < 128; d++) {
                uint64_t digit = words[d / 64] >> (63 - d % 64) & 1;
                bool one = p == q || 2 * rest >= q;
                assert_int_equal(digit, one);
                rest = p == q ? rest : 2 * rest - (one ? q : 0);
            }
            tamis_number_free(x);
        }
    }
}

static void knows_the_ends(void **state)
{
    (void)state;
    tamis_number *zero = number("0"), *huge = number("1e1000");
    uint64_t words[2];
    assert_int_equal(tmi_digits(words, &(tmi_digit_source){TMI_DIGITS_EXP, zero, 0}, 0, 2, NULL), TAMIS_OK);
    assert_true(words[0] == UINT64_MAX && words[1] == UINT64_MAX);
    assert_int_equal(tmi_digits(words, &(tmi_digit_source){TMI_DIGITS_EXP, huge, 0}, 0, 2, NULL), TAMIS_OK);
    assert_true(words[0] == 0 && words[1] == 0);
    assert_int_equal(tmi_digits(words, &(tmi_digit_source){TMI_DIGITS_LOGISTIC, huge, 1024}, 0, 2, NULL), TAMIS_OK);
    assert_true(words[0] == 0 && words[1] == 0);
    tamis_number *tiny = number("1e-900"); /* 1 - CDF(0) is about exp(-5e899) */
    tmi_weights w = {.variance = tiny};
    size_t j;
    bool certain;
    assert_int_equal(tmi_weights_table(words, &w, 2, NULL), TAMIS_OK);
    assert_true(words[0] == UINT64_MAX && words[1] == UINT64_MAX);
    words[1]--;
    assert_int_equal(tmi_weights_find(&j, &certain, &w, words, 2, NULL), TAMIS_OK);
    assert_true(certain && j == 0);
    tamis_number_free(zero);
    tamis_number_free(huge);
    tamis_number_free(tiny);
}

/* ---- weights from a function: thirds, which no ball holds exactly ---- */

static tamis_status thirds(tmi_ball *weight, const void *context, size_t j, long bits, tamis_error *err)
{
    const int *numerators = context;
    (void)err;
    tmi_ball_set_int(weight, numerators[j]);
    tmi_ball_div_int(weight, weight, 3, bits);
    return TAMIS_OK;
}

static void chooses_among_given_weights(void **state)
{
    static const int numerators[] = {0, 1, 2, 0, 4, 1, 0}; /* of 8: shares 0, 1/8, 3/8, 3/8, 7/8, 1, 1 */
    static const uint64_t eighths[] = {0, 1, 3, 3, 7, 8, 8};
    tmi_weights w = {.weight = thirds, .context = numerators, .count = 7};
    uint64_t low[7];
    size_t j;
    bool certain;
    (void)state;
    assert_int_equal(tmi_weights_table(low, &w, 7, NULL), TAMIS_OK);
    for (size_t i = 0; i < 7; i++) {
        /* 2^64 CDF is a multiple of 2^61, known within a ball: the low end is that multiple or one less. */
        uint64_t exact = eighths[i] << 61;
        if (eighths[i] == 8) assert_true(low[i] == UINT64_MAX);
        else assert_true(low[i] == exact || low[i] == exact - 1);
        assert_true(i == 0 || low[i] >= low[i - 1]);
    }
    static const struct {
        uint64_t words[2];
        size_t j;
        bool certain;
    } cases[] = {
        {{0, 0}, 1, true},
        {{(UINT64_C(1) << 61) - 1, 5}, 1, true},
        {{UINT64_C(1) << 61, 1}, 2, true},
        {{(UINT64_C(3) << 61) - 1, UINT64_MAX - 1}, 2, true},
        {{UINT64_C(3) << 61, 1}, 4, true},
        {{UINT64_C(3) << 61, 0}, 0, false}, /* may be 3/8 exactly: the ball cannot tell */
        {{UINT64_C(7) << 61, 99}, 5, true},
        {{UINT64_MAX, UINT64_MAX - 3}, 5, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(tmi_weights_find(&j, &certain, &w, cases[i].words, 2, NULL), TAMIS_OK);
        assert_int_equal(certain, cases[i].certain);
        assert_int_equal(j, cases[i].j);
    }
    const uint64_t word = 0;
    tamis_error err;
    static const int nothing[] = {0, 0}, negative[] = {1, -1};
    w = (tmi_weights){.weight = thirds, .context = nothing, .count = 2};
    assert_int_equal(tmi_weights_find(&j, &certain, &w, &word, 1, &err), TAMIS_INVALID);
    w.context = negative;
    assert_int_equal(tmi_weights_find(&j, &certain, &w, &word, 1, &err), TAMIS_INVALID);
}

/* Weights 1, 2, 3, 4 that are known only to 2^-10 before 500 bits are asked for. */
static tamis_status vague(tmi_ball *weight, const void *context, size_t j, long bits, tamis_error *err)
{
    tmi_ball other;
    (void)context;
    (void)err;
    tmi_ball_init(&other);
    tmi_ball_set_int(weight, 1025 * (int64_t)(j + 1));
    tmi_ball_div_int(weight, weight, 1024, 64);
    tmi_ball_set_int(&other, (int64_t)(j + 1));
    if (bits < 500) tmi_ball_union(weight, weight, &other, 64);
    else tmi_ball_set(weight, &other);
    tmi_ball_clear(&other);
    return TAMIS_OK;
}

static void asks_until_weights_are_known(void **state)
{
    tmi_weights w = {.weight = vague, .count = 4};
    uint64_t low[4], word;
    size_t j;
    bool certain;
    (void)state;
    assert_int_equal(tmi_weights_table(low, &w, 4, NULL), TAMIS_OK);
    assert_true(low[0] == UINT64_C(0x1999999999999999) && low[1] == UINT64_C(0x4ccccccccccccccc));
    assert_true(low[2] == UINT64_C(0x9999999999999999) && low[3] == UINT64_MAX);
    word = low[1] + 5; /* too near to 3/10 for weights this vague: more words are asked for */
    assert_int_equal(tmi_weights_find(&j, &certain, &w, &word, 1, NULL), TAMIS_OK);
    assert_false(certain);
    word = UINT64_C(0x8000000000000000);
    assert_int_equal(tmi_weights_find(&j, &certain, &w, &word, 1, NULL), TAMIS_OK);
    assert_true(certain && j == 2);
}

/* The search finds the weight that the table says: a number well below a share, and one well above it. */
static void agrees_with_itself(void **state)
{
    (void)state;
    enum { COUNT = 60 };
    tamis_number *variance = number("37/10");
    for (int half = 0; half < 2; half++) {
        tmi_weights w = {.variance = variance, .half_zero = half};
        uint64_t low[COUNT], words[2];
        bool certain;
        size_t j;
        assert_int_equal(tmi_weights_table(low, &w, COUNT, NULL), TAMIS_OK);
        size_t compared = 0;
        for (size_t k = 0; k + 1 < COUNT && low[k + 1] - low[k] > 4; k++) {
            words[0] = low[k] - 1;
            words[1] = UINT64_MAX;
            assert_int_equal(tmi_weights_find(&j, &certain, &w, words, 2, NULL), TAMIS_OK);
            assert_true(certain && j == k);
            words[0] = low[k] + 2;
            words[1] = 0;
            assert_int_equal(tmi_weights_find(&j, &certain, &w, words, 2, NULL), TAMIS_OK);
            assert_true(certain && j == k + 1);
            compared++;
        }
        assert_true(compared > 15);
        words[0] = words[1] = UINT64_MAX;
        assert_int_equal(tmi_weights_find(&j, &certain, &w, words, 2, NULL), TAMIS_OK);
        assert_false(certain);
    }
    tamis_number_free(variance);
}

static void refuses_bad_input(void **state)
{
    (void)state;
    tamis_number *minus = number("-1"), *two = number("2"), *zero = number("0"), *huge = number("1e40");
    uint64_t word = 7;
    tamis_error err;
    const tmi_digit_source sources[] = {
        {TMI_DIGITS_RATIONAL, minus, 0}, {TMI_DIGITS_RATIONAL, two, 0},  {TMI_DIGITS_RATIONAL, NULL, 0},
        {TMI_DIGITS_EXP, minus, 0},      {TMI_DIGITS_LOGISTIC, zero, 0}, {TMI_DIGITS_LOGISTIC, two, 1025},
        {(tmi_digit_kind)9, two, 0},
    };
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        word = 7;
        assert_int_equal(tmi_digits(&word, &sources[i], 0, 1, &err), TAMIS_INVALID);
        assert_true(word == 0 && strlen(err.message) > 0);
    }
    tmi_digit_source good = {TMI_DIGITS_EXP, two, 0};
    assert_int_equal(tmi_digits(NULL, &good, 0, 1, &err), TAMIS_INVALID);
    assert_int_equal(tmi_digits(&word, NULL, 0, 1, &err), TAMIS_INVALID);
    assert_int_equal(tmi_digits(&word, &good, 0, 0, &err), TAMIS_INVALID);
    assert_int_equal(tmi_digits(&word, &good, TMI_MAX_DIGITS, 1, &err), TAMIS_INVALID);
    assert_int_equal(tmi_digits(&word, &good, UINT64_MAX, 1, &err), TAMIS_INVALID);

    const tmi_weights wrong[] = {
        {0},
        {.variance = zero},
        {.variance = minus},
        {.variance = two, .m = 1025},
        {.weight = thirds, .count = 0},
        {.weight = thirds, .count = TMI_MAX_WEIGHTS + 1},
    };
    size_t j;
    bool certain;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(tmi_weights_table(&word, &wrong[i], 1, &err), TAMIS_INVALID);
        assert_int_equal(tmi_weights_find(&j, &certain, &wrong[i], &word, 1, &err), TAMIS_INVALID);
    }
    tmi_weights fine = {.variance = two};
    assert_int_equal(tmi_weights_table(NULL, &fine, 1, &err), TAMIS_INVALID);
    assert_int_equal(tmi_weights_table(&word, &fine, 0, &err), TAMIS_INVALID);
    assert_int_equal(tmi_weights_table(&word, NULL, 1, &err), TAMIS_INVALID);
    assert_int_equal(tmi_weights_find(NULL, &certain, &fine, &word, 1, &err), TAMIS_INVALID);
    assert_int_equal(tmi_weights_find(&j, &certain, &fine, NULL, 1, &err), TAMIS_INVALID);
    fine.variance = huge; /* 10^20 blocks */
    assert_int_equal(tmi_weights_table(&word, &fine, 1, &err), TAMIS_UNABLE);
    tamis_number_free(minus);
    tamis_number_free(two);
    tamis_number_free(zero);
    tamis_number_free(huge);
}

static void survives_missing_memory(void **state)
{
    (void)state;
    tamis_number *variance = number("2");
    tmi_weights w = {.variance = variance};
    uint64_t word = 1;
    size_t j;
    bool certain;
    EVERY_ALLOCATION_FAILS(tmi_weights_table(&word, &w, 1, NULL), assert_true(word == 0));
    EVERY_ALLOCATION_FAILS(tmi_weights_find(&j, &certain, &w, &word, 1, NULL), assert_false(certain));
    tamis_number_free(variance);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_mpmath),
        cmocka_unit_test(divides_exactly),
        cmocka_unit_test(knows_the_ends),
        cmocka_unit_test(chooses_among_given_weights),
        cmocka_unit_test(asks_until_weights_are_known),
        cmocka_unit_test(agrees_with_itself),
        cmocka_unit_test(refuses_bad_input),
        cmocka_unit_test(survives_missing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
