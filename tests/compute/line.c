/* The frame of the calculator: whatever the line is, the answer is one line of JSON with an id and "out" or "error". */
#include "tests/test.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "tests/base/memory_that_fails.h"

#define AMPLIFY(in) "{\"id\": \"a\", \"area\": \"amplification\", \"kind\": \"forward\", \"in\": " in "}"
#define COMPOSE(list) \
    "{\"id\": \"a\", \"area\": \"composition\", \"kind\": \"pure\", \"in\": {\"N\": 5, \"n\": 2, \"eps_list\": " list "}}"

/* One good request of every kind. */
static const char *const good[] = {
    AMPLIFY("{\"N\": 5, \"n\": 2, \"eps\": \"1\", \"delta\": \"0\"}"),
    "{\"id\": \"a\", \"area\": \"amplification\", \"kind\": \"inverse\", \"in\": {\"N\": 5, \"n\": 2, \"eps\": 1, \"delta\": "
    "\"1/3\"}}",
    COMPOSE("[\"1\", 2, \"1e-3\"]"),
    "{\"id\": \"a\", \"area\": \"accuracy_gain\", \"kind\": \"mean\", \"in\": {\"N\": 5, \"n\": 2, \"eps\": \"1\", \"R\": \"1\", "
    "\"S2\": \"1\"}}",
    "{\"id\": \"a\", \"area\": \"accuracy_gain\", \"kind\": \"rate_for_q\", \"in\": {\"eps\": \"1\", \"q\": \"0.5\"}}",
    "{\"id\": \"a\", \"area\": \"accuracy_gain\", \"kind\": \"max_sampling_var\", \"in\": {\"eps\": \"1\", \"f\": \"0.5\", "
    "\"sensitivity\": 1}}",
    "{\"id\": \"a\", \"area\": \"smooth_sensitivity\", \"kind\": \"laplace_pair\", \"in\": {\"eps\": \"1\", \"shift\": \"3\", "
    "\"b1\": \"1\", \"b2\": \"2\"}}",
};
#define GOOD (sizeof good / sizeof *good)

/* Asks, and checks what every answer must be; gives its status. */
static tamis_status ask(json_t **answer, const char *line, size_t length)
{
    char *text = NULL;
    tamis_error err = {0};
    tamis_status status = tamis_compute_line(&text, line, length, &err);
    assert_non_null(text);
    assert_null(strpbrk(text, "\r\n"));
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(root);
    assert_int_equal(json_object_size(root), 2);
    const json_t *id = json_object_get(root, "id");
    assert_true(json_is_string(id) || json_is_null(id));
    if (status == TAMIS_OK) {
        assert_true(json_is_object(json_object_get(root, "out")));
    } else {
        const json_t *error = json_object_get(root, "error");
        assert_int_equal(json_object_size(error), 2);
        assert_string_equal(json_string_value(json_object_get(error, "message")), err.message);
        assert_true(strlen(err.message) > 0);
        assert_int_equal(err.status, status);
    }
    tamis_free(text);
    *answer = root;
    return status;
}

static const char *error_of(const json_t *answer, const char *field)
{
    return json_string_value(json_object_get(json_object_get(answer, "error"), field));
}

static void answers_every_kind(void **state)
{
    (void)state;
    for (size_t i = 0; i < GOOD; i++) {
        json_t *answer;
        assert_int_equal(ask(&answer, good[i], strlen(good[i])), TAMIS_OK);
        assert_string_equal(json_string_value(json_object_get(answer, "id")), "a");
        json_decref(answer);
    }
}

static void reads_numbers_in_every_writing(void **state)
{
    static const char *const same[] = {
        AMPLIFY("{\"N\": 100, \"n\": 10, \"eps\": \"1/2\", \"delta\": \"0\"}"),
        AMPLIFY("{\"delta\": 0, \"eps\": \"0.5\", \"n\": \"10\", \"N\": \"1e2\"}"),
        AMPLIFY("{\"N\": \"200/2\", \"n\": \"+10.0\", \"eps\": \"5e-1\", \"delta\": \"-0\"}"),
    };
    char *first = NULL;
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        char *answer;
        assert_int_equal(tamis_compute_line(&answer, same[i], strlen(same[i]), NULL), TAMIS_OK);
        if (first) assert_string_equal(answer, first);
        else first = answer;
        if (answer != first) tamis_free(answer);
    }
    tamis_free(first);
}

static void repeats_any_id(void **state)
{
    static const char *const ids[] = {"", "a b", "\\\"\\\\/", "\\n\\t\\u0001", "\\u00e9\\ud83d\\ude00", "null"};
    (void)state;
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        char line[256], wanted[64];
        json_t *answer;
        snprintf(line, sizeof line, "{\"id\": \"%s\", \"area\": \"\", \"kind\": \"\", \"in\": {}}", ids[i]);
        snprintf(wanted, sizeof wanted, "[\"%s\"]", ids[i]);
        json_t *expected = json_loads(wanted, 0, NULL);
        assert_int_equal(ask(&answer, line, strlen(line)), TAMIS_INVALID);
        assert_true(json_equal(json_object_get(answer, "id"), json_array_get(expected, 0)));
        json_decref(expected);
        json_decref(answer);
    }
}

/* Each line with the id it is answered with (NULL: null), the code, and a word of the message. */
static const struct {
    const char *line, *id, *code, *word;
} bad[] = {
    {"", NULL, "invalid", "empty"},
    {" ", NULL, "invalid", "JSON"},
    {"\r", NULL, "invalid", "JSON"},
    {"x", NULL, "invalid", "JSON"},
    {"{", NULL, "invalid", "JSON"},
    {"}", NULL, "invalid", "JSON"},
    {"{}", NULL, "invalid", "'id' is missing"},
    {"[]", NULL, "invalid", "object"},
    {"null", NULL, "invalid", "object"},
    {"true", NULL, "invalid", "object"},
    {"12", NULL, "invalid", "object"},
    {"NaN", NULL, "invalid", "JSON"},
    {"\"text\"", NULL, "invalid", "object"},
    {"{\"id\": \"a\"} {}", NULL, "invalid", "JSON"},
    {"{\"id\": \"a\", \"id\": \"b\"}", NULL, "invalid", "duplicate"},
    {"{\"id\": 7}", NULL, "invalid", "id: must be a string"},
    {"{\"id\": null}", NULL, "invalid", "id: must be a string"},
    {"{\"id\": [\"a\"]}", NULL, "invalid", "id: must be a string"},
    {"{\"id\": \"a\\u0000b\"}", NULL, "invalid", "JSON"},
    {"{\"id\": \"\xff\"}", NULL, "invalid", "JSON"},
    {"{\"id\": \"a\", \"more\": 1}", "a", "invalid", "'more' is not a field"},
    {"{\"id\": \"a\", \"\xc3\xa9\": 1}", "a", "invalid", "\xc3\xa9"},
    {"{\"id\": \"a\"}", "a", "invalid", "'area' is missing"},
    {"{\"id\": \"a\", \"area\": 1}", "a", "invalid", "area: must be a string"},
    {"{\"id\": \"a\", \"area\": \"Amplification\"}", "a", "unknown", "amplification"},
    {"{\"id\": \"a\", \"area\": \"\"}", "a", "unknown", "area: unknown"},
    {"{\"id\": \"a\", \"area\": \"composition\"}", "a", "invalid", "'kind' is missing"},
    {"{\"id\": \"a\", \"area\": \"composition\", \"kind\": {}}", "a", "invalid", "kind: must be a string"},
    {"{\"id\": \"a\", \"area\": \"composition\", \"kind\": \"forward\"}", "a", "unknown", "pure"},
    {"{\"id\": \"a\", \"area\": \"composition\", \"kind\": \"pure\"}", "a", "invalid", "'in' is missing"},
    {"{\"id\": \"a\", \"area\": \"composition\", \"kind\": \"pure\", \"in\": []}", "a", "invalid", "in: must be an object"},
    {"{\"id\": \"a\", \"area\": \"amplification\", \"kind\": \"enumerated_rr\", \"in\": {}}", "a", "unknown", "kind: unknown"},
    {AMPLIFY("{}"), "a", "invalid", "'N' is missing"},
    {AMPLIFY("{\"N\": 5, \"n\": 2, \"eps\": \"1\"}"), "a", "invalid", "'delta' is missing"},
    {AMPLIFY("{\"N\": 5, \"n\": 2, \"eps\": \"1\", \"delta\": \"0\", \"q\": 1}"), "a", "invalid", "'q' is not a field"},
    {AMPLIFY("{\"N\": 5, \"n\": 2, \"eps\": \"1\", \"Delta\": \"0\"}"), "a", "invalid", "'Delta' is not a field"},
    {AMPLIFY("{\"N\": 5.0, \"n\": 2, \"eps\": \"1\", \"delta\": \"0\"}"), "a", "invalid", "N: must be an integer"},
    {AMPLIFY("{\"N\": \"5.5\", \"n\": 2, \"eps\": \"1\", \"delta\": \"0\"}"), "a", "invalid", "N: must be an integer"},
    {AMPLIFY("{\"N\": \"1e30\", \"n\": 2, \"eps\": \"1\", \"delta\": \"0\"}"), "a", "invalid", "N: must be an integer"},
    {AMPLIFY("{\"N\": 99999999999999999999, \"n\": 2, \"eps\": \"1\", \"delta\": \"0\"}"), NULL, "invalid", "big integer"},
    {AMPLIFY("{\"N\": true, \"n\": 2, \"eps\": \"1\", \"delta\": \"0\"}"), "a", "invalid", "N: must be"},
    {AMPLIFY("{\"N\": null, \"n\": 2, \"eps\": \"1\", \"delta\": \"0\"}"), "a", "invalid", "N: must be"},
    {AMPLIFY("{\"N\": [5], \"n\": 2, \"eps\": \"1\", \"delta\": \"0\"}"), "a", "invalid", "N: must be"},
    {AMPLIFY("{\"N\": 5, \"n\": 2, \"eps\": 0.5, \"delta\": \"0\"}"), "a", "invalid", "eps: write a number"},
    {AMPLIFY("{\"N\": 5, \"n\": 2, \"eps\": 1e3, \"delta\": \"0\"}"), "a", "invalid", "eps: write a number"},
    {AMPLIFY("{\"N\": 5, \"n\": 2, \"eps\": NaN, \"delta\": \"0\"}"), NULL, "invalid", "JSON"},
    {AMPLIFY("{\"N\": 5, \"n\": 2, \"eps\": \"NaN\", \"delta\": \"0\"}"), "a", "invalid", "eps: not a number"},
    {AMPLIFY("{\"N\": 5, \"n\": 2, \"eps\": \"inf\", \"delta\": \"0\"}"), "a", "invalid", "eps: not a number"},
    {AMPLIFY("{\"N\": 5, \"n\": 2, \"eps\": \"\", \"delta\": \"0\"}"), "a", "invalid", "eps: not a number"},
    {AMPLIFY("{\"N\": 5, \"n\": 2, \"eps\": \"1 \", \"delta\": \"0\"}"), "a", "invalid", "eps: not a number"},
    {AMPLIFY("{\"N\": 5, \"n\": 2, \"eps\": \"1/0\", \"delta\": \"0\"}"), "a", "invalid", "eps: a fraction"},
    {AMPLIFY("{\"N\": 5, \"n\": 2, \"eps\": \"1e999999999\", \"delta\": \"0\"}"), "a", "invalid", "eps: an exponent"},
    {AMPLIFY("{\"N\": 5, \"n\": 2, \"eps\": {\"lower\": 1}, \"delta\": \"0\"}"), "a", "invalid", "eps: must be"},
    {AMPLIFY("{\"N\": 5, \"n\": 6, \"eps\": \"1\", \"delta\": \"0\"}"), "a", "invalid",
     "sample: must be between 1 and the population"},
    {AMPLIFY("{\"N\": 0, \"n\": 0, \"eps\": \"1\", \"delta\": \"0\"}"), "a", "invalid", "population: must be at least 1"},
    {AMPLIFY("{\"N\": 5, \"n\": 2, \"eps\": \"-1\", \"delta\": \"0\"}"), "a", "invalid", "eps: must not be negative"},
    {AMPLIFY("{\"N\": 5, \"n\": 2, \"eps\": \"1\", \"delta\": \"2\"}"), "a", "invalid", "delta: must be between 0 and 1"},
    {COMPOSE("[]"), "a", "invalid", "count: must be at least 1"},
    {COMPOSE("\"1\""), "a", "invalid", "eps_list: must be a list"},
    {COMPOSE("{\"0\": 1}"), "a", "invalid", "eps_list: must be a list"},
    {COMPOSE("[\"1\", 0.5]"), "a", "invalid", "eps_list: item 2: write a number"},
    {COMPOSE("[\"1\", [\"1\"]]"), "a", "invalid", "eps_list: item 2: must be"},
    {COMPOSE("[\"1\", \"x\"]"), "a", "invalid", "eps_list: item 2: not a number"},
    {COMPOSE("[\"1\", \"-2\"]"), "a", "invalid", "eps[1]: must not be negative"},
};

static void refuses_each_bad_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        json_t *answer;
        if (ask(&answer, bad[i].line, strlen(bad[i].line)) != TAMIS_INVALID) fail_msg("accepted: %s", bad[i].line);
        const char *id = json_string_value(json_object_get(answer, "id"));
        if ((id == NULL) != (bad[i].id == NULL) || (id && strcmp(id, bad[i].id) != 0)) fail_msg("wrong id: %s", bad[i].line);
        if (strcmp(error_of(answer, "code"), bad[i].code) != 0) fail_msg("wrong code: %s", bad[i].line);
        if (!strstr(error_of(answer, "message"), bad[i].word))
            fail_msg("%s: told '%s'", bad[i].line, error_of(answer, "message"));
        json_decref(answer);
    }
}

/* Every field of every kind: left out, and put in as each wrong type, the field is named. */
static void names_the_field_of_every_kind(void **state)
{
    static const char *const wrong[] = {"null", "true", "0.5", "{}", "[[]]", "\"x\""};
    (void)state;
    for (size_t i = 0; i < GOOD; i++) {
        json_t *request = json_loads(good[i], 0, NULL), *in = json_object_get(request, "in"), *fields = json_copy(in);
        json_t *value, *answer;
        const char *name;
        json_object_foreach (fields, name, value) {
            for (size_t k = 0; k <= sizeof wrong / sizeof *wrong; k++) {
                if (k == 0) json_object_del(in, name);
                else json_object_set_new(in, name, json_loads(wrong[k - 1], JSON_DECODE_ANY, NULL));
                char *line = json_dumps(request, 0);
                assert_int_equal(ask(&answer, line, strlen(line)), TAMIS_INVALID);
                if (!strstr(error_of(answer, "message"), name)) fail_msg("%s: %s", line, error_of(answer, "message"));
                json_decref(answer);
                free(line);
            }
            json_object_set(in, name, value);
        }
        json_decref(fields);
        json_decref(request);
    }
}

/* Cut anywhere, a good line is an error, not a crash; the sanitizer watches the end of the copy. */
static void refuses_every_part_of_a_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < GOOD; i++) {
        for (size_t length = 0; length < strlen(good[i]); length++) {
            json_t *answer;
            char *copy = malloc(length ? length : 1);
            memcpy(copy, good[i], length);
            assert_int_equal(ask(&answer, copy, length), TAMIS_INVALID);
            json_decref(answer);
            free(copy);
        }
    }
}

static void refuses_long_deep_and_binary_lines(void **state)
{
    size_t length = TAMIS_COMPUTE_LINE_MAX + 1;
    char *line = malloc(length);
    json_t *answer;
    (void)state;
    memset(line, ' ', length); /* spaces before a request are fine, but not so many */
    assert_int_equal(ask(&answer, line, length), TAMIS_INVALID);
    assert_non_null(strstr(error_of(answer, "message"), "longer than"));
    json_decref(answer);
    memcpy(line + length - 1 - strlen(good[0]), good[0], strlen(good[0]));
    assert_int_equal(ask(&answer, line, length - 1), TAMIS_OK); /* the longest line allowed */
    json_decref(answer);
    memset(line, '[', length);
    assert_int_equal(ask(&answer, line, length - 1), TAMIS_INVALID);
    json_decref(answer);
    memset(line, 0, length);
    assert_int_equal(ask(&answer, line, length - 1), TAMIS_INVALID);
    json_decref(answer);
    free(line);
    assert_int_equal(ask(&answer, "{\"id\": \"a\0\"}", 12), TAMIS_INVALID);
    json_decref(answer);
}

/* A message about a name cut inside a character is still JSON. */
static void long_names_give_whole_answers(void **state)
{
    (void)state;
    for (int shift = 0; shift < 4; shift++) {
        char line[4096], name[1024];
        json_t *answer;
        memset(name, 'a', (size_t)shift);
        for (size_t i = (size_t)shift; i + 4 < sizeof name; i += 3) memcpy(name + i, "\xe2\x82\xac", 4);
        snprintf(line, sizeof line, "{\"id\": \"a\", \"%s\": 1}", name);
        assert_int_equal(ask(&answer, line, strlen(line)), TAMIS_INVALID);
        json_decref(answer);
    }
}

static void many_releases_are_quick(void **state)
{
    tmi_text line;
    json_t *answer;
    (void)state;
    tmi_text_init(&line);
    tmi_text_put(&line, "{\"id\": \"a\", \"area\": \"composition\", \"kind\": \"pure\", "
                        "\"in\": {\"N\": 5, \"n\": 5, \"eps_list\": [0");
    for (int i = 1; i <= 100000; i++) tmi_text_format(&line, ",\"1/%d\"", i); /* their exact sum has 43 000 digits */
    tmi_text_put(&line, "]}}");
    assert_int_equal(ask(&answer, line.bytes, line.length), TAMIS_OK);
    double sum = json_real_value(json_object_get(json_object_get(json_object_get(answer, "out"), "correct"), "lower"));
    assert_true(sum > 12.0901461298 && sum < 12.0901461299); /* the 100000th harmonic number */
    json_decref(answer);
    tmi_text_clear(&line);
}

/* Seventeen bytes that stand for 2000 digits: the list is refused before it fills the memory. */
static void long_numbers_do_not_fill_the_memory(void **state)
{
    tmi_text line;
    json_t *answer;
    (void)state;
    tmi_text_init(&line);
    tmi_text_put(&line, "{\"id\": \"a\", \"area\": \"composition\", \"kind\": \"pure\", "
                        "\"in\": {\"N\": 5, \"n\": 5, \"eps_list\": [0");
    while (line.length < TAMIS_COMPUTE_LINE_MAX - 100) tmi_text_put(&line, ",\"1e1000/1e-1000\"");
    tmi_text_put(&line, "]}}");
    assert_int_equal(ask(&answer, line.bytes, line.length), TAMIS_INVALID);
    assert_non_null(strstr(error_of(answer, "message"), "eps_list: its numbers take more than"));
    json_decref(answer);
    tmi_text_clear(&line);
}

/* Without memory the answer says so, or there is none; the id is told where it was read. */
static void survives_missing_memory(void **state)
{
    (void)state;
    for (size_t i = 0; i < GOOD; i++) {
        char *answer;
        tamis_error err;
        EVERY_ALLOCATION_FAILS(tamis_compute_line(&answer, good[i], strlen(good[i]), &err), {
            const bool read = strncmp(answer, "{\"id\": \"a\"", 10) == 0;
            assert_string_equal(answer + (read ? 10 : 11),
                                ", \"error\": {\"code\": \"system\", \"message\": \"out of memory\"}}");
            assert_true(read || strncmp(answer, "{\"id\": null", 11) == 0);
            tamis_free(answer);
        });
        tamis_free(answer);
    }
    char *answer;
    fail_allocation(2); /* the answer's own text, after the root of the request */
    assert_int_equal(tamis_compute_line(&answer, "x", 1, NULL), TAMIS_INVALID);
    assert_true(allocation_failed());
    assert_null(answer);
}

static void refuses_missing_pointers(void **state)
{
    tamis_error err;
    json_t *answer;
    (void)state;
    assert_int_equal(tamis_compute_line(NULL, "x", 1, &err), TAMIS_INVALID);
    assert_string_equal(err.message, "answer: NULL");
    assert_int_equal(ask(&answer, NULL, 5), TAMIS_INVALID);
    assert_non_null(strstr(error_of(answer, "message"), "line: NULL"));
    json_decref(answer);
    assert_int_equal(ask(&answer, NULL, 0), TAMIS_INVALID); /* an empty line */
    json_decref(answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_every_kind),
        cmocka_unit_test(reads_numbers_in_every_writing),
        cmocka_unit_test(repeats_any_id),
        cmocka_unit_test(refuses_each_bad_line),
        cmocka_unit_test(names_the_field_of_every_kind),
        cmocka_unit_test(refuses_every_part_of_a_line),
        cmocka_unit_test(refuses_long_deep_and_binary_lines),
        cmocka_unit_test(long_names_give_whole_answers),
        cmocka_unit_test(many_releases_are_quick),
        cmocka_unit_test(long_numbers_do_not_fill_the_memory),
        cmocka_unit_test(survives_missing_memory),
        cmocka_unit_test(refuses_missing_pointers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
