#include "measure/request/psu_slots.h"

#include "base/memory.h"

void tmi_psu_slots_clear(tmi_psu_slots *p)
{
    for (size_t h = 0; p->cell_of && h < p->strata; h++) tmi_free(p->cell_of[h]);
    tmi_free(p->cell_of);
    tmi_wipe(p->key, sizeof p->key);
    *p = (tmi_psu_slots){0};
}

tamis_status tmi_psu_slots_make(tmi_psu_slots *p, const tmi_psu_places *places, tamis_error *err)
{
    *p = (tmi_psu_slots){.places = places};
    if (places->layout.count == 0) return TAMIS_OK;
    p->codes = (size_t)places->layout.slots + (places->hashed ? 0 : 1);
    if (places->hashed) return TAMIS_OK;
    p->strata = places->strata;
    p->cell_of = tmi_alloc(p->strata, sizeof *p->cell_of);
    bool room = p->cell_of != NULL;
    for (size_t h = 0; room && h < p->strata; h++) {
        p->cell_of[h] = tmi_alloc((size_t)places->psus[h], sizeof **p->cell_of);
        room = p->cell_of[h] != NULL;
    }
    if (room) return TAMIS_OK;
    tmi_psu_slots_clear(p);
    return tmi_fail_memory(err);
}

/* Ranks in random order take the stratum's places one after the other, and places take its slots in turn. */
static tamis_status draw_stratum(tmi_psu_slots *p, size_t h, tamis_rng *rng, tamis_error *err)
{
    const tmi_psu_places *places = p->places;
    const size_t count = (size_t)places->psus[h], into = places->into[h];
    const tmi_psu_layout *l = &places->layout;
    int64_t before = 0;
    uint64_t *order = tmi_alloc(count, sizeof *order);
    if (!order) return tmi_fail_memory(err);
    for (size_t k = 0; into != SIZE_MAX && k < into; k++) before += l->strata[k].slots;
    tamis_status status = tamis_permutation(order, count, rng, err);
    for (size_t rank = 0; status == TAMIS_OK && rank < count; rank++)
        p->cell_of[h][rank] = (int32_t)(into == SIZE_MAX
                                            ? l->slots
                                            : before + (places->first[h] + (int64_t)order[rank]) % l->strata[into].slots);
    tmi_wipe(order, count * sizeof *order);
    tmi_free(order);
    return status;
}

tamis_status tmi_draw_key(unsigned char key[TMI_KEY_BYTES], tamis_rng *rng, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    for (size_t i = 0; i < TMI_KEY_BYTES; i++) {
        uint64_t byte;
        TMI_TRY(tamis_uniform(&byte, 256, rng, err));
        key[i] = (unsigned char)byte;
    }

done:
    return status;
}

tamis_status tmi_psu_slots_draw(tmi_psu_slots *p, tamis_rng *rng, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    for (size_t h = 0; h < p->strata; h++) TMI_TRY(draw_stratum(p, h, rng, err));
    if (p->places && p->places->hashed) TMI_TRY(tmi_draw_key(p->key, rng, err));

done:
    return status;
}
