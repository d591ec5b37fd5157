/* JSON as text, or as a tree of values. */
#include <errno.h>
#include <jansson.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/json.h"

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

static json_t *as_json(tmi_json *value)
{
    return (json_t *)(void *)value;
}

/* Puts a value, which is taken, into the innermost open object or list of a tree. NULL: there was no memory for it. */
static void grow(tmi_json_out *out, json_t *value)
{
    json_t *inside = out->depth > 0 ? as_json(out->open[out->depth - 1]) : NULL;
    if (out->text->failed || !value) {
        json_decref(value);
        out->text->failed = true;
    } else if (!inside) {
        out->root = (tmi_json *)(void *)value;
    } else if (json_is_object(inside) ? json_object_set_new(inside, out->key, value) : json_array_append_new(inside, value)) {
        out->text->failed = true;
    }
}

void tmi_json_open(tmi_json_out *out, char bracket)
{
    if (out->is_tree) {
        json_t *value = bracket == '{' ? json_object() : json_array();
        if (out->depth == TMI_JSON_DEPTH) out->text->failed = true;
        grow(out, value);
        if (!out->text->failed) out->open[out->depth++] = (tmi_json *)(void *)value;
        return;
    }
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
    out->depth--;
    if (out->is_tree) return;
    if (out->filled[out->depth]) new_line(out);
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
static bool is_plain(char c)
{
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

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

/* The same string as a value. */
static json_t *string_value(const char *string)
{
    if (!string) return json_null();
    if (tmi_is_utf8(string)) return json_string(string);
    tmi_text clean;
    tmi_text_init(&clean);
    for (size_t length; *string; string += length ? length : 1) {
        length = character(string);
        tmi_text_add(&clean, length ? string : "\xef\xbf\xbd", length ? length : 3);
    }
    json_t *value = clean.failed ? NULL : json_string(clean.bytes);
    tmi_text_clear(&clean);
    return value;
}

/* An integer, or a real number if it is written as one. As jansson does it, so that the locale does not matter. */
static json_t *number_value(const char *text)
{
    char local[64];
    errno = 0;
    const json_int_t integer = strtoll(text, NULL, 10);
    if (!strpbrk(text, ".eE")) return errno == 0 ? json_integer(integer) : NULL;
    snprintf(local, sizeof local, "%s", text);
    char *point = strchr(local, '.');
    if (point) *point = *localeconv()->decimal_point;
    return json_real(strtod(local, NULL));
}

void tmi_json_key(tmi_json_out *out, const char *key)
{
    out->key = key;
    if (out->is_tree) return;
    separate(out);
    quoted(out->text, key);
    tmi_text_put(out->text, ": ");
    out->keyed = true;
}

/* A scalar: in a tree its value, which is taken; else its text. The text of a tree is only counted, and asks its watch. */
static void put(tmi_json_out *out, json_t *value, const char *text)
{
    if (out->is_tree) grow(out, value);
    else before_value(out);
    tmi_text_put(out->text, text);
}

void tmi_json_put_string(tmi_json_out *out, const char *string)
{
    if (out->is_tree || !string) {
        put(out, out->is_tree ? string_value(string) : NULL, string ? string : "null");
        return;
    }
    before_value(out);
    quoted(out->text, string);
}

void tmi_json_put_taken(tmi_json_out *out, tmi_text *string)
{
    if (string->failed) out->text->failed = true;
    tmi_json_put_string(out, string->bytes);
    tmi_text_clear(string);
}

void tmi_json_put_integer(tmi_json_out *out, int64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)value);
    put(out, out->is_tree ? json_integer(value) : NULL, text);
}

void tmi_json_put_boolean(tmi_json_out *out, bool value)
{
    put(out, out->is_tree ? json_boolean(value) : NULL, value ? "true" : "false");
}

void tmi_json_put_null(tmi_json_out *out)
{
    tmi_json_put_string(out, NULL);
}

void tmi_json_put_number(tmi_json_out *out, const char *text)
{
    put(out, out->is_tree ? number_value(text) : NULL, text);
}

void tmi_json_put_value(tmi_json_out *out, const tmi_json *value)
{
    put(out, out->is_tree ? as_json(tmi_json_share(value)) : NULL, "");
    if (!out->is_tree) tmi_json_canonical(out->text, value, NULL);
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

void tmi_json_add_null(tmi_json_out *out, const char *key)
{
    tmi_json_add_string(out, key, NULL);
}

void tmi_json_add_integers(tmi_json_out *out, const char *key, const int64_t *list, size_t count)
{
    tmi_json_add_open(out, key, '[');
    for (size_t i = 0; list && i < count; i++) tmi_json_put_integer(out, list[i]);
    tmi_json_close(out, ']');
}

void tmi_json_add_open(tmi_json_out *out, const char *key, char bracket)
{
    tmi_json_key(out, key);
    tmi_json_open(out, bracket);
}

void tmi_json_tree_begin(tmi_json_tree *tree, tmi_watch *watch)
{
    tree->text = (tmi_text){.counted = true, .watch = watch};
    tree->out = (tmi_json_out){.text = &tree->text, .is_tree = true};
}

tamis_status tmi_json_tree_end(tmi_json **value, tmi_json_tree *tree, tamis_error *err)
{
    const bool right = !tree->text.failed && tree->out.root;
    if (!right) tmi_json_free(tree->out.root);
    *value = right ? tree->out.root : NULL;
    if (right) return TAMIS_OK;
    return tree->text.stopped ? tmi_fail(err, TAMIS_SYSTEM, "cancelled") : tmi_fail_memory(err);
}
