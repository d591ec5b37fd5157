/* Small frames and every design on them, for the tests of this folder. */
#ifndef TESTS_SURVEY_FRAMES_H
#define TESTS_SURVEY_FRAMES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "num/number.h"

static const char *const methods[] = {"conditional_poisson", "sampford",          "pivotal", "pivotal_random",
                                      "systematic",          "systematic_random", "brewer",  "tille"};
#define METHODS (sizeof methods / sizeof *methods)

/* Probabilities that sum to an integer, blanks between them. */
static const char *const frames[] = {
    "0.5 0.5",
    "1/3 2/3",
    "1/3 1/3 1/3",
    "0.3 0.7 0.3 0.7",
    "3/7 3/7 3/7 3/7 3/7 3/7 3/7",
    "0.07 0.17 0.41 0.61 0.83 0.91",
    "0.2 0.7 0.8 0.5 0.4 0.4",
    "1/1000000 999999/1000000 1/2 1/3 1/6",
    "1 0.25 0.75 1 0.5 0.5",
    "1",
    "1 1 1",
    "0.9 0.9 0.9 0.9 0.9 0.5",
    "0.99 0.01 0.02 0.02 0.03 0.03 0.9",
    "12345678901234567890/98765432109876543210 1/7 86419753208641975320/98765432109876543210 6/7 1/2 0.1 0.4",
    "0.1 0.1 0.1 0.1 0.1 0.1 0.2 0.2",
};
#define FRAMES (sizeof frames / sizeof *frames)
#define FRAME_UNITS 32

typedef struct frame {
    tamis_number *pi[FRAME_UNITS];
    size_t count;
} frame;

static inline void read_frame(frame *f, const char *text)
{
    char copy[512], *rest = copy;
    snprintf(copy, sizeof copy, "%s", text);
    f->count = 0;
    for (char *word; (word = strsep(&rest, " "));) assert_int_equal(tamis_number_read(&f->pi[f->count++], word, NULL), TAMIS_OK);
}

static inline void free_frame(frame *f)
{
    for (size_t i = 0; i < f->count; i++) tamis_number_free(f->pi[i]);
}

static inline tamis_method method_named(const char *name)
{
    tamis_method method;
    assert_int_equal(tamis_method_of_name(&method, name, NULL), TAMIS_OK);
    return method;
}

static inline tamis_design *pps(const char *method, const char *text)
{
    tamis_design *design = NULL;
    tamis_error err = {0};
    frame f;
    read_frame(&f, text);
    tamis_status status = tamis_design_pps(&design, method_named(method), (const tamis_number *const *)f.pi, f.count, &err);
    if (status != TAMIS_OK) fail_msg("%s, %s: %s", method, text, err.message);
    free_frame(&f);
    return design;
}

static inline tamis_design *srs(int64_t population, int64_t sample)
{
    tamis_design *design = NULL;
    assert_int_equal(tamis_design_srs(&design, population, sample, NULL), TAMIS_OK);
    return design;
}

static inline tamis_design *census(int64_t population)
{
    tamis_design *design = NULL;
    assert_int_equal(tamis_design_census(&design, population, NULL), TAMIS_OK);
    return design;
}

static inline tamis_design *systematic(int64_t population, int64_t sample, int random_order)
{
    tamis_design *design = NULL;
    assert_int_equal(tamis_design_systematic(&design, population, sample, random_order, NULL), TAMIS_OK);
    return design;
}

static inline tamis_design *with_replacement(int64_t population, int64_t draws)
{
    tamis_design *design = NULL;
    assert_int_equal(tamis_design_srs_with_replacement(&design, population, draws, NULL), TAMIS_OK);
    return design;
}

static inline tamis_design *bernoulli(int64_t population, const char *text)
{
    tamis_design *design = NULL;
    tamis_number *rate;
    assert_int_equal(tamis_number_read(&rate, text, NULL), TAMIS_OK);
    assert_int_equal(tamis_design_bernoulli(&design, population, rate, NULL), TAMIS_OK);
    tamis_number_free(rate);
    return design;
}

static inline tamis_design *strata(tamis_design *x, tamis_design *y)
{
    tamis_design *design = NULL;
    assert_int_equal(tamis_design_take_strata(&design, (tamis_design *[]){x, y}, 2, NULL), TAMIS_OK);
    return design;
}

static inline tamis_design *stages(tamis_design *first, tamis_design *x, tamis_design *y, tamis_design *z)
{
    tamis_design *design = NULL;
    assert_int_equal(tamis_design_take_stages(&design, first, (tamis_design *[]){x, y, z}, 3, NULL), TAMIS_OK);
    return design;
}

/* Calls the test with every design on every small frame. */
static inline void each_design(void (*test)(const tamis_design *design, const char *name))
{
    char name[600];
    for (size_t f = 0; f < FRAMES; f++)
        for (size_t m = 0; m <= METHODS; m++) {
            const char *method = m < METHODS ? methods[m] : "poisson";
            tamis_design *design = pps(method, frames[f]);
            snprintf(name, sizeof name, "%s: %s", method, frames[f]);
            test(design, name);
            tamis_design_free(design);
        }
    for (int64_t N = 1; N <= 7; N++)
        for (int64_t n = 1; n <= N; n++)
            for (int kind = 0; kind < 4; kind++) {
                tamis_design *design = kind == 0 ? srs(N, n) : kind == 3 ? with_replacement(N, n) : systematic(N, n, kind - 1);
                snprintf(name, sizeof name, "%s %d of %d", tamis_design_name(design), (int)n, (int)N);
                test(design, name);
                tamis_design_free(design);
            }
    struct {
        const char *name;
        tamis_design *design;
    } others[] = {
        {"census", census(4)},
        {"bernoulli", bernoulli(5, "2/7")},
        {"bernoulli 1", bernoulli(3, "1")},
        {"strata of srs", strata(srs(4, 2), srs(3, 1))},
        {"strata, mixed", strata(pps("sampford", frames[6]), bernoulli(2, "1/3"))},
        {"strata, irrational", strata(pps("conditional_poisson", frames[3]), srs(3, 2))},
        {"cluster", stages(srs(3, 1), census(2), census(2), census(2))},
        {"unequal clusters", stages(srs(3, 2), census(1), census(2), census(3))},
        {"two stages", stages(srs(3, 2), srs(2, 1), srs(3, 1), srs(3, 2))},
        {"two stages, unequal", stages(pps("pivotal", "0.3 0.9 0.8"), srs(2, 1), bernoulli(2, "1/2"), srs(3, 2))},
        {"two stages, irrational", stages(pps("conditional_poisson", "0.3 0.9 0.8"), srs(2, 1), census(2), srs(3, 2))},
        {"within clusters", stages(pps("systematic", "0.5 0.25 0.25"), srs(2, 1), srs(3, 2), srs(2, 1))},
        {"within clusters, certain", stages(pps("brewer", "1 0.5 0.5"), srs(2, 1), bernoulli(2, "1/3"), srs(2, 1))},
        {"strata of stages", strata(stages(srs(3, 1), census(1), census(1), srs(2, 1)), census(2))},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        test(others[i].design, others[i].name);
        tamis_design_free(others[i].design);
    }
}

#endif
