/* The columns of contributions: weight times value, put on the grid of contributions and clamped, row by row. */
#include "measure/request/contributions.h"

#include "base/memory.h"
#include "measure/contributions.h"

tamis_status tmi_asked_contributions_make(tmi_asked_contributions *c, const tmi_schedule *s, tamis_error *err)
{
    const tmi_workload *w = &s->workload;
    const size_t units = s->frame.count;
    *c = (tmi_asked_contributions){0};
    for (size_t axis = 0; axis < w->axis_count; axis++) c->count += w->origins[axis].contributed;
    if (c->count == 0) return TAMIS_OK;
    c->factors = tmi_alloc(c->count, (units + 1) * sizeof *c->factors);
    c->grids = tmi_alloc(c->count, (units + 1) * sizeof *c->grids);
    c->part_of = tmi_alloc(units, sizeof *c->part_of);
    if (c->factors && c->grids && c->part_of) return TAMIS_OK;
    tmi_asked_contributions_clear(c);
    return tmi_fail_memory(err);
}

void tmi_asked_contributions_clear(tmi_asked_contributions *c)
{
    tmi_free(c->factors);
    tmi_free(c->grids);
    tmi_free(c->part_of);
    *c = (tmi_asked_contributions){0};
}

const tmi_column *tmi_asked_part(tmi_asked_contributions *c, tmi_columns *columns, const tmi_schedule *s, const tmi_column *unit)
{
    if (s->sampling.parts < 2) return NULL;
    for (size_t i = 0; i < s->frame.count; i++) c->part_of[i] = tmi_is_certain(s, i) ? 1 : 0;
    return tmi_columns_add(
        columns,
        &(tmi_column){.name = "certain in the frame", .kind = TMI_CLASSES, .of = unit, .classes = c->part_of, .value_count = 2});
}

const tmi_column *tmi_asked_contribution(tmi_asked_contributions *c, tmi_columns *columns, const tmi_schedule *s, size_t axis,
                                         const tmi_column *weight, const tmi_column *unit)
{
    const tmi_origin *o = &s->workload.origins[axis];
    const tmi_column *value = tmi_columns_take(columns, o->number);
    const size_t units = s->frame.count, first = c->used++ * units;
    if (o->number->times) {
        tmi_column bounded = *value;
        for (size_t i = 0; i < units; i++) c->grids[first + i] = tmi_unit_grid(&s->frame, o->number, i);
        bounded.by = unit;
        bounded.grids = c->grids + first;
        value = tmi_columns_add(columns, &bounded);
    }
    if (s->sampling.from_frame) {
        for (size_t i = 0; i < units; i++) c->factors[first + i] = tmi_contribution_factor(s, o, i);
        weight = tmi_columns_add(columns, &(tmi_column){.name = "weight in the frame, in contributions",
                                                        .kind = TMI_LOOKUP,
                                                        .of = unit,
                                                        .numbers = c->factors + first});
    }
    return tmi_columns_add(columns, &(tmi_column){.name = "contribution",
                                                  .kind = TMI_PRODUCT,
                                                  .of = weight,
                                                  .second = value,
                                                  .shift = o->shift,
                                                  .grid = o->grids[0],
                                                  .has_instead = true});
}
