/* The laws of several quantiles found together, from their definitions, on a few keys. */
#ifndef TESTS_MECH_QUANTILE_SEVERAL_LAWS_H
#define TESTS_MECH_QUANTILE_SEVERAL_LAWS_H

#include "tests/test.h"

#include <math.h>
#include <string.h>

#include "mech/quantile/several.h"

enum { KEYS = 6, MOST_CUTS = 3, TUPLES = KEYS * KEYS * KEYS };

/* A key that stands for a wide gap between records, which takes nearly all of the probability; -1: none. For joint_law alone:
 * where a part begins inside a gap, its points are not alike. */
static int64_t several_gap = -1;
#define SEVERAL_GAP_WIDTH 1e6

static inline double weight_below(const tmi_keys *k, int64_t key)
{
    double sum = 0;
    for (size_t i = 0; i < k->count && k->keys[i] < key; i++) sum += k->weights ? (double)k->weights[i] : 1;
    return sum;
}

static inline double measure_of(const tamis_quantile *q, int64_t key)
{
    if (!q->key_unit) return key == several_gap ? SEVERAL_GAP_WIDTH : 1;
    const double unit = tmi_number_nearest(q->key_unit);
    return log((unit + (double)key + 1) / (unit + (double)key));
}

static inline void normalise(double *law)
{
    double sum = 0;
    for (size_t t = 0; t < TUPLES; t++) sum += law[t];
    for (size_t t = 0; t < TUPLES; t++) law[t] /= sum;
}

/* law[o_1 + KEYS o_2 + ...] of the sorted tuple. */
static inline void joint_law(double *law, const tamis_quantile *q, const tmi_keys *k)
{
    const size_t m = q->count, tuples = (size_t)lround(pow(KEYS, (double)m));
    const double d = (double)q->common, total = weight_below(k, KEYS), rate = tmi_number_nearest(q->joint_rate);
    memset(law, 0, TUPLES * sizeof *law);
    for (size_t t = 0; t < tuples; t++) {
        int64_t cuts[MOST_CUTS];
        double distance = 0, before = 0, weight = 1;
        size_t code = 0;
        for (size_t j = 0, rest = t; j < m; j++, rest /= KEYS) cuts[j] = (int64_t)(rest % KEYS);
        assert_true(tmi_sort_points(cuts, NULL, m));
        for (size_t j = 0; j < m; j++) {
            const double a = d * weight_below(k, cuts[j]) - (double)q->ranks[j] * total;
            distance += fabs(a - before);
            before = a;
            weight *= measure_of(q, cuts[j]);
        }
        for (size_t j = m; j-- > 0;) code = code * KEYS + (size_t)cuts[j];
        law[code] += weight * exp(-rate * (distance + fabs(before)));
    }
    normalise(law);
}

/* P(cut | the part of the keys from `first` to `last`), keys below `end` and not below `begin`. */
static inline void part_law(double *law, const tamis_quantile *q, size_t number, const tmi_keys *k, int64_t begin, int64_t end,
                            int64_t first, int64_t last)
{
    const tmi_target *t = &q->targets[number];
    const double p = (double)t->rank.p, d = (double)t->rank.d, rate = tmi_number_nearest(t->rate);
    const double below = weight_below(k, begin), total = weight_below(k, end) - below;
    double sum = 0;
    for (int64_t o = 0; o < KEYS; o++) {
        const double under = fmax(weight_below(k, o < end ? o : end) - below, 0),
                     up_to = weight_below(k, o + 1 < end ? o + 1 : end) - below;
        law[o] = o < first || o > last
                     ? 0
                     : measure_of(q, o) * exp(-rate * fmax(0, fmax(d * under - p * total, p * total - d * up_to)));
        sum += law[o];
    }
    for (int64_t o = 0; o < KEYS; o++) law[o] /= sum;
}

/* Three quantiles: the middle one, then the others in their parts. */
static inline void split_law(double *law, const tamis_quantile *q, const tmi_keys *k)
{
    double middle[KEYS], lower[KEYS], upper[KEYS];
    memset(law, 0, TUPLES * sizeof *law);
    part_law(middle, q, 1, k, 0, KEYS, 0, KEYS - 1);
    for (int64_t o = 0; o < KEYS; o++) {
        part_law(lower, q, 0, k, 0, o, 0, o);
        part_law(upper, q, 2, k, o, KEYS, o, KEYS - 1);
        for (int64_t a = 0; a < KEYS; a++)
            for (int64_t b = 0; b < KEYS; b++) law[a + KEYS * o + KEYS * KEYS * b] += middle[o] * lower[a] * upper[b];
    }
}

typedef void law_function(double *law, const tamis_quantile *q, const tmi_keys *k);

#endif
