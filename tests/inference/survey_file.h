/* A small survey in a file of a temporary folder, made anew for each seed, and the true tables of a plan's schedule. Values are
 * on their grids and within their bounds, so that the unprotected estimates are what a release without noise would be. */
#ifndef TESTS_INFERENCE_SURVEY_FILE_H
#define TESTS_INFERENCE_SURVEY_FILE_H

#include <stdio.h>
#include <unistd.h>

#include "estimate/estimate.h"
#include "measure/request/request.h"
#include "release/release.h"
#include "release/second_stage.h"
#include "tests/inference/scene.h"
#include "tests/rng/scripted_bits.h"

#define SURVEY_ROWS 120 /* 48 of stratum p, 72 of q; clusters of six, of one stratum each */

/* What the file has: z, whether g is a, and whether x is there. */
static double survey_z[SURVEY_ROWS];
static bool survey_a[SURVEY_ROWS], survey_x[SURVEY_ROWS];

static char survey_folder[64], survey_path[100], frame_path[100];
static uint64_t survey_word = 5;

static int survey_random(int n) { return (int)(next_number(&survey_word) % (uint64_t)n); }

/* Between 1.5 and 8.75; each thirty rows have all of them. */
static double survey_weight(int row) { return 1.5 + 0.25 * (row * 7 % 30); }

/* What is missing for all inclusion probabilities of a frame, the sample's first, to add up to the sample: in units that were not
 * drawn. */
static double survey_missing(void)
{
    double sum = SURVEY_ROWS;
    for (int i = 0; i < SURVEY_ROWS; i++) sum -= 1 / survey_weight(i);
    return sum;
}

/* x and y may be missing, and so may g; z, h, s, c, the weights, q, r and t are always there. A frame of five times as many
 * units. */
static int survey_begin(void **state)
{
    (void)state;
    strcpy(survey_folder, "/tmp/tamis-test-XXXXXX");
    if (!mkdtemp(survey_folder)) return -1;
    snprintf(survey_path, sizeof survey_path, "%s/a.csv", survey_folder);
    snprintf(frame_path, sizeof frame_path, "%s/frame.csv", survey_folder);
    FILE *file = fopen(survey_path, "w"), *frame = fopen(frame_path, "w");
    if (!file || !frame) return -1;
    fputs("x,y,z,g,h,s,c,w,u,p,q,r,t\n", file);
    fputs("u,p\n", frame);
    for (int i = 0; i < SURVEY_ROWS; i++) {
        const bool no_x = survey_random(12) == 0, no_y = survey_random(15) == 0;
        char x[20] = "", y[20] = "";
        if (!no_x) snprintf(x, sizeof x, "%g", 10 + 0.5 * survey_random(41));
        if (!no_y) snprintf(y, sizeof y, "%d", 1 + survey_random(5));
        const char *g = i % 17 == 0 ? "" : survey_random(3) ? "a" : "b", *h = (const char *[]){"u", "v", "w"}[survey_random(3)];
        survey_z[i] = survey_random(9) - 4;
        survey_a[i] = *g == 'a';
        survey_x[i] = !no_x;
        fprintf(file, "%s,%s,%g,%s,%s,%s,k%d,%g,u%d,%.17g,%d,%d,%d\n", x, y, survey_z[i], g, h, i < 48 ? "p" : "q", i / 6,
                survey_weight(i), i, 1 / survey_weight(i), i * 37 % 51, i * i % 41, i * i / 7 % 31);
        fprintf(frame, "u%d,%.17g\n", i, 1 / survey_weight(i));
    }
    for (int i = 0; i < 4 * SURVEY_ROWS; i++) fprintf(frame, "v%d,%.17g\n", i, survey_missing() / (4 * SURVEY_ROWS));
    return fclose(file) | fclose(frame);
}

static int survey_end(void **state)
{
    (void)state;
    return unlink(survey_path) | unlink(frame_path) | rmdir(survey_folder);
}

/* `statistics` may go on with other sections. */
static inline tamis_plan *survey_plan(const char *design, const char *privacy, const char *x, const char *statistics)
{
    char text[4096], path[100];
    tamis_plan *plan;
    tamis_error err = {0};
    snprintf(path, sizeof path, "%s/p.yaml", survey_folder);
    snprintf(text, sizeof text,
             "tamis: 1\nsurvey: s\nsource: {file: a.csv}\ndesign: {%s}\nprivacy: {unit: person, %s}\n"
             "columns:\n  x: %s\n  y: {from: 0, to: 6, step: 1}\n  z: {from: -4, to: 4, step: 1}\n  g: {values: [a, b]}\n"
             "  h: {values: [u, v, w]}\n  s: {values: [p, q]}\nstatistics:\n%s",
             design, privacy, x, statistics);
    if (tamis_plan_read_text(&plan, path, text, strlen(text), &err) != TAMIS_OK) fail_msg("%s\n%s", text, err.message);
    return plan;
}

#define SURVEY_X "{from: 10, to: 30, step: 0.5}"
#define SURVEY_X_AND_COMPLETE \
    SURVEY_X "\n  q: {from: 0, to: 50, step: 1, missing: none}\n  r: {from: 0, to: 40, step: 1, missing: none}\n" \
             "  t: {from: 0, to: 30, step: 1, missing: none}"

static inline tmi_engine *survey_engine(const tamis_plan *plan)
{
    tmi_engine *engine;
    tamis_error err = {0};
    if (tmi_engine_for(&engine, plan,
                       &(tamis_estimate_options){.size = sizeof(tamis_estimate_options), .engine = TAMIS_ENGINE_MEMORY}, false,
                       &err) != TAMIS_OK)
        fail_msg("%s", err.message);
    return engine;
}

/* The noisy integers become the true ones. */
static inline void survey_count(scene *c)
{
    tmi_query query;
    tamis_rng *rng;
    tamis_error err = {0};
    tmi_engine *engine = survey_engine(c->plan);
    bits_from_seed(11);
    assert_int_equal(tamis_rng_new(&rng, NULL), TAMIS_OK);
    assert_int_equal(tmi_query_make(&query, &c->s, NULL), TAMIS_OK);
    assert_int_equal(tmi_query_draw(&query, rng, NULL), TAMIS_OK);
    assert_int_equal(tmi_query_make_room(&query, NULL), TAMIS_OK);
    if (query.table_count > 0 && engine->aggregate(engine, query.answers, &query.request, NULL, &err) != TAMIS_OK)
        fail_msg("%s", err.message);
    int64_t **none = calloc(c->s.measurement_count + 1, sizeof *none); /* noise */
    for (size_t i = 0; i < c->s.measurement_count; i++) {
        none[i] = calloc(c->s.measurements[i].numbers, sizeof **none);
        for (size_t k = 0; k < c->s.measurements[i].numbers && !tmi_method_of(c->s.measurements[i].marginal.weighting); k++)
            c->noisy[i][k] = tmi_query_truth(&query, &c->s, i, k);
    }
    assert_int_equal(tmi_add_standard_errors(c->noisy, none, &query, &c->s, NULL), TAMIS_OK);
    for (size_t i = 0; i < c->s.measurement_count; i++) free(none[i]);
    free(none);
    tmi_query_clear(&query);
    tamis_rng_free(rng);
    engine->free(engine);
}

/* The unprotected estimates; the caller clears them. */
static inline void survey_estimate(tmi_results *results, const tamis_plan *plan)
{
    const char *note;
    tamis_error err = {0};
    tmi_engine *engine = survey_engine(plan);
    if (tmi_estimate(results, &note, plan, engine, NULL, &err) != TAMIS_OK) fail_msg("%s", err.message);
    engine->free(engine);
}

#endif
