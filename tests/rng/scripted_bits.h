/* The random bits of tests. This door replaces src/rng/generator.c in the test library and stays out of the shipped one.
 *
 * Without further words it gives a stream that is fixed by a seed (AES-256 in counter mode: good enough for any
 * statistic). A test may hand out other bits, also such that end: a generator without bits fails, as the real one
 * does. */
#ifndef TESTS_RNG_SCRIPTED_BITS_H
#define TESTS_RNG_SCRIPTED_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bits from the stream of this seed, from its beginning. */
void bits_from_seed(uint64_t seed);

/* Writes the next n bytes that a sampler takes, or returns false: none are left. */
typedef bool bits_function(void *context, uint8_t *bytes, size_t n);

/* Bits from a function, called for each take. Either call serves all generators, made before or after it. */
void bits_from(bits_function *function, void *context);

/* Bits from these bytes, in turn; then none are left. */
void bits_from_bytes(const void *bytes, size_t n);

/* How many bytes were taken since the last of the calls above (not for a seed). */
size_t bits_taken(void);

#endif
