/* The exchange bound of whole reports: against exact histograms, against its own formula summed answer by answer, and against
 * published values. */
#include "tests/test.h"

#include "collect/anonymous/exchange.h"
#include "collect/anonymous/randomizer.h"
#include "num/number.h"
#include "tests/base/memory_that_fails.h"

static tamis_reports whole(int64_t reports, int64_t bits, const tamis_number *lie)
{
    return (tamis_reports){.reports = reports, .form = TAMIS_REPORT_WHOLE, .positions = bits, .lie_one = lie};
}

static double exchange(const tamis_reports *r, const char *eps)
{
    tamis_number *e = number(eps);
    double delta = 0;
    assert_int_equal(tmi_exchange_delta(&delta, r, &(tmi_loss_at){.eps = e}, 0, NULL), TAMIS_OK);
    tamis_number_free(e);
    return delta;
}

/* Every histogram and every answer of the others, with any answer and with exactly one 1. */
static void never_below_the_truth(void **state)
{
    static const char *const lies[] = {"3/10", "2/5", "9/20", "49/100"}, *const losses[] = {"0.01", "0.1", "0.5", "1"};
    static const struct {
        int64_t bits, ones, reports;
    } cases[] = {{1, 0, 40}, {2, 0, 9}, {2, 0, 12}, {2, 1, 12}};
    int told = 0;
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (size_t l = 0; l < sizeof lies / sizeof *lies; l++) {
            tamis_number *lie = number(lies[l]);
            tamis_reports r = whole(cases[c].reports, cases[c].bits, lie);
            tmi_randomizer table;
            r.ones = cases[c].ones;
            r.exactly = cases[c].ones > 0;
            assert_int_equal(tmi_randomizer_init(&table, &r, NULL), TAMIS_OK);
            tmi_enumeration *all;
            assert_int_equal(tmi_enumeration_new(&all, &table, r.reports, NULL), TAMIS_OK);
            assert_non_null(all);
            for (size_t k = 0; k < sizeof losses / sizeof *losses; k++) {
                tamis_number *eps = number(losses[k]);
                tamis_bound exact;
                assert_int_equal(tmi_enumeration_delta(&exact, all, &(tmi_loss_at){.eps = eps}, NULL), TAMIS_OK);
                double delta = exchange(&r, losses[k]);
                if (delta < exact.lower) fail_msg("%zu, lie %s, eps %s: %g < %g", c, lies[l], losses[k], delta, exact.lower);
                told += delta < 1;
                tamis_number_free(eps);
            }
            tmi_enumeration_free(all);
            tmi_randomizer_clear(&table);
            tamis_number_free(lie);
        }
    assert_true(told >= 20); /* elsewhere the bound says nothing */
}

/* One bit, where the exact delta of many reports is known too. */
static void near_the_truth_of_one_bit(void **state)
{
    static const char *const losses[] = {"0.05", "0.1", "0.15", "0.2", "0.3"};
    tamis_number *lie = number("1/4");
    (void)state;
    for (int64_t n = 200; n <= 5000; n *= 5)
        for (size_t k = 0; k < sizeof losses / sizeof *losses; k++) {
            tamis_reports r = whole(n, 1, lie);
            tamis_number *eps = number(losses[k]);
            tamis_bound exact;
            assert_int_equal(tamis_anonymous_delta(&exact, &r, eps, NULL), TAMIS_OK);
            double delta = exchange(&r, losses[k]);
            assert_true(delta >= exact.lower);
            tamis_number_free(eps);
        }
    tamis_number_free(lie);
}

/* ---- the formula, for every pair of answers, every answer of another person and every report ---- */

/* law[d]: the probability of a report that differs from the answer in d bits. */
static double probability(const double *law, int answer, int report)
{
    return law[__builtin_popcount((unsigned)(answer ^ report))];
}

/* The largest log E exp(theta (A - e B)); by symmetry the person's answer is 0. */
static double kappa(int bits, int differing, const double *law, double theta, double e)
{
    double most = -INFINITY;
    for (int other = 1; other < 1 << bits; other++) {
        if (__builtin_popcount((unsigned)other) > differing) continue;
        for (int z = 0; z < 1 << bits; z++) {
            double sum = 0;
            for (int y = 0; y < 1 << bits; y++) {
                const double r = probability(law, z, y), a = probability(law, 0, y) / r, b = probability(law, other, y) / r;
                sum += r * expm1(theta * (a - e * b));
            }
            most = fmax(most, log1p(sum));
        }
    }
    return most;
}

/* The smallest value on a grid of Gamma and theta, so never below the best. */
static double by_formula(const tamis_reports *r, double exp_eps)
{
    const int bits = (int)r->positions;
    const double lie = tmi_number_nearest(r->lie_one), m = (double)r->reports - 1;
    double g = 0, v = 0, best = 1, law[4];
    for (int d = 0; d <= bits; d++) law[d] = pow(lie, d) * pow(1 - lie, bits - d);
    for (int y = 0; y < 1 << bits; y++) g += law[bits]; /* some answer makes any report the least likely one */
    for (int y = 0; y < 1 << bits; y++) v += pow(law[bits] / g, 2) / probability(law, 0, y);
    g = 1 / g;
    for (double tail = 2; tail < 60; tail *= 1.2) {
        const double gamma = m - g - sqrt(2 * m * v * tail), e = exp_eps * (gamma - g) / (gamma + g);
        for (double theta = 1e-3; gamma > g && theta < 2; theta *= 1.15)
            best = fmin(best, exp(-tail) + exp(m * kappa(bits, (int)tamis_reports_differing(r), law, theta, e) - 1) /
                                               (theta * (gamma - g)));
    }
    return best;
}

static void the_formula_answer_by_answer(void **state)
{
    static const struct {
        int64_t bits, ones, reports;
        const char *lie, *eps;
    } cases[] = {{1, 0, 500, "1/4", "0.2"},  {2, 0, 400, "1/4", "0.5"},  {2, 0, 3000, "2/5", "0.03"},
                 {3, 0, 1000, "1/4", "0.5"}, {3, 1, 1000, "1/4", "0.3"}, {3, 0, 300, "1/4", "0.9"}};
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        tamis_number *lie = number(cases[c].lie);
        tamis_reports r = whole(cases[c].reports, cases[c].bits, lie);
        r.ones = cases[c].ones;
        r.exactly = cases[c].ones > 0;
        double delta = exchange(&r, cases[c].eps), wanted = by_formula(&r, exp(strtod(cases[c].eps, NULL)));
        if (!(delta < 0.9 && delta <= wanted * 1.001 && delta >= wanted * 0.75)) /* the grid is at most so far from the best */
            fail_msg("%zu: %g, on a grid %g", c, delta, wanted);
        tamis_number_free(lie);
    }
}

/* Epsilon at delta 1e-6, as computed by another program in doubles. */
static void many_reports_of_many_bits(void **state)
{
    static const struct {
        int64_t bits, reports;
        const char *lie;
        double eps;
    } cases[] = {{10, 100000, "1/4", 1.236},   {10, 1000000, "1/4", 0.356},  {8, 100000, "1/4", 0.451},
                 {10, 100000, "0.35", 0.067},  {4, 10000, "1/4", 0.228},     {5, 100000, "1/4", 0.104},
                 {10, 20000, "1/4", 2.50},     {20, 1000000, "0.4", 0.0167}, {3, 100000, "0.1", 0.341},
                 {16, 1000000, "0.35", 0.0692}};
    tamis_number *delta = number("1e-6");
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        tamis_number *lie = number(cases[c].lie);
        tamis_reports r = whole(cases[c].reports, cases[c].bits, lie);
        tamis_bound eps;
        assert_int_equal(tamis_anonymous_epsilon(&eps, &r, delta, NULL), TAMIS_OK);
        if (!(fabs(eps.upper / cases[c].eps - 1) < 0.004 && eps.lower < eps.upper))
            fail_msg("%zu: [%.6g, %.6g], %g was expected", c, eps.lower, eps.upper, cases[c].eps);
        tamis_number_free(lie);
    }
    tamis_number_free(delta);
}

/* Lies that differ, counts, categories, and reports that are too few: the bound says nothing. */
static void says_nothing_elsewhere(void **state)
{
    tamis_number *lie = number("1/4"), *zero = number("1/5"), *same = number("2/8");
    tamis_reports r = whole(10000, 3, lie);
    (void)state;
    assert_true(exchange(&r, "0.5") < 1 && tmi_exchange_suffices(&r));
    r.lie_zero = same;
    assert_true(exchange(&r, "0.5") < 1);
    r.lie_zero = zero;
    assert_true(exchange(&r, "0.5") == 1 && !tmi_exchange_suffices(&r));
    r = whole(10000, 40, lie);
    assert_true(exchange(&r, "5") == 1 && !tmi_exchange_suffices(&r));
    r = whole(1, 2, lie);
    assert_true(exchange(&r, "0.5") == 1);
    r = whole(10000, 3, lie);
    r.form = TAMIS_REPORT_COUNTS;
    assert_true(exchange(&r, "0.5") == 1);
    tamis_number_free(lie);
    tamis_number_free(zero);
    tamis_number_free(same);
}

/* With a goal the answer is on the same side of it, and never below the smallest bound; the guess has one class only. */
static void a_goal_saves_work_only(void **state)
{
    static const char *const losses[] = {"0.2", "0.4", "0.6", "0.8", "1"};
    tamis_number *lie = number("1/4");
    (void)state;
    for (int64_t bits = 2; bits <= 6; bits += 2)
        for (size_t k = 0; k < sizeof losses / sizeof *losses; k++) {
            tamis_number *eps = number(losses[k]);
            const tmi_loss_at at = {.eps = eps};
            const tamis_reports r = whole(4000, bits, lie);
            const double smallest = exchange(&r, losses[k]);
            double about;
            assert_int_equal(tmi_exchange_about(&about, &r, &at, NULL), TAMIS_OK);
            assert_true(about <= smallest * 1.001);
            for (double goal = smallest / 16; goal <= fmin(1, 16 * smallest); goal *= 1.9) {
                double found;
                assert_int_equal(tmi_exchange_delta(&found, &r, &at, goal, NULL), TAMIS_OK);
                assert_true(found >= smallest && (found <= goal) == (smallest <= goal));
            }
            tamis_number_free(eps);
        }
    tamis_number_free(lie);
}

static void every_allocation_may_fail(void **state)
{
    tamis_number *lie = number("1/4"), *eps = number("1/2");
    tamis_reports r = whole(2000, 4, lie);
    double delta;
    tamis_error err;
    (void)state;
    EVERY_ALLOCATION_FAILS(tmi_exchange_delta(&delta, &r, &(tmi_loss_at){.eps = eps}, 0, &err), assert_true(delta == 1));
    EVERY_ALLOCATION_FAILS(tmi_exchange_about(&delta, &r, &(tmi_loss_at){.eps = eps}, &err), assert_true(delta == 1));
    tamis_number_free(lie);
    tamis_number_free(eps);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(never_below_the_truth),        cmocka_unit_test(near_the_truth_of_one_bit),
        cmocka_unit_test(the_formula_answer_by_answer), cmocka_unit_test(many_reports_of_many_bits),
        cmocka_unit_test(says_nothing_elsewhere),       cmocka_unit_test(a_goal_saves_work_only),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
