#include "release/quantiles/selection.h"

#include "base/memory.h"
#include "mech/quantile/quantile.h"

void tmi_selection_clear(tmi_selection *c)
{
    for (size_t i = 0; c->mechanisms && i < c->count; i++) tamis_quantile_free(c->mechanisms[i]);
    tmi_free(c->mechanisms);
    tamis_rng_free(c->rng);
    *c = (tmi_selection){0};
}

tamis_status tmi_selection_make(tmi_selection *c, const tmi_schedule *s, tamis_error *err)
{
    size_t groups = 0;
    tamis_status status = TAMIS_OK;
    *c = (tmi_selection){.schedule = s};
    for (size_t i = 0; i < s->quantile_task_count; i++) groups += s->quantile_tasks[i].groups;
    c->mechanisms = tmi_alloc(groups, sizeof *c->mechanisms);
    if (!c->mechanisms) return tmi_fail_memory(err);
    for (size_t i = 0; i < s->quantile_task_count && status == TAMIS_OK; i++) {
        for (size_t g = 0; g < s->quantile_tasks[i].groups && status == TAMIS_OK; g++) {
            const tamis_quantile_setup setup = tmi_quantile_task_setup(&s->quantile_tasks[i], s->plan, g);
            status = tmi_watch_beat(s->watch, err);
            if (status == TAMIS_OK) status = tamis_quantile_new(&c->mechanisms[c->count++], &setup, err);
        }
    }
    return status;
}

tamis_status tmi_selection_check(const tmi_query *a, const tmi_schedule *s, tmi_engine *engine, const tamis_watch *watch,
                                 tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    for (size_t i = 0; i < s->quantile_task_count && status == TAMIS_OK; i++)
        status = tmi_engine_points_check(engine, &a->lists[i], watch, err);
    return status;
}

tamis_status tmi_selection_draw(tmi_selection *c, tamis_error *err)
{
    tamis_status status = c->count > 0 ? tamis_rng_new(&c->rng, err) : TAMIS_OK;
    for (size_t i = 0; i < c->count && status == TAMIS_OK; i++) {
        status = tamis_quantile_prepare(c->mechanisms[i], c->rng, err);
        if (status == TAMIS_OK) status = tmi_watch_beat(c->schedule->watch, err);
    }
    return status;
}

/* ---- with the data ---- */

/* Whether two quantile tasks are about the same records, so that one list serves both. */
static bool same_list(const tmi_points_request *x, const tmi_points_request *y)
{
    if (x->value != y->value || x->weight != y->weight || x->max_weight != y->max_weight || x->where != y->where ||
        x->by_count != y->by_count)
        return false;
    for (size_t k = 0; k < x->by_count; k++)
        if (x->by[k] != y->by[k]) return false;
    return true;
}

/* The groups of one quantile task: entries are in the order of their cells. */
static tamis_status choose(int64_t *answers, tamis_quantile **mechanisms, const tmi_quantile_task *task,
                           const tmi_point_list *list, tmi_selection *c, tamis_error *err)
{
    const size_t each = task->numbers / task->groups;
    size_t from = 0;
    tamis_status status = TAMIS_OK;
    for (size_t g = 0; g < task->groups && status == TAMIS_OK; g++) {
        size_t to = list->cells ? from : list->count;
        while (to < list->count && list->cells && (size_t)list->cells[to] == g) to++;
        const tmi_counted_records entries = {.points = list->points + from,
                                             .weights = task->max_weight > 0 ? list->weights + from : NULL,
                                             .counts = list->counts + from,
                                             .count = to - from};
        status = tmi_quantile_counted(answers + g * each, mechanisms[g], &entries, c->rng, err);
        if (status == TAMIS_OK) status = tmi_watch_beat(c->schedule->watch, err);
        from = to;
    }
    return status;
}

tamis_status tmi_selection_run(int64_t *const *answers, tmi_selection *c, const tmi_query *a, tmi_engine *engine,
                               const tamis_watch *watch, tamis_error *err)
{
    const tmi_schedule *s = c->schedule;
    const tmi_points_request *last = NULL;
    tamis_quantile **mechanisms = c->mechanisms;
    tmi_point_list list = {0};
    tamis_status status = TAMIS_OK;
    for (size_t i = 0; i < s->quantile_task_count; i++) {
        if (!last || !same_list(last, &a->lists[i])) {
            tmi_point_list_clear(&list);
            TMI_TRY(tmi_engine_points(&list, engine, &a->lists[i], watch, err));
            last = &a->lists[i];
        }
        TMI_TRY(choose(answers[i], mechanisms, &s->quantile_tasks[i], &list, c, err));
        mechanisms += s->quantile_tasks[i].groups;
    }

done:
    tmi_point_list_clear(&list);
    return status;
}

/* ---- what was chosen ---- */

void tmi_answers_free(int64_t **answers)
{
    if (answers) tmi_free(answers[0]);
    tmi_free(answers);
}

int64_t **tmi_answers_new(const tmi_schedule *s)
{
    size_t numbers = 0;
    int64_t **answers = tmi_alloc(s->quantile_task_count + 1, sizeof *answers);
    for (size_t i = 0; i < s->quantile_task_count; i++) numbers += s->quantile_tasks[i].numbers;
    if (!answers || s->quantile_task_count == 0) return answers;
    answers[0] = tmi_alloc(numbers, sizeof **answers);
    if (!answers[0]) {
        tmi_free(answers);
        return NULL;
    }
    for (size_t i = 1; i < s->quantile_task_count; i++) answers[i] = answers[i - 1] + s->quantile_tasks[i - 1].numbers;
    return answers;
}
