/* Quantiles of Student's law, against R's qt and against closed forms. */
#include "tests/test.h"

#include <math.h>

#include "num/law/student.h"
#include "num/number.h"

static double quantile(const char *confidence, int64_t df)
{
    tamis_number *c;
    double t;
    tamis_error err = {0};
    assert_int_equal(tamis_number_read(&c, confidence, NULL), TAMIS_OK);
    if (tmi_student_quantile(&t, c, df, &err) != TAMIS_OK) fail_msg("%s", err.message);
    tamis_number_free(c);
    return t;
}

static void assert_near(double x, double expected, double width)
{
    if (!(fabs(x - expected) <= width * fabs(expected))) fail_msg("%.17g, expected %.17g", x, expected);
}

/* R loses digits in (1 + p) / 2 near 1 and in its own series: 1e-9 is what it promises there. */
static void agrees_with_r(void **state)
{
    (void)state;
    static const struct {
        const char *confidence;
        int64_t df;
        double t;
    } reference[] = {
#include "tests/num/student_reference.inc"
    };
    for (size_t i = 0; i < sizeof reference / sizeof *reference; i++) {
        assert_near(quantile(reference[i].confidence, reference[i].df), reference[i].t, 2e-9);
    }
}

/* df 1: tan(pi c / 2); df 2: c sqrt(2 / (1 - c^2)). */
static void agrees_with_closed_forms(void **state)
{
    (void)state;
    assert_near(quantile("0.95", 1), tan(M_PI_2 * 0.95), 1e-14);
    assert_near(quantile("0.5", 1), 1, 1e-15);
    assert_near(quantile("0.95", 2), 0.95 * sqrt(2 / (1 - 0.95 * 0.95)), 1e-14);
    assert_near(quantile("0.999999999", 1), 2 / (M_PI * 1e-9), 1e-9);
    assert_near(quantile("0.95", INT64_C(1) << 40), 1.959963984540054, 1e-11);
}

/* The two ways meet where one takes over from the other: the quantile falls smoothly in df. */
static void the_two_ways_meet(void **state)
{
    (void)state;
    static const char *const levels[] = {"0.5", "0.95", "0.999999999"};
    for (size_t i = 0; i < 3; i++) {
        double a = quantile(levels[i], 99999), b = quantile(levels[i], 100000), c = quantile(levels[i], 100001);
        assert_true(a > b && b > c);
        assert_near(a - b, b - c, 1e-3);
    }
}

static void bad_input(void **state)
{
    (void)state;
    static const char *const bad[] = {"0", "-1", "1", "2", "0.9999999999"};
    tamis_error err = {0};
    tamis_number *c;
    double t;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(tamis_number_read(&c, bad[i], NULL), TAMIS_OK);
        assert_int_equal(tmi_student_quantile(&t, c, 5, &err), TAMIS_INVALID);
        assert_true(isinf(t));
        tamis_number_free(c);
    }
    assert_int_equal(tamis_number_read(&c, "0.95", NULL), TAMIS_OK);
    assert_int_equal(tmi_student_quantile(&t, c, 0, &err), TAMIS_INVALID);
    tamis_number_free(c);
}

int main(void)
{
    const struct CMUnitTest group[] = {
        cmocka_unit_test(agrees_with_r),
        cmocka_unit_test(agrees_with_closed_forms),
        cmocka_unit_test(the_two_ways_meet),
        cmocka_unit_test(bad_input),
    };
    return cmocka_run_group_tests(group, NULL, NULL);
}
