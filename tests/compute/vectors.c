/* Every case of tests/vectors/ through tamis_compute_line. Each expected real must lie between the printed decimals,
 * compared as exact rationals, and the enclosure must be narrow: upper - lower <= 1e-9 |upper| + 1e-30.             */
#include "tests/test.h"

#include <glob.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "num/number.h"

static int cases_run;

/* ---- exact numbers ---- */

static bool between(const tamis_number *lower, const tamis_number *x, const tamis_number *upper)
{
    return tmi_number_compare(lower, x) <= 0 && tmi_number_compare(x, upper) <= 0;
}

static bool narrow(const tamis_number *lower, const tamis_number *upper)
{
    tamis_number *relative = number(tmi_number_sign(upper) < 0 ? "-1e-9" : "1e-9"), *tiny = number("1e-30");
    tamis_number *share, *allowed, *gap;
    tmi_number_mul(&share, upper, relative, NULL);
    tmi_number_add(&allowed, share, tiny, NULL);
    tmi_number_sub(&gap, upper, lower, NULL);
    bool answer = tmi_number_compare(gap, allowed) <= 0;
    tamis_number *all[] = {relative, tiny, share, allowed, gap};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tamis_number_free(all[i]);
    return answer;
}

/* ---- JSON whose numbers keep their digits: 0.5 becomes "#0.5" before jansson reads it ---- */

static json_t *load_exactly(const char *line)
{
    tmi_text text;
    bool quoted = false;
    tmi_text_init(&text);
    for (const char *c = line; *c; c++) {
        if (*c == '"' && (c == line || c[-1] != '\\')) quoted = !quoted;
        size_t digits = quoted ? 0 : strspn(c, "0123456789+-.eE");
        if (digits > 0 && (*c == '-' || (*c >= '0' && *c <= '9'))) {
            tmi_text_format(&text, "\"#%.*s\"", (int)digits, c);
            c += digits - 1;
        } else {
            tmi_text_add(&text, c, 1);
        }
    }
    json_t *root = json_loads(text.bytes, 0, NULL);
    tmi_text_clear(&text);
    return root;
}

/* ---- comparing ---- */

static bool matches(const json_t *expected, const json_t *answer);

static bool encloses(const json_t *answer, const char *expected)
{
    const char *low = json_string_value(json_object_get(answer, "lower"));
    const char *high = json_string_value(json_object_get(answer, "upper"));
    if (!low || !high || json_object_size(answer) != 2) return false;
    if (strcmp(expected, "inf") == 0) return strcmp(high, "inf") == 0 && strcmp(low, "inf") == 0;
    if (*low != '#' || *high != '#') return false;
    tamis_number *lower = number(low + 1), *upper = number(high + 1), *exact = number(expected);
    bool answer_is_good = between(lower, exact, upper) && narrow(lower, upper);
    tamis_number_free(lower);
    tamis_number_free(upper);
    tamis_number_free(exact);
    return answer_is_good;
}

static bool lists_match(const json_t *expected, const json_t *answer)
{
    if (!json_is_array(answer) || json_array_size(answer) != json_array_size(expected)) return false;
    for (size_t i = 0; i < json_array_size(expected); i++)
        if (!matches(json_array_get(expected, i), json_array_get(answer, i))) return false;
    return true;
}

static bool matches(const json_t *expected, const json_t *answer)
{
    char text[32];
    if (json_is_array(expected)) return lists_match(expected, answer);
    if (json_is_integer(expected)) {
        snprintf(text, sizeof text, "#%lld", (long long)json_integer_value(expected));
        if (json_is_string(answer)) return strcmp(text, json_string_value(answer)) == 0;
        return json_is_object(answer) && encloses(answer, text + 1);
    }
    if (json_is_string(expected) && json_is_object(answer)) return encloses(answer, json_string_value(expected));
    return json_equal((json_t *)(uintptr_t)expected, (json_t *)(uintptr_t)answer);
}

/* Any one of the maximisers will do; there is none if delta is 0, though the file may list all pairs. */
static bool worst_matches(const json_t *expected, const json_t *answer, bool zero)
{
    if (!json_is_array(answer) || json_array_size(answer) > 1) return false;
    if (json_array_size(answer) == 0 || zero) return zero && json_array_size(answer) == 0;
    for (size_t i = 0; i < json_array_size(expected); i++)
        if (matches(json_array_get(expected, i), json_array_get(answer, 0))) return true;
    return false;
}

/* Fields that only document a case. */
static bool may_be_left_out(const char *field, const json_t *out)
{
    static const char *const names[] = {"naive", "one_plus_sum", "pmf_dec", "argmax_k", "example_pair"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(field, names[i]) == 0) return true;
    size_t length = strlen(field);
    if (length <= 6 || strcmp(field + length - 6, "_exact") != 0) return false;
    char plain[64];
    snprintf(plain, sizeof plain, "%.*s", (int)(length - 6), field);
    return json_object_get(out, plain) != NULL;
}

static void check_out(const char *id, json_t *expected, json_t *out)
{
    const char *field;
    json_t *value;
    const char *delta = json_string_value(json_object_get(expected, "delta"));
    bool zero = delta && strcmp(delta, "0") == 0;
    if (!json_is_object(out)) fail_msg("%s: no \"out\"", id);
    json_object_foreach (expected, field, value) {
        json_t *answer = json_object_get(out, field);
        if (!answer && may_be_left_out(field, expected)) continue;
        if (!answer) fail_msg("%s: %s is missing", id, field);
        bool good = strcmp(field, "worst") == 0 ? worst_matches(value, answer, zero) : matches(value, answer);
        if (!good) fail_msg("%s: %s is wrong or too wide: %s", id, field, json_dumps(answer, JSON_ENCODE_ANY));
    }
    json_object_foreach (out, field, value)
        if (!json_object_get(expected, field)) fail_msg("%s: %s is not expected", id, field);
}

static void run_case(const char *area, json_t *test)
{
    const char *id = json_string_value(json_object_get(test, "id"));
    json_t *request = json_pack("{s:s, s:s, s:O, s:O}", "id", id, "area", area, "kind", json_object_get(test, "kind"), "in",
                                json_object_get(test, "in"));
    char *line = json_dumps(request, 0), *answer = NULL;
    tamis_error err = {0};
    tamis_status status = tamis_compute_line(&answer, line, strlen(line), &err);
    if (status != TAMIS_OK) fail_msg("%s: %s", id, err.message);
    json_t *read = load_exactly(answer);
    assert_non_null(read);
    assert_string_equal(json_string_value(json_object_get(read, "id")), id);
    check_out(id, json_object_get(test, "out"), json_object_get(read, "out"));
    json_decref(read);
    json_decref(request);
    tamis_free(answer);
    free(line);
    cases_run++;
}

static void every_case_of_every_file(void **state)
{
    glob_t files;
    (void)state;
    assert_int_equal(glob(TESTS_FOLDER "/vectors/*.json", 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        json_error_t where;
        json_t *file = json_load_file(files.gl_pathv[i], 0, &where), *test;
        if (!file) fail_msg("%s: %s", files.gl_pathv[i], where.text);
        const char *area = json_string_value(json_object_get(file, "area"));
        assert_true(json_array_size(json_object_get(file, "cases")) > 0);
        size_t k;
        json_array_foreach (json_object_get(file, "cases"), k, test) run_case(area, test);
        json_decref(file);
    }
    globfree(&files);
    assert_true(cases_run >= 106);
}

/* The check itself can fail. */
static void the_check_sees_what_is_wrong(void **state)
{
    static const struct {
        const char *expected, *answer;
        bool good;
    } cases[] = {
        {"\"0.5\"", "{\"lower\": 0.5, \"upper\": 0.5}", true},
        {"\"1/3\"", "{\"lower\": 0.33333333333333331, \"upper\": 0.33333333333333337}", true},
        {"\"1/3\"", "{\"lower\": 0.33333333333333331, \"upper\": 0.33333333333333332}", false},
        {"\"1/3\"", "{\"lower\": 0.3333, \"upper\": 0.3334}", false},
        {"\"0\"", "{\"lower\": 0, \"upper\": 1e-31}", true},
        {"\"0\"", "{\"lower\": 0, \"upper\": 1e-29}", false},
        {"\"inf\"", "{\"lower\": \"inf\", \"upper\": \"inf\"}", true},
        {"\"inf\"", "{\"lower\": 1, \"upper\": \"inf\"}", false},
        {"3", "3", true},
        {"3", "4", false},
        {"[\"1\", \"2\"]", "[{\"lower\": 1, \"upper\": 1}, {\"lower\": 2, \"upper\": 2}]", true},
        {"[\"1\", \"2\"]", "[{\"lower\": 1, \"upper\": 1}]", false},
        {"\"0.5\"", "0.5", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *expected = json_loads(cases[i].expected, JSON_DECODE_ANY, NULL);
        char wrapped[256];
        snprintf(wrapped, sizeof wrapped, "[%s]", cases[i].answer);
        json_t *answer = load_exactly(wrapped);
        if (matches(expected, json_array_get(answer, 0)) != cases[i].good) fail_msg("%s", cases[i].answer);
        json_decref(expected);
        json_decref(answer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_check_sees_what_is_wrong),
        cmocka_unit_test(every_case_of_every_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
