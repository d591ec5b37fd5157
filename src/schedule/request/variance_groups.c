#include "schedule/request/variance_groups.h"

#include "base/memory.h"

void tmi_variance_groups_clear(tmi_variance_groups *g)
{
    for (size_t h = 0; g->cell_of && h < g->strata; h++) tmi_free(g->cell_of[h]);
    tmi_free(g->cell_of);
    tmi_free(g->cluster_counts);
    tmi_wipe(g->key, sizeof g->key);
    *g = (tmi_variance_groups){0};
}

tamis_status tmi_variance_groups_make(tmi_variance_groups *g, const tmi_sampling *s, size_t count, tamis_error *err)
{
    *g = (tmi_variance_groups){0};
    if (count == 0) return TAMIS_OK;
    g->groups = count;
    g->scattered = s->scattered;
    g->codes = 2 * count + (s->scattered ? 0 : 1);
    if (g->scattered) return TAMIS_OK;
    g->strata = s->psus ? s->psus->strata : s->stays ? s->strata : 1;
    g->cluster_counts = tmi_alloc(g->strata, sizeof *g->cluster_counts);
    g->cell_of = tmi_alloc(g->strata, sizeof *g->cell_of);
    bool room = g->cluster_counts && g->cell_of;
    for (size_t h = 0; room && h < g->strata; h++) {
        g->cluster_counts[h] = s->psus ? s->psus->clusters[h] : s->stays ? s->design->strata[h].sample : s->design->sample;
        g->cell_of[h] = tmi_alloc((size_t)g->cluster_counts[h], sizeof **g->cell_of);
        room = g->cell_of[h] != NULL;
    }
    if (room) return TAMIS_OK;
    tmi_variance_groups_clear(g);
    return tmi_fail_memory(err);
}

/* Ranks in random order: the first two are a pair, and so on. Pairs take groups in turn, from a random one on. */
static tamis_status draw_stratum(tmi_variance_groups *g, size_t h, size_t *turn, tamis_rng *rng, tamis_error *err)
{
    const size_t count = (size_t)g->cluster_counts[h];
    uint64_t *order = tmi_alloc(count, sizeof *order);
    if (!order) return tmi_fail_memory(err);
    tamis_status status = tamis_permutation(order, count, rng, err);
    for (size_t rank = 0; status == TAMIS_OK && rank < count; rank++) {
        const size_t place = (size_t)order[rank], pair = place / 2;
        const bool left_over = place + 1 == count && count % 2 == 1;
        g->cell_of[h][rank] = (int32_t)(left_over ? 2 * g->groups : 2 * ((*turn + pair) % g->groups) + place % 2);
    }
    *turn += count / 2;
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

tamis_status tmi_variance_groups_draw(tmi_variance_groups *g, tamis_rng *rng, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    size_t turn = 0;
    for (size_t h = 0; h < g->strata; h++) TMI_TRY(draw_stratum(g, h, &turn, rng, err));
    if (g->scattered) TMI_TRY(tmi_draw_key(g->key, rng, err));

done:
    return status;
}
