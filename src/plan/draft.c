/* Texts that are being written: what can be read of them with the place of each value (tamis_draft_json), and changes of one
 * value that leave all other bytes alone (tamis_plan_set).
 *
 * A change is made by bytes, since writing the tree again would lose comments and layout. YAML has more ways to lay out a value
 * than the few rules here know, so the result is read again and compared with what it should be: a text that the rules do not fit
 * is refused, never damaged. */
#include <stdlib.h>
#include <string.h>
#include <tamis/experimental/draft.h>

#include "base/memory.h"
#include "base/value/json.h"
#include "plan/sections.h"
#include "plan/yaml_write.h"

/* ---- draft ---- */

/* Of equal keys, which a draft may have, the first one counts. */
static bool is_shadowed(const tmi_value *item)
{
    const char *key = tmi_value_key(item);
    return key && tmi_value_get(tmi_value_parent(item), key) != item;
}

static void put_tree(tmi_json_out *out, const tmi_value *value)
{
    if (value->kind == TMI_VALUE_TEXT) {
        tmi_json_put_string(out, value->text);
        return;
    }
    const bool map = value->kind == TMI_VALUE_MAP;
    tmi_json_open(out, map ? '{' : '[');
    for (const tmi_value *item = tmi_value_first(value); item; item = tmi_value_next(item)) {
        if (is_shadowed(item)) continue;
        if (map) tmi_json_key(out, tmi_value_key(item));
        put_tree(out, item);
    }
    tmi_json_close(out, map ? '}' : ']');
}

static void put_spot(tmi_json_out *out, int line, int column, uint32_t begin, uint32_t end)
{
    tmi_json_add_integer(out, "line", line);
    tmi_json_add_integer(out, "column", column);
    tmi_json_add_integer(out, "begin", begin);
    tmi_json_add_integer(out, "end", end);
}

/* A step of a JSON Pointer: ~ and / are written ~0 and ~1. */
static void put_step(tmi_text *path, const char *key)
{
    tmi_text_put(path, "/");
    for (; *key; key++) tmi_text_add(path, *key == '~' ? "~0" : *key == '/' ? "~1" : key, *key == '~' || *key == '/' ? 2 : 1);
}

static void put_places(tmi_json_out *out, const tmi_value *value, tmi_text *path)
{
    size_t index = 0;
    for (const tmi_value *item = tmi_value_first(value); item && !path->failed; item = tmi_value_next(item), index++) {
        const size_t length = path->length;
        const tmi_place at = tmi_value_place(item);
        if (is_shadowed(item)) continue;
        if (tmi_value_key(item)) put_step(path, tmi_value_key(item));
        else tmi_text_format(path, "/%zu", index);
        if (path->failed) break;
        tmi_json_open(out, '{');
        tmi_json_add_string(out, "path", path->bytes);
        put_spot(out, at.line, at.column, at.begin, at.end);
        tmi_json_add_boolean(out, "quoted", item->quoted);
        if (tmi_value_key(item)) {
            tmi_json_add_open(out, "key", '{');
            put_spot(out, at.key_line, at.key_column, at.key_begin, at.key_end);
            tmi_json_close(out, '}');
        } else {
            tmi_json_add_null(out, "key");
        }
        tmi_json_close(out, '}');
        if (item->kind >= TMI_VALUE_LIST) put_places(out, item, path);
        if (!path->failed) path->bytes[path->length = length] = '\0';
    }
}

static void put_error(tmi_json_out *out, const char *message, const char *key, size_t key_length, const char *file, int64_t line,
                      int64_t column)
{
    tmi_text name;
    tmi_text_init(&name);
    tmi_text_add(&name, key, key_length);
    tmi_json_open(out, '{');
    tmi_json_add_string(out, "message", message);
    tmi_json_add_taken(out, "key", &name);
    tmi_json_add_string(out, "file", file);
    tmi_json_add_integer(out, "line", line);
    tmi_json_add_integer(out, "column", column);
    tmi_json_close(out, '}');
}

tamis_status tamis_draft_json(char **json, const char *name, const char *bytes, size_t length, const tamis_plan_options *options,
                              tamis_error *err)
{
    if (!json) return tmi_fail(err, TAMIS_INVALID, "json: NULL");
    *json = NULL;
    if (!name) return tmi_fail(err, TAMIS_INVALID, "name: NULL");
    if (!bytes) return tmi_fail(err, TAMIS_INVALID, "bytes: NULL");

    tmi_reader reader = {.name = name};
    tmi_value *root = NULL;
    tamis_plan *plan = NULL;
    tamis_error syntax = {0};
    tmi_text text, path;
    tmi_json_out out;
    tmi_text_init(&text);
    tmi_text_init(&path);
    tamis_status status;
    TMI_TRY(tmi_plan_allowed_of(options, name, &reader.places, err));
    const tamis_status read = tmi_yaml_read_partly(&root, name, bytes, length, &syntax);
    if (read != TAMIS_OK && read != TAMIS_INVALID) TMI_TRY(tmi_fail_as(err, &syntax));
    if (read == TAMIS_OK) TMI_TRY(tmi_plan_of(&plan, &reader, root, err));
    tmi_reader_sort(&reader);

    tmi_json_out_init(&out, &text, false);
    tmi_json_open(&out, '{');
    tmi_json_add_boolean(&out, "ok", read == TAMIS_OK && reader.count == 0);
    tmi_json_key(&out, "tree");
    if (root) put_tree(&out, root);
    else tmi_json_put_null(&out);
    tmi_json_add_open(&out, "places", '[');
    tmi_text_put(&path, "");
    if (root) put_places(&out, root, &path);
    tmi_json_close(&out, ']');
    tmi_json_add_open(&out, "errors", '[');
    if (read != TAMIS_OK)
        put_error(&out, syntax.message + syntax.items[0].text, "", 0, name, syntax.items[0].line, syntax.items[0].column);
    for (size_t i = 0; i < reader.count; i++) {
        const tmi_complaint *c = &reader.complaints[i];
        put_error(&out, c->text, c->text, c->key, c->name, c->line, c->column);
    }
    tmi_json_close(&out, ']');
    tmi_json_close(&out, '}');
    if (path.failed) text.failed = true;
    TMI_TRY(tmi_text_take(json, &text, err));

done:
    tmi_text_clear(&text);
    tmi_text_clear(&path);
    tmi_reader_clear(&reader);
    tamis_plan_free(plan);
    tmi_value_free(root);
    return status;
}

/* ---- set ---- */

#define MAX_STEPS (TMI_YAML_DEPTH + 1)

/* What a change is about: the old text and its tree, the steps of the path, and how far the tree has them. */
typedef struct change {
    const char *bytes;
    size_t length;
    tmi_value *root;
    char *steps[MAX_STEPS];
    size_t count;
    const tmi_value *parent; /* the last value on the way, without the one that is set */
    const tmi_value *old;    /* the value that is set; NULL: it is new */
    size_t depth;            /* steps up to `parent` */
    const char *end_of_line;
    tmi_yaml_texts texts;
} change;

static tamis_status take_steps(change *c, const char *path, tamis_error *err)
{
    if (*path != '/') return tmi_fail(err, TAMIS_INVALID, "path: must be a JSON Pointer, e.g. /columns/hours/to");
    while (*path) {
        const char *begin = ++path;
        while (*path && *path != '/') path++;
        if (c->count == MAX_STEPS) return tmi_fail(err, TAMIS_INVALID, "path: must have at most %d steps", MAX_STEPS);
        char *step = tmi_copy_text(begin, (size_t)(path - begin)), *to = step;
        if (!step) return tmi_fail_memory(err);
        c->steps[c->count++] = step;
        for (const char *from = step; *from; from++) {
            const bool escaped = *from == '~' && (from[1] == '0' || from[1] == '1');
            *to++ = escaped ? (from[1] == '0' ? '~' : '/') : *from;
            from += escaped;
        }
        *to = '\0';
    }
    return TAMIS_OK;
}

/* The number of an item; that of a new last one is the length of the list, as is "-". SIZE_MAX: the step is none. */
static size_t index_of(const char *step, size_t count)
{
    char *end;
    if (strcmp(step, "-") == 0) return count;
    if (!strchr("0123456789", *step) || !*step || (*step == '0' && step[1])) return SIZE_MAX;
    const unsigned long index = strtoul(step, &end, 10);
    return *end || index > count ? SIZE_MAX : index;
}

static const tmi_value *child(const tmi_value *value, const char *step)
{
    if (value->kind == TMI_VALUE_MAP) return tmi_value_get(value, step);
    const size_t index = value->kind == TMI_VALUE_LIST ? index_of(step, value->count) : SIZE_MAX;
    return index < value->count ? tmi_value_at(value, index) : NULL;
}

static bool is_blank(const tmi_value *value) { return value->kind == TMI_VALUE_TEXT && !value->quoted && !*value->text; }

static tamis_status find(change *c, const char *path, bool removed, tamis_error *err)
{
    c->parent = c->root;
    for (c->old = child(c->root, c->steps[0]); c->depth + 1 < c->count && c->old && !is_blank(c->old);) {
        c->parent = c->old;
        c->old = child(c->parent, c->steps[++c->depth]);
    }
    const tmi_value *last = c->parent;
    const bool is_new = last->kind == TMI_VALUE_MAP || is_blank(last) ||
                        (last->kind == TMI_VALUE_LIST && index_of(c->steps[c->depth], last->count) <= last->count);
    if (removed ? !c->old || c->depth + 1 < c->count : !is_new)
        return tmi_fail(err, TAMIS_INVALID, "path: there is no such place: %.200s", path);
    return TAMIS_OK;
}

static void put_key(tmi_text *yaml, const change *c, const char *key)
{
    tmi_yaml_put_word(yaml, key, c->texts);
    tmi_text_put(yaml, ": ");
}

/* The value as YAML, inside the maps and lists that the tree does not have yet. */
static void write_value(tmi_text *yaml, const change *c, const tmi_value *value)
{
    for (size_t i = c->depth + 1; i < c->count; i++) {
        const bool list = index_of(c->steps[i], 0) != SIZE_MAX;
        tmi_text_put(yaml, list ? "[" : "{");
        if (!list) put_key(yaml, c, c->steps[i]);
    }
    tmi_yaml_put_flow(yaml, value, c->texts);
    for (size_t i = c->count; i-- > c->depth + 1;) tmi_text_put(yaml, index_of(c->steps[i], 0) != SIZE_MAX ? "]" : "}");
}

/* ---- bytes ---- */

static uint32_t line_begin(const change *c, uint32_t at)
{
    while (at > 0 && c->bytes[at - 1] != '\n') at--;
    return at == 0 && c->length >= 3 && memcmp(c->bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : at;
}

/* Behind the end of the line. */
static uint32_t line_end(const change *c, uint32_t at)
{
    while (at < c->length && c->bytes[at] != '\n') at++;
    return at < c->length ? at + 1 : at;
}

static bool is_flow(const change *c, const tmi_value *value)
{
    const tmi_place at = tmi_value_place(value);
    return at.begin < c->length && strchr("{[", c->bytes[at.begin]) && value->kind >= TMI_VALUE_LIST;
}

/* Where an item begins: with its key, or with the dash of a list. */
static uint32_t item_begin(const change *c, const tmi_value *item)
{
    uint32_t at = tmi_value_place(item).key_begin;
    if (tmi_value_key(item) || is_flow(c, c->parent)) return at;
    while (at > 0 && c->bytes[at] != '-') at--;
    return at;
}

/* Everything but the bytes [begin, end), which are replaced. */
static tamis_status splice(char **text, const change *c, uint32_t begin, uint32_t end, const char *before, const char *middle,
                           const char *after, tamis_error *err)
{
    tmi_text made;
    tmi_text_init(&made);
    tmi_text_add(&made, c->bytes, begin);
    tmi_text_put(&made, before);
    tmi_text_put(&made, middle);
    tmi_text_put(&made, after);
    tmi_text_add(&made, c->bytes + end, c->length - end);
    return tmi_text_take(text, &made, err);
}

/* A block below its key moves behind the key, unless a comment is between them. */
static tamis_status replace(char **text, const change *c, const char *value, tamis_error *err)
{
    const tmi_place at = tmi_value_place(c->old);
    uint32_t begin = at.begin;
    bool space = begin > 0 && begin == at.end && c->bytes[begin - 1] == ':';
    if (c->old->kind >= TMI_VALUE_LIST && !is_flow(c, c->old) && tmi_value_key(c->old)) {
        uint32_t colon = begin;
        while (colon > at.key_end && strchr(" \r\n", c->bytes[colon - 1])) colon--;
        if (c->bytes[colon - 1] == ':') begin = colon, space = true;
    }
    return splice(text, c, begin, at.end, space ? " " : "", value, "", err);
}

static tamis_status insert(char **text, const change *c, const char *value, tamis_error *err)
{
    const tmi_value *p = c->parent, *last = NULL;
    const tmi_place at = tmi_value_place(p);
    const char *step = c->steps[c->depth];
    tmi_text item;
    tmi_text_init(&item);
    for (const tmi_value *v = tmi_value_first(p); v; v = tmi_value_next(v)) last = v;
    if (p->kind != TMI_VALUE_LIST) put_key(&item, c, step);
    else if (!is_flow(c, p)) tmi_text_put(&item, "- ");
    tmi_text_put(&item, value);
    char *whole = NULL;
    tamis_status status = tmi_text_take(&whole, &item, err);
    if (status != TAMIS_OK) return status;
    if (is_blank(p)) { /* the whole text: elsewhere a blank is replaced */
        const bool ended = c->length == 0 || c->bytes[c->length - 1] == '\n';
        status = splice(text, c, (uint32_t)c->length, (uint32_t)c->length, ended ? "" : c->end_of_line, whole, c->end_of_line,
                        err);
    } else if (is_flow(c, p)) {
        const uint32_t place = last ? tmi_value_place(last).end : at.begin + 1;
        status = splice(text, c, place, place, last ? ", " : "", whole, "", err);
    } else {
        const uint32_t place = line_end(c, at.end), first = item_begin(c, tmi_value_first(p));
        const uint32_t indent = first - line_begin(c, first);
        const bool ended = place > 0 && c->bytes[place - 1] == '\n';
        tmi_text before;
        char *spaces = NULL;
        tmi_text_init(&before);
        tmi_text_format(&before, "%s%*s", ended ? "" : c->end_of_line, (int)indent, "");
        status = tmi_text_take(&spaces, &before, err);
        if (status == TAMIS_OK) status = splice(text, c, place, place, spaces, whole, ended ? c->end_of_line : "", err);
        tmi_free(spaces);
    }
    tmi_free(whole);
    return status;
}

static tamis_status erase(char **text, const change *c, tamis_error *err)
{
    const tmi_value *p = c->parent, *next = tmi_value_next(c->old), *before = NULL;
    const tmi_place all = tmi_value_place(p), at = tmi_value_place(c->old);
    uint32_t begin = item_begin(c, c->old), end = at.end, line = line_begin(c, begin);
    const char *empty = "";
    for (const tmi_value *v = tmi_value_first(p); v != c->old; v = tmi_value_next(v)) before = v;
    if (p->count == 1 && !is_flow(c, p)) {
        begin = all.begin, end = all.end;
        empty = p->kind == TMI_VALUE_MAP ? "{}" : "[]";
    } else if (!is_flow(c, p) && strspn(c->bytes + line, " ") >= begin - line) {
        begin = line, end = line_end(c, end);
    } else if (next) {
        end = item_begin(c, next);
    } else if (before) {
        begin = tmi_value_place(before).end;
    }
    return splice(text, c, begin, end, empty, "", "", err);
}

/* ---- comparison ---- */

/* Whether two trees are the same but for the place of the change, where `wanted` is now; NULL: nothing is. */
static bool differ_there_alone(const tmi_value *x, const tmi_value *y, const change *c, size_t step, const tmi_value *wanted)
{
    const char *name = c->steps[step];
    const bool here = step == c->depth, shrinks = here && !wanted;
    if (!x || !y) return false;
    if (is_blank(x) && here) return y->kind == TMI_VALUE_MAP && y->count == 1 && tmi_value_equal(child(y, name), wanted);
    if (x->kind != y->kind || x->kind < TMI_VALUE_LIST) return false;
    const tmi_value *old = child(x, name);
    if (y->count + (shrinks ? 1u : 0u) != x->count + (here && !old ? 1u : 0u)) return false;
    size_t index = 0;
    const size_t changed = x->kind == TMI_VALUE_LIST ? index_of(name, x->count) : SIZE_MAX;
    for (const tmi_value *v = tmi_value_first(x); v; v = tmi_value_next(v), index++) {
        if (v == old) continue;
        const tmi_value *now = x->kind == TMI_VALUE_MAP ? tmi_value_get(y, tmi_value_key(v))
                                                        : tmi_value_at(y, index - (shrinks && index > changed ? 1 : 0));
        if (!now || !tmi_value_equal(v, now)) return false;
    }
    if (shrinks) return x->kind == TMI_VALUE_LIST || !child(y, name);
    const tmi_value *now = x->kind == TMI_VALUE_LIST ? tmi_value_at(y, changed) : child(y, name);
    return here ? now && tmi_value_equal(now, wanted) : differ_there_alone(old, now, c, step + 1, wanted);
}

tamis_status tamis_plan_set(char **text, const char *bytes, size_t length, const char *path, const char *value, tamis_error *err)
{
    if (!text) return tmi_fail(err, TAMIS_INVALID, "text: NULL");
    *text = NULL;
    if (!bytes || !path) return tmi_fail(err, TAMIS_INVALID, "%s: NULL", bytes ? "path" : "bytes");

    change c = {.bytes = bytes, .length = length, .end_of_line = "\n"};
    const char *newline = memchr(bytes, '\n', length);
    if (newline && newline > bytes && newline[-1] == '\r') c.end_of_line = "\r\n";
    tmi_value *given = NULL, *wanted = NULL, *now = NULL;
    char *written = NULL, *made = NULL;
    tmi_text yaml;
    tmi_text_init(&yaml);
    tamis_status status;
    TMI_TRY(tmi_yaml_read(&c.root, "plan", bytes, length, err));
    TMI_TRY(take_steps(&c, path, err));
    TMI_TRY(find(&c, path, !value, err));
    const tmi_value *first = tmi_value_first(c.root);
    if (is_flow(&c, c.root) && (!first || bytes[tmi_value_place(first).key_begin] == '"')) c.texts = TMI_YAML_JSON;
    if (value) {
        TMI_TRY(tmi_json_read(&given, value, strlen(value), err));
        write_value(&yaml, &c, given);
        TMI_TRY(tmi_text_take(&written, &yaml, err));
        TMI_TRY(tmi_yaml_read(&wanted, "value", written, strlen(written), err));
        TMI_TRY(c.old ? replace(&made, &c, written, err) : insert(&made, &c, written, err));
    } else {
        TMI_TRY(erase(&made, &c, err));
    }
    status = tmi_yaml_read(&now, "plan", made, strlen(made), err);
    if (status == TAMIS_SYSTEM) goto done;
    if (status != TAMIS_OK || !differ_there_alone(c.root, now, &c, 0, wanted))
        TMI_TRY(tmi_fail(err, TAMIS_INVALID, "path: %.200s: this place cannot be changed without changing others; edit the text",
                         path));
    *text = made;
    made = NULL;

done:
    for (size_t i = 0; i < c.count; i++) tmi_free(c.steps[i]);
    tmi_text_clear(&yaml);
    tmi_value_free(c.root);
    tmi_value_free(given);
    tmi_value_free(wanted);
    tmi_value_free(now);
    tmi_free(written);
    tmi_free(made);
    return status;
}
