#include "tests/test.h"

#include <math.h>

#include "num/complex.h"
#include "num/law/mass.h"

/* The masses i/17, i = 1 ... count, rounded. */
static tmi_masses ramp(int64_t first, size_t count, bool up)
{
    tmi_masses x;
    tmi_ball mass;
    assert_int_equal(tmi_masses_new(&x, first, count, NULL), TAMIS_OK);
    tmi_ball_init(&mass);
    for (size_t i = 0; i < count; i++) {
        tmi_ball_set_int(&mass, (int64_t)i + 1);
        tmi_ball_div_int(&mass, &mass, 17, 256); /* no finite binary fraction */
        tmi_masses_set(&x, i, &mass, up);
    }
    tmi_ball_clear(&mass);
    return x;
}

static double mass_at(const tmi_masses *x, size_t i)
{
    tmi_ball mass;
    tmi_ball_init(&mass);
    tmi_masses_get(&mass, x, i);
    double z = tmi_ball_bound(&mass).upper;
    tmi_ball_clear(&mass);
    return z;
}

/* From above nothing is lost, from below nothing is added; windows move masses up, or leave them out. */
static void convolutions_round_in_one_direction(void **state)
{
    (void)state;
    for (int up = 0; up < 2; up++) {
        tmi_masses x = ramp(-1, 3, up), y = ramp(2, 2, up), z, cut;
        tmi_ball above, exact, mass;
        tmi_ball_init(&above);
        tmi_ball_init(&exact);
        tmi_ball_init(&mass);
        /* (1, 2, 3) * (1, 2) = (1, 4, 7, 6) at 1 ... 4, over 289 */
        static const int64_t expected[] = {1, 4, 7, 6};
        assert_int_equal(tmi_masses_convolve(&z, &above, &x, &y, -100, 100, up, NULL), TAMIS_OK);
        assert_true(z.first == 1 && z.count == 4 && tmi_ball_is_zero(&above));
        for (size_t i = 0; i < 4; i++) {
            tmi_ball_set_int(&exact, expected[i]);
            tmi_ball_div_int(&exact, &exact, 289, 512);
            tmi_masses_get(&mass, &z, i);
            assert_true(up ? tmi_ball_is_less(&exact, &mass) : tmi_ball_is_less(&mass, &exact));
            assert_true(fabs(mass_at(&z, i) - (double)expected[i] / 289) < 1e-15);
        }
        assert_int_equal(tmi_masses_convolve(&cut, &above, &x, &y, 2, 4, up, NULL), TAMIS_OK);
        assert_true(cut.first == 2 && cut.count == 2);
        assert_true(fabs(mass_at(&cut, 0) - (up ? 5. : 4.) / 289) < 1e-15 && fabs(mass_at(&cut, 1) - 7. / 289) < 1e-15);
        assert_true(fabs(tmi_ball_bound(&above).upper - 6. / 289) < 1e-15);
        tmi_masses_clear(&cut);
        /* a window beyond all masses */
        tmi_ball_set_int(&above, 0);
        assert_int_equal(tmi_masses_convolve(&cut, &above, &x, &y, 50, 60, up, NULL), TAMIS_OK);
        assert_true(fabs(mass_at(&cut, 0) - (up ? 18. : 6.) / 289) < 1e-15);
        tmi_masses *all[] = {&x, &y, &z, &cut};
        for (size_t i = 0; i < 4; i++) tmi_masses_clear(all[i]);
        tmi_ball_clear(&above);
        tmi_ball_clear(&exact);
        tmi_ball_clear(&mass);
    }
}

/* theta against its definition, on and off the real line. */
static void theta_is_its_sum(void **state)
{
    static const double variances[] = {0.1, 1, 6.25};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        tmi_complex w, z;
        tmi_ball v;
        tmi_complex_init(&w);
        tmi_complex_init(&z);
        tmi_ball_init(&v);
        tmi_ball_set_double(&w.re, 0.375);
        tmi_ball_set_double(&w.im, 0.5);
        tmi_ball_set_double(&v, variances[i]);
        tmi_complex_theta(&z, &w, &v, 128);
        double re = 0, im = 0, total = 0;
        for (int k = -40; k <= 40; k++) { /* exp(-(x + iy)^2/(2v)) */
            double x = k + 0.375, y = 0.5, size = exp((y * y - x * x) / (2 * variances[i]));
            re += size * cos(x * y / variances[i]);
            im -= size * sin(x * y / variances[i]);
            total += exp(-k * k / (2 * variances[i]));
        }
        assert_true(fabs(tmi_ball_bound(&z.re).upper - re / total) < 1e-12 * (1 + fabs(re / total)));
        assert_true(fabs(tmi_ball_bound(&z.im).upper - im / total) < 1e-12 * (1 + fabs(im / total)));
        tmi_complex_clear(&w);
        tmi_complex_clear(&z);
        tmi_ball_clear(&v);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convolutions_round_in_one_direction),
        cmocka_unit_test(theta_is_its_sum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
