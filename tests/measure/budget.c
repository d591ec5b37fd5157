/* What a budget means: the rho that an epsilon and a delta allow, and what a secret sample would allow beside it. */
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tamis/experimental/profile.h>

#include "num/number.h"
#include "schedule/outsider.h"
#include "schedule/schedule.h"

static double delta_of(double rho, tmi_gaussian gaussian, const tamis_number *epsilon)
{
    tamis_number *exact, *twice;
    tamis_profile *profile;
    tamis_bound delta;
    assert_int_equal(tmi_number_double(&exact, rho, NULL), TAMIS_OK);
    assert_int_equal(tmi_number_double(&twice, 2 * rho, NULL), TAMIS_OK);
    if (gaussian == TMI_ROUNDED_NORMAL) assert_int_equal(tamis_profile_normal(&profile, twice, NULL), TAMIS_OK);
    else assert_int_equal(tamis_profile_zcdp(&profile, exact, NULL), TAMIS_OK);
    assert_int_equal(tamis_profile_delta(&delta, profile, epsilon, NULL), TAMIS_OK);
    tamis_profile_free(profile);
    tamis_number_free(exact);
    tamis_number_free(twice);
    return delta.upper;
}

/* The rho meets epsilon and delta; one that is larger by a few of its last places of 20 bits does not. */
static void rho_is_the_largest(void **state)
{
    (void)state;
    static const char *const epsilons[] = {"0.01", "0.5", "1", "3", "20"}, *const deltas[] = {"1e-12", "1e-6", "0.01", "0.38"};
    static const tmi_gaussian laws[] = {TMI_DISCRETE_GAUSSIAN, TMI_ROUNDED_NORMAL};
    for (size_t i = 0; i < 2 * sizeof epsilons / sizeof *epsilons; i++)
        for (size_t j = 0; j < sizeof deltas / sizeof *deltas; j++) {
            const tmi_gaussian law = laws[i % 2];
            const char *epsilon = epsilons[i / 2];
            tmi_plan_loss loss = {.epsilon = number(epsilon), .delta = number(deltas[j])};
            double rho, other;
            assert_int_equal(tmi_budget_rho(&rho, &loss, law, NULL), TAMIS_OK);
            assert_true(rho > 0 && (j == 3 || rho < tmi_number_nearest(loss.epsilon)));
            assert_int_equal(tmi_budget_rho(&other, &loss, laws[1 - i % 2], NULL), TAMIS_OK);
            assert_true(law == TMI_ROUNDED_NORMAL ? rho > other : rho < other);
            assert_true(ldexp(rho, 20 - ilogb(rho)) == floor(ldexp(rho, 20 - ilogb(rho))));
            assert_true(delta_of(rho, law, loss.epsilon) <= tmi_number_down(loss.delta));
            if (delta_of(rho * (1 + 0x1p-15), law, loss.epsilon) <= tmi_number_up(loss.delta))
                fail_msg("epsilon %s, delta %s: %.10g is not the largest rho", epsilon, deltas[j], rho);
            tamis_number_free(loss.epsilon);
            tamis_number_free(loss.delta);
        }
}

static tamis_plan *plan_with(const char *design, const char *privacy, const char *statistics)
{
    char text[1000];
    tamis_plan *plan;
    tamis_error err = {0};
    snprintf(text, sizeof text,
             "tamis: 1\nsurvey: s\nsource: {file: a.csv}\ndesign: {%s}\nprivacy: {unit: person, %s}\ncolumns:\n"
             "  g: {values: [a, b]}\n  x: {from: 0, to: 100, step: 1}\nstatistics:\n%s",
             design, privacy, statistics);
    if (tamis_plan_read_text(&plan, "p.yaml", text, strlen(text), &err) != TAMIS_OK) fail_msg("%s\n%s", text, err.message);
    return plan;
}

static tamis_plan *plan_of(const char *design, const char *privacy)
{
    return plan_with(design, privacy, "  - {count: units, by: g}\n");
}

/* What a plan's Gaussian noise guarantees is known exactly where all that it measures is normal: not with rho, whose accounts
 * add up rho, nor beside quantiles that a mechanism chooses, whose rhos are no mu. */
static void chosen_quantiles_have_no_mu(void **state)
{
    (void)state;
    static const struct {
        const char *privacy, *statistics;
        tmi_gaussian law;
    } cases[] = {{"rho: 1", "  - {count: units, by: g}\n", TMI_DISCRETE_GAUSSIAN},
                 {"epsilon: 1, delta: 1e-6", "  - {count: units, by: g}\n", TMI_ROUNDED_NORMAL},
                 {"epsilon: 1, delta: 1e-6", "  - {median: x, method: distribution}\n", TMI_ROUNDED_NORMAL},
                 {"epsilon: 1, delta: 1e-6", "  - {count: units, by: g}\n  - {median: x, method: prefix}\n",
                  TMI_DISCRETE_GAUSSIAN}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis_plan *plan = plan_with("srs: {population: 1000, sample: 100}", cases[i].privacy, cases[i].statistics);
        tmi_schedule s;
        assert_int_equal(tmi_gaussian_of_plan(plan, &plan->privacy.loss), cases[i].law);
        assert_int_equal(tmi_schedule_make(&s, plan, NULL, NULL), TAMIS_OK);
        assert_true(!s.gaussian || s.gaussian == cases[i].law);
        if (i == 3) assert_int_equal(s.gaussian, TMI_DISCRETE_GAUSSIAN);
        tmi_schedule_clear(&s);
        tamis_plan_free(plan);
    }
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
        assert_int_equal(tmi_promised_make(&p, secret, NULL, secret->privacy.loss.epsilon, zero, NULL, NULL, NULL, NULL),
                         TAMIS_OK);
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
    const struct CMUnitTest group[] = {cmocka_unit_test(rho_is_the_largest), cmocka_unit_test(chosen_quantiles_have_no_mu),
                                       cmocka_unit_test(chosen_quantiles_have_no_mu),
                                       cmocka_unit_test(a_secret_sample_promises_what_the_plan_does)};
    return cmocka_run_group_tests(group, NULL, NULL);
}
