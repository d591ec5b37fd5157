/* How far private quantiles are off: 36 cells of sample size, epsilon and quantile, and heaped data.
 *
 *     bench-quantile_error [runs per cell]
 *
 * The data: lognormal(10.5, 0.8), whole numbers, on the grid 0, 1 ... 10^6, rows replaced. A line per cell has the median of
 * |estimate / quantile of the data - 1| by each method, and by the one that `auto` chooses. Seeds are fixed for the data; the
 * noise is that of the library. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tamis/experimental/quantile.h>

#include "timing.h"

#define MOST 10000
#define MOST_RUNS 10000

static double uniform(uint64_t *stream)
{
    uint64_t z = *stream += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return ((double)((z ^ z >> 31) >> 11) + 0.5) * 0x1p-53;
}

static tamis_number *number(const char *text)
{
    tamis_number *x;
    must(tamis_number_read(&x, text, NULL));
    return x;
}

typedef struct method {
    const char *name, *log_unit;
    tamis_quantile_method method;
} method;

static const method methods[] = {
    {"inverse", NULL, TAMIS_QUANTILE_INVERSE},
    {"inverse, log", "1", TAMIS_QUANTILE_INVERSE},
    {"threshold", NULL, TAMIS_QUANTILE_THRESHOLD},
    {"auto", NULL, TAMIS_QUANTILE_AUTO},
};
#define METHODS (sizeof methods / sizeof *methods)

static tamis_quantile *quantile_of(const method *m, const char *at, const char *epsilon, size_t n)
{
    tamis_number *x[] = {number("0"), number("1000000"), number("1"),
                         number(at),  number(epsilon),   m->log_unit ? number(m->log_unit) : NULL};
    const tamis_number *const list[] = {x[3]};
    const tamis_quantile_setup setup = {.from = x[0],
                                        .to = x[1],
                                        .step = x[2],
                                        .at = list,
                                        .at_count = 1,
                                        .epsilon = x[4],
                                        .method = m->method,
                                        .log_unit = x[5],
                                        .complete = 1,
                                        .rows = (int64_t)n};
    tamis_quantile *quantile;
    must(tamis_quantile_new(&quantile, &setup, NULL));
    for (size_t i = 0; i < sizeof x / sizeof *x; i++) tamis_number_free(x[i]);
    return quantile;
}

static double truth(const double *values, size_t n, double q)
{
    static double sorted[MOST];
    memcpy(sorted, values, n * sizeof *values);
    qsort(sorted, n, sizeof *sorted, timing_compare);
    const size_t rank = (size_t)ceil(q * (double)n);
    return sorted[rank > 0 ? rank - 1 : 0];
}

static void fill(double *values, size_t n, uint64_t *stream)
{
    for (size_t i = 0; i < n; i++)
        values[i] = round(exp(10.5 + 0.8 * sqrt(-2 * log(uniform(stream))) * cos(2 * M_PI * uniform(stream))));
}

static void cell(size_t n, const char *epsilon, const char *at, int runs, tamis_rng *rng)
{
    static double values[MOST], errors[METHODS][MOST_RUNS];
    tamis_quantile *quantile[METHODS];
    uint64_t stream = n;
    for (size_t m = 0; m < METHODS; m++) quantile[m] = quantile_of(&methods[m], at, epsilon, n);
    for (int run = 0; run < runs; run++) {
        fill(values, n, &stream);
        const double right = truth(values, n, atof(at));
        for (size_t m = 0; m < METHODS; m++) {
            int64_t point;
            must(tamis_quantile_prepare(quantile[m], rng, NULL));
            must(tamis_quantile_values(&point, quantile[m], values, NULL, n, rng, NULL));
            errors[m][run] = fabs((double)point / right - 1);
        }
    }
    printf("{\"n\": %zu, \"epsilon\": %s, \"at\": %s, \"errors\": {", n, epsilon, at);
    for (size_t m = 0; m < METHODS; m++) {
        qsort(errors[m], (size_t)runs, sizeof **errors, timing_compare);
        printf("%s\"%s\": %.5f", m > 0 ? ", " : "", methods[m].name, errors[m][runs / 2]);
        tamis_quantile_free(quantile[m]);
    }
    puts("}}");
    fflush(stdout);
}

/* 30 % of 1000 records at the median, the others on both sides: how often it is returned exactly. Three quartiles by the methods
 * for several. */
static void heaped(const char *name, tamis_quantile_method method, const char *const *at, size_t count, int runs, tamis_rng *rng)
{
    enum { RECORDS = 1000 };
    tamis_number *x[] = {number("0"), number("1000000"), number("1")}, *list[3];
    uint64_t stream = 30;
    double values[RECORDS];
    int exact = 0;
    for (size_t i = 0; i < count; i++) list[i] = number(at[i]);
    const tamis_quantile_setup setup = {.from = x[0],
                                        .to = x[1],
                                        .step = x[2],
                                        .at = (const tamis_number *const *)list,
                                        .at_count = count,
                                        .epsilon = x[2],
                                        .method = method};
    tamis_quantile *quantile;
    must(tamis_quantile_new(&quantile, &setup, NULL));
    for (int run = 0; run < runs; run++) {
        int64_t points[3];
        fill(values, RECORDS, &stream);
        for (size_t i = 0; i < RECORDS; i++)
            values[i] = i < 300 ? 36000 : i < 650 ? fmod(values[i], 36000) : 36001 + fmod(values[i], 100000);
        must(tamis_quantile_prepare(quantile, rng, NULL));
        must(tamis_quantile_values(points, quantile, values, NULL, RECORDS, rng, NULL));
        exact += points[count / 2] == 36000;
    }
    printf("{\"heaped\": \"%s\", \"runs\": %d, \"exact\": %.4f}\n", name, runs, (double)exact / runs);
    fflush(stdout);
    tamis_quantile_free(quantile);
    for (size_t i = 0; i < 3; i++) tamis_number_free(x[i]);
    for (size_t i = 0; i < count; i++) tamis_number_free(list[i]);
}

int main(int argc, char **argv)
{
    static const char *const median[] = {"0.5"}, *const quartiles[] = {"0.25", "0.5", "0.75"};
    static const size_t sizes[] = {100, 1000, 10000};
    static const char *const epsilons[] = {"0.1", "0.5", "1", "2"}, *const ats[] = {"0.5", "0.9", "0.99"};
    const int runs = argc > 1 && atoi(argv[1]) > 0 ? atoi(argv[1]) : 200;
    tamis_rng *rng;
    must(tamis_rng_new(&rng, NULL));
    heaped("inverse", TAMIS_QUANTILE_INVERSE, median, 1, runs, rng);
    heaped("joint, quartiles", TAMIS_QUANTILE_JOINT, quartiles, 3, runs, rng);
    heaped("split, quartiles", TAMIS_QUANTILE_SPLIT, quartiles, 3, runs, rng);
    for (size_t i = 0; i < 36; i++)
        cell(sizes[i / 12], epsilons[i / 3 % 4], ats[i % 3], runs < MOST_RUNS ? runs : MOST_RUNS, rng);
    tamis_rng_free(rng);
    return 0;
}
