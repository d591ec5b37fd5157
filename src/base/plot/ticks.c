/* Ticks at round numbers. A tick is an integer times a power of ten and its label is written from the two integers, so
 * that no label depends on how a double prints.                                                                      */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plot/plot.h"

/* Powers of ten with digits before or after the point up to here are written out: 0.0001, 100,000. */
#define PLAIN_SMALL (-4)
#define PLAIN_LARGE 6

static void put_raised(char *text, int exponent)
{
    static const char *const digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    char plain[12];
    snprintf(plain, sizeof plain, "%d", exponent);
    *text = '\0';
    for (const char *c = plain; *c; c++) strcat(text, *c == '-' ? "⁻" : digits[*c - '0']);
}

/* digits * 10^exponent, digits >= 0, without trailing zeros, as "0.02" or "20,000". */
static void put_plain(char *text, long long digits, int exponent)
{
    char plain[32];
    for (; exponent > 0; exponent--) digits *= 10;
    int length = snprintf(plain, sizeof plain, "%0*lld", 1 - exponent, digits), whole = length + exponent;
    for (int i = 0; i < length; i++) {
        if (i == whole) *text++ = '.';
        else if (i > 0 && i < whole && (whole - i) % 3 == 0) *text++ = ',';
        *text++ = plain[i];
    }
    *text = '\0';
}

/* 3e-6, or 3·10⁻⁶; several digits get a point after the first. */
static void put_power(char *text, long long digits, int exponent, bool unicode)
{
    char mantissa[32], raised[24];
    int length = snprintf(mantissa, sizeof mantissa, "%lld", digits);
    if (length > 1) {
        memmove(mantissa + 2, mantissa + 1, (size_t)length);
        mantissa[1] = '.';
    }
    exponent += length - 1;
    put_raised(raised, exponent);
    if (!unicode) snprintf(text, TMI_TICK_LABEL - 1, "%se%d", mantissa, exponent);
    else if (digits == 1) snprintf(text, TMI_TICK_LABEL - 1, "10%s", raised);
    else snprintf(text, TMI_TICK_LABEL - 1, "%s·10%s", mantissa, raised);
}

/* All labels of an axis are of one kind. */
typedef struct tick_number {
    long long digits;
    int exponent;
} tick_number;

static tick_number shortest(long long digits, int exponent)
{
    while (digits != 0 && digits % 10 == 0) digits /= 10, exponent++;
    return (tick_number){digits, digits == 0 ? 0 : exponent};
}

static void add_ticks(tmi_plot_scale *scale, const tick_number *numbers, size_t count, bool unicode)
{
    bool plain = true;
    for (size_t i = 0; i < count; i++) {
        int length = snprintf(NULL, 0, "%lld", llabs(numbers[i].digits));
        plain &= numbers[i].exponent >= PLAIN_SMALL && numbers[i].exponent + length <= PLAIN_LARGE;
    }
    for (size_t i = 0; i < count; i++) {
        tmi_plot_tick *tick = &scale->ticks[scale->tick_count++];
        double digits = (double)numbers[i].digits;
        double at = scale->log ? log10(digits) + numbers[i].exponent : digits * pow(10, numbers[i].exponent);
        tick->share = fmin(1, fmax(0, (at - scale->from) / (scale->to - scale->from)));
        char *label = tick->label;
        if (numbers[i].digits < 0) *label++ = '-';
        long long size = llabs(numbers[i].digits);
        if (plain || size == 0) put_plain(label, size, numbers[i].exponent);
        else put_power(label, size, numbers[i].exponent, unicode);
    }
}

/* Of 1, 2 and 5 times a power of ten, the step that gives about `wanted` ticks. */
static tick_number step_for(double span, int wanted)
{
    double rough = span / wanted;
    int exponent = (int)floor(log10(rough));
    double rest = rough / pow(10, exponent);
    return rest < 1.41   ? (tick_number){1, exponent}
           : rest < 3.16 ? (tick_number){2, exponent}
           : rest < 7.07 ? (tick_number){5, exponent}
                         : (tick_number){1, exponent + 1};
}

#define NEARLY 1e-6 /* of a step: a tick at the very end of the axis is still on it */

/* The multiples of a round step between two numbers; with `widen` the two become multiples themselves. */
static size_t multiples(tick_number numbers[TMI_PLOT_TICKS], double *from, double *to, int wanted, bool widen)
{
    tick_number step = step_for(*to - *from, wanted);
    double size = (double)step.digits * pow(10, step.exponent);
    if (widen) {
        *from = floor(*from / size + NEARLY) * size;
        *to = ceil(*to / size - NEARLY) * size;
    }
    size_t count = 0;
    double first = ceil(*from / size - NEARLY), last = floor(*to / size + NEARLY);
    for (double i = first; i <= last && count < TMI_PLOT_TICKS; i++)
        numbers[count++] = shortest((long long)i * step.digits, step.exponent);
    return count;
}

/* Every decade or every few; 1, 2, 5 of each where there is room; multiples if even these are too few. */
static size_t decades(tick_number numbers[TMI_PLOT_TICKS], tmi_plot_scale *scale, int wanted, bool widen)
{
    static const long long mantissas[] = {1, 2, 5};
    if (widen && scale->to - scale->from >= 1) {
        scale->from = floor(scale->from + NEARLY);
        scale->to = ceil(scale->to - NEARLY);
    }
    double span = scale->to - scale->from;
    int every = (int)ceil(span / wanted - NEARLY);
    if (every < 1) every = 1;
    bool fine = 3 * span <= wanted + 1;
    size_t count = 0;
    for (int e = (int)floor(scale->from); e <= scale->to + NEARLY; e++)
        for (size_t m = 0; m < (fine ? 3 : 1) && count < TMI_PLOT_TICKS; m++) {
            double at = e + log10((double)mantissas[m]);
            if (e % every != 0 || at < scale->from - NEARLY || at > scale->to + NEARLY) continue;
            numbers[count++] = (tick_number){mantissas[m], e};
        }
    if (count >= 2) return count;
    double low = pow(10, scale->from), high = pow(10, scale->to);
    return multiples(numbers, &low, &high, wanted, false);
}

void tmi_plot_ticks(tmi_plot_scale *scale, int wanted, bool widen, bool unicode)
{
    tick_number numbers[TMI_PLOT_TICKS];
    size_t count = scale->log ? decades(numbers, scale, wanted, widen)
                              : multiples(numbers, &scale->from, &scale->to, wanted, widen);
    scale->tick_count = 0;
    add_ticks(scale, numbers, count, unicode);
}
