/* A random order (Fisher and Yates, in Durstenfeld's form).
 *
 * Why exact. Place i receives one of the elements 0..i, each equally likely and independent of the draws before, so
 * each of the n! sequences of draws is equally likely, and different sequences give different orders. */
#include <string.h>

#include "base/memory.h"
#include "rng/uniform.h"

tamis_status tamis_permutation(uint64_t *order, size_t count, tamis_rng *rng, tamis_error *err)
{
    bool ok = true;
    if (count > PTRDIFF_MAX / sizeof *order) return tmi_fail(err, TAMIS_INVALID, "count: too large for memory");
    if (!order && count > 0) return tmi_fail(err, TAMIS_INVALID, "order: NULL");
    if (count > 0) memset(order, 0, count * sizeof *order);
    if (!rng) return tmi_fail(err, TAMIS_INVALID, "rng: NULL");
    for (size_t i = 0; i < count && ok; i++) {
        uint64_t j;
        ok = tmi_uniform(&j, i + 1, rng);
        order[i] = order[j];
        order[j] = i;
    }
    tmi_bits_done(rng);
    if (!ok) tmi_wipe(order, count * sizeof *order);
    return ok ? TAMIS_OK : tmi_bits_failed(err);
}
