/* The beta law against closed forms and, for whole numbers, against sums of binomial probabilities. */
#include "tests/test.h"

#include <math.h>

#include "num/law/beta.h"

static void assert_near(double x, double expected, double width)
{
    if (!(fabs(x - expected) <= width * fabs(expected))) fail_msg("%.17g, expected %.17g", x, expected);
}

static void closed_forms(void **state)
{
    (void)state;
    static const double powers[] = {0.01, 0.5, 1, 2.5, 30, 4000};
    for (size_t i = 0; i < sizeof powers / sizeof *powers; i++)
        for (double x = 0.05; x < 1; x += 0.05) {
            assert_near(tmi_beta_share(x, powers[i], 1), pow(x, powers[i]), 1e-12);
            assert_near(tmi_beta_share(x, 1, powers[i]), -expm1(powers[i] * log1p(-x)), 1e-12);
        }
    assert_true(tmi_beta_share(0, 2, 3) == 0 && tmi_beta_share(1, 2, 3) == 1);
    for (double x = 0.05; x < 1; x += 0.05) /* the arcsine law */
        assert_near(tmi_beta_share(x, 0.5, 0.5), 2 / acos(-1) * asin(sqrt(x)), 1e-12);
}

/* P(at least k of n), by terms around the largest. */
static double at_least(int n, int k, double x)
{
    long double above = 0, all = 0, term = 1;
    const int mode = (int)(n * x);
    for (int i = mode; i <= n && term > 1e-40L; i++) {
        all += term;
        above += i >= k ? term : 0;
        term *= (long double)(n - i) / (i + 1) * ((long double)x / (1 - (long double)x));
    }
    term = 1;
    for (int i = mode - 1; i >= 0 && term > 1e-40L; i--) {
        term *= (long double)(i + 1) / (n - i) * ((1 - (long double)x) / (long double)x);
        all += term;
        above += i >= k ? term : 0;
    }
    return (double)(above / all);
}

static void agrees_with_the_binomial_law(void **state)
{
    (void)state;
    static const int sizes[] = {1, 2, 5, 17, 40, 300, 20000, 3000000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (double x = 0.03; x < 1; x += 0.19)
            for (int side = -3; side <= 3; side++) {
                const int n = sizes[i], k = (int)(n * x + side * sqrt(n * x * (1 - x)));
                if (k < 1 || k > n) continue;
                const double expected = at_least(n, k, x);
                if (expected > 1e-12) assert_near(tmi_beta_share(x, k, n - k + 1), expected, 1e-9);
            }
}

static void quantiles_invert(void **state)
{
    (void)state;
    static const double shapes[][2] = {{0.3, 2}, {1, 1}, {7.25, 33.5}, {1200.75, 800.5}, {250000.5, 1000.25}};
    static const double shares[] = {0.005, 0.025, 0.5, 0.975, 0.995};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (size_t j = 0; j < sizeof shares / sizeof *shares; j++)
            assert_near(tmi_beta_share(tmi_beta_quantile(shares[j], shapes[i][0], shapes[i][1]), shapes[i][0], shapes[i][1]),
                        shares[j], 1e-9);
    assert_true(tmi_beta_quantile(0.025, 0, 4) == 0 && tmi_beta_quantile(0.975, 4, 0) == 1);
}

int main(void)
{
    const struct CMUnitTest group[] = {
        cmocka_unit_test(closed_forms),
        cmocka_unit_test(agrees_with_the_binomial_law),
        cmocka_unit_test(quantiles_invert),
    };
    return cmocka_run_group_tests(group, NULL, NULL);
}
