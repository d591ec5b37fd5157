/* The distribution function from a tree: the loss by brute force over neighbours, least squares by definition, the noise by its
 * law.
 */
#include "tests/test.h"

#include <string.h>

#include "mech/quantile/tree.h"
#include "num/number.h"
#include "tests/base/memory_that_fails.h"
#include "tests/rng/with_rng.h"

static tamis_distribution *distribution_of(const char *to, int64_t bins, const char *epsilon, int add_remove, int64_t rows,
                                           int64_t max_weight)
{
    tamis_number *x[] = {number("0"), number(to), number("1"), number(epsilon)};
    const tamis_distribution_setup setup = {.from = x[0],
                                            .to = x[1],
                                            .step = x[2],
                                            .bins = bins,
                                            .epsilon = x[3],
                                            .add_remove = add_remove,
                                            .rows_per_unit = rows,
                                            .max_weight = max_weight};
    tamis_distribution *d;
    assert_int_equal(tamis_distribution_new(&d, &setup, NULL), TAMIS_OK);
    for (size_t i = 0; i < 4; i++) tamis_number_free(x[i]);
    return d;
}

static size_t level_of(const tmi_bin_tree *t, size_t node)
{
    size_t level = 0;
    while (node >= t->first[level + 1]) level++;
    return level;
}

static void scales_of(double *scales, const tmi_bin_tree *t)
{
    for (size_t l = 0; l < t->levels; l++) scales[l] = tmi_number_nearest(t->scales[l]);
}

/* The largest loss between data sets whose bins differ by `change`, attained for some noise: |k| / scale for each node. */
static double loss(const tmi_bin_tree *t, const double *scales, const int64_t *change)
{
    int64_t sums[200];
    double sum = 0;
    assert_true(t->first[t->levels] <= 200);
    tmi_bin_tree_measure(sums, t, change);
    for (size_t l = 0; l < t->levels; l++)
        for (size_t v = t->first[l]; v < t->first[l + 1]; v++) sum += fabs((double)sums[v]) / scales[l];
    return sum;
}

/* Every unit of two records, one of every weight, replaced by every other, or added. */
static void no_pair_of_neighbours_loses_more(void **state)
{
    enum { BINS = 14, WEIGHT = 2 };
    (void)state;
    for (int add_remove = 0; add_remove < 2; add_remove++) {
        tamis_distribution *d = distribution_of("139", BINS, "3/4", add_remove, 2, WEIGHT);
        double most = 0, scales[TMI_TREE_LEVELS];
        assert_true(d->tree->levels > 1);
        scales_of(scales, d->tree);
        for (int code = 0; code < BINS * BINS * BINS * BINS; code++)
            for (int weight = 0; weight <= WEIGHT; weight++) {
                int64_t change[BINS] = {0};
                change[code % BINS] += weight;
                change[code / BINS % BINS] += WEIGHT;
                if (!add_remove) { /* the others have the largest weight */
                    change[code / (BINS * BINS) % BINS] -= WEIGHT;
                    change[code / (BINS * BINS * BINS)] -= WEIGHT;
                } else if (code >= BINS * BINS) break;
                most = fmax(most, loss(d->tree, scales, change));
            }
        assert_true(most <= 0.75 * (1 + 1e-12));
        assert_true(most >= 0.75 * (1 - 1e-12));
        tamis_distribution_free(d);
    }
}

/* Trees of many shapes: one record that moves. The claim is attained between children of the root, for any number of bins. */
static void trees_of_all_sizes_lose_what_they_claim(void **state)
{
    (void)state;
    for (int64_t bins = 2; bins <= 130; bins += bins < 20 ? 1 : 11) {
        tamis_distribution *d = distribution_of("999", bins, "1", 0, 1, 0);
        double most = 0, scales[TMI_TREE_LEVELS];
        scales_of(scales, d->tree);
        for (int64_t i = 0; i < bins; i++)
            for (int64_t j = 0; j < bins; j++) {
                int64_t change[130] = {0};
                change[i]++;
                change[j]--;
                most = fmax(most, loss(d->tree, scales, change));
            }
        assert_true(fabs(most - 1) < 1e-12);
        tamis_distribution_free(d);
    }
}

/* Each level is drawn with its own scale. The mean of |noise| of 40,000 draws has a relative standard deviation of 1/200, or of
 * that of the smallest scale here, 1.1/200: nine of them are exceeded with probability below 10^-15. Seed 4. */
static void every_level_has_its_noise(void **state)
{
    enum { DRAWS = 40000 };
    tamis_distribution *d = distribution_of("9999", 200, "1/4", 0, 1, 0);
    const tmi_bin_tree *t = d->tree;
    double sum[TMI_TREE_LEVELS] = {0};
    size_t seen[TMI_TREE_LEVELS] = {0};
    (void)state;
    bits_from_seed(4);
    assert_true(t->levels > 1);
    for (bool more = true; more;) {
        assert_int_equal(tamis_distribution_prepare(d, rng, NULL), TAMIS_OK);
        more = false;
        for (size_t v = 0; v < d->measures; v++) {
            sum[level_of(t, v)] += fabs((double)d->drawn[v]);
            more = ++seen[level_of(t, v)] < DRAWS || more;
        }
    }
    for (size_t l = 0; l < t->levels; l++) {
        const double q = exp(-1 / tmi_number_nearest(t->scales[l])), mean = 2 * q / (1 - q * q);
        assert_true(fabs(sum[l] / (double)seen[l] / mean - 1) < 0.05);
        assert_true(fabs(t->noise_variance[l] * (1 - q) * (1 - q) / (2 * q) - 1) < 1e-9);
    }
    tamis_distribution_free(d);
}

/* A weighted least-squares fit of the bins to the measurements of all nodes, by normal equations. */
static void fit(double *bins, const tmi_bin_tree *t, const double *measured)
{
    enum { MOST = 40 };
    double a[MOST][MOST + 1] = {{0}};
    const size_t n = t->bins;
    for (size_t v = 0; v < t->first[t->levels]; v++) {
        int64_t sums[200], x[MOST];
        double covers[MOST];
        for (size_t i = 0; i < n; i++) { /* which bins are below this node: by the code that measures */
            memset(x, 0, sizeof x);
            x[i] = 1;
            tmi_bin_tree_measure(sums, t, x);
            covers[i] = (double)sums[v];
        }
        const double weight = 1 / t->noise_variance[level_of(t, v)];
        for (size_t i = 0; i < n; i++) {
            for (size_t j = 0; j < n; j++) a[i][j] += weight * covers[i] * covers[j];
            a[i][n] += weight * covers[i] * measured[v];
        }
    }
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < n; i++) {
            const double factor = a[i][k] / a[k][k];
            for (size_t j = k; i != k && j <= n; j++) a[i][j] -= factor * a[k][j];
        }
    for (size_t i = 0; i < n; i++) bins[i] = a[i][n] / a[i][i];
}

static void estimates_are_least_squares(void **state)
{
    uint64_t stream = 8;
    (void)state;
    for (int64_t size = 3; size <= 37; size += 2) {
        tamis_distribution *d = distribution_of("999", size, "2", 1, 1, 0);
        const tmi_bin_tree *t = d->tree;
        double nodes[200], bins[40];
        for (size_t v = 0; v < d->measures; v++) nodes[v] = (double)(next_number(&stream) % 1000);
        fit(bins, t, nodes);
        tmi_bin_tree_consistent(nodes, t);
        for (size_t i = 0; i < t->bins; i++) assert_true(fabs(nodes[t->first[t->levels - 1] + i] - bins[i]) < 1e-8);
        tamis_distribution_free(d);
    }
}

/* The estimates are linear: a prefix sum's variance is the sum of squared coefficients. */
static void deviations_are_those_of_the_estimates(void **state)
{
    (void)state;
    for (int64_t size = 2; size <= 150; size += size < 40 ? 1 : 13) {
        tamis_distribution *d = distribution_of("999", size, "1/2", 0, 1, 3);
        const tmi_bin_tree *t = d->tree;
        double variance[150] = {0}, nodes[400];
        assert_true(d->measures <= 400);
        for (size_t v = 0; v < d->measures; v++) {
            double sum = 0;
            memset(nodes, 0, sizeof nodes);
            nodes[v] = 1;
            tmi_bin_tree_consistent(nodes, t);
            for (size_t i = 0; i < t->bins; i++) {
                sum += nodes[t->first[t->levels - 1] + i];
                variance[i] += sum * sum * t->noise_variance[level_of(t, v)];
            }
        }
        for (size_t i = 0; i < t->bins; i++) assert_true(fabs(d->sd[i] * d->sd[i] / variance[i] - 1) < 1e-9);
        tamis_distribution_free(d);
    }
}

/* In records, epsilon 1, rows replaced; a histogram that is added up has 11, 45, 89 and 179 at the end. */
static void the_noise_is_as_small_as_stated(void **state)
{
    static const struct {
        int64_t bins;
        double mean, most;
    } cases[] = {{16, 8.1, 9.7}, {256, 17, 21.5}, {1024, 22.1, 28.2}, {4096, 28.4, 36.2}}; /* docs/quantiles.md */
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis_distribution *d = distribution_of("9999", cases[i].bins, "1", 0, 1, 0);
        double most = 0, sum = 0;
        for (size_t k = 0; k < d->bins; k++) {
            most = fmax(most, d->sd[k]);
            sum += d->sd[k] * d->sd[k];
        }
        const double mean = sqrt(sum / (double)d->bins);
        print_message("# %d bins: %d levels of %d, root mean square %.3g, largest %.3g\n", (int)d->bins, (int)d->tree->levels,
                      (int)d->tree->branching, mean, most);
        assert_true(mean < cases[i].mean && most < cases[i].most);
        tamis_distribution_free(d);
    }
}

/* From records to answers: errors are those that `sd` states, and the smoothed function never falls. */
static void answers_have_the_stated_error(void **state)
{
    enum { BINS = 100, RUNS = 400, RECORDS = 5000 };
    static int64_t points[RECORDS];
    tamis_distribution *d = distribution_of("9999", BINS, "1/2", 0, 1, 0);
    double squares = 0, smooth_squares = 0, expected = 0, truth = 0;
    uint64_t stream = 3;
    tamis_number *half = number("1/2");
    (void)state;
    bits_from_seed(9);
    for (size_t i = 0; i < RECORDS; i++) {
        points[i] = i == 7 ? INT64_MIN : (int64_t)(next_number(&stream) % 11000) - 300;
        truth += points[i] != INT64_MIN && points[i] <= 5099;
    }
    for (int run = 0; run < RUNS; run++) {
        double before = 0;
        int64_t median;
        assert_int_equal(tamis_distribution_prepare(d, rng, NULL), TAMIS_OK);
        assert_int_equal(tamis_distribution_points(d, points, NULL, RECORDS, NULL), TAMIS_OK);
        for (int64_t bin = 0; bin < BINS; bin++) {
            double smooth, plain, sd;
            int64_t last;
            assert_int_equal(tamis_distribution_at(&last, &smooth, &plain, &sd, d, bin, NULL), TAMIS_OK);
            assert_int_equal(last, bin * 100 + 99);
            assert_true(smooth >= before);
            before = smooth;
            if (bin != 50) continue;
            squares += (plain - truth) * (plain - truth);
            smooth_squares += (smooth - truth) * (smooth - truth);
            expected = sd * sd;
        }
        assert_int_equal(tamis_distribution_quantile(&median, d, half, NULL), TAMIS_OK);
        assert_true(median > 4000 && median < 6400);
    }
    /* A sum of a dozen Laplace variables has a kurtosis below 3.6: the mean of 400 squares has a relative standard deviation
     * below 0.081, and 0.55 and 1.6 are more than 5.5 and 7 of them away: probability below 10^-9, as squares are skewed
     * upwards. */
    assert_true(squares / RUNS / expected > 0.55 && squares / RUNS / expected < 1.6);
    assert_true(smooth_squares <= squares * 1.2);
    tamis_distribution_free(d);
    tamis_number_free(half);
}

/* Weights and rows per unit enlarge the noise in proportion. */
static void scales_follow_weights_and_rows(void **state)
{
    tamis_distribution *one = distribution_of("999", 100, "1", 1, 1, 0), *more = distribution_of("999", 100, "1", 1, 3, 5),
                       *moved = distribution_of("999", 100, "1", 0, 1, 0);
    (void)state;
    double sum = 0;
    for (size_t l = 0; l < one->tree->levels; l++) sum += 1 / tmi_number_nearest(one->tree->scales[l]);
    assert_true(fabs(sum - 1) < 1e-12);
    sum = 0;
    for (size_t l = 0; l < more->tree->levels; l++) sum += 15 / tmi_number_nearest(more->tree->scales[l]);
    assert_true(fabs(sum - 1) < 1e-12);
    sum = 0;
    for (size_t l = 0; l < moved->tree->levels; l++) sum += 2 / tmi_number_nearest(moved->tree->scales[l]);
    assert_true(fabs(sum - 1) < 1e-12);
    tamis_distribution_free(one);
    tamis_distribution_free(more);
    tamis_distribution_free(moved);
}

static void wrong_calls_are_named(void **state)
{
    tamis_number *x[] = {number("0"), number("9"), number("1"), number("0"), number("1001")};
    tamis_distribution_setup setup = {.from = x[0], .to = x[1], .step = x[2], .bins = 3};
    tamis_distribution *d;
    tamis_error err;
    const int64_t points[] = {1};
    (void)state;
    assert_int_equal(tamis_distribution_new(&d, &setup, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "epsilon"));
    setup.epsilon = setup.rho = x[2];
    assert_int_equal(tamis_distribution_new(&d, &setup, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "not both"));
    setup.rho = NULL;
    for (size_t i = 3; i < 5; i++) {
        setup.epsilon = x[i];
        assert_int_equal(tamis_distribution_new(&d, &setup, &err), TAMIS_INVALID);
        assert_non_null(strstr(err.message, "epsilon must be"));
    }
    assert_null(d);
    d = distribution_of("9", 3, "1", 0, 0, 0);
    bits_from_seed(1);
    assert_int_equal(tamis_distribution_points(d, points, NULL, 1, NULL), TAMIS_INVALID); /* not prepared */
    assert_int_equal(tamis_distribution_prepare(d, rng, NULL), TAMIS_OK);
    assert_int_equal(tamis_distribution_points(d, points, NULL, 1, NULL), TAMIS_OK);
    assert_int_equal(tamis_distribution_points(d, points, NULL, 1, NULL), TAMIS_INVALID); /* the noise is gone */
    tamis_distribution_free(d);
    for (size_t i = 0; i < 5; i++) tamis_number_free(x[i]);
}

static tamis_status from_start_to_answer(const tamis_distribution_setup *setup)
{
    static const int64_t points[] = {1, 2, 3};
    tamis_distribution *d = NULL;
    bits_from_seed(1);
    tamis_status status = tamis_distribution_new(&d, setup, NULL);
    if (status == TAMIS_OK) status = tamis_distribution_prepare(d, rng, NULL);
    if (status == TAMIS_OK) status = tamis_distribution_points(d, points, NULL, 3, NULL);
    tamis_distribution_free(d);
    return status;
}

static void allocations_may_fail(void **state)
{
    tamis_number *x[] = {number("0"), number("99"), number("1")};
    const tamis_distribution_setup setup = {.from = x[0], .to = x[1], .step = x[2], .bins = 40, .epsilon = x[2]};
    (void)state;
    EVERY_ALLOCATION_FAILS(from_start_to_answer(&setup), {});
    for (size_t i = 0; i < 3; i++) tamis_number_free(x[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_pair_of_neighbours_loses_more),
        cmocka_unit_test(trees_of_all_sizes_lose_what_they_claim),
        cmocka_unit_test(every_level_has_its_noise),
        cmocka_unit_test(estimates_are_least_squares),
        cmocka_unit_test(deviations_are_those_of_the_estimates),
        cmocka_unit_test(the_noise_is_as_small_as_stated),
        cmocka_unit_test(answers_have_the_stated_error),
        cmocka_unit_test(scales_follow_weights_and_rows),
        cmocka_unit_test(wrong_calls_are_named),
        cmocka_unit_test(allocations_may_fail),
    };
    return cmocka_run_group_tests(tests, make_rng, free_rng);
}
