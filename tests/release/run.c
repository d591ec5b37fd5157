/* The main job, step by step: with rows of the test's own, and once with DuckDB on the example survey. The random bits
 * are those of a seed, so that the test can draw the same noise again and take it off. */
#include "tests/test.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/value/json.h"
#include "measure/request/psu_slots.h"
#include "num/number.h"
#include "release/release.h"
#include "tests/base/memory_that_fails.h"
#include "tests/release/array_engine.h"
#include "tests/release/plans.h"

#define SRS "srs: {population: 80, sample: 8}"
#define STATISTICS "  - count: units\n  - {count: units, by: [g, h]}\n  - {total: x}\n  - {mean: x, by: g}\n  - {mean: x}\n"

static const array_row rows[] = {
    {.x = 12.3, .g = "a", .h = "u"}, {.x = 500, .g = "a", .h = "v"},   {.x = -3, .g = "b", .h = "u"},
    {.x = NAN, .g = "b", .h = "w"},  {.x = 20.25, .g = "b", .h = "w"}, {.x = 29.9, .g = NULL, .h = "w"},
    {.x = 15, .g = "z", .h = "v"},   {.x = 11, .g = "a", .h = NULL},
};

/* ---- noise drawn again ---- */

static int64_t *noise_again(const tmi_schedule *s, size_t measurement)
{
    tamis_rng *rng;
    int64_t *noise = NULL;
    assert_int_equal(tamis_rng_new(&rng, NULL), TAMIS_OK);
    for (size_t i = 0; i <= measurement; i++) {
        tamis_noise *law;
        free(noise);
        noise = calloc(s->measurements[i].numbers, sizeof *noise);
        assert_non_null(noise);
        assert_int_equal(s->measurements[i].strata, 1);
        assert_int_equal(tamis_noise_laplace_new(&law, s->measurements[i].laws[0].scale, NULL), TAMIS_OK);
        assert_int_equal(tamis_noise_draw(noise, s->measurements[i].numbers, law, rng, NULL), TAMIS_OK);
        tamis_noise_free(law);
    }
    tamis_rng_free(rng);
    return noise;
}

/* The noisy integers of the measurement of that name are `truth` plus the noise. */
static void assert_truth(const tamis_release *r, const char *name, const int64_t *truth, size_t numbers)
{
    for (size_t i = 0; i < r->schedule.measurement_count; i++) {
        tmi_text text;
        tmi_text_init(&text);
        tmi_measurement_name(&text, &r->schedule.measurements[i], &r->schedule.workload);
        bool found = strcmp(text.bytes, name) == 0;
        tmi_text_clear(&text);
        if (!found) continue;
        assert_int_equal(r->schedule.measurements[i].numbers, numbers);
        bits_from_seed(7);
        int64_t *noise = noise_again(&r->schedule, i);
        for (size_t k = 0; k < numbers; k++)
            if ((int64_t)r->noisy[i][k] - noise[k] != truth[k])
                fail_msg("%s: number %zu is %lld", name, k, (long long)((int64_t)r->noisy[i][k] - noise[k]));
        free(noise);
        return;
    }
    for (size_t i = 0; i < r->schedule.measurement_count; i++) {
        tmi_text text;
        tmi_text_init(&text);
        tmi_measurement_name(&text, &r->schedule.measurements[i], &r->schedule.workload);
        print_message("# there is: %s\n", text.bytes);
        tmi_text_clear(&text);
    }
    fail_msg("no measurement %s", name);
}

static tamis_release *run(const tamis_plan *plan, array_engine *engine, const char *folder)
{
    tamis_release *release;
    tamis_error err = {0};
    bits_from_seed(7);
    if (tmi_release_with(&release, plan, &engine->engine, &(tmi_run){.folder = folder}, &err) != TAMIS_OK)
        fail_msg("%s", err.message);
    return release;
}

static tamis_release *release_of(const char *statistics, const array_row *list, size_t count)
{
    tamis_plan *plan = plan_of(SRS, "20", statistics);
    array_engine engine = array_engine_of(list, count);
    tamis_release *r = run(plan, &engine, NULL);
    tamis_plan_free(plan);
    return r;
}

/* x on its grid of half units, clamped to 20..60: 25, 60, 20, missing, 41, 60, 30, 22; k steps above the lowest of m = 40. Levels
 * of a row are (m-k)^2, 2 k (m-k), k^2, and m^2 if it is missing. Rows of no group are a class of their own. */
static void integers_plus_noise(void **state)
{
    (void)state;
    static const int k[8] = {5, 40, 0, -1, 21, 40, 10, 2}, group[8] = {0, 0, 1, 1, 1, 2, 2, 0};
    tamis_release *r = release_of("  - count: units\n  - {count: units, by: [g, h]}\n", rows, 8);
    /* h: u, v, w, missing; g: a, b, none of them */
    assert_truth(r, "rows by h, g", (int64_t[]){1, 1, 0, 1, 0, 1, 0, 2, 1, 1, 0, 0}, 12);
    const tmi_result *known = &r->results.list[0], *cell = &r->results.list[1];
    assert_true(known->known && known->estimate == 80 && known->lower == 80 && known->noise_sd == 0);
    assert_true(cell->noise_sd > 0 && fabs(cell->se - hypot(cell->sampling_se, cell->noise_sd)) < 1e-9);
    /* the eight rows are public: what the noise added to all twelve cells is taken off each */
    double sum = 0;
    for (size_t i = 0; i < 12; i++) sum += (double)r->noisy[0][i];
    assert_true(fabs(cell->estimate - 10 * ((double)r->noisy[0][0] - (sum - 8) / 12)) < 1e-9);
    tamis_release_free(r);

    r = release_of("  - {mean: x, by: g}\n", rows, 8);
    int64_t levels[12] = {0};
    for (size_t i = 0; i < 8; i++) {
        int64_t *to = levels + 4 * group[i];
        if (k[i] < 0) to[3] += 1600;
        else to[0] += (40 - k[i]) * (40 - k[i]), to[1] += 2 * k[i] * (40 - k[i]), to[2] += k[i] * k[i];
    }
    assert_truth(r, "rows, sums and squares of x by g", levels, 12);
    /* rows are the first three levels together, sums the third and half of the second; all rows are eight */
    double noisy[12], all = 0;
    for (size_t i = 0; i < 12; i++) all += noisy[i] = (double)r->noisy[0][i] / 1600;
    for (size_t i = 0; i < 12; i++) noisy[i] -= (all - 8) / 12;
    for (size_t g = 0; g < 2; g++) {
        const double *l = noisy + 4 * g, mean = 10 + 20 * (l[2] + l[1] / 2) / (l[0] + l[1] + l[2]);
        assert_true(fabs(r->results.list[g].estimate - mean) < 1e-9);
    }
    tamis_release_free(r);

    r = release_of("  - {total: x}\n", rows, 8);
    double total = 0;
    for (size_t i = 0; i < r->schedule.measurement_count; i++)
        assert_int_equal(r->schedule.measurements[i].marginal.axis_count, 1);
    for (size_t i = 0; i < 8; i++) total += k[i] < 0 ? 0 : 10 * (10 + k[i] / 2.0);
    assert_true(fabs(r->results.list[0].estimate - total) < 8 * r->results.list[0].noise_sd);
    tamis_release_free(r);
}

static void noise_is_drawn_before_the_data_are_read(void **state)
{
    (void)state;
    tamis_plan *plan = plan_of(SRS, "20", STATISTICS);
    array_engine engine = array_engine_of(rows, 8);
    static uint8_t bytes[1 << 20];
    uint32_t word = 1;
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)((word = word * 1664525 + 1013904223) >> 24);
    tamis_release *r;
    bits_from_bytes(bytes, sizeof bytes);
    assert_int_equal(tmi_release_with(&r, plan, &engine.engine, &(tmi_run){.folder = NULL}, NULL), TAMIS_OK);
    assert_true(engine.bits_before > 0);
    assert_int_equal(engine.bits_before, bits_taken());
    tamis_release_free(r);

    /* no bits, no release: and no row was read */
    bits_from_bytes(bytes, 3);
    engine.aggregates = 0;
    assert_int_equal(tmi_release_with(&r, plan, &engine.engine, &(tmi_run){.folder = NULL}, NULL), TAMIS_SYSTEM);
    assert_null(r);
    assert_int_equal(engine.aggregates, 0);
    bits_from_seed(7);
    tamis_plan_free(plan);
}

/* ---- refusals and the folder ---- */

static char place[64];

static int make_place(void **state)
{
    (void)state;
    strcpy(place, "/tmp/tamis-test-XXXXXX");
    return mkdtemp(place) ? 0 : -1;
}

static int remove_place(void **state)
{
    (void)state;
    return rmdir(place); /* fails if anything was left */
}

static size_t entries(const char *path)
{
    size_t count = 0;
    DIR *dir = opendir(path);
    for (struct dirent *e; dir && (e = readdir(dir));) count += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    if (dir) closedir(dir);
    return count;
}

static mode_t rights_of(const char *path)
{
    struct stat facts;
    assert_int_equal(stat(path, &facts), 0);
    return facts.st_mode & 07777;
}

#define FILES 8
#define TEXTS 6 /* of these, that a function gives too */

static void remove_files(const char *path)
{
    static const char *const names[] = {"release.json",  "release.csv", "measurements.json", "certificate.json",
                                        "registry.yaml", "report.html", "release.sdmx.csv",  "release.xlsx"};
    char file[200];
    for (size_t i = 0; i < FILES; i++) {
        snprintf(file, sizeof file, "%s/%s", path, names[i]);
        assert_int_equal(unlink(file), 0);
    }
    assert_int_equal(rmdir(path), 0);
}

static void assert_refused(const tamis_plan *plan, array_engine *engine, tamis_status expected, const char *message)
{
    char folder[100];
    tamis_release *release;
    tamis_error err = {0};
    snprintf(folder, sizeof folder, "%s/out", place);
    assert_int_equal(tmi_release_with(&release, plan, &engine->engine, &(tmi_run){.folder = folder}, &err), expected);
    assert_null(release);
    assert_string_equal(err.message, message);
    assert_int_equal(entries(place), 0); /* nothing is left behind */
}

static void a_contradiction_stops_before_values_are_read(void **state)
{
    (void)state;
    tamis_plan *plan = plan_of(SRS, "20", STATISTICS);
    array_engine engine = array_engine_of(rows, 7);
    assert_refused(plan, &engine, TAMIS_INVALID,
                   "the source has 7 rows, but the design `srs` declares 8: correct the plan or the source");
    engine = array_engine_of(rows, 8);
    engine.describe_status = TAMIS_INVALID;
    assert_refused(plan, &engine, TAMIS_INVALID, "describe");
    assert_int_equal(engine.aggregates, 0);
    engine = array_engine_of(rows, 8);
    engine.aggregate_status = TAMIS_SYSTEM;
    assert_refused(plan, &engine, TAMIS_SYSTEM, "aggregate");
    tamis_plan_free(plan);

    plan = plan_of("census: {population: 9}", "20", STATISTICS);
    engine = array_engine_of(rows, 8);
    assert_refused(plan, &engine, TAMIS_INVALID,
                   "the source has 8 rows, but the design `census` declares 9: correct the plan or the source");
    tamis_plan_free(plan);
}

/* In all, in each stratum, and clusters; too many as well as too few. */
static void every_number_that_the_design_fixes_is_compared(void **state)
{
    (void)state;
    static const array_row some[] = {{.x = 12, .s = "p", .c = "1"},
                                     {.x = 13, .s = "p", .c = "2"},
                                     {.x = 14, .s = "q", .c = "3"},
                                     {.x = 15, .s = "q", .c = "3"}};
    static const struct {
        const char *design, *message;
    } cases[] = {
        {"srs: {population: 80, sample: 3}",
         "the source has 4 rows, but the design `srs` declares 3: correct the plan or the source"},
        {"srs: {population: 80, sample: 5}",
         "the source has 4 rows, but the design `srs` declares 5: correct the plan or the source"},
        {"stratified: {by: s, within: srs, strata: {p: {population: 80, sample: 1}, q: {population: 90, sample: 3}}}",
         "the source has 2 rows in the stratum p, but the design `stratified` declares 1: correct the plan or the source"},
        {"cluster: {by: c, population: 60, sample: 4, smallest: 1, largest: 9}",
         "the source has 3 clusters, but the design `cluster` declares 4: correct the plan or the source"},
        {"cluster: {by: c, population: 60, sample: 2, smallest: 1, largest: 9}",
         "the source has 3 clusters, but the design `cluster` declares 2: correct the plan or the source"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis_plan *plan = plan_of(cases[i].design, "20", "  - {mean: x}\n");
        array_engine engine = array_engine_of(some, 4);
        assert_refused(plan, &engine, TAMIS_INVALID, cases[i].message);
        assert_int_equal(engine.aggregates, 0);
        tamis_plan_free(plan);
    }
}

/* A unit with rows in two strata is one too many in one of them, also where the units of all strata together are as declared. */
static void a_unit_in_two_strata_is_noticed(void **state)
{
    (void)state;
    static const array_row some[] = {{.x = 12, .s = "p", .u = "1"},
                                     {.x = 13, .s = "q", .u = "1"},
                                     {.x = 14, .s = "p", .u = "2"},
                                     {.x = 15, .s = "q", .u = "3"}};
    tamis_plan *plan = plan_of("stratified: {by: s, within: srs, strata: {p: {population: 80, sample: 2}, q: {population: 90, "
                               "sample: 1}}}",
                               "20, id: u, rows_per_unit: 2", "  - {mean: x}\n");
    array_engine engine = array_engine_of(some, 4);
    assert_refused(plan, &engine, TAMIS_INVALID,
                   "the source has 2 units in the stratum q, but the design `stratified` declares 1: correct the plan or the "
                   "source");
    assert_int_equal(engine.aggregates, 0);
    tamis_plan_free(plan);
}

/* How many answered is protected there: never compared with the plan, in the release as in the estimate. */
static void rows_are_not_counted_where_they_are_protected(void **state)
{
    (void)state;
    static const char statistics[] = "  - {mean: x}\n  - {mean: x, by: g}\n";
    for (size_t i = 0; i < 6; i++) {
        tamis_plan *plan = i < 3
                               ? plan_of("srs: {population: 80, sample: 7}", "20, protect: respondents, given: frame", STATISTICS)
                               : plan_of("srs: {population: 80, sample: 7}, nonresponse: yes", "20", statistics);
        array_engine engine = array_engine_of(rows, 6 + i % 3);
        tamis_release_free(run(plan, &engine, NULL));
        tamis_plan_free(plan);
    }
}

typedef struct patience {
    const array_engine *engine;
    int calls, stop_at;
    bool before_the_data, after_the_data, with_the_files;
} patience;

static int lose_patience(void *context, double share, int64_t rows_read)
{
    patience *p = context;
    assert_true(share <= 1 && rows_read <= 8);
    p->before_the_data = p->before_the_data || p->engine->aggregates == 0;
    p->after_the_data = p->after_the_data || share == 1;
    DIR *dir = opendir(place);
    assert_non_null(dir);
    for (struct dirent *e; (e = readdir(dir));) {
        if (strncmp(e->d_name, ".out", 4) != 0) continue;
        char temporary[400];
        snprintf(temporary, sizeof temporary, "%s/%s", place, e->d_name);
        p->with_the_files = entries(temporary) == FILES - 1; /* the certificate is the driver's */
        assert_int_equal(rights_of(temporary), 0700);
    }
    closedir(dir);
    return ++p->calls == p->stop_at;
}

/* Wherever it is stopped, and however short it is: between the steps it is asked, last with all files written but the
 * certificate. */
static void a_cancelled_run_leaves_nothing(void **state)
{
    (void)state;
    tamis_plan *plan = plan_of(SRS, "20", STATISTICS);
    tamis_release *release;
    char folder[100];
    snprintf(folder, sizeof folder, "%s/out", place);
    for (int stop_at = 1;; stop_at++) {
        array_engine engine = array_engine_of(rows, 8);
        patience p = {.engine = &engine, .stop_at = stop_at};
        tamis_error err = {0};
        tamis_status status = tmi_release_with(&release, plan, &engine.engine,
                                               &(tmi_run){.folder = folder, .watch = {lose_patience, &p}}, &err);
        if (p.calls < stop_at) { /* it got through */
            assert_int_equal(status, TAMIS_OK);
            assert_true(p.before_the_data && p.after_the_data && p.with_the_files);
            break;
        }
        assert_int_equal(status, TAMIS_SYSTEM);
        assert_string_equal(err.message, "cancelled");
        assert_null(release);
        assert_int_equal(entries(place), 0);
    }
    tamis_release_free(release);
    tamis_plan_free(plan);
    remove_files(folder);
}

static void an_existing_folder_is_refused_first(void **state)
{
    (void)state;
    tamis_plan *plan = plan_of(SRS, "20", STATISTICS);
    array_engine engine = array_engine_of(rows, 8);
    tamis_release *release;
    tamis_error err = {0};
    assert_int_equal(tmi_release_with(&release, plan, &engine.engine, &(tmi_run){.folder = place}, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "already exists"));
    assert_int_equal(tmi_release_with(&release, plan, &engine.engine, &(tmi_run){.folder = "/no/such/place/out"}, &err),
                     TAMIS_INVALID);
    assert_int_equal(tmi_release_with(&release, plan, &engine.engine, &(tmi_run){.folder = ""}, &err), TAMIS_INVALID);
    assert_int_equal(engine.describes + engine.aggregates, 0);
    tamis_plan_free(plan);
}

static char *read_all(const char *folder, const char *name)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
    fclose(file);
    assert_int_equal(unlink(path), 0);
    return text;
}

static void the_folder_holds_what_the_texts_say(void **state)
{
    (void)state;
    tamis_plan *plan = plan_of(SRS, "20", STATISTICS);
    array_engine engine = array_engine_of(rows, 8);
    char folder[100];
    snprintf(folder, sizeof folder, "%s/out/", place);
    tamis_release *r = run(plan, &engine, folder);
    assert_int_equal(entries(place), 1);
    assert_int_equal(entries(folder), FILES);
    static const struct {
        const char *name;
        tamis_status (*write)(char **, const tamis_release *, tamis_error *);
    } files[] = {{"release.json", tamis_release_json},
                 {"release.csv", tamis_release_csv},
                 {"measurements.json", tamis_release_measurements_json},
                 {"certificate.json", tamis_release_certificate_json},
                 {"registry.yaml", tamis_release_registry_yaml},
                 {"report.html", tamis_release_report_html}};
    for (size_t i = 0; i < TEXTS; i++) {
        char *written = read_all(folder, files[i].name), *text;
        assert_int_equal(files[i].write(&text, r, NULL), TAMIS_OK);
        assert_string_equal(written, text);
        assert_null(strstr(text, place)); /* no paths */
        tmi_value *json;
        if (strstr(files[i].name, ".json")) {
            assert_int_equal(tmi_json_read(&json, text, strlen(text), NULL), TAMIS_OK);
            tmi_value_free(json);
        }
        free(written);
        tamis_free(text);
    }
    free(read_all(folder, "release.sdmx.csv"));
    free(read_all(folder, "release.xlsx"));
    assert_int_equal(rmdir(folder), 0);
    char *text;
    assert_int_equal(tamis_release_text(&text, r, NULL), TAMIS_OK);
    assert_non_null(strstr(text, "releases in one ledger"));
    assert_non_null(strstr(text, "Standard errors and intervals include both sampling error and noise."));
    assert_non_null(strstr(text, "/out:\n  report.html"));
    tamis_free(text);
    tamis_release_free(r);
    tamis_plan_free(plan);
}

static void rights_are_what_the_umask_leaves(void **state)
{
    (void)state;
    static const mode_t cases[][3] = {{022, 0755, 0644}, {077, 0700, 0600}, {027, 0750, 0640}, {002, 0775, 0664}};
    tamis_plan *plan = plan_of(SRS, "20", STATISTICS);
    array_engine engine = array_engine_of(rows, 8);
    char folder[100], file[120];
    snprintf(folder, sizeof folder, "%s/out", place);
    snprintf(file, sizeof file, "%s/release.csv", folder);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mode_t before = umask(cases[i][0]);
        tamis_release_free(run(plan, &engine, folder));
        umask(before);
        assert_int_equal(rights_of(folder), cases[i][1]);
        assert_int_equal(rights_of(file), cases[i][2]);
        remove_files(folder);
    }
    tamis_plan_free(plan);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    tamis_plan *plan = plan_of(SRS, "20", "  - {count: units, by: g}\n  - {mean: x}\n");
    array_engine engine = array_engine_of(rows, 8);
    tamis_release *release = NULL;
    tamis_error err = {0};
    char folder[100];
    snprintf(folder, sizeof folder, "%s/out", place);
    ALLOCATIONS_FAIL(k_ + 1 + k_ / 40, tmi_release_with(&release, plan, &engine.engine, &(tmi_run){.folder = folder}, &err), {
        assert_null(release);
        assert_int_equal(entries(place), 0);
    });
    remove_files(folder);
    char *text = NULL;
    EVERY_ALLOCATION_FAILS(tamis_release_text(&text, release, &err), assert_null(text));
    tamis_free(text);
    tamis_release_free(release);
    tamis_plan_free(plan);
}

/* ---- texts of odd plans ---- */

static tamis_plan *odd_plan(const char *columns, const char *statistics)
{
    char text[2048];
    tamis_plan *plan;
    tamis_error err = {0};
    snprintf(text, sizeof text,
             "tamis: 1\nsurvey: s\nsource: {file: a.csv}\ndesign: {" SRS "}\n"
             "privacy: {unit: person, epsilon: 20}\ncolumns:\n%sstatistics:\n%s",
             columns, statistics);
    if (tamis_plan_read_text(&plan, "p.yaml", text, strlen(text), &err) != TAMIS_OK) fail_msg("%s", err.message);
    return plan;
}

static void what_is_too_large_is_null_with_a_reason(void **state)
{
    (void)state;
    tamis_plan *plan = odd_plan("  x: {from: 0, to: 1.7e308, step: 1e300}\n", "  - {total: x}\n");
    array_row large[8];
    for (size_t i = 0; i < 8; i++) large[i] = (array_row){.x = 1e308};
    array_engine engine = array_engine_of(large, 8);
    tamis_release *r = run(plan, &engine, NULL);
    const tmi_result *total = &r->results.list[0];
    assert_true(isnan(total->estimate) && isnan(total->lower) && isnan(total->upper));
    assert_string_equal(total->reason, "larger than numbers in the output can be");
    char *text;
    assert_int_equal(tamis_release_json(&text, r, NULL), TAMIS_OK);
    assert_non_null(strstr(text, "\"interval\": null"));
    tamis_free(text);
    tamis_release_free(r);
    tamis_plan_free(plan);
}

/* Two cuts of a number are one column, and rows with different conditions differ. */
static void csv_that_tells_results_apart(void **state)
{
    (void)state;
    tamis_plan *plan = odd_plan("  x: {from: 0, to: 9, step: 1}\n",
                                "  - {count: units, by: {x: [5]}}\n  - {count: units, by: {x: [3]}}\n"
                                "  - {mean: x, where: {x: {from: 2}}}\n  - {mean: x, where: {x: {from: 3}}}\n");
    tamis_release r = {0};
    char *text;
    assert_int_equal(tmi_schedule_make(&r.schedule, plan, NULL, NULL), TAMIS_OK);
    assert_int_equal(tmi_results_make(&r.results, plan, &r.schedule, NULL), TAMIS_OK);
    assert_int_equal(tamis_release_csv(&text, &r, NULL), TAMIS_OK);
    static const char *const lines[] = {"statistic,column,where,x,estimate,", "\ncount,,,\"[0,5)\",", "\ncount,,,\"[3,9]\",",
                                        "\nmean,x,x=2..,,", "\nmean,x,x=3..,,"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (!strstr(text, lines[i])) fail_msg("%s\n%s", lines[i], text);
    tamis_free(text);
    tmi_results_clear(&r.results);
    tmi_schedule_clear(&r.schedule);
    tamis_plan_free(plan);
}

/* No two columns of one name, no formula; the engine is not asked, so any names will do. */
static void csv_for_spreadsheets(void **state)
{
    (void)state;
    tamis_plan *plan = odd_plan("  se: {values: ['=1+1', '@x', '-1+2', '+a,b', '-1', '+2.5', '-']}\n"
                                "  by_se: {values: [u]}\n",
                                "  - {count: units, by: se}\n  - {count: units, by: by_se}\n");
    tamis_release r = {0};
    char *text;
    assert_int_equal(tmi_schedule_make(&r.schedule, plan, NULL, NULL), TAMIS_OK);
    assert_int_equal(tmi_results_make(&r.results, plan, &r.schedule, NULL), TAMIS_OK);
    assert_int_equal(tamis_release_csv(&text, &r, NULL), TAMIS_OK);
    assert_string_equal(
        text, "statistic,column,where,by_by_se,by_se,estimate,se,sampling_se,noise_sd,cv,df,lower,upper,confidence,covers,"
              "reason,outside_range,notes\n"
              "count,,,'=1+1,,,,,,,,,,,,,,\ncount,,,'@x,,,,,,,,,,,,,,\ncount,,,'-1+2,,,,,,,,,,,,,,\n"
              "count,,,\"'+a,b\",,,,,,,,,,,,,,\ncount,,,-1,,,,,,,,,,,,,,\ncount,,,+2.5,,,,,,,,,,,,,,\ncount,,,-,,,,,,,,,,,,,,\n"
              "count,,,,u,,,,,,,,,,,,,\n");
    tamis_free(text);
    tmi_results_clear(&r.results);
    tmi_schedule_clear(&r.schedule);
    tamis_plan_free(plan);
}

/* ---- with DuckDB ---- */

static void the_example_survey(void **state)
{
    (void)state;
    tamis_plan *plan;
    tamis_release *r;
    tamis_error err = {0};
    assert_int_equal(tamis_plan_read(&plan, TESTS_FOLDER "/../examples/api/plan.yaml", &err), TAMIS_OK);
    char ledger[100];
    /* not beside the plan: nothing is written there, and no charge is found */
    snprintf(ledger, sizeof ledger, "%s/ledger", place);
    tamis_release_options options = {.size = sizeof options, .ledger = ledger};
    bits_from_seed(7);
    tamis_status status = tamis_release_new(&r, plan, NULL, &options, &err);
    if (status != TAMIS_OK) fail_msg("%s", err.message);
    /* R: table(stype), tapply of (4000 - enroll)^2, 2 enroll (4000 - enroll), enroll^2 by stype */
    assert_truth(r, "rows, sums and squares of enroll by stype",
                 (int64_t[]){1822647600, 420848800, 28503600, 329297683, 169956634, 28745683, 211838483, 146251034, 41910483, 0,
                             0, 0},
                 12);
    tamis_release_free(r);

    assert_int_equal(unlink(ledger), 0);
    options = (tamis_release_options){.size = sizeof(tamis_release_options), .engine = (tamis_engine)9};
    assert_int_equal(tamis_release_new(&r, plan, NULL, &options, &err), TAMIS_INVALID);
    assert_string_equal(err.message, "engine: 9 is unknown; use one of tamis_engine");
    options.engine = TAMIS_ENGINE_POSTGRES;
    assert_int_equal(tamis_release_new(&r, plan, NULL, &options, &err), TAMIS_INVALID);
    assert_string_equal(err.message, "engine: postgres does not read this source; use duckdb or memory");
    tamis_plan_free(plan);
}

static void bad_arguments_are_named(void **state)
{
    (void)state;
    tamis_release *release;
    tamis_error err = {0};
    char *text = NULL;
    assert_int_equal(tamis_release_new(NULL, NULL, NULL, NULL, &err), TAMIS_INVALID);
    assert_int_equal(tamis_release_new(&release, NULL, NULL, NULL, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "plan"));
    assert_int_equal(tamis_release_json(&text, NULL, &err), TAMIS_INVALID);
    assert_int_equal(tamis_release_csv(&text, NULL, &err), TAMIS_INVALID);
    assert_int_equal(tamis_release_text(&text, NULL, &err), TAMIS_INVALID);
    assert_int_equal(tamis_release_measurements_json(&text, NULL, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "release"));
    assert_int_equal(tamis_release_json(NULL, NULL, &err), TAMIS_INVALID);
    tamis_release_free(NULL);
}

int main(void)
{
    const struct CMUnitTest group[] = {
        cmocka_unit_test(integers_plus_noise),
        cmocka_unit_test(noise_is_drawn_before_the_data_are_read),
        cmocka_unit_test_setup_teardown(a_contradiction_stops_before_values_are_read, make_place, remove_place),
        cmocka_unit_test_setup_teardown(every_number_that_the_design_fixes_is_compared, make_place, remove_place),
        cmocka_unit_test_setup_teardown(a_unit_in_two_strata_is_noticed, make_place, remove_place),
        cmocka_unit_test(rows_are_not_counted_where_they_are_protected),
        cmocka_unit_test_setup_teardown(a_cancelled_run_leaves_nothing, make_place, remove_place),
        cmocka_unit_test_setup_teardown(an_existing_folder_is_refused_first, make_place, remove_place),
        cmocka_unit_test_setup_teardown(the_folder_holds_what_the_texts_say, make_place, remove_place),
        cmocka_unit_test_setup_teardown(rights_are_what_the_umask_leaves, make_place, remove_place),
        cmocka_unit_test_setup_teardown(every_allocation_may_fail, make_place, remove_place),
        cmocka_unit_test(what_is_too_large_is_null_with_a_reason),
        cmocka_unit_test(csv_for_spreadsheets),
        cmocka_unit_test(csv_that_tells_results_apart),
        cmocka_unit_test_setup_teardown(the_example_survey, make_place, remove_place),
        cmocka_unit_test(bad_arguments_are_named),
    };
    return cmocka_run_group_tests(group, NULL, NULL);
}
