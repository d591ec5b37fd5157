/* Repeated draws for the measured coverage of intervals; the stream is fixed, so a result is the same each time. */
#ifndef TESTS_INFERENCE_INTERVAL_COVERAGE_H
#define TESTS_INFERENCE_INTERVAL_COVERAGE_H

#include "tests/rng/scripted_bits.h"

typedef struct draws {
    tamis_rng *rng;
    tamis_noise *noise;
} draws;

static draws draws_begin(const char *scale)
{
    draws d;
    tamis_number *x;
    bits_from_seed(20260729);
    assert_int_equal(tamis_rng_new(&d.rng, NULL), TAMIS_OK);
    assert_int_equal(tamis_number_read(&x, scale, NULL), TAMIS_OK);
    assert_int_equal(tamis_noise_laplace_new(&d.noise, x, NULL), TAMIS_OK);
    tamis_number_free(x);
    return d;
}

static void draws_end(draws d)
{
    tamis_noise_free(d.noise);
    tamis_rng_free(d.rng);
}

static double draw_noise(const draws *d)
{
    int64_t x;
    assert_int_equal(tamis_noise_draw(&x, 1, d->noise, d->rng, NULL), TAMIS_OK);
    return (double)x;
}

/* The first n of `units` become a simple random sample of them. */
static void draw_sample(size_t *units, size_t population, size_t n, const draws *d)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t j;
        assert_int_equal(tamis_uniform(&j, population - i, d->rng, NULL), TAMIS_OK);
        size_t unit = units[i + j];
        units[i + j] = units[i];
        units[i] = unit;
    }
}

#endif
