#include "num/bound.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "num/number_gmp.h"

/* Digits that write any double exactly: 767 significant ones suffice. */
#define EXACT 766

/* glibc prints any number of digits correctly. The exact expansion d.ddd...e±x is cut after 17 digits, and the last one
 * goes up by one where the cut moved the value to the wrong side. */
static void decimal(char *text, double x, bool up)
{
    char exact[EXACT + 16], digits[18];
    if (isinf(x) || x == 0) {
        strcpy(text, x == 0 ? "0" : x > 0 ? "inf" : "-inf");
        return;
    }
    bool negative = x < 0, away = negative ? !up : up;
    snprintf(exact, sizeof exact, "%.*e", EXACT, fabs(x));
    int exponent = 0;
    sscanf(strchr(exact, 'e') + 1, "%d", &exponent);
    digits[0] = exact[0];
    memcpy(digits + 1, exact + 2, 16);
    digits[17] = '\0';
    bool rest = strspn(exact + 18, "0") < (size_t)(strchr(exact, 'e') - (exact + 18));
    if (rest && away) {
        int i = 16;
        while (i >= 0 && digits[i] == '9') digits[i--] = '0';
        if (i >= 0) digits[i]++;
        else {
            memcpy(digits, "10000000000000000", 17);
            exponent++;
        }
    }
    int last = 16;
    while (last > 0 && digits[last] == '0') digits[last--] = '\0';
    size_t n = strlen(digits);
    char *at = text;
    if (negative) *at++ = '-';
    if (exponent >= 0 && exponent < 17) { /* plain: 1234.5 */
        size_t whole = (size_t)exponent + 1;
        for (size_t i = 0; i < whole || i < n; i++) {
            if (i == whole) *at++ = '.';
            *at++ = i < n ? digits[i] : '0';
        }
        *at = '\0';
    } else if (exponent < 0 && exponent >= -5) { /* 0.00012 */
        sprintf(at, "0.%.*s%s", -exponent - 1, "0000", digits);
    } else {
        sprintf(at, "%c%s%se%d", digits[0], n > 1 ? "." : "", digits + 1, exponent);
    }
}

void tmi_decimal_down(char *text, double x)
{
    decimal(text, x, false);
}

void tmi_decimal_up(char *text, double x)
{
    decimal(text, x, true);
}

static void put_end(tmi_json_out *out, const char *text)
{
    if (strstr(text, "inf")) tmi_json_put_string(out, text);
    else tmi_json_put_number(out, text);
}

void tmi_json_put_bound(tmi_json_out *out, tamis_bound bound)
{
    char text[TMI_DECIMAL];
    tmi_json_open(out, '{');
    tmi_json_key(out, "lower");
    tmi_decimal_down(text, bound.lower);
    put_end(out, text);
    tmi_json_key(out, "upper");
    tmi_decimal_up(text, bound.upper);
    put_end(out, text);
    tmi_json_close(out, '}');
}

double tmi_number_down(const tamis_number *x)
{
    double d = mpq_get_d(x->value); /* truncates towards zero */
    if (isinf(d)) return d > 0 ? 0x1.fffffffffffffp1023 : d;
    mpq_t exact;
    mpq_init(exact);
    mpq_set_d(exact, d);
    if (mpq_cmp(exact, x->value) > 0) d = nextafter(d, -INFINITY);
    mpq_clear(exact);
    return d;
}

double tmi_number_up(const tamis_number *x)
{
    double d = mpq_get_d(x->value);
    if (isinf(d)) return d < 0 ? -0x1.fffffffffffffp1023 : d;
    mpq_t exact;
    mpq_init(exact);
    mpq_set_d(exact, d);
    if (mpq_cmp(exact, x->value) < 0) d = nextafter(d, INFINITY);
    mpq_clear(exact);
    return d;
}

tamis_bound tmi_number_bound(const tamis_number *x)
{
    return (tamis_bound){tmi_number_down(x), tmi_number_up(x)};
}
