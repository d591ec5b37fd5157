#include "tests/test.h"

#include <string.h>

#include "num/law/law.h"
#include "tests/base/memory_that_fails.h"
#include "tests/num/enclosure.h"
#include "tests/num/tails.h"
#include "tests/num/trials.h"

#define BITS 256

static const tmi_window fine = {0x1p-200, 256}, whole_support = {1e-300, 256};

/* x and y may be the same number, and their difference is known to `width` relative to their size, plus `slack`. */
static void assert_near(const tmi_ball *x, const tmi_ball *y, double width, double slack)
{
    tmi_ball gap;
    tmi_ball_init(&gap);
    tmi_ball_sub(&gap, x, y, BITS);
    tamis_bound g = tmi_ball_bound(&gap);
    double room = width * tmi_ball_bound(y).upper + slack + 1e-300;
    assert_true(g.lower <= 0 && g.upper >= 0);
    assert_true(g.upper <= room && g.lower >= -room);
    tmi_ball_clear(&gap);
}

static void assert_same(const tmi_ball *x, const tmi_ball *y, double width) { assert_near(x, y, width, 0); }

/* What the part functions say about the same law. */
typedef struct reference {
    tmi_hypergeometric hypergeometric;
    tmi_binomial binomial;
    tmi_trials trials;
    const tamis_number *scale, *variance;
} reference;

static void part_of(tmi_ball *z, const reference *r, tmi_law_part part, int64_t k)
{
    if (r->scale) tmi_discrete_laplace_part(z, r->scale, part, k, BITS);
    else if (r->variance) tmi_discrete_gaussian_part(z, r->variance, part, k, BITS);
    else if (r->trials.groups) assert_int_equal(tmi_trials_part(z, &r->trials, part, k, BITS, NULL), TAMIS_OK);
    else if (r->binomial.probability) assert_int_equal(tmi_binomial_part(z, &r->binomial, part, k, BITS, NULL), TAMIS_OK);
    else tmi_hypergeometric_part(z, &r->hypergeometric, part, k, BITS);
}

static tamis_status make(tmi_law *law, const reference *r, tmi_window window, tamis_error *err)
{
    if (r->scale) return tmi_law_discrete_laplace(law, r->scale, window, err);
    if (r->variance) return tmi_law_discrete_gaussian(law, r->variance, window, err);
    if (r->trials.groups) return law_of_trials(law, &r->trials, window);
    if (r->binomial.probability) return tmi_law_binomial(law, &r->binomial, window, err);
    return tmi_law_hypergeometric(law, &r->hypergeometric, window, err);
}

/* Masses, tails and the masses outside against the part functions; the sum of everything against 1. */
static void check_against(const tmi_law *law, const reference *r, double outside)
{
    tmi_ball x, y, sum;
    tmi_ball_init(&x);
    tmi_ball_init(&y);
    tmi_ball_init(&sum);
    int64_t end = law->first + (int64_t)law->count, stride = 1 + (int64_t)law->count / 40;
    for (int64_t k = law->first; k < end; k += stride) {
        tmi_law_mass(&x, law, k, BITS);
        part_of(&y, r, TMI_MASS, k);
        assert_near(&x, &y, 1e-30, 2 * outside * (r->trials.count > 1)); /* a convolution spreads what is outside */
    }
    part_of(&x, r, TMI_AT_MOST, law->first - 1);
    assert_false(tmi_ball_is_less(&law->below, &x) || tmi_ball_is_less(&x, &law->below));
    assert_true(tmi_ball_bound(&law->below).upper <= outside);
    part_of(&x, r, TMI_AT_LEAST, end);
    assert_false(tmi_ball_is_less(&law->above, &x) || tmi_ball_is_less(&x, &law->above));
    assert_true(tmi_ball_bound(&law->above).upper <= outside);
    for (int64_t k = law->first - 2; k < end + 2; k += stride) {
        law_at_least(&x, law, k, BITS);
        part_of(&y, r, TMI_AT_LEAST, k);
        assert_false(tmi_ball_is_less(&x, &y) || tmi_ball_is_less(&y, &x));
        tamis_bound b = tmi_ball_bound(&x);
        assert_true(b.upper - b.lower <= 1e-15 * b.upper + 2 * outside);
        law_at_most(&x, law, k, BITS);
        part_of(&y, r, TMI_AT_MOST, k);
        assert_false(tmi_ball_is_less(&x, &y) || tmi_ball_is_less(&y, &x));
        b = tmi_ball_bound(&x);
        assert_true(b.upper - b.lower <= 1e-15 * b.upper + 2 * outside);
    }
    law_at_most(&sum, law, end - 1, BITS);
    tmi_ball_add(&sum, &sum, &law->above, BITS);
    tmi_ball_add_int(&sum, &sum, -1, BITS);
    tamis_bound b = tmi_ball_bound(&sum);
    assert_true(b.lower <= 0 && b.upper >= 0 && b.upper - b.lower < 1e-40 + 3 * outside);
    tmi_ball_clear(&x);
    tmi_ball_clear(&y);
    tmi_ball_clear(&sum);
}

static void laws_are_themselves(void **state)
{
    tamis_number *half = number("1/2"), *third = number("1/3"), *small = number("1e-7"), *seven = number("7"),
                 *tenth = number("1/10"), *wide = number("123456.7"), *one = number("1"), *zero = number("0");
    tamis_trials groups[] = {{half, 20}, {third, 30}, {small, 1000}, {one, 3}, {zero, 9}, {tenth, 1}};
    const reference laws[] = {
        {.hypergeometric = {50, 20, 10}},
        {.hypergeometric = {50, 50, 10}},
        {.hypergeometric = {1, 0, 1}},
        {.hypergeometric = {0, 0, 0}},
        {.hypergeometric = {100, 90, 80}},
        {.hypergeometric = {330000000, 10000000, 1000000}},
        {.hypergeometric = {INT64_C(1) << 40, 1 << 20, 1 << 20}},
        {.binomial = {0, half}},
        {.binomial = {1, third}},
        {.binomial = {100, third}},
        {.binomial = {100, one}},
        {.binomial = {100, zero}},
        {.binomial = {100000, half}},
        {.binomial = {10000000, small}},
        {.trials = {groups, 6}},
        {.trials = {groups, 1}},
        {.scale = tenth},
        {.scale = seven},
        {.scale = one},
        {.variance = tenth},
        {.variance = seven},
        {.variance = wide},
        {.variance = one},
    };
    static const double outsides[] = {0x1p-200, 1e-6, 0.3};
    (void)state;
    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++) {
        for (size_t o = 0; o < sizeof outsides / sizeof *outsides; o++) {
            tmi_law law;
            if (laws[i].trials.count > 1 && o > 0) continue; /* a convolution of laws cut so early knows no digits */
            assert_int_equal(make(&law, &laws[i], (tmi_window){outsides[o], BITS}, NULL), TAMIS_OK);
            check_against(&law, &laws[i], outsides[o]);
            tmi_law_clear(&law);
        }
    }
    tamis_number *const all[] = {half, third, small, seven, tenth, wide, one, zero};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tamis_number_free(all[i]);
}

/* Two binomials of one probability add up to a binomial, to the last digit of the farthest tail. */
static void binomials_add_up(void **state)
{
    tamis_number *p = number("0.03");
    tmi_law x, y, z, whole;
    (void)state;
    assert_int_equal(tmi_law_binomial(&x, &(tmi_binomial){30, p}, whole_support, NULL), TAMIS_OK);
    assert_int_equal(tmi_law_binomial(&y, &(tmi_binomial){70, p}, whole_support, NULL), TAMIS_OK);
    assert_int_equal(tmi_law_binomial(&whole, &(tmi_binomial){100, p}, whole_support, NULL), TAMIS_OK);
    assert_int_equal(x.count, 31);
    assert_int_equal(tmi_law_convolve(&z, &x, &y, BITS, NULL), TAMIS_OK);
    assert_int_equal(z.first, 0);
    assert_int_equal(z.count, 101);
    assert_true(tmi_ball_is_zero(&z.below) && tmi_ball_is_zero(&z.above));
    for (size_t k = 0; k < whole.count; k++) assert_same(&z.mass[k], &whole.mass[k], 1e-60);
    tmi_law_clear(&x);
    tmi_law_clear(&y);
    tmi_law_clear(&z);
    tmi_law_clear(&whole);
    tamis_number_free(p);
}

/* X + Y of two discrete Laplace variables: ((1-q)/(1+q))^2 q^|k| (|k| + (1+q^2)/(1-q^2)). */
static void laplaces_add_up(void **state)
{
    tamis_number *scale = number("5");
    tmi_law x, z;
    tmi_ball q, square, expected, part;
    (void)state;
    tmi_ball_init(&q);
    tmi_ball_init(&square);
    tmi_ball_init(&expected);
    tmi_ball_init(&part);
    assert_int_equal(tmi_law_discrete_laplace(&x, scale, fine, NULL), TAMIS_OK);
    assert_int_equal(tmi_law_convolve(&z, &x, &x, BITS, NULL), TAMIS_OK);
    for (int64_t k = -200; k <= 200; k++) {
        int64_t size = k < 0 ? -k : k;
        tmi_ball_set_int(&q, 1);
        tmi_ball_div_int(&q, &q, -5, BITS);
        tmi_ball_exp(&q, &q, BITS);
        tmi_ball_mul(&square, &q, &q, BITS);
        tmi_ball_add_int(&expected, &square, 1, BITS);
        tmi_ball_neg(&part, &square);
        tmi_ball_add_int(&part, &part, 1, BITS);
        tmi_ball_div(&expected, &expected, &part, BITS);
        tmi_ball_add_int(&expected, &expected, size, BITS);
        tmi_discrete_laplace_part(&part, scale, TMI_MASS, 0, BITS);
        tmi_ball_mul(&expected, &expected, &part, BITS);
        tmi_discrete_laplace_part(&part, scale, TMI_MASS, k, BITS);
        tmi_ball_mul(&expected, &expected, &part, BITS);
        tmi_law_mass(&part, &z, k, BITS);
        assert_same(&part, &expected, 1e-25); /* what is outside, 2^-199, is added to each mass */
    }
    tmi_ball_clear(&q);
    tmi_ball_clear(&square);
    tmi_ball_clear(&expected);
    tmi_ball_clear(&part);
    tmi_law_clear(&x);
    tmi_law_clear(&z);
    tamis_number_free(scale);
}

/* Convolution of laws that were cut hard still encloses: the truth comes from the uncut ones. */
static void cut_laws_still_enclose(void **state)
{
    tamis_number *p = number("0.4");
    tmi_law x, y, cut, whole;
    tmi_ball part, truth;
    (void)state;
    tmi_ball_init(&part);
    tmi_ball_init(&truth);
    assert_int_equal(tmi_law_binomial(&x, &(tmi_binomial){300, p}, (tmi_window){0.01, 64}, NULL), TAMIS_OK);
    assert_int_equal(tmi_law_binomial(&y, &(tmi_binomial){500, p}, (tmi_window){0.1, 64}, NULL), TAMIS_OK);
    assert_true(x.count < 301 && y.count < 501);
    assert_int_equal(tmi_law_convolve(&cut, &x, &y, 64, NULL), TAMIS_OK);
    assert_int_equal(tmi_law_binomial(&whole, &(tmi_binomial){800, p}, fine, NULL), TAMIS_OK);
    for (int64_t k = -1; k <= 801; k++) {
        tmi_law_mass(&part, &cut, k, BITS);
        tmi_law_mass(&truth, &whole, k, BITS);
        assert_false(tmi_ball_is_less(&part, &truth) || tmi_ball_is_less(&truth, &part));
        law_at_least(&part, &cut, k, BITS);
        law_at_least(&truth, &whole, k, BITS);
        assert_false(tmi_ball_is_less(&part, &truth) || tmi_ball_is_less(&truth, &part));
        law_at_most(&part, &cut, k, BITS);
        law_at_most(&truth, &whole, k, BITS);
        assert_false(tmi_ball_is_less(&part, &truth) || tmi_ball_is_less(&truth, &part));
    }
    tmi_ball_clear(&part);
    tmi_ball_clear(&truth);
    tmi_law_clear(&x);
    tmi_law_clear(&y);
    tmi_law_clear(&cut);
    tmi_law_clear(&whole);
    tamis_number_free(p);
}

/* What is outside stays known in a sum of many groups. */
static void outside_is_accounted_for(void **state)
{
    enum { GROUPS = 50 };
    tamis_number *p = number("1/4");
    tmi_law sum;
    tamis_trials groups[GROUPS];
    (void)state;
    for (int i = 0; i < GROUPS; i++) groups[i] = (tamis_trials){p, 3000};
    assert_int_equal(law_of_trials(&sum, &(tmi_trials){groups, GROUPS}, (tmi_window){1e-6, 64}), TAMIS_OK);
    double outside = tmi_ball_bound(&sum.below).upper + tmi_ball_bound(&sum.above).upper;
    assert_true(outside > 0 && outside <= 1e-6);
    tmi_law_clear(&sum);
    tamis_number_free(p);
}

static void shifts(void **state)
{
    tamis_number *p = number("1/4");
    tmi_law law, copy;
    tmi_ball x, y;
    (void)state;
    tmi_ball_inits(&x, &y, NULL);
    assert_int_equal(tmi_law_binomial(&law, &(tmi_binomial){4000, p}, (tmi_window){1e-9, 128}, NULL), TAMIS_OK);
    assert_int_equal(tmi_law_binomial(&copy, &(tmi_binomial){4000, p}, (tmi_window){1e-9, 128}, NULL), TAMIS_OK);
    assert_int_equal(tmi_law_shift(&law, -7, NULL), TAMIS_OK);
    for (int64_t k = 700; k < 1300; k += 13) {
        tmi_law_mass(&x, &copy, k, 128);
        tmi_law_mass(&y, &law, k - 7, 128);
        assert_same(&x, &y, 1e10);
        law_at_least(&x, &copy, k, 128);
        law_at_least(&y, &law, k - 7, 128);
        assert_same(&x, &y, 1e10);
        law_at_least(&y, &copy, k + 1, 128);
        assert_false(tmi_ball_is_less(&x, &y)); /* tails fall */
    }
    assert_int_equal(tmi_law_shift(&law, 7, NULL), TAMIS_OK);
    assert_true(law.first == copy.first && law.count == copy.count);
    assert_int_equal(tmi_law_shift(&law, INT64_MAX, NULL), TAMIS_UNABLE);
    assert_int_equal(tmi_law_shift(&law, INT64_MIN, NULL), TAMIS_UNABLE);
    assert_true(law.first == copy.first);
    tmi_law_clear(&law);
    tmi_law_clear(&copy);
    tmi_ball_clears(&x, &y, NULL);
    tamis_number_free(p);
}

static void assert_unknown(const tmi_law *law)
{
    tamis_bound below = tmi_ball_bound(&law->below), above = tmi_ball_bound(&law->above);
    assert_true(law->count == 0 && below.lower <= 0 && below.upper >= 1 && above.lower <= 0 && above.upper >= 1);
}

static void refuses_what_it_cannot_do(void **state)
{
    tamis_number *half = number("1/2"), *huge = number("1e30"), *minus = number("-1"), *big = number("1e6");
    const struct {
        reference law;
        tmi_window window;
        tamis_status status;
    } cases[] = {
        {{.scale = huge}, TMI_WINDOW, TAMIS_UNABLE},
        {{.variance = huge}, TMI_WINDOW, TAMIS_UNABLE},
        {{.scale = big}, TMI_WINDOW, TAMIS_UNABLE},
        {{.binomial = {INT64_C(1) << 40, half}}, TMI_WINDOW, TAMIS_UNABLE},
        {{.hypergeometric = {INT64_C(1) << 40, INT64_C(1) << 39, INT64_C(1) << 39}}, TMI_WINDOW, TAMIS_UNABLE},
        {{.scale = minus}, TMI_WINDOW, TAMIS_INVALID},
        {{.variance = minus}, TMI_WINDOW, TAMIS_INVALID},
        {{.binomial = {-1, half}}, TMI_WINDOW, TAMIS_INVALID},
        {{.binomial = {1, minus}}, TMI_WINDOW, TAMIS_INVALID},
        {{.hypergeometric = {5, 6, 5}}, TMI_WINDOW, TAMIS_INVALID},
        {{.scale = half}, {0, 64}, TAMIS_INVALID},
        {{.scale = half}, {1, 64}, TAMIS_INVALID},
        {{.scale = half}, {NAN, 64}, TAMIS_INVALID},
        {{.scale = half}, {-1, 64}, TAMIS_INVALID},
        {{.scale = half}, {0.1, 10}, TAMIS_INVALID},
        {{.scale = half}, {0.1, 1000000}, TAMIS_INVALID},
        {{.binomial = {9, half}}, {2, 64}, TAMIS_INVALID},
        {{.variance = half}, {0, 64}, TAMIS_INVALID},
        {{.hypergeometric = {5, 5, 5}}, {0, 64}, TAMIS_INVALID},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tmi_law law;
        tamis_error err;
        assert_int_equal(make(&law, &cases[i].law, cases[i].window, &err), cases[i].status);
        assert_true(strlen(err.message) > 0);
        assert_unknown(&law);
        tmi_law_clear(&law);
    }
    tmi_law x, y, z;
    assert_int_equal(tmi_law_point(&x, TMI_LAW_END - 1, NULL), TAMIS_OK);
    assert_int_equal(tmi_law_point(&y, INT64_MIN, NULL), TAMIS_UNABLE);
    assert_unknown(&y);
    assert_int_equal(tmi_law_convolve(&z, &x, &x, 64, NULL), TAMIS_UNABLE);
    assert_unknown(&z);
    assert_int_equal(tmi_law_convolve(&z, &x, &y, 64, NULL), TAMIS_INVALID); /* y has no masses */
    tmi_law_clear(&x);
    assert_int_equal(tmi_law_new(&x, 0, (size_t)TMI_LAW_POINTS, NULL), TAMIS_OK);
    assert_int_equal(tmi_law_convolve(&z, &x, &x, 64, NULL), TAMIS_UNABLE);
    tmi_law_clear(&x);
    tmi_law_clear(&y);
    tmi_law_clear(NULL);
    tamis_number *const all[] = {half, huge, minus, big};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tamis_number_free(all[i]);
}

static void survives_missing_memory(void **state)
{
    tamis_number *half = number("1/2"), *third = number("1/3");
    tmi_law law;
    (void)state;
    EVERY_ALLOCATION_FAILS(tmi_law_binomial(&law, &(tmi_binomial){500, half}, TMI_WINDOW, NULL), assert_unknown(&law));
    tmi_law_clear(&law);
    EVERY_ALLOCATION_FAILS(tmi_law_hypergeometric(&law, &(tmi_hypergeometric){500, 200, 200}, TMI_WINDOW, NULL),
                           assert_unknown(&law));
    tmi_law_clear(&law);
    EVERY_ALLOCATION_FAILS(tmi_law_discrete_laplace(&law, half, TMI_WINDOW, NULL), assert_unknown(&law));
    tmi_law_clear(&law);
    EVERY_ALLOCATION_FAILS(tmi_law_discrete_gaussian(&law, half, TMI_WINDOW, NULL), assert_unknown(&law));
    tmi_law_clear(&law);
    assert_int_equal(tmi_law_binomial(&law, &(tmi_binomial){200, third}, TMI_WINDOW, NULL), TAMIS_OK);
    tmi_law other;
    EVERY_ALLOCATION_FAILS(tmi_law_convolve(&other, &law, &law, 64, NULL), assert_unknown(&other));
    tmi_law_clear(&other);
    tmi_law_clear(&law);
    tamis_number_free(half);
    tamis_number_free(third);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(laws_are_themselves),       cmocka_unit_test(binomials_add_up),
        cmocka_unit_test(laplaces_add_up),           cmocka_unit_test(cut_laws_still_enclose),
        cmocka_unit_test(outside_is_accounted_for),  cmocka_unit_test(shifts),
        cmocka_unit_test(refuses_what_it_cannot_do), cmocka_unit_test(survives_missing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
