/* The law of an error against sums over the noise with closed forms of Student's law, and against num/'s own quantiles. */
#include "tests/test.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "inference/interval/interval.h"
#include "num/law/student.h"
#include "num/number.h"
#include "tests/base/memory_that_fails.h"

static double mass(tmi_noise_part part, int k)
{
    static double total, s;
    static tmi_gaussian gaussian;
    if (part.gaussian == TMI_ROUNDED_NORMAL) {
        const double unit = M_SQRT1_2 / part.scale;
        return k == 0 ? erf(0.5 * unit) : (erfc((abs(k) - 0.5) * unit) - erfc((abs(k) + 0.5) * unit)) / 2;
    }
    if (part.scale != s || part.gaussian != gaussian) { /* computed anew for a new law */
        s = part.scale, gaussian = part.gaussian, total = 0;
        for (int j = -4000; j <= 4000; j++) total += gaussian ? exp(-0.5 * j * j / (s * s)) : exp(-abs(j) / s);
    }
    return (part.gaussian ? exp(-0.5 * k * k / (s * s)) : exp(-abs(k) / s)) / total;
}

static void noise_variance_is_that_of_the_law(void **state)
{
    (void)state;
    for (int gaussian = 0; gaussian <= TMI_ROUNDED_NORMAL; gaussian++) {
        for (double scale = 0.15; scale < 60; scale *= 1.7) {
            tmi_noise_part part = {-3, scale, (tmi_gaussian)gaussian, 1};
            double variance = 0;
            for (int k = 1; k <= 4000; k++) variance += 9. * 2 * k * k * mass(part, k);
            assert_true(fabs(tmi_noise_part_variance(part) - variance) <= 1e-11 * variance);
        }
    }
    tmi_noise_part two[] = {{1, 2, false, 1}, {5, 3, true, 1}};
    double sum = tmi_noise_part_variance(two[0]) + tmi_noise_part_variance(two[1]);
    assert_true(fabs(tmi_noise_variance(two, 2) - sum) < 1e-12 * sum);
    assert_true(tmi_noise_variance(NULL, 0) == 0);
}

static void without_noise_it_is_student(void **state)
{
    (void)state;
    static const char *const levels[] = {"0.2", "0.5", "0.9", "0.95", "0.99", "0.9999"};
    static const int64_t degrees[] = {1, 2, 3, 4, 5, 10, 31, 59, 60, 119, 120, 121, 500, 1000000};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        tamis_number *level;
        assert_int_equal(tamis_number_read(&level, levels[i], NULL), TAMIS_OK);
        for (size_t j = 0; j < sizeof degrees / sizeof *degrees; j++) {
            double t, reach;
            assert_int_equal(tmi_student_quantile(&t, level, degrees[j], NULL), TAMIS_OK);
            tmi_error_law law = {.se = 7, .df = degrees[j]};
            assert_int_equal(tmi_error_reach(&reach, &law, tmi_number_nearest(level), NULL), TAMIS_OK);
            assert_true(fabs(reach - 7 * t) <= 1e-6 * reach);
        }
        tamis_number_free(level);
    }
}

/* P(T > x) in closed form; df 0: normal. */
static double student(int df, double x)
{
    double r = sqrt(df + x * x);
    switch (df) {
    case 0: return erfc(x * M_SQRT1_2) / 2;
    case 1: return atan2(1, x) / M_PI;
    case 2: return 0.5 - x / (2 * r);
    case 3: return 0.5 - (atan(x / sqrt(3)) + sqrt(3) * x / (3 + x * x)) / M_PI;
    default: return 0.5 - 0.75 * (x / r) * (1 - x * x / (3 * r * r)); /* 4 */
    }
}

static double brute(double se, int df, const tmi_noise_part *parts, int count, double x)
{
    double sum = 0;
    if (count == 0) return student(df, x / se);
    int reach = (int)(32 * parts->scale) + 2;
    double masses[1000]; /* first: a deeper call changes the law that mass() keeps */
    for (int k = -reach; k <= reach; k++) masses[k + reach] = mass(*parts, k);
    for (int k = -reach; k <= reach; k++) sum += masses[k + reach] * brute(se, df, parts + 1, count - 1, x - parts->factor * k);
    return sum;
}

static void tails_are_sums_over_the_noise(void **state)
{
    (void)state;
    static const struct {
        double se;
        int count;
        tmi_noise_part parts[2];
    } cases[] = {{1, 1, {{1, 2, false, 1}}},
                 {3, 1, {{-1, 0.4, false, 1}}},
                 {2, 1, {{0.5, 9, true, 1}}},
                 {1.5, 1, {{1, 0.6, true, 1}}},
                 {4, 2, {{1, 2, false, 1}, {2, 1.5, true, 1}}},
                 {2, 1, {{0.5, 9, TMI_ROUNDED_NORMAL, 1}}},
                 {1.5, 1, {{1, 0.6, TMI_ROUNDED_NORMAL, 1}}},
                 {4, 2, {{1, 0.9, TMI_ROUNDED_NORMAL, 1}, {2, 0.3, TMI_ROUNDED_NORMAL, 1}}},
                 {2, 2, {{0.3, 3, false, 1}, {0.7, 2.5, false, 1}}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int df = 0; df <= 4; df++) {
            tmi_error_law law = {.se = cases[i].se * (df == 1 ? 4 : 1),
                                 .df = df,
                                 .parts = cases[i].parts,
                                 .count = (size_t)cases[i].count};
            for (double x = -6; x < 60; x += 5.5) {
                double found, truth = brute(law.se, df, cases[i].parts, cases[i].count, x);
                assert_int_equal(tmi_error_beyond(&found, &law, x, NULL), TAMIS_OK);
                assert_true(fabs(found - truth) <= 3e-7 * truth + 1e-9);
            }
        }
}

/* A quantile far smaller or larger than everything else is still one. */
static void quantiles_invert_tails(void **state)
{
    (void)state;
    tmi_noise_part parts[] = {{1e-3, 1e6, false, 1}, {2, 40, false, 1}, {1e3, 7, true, 1}};
    static const int64_t degrees[] = {TMI_NORMAL, 1, 8, 70, 3000};
    static const double spreads[] = {0, 1e-3, 50, 1e5}, tails[] = {1e-6, 0.025, 0.3, 0.5, 0.9};
    for (size_t count = 2; count <= 3; count++)
        for (size_t i = 0; i < 5; i++)
            for (size_t j = 0; j < 4; j++)
                for (size_t k = 0; k < 5; k++) {
                    tmi_error_law law = {.se = spreads[j], .df = degrees[i], .parts = parts, .count = count};
                    double x, p;
                    assert_int_equal(tmi_error_quantile(&x, &law, tails[k], NULL), TAMIS_OK);
                    assert_int_equal(tmi_error_beyond(&p, &law, x, NULL), TAMIS_OK);
                    assert_true(fabs(p - tails[k]) < 1e-9);
                }
    double x;
    assert_int_equal(tmi_error_quantile(&x, &(tmi_error_law){.df = 3}, 0.025, NULL), TAMIS_OK);
    assert_true(x == 0);
}

static void one_noise_alone_stays_on_its_lattice(void **state)
{
    (void)state;
    for (int gaussian = 0; gaussian <= TMI_ROUNDED_NORMAL; gaussian++)
        for (double scale = 0.2; scale < 40; scale *= 1.9)
            for (double confidence = 0.1; confidence < 1; confidence += 0.0999) {
                tmi_noise_part part = {-2.5, scale, (tmi_gaussian)gaussian, 1};
                tmi_error_law law = {.parts = &part, .count = 1};
                double reach, inside = mass(part, 0), p;
                int k = 0;
                while (inside < confidence) k++, inside += 2 * mass(part, k);
                assert_int_equal(tmi_error_reach(&reach, &law, confidence, NULL), TAMIS_OK);
                assert_true(reach == 2.5 * k);
                assert_int_equal(tmi_error_beyond(&p, &law, reach, NULL), TAMIS_OK);
                assert_true(fabs(p - (1 - inside) / 2) < 1e-7);
                assert_int_equal(tmi_error_beyond(&p, &law, -reach - 1, NULL), TAMIS_OK);
                assert_true(fabs(p - (1 + inside) / 2) < 1e-7);
            }
}

/* To first order a third cumulant adds third/6 (x^2 - 1) phi(x). */
static void a_third_cumulant_skews(void **state)
{
    (void)state;
    for (double x = -3; x <= 3; x += 0.5) {
        double p, small = 0.01;
        tmi_error_law law = {.se = 1, .third = small};
        assert_int_equal(tmi_error_beyond(&p, &law, x, NULL), TAMIS_OK);
        double first = small / 6 * (x * x - 1) * exp(-x * x / 2) / sqrt(2 * M_PI);
        assert_true(fabs(p - student(0, x) - first) < 2e-5);
        law.se = 10, law.third = 10;
        double q;
        assert_int_equal(tmi_error_beyond(&q, &law, 10 * x, NULL), TAMIS_OK);
        assert_true(fabs(p - q) < 1e-10);
    }
    double low, high;
    tmi_error_law law = {.se = 1, .third = 0.3};
    assert_int_equal(tmi_error_quantile(&high, &law, 0.025, NULL), TAMIS_OK);
    assert_int_equal(tmi_error_quantile(&low, &law, 0.975, NULL), TAMIS_OK);
    assert_true(high > 2.05 && low > -1.87 && low < -1.7);
}

/* Noises that are alike count as so many. */
static void noises_that_are_alike_are_counted(void **state)
{
    (void)state;
    for (tmi_gaussian gaussian = TMI_NOT_GAUSSIAN; gaussian <= TMI_ROUNDED_NORMAL; gaussian++)
        for (int df = 0; df <= 4; df += 4) {
            tmi_noise_part alone[7], together[] = {{1.5, 2, gaussian, 5}, {-3, 0.7, gaussian, 2}};
            for (int k = 0; k < 7; k++)
                alone[k] = k < 5 ? (tmi_noise_part){1.5, 2, gaussian, 1} : (tmi_noise_part){-3, 0.7, gaussian, 1};
            assert_true(fabs(tmi_noise_variance(alone, 7) - tmi_noise_variance(together, 2)) < 1e-12);
            for (double x = -10; x < 40; x += 3.7) {
                double p, q;
                assert_int_equal(tmi_error_beyond(&p, &(tmi_error_law){.se = 4, .df = df, .parts = alone, .count = 7}, x, NULL),
                                 TAMIS_OK);
                assert_int_equal(tmi_error_beyond(&q, &(tmi_error_law){.se = 4, .df = df, .parts = together, .count = 2}, x,
                                                  NULL),
                                 TAMIS_OK);
                assert_true(fabs(p - q) < 1e-10);
            }
        }
}

/* Of many noises the small ones may be taken together as a normal error, where nobody sees it. The same noises, counted instead
 * of listed, are never taken together. Noises that are nearly always 0 have heavy tails, for which their variance is no
 * measure. */
static void many_small_noises_are_a_normal_error(void **state)
{
    (void)state;
    static const struct {
        double se, factor, scale;
        int small;
    } cases[] = {{1, 0.01, 3, 100}, {20, 0.5, 4, 100},   {3, 1, 0.15, 100},
                 {1, 0.2, 5, 60},   {0.5, 30, 0.12, 50}, {0.2, 0.03, 2, 90}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tmi_noise_part list[101], counted[] = {{2, 3, false, 1}, {cases[i].factor, cases[i].scale, false, cases[i].small}};
        list[0] = counted[0];
        for (int k = 1; k <= cases[i].small; k++) list[k] = (tmi_noise_part){cases[i].factor, cases[i].scale, false, 1};
        const tmi_error_law law = {.se = cases[i].se, .df = TMI_NORMAL, .parts = list, .count = (size_t)cases[i].small + 1},
                            same = {.se = cases[i].se, .df = TMI_NORMAL, .parts = counted, .count = 2};
        const double sd = sqrt(cases[i].se * cases[i].se + tmi_noise_variance(counted, 2));
        for (double x = 0.25; x < 5; x += 0.5) {
            double p, q;
            assert_int_equal(tmi_error_beyond(&p, &law, x * sd, NULL), TAMIS_OK);
            assert_int_equal(tmi_error_beyond(&q, &same, x * sd, NULL), TAMIS_OK);
            if (!(fabs(p - q) < 1e-5 && fabs(p - q) < 2e-2 * q)) fail_msg("case %zu, x %g: %.9g, %.9g", i, x, p, q);
        }
    }
}

/* Two noises that are next to never there, and no sampling error: the law is that of next to nothing, and is found at once. */
static void noises_that_are_never_there_take_no_time(void **state)
{
    (void)state;
    const tmi_noise_part parts[] = {{5, 0.02, false, 3}, {2, 0.005, false, 7}};
    const double sd = sqrt(tmi_noise_variance(parts, 2));
    const clock_t before = clock();
    double reach;
    for (int i = 0; i < 20; i++) {
        assert_int_equal(tmi_error_reach(&reach, &(tmi_error_law){.parts = parts, .count = 2}, 0.95, NULL), TAMIS_OK);
        assert_true(reach > sd && reach < 10 * sd);
    }
    assert_true((double)(clock() - before) / CLOCKS_PER_SEC < 10); /* a thousandth of that; it took minutes */
}

static void ends_stay_in_the_range(void **state)
{
    (void)state;
    tmi_interval i;
    tmi_error_law law = {.se = 10, .df = TMI_NORMAL};
    assert_int_equal(tmi_interval_symmetric(&i, 100, &law, 0.95, 0, INFINITY, NULL), TAMIS_OK);
    assert_true(fabs(i.lower - 80.4003602) < 1e-5 && fabs(i.upper - 119.5996398) < 1e-5 && !i.clipped);
    assert_int_equal(tmi_interval_symmetric(&i, 5, &law, 0.95, 0, 20, NULL), TAMIS_OK);
    assert_true(i.lower == 0 && i.upper == 20 && i.clipped);
    assert_int_equal(tmi_interval_symmetric(&i, -500, &law, 0.95, 0, 20, NULL), TAMIS_OK);
    assert_true(i.lower == 0 && fabs(i.upper - 19.5996398) < 1e-5 && i.clipped); /* that of 0, not a point */
}

static void bad_laws_are_refused(void **state)
{
    (void)state;
    tmi_noise_part good = {1, 2, false, 1}, bad[] = {{1, 2, false, 0}, {1, 2, false, NAN},     {NAN, 2, false, 1},
                                                     {1, 0, false, 1}, {1, INFINITY, true, 1}, {INFINITY, 1, false, 1}};
    tmi_error_law laws[] = {{.se = -1},
                            {.se = NAN},
                            {.se = INFINITY},
                            {.se = 1, .df = -1},
                            {.se = 1, .third = NAN},
                            {.se = 1, .df = 3, .third = 1},
                            {.se = 1, .count = 1},
                            {.parts = &bad[0], .count = 1},
                            {.parts = &bad[1], .count = 1},
                            {.parts = &bad[2], .count = 1},
                            {.parts = &bad[3], .count = 1},
                            {.parts = &bad[4], .count = 1},
                            {.parts = &bad[5], .count = 1}};
    double x;
    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++) {
        assert_int_equal(tmi_error_beyond(&x, &laws[i], 0, NULL), TAMIS_INVALID);
        assert_true(isnan(x));
        assert_int_equal(tmi_error_reach(&x, &laws[i], 0.9, NULL), TAMIS_INVALID);
        assert_true(isinf(x));
        assert_int_equal(tmi_error_quantile(&x, &laws[i], 0.9, NULL), TAMIS_INVALID);
        assert_true(isinf(x));
    }
    tmi_error_law law = {.se = 1, .parts = &good, .count = 1};
    static const double levels[] = {0, -1, 1, 2, NAN};
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(tmi_error_reach(&x, &law, levels[i], NULL), TAMIS_INVALID);
        assert_int_equal(tmi_error_quantile(&x, &law, levels[i], NULL), TAMIS_INVALID);
    }
    assert_int_equal(tmi_error_beyond(&x, &law, NAN, NULL), TAMIS_INVALID);
    assert_int_equal(tmi_error_beyond(&x, NULL, 0, NULL), TAMIS_INVALID);
    tmi_interval i;
    assert_int_equal(tmi_interval_symmetric(&i, NAN, &law, 0.9, 0, 1, NULL), TAMIS_INVALID);
    assert_true(i.lower == 0 && i.upper == 1 && i.clipped);
    tamis_error err;
    EVERY_ALLOCATION_FAILS(tmi_error_quantile(&x, &law, 0.1, &err), { assert_true(isinf(x)); });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_variance_is_that_of_the_law),
        cmocka_unit_test(without_noise_it_is_student),
        cmocka_unit_test(tails_are_sums_over_the_noise),
        cmocka_unit_test(quantiles_invert_tails),
        cmocka_unit_test(one_noise_alone_stays_on_its_lattice),
        cmocka_unit_test(a_third_cumulant_skews),
        cmocka_unit_test(noises_that_are_alike_are_counted),
        cmocka_unit_test(many_small_noises_are_a_normal_error),
        cmocka_unit_test(noises_that_are_never_there_take_no_time),
        cmocka_unit_test(ends_stay_in_the_range),
        cmocka_unit_test(bad_laws_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
