/* The paper on the Horvitz-Thompson estimate: each claim in the form that holds; a claim that was printed otherwise is
 * tested where the two forms differ. docs/papers.md#ht.                                                            */
#include "test.h"

#include <stdio.h>

#include "mech/ht_designs.h"

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

/* eps(0) is finite where delta reaches 0: printed with "<", no eps would do. */
static void the_definition_allows_equality(void **state)
{
    tamis_ht_srs srs = {10, 2, 3, 7, TAMIS_NOISE_NONE, NULL};
    tamis_number *zero = number("0");
    tamis_bound eps;
    (void)state;
    assert_int_equal(tamis_ht_srs_epsilon(&eps, &srs, zero, NULL), TAMIS_OK);
    assert_about(eps, log(2));
    tamis_number_free(zero);
}

/* Results 1 and 2: values whose totals tell the sample apart; delta is p_i at every eps. */
static void the_labelled_sample_tells_with_probability_p(void **state)
{
    population p = population_of("1 10 100", "2 10 100");
    tamis_law *law = srs_law(3, 2);
    tamis_bound a, b;
    (void)state;
    static const char *const eps[] = {"0", "1", "10"};
    for (int i = 0; i < 3; i++) {
        pair_delta(&a, &b, law, &p, TAMIS_NOISE_NONE, NULL, eps[i]);
        assert_about(a, 2.0 / 3);
        assert_about(b, 2.0 / 3);
    }
    tamis_law_free(law);
    population_clear(&p);
}

/* Result 3: two values, one sample with the person; printed, eps would be infinite. Three samples are without: finite. */
static void samples_without_the_person_count(void **state)
{
    (void)state;
    assert_about(srs_pure(4, 1, 1, 3, TAMIS_NOISE_NONE, NULL), log(2));
}

/* Results 4 and 5: the sum over z gives p_i (1/3); eps is the logarithm of the ratio 2, not 2. */
static void delta_at_zero_and_the_ratio(void **state)
{
    population p = population_of("1 1 0", "1 0 0");
    tamis_law *law = srs_law(3, 1);
    tamis_bound a, b;
    (void)state;
    pair_delta(&a, &b, law, &p, TAMIS_NOISE_NONE, NULL, "0");
    assert_about(a, 1.0 / 3);
    assert_about(b, 1.0 / 3);
    assert_about(pair_pure(law, &p, TAMIS_NOISE_NONE, NULL), log(2));
    tamis_law_free(law);
    population_clear(&p);
}

/* Results 6 and 7: the largest ratio is at the point 7/5 (3.549), not at infinity (1.214) as the printed condition has it. */
static void the_largest_ratio_is_at_a_point(void **state)
{
    population p = population_of("1 1", "0 1");
    static const int64_t units[] = {0, 1};
    static const size_t sizes[] = {1, 1};
    tamis_number *probabilities[] = {number("5/7"), number("2/7")};
    tamis_law *law;
    (void)state;
    assert_int_equal(tamis_law_given(&law, 2, units, sizes, (const tamis_number *const *)probabilities, 2, NULL), TAMIS_OK);
    double at_point = (5 + 2 * exp(-2.1)) / (5 * exp(-1.4) + 2 * exp(-2.1));
    double at_infinity = (5 * exp(1.4) + 2 * exp(3.5)) / (5 + 2 * exp(3.5));
    assert_true(at_point > 3.5 && at_infinity < 1.3);
    assert_about(pair_pure(law, &p, TAMIS_NOISE_LAPLACE, "1"), log(at_point));
    tamis_number_free(probabilities[0]);
    tamis_number_free(probabilities[1]);
    tamis_law_free(law);
    population_clear(&p);
}

/* Result 8: supports are equal iff the smaller of N-1-t and t is at least n; the larger one is here. */
static void supports_need_the_minimum(void **state)
{
    (void)state;
    assert_true(srs_pure(5, 3, 1, 2, TAMIS_NOISE_NONE, NULL).lower == INFINITY);
    assert_about(srs_pure(7, 3, 3, 4, TAMIS_NOISE_NONE, NULL), log(4));
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
                        bool p = z <= t && n - z <= N - t, q = z <= t + 1 && n - z <= N - t - 1;
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

/* With noise the density of both laws matters on both supports: a sum over one of them would see no tail of the other. */
static void both_supports_count(void **state)
{
    population p = population_of("0", "1");
    tamis_law *law = srs_law(1, 1);
    tamis_bound a, b;
    (void)state;
    pair_delta(&a, &b, law, &p, TAMIS_NOISE_LAPLACE, "1", "0.5");
    assert_about(a, -expm1(-0.25));
    assert_about(b, -expm1(-0.25));
    tamis_law_free(law);
    population_clear(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_definition_allows_equality),
        cmocka_unit_test(the_labelled_sample_tells_with_probability_p),
        cmocka_unit_test(samples_without_the_person_count),
        cmocka_unit_test(delta_at_zero_and_the_ratio),
        cmocka_unit_test(the_largest_ratio_is_at_a_point),
        cmocka_unit_test(supports_need_the_minimum),
        cmocka_unit_test(pure_epsilon_on_every_window),
        cmocka_unit_test(the_limit_with_laplace_noise),
        cmocka_unit_test(gaussian_noise_changes_no_pure_epsilon),
        cmocka_unit_test(both_supports_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
