/* A uniform number in [0, 1) of which 128 binary digits are drawn before the data is read, and more only if they are needed. */
#ifndef TMI_MECH_QUANTILE_UNIFORM_BITS_H
#define TMI_MECH_QUANTILE_UNIFORM_BITS_H

#include "num/ball.h"
#include "rng/bits.h"

#define TMI_UNIFORM_FIRST 2 /* words of 64 digits that are drawn at first */
#define TMI_UNIFORM_MOST 64 /* words at most: a further one is needed with probability below 2^-64 each time */

typedef struct tmi_uniform_bits {
    uint64_t words[TMI_UNIFORM_MOST]; /* the first digit is the top bit of words[0] */
    size_t count;                     /* 0: none were drawn */
} tmi_uniform_bits;

/* SYSTEM (no random bits); then none are there. */
tamis_status tmi_uniform_begin(tmi_uniform_bits *u, tamis_rng *rng, tamis_error *err);

/* One word more. INVALID without a generator, SYSTEM, UNABLE beyond TMI_UNIFORM_MOST. */
tamis_status tmi_uniform_more(tmi_uniform_bits *u, tamis_rng *rng, tamis_error *err);

void tmi_uniform_wipe(tmi_uniform_bits *u);

/* All numbers that begin with these digits. */
void tmi_uniform_ball(tmi_ball *z, const tmi_uniform_bits *u, long bits);

#endif
