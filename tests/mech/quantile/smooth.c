/* Smooth sensitivity on a grid: the sensitivity against the definition, privacy by enumeration of all neighbours, the answer as a
 * function of the random number. */
#include "tests/test.h"

#include <string.h>

#include "mech/quantile/smooth.h"
#include "mech/smooth_polyplace.h"
#include "num/ball.h"
#include "num/number.h"
#include "tests/base/memory_that_fails.h"
#include "tests/rng/law.h"
#include "tests/rng/with_rng.h"

#define SLACK 1e-9

static tamis_status try_setup(tamis_quantile **q, const char *to, const char *at, const char *epsilon, const char *delta,
                              int64_t rows, int add_remove, int64_t rows_per_unit, int64_t max_weight, tamis_error *err)
{
    tamis_number *x[] = {number("0"), number(to), number("1"), number(at), number(epsilon), delta ? number(delta) : NULL};
    const tamis_number *const list[] = {x[3]};
    const tamis_quantile_setup setup = {.from = x[0],
                                        .to = x[1],
                                        .step = x[2],
                                        .at = list,
                                        .at_count = 1,
                                        .epsilon = x[4],
                                        .delta = x[5],
                                        .method = TAMIS_QUANTILE_SMOOTH,
                                        .rows = rows,
                                        .add_remove = add_remove,
                                        .rows_per_unit = rows_per_unit,
                                        .max_weight = max_weight};
    tamis_status status = tamis_quantile_new(q, &setup, err);
    for (size_t i = 0; i < 6; i++) tamis_number_free(x[i]);
    return status;
}

static tamis_quantile *quantile_of(const char *to, const char *at, const char *epsilon, const char *delta, int64_t rows)
{
    tamis_quantile *q;
    tamis_error err = {0};
    if (try_setup(&q, to, at, epsilon, delta, rows, 0, 0, 0, &err) != TAMIS_OK) fail_msg("%s", err.message);
    return q;
}

/* What the answer is made of, by the code that answers. */
static double facts(int64_t *centre, const tamis_quantile *q, const int64_t *points, size_t count)
{
    tmi_neighbourhood around;
    tmi_records records;
    tmi_ball s;
    assert_int_equal(tmi_quantile_records(&records, q, NULL, points, NULL, count, NULL), TAMIS_OK);
    assert_int_equal(tmi_neighbourhood_make(&around, q, 0, &records, NULL), TAMIS_OK);
    tmi_ball_init(&s);
    assert_true(tmi_neighbourhood_sensitivity(&s, &around, q->smooth[0].beta, 128));
    const tamis_bound bound = tmi_ball_bound(&s);
    assert_true(bound.upper <= bound.lower * (1 + 1e-15) + 1e-20); /* in steps: what is smaller moves no answer */
    tmi_ball_clear(&s);
    *centre = around.centre;
    tmi_neighbourhood_clear(&around);
    return bound.upper;
}

/* Against the formula, with missing values at the upper end: all pairs of ranks. */
static void the_sensitivity_is_that_of_the_definition(void **state)
{
    static const char *const ats[] = {"1/2", "1/10", "9/10"}, *const epsilons[] = {"1/2", "2", "10"};
    uint64_t stream = 7;
    (void)state;
    for (int run = 0; run < 300; run++) {
        enum { MOST = 400 };
        const size_t n = 1 + next_number(&stream) % (run % 10 == 0 ? MOST : 30);
        const int64_t spread = run % 3 == 0 ? 4 : run % 3 == 1 ? 60 : 1000, size = (int64_t)n;
        int64_t points[MOST], sorted[MOST + 2];
        tamis_quantile *q = quantile_of("1000", ats[run % 3], epsilons[run / 3 % 3], NULL, run % 2 ? size : 0);
        for (size_t i = 0; i < n; i++)
            points[i] = next_number(&stream) % 9 == 0 ? INT64_MIN : 300 + (int64_t)(next_number(&stream) % (uint64_t)spread);
        memcpy(sorted + 1, points, n * sizeof *points);
        for (size_t i = 1; i <= n; i++) sorted[i] = sorted[i] == INT64_MIN || sorted[i] > 1000 ? 1000 : sorted[i];
        assert_true(tmi_sort_points(sorted + 1, NULL, n));
        sorted[0] = 0;
        sorted[n + 1] = 1000;
        const int64_t p = q->targets[0].rank.p, d = q->targets[0].rank.d, m = (p * size + d - 1) / d;
        const double beta = tmi_number_nearest(q->smooth[0].beta);
        double expected = 0;
        for (int64_t i = 0; i <= m; i++)
            for (int64_t j = m; j <= size + 1; j++)
                if (i < j) expected = fmax(expected, (double)(sorted[j] - sorted[i]) * exp(-beta * (double)(j - i - 1)));
        int64_t centre;
        assert_true(fabs(facts(&centre, q, points, n) - expected) < 1e-12 * expected + 1e-20);
        assert_int_equal(centre, sorted[m]);
        tamis_quantile_free(q);
    }
}

/* Only the records around the rank are looked at: the same as with all of them. */
static void windows_are_wide_enough(void **state)
{
    enum { N = 200000 };
    static int64_t points[N];
    static double values[N];
    uint64_t stream = 11;
    (void)state;
    for (int kind = 0; kind < 5; kind++) {
        tamis_quantile *q = quantile_of("1000000", "1/4",
                                        kind == 4  ? "1/1000"
                                        : kind % 2 ? "1/20"
                                                   : "1",
                                        kind == 3 ? "1/1000000" : NULL, N);
        for (size_t i = 0; i < N; i++) {
            const uint64_t draw = next_number(&stream);
            points[i] = kind == 2 ? 7000 + (int64_t)(draw % 3) * 1000 : (int64_t)(draw % 100000); /* heaps, or spread out */
            values[i] = (double)points[i];
        }
        int64_t centre;
        double expected;
        const double found = facts(&centre, q, points, N), beta = tmi_number_nearest(q->smooth[0].beta);
        assert_int_equal(tamis_smooth_sensitivity_up(&expected, values, N, N / 4, 0, 1e6, beta, NULL), TAMIS_OK);
        assert_true(fabs(found - expected) < 1e-8 * expected + 1e-9);
        tamis_quantile_free(q);
    }
}

/* ---- privacy ---- */

enum { POINTS = 6, RECORDS = 4, KINDS = POINTS + 1 };

static tamis_bound tail(const tamis_quantile *q, double x)
{
    const tmi_smooth *s = &q->smooth[0];
    tamis_number *at;
    tamis_bound p;
    assert_int_equal(tmi_number_double(&at, x, NULL), TAMIS_OK);
    if (s->alpha) {
        const double alpha = tmi_number_nearest(s->alpha), half = exp(-alpha * fabs(x)) / 2;
        p.lower = p.upper = x < 0 ? 1 - half : half;
    } else assert_int_equal(tamis_polyplace_at_least(&p, q->epsilon, s->beta, at, NULL), TAMIS_OK);
    tamis_number_free(at);
    return p;
}

/* P(answer = o): the noise is between o - 1/2 and o + 1/2 from the centre; ends take what is beyond. */
static void law_of(double *law, const tamis_quantile *q, const int64_t *points, size_t count)
{
    int64_t centre;
    const double s = facts(&centre, q, points, count);
    double above = 1;
    for (int64_t o = 0; o < POINTS; o++) {
        const double next = o + 1 == POINTS ? 0 : tail(q, ((double)(o - centre) + 0.5) / s).upper;
        law[o] = above - next;
        above = next;
    }
}

static void data_of(int64_t *points, int code)
{
    for (size_t i = 0; i < RECORDS; i++, code /= KINDS) points[i] = code % KINDS == 0 ? INT64_MIN : code % KINDS - 1;
}

/* Over all data sets, missing values included, and all that differ in one record: the largest log ratio, and the largest delta.
 * */
static void worst(double *loss, double *delta, const tamis_quantile *q, double epsilon)
{
    enum { ALL = KINDS * KINDS * KINDS * KINDS };
    static double laws[ALL][POINTS];
    *loss = *delta = 0;
    for (int code = 0; code < ALL; code++) {
        int64_t points[RECORDS];
        data_of(points, code);
        law_of(laws[code], q, points, RECORDS);
    }
    for (int code = 0; code < ALL; code++)
        for (int other = code % KINDS + 1; other < KINDS; other++) { /* the order of records does not matter: the first one */
            const double *p = laws[code], *r = laws[code - code % KINDS + other];
            double one = 0, two = 0;
            for (size_t o = 0; o < POINTS; o++) {
                if (p[o] > 1e-12 && r[o] > 1e-12) *loss = fmax(*loss, fabs(log(p[o] / r[o])));
                one += fmax(0, p[o] - exp(epsilon) * r[o]);
                two += fmax(0, r[o] - exp(epsilon) * p[o]);
            }
            *delta = fmax(*delta, fmax(one, two));
        }
}

static void no_pair_of_neighbours_loses_more(void **state)
{
    static const char *const epsilons[] = {"1/2", "2"}, *const ats[] = {"1/2", "3/4"};
    (void)state;
    for (int i = 0; i < 4; i++) {
        const double epsilon = i % 2 ? 2 : 0.5;
        double loss, delta;
        tamis_quantile *q = quantile_of("5", ats[i / 2], epsilons[i % 2], NULL, RECORDS);
        worst(&loss, &delta, q, epsilon);
        if (loss > epsilon + SLACK) fail_msg("case %d: %g instead of %g", i, loss, epsilon);
        assert_true(loss > 0.6 * epsilon);
        tamis_quantile_free(q);
        q = quantile_of("5", ats[i / 2], epsilons[i % 2], "1/10", RECORDS);
        assert_non_null(q->smooth[0].alpha);
        worst(&loss, &delta, q, epsilon);
        if (delta > 0.1 + SLACK) fail_msg("case %d: delta %g", i, delta);
        assert_true(loss > 0.6 * epsilon);
        tamis_quantile_free(q);
    }
}

/* ---- draws ---- */

/* The answer that belongs to these digits, in doubles: NaN if it is too near to the border of two. */
static double expected_of(const tamis_quantile *q, uint64_t word, double s, int64_t centre, double high)
{
    const tmi_smooth *n = &q->smooth[0];
    const double u = ldexp((double)(word << 1 >> 11), -53), beta = tmi_number_nearest(n->beta);
    double z;
    if (n->alpha) z = -log1p(-u) / tmi_number_nearest(n->alpha);
    else {
        const double p = tmi_number_nearest(n->shape), r = 1 - 1 / p;
        const double inner = (1 - pow(r, p)) / p, outer = pow(r, p - 1) * (1 + 1 / p) / p, at = u * (inner + outer);
        z = at < inner ? 1 - pow(1 - p * at, 1 / p) : (1 + 1 / p) * pow((1 - u) * (inner + outer) / outer, -1 / p) - 1;
        z /= beta;
    }
    const double x = (double)centre + (word >> 63 ? -z : z) * s;
    if (fabs(x - floor(x) - 0.5) < 1e-6) return NAN;
    return fmin(fmax(floor(x + 0.5), 0), high);
}

/* A uniform number becomes the answer by inversion: so the answers have the law whose privacy was looked at. */
static void the_answer_is_the_rounded_noise(void **state)
{
    const int64_t points[] = {400, 410, 420, 430, 440, 441, 442, 460, INT64_MIN, 300};
    uint64_t stream = 3;
    int compared = 0;
    (void)state;
    for (int laplace = 0; laplace < 2; laplace++) {
        tamis_quantile *q = quantile_of("1000", "1/2", "3", laplace ? "1/10" : NULL, 10);
        assert_int_equal(q->smooth[0].alpha != NULL, laplace);
        int64_t centre, point;
        const double s = facts(&centre, q, points, 10);
        tmi_records records;
        assert_int_equal(tmi_quantile_records(&records, q, NULL, points, NULL, 10, NULL), TAMIS_OK);
        for (int run = 0; run < 3000; run++) {
            q->bits[0] = (tmi_uniform_bits){.words = {next_word(&stream), next_word(&stream)}, .count = 2};
            if (run < 4) q->bits[0].words[0] |= UINT64_MAX >> 20; /* far out */
            const double expected = expected_of(q, q->bits[0].words[0], s, centre, 1000);
            assert_int_equal(tmi_find_smooth(&point, q, &records, NULL, NULL), TAMIS_OK);
            if (isnan(expected)) continue;
            assert_true((double)point == expected);
            compared++;
        }
        tamis_quantile_free(q);
    }
    assert_true(compared > 5900);
}

/* The same from random bits to answers, statistically. */
static void answers_have_the_law(void **state)
{
    const int64_t points[] = {0, 2, 2, 3, INT64_MIN, 5};
    const int draws = test_size(2000, 50000);
    tamis_quantile *q = quantile_of("5", "1/2", "3", NULL, 6);
    double law[POINTS];
    uint64_t seen[POINTS] = {0};
    (void)state;
    bits_from_seed(12);
    law_of(law, q, points, 6);
    for (int i = 0; i < draws; i++) {
        int64_t point;
        assert_int_equal(tamis_quantile_prepare(q, rng, NULL), TAMIS_OK);
        assert_int_equal(tamis_quantile_points(&point, q, points, NULL, 6, rng, NULL), TAMIS_OK);
        assert_true(point >= 0 && point < POINTS);
        seen[point]++;
    }
    for (size_t i = 0; i < POINTS; i++) assert_true(may_be_chance(seen[i], (uint64_t)draws, (tamis_bound){law[i], law[i]}));
    tamis_quantile_free(q);
}

/* Digits that leave the noise unbounded decide nothing: more are drawn. */
static void more_bits_are_drawn_where_they_decide(void **state)
{
    const int64_t points[] = {4, 5, 6};
    tamis_quantile *q = quantile_of("9", "1/2", "1", NULL, 3);
    tmi_records records;
    int64_t point;
    (void)state;
    bits_from_seed(1);
    assert_int_equal(tmi_quantile_records(&records, q, NULL, points, NULL, 3, NULL), TAMIS_OK);
    q->bits[0] = (tmi_uniform_bits){.words = {UINT64_MAX >> 1, UINT64_MAX}, .count = 2};
    assert_int_equal(tmi_find_smooth(&point, q, &records, rng, NULL), TAMIS_OK);
    assert_int_equal(point, 9);
    assert_true(q->bits[0].count > 2);
    tamis_quantile_free(q);
}

static void wrong_calls_are_named(void **state)
{
    static const struct {
        const char *delta;
        int add_remove;
        int64_t rows_per_unit, max_weight;
        const char *word;
    } cases[] = {{NULL, 1, 0, 0, "replaced"},
                 {NULL, 0, 0, 3, "max_weight"},
                 {"0", 0, 0, 0, "delta"},
                 {"1", 0, 0, 0, "delta"},
                 {"1/100", 0, 2, 0, "delta"}};
    const int64_t points[] = {1, 2, 3};
    tamis_quantile *q;
    tamis_error err;
    int64_t point;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(try_setup(&q, "9", "1/2", "1", cases[i].delta, 0, cases[i].add_remove, cases[i].rows_per_unit,
                                   cases[i].max_weight, &err),
                         TAMIS_INVALID);
        assert_non_null(strstr(err.message, cases[i].word));
    }
    q = quantile_of("9", "1/2", "1", NULL, 2);
    bits_from_seed(1);
    assert_int_equal(tamis_quantile_prepare(q, rng, NULL), TAMIS_OK);
    assert_int_equal(tamis_quantile_points(&point, q, points, NULL, 3, rng, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "rows"));
    tamis_quantile_free(q);
}

/* The noise of one quantile on the public model, as the mean of its size over the model's smooth sensitivity: by the same model
 * written a second time. */
static double mean_on_model(const tamis_quantile *q, const char *epsilon, int64_t n)
{
    static double values[20000];
    const int64_t p = q->targets[0].rank.p, d = q->targets[0].rank.d, m = (p * n + d - 1) / d;
    const double beta = tmi_number_nearest(q->smooth[0].beta), low = (double)(m - 5 * n), high = (double)(m + 5 * n);
    double s;
    for (int64_t i = 0; i < n; i++) values[i] = (double)(i + 1);
    assert_int_equal(tamis_smooth_sensitivity_up(&s, values, (size_t)n, m, low, high, beta, NULL), TAMIS_OK);
    if (q->smooth[0].alpha) return s / tmi_number_nearest(q->smooth[0].alpha);
    tamis_number *e = number(epsilon);
    tamis_bound mean;
    assert_int_equal(tmi_polyplace_mean_size(&mean, e, q->smooth[0].beta, NULL), TAMIS_OK);
    tamis_number_free(e);
    return s * mean.upper;
}

/* With a delta the noise is never larger than without, and where Laplace noise would be, no delta is spent. */
static void a_delta_never_harms(void **state)
{
    static const char *const epsilons[] = {"1/10", "1/2", "1", "2"}, *const deltas[] = {"1/1000000", "1/1000", "1/100", "1/10"};
    static const int64_t rows[] = {10, 100, 1000, 10000};
    int spent = 0, saved = 0;
    (void)state;
    for (int i = 0; i < 64; i++) {
        const char *epsilon = epsilons[i / 16];
        const int64_t n = rows[i % 4];
        tamis_quantile *with = quantile_of("1000", i % 3 ? "1/2" : "9/10", epsilon, deltas[i / 4 % 4], n);
        tamis_quantile *without = quantile_of("1000", i % 3 ? "1/2" : "9/10", epsilon, NULL, n);
        const double one = mean_on_model(with, epsilon, n), other = mean_on_model(without, epsilon, n);
        if (one > other * (1 + SLACK)) fail_msg("case %d: %g with a delta, %g without", i, one, other);
        assert_int_equal(tmi_quantile_spends_delta(with), with->smooth[0].alpha != NULL);
        assert_false(tmi_quantile_spends_delta(without));
        spent += tmi_quantile_spends_delta(with);
        saved += !tmi_quantile_spends_delta(with);
        tamis_quantile_free(with);
        tamis_quantile_free(without);
    }
    assert_true(spent > 10 && saved > 10);
    tamis_quantile *usual = quantile_of("1000000", "1/2", "1", "1/1000000", 1000); /* was 3 to 15 times worse than without */
    assert_null(usual->smooth[0].alpha);
    tamis_quantile_free(usual);
}

/* A unit of three rows is three steps; and several quantiles share epsilon and delta. */
static void epsilon_is_shared(void **state)
{
    tamis_quantile *one = quantile_of("9", "1/2", "1/3", NULL, 100), *three;
    (void)state;
    assert_int_equal(try_setup(&three, "9", "1/2", "1", NULL, 100, 0, 3, 0, NULL), TAMIS_OK);
    assert_int_equal(tmi_number_compare(one->smooth[0].beta, three->smooth[0].beta), 0);
    assert_int_equal(tmi_number_compare(one->smooth[0].shape, three->smooth[0].shape), 0);
    tamis_quantile_free(three);
    tamis_number *x[] = {number("0"), number("9"), number("1"), number("1/2"), number("3/4"), number("2/3"), number("1/10")};
    const tamis_number *const list[] = {x[3], x[4]};
    tamis_quantile_setup setup = {.from = x[0],
                                  .to = x[1],
                                  .step = x[2],
                                  .at = list,
                                  .at_count = 2,
                                  .epsilon = x[5],
                                  .method = TAMIS_QUANTILE_SMOOTH,
                                  .rows = 100};
    assert_int_equal(tamis_quantile_new(&three, &setup, NULL), TAMIS_OK);
    assert_int_equal(tmi_number_compare(one->smooth[0].beta, three->smooth[0].beta), 0);
    tamis_quantile_free(three);
    tamis_quantile_free(one);
    one = quantile_of("9", "1/2", "1/3", "1/20", 100);
    setup.delta = x[6];
    assert_int_equal(tamis_quantile_new(&three, &setup, NULL), TAMIS_OK);
    assert_int_equal(tmi_number_compare(one->smooth[0].beta, three->smooth[0].beta), 0);
    assert_int_equal(tmi_number_compare(one->smooth[0].alpha, three->smooth[0].alpha), 0);
    tamis_quantile_free(three);
    tamis_quantile_free(one);
    for (size_t i = 0; i < 7; i++) tamis_number_free(x[i]);
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
    tamis_number *x[] = {number("0"), number("9"), number("1"), number("1/2"), number("1/1000")};
    const tamis_number *const list[] = {x[3]};
    tamis_quantile_setup setup = {.from = x[0],
                                  .to = x[1],
                                  .step = x[2],
                                  .at = list,
                                  .at_count = 1,
                                  .epsilon = x[2],
                                  .method = TAMIS_QUANTILE_SMOOTH,
                                  .rows = 3};
    (void)state;
    EVERY_ALLOCATION_FAILS(from_start_to_answer(&setup), {});
    setup.delta = x[4];
    ALLOCATIONS_FAIL(k_ < 60 ? k_ + 1 : k_ + 1 + k_ / 8, from_start_to_answer(&setup), {});
    for (size_t i = 0; i < 5; i++) tamis_number_free(x[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sensitivity_is_that_of_the_definition),
        cmocka_unit_test(windows_are_wide_enough),
        cmocka_unit_test(no_pair_of_neighbours_loses_more),
        cmocka_unit_test(the_answer_is_the_rounded_noise),
        cmocka_unit_test(answers_have_the_law),
        cmocka_unit_test(more_bits_are_drawn_where_they_decide),
        cmocka_unit_test(wrong_calls_are_named),
        cmocka_unit_test(a_delta_never_harms),
        cmocka_unit_test(epsilon_is_shared),
        cmocka_unit_test(allocations_may_fail),
    };
    return cmocka_run_group_tests(tests, make_rng, free_rng);
}
