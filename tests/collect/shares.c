/* Estimates and intervals from counts, against the enumeration of everything that can be reported. */
#include "collect/tally/shares.h"

#include "collect/tally/share_interval.h"
#include "tests/test.h"

#define MOST 48 /* reports of an enumerated case */

typedef struct lie_pair {
    const char *one, *zero;
} lie_pair;

static const lie_pair lie_pairs[] = {{"1/4", "1/4"}, {"1/10", "1/10"}, {"2/5", "2/5"}, {"1/2", "1/5"}, {"1/100", "1/3"}};
#define PAIRS (sizeof lie_pairs / sizeof *lie_pairs)

static double value(const char *fraction)
{
    double p = 0, q = 1;
    assert_true(sscanf(fraction, "%lf/%lf", &p, &q) >= 1);
    return p / q;
}

/* P(count = c), c = 0, ..., n, if k of n people have a one: person by person. */
static void count_law(double *law, int n, int k, double lie, double lie_zero)
{
    for (int c = 0; c <= n; c++) law[c] = c == 0;
    for (int i = 0; i < n; i++) {
        const double p = i < k ? 1 - lie : lie_zero;
        for (int c = i + 1; c >= 0; c--) law[c] = law[c] * (1 - p) + (c > 0 ? law[c - 1] * p : 0);
    }
}

static double choose(int n, int k) { return exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)); }

/* The same if the n people are a simple random sample of N, of which K have a one. */
static void sample_law(double *law, int N, int K, int n, double lie, double lie_zero)
{
    double given[MOST + 1];
    for (int c = 0; c <= n; c++) law[c] = 0;
    for (int k = 0; k <= n; k++) {
        if (k > K || n - k > N - K) continue;
        const double p = choose(K, k) * choose(N - K, n - k) / choose(N, n);
        count_law(given, n, k, lie, lie_zero);
        for (int c = 0; c <= n; c++) law[c] += p * given[c];
    }
}

/* The intervals of all counts. */
static void all_intervals(tamis_bound *ends, int n, int N, const lie_pair *pair, const char *confidence)
{
    tamis_number *one = number(pair->one), *zero = number(pair->zero), *level = number(confidence);
    for (int c = 0; c <= n; c++) {
        const tmi_share_case asked = {n, c, one, zero, N, level};
        assert_int_equal(tmi_share_interval(&ends[c], &asked, NULL), TAMIS_OK);
        assert_true(0 <= ends[c].lower && ends[c].lower <= ends[c].upper && ends[c].upper <= 1);
    }
    tamis_number_free(one);
    tamis_number_free(zero);
    tamis_number_free(level);
}

static double coverage(const double *law, const tamis_bound *ends, int n, double share)
{
    double covered = 0;
    for (int c = 0; c <= n; c++)
        if (ends[c].lower <= share && share <= ends[c].upper) covered += law[c];
    return covered;
}

static const int sizes[] = {1, 2, 3, 5, 9, 16, 30};
static const char *const levels[] = {"0.8", "0.95", "0.99"};

static void each_case(void (*look)(int n, const lie_pair *pair, const char *confidence))
{
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t j = 0; j < PAIRS; j++)
            for (size_t k = 0; k < sizeof levels / sizeof *levels; k++) look(sizes[i], &lie_pairs[j], levels[k]);
}

/* The reporters themselves: every number of ones among them is covered often enough, and the interval is that of brute force. */
static void look_at_reporters(int n, const lie_pair *pair, const char *confidence)
{
    tamis_bound ends[MOST + 1];
    double law[MOST + 1], low[MOST + 1], high[MOST + 1];
    const double half = (1 - value(confidence)) / 2 * (1 - 1e-9); /* a tie is not rejected */
    all_intervals(ends, n, n, pair, confidence);
    for (int c = 0; c <= n; c++) low[c] = 2, high[c] = -1;
    for (int k = 0; k <= n; k++) {
        count_law(law, n, k, value(pair->one), value(pair->zero));
        assert_true(coverage(law, ends, n, (double)k / n) >= value(confidence) - 1e-12);
        for (int c = 0; c <= n; c++) {
            double at_most = 0, at_least = 0;
            for (int i = 0; i <= c; i++) at_most += law[i];
            for (int i = c; i <= n; i++) at_least += law[i];
            if (at_most > half) high[c] = fmax(high[c], (double)k / n);
            if (at_least > half) low[c] = fmin(low[c], (double)k / n);
        }
    }
    for (int c = 0; c <= n; c++) {
        if (high[c] < 0) high[c] = 0;
        if (low[c] > 1) low[c] = 1;
        assert_true(close_to(ends[c].lower, fmin(low[c], high[c])) && close_to(ends[c].upper, fmax(low[c], high[c])));
    }
}

static void intervals_of_the_reporters(void **state)
{
    (void)state;
    each_case(look_at_reporters);
}

/* A large population: reports are independent. */
static void look_at_large(int n, const lie_pair *pair, const char *confidence)
{
    tamis_bound ends[MOST + 1];
    double law[MOST + 1];
    const double lie = value(pair->one), zero = value(pair->zero);
    all_intervals(ends, n, 0, pair, confidence);
    for (int step = 0; step <= 200; step++) {
        const double share = step / 200.0, x = zero + share * (1 - lie - zero);
        for (int c = 0; c <= n; c++) law[c] = choose(n, c) * pow(x, c) * pow(1 - x, n - c);
        assert_true(coverage(law, ends, n, share) >= value(confidence) - 1e-9);
    }
}

static void intervals_of_a_large_population(void **state)
{
    (void)state;
    each_case(look_at_large);
}

static void look_at_finite(int n, const lie_pair *pair, const char *confidence)
{
    tamis_bound ends[MOST + 1];
    double law[MOST + 1];
    for (int N = n + 1; N <= 2 * n + 7; N += n / 2 + 3) {
        all_intervals(ends, n, N, pair, confidence);
        for (int K = 0; K <= N; K++) {
            sample_law(law, N, K, n, value(pair->one), value(pair->zero));
            assert_true(coverage(law, ends, n, (double)K / N) >= value(confidence) - 1e-9);
        }
    }
}

static void intervals_of_a_finite_population(void **state)
{
    (void)state;
    each_case(look_at_finite);
}

/* The grid of a large sample costs little: the intervals of a sample of N and of N people who all reported are near to
 * those of independent reports. */
static void large_samples(void **state)
{
    (void)state;
    tamis_number *lie = number("1/4"), *level = number("0.95");
    tmi_share_case c = {.reports = 100000, .ones = 40000, .lie = lie, .lie_zero = lie, .confidence = level};
    tamis_bound large, finite;
    assert_int_equal(tmi_share_interval(&large, &c, NULL), TAMIS_OK);
    assert_true(large.lower < 0.3 && 0.3 < large.upper && large.upper - large.lower < 4.1 * sqrt(0.24 / 100000) / 0.5);
    c.population = INT64_C(100000000000);
    assert_int_equal(tmi_share_interval(&finite, &c, NULL), TAMIS_OK);
    const double width = large.upper - large.lower;
    assert_true(finite.lower < large.lower + 0.002 * width && finite.lower > large.lower - 0.02 * width);
    assert_true(finite.upper > large.upper - 0.002 * width && finite.upper < large.upper + 0.02 * width);
    tamis_number_free(lie);
    tamis_number_free(level);
}

static void refusals(void **state)
{
    (void)state;
    tamis_number *lie = number("1/4"), *level = number("0.95"), *one = number("1");
    const tmi_share_case wrong[] = {{0, 0, lie, lie, 0, level}, {5, 6, lie, lie, 0, level},  {5, -1, lie, lie, 0, level},
                                    {5, 2, lie, lie, 4, level}, {5, 2, lie, lie, -1, level}, {5, 2, lie, lie, 0, one},
                                    {5, 2, lie, lie, 0, NULL}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        tamis_bound share = {0.5, 0.5};
        assert_int_equal(tmi_share_interval(&share, &wrong[i], NULL), TAMIS_INVALID);
        assert_true(share.lower == 0 && share.upper == 1);
    }
    tamis_number_free(lie);
    tamis_number_free(level);
    tamis_number_free(one);
}

/* ---- estimates, of a tally made by hand ---- */

static void shares_of(tamis_tally_share *share, int64_t n, int64_t ones, int64_t N, const lie_pair *pair)
{
    uint64_t counts[] = {(uint64_t)ones};
    char *names[] = {(char[]){"a"}};
    const struct tamis_tally t = {
        .lie = number(pair->one), .lie_zero = number(pair->zero), .bits = 1, .names = names, .reports = n, .ones = counts};
    const tamis_tally_question question = {.size = sizeof(tamis_tally_question), .population = N};
    assert_int_equal(tamis_tally_shares(share, &t, &question, NULL), TAMIS_OK);
    tamis_number_free(t.lie);
    tamis_number_free(t.lie_zero);
}

/* Over everything that n people can report the mean of the estimate is their share, and its variance that of noise_sd. */
static void estimates_are_unbiased(void **state)
{
    (void)state;
    for (size_t j = 0; j < PAIRS; j++)
        for (int n = 1; n <= 12; n += 11)
            for (int k = 0; k <= n; k++) {
                double law[MOST + 1], mean = 0, square = 0;
                const double lie = value(lie_pairs[j].one), zero = value(lie_pairs[j].zero), share = (double)k / n;
                count_law(law, n, k, lie, zero);
                for (int c = 0; c <= n; c++) {
                    tamis_tally_share found;
                    shares_of(&found, n, c, 0, &lie_pairs[j]);
                    mean += law[c] * found.estimate;
                    square += law[c] * found.estimate * found.estimate;
                }
                const double slope = 1 - lie - zero;
                const double variance = (share * lie * (1 - lie) + (1 - share) * zero * (1 - zero)) / (slope * slope * n);
                assert_true(fabs(mean - share) < 1e-12 && fabs(square - mean * mean - variance) < 1e-11);
            }
}

/* (1 - n/N) S^2 / n and the lies': the mean of the estimated variance over all samples and reports is the true variance. Only
 * where no estimate of S^2 is cut at 0 is that exact: reports of which the shares stay inside. */
static void standard_errors(void **state)
{
    (void)state;
    tamis_tally_share share;
    shares_of(&share, 1000, 400, 0, &lie_pairs[0]);
    assert_true(close_to(share.estimate, 0.3) && close_to(share.se, sqrt(0.4 * 0.6 / 1000) / 0.5));
    assert_true(close_to(share.noise_sd, sqrt(0.25 * 0.75 / 1000) / 0.5));
    assert_true(close_to(share.sampling_se, sqrt(0.3 * 0.7 / 1000)));
    shares_of(&share, 1000, 400, 4000, &lie_pairs[0]);
    const double S2 = 0.24 / 0.25 * 1000 / 999 - 0.1875 / 0.25;
    assert_true(close_to(share.sampling_se, sqrt(0.75 * S2 / 1000)));
    assert_true(close_to(share.se, sqrt(0.75 * S2 / 1000 + 0.1875 / 0.25 / 1000)));
    shares_of(&share, 1000, 400, 1000, &lie_pairs[0]);
    assert_true(share.sampling_se == 0 && close_to(share.se, share.noise_sd));
    shares_of(&share, 10, 0, 0, &lie_pairs[0]);
    assert_true(close_to(share.estimate, -0.5) && share.lower == 0 && share.upper < 0.2);
}

static void projections(void **state)
{
    (void)state;
    double scratch[4], inside[] = {0.2, 0.3, 0.5}, out[] = {0.7, 0.5, -0.4, 0.0}, high[] = {5, 1};
    tmi_project(inside, scratch, 3);
    assert_true(close_to(inside[0], 0.2) && close_to(inside[2], 0.5));
    tmi_project(out, scratch, 4);
    assert_true(close_to(out[0], 0.6) && close_to(out[1], 0.4) && out[2] == 0 && out[3] == 0);
    tmi_project(high, scratch, 2);
    assert_true(high[0] == 1 && high[1] == 0);
    uint64_t stream = 7;
    for (int round = 0; round < 200; round++) { /* no point of a grid on the simplex is nearer */
        double x[3], p[3];
        for (int i = 0; i < 3; i++) p[i] = x[i] = (double)next_number(&stream) / 0x1p31 * 2 - 0.5;
        tmi_project(p, scratch, 3);
        assert_true(fabs(p[0] + p[1] + p[2] - 1) < 1e-12);
        double distance = 0;
        for (int i = 0; i < 3; i++) distance += (x[i] - p[i]) * (x[i] - p[i]);
        for (int a = 0; a <= 20; a++)
            for (int b = 0; a + b <= 20; b++) {
                const double q[] = {a / 20.0, b / 20.0, 1 - (a + b) / 20.0};
                double other = 0;
                for (int i = 0; i < 3; i++) other += (x[i] - q[i]) * (x[i] - q[i]);
                assert_true(other >= distance - 1e-12);
            }
    }
}

/* Whole reports of two bits: over all reports of three people the mean of the estimates is their table, and the covariance is
 * that of independent people drawn from a table. */
static void tables_are_unbiased(void **state)
{
    (void)state;
    const double lie = 0.5, zero = 0.2, flip[2][2] = {{1 - zero, zero}, {lie, 1 - lie}}; /* [truth][report] */
    const int people[] = {1, 3, 3};
    double mean[4] = {0}, truth[4] = {0};
    char *names[] = {(char[]){"a"}, (char[]){"b"}};
    struct tamis_tally t = {.lie = number("1/2"), .lie_zero = number("1/5"), .bits = 2, .names = names, .reports = 3};
    for (int i = 0; i < 3; i++) truth[people[i]] += 1 / 3.0;
    for (int all = 0; all < 64; all++) {
        uint64_t cells[4] = {0};
        double p = 1, estimates[4], covariance[16], consistent[4], sum = 0;
        for (int i = 0; i < 3; i++) {
            const int report = all >> 2 * i & 3;
            cells[report]++;
            for (int j = 0; j < 2; j++) p *= flip[people[i] >> j & 1][report >> j & 1];
        }
        t.cells = cells;
        assert_int_equal(tamis_tally_table(estimates, covariance, consistent, &t, NULL), TAMIS_OK);
        for (int i = 0; i < 4; i++) mean[i] += p * estimates[i], sum += consistent[i];
        assert_true(close_to(sum, 1));
        for (int i = 0; i < 4; i++) { /* rows add up to 0: the shares add up to 1 */
            double row = 0;
            for (int k = 0; k < 4; k++) {
                row += covariance[4 * i + k];
                assert_true(fabs(covariance[4 * i + k] - covariance[4 * k + i]) < 1e-12);
            }
            assert_true(fabs(row) < 1e-12);
        }
    }
    for (int i = 0; i < 4; i++) assert_true(fabs(mean[i] - truth[i]) < 1e-12);
    tamis_number_free(t.lie);
    tamis_number_free(t.lie_zero);
}

/* One bit: the covariance of the table is the variance of the share. */
static void covariance_of_one_bit(void **state)
{
    (void)state;
    uint64_t cells[] = {600, 400}, ones[] = {400};
    char *names[] = {(char[]){"a"}};
    struct tamis_tally t = {.lie = number("1/4"), .lie_zero = number("1/8"), .bits = 1, .names = names, .reports = 1000};
    double estimates[2], covariance[4];
    tamis_tally_share share;
    t.cells = cells;
    t.ones = ones;
    assert_int_equal(tamis_tally_table(estimates, covariance, NULL, &t, NULL), TAMIS_OK);
    assert_int_equal(tamis_tally_shares(&share, &t, NULL, NULL), TAMIS_OK);
    assert_true(close_to(estimates[1], share.estimate) && close_to(covariance[3], share.se * share.se));
    assert_true(close_to(covariance[1], -covariance[3]));
    tamis_number_free(t.lie);
    tamis_number_free(t.lie_zero);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(intervals_of_the_reporters),
        cmocka_unit_test(intervals_of_a_large_population),
        cmocka_unit_test(intervals_of_a_finite_population),
        cmocka_unit_test(large_samples),
        cmocka_unit_test(refusals),
        cmocka_unit_test(estimates_are_unbiased),
        cmocka_unit_test(standard_errors),
        cmocka_unit_test(projections),
        cmocka_unit_test(tables_are_unbiased),
        cmocka_unit_test(covariance_of_one_bit),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
