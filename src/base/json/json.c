#include "base/json/json.h"

#include <jansson.h>
#include <string.h>

#include "base/json/weight.h"

/* ---- reading: tmi_json is jansson's json_t under another name, so that no other room sees jansson ---- */

static const json_t *in(const tmi_json *value)
{
    return (const json_t *)(const void *)value;
}

static tmi_json *out_of(json_t *value)
{
    return (tmi_json *)(void *)value;
}

/* A text that jansson asks for piece by piece. */
typedef struct pieces {
    const char *bytes;
    size_t left;
    tmi_watch *watch;
    bool stopped;
} pieces;

static size_t next_piece(void *room, size_t size, void *context)
{
    pieces *p = context;
    const size_t count = p->left < size ? p->left : size;
    if (tmi_watch_beat(p->watch, NULL) != TAMIS_OK) {
        p->stopped = true;
        return (size_t)-1;
    }
    memcpy(room, p->bytes, count);
    p->bytes += count;
    p->left -= count;
    return count;
}

tamis_status tmi_json_read(tmi_json **document, const char *bytes, size_t length, tamis_error *err)
{
    return tmi_json_read_watched(document, bytes, length, NULL, err);
}

tamis_status tmi_json_read_watched(tmi_json **document, const char *bytes, size_t length, tmi_watch *watch, tamis_error *err)
{
    const size_t flags = JSON_REJECT_DUPLICATES | JSON_DECODE_ANY;
    json_error_t where = {0};
    pieces p = {bytes, length, watch, false};
    json_t *root = watch ? json_load_callback(next_piece, &p, flags, &where) : json_loadb(bytes, length, flags, &where);
    *document = NULL;
    if (p.stopped) {
        json_decref(root);
        return tmi_fail(err, TAMIS_SYSTEM, "cancelled");
    }
    if (root && tmi_json_text_weight(bytes, length) == tmi_json_document_weight(root)) {
        *document = out_of(root);
        return TAMIS_OK;
    }
    json_decref(root);
    if (root || where.text[0] == '\0') return tmi_fail_memory(err); /* jansson has no words for it */
    char *quote = strstr(where.text, " near '");                    /* the text there may be a value of somebody's data */
    if (quote) *quote = '\0';
    tmi_fail(err, TAMIS_INVALID, "not valid JSON at line %d, column %d: %s", where.line, where.column, where.text);
    if (err) err->items[0].line = where.line, err->items[0].column = where.column;
    return TAMIS_INVALID;
}

void tmi_json_free(tmi_json *document)
{
    json_decref((json_t *)(void *)document);
}

tmi_json *tmi_json_share(const tmi_json *value)
{
    return out_of(json_incref((json_t *)(uintptr_t)(const void *)value));
}

tmi_json_kind tmi_json_kind_of(const tmi_json *value)
{
    switch (json_typeof(in(value))) {
    case JSON_OBJECT: return TMI_JSON_OBJECT;
    case JSON_ARRAY: return TMI_JSON_LIST;
    case JSON_STRING: return TMI_JSON_STRING;
    case JSON_INTEGER: return TMI_JSON_INTEGER;
    case JSON_REAL: return TMI_JSON_REAL;
    case JSON_TRUE:
    case JSON_FALSE: return TMI_JSON_BOOLEAN;
    case JSON_NULL: break;
    }
    return TMI_JSON_NULL;
}

bool tmi_json_is_true(const tmi_json *value)
{
    return json_is_true(in(value));
}

int64_t tmi_json_integer(const tmi_json *value)
{
    return json_integer_value(in(value));
}

double tmi_json_real(const tmi_json *value)
{
    return json_number_value(in(value));
}

const char *tmi_json_string(const tmi_json *value)
{
    return json_string_value(in(value));
}

size_t tmi_json_size(const tmi_json *value)
{
    return json_is_array(in(value)) ? json_array_size(in(value)) : json_object_size(in(value));
}

const tmi_json *tmi_json_at(const tmi_json *list, size_t index)
{
    return out_of(json_array_get(in(list), index));
}

const tmi_json *tmi_json_get(const tmi_json *object, const char *key)
{
    return out_of(json_object_get(in(object), key));
}

const tmi_json *tmi_json_field(const tmi_json *object, const char *key, tmi_json_kind kind)
{
    const tmi_json *value = tmi_json_get(object, key);
    return value && tmi_json_kind_of(value) == kind ? value : NULL;
}

const char *tmi_json_text(const tmi_json *object, const char *key)
{
    const tmi_json *value = tmi_json_field(object, key, TMI_JSON_STRING);
    return value ? tmi_json_string(value) : "";
}

int64_t tmi_json_whole(const tmi_json *object, const char *key)
{
    const tmi_json *value = tmi_json_field(object, key, TMI_JSON_INTEGER);
    return value ? tmi_json_integer(value) : 0;
}

bool tmi_json_true(const tmi_json *object, const char *key)
{
    return json_is_true(in(tmi_json_get(object, key)));
}

const char *tmi_json_next_key(const tmi_json *object, const char *key)
{
    json_t *root = (json_t *)(uintptr_t)(const void *)object; /* jansson's iterators want it unqualified; nothing changes */
    void *at = key ? json_object_iter_next(root, json_object_iter_at(root, key)) : json_object_iter(root);
    return at ? json_object_iter_key(at) : NULL;
}

const char *tmi_json_extra_key(const tmi_json *object, const char *const *keys, size_t count)
{
    for (const char *key = tmi_json_next_key(object, NULL); key; key = tmi_json_next_key(object, key)) {
        size_t i = 0;
        while (i < count && strcmp(keys[i], key) != 0) i++;
        if (i == count) return key;
    }
    return NULL;
}

bool tmi_json_equal(const tmi_json *x, const tmi_json *y)
{
    return json_equal(in(x), in(y));
}

/* The first key of x that y lacks, or holds with another value. */
static const char *difference(const tmi_json *x, const tmi_json *y, const char *except)
{
    json_t *object = (json_t *)(uintptr_t)(const void *)x;
    for (void *at = json_object_iter(object); at; at = json_object_iter_next(object, at)) {
        const char *key = json_object_iter_key(at);
        const json_t *other = json_object_get(in(y), key);
        if (except && strcmp(key, except) == 0) continue;
        if (!other || !json_equal(json_object_iter_value(at), other)) return key;
    }
    return NULL;
}

const char *tmi_json_short_name(const char *key)
{
    return strlen(key) <= 60 ? key : "(a long name)";
}

const char *tmi_json_difference(const tmi_json *x, const tmi_json *y, const char *except)
{
    const char *key = difference(x, y, except);
    return key ? key : difference(y, x, except);
}

static int add_bytes(const char *bytes, size_t length, void *text)
{
    tmi_text_add(text, bytes, length);
    return 0;
}

tamis_status tmi_json_canonical(tmi_text *text, const tmi_json *value, tamis_error *err)
{
    const size_t flags = JSON_SORT_KEYS | JSON_ENCODE_ANY | JSON_REAL_PRECISION(17);
    if (json_dump_callback(in(value), add_bytes, text, flags) != 0) text->failed = true;
    return text->failed ? tmi_fail_memory(err) : TAMIS_OK;
}
