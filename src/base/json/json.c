#include "base/json/json.h"

#include <jansson.h>
#include <string.h>

#include "base/json/weight.h"

/* ---- reading: tmi_json is jansson's json_t under another name, so that no other room sees jansson ---- */

static const json_t *in(const tmi_json *value) { return (const json_t *)(const void *)value; }

static tmi_json *out_of(json_t *value) { return (tmi_json *)(void *)value; }

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

void tmi_json_free(tmi_json *document) { json_decref((json_t *)(void *)document); }

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

bool tmi_json_is_true(const tmi_json *value) { return json_is_true(in(value)); }

int64_t tmi_json_integer(const tmi_json *value) { return json_integer_value(in(value)); }

double tmi_json_real(const tmi_json *value) { return json_number_value(in(value)); }

const char *tmi_json_string(const tmi_json *value) { return json_string_value(in(value)); }

size_t tmi_json_size(const tmi_json *value)
{
    return json_is_array(in(value)) ? json_array_size(in(value)) : json_object_size(in(value));
}

const tmi_json *tmi_json_at(const tmi_json *list, size_t index) { return out_of(json_array_get(in(list), index)); }

const tmi_json *tmi_json_get(const tmi_json *object, const char *key) { return out_of(json_object_get(in(object), key)); }

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

bool tmi_json_equal(const tmi_json *x, const tmi_json *y) { return json_equal(in(x), in(y)); }

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

const char *tmi_json_short_name(const char *key) { return strlen(key) <= 60 ? key : "(a long name)"; }

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

/* ---- writing ---- */

void tmi_json_out_init(tmi_json_out *out, tmi_text *text, bool pretty) { *out = (tmi_json_out){.text = text, .pretty = pretty}; }

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

/* The length of the UTF-8 character that `c` begins with, 0 if it is not one: overlong forms, surrogates and what lies beyond
 * U+10FFFF are none. A string that ends inside a character is caught by its zero byte. */
static size_t character(const char *c)
{
    const unsigned char *u = (const unsigned char *)c;
    if (u[0] < 0x80) return 1;
    size_t length = u[0] >= 0xF0 ? 4 : u[0] >= 0xE0 ? 3 : 2;
    if (u[0] < 0xC2 || u[0] > 0xF4) return 0;
    for (size_t i = 1; i < length; i++)
        if ((u[i] & 0xC0) != 0x80) return 0;
    if ((u[0] == 0xE0 && u[1] < 0xA0) || (u[0] == 0xED && u[1] > 0x9F)) return 0;
    if ((u[0] == 0xF0 && u[1] < 0x90) || (u[0] == 0xF4 && u[1] > 0x8F)) return 0;
    return length;
}

bool tmi_is_utf8(const char *string)
{
    size_t length = 1;
    while (*string && (length = character(string)) > 0) string += length;
    return length > 0;
}

/* ASCII that needs no escape; not the zero at the end. */
static bool is_plain(char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; }

/* What is written is valid JSON whatever the string holds: a byte that is no UTF-8, such as the first half of a character
 * that a message was cut in, becomes U+FFFD. */
static void quoted(tmi_text *text, const char *string)
{
    tmi_text_put(text, "\"");
    for (const char *c = string; *c;) {
        size_t plain = 0;
        while (is_plain(c[plain])) plain++;
        tmi_text_add(text, c, plain);
        c += plain;
        if (*c == '\0') break;
        unsigned char u = (unsigned char)*c;
        size_t length = character(c);
        if (length == 0) tmi_text_put(text, "\\ufffd");
        else if (u == '"' || u == '\\') tmi_text_format(text, "\\%c", u);
        else if (u < 0x20) tmi_text_format(text, "\\u%04x", u);
        else tmi_text_add(text, c, length);
        c += length ? length : 1;
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

void tmi_json_put_null(tmi_json_out *out) { tmi_json_put_string(out, NULL); }

void tmi_json_put_number(tmi_json_out *out, const char *text)
{
    before_value(out);
    tmi_text_put(out->text, text);
}
