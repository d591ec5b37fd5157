/* The claims of the paper `quantile` (docs/papers.md): the true ones checked as numbers, the false ones by what refutes
 * them. */
#include "tests/test.h"

#include <string.h>

#include "num/number.h"

#define MOST 128

static const double PI = 3.14159265358979323846;

static tamis_number *from_double(double x)
{
    tamis_number *z = NULL;
    assert_int_equal(tmi_number_double(&z, x, NULL), TAMIS_OK);
    return z;
}

static double at_least(int64_t n, double p, int64_t k)
{
    tamis_number *x = from_double(p);
    tamis_bound b;
    assert_int_equal(tamis_binomial_at_least(&b, n, x, k, NULL), TAMIS_OK);
    tamis_number_free(x);
    return b.upper;
}

static double at_most(int64_t n, double p, int64_t k)
{
    tamis_number *x = from_double(p);
    tamis_bound b;
    assert_int_equal(tamis_binomial_at_most(&b, n, x, k, NULL), TAMIS_OK);
    tamis_number_free(x);
    return b.upper;
}

/* ---- AboveThreshold and HistogramMethod: the code ---- */

static void law_of(tamis_bound *p, const int64_t *y, size_t count, const tamis_number *threshold, const tamis_number *eps)
{
    tamis_number *queries[MOST], *scale_T, *scale_q;
    for (size_t i = 0; i < count; i++) assert_int_equal(tmi_number_ratio(&queries[i], y[i], 1, NULL), TAMIS_OK);
    assert_int_equal(tamis_threshold_scales(&scale_T, &scale_q, TAMIS_THRESHOLD_CLASSIC, eps, NULL), TAMIS_OK);
    assert_int_equal(tamis_threshold_law(p, (const tamis_number *const *)queries, count, threshold, scale_T, scale_q, NULL),
                     TAMIS_OK);
    for (size_t i = 0; i < count; i++) tamis_number_free(queries[i]);
    tamis_number_free(scale_T);
    tamis_number_free(scale_q);
}

typedef struct code {
    bool scaled_eps, no_offset, no_reset; /* the bugs */
} code;

static const code printed = {true, true, true}, repaired = {false, false, false};

/* The law of decile d as the code has it; gives the number of queries. */
static size_t decile(tamis_bound *p, const code *c, const double *x, size_t n, int d, double eps, int steps, double a, double b)
{
    int64_t counts[MOST];
    size_t count = 0;
    for (int repeat = c->no_reset ? d : 1; repeat > 0; repeat--)
        for (int i = 1; i <= steps; i++, count++) {
            const double cut = i * (b - a) / steps + (c->no_offset ? 0 : a);
            counts[count] = 0;
            for (size_t k = 0; k < n; k++) counts[count] += x[k] < cut;
        }
    tamis_number *threshold, *share = from_double(eps / 9 * (c->scaled_eps ? (b - a) / steps : 1));
    assert_int_equal(tmi_number_ratio(&threshold, d * (int64_t)n, 10, NULL), TAMIS_OK);
    law_of(p, counts, count, threshold, share);
    tamis_number_free(threshold);
    tamis_number_free(share);
    return count;
}

/* The deciles are independent: the worst outputs of all nine together. */
static double loss(const code *c, const double *x, const double *y, size_t n, double eps, int steps, double a, double b)
{
    double total = 0, other = 0;
    for (int d = 1; d <= 9; d++) {
        tamis_bound p[MOST], q[MOST];
        const size_t count = decile(p, c, x, n, d, eps, steps, a, b);
        decile(q, c, y, n, d, eps, steps, a, b);
        double most = 0, reverse = 0;
        for (size_t i = 0; i <= count; i++) {
            most = fmax(most, log(p[i].lower / q[i].upper));
            reverse = fmax(reverse, log(q[i].lower / p[i].upper));
        }
        total += most;
        other += reverse;
    }
    return fmax(total, other);
}

/* Theorem 2.2.1.1 and the code above it: with a range of 100 and ten steps the printed code spends ten times eps/9 per
 * decile. */
static void printed_histogram_loses_more_than_eps(void **state)
{
    const double x[] = {5, 5, 5, 5, 5}, y[] = {95, 5, 5, 5, 5};
    (void)state;
    assert_true(loss(&printed, x, y, 5, 1, 10, 0, 100) > 2);
    assert_true(loss(&repaired, x, y, 5, 1, 10, 0, 100) <= 1);
    const code only_eps = {true, false, false};
    assert_true(loss(&only_eps, x, y, 5, 1, 10, 0, 100) > 1);
}

static void printed_histogram_forgets_where_the_range_begins(void **state)
{
    const double low[] = {1001, 1001, 1001}, high[] = {1009, 1009, 1009};
    tamis_bound p[MOST], q[MOST];
    const code only_offset = {false, true, false};
    (void)state;
    decile(p, &only_offset, low, 3, 5, 9, 10, 1000, 1010);
    decile(q, &only_offset, high, 3, 5, 9, 10, 1000, 1010);
    assert_memory_equal(p, q, 11 * sizeof *p); /* no value is below any cut: the answer has nothing to do with the data */
    decile(p, &repaired, low, 3, 5, 9, 10, 1000, 1010);
    decile(q, &repaired, high, 3, 5, 9, 10, 1000, 1010);
    assert_true(p[1].lower > q[1].upper);
}

/* Decile d asks the queries d times, and an index beyond the steps means nothing. */
static void printed_histogram_never_resets_its_queries(void **state)
{
    const double x[] = {0.15, 0.35, 0.55, 0.75, 1.5}; /* one outside */
    tamis_bound p[MOST];
    const code only_reset = {false, false, true};
    (void)state;
    assert_int_equal(decile(p, &only_reset, x, 5, 9, 90, 10, 0, 1), 90);
    double beyond = 0;
    for (size_t i = 10; i < 90; i++) beyond += p[i].lower;
    assert_true(beyond > 0.1);
    assert_int_equal(decile(p, &repaired, x, 5, 9, 90, 10, 0, 1), 10);
}

/* The library's law is that of the repaired code; its index i stands for the cut i + 1. */
static void repaired_histogram_is_the_library_s(void **state)
{
    const double x[] = {10.5, 13, 13, 17, 19.5};
    tamis_number *list[5], *a = number("10"), *b = number("20"), *q = number("3/10"), *eps = from_double(1.0 / 9);
    tamis_bound p[6], expected[6];
    (void)state;
    for (size_t i = 0; i < 5; i++) list[i] = from_double(x[i]);
    assert_int_equal(tamis_histogram_law(p, NULL, (const tamis_number *const *)list, 5, a, b, 5, q, TAMIS_THRESHOLD_CLASSIC, eps,
                                         NULL),
                     TAMIS_OK);
    decile(expected, &repaired, x, 5, 3, 1, 5, 10, 20);
    for (size_t i = 0; i < 6; i++) assert_true(p[i].lower <= expected[i].upper && expected[i].lower <= p[i].upper);
    for (size_t i = 0; i < 5; i++) tamis_number_free(list[i]);
    tamis_number *all[] = {a, b, q, eps};
    for (size_t i = 0; i < 4; i++) tamis_number_free(all[i]);
}

/* Lemma 2.2.1.1 with k the number of queries and without their noise: outputs that break it have a probability of at most
 * beta. The printed k is the output itself, 0 or -1 as well, whose logarithm does not exist. */
static void above_threshold_is_accurate(void **state)
{
    tamis_number *threshold = number("50"), *eps = number("1"), *beta = number("1/10");
    tamis_bound alpha, p[41];
    int64_t y[40];
    double sharp = 0;
    (void)state;
    assert_int_equal(tamis_threshold_accuracy(&alpha, 40, beta, TAMIS_THRESHOLD_CLASSIC, eps, NULL), TAMIS_OK);
    assert_true(close_to(alpha.upper, 8 * (log(40) + log(20))));
    for (int slope = 1; slope <= 8; slope++) {
        for (int i = 0; i < 40; i++) y[i] = slope * (i - 20) + 50;
        law_of(p, y, 40, threshold, eps);
        double bad = 0, near = 0, passed = -1e9;
        for (int i = 0; i < 40; i++) {
            if ((double)y[i] < 50 - alpha.upper || passed > 50 + alpha.upper) bad += p[i].upper;
            if ((double)y[i] < 50 - alpha.upper / 8) near += p[i].upper;
            passed = fmax(passed, (double)y[i]);
        }
        if (passed > 50 + alpha.upper) bad += p[40].upper;
        assert_true(bad <= 0.1);
        sharp = fmax(sharp, near);
    }
    assert_true(sharp > 0.1); /* an eighth of alpha would not do */
    tamis_number_free(threshold);
    tamis_number_free(eps);
    tamis_number_free(beta);
}

/* ---- uniform values ---- */

/* Lemma 2.2.3.1: P(|d_i - i/10| > gamma/2), exactly, against its bound and against Hoeffding's. */
static void empirical_deciles_are_concentrated(void **state)
{
    static const int64_t sizes[] = {10, 37, 100, 1000, 20000};
    (void)state;
    for (size_t s = 0; s < 5; s++)
        for (int i = 1; i <= 9; i += 2)
            for (int g = 1; g <= 4; g++) {
                const double gamma = g / 40.0, n = (double)sizes[s], d = i / 10.0;
                const int64_t rank = (i * sizes[s] + 9) / 10;
                const double outside = at_least(sizes[s], d - gamma / 2, rank) + at_most(sizes[s], d + gamma / 2, rank - 1);
                assert_true(outside <= 2 * exp(-n * gamma * gamma / 2) * (1 + 1e-9));
                assert_true(outside <= 2 * exp(-n * gamma * gamma / 12) * (1 + 1e-9));
            }
}

/* Lemma 2.2.3.2: at least alpha of n values in an interval of length gamma/2, on both sides. */
static void half_intervals_need_their_condition(void **state)
{
    (void)state;
    /* alpha = 100 where 50 are expected: the printed bound promises nearly certainty. */
    const double claimed = 1 - 2 * exp(-1000 * 0.1 / 4 * (1 - 2 * 100 / (1000 * 0.1)) * (1 - 2 * 100 / (1000 * 0.1)));
    assert_true(claimed > 0.9999999999 && at_least(1000, 0.05, 100) < 1e-9);
    /* with alpha <= n gamma/2 it holds */
    static const int64_t sizes[] = {50, 200, 1000, 10000};
    for (size_t s = 0; s < 4; s++)
        for (int g = 1; g <= 5; g++)
            for (int part = 0; part <= 10; part++) {
                const double gamma = g / 50.0, n = (double)sizes[s], alpha = floor(n * gamma / 2 * part / 10),
                             rest = 1 - 2 * alpha / (n * gamma);
                if (alpha < 1) continue;
                assert_true(at_most(sizes[s], gamma / 2, (int64_t)alpha - 1) <= exp(-n * gamma / 4 * rest * rest) * (1 + 1e-9));
            }
}

static double printed_bound(double n, double k, double eps, double beta, double gamma)
{
    const double alpha = 8 * (log(k) + log(2 / beta)) / eps, rest = 1 - 2 * alpha / (n * gamma);
    return 1 - beta - 2 * exp(-n * gamma / 4 * rest * rest) - 2 * exp(-n * gamma * gamma / 12);
}

/* Theorems 2.2.3.1 and 2.2.3.2 forget the grid: with two steps only 1/2 and 1 can come out. */
static void printed_accuracy_forgets_the_grid(void **state)
{
    (void)state;
    assert_true(printed_bound(1e6, 2, 1, 1e-4, 0.05) > 0.999);
    const double decile = 0.3;
    assert_true(fabs(0.5 - decile) > 0.05 && fabs(1 - decile) > 0.05); /* no answer is within gamma */
    const double alpha = 8 * (log(2) + log(2 / 1e-3)) / 1000,
                 expected = 0.4 * 1e-3 + 2 * sqrt(3 * PI / 1e6) + 8 * exp(alpha) / 1e6;
    assert_true(expected < 0.01 && fabs(0.5 - 0.4) > 0.09); /* the fourth decile is off by 0.1 at least */
}

static tamis_bound corrected(bool normal, int64_t n, int64_t steps, const char *from, const char *to, const char *quantile,
                             const char *eps, const char *beta, const char *gamma)
{
    tamis_number *all[] = {number(from), number(to), number(quantile), number(eps), number(beta), number(gamma)};
    const tamis_histogram_setup s = {n, steps, all[0], all[1], all[2], all[3], all[4], all[5], TAMIS_THRESHOLD_CLASSIC};
    tamis_bound failure;
    assert_int_equal((normal ? tamis_histogram_accuracy_normal : tamis_histogram_accuracy_uniform)(&failure, &s, NULL), TAMIS_OK);
    for (size_t i = 0; i < 6; i++) tamis_number_free(all[i]);
    return failure;
}

static double uniform(uint64_t *stream) { return ((double)(next_word(stream) >> 11) + 0.5) * 0x1p-53; }

/* The probability, given the values, that the answer is outside of [d - gamma, d + gamma + step]. */
static double misses(const double *x, size_t n, int d, double eps, int steps, double a, double b, double centre, double gamma)
{
    tamis_bound p[MOST];
    double outside = 0;
    const code c = repaired;
    decile(p, &c, x, n, d, 9 * eps, steps, a, b); /* decile() divides by nine */
    for (int i = 0; i <= steps; i++) {
        const double answer = i == steps ? b : a + (i + 1) * (b - a) / steps;
        if (answer < centre - gamma || answer > centre + gamma + (b - a) / steps) outside += p[i].upper;
    }
    return outside;
}

/* The bounds are about all samples; averages of the exact probability over some, the same in every run, stay below them. */
static void corrected_accuracy_holds(void **state)
{
    enum { SAMPLES = 40, N = 2000 };
    static double x[N];
    uint64_t stream = 17;
    double uniform_misses = 0, normal_misses = 0;
    (void)state;
    const double promised = corrected(false, N, 20, "0", "1", "3/10", "4", "1/20", "1/10").upper;
    assert_true(promised < 0.1);
    const double promised_normal = corrected(true, N, 20, "-4", "4", "7/10", "4", "1/20", "1/2").upper;
    assert_true(promised_normal < 0.1);
    for (int s = 0; s < SAMPLES; s++) {
        for (size_t i = 0; i < N; i++) x[i] = uniform(&stream);
        uniform_misses += misses(x, N, 3, 4, 20, 0, 1, 0.3, 0.1) / SAMPLES;
        for (size_t i = 0; i < N; i++) x[i] = sqrt(-2 * log(uniform(&stream))) * cos(2 * PI * uniform(&stream));
        normal_misses += misses(x, N, 7, 4, 20, -4, 4, 0.5244005127080407, 0.5) / SAMPLES;
    }
    assert_true(uniform_misses <= promised && normal_misses <= promised_normal);
    /* where fewer than alpha values are expected, nothing is promised */
    assert_true(corrected(false, 100, 20, "0", "1", "3/10", "1/9", "1/20", "1/10").upper == 1);
    /* the formula, written out */
    const double alpha = 8 * (log(20) + log(2 / 0.05)) / 4, mean = N * 0.05, rest = 1 - alpha / mean;
    assert_true(close_to(promised, 0.05 + 2 * exp(-mean / 2 * rest * rest) + 2 * exp(-N * 0.01 / 2)));
}

/* ---- normal values ---- */

static const double normal_deciles[] = {0, -1.2815515655446004, -0.8416212335729143, -0.5244005127080407, -0.2533471031357997,
                                        0, 0.2533471031357997,  0.5244005127080407,  0.8416212335729143,  1.2815515655446004};

static double below(double x) { return erfc(-x / sqrt(2)) / 2; }

static void deciles_of_the_normal_law(void **state)
{
    (void)state;
    for (int i = 1; i <= 9; i++) {
        assert_true(fabs(erf(normal_deciles[i] / sqrt(2)) - (0.2 * i - 1)) < 1e-15);
        assert_true(fabs(below(normal_deciles[i]) - i / 10.0) < 1e-15);
    }
}

/* Lemmas 2.2.4.2 and 2.2.4.3, for gamma up to d_i as they say, which leaves the deciles above the median. */
static void normal_lemmas_hold(void **state)
{
    static const int64_t sizes[] = {20, 100, 1000, 10000};
    (void)state;
    for (size_t s = 0; s < 4; s++)
        for (int i = 6; i <= 9; i++)
            for (int part = 1; part <= 5; part++) {
                const double d = normal_deciles[i], gamma = d * part / 5, n = (double)sizes[s], e = exp(-d * d);
                const int64_t rank = (i * sizes[s] + 9) / 10;
                const double outside = at_least(sizes[s], below(d - gamma / 2), rank) +
                                       at_most(sizes[s], below(d + gamma / 2), rank - 1);
                const double wide = i + 5 * gamma / sqrt(2 * PI);
                const double eta = exp(-n * gamma * gamma / (i * i) * (i / 10.0 - gamma / (2 * sqrt(2 * PI))) * e) +
                                   exp(-5 * gamma * gamma * i * n / (16 * PI * wide * wide) * e);
                assert_true(outside <= eta * (1 + 1e-9));
                for (int share = 1; share <= 4; share++) {
                    const double least = exp(-(d + gamma) * (d + gamma) / 2),
                                 alpha = floor(n * gamma * least / (2 * sqrt(2 * PI)) * share / 4);
                    const double bracket = least - 2 * alpha * sqrt(2 * PI) / (n * gamma);
                    if (alpha < 1 || bracket < 0) continue; /* it says nothing there */
                    const double fewer = at_most(sizes[s], below(d - gamma / 2) - below(d - gamma), (int64_t)alpha - 1) +
                                         at_most(sizes[s], below(d + gamma) - below(d + gamma / 2), (int64_t)alpha - 1);
                    assert_true(fewer <= 2 * exp(-n * gamma / (4 * sqrt(2 * PI)) * bracket * bracket * bracket) * (1 + 1e-9));
                }
            }
}

/* Theorem 2.2.4.1 with two steps between -4 and 4: only 0 and 4 can come out. */
static void printed_normal_accuracy_forgets_the_grid(void **state)
{
    const double n = 1e7, gamma = 0.4, d = normal_deciles[8], alpha = 8 * (log(2) + log(2 / 1e-4)), i = 8;
    (void)state;
    const double bracket = exp(-(d + gamma) * (d + gamma) / 2) - 2 * alpha * sqrt(2 * PI) / (n * gamma);
    const double mu = 2 * exp(-n * gamma / (4 * sqrt(2 * PI)) * bracket * bracket * bracket);
    const double wide = i + 5 * gamma / sqrt(2 * PI);
    const double eta = exp(-n * gamma * gamma / (i * i) * (i / 10.0 - gamma / (2 * sqrt(2 * PI))) * exp(-d * d)) +
                       exp(-5 * gamma * gamma * i * n / (16 * PI * wide * wide) * exp(-d * d));
    assert_true(1 - 1e-4 - eta - mu > 0.999);
    assert_true(fabs(0 - d) > gamma && fabs(4 - d) > gamma);
}

/* ---- inverse sensitivity ---- */

/* Theorem 3.2.0.1: averages over samples of the exact probability, as above. */
static void inverse_sensitivity_is_accurate(void **state)
{
    enum { SAMPLES = 12, N = 1000 };
    tamis_number *list[N], *zero = number("0"), *one = number("1"), *rho = number("1/100"), *u = number("1/20"),
                           *gamma = number("1/5");
    const tamis_inverse_setup setup = {N, one, rho, u, gamma, one, one}; /* the median of uniform values: density 1 */
    tamis_bound failure;
    uint64_t stream = 18;
    double outside = 0;
    (void)state;
    assert_int_equal(tamis_inverse_accuracy(&failure, &setup, NULL), TAMIS_OK);
    assert_true(close_to(failure.upper, 50 * exp(-N * 0.05 / 4) + 4 * exp(-N * 0.04 / 8) + 8 * exp(-N * 0.05 / 8)));
    for (int s = 0; s < SAMPLES; s++) {
        double x[N], sorted_below = 0;
        for (size_t i = 0; i < N; i++) list[i] = from_double(x[i] = uniform(&stream));
        double low = 0, high = 1; /* the sample's median by bisection */
        while (high - low > 1e-12) {
            const double middle = (low + high) / 2;
            sorted_below = 0;
            for (size_t i = 0; i < N; i++) sorted_below += x[i] <= middle;
            if (sorted_below >= N / 2) high = middle;
            else low = middle;
        }
        tamis_number *ends[] = {from_double(high - 0.11), from_double(high + 0.11)};
        tamis_inverse_moments moments;
        tamis_bound p[2];
        assert_int_equal(tamis_inverse_law(&moments, p, (const tamis_number *const *)list, N, N / 2, zero, one, rho, one,
                                           (const tamis_number *const *)ends, 2, NULL),
                         TAMIS_OK);
        outside += (p[0].upper + 1 - p[1].lower) / SAMPLES;
        for (size_t i = 0; i < N; i++) tamis_number_free(list[i]);
        tamis_number_free(ends[0]);
        tamis_number_free(ends[1]);
    }
    assert_true(outside <= failure.lower);

    tamis_number *all[] = {zero, one, rho, u, gamma};
    for (size_t i = 0; i < 5; i++) tamis_number_free(all[i]);
}

/* Which n, which eps: the smallest that do. */
static void the_accuracy_theorem_answers_questions(void **state)
{
    tamis_number *one = number("1"), *rho = number("1/100"), *u = number("1/20"), *gamma = number("1/5"),
                 *target = number("1/1000");
    tamis_inverse_setup s = {0, one, rho, u, gamma, one, one};
    tamis_bound here, before;
    int64_t n;
    (void)state;
    assert_int_equal(tamis_inverse_accuracy_n(&n, &s, target, NULL), TAMIS_OK);
    s.n = n;
    assert_int_equal(tamis_inverse_accuracy(&here, &s, NULL), TAMIS_OK);
    s.n = n - 1;
    assert_int_equal(tamis_inverse_accuracy(&before, &s, NULL), TAMIS_OK);
    assert_true(here.upper <= 1e-3 && before.upper > 1e-3 * (1 - 1e-12));

    double eps;
    s.n = 2 * n;
    assert_int_equal(tamis_inverse_accuracy_eps(&eps, &s, target, NULL), TAMIS_OK);
    tamis_number *enough = from_double(eps), *less = from_double(eps * (1 - 1e-9));
    s.eps = enough;
    assert_int_equal(tamis_inverse_accuracy(&here, &s, NULL), TAMIS_OK);
    s.eps = less;
    assert_int_equal(tamis_inverse_accuracy(&before, &s, NULL), TAMIS_OK);
    assert_true(eps < 1 && here.upper <= 1e-3 && before.upper > 1e-3);

    s.n = 10; /* too few for any eps */
    assert_int_equal(tamis_inverse_accuracy_eps(&eps, &s, target, NULL), TAMIS_UNABLE);
    assert_true(isinf(eps));
    tamis_number *tiny = number("1e-15");
    s.u = tiny;
    s.eps = one;
    assert_int_equal(tamis_inverse_accuracy_n(&n, &s, target, NULL), TAMIS_UNABLE);
    tamis_number *all[] = {one, rho, u, gamma, target, enough, less, tiny};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tamis_number_free(all[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(printed_histogram_loses_more_than_eps),
        cmocka_unit_test(printed_histogram_forgets_where_the_range_begins),
        cmocka_unit_test(printed_histogram_never_resets_its_queries),
        cmocka_unit_test(repaired_histogram_is_the_library_s),
        cmocka_unit_test(above_threshold_is_accurate),
        cmocka_unit_test(empirical_deciles_are_concentrated),
        cmocka_unit_test(half_intervals_need_their_condition),
        cmocka_unit_test(printed_accuracy_forgets_the_grid),
        cmocka_unit_test(corrected_accuracy_holds),
        cmocka_unit_test(deciles_of_the_normal_law),
        cmocka_unit_test(normal_lemmas_hold),
        cmocka_unit_test(printed_normal_accuracy_forgets_the_grid),
        cmocka_unit_test(inverse_sensitivity_is_accurate),
        cmocka_unit_test(the_accuracy_theorem_answers_questions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
