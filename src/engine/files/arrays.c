#include "engine/files/arrays.h"

#include <math.h>
#include <stdio.h>

bool tmi_array_has_texts(const tmi_array *array)
{
    if (array->dictionary) return array->kind != TMI_ARRAY_OTHER; /* a dictionary of anything but texts is OTHER */
    return array->kind == TMI_ARRAY_POINTERS || array->kind == TMI_ARRAY_UTF8 || array->kind == TMI_ARRAY_LARGE_UTF8;
}

tmi_form tmi_array_form(const tmi_array *array)
{
    if (tmi_array_has_texts(array)) return TMI_FORM_TEXT;
    switch (array->kind) {
    case TMI_ARRAY_NULL: return TMI_FORM_ANY;
    case TMI_ARRAY_BOOL: return TMI_FORM_BOOLEAN;
    case TMI_ARRAY_F64: return TMI_FORM_DOUBLE;
    case TMI_ARRAY_F32: return TMI_FORM_FLOAT;
    case TMI_ARRAY_DATE:
    case TMI_ARRAY_OTHER: return TMI_FORM_NONE;
    default: return TMI_FORM_EXACT;
    }
}

tmi_class tmi_array_class(const tmi_array *array)
{
    return array->kind == TMI_ARRAY_DATE ? TMI_CLASS_DATE : tmi_class_of(tmi_array_form(array));
}

static bool is_valid(const tmi_array *array, int64_t at)
{
    return array->kind != TMI_ARRAY_NULL && (!array->valid || array->valid[at / 8] >> (at % 8) & 1);
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
    case TMI_ARRAY_I32: AS(int32_t, array, at, STATEMENT); \
    case TMI_ARRAY_U32: AS(uint32_t, array, at, STATEMENT); \
    case TMI_ARRAY_I64: AS(int64_t, array, at, STATEMENT); \
    case TMI_ARRAY_U64: AS(uint64_t, array, at, STATEMENT); \
    default: break; \
    }
/* clang-format on */

static double number_of_float(float v, const double *codes, size_t code_count)
{
    for (size_t i = 0; i < code_count; i++)
        if (v == (float)codes[i]) return (double)NAN;
    return (double)v;
}

void tmi_array_numbers(double *to, const tmi_array *array, int64_t first, size_t n, const double *codes, size_t code_count)
{
    for (size_t i = 0; i < n; i++) {
        const int64_t at = array->offset + first + (int64_t)i;
        to[i] = (double)NAN;
        if (!is_valid(array, at)) continue;
        if (array->kind == TMI_ARRAY_F64) to[i] = ((const double *)array->values)[at];
        else if (array->kind == TMI_ARRAY_F32) to[i] = number_of_float(((const float *)array->values)[at], codes, code_count);
        else WITH_INTEGER(array, at, to[i] = (double)v)
    }
}

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

tmi_cell tmi_array_text(const tmi_array *array, int64_t i, char room[TMI_NUMBER_TEXT])
{
    const int64_t at = array->offset + i;
    if (!is_valid(array, at)) return (tmi_cell){0};
    if (array->dictionary) {
        int64_t place = -1;
        WITH_INTEGER(array, at, place = (int64_t)v)
        return place >= 0 && place < array->dictionary->length ? tmi_array_text(array->dictionary, place, room) : (tmi_cell){0};
    }
    if (array->kind == TMI_ARRAY_POINTERS) {
        const char *text = ((const char *const *)array->values)[at];
        return text ? (tmi_cell){text, strlen(text)} : (tmi_cell){0};
    }
    if (array->kind == TMI_ARRAY_UTF8 || array->kind == TMI_ARRAY_LARGE_UTF8) return text_between(array, at);
    if (array->kind == TMI_ARRAY_F64 || array->kind == TMI_ARRAY_F32) {
        const double x = array->kind == TMI_ARRAY_F64 ? ((const double *)array->values)[at]
                                                      : (double)((const float *)array->values)[at];
        return (tmi_cell){room, tmi_double_text(room, x)};
    }
    int length = 0;
    if (array->kind == TMI_ARRAY_BOOL) {
        WITH_INTEGER(array, at, length = snprintf(room, TMI_NUMBER_TEXT, v ? "true" : "false"))
    } else if (array->kind == TMI_ARRAY_U64) {
        length = snprintf(room, TMI_NUMBER_TEXT, "%llu", (unsigned long long)((const uint64_t *)array->values)[at]);
    } else {
        WITH_INTEGER(array, at, length = snprintf(room, TMI_NUMBER_TEXT, "%lld", (long long)v))
    }
    return (tmi_cell){room, (size_t)length};
}
