/* The randomizer as the rest of collect/ sees it. */
#ifndef TMI_COLLECT_RANDOMIZER_H
#define TMI_COLLECT_RANDOMIZER_H

#include <tamis/experimental/randomize.h>

#include "rng/flips.h"

struct tamis_randomizer {
    tamis_number *lie, *lie_zero;
    char *lie_text, *lie_zero_text; /* in lowest terms */
    tmi_flips flips;                /* points to the numbers */
};

#endif
