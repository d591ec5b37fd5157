/* The privacy of a Horvitz-Thompson total by its definition: every population over a small set of values, every sample of
 * the law, masses added up as exact rationals. Shares nothing with src/mech. A law whose probabilities are not rational
 * is taken at the middle of its enclosures.                                                                          */
#ifndef TESTS_HT_BRUTE_H
#define TESTS_HT_BRUTE_H

#include <gmp.h>
#include <math.h>
#include <stdlib.h>

#include "tests/num/enclosure.h"
#include "tests/survey/frames.h"

#define BRUTE_UNITS 8
#define BRUTE_SAMPLES 256
#define BRUTE_VALUES 4

typedef struct brute {
    int units, samples, values;
    unsigned set[BRUTE_SAMPLES];
    mpq_t p[BRUTE_SAMPLES], pi[BRUTE_UNITS], v[BRUTE_VALUES], w[BRUTE_UNITS][BRUTE_VALUES];  /* w = v / pi */
    long double total[2 * BRUTE_SAMPLES], here[2 * BRUTE_SAMPLES], there[2 * BRUTE_SAMPLES]; /* of one pair */
    int atoms;
    int low, high; /* populations with a sum of value numbers outside are not possible; none if both are 0 */
} brute;

/* `pi`, blank between, if the probabilities are not rational; else they are added up here. */
static inline void brute_set(brute *b, const tamis_law *law, const char *pi, const char *const *values, int count)
{
    *b = (brute){.units = (int)tamis_law_population(law), .samples = (int)tamis_law_count(law), .values = count};
    assert_true(b->units <= BRUTE_UNITS && b->samples <= BRUTE_SAMPLES);
    for (int i = 0; i < b->units; i++) mpq_init(b->pi[i]);
    for (int a = 0; a < count; a++) {
        mpq_init(b->v[a]);
        assert_int_equal(mpq_set_str(b->v[a], values[a], 10), 0);
    }
    for (int j = 0; j < b->samples; j++) {
        const uint8_t *units;
        size_t size = tamis_law_sample(&units, law, (size_t)j);
        tamis_bound p = tamis_law_probability(law, (size_t)j);
        for (size_t i = 0; i < size; i++) b->set[j] |= 1u << units[i];
        mpq_init(b->p[j]);
        if (tamis_law_exact(law, (size_t)j)) mpq_set(b->p[j], tamis_law_exact(law, (size_t)j)->value);
        else mpq_set_d(b->p[j], (p.lower + p.upper) / 2);
        for (int i = 0; i < b->units; i++)
            if (b->set[j] >> i & 1) mpq_add(b->pi[i], b->pi[i], b->p[j]);
    }
    for (int i = 0; pi && i < b->units; i++) {
        char *end;
        double x = strtod(pi, &end);
        mpq_set_si(b->pi[i], (long)lround(x * 1e6), 1000000);
        mpq_canonicalize(b->pi[i]);
        pi = end;
    }
    for (int i = 0; i < b->units; i++)
        for (int a = 0; a < count; a++) {
            mpq_init(b->w[i][a]);
            mpq_div(b->w[i][a], b->v[a], b->pi[i]);
        }
}

static inline void brute_clear(brute *b)
{
    for (int j = 0; j < b->samples; j++) mpq_clear(b->p[j]);
    for (int i = 0; i < b->units; i++) mpq_clear(b->pi[i]);
    for (int a = 0; a < b->values; a++) mpq_clear(b->v[a]);
    for (int i = 0; i < b->units; i++)
        for (int a = 0; a < b->values; a++) mpq_clear(b->w[i][a]);
}

typedef struct brute_atom {
    mpq_t at, here, there;
} brute_atom;

static inline int brute_order(const void *x, const void *y)
{
    return mpq_cmp(((const brute_atom *)x)->at, ((const brute_atom *)y)->at);
}

static inline long double brute_value(mpq_srcptr x)
{
    mpq_t rest;
    double high = mpq_get_d(x);
    mpq_init(rest);
    mpq_set_d(rest, high);
    mpq_sub(rest, x, rest);
    long double value = (long double)high + (long double)mpq_get_d(rest);
    mpq_clear(rest);
    return value;
}

/* The atoms of x and of x', which has value number `other` in `unit`: equal totals are found equal, exactly. */
static inline void brute_pair(brute *b, const int *x, int unit, int other)
{
    static brute_atom list[2 * BRUTE_SAMPLES];
    for (int j = 0; j < 2 * b->samples; j++) {
        mpq_inits(list[j].at, list[j].here, list[j].there, NULL);
        for (int i = 0; i < b->units; i++) {
            if (!(b->set[j / 2] >> i & 1)) continue;
            mpq_add(list[j].at, list[j].at, b->w[i][j % 2 && i == unit ? other : x[i]]);
        }
        mpq_set(j % 2 ? list[j].there : list[j].here, b->p[j / 2]);
    }
    qsort(list, (size_t)(2 * b->samples), sizeof *list, brute_order);
    b->atoms = 0;
    for (int j = 0; j < 2 * b->samples;) {
        int first = j;
        for (j++; j < 2 * b->samples && mpq_equal(list[j].at, list[first].at); j++) {
            mpq_add(list[first].here, list[first].here, list[j].here);
            mpq_add(list[first].there, list[first].there, list[j].there);
        }
        b->total[b->atoms] = brute_value(list[first].at);
        b->here[b->atoms] = brute_value(list[first].here);
        b->there[b->atoms++] = brute_value(list[first].there);
    }
    for (int j = 0; j < 2 * b->samples; j++) mpq_clears(list[j].at, list[j].here, list[j].there, NULL);
}

/* delta of the pair at E = e^eps: without noise, or with the integer noise of mass r^|k| on points `step` apart. */
static inline long double brute_delta(const brute *b, long double E)
{
    long double delta = 0;
    for (int j = 0; j < b->atoms; j++)
        if (b->here[j] > E * b->there[j]) delta += b->here[j] - E * b->there[j];
    return delta;
}

/* mass(k) of the noise for |k| <= reach. */
static inline long double brute_noisy(const brute *b, long double E, long double step, const long double *mass, int reach)
{
    long double delta = 0, first = b->total[0];
    int last = (int)lroundl((b->total[b->atoms - 1] - first) / step);
    for (int k = -reach; k <= last + reach; k++) {
        long double gap = 0;
        for (int j = 0; j < b->atoms; j++) {
            int distance = abs(k - (int)lroundl((b->total[j] - first) / step));
            if (distance <= reach) gap += (b->here[j] - E * b->there[j]) * mass[distance];
        }
        if (gap > 0) delta += gap;
    }
    return delta;
}

/* log of the largest ratio, infinite if a total is impossible under x' alone. */
static inline long double brute_pure(const brute *b)
{
    long double most = 0;
    for (int j = 0; j < b->atoms; j++)
        if (b->here[j] > 0) most = fmaxl(most, b->there[j] > 0 ? logl(b->here[j] / b->there[j]) : (long double)INFINITY);
    return most;
}

/* Calls f with every population and every other value of the unit. */
static inline void brute_each(brute *b, int unit, void (*f)(brute *b, void *context), void *context)
{
    int x[BRUTE_UNITS] = {0};
    for (;;) {
        int sum = 0;
        for (int i = 0; i < b->units; i++) sum += x[i];
        for (int other = 0; other < b->values; other++) {
            int changed = sum - x[unit] + other;
            bool window = b->low + b->high > 0;
            if (other == x[unit]) continue;
            if (window && (sum < b->low || sum > b->high || changed < b->low || changed > b->high)) continue;
            brute_pair(b, x, unit, other);
            f(b, context);
        }
        int i = 0;
        while (i < b->units && ++x[i] == b->values) x[i++] = 0;
        if (i == b->units) return;
    }
}

#endif
