/* Outsiders where the profile of the loss is known: against the exact laws of noisy sums, which amplification/noise.c finds in
 * another way, and against laws that are listed here. */
#include "tests/test.h"

#include "num/number.h"
#include "tests/amplification/claims.h"
#include "tests/base/memory_that_fails.h"

static tamis_number *number_of(double x)
{
    char text[40];
    tamis_number *n;
    snprintf(text, sizeof text, "%.17g", x);
    assert_int_equal(tamis_number_read(&n, text, NULL), TAMIS_OK);
    return n;
}

/* A loss: pure, and mu^2, or the rho of the same; with delta at eps by its profile. */
typedef struct loss {
    tamis_number *eps, *delta, *pure, *mu_squared, *rho, *scale;
} loss;

static loss loss_of(double eps, double pure, double mu)
{
    tamis_number *rest = number_of(eps - pure);
    tamis_profile *profile;
    tamis_bound delta;
    loss l = {.eps = number_of(eps), .pure = number_of(pure), .scale = number_of(1 / mu)};
    tamis_number *inverse = NULL, *one = number_of(1), *half = number_of(0.5);
    assert_int_equal(tmi_number_div(&inverse, one, l.scale, NULL), TAMIS_OK);
    assert_int_equal(tmi_number_mul(&l.mu_squared, inverse, inverse, NULL), TAMIS_OK);
    assert_int_equal(tmi_number_mul(&l.rho, l.mu_squared, half, NULL), TAMIS_OK);
    assert_int_equal(tamis_profile_normal(&profile, l.mu_squared, NULL), TAMIS_OK);
    assert_int_equal(tamis_profile_delta(&delta, profile, rest, NULL), TAMIS_OK);
    l.delta = number_of(delta.upper);
    tamis_profile_free(profile);
    tmi_number_frees(&rest, &inverse, &one, &half, NULL);
    return l;
}

static void free_loss(loss *l) { tmi_number_frees(&l->eps, &l->delta, &l->pure, &l->mu_squared, &l->rho, &l->scale, NULL); }

typedef enum known { ONE_POINT, MU_SQUARED, RHO } known;

static tamis_amplified amplify(const tamis_design *design, const loss *l, tamis_neighbours mechanism, known k)
{
    tamis_amplified a;
    tamis_error err;
    const tamis_sample_promise promise = {.eps = l->eps,
                                          .delta = l->delta,
                                          .neighbours = TAMIS_REPLACE,
                                          .mechanism = mechanism,
                                          .pure = k == ONE_POINT ? NULL : l->pure,
                                          .mu_squared = k == MU_SQUARED ? l->mu_squared : NULL,
                                          .rho = k == RHO ? l->rho : NULL};
    if (tamis_amplify_design(&a, design, &promise, &err) != TAMIS_OK) fail_msg("%s", err.message);
    return a;
}

static tamis_design *two_stages(int64_t clusters, int64_t drawn, int64_t units, int64_t taken)
{
    tamis_design *second[100], *design;
    for (int64_t c = 0; c < clusters; c++) second[c] = srs(units, taken);
    assert_int_equal(tamis_design_take_stages(&design, srs(clusters, drawn), second, (size_t)clusters, NULL), TAMIS_OK);
    return design;
}

static tamis_design *of_unequal_clusters(const char *method)
{
    tamis_design *second[] = {srs(6, 2), srs(6, 2), srs(6, 2), srs(6, 2)}, *design;
    assert_int_equal(tamis_design_take_stages(&design, pps(method, "0.4 0.3 0.2 0.1"), second, 4, NULL), TAMIS_OK);
    return design;
}

/* One value from 0 to 1 for each person, with normal noise on their sum: the smallest delta of the law itself at what is claimed
 * is the delta that is claimed. All clusters are alike, so that all who lose most are. */
static void known_noise_is_exact(void **state)
{
    struct {
        const char *name;
        tamis_design *design;
    } cases[] = {
        {"two stages 2/10, 2/6", two_stages(10, 2, 6, 2)},
        {"two stages 1/20, 3/5", two_stages(20, 1, 5, 3)},
        {"two stages 5/10, 3/9", two_stages(10, 5, 9, 3)},
        {"two stages 1/10, 5/50", two_stages(10, 1, 50, 5)},
        {"clusters 1/20 of 4", two_stages(20, 1, 4, 4)},
        {"clusters 9/10 of 2", two_stages(10, 9, 2, 2)},
        {"two stages, sampford", of_unequal_clusters("sampford")},
        {"systematic 1 in 7", systematic(21, 3, 0)},
        {"strata of stages", strata(two_stages(10, 2, 6, 2), two_stages(10, 2, 6, 2))},
        {"within clusters", of_unequal_clusters("systematic")},
    };
    static const double losses[][2] = {{0.5, 0.15}, {1, 0.25}, {1, 0.4}, {2, 0.5}, {4, 0.85}, {0.1, 0.05}};
    tamis_number *zero = number_of(0), *one = number_of(1);
    size_t smaller = 0;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (size_t k = 0; k < sizeof losses / sizeof *losses; k++) {
            loss l = loss_of(losses[k][0], 0, losses[k][1]);
            tamis_amplified point = amplify(cases[i].design, &l, TAMIS_REPLACE, ONE_POINT),
                            a = amplify(cases[i].design, &l, TAMIS_REPLACE, MU_SQUARED);
            const tamis_noisy_sum sum = {zero, one, TAMIS_NOISE_GAUSSIAN, l.scale};
            tamis_number *at = number_of(a.eps.upper);
            tamis_bound delta;
            assert_int_equal(tamis_amplify_noise(&delta, NULL, cases[i].design, &sum, at, NULL), TAMIS_OK);
            if (delta.upper > a.delta.upper * (1 + 1e-7))
                fail_msg("%s, %zu: delta %.9g, %.9g claimed", cases[i].name, k, delta.upper, a.delta.upper);
            if (a.by_profile && delta.upper < a.delta.upper * (1 - 1e-6))
                fail_msg("%s, %zu: delta %.9g only, %.9g claimed", cases[i].name, k, delta.upper, a.delta.upper);
            assert_true(a.delta.upper == point.delta.upper && a.eps.upper <= point.eps.upper);
            assert_true(a.by_profile ? a.eps.upper < point.eps.upper : a.eps.upper == point.eps.upper);
            if (a.by_profile == (strcmp(cases[i].name, "within clusters") == 0)) /* there one step at most is near */
                fail_msg("%s, %zu: %.9g, %.9g by one point", cases[i].name, k, a.eps.upper, point.eps.upper);
            smaller += a.eps.upper < 0.9 * point.eps.upper;
            tamis_number_free(at);
            tamis_amplified_clear(&a);
            tamis_amplified_clear(&point);
            free_loss(&l);
        }
        tamis_design_free(cases[i].design);
    }
    if (smaller < 12) fail_msg("%zu", smaller);
    tmi_number_frees(&zero, &one, NULL);
}

/* The table of docs/composition.md. */
static void the_table_of_the_page(void **state)
{
    static const struct {
        int64_t clusters, drawn, units, taken;
        double point[4], profile[4];
    } cases[] = {
        {20, 1, 4, 4, {0.117, 0.633, 1.96, 4.00}, {0.113, 0.569, 1.67, 3.43}},
        {100, 1, 4, 4, {0.0277, 0.255, 1.81, 4.00}, {0.0268, 0.216, 1.38, 3.09}},
        {10, 1, 25, 5, {0.0569, 0.259, 0.821, 2.46}, {0.0542, 0.225, 0.677, 2.07}},
        {20, 1, 100, 10, {0.0522, 0.158, 0.494, 1.85}, {0.0431, 0.122, 0.366, 1.39}},
    };
    static const double losses[] = {0.5, 1, 2, 4};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis_design *design = two_stages(cases[i].clusters, cases[i].drawn, cases[i].units, cases[i].taken);
        for (size_t k = 0; k < 4; k++) {
            double low = 0.01, high = 2;
            while (high - low > 1e-9) {
                const double mu = low / 2 + high / 2, e = losses[k];
                const double delta = erfc((e / mu - mu / 2) / sqrt(2)) / 2 - exp(e) * erfc((e / mu + mu / 2) / sqrt(2)) / 2;
                *(delta > 1e-6 ? &high : &low) = mu;
            }
            loss l = loss_of(losses[k], 0, low);
            tamis_amplified x = amplify(design, &l, TAMIS_ANY_ONE, ONE_POINT), y = amplify(design, &l, TAMIS_ANY_ONE, MU_SQUARED);
            if (fabs(x.eps.upper / cases[i].point[k] - 1) > 0.005 || fabs(y.eps.upper / cases[i].profile[k] - 1) > 0.005)
                fail_msg("%zu, %zu: %.4g, %.4g", i, k, x.eps.upper, y.eps.upper);
            tamis_amplified_clear(&x);
            tamis_amplified_clear(&y);
            free_loss(&l);
        }
        tamis_design_free(design);
    }
}

/* ---- a pure part, and laws that are listed ---- */

/* An answer to a sample that is s steps from the first one: a yes of probability yes(s), whose odds may change by e^pure for each
 * step, and a normal number with mean s mu. */
static double yes(double pure, int s) { return 0.4 * exp(-pure * s); }

static double normal(double x) { return exp(-x * x / 2) / sqrt(2 * M_PI); }

typedef struct mixture {
    double pure, mu, weights[4];
    int steps[4], count; /* the first is the unit in the sample, with steps[0] = 0, or 1 after its change */
} mixture;

static double density(const mixture *m, int changed, int answer, double x)
{
    double sum = 0;
    for (int k = 0; k < m->count; k++) {
        const int s = k == 0 ? changed : m->steps[k];
        const double p = yes(m->pure, s);
        sum += m->weights[k] * (answer ? p : 1 - p) * normal(x - s * m->mu);
    }
    return sum;
}

/* The larger of the deltas of both orders, by the rule of Simpson. */
static double delta_of(const mixture *m, double eps)
{
    const int n = 8000;
    const double from = -10, h = (20 + 8 * m->mu) / n;
    double there = 0, back = 0;
    for (int answer = 0; answer < 2; answer++)
        for (int i = 0; i <= n; i++) {
            const double x = from + i * h, c = (i == 0 || i == n ? 1 : i % 2 ? 4 : 2) * h / 3;
            const double p = density(m, 0, answer, x), q = density(m, 1, answer, x);
            there += c * fmax(0, p - exp(eps) * q);
            back += c * fmax(0, q - exp(eps) * p);
        }
    return fmax(there, back);
}

static void no_listed_law_loses_more(void **state)
{
    static const struct {
        int64_t clusters, drawn, units, taken;
    } designs[] = {{10, 2, 6, 2}, {20, 1, 4, 4}, {10, 5, 9, 1}, {4, 1, 5, 3}, {3, 2, 2, 2}};
    static const double losses[][3] = {{1, 0, 0.3}, {1, 0.1, 0.25}, {2, 0.5, 0.4},  {0.5, 0.25, 0.1},
                                       {3, 1, 0.5}, {0.3, 0, 0.2},  {1.5, 0.02, 1}, {2, 1.9, 0.1}};
    double nearest = 0;
    int used = 0;
    (void)state;
    for (size_t i = 0; i < sizeof designs / sizeof *designs; i++)
        for (size_t k = 0; k < sizeof losses / sizeof *losses; k++) {
            const double pi = (double)designs[i].drawn / (double)designs[i].clusters,
                         f = (double)designs[i].taken / (double)designs[i].units;
            tamis_design *design = two_stages(designs[i].clusters, designs[i].drawn, designs[i].units, designs[i].taken);
            loss l = loss_of(losses[k][0], losses[k][1], losses[k][2]);
            const mixture m = {losses[k][1], losses[k][2], {pi * f, pi * (1 - f), 1 - pi}, {0, 1, (int)designs[i].taken}, 3};
            for (known how = MU_SQUARED; how <= RHO; how++) {
                tamis_amplified a = amplify(design, &l, TAMIS_ANY_ONE, how);
                const double delta = delta_of(&m, a.eps.upper);
                if (delta > a.delta.upper * (1 + 1e-5))
                    fail_msg("%zu, %zu: delta %.9g, %.9g claimed", i, k, delta, a.delta.upper);
                used += a.by_profile;
                if (how == MU_SQUARED && a.by_profile) nearest = fmax(nearest, delta / a.delta.upper);
                tamis_amplified_clear(&a);
            }
            free_loss(&l);
            tamis_design_free(design);
        }
    assert_true(used > 20 && nearest > 0.999);
}

/* A rho is the rho of normal noise, and of other noise too: never less than mu^2 says, mostly less than one point does. */
static void a_rho_says_less_than_a_mu(void **state)
{
    tamis_design *design = two_stages(20, 1, 5, 4);
    int smaller = 0;
    (void)state;
    for (int k = 0; k < 20; k++) {
        loss l = loss_of(0.3 + 0.2 * k, 0.01 * k, 0.06 + 0.03 * k);
        tamis_amplified point = amplify(design, &l, TAMIS_ANY_ONE, ONE_POINT), x = amplify(design, &l, TAMIS_ANY_ONE, MU_SQUARED),
                        y = amplify(design, &l, TAMIS_ANY_ONE, RHO);
        assert_true(x.eps.upper <= y.eps.upper && y.eps.upper <= point.eps.upper && y.eps.lower <= y.eps.upper);
        assert_true(y.delta.upper == point.delta.upper);
        smaller += y.by_profile && y.eps.upper < point.eps.upper;
        tamis_amplified_clear(&point);
        tamis_amplified_clear(&x);
        tamis_amplified_clear(&y);
        free_loss(&l);
    }
    assert_true(smaller >= 10);
    tamis_design_free(design);
}

/* Add and remove: replacing a record is two steps of such a mechanism, and all others are twice as many. */
static void steps_of_other_mechanisms(void **state)
{
    tamis_design *design = two_stages(10, 2, 6, 2);
    loss once = loss_of(0.5, 0, 0.15), twice = loss_of(1, 0, 0.3);
    (void)state;
    tamis_amplified x = amplify(design, &once, TAMIS_ADD_REMOVE, MU_SQUARED);
    const double delta = x.delta.upper;
    tamis_number *zero = number_of(0), *one = number_of(1), *at = number_of(x.eps.upper);
    tamis_bound exact;
    const tamis_noisy_sum sum = {zero, one, TAMIS_NOISE_GAUSSIAN, twice.scale};
    assert_int_equal(tamis_amplify_noise(&exact, NULL, design, &sum, at, NULL), TAMIS_OK);
    assert_true(x.by_profile && fabs(exact.upper / delta - 1) < 1e-6);
    tamis_amplified_clear(&x);
    tmi_number_frees(&zero, &one, &at, NULL);
    free_loss(&once);
    free_loss(&twice);
    tamis_design_free(design);
}

static void what_has_one_step_is_as_before(void **state)
{
    tamis_design *designs[] = {srs(10, 2), bernoulli(6, "1/3"),         pps("sampford", "0.2 0.3 0.5"), with_replacement(5, 2),
                               census(4),  strata(srs(9, 2), srs(8, 3))};
    loss l = loss_of(1, 0.1, 0.3);
    (void)state;
    for (size_t i = 0; i < sizeof designs / sizeof *designs; i++) {
        tamis_amplified x = amplify(designs[i], &l, TAMIS_ANY_ONE, ONE_POINT),
                        y = amplify(designs[i], &l, TAMIS_ANY_ONE, MU_SQUARED);
        assert_true(x.eps.upper == y.eps.upper && x.eps.lower == y.eps.lower && x.delta.upper == y.delta.upper && !y.by_profile);
        tamis_amplified_clear(&x);
        tamis_amplified_clear(&y);
        tamis_design_free(designs[i]);
    }
    free_loss(&l);
}

static void refuses_bad_input(void **state)
{
    tamis_design *design = two_stages(10, 2, 6, 2);
    loss l = loss_of(1, 0.1, 0.3);
    tamis_number *minus = number_of(-1), *large = number_of(1e7);
    const tamis_sample_promise good = {
        .eps = l.eps, .delta = l.delta, .mechanism = TAMIS_ANY_ONE, .pure = l.pure, .mu_squared = l.mu_squared};
    tamis_sample_promise bad[7];
    tamis_amplified a;
    (void)state;
    for (size_t i = 0; i < 7; i++) bad[i] = good;
    bad[0].pure = NULL;
    bad[1].mu_squared = NULL;
    bad[2].rho = l.rho;
    bad[3].pure = minus;
    bad[4].mu_squared = large;
    bad[5].releases = 2;
    bad[6].neighbours = TAMIS_ADD_REMOVE;
    for (size_t i = 0; i < 7; i++) {
        assert_int_equal(tamis_amplify_design(&a, design, &bad[i], NULL), TAMIS_INVALID);
        assert_true(isinf(a.eps.upper) && a.delta.upper == 1 && !a.parts);
    }
    EVERY_ALLOCATION_FAILS(tamis_amplify_design(&a, design, &good, NULL), assert_null(a.parts));
    assert_true(a.by_profile);
    tamis_amplified_clear(&a);
    tmi_number_frees(&minus, &large, NULL);
    free_loss(&l);
    tamis_design_free(design);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_noise_is_exact),      cmocka_unit_test(the_table_of_the_page),
        cmocka_unit_test(no_listed_law_loses_more),  cmocka_unit_test(a_rho_says_less_than_a_mu),
        cmocka_unit_test(steps_of_other_mechanisms), cmocka_unit_test(what_has_one_step_is_as_before),
        cmocka_unit_test(refuses_bad_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
