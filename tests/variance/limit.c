/* Sampling variances from noisy standard errors: against another program (limit_reference.py), and what they must do. */
#include "variance/limit.h"

#include "tests/base/memory_that_fails.h"
#include "tests/test.h"

static bool near(double x, double reference) { return fabs(x - reference) <= 1e-6 * fabs(reference); }

static void check(const tmi_measured_error *numbers, size_t count, tmi_cluster_guess guess, const double (*wanted)[2])
{
    tmi_error_limit found[8];
    assert_int_equal(tmi_error_limits(found, numbers, count, &guess, NULL), TAMIS_OK);
    for (size_t i = 0; i < count; i++) {
        assert_true(near(found[i].variance, wanted[i][0]));
        assert_true(near(found[i].effect, wanted[i][1]));
    }
}

#define TOTALS TMI_EFFECTS_OF_TOTALS
#define MEANS TMI_EFFECTS_OF_MEANS

static const tmi_measured_error several[] = {{TOTALS, 1, 1, 100, 30, 22, 4, false, 15, INFINITY, 0.95},
                                             {TOTALS, 1, 1, 9, 1, 4, 9, false, 15, INFINITY, 0.95},
                                             {TOTALS, 1, 2, 50, 5, 40, 2, false, 15, 60, 0.95},
                                             {MEANS, 1, 3, 4, 1, 2.5, 0.5, false, 15, INFINITY, 0.95},
                                             {MEANS, 1, 4, 4, 1, -3, 2, false, 15, INFINITY, 0.9}};

static void they_are_those_of_another_program(void **state)
{
    const tmi_measured_error gaussian[] = {{MEANS, 1, 1, 1, 0.2, 1.4, 0.3, true, 60, INFINITY, 0.95},
                                           {MEANS, 1, 1, 2, 0.2, 1.1, 0.8, true, 60, INFINITY, 0.95}};
    const tmi_measured_error squares[] = {{TOTALS, 2, 1, 100, 30, 90, 40, false, 500, 40, 0.95},
                                          {TOTALS, 2, 1, 9, 1, -4, 9, false, 500, 7, 0.95},
                                          {TOTALS, 2, 2, 50, 5, 12, 1, false, 500, INFINITY, 0.95},
                                          {MEANS, 2, 3, 4, 1, 5, 2, false, 500, INFINITY, 0.9}};
    const tmi_measured_error gaussian_squares[] = {{MEANS, 2, 1, 1, 0.2, 1.4, 0.3, true, 60, INFINITY, 0.95},
                                                   {MEANS, 2, 1, 2, 0.2, 1.1, 0.8, true, 60, 20, 0.95}};
    (void)state;
    check(several, 1, (tmi_cluster_guess){20, 0.5, 0, 1, 1, 1}, (const double[][2]){{627.756788623, 4.986791032}});
    check(several, 5, (tmi_cluster_guess){20, 0.5, 0, 1, 1, 1},
          (const double[][2]){{674.381412390, 5.397098138},
                              {79.196022386, 6.764043218},
                              {2030.527697476, 33.608049493},
                              {8.317132677, 1.667029700},
                              {5.278799071, 1.361229606}});
    check(gaussian, 2, (tmi_cluster_guess){8, 1, 0.4, 1.7, 1, 1},
          (const double[][2]){{1.933151640, 1.811162606}, {2.326374076, 1.079424468}});
    check(squares, 4, (tmi_cluster_guess){1, 0, 0, 1, 1, 8},
          (const double[][2]){
              {90.437298056, 0.658260763}, {4.895409690, 0.496027634}, {12.129387560, 0.240601101}, {5.018579482, 1.041682716}});
    check(gaussian_squares, 2, (tmi_cluster_guess){1, 0, 0, 1, 1, 8},
          (const double[][2]){{1.458196280, 1.333272929}, {1.396395565, 0.621131255}});
}

static double limit_of(tmi_measured_error n, double drawn)
{
    const tmi_cluster_guess guess = {20, 0.5, drawn, 1, 1, 1};
    tmi_error_limit found;
    assert_int_equal(tmi_error_limits(&found, &n, 1, &guess, NULL), TAMIS_OK);
    return found.variance;
}

/* A standard error that is known exactly is what comes out, but for the steps of the grid. */
static void a_known_error_is_kept(void **state)
{
    (void)state;
    for (double s = 3; s < 200; s *= 1.7) {
        const double found = sqrt(limit_of((tmi_measured_error){TOTALS, 1, 0, 100, 0, s, 1e-3 * s, false, 1e4, INFINITY, 0.95},
                                           0)) /
                             s;
        assert_true(found > 0.95 && found < 1.05);
    }
}

/* The wider the noise of the standard error, the wider the interval, about a common centre. */
static void less_knowledge_widens(void **state)
{
    const double centre = sqrt(100 * tmi_expected_design_effect(TOTALS, &(tmi_cluster_guess){20, 0.5, 0, 1, 1, 1}));
    double last = 0;
    (void)state;
    for (double scale = 0.01; scale < 30; scale *= 2) {
        const double found = limit_of((tmi_measured_error){TOTALS, 1, 0, 100, 0, centre, scale * centre, false, 30, INFINITY,
                                                           0.95},
                                      0);
        assert_true(found > 0.95 * last); /* all but certain that it is above 0, in the end */
        last = found;
    }
    assert_true(last > 2 * centre * centre);
}

/* A measurement that hardly differs gives a limit that hardly differs, however small the noise: over steps of 2 % the limit
 * changes by at most 5 %, and it never falls by more than 3 % where more is measured. */
static void the_limit_has_no_jumps(void **state)
{
    (void)state;
    for (int power = 1; power <= 2; power++)
        for (int gaussian = 0; gaussian < 2; gaussian++)
            for (double degrees = 1; degrees < 3000; degrees *= 25)
                for (double part = 1e-4; part < 2; part *= 100) {
                    tmi_measured_error n = {TOTALS, power, 0, 100, 25, 0, 0, gaussian, degrees, INFINITY, 0.95};
                    const double usual = pow(17, power);
                    double last = 0;
                    n.scale = part * usual;
                    for (n.measured = usual / 4; n.measured < 4 * usual; n.measured *= 1.02) {
                        const double found = sqrt(limit_of(n, 0) + n.noise);
                        assert_true(last == 0 || (found < 1.05 * last && found > 0.97 * last));
                        last = found;
                    }
                }
}

/* Of a number of which nothing is known but noise, one measurement in thirty is above two standard deviations of that noise. It
 * is not taken for the standard error. */
static void noise_alone_is_not_believed(void **state)
{
    (void)state;
    const tmi_measured_error n = {TOTALS, 1, 0, 100, 1e6, 0, 500, false, 200, INFINITY, 0.95};
    for (double measured = -3000; measured <= 3000; measured += 100) {
        tmi_measured_error now = n;
        now.measured = measured;
        assert_true(limit_of(now, 0) < 200 * 200);
    }
}

/* Two stages are narrower than one with replacement, and never narrower than drawing units one by one would be. */
static void drawing_many_psus_narrows(void **state)
{
    const tmi_measured_error n = {TOTALS, 1, 0, 100, 0, 30, 0.3, false, 1000, INFINITY, 0.95};
    (void)state;
    const double all = limit_of(n, 0), half = limit_of(n, 0.5), whole = limit_of(n, 1);
    assert_true(half < all && whole < half && whole > 95);
    assert_true(fabs(half - (all + 100) / 2) < 0.03 * all);
}

static void memory_fails(void **state)
{
    const tmi_cluster_guess guess = {20, 0.5, 0, 1, 1, 1};
    tmi_error_limit found[5];
    (void)state;
    EVERY_ALLOCATION_FAILS(tmi_error_limits(found, several, 5, &guess, NULL), {});
}

int main(void)
{
    const struct CMUnitTest all[] = {cmocka_unit_test(they_are_those_of_another_program),
                                     cmocka_unit_test(a_known_error_is_kept),
                                     cmocka_unit_test(less_knowledge_widens),
                                     cmocka_unit_test(the_limit_has_no_jumps),
                                     cmocka_unit_test(noise_alone_is_not_believed),
                                     cmocka_unit_test(drawing_many_psus_narrows),
                                     cmocka_unit_test(memory_fails)};
    return cmocka_run_group_tests(all, NULL, NULL);
}
