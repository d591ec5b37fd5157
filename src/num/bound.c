#include "num/bound.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "num/number_gmp.h"

#define DIGITS_FOR_PEOPLE 6

/* Digits that are printed, digits that nearly always show on which side the cut lies, digits that write any double. */
#define PRINTED 17
#define FEW 30
#define EXACT 767

/* The first `count` significant digits of x > 0, and its decimal exponent. glibc prints any number of digits correctly;
 * the decimal point, which may be several bytes in the host's locale, is left out. */
static int expand(char digits[EXACT + 1], int count, double x)
{
    char text[EXACT + 32];
    snprintf(text, sizeof text, "%.*e", count - 1, x);
    const char *c = text;
    for (; *c != 'e'; c++)
        if (*c >= '0' && *c <= '9') *digits++ = *c;
    *digits = '\0';
    return (int)strtol(c + 1, NULL, 10);
}

static bool has_rest(const char *digits, int printed) { return digits[printed + (int)strspn(digits + printed, "0")] != '\0'; }

/* The expansion is cut after `printed` digits, and the last one goes up by one where the cut moved the value to the wrong
 * side. If the 30-digit expansion, which is rounded, does not end in zeros, no carry of its rounding has reached the first 17;
 * if it does, the exact one decides. */
static void decimal(char *text, double x, int printed, bool up)
{
    char digits[EXACT + 1];
    if (!isfinite(x) || x == 0) {
        strcpy(text, x == 0 ? "0" : x > 0 || (isnan(x) && up) ? "inf" : "-inf");
        return;
    }
    bool negative = x < 0, away = negative ? !up : up;
    int exponent = expand(digits, FEW, fabs(x));
    if (!has_rest(digits, printed)) exponent = expand(digits, EXACT, fabs(x));
    bool rest = has_rest(digits, printed);
    digits[printed] = '\0';
    if (rest && away) {
        int i = printed - 1;
        while (i >= 0 && digits[i] == '9') digits[i--] = '0';
        if (i >= 0) digits[i]++;
        else {
            digits[0] = '1'; /* and zeros */
            exponent++;
        }
    }
    int last = printed - 1;
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

static int allowed(int digits) { return digits < 1 ? 1 : digits > PRINTED ? PRINTED : digits; }

void tamis_decimal_down(char *text, double x, int digits)
{
    if (text) decimal(text, x, allowed(digits), false);
}

void tamis_decimal_up(char *text, double x, int digits)
{
    if (text) decimal(text, x, allowed(digits), true);
}

void tmi_decimal_down(char *text, double x) { tamis_decimal_down(text, x, PRINTED); }

void tmi_decimal_up(char *text, double x) { tamis_decimal_up(text, x, PRINTED); }

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

void tmi_json_add_bound(tmi_json_out *out, const char *key, tamis_bound bound)
{
    tmi_json_key(out, key);
    tmi_json_put_bound(out, bound);
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

tamis_bound tmi_number_bound(const tamis_number *x) { return (tamis_bound){tmi_number_down(x), tmi_number_up(x)}; }

/* k = ceil(x 10^places), for the first number of places that is exact or gives six digits. */
tamis_status tmi_number_decimal_up(char *text, const tamis_number *x, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *power = NULL, *scaled = NULL;
    int64_t ten = 1, k = 0;
    tmi_decimal_up(text, tmi_number_up(x)); /* for numbers below 1e-12 or beyond 64 bits */
    for (int places = 0; places < 18; places++, ten *= 10) {
        TMI_TRY(tmi_number_ratio(&power, ten, 1, err));
        TMI_TRY(tmi_number_mul(&scaled, x, power, err));
        bool fits = tmi_number_ceil(&k, scaled), exact = tmi_number_is_integer(scaled);
        tmi_number_frees(&power, &scaled, NULL);
        power = scaled = NULL;
        if (!fits) break;
        if (!exact && k < 100000) continue;
        if (places == 0) snprintf(text, TMI_DECIMAL, "%lld", (long long)k);
        else snprintf(text, TMI_DECIMAL, "%lld.%0*lld", (long long)(k / ten), places, (long long)(k % ten));
        break;
    }
done:
    tmi_number_frees(&power, &scaled, NULL);
    return status;
}

/* A decimal of up to 15 digits survives the way through a double and back: so if what the nearest double is written as is not x,
 * x is no such decimal. */
tamis_status tmi_number_decimal(char *text, bool *exact, const tamis_number *x, bool up, tamis_error *err)
{
    tmi_text short_text;
    tamis_number *again = NULL;
    tamis_status status = TAMIS_OK;
    tmi_text_init(&short_text);
    if (up) tamis_decimal_up(text, tmi_number_up(x), DIGITS_FOR_PEOPLE);
    else tamis_decimal_down(text, tmi_number_down(x), DIGITS_FOR_PEOPLE);
    tmi_text_real(&short_text, tmi_number_nearest(x));
    if (short_text.failed) TMI_TRY(tmi_fail_memory(err));
    status = tamis_number_read(&again, short_text.bytes, NULL); /* beyond the doubles there is nothing to read */
    if (status == TAMIS_SYSTEM) TMI_TRY(tmi_fail_memory(err));
    const bool same = status == TAMIS_OK && tmi_number_compare(again, x) == 0 && short_text.length < TMI_DECIMAL;
    if (same) memcpy(text, short_text.bytes, short_text.length + 1);
    if (exact) *exact = same;
    status = TAMIS_OK;
done:
    tamis_number_free(again);
    tmi_text_clear(&short_text);
    return status;
}
