#include "engine/core/canonical.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* ---- forms ---- */

static const char *name_of(tmi_form form)
{
    switch (form) {
    case TMI_FORM_TEXT: return "texts";
    case TMI_FORM_BOOLEAN: return "booleans";
    case TMI_FORM_DATE: return "dates";
    case TMI_FORM_UUID: return "UUIDs";
    default: return "numbers";
    }
}

/* "PostgreSQL, connection 1: ", or nothing: a file is named by the error itself. */
#define PART(part) (part)->name ? (part)->name : "", (part)->name ? ": " : ""

tamis_status tmi_form_join(tmi_form *seen, tmi_form here, const tmi_source_part *part, const char *column, tamis_error *err)
{
    if (here == TMI_FORM_ANY || *seen == here || (tmi_form_is_number(*seen) && tmi_form_is_number(here))) return TAMIS_OK;
    if (*seen != TMI_FORM_ANY)
        return tmi_fail_file_more(err, TAMIS_INVALID, part->file, 0,
                                  "%s%scolumn %s contains %s here and %s in another part of the source; ids, strata, clusters "
                                  "and categories need the same type in all parts: convert one of them",
                                  PART(part), column, name_of(here), name_of(*seen));
    *seen = here;
    return TAMIS_OK;
}

/* ---- classes ---- */

tmi_class tmi_class_of(tmi_form form)
{
    switch (form) {
    case TMI_FORM_ANY: return TMI_CLASS_OPEN;
    case TMI_FORM_TEXT: return TMI_CLASS_TEXT;
    case TMI_FORM_DATE: return TMI_CLASS_DATE;
    case TMI_FORM_BOOLEAN: return TMI_CLASS_BOOLEAN;
    case TMI_FORM_UUID:
    case TMI_FORM_NONE: return TMI_CLASS_OTHER;
    default: return TMI_CLASS_NUMBER;
    }
}

tamis_status tmi_class_check(tmi_class class, const tmi_source_part *part, const char *column, tamis_error *err)
{
    static const struct {
        const char *holds, *advice;
    } wrong[] = {
        [TMI_CLASS_TEXT] = {"texts", "list its `values` if it is a category, or make a column of numbers from it, in a view or a "
                                     "copy"},
        [TMI_CLASS_DATE] = {"dates or times", "make a number from it, such as a year or an age, in a view or a copy"},
        [TMI_CLASS_BOOLEAN] = {"booleans", "declare it with `values: [\"true\", \"false\"]`, or make a column of 0 and 1 from "
                                           "it"},
        [TMI_CLASS_OTHER] = {"something else", "make a column of numbers from it, in a view or a copy"},
    };
    if (class == TMI_CLASS_OPEN || class == TMI_CLASS_NUMBER) return TAMIS_OK;
    return tmi_fail_file_more(err, TAMIS_INVALID, part->file, 0,
                              "%s%scolumn %s: the plan uses it as a number, but by its type it contains %s: %s", PART(part),
                              column, wrong[class].holds, wrong[class].advice);
}

/* ---- values ---- */

static bool is_word(tmi_cell value, const char *word)
{
    return value.length == strlen(word) && memcmp(value.bytes, word, value.length) == 0;
}

/* Whether a value of the plan can occur in a column of this form, judging by its spelling. */
static bool may_be_in(tmi_form form, tmi_cell value)
{
    char text[TMI_NUMBER_TEXT];
    if (tmi_form_is_number(form)) return tmi_value_text(text, value, form) > 0;
    switch (form) {
    case TMI_FORM_BOOLEAN: return is_word(value, "true") || is_word(value, "false");
    case TMI_FORM_DATE:
        return is_word(value, "infinity") || is_word(value, "-infinity") ||
               (value.length >= 10 && value.bytes[0] >= '0' && value.bytes[0] <= '9' && memchr(value.bytes, '-', value.length));
    case TMI_FORM_UUID: return value.length == 36;
    default: return true;
    }
}

tamis_status tmi_values_check(const char *const *values, size_t count, tmi_form form, const tmi_source_part *part,
                              const char *column, tamis_error *err)
{
    for (size_t v = 0; v < count; v++)
        if (may_be_in(form, tmi_trimmed(values[v], strlen(values[v])))) return TAMIS_OK;
    return tmi_fail_file_more(err, TAMIS_INVALID, part->file, 0,
                              "%s%scolumn %s: by its type it contains %s, and none of the values listed in the plan is one: "
                              "list them as they are in the source",
                              PART(part), column, name_of(form));
}

tamis_status tmi_fail_same_number(const char *column, tamis_error *err)
{
    return tmi_fail_more(err, TAMIS_INVALID,
                         "column %s contains numbers, and two of the values listed for it are equal: list each number once",
                         column);
}

/* ---- doubles ---- */

/* An integer below 2^1024, and one of the form m * 5^k with m < 2^53 and k <= 1074, has fewer than 780 digits. */
#define LIMB 1000000000u
#define LIMBS 88

typedef struct natural {
    uint32_t limbs[LIMBS]; /* the lowest nine digits first */
    size_t count;
} natural;

static void multiply(natural *n, uint32_t factor)
{
    uint64_t carry = 0;
    for (size_t i = 0; i < n->count; i++) {
        carry += (uint64_t)n->limbs[i] * factor; /* < 10^9 * 2^30 + 2^31 < 2^61 */
        n->limbs[i] = (uint32_t)(carry % LIMB);
        carry /= LIMB;
    }
    for (; carry > 0; carry /= LIMB) n->limbs[n->count++] = (uint32_t)(carry % LIMB);
}

/* times base^power; base^most fits 30 bits. */
static void multiply_power(natural *n, uint32_t base, int most, int power)
{
    while (power > 0) {
        uint32_t factor = 1;
        for (int i = 0; i < most && power > 0; i++, power--) factor *= base;
        multiply(n, factor);
    }
}

/* Writes digits with `places` of them after the point, without trailing zeros. */
static size_t put_digits(char *text, const char *digits, size_t count, size_t places)
{
    char *at = text;
    while (count > 0 && places > 0 && digits[count - 1] == '0') count--, places--;
    if (places >= count) {
        *at++ = '0';
        if (places > 0) *at++ = '.';
        for (size_t i = count; i < places; i++) *at++ = '0';
    }
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && count - i == places) *at++ = '.';
        *at++ = digits[i];
    }
    *at = '\0';
    return (size_t)(at - text);
}

static size_t put_integer(char *text, int64_t value)
{
    char digits[20];
    uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    size_t length = 0, count = 0;
    if (value < 0) text[length++] = '-';
    do digits[count++] = (char)('0' + left % 10);
    while ((left /= 10) > 0);
    while (count > 0) text[length++] = digits[--count];
    text[length] = '\0';
    return length;
}

size_t tmi_double_text(char text[TMI_NUMBER_TEXT], double x)
{
    text[0] = '\0';
    if (!isfinite(x)) return 0;
    if (fabs(x) < 0x1p63 && x == (double)(int64_t)x) return put_integer(text, (int64_t)x);
    int exponent;
    uint64_t mantissa = (uint64_t)ldexp(frexp(fabs(x), &exponent), 53); /* |x| = mantissa * 2^(exponent - 53), exactly */
    exponent -= 53;
    for (; exponent < 0 && mantissa % 2 == 0; exponent++) mantissa /= 2; /* exponent >= -1074 */
    natural n = {.limbs = {(uint32_t)(mantissa % LIMB), (uint32_t)(mantissa / LIMB)}, .count = 2};
    if (exponent >= 0) multiply_power(&n, 2, 29, exponent);
    else multiply_power(&n, 5, 12, -exponent); /* m / 2^k = m * 5^k / 10^k */
    char digits[9 * LIMBS + 1], *at = digits;
    for (size_t i = n.count; i-- > 0;) at += sprintf(at, "%09u", n.limbs[i]);
    const char *first = digits;
    while (*first == '0') first++;
    *text = '-';
    char *start = text + (x < 0);
    const size_t length = put_digits(start, first, (size_t)(at - first), exponent < 0 ? (size_t)-exponent : 0);
    tmi_wipe(&n, sizeof n);
    tmi_wipe(digits, sizeof digits);
    return length + (x < 0);
}

/* ---- decimal notation ---- */

size_t tmi_decimal_text(char text[TMI_NUMBER_TEXT], tmi_cell number)
{
    char plain[TMI_PLAIN_NUMBER], digits[TMI_PLAIN_NUMBER];
    size_t count = 0, length = 0;
    long long places = 0;
    text[0] = '\0';
    if (!tmi_plain_number(plain, number)) return 0;
    const char *at = plain + (plain[0] == '-');
    bool point = false;
    for (; *at && *at != 'e' && *at != 'E'; at++) {
        if (*at == '.') point = true;
        else if (count > 0 || *at != '0') digits[count++] = *at;
        places += point && *at != '.';
    }
    /* An exponent too large for strtoll is clamped by it, and exceeds the longest text in any case. */
    const long long exponent = *at ? strtoll(at + 1, NULL, 10) : 0, far = 2 * TMI_PLAIN_NUMBER;
    places -= exponent > far ? far : exponent < -far ? -far : exponent;
    while (count > 0 && digits[count - 1] == '0') count--, places--; /* the number is digits * 10^-places */
    const long long whole = (long long)count - places;               /* digits before the point */
    if (count == 0) {
        length = put_digits(text, "0", 1, 0);
    } else if ((places > 0 ? (whole > 0 ? (long long)count : places) + 2 : whole) + 2 <= TMI_NUMBER_TEXT) {
        for (; places < 0; places++) digits[count++] = '0';
        *text = '-';
        length = put_digits(text + (plain[0] == '-'), digits, count, (size_t)places) + (plain[0] == '-');
    }
    tmi_wipe(plain, strlen(plain));
    tmi_wipe(digits, count);
    return length;
}

size_t tmi_value_text(char text[TMI_NUMBER_TEXT], tmi_cell value, tmi_form form)
{
    text[0] = '\0';
    if (form == TMI_FORM_EXACT) return tmi_decimal_text(text, value);
    if (form == TMI_FORM_DOUBLE) return tmi_double_text(text, tmi_number_in(value));
    if (form == TMI_FORM_FLOAT) return tmi_double_text(text, (double)tmi_float_in(value));
    return 0;
}
