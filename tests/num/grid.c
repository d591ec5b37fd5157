#include "tests/test.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include <gmp.h>

#include "num/grid.h"

static tamis_status set(tmi_grid *grid, const char *from, const char *to, const char *step, tamis_error *err)
{
    tamis_number *f = number(from), *t = number(to), *s = number(step);
    tamis_status status = tmi_grid_set(grid, f, t, s, err);
    tamis_number_free(f);
    tamis_number_free(t);
    tamis_number_free(s);
    return status;
}

static void knows_its_ends(void **state)
{
    static const struct {
        const char *from, *to, *step;
        int64_t low, high;
    } cases[] = {
        {"0", "10", "1", 0, 10},
        {"0", "1", "0.01", 0, 100},
        {"-1", "1", "2/3", -1, 1},
        {"0.5", "10.5", "1", 1, 10},
        {"-7/2", "-1", "1", -3, -1},
        {"0", "1000000", "1/1024", 0, 1024000000},
        {"1/3", "1", "1/3", 1, 3},
        {"0", "4503599627370494", "1", 0, (INT64_C(1) << 52) - 2},
        {"-4503599627370494", "0", "1", 2 - (INT64_C(1) << 52), 0},
        {"-1e300", "1e300", "1e290", -INT64_C(10000000000), INT64_C(10000000000)},
        {"-1.5e308", "1.5e308", "1e308", -1, 1},
        {"0", "1e-300", "1e-305", 0, 100000},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tmi_grid g;
        assert_int_equal(set(&g, cases[i].from, cases[i].to, cases[i].step, NULL), TAMIS_OK);
        assert_true(g.low == cases[i].low && g.high == cases[i].high);
        assert_true(g.from <= g.to && g.step > 0 && isfinite(g.from) && isfinite(g.to) && isfinite(g.step));
    }
    tmi_grid g;
    assert_int_equal(set(&g, "0.1", "0.3", "0.01", NULL), TAMIS_OK);
    assert_true(g.from == 0.1 && g.to == 0x1.3333333333333p-2 && g.step == 0.01); /* 0.1 > 1/10, 0.3 < 3/10 */
}

static void refuses_bad_grids(void **state)
{
    static const struct {
        const char *from, *to, *step, *named;
    } cases[] = {
        {"1", "1", "1", "from"},
        {"2", "1", "1", "from"},
        {"0", "1", "0", "step"},
        {"0", "1", "-1", "step"},
        {"0", "1", "1e-400", "step"},
        {"0", "1", "1e400", "step"},
        {"0", "1e16", "1", "step"},
        {"0", "4503599627370495", "1", "step"},
        {"-4503599627370495", "0", "1", "step"},
        {"1/4", "3/4", "1", "step"},
        {"1e400", "2e400", "1e390", "from"},
        {"-2e400", "-1e400", "1e390", "from"},
        {"10000000000000000.1", "10000000000000000.2", "0.1", "from"},
        {"0", "1", "5e-324", "step"},
    };
    (void)state;
    tamis_error err;
    tmi_grid g;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(set(&g, cases[i].from, cases[i].to, cases[i].step, &err), TAMIS_INVALID);
        assert_non_null(strstr(err.message, cases[i].named));
        assert_true(g.step == 0 && g.low == 0 && g.high == 0);
    }
    tamis_number *x = number("0"), *y = number("1");
    assert_int_equal(tmi_grid_set(NULL, x, y, y, &err), TAMIS_INVALID);
    assert_int_equal(tmi_grid_set(&g, NULL, y, y, &err), TAMIS_INVALID);
    assert_int_equal(tmi_grid_set(&g, x, NULL, y, &err), TAMIS_INVALID);
    assert_int_equal(tmi_grid_set(&g, x, y, NULL, &err), TAMIS_INVALID);
    tamis_number_free(x);
    tamis_number_free(y);
}

static void places_values(void **state)
{
    static const struct {
        double v;
        int64_t k;
    } cases[] = {
        {0.0, 0},
        {-0.0, 0},
        {0.49999999999999994, 1}, /* 0.5 - 2^-54, plus 0.5, is 1 as doubles: so say the engines */
        {0.4999999999999999, 0},
        {0.5, 1},
        {1.5, 2},
        {2.5, 3},
        {-0.5, 0},
        {-0.5000000000000001, -1},
        {-1.5, -1},
        {9.7, 10},
        {10.49, 10},
        {1e300, 10},
        {-1e300, -10},
        {5e-324, 0},
        {-5e-324, 0},
        {DBL_MAX, 10},
        {-DBL_MAX, -10},
    };
    (void)state;
    tmi_grid g;
    int64_t k;
    assert_int_equal(set(&g, "-10.3", "10.3", "1", NULL), TAMIS_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(tmi_grid_point(&k, &g, cases[i].v));
        assert_int_equal(k, cases[i].k);
    }
    static const double missing[] = {NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < 3; i++) {
        k = 5;
        assert_false(tmi_grid_point(&k, &g, missing[i]));
        assert_int_equal(k, 0);
    }
    assert_int_equal(set(&g, "-10.7", "10.7", "1", NULL), TAMIS_OK); /* 10.7 rounds to 11, which is off the grid */
    assert_true(tmi_grid_point(&k, &g, 10.7) && k == 10);
    assert_true(tmi_grid_point(&k, &g, -10.7) && k == -10);
}

/* ---- the same operations with exact rationals, each rounded to the nearest double by its own code ---- */

static void round_to_double(mpq_t x)
{
    if (mpq_sgn(x) == 0) return;
    mpz_t whole, rest, twice;
    mpz_inits(whole, rest, twice, NULL);
    mpq_t scale;
    mpq_init(scale);
    long e = (long)mpz_sizeinbase(mpq_numref(x), 2) - (long)mpz_sizeinbase(mpq_denref(x), 2) - 53;
    for (;; e++) { /* the exponent at which the integer part has 53 bits, or the smallest there is */
        if (e < -1074) e = -1074;
        mpq_set(scale, x);
        if (e > 0) mpq_div_2exp(scale, scale, (mp_bitcnt_t)e);
        else mpq_mul_2exp(scale, scale, (mp_bitcnt_t)-e);
        mpz_fdiv_qr(whole, rest, mpq_numref(scale), mpq_denref(scale));
        if (mpz_sizeinbase(whole, 2) <= 53) break;
    }
    mpz_mul_2exp(twice, rest, 1);
    int order = mpz_cmp(twice, mpq_denref(scale));
    if (order > 0 || (order == 0 && mpz_odd_p(whole))) mpz_add_ui(whole, whole, 1);
    mpq_set_z(x, whole);
    if (e > 0) mpq_mul_2exp(x, x, (mp_bitcnt_t)e);
    else mpq_div_2exp(x, x, (mp_bitcnt_t)-e);
    mpz_clears(whole, rest, twice, NULL);
    mpq_clear(scale);
}

static int64_t exact_point(const tmi_grid *g, double v)
{
    mpq_t x, y;
    mpz_t k;
    mpq_inits(x, y, NULL);
    mpz_init(k);
    mpq_set_d(x, v);
    mpq_set_d(y, g->from);
    if (mpq_cmp(x, y) < 0) mpq_set(x, y);
    mpq_set_d(y, g->to);
    if (mpq_cmp(x, y) > 0) mpq_set(x, y);
    mpq_set_d(y, g->step);
    mpq_div(x, x, y);
    round_to_double(x);
    mpq_set_ui(y, 1, 2);
    mpq_add(x, x, y);
    round_to_double(x);
    mpz_fdiv_q(k, mpq_numref(x), mpq_denref(x));
    int64_t point = mpz_get_si(k);
    mpq_clears(x, y, NULL);
    mpz_clear(k);
    return point < g->low ? g->low : point > g->high ? g->high : point;
}

static void agrees_with_exact_rounding(void **state)
{
    static const char *const grids[][3] = {{"0", "100", "0.01"},     {"-1", "1", "1/1024"},  {"-1e6", "3e6", "1/3"},
                                           {"0.1", "0.9", "0.7/11"}, {"-4e15", "4e15", "1"}, {"0", "1e-290", "1e-300"}};
    uint64_t seed = 1;
    (void)state;
    for (size_t i = 0; i < sizeof grids / sizeof *grids; i++) {
        tmi_grid g;
        assert_int_equal(set(&g, grids[i][0], grids[i][1], grids[i][2], NULL), TAMIS_OK);
        for (int n = 0; n < 3000; n++) {
            uint64_t bits = next_word(&seed);
            double v;
            memcpy(&v, &bits, sizeof v);                                                   /* any double */
            if (n % 3 == 1) v = g.from + (g.to - g.from) * (double)(bits >> 11) * 0x1p-53; /* one in the range */
            if (n % 3 == 2) {                                                              /* one near a half */
                int64_t k = g.low + (int64_t)(bits % (uint64_t)(g.high - g.low + 1));
                v = ((double)k + 0.5) * g.step;
                if (bits >> 62 == 1) v = nextafter(v, INFINITY);
                if (bits >> 62 == 2) v = nextafter(v, -INFINITY);
            }
            int64_t k;
            if (!isfinite(v)) continue;
            assert_true(tmi_grid_point(&k, &g, v));
            assert_true(k == exact_point(&g, v));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_its_ends),
        cmocka_unit_test(refuses_bad_grids),
        cmocka_unit_test(places_values),
        cmocka_unit_test(agrees_with_exact_rounding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
