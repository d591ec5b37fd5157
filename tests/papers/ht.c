/* The paper on the Horvitz-Thompson estimate, simple random samples of 0/1 values: the definitions, Results 8 and 9. Where
 * the print is wrong it is computed too, and must differ. Other designs: ht_designs.c. docs/papers.md#ht.           */
#include "tests/test.h"

#include <stdio.h>

#include "tests/ht/designs.h"

static void assert_about(tamis_bound b, double x)
{
    assert_true(b.lower <= x * (1 + 1e-12) && b.upper >= x * (1 - 1e-12) && b.upper - b.lower <= 1e-9 * b.upper);
}

static tamis_bound srs_pure(int64_t N, int64_t n, int64_t low, int64_t high, tamis_noise_kind noise, const char *scale)
{
    tamis_number *s = scale ? number(scale) : NULL;
    tamis_ht_srs srs = {N, n, low, high, noise, s};
    tamis_bound eps;
    assert_int_equal(tamis_ht_srs_pure(&eps, &srs, NULL), TAMIS_OK);
    tamis_number_free(s);
    return eps;
}

static tamis_bound srs_epsilon(const tamis_ht_srs *srs, const char *delta)
{
    tamis_number *d = number(delta);
    tamis_bound eps;
    assert_int_equal(tamis_ht_srs_epsilon(&eps, srs, d, NULL), TAMIS_OK);
    tamis_number_free(d);
    return eps;
}

/* The smallest eps with delta(eps) <= 0 is log 2. Printed with "<" no eps would do: delta is 0 there, never less. */
static void the_definition_allows_equality(void **state)
{
    tamis_ht_srs srs = {10, 2, 3, 7, TAMIS_NOISE_NONE, NULL};
    static const char *const eps[] = {"0.6", "0.69315", "1", "10", "1000"};
    (void)state;
    assert_about(srs_epsilon(&srs, "0"), log(2));
    for (int i = 0; i < 5; i++) {
        tamis_number *e = number(eps[i]);
        tamis_bound delta;
        assert_int_equal(tamis_ht_srs_delta(&delta, NULL, &srs, e, NULL), TAMIS_OK);
        if (i == 0) assert_true(delta.lower > 0);
        else assert_true(delta.lower == 0 && delta.upper == 0);
        tamis_number_free(e);
    }
}

/* P_t(z), t ones among 10 people of whom 2 are drawn, times 45. */
static int pairs_with(int t, int z) { return z == 0 ? (10 - t) * (9 - t) / 2 : z == 1 ? t * (10 - t) : t * (t - 1) / 2; }

/* Over all real eps, as printed, the infimum is negative as soon as delta(0) < delta: log(1/2) is allowed for delta = 3/4,
 * which means nothing. The smallest eps >= 0 is 0. */
static void epsilon_is_not_negative(void **state)
{
    tamis_ht_srs srs = {10, 2, 3, 7, TAMIS_NOISE_NONE, NULL};
    double most = 0;
    (void)state;
    for (int t = 3; t < 7; t++)
        for (int order = 0; order < 2; order++) {
            double delta = 0;
            for (int z = 0; z <= 2; z++) delta += fmax(0, pairs_with(t + order, z) - 0.5 * pairs_with(t + 1 - order, z)) / 45;
            most = fmax(most, delta);
        }
    assert_true(most < 0.75);
    tamis_bound eps = srs_epsilon(&srs, "3/4");
    assert_true(eps.lower == 0 && eps.upper == 0);
}

static int64_t binomial(int n, int k)
{
    int64_t c = k >= 0 && k <= n;
    for (int i = 1; c && i <= k; i++) c = c * (n - k + i) / i;
    return c;
}

/* z ones in a sample of n, t in the population. */
static bool possible(int N, int n, int t, int z) { return binomial(t, z) * binomial(N - t, n - z) > 0; }

/* Result 8: the supports under t and t+1 ones are equal iff the smaller of N-1-t and t is at least n; printed is the
 * larger. */
static void supports_need_the_minimum(void **state)
{
    int printed_wrong = 0;
    (void)state;
    for (int N = 1; N <= 12; N++)
        for (int n = 1; n <= N; n++)
            for (int t = 0; t < N; t++) {
                bool equal = true;
                for (int z = 0; z <= n; z++) equal = equal && possible(N, n, t, z) == possible(N, n, t + 1, z);
                int a = N - 1 - t, smaller = a < t ? a : t, larger = a < t ? t : a;
                assert_true(equal == (smaller >= n));
                printed_wrong += equal != (larger >= n);
            }
    assert_true(printed_wrong > 0);
    assert_true(srs_pure(5, 3, 1, 2, TAMIS_NOISE_NONE, NULL).lower == INFINITY);
    assert_about(srs_pure(7, 3, 3, 4, TAMIS_NOISE_NONE, NULL), log(4));
}

/* The ratio P_t(z)/P_{t+1}(z) = (t+1-z)(N-t) / ((t+1)(N-t-n+z)), strictly decreasing in z; in integers. */
static void the_ratio_in_closed_form(void **state)
{
    (void)state;
    for (int N = 1; N <= 12; N++)
        for (int n = 1; n <= N; n++)
            for (int t = 0; t < N; t++)
                for (int z = 0; z <= n; z++) {
                    int64_t here = binomial(t, z) * binomial(N - t, n - z);
                    int64_t there = binomial(t + 1, z) * binomial(N - t - 1, n - z);
                    int64_t above = (t + 1 - z) * (N - t), below = (t + 1) * (N - t - n + z);
                    if (here == 0 || there == 0) continue;
                    assert_true(here * below == there * above);
                    assert_true(above * (below + t + 1) > (above - (N - t)) * below); /* against z+1 */
                }
}

/* Result 9 on all windows of a small population, against the largest ratio of the closed form in Result 8. */
static void pure_epsilon_on_every_window(void **state)
{
    enum { N = 9 };
    (void)state;
    for (int n = 1; n <= N; n++) {
        for (int low = 0; low < N; low++) {
            for (int high = low + 1; high <= N; high++) {
                double most = 0;
                for (int t = low; t < high; t++) {
                    for (int z = 0; z <= n; z++) {
                        int here = (t + 1 - z) * (N - t), there = (t + 1) * (N - t - n + z);
                        bool p = possible(N, n, t, z), q = possible(N, n, t + 1, z);
                        if (!p && !q) continue;
                        most = p && q ? fmax(most, fmax((double)here / there, (double)there / here)) : INFINITY;
                        if (most == INFINITY) break;
                    }
                    if (most == INFINITY) break;
                }
                tamis_bound eps = srs_pure(N, n, low, high, TAMIS_NOISE_NONE, NULL);
                if (most == INFINITY) assert_true(eps.lower == INFINITY);
                else assert_about(eps, log(most));
            }
        }
    }
}

/* The limit of the ratio at infinity with Laplace noise, right way up: the two roads agree. */
static void the_limit_with_laplace_noise(void **state)
{
    population p = population_of("1 1 1 0 0 0", "1 1 0 0 0 0");
    (void)state;
    for (int n = 1; n < 6; n++) {
        tamis_law *law = srs_law(6, n);
        population back = {.count = p.count};
        for (int i = 0; i < p.count; i++) {
            back.x[i] = p.x_prime[i];
            back.x_prime[i] = p.x[i];
        }
        tamis_bound a = pair_pure(law, &p, TAMIS_NOISE_LAPLACE, "3"), b = pair_pure(law, &back, TAMIS_NOISE_LAPLACE, "3");
        tamis_bound srs = srs_pure(6, n, 2, 3, TAMIS_NOISE_LAPLACE, "3");
        assert_true(fmax(a.lower, b.lower) <= srs.upper && srs.lower <= fmax(a.upper, b.upper) && srs.lower > 0);
        tamis_law_free(law);
    }
    population_clear(&p);
}

/* Gaussian noise leaves the pure eps as it is. */
static void gaussian_noise_changes_no_pure_epsilon(void **state)
{
    (void)state;
    assert_about(srs_pure(10, 2, 3, 7, TAMIS_NOISE_GAUSSIAN, "1000"), log(2));
    assert_true(srs_pure(10, 2, 1, 7, TAMIS_NOISE_GAUSSIAN, "1000").lower == INFINITY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_definition_allows_equality),
        cmocka_unit_test(epsilon_is_not_negative),
        cmocka_unit_test(supports_need_the_minimum),
        cmocka_unit_test(the_ratio_in_closed_form),
        cmocka_unit_test(pure_epsilon_on_every_window),
        cmocka_unit_test(the_limit_with_laplace_noise),
        cmocka_unit_test(gaussian_noise_changes_no_pure_epsilon),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
