/* How noise is added, and its spread against the certified law of num/. */
#include "tests/test.h"

#include <math.h>
#include <tamis/rng.h>

#include "num/number.h"
#include "schedule/noise_law.h"

static const char *const scales[] = {"1/1000000", "1/10", "1/2", "1", "3/2", "10", "6400/3"};

/* The sum of k^2 P(k) for scales at which it is short, and P(0). */
static void spread_is_that_of_the_law(void **state)
{
    (void)state;
    for (size_t i = 1; i < 6; i++) {
        for (int gaussian = 0; gaussian <= 1; gaussian++) {
            tamis_number *scale = number(scales[i]);
            double variance = 0;
            tamis_bound p;
            for (int64_t k = 0; k <= 600; k++) {
                assert_int_equal(gaussian ? tamis_discrete_gaussian_mass(&p, scale, k, NULL)
                                          : tamis_discrete_laplace_mass(&p, scale, k, NULL),
                                 TAMIS_OK);
                variance += 2 * (double)(k * k) * p.upper;
                if (k == 0) assert_true(fabs(tmi_noise_zero(scale, gaussian) - p.upper) <= 1e-12 * p.upper);
            }
            double sd = tmi_noise_sd(scale, gaussian);
            assert_true(fabs(sd * sd - variance) <= 1e-9 * variance + 1e-15);
            tamis_number_free(scale);
        }
    }
    tamis_number *wide = number("1e6");
    assert_true(fabs(tmi_noise_sd(wide, false) - M_SQRT2 * 1e6) < 1e-3);
    tamis_number_free(wide);
}

/* The clamped sum with cut noise is the clamped sum with the noise itself, for every size of noise and every truth that
 * the bound allows; a truth beyond it counts as the bound. */
static void cutting_cannot_be_seen(void **state)
{
    (void)state;
    const tmi_int128 most = TAMIS_NOISE_MAX;
    static const int64_t bounds[] = {0, 1, 5, 1000, (INT64_C(1) << 61) - 1};
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        int64_t limit = TAMIS_NOISE_MAX - bounds[i], truths[] = {-bounds[i], 0, bounds[i]};
        for (size_t j = 0; j < 3; j++)
            for (int side = -1; side <= 1; side += 2)
                for (int64_t step = -3000; step <= 3000; step++) {
                    tmi_int128 x = side * (most + step), sum = truths[j] + x;
                    int64_t cut = (int64_t)(x > most ? most : x < -most ? -most : x);
                    tmi_int128 clamped = sum > limit ? limit : sum < -limit ? -limit : sum;
                    assert_true(tmi_add_noise(truths[j], cut, limit) == clamped);
                }
        assert_true(tmi_add_noise(bounds[i] + 7, 0, limit) == bounds[i]); /* more rows than declared */
        assert_true(tmi_add_noise(-bounds[i] - 7, TAMIS_NOISE_MAX, limit) == limit);
    }
    assert_true(tmi_add_noise(17, -20, 1000) == -3);
}

int main(void)
{
    const struct CMUnitTest group[] = {cmocka_unit_test(cutting_cannot_be_seen), cmocka_unit_test(spread_is_that_of_the_law)};
    return cmocka_run_group_tests(group, NULL, NULL);
}
