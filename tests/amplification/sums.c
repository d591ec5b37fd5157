/* Noise whose law is known, and weights: against every pair of small populations. */
#include "tests/test.h"

#include <tamis/experimental/ht.h>

#include "tests/amplification/claims.h"
#include "tests/base/memory_that_fails.h"

enum { MOST_UNITS = 8 };

/* ---- every pair of populations with values `low` and `high` ---- */

typedef struct pairs {
    tamis_law *law;
    const tamis_number *value[2];
    tamis_noise_kind noise;
    const tamis_number *scale, *step; /* on the Horvitz-Thompson total */
} pairs;

/* The largest delta at eps, or the largest pure eps if eps is NULL. */
static double worst_pair(const pairs *p, const tamis_number *eps)
{
    int units = (int)tamis_law_population(p->law);
    const tamis_number *x[MOST_UNITS], *y[MOST_UNITS];
    double worst = 0;
    assert_true(units <= MOST_UNITS);
    for (int population = 0; population < 1 << units; population++)
        for (int i = 0; i < units; i++) {
            tamis_bound there, back = {0, 0};
            for (int j = 0; j < units; j++) {
                x[j] = p->value[population >> j & 1];
                y[j] = i == j ? p->value[!(population >> j & 1)] : x[j];
            }
            tamis_ht_pair pair = {.law = p->law, .x = x, .x_prime = y, .noise = p->noise, .scale = p->scale, .step = p->step};
            tamis_status status = eps ? tamis_ht_pair_delta(&there, &back, &pair, eps, NULL)
                                      : tamis_ht_pair_pure(&there, &pair, NULL);
            assert_int_equal(status, TAMIS_OK);
            worst = fmax(worst, fmax(there.upper, back.upper));
        }
    return worst;
}

/* ---- noise on a plain sum ---- */

typedef struct noisy_case {
    tamis_design *design;
    const char *weight; /* of every unit: 1 over the inclusion probability */
    const char *eps;
} noisy_case;

static void noise_is_as_bad_as_the_worst_pair(void **state)
{
    noisy_case cases[] = {
        {srs(5, 2), "5/2", "0.3"},
        {clusters(srs(2, 1), 2, 2), "2", "0.5"},
        {stages(srs(3, 1), census(2), census(2), census(2)), "3", "0.2"},
        {systematic(6, 2, 0), "3", "0.4"},
        {pps("sampford", "0.5 0.5 0.5 0.5"), "2", "0.25"},
    };
    static const tamis_noise_kind kinds[] = {TAMIS_NOISE_LAPLACE, TAMIS_NOISE_GAUSSIAN, TAMIS_NOISE_DISCRETE_LAPLACE,
                                             TAMIS_NOISE_DISCRETE_GAUSSIAN};
    tamis_number *zero = number("0"), *one = number("1"), *scale = number("3/2");
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            bool discrete = k > 1;
            tamis_number *weight = number(cases[i].weight), *eps = number(cases[i].eps), *heavy;
            tamis_noisy_sum sum = {zero, one, kinds[k], scale};
            tamis_bound delta;
            int64_t worst;
            assert_int_equal(tamis_amplify_noise(&delta, &worst, cases[i].design, &sum, eps, NULL), TAMIS_OK);
            assert_true(delta.upper - delta.lower <= 1e-9 * delta.upper);
            assert_int_equal(tmi_number_mul(&heavy, weight, scale, NULL), TAMIS_OK);
            pairs p = {.value = {zero, one},
                       .noise = kinds[k],
                       .scale = discrete ? scale : heavy,
                       .step = discrete ? weight : NULL};
            assert_int_equal(tamis_law_new(&p.law, cases[i].design, NULL), TAMIS_OK);
            double found = worst_pair(&p, eps);
            if (fabs(found - delta.upper) > 1e-9 * found) fail_msg("%zu, %zu: %.12g, not %.12g", i, k, delta.upper, found);
            tamis_law_free(p.law);
            tamis_number_free(heavy);
            tamis_number_free(weight);
            tamis_number_free(eps);
        }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) tamis_design_free(cases[i].design);
    tamis_number_free(zero);
    tamis_number_free(one);
    tamis_number_free(scale);
}

/* Never above what eps and delta of the noise alone give, and here far below; and a number computed elsewhere. */
static void known_noise_beats_its_eps_and_delta(void **state)
{
    tamis_design *parts[] = {census(2), census(2), census(2), census(2)}, *design;
    tamis_number *zero = number("0"), *one = number("1"), *scale = number("3/2"),
                 *eps = number("0.62616427519580506"); /* log(1 + (e^1.5 - 1)/4) */
    tamis_noisy_sum sum = {zero, one, TAMIS_NOISE_DISCRETE_GAUSSIAN, scale};
    tamis_bound delta;
    (void)state;
    assert_int_equal(tamis_design_take_stages(&design, srs(4, 1), parts, 4, NULL), TAMIS_OK);
    assert_int_equal(tamis_amplify_noise(&delta, NULL, design, &sum, eps, NULL), TAMIS_OK);
    if (fabs(delta.upper - 1.191255e-2) > 1e-8) fail_msg("%.9g", delta.upper);
    tamis_design_free(design);
    tamis_number_free(zero);
    tamis_number_free(one);
    tamis_number_free(scale);
    tamis_number_free(eps);
}

/* ---- draws with replacement ---- */

enum { DRAWS_MOST = 3, VALUES = 3, ANSWERS = 161 }; /* sums of at most 3 draws of 0, 1, 2; the noise ends far before +-80 */

/* The law of the sum of n draws, unit 0 having the value `own`, and of its noise: masses on -80 ... 80. */
static void law_of_draws(double law[ANSWERS], const int *values, int own, int units, int draws, bool gaussian, double scale)
{
    double noise[ANSWERS], total = 0;
    for (int z = 0; z < ANSWERS; z++) {
        double x = z - ANSWERS / 2;
        noise[z] = gaussian ? exp(-x * x / (2 * scale * scale)) : exp(-fabs(x) / scale);
        total += noise[z];
        law[z] = 0;
    }
    int sequences = (int)pow(units, draws);
    for (int s = 0; s < sequences; s++) {
        int sum = 0;
        for (int d = 0, rest = s; d < draws; d++, rest /= units) sum += rest % units == 0 ? own : values[rest % units];
        for (int z = sum; z < ANSWERS; z++) law[z] += noise[z - sum] / total / sequences;
    }
}

/* Every population of up to three units with the values 0, 1, 2, every change of one of them. */
static double worst_of_draws(int units, int draws, bool gaussian, double scale, double E)
{
    double worst = 0, p[ANSWERS], q[ANSWERS];
    for (int population = 0; population < (int)pow(VALUES, units); population++) {
        int values[DRAWS_MOST + 1], rest = population;
        for (int i = 0; i < units; i++, rest /= VALUES) values[i] = rest % VALUES;
        for (int other = 0; other < VALUES; other++) {
            double delta = 0;
            law_of_draws(p, values, values[0], units, draws, gaussian, scale);
            law_of_draws(q, values, other, units, draws, gaussian, scale);
            for (int z = 0; z < ANSWERS; z++) delta += fmax(p[z] - E * q[z], 0);
            worst = fmax(worst, delta);
        }
    }
    return worst;
}

static void a_unit_may_be_drawn_several_times(void **state)
{
    static const char *const losses[] = {"0", "1/2", "3/2"};
    tamis_number *zero = number("0"), *two = number("2"), *scale = number("5/2");
    (void)state;
    for (int units = 1; units <= 3; units++)
        for (int draws = 1; draws <= DRAWS_MOST; draws++)
            for (size_t e = 0; e < sizeof losses / sizeof *losses; e++)
                for (int gaussian = 0; gaussian < 2; gaussian++) {
                    tamis_design *design = with_replacement(units, draws);
                    tamis_number *eps = number(losses[e]);
                    tamis_noisy_sum sum = {zero, two, gaussian ? TAMIS_NOISE_DISCRETE_GAUSSIAN : TAMIS_NOISE_DISCRETE_LAPLACE,
                                           scale};
                    tamis_bound b;
                    int64_t worst;
                    assert_int_equal(tamis_amplify_noise(&b, &worst, design, &sum, eps, NULL), TAMIS_OK);
                    double found = worst_of_draws(units, draws, gaussian, 2.5, exp(e == 0 ? 0 : (double)e - 0.5));
                    if (!(b.lower <= found + 1e-12 && found <= b.upper + 1e-12))
                        fail_msg("%d of %d, %zu, %d: [%.12g, %.12g], found %.12g", draws, units, e, gaussian, b.lower, b.upper,
                                 found);
                    if (draws == 1 && b.upper - b.lower > 1e-12) fail_msg("one draw: [%.12g, %.12g]", b.lower, b.upper);
                    tamis_number_free(eps);
                    tamis_design_free(design);
                }
    /* a large frame: the two ends meet */
    tamis_design *large = with_replacement(1000000, 100);
    tamis_bound b;
    assert_int_equal(tamis_amplify_noise(&b, NULL, large, &(tamis_noisy_sum){zero, two, TAMIS_NOISE_GAUSSIAN, scale}, zero, NULL),
                     TAMIS_OK);
    assert_true(b.lower > 0 && b.upper - b.lower < 1e-3 * b.upper);
    /* a unit that is drawn more often than is added up one by one counts as if it were seen */
    tamis_design *often = with_replacement(1, 10000);
    assert_int_equal(tamis_amplify_noise(&b, NULL, often, &(tamis_noisy_sum){zero, two, TAMIS_NOISE_GAUSSIAN, scale}, zero, NULL),
                     TAMIS_OK);
    assert_true(b.upper == 1);
    tamis_design_free(often);
    tamis_design_free(large);
    tamis_number_free(zero);
    tamis_number_free(two);
    tamis_number_free(scale);
}

static void laplace_noise_has_a_closed_form(void **state)
{
    tamis_design *design = srs(10, 1);
    tamis_number *zero = number("0"), *one = number("1"), *eps = number("0.05");
    tamis_bound delta, closed, at;
    (void)state;
    assert_int_equal(tamis_amplify_noise(&delta, NULL, design, &(tamis_noisy_sum){zero, one, TAMIS_NOISE_LAPLACE, one}, eps,
                                         NULL),
                     TAMIS_OK);
    assert_int_equal(tamis_amplify_srs_laplace(&at, &closed, 10, 1, one, eps, NULL), TAMIS_OK);
    assert_true(delta.lower <= closed.upper && closed.lower <= delta.upper);
    tamis_design_free(design);
    tamis_number_free(zero);
    tamis_number_free(one);
    tamis_number_free(eps);
}

/* ---- weights ---- */

static tamis_bound total_bound(const tamis_design *design, const tamis_number *const *weights, const char *from, const char *to,
                               const char *scale)
{
    tamis_number *low = number(from), *high = number(to), *b = number(scale);
    tamis_bound eps;
    int64_t worst;
    assert_int_equal(tamis_amplify_total(&eps, &worst, design, &(tamis_weighted_sum){weights, low, high, b}, NULL), TAMIS_OK);
    tamis_number_free(low);
    tamis_number_free(high);
    tamis_number_free(b);
    return eps;
}

/* Of a design in which the two ends meet. */
static double total(const tamis_design *design, const tamis_number *const *weights, const char *from, const char *to,
                    const char *scale)
{
    tamis_bound eps = total_bound(design, weights, from, to, scale);
    assert_true(eps.upper - eps.lower <= 1e-9 * eps.upper);
    return eps.upper;
}

static void no_total_loses_more(void **state)
{
    struct {
        tamis_design *design;
        bool attained;
    } cases[] = {
        {srs(5, 2), true},
        {pps("poisson", "0.5 0.2 0.9"), true},
        {pps("sampford", "0.3 0.7 0.3 0.7"), false},
        {pps("pivotal", "0.2 0.7 0.6 0.5"), false},
        {strata(srs(3, 1), srs(2, 1)), true},
        {clusters(srs(2, 1), 2, 2), true},
        {systematic(6, 2, 0), true},
        {two_of(srs(2, 1), 3, 2), false},
        {pps("sampford", "1 0.25 0.75"), false},
    };
    static const char *const ranges[][2] = {{"0", "1"}, {"-1", "1"}, {"2", "3"}, {"-2", "1/2"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++) {
            tamis_number *low = number(ranges[r][0]), *high = number(ranges[r][1]), *b = number("4");
            pairs p = {.value = {low, high}, .noise = TAMIS_NOISE_LAPLACE, .scale = b};
            assert_int_equal(tamis_law_new(&p.law, cases[i].design, NULL), TAMIS_OK);
            tamis_bound both = total_bound(cases[i].design, NULL, ranges[r][0], ranges[r][1], "4");
            double claim = both.upper, found = worst_pair(&p, NULL);
            if (found > claim + 1e-10) fail_msg("%zu, %zu: %.12g claimed, %.12g lost", i, r, claim, found);
            if (both.lower > found + 1e-10) fail_msg("%zu, %zu: at least %.12g claimed, %.12g lost", i, r, both.lower, found);
            if (r == 0 && cases[i].attained && found < claim - 1e-9) fail_msg("%zu: %.12g claimed, %.12g lost", i, claim, found);
            tamis_law_free(p.law);
            tamis_number_free(low);
            tamis_number_free(high);
            tamis_number_free(b);
        }
        tamis_design_free(cases[i].design);
    }
}

/* Values -1 and 1 of weight 1, one of two people drawn, e^(1/b) = 2: the ratio is 5/2; with max |y| for the exchange it
 * would be claimed to be 2. With weights 1/pi, the smallest pi loses most. */
static void weights_beat_amplification(void **state)
{
    tamis_design *one_of_two = srs(2, 1), *poisson = pps("poisson", "0.5 0.01 0.9");
    tamis_number *one = number("1"), *ten = number("10");
    const tamis_number *equal[] = {one, one}, *unequal[] = {one, ten};
    tamis_bound eps;
    int64_t worst;
    (void)state;
    assert_true(fabs(exp(total(one_of_two, equal, "-1", "1", "1.4426950408889634")) - 2.5) < 1e-12);
    assert_true(fabs(total(poisson, NULL, "0", "1", "20") - log(1 + 0.01 * (exp(5) - 1))) < 1e-12);
    assert_true(fabs(total(one_of_two, unequal, "0", "1", "10") - log(1 + 0.5 * (M_E - 1))) < 1e-12);
    tamis_weighted_sum sum = {unequal, NULL, one, one};
    assert_int_equal(tamis_amplify_total(&eps, &worst, one_of_two, &sum, NULL), TAMIS_INVALID);
    assert_true(isinf(eps.upper));
    sum.from = ten;
    assert_int_equal(tamis_amplify_total(&eps, &worst, one_of_two, &sum, NULL), TAMIS_INVALID);
    tamis_design *brewer = pps("brewer", "0.5 0.5");
    sum.from = one;
    assert_int_equal(tamis_amplify_total(&eps, &worst, brewer, &sum, NULL), TAMIS_REFUSED);
    tamis_design_free(brewer);
    tamis_design_free(one_of_two);
    tamis_design_free(poisson);
    tamis_number_free(one);
    tamis_number_free(ten);
}

static void refuses_bad_input(void **state)
{
    tamis_design *d = srs(5, 2), *draws = with_replacement(5, 2), *brewer = pps("brewer", "0.5 0.5");
    tamis_number *zero = number("0"), *one = number("1"), *half = number("1/2"), *minus = number("-1"), *huge = number("1001");
    const tamis_noisy_sum good = {zero, one, TAMIS_NOISE_DISCRETE_LAPLACE, one};
    const tamis_noisy_sum bad[] = {
        {NULL, one, TAMIS_NOISE_LAPLACE, one},    {zero, NULL, TAMIS_NOISE_LAPLACE, one},
        {one, zero, TAMIS_NOISE_LAPLACE, one},    {zero, one, TAMIS_NOISE_NONE, NULL},
        {zero, one, TAMIS_NOISE_LAPLACE, NULL},   {zero, one, TAMIS_NOISE_GAUSSIAN, zero},
        {zero, one, TAMIS_NOISE_GAUSSIAN, minus}, {zero, half, TAMIS_NOISE_DISCRETE_LAPLACE, one},
        {zero, one, (tamis_noise_kind)9, one},
    };
    const tamis_number *light[] = {one, one, minus, one, one}, *none[] = {one, one, NULL, one, one};
    const tamis_weighted_sum sums[] = {
        {light, zero, one, one}, {none, zero, one, one},  {NULL, NULL, one, one},  {NULL, zero, NULL, one},
        {NULL, one, zero, one},  {NULL, zero, one, NULL}, {NULL, zero, one, zero}, {NULL, zero, one, minus},
    };
    tamis_bound z;
    int64_t worst;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(tamis_amplify_noise(&z, &worst, d, &bad[i], one, NULL), TAMIS_INVALID);
        assert_true(z.lower == 0 && z.upper == 1);
    }
    assert_int_equal(tamis_amplify_noise(NULL, &worst, d, &good, one, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_amplify_noise(&z, &worst, NULL, &good, one, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_amplify_noise(&z, &worst, d, NULL, one, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_amplify_noise(&z, &worst, d, &good, NULL, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_amplify_noise(&z, &worst, d, &good, minus, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_amplify_noise(&z, &worst, d, &good, huge, NULL), TAMIS_INVALID);
    EVERY_ALLOCATION_FAILS(tamis_amplify_noise(&z, &worst, draws, &good, half, NULL), assert_true(z.lower == 0 && z.upper == 1));
    assert_int_equal(tamis_amplify_noise(&z, &worst, brewer, &good, one, NULL), TAMIS_REFUSED);
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
        assert_int_equal(tamis_amplify_total(&z, &worst, d, &sums[i], NULL), TAMIS_INVALID);
        assert_true(z.lower == 0 && isinf(z.upper));
    }
    assert_int_equal(tamis_amplify_total(NULL, &worst, d, &sums[0], NULL), TAMIS_INVALID);
    assert_int_equal(tamis_amplify_total(&z, &worst, NULL, &sums[0], NULL), TAMIS_INVALID);
    assert_int_equal(tamis_amplify_total(&z, &worst, d, NULL, NULL), TAMIS_INVALID);
    EVERY_ALLOCATION_FAILS(tamis_amplify_noise(&z, &worst, d, &good, half, NULL), assert_true(z.lower == 0 && z.upper == 1));
    EVERY_ALLOCATION_FAILS(tamis_amplify_total(&z, &worst, d, &(tamis_weighted_sum){NULL, zero, one, one}, NULL),
                           assert_true(isinf(z.upper)));
    tamis_number *all[] = {zero, one, half, minus, huge};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tamis_number_free(all[i]);
    tamis_design_free(d);
    tamis_design_free(draws);
    tamis_design_free(brewer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_is_as_bad_as_the_worst_pair),
        cmocka_unit_test(known_noise_beats_its_eps_and_delta),
        cmocka_unit_test(a_unit_may_be_drawn_several_times),
        cmocka_unit_test(laplace_noise_has_a_closed_form),
        cmocka_unit_test(no_total_loses_more),
        cmocka_unit_test(weights_beat_amplification),
        cmocka_unit_test(refuses_bad_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
