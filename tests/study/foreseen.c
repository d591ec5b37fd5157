/* What `tamis check` foresees where every guess of the plan is true: over designs and statistics, the noise and the whole
 * error of each number are within a factor of 1.3 of the geometric mean over releases, and every number has an interval. The
 * population is made so that nothing is guessed wrong: values follow the law that a preview takes them for, clusters are as
 * alike as is said, groups differ in size alone. */
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "release/release.h"
#include "study/coverage.h"
#include "tests/rng/scripted_bits.h"
#include "tests/study/stream.h"

#define FACTOR 1.3
#define RUNS 16 /* a standard error that is measured with noise differs from release to release */
#define CLUSTERS 900
#define LEAST 4
#define MOST 16
#define ALIKE 0.4             /* the chance with which a unit has its cluster's value: the intraclass correlation is its square */
#define CORRELATION (1.0 / 3) /* of x and y */

static uint64_t stream;

static double uniform(void)
{
    uint64_t bits;
    next_bits(&stream, (uint8_t *)&bits, sizeof bits);
    return (double)(bits >> 11) * 0x1p-53;
}

/* The second smallest of five: the beta law with parameters 2 and 4, mean 1/3 and variance 2/63. */
static double beta(void)
{
    double least = 2, second = 2;
    for (int i = 0; i < 5; i++) {
        const double u = uniform();
        second = fmin(second, fmax(u, least));
        least = fmin(least, u);
    }
    return second;
}

#define MEAN (1.0 / 3)
#define SD 0.178174

static char folder[] = "/tmp/tamis-foreseen-XXXXXX", population[60];
static int units, in_stratum[3], clusters_in[3];

static int write_population(void **state)
{
    (void)state;
    stream = 5;
    if (!mkdtemp(folder)) return -1;
    snprintf(population, sizeof population, "%s/population.csv", folder);
    FILE *file = fopen(population, "w");
    if (!file) return -1;
    fprintf(file, "s,c,size,csize,x,y,z,g\n");
    for (int c = 0; c < CLUSTERS; c++) {
        const int stratum = c % 10 < 5 ? 0 : c % 10 < 8 ? 1 : 2, rows = LEAST + (int)(uniform() * (MOST - LEAST + 1));
        const double own_x = beta(), own_y = beta(), own_z = beta(), own_u = uniform();
        clusters_in[stratum]++;
        in_stratum[stratum] += rows;
        units += rows;
        for (int i = 0; i < rows; i++) {
            const bool shared = uniform() < ALIKE, same = uniform() < CORRELATION, asked = uniform() < 0.5;
            const double x = shared ? own_x : beta(), y = same ? x : shared ? own_y : beta();
            const double z = uniform() < ALIKE ? own_z : beta(), u = uniform() < ALIKE ? own_u : uniform();
            fprintf(file, "%c,%d,%.3f,%d,%.0f,%.0f,", "ABC"[stratum], c, 0.9 + 0.2 * uniform(), rows, 300 * x, 200 * y);
            if (asked) fprintf(file, "%.0f", 300 * z);
            fprintf(file, ",%c\n", u < 0.4 ? 'a' : u < 0.7 ? 'b' : u < 0.9 ? 'c' : 'd');
        }
    }
    return fclose(file);
}

static int remove_population(void **state)
{
    (void)state;
    return remove(population) | rmdir(folder);
}

static tamis_plan *plan_of(const char *design, const char *privacy, bool complete, const char *statistics)
{
    char text[3000];
    tamis_plan *plan;
    tamis_error err = {0};
    const char *missing = complete ? ", missing: none" : "";
    snprintf(text, sizeof text,
             "tamis: 1\nsurvey: s\nsource: {file: sample.csv}\ndesign: {%s}\nprivacy: {unit: person, %s}\ncolumns:\n"
             "  x: {from: 0, to: 300, step: 1, typical: {mean: 100, sd: %g}%s}\n"
             "  y: {from: 0, to: 200, step: 1, typical: {mean: %g, sd: %g}%s}\n"
             "  z: {from: 0, to: 300, step: 1, typical: {mean: 100, sd: %g, share: 0.5}}\n"
             "  g: {values: [a, b, c, d], typical: {a: 0.4, b: 0.3, c: 0.2}%s}\nstatistics: %s\n",
             design, privacy, 300 * SD, missing, 200 * MEAN, 200 * SD, missing, 300 * SD, missing, statistics);
    if (tamis_plan_read_text(&plan, "p.yaml", text, strlen(text), &err) != TAMIS_OK) fail_msg("%s\n%s", text, err.message);
    return plan;
}

static bool is_near(double foreseen, double seen, double factor)
{
    return foreseen <= factor * seen && seen <= factor * foreseen;
}

static void compare(const char *name, const tamis_plan *plan, const tamis_plan *drawn_by, bool pps, double factor, int *wrong)
{
    tmi_schedule schedule;
    tmi_expected_statistic *foreseen;
    tmi_coverage *study;
    tamis_error err = {0};
    bits_from(next_bits, &stream);
    const tamis_study_samples samples = {.size = sizeof samples,
                                         .population = population,
                                         .sizes = pps ? "size" : NULL,
                                         .drawn_by = drawn_by};
    const tamis_study_options options = {.size = sizeof options, .runs = test_size(RUNS, 60), .threads = 1};
    if (tmi_schedule_make(&schedule, plan, NULL, &err) != TAMIS_OK) fail_msg("%s: %s", name, err.message);
    assert_int_equal(tmi_expected_statistics_make(&foreseen, &schedule, NULL), TAMIS_OK);
    if (tmi_coverage_new(&study, plan, &samples, &options, &err) != TAMIS_OK) fail_msg("%s: %s", name, err.message);
    for (size_t i = 0; i < study->places.count; i++) {
        const tmi_coverage_cell *c = &study->cells[i];
        const size_t statistic = study->places.list[i].statistic, cell = study->places.list[i].cell;
        const tmi_expected_statistic *f = &foreseen[statistic];
        const tmi_expected_group *p = &f->groups[f->count > 1 ? cell : 0];
        const double noise = tmi_middle_of(&c->noise), error = tmi_middle_of(&c->error);
        if (c->known) continue;
        const bool little = noise < error / 4; /* three per cent of the whole; that of a quantile may be less than a step */
        const bool right = (little || is_near(tmi_expected_group_noise(p), noise, factor)) &&
                           is_near(tmi_expected_group_error(p), error, factor) && c->withheld == 0;
        if (!right)
            print_message(
                "%s: statistic %zu, cell %zu: noise %.4g, released %.4g; both %.4g, released %.4g; %lld of %lld without an "
                "interval\n",
                name, statistic + 1, cell, tmi_expected_group_noise(p), noise, tmi_expected_group_error(p), error,
                (long long)c->withheld, (long long)options.runs);
        *wrong += !right;
    }
    tmi_coverage_free(study);
    tmi_expected_statistics_free(foreseen, plan->statistic_count);
    tmi_schedule_clear(&schedule);
}

/* Plans of one design: together, one by one, and what is read from a distribution function. Of complete columns, rows are not
 * measured: the first plan is tried with them too. */
#define TOGETHER \
    "[{total: x}, {mean: x}, {share: {g: a}}, {ratio: {of: x, to: y}}, {table: [g]}, {mean: x, by: g}, {mean: z}, {total: y}]"

static const char *const asked[] = {TOGETHER,
                                    "[{total: x}]",
                                    "[{mean: x, by: g}]",
                                    "[{ratio: {of: x, to: y}}]",
                                    "[{table: [g]}]",
                                    "[{median: x}, {quantile: x, at: [0.25, 0.75], method: distribution}]"};

static void compare_all(const char *name, const char *design, const char *privacy, const char *drawn, double factor)
{
    int wrong = 0;
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        for (int complete = 0; complete < 2; complete++) {
            char title[200];
            if (complete && i > 0) continue;
            snprintf(title, sizeof title, "%s, %s%s", name, asked[i], complete ? ", complete" : "");
            tamis_plan *plan = plan_of(design, privacy, complete, asked[i]),
                       *by = drawn ? plan_of(drawn, "epsilon: 1", false, "[{count: units}]") : NULL;
            compare(title, plan, by, strncmp(design, "pps", 3) == 0, factor, &wrong);
            tamis_plan_free(plan);
            tamis_plan_free(by);
        }
    assert_int_equal(wrong, 0);
}

#define CLUSTERS_ARE "typical: {cluster: {mean: 10, sd: 3.742}, icc: 0.16}" /* 4 to 16, each as often as the others */

/* Strata that are drawn with different probabilities, of units and of clusters. */
static const char *strata_of_units(void)
{
    static char text[300];
    snprintf(text, sizeof text,
             "stratified: {by: s, within: srs, strata: {A: {population: %d, sample: 400}, B: {population: %d, sample: 250}, C: "
             "{population: %d, sample: 250}}}",
             in_stratum[0], in_stratum[1], in_stratum[2]);
    return text;
}

static const char *strata_of_clusters(void)
{
    static char text[400];
    snprintf(
        text, sizeof text,
        "stratified: {by: s, within: {cluster: {by: c, smallest: %d, largest: %d}}, strata: {A: {population: %d, sample: 60}, "
        "B: {population: %d, sample: 40}, C: {population: %d, sample: 30}}}, " CLUSTERS_ARE,
        LEAST, MOST, clusters_in[0], clusters_in[1], clusters_in[2]);
    return text;
}

static void of_units(void **state)
{
    (void)state;
    char text[300];
    snprintf(text, sizeof text, "srs: {population: %d, sample: 900}", units);
    compare_all("srs", text, "epsilon: 4", NULL, FACTOR);
    compare_all("strata", strata_of_units(), "epsilon: 4", NULL, FACTOR);
}

static void of_units_with_weights(void **state)
{
    (void)state;
    char text[300];
    snprintf(text, sizeof text,
             "pps: {method: sampford, probability: inclusion_probability, sample: 900, population: %d}, max_weight: %g", units,
             1.15 * units / 900);
    compare_all("pps", text, "epsilon: 4", NULL, FACTOR);
    snprintf(text, sizeof text, "weights: {strata: s, population: %d}, weight: w, max_weight: 12, typical: {sample: 900}", units);
    compare_all("weights", text, "epsilon: 4", strata_of_units(), FACTOR);
}

static void of_clusters(void **state)
{
    (void)state;
    char text[300];
    snprintf(text, sizeof text, "cluster: {by: c, population: %d, sample: 120, smallest: %d, largest: %d}, " CLUSTERS_ARE,
             CLUSTERS, LEAST, MOST);
    compare_all("clusters", text, "epsilon: 8", NULL, FACTOR);
    compare_all("strata of clusters", strata_of_clusters(), "epsilon: 8", NULL, FACTOR);
    snprintf(
        text, sizeof text,
        "weights: {strata: s, cluster: c, population: %d}, weight: w, max_weight: 9, typical: {sample: 1300, cluster: {mean: 10, "
        "sd: 3.742}, icc: 0.16}",
        units);
    compare_all("weights of clusters", text, "epsilon: 8", strata_of_clusters(), FACTOR);
}

static void of_two_stages(void **state)
{
    (void)state;
    char text[300];
    snprintf(text, sizeof text,
             "two_stage: {first: {by: c, population: %d, sample: 180}, second: {population: csize, sample: 5}}, max_weight: "
             "20, " CLUSTERS_ARE,
             CLUSTERS);
    compare_all("two stages", text, "epsilon: 8", NULL, FACTOR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(of_units), cmocka_unit_test(of_units_with_weights),
                                       cmocka_unit_test(of_clusters), cmocka_unit_test(of_two_stages)};
    return cmocka_run_group_tests(tests, write_population, remove_population);
}
