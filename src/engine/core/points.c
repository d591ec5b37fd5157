#include "engine/core/points.h"

#include "base/memory.h"
#include "engine/core/cells.h"

void tmi_point_list_clear(tmi_point_list *list)
{
    if (list->cells) tmi_wipe(list->cells, list->room * sizeof *list->cells);
    if (list->points) tmi_wipe(list->points, list->room * sizeof *list->points);
    if (list->weights) tmi_wipe(list->weights, list->room * sizeof *list->weights);
    if (list->counts) tmi_wipe(list->counts, list->room * sizeof *list->counts);
    tmi_free(list->cells);
    tmi_free(list->points);
    tmi_free(list->weights);
    tmi_free(list->counts);
    *list = (tmi_point_list){0};
}

tamis_status tmi_points_plan_make(tmi_points_plan *plan, const tmi_points_request *request, tamis_error *err)
{
    const tmi_column *const numbers[] = {request->value, request->weight};
    for (size_t i = 0; i < (request->weight ? 2 : 1); i++) {
        tamis_status status = tmi_column_check(numbers[i], err);
        if (status != TAMIS_OK) return status;
        if (!tmi_has_points(numbers[i]))
            return tmi_fail(err, TAMIS_INVALID, "column %s is not a number, as the %s of a list of points must be",
                            numbers[i]->name, i == 0 ? "value" : "weight");
    }
    if (request->weight && (request->max_weight < 1 || request->max_weight >= TMI_MAX_GRID))
        return tmi_fail(err, TAMIS_INVALID, "column %s: the largest weight is not from 1 to 2^52 - 1", request->weight->name);
    *plan = (tmi_points_plan){
        .asked = request,
        .measure = {.factors = {{request->value, 0}, {request->weight, 0}},
                    .factor_count = request->weight ? 2 : 1,
                    .where = request->where,
                    .high = 1},
        .table = {.by = request->by, .by_count = request->by_count, .measure_count = 1},
        .request = {.table_count = 1, .unit = request->unit, .rows_per_unit = request->rows_per_unit, .key = request->key}};
    plan->table.measures = &plan->measure;
    plan->request.tables = &plan->table;
    return TAMIS_OK;
}

/* What every engine rules out. */
static tamis_status check(const tmi_points_request *request, tamis_error *err)
{
    tmi_points_plan plan;
    tamis_status status = tmi_points_plan_make(&plan, request, err);
    return status == TAMIS_OK ? tmi_request_check(&plan.request, err) : status;
}

tamis_status tmi_engine_points_check(tmi_engine *engine, const tmi_points_request *request, const tamis_watch *watch,
                                     tamis_error *err)
{
    tamis_status status = check(request, err);
    if (status != TAMIS_OK) return status;
    if (!engine->points) return tmi_points_from_sums_check(engine, request, watch, err);
    return engine->check_points ? engine->check_points(engine, request, watch, err) : TAMIS_OK;
}

tamis_status tmi_engine_points(tmi_point_list *list, tmi_engine *engine, const tmi_points_request *request,
                               const tamis_watch *watch, tamis_error *err)
{
    *list = (tmi_point_list){0};
    tamis_status status = check(request, err);
    if (status != TAMIS_OK) return status;
    status = engine->points ? engine->points(engine, list, request, watch, err)
                            : tmi_points_from_sums(list, engine, request, watch, err);
    if (status == TAMIS_INVALID) { /* the request was checked: it is the source */
        status = TAMIS_SYSTEM;
        if (err) err->status = status;
    }
    if (status != TAMIS_OK) tmi_point_list_clear(list);
    return status;
}
