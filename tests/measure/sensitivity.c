/* The sensitivity of tables whose rows are rounded, against its definition in measure/measurement.h: a row adds its largest
 * product, and 1 more per level, 2 for the one in the middle of three. */
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "num/number.h"
#include "schedule/schedule.h"

static const char srs[] = "srs: {population: 100000, sample: 1000}",
                  strata[] = "stratified: {by: s, within: srs, strata: {p: {population: 40000, sample: 300}, "
                             "q: {population: 700, sample: 100}}}",
                  protected_weights[] = ", protect: population, given: nothing, design_variables: protected",
                  rows_of_units[] = ", id: u, rows_per_unit: 3";

static void schedule_of(tamis_plan **plan, tmi_schedule *s, const char *design, const char *privacy, const char *statistic)
{
    char text[1000];
    tamis_error err = {0};
    snprintf(text, sizeof text,
             "tamis: 1\nsurvey: s\nsource: {file: a.csv}\ndesign: {%s}\nprivacy: {unit: person, epsilon: 1%s}\ncolumns:\n"
             "  x: {from: 0, to: 1e6, step: 0.01}\n  y: {from: -5e5, to: 5e5, step: 0.01, missing: none}\n"
             "  z: {from: 0, to: 2e6, step: 0.01}\n  s: {values: [p, q]}\n  g: {values: [a, b]}\nstatistics:\n  - %s\n",
             design, privacy, statistic);
    if (tamis_plan_read_text(plan, "p.yaml", text, strlen(text), &err) != TAMIS_OK ||
        tmi_schedule_make(s, *plan, NULL, &err) != TAMIS_OK)
        fail_msg("%s\n%s", text, err.message);
}

/* Levels of all numbers together, the one in the middle of a square twice. */
static double rounding_of(const tmi_measurement *m, const tmi_workload *w)
{
    double product = 1;
    for (size_t i = 0; i < m->marginal.axis_count; i++) {
        const tmi_axis *axis = &w->axes[m->marginal.axes[i]];
        if (w->origins[m->marginal.axes[i]].number) product *= (double)axis->levels + (axis->degree == 2 ? 1 : 0);
    }
    return product;
}

/* What protected weights of the others move: each by the difference of the largest weight and the smallest, and by the rounding
 * of what it was and of what it becomes. */
static double others_of(const tmi_schedule *s, const tmi_measurement *m, double most, double rounding, double rows_per_unit)
{
    const tmi_sampling *p = &s->sampling;
    if (!s->plan->privacy.design_protected || m->marginal.weighting == TMI_UNWEIGHTED || p->weights == TMI_ALIKE) return 0;
    const int64_t *points = m->marginal.weighting == TMI_WEIGHTED ? p->points : p->variance_points;
    const double low = (double)(points[0] < points[1] ? points[0] : points[1]),
                 high = (double)(points[0] < points[1] ? points[1] : points[0]);
    assert_true(close_to(tmi_moved_by_weights(&s->workload, (tmi_weighting)m->marginal.weighting),
                         ((double)p->rows - rows_per_unit) * (high - low) / (high * rows_per_unit)));
    return ((double)p->rows - rows_per_unit) * (most * (high - low) / high + 2 * rounding);
}

/* All rounded tables of a plan; how many there are. */
static int compare(const char *design, const char *privacy, const char *statistic)
{
    tamis_plan *plan;
    tmi_schedule s;
    int compared = 0;
    schedule_of(&plan, &s, design, privacy, statistic);
    const double rows = plan->privacy.rows_per_unit > 1 ? (double)plan->privacy.rows_per_unit : 1;
    for (size_t i = 0; i < s.measurement_count; i++) {
        const tmi_measurement *m = &s.measurements[i];
        if (!m->rounded || m->marginal.form != TMI_FULL || tmi_method_of(m->marginal.weighting)) continue;
        for (size_t h = 0; h < m->strata; h++) {
            const double most = ldexp(tmi_number_nearest(m->laws[h].most), -m->shift), rounding = rounding_of(m, &s.workload);
            const double own = rows * (most + rounding), others = others_of(&s, m, most, rounding, rows);
            const double l1 = 2 * own + others, squares = (own + others) * (own + others) + own * own;
            if (fabs((double)m->laws[h].l1 - ceil(l1)) > 0.5 + 1e-13 * l1)
                fail_msg("%s: %lld, not %.3f", statistic, (long long)m->laws[h].l1, l1);
            assert_true(fabs(tmi_number_nearest(m->laws[h].l2_squared) / squares - 1) < 1e-12);
            compared++;
        }
    }
    tmi_schedule_clear(&s);
    tamis_plan_free(plan);
    return compared;
}

static void rounding_is_counted_level_by_level(void **state)
{
    (void)state;
    static const char *const statistics[] = {"{variance: x, by: g}", "{ratio: {of: x, to: y}}", "{ratio: {of: x, to: z}}",
                                             "{mean: y, by: g}", "{total: x, by: g}"};
    for (size_t i = 0; i < sizeof statistics / sizeof *statistics; i++) {
        assert_true(compare(srs, "", statistics[i]) > 0);
        assert_true(compare(srs, rows_of_units, statistics[i]) > 0);
        assert_true(compare(strata, "", statistics[i]) > 0);
        assert_true(compare(strata, protected_weights, statistics[i]) > 0);
    }
}

/* Weights of strata are on a grid of at most 30 bits, to half a step, and exact where a coarse grid contains them all. */
static void weights_are_on_a_grid(void **state)
{
    (void)state;
    static const struct {
        const char *p, *q;
        double weights[2];
        bool exact;
    } cases[] = {{"population: 40, sample: 4", "population: 700, sample: 100", {10, 7}, true},
                 {"population: 50, sample: 20", "population: 7, sample: 4", {2.5, 1.75}, true},
                 {"population: 99999989, sample: 99991",
                  "population: 99999971, sample: 99989",
                  {99999989. / 99991, 99999971. / 99989},
                  false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char design[300];
        tamis_plan *plan;
        tmi_schedule s;
        snprintf(design, sizeof design, "stratified: {by: s, within: srs, strata: {p: {%s}, q: {%s}}}", cases[i].p, cases[i].q);
        schedule_of(&plan, &s, design, "", "{total: x, by: g}");
        const tmi_sampling *own = &s.sampling;
        const double step = tmi_number_nearest(own->step);
        for (size_t h = 0; h < 2; h++) {
            const double off = fabs((double)own->points[h] * step - cases[i].weights[h]);
            assert_true(own->points[h] > 0 && own->points[h] <= INT64_C(1) << TMI_WEIGHT_BITS);
            assert_true(off <= (cases[i].exact ? 0 : step / 2) + 1e-12 * cases[i].weights[h]);
        }
        tmi_schedule_clear(&s);
        tamis_plan_free(plan);
    }
}

/* The factors of squares in a sampling variance: w (w - 1) n/(n - 1) in a stratum, also in one of two units; n/(n - 1) beside the
 * weights of a fixed sample, and nothing where its size is random. */
static void squares_are_raised_by_one_unit(void **state)
{
    (void)state;
    static const struct {
        const char *design;
        double correction;
    } cases[] = {{"pps: {method: sampford, probability: w, sample: 20, population: 400}, max_weight: 50", 20.0 / 19},
                 {"poisson: {probability: w, population: 400}, max_weight: 50", 1}};
    tamis_plan *plan;
    tmi_schedule s;
    schedule_of(&plan, &s,
                "stratified: {by: s, within: srs, strata: {p: {population: 40, sample: 2}, q: {population: 700, sample: 100}}}",
                "", "{total: x, by: g}");
    assert_true(close_to(s.sampling.variance_factor[0], 20.0 * 19 * 2));
    assert_true(close_to(s.sampling.variance_factor[1], 7.0 * 6 * 100 / 99));
    tmi_schedule_clear(&s);
    tamis_plan_free(plan);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        schedule_of(&plan, &s, cases[i].design, "", "{total: x, by: g}");
        assert_true(close_to(s.sampling.correction, cases[i].correction));
        tmi_schedule_clear(&s);
        tamis_plan_free(plan);
    }
}

/* Of a form, which has no places that a record can leave and enter, each number contains levels as often as its integers say,
 * before and after. */
static void forms_are_rounded_twice(void **state)
{
    (void)state;
    tamis_plan *plan;
    tmi_schedule s;
    schedule_of(&plan, &s, srs, "", "{mean: x}");
    const tmi_measurement *m = &s.measurements[0];
    const tmi_axis *axis = &s.workload.axes[m->marginal.axes[0]];
    assert_true(s.measurement_count == 1 && m->rounded && m->marginal.form != TMI_FULL && axis->degree == 2);
    double rounding = 0;
    for (size_t row = 0; row < m->levels; row++)
        for (size_t l = 0; l < axis->levels; l++)
            rounding += abs(tmi_form_integer(m->marginal.form, axis, row, l)) * (l == 1 ? 2 : 1);
    const double most = ldexp(tmi_number_nearest(m->laws[0].most), -m->shift) * tmi_form_steps(m->marginal.form, axis);
    assert_true(fabs((double)m->laws[0].l1 - ceil(most + 2 * rounding)) < 0.5);
    tmi_schedule_clear(&s);
    tamis_plan_free(plan);
}

int main(void)
{
    const struct CMUnitTest group[] = {cmocka_unit_test(forms_are_rounded_twice),
                                       cmocka_unit_test(rounding_is_counted_level_by_level),
                                       cmocka_unit_test(weights_are_on_a_grid), cmocka_unit_test(squares_are_raised_by_one_unit)};
    return cmocka_run_group_tests(group, NULL, NULL);
}
