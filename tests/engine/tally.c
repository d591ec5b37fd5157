/* Rows to lists of points, without an engine: few keys and many, counters, wide keys, tallies of several threads. The expected
 * list is made by sorting all records. */
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

#include "engine/core/tally.h"
#include "tests/base/memory_that_fails.h"

static const char *const values[] = {"a", "b", "c"};
static const tmi_column group = {.name = "group", .kind = TMI_CATEGORY, .values = values, .value_count = 3};
static const tmi_column *const by[] = {&group};

typedef struct record {
    int64_t cell, point, weight;
} record;

static int compare(const void *one, const void *other)
{
    const record *a = one, *b = other;
    if (a->cell != b->cell) return a->cell < b->cell ? -1 : 1;
    if (a->point != b->point) return a->point < b->point ? -1 : 1;
    return (a->weight > b->weight) - (a->weight < b->weight);
}

static uint64_t seed;

static uint64_t random64(void) { return next_word(&seed); }

/* Rows of three columns, one after the other, and what they become. */
typedef struct sample {
    int32_t *groups;
    int64_t *points, *weights;
    record *records;
    size_t rows, count;
} sample;

/* Points are low + [0, spread), half of them one of `common`; one row in 16 lacks a value. */
static sample draw(size_t rows, int64_t low, uint64_t spread, uint64_t common, int64_t max_weight)
{
    sample s = {.groups = malloc(rows * sizeof *s.groups),
                .points = malloc(rows * sizeof *s.points),
                .weights = malloc(rows * sizeof *s.weights),
                .records = malloc(rows * sizeof *s.records),
                .rows = rows};
    for (size_t i = 0; i < rows; i++) {
        const uint64_t lacks = random64() % 48;
        s.groups[i] = lacks == 0 ? 3 : (int32_t)(random64() % 3);
        s.points[i] = lacks == 1 ? TMI_NO_POINT : low + (int64_t)(random64() % (random64() % 2 ? spread : common));
        s.weights[i] = lacks == 2 ? TMI_NO_POINT : (int64_t)(random64() % 24) * (max_weight / 20) - 2;
        const int64_t weight = s.weights[i] < 0 ? 0 : s.weights[i] > max_weight ? max_weight : s.weights[i];
        if (lacks >= (max_weight > 0 ? 3 : 2)) s.records[s.count++] = (record){s.groups[i], s.points[i], max_weight ? weight : 0};
    }
    qsort(s.records, s.count, sizeof *s.records, compare);
    return s;
}

static void discard(sample *s)
{
    free(s->groups);
    free(s->points);
    free(s->weights);
    free(s->records);
}

static void expect(const tmi_point_list *list, const sample *s, bool weighted)
{
    size_t at = 0;
    for (size_t i = 0; i < s->count; at++) {
        size_t next = i;
        while (next < s->count && compare(&s->records[next], &s->records[i]) == 0) next++;
        assert_true(at < list->count);
        assert_int_equal(list->cells[at], s->records[i].cell);
        assert_int_equal(list->points[at], s->records[i].point);
        if (weighted) assert_int_equal(list->weights[at], s->records[i].weight);
        assert_int_equal(list->counts[at], next - i);
        i = next;
    }
    assert_int_equal(list->count, at);
    assert_true(weighted == (list->weights != NULL));
}

/* The rows go to `parts` tallies, unequal shares of them, which are then moved together in both directions. */
static void tally_in_parts(size_t rows, int64_t low, uint64_t spread, uint64_t common, int64_t max_weight, size_t parts)
{
    const tmi_column value = {.name = "value", .grid = {(double)low, (double)low, 1, low, low + (int64_t)spread - 1}};
    const tmi_column weight = {.name = "weight", .grid = {0, 1, 1, -TMI_MAX_GRID + 1, TMI_MAX_GRID - 1}};
    const tmi_points_request asked = {
        .value = &value, .weight = max_weight ? &weight : NULL, .max_weight = max_weight, .by = by, .by_count = 1};
    sample s = draw(rows, low, spread, common, max_weight);
    tmi_points_plan plan;
    tmi_layout layout;
    tmi_tally *tallies[4];
    tmi_point_list list = {0};
    assert_int_equal(tmi_points_plan_make(&plan, &asked, NULL), TAMIS_OK);
    assert_int_equal(tmi_layout_init(&layout, &plan.request, NULL), TAMIS_OK);
    for (size_t p = 0, done = 0; p < parts; p++) {
        const size_t end = p + 1 == parts ? rows : done + (rows - done) / (p % 2 ? 20 : 2);
        tallies[p] = tmi_tally_new(&plan, &layout);
        while (done < end) { /* pieces of any size */
            const size_t piece = 1 + random64() % 5000, n = piece < end - done ? piece : end - done;
            const void *columns[3] = {0};
            columns[tmi_layout_index(&layout, &group)] = s.groups + done;
            columns[tmi_layout_index(&layout, &value)] = s.points + done;
            if (max_weight) columns[tmi_layout_index(&layout, &weight)] = s.weights + done;
            assert_int_equal(tmi_tally_add(tallies[p], columns, n, NULL), TAMIS_OK);
            done += n;
        }
    }
    size_t all = random64() % parts;
    for (size_t p = 0; p < parts; p++) {
        if (p == all) continue;
        assert_int_equal(tmi_tally_take(tallies[all], tallies[p], NULL), TAMIS_OK);
        assert_int_equal(tmi_tally_rows(tallies[p]), 0);
    }
    assert_int_equal(tmi_tally_rows(tallies[all]), rows);
    assert_int_equal(tmi_tally_take_list(&list, tallies[all], NULL), TAMIS_OK);
    expect(&list, &s, max_weight > 0);
    tmi_point_list_clear(&list);
    assert_int_equal(tmi_tally_take_list(&list, tallies[all], NULL), TAMIS_OK); /* it is empty now */
    assert_int_equal(list.count, 0);
    tmi_point_list_clear(&list);
    for (size_t p = 0; p < parts; p++) tmi_tally_free(tallies[p]);
    tmi_layout_clear(&layout);
    discard(&s);
}

static void few_keys_have_counters(void **state)
{
    (void)state;
    seed = 3;
    for (size_t parts = 1; parts <= 4; parts++) {
        tally_in_parts(1, -7, 5, 1, 0, parts);
        tally_in_parts(70000, -7, 5, 1, 0, parts); /* counters of one byte are full many times over */
        tally_in_parts(70000, 0, 3000, 2, 40, parts);
        tally_in_parts(40000, 0, 400000, 20, 0, parts); /* some of the tallies have counters */
        tally_in_parts(40000, 0, 400000, 1, 0, parts);  /* and entries were common before they had */
    }
}

/* A number of rows that leaves its counter at zero, far from any other. */
static void full_counters_are_not_lost(void **state)
{
    (void)state;
    enum { ROWS = 2048, TIMES = 3 };
    const tmi_column value = {.name = "value", .grid = {0, 0, 1, 0, 99999}};
    const tmi_points_request asked = {.value = &value};
    static int64_t points[ROWS];
    const int64_t last = 99999;
    const void *columns[] = {points};
    tmi_points_plan plan;
    tmi_layout layout;
    tmi_point_list list = {0};
    assert_int_equal(tmi_points_plan_make(&plan, &asked, NULL), TAMIS_OK);
    assert_int_equal(tmi_layout_init(&layout, &plan.request, NULL), TAMIS_OK);
    tmi_tally *tally = tmi_tally_new(&plan, &layout);
    for (size_t i = 0; i < ROWS; i++) points[i] = 5000;
    for (int k = 0; k < TIMES; k++) assert_int_equal(tmi_tally_add(tally, columns, ROWS, NULL), TAMIS_OK);
    columns[0] = &last;
    assert_int_equal(tmi_tally_add(tally, columns, 1, NULL), TAMIS_OK);
    assert_int_equal(tmi_tally_take_list(&list, tally, NULL), TAMIS_OK);
    assert_true(list.count == 2 && list.points[0] == 5000 && list.counts[0] == ROWS * TIMES);
    assert_true(list.points[1] == last && list.counts[1] == 1 && !list.cells && !list.weights);
    tmi_point_list_clear(&list);
    tmi_tally_free(tally);
    tmi_layout_clear(&layout);
}

static void many_keys_are_sorted(void **state)
{
    (void)state;
    seed = 5;
    for (size_t parts = 1; parts <= 4; parts++) {
        tally_in_parts(3000, -(INT64_C(1) << 51), UINT64_C(1) << 52, 3, 0, parts);
        tally_in_parts(200000, -(INT64_C(1) << 40), UINT64_C(1) << 41, 500, 65536, parts); /* several buffers */
    }
    tally_in_parts(900000, 0, UINT64_C(1) << 33, 70000, 0, 2); /* buffers that grow with the list */
}

static void wide_keys(void **state)
{
    (void)state;
    seed = 7;
    for (size_t parts = 1; parts <= 4; parts++)
        tally_in_parts(50000, 1 - TMI_MAX_GRID, 2 * (uint64_t)TMI_MAX_GRID - 1, 3, TMI_MAX_GRID - 1, parts);
}

/* One entry per row that counts, in two tallies and several pieces: sorted, these are the rows. */
static void rows_are_kept_in_any_order(void **state)
{
    (void)state;
    enum { ROWS = 300000, MOST = 1000 };
    const tmi_column value = {.name = "value", .grid = {0, 0, 1, 5, 4 + (1 << 21)}};
    const tmi_column weight = {.name = "weight", .grid = {0, 1, 1, -TMI_MAX_GRID + 1, TMI_MAX_GRID - 1}};
    seed = 11;
    for (int weighted = 0; weighted < 2; weighted++) {
        const tmi_points_request asked = {.value = &value,
                                          .weight = weighted ? &weight : NULL,
                                          .max_weight = MOST,
                                          .any_order = true};
        sample s = draw(ROWS, 5, 1 << 21, 40, weighted ? MOST : 0);
        tmi_points_plan plan;
        tmi_layout layout;
        tmi_point_list list = {0};
        tmi_tally *tallies[2];
        assert_int_equal(tmi_points_plan_make(&plan, &asked, NULL), TAMIS_OK);
        assert_int_equal(tmi_layout_init(&layout, &plan.request, NULL), TAMIS_OK);
        for (size_t t = 0; t < 2; t++) {
            const size_t from = t * ROWS / 3, n = t ? ROWS - from : ROWS / 3;
            const void *columns[2] = {0};
            columns[tmi_layout_index(&layout, &value)] = s.points + from;
            if (weighted) columns[tmi_layout_index(&layout, &weight)] = s.weights + from;
            tallies[t] = tmi_tally_new(&plan, &layout);
            assert_int_equal(tmi_tally_add(tallies[t], columns, n, NULL), TAMIS_OK);
        }
        assert_int_equal(tmi_tally_take(tallies[0], tallies[1], NULL), TAMIS_OK);
        assert_int_equal(tmi_tally_rows(tallies[0]), ROWS);
        assert_int_equal(tmi_tally_take_list(&list, tallies[0], NULL), TAMIS_OK);
        assert_true(!list.counts && !list.cells && !list.weights == !weighted);
        record *found = malloc(list.count * sizeof *found);
        for (size_t i = 0; i < list.count; i++) found[i] = (record){0, list.points[i], weighted ? list.weights[i] : 0};
        s.count = 0;
        for (size_t i = 0; i < ROWS; i++) {
            const int64_t w = s.weights[i] < 0 ? 0 : s.weights[i] > MOST ? MOST : s.weights[i];
            if (s.points[i] == TMI_NO_POINT || (weighted && s.weights[i] == TMI_NO_POINT)) continue;
            s.records[s.count++] = (record){0, s.points[i], weighted ? w : 0};
        }
        assert_int_equal(list.count, s.count);
        qsort(found, s.count, sizeof *found, compare);
        qsort(s.records, s.count, sizeof *s.records, compare);
        for (size_t i = 0; i < s.count; i++) assert_int_equal(compare(&found[i], &s.records[i]), 0);
        free(found);
        tmi_point_list_clear(&list);
        tmi_tally_free(tallies[0]);
        tmi_tally_free(tallies[1]);
        tmi_layout_clear(&layout);
        discard(&s);
    }
}

/* Entries in any order, some of them several times, as servers send them. */
static void entries_are_added(void **state)
{
    (void)state;
    const tmi_column value = {.name = "value", .grid = {0, 9, 1, -3, 9}}, weight = {.name = "weight", .grid = {0, 9, 1, 0, 9}};
    const tmi_points_request asked = {.value = &value, .weight = &weight, .max_weight = 5, .by = by, .by_count = 1};
    static const int64_t entries[][4] = {{2, 9, 5, 1}, {0, -3, 0, INT64_C(1) << 39}, {2, 9, 4, 7}, {0, -3, 0, 3}, {2, 9, 5, 2}};
    static const int64_t right[][4] = {{0, -3, 0, (INT64_C(1) << 39) + 3}, {2, 9, 4, 7}, {2, 9, 5, 3}};
    static const int64_t wrong[][4] = {{-1, 0, 0, 1}, {3, 0, 0, 1}, {0, -4, 0, 1}, {0, 10, 0, 1},
                                       {0, 0, -1, 1}, {0, 0, 6, 1}, {0, 0, 0, 0},  {0, 0, 0, INT64_C(1) << 39}};
    tmi_points_plan plan;
    tmi_point_list list = {0};
    assert_int_equal(tmi_points_plan_make(&plan, &asked, NULL), TAMIS_OK);
    tmi_tally *tally = tmi_tally_new(&plan, NULL);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(tmi_tally_add_entry(tally, entries[i][0], entries[i][1], entries[i][2], entries[i][3], NULL), TAMIS_OK);
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(tmi_tally_add_entry(tally, wrong[i][0], wrong[i][1], wrong[i][2], wrong[i][3], NULL), TAMIS_SYSTEM);
    assert_int_equal(tmi_tally_take_list(&list, tally, NULL), TAMIS_OK);
    assert_int_equal(list.count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_true(list.cells[i] == right[i][0] && list.points[i] == right[i][1] && list.weights[i] == right[i][2] &&
                    list.counts[i] == right[i][3]);
    tmi_point_list_clear(&list);
    tmi_tally_free(tally);
}

static tamis_status add_and_list(tmi_point_list *list, uint64_t spread, bool any_order)
{
    enum { ROWS = 600 };
    const tmi_column value = {.name = "value", .grid = {0, 0, 1, 0, (int64_t)spread - 1}};
    const tmi_points_request asked = {
        .value = &value, .weight = &value, .max_weight = 9, .by = by, .by_count = any_order ? 0 : 1, .any_order = any_order};
    static int32_t groups[ROWS];
    static int64_t points[ROWS];
    const void *const columns[] = {any_order ? (const void *)points : groups, points};
    tmi_points_plan plan;
    tmi_layout layout = {0};
    tmi_tally *tallies[2] = {NULL, NULL};
    tamis_status status;
    for (size_t i = 0; i < ROWS; i++) points[i] = (int64_t)(i % spread);
    *list = (tmi_point_list){0};
    TMI_TRY(tmi_points_plan_make(&plan, &asked, NULL));
    TMI_TRY(tmi_layout_init(&layout, &plan.request, NULL));
    for (int t = 0; t < 2; t++) {
        if (!(tallies[t] = tmi_tally_new(&plan, &layout))) TMI_TRY(TAMIS_SYSTEM);
        for (int k = 0; k < 3; k++) TMI_TRY(tmi_tally_add(tallies[t], columns, ROWS, NULL));
    }
    TMI_TRY(tmi_tally_take(tallies[0], tallies[1], NULL));
    TMI_TRY(tmi_tally_take_list(list, tallies[0], NULL));
done:
    tmi_tally_free(tallies[0]);
    tmi_tally_free(tallies[1]);
    tmi_layout_clear(&layout);
    return status;
}

static void memory_may_fail(void **state)
{
    (void)state;
    static const uint64_t spreads[] = {2, 500, UINT64_C(1) << 50};
    for (size_t i = 0; i < 3; i++) {
        tmi_point_list list;
        EVERY_ALLOCATION_FAILS(add_and_list(&list, spreads[i], false), assert_true(!list.points && !list.cells && !list.weights));
        assert_int_equal(list.counts[0], spreads[i] == 2 ? 1800 : spreads[i] == 500 ? 12 : 6);
        tmi_point_list_clear(&list);
    }
    tmi_point_list list;
    EVERY_ALLOCATION_FAILS(add_and_list(&list, UINT64_C(1) << 50, true), assert_true(!list.points && !list.weights));
    assert_int_equal(list.count, 3600);
    tmi_point_list_clear(&list);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(few_keys_have_counters),
        cmocka_unit_test(full_counters_are_not_lost),
        cmocka_unit_test(many_keys_are_sorted),
        cmocka_unit_test(wide_keys),
        cmocka_unit_test(rows_are_kept_in_any_order),
        cmocka_unit_test(entries_are_added),
        cmocka_unit_test(memory_may_fail),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
