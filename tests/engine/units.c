/* Which rows of a unit count: each has the same chance, and the rows of other units do not matter. */
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/core/units.h"
#include "tests/engine/request.h"

static const char *const sexes[] = {"f", "m"};
static const tmi_column sex = {.name = "sex", .kind = TMI_CATEGORY, .values = sexes, .value_count = 2},
                        age = {.name = "age", .kind = TMI_NUMBER, .grid = {0, 99, 1, 0, 99}},
                        id = {.name = "id", .kind = TMI_LABEL};
static const tmi_column *const by[] = {&sex};
static const tmi_measure measures[] = {ROWS_WITH(NULL), ROWS_WITH(&age)};
static const tmi_table table = {by, 1, measures, 2};

#define ROWS 5
static const int32_t codes[ROWS] = {0, 1, 0, 1, 0};

static tamis_status add(void *cells, const void *const *columns, size_t n, tamis_error *err)
{
    return tmi_cells_add(cells, columns, n, err);
}

/* Five rows of each unit, of which the ages of `missing` are missing: how often each sex counts, and each with an age. */
static void keep(tmi_int128 answers[4], int first, int last, int64_t most, const unsigned char *key, size_t missing)
{
    const tmi_request request = {.tables = &table, .table_count = 1, .unit = &id, .rows_per_unit = most, .key = key};
    tmi_layout layout;
    assert_int_equal(tmi_layout_init(&layout, &request, NULL), TAMIS_OK);
    tmi_units *units = tmi_units_new(&layout);
    tmi_cells *cells = tmi_cells_new(&layout);
    int64_t ages[ROWS];
    for (size_t i = 0; i < ROWS; i++) ages[i] = i < missing ? TMI_NO_POINT : 30;
    const void *columns[3];
    columns[tmi_layout_index(&layout, &sex)] = codes;
    columns[tmi_layout_index(&layout, &age)] = ages;
    for (size_t i = 0; i < ROWS; i++)
        for (int unit = first; unit < last; unit++) {
            char name[32];
            const int length = snprintf(name, sizeof name, " h%d", unit);
            assert_int_equal(tmi_units_add(units, (tmi_cell){name, (size_t)length}, columns, i, NULL), TAMIS_OK);
        }
    assert_int_equal(tmi_units_add(units, (tmi_cell){" ", 1}, columns, 0, NULL), TAMIS_OK);
    assert_int_equal(tmi_units_give(units, add, cells, NULL), TAMIS_OK);
    tmi_cells_answers(answers, cells);
    tmi_cells_free(cells);
    tmi_units_free(units);
    tmi_layout_clear(&layout);
}

/* Two of five rows of 5,000 units: the number of women is 6,000 on the average with a standard deviation of 42; the keys are
 * fixed, so the test cannot fail by chance. */
static void each_row_has_the_same_chance(void **state)
{
    (void)state;
    for (unsigned char k = 0; k < 3; k++) {
        const unsigned char key[TMI_KEY_BYTES] = {k};
        tmi_int128 got[4];
        keep(got, 0, 5000, 2, key, 0);
        assert_true(got[0] + got[2] == 10000);
        if (fabs((double)got[0] - 6000) > 5 * 42) fail_msg("%d women", (int)got[0]);
        keep(got, 0, 5000, 2, key, 2); /* one of three women, one of two men have no age */
        if (fabs((double)(got[1] + got[3]) - 6000) > 5 * 42) fail_msg("%d ages", (int)(got[1] + got[3]));
    }
}

/* Another key keeps other rows. */
static void the_key_decides(void **state)
{
    (void)state;
    tmi_int128 first[4], got[4];
    int other = 0;
    for (unsigned char k = 0; k < 8; k++) {
        unsigned char key[TMI_KEY_BYTES] = {0};
        key[k] = 1;
        keep(got, 0, 100, 2, key, 2);
        if (k == 0) memcpy(first, got, sizeof got);
        other += memcmp(first, got, sizeof got) != 0;
    }
    assert_true(other > 5);
}

static void other_units_do_not_matter(void **state)
{
    (void)state;
    const unsigned char key[TMI_KEY_BYTES] = {7};
    tmi_int128 all[4], parts[4], sum[4] = {0};
    keep(all, 0, 50, 2, key, 1);
    for (int unit = 0; unit < 50; unit++) {
        keep(parts, unit, unit + 1, 2, key, 1);
        for (size_t i = 0; i < 4; i++) sum[i] += parts[i];
    }
    assert_memory_equal(sum, all, sizeof all);
}

static void few_rows_all_count(void **state)
{
    (void)state;
    const unsigned char key[TMI_KEY_BYTES] = {7};
    tmi_int128 got[4];
    keep(got, 0, 10, ROWS, key, 1);
    assert_true(got[0] == 30 && got[2] == 20 && got[1] == 20 && got[3] == 20);
}

int main(void)
{
    const struct CMUnitTest all[] = {cmocka_unit_test(each_row_has_the_same_chance), cmocka_unit_test(the_key_decides),
                                     cmocka_unit_test(other_units_do_not_matter), cmocka_unit_test(few_rows_all_count)};
    return cmocka_run_group_tests(all, NULL, NULL);
}
