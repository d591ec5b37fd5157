/* Every pair over a finite set of values, with noise: sums over the lattice and integrals by the definition, windows against
 * the other method for simple random samples, and what is refused. */
#include "tests/test.h"

#include <stdio.h>

#include "tests/base/memory_that_fails.h"
#include "tests/ht/brute.h"

#define REACH 400

typedef struct noisy {
    long double E, worst, step, scale;
    long double mass[REACH + 1];
    tamis_noise_kind noise;
} noisy;

static bool is_gaussian(tamis_noise_kind noise)
{
    return noise == TAMIS_NOISE_GAUSSIAN || noise == TAMIS_NOISE_DISCRETE_GAUSSIAN;
}

static long double density(const noisy *n, long double x)
{
    x = fabsl(x) / n->scale;
    return is_gaussian(n->noise) ? expl(-x * x / 2) : expl(-x);
}

/* The middles of 2000 cells; a kink costs about the square of a cell. */
static long double integral(const brute *b, const noisy *n)
{
    long double low = b->total[0] - 12 * n->scale, high = b->total[b->atoms - 1] + 12 * n->scale, cell = (high - low) / 2000;
    long double sum = 0, height = is_gaussian(n->noise) ? 1 / (n->scale * sqrtl(2 * acosl(-1))) : 1 / (2 * n->scale);
    for (int k = 0; k < 2000; k++) {
        long double z = low + (k + 0.5L) * cell, gap = 0;
        for (int j = 0; j < b->atoms; j++) gap += (b->here[j] - n->E * b->there[j]) * density(n, z - b->total[j]);
        if (gap > 0) sum += gap * height * cell;
    }
    return sum;
}

static void take_worst(brute *b, void *context)
{
    noisy *n = context;
    bool discrete = n->noise > TAMIS_NOISE_GAUSSIAN;
    n->worst = fmaxl(n->worst, discrete ? brute_noisy(b, n->E, n->step, n->mass, REACH) : integral(b, n));
}

static void masses(noisy *n)
{
    long double sum = 0;
    for (int k = 0; k <= REACH; k++) {
        n->mass[k] = density(n, (long double)k);
        sum += k == 0 ? n->mass[k] : 2 * n->mass[k];
    }
    for (int k = 0; k <= REACH; k++) n->mass[k] /= sum;
}

static void with_noise(const tamis_design *design, const char *name, const char *pi, const char *step, tamis_noise_kind noise)
{
    static const char *const two[] = {"0", "1"};
    static brute b;
    bool discrete = noise > TAMIS_NOISE_GAUSSIAN;
    tamis_law *law;
    tamis_error err = {0};
    tamis_ht_unit units[BRUTE_UNITS], at_delta[BRUTE_UNITS];
    tamis_number *list[] = {number("0"), number("1")}, *scale = number(discrete ? "5/2" : "2"), *eps = number("0.2"), *g;
    assert_int_equal(tamis_law_new(&law, design, NULL), TAMIS_OK);
    brute_set(&b, law, pi, two, 2);
    assert_int_equal(tamis_ht_step(&g, law, (const tamis_number *const *)list, 2, NULL), TAMIS_OK);
    tamis_number *expected = number(step);
    assert_int_equal(tmi_number_compare(g, expected), 0);
    tamis_ht_values v = {law, (const tamis_number *const *)list, 2, NULL, NULL, noise, scale, discrete ? g : NULL};
    if (tamis_ht_values_delta(units, &v, eps, &err) != TAMIS_OK) fail_msg("%s: %s", name, err.message);
    for (int i = 0; i < b.units; i++) {
        noisy n = {.E = expl(0.2L), .noise = noise, .scale = discrete ? 2.5L : 2, .step = (long double)tmi_number_nearest(g)};
        masses(&n);
        brute_each(&b, i, take_worst, &n);
        double slack = discrete ? 1e-13 : 1e-4;
        tamis_bound d = units[i].value;
        if (!(d.lower <= (double)n.worst * (1 + slack) && d.upper >= (double)n.worst * (1 - slack) && is_narrow(d)))
            fail_msg("%s, noise %d, unit %d: [%.17g, %.17g] instead of %.17g", name, noise, i, d.lower, d.upper, (double)n.worst);
    }
    tamis_number *half = NULL; /* the eps at a delta is where delta has that value */
    assert_int_equal(tmi_number_double(&half, units[0].value.upper / 2, NULL), TAMIS_OK);
    if (tamis_ht_values_epsilon(at_delta, &v, half, &err) != TAMIS_OK) fail_msg("%s: %s", name, err.message);
    for (int end = 0; end < 2; end++) {
        tamis_number *at = NULL;
        double e = end ? at_delta[0].value.upper : at_delta[0].value.lower * (1 - 1e-9);
        assert_int_equal(tmi_number_double(&at, e, NULL), TAMIS_OK);
        assert_int_equal(tamis_ht_values_delta(units, &v, at, NULL), TAMIS_OK);
        if (end) assert_true(units[0].value.upper <= tmi_number_nearest(half));
        else assert_true(units[0].value.lower > tmi_number_nearest(half));
        tamis_number_free(at);
    }
    tamis_number_free(half);
    tamis_number_free(expected);
    tamis_number_free(g);
    tamis_number_free(eps);
    tamis_number_free(scale);
    tamis_number_free(list[0]);
    tamis_number_free(list[1]);
    brute_clear(&b);
    tamis_law_free(law);
}

static void by_the_definition(void **state)
{
    struct {
        const char *name;
        tamis_design *design;
        const char *pi, *step;
    } cases[] = {
        {"srs", srs(4, 2), NULL, "2"},
        {"poisson", pps("poisson", "1/2 1/3 1/4"), NULL, "1"},
        {"sampford", pps("sampford", "0.5 0.75 0.75"), NULL, "2/3"},
        {"conditional poisson", pps("conditional_poisson", "0.3 0.7 0.4 0.6"), "0.3 0.7 0.4 0.6", "5/42"},
        {"strata", strata(srs(2, 1), srs(3, 1)), NULL, "1"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int noise = TAMIS_NOISE_LAPLACE; noise <= TAMIS_NOISE_DISCRETE_GAUSSIAN; noise++)
            with_noise(cases[i].design, cases[i].name, cases[i].pi, cases[i].step, (tamis_noise_kind)noise);
        tamis_design_free(cases[i].design);
    }
}

/* A window of the total, all noises: simple random samples have another method. */
static void windows_of_the_total(void **state)
{
    tamis_design *design = srs(6, 2);
    tamis_law *law;
    tamis_number *list[] = {number("0"), number("1")}, *two = number("2"), *three = number("3"), *eps = number("1/4"), *step;
    tamis_ht_unit units[6];
    (void)state;
    assert_int_equal(tamis_law_new(&law, design, NULL), TAMIS_OK);
    assert_int_equal(tamis_ht_step(&step, law, (const tamis_number *const *)list, 2, NULL), TAMIS_OK);
    for (int noise = TAMIS_NOISE_NONE; noise <= TAMIS_NOISE_DISCRETE_GAUSSIAN; noise++) {
        tamis_number *scale = noise == TAMIS_NOISE_NONE ? NULL : three;
        tamis_ht_values v = {law,   (const tamis_number *const *)list, 2,     two,
                             three, (tamis_noise_kind)noise,           scale, noise > TAMIS_NOISE_GAUSSIAN ? step : NULL};
        tamis_ht_srs s = {6, 2, 2, 3, (tamis_noise_kind)noise, scale};
        tamis_bound other;
        assert_int_equal(tamis_ht_values_delta(units, &v, eps, NULL), TAMIS_OK);
        assert_int_equal(tamis_ht_srs_delta(&other, NULL, &s, eps, NULL), TAMIS_OK);
        assert_true(units[5].value.lower <= other.upper && other.lower <= units[5].value.upper && is_narrow(units[5].value));
        assert_int_equal(tamis_ht_values_pure(units, &v, NULL), TAMIS_OK);
        assert_int_equal(tamis_ht_srs_pure(&other, &s, NULL), TAMIS_OK);
        assert_true(units[3].value.lower <= other.upper && other.lower <= units[3].value.upper);
    }
    tamis_number_free(list[0]);
    tamis_number_free(list[1]);
    tamis_number_free(two);
    tamis_number_free(three);
    tamis_number_free(eps);
    tamis_number_free(step);
    tamis_law_free(law);
    tamis_design_free(design);
}

/* Too much work: a bound that holds for every design, p times the delta of the noise. */
static void too_much_work(void **state)
{
    tamis_design *design = pps("poisson", "0.5 0.25 0.2 0.5 0.25 0.2 0.5 0.25 0.2 0.5 0.25 0.2 0.5 0.25 0.2");
    tamis_law *law;
    tamis_number *list[] = {number("0"), number("1"), number("2")}, *one = number("1"), *tenth = number("0.1");
    tamis_ht_unit units[15];
    (void)state;
    assert_int_equal(tamis_law_new(&law, design, NULL), TAMIS_OK);
    tamis_ht_values v = {.law = law, .values = (const tamis_number *const *)list, .count = 3};
    assert_int_equal(tamis_ht_values_delta(units, &v, one, NULL), TAMIS_UNABLE);
    assert_true(units[1].value.lower == 0 && units[1].value.upper >= 0.25 && units[1].value.upper < 0.2500001);
    v.noise = TAMIS_NOISE_LAPLACE;
    v.scale = one;
    assert_int_equal(tamis_ht_values_delta(units, &v, one, NULL), TAMIS_UNABLE);
    assert_true(fabs(units[1].value.upper - 0.25 * (1 - exp((1 - 8) / 2.0))) < 1e-9);
    assert_int_equal(tamis_ht_values_pure(units, &v, NULL), TAMIS_UNABLE);
    assert_true(fabs(units[1].value.upper - 8) < 1e-9);
    assert_int_equal(tamis_ht_values_epsilon(units, &v, tenth, NULL), TAMIS_UNABLE); /* 0.25 (1 - e^((eps-8)/2)) = 0.1 */
    assert_true(fabs(units[1].value.upper - (8 + 2 * log(0.6))) < 1e-8);
    for (int i = 0; i < 3; i++) tamis_number_free(list[i]);
    tamis_number_free(one);
    tamis_number_free(tenth);
    tamis_law_free(law);
    tamis_design_free(design);
}

static void refuses_bad_input(void **state)
{
    tamis_design *design = srs(3, 2);
    tamis_law *law;
    tamis_number *zero = number("0"), *one = number("1"), *minus = number("-1"), *two = number("2");
    const tamis_number *list[] = {zero, one}, *twice[] = {one, one}, *hole[] = {one, NULL};
    tamis_ht_unit units[3];
    tamis_error err;
    (void)state;
    assert_int_equal(tamis_law_new(&law, design, NULL), TAMIS_OK);
    const struct {
        tamis_ht_values v;
        const char *word;
    } cases[] = {{{NULL, list, 2, NULL, NULL, TAMIS_NOISE_NONE, NULL, NULL}, "law:"},
                 {{law, NULL, 2, NULL, NULL, TAMIS_NOISE_NONE, NULL, NULL}, "values:"},
                 {{law, list, 0, NULL, NULL, TAMIS_NOISE_NONE, NULL, NULL}, "values:"},
                 {{law, list, 1000, NULL, NULL, TAMIS_NOISE_NONE, NULL, NULL}, "values"},
                 {{law, twice, 2, NULL, NULL, TAMIS_NOISE_NONE, NULL, NULL}, "values[1]:"},
                 {{law, hole, 2, NULL, NULL, TAMIS_NOISE_NONE, NULL, NULL}, "values[1]:"},
                 {{law, list, 2, one, NULL, TAMIS_NOISE_NONE, NULL, NULL}, "low, high:"},
                 {{law, list, 2, one, zero, TAMIS_NOISE_NONE, NULL, NULL}, "low, high:"},
                 {{law, list, 2, NULL, NULL, (tamis_noise_kind)9, NULL, NULL}, "noise:"},
                 {{law, list, 2, NULL, NULL, TAMIS_NOISE_LAPLACE, NULL, NULL}, "scale:"},
                 {{law, list, 2, NULL, NULL, TAMIS_NOISE_LAPLACE, minus, NULL}, "scale:"},
                 {{law, list, 2, NULL, NULL, TAMIS_NOISE_DISCRETE_LAPLACE, one, NULL}, "step:"},
                 {{law, list, 2, NULL, NULL, TAMIS_NOISE_DISCRETE_LAPLACE, one, two}, "step:"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (i == 3) continue; /* the list would have to be that long */
        units[0].value = (tamis_bound){5, 5};
        assert_int_equal(tamis_ht_values_delta(units, &cases[i].v, one, &err), TAMIS_INVALID);
        if (!strstr(err.message, cases[i].word)) fail_msg("%s: %s", cases[i].word, err.message);
        assert_true(!cases[i].v.law || (units[0].value.lower == 0 && units[0].value.upper == 1));
        assert_int_equal(tamis_ht_values_pure(units, &cases[i].v, NULL), TAMIS_INVALID);
        assert_int_equal(tamis_ht_values_epsilon(units, &cases[i].v, one, NULL), TAMIS_INVALID);
    }
    tamis_ht_values good = {law, list, 2, NULL, NULL, TAMIS_NOISE_NONE, NULL, NULL};
    assert_int_equal(tamis_ht_values_delta(NULL, &good, one, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_ht_values_delta(units, NULL, one, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_ht_values_delta(units, &good, NULL, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_ht_values_delta(units, &good, minus, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_ht_values_epsilon(units, &good, NULL, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_ht_values_epsilon(units, &good, two, NULL), TAMIS_INVALID);
    assert_true(units[2].value.upper == INFINITY);
    tamis_number *step;
    assert_int_equal(tamis_ht_step(NULL, law, list, 2, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_ht_step(&step, NULL, list, 2, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_ht_step(&step, law, list, 1, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "all are 0"));
    tamis_number_free(zero);
    tamis_number_free(one);
    tamis_number_free(two);
    tamis_number_free(minus);
    tamis_law_free(law);
    tamis_design_free(design);
}

static void survives_missing_memory(void **state)
{
    tamis_design *design = srs(3, 2);
    tamis_law *law;
    tamis_number *list[] = {number("0"), number("1")}, *one = number("1"), *tenth = number("0.1"), *step;
    tamis_ht_unit units[3];
    (void)state;
    assert_int_equal(tamis_law_new(&law, design, NULL), TAMIS_OK);
    EVERY_ALLOCATION_FAILS(tamis_ht_step(&step, law, (const tamis_number *const *)list, 2, NULL), assert_null(step));
    tamis_ht_values v = {.law = law, .values = (const tamis_number *const *)list, .count = 2, .low = one, .high = one};
    EVERY_ALLOCATION_FAILS(tamis_ht_values_delta(units, &v, one, NULL), assert_true(units[2].value.upper == 1));
    v.low = v.high = NULL;
    EVERY_ALLOCATION_FAILS(tamis_ht_values_epsilon(units, &v, tenth, NULL), assert_true(units[2].value.upper == INFINITY));
    EVERY_ALLOCATION_FAILS(tamis_ht_values_pure(units, &v, NULL), assert_true(units[2].value.upper == INFINITY));
    tamis_number_free(list[0]);
    tamis_number_free(list[1]);
    tamis_number_free(one);
    tamis_number_free(tenth);
    tamis_number_free(step);
    tamis_law_free(law);
    tamis_design_free(design);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_the_definition), cmocka_unit_test(windows_of_the_total),    cmocka_unit_test(too_much_work),
        cmocka_unit_test(refuses_bad_input), cmocka_unit_test(survives_missing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
