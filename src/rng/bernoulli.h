/* A coin with an exact probability. */
#ifndef TMI_RNG_BERNOULLI_H
#define TMI_RNG_BERNOULLI_H

#include "num/digits.h"
#include "rng/bits.h"

/* Binary digits kept at hand; the next ones are asked of num/. */
#define TMI_COIN_WORDS 2

typedef struct tmi_rng_coin {
    tmi_digit_source p;              /* its number is borrowed */
    int certain;                     /* 0: p is 0, 1: p is 1, -1: neither */
    uint64_t digits[TMI_COIN_WORDS]; /* the first digits of p after the point, the first one in the top bit */
} tmi_rng_coin;

tamis_status tmi_coin_init(tmi_rng_coin *coin, const tmi_digit_source *p, tamis_error *err);

/* Tosses a coin whose first 8 * `tied` random digits are known to equal those of p: tied = 0 is a fresh toss. */
tamis_status tmi_coin_toss(bool *yes, const tmi_rng_coin *coin, uint64_t tied, tamis_rng *rng, tamis_error *err);

#endif
