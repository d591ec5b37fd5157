#include "measure/request/bounds.h"

#include "base/memory.h"
#include "base/secret.h"
#include "measure/request/psu_slots.h"

void tmi_bound_query_clear(tmi_bound_query *q)
{
    tmi_secret_free(q->truth);
    tmi_free(q->answers);
    tmi_free(q->tables);
    tmi_free(q->cuts);
    tmi_free(q->by);
    tmi_columns_clear(&q->columns);
    tmi_wipe(q->key, sizeof q->key);
    *q = (tmi_bound_query){0};
}

/* The bins of the plan's own grid that begin after a candidate; rows above the largest one are clamped to it, and count in the
 * last. A row without a value is in none, whatever it counts as in the tables. */
static void add_table(tmi_bound_query *q, size_t task, const tmi_private_bound *bound, int64_t *cuts)
{
    const tmi_plan_column *c = bound->declared;
    const tmi_column *points = tmi_columns_add(&q->columns, &(tmi_column){.name = c->name,
                                                                          .kind = TMI_NUMBER,
                                                                          .grid = c->grid,
                                                                          .missing_codes = c->missing_codes,
                                                                          .missing_code_count = c->missing_code_count});
    for (int j = 0; j < bound->most; j++) cuts[j] = tmi_bound_point(bound, bound->most - j) + 1;
    q->by[task] = tmi_columns_add(
        &q->columns,
        &(tmi_column){.name = c->name, .kind = TMI_CUTS, .of = points, .cuts = cuts, .value_count = (size_t)bound->most + 1});
    q->tables[task] = (tmi_table){.by = &q->by[task], .by_count = 1, .measures = &q->rows, .measure_count = 1};
}

tamis_status tmi_bound_query_make(tmi_bound_query *q, const tmi_schedule *s, tamis_error *err)
{
    const size_t count = s->bound_task_count;
    tamis_status status;
    *q = (tmi_bound_query){.rows = tmi_rows_with(NULL)};
    TMI_TRY(tmi_columns_make(&q->columns, s->plan, 2 * count, err));
    q->by = tmi_alloc(count, sizeof *q->by);
    q->cuts = tmi_alloc(count * TMI_MAX_HALVINGS, sizeof *q->cuts);
    q->tables = tmi_alloc(count, sizeof *q->tables);
    if (!q->by || !q->cuts || !q->tables) TMI_TRY(tmi_fail_memory(err));
    const tmi_column *unit = tmi_columns_add_label(&q->columns, s->plan->privacy.id);
    for (size_t i = 0; i < count; i++) add_table(q, i, tmi_bound_of_task(s, &s->bound_tasks[i]), q->cuts + i * TMI_MAX_HALVINGS);
    q->request = (tmi_request){q->tables, count, unit, s->plan->privacy.rows_per_unit, q->key};

done:
    return status;
}

tamis_status tmi_bound_query_draw(tmi_bound_query *q, tamis_rng *rng, tamis_error *err)
{
    size_t count = 0;
    for (size_t t = 0; t < q->request.table_count; t++) count += tmi_table_cells(&q->tables[t]);
    if (count == 0) return TAMIS_OK;
    q->answers = tmi_alloc(q->request.table_count, sizeof *q->answers);
    q->truth = tmi_secret_alloc(count, sizeof *q->truth);
    if (!q->answers || !q->truth) return tmi_fail_memory(err);
    tmi_int128 *next = q->truth;
    for (size_t t = 0; t < q->request.table_count; t++) {
        q->answers[t] = next;
        next += tmi_table_cells(&q->tables[t]);
    }
    return q->request.unit ? tmi_draw_key(q->key, rng, err) : TAMIS_OK;
}

void tmi_rows_above_candidates(tmi_int128 *above, const tmi_bound_query *q, size_t task)
{
    const size_t count = tmi_table_cells(&q->tables[task]);
    tmi_int128 sum = 0;
    for (size_t j = count; j-- > 0;) {
        above[j] = sum;
        sum += q->answers[task][j];
    }
}
