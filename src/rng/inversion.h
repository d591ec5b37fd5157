/* Choosing an index by its certified cumulative weights. */
#ifndef TMI_RNG_INVERSION_H
#define TMI_RNG_INVERSION_H

#include "num/digits.h"
#include "rng/bits.h"

#define TMI_GUIDE_BITS 11

typedef struct tmi_inversion {
    tmi_weights weights;                 /* what they point to is borrowed */
    size_t count;                        /* thresholds at hand; there may be more weights */
    uint64_t *low;                       /* low[j] <= 2^64 CDF(j) < low[j] + 2 */
    uint32_t guide[1 << TMI_GUIDE_BITS]; /* by the top bits of U: the first j with U < low[j] is here or later */
} tmi_inversion;

/* Tables for the first `count` >= 1 weights. Cleared by tmi_inversion_clear, also after a failure. */
tamis_status tmi_inversion_init(tmi_inversion *table, const tmi_weights *weights, size_t count, tamis_error *err);
void tmi_inversion_clear(tmi_inversion *table);

/* The index that belongs to U, given its first 64 digits; false if they do not decide, or the index lies beyond the
 * table: then ask tmi_inversion_find. */
static inline bool tmi_inversion_quick(size_t *index, const tmi_inversion *table, uint64_t u)
{
    size_t j = table->guide[u >> (64 - TMI_GUIDE_BITS)];
    while (j < table->count && u >= table->low[j]) j++;
    *index = j;
    return j < table->count && (j == 0 || u - table->low[j - 1] >= 2);
}

/* The same, drawing further digits of U until they decide. */
tamis_status tmi_inversion_find(size_t *index, const tmi_inversion *table, uint64_t u, tamis_rng *rng, tamis_error *err);

/* The next 64 digits. */
static inline uint64_t tmi_load64(const uint8_t *bytes)
{
    uint64_t word;
    __builtin_memcpy(&word, bytes, sizeof word);
    return word;
}

#endif
