/* Writes random bits that make the discrete Laplace sampler draw given values: the sampler run backwards, from the
 * digits of its coins as num/ tells them. */
#ifndef TESTS_RNG_LAPLACE_SCRIPT_H
#define TESTS_RNG_LAPLACE_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tamis/num.h>

/* What one lane is to be: X = g[0] - g[1] + 2^levels (h[0] - h[1]). */
typedef struct wish {
    uint64_t g[2], h[2];
    unsigned tie; /* every coin of this lane ties with its probability for so many digits at least */
} wish;

/* Bytes that grow; the caller frees them. */
typedef struct script {
    uint8_t *bytes;
    size_t size, room;
} script;

#define DIGIT_WORDS 8 /* of each coin: 512 digits */

/* The digits of all coins of a scale: of the bits, then of H > 0. */
typedef struct coin_digits {
    unsigned levels; /* the smallest with 2^levels >= 16 scale */
    uint64_t p[64][DIGIT_WORDS];
} coin_digits;

void find_digits(coin_digits *d, const tamis_number *scale);

/* Marsaglia's xorshift: what is filled in where it must not matter. */
uint64_t random_word(void);

void put(script *s, const void *bytes, size_t n);

/* One coin of each lane: planes, then bytes for those lanes that are still undecided. */
void put_coins(script *s, const uint64_t *p, const bool *yes, const wish *wishes);

/* A whole batch. */
void write_script(script *s, const coin_digits *d, const wish *wishes);

#endif
