/* Canonical texts of numbers: against glibc's own exact printing, and by hand. And the lists of categories in every form. */
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/core/cells.h"
#include "tests/base/memory_that_fails.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void expect_double(double x)
{
    char text[TMI_NUMBER_TEXT], right[2048], again[TMI_NUMBER_TEXT];
    const size_t length = tmi_double_text(text, x);
    snprintf(right, sizeof right, "%.1074f", x);
    char *end = right + strlen(right);
    while (end[-1] == '0') *--end = '\0';
    if (end[-1] == '.') *--end = '\0';
    const char *expected = strcmp(right, "-0") == 0 ? "0" : right;
    if (strcmp(text, expected) != 0 || length != strlen(text)) fail_msg("%.17g is %s, not %s", x, text, expected);
    /* It is the canonical text of itself, and reads back as the same double. */
    if (tmi_decimal_text(again, (tmi_cell){text, length}) != length || strcmp(again, text) != 0)
        fail_msg("%s is %s", text, again);
    assert_true(strtod(text, NULL) == x);
}

static void doubles(void **state)
{
    (void)state;
    static const double some[] = {0,
                                  -0.0,
                                  1,
                                  -1,
                                  17,
                                  0.5,
                                  0.1,
                                  -0.1,
                                  1e23,
                                  1e300,
                                  -1e300,
                                  5e-324,
                                  2.2250738585072014e-308,
                                  1.7976931348623157e308,
                                  9223372036854775807.0,
                                  -9223372036854775808.0,
                                  9223372036854774784.0,
                                  18446744073709551616.0,
                                  9007199254740993.0,
                                  1e15,
                                  1e16,
                                  0x1p-1074,
                                  0x1.fffffffffffffp-1022,
                                  0x1.fffffffffffffp-1023,
                                  123456.789};
    char text[TMI_NUMBER_TEXT];
    uint64_t bits = 1;
    for (size_t i = 0; i < COUNT(some); i++) expect_double(some[i]);
    for (int i = 0; i < test_size(3000, 300000); i++) {
        double x;
        bits = bits * UINT64_C(6364136223846793005) + 1442695040888963407;
        memcpy(&x, &bits, sizeof x);
        if (isfinite(x)) expect_double(x);
        expect_double((double)(float)ldexp((double)(bits >> 33), (int)(bits % 64) - 32));
    }
    assert_int_equal(tmi_double_text(text, NAN), 0);
    assert_int_equal(tmi_double_text(text, INFINITY), 0);
    assert_int_equal(tmi_double_text(text, -INFINITY), 0);
    assert_string_equal(text, "");
}

static void decimals(void **state)
{
    (void)state;
    static char nines[1100], zeros[1200];
    static const struct {
        const char *text, *canonical; /* NULL: no number */
    } cases[] = {
        {"17", "17"},
        {"17.0", "17"},
        {"17.00", "17"},
        {"1.7e1", "17"},
        {"170e-1", "17"},
        {"0017", "17"},
        {"+17", "17"},
        {" 17\t", "17"},
        {"1_7", "17"},
        {"-17.50", "-17.5"},
        {"-0", "0"},
        {"-0.00", "0"},
        {"0e99999999999999999999", "0"},
        {".5", "0.5"},
        {"-.500", "-0.5"},
        {"5.", "5"},
        {"0.05", "0.05"},
        {"5e-3", "0.005"},
        {"12.34e1", "123.4"},
        {"12.34e-1", "1.234"},
        {"1e3", "1000"},
        {"100", "100"},
        {"9007199254740993", "9007199254740993"},
        {"0.1", "0.1"},
        {"1e99999999999999999999", NULL},
        {"1e-99999999999999999999", NULL},
        {"1e2000", NULL},
        {"1e-2000", NULL},
        {"", NULL},
        {"x", NULL},
        {"1,5", NULL},
        {"0x10", NULL},
        {"nan", NULL},
        {"1e", NULL},
        {"--1", NULL},
        {"1e1077", "10*"},
        {nines, nines},
        {zeros, NULL},
    };
    char text[TMI_NUMBER_TEXT];
    memset(nines, '9', 1070);
    memcpy(zeros, "0.", 2);
    memset(zeros + 2, '3', 1100);
    for (size_t i = 0; i < COUNT(cases); i++) {
        const size_t length = tmi_decimal_text(text, (tmi_cell){cases[i].text, strlen(cases[i].text)});
        if (length != strlen(text)) fail_msg("case %zu: %zu bytes", i, length);
        if (cases[i].canonical && strcmp(cases[i].canonical, "10*") == 0)
            assert_true(length == 1078 && strspn(text + 1, "0") == 1077);
        else if (strcmp(text, cases[i].canonical ? cases[i].canonical : "") != 0) fail_msg("%s is %s", cases[i].text, text);
    }
}

static void lists(void **state)
{
    (void)state;
    static const char *const values[] = {"17", "2.50", "0.1", "1e2", "16777217", "west", " 8 ", "0x10"}, *const missing[] = {
                                                                                                             "97.0", "NA"};
    static const tmi_column column = {.name = "c",
                                      .kind = TMI_CATEGORY,
                                      .values = values,
                                      .value_count = COUNT(values),
                                      .missing_texts = missing,
                                      .missing_text_count = 2,
                                      .has_instead = true,
                                      .instead = 5};
    enum { NONE = COUNT(values) };
    static const struct {
        const char *text;
        int in_texts, in_exact, in_doubles, in_floats;
    } cases[] = {
        {"17", 0, 0, 0, 0},
        {"17.0", NONE, NONE, NONE, NONE},
        {"2.5", NONE, 1, 1, 1},
        {"2.50", 1, NONE, NONE, NONE},
        {"100", NONE, 3, 3, 3},
        {"1e2", 3, NONE, NONE, NONE},
        {"0.1", 2, 2, NONE, NONE},
        {"0.1000000000000000055511151231257827021181583404541015625", NONE, NONE, 2, NONE},
        {"0.100000001490116119384765625", NONE, NONE, NONE, 2},
        {"16777217", 4, 4, 4, NONE},
        {"16777216", NONE, NONE, NONE, 4},
        {"west", 5, NONE, NONE, NONE},
        {"8", 6, 6, 6, 6},
        {"97", NONE, 5, 5, 5},
        {"97.0", 5, NONE, NONE, NONE},
        {"NA", 5, NONE, NONE, NONE},
        {"", 5, 5, 5, 5},
        {"16", NONE, NONE, NONE, NONE},
        {"0x10", 7, NONE, NONE, NONE},
    };
    tmi_codes *codes;
    EVERY_ALLOCATION_FAILS(tmi_codes_new(&codes, &column, NULL), assert_null(codes));
    for (size_t i = 0; i < COUNT(cases); i++) {
        const int right[] = {cases[i].in_texts, cases[i].in_exact, cases[i].in_doubles, cases[i].in_floats};
        for (size_t form = 0; form < 4; form++) {
            const int32_t code = tmi_code(codes, (tmi_form)form, cases[i].text, strlen(cases[i].text));
            if (code != right[form]) fail_msg("%s in form %zu: %d", cases[i].text, form, (int)code);
            assert_int_equal(tmi_is_listed(codes, (tmi_form)form, cases[i].text, strlen(cases[i].text)), code != NONE);
        }
        assert_int_equal(tmi_code(codes, TMI_FORM_DATE, cases[i].text, strlen(cases[i].text)), right[0]);
    }
    for (size_t form = 0; form < TMI_FORM_ANY; form++) assert_int_equal(tmi_codes_check(codes, (tmi_form)form, NULL), TAMIS_OK);
    tmi_codes_free(codes);
}

/* Which lists name a number twice depends on the numbers that there are. */
static void lists_with_repetitions(void **state)
{
    (void)state;
    static const struct {
        const char *values[2];
        bool exact, doubles, floats;
    } cases[] = {
        {{"1", "1.0"}, true, true, true},
        {{"0", "-0"}, true, true, true},
        {{"1e2", "100"}, true, true, true},
        {{"1", "2"}, false, false, false},
        {{"16777216", "16777217"}, false, false, true},
        {{"9007199254740992", "9007199254740993"}, false, true, true},
        {{"0.1", "0.10000000000000001"}, false, true, true},
        {{"a", "A"}, false, false, false},
        {{"1e400", "1e401"}, false, false, false},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const tmi_column column = {.name = "c", .kind = TMI_CATEGORY, .values = cases[i].values, .value_count = 2};
        const bool right[] = {false, cases[i].exact, cases[i].doubles, cases[i].floats};
        tmi_codes *codes;
        assert_int_equal(tmi_codes_new(&codes, &column, NULL), TAMIS_OK);
        for (size_t form = 0; form < 4; form++)
            if ((tmi_codes_check(codes, (tmi_form)form, NULL) == TAMIS_INVALID) != right[form])
                fail_msg("case %zu, form %zu", i, form);
        tmi_codes_free(codes);
    }
}

static void forms(void **state)
{
    (void)state;
    for (int a = 0; a < TMI_FORM_NONE; a++)
        for (int b = 0; b < TMI_FORM_NONE; b++) {
            tmi_form seen = TMI_FORM_ANY;
            tamis_error err = {0};
            assert_int_equal(tmi_form_join(&seen, (tmi_form)a, &(tmi_source_part){.file = "a"}, "c", &err), TAMIS_OK);
            const bool fit = a == b || a == TMI_FORM_ANY || b == TMI_FORM_ANY ||
                             (tmi_form_is_number((tmi_form)a) && tmi_form_is_number((tmi_form)b));
            assert_int_equal(tmi_form_join(&seen, (tmi_form)b, &(tmi_source_part){.name = "part b"}, "c", &err),
                             fit ? TAMIS_OK : TAMIS_INVALID);
            if (!fit) assert_non_null(strstr(err.message, "part b: column c"));
        }
}

int main(void)
{
    const struct CMUnitTest all[] = {cmocka_unit_test(doubles), cmocka_unit_test(decimals), cmocka_unit_test(lists),
                                     cmocka_unit_test(lists_with_repetitions), cmocka_unit_test(forms)};
    return cmocka_run_group_tests(all, NULL, NULL);
}
