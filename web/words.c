/* What needs no plan: settings, designs and promises in plain words. */
#include <string.h>
#include <tamis/experimental/meaning.h>
#include <tamis/experimental/setting.h>
#include <tamis/explain.h>

#include "server.h"

void web_route_about(web_request *r)
{
    const web_server *server = r->server;
    web_text out = {0};
    web_put(&out, "{\"version\": ");
    web_put_string(&out, tamis_version());
    web_put(&out, ", \"folder\": ");
    web_put_string(&out, server->folder_name);
    web_put(&out, server->options->read_only ? ", \"read_only\": true" : ", \"read_only\": false");
    web_put(&out, server->options->example ? ", \"example\": true" : ", \"example\": false");
    web_put(&out, ", \"also\": [");
    for (char *const *also = server->also; *also; also++) {
        if (also > server->also) web_put(&out, ", ");
        web_put_string(&out, *also);
    }
    web_put(&out, "]}");
    web_answer_text(r, MHD_HTTP_OK, &out);
}

void web_route_explain(web_request *r)
{
    const char *topic = NULL;
    char *json = NULL;
    tamis_error err = {0};
    if (!web_string(r, "topic", &topic, false)) return;
    if (tamis_explain_json(&json, topic, &err) == TAMIS_OK) web_answer(r, MHD_HTTP_OK, json);
    else web_failed(r, &err);
    tamis_free(json);
}

static void put_word(web_text *out, const char *key, const char *value)
{
    web_put(out, ", ");
    web_put_string(out, key);
    web_put(out, ": ");
    web_put_string(out, value);
}

static void put_flag(web_text *out, const char *key, int value)
{
    web_put(out, ", ");
    web_put_string(out, key);
    web_put(out, value ? ": true" : ": false");
}

void web_route_settings(web_request *r)
{
    const tamis_setting *settings = tamis_settings();
    web_text out = {0};
    web_put(&out, "{\"settings\": [");
    for (size_t i = 0; i < TAMIS_SETTINGS; i++) {
        const tamis_setting *s = &settings[i];
        web_put(&out, i > 0 ? ", {\"name\": " : "{\"name\": ");
        web_put_string(&out, s->name);
        put_word(&out, "protect", tamis_level_name(s->protect));
        put_word(&out, "given", tamis_level_name(s->given));
        put_flag(&out, "may_be_absent", s->may_be_absent);
        put_flag(&out, "size_is_public", s->size_is_public);
        put_flag(&out, "may_protect_design", s->may_protect_design);
        put_flag(&out, "may_amplify", s->may_amplify);
        put_word(&out, "domain", s->domain);
        put_word(&out, "universes", s->universes);
        put_word(&out, "neighbours", s->neighbours);
        put_word(&out, "weights", s->weights);
        put_word(&out, "amplification", s->amplification);
        put_word(&out, "attacker", s->attacker);
        put_word(&out, "verdict", s->verdict);
        web_put(&out, "}");
    }
    web_put(&out, "]}");
    web_answer_text(r, MHD_HTTP_OK, &out);
}

void web_route_meaning(web_request *r)
{
    static const char *const names[] = {"epsilon", "delta", "outsider_epsilon", "outsider_delta"};
    tamis_number *numbers[4] = {0}, *zero = NULL;
    const char *unit = NULL;
    char *json = NULL, *picture = NULL;
    bool svg = false, good = web_string(r, "unit", &unit, false) && web_flag(r, "svg", &svg);
    tamis_error err = {0};
    web_text out = {0};
    for (size_t i = 0; good && i < 4; i++) good = web_number(r, names[i], &numbers[i]);
    if (good && !numbers[0]) {
        web_refuse(r, WEB_WRONG, "request", "epsilon: expected a number written as a text, such as \"1\"");
        good = false;
    }
    if (good) {
        tamis_status status = tamis_number_read(&zero, "0", &err);
        const tamis_promise promise = {.eps = numbers[0],
                                       .delta = numbers[1] ? numbers[1] : zero,
                                       .outsider_eps = numbers[2],
                                       .outsider_delta = !numbers[2]  ? NULL
                                                         : numbers[3] ? numbers[3]
                                                                      : zero,
                                       .unit = unit};
        if (status == TAMIS_OK) status = tamis_meaning_json(&json, &promise, &err);
        if (status == TAMIS_OK && svg) status = tamis_meaning_svg(&picture, &promise, &err);
        if (status == TAMIS_OK) {
            web_put(&out, "{\"meaning\": ");
            web_put(&out, json);
            web_put(&out, ", \"svg\": ");
            web_put_string(&out, picture);
            web_put(&out, "}");
            web_answer_text(r, MHD_HTTP_OK, &out);
        } else {
            web_failed(r, &err);
        }
    }
    for (size_t i = 0; i < 4; i++) tamis_number_free(numbers[i]);
    tamis_number_free(zero);
    tamis_free(json);
    tamis_free(picture);
}
