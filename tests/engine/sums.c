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
        {-3, 3, 0, 1, TMI_ENGINE_MAX_SHIFT, -1, 1},
        {-100, 300, 3, 1, 0, -1000, 1000},
        {-100, 300, 3, 2, 2, -50000, 50000},
        {-100, 300, 0, 3, 0, -TMI_MAX_GRID, INT64_C(1) << 40},
        {-3, 3, 0, TMI_MAX_FACTORS, 0, -TMI_MAX_GRID, TMI_MAX_GRID},
        {-3, 20, 1, TMI_MAX_FACTORS, 5, -TMI_MAX_GRID, TMI_MAX_GRID},
        {-4503599627370495, 4503599627370495, -4503599627370495, 18, 585, -TMI_MAX_GRID, TMI_MAX_GRID},
        {-4503599627370495, 4503599627370495, 4503599627370495, 18, TMI_ENGINE_MAX_SHIFT, -1, 1},
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
        double values[300];
        for (int j = 0; j < 300; j++) {
            seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
            const uint64_t span = (uint64_t)(cases[i].high - cases[i].low) + 1;
            int64_t point = cases[i].low + (int64_t)((seed >> 11) % span);
            if (j < 2) point = j == 0 ? cases[i].low : cases[i].high;
            if (j % 7 == 3) point = TMI_NO_POINT;
            values[j] = point == TMI_NO_POINT ? (double)NAN : (double)point;
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
        cells = tmi_cells_new(&layout); /* from doubles, of which sums and squares are made, and nothing else */
        const double *const numbers[] = {values};
        const bool takes = tmi_cells_take_numbers(cells);
        assert_true(!takes || measure.factor_count <= 2);
        if (takes) assert_int_equal(tmi_cells_add_numbers(cells, numbers, 300, NULL), TAMIS_OK);
        tmi_cells_answers(&got, cells);
        if (takes && got != right) fail_msg("case %zu, from doubles", i);
        tmi_cells_free(cells);
        tmi_layout_clear(&layout);
    }
}

/* Measures that begin with the same factors, over several blocks: each is the product from left to right all the same. */
static void shared_products(void **state)
{
    (void)state;
    enum { N = 5000, FACTORS = 5, MEASURES = 3 * FACTORS * FACTORS };
    static int64_t points[3][N];
    static const int64_t most = INT64_C(1) << 40;
    const tmi_column x = {.name = "x", .grid = {0, 0x1p40, 1, 0, most}}, y = {.name = "y", .grid = {0, 0x1p40, 1, 0, most}},
                     w = {.name = "w", .grid = {0, 0x1p40, 1, 0, most}};
    const tmi_factor factors[FACTORS] = {{&x, 12345}, {&y, -7}, {&x, 0}, {&w, 1}, {&y, most}};
    static tmi_measure measures[MEASURES];
    size_t count = 0;
    for (size_t weights = 0; weights < 3; weights++)
        for (size_t i = 0; i < FACTORS; i++)
            for (size_t j = 0; j < FACTORS; j++) {
                tmi_measure *m = &measures[count++];
                *m = (tmi_measure){.shift = 40 + 40 * (int)weights, .low = -TMI_MAX_GRID, .high = TMI_MAX_GRID};
                for (size_t k = 0; k < weights; k++) m->factors[m->factor_count++] = (tmi_factor){&w, 0};
                m->factors[m->factor_count++] = factors[i];
                m->factors[m->factor_count++] = factors[j];
            }
    uint64_t seed = 3;
    for (size_t c = 0; c < 3; c++)
        for (size_t i = 0; i < N; i++) {
            seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
            points[c][i] = seed >> 59 == 0 ? TMI_NO_POINT : (int64_t)(seed >> 24);
        }
    const tmi_table table = {NULL, 0, measures, MEASURES};
    const tmi_request request = {.tables = &table, .table_count = 1};
    tmi_layout layout;
    tmi_int128 got[MEASURES];
    assert_int_equal(tmi_layout_init(&layout, &request, NULL), TAMIS_OK);
    const void *columns[3];
    for (size_t c = 0; c < 3; c++) columns[c] = points[c];
    tmi_cells *cells = tmi_cells_new(&layout);
    assert_int_equal(tmi_cells_add(cells, columns, N, NULL), TAMIS_OK);
    tmi_cells_answers(got, cells);
    for (size_t m = 0; m < MEASURES; m++) {
        tmi_int128 right = 0;
        for (size_t i = 0; i < N; i++) {
            double product = 1;
            bool missing = false;
            for (size_t f = 0; f < measures[m].factor_count; f++) {
                const int64_t point = points[tmi_layout_index(&layout, measures[m].factors[f].column)][i];
                missing = missing || point == TMI_NO_POINT;
                if (!missing) product *= (double)(point - measures[m].factors[f].minus);
            }
            const double term = floor(product * ldexp(1, -measures[m].shift) + 0.5);
            if (!missing) right += (int64_t)fmin(fmax(term, (double)-TMI_MAX_GRID), (double)TMI_MAX_GRID);
        }
        if (got[m] != right) fail_msg("measure %zu", m);
    }
    tmi_cells_free(cells);
    tmi_layout_clear(&layout);
}

/* A product of two columns on both sides of the border between integers and doubles, with missing points. */
static void product_columns(void **state)
{
    (void)state;
    static const struct {
        int64_t most_a, most_b; /* points of the columns, in size */
        int shift;
        int64_t least, most;
        bool has_instead;
        int64_t instead;
    } cases[] = {
        {1 << 26, 1 << 26, 0, -(INT64_C(1) << 40), INT64_C(1) << 41, false, 0},
        {1 << 26, 1 << 26, 30, -(INT64_C(1) << 40), INT64_C(1) << 40, true, -3},
        {(1 << 26) + 1, 1 << 26, 30, -(INT64_C(1) << 40), INT64_C(1) << 40, true, 5},
        {4503599627370495, 4503599627370495, 60, 1 - TMI_MAX_GRID, TMI_MAX_GRID - 1, false, 0},
        {4503599627370495, 4503599627370495, 52, -7, 1000, true, 1000},
        {4503599627370495, 4503599627370495, TMI_ENGINE_MAX_SHIFT, -1, 1, true, -1},
        {7, 5, 1, -3, 4, true, 0},
        {7, 5, 52, -1, 1, false, 0},
        {7, 5, 53, -1, 1, false, 0},
        {1, 1, 1, -1, 1, false, 0},
    };
    uint64_t seed = 11;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const double a = (double)cases[i].most_a, b = (double)cases[i].most_b;
        const tmi_column x = {.name = "x", .grid = {-a, a, 1, -cases[i].most_a, cases[i].most_a}},
                         y = {.name = "y", .grid = {-b, b, 1, -cases[i].most_b, cases[i].most_b}},
                         xy = {.name = "xy",
                               .kind = TMI_PRODUCT,
                               .of = &x,
                               .second = &y,
                               .shift = cases[i].shift,
                               .grid = {.low = cases[i].least, .high = cases[i].most},
                               .has_instead = cases[i].has_instead,
                               .instead = cases[i].instead};
        const tmi_measure measures[] = {tmi_sum_of(&xy), tmi_rows_with(&xy)};
        const tmi_table table = {NULL, 0, measures, 2};
        const tmi_request request = {.tables = &table, .table_count = 1};
        tmi_layout layout;
        assert_int_equal(tmi_layout_init(&layout, &request, NULL), TAMIS_OK);
        tmi_cells *cells = tmi_cells_new(&layout);
        tmi_int128 right = 0, got[2];
        int64_t rows = 0;
        for (int j = 0; j < 300; j++) {
            int64_t points[2];
            const void *const columns[] = {&points[0], &points[1]};
            for (size_t c = 0; c < 2; c++) {
                const int64_t most = c == 0 ? cases[i].most_a : cases[i].most_b;
                seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
                points[c] = (int64_t)((seed >> 11) % (2 * (uint64_t)most + 1)) - most;
                if (j < 4) points[c] = (j >> c) % 2 ? most : -most;
                if (j > 4 && seed >> 61 == 0) points[c] = TMI_NO_POINT;
            }
            assert_int_equal(tmi_cells_add(cells, columns, 1, NULL), TAMIS_OK);
            const bool missing = points[0] == TMI_NO_POINT || points[1] == TMI_NO_POINT;
            const double k = missing ? (double)cases[i].instead
                                     : floor((double)points[0] * (double)points[1] * ldexp(1, -cases[i].shift) + 0.5);
            if (!missing || cases[i].has_instead) {
                right += (int64_t)fmin(fmax(k, (double)cases[i].least), (double)cases[i].most);
                rows++;
            }
            tmi_cells_answers(got, cells);
            if (got[0] != right || got[1] != rows) fail_msg("case %zu, row %d", i, j);
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

static void expect_valid(const tmi_column *column)
{
    const tmi_measure measure = tmi_rows_with(column);
    const tmi_table table = {NULL, 0, &measure, 1};
    const tmi_request request = {.tables = &table, .table_count = 1};
    assert_int_equal(tmi_request_check(&request, NULL), TAMIS_OK);
}

static void bad_columns(void **state)
{
    (void)state;
    static const char *const values[] = {"a", "b"}, *const hole[] = {"a", NULL};
    static const int64_t cuts[] = {3, 3}, large[] = {1, INT64_C(1) << 52}, counts[] = {1, 1};
    static const int32_t beyond[] = {2}, classes[] = {1, -1}, class_beyond[] = {0, 2}, class_below[] = {-2, 0};
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
        {.name = "class of nothing", .kind = TMI_CLASSES, .classes = classes, .value_count = 2},
        {.name = "class of label", .kind = TMI_CLASSES, .of = &label, .classes = classes, .value_count = 2},
        {.name = "no list", .kind = TMI_CLASSES, .of = &category, .value_count = 2},
        {.name = "no class", .kind = TMI_CLASSES, .of = &category, .classes = classes},
        {.name = "many", .kind = TMI_CLASSES, .of = &number, .classes = classes, .value_count = (size_t)TMI_MAX_CELLS + 1},
        {.name = "class beyond", .kind = TMI_CLASSES, .of = &category, .classes = class_beyond, .value_count = 2},
        {.name = "class below", .kind = TMI_CLASSES, .of = &category, .classes = class_below, .value_count = 2},
        {.name = "of numbers", .kind = TMI_CLASSES, .of = &number, .classes = class_below, .value_count = 2},
        {.name = "instead",
         .kind = TMI_CLASSES,
         .of = &category,
         .classes = classes,
         .value_count = 2,
         .has_instead = true,
         .instead = 2},
        {.name = "negative",
         .kind = TMI_CLASSES,
         .of = &category,
         .classes = classes,
         .value_count = 2,
         .has_instead = true,
         .instead = -1},
        {.name = "one factor", .kind = TMI_PRODUCT, .of = &number, .grid = {.high = 9}},
        {.name = "second alone", .kind = TMI_PRODUCT, .second = &number, .grid = {.high = 9}},
        {.name = "label times", .kind = TMI_PRODUCT, .of = &label, .second = &number, .grid = {.high = 9}},
        {.name = "times category", .kind = TMI_PRODUCT, .of = &number, .second = &category, .grid = {.high = 9}},
        {.name = "empty", .kind = TMI_PRODUCT, .of = &number, .second = &number, .grid = {.low = 1}},
        {.name = "wide", .kind = TMI_PRODUCT, .of = &number, .second = &number, .grid = {.high = INT64_C(1) << 52}},
        {.name = "deep", .kind = TMI_PRODUCT, .of = &number, .second = &number, .grid = {.low = -(INT64_C(1) << 52)}},
        {.name = "shift", .kind = TMI_PRODUCT, .of = &number, .second = &number, .shift = -1},
        {.name = "far", .kind = TMI_PRODUCT, .of = &number, .second = &number, .shift = TMI_ENGINE_MAX_SHIFT + 1},
        {.name = "point instead", .kind = TMI_PRODUCT, .of = &number, .second = &number, .has_instead = true, .instead = 1},
        {.name = "below", .kind = TMI_PRODUCT, .of = &number, .second = &number, .has_instead = true, .instead = -1},
        {.name = "one side", .kind = TMI_DIFFERENCE, .of = &number},
        {.name = "other side", .kind = TMI_DIFFERENCE, .second = &number},
        {.name = "less label", .kind = TMI_DIFFERENCE, .of = &number, .second = &label},
        {.name = "category less", .kind = TMI_DIFFERENCE, .of = &category, .second = &number},
        {.name = "no label", .kind = TMI_GROUPS, .of = &category, .cell_of = cells, .cluster_counts = counts, .value_count = 3},
    };
    for (size_t i = 0; i < COUNT(bad); i++) expect_invalid(&bad[i], bad[i].name);
    loop.of = &loop; /* has no points: refused before it is followed */
    expect_invalid(&loop, "loop");
    static tmi_column a = {.name = "ring", .kind = TMI_INDICATOR, .condition_count = 1};
    static tmi_condition on_itself = {.column = &a};
    a.conditions = &on_itself;
    expect_invalid(&a, "derived from itself");
    static tmi_column class = {.name = "ring", .kind = TMI_CLASSES, .classes = classes, .value_count = 2};
    class.of = &class;
    expect_invalid(&class, "derived from itself");
    static tmi_column product = {.name = "own factor", .kind = TMI_PRODUCT, .of = &number};
    product.second = &product;
    expect_invalid(&product, "own factor is derived from itself");
    static tmi_column difference = {.name = "own side", .kind = TMI_DIFFERENCE, .of = &number};
    difference.second = &difference;
    expect_invalid(&difference, "own side: a difference is not made from another one");
    static tmi_column far_apart[] = {{.name = "low", .grid = {-0x1p51, -0x1p51, 1, -(INT64_C(1) << 51), -(INT64_C(1) << 51)}},
                                     {.name = "high", .grid = {0x1p51, 0x1p51, 1, INT64_C(1) << 51, INT64_C(1) << 51}},
                                     {.name = "far apart", .kind = TMI_DIFFERENCE, .of = &far_apart[0], .second = &far_apart[1]}};
    expect_invalid(&far_apart[2], "far apart: the range of a difference exceeds 2^52");
    static tmi_column chain[17]; /* the last one is 17 steps from the number, and 16 are allowed */
    for (size_t i = 0; i < COUNT(chain); i++)
        chain[i] = (tmi_column){
            .name = "step", .kind = TMI_CLASSES, .of = i > 0 ? &chain[i - 1] : &number, .classes = classes, .value_count = 2};
    expect_invalid(&chain[16], "fine is derived from itself, or others from it in more than 16 steps");
    expect_valid(&chain[15]);
}

static void bad_measures(void **state)
{
    (void)state;
    static const tmi_column number = {.name = "n", .grid = {0, 9, 1, 0, 9}}, label = {.name = "label", .kind = TMI_LABEL};
    static const tmi_measure bad[] = {{.factor_count = TMI_MAX_FACTORS + 1},
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
    const struct CMUnitTest all[] = {cmocka_unit_test(most_rows),       cmocka_unit_test(many_large_rows),
                                     cmocka_unit_test(products),        cmocka_unit_test(product_columns),
                                     cmocka_unit_test(shared_products), cmocka_unit_test(bad_columns),
                                     cmocka_unit_test(bad_measures)};
    return cmocka_run_group_tests(all, NULL, NULL);
}
