#include "base/value/json.h"

#include <ctype.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/letters.h"
#include "base/memory.h"

/* ---- reading ---- */

#define DEEPEST 2048

typedef struct reader {
    const char *bytes, *at, *end;
    const char *what, *where; /* of a mistake in the text; without one, memory has run out or it was stopped */
    tmi_watch *watch;
    bool stopped;
    unsigned values, depth;
} reader;

static bool refuse(reader *r, const char *where, const char *what)
{
    r->where = where;
    r->what = what;
    return false;
}

/* The next character that is no blank; 0 at the end. */
static char next(reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r')) r->at++;
    return r->at < r->end ? *r->at : '\0';
}

/* Something else is there, or nothing. */
static bool refuse_next(reader *r, const char *what)
{
    return refuse(r, r->at, r->at < r->end ? what : "premature end of input");
}

/* Four hexadecimal digits. */
static bool read_unit(uint32_t *unit, reader *r)
{
    *unit = 0;
    for (int i = 0; i < 4; i++, r->at++) {
        const unsigned char c = r->at < r->end ? (unsigned char)*r->at : 0;
        if (!isxdigit(c)) return refuse_next(r, "invalid escape");
        *unit = *unit << 4 | (uint32_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return true;
}

/* After the u of an escape: one unit, or the two of a character beyond U+FFFF. */
static bool read_code_point(char **to, reader *r)
{
    const char *const start = r->at - 2;
    uint32_t point, low = 0;
    if (!read_unit(&point, r)) return false;
    if (point == 0) return refuse(r, start, "\\u0000 is not allowed");
    if (point >= 0xd800 && point < 0xe000) {
        const bool paired = point < 0xdc00 && r->end - r->at >= 2 && r->at[0] == '\\' && r->at[1] == 'u';
        if (paired) r->at += 2;
        if (paired && !read_unit(&low, r)) return false;
        if (low < 0xdc00 || low >= 0xe000) return refuse(r, start, "invalid Unicode escape");
        point = 0x10000 + ((point - 0xd800) << 10 | (low - 0xdc00));
    }
    const int more = point < 0x80 ? 0 : point < 0x800 ? 1 : point < 0x10000 ? 2 : 3; /* bytes after the first */
    static const unsigned char firsts[] = {0, 0xc0, 0xe0, 0xf0};
    *(*to)++ = (char)(firsts[more] | point >> 6 * more);
    for (int i = more - 1; i >= 0; i--) *(*to)++ = (char)(0x80 | (point >> 6 * i & 0x3f));
    return true;
}

static bool read_character(char **to, reader *r)
{
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    const unsigned char c = (unsigned char)*r->at;
    if (c < 0x20) return refuse(r, r->at, c == '\n' ? "unexpected newline" : "control character");
    if (c == '\\') {
        const char letter = r->end - r->at > 1 ? r->at[1] : '\0', *found = letter ? strchr(letters, letter) : NULL;
        if (!found && letter != 'u') return refuse(r, r->at, "invalid escape");
        r->at += 2;
        if (!found) return read_code_point(to, r);
        *(*to)++ = meant[found - letters];
        return true;
    }
    const size_t length = tmi_utf8_length(r->at, (size_t)(r->end - r->at));
    if (length == 0) return refuse(r, r->at, "not UTF-8");
    memcpy(*to, r->at, length);
    *to += length;
    r->at += length;
    return true;
}

/* A text with its quotes: a copy that the caller frees. What it means is never longer than how it is written. */
static bool read_text(char **text, reader *r)
{
    const char *end = ++r->at;
    while (end < r->end && *end != '"') end += *end == '\\' && r->end - end > 1 ? 2 : 1;
    char *to = *text = tmi_alloc((size_t)(end - r->at) + 1, 1);
    bool right = to;
    while (right && r->at < r->end && *r->at != '"') right = read_character(&to, r);
    if (right && r->at == r->end) right = refuse_next(r, "");
    r->at++;
    if (right) return true;
    tmi_free(*text);
    *text = NULL;
    return false;
}

static bool skip_digits(reader *r)
{
    const char *const start = r->at;
    while (r->at < r->end && isdigit((unsigned char)*r->at)) r->at++;
    return r->at > start || refuse_next(r, "invalid token");
}

/* Independent of the language of the process. */
static bool to_real(double *real, const char *start, const char *end)
{
    char *copy = tmi_copy_text(start, (size_t)(end - start));
    locale_t plain = copy ? newlocale(LC_ALL_MASK, "C", (locale_t)0) : (locale_t)0;
    if (plain) *real = strtod_l(copy, NULL, plain);
    if (plain) freelocale(plain);
    tmi_free(copy);
    return plain;
}

static bool read_number(tmi_value *number, reader *r)
{
    const char *const start = r->at;
    const bool negative = *r->at == '-';
    r->at += negative;
    const char *const digits = r->at;
    if (!skip_digits(r)) return false;
    if (*digits == '0' && r->at - digits > 1) return refuse(r, digits + 1, "invalid token");
    const char *const whole = r->at;
    if (r->at < r->end && *r->at == '.' && (r->at++, !skip_digits(r))) return false;
    if (r->at < r->end && (*r->at | 0x20) == 'e') {
        r->at++;
        if (r->at < r->end && (*r->at == '+' || *r->at == '-')) r->at++;
        if (!skip_digits(r)) return false;
    }
    if (r->at > whole) {
        number->kind = TMI_VALUE_REAL;
        if (!to_real(&number->real, start, r->at)) return false;
        return isfinite(number->real) || refuse(r, start, "real number overflow");
    }
    uint64_t size = 0;
    const uint64_t most = (uint64_t)INT64_MAX + negative;
    for (const char *c = digits; c < whole; c++) {
        const uint64_t digit = (uint64_t)(*c - '0');
        if (size > (most - digit) / 10) return refuse(r, start, negative ? "too big negative integer" : "too big integer");
        size = 10 * size + digit;
    }
    number->kind = TMI_VALUE_INTEGER;
    number->integer = negative ? (int64_t)(0 - size) : (int64_t)size;
    return true;
}

static bool read_word(tmi_value *value, reader *r)
{
    static const struct {
        const char *word;
        tmi_value_kind kind;
        int64_t integer;
    } words[] = {{"true", TMI_VALUE_BOOLEAN, 1}, {"false", TMI_VALUE_BOOLEAN, 0}, {"null", TMI_VALUE_NULL, 0}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const size_t length = strlen(words[i].word);
        if ((size_t)(r->end - r->at) < length || memcmp(r->at, words[i].word, length) != 0) continue;
        r->at += length;
        value->kind = words[i].kind;
        value->integer = words[i].integer;
        return true;
    }
    return refuse_next(r, "invalid token");
}

static bool read_value(tmi_value *value, reader *r);

static bool read_list(tmi_value *list, reader *r)
{
    r->at++;
    if (next(r) == ']') {
        r->at++;
        return true;
    }
    for (;;) {
        tmi_value *item = tmi_value_new(list, NULL, TMI_VALUE_NULL);
        if (!item || !read_value(item, r)) return false;
        const char c = next(r);
        if (c != ',' && c != ']') return refuse_next(r, "']' expected");
        r->at++;
        if (c == ']') return true;
    }
}

/* While a map is read, its values have the places of their keys in the text. */
static bool close_map(tmi_value *map, reader *r)
{
    if (!tmi_value_close(map)) return false;
    const tmi_value *repeated = tmi_value_repeated(map);
    if (repeated) return refuse(r, r->bytes + tmi_value_place(repeated).key_column, "duplicate object key");
    for (const tmi_value *item = tmi_value_first(map); item; item = tmi_value_next(item))
        tmi_value_set_place((tmi_value *)(uintptr_t)item, (tmi_place){0});
    return true;
}

static bool read_map(tmi_value *map, reader *r)
{
    r->at++;
    if (next(r) == '}') {
        r->at++;
        return true;
    }
    for (;;) {
        char *key;
        if (next(r) != '"') return refuse_next(r, "string or '}' expected");
        const int place = (int)(r->at - r->bytes);
        if (!read_text(&key, r)) return false;
        tmi_value *item = tmi_value_new(map, key, TMI_VALUE_NULL);
        tmi_free(key);
        if (!item) return false;
        tmi_value_set_place(item, (tmi_place){.key_column = place});
        if (next(r) != ':') return refuse_next(r, "':' expected");
        r->at++;
        if (!read_value(item, r)) return false;
        const char c = next(r);
        if (c != ',' && c != '}') return refuse_next(r, "'}' expected");
        r->at++;
        if (c == '}') return close_map(map, r);
    }
}

/* Makes a new value, which is null, what the text says. */
static bool read_value(tmi_value *value, reader *r)
{
    const char c = next(r);
    if (r->values++ % 1024 == 0 && tmi_watch_beat(r->watch, NULL) != TAMIS_OK) {
        r->stopped = true;
        return false;
    }
    if (c == '"') {
        value->kind = TMI_VALUE_TEXT;
        return read_text(&value->text, r);
    }
    if (c == '-' || isdigit((unsigned char)c)) return read_number(value, r);
    if (c != '[' && c != '{') return read_word(value, r);
    if (r->depth == DEEPEST) return refuse(r, r->at, "maximum parsing depth reached");
    r->depth++;
    value->kind = c == '{' ? TMI_VALUE_MAP : TMI_VALUE_LIST;
    value->places = c == '{';
    const bool right = c == '{' ? read_map(value, r) : read_list(value, r);
    r->depth--;
    return right;
}

tamis_status tmi_json_read(tmi_value **document, const char *bytes, size_t length, tamis_error *err)
{
    return tmi_json_read_watched(document, bytes, length, NULL, err);
}

/* Columns are counted in characters. */
static tamis_status say_mistake(const reader *r, tamis_error *err)
{
    int line = 1, column = 1;
    for (const char *c = r->bytes; c < r->where; c++) {
        if (*c == '\n') line++, column = 1;
        else if (((unsigned char)*c & 0xc0) != 0x80) column++;
    }
    tmi_fail(err, TAMIS_INVALID, "not valid JSON at line %d, column %d: %s", line, column, r->what);
    if (err) err->items[0].line = line, err->items[0].column = column;
    return TAMIS_INVALID;
}

tamis_status tmi_json_read_watched(tmi_value **document, const char *bytes, size_t length, tmi_watch *watch, tamis_error *err)
{
    reader r = {.bytes = bytes, .at = bytes, .end = bytes + length, .watch = watch};
    *document = NULL;
    if (length > INT_MAX) return tmi_fail(err, TAMIS_INVALID, "JSON of more than 2 GB is not read");
    tmi_value *root = tmi_value_new(NULL, NULL, TMI_VALUE_NULL);
    bool right = root && read_value(root, &r);
    if (right && (next(&r), r.at < r.end)) right = refuse(&r, r.at, "end of file expected");
    if (right) {
        *document = root;
        return TAMIS_OK;
    }
    tmi_value_free(root);
    if (r.stopped) return tmi_fail_cancelled(err);
    return r.what ? say_mistake(&r, err) : tmi_fail_memory(err);
}

/* ---- the canonical text ---- */

/* 17 digits, and always a point or an exponent; 1e+07 is written 1e7. */
static void put_real(tmi_text *text, double x)
{
    char digits[32], *exponent;
    snprintf(digits, sizeof digits, "%.17g", x);
    digits[strcspn(digits, ",")] = digits[strcspn(digits, ",")] ? '.' : '\0'; /* the point of the process's language */
    if (!isfinite(x)) text->failed = true;
    exponent = strchr(digits, 'e');
    if (exponent) *exponent++ = '\0';
    tmi_text_put(text, digits);
    if (exponent) tmi_text_format(text, "e%d", atoi(exponent));
    else if (!strchr(digits, '.')) tmi_text_put(text, ".0");
}

static void put_text(tmi_text *text, const char *string)
{
    static const char special[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    if (!tmi_is_utf8(string)) text->failed = true;
    tmi_text_put(text, "\"");
    for (const char *c = string; *c; c++) {
        const char *found = strchr(special, *c);
        if (found) tmi_text_format(text, "\\%c", letters[found - special]);
        else if ((unsigned char)*c < 0x20) tmi_text_format(text, "\\u%04X", (unsigned)*c);
        else tmi_text_add(text, c, 1);
    }
    tmi_text_put(text, "\"");
}

static void put_canonical(tmi_text *text, const tmi_value *value)
{
    const bool map = value->kind == TMI_VALUE_MAP;
    switch (value->kind) {
    case TMI_VALUE_NULL: tmi_text_put(text, "null"); return;
    case TMI_VALUE_BOOLEAN: tmi_text_put(text, value->integer ? "true" : "false"); return;
    case TMI_VALUE_INTEGER: tmi_text_format(text, "%lld", (long long)value->integer); return;
    case TMI_VALUE_REAL: put_real(text, value->real); return;
    case TMI_VALUE_TEXT: put_text(text, value->text); return;
    case TMI_VALUE_LIST:
    case TMI_VALUE_MAP: break;
    }
    tmi_text_put(text, map ? "{" : "[");
    for (size_t i = 0; i < value->count && !text->failed; i++) {
        if (i > 0) tmi_text_put(text, ", ");
        const tmi_value *item = map ? tmi_value_sorted(value, i) : tmi_value_at(value, i);
        if (map) put_text(text, tmi_value_key(item));
        if (map) tmi_text_put(text, ": ");
        put_canonical(text, item);
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
