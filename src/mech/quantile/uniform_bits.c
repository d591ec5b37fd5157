#include "mech/quantile/uniform_bits.h"

#include <string.h>

#include "base/memory.h"

static tamis_status take(tmi_uniform_bits *u, size_t words, tamis_rng *rng, tamis_error *err)
{
    const uint8_t *bytes = tmi_bits_take(rng, words * sizeof *u->words);
    if (!bytes) return tmi_bits_failed(err);
    memcpy(u->words + u->count, bytes, words * sizeof *u->words);
    u->count += words;
    tmi_bits_done(rng);
    return TAMIS_OK;
}

tamis_status tmi_uniform_begin(tmi_uniform_bits *u, tamis_rng *rng, tamis_error *err)
{
    tmi_uniform_wipe(u);
    return take(u, TMI_UNIFORM_FIRST, rng, err);
}

tamis_status tmi_uniform_more(tmi_uniform_bits *u, tamis_rng *rng, tamis_error *err)
{
    if (u->count == TMI_UNIFORM_MOST) return tmi_fail(err, TAMIS_UNABLE, "random bits: thousands of them do not decide");
    if (!rng) return tmi_fail(err, TAMIS_INVALID, "rng: NULL");
    return take(u, 1, rng, err);
}

void tmi_uniform_wipe(tmi_uniform_bits *u) { tmi_wipe(u, sizeof *u); }

void tmi_uniform_ball(tmi_ball *z, const tmi_uniform_bits *u, long bits)
{
    const long digits = 64 * (long)u->count, precision = bits > digits + 64 ? bits : digits + 64; /* the integer is exact */
    tmi_ball end;
    tmi_ball_init(&end);
    tmi_ball_set_int(z, 0);
    for (size_t i = 0; i < 2 * u->count; i++) {
        tmi_ball_shift(z, z, 32);
        tmi_ball_add_int(z, z, (int64_t)(u->words[i / 2] >> (i % 2 ? 0 : 32) & UINT32_MAX), precision);
    }
    tmi_ball_add_int(&end, z, 1, precision);
    tmi_ball_union(z, z, &end, precision);
    tmi_ball_shift(z, z, -digits);
    tmi_ball_clear(&end);
}
