/* What is asked for quantile tasks: value, weight, groups and condition of their records. */
#include "measure/request/request.h"

void tmi_query_add_lists(tmi_query *a, const tmi_schedule *s)
{
    for (size_t i = 0; i < s->quantile_task_count; i++) {
        const tmi_quantile_task *c = &s->quantile_tasks[i];
        const tmi_plan_statistic *t = &s->plan->statistics[c->statistic];
        const tmi_column **by = a->lists_by + i * TMI_MAX_BY;
        for (size_t k = 0; k < t->by_count; k++) by[k] = tmi_columns_take_complete(&a->columns, t->by[k]);
        a->lists[i] = (tmi_points_request){.value = tmi_columns_take(&a->columns, t->column),
                                           .weight = c->max_weight > 0 ? a->weight : NULL,
                                           .max_weight = c->max_weight,
                                           .by = by,
                                           .by_count = t->by_count,
                                           .where = tmi_columns_take(&a->columns, t->where),
                                           .unit = a->unit,
                                           .rows_per_unit = c->rows_per_unit,
                                           .key = a->key};
    }
}
