#include "base/memory.h"
#include "mech/quantile/several.h"
#include "mech/quantile/split.h"

#include <string.h>

int64_t tmi_places(const tmi_grid *grid)
{
    int64_t places = INT64_C(1) << TMI_PLACE_BITS;
    while (places > 1 && (grid->high - grid->low + 1) > (INT64_C(1) << 52) / places) places /= 2;
    return places;
}

void tmi_keys_clear(tmi_keys *k)
{
    if (k->keys) tmi_wipe(k->keys, k->room * sizeof *k->keys);
    if (k->weights) tmi_wipe(k->weights, k->room * sizeof *k->weights);
    tmi_free(k->keys);
    tmi_free(k->weights);
    *k = (tmi_keys){0};
}

/* A place for each record, two bytes each, whatever the record is. */
static tamis_status draw_places(int64_t *keys, size_t count, int64_t places, tamis_rng *rng, tamis_error *err)
{
    for (size_t i = 0; i < count;) {
        const size_t n = count - i < TMI_TAKE / 2 ? count - i : TMI_TAKE / 2;
        const uint8_t *bytes = tmi_bits_take(rng, 2 * n);
        if (!bytes) return tmi_bits_failed(err);
        for (size_t j = 0; j < n; j++, i++) keys[i] = (int64_t)(bytes[2 * j] | bytes[2 * j + 1] << 8) & (places - 1);
        tmi_bits_done(rng);
    }
    return TAMIS_OK;
}

tamis_status tmi_keys_begin(tmi_keys *k, const tmi_records *r, tamis_error *err)
{
    const int64_t places = tmi_places(r->grid);
    *k = (tmi_keys){.places = places, .end = (r->grid->high - r->grid->low + 1) * places, .room = r->count};
    if (r->count > (size_t)(TMI_WEIGHT_SUM / r->most_weight))
        return tmi_fail(err, TAMIS_INVALID, "there are more records than weights of this size can be added up for");
    k->keys = tmi_alloc(r->count, sizeof *k->keys);
    if (r->weights) k->weights = tmi_alloc(r->count, sizeof *k->weights);
    if (k->keys && (!r->weights || k->weights)) return TAMIS_OK;
    tmi_keys_clear(k);
    return tmi_fail_memory(err);
}

tamis_status tmi_keys_read(tmi_keys *k, const tmi_records *r, tamis_error *err)
{
    const int64_t places = k->places;
    for (size_t i = 0; i < r->count; i++) {
        int64_t point = TMI_MISSING_POINT;
        if (r->points) point = tmi_clamped_point(r->points[i], r->grid);
        else if (!tmi_grid_point(&point, r->grid, r->values[i])) point = TMI_MISSING_POINT;
        const int64_t place = k->keys[i];
        k->keys[k->count] = point == TMI_MISSING_POINT ? 0 : (point - r->grid->low) * places + place;
        if (k->weights) k->weights[k->count] = tmi_clamped_weight(r->weights[i], r->most_weight);
        k->count += point != TMI_MISSING_POINT;
    }
    if (tmi_sort_points(k->keys, k->weights, k->count)) return TAMIS_OK;
    tmi_keys_clear(k);
    return tmi_fail_memory(err);
}

tamis_status tmi_keys_make(tmi_keys *k, const tmi_records *r, tamis_rng *rng, tamis_error *err)
{
    tamis_status status;
    TMI_TRY(tmi_keys_begin(k, r, err));
    TMI_TRY(draw_places(k->keys, r->count, k->places, rng, err));
    TMI_TRY(tmi_keys_read(k, r, err));
done:
    if (status != TAMIS_OK) tmi_keys_clear(k);
    return status;
}
