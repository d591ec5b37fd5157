/* The privacy of a Horvitz-Thompson total under simple random sampling: one JSON object per line.
 * Certified to 1e-9, the proof that no total inside the window is worse included. Beside it, at a size where that
 * ends, the direct way: every pair of totals, every count, in doubles and without any guarantee.
 *
 * The growth with n is printed as an exponent from n = 10^3 to 10^6. One total costs O(sqrt n). At a fixed eps a small
 * sample is far out in its tail, where a few bounds take the whole window; a large one is not, and the blocks near the
 * ends then number O(sqrt n) as well. So the exponent lies between a half and one.                                  */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <tamis/experimental.h>

#include "timing.h"

#define COUNTRY(n) 330000000, n, 1000000, 329000000

static const struct {
    int64_t N, n, low, high;
    tamis_noise_kind noise;
    const char *scale, *eps, *delta;
} rows[] = {
    {COUNTRY(1000), TAMIS_NOISE_NONE, NULL, "1e-4", NULL},
    {COUNTRY(10000), TAMIS_NOISE_NONE, NULL, "1e-4", NULL},
    {COUNTRY(100000), TAMIS_NOISE_NONE, NULL, "1e-4", NULL},
    {COUNTRY(1000000), TAMIS_NOISE_NONE, NULL, "1e-4", NULL},
    {COUNTRY(1000000), TAMIS_NOISE_NONE, NULL, "0", NULL},
    {COUNTRY(1000000), TAMIS_NOISE_LAPLACE, "10000", "1e-4", NULL},
    {COUNTRY(1000000), TAMIS_NOISE_GAUSSIAN, "10000", "1e-4", NULL},
    {COUNTRY(1000000), TAMIS_NOISE_LAPLACE, NULL, "1e-4", "1e-8"},
    {COUNTRY(1000000), TAMIS_NOISE_GAUSSIAN, NULL, "1e-4", "1e-8"},
    {4000, 400, 400, 3600, TAMIS_NOISE_NONE, NULL, "0.01", NULL},
    {4000, 400, 400, 3600, TAMIS_NOISE_LAPLACE, "20", "0.01", NULL},
};

static double log_choose(double n, double k) { return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1); }

static double mass(double N, double t, double n, double y)
{
    if (y < 0 || y > t || n - y > N - t || y > n) return 0;
    return exp(log_choose(t, y) + log_choose(N - t, n - y) - log_choose(N, n));
}

static double direct(int64_t N, int64_t n, int64_t low, int64_t high, double E)
{
    double best = 0;
    for (int64_t t = low; t < high; t++) {
        double minus = 0, plus = 0;
        for (int64_t y = 0; y <= n; y++) {
            double p = mass((double)N, (double)t, (double)n, (double)y);
            double q = mass((double)N, (double)t + 1, (double)n, (double)y);
            minus += fmax(0, p - E * q);
            plus += fmax(0, q - E * p);
        }
        best = fmax(best, fmax(minus, plus));
    }
    return best;
}

/* The time of one row; negative if it was not certified. */
static double measure(size_t i, tamis_bound *value, tamis_ht_worst *worst)
{
    static timing t;
    tamis_number *eps = NULL, *delta = NULL, *scale = NULL;
    bool fine = !tamis_number_read(&eps, rows[i].eps, NULL) &&
                !tamis_number_read(&delta, rows[i].delta ? rows[i].delta : "0", NULL) &&
                (!rows[i].scale || !tamis_number_read(&scale, rows[i].scale, NULL));
    tamis_ht_srs srs = {rows[i].N, rows[i].n, rows[i].low, rows[i].high, rows[i].noise, scale};
    *worst = (tamis_ht_worst){-1, 0, 0};
    for (timing_begin(&t, 0.3); fine && timing_goes_on(&t);) {
        double before = now();
        tamis_status status = rows[i].delta ? tamis_ht_srs_scale(value, &srs, eps, delta, NULL)
                                            : tamis_ht_srs_delta(value, worst, &srs, eps, NULL);
        timing_add(&t, now() - before);
        fine = status == TAMIS_OK && value->upper - value->lower <= 1e-9 * value->upper;
    }
    tamis_number_free(eps);
    tamis_number_free(delta);
    tamis_number_free(scale);
    return fine ? timing_median(&t) : -1;
}

int main(void)
{
    static const char *const noises[] = {"no", "Laplace", "Gaussian"};
    double first = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tamis_bound value;
        tamis_ht_worst worst;
        double taken = measure(i, &value, &worst);
        if (taken < 0) {
            fprintf(stderr, "not certified\n");
            return 1;
        }
        printf("{\"what\": \"%s of a Horvitz-Thompson total, %s noise, N=%lld n=%lld eps=%s\", \"n\": 1, \"seconds\": "
               "%.9f, \"value\": %.17g, \"blocks\": %lld}\n",
               rows[i].delta ? "scale" : "delta", noises[rows[i].noise], (long long)rows[i].N, (long long)rows[i].n, rows[i].eps,
               taken, value.upper, (long long)worst.blocks);
        if (i == 0) first = taken;
        if (i == 3) printf("{\"what\": \"growth from n=10^3 to 10^6\", \"exponent\": %.3f}\n", log10(taken / first) / 3);
    }
    static timing t;
    double delta = 0;
    for (timing_begin(&t, 0); timing_goes_on(&t);) {
        double before = now();
        delta = direct(4000, 400, 400, 3600, exp(0.01));
        timing_add(&t, now() - before);
    }
    printf("{\"what\": \"the direct way, uncertified, N=4000 n=400 eps=0.01\", \"n\": 1, \"seconds\": %.9f, \"value\": "
           "%.17g}\n",
           timing_median(&t), delta);
    tamis_thread_done();
    return 0;
}
