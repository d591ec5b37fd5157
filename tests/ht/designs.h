/* Designs and populations for the tests of Horvitz-Thompson totals. */
#ifndef TESTS_HT_DESIGNS_H
#define TESTS_HT_DESIGNS_H

#include "tests/num/enclosure.h"

#define UNITS_MAX 8

typedef struct population {
    tamis_number *x[UNITS_MAX], *x_prime[UNITS_MAX];
    int count;
} population;

/* Values as "1 1 0" and "1 0 0". */
static inline population population_of(const char *x, const char *x_prime)
{
    population p = {.count = 0};
    char value[64];
    for (int used, more; sscanf(x, "%63s%n", value, &used) == 1; x += used) {
        p.x[p.count] = number(value);
        assert_int_equal(sscanf(x_prime, "%63s%n", value, &more), 1);
        x_prime += more;
        p.x_prime[p.count++] = number(value);
    }
    return p;
}

static inline void population_clear(population *p)
{
    for (int i = 0; i < p->count; i++) {
        tamis_number_free(p->x[i]);
        tamis_number_free(p->x_prime[i]);
    }
}

static inline tamis_law *srs_law(int64_t N, int64_t n)
{
    tamis_design *design;
    tamis_law *law;
    assert_int_equal(tamis_design_srs(&design, N, n, NULL), TAMIS_OK);
    assert_int_equal(tamis_law_new(&law, design, NULL), TAMIS_OK);
    tamis_design_free(design);
    return law;
}

/* Both orders of the pair. */
static inline void pair_delta(tamis_bound *delta, tamis_bound *reverse, const tamis_law *law, const population *p,
                              tamis_noise_kind noise, const char *scale, const char *eps)
{
    tamis_number *s = scale ? number(scale) : NULL, *e = number(eps);
    tamis_ht_pair pair = {law, (const tamis_number *const *)p->x, (const tamis_number *const *)p->x_prime, noise, s, NULL};
    assert_int_equal(tamis_ht_pair_delta(delta, reverse, &pair, e, NULL), TAMIS_OK);
    tamis_number_free(s);
    tamis_number_free(e);
}

static inline tamis_bound pair_pure(const tamis_law *law, const population *p, tamis_noise_kind noise, const char *scale)
{
    tamis_number *s = scale ? number(scale) : NULL;
    tamis_ht_pair pair = {law, (const tamis_number *const *)p->x, (const tamis_number *const *)p->x_prime, noise, s, NULL};
    tamis_bound eps;
    assert_int_equal(tamis_ht_pair_pure(&eps, &pair, NULL), TAMIS_OK);
    tamis_number_free(s);
    return eps;
}

#endif
