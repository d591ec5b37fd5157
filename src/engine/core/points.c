#include "engine/core/points.h"

#include "base/memory.h"
#include "engine/core/cells.h"

typedef struct taking {
    tmi_point_list *list;
    const tmi_points_request *request;
} taking;

void tmi_point_list_clear(tmi_point_list *list)
{
    if (list->points) tmi_wipe(list->points, list->room * sizeof *list->points);
    if (list->weights) tmi_wipe(list->weights, list->room * sizeof *list->weights);
    tmi_free(list->points);
    tmi_free(list->weights);
    *list = (tmi_point_list){0};
}

/* Room for `more` records; both lists have the same. */
static tamis_status make_room(tmi_point_list *list, size_t more, bool weighted, tamis_error *err)
{
    if (list->room - list->count >= more) return TAMIS_OK;
    const size_t room = list->room + list->room / 2 + more, old = list->room * sizeof *list->points;
    int64_t *points = tmi_regrow(list->points, old, room, sizeof *points);
    if (!points) return tmi_fail_memory(err);
    list->points = points;
    if (weighted) {
        int64_t *weights = tmi_regrow(list->weights, old, room, sizeof *weights);
        if (!weights) return tmi_fail_memory(err);
        list->weights = weights;
    }
    list->room = room;
    return TAMIS_OK;
}

/* Doubles of a piece become grid points here, inside the engine. */
static tamis_status take(void *context, const tmi_piece *piece, tamis_error *err)
{
    const taking *t = context;
    tmi_point_list *list = t->list;
    const bool weighted = t->request->weight != NULL;
    tamis_status status = make_room(list, piece->rows, weighted, err);
    if (status != TAMIS_OK) return status;
    if (list->count + piece->rows > (size_t)TMI_MAX_ROWS)
        return tmi_fail(err, TAMIS_SYSTEM, "the source has more than 2^40 rows");
    int64_t *points = list->points + list->count, *weights = weighted ? list->weights + list->count : NULL;
    tmi_grid_points(points, piece->columns[0], piece->rows, t->request->value);
    if (weighted) tmi_grid_points(weights, piece->columns[1], piece->rows, t->request->weight);
    size_t kept = 0;
    for (size_t i = 0; i < piece->rows; i++) {
        const bool there = points[i] != TMI_NO_POINT && (!weighted || weights[i] != TMI_NO_POINT);
        points[kept] = points[i];
        if (weighted) weights[kept] = weights[i];
        kept += there;
    }
    list->count += kept;
    return TAMIS_OK;
}

static tamis_status check(const tmi_column *column, bool is_weight, tamis_error *err)
{
    tamis_status status = tmi_column_check(column, err);
    if (status != TAMIS_OK) return status;
    if (column->kind != TMI_NUMBER || column->by || (is_weight && column->grid.low < 0))
        return tmi_fail(err, TAMIS_INVALID, "%s: points need a number with one grid, and weights that are not negative",
                        column->name);
    return TAMIS_OK;
}

tamis_status tmi_engine_points(tmi_point_list *list, tmi_engine *engine, const tmi_points_request *request, tamis_error *err)
{
    const tmi_column *columns[] = {request->value, request->weight};
    taking t = {list, request};
    tamis_error own = {0};
    tamis_status status;
    *list = (tmi_point_list){0};
    TMI_TRY(check(request->value, false, err));
    if (request->weight) TMI_TRY(check(request->weight, true, err));
    status = engine->rows(engine, columns, request->weight ? 2 : 1, take, &t, &own);
    if (status == TAMIS_INVALID) status = tmi_fail(err, TAMIS_SYSTEM, "the source could not be read to its end");
    else if (status != TAMIS_OK) tmi_fail_as(err, &own);
done:
    if (status != TAMIS_OK) tmi_point_list_clear(list);
    return status;
}
