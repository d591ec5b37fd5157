/* The points of an engine that only has sums, such as one of the caller's own: the number of rows by cell, point and weight. Each
 * point is a class of its own, cut off from its neighbours, and so is each weight; cuts also clamp weights. The columns that are
 * read come in the same order as in any other request for these points, so the same rows of a unit count. */
#include "base/memory.h"
#include "base/secret.h"
#include "engine/core/cells.h"
#include "engine/core/points.h"

typedef struct histogram {
    int64_t lowest;           /* point */
    tmi_column value, weight; /* cuts */
    int64_t *cuts[2];
    const tmi_column **by;
    tmi_measure rows;
    tmi_table table;
    tmi_request request;
} histogram;

static void clear(histogram *h)
{
    tmi_free(h->cuts[0]);
    tmi_free(h->cuts[1]);
    tmi_free(h->by);
}

/* Classes of the points first, first + 1 ... */
static bool make_cuts(tmi_column *made, int64_t **cuts, const tmi_column *of, int64_t first, size_t count)
{
    if (!(*cuts = tmi_alloc(count, sizeof **cuts))) return false;
    for (size_t i = 0; i + 1 < count; i++) (*cuts)[i] = first + (int64_t)i + 1;
    *made = (tmi_column){.name = of->name, .kind = TMI_CUTS, .of = of, .cuts = *cuts, .value_count = count};
    return true;
}

/* The request was checked. */
static tamis_status make(histogram *h, const tmi_points_request *asked, tamis_error *err)
{
    const tmi_table groups = {.by = asked->by, .by_count = asked->by_count};
    const size_t by_count = asked->by_count + (asked->weight ? 2 : 1);
    int64_t highest;
    *h = (histogram){0};
    tmi_point_range(&h->lowest, &highest, asked->value);
    const uint64_t points = (uint64_t)(highest - h->lowest) + 1, weights = asked->weight ? (uint64_t)asked->max_weight + 1 : 1;
    if ((unsigned __int128)tmi_table_cells(&groups) * points * weights > TMI_MAX_CELLS)
        return tmi_fail(err, TAMIS_REFUSED,
                        "column %s: the caller's engine returns only sums, and groups times grid points%s are more than %lld: "
                        "use fewer groups or a larger step, or another source",
                        asked->value->name, asked->weight ? " times weights" : "", (long long)TMI_MAX_CELLS);
    h->by = tmi_alloc(by_count, sizeof *h->by);
    if (!h->by || !make_cuts(&h->value, &h->cuts[0], asked->value, h->lowest, (size_t)points) ||
        (asked->weight && !make_cuts(&h->weight, &h->cuts[1], asked->weight, 0, (size_t)weights)))
        return tmi_fail_memory(err);
    for (size_t b = 0; b < asked->by_count; b++) h->by[b] = asked->by[b];
    h->by[asked->by_count] = &h->value;
    if (asked->weight) h->by[asked->by_count + 1] = &h->weight;
    h->rows = (tmi_measure){.where = asked->where, .high = 1};
    h->table = (tmi_table){.by = h->by, .by_count = by_count, .measures = &h->rows, .measure_count = 1};
    h->request = (tmi_request){
        .tables = &h->table, .table_count = 1, .unit = asked->unit, .rows_per_unit = asked->rows_per_unit, .key = asked->key};
    return TAMIS_OK;
}

tamis_status tmi_points_from_sums_check(tmi_engine *engine, const tmi_points_request *request, const tamis_watch *watch,
                                        tamis_error *err)
{
    histogram h;
    tamis_status status = make(&h, request, err);
    if (status == TAMIS_OK && engine->check) status = engine->check(engine, &h.request, watch, err);
    clear(&h);
    return status;
}

static tamis_status fill(tmi_point_list *list, const histogram *h, const tmi_points_request *asked, const tmi_int128 *answers,
                         tamis_error *err)
{
    const size_t keys = tmi_table_cells(&h->table), points = h->value.value_count,
                 weights = asked->weight ? h->weight.value_count : 1;
    for (size_t i = 0; i < keys; i++) {
        if (answers[i] < 0 || answers[i] > TMI_MAX_ROWS)
            return tmi_fail(err, TAMIS_SYSTEM, "the source returned a number of rows that cannot be right");
        list->room += answers[i] > 0;
    }
    list->points = tmi_alloc(list->room, sizeof *list->points);
    list->counts = tmi_alloc(list->room, sizeof *list->counts);
    bool made = list->points && list->counts;
    if (made && asked->by_count > 0) made = (list->cells = tmi_alloc(list->room, sizeof *list->cells));
    if (made && asked->weight) made = (list->weights = tmi_alloc(list->room, sizeof *list->weights));
    if (!made) return tmi_fail_memory(err);
    for (size_t i = 0; i < keys; i++) {
        if (answers[i] == 0) continue;
        if (list->cells) list->cells[list->count] = (int32_t)(i / weights / points);
        if (list->weights) list->weights[list->count] = (int64_t)(i % weights);
        list->points[list->count] = h->lowest + (int64_t)(i / weights % points);
        list->counts[list->count++] = (int64_t)answers[i];
    }
    return TAMIS_OK;
}

tamis_status tmi_points_from_sums(tmi_point_list *list, tmi_engine *engine, const tmi_points_request *request,
                                  const tamis_watch *watch, tamis_error *err)
{
    histogram h;
    tmi_int128 *answers = NULL;
    tamis_status status;
    TMI_TRY(make(&h, request, err));
    if (!(answers = tmi_secret_alloc(tmi_table_cells(&h.table), sizeof *answers))) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(engine->aggregate(engine, &answers, &h.request, watch, err));
    TMI_TRY(fill(list, &h, request, answers, err));
done:
    tmi_secret_free(answers);
    clear(&h);
    return status;
}
