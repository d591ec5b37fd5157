/* The audit of audit_trial.h for DuckDB and PostgreSQL. */
#include "tests/test.h"

#include "tests/engine/server.h"
#include "tests/release/audit_trial.h"

static tmi_engine *in_duckdb(void) { return engine_of_files(tmi_engine_duckdb, survey_csv()); }

static tmi_engine *in_postgres(void)
{
    PGconn *connection = server_connect();
    tmi_text text;
    tmi_text_init(&text);
    put_lines(&text);
    server_do(connection, "SET client_min_messages = error; DROP TABLE IF EXISTS survey; CREATE TABLE survey "
                          "(x float8, y float8, w float8, g text, h text, s text, c text, u text)");
    server_do(connection, "COPY survey FROM STDIN (FORMAT csv)");
    assert_int_equal(PQputCopyData(connection, text.bytes, (int)text.length), 1);
    server_end_copy(connection);
    PQfinish(connection);
    tmi_text_clear(&text);
    static const char *texts[1];
    texts[0] = server_text();
    return open_server(texts, 1, "survey", false, 1);
}

static const survey_engine engines[] = {{"DuckDB", in_duckdb, 1, 100, false}, {"PostgreSQL", in_postgres, 1, 200, false}};

static void laplace_noise_has_the_declared_law(void **state)
{
    (void)state;
    audit_all(TMI_NOT_GAUSSIAN, engines, 2);
}

static void gaussian_noise_has_the_declared_law(void **state)
{
    (void)state;
    audit_all(TMI_DISCRETE_GAUSSIAN, engines, 2);
    audit_all(TMI_ROUNDED_NORMAL, engines, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(laplace_noise_has_the_declared_law),
        cmocka_unit_test(gaussian_noise_has_the_declared_law),
    };
    return cmocka_run_group_tests(tests, make_place, remove_place);
}
