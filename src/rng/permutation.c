/* A random order (Fisher and Yates, in Durstenfeld's form).
 *
 * Why exact. Place i receives one of the elements 0..i, each equally likely and independent of the draws before, so
 * each of the n! sequences of draws is equally likely, and different sequences give different orders. */
#include <string.h>

#include "base/memory.h"
#include "rng/uniform.h"

tamis_status tamis_permutation(uint64_t *order, size_t n, tamis_rng *rng, tamis_error *err)
{
    bool ok = true;
    if (n > PTRDIFF_MAX / sizeof *order) return tmi_fail(err, TAMIS_INVALID, "n: too large for memory");
    if (!order && n > 0) return tmi_fail(err, TAMIS_INVALID, "order: NULL");
    if (n > 0) memset(order, 0, n * sizeof *order);
    if (!rng) return tmi_fail(err, TAMIS_INVALID, "rng: NULL");
    for (size_t i = 0; i < n && ok; i++) {
        uint64_t j;
        ok = tmi_uniform(&j, i + 1, rng);
        order[i] = order[j];
        order[j] = i;
    }
    tmi_bits_done(rng);
    if (!ok) tmi_wipe(order, n * sizeof *order);
    return ok ? TAMIS_OK : tmi_bits_failed(err);
}
