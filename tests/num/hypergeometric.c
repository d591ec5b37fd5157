#include "tests/test.h"

#include <string.h>

#include "num/law/laws.h"
#include "tests/num/enclosure.h"
#include "tests/num/laws_vectors.h"

/* All populations up to 11, all ones, samples and k, against sums of exact fractions. */
static void agrees_with_exact_fractions(void **state)
{
    mpz_t x, y, total;
    mpq_t mass, at_least, at_most;
    (void)state;
    mpz_inits(x, y, total, NULL);
    mpq_inits(mass, at_least, at_most, NULL);
    for (int64_t N = 0; N <= 11; N++) {
        for (int64_t K = 0; K <= N; K++) {
            for (int64_t n = 0; n <= N; n++) {
                choose(total, N, n);
                mpq_set_ui(at_least, 1, 1);
                mpq_set_ui(at_most, 0, 1);
                for (int64_t k = -1; k <= n + 1; k++) {
                    choose(x, K, k);
                    choose(y, N - K, n - k);
                    mpz_mul(mpq_numref(mass), x, y);
                    mpz_set(mpq_denref(mass), total);
                    mpq_canonicalize(mass);
                    mpq_add(at_most, at_most, mass);
                    tamis_bound b;
                    assert_int_equal(tamis_hypergeometric_mass(&b, N, K, n, k, NULL), TAMIS_OK);
                    assert_encloses(b, mass, 0);
                    assert_int_equal(tamis_hypergeometric_at_least(&b, N, K, n, k, NULL), TAMIS_OK);
                    assert_encloses(b, at_least, 0);
                    assert_int_equal(tamis_hypergeometric_at_most(&b, N, K, n, k, NULL), TAMIS_OK);
                    assert_encloses(b, at_most, 0);
                    mpq_sub(at_least, at_least, mass);
                }
            }
        }
    }
    mpz_clears(x, y, total, NULL);
    mpq_clears(mass, at_least, at_most, NULL);
}

static void agrees_with_mpmath(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof hypergeometric_vectors / sizeof *hypergeometric_vectors; i++) {
        int64_t N = hypergeometric_vectors[i].population, K = hypergeometric_vectors[i].ones,
                n = hypergeometric_vectors[i].sample, k = hypergeometric_vectors[i].k;
        tamis_bound b;
        assert_int_equal(tamis_hypergeometric_mass(&b, N, K, n, k, NULL), TAMIS_OK);
        assert_encloses_decimal(b, hypergeometric_vectors[i].mass);
        assert_int_equal(tamis_hypergeometric_at_least(&b, N, K, n, k, NULL), TAMIS_OK);
        assert_encloses_decimal(b, hypergeometric_vectors[i].at_least);
        assert_int_equal(tamis_hypergeometric_at_most(&b, N, K, n, k, NULL), TAMIS_OK);
        assert_encloses_decimal(b, hypergeometric_vectors[i].at_most);
    }
}

/* The sum in long double against the sum in balls, and the symmetry between ones and sample. */
static void agrees_with_itself(void **state)
{
    static const struct {
        tmi_hypergeometric law;
        int64_t k;
    } cases[] = {
        {{330000000, 10000000, 1000000}, 30000},
        {{330000000, 165000000, 1000000}, 500100},
        {{100000, 300, 50000}, 151},
        {{INT64_C(1) << 40, INT64_C(1) << 30, INT64_C(1) << 30}, 1048000},
        {{5000, 2500, 2500}, 1250},
        {{5000, 2500, 2500}, 1700},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int part = TMI_MASS; part <= TMI_AT_MOST; part++) {
            const tmi_hypergeometric *law = &cases[i].law, swapped = {law->population, law->sample, law->ones};
            tmi_ball fast, slow, other;
            tmi_ball_init(&fast);
            tmi_ball_init(&slow);
            tmi_ball_init(&other);
            tmi_hypergeometric_part(&fast, law, (tmi_law_part)part, cases[i].k, 64);
            tmi_hypergeometric_part(&slow, law, (tmi_law_part)part, cases[i].k, 192);
            tmi_hypergeometric_part(&other, &swapped, (tmi_law_part)part, cases[i].k, 192);
            assert_false(tmi_ball_is_less(&fast, &slow) || tmi_ball_is_less(&slow, &fast)); /* they overlap */
            assert_false(tmi_ball_is_less(&other, &slow) || tmi_ball_is_less(&slow, &other));
            tamis_bound s = tmi_ball_bound(&slow), f = tmi_ball_bound(&fast);
            assert_true(is_narrow(f) && s.upper - s.lower <= 1e-15 * s.upper);
            assert_true(f.lower <= s.upper && s.lower <= f.upper);
            tmi_ball_clear(&fast);
            tmi_ball_clear(&slow);
            tmi_ball_clear(&other);
        }
    }
}

/* Halves of a symmetric law, with the largest standard deviation there is: 2^19. */
static void ends_at_the_largest_population(void **state)
{
    tamis_bound above, below, mass;
    int64_t N = INT64_C(1) << 40;
    (void)state;
    assert_int_equal(tamis_hypergeometric_at_least(&above, N, N / 2, N / 2, N / 4, NULL), TAMIS_OK);
    assert_int_equal(tamis_hypergeometric_at_most(&below, N, N / 2, N / 2, N / 4, NULL), TAMIS_OK);
    assert_int_equal(tamis_hypergeometric_mass(&mass, N, N / 2, N / 2, N / 4, NULL), TAMIS_OK);
    assert_true(is_narrow(above) && is_narrow(below) && is_narrow(mass));
    assert_true(above.lower <= (1 + mass.upper) / 2 + 1e-15 && above.upper >= (1 + mass.lower) / 2 - 1e-15);
    assert_true(above.lower <= below.upper && below.lower <= above.upper);
    assert_int_equal(tamis_hypergeometric_at_most(&below, N, N / 2, N / 2, 1, NULL), TAMIS_OK);
    assert_true(below.lower == 0 && below.upper <= 1e-300);
}

static void refuses_bad_input(void **state)
{
    static const struct {
        int64_t N, K, n;
        const char *named;
    } cases[] = {
        {-1, 0, 0, "population"},
        {TAMIS_MAX_UNITS + 1, 0, 0, "population"},
        {INT64_MAX, 1, 1, "population"},
        {INT64_MIN, 1, 1, "population"},
        {10, -1, 5, "ones"},
        {10, 11, 5, "ones"},
        {10, INT64_MAX, 5, "ones"},
        {10, 5, -1, "sample"},
        {10, 5, 11, "sample"},
        {10, 5, INT64_MIN, "sample"},
    };
    typedef tamis_status function(tamis_bound *, int64_t, int64_t, int64_t, int64_t, tamis_error *);
    function *const functions[] = {tamis_hypergeometric_mass, tamis_hypergeometric_at_least, tamis_hypergeometric_at_most};
    tamis_error err;
    (void)state;
    for (size_t f = 0; f < 3; f++) {
        tamis_bound b;
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            b = (tamis_bound){5, 5};
            assert_int_equal(functions[f](&b, cases[i].N, cases[i].K, cases[i].n, 1, &err), TAMIS_INVALID);
            assert_true(b.lower == 0 && b.upper == 1);
            assert_non_null(strstr(err.message, cases[i].named));
        }
        assert_int_equal(functions[f](NULL, 10, 5, 5, 1, &err), TAMIS_INVALID);
        assert_int_equal(functions[f](&b, 10, 5, 5, INT64_MAX, &err), TAMIS_OK);
        assert_true(b.upper == b.lower && b.upper == (f == 2));
        assert_int_equal(functions[f](&b, 10, 5, 5, INT64_MIN, &err), TAMIS_OK);
        assert_true(b.upper == b.lower && b.upper == (f == 1));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_exact_fractions), cmocka_unit_test(agrees_with_mpmath),
        cmocka_unit_test(agrees_with_itself),          cmocka_unit_test(ends_at_the_largest_population),
        cmocka_unit_test(refuses_bad_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
