/* What is normal with a mu: rounded noise, pure losses, and adaptive sums; and what is not. Everything is enumerated in
 * doubles. */
#include "tests/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tamis/experimental/profile.h>

#include "composition/mu.h"
#include "num/number.h"
#include "tests/base/memory_that_fails.h"

static double up(const char *text, tamis_status (*f)(tamis_number **, const tamis_number *, tamis_error *))
{
    tamis_number *x = number(text), *y;
    assert_int_equal(f(&y, x, NULL), TAMIS_OK);
    const double value = tmi_number_nearest(y);
    tamis_number_free(x);
    tamis_number_free(y);
    return value;
}

static double at_least(double x) { return erfc(x * M_SQRT1_2) / 2; }

/* delta of the normal mechanism at any eps, also below 0. */
static double normal_delta(double mu, double eps)
{
    if (mu <= 0) return fmax(-expm1(eps), 0);
    return at_least(eps / mu - mu / 2) - exp(eps) * at_least(eps / mu + mu / 2);
}

static double pure_delta(double own, double eps)
{
    if (eps >= own) return 0;
    if (eps <= -own) return -expm1(eps);
    return (exp(own) - exp(eps)) / (1 + exp(own));
}

/* ---- pure losses ---- */

static const char *const losses[] = {"1e-9", "0.99e-5", "1.01e-5", "1/1000", "0.01", "0.1", "1/2",
                                     "1",    "2",       "4",       "8",      "20",   "300"};

/* The delta of randomized response is at most that of the normal mechanism at every eps, which says the same as the trade-offs;
 * and a mu that is a little smaller does not do. */
static void pure_losses(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++) {
        tamis_number *x = number(losses[i]);
        const double eps = tmi_number_nearest(x), mu = sqrt(up(losses[i], tmi_mu_squared_of_pure_up));
        assert_true(mu <= eps * sqrt(M_PI / 2) * (1 + 1e-9) && mu * mu <= 8 * eps * (1 + 1e-9));
        bool tight = false;
        for (int k = -200; eps >= 0.01 && eps <= 20 && k <= 200; k++) {
            const double e = eps * k / 200;
            assert_true(pure_delta(eps, e) <= normal_delta(mu, e) + 1e-14);
            tight = tight || pure_delta(eps, e) > normal_delta(mu * (1 - 1e-3), e);
        }
        assert_true(tight || eps < 0.01 || eps > 20);
        tamis_number_free(x);
    }
    assert_true(fabs(up("1", tmi_mu_squared_of_pure_up) - pow(2 * 0.6160176927, 2)) < 1e-8); /* Phi(0.616...) = e / (1 + e) */
    assert_true(up("0", tmi_mu_squared_of_pure_up) == 0 && up("1e-1000", tmi_mu_squared_of_pure_up) > 0);
    assert_true(fabs(up("1e-9", tmi_mu_squared_of_pure_up) / (M_PI / 2 * 1e-18) - 1) < 1e-8);
}

/* Discrete Laplace noise on several numbers that move by shifts[j]: all losses by enumeration, the product of their laws. */
#define GRID 4000

/* The law of the sum of losses, in units of 1/(8 scale); losses of a shift d are between -d and d over the scale, by steps of
 * 2. */
static double laplace_delta(const int *shifts, size_t count, double scale, double eps)
{
    static double law[2 * GRID + 1], next[2 * GRID + 1];
    const double p = exp(-1 / scale);
    int reach = 0;
    double delta = 0;
    memset(law, 0, sizeof law);
    law[GRID] = 1;
    for (size_t j = 0; j < count; j++) {
        const int d = shifts[j];
        memset(next, 0, sizeof next);
        for (int k = -60; k <= 60; k++) { /* the answer, whose truth is 0 or d */
            const int loss = abs(k - d) - abs(k);
            const double mass = (1 - p) / (1 + p) * pow(p, abs(k));
            for (int r = -reach; r <= reach; r++) next[GRID + r + loss] += mass * law[GRID + r];
        }
        reach += d;
        memcpy(law, next, sizeof law);
    }
    for (int r = -reach; r <= reach; r++) delta += law[GRID + r] * fmax(-expm1(eps - r / scale), 0);
    return delta;
}

static void laplace_noise(void **state)
{
    static const int moves[][4] = {{1}, {1, 1}, {2}, {3, 1}, {1, 1, 1, 1}, {5, 2, 2}, {7}};
    static const char *const scales[] = {"1/2", "1", "2", "5"};
    (void)state;
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++) {
        for (size_t j = 0; j < sizeof scales / sizeof *scales; j++) {
            tamis_number *scale = number(scales[j]), *squares, *mu_squared;
            int l1 = 0, l2 = 0;
            for (size_t k = 0; k < 4; k++) l1 += moves[i][k], l2 += moves[i][k] * moves[i][k];
            assert_int_equal(tmi_number_ratio(&squares, l2, 1, NULL), TAMIS_OK);
            assert_int_equal(tmi_mu_squared_of_discrete_laplace_up(&mu_squared, scale, l1, squares, NULL), TAMIS_OK);
            const double mu = sqrt(tmi_number_nearest(mu_squared)), s = tmi_number_nearest(scale);
            assert_true(fabs(mu * mu / (M_PI / 2 * l2 / (s * s)) - 1) < 1e-8);
            for (int k = -20; k <= 20; k++) {
                const double eps = l1 / s * k / 20;
                assert_true(laplace_delta(moves[i], 4, s, eps) <= normal_delta(mu, eps) + 1e-12);
            }
            tamis_number_free(scale);
            tamis_number_free(squares);
            tamis_number_free(mu_squared);
        }
    }
}

/* ---- rounded noise ---- */

typedef struct answers {
    int first, count;
    double p[400], q[400]; /* of the answer without and with the change */
} answers;

/* One integer with noise that moves by d. `discrete`: the discrete Gaussian. */
static answers of_noise(double scale, int d, bool discrete)
{
    answers a = {.first = -(int)ceil(9 * scale) - 2};
    double total = 0;
    a.count = d - 2 * a.first;
    assert_true(a.count <= 400);
    for (int k = -400; k <= 400; k++) total += exp(-k * k / (2 * scale * scale));
    for (int i = 0; i < a.count; i++) {
        const int k = a.first + i;
        for (int side = 0; side < 2; side++) {
            const double x = k - side * d;
            (side ? a.q : a.p)[i] = discrete ? exp(-x * x / (2 * scale * scale)) / total
                                             : at_least((fabs(x) - 0.5) / scale) - at_least((fabs(x) + 0.5) / scale);
        }
    }
    return a;
}

/* delta of n numbers that move by d each. */
static double several(const answers *a, int n, double eps)
{
    if (n == 0) return fmax(-expm1(eps), 0);
    double sum = 0;
    for (int i = 0; i < a->count; i++)
        if (a->q[i] > 1e-18) sum += a->q[i] * (a->p[i] > 0 ? several(a, n - 1, eps - log(a->q[i] / a->p[i])) : 1);
    return sum;
}

static double profile_delta(tamis_profile *profile, const char *eps)
{
    tamis_bound delta;
    tamis_number *e = number(eps);
    assert_int_equal(tamis_profile_delta(&delta, profile, e, NULL), TAMIS_OK);
    tamis_number_free(e);
    tamis_profile_free(profile);
    return delta.upper;
}

/* Rounded noise on two numbers loses no more than the normal mechanism; the discrete Gaussian does, and more so the smaller its
 * scale: 1.03 times the delta at scale 5, 1.27 at 1.5, 2.3 at 1/2. */
static void rounded_noise(void **state)
{
    static const struct {
        double scale;
        const char *mu_squared, *eps;
    } cases[] = {{0.5, "8", "4"},   {0.5, "8", "8"}, {1.5, "8/9", "1"},  {1.5, "8/9", "2"},
                 {3, "2/9", "1/2"}, {3, "2/9", "1"}, {5, "2/25", "1/4"}, {5, "2/25", "1/2"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis_number *mu_squared = number(cases[i].mu_squared), *eps = number(cases[i].eps);
        tamis_profile *profile;
        assert_int_equal(tamis_profile_normal(&profile, mu_squared, NULL), TAMIS_OK);
        const double normal = profile_delta(profile, cases[i].eps), e = tmi_number_nearest(eps);
        assert_true(fabs(normal / normal_delta(sqrt(tmi_number_nearest(mu_squared)), e) - 1) < 1e-6);
        const answers rounded = of_noise(cases[i].scale, 1, false);
        assert_true(several(&rounded, 2, e) <= normal * (1 + 1e-9));
        tamis_number_free(mu_squared);
        tamis_number_free(eps);
    }
    static const struct {
        double scale, times;
    } worse[] = {{5, 1.02}, {3, 1.05}, {1.5, 1.2}, {0.5, 2}};
    for (size_t i = 0; i < sizeof worse / sizeof *worse; i++) {
        const answers discrete = of_noise(worse[i].scale, 1, true);
        double most = 0;
        for (int k = 1; k <= 60; k++) {
            const double eps = 4.0 * k / 60 / worse[i].scale;
            most = fmax(most, several(&discrete, 1, eps) / normal_delta(1 / worse[i].scale, eps));
        }
        assert_true(most > worse[i].times);
    }
}

/* ---- adaptive sums ---- */

/* What comes second, after an answer: rounded noise with all that is left of mu^2, a pure mechanism that costs it, nothing;
 * whichever is worst at that moment; or the continuous normal mechanism itself. */
static double worst_second(double left, double eps)
{
    double worst = fmax(-expm1(eps), 0);
    for (int d = 1; d <= 3; d++) { /* moves of a count: scale = d / mu */
        const double scale = d / sqrt(left);
        if (scale > 20 || scale < 0.3) continue;
        const answers a = of_noise(scale, d, false);
        worst = fmax(worst, several(&a, 1, eps));
    }
    double low = 0, high = 50;
    for (int i = 0; i < 60; i++) { /* the largest epsilon that mu^2 pays for */
        const double middle = (low + high) / 2;
        if (at_least(sqrt(left) / 2) <= 1 / (1 + exp(middle))) low = middle;
        else high = middle;
    }
    return fmax(fmax(worst, pure_delta(low, eps)), normal_delta(sqrt(left), eps));
}

/* After every answer of the first release the worst second one is taken, as somebody may who sees it. delta stays below that of
 * the normal mechanism with the whole mu^2. */
static void sums_of_mu_hold_whatever_follows(void **state)
{
    static const double wholes[] = {0.3, 1, 2.5}, firsts[] = {0.2, 0.5, 0.8}, at[] = {0.3, 1, 2, 3};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        for (size_t j = 0; j < 3; j++) {
            const double mu = sqrt(wholes[i] * firsts[j]), left = wholes[i] * (1 - firsts[j]);
            for (int d = 1; d <= 2; d++) {
                if (d / mu > 20) continue;
                const answers first = of_noise(d / mu, d, false);
                for (size_t k = 0; k < 4; k++) {
                    double sum = 0;
                    for (int a = 0; a < first.count; a++)
                        if (first.q[a] > 1e-18)
                            sum += first.q[a] * (first.p[a] > 0 ? worst_second(left, at[k] - log(first.q[a] / first.p[a])) : 1);
                    assert_true(sum <= normal_delta(sqrt(wholes[i]), at[k]) + 1e-12);
                }
            }
        }
    }
}

/* What is not allowed. Randomized response of epsilon has rho = epsilon tanh(epsilon/2), but not mu^2 = 2 rho: its delta at
 * half of epsilon is larger than that of such a normal mechanism. And squares add up, not mu: two releases have mu sqrt(2), not
 * mu. */
static void a_rho_is_no_mu(void **state)
{
    const double eps = 1, mu = sqrt(2 * eps * tanh(eps / 2));
    (void)state;
    assert_true(pure_delta(eps, 0.5) > 1.2 * normal_delta(mu, 0.5));
    const answers a = of_noise(2, 1, false);
    assert_true(several(&a, 2, 1) > 1.5 * normal_delta(0.5, 1) && several(&a, 2, 1) <= normal_delta(0.5 * M_SQRT2, 1));
}

static void allocations_fail(void **state)
{
    tamis_number *x = number("1/3"), *y = (tamis_number *)&x;
    tamis_profile *profile = (tamis_profile *)&x;
    tamis_error err;
    (void)state;
    EVERY_ALLOCATION_FAILS(tmi_mu_squared_of_pure_up(&y, x, NULL), assert_null(y));
    tamis_number_free(y);
    EVERY_ALLOCATION_FAILS(tmi_mu_squared_of_discrete_laplace_up(&y, x, 2, x, NULL), assert_null(y));
    tamis_number_free(y);
    EVERY_ALLOCATION_FAILS(tamis_profile_normal(&profile, x, NULL), assert_null(profile));
    tamis_profile_free(profile);
    assert_int_equal(tamis_profile_normal(NULL, x, &err), TAMIS_INVALID);
    assert_int_equal(tamis_profile_normal(&profile, NULL, &err), TAMIS_INVALID);
    tamis_number_free(x);
    x = number("-1");
    assert_int_equal(tamis_profile_normal(&profile, x, &err), TAMIS_INVALID);
    tamis_number_free(x);
    x = number("1000000000001");
    assert_int_equal(tamis_profile_normal(&profile, x, &err), TAMIS_INVALID);
    tamis_number_free(x);
    x = number("0");
    assert_int_equal(tamis_profile_normal(&profile, x, &err), TAMIS_OK);
    assert_true(profile_delta(profile, "0") == 0);
    tamis_number_free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pure_losses),    cmocka_unit_test(laplace_noise),
        cmocka_unit_test(rounded_noise),  cmocka_unit_test(sums_of_mu_hold_whatever_follows),
        cmocka_unit_test(a_rho_is_no_mu), cmocka_unit_test(allocations_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
