/* JSON as text, or as a tree of values. */
#include <math.h>
#include <string.h>

#include "base/decimal.h"
#include "base/letters.h"
#include "base/memory.h"
#include "base/value/json.h"

void tmi_json_out_init(tmi_json_out *out, tmi_text *text, bool pretty) { *out = (tmi_json_out){.text = text, .pretty = pretty}; }

/* As tmi_utf8_length. A string that ends inside a character is caught by its zero byte. */
static size_t character(const char *c) { return tmi_utf8_length(c, 4); }

bool tmi_is_utf8(const char *string)
{
    size_t length = 1;
    while (*string && (length = character(string)) > 0) string += length;
    return length > 0;
}

/* ---- into a tree ---- */

void tmi_json_tree_begin(tmi_json_tree *tree, tmi_watch *watch)
{
    tree->text = (tmi_text){.counted = true, .watch = watch};
    tree->out = (tmi_json_out){.text = &tree->text, .is_tree = true};
}

tamis_status tmi_json_tree_end(tmi_value **value, tmi_json_tree *tree, tamis_error *err)
{
    const bool right = !tree->text.failed && tree->out.root && tree->out.depth == 0;
    if (!right) tmi_value_free(tree->out.root);
    *value = right ? tree->out.root : NULL;
    if (right) return TAMIS_OK;
    return tree->text.stopped ? tmi_fail_cancelled(err) : tmi_fail_memory(err);
}

/* A byte that is no UTF-8 becomes U+FFFD, as in a text. */
static char *clean_copy(const char *string)
{
    tmi_text text;
    char *copy = NULL;
    if (tmi_is_utf8(string)) return tmi_copy_text(string, strlen(string));
    tmi_text_init(&text);
    for (size_t length; *string; string += length ? length : 1) {
        length = character(string);
        tmi_text_add(&text, length ? string : "\xef\xbf\xbd", length ? length : 3);
    }
    return tmi_text_take(&copy, &text, NULL) == TAMIS_OK ? copy : NULL;
}

/* The next value of a tree; NULL after a failure. The text of a tree is only counted, and asks its watch. */
static tmi_value *next_value(tmi_json_out *out, tmi_value_kind kind)
{
    tmi_value *value = NULL;
    tmi_value *const parent = out->depth > 0 ? out->open[out->depth - 1] : NULL;
    const bool map = parent && parent->kind == TMI_VALUE_MAP;
    const bool fits = out->keyed == map && (parent || !out->root);
    char *key = fits && map ? clean_copy(out->key) : NULL;
    tmi_text_put(out->text, key ? key : "-");
    if (fits && !out->text->failed && (key || !map)) value = tmi_value_new(parent, key, kind);
    if (!value) out->text->failed = true;
    else if (!parent) out->root = value;
    out->keyed = false;
    tmi_free(key);
    return value;
}

/* A number that is already written: what reading it gives. */
static void add_number(tmi_json_out *out, const char *text)
{
    tmi_value *number = NULL, *value = NULL;
    if (tmi_json_read(&number, text, strlen(text), NULL) == TAMIS_OK &&
        (number->kind == TMI_VALUE_INTEGER || number->kind == TMI_VALUE_REAL))
        value = next_value(out, number->kind);
    if (!value || !tmi_value_fill(value, number)) out->text->failed = true;
    tmi_value_free(number);
}

/* ---- as text ---- */

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

/* ---- either ---- */

void tmi_json_open(tmi_json_out *out, char bracket)
{
    tmi_value *value = NULL;
    if (out->is_tree) {
        value = next_value(out, bracket == '{' ? TMI_VALUE_MAP : TMI_VALUE_LIST);
    } else {
        before_value(out);
        tmi_text_add(out->text, &bracket, 1);
    }
    if (out->depth == TMI_JSON_DEPTH) {
        out->text->failed = true;
        return;
    }
    out->open[out->depth] = value;
    out->filled[out->depth++] = false;
}

void tmi_json_close(tmi_json_out *out, char bracket)
{
    if (out->depth == 0) {
        out->text->failed = true;
        return;
    }
    bool filled = out->filled[--out->depth];
    if (!out->is_tree) {
        if (filled) new_line(out);
        tmi_text_add(out->text, &bracket, 1);
    } else if (!out->text->failed) {
        tmi_value *value = out->open[out->depth];
        if (!tmi_value_close(value) || (value->kind == TMI_VALUE_MAP && tmi_value_repeated(value))) out->text->failed = true;
    }
}

void tmi_json_key(tmi_json_out *out, const char *key)
{
    if (!out->is_tree) {
        separate(out);
        quoted(out->text, key);
        tmi_text_put(out->text, ": ");
    }
    out->key = key;
    out->keyed = true;
}

/* True if the value is in the tree now; false if it is to be written. */
static bool add(tmi_json_out *out, tmi_value_kind kind, int64_t integer)
{
    if (out->is_tree) {
        tmi_value *value = next_value(out, kind);
        if (value) value->integer = integer;
    } else {
        before_value(out);
    }
    return out->is_tree;
}

void tmi_json_put_string(tmi_json_out *out, const char *string)
{
    if (!string) {
        tmi_json_put_null(out);
    } else if (out->is_tree) {
        tmi_value *value = next_value(out, TMI_VALUE_TEXT);
        if (value && !(value->text = clean_copy(string))) out->text->failed = true;
    } else {
        before_value(out);
        quoted(out->text, string);
    }
}

void tmi_json_put_taken(tmi_json_out *out, tmi_text *string)
{
    if (string->failed) out->text->failed = true;
    tmi_json_put_string(out, string->bytes);
    tmi_text_clear(string);
}

void tmi_json_put_integer(tmi_json_out *out, int64_t value)
{
    if (!add(out, TMI_VALUE_INTEGER, value)) tmi_text_format(out->text, "%lld", (long long)value);
}

void tmi_json_put_boolean(tmi_json_out *out, bool value)
{
    if (!add(out, TMI_VALUE_BOOLEAN, value)) tmi_text_put(out->text, value ? "true" : "false");
}

void tmi_json_put_null(tmi_json_out *out)
{
    if (!add(out, TMI_VALUE_NULL, 0)) tmi_text_put(out->text, "null");
}

void tmi_json_put_number(tmi_json_out *out, const char *text)
{
    if (out->is_tree) {
        add_number(out, text);
    } else {
        before_value(out);
        tmi_text_put(out->text, text);
    }
}

void tmi_json_put_value(tmi_json_out *out, const tmi_value *value)
{
    if (!out->is_tree) {
        before_value(out);
        tmi_json_canonical(out->text, value, NULL);
        return;
    }
    tmi_value *copy = next_value(out, value->kind);
    if (copy && !tmi_value_fill(copy, value)) out->text->failed = true;
}

void tmi_json_add_string(tmi_json_out *out, const char *key, const char *string)
{
    tmi_json_key(out, key);
    tmi_json_put_string(out, string);
}

void tmi_json_add_taken(tmi_json_out *out, const char *key, tmi_text *string)
{
    tmi_json_key(out, key);
    tmi_json_put_taken(out, string);
}

void tmi_json_add_integer(tmi_json_out *out, const char *key, int64_t value)
{
    tmi_json_key(out, key);
    tmi_json_put_integer(out, value);
}

void tmi_json_add_boolean(tmi_json_out *out, const char *key, bool value)
{
    tmi_json_key(out, key);
    tmi_json_put_boolean(out, value);
}

void tmi_json_add_null(tmi_json_out *out, const char *key) { tmi_json_add_string(out, key, NULL); }

void tmi_json_add_integers(tmi_json_out *out, const char *key, const int64_t *list, size_t count)
{
    tmi_json_add_open(out, key, '[');
    for (size_t i = 0; list && i < count; i++) tmi_json_put_integer(out, list[i]);
    tmi_json_close(out, ']');
}

void tmi_json_put_real(tmi_json_out *out, double x)
{
    char digits[TMI_REAL_TEXT];
    if (!isfinite(x)) {
        tmi_json_put_null(out);
        return;
    }
    tmi_shortest_real(digits, x);
    tmi_json_put_number(out, digits);
}

void tmi_json_add_real(tmi_json_out *out, const char *key, double x)
{
    tmi_json_key(out, key);
    tmi_json_put_real(out, x);
}

void tmi_json_add_lines(tmi_json_out *out, const char *key, tmi_lines *lines)
{
    tmi_json_add_open(out, key, '[');
    for (size_t i = 0; i < lines->count; i++) tmi_json_put_string(out, lines->list[i]);
    tmi_json_close(out, ']');
    if (lines->failed) out->text->failed = true;
    tmi_lines_clear(lines);
}

void tmi_json_add_open(tmi_json_out *out, const char *key, char bracket)
{
    tmi_json_key(out, key);
    tmi_json_open(out, bracket);
}
