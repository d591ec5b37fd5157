/* What is done to results after the noise, and that they add up without anything being done. */
#include "tests/test.h"

#include <math.h>
#include <stdlib.h>

#include "measure/group_noise.h"
#include "tests/inference/survey_file.h"

static uint64_t word = 3;

static void assert_near(double x, double y, double most)
{
    if (!(fabs(x - y) <= most)) fail_msg("%.17g is not within %g of %.17g", x, most, y);
}

/* ---- sums ---- */

/* All columns are declared complete. */
static tamis_plan *complete_plan(const char *design, const char *privacy, const char *statistics)
{
    char text[4096], path[100];
    tamis_plan *plan;
    tamis_error err = {0};
    snprintf(path, sizeof path, "%s/p.yaml", survey_folder);
    snprintf(text, sizeof text,
             "tamis: 1\nsurvey: s\nsource: {file: a.csv}\ndesign: {%s}\nprivacy: {unit: person, %s}\n"
             "columns:\n  x: {from: 10, to: 30, step: 0.5}\n  z: {from: -4, to: 4, step: 1}\n"
             "  g: {values: [a, b]}\n  h: {values: [u, v, w]}\n  s: {values: [p, q]}\n"
             "statistics:\n%s",
             design, privacy, statistics);
    if (tamis_plan_read_text(&plan, path, text, strlen(text), &err) != TAMIS_OK) fail_msg("%s\n%s", text, err.message);
    for (size_t i = 0; i < plan->declared_count; i++) {
        tmi_plan_column *column = &plan->columns[i];
        column->missing = TMI_NEVER;
        column->instead = column->is_number ? (column->grid.low + column->grid.high) / 2 : 0;
    }
    return plan;
}

#define SRS "srs: {population: 600, sample: 120}"
#define STRATA "stratified: {by: s, within: srs, strata: {p: {population: 400, sample: 48}, q: {population: 150, sample: 72}}}"

static const char *const designs[] = {
    SRS,
    STRATA,
    "stratified: {by: s, within: srs, strata: {p: {population: 480, sample: 48}, q: {population: 720, sample: 72}}}",
    "bernoulli: {rate: 1/5}",
    "weights: {}, weight: w, max_weight: 9",
    "cluster: {by: c, population: 100, sample: 20, smallest: 6, largest: 6}",
};

/* Integers anywhere near what they could be. */
static void set_random(scene *c)
{
    for (size_t i = 0; i < c->s.measurement_count; i++) {
        const double unit = tmi_measurement_unit(&c->s.measurements[i], &c->s.workload, 0);
        for (size_t k = 0; k < c->s.measurements[i].numbers; k++)
            c->noisy[i][k] = (tmi_int128)(((double)(next_number(&word) % 4000) / 100 - 5) / unit);
    }
}

/* Overlapping tables: every margin is the sum of its cells, whatever the integers are; and a count that is public is what it
 * is. */
static void results_add_up(void **state)
{
    (void)state;
    static const char statistics[] =
        "  - {count: units, by: g}\n  - {table: [g, h]}\n  - {count: units, by: [h, s]}\n  - {count: units, by: h}\n"
        "  - {total: z}\n  - {total: z, by: g}\n  - {total: z, by: [g, h]}\n  - {count: units, where: {g: a}}\n"
        "  - {table: [g, h, s]}\n  - {count: units}\n";
    static const char *const privacy[] = {"epsilon: 3", "rho: 1", "epsilon: 100", "rho: 300"};
    static const char *const ends[] = {"", "calibrate: {to: [{count: units, by: h, totals: [200, 150, 200]}]}\n"};
    for (size_t i = 0; i < sizeof designs / sizeof *designs * 4; i++) {
        const char *design = designs[i / 4];
        char text[2048];
        scene c;
        if ((i % 4 / 2 == 1 && (i / 4 == 0 || i / 4 == 2)) || (test_size(1, 0) && i % 3 == 2)) continue; /* other public sizes */
        snprintf(text, sizeof text, "%s%s", statistics, ends[i % 4 / 2]);
        scene_begin(&c, complete_plan(design, privacy[i % 4], text));
        if (i % 4 / 2 == 1) {
            survey_count(&c); /* counts far enough above 0 */
        } else {
            set_random(&c);
        }
        scene_read(&c);
        assert_true(i % 4 / 2 == 0 || c.calibration.met);
        double all[2] = {0}, near = 1e-7;
        for (size_t g = 0; g < 2; g++) {
            double rows = 0, sum = 0, three = 0;
            for (size_t h = 0; h < 3; h++) {
                double cells = 0;
                rows += scene_result(&c, 1, g * 3 + h)->estimate;
                sum += scene_result(&c, 6, g * 3 + h)->estimate;
                for (size_t s = 0; s < 2; s++) cells += scene_result(&c, 8, (g * 3 + h) * 2 + s)->estimate;
                assert_near(cells, scene_result(&c, 1, g * 3 + h)->estimate, near * 100);
                three += cells;
            }
            assert_near(scene_result(&c, 0, g)->estimate, rows, near * 100);
            assert_near(scene_result(&c, 0, g)->estimate, three, near * 100);
            assert_near(scene_result(&c, 5, g)->estimate, sum, near * 1000);
            all[0] += rows;
            all[1] += sum;
        }
        assert_near(scene_result(&c, 4, 0)->estimate, all[1], near * 1000);
        assert_near(scene_result(&c, 7, 0)->estimate, scene_result(&c, 0, 0)->estimate, near);
        assert_near(scene_result(&c, 7, 0)->noise_sd, scene_result(&c, 0, 0)->noise_sd, 1e-6 * scene_result(&c, 0, 0)->noise_sd);
        for (size_t h = 0; h < 3; h++) {
            double rows = 0;
            for (size_t s = 0; s < 2; s++) rows += scene_result(&c, 2, h * 2 + s)->estimate;
            assert_near(scene_result(&c, 3, h)->estimate, rows, near * 100);
        }
        assert_near(scene_result(&c, 9, 0)->estimate, all[0], near * 100);
        for (size_t s = 0; i / 4 == 1 && i % 4 / 2 == 0 && s < 2; s++) { /* the sizes of strata */
            double rows = 0;
            for (size_t h = 0; h < 3; h++) rows += scene_result(&c, 2, h * 2 + s)->estimate;
            assert_near(rows, s == 0 ? 400 : 150, near * 100);
        }
        scene_end(&c);
    }
}

/* One fact is measured once: a table cell, a count, the total of an indicator and a share of a public number. */
static void one_fact_is_one_number(void **state)
{
    (void)state;
    scene c;
    scene_begin(&c,
                complete_plan(SRS, "epsilon: 2",
                              "  - {table: [g]}\n  - {count: units, where: {g: a}}\n  - {total: {g: a}}\n  - {share: {g: a}}\n"));
    assert_int_equal(c.s.measurement_count, 1);
    set_random(&c);
    scene_read(&c);
    const tmi_result *first = scene_result(&c, 0, 0);
    for (size_t i = 1; i < 4; i++) {
        const tmi_result *r = scene_result(&c, i, 0);
        const double times = i == 3 ? 600 : 1;
        assert_near(times * r->estimate, first->estimate, 1e-9 * fabs(first->estimate));
        assert_near(times * r->noise_sd, first->noise_sd, 1e-9 * first->noise_sd);
        assert_near(times * r->lower, first->lower, 1e-6);
        assert_near(times * r->upper, first->upper, 1e-6);
    }
    /* n is public: what is not a is b */
    assert_near(first->estimate + scene_result(&c, 0, 1)->estimate, 600, 1e-9);
    scene_end(&c);
}

/* What the design fixes is used and not measured: a count that follows from it needs no table, a mean has the public number of
 * rows below it, and the sum of a group and of the rest is exact. */
static void public_sizes_are_used(void **state)
{
    (void)state;
    scene c;
    scene_begin(&c, complete_plan(STRATA, "epsilon: 2", "  - {count: units}\n  - {count: units, by: s}\n"));
    assert_int_equal(c.s.measurement_count, 0);
    scene_read(&c);
    assert_true(scene_result(&c, 0, 0)->estimate == 550 && scene_result(&c, 1, 1)->estimate == 150 &&
                scene_result(&c, 1, 0)->known);
    scene_end(&c);
    scene_begin(&c, complete_plan(STRATA, "epsilon: 2",
                                  "  - {mean: z}\n  - {total: z}\n  - {mean: z, by: s}\n  - {total: z, by: s}\n"));
    set_random(&c);
    scene_read(&c);
    const double N[] = {400, 150};
    assert_near(550 * scene_result(&c, 0, 0)->estimate, scene_result(&c, 1, 0)->estimate, 1e-6);
    assert_near(550 * scene_result(&c, 0, 0)->noise_sd, scene_result(&c, 1, 0)->noise_sd, 1e-6);
    for (size_t s = 0; s < 2; s++) {
        assert_near(N[s] * scene_result(&c, 2, s)->estimate, scene_result(&c, 3, s)->estimate, 1e-6);
        assert_near(N[s] * scene_result(&c, 2, s)->noise_sd, scene_result(&c, 3, s)->noise_sd, 1e-6);
    }
    scene_end(&c);
}

/* ---- suppression ---- */

/* Every statistic of a group with too few rows is withheld, in every output, whether or not the plan asks for a count; other
 * groups are published. Where nothing counts the rows a table is measured for it. */
#define BY_H \
    "  - {mean: x, by: h}\n  - {share: {g: a}, by: h}\n  - {total: x, by: h}\n  - {ratio: {of: x, to: {g: a}}, by: h}\n" \
    "  - {variance: x, by: h}\n  - {table: [h]}\n  - {total: {g: a}, by: h}\n"

/* Rows of group 0, 1, 2 of h: 12, 2000 and 5000, every one with x in the middle and g = a: the true tables of such rows. The 12
 * are above the limit of 10, but with their noise they could be fewer. */
static void set_rows(scene *c)
{
    static const int rows[] = {12, 2000, 5000};
    for (size_t i = 0; i < c->s.measurement_count; i++) {
        const tmi_measurement *m = &c->s.measurements[i];
        const double unit = tmi_measurement_unit(m, &c->s.workload, 0);
        const double weight = m->marginal.weighting == TMI_WEIGHTED ? 10 : m->marginal.weighting == TMI_SPREAD ? 90 : 1;
        if (m->marginal.form != TMI_FULL || m->slots > 1) continue;
        for (size_t k = 0; k < m->numbers; k++) {
            size_t rest = k % (m->cells * m->levels), group = 3;
            double part = m->strata > 1 && k >= m->cells * m->levels ? 0 : 1; /* all in the first stratum */
            for (size_t a = m->marginal.axis_count; a-- > 0;) {
                const tmi_axis *axis = &c->s.workload.axes[m->marginal.axes[a]];
                const tmi_origin *o = &c->s.workload.origins[m->marginal.axes[a]];
                const size_t level = rest % axis->levels;
                rest /= axis->levels;
                if (o->number)
                    part *= axis->degree == 2 ? (double[]){0.25, 0.5, 0.25, 0}[level] : (double[]){0.5, 0.5, 0, 0}[level];
                else if (strcmp(c->s.workload.classes[o->classes[0]].column->name, "h") == 0) group = level;
                else part *= level == 0;
            }
            double in_group = group < 3 ? rows[group] : 0;
            bool by_h = false;
            for (size_t a = 0; a < m->marginal.axis_count; a++) {
                const tmi_origin *o = &c->s.workload.origins[m->marginal.axes[a]];
                by_h = by_h || (!o->number && strcmp(c->s.workload.classes[o->classes[0]].column->name, "h") == 0);
            }
            if (!by_h) in_group = 7012;
            c->noisy[i][k] = (tmi_int128)llround(weight * part * in_group / unit);
        }
    }
}

static void assert_withheld(const scene *c)
{
    char *csv, *json;
    for (size_t i = 0; i < c->results.count; i++) {
        const tmi_result *r = &c->results.list[i];
        bool few = r->cell == 0;
        if (few != (isnan(r->estimate) && isnan(r->se) && isnan(r->lower) && r->df == -1 && r->reason &&
                    strstr(r->reason, "too few sampled units")))
            fail_msg("statistic %zu, group %zu: %g, %s", r->statistic, r->cell, r->estimate, r->reason ? r->reason : "published");
    }
    assert_int_equal(tmi_results_csv(&csv, &c->results, NULL), TAMIS_OK);
    size_t lines = 0;
    for (const char *line = csv; (line = strstr(line, ",u,,,,,,,,,,,")); line++) lines++;
    assert_int_equal(lines, c->plan->statistic_count);
    tamis_free(csv);
    tmi_account account = {0};
    tmi_promised promised = {0};
    tmi_results results = c->results;
    results.account = &account;
    results.promised = &promised;
    assert_int_equal(tmi_results_json(&json, &results, NULL), TAMIS_OK);
    lines = 0;
    for (const char *at = json; (at = strstr(at, "\"estimate\": null")); at++) lines++;
    assert_int_equal(lines, c->plan->statistic_count);
    tamis_free(json);
}

static void small_groups_are_withheld_whole(void **state)
{
    (void)state;
    static const char *const some[] = {
        "bernoulli: {rate: 1/10}",
        "bernoulli: {rate: 1/10, population: 10000}",
        "weights: {population: 10000}, weight: w, max_weight: 20",
        "poisson: {probability: p}, max_weight: 20",
        "cluster: {by: c, population: 400, sample: 50, smallest: 1, largest: 40}",
    };
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        scene c;
        scene_begin(&c, plan_of(some[i], "1", BY_H "postprocess: {suppress: {units_below: 10}}\n"));
        set_rows(&c);
        scene_read(&c);
        scene_postprocess(&c);
        assert_withheld(&c);
        scene_end(&c);
    }
}

/* Whether unweighted rows are measured: of a statistic's groups, for `suppress`. */
static bool counts_rows(const scene *c)
{
    for (size_t i = 0; i < c->s.measurement_count; i++)
        if (c->s.measurements[i].marginal.weighting == TMI_UNWEIGHTED) return true;
    return false;
}

/* Weights are in the tables: the rows of groups are one more table, and the whole budget is still spent, no more. */
static void rows_that_nothing_counts_are_measured(void **state)
{
    (void)state;
    static const char weights[] = "weights: {population: 10000}, weight: w, max_weight: 20";
    double units[3];
    scene c, without;
    scene_begin(&c, plan_of(weights, "1", "  - {total: x, by: h}\npostprocess: {suppress: {units_below: 10}}\n"));
    scene_begin(&without, plan_of(weights, "1", "  - {total: x, by: h}\n"));
    assert_true(counts_rows(&c) && !counts_rows(&without));
    assert_int_equal(tmi_number_compare_int(c.s.spent, 1), 0);
    assert_int_equal(tmi_number_compare_int(without.s.spent, 1), 0);
    scene_end(&c);
    scene_end(&without);
    /* the whole sample is no small group, and nobody pays for its rows */
    scene_begin(&c, plan_of(weights, "1", "  - {total: x}\npostprocess: {suppress: {units_below: 10}}\n"));
    assert_false(counts_rows(&c));
    scene_read(&c);
    scene_postprocess(&c);
    assert_true(isfinite(scene_result(&c, 0, 0)->estimate));
    scene_end(&c);
    scene_begin(&c, plan_of(weights, "1",
                            "  - {total: x}\n  - {count: units, where: {g: a}}\npostprocess: {suppress: {units_below: 10}}\n"));
    assert_true(counts_rows(&c));
    scene_read(&c);
    scene_postprocess(&c);
    assert_true(isfinite(c.results.list[0].estimate) && isnan(c.results.list[1].estimate) && c.results.list[1].note_count == 0);
    scene_end(&c);
    /* without weights they are in the tables of the statistics themselves */
    scene_begin(&c,
                survey_plan(SRS, "epsilon: 1", SURVEY_X, "  - {total: x, by: h}\npostprocess: {suppress: {units_below: 10}}\n"));
    survey_count(&c);
    scene_prepare(&c);
    assert_int_equal(tmi_read_units(units, &c.inference, 0, NULL), TAMIS_OK);
    tmi_moment_noise noise;
    assert_int_equal(tmi_moment_noise_make(&noise, &c.s, TMI_UNWEIGHTED, 0, 0, 0, NULL), TAMIS_OK);
    const double reach = 2 * sqrt(noise.covariance[TMI_OF_ROWS][TMI_OF_ROWS]);
    double rows = 0;
    for (size_t h = 0; h < 3; h++) {
        assert_near(units[h] + reach, round(units[h] + reach), 1e-6);
        rows += units[h] + reach;
    }
    assert_true(reach > 1 && rows > 90 && rows < 120); /* those that have x */
    scene_end(&c);
    /* all rows, and those of a stratum, are public: the rule holds for them */
    scene_begin(
        &c,
        plan_of("stratified: {by: g, within: srs, strata: {a: {population: 500, sample: 50}, b: {population: 40, sample: 4}}}",
                "1", "  - {total: x}\n  - {total: x, by: g}\npostprocess: {suppress: {units_below: 10}}\n"));
    scene_read(&c);
    scene_postprocess(&c);
    assert_true(isfinite(c.results.list[0].estimate) && isfinite(c.results.list[1].estimate) &&
                isnan(c.results.list[2].estimate));
    scene_end(&c);
}

/* ---- negative cells ---- */

/* Negative cells become 0, the others less, with the same sum; the interval is that of the cell as it was, extended to the
 * estimate. */
static void negative_cells_are_cut(void **state)
{
    (void)state;
    scene c;
    scene_begin(&c, complete_plan("bernoulli: {rate: 1/5}", "epsilon: 2",
                                  "  - {table: [h]}\n  - {total: z, by: h}\npostprocess: {nonnegative: yes}\n"));
    set_random(&c);
    for (size_t i = 0; i < c.s.measurement_count; i++)
        c.noisy[i][0] -= 1000 * (tmi_int128)(1 / tmi_measurement_unit(&c.s.measurements[i], &c.s.workload, 0));
    scene_read(&c);
    tmi_result before[6];
    double sum = 0, after = 0;
    memcpy(before, c.results.list, sizeof before);
    scene_postprocess(&c);
    assert_true(before[0].estimate < 0);
    for (size_t i = 0; i < 3; i++) {
        const tmi_result *r = &c.results.list[i];
        sum += before[i].estimate;
        after += r->estimate;
        assert_true(r->estimate >= 0 && r->note_count == before[i].note_count + 1);
        if (!r->outside_range) assert_true(r->lower <= r->estimate && r->estimate <= r->upper);
        assert_true(r->lower <= before[i].lower && r->upper >= before[i].upper && r->noise_sd == before[i].noise_sd);
    }
    assert_near(after, fmax(sum, 0), 1e-9 * fabs(sum));
    for (size_t i = 3; i < 6; i++) assert_true(c.results.list[i].estimate == before[i].estimate); /* z may be negative */
    scene_end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_add_up),
        cmocka_unit_test(one_fact_is_one_number),
        cmocka_unit_test(public_sizes_are_used),
        cmocka_unit_test(small_groups_are_withheld_whole),
        cmocka_unit_test(rows_that_nothing_counts_are_measured),
        cmocka_unit_test(negative_cells_are_cut),
    };
    return cmocka_run_group_tests(tests, survey_begin, survey_end);
}
