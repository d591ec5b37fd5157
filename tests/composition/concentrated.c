/* The rho of pure losses against Renyi divergences that are summed, over many orders, pairs of distributions and shifts. */
#include "tests/test.h"

#include <math.h>
#include <tamis/experimental/profile.h>

#include "composition/concentrated.h"
#include "num/number.h"
#include "tests/base/memory_that_fails.h"

static const double orders[] = {1.0001, 1.01, 1.1, 1.3, 1.7, 2, 2.5, 3, 4, 6, 10, 20, 50, 200};
#define ORDERS (sizeof orders / sizeof *orders)
#define SLACK 1e-11 /* of sums in long doubles */

static double taken(tamis_number *rho)
{
    const double value = tmi_number_nearest(rho);
    tamis_number_free(rho);
    return value;
}

static double pure(const char *eps)
{
    tamis_number *e = number(eps), *rho;
    assert_int_equal(tmi_rho_of_pure_up(&rho, e, NULL), TAMIS_OK);
    tamis_number_free(e);
    return taken(rho);
}

static double selections(const char *eps, int64_t count)
{
    tamis_number *e = number(eps), *rho;
    assert_int_equal(tmi_rho_of_selections_up(&rho, e, count, NULL), TAMIS_OK);
    tamis_number_free(e);
    return taken(rho);
}

static double laplace(const char *scale, int64_t l1, const char *squares)
{
    tamis_number *s = number(scale), *b = number(squares), *rho;
    assert_int_equal(tmi_rho_of_discrete_laplace_up(&rho, s, l1, b, NULL), TAMIS_OK);
    tamis_number_free(s);
    tamis_number_free(b);
    return taken(rho);
}

/* The largest D_alpha / alpha of two distributions over the orders, with that of order 1. */
static double worst(const long double *p, const long double *q, size_t count)
{
    long double first = 0, most;
    for (size_t i = 0; i < count; i++) first += p[i] * logl(p[i] / q[i]);
    most = first;
    for (size_t a = 0; a < ORDERS; a++) {
        long double sum = 0, top = -INFINITY;
        for (size_t i = 0; i < count; i++) {
            const long double x = orders[a] * logl(p[i]) + (1 - orders[a]) * logl(q[i]);
            if (x > top) top = x;
        }
        for (size_t i = 0; i < count; i++) sum += expl(orders[a] * logl(p[i]) + (1 - orders[a]) * logl(q[i]) - top);
        const long double d = (top + logl(sum)) / ((long double)orders[a] - 1) / orders[a];
        if (d > most) most = d;
    }
    return (double)most;
}

/* 4 ln cosh(eps/4), also where eps is small: cosh(x) = 1 + 2 sinh(x/2)^2. */
static double log_cosh(double eps) { return 4 * log1p(2 * sinh(eps / 8) * sinh(eps / 8)); }

/* Known values, rounded up: the table of the theory. */
static void known_values(void **state)
{
    (void)state;
    static const struct {
        const char *eps;
        double value;
    } cases[] = {{"1/2", .5}, {"1", 1}, {"2", 2}, {"1/1000", .001}, {"30", 30}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double e = cases[i].value, any = e * tanh(e / 2), range = log_cosh(e);
        const double found = pure(cases[i].eps), selected = selections(cases[i].eps, 1);
        if (!(found >= any * (1 - 1e-15) && found <= any * (1 + 1e-8))) fail_msg("any, %g: %.17g", e, found);
        if (!(selected >= range * (1 - 1e-9) && selected <= range * (1 + 1e-8))) fail_msg("range, %g: %.17g", e, selected);
        assert_true(found <= e * e / 2 && selected <= e * e / 8 * (1 + 1e-8));
        for (int64_t m = 1; m < 6; m++) { /* m ranges of epsilon / m */
            const double several = (double)m * log_cosh(e / (double)m);
            assert_true(fabs(selections(cases[i].eps, m) / several - 1) < 1e-8);
        }
    }
    assert_true(fabs(pure("1") - .46211716) < 1e-7 && fabs(selections("2", 1) - .4805) < 1e-4);
    /* one step of scale 1: randomized response; many steps of a wide scale: the continuous law, epsilon + e^-epsilon - 1 */
    assert_true(fabs(laplace("1", 1, "1") - tanh(.5)) < 1e-8);
    assert_true(fabs(laplace("1000000", 1000000, "1000000000000") - exp(-1)) < 1e-6);
    /* a table of counts at epsilon 1: two cells by one step each, with half of it */
    assert_true(fabs(laplace("2", 2, "2") - tanh(.25)) < 1e-8);
    assert_true(pure("1000000") == 1e6); /* a rounded product would be above the largest epsilon */
    assert_true(pure("0") == 0 && selections("0", 3) == 0 && laplace("2", 0, "4") == 0 && laplace("2", 3, "0") == 0);
}

/* Random pairs whose losses lie in [-eps, eps], or in a range of eps: randomized response and two values are among them. */
static void pairs_of_bounded_losses(void **state)
{
    static const char *const epsilons[] = {"1/10", "1/2", "1", "2", "4", "8"};
    uint64_t stream = 1;
    double nearest_any = 0, nearest_range = 0;
    (void)state;
    for (size_t i = 0; i < sizeof epsilons / sizeof *epsilons; i++) {
        const double eps = strtod(epsilons[i], NULL) / (epsilons[i][1] == '/' ? strtod(epsilons[i] + 2, NULL) : 1);
        const double any = pure(epsilons[i]), range = selections(epsilons[i], 1);
        for (int k = 0; k < test_size(400, 4000); k++) {
            const size_t count = k % 4 == 0 ? 2 : 3 + (size_t)(k % 4);
            long double p[8], q[8], base[8], loss[8], all = 0, tilted = 0;
            for (size_t j = 0; j < count; j++) {
                base[j] = expl(-8 * (long double)next_number(&stream) / 2147483648.0L);
                all += base[j];
                loss[j] = j == 0 ? 0 : j == 1 ? 1 : (long double)next_number(&stream) / 2147483648.0L;
            }
            /* a range of eps: q tilted by e^(eps loss) */
            for (size_t j = 0; j < count; j++) tilted += base[j] / all * expl(eps * loss[j]);
            for (size_t j = 0; j < count; j++) {
                q[j] = base[j] / all;
                p[j] = q[j] * expl(eps * loss[j]) / tilted;
            }
            const double r = fmax(worst(p, q, count), worst(q, p, count)) / range;
            if (r > 1 + SLACK) fail_msg("range, eps %g: %.15g of the bound", eps, r);
            nearest_range = fmax(nearest_range, r);
            const double s = fmax(worst(p, q, count), worst(q, p, count)) / any;
            if (s > 1 + SLACK) fail_msg("any, eps %g: %.15g of the bound", eps, s);
        }
        /* the two values that attain it, in both orders */
        const long double yes = 1 / (1 + expl(-eps)), answer[] = {yes, 1 - yes}, other[] = {1 - yes, yes};
        const double r = worst(answer, other, 2) / any;
        if (r > 1 + SLACK) fail_msg("randomized response, eps %g: %.15g of the bound", eps, r);
        nearest_any = fmax(nearest_any, r);
        for (int k = 1; k < 400; k++) { /* selections from two */
            const long double t = k / 400.0L, sum = t + (1 - t) * expl(eps);
            const long double q[] = {t, 1 - t}, p[] = {t / sum, (1 - t) * expl(eps) / sum};
            const double two = fmax(worst(p, q, 2), worst(q, p, 2)) / range;
            if (two > 1 + SLACK) fail_msg("two values, eps %g: %.15g of the bound", eps, two);
            nearest_range = fmax(nearest_range, two);
        }
    }
    assert_true(nearest_any > 1 - 1e-6 && nearest_range > .99); /* they cannot be much smaller */
}

#define REACH 400

/* D_alpha of discrete Laplace noise that is moved by d, at most alpha kl(d). */
static void noise_that_is_moved(void **state)
{
    static const struct {
        const char *scale;
        double value;
    } scales[] = {{"1/2", .5}, {"1", 1}, {"2", 2}, {"5", 5}, {"9", 9}};
    (void)state;
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++)
        for (int64_t d = 1; d <= 40; d += d < 6 ? 1 : 7) {
            long double p[2 * REACH + 1], q[2 * REACH + 1];
            char squares[32];
            const long double lam = 1 / (long double)scales[i].value, norm = (1 - expl(-lam)) / (1 + expl(-lam));
            for (int64_t z = -REACH; z <= REACH; z++) {
                p[z + REACH] = norm * expl(-lam * (long double)llabs(z));
                q[z + REACH] = norm * expl(-lam * (long double)llabs(z - d));
            }
            snprintf(squares, sizeof squares, "%lld", (long long)(d * d));
            const double r = worst(p, q, 2 * REACH + 1) / laplace(scales[i].scale, d, squares);
            if (!(r <= 1 + SLACK && r > 1 - 1e-7)) fail_msg("scale %s, moved by %lld: %.15g", scales[i].scale, (long long)d, r);
        }
}

/* The largest sum of kl(d_j) over integers with so many left in L1 and in squares, the largest first. */
static double largest(const double *kl, int64_t l1, int64_t squares, int64_t most)
{
    double best = 0;
    for (int64_t d = 1; d <= most && d <= l1 && d * d <= squares; d++)
        best = fmax(best, kl[d] + largest(kl, l1 - d, squares - d * d, d));
    return best;
}

/* All vectors of integers within both sensitivities. */
static void all_moves_within_both_sensitivities(void **state)
{
    static const char *const scales[] = {"1/3", "1", "4", "20"};
    static const double rates[] = {3, 1, .25, .05};
    (void)state;
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        double kl[16], tight = 0;
        char squares[32];
        for (int d = 1; d < 16; d++) kl[d] = rates[i] * (d + expm1(-rates[i] * d) / sinh(rates[i]));
        for (int64_t l1 = 1; l1 <= 14; l1++)
            for (int64_t b = 1; b <= l1 * l1 + 3; b++) {
                snprintf(squares, sizeof squares, "%lld", (long long)b);
                const double bound = laplace(scales[i], l1, squares), true_one = largest(kl, l1, b, l1);
                if (true_one > bound * (1 + 1e-8))
                    fail_msg("scale %s, L1 %lld, squares %lld: %.12g above %.12g", scales[i], (long long)l1, (long long)b,
                             true_one, bound);
                tight = fmax(tight, true_one / bound);
            }
        assert_true(tight > 1 - 1e-7);
        /* fractions between them: the bound grows with the squares */
        assert_true(laplace(scales[i], 6, "12") <= laplace(scales[i], 6, "25/2"));
        assert_true(laplace(scales[i], 6, "25/2") <= laplace(scales[i], 6, "13"));
    }
}

static void when_memory_fails(void **state)
{
    tamis_number *eps = number("1/3"), *rho = NULL, *squares = number("5/2");
    tamis_error err = {0};
    (void)state;
    EVERY_ALLOCATION_FAILS(tmi_rho_of_pure_up(&rho, eps, &err), assert_null(rho));
    tamis_number_free(rho);
    EVERY_ALLOCATION_FAILS(tmi_rho_of_selections_up(&rho, eps, 2, &err), assert_null(rho));
    tamis_number_free(rho);
    EVERY_ALLOCATION_FAILS(tmi_rho_of_discrete_laplace_up(&rho, eps, 2, squares, &err), assert_null(rho));
    tamis_number_free(rho);
    tamis_number_free(eps);
    tamis_number_free(squares);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_values),        cmocka_unit_test(pairs_of_bounded_losses),
        cmocka_unit_test(noise_that_is_moved), cmocka_unit_test(all_moves_within_both_sensitivities),
        cmocka_unit_test(when_memory_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
