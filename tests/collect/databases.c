/* Reports that are counted where they are: PostgreSQL and DuckDB give the counts of the same reports in memory. */
#include "tests/test.h"

#include <stdio.h>
#include <tamis/experimental/tally.h>
#include <unistd.h>

#include "tests/engine/server.h"

static const char table[] = "DROP SCHEMA IF EXISTS tamis_tally CASCADE; CREATE SCHEMA tamis_tally;"
                            "CREATE TABLE tamis_tally.reports (a int, b smallint, \"c d\" bigint, bad int, hole int);"
                            "INSERT INTO tamis_tally.reports VALUES (1, 0, 1, 0, 0), (0, 0, 1, 1, 1), (1, 1, 1, 2, NULL), "
                            "(1, 1, 0, 0, 0), (0, 1, 1, 1, 1)";
static const int64_t a[] = {1, 0, 1, 1, 0}, b[] = {0, 0, 1, 1, 1}, c[] = {1, 1, 1, 0, 1};
static const char csv[] = "a,b,c d\n1,0,1\n0,0,1\n1,1,1\n1,1,0\n0,1,1\n";

static char *counts_of(const tamis_tally_source *source)
{
    tamis_number *lie = number("1/4");
    tamis_tally *tally = NULL;
    tamis_error err = {0};
    char *text = NULL;
    assert_int_equal(tamis_tally_new(&tally, &(tamis_tally_terms){.size = sizeof(tamis_tally_terms), .lie = lie, .table = 1},
                                     NULL),
                     TAMIS_OK);
    if (tamis_tally_add_source(tally, source, NULL, &err) != TAMIS_OK) fail_msg("%s", err.message);
    assert_int_equal(tamis_tally_write(&text, tally, NULL), TAMIS_OK);
    tamis_tally_free(tally);
    tamis_number_free(lie);
    return text;
}

static void databases_count_as_memory_does(void **state)
{
    char path[64];
    (void)state;
    snprintf(path, sizeof path, "/tmp/tamis-reports-%ld.csv", (long)getpid());
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(csv, file);
    fclose(file);
    server_run(table);
    tamis_source *rows;
    assert_int_equal(tamis_source_new(&rows, 5, NULL), TAMIS_OK);
    assert_int_equal(tamis_source_integers(rows, "a", a, NULL), TAMIS_OK);
    assert_int_equal(tamis_source_integers(rows, "b", b, NULL), TAMIS_OK);
    assert_int_equal(tamis_source_integers(rows, "c d", c, NULL), TAMIS_OK);
    const char *const files[] = {path};
    const tamis_tally_source sources[] = {
        {.size = sizeof(tamis_tally_source), .rows = rows, .columns = "a,b,c d"},
        {.size = sizeof(tamis_tally_source),
         .engine = TAMIS_ENGINE_POSTGRES,
         .connection = server_text(),
         .table = "tamis_tally.reports",
         .columns = "a,b,c d"},
        {.size = sizeof(tamis_tally_source),
         .engine = TAMIS_ENGINE_DUCKDB,
         .files = files,
         .file_count = 1,
         .columns = "a,b,c d"},
    };
    char *expected = counts_of(&sources[0]);
    for (size_t i = 1; i < sizeof sources / sizeof *sources; i++) {
        char *text = counts_of(&sources[i]);
        assert_string_equal(text, expected);
        tamis_free(text);
    }
    tamis_free(expected);
    tamis_source_free(rows);
    unlink(path);
}

static void other_values_are_refused(void **state)
{
    static const char *const columns[] = {"bad", "hole", "nowhere"};
    tamis_number *lie = number("1/4");
    (void)state;
    server_run(table);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        tamis_tally *tally;
        const tamis_tally_source source = {.size = sizeof(tamis_tally_source),
                                           .engine = TAMIS_ENGINE_POSTGRES,
                                           .connection = server_text(),
                                           .table = "tamis_tally.reports",
                                           .columns = columns[i]};
        assert_int_equal(tamis_tally_new(&tally, &(tamis_tally_terms){.size = sizeof(tamis_tally_terms), .lie = lie}, NULL),
                         TAMIS_OK);
        assert_int_equal(tamis_tally_add_source(tally, &source, NULL, NULL), TAMIS_INVALID);
        tamis_tally_free(tally);
    }
    server_run("DROP SCHEMA tamis_tally CASCADE");
    tamis_number_free(lie);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(databases_count_as_memory_does),
        cmocka_unit_test(other_values_are_refused),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
