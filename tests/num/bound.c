/* Enclosures on paper: decimals on the safe side of their doubles, doubles on the safe side of their rationals. */
#include "tests/test.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/base/memory_that_fails.h"
#include "tests/num/enclosure.h"

static void check_decimal(double x)
{
    char down[TMI_DECIMAL], up[TMI_DECIMAL];
    tmi_decimal_down(down, x);
    tmi_decimal_up(up, x);
    assert_true(strlen(down) < TMI_DECIMAL && strlen(up) < TMI_DECIMAL);
    tamis_number *lower = number(down), *upper = number(up);
    mpq_t exact, gap;
    mpq_inits(exact, gap, NULL);
    mpq_set_d(exact, x);
    assert_true(mpq_cmp(lower->value, exact) <= 0 && mpq_cmp(exact, upper->value) <= 0);
    mpq_sub(gap, upper->value, lower->value); /* at most one unit of the 17th digit */
    assert_true(mpq_get_d(gap) <= 1.0000001e-16 * fabs(x));
    bool short_enough = mpq_equal(lower->value, exact) || mpq_equal(upper->value, exact);
    assert_true(!short_enough || strcmp(down, up) == 0); /* a double that has 17 digits is printed as itself */
    mpq_clears(exact, gap, NULL);
    tamis_number_free(lower);
    tamis_number_free(upper);
}

static void decimals_enclose_their_double(void **state)
{
    static const double edges[] = {DBL_MAX,
                                   -DBL_MAX,
                                   DBL_MIN,
                                   DBL_TRUE_MIN,
                                   -DBL_TRUE_MIN,
                                   1,
                                   0.1,
                                   1e16,
                                   1e17,
                                   1e-5,
                                   1e-6,
                                   9007199254740993.0,
                                   99999999999999999.0,
                                   0.99999999999999989,
                                   1.0000000000000002};
    uint64_t seed = 1;
    (void)state;
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) check_decimal(edges[i]);
    for (int i = 0; i < 5000; i++) {
        uint64_t bits = next_word(&seed);
        double x;
        memcpy(&x, &bits, sizeof x);
        if (isfinite(x)) check_decimal(x);
        check_decimal((double)(int64_t)bits / 1e19); /* ordinary sizes */
    }
}

static void few_digits_are_rounded_to_the_safe_side(void **state)
{
    static const struct {
        double x;
        int digits;
        const char *down, *up;
    } cases[] = {
        {0.12345, 3, "0.123", "0.124"},
        {0.125, 3, "0.125", "0.125"},
        {0.9999, 2, "0.99", "1"},
        {-0.9999, 2, "-1", "-0.99"},
        {99.5, 2, "99", "100"},
        {1234.5, 2, "1200", "1300"},
        {3.21e-9, 2, "3.2e-9", "3.3e-9"},
        {0.1, 3, "0.1", "0.101"},
        {0x1p-1074, 1, "4e-324", "5e-324"},
        {2, 0, "2", "2"},
        {12, -5, "10", "20"},
        {0.1, 99, "0.1", "0.10000000000000001"},
        {INFINITY, 3, "inf", "inf"},
        {-INFINITY, 3, "-inf", "-inf"},
        {NAN, 3, "-inf", "inf"},
        {0, 3, "0", "0"},
    };
    char text[TAMIS_DECIMAL];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis_decimal_down(text, cases[i].x, cases[i].digits);
        assert_string_equal(text, cases[i].down);
        tamis_decimal_up(text, cases[i].x, cases[i].digits);
        assert_string_equal(text, cases[i].up);
    }
    tamis_decimal_up(NULL, 1, 1);
    tamis_decimal_down(NULL, 1, 1);
}

static void writes_short_numbers_as_people_do(void **state)
{
    static const struct {
        double x;
        const char *text;
    } cases[] = {
        {0, "0"},
        {-0.0, "0"},
        {1, "1"},
        {-2.5, "-2.5"},
        {1234.5, "1234.5"},
        {0.25, "0.25"},
        {0.00006103515625, "0.00006103515625"},
        {1e16, "10000000000000000"},
        {1e17, "1e17"},
        {INFINITY, "inf"},
        {-INFINITY, "-inf"},
    };
    char text[TMI_DECIMAL];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tmi_decimal_down(text, cases[i].x);
        assert_string_equal(text, cases[i].text);
        tmi_decimal_up(text, cases[i].x);
        assert_string_equal(text, cases[i].text);
    }
    tmi_decimal_up(text, 0x1p-30); /* 21 digits, cut to 17 */
    assert_string_equal(text, "9.3132257461547852e-10");
    tmi_decimal_down(text, 0x1p-30);
    assert_string_equal(text, "9.3132257461547851e-10");
    tmi_decimal_up(text, 0.99999999999999989); /* carries through all the nines it meets, no further */
    assert_true(strtod(text, NULL) <= 1);
}

static void doubles_enclose_their_number(void **state)
{
    static const char *const texts[] = {"0",        "1/3",    "-1/3",  "1e1000",           "-1e1000",           "1e-1000",
                                        "-1e-1000", "1e308",  "2e308", "9007199254740993", "-9007199254740993", "0.1",
                                        "1/1024",   "5e-324", "2e-324"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        tamis_number *x = number(texts[i]);
        tamis_bound b = tmi_number_bound(x);
        mpq_t end;
        mpq_init(end);
        if (isfinite(b.lower)) {
            mpq_set_d(end, b.lower);
            assert_true(mpq_cmp(end, x->value) <= 0);
        }
        if (isfinite(b.upper)) {
            mpq_set_d(end, b.upper);
            assert_true(mpq_cmp(end, x->value) >= 0);
        }
        assert_true(b.lower == b.upper || nextafter(b.lower, INFINITY) == b.upper); /* the nearest ones */
        mpq_clear(end);
        tamis_number_free(x);
    }
}

static void json_has_two_ends(void **state)
{
    static const struct {
        tamis_bound bound;
        const char *text;
    } cases[] = {
        {{0.5, 0.75}, "{\"lower\": 0.5, \"upper\": 0.75}"},
        {{0, INFINITY}, "{\"lower\": 0, \"upper\": \"inf\"}"},
        {{-INFINITY, INFINITY}, "{\"lower\": \"-inf\", \"upper\": \"inf\"}"},
        {{0.1, 0.1}, "{\"lower\": 0.1, \"upper\": 0.10000000000000001}"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tmi_text text;
        tmi_json_out out;
        tmi_text_init(&text);
        tmi_json_out_init(&out, &text, false);
        tmi_json_put_bound(&out, cases[i].bound);
        assert_string_equal(text.bytes, cases[i].text);
        tmi_text_clear(&text);
    }
}

/* What a promise prints for people is short and never below the number. */
static void decimals_for_people_round_up(void **state)
{
    static const struct {
        const char *number, *text;
    } cases[] = {
        {"0", "0"},
        {"6", "6"},
        {"1000000", "1000000"},
        {"1.004", "1.004"},
        {"0.5", "0.5"},
        {"0.01004", "0.01004"},
        {"1000.4", "1000.4"},
        {"1/3", "0.333334"},
        {"10/3", "3.33334"},
        {"2/3", "0.666667"},
        {"999999.99999", "1000000"},
        {"0.9999999999", "1.00000"},
        {"1e-9", "0.000000001"},
        {"1/3000000", "0.000000333334"},
        {"123456789.5", "123456790"},
    };
    (void)state;
    char text[TMI_DECIMAL];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis_number *x = number(cases[i].number);
        assert_int_equal(tmi_number_decimal_up(text, x, NULL), TAMIS_OK);
        assert_string_equal(text, cases[i].text);
        tamis_number_free(x);
    }
    static const char *const odd[] = {"1e-1000", "1e1000", "1/7e-17", "1e19", "12345678901234567890.5"};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        tamis_number *x = number(odd[i]);
        assert_int_equal(tmi_number_decimal_up(text, x, NULL), TAMIS_OK);
        if (strcmp(text, "inf") != 0) {
            tamis_number *printed = number(text);
            assert_true(tmi_number_compare(printed, x) >= 0);
            tamis_number_free(printed);
        }
        tamis_number_free(x);
    }
    tamis_number *third = number("1/3");
    EVERY_ALLOCATION_FAILS(tmi_number_decimal_up(text, third, NULL), (void)0);
    tamis_number_free(third);
}

static void short_decimals_are_exact_and_others_on_the_safe_side(void **state)
{
    static const struct {
        const char *number, *down, *up;
    } cases[] = {
        {"0", "0", "0"},
        {"1", "1", "1"},
        {"0.1", "0.1", "0.1"},
        {"0.3", "0.3", "0.3"},
        {"1e-6", "1e-06", "1e-06"},
        {"1/8", "0.125", "0.125"},
        {"0.100001", "0.100001", "0.100001"},
        {"123456.789", "123456.789", "123456.789"},
        {"0.123456789012345", "0.123456789012345", "0.123456789012345"},
        {"1/3", "0.333333", "0.333334"},
        {"0.10000000000000000001", "0.0999999", "0.100001"},
        {"0.09999999999999999999", "0.0999999", "0.100001"},
    };
    (void)state;
    char text[TMI_DECIMAL];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis_number *x = number(cases[i].number);
        for (int up = 0; up < 2; up++) {
            assert_int_equal(tmi_number_decimal(text, NULL, x, up, NULL), TAMIS_OK);
            assert_string_equal(text, up ? cases[i].up : cases[i].down);
        }
        tamis_number_free(x);
    }
    static const char *const odd[] = {"1e-1000", "1e1000", "1/7e-17", "12345678901234567890.5", "0.1234567890123456789"};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        tamis_number *x = number(odd[i]);
        for (int up = 0; up < 2; up++) {
            assert_int_equal(tmi_number_decimal(text, NULL, x, up, NULL), TAMIS_OK);
            if (strcmp(text, "inf") == 0) continue;
            tamis_number *printed = number(text);
            assert_true(up ? tmi_number_compare(printed, x) >= 0 : tmi_number_compare(printed, x) <= 0);
            tamis_number_free(printed);
        }
        tamis_number_free(x);
    }
    tamis_number *third = number("1/3");
    EVERY_ALLOCATION_FAILS(tmi_number_decimal(text, NULL, third, true, NULL), (void)0);
    tamis_number_free(third);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decimals_for_people_round_up),
        cmocka_unit_test(short_decimals_are_exact_and_others_on_the_safe_side),
        cmocka_unit_test(decimals_enclose_their_double),
        cmocka_unit_test(few_digits_are_rounded_to_the_safe_side),
        cmocka_unit_test(writes_short_numbers_as_people_do),
        cmocka_unit_test(doubles_enclose_their_number),
        cmocka_unit_test(json_has_two_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
