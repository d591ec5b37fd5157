/* Texts, answers, and the members of a request. */
#include <openssl/evp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server.h"

/* ---- texts ---- */

void web_add(web_text *to, const char *bytes, size_t length)
{
    if (to->failed) return;
    if (to->room - to->length <= length) {
        const size_t room = (to->length + length + 1) * 2;
        char *larger = realloc(to->bytes, room);
        if (!larger) {
            to->failed = true;
            return;
        }
        to->bytes = larger;
        to->room = room;
    }
    memcpy(to->bytes + to->length, bytes, length);
    to->length += length;
    to->bytes[to->length] = '\0';
}

void web_put(web_text *to, const char *text) { web_add(to, text, strlen(text)); }

void web_put_string(web_text *to, const char *text)
{
    json_t *value = text ? json_string(text) : NULL;
    char *written = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
    if (written) web_put(to, written);
    else if (value) to->failed = true;
    else web_put(to, "null");
    free(written);
    json_decref(value);
}

void web_put_hash(char hash[WEB_HASH], const void *bytes, size_t length)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    hash[0] = '\0';
    if (EVP_Digest(bytes, length, digest, &size, EVP_sha256(), NULL) != 1) return;
    for (unsigned i = 0; i < size && 2 * i + 2 < WEB_HASH; i++) snprintf(hash + 2 * i, 3, "%02x", digest[i]);
}

/* ---- answers ---- */

static const char no_memory[] =
    "{\"code\": \"system\", \"message\": \"out of memory\", \"key\": null, \"file\": null, \"line\": null, "
    "\"column\": null, \"reason\": null, \"charged\": null, \"errors\": []}";

void web_answer_text(web_request *r, int status, web_text *text)
{
    if (r->answered) {
        free(text->bytes);
        return;
    }
    r->answered = true;
    r->status = text->failed ? MHD_HTTP_INTERNAL_SERVER_ERROR : status;
    if (text->failed) {
        free(text->bytes);
        *text = (web_text){0};
        web_put(text, no_memory);
    }
    r->answer = *text;
}

void web_answer(web_request *r, int status, const char *json)
{
    web_text text = {0};
    web_put(&text, json);
    web_answer_text(r, status, &text);
}

void web_put_error(web_text *to, const tamis_error *err, const char *code)
{
    char *json = NULL;
    if (tamis_error_json(&json, err, code, NULL, NULL) == TAMIS_OK) web_put(to, json);
    else web_put(to, no_memory);
    tamis_free(json);
}

void web_refuse(web_request *r, int status, const char *code, const char *format, ...)
{
    tamis_error err = {.status = TAMIS_INVALID};
    web_text text = {0};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(err.message, sizeof err.message, format, arguments);
    va_end(arguments);
    web_put_error(&text, &err, code);
    web_answer_text(r, status, &text);
}

void web_failed(web_request *r, const tamis_error *err)
{
    web_text text = {0};
    if (atomic_load(&r->overtaken) && err->status == TAMIS_SYSTEM) {
        web_refuse(r, MHD_HTTP_CONFLICT, "overtaken", "a newer request has replaced this one");
        return;
    }
    web_put_error(&text, err, NULL);
    web_answer_text(r,
                    err->status == TAMIS_INVALID   ? WEB_WRONG
                    : err->status == TAMIS_REFUSED ? MHD_HTTP_FORBIDDEN
                    : err->status == TAMIS_UNABLE  ? MHD_HTTP_SERVICE_UNAVAILABLE
                                                   : MHD_HTTP_INTERNAL_SERVER_ERROR,
                    &text);
}

/* ---- members ---- */

static bool wrong(web_request *r, const char *name, const char *expected)
{
    web_refuse(r, WEB_WRONG, "request", "%s: expected %s", name, expected);
    return false;
}

static const json_t *member(const web_request *r, const char *name)
{
    const json_t *value = json_object_get(r->in, name);
    return json_is_null(value) ? NULL : value;
}

bool web_string(web_request *r, const char *name, const char **value, bool needed)
{
    const json_t *given = member(r, name);
    if (!given) return needed ? wrong(r, name, "a text") : true;
    if (!json_is_string(given)) return wrong(r, name, "a text");
    *value = json_string_value(given);
    return true;
}

bool web_flag(web_request *r, const char *name, bool *value)
{
    const json_t *given = member(r, name);
    if (!given) return true;
    if (!json_is_boolean(given)) return wrong(r, name, "true or false");
    *value = json_is_true(given);
    return true;
}

bool web_whole(web_request *r, const char *name, int64_t *value, bool needed)
{
    const json_t *given = member(r, name);
    if (!given) return needed ? wrong(r, name, "a whole number") : true;
    if (!json_is_integer(given)) return wrong(r, name, "a whole number");
    *value = json_integer_value(given);
    return true;
}

bool web_number(web_request *r, const char *name, tamis_number **value)
{
    const char *text = NULL;
    tamis_error err = {0};
    if (!web_string(r, name, &text, false)) return false;
    if (!text) return true;
    if (tamis_number_read(value, text, &err) == TAMIS_OK) return true;
    return wrong(r, name, "a number written as a text, such as \"0.165\" or \"1/3\"");
}

/* ---- watching ---- */

static int progress(void *context, double share, int64_t rows)
{
    web_request *r = context;
    (void)share;
    (void)rows;
    return atomic_load(&r->overtaken) || atomic_load(&r->server->ending);
}

tamis_watch web_watch(web_request *r) { return (tamis_watch){progress, r}; }
