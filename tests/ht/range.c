/* Values in a range, nothing listed: closed forms, and what holds for each kind of design. */
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

#include "tests/base/memory_that_fails.h"
#include "tests/num/enclosure.h"
#include "tests/survey/frames.h"

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
    tamis_ht_range range = {design, from, to, NULL, a->low, a->high, a->noise, scale, step};
    tamis_ht_part *parts, first;
    size_t count;
    tamis_error err = {0};
    tamis_status status = kind == 'd'   ? tamis_ht_range_delta(&parts, &count, &range, at, &err)
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
    ask laplace = {"0", "3", "60", NULL, TAMIS_NOISE_LAPLACE, NULL, NULL},
        none = {"0", "3", NULL, NULL, TAMIS_NOISE_NONE, NULL, NULL};
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
            tamis_ht_range range = {designs[i], from, to, NULL, NULL, NULL, a.noise, NULL, step};
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

/* ---- against all pairs over the ends, 0 and a value between: those lists are exact ---- */

static tamis_bound worst_of(const tamis_ht_unit *units, int64_t first, int64_t count)
{
    tamis_bound worst = {0, 0};
    for (int64_t i = first; i < first + count; i++)
        worst = (tamis_bound){fmax(worst.lower, units[i].value.lower), fmax(worst.upper, units[i].value.upper)};
    return worst;
}

static void assert_holds(const tamis_ht_part *p, tamis_bound listed, const char *name, const char *what)
{
    bool below = listed.lower <= p->value.upper * (1 + 1e-12) + 1e-30,
         above = p->value.lower <= listed.upper * (1 + 1e-12) + 1e-30;
    if (!below || !above)
        fail_msg("%s, %s, %s: [%.17g, %.17g] does not hold [%.17g, %.17g]", name, what, p->theorem, p->value.lower,
                 p->value.upper, listed.lower, listed.upper);
}

static int exact_answers, all_answers;

static void listed_pairs_agree(const tamis_design *design, const char *name)
{
    static const char *const ranges[][4] = {{"0", "1", "0", "1"}, {"-1", "2", "-1", "0"}, {"1", "3", "1", "2"}};
    tamis_number *eps = number("1/5"), *scale = number("3"), *list[4];
    tamis_law *law = NULL;
    int64_t units_of_design = tamis_design_population(design);
    if (units_of_design > 6 || (units_of_design > 4 && strchr(name, ' ') && strchr(name, ':'))) goto done; /* enough of them */
    assert_int_equal(tamis_law_new(&law, design, NULL), TAMIS_OK);
    for (size_t r = 0; r < (units_of_design > 4 ? 1 : 3); r++) {
        size_t count = 0;
        for (int a = 0; a < 4; a++) { /* from, to, and what else is listed */
            bool known = false;
            for (size_t k = 0; k < count; k++) {
                tamis_number *x = number(ranges[r][a]);
                known = known || tmi_number_compare(x, list[k]) == 0;
                tamis_number_free(x);
            }
            if (!known) list[count++] = number(ranges[r][a]);
        }
        for (int noise = TAMIS_NOISE_NONE; noise <= TAMIS_NOISE_LAPLACE; noise++) {
            const tamis_number *b = noise == TAMIS_NOISE_NONE ? NULL : scale;
            tamis_ht_values v = {law, (const tamis_number *const *)list, count, NULL, NULL, (tamis_noise_kind)noise, b, NULL};
            tamis_ht_range range = {design, list[0], list[1], NULL, NULL, NULL, (tamis_noise_kind)noise, b, NULL};
            tamis_ht_unit units[TAMIS_LAW_UNITS];
            for (int pure = 0; pure < 2; pure++) {
                tamis_ht_part *parts;
                size_t strata;
                assert_int_equal(pure ? tamis_ht_values_pure(units, &v, NULL) : tamis_ht_values_delta(units, &v, eps, NULL),
                                 TAMIS_OK);
                assert_int_equal(pure ? tamis_ht_range_pure(&parts, &strata, &range, NULL)
                                      : tamis_ht_range_delta(&parts, &strata, &range, eps, NULL),
                                 TAMIS_OK);
                for (size_t h = 0; h < strata; h++) {
                    assert_holds(&parts[h], worst_of(units, parts[h].first, parts[h].count), name, pure ? "pure" : "delta");
                    exact_answers += parts[h].exact;
                    all_answers++;
                }
                tamis_free(parts);
            }
        }
        for (size_t k = 0; k < count; k++) tamis_number_free(list[k]);
    }
done:
    tamis_law_free(law);
    tamis_number_free(eps);
    tamis_number_free(scale);
}

static void every_design(void **state)
{
    (void)state;
    each_design(listed_pairs_agree);
    assert_true(exact_answers > all_answers / 4 && exact_answers < all_answers);
}

/* Many different probabilities: blocks are excluded, and the worst unit is the one that a plain scan finds. */
static void many_probabilities(void **state)
{
    enum { UNITS = 3000 };
    static tamis_number *p[UNITS];
    tamis_design *design = NULL;
    ask a = {"0", "1", "20", NULL, TAMIS_NOISE_LAPLACE, NULL, NULL};
    double worst = 0;
    int at = -1;
    (void)state;
    for (int i = 0; i < UNITS; i++) {
        char text[32];
        int share = 1 + (i * 1237) % UNITS; /* 1/6000 .. 1/2, shuffled */
        snprintf(text, sizeof text, "%d/%d", share, 2 * UNITS);
        p[i] = number(text);
        double q = share / (2.0 * UNITS), d = 1 / q / 20, E = 1 + (exp(0.1) - 1) / q, delta = q * (1 - exp((log(E) - d) / 2));
        if (delta > worst) {
            worst = delta;
            at = i;
        }
    }
    assert_int_equal(tamis_design_poisson(&design, (const tamis_number *const *)p, UNITS, NULL), TAMIS_OK);
    tamis_ht_part part = answer('d', design, &a, "0.1", NULL);
    assert_about(part, worst, "independent");
    assert_int_equal(part.unit, at);
    for (int i = 0; i < UNITS; i++) tamis_number_free(p[i]);
    tamis_design_free(design);
}

static void refuses_bad_input(void **state)
{
    static const int64_t low[] = {1}, high[] = {2}, less[] = {-1}, more[] = {9};
    tamis_design *design = srs(4, 2);
    tamis_number *zero = number("0"), *one = number("1"), *two = number("2"), *minus = number("-1");
    tamis_ht_part *parts;
    size_t count;
    tamis_bound scale;
    tamis_error err;
    (void)state;
    const struct {
        tamis_ht_range r;
        const char *word;
    } cases[] = {{{NULL, zero, one, NULL, NULL, NULL, TAMIS_NOISE_NONE, NULL, NULL}, "design:"},
                 {{design, NULL, one, NULL, NULL, NULL, TAMIS_NOISE_NONE, NULL, NULL}, "from:"},
                 {{design, zero, NULL, NULL, NULL, NULL, TAMIS_NOISE_NONE, NULL, NULL}, "to:"},
                 {{design, one, one, NULL, NULL, NULL, TAMIS_NOISE_NONE, NULL, NULL}, "from, to:"},
                 {{design, zero, one, NULL, low, NULL, TAMIS_NOISE_NONE, NULL, NULL}, "low, high:"},
                 {{design, zero, two, NULL, low, high, TAMIS_NOISE_NONE, NULL, NULL}, "low, high:"},
                 {{design, zero, one, NULL, high, low, TAMIS_NOISE_NONE, NULL, NULL}, "low[0], high[0]:"},
                 {{design, zero, one, NULL, less, high, TAMIS_NOISE_NONE, NULL, NULL}, "low[0], high[0]:"},
                 {{design, zero, one, NULL, low, more, TAMIS_NOISE_NONE, NULL, NULL}, "low[0], high[0]:"},
                 {{design, zero, one, NULL, NULL, NULL, (tamis_noise_kind)7, NULL, NULL}, "noise:"},
                 {{design, zero, one, NULL, NULL, NULL, TAMIS_NOISE_GAUSSIAN, NULL, NULL}, "scale:"},
                 {{design, zero, one, NULL, NULL, NULL, TAMIS_NOISE_GAUSSIAN, zero, NULL}, "scale:"},
                 {{design, zero, one, NULL, NULL, NULL, TAMIS_NOISE_NONE, one, NULL}, "scale:"},
                 {{design, zero, one, NULL, NULL, NULL, TAMIS_NOISE_DISCRETE_LAPLACE, one, NULL}, "step:"},
                 {{design, zero, one, NULL, NULL, NULL, TAMIS_NOISE_DISCRETE_LAPLACE, one, minus}, "step:"},
                 {{design, one, two, NULL, NULL, NULL, TAMIS_NOISE_DISCRETE_LAPLACE, one, one}, "grid: discrete noise needs"},
                 {{design, one, two, zero, NULL, NULL, TAMIS_NOISE_LAPLACE, one, NULL}, "grid: must be positive"},
                 {{design, zero, one, two, NULL, NULL, TAMIS_NOISE_LAPLACE, one, NULL}, "grid: fewer than two"},
                 {{design, one, two, one, NULL, NULL, TAMIS_NOISE_DISCRETE_LAPLACE, one, number("3")}, "step:"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(tamis_ht_range_delta(&parts, &count, &cases[i].r, one, &err), TAMIS_INVALID);
        if (!strstr(err.message, cases[i].word)) fail_msg("%s: %s", cases[i].word, err.message);
        assert_true(parts == NULL && count == 0);
        assert_int_equal(tamis_ht_range_pure(&parts, &count, &cases[i].r, NULL), TAMIS_INVALID);
        assert_int_equal(tamis_ht_range_epsilon(&parts, &count, &cases[i].r, one, NULL), TAMIS_INVALID);
    }
    tamis_number_free((tamis_number *)(uintptr_t)cases[sizeof cases / sizeof *cases - 1].r.step);
    tamis_ht_range good = {design, zero, one, NULL, NULL, NULL, TAMIS_NOISE_LAPLACE, one, NULL};
    assert_int_equal(tamis_ht_range_delta(NULL, &count, &good, one, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_ht_range_delta(&parts, NULL, &good, one, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_ht_range_delta(&parts, &count, NULL, one, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_ht_range_delta(&parts, &count, &good, NULL, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_ht_range_delta(&parts, &count, &good, minus, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_ht_range_epsilon(&parts, &count, &good, two, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_ht_range_scale(NULL, &good, one, zero, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_ht_range_scale(&scale, &good, one, minus, NULL), TAMIS_INVALID);
    assert_true(scale.lower == 0 && scale.upper == INFINITY);
    good.noise = TAMIS_NOISE_NONE;
    assert_int_equal(tamis_ht_range_scale(&scale, &good, one, zero, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "noise:"));
    tamis_number *step;
    assert_int_equal(tamis_ht_range_step(NULL, &good, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_ht_range_step(&step, &(tamis_ht_range){.design = design, .from = one, .to = zero}, NULL),
                     TAMIS_INVALID);
    assert_int_equal(tamis_ht_range_step(&step, &good, NULL), TAMIS_OK);
    assert_int_equal(tmi_number_compare(step, two), 0);
    tamis_number_free(step);
    tamis_number_free(zero);
    tamis_number_free(one);
    tamis_number_free(two);
    tamis_number_free(minus);
    tamis_design_free(design);
}

/* Too much work in one stratum: the other has its answer, this one a bound. */
static void too_much_work(void **state)
{
    tamis_design *design = strata(srs(4, 4), bernoulli(3, "1/4"));
    tamis_number *zero = number("0"), *one = number("1"), *small = number("1e-8"), *scale = number("1e9");
    tamis_ht_range range = {design, zero, one, NULL, NULL, NULL, TAMIS_NOISE_DISCRETE_GAUSSIAN, scale, small};
    tamis_ht_part *parts;
    size_t count;
    tamis_error err;
    (void)state;
    assert_int_equal(tamis_ht_range_delta(&parts, &count, &range, one, &err), TAMIS_UNABLE);
    assert_true(count == 2 && parts[1].value.lower == 0 && parts[1].value.upper == 0.25 && !parts[1].exact);
    tamis_free(parts);
    assert_int_equal(tamis_ht_range_epsilon(&parts, &count, &range, small, &err), TAMIS_UNABLE);
    assert_true(count == 2 && parts[1].value.upper == INFINITY && parts[1].first == 4);
    tamis_free(parts);
    tamis_number_free(zero);
    tamis_number_free(one);
    tamis_number_free(small);
    tamis_number_free(scale);
    tamis_design_free(design);
}

/* Targets at the limits: no noise needed, none that suffices, pure. */
static void noise_at_the_limits(void **state)
{
    tamis_design *design = bernoulli(10, "1/10");
    tamis_number *zero = number("0"), *one = number("1"), *fifth = number("1/5");
    tamis_ht_range laplace = {design, zero, one, NULL, NULL, NULL, TAMIS_NOISE_LAPLACE, NULL, NULL}, gaussian = laplace;
    tamis_bound scale;
    (void)state;
    gaussian.noise = TAMIS_NOISE_GAUSSIAN;
    assert_int_equal(tamis_ht_range_scale(&scale, &laplace, one, fifth, NULL), TAMIS_OK); /* delta is 1/10 already */
    assert_true(scale.lower == 0 && scale.upper == 0);
    assert_int_equal(tamis_ht_range_scale(&scale, &gaussian, one, zero, NULL), TAMIS_OK);
    assert_true(scale.lower == INFINITY);
    assert_int_equal(tamis_ht_range_scale(&scale, &laplace, zero, zero, NULL), TAMIS_OK);
    assert_true(scale.lower == INFINITY);
    assert_int_equal(tamis_ht_range_scale(&scale, &laplace, one, zero, NULL), TAMIS_OK);
    double b = 10 / log(1 + (exp(1) - 1) * 10);
    assert_true(scale.lower <= b * (1 + 1e-9) && scale.upper >= b * (1 - 1e-9) && scale.upper - scale.lower < 1e-9 * b);
    tamis_number_free(zero);
    tamis_number_free(one);
    tamis_number_free(fifth);
    tamis_design_free(design);
}

/* Where delta is the inclusion probability itself, no noise is needed, and no eps; nearby both are. */
static void targets_met_exactly(void **state)
{
    tamis_design *rare = bernoulli(1000, "1/1000"), *mixed = pps("poisson", "1/2 1 1/1000000"),
                 *certain = pps("poisson", "1/2 1");
    tamis_number *zero = number("0"), *one = number("1"), *delta = number("1/1000"), *less = number("0.00099"),
                 *small = number("1e-6"), *weight = number("1000");
    (void)state;
    for (int noise = TAMIS_NOISE_NONE; noise <= TAMIS_NOISE_DISCRETE_GAUSSIAN; noise++) {
        bool discrete = noise > TAMIS_NOISE_GAUSSIAN;
        tamis_ht_range range = {.design = rare, .from = zero, .to = one, .noise = (tamis_noise_kind)noise};
        tamis_ht_part *parts;
        size_t count;
        tamis_bound scale, alone;
        range.step = discrete ? weight : NULL;
        if (noise != TAMIS_NOISE_NONE) {
            assert_int_equal(tamis_ht_range_scale(&scale, &range, one, delta, NULL), TAMIS_OK);
            assert_true(scale.lower == 0 && scale.upper == 0);
            assert_int_equal(tamis_ht_range_scale(&scale, &range, one, less, NULL), TAMIS_OK);
            assert_true(scale.lower > 0 && scale.upper < 1000);
        }
        range.scale = noise == TAMIS_NOISE_NONE ? NULL : one;
        assert_int_equal(tamis_ht_range_epsilon(&parts, &count, &range, delta, NULL), TAMIS_OK);
        assert_true(parts[0].value.upper == 0 && parts[0].exact);
        tamis_free(parts);
        if (noise <= TAMIS_NOISE_LAPLACE) {
            assert_int_equal(tamis_ht_range_epsilon(&parts, &count, &range, less, NULL), TAMIS_OK);
            assert_true(noise == TAMIS_NOISE_NONE ? parts[0].value.lower == INFINITY : parts[0].value.lower > 0);
            tamis_free(parts);
        }
        if (noise == TAMIS_NOISE_NONE) continue;
        range.scale = NULL;
        range.step = discrete ? one : NULL;
        range.design = certain; /* the third unit meets the target whatever the noise is */
        assert_int_equal(tamis_ht_range_scale(&alone, &range, one, small, NULL), TAMIS_OK);
        range.design = mixed;
        assert_int_equal(tamis_ht_range_scale(&scale, &range, one, small, NULL), TAMIS_OK);
        assert_true(scale.upper > 1 && fabs(scale.upper - alone.upper) < 1e-9 * alone.upper);
    }
    tamis_number *all[] = {zero, one, delta, less, small, weight};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tamis_number_free(all[i]);
    tamis_design_free(rare);
    tamis_design_free(mixed);
    tamis_design_free(certain);
}

static void survives_missing_memory(void **state)
{
    tamis_design *design = strata(srs(4, 2), pps("sampford", "0.5 0.75 0.75"));
    tamis_number *zero = number("0"), *one = number("1"), *tenth = number("1/10");
    tamis_ht_range range = {design, zero, one, NULL, NULL, NULL, TAMIS_NOISE_LAPLACE, one, NULL};
    tamis_ht_part *parts;
    size_t count;
    (void)state;
    EVERY_ALLOCATION_FAILS(tamis_ht_range_delta(&parts, &count, &range, tenth, NULL), assert_null(parts));
    tamis_free(parts);
    EVERY_ALLOCATION_FAILS(tamis_ht_range_pure(&parts, &count, &range, NULL), assert_null(parts));
    tamis_free(parts);
    tamis_number *step = NULL;
    range.grid = tenth;
    EVERY_ALLOCATION_FAILS(tamis_ht_range_step(&step, &range, NULL), assert_null(step));
    tamis_number_free(step);
    tamis_number_free(zero);
    tamis_number_free(one);
    tamis_number_free(tenth);
    tamis_design_free(design);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_forms),
        cmocka_unit_test(inverse_questions),
        cmocka_unit_test(windows),
        cmocka_unit_test(every_design),
        cmocka_unit_test(many_probabilities),
        cmocka_unit_test(refuses_bad_input),
        cmocka_unit_test(too_much_work),
        cmocka_unit_test(noise_at_the_limits),
        cmocka_unit_test(targets_met_exactly),
        cmocka_unit_test(survives_missing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
