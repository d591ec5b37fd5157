/* What is drawn has the law p(s). Each sample's count among M draws is binomial; by Chernoff's inequality
 * P(count / M on the side of x away from p, at least as far) <= exp(-M KL(x, p)). A design fails if some sample has
 * M KL > LIMIT: with at most 2^10 samples a design and 300 designs, two sides, the false-alarm rate is below
 * 2 * 2^10 * 300 * exp(-LIMIT) < 10^-9. The seed is fixed; change it and the rate holds again.                       */
#include "tests/test.h"

#include <math.h>

#include "tests/base/memory_that_fails.h"
#include "tests/rng/scripted_bits.h"
#include "tests/survey/frames.h"

#define SEED 20261115
#define DRAWS 3000
#define LIMIT 36.0

static tamis_rng *rng;

static double divergence(double x, double p)
{
    double sum = 0;
    if (x > 0) sum += x * log(x / p);
    if (x < 1) sum += p >= 1 ? INFINITY : (1 - x) * log((1 - x) / (1 - p));
    return sum;
}

/* The place of a drawn sample in the law. */
static size_t find(const tamis_law *law, const tamis_drawn *drawn, const char *name)
{
    for (size_t j = 0; j < tamis_law_count(law); j++) {
        const uint8_t *units;
        if (tamis_law_sample(&units, law, j) != drawn->count) continue;
        bool same = true;
        for (size_t i = 0; i < drawn->count && same; i++) same = units[i] == drawn->units[i];
        if (same) return j;
    }
    fail_msg("%s: a sample was drawn that is not in the law", name);
    return 0;
}

static void draws_follow_the_law(const tamis_design *design, const char *name)
{
    tamis_law *law = NULL;
    tamis_sampler *sampler = NULL;
    tamis_error err = {0};
    if (tamis_law_new(&law, design, &err) != TAMIS_OK) fail_msg("%s: %s", name, err.message);
    if (tamis_sampler_new(&sampler, design, NULL, NULL, &err) != TAMIS_OK) fail_msg("%s: %s", name, err.message);
    int *counts = calloc(tamis_law_count(law), sizeof *counts);
    assert_true(tamis_law_count(law) <= 2048);
    for (int i = 0; i < DRAWS; i++) {
        tamis_drawn drawn;
        if (tamis_draw(&drawn, sampler, rng, NULL, NULL, &err) != TAMIS_OK) fail_msg("%s: %s", name, err.message);
        counts[find(law, &drawn, name)]++;
        tamis_drawn_clear(&drawn);
    }
    for (size_t j = 0; j < tamis_law_count(law); j++) {
        tamis_bound p = tamis_law_probability(law, j);
        double x = counts[j] / (double)DRAWS;
        if (DRAWS * divergence(x, (p.lower + p.upper) / 2) > LIMIT)
            fail_msg("%s: sample %zu came %d times of %d, its probability is %g", name, j, counts[j], DRAWS, p.upper);
    }
    free(counts);
    tamis_sampler_free(sampler);
    tamis_law_free(law);
}

static void every_design(void **state)
{
    (void)state;
    bits_from_seed(SEED);
    each_design(draws_follow_the_law);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_design),
    };
    if (tamis_rng_new(&rng, NULL) != TAMIS_OK) return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    tamis_rng_free(rng);
    return failed;
}
