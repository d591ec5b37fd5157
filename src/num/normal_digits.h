/* A normal number from its random digits, and the integer that it is rounded to, certainly correct. */
#ifndef TMI_NUM_NORMAL_DIGITS_H
#define TMI_NUM_NORMAL_DIGITS_H

#include <stdbool.h>

#include "base/error.h"
#include "num/number.h"

/* A candidate (k + x) / 32 for the magnitude of a standard normal number, 0 <= x < 1, and the coin U that keeps it if
 * U < exp(-x (2 k + x) / 2048). Of both the first 64 * count digits are known, the first one in the top bit of word 0. */
typedef struct tmi_normal_digits {
    size_t k;
    const uint64_t *x, *coin;
    size_t count;
} tmi_normal_digits;

/* What all candidates with these digits have in common: *decided is false if they differ, and one more word of each is needed.
 * Else *keep, and, for one that is kept, *whole = scale (k + x) / 32 rounded to the nearest integer; INT64_MAX if that is
 * beyond all 64-bit integers. Further words decide with probability 1: a half-integer and a tie of the coin have probability 0.
 *
 * Needs    scale > 0, count >= 1.                                                                                         */
void tmi_normal_find(bool *decided, bool *keep, int64_t *whole, const tmi_normal_digits *digits, const tamis_number *scale);

#endif
