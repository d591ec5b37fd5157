#include "tests/test.h"

#include <string.h>

#include "num/law/gaussian_tail.h"
#include "num/law/laws.h"
#include "tests/base/memory_that_fails.h"
#include "tests/num/enclosure.h"
#include "tests/num/laws_vectors.h"

static void agrees_with_mpmath(void **state)
{
    tamis_bound b;
    (void)state;
    for (size_t i = 0; i < sizeof laplace_vectors / sizeof *laplace_vectors; i++) {
        tamis_number *scale = number(laplace_vectors[i].scale);
        assert_int_equal(tamis_discrete_laplace_mass(&b, scale, laplace_vectors[i].k, NULL), TAMIS_OK);
        assert_encloses_decimal(b, laplace_vectors[i].mass);
        assert_int_equal(tamis_discrete_laplace_at_least(&b, scale, laplace_vectors[i].k, NULL), TAMIS_OK);
        assert_encloses_decimal(b, laplace_vectors[i].at_least);
        tamis_number_free(scale);
    }
    for (size_t i = 0; i < sizeof gaussian_vectors / sizeof *gaussian_vectors; i++) {
        tamis_number *scale = number(gaussian_vectors[i].scale);
        assert_int_equal(tamis_discrete_gaussian_mass(&b, scale, gaussian_vectors[i].k, NULL), TAMIS_OK);
        assert_encloses_decimal(b, gaussian_vectors[i].mass);
        assert_int_equal(tamis_discrete_gaussian_at_least(&b, scale, gaussian_vectors[i].k, NULL), TAMIS_OK);
        assert_encloses_decimal(b, gaussian_vectors[i].at_least);
        tamis_number_free(scale);
    }
    for (size_t i = 0; i < sizeof normal_vectors / sizeof *normal_vectors; i++) {
        tamis_number *x = number(normal_vectors[i].x);
        assert_int_equal(tamis_normal_at_least(&b, x, NULL), TAMIS_OK);
        assert_encloses_decimal(b, normal_vectors[i].at_least);
        tamis_number_free(x);
    }
}

typedef void part_of(tmi_ball *, const tamis_number *, tmi_law_part, int64_t, long);

/* P(X >= k) - P(X >= k+1) = P(X = k) and P(X <= k) + P(X >= k+1) = 1, where the difference still has digits. */
static void tails_differ_by_masses(void **state)
{
    static const char *const parameters[] = {"1e-6", "1/3", "1", "50", "1e4", "123456789/10", "1e12", "1e32", "1e40"};
    static const int64_t points[] = {-1000000000000000000, -100000,          -7, -1, 0, 1, 2, 60, 4000, 300000,
                                     1000000000,           30000000000000000};
    part_of *const laws[] = {tmi_discrete_laplace_part, tmi_discrete_gaussian_part};
    tmi_ball here, next, mass, most;
    (void)state;
    tmi_ball_init(&here);
    tmi_ball_init(&next);
    tmi_ball_init(&mass);
    tmi_ball_init(&most);
    for (size_t l = 0; l < 2; l++) {
        for (size_t i = 0; i < sizeof parameters / sizeof *parameters; i++) {
            tamis_number *x = number(parameters[i]);
            for (size_t j = 0; j < sizeof points / sizeof *points; j++) {
                laws[l](&here, x, TMI_AT_LEAST, points[j], 512);
                laws[l](&next, x, TMI_AT_LEAST, points[j] + 1, 512);
                laws[l](&most, x, TMI_AT_MOST, points[j], 512);
                laws[l](&mass, x, TMI_MASS, points[j], 512);
                tmi_ball_sub(&here, &here, &next, 512);
                assert_false(tmi_ball_is_less(&here, &mass) || tmi_ball_is_less(&mass, &here));
                tamis_bound b = tmi_ball_bound(&mass), d = tmi_ball_bound(&here);
                if (b.lower > 1e-60) assert_true(fabs(d.upper - b.upper) <= 1e-15 * b.upper);
                assert_true(is_narrow(b));
                tmi_ball_add(&most, &most, &next, 512);
                tmi_ball_add_int(&most, &most, -1, 512);
                b = tmi_ball_bound(&most);
                assert_true(b.lower <= 0 && b.upper >= 0 && b.upper - b.lower < 1e-100);
            }
            tamis_number_free(x);
        }
    }
    tmi_ball_clear(&here);
    tmi_ball_clear(&next);
    tmi_ball_clear(&mass);
    tmi_ball_clear(&most);
}

/* The sum as it stands and Euler-Maclaurin meet at 200 terms: asking for more bits moves the border. */
static void both_roads_agree(void **state)
{
    tmi_ball direct, smooth;
    (void)state;
    tmi_ball_init(&direct);
    tmi_ball_init(&smooth);
    for (int64_t sd = 5; sd <= 18; sd++) {
        for (int64_t k = 1; k < 8 * sd; k += sd) {
            tamis_number *variance;
            assert_int_equal(tmi_number_ratio(&variance, sd * sd, 1, NULL), TAMIS_OK);
            tmi_discrete_gaussian_part(&direct, variance, TMI_AT_LEAST, k, 128);
            tmi_discrete_gaussian_part(&smooth, variance, TMI_AT_LEAST, k, 1024);
            assert_false(tmi_ball_is_less(&direct, &smooth) || tmi_ball_is_less(&smooth, &direct));
            tamis_bound d = tmi_ball_bound(&direct), s = tmi_ball_bound(&smooth);
            assert_true(d.upper - d.lower <= 1e-15 * d.upper && s.upper - s.lower <= 1e-15 * s.upper);
            tamis_number_free(variance);
        }
    }
    tmi_ball_clear(&direct);
    tmi_ball_clear(&smooth);
}

/* Stopped early, both methods still enclose: with few corrections, and with a large rest. */
static void early_stops_still_enclose(void **state)
{
    static const int variances[] = {1, 3, 20, 300, 4000};
    arb_t v, first, truth, z;
    fmpz_t a;
    (void)state;
    arb_init(v);
    arb_init(first);
    arb_init(truth);
    arb_init(z);
    fmpz_init(a);
    for (size_t i = 0; i < sizeof variances / sizeof *variances; i++) {
        arb_set_si(v, variances[i]);
        for (fmpz_one(a); fmpz_cmp_si(a, 60) < 0; fmpz_add_ui(a, a, 7)) {
            arb_set_fmpz(first, a);
            arb_mul(first, first, first, 256);
            arb_div(first, first, v, 256);
            arb_mul_2exp_si(first, first, -1);
            arb_neg(first, first);
            arb_exp(first, first, 256);
            tmi_gaussian_tail_summed(truth, a, v, 256, 256);
            for (slong stop = 1; stop < 60; stop += 6) {
                tmi_gaussian_tail_summed(z, a, v, stop, 256);
                assert_true(arb_overlaps(z, truth));
                assert_true(mag_cmp_2exp_si(arb_radref(z), -stop) <= 0);
            }
            for (ulong order = 1; order < 12; order++) {
                tmi_gaussian_tail_smooth(z, a, v, first, order, 256);
                assert_true(arb_overlaps(z, truth));
            }
        }
    }
    assert_true(arb_rel_accuracy_bits(z) > 40); /* the last one is smooth enough to be narrow, too */
    arb_clear(v);
    arb_clear(first);
    arb_clear(truth);
    arb_clear(z);
    fmpz_clear(a);
}

static void knows_the_ends(void **state)
{
    tamis_number *tiny = number("1e-1000"), *huge = number("1e1000"), *minus = number("-1e1000");
    tamis_bound b;
    (void)state;
    assert_int_equal(tamis_discrete_laplace_mass(&b, tiny, 0, NULL), TAMIS_OK);
    assert_true(b.lower > 1 - 1e-15 && b.upper == 1);
    assert_int_equal(tamis_discrete_gaussian_mass(&b, tiny, 0, NULL), TAMIS_OK);
    assert_true(b.lower > 1 - 1e-15 && b.upper == 1);
    assert_int_equal(tamis_discrete_gaussian_at_least(&b, tiny, 1, NULL), TAMIS_OK);
    assert_true(b.lower == 0 && b.upper <= 1e-300);
    assert_int_equal(tamis_discrete_gaussian_mass(&b, huge, INT64_MIN, NULL), TAMIS_OK);
    assert_true(b.lower == 0 && b.upper <= 1e-300);
    assert_int_equal(tamis_discrete_gaussian_at_least(&b, huge, INT64_MIN, NULL), TAMIS_OK);
    assert_true(b.lower > 0.4999999 && b.upper < 0.5000001);
    assert_int_equal(tamis_discrete_laplace_at_least(&b, huge, INT64_MAX, NULL), TAMIS_OK);
    assert_true(b.lower > 0.4999999 && b.upper < 0.5000001);
    assert_int_equal(tamis_normal_at_least(&b, huge, NULL), TAMIS_OK);
    assert_true(b.lower == 0 && b.upper <= 1e-300);
    assert_int_equal(tamis_normal_at_least(&b, minus, NULL), TAMIS_OK);
    assert_true(b.lower > 1 - 1e-15 && b.upper == 1);
    tamis_number_free(tiny);
    tamis_number_free(huge);
    tamis_number_free(minus);
}

static void forgets_its_caches(void **state)
{
    tamis_number *scale = number("1000");
    tamis_bound before, after;
    (void)state;
    assert_int_equal(tamis_discrete_gaussian_at_least(&before, scale, 1500, NULL), TAMIS_OK);
    tamis_thread_done();
    assert_int_equal(tamis_discrete_gaussian_at_least(&after, scale, 1500, NULL), TAMIS_OK);
    assert_true(before.lower == after.lower && before.upper == after.upper);
    tamis_number_free(scale);
}

static void refuses_bad_input(void **state)
{
    typedef tamis_status function(tamis_bound *, const tamis_number *, int64_t, tamis_error *);
    function *const functions[] = {tamis_discrete_laplace_mass, tamis_discrete_laplace_at_least, tamis_discrete_gaussian_mass,
                                   tamis_discrete_gaussian_at_least};
    tamis_number *zero = number("0"), *minus = number("-1"), *one = number("1");
    tamis_error err;
    tamis_bound b;
    (void)state;
    for (size_t f = 0; f < 4; f++) {
        const tamis_number *const wrong[] = {NULL, zero, minus};
        for (size_t i = 0; i < 3; i++) {
            b = (tamis_bound){5, 5};
            assert_int_equal(functions[f](&b, wrong[i], 0, &err), TAMIS_INVALID);
            assert_non_null(strstr(err.message, "scale"));
            assert_true(b.lower == 0 && b.upper == 1);
        }
        assert_int_equal(functions[f](NULL, one, 0, &err), TAMIS_INVALID);
    }
    assert_int_equal(tamis_normal_at_least(&b, NULL, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "x"));
    assert_int_equal(tamis_normal_at_least(NULL, one, &err), TAMIS_INVALID);
    tamis_number_free(zero);
    tamis_number_free(minus);
    tamis_number_free(one);
}

static void survives_missing_memory(void **state)
{
    tamis_bound b;
    tamis_number *scale = number("3");
    (void)state;
    EVERY_ALLOCATION_FAILS(tamis_discrete_gaussian_mass(&b, scale, 4, NULL), assert_true(b.lower == 0 && b.upper == 1));
    tamis_number_free(scale);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_mpmath), cmocka_unit_test(tails_differ_by_masses),
        cmocka_unit_test(both_roads_agree),   cmocka_unit_test(early_stops_still_enclose),
        cmocka_unit_test(knows_the_ends),     cmocka_unit_test(forgets_its_caches),
        cmocka_unit_test(refuses_bad_input),  cmocka_unit_test(survives_missing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
