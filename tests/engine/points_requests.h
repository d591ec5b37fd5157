/* Lists of points that are asked of every engine, and what they must be: a direct reading of points.h over the values of
 * reference.h, entry for entry. */
#ifndef TESTS_ENGINE_POINTS_REQUESTS_H
#define TESTS_ENGINE_POINTS_REQUESTS_H

#include "engine/core/points.h"
#include "tests/engine/conformance_requests.h"

#define UNITS(most) .unit = &unit, .rows_per_unit = (most), .key = key
#define BY(list) .by = (list), .by_count = COUNT(list)
static const tmi_column *const by_one[] = {&has_weight};
static const struct {
    const char *name;
    tmi_points_request request;
    size_t most_rows; /* of the reference */
} lists[] = {
    {"one column", {.value = &x}, SIZE_MAX},
    {"one weighted column", {.value = &x_coarse, .weight = &weight, .max_weight = INT64_C(3) << 20}, SIZE_MAX},
    {"grids by stratum", {.value = &y_by, BY(by_gh)}, SIZE_MAX},
    {"a product, where", {.value = &weighted_x, BY(by_all), .where = &is_both}, SIZE_MAX},
    {"wide", {.value = &weighted_y, .weight = &far_off, .max_weight = TMI_MAX_GRID - 1, BY(by_g)}, SIZE_MAX},
    {"negative weights", {.value = &x, .weight = &class_number, .max_weight = 7, BY(by_again), .where = &is_odd}, SIZE_MAX},
    {"differences", {.value = &less, .weight = &less_number, .max_weight = 1, BY(by_one)}, SIZE_MAX},
    {"indicators", {.value = &is_both, .weight = &is_nested, .max_weight = 1}, SIZE_MAX},
    {"nothing", {.value = &looked_up, .weight = &x, .max_weight = 9, BY(by_products), .where = &is_never}, SIZE_MAX},
    {"one row per unit", {.value = &x, BY(by_gh), UNITS(1)}, 300},
    {"weighted units", {.value = &y_by, .weight = &low_x, .max_weight = 99999, BY(by_classes), .where = &is_both, UNITS(3)}, 300},
    {"products of units", {.value = &square, .weight = &weighted_x, .max_weight = 70, .where = &is_of_products, UNITS(2)}, 300},
    {"scattered units", {.value = &x_counted, BY(by_scattered), UNITS(2)}, 300},
    {"groups", {.value = &x, .weight = &weight, .max_weight = 1 << 22, BY(by_groups)}, 300},
    {"groups and units", {.value = &y, BY(by_scatter_class), UNITS(2)}, 300},
};

static inline bool ranks_clusters(const tmi_points_request *request)
{
    return request->by == by_groups || request->by == by_scatter_class;
}

/* ---- by brute force ---- */

typedef struct entry {
    int64_t cell, point, weight, count;
} entry;

static int compare_entries(const void *one, const void *other)
{
    const entry *a = one, *b = other;
    if (a->cell != b->cell) return a->cell < b->cell ? -1 : 1;
    if (a->point != b->point) return a->point < b->point ? -1 : 1;
    return (a->weight > b->weight) - (a->weight < b->weight);
}

static size_t expected_entries(entry *to, const tmi_points_request *asked, const row *list, size_t n)
{
    /* the request for sums whose rows of a unit count */
    const tmi_measure measure = {.factors = {{asked->value, 0}, {asked->weight, 0}},
                                 .factor_count = asked->weight ? 2 : 1,
                                 .where = asked->where,
                                 .high = 1};
    const tmi_table table = {asked->by, asked->by_count, &measure, 1};
    const tmi_request request = {
        .tables = &table, .table_count = 1, .unit = asked->unit, .rows_per_unit = asked->rows_per_unit, .key = asked->key};
    tmi_layout layout;
    size_t count = 0, kept = 0;
    assert_int_equal(tmi_layout_init(&layout, &request, NULL), TAMIS_OK);
    const rows all = {list, n, &layout, calloc(layout.column_count * n + 1, sizeof(known_value))};
    for (size_t i = 0; i < n; i++) {
        entry e = {.count = 1};
        int64_t code, holds = 1;
        bool inside = value_of(&e.point, asked->value, &list[i], &all);
        if (asked->weight) inside = value_of(&e.weight, asked->weight, &list[i], &all) && inside;
        for (size_t b = 0; b < asked->by_count; b++) {
            inside = value_of(&code, asked->by[b], &list[i], &all) && inside;
            e.cell = e.cell * (int64_t)asked->by[b]->value_count + code;
        }
        if (asked->where) inside = value_of(&holds, asked->where, &list[i], &all) && inside;
        if (!inside || holds != 1 || !is_kept(&layout, &list[i], &all)) continue;
        if (e.weight < 0) e.weight = 0;
        if (e.weight > asked->max_weight) e.weight = asked->max_weight;
        to[count++] = e;
    }
    qsort(to, count, sizeof *to, compare_entries);
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && compare_entries(&to[kept - 1], &to[i]) == 0) to[kept - 1].count++;
        else to[kept++] = to[i];
    }
    free(all.known);
    tmi_layout_clear(&layout);
    return kept;
}

static void expect_list(const char *road, const char *name, const tmi_point_list *got, const tmi_points_request *asked,
                        const entry *right, size_t count)
{
    if (got->count != count) fail_msg("%s, %s: %zu entries, not %zu", road, name, got->count, count);
    assert_true((asked->by_count > 0) == (got->cells != NULL) && (asked->weight != NULL) == (got->weights != NULL));
    assert_true(got->points && got->counts && got->room >= got->count);
    for (size_t i = 0; i < count; i++) {
        const entry e = {got->cells ? got->cells[i] : 0, got->points[i], got->weights ? got->weights[i] : 0, got->counts[i]};
        if (compare_entries(&e, &right[i]) != 0 || e.count != right[i].count)
            fail_msg("%s, %s: entry %zu is %lld %lld %lld, %lld times, not %lld %lld %lld, %lld times", road, name, i,
                     (long long)e.cell, (long long)e.point, (long long)e.weight, (long long)e.count, (long long)right[i].cell,
                     (long long)right[i].point, (long long)right[i].weight, (long long)right[i].count);
    }
}

static void ask(const char *road, const char *name, tmi_engine *engine, const tmi_points_request *asked, const entry *right,
                size_t count)
{
    tmi_point_list got;
    tamis_error err = {0};
    if (tmi_engine_points_check(engine, asked, NULL, &err) != TAMIS_OK ||
        tmi_engine_points(&got, engine, asked, NULL, &err) != TAMIS_OK)
        fail_msg("%s, %s: %s", road, name, err.message);
    expect_list(road, name, &got, asked, right, count);
    tmi_point_list_clear(&got);
    assert_null(got.points);
}

#endif
