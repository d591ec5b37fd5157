#include "tests/test.h"

#include <gmp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "num/bound.h"
#include "num/number.h"
#include "tests/base/memory_that_fails.h"

static void reads_exact_numbers(void **state)
{
    static const struct {
        const char *text, *exact;
    } cases[] = {
        {"0", "0"},
        {"-0", "0"},
        {"12", "12"},
        {"+12", "12"},
        {"0.1", "1/10"},
        {".5", "1/2"},
        {"5.", "5"},
        {"-0.50", "-1/2"},
        {"1e-6", "1/1000000"},
        {"1E3", "1000"},
        {"2.5e+1", "25"},
        {"3/10", "3/10"},
        {"6/4", "3/2"},
        {"-1.5/0.5", "-3"},
        {"1/-3", "-1/3"},
        {"000000000000000000012", "12"},
        {"0.30000000000000004", "7500000000000001/25000000000000000"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis_number *x;
        char *text;
        tamis_error err;
        assert_int_equal(tamis_number_read(&x, cases[i].text, &err), TAMIS_OK);
        assert_int_equal(tamis_number_write(&text, x, &err), TAMIS_OK);
        assert_string_equal(text, cases[i].exact);
        tamis_free(text);
        tamis_number_free(x);
    }
}

static void refuses_what_is_no_number(void **state)
{
    static const char *const cases[] = {
        "",      " 1",  "1 ",  "abc",         "1e",           "1e+",    ".",
        "-",     "--1", "1/0", "1/",          "/2",           "1/2/3",  "0x10",
        "nan",   "inf", "1,5", "1e999999999", "1e-999999999", "1e1001", "1e99999999999999999999999999",
        "1_000",
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis_number *x = (tamis_number *)&x;
        tamis_error err = {0};
        assert_int_equal(tamis_number_read(&x, cases[i], &err), TAMIS_INVALID);
        assert_null(x);
        assert_true(strlen(err.message) > 0);
    }
    char *long_text = malloc(100000001);
    memset(long_text, '7', 100000000);
    long_text[100000000] = '\0';
    tamis_number *x;
    assert_int_equal(tamis_number_read(&x, long_text, NULL), TAMIS_INVALID);
    memset(long_text, '0', 100000000); /* zeros too are counted */
    assert_int_equal(tamis_number_read(&x, long_text, NULL), TAMIS_INVALID);
    free(long_text);
    assert_int_equal(tamis_number_read(&x, NULL, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_number_read(NULL, "1", NULL), TAMIS_INVALID);
}

static void holds_128_bits(void **state)
{
    static const struct {
        tmi_int128 x;
        const char *text;
    } cases[] = {
        {0, "0"},
        {-1, "-1"},
        {INT64_MAX, "9223372036854775807"},
        {(tmi_int128)1 << 64, "18446744073709551616"},
        {-((tmi_int128)1 << 64) - 1, "-18446744073709551617"},
        {(tmi_int128)(~(unsigned __int128)0 >> 1), "170141183460469231731687303715884105727"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis_number *x;
        char *text;
        assert_int_equal(tmi_number_int128(&x, cases[i].x, NULL), TAMIS_OK);
        assert_int_equal(tamis_number_write(&text, x, NULL), TAMIS_OK);
        assert_string_equal(text, cases[i].text);
        tamis_free(text);
        tamis_number_free(x);
    }
}

/* A free of GMP's that finds its block wiped, or not. */
static size_t dirty;

static void takes_finite_doubles_only(void **state)
{
    (void)state;
    const double none[] = {INFINITY, -INFINITY, NAN};
    for (size_t i = 0; i < 3; i++) {
        tamis_number *x = NULL;
        assert_int_equal(tmi_number_double(&x, none[i], NULL), TAMIS_UNABLE);
        assert_null(x);
    }
}

static void look_and_free(void *block, size_t size)
{
    for (size_t i = 0; i < size; i++) dirty += ((const unsigned char *)block)[i] != 0;
    free(block);
}

static void wipes_what_it_held(void **state)
{
    void *(*new_block)(size_t), *(*longer)(void *, size_t, size_t);
    void (*old)(void *, size_t);
    (void)state;
    mp_get_memory_functions(&new_block, &longer, &old);
    for (int wiped = 0; wiped < 2; wiped++) {
        tamis_number *x;
        assert_int_equal(tamis_number_read(&x, "123456789012345678901234567890/7e40", NULL), TAMIS_OK);
        dirty = 0;
        mp_set_memory_functions(new_block, longer, look_and_free);
        if (wiped) tmi_number_wipe(x);
        else tamis_number_free(x);
        mp_set_memory_functions(new_block, longer, old);
        assert_int_equal(dirty == 0, wiped);
    }
    tmi_number_wipe(NULL);
}

static void finds_common_measures(void **state)
{
    static const struct {
        const char *x, *y, *z;
    } cases[] = {{"6", "4", "2"},        {"1/2", "1/3", "1/6"}, {"3/2", "9/4", "3/4"},
                 {"-3/2", "9/4", "3/4"}, {"0", "5/7", "5/7"},   {"0", "0", "0"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis_number *x, *y, *z, *g;
        assert_int_equal(tamis_number_read(&x, cases[i].x, NULL), TAMIS_OK);
        assert_int_equal(tamis_number_read(&y, cases[i].y, NULL), TAMIS_OK);
        assert_int_equal(tamis_number_read(&z, cases[i].z, NULL), TAMIS_OK);
        assert_int_equal(tmi_number_gcd(&g, x, y, NULL), TAMIS_OK);
        assert_int_equal(tmi_number_compare(g, z), 0);
        tamis_number_free(x);
        tamis_number_free(y);
        tamis_number_free(z);
        tamis_number_free(g);
    }
}

static void survives_missing_memory(void **state)
{
    tamis_number *x;
    char *text;
    (void)state;
    EVERY_ALLOCATION_FAILS(tamis_number_read(&x, "1/3", NULL), assert_null(x));
    EVERY_ALLOCATION_FAILS(tamis_number_write(&text, x, NULL), assert_null(text));
    tamis_free(text);
    tamis_number_free(x);
}

/* The printed decimals are on the safe side, also when read as exact decimals. */
static void prints_outwards(void **state)
{
    static const double cases[] = {0.1,  1.0 / 3, 1e-300,  5e-324, 1.7976931348623157e308, 123456789.125,
                                   1e16, 1e17,    0.00001, 2.5e-5, 99999999999999999.0,    0.9999999999999999,
                                   -0.1, -1.0 / 3};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[TMI_DECIMAL];
        tamis_number *x;
        tmi_decimal_down(text, cases[i]);
        assert_int_equal(tamis_number_read(&x, text, NULL), TAMIS_OK);
        assert_true(tmi_number_down(x) <= cases[i] && tmi_number_up(x) <= cases[i] && strtod(text, NULL) <= cases[i]);
        assert_true(fabs(strtod(text, NULL) - cases[i]) <= 1e-16 * fabs(cases[i]) + 5e-324);
        tamis_number_free(x);
        tmi_decimal_up(text, cases[i]);
        assert_int_equal(tamis_number_read(&x, text, NULL), TAMIS_OK);
        assert_true(tmi_number_down(x) >= cases[i] && strtod(text, NULL) >= cases[i]);
        tamis_number_free(x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_exact_numbers),     cmocka_unit_test(refuses_what_is_no_number),
        cmocka_unit_test(holds_128_bits),          cmocka_unit_test(takes_finite_doubles_only),
        cmocka_unit_test(wipes_what_it_held),      cmocka_unit_test(finds_common_measures),
        cmocka_unit_test(survives_missing_memory), cmocka_unit_test(prints_outwards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
