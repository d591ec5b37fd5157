/* Private quantiles of doubles in memory, one core: one pass, and what is behind it. bench/quantile_peers.py times numpy,
 * OpenDP and diffprivlib on the same numbers.
 *
 *     bench-quantile [seconds per measurement]
 *
 * The data: lognormal(10.5, 0.8), rounded to whole numbers, unsorted, on the grid 0, 1 ... 10^6; epsilon 1. Time is that of the
 * processor. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <tamis/experimental/quantile.h>

#include "timing.h"

#define MOST 10000000
#define DECILES 9

static double seconds = 1;

static double cpu(void) { return now_by(CLOCK_PROCESS_CPUTIME_ID); }

static double uniform(uint64_t *stream)
{
    uint64_t z = *stream += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return ((double)((z ^ z >> 31) >> 11) + 0.5) * 0x1p-53;
}

/* One quantile, or with at = NULL the nine deciles. */
static tamis_quantile *quantile_at(const char *at, const char *epsilon, tamis_quantile_method method)
{
    tamis_quantile *quantile;
    tamis_number *from, *to, *step, *eps, *where[DECILES];
    const size_t count = at ? 1 : DECILES;
    must(tamis_number_read(&from, "0", NULL));
    must(tamis_number_read(&to, "1000000", NULL));
    must(tamis_number_read(&step, "1", NULL));
    for (size_t i = 0; i < count; i++) {
        char text[16];
        snprintf(text, sizeof text, "%zu/10", i + 1);
        must(tamis_number_read(&where[i], at ? at : text, NULL));
    }
    must(tamis_number_read(&eps, epsilon, NULL));
    const tamis_quantile_setup setup = {.from = from,
                                        .to = to,
                                        .step = step,
                                        .at = (const tamis_number *const *)where,
                                        .at_count = count,
                                        .epsilon = eps,
                                        .method = method};
    must(tamis_quantile_new(&quantile, &setup, NULL));
    tamis_number_free(from);
    tamis_number_free(to);
    tamis_number_free(step);
    for (size_t i = 0; i < count; i++) tamis_number_free(where[i]);
    tamis_number_free(eps);
    return quantile;
}

static void measure(const char *what, const double *values, size_t n, const char *at, const char *epsilon,
                    tamis_quantile_method method, tamis_rng *rng)
{
    timing t;
    tamis_quantile *quantile = quantile_at(at, epsilon, method);
    for (timing_begin(&t, seconds); timing_goes_on(&t);) {
        const double start = cpu();
        int64_t points[DECILES];
        must(tamis_quantile_prepare(quantile, rng, NULL));
        must(tamis_quantile_values(points, quantile, values, NULL, n, rng, NULL));
        timing_add(&t, cpu() - start);
    }
    tamis_quantile_free(quantile);
    printf("{\"what\": \"%s\", \"n\": %zu, \"seconds\": %.9f}\n", what, n, timing_median(&t));
    fflush(stdout);
}

int main(int argc, char **argv)
{
    tamis_rng *rng;
    uint64_t stream = 15;
    double *values = malloc(MOST * sizeof *values);
    if (argc > 1 && atof(argv[argc - 1]) > 0) seconds = atof(argv[argc - 1]); /* bench/run gives a folder, which is not needed */
    if (!values) return 1;
    must(tamis_rng_new(&rng, NULL));
    for (size_t i = 0; i + 1 < MOST; i += 2) {
        const double r = sqrt(-2 * log(uniform(&stream))), angle = 2 * M_PI * uniform(&stream);
        values[i] = round(exp(10.5 + 0.8 * r * cos(angle)));
        values[i + 1] = round(exp(10.5 + 0.8 * r * sin(angle)));
    }
    measure("one quantile: median", values, MOST, "1/2", "1", TAMIS_QUANTILE_AUTO, rng);
    measure("one quantile: ninth decile", values, MOST, "9/10", "1", TAMIS_QUANTILE_AUTO, rng);
    measure("one quantile: median, epsilon 0.01", values, MOST, "1/2", "0.01", TAMIS_QUANTILE_AUTO, rng);
    measure("one quantile of 10^6: median", values, 1000000, "1/2", "1", TAMIS_QUANTILE_AUTO, rng);
    measure("one quantile of 10^3: median", values, 1000, "1/2", "1", TAMIS_QUANTILE_AUTO, rng);
    measure("nine deciles of 10^6: joint", values, 1000000, NULL, "1", TAMIS_QUANTILE_JOINT, rng);
    measure("nine deciles of 10^6: split", values, 1000000, NULL, "1", TAMIS_QUANTILE_SPLIT, rng);
    measure("nine deciles of 10^6: tree", values, 1000000, NULL, "1", TAMIS_QUANTILE_TREE, rng);
    measure("nine deciles of 10^6: inverse", values, 1000000, NULL, "1", TAMIS_QUANTILE_INVERSE, rng);
    tamis_rng_free(rng);
    free(values);
    return 0;
}
