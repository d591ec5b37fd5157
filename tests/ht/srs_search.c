/* The search for the worst total, with every noise: its parts against balls, its answer against all totals one by one, and
 * its blocks at the size of a country.                                                                              */
#include "tests/test.h"

#include <math.h>

#include "ht/srs_total.h"
#include "tests/num/enclosure.h"

static const tamis_noise_kind kinds[] = {TAMIS_NOISE_NONE, TAMIS_NOISE_LAPLACE, TAMIS_NOISE_GAUSSIAN,
                                         TAMIS_NOISE_DISCRETE_LAPLACE, TAMIS_NOISE_DISCRETE_GAUSSIAN};

static void assert_within(double x, tamis_bound b, long double error)
{
    long double slack = (long double)fabs(x) * (error + 1e-18L) + 1e-300L;
    assert_true((long double)x + slack >= (long double)b.lower && (long double)x - slack <= (long double)b.upper);
}

/* ---- parts ---- */

static void masses_are_as_right_as_they_say(void **state)
{
    static const struct {
        int64_t N, n, t;
    } cases[] = {{1, 1, 0},
                 {9, 4, 3},
                 {9, 9, 5},
                 {400, 399, 77},
                 {330000000, 1000000, 1000000},
                 {330000000, 1000000, 150000000},
                 {TAMIS_MAX_UNITS, 1000, 12345}};
    tmi_ht_column c = {0};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t N = cases[i].N, n = cases[i].n, t = cases[i].t;
        long double total = 0;
        assert_int_equal(tmi_ht_column_set(&c, N, n, t, 0x1p-120, NULL), TAMIS_OK);
        assert_true(c.error < 1e-12L && c.rest < 1e-30L);
        for (size_t k = 0; k < c.count; k++) total += (long double)c.mass[k];
        assert_true(fabsl(total - 1) <= 2 * c.error);
        for (size_t k = 0; k < c.count; k += c.count / 7 + 1) {
            tamis_bound p;
            int64_t y = c.first + (int64_t)k;
            assert_int_equal(tamis_hypergeometric_mass(&p, N, t, n, y, NULL), TAMIS_OK);
            assert_within(c.mass[k], p, c.error);
            double moved = (double)(n - y) / (double)(N - t);
            assert_true(fabs(c.lost[k] - c.mass[k] * moved) <= 1e-14 * c.lost[k]);
        }
    }
    tmi_ht_column_clear(&c);
}

static void noise_is_as_right_as_it_says(void **state)
{
    static const char *const scales[] = {"1/1000", "1/50", "3/10", "1", "17/4", "30", "3000"};
    static const double offsets[] = {0, 0.5, 0.0625, 0.9375};
    (void)state;
    for (size_t i = 0; i < 4 * (sizeof scales / sizeof *scales); i++) {
        tamis_number *scale = number(scales[i / 4]);
        tmi_ht_srs s = {10, 5, kinds[1 + i % 4], scale, NULL, NULL};
        bool lattice = tmi_ht_is_lattice(s.noise);
        if (lattice && i / 4 == 6) {
            tamis_number_free(scale);
            continue;
        }
        tmi_ht_rows r;
        tmi_ht_noise exact;
        tmi_ball value[3], z;
        for (int k = 0; k < 3; k++) tmi_ball_init(&value[k]);
        tmi_ball_init(&z);
        assert_int_equal(tmi_ht_rows_set(&r, &s, 0x1p-80, NULL), TAMIS_OK);
        assert_true(r.tail < 0x1p-60L);
        assert_int_equal(tmi_ht_noise_set(&exact, &s, 192, NULL), TAMIS_OK);
        for (size_t o = 0; o < (lattice ? 1 : 4); o++) {
            const tmi_ht_row *row;
            assert_int_equal(tmi_ht_row_get(&row, &r, offsets[o], -40, 700, NULL), TAMIS_OK);
            for (size_t k = 0; k < row->count; k += row->count / 23 + 1) {
                int64_t v = row->first + (int64_t)k;
                tmi_ball_set_double(&z, (double)v + offsets[o]);
                tmi_ht_noise_cdf(value, 2, &exact, &z, v, 0, 192);
                assert_within(row->cdf[k], tmi_ball_bound(&value[0]), r.error);
                tmi_ball_sub(&value[0], &value[0], &value[1], 192);
                assert_within(row->step[k], tmi_ball_bound(&value[0]), r.error);
                tmi_ht_noise_density(value, 1, &exact, &z, v, 0, 192);
                double ratio = s.noise == TAMIS_NOISE_GAUSSIAN ? 0.39894228040143267794 / 0.4 : 1;
                assert_within(row->density[k] / ratio, tmi_ball_bound(&value[0]), r.error + 1e-15L);
            }
        }
        tmi_ht_noise_clear(&exact);
        tmi_ht_rows_clear(&r);
        for (int k = 0; k < 3; k++) tmi_ball_clear(&value[k]);
        tmi_ball_clear(&z);
        tamis_number_free(scale);
    }
}

/* ---- against the definition, all populations of at most 8 people ---- */

static double chosen(int n, int k)
{
    double c = 1;
    if (k < 0 || k > n) return 0;
    for (int i = 0; i < k; i++) c = c * (n - i) / (i + 1);
    return c;
}

/* Density or mass of the noise on the count, up to its constant. */
static double shape(tamis_noise_kind noise, double scale, double v)
{
    if (noise == TAMIS_NOISE_NONE) return v == 0;
    if (noise == TAMIS_NOISE_LAPLACE || noise == TAMIS_NOISE_DISCRETE_LAPLACE) return exp(-fabs(v) / scale);
    return exp(-v * v / (2 * scale * scale));
}

/* Both orders of a pair: the sum, or the integral by the rule of the middle, of (p - E q)+. */
static double by_definition(int N, int n, int t, tamis_noise_kind noise, double scale, double E)
{
    double width = tmi_ht_is_lattice(noise) ? 1 : 1.0 / 128, minus = 0, plus = 0, total = 0;
    for (double z = -24; z <= n + 24; z += width) {
        double p = 0, q = 0;
        for (int y = 0; y <= n; y++) {
            double w = shape(noise, scale, z + (width < 1 ? width / 2 : 0) - y) / chosen(N, n);
            p += chosen(t, y) * chosen(N - t, n - y) * w;
            q += chosen(t + 1, y) * chosen(N - t - 1, n - y) * w;
        }
        minus += fmax(0, p - E * q);
        plus += fmax(0, q - E * p);
        total += p;
    }
    return fmax(minus, plus) / total;
}

static void agrees_with_the_definition(void **state)
{
    (void)state;
    for (size_t kind = 0; kind < 5; kind++) {
        bool lattice = tmi_ht_is_lattice(kinds[kind]);
        for (int N = 2; N <= (lattice ? 8 : 4); N++) {
            for (int n = 1; n <= N; n++) {
                double delta[8];
                tamis_number *scale = NULL, *eps = number("1/4");
                if (kind > 0 && !lattice) assert_int_equal(tmi_number_ratio(&scale, 3 * N, 5 * n, NULL), TAMIS_OK);
                if (kind > 0 && lattice) scale = number("3/5");
                for (int t = 0; t < N; t++) delta[t] = by_definition(N, n, t, kinds[kind], 0.6, exp(0.25));
                for (int low = 0; low < N; low++) {
                    double best = 0;
                    for (int high = low + 1; high <= N; high++) {
                        tamis_ht_srs srs = {N, n, low, high, kinds[kind], scale};
                        tamis_bound b;
                        best = fmax(best, delta[high - 1]);
                        assert_int_equal(tamis_ht_srs_delta(&b, NULL, &srs, eps, NULL), TAMIS_OK);
                        assert_true(fabs(b.upper - best) <= (lattice ? 1e-12 : 1e-3 * best));
                        assert_true(b.upper - b.lower <= 1e-9 * b.upper);
                    }
                }
                tamis_number_free(scale);
                tamis_number_free(eps);
            }
        }
    }
}

/* ---- against all totals one by one ---- */

static tamis_bound worst_of(tamis_ht_srs srs, const tamis_number *eps, tamis_ht_worst *worst)
{
    tamis_bound delta;
    assert_int_equal(tamis_ht_srs_delta(&delta, worst, &srs, eps, NULL), TAMIS_OK);
    assert_true(0 <= delta.lower && delta.upper - delta.lower <= 1e-10 * delta.upper + 1e-270);
    return delta;
}

static uint64_t draw(uint64_t *seed, uint64_t below) { return next_number(seed) % below; }

/* Windows of populations of at most 400, by a seed; the scan looks at pairs alone, where no block is bounded. */
static void blocks_hide_nothing(void **state)
{
    static const char *const epsilons[] = {"0", "1/500", "1/50", "1/5", "1"}, *const scales[] = {"1/20", "1/2", "2", "9"};
    uint64_t seed = 20260;
    int inside = 0;
    (void)state;
    for (int i = 0; i < 50; i++) {
        tamis_noise_kind kind = kinds[i % 5];
        bool slow = kind == TAMIS_NOISE_GAUSSIAN;
        int64_t N = 3 + (int64_t)draw(&seed, slow ? 60 : 398), n = 1 + (int64_t)draw(&seed, (uint64_t)N);
        int64_t low = (int64_t)draw(&seed, (uint64_t)N);
        int64_t high = low + 1 + (int64_t)draw(&seed, (uint64_t)(N - low < 40 ? N - low : 40));
        if (slow && high > low + 6) high = low + 6;
        tamis_number *eps = number(epsilons[draw(&seed, 5)]), *scale = kind ? number(scales[draw(&seed, 4)]) : NULL;
        tamis_ht_worst worst;
        tamis_bound all = worst_of((tamis_ht_srs){N, n, low, high, kind, scale}, eps, &worst), best = {0, 0};
        for (int64_t t = low; t < high; t++) {
            tamis_bound one = worst_of((tamis_ht_srs){N, n, t, t + 1, kind, scale}, eps, NULL);
            best = (tamis_bound){fmax(best.lower, one.lower), fmax(best.upper, one.upper)};
        }
        assert_true(best.lower <= all.upper && all.lower <= best.upper);
        assert_true(worst.order == 0 || (worst.t >= low && worst.t < high));
        inside += worst.order && worst.t > low && worst.t < high - 1;
        tamis_number_free(eps);
        tamis_number_free(scale);
    }
    assert_true(inside > 3);
}

/* With a little noise, too, the worst total can lie inside: N = 8, n = 4, E = 2, 2 <= t <= 6. */
static void noise_keeps_the_worst_inside(void **state)
{
    tamis_number *scale = number("1/100"), *two = number("2");
    (void)state;
    for (size_t kind = 0; kind < 5; kind++) {
        tamis_ht_srs srs = {8, 4, 2, 6, kinds[kind], kind ? scale : NULL}, end = srs, other = srs;
        tamis_bound delta, at_end, at_other;
        tamis_ht_worst worst;
        end.high = 3;
        other.low = 5;
        assert_int_equal(tamis_ht_srs_delta_exp(&delta, &worst, &srs, two, NULL), TAMIS_OK);
        assert_int_equal(tamis_ht_srs_delta_exp(&at_end, NULL, &end, two, NULL), TAMIS_OK);
        assert_int_equal(tamis_ht_srs_delta_exp(&at_other, NULL, &other, two, NULL), TAMIS_OK);
        assert_true(delta.lower > 1.3 * fmax(at_end.upper, at_other.upper));
        assert_true(worst.t == 3 || worst.t == 4);
    }
    tamis_number_free(scale);
    tamis_number_free(two);
}

/* ---- a country ---- */

#define COUNTRY 330000000, 1000000, 1000000, 329000000

static void a_country_with_noise(void **state)
{
    static const struct {
        const char *scale;
        double least, most;
    } cases[] = {{NULL, 7.9002581516e-7, 7.9002581517e-7},
                 {"10000", 1.8902478711e-9, 1.8902478712e-9},
                 {"10000", 3.5896744259e-7, 3.58967442592e-7},
                 {"30", 4.1853915313e-9, 4.1853915314e-9},
                 {"30", 3.6437957227e-7, 3.6437957228e-7}};
    tamis_number *eps = number("0.0001");
    (void)state;
    for (size_t kind = 0; kind < 5; kind++) {
        tamis_number *scale = cases[kind].scale ? number(cases[kind].scale) : NULL;
        tamis_ht_srs srs = {COUNTRY, kinds[kind], scale}, end = srs;
        tamis_ht_worst worst;
        tamis_bound delta = worst_of(srs, eps, &worst);
        end.low = 328999999;
        end.high = 329000000;
        tamis_bound at_end = worst_of(end, eps, NULL);
        assert_true(delta.lower >= cases[kind].least && delta.upper <= cases[kind].most);
        assert_true(at_end.lower <= delta.upper && delta.lower <= at_end.upper);
        assert_true(worst.blocks > 100 && worst.blocks < 2000);
        tamis_number_free(scale);
    }
    tamis_number_free(eps);
}

static void a_country_finds_its_noise(void **state)
{
    tamis_number *eps = number("0.0001"), *delta = number("1e-8"), *none = number("1e-6"), *zero = number("0");
    tamis_ht_srs srs = {COUNTRY, TAMIS_NOISE_LAPLACE, NULL}, silent = {COUNTRY, TAMIS_NOISE_NONE, NULL};
    tamis_number *scale;
    tamis_bound b;
    (void)state;
    assert_int_equal(tamis_ht_srs_scale(&b, &srs, eps, delta, NULL), TAMIS_OK);
    assert_true(b.lower > 9720.308 && b.upper < 9720.309 && b.upper - b.lower <= 1e-9 * b.upper);
    assert_int_equal(tmi_number_double(&scale, b.upper, NULL), TAMIS_OK);
    srs.scale = scale;
    assert_true(worst_of(srs, eps, NULL).upper <= 1e-8);
    tamis_number_free(scale);
    assert_int_equal(tmi_number_double(&scale, b.lower, NULL), TAMIS_OK);
    srs.scale = scale;
    assert_true(worst_of(srs, eps, NULL).upper > 1e-8);
    assert_int_equal(tamis_ht_srs_scale(&b, &srs, eps, none, NULL), TAMIS_OK);
    assert_true(b.lower == 0 && b.upper == 0); /* the sampling is enough */
    srs.noise = TAMIS_NOISE_GAUSSIAN;
    assert_int_equal(tamis_ht_srs_scale(&b, &srs, eps, zero, NULL), TAMIS_OK);
    assert_true(b.lower == INFINITY);
    assert_int_equal(tamis_ht_srs_epsilon(&b, &silent, delta, NULL), TAMIS_OK);
    assert_true(b.lower > 0.0001 && b.upper < 0.001 && b.upper - b.lower <= 1e-9 * b.upper);
    tamis_number *all[] = {eps, delta, none, zero, scale};
    for (size_t i = 0; i < 5; i++) tamis_number_free(all[i]);
}

/* A law of noise that is too long to be stored: UNABLE, and a bound that holds for any noise. */
static void a_bound_is_left_when_unable(void **state)
{
    tamis_number *eps = number("0.0001"), *scale = number("10000000");
    tamis_ht_srs srs = {COUNTRY, TAMIS_NOISE_DISCRETE_GAUSSIAN, scale}, silent = {COUNTRY, TAMIS_NOISE_NONE, NULL};
    tamis_bound delta;
    (void)state;
    assert_int_equal(tamis_ht_srs_delta(&delta, NULL, &srs, eps, NULL), TAMIS_UNABLE);
    assert_true(delta.lower == 0 && delta.upper >= worst_of(silent, eps, NULL).lower && delta.upper < 1e-5);
    tamis_number_free(eps);
    tamis_number_free(scale);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(masses_are_as_right_as_they_say), cmocka_unit_test(noise_is_as_right_as_it_says),
        cmocka_unit_test(agrees_with_the_definition),      cmocka_unit_test(blocks_hide_nothing),
        cmocka_unit_test(noise_keeps_the_worst_inside),    cmocka_unit_test(a_country_with_noise),
        cmocka_unit_test(a_country_finds_its_noise),       cmocka_unit_test(a_bound_is_left_when_unable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
