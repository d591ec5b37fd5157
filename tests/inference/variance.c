/* Variances from released numbers against their definitions, enumerated where that is possible. */
#include "tests/test.h"

#include <math.h>

#include "inference/interval/variance.h"
#include "num/law/noise.h"

static void near(double x, double y) { assert_true(fabs(x - y) <= 1e-12 * fabs(y)); }

static void a_limit_stays_within_the_range(void **state)
{
    (void)state;
    static const struct {
        double estimate, margin, bound, value;
        bool from_range;
    } cases[] = {{-3, 2, 9, 2, false}, {NAN, 2, 9, 2, false},      {4, 2, 9, 6, false},  {4, 5, 9, 9, true},
                 {40, 0, 9, 9, true},  {4, 0, INFINITY, 4, false}, {-4, 0, 9, 0, false}, {0, 0, 0, 0, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tmi_variance v = tmi_variance_limit(cases[i].estimate, cases[i].margin, cases[i].bound);
        assert_true(v.value == cases[i].value && v.from_range == cases[i].from_range);
    }
}

/* The chance that se Z + noise stays within z sqrt(V_used + N), N the variance of the noise, averaged over the noise of the
 * estimated variance, whose standard deviation is 1: normal, or Laplace. */
static double coverage(double confidence, double V, double N, bool gaussian)
{
    enum { STEPS = 2000 };
    double margin = tmi_variance_margin(confidence), z = 3 * margin, sum = 0, weights = 0;
    for (int i = 0; i < STEPS; i++) {
        double noise = 20 * ((i + 0.5) / STEPS - 0.5), weight = gaussian ? exp(-noise * noise / 2) : exp(-fabs(noise) * M_SQRT2);
        double used = tmi_variance_limit(V + noise, margin, INFINITY).value;
        sum += weight * erf(z * sqrt((used + N) / (V + N)) * M_SQRT1_2);
        weights += weight;
    }
    return sum / weights;
}

static void intervals_cover_whatever_the_variance(void **state)
{
    (void)state;
    static const double confidences[] = {0.5, 0.8, 0.9, 0.95, 0.99}, noises[] = {0, 0.1, 0.5, 1, 3};
    near(3 * tmi_variance_margin(0.95), 1.959963984540054);
    for (int i = 0; i < 50; i++) { /* worst: a deficit of at most 0.0003 */
        double confidence = confidences[i / 10], N = noises[i / 2 % 5], worst = 1;
        for (double V = 0.01; V < 100; V *= 1.2) worst = fmin(worst, coverage(confidence, V, N, i % 2));
        assert_true(worst >= confidence - 0.0003);
    }
    double small = 0, large = 0; /* and without the margin they would not: 0.55 where the variance is a tenth of its noise */
    for (int i = 0; i < 2000; i++) {
        double noise = 20 * ((i + 0.5) / 2000 - 0.5), weight = exp(-fabs(noise) * M_SQRT2);
        small += weight * erf(1.96 * sqrt(tmi_variance_limit(0.1 + noise, 0, INFINITY).value / 0.1) * M_SQRT1_2);
        large += weight;
    }
    assert_true(small / large < 0.6);
}

/* The polynomial is the variance of a^2 X + 2 a b Y - 3 b^2 Y + (a - b)^2 Z. */
static void the_noise_of_a_form_is_a_polynomial(void **state)
{
    (void)state;
    tmi_form_noise noise = {{0}};
    tmi_form_noise_add(&noise, 1, 0, 0, 5);
    tmi_form_noise_add(&noise, 0, 2, -3, 7);
    tmi_form_noise_add(&noise, 1, -2, 1, 11);
    static const double at[][2] = {{1, 0}, {0, 1}, {1, 1}, {2, -3}, {0, 0}, {-0.5, 4}};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        double a = at[i][0], b = at[i][1], y = 2 * a * b - 3 * b * b, z = (a - b) * (a - b);
        assert_true(fabs(tmi_form_noise_sd(&noise, a, b) - sqrt(5 * a * a * a * a + 7 * y * y + 11 * z * z)) <
                    1e-12 * (1 + 99 * b * b));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_limit_stays_within_the_range),
        cmocka_unit_test(intervals_cover_whatever_the_variance),
        cmocka_unit_test(the_noise_of_a_form_is_a_polynomial),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
