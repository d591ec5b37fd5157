#include "base/value/weight.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* ---- in the text ---- */

typedef struct cursor {
    const char *at, *end;
} cursor;

/* Four hexadecimal digits; the text is well-formed or will be refused, so other bytes need no special treatment. */
static unsigned long hexadecimal(cursor *c)
{
    static const char digits[] = "0123456789abcdef";
    unsigned long code = 0;
    for (int i = 0; i < 4 && c->at < c->end; i++, c->at++) {
        const char *digit = memchr(digits, *c->at | 0x20, 16);
        code = 16 * code + (digit ? (unsigned long)(digit - digits) : 0);
    }
    return code;
}

/* Bytes in UTF-8 of what follows a backslash. */
static size_t escape(cursor *c)
{
    if (c->at == c->end) return 0;
    if (*c->at++ != 'u') return 1;
    unsigned long code = hexadecimal(c);
    if (code >= 0xD800 && code < 0xDC00) { /* the first half of a character; the second follows as \uXXXX */
        c->at += c->end - c->at < 6 ? c->end - c->at : 6;
        return 4;
    }
    return code < 0x80 ? 1 : code < 0x800 ? 2 : 3;
}

/* From behind the opening quote to behind the closing one. */
static size_t string(cursor *c)
{
    size_t weight = 0;
    while (c->at < c->end) {
        char byte = *c->at++;
        if (byte == '"') break;
        weight += byte == '\\' ? escape(c) : 1;
    }
    return weight;
}

static size_t number(cursor *c)
{
    const char *begin = c->at;
    while (c->at < c->end && *c->at >= '0' && *c->at <= '9') c->at++;
    size_t digits = (size_t)(c->at - begin);
    bool integer = true;
    for (; c->at < c->end && *c->at && strchr("0123456789.eE+-", *c->at); c->at++) integer = false;
    return integer ? digits : 0;
}

size_t tmi_json_text_weight(const char *bytes, size_t length)
{
    cursor c = {bytes, bytes + length};
    size_t weight = 0;
    while (c.at < c.end) {
        if (*c.at >= '0' && *c.at <= '9') weight += number(&c);
        else if (*c.at++ == '"') weight += string(&c);
    }
    return weight;
}

/* ---- in the document ---- */

static size_t digits(json_int_t value)
{
    size_t count = 1;
    while (value /= 10) count++;
    return count;
}

size_t tmi_json_document_weight(const json_t *value)
{
    size_t weight = 0;
    json_t *object = (json_t *)(uintptr_t)value; /* iterators want it unqualified; nothing changes */
    switch (json_typeof(value)) {
    case JSON_STRING: return json_string_length(value);
    case JSON_INTEGER: return digits(json_integer_value(value));
    case JSON_ARRAY:
        for (size_t i = 0; i < json_array_size(value); i++) weight += tmi_json_document_weight(json_array_get(value, i));
        return weight;
    case JSON_OBJECT:
        for (void *at = json_object_iter(object); at; at = json_object_iter_next(object, at))
            weight += strlen(json_object_iter_key(at)) + tmi_json_document_weight(json_object_iter_value(at));
        return weight;
    default: return 0;
    }
}
