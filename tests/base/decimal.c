#include "tests/test.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/decimal.h"
#include "base/value/json.h"

static void assert_real(double x, const char *expected)
{
    tmi_text t;
    tmi_text_init(&t);
    tmi_text_real(&t, x);
    assert_string_equal(t.bytes, expected);
    tmi_text_clear(&t);
}

static void assert_rounded(double x, int decimals, const char *expected)
{
    tmi_text t;
    tmi_text_init(&t);
    tmi_text_rounded(&t, x, decimals);
    assert_string_equal(t.bytes, expected);
    tmi_text_clear(&t);
}

static void shortest_that_reads_back(void **state)
{
    (void)state;
    assert_real(0.1, "0.1");
    assert_real(6194, "6194");
    assert_real(1.0 / 3, "0.3333333333333333");
    assert_real(-0.30000000000000004, "-0.30000000000000004");
    assert_real(1e300, "1e+300");
    assert_real(DBL_TRUE_MIN, "4.94065645841247e-324");
}

static void rounded_for_people(void **state)
{
    (void)state;
    assert_rounded(3621074.34, -3, "3,621,000");
    assert_rounded(3621074.34, 0, "3,621,074");
    assert_rounded(656.585, 1, "656.6");
    assert_rounded(-1234.5, 1, "-1,234.5");
    assert_rounded(999.96, 1, "1,000.0");
    assert_rounded(-0.0001, 2, "0.00");
    assert_rounded(0, 0, "0");
    assert_rounded(100, 0, "100");
    assert_rounded(1e15, 0, "1,000,000,000,000,000");
    assert_rounded(INFINITY, 2, "inf");
    assert_rounded(1e305, 0, "1e+305");
}

static void two_digits_of_an_error(void **state)
{
    (void)state;
    assert_int_equal(tmi_decimals_of(12.34), 0);
    assert_int_equal(tmi_decimals_of(0.0512), 3);
    assert_int_equal(tmi_decimals_of(5231), -2);
    assert_int_equal(tmi_decimals_of(9.9), 1);
    assert_int_equal(tmi_decimals_of(0), 0);
    assert_int_equal(tmi_decimals_of(-1), 0);
    assert_int_equal(tmi_decimals_of(NAN), 0);
    assert_int_equal(tmi_decimals_of(INFINITY), 0);
}

static void json_has_no_nan(void **state)
{
    (void)state;
    static const struct {
        double x;
        const char *json;
    } cases[] = {{NAN, "null"}, {INFINITY, "null"}, {-INFINITY, "null"}, {2.5, "2.5"}, {-0.0, "-0"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tmi_text t;
        tmi_json_out out;
        tmi_text_init(&t);
        tmi_json_out_init(&out, &t, false);
        tmi_json_put_real(&out, cases[i].x);
        assert_string_equal(t.bytes, cases[i].json);
        tmi_text_clear(&t);
    }
}

/* A locale with a decimal comma, as glibc reads it from a folder: an installed one may not be there. False on other systems. */
static bool set_comma(void)
{
    static const struct {
        uint32_t magic, count, places[6];
        char point[4], separator[4], grouping[4];
        uint32_t wide[2];
        char charset[8];
    } numeric = {0x20031115 ^ LC_NUMERIC, 6, {32, 36, 40, 44, 48, 52}, ",", ".", {3, 3}, {',', '.'}, "UTF-8"};
    char folder[] = "/tmp/tamis-locale-XXXXXX", language[64], path[80];
    assert_non_null(mkdtemp(folder));
    snprintf(language, sizeof language, "%s/comma", folder);
    snprintf(path, sizeof path, "%s/LC_NUMERIC", language);
    assert_int_equal(mkdir(language, 0700), 0);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(&numeric, sizeof numeric, 1, file), 1);
    fclose(file);
    setenv("LOCPATH", folder, 1);
    const bool set = setlocale(LC_NUMERIC, "comma") != NULL;
    unsetenv("LOCPATH");
    unlink(path);
    rmdir(language);
    rmdir(folder);
    return set;
}

/* A host program that speaks German still gets JSON. */
static void the_locale_does_not_matter(void **state)
{
    (void)state;
    char ours[8];
    if (!set_comma()) SKIP("this C library has locales of another form");
    snprintf(ours, sizeof ours, "%.1f", 1.5);
    assert_string_equal(ours, "1,5");
    assert_real(0.1, "0.1");
    assert_rounded(1234.5, 1, "1,234.5");
    setlocale(LC_NUMERIC, "C");
}

int main(void)
{
    const struct CMUnitTest group[] = {
        cmocka_unit_test(shortest_that_reads_back),   cmocka_unit_test(rounded_for_people),
        cmocka_unit_test(two_digits_of_an_error),     cmocka_unit_test(json_has_no_nan),
        cmocka_unit_test(the_locale_does_not_matter),
    };
    return cmocka_run_group_tests(group, NULL, NULL);
}
