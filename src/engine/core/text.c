#include "engine/core/text.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Copies digits, leaving out single underscores between them. Returns the bytes read; 0 if there is no digit. */
static size_t take_digits(char **to, const char *from, const char *end)
{
    const char *at = from;
    while (at < end && (is_digit(*at) || (*at == '_' && at > from && is_digit(at[-1]) && at + 1 < end && is_digit(at[1])))) {
        if (*at != '_') *(*to)++ = *at;
        at++;
    }
    return (size_t)(at - from);
}

/* Copies the number without its underscores; false if it is not a number. */
static bool take_number(char *to, tmi_cell text)
{
    const char *at = text.bytes, *end = at + text.length;
    if (at < end && *at == '+') at++;
    if (at < end && *at == '-') *to++ = *at++;
    const size_t whole = take_digits(&to, at, end);
    size_t part = 0;
    at += whole;
    if (at < end && *at == '.') {
        *to++ = *at++;
        part = take_digits(&to, at, end);
        at += part;
    }
    if (whole + part == 0) return false;
    if (at < end && (*at == 'e' || *at == 'E')) {
        *to++ = *at++;
        if (at < end && (*at == '+' || *at == '-')) *to++ = *at++;
        const size_t digits = take_digits(&to, at, end);
        if (digits == 0) return false;
        at += digits;
    }
    *to = '\0';
    return at == end;
}

bool tmi_plain_number(char number[TMI_PLAIN_NUMBER], tmi_cell text)
{
    text = tmi_trimmed(text.bytes, text.bytes ? text.length : 0);
    return text.length > 0 && text.length < TMI_PLAIN_NUMBER && take_number(number, text);
}

double tmi_number_in(tmi_cell text)
{
    char copy[TMI_PLAIN_NUMBER];
    double x = (double)NAN;
    if (!tmi_plain_number(copy, text)) return x;
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (plain) x = strtod_l(copy, NULL, plain);
    if (plain) freelocale(plain);
    tmi_wipe(copy, strlen(copy));
    return x;
}

float tmi_float_in(tmi_cell text)
{
    char copy[TMI_PLAIN_NUMBER];
    float x = NAN;
    if (!tmi_plain_number(copy, text)) return x;
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (plain) x = strtof_l(copy, NULL, plain);
    if (plain) freelocale(plain);
    tmi_wipe(copy, strlen(copy));
    return x;
}
