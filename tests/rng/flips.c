/* Lies on bits: exact by enumeration. The lanes themselves are the list: lane l gets the digits of the number l, so that one call
 * runs through all strings of eight random digits. */
#include "rng/flips.h"

#include <string.h>

#include "num/bound.h"
#include "tests/base/memory_that_fails.h"
#include "tests/rng/law.h"
#include "tests/rng/with_rng.h"
#include "tests/test.h"

#define WORDS (TMI_FLIP_LANES / 64)

typedef struct lies {
    tamis_number *one, *zero;
    tmi_flips flips;
} lies;

static lies make(const char *one, const char *zero)
{
    lies l = {.one = number(one), .zero = number(zero)};
    return l;
}

/* The flips point to the numbers of the same place. */
static void prepare(lies *l) { assert_int_equal(tmi_flips_init(&l->flips, l->one, l->zero, NULL), TAMIS_OK); }

static void drop(lies *l)
{
    tamis_number_free(l->one);
    tamis_number_free(l->zero);
}

/* Planes for `digits` digits, in the order in which they are taken; lane l gets the digits of l, after those of `high`. */
static size_t write_planes(uint8_t *bytes, unsigned digits, uint64_t high, bool last_first)
{
    uint64_t planes[TMI_FLIP_DYADIC][WORDS] = {{0}};
    for (unsigned i = 0; i < digits; i++)
        for (unsigned lane = 0; lane < TMI_FLIP_LANES; lane++) {
            uint64_t u = high << 8 | lane; /* its last `digits` digits */
            unsigned place = last_first ? i : digits - 1 - i;
            planes[i][lane / 64] |= (u >> place & 1) << lane % 64;
        }
    memcpy(bytes, planes, digits * sizeof planes[0]);
    return digits * sizeof planes[0];
}

/* Ones and zeros in many orders; words 1 and 2 are all zeros and all ones. */
static void dyadic_lies_are_exact(void **state)
{
    (void)state;
    for (unsigned j = 1; j <= 8; j++)
        for (unsigned m = 1; m < 1u << j; m++)
            for (unsigned k = 1; k < 1u << j; k += j < 5 ? 1 : 1 + (m * 7 + k) % 29)
                for (int vectors = 0; vectors < 2; vectors++) {
                    char one[32], zero[32];
                    uint8_t bytes[TMI_FLIP_DYADIC * TMI_FLIP_LANES / 8];
                    uint64_t truth[WORDS] = {UINT64_C(0x5555555555555555), 0, UINT64_MAX, UINT64_C(0x0123456789abcdef)},
                             words[WORDS];
                    snprintf(one, sizeof one, "%u/%u", m, 1u << j);
                    snprintf(zero, sizeof zero, "%u/%u", k, 1u << j);
                    lies l = make(one, zero);
                    prepare(&l);
                    if (!tmi_flips_use_vectors(&l.flips, vectors)) continue;
                    assert_true(l.flips.dyadic >= 1 && l.flips.dyadic <= j);
                    unsigned shift = j - l.flips.dyadic;
                    bits_from_bytes(bytes, write_planes(bytes, l.flips.dyadic, 0, true));
                    memcpy(words, truth, sizeof words);
                    assert_int_equal(tmi_flip(words, WORDS, &l.flips, rng, NULL), TAMIS_OK);
                    assert_int_equal(bits_taken(), l.flips.dyadic * TMI_FLIP_LANES / 8);
                    /* yes = d ? yes | u : yes & u: a lane lies iff its complement is below p, which is as likely */
                    for (unsigned lane = 0; lane < TMI_FLIP_LANES; lane++) {
                        unsigned bit = truth[lane / 64] >> lane % 64 & 1, u = ~lane & ((1u << l.flips.dyadic) - 1);
                        unsigned is = ((words[lane / 64] ^ truth[lane / 64]) >> lane % 64 & 1);
                        assert_int_equal(is, u < (bit ? m : k) >> shift);
                    }
                    if (l.flips.dyadic <= 6) /* then a word has each string equally often */
                        assert_true(__builtin_popcountll(words[1]) * (1 << j) == (int)(64 * k) &&
                                    (64 - __builtin_popcountll(words[2])) * (1 << j) == (int)(64 * m));
                    drop(&l);
                }
    bits_from_seed(1);
}

/* All 2^16 strings of a fraction with 16 digits, by 256 calls. */
static void long_dyadic_lies_are_exact(void **state)
{
    (void)state;
    static const unsigned parts[] = {1, 257, 16385, 21845, 32767};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char text[32];
        uint64_t flipped = 0;
        snprintf(text, sizeof text, "%u/65536", parts[i]);
        lies l = make(text, text);
        prepare(&l);
        assert_int_equal(l.flips.dyadic, 16);
        for (uint64_t high = 0; high < 256; high++) {
            uint8_t bytes[TMI_FLIP_DYADIC * TMI_FLIP_LANES / 8];
            uint64_t words[WORDS] = {0};
            bits_from_bytes(bytes, write_planes(bytes, 16, high, true));
            assert_int_equal(tmi_flip(words, WORDS, &l.flips, rng, NULL), TAMIS_OK);
            for (unsigned w = 0; w < WORDS; w++) flipped += (uint64_t)__builtin_popcountll(words[w]);
        }
        assert_int_equal(flipped, parts[i]);
        drop(&l);
    }
    bits_from_seed(1);
}

/* floor(2^bits num / den) for small fractions. */
static uint64_t digits_of(uint64_t num, uint64_t den, unsigned bits)
{
    return (uint64_t)(((unsigned __int128)num << bits) / den);
}

/* Hands out planes in which lane l has the digits of l, then bytes: those of `tail` for the coin that is looked at, and for
 * the other one a byte that decides at once. The ties of the coin of ones come first. */
typedef struct lane_digits {
    uint8_t planes[TMI_FLIP_PLANES * TMI_FLIP_LANES / 8];
    size_t taken;
    uint64_t digits[2];        /* 24 of each coin, that of ones first */
    unsigned coin, at, looked; /* whose turn it is, how many bytes it had; the one that is looked at */
    uint8_t tail[2];
    bool undecided; /* the tail ties to its end */
} lane_digits;

static bool next_lane_digits(void *context, uint8_t *bytes, size_t n)
{
    lane_digits *d = context;
    if (d->taken + n <= sizeof d->planes) {
        memcpy(bytes, d->planes + d->taken, n);
        d->taken += n;
        return true;
    }
    assert_true(n == 1 && d->coin < 2);
    uint8_t digit = 0, given = 0;
    if (d->at < 2) {
        digit = (uint8_t)(d->digits[d->coin] >> (8 - 8 * d->at));
        given = d->tail[d->at];
    }
    *bytes = given;
    if (d->coin != d->looked) *bytes = (uint8_t)~digit;
    if (d->coin == d->looked && d->at == 1 && *bytes == digit) d->undecided = true;
    if (d->undecided) return false;
    d->at++;
    if (*bytes != digit) d->coin++, d->at = 0;
    return true;
}

/* Fractions that are not dyadic: eight digits by the lanes, then a byte, and another one if that ties, for the one lane that
 * does. All strings of 24 digits, but the one that ties throughout. */
static void other_lies_are_exact(void **state)
{
    (void)state;
    static const uint64_t fractions[][4] = {{1, 3, 1, 3},
                                            {1, 5, 1, 5},
                                            {2, 7, 2, 7},
                                            {1, 1000, 1, 1000},
                                            {1, 3, 1, 7},
                                            {1, 1000, 1, 999},
                                            {499999, 1000000, 1, 3},
                                            {1, 3, 341, 1024}};
    for (size_t i = 0; i < sizeof fractions / sizeof *fractions; i++)
        for (unsigned c = 0; c < 8; c++) {
            const uint64_t *f = fractions[i], looked = c & 1, num = f[2 * looked], den = f[2 * looked + 1];
            uint64_t flipped = 0, tied = digits_of(num, den, 16) & 255;
            char one[64], zero[64];
            snprintf(one, sizeof one, "%ju/%ju", (uintmax_t)f[0], (uintmax_t)f[1]);
            snprintf(zero, sizeof zero, "%ju/%ju", (uintmax_t)f[2], (uintmax_t)f[3]);
            lies l = make(one, zero);
            prepare(&l);
            lane_digits d = {.digits = {digits_of(f[0], f[1], 24), digits_of(f[2], f[3], 24)},
                             .looked = l.flips.symmetric ? 0 : (unsigned)looked};
            write_planes(d.planes, TMI_FLIP_PLANES, 0, false);
            assert_int_equal(l.flips.dyadic, 0);
            for (unsigned string = 0; string < 512 && tmi_flips_use_vectors(&l.flips, c & 2); string++) {
                uint64_t words[WORDS];
                d.taken = d.coin = d.at = 0;
                d.undecided = false;
                d.tail[0] = string < 256 ? (uint8_t)string : (uint8_t)tied;
                d.tail[1] = (uint8_t)string;
                if (string == tied) continue; /* continued by the strings from 256 on */
                memset(words, looked ? 0 : 255, sizeof words);
                bits_from(next_lane_digits, &d);
                tamis_status status = tmi_flip(words, WORDS, &l.flips, rng, NULL);
                assert_int_equal(status, d.undecided ? TAMIS_SYSTEM : TAMIS_OK);
                for (unsigned lane = 0; lane < TMI_FLIP_LANES && !d.undecided; lane++) {
                    bool lied = (words[lane / 64] >> lane % 64 & 1) == looked;
                    if (lied) flipped += string < 256 ? 256 : 1;
                    if (lane != digits_of(num, den, 8)) assert_int_equal(lied, lane < digits_of(num, den, 8));
                }
            }
            /* In the string that is left out, the lanes below the tied one lie, too. */
            if (tmi_flips_use_vectors(&l.flips, c & 2))
                assert_int_equal(flipped + digits_of(num, den, 8), digits_of(num, den, 24));
            drop(&l);
        }
    bits_from_seed(1);
}

/* A number of words that is not a multiple of a group: the words behind stay as they are, the others are as in a full group. */
static void any_number_of_words(void **state)
{
    (void)state;
    static const char *const fractions[] = {"1/4", "1/3", "5/16"};
    for (size_t i = 0; i < 3; i++) {
        lies l = make(fractions[i], "1/5");
        prepare(&l);
        uint64_t all[40], some[41];
        memset(all, 0xa5, sizeof all);
        bits_from_seed(9);
        assert_int_equal(tmi_flip(all, 40, &l.flips, rng, NULL), TAMIS_OK);
        for (size_t n = 0; n <= 40; n++) {
            memset(some, 0xa5, sizeof some);
            bits_from_seed(9);
            assert_int_equal(tmi_flip(some, n, &l.flips, rng, NULL), TAMIS_OK);
            assert_memory_equal(some, all, n * sizeof *some);
            assert_true(some[n] == UINT64_C(0xa5a5a5a5a5a5a5a5));
        }
        bits_from_seed(9);
        tmi_flips_use_vectors(&l.flips, false);
        memset(some, 0xa5, sizeof some);
        assert_int_equal(tmi_flip(some, 40, &l.flips, rng, NULL), TAMIS_OK);
        assert_memory_equal(some, all, sizeof all);
        drop(&l);
    }
}

/* Counts of lies, and of lies in two neighbouring bits, against their probabilities; see CHANCE in law.h for the rate of false
 * alarms: 24 questions at 8.5e-15 each. */
static void counts_are_right(void **state)
{
    (void)state;
    static const char *const fractions[][2] = {{"1/4", "1/4"},  {"1/3", "1/3"},    {"3/16", "5/8"},
                                               {"1/2", "1/55"}, {"1/1000", "3/7"}, {"12345/65536", "12345/65536"}};
    enum { n = 20000 };
    static uint64_t words[n];
    for (size_t i = 0; i < sizeof fractions / sizeof *fractions; i++)
        for (int truth = 0; truth < 2; truth++) {
            lies l = make(fractions[i][0], fractions[i][1]);
            prepare(&l);
            bits_from_seed(100 + i);
            memset(words, truth ? 255 : 0, sizeof words);
            assert_int_equal(tmi_flip(words, n, &l.flips, rng, NULL), TAMIS_OK);
            uint64_t count = 0, both = 0;
            for (size_t w = 0; w < n; w++) {
                uint64_t lied = truth ? ~words[w] : words[w];
                count += (uint64_t)__builtin_popcountll(lied);
                both += (uint64_t)__builtin_popcountll(lied & lied >> 1 & UINT64_C(0x5555555555555555));
            }
            tamis_bound p = tmi_number_bound(truth ? l.one : l.zero);
            assert_true(may_be_chance(count, 64 * n, p));
            assert_true(
                may_be_chance(both, 32 * n, (tamis_bound){p.lower * p.lower * (1 - 1e-15), p.upper * p.upper * (1 + 1e-15)}));
            drop(&l);
        }
    bits_from_seed(1);
}

/* Bits that end leave no truth behind. */
static void failures_leave_zeros(void **state)
{
    (void)state;
    uint8_t bytes[600] = {0};
    for (int i = 0; i < 2; i++) {
        lies l = make(i ? "1/3" : "1/4", "1/4");
        prepare(&l);
        for (size_t n = 0; n < 2 * (i ? 256 : 64); n += 32) {
            uint64_t words[2 * WORDS];
            memset(words, 255, sizeof words);
            bits_from_bytes(bytes, n);
            assert_int_equal(tmi_flip(words, 2 * WORDS, &l.flips, rng, NULL), TAMIS_SYSTEM);
            for (size_t w = 0; w < 2 * WORDS; w++) assert_true(words[w] == 0);
        }
        drop(&l);
    }
    bits_from_seed(1);
}

static void memory_can_run_out(void **state)
{
    (void)state;
    lies l = make("1/3", "5/16");
    for (long k = 1;; k++) {
        fail_allocation(k);
        tamis_status status = tmi_flips_init(&l.flips, l.one, l.zero, NULL);
        if (!allocation_failed()) break;
        assert_int_equal(status, TAMIS_SYSTEM);
    }
    drop(&l);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(dyadic_lies_are_exact), cmocka_unit_test(long_dyadic_lies_are_exact),
        cmocka_unit_test(other_lies_are_exact),  cmocka_unit_test(any_number_of_words),
        cmocka_unit_test(counts_are_right),      cmocka_unit_test(failures_leave_zeros),
        cmocka_unit_test(memory_can_run_out),
    };
    return cmocka_run_group_tests_name("rng/flips", cases, make_rng, free_rng);
}
