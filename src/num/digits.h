/* Binary digits of probabilities, certainly correct.
 *
 * A sampler compares random bits, most significant first, with the binary digits of a probability p: U < p is decided
 * by the first digit in which they differ. It keeps 64 or 128 digits of p at hand and asks here for more on the rare
 * occasion that all of them tie. Digits come from balls whose precision is raised until floor(2^m p) is the same for
 * every number in the ball, or from exact division; p = 1 is written 0.111...
 *
 * One probability is a tmi_digit_source. A choice among many is a tmi_weights: cumulative shares of weights w_0, w_1,
 * ... that are finitely many or the blocks of a discrete Gaussian.                                                   */
#ifndef TMI_NUM_DIGITS_H
#define TMI_NUM_DIGITS_H

#include <stdbool.h>

#include "num/ball.h"
#include "num/number.h"

typedef enum tmi_digit_kind {
    TMI_DIGITS_RATIONAL, /* p = x,                   0 <= x <= 1 */
    TMI_DIGITS_EXP,      /* p = exp(-x),             x >= 0 */
    TMI_DIGITS_LOGISTIC  /* p = 1/(1 + exp(x 2^i)),  x > 0: bit i of a geometric variable of ratio exp(-x) */
} tmi_digit_kind;

typedef struct tmi_digit_source {
    tmi_digit_kind kind;
    const tamis_number *x; /* borrowed */
    unsigned i;            /* TMI_DIGITS_LOGISTIC, at most TMI_MAX_SHIFT */
} tmi_digit_source;

#define TMI_MAX_SHIFT 1024
#define TMI_MAX_DIGITS (UINT64_C(1) << 21) /* first + 64 words: a number of 256 KiB is the largest that is divided */

/* Digits first, first + 1, ... (the digit of 1/2 is digit 0), 64 a word, the first one in the top bit of words[0].
 *
 * Needs    first + 64 * word_count <= TMI_MAX_DIGITS, x as the kind says.
 * Cost     microseconds for a few words, whatever x is; an x of 10^6 gives its leading zeros as quickly.
 * Errors   INVALID; UNABLE cannot happen: exp of a rational other than 0 is transcendental, so some precision decides.
 *          words are all zero on failure.                                                                            */
tamis_status tmi_digits(uint64_t *words, const tmi_digit_source *p, uint64_t first, size_t word_count, tamis_error *err);

/* INVALID unless `words` is not NULL and the digits exist. */
tamis_status tmi_digits_check(const uint64_t *words, uint64_t first, size_t word_count, tamis_error *err);

/* ---- choice among many ---- */

/* Sets `weight` to an enclosure of w_j >= 0 computed with about `bits` bits; it must narrow as bits grow. */
typedef tamis_status tmi_weight(tmi_ball *weight, const void *context, size_t j, long bits, tamis_error *err);

/* Either (weight != NULL) w_0 ... w_{count-1} from a function; or (weight == NULL) the infinitely many
 * w_k = exp(-(k 2^m)^2 / (2 variance)), k >= 0, w_0 halved if half_zero: with m = 0 and half_zero these are the weights
 * of |X| for a discrete Gaussian X, up to a factor 2 that shares do not see.
 * CDF(j) = (w_0 + ... + w_j) / (sum of all).                                                                         */
typedef struct tmi_weights {
    tmi_weight *weight;
    const void *context;
    size_t count;

    const tamis_number *variance;
    unsigned m;
    bool half_zero;
} tmi_weights;

/* Weights that are summed one by one; a Gaussian needs about sqrt(2 variance bits) / 2^m of them. */
#define TMI_MAX_WEIGHTS ((size_t)1 << 22)

/* All of CDF(0), ..., CDF(count-1) at once: low[j] <= 2^64 CDF(j) < low[j] + 2, and low[j] <= low[j+1]. So for 64
 * random bits U: U < low[j] is certainly below CDF(j), U - low[j] >= 2 (and U > low[j]) certainly above; otherwise
 * draw more bits and ask tmi_weights_find. Needs 1 <= count, and count <= weights->count if they are finitely many. */
tamis_status tmi_weights_table(uint64_t *low, const tmi_weights *weights, size_t count, tamis_error *err);

/* The outcome that belongs to the random number U = 0.words... : the j with CDF(j-1) <= U < CDF(j) whatever the digits
 * of U after the given ones are. *certain is false if those matter (probability about 2^-64 per word and threshold):
 * append a word and ask again.                                                                                       */
tamis_status tmi_weights_find(size_t *j, bool *certain, const tmi_weights *weights, const uint64_t *words, size_t word_count,
                              tamis_error *err);

#endif
