/* Randomized response: flips bits with exact probabilities, many at a time. */
#ifndef TMI_RNG_FLIPS_H
#define TMI_RNG_FLIPS_H

#include "rng/bernoulli.h"

/* Bits that are flipped in parallel. */
#define TMI_FLIP_LANES 256

/* Fractions m / 2^j with j up to this are flipped with exactly j planes of random bits. */
#define TMI_FLIP_DYADIC 32

/* Digits that all lanes compare together for other fractions, before the undecided ones go on alone, by bytes. */
#define TMI_FLIP_PLANES 8

typedef struct tmi_flips {
    tmi_rng_coin one, zero; /* a one is flipped with the first, a zero with the second */
    bool symmetric;         /* they are equal */
    unsigned dyadic;        /* j above; 0: not dyadic, or too long */
    bool vectors;
} tmi_flips;

/* Needs    0 < one < 1, 0 < zero < 1; both numbers are borrowed for the life of the flips. */
tamis_status tmi_flips_init(tmi_flips *flips, const tamis_number *one, const tamis_number *zero, tamis_error *err);

/* With the vector instructions of AVX2 or without them; both give the same flips for the same random bits. False if this
 * processor lacks them. */
bool tmi_flips_use_vectors(tmi_flips *flips, bool vectors);

/* Flips each bit of the words independently. All words are zero on failure, so that no true answers are left in them.
 *
 * The operations, and the random bits that are taken, do not depend on the words. For a dyadic fraction they are always the same
 * ones; for others they depend on the random bits. */
tamis_status tmi_flip(uint64_t *words, size_t count, const tmi_flips *flips, tamis_rng *rng, tamis_error *err);

#endif
