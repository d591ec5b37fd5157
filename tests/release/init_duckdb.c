/* A plan to fill in for Parquet files and tables of DuckDB files: names and types, nothing of the rows. */
#include "tests/test.h"

#include <tamis/init.h>

#include "tests/engine/duckdb_sql.h"
#include "tests/engine/folder.h"

static const char columns[] = "select 73519 as pay, 0.5::float as \"the rate\", 'secret' as region, date '2026-01-01' as seen, "
                              "true as works, "
                              "[1, 2] as several from range(20000)";
static const char expected[] =
    "columns:\n  pay:\n    from: FILL_IN\n    to: FILL_IN\n    step: FILL_IN\n  \"the rate\":\n    "
    "from: FILL_IN\n"
    "    to: FILL_IN\n    step: FILL_IN\n  region:\n    values: [FILL_IN]\n  # seen: a date; to use it as a "
    "category, declare its values\n"
    "  works:\n    values: [FILL_IN]\n  # several: of a type that a plan cannot use\n\n";

static void expect_plan(const char *path, const char *table, const char *source)
{
    const tamis_init init = {.size = sizeof(tamis_init), .file = path, .table = table, .source = "data.file"};
    tamis_error err = {0};
    char *text = NULL;
    if (tamis_init_yaml(&text, &init, &err) != TAMIS_OK) fail_msg("%s: %s", path, err.message);
    if (!strstr(text, expected) || !strstr(text, source)) fail_msg("%s", text);
    assert_null(strstr(text, "73519"));
    assert_null(strstr(text, "secret"));
    tamis_free(text);
}

static void a_parquet_file(void **state)
{
    char sql[1024];
    const char *path = in_folder("a.parquet");
    (void)state;
    snprintf(sql, sizeof sql, "copy (%s) to '%s' (format parquet)", columns, path);
    run_sql(sql);
    expect_plan(path, NULL, "file: data.file\n\n");
    FILE *file = fopen(path, "rb+"); /* what is between the two marks and before the description of the columns is rows */
    assert_non_null(file);
    assert_int_equal(fseek(file, 4, SEEK_SET), 0);
    for (int i = 0; i < 200; i++) putc(0xa5, file);
    assert_int_equal(fclose(file), 0);
    expect_plan(path, NULL, "file: data.file\n\n");
}

static void a_table(void **state)
{
    char sql[1024];
    const char *path = in_folder("a.duckdb");
    (void)state;
    snprintf(sql, sizeof sql, "attach '%s' as d; create table d.people as %s; create table d.others (a int)", path, columns);
    run_sql(sql);
    expect_plan(path, "people", "file: data.file\n  table: people\n\n");
    const tamis_init none = {.size = sizeof(tamis_init), .file = path, .table = "nobody"},
                     unclear = {.size = sizeof(tamis_init), .file = path};
    char *text;
    assert_int_equal(tamis_init_yaml(&text, &none, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_init_yaml(&text, &unclear, NULL), TAMIS_INVALID);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(a_parquet_file),
        cmocka_unit_test(a_table),
    };
    return cmocka_run_group_tests(all, make_folder, remove_folder);
}
