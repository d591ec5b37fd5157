#include "release/bounds.h"

#include "base/memory.h"
#include "base/secret.h"
#include "report/promise.h"

void tmi_bound_search_clear(tmi_bound_search *f)
{
    for (size_t i = 0; f->bits && i < f->count; i++) tmi_uniform_wipe(&f->bits[i]);
    tmi_free(f->bits);
    tamis_rng_free(f->rng);
    tmi_bound_query_clear(&f->query);
    *f = (tmi_bound_search){0};
}

tamis_status tmi_bound_search_make(tmi_bound_search *f, const tmi_schedule *s, tamis_error *err)
{
    *f = (tmi_bound_search){.count = s->bound_task_count};
    if (f->count == 0) return TAMIS_OK;
    f->bits = tmi_alloc(f->count, sizeof *f->bits);
    return f->bits ? tmi_bound_query_make(&f->query, s, err) : tmi_fail_memory(err);
}

tamis_status tmi_bound_search_check(const tmi_bound_search *f, tmi_engine *engine, const tamis_watch *watch, tamis_error *err)
{
    if (f->count == 0) return TAMIS_OK;
    const tamis_status status = tmi_request_check(&f->query.request, err);
    return status == TAMIS_OK && engine->check ? engine->check(engine, &f->query.request, watch, err) : status;
}

tamis_status tmi_bound_search_draw(tmi_bound_search *f, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    if (f->count == 0) return status;
    TMI_TRY(tamis_rng_new(&f->rng, err));
    TMI_TRY(tmi_bound_query_draw(&f->query, f->rng, err));
    for (size_t i = 0; i < f->count; i++) TMI_TRY(tmi_uniform_begin(&f->bits[i], f->rng, err));

done:
    return status;
}

/* ---- with the data ---- */

/* The columns of the request have the grids of the plan, and their names are its own. */
static void ask_for_bounds(tmi_query *query, const tmi_schedule *s)
{
    for (size_t i = 0; i < query->columns.count; i++) {
        tmi_column *column = &query->columns.list[i];
        for (size_t k = 0; column->kind == TMI_NUMBER && k < s->plan->bound_count; k++)
            if (column->name == s->plan->bounds[k].column.name) column->grid = s->plan->bounds[k].column.grid;
    }
}

static tamis_status find(tmi_schedule *s, tmi_bound_search *f, size_t i, tmi_int128 *above, tamis_error *err)
{
    const tmi_bound_task *t = &s->bound_tasks[i];
    const int most = tmi_bound_of_task(s, t)->most;
    size_t candidate;
    tmi_rows_above_candidates(above, &f->query, i);
    const tamis_status status = tmi_bound_choose(&candidate, above, (size_t)most + 1, t->worth, t->rate, &f->bits[i], f->rng,
                                                 err);
    return status == TAMIS_OK ? tmi_schedule_set_bound(s, i, most - (int)candidate, err) : status;
}

tamis_status tmi_bound_search_run(tmi_schedule *s, tmi_query *query, tmi_bound_search *f, tmi_engine *engine,
                                  const tamis_watch *watch, tamis_error *err)
{
    tmi_int128 *above = NULL;
    tamis_status status;
    if (f->count == 0) return TAMIS_OK;
    above = tmi_secret_alloc(TMI_MAX_HALVINGS + 1, sizeof *above);
    if (!above) return tmi_fail_memory(err);
    TMI_TRY(engine->aggregate(engine, f->query.answers, &f->query.request, watch, err));
    for (size_t i = 0; i < f->count; i++) TMI_TRY(find(s, f, i, above, err));
    ask_for_bounds(query, s);

done:
    tmi_secret_free(above);
    return status;
}

/* ---- what was found ---- */

static tamis_status tree_of(tmi_value **tree, const tmi_schedule *s, size_t i, tamis_error *err)
{
    tmi_json_tree made;
    tmi_json_tree_begin(&made, NULL);
    tmi_put_bound_task(&made.out, s, &s->bound_tasks[i]);
    tmi_json_close(&made.out, '}');
    return tmi_json_tree_end(tree, &made, err);
}

/* The halvings that a list says of a task; -1 if it does not say any that there are. */
static int halvings_in(const tmi_value *list, const tmi_value *task, int most)
{
    for (size_t k = 0; k < tmi_value_size(list); k++) {
        const tmi_value *there = tmi_value_at(list, k), *found = tmi_value_field(there, "found", TMI_VALUE_MAP),
                        *halvings = tmi_value_field(found, "halvings", TMI_VALUE_INTEGER);
        if (tmi_value_kind_of(there) != TMI_VALUE_MAP || tmi_value_difference(there, task, "found")) continue;
        const int64_t says = halvings ? tmi_value_integer(halvings) : -1;
        return says >= 0 && says <= most ? (int)says : -1;
    }
    return -1;
}

tamis_status tmi_take_bounds(bool *right, tmi_schedule *s, const tmi_value *list, tamis_error *err)
{
    int *found = tmi_alloc(s->bound_task_count, sizeof *found);
    tmi_value *task = NULL;
    tamis_status status = TAMIS_OK;
    *right = tmi_value_size(list) == s->bound_task_count;
    if (!found) return tmi_fail_memory(err);
    for (size_t i = 0; i < s->bound_task_count; i++) {
        tmi_value_free(task);
        task = NULL;
        TMI_TRY(tree_of(&task, s, i, err));
        found[i] = halvings_in(list, task, tmi_bound_of_task(s, &s->bound_tasks[i])->most);
        *right = *right && found[i] >= 0;
    }
    for (size_t i = 0; *right && i < s->bound_task_count; i++) TMI_TRY(tmi_schedule_set_bound(s, i, found[i], err));

done:
    tmi_value_free(task);
    tmi_free(found);
    return status;
}
