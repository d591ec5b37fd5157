#include "tests/test.h"

#include <stdio.h>
#include <string.h>

#include "tests/base/memory_that_fails.h"

static const char *const names[] = {"tamis", "GMP", "MPFR", "FLINT", "OpenSSL", "libfyaml", "libpq", "SQLite"};

static void every_part_has_a_line(void **state)
{
    (void)state;
    char *text = NULL;
    assert_int_equal(tamis_parts_text(&text, NULL), TAMIS_OK);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *line = strstr(text, names[i]);
        assert_non_null(line);
        assert_true(line == text || line[-1] == '\n');
    }
    assert_int_equal(strncmp(text + strlen("tamis "), tamis_version(), strlen(tamis_version())), 0);
    tamis_free(text);
}

static void every_part_has_a_key(void **state)
{
    (void)state;
    char *json = NULL, key[32];
    assert_int_equal(tamis_parts_json(&json, NULL), TAMIS_OK);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(key, sizeof key, "\"%s\": \"", names[i]);
        assert_non_null(strstr(json, key));
    }
    tamis_free(json);
}

static void null_is_named(void **state)
{
    (void)state;
    tamis_error err = {0};
    assert_int_equal(tamis_parts_text(NULL, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "text"));
    assert_int_equal(tamis_parts_json(NULL, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "json"));
}

static void memory_may_fail(void **state)
{
    (void)state;
    char *text = NULL;
    EVERY_ALLOCATION_FAILS(tamis_parts_text(&text, NULL), assert_null(text));
    tamis_free(text);
    EVERY_ALLOCATION_FAILS(tamis_parts_json(&text, NULL), assert_null(text));
    tamis_free(text);
}

int main(void)
{
    const struct CMUnitTest all[] = {cmocka_unit_test(every_part_has_a_line), cmocka_unit_test(every_part_has_a_key),
                                     cmocka_unit_test(null_is_named), cmocka_unit_test(memory_may_fail)};
    return cmocka_run_group_tests(all, NULL, NULL);
}
