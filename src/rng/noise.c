#include "rng/noise.h"

#include <string.h>

#include "base/memory.h"

tamis_status tmi_noise_check(const tamis_number *x, const char *name, const char *least, const char *largest, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *low = NULL, *high = NULL;
    if (!x) return tmi_fail(err, TAMIS_INVALID, "%s: NULL", name);
    TMI_TRY(tamis_number_read(&low, least, err));
    TMI_TRY(tamis_number_read(&high, largest, err));
    if (tmi_number_compare(x, low) < 0 || tmi_number_compare(x, high) > 0)
        status = tmi_fail(err, TAMIS_INVALID, "%s: from %s to %s is offered", name, least, largest);
done:
    tmi_number_frees(&low, &high, NULL);
    return status;
}

tamis_status tamis_noise_draw(int64_t *out, size_t count, const tamis_noise *noise, tamis_rng *rng, tamis_error *err)
{
    if (count > PTRDIFF_MAX / sizeof *out) return tmi_fail(err, TAMIS_INVALID, "count: too large for memory");
    if (!out && count > 0) return tmi_fail(err, TAMIS_INVALID, "out: NULL");
    if (count > 0) memset(out, 0, count * sizeof *out);
    if (!noise) return tmi_fail(err, TAMIS_INVALID, "noise: NULL");
    if (!rng) return tmi_fail(err, TAMIS_INVALID, "rng: NULL");
    tamis_status status = noise->draw(out, count, noise, rng, err);
    tmi_bits_done(rng);
    if (status != TAMIS_OK && count > 0) tmi_wipe(out, count * sizeof *out);
    return status;
}

void tamis_noise_free(tamis_noise *noise)
{
    if (!noise) return;
    noise->clear(noise);
    tmi_free(noise);
}

tmi_int128 tmi_add_noise(tmi_int128 truth, int64_t noise, int64_t limit)
{
    const tmi_int128 bound = (tmi_int128)TAMIS_NOISE_MAX - limit;
    tmi_int128 inside = truth > bound ? bound : truth < -bound ? -bound : truth, sum = inside + noise;
    return sum > limit ? limit : sum < -limit ? -limit : sum;
}
