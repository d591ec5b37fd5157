#include "tests/test.h"

#include <float.h>
#include <math.h>

#include "num/ball.h"
#include "num/number.h"

/* A formula that is what the context says: "unknown", exp of a number, or one plus that exp. */
typedef struct request {
    const char *exponent; /* NULL: unknown */
    bool plus_one;
    long bits_needed; /* unknown below */
} request;

static tamis_status formula(tmi_ball *value, const void *context, long bits, tamis_error *err)
{
    const request *r = context;
    tamis_number *x = NULL;
    tmi_ball_set_unknown(value);
    if (!r->exponent || bits < r->bits_needed) return TAMIS_OK;
    tamis_status status = tamis_number_read(&x, r->exponent, err);
    if (status != TAMIS_OK) return status;
    tmi_ball_set_number(value, x, bits);
    tmi_ball_exp(value, value, bits);
    if (r->plus_one) tmi_ball_add_int(value, value, 1, bits);
    tamis_number_free(x);
    return TAMIS_OK;
}

static void certifies_only_what_is_narrow(void **state)
{
    tamis_bound b;
    (void)state;
    /* Nothing known is not "narrow", although inf <= inf. */
    assert_int_equal(tmi_certify(&b, 1e-12, formula, &(request){0}, NULL), TAMIS_UNABLE);
    assert_true(b.lower == -INFINITY && b.upper == INFINITY);
    assert_int_equal(tmi_certify(&b, 1e-12, formula, &(request){.exponent = "1", .bits_needed = 1000}, NULL), TAMIS_OK);
    assert_true(b.lower <= exp(1) && b.upper >= exp(1) && b.upper - b.lower < 1e-15);
    assert_int_equal(tmi_certify(&b, 1e-12, formula, &(request){.exponent = "1e300"}, NULL), TAMIS_OK);
    assert_true(b.lower == DBL_MAX && b.upper == INFINITY);
}

/* Each of these once asked FLINT for more memory than there is, and FLINT aborts. */
static void bounds_balls_with_absurd_exponents(void **state)
{
    tamis_bound b;
    (void)state;
    assert_int_equal(tmi_certify(&b, 1e-12, formula, &(request){.exponent = "-1e300", .plus_one = true}, NULL), TAMIS_OK);
    assert_true(b.lower <= 1 && b.upper >= 1 && b.upper - b.lower < 1e-15);
    assert_int_equal(tmi_certify(&b, 1e-12, formula, &(request){.exponent = "-1e1000"}, NULL), TAMIS_OK);
    assert_true(b.lower <= 0 && b.upper >= 0 && b.upper - b.lower < 1e-300);
    assert_int_equal(tmi_certify(&b, 1e-12, formula, &(request){.exponent = "1e1000", .plus_one = true}, NULL), TAMIS_OK);
    assert_true(b.lower == DBL_MAX && b.upper == INFINITY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(certifies_only_what_is_narrow),
        cmocka_unit_test(bounds_balls_with_absurd_exponents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
