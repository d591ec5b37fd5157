/* Noise alone: the smallest scale for a target, tried from both sides. */
#include "tests/test.h"

#include <math.h>
#include <tamis/experimental/profile.h>

#include "num/number.h"
#include "tests/base/memory_that_fails.h"

static const tamis_noise_kind kinds[] = {TAMIS_NOISE_LAPLACE, TAMIS_NOISE_GAUSSIAN, TAMIS_NOISE_DISCRETE_LAPLACE,
                                         TAMIS_NOISE_DISCRETE_GAUSSIAN};

static tamis_bound delta_of(tamis_noise_kind kind, double scale, const tamis_number *sensitivity, const tamis_number *eps)
{
    tamis_number *s = NULL;
    tamis_profile *p = NULL;
    tamis_bound delta;
    assert_int_equal(tmi_number_double(&s, scale, NULL), TAMIS_OK);
    assert_int_equal(tamis_profile_noise(&p, kind, s, sensitivity, NULL), TAMIS_OK);
    assert_int_equal(tamis_profile_delta(&delta, p, eps, NULL), TAMIS_OK);
    tamis_profile_free(p);
    tamis_number_free(s);
    return delta;
}

/* The upper end meets the target, the lower end misses it, and they are near each other. */
static void the_scale_meets_its_target(void **state)
{
    static const struct {
        const char *sensitivity, *eps, *delta;
    } cases[] = {
        {"1", "1", "1e-6"}, {"100", "1/10", "1e-9"}, {"3", "0", "1/100"}, {"7", "5", "1e-30"}, {"2", "20", "1e-3"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            tamis_number *D = number(cases[i].sensitivity), *eps = number(cases[i].eps), *delta = number(cases[i].delta);
            tamis_bound scale;
            assert_int_equal(tamis_noise_scale(&scale, kinds[k], D, eps, delta, NULL), TAMIS_OK);
            if (!(scale.lower > 0 && scale.upper - scale.lower <= 1e-9 * scale.upper))
                fail_msg("%zu, %zu: [%.17g, %.17g]", i, k, scale.lower, scale.upper);
            assert_true(delta_of(kinds[k], scale.upper, D, eps).upper <= tmi_number_nearest(delta));
            assert_true(delta_of(kinds[k], scale.lower, D, eps).lower > tmi_number_down(delta));
            tamis_number_free(D);
            tamis_number_free(eps);
            tamis_number_free(delta);
        }
}

/* Laplace: delta = 1 - e^((eps - D/scale)/2) solved for the scale; the Gaussian of Balle and Wang: 3.730632 for (1, 1e-5). */
static void known_scales(void **state)
{
    tamis_number *one = number("1"), *small = number("1e-5"), *zero = number("0"), *three = number("3"), *two = number("2");
    tamis_bound scale;
    (void)state;
    assert_int_equal(tamis_noise_scale(&scale, TAMIS_NOISE_GAUSSIAN, one, one, small, NULL), TAMIS_OK);
    assert_true(fabs(scale.upper - 3.730632) < 1e-6);
    assert_int_equal(tamis_noise_scale(&scale, TAMIS_NOISE_LAPLACE, three, one, small, NULL), TAMIS_OK);
    assert_true(fabs(scale.upper - 3 / (1 - 2 * log1p(-1e-5))) < 1e-10);
    /* pure: sensitivity / eps, or never */
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        assert_int_equal(tamis_noise_scale(&scale, kinds[k], three, two, zero, NULL), TAMIS_OK);
        if (k % 2 == 0) assert_true(scale.lower == 1.5 && scale.upper == 1.5);
        else assert_true(isinf(scale.lower) && isinf(scale.upper));
        assert_int_equal(tamis_noise_scale(&scale, kinds[k], three, zero, zero, NULL), TAMIS_OK);
        assert_true(isinf(scale.lower));
        assert_int_equal(tamis_noise_scale(&scale, kinds[k], zero, zero, zero, NULL), TAMIS_OK);
        assert_true(scale.upper == 0);
        assert_int_equal(tamis_noise_scale(&scale, kinds[k], three, zero, one, NULL), TAMIS_OK);
        assert_true(scale.upper == 0);
    }
    tamis_number *all[] = {one, small, zero, three, two};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tamis_number_free(all[i]);
}

/* A loss that the smallest scale allows: nothing below it can be asked about. */
static void the_smallest_scale_of_all(void **state)
{
    tamis_number *one = number("1"), *huge = number("1000000"), *half = number("1/2");
    tamis_bound scale;
    (void)state;
    assert_int_equal(tamis_noise_scale(&scale, TAMIS_NOISE_LAPLACE, one, huge, half, NULL), TAMIS_OK);
    assert_true(scale.lower == 0 && scale.upper < 1.01e-6);
    tamis_number_free(one);
    tamis_number_free(huge);
    tamis_number_free(half);
}

static void wrong_inputs_are_named(void **state)
{
    tamis_number *one = number("1"), *minus = number("-1"), *half = number("1/2"), *large = number("1e7"), *huge = number("1e12");
    tamis_profile *p = NULL;
    tamis_bound z;
    tamis_error err;
    (void)state;
    assert_int_equal(tamis_profile_noise(NULL, TAMIS_NOISE_LAPLACE, one, one, &err), TAMIS_INVALID);
    assert_int_equal(tamis_profile_noise(&p, TAMIS_NOISE_LAPLACE, NULL, one, &err), TAMIS_INVALID);
    assert_int_equal(tamis_profile_noise(&p, TAMIS_NOISE_LAPLACE, one, NULL, &err), TAMIS_INVALID);
    assert_int_equal(tamis_profile_noise(&p, TAMIS_NOISE_NONE, one, one, &err), TAMIS_INVALID);
    assert_int_equal(tamis_profile_noise(&p, (tamis_noise_kind)9, one, one, &err), TAMIS_INVALID);
    assert_string_equal(err.message, "kind: must be one of the four kinds of noise");
    assert_int_equal(tamis_profile_noise(&p, TAMIS_NOISE_DISCRETE_LAPLACE, one, half, &err), TAMIS_INVALID);
    assert_null(p);
    assert_int_equal(tamis_noise_scale(NULL, TAMIS_NOISE_LAPLACE, one, one, half, &err), TAMIS_INVALID);
    assert_int_equal(tamis_noise_scale(&z, TAMIS_NOISE_NONE, one, one, half, &err), TAMIS_INVALID);
    assert_int_equal(tamis_noise_scale(&z, TAMIS_NOISE_LAPLACE, NULL, one, half, &err), TAMIS_INVALID);
    assert_string_equal(err.message, "sensitivity: NULL");
    assert_int_equal(tamis_noise_scale(&z, TAMIS_NOISE_LAPLACE, minus, one, half, &err), TAMIS_INVALID);
    assert_string_equal(err.message, "sensitivity: must not be negative");
    assert_int_equal(tamis_noise_scale(&z, TAMIS_NOISE_DISCRETE_GAUSSIAN, half, one, half, &err), TAMIS_INVALID);
    assert_int_equal(tamis_noise_scale(&z, TAMIS_NOISE_DISCRETE_GAUSSIAN, huge, one, half, &err), TAMIS_INVALID);
    assert_int_equal(tamis_noise_scale(&z, TAMIS_NOISE_LAPLACE, one, NULL, half, &err), TAMIS_INVALID);
    assert_int_equal(tamis_noise_scale(&z, TAMIS_NOISE_LAPLACE, one, minus, half, &err), TAMIS_INVALID);
    assert_int_equal(tamis_noise_scale(&z, TAMIS_NOISE_LAPLACE, one, large, half, &err), TAMIS_INVALID);
    assert_int_equal(tamis_noise_scale(&z, TAMIS_NOISE_LAPLACE, one, one, NULL, &err), TAMIS_INVALID);
    assert_int_equal(tamis_noise_scale(&z, TAMIS_NOISE_LAPLACE, one, one, large, &err), TAMIS_INVALID);
    assert_true(z.lower == 0 && isinf(z.upper));
    EVERY_ALLOCATION_FAILS(tamis_noise_scale(&z, TAMIS_NOISE_DISCRETE_LAPLACE, one, one, half, &err),
                           assert_true(z.lower == 0 && isinf(z.upper)));
    tamis_number *all[] = {one, minus, half, large, huge};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tamis_number_free(all[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_scale_meets_its_target),
        cmocka_unit_test(known_scales),
        cmocka_unit_test(the_smallest_scale_of_all),
        cmocka_unit_test(wrong_inputs_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
