#include "base/memory.h"
#include "mech/quantile/inverse.h"

void tmi_score_blocks_clear(tmi_score_blocks *blocks)
{
    if (blocks->list) tmi_wipe(blocks->list, blocks->count * sizeof *blocks->list);
    tmi_free(blocks->list);
    *blocks = (tmi_score_blocks){0};
}

static tmi_int128 larger(tmi_int128 x, tmi_int128 y) { return x > y ? x : y; }

/* The distance of a point with this weight below it and up to it. */
static tmi_int128 loss_of(tmi_int128 below, tmi_int128 up_to, tmi_int128 target, int64_t d)
{
    return larger(0, larger(d * below - target, target - d * up_to));
}

/* Points first ... end - 1; none is fine. */
static void add(tmi_score_blocks *blocks, int64_t first, int64_t end, tmi_int128 loss, bool beyond)
{
    if (first < end) blocks->list[blocks->count++] = (tmi_score_block){first, end - first, loss, beyond};
}

tamis_status tmi_score_blocks_make(tmi_score_blocks *blocks, const tmi_rank_window *w, int64_t low, int64_t high, int64_t p,
                                   int64_t d, tamis_error *err)
{
    const tmi_int128 target = (tmi_int128)p * w->total;
    tmi_int128 below = w->below;
    int64_t next = w->first;
    *blocks = (tmi_score_blocks){.list = tmi_alloc(2 * w->count + 3, sizeof *blocks->list)};
    if (!blocks->list) return tmi_fail_memory(err);
    add(blocks, low, w->first, loss_of(below, below, target, d), below > 0);
    for (size_t i = 0; i < w->count; i++) {
        const tmi_int128 up_to = below + w->weights[i];
        add(blocks, next, w->points[i], loss_of(below, below, target, d), false);
        add(blocks, w->points[i], w->points[i] + 1, loss_of(below, up_to, target, d), false);
        below = up_to;
        next = w->points[i] + 1;
    }
    add(blocks, next, w->last + 1, loss_of(below, below, target, d), false);
    add(blocks, w->last + 1, high + 1, loss_of(below, below, target, d), below < w->total);
    return TAMIS_OK;
}
