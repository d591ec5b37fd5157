/* Both ends of the guarantee of a noisy sum, by the definition: every pair of populations of every small design. A lower end that
 * no pair attains would say that less noise cannot do. */
#include "tests/test.h"

#include <string.h>
#include <tamis/experimental/amplification.h>

#include "survey/design/sample_law.h"
#include "tests/ht/brute_noise.h"

static const struct {
    const char *from, *to;
    int count;
    const char *values[3];
} ranges[] = {{"0", "1", 2, {"0", "1"}}, {"1", "2", 2, {"1", "2"}}, {"-1", "1", 3, {"-1", "0", "1"}}};

static int narrow, answers;

static void assert_between(tamis_bound found, double truth, const char *name, const char *what, size_t range)
{
    if (!(found.lower <= truth * (1 + 1e-7) + 1e-12 && truth <= found.upper * (1 + 1e-7) + 1e-12))
        fail_msg("%s, %s, range %zu: [%.12g, %.12g], but the truth is %.12g", name, what, range, found.lower, found.upper, truth);
    narrow += found.upper - found.lower <= 1e-9 * found.upper;
    answers++;
}

/* Laplace noise on the weighted total: the largest ratio is at one of the totals. */
static void take_ratio(brute *b, void *context)
{
    noisy *n = context;
    for (int k = 0; k < b->atoms; k++) {
        double p = 0, q = 0;
        for (int j = 0; j < b->atoms; j++) {
            double mass = exp(-fabs((double)(b->total[k] - b->total[j])) / n->scale);
            p += (double)b->here[j] * mass;
            q += (double)b->there[j] * mass;
        }
        if (q > 0) n->pure = fmax(n->pure, log(p / q));
    }
}

static void each_range(const tamis_design *design, const char *name, const tamis_law *law, size_t r)
{
    static brute b;
    tamis_number *from = number(ranges[r].from), *to = number(ranges[r].to), *one = number("1"), *three = number("3"),
                 *eps = number("3/10");
    tamis_bound found;
    noisy n = {0};
    mpq_init(n.step);
    mpq_set_si(n.step, 1, 1);
    brute_set(&b, law, NULL, ranges[r].values, ranges[r].count);
    if (tamis_amplify_total(&found, NULL, design, &(tamis_weighted_sum){NULL, from, to, three}, NULL) == TAMIS_OK &&
        found.upper < 100) {
        for (int i = 0; i < b.units; i++) /* the probabilities that were asked for */
            for (int a = 0; a < b.values; a++) mpq_div(b.w[i][a], b.v[a], tmi_sample_law_pi(law, (size_t)i)->value);
        n.scale = 3;
        for (int i = 0; i < b.units; i++) brute_each(&b, i, take_ratio, &n);
        assert_between(found, n.pure, name, "total", r);
    }
    for (int i = 0; i < b.units; i++)
        for (int a = 0; a < b.values; a++) mpq_set(b.w[i][a], b.v[a]);
    if (tamis_amplify_noise(&found, NULL, design, &(tamis_noisy_sum){from, to, TAMIS_NOISE_DISCRETE_LAPLACE, one}, eps, NULL) ==
        TAMIS_OK) {
        noise_set(&n, TAMIS_NOISE_DISCRETE_LAPLACE, 1, exp(0.3));
        for (int i = 0; i < b.units; i++) brute_each(&b, i, take_worst, &n);
        assert_between(found, n.worst, name, "noise", r);
    }
    tamis_number *all[] = {from, to, one, three, eps};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tamis_number_free(all[i]);
    mpq_clear(n.step);
    brute_clear(&b);
}

static void all_pairs(const tamis_design *design, const char *name)
{
    tamis_law *law = NULL;
    const int64_t units = tamis_design_population(design);
    const bool frame = strchr(name, ':') || (strstr(name, " of ") && strncmp(name, "strata", 6) != 0);
    if (units > 8 || (units > 5 && frame) || strcmp(tamis_design_name(design), "srs_with_replacement") == 0) return;
    assert_int_equal(tamis_law_new(&law, design, NULL), TAMIS_OK);
    for (size_t r = 0; r < (units > 5 ? 2 : 3); r++) each_range(design, name, law, r);
    tamis_law_free(law);
}

static void every_design(void **state)
{
    (void)state;
    each_design(all_pairs);
    printf("# %d answers, %d of them exact\n", answers, narrow);
    assert_true(answers > 400 && narrow > answers / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_design)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
