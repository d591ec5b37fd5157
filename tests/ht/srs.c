/* The Horvitz-Thompson total of 0/1 values: against enumeration of all samples, and against itself at sizes that nobody
 * can enumerate.                                                                                                    */
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

#include "tests/base/memory_that_fails.h"
#include "tests/num/enclosure.h"

static void assert_close(tamis_bound b)
{
    assert_true(0 <= b.lower && b.lower <= b.upper);
    assert_true(b.upper - b.lower <= 1e-9 * b.upper + 1e-30);
}

static void assert_holds(tamis_bound b, int64_t p, int64_t q)
{
    mpq_t x, end;
    mpq_inits(x, end, NULL);
    mpq_set_si(x, p, (unsigned long)q);
    mpq_canonicalize(x);
    mpq_set_d(end, b.lower);
    assert_true(mpq_cmp(end, x) <= 0);
    mpq_set_d(end, b.upper);
    assert_true(mpq_cmp(end, x) >= 0);
    mpq_clears(x, end, NULL);
    assert_close(b);
}

/* count[y]: samples of n of the N people that hold y of the first t, by going through all of them. */
static int64_t count_samples(int64_t *count, int N, int n, int t)
{
    int64_t all = 0;
    memset(count, 0, 16 * sizeof *count);
    for (unsigned s = 0; s < 1u << N; s++) {
        if (__builtin_popcount(s) != n) continue;
        count[__builtin_popcount(s & ((1u << t) - 1))]++;
        all++;
    }
    return all;
}

/* The largest q sum_y (P(y) - p/q Q(y))+ over the pairs of the window, in samples. */
static int64_t by_enumeration(int N, int n, int low, int high, int64_t p, int64_t q)
{
    int64_t here[16], there[16], best = 0;
    for (int t = low; t < high; t++) {
        count_samples(here, N, n, t);
        count_samples(there, N, n, t + 1);
        int64_t minus = 0, plus = 0;
        for (int y = 0; y <= n; y++) {
            if (q * here[y] > p * there[y]) minus += q * here[y] - p * there[y];
            if (q * there[y] > p * here[y]) plus += q * there[y] - p * here[y];
        }
        if (minus > best) best = minus;
        if (plus > best) best = plus;
    }
    return best;
}

static void agrees_with_all_samples(void **state)
{
    static const struct {
        const char *text;
        int64_t p, q;
    } factors[] = {{"1", 1, 1}, {"21/20", 21, 20}, {"3/2", 3, 2}, {"2", 2, 1}, {"7", 7, 1}, {"1000", 1000, 1}};
    (void)state;
    for (size_t e = 0; e < sizeof factors / sizeof *factors; e++) {
        tamis_number *E = number(factors[e].text);
        for (int N = 1; N <= 8; N++) {
            for (int n = 1; n <= N; n++) {
                int64_t count[16], all = count_samples(count, N, n, 0);
                for (int low = 0; low < N; low++) {
                    for (int high = low + 1; high <= N; high++) {
                        tamis_ht_srs srs = {N, n, low, high, TAMIS_NOISE_NONE, NULL};
                        tamis_ht_worst worst;
                        tamis_bound delta;
                        assert_int_equal(tamis_ht_srs_delta_exp(&delta, &worst, &srs, E, NULL), TAMIS_OK);
                        int64_t exact = by_enumeration(N, n, low, high, factors[e].p, factors[e].q);
                        assert_holds(delta, exact, factors[e].q * all);
                        assert_true(exact == 0 || (worst.t >= low && worst.t < high));
                    }
                }
            }
        }
        tamis_number_free(E);
    }
}

static tamis_bound delta_of(tamis_ht_srs srs, const char *eps, tamis_ht_worst *worst)
{
    tamis_bound delta;
    tamis_number *x = number(eps);
    assert_int_equal(tamis_ht_srs_delta(&delta, worst, &srs, x, NULL), TAMIS_OK);
    assert_close(delta);
    tamis_number_free(x);
    return delta;
}

/* The worst total need not be at an end of the window. */
static void interior_totals_can_be_worst(void **state)
{
    tamis_ht_srs srs = {8, 4, 2, 6, TAMIS_NOISE_NONE, NULL}, end = {8, 4, 2, 3, TAMIS_NOISE_NONE, NULL};
    tamis_ht_srs other_end = {8, 4, 5, 6, TAMIS_NOISE_NONE, NULL};
    tamis_number *two = number("2");
    tamis_bound delta, at_end, at_other;
    tamis_ht_worst worst;
    (void)state;
    assert_int_equal(tamis_ht_srs_delta_exp(&delta, &worst, &srs, two, NULL), TAMIS_OK);
    assert_int_equal(tamis_ht_srs_delta_exp(&at_end, NULL, &end, two, NULL), TAMIS_OK);
    assert_int_equal(tamis_ht_srs_delta_exp(&at_other, NULL, &other_end, two, NULL), TAMIS_OK);
    assert_true(delta.lower > 1.3 * fmax(at_end.upper, at_other.upper));
    assert_true(worst.t == 3 || worst.t == 4);
    tamis_number_free(two);
}

/* A whole country: blocks of totals are excluded, the ends are the worst, and the answer is narrow. */
static void a_country_takes_blocks(void **state)
{
    tamis_ht_srs srs = {330000000, 1000000, 1000000, 329000000, TAMIS_NOISE_NONE, NULL};
    tamis_ht_srs end = {330000000, 1000000, 1000000, 1000001, TAMIS_NOISE_NONE, NULL};
    tamis_ht_worst worst;
    (void)state;
    tamis_bound delta = delta_of(srs, "0.0001", &worst), at_end = delta_of(end, "0.0001", NULL);
    assert_true(delta.lower > 7.9e-7 && delta.upper < 7.91e-7);
    assert_true(worst.blocks > 100 && worst.blocks < 100000);
    assert_true(worst.t == 1000000 || worst.t == 328999999);
    assert_true(at_end.lower <= delta.upper && delta.lower <= at_end.upper);
}

/* The block search against trying every total, where that can be done. */
static void the_search_misses_nothing(void **state)
{
    static const struct {
        int64_t N, n, low, high;
        const char *eps;
    } cases[] = {{400, 60, 20, 380, "0.01"}, {400, 60, 20, 380, "0.3"},   {300, 150, 40, 200, "0.1"},
                 {500, 20, 3, 499, "0"},     {250, 200, 30, 220, "0.05"}, {377, 33, 100, 270, "0.001"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis_ht_srs srs = {cases[i].N, cases[i].n, cases[i].low, cases[i].high, TAMIS_NOISE_NONE, NULL};
        tamis_bound delta = delta_of(srs, cases[i].eps, NULL), best = {0, 0};
        for (int64_t t = cases[i].low; t < cases[i].high; t++) {
            tamis_ht_srs one = {cases[i].N, cases[i].n, t, t + 1, TAMIS_NOISE_NONE, NULL};
            tamis_bound b = delta_of(one, cases[i].eps, NULL);
            best = (tamis_bound){fmax(best.lower, b.lower), fmax(best.upper, b.upper)};
        }
        assert_true(best.lower <= delta.upper && delta.lower <= best.upper);
    }
}

/* Noise hides more; Gaussian noise does not change the pure eps; a little Laplace noise hardly does. */
static void noise_helps(void **state)
{
    static const tamis_noise_kind kinds[] = {TAMIS_NOISE_LAPLACE, TAMIS_NOISE_GAUSSIAN, TAMIS_NOISE_DISCRETE_LAPLACE,
                                             TAMIS_NOISE_DISCRETE_GAUSSIAN};
    tamis_ht_srs srs = {40, 10, 12, 28, TAMIS_NOISE_NONE, NULL};
    tamis_bound silent = delta_of(srs, "0.2", NULL), pure, noisy;
    tamis_number *small = number("1/2"), *large = number("3");
    (void)state;
    assert_int_equal(tamis_ht_srs_pure(&pure, &srs, NULL), TAMIS_OK);
    for (size_t i = 0; i < 4; i++) {
        srs.noise = kinds[i];
        srs.scale = small;
        tamis_bound some = delta_of(srs, "0.2", NULL);
        assert_int_equal(tamis_ht_srs_pure(&noisy, &srs, NULL), TAMIS_OK);
        if (i % 2 == 1) assert_true(noisy.lower == pure.lower && noisy.upper == pure.upper);
        else assert_true(noisy.upper < pure.lower);
        srs.scale = large;
        tamis_bound more = delta_of(srs, "0.2", NULL);
        assert_true(more.upper < some.lower && some.upper < silent.lower);
    }
    tamis_number_free(small);
    tamis_number_free(large);
}

/* Noise far below one person changes nothing: neither where e^(-1/b) has left the doubles, nor the limit of the pure eps. */
static void hardly_any_noise_is_no_noise(void **state)
{
    static const char *const scales[] = {"1/100", "7/1000", "1e-3", "1e-6", "1e-300"};
    tamis_bound pure;
    (void)state;
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        tamis_number *scale = number(scales[i]);
        tamis_ht_srs laplace = {5, 2, 2, 5, TAMIS_NOISE_LAPLACE, scale}, silent = {5, 2, 2, 4, TAMIS_NOISE_NONE, NULL};
        assert_holds(delta_of(laplace, "1", NULL), 2, 5);
        laplace.high = 4;
        assert_true(fabs(delta_of(laplace, "0.1", NULL).upper - delta_of(silent, "0.1", NULL).upper) < 1e-9);
        assert_int_equal(tamis_ht_srs_pure(&pure, &(tamis_ht_srs){5, 1, 2, 3, TAMIS_NOISE_LAPLACE, scale}, NULL), TAMIS_OK);
        assert_true(fabs(pure.lower - log(1.5)) < 1e-12 && fabs(pure.upper - log(1.5)) < 1e-12);
        tamis_number_free(scale);
    }
}

/* e^eps beyond the doubles' digits: the crossing is found, 20 scales out. */
static void a_huge_eps_is_answered(void **state)
{
    tamis_number *scale = number("1");
    tamis_bound delta = delta_of((tamis_ht_srs){2, 1, 0, 2, TAMIS_NOISE_GAUSSIAN, scale}, "40", NULL);
    (void)state;
    assert_true(delta.lower > 5.079468e-85 && delta.upper < 5.079469e-85);
    tamis_number_free(scale);
}

/* Discrete Gaussian noise of a small scale: more can be worse. The scale for a target meets it, a larger one does not. */
static void more_discrete_gaussian_noise_can_be_worse(void **state)
{
    tamis_number *eps = number("10"), *delta = number("0.001"), *more = number("0.38"), *scale = NULL;
    tamis_ht_srs srs = {2, 2, 0, 2, TAMIS_NOISE_DISCRETE_GAUSSIAN, NULL};
    tamis_bound s;
    char text[128];
    (void)state;
    assert_int_equal(tamis_ht_srs_scale(&s, &srs, eps, delta, NULL), TAMIS_OK);
    snprintf(text, sizeof text, "%.60g", s.upper);
    scale = number(text);
    srs.scale = scale;
    assert_true(s.upper < 0.38 && delta_of(srs, "10", NULL).upper <= 0.001);
    srs.scale = more;
    assert_true(delta_of(srs, "10", NULL).lower > 0.009);
    tamis_number *all[] = {eps, delta, more, scale};
    for (size_t i = 0; i < 4; i++) tamis_number_free(all[i]);
}

/* eps(delta) and the scale for a target bring back what they were asked for. */
static void inverses_invert(void **state)
{
    tamis_ht_srs srs = {60, 12, 15, 45, TAMIS_NOISE_DISCRETE_GAUSSIAN, NULL};
    tamis_number *eps = number("0.1"), *delta = number("0.01"), *none = number("0"), *scale = NULL;
    tamis_bound s, e, back;
    char text[128];
    (void)state;
    assert_int_equal(tamis_ht_srs_scale(&s, &srs, eps, delta, NULL), TAMIS_OK);
    assert_close(s);
    snprintf(text, sizeof text, "%.60g", s.upper);
    scale = number(text);
    srs.scale = scale;
    back = delta_of(srs, "0.1", NULL);
    assert_true(back.upper <= 0.01 && back.lower > 0.01 * (1 - 1e-7));
    assert_int_equal(tamis_ht_srs_epsilon(&e, &srs, delta, NULL), TAMIS_OK);
    assert_true(fabs(e.upper - 0.1) < 1e-7);
    assert_int_equal(tamis_ht_srs_scale(&s, &srs, eps, none, NULL), TAMIS_OK);
    assert_true(s.lower == INFINITY); /* no Gaussian is pure */
    srs.noise = TAMIS_NOISE_LAPLACE;
    assert_int_equal(tamis_ht_srs_scale(&s, &srs, eps, none, NULL), TAMIS_OK);
    assert_close(s);
    tamis_number *all[] = {eps, delta, none, scale};
    for (size_t i = 0; i < 4; i++) tamis_number_free(all[i]);
}

/* 0 people with the value: everything can be told apart, delta = f at every eps. */
/* Where the window reaches 0, delta is n/N whatever the eps: at it eps is 0 and no noise is needed, below it nothing is
 * enough. */
static void the_rate_is_always_enough(void **state)
{
    tamis_ht_srs srs = {3, 1, 0, 3, TAMIS_NOISE_NONE, NULL};
    tamis_number *third = number("1/3"), *less = number("0.3333333333333333333333"), *one = number("1");
    tamis_bound b;
    (void)state;
    assert_int_equal(tamis_ht_srs_epsilon(&b, &srs, third, NULL), TAMIS_OK);
    assert_true(b.lower == 0 && b.upper == 0);
    assert_int_equal(tamis_ht_srs_epsilon(&b, &srs, less, NULL), TAMIS_OK);
    assert_true(b.lower == INFINITY);
    srs.noise = TAMIS_NOISE_LAPLACE;
    assert_int_equal(tamis_ht_srs_scale(&b, &srs, one, third, NULL), TAMIS_OK);
    assert_true(b.lower == 0 && b.upper == 0);
    tamis_number *all[] = {third, less, one};
    for (size_t i = 0; i < 3; i++) tamis_number_free(all[i]);
}

static void nothing_hides_a_single_person(void **state)
{
    tamis_ht_srs srs = {50, 5, 0, 50, TAMIS_NOISE_NONE, NULL};
    tamis_number *tenth = number("0.1"), *less = number("0.09");
    tamis_bound eps;
    (void)state;
    assert_holds(delta_of(srs, "0", NULL), 1, 10);
    assert_holds(delta_of(srs, "9", NULL), 1, 10);
    assert_int_equal(tamis_ht_srs_epsilon(&eps, &srs, less, NULL), TAMIS_OK);
    assert_true(eps.lower == INFINITY);
    tamis_number_free(tenth);
    tamis_number_free(less);
}

static void refuses_bad_input(void **state)
{
    tamis_number *one = number("1"), *minus = number("-1"), *zero = number("0");
    const struct {
        tamis_ht_srs srs;
        const char *word;
    } cases[] = {{{0, 1, 0, 1, TAMIS_NOISE_NONE, NULL}, "population:"},
                 {{-5, 1, 0, 1, TAMIS_NOISE_NONE, NULL}, "population:"},
                 {{INT64_MAX, 1, 0, 1, TAMIS_NOISE_NONE, NULL}, "population:"},
                 {{10, 0, 0, 1, TAMIS_NOISE_NONE, NULL}, "sample:"},
                 {{10, 11, 0, 1, TAMIS_NOISE_NONE, NULL}, "sample:"},
                 {{10, 2, -1, 1, TAMIS_NOISE_NONE, NULL}, "low:"},
                 {{10, 2, 5, 4, TAMIS_NOISE_NONE, NULL}, "low, high:"},
                 {{10, 2, 5, 5, TAMIS_NOISE_NONE, NULL}, "low, high:"},
                 {{10, 2, 5, 11, TAMIS_NOISE_NONE, NULL}, "high:"},
                 {{10, 2, 5, 6, (tamis_noise_kind)9, NULL}, "noise:"},
                 {{10, 2, 5, 6, TAMIS_NOISE_NONE, one}, "scale:"},
                 {{10, 2, 5, 6, TAMIS_NOISE_LAPLACE, NULL}, "scale:"},
                 {{10, 2, 5, 6, TAMIS_NOISE_LAPLACE, zero}, "scale:"},
                 {{10, 2, 5, 6, TAMIS_NOISE_GAUSSIAN, minus}, "scale:"}};
    tamis_ht_srs good = {10, 2, 3, 7, TAMIS_NOISE_NONE, NULL};
    tamis_error err;
    tamis_bound b;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(tamis_ht_srs_delta(&b, NULL, &cases[i].srs, one, &err), TAMIS_INVALID);
        assert_non_null(strstr(err.message, cases[i].word));
        assert_true(b.lower == 0 && b.upper == 1);
        assert_int_equal(tamis_ht_srs_pure(&b, &cases[i].srs, NULL), TAMIS_INVALID);
        assert_int_equal(tamis_ht_srs_epsilon(&b, &cases[i].srs, zero, NULL), TAMIS_INVALID);
        assert_true(b.lower == 0 && b.upper == INFINITY);
    }
    assert_int_equal(tamis_ht_srs_delta(&b, NULL, &good, minus, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "eps:"));
    assert_int_equal(tamis_ht_srs_delta(&b, NULL, &good, NULL, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_ht_srs_delta(&b, NULL, NULL, one, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_ht_srs_delta(NULL, NULL, &good, one, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_ht_srs_delta_exp(&b, NULL, &good, zero, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_ht_srs_delta_exp(&b, NULL, &good, NULL, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_ht_srs_epsilon(&b, &good, minus, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_ht_srs_epsilon(&b, &good, NULL, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_ht_srs_scale(&b, &good, one, zero, NULL), TAMIS_INVALID);
    tamis_number_free(one);
    tamis_number_free(minus);
    tamis_number_free(zero);
}

static void survives_missing_memory(void **state)
{
    tamis_number *eps = number("0.1"), *scale = number("2");
    tamis_ht_srs srs = {5, 2, 1, 3, TAMIS_NOISE_DISCRETE_LAPLACE, scale};
    tamis_bound delta;
    (void)state;
    EVERY_ALLOCATION_FAILS(tamis_ht_srs_delta(&delta, NULL, &srs, eps, NULL), assert_true(delta.lower == 0 && delta.upper == 1));
    tamis_number_free(eps);
    tamis_number_free(scale);
}

/* delta without noise falls to P(all k + 1 rarer people are sampled), k = min(low, N - high), and stays there: at that delta
 * eps is where it gets there, and from there on no noise is needed. */
static void limits_are_met_exactly(void **state)
{
    int cases = 0;
    (void)state;
    for (int64_t N = 2; N <= 8; N++)
        for (int64_t n = 1; n < N; n++)
            for (int64_t low = 1; low < N; low++)
                for (int64_t high = low + 1; high < N; high++) {
                    const int64_t k = low < N - high ? low : N - high;
                    tamis_ht_srs s = {N, n, low, high, TAMIS_NOISE_NONE, NULL};
                    tamis_number *delta = NULL, *part = NULL, *next = NULL;
                    tamis_bound eps, scale, found;
                    if (k >= n) continue; /* there delta falls to 0 */
                    assert_int_equal(tmi_number_ratio(&delta, 1, 1, NULL), TAMIS_OK);
                    for (int64_t i = 0; i <= k; i++) {
                        assert_int_equal(tmi_number_ratio(&part, n - i, N - i, NULL), TAMIS_OK);
                        assert_int_equal(tmi_number_mul(&next, delta, part, NULL), TAMIS_OK);
                        tamis_number_free(delta);
                        tamis_number_free(part);
                        delta = next;
                    }
                    double limit = tmi_number_nearest(delta);
                    assert_int_equal(tamis_ht_srs_epsilon(&eps, &s, delta, NULL), TAMIS_OK);
                    assert_true(eps.upper < 50 && eps.upper - eps.lower <= 1e-12 * eps.upper);
                    for (int beyond = eps.upper == 0; beyond < 2; beyond++) { /* at eps = 0 it may be there already */
                        tamis_number *at = NULL;
                        tamis_ht_srs noisy = s;
                        assert_int_equal(tmi_number_double(&at, beyond ? eps.upper * 1.0001 : eps.lower * 0.9, NULL), TAMIS_OK);
                        assert_int_equal(tamis_ht_srs_delta(&found, NULL, &s, at, NULL), TAMIS_OK);
                        assert_true(beyond ? found.upper <= limit * (1 + 1e-9) : found.lower > limit * (1 + 1e-9));
                        for (int noise = TAMIS_NOISE_LAPLACE; noise <= TAMIS_NOISE_DISCRETE_GAUSSIAN; noise += 2) {
                            noisy.noise = (tamis_noise_kind)noise;
                            assert_int_equal(tamis_ht_srs_scale(&scale, &noisy, at, delta, NULL), TAMIS_OK);
                            assert_true(beyond ? scale.upper == 0 : scale.upper > 0);
                        }
                        tamis_number_free(at);
                    }
                    tamis_number_free(delta);
                    cases++;
                }
    assert_true(cases > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_all_samples),
        cmocka_unit_test(interior_totals_can_be_worst),
        cmocka_unit_test(a_country_takes_blocks),
        cmocka_unit_test(the_search_misses_nothing),
        cmocka_unit_test(noise_helps),
        cmocka_unit_test(hardly_any_noise_is_no_noise),
        cmocka_unit_test(a_huge_eps_is_answered),
        cmocka_unit_test(more_discrete_gaussian_noise_can_be_worse),
        cmocka_unit_test(inverses_invert),
        cmocka_unit_test(the_rate_is_always_enough),
        cmocka_unit_test(limits_are_met_exactly),
        cmocka_unit_test(nothing_hides_a_single_person),
        cmocka_unit_test(refuses_bad_input),
        cmocka_unit_test(survives_missing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
