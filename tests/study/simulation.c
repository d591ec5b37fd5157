/* Simulated errors against brute force, and that they do not depend on threads. Streams are fixed: nothing here can fail by
 * chance. */
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tamis/experimental/smooth.h>

#include "base/memory.h"
#include "study/crowd.h"
#include "study/errors_parts.h"
#include "study/seeded.h"
#include "tests/base/memory_that_fails.h"

/* ---- the generator ---- */

static void streams_repeat_and_differ(void **state)
{
    (void)state;
    tmi_stream a = tmi_stream_of(1, 2, 3), b = tmi_stream_of(1, 2, 3),
               others[] = {tmi_stream_of(2, 2, 3), tmi_stream_of(1, 3, 2), tmi_stream_of(1, 2, 4), tmi_stream_of(0, 0, 0)};
    const uint64_t first = tmi_stream_bits(&a);
    assert_int_equal(first, tmi_stream_bits(&b));
    for (size_t i = 0; i < 4; i++) assert_int_not_equal(first, tmi_stream_bits(&others[i]));
}

/* The moments of each law, within ten of their standard errors. */
static void laws_have_their_moments(void **state)
{
    enum { N = 40000 };
    tmi_stream r = tmi_stream_of(7, 7, 7);
    double sums[4] = {0}, squares[4] = {0};
    static const double means[] = {0.5, 0, 0, 3.5}, variances[] = {1.0 / 12, 2, 1, 3.5};
    (void)state;
    for (int i = 0; i < N; i++) {
        const double x[] = {tmi_stream_unit(&r), tmi_stream_laplace(&r), tmi_stream_normal(&r), tmi_stream_gamma(&r, 3.5)};
        assert_true(x[0] > 0 && x[0] < 1 && x[3] > 0);
        for (int k = 0; k < 4; k++) sums[k] += x[k], squares[k] += (x[k] - means[k]) * (x[k] - means[k]);
    }
    for (int k = 0; k < 4; k++) {
        assert_true(fabs(sums[k] / N - means[k]) < 10 * sqrt(variances[k] / N));
        assert_true(fabs(squares[k] / N / variances[k] - 1) < 0.1);
    }
}

/* Every subset of 3 of 5 comes as often as the others, in order; also as a complement, and across words of 64. */
static void samples_are_simple_random_samples(void **state)
{
    int times[32] = {0};
    uint32_t chosen[130];
    uint64_t marks[3] = {0};
    (void)state;
    for (uint64_t i = 0; i < 10000; i++) {
        tmi_stream r = tmi_stream_of(3, 5, i);
        tmi_stream_sample(chosen, &r, 5, 3, marks);
        assert_true(chosen[0] < chosen[1] && chosen[1] < chosen[2] && chosen[2] < 5);
        times[1 << chosen[0] | 1 << chosen[1] | 1 << chosen[2]]++;
    }
    for (unsigned set = 0; set < 32; set++)
        if (__builtin_popcount(set) == 3) assert_true(abs(times[set] - 1000) < 300);
    static const uint32_t sizes[] = {1, 64, 65, 127, 128, 129};
    for (size_t k = 0; k < 6; k++) {
        tmi_stream r = tmi_stream_of(0, 0, k);
        tmi_stream_sample(chosen, &r, 129, sizes[k], marks);
        for (uint32_t i = 1; i < sizes[k]; i++) assert_true(chosen[i - 1] < chosen[i] && chosen[i] < 129);
        assert_true(marks[0] == 0 && marks[1] == 0 && marks[2] == 0);
    }
}

/* ---- threads ---- */

static tamis_status note(void *context, void *room, size_t number, tamis_error *err)
{
    (void)room;
    if (number == 37) return tmi_fail(err, TAMIS_UNABLE, "item 37");
    ((int *)context)[number]++;
    return TAMIS_OK;
}

static int stop_at_once(void *context, double share, int64_t rows)
{
    (void)context, (void)share, (void)rows;
    return 1;
}

static void every_item_is_done_once(void **state)
{
    int done[40] = {0};
    tamis_error err;
    (void)state;
    tmi_crowd crowd = {.threads = 3, .items = 37, .item = note, .context = done};
    assert_int_equal(tmi_crowd_run(&crowd, &err), TAMIS_OK);
    for (int i = 0; i < 37; i++) assert_int_equal(done[i], 1);
    crowd.items = 40;
    assert_int_equal(tmi_crowd_run(&crowd, &err), TAMIS_UNABLE);
    assert_string_equal(err.message, "item 37");
    const tmi_watch watch = {.progress = stop_at_once, .to = 1};
    crowd.watch = &watch;
    crowd.threads = 1;
    assert_int_equal(tmi_crowd_run(&crowd, &err), TAMIS_SYSTEM);
    assert_string_equal(err.message, "cancelled");
}

/* ---- errors of one sample ---- */

static const double nine[] = {0.3, 1, 1, 2.5, 4, 4.5, 7, 8, 9.5};
#define NINE 9
static const tmi_values small = {.sorted = (double *)nine, .count = NINE, .from = 0, .to = 10, .mean = 37.8 / 9};

static double nine_variance(void)
{
    double squares = 0;
    for (int i = 0; i < NINE; i++) squares += (nine[i] - small.mean) * (nine[i] - small.mean);
    return squares / (NINE - 1);
}

/* All samples of the nine, and three quantiles. */
static void sampling_errors_agree_with_all_samples(void **state)
{
    static const double levels[] = {0.5, 0.2, 0.9};
    (void)state;
    for (unsigned k = 0; k < 3 * NINE; k++) {
        const unsigned n = 1 + k % NINE;
        const double at = levels[k / NINE], truth = nine[(int)ceil(at * NINE - 1e-9) - 1];
        double sum = 0, count = 0;
        for (unsigned set = 0; set < 1u << NINE; set++) {
            if (__builtin_popcount(set) != (int)n) continue;
            unsigned left = (unsigned)ceil(at * n - 1e-9);
            for (int i = 0; i < NINE; i++)
                if (set >> i & 1 && --left == 0) sum += (nine[i] - truth) * (nine[i] - truth);
            count++;
        }
        assert_true(fabs(tmi_level_error(&small, n, at) - sum / count) < 1e-12);
        if (k < NINE) assert_true(tmi_median_error(&small, n) == tmi_level_error(&small, n, 0.5));
    }
}

/* The mechanism's answer on a fine grid: how many records must change until y, give or take the reach, is the median? */
static void inverse_sensitivity_agrees_with_its_definition(void **state)
{
    static const double eps[] = {0.1, 1, 4};
    (void)state;
    for (uint32_t n = 1; n <= NINE; n += 4)
        for (size_t e = 0; e < 3; e++) {
            const tmi_ordered o = {nine, n, tmi_median_rank(n), 0, 10, 0.5};
            const double reach = 10 * TMI_REACH, truth = 4;
            double mass = 0, squares = 0;
            enum { STEPS = 200000 };
            for (int k = 0; k < STEPS; k++) {
                const double y = 10 * (k + 0.5) / STEPS;
                uint32_t len = 0;
                for (;; len++) { /* the level set of len */
                    const double a = len < o.rank ? nine[o.rank - 1 - len] - reach : 0;
                    const double b = o.rank - 1 + len < n ? nine[o.rank - 1 + len] + reach : 10;
                    if (y >= a && y <= b) break;
                }
                const double weight = exp(-eps[e] * len / 2);
                mass += weight;
                squares += weight * (y - truth) * (y - truth);
            }
            assert_true(fabs(tmi_inverse_error(&o, eps[e], truth) / (squares / mass) - 1) < 1e-3);
        }
}

/* The mean over many noisy histograms of a sample whose noise is small is the median of its bins. */
static void histogram_finds_the_median(void **state)
{
    const tmi_ordered o = {nine, NINE, 5, 0, 10, 0.5};
    tmi_stream r = tmi_stream_of(1, 1, 1);
    (void)state;
    assert_true(tmi_histogram_error(&o, 1e6, 4.05, &r) <= 0.05 * 0.05 * 1.01); /* 4 is in the bin from 4.0 to 4.1 */
    const tmi_ordered ends = {nine, NINE, 5, 0, 0.4, 0.5};                     /* nearly all at the end of the range */
    assert_true(tmi_histogram_error(&ends, 1e6, 0.398, &r) < 0.003 * 0.003);
}

/* ---- all of it ---- */

static tmi_simulation simulation(const tmi_values *v, const uint32_t *sizes, size_t count, const tmi_spending *spent)
{
    return (tmi_simulation){.population = v,
                            .statistic = TAMIS_STUDY_MEDIAN,
                            .mechanisms = (1u << TMI_STUDY_MECHANISMS) - 1,
                            .samples = sizes,
                            .sample_count = count,
                            .spendings = spent,
                            .spending_count = 1,
                            .runs = 60,
                            .seed = 11,
                            .threads = 1};
}

static void means_follow_their_formula(void **state)
{
    static const uint32_t sizes[] = {3, 9};
    static const tmi_spending spent[] = {{2, 1e-6}, {1, 1e-6}};
    tmi_values v = small;
    tmi_squared_error errors[2 * TMI_STUDY_MECHANISMS];
    (void)state;
    v.variance = nine_variance();
    tmi_simulation s = simulation(&v, sizes, 2, spent);
    s.statistic = TAMIS_STUDY_MEAN;
    assert_int_equal(tmi_simulate(errors, &s, NULL), TAMIS_OK);
    const double sampling = (1 - 3.0 / 9) * v.variance / 3;
    assert_true(fabs(errors[TMI_MECHANISM_LAPLACE].mse - sampling - 2 * pow(10 / (3 * 2.0), 2)) < 1e-12);
    assert_true(errors[TMI_MECHANISM_LAPLACE].mse_error == 0 && fabs(errors[TMI_MECHANISM_LAPLACE].sampling - sampling) < 1e-12);
    assert_true(errors[TMI_MECHANISM_GAUSSIAN].mse > errors[TMI_MECHANISM_LAPLACE].mse &&
                isnan(errors[TMI_MECHANISM_SMOOTH].mse));
    assert_true(errors[TMI_STUDY_MECHANISMS + TMI_MECHANISM_LAPLACE].sampling == 0 &&
                fabs(errors[TMI_STUDY_MECHANISMS + TMI_MECHANISM_LAPLACE].mse - 2 * pow(10 / 9.0, 2)) < 1e-12);
    assert_true(errors[TMI_MECHANISM_HISTOGRAM].mse > errors[TMI_MECHANISM_LAPLACE].mse); /* a hundred noisy counts */
    s.statistic = TAMIS_STUDY_TOTAL;
    tmi_squared_error totals[2 * TMI_STUDY_MECHANISMS];
    assert_int_equal(tmi_simulate(totals, &s, NULL), TAMIS_OK);
    assert_true(fabs(totals[TMI_MECHANISM_LAPLACE].mse / errors[TMI_MECHANISM_LAPLACE].mse - 81) < 1e-9);
}

static void medians_agree_with_all_samples(void **state)
{
    static const uint32_t sizes[] = {4, 9};
    static const tmi_spending spent[] = {{1.5, 1e-3}, {1, 1e-3}};
    tmi_squared_error errors[2 * TMI_STUDY_MECHANISMS];
    (void)state;
    tmi_simulation s = simulation(&small, sizes, 2, spent);
    s.runs = 4000;
    s.mechanisms &= ~(1u << TMI_MECHANISM_HISTOGRAM);
    assert_int_equal(tmi_simulate(errors, &s, NULL), TAMIS_OK);
    double smooth = 0, inverse = 0, count = 0;
    const double beta = 1.5 / (2 * log(2 / 1e-3));
    for (unsigned set = 0; set < 1u << NINE; set++) {
        double x[4], S;
        if (__builtin_popcount(set) != 4) continue;
        for (int i = 0, k = 0; i < NINE; i++)
            if (set >> i & 1) x[k++] = nine[i];
        assert_int_equal(tamis_smooth_sensitivity_up(&S, x, 4, 2, 0, 10, beta, NULL), TAMIS_OK);
        smooth += 2 * pow(S / 0.75, 2) + (x[1] - nine[4]) * (x[1] - nine[4]);
        inverse += tmi_inverse_error(&(tmi_ordered){x, 4, 2, 0, 10, 0.5}, 1.5, nine[4]);
        count++;
    }
    const tmi_squared_error *e = errors;
    assert_true(fabs(e[TMI_MECHANISM_SMOOTH_PAPER].mse - smooth / count) < 6 * e[TMI_MECHANISM_SMOOTH_PAPER].mse_error + 1e-9);
    assert_true(fabs(e[TMI_MECHANISM_INVERSE].mse - inverse / count) < 6 * e[TMI_MECHANISM_INVERSE].mse_error);
    assert_true(e[TMI_MECHANISM_INVERSE].mse_error > 0 &&
                e[TMI_MECHANISM_INVERSE].mse_error < 0.1 * e[TMI_MECHANISM_INVERSE].mse);
    assert_true(fabs(e[TMI_MECHANISM_LAPLACE].mse - tmi_median_error(&small, 4) - 2 * pow(10 / 1.5, 2)) < 1e-9);
    assert_true(e[TMI_MECHANISM_SMOOTH].mse < e[TMI_MECHANISM_SMOOTH_PAPER].mse);
    /* the census */
    assert_true(e[TMI_STUDY_MECHANISMS + TMI_MECHANISM_INVERSE].mse_error == 0 &&
                e[TMI_STUDY_MECHANISMS + TMI_MECHANISM_SMOOTH].mse_error == 0);
}

static void threads_change_nothing(void **state)
{
    static const uint32_t sizes[] = {2, 5, 9};
    static const tmi_spending spent[] = {{2, 1e-3}, {1, 1e-3}, {0.5, 1e-3}};
    tmi_squared_error one[3 * TMI_STUDY_MECHANISMS], many[3 * TMI_STUDY_MECHANISMS], other[3 * TMI_STUDY_MECHANISMS];
    (void)state;
    tmi_simulation s = simulation(&small, sizes, 3, spent);
    assert_int_equal(tmi_simulate(one, &s, NULL), TAMIS_OK);
    s.threads = 5;
    assert_int_equal(tmi_simulate(many, &s, NULL), TAMIS_OK);
    assert_memory_equal(one, many, sizeof one);
    s.seed = 12;
    assert_int_equal(tmi_simulate(other, &s, NULL), TAMIS_OK);
    assert_true(one[TMI_MECHANISM_INVERSE].mse != other[TMI_MECHANISM_INVERSE].mse &&
                one[TMI_MECHANISM_LAPLACE].mse == other[TMI_MECHANISM_LAPLACE].mse);
}

static void what_cannot_be_simulated_is_said(void **state)
{
    static const uint32_t sizes[] = {5};
    static const tmi_spending bad[] = {{0, 0}, {-1, 0}, {NAN, 0}, {INFINITY, 0}, {1, -1}, {1, 2}};
    tmi_squared_error errors[TMI_STUDY_MECHANISMS];
    tamis_error err;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const tmi_simulation s = simulation(&small, sizes, 1, &bad[i]);
        assert_int_equal(tmi_simulate(errors, &s, &err), TAMIS_INVALID);
        assert_true(isnan(errors[0].mse) && strstr(err.message, "must be"));
    }
    const tmi_spending pure = {1, 0}, all = {1, 1};
    tmi_simulation s = simulation(&small, sizes, 1, &pure);
    assert_int_equal(tmi_simulate(errors, &s, &err), TAMIS_OK);
    assert_true(isnan(errors[TMI_MECHANISM_SMOOTH].mse) && isnan(errors[TMI_MECHANISM_GAUSSIAN].mse) &&
                errors[TMI_MECHANISM_INVERSE].mse > 0);
    s = simulation(&small, sizes, 1, &all); /* delta 1 promises nothing */
    assert_int_equal(tmi_simulate(errors, &s, &err), TAMIS_OK);
    assert_true(isnan(errors[TMI_MECHANISM_SMOOTH].mse) && isnan(errors[TMI_MECHANISM_SMOOTH_PAPER].mse));
}

static void without_memory_it_fails(void **state)
{
    static const uint32_t sizes[] = {5};
    static const tmi_spending spent[] = {{1, 1e-3}};
    tmi_squared_error errors[TMI_STUDY_MECHANISMS];
    tamis_error err;
    (void)state;
    tmi_simulation s = simulation(&small, sizes, 1, spent);
    s.runs = 2;
    ALLOCATIONS_FAIL(k_ + k_ / 8 + 1, tmi_simulate(errors, &s, &err), { assert_true(isnan(errors[0].mse)); });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_repeat_and_differ),
        cmocka_unit_test(laws_have_their_moments),
        cmocka_unit_test(samples_are_simple_random_samples),
        cmocka_unit_test(every_item_is_done_once),
        cmocka_unit_test(sampling_errors_agree_with_all_samples),
        cmocka_unit_test(inverse_sensitivity_agrees_with_its_definition),
        cmocka_unit_test(histogram_finds_the_median),
        cmocka_unit_test(means_follow_their_formula),
        cmocka_unit_test(medians_agree_with_all_samples),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(what_cannot_be_simulated_is_said),
        cmocka_unit_test(without_memory_it_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
