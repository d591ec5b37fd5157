/* How long it takes to draw a sample: one JSON object a line. Sizes are integers from 100 to 2099, by a fixed recursion;
 * "ready" is the time from probabilities to a sampler, once; "seconds" that of one draw. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tamis/experimental.h>

#include "timing.h"

static const struct {
    const char *method;
    int64_t population, sample;
} rows[] = {
    {"srs", 1000000, 10000},
    {"bernoulli", 1000000, 10000},
    {"poisson", 1000000, 10000},
    {"systematic", 1000000, 10000},
    {"pivotal", 1000000, 10000},
    {"tille", 1000000, 10000},
    {"stratified", 1000000, 10000},
    {"sampford", 100000, 1000},
    {"conditional_poisson", 100000, 1000},
    {"conditional_poisson", 1000000, 1000},
    {"sampford", 500, 20},
    {"conditional_poisson", 5000, 200},
};

static void make_probabilities(tamis_number **pi, int64_t population, int64_t sample)
{
    tamis_number **sizes = calloc((size_t)population, sizeof *sizes);
    uint64_t state = 12345;
    char text[32];
    for (int64_t i = 0; i < population; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        snprintf(text, sizeof text, "%d", (int)(100 + (state >> 40) % 2000));
        must(tamis_number_read(&sizes[i], text, NULL));
    }
    must(tamis_pps_probabilities(pi, (const tamis_number *const *)sizes, (size_t)population, sample, NULL));
    for (int64_t i = 0; i < population; i++) tamis_number_free(sizes[i]);
    free(sizes);
}

/* 1000 strata, each a simple random sample of its hundredth part. */
static tamis_status stratify(tamis_design **design, int64_t population, int64_t sample, tamis_error *err)
{
    enum { STRATA = 1000 };
    tamis_design *strata[STRATA];
    for (int h = 0; h < STRATA; h++) must(tamis_design_srs(&strata[h], population / STRATA, sample / STRATA, err));
    return tamis_design_take_strata(design, strata, STRATA, err);
}

static tamis_status make(tamis_design **design, const char *method, tamis_number *const *pi, int64_t population, int64_t sample,
                         tamis_error *err)
{
    const tamis_number *const *list = (const tamis_number *const *)pi;
    tamis_method of;
    if (strcmp(method, "srs") == 0) return tamis_design_srs(design, population, sample, err);
    if (strcmp(method, "stratified") == 0) return stratify(design, population, sample, err);
    if (strcmp(method, "bernoulli") == 0) return tamis_design_bernoulli(design, population, list[0], err);
    tamis_status status = tamis_method_of_name(&of, method, err);
    return status != TAMIS_OK ? status : tamis_design_pps(design, of, list, (size_t)population, err);
}

int main(void)
{
    tamis_rng *rng = NULL;
    tamis_error err = {0};
    if (tamis_rng_new(&rng, &err) != TAMIS_OK) return 1;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tamis_number **pi = calloc((size_t)rows[i].population, sizeof *pi);
        tamis_design *design = NULL;
        tamis_sampler *sampler = NULL;
        tamis_drawn drawn = {0};
        make_probabilities(pi, rows[i].population, rows[i].sample);
        static timing preparing, drawing;
        for (timing_begin(&preparing, 0.1); timing_goes_on(&preparing);) {
            tamis_sampler_free(sampler);
            tamis_design_free(design);
            sampler = NULL;
            design = NULL;
            double start = now();
            if (make(&design, rows[i].method, pi, rows[i].population, rows[i].sample, &err) != TAMIS_OK ||
                tamis_sampler_new(&sampler, design, NULL, &err) != TAMIS_OK) {
                fprintf(stderr, "%s: %s\n", rows[i].method, err.message);
                return 1;
            }
            timing_add(&preparing, now() - start);
        }
        for (timing_begin(&drawing, 0.1); timing_goes_on(&drawing);) {
            double start = now();
            if (tamis_sampler_draw(&drawn, sampler, rng, NULL, &err) != TAMIS_OK) return 1;
            timing_add(&drawing, now() - start);
            tamis_drawn_clear(&drawn);
        }
        printf("{\"what\": \"draw, %s, %lld of %lld\", \"n\": 1, \"ready\": %.6f, \"seconds\": %.6f}\n", rows[i].method,
               (long long)rows[i].sample, (long long)rows[i].population, timing_median(&preparing), timing_median(&drawing));
        fflush(stdout);
        tamis_sampler_free(sampler);
        tamis_design_free(design);
        for (int64_t k = 0; k < rows[i].population; k++) tamis_number_free(pi[k]);
        free(pi);
    }
    tamis_rng_free(rng);
    tamis_thread_done();
    return 0;
}
