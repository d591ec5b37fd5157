/* Files that are broken, odd or hostile: a right answer or a clear INVALID before the charge, SYSTEM after it, and never a
 * word of the data in a message.                                                                                      */
#include "tests/test.h"

#include <sys/stat.h>
#include <time.h>

#include "tests/engine/duckdb_sql.h"
#include "tests/engine/folder.h"

static const char *const b_values[] = {"x", "y"};
static const tmi_column a = {.name = "a", .kind = TMI_NUMBER, .grid = {.to = 100, .step = 1, .high = 100}};
static const tmi_column b = {.name = "b", .kind = TMI_CATEGORY, .values = b_values, .value_count = 2};
static const tmi_column *const columns[] = {&a, &b};
static const tmi_column *const by[] = {&b};
static const tmi_measure measures[] = {ROWS_WITH(NULL), SUM_OF(&a)};
static const tmi_table tables[] = {{NULL, 0, measures, 2}, {by, 1, measures, 2}};
static const tmi_request request = {.tables = tables, .table_count = 2};

typedef struct answers {
    tmi_int128 in_all[2], by_b[4];
} answers;

static tamis_status describe(const char *path, int64_t *rows, tamis_error *err)
{
    tmi_engine *engine = open_engine(&path, 1, 1);
    tamis_status status = count_rows(engine, rows, columns, 2, NULL, err);
    engine->free(engine);
    return status;
}

static tamis_status aggregate(const char *path, answers *got, tamis_error *err)
{
    tmi_engine *engine = open_engine(&path, 1, 1);
    tmi_int128 *const places[] = {got->in_all, got->by_b};
    memset(got, 1, sizeof *got);
    tamis_status status = engine->aggregate(engine, places, &request, NULL, err);
    engine->free(engine);
    return status;
}

/* ---- files that are read ---- */

static void good_files(void **state)
{
    static const struct {
        const char *name, *text;
        int rows, sum, rows_x, sum_x;
    } cases[] = {
        {"plain", "a,b\n1,x\n2,y\n", 2, 3, 1, 1},
        {"no rows", "a,b\n", 0, 0, 0, 0},
        {"no rows, no line end", "a,b", 0, 0, 0, 0},
        {"one row, no line end", "a,b\n1,x", 1, 1, 1, 1},
        {"byte order mark",
         "\xef\xbb\xbf"
         "a,b\n1,x\n",
         1, 1, 1, 1},
        {"CR LF", "a,b\r\n1,x\r\n2,y\r\n", 2, 3, 1, 1},
        {"CR", "a,b\r1,x\r2,y\r", 2, 3, 1, 1},
        {"mark and CR LF", "\xef\xbb\xbf\"a\",\"b\"\r\n1,x\r\n", 1, 1, 1, 1},
        {"quotes", "\"a\",\"b\"\n\"1\",\"x\"\n\"2\",\"y\"\n", 2, 3, 1, 1},
        {"other columns", "z,b,,a,,A,B\n9,x,,1,,50,y\n9,y,,2,,50,x\n", 2, 3, 1, 1},
        {"empty lines", "a,b\n1,x\n\n2,y\n\n", 2, 3, 1, 1},
        {"empty cells", "a,b\n,x\n2,\n\"\",x\n", 3, 2, 2, 0},
        {"UTF-8", "a,b,\xc3\xa9t\xc3\xa9\n1,x,\xe2\x82\xac\n2,\xc3\xa9,\xf0\x9f\x98\x80\n", 2, 3, 1, 1},
        {"comma, line end, quote in a cell", "a,b,c\n1,x,\"1, \"\"2\"\"\n3\"\n2,y,\n", 2, 3, 1, 1},
        {"a name with a line end", "\"a\",\"b\",\"c\nd\"\n1,x,9\n", 1, 1, 1, 1},
        {"a zero byte in a cell", NULL, 2, 2, 1, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *path = cases[i].text ? write_text("good.csv", cases[i].text)
                                         : write_bytes("good.csv", "a,b\n1\0,x\n2,y\0\n", 14);
        int64_t rows;
        tamis_error err = {0};
        answers got;
        if (describe(path, &rows, &err) != TAMIS_OK) fail_msg("%s: %s", cases[i].name, err.message);
        if (rows != cases[i].rows) fail_msg("%s: %d rows", cases[i].name, (int)rows);
        if (aggregate(path, &got, &err) != TAMIS_OK) fail_msg("%s: %s", cases[i].name, err.message);
        if (got.in_all[0] != cases[i].rows || got.in_all[1] != cases[i].sum || got.by_b[0] != cases[i].rows_x ||
            got.by_b[1] != cases[i].sum_x)
            fail_msg("%s: wrong sums", cases[i].name);
    }
}

/* ---- files that are not ---- */

static void bad_files(void **state)
{
    static const struct {
        const char *text, *says;
        bool breaks_later; /* found in the lines, not in the first one */
    } cases[] = {
        {"", "the file is empty", false},
        {"\n1,x\n", "the first line is empty", false},
        {"a,b,a\n1,x,3\n", "columns 1 and 3 have the same name", false},
        {"\"a\",\"b\n1,x\n", "is never closed", false},
        {"a,b\"c\"\n", "not a list of column names", false},
        {"\"a\"z,b\n", "not a list of column names", false},
        {"secret1,secret2\n1,x\n", "there is no column a", false},
        {"a,c\n1,secret\n", "there is no column b", false},
        {"a;b\n1;x\n", "separate columns by commas", false},
        {"1,secret\n2,y\n", "there is no column a", false},
        {"1,-2.5\n2,3\n", "the first line contains numbers", false},
        {"a,b\n1,\"secret\n2,y\n", "line 2: a quote is not closed", true},
        {"a,b\n1,\"secret\"z\n2,y\n", "quote", true},
        {"a,b\n1,x\n2\n3,secret\n", "line 3: there are more or fewer fields", true},
        {"a,b\n1,x\n2,secret,z\n", "line 3: there are more or fewer fields", true},
        {"a,b\n1,x\r\n2,secret\n", "one kind of line end", true},
        {"a,b\n1,x\n2,secr\xe9t\n", "line 3: not UTF-8", true},
        {"a,b\n1,\xed\xa0\x80\n", "line 2: not UTF-8", true},
        {"a,b\n1,\xc0\xaf\n", "line 2: not UTF-8", true},
        {"a,b\n1,x\xe2\x82", "ends in the middle of a character", true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *path = write_text("bad.csv", cases[i].text);
        tamis_error err = {0};
        int64_t rows = 7;
        answers got;
        assert_int_equal(describe(path, &rows, &err), TAMIS_INVALID);
        assert_int_equal(err.status, TAMIS_INVALID);
        assert_int_equal(rows, 0);
        if (!strstr(err.message, cases[i].says) || !strstr(err.message, "bad.csv")) fail_msg("%zu says: %s", i, err.message);
        assert_null(strstr(err.message, "secr"));
        assert_int_equal(aggregate(path, &got, &err), TAMIS_SYSTEM);
        assert_int_equal(err.status, TAMIS_SYSTEM);
        assert_null(strstr(err.message, "secr"));
        if (cases[i].breaks_later) assert_null(strstr(err.message, "line"));
        for (size_t k = 0; k < 2; k++) assert_true(got.in_all[k] == 0);
        for (size_t k = 0; k < 4; k++) assert_true(got.by_b[k] == 0);
    }
}

static void no_files(void **state)
{
    (void)state;
    tamis_error err = {0};
    int64_t rows;
    answers got;
    assert_int_equal(describe(in_folder("absent.csv"), &rows, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "absent.csv: No such file"));
    assert_int_equal(aggregate(in_folder("absent.csv"), &got, &err), TAMIS_SYSTEM);

    assert_int_equal(mkdir(in_folder("dir.csv"), 0700), 0);
    assert_int_equal(describe(in_folder("dir.csv"), &rows, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "a folder"));
    assert_int_equal(rmdir(in_folder("dir.csv")), 0);

    assert_int_equal(mkfifo(in_folder("pipe.csv"), 0600), 0);
    assert_int_equal(describe(in_folder("pipe.csv"), &rows, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "a device or pipe"));

    const char *locked = write_text("locked.csv", "a,b\n1,x\n");
    assert_int_equal(chmod(locked, 0), 0);
    if (geteuid() != 0) { /* root may read it */
        assert_int_equal(describe(locked, &rows, &err), TAMIS_INVALID);
        assert_non_null(strstr(err.message, "Permission denied"));
    }
    assert_int_equal(symlink(in_folder("nowhere"), in_folder("link.csv")), 0);
    assert_int_equal(describe(in_folder("link.csv"), &rows, &err), TAMIS_INVALID);

    const char *const two[] = {in_folder("absent.csv"), in_folder("absent too.csv")};
    tmi_engine *engine = open_engine(two, 2, 1);
    assert_int_equal(count_rows(engine, &rows, columns, 2, NULL, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "absent.csv")); /* both are told */
    assert_non_null(strstr(err.message, "absent too.csv"));
    engine->free(engine);
}

static void no_source(void **state)
{
    (void)state;
    static const char *const names[] = {"x.sav", "csv", ".csv", "x.parquet.gz", ""};
    tmi_engine *engine;
    tamis_error err = {0};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const tmi_source source = {.files = &names[i], .file_count = 1};
        engine = (tmi_engine *)&engine;
        assert_int_equal(tmi_engine_duckdb(&engine, &source, 1, &err), TAMIS_INVALID);
        assert_null(engine);
    }
    const tmi_source none = {.files = names, .file_count = 0};
    assert_int_equal(tmi_engine_duckdb(&engine, &none, 1, &err), TAMIS_INVALID);
    assert_int_equal(tmi_engine_duckdb(&engine, NULL, 1, &err), TAMIS_INVALID);
    const char *const null = NULL;
    const tmi_source null_name = {.files = &null, .file_count = 1};
    assert_int_equal(tmi_engine_duckdb(&engine, &null_name, 1, &err), TAMIS_INVALID);
}

/* ---- Parquet ---- */

static const char *write_parquet(const char *name, const char *select)
{
    const char *path = in_folder(name);
    char sql[4096];
    snprintf(sql, sizeof sql, "COPY (%s) TO '%s' (FORMAT parquet)", select, path);
    run_sql(sql);
    return path;
}

static void parquet_types(void **state)
{
    static const struct {
        const char *select;
        int sum, rows_x;
    } cases[] = {
        {"SELECT 1::TINYINT AS a, 'x' AS b UNION ALL SELECT 2, 'y'", 3, 1},
        {"SELECT 1::UBIGINT AS a, 'x'::ENUM('x', 'z') AS b UNION ALL SELECT 2, 'z'", 3, 1},
        {"SELECT 1.4::DECIMAL(9,1) AS a, 'x' AS b UNION ALL SELECT 1.5, ' x '", 3, 2},
        {"SELECT 1::HUGEINT AS a, 'x' AS b UNION ALL SELECT 2, NULL", 3, 1},
        {"SELECT 1::FLOAT AS a, 'x' AS b UNION ALL SELECT 'inf'::FLOAT, 'x'", 1, 2},
        {"SELECT 1e300 AS a, 'y' AS b UNION ALL SELECT -1e300, NULL", 100, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *path = write_parquet("types.parquet", cases[i].select);
        tamis_error err = {0};
        int64_t rows;
        answers got;
        if (describe(path, &rows, &err) != TAMIS_OK) fail_msg("%zu: %s", i, err.message);
        assert_int_equal(rows, 2);
        if (aggregate(path, &got, &err) != TAMIS_OK) fail_msg("%zu: %s", i, err.message);
        if (got.in_all[1] != cases[i].sum || got.by_b[0] != cases[i].rows_x) fail_msg("%zu: wrong sums", i);
    }
    int64_t rows;
    tamis_error err = {0};
    assert_int_equal(describe(write_parquet("d.parquet", "SELECT DATE '2000-01-01' AS a, 'x' AS b"), &rows, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "column a: the plan uses it as a number"));
    assert_int_equal(describe(write_parquet("l.parquet", "SELECT [1] AS a, ['x'] AS b"), &rows, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "column a: the plan uses it as a number"));
    assert_non_null(strstr(err.message, "column b contains lists"));
    assert_int_equal(describe(write_parquet("n.parquet", "SELECT 1 AS A, 2 AS B"), &rows, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "there is no column a"));
    assert_non_null(strstr(err.message, "there is no column b"));
}

/* A code that is no FLOAT is met by the FLOAT that stands for it; a DOUBLE that only looks like it is a value. */
static void codes_in_floats(void **state)
{
    (void)state;
    static const double codes[] = {99.9, 98, 1e300};
    static const tmi_column coded = {.name = "a",
                                     .kind = TMI_NUMBER,
                                     .grid = {.to = 100, .step = 1, .high = 100},
                                     .missing_codes = codes,
                                     .missing_code_count = 3};
    static const tmi_measure rows_of_a = ROWS_WITH(&coded);
    static const tmi_table table = {NULL, 0, &rows_of_a, 1};
    static const tmi_request asked = {.tables = &table, .table_count = 1};
    static const struct {
        const char *select;
        int with_value;
    } cases[] = {
        {"SELECT unnest([99.9, 98, 1, 99.8, NULL])::FLOAT AS a", 2},
        {"SELECT unnest([99.9, 98, 1, 99.8, NULL])::DOUBLE AS a", 2},
        {"SELECT unnest([99.9::FLOAT, 98, 1, 99.8, NULL])::DOUBLE AS a", 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *path = write_parquet("codes.parquet", cases[i].select);
        tmi_engine *engine = open_engine(&path, 1, 1);
        tmi_int128 got = 7, *const places[] = {&got};
        tamis_error err = {0};
        if (engine->aggregate(engine, places, &asked, NULL, &err) != TAMIS_OK) fail_msg("%s", err.message);
        assert_int_equal((int)got, cases[i].with_value);
        engine->free(engine);
    }
}

/* A category may be a number: it is compared by its value. */
static void numbers_as_categories(void **state)
{
    (void)state;
    static const char *const values[] = {"2.50", "1"};
    static const tmi_column code = {.name = "code", .kind = TMI_CATEGORY, .values = values, .value_count = 2};
    static const tmi_column *const by_code[] = {&code};
    static const tmi_table table = {by_code, 1, measures, 1};
    static const tmi_request asked = {.tables = &table, .table_count = 1};
    const char *const files[] = {write_parquet("int.parquet", "SELECT 1 AS code FROM range(3)"),
                                 write_parquet("double.parquet", "SELECT 1e0 AS code FROM range(5)")};
    tmi_int128 got[2], *const places[] = {got};
    tmi_engine *engine = open_engine(files, 2, 1);
    assert_int_equal(engine->aggregate(engine, places, &asked, NULL, NULL), TAMIS_OK);
    assert_true(got[0] == 0 && got[1] == 8);
    engine->free(engine);
}

/* Many categories of the same length and beginning; short ones stand inside DuckDB's strings, long ones outside. */
static void many_categories(void **state)
{
    (void)state;
    enum { MANY = 500 };
    static char texts[MANY][64];
    const char *values[MANY];
    const char *const kinds[] = {"region-%04zu", "a region with a long name, number %04zu"};
    for (size_t kind = 0; kind < 2; kind++) {
        const char *path = in_folder("many.csv");
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fputs("b\n", file);
        for (size_t i = 0; i < MANY; i++) {
            snprintf(texts[i], sizeof texts[i], kinds[kind], i);
            values[i] = texts[i];
        }
        for (size_t i = 0; i < 20 * MANY; i++) fprintf(file, "\"%s\"\n", texts[i * i % (MANY - 1)]);
        assert_int_equal(fclose(file), 0);
        int right[MANY] = {0};
        for (size_t i = 0; i < 20 * MANY; i++) right[i * i % (MANY - 1)]++;
        const tmi_column column = {.name = "b", .kind = TMI_CATEGORY, .values = values, .value_count = MANY};
        const tmi_column *const by_many[] = {&column};
        const tmi_table table = {by_many, 1, measures, 1};
        const tmi_request asked = {.tables = &table, .table_count = 1};
        tmi_int128 got[MANY], *const places[] = {got};
        tmi_engine *engine = open_engine(&path, 1, 2);
        assert_int_equal(engine->aggregate(engine, places, &asked, NULL, NULL), TAMIS_OK);
        for (size_t i = 0; i < MANY; i++) assert_true(got[i] == right[i]);
        engine->free(engine);
    }
}

static void broken_parquet(void **state)
{
    (void)state;
    const char *path = write_parquet("whole.parquet", "SELECT i % 90 AS a, 'secret' || i AS b FROM range(10000) t(i)");
    FILE *file = fopen(path, "rb");
    char *bytes = malloc(1 << 20);
    size_t length = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    assert_true(length > 1000 && length < 1 << 20);
    tamis_error err = {0};
    int64_t rows;
    answers got;
    const size_t cuts[] = {0, 1, 4, 100, length / 2, length - 1};
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        path = write_bytes("cut.parquet", bytes, cuts[i]);
        assert_int_equal(describe(path, &rows, &err), TAMIS_INVALID);
        assert_non_null(strstr(err.message, "cut.parquet"));
        assert_int_equal(aggregate(path, &got, &err), TAMIS_SYSTEM);
    }
    memset(bytes + 4, 0xff, 2000); /* the pages are broken, the footer is not: found after the charge */
    path = write_bytes("pages.parquet", bytes, length);
    assert_int_equal(aggregate(path, &got, &err), TAMIS_SYSTEM);
    assert_null(strstr(err.message, "secret"));
    for (size_t k = 0; k < 2; k++) assert_true(got.in_all[k] == 0);
    free(bytes);
}

/* ---- hostile names ---- */

static void hostile_names(void **state)
{
    static const char *const names[] = {
        "a\"b",
        "a'b",
        "\"; DROP TABLE x; --",
        "'); COPY (SELECT 1) TO '/tmp/x'; --",
        "a\nb",
        "a\\b",
        "\xc3\xa9\xe2\x82\xac",
        "select",
        "a b",
        "a,b",
        "c0",
        "one",
        "k0",
        "*",
        "COLUMNS(*)",
        "{x}",
        "%s%n",
        "a/*",
        "$1",
        "?",
    };
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char name[256], number[256], text[1024], sql[1024], *to = name;
        for (const char *from = names[i]; *from; from++) {
            if (*from == '"') *to++ = '"';
            *to++ = *from;
        }
        *to = '\0';
        snprintf(number, sizeof number, "%sn", names[i]); /* what is text and what is a number cannot be one column of Parquet */
        snprintf(text, sizeof text, "x,\"%s\",y,\"%sn\"\n9,1,9,1\n9,2,9,2\n", name, name);
        snprintf(sql, sizeof sql, "SELECT 9 AS x, CAST(i + 1 AS VARCHAR) AS \"%s\", 9 AS y, i + 1 AS \"%sn\" FROM range(2) t(i)",
                 name, name);
        const char *const files[] = {write_text("hostile.csv", text), write_parquet("hostile.parquet", sql)};
        const tmi_column column = {.name = number, .kind = TMI_NUMBER, .grid = {.to = 100, .step = 1, .high = 100}};
        const tmi_column category = {.name = names[i], .kind = TMI_CATEGORY, .values = &names[i], .value_count = 1};
        const tmi_column *const by_it[] = {&category};
        const tmi_measure sum = SUM_OF(&column);
        const tmi_table both[] = {{NULL, 0, &sum, 1}, {by_it, 1, &sum, 1}};
        const tmi_request asked = {.tables = both, .table_count = 2};
        tmi_int128 got = 0, none = 0, *const places[] = {&got, &none};
        tamis_error err = {0};
        tmi_engine *engine = open_engine(files, 2, 1);
        if (engine->aggregate(engine, places, &asked, NULL, &err) != TAMIS_OK) fail_msg("%s", err.message);
        assert_true(got == 6 && none == 0);
        engine->free(engine);
    }
}

/* ---- requests that break their contract ---- */

static void bad_requests(void **state)
{
    (void)state;
    static const tmi_column no_name = {.kind = TMI_NUMBER, .grid = {.to = 1, .step = 1, .high = 1}};
    static const tmi_column no_step = {.name = "s", .kind = TMI_NUMBER, .grid = {.to = 1, .high = 1}};
    static const tmi_column not_finite = {.name = "n", .grid = {.to = __builtin_inf(), .step = 1, .high = 1}};
    static const tmi_column not_a_number = {.name = "q", .grid = {.from = __builtin_nan(""), .to = 1, .step = 1, .high = 1}};
    static const tmi_column turned = {.name = "t", .grid = {.from = 2, .to = 1, .step = 1, .low = 1, .high = 2}};
    static const tmi_column too_fine = {.name = "f", .grid = {.to = 1e10, .step = 1e-10, .high = INT64_C(1) << 52}};
    static const tmi_column no_point = {.name = "p", .grid = {.from = 0.1, .to = 0.9, .step = 1, .low = 1, .high = 0}};
    static const tmi_column no_values = {.name = "v", .kind = TMI_CATEGORY};
    static const tmi_column *const bad[] = {&no_name,  &no_step,  &not_finite, &not_a_number, &turned,
                                            &too_fine, &no_point, &no_values,  NULL};
    const char *path = write_text("fine.csv", "a,b\n1,x\n");
    tmi_engine *engine = open_engine(&path, 1, 1);
    tmi_int128 room[4], *const places[] = {room};
    int64_t rows;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tamis_error err = {0};
        const tmi_measure sum = SUM_OF(bad[i]);
        const tmi_table table = {NULL, 0, &sum, 1};
        const tmi_request asked = {.tables = &table, .table_count = 1};
        assert_int_equal(engine->aggregate(engine, places, &asked, NULL, &err), TAMIS_INVALID);
        assert_true(err.message[0] != '\0');
        if (bad[i] && bad[i]->name) assert_non_null(strstr(err.message, bad[i]->name));
        assert_int_equal(count_rows(engine, &rows, &bad[i], 1, NULL, &err), TAMIS_INVALID);
    }
    const tmi_measure sum_of_category = SUM_OF(&b);
    const tmi_table category = {NULL, 0, &sum_of_category, 1};
    const tmi_request asked = {.tables = &category, .table_count = 1};
    assert_int_equal(engine->aggregate(engine, places, &asked, NULL, NULL), TAMIS_INVALID);
    const tmi_column *const by_number[] = {&a};
    const tmi_table by_a = {by_number, 1, measures, 1};
    const tmi_request asked_by_a = {.tables = &by_a, .table_count = 1};
    assert_int_equal(engine->aggregate(engine, places, &asked_by_a, NULL, NULL), TAMIS_INVALID);
    const tmi_column *too_many[23]; /* 2^23 cells */
    for (size_t i = 0; i < 23; i++) too_many[i] = &b;
    const tmi_table huge = {too_many, 23, measures, 1};
    const tmi_request asked_huge = {.tables = &huge, .table_count = 1};
    assert_int_equal(engine->aggregate(engine, places, &asked_huge, NULL, NULL), TAMIS_INVALID);
    engine->free(engine);
}

/* Rows alone, without any column. */
static void only_rows(void **state)
{
    (void)state;
    const char *const files[] = {write_text("three.csv", "a\n1\n2\n3\n"),
                                 write_parquet("five.parquet", "SELECT 1 AS a FROM range(5)")};
    const tmi_table table = {NULL, 0, measures, 1};
    const tmi_request asked = {.tables = &table, .table_count = 1}, nothing = {.tables = &table, .table_count = 0};
    tmi_int128 got, *const places[] = {&got};
    tmi_engine *engine = open_engine(files, 2, 2);
    assert_int_equal(engine->aggregate(engine, places, &asked, NULL, NULL), TAMIS_OK);
    assert_true(got == 8);
    assert_int_equal(engine->aggregate(engine, places, &nothing, NULL, NULL), TAMIS_OK);
    engine->free(engine);
}

/* More files than one query reads. */
static void many_files(void **state)
{
    (void)state;
    enum { FILES = 70 };
    static char paths[FILES][512];
    const char *files[FILES];
    for (size_t f = 0; f < FILES; f++) {
        char name[32], text[64];
        snprintf(name, sizeof name, "part %zu.csv", f);
        snprintf(text, sizeof text, f % 2 ? "a,b\n%zu,x\n" : "b,z,a\ny,1,%zu\n", f);
        strcpy(paths[f], write_text(name, text));
        files[f] = paths[f];
    }
    tmi_engine *engine = open_engine(files, FILES, 2);
    answers got;
    tmi_int128 *const places[] = {got.in_all, got.by_b};
    int64_t rows;
    assert_int_equal(count_rows(engine, &rows, columns, 2, NULL, NULL), TAMIS_OK);
    assert_int_equal(rows, FILES);
    assert_int_equal(engine->aggregate(engine, places, &request, NULL, NULL), TAMIS_OK);
    assert_true(got.in_all[0] == FILES && got.in_all[1] == FILES * (FILES - 1) / 2 && got.by_b[0] == FILES / 2);
    write_text("part 69.csv", "a\n1\n"); /* the last one fails: nothing of the others remains */
    assert_int_equal(engine->aggregate(engine, places, &request, NULL, NULL), TAMIS_SYSTEM);
    assert_true(got.in_all[0] == 0 && got.in_all[1] == 0 && got.by_b[0] == 0);
    engine->free(engine);
}

/* The same file under other names: each of its people would count twice. */
static void one_file_twice(void **state)
{
    (void)state;
    static const char *const names[] = {"once.csv", "./once.csv", "alias.csv", "hard.csv"};
    const char *once = write_text("once.csv", "a,b\n1,x\n"), *other = write_text("other.csv", "a,b\n1,x\n");
    assert_int_equal(symlink("once.csv", in_folder("alias.csv")), 0);
    assert_int_equal(link(once, in_folder("hard.csv")), 0);
    for (size_t i = 0; i < 4; i++) {
        char expected[2048];
        const char *again = in_folder(names[i]);
        const char *const files[] = {once, other, again};
        tmi_engine *engine = open_engine(files, 3, 1);
        tamis_error err = {0};
        int64_t rows = 7;
        assert_int_equal(count_rows(engine, &rows, columns, 2, NULL, &err), TAMIS_INVALID);
        snprintf(expected, sizeof expected, "%s: the same file as %s: its rows would count twice", again, once);
        assert_string_equal(err.message, expected);
        assert_int_equal(rows, 0);
        engine->free(engine);
    }
}

/* ---- sources that change ---- */

/* Units are counted before the charge, with their rows. A row that comes later is an error, whether its unit is known or not, and
 * so no unit has more rows than it may. */
static void rows_that_come_later(void **state)
{
    (void)state;
    static const tmi_column id = {.name = "id", .kind = TMI_LABEL};
    static const unsigned char key[TMI_KEY_BYTES] = {5};
    static const char *const more[] = {"", "p,9,x\n", "r,9,x\n"};
    const tmi_request bounded = {.tables = tables, .table_count = 2, .unit = &id, .rows_per_unit = 2, .key = key};
    for (size_t i = 0; i < 3; i++) {
        const char *path = write_text("grows.csv", "id,a,b\np,1,x\nq,2,y\nq,3,y\n");
        tmi_inventory inventory = {.columns = columns, .column_count = 2, .unit = &id};
        answers got;
        tmi_int128 *const places[] = {got.in_all, got.by_b};
        tmi_engine *engine = open_engine(&path, 1, 1);
        tamis_error err = {0};
        assert_int_equal(engine->describe(engine, &inventory, NULL, &err), TAMIS_OK);
        assert_true(inventory.rows == 3 && inventory.units == 2);
        FILE *file = fopen(path, "ab");
        assert_non_null(file);
        fputs(more[i], file);
        fclose(file);
        for (int again = 0; again < 2; again++) {
            assert_int_equal(engine->aggregate(engine, places, &bounded, NULL, &err), i == 0 ? TAMIS_OK : TAMIS_SYSTEM);
            if (i > 0) assert_non_null(strstr(err.message, "changed"));
            assert_true(got.in_all[0] == (i == 0 ? 3 : 0) && got.in_all[1] == (i == 0 ? 6 : 0));
        }
        engine->free(engine);
    }
}

/* ---- progress ---- */

typedef struct watch {
    int calls, stop_at;
    double share;
    int64_t rows;
} watch;

static int look(void *context, double share, int64_t rows)
{
    watch *w = context;
    assert_true(share >= w->share && share <= 1);
    assert_true(rows >= w->rows);
    w->share = share;
    w->rows = rows;
    return ++w->calls == w->stop_at;
}

static void progress_and_cancel(void **state)
{
    (void)state;
    const int64_t n = 4000000;
    const char *path = write_parquet("long.parquet", "SELECT i % 90 AS a, 'x' AS b FROM range(4000000) t(i)");
    const char *const files[] = {path, path, path, path, path, path, path, path};
    tmi_engine *engine = open_engine(files, 8, 2);
    answers got;
    tmi_int128 *const places[] = {got.in_all, got.by_b};
    watch all = {0}, some = {.stop_at = 1};
    tamis_error err = {0};
    assert_int_equal(engine->aggregate(engine, places, &request, &(tamis_watch){look, &all}, &err), TAMIS_OK);
    assert_true(got.in_all[0] == 8 * n && got.by_b[0] == 8 * n);
    assert_true(all.calls > 0 && all.rows > 0 && all.rows <= 8 * n);
    assert_int_equal(engine->aggregate(engine, places, &request, &(tamis_watch){look, &some}, &err), TAMIS_SYSTEM);
    assert_string_equal(err.message, "cancelled");
    assert_int_equal(some.calls, 1);
    assert_true(got.in_all[0] == 0 && got.by_b[0] == 0);
    engine->free(engine);
}

static int stop(void *context, double share, int64_t rows)
{
    assert_true(share < 0); /* nobody knows it yet */
    assert_true(rows >= 0);
    ++*(int *)context;
    return 1;
}

static void looking_can_be_cancelled(void **state)
{
    (void)state;
    const char *path = in_folder("large.csv");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("a,b\n", file);
    for (int i = 0; i < 10000000; i++) fputs("1,x\n", file);
    fclose(file);
    tmi_engine *engine = open_engine(&path, 1, 2);
    tamis_error err = {0};
    int64_t rows = 1;
    int calls = 0;
    assert_int_equal(count_rows(engine, &rows, columns, 2, &(tamis_watch){stop, &calls}, &err), TAMIS_SYSTEM);
    assert_string_equal(err.message, "cancelled");
    assert_true(calls == 1 && rows == 0);
    engine->free(engine);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(good_files),
        cmocka_unit_test(bad_files),
        cmocka_unit_test(no_files),
        cmocka_unit_test(no_source),
        cmocka_unit_test(parquet_types),
        cmocka_unit_test(numbers_as_categories),
        cmocka_unit_test(broken_parquet),
        cmocka_unit_test(hostile_names),
        cmocka_unit_test(bad_requests),
        cmocka_unit_test(only_rows),
        cmocka_unit_test(many_categories),
        cmocka_unit_test(many_files),
        cmocka_unit_test(one_file_twice),
        cmocka_unit_test(codes_in_floats),
        cmocka_unit_test(rows_that_come_later),
        cmocka_unit_test(progress_and_cancel),
        cmocka_unit_test(looking_can_be_cancelled),
    };
    return cmocka_run_group_tests(all, make_folder, remove_folder);
}
