/* Sums at the edges: the most rows with the largest terms, products that need every bit, requests that break their
 * contract. */
#include "tests/test.h"

#include <math.h>
#include <string.h>

#include "engine/core/cells.h"
#include "tests/engine/request.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const int64_t end = (INT64_C(1) << 52) - 1;
static const tmi_column wide = {.name = "w",
                                .grid = {-4503599627370495, 4503599627370495, 1, -4503599627370495, 4503599627370495}};

/* 2^40 rows that each add 2^52, or -2^52: 2^92. One row more is refused. */
static void most_rows(void **state)
{
    (void)state;
    for (int sign = -1; sign <= 1; sign += 2) {
        const tmi_measure measures[] = {
            {.factors = {{&wide, 0}, {&wide, -sign}}, .factor_count = 2, .low = -TMI_MAX_GRID, .high = TMI_MAX_GRID},
            {.factors = {{&wide, 0}}, .factor_count = 1, .low = sign * TMI_MAX_GRID, .high = sign * TMI_MAX_GRID},
            ROWS_WITH(NULL)};
        const tmi_table table = {NULL, 0, measures, 3};
        const tmi_request request = {.tables = &table, .table_count = 1};
        const int64_t points[] = {sign * end, sign * end, TMI_NO_POINT};
        const void *const columns[] = {points};
        tmi_layout layout;
        tamis_error err = {0};
        tmi_int128 got[3];
        assert_int_equal(tmi_layout_init(&layout, &request, NULL), TAMIS_OK);
        tmi_cells *cells = tmi_cells_new(&layout), *one = tmi_cells_new(&layout);
        assert_int_equal(tmi_cells_add(cells, columns, 2, NULL), TAMIS_OK);
        assert_int_equal(tmi_cells_add(one, columns + 0, 1, NULL), TAMIS_OK);
        for (int i = 1; i < 40; i++) assert_int_equal(tmi_cells_add_cells(cells, cells, NULL), TAMIS_OK);
        tmi_cells_answers(got, cells);
        assert_true(got[0] == (tmi_int128)1 << 92);
        assert_true(got[1] == sign * ((tmi_int128)1 << 92));
        assert_true(got[2] == TMI_MAX_ROWS);
        assert_int_equal(tmi_cells_add_cells(cells, one, &err), TAMIS_SYSTEM);
        assert_non_null(strstr(err.message, "2^40 rows"));
        assert_int_equal(tmi_cells_add(cells, columns, 1, &err), TAMIS_SYSTEM);
        tmi_cells_answers(got, cells); /* and nothing of it was added */
        assert_true(got[0] == (tmi_int128)1 << 92 && got[2] == TMI_MAX_ROWS);
        tmi_cells_free(cells);
        tmi_cells_free(one);
        tmi_layout_clear(&layout);
    }
}

/* 5000 rows of nearly 2^52 are more than 63 bits: what is added up in 64 bits is put aside in time. */
static void many_large_rows(void **state)
{
    (void)state;
    enum { N = 1000, TIMES = 5 };
    const tmi_measure measure = {.factors = {{&wide, 0}}, .factor_count = 1, .low = -TMI_MAX_GRID, .high = TMI_MAX_GRID};
    const tmi_table table = {NULL, 0, &measure, 1};
    const tmi_request request = {.tables = &table, .table_count = 1};
    static int64_t points[N];
    const void *const columns[] = {points};
    tmi_layout layout;
    tmi_int128 got;
    for (size_t i = 0; i < N; i++) points[i] = end;
    assert_int_equal(tmi_layout_init(&layout, &request, NULL), TAMIS_OK);
    tmi_cells *cells = tmi_cells_new(&layout);
    for (int i = 0; i < TIMES; i++) assert_int_equal(tmi_cells_add(cells, columns, N, NULL), TAMIS_OK);
    tmi_cells_answers(&got, cells);
    assert_true(got == (tmi_int128)N * TIMES * end);
    tmi_cells_free(cells);
    tmi_layout_clear(&layout);
}

/* Products by integers and by doubles, on both sides of the border between them. */
static void products(void **state)
{
    (void)state;
    static const struct {
        int64_t low, high, minus; /* of each factor */
        size_t factors;
        int shift;
        int64_t least, most;
    } cases[] = {
        {0, 1 << 26, 0, 2, 0, -TMI_MAX_GRID, TMI_MAX_GRID},
        {0, (1 << 26) + 1, 0, 2, 0, -TMI_MAX_GRID, TMI_MAX_GRID},
        {-(1 << 26), 1 << 26, 0, 2, 3, -TMI_MAX_GRID, TMI_MAX_GRID},
        {-(1 << 26), 1 << 26, 5, 2, 52, -TMI_MAX_GRID, TMI_MAX_GRID},
        {-(1 << 26), 1 << 26, 0, 2, 53, -TMI_MAX_GRID, TMI_MAX_GRID},
        {-100, 8192, 7, 4, 1, -1000, 99999},
        {-8192, 8192, 0, 4, 40, -TMI_MAX_GRID, TMI_MAX_GRID},
        {-9000, 9000, 0, 4, 4, -TMI_MAX_GRID, TMI_MAX_GRID},
        {5, 5, 5, 3, 2, -3, 3},
        {INT64_C(1) << 51, INT64_C(1) << 51, INT64_C(1) << 51, 4, 0, -1, 1},
        {-1000, 1000, 0, 1, 4, -20, 30},
        {-1000, 1000, 999, 1, 0, -1500, 0},
        {-3, 3, 0, 1, 256, -1, 1},
    };
    uint64_t seed = 5;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const tmi_column column = {.name = "c",
                                   .grid = {(double)cases[i].low, (double)cases[i].high, 1, cases[i].low, cases[i].high}};
        tmi_measure measure = {.factor_count = cases[i].factors,
                               .shift = cases[i].shift,
                               .low = cases[i].least,
                               .high = cases[i].most};
        for (size_t f = 0; f < measure.factor_count; f++) measure.factors[f] = (tmi_factor){&column, cases[i].minus};
        const tmi_table table = {NULL, 0, &measure, 1};
        const tmi_request request = {.tables = &table, .table_count = 1};
        tmi_layout layout;
        assert_int_equal(tmi_layout_init(&layout, &request, NULL), TAMIS_OK);
        tmi_cells *cells = tmi_cells_new(&layout);
        tmi_int128 right = 0, got;
        for (int j = 0; j < 300; j++) {
            seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
            const uint64_t span = (uint64_t)(cases[i].high - cases[i].low) + 1;
            int64_t point = cases[i].low + (int64_t)((seed >> 11) % span);
            if (j < 2) point = j == 0 ? cases[i].low : cases[i].high;
            if (j % 7 == 3) point = TMI_NO_POINT;
            const void *const columns[] = {&point};
            assert_int_equal(tmi_cells_add(cells, columns, 1, NULL), TAMIS_OK);
            if (point == TMI_NO_POINT) continue;
            double product = 1;
            for (size_t f = 0; f < measure.factor_count; f++) product *= (double)(point - cases[i].minus);
            double term = floor(product * ldexp(1, -measure.shift) + 0.5);
            right += (int64_t)fmin(fmax(term, (double)measure.low), (double)measure.high);
            tmi_cells_answers(&got, cells);
            if (got != right) fail_msg("case %zu, point %lld", i, (long long)point);
        }
        tmi_cells_free(cells);
        tmi_layout_clear(&layout);
    }
}

static void expect_invalid(const tmi_column *column, const char *name)
{
    const tmi_measure measure = tmi_rows_with(column);
    const tmi_table table = {NULL, 0, &measure, 1};
    const tmi_request request = {.tables = &table, .table_count = 1};
    const tmi_inventory inventory = {.columns = &column, .column_count = 1};
    tmi_layout layout;
    tamis_error err = {0};
    assert_int_equal(tmi_layout_init(&layout, &request, &err), TAMIS_INVALID);
    if (!strstr(err.message, name)) fail_msg("%s: %s", name, err.message);
    assert_int_equal(tmi_layout_of_inventory(&layout, &inventory, NULL), TAMIS_INVALID);
}

static void bad_columns(void **state)
{
    (void)state;
    static const char *const values[] = {"a", "b"}, *const hole[] = {"a", NULL};
    static const int64_t cuts[] = {3, 3}, large[] = {1, INT64_C(1) << 52}, counts[] = {1, 1};
    static const int32_t beyond[] = {2};
    static const int32_t *const cells[] = {beyond, beyond};
    static const tmi_grid grids[] = {{0, 1, 1, 0, 1}, {0, 1, -1, 0, 1}};
    static const tmi_column category = {.name = "good", .kind = TMI_CATEGORY, .values = values, .value_count = 2},
                            number = {.name = "fine", .grid = {0, 9, 1, 0, 9}}, label = {.name = "label", .kind = TMI_LABEL};
    static tmi_column loop = {.name = "loop", .kind = TMI_CUTS, .value_count = 1};
    static const tmi_condition on_label[] = {{.column = &label}}, no_codes[] = {{.column = &category, .code_count = 1}};
    static const unsigned char key[TMI_KEY_BYTES];
    static const tmi_column bad[] = {
        {.name = "grids", .by = &category, .grids = grids},
        {.name = "no grids", .by = &category},
        {.name = "by a number", .by = &number, .grids = grids},
        {.name = "kind", .kind = (tmi_column_kind)77},
        {.name = "instead", .grid = {0, 9, 1, 0, 9}, .has_instead = true, .instead = 10},
        {.name = "codes", .grid = {0, 9, 1, 0, 9}, .missing_code_count = 1},
        {.name = "code instead", .kind = TMI_CATEGORY, .values = values, .value_count = 2, .has_instead = true, .instead = 2},
        {.name = "a hole", .kind = TMI_CATEGORY, .values = hole, .value_count = 2},
        {.name = "texts", .kind = TMI_CATEGORY, .values = values, .value_count = 2, .missing_text_count = 1},
        {.name = "cut of nothing", .kind = TMI_CUTS, .value_count = 1},
        {.name = "cut", .kind = TMI_CUTS, .of = &number, .cuts = cuts, .value_count = 3},
        {.name = "cut a category", .kind = TMI_CUTS, .of = &category, .value_count = 1},
        {.name = "on label", .kind = TMI_INDICATOR, .conditions = on_label, .condition_count = 1},
        {.name = "no codes", .kind = TMI_INDICATOR, .conditions = no_codes, .condition_count = 1},
        {.name = "no conditions", .kind = TMI_INDICATOR, .condition_count = 1},
        {.name = "large", .kind = TMI_LOOKUP, .of = &category, .numbers = large},
        {.name = "no numbers", .kind = TMI_LOOKUP, .of = &category},
        {.name = "of a number", .kind = TMI_LOOKUP, .of = &number, .numbers = large},
        {.name = "beyond", .kind = TMI_GROUPS, .of = &label, .cell_of = cells, .cluster_counts = counts, .value_count = 2},
        {.name = "no key", .kind = TMI_SCATTER, .of = &label, .value_count = 2},
        {.name = "three", .kind = TMI_SCATTER, .of = &label, .key = key, .value_count = 3},
        {.name = "too many", .kind = TMI_SCATTER, .of = &label, .key = key, .value_count = 512},
        {.name = "nothing", .kind = TMI_SCATTER, .key = key, .value_count = 2},
        {.name = "no codes", .kind = TMI_SCATTER, .of = &label, .key = key},
        {.name = "stratum", .kind = TMI_SCATTER, .of = &label, .stratum = &category, .key = key, .value_count = 2},
        {.name = "no label", .kind = TMI_GROUPS, .of = &category, .cell_of = cells, .cluster_counts = counts, .value_count = 3},
    };
    for (size_t i = 0; i < COUNT(bad); i++) expect_invalid(&bad[i], bad[i].name);
    loop.of = &loop; /* has no points: refused before it is followed */
    expect_invalid(&loop, "loop");
    static tmi_column a = {.name = "ring", .kind = TMI_INDICATOR, .condition_count = 1};
    static tmi_condition on_itself = {.column = &a};
    a.conditions = &on_itself;
    expect_invalid(&a, "derived from itself");
}

static void bad_measures(void **state)
{
    (void)state;
    static const tmi_column number = {.name = "n", .grid = {0, 9, 1, 0, 9}}, label = {.name = "label", .kind = TMI_LABEL};
    static const tmi_measure bad[] = {{.factor_count = 6},
                                      {.shift = -1},
                                      {.shift = TMI_ENGINE_MAX_SHIFT + 1},
                                      {.low = 1, .high = 0},
                                      {.high = TMI_MAX_GRID + 1},
                                      {.low = -TMI_MAX_GRID - 1},
                                      {.factors = {{&number, INT64_C(1) << 52}}, .factor_count = 1},
                                      {.factor_count = 1},
                                      {.factors = {{&label, 0}}, .factor_count = 1},
                                      {.present = {&label}},
                                      {.where = &number}};
    tmi_layout layout;
    for (size_t i = 0; i < COUNT(bad); i++) {
        const tmi_table table = {NULL, 0, &bad[i], 1};
        const tmi_request request = {.tables = &table, .table_count = 1};
        if (tmi_layout_init(&layout, &request, NULL) != TAMIS_INVALID) fail_msg("measure %zu", i);
    }
    static const unsigned char key[TMI_KEY_BYTES] = {1};
    const tmi_request by_number = {.unit = &number, .rows_per_unit = 1, .key = key}, none = {.unit = &label, .key = key},
                      keyless = {.unit = &label, .rows_per_unit = 1};
    assert_int_equal(tmi_layout_init(&layout, &by_number, NULL), TAMIS_INVALID);
    assert_int_equal(tmi_layout_init(&layout, &none, NULL), TAMIS_INVALID);
    assert_int_equal(tmi_layout_init(&layout, &keyless, NULL), TAMIS_INVALID);
    const tmi_inventory bad_unit = {.unit = &number}, bad_stratum = {.stratum = &label}, bad_cluster = {.cluster = &number};
    assert_int_equal(tmi_layout_of_inventory(&layout, &bad_unit, NULL), TAMIS_INVALID);
    assert_int_equal(tmi_layout_of_inventory(&layout, &bad_stratum, NULL), TAMIS_INVALID);
    assert_int_equal(tmi_layout_of_inventory(&layout, &bad_cluster, NULL), TAMIS_INVALID);
}

int main(void)
{
    const struct CMUnitTest all[] = {cmocka_unit_test(most_rows), cmocka_unit_test(many_large_rows), cmocka_unit_test(products),
                                     cmocka_unit_test(bad_columns), cmocka_unit_test(bad_measures)};
    return cmocka_run_group_tests(all, NULL, NULL);
}
