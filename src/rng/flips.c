/* Randomized response on bits, 256 at a time.
 *
 * A lane compares a random number U, made of fair binary digits, with the lie probability p: the bit in that lane is flipped if
 * U < p. A plane is one digit of U for each lane. The two probabilities of a one and of a zero are compared with the same U:
 * a lane uses only one of the two outcomes, so it does not matter that they are dependent, and nothing that is computed
 * depends on the bit itself before the very last line.
 *
 * Dyadic.  p = 0.d_1 ... d_j. From the last digit to the first,
 *              yes = d ? yes | u : yes & u
 *          turns P(yes) = x into (d + x) / 2, which is 0.d_1 ... d_j at the end: j planes, always.
 * Others.  As in discrete_laplace.c: from the first digit on, `open` marks the lanes whose digits equal those of p so far; after
 *          TMI_FLIP_PLANES planes the few open ones go on one by one with tmi_coin_toss. A lane that is open for both p's tosses
 *          both coins, each with digits of its own: again only one of the outcomes is used. */
#include "rng/flips.h"

#include <string.h>

#include "base/memory.h"
#include "num/number.h"

#define WORDS (TMI_FLIP_LANES / 64)

typedef uint64_t flip_lanes __attribute__((vector_size(TMI_FLIP_LANES / 8), may_alias));

static inline __attribute__((always_inline)) bool next_plane(flip_lanes *u, tamis_rng *rng)
{
    const uint8_t *plane = tmi_bits_take(rng, sizeof *u);
    if (plane) memcpy(u, plane, sizeof *u);
    return plane != NULL;
}

/* Digit i of a probability, for all lanes of a word. */
static inline uint64_t spread(uint64_t digits, unsigned i) { return -(digits >> (63 - i) & 1); }

static inline __attribute__((always_inline)) bool dyadic_lies(flip_lanes *one, flip_lanes *zero, const tmi_flips *f,
                                                              tamis_rng *rng)
{
    flip_lanes u = {0}, a = {0}, b = {0};
    for (unsigned i = f->dyadic; i-- > 0;) {
        if (!next_plane(&u, rng)) return false;
        a = spread(f->one.digits[0], i) ? a | u : a & u;
        if (!f->symmetric) b = spread(f->zero.digits[0], i) ? b | u : b & u;
    }
    *one = a;
    *zero = f->symmetric ? a : b;
    return true;
}

/* Finishes the lanes whose first digits tie with those of the coin. */
static __attribute__((noinline)) tamis_status toss_ties(uint64_t *yes, const uint64_t *open, const tmi_rng_coin *coin,
                                                        tamis_rng *rng, tamis_error *err)
{
    for (unsigned word = 0; word < WORDS; word++)
        for (uint64_t left = open[word]; left; left &= left - 1) {
            bool outcome;
            tamis_status status = tmi_coin_toss(&outcome, coin, TMI_FLIP_PLANES / 8, rng, err);
            if (status != TAMIS_OK) return status;
            if (outcome) yes[word] |= left & -left;
        }
    return TAMIS_OK;
}

static inline __attribute__((always_inline)) tamis_status finish(flip_lanes *yes, const flip_lanes *open,
                                                                 const tmi_rng_coin *coin, tamis_rng *rng, tamis_error *err)
{
    uint64_t yes_words[WORDS], open_words[WORDS];
    memcpy(open_words, open, sizeof open_words);
    if ((open_words[0] | open_words[1] | open_words[2] | open_words[3]) == 0) return TAMIS_OK;
    memcpy(yes_words, yes, sizeof yes_words);
    tamis_status status = toss_ties(yes_words, open_words, coin, rng, err);
    memcpy(yes, yes_words, sizeof yes_words);
    return status;
}

static inline __attribute__((always_inline)) tamis_status other_lies(flip_lanes *one, flip_lanes *zero, const tmi_flips *f,
                                                                     tamis_rng *rng, tamis_error *err)
{
    flip_lanes u = {0}, a = {0}, b = {0}, open_a = ~a, open_b = ~b;
    for (unsigned i = 0; i < TMI_FLIP_PLANES; i++) {
        if (!next_plane(&u, rng)) return tmi_bits_failed(err);
        uint64_t d = spread(f->one.digits[0], i);
        flip_lanes x = u ^ d;
        a |= open_a & x & d;
        open_a &= ~x;
        if (f->symmetric) continue;
        d = spread(f->zero.digits[0], i);
        x = u ^ d;
        b |= open_b & x & d;
        open_b &= ~x;
    }
    tamis_status status = finish(&a, &open_a, &f->one, rng, err);
    if (status == TAMIS_OK && !f->symmetric) status = finish(&b, &open_b, &f->zero, rng, err);
    *one = a;
    *zero = f->symmetric ? a : b;
    return status;
}

static inline __attribute__((always_inline)) tamis_status flip_all(uint64_t *words, size_t count, const tmi_flips *f,
                                                                   tamis_rng *rng, tamis_error *err)
{
    for (size_t i = 0; i < count; i += WORDS) {
        size_t size = (count - i < WORDS ? count - i : WORDS) * sizeof *words;
        flip_lanes bits = {0}, one = {0}, zero = {0};
        if (f->dyadic) {
            if (!dyadic_lies(&one, &zero, f, rng)) return tmi_bits_failed(err);
        } else {
            tamis_status status = other_lies(&one, &zero, f, rng, err);
            if (status != TAMIS_OK) return status;
        }
        memcpy(&bits, words + i, size);
        bits ^= (bits & one) | (~bits & zero);
        memcpy(words + i, &bits, size);
    }
    return TAMIS_OK;
}

/* The same source compiled for two kinds of processor. */
static tamis_status flip_plain(uint64_t *words, size_t count, const tmi_flips *f, tamis_rng *rng, tamis_error *err)
{
    return flip_all(words, count, f, rng, err);
}

#if defined(__x86_64__)
static __attribute__((target("avx2"))) tamis_status flip_avx2(uint64_t *words, size_t count, const tmi_flips *f, tamis_rng *rng,
                                                              tamis_error *err)
{
    return flip_all(words, count, f, rng, err);
}

static bool can_use_vectors(void) { return __builtin_cpu_supports("avx2") != 0; }
#else
#define flip_avx2 flip_plain
static bool can_use_vectors(void) { return false; }
#endif

tamis_status tmi_flip(uint64_t *words, size_t count, const tmi_flips *flips, tamis_rng *rng, tamis_error *err)
{
    tamis_status status = flips->vectors ? flip_avx2(words, count, flips, rng, err) : flip_plain(words, count, flips, rng, err);
    tmi_bits_done(rng);
    if (status != TAMIS_OK && count > 0) tmi_wipe(words, count * sizeof *words);
    return status;
}

bool tmi_flips_use_vectors(tmi_flips *flips, bool vectors)
{
    flips->vectors = vectors && can_use_vectors();
    return flips->vectors == vectors;
}

/* The j for which 2^j p is an odd integer; above TMI_FLIP_DYADIC if there is none up to that. */
static tamis_status binary_digits(unsigned *j, const tamis_number *p, tamis_error *err)
{
    tamis_number *x = NULL, *twice;
    tamis_status status = tmi_number_copy(&x, p, err);
    for (*j = 0; status == TAMIS_OK && *j <= TMI_FLIP_DYADIC && !tmi_number_is_integer(x); ++*j) {
        status = tmi_number_add(&twice, x, x, err);
        if (status != TAMIS_OK) break;
        tamis_number_free(x);
        x = twice;
    }
    tamis_number_free(x);
    return status;
}

tamis_status tmi_flips_init(tmi_flips *flips, const tamis_number *one, const tamis_number *zero, tamis_error *err)
{
    unsigned j_one, j_zero;
    tamis_status status;
    memset(flips, 0, sizeof *flips);
    TMI_TRY(tmi_coin_init(&flips->one, &(tmi_digit_source){TMI_DIGITS_RATIONAL, one, 0}, err));
    TMI_TRY(tmi_coin_init(&flips->zero, &(tmi_digit_source){TMI_DIGITS_RATIONAL, zero, 0}, err));
    TMI_TRY(binary_digits(&j_one, one, err));
    TMI_TRY(binary_digits(&j_zero, zero, err));
    flips->symmetric = tmi_number_compare(one, zero) == 0;
    flips->dyadic = j_one > j_zero ? j_one : j_zero;
    if (flips->dyadic > TMI_FLIP_DYADIC) flips->dyadic = 0;
    tmi_flips_use_vectors(flips, true);
done:
    return status;
}
