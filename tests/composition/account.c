#include "tests/test.h"

#include <math.h>

#include "tests/base/memory_that_fails.h"
#include "tests/num/enclosure.h"

static tamis_account *new_account(const char *eps, const char *delta)
{
    tamis_number *e = number(eps), *d = number(delta);
    tamis_account *a = NULL;
    assert_int_equal(tamis_account_new(&a, e, d, NULL), TAMIS_OK);
    tamis_number_free(e);
    tamis_number_free(d);
    return a;
}

static tamis_status pure(tamis_account *a, const char *eps)
{
    tamis_number *e = number(eps);
    tamis_status status = tamis_account_charge_pure(a, e, NULL);
    tamis_number_free(e);
    return status;
}

static tamis_status zcdp(tamis_account *a, const char *rho)
{
    tamis_number *r = number(rho);
    tamis_status status = tamis_account_charge_zcdp(a, r, NULL);
    tamis_number_free(r);
    return status;
}

static void pure_epsilons_add_up_to_the_cap(void **state)
{
    tamis_account *a = new_account("1", "0");
    (void)state;
    for (int i = 0; i < 9; i++) assert_int_equal(pure(a, "0.1"), TAMIS_OK);
    assert_int_equal(pure(a, "0.1000001"), TAMIS_REFUSED);
    assert_int_equal(zcdp(a, "1e-9"), TAMIS_REFUSED); /* without a delta there is no room for it */
    assert_int_equal(pure(a, "0.1"), TAMIS_OK);       /* a refusal charges nothing; exactly to the cap */
    assert_int_equal(pure(a, "1e-30"), TAMIS_REFUSED);
    tamis_account_free(a);
}

/* With a delta many small ones fit as rhos: the number that a double computation of the conversion allows. */
static void small_ones_fit_as_rhos(void **state)
{
    tamis_account *a = new_account("2", "1e-6");
    int count = 0, expected = 0;
    (void)state;
    for (double best = 0; expected < 1000; expected++) {
        best = 1;
        for (double t = 1.001; t < 200; t *= 1.0005)
            best = fmin(best, exp((t - 1) * (t * 0.005 * (expected + 1) - 2) + t * log1p(-1 / t)) / (t - 1));
        if (best > 1e-6) break;
    }
    while (pure(a, "0.1") == TAMIS_OK) count++;
    assert_int_equal(count, expected > 20 ? expected : 20);
    assert_true(expected > 1);
    tamis_account_free(a);
    a = new_account("2", "1e-6");
    count = 0;
    while (zcdp(a, "0.005") == TAMIS_OK) count++;
    assert_int_equal(count, expected);
    tamis_account_free(a);
}

/* Why the tight number is not for adaptive budgets: randomized response with eps = 1, then with 0.8 after a yes, or after a
 * no a leak of probability 0.1307. Each of the two fixed sequences has delta(1.5) = 0.1307, the adaptive one 0.1659. An
 * account that stopped at (1.5, 0.1307) by the tight number would allow it; this one refuses the second release. */
static void adaptive_budgets_are_refused(void **state)
{
    double p = exp(1) / (1 + exp(1)), r = exp(0.8) / (1 + exp(0.8)), leak = 0.1307, E = exp(1.5);
    double responses = 0, leaks = 0, adaptive = 0;
    (void)state;
    for (int yes = 0; yes < 2; yes++) {
        double P = yes ? p : 1 - p, Q = yes ? 1 - p : p;
        double with = fmax(P * r - E * Q * (1 - r), 0) + fmax(P * (1 - r) - E * Q * r, 0);
        double leaking = P * leak + (1 - leak) * fmax(P - E * Q, 0);
        responses += with;
        leaks += leaking;
        adaptive += yes ? with : leaking;
    }
    assert_true(fabs(responses - 0.1307) < 5e-5 && fabs(leaks - 0.1307) < 5e-5 && fabs(adaptive - 0.1659) < 5e-5);
    tamis_account *a = new_account("1.5", "0.1307");
    assert_int_equal(pure(a, "1"), TAMIS_OK);
    assert_int_equal(pure(a, "0.8"), TAMIS_REFUSED);
    tamis_account_free(a);
}

static void wrong_inputs_and_memory(void **state)
{
    tamis_number *one = number("1"), *negative = number("-1");
    tamis_account *a = NULL;
    tamis_error err;
    (void)state;
    assert_int_equal(tamis_account_new(NULL, one, one, &err), TAMIS_INVALID);
    assert_int_equal(tamis_account_new(&a, NULL, one, &err), TAMIS_INVALID);
    assert_string_equal(err.message, "eps: NULL");
    assert_int_equal(tamis_account_new(&a, one, negative, &err), TAMIS_INVALID);
    assert_int_equal(tamis_account_charge_pure(NULL, one, &err), TAMIS_INVALID);
    assert_int_equal(tamis_account_charge_zcdp(NULL, one, &err), TAMIS_INVALID);
    EVERY_ALLOCATION_FAILS(tamis_account_new(&a, one, one, &err), assert_null(a));
    assert_int_equal(tamis_account_charge_pure(a, negative, &err), TAMIS_INVALID);
    assert_int_equal(tamis_account_charge_zcdp(a, negative, &err), TAMIS_INVALID);
    assert_int_equal(tamis_account_charge_zcdp(a, NULL, &err), TAMIS_INVALID);
    EVERY_ALLOCATION_FAILS(tamis_account_charge_pure(a, one, &err), (void)0);
    tamis_account_free(a);
    tamis_number_free(one);
    tamis_number_free(negative);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pure_epsilons_add_up_to_the_cap),
        cmocka_unit_test(small_ones_fit_as_rhos),
        cmocka_unit_test(adaptive_budgets_are_refused),
        cmocka_unit_test(wrong_inputs_and_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
