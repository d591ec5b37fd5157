/* Which columns of the source a plan reads, and as what. */
#include <string.h>

#include "base/memory.h"
#include "base/value/json.h"
#include "plan/plan.h"

typedef struct use {
    const char *name, *as;
} use;

typedef struct uses {
    use *list;
    size_t count, room;
    bool no_memory;
} uses;

static void add(uses *u, const char *name, const char *as)
{
    if (!name) return;
    for (size_t i = 0; i < u->count; i++)
        if (strcmp(u->list[i].name, name) == 0 && strcmp(u->list[i].as, as) == 0) return;
    if (!tmi_grow(&u->list, &u->room, u->count, sizeof *u->list)) u->no_memory = true;
    else u->list[u->count++] = (use){name, as};
}

/* Columns that are made from others read these. */
static void add_column(uses *u, const tmi_plan_column *column)
{
    if (!column) return;
    if (column->joint) {
        add_column(u, column->joint_of);
        add_column(u, column->joint_with);
        return;
    }
    if (column->cut_of || column->recode_of) add_column(u, column->cut_of ? column->cut_of : column->recode_of);
    for (size_t i = 0; i < column->condition_count; i++) add_column(u, column->conditions[i].column);
    if (!column->cut_of && !column->recode_of && column->condition_count == 0)
        add(u, column->name, column->is_number ? "number" : "category");
}

static void add_design(uses *u, const tamis_plan *plan)
{
    const tmi_plan_design *d = &plan->design;
    for (size_t k = 0; k < d->part_count; k++) add(u, d->parts[k]->name, "stratum");
    if (d->by && d->part_count == 0) add(u, d->by->name, "stratum");
    add(u, d->strata_label, "stratum");
    add(u, d->cluster, "cluster");
    add(u, plan->privacy.id, "id");
    add(u, d->weight, "weight");
    if (!d->frame) add(u, d->probability, "probability");
    add(u, d->second_population, "size");
    add(u, d->second_sample, "size");
}

tamis_status tamis_plan_columns_json(char **json, const tamis_plan *plan, tamis_error *err)
{
    if (!json) return tmi_fail(err, TAMIS_INVALID, "json: NULL");
    *json = NULL;
    if (!plan) return tmi_fail(err, TAMIS_INVALID, "plan: NULL");
    uses u = {0};
    add_design(&u, plan);
    for (size_t i = 0; i < plan->statistic_count; i++) {
        const tmi_plan_statistic *s = &plan->statistics[i];
        if (tmi_is_of_curve(plan, i)) continue;
        add_column(&u, s->column);
        add_column(&u, s->second);
        add_column(&u, s->where);
        for (size_t k = 0; k < s->by_count; k++) add_column(&u, s->by[k]);
        for (size_t k = 0; s->model && k < s->model->on_count; k++) add_column(&u, s->model->on[k]);
    }
    for (size_t i = 0; i < plan->control_count; i++) {
        add_column(&u, plan->controls[i].column);
        for (size_t k = 0; k < plan->controls[i].by_count; k++) add_column(&u, plan->controls[i].by[k]);
    }
    tmi_text text;
    tmi_json_out out;
    tmi_text_init(&text);
    tmi_json_out_init(&out, &text, false);
    tmi_json_open(&out, '[');
    for (size_t i = 0; i < u.count; i++) {
        tmi_json_open(&out, '{');
        tmi_json_add_string(&out, "name", u.list[i].name);
        tmi_json_add_string(&out, "as", u.list[i].as);
        tmi_json_close(&out, '}');
    }
    tmi_json_close(&out, ']');
    if (u.no_memory) text.failed = true;
    tmi_free(u.list);
    return tmi_text_take(json, &text, err);
}
