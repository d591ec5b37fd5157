/* What a guarantee means: the numbers against their definitions, every small mechanism, the paper's section 5.1. */
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "num/number.h"
#include "tests/base/memory_that_fails.h"
#include "tests/num/enclosure.h"

static tamis_meaning meaning(const char *eps, const char *delta)
{
    tamis_number *e = number(eps), *d = number(delta);
    tamis_meaning m;
    assert_int_equal(tamis_meaning_of(&m, e, d, NULL), TAMIS_OK);
    tamis_number_free(e);
    tamis_number_free(d);
    return m;
}

static bool holds(tamis_bound b, double x) { return b.lower <= x * (1 + 1e-14) && b.upper >= x * (1 - 1e-14) && is_narrow(b); }

static void numbers_are_those_of_the_formulas(void **state)
{
    static const struct {
        const char *eps, *delta;
    } cases[] = {
        {"0", "0"}, {"1", "0"}, {"0.05399", "0"}, {"3", "1e-6"}, {"1/7", "1/1000"}, {"8", "0.01"}, {"1", "1"}, {"0", "1"},
    };
    static const double priors[] = {0.01, 0.1, 0.5}, alarms[] = {0.01, 0.05};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis_meaning m = meaning(cases[i].eps, cases[i].delta);
        double delta = strtod(cases[i].delta, NULL), slack = delta > 0 ? 1.1 : 1;
        double E = exp(i == 4 ? 1.0 / 7 : strtod(cases[i].eps, NULL));
        if (i == 4) delta = 1.0 / 1000;
        assert_true(holds(m.odds, slack * E));
        assert_true(holds(m.except, fmin(1, 11 * delta)));
        for (int j = 0; j < 3; j++)
            assert_true(holds(m.posterior[j], priors[j] * slack * E / (1 - priors[j] + priors[j] * slack * E)));
        for (int j = 0; j < 2; j++)
            assert_true(holds(m.found[j], fmin(1, fmin(E * alarms[j] + delta, 1 - (1 - alarms[j] - delta) / E))));
    }
    tamis_meaning one = meaning("1", "0");
    assert_encloses_decimal(one.odds, "2.718281828459045235360287471352662497757247");
    assert_encloses_decimal(one.posterior[2], "0.7310585786300048792511592418218362743651");
    assert_true(one.except.upper == 0);
}

static void stands_absurd_numbers(void **state)
{
    (void)state;
    tamis_meaning m = meaning("1e300", "0");
    assert_true(m.odds.upper == INFINITY && m.odds.lower > 1e299 && m.posterior[0].upper == 1 && m.found[0].upper == 1);
    m = meaning("800", "0");
    assert_true(m.odds.upper == INFINITY && m.posterior[2].lower > 0.999 && m.posterior[2].upper <= 1);
    m = meaning("1e-300", "0");
    assert_true(m.odds.lower == 1 && m.odds.upper > 1 && m.posterior[2].lower > 0.4999999 && m.posterior[2].upper < 0.5000001);
}

/* ---- posterior to posterior, any prior ---- */

/* Two possible rests d of the data, three possible records r of the person, three outputs. An eps-private mechanism: for
 * each d and output, probabilities of the three records within a factor E of each other. */
typedef struct world {
    double prior[2][3], out[2][3][3];
} world;

static unsigned seed = 51;

static double uniform(void)
{
    seed = seed * 1664525u + 1013904223u;
    return (double)(seed >> 8) / (1 << 24);
}

/* For each d a base law on the outputs; each record's law is the base tilted by a factor between 1 and s^2 on each output,
 * s chosen so that normalised laws stay within E = s^2 * s^2 of each other; many random tilts are at the ends. */
static void random_world(world *w, double E)
{
    double total = 0, s = sqrt(E);
    for (int d = 0; d < 2; d++) {
        for (int r = 0; r < 3; r++) {
            total += w->prior[d][r] = pow(uniform(), 6) + 1e-9; /* some records nearly impossible, correlated with d */
            double sum = 0;
            for (int t = 0; t < 3; t++) sum += w->out[d][r][t] = uniform() < 0.5 ? 1 : s;
            for (int t = 0; t < 3; t++) w->out[d][r][t] /= sum; /* sums differ by at most s: ratios by at most s * s */
        }
    }
    for (int d = 0; d < 2; d++)
        for (int r = 0; r < 3; r++) w->prior[d][r] /= total;
}

/* P(the person's record is `r` | output t), and the same had the record been replaced by a guess from the rest: (5.1). */
static void beliefs(double *with, double *without, const world *w, int r, int t)
{
    double all = 0, a = 0, b = 0;
    for (int d = 0; d < 2; d++) {
        double mass = w->prior[d][0] + w->prior[d][1] + w->prior[d][2], mixed = 0;
        for (int k = 0; k < 3; k++) mixed += w->prior[d][k] / mass * w->out[d][k][t];
        all += mass * mixed;
        a += w->prior[d][r] * w->out[d][r][t];
        b += w->prior[d][r] * mixed;
    }
    *with = a / all;
    *without = b / all;
}

/* (5.1) lies between e^-eps and e^eps, and the sharper bound on the odds holds, for any prior. */
static void no_prior_learns_more(void **state)
{
    double largest = 0;
    (void)state;
    for (int round = 0; round < 20000; round++) {
        static const double factors[] = {1.1, 2, 2.718281828, 20};
        double E = factors[round % 4], with, without;
        world w;
        random_world(&w, E);
        for (int t = 0; t < 3; t++) {
            for (int r = 0; r < 3; r++) {
                beliefs(&with, &without, &w, r, t);
                assert_true(with / without <= E * (1 + 1e-9) && with / without >= 1 / E * (1 - 1e-9));
                assert_true(with <= without * E / (1 - without + without * E) * (1 + 1e-9));
                largest = fmax(largest, log(with / without) / log(E));
            }
        }
    }
    assert_true(largest > 0.3);
}

/* 5.1.3, 5.1.4: "achieved" is a supremum. A binary randomized response with odds E and prior p for r: the ratio (5.1) is
 * E / (1 - p + p E) < E, and tends to E = e^eps (not to eps) as p tends to 0. The sampling, of whatever rate, changes
 * nothing for one who knows that the person was sampled. */
static void the_bound_is_approached_and_not_reached(void **state)
{
    double E = exp(2), before = 0;
    (void)state;
    for (double p = 0.5; p > 1e-9; p /= 2) {
        world w = {.prior = {{p, 1 - p, 0}, {0, 0, 0}}};
        for (int t = 0; t < 2; t++) {
            w.out[0][0][t] = t == 0 ? E / (1 + E) : 1 / (1 + E);
            w.out[0][1][t] = t == 1 ? E / (1 + E) : 1 / (1 + E);
        }
        double mixed = p * w.out[0][0][0] + (1 - p) * w.out[0][1][0], ratio = w.out[0][0][0] / mixed;
        assert_true(ratio < E && ratio > before);
        before = ratio;
    }
    assert_true(before > E * (1 - 1e-7));
}

/* A frame of 10, one drawn at random, then randomized response with odds E: for one who does not know who was drawn the
 * loss is log(1 + (E-1)/10); given that the person was drawn it is log E again. */
static void knowing_the_sample_takes_the_amplification_away(void **state)
{
    double E = exp(1), truth = E / (1 + E), lie = 1 / (1 + E), f = 0.1;
    tamis_number *e = number("1"), *zero = number("0");
    tamis_bound eps, delta;
    (void)state;
    assert_int_equal(tamis_amplify_srs(&eps, &delta, 10, 1, e, zero, NULL), TAMIS_OK);
    double secret = (f * truth + (1 - f) * lie) / lie; /* others all answer no */
    assert_true(fabs(log(secret) - eps.upper) < 1e-14);
    assert_true(fabs(log(truth / lie) - 1) < 1e-14);
    tamis_number_free(e);
    tamis_number_free(zero);
}

/* ---- the attack view ---- */

/* All pairs of laws on three outcomes, in twentieths: the best test never beats the bound at its own (eps, delta). */
static void no_test_finds_more(void **state)
{
    (void)state;
    for (int a = 0; a <= 20; a++) {
        for (int b = 0; a + b <= 20; b++) {
            for (int c = 0; c <= 20; c += 2) {
                for (int d = 0; c + d <= 20; d += 2) {
                    double P[3] = {a / 20.0, b / 20.0, (20 - a - b) / 20.0}, Q[3] = {c / 20.0, d / 20.0, (20 - c - d) / 20.0};
                    for (int k = 0; k < 3; k++) {
                        double E = exp(k), delta = 0, back = 0;
                        for (int t = 0; t < 3; t++) {
                            delta += fmax(0, P[t] - E * Q[t]);
                            back += fmax(0, Q[t] - E * P[t]);
                        }
                        delta = fmax(delta, back);
                        for (int set = 0; set < 8; set++) {
                            double hits = 0, alarms = 0;
                            for (int t = 0; t < 3; t++)
                                if (set >> t & 1) hits += P[t], alarms += Q[t];
                            assert_true(hits <= fmin(E * alarms + delta, 1 - (1 - alarms - delta) / E) + 1e-12);
                        }
                    }
                }
            }
        }
    }
}

/* P(odds > c e^eps) <= delta c / (c - 1): what is said of delta, on the same laws. */
static void delta_bounds_the_exception(void **state)
{
    (void)state;
    for (int a = 0; a <= 20; a++) {
        for (int b = 0; a + b <= 20; b++) {
            for (int c = 0; c <= 20; c++) {
                for (int d = 0; c + d <= 20; d++) {
                    double P[3] = {a / 20.0, b / 20.0, (20 - a - b) / 20.0}, Q[3] = {c / 20.0, d / 20.0, (20 - c - d) / 20.0};
                    double E = exp(0.5), delta = 0, beyond = 0;
                    for (int t = 0; t < 3; t++) {
                        delta += fmax(0, P[t] - E * Q[t]);
                        if (P[t] > 1.1 * E * Q[t]) beyond += P[t];
                    }
                    assert_true(beyond <= 11 * delta + 1e-12);
                }
            }
        }
    }
}

/* A whole profile says more than one point of it: Gaussian noise. */
static void a_profile_gives_a_sharper_view(void **state)
{
    tamis_number *scale = number("2"), *one = number("1"), *delta = number("1e-6");
    tamis_profile *profile;
    tamis_bound eps;
    tamis_meaning whole, point;
    (void)state;
    assert_int_equal(tamis_profile_gaussian(&profile, scale, one, NULL), TAMIS_OK);
    assert_int_equal(tamis_meaning_of_profile(&whole, profile, delta, NULL), TAMIS_OK);
    assert_int_equal(tamis_profile_epsilon(&eps, profile, delta, NULL), TAMIS_OK);
    tamis_number *e;
    assert_int_equal(tmi_number_double(&e, eps.upper, NULL), TAMIS_OK);
    assert_int_equal(tamis_meaning_of(&point, e, delta, NULL), TAMIS_OK);
    assert_true(whole.odds.upper == point.odds.upper && whole.found[0].upper < point.found[0].upper / 2);
    /* the truth: Phi(Phi^-1(0.05) + 1/2) = 0.12614..., never above the bound */
    assert_true(whole.found[1].upper > 0.12613 && whole.found[1].upper < 0.14);
    assert_int_equal(tamis_meaning_of_profile(NULL, profile, delta, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_meaning_of_profile(&whole, NULL, delta, NULL), TAMIS_INVALID);
    assert_true(whole.found[0].upper == 1 && whole.odds.upper == INFINITY);
    tamis_profile_free(profile);
    tamis_number_free(scale);
    tamis_number_free(one);
    tamis_number_free(delta);
    tamis_number_free(e);
}

/* ---- texts ---- */

static void text_is_the_golden_one(void **state)
{
    tamis_number *one = number("1"), *zero = number("0"), *out = number("0.054"), *delta = number("1e-6");
    tamis_promise p = {.eps = one, .delta = zero, .outsider_eps = out, .outsider_delta = zero};
    char *text;
    (void)state;
    assert_int_equal(tamis_meaning_text(&text, &p, NULL), TAMIS_OK);
    assert_non_null(strstr(text, "knows who was sampled         2.72     2.7     23.2     73.2     2.8    13.6"));
    assert_non_null(strstr(text, "journalist, any record        2.72     2.7     23.2     73.2     2.8    13.6"));
    assert_non_null(strstr(text, "outsider                      1.06     1.1     10.5     51.4     1.1     5.3"));
    assert_null(strstr(text, "Delta"));
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        assert_true(strlen(line) < 90 || strstr(line, "\xe2\x94\x80"));
    tamis_free(text);
    p = (tamis_promise){.eps = one, .delta = delta};
    assert_int_equal(tamis_meaning_text(&text, &p, NULL), TAMIS_OK);
    assert_non_null(strstr(text, " none"));
    assert_non_null(strstr(text, "Delta: with probability at most 0.000011 the output is one"));
    assert_non_null(strstr(text, " 3.00 ")); /* 1.1 e, rounded up */
    tamis_free(text);
    p = (tamis_promise){.eps = one, .delta = zero, .outsider_eps = out, .outsider_delta = delta};
    assert_int_equal(tamis_meaning_text(&text, &p, NULL), TAMIS_OK);
    assert_non_null(strstr(text, "0.000011")); /* of whoever has the larger delta */
    tamis_free(text);
    p = (tamis_promise){.eps = one, .delta = delta};
    char *json, *svg;
    assert_int_equal(tamis_meaning_json(&json, &p, NULL), TAMIS_OK);
    assert_true(strstr(json, "\"nosy neighbour\"") && strstr(json, "\"journalist\"") && !strstr(json, "\"outsider\""));
    assert_non_null(strstr(json, "\"odds\": \"3.00\"")); /* as the table says it */
    tamis_free(json);
    assert_int_equal(tamis_meaning_svg(&svg, &p, NULL), TAMIS_OK);
    assert_true(strstr(svg, "<svg") && strstr(svg, "who knows who was sampled") && !strstr(svg, "outsider"));
    tamis_free(svg);
    tamis_number_free(one);
    tamis_number_free(zero);
    tamis_number_free(out);
    tamis_number_free(delta);
}

static void refuses_bad_input(void **state)
{
    tamis_number *one = number("1"), *zero = number("0"), *minus = number("-1"), *two = number("2");
    tamis_meaning m;
    tamis_error err;
    tamis_bound z;
    (void)state;
    const struct {
        const tamis_number *eps, *delta;
        const char *names;
    } cases[] = {
        {NULL, zero, "eps:"}, {minus, zero, "eps:"}, {one, NULL, "delta:"}, {one, minus, "delta:"}, {one, two, "delta:"},
    };
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(tamis_meaning_of(&m, cases[i].eps, cases[i].delta, &err), TAMIS_INVALID);
        assert_int_equal(strncmp(err.message, cases[i].names, strlen(cases[i].names)), 0);
        assert_true(m.odds.upper == INFINITY && m.except.upper == 1 && m.posterior[1].upper == 1 && m.found[1].upper == 1);
        tamis_promise p = {.eps = cases[i].eps, .delta = cases[i].delta};
        char *text = (char *)&m;
        assert_int_equal(tamis_meaning_text(&text, &p, &err), TAMIS_INVALID);
        assert_null(text);
    }
    assert_int_equal(tamis_meaning_of(NULL, one, zero, &err), TAMIS_INVALID);
    assert_int_equal(tamis_meaning_posterior(&z, two, one, &err), TAMIS_INVALID);
    assert_int_equal(tamis_meaning_posterior(&z, minus, one, &err), TAMIS_INVALID);
    assert_int_equal(tamis_meaning_posterior(&z, NULL, one, &err), TAMIS_INVALID);
    assert_int_equal(tamis_meaning_posterior(&z, one, minus, &err), TAMIS_INVALID);
    assert_int_equal(tamis_meaning_posterior(&z, one, NULL, &err), TAMIS_INVALID);
    assert_true(z.lower == 0 && z.upper == 1);
    assert_int_equal(tamis_meaning_posterior(NULL, one, one, &err), TAMIS_INVALID);
    assert_int_equal(tamis_meaning_posterior(&z, zero, one, &err), TAMIS_OK);
    assert_true(z.upper == 0);
    char *text;
    tamis_promise half = {.eps = one, .delta = zero, .outsider_eps = one};
    assert_int_equal(tamis_meaning_json(&text, &half, &err), TAMIS_INVALID);
    assert_int_equal(tamis_meaning_svg(&text, NULL, &err), TAMIS_INVALID);
    assert_int_equal(tamis_meaning_text(NULL, &half, &err), TAMIS_INVALID);
    tamis_promise good = {.eps = one, .delta = zero, .outsider_eps = one, .outsider_delta = zero};
    EVERY_ALLOCATION_FAILS(tamis_meaning_text(&text, &good, NULL), assert_null(text));
    tamis_free(text);
    EVERY_ALLOCATION_FAILS(tamis_meaning_json(&text, &good, NULL), assert_null(text));
    tamis_free(text);
    tamis_number_free(one);
    tamis_number_free(zero);
    tamis_number_free(minus);
    tamis_number_free(two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_those_of_the_formulas),
        cmocka_unit_test(stands_absurd_numbers),
        cmocka_unit_test(no_prior_learns_more),
        cmocka_unit_test(the_bound_is_approached_and_not_reached),
        cmocka_unit_test(knowing_the_sample_takes_the_amplification_away),
        cmocka_unit_test(no_test_finds_more),
        cmocka_unit_test(delta_bounds_the_exception),
        cmocka_unit_test(a_profile_gives_a_sharper_view),
        cmocka_unit_test(text_is_the_golden_one),
        cmocka_unit_test(refuses_bad_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
