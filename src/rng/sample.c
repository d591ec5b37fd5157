/* A simple random sample without replacement: n of N units in memory that grows with n alone.
 *
 * Why exact (Floyd's method; Bentley and Floyd, Communications of the ACM 30, 1987). Units N-n, ..., N-1 have their
 * turn; at the turn of j draw t uniform in 0..j and add t to the sample, or j if t is in it already. By induction each
 * set of size j-N+n+1 within 0..j is equally likely after that turn: a set with j arises from its j-N+n other elements
 * and any of these or j itself as t, a set without j from each of its elements drawn last; both have j-N+n+1 ways of
 * equal probability.
 *
 * The set is a hash table of at least twice the size; afterwards its memory serves to sort the sample, byte by byte. */
#include <string.h>

#include "base/memory.h"
#include "rng/uniform.h"

typedef struct set {
    uint64_t *slots; /* unit + 1; 0: empty */
    unsigned bits;   /* 2^bits slots */
} set;

/* False if the unit was there already. */
static bool add(set *s, uint64_t unit)
{
    uint64_t mask = (UINT64_C(1) << s->bits) - 1;
    uint64_t at = unit * UINT64_C(0x9E3779B97F4A7C15) >> (64 - s->bits); /* spreads neighbours (Knuth) */
    for (; s->slots[at]; at = (at + 1) & mask)
        if (s->slots[at] == unit + 1) return false;
    s->slots[at] = unit + 1;
    return true;
}

/* Sorts n values below `limit` from the last byte to the first; `spare` has room for n. */
static void sort(uint64_t *values, uint64_t *spare, size_t n, uint64_t limit)
{
    uint64_t *from = values, *to = spare;
    for (unsigned shift = 0; shift < 64 && (limit - 1) >> shift; shift += 8) {
        size_t start[257] = {0};
        for (size_t i = 0; i < n; i++) start[(from[i] >> shift & 255) + 1]++;
        for (unsigned b = 0; b < 256; b++) start[b + 1] += start[b];
        for (size_t i = 0; i < n; i++) to[start[from[i] >> shift & 255]++] = from[i];
        uint64_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != values) memcpy(values, from, n * sizeof *values);
}

tamis_status tamis_sample(uint64_t *units, uint64_t population, uint64_t sample, tamis_rng *rng, tamis_error *err)
{
    set s = {NULL, 1};
    bool ok = true;
    if (population > (uint64_t)TAMIS_MAX_UNITS) return tmi_fail(err, TAMIS_INVALID, "population: must be at most 2^40");
    if (sample > population) return tmi_fail(err, TAMIS_INVALID, "sample: it is not larger than its population");
    if (!units && sample > 0) return tmi_fail(err, TAMIS_INVALID, "units: NULL");
    if (sample > 0) memset(units, 0, sample * sizeof *units);
    if (!rng) return tmi_fail(err, TAMIS_INVALID, "rng: NULL");
    while (UINT64_C(1) << s.bits < 2 * sample) s.bits++;
    size_t slots = (size_t)1 << s.bits;
    if (!(s.slots = tmi_alloc(slots, sizeof *s.slots))) return tmi_fail_memory(err);
    for (uint64_t i = 0; i < sample && ok; i++) {
        uint64_t last = population - sample + i, unit;
        ok = tmi_uniform(&unit, last + 1, rng);
        if (ok && !add(&s, unit)) {
            unit = last;
            add(&s, unit);
        }
        units[i] = unit;
    }
    if (ok && sample > 0) sort(units, s.slots, sample, population);
    tmi_bits_done(rng);
    tmi_wipe(s.slots, slots * sizeof *s.slots); /* who was sampled may be secret */
    tmi_free(s.slots);
    if (!ok) tmi_wipe(units, sample * sizeof *units);
    return ok ? TAMIS_OK : tmi_bits_failed(err);
}
