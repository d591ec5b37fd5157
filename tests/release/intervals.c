/* What is read from noisy integers: intervals that hold the truth as often as they say, estimates without dust. */
#include "test.h"

#include <math.h>

#include "num/number.h"
#include "release/plans.h"
#include "release/release.h"
#include "release/statistic.h"

#define SRS "srs: {population: 80, sample: 8}"

/* P(the interval holds the truth) summed over the exact law of the noises; what is left out counts as a miss. */
static double coverage(const tmi_schedule *s, size_t statistic, const double truth[2], double value, bool *only_nulls)
{
    enum { WINDOW = 60 };
    tmi_case c;
    double mass[2][2 * WINDOW + 1], covered = 0;
    const tmi_use *use = &s->uses[statistic];
    assert_int_equal(tmi_case_make(&c, s, statistic, NULL), TAMIS_OK);
    for (size_t j = 0; j < use->count; j++) {
        for (int64_t k = -WINDOW; k <= WINDOW; k++) {
            tamis_bound p;
            assert_int_equal(tamis_discrete_laplace_mass(&p, s->measurements[use->measurement[j]].scale, k, NULL), TAMIS_OK);
            mass[j][k + WINDOW] = p.lower;
        }
    }
    *only_nulls = true;
    for (int x = -WINDOW; x <= WINDOW; x++) {
        for (int y = use->count > 1 ? -WINDOW : 0; y <= (use->count > 1 ? WINDOW : 0); y++) {
            tmi_result result = TMI_NO_RESULT;
            double noisy[2] = {truth[0] + x, truth[1] + y};
            tmi_statistic_of(c.statistic)->read(&result, &c, noisy);
            bool null = isnan(result.lower);
            bool inside = null || (result.lower <= value + 1e-9 && value - 1e-9 <= result.upper);
            if (!null) *only_nulls = false;
            if (!null) assert_true(result.lower <= result.upper);
            if (inside) covered += mass[0][x + WINDOW] * (use->count > 1 ? mass[1][y + WINDOW] : 1);
        }
    }
    return covered;
}

static void intervals_cover_the_noise(void **state)
{
    (void)state;
    tamis_plan *plan = plan_of(SRS, "8", "  - {count: units, by: g, confidence: 0.9}\n"
                                         "  - {total: x, budget_share: 40, confidence: 0.9}\n"
                                         "  - {mean: x, by: h, budget_share: 60, confidence: 0.9}\n");
    tmi_schedule s;
    bool only_nulls;
    assert_int_equal(tmi_schedule_make(&s, plan, NULL), TAMIS_OK);
    double p = coverage(&s, 0, (double[]){3, 0}, 30, &only_nulls);
    assert_true(p >= 0.9 && !only_nulls);
    p = coverage(&s, 1, (double[]){200, 0}, 1000, &only_nulls);
    assert_true(p >= 0.9 && !only_nulls);
    /* three rows that sum to 25 above the centre 40: mean (40 + 25/3) / 2 */
    p = coverage(&s, 2, (double[]){25, 3}, (40 + 25 / 3.0) / 2, &only_nulls);
    assert_true(p >= 0.9);
    p = coverage(&s, 2, (double[]){-60, 7}, (40 - 60 / 7.0) / 2, &only_nulls);
    assert_true(p >= 0.9 && !only_nulls);
    tmi_schedule_clear(&s);
    tamis_plan_free(plan);
}

/* The interval of a mean is the range of centre + S/R over all integers S and R within reach of the noisy ones. */
static void intervals_of_means_are_the_extreme_quotients(void **state)
{
    (void)state;
    tamis_plan *plan = plan_of("srs: {population: 8000, sample: 60}", "6", "  - {mean: x, by: g, confidence: 0.9}\n");
    tmi_schedule s;
    tmi_case c;
    static const double noisy[][2] = {{100, 50}, {-100, 50}, {3, 50}, {-3, 50}, {0, 59}, {200, 65}, {-40, 30}, {25, 25}};
    assert_int_equal(tmi_schedule_make(&s, plan, NULL), TAMIS_OK);
    assert_int_equal(tmi_case_make(&c, &s, 0, NULL), TAMIS_OK);
    for (size_t j = 0; j < 2; j++) { /* each reach takes half of the ten per cent, and no less than that */
        const tamis_number *scale = s.measurements[s.uses[0].measurement[j]].scale;
        tamis_bound p;
        assert_int_equal(tamis_discrete_laplace_at_least(&p, scale, (int64_t)c.reach[j] + 1, NULL), TAMIS_OK);
        assert_true(2 * p.upper <= 0.05);
        assert_int_equal(tamis_discrete_laplace_at_least(&p, scale, (int64_t)c.reach[j], NULL), TAMIS_OK);
        assert_true(2 * p.lower > 0.05);
    }
    for (size_t i = 0; i < sizeof noisy / sizeof *noisy; i++) {
        double lower = INFINITY, upper = -INFINITY;
        for (double sum = noisy[i][0] - c.reach[0]; sum <= noisy[i][0] + c.reach[0]; sum++) {
            for (double number = fmin(noisy[i][1] - c.reach[1], 60); number <= fmin(noisy[i][1] + c.reach[1], 60); number++) {
                lower = fmin(lower, 0.5 * (40 + sum / number));
                upper = fmax(upper, 0.5 * (40 + sum / number));
            }
        }
        tmi_result r = TMI_NO_RESULT;
        tmi_statistic_of(c.statistic)->read(&r, &c, noisy[i]);
        assert_true(lower > 10 && upper < 30); /* not cut */
        assert_true(fabs(r.lower - lower) < 1e-12 && fabs(r.upper - upper) < 1e-12);
        assert_true(r.lower <= r.estimate && r.estimate <= r.upper);
    }
    tmi_schedule_clear(&s);
    tamis_plan_free(plan);
}

/* 6194 / 200 = 30.97 a row: products are rounded once, so that what is a short decimal prints as one. */
static void numbers_carry_no_dust(void **state)
{
    (void)state;
    tamis_plan *plan = plan_of("srs: {population: 6194, sample: 200}", "20", "  - {count: units, by: g}\n  - {mean: x}\n");
    tmi_schedule s;
    tmi_case c;
    assert_int_equal(tmi_schedule_make(&s, plan, NULL), TAMIS_OK);
    assert_int_equal(tmi_case_make(&c, &s, 0, NULL), TAMIS_OK);
    for (int k = 5; k < 150; k++) {
        double hundredths = 3097 * k;
        tmi_result r = TMI_NO_RESULT;
        tmi_statistic_of(c.statistic)->read(&r, &c, (double[]){k, 0});
        assert_int_equal(tmi_round_once(&r, &c, &s, k, NULL), TAMIS_OK);
        assert_true(r.estimate == hundredths / 100);
        assert_true(r.lower == (hundredths - 3097 * c.reach[0]) / 100 && r.upper == (hundredths + 3097 * c.reach[0]) / 100);
    }
    tmi_result r = TMI_NO_RESULT;
    tmi_statistic_of(c.statistic)->read(&r, &c, (double[]){-50, 0});
    assert_int_equal(tmi_round_once(&r, &c, &s, -50, NULL), TAMIS_OK);
    assert_true(r.estimate == -1548.5 && r.lower == 0 && r.upper == 0); /* cut ends stay */
    r = TMI_NO_RESULT;
    r.statistic = 1, r.estimate = 0.1; /* a mean is a quotient */
    assert_int_equal(tmi_round_once(&r, &c, &s, 7, NULL), TAMIS_OK);
    assert_true(r.estimate == 0.1);
    tmi_schedule_clear(&s);
    tamis_plan_free(plan);
}

static void intervals_stay_in_the_possible_range(void **state)
{
    (void)state;
    tamis_plan *plan = plan_of(SRS, "20", "  - {count: units, by: g}\n  - {total: x}\n  - {mean: x, by: g}\n");
    tmi_schedule s;
    tmi_case c;
    assert_int_equal(tmi_schedule_make(&s, plan, NULL), TAMIS_OK);

    tmi_result r = TMI_NO_RESULT;
    assert_int_equal(tmi_case_make(&c, &s, 0, NULL), TAMIS_OK);
    tmi_statistic_of(c.statistic)->read(&r, &c, (double[]){-100, 0});
    assert_true(r.estimate == -1000 && r.lower == 0 && r.upper == 0 && r.outside_range);
    r = TMI_NO_RESULT;
    tmi_statistic_of(c.statistic)->read(&r, &c, (double[]){8, 0});
    assert_true(r.estimate == 80 && r.upper == 80 && !r.outside_range);

    r = TMI_NO_RESULT;
    assert_int_equal(tmi_case_make(&c, &s, 1, NULL), TAMIS_OK);
    tmi_statistic_of(c.statistic)->read(&r, &c, (double[]){1e6, 0});
    assert_true(r.upper == 80 * 30 && r.outside_range);

    assert_int_equal(tmi_case_make(&c, &s, 2, NULL), TAMIS_OK);
    r = TMI_NO_RESULT;
    tmi_statistic_of(c.statistic)->read(&r, &c, (double[]){300, 7}); /* 40 + 300/7 half units: above 30 */
    assert_true(r.estimate > 30 && r.outside_range && r.upper == 30);
    r = TMI_NO_RESULT;
    tmi_statistic_of(c.statistic)->read(&r, &c, (double[]){0, 1});
    assert_true(r.estimate == 20 && isnan(r.lower) && isnan(r.noise_sd) && !r.outside_range);
    assert_true(strcmp(r.reason, "rows may be 0 within their noise") == 0);
    r = TMI_NO_RESULT;
    tmi_statistic_of(c.statistic)->read(&r, &c, (double[]){21, 1}); /* 40 + 21 half units */
    assert_true(r.estimate > 30 && isnan(r.lower) && isnan(r.noise_sd) && r.outside_range);
    r = TMI_NO_RESULT;
    tmi_statistic_of(c.statistic)->read(&r, &c, (double[]){5, -2});
    assert_true(isnan(r.estimate) && isnan(r.lower) && r.reason);
    tmi_schedule_clear(&s);
    tamis_plan_free(plan);
}

int main(void)
{
    const struct CMUnitTest group[] = {
        cmocka_unit_test(intervals_cover_the_noise),
        cmocka_unit_test(intervals_of_means_are_the_extreme_quotients),
        cmocka_unit_test(numbers_carry_no_dust),
        cmocka_unit_test(intervals_stay_in_the_possible_range),
    };
    return cmocka_run_group_tests(group, NULL, NULL);
}
