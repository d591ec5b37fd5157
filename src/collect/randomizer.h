/* Lies, as the rest of the room uses them. */
#ifndef TMI_COLLECT_RANDOMIZER_H
#define TMI_COLLECT_RANDOMIZER_H

#include <tamis/randomize.h>

#include "rng/flips.h"

struct tamis_randomizer {
    tamis_number *lie, *lie_zero;
    tmi_flips flips; /* points to them */
};

#endif
