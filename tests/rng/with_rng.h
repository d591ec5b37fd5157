/* One generator, on scripted bits, for all tests of a file. */
#ifndef TESTS_RNG_WITH_RNG_H
#define TESTS_RNG_WITH_RNG_H

#include "tests/rng/scripted_bits.h"

static tamis_rng *rng;

static int make_rng(void **state)
{
    (void)state;
    return tamis_rng_new(&rng, NULL) == TAMIS_OK ? 0 : -1;
}

static int free_rng(void **state)
{
    (void)state;
    tamis_rng_free(rng);
    return 0;
}

#endif
