/* HistogramMethod as repaired: privacy by enumeration of all neighbours, the paper's law, draws. And what tamis_quantile makes
 * of a distribution function. */
#include "tests/test.h"

#include <string.h>

#include "mech/quantile/above.h"
#include "num/number.h"
#include "tests/base/memory_that_fails.h"
#include "tests/rng/law.h"
#include "tests/rng/with_rng.h"

#define SLACK 1e-9

enum { POINTS = 6, CUTS = 5, RECORDS = 3, KINDS = 1 + 2 * POINTS };

/* Numbers of a setup, which keeps none of them. */
typedef struct asked {
    const char *at, *epsilon, *rho, *to;
    tamis_quantile_method method;
    int add_remove, complete;
    int64_t max_weight, rows, bins;
} asked;

static tamis_status try_setup(tamis_quantile **q, const asked *a, tamis_error *err)
{
    tamis_number *x[] = {number("0"),
                         number(a->to ? a->to : "5"),
                         number("1"),
                         number(a->at ? a->at : "1/2"),
                         a->epsilon ? number(a->epsilon) : NULL,
                         a->rho ? number(a->rho) : NULL};
    const tamis_number *const list[] = {x[3]};
    const tamis_quantile_setup setup = {.from = x[0],
                                        .to = x[1],
                                        .step = x[2],
                                        .at = list,
                                        .at_count = 1,
                                        .epsilon = x[4],
                                        .rho = x[5],
                                        .method = a->method,
                                        .add_remove = a->add_remove,
                                        .max_weight = a->max_weight,
                                        .complete = a->complete,
                                        .bins = a->bins,
                                        .rows = a->rows};
    const tamis_status status = tamis_quantile_new(q, &setup, err);
    for (size_t i = 0; i < 6; i++) tamis_number_free(x[i]);
    return status;
}

static tamis_quantile *quantile_of(const asked *a)
{
    tamis_quantile *q;
    tamis_error err = {0};
    if (try_setup(&q, a, &err) != TAMIS_OK) fail_msg("%s", err.message);
    return q;
}

/* P(X >= k) of discrete Laplace noise, q = e^(-1/scale). */
static double at_least(double q, double k) { return k > 0 ? pow(q, k) / (1 + q) : 1 - pow(q, 1 - k) / (1 + q); }

/* P(answer = cut j), by the sum over the threshold's noise, in doubles. */
static void law_of(double *law, const tamis_quantile *q, const int64_t *points, const int64_t *weights, size_t count)
{
    const tmi_above *a = &q->above[0];
    const tmi_rank *rank = &q->targets[0].rank;
    const double r = exp(-1 / tmi_number_nearest(a->rho_scale)), n = exp(-1 / tmi_number_nearest(a->nu_scale));
    double total = 0, f[CUTS];
    for (size_t i = 0; i < count; i++) total += points[i] == INT64_MIN ? 0 : weights ? (double)weights[i] : 1;
    for (size_t j = 0; j < CUTS; j++) {
        double below = 0;
        for (size_t i = 0; i < count; i++)
            if (points[i] != INT64_MIN && points[i] < q->candidates[j]) below += weights ? (double)weights[i] : 1;
        f[j] = (double)rank->d * below - (double)rank->p * (a->monotone ? (double)q->rows : total);
    }
    memset(law, 0, CUTS * sizeof *law);
    const int reach = (int)(42 * tmi_number_nearest(a->rho_scale)) + 2;
    for (int rho = -reach; rho <= reach; rho++) {
        double still = (1 - r) / (1 + r) * pow(r, abs(rho));
        for (size_t j = 0; j < CUTS; j++) {
            const double above = j + 1 == CUTS ? 1 : at_least(n, rho - f[j]);
            law[j] += still * above;
            still *= 1 - above;
        }
    }
}

static void data_of(int64_t *points, int64_t *weights, int code)
{
    for (size_t i = 0; i < RECORDS; i++, code /= KINDS) {
        const int kind = code % KINDS;
        points[i] = kind == 0 ? INT64_MIN : (kind - 1) % POINTS;
        weights[i] = kind == 0 ? 2 : 1 + (kind - 1) / POINTS;
    }
}

static double loss_of(const double *p, const double *q)
{
    double most = 0;
    for (size_t i = 0; i < CUTS; i++)
        if (p[i] > 1e-12 && q[i] > 1e-12) most = fmax(most, fabs(log(p[i] / q[i])));
    return most;
}

/* Over all data sets, and all that differ in the last record. */
static double worst(const tamis_quantile *q)
{
    double most = 0;
    for (int others = 0; others < KINDS * KINDS; others++) {
        double laws[KINDS][CUTS], without[CUTS];
        int64_t points[RECORDS], weights[RECORDS];
        for (int own = 0; own < KINDS; own++) {
            data_of(points, weights, others + own * KINDS * KINDS);
            law_of(laws[own], q, points, q->weighted ? weights : NULL, RECORDS);
            if (q->add_remove && own == 0) law_of(without, q, points, q->weighted ? weights : NULL, RECORDS - 1);
            if (q->add_remove) most = fmax(most, loss_of(laws[own], without));
            for (int other = 0; !q->add_remove && other < own; other++) most = fmax(most, loss_of(laws[own], laws[other]));
        }
    }
    return most;
}

static void no_pair_of_neighbours_loses_more(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        const asked a = {.at = i % 2 ? "2/3" : "1/2",
                         .epsilon = "4",
                         .method = TAMIS_QUANTILE_HISTOGRAM,
                         .add_remove = i / 4,
                         .complete = i / 2 % 2,
                         .max_weight = i % 2 ? 2 : 0,
                         .rows = RECORDS};
        tamis_quantile *q = quantile_of(&a);
        assert_true(q->candidate_count == CUTS && q->candidates[0] == 1 && q->candidates[CUTS - 1] == 5);
        assert_true(q->above[0].two_sided && q->above[0].monotone == (a.complete && !a.max_weight && !a.add_remove));
        const double loss = worst(q);
        if (loss > 4 + SLACK) fail_msg("case %d: %g instead of 4", i, loss);
        assert_true(loss > 0.3 * 4);
        tamis_quantile_free(q);
    }
}

/* With fine noise the law is the paper's, of real numbers (docs/papers.md#quantile-code). */
static void the_law_is_that_of_the_paper(void **state)
{
    static const int64_t points[] = {0, 1, 1, 2, 2, 2, 3, 4, 4, 5};
    const asked a = {.epsilon = "1/20", .method = TAMIS_QUANTILE_HISTOGRAM, .complete = 1, .rows = 10};
    tamis_quantile *q = quantile_of(&a);
    tamis_number *values[10], *x[] = {number("0"), number("5"), number("1/2"), number("1/20")};
    tamis_bound paper[CUTS + 1];
    double law[CUTS];
    (void)state;
    law_of(law, q, points, NULL, 10);
    for (size_t i = 0; i < 10; i++) assert_int_equal(tmi_number_ratio(&values[i], points[i], 1, NULL), TAMIS_OK);
    assert_int_equal(tamis_histogram_law(paper, NULL, (const tamis_number *const *)values, 10, x[0], x[1], CUTS, x[2],
                                         TAMIS_THRESHOLD_MONOTONE, x[3], NULL),
                     TAMIS_OK);
    paper[CUTS - 1].upper += paper[CUTS].upper; /* no cut: the upper end */
    for (size_t j = 0; j < CUTS; j++) assert_true(fabs(law[j] - paper[j].upper) < 0.005);
    for (size_t i = 0; i < 10; i++) tamis_number_free(values[i]);
    for (size_t i = 0; i < 4; i++) tamis_number_free(x[i]);
    tamis_quantile_free(q);
}

static void answers_have_the_law(void **state)
{
    const int64_t points[] = {0, 1, 1, 2, 3, INT64_MIN, 3, 4};
    const int draws = test_size(4000, 100000);
    (void)state;
    bits_from_seed(16);
    for (int complete = 0; complete < 2; complete++) {
        const asked a = {.epsilon = "6", .method = TAMIS_QUANTILE_HISTOGRAM, .complete = complete, .rows = 8};
        tamis_quantile *q = quantile_of(&a);
        double law[CUTS];
        uint64_t seen[POINTS] = {0};
        law_of(law, q, points, NULL, 8);
        for (int i = 0; i < draws; i++) {
            int64_t point;
            assert_int_equal(tamis_quantile_prepare(q, rng, NULL), TAMIS_OK);
            assert_int_equal(tamis_quantile_points(&point, q, points, NULL, 8, rng, NULL), TAMIS_OK);
            assert_true(point > 0 && point < POINTS);
            seen[point - 1]++;
        }
        for (size_t i = 0; i < CUTS; i++) assert_true(may_be_chance(seen[i], (uint64_t)draws, (tamis_bound){law[i], law[i]}));
        tamis_quantile_free(q);
    }
}

static void cuts_are_equally_spaced(void **state)
{
    (void)state;
    for (int64_t bins = 1; bins <= 999; bins += 83) {
        const asked a = {.epsilon = "1", .method = TAMIS_QUANTILE_HISTOGRAM, .to = "1000", .bins = bins};
        tamis_quantile *q = quantile_of(&a);
        assert_int_equal(q->candidate_count, bins);
        assert_int_equal(q->candidates[bins - 1], 1000);
        for (int64_t j = 0; j < bins; j++) assert_int_equal(q->candidates[j], (1000 * (j + 1) + bins - 1) / bins);
        tamis_quantile_free(q);
    }
}

/* A tree and prefix sums: the same answers as the distribution function with the same noise. */
static void quantiles_are_read_from_the_distribution(void **state)
{
    enum { N = 4000 };
    static int64_t points[N];
    static double values[N];
    uint64_t stream = 5;
    (void)state;
    for (size_t i = 0; i < N; i++) {
        points[i] = (int64_t)(next_number(&stream) % 1000);
        values[i] = (double)points[i];
    }
    for (int kind = 0; kind < 2; kind++) {
        const asked a = {.epsilon = kind ? NULL : "1",
                         .rho = kind ? "1/2" : NULL,
                         .method = kind ? TAMIS_QUANTILE_PREFIX : TAMIS_QUANTILE_TREE,
                         .to = "999",
                         .bins = 100};
        tamis_quantile *q = quantile_of(&a);
        tamis_number *x[] = {number("0"), number("999"), number("1"), number("1/2")};
        const tamis_distribution_setup setup = {
            .from = x[0], .to = x[1], .step = x[2], .bins = 100, .epsilon = kind ? NULL : x[2], .rho = kind ? x[3] : NULL};
        tamis_distribution *d;
        int64_t one, other, third;
        assert_int_equal(tamis_distribution_new(&d, &setup, NULL), TAMIS_OK);
        assert_int_equal(tamis_quantile_prepare(q, rng, NULL), TAMIS_OK);
        assert_int_equal(tamis_distribution_prepare(d, rng, NULL), TAMIS_OK);
        assert_int_equal(tamis_quantile_points(&one, q, points, NULL, N, rng, NULL), TAMIS_OK);
        assert_int_equal(tamis_distribution_points(d, points, NULL, N, NULL), TAMIS_OK);
        assert_int_equal(tamis_distribution_quantile(&other, d, x[3], NULL), TAMIS_OK);
        assert_int_equal(tamis_quantile_points(&third, q, points, NULL, N, rng, NULL), TAMIS_INVALID); /* the noise is gone */
        assert_int_equal(tamis_quantile_prepare(q, rng, NULL), TAMIS_OK);
        assert_int_equal(tamis_quantile_values(&third, q, values, NULL, N, rng, NULL), TAMIS_OK);
        /* 4 records in each point of a bin of ten: the error of 400 records, more than ten deviations, is 100 points */
        assert_true(labs((long)one - 500) < 110 && labs((long)other - 500) < 110 && labs((long)third - 500) < 110);
        assert_true(one % 10 == 9 && other % 10 == 9 && third % 10 == 9);
        tamis_distribution_free(d);
        tamis_quantile_free(q);
        for (size_t i = 0; i < 4; i++) tamis_number_free(x[i]);
    }
}

static void wrong_calls_are_named(void **state)
{
    static const struct {
        asked a;
        const char *word;
    } cases[] = {{{.epsilon = "1", .rho = "1", .method = TAMIS_QUANTILE_PREFIX}, "beside epsilon"},
                 {{.epsilon = "1", .method = TAMIS_QUANTILE_PREFIX}, "rho"},
                 {{.rho = "1", .method = TAMIS_QUANTILE_INVERSE}, "rho"},
                 {{.rho = "1", .method = TAMIS_QUANTILE_TREE}, "rho"},
                 {{.rho = "0", .method = TAMIS_QUANTILE_PREFIX}, "rho"},
                 {{.rho = "1001", .method = TAMIS_QUANTILE_PREFIX}, "rho"},
                 {{.method = TAMIS_QUANTILE_TREE}, "epsilon"},
                 {{.epsilon = "1", .method = TAMIS_QUANTILE_JOINT, .bins = 7}, "bins"},
                 {{.epsilon = "1", .bins = 7}, "bins"},
                 {{.epsilon = "1", .method = TAMIS_QUANTILE_TREE, .bins = 7}, "bins"},
                 {{.epsilon = "1", .method = TAMIS_QUANTILE_TREE, .bins = 1}, "bins"},
                 {{.epsilon = "1", .method = TAMIS_QUANTILE_HISTOGRAM, .bins = 6}, "bins"},
                 {{.epsilon = "1", .method = TAMIS_QUANTILE_HISTOGRAM, .bins = -1}, "bins"},
                 {{.epsilon = "1", .method = TAMIS_QUANTILE_HISTOGRAM, .bins = 4097}, "bins"},
                 {{.epsilon = "1", .method = TAMIS_QUANTILE_TREE, .max_weight = INT64_C(1) << 21}, "max_weight"}};
    tamis_quantile *q;
    tamis_error err;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(try_setup(&q, &cases[i].a, &err), TAMIS_INVALID);
        if (!strstr(err.message, cases[i].word)) fail_msg("case %zu: %s", i, err.message);
    }
    q = quantile_of(&(asked){.rho = "1"}); /* rho alone means prefix sums */
    assert_int_equal(tamis_quantile_method_of(q), TAMIS_QUANTILE_PREFIX);
    tamis_quantile_free(q);
}

static tamis_status from_start_to_answer(const tamis_quantile_setup *setup)
{
    static const int64_t points[] = {1, 2, 3};
    tamis_quantile *q = NULL;
    int64_t point;
    bits_from_seed(1);
    tamis_status status = tamis_quantile_new(&q, setup, NULL);
    if (status == TAMIS_OK) status = tamis_quantile_prepare(q, rng, NULL);
    if (status == TAMIS_OK) status = tamis_quantile_points(&point, q, points, NULL, 3, rng, NULL);
    tamis_quantile_free(q);
    return status;
}

static void allocations_may_fail(void **state)
{
    tamis_number *x[] = {number("0"), number("9"), number("1"), number("1/2")};
    const tamis_number *const list[] = {x[3]};
    tamis_quantile_setup setup = {
        .from = x[0], .to = x[1], .step = x[2], .at = list, .at_count = 1, .epsilon = x[2], .method = TAMIS_QUANTILE_HISTOGRAM};
    (void)state;
    EVERY_ALLOCATION_FAILS(from_start_to_answer(&setup), {});
    setup.method = TAMIS_QUANTILE_TREE;
    EVERY_ALLOCATION_FAILS(from_start_to_answer(&setup), {});
    for (size_t i = 0; i < 4; i++) tamis_number_free(x[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_pair_of_neighbours_loses_more),
        cmocka_unit_test(the_law_is_that_of_the_paper),
        cmocka_unit_test(answers_have_the_law),
        cmocka_unit_test(cuts_are_equally_spaced),
        cmocka_unit_test(quantiles_are_read_from_the_distribution),
        cmocka_unit_test(wrong_calls_are_named),
        cmocka_unit_test(allocations_may_fail),
    };
    return cmocka_run_group_tests(tests, make_rng, free_rng);
}
