/* The privacy of a Horvitz-Thompson total under simple random sampling: one JSON object a line, the best of several
 * runs. Certified to 1e-9, the proof that no total inside the window is worse included. Beside it, at a size where that
 * ends, the direct way: every pair of totals, every count, in doubles and without any guarantee.                    */
#include <math.h>
#include <stdio.h>
#include <tamis/tamis.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static const struct { int64_t N, n, low, high; const char *eps; } rows[] = {
    {330000000, 1000000, 1000000, 329000000, "1e-4"}, {330000000, 1000000, 1000000, 329000000, "0"},
    {330000000, 1000, 1000000, 329000000, "1e-4"},    {330000000, 10000, 1000000, 329000000, "1e-4"},
    {330000000, 100000, 1000000, 329000000, "1e-4"},  {4000, 400, 400, 3600, "0.01"},
};

static double log_choose(double n, double k)
{
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
}

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

int main(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double best = 1e9, start = now();
        tamis_bound delta = {0, 1};
        tamis_ht_srs srs = {rows[i].N, rows[i].n, rows[i].low, rows[i].high, TAMIS_NOISE_NONE, NULL};
        tamis_ht_worst worst;
        tamis_number *eps;
        if (tamis_number_read(&eps, rows[i].eps, NULL)) return 1;
        for (int runs = 0; runs < 2 || (now() - start < 0.3 && runs < 100); runs++) {
            double before = now();
            if (tamis_ht_srs_delta(&delta, &worst, &srs, eps, NULL) || delta.upper - delta.lower > 1e-9 * delta.upper) {
                fprintf(stderr, "not certified\n");
                return 1;
            }
            best = fmin(best, now() - before);
        }
        tamis_number_free(eps);
        printf("{\"what\": \"delta of a Horvitz-Thompson total, N=%lld n=%lld eps=%s\", \"n\": 1, \"seconds\": %.9f, "
               "\"delta\": %.17g, \"blocks\": %lld}\n", (long long)rows[i].N, (long long)rows[i].n, rows[i].eps, best,
               delta.upper, (long long)worst.blocks);
    }
    double before = now(), delta = direct(4000, 400, 400, 3600, exp(0.01));
    printf("{\"what\": \"the direct way, uncertified, N=4000 n=400 eps=0.01\", \"n\": 1, \"seconds\": %.9f, \"delta\": "
           "%.17g}\n", now() - before, delta);
    tamis_thread_done();
    return 0;
}
