/* How noise is added, and its spread against the certified law of num/. */
#include "tests/test.h"

#include <math.h>
#include <tamis/experimental/rng.h>

#include "num/law/noise.h"
#include "num/number.h"
#include "rng/noise.h"

static const char *const scales[] = {"1/1000000", "1/10", "1/2", "1", "3/2", "10", "6400/3"};

/* The sum of k^2 P(k) for scales at which it is short, and P(0). */
static void spread_is_that_of_the_law(void **state)
{
    (void)state;
    for (size_t i = 1; i < 6; i++) {
        for (tmi_gaussian gaussian = TMI_NOT_GAUSSIAN; gaussian <= TMI_DISCRETE_GAUSSIAN; gaussian++) {
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

/* P(X >= k), and variances of sums of noises, against sums over the law: beyond the scale at which the sums become integrals
 * too. */
static void tails_and_sums_are_those_of_the_law(void **state)
{
    (void)state;
    static const double wide[] = {0.3, 0.8, 1, 3, 9.9, 10, 40};
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        for (tmi_gaussian gaussian = TMI_NOT_GAUSSIAN; gaussian <= TMI_DISCRETE_GAUSSIAN; gaussian++) {
            const double s = wide[i];
            const int end = (int)(60 * s) + 60;
            double whole = 0, variance = 0;
            for (int k = -end; k <= end; k++) {
                const double mass = gaussian ? exp(-(double)k * k / (2 * s * s)) : exp(-abs(k) / s);
                whole += mass;
                variance += (double)k * k * mass;
            }
            variance /= whole;
            const tmi_noise_part part = {1, s, gaussian, 1};
            for (int k = 1; k <= (int)(5 * s) + 2; k++) {
                double beyond = 0;
                for (int j = k; j <= end; j++) beyond += gaussian ? exp(-(double)j * j / (2 * s * s)) : exp(-j / s);
                beyond /= whole;
                const double found = tmi_noise_at_least(part, k);
                if (fabs(found - beyond) > 1e-4 * beyond + 1e-300)
                    fail_msg("scale %g, %d: %.12g, not %.12g", s, k, found, beyond);
            }
            assert_true(fabs(tmi_noise_part_variance(part) - variance) <= 1e-9 * variance);
            /* each scale and law by its own, also if the ones beside it have others; count and square of the factor multiply */
            const tmi_noise_part parts[] = {{1, s, gaussian, 1},
                                            {.factor = 2, .scale = s, .gaussian = gaussian, .count = 3},
                                            {1, 2, gaussian, 1},
                                            {2, 2, !gaussian, 0.5},
                                            {1, s, gaussian, 1}};
            double sum = 0;
            for (size_t k = 0; k < 5; k++) sum += tmi_noise_part_variance(parts[k]);
            assert_true(fabs(tmi_noise_part_variance(parts[1]) - 12 * variance) <= 1e-8 * variance);
            assert_true(fabs(tmi_noise_variance(parts, 5) - sum) <= 1e-12 * sum);
        }
    static const double levels[] = {0.5, 0.9, 0.95, 0.99},
                        margins[] = {0.674489750196, 1.644853626951, 1.959963984540, 2.575829303549};
    for (size_t i = 0; i < 4; i++) assert_true(fabs(tmi_normal_margin(levels[i]) - margins[i]) < 1e-10);
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
    const struct CMUnitTest group[] = {cmocka_unit_test(cutting_cannot_be_seen), cmocka_unit_test(spread_is_that_of_the_law),
                                       cmocka_unit_test(tails_and_sums_are_those_of_the_law)};
    return cmocka_run_group_tests(group, NULL, NULL);
}
