/* Values in a range, nothing listed: closed forms, and what holds for each kind of design. */
#include "test.h"

#include <stdio.h>
#include <string.h>

#include "base/memory_that_fails.h"
#include "num/enclosure.h"
#include "survey/frames.h"

typedef struct ask {
    const char *from, *to, *scale, *step;
    tamis_noise_kind noise;
    const int64_t *low, *high;
} ask;

/* Kind of question: 'd' delta at x, 'p' pure, 'e' eps at x. Gives the first part; all parts if `all`. */
static tamis_ht_part answer(char kind, const tamis_design *design, const ask *a, const char *x, tamis_ht_part *all)
{
    tamis_number *from = number(a->from), *to = number(a->to), *at = x ? number(x) : NULL;
    tamis_number *scale = a->scale ? number(a->scale) : NULL, *step = a->step ? number(a->step) : NULL;
    tamis_ht_range range = {design, from, to, a->low, a->high, a->noise, scale, step};
    tamis_ht_part *parts, first;
    size_t count;
    tamis_error err = {0};
    tamis_status status = kind == 'd' ? tamis_ht_range_delta(&parts, &count, &range, at, &err)
                          : kind == 'p' ? tamis_ht_range_pure(&parts, &count, &range, &err)
                                        : tamis_ht_range_epsilon(&parts, &count, &range, at, &err);
    if (status != TAMIS_OK) fail_msg("%s", err.message);
    first = parts[0];
    if (all) memcpy(all, parts, count * sizeof *parts);
    tamis_free(parts);
    tamis_number_free(from);
    tamis_number_free(to);
    tamis_number_free(at);
    tamis_number_free(scale);
    tamis_number_free(step);
    return first;
}

static void assert_about(tamis_ht_part p, double x, const char *theorem)
{
    assert_true(p.exact);
    assert_string_equal(p.theorem, theorem);
    if (!(p.value.lower <= x * (1 + 1e-9) && p.value.upper >= x * (1 - 1e-9)))
        fail_msg("[%.17g, %.17g] instead of %.17g", p.value.lower, p.value.upper, x);
}

/* Bernoulli with rate p, values in [0, R], Laplace noise b. */
static void closed_forms(void **state)
{
    tamis_design *b = bernoulli(1000000, "1/10"), *s = srs(1000, 100);
    ask laplace = {"0", "3", "60", NULL, TAMIS_NOISE_LAPLACE, NULL, NULL}, none = {"0", "3", NULL, NULL, TAMIS_NOISE_NONE, NULL, NULL};
    double p = 0.1, d = 3 / p / 60, E = 1 + (exp(0.02) - 1) / p;
    (void)state;
    assert_about(answer('d', b, &none, "2", NULL), p, "independent");
    assert_about(answer('p', b, &laplace, NULL, NULL), log(1 + p * (exp(d) - 1)), "independent");
    assert_about(answer('d', b, &laplace, "0.02", NULL), p * (1 - exp((log(E) - d) / 2)), "independent");
    /* simple random sampling: the same numbers, whatever the level of the values is */
    laplace.from = "7";
    laplace.to = "10";
    assert_about(answer('p', s, &laplace, NULL, NULL), log(1 + p * (exp(d) - 1)), "exchange");
    assert_about(answer('d', s, &laplace, "0.02", NULL), p * (1 - exp((log(E) - d) / 2)), "exchange");
    /* and Bernoulli is then only bounded: nobody can be silent */
    tamis_ht_part wide = answer('p', b, &laplace, NULL, NULL);
    assert_false(wide.exact);
    assert_true(wide.value.lower == 0 && wide.value.upper > log(1 + p * (exp(d) - 1)));
    tamis_design_free(b);
    tamis_design_free(s);
}

/* eps and the noise are the inverse of delta. */
static void inverse_questions(void **state)
{
    static const char *const scales[] = {NULL, "40", "40", "4", "4"};
    tamis_design *designs[] = {bernoulli(100, "1/10"), srs(100, 10), pps("sampford", "0.2 0.7 0.8 0.5 0.4 0.4")};
    static const char *const steps[] = {"10", "10", NULL};
    tamis_number *delta = number("0.001"), *eps = number("1/2");
    (void)state;
    for (int i = 0; i < 3; i++) {
        for (int noise = TAMIS_NOISE_LAPLACE; noise <= TAMIS_NOISE_DISCRETE_GAUSSIAN; noise++) {
            bool discrete = noise > TAMIS_NOISE_GAUSSIAN;
            ask a = {"0", "1", scales[noise], discrete ? steps[i] : NULL, (tamis_noise_kind)noise, NULL, NULL};
            if (discrete && !a.step) continue;
            tamis_ht_part e = answer('e', designs[i], &a, "0.001", NULL);
            char text[64];
            snprintf(text, sizeof text, "%.17g", e.value.upper);
            assert_true(answer('d', designs[i], &a, text, NULL).value.upper <= 0.001);
            snprintf(text, sizeof text, "%.17g", e.value.lower * (1 - 1e-9));
            if (e.value.lower > 0) assert_true(answer('d', designs[i], &a, text, NULL).value.upper >= 0.001);
            tamis_number *from = number("0"), *to = number("1"), *step = a.step ? number(a.step) : NULL;
            tamis_ht_range range = {designs[i], from, to, NULL, NULL, a.noise, NULL, step};
            tamis_bound scale;
            assert_int_equal(tamis_ht_range_scale(&scale, &range, eps, delta, NULL), TAMIS_OK);
            assert_true(scale.lower > 0 && scale.upper - scale.lower <= 1e-9 * scale.upper);
            snprintf(text, sizeof text, "%.17g", scale.upper);
            a.scale = text;
            assert_true(answer('d', designs[i], &a, "1/2", NULL).value.upper <= 0.001 * (1 + 1e-9));
            snprintf(text, sizeof text, "%.17g", scale.lower * (1 - 1e-9));
            assert_true(answer('d', designs[i], &a, "1/2", NULL).value.upper >= 0.001);
            tamis_number_free(from);
            tamis_number_free(to);
            tamis_number_free(step);
        }
        tamis_design_free(designs[i]);
    }
    tamis_number_free(delta);
    tamis_number_free(eps);
}

/* Strata with windows: the stratum's own window, exact unless another stratum cannot be constant. */
static void windows(void **state)
{
    static const int64_t low[] = {1, 0, 2}, high[] = {4, 3, 3};
    tamis_design *design = NULL;
    tamis_ht_part parts[3];
    tamis_bound own;
    ask a = {"0", "1", NULL, NULL, TAMIS_NOISE_NONE, low, high};
    tamis_number *eps = number("1/2");
    (void)state;
    assert_int_equal(tamis_design_take_strata(&design, (tamis_design *[]){srs(5, 2), srs(5, 3), census(4)}, 3, NULL), TAMIS_OK);
    answer('d', design, &a, "1/2", parts);
    for (int h = 0; h < 2; h++) {
        tamis_ht_srs s = {5, h == 0 ? 2 : 3, low[h], high[h], TAMIS_NOISE_NONE, NULL};
        assert_int_equal(tamis_ht_srs_delta(&own, NULL, &s, eps, NULL), TAMIS_OK);
        assert_string_equal(parts[h].theorem, "srs_window");
        assert_true(parts[h].value.upper == own.upper && parts[h].exact == (h == 0)); /* 1..4 of 5: stratum 0 is never constant */
    }
    assert_true(parts[2].value.upper == 1 && !parts[2].exact);
    assert_true(parts[0].first == 0 && parts[1].first == 5 && parts[2].first == 10 && parts[2].count == 4);
    tamis_number_free(eps);
    tamis_design_free(design);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_forms),
        cmocka_unit_test(inverse_questions),
        cmocka_unit_test(windows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
