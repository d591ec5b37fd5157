/* A plan to fill in for a table in PostgreSQL: names, types and comments, nothing of the rows. */
#include "tests/test.h"

#include <tamis/init.h>

#include "tests/engine/server.h"

static const char table[] =
    "DROP SCHEMA IF EXISTS tamis_init CASCADE; CREATE SCHEMA tamis_init; CREATE TYPE tamis_init.mood AS ENUM ('glad', 'sad');"
    "CREATE TABLE tamis_init.\"the people\" (pay numeric, gone int, mood tamis_init.mood, seen timestamptz, \"where\" point, "
    "works boolean);"
    "ALTER TABLE tamis_init.\"the people\" DROP COLUMN gone; INSERT INTO tamis_init.\"the people\" (pay, mood) VALUES (73519, "
    "'glad');"
    "COMMENT ON COLUMN tamis_init.\"the people\".pay IS 'Gross \"pay\"'";
static const char expected[] =
    "columns:\n  pay:\n    label: \"Gross \\\"pay\\\"\"\n    from: FILL_IN\n    to: FILL_IN\n    step: FILL_IN\n  mood:\n    "
    "values: [FILL_IN]\n"
    "  # seen: a date; to use it as a category, declare its values\n  # where: of a type that a plan cannot use\n  works:\n    "
    "values: "
    "[FILL_IN]\n\n";

static void names_types_and_comments(void **state)
{
    const tamis_init init = {.size = sizeof(tamis_init), .connection = server_text(), .table = "tamis_init.the people"};
    tamis_error err = {0};
    char *text = NULL;
    (void)state;
    server_run(table);
    if (tamis_init_yaml(&text, &init, &err) != TAMIS_OK) fail_msg("%s", err.message);
    if (!strstr(text, expected) || !strstr(text, "    table: \"tamis_init.the people\"\n")) fail_msg("%s", text);
    assert_null(strstr(text, "73519"));
    assert_null(strstr(text, "glad"));
    tamis_free(text);
    server_run("DROP SCHEMA tamis_init CASCADE");
}

static void what_is_wrong_is_said(void **state)
{
    const tamis_init list[] = {{.size = sizeof(tamis_init), .connection = server_text(), .table = "tamis_nobody"},
                               {.size = sizeof(tamis_init), .connection = server_text()},
                               {.size = sizeof(tamis_init), .connection = "service=s password=p", .table = "t"},
                               {.size = sizeof(tamis_init), .connection = "postgresql://me:secret@host/db", .table = "t"},
                               {.size = sizeof(tamis_init), .connection = "x=y", .file = "a.csv", .table = "t"}};
    (void)state;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        char *text = (char *)"";
        assert_int_equal(tamis_init_yaml(&text, &list[i], NULL), TAMIS_INVALID);
        assert_null(text);
    }
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(names_types_and_comments),
        cmocka_unit_test(what_is_wrong_is_said),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
