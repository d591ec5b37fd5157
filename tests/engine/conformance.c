/* One request, one table of rows, many roads: CSV and Parquet, one file and several, one thread and two, rows in order
 * and shuffled. The integers must be those of the few lines of C here, bit for bit.                                  */
#include "test.h"

#include <math.h>

#include "base/memory_that_fails.h"
#include "engine/folder.h"
#include "num/grid.h"

/* ---- the rows ---- */

typedef struct row {
    char x[40], y[40];  /* as a CSV cell holds it */
    double x_is, y_is;  /* what it means; NaN: missing */
    size_t g, h;        /* into the texts below */
} row;

static const struct {
    const char *text;
    double value;
} odd_numbers[] = {
    {"", NAN}, {"NA", NAN}, {"nan", NAN}, {"inf", NAN}, {"-inf", NAN}, {"1e999", NAN}, {"-0", -0.0}, {"0", 0},
    {"4.9e-324", 4.9e-324}, {"-2e-310", -2e-310}, {"1.7976931348623157e308", 1.7976931348623157e308},
    {"-1e300", -1e300}, {"0.5", 0.5}, {"-0.5", -0.5}, {"1.5", 1.5}, {"2.5", 2.5}, {"-2.5", -2.5}, {"100", 100},
    {"99.99999999999999", 99.99999999999999}, {" 7 ", 7}, {"+3", 3}, {"1,5", NAN}, {"12abc", NAN}, {"0x10", NAN},
    {"twelve", NAN}, {"97", 97}, {"1e2", 1e2}, {".25", .25}, {"0.49999999999999994", 0.49999999999999994},
};

/* `code`: the index among the values, which for the last ones is none. */
static const struct {
    const char *text;
    int code;
} g_texts[] = {{"E", 0}, {"M", 1}, {"H", 2}, {" E ", 0}, {"e", -1}, {"", -1}, {"E E", -1}, {"unlisted", -1}},
  h_texts[] = {{"it's", 0}, {"a long category, with a comma", 1}, {"say \"no\"", 2}, {"back\\slash", 3},
               {"caf\xc3\xa9", 4}, {"two\nlines", 5}, {"a long category, with a comma, unlisted", -1}, {"7", 6}};

static const char *const g_values[] = {"E", "M", "H"};
static const char *const h_values[] = {"it's", "a long category, with a comma", "say \"no\"", "back\\slash",
                                       "caf\xc3\xa9", "two\nlines", "7"};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const double x_missing[] = {97};
static const tmi_column x = {.name = "x", .kind = TMI_NUMBER, .grid = {.from = -10, .to = 100, .step = 0.25, .low = -40,
                             .high = 400}, .missing_codes = x_missing, .missing_code_count = 1};
static const tmi_column y = {.name = "y", .kind = TMI_NUMBER, .grid = {.from = -1e6, .to = 1e6, .step = 0.1, .low = -10000000,
                             .high = 10000000}};
static const tmi_column g = {.name = "g", .kind = TMI_CATEGORY, .values = g_values, .value_count = COUNT(g_values)};
static const tmi_column h = {.name = "h", .kind = TMI_CATEGORY, .values = h_values, .value_count = COUNT(h_values)};

static uint64_t seed = 1;

static uint64_t random64(void) /* splitmix64 */
{
    uint64_t z = seed += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static void random_number(char *text, double *value)
{
    size_t odd = random64() % (2 * COUNT(odd_numbers));
    if (odd < COUNT(odd_numbers)) {
        strcpy(text, odd_numbers[odd].text);
        *value = odd_numbers[odd].value;
    } else {
        double scale = ldexp(1, (int)(random64() % 40) - 10);
        *value = ((double)(random64() >> 11) / 9007199254740992.0 - 0.3) * scale;
        snprintf(text, 40, "%.17g", *value);
    }
}

static row *random_rows(size_t n)
{
    row *rows = calloc(n + 1, sizeof *rows);
    for (size_t i = 0; i < n; i++) {
        random_number(rows[i].x, &rows[i].x_is);
        random_number(rows[i].y, &rows[i].y_is);
        rows[i].g = random64() % COUNT(g_texts);
        rows[i].h = random64() % COUNT(h_texts);
    }
    return rows;
}

static void shuffle(row *rows, size_t n)
{
    for (size_t i = n; i > 1; i--) {
        size_t j = random64() % i;
        row other = rows[j];
        rows[j] = rows[i - 1];
        rows[i - 1] = other;
    }
}

/* ---- the request and its answer by brute force ---- */

static const tmi_column *const by_g[] = {&g}, *const by_gh[] = {&g, &h}, *const by_h[] = {&h};
static const tmi_measure measures[] = {ROWS_WITH(NULL), SUM_OF(&x), ROWS_WITH(&x), SUM_OF(&y),
                                       ROWS_WITH(&y),   ROWS_WITH(&h)};
static const tmi_table tables[] = {{NULL, 0, measures, 6}, {by_g, 1, measures, 5}, {by_gh, 2, measures, 6},
                                   {by_h, 1, measures + 1, 1}};
static const tmi_request request = {.tables = tables, .table_count = COUNT(tables)};

#define ANSWERS 128
typedef struct answers {
    tmi_int128 of[COUNT(tables)][ANSWERS];
} answers;

static bool point_of(int64_t *k, const tmi_column *column, double v)
{
    for (size_t i = 0; i < column->missing_code_count; i++)
        if (v == column->missing_codes[i]) return false;
    return tmi_grid_point(k, &column->grid, v);
}

static void add_row(answers *sum, const row *row)
{
    int64_t kx = 0, ky = 0;
    const bool has_x = point_of(&kx, &x, row->x_is), has_y = point_of(&ky, &y, row->y_is);
    const int cg = g_texts[row->g].code, ch = h_texts[row->h].code;
    const int64_t terms[] = {1, kx, has_x, ky, has_y, ch >= 0};
    for (size_t m = 0; m < 6; m++) {
        sum->of[0][m] += terms[m];
        if (cg >= 0 && m < 5) sum->of[1][(size_t)cg * 5 + m] += terms[m];
        if (cg >= 0 && ch >= 0) sum->of[2][((size_t)cg * COUNT(h_values) + (size_t)ch) * 6 + m] += terms[m];
    }
    if (ch >= 0) sum->of[3][ch] += kx;
}

/* ---- files ---- */

static void write_cell(FILE *file, const char *text, char end)
{
    const bool quoted = strpbrk(text, ",\"\n");
    if (quoted) putc('"', file);
    for (; *text; text++) {
        if (*text == '"') putc('"', file);
        putc(*text, file);
    }
    if (quoted) putc('"', file);
    putc(end, file);
}

static const char *write_csv(const char *name, const row *rows, size_t n)
{
    const char *path = in_folder(name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs("id,x,\"g\",y, h ,X\n", file); /* X and x are two columns */
    for (size_t i = 0; i < n; i++) {
        fprintf(file, "%zu,", i);
        write_cell(file, rows[i].x, ',');
        write_cell(file, g_texts[rows[i].g].text, ',');
        write_cell(file, rows[i].y, ',');
        write_cell(file, h_texts[rows[i].h].text, ',');
        fputs("12\n", file);
    }
    assert_int_equal(fclose(file), 0);
    return path;
}

/* x as double, y as text; a small row group, so that there are several. */
static const char *csv_to_parquet(const char *csv, const char *name)
{
    const char *path = in_folder(name);
    char sql[2048];
    snprintf(sql, sizeof sql,
             "COPY (SELECT g, h, y, TRY_CAST(x AS DOUBLE) AS x FROM read_csv('%s', all_varchar=true, auto_detect=false, "
             "header=true, delim=',', quote='\"', escape='\"', columns={'id': 'VARCHAR', 'x': 'VARCHAR', 'g': 'VARCHAR', "
             "'y': 'VARCHAR', 'h': 'VARCHAR', 'other': 'VARCHAR'})) TO '%s' (FORMAT parquet, ROW_GROUP_SIZE 4096)",
             csv, path);
    run_sql(sql);
    return path;
}

static const char *renamed(const char *path, const char *name)
{
    const char *new_path = in_folder(name);
    assert_int_equal(rename(path, new_path), 0);
    return new_path;
}

static void expect(const answers *right, const char *const *files, size_t count, unsigned threads, int64_t n)
{
    tmi_engine *engine = open_engine(files, count, threads);
    answers got;
    memset(&got, 1, sizeof got);
    tmi_int128 *places[COUNT(tables)];
    tamis_error err = {0};
    int64_t rows;
    const tmi_column *const columns[] = {&x, &y, &g, &h};
    for (size_t t = 0; t < COUNT(tables); t++) places[t] = got.of[t];
    if (count_rows(engine, &rows, columns, COUNT(columns), NULL, NULL, &err) != TAMIS_OK) fail_msg("%s", err.message);
    assert_int_equal(rows, n);
    if (engine->aggregate(engine, places, &request, NULL, NULL, &err) != TAMIS_OK) fail_msg("%s", err.message);
    for (size_t t = 0; t < COUNT(tables); t++)
        assert_memory_equal(got.of[t], right->of[t],
                            tmi_table_cells(&tables[t]) * tables[t].measure_count * sizeof(tmi_int128));
    engine->free(engine);
}

static void all_roads(size_t n)
{
    row *rows = random_rows(n);
    answers right = {0};
    for (size_t i = 0; i < n; i++) add_row(&right, &rows[i]);
    for (int round = 0; round < 2; round++) {
        const char *csv = write_csv("all.csv", rows, n), *parquet = csv_to_parquet(csv, "all.parquet");
        const char *first = write_csv("a[1]*?.csv", rows, n / 3);
        const char *second = csv_to_parquet(write_csv("b.csv", rows + n / 3, n - n / 3), "b.parquet");
        second = renamed(second, "it's \"b\"; -- .PARQUET");
        const char *const parts[] = {first, second};
        write_csv("a1xx.csv", rows, n / 3); /* would match if the name were a pattern */
        expect(&right, &csv, 1, 1, (int64_t)n);
        expect(&right, &parquet, 1, 1, (int64_t)n);
        expect(&right, &csv, 1, 2, (int64_t)n);
        expect(&right, &parquet, 1, 2, (int64_t)n);
        expect(&right, parts, 2, 2, (int64_t)n);
        shuffle(rows, n);
    }
    free(rows);
}

static void no_row(void **state)
{
    (void)state;
    all_roads(0);
}

static void one_row(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) all_roads(1);
}

static void some_rows(void **state)
{
    (void)state;
    all_roads(2047);
}

static void many_rows(void **state)
{
    (void)state;
    all_roads(100000);
}

/* ---- rows ---- */

typedef struct tally {
    size_t rows, x_missing, g_missing;
    long double x_sum;
    int64_t g_sum;
    size_t stop_at; /* rows */
} tally;

static tamis_status take(void *context, const tmi_piece *piece, tamis_error *err)
{
    (void)err;
    tally *t = context;
    const double *xs = piece->columns[0];
    const int32_t *gs = piece->columns[1];
    for (size_t i = 0; i < piece->rows; i++) {
        t->x_missing += isnan(xs[i]) != 0;
        t->x_sum += isnan(xs[i]) || fabs(xs[i]) > 1e6 ? 0 : (long double)xs[i];
        t->g_missing += gs[i] == -1;
        t->g_sum += gs[i];
    }
    t->rows += piece->rows;
    return t->rows >= t->stop_at ? TAMIS_REFUSED : TAMIS_OK;
}

static void rows_come_as_they_stand(void **state)
{
    (void)state;
    const size_t n = 20000;
    const tmi_column *const columns[] = {&x, &g};
    row *rows = random_rows(n);
    tally right = {0};
    for (size_t i = 0; i < n; i++) {
        const double v = rows[i].x_is == 97 ? NAN : rows[i].x_is;
        right.x_missing += isnan(v) != 0;
        right.x_sum += isnan(v) || fabs(v) > 1e6 ? 0 : (long double)v;
        right.g_missing += g_texts[rows[i].g].code == -1;
        right.g_sum += g_texts[rows[i].g].code;
    }
    const char *csv = write_csv("rows.csv", rows, n), *parquet = csv_to_parquet(csv, "rows.parquet");
    for (int kind = 0; kind < 2; kind++) {
        tmi_engine *engine = open_engine(kind ? &csv : &parquet, 1, 2);
        tally got = {.stop_at = SIZE_MAX};
        assert_int_equal(engine->rows(engine, columns, 2, take, &got, NULL), TAMIS_OK);
        assert_int_equal(got.rows, n);
        assert_int_equal(got.x_missing, right.x_missing);
        assert_int_equal(got.g_missing, right.g_missing);
        assert_int_equal(got.g_sum, right.g_sum);
        assert_true(fabsl(got.x_sum - right.x_sum) < 1e-6L);
        got = (tally){.stop_at = 1};
        assert_int_equal(engine->rows(engine, columns, 2, take, &got, NULL), TAMIS_REFUSED);
        assert_true(got.rows < n);
        engine->free(engine);
    }
    free(rows);
}

/* ---- memory ---- */

static void memory_may_fail(void **state)
{
    (void)state;
    row *rows = random_rows(10);
    const char *csv = write_csv("small.csv", rows, 10);
    const char *files[] = {csv, csv_to_parquet(csv, "small.parquet")};
    const tmi_source source = {.files = files, .file_count = 2};
    const tmi_column *const columns[] = {&x, &g};
    tmi_engine *engine;
    const tmi_table small = {by_g, 1, measures + 1, 1};
    const tmi_request asked = {.tables = &small, .table_count = 1};
    tmi_int128 got[3], *const places[] = {got};
    static const tmi_int128 zero[3];
    int64_t count;
    tally tally = {.stop_at = SIZE_MAX};
    EVERY_ALLOCATION_FAILS(tmi_engine_duckdb(&engine, &source, 1, NULL), assert_null(engine));
    EVERY_ALLOCATION_FAILS(count_rows(engine, &count, columns, 2, NULL, NULL, NULL), assert_int_equal(count, 0));
    EVERY_ALLOCATION_FAILS((memset(got, 1, sizeof got), engine->aggregate(engine, places, &asked, NULL, NULL, NULL)),
                           assert_memory_equal(got, zero, sizeof got));
    EVERY_ALLOCATION_FAILS(engine->rows(engine, columns, 2, take, &tally, NULL), {});
    engine->free(engine);
    free(rows);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(no_row),        cmocka_unit_test(one_row),
        cmocka_unit_test(some_rows),     cmocka_unit_test(many_rows),
        cmocka_unit_test(rows_come_as_they_stand), cmocka_unit_test(memory_may_fail),
    };
    return cmocka_run_group_tests(all, make_folder, remove_folder);
}
