/* Formulas in exact numbers: the results, and failures that are remembered to the end. */
#include "tests/test.h"

#include "num/exact.h"
#include "tests/base/memory_that_fails.h"
#include "tests/num/enclosure.h"

/* |(x + y) x - 7| / y, the larger of it and 2. */
static tamis_status formula(tamis_number **z, const tamis_number *x, const tamis_number *y, tamis_error *err)
{
    tmi_exact e = TMI_EXACT(err);
    tmi_term sum = tmi_mul(&e, tmi_add(&e, x, y), x);
    tmi_term whole = tmi_div(&e, tmi_abs(&e, tmi_sub(&e, sum, tmi_int(&e, 7))), y);
    tamis_status status = tmi_exact_copy(z, &e, tmi_larger(whole, tmi_int(&e, 2)));
    tmi_exact_clear(&e);
    return status;
}

static void is_exact(void **state)
{
    static const struct {
        const char *x, *y, *z;
    } cases[] = {
        {"1/3", "1/2", "121/9"},
        {"3", "1", "5"},
        {"2", "3/2", "2"},
    };
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        tamis_number *x = number(cases[i].x), *y = number(cases[i].y), *z;
        char *written;
        assert_int_equal(formula(&z, x, y, NULL), TAMIS_OK);
        assert_int_equal(tamis_number_write(&written, z, NULL), TAMIS_OK);
        assert_string_equal(written, cases[i].z);
        tamis_free(written);
        tamis_number_free(x);
        tamis_number_free(y);
        tamis_number_free(z);
    }
}

static void remembers_the_first_failure(void **state)
{
    tamis_number *x = number("1"), *y = number("0"), *z = x;
    tamis_error err;
    (void)state;
    assert_int_equal(formula(&z, x, y, &err), TAMIS_INVALID); /* division by 0 */
    assert_null(z);
    tamis_number_free(y);
    y = number("2");
    EVERY_ALLOCATION_FAILS(formula(&z, x, y, NULL), assert_null(z));
    tamis_number_free(z);
    tamis_number_free(x);
    tamis_number_free(y);
}

static void holds_many_terms(void **state)
{
    tmi_exact e = TMI_EXACT(NULL);
    tmi_term sum = tmi_int(&e, 0);
    (void)state;
    for (int64_t i = 1; i <= 1000; i++) sum = tmi_add(&e, sum, tmi_int(&e, i));
    assert_int_equal(tmi_number_compare_int(sum, 500500), 0);
    assert_int_equal(tmi_number_compare_int(tmi_smaller(sum, tmi_int(&e, 3)), 3), 0);
    tmi_exact_clear(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_exact),
        cmocka_unit_test(remembers_the_first_failure),
        cmocka_unit_test(holds_many_terms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
