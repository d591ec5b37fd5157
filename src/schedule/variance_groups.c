#include "schedule/variance_groups.h"

#include "base/memory.h"

#define PSEUDO_STRATA (TMI_MAX_VARIANCE_UNITS / 2)

void tmi_variance_groups_clear(tmi_variance_groups *g)
{
    for (size_t h = 0; g->cell_of && h < g->strata; h++) tmi_free(g->cell_of[h]);
    tmi_free(g->cell_of);
    tmi_free(g->cluster_counts);
    tmi_wipe(g->key, sizeof g->key);
    *g = (tmi_variance_groups){0};
}

/* The unit of the j-th cluster of a stratum in random order. */
typedef struct plan {
    size_t first, width; /* its units: first + j % width; width 0: strata are joined, first and first + 1 take turns */
    size_t turn;
} plan;

static size_t unit_of(const plan *p, size_t j) { return p->width > 0 ? p->first + j % p->width : p->first + ((j + p->turn) & 1); }

/* Pseudo-strata of up to 16 strata: one each, the rest where most clusters share one; none with fewer than two clusters. */
static void divide(size_t *slots, const int64_t *clusters, size_t strata)
{
    for (size_t h = 0; h < strata; h++) slots[h] = 1;
    for (size_t given = strata; given < PSEUDO_STRATA; given++) {
        size_t best = strata;
        for (size_t h = 0; h < strata; h++) {
            bool room = clusters[h] >= 2 * (int64_t)(slots[h] + 1);
            if (room && (best == strata || clusters[h] * (int64_t)slots[best] > clusters[best] * (int64_t)slots[h])) best = h;
        }
        if (best == strata) return;
        slots[best]++;
    }
}

static plan plan_of(const tmi_variance_groups *g, const size_t *slots, bool own, size_t h)
{
    plan p = {0};
    if (!own && g->strata > PSEUDO_STRATA) return (plan){.first = 2 * (h % PSEUDO_STRATA), .turn = h / PSEUDO_STRATA};
    for (size_t k = 0; k < h; k++) p.first += own ? (size_t)g->cluster_counts[k] : 2 * slots[k];
    p.width = own ? (size_t)g->cluster_counts[h] : 2 * slots[h];
    return p;
}

typedef struct layout {
    size_t slots[PSEUDO_STRATA];
    bool own;
} layout;

static layout layout_of(const tmi_variance_groups *g)
{
    layout l = {0};
    int64_t all = 0;
    for (size_t h = 0; h < g->strata; h++) all += g->cluster_counts[h];
    l.own = all <= TMI_MAX_VARIANCE_UNITS;
    if (!l.own && g->strata <= PSEUDO_STRATA) divide(l.slots, g->cluster_counts, g->strata);
    return l;
}

static void set_units(tmi_variance_groups *g, const layout *l)
{
    for (size_t h = 0; h < g->strata; h++) {
        plan p = plan_of(g, l->slots, l->own, h);
        for (int64_t j = 0; j < g->cluster_counts[h]; j++) {
            size_t unit = unit_of(&p, (size_t)j);
            g->members[unit]++;
            g->stratum_of[unit] = l->own ? h : unit / 2;
            if (g->stratum_of[unit] + 1 > g->pseudo_strata) g->pseudo_strata = g->stratum_of[unit] + 1;
        }
    }
}

tamis_status tmi_variance_groups_make(tmi_variance_groups *g, const tmi_sampling *s, tamis_error *err)
{
    *g = (tmi_variance_groups){0};
    if (!s->clustered) return TAMIS_OK;
    g->count = s->variance_units;
    g->scattered = s->scattered;
    g->pseudo_strata = g->scattered ? 1 : 0;
    if (g->scattered) return TAMIS_OK;
    g->strata = s->stays ? s->strata : 1;
    g->cluster_counts = tmi_alloc(g->strata, sizeof *g->cluster_counts);
    g->cell_of = tmi_alloc(g->strata, sizeof *g->cell_of);
    bool room = g->cluster_counts && g->cell_of;
    for (size_t h = 0; room && h < g->strata; h++) {
        g->cluster_counts[h] = s->stays ? s->design->strata[h].sample : s->design->sample;
        g->cell_of[h] = tmi_alloc((size_t)g->cluster_counts[h], sizeof **g->cell_of);
        room = g->cell_of[h] != NULL;
    }
    if (!room) {
        tmi_variance_groups_clear(g);
        return tmi_fail_memory(err);
    }
    layout l = layout_of(g);
    set_units(g, &l);
    return TAMIS_OK;
}

/* The units of all ranks of a stratum in random order. */
static tamis_status draw_stratum(int32_t *cell_of, size_t count, const plan *p, tamis_rng *rng, tamis_error *err)
{
    uint64_t *order = tmi_alloc(count, sizeof *order);
    if (!order) return tmi_fail_memory(err);
    tamis_status status = tamis_permutation(order, count, rng, err);
    for (size_t rank = 0; status == TAMIS_OK && rank < count; rank++) cell_of[rank] = (int32_t)unit_of(p, (size_t)order[rank]);
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
    layout l = layout_of(g);
    for (size_t h = 0; h < g->strata; h++) {
        plan p = plan_of(g, l.slots, l.own, h);
        TMI_TRY(draw_stratum(g->cell_of[h], (size_t)g->cluster_counts[h], &p, rng, err));
    }
    if (g->scattered) TMI_TRY(tmi_draw_key(g->key, rng, err));

done:
    return status;
}
