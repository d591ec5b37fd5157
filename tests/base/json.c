#include "tests/test.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/value/json.h"
#include "tests/base/memory_that_fails.h"

/* ---- reading ---- */

static tmi_value *read_text(const char *text)
{
    tmi_value *document = NULL;
    assert_int_equal(tmi_json_read(&document, text, strlen(text), NULL), TAMIS_OK);
    return document;
}

static void reads_every_kind_of_value(void **state)
{
    (void)state;
    tmi_value *d = read_text(" {\"a\": [1, -9223372036854775808, 1.5, true, false, null, \"\\u00e9\\n\", {}], \"b\": {}}\n");
    const tmi_value *list = tmi_value_get(d, "a");
    static const tmi_value_kind kinds[] = {TMI_VALUE_INTEGER, TMI_VALUE_INTEGER, TMI_VALUE_REAL, TMI_VALUE_BOOLEAN,
                                           TMI_VALUE_BOOLEAN, TMI_VALUE_NULL,    TMI_VALUE_TEXT, TMI_VALUE_MAP};
    assert_int_equal(tmi_value_kind_of(d), TMI_VALUE_MAP);
    assert_int_equal(tmi_value_kind_of(list), TMI_VALUE_LIST);
    assert_int_equal(tmi_value_size(list), 8);
    assert_int_equal(tmi_value_size(d), 2);
    for (size_t i = 0; i < 8; i++) assert_int_equal(tmi_value_kind_of(tmi_value_at(list, i)), kinds[i]);
    assert_int_equal(tmi_value_integer(tmi_value_at(list, 0)), 1);
    assert_true(tmi_value_integer(tmi_value_at(list, 1)) == INT64_MIN);
    assert_true(tmi_value_is_true(tmi_value_at(list, 3)));
    assert_false(tmi_value_is_true(tmi_value_at(list, 4)));
    assert_string_equal(tmi_value_string(tmi_value_at(list, 6)), "\xc3\xa9\n");
    assert_null(tmi_value_at(list, 8));
    assert_null(tmi_value_get(d, "c"));
    assert_null(tmi_value_get(list, "a"));
    tmi_value_free(d);
    tmi_value_free(NULL);
}

static void finds_the_key_too_many(void **state)
{
    static const char *const keys[] = {"a", "b", "c"};
    (void)state;
    tmi_value *d = read_text("{\"a\": 1, \"x\": 2, \"b\": 3}"), *empty = read_text("{}");
    assert_string_equal(tmi_value_extra_key(d, keys, 3), "x");
    assert_null(tmi_value_extra_key(empty, keys, 3));
    assert_non_null(tmi_value_extra_key(d, NULL, 0));
    tmi_value_free(d);
    tmi_value_free(empty);
}

static void sees_what_is_utf8(void **state)
{
    static const char *const good[] = {"", "a", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80!"};
    static const char *const bad[] = {"\xff", "a\xc3", "\xc3(", "\xed\xa0\x80", "\xc0\x80", "\xe2\x82", "\xf4\x90\x80\x80",
                                      "a\x80"};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) assert_true(tmi_is_utf8(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_false(tmi_is_utf8(bad[i]));
}

static void finds_the_first_difference(void **state)
{
    static const struct {
        const char *x, *y, *key;
    } cases[] = {{"{}", "{}", NULL},
                 {"{\"a\": 1, \"b\": [1, {\"c\": null}]}", "{\"b\": [1, {\"c\": null}], \"a\": 1}", NULL},
                 {"{\"a\": 1}", "{\"a\": 1.0}", "a"},
                 {"{\"a\": 1}", "{\"a\": \"1\"}", "a"},
                 {"{}", "{\"a\": null}", "a"},
                 {"{\"a\": 1, \"b\": 2}", "{\"a\": 1}", "b"},
                 {"{\"a\": [1, 2]}", "{\"a\": [2, 1]}", "a"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tmi_value *x = read_text(cases[i].x), *y = read_text(cases[i].y);
        for (int turn = 0; turn < 2; turn++) {
            const char *key = turn ? tmi_value_difference(y, x, "z") : tmi_value_difference(x, y, NULL);
            if (cases[i].key) assert_string_equal(key, cases[i].key);
            else assert_null(key);
            if (cases[i].key && strcmp(cases[i].key, "a") == 0) assert_null(tmi_value_difference(x, y, "a"));
        }
        tmi_value_free(x);
        tmi_value_free(y);
    }
}

static void equal_values_have_one_text(void **state)
{
    static const char *const same[] = {"{\"b\": [1, 0.1, true, null], \"a\": {\"d\": \"\\u00e9\", \"c\": {}}}",
                                       "\n{ \"a\" :{\"c\":{},\"d\":\"\xc3\xa9\"},\n\"b\":[1,1e-1,true,null]}"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        tmi_value *d = read_text(same[i]);
        tmi_text text;
        tmi_text_init(&text);
        assert_int_equal(tmi_json_canonical(&text, d, NULL), TAMIS_OK);
        assert_string_equal(text.bytes, "{\"a\": {\"c\": {}, \"d\": \"\xc3\xa9\"}, \"b\": [1, 0.10000000000000001, true, null]}");
        tmi_text_clear(&text);
        fail_allocation(1);
        assert_int_equal(tmi_json_canonical(&text, d, NULL), TAMIS_SYSTEM);
        assert_true(allocation_failed());
        tmi_text_clear(&text);
        tmi_value_free(d);
    }
}

static void refuses_what_is_not_strict(void **state)
{
    static const char *const cases[] = {
        "",
        " ",
        "{",
        "}",
        "[1,]",
        "{\"a\": 1,}",
        "{\"a\": 1} x",
        "{\"a\": 1, \"a\": 2}",
        "{\"a\": {\"b\": 1, \"b\": 1}}",
        "{a: 1}",
        "{'a': 1}",
        "[NaN]",
        "[nan]",
        "[Infinity]",
        "[-inf]",
        "[01]",
        "[1.]",
        "[.5]",
        "[+1]",
        "[0x1]",
        "[1e]",
        "[9223372036854775808]",
        "[1e999]",
        "[\"\\x\"]",
        "[\"\\u00\"]",
        "[\"\\ud800\"]",
        "[\"\\udc00\\ud800\"]",
        "[\"\t\"]",
        "[\"\\u0000\"]",
        "[\"\xff\"]",
        "[\"\xc0\x80\"]",
        "[\"\xed\xa0\x80\"]",
        "[\"\xf5\x80\x80\x80\"]",
        "[\"a",
        "/* */ 1",
        "\xef\xbb\xbf{}",
        "True",
        "[1 2]",
        "{\"a\" 1}",
        "{\"a\"}",
        "{1: 2}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tmi_value *document = (tmi_value *)&document;
        tamis_error err = {0};
        tamis_status status = tmi_json_read(&document, cases[i], strlen(cases[i]), &err);
        if (status != TAMIS_INVALID) fail_msg("accepted: %s", cases[i]);
        assert_null(document);
        assert_non_null(strstr(err.message, "line 1, column"));
    }
    tmi_value *document;
    assert_int_equal(tmi_json_read(&document, "[1]\0", 4, NULL), TAMIS_INVALID);
    assert_int_equal(tmi_json_read(&document, "[\"a\0b\"]", 7, NULL), TAMIS_INVALID);
}

static void refuses_deep_nesting(void **state)
{
    enum { DEEP = 1000000 };
    char *text = malloc(DEEP);
    tmi_value *document;
    (void)state;
    memset(text, '[', DEEP);
    assert_int_equal(tmi_json_read(&document, text, DEEP, NULL), TAMIS_INVALID);
    for (size_t i = 0; i + 5 <= DEEP; i += 5) memcpy(text + i, "{\"a\":", 5);
    assert_int_equal(tmi_json_read(&document, text, DEEP, NULL), TAMIS_INVALID);
    free(text);
}

/* The first character that cannot be right, counted in characters; what is wrong is said without the text. */
static void tells_the_place_of_a_mistake(void **state)
{
    static const struct {
        const char *text;
        int line, column;
        const char *words;
    } cases[] = {
        {"", 1, 1, "premature end of input"},
        {"{\"a\": 1,\n \"b\": [1, 2", 2, 12, "premature end of input"},
        {"[1,\n2,\n  x]", 3, 3, "invalid token"},
        {"{\"\xc3\xa9\xc3\xa9\": 1 \"b\"}", 1, 10, "'}' expected"},
        {"[1 2]", 1, 4, "']' expected"},
        {"{\"a\" 1}", 1, 6, "':' expected"},
        {"{\"a\": 1,\n\"b\": 2,\n  \"a\": 3, \"b\": 4}", 3, 3, "duplicate object key"},
        {"[1, 18446744073709551616]", 1, 5, "too big integer"},
        {"[-9223372036854775809]", 1, 2, "too big negative integer"},
        {"[1e400]", 1, 2, "real number overflow"},
        {"[\"4711\\q\"]", 1, 7, "invalid escape"},
        {"[\"a\nb\"]", 1, 4, "unexpected newline"},
        {"[\"\\ud800x\"]", 1, 3, "invalid Unicode escape"},
        {"[\"a\xff\"]", 1, 4, "not UTF-8"},
        {"{} {}", 1, 4, "end of file expected"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tmi_value *document;
        tamis_error err = {0};
        char wanted[200];
        snprintf(wanted, sizeof wanted, "not valid JSON at line %d, column %d: %s", cases[i].line, cases[i].column,
                 cases[i].words);
        assert_int_equal(tmi_json_read(&document, cases[i].text, strlen(cases[i].text), &err), TAMIS_INVALID);
        assert_string_equal(err.message, wanted);
        assert_int_equal(err.items[0].line, cases[i].line);
        assert_int_equal(err.items[0].column, cases[i].column);
    }
}

/* Another reader accepts the same texts, and writes the same canonical text. */
static void reads_what_jansson_reads(void **state)
{
    static const char pieces[] = "{}[]\",:\\u0123456789eE+-.dDcCnulltrefas \n\t/b\x80\xc3\xa9\xff";
    static const char sample[] =
        "{\"a\": [1, -0, 1.5e-7, 1E+300, true, null, \"\\u00e9\\ud83d\\ude00\\n\\\"\\u001f/\"], \"b\": {}}";
    uint64_t seed = UINT64_C(88172645463325252);
    size_t accepted = 0;
    (void)state;
    for (int k = 0; k < 200000; k++) {
        char text[sizeof sample];
        size_t length = k % 2 ? (size_t)k / 2 % 9 : sizeof sample - 1;
        memcpy(text, sample, sizeof sample);
        for (size_t i = 0; i < (k % 2 ? length : 1 + (size_t)k % 3); i++) {
            seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
            text[k % 2 ? i : seed / 64 % length] = pieces[seed / 4096 % (sizeof pieces - 1)];
        }
        tmi_value *ours;
        json_t *other = json_loadb(text, length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, NULL);
        const tamis_status status = tmi_json_read(&ours, text, length, NULL);
        if ((other != NULL) != (status == TAMIS_OK)) fail_msg("%.*s", (int)length, text);
        if (other) {
            char *x = json_dumps(other, JSON_SORT_KEYS | JSON_ENCODE_ANY | JSON_REAL_PRECISION(17)), *y;
            assert_int_equal(tmi_json_canonical_text(&y, ours, NULL), TAMIS_OK);
            assert_string_equal(x, y);
            free(x);
            tmi_free(y);
            accepted++;
        }
        json_decref(other);
        tmi_value_free(ours);
    }
    assert_true(accepted > 1000);
}

/* Whichever allocation fails, nothing arrives. */
static void reads_all_or_nothing(void **state)
{
    static const char text[] =
        "{\"a\": [1, 12345678901234567, 1.5, {}, [2, [3]], \"0.0000000000000000000000000000000000000000001\"],"
        " \"a key that is long enough to grow\": {\"\\u00e9\\ud83d\\ude00\\n\\\"\": -5}}";
    tmi_value *d = NULL;
    (void)state;
    EVERY_ALLOCATION_FAILS(tmi_json_read(&d, text, sizeof text - 1, NULL), assert_null(d));
    const tmi_value *list = tmi_value_get(d, "a"), *object = tmi_value_get(d, "a key that is long enough to grow");
    assert_true(tmi_value_integer(tmi_value_at(list, 1)) == 12345678901234567);
    assert_string_equal(tmi_value_string(tmi_value_at(list, 5)), "0.0000000000000000000000000000000000000000001");
    assert_int_equal(tmi_value_integer(tmi_value_get(object, "\xc3\xa9\xf0\x9f\x98\x80\n\"")), -5);
    tmi_value_free(d);
}

/* ---- writing ---- */

static void write_sample(tmi_text *text, bool pretty)
{
    tmi_json_out out;
    tmi_text_init(text);
    tmi_json_out_init(&out, text, pretty);
    tmi_json_open(&out, '{');
    tmi_json_key(&out, "a");
    tmi_json_open(&out, '[');
    tmi_json_put_integer(&out, INT64_MIN);
    tmi_json_put_boolean(&out, true);
    tmi_json_put_null(&out);
    tmi_json_put_string(&out, "x");
    tmi_json_put_number(&out, "1.5e-7");
    tmi_json_close(&out, ']');
    tmi_json_key(&out, "b");
    tmi_json_open(&out, '{');
    tmi_json_close(&out, '}');
    tmi_json_close(&out, '}');
}

static void writes_one_line_or_many(void **state)
{
    tmi_text text;
    (void)state;
    write_sample(&text, false);
    assert_string_equal(text.bytes, "{\"a\": [-9223372036854775808, true, null, \"x\", 1.5e-7], \"b\": {}}");
    tmi_text_clear(&text);
    write_sample(&text, true);
    assert_string_equal(text.bytes, "{\n  \"a\": [\n    -9223372036854775808,\n    true,\n    null,\n    \"x\",\n    1.5e-7\n"
                                    "  ],\n  \"b\": {}\n}");
    tmi_text_clear(&text);
}

/* A value with everything that is written: what the tree holds is what reading the text gives. */
static void write_everything(tmi_json_out *out, const tmi_value *shared)
{
    tmi_json_open(out, '{');
    tmi_json_add_string(out, "text", "a\"b\n\xc3\xa9");
    tmi_json_add_string(out, "cut", "\xe2\x82");
    tmi_json_add_null(out, "nothing");
    tmi_json_add_boolean(out, "yes", true);
    tmi_json_add_integer(out, "least", INT64_MIN);
    tmi_json_add_open(out, "numbers", '[');
    for (size_t i = 0; i < 6; i++)
        tmi_json_put_number(out, ((const char *const[]){"0", "-3", "1.5e-7", "1e+300", "0.1", "9223372036854775807"})[i]);
    tmi_json_open(out, '[');
    tmi_json_close(out, ']');
    tmi_json_close(out, ']');
    tmi_json_key(out, "shared");
    tmi_json_put_value(out, shared);
    tmi_json_close(out, '}');
}

static tamis_status make_tree(tmi_value **tree, const tmi_value *shared, tamis_error *err)
{
    tmi_json_tree t;
    tmi_json_tree_begin(&t, NULL);
    write_everything(&t.out, shared);
    return tmi_json_tree_end(tree, &t, err);
}

static void a_tree_is_what_its_text_reads_as(void **state)
{
    tmi_value *shared = read_text("{\"b\": [1.0, 1], \"a\": {}}"), *tree = NULL, *read;
    tamis_error err;
    tmi_text text, x, y;
    tmi_json_out out;
    (void)state;
    tmi_text_init(&text);
    tmi_text_init(&x);
    tmi_text_init(&y);
    tmi_json_out_init(&out, &text, false);
    write_everything(&out, shared);
    assert_int_equal(tmi_json_read(&read, text.bytes, text.length, NULL), TAMIS_OK);
    EVERY_ALLOCATION_FAILS(make_tree(&tree, shared, &err), assert_null(tree));
    assert_true(tmi_value_equal(tree, read));
    assert_int_equal(tmi_json_canonical(&x, tree, NULL), TAMIS_OK);
    assert_int_equal(tmi_json_canonical(&y, read, NULL), TAMIS_OK);
    assert_string_equal(x.bytes, y.bytes);
    tmi_value_free(shared);
    assert_int_equal(tmi_value_size(tmi_value_field(tree, "shared", TMI_VALUE_MAP)), 2); /* the tree owns it too */
    assert_string_equal(tmi_value_field_text(tree, "cut"), "\xef\xbf\xbd\xef\xbf\xbd");
    assert_string_equal(tmi_value_field_text(tree, "least"), "");
    assert_null(tmi_value_field(NULL, "least", TMI_VALUE_INTEGER));
    tmi_value_free(tree);
    tmi_value_free(read);
    tmi_text_clear(&text);
    tmi_text_clear(&x);
    tmi_text_clear(&y);
}

/* Nothing is left of a tree that cannot be finished: too deep, a number beyond 64 bits, empty. */
static void a_tree_that_fails_is_nothing(void **state)
{
    tmi_value *tree;
    tmi_json_tree t;
    (void)state;
    tmi_json_tree_begin(&t, NULL);
    for (int i = 0; i <= TMI_JSON_DEPTH; i++) tmi_json_open(&t.out, '[');
    assert_int_equal(tmi_json_tree_end(&tree, &t, NULL), TAMIS_SYSTEM);
    assert_null(tree);
    tmi_json_tree_begin(&t, NULL);
    tmi_json_put_number(&t.out, "9223372036854775808");
    assert_int_equal(tmi_json_tree_end(&tree, &t, NULL), TAMIS_SYSTEM);
    tmi_json_tree_begin(&t, NULL);
    assert_int_equal(tmi_json_tree_end(&tree, &t, NULL), TAMIS_SYSTEM);
}

/* Whatever bytes a string holds, what is written parses, stands on one line, and holds the valid characters. */
static void writes_any_string_as_valid_json(void **state)
{
    static const struct {
        const char *string, *written;
    } cases[] = {
        {"", "\"\""},
        {"a\"b\\c/", "\"a\\\"b\\\\c/\""},
        {"\n\t\x01\x1f", "\"\\u000a\\u0009\\u0001\\u001f\""},
        {"\x7f", "\"\x7f\""},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\""},
        {"\xff", "\"\\ufffd\""},
        {"a\xc3", "\"a\\ufffd\""},
        {"\xe2\x82", "\"\\ufffd\\ufffd\""},
        {"\xc0\x80", "\"\\ufffd\\ufffd\""},
        {"\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\""},
        {"\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\""},
        {"\xe0\x9f\xbf", "\"\\ufffd\\ufffd\\ufffd\""},
        {"\xf0\x8f\xbf\xbf", "\"\\ufffd\\ufffd\\ufffd\\ufffd\""},
        {"\x80x", "\"\\ufffdx\""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tmi_text text;
        tmi_json_out out;
        tmi_text_init(&text);
        tmi_json_out_init(&out, &text, false);
        tmi_json_put_string(&out, cases[i].string);
        assert_string_equal(text.bytes, cases[i].written);
        tmi_text_clear(&text);
    }
    for (unsigned first = 1; first < 256; first++) {
        for (unsigned second = 0; second < 256; second++) {
            char string[] = {(char)first, (char)second, 0};
            tmi_text text;
            tmi_json_out out;
            tmi_value *document;
            tmi_text_init(&text);
            tmi_json_out_init(&out, &text, false);
            tmi_json_put_string(&out, string);
            if (tmi_json_read(&document, text.bytes, text.length, NULL) != TAMIS_OK || strchr(text.bytes, '\n'))
                fail_msg("bytes %u %u", first, second);
            tmi_value_free(document);
            tmi_text_clear(&text);
        }
    }
}

/* Too deep, or closed too often, is never handed out. */
static void notices_wrong_nesting(void **state)
{
    tmi_text text;
    tmi_json_out out;
    char *bytes;
    (void)state;
    tmi_text_init(&text);
    tmi_json_out_init(&out, &text, false);
    for (int i = 0; i < TMI_JSON_DEPTH; i++) tmi_json_open(&out, '[');
    assert_false(text.failed);
    tmi_json_open(&out, '[');
    assert_true(text.failed);
    assert_int_equal(tmi_text_take(&bytes, &text, NULL), TAMIS_SYSTEM);
    assert_null(bytes);
    tmi_text_init(&text);
    tmi_json_out_init(&out, &text, false);
    tmi_json_close(&out, ']');
    assert_int_equal(tmi_text_take(&bytes, &text, NULL), TAMIS_SYSTEM);
}

static tamis_status take_sample(char **bytes)
{
    tmi_text text;
    write_sample(&text, true);
    return tmi_text_take(bytes, &text, NULL);
}

static void survives_missing_memory(void **state)
{
    char *bytes;
    (void)state;
    EVERY_ALLOCATION_FAILS(take_sample(&bytes), assert_null(bytes));
    tamis_free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_kind_of_value),    cmocka_unit_test(finds_the_key_too_many),
        cmocka_unit_test(finds_the_first_difference),   cmocka_unit_test(sees_what_is_utf8),
        cmocka_unit_test(equal_values_have_one_text),   cmocka_unit_test(refuses_what_is_not_strict),
        cmocka_unit_test(refuses_deep_nesting),         cmocka_unit_test(reads_all_or_nothing),
        cmocka_unit_test(tells_the_place_of_a_mistake), cmocka_unit_test(reads_what_jansson_reads),
        cmocka_unit_test(writes_one_line_or_many),      cmocka_unit_test(a_tree_is_what_its_text_reads_as),
        cmocka_unit_test(a_tree_that_fails_is_nothing), cmocka_unit_test(writes_any_string_as_valid_json),
        cmocka_unit_test(notices_wrong_nesting),        cmocka_unit_test(survives_missing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
