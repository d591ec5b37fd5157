#include "test.h"

#include <string.h>

#include "base/error.h"

static void writes_status_and_message(void **state)
{
    tamis_error err;
    (void)state;
    memset(&err, 'x', sizeof err);
    assert_int_equal(tmi_fail(&err, TAMIS_REFUSED, "%s: at most %d", "n", 7), TAMIS_REFUSED);
    assert_int_equal(err.status, TAMIS_REFUSED);
    assert_string_equal(err.message, "n: at most 7");
    assert_int_equal(tmi_fail(&err, TAMIS_INVALID, "x"), TAMIS_INVALID); /* replaces */
    assert_string_equal(err.message, "x");
    assert_int_equal(tmi_fail_memory(&err), TAMIS_SYSTEM);
    assert_int_equal(err.status, TAMIS_SYSTEM);
    tmi_error_reset(&err);
    assert_int_equal(err.status, TAMIS_OK);
    assert_string_equal(err.message, "");
}

static void nobody_listens(void **state)
{
    (void)state;
    assert_int_equal(tmi_fail(NULL, TAMIS_UNABLE, "x"), TAMIS_UNABLE);
    assert_int_equal(tmi_fail_more(NULL, TAMIS_INVALID, "x"), TAMIS_INVALID);
    assert_int_equal(tmi_fail_memory(NULL), TAMIS_SYSTEM);
    tmi_error_reset(NULL);
}

static void collects_lines(void **state)
{
    tamis_error err;
    (void)state;
    tmi_error_reset(&err);
    tmi_fail_more(&err, TAMIS_INVALID, "one");
    tmi_fail_more(&err, TAMIS_INVALID, "two");
    assert_string_equal(err.message, "one\ntwo");
    for (int i = 0; i < 10000; i++) tmi_fail_more(&err, TAMIS_INVALID, "line %d", i);
    assert_true(strlen(err.message) < sizeof err.message);
    assert_string_equal(err.message + strlen(err.message) - 31, "\n(further messages did not fit)");
    assert_int_equal(strncmp(err.message, "one\ntwo\nline 0\n", 15), 0);
}

/* A message that is cut is still terminated, says so, and does not end inside a character. */
static void cuts_long_messages(void **state)
{
    char text[3 * TAMIS_ERROR_SIZE];
    (void)state;
    for (size_t shift = 0; shift < 4; shift++) {
        tamis_error err;
        memset(text, 'a', shift);
        for (size_t i = shift; i + 3 < sizeof text; i += 3) memcpy(text + i, "\xe2\x82\xac", 4);
        tmi_fail(&err, TAMIS_INVALID, "%s", text);
        size_t length = strlen(err.message), whole = length - 31;
        assert_true(length < sizeof err.message && length > sizeof err.message - 8);
        assert_string_equal(err.message + whole, "\n(further messages did not fit)");
        assert_int_equal((whole - shift) % 3, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_status_and_message),
        cmocka_unit_test(nobody_listens),
        cmocka_unit_test(collects_lines),
        cmocka_unit_test(cuts_long_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
