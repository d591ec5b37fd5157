/* AboveThreshold with one-sided noise: privacy by enumeration of all neighbours, the stop by its definition. */
#include "tests/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mech/quantile/above.h"
#include "tests/base/memory_that_fails.h"
#include "tests/rng/law.h"
#include "tests/rng/with_rng.h"

#define SLACK 1e-9

enum { POINTS = 5, RECORDS = 3, KINDS = 1 + 2 * POINTS };

static tamis_quantile *quantile_of(const char *at, const char *epsilon, int add_remove, int64_t rows, int64_t max_weight,
                                   int complete, const char *to, int64_t rows_there)
{
    tamis_number *x[] = {number("0"), number(to), number("1"), number(at), number(epsilon)};
    const tamis_number *const list[] = {x[3]};
    const tamis_quantile_setup setup = {.from = x[0],
                                        .to = x[1],
                                        .step = x[2],
                                        .at = list,
                                        .at_count = 1,
                                        .epsilon = x[4],
                                        .method = TAMIS_QUANTILE_THRESHOLD,
                                        .add_remove = add_remove,
                                        .rows_per_unit = rows,
                                        .max_weight = max_weight,
                                        .complete = complete,
                                        .rows = rows_there};
    tamis_quantile *quantile;
    assert_int_equal(tamis_quantile_new(&quantile, &setup, NULL), TAMIS_OK);
    for (size_t i = 0; i < 5; i++) tamis_number_free(x[i]);
    return quantile;
}

/* P(answer = k) = sum over rho of P(rho) P(nu_1 < rho + s - f_1) ... P(nu_k >= rho + s - f_k), in doubles. */
static void law_of(double *law, const tamis_quantile *q, const int64_t *points, const int64_t *weights, size_t count)
{
    const tmi_above *a = &q->above[0];
    const tmi_rank *rank = &q->targets[0].rank;
    const double r = exp(-1 / tmi_number_nearest(a->rho_scale)), n = exp(-1 / tmi_number_nearest(a->nu_scale));
    const double shift = (double)tmi_above_shift(a, rank, q->rows);
    double total = 0, f[POINTS];
    for (size_t i = 0; i < count; i++) total += points[i] == INT64_MIN ? 0 : weights ? (double)weights[i] : 1;
    for (int64_t j = 0; j < POINTS; j++) {
        double up_to = 0;
        for (size_t i = 0; i < count; i++)
            if (points[i] != INT64_MIN && points[i] <= j) up_to += weights ? (double)weights[i] : 1;
        f[j] = (double)rank->d * up_to - (double)rank->p * (a->monotone ? (double)q->rows : total);
    }
    memset(law, 0, POINTS * sizeof *law);
    double mass = 1 - r;
    for (int rho = 0; mass > 1e-18; rho++, mass *= r) {
        double still = mass;
        for (size_t j = 0; j < POINTS; j++) {
            const double gap = rho + shift - f[j], above = j + 1 == POINTS || gap <= 0 ? 1 : pow(n, gap);
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
    for (size_t i = 0; i < POINTS; i++)
        if (p[i] > 1e-12 && q[i] > 1e-12) most = fmax(most, fabs(log(p[i] / q[i])));
    return most;
}

/* Over all data sets, and all that differ in the last record. */
static double worst(const tamis_quantile *q)
{
    double most = 0;
    for (int others = 0; others < KINDS * KINDS; others++) {
        double laws[KINDS][POINTS], without[POINTS];
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
    static const char *const ats[] = {"1/2", "2/3"}, *const eps[] = {"1", "4"};
    (void)state;
    for (int i = 0; i < 16; i++) {
        const int weighted = i / 4 % 2, add_remove = i / 8 % 2;
        for (int complete = 0; complete < 2; complete++) {
            tamis_quantile *q = quantile_of(ats[i % 2], eps[i / 2 % 2], add_remove, 1, weighted ? 2 : 0, complete, "4", RECORDS);
            assert_true(q->candidate_count == POINTS);
            assert_true(q->above[0].monotone == (complete && !weighted && !add_remove));
            const double claim = atof(eps[i / 2 % 2]), loss = worst(q);
            if (loss > claim + SLACK) fail_msg("case %d: %g instead of %g", i, loss, claim);
            assert_true(loss > 0.3 * claim);
            tamis_quantile_free(q);
        }
    }
}

/* A record moves from the last candidate but one to the lower end: all earlier counts rise, the last one does not. With many
 * candidates as far below the threshold as the last one the monotone claim is reached. */
static void the_monotone_claim_is_tight(void **state)
{
    enum { EARLIER = 4000 };
    tamis_quantile *q = quantile_of("1/2", "1", 0, 1, 0, 1, "4", 10);
    const double r = exp(-1 / tmi_number_nearest(q->above[0].rho_scale)), n = exp(-1 / tmi_number_nearest(q->above[0].nu_scale));
    const double d = 2;
    (void)state;
    double p[2] = {0, 0};
    for (int moved = 0; moved < 2; moved++) {
        double mass = 1 - r;
        for (int rho = 0; rho < 400; rho++, mass *= r) {
            const double earlier = pow(n, rho + 5 - d * moved), last = pow(n, rho + 5);
            p[moved] += mass * pow(1 - earlier, EARLIER) * last;
        }
    }
    const double loss = fabs(log(p[0] / p[1]));
    assert_true(loss <= 1 + SLACK && loss > 0.95);
    tamis_quantile_free(q);
    assert_true(close_to(-1 / log(r), 2 * d) && close_to(-1 / log(n), 2 * d));
}

static void classic_noise_is_larger(void **state)
{
    tamis_quantile *monotone = quantile_of("1/2", "1", 0, 3, 0, 1, "4", 10),
                   *classic = quantile_of("1/2", "1", 0, 3, 0, 0, "4", 10),
                   *weighted = quantile_of("1/4", "1", 1, 3, 7, 1, "4", 10);
    (void)state;
    assert_true(close_to(tmi_number_nearest(monotone->above[0].nu_scale), 2 * 2 * 3));
    assert_true(close_to(tmi_number_nearest(classic->above[0].nu_scale), 3 * 2 * 3));
    assert_true(close_to(tmi_number_nearest(weighted->above[0].nu_scale), 3 * 3 * 3 * 7));
    tamis_quantile_free(monotone);
    tamis_quantile_free(classic);
    tamis_quantile_free(weighted);
}

/* The answers of many draws have the law. */
static void answers_have_the_law(void **state)
{
    const int64_t points[] = {0, 1, 1, 2, 3, INT64_MIN, 3, 4};
    const int draws = test_size(4000, 100000);
    (void)state;
    bits_from_seed(16);
    for (int k = 0; k < 4; k++) { /* of a high quantile the last candidate is a likely answer */
        tamis_quantile *q = quantile_of(k < 2 ? "1/2" : "19/20", "6", 0, 1, 0, k % 2, "4", 8);
        double law[POINTS];
        uint64_t seen[POINTS] = {0};
        law_of(law, q, points, NULL, 8);
        for (int i = 0; i < draws; i++) {
            int64_t point;
            assert_int_equal(tamis_quantile_prepare(q, rng, NULL), TAMIS_OK);
            assert_int_equal(tamis_quantile_points(&point, q, points, NULL, 8, rng, NULL), TAMIS_OK);
            assert_true(point >= 0 && point < POINTS);
            seen[point]++;
        }
        for (size_t i = 0; i < POINTS; i++) assert_true(may_be_chance(seen[i], (uint64_t)draws, (tamis_bound){law[i], law[i]}));
        tamis_quantile_free(q);
    }
}

/* The threshold is public: it does not matter whether missing values are among the records or were left out before. Without a
 * public number of rows the noise is the classic one. */
static void missing_values_do_not_move_the_threshold(void **state)
{
    const int64_t with[] = {0, INT64_MIN, 1, INT64_MIN, INT64_MIN, 2, 3, INT64_MIN, 3, 4}, without[] = {0, 1, 2, 3, 3, 4};
    tamis_quantile *q = quantile_of("1/2", "20", 0, 1, 0, 1, "4", 10), *unknown = quantile_of("1/2", "20", 0, 1, 0, 1, "4", 0);
    (void)state;
    assert_true(q->above[0].monotone && !unknown->above[0].monotone);
    for (uint64_t seed = 1; seed < 50; seed++) {
        int64_t one, other;
        bits_from_seed(seed);
        assert_int_equal(tamis_quantile_prepare(q, rng, NULL), TAMIS_OK);
        assert_int_equal(tamis_quantile_points(&one, q, with, NULL, 10, rng, NULL), TAMIS_OK);
        bits_from_seed(seed);
        assert_int_equal(tamis_quantile_prepare(q, rng, NULL), TAMIS_OK);
        assert_int_equal(tamis_quantile_points(&other, q, without, NULL, 6, rng, NULL), TAMIS_OK);
        assert_int_equal(one, other);
    }
    tamis_quantile_free(q);
    tamis_quantile_free(unknown);
}

/* Most records are at 50, and so is the answer: the count up to 50 reaches the threshold there, not at 51. */
static void a_pile_is_found_at_its_place(void **state)
{
    enum { N = 1000 };
    int64_t points[N], point;
    (void)state;
    for (int64_t i = 0; i < N; i++) points[i] = i < 200 ? i % 50 : i < 900 ? 50 : 51 + i % 49;
    for (int complete = 0; complete < 2; complete++) {
        tamis_quantile *q = quantile_of("1/2", "10", 0, 1, 0, complete, "100", N);
        for (uint64_t seed = 1; seed < 50; seed++) {
            bits_from_seed(seed);
            assert_int_equal(tamis_quantile_prepare(q, rng, NULL), TAMIS_OK);
            assert_int_equal(tamis_quantile_points(&point, q, points, NULL, N, rng, NULL), TAMIS_OK);
            assert_int_equal(point, 50);
        }
        tamis_quantile_free(q);
    }
}

/* Each quantile has its own noise, threshold included. */
static void noise_is_not_shared(void **state)
{
    tamis_number *x[] = {number("0"), number("1000000"), number("1"), number("0.9"), number("0.99")};
    const tamis_number *const list[] = {x[3], x[4]};
    const tamis_quantile_setup setup = {
        .from = x[0], .to = x[1], .step = x[2], .at = list, .at_count = 2, .epsilon = x[2], .method = TAMIS_QUANTILE_THRESHOLD};
    tamis_quantile *q;
    (void)state;
    bits_from_seed(2);
    assert_int_equal(tamis_quantile_new(&q, &setup, NULL), TAMIS_OK);
    assert_int_equal(tamis_quantile_prepare(q, rng, NULL), TAMIS_OK);
    assert_true(q->candidate_count > 500 && q->candidate_count < 2000);
    assert_int_not_equal(q->above[0].noise[0], q->above[1].noise[0]);
    assert_true(q->above[0].noise[0] > 0 && q->above[1].noise[0] > 0); /* of this seed: both were drawn */
    int equal = 0;
    for (size_t i = 0; i <= q->candidate_count; i++) {
        assert_true(q->above[0].noise[i] >= 0 && q->above[1].noise[i] >= 0);
        equal += q->above[0].noise[i] == q->above[1].noise[i];
    }
    assert_true(equal < 20);
    for (size_t i = 0; i < 2; i++) /* half of epsilon each: 3 d / (1/2) */
        assert_true(close_to(tmi_number_nearest(q->above[i].rho_scale), 6 * (i == 0 ? 10 : 100)));
    for (size_t i = 1; i < q->candidate_count; i++)
        assert_true(q->candidates[i] > q->candidates[i - 1] &&
                    q->candidates[i] <= q->candidates[i - 1] + 1 + q->candidates[i - 1] / 100);
    assert_int_equal(q->candidates[q->candidate_count - 1], 1000000);
    tamis_quantile_free(q);
    for (size_t i = 0; i < 5; i++) tamis_number_free(x[i]);
}

static tamis_status from_start_to_answer(const tamis_quantile_setup *setup)
{
    static const int64_t points[] = {1, 2, 3};
    int64_t point;
    tamis_quantile *q = NULL;
    bits_from_seed(1);
    tamis_status status = tamis_quantile_new(&q, setup, NULL);
    if (status == TAMIS_OK) status = tamis_quantile_prepare(q, rng, NULL);
    if (status == TAMIS_OK) status = tamis_quantile_points(&point, q, points, NULL, 3, rng, NULL);
    tamis_quantile_free(q);
    return status;
}

static void allocations_may_fail(void **state)
{
    tamis_number *x[] = {number("0"), number("9"), number("1"), number("0.9")};
    const tamis_number *const list[] = {x[3]};
    const tamis_quantile_setup setup = {.from = x[0],
                                        .to = x[1],
                                        .step = x[2],
                                        .at = list,
                                        .at_count = 1,
                                        .epsilon = x[2],
                                        .method = TAMIS_QUANTILE_THRESHOLD,
                                        .complete = 1};
    (void)state;
    EVERY_ALLOCATION_FAILS(from_start_to_answer(&setup), {});
    for (size_t i = 0; i < 4; i++) tamis_number_free(x[i]);
}

/* Ranks and noise are in units of 1/d of a record: the median is moved by the same number of records whether it is 1/2 or
 * 500/1000, and not at all by noise of two sides. */
static void the_shift_is_in_the_units_of_the_rank(void **state)
{
    tamis_number *nu = number("200"), *rho = number("60"), *fine_nu = number("100000"), *fine_rho = number("30000");
    const tmi_above coarse = {.monotone = true, .nu_scale = nu, .rho_scale = rho},
                    fine = {.monotone = true, .nu_scale = fine_nu, .rho_scale = fine_rho},
                    sides = {.monotone = true, .two_sided = true, .nu_scale = nu, .rho_scale = rho};
    (void)state;
    for (int64_t n = 100; n <= 10000; n *= 10) { /* 100 log(100 / (n/100)) - 30 records */
        const double expected = n < 10000 ? 100 * log(1e4 / (double)n) - 30 : -30;
        assert_true(llabs(tmi_above_shift(&coarse, &(tmi_rank){1, 2, 0}, n) - llround(2 * expected)) <= 1);
        assert_true(llabs(tmi_above_shift(&fine, &(tmi_rank){500, 1000, 0}, n) - llround(1000 * expected)) <= 1);
        assert_int_equal(tmi_above_shift(&sides, &(tmi_rank){1, 2, 0}, n), 0);
    }
    tamis_number_free(nu);
    tamis_number_free(rho);
    tamis_number_free(fine_nu);
    tamis_number_free(fine_rho);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_pair_of_neighbours_loses_more),
        cmocka_unit_test(the_monotone_claim_is_tight),
        cmocka_unit_test(classic_noise_is_larger),
        cmocka_unit_test(answers_have_the_law),
        cmocka_unit_test(a_pile_is_found_at_its_place),
        cmocka_unit_test(noise_is_not_shared),
        cmocka_unit_test(missing_values_do_not_move_the_threshold),
        cmocka_unit_test(the_shift_is_in_the_units_of_the_rank),
        cmocka_unit_test(allocations_may_fail),
    };
    return cmocka_run_group_tests(tests, make_rng, free_rng);
}
