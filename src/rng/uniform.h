/* A uniform integer below n >= 1, for use inside other draws (no wiping at the end). False if the bits failed. */
#ifndef TMI_RNG_UNIFORM_H
#define TMI_RNG_UNIFORM_H

#include "rng/bits.h"

bool tmi_uniform(uint64_t *value, uint64_t n, tamis_rng *rng);

/* The same for integers of several words, the least significant one first; value and n are different places. */
bool tmi_uniform_wide(uint64_t *value, const uint64_t *n, size_t words, tamis_rng *rng);

#endif
