#include "tests/test.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/value/json.h"
#include "tests/base/memory_that_fails.h"

static tmi_value *read_text(const char *text)
{
    tmi_value *root = NULL;
    assert_int_equal(tmi_json_read(&root, text, strlen(text), NULL), TAMIS_OK);
    return root;
}

static void finds_keys_and_items(void **state)
{
    char text[24 * 1000 + 3] = "{", *at = text + 1;
    (void)state;
    for (int i = 0; i < 1000; i++) at += sprintf(at, "%s\"k%d\": %d", i ? ", " : "", (i * 7) % 1000, i);
    strcpy(at, "}");
    tmi_value *root = read_text(text);
    assert_int_equal(tmi_value_size(root), 1000);
    for (int i = 0; i < 1000; i++) {
        char key[8];
        sprintf(key, "k%d", (i * 7) % 1000);
        assert_int_equal(tmi_value_integer(tmi_value_get(root, key)), i);
    }
    assert_null(tmi_value_get(root, "k1000"));
    assert_null(tmi_value_get(root, ""));
    const char *key = NULL;
    for (int i = 0; i < 1000; i++) { /* in the order of the file */
        key = tmi_value_next_key(root, key);
        assert_int_equal(tmi_value_integer(tmi_value_get(root, key)), i);
    }
    assert_null(tmi_value_next_key(root, key));
    assert_null(tmi_value_next_key(root, "nobody"));
    tmi_value_free(root);
}

static void answers_nothing_about_other_kinds(void **state)
{
    (void)state;
    tmi_value *root = read_text("[1, 1.5, \"1\", true, null, [1], {\"a\": 1}]");
    for (size_t i = 0; i <= tmi_value_size(root); i++) { /* the last one is NULL */
        const tmi_value *value = tmi_value_at(root, i);
        if (i != 0) assert_int_equal(tmi_value_integer(value), 0);
        if (i > 1) assert_true(tmi_value_real(value) == 0);
        if (i != 2) assert_null(tmi_value_string(value));
        if (i != 3) assert_false(tmi_value_is_true(value));
        if (i != 5) assert_null(tmi_value_at(value, 0));
        if (i != 6) assert_null(tmi_value_get(value, "a"));
        if (i != 6) assert_null(tmi_value_next_key(value, NULL));
        assert_int_equal(tmi_value_size(value), i == 5 || i == 6);
        assert_int_equal(tmi_value_equal(value, tmi_value_at(root, i)), i < 7);
        if (i > 0) assert_false(tmi_value_equal(value, tmi_value_at(root, i - 1)));
    }
    assert_true(tmi_value_real(tmi_value_at(root, 0)) == 1);
    assert_int_equal(tmi_value_kind_of(NULL), TMI_VALUE_NULL);
    tmi_value_free(root);
    tmi_value_free(NULL);
}

/* Of keys that a person wrote twice, the first one is found. */
static void finds_the_first_of_equal_keys(void **state)
{
    (void)state;
    tmi_value *map = tmi_value_new(NULL, NULL, TMI_VALUE_MAP);
    static const char *const keys[] = {"b", "a", "b", "a", "b"};
    for (int i = 0; i < 5; i++) {
        tmi_value *item = tmi_value_new(map, keys[i], TMI_VALUE_INTEGER);
        item->integer = i;
    }
    assert_true(tmi_value_close(map));
    assert_int_equal(tmi_value_integer(tmi_value_get(map, "a")), 1);
    assert_int_equal(tmi_value_integer(tmi_value_get(map, "b")), 0);
    tmi_value_free(map);
}

/* What is no tree is never handed out. */
static void notices_wrong_nesting(void **state)
{
    (void)state;
    static const char *const cases[] = {"", "[", "]", "nn", "[k", "{n}", "[]n", "[*]", "[!]", "{dd}"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tmi_json_tree tree;
        tmi_value *made;
        tmi_json_tree_begin(&tree, NULL);
        for (const char *c = cases[i]; *c; c++) {
            if (*c == '[' || *c == '{') tmi_json_open(&tree.out, *c);
            else if (*c == 'n') tmi_json_put_null(&tree.out);
            else if (*c == 'k') tmi_json_add_null(&tree.out, "k"), tmi_json_close(&tree.out, ']');
            else if (*c == 'd') tmi_json_add_null(&tree.out, "d");
            else if (*c == '*') tmi_json_put_number(&tree.out, "[1]");
            else if (*c == '!') tree.text.failed = true;
            else tmi_json_close(&tree.out, *c);
        }
        assert_int_equal(tmi_json_tree_end(&made, &tree, NULL), TAMIS_SYSTEM);
        assert_null(made);
    }
}

#define SAMPLE "{\"b\": [-5, 1.5, true, null, \"x\", {}, []], \"a\": {\"d\": \"\xc3\xa9\", \"c\": 1.0e-7}}"

static void copies_all_or_nothing(void **state)
{
    (void)state;
    tmi_value *read = read_text(SAMPLE), *copy;
    char *x, *y;
    EVERY_ALLOCATION_FAILS(tmi_value_copy(&copy, read, NULL), assert_null(copy));
    assert_true(tmi_value_equal(copy, read));
    assert_int_equal(tmi_json_canonical_text(&x, copy, NULL), TAMIS_OK);
    assert_int_equal(tmi_json_canonical_text(&y, read, NULL), TAMIS_OK);
    assert_string_equal(x, y);
    tmi_value_free(copy);
    tmi_value_free(read);
    tmi_free(x);
    tmi_free(y);
    EVERY_ALLOCATION_FAILS(tmi_json_read(&read, SAMPLE, strlen(SAMPLE), NULL), assert_null(read));
    tmi_value_free(read);
}

static int stop(void *context, double share, int64_t rows)
{
    (void)share, (void)rows;
    return --*(int *)context < 0;
}

/* A long document is read, and copied, until somebody asks to stop. */
static void stops_when_asked(void **state)
{
    (void)state;
    for (int turns = 0; turns < 3; turns++) {
        int left = turns;
        tmi_watch watch = {.progress = stop, .context = &left};
        tamis_error err = {0};
        tmi_value *root = NULL;
        watch.asked = 0;
        tamis_status status = tmi_json_read_watched(&root, "[[1], [2]]", 10, &watch, &err);
        assert_int_equal(status, turns == 0 ? TAMIS_SYSTEM : TAMIS_OK);
        if (turns == 0) assert_string_equal(err.message, "cancelled");
        assert_int_equal(root == NULL, turns == 0);
        tmi_value_free(root);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_keys_and_items),          cmocka_unit_test(answers_nothing_about_other_kinds),
        cmocka_unit_test(finds_the_first_of_equal_keys), cmocka_unit_test(copies_all_or_nothing),
        cmocka_unit_test(notices_wrong_nesting),         cmocka_unit_test(stops_when_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
