/* Every step after the noise, and designs that a plan alone does not draw, keep the coverage that intervals state: the release's
 * own code on samples of a made-up population, all random bits from one fixed stream. A case fails if a coverage is so low that
 * chance would make it so once in 10^12 times: with another stream the hundred numbers here raise a false alarm below 10^-9. */
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "study/coverage.h"
#include "tests/release/random_unit.h"
#include "tests/rng/scripted_bits.h"
#include "tests/study/stream.h"

#define PEOPLE 2400
#define UNLIKELY 1e-12

static char folder[64], file[100];
static int of_h[2], of_s[2];

/* Incomes are skewed, group c has 2 % of the people, households of three live in one of two strata, and v responds less. */
static int make_file(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/tamis-test-XXXXXX");
    if (!mkdtemp(folder)) return -1;
    snprintf(file, sizeof file, "%s/population.csv", folder);
    FILE *out = fopen(file, "w");
    if (!out) return -1;
    fputs("x,g,h,s,k,r\n", out);
    for (int i = 0; i < PEOPLE; i++) {
        double u = random_unit(), x = floor(fmin(20 * exp(1.2 * (random_unit() + random_unit() + random_unit() - 1.5)), 150));
        int h = random_unit() < 0.4, s = i % 900 < 300;
        of_h[h]++;
        of_s[s]++;
        fprintf(out, "%.0f,%s,%s,%s,%d,%s\n", x,
                u < 0.02  ? "c"
                : u < 0.3 ? "b"
                          : "a",
                h ? "v" : "u", s ? "o" : "n", i / 3, h ? "0.5" : "0.9");
    }
    return fclose(out);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(file) || rmdir(folder);
}

static tamis_plan *plan_of_steps(const char *design, const char *epsilon, const char *bounds, const char *statistics)
{
    char text[2048];
    tamis_plan *plan;
    tamis_error err = {0};
    snprintf(text, sizeof text,
             "tamis: 1\nsurvey: s\nsource: {file: a.csv}\ndesign: {%s}\nprivacy: {epsilon: %s}\n"
             "columns: {x: {from: 0, to: %s, step: 1, missing: 0}, g: {values: [a, b, c]}, h: {values: [u, v]}, s: {values: [n, "
             "o]}}\n%s",
             design, epsilon, bounds, statistics);
    if (tamis_plan_read_text(&plan, "p.yaml", text, strlen(text), &err) != TAMIS_OK) fail_msg("%s", err.message);
    return plan;
}

static tmi_coverage *study_of(const tamis_plan *plan, const char *response, const tamis_plan *drawn_by, int runs)
{
    const tamis_study_samples samples = {.size = sizeof samples, .population = file, .response = response, .drawn_by = drawn_by};
    const tamis_study_options options = {.size = sizeof options, .runs = runs, .threads = 1};
    tmi_coverage *study;
    tamis_error err = {0};
    uint64_t stream = 7;
    bits_from(next_bits, &stream);
    if (tmi_coverage_new(&study, plan, &samples, &options, &err) != TAMIS_OK) fail_msg("%s", err.message);
    return study;
}

/* At least `least` numbers are reported, none of them misses more often than chance allows, whether it is withheld or not. */
static void assert_covers(const tmi_coverage *study, size_t least)
{
    assert_true(tmi_coverage_count(study) >= least);
    for (size_t i = 0; i < study->places.count; i++) {
        const tmi_coverage_cell *c = &study->cells[i];
        if (!tmi_coverage_counts(c)) continue;
        if (tmi_binomial_at_most(c->own.covers + c->withheld, c->own.given + c->withheld, 0.95) < UNLIKELY)
            fail_msg("statistic %zu, cell %zu: %lld of %lld", study->places.list[i].statistic, study->places.list[i].cell,
                     (long long)c->own.covers, (long long)c->own.given);
    }
}

#define SRS "srs: {population: 2400, sample: 300}"
#define SUMS \
    "statistics:\n  - {count: units, by: g}\n  - {count: units, by: [g, h]}\n  - {total: x}\n  - {total: x, by: g}\n  - " \
    "{total: x, by: [g, h]}\n"
#define GROUPS \
    "statistics:\n  - {count: units, by: g}\n  - {total: x, by: g}\n  - {mean: x}\n  - {mean: x, by: g}\n  - {share: {g: b}, " \
    "by: h}\n"

/* 100 samples tell 0.8 from 0.95, and the fault that this test is for covered 0.55. */
static void consistent_margins(void **state)
{
    (void)state;
    tamis_plan *plan = plan_of_steps(SRS, "1", "100", SUMS "postprocess: {consistent: yes, nonnegative: yes}\n");
    tmi_coverage *study = study_of(plan, NULL, NULL, test_size(100, 2000));
    assert_covers(study, 19);
    tmi_coverage_free(study);
    tamis_plan_free(plan);
}

static void suppressed_groups(void **state)
{
    (void)state;
    tamis_plan *plan = plan_of_steps(SRS, "4", "100", GROUPS "postprocess: {suppress: {units_below: 20}}\n");
    tmi_coverage *study = study_of(plan, NULL, NULL, test_size(20, 2000));
    assert_covers(study, 9);
    int checked = 0; /* group c has 6 rows in a sample of 300: its count, total and mean are withheld */
    for (size_t i = 0; i < study->places.count; i++) {
        const tmi_result *place = &study->places.list[i];
        if (place->cell != 2 || place->statistic == 2) continue;
        assert_true(study->cells[i].withheld >= study->runs / 2);
        checked++;
    }
    assert_int_equal(checked, 3);
    tmi_coverage_free(study);
    tamis_plan_free(plan);
}

static void calibrated(void **state)
{
    (void)state;
    char text[1024];
    for (int raking = 0; raking < 2; raking++) {
        if (raking)
            snprintf(text, sizeof text,
                     GROUPS "calibrate: {method: raking, to: [{count: units, by: h, totals: [%d, %d]}, "
                            "{count: units, by: s, totals: [%d, %d]}]}\npostprocess: {consistent: yes}\n",
                     of_h[0], of_h[1], of_s[0], of_s[1]);
        else snprintf(text, sizeof text, GROUPS "calibrate: {to: [{count: units, by: h, totals: [%d, %d]}]}\n", of_h[0], of_h[1]);
        tamis_plan *plan = plan_of_steps(SRS, "4", "100", text);
        tmi_coverage *study = study_of(plan, NULL, NULL, test_size(20, 2000));
        assert_covers(study, 12);
        tmi_coverage_free(study);
        tamis_plan_free(plan);
    }
}

static void bounds_by_stratum(void **state)
{
    (void)state;
    char design[256];
    snprintf(design, sizeof design,
             "stratified: {by: s, within: srs, strata: {n: {population: %d, sample: 200}, o: {population: %d, sample: 150}}}",
             of_s[0], of_s[1]);
    tamis_plan *plan = plan_of_steps(design, "4", "{n: 40, o: 60}", GROUPS "  - {total: x, by: s}\n");
    tmi_coverage *study = study_of(plan, NULL, NULL, test_size(20, 2000));
    assert_covers(study, 14);
    const tmi_coverage_cell *n = &study->cells[study->places.count - 2], *o = n + 1;
    assert_true(n->truth < n->unclamped && o->truth < o->unclamped && n->unclamped - n->truth > o->unclamped - o->truth);
    tmi_coverage_free(study);
    tamis_plan_free(plan);
}

/* Who responds depends on h, to which the numbers are calibrated: without that a total is of the respondents alone. */
static void nonresponse(void **state)
{
    (void)state;
    char text[1024];
    snprintf(text, sizeof text, GROUPS "  - {total: x}\ncalibrate: {to: [{count: units, by: h, totals: [%d, %d]}]}\n", of_h[0],
             of_h[1]);
    tamis_plan *plan = plan_of_steps(SRS ", nonresponse: yes", "4", "100", text);
    tmi_coverage *study = study_of(plan, "r", NULL, test_size(20, 2000));
    assert_covers(study, 12);
    tmi_coverage_free(study);
    tamis_plan_free(plan);
}

/* A finished survey: weights, strata and households, drawn from a population that has them. */
static void weights_of_strata_and_clusters(void **state)
{
    (void)state;
    char design[256];
    snprintf(design, sizeof design,
             "stratified: {by: s, within: {cluster: {by: k, smallest: 3, largest: 3}}, strata: "
             "{n: {population: %d, sample: 80}, o: {population: %d, sample: 60}}}",
             of_s[0] / 3, of_s[1] / 3);
    tamis_plan *drawn_by = plan_of_steps(design, "4", "100", "statistics: [{mean: x}]\n");
    tamis_plan *plan = plan_of_steps("weights: {strata: s, cluster: k, population: 2400}, weight: w, max_weight: 8", "4", "100",
                                     GROUPS "postprocess: {consistent: yes}\n");
    tmi_coverage *study = study_of(plan, NULL, drawn_by, test_size(20, 2000));
    assert_covers(study, 12);
    tmi_coverage_free(study);
    tamis_plan_free(plan);
    tamis_plan_free(drawn_by);
}

/* The binomial tail against the sum of its terms. */
static void binomial_tails(void **state)
{
    (void)state;
    for (int n = 1; n <= 60; n += 7)
        for (int p = 1; p < 20; p += 3) {
            double sum = 0;
            for (int k = 0; k < n; k++) {
                sum += exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(p / 20.0) + (n - k) * log1p(-p / 20.0));
                assert_true(fabs(tmi_binomial_at_most(k, n, p / 20.0) - sum) < 1e-10 * sum);
            }
            assert_true(tmi_binomial_at_most(n, n, p / 20.0) == 1 && tmi_binomial_at_most(-1, n, p / 20.0) == 0);
        }
    assert_true(fabs(tmi_binomial_at_most(1850, 2000, 0.95) - 9.607772856682e-07) < 1e-16); /* the sum of the terms, in Python */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(consistent_margins), cmocka_unit_test(suppressed_groups),
        cmocka_unit_test(calibrated),         cmocka_unit_test(bounds_by_stratum),
        cmocka_unit_test(nonresponse),        cmocka_unit_test(weights_of_strata_and_clusters),
        cmocka_unit_test(binomial_tails),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
