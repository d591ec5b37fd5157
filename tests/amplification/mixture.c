/* The theorem in plain numbers: its limits, and brute force over three-point mixtures. */
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/num/enclosure.h"

typedef struct pair {
    tamis_bound eps, delta;
} pair;

static tamis_status try(pair *z, const char *q, const char *e, const char *d, const char *x, const char *dx, tamis_error *err)
{
    const char *const texts[] = {q, e, d, x, dx};
    tamis_number *n[5];
    for (int i = 0; i < 5; i++) n[i] = texts[i] ? number(texts[i]) : NULL;
    tamis_amplification a = {n[0], n[1], n[2], n[3], n[4]};
    tamis_status status = tamis_amplify(&z->eps, &z->delta, &a, err);
    for (int i = 0; i < 5; i++) tamis_number_free(n[i]);
    return status;
}

static pair amplify(const char *q, const char *e, const char *d, const char *x, const char *dx)
{
    pair z;
    assert_int_equal(try(&z, q, e, d, x, dx, NULL), TAMIS_OK);
    assert_true(is_narrow(z.eps) && is_narrow(z.delta) && z.eps.lower >= 0 && z.delta.upper <= 1);
    return z;
}

static bool near(tamis_bound b, double x) { return fabs(b.upper - x) <= 1e-13 * (1 + fabs(x)); }

static void limits(void **state)
{
    (void)state;
    pair z = amplify("0.1", "1", "1e-6", "1", "1e-6"); /* simple random sampling */
    assert_true(near(z.eps, log(1 + 0.1 * (M_E - 1))) && near(z.delta, 1e-7));
    z = amplify("0.1", "1", "1e-6", NULL, NULL); /* nothing known about the sample without the unit */
    assert_true(near(z.eps, 1) && near(z.delta, 1e-7));
    z = amplify("0.1", "1", "0", "0", "0"); /* the sample without the unit is all that is seen */
    assert_true(near(z.eps, -log(1 - 0.1 * (1 - 1 / M_E))));
    z = amplify("1", "1.5", "1/8", "3", "0"); /* always in the sample */
    assert_true(near(z.eps, 1.5) && near(z.delta, 0.125));
    z = amplify("1/4", "0", "0", "7", "0"); /* nothing is lost */
    assert_true(z.eps.upper == 0 && z.delta.upper == 0);
    z = amplify("1/4", "2", "1", "2", "1"); /* no promise at all */
    assert_true(near(z.delta, 0.25));
    z = amplify("1e-1000", "1e6", "0", "1e6", "0");
    assert_true(near(z.eps, 1e6 - 1000 * log(10)));
    z = amplify("1e-1000", "1e-1000", "1e-1000", "1e-1000", "1e-1000");
    assert_true(z.eps.upper < 1e-300 && z.delta.upper < 1e-300);
}

/* P = q a + (1-q) c and P' = q a' + (1-q) c on four points: no such pair loses more than is claimed for its own
 * distances, and some come close. */
static double distance(const double *p, const double *q, double E)
{
    double there = 0, back = 0;
    for (int i = 0; i < 4; i++) {
        there += fmax(0, p[i] - E * q[i]);
        back += fmax(0, q[i] - E * p[i]);
    }
    return fmax(there, back);
}

static void random_law(double *p)
{
    double sum = 0;
    for (int i = 0; i < 4; i++) sum += p[i] = rand() % 5 == 0 ? 0 : 1 + rand() % 1000;
    for (int i = 0; i < 4; i++) p[i] = sum > 0 ? p[i] / sum : 0.25;
}

static void no_mixture_loses_more(void **state)
{
    double closest = 1;
    (void)state;
    srand(3); /* any laws will do: the claim is for all of them */
    for (int trial = 0; trial < 2000; trial++) {
        double law[3][4], mix[2][4], q = (1 + rand() % 9) / 10.0, e = (rand() % 7) / 4.0, x = (rand() % 9) / 4.0;
        char text[5][40];
        for (int j = 0; j < 3; j++) random_law(law[j]);
        double dx = fmax(distance(law[0], law[2], exp(x)), distance(law[1], law[2], exp(x)));
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 2; j++) mix[j][i] = q * law[j][i] + (1 - q) * law[2][i];
        const double numbers[] = {q, e, distance(law[0], law[1], exp(e)), x, dx};
        for (int i = 0; i < 5; i++) snprintf(text[i], sizeof text[i], "%.17g", numbers[i]);
        pair z = amplify(text[0], text[1], text[2], text[3], text[4]);
        double delta = distance(mix[0], mix[1], exp(z.eps.lower));
        assert_true(delta <= z.delta.upper + 1e-12);
        if (delta > 0.01) closest = fmin(closest, z.delta.upper / delta);
    }
    assert_true(closest < 1 + 1e-4);
}

static void laplace_noise(void **state)
{
    tamis_number *eps0 = number("1"), *eps = number("0.05"), *large = number("2"), *bad = number("-1");
    tamis_bound e, d;
    (void)state;
    assert_int_equal(tamis_amplify_srs_laplace(&e, &d, 10, 1, eps0, eps, NULL), TAMIS_OK);
    assert_encloses_decimal(e, "0.4139033813684644647505178482384434945845");
    assert_encloses_decimal(d, "0.02540138982514277600230091884498287884097");
    assert_int_equal(tamis_amplify_srs_laplace(&e, &d, 10, 1, eps0, large, NULL), TAMIS_OK);
    assert_true(d.lower == 0 && d.upper == 0);
    assert_int_equal(tamis_amplify_srs_laplace(&e, &d, 1, 1, eps0, eps0, NULL), TAMIS_OK); /* delta is exactly 0 */
    assert_true(d.lower == 0 && d.upper == 0);
    assert_int_equal(tamis_amplify_srs_laplace(&e, &d, 10, 11, eps0, eps, NULL), TAMIS_INVALID);
    assert_true(e.lower == 0 && isinf(e.upper) && d.lower == 0 && d.upper == 1);
    assert_int_equal(tamis_amplify_srs_laplace(&e, &d, 10, 1, bad, eps, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_amplify_srs_laplace(&e, &d, 10, 1, eps0, bad, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_amplify_srs_laplace(&e, &d, 10, 1, NULL, eps, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_amplify_srs_laplace(&e, &d, 10, 1, eps0, NULL, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_amplify_srs_laplace(NULL, &d, 10, 1, eps0, eps, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_amplify_srs_laplace(&e, NULL, 10, 1, eps0, eps, NULL), TAMIS_INVALID);
    tamis_number_free(eps0);
    tamis_number_free(eps);
    tamis_number_free(large);
    tamis_number_free(bad);
}

/* Reference values: mechanisms given as tables, all samples of all populations listed. delta_M is the mechanism's own
 * delta at log(exp_eps) times n/N, exp_eps0 the ratio at delta = 0, on the population and of the mechanism. */
static double fraction(const char *text)
{
    char *slash;
    double p = strtod(text, &slash);
    return p / strtod(slash + 1, NULL);
}

static void enumerated_tables(void **state)
{
    static const struct {
        const char *id;
        int N, n;
        const char *exp_eps, *exp_pop, *delta_pop, *delta_M, *exp0_pop, *exp0_M;
    } cases[] = {
        {"0066", 4, 3, "5/4", "19/16", "21/64", "21/64", "5/2", "3/1"},
        {"0068", 5, 5, "5/4", "5/4", "17/48", "17/48", "3/1", "3/1"},
        {"0069", 4, 2, "5/4", "9/8", "35/88", "35/88", "11/2", "10/1"},
        {"0071", 3, 3, "1/1", "1/1", "7/15", "7/15", "10/3", "10/3"},
        {"0073", 6, 2, "4/1", "2/1", "0/1", "1/14", "38/21", "7/1"},
        {"0074", 6, 6, "1/1", "1/1", "19/40", "19/40", "24/5", "24/5"},
        {"0078", 4, 3, "5/4", "19/16", "21/64", "21/64", "5/2", "3/1"},
        {"0080", 4, 4, "1/1", "1/1", "4/7", "4/7", "5/1", "5/1"},
        {"0081", 4, 2, "1/1", "1/1", "1/4", "1/4", "2/1", "3/1"},
        {"0083", 6, 6, "4/1", "4/1", "2/15", "2/15", "24/5", "24/5"},
        {"0084", 4, 1, "5/4", "17/16", "1/16", "1/16", "5/4", "2/1"},
        {"0085", 6, 4, "2/1", "5/3", "0/1", "0/1", "98/79", "7/4"},
        {"0086", 4, 4, "2/1", "2/1", "17/56", "17/56", "48/7", "48/7"},
        {"0088", 5, 1, "1/1", "1/1", "7/75", "7/75", "17/10", "9/2"},
        {"0089", 6, 3, "5/4", "9/8", "29/448", "109/1008", "23/14", "36/7"},
        {"0092", 4, 2, "1/1", "1/1", "31/144", "31/144", "11/4", "9/2"},
        {"0093", 3, 1, "5/4", "13/12", "35/132", "35/132", "4/1", "10/1"},
        {"0094", 4, 3, "2/1", "7/4", "5/24", "57/260", "29/8", "24/5"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double f = (double)cases[i].n / cases[i].N;
        char text[3][40];
        tamis_bound eps, delta;
        snprintf(text[0], sizeof text[0], "%.17g", log(fraction(cases[i].exp_eps)));
        snprintf(text[1], sizeof text[1], "%.17g", fraction(cases[i].delta_M) / f);
        snprintf(text[2], sizeof text[2], "%.17g", log(fraction(cases[i].exp0_M)));
        tamis_number *e = number(text[0]), *d = number(text[1]), *e0 = number(text[2]), *zero = number("0");
        assert_int_equal(tamis_amplify_srs(&eps, &delta, cases[i].N, cases[i].n, e, d, NULL), TAMIS_OK);
        assert_true(near(eps, log(fraction(cases[i].exp_pop))) && near(delta, fraction(cases[i].delta_M)));
        assert_true(fraction(cases[i].delta_pop) <= delta.upper + 1e-14);
        assert_int_equal(tamis_amplify_srs(&eps, &delta, cases[i].N, cases[i].n, e0, zero, NULL), TAMIS_OK);
        assert_true(log(fraction(cases[i].exp0_pop)) <= eps.upper + 1e-14);
        tamis_number_free(e);
        tamis_number_free(d);
        tamis_number_free(e0);
        tamis_number_free(zero);
    }
}

static void refuses_bad_input(void **state)
{
    static const struct {
        const char *values[5], *words;
    } cases[] = {
        {{"0", "1", "0", "1", "0"}, "inclusion: must be positive"},
        {{"-1", "1", "0", "1", "0"}, "inclusion: must be between"},
        {{"1.1", "1", "0", "1", "0"}, "inclusion: must be between"},
        {{NULL, "1", "0", "1", "0"}, "inclusion: NULL"},
        {{"1", "-1", "0", "1", "0"}, "loss: must not be negative"},
        {{"1", "1e7", "0", "1", "0"}, "loss: must not exceed"},
        {{"1", NULL, "0", "1", "0"}, "loss: NULL"},
        {{"1", "1", "2", "1", "0"}, "delta: must be between"},
        {{"1", "1", NULL, "1", "0"}, "delta: NULL"},
        {{"1", "1", "0", "-1", "0"}, "loss_missing: must not"},
        {{"1", "1", "0", "1", "-1"}, "delta_missing: must be"},
        {{"1", "1", "0", "1", NULL}, "delta_missing: NULL"},
    };
    pair z;
    tamis_error err;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *const *v = cases[i].values;
        assert_int_equal(try(&z, v[0], v[1], v[2], v[3], v[4], &err), TAMIS_INVALID);
        if (!strstr(err.message, cases[i].words)) fail_msg("%s: %s", cases[i].words, err.message);
        assert_true(z.eps.lower == 0 && isinf(z.eps.upper) && z.delta.lower == 0 && z.delta.upper == 1);
    }
    assert_int_equal(tamis_amplify(NULL, &z.delta, NULL, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_amplify(&z.eps, NULL, NULL, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_amplify(&z.eps, &z.delta, NULL, NULL), TAMIS_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits),
        cmocka_unit_test(no_mixture_loses_more),
        cmocka_unit_test(laplace_noise),
        cmocka_unit_test(enumerated_tables),
        cmocka_unit_test(refuses_bad_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
