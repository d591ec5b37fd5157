/* Profiles by name, for tests. */
#ifndef TESTS_COMPOSITION_PROFILES_H
#define TESTS_COMPOSITION_PROFILES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/num/enclosure.h"

/* a is the scale, the eps or the rho; b the sensitivity, or the delta of a claim. */
static inline tamis_profile *make_profile(const char *law, const char *a, const char *b)
{
    tamis_number *x = number(a), *y = number(b);
    tamis_profile *p = NULL;
    tamis_status status = TAMIS_INVALID;
    if (strcmp(law, "rr") == 0) status = tamis_profile_randomized_response(&p, x, NULL);
    if (strcmp(law, "claim") == 0) status = tamis_profile_claim(&p, x, y, NULL);
    if (strcmp(law, "laplace") == 0) status = tamis_profile_laplace(&p, x, y, NULL);
    if (strcmp(law, "gaussian") == 0) status = tamis_profile_gaussian(&p, x, y, NULL);
    if (strcmp(law, "discrete_laplace") == 0) status = tamis_profile_discrete_laplace(&p, x, atol(b), NULL);
    if (strcmp(law, "discrete_gaussian") == 0) status = tamis_profile_discrete_gaussian(&p, x, atol(b), NULL);
    if (strcmp(law, "zcdp") == 0) status = tamis_profile_zcdp(&p, x, NULL);
    assert_int_equal(status, TAMIS_OK);
    tamis_number_free(x);
    tamis_number_free(y);
    return p;
}

/* One line of a list of releases; a list ends with a NULL law. */
typedef struct release {
    const char *law, *a, *b;
    int64_t times;
} release;

static inline tamis_profile *compose_list(const release *list, size_t most)
{
    const tamis_profile *parts[16];
    int64_t times[16];
    size_t count = 0;
    tamis_profile *all = NULL;
    for (; count < most && list[count].law; count++) {
        parts[count] = make_profile(list[count].law, list[count].a, list[count].b);
        times[count] = list[count].times;
    }
    assert_int_equal(tamis_profile_compose(&all, parts, times, count, NULL), TAMIS_OK);
    for (size_t i = 0; i < count; i++) tamis_profile_free((tamis_profile *)(uintptr_t)parts[i]);
    return all;
}

static inline tamis_bound delta_at(const tamis_profile *p, const char *eps)
{
    tamis_number *x = number(eps);
    tamis_bound b;
    tamis_error err;
    if (tamis_profile_delta(&b, p, x, &err) != TAMIS_OK) fail_msg("%s", err.message);
    assert_true(0 <= b.lower && b.lower <= b.upper && b.upper <= 1);
    tamis_number_free(x);
    return b;
}

static inline tamis_bound delta_at_double(const tamis_profile *p, double eps)
{
    char text[1100];
    snprintf(text, sizeof text, "%.900g", eps); /* exactly */
    return delta_at(p, text);
}

static inline tamis_bound epsilon_at(const tamis_profile *p, const char *delta)
{
    tamis_number *x = number(delta);
    tamis_bound b;
    tamis_error err;
    if (tamis_profile_epsilon(&b, p, x, &err) != TAMIS_OK) fail_msg("%s", err.message);
    assert_true(0 <= b.lower && b.lower <= b.upper);
    tamis_number_free(x);
    return b;
}

#endif
