#include "tests/test.h"

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

static void is_item(const tamis_error *err, size_t i, const char *file, int line, int column, const char *text)
{
    const tamis_error_item *item = &err->items[i];
    assert_true(i < err->item_count);
    assert_int_equal(item->file, strlen(file));
    assert_memory_equal(err->message + item->begin, file, strlen(file));
    assert_int_equal(item->line, line);
    assert_int_equal(item->column, column);
    assert_memory_equal(err->message + item->text, text, strlen(text));
    const char *end = err->message + item->text + strlen(text);
    assert_true(i + 1 < err->item_count ? end + 1 == err->message + err->items[i + 1].begin : *end == '\0');
}

static void keeps_places(void **state)
{
    tamis_error err, other = {0};
    (void)state;
    tmi_error_reset(&err);
    tmi_fail_more(&err, TAMIS_INVALID, "%s:%d:%d: %s: expected %d", "a plan.yaml", 7, 17, "design", 3);
    tmi_fail_file_more(&err, TAMIS_INVALID, "x.csv", 0, "there is no column %s", "age");
    tmi_fail_file_more(&err, TAMIS_INVALID, "y.csv", INT64_C(12), "too long");
    tmi_fail_more(&err, TAMIS_INVALID, "%s: %d", "statistics", 2);
    assert_string_equal(err.message, "a plan.yaml:7:17: design: expected 3\nx.csv: there is no column age\n"
                                     "y.csv: line 12: too long\nstatistics: 2");
    assert_int_equal(err.item_count, 4);
    is_item(&err, 0, "a plan.yaml", 7, 17, "design: expected 3");
    is_item(&err, 1, "x.csv", 0, 0, "there is no column age");
    is_item(&err, 2, "y.csv", 12, 0, "too long");
    is_item(&err, 3, "", 0, 0, "statistics: 2");

    tmi_fail_file_more(&err, TAMIS_INVALID, "x.csv", 0, "there is no column %s", "age"); /* said before */
    tmi_fail_more(&err, TAMIS_INVALID, "%s: %d", "statistics", 2);
    assert_int_equal(err.item_count, 4);
    assert_string_equal(err.message + err.items[3].begin, "statistics: 2");

    assert_int_equal(tmi_fail_as(&other, &err), TAMIS_INVALID);
    is_item(&other, 2, "y.csv", 12, 0, "too long");
    tmi_fail_file(&other, TAMIS_SYSTEM, "z.csv", 0, "gone");
    assert_int_equal(tmi_fail_as_more(&other, &err), TAMIS_INVALID);
    assert_int_equal(other.item_count, 5);
    is_item(&other, 0, "z.csv", 0, 0, "gone");
    is_item(&other, 1, "a plan.yaml", 7, 17, "design: expected 3");
    is_item(&other, 4, "", 0, 0, "statistics: 2");

    tmi_fail(&err, TAMIS_REFUSED, "no"); /* replaces */
    assert_int_equal(err.item_count, 1);
    is_item(&err, 0, "", 0, 0, "no");
    err = (tamis_error){.message = "by hand"};
    tmi_fail_file_more(&err, TAMIS_INVALID, "x.csv", 0, "empty");
    is_item(&err, 0, "", 0, 0, "by hand");
    is_item(&err, 1, "x.csv", 0, 0, "empty");
}

/* Wherever a message is cut, and however many errors it has: items follow each other, inside the message. */
static void items_stay_inside(void **state)
{
    static const char notice[] = "(further messages did not fit)";
    char text[5000], file[5000];
    (void)state;
    memset(text, 'w', sizeof text);
    memset(file, 'f', sizeof file);
    for (size_t length = 1; length < 4500; length += length < 100 ? 3 : 97) {
        for (int kind = 0; kind < 4; kind++) {
            tamis_error err = {0};
            for (int i = 0; i < 100; i++) {
                if (kind == 0) tmi_fail_more(&err, TAMIS_INVALID, "%s:%d:%d: %.*s", "p", i, i, (int)length, text);
                if (kind == 1) tmi_fail_file_more(&err, TAMIS_INVALID, "p", i, "%.*s", (int)length, text);
                file[length] = '\0';
                if (kind == 2) tmi_fail_file_more(&err, TAMIS_INVALID, file, i, "w");
                if (kind == 3) tmi_fail_more(&err, TAMIS_INVALID, "%s:%d:%d: w", file, i, i);
                file[length] = 'f';
            }
            const size_t end = strlen(err.message);
            assert_in_range(err.item_count, 1, TAMIS_ERROR_ITEMS);
            for (size_t i = 0; i < err.item_count; i++) {
                const tamis_error_item *item = &err.items[i];
                assert_true(item->begin + item->file <= item->text && item->text <= end);
                if (i > 0) assert_true(item->begin > err.items[i - 1].text && err.message[item->begin - 1] == '\n');
            }
            const tamis_error_item *last = &err.items[err.item_count - 1];
            if (strstr(err.message, notice) && err.item_count < TAMIS_ERROR_ITEMS)
                assert_string_equal(err.message + last->begin, notice);
        }
    }
}

static void is_json(const tamis_error *problem, const char *code, const char *file, const char *wanted)
{
    char *json = NULL;
    assert_int_equal(tamis_error_json(&json, problem, code, file, NULL), TAMIS_OK);
    assert_string_equal(json, wanted);
    tamis_free(json);
}

#define NO_PLACE "\"key\": null, \"file\": null, \"line\": null, \"column\": null"
#define NO_CHARGE "\"reason\": null, \"charged\": null"

static void writes_json(void **state)
{
    tamis_error err = {0}, why = {0};
    char *json = &(char){0};
    (void)state;
    is_json(&err, NULL, NULL,
            "{\"code\": \"system\", \"message\": \"internal error\", " NO_PLACE ", " NO_CHARGE
            ", \"errors\": [{\"code\": \"system\", \"message\": \"internal error\", " NO_PLACE "}]}");
    err = (tamis_error){.message = "say \"no\"\x1b\xff"};
    is_json(&err, "usage", NULL,
            "{\"code\": \"usage\", \"message\": \"say \\\"no\\\"\\u001b\\ufffd\", " NO_PLACE ", " NO_CHARGE
            ", \"errors\": [{\"code\": \"usage\", \"message\": \"say \\\"no\\\"\\u001b\\ufffd\", " NO_PLACE "}]}");
    tmi_fail(&err, TAMIS_INVALID, "%s:%d:%d: x", "p.yaml", 7, 17);
    tmi_fail_file_more(&err, TAMIS_REFUSED, "d.csv", 3, "y");
    tmi_fail_more(&err, TAMIS_UNABLE, "z");
    is_json(
        &err, NULL, "q.yaml",
        "{\"code\": \"unable\", \"message\": \"x\", \"key\": null, \"file\": \"p.yaml\", \"line\": 7, \"column\": 17, " NO_CHARGE
        ", \"errors\": ["
        "{\"code\": \"unable\", \"message\": \"x\", \"key\": null, \"file\": \"p.yaml\", \"line\": 7, \"column\": 17}, "
        "{\"code\": \"unable\", \"message\": \"y\", \"key\": null, \"file\": \"d.csv\", \"line\": 3, \"column\": null}, "
        "{\"code\": \"unable\", \"message\": \"z\", \"key\": null, \"file\": \"q.yaml\", \"line\": null, \"column\": null}]}");
    tmi_fail(&err, TAMIS_INVALID, "%s:%d:%d: %s", "p.yaml", 1, 2, "design.srs: no");
    tmi_error_key(&err, strlen("design.srs"));
    tmi_because(&err, "plan", TAMIS_INVALID);
    tmi_because(&err, "another", TAMIS_INVALID); /* the first reason stays */
    is_json(
        &err, NULL, NULL,
        "{\"code\": \"invalid\", \"message\": \"design.srs: no\", \"key\": \"design.srs\", \"file\": \"p.yaml\", \"line\": 1, "
        "\"column\": 2, \"reason\": \"plan\", \"charged\": null, \"errors\": [{\"code\": \"invalid\", \"message\": \"design.srs: "
        "no\", \"key\": \"design.srs\", \"file\": \"p.yaml\", \"line\": 1, \"column\": 2}]}");
    tmi_fail(&err, TAMIS_SYSTEM, "epsilon 1 was charged (entry 7 of a.ledger)"); /* forgets the reason */
    err.entry = 7;
    err.amount = (tamis_error_piece){0, 9};
    err.ledger = (tamis_error_piece){34, 8};
    is_json(&err, NULL, NULL,
            "{\"code\": \"system\", \"message\": \"epsilon 1 was charged (entry 7 of a.ledger)\", " NO_PLACE
            ", \"reason\": null, \"charged\": {\"ledger\": \"a.ledger\", \"entry\": 7, \"amount\": \"epsilon 1\"}, \"errors\": [{"
            "\"code\": \"system\", \"message\": \"epsilon 1 was charged (entry 7 of a.ledger)\", " NO_PLACE "}]}");
    tmi_error_reset(&err);
    assert_true(err.entry == 0 && err.amount.length == 0 && !err.reason[0]);
    assert_int_equal(tamis_error_json(NULL, &err, NULL, NULL, &why), TAMIS_INVALID);
    assert_int_equal(tamis_error_json(&json, NULL, NULL, NULL, &why), TAMIS_INVALID);
    assert_null(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_status_and_message),
        cmocka_unit_test(nobody_listens),
        cmocka_unit_test(collects_lines),
        cmocka_unit_test(cuts_long_messages),
        cmocka_unit_test(keeps_places),
        cmocka_unit_test(items_stay_inside),
        cmocka_unit_test(writes_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
