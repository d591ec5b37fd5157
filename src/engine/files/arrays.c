#include "engine/files/arrays.h"

#include <math.h>
#include <stdio.h>

#include "base/memory.h"

/* The array that the elements are in, behind dictionaries and runs. */
static const tmi_array *leaf_of(const tmi_array *array)
{
    while (array->through) array = array->through;
    return array;
}

bool tmi_array_has_texts(const tmi_array *array)
{
    const tmi_array_kind kind = leaf_of(array)->kind;
    return kind == TMI_ARRAY_POINTERS || kind == TMI_ARRAY_UTF8 || kind == TMI_ARRAY_LARGE_UTF8 || kind == TMI_ARRAY_VIEWS;
}

tmi_form tmi_array_form(const tmi_array *array)
{
    if (tmi_array_has_texts(array)) return TMI_FORM_TEXT;
    switch (leaf_of(array)->kind) {
    case TMI_ARRAY_NULL: return TMI_FORM_ANY;
    case TMI_ARRAY_BOOL:
    case TMI_ARRAY_BOOL32: return TMI_FORM_BOOLEAN;
    case TMI_ARRAY_F64: return TMI_FORM_DOUBLE;
    case TMI_ARRAY_F32: return TMI_FORM_FLOAT;
    case TMI_ARRAY_DAYS32:
    case TMI_ARRAY_DAYS_MS:
    case TMI_ARRAY_DAYS_F64: return TMI_FORM_DATE;
    case TMI_ARRAY_UUID: return TMI_FORM_UUID;
    case TMI_ARRAY_F16: /* a value of the plan, such as 0.1, has no form of two bytes to be looked up by */
    case TMI_ARRAY_RUNS:
    case TMI_ARRAY_TIME:
    case TMI_ARRAY_OTHER: return TMI_FORM_NONE;
    default: return TMI_FORM_EXACT;
    }
}

tmi_class tmi_array_class(const tmi_array *array)
{
    const tmi_array_kind kind = leaf_of(array)->kind;
    return kind == TMI_ARRAY_TIME  ? TMI_CLASS_DATE
           : kind == TMI_ARRAY_F16 ? TMI_CLASS_NUMBER
                                   : tmi_class_of(tmi_array_form(array));
}

/* The integers by their kind: STATEMENT with `v`, the value at place `at`. */
/* clang-format off */
#define AS(type, array, at, STATEMENT) { const type v = ((const type *)(array)->values)[at]; STATEMENT; } break
#define WITH_INTEGER(array, at, STATEMENT) \
    switch ((array)->kind) { \
    case TMI_ARRAY_BOOL: { const int v = ((const uint8_t *)(array)->values)[(at) / 8] >> ((at) % 8) & 1; STATEMENT; } break; \
    case TMI_ARRAY_I8: AS(int8_t, array, at, STATEMENT); \
    case TMI_ARRAY_U8: AS(uint8_t, array, at, STATEMENT); \
    case TMI_ARRAY_I16: AS(int16_t, array, at, STATEMENT); \
    case TMI_ARRAY_U16: AS(uint16_t, array, at, STATEMENT); \
    case TMI_ARRAY_BOOL32: \
    case TMI_ARRAY_DAYS32: \
    case TMI_ARRAY_I32: AS(int32_t, array, at, STATEMENT); \
    case TMI_ARRAY_U32: AS(uint32_t, array, at, STATEMENT); \
    case TMI_ARRAY_DAYS_MS: \
    case TMI_ARRAY_I64: AS(int64_t, array, at, STATEMENT); \
    case TMI_ARRAY_U64: AS(uint64_t, array, at, STATEMENT); \
    default: break; \
    }
/* clang-format on */

static bool is_valid(const tmi_array *array, int64_t at)
{
    if (array->kind == TMI_ARRAY_NULL || (array->valid && !(array->valid[at / 8] >> (at % 8) & 1))) return false;
    bool missing = false;
    if (array->has_missing) WITH_INTEGER(array, at, missing = (int64_t)v == array->missing)
    return !missing;
}

/* ---- dictionaries and runs ---- */

static int64_t run_end(const tmi_array *array, int64_t run)
{
    return array->width == 2   ? ((const int16_t *)array->values)[run]
           : array->width == 4 ? ((const int32_t *)array->values)[run]
                               : ((const int64_t *)array->values)[run];
}

/* The run that place `at` is in, by halving; -1: behind the last one. */
static int64_t run_of(const tmi_array *array, int64_t at)
{
    int64_t low = 0, high = array->buffer_count;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (run_end(array, middle) > at) high = middle;
        else low = middle + 1;
    }
    return low < array->buffer_count ? low : -1;
}

/* The array and the place in its buffers of element i; false if it is missing. */
static bool find(const tmi_array **leaf, int64_t *at, const tmi_array *array, int64_t i)
{
    for (;; array = array->through) {
        *at = array->offset + i;
        if (!array->through) break;
        if (array->kind == TMI_ARRAY_RUNS) {
            i = run_of(array, *at);
        } else {
            if (!is_valid(array, *at)) return false;
            int64_t place = -1;
            WITH_INTEGER(array, *at, place = (int64_t)v)
            i = place < 0 ? -1 : place - array->base;
        }
        if (i < 0 || i >= array->through->length) return false;
    }
    *leaf = array;
    return is_valid(array, *at);
}

/* ---- numbers ---- */

static double number_of_float(float v, const double *codes, size_t code_count)
{
    for (size_t i = 0; i < code_count; i++)
        if (v == (float)codes[i]) return (double)NAN;
    return (double)v;
}

static double double_of_half(uint16_t half)
{
    const int exponent = half >> 10 & 31, fraction = half & 1023;
    const double size = exponent == 31  ? (fraction ? (double)NAN : (double)INFINITY)
                        : exponent == 0 ? ldexp(fraction, -24)
                                        : ldexp(1024 + fraction, exponent - 25);
    return half >> 15 ? -size : size;
}

/* The half-precision number nearest to x, within their range. */
static double nearest_half(double x)
{
    int exponent;
    frexp(x, &exponent); /* 2^(exponent - 1) <= |x|: eleven binary digits, the smallest 2^-24 */
    const int step = exponent - 11 > -24 ? exponent - 11 : -24;
    return ldexp(rint(ldexp(x, -step)), step);
}

static double number_of_half(uint16_t half, const double *codes, size_t code_count)
{
    const double v = double_of_half(half);
    for (size_t i = 0; i < code_count; i++)
        if (v == nearest_half(codes[i])) return (double)NAN;
    return v;
}

/* Of a decimal of 256 bits there are 77 digits; a sign, "e", and its exponent. */
#define DECIMAL_TEXT 100

/* Writes a decimal as digits with an exponent. */
static size_t put_decimal(char text[DECIMAL_TEXT], const tmi_array *array, int64_t at)
{
    uint32_t words[8] = {0};
    const size_t count = (size_t)array->width / 4;
    char digits[9 * 9 + 1];
    size_t used = sizeof digits - 1;
    memcpy(words, (const char *)array->values + at * array->width, (size_t)array->width);
    const bool negative = words[count - 1] >> 31;
    for (size_t i = 0, carry = 1; negative && i < count; i++) {
        words[i] = ~words[i] + (uint32_t)carry;
        carry = carry && words[i] == 0;
    }
    digits[used] = '\0';
    for (bool more = true; more;) { /* nine digits of the rest at a time; 2^256 has nine times nine of them */
        uint64_t rest = 0;
        more = false;
        for (size_t i = count; i-- > 0;) {
            rest = rest << 32 | words[i];
            words[i] = (uint32_t)(rest / 1000000000);
            rest %= 1000000000;
            more = more || words[i] > 0;
        }
        for (int d = 0; d < 9; d++, rest /= 10) digits[--used] = (char)('0' + rest % 10);
    }
    return (size_t)snprintf(text, DECIMAL_TEXT, "%s%se%d", negative ? "-" : "", digits + used, -array->scale);
}

static double number_of_decimal(const tmi_array *array, int64_t at)
{
    char text[DECIMAL_TEXT];
    const size_t length = put_decimal(text, array, at);
    const double x = tmi_number_in((tmi_cell){text, length});
    tmi_wipe(text, sizeof text);
    return x;
}

void tmi_array_numbers(double *to, const tmi_array *array, int64_t first, size_t n, const double *codes, size_t code_count)
{
    for (size_t i = 0; i < n; i++) {
        const tmi_array *leaf;
        int64_t at;
        to[i] = (double)NAN;
        if (!find(&leaf, &at, array, first + (int64_t)i)) continue;
        if (leaf->kind == TMI_ARRAY_F64) to[i] = ((const double *)leaf->values)[at];
        else if (leaf->kind == TMI_ARRAY_F32) to[i] = number_of_float(((const float *)leaf->values)[at], codes, code_count);
        else if (leaf->kind == TMI_ARRAY_F16) to[i] = number_of_half(((const uint16_t *)leaf->values)[at], codes, code_count);
        else if (leaf->kind == TMI_ARRAY_DECIMAL) to[i] = number_of_decimal(leaf, at);
        else WITH_INTEGER(leaf, at, to[i] = (double)v)
    }
}

/* ---- texts ---- */

int64_t tmi_array_text_start(const tmi_array *array, int64_t at)
{
    return array->kind == TMI_ARRAY_LARGE_UTF8 ? ((const int64_t *)array->values)[at] : ((const int32_t *)array->values)[at];
}

static tmi_cell text_between(const tmi_array *array, int64_t at)
{
    const int64_t start = tmi_array_text_start(array, at), end = tmi_array_text_start(array, at + 1);
    return 0 <= start && start < end && end <= array->byte_count ? (tmi_cell){array->bytes + start, (size_t)(end - start)}
                                                                 : (tmi_cell){0};
}

/* A view has a length and up to 12 bytes; or the first four, and where a longer text is: buffer and place. */
static tmi_cell text_viewed(const tmi_array *array, int64_t at)
{
    const char *view = (const char *)array->values + 16 * at;
    int32_t length, place[2];
    memcpy(&length, view, sizeof length);
    if (length <= 0) return (tmi_cell){0};
    if (length <= 12) return (tmi_cell){view + 4, (size_t)length};
    memcpy(place, view + 8, sizeof place);
    if (place[0] < 0 || place[0] >= array->buffer_count || place[1] < 0 || !array->buffers[place[0]] ||
        length > array->buffer_lengths[place[0]] - place[1])
        return (tmi_cell){0};
    return (tmi_cell){(const char *)array->buffers[place[0]] + place[1], (size_t)length};
}

/* The date of a day since 1970-01-01, by the Gregorian calendar before its time too: years begin in March, so that the leap day
 * is their last, and 400 of them have 146097 days. */
static size_t put_date(char *room, int64_t day)
{
    day += 719468; /* since 0000-03-01 */
    const int64_t era = (day >= 0 ? day : day - 146096) / 146097, d = day - era * 146097;
    const int64_t y = (d - d / 1460 + d / 36524 - d / 146096) / 365, in_year = d - (365 * y + y / 4 - y / 100);
    const int64_t m = (5 * in_year + 2) / 153, month = m < 10 ? m + 3 : m - 9, year = y + era * 400 + (month <= 2);
    return (size_t)snprintf(room, TMI_NUMBER_TEXT, "%04lld-%02lld-%02lld%s", (long long)(year > 0 ? year : 1 - year),
                            (long long)month, (long long)(in_year - (153 * m + 2) / 5 + 1), year > 0 ? "" : " BC");
}

/* Days of dates that calendars are used for: a million years. Others are missing. */
#define FARTHEST_DAY 400000000

static size_t put_day(char *room, const tmi_array *array, int64_t at)
{
    int64_t day = FARTHEST_DAY + 1;
    if (array->kind == TMI_ARRAY_DAYS_F64) {
        const double x = floor(((const double *)array->values)[at]);
        if (fabs(x) <= FARTHEST_DAY) day = (int64_t)x;
    } else {
        WITH_INTEGER(array, at, day = (int64_t)v)
    }
    if (array->kind == TMI_ARRAY_DAYS_MS) day = day / 86400000 - (day % 86400000 < 0);
    return day < -FARTHEST_DAY || day > FARTHEST_DAY ? 0 : put_date(room, day);
}

static size_t put_uuid(char *room, const uint8_t *bytes)
{
    char *to = room;
    for (int i = 0; i < 16; i++) to += sprintf(to, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", bytes[i]);
    return (size_t)(to - room);
}

/* What is no text, written as one. */
static size_t put_value(char *room, const tmi_array *array, int64_t at)
{
    int length = 0;
    char decimal[DECIMAL_TEXT];
    switch (array->kind) {
    case TMI_ARRAY_F64: return tmi_double_text(room, ((const double *)array->values)[at]);
    case TMI_ARRAY_F32: return tmi_double_text(room, (double)((const float *)array->values)[at]);
    case TMI_ARRAY_F16: return tmi_double_text(room, double_of_half(((const uint16_t *)array->values)[at]));
    case TMI_ARRAY_DAYS32:
    case TMI_ARRAY_DAYS_MS:
    case TMI_ARRAY_DAYS_F64: return put_day(room, array, at);
    case TMI_ARRAY_UUID: return put_uuid(room, (const uint8_t *)array->values + 16 * at);
    case TMI_ARRAY_DECIMAL:
        length = (int)tmi_decimal_text(room, (tmi_cell){decimal, put_decimal(decimal, array, at)});
        tmi_wipe(decimal, sizeof decimal);
        break;
    case TMI_ARRAY_BOOL:
    case TMI_ARRAY_BOOL32: WITH_INTEGER(array, at, length = snprintf(room, TMI_NUMBER_TEXT, v ? "true" : "false")) break;
    case TMI_ARRAY_U64:
        length = snprintf(room, TMI_NUMBER_TEXT, "%llu", (unsigned long long)((const uint64_t *)array->values)[at]);
        break;
    default: WITH_INTEGER(array, at, length = snprintf(room, TMI_NUMBER_TEXT, "%lld", (long long)v))
    }
    return (size_t)length;
}

tmi_cell tmi_array_text(const tmi_array *array, int64_t i, char room[TMI_NUMBER_TEXT])
{
    const tmi_array *leaf;
    int64_t at;
    if (!find(&leaf, &at, array, i)) return (tmi_cell){0};
    if (leaf->kind == TMI_ARRAY_POINTERS) {
        const char *text = ((const char *const *)leaf->values)[at];
        return text ? (tmi_cell){text, strlen(text)} : (tmi_cell){0};
    }
    if (leaf->kind == TMI_ARRAY_UTF8 || leaf->kind == TMI_ARRAY_LARGE_UTF8) return text_between(leaf, at);
    if (leaf->kind == TMI_ARRAY_VIEWS) return text_viewed(leaf, at);
    return (tmi_cell){room, put_value(room, leaf, at)};
}
