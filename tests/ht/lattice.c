/* Discrete noise and values on a grid, by the definition: every pair of populations of every small design, all values of the
 * grid, every sample, the noise place by place. The step of the noise is found here too, from all weighted values. */
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

#include "survey/design/sample_law.h"
#include "tests/ht/brute_noise.h"

/* g = the largest rational of which g and x are multiples; both may be 0. */
static void common(mpq_t g, mpq_srcptr x)
{
    mpz_t a, b;
    mpz_inits(a, b, NULL);
    mpz_mul(a, mpq_numref(g), mpq_denref(x));
    mpz_mul(b, mpq_numref(x), mpq_denref(g));
    mpz_gcd(a, a, b);
    mpz_mul(b, mpq_denref(g), mpq_denref(x));
    mpq_set_num(g, a);
    mpq_set_den(g, b);
    mpq_canonicalize(g);
    mpz_clears(a, b, NULL);
}

/* brute_set with the inclusion probabilities that the design was asked for, which irrational laws have as well. */
static void listed(brute *b, const tamis_law *law, const char *const *values, int count)
{
    brute_set(b, law, NULL, values, count);
    for (int i = 0; i < b->units; i++) {
        mpq_set(b->pi[i], tmi_sample_law_pi(law, (size_t)i)->value);
        for (int a = 0; a < count; a++) mpq_div(b->w[i][a], b->v[a], b->pi[i]);
    }
}

typedef struct grid {
    const char *from, *to, *grid;
    int count;
    const char *values[BRUTE_VALUES];
} grid;

static int exact_answers, all_answers, designs;

static void assert_bound(const tamis_ht_part *p, double truth, const char *name, const grid *g, int noise, const char *what)
{
    bool below = truth <= p->value.upper * (1 + 1e-11) + 1e-13, above = p->value.lower <= truth * (1 + 1e-11) + 1e-13;
    bool equal = !p->exact || p->value.upper <= truth * (1 + 1e-8) + 1e-12;
    if (!below || !above || !equal)
        fail_msg("%s, %s..%s by %s, noise %d, %s: [%.17g, %.17g]%s by %s, but the truth is %.17g", name, g->from, g->to, g->grid,
                 noise, what, p->value.lower, p->value.upper, p->exact ? " exactly" : "", p->theorem, truth);
    exact_answers += p->exact;
    all_answers++;
}

/* eps at delta: at the lower end some pair has at least delta, at the upper end none has more. */
static void epsilon_at_delta(const tamis_ht_range *range, brute *b, noisy *n, const char *name, const grid *g)
{
    static const char *const deltas[] = {"1/100", "1/5", "1/2"};
    for (size_t d = 0; d < sizeof deltas / sizeof *deltas; d++) {
        tamis_number *delta = number(deltas[d]);
        const double target = tmi_number_nearest(delta);
        tamis_ht_part *parts = NULL;
        size_t count = 0;
        tamis_status status = tamis_ht_range_epsilon(&parts, &count, range, delta, NULL);
        assert_true(status == TAMIS_OK || status == TAMIS_UNABLE);
        for (size_t h = 0; h < count; h++)
            for (int end = 0; end < 2; end++) {
                const double eps = end ? parts[h].value.upper : parts[h].value.lower * (1 - 1e-9);
                if (eps == 0 ? end == 0 : !(eps < 50)) continue; /* nothing is said, or too far out for doubles */
                n->E = exp(eps);
                n->worst = 0;
                for (int64_t i = parts[h].first; i < parts[h].first + parts[h].count; i++) brute_each(b, (int)i, take_worst, n);
                if (end ? n->worst > target + 1e-11 : n->worst < target - 1e-11)
                    fail_msg("%s, %s..%s by %s: eps [%.17g, %.17g] at delta %s, where it is %.17g", name, g->from, g->to, g->grid,
                             parts[h].value.lower, parts[h].value.upper, deltas[d], n->worst);
            }
        tamis_free(parts);
        tamis_number_free(delta);
    }
}

static void one_grid(const tamis_design *design, const char *name, const tamis_law *law, const grid *g)
{
    static brute b;
    static const double scales[] = {0, 0, 0, 1, 2};
    tamis_number *from = number(g->from), *to = number(g->to), *step = NULL, *grid_step = number(g->grid), *eps = number("3/10");
    tamis_number *scale[] = {NULL, NULL, NULL, number("1"), number("2")};
    noisy n = {0};
    tamis_error err = {0};
    tamis_ht_range range = {.design = design, .from = from, .to = to, .grid = grid_step};
    listed(&b, law, g->values, g->count);
    mpq_init(n.step);
    for (int i = 0; i < b.units; i++)
        for (int a = 0; a < b.values; a++) common(n.step, b.w[i][a]);
    if (tamis_ht_range_step(&step, &range, &err) != TAMIS_OK) fail_msg("%s: %s", name, err.message);
    if (!mpq_equal(step->value, n.step)) fail_msg("%s, %s..%s by %s: not the coarsest step", name, g->from, g->to, g->grid);
    for (int noise = TAMIS_NOISE_NONE; noise <= TAMIS_NOISE_DISCRETE_GAUSSIAN; noise++) {
        if (noise == TAMIS_NOISE_LAPLACE || noise == TAMIS_NOISE_GAUSSIAN) continue;
        tamis_ht_part *parts = NULL;
        size_t count;
        range.noise = (tamis_noise_kind)noise;
        range.scale = scale[noise];
        range.step = noise == TAMIS_NOISE_NONE ? NULL : step;
        noise_set(&n, range.noise, noise == TAMIS_NOISE_NONE ? 1 : scales[noise], exp(0.3));
        tamis_status status = tamis_ht_range_delta(&parts, &count, &range, eps, &err);
        if (status != TAMIS_OK && status != TAMIS_UNABLE) fail_msg("%s: %s", name, err.message);
        for (size_t h = 0; h < count; h++) {
            n.worst = 0;
            for (int64_t i = parts[h].first; i < parts[h].first + parts[h].count; i++) brute_each(&b, (int)i, take_worst, &n);
            assert_bound(&parts[h], n.worst, name, g, noise, "delta");
        }
        tamis_free(parts);
        if (noise == TAMIS_NOISE_DISCRETE_LAPLACE && b.units <= 3) epsilon_at_delta(&range, &b, &n, name, g);
        if (noise != TAMIS_NOISE_DISCRETE_LAPLACE) continue;
        status = tamis_ht_range_pure(&parts, &count, &range, &err);
        if (status != TAMIS_OK && status != TAMIS_UNABLE) fail_msg("%s: %s", name, err.message);
        for (size_t h = 0; h < count; h++) {
            n.pure = 0;
            for (int64_t i = parts[h].first; i < parts[h].first + parts[h].count; i++) brute_each(&b, (int)i, take_pure, &n);
            if (n.pure > 0 && n.pure < 50) assert_bound(&parts[h], n.pure, name, g, noise, "pure");
        }
        tamis_free(parts);
    }
    for (int k = 0; k < 5; k++) tamis_number_free(scale[k]);
    tamis_number_free(from);
    tamis_number_free(to);
    tamis_number_free(step);
    tamis_number_free(grid_step);
    tamis_number_free(eps);
    mpq_clear(n.step);
    brute_clear(&b);
}

static void all_pairs(const tamis_design *design, const char *name)
{
    static const grid grids[] = {{"0", "2", "1", 3, {"0", "1", "2"}},
                                 {"0", "3", "1", 4, {"0", "1", "2", "3"}},
                                 {"-1", "1", "1", 3, {"-1", "0", "1"}},
                                 {"1", "5/2", "1/2", 4, {"1", "3/2", "2", "5/2"}},
                                 {"1/2", "11/4", "1", 2, {"1", "2"}}};
    tamis_law *law = NULL;
    int64_t units = tamis_design_population(design);
    if (units > 5) return;
    assert_int_equal(tamis_law_new(&law, design, NULL), TAMIS_OK);
    for (size_t i = 0; i < sizeof grids / sizeof *grids; i++)
        if (units <= 3 || (units == 4 && i != 3) || i == 4) one_grid(design, name, law, &grids[i]);
    designs++;
    tamis_law_free(law);
}

static void every_design(void **state)
{
    (void)state;
    each_design(all_pairs);
    printf("# %d designs, %d answers, %d of them exact\n", designs, all_answers, exact_answers);
    assert_true(designs > 50 && exact_answers > all_answers / 5);
}

/* A value of 3 against 7, one of three drawn: totals 9 + 30 k against 21 + 30 k on noise of steps of 30, which tell them
 * apart. */
static void values_between_the_ends(void **state)
{
    static const char *const values[] = {"0", "3", "7", "10"};
    static brute b;
    tamis_design *design = srs(3, 1);
    tamis_law *law = NULL;
    tamis_number *from = number("0"), *to = number("10"), *grid_step = number("1"), *step = NULL, *eps = number("5");
    tamis_number *scale = number("0.3448"), *ends = number("30");
    tamis_ht_part *parts = NULL;
    size_t count;
    noisy n = {0};
    tamis_error err = {0};
    tamis_ht_range range = {.design = design, .from = from, .to = to, .grid = grid_step};
    (void)state;
    assert_int_equal(tamis_law_new(&law, design, NULL), TAMIS_OK);
    assert_int_equal(tamis_ht_range_step(&step, &range, NULL), TAMIS_OK);
    assert_int_equal(mpq_cmp_si(step->value, 3, 1), 0);
    range.noise = TAMIS_NOISE_DISCRETE_LAPLACE;
    range.scale = scale;
    range.step = step;
    listed(&b, law, values, 4);
    mpq_init(n.step);
    mpq_set(n.step, step->value);
    noise_set(&n, range.noise, 0.3448, exp(5));
    brute_each(&b, 0, take_worst, &n);
    assert_int_equal(tamis_ht_range_delta(&parts, &count, &range, eps, NULL), TAMIS_OK);
    assert_true(parts[0].exact && fabs(parts[0].value.upper - n.worst) < 1e-9 && n.worst > 0.3);
    tamis_free(parts);
    range.step = ends; /* the step of the two ends */
    assert_int_equal(tamis_ht_range_delta(&parts, &count, &range, eps, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "step: not every value"));
    range.grid = NULL;
    assert_int_equal(tamis_ht_range_delta(&parts, &count, &range, eps, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "grid: discrete noise needs"));
    tamis_number_free(step);
    assert_int_equal(tamis_ht_range_step(&step, &range, &err), TAMIS_INVALID);
    assert_null(step);
    tamis_number *all[] = {from, to, grid_step, eps, scale, ends};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tamis_number_free(all[i]);
    mpq_clear(n.step);
    brute_clear(&b);
    tamis_law_free(law);
    tamis_design_free(design);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_design), cmocka_unit_test(values_between_the_ends)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
