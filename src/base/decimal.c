#include "base/decimal.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* printf writes the decimal point of the host's locale. */
static void to_point(char *text)
{
    const char *mark = localeconv()->decimal_point;
    char *at = mark[0] != '.' && mark[0] ? strstr(text, mark) : NULL;
    if (!at) return;
    *at = '.';
    memmove(at + 1, at + strlen(mark), strlen(at + strlen(mark)) + 1);
}

static void shortest(char text[40], double x)
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, 40, "%.*g", digits, x);
        if (strtod(text, NULL) == x) break;
    }
    to_point(text);
}

void tmi_text_real(tmi_text *text, double x)
{
    char decimal[40];
    shortest(decimal, x);
    tmi_text_put(text, decimal);
}

int tmi_decimals_of(double error)
{
    if (!(error > 0) || isinf(error)) return 0;
    double magnitude = floor(log10(error));
    return magnitude < -300 ? 301 : magnitude > 300 ? -299 : 1 - (int)magnitude;
}

void tmi_text_rounded(tmi_text *text, double x, int decimals)
{
    char digits[400];
    if (decimals < 0) {
        double unit = pow(10, -decimals);
        x = round(x / unit) * unit;
        decimals = 0;
    }
    if (!isfinite(x) || fabs(x) >= 1e300 || decimals > 40) {
        tmi_text_real(text, x);
        return;
    }
    snprintf(digits, sizeof digits, "%.*f", decimals, x);
    to_point(digits);
    const char *d = digits;
    bool zero = strspn(d, "-0.") == strlen(d);
    if (*d == '-') d++;
    if (digits[0] == '-' && !zero) tmi_text_put(text, "-");
    size_t whole = strcspn(d, ".");
    for (size_t i = 0; i < whole; i++) {
        if (i > 0 && (whole - i) % 3 == 0) tmi_text_put(text, ",");
        tmi_text_add(text, d + i, 1);
    }
    tmi_text_put(text, d + whole);
}

void tmi_json_put_real(tmi_json_out *out, double x)
{
    char decimal[40];
    if (!isfinite(x)) {
        tmi_json_put_null(out);
        return;
    }
    shortest(decimal, x);
    tmi_json_put_number(out, decimal);
}

void tmi_json_add_real(tmi_json_out *out, const char *key, double x)
{
    tmi_json_key(out, key);
    tmi_json_put_real(out, x);
}
