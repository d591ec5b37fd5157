/* Many fractions as integers over one denominator. Sums, differences and comparisons of such fractions are then those
 * of integers, and a draw with probability a/(a+b) is a uniform integer: exact, and fast for millions of them.       */
#ifndef TMI_NUM_COMMON_H
#define TMI_NUM_COMMON_H

#include "num/ball.h"
#include "num/number.h"
#include "num/wide.h"

/* Words of the common denominator: 10^1000, the smallest decimal that can be written, has 52. */
#define TMI_COMMON_WORDS 64

typedef struct tmi_common {
    size_t count, words;
    uint64_t *numerators;  /* count * words */
    uint64_t *denominator; /* words */
} tmi_common;

static inline const uint64_t *tmi_common_at(const tmi_common *c, size_t i) { return c->numerators + i * c->words; }

/* x[0], ..., x[count-1], which are not NULL and not negative; `words` is such that (count + 1) times the largest of
 * them and of the denominator fits.
 *
 * Errors   SYSTEM (memory); UNABLE if the common denominator is beyond TMI_COMMON_WORDS. c is empty on failure.      */
tamis_status tmi_common_init(tmi_common *c, const tamis_number *const *x, size_t count, tamis_error *err);
void tmi_common_clear(tmi_common *c);

/* Zeros of as many words as hold (count + 1) times any number of `bits` bits. Errors as above. */
tamis_status tmi_common_alloc(tmi_common *c, size_t count, size_t bits, tamis_error *err);

/* x / y, exactly or as a ball; y is not zero. */
tamis_status tmi_number_wide(tamis_number **z, const uint64_t *x, const uint64_t *y, size_t words, tamis_error *err);
void tmi_ball_set_wide(tmi_ball *z, const uint64_t *x, const uint64_t *y, size_t words, long bits);

#endif
