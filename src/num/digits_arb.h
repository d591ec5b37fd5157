/* From a ball to digits; for num/ alone. */
#ifndef TMI_NUM_DIGITS_ARB_H
#define TMI_NUM_DIGITS_ARB_H

#include "num/ball_arb.h"
#include "num/digits.h"

/* floor(2^m p) if every p in [0, 1] of the ball has the same one, with 2^m itself written as 2^m - 1. */
bool tmi_digits_floor(fmpz_t floor, const arb_t p, uint64_t m);

/* The last 64 * word_count bits of x >= 0. */
void tmi_digits_words(uint64_t *words, const fmpz_t x, size_t word_count);

/* INVALID unless words is not NULL and the digits exist. */
tamis_status tmi_digits_check(const uint64_t *words, uint64_t first, size_t word_count, tamis_error *err);

#endif
