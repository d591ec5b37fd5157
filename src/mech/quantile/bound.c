#include "mech/quantile/bound.h"

#include "base/memory.h"

tamis_status tmi_bound_choose(size_t *candidate, const tmi_int128 *above, size_t count, int64_t worth, const tamis_number *rate,
                              tmi_uniform_bits *u, tamis_rng *rng, tamis_error *err)
{
    static const tmi_base_measure uniform = {0};
    tmi_score_blocks blocks = {tmi_alloc(count, sizeof *blocks.list), count};
    int64_t point = 0;
    bool beyond = false;
    tamis_status status = TAMIS_OK;
    *candidate = count - 1;
    if (!blocks.list) return tmi_fail_memory(err);
    for (size_t j = 0; j < count; j++)
        blocks.list[j] = (tmi_score_block){.first = (int64_t)j, .count = 1, .loss = above[j] + (tmi_int128)worth * (int64_t)j};
    status = tmi_score_blocks_find(&point, &beyond, &blocks, &uniform, rate, u, rng, err);
    if (status == TAMIS_OK) *candidate = (size_t)point;
    tmi_score_blocks_clear(&blocks);
    return status;
}
