/* Explanations: every topic has its screen, in both forms; what they say of sampling is what the library computes. */
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "base/value/json.h"
#include "tests/base/memory_that_fails.h"

static char *explain(const char *topic, int json)
{
    char *text;
    tamis_error err;
    if ((json ? tamis_explain_json : tamis_explain_text)(&text, topic, &err) != TAMIS_OK)
        fail_msg("%s: %s", topic ? topic : "NULL", err.message);
    return text;
}

/* 80 columns, 40 lines, no line that ends in a space. */
static void assert_fits_a_screen(const char *topic, const char *text)
{
    int lines = 0;
    while (*text) {
        size_t length = strcspn(text, "\n");
        char *line = strndup(text, length);
        assert_true(line && text[length] == '\n');
        if (tmi_text_columns(line) > TMI_TEXT_WIDTH || (length > 0 && line[length - 1] == ' ')) fail_msg("%s: %s", topic, line);
        free(line);
        text += length + 1;
        lines++;
    }
    if (lines < 3 || lines > 40) fail_msg("%s: %d lines", topic, lines);
}

static void every_topic_has_a_screen(void **state)
{
    size_t i = 0;
    (void)state;
    for (; tamis_explain_topic(i); i++) {
        const char *topic = tamis_explain_topic(i);
        char *text = explain(topic, 0), *json = explain(topic, 1);
        tmi_value *document;
        assert_fits_a_screen(topic, text);
        assert_int_equal(tmi_json_read(&document, json, strlen(json), NULL), TAMIS_OK);
        assert_int_equal(tmi_value_kind_of(document), TMI_VALUE_MAP);
        tmi_value_free(document);
        tamis_free(text);
        tamis_free(json);
    }
    assert_true(i > 2 + TAMIS_SETTINGS + 11);
    char *text = explain(NULL, 0), *json = explain(NULL, 1);
    assert_fits_a_screen("topics", text);
    assert_non_null(strstr(json, "\"sample given frame\""));
    tamis_free(text);
    tamis_free(json);
}

/* Each setting tells what it assumes of the attacker, and how it is written. */
static void settings_tell_everything(void **state)
{
    (void)state;
    char *all = explain("settings", 0);
    for (size_t i = 0; i < TAMIS_SETTINGS; i++) {
        const tamis_setting *s = &tamis_settings()[i];
        char *text = explain(s->name, 0), *json = explain(s->name, 1);
        tmi_value *document;
        assert_non_null(strstr(all, s->name));
        assert_true(strstr(text, "The attacker") && strstr(text, "Use it") && strstr(text, "In a plan"));
        assert_int_equal(tmi_json_read(&document, json, strlen(json), NULL), TAMIS_OK);
        assert_string_equal(tmi_value_string(tmi_value_get(document, "attacker")), s->attacker);
        assert_string_equal(tmi_value_string(tmi_value_get(document, "protect")), tamis_level_name(s->protect));
        assert_string_equal(tmi_value_string(tmi_value_get(document, "paper_weights")), /* Table 4.1 */
                            s->given == TAMIS_FRAME || s->given == TAMIS_SAMPLE ? "fixed" : "may move");
        tmi_value_free(document);
        tamis_free(text);
        tamis_free(json);
    }
    tamis_free(all);
}

/* One method is one method, and no two columns are called alike. */
static void a_method_tells_of_itself(void **state)
{
    char *tille = explain("tille", 0), *pps = explain("pps", 0), *settings = explain("settings", 0);
    (void)state;
    assert_true(strncmp(tille, "tille: ", 7) == 0 && strstr(tille, "{method: tille,") && strstr(tille, "tille, epsilon 1") &&
                !strstr(tille, "brewer, epsilon 1"));
    assert_true(strstr(pps, "tille, epsilon 1") && strstr(pps, "brewer, epsilon 1"));
    const char *heading = strstr(settings, "in tamis");
    assert_non_null(heading);
    assert_null(strstr(heading + 1, "in tamis"));
    tamis_free(tille);
    tamis_free(pps);
    tamis_free(settings);
}

/* Verdicts: proved with a number below 1, or refused. */
static void designs_say_what_is_proved(void **state)
{
    static const struct {
        const char *name, *number;
    } rows[] = {
        {"srs  ", "0.158566  srs"},
        {"bernoulli", "0.158566  poisson"},
        {"\npoisson", "0.295"},
        {"conditional_poisson", "strongly_rayleigh"},
        {"sampford", "strongly_rayleigh"},
        {"pivotal  ", "strongly_rayleigh"},
        {"systematic_random", "refused  not proved"},
        {"brewer", "refused  not proved"},
        {"tille", "refused  not proved"},
        {"weights", "refused  not proved"},
        {"stratified", "0.295"},
        {"census", "1  census"},
    };
    (void)state;
    char *text = explain("designs", 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *at = strstr(text, rows[i].name);
        if (at && *at == '\n') at++;
        if (!at) fail_msg("no row %s in\n%s", rows[i].name, text);
        const char *end = strchr(at, '\n'), *number = strstr(at, rows[i].number);
        if (!number || number > end) fail_msg("%s: %.*s", rows[i].name, (int)(end - at), at);
    }
    tamis_free(text);
}

/* Each design is a key of the plan's format. */
static void plans_take_every_design(void **state)
{
    (void)state;
    for (size_t i = 2 + TAMIS_SETTINGS; i < 2 + TAMIS_SETTINGS + 11; i++) {
        char plan[100], key[100];
        tamis_plan *read;
        tamis_error err;
        int length = snprintf(plan, sizeof plan, "design: {%s: {}}", tamis_explain_topic(i));
        snprintf(key, sizeof key, "design.%s: ", tamis_explain_topic(i));
        assert_int_equal(tamis_plan_read_text(&read, "p", plan, (size_t)length, &err), TAMIS_INVALID); /* no source, no columns */
        const char *told = strstr(err.message, key);
        if (told) assert_int_equal(strncmp(told + strlen(key), "expected the key", 16), 0); /* of its own sizes */
    }
}

static void bad_arguments_are_named(void **state)
{
    tamis_error err;
    char *text = (char *)&err;
    (void)state;
    assert_int_equal(tamis_explain_text(&text, "sett", &err), TAMIS_INVALID);
    assert_null(text);
    assert_non_null(strstr(err.message, "sett"));
    assert_int_equal(tamis_explain_json(&text, "", &err), TAMIS_INVALID);
    assert_int_equal(tamis_explain_text(NULL, "settings", &err), TAMIS_INVALID);
    assert_null(tamis_explain_topic(1000));
    EVERY_ALLOCATION_FAILS(tamis_explain_text(&text, "srs", NULL), assert_null(text));
    tamis_free(text);
    EVERY_ALLOCATION_FAILS(tamis_explain_json(&text, "designs", NULL), assert_null(text));
    tamis_free(text);
    EVERY_ALLOCATION_FAILS(tamis_explain_text(&text, NULL, NULL), assert_null(text));
    tamis_free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_topic_has_a_screen), cmocka_unit_test(settings_tell_everything),
        cmocka_unit_test(a_method_tells_of_itself), cmocka_unit_test(designs_say_what_is_proved),
        cmocka_unit_test(plans_take_every_design),  cmocka_unit_test(bad_arguments_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
