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

void tmi_shortest_real(char digits[static TMI_REAL_TEXT], double x)
{
    for (int count = 15; count <= 17; count++) {
        snprintf(digits, TMI_REAL_TEXT, "%.*g", count, x);
        if (strtod(digits, NULL) == x) break;
    }
    to_point(digits);
}

void tmi_text_real(tmi_text *text, double x)
{
    char digits[TMI_REAL_TEXT];
    tmi_shortest_real(digits, x);
    tmi_text_put(text, digits);
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
