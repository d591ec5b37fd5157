#include "measure/request/columns.h"

#include <string.h>

#include "base/memory.h"

tamis_status tmi_columns_make(tmi_columns *c, const tamis_plan *plan, size_t others, tamis_error *err)
{
    size_t room = 2 * plan->column_count + TMI_DESIGN_COLUMNS + others, conditions = 0, grids = 0, values = 0;
    for (size_t i = 0; i < plan->column_count; i++) {
        conditions += plan->columns[i].condition_count;
        if (plan->columns[i].by_stratum) grids += plan->design.stratum_count;
        if (plan->columns[i].value_count > values) values = plan->columns[i].value_count;
    }
    *c = (tmi_columns){.plan = plan};
    c->list = tmi_alloc(room, sizeof *c->list);
    c->origin = tmi_alloc(room, sizeof *c->origin);
    c->files = tmi_alloc(room, sizeof *c->files);
    c->conditions = tmi_alloc(conditions, sizeof *c->conditions);
    c->grids = tmi_alloc(grids, sizeof *c->grids);
    c->same = tmi_alloc(values, sizeof *c->same);
    if (!c->list || !c->origin || !c->files || !c->conditions || !c->grids || !c->same) {
        tmi_columns_clear(c);
        return tmi_fail_memory(err);
    }
    for (size_t v = 0; v < values; v++) c->same[v] = (int32_t)v;
    return TAMIS_OK;
}

void tmi_columns_clear(tmi_columns *c)
{
    tmi_free(c->list);
    tmi_free(c->origin);
    tmi_free(c->files);
    tmi_free(c->conditions);
    tmi_free(c->grids);
    tmi_free(c->same);
    *c = (tmi_columns){0};
}

static bool is_in_file(const tmi_column *column)
{
    return column->kind == TMI_NUMBER || column->kind == TMI_CATEGORY || column->kind == TMI_LABEL;
}

static const tmi_column *put(tmi_columns *c, const tmi_column *column, const tmi_plan_column *origin)
{
    tmi_column *place = &c->list[c->count];
    *place = *column;
    c->origin[c->count++] = origin;
    if (is_in_file(place)) c->files[c->file_count++] = place;
    return place;
}

const tmi_column *tmi_columns_add(tmi_columns *c, const tmi_column *column) { return put(c, column, NULL); }

const tmi_column *tmi_columns_add_label(tmi_columns *c, const char *name)
{
    return name ? put(c, &(tmi_column){.name = name, .kind = TMI_LABEL}, NULL) : NULL;
}

const tmi_column *tmi_columns_take_complete(tmi_columns *c, const tmi_plan_column *column)
{
    const tmi_column *taken = tmi_columns_take(c, column);
    if (taken->kind != TMI_CATEGORY || column->missing != TMI_NEVER) return taken;
    for (size_t i = 0; i < c->count; i++)
        if (c->list[i].kind == TMI_CLASSES && c->list[i].of == taken && c->list[i].classes == c->same) return &c->list[i];
    return put(c,
               &(tmi_column){.name = column->name,
                             .kind = TMI_CLASSES,
                             .of = taken,
                             .classes = c->same,
                             .value_count = taken->value_count,
                             .has_instead = true,
                             .instead = column->instead},
               NULL);
}

static const tmi_column *take_indicator(tmi_columns *c, const tmi_plan_column *column)
{
    tmi_condition *conditions = c->conditions + c->condition_count;
    c->condition_count += column->condition_count;
    for (size_t i = 0; i < column->condition_count; i++) {
        const tmi_plan_condition *p = &column->conditions[i];
        conditions[i] = (tmi_condition){tmi_columns_take_complete(c, p->column), p->least, p->most, p->codes, p->code_count};
    }
    return put(c,
               &(tmi_column){.name = column->name,
                             .kind = TMI_INDICATOR,
                             .conditions = conditions,
                             .condition_count = column->condition_count},
               column);
}

static const tmi_column *take_number(tmi_columns *c, const tmi_plan_column *column)
{
    tmi_column made = {.name = column->name,
                       .kind = TMI_NUMBER,
                       .grid = column->grid,
                       .missing_codes = column->missing_codes,
                       .missing_code_count = column->missing_code_count,
                       .has_instead = column->missing == TMI_AS_VALUE || column->missing == TMI_NEVER,
                       .instead = column->instead};
    if (column->by_stratum) {
        tmi_grid *grids = c->grids + c->grid_count;
        c->grid_count += c->plan->design.stratum_count;
        for (size_t h = 0; h < c->plan->design.stratum_count; h++) grids[h] = column->by_stratum[h].grid;
        made.by = tmi_columns_take(c, c->plan->design.by);
        made.grids = grids;
    }
    return put(c, &made, column);
}

static const tmi_column *take_category(tmi_columns *c, const tmi_plan_column *column)
{
    tmi_column made = {.name = column->name,
                       .kind = TMI_CATEGORY,
                       .values = (const char *const *)column->values,
                       .value_count = column->value_count,
                       .missing_texts = (const char *const *)column->missing_texts,
                       .missing_text_count = column->missing_text_count,
                       .has_instead = column->missing != TMI_LEAVE_OUT,
                       .instead = column->missing == TMI_AS_CATEGORY ? (int64_t)column->value_count - 1 : column->instead};
    return put(c, &made, column);
}

const tmi_column *tmi_columns_take(tmi_columns *c, const tmi_plan_column *column)
{
    if (!column) return NULL;
    for (size_t i = 0; i < c->count; i++) {
        if (c->origin[i] == column) return &c->list[i];
    }
    if (column->conditions) return take_indicator(c, column);
    if (column->is_number) return take_number(c, column);
    if (column->recode_of) {
        const tmi_column made = {.name = column->name,
                                 .kind = TMI_CLASSES,
                                 .of = tmi_columns_take_complete(c, column->recode_of),
                                 .classes = column->recode,
                                 .value_count = column->value_count};
        return put(c, &made, column);
    }
    if (column->joint) {
        const tmi_column made = {.name = column->name,
                                 .kind = TMI_JOINT,
                                 .of = tmi_columns_take(c, column->joint_of),
                                 .second = tmi_columns_take(c, column->joint_with),
                                 .classes = column->joint,
                                 .value_count = column->value_count};
        return put(c, &made, column);
    }
    if (!column->cut_of) return take_category(c, column);
    const tmi_column *of = tmi_columns_take(c, column->cut_of);
    return put(
        c,
        &(tmi_column){.name = column->name, .kind = TMI_CUTS, .of = of, .cuts = column->cuts, .value_count = column->value_count},
        column);
}
