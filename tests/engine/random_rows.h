/* The rows of the conformance test: every odd number and text beside ordinary ones. */
#ifndef TESTS_ENGINE_RANDOM_ROWS_H
#define TESTS_ENGINE_RANDOM_ROWS_H

#include "tests/engine/reference.h"

static const struct {
    const char *text;
    double value;
} odd_numbers[] = {
    {"", NAN},
    {"NA", NAN},
    {"nan", NAN},
    {"inf", NAN},
    {"-inf", NAN},
    {"1e999", NAN},
    {"-0", -0.0},
    {"0", 0},
    {"4.9e-324", 4.9e-324},
    {"-2e-310", -2e-310},
    {"1.7976931348623157e308", 1.7976931348623157e308},
    {"-1e300", -1e300},
    {"0.5", 0.5},
    {"-0.5", -0.5},
    {"1.5", 1.5},
    {"2.5", 2.5},
    {"-2.5", -2.5},
    {"100", 100},
    {"99.99999999999999", 99.99999999999999},
    {" 7 ", 7},
    {"+3", 3},
    {"1,5", NAN},
    {"12abc", NAN},
    {"0x10", NAN},
    {"twelve", NAN},
    {"97", 97},
    {"1e2", 1e2},
    {".25", .25},
    {"0.49999999999999994", 0.49999999999999994},
    {"2.2250738585072014e-308", 0x1p-1022},
    {"1_000", 1000},
    {"1__0", NAN},
    {"+-4", -4},
    {"5.", 5},
    {"1e", NAN},
    {"9007199254740993", 9007199254740992.0},
    {"1e-400", 0},
};

static const char *const g_texts[] = {"E", "M", "H", " E ", "e", "", "E E", "unlisted", "NA", " refused\t"};
/* A no-break space is no blank; a variable of a shell or of Spark, a backslash, another case and a combining accent are texts as
 * any others. */
static const char *const h_texts[] = {"it's",
                                      "a long category, with a comma",
                                      "say \"no\"",
                                      "back\\slash",
                                      "caf\xc3\xa9",
                                      "two\nlines",
                                      "a long category, with a comma, unlisted",
                                      "7",
                                      "'; DROP TABLE x; --",
                                      "${x}",
                                      "${env:HOME}",
                                      "\xc2\xa0no-break",
                                      " \xc2\xa0no-break\t",
                                      "no-break",
                                      "IT'S",
                                      "cafe\xcc\x81",
                                      "caf\xc3\xa9\xc2\xa0",
                                      "back\\\\slash",
                                      "7.0"};
static const char *const s_texts[] = {"north", "south", "", "elsewhere", "north", "south"};

static uint64_t seed = 1;

static uint64_t random64(void) { return next_word(&seed); }

static void random_number(char *text, double *value)
{
    size_t odd = random64() % (2 * COUNT(odd_numbers));
    if (odd < COUNT(odd_numbers)) {
        strcpy(text, odd_numbers[odd].text);
        *value = odd_numbers[odd].value;
    } else {
        double scale = ldexp(1, (int)(random64() % 40) - 10);
        *value = ((double)(random64() >> 11) / 9007199254740992.0 - 0.3) * scale;
        snprintf(text, 40, "%.17g", *value);
    }
}

/* `clusters` and `units`: how many labels of each. */
static row *random_rows(size_t n, size_t units, size_t clusters)
{
    row *list = calloc(n + 1, sizeof *list);
    for (size_t i = 0; i < n; i++) {
        row *r = &list[i];
        const uint64_t unit = random64() % (units + 1), cluster = random64() % (clusters + 1);
        if (unit > 0) snprintf(r->text[ID], sizeof r->text[ID], unit % 3 ? "u%d" : " u%d ", (int)unit);
        if (cluster > 0)
            snprintf(r->text[C], sizeof r->text[C], cluster % 2 ? "c%d" : "a cluster with a long name %d", (int)cluster);
        for (size_t c = X; c <= P; c++) random_number(r->text[c], &r->number[c]);
        strcpy(r->text[G], g_texts[random64() % COUNT(g_texts)]);
        strcpy(r->text[H], h_texts[random64() % COUNT(h_texts)]);
        strcpy(r->text[S], s_texts[random64() % COUNT(s_texts)]);
    }
    return list;
}

static void shuffle(row *list, size_t n)
{
    for (size_t i = n; i > 1; i--) {
        size_t j = random64() % i;
        row other = list[j];
        list[j] = list[i - 1];
        list[i - 1] = other;
    }
}

#endif
