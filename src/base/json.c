#include "base/json.h"

#include <jansson.h>
#include <string.h>

/* ---- reading: tmi_json is jansson's json_t under another name, so that no other room sees jansson ---- */

static const json_t *in(const tmi_json *value)
{
    return (const json_t *)(const void *)value;
}

static tmi_json *out_of(json_t *value)
{
    return (tmi_json *)(void *)value;
}

tamis_status tmi_json_read(tmi_json **document, const char *bytes, size_t length, tamis_error *err)
{
    json_error_t where;
    json_t *root = json_loadb(bytes, length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &where);
    *document = out_of(root);
    if (root) return TAMIS_OK;
    if (json_error_code(&where) == json_error_out_of_memory) return tmi_fail_memory(err);
    return tmi_fail(err, TAMIS_INVALID, "not valid JSON at line %d, column %d: %s", where.line, where.column,
                    where.text);
}

void tmi_json_free(tmi_json *document)
{
    json_decref((json_t *)(void *)document);
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

const char *tmi_json_extra_key(const tmi_json *object, const char *const *keys, size_t count)
{
    json_t *root = (json_t *)(uintptr_t)(const void *)object; /* jansson's iterators want it unqualified; nothing changes */
    for (void *at = json_object_iter(root); at; at = json_object_iter_next(root, at)) {
        const char *key = json_object_iter_key(at);
        size_t i = 0;
        while (i < count && strcmp(keys[i], key) != 0) i++;
        if (i == count) return key;
    }
    return NULL;
}

/* ---- writing ---- */

void tmi_json_out_init(tmi_json_out *out, tmi_text *text, bool pretty)
{
    *out = (tmi_json_out){.text = text, .pretty = pretty};
}

static void new_line(tmi_json_out *out)
{
    if (!out->pretty) return;
    tmi_text_put(out->text, "\n");
    for (unsigned i = 0; i < out->depth; i++) tmi_text_put(out->text, "  ");
}

/* Before a value in a list or a key in an object: the comma and the indentation. */
static void separate(tmi_json_out *out)
{
    if (out->depth == 0) return;
    if (out->filled[out->depth - 1]) tmi_text_put(out->text, out->pretty ? "," : ", ");
    out->filled[out->depth - 1] = true;
    new_line(out);
}

static void before_value(tmi_json_out *out)
{
    if (!out->keyed) separate(out);
    out->keyed = false;
}

void tmi_json_open(tmi_json_out *out, char bracket)
{
    before_value(out);
    tmi_text_add(out->text, &bracket, 1);
    if (out->depth == TMI_JSON_DEPTH) {
        out->text->failed = true;
        return;
    }
    out->filled[out->depth++] = false;
}

void tmi_json_close(tmi_json_out *out, char bracket)
{
    if (out->depth == 0) {
        out->text->failed = true;
        return;
    }
    bool filled = out->filled[--out->depth];
    if (filled) new_line(out);
    tmi_text_add(out->text, &bracket, 1);
}

static void quoted(tmi_text *text, const char *string)
{
    tmi_text_put(text, "\"");
    for (const char *c = string; *c; c++) {
        unsigned char u = (unsigned char)*c;
        if (u == '"' || u == '\\') tmi_text_format(text, "\\%c", u);
        else if (u < 0x20) tmi_text_format(text, "\\u%04x", u);
        else tmi_text_add(text, c, 1);
    }
    tmi_text_put(text, "\"");
}

void tmi_json_key(tmi_json_out *out, const char *key)
{
    separate(out);
    quoted(out->text, key);
    tmi_text_put(out->text, ": ");
    out->keyed = true;
}

void tmi_json_put_string(tmi_json_out *out, const char *string)
{
    before_value(out);
    if (string) quoted(out->text, string);
    else tmi_text_put(out->text, "null");
}

void tmi_json_put_integer(tmi_json_out *out, int64_t value)
{
    before_value(out);
    tmi_text_format(out->text, "%lld", (long long)value);
}

void tmi_json_put_boolean(tmi_json_out *out, bool value)
{
    before_value(out);
    tmi_text_put(out->text, value ? "true" : "false");
}

void tmi_json_put_null(tmi_json_out *out)
{
    tmi_json_put_string(out, NULL);
}

void tmi_json_put_number(tmi_json_out *out, const char *text)
{
    before_value(out);
    tmi_text_put(out->text, text);
}
