/* Random bits, as the samplers see them: take n bytes, use them, say when a draw is over.
 *
 * These four functions and tamis_rng_new/_free are the whole door. door.c fills it from the operating system; the tests
 * link tests/rng/scripted_bits.c instead, which hands out the bits of a script. No other file of the library can make a
 * random bit.                                                                                                        */
#ifndef TMI_RNG_BITS_H
#define TMI_RNG_BITS_H

#include <stdbool.h>
#include <stdint.h>
#include <tamis/experimental/rng.h>

#include "base/error.h"

/* The most bytes that one take may ask for. */
#define TMI_TAKE 4096

/* Bytes at hand. The real door keeps this and the bytes themselves in pages that a forked child finds zeroed: nothing
 * at hand, so that the child's first take keys it anew. */
typedef struct tmi_bits {
    uint8_t *next, *end; /* next <= end; both NULL: nothing at hand, not keyed */
} tmi_bits;

struct tamis_rng {
    tmi_bits *bits;
    struct tmi_door *door; /* known to the door alone */
};

/* Makes at least n <= TMI_TAKE bytes available; false if that failed, now or earlier: a generator that failed once
 * never gives another bit. */
bool tmi_bits_refill(tamis_rng *rng, size_t n);

/* n fresh bytes, valid until the next take; NULL on failure. */
static inline const uint8_t *tmi_bits_take(tamis_rng *rng, size_t n)
{
    tmi_bits *bits = rng->bits;
    if ((size_t)(bits->end - bits->next) < n && !tmi_bits_refill(rng, n)) return NULL;
    const uint8_t *bytes = bits->next;
    bits->next += n;
    return bytes;
}

/* Wipes the bytes that were used. Every public function that draws ends with it. */
void tmi_bits_done(tamis_rng *rng);

/* The error to return when a take gave NULL. */
tamis_status tmi_bits_failed(tamis_error *err);

#endif
