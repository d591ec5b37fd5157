/* What `tamis check` foresees is what a release then says: for every example, whose guesses are as rough as they are in practice,
 * noise and whole error of each statistic are within a factor of 1.5 (foreseen.c has guesses that are true). Plans with data
 * are released from them, plans of the coverage study from samples of their population. Both sides are geometric means, over
 * the groups of a statistic and over the releases; all random bits come from one fixed stream. */
#include "tests/test.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "release/release.h"
#include "study/coverage.h"
#include "tests/rng/scripted_bits.h"
#include "tests/study/stream.h"

#define FACTOR 1.5
#define FACTOR_OF_UNEVEN 1.75 /* districts of 1 to 552 schools, of which one guess says how alike they are in all columns */
#define EXAMPLES TESTS_FOLDER "/../examples/"

/* Districts of very different sizes. */
static bool is_uneven(const char *name)
{
    return strcmp(name, "api-cluster.yaml") == 0 || strcmp(name, "api-pps-two-stage.yaml") == 0;
}

static uint64_t stream;

static void begin_stream(void)
{
    stream = 12;
    bits_from(next_bits, &stream);
}

static tamis_plan *plan_at(const char *path)
{
    tamis_plan *plan;
    tamis_error err = {0};
    if (tamis_plan_read(&plan, path, &err) != TAMIS_OK) fail_msg("%s", err.message);
    return plan;
}

/* A schedule with what is expected of its statistics, as `tamis check` has them. */
typedef struct foreseen {
    tmi_schedule schedule;
    tmi_expected_statistic *statistics;
} foreseen;

static void foresee(foreseen *f, const tamis_plan *plan)
{
    tamis_error err = {0};
    if (tmi_schedule_make(&f->schedule, plan, NULL, &err) != TAMIS_OK) fail_msg("%s", err.message);
    assert_int_equal(tmi_expected_statistics_make(&f->statistics, &f->schedule, NULL), TAMIS_OK);
}

static void foreseen_clear(foreseen *f)
{
    tmi_expected_statistics_free(f->statistics, f->schedule.plan->statistic_count);
    tmi_schedule_clear(&f->schedule);
}

/* What was released of one number. */
typedef struct seen {
    size_t statistic, cell;
    double noise, error; /* NaN: nothing */
} seen;

typedef struct comparison {
    double noise, error; /* sums of the logarithms of foreseen over seen */
    size_t numbers;
} comparison;

static void compare(const char *name, const foreseen *expected, const seen *list, size_t count)
{
    const tamis_plan *plan = expected->schedule.plan;
    size_t compared = 0;
    for (size_t i = 0; i < plan->asked_count; i++) {
        const tmi_expected_statistic *f = &expected->statistics[i];
        comparison c = {0};
        for (size_t k = 0; k < count; k++) {
            if (list[k].statistic != i || !(list[k].noise > 0) || !(list[k].error > 0)) continue;
            const tmi_expected_group *p = &f->groups[f->count > 1 ? list[k].cell : 0];
            c.noise += log(p->noise_sd / list[k].noise);
            c.error += log(tmi_expected_group_error(p) / list[k].error);
            c.numbers++;
        }
        if (tmi_is_known(&expected->schedule, i)) continue;
        if (c.numbers == 0) fail_msg("%s: statistic %zu was never released", name, i + 1);
        const double noise = exp(c.noise / (double)c.numbers), error = exp(c.error / (double)c.numbers);
        /* what a distribution is like where it is read is one guess more, and how far the numbers of a quotient are apart
         * another */
        const bool of_distribution = tmi_is_of_distribution(plan->statistics[i].kind);
        const double factor = of_distribution                                     ? 2
                              : plan->statistics[i].kind == TMI_CONTRAST_QUOTIENT ? 3
                              : is_uneven(name)                                   ? FACTOR_OF_UNEVEN
                                                                                  : FACTOR;
        if (!(fabs(log(noise)) <= log(factor) && fabs(log(error)) <= log(factor)))
            fail_msg("%s: statistic %zu: foreseen noise is %.2f times the released one, the whole error %.2f times", name, i + 1,
                     noise, error);
        compared++;
    }
    assert_true(compared > 0);
}

/* ---- examples with data ---- */

static void compare_with_data(const char *name, const char *path, int runs)
{
    tamis_plan *plan = plan_at(path);
    foreseen expected;
    tmi_results places;
    tamis_error err = {0};
    assert_int_equal(tmi_results_make(&places, plan, NULL, NULL), TAMIS_OK);
    foresee(&expected, plan);
    begin_stream();
    seen *list = calloc(places.count, sizeof *list);
    for (int run = 0; run < runs; run++) {
        tmi_engine *engine;
        tamis_release *release;
        if (tmi_engine_for(&engine, plan,
                           &(tamis_estimate_options){.size = sizeof(tamis_estimate_options), .engine = TAMIS_ENGINE_MEMORY},
                           false, &err) != TAMIS_OK)
            fail_msg("%s", err.message);
        if (tmi_release_with(&release, plan, engine, &(tmi_run){0}, &err) != TAMIS_OK) fail_msg("%s", err.message);
        for (size_t i = 0; i < places.count; i++) {
            const tmi_result *r = &release->results.list[i];
            list[i].noise += log(r->noise_sd);
            list[i].error += log(r->se);
        }
        tamis_release_free(release);
        engine->free(engine);
    }
    for (size_t i = 0; i < places.count; i++)
        list[i] = (seen){places.list[i].statistic, places.list[i].cell, exp(list[i].noise / runs), exp(list[i].error / runs)};
    compare(name, &expected, list, places.count);
    free(list);
    tmi_results_clear(&places);
    foreseen_clear(&expected);
    tamis_plan_free(plan);
}

/* The one in PostgreSQL has the plan of the households, whose file it is loaded from. The demo guesses at shares of all ages
 * together, and hardly anybody of its oldest group works: errors of that group are larger than foreseen. */
static void of_every_example_with_data(void **state)
{
    (void)state;
    static const char *const names[] = {"api", "households", "incomes", "municipalities", "schools"}, *const others[] = {
                                                                                                          "demo", "postgres"};
    DIR *folder = opendir(EXAMPLES);
    size_t found = 0;
    assert_non_null(folder);
    for (const struct dirent *entry; (entry = readdir(folder));) {
        char path[500];
        snprintf(path, sizeof path, EXAMPLES "%.200s/plan.yaml", entry->d_name);
        FILE *plan = fopen(path, "r");
        found += plan != NULL;
        if (plan) fclose(plan);
    }
    closedir(folder);
    assert_int_equal(found, sizeof names / sizeof *names + sizeof others / sizeof *others);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[500];
        snprintf(path, sizeof path, EXAMPLES "%s/plan.yaml", names[i]);
        compare_with_data(names[i], path, test_size(3, 40));
    }
}

/* ---- made data ---- */

static double uniform(void)
{
    uint64_t bits;
    next_bits(&stream, (uint8_t *)&bits, sizeof bits);
    return (double)(bits >> 11) * 0x1p-53;
}

/* Units of several rows, which are alike: x is 20 + (the unit's) + (the row's own), each from -10 to 10, and g is of the row
 * alone. */
static void write_units(const char *path, int units, int least, int most)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    begin_stream();
    fprintf(file, "u,x,g\n");
    for (int i = 0; i < units; i++) {
        const double own = 20 * uniform() - 10;
        const int rows = least + (int)(uniform() * (most - least + 1));
        for (int k = 0; k < rows; k++)
            fprintf(file, "%d,%.0f,%c\n", i, 20 + own + 20 * uniform() - 10, "abcd"[(int)(uniform() * 4)]);
    }
    assert_int_equal(fclose(file), 0);
}

/* Rows of a unit are drawn together, and so are units of a cluster: how many there are varies, and in a group there is only a
 * part of them. */
static void of_rows_that_are_drawn_together(void **state)
{
    (void)state;
    static const char tail[] =
        "columns:\n  x: {from: 0, to: 40, step: 1, typical: {mean: 20, sd: 8}}\n"
        "  g: {values: [a, b, c, d], typical: {a: 0.25, b: 0.25, c: 0.25, d: 0.25}}\n"
        "statistics: [{count: units}, {total: x}, {mean: x}, {mean: x, by: g}, {share: {x: {from: 20}}, by: g}]\n";
    static const struct {
        const char *name, *head;
        int least, most;
    } cases[] = {{"rows of units",
                  "design: {srs: {population: 4000, sample: 400}, typical: {rows: {mean: 5.5, sd: 2.9}, icc: 0.5}}\n"
                  "privacy: {unit: person, id: u, rows_per_unit: 10, epsilon: 400}\n",
                  1, 10},
                 {"rows of units, assumed spread",
                  "design: {srs: {population: 4000, sample: 400}, typical: {rows: 5.5, icc: 0.5}}\n"
                  "privacy: {unit: person, id: u, rows_per_unit: 10, epsilon: 400}\n",
                  1, 10},
                 {"groups in clusters",
                  "design: {cluster: {by: u, population: 2000, sample: 200, smallest: 12, largest: 28}, "
                  "typical: {cluster: {mean: 20, sd: 5}, icc: 0.5}}\nprivacy: {unit: person, epsilon: 40}\n",
                  12, 28}};
    char folder[] = "/tmp/tamis-preview-XXXXXX", plan[100], data[100];
    assert_non_null(mkdtemp(folder));
    snprintf(plan, sizeof plan, "%s/plan.yaml", folder);
    snprintf(data, sizeof data, "%s/data.csv", folder);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_units(data, cases[i].most > 10 ? 200 : 400, cases[i].least, cases[i].most);
        FILE *file = fopen(plan, "w");
        assert_non_null(file);
        fprintf(file, "tamis: 1\nsurvey: s\nsource: {file: data.csv}\n%s%s", cases[i].head, tail);
        assert_int_equal(fclose(file), 0);
        compare_with_data(cases[i].name, plan, test_size(3, 40));
    }
    assert_int_equal(remove(plan) | remove(data) | rmdir(folder), 0);
}

/* Shares of all values that leave a rest: two of four values are not in the list, so that half of the units have none. */
static void of_values_that_are_missing(void **state)
{
    (void)state;
    char folder[] = "/tmp/tamis-preview-XXXXXX", plan[100], data[100];
    assert_non_null(mkdtemp(folder));
    snprintf(plan, sizeof plan, "%s/plan.yaml", folder);
    snprintf(data, sizeof data, "%s/data.csv", folder);
    write_units(data, 2000, 1, 1);
    FILE *file = fopen(plan, "w");
    assert_non_null(file);
    fputs(
        "tamis: 1\nsurvey: s\nsource: {file: data.csv}\ndesign: {srs: {population: 40000, sample: 2000}}\nprivacy: {epsilon: 1}\n"
        "columns:\n  g: {values: [a, b], typical: {a: 0.25, b: 0.25}}\n  x: {from: 0, to: 40, step: 1, typical: {mean: 20, sd: "
        "8}}\n"
        "statistics: [{share: {g: a}}, {total: {g: a}}, {mean: x, by: g}, {ratio: {of: {g: a}, to: {g: b}}}, {total: x, where: "
        "{g: a}}]\n",
        file);
    assert_int_equal(fclose(file), 0);
    compare_with_data("missing values", plan, test_size(3, 40));
    assert_int_equal(remove(plan) | remove(data) | rmdir(folder), 0);
}

/* ---- populations ---- */

static void compare_with_study(const char *name, const tamis_plan *plan, const tamis_study_samples *samples, int runs)
{
    foreseen expected;
    tmi_coverage *study;
    const tamis_study_options options = {.size = sizeof options, .runs = runs, .threads = 1};
    tamis_error err = {0};
    foresee(&expected, plan);
    begin_stream(); /* whatever the order of the files is */
    if (tmi_coverage_new(&study, plan, samples, &options, &err) != TAMIS_OK) fail_msg("%s: %s", name, err.message);
    seen *list = calloc(study->places.count, sizeof *list);
    for (size_t i = 0; i < study->places.count; i++) {
        const tmi_coverage_cell *c = &study->cells[i];
        list[i] = (seen){study->places.list[i].statistic, study->places.list[i].cell, tmi_middle_of(&c->noise),
                         tmi_middle_of(&c->error)};
    }
    compare(name, &expected, list, study->places.count);
    free(list);
    tmi_coverage_free(study);
    foreseen_clear(&expected);
}

static void of_every_plan_of_the_coverage_study(void **state)
{
    (void)state;
    DIR *folder = opendir(EXAMPLES "coverage");
    size_t found = 0;
    assert_non_null(folder);
    tamis_plan *drawn = plan_at(EXAMPLES "coverage/persons-drawn.yaml");
    for (const struct dirent *entry; (entry = readdir(folder));) {
        const char *name = entry->d_name, *end = strstr(name, ".yaml");
        if (!end) continue;
        char path[500], population[500];
        snprintf(path, sizeof path, EXAMPLES "coverage/%s", name);
        snprintf(population, sizeof population, EXAMPLES "coverage/%.*s.csv", (int)strcspn(name, "-"), name);
        tamis_plan *plan = plan_at(path);
        /* one district of api has 552 of its schools: the sampling errors of samples with it are three times those of the
         * others */
        const bool uneven = is_uneven(name), large = strncmp(name, "persons", 7) == 0;
        const int runs = uneven ? test_size(16, 200) : large ? test_size(4, 100) : test_size(8, 100);
        const tamis_study_samples samples = {.size = sizeof samples,
                                             .population = population,
                                             .sizes = strstr(name, "-pps.") ? "size"
                                                                            : NULL, /* clusters have a size of their own */
                                             .response = strstr(name, "-nonresponse") ? "response" : NULL,
                                             .drawn_by = strstr(name, "-weights") || strstr(name, "-inequality") ? drawn : NULL};
        compare_with_study(name, plan, &samples, runs);
        tamis_plan_free(plan);
        found++;
    }
    closedir(folder);
    tamis_plan_free(drawn);
    assert_int_equal(found, 28);
}

/* A design that no example has: the number of units in the sample is random, and the population a guess. */
static void of_a_sample_of_random_size(void **state)
{
    (void)state;
    static const char text[] =
        "tamis: 1\nsurvey: s\nsource: {file: a.csv}\ndesign: {bernoulli: {rate: 1/6}, typical: {population: 12000}}\n"
        "privacy: {epsilon: 4}\ncolumns:\n  wage: {from: 0, to: 60000, step: 1, typical: {mean: 9000, sd: 11000}, missing: 0}\n"
        "  sex: {values: [f, m], typical: {f: 0.5}}\n"
        "statistics: [{total: wage}, {mean: wage, by: sex}, {count: units, by: sex}, {count: units}, {ratio: {of: wage, to: "
        "{sex: f}}}]\n";
    tamis_plan *plan;
    tamis_error err = {0};
    if (tamis_plan_read_text(&plan, "p.yaml", text, strlen(text), &err) != TAMIS_OK) fail_msg("%s", err.message);
    compare_with_study("bernoulli", plan,
                       &(tamis_study_samples){.size = sizeof(tamis_study_samples), .population = EXAMPLES "coverage/persons.csv"},
                       test_size(3, 40));
    tamis_plan_free(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_every_example_with_data), cmocka_unit_test(of_rows_that_are_drawn_together),
        cmocka_unit_test(of_values_that_are_missing), cmocka_unit_test(of_every_plan_of_the_coverage_study),
        cmocka_unit_test(of_a_sample_of_random_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
