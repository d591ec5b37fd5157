#include "base/value/json.h"

#include <jansson.h>
#include <string.h>

#include "base/value/weight.h"

/* ---- reading ---- */

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

/* A value of jansson's as ours; what was copied is let go at once, so that a long document is not in memory twice. */
static bool copy(tmi_value **value, tmi_value *parent, const char *key, json_t *from, pieces *p)
{
    static const tmi_value_kind kinds[] = {
        [JSON_OBJECT] = TMI_VALUE_MAP,      [JSON_ARRAY] = TMI_VALUE_LIST, [JSON_STRING] = TMI_VALUE_TEXT,
        [JSON_INTEGER] = TMI_VALUE_INTEGER, [JSON_REAL] = TMI_VALUE_REAL,  [JSON_TRUE] = TMI_VALUE_BOOLEAN,
        [JSON_FALSE] = TMI_VALUE_BOOLEAN,   [JSON_NULL] = TMI_VALUE_NULL};
    tmi_value *new = tmi_value_new(parent, key, kinds[json_typeof(from)]);
    bool whole = new != NULL;
    if (!parent) *value = new;
    if (!whole) return false;
    if (new->kind >= TMI_VALUE_LIST && tmi_watch_beat(p->watch, NULL) != TAMIS_OK) p->stopped = true;
    if (p->stopped) return false;
    if (json_is_string(from)) return tmi_value_set_text(new, json_string_value(from), json_string_length(from));
    if (json_is_real(from)) new->real = json_real_value(from);
    else if (new->kind < TMI_VALUE_LIST) new->integer = json_is_true(from) ? 1 : json_integer_value(from);
    for (size_t i = 0; whole && i < json_array_size(from); i++) {
        whole = copy(NULL, new, NULL, json_array_get(from, i), p);
        json_array_set_new(from, i, json_null());
    }
    for (void *at = json_object_iter(from); whole && at; at = json_object_iter_next(from, at)) {
        whole = copy(NULL, new, json_object_iter_key(at), json_object_iter_value(at), p);
        json_object_iter_set_new(from, at, json_null());
    }
    return whole && (new->kind < TMI_VALUE_LIST || tmi_value_close(new));
}

tamis_status tmi_json_read(tmi_value **document, const char *bytes, size_t length, tamis_error *err)
{
    return tmi_json_read_watched(document, bytes, length, NULL, err);
}

tamis_status tmi_json_read_watched(tmi_value **document, const char *bytes, size_t length, tmi_watch *watch, tamis_error *err)
{
    const size_t flags = JSON_REJECT_DUPLICATES | JSON_DECODE_ANY;
    json_error_t where = {0};
    pieces p = {bytes, length, watch, false};
    json_t *root = watch ? json_load_callback(next_piece, &p, flags, &where) : json_loadb(bytes, length, flags, &where);
    const bool read = root != NULL;
    *document = NULL;
    const bool whole = read && !p.stopped && tmi_json_text_weight(bytes, length) == tmi_json_document_weight(root) &&
                       copy(document, NULL, NULL, root, &p);
    json_decref(root);
    if (whole) return TAMIS_OK;
    tmi_value_free(*document);
    *document = NULL;
    if (p.stopped) return tmi_fail(err, TAMIS_SYSTEM, "cancelled");
    if (read || where.text[0] == '\0') return tmi_fail_memory(err); /* jansson has no words for it */
    char *quote = strstr(where.text, " near '");                    /* the text there may be a value of somebody's data */
    if (quote) *quote = '\0';
    tmi_fail(err, TAMIS_INVALID, "not valid JSON at line %d, column %d: %s", where.line, where.column, where.text);
    if (err) err->items[0].line = where.line, err->items[0].column = where.column;
    return TAMIS_INVALID;
}

/* ---- the canonical text ---- */

static int add_bytes(const char *bytes, size_t length, void *text)
{
    tmi_text_add(text, bytes, length);
    return 0;
}

/* A text or a real number as jansson writes it, which owns `scalar`. */
static void put_scalar(tmi_text *text, json_t *scalar)
{
    if (json_dump_callback(scalar, add_bytes, text, JSON_ENCODE_ANY | JSON_REAL_PRECISION(17)) != 0) text->failed = true;
    json_decref(scalar);
}

static void put_canonical(tmi_text *text, const tmi_value *value)
{
    const bool map = value->kind == TMI_VALUE_MAP;
    switch (value->kind) {
    case TMI_VALUE_NULL: tmi_text_put(text, "null"); return;
    case TMI_VALUE_BOOLEAN: tmi_text_put(text, value->integer ? "true" : "false"); return;
    case TMI_VALUE_INTEGER: tmi_text_format(text, "%lld", (long long)value->integer); return;
    case TMI_VALUE_REAL: put_scalar(text, json_real(value->real)); return;
    case TMI_VALUE_TEXT: put_scalar(text, json_string(value->text)); return;
    case TMI_VALUE_LIST:
    case TMI_VALUE_MAP: break;
    }
    tmi_text_put(text, map ? "{" : "[");
    for (size_t i = 0; i < value->count && !text->failed; i++) {
        if (i > 0) tmi_text_put(text, ", ");
        if (map) put_scalar(text, json_string(value->items[i]->key));
        if (map) tmi_text_put(text, ": ");
        put_canonical(text, value->items[i]);
    }
    tmi_text_put(text, map ? "}" : "]");
}

tamis_status tmi_json_canonical(tmi_text *text, const tmi_value *value, tamis_error *err)
{
    put_canonical(text, value);
    return text->failed ? tmi_fail_memory(err) : TAMIS_OK;
}

tamis_status tmi_json_canonical_text(char **json, const tmi_value *value, tamis_error *err)
{
    tmi_text text;
    tmi_text_init(&text);
    put_canonical(&text, value);
    return tmi_text_take(json, &text, err);
}
