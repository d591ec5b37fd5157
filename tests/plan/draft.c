/* Texts that are being written: tamis_draft_json, tamis_plan_set, tamis_plan_yaml, and plans that may not leave a folder. */
#include "tests/test.h"

#include <string.h>
#include <sys/stat.h>
#include <tamis/experimental/draft.h>
#include <unistd.h>

#include "base/value/json.h"
#include "tests/base/memory_that_fails.h"

static const char plan_text[] = "tamis: 1\n"
                                "survey: schools # of California\n"
                                "source: {file: schools.csv}\n"
                                "design: {srs: {population: 6194, sample: 200}}\n"
                                "privacy: {unit: school, epsilon: 1}\n"
                                "columns:\n"
                                "  enroll: {from: 0, to: 4000, step: 1}\n"
                                "statistics:\n"
                                "- total: enroll\n";

static tmi_value *draft(const char *text)
{
    char *json;
    tmi_value *tree;
    tamis_error err = {0};
    assert_int_equal(tamis_draft_json(&json, "plan.yaml", text, strlen(text), NULL, &err), TAMIS_OK);
    assert_int_equal(tmi_json_read(&tree, json, strlen(json), &err), TAMIS_OK);
    tamis_free(json);
    return tree;
}

static const tmi_value *place_of(const tmi_value *draft, const char *path)
{
    const tmi_value *places = tmi_value_get(draft, "places");
    for (const tmi_value *p = tmi_value_first(places); p; p = tmi_value_next(p))
        if (strcmp(tmi_value_field_text(p, "path"), path) == 0) return p;
    return NULL;
}

static void bytes_are(const tmi_value *place, const char *text, const char *bytes)
{
    assert_non_null(place);
    const int64_t begin = tmi_value_whole(place, "begin"), end = tmi_value_whole(place, "end");
    assert_int_equal(end - begin, strlen(bytes));
    assert_memory_equal(text + begin, bytes, strlen(bytes));
}

static void a_draft_has_its_tree_and_places(void **state)
{
    (void)state;
    tmi_value *d = draft(plan_text);
    assert_true(tmi_value_true(d, "ok"));
    assert_int_equal(tmi_value_size(tmi_value_get(d, "errors")), 0);
    assert_string_equal(tmi_value_field_text(tmi_value_get(d, "tree"), "survey"), "schools");
    bytes_are(place_of(d, "/survey"), plan_text, "schools");
    bytes_are(tmi_value_get(place_of(d, "/survey"), "key"), plan_text, "survey");
    bytes_are(place_of(d, "/design/srs"), plan_text, "{population: 6194, sample: 200}");
    bytes_are(place_of(d, "/columns"), plan_text, "enroll: {from: 0, to: 4000, step: 1}");
    bytes_are(place_of(d, "/statistics/0"), plan_text, "total: enroll");
    assert_int_equal(tmi_value_kind_of(tmi_value_get(place_of(d, "/statistics/0"), "key")), TMI_VALUE_NULL);
    assert_int_equal(tmi_value_whole(place_of(d, "/columns/enroll/to"), "line"), 7);
    assert_int_equal(tmi_value_whole(place_of(d, "/columns/enroll/to"), "column"), 25);
    tmi_value_free(d);
}

static void places_of_every_way_to_write_a_value(void **state)
{
    (void)state;
    static const char text[] =
        "\xef\xbb\xbf"
        "a: 'x y' # c\nb: \"q\"\nc:\nd: |\n  block\n  text\ne: two\n  lines\n\"f~/g\": [ 1, 2 ]\nh:\n  - 'i'\n";
    static const struct {
        const char *path, *bytes;
    } cases[] = {{"/a", "'x y'"},        {"/b", "\"q\""},         {"/c", ""},         {"/d", "|\n  block\n  text"},
                 {"/e", "two\n  lines"}, {"/f~0~1g", "[ 1, 2 ]"}, {"/f~0~1g/1", "2"}, {"/h", "- 'i'"},
                 {"/h/0", "'i'"}};
    tmi_value *d = draft(text);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) bytes_are(place_of(d, cases[i].path), text, cases[i].bytes);
    assert_true(tmi_value_true(place_of(d, "/a"), "quoted"));
    assert_int_equal(tmi_value_whole(place_of(d, "/c"), "begin"), strstr(text, "\nc:") + 3 - text);
    tmi_value_free(d);
}

static void a_draft_that_is_no_plan_has_every_error_with_its_key(void **state)
{
    (void)state;
    tmi_value *d = draft("tamis: 1\nsurvey: s\nsource: {file: a.csv}\ndesign: {srs: {population: many, sample: 200}}\n"
                         "privacy: {unit: school, epsilon: -1}\nstatistics: [{count: units}]\n");
    const tmi_value *errors = tmi_value_get(d, "errors");
    assert_false(tmi_value_true(d, "ok"));
    assert_int_equal(tmi_value_size(errors), 2);
    assert_string_equal(tmi_value_field_text(tmi_value_at(errors, 0), "key"), "design.srs.population");
    assert_string_equal(tmi_value_field_text(tmi_value_at(errors, 1), "key"), "privacy.epsilon");
    assert_int_equal(tmi_value_whole(tmi_value_at(errors, 1), "line"), 5);
    tmi_value_free(d);

    /* broken YAML: what was read before */
    d = draft("tamis: 1\nsurvey: s\ndesign: {srs: {population: 5\nprivacy: [\n");
    errors = tmi_value_get(d, "errors");
    assert_false(tmi_value_true(d, "ok"));
    assert_int_equal(tmi_value_size(errors), 1);
    assert_non_null(strstr(tmi_value_field_text(tmi_value_at(errors, 0), "message"), "not valid YAML"));
    assert_string_equal(tmi_value_field_text(tmi_value_get(d, "tree"), "survey"), "s");
    assert_non_null(place_of(d, "/design/srs/population"));
    tmi_value_free(d);

    d = draft("a: 1\na: 2\n"); /* equal keys: the first */
    assert_string_equal(tmi_value_field_text(tmi_value_get(d, "tree"), "a"), "1");
    tmi_value_free(d);
    d = draft("");
    assert_int_equal(tmi_value_size(tmi_value_get(d, "places")), 0);
    tmi_value_free(d);
    d = draft("a: \"\\u202E\"\n"); /* a hidden character: its value cannot be shown */
    assert_false(tmi_value_true(d, "ok"));
    tmi_value_free(d);
}

static const struct {
    const char *text, *path, *value, *expected;
} changes[] = {
    /* replaced */
    {"a: 1 # one\nb: 2\n", "/a", "3", "a: 3 # one\nb: 2\n"},
    {"a: 'x'\n", "/a", "\"yes\"", "a: \"yes\"\n"},
    {"a:\nb: 2\n", "/a", "true", "a: true\nb: 2\n"},
    {"a: {b: 1, c: 2}\n", "/a/b", "[1, 0.5]", "a: {b: [1, 0.5], c: 2}\n"},
    {"a:\n  b: 1 # one\n  c: 2\n# end\n", "/a", "{\"d\": null}", "a: {d: null}\n# end\n"},
    {"a:\n- b\n- c\nd: 1\n", "/a", "\"x y\"", "a: \"x y\"\nd: 1\n"},
    {"a:\n- b\n- c # see\n", "/a/1", "7", "a:\n- b\n- 7 # see\n"},
    {"a: |\n  long\n  text\nb: 1\n", "/a", "\"t\"", "a: t\nb: 1\n"},
    {"{\"a\": 1}", "/a", "\"x\"", "{\"a\": \"x\"}"},
    {"\xef\xbb\xbf"
     "a: 1\n",
     "/a", "2",
     "\xef\xbb\xbf"
     "a: 2\n"},
    {"\xef\xbb\xbf"
     "a: 1\n",
     "/b", "2",
     "\xef\xbb\xbf"
     "a: 1\nb: 2\n"},
    {"a: 1\r\nb: 2\r\n", "/c", "3", "a: 1\r\nb: 2\r\nc: 3\r\n"},
    /* inserted */
    {"a: 1\n", "/b", "2", "a: 1\nb: 2\n"},
    {"a: 1 # one", "/b", "2", "a: 1 # one\nb: 2"},
    {"", "/a", "1", "a: 1\n"},
    {"# plan\n", "/a/b", "1", "# plan\na: {b: 1}\n"},
    {"a:\n  b: 1 # one\n\n# of d\nd: 2\n", "/a/c", "\"x\"", "a:\n  b: 1 # one\n  c: x\n\n# of d\nd: 2\n"},
    {"a: {}\n", "/a/b", "1", "a: {b: 1}\n"},
    {"a: {b: 1}\n", "/a/c/d", "1", "a: {b: 1, c: {d: 1}}\n"},
    {"a:\n", "/a/b/0/c", "1", "a: {b: [{c: 1}]}\n"},
    {"a: [1, 2]\n", "/a/-", "3", "a: [1, 2, 3]\n"},
    {"a:\n  - b: 1\n    c: 2\nd: 3\n", "/a/0/e", "4", "a:\n  - b: 1\n    c: 2\n    e: 4\nd: 3\n"},
    {"a:\n  - b: 1\nd: 3\n", "/a/1", "{\"b\": 2}", "a:\n  - b: 1\n  - {b: 2}\nd: 3\n"},
    {"{\"a\": 1}", "/b c", "\"x\"", "{\"a\": 1, \"b c\": \"x\"}"},
    /* removed */
    {"a: 1\nb: 2 # two\nc: 3\n", "/b", NULL, "a: 1\nc: 3\n"},
    {"a: {b: 1, c: 2}\n", "/a/b", NULL, "a: {c: 2}\n"},
    {"a: {b: 1, c: 2}\n", "/a/c", NULL, "a: {b: 1}\n"},
    {"a: {b: 1}\n", "/a/b", NULL, "a: {}\n"},
    {"a:\n  b: 1\nc: 2\n", "/a/b", NULL, "a:\n  {}\nc: 2\n"},
    {"a:\n- b: 1\n  c: 2\n- d\n", "/a/0/b", NULL, "a:\n- c: 2\n- d\n"},
    {"a:\n- b: 1\n  c: 2\n- d\n", "/a/0", NULL, "a:\n- d\n"},
    {"a: [1, 2]\n", "/a/0", NULL, "a: [2]\n"},
    {"a: 1 # one\n", "/a", NULL, "{} # one\n"},
    {"a:\n  b:\n    c: 1\n  d: 2\n", "/a/b", NULL, "a:\n  d: 2\n"},
};

static void one_value_is_changed_and_nothing_else(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        char *text;
        tamis_error err = {0};
        const tamis_status status = tamis_plan_set(&text, changes[i].text, strlen(changes[i].text), changes[i].path,
                                                   changes[i].value, &err);
        if (status != TAMIS_OK) fail_msg("%s at %s: %s", changes[i].text, changes[i].path, err.message);
        assert_string_equal(text, changes[i].expected);
        tamis_free(text);
        EVERY_ALLOCATION_FAILS(tamis_plan_set(&text, changes[i].text, strlen(changes[i].text), changes[i].path, changes[i].value,
                                              NULL),
                               assert_null(text));
        tamis_free(text);
    }
}

static void what_cannot_be_changed_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *path, *value, *message;
    } cases[] = {
        {"a: 1\n", "a", "2", "JSON Pointer"},
        {"a: 1\n", "", "2", "JSON Pointer"},
        {"a: 1\n", "/a/b", "2", "no such place"},
        {"a: 1\n", "/b", NULL, "no such place"},
        {"a: {b: 1}\n", "/a/c/d", NULL, "no such place"},
        {"a: [1]\n", "/a/2", "2", "no such place"},
        {"a: [1]\n", "/a/01", "2", "no such place"},
        {"a: 1\n", "/a", "{", ""},
        {"a: [\n", "/a", "1", "not valid YAML"},
        {"a: 1\na: 2\n", "/b", NULL, "no such place"},
        {"a: 1\na: 2\n", "/a", "3", "cannot be changed"}, /* which of them? */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = (char *)cases;
        tamis_error err = {0};
        assert_int_equal(tamis_plan_set(&text, cases[i].text, strlen(cases[i].text), cases[i].path, cases[i].value, &err),
                         TAMIS_INVALID);
        assert_null(text);
        if (!strstr(err.message, cases[i].message)) fail_msg("%s: %s", cases[i].path, err.message);
    }
}

/* Every value of a plan with all kinds of layout is set to each of some others, and removed: what succeeds differs there alone,
 * which the function checks itself; here, that the bytes before and behind the change are the old ones. */
static void bytes_outside_of_a_change_stay(void **state)
{
    (void)state;
    static const char *const values[] = {"1", "\"a: b # c\"", "[]", "{\"x\": [1, {\"y\": \"z\"}]}", NULL};
    tmi_value *d = draft(plan_text);
    size_t changed = 0;
    for (const tmi_value *p = tmi_value_first(tmi_value_get(d, "places")); p; p = tmi_value_next(p)) {
        for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
            char *text;
            const char *path = tmi_value_field_text(p, "path");
            if (tamis_plan_set(&text, plan_text, strlen(plan_text), path, values[i], NULL) != TAMIS_OK) fail_msg("%s", path);
            const tmi_value *key = tmi_value_field(p, "key", TMI_VALUE_MAP);
            const int64_t first = tmi_value_whole(key ? key : p, "begin");
            const char *rest = strchr(plan_text + tmi_value_whole(p, "end"), '\n');
            assert_memory_equal(text, plan_text, (size_t)(first > 4 ? first - 4 : 0) /* blanks, a dash or a comma */);
            assert_true(strlen(text) >= strlen(rest + 1));
            assert_string_equal(text + strlen(text) - strlen(rest + 1), rest + 1);
            tamis_free(text);
            changed++;
        }
    }
    assert_true(changed > 80);
    tmi_value_free(d);
}

static void a_plan_is_written_as_yaml_and_read_again(void **state)
{
    (void)state;
    tamis_plan *plan, *again;
    char *yaml, *json, *same;
    assert_int_equal(tamis_plan_read_text(&plan, "plan.yaml", plan_text, strlen(plan_text), NULL), TAMIS_OK);
    assert_int_equal(tamis_plan_yaml(&yaml, plan, NULL), TAMIS_OK);
    assert_non_null(strstr(yaml, "design: {srs: {population: 6194, sample: 200}}\n"));
    assert_int_equal(tamis_plan_read_text(&again, "plan.yaml", yaml, strlen(yaml), NULL), TAMIS_OK);
    assert_int_equal(tamis_plan_json(&json, plan, NULL), TAMIS_OK);
    assert_int_equal(tamis_plan_json(&same, again, NULL), TAMIS_OK);
    assert_string_equal(json, same);
    tamis_free(yaml);
    EVERY_ALLOCATION_FAILS(tamis_plan_yaml(&yaml, plan, NULL), assert_null(yaml));
    tamis_free(yaml);
    tamis_free(json);
    tamis_free(same);
    tamis_plan_free(plan);
    tamis_plan_free(again);
}

static void a_plan_may_not_leave_its_folder(void **state)
{
    (void)state;
    char root[] = "/tmp/tamis-root-XXXXXX", name[64], link[64], text[512];
    assert_non_null(mkdtemp(root));
    snprintf(name, sizeof name, "%s/plan.yaml", root);
    snprintf(link, sizeof link, "%s/link", root);
    assert_int_equal(symlink("/etc", link), 0);
    const tamis_plan_options within = {.size = sizeof within, .root = root};
    static const struct {
        const char *path, *value, *key;
    } cases[] = {
        {"/source", "{\"file\": \"/etc/passwd.csv\"}", "source.file"},
        {"/source", "{\"file\": \"../a.csv\"}", "source.file"},
        {"/source", "{\"file\": \"link/a.csv\"}", "source.file"},
        {"/source", "{\"file\": \"none/../../a.csv\"}", "source.file"},
        {"/ledger", "\"/tmp/x.ledger\"", "ledger"},
        {"/calibrate", "{\"to\": \"/etc/hostname\"}", "calibrate.to"},
        {"/columns/kind", "{\"values\": {\"file\": \"/etc/hostname\"}}", "columns.kind.values.file"},
        {"/statistics", "[{\"change\": {\"total\": \"enroll\"}, \"since\": \"link/release\"}]", "statistics[1].since"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *changed, key[64];
        tamis_plan *plan;
        tamis_error err = {0};
        assert_int_equal(tamis_plan_set(&changed, plan_text, strlen(plan_text), cases[i].path, cases[i].value, NULL), TAMIS_OK);
        assert_int_equal(tamis_plan_read_with(&plan, name, changed, strlen(changed), &within, &err), TAMIS_INVALID);
        assert_null(plan);
        snprintf(key, sizeof key, ": %s: this file is outside", cases[i].key);
        if (!strstr(err.message, key)) fail_msg("%s: %s", cases[i].value, err.message);
        char *json;
        assert_int_equal(tamis_draft_json(&json, name, changed, strlen(changed), &within, NULL), TAMIS_OK);
        assert_non_null(strstr(json, "this file is outside"));
        tamis_free(json);
        tamis_free(changed);
    }
    tamis_plan *plan;
    assert_int_equal(tamis_plan_read_with(&plan, name, plan_text, strlen(plan_text), &within, NULL), TAMIS_OK);
    tamis_plan_free(plan);
    snprintf(text, sizeof text, "%s/../plan.yaml", root);
    assert_int_equal(tamis_plan_read_with(&plan, text, plan_text, strlen(plan_text), &within, NULL), TAMIS_INVALID);
    unlink(link);
    rmdir(root);
}

static tamis_status read_with_source(const char *name, const char *source, const tamis_plan_options *options)
{
    char *changed, value[128];
    tamis_plan *plan;
    snprintf(value, sizeof value, "{\"file\": \"%s\"}", source);
    assert_int_equal(tamis_plan_set(&changed, plan_text, strlen(plan_text), "/source", value, NULL), TAMIS_OK);
    const tamis_status status = tamis_plan_read_with(&plan, name, changed, strlen(changed), options, NULL);
    tamis_plan_free(plan);
    tamis_free(changed);
    return status;
}

static void other_places_may_be_allowed_and_pipes_never(void **state)
{
    (void)state;
    char root[] = "/tmp/tamis-root-XXXXXX", other[] = "/tmp/tamis-also-XXXXXX", name[64], path[64], second[64], pipe[64];
    assert_non_null(mkdtemp(root));
    assert_non_null(mkdtemp(other));
    snprintf(name, sizeof name, "%s/plan.yaml", root);
    snprintf(path, sizeof path, "%s/a.csv", other);
    snprintf(pipe, sizeof pipe, "%s/pipe.csv", root);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    const char *const folder[] = {"/none", other, NULL}, *const file[] = {path, NULL}, *const none[] = {NULL};
    tamis_plan_options options = {.size = sizeof options, .root = root};
    assert_int_equal(read_with_source(name, path, &options), TAMIS_INVALID);
    options.also = none;
    assert_int_equal(read_with_source(name, path, &options), TAMIS_INVALID);
    options.also = folder;
    assert_int_equal(read_with_source(name, path, &options), TAMIS_OK);
    assert_int_equal(read_with_source(name, "/tmp/b.csv", &options), TAMIS_INVALID);
    FILE *made = fopen(path, "w"); /* a file can be allowed by itself once it is there */
    assert_non_null(made);
    assert_int_equal(fclose(made), 0);
    options.also = file;
    assert_int_equal(read_with_source(name, path, &options), TAMIS_OK);
    snprintf(second, sizeof second, "%s/b.csv", other);
    assert_int_equal(read_with_source(name, second, &options), TAMIS_INVALID);
    assert_int_equal(read_with_source(name, "pipe.csv", &options), TAMIS_INVALID);
    assert_int_equal(read_with_source(name, "pipe.csv", NULL), TAMIS_OK);
    assert_int_equal(unlink(path) + unlink(pipe) + rmdir(other) + rmdir(root), 0);
}

static void drafts_without_memory(void **state)
{
    (void)state;
    char *json;
    EVERY_ALLOCATION_FAILS(tamis_draft_json(&json, "plan.yaml", plan_text, strlen(plan_text), NULL, NULL), assert_null(json));
    tamis_free(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_draft_has_its_tree_and_places),
        cmocka_unit_test(places_of_every_way_to_write_a_value),
        cmocka_unit_test(a_draft_that_is_no_plan_has_every_error_with_its_key),
        cmocka_unit_test(one_value_is_changed_and_nothing_else),
        cmocka_unit_test(what_cannot_be_changed_is_refused),
        cmocka_unit_test(bytes_outside_of_a_change_stay),
        cmocka_unit_test(a_plan_is_written_as_yaml_and_read_again),
        cmocka_unit_test(a_plan_may_not_leave_its_folder),
        cmocka_unit_test(other_places_may_be_allowed_and_pipes_never),
        cmocka_unit_test(drafts_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
