/* One anonymised bit against its definition in exact fractions: all compositions of the others, all sets of results. */
#include "tests/test.h"

#include <string.h>

#include "collect/anonymous/one_bit.h"
#include "num/number_gmp.h"
#include "tests/base/memory_that_fails.h"

#define MOST 10

/* Masses of the number of ones reported by a people with a one and b with a zero. */
static void exact_law(mpq_t *mass, int a, int b, const tamis_number *lie_one, const tamis_number *lie_zero)
{
    mpq_t one, p, x;
    mpq_inits(one, p, x, NULL);
    mpq_set_ui(one, 1, 1);
    for (int k = 0; k <= MOST; k++) mpq_set_ui(mass[k], k == 0, 1);
    for (int i = 0; i < a + b; i++) {
        if (i < a) mpq_sub(p, one, lie_one->value);
        else mpq_set(p, lie_zero->value);
        for (int k = i + 1; k >= 0; k--) {
            mpq_sub(x, one, p);
            mpq_mul(mass[k], mass[k], x);
            if (k == 0) continue;
            mpq_mul(x, mass[k - 1], p);
            mpq_add(mass[k], mass[k], x);
        }
    }
    mpq_clears(one, p, x, NULL);
}

/* sum of (p - e q)+ */
static void add_up(mpq_t delta, mpq_t *p, mpq_t *q, const tamis_number *e)
{
    mpq_t x;
    mpq_init(x);
    mpq_set_ui(delta, 0, 1);
    for (int k = 0; k <= MOST; k++) {
        mpq_mul(x, e->value, q[k]);
        mpq_sub(x, p[k], x);
        if (mpq_sgn(x) > 0) mpq_add(delta, delta, x);
    }
    mpq_clear(x);
}

static void exact_delta(mpq_t delta, int n, const tamis_number *u, const tamis_number *v, const tamis_number *e, int low,
                        int high)
{
    mpq_t zero[MOST + 1], one[MOST + 1], x;
    for (int k = 0; k <= MOST; k++) mpq_inits(zero[k], one[k], NULL);
    mpq_init(x);
    mpq_set_ui(delta, 0, 1);
    for (int a = low; a <= high; a++) {
        exact_law(one, a + 1, n - 1 - a, u, v);
        exact_law(zero, a, n - a, u, v);
        add_up(x, one, zero, e);
        if (mpq_cmp(x, delta) > 0) mpq_set(delta, x);
        add_up(x, zero, one, e);
        if (mpq_cmp(x, delta) > 0) mpq_set(delta, x);
    }
    for (int k = 0; k <= MOST; k++) mpq_clears(zero[k], one[k], NULL);
    mpq_clear(x);
}

static bool holds(tamis_bound b, mpq_t x)
{
    mpq_t end;
    mpq_init(end);
    mpq_set_d(end, b.lower);
    bool good = mpq_cmp(end, x) <= 0;
    mpq_set_d(end, b.upper);
    good &= mpq_cmp(end, x) >= 0;
    mpq_clear(end);
    return good && b.upper - b.lower <= 1e-9 * b.upper;
}

static const char *const flips[][2] = {{"1/4", NULL},   {"1/100", NULL}, {"2/5", NULL},     {"499/1000", NULL},
                                       {"1/2", "1/10"}, {"1/10", "1/2"}, {"1/3", "1/1000"}, {"9/10", "1/20"}};
static const char *const odds[] = {"1", "101/100", "5/4", "3/2", "2", "3", "9", "99"};

static void every_composition_by_the_definition(void **state)
{
    mpq_t exact;
    (void)state;
    mpq_init(exact);
    for (size_t f = 0; f < sizeof flips / sizeof *flips; f++)
        for (size_t o = 0; o < sizeof odds / sizeof *odds; o++)
            for (int n = 1; n <= 8; n += n < 4 ? 1 : 2) {
                tamis_number *u = number(flips[f][0]), *v = flips[f][1] ? number(flips[f][1]) : NULL, *e = number(odds[o]);
                tamis_reports r = {.reports = n, .positions = 1, .lie_one = u, .lie_zero = v};
                tamis_bound delta;
                tamis_anonymous_worst worst;
                for (int low = 0; low < n; low += 2)
                    for (int high = low; high < n; high += 3) {
                        assert_int_equal(tamis_anonymous_bit_delta(&delta, &worst, &r, e, low, high, NULL), TAMIS_OK);
                        exact_delta(exact, n, u, v ? v : u, e, low, high);
                        if (!holds(delta, exact)) fail_msg("n %d flips %zu odds %s %d:%d", n, f, odds[o], low, high);
                        assert_true((worst.order != 0) == (mpq_sgn(exact) > 0));
                        if (worst.order) assert_in_range(worst.ones, low, high);
                    }
                tamis_number_free(u);
                tamis_number_free(v);
                tamis_number_free(e);
            }
    mpq_clear(exact);
}

static tamis_bound epsilon(int64_t n, const char *u, const char *v, const char *delta)
{
    tamis_number *x = number(u), *y = v ? number(v) : NULL, *d = number(delta);
    tamis_reports r = {.reports = n, .positions = 1, .lie_one = x, .lie_zero = y};
    tamis_bound eps;
    tamis_error err = {0};
    tamis_status status = tamis_anonymous_epsilon(&eps, &r, d, &err);
    if (status != TAMIS_OK) fail_msg("%s", err.message);
    tamis_number_free(x);
    tamis_number_free(y);
    tamis_number_free(d);
    return eps;
}

/* q = 1/(1 + e^eps0), as a fraction that is nearer than the digits below. */
static tamis_bound of_local(int64_t n, double eps0)
{
    char q[64];
    snprintf(q, sizeof q, "%.17g", 1 / (1 + exp(eps0)));
    return epsilon(n, q, NULL, "1e-6");
}

static void values_of_a_scan_over_all_compositions(void **state)
{
    static const struct {
        int64_t n;
        double eps0, eps;
    } values[] = {{200, 0.5, .13780},  {200, 1, .31824},  {200, 2, .93149},  {200, 3, 2.98326},
                  {1000, 0.5, .05685}, {1000, 1, .12661}, {1000, 2, .32332}, {1000, 3, .69485}};
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        tamis_bound eps = of_local(values[i].n, values[i].eps0);
        assert_true(fabs(eps.upper - values[i].eps) <= 6e-6 && eps.upper - eps.lower <= 2e-9 * eps.upper);
    }
}

/* The single compositions of the table: a = 0, and half of the others. */
static void values_of_single_compositions(void **state)
{
    static const struct {
        int64_t n;
        double eps0, none, half;
    } values[] = {{200, 1, .3182, .2822},  {200, 2, .9315, .6451},  {1000, .5, .0569, .0557},
                  {1000, 1, .1266, .1208}, {1000, 2, .3233, .2858}, {1000, 3, .6948, .5268}};
    tamis_number *delta = number("1e-6");
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        for (int k = 0; k < 2; k++) {
            char text[64];
            tmi_one_bit bit;
            tamis_bound eps;
            snprintf(text, sizeof text, "%.17g", 1 / (1 + exp(values[i].eps0)));
            tamis_number *q = number(text);
            assert_int_equal(tmi_one_bit_init(&bit, values[i].n, q, q, NULL), TAMIS_OK);
            int64_t a = k == 0 ? 0 : values[i].n / 2;
            tmi_one_bit_window(&bit, a, a);
            assert_int_equal(tmi_one_bit_epsilon(&eps, &bit, delta, (tmi_effort){1e-9, 12000, 0}, NULL), TAMIS_OK);
            double wanted = k == 0 ? values[i].none : values[i].half;
            assert_true(fabs(eps.upper - wanted) <= 1.5e-4); /* half of the others is not a whole number */
            tmi_one_bit_clear(&bit);
            tamis_number_free(q);
        }
    tamis_number_free(delta);
}

/* With blocks and with single compositions: the enclosures overlap, and the wide one is as narrow as it says. */
static void blocks_and_compositions_agree(void **state)
{
    static const char *const lies[][2] = {{"1/4", "1/4"}, {"1/20", "1/20"}, {"1/2", "1/5"}};
    tamis_number *delta = number("1e-5");
    (void)state;
    for (int i = 0; i < 3; i++) {
        tamis_number *u = number(lies[i][0]), *v = number(lies[i][1]), *e;
        tmi_one_bit bit;
        tamis_bound narrow, wide, d;
        assert_int_equal(tmi_one_bit_init(&bit, 700, u, v, NULL), TAMIS_OK);
        assert_int_equal(tmi_one_bit_epsilon(&narrow, &bit, delta, (tmi_effort){1e-9, 12000, 0}, NULL), TAMIS_OK);
        assert_int_equal(tmi_one_bit_epsilon(&wide, &bit, delta, (tmi_effort){0.004, 4000, 0}, NULL), TAMIS_OK);
        assert_true(wide.lower <= narrow.upper && narrow.lower <= wide.upper && wide.upper <= 1.0041 * wide.lower);
        assert_int_equal(tmi_number_double(&e, narrow.upper, NULL), TAMIS_OK);
        assert_int_equal(tmi_one_bit_delta(&d, NULL, &bit, &(tmi_loss_at){.eps = e}, TMI_EFFORT_EXACT, NULL), TAMIS_OK);
        assert_true(d.upper <= 1e-5 && d.lower >= 1e-5 * (1 - 1e-6));
        assert_int_equal(tmi_one_bit_delta(&d, NULL, &bit, &(tmi_loss_at){.eps = e}, (tmi_effort){1e-3, 60, 0}, NULL), TAMIS_OK);
        assert_true(d.upper >= 1e-5 * (1 - 1e-6) && d.lower <= 1e-5);
        tamis_number_free(e);
        tmi_one_bit_clear(&bit);
        tamis_number_free(u);
        tamis_number_free(v);
    }
    tamis_number_free(delta);
}

/* The sums in doubles and the contours enclose the same delta, and sums are narrow where delta is not tiny. */
static void sums_and_contours_enclose_the_same(void **state)
{
    static const int64_t numbers[] = {0, 1, 2, 7, 40, 333, 5000, 100000};
    static const char *const losses[] = {"0", "1e-6", "0.01", "0.1", "0.7", "2"};
    (void)state;
    for (size_t f = 0; f < sizeof flips / sizeof *flips; f++) {
        tamis_number *u = number(flips[f][0]), *v = number(flips[f][flips[f][1] ? 1 : 0]);
        tmi_one_bit bit;
        assert_int_equal(tmi_one_bit_init(&bit, 9, u, v, NULL), TAMIS_OK);
        for (size_t l = 0; l < sizeof losses / sizeof *losses; l++)
            for (size_t i = 0; i < 8 * 8 * 2; i++) {
                tamis_number *eps = number(losses[l]);
                tmi_shift pair = tmi_one_bit_pair(&bit, numbers[i % 8], numbers[i / 8 % 8], (int)(i / 64));
                tamis_bound sums, contours;
                assert_int_equal(tmi_shift_sums(&sums, &pair, &(tmi_loss_at){.eps = eps}, NULL), TAMIS_OK);
                assert_int_equal(tmi_shift_bound(&contours, &pair, &(tmi_loss_at){.eps = eps}, 1e-12, NULL), TAMIS_OK);
                bool same = sums.lower <= contours.upper && contours.lower <= sums.upper;
                bool narrow = sums.upper - sums.lower <= 1e-7 * sums.upper || contours.upper < 1e-25;
                if (!same || !narrow)
                    fail_msg("flips %zu eps %s pair %zu: %g %g, %g", f, losses[l], i, sums.lower, sums.upper, contours.upper);
                tamis_number_free(eps);
            }
        tmi_one_bit_clear(&bit);
        tamis_number_free(u);
        tamis_number_free(v);
    }
}

/* Where sums would be long they say nothing. */
static void long_sums_say_nothing(void **state)
{
    tamis_number *q = number("1/4"), *eps = number("1e-5");
    tmi_one_bit bit;
    tamis_bound delta;
    (void)state;
    assert_int_equal(tmi_one_bit_init(&bit, 9, q, q, NULL), TAMIS_OK);
    tmi_shift pair = tmi_one_bit_pair(&bit, INT64_C(1) << 39, 5, 0);
    assert_int_equal(tmi_shift_sums(&delta, &pair, &(tmi_loss_at){.eps = eps}, NULL), TAMIS_OK);
    assert_true(delta.lower == 0 && delta.upper == 1);
    tmi_one_bit_clear(&bit);
    tamis_number_free(q);
    tamis_number_free(eps);
}

static void a_billion_reports(void **state)
{
    (void)state;
    tamis_bound eps = epsilon(INT64_C(1000000000), "1/4", NULL, "1e-6"),
                other = epsilon(INT64_C(1000000000), "1/2", "1/10", "1e-9");
    assert_true(eps.upper <= 1.005 * eps.lower && fabs(eps.lower - 5.58543e-5) < 1e-9);
    assert_true(other.upper <= 1.005 * other.lower && other.lower > 0);
}

/* Fewer reports, less lying and a smaller delta all cost. At delta 0 it is the local eps for any number of reports. */
static void what_weakens_it(void **state)
{
    (void)state;
    double before = INFINITY;
    for (int64_t n = 1; n <= 2000; n = 3 * n + 1) {
        tamis_bound eps = epsilon(n, "1/4", NULL, "1e-3"), pure = epsilon(n, "1/4", NULL, "0");
        assert_true(eps.upper <= before && eps.lower <= pure.upper);
        assert_true(pure.lower <= log(3) && pure.upper >= log(3) && pure.upper - pure.lower < 1e-14);
        before = eps.upper * (1 + 1e-8);
    }
    assert_true(epsilon(100, "1/4", NULL, "1e-3").lower > epsilon(100, "1/3", NULL, "1e-3").upper);
    assert_true(epsilon(100, "1/4", NULL, "1e-6").lower > epsilon(100, "1/4", NULL, "1e-3").upper);
    assert_true(epsilon(100, "1/4", NULL, "0.9").upper == 0);
}

static void refuses_what_is_not_a_collection(void **state)
{
    tamis_number *q = number("1/4"), *half = number("1/2"), *zero = number("0"), *two = number("2"), *small = number("1e-6");
    tamis_bound b;
    tamis_error err = {0};
    const tamis_reports good = {.reports = 10, .positions = 1, .lie_one = q};
    tamis_reports bad[] = {good, good, good, good, good, good, good, good};
    (void)state;
    bad[0].reports = 0;
    bad[1].reports = TAMIS_MAX_REPORTS + 1;
    bad[2].lie_one = half;
    bad[3].lie_one = zero;
    bad[4].lie_one = NULL;
    bad[5].positions = 0;
    bad[6].ones = 2;
    bad[7].form = 9;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(tamis_anonymous_epsilon(&b, &bad[i], small, &err), TAMIS_INVALID);
        assert_true(b.lower == 0 && isinf(b.upper) && strlen(err.message) > 5);
        assert_int_equal(tamis_anonymous_delta(&b, &bad[i], two, &err), TAMIS_INVALID);
        assert_true(b.lower == 0 && b.upper == 1);
        assert_int_equal(tamis_anonymous_local(&b, &bad[i], &err), TAMIS_INVALID);
    }
    assert_int_equal(tamis_anonymous_epsilon(&b, &good, two, &err), TAMIS_INVALID);
    assert_int_equal(tamis_anonymous_epsilon(&b, NULL, small, &err), TAMIS_INVALID);
    assert_int_equal(tamis_anonymous_bit_delta(&b, NULL, &good, small, 0, 9, &err), TAMIS_INVALID);
    assert_int_equal(tamis_anonymous_bit_delta(&b, NULL, &good, two, 0, 10, &err), TAMIS_INVALID);
    tamis_number *all[] = {q, half, zero, two, small};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tamis_number_free(all[i]);
}

static void every_allocation_may_fail(void **state)
{
    tamis_number *q = number("1/4"), *delta = number("1e-2"), *e = number("3/2");
    tamis_reports r = {.reports = 4, .positions = 1, .lie_one = q};
    tamis_bound b;
    int64_t m;
    tamis_error err;
    (void)state;
    EVERY_ALLOCATION_FAILS(tamis_anonymous_bit_delta(&b, NULL, &r, e, 0, 3, &err), assert_true(b.lower == 0 && b.upper == 1));
    ALLOCATIONS_FAIL(k_ + 1 + k_ / 8, tamis_anonymous_epsilon(&b, &r, delta, &err), assert_true(b.lower == 0 && isinf(b.upper)));
    ALLOCATIONS_FAIL(k_ + 1 + k_ / 8, tamis_anonymous_lie(&m, &r, 4, e, delta, &err), assert_true(m == 0));
    tmi_one_bit bit;
    assert_int_equal(tmi_one_bit_init(&bit, 9, q, q, NULL), TAMIS_OK);
    tmi_shift pair = tmi_one_bit_pair(&bit, 3, 5, 0);
    tmi_loss_at at = {.exp_eps = e};
    EVERY_ALLOCATION_FAILS(tmi_shift_sums(&b, &pair, &at, &err), assert_true(b.lower == 0 && b.upper == 1));
    tmi_one_bit_clear(&bit);
    EVERY_ALLOCATION_FAILS(tamis_anonymous_local(&b, &r, &err), assert_true(b.lower == 0 && isinf(b.upper)));
    tamis_number_free(q);
    tamis_number_free(delta);
    tamis_number_free(e);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(every_composition_by_the_definition),
        cmocka_unit_test(values_of_a_scan_over_all_compositions),
        cmocka_unit_test(values_of_single_compositions),
        cmocka_unit_test(blocks_and_compositions_agree),
        cmocka_unit_test(sums_and_contours_enclose_the_same),
        cmocka_unit_test(long_sums_say_nothing),
        cmocka_unit_test(a_billion_reports),
        cmocka_unit_test(what_weakens_it),
        cmocka_unit_test(refuses_what_is_not_a_collection),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
