/* Reach and spread of the noise against the certified law of num/. */
#include "test.h"

#include <math.h>
#include <tamis/rng.h>

#include "num/number.h"
#include "release/noise_law.h"

static const char *const scales[] = {"1/1000000", "1/10", "1/2", "1", "3/2", "10", "6400/3", "1e6", "36028797018963968"};

static tamis_number *number(const char *text)
{
    tamis_number *x;
    assert_int_equal(tamis_number_read(&x, text, NULL), TAMIS_OK);
    return x;
}

/* P(|X| > k) = 2 P(X >= k + 1) */
static tamis_bound two_tails(const tamis_number *scale, int64_t k)
{
    tamis_bound p;
    assert_int_equal(tamis_discrete_laplace_at_least(&p, scale, k + 1, NULL), TAMIS_OK);
    return (tamis_bound){2 * p.lower, 2 * p.upper};
}

static void reach_is_the_smallest(void **state)
{
    (void)state;
    static const char *const levels[] = {"1e-9", "0.025", "0.05", "1/3", "0.9", "0.999"};
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        for (size_t j = 0; j < sizeof levels / sizeof *levels; j++) {
            tamis_number *scale = number(scales[i]), *alpha = number(levels[j]);
            int64_t k;
            assert_int_equal(tmi_noise_reach(&k, scale, alpha, NULL), TAMIS_OK);
            assert_true(k >= 0 && k < INT64_C(1) << 60);
            double level = tmi_number_nearest(alpha), slack = 1 + 1e-10;
            assert_true(two_tails(scale, k).upper <= level * slack);
            /* beyond 10^12 the 1e-12 of the enclosure is more than one integer */
            int64_t less = k - 1 - k / 100000000000;
            if (k > 0) assert_true(two_tails(scale, less).lower > level / slack);
            tamis_number_free(scale);
            tamis_number_free(alpha);
        }
    }
}

/* The sum of k^2 P(k) for scales at which it is short. */
static void spread_is_that_of_the_law(void **state)
{
    (void)state;
    for (size_t i = 1; i < 6; i++) {
        tamis_number *scale = number(scales[i]);
        double variance = 0;
        for (int64_t k = 1; k <= 600; k++) {
            tamis_bound p;
            assert_int_equal(tamis_discrete_laplace_mass(&p, scale, k, NULL), TAMIS_OK);
            variance += 2 * (double)(k * k) * p.upper;
        }
        double sd = tmi_noise_sd(scale);
        assert_true(fabs(sd * sd - variance) <= 1e-10 * variance);
        tamis_number_free(scale);
    }
    tamis_number *wide = number("1e6");
    assert_true(fabs(tmi_noise_sd(wide) - M_SQRT2 * 1e6) < 1e-3);
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
    const struct CMUnitTest group[] = {cmocka_unit_test(cutting_cannot_be_seen), cmocka_unit_test(reach_is_the_smallest), cmocka_unit_test(spread_is_that_of_the_law)};
    return cmocka_run_group_tests(group, NULL, NULL);
}
