/* Every design on every small frame: the law sums to 1, and the inclusion probabilities that follow from it are those
 * of the formulas. */
#include "tests/test.h"

#include <math.h>

#include "num/bound.h"
#include "survey/design/sample_law.h"
#include "tests/base/memory_that_fails.h"
#include "tests/survey/frames.h"

static bool meet(tamis_bound x, tamis_bound y) { return x.lower <= y.upper && y.lower <= x.upper; }

static bool narrow(tamis_bound x) { return x.upper - x.lower <= 1e-12 * x.upper || x.upper <= 1e-300; }

static void sums_to_one(const tamis_law *law, const char *name)
{
    tamis_number *sum = NULL, *next;
    bool exact = true;
    tmi_ball total, p;
    tmi_ball_init(&total);
    tmi_ball_init(&p);
    for (size_t j = 0; j < tamis_law_count(law); j++) {
        tmi_sample_law_ball(&p, law, j, 256);
        if (!tmi_ball_is_positive(&p)) fail_msg("%s: a sample of probability 0", name);
        tmi_ball_add(&total, &total, &p, 256);
        exact = exact && tamis_law_exact(law, j);
        if (!exact) continue;
        if (!sum) tmi_number_copy(&sum, tamis_law_exact(law, j), NULL);
        else {
            tmi_number_add(&next, sum, tamis_law_exact(law, j), NULL);
            tamis_number_free(sum);
            sum = next;
        }
    }
    tamis_bound bound = tmi_ball_bound(&total);
    if (bound.lower > 1 || bound.upper < 1 || bound.upper - bound.lower > 1e-15) fail_msg("%s: sum of p(s)", name);
    if (exact && tmi_number_compare_int(sum, 1) != 0) fail_msg("%s: exact sum of p(s)", name);
    if (exact != (strstr(name, "conditional") == NULL && strstr(name, "irrational") == NULL) && tamis_law_count(law) > 1)
        fail_msg("%s: exact or not?", name);
    tamis_number_free(sum);
    tmi_ball_clear(&total);
    tmi_ball_clear(&p);
}

static void formulas_agree(const tamis_design *design, const char *name)
{
    size_t N = (size_t)tamis_design_population(design);
    tamis_bound pi[FRAME_UNITS], pij[FRAME_UNITS * FRAME_UNITS];
    tamis_law *law = NULL;
    tamis_error err = {0};
    if (tamis_law_new(&law, design, &err) != TAMIS_OK) fail_msg("%s: %s", name, err.message);
    sums_to_one(law, name);
    if (tamis_inclusion_first(pi, design, NULL, N, &err) != TAMIS_OK) fail_msg("%s: %s", name, err.message);
    if (tamis_inclusion_joint(pij, design, NULL, N, &err) != TAMIS_OK) fail_msg("%s: %s", name, err.message);
    for (int64_t k = 0; k < (int64_t)N; k++)
        for (int64_t l = 0; l < (int64_t)N; l++) {
            tamis_bound p, q = pij[k * (int64_t)N + l];
            assert_int_equal(tamis_law_inclusion(&p, law, (int64_t[]){k, l}, 2, &err), TAMIS_OK);
            if (!meet(p, q) || !narrow(p) || !narrow(q))
                fail_msg("%s: pi(%d, %d): law [%.17g, %.17g], formula [%.17g, %.17g]", name, (int)k, (int)l, p.lower, p.upper,
                         q.lower, q.upper);
            if (!meet(tmi_number_bound(tmi_sample_law_pi(law, (size_t)k)), pi[k])) fail_msg("%s: exact pi(%d)", name, (int)k);
            if (k == l && (q.lower != pi[k].lower || q.upper != pi[k].upper)) fail_msg("%s: diagonal", name);
        }
    for (size_t j = 0; j < tamis_law_count(law); j++) {
        const uint8_t *units;
        size_t size = tamis_law_sample(&units, law, j);
        if (tamis_design_sample(design) >= 0 && size != (size_t)tamis_design_sample(design)) fail_msg("%s: size", name);
    }
    tamis_law_free(law);
}

static void every_design(void **state)
{
    (void)state;
    each_design(formulas_agree);
}

/* The probabilities of a PPS design are those that were asked for. */
static void inclusion_is_what_was_asked(void **state)
{
    (void)state;
    for (size_t f = 0; f < FRAMES; f++)
        for (size_t m = 0; m < METHODS; m++) {
            tamis_design *design = pps(methods[m], frames[f]);
            tamis_law *law;
            frame asked;
            read_frame(&asked, frames[f]);
            assert_int_equal(tamis_law_new(&law, design, NULL), TAMIS_OK);
            for (int64_t k = 0; k < (int64_t)asked.count; k++) {
                tamis_bound p;
                assert_int_equal(tamis_law_inclusion(&p, law, &k, 1, NULL), TAMIS_OK);
                if (tmi_number_up(asked.pi[k]) < p.lower || tmi_number_down(asked.pi[k]) > p.upper || !narrow(p))
                    fail_msg("%s, %s: unit %d", methods[m], frames[f], (int)k);
            }
            free_frame(&asked);
            tamis_law_free(law);
            tamis_design_free(design);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_design),
        cmocka_unit_test(inclusion_is_what_was_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
