/* Uniform on {0, ..., n-1}.
 *
 * Why exact. Take as many bytes as n - 1 needs, keep as many of their bits as it needs: a uniform integer below the
 * next power of two. If it is below n, every value is equally likely; otherwise forget it and draw again (fewer than
 * two rounds on average). There is no remainder and no multiplication, hence no modulo bias, and for n <= 2^16 a test
 * can feed every possible pair of bytes. */
#include "rng/uniform.h"

#include <string.h>

#include "num/wide.h"

bool tmi_uniform(uint64_t *value, uint64_t n, tamis_rng *rng)
{
    *value = 0;
    if (n <= 1) return true;
    unsigned bits = 64u - (unsigned)__builtin_clzll(n - 1), bytes = (bits + 7) / 8;
    uint64_t mask = UINT64_MAX >> (64 - bits);
    for (;;) {
        const uint8_t *random = tmi_bits_take(rng, bytes);
        if (!random) return false;
        uint64_t x = 0;
        for (unsigned i = 0; i < bytes; i++) x |= (uint64_t)random[i] << (8 * i);
        x &= mask;
        if (x < n) {
            *value = x;
            return true;
        }
    }
}

bool tmi_uniform_wide(uint64_t *value, const uint64_t *n, size_t words, tamis_rng *rng)
{
    size_t top = words;
    while (top > 1 && n[top - 1] == 0) top--;
    memset(value, 0, words * sizeof *value);
    if (top <= 1) return tmi_uniform(value, n[0], rng);
    uint64_t mask = UINT64_MAX >> __builtin_clzll(n[top - 1]);
    do {
        const uint8_t *random = tmi_bits_take(rng, top * sizeof *value);
        if (!random) return false;
        memcpy(value, random, top * sizeof *value);
        value[top - 1] &= mask;
    } while (tmi_wide_compare(value, n, top) >= 0);
    return true;
}

tamis_status tamis_uniform(uint64_t *value, uint64_t n, tamis_rng *rng, tamis_error *err)
{
    if (!value) return tmi_fail(err, TAMIS_INVALID, "value: NULL");
    *value = 0;
    if (n == 0) return tmi_fail(err, TAMIS_INVALID, "n: must be positive");
    if (!rng) return tmi_fail(err, TAMIS_INVALID, "rng: NULL");
    bool ok = tmi_uniform(value, n, rng);
    tmi_bits_done(rng);
    return ok ? TAMIS_OK : tmi_bits_failed(err);
}
