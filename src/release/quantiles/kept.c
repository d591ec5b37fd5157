#include "release/quantiles/kept.h"

#include "base/memory.h"
#include "report/promise.h"

static tamis_status tree_of(tmi_value **tree, const tmi_schedule *s, const tmi_quantile_task *c, tamis_error *err)
{
    tmi_json_tree made;
    tmi_json_tree_begin(&made, NULL);
    tmi_put_quantile_task(&made.out, s, c);
    tmi_json_close(&made.out, '}');
    return tmi_json_tree_end(tree, &made, err);
}

static size_t find(const tmi_value *list, const bool *taken, const tmi_value *wanted)
{
    for (size_t k = 0; k < tmi_value_size(list); k++) {
        const tmi_value *there = tmi_value_at(list, k);
        if (!taken[k] && tmi_value_kind_of(there) == TMI_VALUE_MAP && !tmi_value_difference(there, wanted, "points")) return k;
    }
    return SIZE_MAX;
}

tamis_status tmi_find_quantile_tasks(size_t *places, const tmi_value *list, const tmi_schedule *s, tamis_error *err)
{
    bool *taken = tmi_alloc(tmi_value_size(list), sizeof *taken);
    tamis_status status = TAMIS_OK;
    if (!taken) return tmi_fail_memory(err);
    for (size_t i = 0; i < s->quantile_task_count && status == TAMIS_OK; i++) {
        tmi_value *wanted = NULL;
        status = tree_of(&wanted, s, &s->quantile_tasks[i], err);
        places[i] = status == TAMIS_OK ? find(list, taken, wanted) : SIZE_MAX;
        if (places[i] != SIZE_MAX) taken[places[i]] = true;
        tmi_value_free(wanted);
    }
    tmi_free(taken);
    return status;
}

bool tmi_take_points(int64_t *answers, const tmi_schedule *s, const tmi_quantile_task *c, const tmi_value *kept)
{
    const tmi_value *points = tmi_value_field(kept, "points", TMI_VALUE_LIST);
    const tmi_grid *grid = &s->plan->statistics[c->statistic].column->grid;
    const size_t each = c->numbers / c->groups;
    if (!points || tmi_value_size(points) != c->numbers) return false;
    for (size_t k = 0; k < c->numbers; k++) {
        const tmi_value *point = tmi_value_at(points, k);
        if (tmi_value_kind_of(point) != TMI_VALUE_INTEGER) return false;
        answers[k] = tmi_value_integer(point);
        if (answers[k] < grid->low || answers[k] > grid->high || (k % each > 0 && answers[k] < answers[k - 1])) return false;
    }
    return true;
}
