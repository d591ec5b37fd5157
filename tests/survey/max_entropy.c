/* The odds of conditional Poisson sampling where they are known: with n = 1, w is proportional to pi; with n = N - 1, to
 * 1 / (1 - pi). At every precision the balls must hold these, and be as narrow as asked. */
#include "tests/test.h"

#include "survey/design/max_entropy.h"
#include "tests/survey/frames.h"

/* w_k / w_0 against the known ratio. */
static void check(const char *text, long bits)
{
    tamis_design *design = pps("conditional_poisson", text);
    const tmi_pps *p = tmi_pps_of(design);
    size_t N = p->open_count;
    tmi_ball *odds = tmi_balls_new(N), ratio, known, part, gap, limit;
    tmi_ball *all[] = {&ratio, &known, &part, &gap, &limit};
    tamis_error err = {0};
    for (size_t i = 0; i < 5; i++) tmi_ball_init(all[i]);
    if (tmi_max_entropy(odds, p, bits, NULL, &err) != TAMIS_OK) fail_msg("%s: %s", text, err.message);
    for (size_t k = 1; k < N; k++) {
        tmi_pps_ball(&known, p, p->size == 1 ? k : 0, bits + 200);
        tmi_pps_ball(&part, p, p->size == 1 ? 0 : k, bits + 200);
        if (p->size > 1) {
            tmi_ball_neg(&known, &known);
            tmi_ball_add_int(&known, &known, 1, bits + 200);
            tmi_ball_neg(&part, &part);
            tmi_ball_add_int(&part, &part, 1, bits + 200);
        }
        tmi_ball_div(&known, &known, &part, bits + 200);
        tmi_ball_div(&ratio, &odds[k], &odds[0], bits + 200);
        tmi_ball_sub(&gap, &ratio, &known, bits + 200);
        if (tmi_ball_is_positive(&gap) || tmi_ball_is_negative(&gap)) fail_msg("%s, %ld bits: unit %zu", text, bits, k);
        tmi_ball_shift(&limit, &ratio, 4 - bits);
        tmi_ball_abs(&gap, &gap);
        if (!tmi_ball_is_less(&gap, &limit)) fail_msg("%s, %ld bits: unit %zu is too wide", text, bits, k);
    }
    for (size_t i = 0; i < 5; i++) tmi_ball_clear(all[i]);
    tmi_balls_free(odds, N);
    tamis_design_free(design);
}

static void odds_are_enclosed(void **state)
{
    static const char *const texts[] = {
        "1/3 2/3",     "0.1 0.2 0.3 0.4", "1/1000000 1/3 1999997/3000000", "0.9 0.05 0.03 0.015 0.005",
        "0.999 0.001", "0.7 0.8 0.5",     "0.9 0.9 0.9 0.9 0.9 0.5",       "0.999 0.99 0.9 0.111",
        "1 0.2 0.8 1",
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (long bits = 8; bits <= 512; bits *= 2) check(texts[i], bits);
}

/* Probabilities so close to 0 and 1 that a look at the guess is blurred at first: the law must still be found, and its
 * inclusion probabilities be those that were asked for. */
static void extreme_probabilities(void **state)
{
    static const char *const texts[] = {
        "1e-15 1/2 1/2 0.999999999999999",
        "1e-30 1e-30 0.4 0.6 0.999999999999999999999999999998",
        "0.999999999999 0.999999999999 1e-12 1e-12",
        "0.99999999999999999999 0.99999999999999999999 1e-20 1e-20",
        "1e-20 1e-10 1e-6 0.99999999999999999999 0.9999999999 0.999999 0.5 0.5",
        "1e-60 0.5 0.5 0.999999999999999999999999999999999999999999999999999999999999",
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        tamis_design *design = pps("conditional_poisson", texts[i]);
        tamis_law *law;
        tamis_error err = {0};
        frame asked;
        read_frame(&asked, texts[i]);
        if (tamis_law_new(&law, design, &err) != TAMIS_OK) fail_msg("%s: %s", texts[i], err.message);
        for (int64_t k = 0; k < (int64_t)asked.count; k++) {
            tamis_bound p;
            assert_int_equal(tamis_law_inclusion(&p, law, &k, 1, NULL), TAMIS_OK);
            if (tmi_number_up(asked.pi[k]) < p.lower || tmi_number_down(asked.pi[k]) > p.upper ||
                p.upper - p.lower > 1e-12 * p.upper)
                fail_msg("%s: unit %d: [%.17g, %.17g]", texts[i], (int)k, p.lower, p.upper);
        }
        free_frame(&asked);
        tamis_law_free(law);
        tamis_design_free(design);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(odds_are_enclosed),
        cmocka_unit_test(extreme_probabilities),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
