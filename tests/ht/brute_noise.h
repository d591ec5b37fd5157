/* Discrete noise on the totals of a pair, place by place: delta, and the largest ratio. Beside brute.h, and as independent. */
#ifndef TESTS_HT_BRUTE_NOISE_H
#define TESTS_HT_BRUTE_NOISE_H

#include "tests/ht/brute.h"

#define REACH 36 /* at the scales below less than 10^-15 of the noise is farther away */

typedef struct noisy {
    tamis_noise_kind noise;
    double E, scale, total; /* scale in steps; total: the sum of all unnormalised masses */
    mpq_t step;
    double mass[REACH + 1];
    double worst, pure;
} noisy;

static inline void noise_set(noisy *n, tamis_noise_kind noise, double scale, double E)
{
    n->noise = noise;
    n->scale = scale;
    n->E = E;
    n->total = 0;
    for (int k = 0; k <= REACH; k++) {
        double x = k / scale;
        n->mass[k] = noise == TAMIS_NOISE_DISCRETE_LAPLACE ? exp(-x) : exp(-x * x / 2);
        n->total += (k > 0 ? 2 : 1) * n->mass[k];
    }
    for (int k = 0; k <= REACH; k++) n->mass[k] /= n->total;
}

/* Where the totals of a pair are, in steps of the noise from the first. */
static inline void places(long *at, const brute *b, const noisy *n)
{
    long double step = brute_value(n->step);
    for (int j = 0; j < b->atoms; j++) at[j] = lroundl((b->total[j] - b->total[0]) / step);
}

static inline double gap_at(const brute *b, const noisy *n, const long *at, int near, long place)
{
    double gap = 0;
    for (int j = near; j < b->atoms && at[j] <= place + REACH; j++) {
        long distance = labs(place - at[j]);
        if (distance <= REACH) gap += (double)(b->here[j] - (long double)n->E * b->there[j]) * n->mass[distance];
    }
    return gap;
}

static inline void take_worst(brute *b, void *context)
{
    noisy *n = context;
    static long at[2 * BRUTE_SAMPLES];
    double delta = 0;
    if (n->noise == TAMIS_NOISE_NONE) {
        n->worst = fmax(n->worst, (double)brute_delta(b, n->E));
        return;
    }
    places(at, b, n);
    long next = -REACH;
    for (int j = 0, near = 0; j < b->atoms; j++) {
        if (next < at[j] - REACH) next = at[j] - REACH;
        for (; next <= at[j] + REACH; next++) {
            while (near < j && at[near] < next - REACH) near++;
            double gap = gap_at(b, n, at, near, next);
            if (gap > 0) delta += gap;
        }
    }
    n->worst = fmax(n->worst, delta);
}

/* The largest ratio is at one of the totals, with Laplace noise. */
static inline void take_pure(brute *b, void *context)
{
    noisy *n = context;
    static long at[2 * BRUTE_SAMPLES];
    places(at, b, n);
    if ((double)at[b->atoms - 1] > 300 * n->scale) return; /* masses below the smallest double */
    for (int k = 0; k < b->atoms; k++) {
        double p = 0, q = 0;
        for (int j = 0; j < b->atoms; j++) {
            double mass = exp(-(double)labs(at[k] - at[j]) / n->scale);
            p += (double)b->here[j] * mass;
            q += (double)b->there[j] * mass;
        }
        n->pure = fmax(n->pure, log(p / q));
    }
}

#endif
