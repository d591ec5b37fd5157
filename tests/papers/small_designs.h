/* Random designs on a few units, in integers: what a paper prints and what holds are both computed from the samples,
 * without the library. The generator has a fixed seed: every run sees the same designs.                              */
#ifndef TESTS_PAPERS_SMALL_DESIGNS_H
#define TESTS_PAPERS_SMALL_DESIGNS_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/ht/designs.h"

#define SMALL_UNITS 4
#define SMALL_SETS (1 << SMALL_UNITS)

/* Set s has probability p[s]/W, unit i pi[i]/W; x and x_prime differ in unit i alone, x > x_prime there. */
typedef struct small_design {
    int N, i;
    int64_t W, p[SMALL_SETS], pi[SMALL_UNITS];
    int x[SMALL_UNITS], x_prime[SMALL_UNITS];
} small_design;

/* Marsaglia's xorshift: numbers below `limit`. */
static inline int random_below(uint64_t *state, int limit)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (int)(*state % (uint64_t)limit);
}

/* Every unit in some sample; values 0, ..., values-1. */
static inline small_design random_design(uint64_t *state, int values)
{
    small_design d;
    bool covered;
    do {
        d = (small_design){.N = 2 + random_below(state, SMALL_UNITS - 1)};
        for (int s = 0; s < 1 << d.N; s++) {
            int r = random_below(state, 8);
            d.p[s] = r < 4 ? r : 0; /* four sets in eight have no chance, or are rare */
            d.W += d.p[s];
            for (int k = 0; k < d.N; k++) d.pi[k] += s >> k & 1 ? d.p[s] : 0;
        }
        covered = true;
        for (int k = 0; k < d.N; k++) covered = covered && d.pi[k] > 0;
    } while (!covered);
    d.i = random_below(state, d.N);
    for (int k = 0; k < d.N; k++) d.x[k] = d.x_prime[k] = random_below(state, values);
    d.x_prime[d.i] = random_below(state, values - 1);
    d.x[d.i] = d.x_prime[d.i] + 1 + random_below(state, values - 1 - d.x_prime[d.i]);
    return d;
}

/* The total of s times (product of pi)/W^2, an integer: equal totals are equal. */
static inline int64_t total_key(const small_design *d, const int *x, int s)
{
    int64_t sum = 0;
    for (int k = 0; k < d->N; k++) {
        int64_t term = s >> k & 1 ? x[k] : 0;
        for (int j = 0; j < d->N; j++) term *= j == k ? 1 : d->pi[j];
        sum += term;
    }
    return sum;
}

static inline double total_of(const small_design *d, int64_t key)
{
    double t = (double)key * (double)d->W;
    for (int k = 0; k < d->N; k++) t /= (double)d->pi[k];
    return t;
}

typedef enum which { ALL, WITH, WITHOUT } which; /* samples: all, with unit i, without it */

static inline bool counts_in(const small_design *d, int s, which w)
{
    return d->p[s] > 0 && (w == ALL || (s >> d->i & 1) == (w == WITH));
}

/* W times the probability that the total is `key`. */
static inline int64_t mass_at(const small_design *d, const int *x, int64_t key, which w)
{
    int64_t sum = 0;
    for (int s = 0; s < 1 << d->N; s++)
        if (counts_in(d, s, w) && total_key(d, x, s) == key) sum += d->p[s];
    return sum;
}

/* The different totals under x and, if not NULL, under y; ascending. */
static inline int support(int64_t *keys, const small_design *d, const int *x, const int *y, which w)
{
    int count = 0;
    for (int s = 0; s < 2 << d->N; s++) {
        const int *v = s & 1 ? y : x;
        if (!v || !counts_in(d, s / 2, w)) continue;
        int64_t key = total_key(d, v, s / 2);
        int at = 0;
        while (at < count && keys[at] < key) at++;
        if (at < count && keys[at] == key) continue;
        for (int j = count++; j > at; j--) keys[j] = keys[j - 1];
        keys[at] = key;
    }
    return count;
}
#define SUPPORT_MAX (2 * SMALL_SETS)

/* Sum of (f_x - E f_x')_+ over the given totals. */
static inline double positive_part(const small_design *d, double E, const int64_t *keys, int count)
{
    double sum = 0;
    for (int j = 0; j < count; j++)
        sum += fmax(0, (double)mass_at(d, d->x, keys[j], ALL) - E * (double)mass_at(d, d->x_prime, keys[j], ALL));
    return sum / (double)d->W;
}

/* The density of the total with Laplace noise of scale b, times 2b. */
static inline double laplace_density(const small_design *d, const int *x, double z, double b, which w)
{
    double sum = 0;
    for (int s = 0; s < 1 << d->N; s++)
        if (counts_in(d, s, w)) sum += (double)d->p[s] * exp(-fabs(z - total_of(d, total_key(d, x, s))) / b);
    return sum / (double)d->W;
}

static inline double laplace_ratio(const small_design *d, double z, double b, which w)
{
    return laplace_density(d, d->x, z, b, w) / laplace_density(d, d->x_prime, z, b, w);
}

/* ---- the same for the library ---- */

static inline tamis_law *law_of(const small_design *d)
{
    int64_t units[SMALL_SETS * SMALL_UNITS];
    size_t sizes[SMALL_SETS], count = 0, at = 0;
    tamis_number *p[SMALL_SETS];
    tamis_law *law;
    for (int s = 0; s < 1 << d->N; s++) {
        char text[64];
        if (d->p[s] == 0) continue;
        sizes[count] = 0;
        for (int k = 0; k < d->N; k++)
            if (s >> k & 1) units[at++] = k, sizes[count]++;
        snprintf(text, sizeof text, "%d/%d", (int)d->p[s], (int)d->W);
        p[count++] = number(text);
    }
    assert_int_equal(tamis_law_given(&law, d->N, units, sizes, (const tamis_number *const *)p, count, NULL), TAMIS_OK);
    for (size_t j = 0; j < count; j++) tamis_number_free(p[j]);
    return law;
}

static inline population population_of_small(const small_design *d)
{
    char x[64] = "", y[64] = "";
    for (int k = 0, a = 0, b = 0; k < d->N; k++) {
        a += snprintf(x + a, sizeof x - (size_t)a, "%d ", d->x[k]);
        b += snprintf(y + b, sizeof y - (size_t)b, "%d ", d->x_prime[k]);
    }
    return population_of(x, y);
}

/* delta of x against x' by the library. */
static inline tamis_bound small_delta(const small_design *d, tamis_noise_kind noise, const char *scale, const char *eps)
{
    tamis_law *law = law_of(d);
    population p = population_of_small(d);
    tamis_bound delta, reverse;
    pair_delta(&delta, &reverse, law, &p, noise, scale, eps);
    population_clear(&p);
    tamis_law_free(law);
    return delta;
}

static inline tamis_bound small_pure(const small_design *d, tamis_noise_kind noise, const char *scale)
{
    tamis_law *law = law_of(d);
    population p = population_of_small(d);
    tamis_bound eps = pair_pure(law, &p, noise, scale);
    population_clear(&p);
    tamis_law_free(law);
    return eps;
}

/* b is about x, and narrow. */
static inline bool is_about(tamis_bound b, double x)
{
    return b.lower <= x * (1 + 1e-12) + 1e-14 && b.upper >= x * (1 - 1e-12) - 1e-14 &&
           b.upper - b.lower <= 1e-9 * fabs(b.upper) + 1e-30;
}

#endif
