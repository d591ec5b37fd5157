/* Every design of the list against brute force by the definition. */
#include "tests/test.h"

#include <stdio.h>

#include "tests/ht/brute.h"

#define EPS_COUNT 3
static const char *const epsilons[EPS_COUNT] = {"0", "0.3", "1.5"};

typedef struct worst {
    long double delta[EPS_COUNT], pure;
} worst;

static void take_worst(brute *b, void *context)
{
    worst *w = context;
    for (int e = 0; e < EPS_COUNT; e++) w->delta[e] = fmaxl(w->delta[e], brute_delta(b, expl(strtold(epsilons[e], NULL))));
    w->pure = fmaxl(w->pure, brute_pure(b));
}

static void about(tamis_bound bound, long double x, const char *name, const char *what)
{
    if ((double)x == INFINITY
            ? bound.lower == INFINITY
            : bound.lower <= (double)x * (1 + 1e-13) + 1e-15 && bound.upper >= (double)x * (1 - 1e-13) - 1e-15 &&
                  bound.upper - bound.lower <= 1e-9 * bound.upper + 1e-30)
        return;
    fail_msg("%s, %s: [%.17g, %.17g] instead of %.17g", name, what, bound.lower, bound.upper, (double)x);
}

/* The reported pair attains the reported delta. */
static void attained(brute *b, const tamis_ht_unit *u, int unit, long double E, const char *name)
{
    int x[BRUTE_UNITS];
    for (int i = 0; i < b->units; i++) x[i] = u->x[i];
    if (u->x_prime == u->x[unit]) return;
    brute_pair(b, x, unit, u->x_prime);
    about(u->value, brute_delta(b, E), name, "the reported pair");
}

/* With low < high the sum of 0/1 values is known to lie between. */
static void without_noise(const tamis_design *design, const char *name, const char *pi, const char *const *values, int count,
                          int low, int high)
{
    tamis_law *law;
    tamis_error err = {0};
    tamis_ht_unit units[BRUTE_UNITS];
    tamis_number *list[BRUTE_VALUES];
    static brute b;
    assert_int_equal(tamis_law_new(&law, design, NULL), TAMIS_OK);
    brute_set(&b, law, pi, values, count);
    for (int a = 0; a < count; a++) list[a] = number(values[a]);
    char ends[2][16];
    snprintf(ends[0], sizeof ends[0], "%d", low);
    snprintf(ends[1], sizeof ends[1], "%d", high);
    tamis_number *from = low < high ? number(ends[0]) : NULL, *to = low < high ? number(ends[1]) : NULL;
    tamis_ht_values v = {
        .law = law, .values = (const tamis_number *const *)list, .count = (size_t)count, .low = from, .high = to};
    b.low = low;
    b.high = high;
    worst w[BRUTE_UNITS] = {0};
    for (int i = 0; i < b.units; i++) brute_each(&b, i, take_worst, &w[i]);
    for (int e = 0; e < EPS_COUNT; e++) {
        tamis_number *eps = number(epsilons[e]);
        if (tamis_ht_values_delta(units, &v, eps, &err) != TAMIS_OK) fail_msg("%s: %s", name, err.message);
        for (int i = 0; i < b.units; i++) {
            about(units[i].value, w[i].delta[e], name, epsilons[e]);
            attained(&b, &units[i], i, expl(strtold(epsilons[e], NULL)), name);
        }
        tamis_number_free(eps);
    }
    if (tamis_ht_values_pure(units, &v, &err) != TAMIS_OK) fail_msg("%s: %s", name, err.message);
    for (int i = 0; i < b.units; i++) about(units[i].value, w[i].pure, name, "pure");
    for (int a = 0; a < count; a++) tamis_number_free(list[a]);
    tamis_number_free(from);
    tamis_number_free(to);
    brute_clear(&b);
    tamis_law_free(law);
}

static void every_design(void **state)
{
    static const char *const two[] = {"0", "1"}, *const three[] = {"-1", "0", "5/2"};
    static const char six[] = "0.2 0.7 0.8 0.5 0.4 0.4";
    (void)state;
    struct {
        const char *name;
        tamis_design *design;
        const char *pi;
    } cases[] = {
        {"srs", srs(8, 3), NULL},
        {"srs with replacement", with_replacement(6, 3), NULL},
        {"bernoulli", bernoulli(4, "2/7"), NULL},
        {"poisson", pps("poisson", "0.2 0.7 0.8 0.5"), NULL},
        {"conditional poisson", pps("conditional_poisson", six), six},
        {"sampford", pps("sampford", six), NULL},
        {"pivotal", pps("pivotal", "0.1 0.1 0.1 0.1 0.1 0.1 0.2 0.2"), NULL},
        {"pivotal, two units", pps("pivotal", "0.3 0.7 0.3 0.7 0.25 0.75"), NULL},
        {"pivotal_random", pps("pivotal_random", six), NULL},
        {"systematic, public order", systematic(8, 3, 0), NULL},
        {"systematic, random order", systematic(7, 3, 1), NULL},
        {"systematic pps", pps("systematic", "0.2 0.7 0.8 0.5 0.4 0.25 0.15"), NULL},
        {"systematic pps, random order", pps("systematic_random", "0.2 0.7 0.8 0.9 0.4"), NULL},
        {"brewer", pps("brewer", six), NULL},
        {"tille", pps("tille", six), NULL},
        {"strata", strata(srs(4, 2), srs(3, 1)), NULL},
        {"strata, mixed", strata(pps("sampford", "0.5 0.75 0.75"), bernoulli(2, "1/3")), NULL},
        {"conditional poisson, four units", pps("conditional_poisson", "0.3 0.7 0.3 0.7"), "0.3 0.7 0.3 0.7"},
        {"cluster", stages(srs(3, 1), census(2), census(2), census(2)), NULL},
        {"two stages", stages(srs(3, 2), srs(2, 1), srs(3, 1), srs(3, 2)), NULL},
        {"census", census(4), NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int units = (int)tamis_design_population(cases[i].design);
        without_noise(cases[i].design, cases[i].name, cases[i].pi, two, 2, units - 3, units - 1);
        if (units <= 6) without_noise(cases[i].design, cases[i].name, cases[i].pi, two, 2, 0, 0);
        if (units <= 4) without_noise(cases[i].design, cases[i].name, cases[i].pi, three, 3, 0, 0);
        tamis_design_free(cases[i].design);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_design),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
