/* What a budget means: the rho that an epsilon and a delta allow, and what a secret sample would allow beside it. */
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tamis/experimental/profile.h>

#include "num/number.h"
#include "schedule/outsider.h"
#include "schedule/schedule.h"

static double delta_of(double rho, const tamis_number *epsilon)
{
    tamis_number *exact;
    tamis_profile *profile;
    tamis_bound delta;
    assert_int_equal(tmi_number_double(&exact, rho, NULL), TAMIS_OK);
    assert_int_equal(tamis_profile_zcdp(&profile, exact, NULL), TAMIS_OK);
    assert_int_equal(tamis_profile_delta(&delta, profile, epsilon, NULL), TAMIS_OK);
    tamis_profile_free(profile);
    tamis_number_free(exact);
    return delta.upper;
}

/* The rho meets epsilon and delta; one that is larger by a few of its last places of 20 bits does not. */
static void rho_is_the_largest(void **state)
{
    (void)state;
    static const char *const epsilons[] = {"0.01", "0.5", "1", "3", "20"}, *const deltas[] = {"1e-12", "1e-6", "0.01"};
    for (size_t i = 0; i < sizeof epsilons / sizeof *epsilons; i++)
        for (size_t j = 0; j < sizeof deltas / sizeof *deltas; j++) {
            tmi_plan_loss loss = {.epsilon = number(epsilons[i]), .delta = number(deltas[j])};
            double rho;
            assert_int_equal(tmi_budget_rho(&rho, &loss, NULL), TAMIS_OK);
            assert_true(rho > 0 && rho < tmi_number_nearest(loss.epsilon));
            assert_true(ldexp(rho, 20 - ilogb(rho)) == floor(ldexp(rho, 20 - ilogb(rho))));
            assert_true(delta_of(rho, loss.epsilon) <= tmi_number_down(loss.delta));
            if (delta_of(rho * (1 + 0x1p-15), loss.epsilon) <= tmi_number_up(loss.delta))
                fail_msg("epsilon %s, delta %s: %.10g is not the largest rho", epsilons[i], deltas[j], rho);
            tamis_number_free(loss.epsilon);
            tamis_number_free(loss.delta);
        }
}

static tamis_plan *plan_of(const char *design, const char *privacy)
{
    char text[1000];
    tamis_plan *plan;
    tamis_error err = {0};
    snprintf(text, sizeof text,
             "tamis: 1\nsurvey: s\nsource: {file: a.csv}\ndesign: {%s}\nprivacy: {unit: person, %s}\ncolumns:\n"
             "  g: {values: [a, b]}\nstatistics:\n  - {count: units, by: g}\n",
             design, privacy);
    if (tamis_plan_read_text(&plan, "p.yaml", text, strlen(text), &err) != TAMIS_OK) fail_msg("%s\n%s", text, err.message);
    return plan;
}

/* With the larger epsilon that a secret sample would allow, and the sample secret, the population is promised the plan's own
 * epsilon, and hardly less: the way back is the way there. */
static void a_secret_sample_promises_what_the_plan_does(void **state)
{
    (void)state;
    static const char *const designs[] = {"srs: {population: 1000, sample: 100}", "bernoulli: {rate: 1/20, population: 1000}"};
    for (size_t i = 0; i < 2; i++) {
        tamis_plan *plan = plan_of(designs[i], "epsilon: 1");
        tamis_bound epsilon, delta;
        const tamis_setting *setting;
        assert_int_equal(tmi_outsider_budget(&epsilon, &delta, &setting, plan, NULL, NULL), TAMIS_OK);
        if (!(epsilon.lower > 1.5)) fail_msg("%s: %g", designs[i], epsilon.lower);
        char privacy[200];
        snprintf(privacy, sizeof privacy, "epsilon: %.12f, protect: frame, given: population, secret_sample: true",
                 floor(epsilon.lower * 1e9) / 1e9);
        tamis_plan *secret = plan_of(designs[i], privacy);
        tamis_number *zero = number("0");
        tmi_promised p = {0};
        assert_int_equal(tmi_promised_make(&p, secret, NULL, secret->privacy.loss.epsilon, zero, NULL, NULL, NULL), TAMIS_OK);
        assert_true(p.outsider.proved);
        assert_true(p.outsider.epsilon.upper <= 1 && p.outsider.epsilon.upper > 1 - 1e-6);
        assert_int_equal(tmi_outsider_budget(&epsilon, &delta, &setting, secret, NULL, NULL), TAMIS_OK);
        assert_true(epsilon.upper == 0); /* there is nothing left to gain */
        tmi_promised_clear(&p);
        tamis_number_free(zero);
        tamis_plan_free(secret);
        tamis_plan_free(plan);
    }
}

int main(void)
{
    const struct CMUnitTest group[] = {cmocka_unit_test(rho_is_the_largest),
                                       cmocka_unit_test(a_secret_sample_promises_what_the_plan_does)};
    return cmocka_run_group_tests(group, NULL, NULL);
}
