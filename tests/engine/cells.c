/* The loops that engines share, without an engine. */
#include "tests/test.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/core/cells.h"
#include "engine/core/moments.h"
#include "num/grid.h"
#include "tests/base/memory_that_fails.h"
#include "tests/engine/request.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static uint64_t seed = 7;

static uint64_t random64(void) { return next_word(&seed); }

/* ---- grid points ---- */

/* Pieces of these values give the sums of their points. */
static void expect_moments(const double *v, const int64_t *k, size_t n, const tmi_column *column)
{
    const tmi_measure square = {.factors = {{column, column->grid.low}, {column, column->grid.high}},
                                .factor_count = 2,
                                .shift = 40,
                                .low = -1000000,
                                .high = 1000};
    if (!tmi_has_moments(column)) return;
    for (size_t at = 0; at < n;) {
        const size_t length = n - at < 1 + at % 700 ? n - at : 1 + at % 700; /* also of a single one */
        tmi_moments right = {0};
        for (size_t i = at; i < at + length; i++) {
            if (k[i] == TMI_NO_POINT) continue;
            const double product = (double)(k[i] - square.factors[0].minus) * (double)(k[i] - square.factors[1].minus);
            right.present++;
            right.sum += k[i];
            right.squares += (int64_t)floor(fmin(fmax(product * 0x1p-40 + 0.5, -1000000), 1000));
        }
        const tmi_moments got = tmi_moments_of(v + at, length, column, &square),
                          fewer = tmi_moments_of(v + at, length, column, NULL);
        assert_true(got.present == right.present && got.sum == right.sum && got.squares == right.squares);
        assert_true(fewer.present == right.present && fewer.sum == right.sum && fewer.squares == 0);
        at += length;
    }
}

static void points_are_those_of_num(void **state)
{
    static const struct {
        const char *from, *to, *step;
    } grids[] = {
        {"0", "4000", "1"},
        {"-10", "100", "0.25"},
        {"0", "1", "0.1"},
        {"-1e6", "1e6", "1/3"},
        {"0", "1e300", "1e290"},
        {"1e-300", "1e-290", "1e-302"},
        {"-4503599627370493", "4503599627370493", "1"},
        {"0", "1e-300", "1/2"},
        {"-2251799813685246.5", "2251799813685246.5", "0.5"},
        {"5", "5.5", "1"},
        {"0", "1e12", "1024"},
        {"0", "4e307", "1e308"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(grids); i++) {
        tamis_number *from, *to, *step;
        tmi_grid grid;
        double v[3000];
        int64_t k[COUNT(v)];
        assert_int_equal(tamis_number_read(&from, grids[i].from, NULL), TAMIS_OK);
        assert_int_equal(tamis_number_read(&to, grids[i].to, NULL), TAMIS_OK);
        assert_int_equal(tamis_number_read(&step, grids[i].step, NULL), TAMIS_OK);
        if (tmi_grid_set(&grid, from, to, step, NULL) != TAMIS_OK) fail_msg("grid %zu", i);
        const double odd[] = {NAN,
                              INFINITY,
                              -INFINITY,
                              0.0,
                              -0.0,
                              DBL_MAX,
                              -DBL_MAX,
                              DBL_MIN,
                              4.9e-324,
                              -4.9e-324,
                              grid.from,
                              grid.to,
                              nextafter(grid.from, -INFINITY),
                              nextafter(grid.to, INFINITY),
                              grid.step,
                              0.5 * grid.step,
                              nextafter(0.5 * grid.step, 0),
                              97};
        for (size_t j = 0; j < COUNT(v); j++) {
            const double share = (double)(random64() >> 11) / 9007199254740992.0;
            const uint64_t bits = random64();
            if (j < COUNT(odd)) v[j] = odd[j];
            else if (j % 3 == 0) /* any bits */ memcpy(&v[j], &bits, sizeof bits);
            else if (j % 3 == 1) /* near a half */
                v[j] = (double)(grid.low + (int64_t)(share * 100)) * grid.step + 0.5 * grid.step;
            else v[j] = grid.from + share * (grid.to - grid.from);
        }
        static const double codes[] = {97, -1};
        const tmi_column column = {
            .name = "v", .kind = TMI_NUMBER, .grid = grid, .missing_codes = codes, .missing_code_count = 2};
        assert_int_equal(tmi_column_check(&column, NULL), TAMIS_OK);
        tmi_grid_points(k, v, COUNT(v), &column);
        for (size_t j = 0; j < COUNT(v); j++) {
            int64_t right;
            if (v[j] == 97 || v[j] == -1 || !tmi_grid_point(&right, &grid, v[j])) right = TMI_NO_POINT;
            if (k[j] != right) fail_msg("grid %zu, %.17g: %lld, not %lld", i, v[j], (long long)k[j], (long long)right);
            assert_int_equal(tmi_is_missing(v[j], &column), right == TMI_NO_POINT);
            int64_t alone;
            tmi_grid_points(&alone, &v[j], 1, &column); /* not several at a time */
            assert_int_equal(alone, right);
            if (v[j] == 97 || v[j] == -1) tmi_grid_point(&k[j], &grid, v[j]);
        }
        const tmi_column without_codes = {.name = "x", .grid = grid};
        expect_moments(v, k, COUNT(v), &without_codes);
        size_t kept = 0;
        for (size_t j = 0; j < COUNT(v); j++) { /* and of those that are there alone */
            if (k[j] == TMI_NO_POINT) continue;
            v[kept] = v[j];
            k[kept++] = k[j];
        }
        expect_moments(v, k, kept, &without_codes);
        tamis_number_free(from);
        tamis_number_free(to);
        tamis_number_free(step);
    }
}

/* ---- codes ---- */

/* Texts that are the beginnings of others. */
static void codes_of_beginnings(void **state)
{
    (void)state;
    enum { LONGEST = 400 };
    static char longest[LONGEST + 1];
    const char *values[LONGEST / 2];
    memset(longest, 'a', LONGEST);
    for (size_t i = 0; i < LONGEST / 2; i++) values[i] = longest + LONGEST - 2 * i; /* of even length */
    const tmi_column column = {.name = "c", .kind = TMI_CATEGORY, .values = values, .value_count = LONGEST / 2};
    tmi_codes *codes;
    assert_int_equal(tmi_codes_new(&codes, &column, NULL), TAMIS_OK);
    for (size_t length = 0; length < LONGEST; length++)
        assert_int_equal(tmi_code(codes, TMI_FORM_TEXT, longest, length), length % 2 == 0 ? length / 2 : LONGEST / 2);
    tmi_codes_free(codes);
}

static void codes_of_texts(void **state)
{
    (void)state;
    static const char *const values[] = {
        "E",           " M ",       "H", "", "E", "a text of more than twelve bytes", "a text of more than twelve bytes, longer",
        "caf\xc3\xa9", "\t tab\r\n"};
    static const tmi_column column = {.name = "c", .kind = TMI_CATEGORY, .values = values, .value_count = COUNT(values)};
    static const struct {
        const char *text;
        int32_t code;
    } cases[] = {
        {"E", 0},
        {" E", 0},
        {"E\t", 0},
        {"\r\nE\n", 0},
        {"e", 9},
        {"EE", 9},
        {"E E", 9},
        {"M", 1},
        {"H ", 2},
        {"", 3},
        {"   ", 3},
        {"a text of more than twelve bytes", 5},
        {" a text of more than twelve bytes ", 5},
        {"a text of more than twelve bytes, longer", 6},
        {"a text of more than twelve byte", 9},
        {"caf\xc3\xa9", 7},
        {"cafe", 9},
        {"tab", 8},
        {"\xc2\xa0"
         "E",
         9},
    };
    tmi_codes *codes;
    EVERY_ALLOCATION_FAILS(tmi_codes_new(&codes, &column, NULL), assert_null(codes));
    for (size_t i = 0; i < COUNT(cases); i++)
        if (tmi_code(codes, TMI_FORM_TEXT, cases[i].text, strlen(cases[i].text)) != cases[i].code) fail_msg("%zu", i);
    assert_int_equal(tmi_code(codes, TMI_FORM_TEXT, "E\0", 2), 9); /* a zero byte is no blank */
    tmi_codes_free(codes);
    tmi_codes_free(NULL);

    enum { MANY = 5000 };
    static char texts[MANY][16];
    static const char *many[MANY];
    for (size_t i = 0; i < MANY; i++) {
        snprintf(texts[i], sizeof texts[i], "%zu", i * 7919);
        many[i] = texts[i];
    }
    const tmi_column large = {.name = "c", .kind = TMI_CATEGORY, .values = many, .value_count = MANY};
    assert_int_equal(tmi_codes_new(&codes, &large, NULL), TAMIS_OK);
    for (size_t i = 0; i < MANY; i++) assert_int_equal(tmi_code(codes, TMI_FORM_TEXT, many[i], strlen(many[i])), i);
    assert_int_equal(tmi_code(codes, TMI_FORM_TEXT, "1", 1), MANY);
    tmi_codes_free(codes);
    const tmi_column too_large = {.name = "c", .kind = TMI_CATEGORY, .values = many, .value_count = TMI_MAX_CELLS + 1};
    assert_int_equal(tmi_codes_new(&codes, &too_large, NULL), TAMIS_INVALID);
}

/* ---- cells ---- */

/* Few and many cells, small and largest points, blocks that are not full, cells of three threads added up. */
static const void *secret;
static size_t secret_size;

static void no_secret(const void *block, size_t size) { assert_null(memmem(block, size, secret, secret_size)); }

static void sums_are_exact(void **state)
{
    (void)state;
    enum { N = 30000, G = 40, H = 60 };
    static const char *names[H];
    static int64_t points[2][N];
    static int32_t codes[2][N];
    for (size_t i = 0; i < H; i++) names[i] = "v";
    const int64_t end = (INT64_C(1) << 52) - 1;
    const tmi_column wide = {.name = "w",
                             .grid = {.from = -4503599627370495, .to = 4503599627370495, .step = 1, .low = -end, .high = end}};
    const tmi_column small = {.name = "s", .grid = {.to = 3, .step = 1, .high = 3}};
    const tmi_column g = {.name = "g", .kind = TMI_CATEGORY, .values = names, .value_count = G};
    const tmi_column h = {.name = "h", .kind = TMI_CATEGORY, .values = names, .value_count = H};
    const tmi_column *const by[] = {&h, &g};
    const tmi_measure measures[] = {SUM_OF(&wide), ROWS_WITH(&wide), SUM_OF(&small), ROWS_WITH(NULL), ROWS_WITH(&g)};
    const tmi_table tables[] = {{NULL, 0, measures, 5}, {by + 1, 1, measures, 5}, {by, 2, measures, 5}};
    const tmi_request request = {.tables = tables, .table_count = 3};
    static tmi_int128 right[5 * (1 + G + H * G)], got[COUNT(right)];
    memset(right, 0, sizeof right);
    for (size_t i = 0; i < N; i++) {
        const uint64_t r = random64();
        points[0][i] = r % 5 == 0 ? TMI_NO_POINT : r % 5 < 4 ? end : -end; /* drifts, so that 64 bits do not suffice */
        points[1][i] = (int64_t)(random64() % 4);
        codes[0][i] = (int32_t)(random64() % (G + 1));
        codes[1][i] = (int32_t)(random64() % (H + 1));
        const bool is_missing = points[0][i] == TMI_NO_POINT, in_g = codes[0][i] < G, in_h = codes[1][i] < H;
        const int64_t terms[] = {is_missing ? 0 : points[0][i], !is_missing, points[1][i], 1, in_g};
        for (size_t m = 0; m < 5; m++) {
            right[m] += terms[m];
            if (in_g) right[5 + (size_t)codes[0][i] * 5 + m] += terms[m];
            if (in_g && in_h) right[5 + 5 * G + ((size_t)codes[1][i] * G + (size_t)codes[0][i]) * 5 + m] += terms[m];
        }
    }
    assert_true(right[0] > INT64_MAX);
    tmi_layout layout;
    EVERY_ALLOCATION_FAILS(tmi_layout_init(&layout, &request, NULL), assert_null(layout.columns));
    assert_int_equal(layout.column_count, 4);
    assert_int_equal(layout.answer_count, COUNT(right));
    assert_true(layout.columns[0] == &wide && layout.columns[1] == &small && layout.columns[2] == &g);

    tmi_cells *cells[3];
    const size_t cuts[] = {0, 1, 7000, N};
    for (size_t part = 0; part < 3; part++) {
        cells[part] = tmi_cells_new(&layout);
        assert_non_null(cells[part]);
        size_t step = part == 2 ? N : 1999; /* the last one in one piece, larger than a block */
        for (size_t at = cuts[part]; at < cuts[part + 1]; at += step) {
            const size_t n = cuts[part + 1] - at < step ? cuts[part + 1] - at : step;
            const void *const columns[] = {points[0] + at, points[1] + at, codes[0] + at, codes[1] + at};
            assert_int_equal(tmi_cells_add(cells[part], columns, n, NULL), TAMIS_OK);
        }
    }
    assert_int_equal(tmi_cells_add_cells(cells[1], cells[0], NULL), TAMIS_OK);
    assert_int_equal(tmi_cells_add_cells(cells[2], cells[1], NULL), TAMIS_OK);
    tmi_cells_answers(got, cells[2]);
    for (size_t i = 0; i < COUNT(right); i++)
        if (got[i] != right[i]) fail_msg("answer %zu", i);
    secret = right;
    secret_size = sizeof *right;
    look_at_freed_blocks(no_secret);
    for (size_t part = 0; part < 3; part++) tmi_cells_free(cells[part]);

    /* Freed in the middle: the lanes and the last block hold rows. */
    static const int64_t row[] = {TMI_NO_POINT, 123456789012345};
    const void *const columns[] = {row, row, codes[0], codes[1]};
    cells[0] = tmi_cells_new(&layout);
    assert_non_null(cells[0]);
    assert_int_equal(tmi_cells_add(cells[0], columns, 2, NULL), TAMIS_OK);
    secret = &row[1];
    secret_size = sizeof *row;
    tmi_cells_free(cells[0]);
    look_at_freed_blocks(NULL);

    for (long which = 1;; which++) {
        fail_allocation(which);
        tmi_cells *made = tmi_cells_new(&layout);
        const bool failed = allocation_failed();
        assert_int_equal(made == NULL, failed);
        tmi_cells_free(made);
        if (!failed) break;
    }
    tmi_layout_clear(&layout);
}

int main(void)
{
    const struct CMUnitTest all[] = {cmocka_unit_test(points_are_those_of_num), cmocka_unit_test(codes_of_texts),
                                     cmocka_unit_test(codes_of_beginnings), cmocka_unit_test(sums_are_exact)};
    return cmocka_run_group_tests(all, NULL, NULL);
}
