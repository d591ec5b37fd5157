/* Which rows of a unit count: each has the same chance, and the rows of other units do not matter. */
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/core/units.h"
#include "tests/base/memory_that_fails.h"
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

#define PLENTY (UINT64_C(1) << 28)

/* A source of units, each with ROWS rows of which the ages of `missing` are missing. It is read row by row, all units in turn. */
typedef struct rows {
    int first, last; /* units, the last one excluded */
    size_t missing;
} rows;

typedef void see_row(void *context, tmi_cell label, const int32_t *code, const int64_t *point);

static void read_rows(const rows *r, see_row *see, void *context)
{
    for (size_t i = 0; i < ROWS; i++)
        for (int unit = r->first; unit < r->last; unit++) {
            char name[32];
            const int length = snprintf(name, sizeof name, i % 2 == 0 ? " h%d" : "h%d\t", unit); /* blanks do not matter */
            const int64_t point = i < r->missing ? TMI_NO_POINT : 30;
            see(context, (tmi_cell){name, (size_t)length}, &codes[i], &point);
        }
    see(context, (tmi_cell){" ", 1}, &codes[0], &(int64_t){30}); /* without a unit */
}

typedef struct taking {
    tmi_labels *labels; /* NULL: rows are counted as they come, else by their labels */
    tmi_layout layout;
    tmi_units *units;
    tmi_units_room *room;
    tmi_cells *cells;
    tamis_status status;
    size_t at_once; /* rows that counted as they were read */
} taking;

static void count(void *context, tmi_cell label, const int32_t *code, const int64_t *point)
{
    (void)code;
    (void)point;
    const taking *t = context;
    if (t->labels) assert_int_equal(tmi_labels_add_all(t->labels, NULL, 1, &label, 1, NULL), TAMIS_OK);
    else tmi_units_count(t->units, &label, 1);
}

static tamis_status add_at_once(void *context, const void *const *columns, size_t n, tamis_error *err)
{
    taking *t = context;
    t->at_once += n;
    return add(t->cells, columns, n, err);
}

static void take(void *context, tmi_cell label, const int32_t *code, const int64_t *point)
{
    taking *t = context;
    const void *columns[3];
    columns[tmi_layout_index(&t->layout, &sex)] = code;
    columns[tmi_layout_index(&t->layout, &age)] = point;
    if (t->status == TAMIS_OK) t->status = tmi_units_add(t->units, t->room, &label, columns, 1, add_at_once, t, NULL);
}

static void begin(taking *t, const tmi_request *request, int64_t expected, uint64_t memory)
{
    *t = (taking){0};
    assert_int_equal(tmi_layout_init(&t->layout, request, NULL), TAMIS_OK);
    assert_non_null(t->units = tmi_units_new(&t->layout, expected, memory));
    assert_non_null(t->room = tmi_units_room_new(t->units));
    assert_non_null(t->cells = tmi_cells_new(&t->layout));
}

static void end(taking *t)
{
    tmi_cells_free(t->cells);
    tmi_units_room_free(t->room);
    tmi_units_free(t->units);
    tmi_layout_clear(&t->layout);
}

/* How often each sex counts, and each with an age. Returns how often the rows were read after they were counted.
 * `known`: by their labels. */
static size_t keep_counted(tmi_int128 answers[4], size_t *at_once, const rows *r, const tmi_request *request, int64_t expected,
                           uint64_t memory, bool known)
{
    taking t;
    size_t rounds;
    begin(&t, request, expected, memory);
    if (known) assert_non_null(t.labels = tmi_labels_new());
    read_rows(r, count, &t);
    if (known) tmi_units_know(t.units, t.labels);
    tmi_labels_free(t.labels);
    assert_int_equal(tmi_units_plan(&rounds, t.units, NULL), TAMIS_OK);
    for (size_t i = 0; i < rounds; i++) {
        read_rows(r, take, &t);
        assert_int_equal(t.status, TAMIS_OK);
        assert_int_equal(tmi_units_end_round(t.units, add, t.cells, NULL), TAMIS_OK);
    }
    tmi_cells_answers(answers, t.cells);
    *at_once = t.at_once;
    end(&t);
    return rounds;
}

static size_t keep_within(tmi_int128 answers[4], size_t *at_once, const rows *r, const tmi_request *request, int64_t expected,
                          uint64_t memory)
{
    return keep_counted(answers, at_once, r, request, expected, memory, false);
}

static tmi_request bounded(int64_t most, const unsigned char *key)
{
    return (tmi_request){.tables = &table, .table_count = 1, .unit = &id, .rows_per_unit = most, .key = key};
}

static void keep(tmi_int128 answers[4], int first, int last, int64_t most, const unsigned char *key, size_t missing)
{
    size_t at_once;
    const tmi_request request = bounded(most, key);
    assert_int_equal(keep_within(answers, &at_once, &(rows){first, last, missing}, &request, last - first, PLENTY), 1);
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

/* No row is kept where no unit has too many: all count as they are read. */
static void nothing_is_kept_without_need(void **state)
{
    (void)state;
    const unsigned char key[TMI_KEY_BYTES] = {7};
    tmi_int128 got[4];
    size_t at_once;
    const tmi_request request = bounded(ROWS, key);
    for (int units = 1; units <= 100000; units *= 10) {
        const rows r = {0, units, 0};
        assert_int_equal(keep_within(got, &at_once, &r, &request, units, PLENTY), 1);
        if (at_once != (size_t)units * ROWS) fail_msg("%zu of %d", at_once, units * ROWS);
    }
}

/* Whether rows are counted as they come or were counted by their labels. With little memory the source is read more
 * often, and with very little a unit is seen in parts; a table that is too small does not know all units. The rows that
 * count are the same. */
static void memory_changes_nothing(void **state)
{
    (void)state;
    const unsigned char key[TMI_KEY_BYTES] = {9};
    for (int units = 1; units <= 200; units = units == 1 ? 200 : units + 1)
        for (int64_t most = 1; most <= ROWS; most++) {
            const tmi_request request = bounded(most, key);
            const rows r = {0, units, 2};
            tmi_int128 all[4], got[4];
            size_t at_once, once = keep_within(all, &at_once, &r, &request, units, PLENTY);
            assert_int_equal(once, 1);
            assert_true(all[0] + all[2] == units * most);
            const struct {
                int64_t expected;
                uint64_t memory;
                size_t least;
            } tight[] = {{units, 1 << 16, units == 1 || most == ROWS ? 1 : 2},
                         {units, 1000, most == ROWS ? 1 : 2},
                         {1, 1 << 16, 1}};
            for (size_t i = 0; i < sizeof tight / sizeof *tight; i++) {
                const size_t rounds = keep_within(got, &at_once, &r, &request, tight[i].expected, tight[i].memory);
                if (rounds < tight[i].least) fail_msg("units %d, most %d, case %zu: %zu rounds", units, (int)most, i, rounds);
                assert_memory_equal(got, all, sizeof all);
                size_t same;
                assert_int_equal(keep_counted(got, &same, &r, &request, tight[i].expected, tight[i].memory, true), rounds);
                assert_memory_equal(got, all, sizeof all);
                assert_int_equal(same, at_once);
            }
        }
}

/* One label of many bytes among short ones, wherever it stands: fewer rows are kept at once, since any of them may be as long. */
static void long_labels_need_more_rounds(void **state)
{
    (void)state;
    enum { UNITS = 100, BYTES = 5000 };
    static char text[BYTES];
    const unsigned char key[TMI_KEY_BYTES] = {9};
    const tmi_request request = bounded(1, key);
    size_t rounds[3];
    memset(text, 'h', sizeof text);
    for (size_t i = 0; i < 3; i++) { /* no long label, the first, the last but one */
        taking t;
        begin(&t, &request, UNITS, 1 << 16);
        for (size_t unit = 0; unit < UNITS; unit++)
            for (size_t row = 0; row < ROWS; row++) {
                const bool is_long = (i == 1 && unit == 0) || (i == 2 && unit == UNITS - 2);
                const tmi_cell label = {text, is_long ? BYTES : unit + 1};
                tmi_units_count(t.units, &label, 1);
            }
        assert_int_equal(tmi_units_plan(&rounds[i], t.units, NULL), TAMIS_OK);
        end(&t);
    }
    assert_true(rounds[1] > 4 * rounds[0] && rounds[2] == rounds[1]);
}

/* Rows that come after they were counted cannot count: a unit never has more than it may. */
static void a_source_that_grows_is_an_error(void **state)
{
    (void)state;
    const unsigned char key[TMI_KEY_BYTES] = {9};
    const tmi_request request = bounded(2 * ROWS, key);
    const rows before = {0, 3, 0}, other = {3, 4, 0};
    taking t;
    size_t rounds;
    for (int twice = 0; twice < 2; twice++) {
        begin(&t, &request, 3, PLENTY);
        read_rows(&before, count, &t);
        assert_int_equal(tmi_units_plan(&rounds, t.units, NULL), TAMIS_OK);
        read_rows(&before, take, &t);
        assert_int_equal(t.status, TAMIS_OK);
        read_rows(twice ? &before : &other, take, &t);
        assert_int_equal(t.status, TAMIS_SYSTEM);
        assert_int_equal(t.at_once, 3 * ROWS);
        end(&t);
    }
}

static void memory_runs_out(void **state)
{
    (void)state;
    const unsigned char key[TMI_KEY_BYTES] = {9};
    const tmi_request request = bounded(1, key);
    tmi_layout layout;
    tmi_units *units = NULL;
    tamis_error err = {0};
    assert_int_equal(tmi_layout_init(&layout, &request, NULL), TAMIS_OK);
    EVERY_ALLOCATION_FAILS((units = tmi_units_new(&layout, 3, PLENTY)) ? TAMIS_OK : TAMIS_SYSTEM, assert_null(units));
    tmi_units_free(units);
    assert_int_equal(tmi_units_try(&layout, 1000, 1000000, PLENTY, &err), TAMIS_OK);
    assert_int_equal(tmi_units_try(&layout, INT64_MAX / 4, 1, UINT64_MAX / 4, &err),
                     TAMIS_SYSTEM); /* more than any machine has */
    assert_non_null(strstr(err.message, "memory"));
    tmi_layout_clear(&layout);
}

int main(void)
{
    const struct CMUnitTest all[] = {cmocka_unit_test(each_row_has_the_same_chance),
                                     cmocka_unit_test(the_key_decides),
                                     cmocka_unit_test(other_units_do_not_matter),
                                     cmocka_unit_test(few_rows_all_count),
                                     cmocka_unit_test(nothing_is_kept_without_need),
                                     cmocka_unit_test(memory_changes_nothing),
                                     cmocka_unit_test(long_labels_need_more_rounds),
                                     cmocka_unit_test(a_source_that_grows_is_an_error),
                                     cmocka_unit_test(memory_runs_out)};
    return cmocka_run_group_tests(all, NULL, NULL);
}
