#include "tests/test.h"

#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "tests/base/memory_that_fails.h"

static void grows_and_stays_terminated(void **state)
{
    tmi_text text;
    (void)state;
    tmi_text_init(&text);
    for (int i = 0; i < 10000; i++) {
        tmi_text_format(&text, "%d,", i % 10);
        assert_int_equal(text.bytes[text.length], '\0');
        assert_int_equal(text.length, 2 * (i + 1));
        assert_true(text.room > text.length);
    }
    assert_int_equal(strlen(text.bytes), 20000);
    tmi_text_add(&text, "a\0b", 3);
    assert_int_equal(text.length, 20003);
    assert_memory_equal(text.bytes + 20000, "a\0b", 4);
    tmi_text_clear(&text);
    assert_null(text.bytes);
}

static void hands_over_its_bytes(void **state)
{
    tmi_text text;
    char *bytes;
    (void)state;
    tmi_text_init(&text);
    assert_int_equal(tmi_text_take(&bytes, &text, NULL), TAMIS_OK);
    assert_string_equal(bytes, "");
    tamis_free(bytes);
    tmi_text_put(&text, "abc");
    assert_int_equal(tmi_text_take(&bytes, &text, NULL), TAMIS_OK);
    assert_string_equal(bytes, "abc");
    assert_null(text.bytes);
    assert_int_equal(text.length, 0);
    tamis_free(bytes);
}

static tamis_status write_much(char **bytes, tamis_error *err)
{
    tmi_text text;
    tmi_text_init(&text);
    for (int i = 0; i < 1000; i++) {
        tmi_text_put(&text, "some words, ");
        tmi_text_format(&text, "%s %d; ", "number", i);
    }
    return tmi_text_take(bytes, &text, err);
}

/* One lost write spoils the text: nothing with a hole in it is ever handed out. */
static void remembers_a_failed_write(void **state)
{
    char *bytes;
    tamis_error err;
    (void)state;
    EVERY_ALLOCATION_FAILS(write_much(&bytes, &err), {
        assert_null(bytes);
        assert_string_equal(err.message, "out of memory");
    });
    tamis_free(bytes);
}

static void refuses_absurd_lengths(void **state)
{
    tmi_text text;
    char *bytes;
    (void)state;
    tmi_text_init(&text);
    tmi_text_put(&text, "x");
    tmi_text_add(&text, "", SIZE_MAX);
    assert_true(text.failed);
    tmi_text_add(&text, "y", 1);
    assert_int_equal(tmi_text_take(&bytes, &text, NULL), TAMIS_SYSTEM);
    assert_null(bytes);
}

static void copies_a_part(void **state)
{
    (void)state;
    char *copy = tmi_copy_text("abcdef", 3);
    assert_string_equal(copy, "abc");
    tmi_free(copy);
    fail_allocation(1);
    assert_null(tmi_copy_text("abc", 3));
    assert_true(allocation_failed());
}

static void wipes(void **state)
{
    char secret[] = "secret";
    (void)state;
    tmi_wipe(secret, sizeof secret);
    for (size_t i = 0; i < sizeof secret; i++) assert_int_equal(secret[i], 0);
    tmi_wipe(NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grows_and_stays_terminated),
        cmocka_unit_test(hands_over_its_bytes),
        cmocka_unit_test(remembers_a_failed_write),
        cmocka_unit_test(refuses_absurd_lengths),
        cmocka_unit_test(copies_a_part),
        cmocka_unit_test(wipes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
