#include "tests/test.h"

#include <string.h>

#include "num/law/laws.h"
#include "tests/base/memory_that_fails.h"
#include "tests/num/enclosure.h"
#include "tests/num/laws_vectors.h"

static void agrees_with_exact_fractions(void **state)
{
    static const char *const probabilities[] = {"0", "1", "1/2", "1/3", "0.9", "1e-20", "0.99999999999999999999"};
    mpz_t c;
    mpq_t mass, at_least, at_most, failure, power;
    (void)state;
    mpz_init(c);
    mpq_inits(mass, at_least, at_most, failure, power, NULL);
    for (size_t i = 0; i < sizeof probabilities / sizeof *probabilities; i++) {
        tamis_number *p = number(probabilities[i]);
        mpq_set_ui(failure, 1, 1);
        mpq_sub(failure, failure, p->value);
        for (int64_t n = 0; n <= 12; n++) {
            mpq_set_ui(at_least, 1, 1);
            mpq_set_ui(at_most, 0, 1);
            for (int64_t k = -1; k <= n + 1; k++) {
                choose(c, n, k);
                mpq_set_z(mass, c);
                for (int64_t j = 0; j < n; j++) mpq_mul(mass, mass, j < k ? p->value : failure);
                mpq_add(at_most, at_most, mass);
                tamis_bound b;
                assert_int_equal(tamis_binomial_mass(&b, n, p, k, NULL), TAMIS_OK);
                assert_encloses(b, mass, 0);
                assert_int_equal(tamis_binomial_at_least(&b, n, p, k, NULL), TAMIS_OK);
                assert_encloses(b, at_least, 0);
                assert_int_equal(tamis_binomial_at_most(&b, n, p, k, NULL), TAMIS_OK);
                assert_encloses(b, at_most, 0);
                mpq_sub(at_least, at_least, mass);
            }
        }
        tamis_number_free(p);
    }
    mpz_clear(c);
    mpq_clears(mass, at_least, at_most, failure, power, NULL);
}

static void agrees_with_mpmath(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof binomial_vectors / sizeof *binomial_vectors; i++) {
        tamis_number *p = number(binomial_vectors[i].probability);
        int64_t n = binomial_vectors[i].trials, k = binomial_vectors[i].k;
        tamis_bound b;
        assert_int_equal(tamis_binomial_mass(&b, n, p, k, NULL), TAMIS_OK);
        assert_encloses_decimal(b, binomial_vectors[i].mass);
        assert_int_equal(tamis_binomial_at_least(&b, n, p, k, NULL), TAMIS_OK);
        assert_encloses_decimal(b, binomial_vectors[i].at_least);
        assert_int_equal(tamis_binomial_at_most(&b, n, p, k, NULL), TAMIS_OK);
        assert_encloses_decimal(b, binomial_vectors[i].at_most);
        tamis_number_free(p);
    }
}

static void agrees_with_itself(void **state)
{
    static const struct {
        int64_t n;
        const char *p;
        int64_t k;
    } cases[] = {
        {1000000, "0.03", 30100},
        {1000000000000, "0.3", 300001000000},
        {1000000000, "1/3", 333333333},
        {100000, "1e-5", 1},
        {400, "0.99", 380},
        {1000, "1e-600/1e600", 1},
        {1000, "1e-600/1e600", 3}, /* odds beyond the doubles */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis_number *p = number(cases[i].p);
        tmi_binomial law = {cases[i].n, p};
        for (int part = TMI_MASS; part <= TMI_AT_MOST; part++) {
            tmi_ball fast, slow;
            tmi_ball_init(&fast);
            tmi_ball_init(&slow);
            assert_int_equal(tmi_binomial_part(&fast, &law, (tmi_law_part)part, cases[i].k, 64, NULL), TAMIS_OK);
            assert_int_equal(tmi_binomial_part(&slow, &law, (tmi_law_part)part, cases[i].k, 192, NULL), TAMIS_OK);
            assert_false(tmi_ball_is_less(&fast, &slow) || tmi_ball_is_less(&slow, &fast));
            assert_true(tmi_ball_is_positive(&fast) && is_narrow(tmi_ball_bound(&fast)));
            tmi_ball_clear(&fast);
            tmi_ball_clear(&slow);
        }
        tamis_number_free(p);
    }
}

static void refuses_bad_input(void **state)
{
    typedef tamis_status function(tamis_bound *, int64_t, const tamis_number *, int64_t, tamis_error *);
    function *const functions[] = {tamis_binomial_mass, tamis_binomial_at_least, tamis_binomial_at_most};
    tamis_number *half = number("1/2"), *minus = number("-1e-30"), *above = number("1.0000000000000000000001");
    tamis_error err;
    (void)state;
    for (size_t f = 0; f < 3; f++) {
        tamis_bound b = {5, 5};
        assert_int_equal(functions[f](&b, -1, half, 0, &err), TAMIS_INVALID);
        assert_non_null(strstr(err.message, "trials"));
        assert_true(b.lower == 0 && b.upper == 1);
        assert_int_equal(functions[f](&b, TAMIS_MAX_UNITS + 1, half, 0, &err), TAMIS_INVALID);
        assert_int_equal(functions[f](&b, INT64_MIN, half, 0, &err), TAMIS_INVALID);
        assert_int_equal(functions[f](&b, 10, NULL, 0, &err), TAMIS_INVALID);
        assert_non_null(strstr(err.message, "probability"));
        assert_int_equal(functions[f](&b, 10, minus, 0, &err), TAMIS_INVALID);
        assert_int_equal(functions[f](&b, 10, above, 0, &err), TAMIS_INVALID);
        assert_non_null(strstr(err.message, "probability"));
        assert_int_equal(functions[f](NULL, 10, half, 0, &err), TAMIS_INVALID);
        assert_int_equal(functions[f](&b, 10, half, INT64_MAX, &err), TAMIS_OK);
        assert_true(b.lower == b.upper && b.lower == (f == 2));
        assert_int_equal(functions[f](&b, 10, half, INT64_MIN, &err), TAMIS_OK);
        assert_true(b.lower == b.upper && b.lower == (f == 1));
    }
    tamis_number_free(half);
    tamis_number_free(minus);
    tamis_number_free(above);
}

static void survives_missing_memory(void **state)
{
    tamis_bound b;
    tamis_number *p = number("1/3");
    (void)state;
    EVERY_ALLOCATION_FAILS(tamis_binomial_at_least(&b, 100, p, 40, NULL), assert_true(b.lower == 0 && b.upper == 1));
    tamis_number_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_exact_fractions), cmocka_unit_test(agrees_with_mpmath),
        cmocka_unit_test(agrees_with_itself),          cmocka_unit_test(refuses_bad_input),
        cmocka_unit_test(survives_missing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
